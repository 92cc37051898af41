"""Makes small files of every format and layout, and damages them, as input for fuzzing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tests.reading import test_formats, test_layouts
from tests.system.conftest import encode


class Seed(NamedTuple):
    """A file: its name, its content, and the function that packs it. Content is damaged before packing."""

    name: str
    content: bytes
    pack: Callable[[bytes], bytes] = bytes


def make_seeds(folder: Path) -> list[Seed]:
    """Make a seed for each format and each layout whose library is installed."""
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
    if find_spec("python_calamine") and find_spec("openpyxl"):
        content = encode("table.xlsx", test_formats.ROWS)
        sheet = "xl/worksheets/sheet1.xml"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        seeds += [Seed("sheet.xlsx", parts[sheet], lambda content: _pack_parts({**parts, sheet: content}))]
        seeds += [Seed("packed.xlsx", content)]
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
    """Write the same table as Parquet, as an Arrow file and as an Arrow stream."""
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

_SHORT = r"""" ' \ [ ] { } ( ) , : ; < > \" ['a', \u0000 \ud800 null true NaN 1e999 0.1 -1 =1+1 é漢🙂 &amp; &#1;"""
_NAMES = "id answer prediction references"
_LONG = (b"9" * 5000, b"[" * 3000, b"{" * 3000, b'{"a":' * 1500)
_BYTES = (
    *(b"\t", b"\n", b"\r", b" ", b"\0", b"\0" * 8, b"\xff", b"\xff" * 4, b"\xff\xff\xff\x7f", b"\xef\xbb\xbf"),
    b"\x1b[31m",
)
_PIECES = (*f"{_SHORT} {_NAMES}".encode().split(), *_LONG, *_BYTES)


def damage(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """Damage a file: exchange values of JSON, or flip, delete, repeat and insert bytes, also those of another file."""
    if chance.random() < 0.5:
        with suppress(ValueError):  # the content is not JSON
            return _exchange_values(content, chance)
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


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "a", "7", "nan", "['a'", "\ud800", [], {}, [None], [[]], ["a", 7]),
    {"a": {}},
)


def _exchange_values(content: bytes, chance: random.Random) -> bytes:
    """Exchange some values of JSON, or of a line of JSON lines."""
    try:
        lines = [json.loads(content)]
    except ValueError:
        lines = list(map(json.loads, content.splitlines()))
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = _exchange(lines, chance)
    return "\n".join(map(json.dumps, lines)).encode()


def _exchange(value: Any, chance: random.Random, is_root: bool = True) -> Any:
    if not isinstance(value, (dict, list)) or not value or (not is_root and chance.random() < 0.15):
        return deepcopy(chance.choice(_VALUES))
    place = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if not is_root and chance.random() < 0.1:
        del value[place]
    else:
        value[place] = _exchange(value[place], chance, is_root=False)
    return value
