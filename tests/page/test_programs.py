"""The page, used by programs and agents: over gradio_client, plain HTTP and the Model Context Protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import socket
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.api import score
from anls_metric.page import limits
from anls_metric.page.middleware import HEADERS
from anls_metric.rules import RULES
from tests.conftest import ROOT, without_questions
from tests.page.conftest import Served
from tests.page.files import write_table

GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"
TABLE = ROOT / "examples" / "table.csv"


@pytest.fixture(scope="module")
def client(served: Served) -> Any:
    connection = {"timeout": 120}  # the default of 5 s is too short for 50 at once on a busy machine
    client = pytest.importorskip("gradio_client").Client
    return client(served.address, verbose=False, httpx_kwargs=connection)


def ask(served: Served, path: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, str]:
    """Send a request over plain HTTP, and return the status and the text."""
    request = urllib.request.Request(served.address + path, data=body, headers={"Content-Type": kind} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call(served: Served, endpoint: str, data: Any) -> Any:
    """Call an endpoint like curl, and return the result, or {"error": ...}."""
    status, message = ask(served, f"gradio_api/call/{endpoint}", json.dumps({"data": data}).encode())
    if status != 200:
        return {"error": message}
    status, stream = ask(served, f"gradio_api/call/{endpoint}/{json.loads(message)['event_id']}")
    event, _, rest = stream.strip().rpartition("\n\n")[2].partition("\n")  # after heartbeats
    result = json.loads(rest.partition("data: ")[2])
    return result[0] if event == "event: complete" else result


def upload(served: Served, path: Path, name: str = "") -> str:
    """Upload a file, and return its path on the server."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name or path.name}"\r\n\r\n'
    body = head.encode() + path.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    status, message = ask(served, "gradio_api/upload", body, f"multipart/form-data; boundary={boundary}")
    assert status == 200, message
    (taken,) = json.loads(message)
    return str(taken)


