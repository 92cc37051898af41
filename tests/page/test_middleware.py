"""The guard before the server."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits
from anls_metric.page.bodies import RefusedError
from anls_metric.page.middleware import HEADERS, Guard, count_values
from anls_metric.page.uploads import Uploads, take
from tests.conftest import ROOT


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the whole body, and answers with its size."""
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
    """Run a coroutine in its own thread, because playwright may have a loop in this thread."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


def ask(
    guard: Guard, path: str, *pieces: bytes, length: str | None = None, method: str = "POST", kind: str = ""
) -> tuple[int, str, Any]:
    """Send a request, and return the status, the text and the headers of the response."""
    waiting = list(pieces) or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        if waiting[0] == STOP:
            await asyncio.sleep(600)
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    length = str(sum(map(len, pieces))) if length is None else length
    headers = [(b"content-length", length.encode())] if length else []
    headers += [(b"content-type", kind.encode())] if kind else []
    run(guard({"type": "http", "path": path, "headers": headers, "method": method}, receive, send))
    start, body = sent
    words = body["body"].decode()
    words = words if start["status"] == 200 else json.loads(words)["detail"]
    return start["status"], words, {name.decode(): value.decode() for name, value in start["headers"]}


STOP = b"nothing comes any more"


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    for name in ("uploads/hash", "public"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "gold.json").write_text("{}")
    return Guard(_echo, str(tmp_path / "uploads"), str(tmp_path / "public"))


def test_request_of_usual_size_passes(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/call/x", b"ab", b"c")[:2] == (200, "3")
    assert ask(guard, "/", length="", method="GET")[:2] == (200, "0")
    assert ask(guard, "/gradio_api/call/x", b'{"data": ["' + b"a, " * 20_000 + b'", ["\\", "]]}')[0] == 200


PIECES = [b"a" * 50_000] * 6


@pytest.mark.parametrize("length", [None, "20", "0", "", "none", "-1", "9" * 5_000])
def test_request_body_is_counted(guard: Guard, length: str | None) -> None:
    status, words, headers = ask(guard, "/gradio_api/call/x", *PIECES, length=length)
    assert (status, words.partition(":")[0]) == (
        413,
        "the request is larger than 256 kB, or has more than 8,000 values",
    )
    assert headers["connection"] == "close"


@pytest.mark.parametrize("length", ["", "none", "-1", "20"])
def test_content_length_is_not_trusted(guard: Guard, length: str) -> None:
    assert ask(guard, "/gradio_api/call/x", b"ab", b"c", length=length)[:2] == (200, "3")


def test_no_more_is_read_of_a_large_request_than_is_allowed(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/call/x", STOP, length=str(limits.MOST_REQUEST + 1))[0] == 413
    assert ask(guard, "/gradio_api/call/x", *PIECES, STOP, length="20")[0] == 413


@pytest.mark.parametrize(
    ("path", "kind"), [("/gradio_api/call/x", ""), ("/gradio_api/upload", "multipart/form-data; boundary=x")]
)
@pytest.mark.parametrize("name", ["PAUSE_SECONDS", "REQUEST_SECONDS", "UPLOAD_SECONDS"])
def test_body_that_never_ends_is_closed(
    guard: Guard, monkeypatch: pytest.MonkeyPatch, name: str, path: str, kind: str
) -> None:
    if kind:
        pytest.importorskip("python_multipart")
    for limit in ("PAUSE_SECONDS", {"": "REQUEST_SECONDS"}.get(kind, "UPLOAD_SECONDS"), name):
        monkeypatch.setattr(limits, limit, 0.05 if limit != "PAUSE_SECONDS" or name == limit else 30)
    status, words, headers = ask(guard, path, b"--x", STOP, kind=kind)
    assert (status, words) == (408, "the request takes too long to come: send it again")
    assert headers["connection"] == "close"


def test_request_of_departed_visitor_ends(guard: Guard) -> None:
    async def leave() -> Any:
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    run(guard({"type": "http", "path": "/gradio_api/call/x", "headers": [], "method": "POST"}, leave, send))
    assert sent == ["http.response.start", "http.response.body"]


@pytest.mark.parametrize(("value", "each"), [(b"1", 1), (b'"a,"', 1), (b'"\\",["', 1), (b"[]", 2), (b'{"a": 1}', 2)])
def test_request_of_many_values_is_refused(guard: Guard, value: bytes, each: int) -> None:
    for count, expected in ((limits.MOST_VALUES // each - 1, 200), (limits.MOST_VALUES // each, 413)):
        assert ask(guard, "/gradio_api/call/x", b'{"data": [' + b", ".join([value] * count) + b"]}")[0] == expected


def make_form(*files: tuple[str, bytes]) -> bytes:
    head = '--x\r\nContent-Disposition: form-data; name="files"; filename="{}"\r\n\r\n'
    return b"".join(head.format(name).encode() + content + b"\r\n" for name, content in files) + b"--x--\r\n"


def upload(guard: Guard, *pieces: bytes, **options: Any) -> tuple[int, str]:
    pytest.importorskip("python_multipart", reason="the page needs gradio, which brings it")
    return ask(guard, "/gradio_api/upload", *pieces, kind="multipart/form-data; boundary=x", **options)[:2]


def list_uploaded(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "uploads").rglob("*") if path.is_file() and path.name != "gold.json")


def test_uploads_are_kept(guard: Guard, tmp_path: Path) -> None:
    large = b"," * 3 * limits.MOST_REQUEST
    form = make_form(("a.csv", large), ("b.csv", b""))
    status, words = upload(guard, form[:1_000], form[1_000:], length="")
    assert status == 200
    paths = list(map(Path, json.loads(words)))
    assert [path.name for path in paths] == ["a.csv", "b.csv"]
    assert [path.read_bytes() for path in paths] == [large, b""]
    assert all(path.parent.parent == tmp_path / "uploads" for path in paths)


def test_upload_body_is_counted(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert upload(guard, length=str(3 * limits.MOST_BYTES))[0] == 413
    monkeypatch.setattr(limits, "MOST_UPLOAD", 10_000)
    for length in ("20", "", None):
        assert upload(guard, make_form(("a.csv", b"a" * 10_000)), STOP, length=length)[0] == 413
    assert guard._uploads._reserved == 0
    assert list_uploaded(tmp_path) == []


def test_file_that_is_too_large_is_refused(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 1 << 20)
    words = "a.csv is larger than 1 MB: score it with anls on your computer"
    assert upload(guard, make_form(("a.csv", b"a" * (1 << 20) + b"a"))) == (413, words)


def test_nothing_is_left_of_an_upload_that_fails(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = make_form(("a.csv", b"a" * 3_000_000))
    monkeypatch.setattr(limits, "PAUSE_SECONDS", 0.05)
    assert upload(guard, form[:2_000_000], STOP)[0] == 408
    for broken in (b"", b"--y--", b"x" * 100, b"--x\r\n\r\nno name\r\n--x--\r\n", make_form(*[("a", b"")] * 101)):
        assert upload(guard, broken) == (200, "[]") or upload(guard, broken)[0] == 400
    for kind in ("", "application/json", "multipart/form-data", "multipart/form-data; boundary=" + "x" * 1_000):
        assert ask(guard, "/gradio_api/upload", form, kind=kind)[0] == 400
    assert (guard._uploads._reserved, list_uploaded(tmp_path)) == (0, [])


def test_upload_without_room_is_refused(guard: Guard, tmp_path: Path) -> None:
    guard._uploads = Uploads(str(tmp_path / "uploads"), most=1_000)
    assert upload(guard, make_form(("a.csv", b"a" * 1_000)))[0] == 503
    (tmp_path / "uploads" / "hash" / "gold.json").unlink()
    (tmp_path / "uploads" / "hash").rmdir()
    (tmp_path / "uploads").rmdir()
    status, words = upload(guard, make_form(("a.csv", b"a" * 100)))
    assert (status, words) == (507, "there is no room for the file: try again in a minute")


def test_progress_of_uploads_is_done(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/upload_progress", method="GET")[:2] == (200, 'data: {"msg": "done"}\n\n')


def test_old_uploads_are_looked_for_as_long_as_the_page_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TIDY_SECONDS", 0.01)
    monkeypatch.setattr(limits, "KEPT_SECONDS", 0)
    uploads = Uploads(str(tmp_path), seconds=0)
    path = Path(uploads.keep(io.BytesIO(b"x"), "a.csv"))

    async def live(scope: Any, receive: Any, send: Any) -> None:
        while path.exists():
            await asyncio.sleep(0.01)

    guard = Guard(live, str(tmp_path), "")
    guard._uploads = uploads
    run(guard({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# Steps


def count_steps(function: Callable[[Any], Any], argument: Any) -> int:
    """Count the function calls, including functions in C."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(step)
    with suppress(ValueError, OSError, RefusedError):
        function(argument)
    sys.setprofile(None)
    return steps


