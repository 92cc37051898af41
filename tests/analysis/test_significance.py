"""Intervals and tests agree with scipy, with other computations, and with simulations."""

from __future__ import annotations

import math
import random
import re
import statistics
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anls_metric
from anls_metric.analysis import significance
from anls_metric.analysis.significance import (
    Interval,
    Sample,
    adjust_for_best,
    differences,
    holm,
    interval,
    least_difference,
    paired_test,
    student_t,
)

SCORES = [0.0, 0.5, 2 / 3, 0.75, 8 / 9, 1.0]


def scores(count: int, seed: int) -> list[float]:
    return random.Random(seed).choices(SCORES, [3, 1, 1, 1, 1, 10], k=count)


def pages(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"page {chance.randrange(count // 4 + 2)}" for _ in range(count)]


# Student's t


@pytest.mark.parametrize("confidence", [0.001, 0.3, 0.5, 0.95, 0.999, 0.999999])
def test_student_t_of_few_degrees_of_freedom_is_exact(confidence: float) -> None:
    assert student_t(confidence, 1) == pytest.approx(math.tan(math.pi / 2 * confidence), rel=1e-9)
    assert student_t(confidence, 2) == pytest.approx(confidence * math.sqrt(2 / (1 - confidence**2)), rel=1e-9)


def test_student_t_of_many_degrees_of_freedom_is_the_normal_quantile() -> None:
    for confidence in (0.5, 0.95, 0.99):
        normal = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
        assert student_t(confidence, 10_000_000) == pytest.approx(normal, abs=1e-6)
    assert student_t(0.0, 7) == 0.0


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_student_t_agrees_with_scipy(confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    freedoms = [*range(1, 101), *range(101, 10_001, 99), 10_000]
    for freedom, expected in zip(freedoms, stats.t.ppf((1 + confidence) / 2, freedoms)):
        assert student_t(confidence, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("confidence", [1.0, -0.1, 95, math.nan])
def test_student_t_refuses_a_confidence_outside_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"from 0 and under 1, 0\.95 for 95 %"):
        interval([0.0, 1.0], confidence=confidence)


# Intervals


def test_interval_without_clusters_is_the_textbook_one() -> None:
    numbers = scores(200, 1)
    half = student_t(0.9, 199) * statistics.stdev(numbers) / math.sqrt(200)
    assert interval(numbers, confidence=0.9) == pytest.approx(
        (statistics.mean(numbers) - half, statistics.mean(numbers) + half)
    )


def test_interval_with_clusters_is_that_of_a_regression_on_a_constant() -> None:
    """The sandwich estimator adds the residuals of questions on the same page."""
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    for count in (10, 100, 700):
        numbers, page = np.array(scores(count, count)), np.array(pages(count, count))
        residuals = numbers - numbers.mean()
        meat = (np.equal.outer(page, page) * np.outer(residuals, residuals)).sum()
        clusters = len(set(page))
        error = np.sqrt(clusters / (clusters - 1) * meat / count**2)
        for confidence in (0.9, 0.95):
            ends = stats.t.interval(confidence, clusters - 1, numbers.mean(), error)
            expected = np.clip(ends, 0, 1)
            assert interval(list(numbers), list(page), confidence) == pytest.approx(expected, rel=1e-9)


def test_interval_of_a_mean_ends_at_0_and_1_and_of_a_difference_not() -> None:
    assert interval([1.0, 1.0, 0.9]).high == 1.0
    assert interval([0.0, 0.0, 0.1]).low == 0.0
    low, high = differences([0.0, 0.0, 0.0], [1.0, 1.0, 0.1]).interval()
    assert low < 0 < 1 < high
    assert interval([0.5, 0.5]) == Interval(0.5, 0.5)


def test_score_without_a_cluster_is_its_own_cluster() -> None:
    numbers = scores(60, 2)
    assert interval(numbers) == interval(numbers, [None] * 60) == interval(numbers, range(60))
    named = [page if number % 3 else None for number, page in enumerate(pages(60, 2))]
    own = [page or f"own {number}" for number, page in enumerate(named)]
    assert interval(numbers, named) == interval(numbers, own)
    assert paired_test(numbers, numbers[::-1], named) == paired_test(numbers, numbers[::-1], own)


def test_interval_by_page_counts_equal_answers_of_a_page_once() -> None:
    """The same answer to all questions of a page is one observation."""
    page_scores = scores(50, 3)
    copies = [score for score in page_scores for _ in range(4)]
    page = [number // 4 for number in range(200)]
    assert interval(copies, page) == pytest.approx(interval(page_scores))
    assert interval(copies)[0] > interval(page_scores)[0]
    assert paired_test(copies, copies[::-1], page) == paired_test(page_scores, page_scores[::-1])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1) | st.sampled_from(SCORES), st.sampled_from(["a", "b", "c", None])), min_size=3),
    st.randoms(use_true_random=False),
)
def test_sample_has_the_same_bits_in_any_order_and_pieces(
    rows: list[tuple[float, str | None]], chance: random.Random
) -> None:
    rows += [(0.25, "d"), (0.75, "e")]
    whole = Sample()
    whole.add(*zip(*rows))
    chance.shuffle(rows)
    pieces = Sample()
    while rows:
        piece = [rows.pop() for _ in range(min(len(rows), 1 + chance.randrange(3)))]
        pieces.add(*zip(*piece))
    for name in ("mean", "count", "cluster_count"):
        assert getattr(whole, name) == getattr(pieces, name)
    assert whole.interval() == pieces.interval()


