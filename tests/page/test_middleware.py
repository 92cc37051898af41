"""What stands before the server."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits
from anls_metric.page.middleware import HEADERS, Guard


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads all that comes, and says how much it was."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(size).encode()})


def run(coroutine: Any) -> None:
    """Run it in a thread of its own: playwright, where it is at work, has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


def ask(
    guard: Guard, path: str, *pieces: bytes, length: str | None = None, method: str = "POST"
) -> tuple[int, str, Any]:
    """The status of the answer to a request, what it says, and its headers."""
    waiting = list(pieces) or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    length = str(sum(map(len, pieces))) if length is None else length
    headers = [(b"content-length", length.encode())] if length else []
    run(guard({"type": "http", "path": path, "headers": headers, "method": method}, receive, send))
    start, body = sent
    said = body["body"].decode()
    said = said if start["status"] == 200 else json.loads(said)["detail"]
    return start["status"], said, {name.decode(): value.decode() for name, value in start["headers"]}


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    for name in ("uploads/hash", "public"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "gold.json").write_text("{}")
    return Guard(_echo, str(tmp_path / "uploads"), str(tmp_path / "public"))


def test_a_request_of_usual_size_passes(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/call/x", b"ab", b"c")[:2] == (200, "3")
    assert ask(guard, "/", length="", method="GET")[:2] == (200, "0")
    assert ask(guard, "/gradio_api/call/x", b'{"data": ["' + b"a, " * 20_000 + b'", ["\\", "]]}')[0] == 200


def test_a_large_request_is_refused(guard: Guard) -> None:
    for length in (str(limits.MOST_REQUEST + 1), "", "none", "-1"):
        status, said, _ = ask(guard, "/gradio_api/call/x", b"", length=length)
        assert (status, said.partition(":")[0]) == (
            413,
            "the request is larger than 256 kB, or has more than 8,000 values",
        )


@pytest.mark.parametrize(("value", "each"), [(b"1", 1), (b'"a,"', 1), (b'"\\",["', 1), (b"[]", 2), (b'{"a": 1}', 2)])
def test_a_request_of_many_values_is_refused(guard: Guard, value: bytes, each: int) -> None:
    for count, expected in ((limits.MOST_VALUES // each - 1, 200), (limits.MOST_VALUES // each, 413)):
        assert ask(guard, "/gradio_api/call/x", b'{"data": [' + b", ".join([value] * count) + b"]}")[0] == expected


def test_an_upload_may_be_large(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/upload", b"," * limits.MOST_REQUEST, b"x")[0] == 200
    assert ask(guard, "/space/gradio_api/upload/", length=str(limits.MOST_BYTES))[0] == 200
    for length in (str(3 * limits.MOST_BYTES), ""):
        assert ask(guard, "/gradio_api/upload", length=length)[0] == 413


def test_an_upload_makes_room_first(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("anls_metric.page.middleware.make_room", asked.append)
    ask(guard, "/gradio_api/upload")
    ask(guard, "/gradio_api/call/x")
    assert asked == [str(tmp_path / "uploads")]


WHOLE = ["a", ["a"], None, None, None]


@pytest.mark.parametrize(
    ("path", "data", "passed"),
    [
        ("/gradio_api/call/explain_answer", ["a", ["a"]], WHOLE),
        ("/gradio_api/run/explain_answer/", ["a", ["a"], None], WHOLE),
        ("/space/gradio_api/api/explain_answer", WHOLE, WHOLE),
        ("/gradio_api/call/explain_answer", {"a": 1}, {"a": 1}),
        ("/gradio_api/call/other", ["a"], ["a"]),
        ("/gradio_api/queue/join", ["a"], ["a"]),
    ],
)
def test_a_call_of_an_endpoint_is_filled_in(guard: Guard, path: str, data: Any, passed: Any) -> None:
    sizes = [int(ask(guard, *request)[1]) for request in ((path, _body(data)), ("/", _body(passed)))]
    assert sizes[0] == sizes[1]


def _body(data: Any) -> bytes:
    return json.dumps({"data": data}).encode()


def test_a_request_names_files_that_were_uploaded(guard: Guard, tmp_path: Path) -> None:
    upload = tmp_path / "uploads" / ("0" * 64) / "gold.json"
    upload.parent.mkdir()
    upload.write_text("{}")

    def ask_with(path: str) -> tuple[int, str, Any]:
        return ask(guard, "/gradio_api/queue/join", json.dumps({"data": [1, [{"a": {"path": path}}]]}).encode())

    assert ask_with(str(upload))[0] == ask_with(str(tmp_path / "public" / "gold.json"))[0] == 200
    for path in ("/etc/hostname", "http://x.org/a.csv", f"{upload}/..", f"{tmp_path}/uploads/hash/gold.json", "\0", ""):
        assert ask_with(path)[0] == 400
    upload.unlink()
    assert ask_with(str(upload))[1] == "the file is not there any more: drop it again"


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 7_000, b"\xff", b"null", b'{"data": 1}'])
def test_a_broken_request_is_left_to_the_application(guard: Guard, body: bytes) -> None:
    assert ask(guard, "/gradio_api/call/explain_answer", body)[:2] == (200, str(len(body)))


@pytest.mark.parametrize("start", ["/gradio_api/file=", "/gradio_api/file/", "/space/gradio_api/file="])
def test_nobody_gets_an_upload(guard: Guard, tmp_path: Path, start: str) -> None:
    assert ask(guard, f"{start}{tmp_path}/public/gold.json", method="GET")[0] == 200
    for path in (
        f"{tmp_path}/uploads/hash/gold.json",
        f"{tmp_path}/public/../uploads/hash/gold.json",
        "/etc/hostname",
        "http://169.254.169.254/",
        "",
    ):
        assert ask(guard, start + path, method="GET")[0] == 404


def test_the_page_is_no_proxy(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/proxy=https://x.hf.space/", method="GET")[0] == 404


def test_every_answer_tells_the_browser_what_is_allowed(guard: Guard) -> None:
    for path in ("/", "/gradio_api/file=/etc/hostname"):
        headers = ask(guard, path, method="GET")[2]
        assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'self' https://huggingface.co" in policy
    assert "http:" not in policy


def test_what_is_no_request_passes(guard: Guard) -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    run(Guard(application, "", "")({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]
