"""The words at the top of the report: the verdict, the certainty of it, and what it depends on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from anls_metric.analysis.contributions import split_difference
from anls_metric.analysis.hints import Hint
from anls_metric.messages import Message
from anls_metric.report.headline import describe_headline
from tests.report.sample_reports import conclude, make_answers, score_pairs

GOOD, FAIR, POOR = (make_answers(120, share) for share in (0.9, 0.5, 0.1))
EQUAL = {"a": GOOD, "b": GOOD}


def describe(submissions: Mapping[str, Any], raw: int = 0, **options: Any) -> dict[str, Any]:
    """Describe the headline of submissions, of which the last ones have raw output."""
    scored = [score_pairs(pairs, name=name) for name, pairs in submissions.items()]
    hints = [Hint(Message("", "raw", {}), each.name, ("sentence",), 0.9) for each in scored[len(scored) - raw :]]
    return describe_headline(conclude(scored, hints, **options))


HEADINGS: list[tuple[dict[str, Any], int, str]] = [
    ({"one": GOOD}, 0, r"one scores 93\.1"),
    ({"one": GOOD}, 1, r"one scores 93\.1 on raw output"),
    ({"tuned": GOOD, "base": POOR}, 0, r"tuned is better than base by 53\.\d points"),
    ({"b": POOR, "a": GOOD}, 1, r"a is better than b by 53\.\d points\. One of two scores is of raw output"),
    (EQUAL, 0, "No significant difference between a and b"),
    ({**EQUAL, "c": POOR}, 0, "No significant difference between a and b, the best of three"),
    (
        {"a": GOOD, "b": FAIR, "c": POOR},
        2,
        r"a is the best of three, better than b by .* Two of three scores are of raw output",
    ),
    ({"a": GOOD, "b": GOOD, "c": GOOD}, 0, "No significant difference among the three submissions"),
    ({**dict.fromkeys("abcd", GOOD), "e": POOR}, 0, "No significant difference among the best four of five"),
    ({name: pairs[:9] for name, pairs in EQUAL.items()}, 0, "Too few questions to rank both"),
    ({"submission__ant": GOOD, "submission__bee": POOR}, 0, r"ant is better than bee by 53\.\d points"),
]


@pytest.mark.parametrize(("submissions", "raw", "expected"), HEADINGS)
def test_heading_says_which_is_best_in_any_order(submissions: dict[str, Any], raw: int, expected: str) -> None:
    heading = describe(submissions, raw)["heading"]
    assert re.fullmatch(expected, heading), heading
    if not raw:
        assert describe(dict(reversed(submissions.items())))["heading"] == heading


def test_summary_has_the_interval_the_adjusted_p_and_the_variants_that_reverse_the_order() -> None:
    lower, upper = [("coca cola", ["Coca Cola"])] * 40, [*[("Coca Cola", ["Coca Cola"])] * 38, ("x", ["Coca Cola"])] * 2
    content = describe({"lower": lower, "upper": upper[:40]})
    assert content["reported_baseline"] == "lower"
    assert set(content["reversed_by"]) == {
        name for name, means in content["variants"]["upper"].items() if means > content["variants"]["lower"][name]
    }
    assert re.search(r"The 95% CI of the difference is -?\d\.\d to \d\.\d points, p = [\d.]+\.", content["summary"])
    assert re.search(r"Under \d+ of 22 variants, all of which count case, their order is reversed", content["summary"])
    three = describe({"a": GOOD, "b": FAIR, "c": POOR})
    assert "between a and b is" in three["summary"]
    assert "points, p < 0.001, adjusted for choosing the best." in three["summary"]
    assert three["ranks"] == {"a": 1, "b": 2, "c": 3}


def test_user_chooses_the_baseline_and_the_digits() -> None:
    content = describe({"a": GOOD, "b": FAIR, "c": POOR}, baseline="c", digits=3)
    assert content["reported_baseline"] == "c"
    assert re.search(r"better than b by \d+\.\d{3} points", content["heading"])


def test_submission_with_two_proposed_extractions_is_counted_once() -> None:
    scored = [score_pairs(pairs, name=name) for name, pairs in {"a": GOOD, "b": POOR}.items()]
    hints = [Hint(Message("", "raw", {}), "b", (rule,), 0.9) for rule in ("sentence", "final")]
    assert describe_headline(conclude(scored, hints))["heading"].endswith("One of two scores is of raw output")


def test_contributions_of_runs_add_up_to_the_difference_and_name_the_lowest_answer() -> None:
    first = score_pairs([("tea", ["tea"]), ("Cola", ["Cola"])])
    scored = score_pairs([("tea", ["tea"]), ("Cola", ["Cola"])], runs=["tea", "", "Cola", "Cola"], name="runs")
    (part,) = split_difference(scored, first)
    assert (part.outcome, part.points, part.losses, part.wins) == ("empty", -0.25, 1, 0)
    assert scored.anls - first.anls == part.points
