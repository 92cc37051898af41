"""Curves and distributions of a scored set: every number equals that of scoring again."""

from __future__ import annotations

import pytest

from anls_metric import VARIANTS, anls_scores, mean
from anls_metric.analysis.curves import THRESHOLDS, compute_means_by_threshold, count_similarities
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from tests.conftest import fuzzed_rows

ROWS = [*fuzzed_rows(300, 11), ("none", ["none"]), ("", ["a"]), ("", [""]), ("ab", ["abcd"]), ("İİ", ["i"])]


def score_rows(variant: str = "standard", missing: int = 0) -> ScoredSet:
    scored_set = ScoredSet(variant, keep=True)
    rows = [Row(str(number), prediction, references, {}) for number, (prediction, references) in enumerate(ROWS)]
    scored_set.add(rows + [Row(f"missing {number}", None, ["a"], {}) for number in range(missing)])
    return scored_set


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_by_threshold_agrees_with_scoring_at_each_threshold(variant: str) -> None:
    curve = dict(compute_means_by_threshold(score_rows(variant)))
    predictions, references = zip(*ROWS)
    assert set(THRESHOLDS) - set(curve) <= {0.0}
    for threshold in curve:
        scores = anls_scores(predictions, references, threshold, variant)
        assert curve[threshold] == pytest.approx(mean(scores), abs=1e-12), threshold


def test_missing_answer_scores_0_at_every_threshold() -> None:
    scored_set, whole = score_rows(missing=len(ROWS)), score_rows()
    for (_, value), (_, other) in zip(compute_means_by_threshold(scored_set), compute_means_by_threshold(whole)):
        assert value == pytest.approx(other / 2)
    for name, value in scored_set.means_under(VARIANTS.values()).items():
        assert value == pytest.approx(whole.means_under(VARIANTS.values())[name] / 2)


def test_means_under_the_own_variant_is_the_mean() -> None:
    for name in VARIANTS:
        assert score_rows(name).means_under(VARIANTS.values())[name] == score_rows(name).mean


def test_curves_of_missing_answers_alone() -> None:
    scored_set = ScoredSet(keep=True)
    scored_set.add([Row("1", None, ["a"], {})])
    assert set(scored_set.means_under(VARIANTS.values()).values()) == {0.0}
    assert {value for _, value in compute_means_by_threshold(scored_set)} == {0.0}


def test_spread_counts_equal_answers_apart_and_negative_similarities_first() -> None:
    scored_set = ScoredSet("rrc", keep=True)
    scored_set.add([Row("1", "İİ", ["q"], {}), Row("2", "a", ["a"], {}), Row("3", "abc", ["abcd"], {})])
    assert min(answer.similarity or 0.0 for answer in scored_set.rows) < 0
    counts, equal = count_similarities(scored_set)
    assert (counts[0], counts[15], sum(counts), equal) == (1, 1, 2, 1)


def test_join_questions_joins_by_id() -> None:
    sets = [ScoredSet(keep=True), ScoredSet(keep=True)]
    sets[0].add([Row("1", "a", ["a"], {}), Row("2", "b", ["b"], {})])
    sets[1].add([Row("3", "c", ["c"], {}), Row("2", "b", ["b"], {})])
    questions = join_questions(sets)
    assert [question.id for question in questions] == ["1", "2", "3"]
    assert [question.needs_a_look for question in questions] == [True, False, True]
    assert questions[2].row.prediction == "c"
