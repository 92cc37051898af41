"""The hash of the questions is that of its three-line definition, and no order, layout or format changes it."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import score
from anls_metric.analysis.question_hash import hash_questions
from anls_metric.reading.answers import Questions
from anls_metric.reading.table import Table

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

GOLD = {str(number): [f"answer {number}", f"Answer {number}"][: 1 + number % 2] for number in range(20)}


def define(ids: Sequence[str], references: Sequence[Sequence[str]]) -> str:
    """Compute the hash as the documentation defines it."""
    lines = [json.dumps([key, *sorted(set(accepted))], ensure_ascii=True) for key, accepted in zip(ids, references)]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:8]


def hash_of(ids: Sequence[str], references: Sequence[Sequence[Any]], has_ids: bool = True) -> str:
    return hash_questions(Questions(Table([{}] * len(ids)), ids, references, [None] * len(ids), has_ids))


def read_hash(data: Any, gold: Any = None, **options: Any) -> str:
    """Score data, and take the hash out of the signature."""
    (part,) = [part for part in score(data, gold, **options).signature.split("|") if part.startswith("gold:")]
    return part.removeprefix("gold:")


def make_rows(gold: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{"questionId": key, "prediction": accepted[0], "answers": accepted} for key, accepted in gold.items()]


@given(st.dictionaries(st.text(), st.lists(st.text(), min_size=1, max_size=3), max_size=5), st.booleans())
def test_hash_questions_is_the_definition_for_any_strings(gold: dict[str, list[str]], has_ids: bool) -> None:
    ids, references = [*gold], [*gold.values()]
    assert hash_of(ids, references, has_ids) == define(ids if has_ids else [""] * len(ids), references)
    half = [["\ud800"]]  # half of a character, which UTF-8 cannot hold
    assert hash_of(["7"], half) == define(["7"], half)


def test_hash_is_the_same_for_any_order_layout_format_and_submission(tmp_path: Path) -> None:
    backwards = {key: [*accepted[::-1], accepted[0]] for key, accepted in reversed(GOLD.items())}
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([{"question_id": key, "answers": accepted} for key, accepted in GOLD.items()]))
    table = tmp_path / "table.csv"
    with table.open("w", newline="") as file:
        rows = [["id", "model_output", "answers"], *([key, "x", json.dumps(texts)] for key, texts in GOLD.items())]
        csv.writer(file).writerows(rows)
    expected = define([*GOLD], [*GOLD.values()])
    assert read_hash(make_rows(GOLD)) == read_hash(make_rows(backwards)) == expected == "de150c76"
    assert read_hash(str(table)) == expected
    assert read_hash(dict.fromkeys(GOLD, "another answer"), str(gold)) == expected
    assert read_hash({"7": "x"}, str(gold), missing="zero") == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda gold: {"x" if key == "0" else key: accepted for key, accepted in gold.items()},
        lambda gold: {**gold, "0": ["Answer 0"]},
        lambda gold: {**gold, "0": ["answer 0", ""]},
        lambda gold: {**gold, "1": ["answer 1\nAnswer 1"]},
        lambda gold: {**gold, "0": gold["2"], "2": gold["0"]},
        lambda gold: {**gold, "20": ["answer 0"]},
        lambda gold: {key: accepted for key, accepted in gold.items() if key != "0"},
    ],
)
def test_hash_changes_with_any_change_of_a_question(change: Any) -> None:
    assert read_hash(make_rows(change(GOLD))) != read_hash(make_rows(GOLD))


def test_hash_of_nested_answers_ignores_the_order_of_keys() -> None:
    first, second = {"total": "5", "items": ["a"]}, {"items": ["a"], "total": "5"}
    expected = define(["7"], [[json.dumps(second, sort_keys=True)]])
    for value in (first, second):
        rows = [{"questionId": "7", "prediction": value, "answers": value}]
        assert read_hash(rows, variant="anls_star") == expected
