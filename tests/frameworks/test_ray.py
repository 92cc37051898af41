"""The example for Ray Data, on a cluster of two local nodes, with a worker that dies during the run."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT, fuzzed_rows

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("cluster")

FILES, ROWS = 8, 500
Answers = tuple[Path, list[float]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=node)
    del node["include_dashboard"]
    cluster.add_node(**node)
    ray.init(cluster.address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}})
    assert len([node for node in ray.nodes() if node["Alive"]]) == 2
    yield
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def example() -> Iterator[ModuleType]:
    module = import_module("score_parquet_with_ray")
    ray.cloudpickle.register_pickle_by_value(module)  # the workers have no such module
    yield module
    ray.cloudpickle.unregister_pickle_by_value(module)


@pytest.fixture
def answers(tmp_path: Path) -> Answers:
    """Made-up answers in several files, and their scores."""
    rows = fuzzed_rows(FILES * ROWS, seed=11)
    folder = tmp_path / "answers"
    folder.mkdir()
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        columns = {"prediction": [row[0] for row in some], "references": [row[1] for row in some]}
        pq.write_table(pa.table({"id": range(start, start + ROWS), **columns}), folder / f"{start}.parquet")
    return folder, anls_metric.anls_scores([row[0] for row in rows], [row[1] for row in rows])


def test_killed_worker_changes_neither_the_score_nor_the_rows(
    example: Any, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, expected = answers
    died, nodes, scored = (tmp_path / name for name in ("died", "nodes", "scored"))
    nodes.mkdir()

    def dying(batch: Any, indices: list[int], **options: Any) -> dict[str, list[float]]:
        (nodes / ray.get_runtime_context().get_node_id()).touch()
        patience = time.monotonic() + 60
        while len(list(nodes.iterdir())) < 2 and time.monotonic() < patience:
            time.sleep(0.05)  # so that one node does not do all work while the other node starts
        if FILES * ROWS // 2 in indices and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return anls_metric.anls_batch(batch, indices, **options)

    # Ray would read files as small as these, 44 kB each, in one task.
    monkeypatch.setenv("RAY_DATA_PARQUET_BIN_PACKING_BYTES", "60000")
    monkeypatch.setattr(example, "anls_batch", dying)
    monkeypatch.setattr(sys, "argv", ["score", str(folder), str(scored), "--id-column", "id"])
    example.main()
    assert capsys.readouterr().out.splitlines()[-1] == f"{anls_metric.mean(expected)!r}  {anls_metric.signature()}"
    assert died.exists()
    assert len(list(nodes.iterdir())) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"answers", "died", "nodes", "scored"}
    assert scored.stat().st_mode == folder.stat().st_mode  # the permissions of any new folder

    # Scoring it again would give two columns with one name. The existing folder stays.
    with pytest.raises(ValueError, match="have a column 'anls' already"):
        example.score_batch(pq.read_table(scored))
    with pytest.raises(FileExistsError, match="is there already: name a new folder"):
        example.score_parquet(str(folder), str(scored))
    rows = pq.read_table(scored)
    assert sorted(zip(rows["id"].to_pylist(), rows["anls"].to_pylist())) == list(enumerate(expected))


def test_bad_row_is_named_by_its_id_and_leaves_no_files(example: Any, answers: Answers, tmp_path: Path) -> None:
    folder, _ = answers
    bad = {"id": [12345, 12346], "prediction": ["a", "b"], "references": [["a"], []]}
    pq.write_table(pa.table(bad, pa.schema(pq.read_schema(next(folder.iterdir())))), folder / "z.parquet")
    with pytest.raises(Exception, match="the references of row 12346 is an empty list"):
        example.score_parquet(str(folder), str(tmp_path / "new" / "scored"), id_column="id")
    assert list((tmp_path / "new").iterdir()) == []
