"""A Hugging Face Hub on the loopback interface, with made-up data under real ids, revisions and names of columns."""

from __future__ import annotations

import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from anls_metric.gold import GOLD, GoldSet
from tests.conftest import DATA

TOKEN = "hf_valid"
GATED = GOLD["chartqapro"].dataset
_ROUTE = re.compile(r"/(?:api/)?datasets/([^/]+/[^/]+)(?:/(revision|tree|resolve)/([^/]+)/?(.*))?")
_SETS = json.loads((DATA / "gold_rows.json").read_text(encoding="utf-8"))
_ROWS = {name: [json.dumps(row) for row in rows] for name, rows in _SETS.items()}


def make_row(name: str, number: int) -> dict[str, Any]:
    """Make a row of a data set, without its image. In `gold_rows.json`, # is the number of the row."""
    row: dict[str, Any] = json.loads(_ROWS[name][number % len(_ROWS[name])].replace("#", str(number)))
    return {**row, "id": number} if "id" in row else row


def write(folder: Path, row: GoldSet, count: int, files: int = 1, image_bytes: int = 100, drop: str = "") -> int:
    """Write the Parquet files of a data set, without a column to drop. Returns their size."""
    import pyarrow
    import pyarrow.parquet

    size = 0
    for number in range(files):
        rows = [make_row(row.name, i) for i in range(count * number // files, count * (number + 1) // files)]
        columns = {name: [each[name] for each in rows] for name in rows[0] if name != drop}
        columns["image"] = [{"bytes": os.urandom(image_bytes), "path": "a.png"} for _ in rows]
        path = folder / row.dataset / row.files.replace("*", f"{number:05}-of-{files:05}")
        path.parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=100)
        size += path.stat().st_size
    return size


class FakeHub(ThreadingHTTPServer):
    """The Hub. It counts requests and the bytes of files. One data set needs a token."""

    request_queue_size = 128

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.url = folder, f"http://127.0.0.1:{self.server_port}"
        self.may_send = threading.Event()  # until it is set, files are not sent
        self.may_send.set()
        self.is_asked = threading.Event()  # a file was asked for
        self.requests = self.bytes = 0
        self.busy: list[tuple[int, dict[str, str]]] = []  # refusals that the next requests of each kind get
        self.tokens: set[str] = set()
        self.next_page = ""  # the URL of more files, which the list of files names
        self.sends_on = ""  # the URL of the host that has the files
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the client was interrupted."""


class _Handler(BaseHTTPRequestHandler):
    server: FakeHub
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def do_GET(self) -> None:
        route = _ROUTE.fullmatch(unquote(urlsplit(self.path).path))
        dataset, verb, revision, path = route.groups("") if route else [""] * 4
        commit = next((row.revision for row in GOLD.values() if row.dataset == dataset), "")
        token, file = self.headers.get("Authorization", "").removeprefix("Bearer "), self.server.folder / dataset / path
        self.server.requests += 1
        self.server.tokens.add(token)
        if self.server.busy:
            return self._send(*self.server.busy.pop())
        if token not in ("", TOKEN):
            return self._send(401)
        if verb == "resolve" and dataset == GATED and not token:
            return self._send(401, {"X-Error-Code": "GatedRepo"})
        if revision != commit or not file.exists():
            return self._send(404, {"X-Error-Code": "RevisionNotFound"})
        if verb == "resolve":
            if self.server.sends_on:
                return self._send(302, {"Location": self.server.sends_on + self.path})
            self.server.is_asked.set()
            self.server.may_send.wait()
            return self._send_file(file.read_bytes(), commit)
        common = {"type": "file", "oid": "0" * 40}
        entries = [{**common, "path": f"{path}/{each.name}", "size": each.stat().st_size} for each in file.iterdir()]
        body = json.dumps(entries if verb == "tree" else {"id": dataset, "sha": commit}).encode()
        more = {"Link": f'<{self.server.next_page}>; rel="next"'} if self.server.next_page else {}
        return self._send(200, {"Content-Type": "application/json", **more}, body)

    do_HEAD = do_POST = do_GET

    def _send_file(self, data: bytes, commit: str) -> None:
        headers = {"ETag": f'"{len(data)}"', "X-Repo-Commit": commit}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start, end = int(asked[1]), int(asked[2]) + 1 if asked[2] else len(data)
            headers["Content-Range"], data = f"bytes {start}-{end - 1}/{len(data)}", data[start:end]
        self.server.bytes += len(data)
        self._send(206 if asked else 200, headers, data)

    def _send(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: Any) -> None:
        """Print nothing."""
