"""Defines the causes for which the leaves of nested values lose points, and finds the cause for each leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.causes import Cause, is_failed, show
from anls_metric.analysis.same_value import is_any_same_value

if TYPE_CHECKING:
    from anls_metric.core.values import ScoredLeaf

LEAF_CAUSES = (
    Cause("failed request", "values are those of failed requests", "ask these questions again", share=0.0),
    Cause("not JSON", "values are in text where an object or list is expected", "ask the model for JSON", share=0.02),
    Cause("cut off", "values are in cut-off JSON or reasoning", "raise the token limit of the model", share=0.0),
    Cause(
        "another shape",
        "values are a list on one side and an object or text on the other, such as {example}",
        "ask for the shape of the reference",
        share=0.02,
    ),
    Cause(
        "another key",
        "values stand under another key, such as {example}",
        "ask for the keys of the references, or rename them",
        share=0.02,
    ),
    Cause(
        "another form",
        "values are the number, unit or date of the reference, written differently, such as {example}",
        "ask for one form, or accept both",
        share=0.02,
    ),
    Cause("close", "values are similar to the reference", "the model or the OCR"),
    Cause("wrong", "values are different", "the model or the OCR"),
    Cause("missed", "values are missing where one is expected", "the model"),
    Cause("invented", "values stand where none is expected", "the model"),
)

_COMPARED = ("close", "wrong")


def name_leaf_causes(prediction: Any, leaves: Sequence[ScoredLeaf], examples: dict[str, str]) -> list[str]:
    """Name the cause of each leaf's score, which is the leaf's outcome unless a more specific cause applies, and add
    the first example of each cause to ``examples``.
    """
    if is_failed(prediction):
        return ["failed request"] * len(leaves)
    names: list[str] = [leaf.outcome for leaf in leaves]
    if isinstance(prediction, str) and any(leaf.keys or leaf.places for leaf in leaves):
        return ["not JSON"] * len(leaves)
    if prediction is None:
        return names
    for missed, invented in _pair_keys(leaves):
        names[missed] = names[invented] = "another key"
        examples.setdefault("another key", f'"{leaves[invented].path}" for "{leaves[missed].path}"')
    for place, leaf in enumerate(leaves):
        if names[place] in _COMPARED:
            if not leaf.is_predicted or isinstance(leaf.prediction, (list, dict)):  # one side is a list or an object
                names[place] = "another shape"
                examples.setdefault("another shape", f'"{leaf.path}"')
            elif is_any_same_value(str(leaf.prediction), [str(leaf.reference)]):
                names[place] = "another form"
                examples.setdefault("another form", f"{show(leaf.prediction)} for {show(leaf.reference)}")
    return names


def _pair_keys(leaves: Sequence[ScoredLeaf]) -> Iterator[tuple[int, int]]:
    """Yield the positions of each missed leaf and of an invented leaf that has the same value under another key."""
    invented: dict[str, list[int]] = {}
    for place, leaf in enumerate(leaves):
        if leaf.outcome == "invented" and not isinstance(leaf.prediction, (list, dict)):
            invented.setdefault(_normalize(leaf.prediction), []).append(place)
    for place, leaf in enumerate(leaves) if invented else ():
        others = invented.get(_normalize(leaf.reference), ()) if leaf.outcome == "missed" else ()
        other = next((each for each in others if leaves[each].keys != leaf.keys), None)
        if other is not None:
            invented[_normalize(leaf.reference)].remove(other)
            yield place, other


def _normalize(value: Any) -> str:
    return " ".join(str(value).lower().split())
