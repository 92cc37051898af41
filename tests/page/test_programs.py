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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.api import score
from anls_metric.page import endpoints, limits
from anls_metric.page.middleware import HEADERS
from anls_metric.page.processes import EXHAUSTED
from tests.conftest import ROOT
from tests.page.conftest import Served, write_table

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
TABLE = ROOT / "examples" / "table.csv"
FIELDS = {"prediction": "reply", "references": "accepted"}
FAULTS = (endpoints.FAULT, "Internal Server Error")
NAMES = [endpoint.__name__ for endpoint in endpoints.ENDPOINTS]


def ask(served: Served, path: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, str]:
    """Send a request over plain HTTP, and return the status and the text. Each response has the security headers."""
    headers = {"Content-Type": kind} if body is not None else {}
    request = urllib.request.Request(served.address + path, data=body, headers=headers)
    try:
        answer: Any = urllib.request.urlopen(request, timeout=300)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        return answer.status, answer.read().decode()


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


def score_table(served: Served, path: str) -> Any:
    return call(served, "score_logs", files=[path], **FIELDS)


# Answers


def test_programs_get_what_the_functions_return(served: Served) -> None:
    gradio_client = pytest.importorskip("gradio_client")
    # The default of 5 s is too short on a busy machine.
    client = gradio_client.Client(served.address, verbose=False, httpx_kwargs={"timeout": 120})
    calls: list[Any] = [
        (endpoints.explain_answer, "The Coca", ["Coca Cola"]),
        (endpoints.explain_answer, '["tea", "mlik"]', ['["milk", "tea"]'], "anls_star"),
        (endpoints.compare_variants, "ab", ["abcd"]),
        (endpoints.score_answers, ["a", "b"], [["a"], ["c"]], "rrc"),
        (endpoints.list_variants,),
        (endpoints.list_layouts,),
    ]
    for endpoint, *arguments in calls:
        answer = client.predict(*arguments, api_name=f"/{endpoint.__name__}")
        assert answer == json.loads(json.dumps(endpoint(*arguments)))
    gold, submission, table = (gradio_client.handle_file(str(path)) for path in (GOLD, SUBMISSION, TABLE))
    answer = client.predict(gold, [submission], api_name="/score_files")
    assert answer == json.loads(json.dumps(score(SUBMISSION, GOLD).to_dict()))
    answer = client.predict([table], threshold=0.9, **FIELDS, api_name="/score_logs")
    assert "threshold:0.9" in answer["signature"]


def test_curl_gets_answers_and_errors(served: Served) -> None:
    why = call(served, "explain_answer", prediction="a", references=["b"], variant="rrc")
    assert why["signature"] == anls_metric.signature("rrc")
    why = call(served, "explain_answer", "a", ["b"], "standard", 0.7, None)
    assert why["signature"] == anls_metric.signature(threshold=0.7)
    half = "\ud800"  # of a surrogate pair
    assert call(served, "explain_answer", prediction=half, references=[half, "b"])["closest"] == "?"
    refused = call(served, "explain_answer", prediction="a", references=["b"], variant=half)
    assert "unknown variant '\\ud800'" in refused["error"]


# Load


def test_curl_is_told_which_argument_is_missing_or_unknown(served: Served) -> None:
    for named, problem in {
        '{"prediction": "a"}': "the argument 'references' is missing: ",
        '{"prediction": "a", "references": ["a"], "refs": ["a"]}': "there is no argument 'refs': ",
    }.items():
        status, text = ask(served, "gradio_api/call/v2/explain_answer", named.encode())
        assert (status, json.loads(text)["detail"].startswith(problem)) == (422, True)


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
        found = call(served, "score_files", gold=upload(served, GOLD), submissions=[upload(served, path)])
        return found["submissions"][0]["anls"]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(run, range(80))) == [pytest.approx(n % 7 / 6) for n in range(80)]


