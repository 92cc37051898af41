"""Intervals and tests agree with scipy, with other computations, and with simulations."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from itertools import chain, product
from operator import mul, sub
from statistics import fmean
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anls_metric import differences, holm, interval, mean, minimum_detectable_effect, paired_test
from anls_metric.core.statistics import significance
from anls_metric.core.statistics.significance import Differences, adjust_for_best, mean_interval, student_t, welch_bound

SCORES = [0.0, 0.5, 2 / 3, 0.75, 8 / 9, 1.0]


def scores(count: int, seed: int) -> list[float]:
    return random.Random(seed).choices(SCORES, [3, 1, 1, 1, 1, 10], k=count)


def pages(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"page {chance.randrange(count // 4 + 2)}" for _ in range(count)]


# Errors

ROWS = [0.0, 1.0]
CONFIDENCE, POWER = "confidence must be at least 0 and below 1, such as 0.95", "power must be at least 0.5 and below 1"
ERRORS: list[tuple[Callable[..., object], list[Any], str]] = [
    *((interval, [ROWS, None, each], CONFIDENCE) for each in (1.0, -0.1, 95, math.nan)),
    *((minimum_detectable_effect, [ROWS, ROWS, None, 0.95, each], POWER) for each in (0.4, 1.0)),
    (interval, [[]], "needs at least two clusters"),
    (interval, [[1.0]], "needs at least two clusters; a question without a cluster counts as its own"),
    (interval, [ROWS, ["page", "page"]], "needs at least two clusters"),
    (minimum_detectable_effect, [ROWS, ROWS, ["page", "page"]], "needs at least two clusters"),
    (interval, [ROWS, ["page"]], "2 scores and 1 clusters: pass one of each per question"),
    (differences, [ROWS, ROWS, ["page"]], "2 scores and 1 clusters: pass one of each per question"),
    (paired_test, [ROWS, [1.0]], "2 scores and 1 scores of the second submission: pass one of each"),
    (interval, [[1.0, 83.5]], "the score of row 1 (counted from 0) is 83.5 (float): pass a number from 0 to 1"),
    (interval, [5], "scores must be a list of numbers, got 5"),
]
NOT_NUMBERS = {"None": None, "'0.5' (str)": "0.5", "nan (float)": math.nan, "[1.0] (list)": [1.0]}
for described, wrong in NOT_NUMBERS.items():
    problem = f"the score of row 1 (counted from 0) is {described}: pass a"
    ERRORS += [(interval, [[1.0, wrong]], problem)]
    ERRORS += [(differences, [ROWS, [1.0, wrong]], problem), (paired_test, [[1.0, wrong], ROWS], problem)]
    ERRORS += [(holm, [[wrong, 0.5]], f"the p-value of row 0 (counted from 0) is {described}: pass a")]


@pytest.mark.parametrize(("function", "arguments", "problem"), ERRORS)
def test_what_cannot_be_computed_is_refused(function: Any, arguments: list[Any], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        function(*arguments)


# Student's t


@pytest.mark.parametrize("confidence", [0.001, 0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999])
def test_student_t_agrees_with_scipy(confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    freedoms = [*range(1, 101), *range(101, 10_001, 99)]
    for freedom, expected in zip(freedoms, stats.t.ppf((1 + confidence) / 2, freedoms)):
        assert student_t(confidence, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert student_t(0.0, 7) == 0.0


# Intervals


@pytest.mark.parametrize("count", [10, 100, 700])
def test_error_is_that_of_leaving_out_each_cluster(count: int) -> None:
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    numbers, page = np.array(scores(count, count)), np.array(pages(count, count))
    names, sizes = np.unique(page, return_counts=True)
    without = np.array([numbers[page != name].mean() for name in names])
    variance = (len(names) - 1) / len(names) * ((without - numbers.mean()) ** 2).sum()
    freedom = sizes.sum() ** 2 / (sizes**2).sum() - 1
    expected = stats.t.interval(0.95, freedom, numbers.mean(), np.sqrt(variance))
    assert mean_interval(list(numbers), list(page), most=99.0) == pytest.approx(tuple(expected), rel=1e-9)
    centered = numbers - 0.5 * numbers.mean()
    share, error = count / (count + 2), np.hypot(np.sqrt(variance) * count / (count + 2), 1 / (count + 2))
    for most, middle, scale in ((math.inf, centered.mean(), np.sqrt(variance)), (1.0, centered.mean() * share, error)):
        found = Differences(list(centered), list(page), most)
        low, high = np.clip(stats.t.interval(0.95, freedom, middle, scale), -most, most)
        least, greatest = accept_by_definition(
            [(centered[page == name].sum(), size) for name, size in zip(names, sizes)]
        )
        assert found.interval() == pytest.approx(
            (max(-most, min(low, least)), min(most, max(high, greatest))), abs=0.02
        )
        assert found.interval()[0] <= low + 1e-9
        assert found.interval()[1] >= high - 1e-9
        p_value = 2 * stats.t.sf(abs(middle) / scale, freedom)
        assert found.p_value() == pytest.approx(max(p_value, found.flip_test()), rel=1e-9)


def accept_by_definition(documents: Sequence[tuple[float, int]], patterns: int = 4_000) -> tuple[float, float]:
    """Return the ends of the differences that a test of signs does not reject at 5%, found by testing each of many."""
    np = pytest.importorskip("numpy")
    sums, sizes = map(np.array, zip(*documents))
    signs = np.array(list(product((-1, 1), repeat=len(sums)))) if len(sums) < 12 else None
    signs = np.random.default_rng(0).choice((-1, 1), (patterns, len(sums))) if signs is None else signs
    totals, counts, kept = signs @ sums, signs @ sizes, []
    for difference in np.linspace(-1, 1, 801):
        whole = sums.sum() - difference * sizes.sum()
        share = (abs(totals - difference * counts) >= abs(whole) - 1e-9).mean()
        kept += [difference] * bool(share >= 0.05)
    is_open = len(sums) < 6
    return (-math.inf, math.inf) if is_open else (kept[0], kept[-1])


@pytest.mark.parametrize(("right", "wrong"), [(5, 5), (28, 2), (940, 60)])
def test_interval_of_right_and_wrong_answers_is_that_of_agresti_and_coull(right: int, wrong: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    count = right + wrong
    t, effective = stats.t.ppf(0.975, count - 1), count - 1  # the variance is divided by one less than the number
    total = effective + t**2
    middle = (right / count * effective + t**2 / 2) / total
    half = t * math.sqrt(middle * (1 - middle) / total)
    expected = max(0.0, middle - half), min(1.0, middle + half)
    assert interval([1.0] * right + [0.0] * wrong) == pytest.approx(expected)


def test_interval_of_a_mean_ends_at_0_and_1_and_of_a_difference_at_1() -> None:
    assert interval([1.0, 1.0, 0.9]).high == 1.0
    assert interval([0.0, 0.0, 0.1]).low == 0.0
    assert differences([0.0, 0.0, 0.0], [1.0, 1.0, 0.1]).interval().high == 1.0
    assert differences([0.0, 0.0, 0.0], [30.0, 30.0, 3.0]).interval().high > 30
    rates = mean_interval([0.0, 3.0], None, most=math.inf)
    assert rates is not None
    assert (rates.low, rates.high > 3.0) == (0.0, True)
    assert mean_interval([], None) is mean_interval([1.0], None) is mean_interval([1.0, 0.0], ["a", "a"]) is None


def test_interval_of_equal_scores_has_a_width() -> None:
    """Ten right answers do not prove that the next one is right; without a mistake, documents count as one answer."""
    assert 0.6 < interval([1.0] * 10).low < 0.8
    assert interval([1.0] * 40, [number // 4 for number in range(40)]) == pytest.approx(interval([1.0] * 10))
    low, high = differences([0.5] * 30, [0.5] * 30).interval()
    assert -0.1 < low == -high < 0


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


ROW = st.tuples(st.floats(0, 1) | st.sampled_from(SCORES), st.sampled_from(["a", "b", "c", None]))


DOCUMENT = st.lists(st.tuples(st.sampled_from(SCORES), st.sampled_from(SCORES)), min_size=1, max_size=5)
SAMPLE = st.lists(DOCUMENT, min_size=2, max_size=9) | st.lists(DOCUMENT, min_size=10, max_size=40)


@settings(max_examples=60, deadline=None)
@given(SAMPLE, st.booleans())
def test_interval_excludes_0_exactly_if_p_is_under_5_percent(documents: list[Any], has_limit: bool) -> None:
    first, second = zip(*chain.from_iterable(documents))
    names = [number for number, document in enumerate(documents) for _ in document]
    most = 1.0 if has_limit else math.inf
    found, back = (Differences(list(map(sub, *each)), names, most) for each in ((second, first), (first, second)))
    low, high = found.interval()
    assert (found.p_value() < 0.05) == (not low <= 0 <= high)
    assert (back.interval(), back.p_value()) == ((0 - high, 0 - low), found.p_value())  # in either order
    assert low <= found.mean <= high


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_large_differences_of_many_questions_are_added_up(share: float) -> None:
    """Each group of signs holds twenty questions, and all of their differences point the same way."""
    count = 20 * significance.BLOCKS
    found = differences([0.0] * count, [float(place < share * count) for place in range(count)])
    low, high = found.interval()
    assert (found.p_value(), found.mean) == (1 / (significance.FLIPS + 1), share)
    assert 0 < low < share <= high <= 1


@settings(max_examples=60, deadline=None)
@given(st.lists(DOCUMENT, min_size=4, max_size=12), st.integers(0, 3))
def test_leaving_out_a_document_is_the_test_of_the_others(documents: list[Any], place: int) -> None:
    """With so few documents, every pattern of signs is tried, and those of the others only occur twice."""
    rows = [(sub(*pair), number) for number, document in enumerate(documents) for pair in document]
    others = [row for row in rows if row[1] != place]
    left = Differences([row[0] for row in rows], [row[1] for row in rows]).without(place)
    alone = Differences([row[0] for row in others], [row[1] for row in others])
    assert (left.mean, left.count, left.cluster_count) == (alone.mean, alone.count, alone.cluster_count)
    assert left.p_value() == pytest.approx(alone.p_value(), rel=1e-6)
    assert left.interval() == pytest.approx(alone.interval(), abs=1e-6)


def test_random_patterns_of_the_others_stay_the_same() -> None:
    """The sums without a document are those of a test of the others with the signs that they had."""
    values = [(-1) ** (number // 3) * (1 + number % 5) / 8 for number in range(40)]
    for place in (0, 7, 8, 39):
        left, halves = Differences(values, range(40)).without(place)._halves, Differences(values, range(40))._halves
        number = halves.rows.index((1, round(values[place] / halves.unit)))
        signs = [byte >> number % 8 & 1 for byte in significance._draw_signs(number // 8, len(halves.totals))]
        lost = [own - other for own, other in zip(halves.totals, left.totals)]
        assert lost == [sign * halves.rows[number][1] for sign in signs]
        assert [own - other for own, other in zip(halves.sizes, left.sizes)] == signs
        assert (left.whole, len(left.rows)) == (halves.whole - halves.rows[number][1], 39)


@example(list(range(64)), 8)
@given(st.lists(st.integers(-1, 1) | st.integers(-(2**29), 2**29), min_size=1, max_size=80), st.integers(1, 64))
def test_sums_of_random_patterns_are_those_of_their_signs(sizes: list[int], patterns: int) -> None:
    signs = [significance._draw_signs(chunk, patterns) for chunk in range((len(sizes) + 7) // 8)]
    expected = [
        sum(size for place, size in enumerate(sizes) if signs[place // 8][number] >> place % 8 & 1)
        for number in range(patterns)
    ]
    assert list(significance._sum_random_subsets(sizes, patterns)) == expected


@settings(deadline=None)
@given(st.lists(DOCUMENT, min_size=2, max_size=6), st.floats(0.02, 0.98))
def test_interval_of_signs_has_the_differences_that_they_do_not_reject(documents: list[Any], outside: float) -> None:
    """Between the means of the halves, where no rounding decides."""
    values = [list(map(sub, *zip(*document))) for document in documents]
    names = [number for number, own in enumerate(values) for _ in own]
    found = Differences(list(chain.from_iterable(values)), names)
    low, high = found._halves.widen(found.mean, found.mean, outside)
    patterns = list(product((1, -1), repeat=len(values)))
    halves = [[own for own, sign in zip(values, signs) if sign == 1] for signs in patterns]
    ends = sorted({round(fmean(chain.from_iterable(half)), 6) for half in halves if half})
    for first, second in zip([-2.0, *ends], [*ends, 2.0]):
        middle = (first + second) / 2
        rests = [sum(own) - middle * len(own) for own in values]
        far = [abs(sum(map(mul, rests, signs))) >= abs(sum(rests)) - 1e-9 for signs in patterns]
        share = fmean(far)
        if second - first > 1e-5 and abs(share - outside) > 1e-6:
            assert (low <= middle <= high) == (share > outside)


@pytest.mark.parametrize(("count", "outside"), [(6, 0.25), (40, 0.05)], ids=["all patterns", "random patterns"])
def test_interval_of_signs_ends_where_their_share_falls_below_the_level(count: int, outside: float) -> None:
    found = Differences(list(map(sub, scores(count, 1), scores(count, 2))))
    halves = found._halves
    low, high = halves.widen(found.mean, found.mean, outside)

    def share(difference: float) -> float:
        rest = count * (found.mean - difference)
        pluses = (total * halves.unit - size * difference for total, size in zip(halves.totals, halves.sizes))
        far = sum(abs(2 * plus - rest) >= abs(rest) - 1e-9 for plus in pluses)
        return (far + halves.is_random) / (len(halves.totals) + halves.is_random)

    assert halves.is_random == (count == 40)
    assert share(low - 1e-7) < outside <= share(low + 1e-7)
    assert share(high + 1e-7) < outside <= share(high - 1e-7)


@given(st.lists(st.sampled_from(SCORES), min_size=2, max_size=40))
def test_interval_of_what_is_missing_is_the_mirror_image(numbers: list[float]) -> None:
    low, high = interval(numbers)
    assert interval([1.0 - number for number in numbers]) == (
        pytest.approx((1 - high, 1 - low)) if fmean(numbers) != 0.5 else pytest.approx((low, high), abs=0.1)
    )


def test_runs_differ_by_more_than_welch_allows_or_not() -> None:
    stats = pytest.importorskip("scipy.stats")
    first, second = [0.8, 0.84], [0.85, 0.86]
    bound = welch_bound(first, second)
    assert bound is not None
    found = stats.ttest_ind(first, [value + bound - (0.855 - 0.82) for value in second], equal_var=False)
    assert found.pvalue == pytest.approx(0.05)
    assert welch_bound([0.8], second) is welch_bound(first, [0.8]) is None
    assert welch_bound([0.5, 0.5], [0.5, 0.5]) == 0.0


def test_many_documents_are_tested_in_random_groups() -> None:
    """The interval is as wide as with each document by itself, and leaving one out changes as little as it should."""
    first, second, names = scores(9000, 1), scores(9000, 2), pages(9000, 3)
    found, expected = differences(first, second, names), interval_of_t(differences(first, second, names))
    assert found.cluster_count > 2 * significance.BLOCKS
    assert found.interval() == pytest.approx(expected, abs=0.1 * (expected[1] - expected[0]))
    big = ["big"] * 60 + names[60:]
    left = differences(first, second, big).without("big")
    alone = differences(first[60:], second[60:], names[60:])
    assert left.mean == pytest.approx(alone.mean)
    assert left.p_value() == pytest.approx(alone.p_value(), abs=0.05)
    assert left.interval() == pytest.approx(alone.interval(), abs=0.1 * (expected[1] - expected[0]))


def interval_of_t(sample: Differences) -> tuple[float, float]:
    shrunk, error, freedom = sample._shrunk
    half = student_t(0.95, freedom) * error
    return shrunk - half, shrunk + half


@given(st.lists(ROW, min_size=3), st.randoms(use_true_random=False))
def test_any_order_has_the_same_bits(rows: list[tuple[float, str | None]], chance: random.Random) -> None:
    rows += [(0.25, "d"), (0.75, "e")]
    shuffled = chance.sample(rows, len(rows))
    one, other = (Differences([row[0] for row in each], [row[1] for row in each]) for each in (rows, shuffled))
    assert (one.mean, one.count, one.cluster_count) == (other.mean, other.count, other.cluster_count)
    assert one.mean == mean([score for score, _ in rows])
    assert (one.interval(), one.minimum_detectable_effect()) == (other.interval(), other.minimum_detectable_effect())
    assert one.flip_test(200) == other.flip_test(200)
    assert mean_interval(one.values, one.clusters) == interval(other.values, other.clusters)


# The test

RESAMPLES = 5_000


@pytest.mark.parametrize("seed", range(10))
def test_paired_test_agrees_with_scipy(seed: int) -> None:
    """With few questions, both try all patterns."""
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    count = [9, 12, 40, 200, 1000][seed % 5]
    first, second = scores(count, seed), scores(count, seed + 100)
    page = pages(count, seed) if seed % 2 else [str(number) for number in range(count)]
    sums = [
        math.fsum(after - before for before, after, name in zip(first, second, page) if name == cluster)
        for cluster in sorted(set(page))
    ]
    chance = np.random.default_rng(seed)
    theirs = stats.permutation_test(
        (np.array(sums),), np.sum, permutation_type="samples", vectorized=True, n_resamples=RESAMPLES, rng=chance
    )
    ours = differences(first, second, page).flip_test()
    if 2 ** sum(total != 0 for total in sums) <= significance.FLIPS and 2 ** len(sums) <= RESAMPLES:
        assert ours == pytest.approx(theirs.pvalue)
    else:
        spread = math.sqrt(theirs.pvalue * (1 - theirs.pvalue) * (1 / 10_000 + 1 / RESAMPLES))
        assert abs(ours - theirs.pvalue) < 4 * spread + 1e-4


def test_random_patterns_have_the_largest_sums() -> None:
    """Sums of eight of the largest sizes fit into four bytes."""
    largest = significance._LARGEST
    assert set(significance._sum_random_subsets([largest] * 9, 10_000)) == {size * largest for size in range(10)}


def test_paired_test_has_known_p_values_in_both_directions() -> None:
    first, second, page = scores(400, 6), scores(400, 7), pages(400, 6)
    assert paired_test(first, second, page) == paired_test(second, first, page)
    assert paired_test([0.0, 0.0], [1.0, 1.0]) == 0.5  # never significant
    assert paired_test([0.0], [1.0]) == paired_test([0.5] * 100, [0.5] * 100) == 1.0
    assert paired_test([0.0] * 1000, [1.0] * 1000) == 1 / 10_001
    # 15 of 20 differing answers are better: a fair coin is this extreme with probability 0.0414
    exact = 2 * sum(math.comb(20, heads) for heads in range(6)) / 2**20
    assert paired_test([0.0] * 15 + [1.0] * 5, [1.0] * 15 + [0.0] * 5) == pytest.approx(exact, abs=0.006)


@pytest.mark.parametrize("ones", [8, 22, 26, 40, 80])
def test_p_value_under_that_of_ten_thousand_patterns_is_a_bound(ones: int) -> None:
    """The exact share of sign patterns is known for differences of one size; the bound is not far above it."""
    count = ones + 12
    exact = 2 * sum(math.comb(count, minuses) for minuses in range(13)) / 2**count
    found = Differences([1.0] * ones + [-1.0] * 12).flip_test(10**12)
    assert min(exact, 1 / 10_001) <= found * 1.1
    assert found <= max(12 * exact, 1e-12) or found > 9e-5
    assert Differences([0.0] * 40).flip_test(50_000) == 1.0
    assert Differences([1.0] * 300).flip_test(50_000) == 1 / 50_001


# Adjustment


def test_p_values_are_adjusted() -> None:
    """The first row is p.adjust(c(...), "holm") of R 4."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.9, 0.001, 0.5, 0.02]) == pytest.approx([1.0, 0.004, 1.0, 0.06])
    assert adjust_for_best([0.03, 0.001, 0.02]) == pytest.approx([0.06, 0.006, 0.06])
    assert adjust_for_best([0.9, 0.5]) == [1.0, 1.0]
    assert (holm([0.03]), adjust_for_best([0.04]), holm([]), adjust_for_best([])) == ([0.03], [0.04], [], [])


