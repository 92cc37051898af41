"""Writes files. A file is written under a temporary name, and renamed when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from anls_metric.messages import make_error


def check_output(path: str, inputs: Sequence[str]) -> None:
    """Refuse to overwrite an input, and to write into a folder that does not exist.

    Raises:
        InputError: the path is one of the inputs, or its folder does not exist.
    """
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise make_error(path, "there is no folder {folder}: make it, or write to a different folder", folder=folder)
    for source in inputs:
        with suppress(OSError):
            if os.path.samefile(source, path):
                raise make_error(path, "the file is an input: write to a different file")


def write_whole(path: str, content: str) -> None:
    """Write a text file as UTF-8. The file appears when it is complete. OSError: it cannot be written."""
    with open_aside(path) as file:
        file.write(content)


@contextmanager
def open_aside(path: str) -> Iterator[IO[str]]:
    """Open a new file in the same folder. It replaces ``path`` when the context ends, or is removed after an error.

    Raises:
        OSError: the file cannot be written; the error names ``path``.
    """
    folder, name = os.path.split(path)
    aside = os.path.join(folder, f".{name}.{os.getpid()}.unfinished")
    try:
        with open(aside, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        os.replace(aside, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(aside)
        if isinstance(error, OSError) and error.filename in (None, aside):
            raise OSError(error.errno, error.strerror, path) from None
        raise
