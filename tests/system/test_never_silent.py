"""Typical files of new users give the right score, an error with a remedy that works, or a score with a note.

Questions and answers are made up. The shapes of the files are real.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import shlex
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.conftest import SHARED

Run = Callable[..., tuple[int, str, str]]
Record = Mapping[str, Any]

WORDS = ["Coca Cola", "12.50", "May 3, 1998", "yes", "Durham", "(641) 555-3891", "22.1%", "8812", "Ivanov Co", "page 4"]
IDS = [49_000 + 3 * n for n in range(24)]
SHUFFLED = random.Random(7).sample(IDS, len(IDS))
ACCEPTED = {key: [f"{WORDS[n % 10]} {n}", f"the {WORDS[n % 10]} {n}"] for n, key in enumerate(IDS)}
BASE = {key: texts[0] if n % 4 else "something else" for n, (key, texts) in enumerate(ACCEPTED.items())}
TUNED = {key: texts[0] if n % 6 else "another thing" for n, (key, texts) in enumerate(ACCEPTED.items())}
SCORE, BETTER = 0.75, 0.8333
GOLD = [{"questionId": key, "question": f"What is {key}?", "answers": texts} for key, texts in ACCEPTED.items()]


def list_answers(name: str = "prediction", answers: Mapping[int, str] = BASE, **more: Any) -> list[dict[str, Any]]:
    return [{"questionId": key, name: answers[key], **more} for key in SHUFFLED]


def list_by(field: str, id_field: str = "questionId", accepted: bool = True) -> list[dict[str, Any]]:
    """Make a long table of two models, with the model in each row."""
    models = {"base": BASE, "tuned": TUNED}
    return [
        {field: model, id_field: key, "prediction": answers[key], **({"answers": ACCEPTED[key]} if accepted else {})}
        for key in IDS
        for model, answers in models.items()
    ]


def format_file(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name.endswith(".jsonl"):
        return "".join(f"{json.dumps(record)}\n" for record in value)
    if name.endswith(".csv"):
        stream = io.StringIO()
        writer = csv.DictWriter(stream, value[0])
        writer.writeheader()
        writer.writerows({k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()} for row in value)
        return stream.getvalue()
    return json.dumps(value)


def type_command(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, **files: Any) -> tuple[str, str]:
    """Run a command in a folder with these files, whose argument names hold their endings: answers_jsonl.

    Returns:
        The text on stdout, "" after an error, and the text on stderr.
    """
    monkeypatch.chdir(folder)
    for key, value in {"gold_json": {"data": GOLD}, **files}.items():
        name = ".".join(key.rsplit("_", 1))
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(format_file(name, value), encoding="utf-8")
    status, out, err = run(*shlex.split(line))
    assert status in (0, 2), err
    return out if status == 0 else "", err


def read_scores(printed: str) -> list[float]:
    single = re.search(r"^ANLS +([\d.]+)$", printed, re.MULTILINE)
    rows = re.findall(r"^\S+ +([01]\.\d{4}) ", printed, re.MULTILINE)
    return [float(single[1])] if single else list(map(float, rows))


ONE: dict[str, dict[str, Any]] = {
    # the id under another name, in another type, or in another place
    "custom_id": {"a_jsonl": [{"custom_id": str(key), "answer": BASE[key]} for key in SHUFFLED]},
    "item": {"a_jsonl": [{"item": key, "answer": BASE[key]} for key in SHUFFLED]},
    "records under a name": {"a_json": {"model": "x", "settings": {"seed": 7}, "results": list_answers("answer")}},
    "records beside an empty list": {"a_json": {"model": "x", "answers": list_answers("answer"), "errors": []}},
    "records under predictions": {"a_json": {"id_of_run": 7, "predictions": list_answers("answer")}},
    "uid": {"a_jsonl": [{"uid": key, "prediction": BASE[key]} for key in SHUFFLED]},
    "key of an object": {"a_json": {str(key): {"prediction": BASE[key]} for key in SHUFFLED}},
    "id of a request beside it": {
        "a_jsonl": [{"id": f"req_{n}x", "custom_id": str(key), "answer": BASE[key]} for n, key in enumerate(SHUFFLED)]
    },
    "place beside it": {"a_json": [{"index": n, **row} for n, row in enumerate(list_answers())]},
    "nested": {"a_jsonl": [{"meta": {"questionId": key}, "prediction": BASE[key]} for key in SHUFFLED]},
    # no id, in the order of the questions
    "list of texts": {"a_json": [BASE[key] for key in IDS]},
    "a text on each line": {"a_txt": "".join(f"{BASE[key]}\n" for key in IDS)},
    "a text in brackets on the first line": {
        "a_txt": "".join(f"{BASE[key] if key != IDS[0] else '[illegible]'}\n" for key in IDS)
    },
    "JSON texts on lines": {"a_jsonl": [BASE[key] for key in IDS]},
    "records without ids": {"a_jsonl": [{"prediction": BASE[key]} for key in IDS]},
    "records with prompts": {"a_jsonl": [{"prompt": f"Read. What is {key}? A:", "predict": BASE[key]} for key in IDS]},
    "records with places": {"a_csv": [{"index": n, "prediction": BASE[key]} for n, key in enumerate(IDS)]},
    # delimiters
    "tabs in a .csv": {"a_csv": "questionId\tprediction\n" + "".join(f"{key}\t{BASE[key]}\n" for key in SHUFFLED)},
    "bars in a .csv": {"a_csv": "questionId|prediction\n" + "".join(f"{key}|{BASE[key]}\n" for key in SHUFFLED)},
    # names of predictions beside a copy of the accepted answer
    "a copy in answer": {
        "a_json": [{**row, "answer": ACCEPTED[row["questionId"]][0]} for row in list_answers("output")]
    },
    "a copy in answer, and model_response": {
        "a_json": [{"answer": ACCEPTED[row["questionId"]][0], **row} for row in list_answers("model_response")]
    },
}


@pytest.mark.parametrize("case", ONE)
def test_submission_in_any_shape_has_its_number_without_a_hint(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    (name,) = ONE[case]
    printed, message = type_command(run, tmp_path, monkeypatch, f"gold.json {name.replace('_', '.')}", **ONE[case])
    assert read_scores(printed) == [SCORE], message
    assert "hint:" not in message


GOLD_FILES: dict[str, dict[str, Any]] = {
    "answer is a list": {"g_json": [{"id": key, "answer": texts} for key, texts in ACCEPTED.items()]},
    "answer and answers": {"g_json": [{**record, "answer": record["answers"][0]} for record in GOLD]},  # type: ignore[index]
    "a map of lists": {"g_json": {str(key): texts for key, texts in ACCEPTED.items()}},
    "ids under another name": {"g_json": [{"uid": key, "answers": texts} for key, texts in ACCEPTED.items()]},
    "rows and ids": {"g_json": [{"id": f"r{n}", "nr_id": k, "answers": ACCEPTED[k]} for n, k in enumerate(IDS)]},
    "answer": {"g_csv": [{"id": key, "answer": texts[0]} for key, texts in ACCEPTED.items()]},
}


@pytest.mark.parametrize("case", GOLD_FILES)
def test_gold_file_in_any_shape_is_read(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    (name,) = GOLD_FILES[case]
    files = {**GOLD_FILES[case], "a_json": [{"id": key, "answer": BASE[key]} for key in SHUFFLED]}
    printed, message = type_command(run, tmp_path, monkeypatch, f"{name.replace('_', '.')} a.json", **files)
    assert read_scores(printed) == [SCORE], message


def list_rows(answers: Mapping[int, str] = BASE) -> list[dict[str, Any]]:
    """Make a table without ids."""
    return [
        {"question": f"What is {k}?", "answers": ACCEPTED[k], "prediction": answers[k], "page": f"p{k % 5}"}
        for k in IDS
    ]


def list_of_two(field: str) -> list[dict[str, Any]]:
    return [
        {**row, field: model} for model, answers in (("base", BASE), ("tuned", TUNED)) for row in list_rows(answers)
    ]


TWO: dict[str, tuple[str, dict[str, Any]]] = {
    "model": ("long.csv", {"long_csv": list_by("model")}),
    "checkpoint": ("long.csv", {"long_csv": list_by("checkpoint")}),
    "model without ids": ("long.csv --id-field none", {"long_csv": sorted(list_by("model"), key=lambda r: r["model"])}),
    "against a gold file": ("gold.json long.jsonl", {"long_jsonl": list_by("model", accepted=False)}),
    "with another id": ("gold.json long.jsonl", {"long_jsonl": list_by("model", "custom_id", accepted=False)}),
    "--submission-field": ("long.csv --submission-field method", {"long_csv": list_by("method")}),
    "runs as submissions": ("long.csv --submission-field seed", {"long_csv": list_by("seed")}),
    "columns": (
        "t.csv --prediction-field base,tuned",
        {"t_csv": [{"id": k, "base": BASE[k], "tuned": TUNED[k], "answers": ACCEPTED[k]} for k in IDS]},
    ),
    "questions without ids": ("t.csv", {"t_csv": list_of_two("model_name")}),
    "numbers of rows": ("t.csv", {"t_csv": [{"id": n, **row} for n, row in enumerate(list_of_two("llm"))]}),
    "rows of a model": (
        "t.csv",
        {"t_csv": [{"id": f"{row['model']}-{n}", **row} for n, row in enumerate(list_of_two("model"))]},
    ),
    "columns against a gold file": (
        "gold.json t.csv --prediction-field base,tuned",
        {"t_csv": [{"id": key, "base": BASE[key], "tuned": TUNED[key]} for key in SHUFFLED]},
    ),
}


@pytest.mark.parametrize("case", TWO)
def test_file_of_several_submissions_has_the_number_of_each(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    line, files = TWO[case]
    printed, message = type_command(run, tmp_path, monkeypatch, line, **files)
    assert read_scores(printed) == [SCORE, BETTER], message


def test_split_is_said_and_writes_a_folder_for_each_submission(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{**row, "model": f"../../{row['model']}"} for row in list_by("model")]
    printed, message = type_command(run, tmp_path, monkeypatch, "long.csv --output-dir out", long_csv=rows)
    assert "long.csv: 2 submissions, one for each model (../../base, ../../tuned)" in message
    assert {path.parent.name for path in tmp_path.rglob("results.json")} == {"base", "tuned"}
    assert {path.parent.parent.name for path in tmp_path.rglob("results.json")} == {"out"}
    assert len(read_scores(printed)) == 2


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("gold", ["", "gold.json "])
def test_models_in_merged_cells_are_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, gold: str
) -> None:
    rows = sorted(list_by("model"), key=lambda row: str(row["model"]))
    merged = [{**row, "model": "" if n % len(IDS) else row["model"]} for n, row in enumerate(rows)]
    line, name = f"{gold}t.{ending}", f"t_{ending}"
    printed, message = type_command(run, tmp_path, monkeypatch, line, **{name: merged})
    assert printed == ""
    assert "only 2 of its 48 records name a model, as if cells were merged: write the model into each rec" in message
    assert read_scores(type_command(run, tmp_path, monkeypatch, line, **{name: rows})[0]) == [SCORE, BETTER]


def test_table_with_one_model_or_unrepeated_ids_is_one_submission(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = [row for row in list_by("model") if row["model"] == "base"]
    mixed = [{**row, "model": f"m{n % 2}"} for n, row in enumerate(one)]
    for rows in (one, mixed):
        assert read_scores(type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)[0]) == [SCORE]


REPEATED: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "appended after a restart": (
        [*list_rows()[:16], *list_rows()[8:]],
        "8 of 32 rows repeat the question and the accepted answers of another row: if these rows",
        "",
    ),
    "one row of padding": (
        [*list_rows(), list_rows()[0]],
        "the last row is the same as the first one: if these rows",
        "",
    ),
    "two rows of padding": ([*list_rows(), *list_rows()[:2]], "the last 2 rows are the same as the first 2: if", ""),
    "three rows twice": ([*list_rows(), *list_rows()[5:8]], "3 of 27 rows repeat", ""),
    "four models without names": ([*list_rows(), *list_rows(TUNED)] * 2, "72 of 96 rows repeat the question and", ""),
    "two models without names or questions": (
        [{key: row[key] for key in ("answers", "prediction")} for row in [*list_rows(), *list_rows(TUNED)]],
        "24 of 48 rows repeat the accepted answers of another row",
        "",
    ),
    "a row for each accepted answer": (
        [{**row, "answers": text} for row in list_rows() for text in row["answers"]],
        "24 of 48 rows repeat the question and the prediction of the row before",
        "",
    ),
    "runs": (
        list_of_two("seed"),
        "the field 'seed' (base, tuned) tells runs of one model apart: to score the mean of the runs, name",
        "--id-field question",
    ),
}


@pytest.mark.parametrize("case", REPEATED)
def test_repeated_questions_give_a_hint(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    rows, hint, advice = REPEATED[case]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.jsonl", t_jsonl=rows)
    assert read_scores(printed)
    assert message.startswith("hint: ")
    assert hint in message
    if advice:
        assert "hint:" not in type_command(run, tmp_path, monkeypatch, f"t.jsonl {advice}", t_jsonl=rows)[1]


ODD: dict[str, tuple[int, dict[str, str]]] = {
    "accuracy": (24, {"question": "Accuracy", "answers": "18/24", "prediction": "75.0%"}),
    "accepted answers first": (24, {"answers": "Mean ANLS:", "prediction": "0.75"}),
    "totals before all rows": (0, {"id": "Overall", "answers": "24", "prediction": "18"}),
    "footnote": (24, {"answers": "* answers of May", "prediction": ""}),
    "types": (0, {"id": "int", "answers": "list[str]", "prediction": "str"}),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_row_at_the_edge_that_is_no_question_gives_a_hint(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, ending: str
) -> None:
    place, row = ODD[case]
    texts = [{"id": k, "question": f"What is {k}?", "answers": ACCEPTED[k][0], "prediction": BASE[k]} for k in IDS]
    rows = [{name: record[name] for name in row} for record in texts]
    odd = [*rows[:place], row, *rows[place:]]
    _, message = type_command(run, tmp_path, monkeypatch, f"t.{ending}", **{f"t_{ending}": odd})
    assert message.startswith(f"hint: line {place + 1 + (ending == 'csv')} looks like a ")
    assert message.endswith(", and counts as a question: if it is none, remove this row\n")
    printed, message = type_command(run, tmp_path, monkeypatch, f"t.{ending}", **{f"t_{ending}": rows})
    assert (read_scores(printed), message) == ([SCORE], "")


def test_total_that_a_form_asks_for_is_a_question(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = {"company": ("Acme", "Acme"), "date": ("May 3", "May 3"), "total": ("12.50", "12.00")}
    rows = [{"question": name, "answers": text, "prediction": answer} for name, (text, answer) in form.items()]
    assert type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)[1] == ""
    asked = [{**row, "question": f"What is the {row['question']}?"} for row in rows]
    assert type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=asked)[1] == ""


@pytest.mark.parametrize("field", ["method", "temperature", "prompt", "seed"])
@pytest.mark.parametrize("more", [["page"], []])
def test_accepted_answers_tell_submissions_of_a_table_without_questions(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str, more: list[str]
) -> None:
    names = {"base": 0.0, "tuned": 0.7} if field == "temperature" else {"base": "base", "tuned": "tuned"}
    rows = [
        {**{key: row[key] for key in ["answers", "prediction", *more]}, field: names[row[field]]}
        for row in list_of_two(field)
    ]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=rows)
    whose = "runs of one model" if field == "seed" else "submissions"
    assert (
        f"each question has several rows, and the field {field!r} ({', '.join(map(str, names.values()))}) tells {whose}"
        in message
    )
    assert f"--submission-field {field}" in message
    assert bool(printed) == (field == "seed")
    printed, message = type_command(run, tmp_path, monkeypatch, f"t.json --submission-field {field}")
    assert (read_scores(printed), "hint:" in message) == ([SCORE, BETTER], False)
    printed, message = type_command(run, tmp_path, monkeypatch, "t.json --id-field none")
    assert (read_scores(printed), message) == ([0.7917], "")


@pytest.mark.parametrize("has_ids", [False, True])
def test_submission_with_some_of_the_questions_is_told_apart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_ids: bool
) -> None:
    rows = [row for n, row in enumerate(list_of_two("method")) if n < len(IDS) + 12]
    rows = [{"id": f"row {n}", **row} for n, row in enumerate(rows)] if has_ids else rows
    problem = "some questions have several rows, and the field 'method' (base, tuned) tells submissions apart"
    assert problem in type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)[1]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.csv --submission-field method")
    assert (read_scores(printed), "no question ids in common" in message) == ([SCORE, BETTER], has_ids)


@pytest.mark.parametrize("answers", [["yes", "no"], [f"{n}" for n in range(9)], [f"answer {n}" for n in range(48)]])
def test_field_of_different_questions_without_texts_tells_no_submissions(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[str]
) -> None:
    rows = [
        {
            "kind": f"k{n // 24}",
            "answers": answers[n % len(answers)],
            "prediction": answers[(n + n // 9) % len(answers)],
        }
        for n in range(48)
    ]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)
    assert (bool(printed), message) == (True, "")


@pytest.mark.parametrize("by", ["page", "kind"])
def test_predictions_of_other_questions_are_no_copies_and_no_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """A join by a field that repeats gives each question the predictions of others, too."""
    rows = [{"questionId": k, **row, "kind": f"k{n % 3}"} for n, (k, row) in enumerate(zip(IDS, list_rows()))]
    joined = [{**row, "prediction": other["prediction"]} for row in rows for other in rows if row[by] == other[by]]
    problem = "the predictions of other questions"
    _, message = type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=[dict([*row.items()][1:]) for row in joined])
    assert f"hint: {len(joined)} of {len(joined)} rows have questions beside {problem}: join" in message
    for flags in ("", "--runs question"):
        printed, message = type_command(run, tmp_path, monkeypatch, f"t.csv {flags}", t_csv=joined)
        assert (printed, f"24 ids are repeated (the first: 49000), with {problem}" in message) == ("", True)
    printed, message = type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)
    assert (read_scores(printed), message) == ([SCORE], "")


@pytest.mark.parametrize("count", [5, 24])
@pytest.mark.parametrize("failed", ["", None])
@pytest.mark.parametrize("more", [{}, {"attempt": 1}, {"status": "failed"}])
def test_failed_requests_that_were_sent_again_are_no_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, failed: str | None, more: dict[str, Any]
) -> None:
    after = {"attempt": 2, "status": "done"}
    answers = [{**row, **{key: after[key] for key in more}} for row in list_answers()]
    files = {"a_jsonl": [{**row, "prediction": failed, **more} for row in answers[:count]] + answers}
    line = "gold.json a.jsonl --missing zero"
    _, message = type_command(run, tmp_path, monkeypatch, line, **files)
    if count == len(IDS) and "status" in more:  # as if it was a submission that failed
        assert "--submission-field status" in message
        return
    advice = "if requests that had failed were sent again, keep only the last record of each id"
    assert (message.startswith("anls: error: "), advice in message) == (True, True)
    assert (
        f"hint: all records of a repeated id but the last have an empty prediction: {advice}"
        in (type_command(run, tmp_path, monkeypatch, f"{line} --runs question", **files)[1])
    )
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.jsonl", a_jsonl=files["a_jsonl"][count:])
    assert (read_scores(printed), message) == ([SCORE], "")


def test_other_answer_to_the_first_question_is_no_padding(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for more in ({"page": "p9"}, {"prediction": "another thing"}):
        rows = [*list_rows(), {**list_rows()[0], **more}]
        assert type_command(run, tmp_path, monkeypatch, "t.jsonl", t_jsonl=rows)[1] == ""


FORM = ("Is it signed?", "Is it dated?", "Is there a stamp?", "Who is the vendor?")


@pytest.mark.parametrize("name", ["document", "page", "source", "system", "model", "branch"])
@pytest.mark.parametrize("has_ids", [False, True])
def test_form_that_is_asked_about_several_documents_is_one_submission(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, has_ids: bool
) -> None:
    same = name in ("document", "page", "source")  # the field tells what it is, even if all answers are the same
    table = [
        {
            **({"id": f"{document}-{n}"} if has_ids else {}),
            name: f"{document}.pdf" if name == "source" else document,
            "question": question,
            "answer": "Acme" if n == 3 else "yes" if same or n != 1 else ("no", "yes")[document % 2],
            "prediction": ("yes", "no")[document == n],
        }
        for document in range(4)
        for n, question in enumerate(FORM)
    ]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)
    assert read_scores(printed) == [mean(float(row["answer"] == row["prediction"]) for row in table)], message


PARTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "messages of a chat": (
        lambda text: [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}],
        "1.content",
    ),
    "several answers": (lambda text: [text, "another"], "0"),
    "a response of Vertex AI": (
        lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}}]},
        "candidates.0.content.parts.0.text",
    ),
    "an unknown name": (lambda text: {"txt": text, "certainty": 0.5}, "txt"),
}


@pytest.mark.parametrize("form", PARTS)
def test_error_names_the_text_in_a_value(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    make, part = PARTS[form]
    answers = [{"questionId": key, "output": make(BASE[key])} for key in SHUFFLED]
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert f"with --prediction-field output.{part}" in message
    line = f"gold.json a.json --prediction-field output.{part}"
    assert read_scores(type_command(run, tmp_path, monkeypatch, line, a_json=answers)[0]) == [SCORE]


@pytest.mark.parametrize(("make", "part"), [(lambda text: [text], "0"), (lambda text: {"text": text}, "text")])
@pytest.mark.parametrize("field", ["answer", "answers"])
def test_path_in_the_accepted_answers_is_no_prediction(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[str], Any], part: str, field: str
) -> None:
    files = {
        "g_json": [{"questionId": key, field: ACCEPTED[key]} for key in IDS],
        "a_json": [{"questionId": key, field: make(BASE[key])} for key in IDS],
    }
    _, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", **files)
    flag = f"--prediction-field {field}.{part}"
    assert flag in message or field == "answers"
    printed, message = type_command(run, tmp_path, monkeypatch, f"g.json a.json {flag}", **files)
    assert read_scores(printed) == [SCORE], message


@pytest.mark.parametrize("document", ["doc", "docId", "page", "image", "file"])
def test_ids_that_begin_again_in_each_document_are_matched_with_the_document(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: str
) -> None:
    places = {key: {document: f"d{n // 4}", "id": n % 4} for n, key in enumerate(IDS)}
    files = {
        "g_json": [{**places[key], "answers": ACCEPTED[key]} for key in IDS],
        **{f"{name}_csv": [{**places[key], "answer": BASE[key]} for key in SHUFFLED] for name in "ab"},
    }
    printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.csv b.csv", **files)
    assert read_scores(printed)[:2] == [SCORE, SCORE], message
    note = f"the ids begin again in each document: a question is matched by {document!r} and 'id'"
    assert f"a.csv: {note}" in message
    assert f"b.csv: {note}" in message


@pytest.mark.parametrize("delimiter", ["\t", ": ", ","])
def test_lines_that_begin_with_ids_are_no_answers_in_order(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.json").write_text(json.dumps(GOLD))
    Path("a.txt").write_text("".join(f"{key}{delimiter}{BASE[key]}\n" for key in SHUFFLED))
    status, _, message = run("gold.json", "a.txt")
    assert (status, "each line begins with an id of gold.json: write a table" in message) == (2, True), message
    Path("a.tsv").write_text("questionId\tanswer\n" + "".join(f"{key}\t{BASE[key]}\n" for key in SHUFFLED))
    assert read_scores(run("gold.json", "a.tsv")[1]) == [SCORE]


def test_row_for_each_accepted_answer_is_no_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": key, "prediction": BASE[key], "answer": text} for key in IDS for text in ACCEPTED[key]]
    for flags in ("", "--runs question"):
        _, message = type_command(run, tmp_path, monkeypatch, f"t.csv {flags}", t_csv=rows)
        assert "24 ids are repeated (the first: 49000), with other accepted answers for the same prediction" in message
        assert "write one record for each question, with all of its accepted answers as a list" in message


QUESTIONS: dict[str, tuple[Callable[[int, str], dict[str, Any]], str]] = {
    "the same": (lambda n, text: {"question": text}, ""),
    "in a prompt": (lambda n, text: {"prompt": f"Answer briefly. {text}"}, ""),
    "in other letters": (lambda n, text: {"question": f" {text.upper()}\n"}, ""),
    "in other words": (lambda n, text: {"question": text.replace("What is", "Name")}, ""),
    "some of others": (
        lambda n, text: {"question": f"What is {IDS[n + 1]}?" if 5 <= n < 17 else text},
        "hint: 12 of 24 questions have an answer beside the text of another question: write the ids",
    ),
    "cut off": (lambda n, text: {"question": f"{text[:-3]}..."}, ""),
    "one prompt": (lambda n, text: {"prompt": "Answer in one word.", "prediction": BASE[IDS[n]][::-1]}, ""),
    "a path": (lambda n, text: {"query": f"pages/{n}.png", "prediction": BASE[IDS[n]][::-1]}, ""),
    "a number": (lambda n, text: {"question": f"Question {n}", "prediction": BASE[IDS[n]][::-1]}, ""),
    "of another split": (
        lambda n, text: {"question": f"Who signed letter {'abcdefghijklmnopqrstuvwxyz'[n]}?", "prediction": f"Mr. {n}"},
        "hint: 24 of 24 questions have another text beside their answer: check that both files",
    ),
}


@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_question_beside_an_answer_contradicts_its_id(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, is_shuffled: bool
) -> None:
    make, hint = QUESTIONS[case]
    answers = [{"questionId": k, "prediction": BASE[k], **make(n, f"What is {k}?")} for n, k in enumerate(IDS)]
    answers = random.Random(1).sample(answers, len(answers)) if is_shuffled else answers
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert hint in message
    assert bool(message) == bool(hint)


@pytest.mark.parametrize("option", ["--answers x.csv", "--answers x.jsonl", "--output x.json"])
def test_own_results_of_several_runs_have_the_same_number(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    files = {"a_json": list_answers(), "b_json": list_answers(answers=TUNED)}
    printed, _ = type_command(run, tmp_path, monkeypatch, f"gold.json m=a.json m=b.json {option}", **files)
    assert read_scores(printed) == [0.7917]
    printed, message = type_command(run, tmp_path, monkeypatch, option.split()[1])
    assert read_scores(printed) == [0.7917]
    assert "each question has 2 answers, which are scored as runs of one model" in message


def test_unanswered_split_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = [{**record, "split": ["train", "test", "val"][n // 8]} for n, record in enumerate(GOLD)]
    files = {"gold_json": gold, "a_json": [{"questionId": key, "prediction": BASE[key]} for key in IDS[16:]]}
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", **files)
    assert printed == ""
    assert ", and all of them have split = test or train: remove them from the gold file, or" in message
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json --missing zero", **files)
    assert read_scores(printed) == [0.25]
    assert "hint: 16 questions without an answer score 0, and all of them have split = test or train" in message
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", **{**files, "gold_json": gold[16:]})
    assert (read_scores(printed), message) == ([0.75], "")
    mixed = [{**record, "split": ["train", "val"][n % 2]} for n, record in enumerate(GOLD)]
    printed, message = type_command(
        run, tmp_path, monkeypatch, "gold.json a.json --missing zero", **{**files, "gold_json": mixed}
    )
    assert (read_scores(printed), message) == ([0.25], "")


def test_answers_can_be_matched_by_their_questions(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All answers from the fifth have the id of the question before."""
    asked = [*IDS[:5], *IDS[6:], IDS[5]]
    answers = [{"questionId": k, "question": f"What is {a}?", "prediction": BASE[a]} for k, a in zip(IDS, asked)]
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert "19 of 24 questions" in message
    assert "if no two questions have the same text, match them by their texts with --id-field question" in message
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json --id-field question")
    assert read_scores(printed) == [SCORE]
    assert "hint:" not in message


