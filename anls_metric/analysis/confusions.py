"""Counts the most frequent edits between answers and references, which show which characters a model confuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from anls_metric.analysis.scored import Scored
from anls_metric.core.strings.explanation import Edit

MAX_LENGTH = 3
"""The maximum length of an edit in characters. A longer edit is taken for a different word."""


@dataclass(frozen=True)
class Confusion:
    """An edit with its frequency. The fields are the keys of the JSON document.

    Attributes:
        predicted: the characters in the answers; "" for missing characters.
        accepted: the corresponding characters in the closest references; "" for none.
        count: the number of occurrences.
    """

    predicted: str
    accepted: str
    count: int


def find_confusions(scored: Scored, most: int) -> list[tuple[Confusion, list[int]]]:
    """Find the most frequent edits that turn answers scoring between 0 and 1 into their closest references.

    Args:
        scored: a submission with string answers.
        most: how many edits to return.

    Returns:
        The most frequent edits, each with the positions of the answers that contain it. Equally frequent edits are
        sorted by their characters.

    Example:
        >>> from anls_metric import score
        >>> find_confusions(score(["B0B", "R0AD", "ca1l"], [["BOB"], ["ROAD"], ["call"]])["data"], 1)
        [(Confusion(predicted='0', accepted='o', count=2), [0, 1])]
    """
    places_of: dict[tuple[str, str], list[int]] = {}
    for place, score in enumerate(scored.answer_scores):
        if 0.0 < score < 1.0:
            for pair in _list_pieces(scored.why(place).edits):
                places_of.setdefault(pair, []).append(place)
    ranked = sorted(places_of.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(Confusion(*pair, len(places)), places) for pair, places in ranked[:most]]


def _list_pieces(edits: Iterable[Edit]) -> Iterator[tuple[str, str]]:
    """List the short pieces in which two strings differ, with adjacent edits joined into one piece."""
    for is_equal, run in groupby(edits, key=lambda edit: edit.operation == "equal"):
        _, predicted, accepted = map("".join, zip(*run))
        if not is_equal and max(len(predicted), len(accepted)) <= MAX_LENGTH:
            yield predicted, accepted
