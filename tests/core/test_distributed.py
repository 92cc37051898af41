"""Distributed runs, with real processes."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.core import processes
from tests.core.processes import Team
from tests.core.test_evaluate import EXPECTED, PREDICTIONS, REFERENCES

evaluate = pytest.importorskip("evaluate")


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    team = Team(4)
    yield team
    team.end()


@pytest.fixture
def job(team: Team, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What the processes of a run load the metric with, but for their number."""
    yield {"cache_dir": str(tmp_path), "experiment_id": "test", "timeout": 60}
    team.all(processes.forget)


def load(team: Team, job: dict[str, Any], size: int) -> None:
    told = [team.tell(number, processes.make, num_process=size, process_id=number, **job) for number in range(size)]
    assert team.wait(told) == [None] * size


def test_three_processes_give_the_number_of_one(team: Team, job: dict[str, Any]) -> None:
    load(team, job, 3)
    adding = [
        team.tell(0, processes.add, PREDICTIONS[:1], REFERENCES[:1]),
        team.tell(1, processes.add, PREDICTIONS[1:2], REFERENCES[1:2], one_by_one=True),
        team.tell(2, processes.add, PREDICTIONS[2:3], REFERENCES[2:3]),
    ]
    assert team.wait(adding) == [None] * 3
    rest = {"predictions": PREDICTIONS[3:], "references": REFERENCES[3:]}
    computing = [
        team.tell(0, processes.compute, return_all_scores=True),
        team.tell(1, processes.compute, return_all_scores=True),
        team.tell(2, processes.compute, **rest, return_all_scores=True),
    ]
    result = {**EXPECTED, "anls_scores": anls_metric.anls_scores(PREDICTIONS, REFERENCES)}
    assert team.wait(computing) == [result, None, None]
    assert team.tell(0, processes.arrow_files).result() == []


def test_a_process_without_rows_does_not_keep_the_others_waiting(team: Team, job: dict[str, Any]) -> None:
    load(team, job, 3)
    rows = {"predictions": PREDICTIONS, "references": ["Coca Cola"] * 3 + ["12/15/88"]}
    computing = [team.tell(number, processes.compute, **({} if number else rows), variant="rrc") for number in range(3)]
    assert team.wait(computing) == [EXPECTED, None, None]


def test_round_after_round_without_a_pause(team: Team, job: dict[str, Any]) -> None:
    """A process must not start the next round before the first one has read this one's rows."""
    load(team, job, 2)
    first, second = team.wait([team.tell(number, processes.rounds, number) for number in range(2)])
    no_rows = "there are no rows to score: pass at least one prediction with its references"
    assert first == [{"anls": 0.5}] * 6 + [no_rows]
    assert second == [None] * 7


def test_bad_options_are_refused_in_every_process(team: Team, job: dict[str, Any]) -> None:
    load(team, job, 3)
    team.all(processes.add, range(3), PREDICTIONS, REFERENCES)
    said = team.all(processes.compute, range(3), variant="squad")
    assert all("no variant 'squad'" in str(error) for error in said)


# Two jobs that have one cache and one experiment_id


def make(team: Team, member: int, process_id: int, job: dict[str, Any]) -> Any:
    return team.wait([team.tell(member, processes.make, num_process=2, process_id=process_id, **job)])[0]


RIGHT = {"predictions": ["right"] * 10, "references": ["right"] * 10}
WRONG = {"predictions": ["wrong"] * 10, "references": ["right"] * 10}


def test_what_nobody_can_know(team: Team, job: dict[str, Any]) -> None:
    """Why there are places: as long as no other comes, a process of another job is as good as one's own."""
    assert make(team, 0, 0, job) is None
    assert make(team, 1, 1, job) is None
    computing = [team.tell(0, processes.compute, **WRONG), team.tell(1, processes.compute, **RIGHT)]
    assert team.wait(computing) == [{"anls": 0.5}, None]


def test_two_jobs_that_start_together_both_fail(team: Team, job: dict[str, Any]) -> None:
    """Members 0 and 2 are one job, 3 and 1 the other."""
    assert make(team, 0, 0, job) is None
    assert make(team, 1, 1, job) is None
    for member, process_id in ((2, 1), (3, 0)):
        error = make(team, member, process_id, job)
        assert isinstance(error, ValueError)
        assert f"test-2-{process_id}.place" in str(error)
        assert str(error).endswith("give each job that runs at the same time an experiment_id of its own")
        assert str(error).startswith("process ")  # who has it
    errors = team.wait([team.tell(0, processes.compute, **WRONG), team.tell(1, processes.compute, **RIGHT)])
    assert all(isinstance(error, ValueError) and "experiment_id of its own" in str(error) for error in errors)


