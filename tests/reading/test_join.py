"""Rows from a gold file and a submission, and from tables, in any order and format."""

from __future__ import annotations

import json
import random
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import extractor
from anls_metric.reading.input_file import CHUNK
from anls_metric.reading.join import join_files, read_table
from anls_metric.reading.sources import Reading, Source
from anls_metric.reading.submissions import find_submissions

Records = list[dict[str, Any]]


def write(path: Path, records: Records) -> str:
    lines = path.suffix == ".jsonl"
    text = "".join(f"{json.dumps(record)}\n" for record in records) if lines else json.dumps(records)
    path.write_text(text, encoding="utf-8")
    return str(path)


def join(gold: str, submission: str, missing: str = "error") -> list[Row]:
    return list(chain.from_iterable(join_files(gold, submission, Reading(missing=missing))))


def write_files(folder: Path, gold: Records, answers: Records, ending: str = "json") -> tuple[str, str]:
    return write(folder / f"gold.{ending}", gold), write(folder / f"answers.{ending}", answers)


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("order", ["same", "reversed", "shuffled"])
def test_join_files_keeps_the_order_of_the_gold_file(tmp_path: Path, ending: str, order: str) -> None:
    count = 3 * CHUNK + 7
    gold = [{"questionId": number, "answers": [f"gold {number}"], "page": number % 7} for number in range(count)]
    answers = [{"question_id": str(number), "answer": f"answer {number}"} for number in range(count)]
    if order == "reversed":
        answers.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(answers)
    rows = join(*write_files(tmp_path, gold, answers, ending))
    assert rows == [Row(str(n), f"answer {n}", [f"gold {n}"], gold[n]) for n in range(count)]
    assert {type(row) for row in rows} == {Row}


IDS = st.lists(st.text(min_size=1, max_size=3) | st.integers(), unique_by=str, max_size=20)


@given(IDS, IDS, st.randoms(use_true_random=False), st.sampled_from(["error", "zero"]))
def test_join_files_joins_as_a_dictionary_does(
    tmp_path_factory: pytest.TempPathFactory,
    questions: list[Any],
    others: list[Any],
    chance: random.Random,
    missing: str,
) -> None:
    wanted = set(map(str, questions))
    answered = chance.sample([*questions, *(key for key in others if str(key) not in wanted)], len(questions))
    gold = [{"id": key, "answers": ["a"]} for key in questions]
    paths = write_files(tmp_path_factory.mktemp("joined"), gold, [{"id": key, "answer": f"{key}!"} for key in answered])
    expected = {str(key): f"{key}!" for key in answered}
    if set(expected) - wanted or (missing == "error" and wanted - set(expected)):
        with pytest.raises(InputError) as refused:
            join(*paths, missing)
        assert refused.value.where == paths[1]
    else:
        rows = join(*paths, missing)
        assert [(row.id, row.prediction) for row in rows] == [(str(key), expected.get(str(key))) for key in questions]


@pytest.mark.parametrize("apart", [1, CHUNK, 2 * CHUNK + 3])
def test_repeated_id_is_refused_however_far_apart(tmp_path: Path, apart: int) -> None:
    gold = [{"id": number, "answers": ["a"]} for number in range(apart + 1)]
    answers = [{"id": number, "answer": "a"} for number in range(apart + 1)]
    twice = write_files(tmp_path, gold, [*answers, {"id": 0, "answer": "b"}], "jsonl")
    with pytest.raises(InputError, match=r"answers\.jsonl: the id 0 is repeated: keep one record"):
        join(*twice)
    twice = write_files(tmp_path, [*gold, gold[0]], answers, "jsonl")
    with pytest.raises(InputError, match=r"gold\.jsonl: the id 0 is repeated: write one record for each question"):
        join(*twice)
    table = [{"key": n % (apart + 1), "prediction": "a", "references": "a"} for n in range(apart + 2)]
    with pytest.raises(InputError, match=r"table\.jsonl: the id 0 is repeated"):
        list(read_table(write(tmp_path / "table.jsonl", table), Reading(id_field="key")))


def test_error_names_arguments_and_not_flags(tmp_path: Path) -> None:
    table = write(tmp_path / "table.json", [{"text": "a", "references": ["a"]}])
    for read, message in (
        (
            lambda: list(read_table(table)),
            "(found 'text', 'references'): name the field of the predictions with the argument 'prediction'",
        ),
        (
            lambda: list(read_table(table, Reading(prediction_field="text", references_field="gold"))),
            "name the field of the accepted answers with the argument 'references'",
        ),
        (
            lambda: join(*write_files(tmp_path, [{"id": 1, "answers": ["a"]}], [])),
            'answers.json: it has no answers: add the answers, or score them 0 with missing="zero"',
        ),
    ):
        with pytest.raises(InputError) as refused:
            read()
        for part in message.split(".*"):
            assert part in str(refused.value)
        assert "--" not in str(refused.value)


