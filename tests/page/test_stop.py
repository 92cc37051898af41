"""Scoring that a visitor stops, changes, or leaves: nothing stale is shown, and no process goes on."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import wait_for
from tests.page.conftest import Served, write_table
from tests.page.test_programs import TABLE, ask, score_table, upload

Visits = Callable[..., Any]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("large") / "large.jsonl", 300_000)


def list_workers(server: int) -> Iterator[str]:
    """List the processes with the CPU limit of those that score, among the descendants of a server."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents, process = [], status.parent
            while (parent := (process / "stat").read_text().rpartition(")")[2].split()[1]) not in ("0", "1"):
                parents.append(int(parent))
                process = Path("/proc") / parent
            limits = (status.parent / "limits").read_text()
        except OSError:
            continue
        if server in parents and "Max cpu time              120 " in limits:
            yield status.parent.name


def test_stop_removed_files_and_closed_tab_end_the_process(
    visit: Visits, served: Served, large: Path, tmp_path: Path
) -> None:
    small = write_table(tmp_path / "small.jsonl", 30)
    user = visit("?tab=file", large)
    user.pass_stage("reading 1 of 1 file")
    user.pass_stage("scoring 300,000 answers")
    assert len(list(list_workers(served.process))) == 1
    user.press("Stop")
    wait_for(lambda: not list(list_workers(served.process)), seconds=2)
    user.see("#stage", "Stopped.")
    assert not user.page.locator("#stop").is_visible()
    user.press("Score again")
    user.pass_stage("scoring 300,000 answers")
    # Other files end the scoring of those before, whose report never appears.
    user.clear()
    user.drop(large)
    user.pass_stage("scoring 300,000 answers")
    user.clear()
    user.drop(small)
    user.report()
    assert user.list_files() == ["small"]
    wait_for(lambda: not list(list_workers(served.process)))
    # A tab that is closed.
    other = visit("?tab=file", large)
    other.pass_stage("300,000")
    other.page.goto("about:blank")
    wait_for(lambda: not list(list_workers(served.process)))


def test_client_of_an_endpoint_that_leaves_ends_the_process(served: Served, large: Path) -> None:
    body = json.dumps({"files": [upload(served, large)]}).encode()
    event = json.loads(ask(served, "gradio_api/call/v2/score_logs", body)[1])["event_id"]
    with urllib.request.urlopen(f"{served.address}gradio_api/call/score_logs/{event}"):
        wait_for(lambda: list(list_workers(served.process)))
    wait_for(lambda: not list(list_workers(served.process)))
    assert score_table(served, upload(served, TABLE))["questions"] == 3
