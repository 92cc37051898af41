"""Visitors' files and reports: which paths they get, and how old ones make room for new ones."""

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
    """Raised if a request is rejected, with the reason and the status."""


# The folder


def make_folder() -> tempfile.TemporaryDirectory[str]:
    """Make the folder for all uploads, which is removed with this process, and remove the folders of killed servers."""
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    for path in Path(parent).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid() and _lock(path):
                shutil.rmtree(path)
    folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
    _lock(Path(folder.name))
    return folder


def _lock(folder: Path) -> bool:
    """Lock a folder until this process ends, however it ends. Raises OSError if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def get_folder() -> str:
    """Get the folder for all uploads. Each upload is in a subfolder named after the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def make_room(folder: str, most: int = limits.MAX_KEPT) -> None:
    """Delete the oldest files until the others take up at most ``most`` bytes. Every file counts as at least one
    megabyte.
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
    """Store a file in a folder named after the hash of its content, under a name that is safe to show."""
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
        The path.

    Raises:
        ValueError: the file is not an upload, or no longer exists.
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
    """Check the files given for an argument, as `take` does. Also raises ValueError if there are too many."""
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def _is_upload(path: str) -> bool:
    """Whether a path is that of an upload: the uploads folder, 64 hexadecimal digits, a name."""
    return _get_parent(path) == get_folder()


def _get_parent(path: str) -> str:
    """Get the folder above a file's own folder, or "" if the latter's name is not 64 hexadecimal digits."""
    parent, digits = os.path.split(os.path.dirname(path))
    return parent if len(digits) == 64 and set(digits) <= _HEXADECIMAL else ""


# Reports. The path of a report is also the key to it, so it contains 64 random digits.


def name_report() -> str:
    """Choose the path of a new report."""
    return os.path.join(get_folder(), _REPORTS, os.urandom(32).hex(), _REPORT)


def drop_report(path: str) -> None:
    """Delete a report that nobody is viewing anymore. The path may be "" for no report."""
    if is_report(path):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def is_report(path: str) -> bool:
    """Whether a path is the path of a report, which the visitor's browser may fetch."""
    return _get_parent(path) == os.path.join(get_folder(), _REPORTS) and os.path.basename(path) == _REPORT
