"""Which field is which, by name, by values, and by the other file. The records are made up."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading.containers import KEY, VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.resolver import (
    Gold,
    Match,
    Sample,
    find_misplaced,
    find_other_texts,
    match,
    refuse_two_roles,
    resolve,
)

Record = dict[str, Any]


@pytest.mark.parametrize(
    ("record", "id_field", "prediction", "references"),
    [
        ({"question_id": 1, "answer": "a"}, "question_id", "answer", None),
        ({"questionId": 1, "answers": ["a"]}, "questionId", None, "answers"),
        ({"id": 1, "answer": "a", "answers": ["a"]}, "id", "answer", "answers"),
        ({"answer": ["a"], "model_output": "a"}, None, "model_output", "answer"),
        ({"prediction_text": "a", "answers": {"text": ["a"], "answer_start": [1]}}, None, "prediction_text", "answers"),
        ({"pred": "a", "gt": "a"}, None, "pred", "gt"),
        ({"id": 1, "response": {"status": 200}, "answers": ["a"]}, "id", None, "answers"),
        ({"id": 1, "answer": "a", "text": "b"}, "id", "answer", None),
    ],
)
def test_resolve_knows_usual_names_of_fields(
    record: Record, id_field: str | None, prediction: str | None, references: str | None
) -> None:
    layout = resolve("both", Sample("a.json", [record]))
    assert (layout.id, layout.prediction, layout.references) == tuple(
        (name,) if name else () for name in (id_field, prediction, references)
    )


@pytest.mark.parametrize(
    ("record", "gold", "submission"),
    [
        ({"id": 1, "answer": "a"}, "answer", "answer"),
        ({"id": 1, "answer": "a", "answers": ["a"]}, "answers", "answer"),
        ({"id": 1, "answer": "a", "output": "b"}, "answer", "output"),
        ({KEY: "1", VALUE: "a"}, VALUE, VALUE),
        ({VALUE: "a"}, VALUE, VALUE),
    ],
)
def test_resolve_reads_an_answer_by_the_side_that_the_file_holds(record: Record, gold: str, submission: str) -> None:
    sample = Sample("a.json", [record])
    assert resolve("gold", sample).references == (gold,)
    assert resolve("submission", sample).prediction == (submission,)


def test_resolve_takes_the_named_field_only_where_the_file_has_it() -> None:
    sample = Sample("a.json", [{"uid": 1, "answer": "a", "text": "b"}])
    assert resolve("submission", sample, named={"prediction": "text", "id": "uid"}).prediction == ("text",)
    assert resolve("submission", sample, named={"prediction": "missing"}).prediction == ("answer",)


@pytest.mark.parametrize(
    ("record", "whole"),
    [
        ({KEY: "7", "total": "1", "date": "May"}, True),
        ({KEY: "7", "total": "1", "reference": "INV-7"}, True),
        ({KEY: "7", "prediction": {"total": "1"}}, False),
        ({KEY: "7", "answer": {"total": "1"}, "seconds": 2}, False),
        ({"id": "7", "total": "1"}, False),
    ],
)
def test_resolve_takes_the_whole_record_of_a_map_of_values(record: Record, whole: bool) -> None:
    prediction = resolve("submission", Sample("a.json", [record]), values=True).prediction
    assert (bool(prediction) and callable(prediction[0])) == whole
    if callable(prediction[0] if prediction else None):
        assert prediction[0](record) == {key: value for key, value in record.items() if key != KEY}  # type: ignore[operator]


def test_refuse_two_roles_names_the_field_and_both_roles() -> None:
    sample = Sample("both.csv", [{"id": 1, "answers": "a", "prediction": "b"}])
    layout = resolve("both", sample, named={"prediction": "answers", "references": "answers"})
    with pytest.raises(InputError, match="'answers' cannot be both the prediction and the accepted answers"):
        refuse_two_roles("both", sample, layout)
    refuse_two_roles("both", sample, resolve("both", sample))


@pytest.mark.parametrize(
    ("fields", "others"),
    [
        ({"answer": "{n} a", "notes": "{n} b"}, ["notes"]),
        ({"answer": "{n} a", "model": "small"}, []),
        ({"answer": "{n} a", "file": "scans/{n}.png"}, []),
        ({"answer": "{n} a", "request": "req_00001{n}"}, []),
        ({"prediction": "{n} a", "notes": "{n} b"}, []),
        ({"prediction": "{n} a", "raw_output": "{n} b"}, ["raw_output"]),
        ({"prediction": "{n} a", "answer": "{n} b"}, ["answer"]),
        ({"answer": "{n} a", "question": "{n}?"}, []),
    ],
)
def test_find_other_texts_names_fields_that_could_be_the_prediction(fields: dict[str, str], others: list[str]) -> None:
    records = [{"questionId": n, **{name: text.format(n=n) for name, text in fields.items()}} for n in range(10)]
    sample = Sample("a.json", records)
    assert find_other_texts("submission", sample, resolve("submission", sample)) == others


# Ids by value


GOLD = [{"questionId": 49000 + 3 * n, "question": f"What is {n}?", "answers": ["a"]} for n in range(40)]


def match_records(gold: Sequence[Record], answers: Sequence[Record], **fields: Any) -> Match:
    questions, sample = Sample("gold.json", gold), Sample("answers.jsonl", answers)
    side = Gold(questions, resolve("gold", questions), gold[:10], lambda: gold)
    return match(side, sample, resolve("submission", sample), **fields)


def answer(ids: dict[str, Any], **more: Any) -> Record:
    return {**ids, "prediction": "a", **more}


@pytest.mark.parametrize("name", ["custom_id", "uid", "key", "request_id", "ID", "sampleId", KEY])
def test_match_finds_the_id_under_any_name(name: str) -> None:
    answers = [answer({name: str(record["questionId"])}) for record in reversed(GOLD)]
    assert match_records(GOLD, answers)[:2] == ("questionId", name)


def test_match_finds_the_id_inside_objects_and_beside_other_ids() -> None:
    answers = [
        answer({"id": f"req_{n}", "place": n}, metadata={"question": {"id": record["questionId"]}})
        for n, record in enumerate(reversed(GOLD))
    ]
    assert match_records(GOLD, answers).submission_id == "metadata.question.id"


def test_match_finds_the_id_of_the_gold_file_by_its_values() -> None:
    gold = [{"id": f"row-{n}", "uid": record["questionId"], "answers": ["a"]} for n, record in enumerate(GOLD)]
    answers = [answer({"custom_id": str(record["questionId"])}) for record in reversed(GOLD)]
    assert match_records(gold, answers)[:2] == ("uid", "custom_id")


def test_match_refuses_two_fields_that_pair_answers_differently() -> None:
    ids = [record["questionId"] for record in GOLD]
    shuffled = random.Random(1).sample(ids, len(ids))
    answers = [answer({"uid": first, "key": second}) for first, second in zip(ids, shuffled)]
    with pytest.raises(InputError, match=r"'uid' and 'key' both hold ids of gold\.json, but not the same ones"):
        match_records(GOLD, answers)
    same = [answer({"uid": key, "key": str(key)}) for key in ids]
    assert match_records(GOLD, same).submission_id == "uid"
    assert match_records(GOLD, answers, id_field="key").submission_id == "key"


def test_match_never_takes_places_for_ids_by_chance() -> None:
    gold = [{"questionId": key, "answers": ["a"]} for key in random.Random(2).sample(range(40), 40)]
    answers = [answer({"index": n}) for n in range(40)]
    measured = [answer({"tokens": key}) for key in random.Random(3).sample(range(40), 40)]
    for doubtful in (answers, measured):
        with pytest.raises(
            InputError, match=r"unclear whether '(index|tokens)' holds ids .*: if it does, name it with id="
        ):
            match_records(gold, doubtful)
    assert match_records(GOLD, answers).submission_id is None
    in_order = [{"questionId": key, "answers": ["a"]} for key in range(40)]
    for first in (0, 1):
        counted = [answer({"row": n}) for n in range(first, first + 40)]
        assert match_records(in_order, counted).submission_id is None
    repeated = [answer({"page": key // 2}) for key in range(40)]
    assert match_records(gold, repeated).submission_id is None
    same = [answer({"row": record["questionId"]}) for record in gold]
    assert match_records(gold, same).submission_id is None


@pytest.mark.parametrize("name", ["item", "n", "row", "sample", "example", "questionnumber"])
def test_match_finds_numbers_under_any_name_that_are_ids(name: str) -> None:
    ids = [record["questionId"] for record in reversed(GOLD)]
    for values in (ids, list(map(str, ids))):
        answers = [answer({name: value}, seconds=n) for n, value in enumerate(values)]
        assert match_records(GOLD, answers) == ("questionId", name, f"the id of a question is read from {name!r}")


def test_match_keeps_the_usual_id_of_a_part() -> None:
    part = [answer({"questionId": record["questionId"]}) for record in GOLD[30:]]
    assert match_records(GOLD, part).submission_id == "questionId"
    more = [answer({"questionId": n}) for n in range(40_000, 50_000)]
    assert match_records(GOLD, more).submission_id == "questionId"


def test_match_by_position_is_reported_and_needs_answers_without_ids() -> None:
    answers = [answer({}) for _ in GOLD]
    assert match_records(GOLD, answers) == (
        "questionId",
        None,
        "the answers have no ids: they are matched with the questions by position",
    )
    prefixed = [answer({"custom_id": f"docvqa-{record['questionId']}"}) for record in GOLD]
    with pytest.raises(InputError, match=r"'custom_id' is docvqa-49000, docvqa-49003, and 'questionId' there is 49000"):
        match_records(GOLD, prefixed)
    assert match_records(GOLD, prefixed, id_field="none").submission_id is None


def test_match_takes_a_named_field_from_the_files_that_have_it() -> None:
    answers = [answer({"uid": record["questionId"]}) for record in GOLD]
    assert match_records(GOLD, answers, id_field="uid")[:2] == ("questionId", "uid")
    assert match_records(GOLD, answers, id_field="questionId")[:2] == ("questionId", "uid")
    assert match_records(GOLD, answers, gold_id_field="questionId")[:2] == ("questionId", "uid")
    with pytest.raises(InputError, match=r"neither this file nor gold.json has the field 'nr' \(found 'uid'"):
        match_records(GOLD, answers, id_field="nr")
    with pytest.raises(InputError, match=r"gold.json: no field 'nr' .*gold_id"):
        match_records(GOLD, answers, gold_id_field="nr")


# By position


QUESTIONS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=8, unique=True)


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_find_misplaced_finds_the_first_answer_of_another_question(texts: list[str], chance: random.Random) -> None:
    own = [[text] for text in texts]
    assert find_misplaced(own, texts) is None
    shuffled = chance.sample(texts, len(texts))
    first = next((place for place, text in enumerate(shuffled) if text != texts[place]), None)
    assert find_misplaced(own, shuffled) == first


def test_find_misplaced_says_nothing_about_unknown_texts() -> None:
    assert find_misplaced([["Who?"], ["When?"]], ["Qui?", None]) is None
    assert find_misplaced([["Who?"], ["When?"]], ["Q: Who? A:", "Q: When? A:"], inside=True) is None
    assert find_misplaced([["Who?"], ["When?"]], ["Q: When? A:", "Q: Who? A:"], inside=True) == 0