def test_same_question_about_several_documents_is_no_repetition(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"What is the currency?": ["USD"], "Is it signed?": ["yes", "no"], "Which kind is it?": ["form", "letter"]}
    rows = [
        {"question": question, "answers": answers[n % len(answers)], "prediction": answers[0], "kind": f"k{n % 2}"}
        for n in range(12)
        for question, answers in asked.items()
    ]
    for more in ({}, {"image": "page_{}.png"}):
        pages = [{**row, **{k: v.format(n // 3) for k, v in more.items()}} for n, row in enumerate(rows)]
        printed, message = type_command(run, tmp_path, monkeypatch, "t.jsonl", t_jsonl=pages)
        assert read_scores(printed) == [0.6667]
        assert message == ""


# A command, its files, parts of its error, the command that follows the advice, and its scores
REFUSED: dict[str, tuple[str, dict[str, Any], list[str], str, list[float]]] = {
    "a table of methods": (
        "t.csv",
        {"t_csv": list_by("method")},
        ["'method' (base, tuned) tells several submissions apart", "--submission-field method"],
        "t.csv --submission-field method",
        [SCORE, BETTER],
    ),
    "answers of several methods": (
        "gold.json t.jsonl",
        {"t_jsonl": list_by("method", accepted=False)},
        ["--submission-field method"],
        "gold.json t.jsonl --submission-field method",
        [SCORE, BETTER],
    ),
    "scores that the command printed": (
        "o.json",
        {"o_json": {"signature": "anls", "questions": 24, "submissions": [{"anls": 0.75}]}, "a_json": list_answers()},
        ["it holds scores that anls printed, and no answers", "score the files of the answers"],
        "gold.json a.json",
        [SCORE],
    ),
    "lists on lines": (
        "gold.json b.jsonl",
        {"b_jsonl": [[key, BASE[key]] for key in IDS], "a_json": list_answers()},
        ["line 1: it is a list, not an object", "write each record as an object"],
        "gold.json a.json",
        [SCORE],
    ),
    "ids of documents": (
        "t.jsonl",
        {
            "t_jsonl": [
                {
                    "id": f"d{n // 3}",
                    "question": f"{n % 3}?",
                    "prediction": BASE[key],
                    "answers": ACCEPTED[key],
                    "page": n,
                }
                for n, key in enumerate(IDS)
            ]
        },
        ["8 ids belong to several questions each (the first: d0)", "--id-field none"],
        "t.jsonl --id-field none",
        [SCORE],
    ),
    "runs": (
        "t.csv --runs error",
        {"t_csv": list_by("seed")},
        ["'seed' (base, tuned) tells runs of one model apart", "--runs question"],
        "t.csv --runs question",
        [0.7917],
    ),
    "questions of several methods": (
        "t.csv",
        {"t_csv": list_of_two("method")},
        ["each question has several rows, and the field 'method' (base, tuned) tells submissions apart"],
        "t.csv --submission-field method",
        [SCORE, BETTER],
    ),
    "questions of several methods, numbered": (
        "t.csv",
        {"t_csv": [{"id": n, **row} for n, row in enumerate(list_of_two("method"))]},
        ["if these are different questions, number the rows with --id-field none"],
        "t.csv --id-field none",
        [0.7917],
    ),
    "a folder of several models": (
        "logs",
        {"logs/a_jsonl": list_rows(), "logs/b_jsonl": list_rows(TUNED)},
        ["logs: the files have the same questions (a.jsonl, b.jsonl): give each file by itself"],
        "logs/a.jsonl logs/b.jsonl",
        [SCORE, BETTER],
    ),
    "one field for both sides": (
        "a.json --references-field answer",
        {"a_json": list_answers("answer")},
        ["no predictions, only accepted answers in 'answer'", "add a submission after it"],
        "gold.json a.json",
        [SCORE],
    ),
    "one field for both sides, named twice": (
        "t.csv --prediction-field answers --references-field answers",
        {"t_csv": [row for row in list_by("model") if row["model"] == "base"]},
        ["'answers' cannot be both the prediction and the accepted answers", "--prediction-field"],
        "t.csv --references-field answers",
        [SCORE],
    ),
    "the id as the prediction": (
        "gold.json a.json --prediction-field questionId",
        {"a_json": list_answers()},
        ["a.json: the field 'questionId' cannot be both the prediction and the id", "--prediction-field"],
        "gold.json a.json --prediction-field prediction",
        [SCORE],
    ),
    "the id as the accepted answer": (
        "-g gold.json -s a.json --references-field questionId",
        {"a_json": list_answers()},
        ["gold.json: the field 'questionId' cannot be both the id and the accepted answers", "--references-field"],
        "gold.json a.json --references-field answers",
        [SCORE],
    ),
    "answers alone": (
        "a.json",
        {"a_json": list_answers("answer")},
        ["no accepted answers", "add a gold file before it"],
        "gold.json a.json",
        [SCORE],
    ),
    "swapped": (
        "a.json gold.json",
        {"a_json": list_answers("answer")},
        ["a.json: it has no accepted answers, and gold.json has some", "swap the two files"],
        "gold.json a.json",
        [SCORE],
    ),
    "swapped maps": (
        "a.json g.json",
        {"a_json": BASE, "g_json": ACCEPTED},
        ["the two look swapped"],
        "g.json a.json",
        [SCORE],
    ),
    "two fields of ids": (
        "gold.json a.jsonl",
        {"a_jsonl": [{"uid": key, "key": IDS[n], "answer": BASE[key]} for n, key in enumerate(SHUFFLED)]},
        ["'uid' and 'key' both hold ids", "--id-field"],
        "gold.json a.jsonl --id-field uid",
        [SCORE],
    ),
    "none of its ids is in": (
        "gold.json a.jsonl",
        {"a_jsonl": [{"custom_id": f"q-{key}", "answer": BASE[key]} for key in IDS]},
        ["'custom_id' is q-49000, q-49003, and 'questionId' there is 49000, 49003", "--id-field none"],
        "gold.json a.jsonl --id-field none",
        [SCORE],
    ),
    "places for ids": (
        "gold.json a.json",
        {"a_json": [{"questionId": n, "answer": BASE[key]} for n, key in enumerate(IDS)]},
        ["none of its ids is in", "--id-field none"],
        "gold.json a.json --id-field none",
        [SCORE],
    ),
    "no field of this name": (
        "gold.json a.json --id-field nr",
        {"a_json": list_answers()},
        ["neither this file nor gold.json has the field 'nr' (found 'questionId', 'prediction')"],
        "gold.json a.json --id-field questionId",
        [SCORE],
    ),
    "a typo in a field": (
        "gold.json a.json --prediction-field predicton",
        {"a_json": list_answers()},
        ["no field 'predicton' (found 'questionId', 'prediction')", "--prediction-field"],
        "gold.json a.json --prediction-field prediction",
        [SCORE],
    ),
    "an answer deep in a record": (
        "gold.json a.jsonl",
        {"a_jsonl": [{"id": key, "body": {"parts": [{"said": BASE[key]}]}} for key in SHUFFLED]},
        ["no predictions (found 'id', 'body.parts.0.said')", "--prediction-field"],
        "gold.json a.jsonl --prediction-field body.parts.0.said",
        [SCORE],
    ),
    "a record without an answer": (
        "gold.json a.json",
        {
            "a_json": [
                row if BASE[row["questionId"]] != "something else" else {"questionId": row["questionId"], "error": "x"}
                for row in list_answers("answer")
            ]
        },
        ["no field 'answer' (found 'questionId', 'error')", 'write ""', "--missing zero"],
        "gold.json a.json --missing zero",
        [SCORE],
    ),
    "lists of one text": (
        "gold.json a.json",
        {"a_json": [{"questionId": key, "answer": [BASE[key]]} for key in SHUFFLED]},
        ["--prediction-field answer.0"],
        "gold.json a.json --prediction-field answer.0",
        [SCORE],
    ),
    "lists of one object": (
        "gold.json a.json",
        {"a_json": [{"questionId": key, "output": [{"generated_text": BASE[key]}]} for key in SHUFFLED]},
        ["--prediction-field output.0.generated_text"],
        "gold.json a.json --prediction-field output.0.generated_text",
        [SCORE],
    ),
    "responses": (
        "gold.json a.json",
        {
            "a_json": [
                {"questionId": key, "response": {"id": "x", "choices": [{"message": {"content": BASE[key]}}]}}
                for key in SHUFFLED
            ]
        },
        ["--prediction-field response.choices.0.message.content"],
        "gold.json a.json --prediction-field response.choices.0.message.content",
        [SCORE],
    ),
    "a table without a header": (
        "gold.json a.csv",
        {
            "a_csv": "".join(f"{key}\t{BASE[key]}\n" for key in SHUFFLED),
            "b_csv": "questionId\tanswer\n" + "".join(f"{key}\t{BASE[key]}\n" for key in SHUFFLED),
        },
        ["the first line looks like data: write a line with a name for each column before it: id and answer"],
        "gold.json b.csv",
        [SCORE],
    ),
    "an empty object": (
        "gold.json a.json",
        {"a_json": {}, "b_json": list_answers()},
        ["it holds an empty object, not a list of records: write a list of objects"],
        "gold.json b.json",
        [SCORE],
    ),
    "ids shifted by one": (
        "gold.json a.json",
        {
            "gold_json": [{**row, "questionId": n} for n, row in enumerate(GOLD, 1)],
            "a_json": [{"questionId": n, "answer": BASE[key]} for n, key in enumerate(IDS)],
        },
        [
            "1 answer to questions that gold.json does not have (0), and no answer to 1 of its questions (24)",
            "write the same ids",
            "--id-field none",
        ],
        "gold.json a.json --id-field none",
        [SCORE],
    ),
    "two fields of accepted answers": (
        "t.csv --references-field first,second",
        {
            "t_csv": [
                {"id": key, "prediction": BASE[key], "first": ACCEPTED[key][0], "second": ACCEPTED[key][1]}
                for key in IDS
            ]
        },
        ["write the accepted answers into one field, as a JSON list"],
        "t.csv --references-field first",
        [SCORE],
    ),
    "lists swapped": (
        "a.json g.json",
        {
            "a_json": [{"id": key, "answer": BASE[key]} for key in IDS],
            "g_json": [{"id": key, "answer": ACCEPTED[key]} for key in IDS],
        },
        ["the two look swapped: swap the two files"],
        "g.json a.json",
        [SCORE],
    ),
    "several lists of answers": (
        "gold.json m.json",
        {"m_json": {"base": list_answers(), "tuned": list_answers(answers=TUNED)}, "a_json": list_answers()},
        [
            "m.json, question base: the prediction is [",
            "if it is a list of records, write each such list to its own file",
        ],
        "gold.json a.json",
        [SCORE],
    ),
    "several lists of questions": (
        "g.json a.json",
        {"g_json": {"train": list_rows(), "val": list_rows()}, "a_json": list_answers()},
        ["g.json, question train: references is [", "write each such list to its own file"],
        "gold.json a.json",
        [SCORE],
    ),
    "a record without an id": (
        "gold.json b.json",
        {
            "b_json": [{"answer": "a"} if n == 2 else row for n, row in enumerate(list_answers())],
            "a_json": list_answers(),
        },
        ["b.json, record 3: no field 'questionId' (found 'answer'): write it into this record"],
        "gold.json a.json",
        [SCORE],
    ),
    "a record without accepted answers": (
        "u.json",
        {
            "u_json": [{"id": "x", "prediction": "a"} if n == 2 else row for n, row in enumerate(list_rows())],
            "t_json": list_rows(),
        },
        ["u.json, record 3: no field 'answers' (found 'id', 'prediction'): write it into this record"],
        "t.json",
        [SCORE],
    ),
    "an unknown flag": (
        "gold.json a.json --treshold 0.4",
        {"a_json": list_answers()},
        ["unknown flag --treshold: did you mean --threshold?"],
        "gold.json a.json --threshold 0.4",
        [SCORE],
    ),
    "a flag of harnesses": (
        "gold.json a.json --limit 12",
        {"a_json": list_answers(), "g_json": GOLD[:12]},
        ["unknown flag --limit: to score some questions, cut the gold file, and add --extra ignore"],
        "g.json a.json --extra ignore",
        [0.75],
    ),
    "the beginning of a flag": (
        "gold.json a.json --outp x.json",
        {"a_json": list_answers()},
        ["unknown flag --outp: did you mean --output?"],
        "gold.json a.json --output x.json",
        [SCORE],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_error_leads_to_the_number_in_one_more_attempt(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    line, files, parts, next_line, scores = REFUSED[case]
    printed, message = type_command(run, tmp_path, monkeypatch, line, **files)
    assert printed == ""
    assert message.count("\n") == 1
    for part in parts:
        assert part in message
    assert not (tmp_path / "x.json").exists()
    printed, message = type_command(run, tmp_path, monkeypatch, next_line)
    assert read_scores(printed) == scores, message


def test_second_header_of_joined_tables_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"question": f"What is {k}?", "prediction": BASE[k], "answers": ACCEPTED[k]} for k in IDS]
    joined = format_file("a.csv", rows[:10]) + format_file("b.csv", rows[10:])
    printed, message = type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=joined)
    assert printed == ""
    assert "t.csv, line 12: this line is the header again, as if several files were joined: remove it" in message
    joined = format_file("a.csv", rows)
    assert read_scores(type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=joined)[0]) == [SCORE]


@pytest.mark.parametrize(("ending", "place"), [("json", "record"), ("jsonl", "line"), ("xlsx", "row")])
def test_second_header_is_an_error_in_every_format(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, place: str
) -> None:
    rows = [{"id": str(k), "answers": ACCEPTED[k][0], "prediction": BASE[k]} for k in IDS]
    rows.insert(10, {name: name for name in rows[0]})
    if ending == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in (list(rows[0]), *(list(row.values()) for row in rows)):
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
    files = {} if ending == "xlsx" else {f"t_{ending}": rows}
    printed, message = type_command(run, tmp_path, monkeypatch, f"t.{ending}", **files)
    assert printed == ""
    assert f"{place} {11 + (ending == 'xlsx')}: this {place} is the header again" in message


def test_lines_between_two_quotation_marks_are_not_one_value(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quotation mark begins the prediction of the fourth question, and another one ends that of the eighth."""
    for columns in (["id", "prediction", "answers"], ["id", "answers", "prediction"]):
        for rows in ({3: '"The', 7: 'Sun"'}, {3: '"""The"', 7: '"Sun"""'}):
            cells = [{"id": str(k), "answers": ACCEPTED[k][0], "prediction": BASE[k]} for k in IDS]
            for place, text in rows.items():
                cells[place]["prediction"] = text
            lines = ["\t".join(columns), *("\t".join(row[name] for name in columns) for row in cells)]
            printed, message = type_command(run, tmp_path, monkeypatch, "t.tsv", t_tsv="\n".join([*lines, ""]))
            if rows[3] == '"The':
                assert printed == ""
                assert "t.tsv, line 5: a value begins with a quotation mark, and ends with that of another" in message
            else:
                assert read_scores(printed)
                assert message == ""


def test_value_of_several_lines_with_tabs_is_read(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["id\tprediction", *(f'{key}\t"{BASE[key]}\tmore\nand this"' for key in IDS)]
    files = {"gold_json": GOLD, "t_tsv": "\n".join([*lines, ""])}
    assert read_scores(type_command(run, tmp_path, monkeypatch, "gold.json t.tsv", **files)[0])


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (
            [{"prediction": BASE[key]} for key in IDS[1:]],
            "it has 23 answers without ids, and gold.json has 24 questions",
        ),
        ([BASE[key] for key in [*IDS, IDS[0]]], "it has 25 answers without ids, and gold.json has 24 questions"),
        ([{"question": f"What is {key}?", "prediction": BASE[key]} for key in SHUFFLED], "answer 1 belongs to another"),
        ([{"label": ACCEPTED[key][1], "predict": BASE[key]} for key in SHUFFLED], "answer 1 belongs to another"),
    ],
)
def test_order_is_never_guessed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: Sequence[Any], problem: str
) -> None:
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert printed == ""
    assert problem in message
    texts = isinstance(answers[0], str)
    assert ("write one answer for each question" if texts else "write the question id into each answer") in message


def test_numbers_that_may_be_ids_are_never_guessed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small numbers under a name that says nothing may be ids, or count the records."""
    gold = [{"questionId": n, "answers": ACCEPTED[key]} for n, key in enumerate(IDS)]
    answers = [{"item": n, "answer": BASE[key]} for n, key in enumerate(IDS)]
    for given, advised, score in ((answers, "", SCORE), (answers[::-1], " --id-field item", SCORE)):
        line = "g.json a.json"
        printed, message = type_command(run, tmp_path, monkeypatch, line, g_json=gold, a_json=given)
        assert (printed == "") == bool(advised)
        assert advised in message
        printed, message = type_command(run, tmp_path, monkeypatch, line + advised)
        assert read_scores(printed) == [score], message
    counted = [{**row, "item": n} for n, row in enumerate(random.Random(1).sample(answers, 24))]
    message = type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=gold[::-1], a_json=counted)[1]
    assert "it is unclear whether 'item' holds ids of g.json" in message
    message = type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=gold, a_json=answers[4:])[1]
    assert "20 answers without a known field of ids" in message


def test_answer_under_another_name_is_not_missing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [*list_answers("answer")[:-1], list_answers("prediction")[-1]]
    line = "gold.json a.json --missing zero"
    printed, message = type_command(run, tmp_path, monkeypatch, line, a_json=answers)
    assert printed == ""
    assert "record 1: no field 'prediction' (found 'questionId', 'answer')" in message


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
@pytest.mark.parametrize("form", ["l.json", "l.eval", "l.json.gz", "logs"])
def test_log_of_an_evaluation_that_stopped_gives_a_note(run: Run, tmp_path: Path, status: str, form: str) -> None:
    samples = [
        {"id": k, "epoch": 1, "input": "?", "target": ACCEPTED[k], "output": {"choices": [{"message": {"content": a}}]}}
        for k, a in BASE.items()
    ]
    plan = {"dataset": {"samples": 100, "sample_ids": [*range(30)]}, "config": {"epochs": 2, "limit": 30}}
    path = tmp_path / form
    for count, status_of_log in ((60, status), (24, "success")):
        (tmp_path / "logs").mkdir(exist_ok=True)
        if form == "l.eval":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("_journal/start.json", json.dumps({"eval": plan}))
                if status_of_log != "started":
                    archive.writestr("header.json", json.dumps({"eval": plan, "status": status_of_log}))
                for sample in samples:
                    archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        else:
            content = json.dumps({"status": status_of_log, "eval": plan, "samples": samples}).encode()
            file = path / "one.json" if form == "logs" else path
            file.write_bytes(gzip.compress(content) if form.endswith("gz") else content)
        code, out, err = run(path)
        assert (code, read_scores(out)) == (0, [SCORE])
        note = f"the evaluation stopped ({status}) after 24 of {count} samples: inspect eval-retry runs the others"
        assert (note in err) == (status_of_log == status), err


def test_folder_with_a_gold_file_or_several_models_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("all", "models"):
        (tmp_path / folder).mkdir()
    for path, value in {
        "all/gold": GOLD,
        "all/base": list_answers(),
        "all/tuned": list_answers("prediction", TUNED),
    }.items():
        (tmp_path / f"{path}.json").write_text(json.dumps(value), encoding="utf-8")
    for name in ("base", "tuned"):
        shutil.copy(tmp_path / "all" / f"{name}.json", tmp_path / "models")
    for line in (
        "all",
        "all/gold.json all",
        "all/gold.json all --missing zero",
        "'all/[gt]*'",
    ):
        printed, message = type_command(run, tmp_path, monkeypatch, line)
        assert printed == ""
        assert "holds the gold file gold.json beside answers: name the gold file first, and each file" in message, line
    printed, message = type_command(run, tmp_path, monkeypatch, "all/gold.json models")
    assert (printed, "if its files are submissions, name each file by itself" in message) == ("", True)
    printed, message = type_command(run, tmp_path, monkeypatch, "all/gold.json models/base.json models/tuned.json")
    assert read_scores(printed) == [SCORE, BETTER]
    printed, message = type_command(run, tmp_path, monkeypatch, "all/gold.json models --runs question")
    assert read_scores(printed) == [0.7917]


def test_forced_position_says_which_answers_do_not_fit(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [{"question": f"What is {key}?", "prediction": BASE[key]} for key in SHUFFLED]
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json --id-field none", a_json=answers)
    assert read_scores(printed)
    assert "some answers do not belong to the question at their position (the first: question 49000)" in message


def test_choice_of_a_prediction_is_a_note(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [{**row, "notes": f"seen on page {n}"} for n, row in enumerate(list_answers("answer"))]
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    change = "to read another field, name it (--prediction-field)"
    assert message == f"anls: a.json: the prediction is read from 'answer', not from 'notes'; {change}\n"
    answers = [{**row, "prediction.1": TUNED[row["questionId"]]} for row in list_answers()]
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert message == f"anls: a.json: the prediction is read from 'prediction', not from 'prediction.1'; {change}\n"
    line = "gold.json a.json --prediction-field prediction,prediction.1"
    assert read_scores(type_command(run, tmp_path, monkeypatch, line, a_json=answers)[0]) == [SCORE, BETTER]


@pytest.mark.parametrize(
    "files",
    [
        {"a_csv": [{"": n, **row} for n, row in enumerate(list_answers("answer"))]},
        {"a_json": [{"Unnamed: 0": str(n), **row} for n, row in enumerate(list_answers("answer"))]},
        {"a_json": {str(n): row for n, row in enumerate(list_answers("answer"))}},
    ],
)
def test_index_of_pandas_is_no_choice_of_a_prediction(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, Any]
) -> None:
    (name,) = files
    printed, message = type_command(run, tmp_path, monkeypatch, f"gold.json {name.replace('_', '.')}", **files)
    assert (read_scores(printed), message) == ([SCORE], "")


@pytest.mark.parametrize("separator", ["\n", "\t", r"\n", "<br>", "；", "|"])
def test_hint_about_joined_answers_leads_to_the_number(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    texts = {key: answers if n % 4 else [answers[0]] for n, (key, answers) in enumerate(ACCEPTED.items())}
    gold = [{"questionId": key, "answers": separator.join(answers)} for key, answers in texts.items()]
    files = {"g_csv": gold, "a_json": list_answers()}
    _, message = type_command(run, tmp_path, monkeypatch, "g.csv a.json", **files)
    advice = re.search(r"--references-separator .*", message)
    assert advice, message
    printed, message = type_command(run, tmp_path, monkeypatch, f"g.csv a.json {advice[0]}")
    assert (read_scores(printed), message) == ([SCORE], "")


def test_empty_parts_between_separators_are_no_accepted_answers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"questionId": key, "answers": f"{texts[0]}| |{texts[1]}|"} for key, texts in ACCEPTED.items()]
    empty = {key: text.replace("something else", "") for key, text in BASE.items()}
    files = {"g_csv": gold, "a_json": list_answers("answer", empty)}
    printed, message = type_command(run, tmp_path, monkeypatch, "g.csv a.json --references-separator '|'", **files)
    assert read_scores(printed) == [SCORE], message
    only = [{**row, "answers": "|"} for row in gold]
    _, message = type_command(run, tmp_path, monkeypatch, "g.csv a.json --references-separator '|'", g_csv=only)
    assert "error: g.csv, question 49000: 'answers' is an empty list" in message


# Fields beside the accepted answers in "answer" -> the fields that the note names as read and as not read
BESIDE: dict[str, tuple[dict[str, Any], str, str]] = {
    "categories": ({"label": "total"}, "answer", "label"),
    "several categories": ({"labels": ["total", "handwritten"]}, "answer", "labels"),
    "a citation": ({"reference": "Section 3, page 2"}, "answer", "reference"),
    "a flag": ({"gold": "yes"}, "answer", "gold"),
    "more answers": ({"aliases": ["nothing of this kind"]}, "answer", "aliases"),
    "a second answer": ({"answer_2": "nothing of this kind"}, "answer", "answer_2"),
    "a second annotator": ({"annotator_2": "nothing of this kind"}, "answer", "annotator_2"),
    "other accepted answers": ({"Also accept": ["nothing of this kind"]}, "answer", "Also accept"),
    "all answers": ({"all_answers": ["nothing of this kind"]}, "answer", "all_answers"),
}


@pytest.mark.parametrize("case", BESIDE)
def test_accepted_answers_are_read_from_the_field_that_predictions_fit(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    beside, read, other = BESIDE[case]
    gold = [{"questionId": key, "answer": texts[0], **beside} for key, texts in ACCEPTED.items()]
    table = [{**row, "prediction": BASE[row["questionId"]]} for row in gold]
    for line in ("g.json a.json", "t.json"):
        files = {"g_json": gold, "a_json": list_answers(), "t_json": table}
        printed, message = type_command(run, tmp_path, monkeypatch, line, **files)
        assert read_scores(printed) == [SCORE], message
        note = f"the accepted answers are read from {read!r}, not from {other!r}"
        assert message == f"anls: {line.split()[0]}: {note}\n"
        named, message = type_command(run, tmp_path, monkeypatch, f"{line} --references-field {read}")
        assert (read_scores(named), message) == ([SCORE], "")


def test_accepted_answers_of_a_long_table_are_read_from_one_field(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = {"label": "total"}
    rows = [{**row, "answer": ACCEPTED[row["questionId"]][0], **beside} for row in list_by("model", accepted=False)]
    bad = [{**row, "prediction": "no"} if row["model"] == "tuned" else row for row in rows]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=bad)
    assert read_scores(printed)[:2] == [SCORE, 0.0], message
    assert message.count("are read from 'answer', not from 'label'") == 1


def test_field_without_other_accepted_answers_gives_no_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"label": "total", "aliases": [], "answer_type": "amount", "answers_variants": ["nothing of this kind"]}
    gold = [{**row, "answer": ACCEPTED[row["questionId"]][1], **more} for row in GOLD]  # type: ignore[index]
    files = {"g_json": gold, "a_json": list_answers()}
    printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", **files)
    assert (read_scores(printed), message) == ([SCORE], "")


def test_accepted_answers_are_read_from_one_field_for_all_columns(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [
        {"questionId": key, "answer": texts[0], "label": "total", "good": BASE[key], "weak": "no"}
        for key, texts in ACCEPTED.items()
    ]
    for columns, scores in (("good,weak", [SCORE, 0.0]), ("weak,good", [0.0, SCORE])):
        printed, message = type_command(
            run, tmp_path, monkeypatch, f"t.json --prediction-field {columns}", t_json=table
        )
        assert read_scores(printed)[:2] == scores, message


def test_accepted_answers_of_a_gold_file_do_not_depend_on_the_order_of_submissions(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"questionId": key, "answer": texts[0], "label": "total"} for key, texts in ACCEPTED.items()]
    weak = list_answers("answer", dict.fromkeys(BASE, "no"))
    files = {"g_json": gold, "good_json": list_answers(), "weak_json": weak}
    for order, scores in (("good.json weak.json", [SCORE, 0.0]), ("weak.json good.json", [0.0, SCORE])):
        printed, message = type_command(run, tmp_path, monkeypatch, f"g.json {order}", **files)
        assert read_scores(printed)[:2] == scores, message


def test_gold_file_with_the_fields_of_a_submission_gives_a_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{name}_json": list_answers("answer", TUNED) for name in "abc"}
    _, message = type_command(run, tmp_path, monkeypatch, "a.json b.json c.json", **files)
    note = "a.json: it is taken as the gold file because it comes first, although it has the fields of a submission"
    assert message.count(note) == 1
    for line in ("a.json b.json", "b.json a.json"):
        _, message = type_command(run, tmp_path, monkeypatch, line, **{**files, "b_json": files["b_json"][:-2]})
        words = "if it holds the answers of a model, add a gold file before it; if not, "
        assert f"; {line.split()[0]} is taken as the gold file because it comes first: {words}" in message
    asked = {"g_json": [{**row, "question": "Who?"} for row in files["a_json"]]}
    _, message = type_command(run, tmp_path, monkeypatch, "g.json b.json", **files, **asked)
    assert "comes first" not in message


def test_test_split_as_gold_file_is_refused_with_the_place_that_scores_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"g_json": [{"questionId": key, "question": f"What is {key}?"} for key in BASE], "a_json": list_answers()}
    _, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", **files)
    assert "g.json: it has no accepted answers (found 'questionId', 'question')" in message
    assert "or take a gold file that has them (test splits have none: the competition's site scores them)" in message


def test_predictions_in_the_gold_file_give_a_note(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = [{**record, "prediction": TUNED[IDS[n]]} for n, record in enumerate(GOLD)]
    files = {"t_jsonl": table, "a_json": list_answers(), "b_json": list_answers(answers=TUNED)}
    note = "anls: t.jsonl: it is taken as the gold file, and its predictions, in 'prediction', are not scored\n"
    printed, message = type_command(run, tmp_path, monkeypatch, "t.jsonl a.json", **files)
    assert (read_scores(printed), message) == ([SCORE], note)
    printed, message = type_command(run, tmp_path, monkeypatch, "t.jsonl a.json b.json", **files)
    assert (read_scores(printed), message) == ([SCORE, BETTER], note)
    printed, message = type_command(run, tmp_path, monkeypatch, "-g t.jsonl tuned=t.jsonl a.json", **files)
    assert (read_scores(printed)[:2], message) == ([BETTER, SCORE], "")


def test_field_of_accepted_answers_without_text_is_not_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"questionId": key, "answer": texts[0], "references": []} for key, texts in ACCEPTED.items()]
    printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=gold, a_json=list_answers())
    assert (read_scores(printed), message) == ([SCORE], "")


