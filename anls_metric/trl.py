"""The score as a reward of TRL, for ``GRPOTrainer(reward_funcs=...)`` and ``trl grpo --reward_funcs``.

TRL is not imported here: all that it asks of a reward is a call with columns, and a name for its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from anls_metric.core.rows import as_references, as_text, describe
from anls_metric.core.scoring import anls_batch
from anls_metric.core.variants import OF_VALUES, VARIANTS, Variant, get_variant
from anls_metric.transformers import Extract, answer_in, as_extract

if TYPE_CHECKING:
    from anls_metric.nested import NoneKeys, ValueVariant

__all__ = ["Reward", "ValueReward", "anls_reward", "build_reward"]


def build_reward(
    references_column: str = "answers",
    extract: Extract | str | None = None,
    *,
    name: str | None = None,
    threshold: float | None = None,
    variant: str | Variant | ValueVariant = "standard",
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
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
        variant: a name in `VARIANTS`, another name of one, or a `Variant`; for models that write JSON "anls_star" or
            "anlsl" of `anls_metric.nested`, which score lists and nested values.
        ignore_case: whether texts are lower-cased; None does as the variant does.
        none_keys: of "anls_star": "counted" or "ignored", as `anls_metric.nested.anls_star_score` takes it.

    Returns:
        A function of ``completions`` (strings, or lists of messages, whose last answer counts) and of the columns
        of the data set, all by name. It returns a score from 0 to 1 for each, None where a row has no references.
        It can be pickled, as asynchronous rollouts need, where ``extract`` can. For values it is a `ValueReward`.

    Raises:
        ValueError: an unknown variant, an option that it does not have, a name or ``extract`` of the wrong kind; and
            when it is called: a column that is not there, a completion of another shape, references that cannot be
            scored.

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
    given = {option: value for option, value in options.items() if value is not None}
    named = getattr(variant, "name", variant)
    make: Callable[..., Reward] = _REWARDS.get(named if isinstance(named, str) else "", _reward_of_texts)
    return make(references_column, extract, name, variant, given)


def _reward_of_texts(column: str, extract: Any, name: str | None, variant: Any, options: dict[str, Any]) -> Reward:
    if "none_keys" in options:
        raise ValueError("none_keys is an option of the variant anls_star: leave it out")
    variant = get_variant(variant, **options)
    return Reward(column, as_extract(extract), _name(variant) if name is None else name, variant)


def _reward_of_values(column: str, extract: Any, name: str | None, variant: Any, options: dict[str, Any]) -> Reward:
    from anls_metric.nested import get_value_variant
    from anls_metric.reading.extract import extractor

    variant = get_value_variant(variant, **options)
    extract = extractor(extract, values=True) if isinstance(extract, str) else as_extract(extract)
    return ValueReward(column, extract, _name_of_values(variant) if name is None else name, variant)


# The variants that score values -> what makes their reward.
_REWARDS: Mapping[str, Callable[..., Reward]] = dict.fromkeys(OF_VALUES, _reward_of_values)


class Reward:
    """What `build_reward` returns."""

    def __init__(self, references_column: str, extract: Extract | None, name: str, variant: Any) -> None:
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
        answers: dict[int, str | None] = {}
        accepted: list[Any] = []
        for row, (completion, given) in enumerate(zip(said, references)):
            if not self._is_empty(given):
                answers[row] = self._answer(completion, row)
                accepted.append(self._accepted(given, row))
        scores = dict(zip(answers, self._score(list(answers.values()), accepted, columns.get("log_metric"))))
        return [scores.get(row) for row in range(len(said))]

    def _answer(self, completion: Any, row: int) -> str | None:
        """What a completion answers, None for nothing."""
        text = _text_of(completion, f"the completion of {_row_name(row)}")
        return answer_in(text, self._extract, _row_name(row))

    @staticmethod
    def _is_empty(references: Any) -> bool:
        """Whether a row has no accepted answers: None, or a list, set or array of none."""
        empty = isinstance(references, (list, tuple, Set)) and not references
        return references is None or empty or getattr(references, "size", None) == 0

    def _accepted(self, references: Any, row: int) -> Any:
        return as_references(references, f"{self._references_column} of {_row_name(row)}")

    def _score(self, answers: list[str | None], accepted: list[Any], log_metric: Any) -> list[float]:
        batch = {"prediction": [answer or "" for answer in answers], "references": accepted}
        scores: list[float] = anls_batch(batch, variant=self._variant)["anls"]
        return scores


class ValueReward(Reward):
    """The reward of a model that writes JSON: what `build_reward` returns for "anls_star" and "anlsl".

    A completion that is no JSON, or that the variant cannot score, has 0, and TRL logs the share of those as
    ``rewards/NAME/unreadable``. The accepted answer of a row is a value, or a text that holds one as JSON: a data set
    fills the keys that a value of another row has with None, which changes scores, and a text stays as it is.
    """

    @staticmethod
    def _is_empty(references: Any) -> bool:
        return references is None  # an empty list is an answer

    def _accepted(self, references: Any, row: int) -> Any:
        from anls_metric.nested import from_json
        from anls_metric.reading.values import value_or_text

        value = from_json(value_or_text(references) if isinstance(references, str) else references)
        self._variant.check([""], [value], lambda _: f"row {row}")
        return value

    def _score(self, answers: list[str | None], accepted: list[Any], log_metric: Any) -> list[float]:
        scores = list(map(self._score_of, answers, accepted))
        if log_metric is not None:  # TRL before 1.0 has none
            log_metric(f"rewards/{self.__name__}/unreadable", scores.count(None) / len(scores) if scores else 0.0)
        return [score or 0.0 for score in scores]

    def _score_of(self, answer: str | None, accepted: Any) -> float | None:
        """The score of an answer; None of one that cannot be read."""
        from anls_metric.reading.values import value_of

        try:
            score: float = self._variant.score([value_of(answer or "")], [accepted])[0].score
        except ValueError:
            return None
        return score


def _name_of_values(variant: ValueVariant) -> str:
    """What tells a reward of values from others."""
    threshold = [] if variant.threshold == 0.5 else [str(variant.threshold)]
    return "_".join([variant.name, *threshold, *([] if variant.none_keys == "counted" else ["none_keys_ignored"])])


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
        raise ValueError(f"{what} is {describe(column)}: pass a list with one for each completion")
    return list(column)


def _text_of(completion: Any, what: str) -> str:
    """The text of a completion: a string, or messages, of which the last one of the assistant counts."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, list) or not all(isinstance(message, Mapping) for message in completion):
        raise ValueError(f"{what} is {describe(completion)}: pass a string or a list of messages")
    said = [message.get("content") for message in completion if message.get("role", "assistant") == "assistant"]
    content = said[-1] if said else None
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(as_text(part.get("text"), what) for part in content if part.get("type", "text") == "text")
    return "" if content is None else as_text(content, f"{what}, its content,")  # a call of a tool has none


# For `trl grpo --reward_funcs anls_metric.trl.anls_reward`, with the column `answers`.
anls_reward = build_reward()