HOSTILE_BODIES = [
    lambda count: b'"' + b"a" * count,
    lambda count: b'"' + b'\\"' * count,
    lambda count: b'"' * count,
    lambda count: b"\\" * count,
    lambda count: b'"' + b"\\\\" * count,
    lambda count: b'{"data": ["' + b'a\\",[' * count,
]


@pytest.mark.parametrize("make", HOSTILE_BODIES)
def test_values_of_a_body_are_counted_in_as_many_steps_whatever_it_holds(make: Callable[[int], bytes]) -> None:
    """Each step is a pass over the body in C. An open quote once made a pattern start again at each character."""
    assert count_steps(count_values, make(10)) == count_steps(count_values, make(100_000)) < 30


@pytest.mark.parametrize("make", HOSTILE_BODIES)
def test_hostile_body_is_answered(guard: Guard, make: Callable[[int], bytes]) -> None:
    assert ask(guard, "/gradio_api/call/x", make(120_000 // len(make(1))))[0] in (200, 413)


@pytest.mark.parametrize("part", ["a/", "../", "./", "//", "\\", "%00", "gradio_api/call/"])
def test_paths_are_looked_at_in_as_many_steps_whatever_their_length(guard: Guard, part: str) -> None:
    """Each folder in a path once was a system call with a longer path."""
    for function in (
        guard._is_public,
        lambda path: take(path, "/x", "it"),
        lambda path: guard._check_body(path, b"{}"),
    ):
        assert count_steps(function, part * 100) + 100 > count_steps(function, part * 60_000)


def test_no_pattern_meets_what_comes_from_outside() -> None:
    """The patterns of mcp_tools read only our docstrings; that of inventory reads at most 200 characters per place."""
    modules = (ROOT / "anls_metric" / "page").glob("*.py")
    with_patterns = {path.name for path in modules if "import re\n" in path.read_text(encoding="utf-8")}
    assert with_patterns == {"inventory.py", "mcp_tools.py"}


# Calls


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
def test_call_of_an_endpoint_is_filled_in(guard: Guard, path: str, data: Any, passed: Any) -> None:
    sizes = [int(ask(guard, *request)[1]) for request in ((path, _body(data)), ("/", _body(passed)))]
    assert sizes[0] == sizes[1]


def _body(data: Any) -> bytes:
    return json.dumps({"data": data}).encode()


def test_request_names_files_that_were_uploaded(guard: Guard, tmp_path: Path) -> None:
    upload = tmp_path / "uploads" / ("0" * 64) / "gold.json"
    upload.parent.mkdir()
    upload.write_text("{}")

    def ask_with(path: str) -> tuple[int, str, Any]:
        return ask(guard, "/gradio_api/queue/join", json.dumps({"data": [1, [{"a": {"path": path}}]]}).encode())

    assert ask_with(str(upload))[0] == ask_with(str(tmp_path / "public" / "gold.json"))[0] == 200
    for path in ("/etc/hostname", "http://x.org/a.csv", f"{upload}/..", f"{tmp_path}/uploads/hash/gold.json", "\0", ""):
        assert ask_with(path)[0] == 400
    upload.unlink()
    assert ask_with(str(upload))[1] == "the file is not there any more: upload it again"


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 7_000, b"\xff", b"null", b'{"data": 1}'])
def test_broken_request_is_left_to_the_application(guard: Guard, body: bytes) -> None:
    assert ask(guard, "/gradio_api/call/explain_answer", body)[:2] == (200, str(len(body)))