def test_read_table_numbers_rows_from_1_without_an_id(tmp_path: Path) -> None:
    records = [{"prediction": str(number), "references": ["a"]} for number in range(CHUNK + 3)]
    rows = list(chain.from_iterable(read_table(write(tmp_path / "table.jsonl", records))))
    assert [row.id for row in rows] == [str(number) for number in range(1, CHUNK + 4)]
    assert [row.prediction for row in rows] == [record["prediction"] for record in records]


def test_read_table_names_the_place_of_a_bad_row_in_a_later_chunk(tmp_path: Path) -> None:
    records: Records = [{"prediction": "a", "references": ["a"]} for _ in range(CHUNK + 3)]
    records[CHUNK + 1]["references"] = ["a", True]
    with pytest.raises(InputError) as refused:
        list(read_table(write(tmp_path / "table.jsonl", records)))
    assert refused.value.where == f"{tmp_path / 'table.jsonl'}, line {CHUNK + 2}"
    assert refused.value.problem == "'references', item 1, is True (bool), not a string: pass a string (\"True\")"


def test_batch_makes_rows_from_columns() -> None:
    batch = Batch(["7", "8"], ["a", None], [["b"], ["c"]], [{"page": 1}, {}], ["It is a", None])
    rows = [Row("7", "a", ["b"], {"page": 1}, "It is a"), Row("8", None, ["c"], {})]
    assert list(batch) == rows
    assert [batch[0], batch[-1], *batch[1:]] == [rows[0], rows[1], rows[1]]
    assert all(type(row) is Row for row in batch)
    assert list(Batch.of(rows)) == rows
    assert Batch.of(batch) is batch
    assert len(Batch.of([])) == 0


def test_row_keeps_the_raw_output_of_an_extracted_prediction(tmp_path: Path) -> None:
    outputs = ["The answer is a", "b"]
    both: Records = [{"id": str(n), "prediction": text, "references": ["a"]} for n, text in enumerate(outputs)]
    table = write(tmp_path / "table.jsonl", both)
    rule = Reading(extract=extractor("final"))
    assert [(row.prediction, row.written) for row in chain(*read_table(table, rule))] == [("a", outputs[0]), ("b", "b")]
    assert [row.written for row in chain(*read_table(table))] == [None, None]
    gold = write(tmp_path / "gold.jsonl", [{"id": record["id"], "answers": ["a"]} for record in reversed(both)])
    answers = write(
        tmp_path / "answers.jsonl", [{"id": record["id"], "answer": record["prediction"]} for record in both]
    )
    assert [row.written for row in chain(*join_files(gold, answers, rule))] == ["b", outputs[0]]
    assert [row.written for row in chain(*join_files(gold, answers))] == [None, None]


def test_join_files_refuses_lists_by_id_as_answers(tmp_path: Path) -> None:
    gold, answers = tmp_path / "gold.json", tmp_path / "answers.json"
    gold.write_text('{"1": ["a"], "2": ["b"]}')
    answers.write_text('{"1": ["a"], "2": ["b"]}')
    with pytest.raises(InputError, match=re.escape("question 1: the prediction is ['a'] (list), not a text")):
        list(join_files(str(gold), str(answers)))


def test_find_submissions_skips_a_gold_file_that_a_pattern_names_again(tmp_path: Path) -> None:
    for name, records in (("gold", [{"id": 1, "answers": ["a"]}]), ("answers", [{"id": 1, "answer": "a"}])):
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    gold, answers = (str(tmp_path / f"{name}.json") for name in ("gold", "answers"))
    assert [submission.name for submission in find_submissions([gold, gold, answers])] == ["answers"]
    assert [submission.name for submission in find_submissions([gold, answers], gold)] == ["answers"]
    assert [submission.name for submission in find_submissions([gold], gold)] == ["gold"]


def test_a_filter_that_no_layout_has_is_a_note(tmp_path: Path) -> None:
    gold, answers = write_files(tmp_path, [{"id": 1, "answers": ["a"]}], [{"id": 1, "answer": "a"}])
    source = Source(answers, Reading(filter="strict"))
    list(join_files(gold, source))
    assert source.notes == ["it has no filters: the filter 'strict' is not used"]


def test_text_in_an_object_is_named_as_a_field(tmp_path: Path) -> None:
    gold, answers = write_files(tmp_path, [{"id": 1, "answers": ["a"]}], [{"id": 1, "answer": {"text": "a"}}])
    with pytest.raises(InputError, match=r"not a text: name the field of the text with prediction=\"answer\.text\""):
        list(join_files(gold, answers))
