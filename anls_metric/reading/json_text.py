"""Reads JSON: a record on each line, objects one after the other, or one value for the whole file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from anls_metric.core.rows import describe
from anls_metric.reading.containers import describe_stop, records_of
from anls_metric.reading.input_file import BLANK, CHUNK, Chunk, File, describe_kind, list_some, split_into_chunks

JSON_LINES = (".jsonl", ".ndjson")


def read_json(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    """Read the records of a JSON file. JSON lines are streamed, any other JSON is loaded whole.

    Args:
        file: the file, which makes the errors.
        head: its lines up to the first that is not blank.
        lines: the lines that follow.

    Raises:
        InputError: the file is not JSON, or holds no records.
    """
    first = len(head)
    text = file.decode(head.pop() if first == 1 else b"".join(head))
    try:
        value = parse_json(text)
    except RepeatedKeyError as error:
        raise _error_of_repeat(file, error, f"line {first}") from None
    except (ValueError, RecursionError):  # the line is not JSON by itself
        value = _parse_values(file, text + file.decode(b"".join(lines), first + 1))
    else:
        after = list(read_until_text(lines))
        more = bool(after) and not after[-1].isspace()
        is_list = isinstance(value, list)
        if (isinstance(value, dict) and more) or (file.ending in JSON_LINES and (more or not is_list)):
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
        return parse_line(text)
    except json.JSONDecodeError as error:
        place = f"line {first_line + error.lineno - 1}, column {error.colno}"
        if text.startswith("\ufeff", error.pos):
            raise file.error("a second byte order mark", place, "remove it, or save the file as UTF-8") from None
        problem, remedy = explain_json_error(error, is_first=first_line == 1)
        raise file.error(problem, place, remedy) from None
    except RepeatedKeyError as error:
        raise _error_of_repeat(file, error, "" if "\n" in text else f"line {first_line}") from None
    except RecursionError:
        raise file.error("the JSON is nested too deeply", remedy=_AS_RECORDS) from None
    except ValueError:
        raise file.error("it has a number of thousands of digits", remedy="write it as a text") from None


def explain_json_error(error: json.JSONDecodeError, is_first: bool = True) -> tuple[str, str]:
    """Say what is wrong with JSON, and what to do about it.

    Args:
        error: the error of the parser.
        is_first: whether the text is the beginning of a file.
    """
    rest = error.doc[error.pos :]
    if error.msg.startswith("Unterminated string") or not rest.strip():
        return "the JSON is cut off", "copy or write the file again"
    if re.match(r"['(]|(?:None|True|False)\b", rest):
        return "this is printed Python, not JSON", "write it with json.dumps, not with print or str"
    is_between = not error.doc[: error.pos].strip()
    if rest[0] == "," and (is_between or error.msg == "Extra data"):
        return "there is a comma between records", "remove these commas"
    if is_between and not is_first:
        return "this is not a record", "remove it, or write the file with json.dump"
    if is_between and not rest.startswith(("{", "[")):
        return "not JSON", "give the file the ending of its format, such as .csv, or write it with json.dump"
    return f"not JSON: {error.msg}", "correct it there, or write the file with json.dump"


_skip_blanks: Callable[[str, int], Any] = re.compile(r"\s*").match


def _parse_values(file: File, text: str) -> Any:
    """Parse a text that is one value, or objects one after the other."""
    begin = _skip_blanks(text, 0).end()
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or text[begin : begin + 1] != "{":
            return _parse(file, text)
    except (ValueError, RecursionError):
        return _parse(file, text)
    values, end = [], begin
    while end < len(text):
        try:
            value, end = _STRICT.raw_decode(text, end)
        except (ValueError, RecursionError):
            return _parse(file, text[end:], text.count("\n", 0, end) + 1)
        values.append(value)
        end = _skip_blanks(text, end).end()
    return values


_SCORE_ANSWERS = "score the files of the answers, or the results.json that --output writes"
_AS_RECORDS = 'write a list of objects, such as [{"questionId": 1, "answer": "a text"}]'


# Repeated keys, of which Python's parser silently keeps the last value


class RepeatedKeyError(ValueError):
    """An object has a key twice. The text of the error is the key."""


def _error_of_repeat(file: File, error: RepeatedKeyError, place: str) -> Exception:
    key = describe(error.args[0]).removesuffix(" (str)")
    return file.error(f"an object has the key {key} twice", place, "keep one of them")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(next(key for key, count in counts.items() if count > 1))
    return made


_STRICT = json.JSONDecoder(object_pairs_hook=_make_object)
parse_line = _STRICT.decode


def parse_json(text: str) -> Any:
    """Parse JSON, and refuse repeated keys. It counts keys, so a large text takes less time than with `parse_line`.

    Raises:
        RepeatedKeyError: an object has a key twice. ValueError, RecursionError: as `json.loads`.

    Example:
        >>> parse_json('{"7": "Coca Cola"}')
        {'7': 'Coca Cola'}
        >>> parse_json('{"7": "Coca Cola", "7": "Pepsi"}')
        Traceback (most recent call last):
        anls_metric.reading.json_text.RepeatedKeyError: 7
    """
    value = json.loads(text)
    if not _may_repeat_keys(text, value):
        return value
    del value
    return _STRICT.decode(text)


def _may_repeat_keys(text: str, value: Any) -> bool:
    """Whether a text may have more keys than the value parsed from it. A quotation mark and a colon end each key."""
    # There may be white space between the two. `rfind` takes half the time of `in`.
    if any(text.rfind(f"{blank}:") >= 0 for blank in " \t\r\n" if blank in text):
        return True
    ends = text.count('":')
    keys = _count_keys(value, ends)
    if keys == ends:
        return False
    escaped = text.count('\\":')  # an escaped quotation mark is inside a string and ends no key
    return not escaped or keys != ends - escaped or '\\\\":' in text


def _count_keys(value: Any, most: int) -> int:
    """Count the keys of an object and of the objects inside it, level by level, up to a maximum."""
    keys, level = 0, [value]
    while level and keys < most:
        objects = level if set(map(type, level)) == {dict} else [item for item in level if type(item) is dict]
        keys += sum(map(len, objects))
        if keys < most:
            lists = (item for item in level if type(item) is list)
            level = list(chain.from_iterable(chain(map(dict.values, objects), lists)))
    return keys


def _split_records(file: File, value: Any) -> Iterator[Chunk]:
    records = records_of(value)
    if records is None and isinstance(value, dict) and {"signature", "submissions"} <= value.keys():
        raise file.error("it holds scores that anls printed, and no answers", remedy=_SCORE_ANSWERS)
    if records is None:
        fields = f" with the fields {list_some(map(repr, value))}" if isinstance(value, dict) and value else ""
        kind = "an empty object" if value == {} else describe_kind(value)
        raise file.error(f"it holds {kind}{fields}, not a list of records", remedy=_AS_RECORDS)
    file.notes = list(filter(None, [describe_stop(value, len(records))]))
    del value
    for start in range(0, len(records), CHUNK):
        part = records[start : start + CHUNK]
        yield Chunk(part, range(start + 1, start + 1 + len(part)), "record")