CATEGORY = {"Label": "company", "Reference": "page 2", "references": ["page 2"]}


@pytest.mark.parametrize("field", CATEGORY)
def test_hint_names_the_field_that_predictions_equal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    table = [
        {"Question": f"{n}?", "Answer": text, field: CATEGORY[field], "Prediction": text}
        for n, text in enumerate(("Acme", "Delta"))
    ]
    printed, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)
    assert read_scores(printed) == [0.0]
    assert f"but 2 of the first 2 predictions equal 'Answer', and 0 equal {field!r}: if the accepted" in message
    advice = re.search(r"--references-field \w+", message)
    assert advice, message
    printed, _ = type_command(run, tmp_path, monkeypatch, f"t.json {advice[0]}")
    assert read_scores(printed) == [1.0]


def test_label_is_not_read_in_place_of_a_list_of_answers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [
        {"questionId": key, "label": f"total {key}", "answers": texts, "prediction": f"total {key}: {BASE[key]}"}
        for key, texts in ACCEPTED.items()
    ]
    _, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)
    assert "label" not in message


MORE_COLUMNS = {
    "pandas": ("answers", "answers.1"),
    "without a name": ("answers", "Unnamed: 3"),
    "variants": ("ground_truth", "acceptable_variants"),
}


@pytest.mark.parametrize("names", MORE_COLUMNS.values(), ids=MORE_COLUMNS)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_second_column_of_accepted_answers_is_a_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str], ending: str
) -> None:
    rows: list[list[Any]] = [["id", "prediction", *names], *([key, BASE[key], *ACCEPTED[key]] for key in IDS)]
    if ending == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [[re.sub("Unnamed.*", "", str(cell)) for cell in row] for row in rows]:
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    files = {} if ending == "xlsx" else {"t_csv": text}
    printed, message = type_command(run, tmp_path, monkeypatch, f"t.{ending}", **files)
    assert read_scores(printed) == [SCORE]
    assert message == f"anls: t.{ending}: the accepted answers are read from {names[0]!r}, not from {names[1]!r}\n"


