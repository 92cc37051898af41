"""Lists and nested values, through the command and Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anls_metric import anls_star_scores, score
from anls_metric.core import values as nested
from anls_metric.core.scorer import get_scorer
from anls_metric.reading.files import read_file
from tests.system.conftest import Shell

INVOICE = {"total": "12.50", "items": [{"name": "tea", "price": "2.50"}, {"name": "milk"}]}
FENCED = f"Here:\n```json\n{json.dumps(INVOICE)}\n```"
GOLD: dict[str, Any] = {
    "1": INVOICE,
    "2": ["Air", "Bus", ("Other", "Others")],
    "3": {"date": ("31.12.2023", "31 Dec 2023"), "paid": True, "tip": None},
    "4": "Coca Cola",
}
ANSWERS: dict[str, Any] = {
    "1": {"total": 12.5, "items": [{"name": "milk"}, {"name": "tee", "price": "2.50"}]},
    "2": ["bus", "others"],
    "3": {"date": "31 Dec 2023", "paid": "yes", "note": None},
    "4": "CocaCola",
}


@pytest.fixture
def values(shell: Shell) -> Shell:
    for name, values in (("g.json", GOLD), ("x.json", ANSWERS)):
        shell.write({name: [{"id": key, "answer": nested.to_json(value)} for key, value in values.items()]})
    return shell


LINE = "-g g.json x.json --variant anls_star"


def test_command_has_the_scores_of_the_public_functions(values: Shell) -> None:
    answers = [answer["score"] for answer in score("x.json", "g.json", variant="anls_star").answers()]
    assert answers == anls_star_scores(ANSWERS.values(), GOLD.values())
    options: dict[str, Any]
    for flags, options in (
        ("", {}),
        ("--average leaves", {"average": "leaves"}),
        ("--none-keys ignored", {"none_keys": "ignored"}),
        ("--threshold 0.9", {"threshold": 0.9}),
        ("--ignore-keys total,items.name", {"ignore_keys": ("total", "items.name")}),
    ):
        variant = get_scorer("anls_star", **options)
        assert values.scores(f"{LINE} {flags}") == [variant.mean(variant.score(ANSWERS.values(), GOLD.values()))]


def test_keys_break_the_score_down(values: Shell) -> None:
    keys = values.document(f"{LINE} --by-key")["submissions"][0]["groups"]["key of the value"]
    assert {name: group["anls"] for name, group in keys.items()}["items.name"] == pytest.approx((1 + 2 / 3) / 2)
    assert "\nANLS* by key of the value\n" in values.print(f"{LINE} --by-key")


@pytest.mark.parametrize("ending", [".csv", ".jsonl", pytest.param(".parquet", marks=pytest.mark.needs("pyarrow"))])
def test_output_has_a_row_for_each_leaf(values: Shell, ending: str) -> None:
    values.print(f"{LINE} --output-rows leaves --output leaves{ending}")
    rows = list(read_file(f"leaves{ending}").records)
    assert list(rows[0]) == ["submission", "id", "key", "path", "outcome", "prediction", "reference", "score"]
    assert [(row["key"], row["path"], row["outcome"]) for row in rows if row["id"] == "1"] == [
        ("total", "total", "close"),
        ("items.name", "items[1].name", "close"),
        ("items.price", "items[1].price", "right"),
        ("items.name", "items[0].name", "right"),
    ]
    leaves = score("x.json", "g.json", variant="anls_star", by_key=True).leaves()
    assert [(leaf["path"], leaf["score"]) for leaf in leaves] == [(row["path"], float(row["score"])) for row in rows]


DOCUMENTS: dict[str, Any] = {
    f"scan_{number:02}": {"id": f"X{number}", "total": f"{number}.50", "items": [{"name": "tea"}]}
    for number in range(12)
}
READ: dict[str, Any] = {
    key: {**value, "total": value["total"] if number > 2 else f"9{number}.99"}
    for number, (key, value) in enumerate(DOCUMENTS.items())
}
READ["scan_00"] = {**DOCUMENTS["scan_00"], "id": "X1"}  # an id inside that was misread


def write_documents(shell: Shell) -> None:
    rows = [{"file": f"in/{key}.pdf", "answers": value} for key, value in reversed(DOCUMENTS.items())]
    cells = [[key, field, value[field]] for key, value in DOCUMENTS.items() for field in ("id", "total")]
    lines = ["document,field,value", *(",".join(row) for row in cells)]
    texts = [{"file": f"in/{key}.pdf", "output": f"```json\n{json.dumps(value)}\n```"} for key, value in READ.items()]
    shell.write(
        {
            "gold.json": DOCUMENTS,
            "read.json": READ,
            "rows.json": rows,
            "texts.json": texts,
            "status.json": {key: {"status": "ok", "data": value} for key, value in READ.items()},
            "gold.csv": "\n".join(lines),
            "read.csv": "\n".join(lines[:1] + sorted(lines[1:], reverse=True)),
            **{f"gold/{key}.json": value for key, value in DOCUMENTS.items()},
            **{f"read/{key}_out.json": value for key, value in READ.items()},
        }
    )


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("gold.json read.json", "the keys of an object"),
        ("gold read", 'the file names without "_out" and the file names'),
        ("gold.json read", 'the file names without "_out" and the keys of an object'),
        ("rows.json read.json", "the keys of an object and file without folders and extension"),
        ("rows.json texts.json --extract json", "file"),
        ("gold.json status.json --prediction-field data", "the keys of an object"),
    ],
)
def test_files_of_documents_are_joined_by_what_names_them(shell: Shell, line: str, how: str) -> None:
    """And not by an id inside of a value, which is a part of the answer; nor do wrong values contradict the join."""
    write_documents(shell)
    done = shell.type(f"{line} --variant anls_star --threshold 0.2")
    assert f"joined by    {how}, 12 of 12" in done.out
    assert (done.status, "different" in done.err) == (0, False)
    assert shell.scores(f"{line} --variant anls_star --threshold 0.2 --quiet") != [1.0]


def test_rows_of_document_field_and_value_are_values(shell: Shell) -> None:
    write_documents(shell)
    fields = "--id-field document,field --references-field value --prediction-field value"
    assert shell.scores(f"gold.csv read.csv {fields} --variant anls_star") == [1.0]


def test_worst_values_are_shown_by_their_leaves(values: Shell) -> None:
    (worst,) = values.document(f"{LINE} --worst 1")["submissions"][0]["worst"]
    assert worst["closest_reference"] == {"date": "31 Dec 2023", "paid": True}
    leaves = [(leaf["where"], leaf["score"]) for leaf in worst["leaves"]]
    assert leaves == [("date", 1.0), ("paid", 0.0), ("tip", 1.0), ("note", 0.0)]
    assert "\n  leaves      paid: " in values.print(f"{LINE} --worst 1")


def test_results_have_values_as_json(values: Shell) -> None:
    values.print(f"{LINE} --output out")
    samples = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["per_sample_result"]
    assert (samples["1"]["det"], samples["1"]["gt"]) == (ANSWERS["1"], [INVOICE])
    assert samples["3"]["gt"] == [{"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "paid": True, "tip": None}]


@pytest.mark.parametrize(
    ("gold", "answer", "flags", "expected"),
    [
        (None, "", "", 1.0),
        (None, "x", "", 0.0),
        (INVOICE, FENCED, "--quiet", 0.0),
        (INVOICE, FENCED, "--extract fence,json", 1.0),
    ],
)
def test_score_of_a_value(shell: Shell, gold: Any, answer: str, flags: str, expected: float) -> None:
    """Null is an accepted value. Raw output is extracted before it is parsed."""
    shell.write({"g.json": [{"id": 1, "answer": gold}], "x.json": {"1": answer}})
    assert shell.scores(f"-g g.json x.json --variant anls_star {flags}") == [expected]


def test_dicts_in_a_list_are_records_if_their_fields_are_named() -> None:
    gold = [{"doc_id": f"d{n}", "fields": {"a": str(n)}} for n in range(4)]
    answers = [{"doc_id": f"d{n}", "raw_output": {"a": str(n)}} for n in (2, 1, 3, 0)]
    scores = score(answers, gold=gold, prediction="raw_output", references="fields", variant="anls_star")
    assert (scores.anls, scores.to_dict()["submissions"][0]["source"]["joined_by"]) == (1.0, "doc_id")


def test_dicts_in_a_list_are_answers_in_python() -> None:
    assert score([{"a": "b"}], [{"a": "b"}], variant="anls_star").anls == 1.0
    assert score([["b"]], [{"__tuple__": [["a"], ["b"]]}], variant="anls_star").anls == 1.0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            "--variant anls_star --references-separator ';'",
            "--references-separator applies only to strings: leave it out",
        ),
        (
            "--variant anls_star --metrics f1",
            "for structured answers, --metrics supports only exact_match, pages and abstention",
        ),
        (
            "--variant anls_star --output-rows leaves",
            "needs a file to write the rows to: add --output leaves.csv",
        ),
        (
            "--variant anls_star --output-rows leaves --output a.json",
            "needs a file to write the rows to: add --output leaves.csv",
        ),
        ("--output-rows leaves --output a.csv", "--output-rows needs the leaves of ANLS*: use --variant anls_star"),
        ("--variant anlsl --by-key", "--by-key needs the leaves of ANLS*: use --variant anls_star"),
        ("--variant anls_star --ignore-case", "anls_star has no option 'ignore_case'"),
        ("--variant anlsl --average leaves", "anlsl has no option 'average'"),
        ("--variant anls_stars", "did you mean anls_star?"),
        ("--variant dude,rrc", "dude cannot be combined with other variants: pass it alone"),
        ("--variant dude --ignore-case", "has no option 'ignore_case'"),
        ("--variant dude --metrics f1", "--metrics applies only to strings: leave it out"),
        ("--variant dude --corrections c.json", "--corrections does not apply to benchmark metrics: leave it out"),
        ("", "}: score lists and objects with --variant anls_star"),
        ("--references-field answer.total --missing zero", "record 2: 'answer.total' is null or missing"),
    ],
)
def test_option_that_does_not_fit_values_is_an_error(values: Shell, flags: str, words: str) -> None:
    assert words in values.error(f"-g g.json -s x.json {flags}")


@pytest.mark.parametrize(
    ("gold", "answer", "words"),
    [
        ("a", None, "x.json, record 1: 'answer' is null or missing"),
        ("a", {"__tuple__": ["a", "b"]}, "question 1 is a tuple, which in a reference means one of several"),
        ({"x": [{"__tuple__": ["a"], "b": "c"}]}, "a", "g.json, record 1: "),
    ],
)
def test_value_that_cannot_be_scored_is_an_error(shell: Shell, gold: Any, answer: Any, words: str) -> None:
    shell.write({"g.json": [{"id": 1, "answers": gold}], "x.json": [{"id": 1, "answer": answer}]})
    assert words in shell.error("-g g.json x.json --variant anls_star")
