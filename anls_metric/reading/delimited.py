"""Reads CSV with commas, semicolons, tabs or bars, as a stream. Cells can have any size."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice, takewhile
from typing import Any

from anls_metric.reading.input_file import Chunk, File, count_noun, split_into_chunks

# The delimiter is the most frequent of these in the first line; of equally frequent ones, the first here.
_DELIMITERS = ",;\t|"

_FIRST = 20  # lines after the header that show how the file is written

_limit = threading.Lock()


def read_csv(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    """Read the records of a CSV file.

    Args:
        file: the file, which makes the errors.
        head: its lines up to the first that is not blank, which names the columns.
        lines: the lines that follow.

    Raises:
        InputError: a line has more or fewer values than the header; two columns have the same name; or it is not CSV.
    """
    texts = (file.decode(line, number) for number, line in enumerate(chain(head, lines), 1))
    header_line = re.sub(rb'"[^"]*"', b"", head[-1])
    likely = ("\t" if file.ending == ".tsv" else "") + _DELIMITERS
    delimiter = max(likely, key=lambda sign: header_line.count(sign.encode()))
    first = list(islice(texts, len(head) + _FIRST))
    if re.fullmatch(r'"?sep=."?\s*', first[len(head) - 1]):  # Excel names the delimiter so
        first[len(head) - 1] = "\n"
    has_blanks = any(re.match(' +"(?!")', cell) for line in first for cell in line.split(delimiter)[1:])
    reader = csv.reader(chain(first, texts), delimiter=delimiter, strict=True, skipinitialspace=has_blanks)
    header: list[str] = []
    unnamed = 0  # columns without a name at the right
    last_line = 0  # of the header or of the last complete record

    def swallows_lines(value: str, first: str) -> bool:
        """Whether a value holds all tabs between its place in one line and the same place in a later line.

        If the first value of its own line is a number, that of the other lines must be one, too.
        """
        has_all = 0 < value.count("\n") * (len(header) - 1) == value.count("\t")
        lines = value.split("\n")[1:] if has_all and first.isdecimal() else []
        return has_all and all(line.partition("\t")[0].isdecimal() for line in lines)

    def read_records() -> Iterator[tuple[int, Any]]:
        nonlocal last_line
        is_first = True
        empty: list[tuple[int, dict[str, str]]] = []  # records without a value: spreadsheets add them at the end
        for values in reader:
            if unnamed and not any(values[len(header) :]):
                del values[len(header) :]
            if values and len(values) != len(header):
                problem = f"this line has {count_noun(len(values), 'value')}, and the header has {len(header):,}"
                remedy = f"put quotation marks around a value with {_NAMES[delimiter]} in it"
                if is_first:
                    remedy = f"begin with a line that names each column, or {remedy}"
                raise file.error(problem, f"line {reader.line_num}", remedy)
            is_long = delimiter == "\t" and reader.line_num - last_line > 1
            if is_long and any(swallows_lines(value, values[0]) for value in values):
                problem = "a value begins with a quotation mark, and ends with that of another line"
                raise file.error(problem, f"line {last_line + 1}", _QUOTES)
            last_line = reader.line_num
            record = last_line, dict(zip(header, values))
            is_first = is_first and not values
            if any(values) or (values and len(header) == 1):
                yield from empty
                yield record
                empty.clear()
            elif values:
                empty.append(record)

    chunks = split_into_chunks(read_records(), "line")
    try:
        with _allow_cells_of_any_size():
            header += next(filter(any, reader), [])
        last_line = reader.line_num
        at_right = len(list(takewhile(lambda name: not name, reversed(header))))
        if at_right == header.count("") > 1:
            unnamed = at_right
            del header[-at_right:]
        if delimiter == "|" and header[:1] == header[-1:] == [""]:
            raise file.error("it is a Markdown table", remedy="save it as CSV")
        file.refuse_repeated(header)
        while True:
            with _allow_cells_of_any_size():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
    except csv.Error as error:
        if "new-line" in str(error):
            raise file.error("the lines end with a carriage return alone", remedy=_LINE_ENDS) from None
        ends = "unexpected end" in str(error)
        problem = "a value begins with a quotation mark and does not end" if ends else f"not CSV: {error}"
        raise file.error(problem, f"line {last_line + 1 if ends else reader.line_num}", _QUOTES) from None


_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_LINE_ENDS = "save it with the line ends of Unix or Windows"
_QUOTES = 'put quotation marks around the value, and write "" for one inside it'


@contextmanager
def _allow_cells_of_any_size() -> Iterator[None]:
    """Lift the size limit of the csv module while a chunk is read. The limit is global for the process."""
    with _limit:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)
