"""The command anls on lists and nested values."""

from __future__ import annotations

import csv
import datetime
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anls_metric import nested, score
from anls_metric.analysis.significance import interval, student_t
from tests.conftest import SHARED, without_questions
from tests.system.conftest import Run, parse_document, run_to_error, write
from tests.system.test_command_line import FILES, SCORE

STAR = ["--variant", "anls_star"]

INVOICE = {"total": "12.50", "items": [{"name": "tea", "price": "2.50"}, {"name": "milk"}]}
GOLD: dict[str, Any] = {
    "1": INVOICE,
    "2": ["Air", "Bus", ("Other", "Others")],
    "3": {"date": ("31.12.2023", "31 Dec 2023"), "paid": True, "tip": None},
    "4": None,
    "5": "Coca Cola",
}
ANSWERS: dict[str, Any] = {
    "1": {"total": 12.5, "items": [{"name": "milk"}, {"name": "tee", "price": "2.50"}]},
    "2": ["bus", "others"],
    "3": {"date": "31 Dec 2023", "paid": "yes", "note": None},
    "4": "",
    "5": "CocaCola",
}
ROWS = nested.score_rows(ANSWERS.values(), GOLD.values())
SCORES = [row.score for row in ROWS]


def as_records(values: dict[str, Any], field: str) -> list[dict[str, Any]]:
    return [
        {"id": key, field: nested.to_json(value), "image": f"page {int(key) // 3}"} for key, value in values.items()
    ]


def as_lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, records))


