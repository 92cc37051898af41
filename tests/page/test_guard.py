"""What the page takes from outside: bodies, paths and uploads, without a server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gradio.context import LocalContext
from starlette.datastructures import Headers

from anls_metric.page import file_scores, limits
from anls_metric.page.middleware import FILE, HEADERS, REPORT_HEADERS, TOO_DEEP, TOO_LARGE, Guard, _check_content
from anls_metric.page.uploads import RefusedError, drop_report, make_folder, make_room, name_report, take
from anls_metric.page.visitors import find_address, find_visitor, listen
from tests.conftest import ROOT

FIELDS = {"prediction": "reply", "references": "accepted"}
CALL, UPLOAD = "/gradio_api/call/x", "/gradio_api/upload"
STOP = b"nothing comes any more"
LEFT = b"the visitor has left"
PIECES = [b"a" * 50_000] * 6
REFUSED = {
    400: "the file is not an uploaded file: pass handle_file(path) from gradio_client, or the path that its upload "
    "returned",
    404: "there is no such page",
    408: "the request arrived too slowly: send it again",
    413: TOO_LARGE,
}


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the whole body, and answers with its size."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(size).encode()})


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An upload, in a folder of uploads."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    path = tmp_path / ("0" * 64) / "gold.json"
    path.parent.mkdir()
    path.write_text("{}")
    return path


def ask(
    path: str, *pieces: bytes, length: str | None = None, is_local: bool = False, more: Mapping[str, str] | None = None
) -> tuple[int, str, Any]:
    """Send a request with more headers, and return the status, the text and the headers of the response."""
    waiting = list(pieces) or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        if waiting[0] == STOP:
            await asyncio.sleep(600)
        if waiting[0] == LEFT:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    length = str(sum(map(len, pieces))) if length is None else length
    headers = [(b"content-length", length.encode())] if length else []
    headers += [(name.encode(), value.encode()) for name, value in (more or {}).items()]
    scope = {"type": "http", "path": path, "headers": headers, "method": "POST", "query_string": b""}
    request = Guard(_echo, is_local)(scope, receive, send)
    with ThreadPoolExecutor(1) as pool:  # playwright may have a loop in this thread
        pool.submit(asyncio.run, request).result()
    start, body = sent
    text = body["body"].decode()
    text = text if start["status"] == 200 else json.loads(text)["detail"]
    return start["status"], text, {name.decode(): value.decode() for name, value in start["headers"]}


@pytest.mark.parametrize(
    ("path", "pieces", "length", "status"),
    [
        (CALL, [b"ab", b"c"], None, 200),
        (CALL, [b"ab", b"c"], "none", 200),
        *[(CALL, PIECES, length, 413) for length in (None, "20", "", "-1", "9" * 5_000)],
        (CALL, [*PIECES, STOP], "20", 413),
        *[(CALL, [body], None, 200) for body in (b"", b"{", b"\xff", b"null", b'{"data": 1}')],
        *[(CALL, [b'[{"a": {"path": "%s"}}]' % path], None, 400) for path in (b"/etc/hostname", b"http://x.org/a.csv")],
        (CALL, [b"--x", STOP], None, 408),
    ],
)
def test_body_is_passed_on_or_refused(
    path: str, pieces: list[bytes], length: str | None, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_PAUSE", 0.05)
    answered, text, headers = ask(path, *pieces, length=length)
    assert (answered, text) == (status, REFUSED.get(status) or str(sum(map(len, pieces))))
    assert headers.get("connection") == ("close" if status in REFUSED else None)
    assert {name: headers[name] for name in HEADERS} == HEADERS


def test_reports_are_served_in_a_sandbox_and_nothing_else_is() -> None:
    report = name_report()
    status, _, headers = ask(FILE + report)
    assert (status, headers["content-type"], headers["content-disposition"]) == (
        200,
        REPORT_HEADERS["content-type"],
        "inline",
    )
    assert headers["content-security-policy"].startswith("sandbox allow-scripts allow-downloads; default-src 'none'")
    digits = Path(report).parent.name
    for other in (
        report.replace("anls-report", "gold"),
        report.replace(digits, digits[1:]),
        report.replace(digits, digits[1:] + "g"),
        report.replace(digits, f"{digits}/../{digits}"),
        report.replace("/reports/", "/"),
        f"/etc/reports/{digits}/anls-report.html",
    ):
        assert ask(FILE + other)[0] == 404, other


@pytest.mark.parametrize("start", ["gradio_api/file=", "gradio_api/file/", "a/gradio_api/file=", "gradio_api/proxy="])
def test_no_file_is_served(mine: Path, start: str) -> None:
    for path in (str(mine), "/etc/hostname", "http://169.254.169.254/", "", "\0", "a/" * 30_000):
        assert ask(f"/{start}{path}")[:2] == (404, REFUSED[404])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *[(path, 200) for path in ("/", "/how", "/config", "/gradio_api/queue/join", "/gradio_api/mcp/")],
        *[
            (path, 200)
            for path in ("/gradio_api/heartbeat/x", "/gradio_api/call/explain_answer/7", "/gradio_api/info/")
        ],
        *[(f"/gradio_api/{path}", 404) for path in ("deep_link", "process_recording", "run/x", "api/x", "vibe-edit")],
        *[(path, 404) for path in ("/monitoring", "/login", "/gradio_api/runs", "/assets/a.js", "/x/how")],
    ],
)
def test_only_routes_of_the_page_exist(path: str, status: int) -> None:
    assert ask(path)[0] == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:7860", "origin": "http://127.0.0.1:7860"}, 200),
        ({"host": "localhost:7860"}, 200),
        ({"host": "[::1]:7860"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:7860"}, 421),
        ({}, 421),
        ({"host": "127.0.0.1:7860", "origin": "https://evil.example"}, 403),
        ({"host": "127.0.0.1:7860", "origin": "null"}, 403),
    ],
)
def test_local_page_answers_to_itself(headers: dict[str, str], status: int) -> None:
    assert ask(CALL, is_local=True, more=headers)[0] == status
    assert ask(CALL, more=headers)[0] == 200


# Uploads


def write_form(*files: tuple[str, bytes], end: bytes = b"\r\n--x--\r\n") -> bytes:
    head = '\r\n--x\r\nContent-Disposition: form-data; name="files"; filename="{}"\r\n\r\n'
    return b"".join(head.format(name).encode() + content for name, content in files)[2:] + end


def send_form(*pieces: bytes, kind: str = "multipart/form-data; boundary=x") -> tuple[int, Any]:
    status, text, _ = ask(UPLOAD, *pieces, more={"content-type": kind})
    return status, json.loads(text) if status == 200 else text


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() or path.name.startswith("coming-")]


@pytest.mark.parametrize("name", ["a.csv", "..", ".", "../../b.csv", "", "答.csv", "a" * 300 + ".csv", "-rf *.csv"])
def test_upload_is_kept_under_a_name(name: str, tmp_path: Path) -> None:
    form = write_form((name, b"content"), ("other.csv", b""))
    status, paths = send_form(form[:9], form[9:50], form[50:])
    assert (status, len(paths)) == (200, 2)
    assert [Path(take(path, "it")).read_bytes() for path in paths] == [b"content", b""]
    assert len(list_files(tmp_path)) == 3  # with that of the fixture


FORM, KIND = write_form(("a.csv", b"content")), "multipart/form-data; boundary=x"
FIELD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'


@pytest.mark.parametrize(
    ("pieces", "kind", "status", "words"),
    [
        ([FORM[:-9], LEFT], KIND, 400, "the upload was interrupted: send the file again"),
        ([FORM[:-9], STOP], KIND, 408, "the request arrived too slowly"),
        ([FORM[:-9]], KIND, 400, "the upload must be a form with files"),
        ([FORM], "multipart/form-data", 400, "the upload must be a form with files"),
        ([FORM], "application/json", 400, "the upload must be a form with files"),
        ([b"--y" + FORM], KIND, 400, "the upload must be a form with files"),
        ([FIELD, *[b"a" * 1_000_000] * 5], KIND, 400, "the upload must be a form with"),
        (
            [write_form(*(("a.csv", b"a" * 40_000_000),) * 2, end=b""), b"a" * 25_000_000, STOP],
            "multipart/form-data; boundary=x",
            413,
            "the request",
        ),
        (
            [write_form(("a.csv", b"a" * 50_000_001), end=b""), STOP],
            "multipart/form-data; boundary=x",
            413,
            "a file is larger than 50 MB",
        ),
    ],
)
def test_upload_that_is_refused_leaves_nothing(
    pieces: list[bytes], kind: str, status: int, words: str, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_PAUSE", 0.05)
    refused, text = send_form(*pieces, kind=kind)
    assert (refused, text[: len(words)]) == (status, words)
    assert list_files(tmp_path) == [mine]


def test_coming_uploads_and_a_full_disk_refuse_one_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_COMING", 100)
    assert send_form(FORM, b"a" * 100) == (503, "too many files are being uploaded at once: try again in a minute")
    monkeypatch.undo()
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with monkeypatch.context() as full:
        full.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert send_form(FORM) == (507, "the server has no room left: try again later")
    assert send_form(FORM)[0] == 200


def test_folder_of_a_killed_server_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import time; from anls_metric.page.uploads import make_folder; print((f := make_folder()).name, flush=True)"
    )
    server = subprocess.Popen([sys.executable, "-c", f"{program}; time.sleep(60)"], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    other = server.stdout.readline().strip()
    with make_folder() as mine:
        assert os.path.isdir(other)  # its server lives
        server.kill()
        server.wait()
        with make_folder():
            assert (os.path.isdir(other), os.path.isdir(mine)) == (False, True)


def test_policy_of_the_browser_allows_no_other_origin() -> None:
    policy = HEADERS["content-security-policy"]
    assert "default-src 'self'" in policy
    assert {word for word in policy.replace(";", " ").split() if "://" in word} == {
        "https://huggingface.co",
        "https://*.huggingface.co",
    }


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/hostname", "/", "\0", "file:///etc/hostname", "http://x.org/a.csv", "gold.json"),
        *("{folder}", "{folder}/", "{folder}/x/name.csv", "{folder}/{mine}", "{folder}/" + "a/" * 100_000 + "x"),
        *("{parent}", "{parent}/", "{parent}/..", "{parent}/a/name.csv", "{parent}/../gold.json", "{mine}/.."),
        *(7, ["a"], {"path": 7}, {"path": "/etc/hostname"}, True),
    ],
)
def test_path_that_is_no_upload_is_refused(path: Any, mine: Path, tmp_path: Path) -> None:
    for other in (tmp_path / "x" / "name.csv", mine.parent / "a" / "name.csv"):
        other.parent.mkdir()
        other.write_text("no upload")
    if isinstance(path, str):
        path = path.format(folder=tmp_path, parent=mine.parent, mine=mine)
    with pytest.raises(ValueError, match=r"table is not an uploaded file|is no longer there"):
        take(path, "table")


def test_upload_is_taken_by_its_path(mine: Path) -> None:
    assert take({"path": str(mine)}, "table") == take(str(mine), "table") == str(mine)
    nothings: tuple[Any, ...] = (None, "", {}, [])
    for nothing in nothings:
        with pytest.raises(ValueError, match="table is missing: upload a file"):
            take(nothing, "table")
    mine.unlink()
    with pytest.raises(ValueError, match=r"table gold\.json is no longer there: upload it again"):
        take(str(mine), "table")


@pytest.mark.parametrize("body", [b"[" * 7_000, b"[" * 60 + b"]" * 60, b'{"a":' * 99 + b"1" + b"}" * 99])
def test_deep_body_is_refused_before_any_library_reads_it(body: bytes) -> None:
    for path in (CALL, "/gradio_api/mcp/"):
        status, text, _ = ask(path, body)
        assert (status, text) == (400, TOO_DEEP)
    assert ask(CALL, b"[" * 40 + b"]" * 40)[0] == 200


def test_address_of_a_visitor_is_passed_on_and_not_forged() -> None:
    def find(host: str, **headers: str) -> Any:
        raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        return find_address({"type": "http", "client": (host, 1), "headers": raw})

    first = find("192.0.2.7", x_anls_visitor="0 192.0.2.1")
    assert first["client"][0] == "192.0.2.7"
    passed_on = Headers(scope=first)["x-anls-visitor"]
    assert find("127.0.0.1", x_anls_visitor=passed_on)["client"][0] == "192.0.2.7"


@pytest.mark.parametrize(
    ("host", "space", "key"),
    [("192.168.0.7", "", "192.168.0.7"), ("10.0.0.1", "a/b", "session"), ("8.8.8.8", "a/b", "8.8.8.8")],
)
def test_visitor_is_an_address_but_not_that_of_a_proxy_of_spaces(
    host: str, space: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_ID", space)
    request = SimpleNamespace(client=SimpleNamespace(host=host))
    event = SimpleNamespace(_id="7", request=request, session_hash="session", alive=True, enqueue_time=time.monotonic())
    queue = SimpleNamespace(active_jobs=[None, [event]])
    blocks, own = LocalContext.blocks.set(SimpleNamespace(_queue=queue)), LocalContext.event_id.set("7")
    try:
        visitor = find_visitor()
    finally:
        LocalContext.blocks.reset(blocks)
        LocalContext.event_id.reset(own)
    assert visitor.address == key
    assert not visitor.has_left()
    event.enqueue_time -= limits.MAX_SILENCE + 1  # nobody listens
    assert visitor.has_left()
    with listen({"method": "GET", "query_string": b"session_hash=session"}, "/gradio_api/queue/data"):
        assert not visitor.has_left()


def test_reports_make_room_before_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KEPT", limits.MAX_COMING + limits.MAX_WRITTEN + 3_000_000)
    paths = [name_report() for _ in range(6)]
    for path in paths:
        shown = file_scores.show([str(ROOT / "examples" / "table.csv")], "", {}, FIELDS, path)
        assert shown["report"] == path, shown
        os.utime(path, (1000 + paths.index(path), 1000))
    assert sum(map(os.path.exists, paths)) == 3  # each counts as 1 MB, and so does the upload of the fixture
    assert os.path.exists(paths[-1])
    drop_report(paths[-1])
    assert not os.path.exists(os.path.dirname(paths[-1]))


def test_old_uploads_make_room(mine: Path, tmp_path: Path) -> None:
    paths = []
    for number, size in enumerate((2_000_000, 1, 2_000_000, 1)):
        path = tmp_path / f"{number + 1:064x}" / "a.csv"
        path.parent.mkdir()
        path.write_bytes(b"a" * size)
        os.utime(path, (1000 + number, 1000 + number))
        paths.append(path)
    (tmp_path / "deep" / "link").mkdir(parents=True)
    os.utime(tmp_path / "deep" / "link", (1000, 1000))
    make_room(str(tmp_path), most=4_000_000)  # the upload of the fixture is the newest; a small file counts as 1 MB
    assert not (tmp_path / "deep" / "link").exists()
    assert [path.exists() for path in (*paths, mine)] == [False, False, True, True, True]


def count_steps(function: Callable[[Any], Any], argument: Any) -> int:
    """Count the function calls, including functions in C."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(step)
    with suppress(ValueError, RefusedError):
        function(argument)
    sys.setprofile(None)
    return steps


@pytest.mark.parametrize("part", ["a/", "../", "./", "//", "\\", "%00", "gradio_api/call/"])
def test_paths_take_as_many_steps_whatever_their_length(part: str) -> None:
    """Each folder in a path once was a system call with a longer path."""
    steps = [count_steps(lambda path: take(path, "it"), part * count) for count in (100, 60_000)]
    assert steps[0] + 100 > steps[1]


@pytest.mark.parametrize("body", [b'"', b'\\"', b"\\", b'{"data": ["', b'a\\",[', b'{"path":'])
def test_hostile_body_takes_few_steps(body: bytes) -> None:
    assert count_steps(_check_content, body * (200_000 // len(body))) < 1_000


def test_no_pattern_meets_what_comes_from_outside() -> None:
    modules = (ROOT / "anls_metric" / "page").glob("*.py")
    assert not [path for path in modules if "import re\n" in path.read_text(encoding="utf-8")]
