"""Score a Parquet dataset on many machines with Ray Data.

    python examples/score_parquet_with_ray.py ANSWERS SCORED

This reads the Parquet files of ANSWERS (a file or a folder that every machine can reach), writes them to the new folder
SCORED with a column of scores, and prints the ANLS and its signature. Inside a Ray cluster it runs on all machines,
elsewhere on this machine. A worker that dies is replaced, and its batch is scored again.

Needs ``pip install "anls-metric[ray]"`` on every machine.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray

from anls_metric import anls_batch, mean, signature

SCORE_COLUMN = "anls"


def score_batch(batch: pa.Table, id_column: str | None = None, **options: Any) -> pa.Table:
    """Add the scores to a batch, as a new column."""
    if SCORE_COLUMN in batch.column_names:
        raise ValueError(f"the answers have a column {SCORE_COLUMN!r} already: rename it, or leave it out")
    ids = batch[id_column].to_pylist() if id_column else None
    scores = anls_batch(batch, indices=ids, **options)
    return batch.append_column(SCORE_COLUMN, pa.array(scores["anls"], pa.float64()))


def mean_score(folder: Path) -> float:
    """Compute the mean of all scores in a folder, which need not fit into memory."""
    batches = chain.from_iterable(
        pq.ParquetFile(file).iter_batches(columns=[SCORE_COLUMN]) for file in sorted(folder.iterdir())
    )
    return mean(score for batch in batches for score in batch[SCORE_COLUMN].to_pylist())


def score_parquet(answers: str, scored: str, **options: Any) -> float:
    """Write the scored rows to a new folder, and return their mean, with the same bits as on one machine.

    The folder appears when it is complete. After an error, nothing is left of it.
    """
    target = Path(scored).absolute()
    if os.path.lexists(target):
        raise FileExistsError(f"{scored} is there already: name a new folder")
    rows = ray.data.read_parquet(answers)
    # The rows are written to a private folder beside the target, with an unpredictable name.
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent, ignore_cleanup_errors=True) as private:
        unfinished = Path(private) / "rows"
        unfinished.mkdir()
        rows.map_batches(partial(score_batch, **options), batch_format="pyarrow").write_parquet(str(unfinished))
        score = mean_score(unfinished)
        unfinished.rename(target)
    return score


def main() -> None:
    """Run the command."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("answers", help="Parquet file or folder")
    command.add_argument("scored", help="folder to write")
    command.add_argument("--prediction-column", default="prediction")
    command.add_argument("--references-column", default="references")
    command.add_argument("--id-column", help="what rows are called in errors")
    command.add_argument("--variant", default="standard", help="which ANLS")
    options = vars(command.parse_args())
    which = signature(options["variant"])
    score = score_parquet(options.pop("answers"), options.pop("scored"), **options)
    print(f"{score!r}  {which}")


if __name__ == "__main__":
    main()
