"""The rules of benchmarks: each branch, summaries, errors, and texts that attack the parser."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import rule
from anls_metric.rules import RULES
from anls_metric.rules.cleaning import delete_parentheses, is_exact
from anls_metric.rules.dates import _load_parser, parse_date
from anls_metric.rules.literals import parse_list
from tests.rules.cases import EXAMPLES, REFUSED, Example, is_scored_or_refused


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.words}")
def test_answer_has_the_score_and_the_reason_of_its_branch(example: Example) -> None:
    chosen = rule(example.rule)
    assert chosen.scores([example.row]) == [example.score]
    assert example.words in str(chosen.explain(example.row))


@pytest.mark.parametrize(("name", "row", "words"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_row_that_cannot_be_scored_is_refused_with_row_and_column(name: str, row: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rule(name).scores([row])


@pytest.mark.parametrize("row", [None, "text", 5, ["a"]])
def test_row_that_is_no_dict_is_refused(row: Any) -> None:
    words = "pass a dict with the columns answer_format, gold, prediction"
    with pytest.raises(ValueError, match=f"row 0 .*: {words}"):
        rule("longdocurl").scores([row])
    with pytest.raises(ValueError, match=f"question 7 .*: {words}"):
        rule("longdocurl").score(["a"], [row], lambda place: f"question {place + 7}")


@pytest.mark.parametrize("name", RULES)
def test_rule_describes_itself(name: str) -> None:
    chosen = rule(name)
    assert {"prediction", chosen.references} <= set(chosen.columns)
    assert all({**chosen.columns, **chosen.optional}.values())
    assert (chosen.name, chosen.meaning != "", chosen.source[:8]) == (name, True, "https://")
    assert chosen.signature().startswith(f"anls|{name}|")
    assert chosen.signature("last-line") == chosen.signature().replace("|v", "|extract:last-line|v")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("dud", {}, "did you mean dude?"),
        ("mmlongbenchdoc", {}, "did you mean mmlongbench_doc?"),
        ("qqqq", {}, "unknown rule 'qqqq': `anls variants` lists them"),
        ("madqa", {"threshold": 0.5}, "madqa has no option 'threshold'; leave it out"),
        ("dude", {"threshold": 5}, "threshold must be a number from 0 to 1, got 5"),
        ("dude", {"ignore_case": True}, "dude has no option 'ignore_case'; choose from threshold"),
    ],
)
def test_rule_that_does_not_exist_is_refused(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        rule(name, **options)


def dude_row(score: float, confidence: Any) -> dict[str, Any]:
    row = {"answer_type": "extractive", "gold": ["a"], "prediction": ["a" if score else "b"]}
    return row if confidence is None else {**row, "confidence": confidence}


def test_dude_takes_linear_time_for_equal_confidences() -> None:
    rows = [dude_row(place % 2, 0.5) for place in range(4000)]
    assert rule("dude").summary(rows)["aurc"] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("confidence", [-1, [-1], None])
def test_dude_without_a_confidence_has_no_aurc(confidence: Any) -> None:
    rows = [dude_row(1, confidence), dude_row(0, 0.1), dude_row(0, 0.1)]
    assert "aurc" not in rule("dude").summary(rows)


def madqa_row(prediction: str, **more: Any) -> dict[str, Any]:
    pages = {"evidence": [{"document": "a.pdf", "page": 1}], "citations": [{"file": "a.pdf", "page": 1}]}
    return {"answer_variants": [["a"]], "prediction": prediction, **pages, **more}


def test_steps_are_the_effort_under_madqa() -> None:
    rows = [madqa_row("a", steps=2, iterations=9), madqa_row("b", iterations=6)]
    assert rule("madqa").summary(rows)["wasted_effort_ratio"] == 3


NO_PLACE = r"of row 1 \(counted from 0\) must be an object such as"
# Rows without a summary, and words of the error.
WITHOUT_SUMMARY: list[tuple[str, list[dict[str, Any]], str]] = [
    ("dude", [dude_row(1, 0.5), dude_row(1, "high")], "confidence of row 1"),
    ("dude", [dude_row(1, 0.5), dude_row(1, [])], "confidence of row 1"),
    ("dude", [dude_row(1, 0.5), dude_row(1, {})], "confidence of row 1"),
    *(
        ("madqa", [madqa_row("a"), madqa_row("a", **{name: [{"doc": "a.pdf", "page": 1}]})], f"{name} {NO_PLACE}")
        for name in ("citations", "evidence")
    ),
    *((name, [], "there are no rows to score") for name in sorted({*RULES} - {"dude", "longdocurl", "madqa"})),
]


@pytest.mark.parametrize(("name", "rows", "words"), WITHOUT_SUMMARY)
def test_rows_without_a_summary_are_refused(name: str, rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rule(name).summary(rows)


# Hostile texts

HOSTILE = (
    "[" * 50_000,
    "[" * 150 + "]" * 150,
    "(" * 50_000,
    "'" * 50_001,
    "[" + "1," * 60_000 + "]",
    "9" * 50_000,
    "[" + "9" * 5_000 + "]",
    "[0x" + "f" * 5_000 + "]",
    "FINAL ANSWER:" * 5_000 + "1" * 5_000,
    "FINAL ANSWER: may " + "1 " * 20_000,
    "__import__('os').abort()",
    "[__import__('os').abort()]",
    *("[1, *[2]]", "{[1]: 2}", r"['\d']", "[1e999]", "1e999", "nan", "\0[", "\ud800[", " \t\n"),
    "a@" + "a." * 20_000,
)


def rows_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Make rows with the text as prediction or as accepted answer, for each rule and format."""
    rows: list[tuple[str, dict[str, Any]]] = []
    for prediction, gold in ((text, "a"), ("FINAL ANSWER: a", text), (text, text)):
        rows.append(("docvqa_2026", {"prediction": prediction, "gold": gold}))
        for kind in ("extractive", "list/extractive"):
            rows.append(("dude", {"answer_type": kind, "gold": [gold], "prediction": [prediction]}))
        for name in ("mmlongbench_doc", "mmlongbench_doc_lmms_eval", "longdocurl", "longdocurl_vlmevalkit"):
            for kind in ("Int", "Integer", "Float", "Str", "String", "None", "List"):
                rows.append((name, {"answer_format": kind, "gold": gold, "prediction": prediction}))
        row = {"question_type": "Factoid", "year": ["NO"], "answer": [gold], "prediction": prediction}
        rows += [("chartqapro", row), ("chartqapro_lmms_eval", row)]
        for kind in ("en", "cn", "case"):
            rows.append(("ocrbench_v2", {"rule": kind, "answers": [gold], "prediction": prediction}))
        rows.append(("madqa", {"answer_variants": [[gold]], "prediction": prediction}))
    return rows


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_text_is_scored_or_refused(text: str) -> None:
    for name, row in rows_of(text):
        assert is_scored_or_refused(name, row)


