"""The page, used by programs and agents: over gradio_client, plain HTTP and the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import time
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
from anls_metric.page.endpoints import ENDPOINTS, FAULT
from anls_metric.page.middleware import HEADERS
from anls_metric.page.processes import EXHAUSTED
from tests.conftest import ROOT
from tests.page.conftest import Served, write_table

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
TABLE = ROOT / "examples" / "table.csv"
NAMES = [endpoint.__name__ for endpoint in ENDPOINTS]


@pytest.fixture(scope="module")
def client(served: Served) -> Any:
    connection = {"timeout": 120}  # the default of 5 s is too short for 50 at once on a busy machine
    client = pytest.importorskip("gradio_client").Client
    return client(served.address, verbose=False, httpx_kwargs=connection)


def ask(served: Served, path: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, str]:
    """Send a request over plain HTTP, and return the status and the text."""
    headers = {"Content-Type": kind} if body is not None else {}
    request = urllib.request.Request(served.address + path, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call(served: Served, endpoint: str, *data: Any, **named: Any) -> Any:
    """Call an endpoint like curl, by position or by name, and return the result, or {"error": ...}."""
    version, body = ("", {"data": data}) if data else ("v2/", named)
    status, message = ask(served, f"gradio_api/call/{version}{endpoint}", json.dumps(body).encode())
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


def mean_of(document: Any) -> Any:
    """Return the ANLS in a document of one submission."""
    assert "submissions" in document, document
    (one,) = document["submissions"]
    return one["anls"]


def score_table(served: Served, path: str) -> Any:
    return call(served, "score_logs", files=[path], prediction="reply", references="accepted")


# Answers


def test_programs_get_answers(client: Any) -> None:
    why = client.predict("The Coca", ["Coca Cola"], api_name="/explain_answer")
    assert (why["score"], why["signature"]) == (0, anls_metric.signature())
    scores = client.predict("ab", ["abcd"], api_name="/compare_variants")
    assert scores == {name: anls_metric.anls_score("ab", ["abcd"], variant=name) for name in anls_metric.VARIANTS}
    many = client.predict(["a", "b"], [["a"], ["c"]], variant="rrc", api_name="/score_answers")
    assert (many["anls"], many["signature"]) == (0.5, anls_metric.signature("rrc"))
    value = client.predict('["tea", "mlik"]', ['["milk", "tea"]'], "anls_star", api_name="/explain_answer")
    assert (value["score"], [leaf["score"] for leaf in value["leaves"]]) == (0.75, [1, 0.5])
    assert "rrc" in [row["name"] for row in client.predict(api_name="/list_variants")]
    assert "lmms_eval" in [row["name"] for row in client.predict(api_name="/list_layouts")]


def test_programs_score_files(client: Any) -> None:
    from gradio_client import handle_file

    gold, submission, table = (handle_file(str(path)) for path in (GOLD, SUBMISSION, TABLE))
    result = client.predict(gold, [submission], api_name="/score_files")
    assert result == json.loads(json.dumps(score(SUBMISSION, GOLD).to_dict()))
    result = client.predict([table], prediction="reply", references="accepted", threshold=0.9, api_name="/score_logs")
    assert "threshold:0.9" in result["signature"]


def test_curl_gets_answers(served: Served) -> None:
    assert call(served, "explain_answer", prediction="a", references=["b"], variant="rrc")["signature"] == (
        anls_metric.signature("rrc")
    )
    assert call(served, "explain_answer", "a", ["b"], "standard", 0.7, None)["signature"] == (
        anls_metric.signature(threshold=0.7)
    )
    gold, submission = upload(served, GOLD), upload(served, SUBMISSION)
    found = [mean_of(call(served, "score_files", gold=gold, submissions=[submission])) for _ in range(3)]
    assert found == [pytest.approx(0.6273148)] * 3


@pytest.mark.parametrize(
    ("endpoint", "named", "message"),
    [
        (
            "explain_answer",
            {"prediction": "a", "references": ["a"], "threshold": 7},
            "threshold must be a number from 0",
        ),
        ("explain_answer", {"prediction": 7, "references": ["a"]}, "not a string"),
        ("explain_answer", {"prediction": "a", "references": ["b"], "variant": "\ud800"}, "unknown variant '\\ud800'"),
        ("score_files", {"gold": "gold.json", "submissions": ["a.json"]}, "not an uploaded file"),
        ("score_logs", {"files": [{"path": "/etc/hostname"}]}, "not an uploaded file"),
        ("score_logs", {"files": [7]}, "files is not an uploaded file"),
    ],
)
def test_wrong_call_is_reported(served: Served, endpoint: str, named: dict[str, Any], message: str) -> None:
    assert message in call(served, endpoint, **named)["error"]


def test_half_of_a_surrogate_pair_is_answered(served: Served) -> None:
    assert call(served, "explain_answer", prediction="\ud800", references=["\ud800", "b"])["closest"] == "?"


# Load


def test_300_calls_at_once_get_their_own_answers(served: Served) -> None:
    def explain(number: int) -> Any:
        text = "x" * number + "y"
        return call(served, "explain_answer", prediction=text, references=["x" * (number + 1)], variant="nls")["score"]

    with ThreadPoolExecutor(300) as pool:
        assert list(pool.map(explain, range(1, 301))) == [
            anls_metric.anls_score("x" * n + "y", "x" * (n + 1), variant="nls") for n in range(1, 301)
        ]


def test_80_users_share_one_gold_file(served: Served, tmp_path: Path) -> None:
    gold = json.loads(GOLD.read_text())["data"]

    def run(number: int) -> Any:
        correct = number % (len(gold) + 1)
        answers = [
            {"questionId": one["questionId"], "answer": one["answers"][0] if place < correct else ""}
            for place, one in enumerate(gold)
        ]
        path = tmp_path / f"submission {number}.json"
        path.write_text(json.dumps(answers))
        return mean_of(call(served, "score_files", gold=upload(served, GOLD), submissions=[upload(served, path)]))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(run, range(80))) == [pytest.approx(n % 7 / 6) for n in range(80)]


def test_work_that_takes_long_keeps_nobody_waiting(served: Served) -> None:
    """Matching two lists of 2,400 strings takes cubic time: the processor limit ends it, or it is done before."""
    served.expected.add("SIGXCPU")
    texts = [
        json.dumps([f"{chance.randrange(10):d}{n % 7}"[:1] for n in range(1_600)])
        for chance in map(random.Random, (1, 2))
    ]
    with ThreadPoolExecutor(2) as pool:
        slow = [
            pool.submit(call, served, "explain_answer", prediction=texts[0], references=[texts[1]], variant="anls_star")
            for _ in range(2)
        ]
        time.sleep(0.5)
        begin = time.monotonic()
        assert call(served, "explain_answer", prediction="a", references=["a"])["score"] == 1
        assert score_table(served, upload(served, TABLE))["questions"] == 3
        assert time.monotonic() - begin < 10
        for found in (future.result() for future in slow):
            assert "score" in found or found["error"].startswith(EXHAUSTED)


def test_memory_is_given_back_after_200_calls(served: Served, tmp_path: Path) -> None:
    status = Path(f"/proc/{served.process}/status")
    if not status.exists():
        pytest.skip("the system does not say how much memory a process has")

    def measure() -> int:
        (found,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(found.split()[1]) // 1024

    table, large = upload(served, TABLE), upload(served, write_table(tmp_path / "large.jsonl", 30_000))
    assert call(served, "score_logs", files=[large])["questions"] == 30_000
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: score_table(served, table), range(40)))
        before = measure()
        list(pool.map(lambda _: score_table(served, table), range(180)))
        list(pool.map(lambda _: call(served, "score_logs", files=[large]), range(20)))
    assert measure() - before < 60  # MB


# Attacks


def test_files_of_the_server_are_never_read(served: Served) -> None:
    host = Path("/etc/hostname").read_text().strip()
    mine = upload(served, TABLE)
    folder = os.path.dirname(os.path.dirname(mine))
    for path in (
        *(
            "/etc/hostname",
            "../../../../etc/hostname",
            "file:///etc/hostname",
            "http://127.0.0.1:1/a.csv",
            "a" * 10_000,
        ),
        *(folder, os.path.dirname(mine), f"{mine}/..", f"{folder}/{'0' * 64}/x.csv"),
    ):
        for file in (path, {"path": path, "meta": {"_type": "gradio.FileData"}}):
            message = call(served, "score_logs", files=[file])["error"]
            assert "upload" in message
            assert host not in message
    for path in (
        "/etc/hostname",
        str(ROOT / "anls.py"),
        "anls.py",
        "app.py",
        mine,
        folder,
        "http://x/",
        "%00",
        f"{mine}%00",
    ):
        for way in ("file=", "file/", "proxy=", "stream/"):
            status, message = ask(served, f"gradio_api/{way}{urllib.parse.quote(path, safe='/%:')}")
            assert status == 404
            assert host not in message
    assert score_table(served, mine)["questions"] == 3


def write_bomb(path: Path) -> Path:
    """Write a Parquet file of 0.4 MB that unpacks to 4 GB."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), ["x" * 10_000_000])
    columns = {"prediction": ["a"] * 400, "references": ["a"] * 400, "question": text}
    parquet.write_table(pa.table(columns), path, compression="zstd")
    return path


