"""The files of visitors: which paths are uploads, and how old ones make room for new ones."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from anls_metric.page import limits

_HEXADECIMAL = frozenset("0123456789abcdef")


def get_folder() -> str:
    """Get the folder of all uploads. gradio stores each in a folder that is named by the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def take(file: Any, what: str) -> str:
    """Check that a file that a request names was uploaded.

    Args:
        file: its path, or gradio's object for a file.
        what: the name of the argument in an error.

    Returns:
        The path.

    Raises:
        ValueError: it is no upload, or it is gone.
    """
    path = file.get("path") if isinstance(file, dict) else file
    if not path:
        raise ValueError(f"{what} is missing: upload a file, and pass the path that the upload returned")
    if not isinstance(path, str) or not _is_upload(path):
        raise ValueError(f"{what} is not an uploaded file: pass the path that its upload returned")
    if not os.path.isfile(path):
        raise ValueError(f"{what}: {os.path.basename(path)[:100]} is no longer there: upload it again")
    return path


def take_all(files: Any, what: str) -> list[str]:
    """Check the files of an argument: see `take`. ValueError: also if there are too many."""
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def _is_upload(path: str) -> bool:
    """Whether a path is that of an upload: the folder of uploads, 64 hexadecimal digits, a name."""
    folder, content = os.path.split(os.path.dirname(path))
    return folder == get_folder() and len(content) == 64 and set(content) <= _HEXADECIMAL


def make_room(folder: str, most: int = limits.MAX_KEPT) -> None:
    """Delete the oldest uploads until the others have at most so many bytes. A small file counts as a megabyte."""
    with suppress(FileNotFoundError):  # a file was deleted meanwhile: the next upload makes room
        files = sorted(Path(folder).glob("*/*"), key=os.path.getmtime, reverse=True)
        sizes = accumulate(max(os.path.getsize(file), limits.MB) for file in files)
        for file, size in zip(files, sizes):
            if size > most:
                file.unlink()
