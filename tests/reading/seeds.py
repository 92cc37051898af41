"""Makes small files of every format and layout, and damages them, as input for fuzzing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from contextlib import suppress
from copy import deepcopy
from typing import Any

from tests.reading import test_formats, test_layouts
from tests.system.conftest import encode


def make_seeds() -> dict[str, bytes]:
    """Make a file of each format of text and each layout. Damaged columns can end Python in pyarrow and calamine."""
    lines = test_formats.LINES.encode()
    seeds = {name: text.encode() for name, text in test_formats.TEXTS.items()}
    seeds |= {"utf-16.json": test_formats.LINES.encode("utf-16"), "answers.txt": b"12.50\nR Jones\n"}
    seeds |= {"a.gz": gzip.compress(lines, mtime=0), "a.bz2": bz2.compress(lines), "a.xz": lzma.compress(lines)}
    seeds |= {name: encode(name, content) for name, content in test_layouts.FILES.values()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"{}")
        archive.writestr("samples/1.json", json.dumps(test_layouts.FILES["inspect_ai"][1]["samples"][0]))
    return {**seeds, "log.eval": stream.getvalue()}


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
