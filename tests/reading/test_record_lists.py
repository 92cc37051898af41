"""Where the records of a file are: the only list of questions at any depth, or the one that `--records` chooses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from anls_metric import score
from tests.reading.conftest import Shell, read
from tests.system.conftest import BASE, GOLD, IDS, SCORE, list_answers, list_rows

ROWS = [{"id": key, **row} for key, row in zip(IDS, list_rows())]
HALVES = {"first": {"n": 12, "items": ROWS[:12]}, "second": {"n": 12, "items": ROWS[12:]}}
PAGES = [{"page": n, "id": f"page {n}", "questions": GOLD[4 * n : 4 * n + 4]} for n in range(6)]
TURNS = [
    {"id": n, "turns": [{"user": "?", "assistant": row["answers"][0], "guess": row["prediction"]} for row in part]}
    for n, part in enumerate((ROWS[:1], ROWS[1:9], ROWS[9:]))
]


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    """What programs that extract fields write for each field."""
    return {"pred": row["prediction"], "gold": row["answers"], "em": 1}


# Files that hold one list of questions, wherever it is.
FOUND: dict[str, Any] = {
    "under any name": {"run": 7, "outputs": ROWS},
    "inside objects": {"config": {"lr": 1}, "run": {"result": {"rows": ROWS}}},
    "in a list of one object": [{"dataset": "d", "data": ROWS}],
    "beside lists of other objects": {"log": [{"id": 1, "text": "a"}], "deep": {"rows": ROWS}, "errors": [{"code": 1}]},
    "in documents": [{"name": n, "qas": ROWS[n::5]} for n in range(5)],
    "in pages of documents": {
        "documents": [{"pages": [{"qas": ROWS[n::6]}, {"qas": ROWS[n + 3 :: 6]}]} for n in range(3)]
    },
    "in documents, by the name of a field": [
        {"image": f"{n}.png", "fields": {name: _pair(row) for name, row in zip("abcdef", ROWS[6 * n : 6 * n + 6])}}
        for n in range(4)
    ],
    "in documents, for each field": [
        {"fields": [{"field": name, **_pair(row)} for name, row in zip("abcdef", ROWS[6 * n : 6 * n + 6])]}
        for n in range(4)
    ],
    "an object by id": {"config": 1, "by": {"id": {str(row["id"]): row for row in ROWS}}},
}


@pytest.mark.parametrize("case", FOUND)
def test_only_list_of_questions_is_found_at_any_depth(shell: Shell, case: str) -> None:
    shell.write({"t.json": FOUND[case]})
    if case == "an object by id":
        assert shell.scores("t.json --records by.id") == [SCORE]
    else:
        assert shell.scores("t.json") == [SCORE]
        path = {"inside objects": "run.result.rows", "in documents": "qas"}.get(case, "")
        path = "fields" if "field" in case else path
        assert f" (records of {path})" in read(shell, "t.json") or not path


def test_fields_of_a_document_are_those_of_its_questions(shell: Shell) -> None:
    shell.write({"g.json": PAGES, "a.json": list_answers()})
    line = "g.json a.json --by page --cluster-by document.id"
    document = shell.document(line)
    assert (document["submissions"][0]["anls"], document["clusters"]["count"]) == (SCORE, 6)
    assert [group["questions"] for group in document["submissions"][0]["groups"]["page"].values()] == [4] * 6
    assert "joined by questionId: 24 of 24 (records of questions)" in read(shell, line)


def test_id_of_a_document_is_that_of_its_only_question(shell: Shell) -> None:
    documents = [{"id": row["questionId"], "qas": [{"question": "?", "answers": row["answers"]}]} for row in GOLD]
    shell.write({"g.json": documents, "x.json": {str(key): text for key, text in BASE.items()}})
    assert read(shell, "g.json x.json").startswith("the values (prediction) of x.json, answers (references) of g")
    assert shell.scores("g.json x.json") == [SCORE]


def test_several_lists_are_listed_and_chosen(shell: Shell) -> None:
    shell.write({"t.json": {"splits": HALVES}})
    assert shell.error("t.json") == (
        "t.json: it has 2 lists of records (splits.first.items: 12, splits.second.items: 12): choose one with "
        "--records splits.first.items, or take all with --records 'splits.*.items'"
    )
    assert shell.scores("t.json --records splits.*.items") == [SCORE]
    assert shell.scores("t.json --records splits.first.items,splits.second.items") == [SCORE]
    part = shell.document("t.json --records splits.second.items --by id")["submissions"][0]
    assert part["read"].endswith(": 12 rows (records of splits.second.items)")
    groups = shell.document("t.json --records splits.*.items --by '(part)'")["submissions"][0]["groups"]["(part)"]
    assert {name: group["questions"] for name, group in groups.items()} == {"first": 12, "second": 12}
    assert "there are no records at splits.third.items" in shell.error("t.json --records splits.third.items")


def test_lists_under_a_usual_name_are_chosen_as_well(shell: Shell) -> None:
    shell.write({"t.json": {"data": {"val": ROWS, "test": ROWS[:3]}}, "one.json": {"samples": {"task": ROWS}}})
    assert shell.error("t.json").endswith("choose one with --records data.val, or take all with --records 'data.*'")
    assert shell.scores("t.json --records data.val") == shell.scores("one.json") == [SCORE]


def test_one_path_takes_lists_at_several_levels(shell: Shell) -> None:
    parts = {"val": ROWS[:9], "test": ROWS[9:]}
    shell.write({"t.json": {"base": parts, "tuned": parts}})
    assert shell.error("t.json").endswith("or take all with --records '*.*'")
    assert "records of *.val" in read(shell, "t.json --records *.val --submission-field '(part)'")


def test_lists_of_several_models_are_submissions(shell: Shell) -> None:
    shell.write({"t.json": {name: {"rows": ROWS} for name in ("base", "tuned")}})
    line = "t.json --records *.rows"
    assert "for separate models, add --submission-field '(part)'" in shell.error(line)
    assert shell.scores(f"{line} --submission-field '(part)'") == [SCORE, SCORE]


def test_path_of_records_in_no_file_is_an_error_and_in_one_of_two_is_not(shell: Shell) -> None:
    shell.write({"g.json": {"old": {"rows": GOLD}, "new": {"rows": GOLD[:12]}}})
    assert shell.scores("g.json a.json --records old.rows") == [SCORE]
    assert shell.error("gold.json a.json --records rows") == (
        "no file has records at 'rows': correct the path after --records, or leave it out"
    )


def test_questions_in_each_record_are_scored_one_by_one(shell: Shell) -> None:
    shell.write({"t.json": TURNS})
    line = "t.json --prediction-field turns.*.guess --references-field turns.*.assistant"
    message = "t.json: each record holds several questions in 'turns': score each of them with --records turns"
    assert shell.error(line) == shell.error(f"{line} --variant anls_star") == message
    assert shell.scores(f"{line} --records turns") == [SCORE]
    assert shell.scores("t.json --records turns --prediction-field guess --references-field assistant") == [SCORE]
    assert score(TURNS, records="turns", prediction="guess", references="assistant").anls == SCORE


def test_questions_of_documents_in_another_order_are_not_joined_by_position(shell: Shell) -> None:
    shell.write({"g.json": TURNS, "x.json": TURNS[::-1]})
    line = "-g g.json x.json --records turns --prediction-field guess --references-field assistant"
    assert "have a different document.id in g.json" in shell.error(line)


PAIRS = {"vendor": {"pred": "Acme", "gt": "Acme"}, "label": {"pred": "x", "gt": "y"}}


def test_object_of_a_prediction_and_a_reference_for_each_field_is_a_table(shell: Shell) -> None:
    shell.write({"t.json": PAIRS, "d.json": {"doc1": PAIRS, "doc2": PAIRS}})
    assert shell.scores("t.json") == [0.5]
    assert shell.error("d.json").endswith("choose one with --records doc1, or take all with --records '*'")
    assert shell.document("d.json --records *")["submissions"][0]["questions"] == 4
    shell.write({"d.json": {f"doc{n}": {"fields": PAIRS} for n in range(3)}})
    assert shell.error("d.json").endswith(
        "take all with --records '*.fields', or choose one with --records doc0.fields"
    )
    assert shell.scores("d.json --records '*.fields'") == [0.5]


def test_one_document_on_each_side_is_one_answer(shell: Shell) -> None:
    gold = {"vendor": "Acme", "items": [{"name": "tea"}], "total": "1"}
    shell.write({"g.json": gold, "x.json": {**gold, "total": "9"}, "flat.json": {"a": "1", "b": "2"}})
    assert shell.scores("g.json x.json --variant anls_star") == [pytest.approx(2 / 3)]
    assert shell.document("flat.json -g flat.json --variant anls_star --records .")["submissions"][0]["questions"] == 1


def test_document_that_may_be_a_list_of_many_gets_a_hint(shell: Shell) -> None:
    gold = {"vendor": "Acme", "lines": [{"n": f"{n}"} for n in range(10)]}
    shell.write({"g.json": gold, "x.json": gold, "short.json": {**gold, "lines": gold["lines"][1:]}})
    line = "g.json x.json --variant anls_star"
    assert "if its records are the 10 objects of 'lines', add --records lines" in shell.type(line).err
    assert "records" not in shell.type("-g short.json n=short.json --variant anls_star").err
    shell.write({"many.json": {str(n): gold for n in range(3)}})
    message = "pass .; to score the records in it, add --records lines"
    assert shell.error("-g many.json x.json --variant anls_star").endswith(message)


FIELDS = [{"id": n, "answer": {"vendor": f"V{n}", "total": f"{n}.50"}} for n in range(6)]
# What a program writes around the fields of a document, and the options that lead to them.
WRAPPED: dict[str, Any] = {
    "--prediction-field response": lambda fields: {"response": fields, "seconds": 1},
    "--prediction-field found.0.fields": lambda fields: {"found": [{"fields": fields, "score": 0.5}]},
    "--prediction-field out.response": lambda fields: {"out": json.dumps({"response": fields})},
    "--prediction-field found.0.text --extract json": lambda fields: {
        "found": [{"text": f"So: {json.dumps(fields)}!"}]
    },
    "--prediction-field out --extract json:response": lambda fields: {
        "out": f"So: {json.dumps({'response': fields})}!"
    },
}


@pytest.mark.parametrize("options", WRAPPED)
@pytest.mark.parametrize("form", ["list", "by id", "root", "folder"])
def test_path_leads_to_fields_in_a_wrapper(shell: Shell, options: str, form: str) -> None:
    answers = {str(row["id"]): WRAPPED[options](row["answer"]) for row in FIELDS}
    shell.write({"g.json": FIELDS})
    if form == "folder":
        shell.write({f"x/{key}.json": own for key, own in answers.items()})
    else:
        rows = [{"id": key, **own} for key, own in answers.items()]
        shell.write({"x.json": {"list": rows, "by id": answers, "root": {"results": {"all": rows}}}[form]})
    name = "x" if form == "folder" else "x.json"
    more = "--records results.all" if form == "root" else ""
    assert shell.scores(f"-g g.json {name} --variant anls_star {options} {more}") == [1.0]


BY_ID = {str(key): text for key, text in BASE.items()}
# Where answers by id are inside an object.
NESTED: dict[str, Any] = {
    "results": {"results": BY_ID},
    "runs.best": {"model": "m", "runs": {"best": BY_ID, "seconds": 7}},
    "out": {"model": "m", "score": 0.5, "out": {**BY_ID, "7": {"error": "overloaded"}}},
}


@pytest.mark.parametrize("path", NESTED)
def test_answers_by_id_are_found_inside_an_object(shell: Shell, path: str) -> None:
    shell.write({"x.json": NESTED[path]})
    line = "gold.json x.json --extra ignore"
    assert shell.scores(line) == shell.scores(f"{line} --records {path}") == [SCORE]
    assert f" (records of {path})" in read(shell, line)
    assert score(NESTED[path], gold="gold.json", extra="ignore").anls == SCORE


def test_answers_by_id_of_several_models_and_splits_are_chosen(shell: Shell) -> None:
    halves = {"val": dict([*BY_ID.items()][:12]), "test": dict([*BY_ID.items()][12:])}
    shell.write({"m.json": {"base": BY_ID, "tuned": BY_ID}, "s.json": halves, "v.json": halves["val"]})
    models = "--records base,tuned --submission-field '(part)'"
    assert shell.error("gold.json m.json") == (
        "m.json: it has 2 lists of records (base: 24, tuned: 24): choose one with --records base, or take all with "
        "--records base,tuned"
    )
    assert "add --submission-field '(part)'" in shell.error("gold.json m.json --records base,tuned")
    assert shell.scores(f"gold.json m.json {models}") == [SCORE, SCORE]
    assert shell.scores("gold.json m.json --records tuned") == [SCORE]
    assert "choose one with --records val, or take all with --records '*'" in shell.error("-g s.json s.json")
    assert shell.document("s.json v.json --records val")["submissions"][0]["questions"] == 12


DOCUMENTS = {f"d{n}": {"vendor": f"V{n}", "total": f"{n}.50"} for n in range(6)}


def test_objects_by_id_inside_an_object_are_named_by_their_path(shell: Shell) -> None:
    shell.write({"g.json": DOCUMENTS, "r.json": {"n": 6, "runs": {"best": DOCUMENTS}}, "m.json": {"a": DOCUMENTS}})
    shell.write({"two.json": {"a": DOCUMENTS, "b": DOCUMENTS}})
    line = "--variant anls_star"
    assert shell.error(f"g.json r.json {line}").endswith("its answers are by id in runs.best: add --records runs.best")
    assert shell.scores(f"g.json r.json {line} --records runs.best") == [1.0]
    assert shell.error(f"g.json m.json {line}").endswith("its answers are by id in a: add --records a")
    models = "--records a,b --submission-field '(part)'"
    assert shell.error(f"g.json two.json {line}").endswith(
        "choose one with --records a, or take all with --records a,b"
    )
    assert shell.scores(f"g.json two.json {line} {models}") == [1.0, 1.0]


TEXT = "Error code: 503"
# What stands in place of one of six answers by id, and the score, with the option that it needs.
ODD: dict[str, tuple[Any, str, float]] = {
    "a text": (TEXT, "", 5 / 6),
    "null": (None, "--missing zero", 5 / 6),
    "a list": ([DOCUMENTS["d2"]], "", 5 / 6),
    "fenced JSON": (f"```json\n{json.dumps(DOCUMENTS['d2'])}\n```", "--extract json", 1.0),
    "an error": ({"error": {"message": "overloaded"}}, "", 5 / 6),
}


@pytest.mark.parametrize("case", ODD)
def test_most_values_decide_what_is_by_id(shell: Shell, case: str) -> None:
    value, options, expected = ODD[case]
    shell.write({"g.json": DOCUMENTS, "x.json": {**DOCUMENTS, "d2": value}})
    assert shell.scores(f"g.json x.json --variant anls_star {options}") == [pytest.approx(expected)]


def test_text_in_place_of_a_record_is_its_prediction(shell: Shell) -> None:
    answers = {key: {"response": text, "seconds": 1} for key, text in BY_ID.items()}
    failed = str(IDS[0])
    shell.write({"x.json": {**answers, failed: BY_ID[failed]}, "y.json": {**answers, failed: None}})
    assert shell.scores("gold.json x.json") == [SCORE]
    assert "'response' is null or missing" in shell.error("gold.json y.json")


def test_facts_about_a_file_are_no_answers_by_id(shell: Shell) -> None:
    shell.write({"x.json": {"model": "m", "seconds": 7, "config": {"lr": 1, "name": "x"}}})
    assert "expected a list of records, got an object with the keys 'model', 'seconds', 'c" in shell.error(
        "-g gold.json x.json"
    )


def test_columns_of_objects_are_no_lists_of_questions(shell: Shell) -> None:
    predictions = [{"question": "?", "answer": text} for text in BASE.values()]
    references = [{"parses": [{"question": "?", "answer": text} for text in row["answers"]]} for row in GOLD]
    shell.write({"t.json": {"predictions": predictions, "ground_truths": references, "accuracy": 0.5}})
    line = "t.json --prediction-field predictions.answer --references-field ground_truths.parses.*.answer"
    assert shell.scores(line) == [SCORE]


_OTHER_ORDER = ROWS[::-1]
# A list of references and a list of predictions with the same ids.
JOINED: dict[str, tuple[list[Any], list[Any]]] = {
    "fields of SQuAD": (
        [{"id": row["id"], "answers": {"text": row["answers"], "answer_start": [0]}} for row in ROWS],
        [{"id": str(row["id"]), "prediction_text": row["prediction"]} for row in _OTHER_ORDER],
    ),
    "a text in each": (
        [{"id": row["id"], "value": row["answers"], "question": "?"} for row in ROWS],
        [{"id": row["id"], "text": row["prediction"], "question": "?"} for row in _OTHER_ORDER],
    ),
    "one name for both": (
        [{"id": row["id"], "answer": row["answers"], "question": "?"} for row in ROWS],
        [{"id": row["id"], "answer": row["prediction"], "question": "?"} for row in _OTHER_ORDER],
    ),
}


@pytest.mark.parametrize("case", JOINED)
def test_lists_of_predictions_and_references_are_joined_by_id(shell: Shell, case: str) -> None:
    references, predictions = JOINED[case]
    shell.write({"t.json": {"predictions": predictions, "references": references, "accuracy": 0.5}})
    assert shell.scores("t.json") == [SCORE]


def test_fields_that_differ_between_lists_stay_inside_objects(shell: Shell) -> None:
    gold = [{"id": n, "answer": f"a{n}", "page": n} for n in range(4)]
    all_right, half_right = ([{"id": n, "answer": f"a{n % size}", "page": 0} for n in (3, 1, 0, 2)] for size in (4, 2))
    shell.write({"t.json": {"gold": gold, "x": all_right, "y": half_right}})
    assert "'gold.answer' 'a0'" in shell.error("t.json")
    line = "t.json --references-field gold.answer --prediction-field"
    assert [shell.scores(f"{line} {name}.answer") for name in "xy"] == [[1.0], [0.75]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1:], "add --missing zero"),
        (lambda rows: [{**row, "id": f"other {row['id']}"} for row in rows], "it has 2 lists of records"),
        (lambda rows: [*rows[1:], rows[1]], "it has 2 lists of records"),
        (lambda rows: [*rows[1:], {"prediction_text": "a"}], "'id' is not an id"),
    ],
    ids=["one missing", "other ids", "one repeated", "one without an id"],
)
def test_lists_with_differing_ids_are_not_joined_by_position(
    shell: Shell, change: Callable[[list[Any]], list[Any]], message: str
) -> None:
    references, predictions = JOINED["fields of SQuAD"]
    shell.write({"t.json": {"predictions": change(predictions), "references": references}})
    assert message in shell.error("t.json")


def test_question_that_is_the_only_record_is_read(shell: Shell) -> None:
    shell.write({"t.json": ROWS[1], "answers.json": {"1": "a", "question": "b"}})
    assert shell.document("t.json")["submissions"][0]["questions"] == 1
    assert shell.scores("-g answers.json n=answers.json") == [1.0]


def test_lists_inside_answers_are_no_questions(shell: Shell) -> None:
    invoices = {f"doc{n}": {"vendor": "A", "items": [{"id": 1, "label": "tea", "output": "2"}]} for n in range(3)}
    answers = {str(key): {"prediction": text, "trace": [{"id": 1, "answer": "?"}]} for key, text in BASE.items()}
    shell.write({"i.json": invoices, "a.json": answers})
    assert shell.document("i.json -g i.json --variant anls_star")["submissions"][0]["questions"] == 3
    assert shell.scores("gold.json a.json") == [SCORE]


@pytest.mark.parametrize(("count", "questions"), [(10, 10), (9, 1)])
def test_many_records_alike_under_the_only_key_are_records_by_id(shell: Shell, count: int, questions: int) -> None:
    gold = {f"doc{n}": {"date": f"2026-08-{n:02}", "total": f"{n}.50"} for n in range(count)}
    out = {key: {**value, "total": "x"} for key, value in gold.items()}
    shell.write({"g.json": {"val": gold}, "x.json": {"val": out}, "bare.json": out})
    document = shell.document("g.json x.json --variant anls_star")
    assert (document["submissions"][0]["anls"], document["questions"]) == (0.5, questions)
    if questions > 1:
        assert "(records of val)" in read(shell, "g.json x.json --variant anls_star")
        assert shell.scores("g.json bare.json --variant anls_star") == [0.5]