@settings(deadline=None)
@given(st.lists(st.floats(0, 1) | st.sampled_from(SCORES), min_size=1), st.booleans())
def test_sample_mean_has_the_bits_of_the_metric(numbers: list[float], alone: bool) -> None:
    sample = Sample()
    sample.add(numbers, None if alone else [number // 3 for number in range(len(numbers))])
    assert sample.mean == anls_metric.mean(numbers)


def test_sample_takes_8_bytes_a_score_and_none_without_clusters() -> None:
    piece, page = scores(1000, 5), pages(1000, 5)
    alone, clustered = Sample(), Sample()
    clustered.add(piece, page)
    taken = []
    tracemalloc.start()
    for sample, clusters in ((alone, None), (clustered, page)):
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(200):
            sample.add(piece, clusters)
        after, _ = tracemalloc.get_traced_memory()
        taken.append(after - before)
    tracemalloc.stop()
    assert (alone.count, clustered.count) == (200_000, 201_000)
    assert taken[0] < 10_000
    assert taken[1] < 200_000 * 8 * 1.25


def test_interval_refuses_samples_without_two_clusters() -> None:
    with pytest.raises(ValueError, match="needs two questions or more, not 1"):
        interval([1.0])
    with pytest.raises(ValueError, match="needs two clusters or more, not 1"):
        interval([1.0, 0.0], ["page", "page"])
    with pytest.raises(ValueError, match="there are no scores"):
        interval([])
    with pytest.raises(ValueError, match="2 scores and 1 clusters"):
        interval([1.0, 0.0], ["page"])
    with pytest.raises(
        ValueError, match="first submission has 2 scores, and the second has 1: give the scores of the same"
    ):
        paired_test([1.0, 0.0], [1.0])


@pytest.mark.parametrize(
    ("wrong", "described"), [(None, "None"), ("0.5", "'0.5' (str)"), (math.nan, "nan (float)"), ([1.0], "[1.0] (list)")]
)
def test_statistics_refuse_values_that_are_not_finite_numbers_and_name_the_row(wrong: Any, described: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: interval([1.0, wrong]),
        lambda: differences([1.0, 1.0], [1.0, wrong]),
        lambda: paired_test([1.0, wrong], [1.0, 1.0]),
        lambda: anls_metric.mean([1.0, wrong]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=re.escape(f"the score of row 1 (counted from 0) is {described}: pass a")):
            call()
    with pytest.raises(ValueError, match=re.escape(f"the p-value of row 0 (counted from 0) is {described}")):
        holm([wrong, 0.5])
    with pytest.raises(ValueError, match=r"the score of row 1 .* is 83\.5 \(float\): pass a number from 0 to 1"):
        interval([1.0, 83.5])
    with pytest.raises(ValueError, match="scores is 5"):
        interval(5)  # type: ignore[arg-type]


# The test


def test_paired_test_of_two_questions_is_never_significant() -> None:
    assert paired_test([0.0, 0.0], [1.0, 1.0]) == 0.5
    assert paired_test([0.0], [1.0]) == 1.0
    assert paired_test([0.5] * 100, [0.5] * 100) == 1.0


def p_value_of_all_patterns(sums: list[float]) -> float:
    observed = abs(sum(sums)) - 1e-9
    patterns = list(product([1, -1], repeat=len(sums)))
    return sum(abs(sum(map(float.__mul__, sums, map(float, signs)))) >= observed for signs in patterns) / len(patterns)


@pytest.mark.parametrize("count", [2, 5, 8, 13])
@pytest.mark.parametrize("seed", range(5))
def test_paired_test_of_few_questions_tries_all_patterns(count: int, seed: int) -> None:
    first, second = scores(count, seed), scores(count, seed + 100)
    expected = p_value_of_all_patterns([after - before for before, after in zip(first, second)])
    assert paired_test(first, second) == expected


@pytest.mark.parametrize("seed", range(10))
def test_paired_test_agrees_with_scipy(seed: int) -> None:
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    count = [9, 12, 40, 200, 1000][seed % 5]
    first, second = scores(count, seed), scores(count, seed + 100)
    page = pages(count, seed) if seed % 2 else [str(number) for number in range(count)]
    sums = [
        math.fsum(after - before for before, after, name in zip(first, second, page) if name == cluster)
        for cluster in sorted(set(page))
    ]
    theirs = stats.permutation_test(
        (np.array(sums),),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(seed),
    )
    ours = paired_test(first, second, page)
    if 2 ** sum(total != 0 for total in sums) <= significance.FLIPS and 2 ** len(sums) <= 20_000:
        assert ours == pytest.approx(theirs.pvalue)
    else:
        spread = math.sqrt(theirs.pvalue * (1 - theirs.pvalue) * (1 / 10_000 + 1 / 20_000))
        assert abs(ours - theirs.pvalue) < 4 * spread + 1e-4


def test_paired_test_of_many_questions_tries_random_patterns() -> None:
    """15 of 20 differing answers are better: a fair coin is this extreme with probability 0.0414."""
    first, second = [0.0] * 15 + [1.0] * 5, [1.0] * 15 + [0.0] * 5
    exact = 2 * sum(math.comb(20, heads) for heads in range(6)) / 2**20
    assert paired_test(first, second) == pytest.approx(exact, abs=0.006)
    assert paired_test([0.0] * 1000, [1.0] * 1000) == 1 / 10_001


def test_random_patterns_are_fair_coins() -> None:
    """Each size occurs equally often with each sign, and independently of the other sizes."""
    sizes = [2**place for place in range(21)]
    patterns = significance._sum_random_subsets(sizes, 10_000)
    bits = [[pattern >> place & 1 for pattern in patterns] for place in range(21)]
    for place, column in enumerate(bits):
        assert abs(sum(column) - 5000) < 250
        for other in bits[:place]:
            assert abs(sum(map(int.__xor__, column, other)) - 5000) < 250
    assert max(patterns) < 2**21
    largest = [significance._LARGEST] * 9
    assert set(significance._sum_random_subsets(largest, 10_000)) == {
        size * significance._LARGEST for size in range(10)
    }


@pytest.mark.parametrize("count", [6, 50, 400])
def test_paired_test_ignores_order_and_direction(count: int) -> None:
    rows = list(zip(scores(count, 6), scores(count, 7), pages(count, 6)))
    first, second, page = zip(*rows)
    random.Random(8).shuffle(rows)
    again, against, name = zip(*rows)
    assert paired_test(first, second, page) == paired_test(again, against, name) == paired_test(second, first, page)
    low, high = differences(first, second, page).interval()
    assert differences(again, against, name).interval() == (low, high)
    assert differences(second, first, page).interval() == (-high, -low)


# Adjustment


def test_holm_agrees_with_r() -> None:
    """p.adjust(c(...), "holm") of R 4."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.9, 0.001, 0.5, 0.02]) == pytest.approx([1.0, 0.004, 1.0, 0.06])
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


def test_holm_keeps_false_positives_of_a_family_rare() -> None:
    chance = random.Random(9)
    families = [[chance.random() for _ in range(5)] for _ in range(4000)]
    assert 0.04 < statistics.mean(min(holm(family)) < 0.05 for family in families) < 0.06
    assert statistics.mean(min(family) < 0.05 for family in families) > 0.2


def test_adjust_for_best_counts_all_pairs() -> None:
    assert adjust_for_best([0.04]) == [0.04]
    assert adjust_for_best([0.03, 0.001, 0.02]) == pytest.approx([0.06, 0.006, 0.06])
    assert adjust_for_best([0.9, 0.5]) == [1.0, 1.0]
    assert adjust_for_best([]) == []


# Simulations: a 95 % interval contains the truth in about 95 of 100 samples


EASY = [1.0] * 18 + [0.5, 0.0]
HARD = [1.0] * 8 + [0.9, 0.75, 0.6, 0.5] + [0.0] * 8
TRUE_MEAN = statistics.mean(EASY + HARD)

Draw = Callable[[random.Random, int], tuple[list[float], list[float], Sequence[int]]]


def draw_questions(chance: random.Random, count: int) -> tuple[list[float], list[float], Sequence[int]]:
    """Draw two equally good submissions without clusters."""
    return chance.choices(EASY + HARD, k=count), chance.choices(EASY + HARD, k=count), range(count)


def draw_pages(chance: random.Random, count: int) -> tuple[list[float], list[float], Sequence[int]]:
    """Draw two equally good submissions. For each, a page with one to five questions is easy or hard as a whole."""
    first: list[float] = []
    second: list[float] = []
    pages: list[int] = []
    while len(pages) < count:
        size = min(chance.randint(1, 5), count - len(pages))
        first += chance.choices(chance.choice([EASY, HARD]), k=size)
        second += chance.choices(chance.choice([EASY, HARD]), k=size)
        pages += [len(pages)] * size
    return first, second, pages


@pytest.fixture
def fewer_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer patterns the test is equally valid, and ten times as fast."""
    monkeypatch.setattr(significance, "FLIPS", 999)


def share(outcomes: Iterable[bool]) -> float:
    return statistics.fmean(outcomes)


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_flips")
@pytest.mark.parametrize(("count", "samples"), [(30, 400), (100, 400), (1000, 150)])
@pytest.mark.parametrize("draw", [draw_questions, draw_pages])
def test_paired_test_of_equals_is_significant_in_5_percent(draw: Draw, count: int, samples: int) -> None:
    """Between 2 % and 9 % of 400 samples: 2.7 standard errors below and 3.7 above 5 %."""
    chance = random.Random(count)
    assert 0.02 <= share(paired_test(*draw(chance, count)) < 0.05 for _ in range(samples)) <= 0.09


@pytest.mark.usefixtures("fewer_flips")
def test_paired_test_without_clusters_is_significant_too_often() -> None:
    chance = random.Random(1)
    assert share(paired_test(*draw_pages(chance, 200)[:2]) < 0.05 for _ in range(300)) > 0.09


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "samples", "least"), [(30, 600, 0.88), (100, 600, 0.91), (1000, 500, 0.92)])
@pytest.mark.parametrize("draw", [draw_questions, draw_pages])
def test_interval_contains_the_true_mean_in_95_of_100(draw: Draw, count: int, samples: int, least: float) -> None:
    """Slightly fewer for small samples: 30 questions are about ten pages, for which there is no verdict."""
    chance = random.Random(count)
    drawn = (draw(chance, count) for _ in range(samples))
    intervals = (interval(answers, clusters) for answers, _, clusters in drawn)
    assert least <= share(low <= TRUE_MEAN <= high for low, high in intervals) <= 0.98


@pytest.mark.thorough
@pytest.mark.parametrize("draw", [draw_questions, draw_pages])
def test_interval_of_a_difference_contains_0_in_95_of_100_comparisons_of_equals(draw: Draw) -> None:
    chance = random.Random(2)
    intervals = (differences(*draw(chance, 100)).interval() for _ in range(600))
    assert 0.925 <= share(low <= 0 <= high for low, high in intervals) <= 0.975


def test_least_difference_is_half_the_interval() -> None:
    first, second, page = scores(300, 10), scores(300, 11), pages(300, 10)
    low, high = differences(first, second, page).interval(0.9)
    assert least_difference(first, second, page, confidence=0.9) == pytest.approx((high - low) / 2)
    for power in (0.4, 1.0):
        with pytest.raises(ValueError, match=r"at least 0\.5 and under 1"):
            least_difference(first, second, power=power)


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_flips")
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_least_difference_is_detected_as_often_as_its_power_says(power: float) -> None:
    """One submission is better by exactly the least difference of a typical sample with this power."""
    chance = random.Random(3)
    typical = statistics.mean(least_difference(*draw_pages(chance, 300), power=power) for _ in range(100))
    detected = 0
    for _ in range(400):
        first, second, page = draw_pages(chance, 300)
        detected += paired_test(first, [score + typical for score in second], page) < 0.05
    assert power - 0.07 <= detected / 400 <= power + 0.07


@pytest.mark.usefixtures("fewer_flips")
def test_smaller_difference_than_the_least_is_never_detected() -> None:
    """The interval of a smaller difference contains 0. Its p-value can only be under 0.05 at the border."""
    chance = random.Random(4)
    for _ in range(300):
        sample = differences(*draw_pages(chance, 60))
        low, high = sample.interval()
        assert (abs(sample.mean) < sample.least_difference()) == (low < 0 < high)
        if abs(sample.mean) < 0.9 * sample.least_difference():
            assert sample.flip_test() >= 0.05


def draw_models(chance: random.Random, count: int) -> tuple[list[list[float]], list[int]]:
    """Draw ten equally good submissions, for which the same pages are hard."""
    models: list[list[float]] = [[] for _ in range(10)]
    pages: list[int] = []
    while len(pages) < count:
        size, page = min(chance.randint(1, 5), count - len(pages)), chance.choice([EASY, HARD])
        for model in models:
            model += chance.choices(page, k=size)
        pages += [len(pages)] * size
    return models, pages


@pytest.mark.thorough
def test_best_of_ten_equals_is_told_apart_from_another_in_under_5_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """With Holm's adjustment it would be in 14 of 100 samples, since the same questions chose the best."""
    monkeypatch.setattr(significance, "FLIPS", 1_999)
    chance = random.Random(5)
    families = []
    for _ in range(250):
        models, pages = draw_models(chance, 120)
        best = max(models, key=sum)
        families.append([paired_test(best, model, pages) for model in models if model is not best])
    assert share(min(holm(family)) < 0.05 for family in families) > 0.08
    assert 0 < share(min(adjust_for_best(family)) < 0.05 for family in families) <= 0.05


def test_importing_significance_imports_no_library(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    program = """
import sys
before = set(sys.modules)
from anls_metric.analysis.significance import interval
assert interval([0.0, 1.0] * 20)
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(new & {"numpy", "scipy", "random", "statistics"})
"""
    assert run_python(program, tmp_path).stdout == "set()\n"
