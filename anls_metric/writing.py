"""Writes files, each under a temporary name that is changed to the final name once the file is complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO

from anls_metric.endings import clean_up
from anls_metric.messages import InputError, make_error
from anls_metric.reading.files import list_files
from anls_metric.reading.image_cells import IMAGE_ENDINGS

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def check_output(path: str, inputs: Sequence[str]) -> None:
    """Check that a file can be written without overwriting an input or a write-protected file.

    Args:
        path: the file to write.
        inputs: the files, folders and patterns that were read; a folder or pattern stands for its parts and images.

    Raises:
        InputError: the path is one of the inputs or write-protected, or its folder does not exist.
    """
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise make_error(path, "there is no folder {folder}: create it, or write to a different folder", folder=folder)
    if not os.path.exists(path):
        return
    mode = os.stat(path).st_mode
    if not mode & _WRITABLE or not os.access(path, os.W_OK):  # the system lets root write to any file
        raise make_error(path, "the file is write-protected: write to a different file")
    for source in inputs:
        for part in _list_parts(source):
            with suppress(OSError):
                if os.path.samefile(part, path):
                    raise make_error(path, "the file is an input: write to a different file")


def _list_parts(source: str) -> Iterator[str]:
    """List the files of an input: the file itself, the parts of a folder or pattern, and the images in a folder."""
    yield source
    with suppress(InputError):  # a folder of images has no parts
        yield from list_files(source) or ()
    for folder, _, names in os.walk(source):
        yield from (os.path.join(folder, name) for name in names if name.lower().endswith(IMAGE_ENDINGS))


def write_whole(path: str, content: str) -> None:
    """Write a text file as UTF-8. The file appears only when it is complete. Raises OSError if it cannot be written."""
    with open_aside(path) as file:
        file.write(content)


@contextmanager
def open_aside(path: str) -> Iterator[IO[str]]:
    """Open a new file next to ``path``, which is renamed to ``path`` when the context ends, or removed after an error.

    The new file is given the permissions of the file that it replaces. If ``path`` is a link, its target is replaced
    rather than the link. Anything that is not a regular file, such as a pipe or a device, is written to directly.

    Raises:
        OSError: the file cannot be written; the error names ``path``.
    """
    target = os.path.realpath(path)
    is_replaced = os.path.isfile(target)
    # A name that nobody can predict; mode "x" neither shares a file with another program nor follows a link.
    aside = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.unfinished")
    try:
        if os.path.exists(target) and not is_replaced:
            with _open_text(target, "w") as file:
                yield file
            return
        with clean_up(partial(_remove, aside)):
            with _open_text(aside, "x") as file:
                yield file
            if is_replaced:
                os.chmod(aside, os.stat(target).st_mode)
            os.replace(aside, target)
    except BaseException as error:
        _remove(aside)
        if isinstance(error, OSError) and error.filename in (None, aside, target):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _open_text(path: str, mode: str) -> IO[str]:
    return open(path, mode, encoding="utf-8", errors="backslashreplace", newline="")


def _remove(path: str) -> None:
    """Remove a file if it exists."""
    with suppress(OSError):
        os.unlink(path)