def test_minimum_detectable_effect_is_half_the_interval_plus_the_t_of_its_power() -> None:
    first, second, page = scores(300, 10), scores(300, 11), pages(300, 10)
    low, high = differences(first, second, page).interval(0.9)
    half, freedom = (high - low) / 2, 300**2 / sum(page.count(name) ** 2 for name in set(page)) - 1
    assert minimum_detectable_effect(first, second, page, confidence=0.9, power=0.5) == pytest.approx(half)
    at_80_percent = half * (1 + student_t(0.6, freedom) / student_t(0.9, freedom))
    assert minimum_detectable_effect(first, second, page, confidence=0.9) == pytest.approx(at_80_percent)


# Simulations of equally good submissions

EASY = [1.0] * 18 + [0.5, 0.0]
HARD = [1.0] * 8 + [0.9, 0.75, 0.6, 0.5] + [0.0] * 8
TRUE_MEAN = fmean(EASY + HARD)


def draw(
    chance: random.Random, count: int, largest: int, models: int = 2, same_pages: bool = False
) -> tuple[list[list[float]], list[int]]:
    """Draw submissions, with pages that are easy or hard for all of them or for each."""
    drawn: list[list[float]] = [[] for _ in range(models)]
    pages: list[int] = []
    while len(pages) < count:
        size = min(chance.randint(1, largest), count - len(pages))
        page = chance.choice([EASY, HARD]) if same_pages else None
        for model in drawn:
            model += chance.choices(page or chance.choice([EASY, HARD]), k=size)
        pages += [len(pages)] * size
    return drawn, pages


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "samples", "tested", "most"), [(30, 600, 400, 1.0), (100, 600, 400, 0.99), (1000, 500, 150, 0.98)]
)
@pytest.mark.parametrize("largest", [1, 5], ids=["questions", "pages"])
def test_interval_contains_the_true_mean_in_95_of_100_and_equals_differ_in_5(
    count: int, samples: int, tested: int, most: float, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interval in more of small samples: 30 questions are about ten pages, which have no verdict.

    Of 400 samples, 2% are 2.7 standard errors below 5%, and 9% are 3.7 above.
    """
    monkeypatch.setattr(significance, "FLIPS", 999)  # equally valid, and ten times as fast
    chance = random.Random(count)
    drawn = [draw(chance, count, largest) for _ in range(samples)]
    intervals = (interval(models[0], pages) for models, pages in drawn)
    assert 0.92 <= fmean(low <= TRUE_MEAN <= high for low, high in intervals) <= most
    assert 0.02 <= fmean(paired_test(first, second, pages) < 0.05 for (first, second), pages in drawn[:tested]) <= 0.09


@pytest.mark.thorough
def test_best_of_ten_equals_is_told_apart_from_another_in_under_5_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """With Holm's adjustment it would be in more than 8 of 100 samples, since the same questions chose the best."""
    monkeypatch.setattr(significance, "FLIPS", 1_999)
    chance = random.Random(5)
    families = []
    for _ in range(250):
        models, pages = draw(chance, 120, 5, models=10, same_pages=True)
        best = max(models, key=sum)
        families.append([paired_test(best, model, pages) for model in models if model is not best])
    assert fmean(min(holm(family)) < 0.05 for family in families) > 0.08
    assert 0 < fmean(min(adjust_for_best(family)) < 0.05 for family in families) <= 0.05
