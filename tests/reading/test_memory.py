"""Data in memory: frames of libraries, lists, and dicts of columns or of answers by id. The answers are made up."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from anls_metric import compare, score
from anls_metric.messages import InputError
from tests.conftest import mark_needs
from tests.reading.conftest import Shell

Make = Callable[[dict[str, list[Any]]], Any]
COLUMNS: dict[str, list[Any]] = {
    "id": [1, 2, 3],
    "prediction": ["tea", "x", ""],
    "references": [["tea"], ["milk", "x"], ["y"]],
}
ANSWERS: dict[str, list[Any]] = {"id": [3, 1, 2], "answer": ["", "tea", "x"]}
GOLD: dict[str, list[Any]] = {"id": COLUMNS["id"], "answers": COLUMNS["references"]}
IMAGES, FILES = {"image": [b"x"] * 3}, {"image": [{"bytes": b"x"}] * 3}


def list_records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def make_with(module: str, make: Callable[[Any, dict[str, list[Any]]], Any]) -> Make:
    return lambda columns: make(pytest.importorskip(module), columns)


TABLES: dict[str, Make] = {
    "a dict of columns": dict,
    "a dict of tuples": lambda columns: {name: tuple(column) for name, column in columns.items()},
    "a list of dicts": list_records,
    "a tuple of dicts": lambda columns: tuple(list_records(columns)),
    "a list under data": lambda columns: {"version": 1, "data": list_records(columns)},
    "pandas": make_with("pandas", lambda pandas, columns: pandas.DataFrame(columns)),
    "an index of pandas": make_with("pandas", lambda pandas, columns: pandas.DataFrame(columns).set_index("id")),
    "missing values of pandas": make_with("pandas", lambda pandas, it: pandas.DataFrame(it).assign(x=pandas.NA)),
    "columns of pandas": make_with("pandas", lambda pandas, it: {key: pandas.Series(each) for key, each in it.items()}),
    "polars": make_with("polars", lambda polars, columns: polars.DataFrame(columns)),
    "pyarrow": make_with("pyarrow", lambda pyarrow, columns: pyarrow.table(columns)),
    "a stream of pyarrow": make_with("pyarrow", lambda pyarrow, columns: pyarrow.table(columns).to_reader()),
    "a batch of pyarrow": make_with("pyarrow", lambda pyarrow, columns: pyarrow.record_batch(columns)),
    "datasets": make_with("datasets", lambda datasets, columns: datasets.Dataset.from_dict(columns)),
    "an image in pandas": make_with("pandas", lambda pandas, it: pandas.DataFrame(it | IMAGES)),
    "an image in polars": make_with("polars", lambda polars, it: polars.DataFrame(it | IMAGES)),
    "an image in datasets": make_with("datasets", lambda datasets, it: datasets.Dataset.from_dict(it | FILES)),
}  # fmt: skip


@pytest.mark.parametrize("kind", mark_needs(TABLES, "polars"))
def test_table_in_memory_is_read_like_a_file(kind: str) -> None:
    make = TABLES[kind]
    scores = score(make(COLUMNS))
    assert [each["score"] for each in scores.answers()] == [1, 1, 0]
    line = "prediction (prediction), references (references) of data: 3 rows"
    assert scores.to_dict()["submissions"][0]["read"] == line
    joined = score(make(ANSWERS), gold=make(GOLD))
    assert [each["score"] for each in joined.answers()] == [1, 1, 0]
    assert joined.to_dict()["submissions"][0]["read"].endswith("of gold, joined by id: 3 of 3")


# A submission without a field of ids, and how it was joined.
BY_ID: list[tuple[Any, str]] = [
    ({1: "tea", 2: "x", 3: ""}, "the keys of an object and id"),
    ({"3": "", "2": "x", "1": "tea"}, "the keys of an object and id"),
    ({"1": {"answer": "tea"}, "2": {"answer": "x"}, "3": {"answer": ""}}, "the keys of an object and id"),
    (["tea", "x", ""], "position"),
    ({"prediction": ["tea", "x", ""]}, "position"),
]


@pytest.mark.parametrize(("answers", "how"), BY_ID)
def test_answers_by_id_or_in_order_are_joined(answers: Any, how: str) -> None:
    scores = score(answers, gold=list_records(GOLD))
    assert [each["score"] for each in scores.answers()] == [1, 1, 0]
    assert scores.to_dict()["submissions"][0]["read"].endswith(f"joined by {how}: 3 of 3")


@pytest.mark.parametrize("text", [".", "..", "/", "answers.json", "~"])
def test_prediction_that_looks_like_a_path_is_a_prediction(shell: Shell, text: str) -> None:
    shell.write({"answers.json": []})
    gold = [{"id": n, "answers": [text]} for n in (1, 2)]
    assert score({"1": text, "2": "x y"}, gold=gold).anls == 0.5
    assert score([text, "x y"], [[text], [text]]).anls == 0.5
    assert compare({"m": {"1": text, "2": "x y"}}, gold=gold)["m"].anls == 0.5


@pytest.mark.parametrize("kind", mark_needs(["pandas", "polars", "pyarrow"], "polars"))
def test_submissions_have_the_names_of_a_dict(kind: str) -> None:
    make = TABLES[kind]
    scores = compare({"m": make(ANSWERS), "n": {1: "tea", 2: "milk", 3: "y"}}, gold=make(GOLD))
    assert [(name, scored.anls) for name, scored in scores.submissions.items()] == [("m", 2 / 3), ("n", 1)]
    table = make({"model": ["m", "n"], "id": [1, 1], "prediction": ["a", "b"], "references": ["a", "a"]})
    assert [scored.anls for scored in compare(table).submissions.values()] == [1, 0]


# Data that cannot be scored, and the error.
REFUSED: list[tuple[Make, str]] = [
    (make_with("polars", lambda p, it: p.DataFrame(it).lazy()),
        "data: a lazy LazyFrame has no rows yet: call .collect()"),
    (make_with("datasets", lambda d, it: d.Dataset.from_dict(it).to_iterable_dataset()),
        "data: expected a path, a DataFrame, a list of dicts or a dict of columns, got IterableDataset"),
    (make_with("datasets", lambda d, it: d.DatasetDict({"a": d.Dataset.from_dict(it)})),
        "data: expected a list of records, got an object with the keys 'a': write a list"),
    (lambda _: iter([]), "data: expected a path, a DataFrame, a list of dicts or a dict of columns, got <list_it"),
    (lambda _: 7, "data: expected a path, a DataFrame, a list of dicts or a dict of columns, got 7 (int)"),
    (lambda _: [], "data: it has no records: add a record for each question"),
    (lambda _: [{"prediction": "a"}, 7], "data, record 2: expected an object, got a int"),
    (make_with("pandas", lambda p, _: p.DataFrame([["a", "b"]], columns=["pred", "pred"])),
        "data: two columns are named 'pred'"),
    (lambda it: {**it, "prediction": ["a"]}, "data: the columns have different lengths: id has 3, prediction has 1"),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_other_data_are_refused(place: int) -> None:
    make, message = REFUSED[place]
    with pytest.raises(InputError) as refused:
        score(make(COLUMNS))
    assert str(refused.value).startswith(message)
    assert "--" not in str(refused.value)


@dataclasses.dataclass
class Invoice:
    total: str
    items: list[dict[str, str]]


class Model:
    """A model as pydantic makes it: it has a schema, as tables do, and dumps itself."""

    schema: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return self.fields


VALUE: dict[str, Any] = {"total": "12.50", "items": [{"name": "tea"}]}


def make_attrs() -> Any:
    attrs = pytest.importorskip("attrs")
    return attrs.make_class("Invoice", ["total", "items"])(**VALUE)


@pytest.mark.parametrize("make", [lambda: Invoice(**VALUE), lambda: Model(**VALUE), make_attrs])
def test_objects_that_can_dump_themselves_are_values(make: Callable[[], Any]) -> None:
    model, pair = make(), {"a": VALUE, "b": VALUE}
    for predictions, references in (
        ([model, model], [VALUE, VALUE]),
        ([VALUE, VALUE], [model, model]),
        ({"a": model, "b": VALUE}, pair),
        ([{"id": "a", "prediction": model}, {"id": "b", "prediction": VALUE}], pair),
    ):
        assert score(predictions, references, variant="anls_star").anls == 1.0


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (lambda: Invoice(**VALUE), "pass dataclasses.asdict(value)"),
        (lambda: Model(**VALUE), 'pass value.model_dump(mode="json")'),
        (make_attrs, "pass attrs.asdict(value)"),
    ],
)
def test_error_names_the_call_for_objects_inside_values(make: Callable[[], Any], call: str) -> None:
    with pytest.raises(ValueError, match=re.escape(call)):
        score([{"invoice": make()}], [{"invoice": VALUE}], variant="anls_star")
