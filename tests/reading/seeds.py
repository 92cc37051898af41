"""Small files of every format and layout, and the same files as something damaged them: what fuzzing begins with."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tests.reading import test_formats, test_layouts


class Seed(NamedTuple):
    """A file: its name, its content, and what packs the content. Damage comes before packing, which would hide it."""

    name: str
    content: bytes
    pack: Callable[[bytes], bytes] = bytes


def make_seeds(folder: Path) -> list[Seed]:
    """Make a seed for each format and each layout, as far as its library is installed."""
    lines = test_formats.LINES.encode()
    seeds = [Seed(name, text.encode()) for name, text in test_formats.TEXTS.items()]
    seeds += [Seed("utf-16.json", test_formats.LINES.encode("utf-16")), Seed("answers.txt", b"12.50\nR Jones\n")]
    seeds += [Seed("lines.jsonl.gz", lines, _pack_gzip), Seed("lines.gz", _pack_gzip(lines))]
    seeds += [Seed("lines.bz2", lines, bz2.compress), Seed("lines.xz", lines, lzma.compress)]
    seeds += [_read_seed(test_layouts.write(folder / name, content)) for name, content in test_layouts.FILES.values()]
    sample = json.dumps(test_layouts.FILES["inspect_ai"][1]["samples"][0]).encode()
    seeds += [Seed("log.eval", sample, _pack_sample), Seed("packed.eval", _pack_sample(sample))]
    if find_spec("pyarrow"):
        seeds += [Seed(name, content) for name, content in _write_columns().items()]
    if find_spec("python_calamine"):
        rows = [
            [test_formats.text(name) for name in row.values() if isinstance(name, str)] for row in test_formats.ROWS
        ]
        path = test_formats.workbook(folder / "table.xlsx", [test_formats.HEADER[:2], *rows])
        sheet = "xl/worksheets/sheet1.xml"
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        seeds += [Seed("sheet.xlsx", parts[sheet], lambda content: _pack_parts({**parts, sheet: content}))]
        seeds += [Seed("packed.xlsx", _pack_parts(parts))]
    return seeds


def _read_seed(path: str) -> Seed:
    return Seed(Path(path).name, Path(path).read_bytes())


def _pack_gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _pack_sample(content: bytes) -> bytes:
    return _pack_parts({"header.json": b"{}", "samples/1_epoch_1.json": content})


def _pack_parts(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _write_columns() -> dict[str, bytes]:
    """The same table as Parquet, as an Arrow file and as an Arrow stream."""
    import pyarrow
    from pyarrow import ipc, parquet

    table = pyarrow.Table.from_pylist(test_formats.ROWS)
    packed = ipc.IpcWriteOptions(compression="zstd")
    writers: dict[str, Callable[[Any], Any]] = {
        "table.parquet": lambda stream: parquet.ParquetWriter(stream, table.schema, compression="zstd"),
        "file.arrow": lambda stream: ipc.new_file(stream, table.schema, options=packed),
        "stream.arrow": lambda stream: ipc.new_stream(stream, table.schema),
    }
    made = {}
    for name, write in writers.items():
        stream = io.BytesIO()
        with write(stream) as writer:
            writer.write_table(table)
        made[name] = stream.getvalue()
    return made


# Damage

_PIECES = (
    *(
        b'"',
        b"'",
        b"\\",
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b")",
        b",",
        b":",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b" ",
        b"\0",
        b"<",
        b">",
    ),
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\x1b[31m",
        b"\\u0000",
        b"\\ud800",
        "é漢🙂".encode(),
        b"null",
        b"true",
        b"NaN",
        b"1e999",
    ),
    *(
        b"9" * 5000,
        b"[" * 3000,
        b"{" * 3000,
        b'{"a":' * 1500,
        b"['a', ",
        b'\\"',
        b"=1+1",
        b"0.1",
        b"-1",
        b"\xff" * 4,
        b"\0" * 8,
    ),
    *(b"\xff\xff\xff\x7f", b"&amp;", b"&#1;", b" r='XFD1048576'", b"id", b"answer", b"prediction", b"references"),
)


def damage(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Change some places of a file: flip, delete, repeat, insert, and splice with another file."""
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.choice((0, 1, 1, 2, 4, 16, 100)))
        some = chance.randrange(len(other) + 1)
        piece = {
            "flip": bytes(byte ^ 1 << chance.randrange(8) for byte in content[start:end]),
            "replace": bytes(chance.randrange(256) for _ in content[start:end]),
            "delete": b"",
            "repeat": content[start:end] * chance.choice((2, 3, 50)),
            "insert": chance.choice(_PIECES) + content[start:end],
            "splice": other[some : some + 40],
        }[chance.choice(("flip", "replace", "delete", "repeat", "insert", "insert", "splice"))]
        content = content[:start] + piece + content[end:]
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.05 else content