def test_index_without_a_name_beside_accepted_answers_gives_no_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"answers": ACCEPTED[k], "Unnamed: 1": n, "prediction": BASE[k]} for n, k in enumerate(IDS)]
    assert type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)[1] == ""


def test_accepted_answers_that_no_prediction_fits_keep_their_usual_field(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [{"answer": texts[0], "label": "total", "prediction": "no"} for texts in ACCEPTED.values()]
    _, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)
    assert "the accepted answers are read from 'label', not from 'answer'" in message
    table = [{"label": texts[0], "answer": texts[1], "output": f"It is {texts[1]}"} for texts in ACCEPTED.values()]
    _, message = type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)  # an answer taken out of the output
    assert "the accepted answers are read from 'label', not from 'answer'" in message


def test_field_that_one_of_several_files_lacks_is_a_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"one_json": list_answers("text"), "two_json": list_answers("prediction", TUNED)}
    line = "gold.json one.json two.json --prediction-field text"
    printed, message = type_command(run, tmp_path, monkeypatch, line, **files)
    assert read_scores(printed) == [SCORE, BETTER]
    assert "two.json: it has no field 'text': the prediction is read from 'prediction'" in message


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet", "xlsx"])
def test_whole_numbers_are_read_as_their_digits_in_every_format(run: Run, tmp_path: Path, ending: str) -> None:
    rows = [{"questionId": key, "prediction": n, "answers": str(n)} for n, key in enumerate(IDS)]
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), path)
    elif ending == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text(format_file(path.name, rows), encoding="utf-8")
    status, out, err = run(path)
    assert (status, read_scores(out)) == (0, [1.0]), err
    assert f"t.{ending}: 24 predictions are whole numbers, read as their digits" in err


