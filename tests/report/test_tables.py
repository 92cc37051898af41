"""Scored sets as tables."""

from __future__ import annotations

import csv
import io

import pytest

from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.rows import Row
from anls_metric.report.tables import to_csv


def table(*rows: Row) -> list[dict[str, str]]:
    scored_set = ScoredSet(keep=True)
    scored_set.add(rows)
    return list(csv.DictReader(io.StringIO(to_csv(scored_set), newline="")))


def test_every_answer_is_a_line() -> None:
    first, second = table(Row("7", "CocaCola", ["Coca Cola", "Cola"], {}), Row("8", None, ['a,"b"\nc'], {}))
    assert first == {
        "id": "7",
        "prediction": "CocaCola",
        "references": '["Coca Cola", "Cola"]',
        "score": "0.8888888888888888",
        "similarity": "0.8888888888888888",
        "zero": "",
        "signature": ScoredSet().signature,
    }
    assert (second["prediction"], second["references"], second["zero"]) == ("", '["a,\\"b\\"\\nc"]', "missing")


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@a", "\tx", "\rx"])
def test_a_spreadsheet_runs_no_answer(formula: str) -> None:
    (line,) = table(Row(formula, formula, [formula], {}))  # and stays on its line
    assert line["id"] == line["prediction"] == "'" + formula
    assert line["references"].startswith('["')


def test_half_of_a_surrogate_pair_can_be_saved() -> None:
    (line,) = table(Row("a", "\ud800b", ["\ud800b"], {}))
    assert line["prediction"] == "?b"
