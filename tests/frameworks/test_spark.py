"""The example for Spark, on this machine: any columns, and a row that cannot be scored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT, fuzzed_rows

sql = pytest.importorskip("pyspark.sql")
SCHEMA = "id string, prediction string, references array<string>, box struct<page: int>, day date"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'examples'}")
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        yield session
        session.stop()


def test_example_scores_any_columns_and_names_a_bad_row(spark: Any, tmp_path: Path) -> None:
    example: Any = import_module("score_parquet_with_spark")
    rows = fuzzed_rows(200, seed=12)
    frame = spark.createDataFrame([(f"q{n}", *row, (n,), None) for n, row in enumerate(rows)], SCHEMA)
    answers, scored, bad = (str(tmp_path / name) for name in ("answers", "scored", "bad"))
    frame.write.parquet(answers)
    scores = anls_metric.anls_scores([row[0] for row in rows], [row[1] for row in rows])
    assert example.main(answers, scored) == anls_metric.mean(scores)
    assert spark.read.parquet(scored).schema.names == [*frame.schema.names, "anls"]
    # A frame is a stream of Arrow.
    assert anls_metric.score(frame, extra="ignore").anls == anls_metric.mean(scores)
    assert anls_metric.anls_batch(frame)["anls"] == scores
    spark.createDataFrame([("q7", None, ["a"], None, None)], SCHEMA).write.parquet(bad)
    with pytest.raises(Exception, match="the prediction of row q7 is None"):
        example.main(bad, str(tmp_path / "none"), "id")
