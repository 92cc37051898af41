"""The hash of the questions: what changes it, and what does not."""

from __future__ import annotations

import doctest
import random
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis import gold_hash
from anls_metric.analysis.gold_hash import GoldHash
from anls_metric.reading.batch import Row

ROWS = [Row(str(number), "x", [f"answer {number}", f"Answer {number}"][: 1 + number % 2], {}) for number in range(50)]


def digits_of(rows: list[Row], has_ids: bool = True) -> str:
    result = GoldHash(has_ids)
    result.add(rows)
    return result.digits


def test_order_pieces_and_repeated_answers_do_not_matter() -> None:
    shuffled = random.Random(0).sample(ROWS, len(ROWS))
    pieces = GoldHash()
    for row in shuffled:
        pieces.add([row._replace(prediction=None, references=[*reversed(row.references), row.references[0]])])
    assert pieces.digits == digits_of(ROWS)
    assert pieces.count == len(ROWS)


def test_every_change_of_a_question_matters() -> None:
    changes = [
        [ROWS[0]._replace(id="x"), *ROWS[1:]],
        [ROWS[0]._replace(references=["answer 0 "]), *ROWS[1:]],
        [ROWS[0]._replace(references=["answer 0", "b"]), *ROWS[1:]],
        [ROWS[0]._replace(references=["answer 0", ""]), *ROWS[1:]],
        [ROWS[1]._replace(references=["answer 1\0Answer 1"]), *ROWS[1:]],
        ROWS[1:],
        [ROWS[0], *ROWS],
        [ROWS[2]._replace(id="0"), ROWS[1], ROWS[0]._replace(id="2"), *ROWS[3:]],  # answers swapped
    ]
    hashes = [digits_of(rows) for rows in [ROWS, *changes]]
    assert len(set(hashes)) == len(hashes)


def test_swapped_answers_change_the_hash_of_questions_with_ids_only() -> None:
    seen = set()
    for here in range(1, 50, 2):
        rows = list(ROWS)
        rows[here], rows[1] = rows[here]._replace(id="1"), rows[1]._replace(id=str(here))
        seen.add(digits_of(rows))
        assert digits_of(rows, has_ids=False) == digits_of(ROWS, has_ids=False)
    assert len(seen) == 25


def test_ids_do_not_matter_where_questions_have_none() -> None:
    renamed = [row._replace(id=f"row {row.id}") for row in ROWS]
    assert digits_of(renamed, has_ids=False) == digits_of(ROWS, has_ids=False) != digits_of(ROWS)


def test_values_count_as_json_without_the_order_of_keys() -> None:
    first, second = ({"total": "5", "items": ["a"]}, {"items": ["a"], "total": "5"})
    assert digits_of([Row("7", None, [first], {})]) == digits_of([Row("7", None, [second], {})])
    assert digits_of([Row("7", None, [first], {})]) != digits_of([Row("7", None, [["a"]], {})])


def test_texts_hash_alike_beside_values() -> None:
    value = Row("8", None, [["a", "b"]], {})
    together, apart = GoldHash(), GoldHash()
    together.add([ROWS[1], value])
    for row in (ROWS[1], value):
        apart.add([row])
    assert together.digits == apart.digits


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), min_size=1)), max_size=5))
def test_any_texts_have_a_hash(pairs: list[tuple[str, list[str]]]) -> None:
    rows = [Row(key, None, references, {}) for key, references in pairs]
    assert digits_of(rows) == digits_of(rows[::-1])


def test_half_of_a_character_has_a_hash() -> None:
    assert digits_of([Row("7", None, ["\ud800"], {})]) != digits_of([Row("7", None, ["\ud801"], {})])


def test_hash_is_the_same_in_another_process() -> None:
    program = "from tests.analysis.test_gold_hash import *; print(digits_of(ROWS))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == digits_of(ROWS) == "8a4c24e7"


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(gold_hash).failed == 0
