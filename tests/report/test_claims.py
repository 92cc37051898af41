"""What one can write, what not yet, and what would decide it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anls_metric import compare
from anls_metric.analysis.evaluation import sort_for_report
from anls_metric.analysis.verdicts import OneDocument
from anls_metric.document import build_document
from anls_metric.report.claims import write_claims
from anls_metric.report.numbers import PERCENT
from anls_metric.report.tables import as_markdown
from anls_metric.report.terminal import as_text
from tests.report.sample_reports import build_report, conclude, make_answers, score_pairs

GOOD, POOR = make_answers(60, 0.9), make_answers(60, 0.4)
NEAR = [*GOOD[:-3], *[("x", accepted) for _, accepted in GOOD[-3:]]]


def describe(submissions: dict[str, Any], **options: Any) -> Any:
    """Build the document of submissions as the report shows it."""
    scored = [score_pairs(pairs, name=name) for name, pairs in submissions.items()]
    return build_document(sort_for_report(conclude(scored, **options)))


def write(submissions: dict[str, Any], **options: Any) -> list[str]:
    """Write the claims of submissions."""
    return list(map(str, write_claims(describe(submissions, **options), PERCENT).sentences))


def test_models_that_differ_are_said_to_with_the_sign_of_the_table() -> None:
    can, cannot, decides = write({"good": GOOD, "poor": POOR})
    assert can.startswith('"poor scores lower than good: -')
    assert "95% CI -" in can
    assert can.endswith(', p < 0.001)."')
    assert cannot.startswith('"good leads poor by ')
    assert decides == "It is decided; with 240 questions, the interval would be half as wide."


def test_models_that_do_not_differ_have_a_limit_and_a_number_of_questions() -> None:
    can, cannot, decides = write({"good": GOOD, "near": NEAR})
    (pair,) = describe({"good": GOOD, "near": NEAR})["comparisons"]
    bound = float(can.partition("less than ")[2].split()[0])
    assert bound == pytest.approx(100 * max(map(abs, pair["interval"])), abs=0.1)
    assert bound >= 100 * max(map(abs, pair["interval"]))  # a limit is never rounded down
    assert cannot.startswith('"good beats near." p = 0.')
    assert decides.startswith("About ")
    assert "questions like these, 60 of which are here" in decides
    level = write({"a": GOOD, "b": GOOD})
    assert re.fullmatch(r'"[ab] and [ab] differ by less than \d\.\d points \(95% CI\)\."', level[0])
    assert level[2].startswith("No set within reach: they are level")


@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_raw_output_is_not_compared_until_it_is_extracted() -> None:
    accepted = [own for _, own in GOOD]
    answers = {"good": [text for text, _ in GOOD], "poor": [text for text, _ in POOR]}
    answers["raw"] = [f"<think>Hm.</think>{text}" for text in answers["poor"]]

    def write_about(*names: str) -> list[str]:
        document = compare({name: answers[name] for name in names}, accepted).to_dict()
        return list(map(str, write_claims(document, PERCENT).sentences))

    can, cannot, decides = write_about("good", "raw")
    assert re.fullmatch(r'"good scores \d+\.\d ANLS \(95% CI .*\)\."', can)
    assert re.fullmatch(r'"raw scores \d+\.\d\." Of its raw output: after extraction it scores \d+\.\d\.', cannot)
    assert decides == "Extract the answers with think, and score again."
    answers["chatty"] = [text if n % 4 else f"The answer is {text}." for n, text in enumerate(answers["good"])]
    assert write_about("poor", "chatty")[0].startswith('"chatty scores higher than poor: ')  # all the same
    assert write_about("good", "chatty")[1].startswith('"chatty scores ')
    can, *others = write_about("good", "poor", "raw")
    assert can.startswith('"poor scores lower than good: ')
    assert others == [cannot, decides]


def test_of_several_models_the_widest_open_difference_is_named() -> None:
    can, cannot, _ = write({"good": GOOD, "same": GOOD, "near": NEAR, "poor": POOR})
    assert can.startswith('"poor scores lower than good: ')
    assert "after choosing the best of 4" in can
    assert cannot.startswith('"good beats near." p = ')
    assert cannot.endswith("after choosing the best of 4.")


def test_one_score_and_few_documents() -> None:
    can, cannot, _ = write({"one": GOOD})
    assert can.startswith('"one scores 9')
    assert "(95% CI " in can
    assert cannot.startswith('"one beats a model that scores ')
    few = write({"a": GOOD[:4], "b": POOR[:4]})
    assert few[1].endswith("4 questions are too few for a test.")


def test_sentences_on_one_document_say_what_hangs_on_it_and_its_share() -> None:
    left = OneDocument("a/bad.png", 6, 0.02, None, 0.02)
    pair = {"difference": 0.08, "p_value": 0.01, "p_value_adjusted": 0.04}
    assert left.describe(pair) == (
        "the verdict hangs on bad.png (6 questions): p = 0.04, which is close to 0.05, and 0.08 without it; "
        "this document is 75% of the difference: +8.0 points, and +2.0 without it"
    )
    small = left._replace(difference=0.078)
    assert small.describe(pair | {"p_value_adjusted": 0.026}) == (
        "the verdict hangs on bad.png (6 questions): p = 0.026, and 0.052 without it"
    )


def test_interval_that_decides_excludes_zero_exactly_where_there_is_a_verdict() -> None:
    shares = {name: make_answers(60, share) for name, share in zip("abcdef", (0.9, 0.8, 0.7, 0.6, 0.5, 0.4))}
    for options in ({}, {"baseline": "c"}, {"all_pairs": True}):
        scored = [score_pairs(pairs, name=name) for name, pairs in shares.items()]
        pairs: Any = build_document(conclude(scored, **options))["comparisons"]
        for pair in pairs:
            low, high = pair["deciding_interval"]
            assert (low > 0 or high < 0) == (pair["verdict"] in ("better", "worse"))
            assert low <= pair["interval"][0] <= pair["interval"][1] <= high
        assert {pair["verdict"] for pair in pairs} > {"no significant difference"}


def test_report_markdown_and_terminal_have_the_same_sentences() -> None:
    document = describe({"good": GOOD, "near": NEAR})
    claims = write_claims(document, PERCENT)
    page = build_report({"good": GOOD, "near": NEAR})
    for claim in claims.sentences:
        assert f"{claim.title}: {claim}" in as_text(document, PERCENT)
        assert f"- {claim.title}: {claim}" in as_markdown(document, PERCENT, ())
        assert claim.title in page
        assert claim.text.replace("-", "−") in page
