"""The score as a reward of TRL, for ``GRPOTrainer(reward_funcs=...)`` and ``trl grpo --reward_funcs``.

TRL is not imported here: all that it asks of a reward is a call with columns, and a name for its log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from anls import (
    VARIANTS,
    Extract,
    Variant,
    anls_batch,
    answer_in,
    as_extract,
    as_references,
    as_text,
    get_variant,
    shown,
)

__all__ = ["Reward", "anls_reward", "build_reward"]


def build_reward(
    references_column: str = "answers",
    extract: Extract | str | None = None,
    *,
    name: str | None = None,
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Reward:
    """A reward function of TRL, for ``GRPOTrainer(reward_funcs=...)``: the score of each completion.

    Args:
        references_column: the column of the data set with the accepted answers of each prompt.
        extract: takes the answer out of the text of a completion, as `anls_metric.reading.extract.answer_in_tags`
            does; None takes all of it. Where it returns None there is no answer, and the score is that of "".
        name: what TRL logs the reward as (``rewards/NAME/mean``). None makes it of variant, threshold and case:
            ``anls`` for the defaults, else ``anls_rrc``, ``anls_0.8``, ``anls_rrc_0.8_cased``. Two rewards of one
            trainer that differ in something else need names of their own.
        threshold: from 0 to 1; None takes the variant's own, 0.5 for most.
        variant: a name in `VARIANTS`, another name of one, or a `Variant`.
        ignore_case: whether texts are lower-cased; None does as the variant does.

    Returns:
        A function of ``completions`` (strings, or lists of messages, whose last answer counts) and of the columns
        of the data set, all by name. It returns a score from 0 to 1 for each, None where a row has no references.
        It can be pickled, as asynchronous rollouts need, where ``extract`` can.

    Raises:
        ValueError: an unknown variant, a name or ``extract`` of the wrong kind; and when it is called: a column that
            is not there, a completion of another shape, references that are no strings.

    Example:
        >>> from anls_metric.reading.extract import answer_in_tags
        >>> reward = build_reward(extract=answer_in_tags)
        >>> reward(completions=["It says <answer>CocaCola</answer>", "Pepsi"], answers=[["Coca Cola"], None])
        [0.8888888888888888, None]
        >>> build_reward(variant="rrc", threshold=0.8).__name__
        'anls_rrc_0.8'

    Source: https://huggingface.co/docs/trl/rewards.
    """
    variant = get_variant(variant, threshold, ignore_case)
    return Reward(references_column, as_extract(extract), _name(variant) if name is None else name, variant)


class Reward:
    """What `build_reward` returns."""

    def __init__(self, references_column: str, extract: Extract | None, name: str, variant: Variant) -> None:
        self._references_column, self._extract, self._variant = references_column, extract, variant
        self.__name__ = as_text(name, "the name of the reward")

    def __call__(self, *, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The score of each completion against the references of its row."""
        column = self._references_column
        if columns.get(column) is None:
            raise ValueError(
                f"there is no column {column!r}: name the one with the accepted answers by references_column (there "
                f"are {', '.join(columns) or 'none'})"
            )
        said, references = _listed(completions, "completions"), _listed(columns[column], column)
        if len(references) != len(said):
            raise ValueError(f"there are {len(said)} completions but references for {len(references)}")
        answers: dict[int, str] = {}
        accepted: list[Sequence[str]] = []
        for row, (completion, given) in enumerate(zip(said, references)):
            if not _is_empty(given):
                answers[row] = self._answer(completion, row)
                accepted.append(as_references(given, f"{column} of {_row_name(row)}"))
        batch = {"prediction": list(answers.values()), "references": accepted}
        scores = dict(zip(answers, anls_batch(batch, variant=self._variant)["anls"]))
        return [scores.get(row) for row in range(len(said))]

    def _answer(self, completion: Any, row: int) -> str:
        text = _text_of(completion, f"the completion of {_row_name(row)}")
        return answer_in(text, self._extract, _row_name(row)) or ""


def _name(variant: Variant) -> str:
    """What tells a reward from others: the variant, and the threshold and case in which it is not as that one."""
    named = VARIANTS.get(variant.name, variant)
    parts = ["anls"]
    if variant.name != "standard":
        parts.append(variant.name)
    if variant.threshold != named.threshold:
        parts.append(str(variant.threshold))
    if variant.ignore_case != named.ignore_case:
        parts.append("uncased" if variant.ignore_case else "cased")
    return "_".join(parts)


def _row_name(row: int) -> str:
    return f"row {row} (counted from 0)"


def _listed(column: Any, what: str) -> list[Any]:
    if not isinstance(column, Iterable) or isinstance(column, (str, bytes, Mapping, Set)):
        raise ValueError(f"{what} is {shown(column)}: pass a list with one for each completion")
    return list(column)


def _is_empty(references: Any) -> bool:
    """Whether a row has no accepted answers: None, or a list, set or array of none."""
    empty = isinstance(references, (list, tuple, Set)) and not references
    return references is None or empty or getattr(references, "size", None) == 0


def _text_of(completion: Any, what: str) -> str:
    """The text of a completion: a string, or messages, of which the last one of the assistant counts."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, list) or not all(isinstance(message, Mapping) for message in completion):
        raise ValueError(f"{what} is {shown(completion)}: pass a string or a list of messages")
    said = [message.get("content") for message in completion if message.get("role", "assistant") == "assistant"]
    content = said[-1] if said else None
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(as_text(part.get("text"), what) for part in content if part.get("type", "text") == "text")
    return "" if content is None else as_text(content, f"{what}, its content,")  # a call of a tool has none


# For `trl grpo --reward_funcs anls_metric.trl.anls_reward`, with the column `answers`.
anls_reward = build_reward()
