"""Score a Parquet data set on many machines with Ray Data.

    python examples/score_parquet_with_ray.py ANSWERS SCORED

reads the Parquet files of ANSWERS (a file or a folder that every machine can reach) and writes them to the new folder
SCORED with a column of scores; then it prints the ANLS and its signature. Inside a Ray cluster it runs on all of it,
elsewhere on this machine. A worker that dies is replaced, and what it had in hand is scored again.

Needs ``pip install "anls-metric[evaluate,ray]"`` on every machine.
"""

from __future__ import annotations

import argparse
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import ray

from anls import anls_batch, signature
from anls_metric.report import Tally


def score_batch(batch: pa.Table, id_column: str | None = None, **options: Any) -> pa.Table:
    """The batch with its scores as one more column."""
    ids = batch[id_column].to_pylist() if id_column else None
    scores = anls_batch(batch, indices=ids, **options)
    return batch.append_column("anls", pa.array(scores["anls"], pa.float64()))


def count_scores(batch: pa.Table) -> pa.Table:
    """How often each score comes: a few rows, whatever the size of the batch."""
    counts = Counter(batch["anls"].to_pylist())
    return pa.table({"anls": pa.array(counts.keys(), pa.float64()), "count": pa.array(counts.values(), pa.int64())})


def score_parquet(answers: str, scored: str, **options: Any) -> float:
    """Write the scored rows to a new folder, and return their mean: the same bits as on one machine.

    The folder appears when all is written; after an error nothing is left of it.
    """
    if Path(scored).exists():
        raise FileExistsError(f"{scored} is there already: name a new folder")
    unfinished = f"{scored}.unfinished"
    try:
        rows = ray.data.read_parquet(answers)
        rows.map_batches(partial(score_batch, **options), batch_format="pyarrow").write_parquet(unfinished)
        tally = Tally()
        written = ray.data.read_parquet(unfinished).select_columns(["anls"])
        for row in written.map_batches(count_scores, batch_format="pyarrow").iter_rows():
            tally.add({row["anls"]: row["count"]})
        Path(unfinished).rename(scored)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return tally.mean


def main() -> None:
    """The command."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("answers", help="Parquet file or folder")
    command.add_argument("scored", help="folder to write")
    command.add_argument("--prediction-column", default="prediction")
    command.add_argument("--references-column", default="references")
    command.add_argument("--id-column", help="what rows are called in errors")
    command.add_argument("--variant", default="standard", help="which ANLS")
    options = vars(command.parse_args())
    mean = score_parquet(options.pop("answers"), options.pop("scored"), **options)
    print(f"{mean!r}  {signature(options['variant'])}")


if __name__ == "__main__":
    main()