def test_another_job_that_comes_when_rows_were_added_is_noticed_before_there_is_a_number(
    team: Team, job: dict[str, Any]
) -> None:
    assert make(team, 0, 0, job) is None
    assert make(team, 1, 1, job) is None
    adding = [team.tell(0, processes.add, **WRONG), team.tell(1, processes.add, **RIGHT)]
    assert team.wait(adding) == [None, None]
    assert isinstance(make(team, 2, 1, job), ValueError)
    errors = team.wait([team.tell(0, processes.compute), team.tell(1, processes.compute)])
    assert all(isinstance(error, ValueError) and "experiment_id" in str(error) for error in errors)


def test_a_job_that_was_complete_before_goes_on(team: Team, job: dict[str, Any], tmp_path: Path) -> None:
    assert make(team, 0, 0, job) is None
    assert make(team, 1, 1, job) is None
    for place in tmp_path.rglob("*.place"):
        os.utime(place, times=(time.time() - 61,) * 2)  # longer ago than a job takes to come together
    assert isinstance(make(team, 2, 1, job), ValueError)
    assert isinstance(make(team, 3, 0, job), ValueError)
    computing = [team.tell(0, processes.compute, **WRONG), team.tell(1, processes.compute, **WRONG)]
    assert team.wait(computing) == [{"anls": 0.0}, None]


def test_a_job_of_another_experiment_is_no_hindrance(team: Team, job: dict[str, Any]) -> None:
    other = job | {"experiment_id": "other"}
    for member, (process_id, chosen) in enumerate([(0, job), (1, job), (0, other), (1, other)]):
        assert make(team, member, process_id, chosen) is None
    rows = (WRONG, WRONG, RIGHT, RIGHT)
    computing = [team.tell(member, processes.compute, **given) for member, given in enumerate(rows)]
    assert team.wait(computing) == [{"anls": 0.0}, None, {"anls": 1.0}, None]


def test_a_place_is_free_when_its_process_has_ended(job: dict[str, Any]) -> None:
    other = Team(1)
    assert make(other, 0, 1, job) is None
    with pytest.raises(ValueError, match="experiment_id of its own"):
        anls_metric.load(num_process=2, process_id=1, **job)
    other.end()
    assert anls_metric.load(num_process=2, process_id=1, **job).process_id == 1


def test_a_process_may_load_its_metric_again(job: dict[str, Any]) -> None:
    first = anls_metric.load(num_process=2, process_id=1, **job)
    second = anls_metric.load(num_process=2, process_id=1, **job)
    copy = pickle.loads(pickle.dumps(second))
    assert all(metric._place and metric._place.is_held() for metric in (first, second, copy))


# One of two processes, so that everything happens here


def test_all_that_a_call_waits_for_is_one_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = anls_metric.load(num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=5)
    clock = [100.0]
    monkeypatch.setattr(sys.modules[type(metric).__module__].time, "monotonic", lambda: clock[0])
    assert metric.timeout == 5
    with metric._meeting():
        assert metric.timeout == 5
        clock[0] += 3
        with metric._meeting():  # a part of it
            assert metric.timeout == 2
        clock[0] += 3
        assert metric.timeout == 0
    assert metric.timeout == 5


def test_nobody_comes(tmp_path: Path) -> None:
    metric = anls_metric.load(num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=0.2)
    for call in (metric.add_batch, metric.compute):
        with pytest.raises(ValueError, match="process 1"):
            call(predictions=["a"], references=["a"])


def test_it_is_right_again_after_an_error(in_clone: Path, tmp_path: Path) -> None:
    """It fails before it has to wait for the other."""
    metric = evaluate.load("anls", num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=1)
    for bad in (
        {"predictions": ["a", None], "references": ["a", "b"]},
        {"predictions": ["\ud800"], "references": ["a"]},
    ):
        with pytest.raises(ValueError, match=r"row [01] \(counted from 0\)"):
            metric.compute(**bad)
        assert metric.filelock is None
        assert len(metric) == 0


def test_the_rows_of_a_process_that_failed_do_not_pass_for_all_it_had(in_clone: Path, tmp_path: Path) -> None:
    metric = evaluate.load("anls", num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=0.1)
    metric.cache_file_name, metric.filelock = metric._create_cache_file()
    Path(metric.cache_file_name).write_bytes(b"rows so far")
    with pytest.raises(ValueError, match="squad"):
        metric.compute(variant="squad")
    assert list(Path(metric.data_dir).glob("*.arrow")) == []