def test_numbers_among_accepted_answers_are_a_note_and_a_hint_if_predictions_have_another_form(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"questionId": key, "answer": n + 0.5 if n % 2 else n} for n, key in enumerate(IDS)]
    answers = [{"questionId": key, "prediction": f"${n + 0.5:.2f}" if n % 2 else f"{n}"} for n, key in enumerate(IDS)]
    _, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=gold, a_json=answers)
    assert "g.json: 12 accepted answers are whole numbers, read as their digits" in message
    assert "g.json: 12 accepted answers are decimal numbers" in message
    assert "hint: 12 of 24 accepted answers were numbers in the file, so their written form is lost" in message


@pytest.mark.parametrize(
    "line",
    [
        "gold.json --variant rrc a.json",
        "gold.json --format json a.json",
        "--variant rrc gold.json a.json",
        "gold.json --by questionId a.json --worst 1",
        "gold.json a.json --variant=rrc",
    ],
)
def test_options_stand_anywhere(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    printed, message = type_command(run, tmp_path, monkeypatch, line, a_json=list_answers())
    assert "0.75" in printed, message


@pytest.mark.parametrize(
    "names", [("predictions", "references"), ("preds", "labels"), ("actual_output", "expected_output")]
)
def test_usual_names_in_any_spelling_are_found(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    columns = {names[0]: list(BASE.values()), names[1]: list(ACCEPTED.values())}
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    titles = [{name.replace("_", " ").title(): value for name, value in row.items()} for row in rows]
    for files in ({"t_json": columns}, {"t_jsonl": rows}, {"t_csv": titles}):
        (name,) = files
        printed, message = type_command(run, tmp_path, monkeypatch, name.replace("_", "."), **files)
        assert (read_scores(printed), message) == ([SCORE], "")


def test_predictions_beside_other_values_are_read(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"anls": 0.3, "predictions": list(BASE.values()), "references": list(ACCEPTED.values())}
    assert read_scores(type_command(run, tmp_path, monkeypatch, "t.json", t_json=table)[0]) == [SCORE]
    for answers in (list_answers("answer"), list(BASE.values())):
        files = {"a_json": {"model": "base", "predictions": answers}}
        assert read_scores(type_command(run, tmp_path, monkeypatch, "gold.json a.json", **files)[0]) == [SCORE]


@pytest.mark.parametrize(
    "form",
    [
        lambda texts: [{"text": text, "answer_start": 0} for text in texts],
        lambda texts: {"text": texts, "answer_start": [0] * len(texts)},
        lambda texts: [texts],
    ],
)
@pytest.mark.parametrize("ending", ["json", "csv"])
def test_accepted_answers_in_the_form_of_squad_are_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Callable[[list[str]], Any], ending: str
) -> None:
    records = [{**record, "answers": form(record["answers"])} for record in GOLD]  # type: ignore[arg-type]
    files = {f"g_{ending}": records, "a_json": list_answers()}
    printed, message = type_command(run, tmp_path, monkeypatch, f"g.{ending} a.json", **files)
    assert (read_scores(printed), message) == ([SCORE], "")


@pytest.mark.parametrize("line", ["gold.json a.json", "t.jsonl"])
def test_error_of_accepted_values_does_not_offer_lists_beside_texts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    records = [{**record, "answers": [{"value": "x"}]} for record in GOLD]
    table = [{**record, "prediction": "x"} for record in records]
    files = {"gold_json": records, "a_json": list_answers(), "t_jsonl": table}
    printed, message = type_command(run, tmp_path, monkeypatch, line, **files)
    assert printed == ""
    assert "not a list of texts: write the accepted answers as a list of texts" in message
    assert "anls_star" not in message


@pytest.mark.parametrize(
    "none", [{"answers": {"text": [], "answer_start": []}}, {"answers": [], "is_impossible": True}]
)
def test_question_of_squad_without_an_answer_accepts_an_empty_text(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, none: Record
) -> None:
    records = [{**record, **(none if n % 4 == 0 else {})} for n, record in enumerate(GOLD)]
    answers = [{**row, "prediction": "" if row["prediction"] == "something else" else "x"} for row in list_answers()]
    files = {"g_json": records, "a_json": answers}
    printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", **files)
    assert read_scores(printed) == [0.25], message
    test_split = [{**record, **none} for record in GOLD]
    assert "empty list" in type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=test_split)[1]


