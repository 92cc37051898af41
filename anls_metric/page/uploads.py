"""The files and reports of visitors: which paths they get, and how old ones make room for new ones."""

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
_PREFIX = "anls-"  # of the folder of all uploads
_COMING = "coming-"  # of the name of a file that is not yet whole
_OLD = 60  # seconds after which an empty folder waits for no file
_REPORTS, _REPORT = "reports", "anls-report.html"


class RefusedError(Exception):
    """An error for a refused request, with the reason and the status."""


# The folder


def make_folder() -> tempfile.TemporaryDirectory[str]:
    """Make the folder of all uploads, which goes away with this process, and remove the folders of killed servers."""
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    for path in Path(parent).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid() and _lock(path):
                shutil.rmtree(path)
    folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
    _lock(Path(folder.name))
    return folder


def _lock(folder: Path) -> bool:
    """Lock a folder until this process ends, however it ends. OSError: another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def get_folder() -> str:
    """Get the folder of all uploads. Each upload is in a folder named after the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def make_room(folder: str, most: int = limits.MAX_KEPT) -> None:
    """Delete the oldest files until the others have at most this many bytes. Every file counts as at least one
    megabyte.
    """
    found = []
    for place, _, names in os.walk(folder):  # it tolerates what is deleted meanwhile
        for path in (os.path.join(place, name) for name in names):
            with suppress(OSError):
                status = os.stat(path)
                found.append((status.st_mtime, max(status.st_size, limits.MB), path))
        with suppress(OSError):  # it holds a file
            if place != folder and os.stat(place).st_mtime < time.time() - _OLD:
                os.rmdir(place)
    found.sort(reverse=True)
    for total, (_, _, path) in zip(accumulate(size for _, size, _ in found), found):
        if total > most and (_is_upload(path) or is_report(path)):
            with suppress(OSError):
                os.unlink(path)


# An upload


def keep(name: str, file: BinaryIO) -> str:
    """Keep a file in a folder named after its content's hash, under a name that is safe to show."""
    from gradio.processing_utils import hash_file  # so that gradio makes no copy of its own
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
    """Check that a file named in a request was uploaded.

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
        ways = "pass handle_file(path) from gradio_client, or the path that its upload returned"
        raise ValueError(f"{what} is not an uploaded file: {ways}")
    if not os.path.isfile(path):
        raise ValueError(f"{what} {os.path.basename(path)[:100]} is no longer there: upload it again")
    return path


def take_all(files: Any, what: str) -> list[str]:
    """Check the files of an argument, as `take` does. Raises ValueError also if there are too many."""
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def _is_upload(path: str) -> bool:
    """Whether a path is that of an upload: the folder of uploads, 64 hexadecimal digits, a name."""
    return _get_parent(path) == get_folder()


def _get_parent(path: str) -> str:
    """Get the folder above the folder of 64 hexadecimal digits in which a file is, or "" if it is in another one."""
    parent, digits = os.path.split(os.path.dirname(path))
    return parent if len(digits) == 64 and set(digits) <= _HEXADECIMAL else ""


# Reports. The path of a report is its key, so it has 64 random digits.


def name_report() -> str:
    """Choose the path of a new report."""
    return os.path.join(get_folder(), _REPORTS, os.urandom(32).hex(), _REPORT)


def drop_report(path: str) -> None:
    """Delete a report that nobody sees any more; "" for none."""
    if is_report(path):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def is_report(path: str) -> bool:
    """Whether a path is the path of a report, which the visitor's browser may fetch."""
    return _get_parent(path) == os.path.join(get_folder(), _REPORTS) and os.path.basename(path) == _REPORT