def as_file(path: str) -> dict[str, Any]:
    """Make the argument for a file."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


# Answers


def test_programs_get_a_score_and_why(client: Any) -> None:
    why = client.predict("The Coca", ["Coca Cola"], api_name="/explain_answer")
    assert why["score"] == 0
    assert why["sentence"] == "5 edits on 9 characters: similarity 0.4444 is below the threshold of 0.5, so 0."
    assert why["signature"] == anls_metric.signature()
    scores = client.predict("ab", ["abcd"], api_name="/compare_variants")
    assert scores == {name: anls_metric.anls_score("ab", ["abcd"], variant=name) for name in anls_metric.VARIANTS}
    many = client.predict(["a", "b"], [["a"], ["c"]], variant="rrc", api_name="/score_answers")
    assert many["anls"] == 0.5
    assert many["signature"] == anls_metric.signature("rrc")
    listed = client.predict(api_name="/list_variants")
    assert [row["name"] for row in listed] == [*anls_metric.VARIANTS, *anls_metric.OF_VALUES, *RULES]


def test_arguments_with_defaults_may_be_left_out(served: Served) -> None:
    assert call(served, "explain_answer", ["CocaCola", ["Coca Cola"]])["signature"] == anls_metric.signature()
    assert call(served, "explain_answer", ["a", ["b"], "rrc"])["signature"] == anls_metric.signature("rrc")
    assert call(served, "explain_answer", ["a", ["b"], None, 0.7, None])["signature"] == anls_metric.signature(
        threshold=0.7
    )
    assert call(served, "score_answers", [["a"], [["a"]]])["anls"] == 1
    assert call(served, "score_logs", [[as_file(upload(served, TABLE))], "reply", "accepted"])["questions"] == 3
    status, message = ask(served, "gradio_api/run/explain_answer", json.dumps({"data": ["a", ["a"]]}).encode())
    assert (status, json.loads(message)["data"][0]["score"]) == (200, 1)


@pytest.mark.parametrize(
    ("endpoint", "data", "message"),
    [
        ("explain_answer", ["a", ["a"], "standard", 7.0], "threshold is 7.0"),
        ("explain_answer", ["a" * 30_000, ["b" * 30_000]], "prediction: 30,000 characters and 1 accepted answers"),
        ("explain_answer", [7, ["a"]], "not a string"),
        ("explain_answer", ["a"], "accepted_answers"),
        ("explain_answer", [], "prediction"),
        ("explain_answer", ["a", ["a"], "none"], "unknown variant 'none'"),
        ("compare_variants", ["a", []], "accepted_answers"),
        ("score_answers", [["a"], []], "predictions has 1"),
        ("score_files", [], "gold is missing: upload a file"),
        ("score_files", ["gold.json", ["submission.json"]], "gold is no file that was uploaded: upload it"),
        ("score_logs", [], "files is missing: upload a file"),
        ("score_logs", [[{"path": "/etc/hostname"}]], "no file that was uploaded: upload it"),
        ("score_logs", [[7]], "files is no file"),
        ("score_logs", [["data:text/csv,a"]], "the data: URL is not in base64"),
    ],
)
def test_wrong_call_of_a_program_is_reported(served: Served, endpoint: str, data: list[Any], message: str) -> None:
    assert message in call(served, endpoint, data)["error"]


def test_half_of_a_surrogate_pair_is_answered(served: Served) -> None:
    assert call(served, "explain_answer", ["\ud800", ["\ud800", "b"]])["closest"] == "?"
    assert "'\\ud800'" in call(served, "explain_answer", ["a", ["b"], "\ud800"])["error"]


def test_50_requests_at_once_get_their_own_answers(client: Any) -> None:
    def score(number: int) -> Any:
        text = "x" * number + "y"
        return client.predict(text, ["x" * (number + 1)], "nls", api_name="/explain_answer")["score"]

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(score, range(1, 51))) == [
            anls_metric.anls_score("x" * n + "y", "x" * (n + 1), variant="nls") for n in range(1, 51)
        ]


# Files


def test_programs_score_files(client: Any, tmp_path: Path) -> None:
    from gradio_client import handle_file

    gold, submission = handle_file(str(GOLD)), handle_file(str(SUBMISSION))
    result = client.predict(gold, [submission], api_name="/score_files")
    assert result == json.loads(json.dumps(score(SUBMISSION, GOLD).to_dict()))
    same = client.predict(gold, [submission], case="counts", api_name="/score_files")
    assert without_questions(same["signature"]) == anls_metric.signature(ignore_case=False)
    (tmp_path / "other.json").write_text(SUBMISSION.read_text())
    two = client.predict(gold, [submission, handle_file(str(tmp_path / "other.json"))], api_name="/score_files")
    assert [one["name"] for one in two["submissions"]] == ["submission", "other"]
    assert two["comparisons"][0]["difference"] == 0
    table = handle_file(str(TABLE))
    result = client.predict([table], "reply", "accepted", "", "rrc", 0.9, api_name="/score_logs")
    assert without_questions(result["signature"]) == anls_metric.signature("rrc", 0.9)
    assert "lmms_eval" in [row["name"] for row in client.predict(api_name="/list_layouts")]


def test_programs_score_lists_and_nested_values(client: Any) -> None:
    from gradio_client import handle_file

    why = client.predict('["tea", "mlik"]', ['["milk", "tea"]'], "anls_star", api_name="/explain_answer")
    assert (why["score"], [leaf["score"] for leaf in why["leaves"]]) == (0.75, [1, 0.5])
    path = str(ROOT / "examples" / "invoices.jsonl")
    options: dict[str, Any] = {"variant": "anls_star", "none_keys": "ignored", "average": "leaves", "worst": 2}
    result = client.predict([handle_file(path)], **options, api_name="/score_logs")
    assert result == json.loads(json.dumps(score(path, **options).to_dict()))


def test_upload_serves_many_calls(served: Served) -> None:
    gold, submission = (as_file(upload(served, path)) for path in (GOLD, SUBMISSION))
    found = [mean_of(call(served, "score_files", [gold, [submission]])) for _ in range(3)]
    assert found == [pytest.approx(0.6273148)] * 3


def mean_of(document: Any) -> Any:
    """Return the ANLS in a document of one submission."""
    (one,) = document["submissions"]
    return one["anls"]


def test_80_users_share_one_gold_file(served: Served, tmp_path: Path) -> None:
    gold = json.loads(GOLD.read_text())["data"]

    def score(number: int) -> Any:
        right = number % (len(gold) + 1)
        answers = [
            {"questionId": one["questionId"], "answer": one["answers"][0] if place < right else ""}
            for place, one in enumerate(gold)
        ]
        path = tmp_path / f"submission {number}.json"
        path.write_text(json.dumps(answers))
        return mean_of(call(served, "score_files", [as_file(upload(served, GOLD)), [as_file(upload(served, path))]]))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(score, range(80))) == [pytest.approx(n % 7 / 6) for n in range(80)]


def test_memory_of_a_visit_is_released(served: Served, tmp_path: Path) -> None:
    status = Path(f"/proc/{served.process}/status")
    if not status.exists():
        pytest.skip("the system does not say how much memory a process has")

    def megabytes() -> int:
        (found,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(found.split()[1]) // 1024

    large = write_table(tmp_path / "large.jsonl", 60_000)
    assert call(served, "score_logs", [[as_file(upload(served, TABLE))], "reply", "accepted"])["questions"] == 3
    before = megabytes()
    for _ in range(2):
        assert call(served, "score_logs", [[as_file(upload(served, Path(large.path)))]])["questions"] == 60_000
    assert megabytes() - before < 40


def test_uploads_of_others_cannot_be_deleted(served: Served) -> None:
    mine = upload(served, TABLE)
    folder = os.path.dirname(os.path.dirname(mine))
    others = [as_file(path) for path in (folder, os.path.dirname(mine), f"{mine}/..", f"{folder}/", f"{folder}/tmp")]
    for file in others:
        assert "error" in call(served, "score_logs", [[file], "reply", "accepted"])
        assert "error" in call(served, "score_files", [file, [file]])
    assert call(served, "score_logs", [[as_file(mine)], "reply", "accepted"])["questions"] == 3


def test_files_of_the_server_are_never_read(served: Served) -> None:
    host = Path("/etc/hostname").read_text().strip()
    for path in ("/etc/hostname", "../../../../etc/hostname", "file:///etc/hostname", "http://127.0.0.1:1/a.csv"):
        message = call(served, "score_logs", [[as_file(path)], "prediction", "references"])["error"]
        assert "upload" in message
        assert host not in message
        assert "upload" in call(served, "explain_answer", ["a", [as_file(path)]])["error"]
    mine = upload(served, TABLE)
    for path in ("/etc/hostname", str(ROOT / "anls.py"), "anls.py", "app.py", mine, os.path.dirname(mine), "http://x/"):
        for way in ("file=", "file/", "proxy="):
            status, message = ask(served, f"gradio_api/{way}{urllib.parse.quote(path)}")
            assert status == 404
            assert host not in message


def test_file_that_takes_long_keeps_nobody_waiting(served: Served, tmp_path: Path) -> None:
    """Its references are the worst case of a pattern, which once blocked the interpreter for 13 s."""
    (tmp_path / "slow.csv").write_bytes(b'prediction,references\n"x","(""a"", 1111111111111111111111111 x)"\n')
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(call, served, "score_logs", [[as_file(upload(served, tmp_path / "slow.csv"))]])
        assert call(served, "explain_answer", ["a", ["a"]])["score"] == 1
        assert call(served, "score_logs", [[as_file(upload(served, TABLE))], "reply", "accepted"])["questions"] == 3
        found = slow.result()
    message = "this needs more memory or time than the page has for it: on your computer, type anls slow.csv"
    assert found.get("questions") == 1 or found["error"] == message


def test_body_beyond_its_content_length_is_refused(served: Served) -> None:
    """Sent in chunks, with a false length."""
    address = urllib.parse.urlsplit(served.address)
    head = f"POST /gradio_api/call/explain_answer HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 20\r\n"
    piece = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=60) as connection:
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):  # the page closes the connection
            for _ in range(400):
                connection.sendall(piece)
            pytest.fail("the page has read 26 MB")
        assert b" 413 " in connection.recv(100)
    assert call(served, "explain_answer", ["a", ["a"]])["score"] == 1


def test_page_whose_session_is_over_leaves_no_traceback(served: Served) -> None:
    """A browser that returns too late, or a client with an invented session. The fixture `served` checks the log."""
    with urllib.request.urlopen(f"{served.address}gradio_api/queue/data?session_hash=over", timeout=60) as answer:
        assert b'"session_not_found":true' in answer.read()
    assert "Traceback" not in served.log.read_text()


def test_nothing_names_a_folder_of_the_server(served: Served, tmp_path: Path) -> None:
    """Files of every kind with a wrong ending, and all sorts of paths."""
    contents = [b"PAR1" + bytes(50) + b"PAR1", b"PK\3\4" + bytes(99), b"{"]
    texts = []
    for kind in ("json", "csv", "parquet", "arrow", "xlsx", "eval", "json.gz"):
        for number, content in enumerate(contents):
            (tmp_path / f"{number}.{kind}").write_bytes(content)
            texts.append(
                call(served, "score_logs", [[as_file(upload(served, tmp_path / f"{number}.{kind}"))]])["error"]
            )
    for path in (str(served.uploads), f"{served.uploads}/x/y", f"{served.uploads}/{'0' * 64}/x.csv", "a" * 10_000):
        texts.append(call(served, "score_logs", [[as_file(path)]])["error"])
        texts += [
            ask(served, f"gradio_api/{way}{urllib.parse.quote(path)}")[1] for way in ("file=", "file/", "stream/")
        ]
    for way in ("file=%00", "file/%00", "file=%00%00/x", f"file={served.uploads}/%00"):
        status, text = ask(served, f"gradio_api/{way}")
        assert status == 404
        texts.append(text)
    assert [
        text for text in texts if str(served.uploads) in text or str(ROOT) in text or "the page has a fault" in text
    ] == []


def test_large_request_is_refused(served: Served) -> None:
    body = json.dumps({"data": ["a", ["b" * limits.MOST_REQUEST]]}).encode()
    status, message = ask(served, "gradio_api/call/explain_answer", body)
    assert status == 413
    assert json.loads(message)["detail"].startswith(
        "the request is larger than 256 kB, or has more than 8,000 values: "
    )
    assert call(served, "explain_answer", ["a", ["a"]])["score"] == 1


# Browsers


def test_browser_is_told_what_is_allowed(served: Served) -> None:
    for path in ("", "gradio_api/info", "theme.css", "gradio_api/file=/etc/hostname"):
        try:
            answer: Any = urllib.request.urlopen(served.address + path, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


# Agents


def agent(served: Served, ask: Callable[[Any], Any]) -> Any:
    """Run a session of the Model Context Protocol, and return the result of `ask`."""
    pytest.importorskip("mcp", reason="tools need mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def session() -> Any:
        async with (
            streamablehttp_client(f"{served.address}gradio_api/mcp/") as (reading, writing, _),
            ClientSession(reading, writing) as found,
        ):
            await found.initialize()
            return await ask(found)

    with ThreadPoolExecutor(1) as pool:  # playwright has a loop in this thread
        return pool.submit(lambda: asyncio.run(session())).result(120)


def test_agents_have_the_same_as_tools(served: Served) -> None:
    async def tools(session: Any) -> Any:
        return (await session.list_tools()).tools

    names = {tool.name: tool for tool in agent(served, tools)}
    assert sorted(names) == sorted(ENDPOINTS)
    assert "explain the score" in names["explain_answer"].description
    assert "closest one counts" in json.dumps(names["explain_answer"].inputSchema)


def test_agents_are_answered_in_json(served: Served) -> None:
    async def answers(session: Any) -> Any:
        arguments = {"prediction": "CocaCola", "accepted_answers": ["Coca Cola"]}
        return [
            (await session.call_tool(name, given)).content[0].text
            for name, given in (
                ("explain_answer", arguments),
                ("compare_variants", arguments),
                ("score_answers", {"predictions": ["a"], "accepted_answers": [["a"]]}),
                ("list_variants", {}),
            )
        ]

    why, variants, many, listed = map(json.loads, agent(served, answers))
    assert (why["score"], why["edits"][1]) == (8 / 9, {"operation": "insert", "prediction": "", "reference": " "})
    assert variants["nls"] == pytest.approx(8 / 9)
    assert many == {"anls": 1, "scores": [1], "signature": anls_metric.signature()}
    assert [row["name"] for row in listed] == [*anls_metric.VARIANTS, *anls_metric.OF_VALUES, *RULES]


def test_agents_name_an_upload_as_they_like(served: Served) -> None:
    path = upload(served, TABLE)
    content = base64.b64encode(TABLE.read_bytes()).decode()
    named = [
        path,
        f"{served.address}gradio_api/file={path}",
        f"{served.address}gradio_api/file={urllib.parse.quote(path)}",
        f"data:text/csv;base64,{content}",
    ]

    async def scores(session: Any) -> Any:
        fields = {"prediction_field": "reply", "references_field": "accepted"}
        return [(await session.call_tool("score_logs", {"files": [one], **fields})).content[0].text for one in named]

    texts = agent(served, scores)
    found = [mean_of(json.loads(text)) for text in texts]
    assert found == [pytest.approx(0.5879, abs=1e-4)] * 4


def test_agents_read_no_file_of_the_server(served: Served) -> None:
    host = Path("/etc/hostname").read_text().strip()
    folder = os.path.dirname(os.path.dirname(upload(served, TABLE)))

    async def answers(session: Any) -> Any:
        files = [
            "/etc/hostname",
            f"{served.address}gradio_api/file=/etc/hostname",
            folder,
            "anls.py",
            "file:///etc/hostname",
        ]
        return [await session.call_tool("score_logs", {"files": [file]}) for file in files]

    for answer in agent(served, answers):
        assert answer.isError
        assert host not in answer.content[0].text


# Any request

VALUES: list[Any] = [
    None,
    "",
    "a",
    "\x00",
    "\ud800",
    "a" * 5_000,
    [],
    ["a"],
    [["a"]],
    [None],
    {},
    {"a": 1},
    0,
    -1,
    0.5,
    1e308,
    10**400,
    True,
    "rrc",
    "anls_star",
    "counts",
    {"path": "a", "meta": {"_type": "gradio.FileData"}},
    {"path": None, "meta": {"_type": "gradio.FileData"}},
    {"path": "\x00", "url": "http://127.0.0.1:1", "meta": {"_type": "gradio.FileData"}},
    [[[[[[[[["a"]]]]]]]]],
]

ENDPOINTS = ["explain_answer", "compare_variants", "score_answers", "list_variants", "list_layouts"]
ENDPOINTS += ["score_files", "score_logs"]


def test_any_request_gets_an_answer_or_an_error(served: Served) -> None:
    chance = random.Random(12)
    files = [as_file(upload(served, path)) for path in (GOLD, SUBMISSION, TABLE)]
    requests = [
        (
            chance.choice(ENDPOINTS),
            [chance.choice([*VALUES, *files, files[:2], files]) for _ in range(chance.randint(0, 7))],
        )
        for _ in range(200)
    ]

    def answer(request: tuple[str, list[Any]]) -> Any:
        return call(served, *request)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(answer, requests))
    silent = [
        request for request, one in zip(requests, found) if isinstance(one, dict) and one.get("error", "") is None
    ]
    assert silent == []
    told = [one["error"] for one in found if isinstance(one, dict) and "error" in one]
    assert 50 < len(told) < 200
    assert [
        message for message in told if "the page has a fault" in message or "Internal Server Error" in message
    ] == []
    assert call(served, "explain_answer", ["a", ["a"]])["score"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"data": 1}',
        b"null",
        b"[" * 100_000,
        b'{"data": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b"\xff",
    ],
)
def test_broken_request_does_no_harm(served: Served, body: bytes) -> None:
    status, message = ask(served, "gradio_api/call/explain_answer", body)
    assert status in (200, 400, 405, 413, 422, 500)
    if status == 200:
        ask(served, f"gradio_api/call/explain_answer/{json.loads(message)['event_id']}")
    assert call(served, "explain_answer", ["a", ["a"]])["score"] == 1