def write_frame(keys: Sequence[Any], orient: str, **columns: Sequence[Any]) -> Any:
    """Write a DataFrame as pandas does with to_json()."""
    if orient == "split":
        return {"columns": list(columns), "index": keys, "data": list(map(list, zip(*columns.values())))}
    return {name: dict(zip(map(str, keys), column)) for name, column in columns.items()}


@pytest.mark.parametrize("orient", ["columns", "split"])
def test_index_of_a_frame_holds_the_ids(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orient: str) -> None:
    by_id = write_frame(SHUFFLED, orient, prediction=[BASE[key] for key in SHUFFLED])
    accepted = write_frame(IDS, orient, answers=list(ACCEPTED.values()))
    rows = write_frame([*range(24)][::-1], orient, questionId=SHUFFLED, answer=[BASE[key] for key in SHUFFLED])
    gold = {"data": GOLD}
    for answers, questions in ((by_id, gold), (by_id, accepted), (rows, gold), (rows, accepted)):
        files = {"a_json": answers, "gold_json": questions}
        printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", **files)
        assert (read_scores(printed), message) == ([SCORE], "")
    plain = write_frame([*range(24)], orient, prediction=[BASE[key] for key in IDS])
    printed, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=plain, gold_json=gold)
    assert read_scores(printed) == [SCORE]
    assert "matched with the questions by position" in message


