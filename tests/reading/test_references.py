"""Accepted answers in all written forms, and errors with the remedies of each door."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import tracemalloc
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.references import parse_references
from anls_metric.reading.remedies import Door, Remedy


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ('["a", "b"]', ("a", "b")),
        ("['a', 'b']", ("a", "b")),
        ("('a', 'b')", ("a", "b")),
        ("('a',)", ("a",)),
        (' ["a", "b"] ', ("a", "b")),
        ("['it\\'s', \"it's\", 'a\\nb']", ("it's", "it's", "a\nb")),
        ('["\\u00e9", "a/b"]', ("é", "a/b")),
        ("[np.str_('a'), np.str_(\"b'\")]", ("a", "b'")),
        ("[b'a', b'caf\\xc3\\xa9']", ("a", "café")),
        ("{'a', 'b'}", ("a", "b")),
        ("{'text': ['a', 'b'], 'answer_start': [1, 2]}", ("a", "b")),
        ('{"answer_start": [1], "text": ["a"]}', ("a",)),
        ("{'text': 'a', 'answer_start': 1}", ("a",)),
    ],
)
def test_parse_references_reads_a_written_list(cell: str, answers: tuple[str, ...]) -> None:
    assert parse_references(cell, "references") == answers


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "[1, 2]",
            "(910) 741-5000",
            "[illegible]",
            "(a)",
            "('a')",
            "[sic] yes",
            "['",
            "[]x",
            "{x}",
            "{'a': 'b'}",
            "()",
        ),
        *('("a" or "b")', "Index", "array", "[", "{", '{"a"', "[...]"),
    ],
)
def test_parse_references_keeps_a_text_that_only_looks_like_a_list(cell: str) -> None:
    assert parse_references(cell, "references") == (cell,)


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "['a', nan]",
            "[nan, 'a']",
            "['a', None]",
            "['a' None]",
            "['a' 'b']",
            "[1, 'a']",
            "[['a'], ['b']]",
            "('a', 2.5)",
        ),
        *(
            "array(['a', 'b'], dtype=object)",
            "Index(['a', 'b'], dtype='object')",
            "['a\nb', 'c']",
            "[b'\\xff']",
            '["Hello" he said]',
        ),
        *("{'text': array(['a'], dtype=object), 'answer_start': array([1])}", "[np.str_('a'), np.float64(2.0)]"),
    ],
)
def test_parse_references_refuses_the_printed_form_of_other_values(cell: str) -> None:
    with pytest.raises(ValueError, match=r"references is .* a printed value"):
        parse_references(cell, "references")


@pytest.mark.parametrize("cell", ["[]", "{'text': [], 'answer_start': []}"])
def test_parse_references_refuses_an_empty_list(cell: str) -> None:
    with pytest.raises(ValueError, match="empty list"):
        parse_references(cell, "references")


@given(st.lists(st.text(), min_size=1), st.sampled_from([json.dumps, repr, lambda texts: repr(tuple(texts))]))
def test_parse_references_reads_what_was_written(texts: list[str], write: object) -> None:
    assert parse_references(write(texts), "references") == tuple(texts)  # type: ignore[operator]


@given(st.text(alphabet="[](){}'\",\\ab1 \n", max_size=40))
def test_parse_references_reads_or_refuses_any_text(cell: str) -> None:
    with contextlib.suppress(ValueError):
        references = parse_references(cell, "references")
        assert references
        assert all(isinstance(text, str) for text in references)


@pytest.mark.parametrize("cell", ["[" + "1," * 100_000, "[" * 100_000, "['" * 60_000, "{" * 100_000, "['a'," * 40_000])
def test_parse_references_takes_little_memory_for_a_large_cell(cell: str) -> None:
    tracemalloc.start()
    with contextlib.suppress(ValueError):
        parse_references(cell, "references")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(cell)


def test_input_error_has_the_words_of_each_door_and_survives_a_copy() -> None:
    error = InputError("no answer to 1 of the questions (7)", "answers.json", remedies.MISSING)
    assert (
        str(error)
        == 'answers.json: no answer to 1 of the questions (7): add the answers, or score them 0 with missing="zero"'
    )
    assert error.format_for("command").endswith("with --missing zero")
    assert str(InputError("it is wrong", remedy="mend it")) == "it is wrong: mend it"
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (same.problem, same.where, same.remedy, str(same)) == (
            error.problem,
            error.where,
            error.remedy,
            str(error),
        )


@pytest.mark.parametrize("door", get_args(Door))
def test_remedy_has_words_for_every_door(door: Door) -> None:
    rows = [row for row in vars(remedies).values() if isinstance(row, Remedy)]
    assert len(rows) > 15
    for row in rows:
        words = row.format_for(door, "think")
        assert words
        assert "{value" not in words
        assert ("--" in words) <= (door == "command")


def test_remedy_that_no_table_has_fails_where_it_is_written() -> None:
    with pytest.raises(AttributeError):
        _ = remedies.NO_SUCH_REMEDY  # type: ignore[attr-defined]
