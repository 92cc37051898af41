"""Finds the answers that equal a reference and those that contain one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.core.scorer import Scorer

References = Sequence[Sequence[Any]]


class Matches(NamedTuple):
    """Two lists of flags that mark the answers that match a reference after the scorer's normalization.

    Attributes:
        exact: whether each answer equals a reference.
        contains: whether each answer equals a reference or contains one as whole words.
    """

    exact: list[bool]
    contains: list[bool]


NormalizedPair = tuple[str, Sequence[str]]
"""The normalized answer, which is "" if the scorer treats the answer as missing, and the normalized references."""


def normalize_wrong(
    predictions: Sequence[Any], references: References, scores: Sequence[float], scorer: Scorer
) -> list[NormalizedPair]:
    """Normalize each answer that may differ from its references, with the references. Other answers become ("", ()).

    Example:
        >>> from anls_metric import get_variant
        >>> normalize_wrong(["COLA", "It is 5"], [["Cola"], ["5 "]], [1.0, 0.0], get_variant())
        [('', ()), ('it is 5', ['5'])]
    """
    as_text, no_answers = scorer.as_text, getattr(scorer, "no_answers", ())
    all_or_nothing = getattr(scorer, "all_or_nothing", False)
    pairs: list[NormalizedPair] = [("", ())] * len(scores)
    for place, score in enumerate(scores):
        if score != 1.0 or all_or_nothing:
            text = "" if predictions[place] is None else as_text(predictions[place])
            pairs[place] = "" if text in no_answers else text, list(map(as_text, references[place]))
    return pairs


def find_matches(
    predictions: Sequence[Any],
    references: References,
    scores: Sequence[float],
    scorer: Scorer,
    normalized: Sequence[NormalizedPair] | None = None,
) -> Matches:
    """Find the answers that equal a reference and those that contain one.

    Args:
        predictions: the answers; None for a missing answer.
        references: the references of each answer.
        scores: the score of each answer.
        scorer: the scorer that computed the scores.
        normalized: the result of `normalize_wrong`; None to compute it.

    Example:
        >>> from anls_metric import get_variant
        >>> find_matches(["COLA", "It is 5"], [["Cola"], ["5"]], [1.0, 0.0], get_variant())
        Matches(exact=[True, False], contains=[True, True])
    """
    pairs = normalize_wrong(predictions, references, scores, scorer) if normalized is None else normalized
    matches = Matches([True] * len(scores), [True] * len(scores))
    for place, (text, texts) in enumerate(pairs):
        if texts or predictions[place] is None:
            # The strings of {"a": 1} and {"A": 1} are equal, but the values are not.
            exact = scores[place] > 0.0 and text in texts and not scorer.reads_json
            matches.exact[place] = exact and predictions[place] is not None
            matches.contains[place] = exact or contains_any(text, texts)
    return matches


def contains_any(prediction: str, references: Sequence[str]) -> bool:
    """Whether a string contains one of several other strings as whole words."""
    return any(is_contained(text, prediction) for text in references if text in prediction)


def is_contained(part: str, whole: str) -> bool:
    """Whether one string is contained in another as whole words. An empty string is not contained in any string.

    Example:
        >>> is_contained("5", "page 5 of 15"), is_contained("5", "page 15")
        (True, False)
    """
    place = whole.find(part) if part else -1
    while place >= 0:
        end = place + len(part)
        if not (_is_word_character(whole[place - 1 : place]) or _is_word_character(whole[end : end + 1])):
            return True
        place = whole.find(part, place + 1)
    return False


def _is_word_character(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