@given(st.text(max_size=12))
def test_any_text_equals_itself_under_dude_and_madqa(text: str) -> None:
    rows = [{"answer_type": kind, "gold": [text], "prediction": [text]} for kind in ("extractive", "list/extractive")]
    assert rule("dude").scores(rows) == [1.0, 1.0]
    assert rule("madqa").scores([{"answer_variants": [[text]], "prediction": text}]) == [1.0]


@given(st.text("()ab \n\u00a0", max_size=30))
def test_deleting_parentheses_equals_the_regular_expression_of_the_programs(text: str) -> None:
    assert delete_parentheses(text) == re.sub(r"\s*\([^)]*\)", "", text)


@given(st.text("a1@.- \u0661%", max_size=12))
def test_exact_texts_are_those_of_the_regular_expressions_of_the_programs(text: str) -> None:
    dates, mails = r"\d{4}[-\s]\d{2}[-\s]\d{2}", r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}"
    patterns = (r"\d+", r"\d+-\d+", r"\d+\s\d+", dates, mails)
    assert is_exact(text, (), (".py",)) == any(re.fullmatch(pattern, text) for pattern in patterns)


@given(st.lists(st.one_of(st.text(max_size=5), st.integers(), st.booleans()), max_size=4))
def test_list_is_read_from_its_text(items: list[Any]) -> None:
    assert parse_list(str(items)) == items


# Dates


def test_date_without_a_part_is_a_date_only_beside_the_same_text() -> None:
    assert len(set(parse_date("January 2024"))) == 2
    assert parse_date("January 2024") == parse_date("Jan 2024")


@pytest.mark.parametrize("text", ["Coca Cola", "the letter", "x" * 2000 + " 1"])
def test_text_without_a_date_is_none(text: str) -> None:
    assert parse_date(text) == ()


def test_dates_need_the_extra_only_where_a_date_may_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateutil", None)
    _load_parser.cache_clear()
    texts = [{"prediction": "FINAL ANSWER: Coca Cola", "gold": "Coca-Cola"}]
    assert rule("docvqa_2026").scores(texts) == [1.0]
    with pytest.raises(ValueError, match=r"row 0 .*pip install 'anls-metric\[rules\]'"):
        rule("docvqa_2026").scores([{"prediction": "FINAL ANSWER: May 31, 1987", "gold": "1987-05-31"}])
    _load_parser.cache_clear()
