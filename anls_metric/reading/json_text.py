"""JSON: a record on each line, objects one after the other, or one value for the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from anls_metric.reading.containers import records_of
from anls_metric.reading.input_file import BLANK, CHUNK, Chunk, File, describe_kind, list_some, split_into_chunks

JSON_LINES = (".jsonl", ".ndjson")


def read_json(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    """Read the records of a JSON file. JSON lines are streamed, any other JSON is loaded whole.

    Args:
        file: the file, which makes the errors.
        head: its lines up to the first that is not blank.
        lines: the lines that follow.

    Raises:
        InputError: it is not JSON, or holds no records.
    """
    first = len(head)
    text = file.decode(head.pop() if first == 1 else b"".join(head))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # the line is not JSON by itself
        value = _parse_values(file, text + file.decode(b"".join(lines), first + 1))
    else:
        after = list(read_until_text(lines))
        more = bool(after) and not after[-1].isspace()
        if (isinstance(value, dict) and more) or (not isinstance(value, list) and file.ending in JSON_LINES):
            numbered = chain([(first, value)], _parse_lines(file, chain(after, lines), first + 1))
            yield from split_into_chunks(numbered, "line")
            return
        if more:
            value = _parse_values(file, text + file.decode(b"".join(chain(after, lines)), first + 1))
    del text
    yield from _split_records(file, value)


def read_until_text(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines up to the first that is not blank."""
    for line in lines:
        yield line
        if line[:100].strip(BLANK) or line.strip(BLANK):  # the whole line may be gigabytes
            return


def _parse_lines(file: File, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, first):
        text = file.decode(line, number)
        if not text.isspace():
            yield number, _parse(file, text.rstrip(), number)


def _parse(file: File, text: str, first_line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {first_line + error.lineno - 1}, column {error.colno}"
        raise file.error(f"not JSON: {error.msg}", place) from None
    except RecursionError:
        raise file.error("not a list of records: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise file.error(f"not JSON that can be read: {error}") from None


def _parse_values(file: File, text: str) -> Any:
    """Parse a text that is one value, or objects one after the other."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or text.lstrip()[:1] != "{":
            return _parse(file, text)
    except (ValueError, RecursionError):
        return _parse(file, text)
    decoder, values, end = json.JSONDecoder(), [], 0
    while text[end:].strip():
        start = len(text) - len(text[end:].lstrip())
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return _parse(file, text[start:], text.count("\n", 0, start) + 1)
        values.append(value)
    return values


def _split_records(file: File, value: Any) -> Iterator[Chunk]:
    records = records_of(value)
    if records is None:
        fields = f" with the fields {list_some(map(repr, value))}" if isinstance(value, dict) else ""
        raise file.error(f"expected a list of records, plain or under 'data', found {describe_kind(value)}{fields}")
    del value
    for start in range(0, len(records), CHUNK):
        part = records[start : start + CHUNK]
        yield Chunk(part, range(start + 1, start + 1 + len(part)), "record")