def test_hostile_files_end_with_a_sentence(served: Served, tmp_path: Path) -> None:
    served.expected.update(("its limit of memory", "SIGKILL", "SIGABRT", "SIGXCPU"))
    contents = {
        "deep.json": b"[" * 1_000_000,
        "numbers.json": b"[" + b"1," * 5_000_000 + b"1]",
        "keys.jsonl": b"".join(b'{"k%d": 1}\n' % n for n in range(100_000)),
        "wide.csv": b",".join(b"c%d" % n for n in range(100_000)) + b"\n" + b"," * 99_999 + b"\n",
        "long.csv": b"prediction,references\n" + b"a" * 20_000_000 + b",b\n",
        "digits.json": b'[{"prediction": ' + b"9" * 100_000 + b', "references": ["a"]}]',
        "pattern.csv": b'prediction,references\n"x","(""a"", ' + b"1" * 30 + b' x)"\n',
        "half.json": rb'[{"prediction": "\ud800", "references": ["\udfff"], "id": "\ud800"}]',
        "zeros.json": bytes(10_000_000),
    }
    for kind in ("json", "csv", "parquet", "arrow", "xlsx", "eval", "json.gz"):
        for number, content in enumerate(
            (b"PAR1" + bytes(50) + b"PAR1", b"PK\3\4" + bytes(99), b"{", b"\x1f\x8b", b"")
        ):
            contents[f"{number}.{kind}"] = content
    paths = [write_bomb(tmp_path / "bomb.parquet")]
    for name, content in contents.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content)
    for path in paths:
        found = call(served, "score_logs", files=[upload(served, path)])
        assert "questions" in found or len(found["error"]) > 10, (path, found)
        text = json.dumps(found)
        assert not [word for word in (FAULT, str(served.uploads), str(ROOT)) if word in text], (path, text[:500])
    assert score_table(served, upload(served, TABLE))["questions"] == 3


