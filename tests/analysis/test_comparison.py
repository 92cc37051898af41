"""Comparisons of submissions: on made-up answers, and on real answers against another computation."""

from __future__ import annotations

import doctest
import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.analysis.comparison import Comparison, ComparisonSet, compare, compare_each_with_each
from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.significance import Interval, differences, holm, least_difference, paired_test
from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.join import join_files
from tests.conftest import ROOT

KEYS = [
    "first",
    "second",
    "questions",
    "difference",
    "interval",
    "p_value",
    "p_value_adjusted",
    "better",
    "worse",
    "equal",
    "verdict",
    "least_difference",
]


def submission(right: str, questions: Sequence[int] | None = None, **options: Any) -> ScoredSet:
    """Make a set with an answer for each letter: y is right, h scores 0.5, n is wrong. A page has four questions."""
    questions = range(len(right)) if questions is None else questions
    answers = {"y": "Cola", "h": "Co", "n": "x"}
    scored_set = ScoredSet(**{"keep": True, **options})
    rows = [
        Row(f"q{number}", answers[letter], ["Cola"], {"image": f"page {number // 4}"})
        for number, letter in zip(questions, right)
    ]
    scored_set.add(rows)
    return scored_set


def draw_letters(seed: int, count: int = 200, weights: tuple[int, int, int] = (7, 1, 2)) -> str:
    return "".join(random.Random(seed).choices("yhn", weights, k=count))


