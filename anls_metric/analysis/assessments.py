"""Collects the confidences of a model in its answers and the verdicts of a judge, beside the scores."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.confidence import RIGHT_AT, ConfidenceMeasures, Step, list_steps, measure_confidence
from anls_metric.analysis.scored import ScoredRow
from anls_metric.analysis.verdicts import Agreement, compare_verdicts, list_differences
from anls_metric.reading.answer_fields import CONFIDENCE, JUDGE


class Difference(NamedTuple):
    """An answer on which score and judge disagree. The fields are the keys of the JSON document."""

    id: str
    score: float
    verdict: bool


class Assessments:
    """Collects the confidences and verdicts of answers. Questions without an answer do not count.

    Args:
        right_at: the lowest score of a right answer.

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> rows = [Row("7", "a", ["a"], {}, beside={"judge": True}), Row("8", "b", ["c"], {}, beside={"judge": True})]
        >>> assessments = Assessments({"judge": "verdict"})
        >>> assessments.add([ScoredRow(rows[0], 1.0, None, "equal"), ScoredRow(rows[1], 0.0, None, "other")])
        >>> assessments.judge.agreement, assessments.differences
        (0.5, [Difference(id='8', score=0.0, verdict=True)])
        >>> assessments.confidence is None, assessments.count_missing("judge")
        (True, 0)
    """

    def __init__(self, fields: Mapping[str, str], right_at: float = RIGHT_AT) -> None:
        self.fields, self.right_at = fields, right_at
        self._ids: list[str] = []
        self._scores = array("d")
        self._values: dict[str, list[Any]] = {role: [] for role in fields}

    def add(self, scored: Sequence[ScoredRow]) -> None:
        """Add answers: all runs of each question."""
        answers = [run for each in scored for run in each.runs or (each,) if run.row.prediction is not None]
        self._ids += [answer.row.id for answer in answers]
        self._scores.extend(answer.score for answer in answers)
        for role, values in self._values.items():
            values += [answer.row.beside.get(role) for answer in answers]

    @property
    def count(self) -> int:
        """The number of answers."""
        return len(self._scores)

    def count_missing(self, role: str) -> int:
        """Count the answers without a confidence, or without a verdict."""
        return self._values[role].count(None)

    def _has_all(self, role: str) -> bool:
        return bool(self._scores) and role in self._values and not self.count_missing(role)

    @property
    def confidence(self) -> ConfidenceMeasures | None:
        """The measures of the confidences; None unless every answer has one."""
        if not self._has_all(CONFIDENCE):
            return None
        return measure_confidence(self._values[CONFIDENCE], self._scores, self.right_at)

    @property
    def steps(self) -> list[Step]:
        """The points of the risk-coverage curve; none unless every answer has a confidence."""
        has_all = self._has_all(CONFIDENCE)
        return list_steps(self._values[CONFIDENCE], self._scores, self.right_at) if has_all else []

    @property
    def judge(self) -> Agreement | None:
        """The agreement of scores and verdicts; None unless every answer has a verdict."""
        return compare_verdicts(self._scores, self._values[JUDGE], self.right_at) if self._has_all(JUDGE) else None

    @property
    def differences(self) -> list[Difference]:
        """The answers on which score and judge disagree, the largest disagreement first."""
        if not self._has_all(JUDGE):
            return []
        verdicts = self._values[JUDGE]
        places = list_differences(self._scores, verdicts, self.right_at)
        return [Difference(self._ids[place], self._scores[place], verdicts[place]) for place in places]