def test_index_without_a_name_in_parquet_holds_the_ids(run: Run, tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    gold, path = tmp_path / "gold.json", tmp_path / "a.parquet"
    gold.write_text(json.dumps(GOLD), encoding="utf-8")
    columns = {"prediction": [BASE[key] for key in SHUFFLED], "__index_level_0__": SHUFFLED}
    parquet.write_table(pyarrow.table(columns), path)
    status, out, err = run(gold, path)
    assert (status, read_scores(out)) == (0, [SCORE]), err
    assert "the id of a question is read from '__index_level_0__'" in err
    parquet.write_table(pyarrow.table({**columns, "__index_level_0__": [*range(24)][::-1], "id": SHUFFLED}), path)
    assert read_scores(run(gold, path)[1]) == [SCORE]


def test_fields_of_one_name_hold_the_ids_if_two_fields_could(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = {key: n for n, key in enumerate(SHUFFLED)}
    gold = [{"question_id": n, "id": numbers[key], "answers": ACCEPTED[key]} for n, key in enumerate(IDS)]
    answers = [{"id": numbers[key], "prediction": BASE[key]} for key in IDS]
    printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", g_json=gold, a_json=answers)
    assert read_scores(printed) == [SCORE]
    assert message == "anls: a.json: the ids are those of 'id' in g.json, not of 'question_id'\n"


def test_two_fields_of_ids_that_say_the_same_are_no_conflict(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"question_id": n, "id": (7 * n) % 24, "answers": ACCEPTED[key]} for n, key in enumerate(IDS)]
    answers = [{"question_id": n, "id": (7 * n) % 24, "prediction": BASE[IDS[n]]} for n in range(23, -1, -1)]
    for files in ({"g_json": gold, "a_json": answers}, {"g_json": gold, "a_json": answers[::-1]}):
        printed, message = type_command(run, tmp_path, monkeypatch, "g.json a.json", **files)
        assert (read_scores(printed), message) == ([SCORE], "")


def test_workbook_with_a_sheet_for_each_model_says_what_is_read(run: Run, tmp_path: Path) -> None:
    book, gold = pytest.importorskip("openpyxl").Workbook(), tmp_path / "gold.json"
    gold.write_text(json.dumps(GOLD), encoding="utf-8")
    sheets: dict[str, list[tuple[Any, str]]] = {
        "base": [("questionId", "answer"), *BASE.items()],
        "tuned": [("questionId", "answer"), *TUNED.items()],
        "about": [("by", "me")],
    }
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    del book["Sheet"]
    book.save(tmp_path / "a.xlsx")
    status, out, err = run(gold, tmp_path / "a.xlsx")
    assert (status, read_scores(out)) == (0, [SCORE])
    assert err.endswith("a.xlsx: only its first sheet (base) is read, not tuned\n")
    book.move_sheet("about", -2)
    book["about"].append(("you", "then"))
    book.save(tmp_path / "a.xlsx")
    status, out, err = run(gold, tmp_path / "a.xlsx")
    assert (status, "its first sheet has no predictions (found 'by', 'me'): move the sheet" in err) == (2, True), err


def test_failed_formulas_give_the_hint_that_they_give_in_csv(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"id": k, "answers": ACCEPTED[k][0], "prediction": "#REF!" if n % 4 else BASE[k]} for n, k in enumerate(IDS)
    ]
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (rows[0], *map(dict.values, rows)):
        book.active.append(list(row))
    book.save(tmp_path / "t.xlsx")
    of_csv, of_workbook = (
        type_command(run, tmp_path, monkeypatch, f"t.{ending}", t_csv=rows) for ending in ("csv", "xlsx")
    )
    assert of_csv == of_workbook
    assert of_csv[1].startswith("hint: 18 of 24 predictions are messages about errors, such as '#REF!'")


