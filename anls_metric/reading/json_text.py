"""JSON: lines that each hold a record, objects one after the other, or one value for the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from anls_metric.reading.containers import records_of
from anls_metric.reading.files import BLANK, CHUNK, Chunk, File, chunked, kind, some

JSON_LINES = (".jsonl", ".ndjson")


def read_json(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    first = len(head)
    text = file.text(head.pop() if first == 1 else b"".join(head))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # no line that stands for itself
        value = _values(file, text + file.text(b"".join(lines), first + 1))
    else:
        after = list(read_until_text(lines))
        more = bool(after) and not after[-1].isspace()
        if isinstance(value, dict) and (more or file.ending in JSON_LINES):
            yield Chunk([value], [first], "line")
            yield from chunked(_json_lines(file, chain(after, lines), first + 1), "line")
            return
        if more:
            value = _values(file, text + file.text(b"".join(chain(after, lines)), first + 1))
    del text
    yield from _listed(file, value)


def read_until_text(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines up to the first that is not blank."""
    for line in lines:
        yield line
        if line[:100].strip(BLANK) or line.strip(BLANK):  # a line may be the whole file
            return


def _json_lines(file: File, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, first):
        text = file.text(line, number)
        if not text.isspace():
            yield number, _json(file, text.rstrip(), number)


def _json(file: File, text: str, first_line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {first_line + error.lineno - 1}, column {error.colno}"
        raise file.error(f"not JSON: {error.msg}", place) from None
    except RecursionError:
        raise file.error("not a list of records: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise file.error(f"not JSON that can be read: {error}") from None


def _values(file: File, text: str) -> Any:
    """The one value of a text, or the objects that stand in it one after the other."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or text.lstrip()[:1] != "{":
            return _json(file, text)
    except (ValueError, RecursionError):
        return _json(file, text)
    decoder, values, end = json.JSONDecoder(), [], 0
    while text[end:].strip():
        start = len(text) - len(text[end:].lstrip())
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return _json(file, text[start:], text.count("\n", 0, start) + 1)
        values.append(value)
    return values


def _listed(file: File, value: Any) -> Iterator[Chunk]:
    records = records_of(value)
    if records is None:
        fields = f" with the fields {some(map(repr, value))}" if isinstance(value, dict) else ""
        raise file.error(f"expected a list of records, plain or under 'data', found {kind(value)}{fields}")
    del value
    for start in range(0, len(records), CHUNK):
        part = records[start : start + CHUNK]
        yield Chunk(part, range(start + 1, start + 1 + len(part)), "record")
