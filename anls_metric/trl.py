"""ANLS as a reward of TRL, for ``GRPOTrainer(reward_funcs=...)`` and ``trl grpo --reward_funcs``.

This module does not import TRL: to TRL, a reward is any callable that takes columns and has a ``__name__``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

from anls_metric.core.rows import as_column, as_text, describe, name_row
from anls_metric.core.variants import OF_VALUES, VARIANTS, Scorer, get_variant
from anls_metric.nested import VALUE_VARIANTS, NoneKeys, from_json, get_value_variant
from anls_metric.reading.values import parse_value, parse_value_or_text
from anls_metric.transformers import Extract, as_extract, extract_answer

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
) -> Reward:
    """Build a reward function for ``GRPOTrainer(reward_funcs=...)``: it returns the score of each completion.

    Args:
        references_column: the column of the data set with the accepted answers of each prompt.
        extract: a function that extracts the answer from a completion, such as
            `anls_metric.reading.extract.answer_in_tags`, or the names of rules, such as "think,final"; None takes the
            whole completion. If it returns None, the completion has no answer and scores as "".
        name: the name of the reward in TRL's logs (``rewards/NAME/mean``). None builds it from variant, threshold and
            case: ``anls`` for the defaults, else ``anls_rrc``, ``anls_0.8``, ``anls_rrc_0.8_cased``. Give each reward a
            name if two rewards of one trainer differ only in other options.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them. For models that write JSON, the
            variant can also be "anls_star", "anlsl" or a ``ValueVariant`` of `anls_metric.nested`, which score lists
            and nested values. Any other `Scorer` takes no options here; with the rule of a benchmark, the references
            of a row are a dict of the rule's columns.
        none_keys: an option of "anls_star": see `anls_metric.nested.anls_star_score`.

    Returns:
        A function of ``completions`` and the columns of the data set, by name. Completions are strings, or lists of
        messages, of which the last message of the assistant counts. The function returns a score from 0 to 1 for each
        completion, None for a row without references. It can be pickled if ``extract`` can, as asynchronous rollouts
        require.

        With a variant for values, a completion scores 0 if it is not JSON or holds something that cannot be scored; TRL
        logs the share of such completions as ``rewards/NAME/unreadable``. Store the accepted value of a row as JSON
        text: in a column of dicts, a data set adds the keys of other rows with the value None, which changes scores.

    Raises:
        ValueError: an unknown variant, an option that it does not have, or a wrong ``name`` or ``extract``. In a call:
            the column is missing, a completion is neither a text nor messages, or references cannot be scored.

    Example:
        >>> from anls_metric.reading.extract import answer_in_tags
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
    options = {"threshold": threshold, "ignore_case": ignore_case, "none_keys": none_keys}
    scorer = _find_scorer(variant, {option: value for option, value in options.items() if value is not None})
    extract = as_extract(extract, values=scorer.name in OF_VALUES)
    return Reward(references_column, extract, _name_reward(scorer) if name is None else name, scorer)


def _find_scorer(variant: Any, options: dict[str, Any]) -> Scorer:
    """Get the scorer for these options."""
    name = getattr(variant, "name", variant)
    if isinstance(name, str) and name in OF_VALUES:
        return get_value_variant(variant, **options)
    if "none_keys" in options:
        raise ValueError("none_keys is an option of the variant anls_star: leave it out")
    if hasattr(variant, "score") and type(variant).__name__ != "Variant":
        if options:
            raise ValueError(f"{name} takes no options here: leave out {', '.join(options)}")
        scorer: Scorer = variant
        return scorer
    return get_variant(variant, **options)


# The options that distinguish rewards of one variant -> the words for them in the name of a reward.
_WORDS: Mapping[str, Callable[[Any], str]] = {
    "threshold": str,
    "ignore_case": lambda ignore_case: "uncased" if ignore_case else "cased",
    "none_keys": "none_keys_{}".format,
}


