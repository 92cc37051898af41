"""Several runs of a model: the mean, the deviation, and how often the interval contains the true score."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

import pytest

from anls_metric.analysis.comparison import compare
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row


def make_question(name: str, answers: Sequence[str | None], accepted: str = "Coca Cola", **record: str) -> Row:
    rows = [Row(name, answer, [accepted], record) for answer in answers]
    return rows[0]._replace(runs=tuple(rows))


def test_score_of_a_question_is_its_mean_over_the_runs() -> None:
    scored_set = ScoredSet(keep=True, worst=1)
    scored = scored_set.add(
        [make_question("7", ["Coca Cola", "CocaCola", "Pepsi"]), make_question("8", ["Coca Cola", "x", "Coca Cola"])]
    )
    assert [each.score for each in scored] == [math.fsum([1, 8 / 9, 0]) / 3, 2 / 3]
    assert scored_set.mean == pytest.approx(statistics.mean([1, 8 / 9, 0, 1, 0, 1]))
    assert scored_set.count == 2
    assert scored_set.run_scores == pytest.approx([1, 4 / 9, 0.5])
    assert scored_set.run_deviation == pytest.approx(statistics.stdev([1, 4 / 9, 0.5]))
    assert [scored_set.outcomes[name] for name in ("equal", "close enough", "other")] == [3, 1, 2]
    assert scored_set.exact_match == 0.5
    # The answer whose score is closest to the mean represents the question.
    assert [each.row.prediction for each in scored] == ["CocaCola", "Coca Cola"]
    assert [run.score for run in scored[0].runs] == [1, 8 / 9, 0]
    assert scored_set.worst == list(scored[:1])


def test_question_may_have_fewer_answers_than_others() -> None:
    scored_set = ScoredSet()
    scored_set.add([make_question("7", ["Coca Cola"] * 3), make_question("8", ["x"])])
    assert scored_set.mean == 0.5
    assert scored_set.run_scores == [0.5, 1, 1]


def test_missing_answer_of_a_run_counts_as_0() -> None:
    scored_set = ScoredSet()
    scored_set.add([make_question("7", ["Coca Cola", None])])
    assert scored_set.mean == 0.5
    assert scored_set.outcomes["missing"] == 1


def test_runs_are_compared_by_their_mean_scores() -> None:
    sets = {"base": ScoredSet(comparable=True), "tuned": ScoredSet(comparable=True)}
    for name, answers in {"base": ["Coca Cola", "x"], "tuned": ["Coca Cola", "Coca Cola"]}.items():
        sets[name].add([make_question(str(place), answers) for place in range(40)])
    (comparison,) = compare(sets).comparisons
    assert comparison.difference == 0.5
    assert comparison.better == 40


def test_mean_of_leaves_has_no_runs() -> None:
    from anls_metric.nested import get_value_variant

    scored_set = ScoredSet(get_value_variant("anls_star", average="leaves"))
    with pytest.raises(ValueError, match="take the average of rows"):
        scored_set.add([make_question("7", ["Coca Cola", "x"])])


@pytest.mark.thorough
@pytest.mark.parametrize(("runs", "samples"), [(1, 200), (3, 150), (10, 60)])
def test_interval_of_runs_holds_the_true_score_in_95_of_100_samples(runs: int, samples: int) -> None:
    """40 documents with 5 questions each. The quality of a model varies by document, question and run."""
    chance = random.Random(runs)
    held = 0
    for _ in range(samples):
        scored_set = ScoredSet()
        rows = []
        for document in range(40):
            good = chance.random()  # the mean is 0.5
            for question in range(5):
                right = min(1.0, max(0.0, good + chance.choice((-0.1, 0.1)))) if 0.1 < good < 0.9 else good
                answers: list[str | None] = ["Coca Cola" if chance.random() < right else "x" for _ in range(runs)]
                name = f"{document}-{question}"
                rows.append(
                    make_question(name, answers, docId=str(document))
                    if runs > 1
                    else Row(name, answers[0], ["Coca Cola"], {"docId": str(document)})
                )
        scored_set.add(rows)
        interval = scored_set.interval
        assert interval
        held += interval.low <= 0.5 <= interval.high
    assert 0.9 <= held / samples <= 0.99