def test_work_that_takes_long_keeps_nobody_waiting(served: Served) -> None:
    """Matching two lists of 1,600 strings takes cubic time: the processor limit ends it, or it is done before."""
    served.expected.update(("SIGXCPU", "the clock"))  # on a busy machine, the clock is first
    lists = [[str(chance.randrange(10)) for _ in range(1_600)] for chance in map(random.Random, (1, 2))]
    answer = {"prediction": json.dumps(lists[0]), "references": [json.dumps(lists[1])], "variant": "anls_star"}
    with ThreadPoolExecutor(2) as pool:
        slow = [pool.submit(call, served, "explain_answer", **answer) for _ in range(2)]
        time.sleep(0.5)
        begin = time.monotonic()
        assert call(served, "explain_answer", prediction="a", references=["a"])["score"] == 1
        assert score_table(served, upload(served, TABLE))["questions"] == 3
        assert time.monotonic() - begin < 10 or not all(future.done() for future in slow)
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
    outside = ["/etc/hostname", "../../../../etc/hostname", "file:///etc/hostname", "http://127.0.0.1:1/a.csv"]
    inside = [folder, os.path.dirname(mine), f"{mine}/..", f"{folder}/{'0' * 64}/x.csv"]
    for path in (*outside, *inside, "a" * 10_000):
        for file in (path, {"path": path, "meta": {"_type": "gradio.FileData"}}):
            message = call(served, "score_logs", files=[file])["error"]
            assert "upload" in message
            assert host not in message
    for path in (*outside, *inside, mine, f"{mine}%00", "%00", str(ROOT / "anls.py"), "anls.py", "app.py"):
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
    served.expected.update(("its limit of memory", "SIGKILL", "SIGABRT", "SIGXCPU", "the clock"))
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
    starts = b"PAR1" + bytes(50) + b"PAR1", b"PK\3\4" + bytes(99), b"{", b"\x1f\x8b", b""
    for kind in ("json", "csv", "parquet", "arrow", "xlsx", "eval", "json.gz"):
        contents.update({f"{number}.{kind}": content for number, content in enumerate(starts)})
    paths = [write_bomb(tmp_path / "bomb.parquet")]
    for name, content in contents.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content)
    for path in paths:
        found = call(served, "score_logs", files=[upload(served, path)])
        assert "questions" in found or len(found["error"]) > 10, (path, found)
        text = json.dumps(found)
        assert not [word for word in (*FAULTS, str(served.uploads), str(ROOT)) if word in text], (path, text[:500])
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
    assert [ask(served, path)[0] for path in ("", "how", "gradio_api/info", "nothing", "theme.css")] == [
        200,
        200,
        200,
        404,
        404,
    ]


TEXTS = ["", "a", "\0", "\ud800", "a" * 5_000, "rrc", "anls_star"]
NUMBERS = [None, True, 0, -1, 0.5, 1e308, 10**400]
NESTED: list[Any] = [[], ["a"], [["a"]], [None], [[[[[[[["a"]]]]]]]], {}, {"a": 1}]
FILES = [
    {"path": path, "meta": {"_type": "gradio.FileData"}, "url": "http://127.0.0.1:1"} for path in ("a", None, "\0")
]


def test_any_request_gets_an_answer_or_an_error(served: Served) -> None:
    chance = random.Random(12)
    files = [upload(served, path) for path in (GOLD, SUBMISSION, TABLE)]
    values = [*TEXTS, *NUMBERS, *NESTED, *FILES, *files, files[:2], files]
    requests = [(chance.choice(NAMES), chance.choices(values, k=chance.randint(1, 14))) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda request: call(served, request[0], *request[1]), requests))
    told = [one["error"] for one in found if isinstance(one, dict) and "error" in one]
    assert len(told) > 50
    assert all(told)
    assert not [message for message in told for fault in FAULTS if fault in message]
    assert call(served, "explain_answer", prediction="a", references=["a"])["score"] == 1


# Agents


def test_agents_have_the_same_as_tools(served: Served) -> None:
    pytest.importorskip("mcp", reason="tools need mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    answer = {"prediction": "CocaCola", "references": ["Coca Cola"]}
    calls = [
        ("explain_answer", answer, "0.888888"),
        ("score_logs", {"files": [upload(served, TABLE)], **FIELDS}, "0.587962"),
        ("score_logs", {"files": ["/etc/hostname"]}, "handle_file(path) from gradio_client"),
        ("explain_answer", {**answer, "variant": "none"}, "list_variants lists them"),
        ("list_variants", {}, '"name": "standard"'),
    ]

    async def use() -> Any:
        address = f"{served.address}gradio_api/mcp/"
        async with streamablehttp_client(address) as (reading, writing, _), ClientSession(reading, writing) as session:
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            return tools, [await session.call_tool(name, arguments) for name, arguments, _ in calls]

    with ThreadPoolExecutor(1) as pool:  # playwright has a loop in this thread
        tools, results = pool.submit(asyncio.run, use()).result(120)
    assert sorted(tools) == sorted(NAMES)
    assert "explain the score" in tools["explain_answer"].description
    assert "closest one is used" in json.dumps(tools["explain_answer"].inputSchema)
    assert [result.isError for result in results] == [False, False, True, True, False]
    for result, (_, _, words) in zip(results, calls):
        assert words in result.content[0].text
        if not result.isError:
            value = json.loads(result.content[0].text)
            assert result.structuredContent == (value if isinstance(value, dict) else {"result": value})
