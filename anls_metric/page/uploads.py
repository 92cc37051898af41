"""Stores visitors' files and reports under safe paths, and deletes old files to make room for new files."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from anls_metric.page import limits

_HEXADECIMAL = frozenset("0123456789abcdef")
_PREFIX = "anls-"  # of the name of the folder for all uploads
_COMING = "coming-"  # of the name of a file that is not yet complete
_OLD = 60  # seconds after which an empty folder is no longer waiting for a file
_REPORTS, _REPORT = "reports", "anls-report.html"


class RefusedError(Exception):
    """Raised with the reason and the HTTP status if a request is rejected."""


# The folder


def make_folder() -> tempfile.TemporaryDirectory[str]:
    """Create the folder for all uploads, which is removed when this process ends, and remove the folders of killed
    servers.
    """
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    for path in Path(parent).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid() and _lock(path):
                shutil.rmtree(path)
    folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
    _lock(Path(folder.name))
    return folder


def _lock(folder: Path) -> bool:
    """Lock a folder until this process ends for any reason, and return False if locks are not supported. Raises OSError
    if another process has locked the folder.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def get_folder() -> str:
    """Return the folder for all uploads, in which each upload has a subfolder named after the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def make_room(folder: str, most: int = limits.MAX_KEPT) -> None:
    """Delete the oldest uploads and reports until all files take up at most ``most`` bytes, counting each file as at
    least one megabyte.
    """
    found = []
    for place, _, names in os.walk(folder):  # it tolerates files that are deleted meanwhile
        for path in (os.path.join(place, name) for name in names):
            with suppress(OSError):
                status = os.stat(path)
                found.append((status.st_mtime, max(status.st_size, limits.MB), path))
        with suppress(OSError):  # it contains a file
            if place != folder and os.stat(place).st_mtime < time.time() - _OLD:
                os.rmdir(place)
    found.sort(reverse=True)
    for total, (_, _, path) in zip(accumulate(size for _, size, _ in found), found):
        if total > most and (_is_upload(path) or is_report(path)):
            with suppress(OSError):
                os.unlink(path)


# An upload


def keep(name: str, file: BinaryIO) -> str:
    """Store a file under a safe name, in a folder named after the hash of its content, and return the path of the
    stored file.
    """
    from gradio.processing_utils import hash_file  # so that gradio does not make its own copy
    from gradio_client.utils import strip_invalid_filename_characters

    name = strip_invalid_filename_characters(os.path.basename(name))
    with tempfile.NamedTemporaryFile(prefix=_COMING, dir=get_folder()) as whole:
        shutil.copyfileobj(file, whole)
        whole.flush()
        path = os.path.join(get_folder(), hash_file(whole.name), name if name.strip(". ") else "file")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with suppress(FileExistsError):
            os.link(whole.name, path)
    os.utime(path)
    return path


# The paths that requests name


def take(file: Any, what: str) -> str:
    """Check that a file in a request was uploaded.

    Args:
        file: the path of the file, or gradio's object for it.
        what: the name of the argument, for error messages.

    Returns:
        The path of the uploaded file.

    Raises:
        ValueError: the file is missing, is not an upload, or no longer exists.
    """
    path = file.get("path") if isinstance(file, dict) else file
    if not path:
        raise ValueError(f"{what} is missing: upload a file, and pass the path that the upload returned")
    if not isinstance(path, str) or not _is_upload(path):
        ways = "pass handle_file(path) from gradio_client, or the path that its upload returned"
        raise ValueError(f"{what} is not an uploaded file: {ways}")
    if not os.path.isfile(path):
        raise ValueError(f"{what} {os.path.basename(path)[:100]} is no longer there: upload it again")
    return path


def take_all(files: Any, what: str) -> list[str]:
    """Check that all files in an argument were uploaded, and return their paths. Raises ValueError as `take` does, or
    if there are too many files.
    """
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def _is_upload(path: str) -> bool:
    """Whether a path has the form of an upload, which is the uploads folder, a folder named with 64 hexadecimal digits,
    and a file name.
    """
    return _get_parent(path) == get_folder()


def _get_parent(path: str) -> str:
    """Return the parent of a file's folder if the folder is named with 64 hexadecimal digits, or "" otherwise."""
    parent, digits = os.path.split(os.path.dirname(path))
    return parent if len(digits) == 64 and set(digits) <= _HEXADECIMAL else ""


# Reports. The path of a report is also the key to it, so it contains 64 random digits.


def name_report() -> str:
    """Choose the path of a new report."""
    return os.path.join(get_folder(), _REPORTS, os.urandom(32).hex(), _REPORT)


def drop_report(path: str) -> None:
    """Delete a report and its folder, or do nothing if the path is not that of a report."""
    if is_report(path):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def is_report(path: str) -> bool:
    """Whether a path has the form of a report's path, so that a browser may fetch the file."""
    return _get_parent(path) == os.path.join(get_folder(), _REPORTS) and os.path.basename(path) == _REPORT