def _name_reward(scorer: Scorer) -> str:
    """Name a reward by its variant, and by the options in which it differs from the row of this name in the table."""
    row: Scorer = VARIANTS.get(scorer.name) or VALUE_VARIANTS.get(scorer.name) or scorer
    parts = [scorer.key] if scorer.name in (scorer.key, "standard") else [scorer.key, scorer.name]
    for option, word in _WORDS.items():
        value = getattr(scorer, option, None)
        if value != getattr(row, option, None):
            parts.append(word(value))
    return "_".join(parts)


class Reward:
    """The reward function that `build_reward` returns."""

    def __init__(self, references_column: str, extract: Extract | None, name: str, scorer: Scorer) -> None:
        self._references_column, self._extract, self._scorer = references_column, extract, scorer
        self._of_values = scorer.name in OF_VALUES
        self.__name__ = as_text(name, "the name of the reward")

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Score each completion against the references of its row."""
        column = self._references_column
        if columns.get(column) is None:
            problem = (
                f"the column {column!r} is None"
                if column in columns
                else f"there is no column {column!r} (found {', '.join(map(repr, columns)) or 'none'})"
            )
            remedy = "name the column of the accepted answers with build_reward(references_column=...)"
            raise ValueError(f"{problem}: {remedy}")
        advice = "pass a list with one for each completion"
        completions = as_column(completions, "completions", advice)
        references = as_column(columns[column], column, advice)
        if len(references) != len(completions):
            raise ValueError(f"there are {len(completions):,} completions but references for {len(references):,}")
        parsed = map(self._parse_references, references)
        accepted = {row: answers for row, answers in enumerate(parsed) if answers is not None}
        rows = list(accepted)
        predictions: dict[int, Any] = {}  # without completions that cannot be read
        for row in rows:
            answer = self._read_answer(completions[row], name_row(row))
            with suppress(ValueError):
                predictions[row] = self._parse_answer(answer)
        if self._of_values and columns.get("log_metric") is not None:  # TRL before 1.0 does not pass it
            unreadable = len(rows) - len(predictions)
            columns["log_metric"](f"rewards/{self.__name__}/unreadable", unreadable / (len(rows) or 1))
        scores = self._scorer.score(
            [predictions.get(row, "") for row in rows], list(accepted.values()), lambda place: name_row(rows[place])
        )
        rewards = {row: float(score) if row in predictions else 0.0 for row, score in zip(rows, scores)}
        return [rewards.get(row) for row in range(len(completions))]

    def _parse_references(self, references: Any) -> Any:
        """Read the accepted answers of a row; None if the row has none."""
        if self._of_values:  # an empty list is an answer
            return from_json(parse_value_or_text(references) if isinstance(references, str) else references)
        is_empty = isinstance(references, (list, tuple, Set)) and not references
        return None if is_empty or getattr(references, "size", None) == 0 else references

    def _read_answer(self, completion: Any, row: str) -> str:
        """Extract the answer of a completion; "" if it has none."""
        return extract_answer(_read_text(completion, f"the completion of {row}"), self._extract, row) or ""

    def _parse_answer(self, text: str) -> Any:
        """Parse a text as the answer to score. ValueError: it is not a value that can be scored."""
        if not self._of_values:
            return text
        value = parse_value(text)
        self._scorer.check([value], [""])
        return value


def _read_text(completion: Any, what: str) -> str:
    """Read the text of a completion: a string, or messages, of which the last message of the assistant counts."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, list) or not all(isinstance(message, Mapping) for message in completion):
        raise ValueError(f"{what} is {describe(completion)}: pass a string or a list of messages")
    contents = [message.get("content") for message in completion if message.get("role", "assistant") == "assistant"]
    content = contents[-1] if contents else None
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(as_text(part.get("text"), what) for part in content if part.get("type", "text") == "text")
    return "" if content is None else as_text(content, f"{what}, its content,")  # a tool call has no content


anls_reward = build_reward()
"""The reward with all defaults, for ``trl grpo --reward_funcs anls_metric.trl.anls_reward``. It reads the column
``answers``.
"""
