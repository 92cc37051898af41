"""What a visitor uploaded: which file it is, and its rows within the limits of a page."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anls_metric.analysis.evaluation import fields_of
from anls_metric.page import limits
from anls_metric.reading.join import Row
from anls_metric.reading.records import Records
from anls_metric.reading.sources import Reading, Source
from anls_metric.reading.submissions import Submission, find_submissions
from anls_metric.reading.values import format_value

# Where the server puts an upload: in a folder that is named after its content, so that the same file of two visitors
# is one. Nothing here moves it or changes it.
_SHAPE = re.compile(r"[0-9a-f]{64}/[^/\0]+")

FILE_ADDRESS = "/gradio_api/file="
"""What stands before the path in the address of an upload."""

_PACKED = (".parquet", ".pq", ".arrow", ".gz", ".bz2", ".xz", ".xlsx", ".eval")
_ROW = 500  # bytes that a row takes besides its record


def get_folder() -> str:
    """Get the folder that the server puts uploads into."""
    return os.environ["GRADIO_TEMP_DIR"]


@dataclass(frozen=True)
class Upload:
    """A file that a visitor uploaded.

    Attributes:
        path: where it is. It may go at any time: then it has to be uploaded again.
    """

    path: str

    @property
    def name(self) -> str:
        """What the visitor calls it."""
        return Path(self.path).name

    @property
    def is_packed(self) -> bool:
        """Whether there may be more in it than its size says."""
        return self.name.lower().endswith(_PACKED)

    @property
    def size(self) -> int:
        """Its bytes. OSError: it is gone."""
        return os.path.getsize(self.path)

    def records(self) -> Records:
        """Its records, under the name that the visitor knows.

        Raises:
            ValueError: it has too many values. OSError: it is gone.
        """
        with open(self.path, "rb") as stream:
            values = sum(map(limits.count_values, iter(partial(stream.read, 1 << 20), b"")))
        if values > limits.MOST_VALUES_IN_FILE and not self.is_packed:
            raise ValueError(f"{self.name} has more than {limits.MOST_VALUES_IN_FILE:,} values: {limits.WITH_COMMAND}")
        records = Records(self.path, most_bytes=limits.MOST_UNPACKED)
        records.name = self.name
        return records


def open_all(uploads: Sequence[Upload], gold: Upload | None) -> dict[str, Records]:
    """The records of uploads, by path.

    Raises:
        ValueError: there are too many, or one has too many values. OSError: one is gone.
    """
    paths = dict.fromkeys(upload.path for upload in uploads)
    if len(paths) > limits.MOST_SUBMISSIONS:
        raise ValueError(f"these are more than {limits.MOST_SUBMISSIONS} files: {limits.WITH_COMMAND}")
    return {path: Upload(path).records() for path in [*paths, *([gold.path] if gold else [])]}


def list_columns(files: Iterable[Records]) -> list[str]:
    """The fields of the first records of files, without those that a page cannot show.

    Raises:
        ValueError: what is wrong with a file. OSError: it is gone.
    """
    firsts = [(next(iter(records.first_records()), {}), records.fields) for records in files]
    names = dict.fromkeys(name for first, fields in firsts for name in fields or first)
    return list(filter(is_showable, names))[: limits.MOST_COLUMNS]


def is_showable(name: str) -> bool:
    """Whether the name of a field can be picked on a page: not with half of a surrogate pair, nor page-long."""
    return len(name) <= 1_000 and (name.isascii() or name.encode("utf-8", "ignore").decode() == name)


def take(path: str | None, uploads: str, what: str) -> Upload:
    """The upload at a path that a visitor's request names.

    Args:
        path: the path. Only a file that was uploaded is taken, no folder and no link.
        uploads: the folder that the server puts uploads into.
        what: what to call it in an error.

    Raises:
        ValueError: it is no upload, or too large. OSError: it is gone.
    """
    if not path:
        raise ValueError(f"{what} is missing: upload a file")
    inside = os.path.relpath(os.path.abspath(path), os.path.abspath(uploads)).replace(os.sep, "/")
    if not _SHAPE.fullmatch(inside):
        raise ValueError(f"{what} is no file that was uploaded: upload it")
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{what} is no file that was uploaded: upload it")
    if status.st_size > limits.MOST_BYTES:
        raise ValueError(f"{Path(path).name} is larger than {limits.MOST_BYTES >> 20} MB: {limits.WITH_COMMAND}")
    return Upload(os.path.abspath(path))


def save_data_url(url: str, uploads: str) -> str:
    """Save the content of a data: URL as an upload.

    Returns:
        Its path.

    Raises:
        ValueError: it is no data: URL in base64.
    """
    kind, mark, content = url.removeprefix("data:").partition(";base64,")
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError:
        mark = ""
    if not mark:
        raise ValueError("the data: URL is not in base64: upload the file")
    extension = mimetypes.guess_extension(kind.partition(";")[0]) or ""
    path = Path(uploads, hashlib.sha256(data).hexdigest(), f"file{extension}")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return str(path)


def make_room(uploads: str, most: int = limits.MOST_UPLOADED, seconds: float = limits.KEPT_SECONDS) -> None:
    """Delete uploads, the oldest first, until the rest takes at most `most` bytes and none is older than `seconds`.

    What an interrupted upload left behind goes in the same way.
    """
    files = []
    for path in Path(uploads).rglob("*"):
        try:
            about = path.lstat()
        except OSError:  # somebody else deleted it
            continue
        if not stat.S_ISDIR(about.st_mode):
            files.append((about.st_mtime, about.st_size, path))
    files.sort(reverse=True)
    oldest, room = time.time() - seconds, most
    for changed, size, path in files:
        room -= size
        if room < 0 or changed < oldest:
            path.unlink(missing_ok=True)


def find(
    uploads: Sequence[Upload], gold: Upload | None, reading: Reading, opened: Mapping[str, Records]
) -> list[Submission]:
    """The submissions that uploads are, in whatever order they came.

    Args:
        uploads: files that hold both sides each, or submissions; among these the gold file, where `gold` is None.
        gold: the file with the accepted answers.
        reading: how they are to be read.
        opened: their records, see `open_all`: what was looked at goes on from there, so that a file is read once.

    Raises:
        ValueError: something lacks, or cannot be read. OSError: one is gone.
    """
    paths, waiting = list(dict.fromkeys(upload.path for upload in uploads)), dict(opened)
    if gold is None and len(paths) > 1:
        paths.sort(key=lambda path: not _is_gold(waiting[path], reading))

    def records(path: str) -> Records:
        return waiting.pop(path, None) or Upload(path).records()

    return find_submissions(paths, gold.path if gold else None, (), reading, fields_of((), None), records)


def _is_gold(records: Records, reading: Reading) -> bool:
    """Whether a file has accepted answers alone."""
    source = Source(records, reading)
    return bool(source.try_side("both").references) and not source.has_both_sides()


class Budget:
    """What the files of one call may take: memory, and time to compare them. Each file takes its share."""

    def __init__(self) -> None:
        self._size = self._work = 0

    def read_batches(self, submission: Submission) -> Iterator[list[Row]]:
        """Read the rows of a submission, as long as they are within the limits.

        Raises:
            ValueError: what is wrong with a file, or that it is too large. OSError: a file is gone.
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