def test_compare_agrees_with_the_statistics_of_the_scores() -> None:
    first, second = draw_letters(1), draw_letters(2, weights=(9, 1, 0))
    compared = compare({"a": submission(first), "b": submission(second)})
    scores = {"y": 1.0, "h": 0.5, "n": 0.0}
    before, after = [scores[letter] for letter in first], [scores[letter] for letter in second]
    page = [number // 4 for number in range(200)]
    p_value = paired_test(before, after, page)
    (comparison,) = compared.comparisons
    assert comparison._asdict() == {
        "first": "a",
        "second": "b",
        "questions": 200,
        "difference": pytest.approx(anls_metric.mean(after) - anls_metric.mean(before)),
        "interval": differences(before, after, page).interval(),
        "p_value": p_value,
        "p_value_adjusted": p_value,
        "better": sum(new > old for old, new in zip(before, after)),
        "worse": sum(new < old for old, new in zip(before, after)),
        "equal": sum(new == old for old, new in zip(before, after)),
        "verdict": "better",
        "least_difference": pytest.approx(least_difference(before, after, page)),
    }
    assert compared.clusters is not None
    assert (compared.clusters.field, compared.clusters.count) == ("image", 50)
    assert compared.hints == []


def test_comparison_has_the_keys_of_the_document() -> None:
    compared = compare({"a": submission(draw_letters(1)), "b": submission(draw_letters(2))})
    written = json.loads(json.dumps([comparison._asdict() for comparison in compared.comparisons]))
    assert list(written[0]) == KEYS
    assert isinstance(written[0]["interval"], list)


def compare_three(**options: Any) -> ComparisonSet:
    sets = {"a": draw_letters(1), "b": draw_letters(2), "c": draw_letters(3, weights=(9, 1, 0))}
    return compare({name: submission(right) for name, right in sets.items()}, **options)


def test_compare_takes_the_first_as_baseline_by_default() -> None:
    assert [(comparison.first, comparison.second) for comparison in compare_three().comparisons] == [
        ("a", "b"),
        ("a", "c"),
    ]
    compared = compare_three(baseline="b")
    assert compared.baseline == "b"
    assert [(comparison.first, comparison.second) for comparison in compared.comparisons] == [("b", "a"), ("b", "c")]
    (there, _), (back, _) = compare_three().comparisons, compared.comparisons
    assert there.difference == -back.difference
    assert there.p_value == back.p_value
    assert (there.better, there.worse, there.equal) == (back.worse, back.better, back.equal)


def test_compare_adjusts_p_values_for_all_comparisons() -> None:
    compared = compare_three().comparisons
    assert [comparison.p_value_adjusted for comparison in compared] == holm(
        [comparison.p_value for comparison in compared]
    )
    assert compared[1].p_value_adjusted == 2 * compared[1].p_value
    assert [comparison.verdict for comparison in compared] == ["not told apart", "better"]


def test_compare_joins_questions_in_any_order() -> None:
    right = dict(enumerate(draw_letters(4)))
    numbers = random.Random(5).sample(range(200), 200)
    shuffled = submission("".join(right[number] for number in numbers), numbers)
    other = submission(draw_letters(1))
    compared = compare({"a": other, "b": submission(draw_letters(4))})
    assert compare({"a": other, "b": shuffled}).comparisons == compared.comparisons
    assert compare({"b": shuffled, "a": other}).comparisons[0].difference == -compared.comparisons[0].difference


def test_compare_uses_common_questions_and_gives_a_hint() -> None:
    first, second = draw_letters(1), draw_letters(2)
    part = submission(second[50:] + "y" * 10, range(50, 210))
    compared = compare({"a": submission(first), "b": part, "c": submission(second)})
    comparison, whole = compared.comparisons
    assert comparison.questions == 150
    alone = compare({"a": submission(first[50:], range(50, 200)), "b": submission(second[50:], range(50, 200))})
    assert comparison._replace(p_value_adjusted=0.0) == alone.comparisons[0]._replace(p_value_adjusted=0.0)
    assert whole.questions == 200
    assert compared.hints == ["b is compared with a on the 150 questions that both have: it has 160, a has 200"]


def test_comparison_of_few_clusters_has_no_verdict() -> None:
    worse, better = "n" * 116, "y" * 116
    (comparison,) = compare({"a": submission(worse), "b": submission(better)}).comparisons
    assert comparison.p_value < 0.001
    assert comparison.verdict == "too few questions"  # 29 pages
    (comparison,) = compare({"a": submission(worse + "nnnn"), "b": submission(better + "yyyy")}).comparisons
    assert comparison.verdict == "better"
    (comparison,) = compare({"a": submission(worse), "b": submission(better)}, cluster_by="none").comparisons
    assert comparison.verdict == "better"
    (comparison,) = compare({"a": submission("n"), "b": submission("y")}).comparisons
    assert (comparison.interval, comparison.p_value, comparison.verdict) == (None, 1.0, "too few questions")
    assert comparison.least_difference is None


def test_compare_takes_the_field_of_the_clusters() -> None:
    sets = {"a": submission(draw_letters(1)), "b": submission(draw_letters(2))}
    assert compare(sets, cluster_by="none").clusters is None
    assert compare(sets, cluster_by="none").comparisons[0].interval != compare(sets).comparisons[0].interval
    assert compare(sets, cluster_by="image") == compare(sets)
    with pytest.raises(ValueError, match="no question has the field 'document'"):
        compare(sets, cluster_by="document")


NOT_TOLD = Comparison("a", "b", 100, 0.1, Interval(0.01, 0.19), 0.03, 0.06, 20, 10, 70, "not told apart")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "p adjusted for all of them"),
        ({"p_value": 0.052, "p_value_adjusted": 0.052}, "goes by the test"),
        ({"p_value_adjusted": 0.04, "verdict": "better"}, ""),
        ({"p_value_adjusted": 0.04, "verdict": "better", "interval": Interval(-0.01, 0.21)}, "goes by the test"),
        ({"p_value": 0.3, "p_value_adjusted": 0.3, "interval": Interval(-0.01, 0.21)}, ""),
        ({"verdict": "too few questions"}, ""),
        ({"interval": None}, ""),
    ],
)
def test_note_says_why_interval_and_verdict_differ(changes: dict[str, Any], words: str) -> None:
    note = NOT_TOLD._replace(**changes).note
    assert words in note
    assert bool(words) == bool(note)


def test_note_is_among_the_hints() -> None:
    """15 of 20 differing answers are better: significant for one comparison, but not for four."""
    first, second = "n" * 15 + "y" * 185, "y" * 15 + "n" * 5 + "y" * 180
    (alone,) = compare({"a": submission(first), "b": submission(second)}, cluster_by="none").comparisons
    assert (alone.verdict, alone.note) == ("better", "")
    compared = compare({"a": submission(first), **{name: submission(second) for name in "bcde"}}, cluster_by="none")
    assert {comparison.verdict for comparison in compared.comparisons} == {"not told apart"}
    assert {comparison.interval for comparison in compared.comparisons} == {alone.interval}
    assert compared.hints == [f"4 comparisons (b against a, c against a, ...): {compared.comparisons[0].note}"]
    assert "adjusted" in compared.hints[0]


