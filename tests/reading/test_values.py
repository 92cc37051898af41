"""What the cells of a file mean: predictions, accepted answers, confidences, verdicts, and values in JSON."""

from __future__ import annotations

import contextlib
import json
import math
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anls_metric import score
from anls_metric.messages import InputError
from tests.reading.conftest import Shell


def read_references(cell: Any, **options: Any) -> list[Any]:
    (answer,) = score([{"prediction": "a", "references": cell}], **options).answers()
    return list(answer["references"])


def find_error(prediction: Any = "a", references: Any = "a", options: Any = None, **more: Any) -> str:
    """Score a record that must be refused, and return the error."""
    with pytest.raises(InputError) as refused:
        score([{"prediction": prediction, "references": references, **more}], **(options or {}))
    return str(refused.value).removeprefix("data, record 1: ")


# Accepted answers

# Cells with the accepted answers "a" and "b", and cells with other accepted answers.
AND_B: list[Any] = [
    *(["a", "b"], [["a", "b"]], [{"text": "a", "answer_start": 1}, {"text": "b"}], {"text": ["a", "b"]}),
    *('["a", "b"]', ' ["a", "b"] ', '[["a", "b"]]', "['a', 'b']", "('a', 'b')", "{'a', 'b'}"),
    "{'text': ['a', 'b'], 'answer_start': [1, 2]}",
]
OTHERS: list[tuple[Any, list[str]]] = [
    *(("a", ["a"]), (7, ["7"]), ([7, 2.5, "a"], ["7", "2.5", "a"]), ("('a',)", ["a"]), ("['C:\\data']", ["C:\\data"])),
    ("['it\\'s', \"it's\", 'a\\nb']", ["it's", "it's", "a\nb"]),
    *(('["\\u00e9", "a/b"]', ["é", "a/b"]), ("[np.str_('a'), np.str_(\"b'\")]", ["a", "b'"])),
    *(('{"answer_start": [1], "text": ["a"]}', ["a"]), ("{'text': 'a', 'answer_start': 1}", ["a"])),
]
NO_LISTS = [
    *("[1, 2]", "(910) 741-5000", "[illegible]", "(a)", "('a')", "[sic] yes", "['", "[]x", "{x}", "{'a': 'b'}"),
    *("()", '("a" or "b")', "Index", "array", "[", "{", '{"a"', "[...]", "a|b", "a; b"),
]


def test_written_list_is_read_and_other_text_is_one_answer() -> None:
    cells = [*((cell, ["a", "b"]) for cell in AND_B), *OTHERS, *((text, [text]) for text in NO_LISTS)]
    assert [read_references(cell) for cell, _ in cells] == [answers for _, answers in cells]


PRINTED = [
    *("['a', nan]", "[nan, 'a']", "['a', None]", "['a' 'b']", "[1, 'a']", "[['a'], ['b']]", "['a\nb', 'c']"),
    *("array(['a', 'b'], dtype=object)", "Index(['a', 'b'], dtype='object')", "[b'a']", '["Hello" he said]'),
    *("{'text': array(['a'], dtype=object), 'answer_start': array([1])}", "[np.str_('a'), np.float64(2.0)]"),
]


@pytest.mark.parametrize("cell", PRINTED)
def test_printed_form_of_other_values_is_refused(cell: str) -> None:
    message = find_error(references=cell)
    assert message.startswith("the reference is ")
    end = 'written as text: pass a list of strings, or write it as JSON, like ["first answer", "second answer"]'
    assert message.endswith(end)


NONE: tuple[Any, ...] = (None, "", [], "[]", {"text": [], "answer_start": []})
NONE_AT_ALL = "'references' is empty everywhere, as in a test split: write a leaderboard file with anls export rrc"

# The only cell, without an accepted answer, and the error.
EMPTY: list[tuple[Any, str]] = [
    *((none, f"data: {NONE_AT_ALL}") for none in NONE),
    (["a", True], "the reference, item 1, is True (bool), not a string: pass a string"),
    ([["a"], ["b"]], "the reference, item 0, is ['a'] (list), not a string"),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "message"), EMPTY)
def test_missing_accepted_answer_is_refused(cell: Any, message: str) -> None:
    assert find_error(references=cell).startswith(message)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (None, "'references' is null or missing: add a reference, or leave the question out"),
        ("", "the reference is empty: add a reference, or leave the question out"),
    ],
)
def test_one_of_several_references_that_is_missing_is_refused(cell: Any, message: str) -> None:
    rows = [{"prediction": "a", "references": cell}, {"prediction": "a", "references": "a"}]
    with pytest.raises(InputError) as refused:
        score(rows)
    assert str(refused.value) == f"data, record 1: {message}"


@pytest.mark.parametrize(
    ("cell", "separator", "answers"),
    [
        *(("a | b", "|", ["a", "b"]), ("a\nb", r"\n", ["a", "b"]), ("a;;b;", ";", ["a", "b"]), ("|", "|", ["|"])),
        (["a|b", "c"], "|", ["a", "b", "c"]),
    ],
)
def test_separator_splits_accepted_answers(cell: Any, separator: str, answers: list[str]) -> None:
    assert read_references(cell, references_separator=separator) == answers


