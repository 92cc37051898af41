"""The files of visitors and their reports: how they come, which paths they have, and how old ones make room for new."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from anls_metric.page import limits

_HEXADECIMAL = frozenset("0123456789abcdef")
_PREFIX = "anls-"  # of the folder of all uploads
_COMING = "coming-"  # of the folder of an upload that is not yet whole
_OLD = 60  # seconds after which an empty folder waits for no file
_REPORTS, _REPORT = "reports", "anls-report.html"


class UploadError(Exception):
    """An upload is refused, with a reason and a status."""


# The folder


def make_folder() -> tempfile.TemporaryDirectory[str]:
    """Make the folder of all uploads, which goes with this process, and remove those of servers that were killed."""
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
    """Get the folder of all uploads. Each is in a folder that is named by the hash of its content."""
    return os.path.abspath(os.environ["GRADIO_TEMP_DIR"])


def make_room(folder: str, most: int = limits.MAX_KEPT) -> None:
    """Delete the oldest files until the others have at most so many bytes. A small file counts as a megabyte."""
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


class _Coming:
    """The bytes of all uploads that are not yet whole."""

    size = 0


async def receive_files(headers: Mapping[str, str], read: Callable[[], Awaitable[bytes]]) -> list[str]:
    """Receive the files of a form. What has come of it is removed unless it comes whole.

    Args:
        headers: the headers of the request, by their names in lower case.
        read: reads the next bytes of the body; b"" at the end.

    Returns:
        The paths of the files.

    Raises:
        UploadError: it is no form of files, a file is too large, or there is no room for it.
    """
    from starlette.concurrency import run_in_threadpool

    size, folder = 0, ""
    try:
        await run_in_threadpool(make_room, get_folder(), limits.MAX_KEPT - limits.MAX_COMING)
        folder = tempfile.mkdtemp(prefix=_COMING, dir=get_folder())
        form = _Form(headers, folder)
        while data := await read():
            size += len(data)
            _Coming.size += len(data)
            if _Coming.size > limits.MAX_COMING:
                raise UploadError("too many files are coming at once: upload it again in a minute", 503)
            await run_in_threadpool(form.write, data)
        return list(await run_in_threadpool(form.finish))
    except OSError:
        raise UploadError("there is no room for the file now: upload it again later", 507) from None
    finally:
        _Coming.size -= size
        if folder:
            await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)


class _Form:
    """A form of files, parsed as it comes. A form with other fields is refused."""

    def __init__(self, headers: Mapping[str, str], folder: str) -> None:
        from python_multipart.exceptions import FormParserError
        from python_multipart.multipart import create_form_parser

        self._files: list[Any] = []
        self._error = FormParserError
        config = {"UPLOAD_DIR": folder, "UPLOAD_DELETE_TMP": False, "MAX_MEMORY_FILE_SIZE": 0}
        config |= {"MAX_FIELDS": 0, "MAX_FIELD_SIZE": 0}
        if not headers.get("content-type", "").startswith("multipart/form-data"):
            raise UploadError(_NO_FORM, 400)
        try:
            self._parser = create_form_parser(
                {"Content-Type": headers["content-type"].encode("latin-1")}, _refuse_field, self._take, config
            )
        except (FormParserError, ValueError):
            raise UploadError(_NO_FORM, 400) from None

    def write(self, data: bytes) -> None:
        """Parse the next bytes. UploadError: they are no form of files, or a file is too large."""
        try:
            self._parser.write(data)
        except self._error:
            raise UploadError(_NO_FORM, 400) from None

    def _take(self, file: Any) -> None:
        if file.size > limits.MAX_FILE:
            raise UploadError(f"a file has more than {limits.MAX_FILE // limits.MB} MB", 413)
        self._files.append(file)

    def finish(self) -> list[str]:
        """Keep the files, and return their paths. UploadError: the form is cut off, or has no files."""
        self._parser.finalize()
        if not self._files:
            raise UploadError(_NO_FORM, 400)
        return [_keep(file) for file in self._files]


_NO_FORM = "the upload must be a form with files: send each as multipart/form-data, in the field files"


def _refuse_field(field: Any) -> None:
    raise UploadError(_NO_FORM, 400)


def _keep(file: Any) -> str:
    """Move a file that has come whole to the folder of its content, under a name that is safe to show."""
    from gradio.processing_utils import hash_file  # so that gradio makes no copy of its own
    from gradio_client.utils import strip_invalid_filename_characters

    if file.in_memory:
        file.flush_to_disk()
    file.file_object.flush()
    came = os.fsdecode(file.actual_file_name)
    name = strip_invalid_filename_characters(os.path.basename((file.file_name or b"").decode("utf-8", "replace")))
    folder = os.path.join(get_folder(), hash_file(came))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name if name.strip(". ") else "file")
    os.link(came, path + (aside := f".{os.urandom(8).hex()}"))
    os.replace(path + aside, path)
    return path


def keep_text(name: str, text: str) -> str:
    """Keep a text that a visitor typed as if it were uploaded, and return its path."""
    content = text.encode("utf-8", "replace")
    path = os.path.join(get_folder(), hashlib.sha256(content).hexdigest(), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(content)
    return path


# The paths that requests name


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
        ways = "pass handle_file(path) of gradio_client, or the path that its upload returned"
        raise ValueError(f"{what} is not an uploaded file: {ways}")
    if not os.path.isfile(path):
        raise ValueError(f"{what}: {os.path.basename(path)[:100]} is no longer there: upload it again")
    return path


def take_all(files: Any, what: str) -> list[str]:
    """Check the files of an argument: see `take`. ValueError: also if there are too many."""
    listed = files if isinstance(files, list) and files else [files]
    if len(listed) > limits.MAX_SUBMISSIONS:
        raise ValueError(f"{what} has more than {limits.MAX_SUBMISSIONS} files: score them with anls on your computer")
    return [take(file, what) for file in listed]


def is_small(paths: Sequence[str]) -> bool:
    """Whether all files of a call together are small: they do not wait for large ones."""
    return sum(map(os.path.getsize, paths)) < limits.SMALL


def _is_upload(path: str) -> bool:
    """Whether a path is that of an upload: the folder of uploads, 64 hexadecimal digits, a name."""
    folder, content = os.path.split(os.path.dirname(path))
    return folder == get_folder() and len(content) == 64 and set(content) <= _HEXADECIMAL


# Reports. The path of a report is its key, so it has 64 random digits.


def name_report() -> str:
    """Choose the path of a new report."""
    return os.path.join(get_folder(), _REPORTS, os.urandom(32).hex(), _REPORT)


def is_report(path: str) -> bool:
    """Whether a path is that of a report, which the visitor's browser may fetch."""
    digits = os.path.basename(os.path.dirname(path))
    is_key = len(digits) == 64 and set(digits) <= _HEXADECIMAL
    return is_key and path == os.path.join(get_folder(), _REPORTS, digits, _REPORT)
