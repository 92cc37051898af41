"""Typical files of new users give the right score, an error with a remedy that works, or a score with a note.

Questions and answers are made up. The shapes of the files are real.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
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


def test_table_with_one_model_or_unrepeated_ids_is_one_submission(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = [row for row in list_by("model") if row["model"] == "base"]
    mixed = [{**row, "model": f"m{n % 2}"} for n, row in enumerate(one)]
    for rows in (one, mixed):
        assert read_scores(type_command(run, tmp_path, monkeypatch, "t.csv", t_csv=rows)[0]) == [SCORE]


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
    "runs": (
        "t.csv --runs error",
        {"t_csv": list_by("seed")},
        ["'seed' (base, tuned) tells runs of one model apart", "--runs question"],
        "t.csv --runs question",
        [0.7917],
    ),
    "one field for both sides": (
        "a.json --references-field answer",
        {"a_json": list_answers("answer")},
        ["no predictions besides the accepted answers in 'answer'", "add a submission after it"],
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
        ["a.json: it has no accepted answers, and gold.json has some", "name the gold file first"],
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
    "an unknown flag": (
        "gold.json a.json --treshold 0.4",
        {"a_json": list_answers()},
        ["unknown flag --treshold: did you mean --threshold?"],
        "gold.json a.json --threshold 0.4",
        [SCORE],
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
    assert "write the question id into each answer" in message


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
    assert message == "anls: a.json: the prediction is read from 'answer', not from 'notes'\n"


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
    assert "error: g.csv, question 49000: answers is an empty list" in message


# Fields beside the accepted answers in "answer" -> the fields that the note names as read and as not read
BESIDE: dict[str, tuple[dict[str, Any], str, str]] = {
    "categories": ({"label": "total"}, "answer", "label"),
    "several categories": ({"labels": ["total", "handwritten"]}, "answer", "labels"),
    "a citation": ({"reference": "Section 3, page 2"}, "answer", "reference"),
    "a flag": ({"gold": "yes"}, "answer", "gold"),
    "no citations": ({"references": []}, "answer", "references"),
    "more answers": ({"aliases": ["nothing of this kind"]}, "answer", "aliases"),
    "a second answer": ({"answer_2": "nothing of this kind"}, "answer", "answer_2"),
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
