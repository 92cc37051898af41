"""Measures how long a visitor of the page waits during an attack: ``python benchmarks/page.py``.

It runs the page in its own process. A hostile visitor sends one kind of request after the other, several at once, for
some seconds each. Meanwhile another visitor repeatedly opens the page and requests an explanation. The table shows the
longest wait of this visitor for each kind. It needs the page: ``pip install -e ".[app,files]"``.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from timing import ROOT, keep, markdown

AT_ONCE = 8  # requests of the hostile visitor
MB = 1 << 20


class Waits(NamedTuple):
    """The longest waits of the other visitor in seconds, and the number of its requests."""

    sent: str
    longest: float
    median: float
    requests: int


# The page


@contextmanager
def serve(folder: str) -> Iterator[str]:
    """Run the page, and yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1"}
    environment |= {"PYTHONPATH": str(ROOT), "GRADIO_TEMP_DIR": folder, "HF_HUB_OFFLINE": "1"}
    address = f"http://127.0.0.1:{port}/"
    with open(Path(folder, "log"), "w") as log:
        process = subprocess.Popen(
            [sys.executable, ROOT / "app.py"], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        while not is_up(address):
            time.sleep(0.25)
        yield address
    finally:
        process.terminate()
        process.wait()


def is_up(address: str) -> bool:
    """Whether a server answers at this URL."""
    try:
        return bool(ask(address))
    except OSError:
        return False


def ask(address: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
    """Return the response of a URL, even if it is an error."""
    request = urllib.request.Request(address, data=body, headers={"Content-Type": kind} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        return error.read()


def call(address: str, endpoint: str, data: object) -> bytes:
    """Return the response of an endpoint."""
    event = json.loads(ask(f"{address}gradio_api/call/{endpoint}", json.dumps({"data": data}).encode()))
    return ask(f"{address}gradio_api/call/{endpoint}/{event['event_id']}") if "event_id" in event else b""


def upload(address: str, name: str, content: bytes) -> object:
    """Upload a file, and return the argument for an endpoint."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    (path,) = json.loads(ask(f"{address}gradio_api/upload", body, f"multipart/form-data; boundary={boundary}"))
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


# The hostile visitor, with made-up data


def score(address: str, name: str, content: bytes) -> None:
    """Upload a file and score it."""
    call(address, "score_logs", [[upload(address, name, content)]])


def make_table(count: int, length: int) -> bytes:
    """Make a table of long predictions that are unlike their references."""
    row = json.dumps({"prediction": LONG[:length], "references": [UNLIKE[:length]]})
    return f"{row}\n".encode() * count


def make_sheet() -> bytes:
    """Make a workbook with a cell far from the others."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "<s><sheetData><c r='XFD1048576'><v>1</v></c></sheetData></s>")
    return stream.getvalue()


def send_unending(address: str) -> None:
    """Begin an upload that never ends, and keep it open for a second."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 80)) as connection:
        head = "POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=a\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n1\r\n-\r\n".encode())
        time.sleep(1)


BOMB = gzip.compress(b"[" + b'"a",' * (100 * MB // 4) + b'"a"]')
SLOW_TABLE = b'prediction,references\n"x","(""a"", 1111111111111111111111111 x)"\n'
LETTERS = random.Random(0).choices("abcdefgh", k=20_000)
LONG, UNLIKE = "".join(LETTERS[:9_900]), "".join(LETTERS[9_900:19_800])

HOSTILE: dict[str, Callable[[str], object]] = {
    "nothing": lambda address: time.sleep(0.1),
    "large files: 200,000 answers": lambda address: score(address, "a.jsonl", make_table(200_000, 20)),
    "long answers: 2,000 of 9,000 characters": lambda address: score(address, "a.jsonl", make_table(2_000, 9_000)),
    "small files of much work": lambda address: score(address, "a.jsonl", make_table(10, 9_000)),
    "tables for backtracking": lambda address: score(address, "a.csv", SLOW_TABLE),
    "packed files, 100 MB unpacked": lambda address: score(address, "a.json.gz", BOMB),
    "workbooks with a far cell": lambda address: score(address, "a.xlsx", make_sheet()),
    "pages of 256 kB": lambda address: ask(f"{address}gradio_api/call/explain_answer", b'"' + b'\\"' * 130_000),
    "lists of 8,000 values": lambda address: call(address, "score_answers", [["a"] * 3_900, ["b"] * 3_900]),
    "long answers to explain": lambda address: call(address, "explain_answer", [LONG, [UNLIKE]]),
    "uploads of 45 MB": lambda address: upload(address, "a.bin", bytes(45 * MB)),
    "uploads that never end": send_unending,
}


def send(address: str, kind: str, end: threading.Event) -> None:
    """Send a kind of request repeatedly, until the end."""
    while not end.is_set():
        with suppress(OSError, ValueError, HTTPException):  # the request was refused, or the page has ended
            HOSTILE[kind](address)


# The other visitor


def measure(address: str, name: str, kinds: list[str], seconds: float) -> Waits:
    """Measure how long a visitor waits while the hostile visitor sends these kinds of requests."""
    end = threading.Event()
    senders = [
        threading.Thread(target=send, args=(address, kinds[n % len(kinds)], end), daemon=True) for n in range(AT_ONCE)
    ]
    for sender in senders:
        sender.start()
    waits, start = [], time.monotonic()
    while time.monotonic() < start + seconds:
        for visit in (lambda: ask(address), lambda: call(address, "explain_answer", ["a", ["a"]])):
            before = time.monotonic()
            if not visit():
                raise RuntimeError("the page refused a usual visitor")
            waits.append(time.monotonic() - before)
        time.sleep(0.02)
    end.set()
    return Waits(name, max(waits), sorted(waits)[len(waits) // 2], len(waits))


COLUMNS = {
    "sent by the hostile visitor": ("sent", "{}"),
    "longest wait, s": ("longest", "{:.2f}"),
    "median, s": ("median", "{:.2f}"),
    "requests": ("requests", "{:,}"),
}


def main() -> None:
    """Measure each kind of request, then all kinds at once, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="for each kind (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="keep the figures in a file")
    flags = parser.parse_args()
    figures = []
    for name, kinds in {**{kind: [kind] for kind in HOSTILE}, "all of them": list(HOSTILE)[1:]}.items():
        with tempfile.TemporaryDirectory() as folder, serve(folder) as address:
            call(address, "explain_answer", ["a", ["a"]])  # the first call also starts the fork server
            figures.append(measure(address, name, kinds, flags.seconds))
        print(f"{name}: {figures[-1].longest:.2f} s", file=sys.stderr)
    keep(flags.json, figures)
    print(markdown(COLUMNS, figures))


if __name__ == "__main__":
    main()