@settings(max_examples=50)
@given(
    st.lists(st.text(), min_size=1, max_size=4), st.sampled_from([json.dumps, repr, lambda texts: repr(tuple(texts))])
)
def test_list_is_read_as_it_was_written(texts: list[str], write: Any) -> None:
    assert read_references(write(texts)) == texts


@settings(max_examples=100)
@given(st.text(alphabet="[](){}'\",\\ab1 \n", max_size=40))
def test_any_cell_is_read_or_refused(cell: str) -> None:
    with contextlib.suppress(InputError):
        assert all(isinstance(text, str) for text in read_references(cell)) or not cell


# Predictions

# A cell of a prediction, the prediction that is read, and the answer that it equals.
PREDICTED: list[tuple[Any, str]] = [
    ("['a', 'b']", "['a', 'b']"),  # a prediction is never a printed list
    ("", ""),
    (["a"], "a"),
    (7, "7"),
    (2.5, "2.5"),
    ([{"type": "reasoning", "text": "b"}, {"type": "text", "text": "a"}], "a"),
]


@pytest.mark.parametrize(("cell", "text"), PREDICTED)
def test_prediction_is_a_string(cell: Any, text: str) -> None:
    (answer,) = score([{"prediction": cell, "references": [text or "x"]}]).answers()
    assert (answer["prediction"], answer["score"]) == (text, float(text != ""))


@pytest.mark.parametrize("cell", [None, math.nan])
def test_missing_prediction_is_refused_or_scores_zero(cell: Any) -> None:
    message = (
        '\'prediction\' is null or missing: write "" if the model gave no answer, or add missing="zero" to score it 0'
    )
    again = "; if it was a text such as NA or None, let pandas read the file with keep_default_na=False"
    assert find_error(cell) == message + again * (cell is not None)
    rows = [{"prediction": cell, "references": "a"}, {"references": "a"}, {"prediction": "a", "references": "a"}]
    assert score(rows, missing="zero").anls == 1 / 3


@pytest.mark.parametrize(
    ("references", "path"),
    [
        ({"value": "Leeds", "page": 3}, "answers.value"),
        ({"answer": "Leeds", "source": "table"}, "answers.answer"),
        ([{"value": "Leeds"}, {"value": "leeds"}], "answers.*.value"),
    ],
)
def test_path_of_the_text_in_a_reference_is_proposed_and_works(shell: Shell, references: Any, path: str) -> None:
    shell.write({"g.json": [{"id": 7, "answers": references}], "x.json": [{"id": 7, "answer": "Leeds"}]})
    assert f"for the text in it, add --references-field {shlex.quote(path)}; " in shell.error("g.json x.json")
    assert shell.scores(f"g.json x.json --references-field {path}") == [1.0]


def test_answers_of_vqa_are_references(shell: Shell) -> None:
    """Each person's answer is an object in VQA v2, TextVQA and VizWiz."""
    people = [
        {"answer": text, "answer_confidence": "yes", "answer_id": n} for n, text in enumerate(("Leeds", "Hull"), 1)
    ]
    shell.write({"t.jsonl": [{"prediction": "Hull", "answers": people}, {"prediction": "York", "answers": people[:1]}]})
    assert shell.scores("t.jsonl") == [0.5]


@pytest.mark.parametrize("value", [{"total": "1"}, [{"total": "1"}, {"tip": "2"}]])
def test_reference_that_is_an_object_is_refused_with_a_way_out(shell: Shell, value: Any) -> None:
    shell.write({"g.json": [{"id": 7, "answers": value}], "x.json": [{"id": 7, "answer": "{}"}]})
    message = shell.error("g.json x.json")
    assert message.startswith("g.json, record 1: the reference must be a string, got ")
    assert message.endswith(": score lists and objects with --variant anls_star")
    assert shell.type("g.json x.json --variant anls_star --quiet").status == 0


def test_objects_in_lists_of_one_are_scored_by_what_the_error_proposes(shell: Shell) -> None:
    totals = [{"total": "12.50"}, {"total": "9.00"}]
    shell.write(
        {
            "g.json": [{"id": n, "answers": [value]} for n, value in enumerate(totals)],
            "x.json": [{"id": n, "answer": value} for n, value in enumerate(totals)],
        }
    )
    _, _, advice = shell.error("g.json x.json").partition("score the objects with ")
    assert advice == "--variant anls_star and --references-field answers.0"
    assert shell.scores(f"g.json x.json {advice.replace(' and', '')}") == [1.0]


# A prediction that is no string, and the step that the error proposes. `test_samples` has more.
OTHER_PREDICTIONS: list[tuple[Any, str]] = [
    (["a", "a"], "for several answers to a question, add --samples mean or --samples vote"),
    ({"text": "a"}, "pass the text in it with --prediction-field answer.text"),
    (True, "pass a field of strings with --prediction-field"),
    ([], "pass a field of strings with --prediction-field"),
]


