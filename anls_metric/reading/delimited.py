"""CSV and its kin, read as a stream: commas, semicolons, tabs or bars, cells of any size."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from anls_metric.reading.files import Chunk, File, chunked

# What may stand between the cells, by the ending of the file; of what the first line holds the commonest does.
_DELIMITERS = {".csv": ",;", ".tsv": "\t"}
_ANY = ",;\t|"

_limit = threading.Lock()


def read_csv(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    """The records of a file whose first line that is not blank is the names of its columns.

    Args:
        file: the file, which says what is wrong with it.
        head: its lines up to the first that is not blank.
        lines: those that follow.

    Raises:
        InputError: lines of other lengths, two columns of one name, what is no CSV.
    """
    texts = (file.text(line, number) for number, line in enumerate(chain(head, lines), 1))
    delimiters = _DELIMITERS.get(file.ending, _ANY).encode()
    header_line = re.sub(rb'"[^"]*"', b"", head[-1])
    delimiter = max(map(chr, delimiters), key=lambda sign: header_line.count(sign.encode()))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    header: list[str] = []

    def records() -> Iterator[tuple[int, Any]]:
        for values in reader:
            if len(values) == len(header):
                yield reader.line_num, dict(zip(header, values))
            elif values:
                found = f"{len(values)} values for the {len(header)} columns {', '.join(header)}"
                raise file.error(found, f"line {reader.line_num}")

    chunks = chunked(records(), "line")
    try:
        with _cells_of_any_size():
            header += next(filter(any, reader), [])
        if len(set(header)) < len(header):
            raise file.error(f"two columns have the same name: {', '.join(header)}")
        while True:
            with _cells_of_any_size():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
    except csv.Error as error:
        ends = "lines end with a carriage return alone: save it with the line ends of Unix or Windows"
        found = ends if "new-line" in str(error) else f"not CSV: {error}"
        raise file.error(found, f"line {reader.line_num}") from None


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """The limit of a cell belongs to the whole process: it is lifted while a chunk is read, and put back."""
    with _limit:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)