def test_error_lists_the_message_of_the_assistant(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = ("system", "You read documents."), ("user", "Who?"), ("assistant", "{}")
    answers = [
        {"questionId": key, "log": [{"role": role, "content": text.format(BASE[key])} for role, text in turns]}
        for key in IDS
    ]
    _, message = type_command(run, tmp_path, monkeypatch, "gold.json a.json", a_json=answers)
    assert "(found 'questionId', 'log.2.role', 'log.2.content')" in message
    line = "gold.json a.json --prediction-field log.2.content"
    assert read_scores(type_command(run, tmp_path, monkeypatch, line, a_json=answers)[0]) == [SCORE]


def make_table(make: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """Make a table in JSON lines with a record for each question."""
    return {"t_jsonl": [make(key) for key in IDS]}


# A table of a user that resembles the files of a program
ONLY_SIMILAR: dict[str, dict[str, Any]] = {
    "vlmevalkit": make_table(
        lambda key: {"index": key, "question": "?", "answer": "x", "answers": ACCEPTED[key], "prediction": BASE[key]}
    ),
    "llama_factory": make_table(
        lambda key: {"prompt": "?", "label": "x", "predict": BASE[key], "answers": ACCEPTED[key]}
    ),
    "longdocurl": make_table(
        lambda key: {
            "question_id": key,
            "answer": "x",
            "answer_format": "String",
            "pred": BASE[key],
            "answers": ACCEPTED[key],
        }
    ),
    "evalscope_reviews": make_table(
        lambda key: {
            "index": key,
            "target": ["x", *ACCEPTED[key]],
            "sample_score": {"score": {"extracted_prediction": BASE[key]}},
        }
    ),
    "qwen_vl": make_table(
        lambda key: {"questionId": key, "answer": ACCEPTED[key][0], "annotation": "x", "prediction": BASE[key]}
    ),
    "helm_instances": make_table(
        lambda key: {"id": key, "split": "x", "input": "?", "references": ACCEPTED[key], "prediction": BASE[key]}
    ),
    "inspect_ai": make_table(
        lambda key: {"id": key, "epoch": 3, "input": "?", "target": ACCEPTED[key][0], "output": BASE[key]}
    ),
    "madqa": make_table(
        lambda key: {
            "id": key,
            "question": "?",
            "answers": ACCEPTED[key],
            "evidence": ["x"],
            "prediction": BASE[key],
        }
    ),
    "madqa_results": make_table(
        lambda key: {
            "id": key,
            "question": "?",
            "answer": ACCEPTED[key][0],
            "citations": ["x"],
            "prediction": BASE[key],
        }
    ),
    "mp_docvqa": {"t_json": {key: {"pred_answer": BASE[key], "answers": ACCEPTED[key]} for key in IDS}},
}


@pytest.mark.parametrize("layout", ONLY_SIMILAR)
def test_table_that_resembles_the_files_of_a_program_is_a_table(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    (name,) = ONLY_SIMILAR[layout]
    printed, message = type_command(run, tmp_path, monkeypatch, name.replace("_", "."), **ONLY_SIMILAR[layout])
    assert read_scores(printed) == [SCORE], message
    assert "hint:" not in message


def test_figures_of_a_benchmark_without_their_columns_get_a_note(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = [{"id": str(key), "answer_variants": [texts[:1]]} for key, texts in ACCEPTED.items()]
    answers = [{"id": str(key), "prediction": answer} for key, answer in BASE.items()]
    line = "--gold gold.json answers.json --variant madqa"
    out, err = type_command(run, tmp_path, monkeypatch, line, gold_json=gold, answers_json=answers)
    assert "doc_f1 0.0000" in out
    assert "no row has citations, so doc_f1 and page_f1 mean nothing" in err
    assert "no row has steps, search_history or iterations, so" in err
    whole = [{**answer, "citations": [], "steps": 3} for answer in answers]
    assert "no row has" not in type_command(run, tmp_path, monkeypatch, line, gold_json=gold, answers_json=whole)[1]


# Situations with their true scores, from files outside of this repository


def list_situations() -> list[Any]:
    manifest = SHARED / "files2" / "MANIFEST.json"
    if not manifest.is_file():
        return [pytest.param({}, marks=pytest.mark.skip("the situations are not on this machine"))]
    situations = json.loads(manifest.read_text(encoding="utf-8"))
    return [pytest.param(situation, id=situation["what"]) for situation in situations]


@pytest.mark.parametrize("situation", list_situations())
def test_situation_has_its_number_or_a_word(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, situation: dict[str, Any]
) -> None:
    for name in situation["files"]:
        shutil.copy(SHARED / "files2" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*shlex.split(situation["type"])[1:])
    if "no hint" in situation["must"]:
        assert "hint:" not in err
    if "no folder" in situation["must"]:
        assert status == 2 or Path("x.json").is_file()
        return
    if status == 2:
        assert (out, err.count("\n")) == ("", 1)
        assert situation.get("score") is None or "swapped" in err or "--id-field none" in err
        return
    several = "large-72b" in out
    assert is_right(situation, out) or several or "hint:" in err or " numbers" in err, out + err
    if advice := re.search(r"--extract \S+", err):  # following the advice gives the right score
        assert is_right(situation, run(*shlex.split(situation["type"])[1:], *advice[0].split())[1])


def is_right(situation: dict[str, Any], printed: str) -> bool:
    number = re.search(r'^ANLS\*? +([\d.]+)$|"anls": ([\d.]+)', printed, re.MULTILINE)
    return bool(number) and abs(float(number[1] or number[2]) - situation.get("score", -1)) < 1e-4  # type: ignore[index]
