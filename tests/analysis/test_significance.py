"""Intervals and comparisons, against what theory says of them."""

from __future__ import annotations

import random
import statistics

import pytest

pytest.importorskip("scipy", reason="intervals need scipy")

from anls_metric.compare import Interval, compare, interval


def scores(count: int, seed: int, right: float = 0.8) -> list[float]:
    chance = random.Random(seed)
    return [1.0 if chance.random() < right else chance.choice([0.0, 0.5, 0.75]) for _ in range(count)]


def test_the_interval_is_the_normal_one_where_scores_are_many() -> None:
    some = scores(4000, 1)
    low, high = interval(some)
    half = 1.96 * statistics.stdev(some) / len(some) ** 0.5
    assert low == pytest.approx(statistics.mean(some) - half, abs=half / 10)
    assert high == pytest.approx(statistics.mean(some) + half, abs=half / 10)


def test_95_intervals_of_100_hold_the_truth() -> None:
    truth = 0.8 + 0.2 * (0.0 + 0.5 + 0.75) / 3
    intervals = [interval(scores(200, seed)) for seed in range(200)]
    assert 180 <= sum(low <= truth <= high for low, high in intervals) <= 199


def test_the_same_scores_give_the_same_numbers() -> None:
    assert interval(scores(50, 3)) == interval(scores(50, 3))
    assert interval([0.5, 0.5]) == Interval(0.5, 0.5)


def test_a_better_submission_is_told_from_chance() -> None:
    first = scores(1000, 4)
    better = [score if score else 0.75 for score in first]
    found = compare(first, better)
    assert found.difference == pytest.approx(statistics.mean(better) - statistics.mean(first))
    assert found.interval.low > 0
    assert found.p_value < 0.001
    back = compare(better, first)
    assert back.difference == pytest.approx(-found.difference)
    assert back.interval.high < 0


def test_the_p_value_is_that_of_the_paired_t_test_where_scores_are_many() -> None:
    from scipy import stats

    for seed in range(5):
        first, second = scores(2000, seed), scores(2000, seed + 100, right=0.79)
        assert compare(first, second).p_value == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.05)


def test_of_two_equal_submissions_few_are_called_different() -> None:
    p_values = [compare(scores(200, seed), scores(200, seed + 1000)).p_value for seed in range(200)]
    assert 2 <= sum(p_value < 0.05 for p_value in p_values) <= 20


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="two questions or more, not 1"):
        interval([1.0])
    with pytest.raises(ValueError, match="2 scores and 1: compare submissions to the same questions"):
        compare([1.0, 0.0], [1.0])
