"""Many calls of one visitor, and what they leave to others. Each address of the loopback is a visitor."""

from __future__ import annotations

import http.client
import json
import random
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits
from tests.conftest import wait_for
from tests.page.conftest import Served
from tests.page.test_programs import FIELDS, TABLE, ask, upload
from tests.page.test_stop import list_workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the loopback of this system has one address")

OTHER = "127.0.0.7"


@contextmanager
def connect(served: Served, source: str) -> Iterator[http.client.HTTPConnection]:
    address = urllib.parse.urlsplit(served.address).netloc
    connection = http.client.HTTPConnection(address, timeout=300, source_address=(source, 0))
    try:
        yield connection
    finally:
        connection.close()


def begin(served: Served, endpoint: str, source: str = "127.0.0.1", **named: Any) -> str:
    """Begin a call, and return the path of its result."""
    with connect(served, source) as connection:
        connection.request(
            "POST", f"/gradio_api/call/v2/{endpoint}", json.dumps(named), {"Content-Type": "application/json"}
        )
        return f"/gradio_api/call/{endpoint}/{json.loads(connection.getresponse().read())['event_id']}"


def call(served: Served, endpoint: str, source: str = "127.0.0.1", **named: Any) -> str:
    """Make a call, and return its last event."""
    path = begin(served, endpoint, source, **named)
    with connect(served, source) as connection:
        connection.request("GET", path)
        return connection.getresponse().read().decode().strip().rpartition("\n\n")[2]


@contextmanager
def keep_calling(served: Served, count: int, endpoint: str, **named: Any) -> Iterator[None]:
    """Make calls from another address, and listen for their results, which nobody reads, until the context ends."""
    with ExitStack() as stack:
        for path in [begin(served, endpoint, OTHER, **named) for _ in range(count)]:
            stack.enter_context(connect(served, OTHER)).request("GET", path)
        yield


def make_lists(seed: int) -> list[str]:
    """Make a list that takes many seconds to match with another one."""
    chance = random.Random(seed)
    return [str(chance.randrange(10)) for _ in range(1_600)]


def count_workers(served: Served) -> int:
    return len(list(list_workers(served.process)))


@pytest.fixture
def work(served: Served, tmp_path: Path) -> dict[str, Any]:
    """The arguments of a call that takes more CPU time than a call has."""
    served.expected.update(("SIGXCPU", "the clock"))
    rows = [{"id": n, "prediction": make_lists(n), "references": make_lists(-n)} for n in range(40)]
    path = tmp_path / "work.json"
    path.write_text(json.dumps(rows))
    return {"files": [upload(served, path)], "variant": "anls_star"}


def test_calls_of_one_visitor_have_one_process_and_let_others_pass(served: Served, work: dict[str, Any]) -> None:
    table = upload(served, TABLE)
    with keep_calling(served, 20, "score_logs", **work):
        wait_for(lambda: count_workers(served) == 1)
        assert call(served, "score_logs", files=[table], **FIELDS).startswith("event: complete")
        assert count_workers(served) == 1
        assert "too much work of yours is waiting" in call(served, "score_logs", OTHER, **work)
    wait_for(lambda: count_workers(served) == 0)  # they have left


def test_call_that_nobody_listens_for_ends(served: Served, work: dict[str, Any]) -> None:
    begin(served, "score_logs", **work)
    wait_for(lambda: count_workers(served) == 1)
    wait_for(lambda: count_workers(served) == 0, limits.SECONDS - 20)


def test_long_answers_of_one_visitor_let_those_of_others_pass(served: Served) -> None:
    served.expected.update(("SIGXCPU", "the clock"))
    prediction, references = json.dumps(make_lists(1)), [json.dumps(make_lists(2))]
    few, more = ([json.dumps([str(n) for n in range(count)])] for count in (3, 99))
    with keep_calling(served, 40, "explain_answer", prediction=prediction, references=references, variant="anls_star"):
        for [texts] in (few, more):  # in the server, and in a process
            done = call(served, "explain_answer", prediction=texts, references=[texts], variant="anls_star")
            assert done.startswith("event: complete"), done


def test_tools_refuse_deep_json_and_long_results_in_words(served: Served, tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="tools need mcp")

    def ask_tool(name: str, arguments: str) -> tuple[int, str]:
        request = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "{name}", "arguments": '
        address = urllib.parse.urlsplit(served.address).netloc
        connection = http.client.HTTPConnection(address, timeout=300)
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        connection.request("POST", "/gradio_api/mcp/", f"{request}{arguments}}}}}", headers)
        response = connection.getresponse()
        return response.status, response.read().decode()

    for depth in (60, 300, 5_000):
        status, text = ask_tool("explain_answer", '{"prediction": ' + "[" * depth + "]" * depth + "}")
        assert (status, "the request nests deeper than 50 levels" in text) == (400, True)
    rows = [{"prediction": f"{n} " * 500, "references": [f"{n}, " * 500]} for n in range(20)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(rows))
    arguments: dict[str, Any] = {"files": [upload(served, path)], "worst": 20}
    status, text = ask_tool("score_logs", json.dumps(arguments))
    assert "the result is longer than the 100 kB that a tool returns" in text
    assert '"isError":true' in text
    assert call(served, "score_logs", **arguments).startswith("event: complete")
    assert ask(served, "gradio_api/info")[0] == 200
