"""Stores the uploads of visitors, and reads their rows within the limits of the page."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import os
import secrets
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from anls_metric.page import limits
from anls_metric.reading.batch import Batch
from anls_metric.reading.records import Records
from anls_metric.reading.submissions import Submission
from anls_metric.reading.values import format_value

_HEXADECIMAL = set("0123456789abcdef")

FILE_ADDRESS = "/gradio_api/file="
"""The part of the URL of an upload before its path."""

_PACKED = (".parquet", ".pq", ".arrow", ".gz", ".bz2", ".xz", ".xlsx", ".eval")
_ROW = 500  # bytes that a row takes besides its record


def get_folder() -> str:
    """Get the folder of all uploads."""
    return os.environ["GRADIO_TEMP_DIR"]


@dataclass(frozen=True)
class Upload:
    """A file that a visitor uploaded.

    Attributes:
        path: the path of the file. It may be deleted at any time, and must then be uploaded again.
    """

    path: str

    @property
    def name(self) -> str:
        """The name that the visitor gave to the file."""
        return Path(self.path).name

    @property
    def is_packed(self) -> bool:
        """Whether the content may be larger than the file, because it is packed."""
        return self.name.lower().endswith(_PACKED)

    @property
    def size(self) -> int:
        """The number of bytes. OSError: the file is gone."""
        return os.path.getsize(self.path)

    def records(self) -> Records:
        """Open the records of the file, with the visitor's name for errors.

        Raises:
            ValueError: the file has too many values. OSError: it is gone.
        """
        with open(self.path, "rb") as stream:
            values = sum(map(limits.count_values, iter(partial(stream.read, 1 << 20), b"")))
        if values > limits.MOST_VALUES_IN_FILE and not self.is_packed:
            raise ValueError(f"{self.name} has more than {limits.MOST_VALUES_IN_FILE:,} values: {limits.WITH_COMMAND}")
        records = Records(self.path, most_bytes=limits.MOST_UNPACKED)
        records.name = self.name
        return records


def list_uploads(values: Mapping[str, Any]) -> list[Upload]:
    """List the uploads among the arguments of a call."""
    groups = [value if isinstance(value, (list, tuple)) else [value] for value in values.values()]
    return [value for group in groups for value in group if isinstance(value, Upload)]


def are_large(values: Mapping[str, Any]) -> bool:
    """Whether the uploads among the arguments of a call may take long. OSError: a file is gone."""
    return sum(upload.size for upload in list_uploads(values)) > limits.SMALL_FILES


def open_all(
    uploads: Sequence[Upload], gold: Upload | None
) -> tuple[dict[str, Records], dict[str, ValueError | OSError]]:
    """Open uploads.

    Returns:
        The records by path, and the errors of files that cannot be read, have too many values or are gone.

    Raises:
        ValueError: there are too many uploads.
    """
    paths = dict.fromkeys(upload.path for upload in uploads)
    if len(paths) > limits.MOST_SUBMISSIONS:
        raise ValueError(f"these are more than {limits.MOST_SUBMISSIONS} files: {limits.WITH_COMMAND}")
    opened: dict[str, Records] = {}
    broken: dict[str, ValueError | OSError] = {}
    for path in [*paths, *([gold.path] if gold else [])]:
        try:
            records = Upload(path).records()
            records.first_records()
        except (ValueError, OSError) as error:
            broken[path] = error
        else:
            opened[path] = records
    return opened, broken


def list_columns(files: Iterable[Records]) -> list[str]:
    """List the fields of the first records of files, without names that the page cannot show."""
    firsts = [(next(iter(records.first_records()), {}), records.fields) for records in files]
    names = dict.fromkeys(name for first, fields in firsts for name in fields or first)
    return list(filter(is_showable, names))[: limits.MOST_COLUMNS]


def is_showable(name: str) -> bool:
    """Whether the page can show the name of a field: it is short, and has no half of a surrogate pair."""
    return len(name) <= 1_000 and (name.isascii() or name.encode("utf-8", "ignore").decode() == name)


def take(path: str | None, uploads: str, what: str) -> Upload:
    """Find the upload at a path that a request names.

    Args:
        path: the path. It must be an uploaded file; folders and links are refused.
        uploads: the folder of all uploads.
        what: the name of the argument in an error.

    Raises:
        ValueError: the path is not an upload, or the file is too large. OSError: it is gone.
    """
    if not path:
        raise ValueError(f"{what} is missing: upload a file")
    if not _is_in_place(path, uploads) or not stat.S_ISREG((status := os.lstat(path)).st_mode):
        raise ValueError(f"{what} is no file that was uploaded: upload it")
    if status.st_size > limits.MOST_BYTES:
        raise ValueError(f"{Path(path).name} is larger than {limits.MOST_BYTES >> 20} MB: {limits.WITH_COMMAND}")
    return Upload(os.path.abspath(path))


def _is_in_place(path: str, uploads: str) -> bool:
    """Whether a path is in a folder of an upload, whose name is the hash of its content in 64 hexadecimal digits."""
    if len(path) > limits.MOST_PATH or "\0" in path:
        return False
    folder, content, _ = ["", "", *os.path.abspath(path).rsplit(os.sep, 2)][-3:]
    return folder == os.path.abspath(uploads) and len(content) == 64 and set(content) <= _HEXADECIMAL


def save_data_url(url: str, uploads: str) -> str:
    """Save the content of a data: URL as an upload.

    Returns:
        The path of the upload.

    Raises:
        ValueError: the text is not a data: URL in base64.
    """
    kind, mark, content = url.removeprefix("data:").partition(";base64,")
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError:
        mark = ""
    if not mark:
        raise ValueError("the data: URL is not in base64: upload the file")
    extension = mimetypes.guess_extension(kind.partition(";")[0]) or ""
    path = Path(uploads, secrets.token_hex(32), f"file{extension}")
    path.parent.mkdir()
    path.write_bytes(data)
    return str(path)


def delete(path: str) -> None:
    """Delete an upload, and its folder if it is empty."""
    with suppress(OSError):  # it was already deleted
        os.unlink(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))


class Uploads:
    """The uploads of all visitors, the oldest first. Old uploads are deleted to make room for new ones.

    Args:
        folder: the folder of the uploads.
        most: the limit for the bytes of all uploads, including those in progress.
        most_files: the limit for the number of files.
        seconds: how long an upload is kept.
    """

    def __init__(
        self,
        folder: str,
        most: int = limits.MOST_UPLOADED,
        most_files: int = limits.MOST_FILES,
        seconds: float = limits.KEPT_SECONDS,
    ) -> None:
        self._folder, self._most, self._most_files, self._seconds = folder, most, most_files, seconds
        self._lock = threading.Lock()
        self._files: dict[str, tuple[float, int]] = {}  # path -> when it was uploaded, and its size
        self._size = self._reserved = 0

    def hold(self, size: int) -> None:
        """Reserve room for bytes of an upload in progress; a negative number releases room.

        Raises:
            ValueError: there is no room.
        """
        with self._lock:
            self._reserved += size
            if size > 0 and self._reserved > self._most:
                raise ValueError(limits.BUSY)
            self._make_room()

    def keep(self, stream: IO[bytes], name: str) -> str:
        """Store a file under the visitor's name for it. Equal files of two visitors are stored once.

        Returns:
            The path of the upload.

        Raises:
            ValueError: the file is too large. OSError: there is no room for it.
        """
        name = clean_name(name)
        size = stream.seek(0, os.SEEK_END)
        if size > limits.MOST_BYTES:
            raise ValueError(f"{name} is larger than {limits.MOST_BYTES >> 20} MB: {limits.WITH_COMMAND}")
        stream.seek(0)
        content = hashlib.sha256()
        for piece in iter(partial(stream.read, 1 << 20), b""):
            content.update(piece)
        stream.seek(0)
        path = os.path.join(self._folder, content.hexdigest(), name)
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
            try:
                shutil.copyfileobj(stream, file, 1 << 20)
                file.flush()
                with self._lock:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    os.replace(file.name, path)
                    _, before = self._files.pop(path, (0, 0))
                    self._files[path] = time.monotonic(), size
                    self._size += size - before
                    self._make_room()
            except BaseException:
                os.unlink(file.name)
                raise
        return path

    def make_room(self) -> None:
        """Delete uploads that are too old or too many."""
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        oldest = time.monotonic() - self._seconds
        while self._files:
            path, (came, size) = next(iter(self._files.items()))
            if came > oldest and self._size + self._reserved <= self._most and len(self._files) <= self._most_files:
                return
            del self._files[path]
            self._size -= size
            delete(path)


def clean_name(name: str) -> str:
    r"""Clean the name of a file: remove characters that a system or a shell may not accept.

    Example:
        >>> clean_name("C:\\logs\\my run.json"), clean_name("../.."), clean_name("a\x00b?.csv")
        ('my run.json', 'file', 'ab.csv')
    """
    name = name.replace("\\", "/").rpartition("/")[2]
    name = "".join(filter(_is_plain, name)).strip(" .").encode("utf-8", "ignore").decode()
    stem, extension = os.path.splitext(name)
    if len(extension) > 20:
        stem, extension = name, ""
    return (stem.encode()[:200].decode(errors="ignore") or "file") + extension


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in '<>:"|?*`$!{}'


class Budget:
    """The memory and the comparison time that remain for the files of one call. Each file uses some of it."""

    def __init__(self) -> None:
        self._size = self._work = 0

    def read_batches(self, submission: Submission) -> Iterator[Batch]:
        """Read the rows of a submission within the limits.

        Raises:
            ValueError: a file cannot be read, or is too large. OSError: a file is gone.
        """
        count, name = 0, submission.questions_name
        for rows in submission.batches():
            for row in rows:
                what = f"{name}, question {row.id}"
                texts = map(format_value, row.references)
                self._work += limits.refuse_too_long(format_value(row.prediction or ""), list(texts), what)
                self._size += limits.measure_memory(row.prediction) + limits.measure_memory(row.record) + _ROW
            count += len(rows)
            if count > limits.MOST_QUESTIONS:
                raise ValueError(f"{name} has more than {limits.MOST_QUESTIONS:,} questions: {limits.WITH_COMMAND}")
            if self._size > limits.MOST_UNPACKED:
                most = f"{limits.MOST_UNPACKED // 10**6} MB"
                raise ValueError(f"{name} takes more than {most} once it is read: {limits.WITH_COMMAND}")
            if self._work > limits.MOST_COMPARED_IN_FILE:
                raise ValueError(f"{name} has more to compare than others would wait for: {limits.WITH_COMMAND}")
            yield rows
