"""Columns that are an answer together: two tables with a column for each field of a document."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric import compare, score
from tests.reading.conftest import Shell, read

STAR = "--variant anls_star"
ROWS = [{"file": f"{n}.pdf", "vendor": f"Vendor {n}", "date": f"{n}.5.", "total": f"{n}.00"} for n in range(12)]
OUT = [{**row, "total": "x"} for row in ROWS[::-1]]
SCORE = pytest.approx(2 / 3)
OFFER = (
    "its answers span several columns (vendor,date,total): to compare column by column, add --fields vendor,date,total"
)


@pytest.fixture
def tables(shell: Shell) -> Shell:
    shell.write({"g.csv": ROWS, "x.csv": OUT})
    return shell


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--fields *",
        "--fields total,date,vendor",
        "--prediction-field vendor,date,total --references-field vendor,date,total",
        "--prediction-field date,vendor,total --references-field 'vendor, date, total' --id-field file",
    ],
)
def test_columns_of_one_name_are_an_object_for_each_row(tables: Shell, options: str) -> None:
    line = f"g.csv x.csv {STAR} {options}"
    assert tables.scores(line) == [SCORE]
    assert read(tables, line).endswith(" of g.csv, joined by file: 12 of 12")
    tables.write({"same.csv": ROWS})
    assert tables.scores(f"{line} same.csv") == [SCORE, 1.0]


def test_columns_are_chosen(tables: Shell) -> None:
    assert tables.scores(f"g.csv x.csv {STAR} --fields date,vendor --quiet") == [1.0]
    assert read(tables, f"g.csv x.csv {STAR} --fields date,total").startswith(
        "date, total (prediction) of x.csv, date, to"
    )
    error = tables.error(f"g.csv x.csv {STAR} --fields date,totl")
    assert error == "g.csv: no field 'totl' for --fields: did you mean 'total'?"
    assert score(OUT, ROWS, variant="anls_star", fields="*").anls == SCORE
    assert compare({"a": OUT, "b": ROWS}, ROWS, variant="anls_star", fields=["total"])["a"].anls == 0.0


def test_names_of_columns_may_be_spelled_differently(tables: Shell) -> None:
    tables.write({"y.csv": [{name.title(): value for name, value in row.items()} for row in OUT]})
    assert tables.scores(f"g.csv y.csv {STAR}") == [SCORE]
    assert tables.scores(f"g.csv y.csv {STAR} --fields vendor,DATE --quiet") == [1.0]
    assert read(tables, f"g.csv y.csv {STAR} --fields vendor").startswith(
        "Vendor (prediction) of y.csv, vendor (references"
    )


def test_columns_left_out_may_differ(tables: Shell) -> None:
    assert tables.scores(f"g.csv x.csv {STAR} --fields vendor,date") == [1.0]
    assert "different" not in tables.type(f"g.csv x.csv {STAR} --fields vendor,date").err
    tables.write({"y.csv": [{**row, "file": ROWS[n - 1]["file"], "id": n} for n, row in enumerate(ROWS)]})
    tables.write({"h.csv": [{**row, "id": n} for n, row in enumerate(ROWS)]})
    assert "12 of 12 answers have a different file in h.csv" in tables.error(f"h.csv y.csv {STAR} --fields vendor")


def test_error_for_columns_offers_the_option(tables: Shell) -> None:
    assert tables.error("g.csv x.csv") == f"g.csv: {OFFER} and --variant anls_star"
    tables.write({"more.csv": [{**row, "seconds": "3"} for row in OUT]})
    assert tables.error(f"g.csv more.csv {STAR}") == f"g.csv: {OFFER}"
    assert tables.scores(f"g.csv more.csv {STAR} --fields *") == [SCORE]
    bare = [[{name: row[name] for name in row if name != "file"} for row in rows] for rows in (ROWS, OUT)]
    tables.write({"g2.csv": bare[0], "x2.csv": bare[1]})
    assert tables.error(f"g2.csv x2.csv {STAR}") == f"g2.csv: {OFFER}; join the rows with --id-field"
    renamed = [{"filename": row["file"], **bare} for row, bare in zip(OUT, bare[1])]
    tables.write({"x3.csv": renamed})  # in another order, under another name
    assert tables.error(f"g.csv x3.csv {STAR}") == f"g.csv: {OFFER}; join the rows with --id-field"
    assert tables.scores(f"g.csv x3.csv {STAR} --gold-id-field file --id-field filename") == [SCORE]


@pytest.mark.parametrize("name", ["invoice_id", "invoiceId", "INVOICE ID"])
def test_column_named_like_an_id_is_no_part_of_the_offered_answer(shell: Shell, name: str) -> None:
    gold, out = (
        [{name: row["file"], **{key: row[key] for key in row if key != "file"}} for row in rows] for rows in (ROWS, OUT)
    )
    shell.write({"g.jsonl": gold, "x.jsonl": out})
    assert OFFER in shell.error("g.jsonl x.jsonl")
    flag = f"'{name}'" if " " in name else name
    assert shell.error(f"g.jsonl x.jsonl {STAR}").endswith(f"{OFFER}; join the rows with --id-field {flag}")
    assert shell.scores(f"g.jsonl x.jsonl {STAR} --fields vendor,date,total --id-field {flag}") == [SCORE]
    repeated = [{**row, name: "a"} for row in gold]
    shell.write({"g.jsonl": repeated, "x.jsonl": repeated})
    assert f"({name},vendor,date,total)" in shell.error(f"g.jsonl x.jsonl {STAR}")


def test_column_is_not_compared_with_itself_or_with_another(tables: Shell) -> None:
    names = "--references-field vendor,date --prediction-field vendor,date"
    assert "--fields compares the columns of two files: pass a gold file" in tables.error(f"g.csv {names}")
    swapped = [{**row, "vendor": row["date"], "date": row["vendor"]} for row in ROWS]
    tables.write({"swapped.csv": swapped})
    message = "--fields turns each row into an object: to score objects, add --variant anls_star"
    assert tables.error(f"g.csv swapped.csv {names}") == message
    assert tables.scores(f"g.csv swapped.csv {names} {STAR} --quiet") == [0.0]


# Two tables that do not have the same columns, or columns that are no part of an answer.
OTHERS: dict[str, tuple[list[Any], list[Any]]] = {
    "a column in one of them": ([{**row, "want": "a"} for row in ROWS], [{**row, "guess": "a"} for row in OUT]),
    "facts about questions": ([{"id": n, "image": "a"} for n in range(3)], [{"id": n, "image": "a"} for n in range(3)]),
    "one column": ([{"id": n, "kind": "a"} for n in range(3)], [{"id": n, "kind": "a"} for n in range(3)]),
}


@pytest.mark.parametrize("case", OTHERS)
def test_columns_are_no_answer_unless_they_are_the_same(shell: Shell, case: str) -> None:
    shell.write(dict(zip(("g.csv", "x.csv"), OTHERS[case])))
    assert "several columns" not in shell.error("g.csv x.csv")
    assert "several columns" not in shell.error(f"g.csv x.csv {STAR}")


def test_cells_are_values() -> None:
    gold = [{"id": 1, "items": '[{"n": "tea"}, {"n": "milk"}]', "tip": "", "vat": ""}]
    out = [{"id": 1, "items": '[{"n": "milk"}, {"n": "tea"}]', "tip": "", "vat": "2"}]
    assert score(out, gold, variant="anls_star").anls == 0.75


def test_fields_of_records_by_id_are_chosen(shell: Shell) -> None:
    records = {f"d{n}": {"vendor": f"V{n}", "total": f"{n}"} for n in range(3)}
    shell.write({"g.json": records, "x.json": {key: {**own, "tokens": 7} for key, own in records.items()}})
    assert shell.scores(f"g.json x.json {STAR} --fields vendor,total") == [1.0]
