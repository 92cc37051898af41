"""Columns of other libraries are scored, or refused with the call that converts them."""

from __future__ import annotations

from typing import Any

import pytest

import anls_metric

PREDICTIONS = ["CocaCola", "b"]
REFERENCES = [["Coca Cola", "Coca Cola Company"], ["c"]]
SCORES = [8 / 9, 0.0]


def catch_error(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(ValueError, match=r"(?s).+") as raised:
        call(*arguments, **options)
    message = str(raised.value)
    assert "\n" not in message
    return message


# Stand-ins: the package recognizes these libraries by the methods of their types and imports none of them.


class LazyFrame:
    """A stand-in for polars, where `columns` resolves the schema."""

    def collect(self) -> Any: ...

    @property
    def columns(self) -> list[str]:
        raise AssertionError("the schema was resolved")

    def __getitem__(self, name: str) -> Any:
        raise TypeError("LazyFrame is not subscriptable")


class DuckDBPyRelation:
    columns = ("prediction", "references")

    def df(self) -> Any: ...

    def fetchdf(self) -> Any: ...

    def __getitem__(self, name: str) -> DuckDBPyRelation:
        return self

    def __repr__(self) -> str:
        raise AssertionError("the query was run")


class Series:
    """A stand-in for Dask, where iterating computes the partitions."""

    def compute(self) -> Any: ...

    def __iter__(self) -> Any:
        raise AssertionError("the graph was run")


class DataFrame:
    """A stand-in for Spark."""

    columns = ("prediction", "references")

    def toPandas(self) -> Any: ...

    def collect(self) -> Any: ...

    def __getitem__(self, name: str) -> Any:
        return object()


@pytest.mark.parametrize(
    ("lazy", "remedy"),
    [
        (LazyFrame(), "a LazyFrame, a query that was not run yet: run it with .collect() first"),
        (DuckDBPyRelation(), "a DuckDBPyRelation, a query that was not run yet: fetch it with .df() first"),
        (Series(), "a Series, a query that was not run yet: run it with .compute() first"),
        (
            DataFrame(),
            "a DataFrame, a query that was not run yet: fetch it with .toPandas() first, or score it where it",
        ),
    ],
    ids=["polars", "DuckDB", "Dask", "Spark"],
)
def test_lazy_query_is_refused_with_the_call_that_runs_it(lazy: Any, remedy: str) -> None:
    assert catch_error(anls_metric.anls_scores, lazy, REFERENCES).startswith(f"predictions is {remedy}")
    assert catch_error(anls_metric.anls_scores, PREDICTIONS, lazy).startswith(f"references is {remedy}")
    assert catch_error(anls_metric.anls_batch, lazy).startswith(f"the batch is {remedy}")
    assert catch_error(anls_metric.anls_score, "a", lazy).startswith(f"gold_labels is {remedy}")
    assert catch_error(anls_metric.iter_anls_scores, lazy).startswith(f"rows is {remedy}")


def test_spark_column_is_refused() -> None:
    class Column:
        """A stand-in for a Spark column, whose `__iter__` fails."""

        def __iter__(self) -> Any:
            raise TypeError("Column is not iterable")

    assert catch_error(anls_metric.anls_scores, Column(), REFERENCES).startswith("predictions is <")


# The libraries themselves


def test_polars_columns_and_frames_are_scored_and_lazy_ones_refused() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"prediction": PREDICTIONS, "references": REFERENCES})
    assert anls_metric.anls_scores(frame["prediction"], frame["references"]) == pytest.approx(SCORES)
    assert anls_metric.anls_scores(frame["prediction"], frame["prediction"]) == [1.0, 1.0]
    assert anls_metric.anls_batch(frame) == {"anls": pytest.approx(SCORES)}
    assert list(anls_metric.iter_anls_scores(frame.iter_rows())) == pytest.approx(SCORES)
    assert "no column 'answer'" in catch_error(anls_metric.anls_batch, frame, prediction_column="answer")
    assert "DataFrame: pass one of its columns" in catch_error(anls_metric.anls_scores, frame, REFERENCES)
    assert "prediction of row 1" in catch_error(anls_metric.anls_scores, polars.Series(["a", None]), ["a", "b"])
    structs = polars.Series([{"text": ["a"]}, {"text": ["b"]}])
    assert "dict with the keys 'text'" in catch_error(anls_metric.anls_scores, ["a", "b"], structs)
    for lazy in (frame.lazy(), frame.lazy().select("prediction")):
        assert "run it with .collect() first" in catch_error(anls_metric.anls_scores, lazy, REFERENCES)
        assert "run it with .collect() first" in catch_error(anls_metric.anls_batch, lazy)
    assert anls_metric.anls_batch(frame.lazy().collect()) == {"anls": pytest.approx(SCORES)}


def test_duckdb_relations_are_refused_until_fetched() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    query = "select * from (values ('CocaCola', ['Coca Cola']), ('b', ['c'])) as t(prediction, \"references\")"
    relation = connection.sql(query)
    for lazy in (relation, relation["prediction"]):
        assert "fetch it with .df() first" in catch_error(anls_metric.anls_scores, lazy, REFERENCES)
    assert "fetch it with .df() first" in catch_error(anls_metric.anls_batch, relation)
    assert anls_metric.anls_batch(relation.df()) == {"anls": pytest.approx(SCORES)}
    assert anls_metric.anls_batch(relation.fetchnumpy()) == {"anls": pytest.approx(SCORES)}


def test_dask_frames_are_refused_until_computed() -> None:
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    # Lists would become their printed form: Dask turns columns of objects into strings.
    rows = pandas.DataFrame({"prediction": PREDICTIONS, "references": ["Coca Cola", "c"]})
    frame = frames.from_pandas(rows, npartitions=1)
    assert "run it with .compute() first" in catch_error(anls_metric.anls_scores, frame["prediction"], REFERENCES)
    assert "run it with .compute() first" in catch_error(anls_metric.anls_batch, frame)
    assert anls_metric.anls_batch(frame.compute()) == {"anls": pytest.approx(SCORES)}