@pytest.mark.parametrize("start", ["/gradio_api/file=", "/gradio_api/file/", "/space/gradio_api/file="])
def test_uploads_are_never_served(guard: Guard, tmp_path: Path, start: str) -> None:
    assert ask(guard, f"{start}{tmp_path}/public/gold.json", method="GET")[0] == 200
    for path in (
        f"{tmp_path}/uploads/hash/gold.json",
        f"{tmp_path}/public/../uploads/hash/gold.json",
        "/etc/hostname",
        "http://169.254.169.254/",
        "",
        "\0",
        f"{tmp_path}/public\0/gold.json",
        f"{tmp_path}/public/" + "a/" * 30_000,
    ):
        assert ask(guard, start + path, method="GET")[0] == 404


def test_page_is_no_proxy(guard: Guard) -> None:
    assert ask(guard, "/gradio_api/proxy=https://x.hf.space/", method="GET")[0] == 404


def test_every_answer_tells_the_browser_what_is_allowed(guard: Guard) -> None:
    for path in ("/", "/gradio_api/file=/etc/hostname"):
        headers = ask(guard, path, method="GET")[2]
        assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'self' https://huggingface.co" in policy
    assert "http:" not in policy


def test_lifespan_events_pass(guard: Guard) -> None:
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    run(Guard(application, "", "")({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]