def test_name_of_an_upload_is_a_name(served: Served) -> None:
    for name in ("../../etc/passwd", "a\x01b\x1b[2J.csv", "答" * 100 + ".csv", "-rf *.csv"):
        path = upload(served, TABLE, name)
        assert path.startswith(str(served.uploads))
        found = score_table(served, path)
        assert "questions" in found or "upload" in found["error"]


def send(served: Served, head: str, piece: bytes, count: int) -> bytes:
    """Send a chunked body with a false length until the page closes the connection."""
    address = urllib.parse.urlsplit(served.address)
    start = (
        f"POST /gradio_api/{head}\r\nHost: {address.netloc}\r\nContent-Length: 20\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=60) as connection:
        with suppress(OSError):  # the page closes the connection
            connection.sendall(start.encode())
            for _ in range(count):
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            pytest.fail("the page has read the whole body")
        return connection.recv(100)


def test_bodies_beyond_their_limits_leave_nothing(served: Served) -> None:
    assert b" 413 " in send(served, "call/explain_answer HTTP/1.1", b"a" * 0x10000, 400)
    part = b'\r\n--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n' + b"b" * 1_000_000
    send(served, "upload HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x", part, 400)
    assert [path for path in served.uploads.rglob("*") if path.is_file() and path.name.startswith("a.csv")] == []
    status, message = ask(served, "gradio_api/call/explain_answer", b"a" * (limits.MAX_REQUEST + 1))
    assert (status, "upload a file instead" in message) == (413, True)
    for body in (b"", b"{", b"[]", b'{"data": 1}', b"null", b"[" * 100_000, b"[" * 5_000 + b"]" * 5_000, b"\xff"):
        status, message = ask(served, "gradio_api/call/explain_answer", body)
        assert status in (400, 422)
    assert call(served, "explain_answer", prediction="a", references=["a"])["score"] == 1


def test_browser_is_told_what_is_allowed(served: Served) -> None:
    for path in ("", "gradio_api/info", "theme.css", "gradio_api/file=/etc/hostname"):
        try:
            answer: Any = urllib.request.urlopen(served.address + path, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


VALUES: list[Any] = [
    *(
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
    ),
    *(True, "rrc", "anls_star", {"path": "a", "meta": {"_type": "gradio.FileData"}}, [[[[[[[[["a"]]]]]]]]]),
    *({"path": None, "meta": {"_type": "gradio.FileData"}}, {"path": "\x00", "url": "http://127.0.0.1:1"}),
]


def test_any_request_gets_an_answer_or_an_error(served: Served) -> None:
    chance = random.Random(12)
    files = [upload(served, path) for path in (GOLD, SUBMISSION, TABLE)]
    requests = [
        (
            chance.choice(NAMES),
            [chance.choice([*VALUES, *files, files[:2], files]) for _ in range(chance.randint(1, 14))],
        )
        for _ in range(200)
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda request: call(served, request[0], *request[1]), requests))
    told = [one["error"] for one in found if isinstance(one, dict) and "error" in one]
    assert len(told) > 50
    assert not [message for message in told if not message or FAULT in message or "Internal Server Error" in message]
    assert call(served, "explain_answer", prediction="a", references=["a"])["score"] == 1


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
    path = upload(served, TABLE)

    async def use(session: Any) -> Any:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        answer = {"prediction": "CocaCola", "references": ["Coca Cola"]}
        fields = {"prediction": "reply", "references": "accepted"}
        calls = [
            await session.call_tool("explain_answer", answer),
            await session.call_tool("score_logs", {"files": [path], **fields}),
            await session.call_tool("score_logs", {"files": ["/etc/hostname"]}),
            await session.call_tool("explain_answer", {**answer, "variant": "none"}),
        ]
        return tools, calls

    tools, (why, scores, refused, wrong) = agent(served, use)
    assert sorted(tools) == sorted(NAMES)
    assert "explain the score" in tools["explain_answer"].description
    assert "closest one counts" in json.dumps(tools["explain_answer"].inputSchema)
    assert "0.888888" in why.content[0].text
    assert "0.587962" in scores.content[0].text
    assert refused.isError
    assert "uploaded" in refused.content[0].text
    assert "unknown variant" in wrong.content[0].text