def test_each_with_each_is_what_another_baseline_gives() -> None:
    sets = {"a": submission("n" * 40 + "y" * 160), "b": submission("y" * 200), "c": submission("y" * 30 + "n" * 170)}
    by_baseline = compare_each_with_each(sets, compare(sets))
    for baseline in sets:
        for expected in compare(sets, baseline).comparisons:
            result = by_baseline[baseline][expected.second]
            assert result == expected._replace(difference=result.difference, interval=result.interval)
            assert result.difference == pytest.approx(expected.difference)
            assert result.interval == pytest.approx(expected.interval)
    of_all = compare(sets, all_pairs=True)
    assert compare_each_with_each(sets, of_all)["a"]["b"] == of_all.comparisons[0]


def test_each_with_each_leaves_out_pairs_without_common_questions() -> None:
    def score(ids: str) -> ScoredSet:
        scored_set = ScoredSet(comparable=True)
        scored_set.add([Row(key, "x", ["x"], {}) for key in ids])
        return scored_set

    sets = {"all": score("abcdef"), "first": score("abc"), "second": score("def")}
    compared = compare({name: sets[name] for name in ("all", "first")})
    assert set(compare_each_with_each(sets, compared)["first"]) == {"all"}


def test_compare_finds_the_best_submission_and_its_ties() -> None:
    worse, best, alike = "n" * 60 + "y" * 140, "y" * 200, "n" + "y" * 199
    compared = compare({"a": submission(worse), "b": submission(best), "c": submission(alike)}, cluster_by="none")
    assert (compared.baseline, compared.best, compared.ties) == ("a", "b", ["c"])
    few = compare({"a": submission("ny"), "b": submission("yy")}, cluster_by="none")
    assert (few.best, few.ties) == ("b", ["a"])


