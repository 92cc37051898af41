"""A Hugging Face Hub on the loopback interface, with made-up data under real ids, revisions and names of columns."""

from __future__ import annotations

import json
import os
import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from anls_metric.gold import GOLD, GoldSet

TOKEN = "hf_valid"
WORDS = ("brand", "total", "it's", "café", "[sic]", "a\u2028b", '"x"', "None", "漢字", "2012")
_ROUTE = re.compile(r"/(?:api/)?datasets/([^/]+/[^/]+)(?:/(revision|tree|resolve)/([^/]+)/?(.*))?")
_FORMATS = (("Int", "12"), ("Float", "0.25"), ("Str", "tea"), ("List", "['a', 'b']"), ("None", "Not answerable"))
_KINDS = ("Conversational", "Factoid", "Fact Checking", "Multi Choice", "Hypothetical")
_TYPES = ("science QA en", "cognition VQA cn", "table parsing en", "text counting en", "full-page OCR cn")


def make_row(name: str, i: int, chance: random.Random) -> dict[str, Any]:
    """Make a row of a data set, without its image."""
    row: dict[str, Any]
    text = " ".join(chance.sample(WORDS, 3))
    question, answers = f"What is the {chance.choice(WORDS)} in line {i}?", [text, f"the {text}"]
    if name == "mmlongbench":
        answer_format, answer = _FORMATS[i % 5]
        row = {"doc_id": f"{i // 8}.pdf", "doc_type": "Report", "question": question, "answer": answer}
        return {**row, "evidence_pages": "[4]", "evidence_sources": "['Table']", "answer_format": answer_format}
    if name == "chartqapro":
        turns = 1 if i % 5 else 3
        row = {
            "Question": [f"{question} Turn {turn}" for turn in range(turns)],
            "Paragraph": "",
            "Year": ["NO"] * turns,
        }
        return {**row, "Question Type": _KINDS[i % 5], "Answer": [f"{text} {turn}" for turn in range(turns)]}
    if name == "ocrbench_v2":
        row = {"id": i, "dataset_name": "made up", "question": question, "type": _TYPES[i % 5], "answers": answers}
        return {**row, "eval": "exact match" if i % 5 == 3 else None, "bbox": None, "content": [text]}
    if name == "cord:test":
        total = {"total": {"total_price": f"{i},000"}, "menu": [{"nm": text, "cnt": "1"}]}
        return {"ground_truth": json.dumps({"gt_parse": total, "meta": {"version": "2.0.0"}})}
    row = {"questionId": str(40_000 + i * 7919 % 16_001), "question": question, "answers": answers}
    if name == "infovqa:val":
        more = {"answer_type": ["single span"], "operation/reasoning": ["counting"], "ocr": text * 50}
        return {**row, **more, "image_url": f"{i // 5}.jpeg"}
    page = {"docId": i // 5, "ucsf_document_id": f"abcd{i // 5}", "ucsf_document_page_no": str(i % 5)}
    return {**row, **page, "question_types": [("form", "Yes/No")[i % 2]], "data_split": "val"}


def write(folder: Path, row: GoldSet, count: int, files: int = 1, image_bytes: int = 100, drop: str = "") -> int:
    """Write the Parquet files of a data set, without a column to drop. Returns their size."""
    import pyarrow
    import pyarrow.parquet

    chance, size = random.Random(row.name), 0
    for number in range(files):
        rows = [make_row(row.name, i, chance) for i in range(count * number // files, count * (number + 1) // files)]
        columns = {name: [each[name] for each in rows] for name in rows[0] if name != drop}
        columns["image"] = [{"bytes": os.urandom(image_bytes), "path": "a.png"} for _ in rows]
        path = folder / row.dataset / row.files.replace("*", f"{number:05}-of-{files:05}")
        path.parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=100)
        size += path.stat().st_size
    return size


class FakeHub(ThreadingHTTPServer):
    """The Hub. It counts requests and the bytes of files, and is told what to refuse."""

    request_queue_size = 128

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.url = folder, f"http://127.0.0.1:{self.server_port}"
        self.gated: set[str] = set()
        self.may_send = threading.Event()  # until it is set, files are not sent
        self.may_send.set()
        self.is_asked = threading.Event()  # a file was asked for
        self.requests = self.bytes = 0
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
        if token not in ("", TOKEN):
            return self._send(401)
        if verb == "resolve" and dataset in self.server.gated and not token:
            return self._send(401, {"X-Error-Code": "GatedRepo"})
        if revision != commit or not file.exists():
            return self._send(404, {"X-Error-Code": "RevisionNotFound"})
        if verb == "resolve":
            self.server.is_asked.set()
            self.server.may_send.wait()
            return self._send_file(file.read_bytes(), commit)
        common = {"type": "file", "oid": "0" * 40}
        entries = [{**common, "path": f"{path}/{each.name}", "size": each.stat().st_size} for each in file.iterdir()]
        body = json.dumps(entries if verb == "tree" else {"id": dataset, "sha": commit}).encode()
        return self._send(200, {"Content-Type": "application/json"}, body)

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
