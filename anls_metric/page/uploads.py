"""The files of visitors: which paths are uploads, and how old ones make room for new ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from anls_metric.page import limits

MADE_UP = Path(__file__).parent / "assets" / "made-up"
"""Made-up receipts, and the answers of two readers who make mistakes."""

_HEXADECIMAL = frozenset("0123456789abcdef")


def get_folder() -> str:
    """Get the folder of all uploads. gradio stores each in a folder that is named by the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def is_public(path: str) -> bool:
    """Whether a path is one of the made-up files."""
    return _is_plain(path) and os.path.abspath(path).startswith(os.path.join(MADE_UP, ""))


def take(file: Any, what: str) -> str:
    """Check that a file that a request names was uploaded.

    Args:
        file: its path, or gradio's object for a file.
        what: the name of the argument in an error.

    Returns:
        The path, as a plain string.

    Raises:
        ValueError: it is no upload, or it is gone.
    """
    path = file.get("path") if isinstance(file, dict) else file
    if not path:
        raise ValueError(f"{what} is missing: upload a file, and pass the path that the upload returned")
    if not isinstance(path, str) or not (is_public(path) or _is_upload(path)) or os.path.islink(path):
        raise ValueError(f"{what} is not an uploaded file: pass the path that its upload returned")
    if not os.path.isfile(path):
        raise ValueError(f"{what}: {os.path.basename(path)[:100]} is no longer there: upload it again")
    return str(os.path.abspath(path))


def take_all(files: Any, what: str) -> list[str]:
    """Check the files of an argument: see `take`. ValueError: also if there are too many."""
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def _is_plain(path: str) -> bool:
    return len(path) <= limits.MAX_PATH and "\0" not in path


def _is_upload(path: str) -> bool:
    """Whether a path is that of an upload: the folder of uploads, 64 hexadecimal digits, a name."""
    if not _is_plain(path):
        return False
    folder, content, name = ["", "", *os.path.abspath(path).rsplit(os.sep, 2)][-3:]
    return folder == get_folder() and len(content) == 64 and set(content) <= _HEXADECIMAL and bool(name)


def make_room(folder: str, most: int = limits.MAX_KEPT, most_files: int = limits.MAX_KEPT_FILES) -> None:
    """Delete the oldest uploads until the others have at most so many bytes and files."""
    files = sorted(_list_files(folder), reverse=True)
    size = 0
    for count, (_, path, own) in enumerate(files, 1):
        size += own
        if size > most or count > most_files:
            with suppress(OSError):  # it was deleted meanwhile
                os.unlink(path)
                os.rmdir(os.path.dirname(path))


def _list_files(folder: str) -> Iterable[tuple[float, str, int]]:
    """List the files in the folders of a folder: when each came, its path and its size."""
    for each in os.scandir(folder):
        with suppress(OSError):
            for file in os.scandir(each.path):
                status = file.stat(follow_symlinks=False)
                yield status.st_mtime, file.path, status.st_size
