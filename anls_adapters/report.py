"""What is said of a scored set: the mean, why answers score 0, groups, the worst answers.

It is told the answers piece by piece and keeps counts alone, so that a set need not fit into memory.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from anls import Edit, Explanation, Variant, anls_scores, explain, get_variant, reason, signature
from anls_adapters.rrc import Question

ZERO_REASONS = ("under the threshold", "empty", "missing")

# The fields by which InfographicVQA groups its questions, the name of each break-down in results.json, and what
# the competition calls the values. Source: https://rrc.cvc.uab.es/?ch=17&com=tasks.
ANSWER_TYPES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "answer_type": (
        "answer_types",
        {
            "image span": "Image-Span",
            "question span": "Question-Span",
            "multiple spans": "Multi-Span",
            "non span": "None span",
        },
    ),
    "evidence": (
        "evidence_types",
        {
            "table/list": "Table/list",
            "textual": "Text",
            "photo/pciture/visual_objects": "Visual/Layout",
            "figure": "Figure",
            "map": "Map",
        },
    ),
    "operation/reasoning": (
        "operation_types",
        {"comparison": "Sorting", "arithmetic": "Arithmetic", "counting": "Counting"},
    ),
}

_UNIT = 1 << 1074  # every float is a whole number of 1 / _UNIT


class Tally:
    """Scores, counted by value: their mean is exact in whatever order and pieces they come.

    Example:
        >>> tally = Tally()
        >>> tally.add([1.0, 0.5, 0.0])
        >>> tally.add({1.0: 2, 0.5: 1})
        >>> tally.mean, tally.count
        (0.6666666666666666, 6)
    """

    def __init__(self) -> None:
        self._counts: Counter[float] = Counter()

    def add(self, scores: Iterable[float] | Mapping[float, int]) -> None:
        """Count these scores as well; a mapping says how often each of them comes."""
        self._counts.update(scores)

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(self._counts.values())

    @property
    def mean(self) -> float:
        """Their mean: the same bits as `anls.mean` of all of them."""
        units = 0
        for score, count in self._counts.items():
            numerator, denominator = score.as_integer_ratio()
            units += numerator * (_UNIT // denominator) * count
        return units / _UNIT / self.count


class Scored(NamedTuple):
    """A question with its score, and why it scores 0 if it does."""

    question: Question
    score: float
    zero: str = ""

    def explanation(self, variant: Variant) -> Explanation | None:
        """Why the variant gave it that score; None for a question without an answer."""
        if self.question.prediction is None:
            return None
        return explain(self.question.prediction, self.question.references, variant=variant)


class Report:
    """What is said of a scored set.

    Args:
        variant: which ANLS: a name or a Variant, as `anls.get_variant` gives it.
        by: fields of the gold record to break the score down by; a record whose field holds a list counts in
            each of its groups.
        worst: how many of the worst answers to keep.

    Example:
        >>> report = Report()
        >>> questions = [Question("7", "CocaCola", ["Coca Cola"], {}), Question("8", None, ["Cola"], {})]
        >>> [scored.zero for scored in report.score(questions)]
        ['', 'missing']
        >>> report.anls, report.zeros["missing"]
        (0.4444444444444444, 1)
    """

    def __init__(self, variant: str | Variant = "standard", by: Sequence[str] = (), worst: int = 0) -> None:
        self.variant = get_variant(variant)
        self.signature = signature(self.variant)
        self.zeros: Counter[str] = Counter(dict.fromkeys(ZERO_REASONS, 0))
        self.groups: dict[str, dict[str, Tally]] = {field: {} for field in by}
        self._tally = Tally()
        self._keep = worst
        self._worst: list[tuple[float, int, Scored]] = []  # a heap of the worst, the best of them first

    @property
    def anls(self) -> float:
        """The mean of the scores."""
        return self._tally.mean

    @property
    def count(self) -> int:
        """How many questions were scored."""
        return self._tally.count

    @property
    def worst(self) -> list[Scored]:
        """The answers with the lowest scores, the lowest first, then as they came."""
        return [scored for *_, scored in sorted(self._worst, key=lambda entry: entry[:2], reverse=True)]

    def score(self, questions: Sequence[Question]) -> list[Scored]:
        """Score questions and count them in. A question without an answer scores 0.

        Raises:
            ValueError: see `anls.anls_scores`.
        """
        predictions = [question.prediction for question in questions if question.prediction is not None]
        references = [question.references for question in questions if question.prediction is not None]
        scores = iter(anls_scores(predictions, references, variant=self.variant) if predictions else ())
        result = []
        for question in questions:
            if question.prediction is None:
                scored = Scored(question, 0.0, "missing")
            else:
                score = next(scores)
                zero = "" if score else reason(question.prediction, score, variant=self.variant)
                scored = Scored(question, score, zero)
            result.append(scored)
        self._count(result)
        return result

    def _count(self, result: Sequence[Scored]) -> None:
        start = self.count
        self._tally.add(scored.score for scored in result)
        self.zeros.update(scored.zero for scored in result if scored.zero)
        for field, groups in self.groups.items():
            for scored in result:
                names = [_group_name(field, str(one)) for one in group_values(scored.question.record, field)]
                for name in dict.fromkeys(names):
                    groups.setdefault(name, Tally()).add([scored.score])
        for place, scored in enumerate(result, start) if self._keep else ():
            entry = (-scored.score, -place, scored)
            if len(self._worst) < self._keep:
                heapq.heappush(self._worst, entry)
            elif entry[:2] > self._worst[0][:2]:
                heapq.heapreplace(self._worst, entry)


def group_values(record: Mapping[str, Any], field: str) -> list[Any]:
    """What puts a record into groups of a field: each value of a list, or the one that there is."""
    value = record.get(field)
    return [one for one in (value if isinstance(value, list) else [value]) if one is not None]


def _group_name(field: str, value: str) -> str:
    return ANSWER_TYPES[field][1].get(value, value) if field in ANSWER_TYPES else value


def printable(text: str) -> str:
    """The text as a terminal may show it: on one line, and without obeying it."""
    return "".join(character if character.isprintable() else "·" for character in text)


def alignment(edits: Sequence[Edit], width: int = 100) -> list[str]:
    """Three lines that show two texts above each other: the prediction, the reference, and what differs.

    Args:
        edits: `anls.Match.edits`.
        width: how many columns to show; what is beyond is cut and marked with an ellipsis.

    Returns:
        Lines of the same width. ``*`` stands where a side has no character; the last line has D (delete), I
        (insert) and R (replace) under what differs.

    Example:
        >>> from anls import explain
        >>> alignment(explain("the cola", ["coca cola"]).best.edits)
        ['*the cola', 'coca cola', 'IRRR     ']
    """
    prediction, reference, marks = "", "", ""
    for operation, left, right in edits:
        mark = " " if operation == "equal" else operation[0].upper()
        for place in range(max(len(left), len(right))):
            cells = [_cell(side[place]) if place < len(side) else "" for side in (left, right)]
            columns = max(map(_columns, cells)) or 1
            prediction += _padded(cells[0], columns)
            reference += _padded(cells[1], columns)
            marks += mark * columns
            if len(marks) > width:
                return [line + "…" for line in (prediction, reference, marks)]
    return [prediction, reference, marks]


def _cell(character: str) -> str:
    """The character as a terminal may show it: alone, and without obeying it."""
    if unicodedata.combining(character):
        return "◌" + character
    return printable(character)


def _columns(cell: str) -> int:
    wide = cell and unicodedata.east_asian_width(cell[0]) in "WF"
    return 2 if wide else min(len(cell), 1)


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - _columns(cell)) if cell else "*" * columns
