"""Counts the most frequent edits between answers and accepted answers: which letters a model confuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from anls_metric.core.explanation import Edit
from anls_metric.core.variants import Variant
from anls_metric.reading.batch import Row, get_texts

LONGEST = 3
"""The longest edit, in characters. A longer edit is another word."""


@dataclass(frozen=True)
class Confusion:
    """An edit with its frequency. The fields are the keys of the JSON document.

    Attributes:
        predicted: the characters in the answers; "" for missing characters.
        accepted: the characters in the closest accepted answers instead; "" for none.
        count: the number of occurrences.
    """

    predicted: str
    accepted: str
    count: int


class ConfusionCounter:
    """Counts the edits of answers that score between 0 and 1, from the answer to the closest accepted one.

    Args:
        variant: the variant that scored the answers.

    Example:
        >>> from anls_metric import VARIANTS
        >>> counter = ConfusionCounter(VARIANTS["standard"])
        >>> rows = [Row("7", "B0B", ["BOB"], {}), Row("8", "R0AD", ["ROAD"], {}), Row("9", "ca1l", ["call"], {})]
        >>> counter.add(rows, [2 / 3, 0.75, 0.75])
        >>> counter.list_most_frequent(1)
        [Confusion(predicted='0', accepted='o', count=2)]
    """

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, rows: Sequence[Row], scores: Sequence[float]) -> None:
        """Add answers with their scores."""
        for place, score in enumerate(scores):
            self._counts.update(list_confused(self._variant, rows[place], score))

    def list_most_frequent(self, most: int) -> list[Confusion]:
        """List the most frequent edits, up to this number; equally frequent edits in the order of their characters."""
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return [Confusion(*pair, count) for pair, count in ranked[:most]]


def list_confused(variant: Variant, row: Row, score: float) -> list[tuple[str, str]]:
    """List what an answer that scores between 0 and 1 confuses: pairs like the first two fields of `Confusion`.

    Example:
        >>> from anls_metric import VARIANTS
        >>> list_confused(VARIANTS["standard"], Row("7", "B0B", ["BOB"], {}), 2 / 3)
        [('0', 'o')]
    """
    return list(_list_pieces(variant.explain(*get_texts(row)).edits)) if 0.0 < score < 1.0 else []


def _list_pieces(edits: Iterable[Edit]) -> Iterator[tuple[str, str]]:
    """List the short pieces in which two texts differ. Adjacent edits are one piece."""
    for is_equal, run in groupby(edits, key=lambda edit: edit.operation == "equal"):
        if not is_equal:
            steps = list(run)
            predicted, accepted = "".join(step.prediction for step in steps), "".join(step.reference for step in steps)
            if max(len(predicted), len(accepted)) <= LONGEST:
                yield predicted, accepted
