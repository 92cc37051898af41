"""Distributed runs of the metric: the rows of several processes give one score."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import metric as metric_module
from anls_metric.core.scorer import Scorer, get_scorer
from tests.core.processes import Calls, call_metric
from tests.core.test_evaluate import BAD_OPTIONS, ROWS, TEXTS, Rows, columns

filelock = pytest.importorskip("filelock")

Run = Callable[..., list[list[Any]]]

SCORERS: list[Scorer] = [anls_metric.VARIANTS["rrc"], get_scorer("anls_star"), get_scorer("anlsl")]

# The ways in which a process can pass its rows.
WAYS: dict[str, Callable[[Rows], Calls]] = {
    "add": lambda rows: [
        *(("add", {"prediction": prediction, "reference": reference}) for prediction, reference in rows),
        ("compute", {"return_all_scores": True}),
    ],
    "add_batch": lambda rows: [("add_batch", columns(rows)), ("compute", {"return_all_scores": True})],
    "compute": lambda rows: [("compute", {**columns(rows), "return_all_scores": True})],
}


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    with get_context("spawn").Pool(4) as pool:
        yield pool


@pytest.fixture
def run(pool: Any, tmp_path: Path) -> Run:
    def run(calls: list[Calls], **options: Any) -> list[list[Any]]:
        """Run the calls of each process with its own metric, and return the results."""
        options |= {"num_process": len(calls), "cache_dir": str(tmp_path), "timeout": 60}
        processes = [(options | {"process_id": number}, of_process) for number, of_process in enumerate(calls)]
        results: list[list[Any]] = pool.starmap(call_metric, processes, chunksize=1)
        assert not list(tmp_path.rglob("*.arrow"))
        return results

    return run


@pytest.mark.thorough
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_processes_give_the_number_of_all_rows(run: Run, scorer: Scorer, way: str, size: int) -> None:
    # The fourth process has no rows of lists.
    shares = [ROWS[scorer.key][number::size] for number in range(size)]
    scores = scorer.score(*columns([row for share in shares for row in share]).values())
    first, *others = run([WAYS[way](share) for share in shares], config_name=scorer.name)
    assert first[-1] == {scorer.key: scorer.mean(scores), f"{scorer.key}_scores": list(map(float, scores))}
    assert [results[-1] for results in others] == [None] * (size - 1)


@pytest.mark.thorough
def test_process_without_rows_does_not_block_the_others(run: Run) -> None:
    nothing: Calls = [("compute", {})]
    score = anls_metric.mean(anls_metric.anls_scores(*columns(TEXTS).values()))
    assert run([nothing, [("compute", columns(TEXTS))], nothing]) == [[{"anls": score}], [None], [None]]


@pytest.mark.thorough
@pytest.mark.parametrize("size", [2, 4])
def test_rounds_without_a_pause_give_each_round_its_own_number(run: Run, size: int) -> None:
    """A process must not replace its rows before process 0 has read them. A round without rows is an error."""

    def rounds(is_right: bool) -> Calls:
        texts = [f"round {number}" for number in range(20)]
        full: Calls = [
            ("compute", {"predictions": [text] * 9, "references": [text if is_right else "?"] * 9}) for text in texts
        ]
        return [*full, ("compute", {}), *full]

    first, *others = run([rounds(is_right=number > 0) for number in range(size)])
    assert str(first.pop(20)) == "there are no rows to score: pass at least one prediction and its references"
    assert first == [{"anls": 1 - 1 / size}] * 40
    assert others == [[None] * 41] * (size - 1)


@pytest.mark.thorough
def test_bad_options_and_rows_are_refused_before_a_process_waits(run: Run) -> None:
    bad = [(options, message) for configuration, options, message in BAD_OPTIONS if configuration == "default"]
    bad.append(({"predictions": ["a", None], "references": ["a", "b"]}, "prediction of row 1 "))
    bad.append(({"predictions": ["a"]}, "references is"))
    calls: Calls = [("compute", arguments) for arguments, _ in bad]
    # If one of them waited for the other, the rows of these rounds would be paired differently.
    first, second = run([[*calls, ("compute", columns(TEXTS[:1]))], [("compute", columns(TEXTS[1:2]))]])
    for error, (_, message) in zip(first, bad):
        assert message in str(error)
    assert [first[-1], *second] == [{"anls": 4 / 9}, None]


# Metrics in one process, with different process ids, so that a test can see their state


@pytest.fixture
def metrics(tmp_path: Path) -> list[Any]:
    return [
        anls_metric.load(num_process=2, process_id=number, cache_dir=str(tmp_path), timeout=0.3) for number in range(2)
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_after_nobody_came_the_next_round_is_right(metrics: list[Any], number: int) -> None:
    metrics[number].add(prediction="x", reference="y")
    with pytest.raises(ValueError, match="process"):
        metrics[number].compute()
    for metric in metrics:
        metric.timeout = 60
        metric.add_batch(**columns(TEXTS[:2]))
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda metric: metric.compute(), metrics)) == [{"anls": 4 / 9}, None]


def test_lock_alone_is_not_taken_for_process_0(metrics: list[Any]) -> None:
    """A process that checks for process 0 locks its file for a moment."""
    with (
        filelock.FileLock(Path(metrics[1].data_dir) / "default_experiment-2-0.arrow.lock"),
        pytest.raises(ValueError, match=r"process 1 waited 0\.3 s for process 0"),
    ):
        metrics[1].compute(**columns(TEXTS))


@pytest.mark.parametrize(
    ("jobs", "is_refused"),
    [
        (({"MASTER_PORT": "29500"}, {"MASTER_PORT": "29500"}), False),
        (
            ({"MASTER_PORT": "29500"}, {"MASTER_PORT": "29501"}),
            True,
        ),
        (({}, {"SLURM_JOB_ID": "7"}), False),  # a launcher may set it for some processes only
        (({"parent": 5}, {"parent": 6}), True),
        (({"parent": 5, "node": "a"}, {"parent": 6, "node": "b"}), False),
        # Jobs whose launchers set the same, as torchrun does on machines that know nothing of one another.
        (({"MASTER_PORT": "29500", "parent": 5}, {"MASTER_PORT": "29500", "parent": 6}), True),
        (({"MASTER_ADDR": "127.0.0.1", "node": "a"}, {"MASTER_ADDR": "127.0.0.1", "node": "b"}), True),
        (({"MASTER_ADDR": "10.0.0.7", "node": "a"}, {"MASTER_ADDR": "10.0.0.7", "node": "b"}), False),
    ],
)
def test_processes_of_two_jobs_are_never_mixed(
    metrics: list[Any], monkeypatch: pytest.MonkeyPatch, jobs: Any, is_refused: bool
) -> None:
    def compute(metric: Any, job: dict[str, Any]) -> Any:
        for name in metric_module._OF_JOBS:
            monkeypatch.delenv(name, raising=False)
        for name in set(job) - {"parent", "node"}:
            monkeypatch.setenv(name, job[name])
        monkeypatch.setattr("os.getppid", lambda: job.get("parent", 1))
        monkeypatch.setattr("platform.node", lambda: job.get("node", "a"))
        described = metric._describe_job()
        metric._describe_job = lambda: described
        metric.add_batch(**columns(TEXTS[:2]))
        metric.timeout = 60
        return lambda: metric.compute()

    calls = [compute(metric, job) for metric, job in zip(metrics, jobs)]
    with ThreadPoolExecutor(2) as threads:
        first, second = [threads.submit(call) for call in calls]
        assert second.result() is None
        if is_refused:
            with pytest.raises(ValueError, match="two jobs use experiment_id='default_experiment' at once: give each"):
                first.result()
        else:
            assert first.result() == {"anls": 4 / 9}


def test_jobs_of_one_parent_that_overlap_are_refused(
    metrics: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process of one job meets the second of the other, while the other two are still at work."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("platform.node", lambda: "elsewhere")
        options: Any = {"num_process": 2, "cache_dir": str(tmp_path), "timeout": 60}
        late = [anls_metric.load(process_id=number, **options) for number in range(2)]
    for metric in metrics:
        metric.timeout = 60
        metric.add_batch(**columns(TEXTS[:2]))
    with ThreadPoolExecutor(2) as threads:
        for future in [threads.submit(metric.compute) for metric in metrics]:
            with pytest.raises(ValueError, match="two jobs use experiment_id='default_experiment' at once"):
                future.result()
    folder = Path(metrics[0].data_dir)
    assert len(list(folder.glob("*.job"))) == 4
    late.clear()
    gc.collect()
    assert len(list(folder.glob("*.job"))) == 2  # the marks of a metric go with it


def test_rows_that_a_thread_adds_during_compute_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = anls_metric.load()
    metric.add_batch(predictions=["a"], references=["b"])
    score = metric._compute

    def add_meanwhile(*rows: Any, **options: Any) -> Any:
        metric.add(prediction="a", reference="a")
        return score(*rows, **options)

    monkeypatch.setattr(metric, "_compute", add_meanwhile)
    assert metric.compute() == {"anls": 0.0}
    monkeypatch.setattr(metric, "_compute", score)
    assert metric.compute() == {"anls": 1.0}
