"""Comparisons of submissions: pairs, p-values, verdicts, ties, and what cannot be compared. The answers are made up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anls_metric
from anls_metric import differences, holm, minimum_detectable_effect, paired_test
from anls_metric.analysis import comparison
from anls_metric.analysis.comparison import Comparison, ComparisonSet
from anls_metric.analysis.scored import Scored
from anls_metric.core.statistics.significance import Interval
from tests.analysis.scoring import make_table

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

SCORES = {"y": 1.0, "h": 0.5, "n": 0.0}
PAGES = [number // 4 for number in range(200)]


def draw_letters(seed: int, weights: tuple[int, int, int] = (7, 1, 2)) -> str:
    return "".join(random.Random(seed).choices("yhn", weights, k=200))


FIRST, SECOND, BEST = draw_letters(1), draw_letters(2), draw_letters(3, weights=(9, 1, 0))
THREE = {"a": make_table(FIRST), "b": make_table(SECOND), "c": make_table(BEST)}


def score_all(tables: Mapping[str, Any], **options: Any) -> list[Scored]:
    return [*anls_metric.compare(tables, **options).submissions.values()]


def compare(tables: Mapping[str, Any], baseline: str | None = None, **options: Any) -> ComparisonSet:
    all_pairs = options.pop("all_pairs", False)
    return comparison.compare(score_all(tables, **options), baseline, all_pairs)


def test_compare_agrees_with_the_statistics_of_the_scores() -> None:
    before, after = [SCORES[letter] for letter in FIRST], [SCORES[letter] for letter in BEST]
    (found,) = compare({"a": make_table(FIRST), "b": make_table(BEST)}).comparisons
    assert (found.first, found.second, found.questions, found.verdict) == ("a", "b", 200, "better")
    assert found.difference == differences(before, after).mean
    assert found.interval == differences(before, after, PAGES).interval()
    assert found.p_value == found.p_value_adjusted == paired_test(before, after, PAGES)
    assert found.mde == minimum_detectable_effect(before, after, PAGES)
    signs = Counter((new > old) - (new < old) for old, new in zip(before, after))
    assert (found.wins, found.losses, found.equal) == (signs[1], signs[-1], signs[0])


def test_compare_compares_with_the_best_of_three_or_with_the_baseline_or_all_pairs() -> None:
    situations: dict[str, dict[str, Any]] = {"ca cb": {}, "ba bc": {"baseline": "b"}}
    situations["ba bc ac"] = {"baseline": "b", "all_pairs": True}
    for pairs, options in situations.items():
        assert " ".join(each.first + each.second for each in compare(THREE, **options).comparisons) == pairs


@pytest.mark.parametrize("all_pairs", [False, True])
def test_compare_adjusts_p_values_for_all_comparisons(all_pairs: bool) -> None:
    compared = compare(THREE, "a", all_pairs=all_pairs).comparisons
    assert [each.p_value_adjusted for each in compared] == holm([each.p_value for each in compared])
    assert compared[1].p_value_adjusted == len(compared) * compared[1].p_value
    assert [each.verdict for each in compared[:2]] == ["no significant difference", "better"]


def test_compare_joins_the_common_questions_in_any_order_and_says_so() -> None:
    rows = make_table(SECOND[50:] + "y" * 10, range(50, 210))
    part = random.Random(5).sample(rows, len(rows))
    compared = compare({"a": make_table(FIRST), "b": part, "c": make_table(SECOND)}, "a").comparisons
    (alone,) = compare({"a": make_table(FIRST)[50:], "b": make_table(SECOND)[50:]}).comparisons
    assert compared[0]._replace(p_value_adjusted=alone.p_value) == alone
    assert [each.questions for each in compared] == [150, 200]
    sentence = "a has 200 questions and b has 160: they are compared on the 150 that both have"
    assert sentence in anls_metric.compare({"a": make_table(FIRST), "b": part}).hints


@pytest.mark.parametrize(
    ("count", "cluster_by", "verdict", "is_few"),
    [
        (120, None, "better", False),  # 30 pages
        (116, None, "better", True),
        (24, None, "better", True),
        (20, None, "too few documents", True),
        (6, "none", "better", True),
        (5, "none", "too few documents", True),
        (1, "none", "too few documents", True),
    ],
)
def test_compare_has_a_verdict_from_six_clusters(
    count: int, cluster_by: str | None, verdict: str, is_few: bool
) -> None:
    tables = {"a": make_table("n" * count), "b": make_table("y" * count)}
    compared = anls_metric.compare(tables, cluster_by=cluster_by)
    (found,) = compared.to_dict()["comparisons"]
    assert (found["verdict"], found["few_documents"], found["p_value"] < 0.05) == (verdict, is_few, verdict == "better")
    assert (found["interval"] is None) == (count == 1)
    assert (found["mde"] is None) == (verdict == "too few documents")
    printed = f"{verdict}, few documents" if verdict == "better" and is_few else verdict
    assert f"| {printed} |" in compared.to_markdown(columns="verdict")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("yhn", min_size=40, max_size=200), min_size=2, max_size=4), st.booleans())
@example(["n" * 7 + "y" * 193, "y" * 200], True)
def test_interval_excludes_0_exactly_if_p_is_under_5_percent(letters: list[str], has_pages: bool) -> None:
    size = min(map(len, letters))
    tables = {str(n): make_table(each[:size]) for n, each in enumerate(letters)}
    options: Any = {} if has_pages else {"cluster_by": "none"}
    compared = anls_metric.compare(tables, all_pairs=True, **options)
    for found in compared.to_dict()["comparisons"]:
        low, high = found["interval"] or (0.0, 0.0)
        assert (found["p_value"] < 0.05) == (not low <= 0 <= high)
        expected = "worse" if found["difference"] < 0 else "better"
        assert (found["verdict"] == expected) == (found["p_value_adjusted"] < 0.05)


DOCUMENTS = [*(f"d{place // 2}" for place in range(80)), *["files/big"] * 20]


def judge_documents(right: Sequence[bool]) -> list[dict[str, Any]]:
    """Make a row for each question about `DOCUMENTS`, whose prediction is right or wrong."""
    return [
        {"id": n, "doc": name, "prediction": "y" if is_right else "n", "references": ["y"]}
        for n, (name, is_right) in enumerate(zip(DOCUMENTS, right))
    ]


def test_document_that_decides_is_named_with_what_is_left_without_it() -> None:
    wrong = judge_documents([False] * 100)
    right = judge_documents([place % 8 == 0 or place >= 80 for place in range(100)])  # the last 20 are one document
    (found,) = compare({"a": wrong, "b": right}).comparisons
    assert found.one_document is not None
    assert (found.one_document.document, found.one_document.questions) == ("files/big", 20)
    assert found.one_document.difference == pytest.approx(10 / 80)
    low, high = found.one_document.interval or (0, 0)
    assert low < found.one_document.difference < high
    reversed_document = found.one_document._replace(
        difference=-found.one_document.difference, interval=Interval(-high, -low)
    )
    assert found.reverse().one_document == reversed_document
    words = "big (20 questions) is 58% of the difference: +30.0 points, and +12.5 without it"
    scores = anls_metric.compare({"a": wrong, "b": right})
    assert any(words in hint for hint in scores.hints)
    assert scores.to_dict()["comparisons"][0]["one_document"] == {
        **found.one_document._asdict(),
        "interval": [low, high],
    }
    for text in (scores.to_markdown(), scores.to_latex()):
        assert f"b against a: {words}." in text.replace("\\%", "%")
    shared = judge_documents([place % 2 == 0 for place in range(100)])
    (found,) = compare({"a": wrong, "b": shared}).comparisons
    assert found.one_document is None


@pytest.mark.parametrize("step", [1, -1])
def test_of_equal_documents_that_decide_the_first_by_name_is_named(step: int) -> None:
    names = [*(f"small {place}" for place in range(60)), *["b"] * 20, *["a"] * 20][::step]
    rows = [{"id": n, "doc": name, "prediction": "n", "references": ["y"]} for n, name in enumerate(names)]
    few = {"a", "b", *(f"small {place}" for place in range(12))}
    right = [{**row, "prediction": "y"} if row["doc"] in few else row for row in rows]
    (found,) = compare({"x": rows, "y": right}).comparisons
    assert found.one_document is not None
    assert (found.one_document.document, found.one_document.questions) == ("a", 20)


UNDECIDED = Comparison(
    "a", "b", 100, 0.1, Interval(0.01, 0.19), 0.03, 0.06, 20, 10, 70, 0.1, "no significant difference"
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "p adjusted for all comparisons"),
        ({"p_value": 0.3, "p_value_adjusted": 0.3, "interval": Interval(-0.01, 0.21)}, ""),
        ({"p_value_adjusted": 0.04, "verdict": "better"}, ""),
    ],
)
def test_note_says_why_interval_and_verdict_disagree(changes: dict[str, Any], words: str) -> None:
    note = UNDECIDED._replace(**changes).note
    assert words in note
    assert bool(words) == bool(note)


def test_notes_name_the_comparisons_that_have_them() -> None:
    """15 of 20 differing answers are better: significant for one comparison, but not for four."""
    first, second = make_table("n" * 15 + "y" * 185), make_table("y" * 15 + "n" * 5 + "y" * 180)
    (alone,) = compare({"a": first, "b": second}, cluster_by="none").comparisons
    assert (alone.verdict, alone.note) == ("better", "")
    several = {"a": first, **dict.fromkeys("bcde", second)}
    compared = compare(several, "a", cluster_by="none")
    assert {each.verdict for each in compared.comparisons} == {"no significant difference"}
    note = f"b against a, c against a, ...: {compared.comparisons[0].note}"
    assert [message.text() for message in compared.notes] == [note]
    assert note in anls_metric.compare(several, baseline="a", cluster_by="none").hints


@pytest.mark.parametrize(
    ("letters", "best", "ties"),
    [
        (["n" * 60 + "y" * 140, "y" * 200, "n" + "y" * 199], "b", ["c"]),
        (["ny", "yy"], "b", ["a"]),  # too few documents
        (["y" * 200, "n" * 200], "a", []),
        (["y" * 40] * 3, "a", ["b", "c"]),
    ],
)
def test_compare_finds_the_best_submission_and_its_ties(letters: list[str], best: str, ties: list[str]) -> None:
    compared = compare(dict(zip("abc", map(make_table, letters))), cluster_by="none")
    assert (compared.baseline, compared.best, compared.ties) == (best if len(letters) > 2 else "a", best, ties)


def with_accepted(answers: Sequence[str], accepted: Sequence[str]) -> list[dict[str, Any]]:
    return [{"prediction": answer, "references": [text]} for answer, text in zip(answers, accepted)]


NUMBERED = [f"answer {number}" for number in range(40)]
RIGHT = with_accepted(NUMBERED, NUMBERED)


def test_compare_refuses_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match=r"^b: no question ids in common with a \(q5, q6 / q0, q1\): use the same id"):
        anls_metric.compare({"a": make_table("yn"), "b": make_table("yn", [5, 6])})
    words = r"^b: 40 of its questions have different accepted answers in a \(1, 2, 3, 4, 5, \.\.\.\): use the same id"
    with pytest.raises(ValueError, match=words):
        anls_metric.compare({"a": RIGHT, "b": with_accepted(NUMBERED, NUMBERED[::-1])})
    values = [{"prediction": ["a"], "references": [["a"]]}]
    with pytest.raises(ValueError, match='submissions can only be compared question by question: use average="rows"'):
        anls_metric.compare({"a": values, "b": values}, variant="anls_star", average="leaves")


def test_compare_says_which_accepted_answers_differ() -> None:
    scores = anls_metric.compare({"a": RIGHT, "b": with_accepted(NUMBERED, [*NUMBERED[:39], "another"])})
    assert "b: 1 of its questions have different accepted answers in a (40)" in scores.hints


def test_groups_are_compared_on_the_questions_that_both_have_in_them() -> None:
    def make_rows(letters: str, kinds: str) -> list[dict[str, Any]]:
        return [row | {"kind": kind} for row, kind in zip(make_table(letters), kinds)]

    tables = {"a": make_rows("yyhnhn", "xxxxyz"), "b": make_rows("yhnnyy", "xxxyyx")}
    groups = anls_metric.compare(tables, by="kind", cluster_by="none").to_dict()["submissions"][1]["groups"]["kind"]
    found = {name: (group["questions"], group["difference"]) for name, group in groups.items()}
    assert found == {"x": (4, pytest.approx(-1 / 3)), "y": (2, 0.5)}
    assert groups["x"]["difference_interval"] == list(differences([1.0, 1.0, 0.5], [1.0, 0.5, 0.0]).interval())
    assert groups["y"]["difference_interval"] is None
