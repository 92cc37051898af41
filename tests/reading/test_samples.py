"""Several answers of a model to a question in one field: `--samples`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anls_metric import score
from tests.reading.conftest import Shell, read

GOLD = [{"id": n, "answers": [text]} for n, text in enumerate(("Leeds", "42", "Ann"))]
SAMPLES = [["Leeds", "Leeds", "Hull"], ["41", "42", " 42"], ["Bob", "Bob", "Ann"]]
SCORES = {"mean": (2 / 3 + 5 / 6 + 1 / 3) / 3, "vote": 2 / 3, "best": 1.0}


def make_choices(texts: list[str]) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}} for text in texts]}


def make_candidates(texts: list[str]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}]}} for text in texts]}


# The name of a file, a record of it for an id and its answers, and what is typed to read it.
FORMS: dict[str, Any] = {
    "a list": ("x.json", lambda key, texts: {"id": key, "prediction": texts}, ""),
    "a list in a cell": ("x.csv", lambda key, texts: {"id": key, "prediction": json.dumps(texts)}, ""),
    "objects": (
        "x.json",
        lambda key, texts: {"id": key, "prediction": [{"answer": text, "logprob": -1.0} for text in texts]},
        "--prediction-field prediction.*.answer",
    ),
    "messages": (
        "x.json",
        lambda key, texts: {"id": key, "prediction": [[{"type": "text", "text": text}] for text in texts]},
        "",
    ),
    "raw output": (
        "x.json",
        lambda key, texts: {"id": key, "prediction": [f"<think>?</think>{text}" for text in texts]},
        "--extract think",
    ),
    "OpenAI": (
        "x.jsonl",
        lambda key, texts: {"custom_id": str(key), "response": {"body": make_choices(texts)}, "error": None},
        "",
    ),
    "Gemini": ("x.jsonl", lambda key, texts: {"key": str(key), "response": make_candidates(texts)}, ""),
    "vLLM": ("x.jsonl", lambda key, texts: {"request_id": str(key), "outputs": [{"text": t} for t in texts]}, ""),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", SCORES)
def test_samples_are_averaged_or_chosen_in_every_form(shell: Shell, form: str, way: str) -> None:
    name, make, more = FORMS[form]
    shell.write({"gold.json": GOLD, name: [make(row["id"], texts) for row, texts in zip(GOLD, SAMPLES)]})
    line = f"gold.json {name} {more} --samples {way}"
    assert shell.scores(line) == [pytest.approx(SCORES[way])]
    part = f"|samples:{way}_of_3|"
    assert (part in shell.document(line)["signature"]) == (way != "mean")
    words = {"mean": "the mean of", "vote": "the most frequent of", "best": "the best of"}[way]
    oracle = ", as an oracle chooses" if way == "best" else ""
    assert read(shell, line).endswith(f"; {words} 3 samples per question{oracle}")


@pytest.mark.parametrize("form", ["a list", "messages", "OpenAI", "Gemini", "vLLM"])
def test_error_for_samples_proposes_the_option(shell: Shell, form: str) -> None:
    name, make, more = FORMS[form]
    shell.write({"gold.json": GOLD, name: [make(row["id"], texts) for row, texts in zip(GOLD, SAMPLES)]})
    message = shell.error(f"gold.json {name} {more}")
    assert message.endswith(": for several answers to a question, add --samples mean or --samples vote")


def test_list_in_a_cell_gets_a_hint(shell: Shell) -> None:
    name, make, _ = FORMS["a list in a cell"]
    shell.write({"gold.json": GOLD, name: [make(row["id"], texts) for row, texts in zip(GOLD, SAMPLES)]})
    assert "each prediction is a list of 3 strings, compared as one text" in shell.type(f"gold.json {name}").err
    assert "as one text" not in shell.type(f"gold.json {name} --samples vote").err


@pytest.mark.parametrize("dump", [dict, json.dumps])
def test_list_of_objects_for_one_object_gets_a_hint(shell: Shell, dump: Any) -> None:
    rows = [{"prediction": [dump({"a": n}), dump({"a": 9})], "references": {"a": n}} for n in range(3)]
    shell.write({"t.json": rows, "lists.json": [{**row, "references": [{"a": 1}]} for row in rows]})
    message = "each prediction is a list of 2 objects, and each reference is one object"
    assert message in shell.type("t.json --variant anls_star").err
    assert shell.scores("t.json --variant anls_star --samples best") == [1.0]
    assert message not in shell.type("lists.json --variant anls_star").err


# The references and the predictions of two questions, and the end of the error.
ADVICE: list[tuple[list[Any], list[Any], str]] = [
    (["a", "b"], [["a", "c"], ["b"]], "for several answers to a question, add --samples mean or --samples vote"),
    (
        [["a", "b"]] * 2,
        [["a", "c"], ["b", "a"]],
        "add --samples mean or --samples vote; for answers that are lists, --variant anls_star",
    ),
    ([["a", "b"]] * 2, [["a", "c"], ["b"]], "or --samples vote"),
    (["a", "b"], [[{"score": 0.5, "text": "a"}]] * 2, "with --prediction-field x.0.text"),
    (["a", "b"], [[{"score": 0.5, "text": "a"}] * 2] * 2, "with --prediction-field 'x.*.text'"),
    (["a", "b"], [{"value": "a", "page": 1}] * 2, "with --prediction-field x.value"),
    (['{"a": "1"}'] * 2, [{"a": "1"}] * 2, "score lists and objects with --variant anls_star"),
    (["a", "b"], [{"first": "a", "second": "b"}] * 2, "pass a field of strings with --prediction-field"),
]


@pytest.mark.parametrize(("references", "predictions", "end"), ADVICE)
def test_error_for_a_value_proposes_what_the_references_allow(
    shell: Shell, references: list[Any], predictions: list[Any], end: str
) -> None:
    shell.write({"t.json": [{"references": own, "x": value} for own, value in zip(references, predictions)]})
    message = shell.error("t.json --prediction-field x")
    assert message.endswith(end)
    assert ("anls_star" in message) == ("anls_star" in end or len(references[0]) == len(references) == 2)


def test_missing_samples_are_treated_as_missing_answers_are() -> None:
    rows = [{"prediction": [None, "a"], "references": "a"}, {"prediction": "b", "references": "b"}]
    with pytest.raises(ValueError, match='has an answer that is null: to score it 0, add missing="zero"'):
        score(rows, samples="mean")
    assert score(rows, samples="mean", missing="zero").anls == 0.75
    assert score(rows, samples="mean", missing="skip").anls == 1.0
    assert score(rows, samples="vote", missing="zero").signature.count("samples:vote|") == 1


def test_first_of_equally_frequent_samples_wins_and_all_lists_of_values_are_samples() -> None:
    assert score([{"prediction": ["x", "a"], "references": "a"}], samples="vote").anls == 0.0
    values = [{"prediction": ['{"a": 1}', '{"a": 2}', '{"a": 2}'], "references": {"a": 2}}]
    assert score(values, samples="vote", variant="anls_star").anls == 1.0
    assert score(values, samples="mean", variant="anls_star").anls == pytest.approx(2 / 3)


def test_samples_of_several_runs_are_chosen_within_a_run() -> None:
    rows = [{"id": 1, "seed": n, "prediction": own, "references": "a"} for n, own in enumerate((["a", "x"], ["x"] * 2))]
    assert score(rows, samples="best").anls == 0.5


def test_samples_do_not_apply_to_a_benchmark_metric(shell: Shell) -> None:
    assert "--samples does not apply" in shell.error("gold.json a.json --samples vote --variant longdocurl")
