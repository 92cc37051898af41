"""Identifies the scored questions by a hash of ids and accepted answers that no order, layout or format changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import mul
from typing import Any
from zlib import crc32

from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.values import as_json


class GoldHash:
    """Hashes questions. Each question adds a number to a sum, so their order does not matter.

    Ids are hashed as texts, and accepted answers as a set of texts before normalization. The hash is the same in every
    process and every version of Python. It detects accidental differences between files; it does not protect against
    files that were made to have the same hash.

    Args:
        has_ids: whether the questions have ids of their own; otherwise only the accepted answers count.
        keep: whether the questions are kept in memory anyway. Then they are hashed only when the hash is read.

    Attributes:
        count: the number of questions.

    Example:
        >>> first, second = GoldHash(), GoldHash()
        >>> first.add([Row("7", "tea", ["tea", "Tea"], {}), Row("8", None, ["milk"], {})])
        >>> second.add([Row("8", "x", ["milk"], {}), Row("7", "y", ["Tea", "tea", "tea"], {})])
        >>> first.digits, first.digits == second.digits, first.count
        ('f8cc8a3c', True, 2)
    """

    def __init__(self, has_ids: bool = True, keep: bool = False) -> None:
        self._has_ids, self._keep = has_ids, keep
        self.count = self._sum = 0
        self._pairs: list[tuple[Sequence[str], Sequence[Any]]] = []  # ids and accepted answers without a hash

    def add(self, rows: Sequence[Row]) -> None:
        """Add the questions of some rows."""
        batch = Batch.of(rows)
        self.count += len(batch)
        self._pairs.append((batch.ids if self._has_ids else [""] * len(batch), batch.references))
        if not self._keep:
            self._hash()

    def _hash(self) -> None:
        for keys, references in self._pairs:
            try:
                texts = [
                    _join([key, *(each if len(each) == 1 else sorted(set(each)))])
                    for key, each in zip(keys, references)
                ]
            except TypeError:  # lists and nested values
                texts = [_join([key, *sorted(set(map(_as_text, each)))]) for key, each in zip(keys, references)]
            sums = list(map(crc32, _encode(texts)))
            # A checksum is linear, so a sum of checksums often stays the same if two questions swap answers. A sum of
            # squares does not.
            self._sum += sum(map(mul, sums, sums))
        self._pairs.clear()

    @property
    def signature(self) -> tuple[str, str]:
        """The parts of a signature that identify the questions: their number and the hash."""
        return f"questions:{self.count}", f"gold:{self.digits}"

    @property
    def digits(self) -> str:
        """The hash: eight hexadecimal digits."""
        self._hash()
        return f"{crc32(str(self._sum).encode()):08x}"


def add_to_signature(signature: str, *parts: str) -> str:
    """Add parts to a signature, before the version at its end.

    Example:
        >>> add_to_signature("anls|standard|threshold:0.5|v2.0.0", "questions:2", "gold:f8cc8a3c")
        'anls|standard|threshold:0.5|questions:2|gold:f8cc8a3c|v2.0.0'
    """
    *before, version = signature.split("|")
    return "|".join([*before, *parts, version])


_join = "\1".join


def _encode(texts: Sequence[str]) -> list[bytes]:
    """Encode each text, with one call for all if no text has a zero character."""
    parts = "\0".join(texts).encode("utf-8", "surrogatepass").split(b"\0")
    return parts if len(parts) == len(texts) else [text.encode("utf-8", "surrogatepass") for text in texts]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(as_json(value), sort_keys=True, ensure_ascii=False)
