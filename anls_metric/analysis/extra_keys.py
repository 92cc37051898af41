"""Finds keys that occur in nested predictions but in no reference, such as the name of the model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from anls_metric.analysis.scored import Scored
from anls_metric.core.checks import find_similar_name
from anls_metric.core.scorer import Scorer
from anls_metric.messages import list_some, make_error
from anls_metric.reading.roles import fold_name

if TYPE_CHECKING:
    from anls_metric.core.values.value_variants import ValueVariant

_NEARLY_ALL = 0.95


def find_extra_keys(scorer: Scorer, predictions: Sequence[Any], references: Sequence[Sequence[Any]]) -> list[str]:
    """Find keys that nearly all predictions have but no reference has, so that they are probably not part of the
    answer.

    A key is left out of the result if it seems to be part of the answer under another name, either because a key in a
    reference is spelled alike or because its values are often those of a reference's key that the prediction lacks.

    Args:
        scorer: the scorer of the answers, which may already leave out keys.
        predictions: N answers.
        references: the references of each answer.

    Returns:
        The paths of all keys to leave out, beginning with those that the scorer already leaves out, in the form that
        ``ignore_keys`` accepts; [] if no further key was found.

    Example:
        >>> from anls_metric import get_scorer
        >>> find_extra_keys(get_scorer("anls_star"), [{"total": "5", "seconds": 2}] * 3, [({"total": "5"},)] * 3)
        ['seconds']
    """
    if "ignore_keys" not in scorer.options:
        return []
    from anls_metric.core.values.trees import says_nothing  # runs over strings do not need it

    ignored = cast("ValueVariant", scorer).ignore_keys
    pairs = [pair for pair in zip(predictions, references) if isinstance(pair[0], (dict, list))]
    known = {path for _, references in pairs for path, _ in list_keys(references)}
    spellings = set(map(fold_name, {*known, *ignored}))
    found: Counter[str] = Counter()
    parents: Counter[str] = Counter()
    renamed: Counter[str] = Counter()
    filled: set[str] = set()  # keys that never have a value are left to `none_keys`
    for prediction, references in pairs:
        own = _collect(list_keys(prediction))
        found.update(path for path in own if fold_name(path) not in spellings)
        parents.update({_get_parent(path) for path in own})
        filled.update(path for path, values in own.items() if any(not says_nothing(value) for value in values))
        lacking = {repr(value) for path, value in list_keys(references) if path not in own}
        renamed.update(path for path, values in own.items() if not lacking.isdisjoint(map(repr, values)))
    keys = [
        path
        for path, count in found.items()
        if path in filled
        and _can_be_typed(path)
        and _get_parent(path) in {"", *known}
        and count >= _NEARLY_ALL * parents[_get_parent(path)]
        and 2 * renamed[path] <= count
    ]
    return [*ignored, *keys] if keys else []


def _can_be_typed(path: str) -> bool:
    """Whether a path can be typed in a comma-separated option."""
    return "," not in path and path == path.strip()


def _get_parent(path: str) -> str:
    """Return the path of the object that contains a key; "" for the whole answer."""
    return path.rpartition(".")[0]


def list_keys(value: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """List the path and the value of each key in a nested value. Positions in lists are not part of a path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{before}{key}", item
            yield from list_keys(item, f"{before}{key}.")
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from list_keys(item, before)


def _collect(pairs: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = defaultdict(list)
    for path, value in pairs:
        values[path].append(value)
    return values


def refuse_unknown_keys(submissions: Sequence[Scored], paths: Sequence[str]) -> None:
    """Reject the paths of keys to leave out if a path occurs in no answer and no reference.

    Raises:
        InputError: a path does not occur.
    """
    sides = [side for scored in submissions for side in (scored.answers.predictions, scored.questions.references)]
    known = dict.fromkeys(path for side in sides for value in side for path, _ in list_keys(value))
    scorer = cast("ValueVariant", submissions[0].scorer)
    matching = set(map(scorer.normalize_path, known))
    for path in paths:
        if scorer.normalize_path(path) not in matching:
            similar = find_similar_name(path, known)
            sentence = "no answer has the key {path!r}: correct {use.ignore_keys} (found {keys})"
            if similar:
                sentence = "no answer has the key {path!r} of {use.ignore_keys}: did you mean {similar!r}?"
            raise make_error("", sentence, path=path, similar=similar, keys=list_some(known, 12))