@pytest.mark.parametrize(("cell", "remedy"), OTHER_PREDICTIONS)
def test_prediction_that_is_no_string_is_refused_with_a_way_out(shell: Shell, cell: Any, remedy: str) -> None:
    shell.write({"g.json": [{"id": 7, "answers": ["a"]}], "x.json": [{"id": 7, "answer": cell}]})
    message = shell.error("g.json x.json --prediction-field answer")
    assert message.startswith("x.json, record 1: 'answer' must be a string, got ")
    assert message.endswith(f": {remedy}")
    if cell and cell is not True:
        options = "answer.text" if isinstance(cell, dict) else "answer --samples vote"
        assert shell.scores(f"g.json x.json --prediction-field {options}") == [1]


def test_token_ids_are_refused_with_a_way_out(shell: Shell) -> None:
    shell.write({"t.json": [{"prediction": [0, 34, n][: 1 + n], "answers": ["a"]} for n in range(3)]})
    assert shell.error("t.json").endswith(
        "decode token ids first, as with tokenizer.batch_decode(ids, skip_special_tokens=True)"
    )


# Lists and nested values, for ANLS*

# A prediction, an accepted answer, and the score.
VALUES: list[tuple[Any, Any, float]] = [
    ({"total": "12.50", "tax": None}, {"total": "12.50", "tax": None}, 1),
    ('{"total": "12.50"}', {"total": "12.50"}, 1),
    ({"total": "12.50"}, '{"total": "12.50"}', 1),
    (' \n["a"]\n', ["a"], 1),
    (["a", "b"], "['a', 'b']", 1),
    ("[1] tea", "[1] tea", 1),
    ("['a']", ["a"], 0),  # text that Python printed is no JSON
    ("0.10", "0.1", 0.75),
    ("tea", {"__tuple__": ["milk", "tea"]}, 1),
    ({"a": "x"}, {"a": {"__tuple__": ["x", "y"]}}, 1),
    ('["a"', ["a"], 0),
    ("9" * 5000, "[" * 9, 0),
]


@pytest.mark.parametrize(("prediction", "accepted", "expected"), VALUES)
def test_values_are_read_from_json(prediction: Any, accepted: Any, expected: float) -> None:
    rows = [{"id": 1, "prediction": prediction, "references": accepted}]
    (answer,) = score(rows, variant="anls_star").answers()
    assert answer["score"] == pytest.approx(expected)


def test_accepted_value_that_is_no_json_is_refused() -> None:
    message = find_error({"a": "x"}, "{'total': 12.5}", {"variant": "anls_star"})
    assert message.endswith("(str), which looks like a list or object: write it as JSON")


def test_records_of_an_object_by_id_are_values() -> None:
    gold = {"7": {"total": "5", "reference": "INV"}, "8": {"total": "6", "reference": "X"}}
    assert score({"8": {"total": "6"}, "7": gold["7"]}, gold=gold, variant="anls_star").anls == 0.75
    named = {key: {"answers": value} for key, value in gold.items()}
    answers = {key: {"prediction": value, "s": 2} for key, value in gold.items()}
    assert score(answers, gold=named, variant="anls_star").anls == 1


# Confidences and verdicts


def test_confidence_is_a_probability() -> None:
    rows = [{"prediction": "ab"[n % 2], "references": "a", "p": p} for n, p in enumerate((0, 1, 0.25, "0.5", -0.0))]
    assert score(rows, field={"confidence": "p"}).to_dict()["submissions"][0]["confidence"]


@pytest.mark.parametrize("value", [True, "high", 1.5, -0.1, "95%", math.nan, [0.5]])
def test_other_confidence_is_refused(value: Any) -> None:
    message = find_error(meta={"p": value}, options={"field": {"confidence": "meta.p"}})
    assert message.startswith("the confidence must be a probability from 0 to 1, got ")
    message = find_error(logprob=0.5, options={"field": {"confidence": "logprob"}})
    assert message == "the confidence must be the logarithm of a probability, at most 0, got 0.5 (float)"
    assert score([{"prediction": "a", "references": "a", "confidence": value}]).anls == 1  # the user did not name it


def judge(verdicts: list[Any]) -> Any:
    """Score two right and two wrong answers with verdicts, and return what the document says about them."""
    rows = [{"prediction": text, "references": "a", "j": verdict} for text, verdict in zip("aabb", verdicts)]
    return score(rows, field={"judge": "j"}).to_dict()["submissions"][0]["judge"]


def test_verdict_has_usual_values() -> None:
    for right, wrong in ((1, 0), ("1", "0"), (1.0, 0.0), ("Correct", "incorrect"), (" yes ", "NO")):
        assert judge([right, right, wrong, wrong]) == judge([True, True, False, False]) != judge([True] * 4)


@pytest.mark.parametrize("value", [2, 0.5, "maybe", ["yes"], {"grade": 1}])
def test_other_verdict_is_refused(value: Any) -> None:
    message = find_error(j=value, options={"field": {"judge": "j"}})
    assert message.startswith("the verdict must be true or false, 1 or 0, correct or incorrect, yes or no, got ")
