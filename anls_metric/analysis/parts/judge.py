"""Measures how far the scores and a judge's verdicts agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from anls_metric.analysis.part import Line, Part, Write
from anls_metric.analysis.parts.confidence import take_assessments
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import Scorer
from anls_metric.reading.answers import list_ids

MAX_DIFFERENCES = 20
"""The maximum number of answers to list for which the score and the judge disagree."""


class Disagreement(TypedDict):
    """An answer for which the score and the judge disagree."""

    id: str
    score: float
    verdict: bool
    """the id, the score, and the judge's verdict"""


class _Agreement(TypedDict):
    """The agreement between the scores and the judge."""

    agreement: float
    kappa: float | None
    """the share of answers for which the score and the judge agree, and Cohen's kappa, which is null if both give all
    answers the same verdict
    """
    table: Mapping[str, Mapping[str, int]]
    """the number of answers by the verdict of ANLS (`correct`, `wrong`) and the verdict of the judge"""


class Judge(_Agreement):
    """The agreement between the scores and the judge, and the answers for which they disagree."""

    differences: list[Disagreement]
    """at most twenty answers for which the score and the judge disagree, with the largest difference first"""


def compare_verdicts(
    scores: Sequence[float], verdicts: Sequence[bool], correct_at: float = Scorer.correct_at
) -> _Agreement:
    """Compare scores with a judge's verdicts.

    Args:
        scores: the score of each answer, one or more.
        verdicts: whether the judge calls each answer correct.
        correct_at: the lowest score of a correct answer.

    Example:
        >>> agreement = compare_verdicts([1.0, 0.8, 0.0, 0.0], [True, False, False, True])
        >>> agreement["agreement"], agreement["kappa"]
        (0.5, 0.0)
        >>> agreement["table"]
        {'correct': {'correct': 1, 'wrong': 1}, 'wrong': {'correct': 1, 'wrong': 1}}

    Source: Cohen, "A Coefficient of Agreement for Nominal Scales", 1960.
    """
    rights = [score >= correct_at for score in scores]
    counts = Counter(zip(rights, verdicts))
    total = len(scores)
    agreed = counts[True, True] + counts[False, False]
    by_score, by_judge = sum(rights), sum(verdicts)
    chance = by_score * by_judge + (total - by_score) * (total - by_judge)  # times total ** 2
    kappa = (agreed * total - chance) / (total**2 - chance) if chance < total**2 else None
    names = {True: "correct", False: "wrong"}
    table = {names[is_right]: {names[verdict]: counts[is_right, verdict] for verdict in names} for is_right in names}
    return _Agreement(agreement=agreed / total, kappa=kappa, table=table)


def assess_verdicts(scored: Scored) -> Judge | None:
    """Compare a submission's scores with a judge's verdicts, or return None if there are no verdicts."""
    places, verdicts = take_assessments(scored, "judge")
    if not verdicts:
        return None
    correct_at, ids = scored.scorer.correct_at, list_ids(scored.answers)
    scores = [scored.answer_scores[place] for place in places]
    differences = [
        Disagreement(id=ids[place], score=score, verdict=verdict)
        for place, score, verdict in zip(places, scores, verdicts)
        if (score >= correct_at) != verdict
    ]
    differences.sort(key=lambda each: -abs(each["score"] - each["verdict"]))
    return {**compare_verdicts(scores, verdicts, correct_at), "differences": differences[:MAX_DIFFERENCES]}


def _write_lines(values: Judge, write: Write) -> Iterable[Line]:
    table, ids = values["table"], ", ".join(each["id"] for each in values["differences"])
    yield Line("judge", f"agreement {write(values['agreement'])}, kappa {write(values['kappa'])}")
    yield Line(
        "",
        f"correct for both {table['correct']['correct']}, wrong for both {table['wrong']['wrong']}, "
        f"correct for ANLS alone {table['correct']['wrong']}, for the judge alone {table['wrong']['correct']}",
    )
    if ids:
        yield Line("", f"they differ on {ids}")


PART = Part(
    key="judge",
    sentence="with a [judge](confidence_and_judges.md#an-llm-judge)",
    find=assess_verdicts,
    type=Judge,
    order=80,
    by_name=False,
    lines=_write_lines,
)
