"""Reads CSV with commas, semicolons, tabs or bars, as a stream. Cells can have any size."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from anls_metric.reading.input_file import Chunk, File, split_into_chunks

# The delimiter is the most frequent of these in the first line; of equally frequent ones, the first here.
_DELIMITERS = ",;\t|"

_limit = threading.Lock()


def read_csv(file: File, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    """Read the records of a CSV file.

    Args:
        file: the file, which makes the errors.
        head: its lines up to the first that is not blank, which names the columns.
        lines: the lines that follow.

    Raises:
        InputError: a line has more or fewer values than the header, two columns have the same name, or it is not CSV.
    """
    texts = (file.decode(line, number) for number, line in enumerate(chain(head, lines), 1))
    header_line = re.sub(rb'"[^"]*"', b"", head[-1])
    likely = ("\t" if file.ending == ".tsv" else "") + _DELIMITERS
    delimiter = max(likely, key=lambda sign: header_line.count(sign.encode()))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    header: list[str] = []

    def read_records() -> Iterator[tuple[int, Any]]:
        for values in reader:
            if len(values) == len(header):
                yield reader.line_num, dict(zip(header, values))
            elif values:
                problem = f"not CSV: this line has {len(values):,} values, the header has {len(header):,}"
                raise file.error(problem, f"line {reader.line_num}")

    chunks = split_into_chunks(read_records(), "line")
    try:
        with _allow_cells_of_any_size():
            header += next(filter(any, reader), [])
        file.refuse_repeated(header)
        while True:
            with _allow_cells_of_any_size():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
    except csv.Error as error:
        ends = "lines end with a carriage return alone: save it with the line ends of Unix or Windows"
        problem = ends if "new-line" in str(error) else f"not CSV: {error}"
        raise file.error(problem, f"line {reader.line_num}") from None


@contextmanager
def _allow_cells_of_any_size() -> Iterator[None]:
    """Lift the size limit of the csv module while a chunk is read. The limit is global for the process."""
    with _limit:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)
