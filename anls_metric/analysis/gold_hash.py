"""Which questions were scored: a hash of their ids and accepted answers that no order, layout or format changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import mul
from typing import Any
from zlib import crc32

from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.values import as_json


class GoldHash:
    """Hashes questions. It adds a number for each question, so their order does not matter, and keeps only the sum.

    Accepted answers count as a set of texts as given, before normalization, and ids as texts. The hash is the same in
    every process, and for every version of Python. It tells files apart that differ by accident; it is no signature
    against somebody who wants two files to have the same hash.

    Args:
        has_ids: whether the questions have ids of their own; otherwise only the accepted answers count.
        keep: whether questions are kept anyway, so that they are hashed when somebody asks for the hash.

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
            # The checksums are squared, because their sum is the same where two questions swap answers more often than
            # it should be: a checksum is linear.
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
    """The bytes of each text: in one call if no text has a zero character."""
    parts = "\0".join(texts).encode("utf-8", "surrogatepass").split(b"\0")
    return parts if len(parts) == len(texts) else [text.encode("utf-8", "surrogatepass") for text in texts]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(as_json(value), sort_keys=True, ensure_ascii=False)
