"""Columns of polars, DuckDB and Dask are scored, and what is not a column is refused."""

from __future__ import annotations

from typing import Any

import pytest

import anls_metric

PREDICTIONS = ["CocaCola", "b"]
REFERENCES = [["Coca Cola", "Coca Cola Company"], ["c"]]
SCORES = [8 / 9, 0.0]


def catch_error(call: Any, *arguments: Any) -> str:
    with pytest.raises(ValueError, match=r"(?s).+") as raised:
        call(*arguments)
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.needs("polars")
def test_polars_columns_and_frames_are_scored_and_lazy_ones_refused() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"prediction": PREDICTIONS, "references": REFERENCES})
    assert anls_metric.anls_scores(frame["prediction"], frame["references"]) == pytest.approx(SCORES)
    assert anls_metric.anls_scores(frame["prediction"], frame["prediction"]) == [1.0, 1.0]
    assert anls_metric.anls_batch(frame) == {"anls": pytest.approx(SCORES)}
    assert list(anls_metric.iter_anls_scores(frame.iter_rows())) == pytest.approx(SCORES)
    for table in (frame, frame.lazy()):
        assert "Frame: pass one of its columns" in catch_error(anls_metric.anls_scores, table, REFERENCES)
    assert "prediction of row 1" in catch_error(anls_metric.anls_scores, polars.Series(["a", None]), ["a", "b"])
    structs = polars.Series([{"text": ["a"]}, {"text": ["b"]}])
    assert "dict with the keys 'text'" in catch_error(anls_metric.anls_scores, ["a", "b"], structs)


@pytest.mark.needs("duckdb")
def test_duckdb_relations_are_refused_until_fetched() -> None:
    duckdb = pytest.importorskip("duckdb")
    query = "select * from (values ('CocaCola', ['Coca Cola']), ('b', ['c'])) as t(prediction, \"references\")"
    relation = duckdb.connect().sql(query)
    assert "pass one of its columns" in catch_error(anls_metric.anls_scores, relation["prediction"], REFERENCES)
    for batch in (relation.df(), relation.fetchnumpy()):
        assert anls_metric.anls_batch(batch) == {"anls": pytest.approx(SCORES)}


@pytest.mark.needs("dask")
def test_dask_columns_are_refused_until_they_are_lists() -> None:
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    # Lists would become their printed form: Dask turns columns of objects into strings.
    rows = pandas.DataFrame({"prediction": PREDICTIONS, "references": ["Coca Cola", "c"]})
    frame = frames.from_pandas(rows, npartitions=1)
    assert "as a list" in catch_error(anls_metric.anls_scores, frame["prediction"], REFERENCES)
    assert anls_metric.anls_scores(list(frame["prediction"]), REFERENCES) == pytest.approx(SCORES)
    assert anls_metric.anls_batch(frame.compute()) == {"anls": pytest.approx(SCORES)}
