"""ANLS as a reward for TRL, for ``GRPOTrainer(reward_funcs=...)`` and ``trl grpo --reward_funcs``.

This module does not import TRL, which accepts as a reward any callable that takes columns and has a ``__name__``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.core.checks import name_row
from anls_metric.core.decoding import Extract, as_extract, extract_answer, score_text
from anls_metric.core.scorer import SCORERS, Scorer, get_scorer
from anls_metric.core.strings.rows import as_column, as_text

if TYPE_CHECKING:
    from anls_metric.core.values import KeyPaths, NoneKeys, Numbers

__all__ = ["Reward", "anls_reward", "build_reward"]


def build_reward(
    references_column: str = "answers",
    extract: Extract | str | None = None,
    *,
    name: str | None = None,
    threshold: float | None = None,
    variant: str | Scorer = "standard",
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
    numbers: Numbers | None = None,
    ignore_keys: KeyPaths | None = None,
) -> Reward:
    """Build a reward function for ``GRPOTrainer(reward_funcs=...)`` that returns the score of each completion.

    Args:
        references_column: the column of the dataset that contains the references (accepted answers) of each prompt.
        extract: a function that extracts the answer from a completion, such as
            `anls_metric.core.extraction.answer_in_tags`, or the names of rules, such as "think,final"; None takes the
            whole completion. If it returns None, the completion has no answer and scores as "".
        name: the name of the reward in TRL's logs (``rewards/NAME/mean``). None builds it from variant, threshold and
            case: ``anls`` for the defaults, and for other options names such as ``anls_rrc``, ``anls_0.8`` and
            ``anls_rrc_0.8_cased``. If two rewards of one trainer differ only in other options, name each of them.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`. For models that generate JSON, the
            variant can also be "anls_star", "anlsl" or a ``ValueVariant``, which score lists and nested values. Any
            other `Scorer` can be passed as well; with a benchmark metric, the references of a row are a dict of its
            columns.
        none_keys, numbers, ignore_keys: options for "anls_star": see `anls_metric.core.values.anls_star_score`.

    Returns:
        A function that takes ``completions`` and the columns of the dataset, by name. Completions are strings or lists
        of messages. In a list, the assistant's last message is used, whose content is a string or, for a vision model,
        a list of parts. The function returns a score from 0 to 1 for each completion, or None for a row without
        references. It can be pickled, as asynchronous rollouts require, if ``extract`` can.

        With a variant for values, a completion scores 0 if it is not JSON or contains something that cannot be scored;
        TRL logs the share of such completions as ``rewards/NAME/unreadable``. Store the accepted value of a row as a
        JSON string, because in a column of dicts a dataset adds the keys of other rows with the value None, which
        changes scores.

    Raises:
        ValueError: the variant is unknown or does not support one of the options, or ``extract`` is invalid. In a call:
            the column is missing, the content of a message is not a string, or references cannot be scored.

    Example:
        >>> from anls_metric.core.extraction import answer_in_tags
        >>> reward = build_reward(extract=answer_in_tags)
        >>> reward(completions=["It says <answer>CocaCola</answer>", "Pepsi"], answers=[["Coca Cola"], None])
        [0.8888888888888888, None]
        >>> build_reward(variant="rrc", threshold=0.8).__name__
        'anls_rrc_0.8'
        >>> reward = build_reward(variant="anls_star", extract="json")
        >>> reward(completions=['It says {"total": "12.5"}', "12.50"], answers=['{"total": "12.50"}'] * 2)
        [0.8, 0.0]

    Source: https://huggingface.co/docs/trl/rewards.
    """
    of_values = {"none_keys": none_keys, "numbers": numbers, "ignore_keys": ignore_keys}
    scorer = get_scorer(variant, threshold=threshold, ignore_case=ignore_case, **of_values)
    extract = as_extract(extract, scorer)
    return Reward(references_column, extract, _name_reward(scorer) if name is None else name, scorer)


def _name_reward(scorer: Scorer) -> str:
    """Name a reward after its variant, and after its threshold and case if these differ from the variant's defaults."""
    row = SCORERS.get(scorer.name, scorer)
    parts = [scorer.key] if scorer.name in (scorer.key, "standard") else [scorer.key, scorer.name]
    if scorer.threshold != row.threshold:
        parts.append(str(scorer.threshold))
    ignore_case = getattr(scorer, "ignore_case", None)
    if ignore_case != getattr(row, "ignore_case", None):
        parts.append("uncased" if ignore_case else "cased")
    return "_".join(parts)


class Reward:
    """The reward function that `build_reward` returns."""

    def __init__(self, references_column: str, extract: Extract, name: str, scorer: Scorer) -> None:
        self._references_column, self._extract, self._scorer = references_column, extract, scorer
        self.__name__ = name

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Score each completion against the references of its row."""
        column = self._references_column
        if column not in columns:
            raise ValueError(
                f"there is no column {column!r} (found {', '.join(map(repr, columns)) or 'none'}): name the column of "
                "the references with build_reward(references_column=...)"
            )
        references = as_column(columns[column], column, "pass a list with one for each completion")
        rewards: list[float | None] = []
        unreadable = 0
        for row, (completion, given) in enumerate(zip(completions, references, strict=True)):
            place = name_row(row)
            accepted = self._read_references(given)
            if accepted is None:
                rewards.append(None)
                continue
            answer = extract_answer(_read_text(completion, f"the completion of {place}"), self._extract, place)
            score, is_readable = score_text(self._scorer, answer, accepted, place)
            rewards.append(float(score))
            unreadable += not is_readable
        if self._scorer.reads_json and "log_metric" in columns:
            count = len(rewards) - rewards.count(None)
            columns["log_metric"](f"rewards/{self.__name__}/unreadable", unreadable / (count or 1))
        return rewards

    def _read_references(self, references: Any) -> Any:
        """Read the references of a row, or return None if the row has no references."""
        is_empty = references == [] and not self._scorer.reads_json  # [] is a value
        return None if references is None or is_empty else self._scorer.read_references(references)


def _read_text(completion: Any, what: str) -> str:
    """Return the text of a completion, which is a string or a list of messages, of which the last assistant message is
    used.
    """
    if isinstance(completion, str):
        return completion
    contents = [message.get("content") for message in completion if message.get("role", "assistant") == "assistant"]
    content = contents[-1] if contents else None
    if isinstance(content, list):  # the parts of a message of a vision model
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    return as_text(content or "", f"{what}, its content,")  # a tool call has no content


anls_reward = build_reward()
"""The reward with default options, for ``trl grpo --reward_funcs anls_metric.trl.anls_reward``, which takes references
from the column ``answers``.
"""
