"""Which field is which: named by the user, or by a usual name. The records are made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from anls_metric import score
from tests.reading.conftest import Shell, read

PREDICTIONS = (  # noqa: SIM905
    "prediction predicted_answer pred_answer model_answer predicted pred prediction_text model_prediction predict "
    "model_output model_response llm_output llm_response llm_answer response output generated_text generated_answer "
    "generation completion answer_pred predictions preds actual_output pred_value"
).split()
REFERENCES = (  # noqa: SIM905
    "references answers accepted_answers gold_answers gold_answer correct_answer ground_truths ground_truth gt_answers "
    "gt expected_output reference_answer gold_value answer_ground_truth correct_answers true_answer truth answer "
    "reference gold target targets expected labels label label_text"
).split()


def read_record(record: dict[str, Any], **options: Any) -> str:
    """Score a table of one record with both sides, and return the fields that were read."""
    line: str = score([record], **options).to_dict()["submissions"][0]["read"]
    return line.removesuffix(" of data: 1 row")


@pytest.mark.parametrize(
    ("role", "names", "other"),
    [("prediction", PREDICTIONS, "references"), ("references", REFERENCES, "prediction")],
)
def test_field_has_a_usual_name_in_any_spelling(role: str, names: list[str], other: str) -> None:
    for name in names:
        words = name.replace("_", " ")
        for field in (name, name.upper(), words, words.title(), words.replace(" ", "-")):
            assert f"{field} ({role})" in read_record({field: "a", other: "a"})
    for first, second in pairwise(names):
        assert f"{first} ({role})" in read_record({second: "a", first: "a", other: "a"})


# A record with both sides, and the fields of its prediction and of its accepted answers.
BOTH: list[tuple[dict[str, Any], str, str]] = [
    ({"answer": "a", "answers": ["a"]}, "answer", "answers"),
    ({"answer": ["a"], "output": "a"}, "output", "answer"),
    ({"answer": "a", "output": "a", "answers": ["a"]}, "output", "answers"),
    ({"label": "x", "answer": "a", "prediction": "a"}, "prediction", "answer"),
    ({"answer": "a", "label": "a"}, "answer", "label"),
    ({"text": "b", "note": "b", "pred": "a", "gt": "a"}, "pred", "gt"),
    ({"response": {"status": 200}, "pred": "a", "answers": ["a"]}, "pred", "answers"),  # an object is no prediction
    ({"prediction_text": "a", "answers": {"text": ["a"], "answer_start": [1]}}, "prediction_text", "answers"),
    ({"Prediction": "b", "prediction": "a", "references": "a"}, "prediction", "references"),
    ({"gt_sum": "a", "pred_sum": "a", "pred_time": "b"}, "pred_sum", "gt_sum"),
    ({"Sum GT": "a", "Sum Pred": "a"}, "Sum Pred", "Sum GT"),
    ({"true_city": "a", "predicted_city": "a"}, "predicted_city", "true_city"),
    ({"pred_answer": "a", "gt_answer": "a", "answer": "b"}, "pred_answer", "gt_answer"),
    ({"answer": "b", "answer_aliases": ["a"], "response": "a"}, "response", "answer,answer_aliases"),
    ({"answer": "a", "answer_aliases": [], "response": "a"}, "response", "answer,answer_aliases"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "prediction", "references"), BOTH)
def test_answer_is_what_no_other_field_is(record: dict[str, Any], prediction: str, references: str) -> None:
    assert read_record(record) == f"{prediction} (prediction), {references} (references)"
    assert score([record]).anls == 1


# A record, the options that name its fields, and the line about them. What the user names comes before usual names.
NAMED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"prediction": "b", "out": [{"text": "a"}], "references": ["b"], "doc": {"gold": ["a"]}},
        {"prediction": "out.0.text", "references": "doc.gold"},
        "out.0.text (prediction), doc.gold (references)"),
    ({"out.text": "a", "out": {"text": "b"}, "gt": "a"}, {"prediction": "out.text"},
        "out.text (prediction), gt (references)"),  # a field whose name has a dot wins
    ({"answer": "b", "answers": ["a"], "text": "a"}, {"prediction": "text"},
        "text (prediction), answers (references)"),
    ({"prediction": "a", "answers": ["b"], "label": "a"}, {"references": "label"},
        "prediction (prediction), label (references)"),
    ({"answer": "a", "text": "a"}, {"prediction": "text"}, "text (prediction), answer (references)"),
    ({"nr": 7, "said": "a", "right": ["a"]}, {"id": "nr", "prediction": "said", "references": "right"},
        "said (prediction), right (references)"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "options", "line"), NAMED)
def test_named_field_counts(record: dict[str, Any], options: dict[str, Any], line: str) -> None:
    assert read_record(record, **options) == line
    assert score([record], **options).anls == 1
    assert score({name: [value] for name, value in record.items()}, **options).anls == 1


def test_named_field_may_be_in_a_late_record(shell: Shell) -> None:
    rows = [{"id": n, "prediction": "b", "answers": ["a"]} for n in range(150)]
    shell.write({"t.jsonl": [*rows, {"id": 150, "late": "a", "answers": ["a"]}]})
    assert shell.scores("t.jsonl --prediction-field late --missing zero") == [1 / 151]


# What is typed about t.json with one record, and the error.
RECORD = {"questionId": 7, "said": "a", "meta": {"texts": ["a"], "n": 1}, "long": "b" * 90}
FOUND = f"(found 'questionId' 7; 'said' 'a'; 'meta.texts' ['a']; 'meta.n' 1; 'long' '{'b' * 36}...)"
ERRORS: list[tuple[str, str]] = [
    ("t.json --references-field meta.texts",
        f"t.json: no predictions: pass their field with --prediction-field, or add a submission after it {FOUND}; for "
        "example: anls t.json --references-field meta.texts --prediction-field said"),
    ("t.json --prediction-field said",
        f"t.json: no references: pass their field with --references-field, or pass a gold file with --gold {FOUND}"),
    ("t.json",
        "t.json: no references and no predictions: pass their fields with --references-field, --prediction-field, or "
        f"pass a gold file with --gold {FOUND}"),
    ("t.json --gold test.json --prediction-field said",
        "test.json: no references, as in a test split: pass their field with --references-field, or write a "
        "leaderboard file with anls export rrc (found 'questionId' 7; 'question' 'q?'; 'data_split' 'test')"),
    ("t.json --gold t.json --prediction-field said",
        f"t.json: no references: pass their field with --references-field {FOUND}"),
    ("model.json t.json", "t.json: no references: pass their field with --references-field (fo"),
    ("whole.json same.json",
        "whole.json: no references: pass their field with --references-field, or add --variant anls_star to score wh"),
    ("whole.json", "whole.json: no references and no predictions: pass their fields with --references-field, --pred"),
    ("t.json --prediction-field sad", "t.json: no field 'sad' for --prediction-field: did you mean 'said'?"),
    ("t.json --prediction-field meta.text",
        "t.json: no field 'meta.text' for --prediction-field: did you mean 'meta.texts'?"),
    ("t.json --references-field meta.texts.7",
        "t.json: no field 'meta.texts.7' for --references-field: did you mean 'meta.texts'?"),
    ("t.json --prediction-field x --references-field y",
        "t.json: no field 'x' for --prediction-field (found 'questionId' 7; 'said' 'a'; "),
    ("t.json --submission-field modell", "t.json: no field 'modell' for --submission-field (found "),
    ("t.json --gold-id-field questionid", "t.json: no field 'questionid' for --gold-id-field: did you mean"),
    ("t.json --field judge=saied", "t.json: no field 'saied' for --field judge=...: did you mean 'said'?"),
    ("t.json --field answer_format=said",
        "there is no field 'answer_format' to read: choose from question, confidence, judge"),
    ("t.json --field prediction=said", "--field does not apply to prediction: pass --prediction-field"),
    ("t.json --field submission=said", "--field does not apply to submission: pass --submission-field"),
    ("t.json --prediction-field said --references-field said",
        "t.json: 'said' cannot be both the prediction and the references: pass two fields with "
        "--prediction-field and --references-field, or pass a gold file with --gold"),
    ("t.json --prediction-field said --id-field said --references-field meta.texts",
        "t.json: 'said' cannot be both the id and an answer: pass a different field with --id-field"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), ERRORS)
def test_field_that_is_not_there_is_an_error(shell: Shell, line: str, message: str) -> None:
    whole = {"a": {"total": "1"}, "b": {"total": "2"}}
    test = [{"questionId": 7, "question": "q?", "data_split": "test"}]
    model = [{"questionId": 7, "output": "a"}]
    shell.write({"t.json": [RECORD], "test.json": test, "model.json": model, "whole.json": whole, "same.json": whole})
    assert shell.error(line).startswith(message)
    assert shell.scores("t.json --prediction-field said --references-field meta.texts") == [1]
    assert shell.scores("whole.json same.json --variant anls_star") == [1]


# Gold file and submission


SIDES: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    ({"id": 1, "answer": "a"}, {"id": 1, "answer": "a"}, "answer", "answer"),
    ({"id": 1, "answer": "b", "answers": ["a"]}, {"id": 1, "answer": "a"}, "answers", "answer"),
    ({"id": 1, "answer": "a", "output": "b"}, {"id": 1, "answer": "b", "output": "a"}, "answer", "output"),
    ({"id": 1, "target": "a"}, {"id": 1, "generated_text": "a"}, "target", "generated_text"),
    ({"id": 1, "Answer": "a", "label": "b"}, {"id": 1, "label": "b", "Answer": "a"}, "Answer", "Answer"),
]


@pytest.mark.parametrize(("gold", "record", "references", "prediction"), SIDES)
def test_answer_depends_on_the_side(
    shell: Shell, gold: dict[str, Any], record: dict[str, Any], references: str, prediction: str
) -> None:
    shell.write({"g.json": [gold], "x.json": [record]})
    line = f"{prediction} (prediction) of x.json, {references} (references) of g.json, joined by id: 1 of 1"
    assert read(shell, "-g g.json -s x.json") == line
    assert shell.scores("-g g.json x.json") == [1]


@pytest.mark.parametrize("name", ["model", "Checkpoint", "system", "submission", "llm", "model_name", "model-id"])
def test_field_of_models_has_a_usual_name(name: str) -> None:
    rows = [{name: model, "id": n, "prediction": model, "answers": ["x"]} for model in "xy" for n in (1, 2)]
    found = [(each["name"], each["anls"]) for each in score(rows).to_dict()["submissions"]]
    assert found == [("x", 1), ("y", 0)]


@pytest.mark.parametrize("name", ["confidence", "logprob"])
def test_confidence_has_a_usual_name(name: str) -> None:
    rows = [{"prediction": text, "answers": ["a"], name: 0} for text in "ab"]
    (submission,) = score(rows).to_dict()["submissions"]
    assert submission["confidence"]


# What no name tells: the files g.json and x.json, what the error says about both, and the options that it proposes.
QUESTIONS = ["What?", "Who?", "When?"]
UNKNOWN: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str, str]] = {
    "names that people make up": (
        [{"nr": n, "asked": text, "right": "ab"[n % 2]} for n, text in enumerate(QUESTIONS)],
        [{"nr": n, "said": "ab"[n % 2]} for n in range(3)],
        "g.json has no references (found 'nr' 0; 'asked' 'What?'; 'right' 'a'); x.json has no predictions (found 'nr' "
        "0; 'said' 'a'): pass their fields with --references-field, --prediction-field; for example: anls g.json x",
        "--prediction-field said --references-field right --id-field nr",
    ),
    "a conversation": (
        [{"id": n, "conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": "ab"[n % 2]}]}
            for n, text in enumerate(QUESTIONS)],
        [{"id": n, "response": "ab"[n % 2]} for n in range(3)],
        "'conversations.1.from' 'gpt'; 'conversations.1.value' 'a')",
        "--references-field conversations.1.value",
    ),
    "lists of several lengths": (
        [{"id": n, "messages": [{"role": "user", "content": text}] * n + [{"role": "assistant", "content": "a"}]}
            for n, text in enumerate(QUESTIONS)],
        [{"id": n, "response": "a"} for n in range(3)],
        "'messages.-1.role' 'assistant'; 'messages.-1.content' 'a')",
        "--references-field messages.-1.content",
    ),
    "fields that no word tells apart": (
        [{"id": n, "vendor": f"v{n}", "city": f"c{n}"} for n in range(3)],
        [{"id": n, "shop": f"v{n}", "town": f"c{n}"} for n in range(3)],
        "g.json has no references (found 'id' 0; 'vendor' 'v0'; 'city' 'c0'); x.json has no predictions",
        "",
    ),
    "one object in each": (
        [{"id": n, "annotation": {"city": f"c{n}", "shop": f"v{n}"}} for n in range(3)],
        [{"id": n, "extraction": {"city": f"c{n}", "shop": f"v{n}"}} for n in range(3)],
        "x.json has no predictions (found 'id' 0; 'extraction.city' 'c0'; 'extraction.shop' 'v0')",
        "--variant anls_star --prediction-field extraction --references-field annotation",
    ),
    "objects beside others": (
        [{"id": n, "gt_data": {"city": f"c{n}", "shop": f"v{n}"}, "meta": {"a": 1, "b": 2}} for n in range(3)],
        [{"id": n, "pred_fields": {"city": f"c{n}", "shop": f"v{n}"}, "usage": {"a": 1, "b": 2}} for n in range(3)],
        "x.json has no predictions (found 'id' 0; 'pred_fields.city' 'c0'; 'pred_fields.shop' 'v0'; 'usage.a' 1",
        "--variant anls_star --prediction-field pred_fields --references-field gt_data",
    ),
    "an id that must be named, too": (
        [{"nr": n, "prompt": text, "answers": ["a"]} for n, text in enumerate(QUESTIONS)],
        [{"nr": n, "top_reply": "a", "prompt": QUESTIONS[n]} for n in (2, 1)],
        "no predictions: pass their field with --prediction-field",
        "--prediction-field top_reply --id-field nr",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_one_error_names_all_that_is_missing(shell: Shell, case: str) -> None:
    gold, answers, words, options = UNKNOWN[case]
    shell.write({"g.json": gold, "x.json": answers})
    error = shell.error("g.json x.json")
    assert words in error
    assert error.partition("; for example: anls ")[2] == (options and f"g.json x.json {options}")
    if options:
        assert shell.scores(f"g.json x.json {options} --missing zero") == [len(answers) / len(gold)]


def test_list_of_questions_without_usual_names_is_proposed(shell: Shell) -> None:
    rows = [[{"q": "?", "a": f"{n} {part}", "model_answer": f"{n} {part}"} for n in range(2)] for part in "ab"]
    shell.write({"t.json": [{"scan": n, "qa_pairs": own} for n, own in enumerate(rows)]})
    assert shell.error("t.json").endswith(" in 'qa_pairs': score each of them with --records qa_pairs")
    assert shell.scores("t.json --records qa_pairs --references-field a") == [1.0]


def test_lists_of_references_are_those_of_a_gold_file(shell: Shell) -> None:
    shell.write({"g.json": [["a", "b"], ["c"], ["d"]], "x.json": ["b", "c", "x"]})
    assert shell.scores("g.json x.json") == [pytest.approx(2 / 3)]


def test_columns_without_usual_names_are_proposed(shell: Shell) -> None:
    answers = [f"answer {n}" for n in range(12)]
    columns = {"answers_unique": [[text] for text in answers], "texts_generated": [*answers[:9], *"xyz"]}
    shell.write({"t.json": {**columns, "anls": 0.75, "judge_scores": [-1]}})
    options = "--prediction-field texts_generated --references-field answers_unique"
    assert shell.error("t.json").endswith(f"; for example: anls t.json {options}")
    assert shell.scores(f"t.json {options}") == [0.75]


def test_extracted_answer_is_the_prediction_beside_the_output(shell: Shell) -> None:
    row = {"question": "?", "response": "So it is a.", "extracted_answer": "a", "expected_answer": "a"}
    shell.write({"t.jsonl": [{"id": n, **row} for n in range(3)]})
    assert shell.scores("t.jsonl") == [1.0]
    assert "predictions  t.jsonl: extracted_answer\nreferences   t.jsonl: expected_answer\n" in shell.print("t.jsonl")


def test_fields_of_one_item_of_several_are_not_proposed(shell: Shell) -> None:
    for name, side in {"g.json": "gold", "x.json": "pred"}.items():
        fields = [{key: {side: f"{key} {n}", "note": "b"} for key in ("city", "shop")} for n in range(3)]
        shell.write({name: [{"file": f"{n}.png", "fields": own} for n, own in enumerate(fields)]})
    several = "g.json: each record holds several questions in 'fields': score each of them with --records fields"
    assert shell.error("g.json x.json") == several
    assert "to join by both, add --id-field '(key),file'" in shell.error("g.json x.json --records fields")
    assert shell.scores("g.json x.json --records fields --id-field (key),file") == [1.0]


def test_example_of_an_error_is_in_the_words_of_python() -> None:
    gold, answers, *_ = UNKNOWN["names that people make up"]
    with pytest.raises(ValueError, match=r'prediction="said", references="right", id="nr"$'):
        score(answers, gold=gold)


def test_answer_beside_an_unknown_field_is_the_reference(shell: Shell) -> None:
    rows = [{"question": text, "answer": "a", "gpt-4o": "ab"[n % 2]} for n, text in enumerate(QUESTIONS)]
    shell.write({"t.json": rows})
    options = "--prediction-field gpt-4o --references-field answer"
    assert shell.error("t.json").endswith(f"; for example: anls t.json {options}")
    assert shell.scores(f"t.json {options}") == [pytest.approx(2 / 3)]


CITIES = ["Leeds", "Hull", "York", "Derby", "Bath", "Ely"]
# What stands beside a copy of the references, and the options that the error names; "" where it is scored.
COPIES: dict[str, tuple[dict[str, list[str]], str]] = {
    "a model": ({"gpt-4o": [*CITIES[:4], "x", "y"]}, "gpt-4o"),
    "a bad model": ({"qwen_answer": [CITIES[0], *"vwxyz"]}, "qwen_answer"),
    "two models": ({"small": [*CITIES[:4], "x", "y"], "large": [*CITIES[:5], "z"]}, "small,large"),
    "sentences": ({"llama": [*(f"It is {city}." for city in CITIES[:3]), *"xyz"]}, "llama"),
    "its reasons": ({"reasoning": [f"It says {city}" for city in CITIES]}, ""),
    "remarks": ({"remark": ["fine", "fine", "blurred", "fine", "", "fine"]}, ""),
    "seconds": ({"seconds": ["1", "2", "3", "4", "5", "6"]}, ""),
}


@pytest.mark.parametrize("case", COPIES)
def test_copied_answer_beside_other_predictions_is_an_error(shell: Shell, case: str) -> None:
    columns, fields = COPIES[case]
    rows = [{"id": n, "answer": city} for n, city in enumerate(CITIES)]
    more = [dict(zip(columns, values)) for values in zip(*columns.values())]
    shell.write({"g.json": rows, "x.json": [{**row, **own} for row, own in zip(rows, more)]})
    if not fields:
        assert shell.scores("g.json x.json") == [1.0]
        return
    error = shell.error("g.json x.json")
    assert "its 'answer' equals the references of g.json in 6 rows, as a copy does" in error
    assert f"the predictions, add --prediction-field {fields}; if not, --prediction-field answer" in error
    assert len(shell.scores(f"g.json x.json --prediction-field {fields}")) == len(columns)
    assert shell.scores("g.json x.json --prediction-field answer") == [1.0]


# Records by id with a text in a wrapper, and the path of the text, which the error names.
WRAPPERS: dict[str, dict[str, Any]] = {
    "response.text": {"response": {"text": "Leeds", "seconds": 1}},
    "output.answer": {"output": {"answer": "Leeds", "source": "p. 1"}},
    "response.choices.0.message.content": {"response": {"choices": [{"message": {"content": "Leeds"}}], "n": 1}},
}


@pytest.mark.parametrize("path", WRAPPERS)
def test_error_names_the_path_of_the_text_in_objects(shell: Shell, path: str) -> None:
    shell.write({"g.json": {"q1": "Leeds", "q2": "Hull"}, "x.json": dict.fromkeys(("q1", "q2"), WRAPPERS[path])})
    assert f"for the text in them, add --prediction-field {path}; for all, --variant anls_star" in shell.error(
        "g.json x.json"
    )
    assert shell.scores(f"g.json x.json --prediction-field {path}") == [0.5]


DOCUMENTS = {f"d{n}": {"vendor": f"V{n}", "total": f"{n}.50"} for n in range(6)}


@pytest.mark.parametrize("field", ["response", "model_output"])
@pytest.mark.parametrize("form", [dict, json.dumps])
def test_answer_of_a_usual_name_is_no_whole_record(shell: Shell, field: str, form: Callable[..., Any]) -> None:
    answers = {key: {field: form(own), "seconds": 1} for key, own in DOCUMENTS.items()}
    shell.write({"g.json": DOCUMENTS, "x.json": answers})
    assert shell.scores("g.json x.json --variant anls_star") == [1.0]
    named = {key: {"vendor": "V", field: "fast"} for key in DOCUMENTS}  # a key of the answer
    shell.write({"g.json": named, "x.json": named, "y.json": named})
    assert shell.scores("g.json y.json --variant anls_star") == [1.0]


def test_confidence_inside_an_answer_is_only_a_key(shell: Shell) -> None:
    shell.write({"g.json": DOCUMENTS, "x.json": {key: {**own, "confidence": 0.9} for key, own in DOCUMENTS.items()}})
    (submission,) = shell.document("g.json x.json --variant anls_star")["submissions"]
    assert "confidence" not in submission
    assert "--ignore-keys confidence" in shell.type("g.json x.json --variant anls_star").err