@pytest.mark.parametrize(
    ("sets", "options", "words"),
    [
        ({"a": "yn"}, {}, "needs two submissions or more, not 1"),
        ({"a": "yn", "b": "yn"}, {"baseline": "c"}, "unknown baseline 'c'; choose from a, b"),
    ],
)
def test_compare_refuses_sets_that_cannot_be_compared(
    sets: Mapping[str, str], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        compare({name: submission(right) for name, right in sets.items()}, **options)


def test_compare_refuses_scores_of_two_kinds() -> None:
    with pytest.raises(
        ValueError, match=r"a by anls\|standard\|.*b by anls\|rrc\|.*: score all submissions with the same options"
    ):
        compare({"a": submission("yn"), "b": submission("yn", scorer="rrc")})
    with pytest.raises(ValueError, match="b has not kept its answers: score it with comparable=True"):
        compare({"a": submission("yn"), "b": submission("yn", keep=False)})


def test_compare_refuses_repeated_and_unknown_ids() -> None:
    with pytest.raises(InputError, match=r"^b: no question ids in common with a: q5, q6 here, q0, q1 there$"):
        compare({"a": submission("yn"), "b": submission("yn", [5, 6])})
    with pytest.raises(InputError, match=r"^b: ids come more than once \(q5\): keep one record for each id$"):
        compare({"a": submission("yn"), "b": submission("ynn", [5, 5, 6])})


def number_rows(answers: Sequence[str], references: Sequence[str]) -> ScoredSet:
    scored_set = ScoredSet(keep=True)
    rows = enumerate(zip(answers, references), 1)
    scored_set.add([Row(str(number), answer, [accepted], {}) for number, (answer, accepted) in rows])
    return scored_set


def test_compare_refuses_ids_that_mean_other_questions() -> None:
    """Records of tables without ids are numbered, so in another order a number is another question."""
    answers = [f"answer {number}" for number in range(40)]
    right = number_rows(answers, answers)
    with pytest.raises(
        InputError, match=r"b: 40 of its ids have other accepted answers than in a \(1, 2, 3, 4, 5, ...\)"
    ):
        compare({"a": right, "b": number_rows(answers, answers[::-1])})
    compared = compare({"a": right, "b": number_rows(answers, [*answers[:39], "another"])})
    assert compared.hints == ["1 of the questions of b have other accepted answers than in a (40)"]


def test_snippets_of_the_guide_to_comparing_run() -> None:
    text = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
    snippets = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    example = doctest.DocTestParser().get_doctest(snippets, {}, "comparing.md", "comparing.md", 0)
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0
    assert results.attempted > 25


# Real answers


@pytest.fixture(scope="session")
def real(real_answers: Path) -> Callable[[str], ScoredSet]:
    def scored(name: str) -> ScoredSet:
        scored_set = ScoredSet(keep=True)
        gold, answers = str(real_answers / "gold.json"), str(real_answers / f"submission__{name}.json")
        for rows in join_files(gold, answers):
            scored_set.add(rows)
        return scored_set

    known: dict[str, ScoredSet] = {}
    return lambda name: known.setdefault(name, known.get(name) or scored(name))


def compare_by_numpy(
    real_answers: Path, first: str, second: str, field: str | None
) -> tuple[float, tuple[float, float], float]:
    """Compute difference, interval and p-value from the files with numpy; only the scores are ours."""
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    gold = json.loads((real_answers / "gold.json").read_text())["data"]
    scores = []
    for name in (first, second):
        records = json.loads((real_answers / f"submission__{name}.json").read_text())
        answers = {record["questionId"]: record["answer"] for record in records}
        scores.append(
            [anls_metric.anls_score(answers[question["questionId"]], question["answers"]) for question in gold]
        )
    difference = np.subtract(*scores[::-1])
    names = [question[field] if field else number for number, question in enumerate(gold)]
    _, cluster = np.unique(names, return_inverse=True)
    member = np.eye(cluster.max() + 1)[cluster]  # a column for each cluster
    clusters = member.shape[1]
    residuals = member.T @ (difference - difference.mean())
    error = math.sqrt(clusters / (clusters - 1) * residuals @ residuals) / len(gold)
    ends = stats.t.interval(0.95, clusters - 1, difference.mean(), error)
    sums = member.T @ difference
    signs = 2.0 * np.random.default_rng(0).integers(2, size=(10_000, np.count_nonzero(sums))) - 1
    by_chance = np.abs(signs @ sums[sums != 0])
    return difference.mean(), ends, float(np.mean(by_chance >= abs(difference.sum()) - 1e-9))


@pytest.mark.parametrize(("cluster_by", "field"), [(None, "image"), ("none", None)])
@pytest.mark.parametrize("second", ["qwen2_vl_7b_instruct", "nemotron", "llama_nemotron", "llama_vision"])
def test_compare_agrees_with_numpy_on_real_answers(
    real: Callable[[str], ScoredSet], real_answers: Path, second: str, cluster_by: str | None, field: str | None
) -> None:
    difference, ends, p_value = compare_by_numpy(real_answers, "llama_maverick", second, field)
    compared = compare({name: real(name) for name in ("llama_maverick", second)}, cluster_by=cluster_by)
    (comparison,) = compared.comparisons
    assert (compared.clusters and compared.clusters.count) == (280 if field else None)
    assert comparison.questions == 1000
    assert comparison.difference == pytest.approx(difference, abs=1e-12)
    assert comparison.interval == pytest.approx(ends, abs=1e-9)
    assert comparison.p_value == pytest.approx(p_value, abs=4 * math.sqrt(p_value * (1 - p_value) / 5000) + 1.5e-4)


def test_interval_by_page_is_wider_on_real_answers(real: Callable[[str], ScoredSet]) -> None:
    """With 280 pages the interval is 27 % wider, and p is 0.022 instead of 0.004."""
    sets = {name: real(name) for name in ("llama_maverick", "qwen2_vl_7b_instruct")}
    (by_page,), (alone,) = compare(sets).comparisons, compare(sets, cluster_by="none").comparisons
    assert by_page.difference == alone.difference == pytest.approx(-0.0286, abs=5e-5)
    assert by_page.least_difference is not None
    assert alone.least_difference is not None
    assert by_page.least_difference / alone.least_difference == pytest.approx(1.27, abs=0.005)
    assert by_page.p_value == pytest.approx(0.022, abs=0.003)
    assert alone.p_value == pytest.approx(0.004, abs=0.0015)


def test_interval_by_document_is_wider_still_on_real_answers(real: Callable[[str], ScoredSet]) -> None:
    """The name of a page begins with the name of its document. There are 212; one has 53 questions."""
    first, second = real("llama_maverick").rows, real("qwen2_vl_7b_instruct").rows
    scores = [answer.score for answer in first], [answer.score for answer in second]
    document = [Path(answer.row.record["image"]).name.partition("_")[0] for answer in first]
    assert len(set(document)) == 212
    assert max(map(document.count, set(document))) == 53
    assert least_difference(*scores, document) / least_difference(*scores) == pytest.approx(1.83, abs=0.01)
