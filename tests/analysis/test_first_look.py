"""The questions to look at first: which of them are said to be judged too strictly."""

from __future__ import annotations

from typing import Any

from anls_metric import score
from anls_metric.analysis.first_look import Case, choose_cases
from anls_metric.analysis.questions import join_questions


def choose(rows: list[dict[str, Any]]) -> list[Case]:
    scored = score(rows, variant="anls_star")["data"]
    return choose_cases([scored], join_questions([scored]), 0, -1)


def test_only_answers_that_people_would_accept_whole_are_judged_too_strictly() -> None:
    right = {"date": "1 May 2024", "currency": "GBP"}
    rows = [{"id": n, "prediction": {**right, "date": "2024-05-01"}, "answers": right} for n in range(2)]
    assert [(case.row, case.cause) for case in choose(rows) if case.is_strict] == [(0, "another form")]
    rows = [{**row, "prediction": {"date": "2024-05-01", "currency": None}} for row in rows]
    assert [(case.cause, case.is_strict) for case in choose(rows)] == [("another form", False), ("missed", False)]