def as_texts(records: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """Convert objects and lists in records to JSON texts."""
    return [
        {**record, field: json.dumps(record[field]) if isinstance(record[field], (list, dict)) else record[field]}
        for record in records
    ]


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    gold = write(tmp_path / "gold.json", as_records(GOLD, "answers"))
    return ["--gold", gold, write(tmp_path / "a.json", as_records(ANSWERS, "answer"))]


def read_results(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return document


# Numbers


def test_command_prints_the_summary_of_values(run: Run, files: list[object]) -> None:
    low, high = interval(SCORES)
    status, out, _ = run(*files, *STAR, "--cluster-by", "none")
    assert (status, without_questions(out)) == (
        0,
        f"ANLS*      {nested.mean(ROWS):.4f}\n"
        "questions  5\n"
        f"95 %       {low:.4f} to {high:.4f}\n"
        "exact      0.2000\n"
        "contains   0.2000\n"
        "scored 0   0\n"
        f"signature  {nested.signature()}\n",
    )


@pytest.mark.parametrize("average", ["rows", "leaves"])
def test_average_takes_rows_or_leaves(run: Run, files: list[object], average: Any, tmp_path: Path) -> None:
    document = parse_document(run(*files, *STAR, "--average", average, "--format", "json", "--output-dir", tmp_path)[1])
    assert document["anls"] == nested.mean(ROWS, average)
    assert without_questions(document["signature"]) == nested.signature(average=average)
    samples = read_results(tmp_path)["per_sample_result"]
    assert [samples[key]["score"] for key in GOLD] == SCORES
    assert 0.3 < min(SCORES) < max(SCORES) == 1
    assert nested.mean(ROWS) != nested.mean(ROWS, "leaves")


def test_flags_are_the_options_of_anls_star(run: Run, files: list[object]) -> None:
    options: dict[str, Any] = {"threshold": 0.9, "none_keys": "ignored"}
    document = parse_document(
        run(*files, *STAR, "--anls-threshold", 0.9, "--none-keys", "ignored", "--format", "json")[1]
    )
    assert document["anls"] == nested.mean(nested.score_rows(ANSWERS.values(), GOLD.values(), **options))
    assert without_questions(document["signature"]) == nested.signature(**options)


def test_variant_anlsl_scores_lists(run: Run, tmp_path: Path) -> None:
    gold, answers = [["tea", "cola"], ["a", "b", "b"]], [["Cola", "tea", "milk"], "b"]
    records = [{"references": value, "prediction": other} for value, other in zip(gold, answers)]
    status, out, err = run(
        write(tmp_path / "both.json", records), "--variant", "anlsl", "--format", "json", "--worst", 1
    )
    assert (status, err) == (0, "")
    document = parse_document(out)
    assert document["anls"] == (2 / 3 + 1 / 2) / 2
    assert without_questions(document["signature"]) == nested.signature("anlsl")
    assert [leaf["where"] for leaf in document["worst"][0]["leaves"]] == ["[0]", "[0]", "[2]"]
    assert run(tmp_path / "both.json", "--variant", "anlsl")[1].startswith("ANLSL      0.5833\n")


def test_interval_of_leaves_takes_rows_as_clusters(run: Run, files: list[object]) -> None:
    """The ratio of two sums over rows, computed from the rows by the formula."""
    document = parse_document(run(*files, *STAR, "--average", "leaves", "--cluster-by", "none", "--format", "json")[1])
    mean = nested.mean(ROWS, "leaves")
    squares = sum((sum(row.scores) - mean * row.length) ** 2 for row in ROWS)
    half = student_t(0.95, 4) * (5 / 4 * squares) ** 0.5 / sum(row.length for row in ROWS)
    assert document["interval"] == pytest.approx([mean - half, min(1, mean + half)])
    by_page = parse_document(run(*files, *STAR, "--average", "leaves", "--format", "json")[1])
    assert by_page["clusters"] == {"field": "image", "count": 2}
    assert by_page["interval"] != document["interval"]


def test_by_key_breaks_down_by_key(run: Run, files: list[object]) -> None:
    groups = parse_document(run(*files, *STAR, "--by-key", "--format", "json")[1])["groups"]["key of the value"]
    expected = nested.explain_star(ANSWERS["1"], GOLD["1"]).key_scores
    assert groups["items"]["anls"] == expected["items"].score
    assert groups["items.name"]["anls"] == expected["items"].children["name"].score
    assert groups["paid"] == {"anls": 0.0, "interval": None, "questions": 1}
    assert "by key of the value" in run(*files, *STAR, "--by-key")[1]


def test_by_key_counts_keys_of_a_missing_answer_as_0(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", as_records({"1": INVOICE, "2": INVOICE, "3": INVOICE}, "answers"))
    answers = write(tmp_path / "a.json", as_records({"1": INVOICE, "2": ["12.50"]}, "answer"))
    out = run("--gold", gold, answers, *STAR, "--by-key", "--missing", "zero", "--format", "json")[1]
    groups = parse_document(out)["groups"]["key of the value"]
    assert groups["total"] == groups["items.price"] == {"anls": 1 / 3, "interval": [0.0, 1.0], "questions": 3}


# Files


def test_anls_star_scores_texts_as_standard(run: Run) -> None:
    assert parse_document(run(*FILES, *STAR, "--format", "json")[1])["anls"] == SCORE


LAYOUTS = SHARED / "layouts"


@pytest.mark.skipif(not LAYOUTS.is_dir(), reason="the files of other programs are not on this machine (../shared)")
def test_anls_star_scores_texts_of_every_program_as_standard(run: Run) -> None:
    manifest = json.loads((LAYOUTS / "MANIFEST.json").read_text())
    compared = 0
    for name in [
        entry["file"] for entry in manifest if entry.get("references") and (LAYOUTS / entry["file"]).is_file()
    ]:
        status, out, _ = run(LAYOUTS / name, "--format", "json")
        if status == 0:
            assert (
                parse_document(run(LAYOUTS / name, *STAR, "--format", "json")[1])["anls"] == parse_document(out)["anls"]
            ), name
            compared += 1
    assert compared > 15


def write_parquet(path: Path, records: list[dict[str, Any]]) -> Path:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.Table.from_pylist(records), path)
    return path


def write_csv(path: Path, records: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def test_values_are_read_from_json_lines(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", as_lines(as_records(GOLD, "answers")))
    answers = write(tmp_path / "a.jsonl", as_lines(as_records(ANSWERS, "answer")))
    assert parse_document(run("--gold", gold, answers, *STAR, "--format", "json")[1])["anls"] == nested.mean(ROWS)


def test_values_are_read_from_parquet_with_structs(run: Run, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "prediction": {"total": "12.50", "items": ["tea"]},
            "references": {"total": "12.50", "items": ["tea", "milk"]},
        },
        {"prediction": {"total": None, "items": ["x"]}, "references": {"total": "7", "items": None}},
    ]
    path = write_parquet(tmp_path / "both.parquet", rows)
    expected = nested.anls_star_scores(*zip(*(row.values() for row in rows)))
    assert 0 < expected[0] < 1
    document = parse_document(run(path, *STAR, "--format", "json", "--output-dir", tmp_path)[1])
    assert [value["score"] for value in read_results(tmp_path)["per_sample_result"].values()] == expected
    assert document["questions"] == 2


@pytest.mark.parametrize(("ending", "write_file"), [("csv", write_csv), ("parquet", write_parquet), ("json", write)])
def test_json_texts_are_read_with_a_note(
    run: Run, tmp_path: Path, ending: str, write_file: Callable[[Path, list[dict[str, Any]]], Path]
) -> None:
    keys = ["1", "2", "3", "5"]  # a table of texts has no null
    gold = as_texts(as_records({key: GOLD[key] for key in keys}, "answers"), "answers")
    answers = as_texts(as_records({key: ANSWERS[key] for key in keys}, "answer"), "answer")
    files = write_file(tmp_path / f"gold.{ending}", gold), write_file(tmp_path / f"a.{ending}", answers)
    status, out, err = run("--gold", *files, *STAR, "--format", "json")
    assert status == 0
    assert parse_document(out)["anls"] == nested.mean([ROWS[0], ROWS[1], ROWS[2], ROWS[4]])
    assert err.splitlines()[:2] == [
        f"anls: {files[0]}: texts of 'answers' that are JSON are read as JSON",
        f"anls: {files[1]}: texts of 'answer' that are JSON are read as JSON",
    ]


def test_text_that_only_looks_like_json_is_refused_as_a_reference(run: Run, tmp_path: Path) -> None:
    gold = [{"id": 1, "answers": "[redacted]"}, {"id": 2, "answers": "0.10"}, {"id": 3, "answers": "['a', 'b']"}]
    answers = [{"id": 1, "answer": "[redacted]"}, {"id": 2, "answer": "0.10"}, {"id": 3, "answer": '["b"]'}]
    files = write(tmp_path / "gold.json", gold), write(tmp_path / "a.json", answers)
    assert parse_document(run("--gold", *files, *STAR, "--format", "json")[1])["anls"] == (1 + 1 + 0.5) / 3
    write(tmp_path / "gold.json", [{"id": 1, "answers": "{'a': 1}"}])
    write(tmp_path / "a.json", [{"id": 1, "answer": "x"}])
    error = run_to_error(run, "--gold", *files, *STAR)
    assert (
        "gold.json, question 1: 'answers' is \"{'a': 1}\" (str), which looks like a list or object: write it" in error
    )


def test_extract_json_removes_fences_and_prose(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", as_records({"1": INVOICE, "2": ["a"]}, "answers"))
    outputs = {"1": f"Here it is:\n```json\n{json.dumps(INVOICE, indent=1)}\n```", "2": 'The answer is ["a"].'}
    answers = write(tmp_path / "a.json", [{"id": key, "answer": text} for key, text in outputs.items()])
    _, out, err = run("--gold", gold, answers, *STAR, "--extract", "fence,json", "--format", "json")
    assert parse_document(out)["anls"] == 1
    assert without_questions(parse_document(out)["signature"]) == nested.signature(extract="fence,json")
    assert "texts of 'answer' that are JSON" in err
    status, out, err = run("--gold", gold, answers, *STAR)
    assert (status, out.splitlines()[0]) == (0, "ANLS*      0.0000")
    assert "hint: 2 of 2 predictions look like raw model output: extract the answers with --extract json" in err


def test_list_by_id_is_an_answer(run: Run, tmp_path: Path) -> None:
    files = write(tmp_path / "gold.json", {"7": ["a", "b"]}), write(tmp_path / "a.json", {"7": ["b"]})
    assert parse_document(run("--gold", *files, *STAR, "--format", "json")[1])["anls"] == 0.5


CHECKBOXES: list[dict[str, Any]] = [
    {"name": "d1", "annotations": [("Air?", ["Yes"]), ("Travel by?", ["Air", "Bus", ("Other", "Others")])]},
    {"name": "d2", "annotations": [("Class?", ["x"]), ("Class?", ["Coach"]), ("Box?", ["none"])]},
]
BOXES: list[dict[str, Any]] = [
    {"name": "d1", "annotations": [("Travel by?", ["Air"]), ("Air?", ["Yes"])]},
    {"name": "d2", "annotations": [("Box?", ["none"])]},
]


def make_due(documents: list[dict[str, Any]]) -> str:
    def value(of: Any) -> dict[str, Any]:
        return {"value": of[0], "value_variants": list(of)} if isinstance(of, tuple) else {"value": of}

    return as_lines(
        [
            {
                "name": document["name"],
                "annotations": [
                    {"id": number, "key": key, "values": list(map(value, values))}
                    for number, (key, values) in enumerate(document["annotations"])
                ],
            }
            for document in documents
        ]
    )


def test_checkboxqa_has_the_score_of_its_program(run: Run, tmp_path: Path) -> None:
    """One call for the whole set, a dict of documents, gives the mean over leaves."""
    files = write(tmp_path / "gold.jsonl", make_due(CHECKBOXES)), write(tmp_path / "GPT.jsonl", make_due(BOXES))
    gold = {
        "d1": {"Air?": ["Yes"], "Travel by?": ["Air", "Bus", ("Other", "Others")]},
        "d2": {"Class?": ["Coach"], "Box?": [None]},
    }
    answers = {"d1": {"Air?": ["Yes"], "Travel by?": ["Air"]}, "d2": {"Box?": [None]}}
    arguments = ["--gold", *files, *STAR, "--missing", "zero", "--format", "json"]
    status, out, err = run(*arguments, "--average", "leaves")
    assert status == 0, err
    assert parse_document(out)["anls"] == nested.anls_star_score(answers, gold) == 3 / 6
    by_rows = parse_document(run(*arguments)[1])
    assert by_rows["anls"] == math.fsum([1, 1 / 3, 0, 1]) / 4
    assert by_rows["questions"] == 4
    assert "GPT.jsonl: read as due" in err


# Notes and hints


def test_values_have_outcomes_and_worst_answers(run: Run, tmp_path: Path) -> None:
    rows: list[tuple[Any, Any, str]] = [
        ({"a": "b"}, {"a": "b"}, "equal"),
        (["a", "x"], ["a", "b"], "close enough"),
        ([], ["a"], "empty"),
        (["It is Coca Cola, 1886"], "Coca Cola", "contains an answer"),
        ("Coca Cola", {"brand": "Coca Cola"}, "part of an answer"),
        ("I cannot answer", ["a"], "refusal"),
        ({"n": "1988"}, {"n": "2019"}, "other"),
        (False, ["a"], "other"),
    ]
    records = [{"prediction": prediction, "references": reference} for prediction, reference, _ in rows]
    path = write(tmp_path / "both.json", records)
    document = parse_document(run(path, *STAR, "--format", "json", "--worst", 8)[1])
    assert [answer["outcome"] for answer in sorted(document["worst"], key=lambda answer: int(answer["id"]))] == [
        row[2] for row in rows
    ]
    assert (document["exact_match"], document["contains"]) == (1 / 8, 2 / 8)
    shown = run(path, *STAR, "--worst", 8)[1]
    assert "question 3  score 0.0000  0 of 1 leaves right" in shown
    assert "  leaves      [1]: 1 edit on 1 character from 'b'" in shown


def test_worst_names_leaves_by_their_path(run: Run, files: list[object]) -> None:
    (worst,) = parse_document(run(*files, *STAR, "--format", "json", "--worst", 1)[1])["worst"]
    assert worst["prediction"] == ANSWERS["3"]
    assert worst["closest_reference"] == {"date": "31 Dec 2023", "paid": True}
    assert [(leaf["where"], leaf["score"]) for leaf in worst["leaves"]] == [
        ("date", 1.0),
        ("paid", 0.0),
        ("tip", 1.0),
        ("note", 0.0),
    ]


def test_results_file_holds_the_values(run: Run, files: list[object], tmp_path: Path) -> None:
    assert run(*files, *STAR, "--output-dir", tmp_path)[0] == 0
    samples = read_results(tmp_path)["per_sample_result"]
    assert samples["1"]["det"] == ANSWERS["1"]
    assert samples["1"]["gt"] == [GOLD["1"]]
    assert samples["3"]["gt"] == [{"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "paid": True, "tip": None}]
    assert samples["4"]["gt"] == [None]


def test_tuple_at_the_top_means_several_accepted_values(run: Run, tmp_path: Path) -> None:
    record = {"prediction": ["b"], "references": {"__tuple__": [["a"], ["b"]]}}
    document = parse_document(
        run(write(tmp_path / "both.json", [record]), *STAR, "--format", "json", "--output-dir", tmp_path)[1]
    )
    assert document["anls"] == 1
    assert read_results(tmp_path)["per_sample_result"]["1"]["gt"] == [["a"], ["b"]]


def test_submissions_of_values_are_compared_by_rows(run: Run, tmp_path: Path) -> None:
    values = {str(number): {"a": str(number), "b": ["x"]} for number in range(40)}
    wrong = {key: {**value, "b": ["y"]} for key, value in values.items()}
    gold = write(tmp_path / "gold.json", as_records(values, "answers"))
    files = [
        write(tmp_path / f"{name}.json", as_records(answers, "answer"))
        for name, answers in (("a", values), ("b", wrong))
    ]
    arguments = ["--gold", gold, *files, *STAR, "--cluster-by", "none"]
    (comparison,) = json.loads(run(*arguments, "--format", "json")[1])["comparisons"]
    assert (comparison["difference"], comparison["verdict"]) == (-0.5, "worse")
    status, out, err = run(*arguments, "--average", "leaves")
    assert status == 0
    assert "not compared: a comparison needs scores averaged over rows" in err
    assert out.splitlines()[0].split() == ["ANLS*", "95", "%", "exact", "contains"]


def test_hints_about_values(run: Run, tmp_path: Path) -> None:
    def hints(*predictions: Any) -> str:
        records = [{"prediction": value, "references": {"a": "b"}} for value in predictions]
        return run(write(tmp_path / "both.json", records), *STAR)[2]

    assert "hint" not in hints({"a": "b"}, {"a": "x"}, "b")
    assert "extract the answers with --extract json" in hints('<think>[1]</think> so {"a": "b"}')
    assert (
        "1 of 3 predictions begin a list or an object but are not valid JSON: raise the token limit of the model"
        in hints({"a": "b"}, {"a": "b"}, '{"a": "b", "c')
    )
    assert "are empty: if another field holds the predictions" in hints({}, "")
    assert "ignore them with --none-keys ignored" in hints({"a": "x", "c": None})


# Refused input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--average", "leaves"], "--average is for lists and nested values: give it with --variant anls_star"),
        (["--by-key"], "--by-key is for lists"),
        (["--none-keys", "ignored"], "--none-keys is for lists"),
        (
            [*STAR, "--references-separator", ";"],
            "--references-separator is for texts: write several accepted values as",
        ),
        ([*STAR, "--ignore-case"], "anls_star has no option 'ignore_case'"),
        (["--variant", "anlsl", "--average", "leaves"], "anlsl has no option 'average'"),
        ([*STAR, "--anls-threshold", "2"], "threshold"),
        ([*STAR, "--extract", "jsn"], "unknown extraction rule 'jsn'"),
        (["--variant", "anls_stars"], "anls_star, anlsl"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(
    run: Run, files: list[object], arguments: list[str], message: str
) -> None:
    assert message in run_to_error(run, *files, *arguments)


@pytest.mark.parametrize(
    ("gold", "answer", "message"),
    [
        ("a", None, "a.json, question 1: 'answer' is null, not a text: write \"\""),
        ("a", {"__tuple__": ["a", "b"]}, "the prediction of question 1 is a tuple, which means one of several"),
        ({"__tuple__": []}, "a", "the reference of question 1"),
        (
            {"x": [{"__tuple__": ["a"], "b": "c"}]},
            "a",
            "gold.json, question 1: 'answers': {'__tuple__': ['a'], 'b': 'c'}",
        ),
        (
            ["a"],
            ["b", {"c": ["d", {"__tuple__": []}]}],
            "the prediction of question 1, [1].c[1] (counted from 0), is a tuple",
        ),
    ],
)
def test_value_that_cannot_be_scored_is_refused(run: Run, tmp_path: Path, gold: Any, answer: Any, message: str) -> None:
    files = (
        write(tmp_path / "gold.json", [{"id": 1, "answers": gold}]),
        write(tmp_path / "a.json", [{"id": 1, "answer": answer}]),
    )
    assert message in run_to_error(run, "--gold", *files, *STAR)


def test_date_of_parquet_is_refused_with_its_path(run: Run, tmp_path: Path) -> None:
    record = {"prediction": {"a": [datetime.date(2023, 12, 31)]}, "references": {"a": ["2023-12-31"]}}
    error = run_to_error(run, write_parquet(tmp_path / "both.parquet", [record]), *STAR)
    assert "the prediction of question 1, a[0] (counted from 0), is datetime.date(2023, 12, 31)" in error
    assert "pass the text of the date" in error


def test_null_value_is_refused_unless_missing_is_zero(run: Run, tmp_path: Path) -> None:
    files = (
        write(tmp_path / "gold.json", [{"id": 1, "answers": ["a", "b"]}, {"id": 2, "answers": ["a"]}]),
        write(tmp_path / "a.json", [{"id": 1, "answer": None}, {"id": 2, "answer": ["a"]}]),
    )
    for average, expected in (("rows", 0.5), ("leaves", 1 / 3)):
        out = run("--gold", *files, *STAR, "--missing", "zero", "--average", average, "--format", "json")[1]
        assert parse_document(out)["anls"] == expected
        assert parse_document(out)["outcomes"]["missing"] == 1


def test_score_agrees_with_the_command_on_values(run: Run, tmp_path: Path) -> None:
    records = [
        {
            "id": 1,
            "prediction": {"total": "12.50", "items": ["tea"]},
            "references": {"total": "12.50", "items": ["milk"]},
        },
        {"id": 2, "prediction": ["a", "b"], "references": ["b", "a"]},
    ]
    path = write(tmp_path / "values.json", records)
    for options, flags in (
        ({"average": "leaves"}, ["--average", "leaves"]),
        ({"by_key": True, "none_keys": "ignored"}, ["--by-key", "--none-keys", "ignored"]),
    ):
        scores = score(path, variant="anls_star", **options)
        assert scores.to_dict() == json.loads(run(path, *STAR, *flags, "--format", "json")[1])
    with pytest.raises(ValueError, match="average is for lists and nested values: give it with variant='anls_star'"):
        score(path, average="leaves")


def test_values_have_regressions_and_a_report(run: Run, tmp_path: Path) -> None:
    answers = {
        "one": {"total": "12,50", "items": [{"name": "milk"}]},
        "two": {"total": "0", "items": [{"name": "Tea"}]},
    }
    accepted = {"total": {"__tuple__": ["12.50", "12.5"]}, "items": [{"name": "tea"}]}
    paths = [
        write(
            tmp_path / f"{name}.json", [{"id": f"i{n}", "prediction": value, "references": accepted} for n in range(2)]
        )
        for name, value in answers.items()
    ]
    report = tmp_path / "report.html"
    status, out, _ = run(*paths, *STAR, "--regressions", 1, "--report", report)
    assert status == 0
    assert out.startswith("     ANLS*   95 %")
    assert '  accepted  {"total": {"__tuple__": ["12.50", "12.5"]}, "items": [{"name": "tea"}]}\n' in out
    text = report.read_text(encoding="utf-8")
    data = json.loads(re.findall(r'<script id="?data"? type="?application/json"?>(.*?)</script>', text, re.DOTALL)[0])
    assert (data["of_texts"], data["references"][0]) == (False, [json.dumps(accepted)])
    tree = data["answers"][data["submissions"].index("two")]["trees"]["0"]
    total, items = tree[5]
    assert [total[0], total[1], total[3], total[5]] == [".total", "0", 0.0, []]
    assert [items[0], items[3], items[5][0][5][0][:4]] == [".items", 1.0, [".name", "Tea", "tea", 1.0]]
    assert "ANLS* report" in text
    assert "ANLS over the threshold" not in text
