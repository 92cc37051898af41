"""Reads a file, a folder, or the files that match a pattern as one table, and finds the layout of the table."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from anls_metric.core.checks import find_similar_name
from anls_metric.core.names import get_stem, natural_key
from anls_metric.messages import InputError, Message, MissingFileError, list_some, make_error
from anls_metric.options import RUNS, Settings
from anls_metric.reading.formats import MAX_UNPACKED, get_extension, read_bytes, read_record, read_text
from anls_metric.reading.laid_out import apply_layout
from anls_metric.reading.records import FILE, VALUE
from anls_metric.reading.table import Table


def read_table(path: str, settings: Settings, of_values: bool = False) -> Table:
    """Read a file, a folder, the files that match a pattern like ``shards/*.jsonl``, or standard input (``-``) as a
    table, and find its layout.

    Raises:
        InputError: the content cannot be read. OSError: a file cannot be opened.
    """
    return apply_layout(load_table(path), settings, of_values)


def load_table(path: str) -> Table:
    """Read the same input as `read_table`, but without finding a layout."""
    files = list_files(path)
    return read_file(path) if files is None else _read_parts(path, files)


def read_file(path: str) -> Table:
    """Read one file, or standard input (``-``)."""
    if path == "-":
        if sys.stdin is None:
            raise make_error("", "standard input is closed: pipe the file into the command, or pass its path")
        return read_bytes(_read_whole(sys.stdin.buffer, "standard input"), "standard input")
    if not os.path.exists(path):
        raise describe_missing_file(path)
    if path.lower().endswith(RUNS):
        raise make_error(path, "it is a run, which is scored already: {do.open_run}")
    return read_bytes(load_bytes(path), path)


def load_bytes(path: str) -> bytes:
    """Read the content of a file. Raises InputError if the file is a device or a pipe with too much data, and OSError
    if the file cannot be read.
    """
    with open(path, "rb") as file:
        return _read_whole(file, path)


def _read_whole(file: BinaryIO, name: str) -> bytes:
    try:
        mode = os.fstat(file.fileno()).st_mode
    except io.UnsupportedOperation:  # a stream in memory
        return file.read()
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise make_error(name, "it is a device: pass a file, or pipe the data into the command")
    try:
        data = file.read(-1 if stat.S_ISREG(mode) else MAX_UNPACKED + 1)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None
    if len(data) > MAX_UNPACKED and not stat.S_ISREG(mode):
        raise make_error(name, "the piped input exceeds {most} GB: pass a file instead", most=MAX_UNPACKED // 10**9)
    return data


def describe_missing_file(path: str) -> MissingFileError:
    """Create the error for a path that does not exist, with the name of a similar file if there is one."""
    folder, name = os.path.split(path)
    similar = ""
    with suppress(OSError, ValueError):  # a path can contain a null character
        stems = {os.path.splitext(each)[0]: each for each in sorted(os.listdir(folder or "."))}
        similar = stems.get(find_similar_name(os.path.splitext(name)[0], stems), "")
    remedy = f": did you mean {os.path.join(folder, similar)}?" if similar else ""
    if "://" in path:
        remedy = ": download the file, and pass its path"
    return MissingFileError(Message("", "{path} does not exist{remedy}", {"path": path, "remedy": remedy}))


_TEXTS = (".txt", ".md")
_PARTS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".json")


def list_files(path: str) -> list[str] | None:
    """List the files in a folder, or the files that match a pattern, in natural order ("part 2" before "part 10").
    Returns None for the path of a single file.

    Raises:
        InputError: there are no files to read, the folder contains several splits, or the files have several formats.
    """
    is_folder = os.path.isdir(path)
    if not is_folder and (os.path.exists(path) or not any(sign in path for sign in "*?[")):
        return None
    import glob  # only for patterns

    files = sorted(glob.glob(os.path.join(glob.escape(path), "*") if is_folder else path), key=natural_key)
    if not files:
        raise make_error(path, "it is an empty folder" if is_folder else "no file matches this pattern")
    names = list(map(os.path.basename, files))
    if "dataset_dict.json" in names:
        splits = list_some(name for name, file in zip(names, files) if os.path.isdir(file))
        raise make_error(path, "it contains several splits: pass the folder of one of them ({splits})", splits=splits)
    extensions = (".arrow",) if "state.json" in names else _PARTS  # of datasets.save_to_disk
    parts = [file for file in files if get_extension(file) in extensions]
    parts = parts or [file for file in files if get_extension(file) in _TEXTS]  # each a page or a document
    if len(set(map(get_extension, parts))) != 1:
        raise _error_of_parts(path, files)
    return parts


def _error_of_parts(path: str, files: Sequence[str]) -> InputError:
    """Create the error for a folder or a pattern with several kinds of files, and suggest one kind in the order of
    preference.
    """
    from pathlib import Path  # only for errors

    names = list_some(map(os.path.basename, files))
    inside = [file for folder in files if os.path.isdir(folder) for file in sorted(map(str, Path(folder).rglob("*.*")))]
    own = _choose_kind(files) or _choose_kind(inside)
    if not own:
        sentence = "{names} are no files of answers: pass a file such as JSON, CSV or text, or a folder of them"
        return make_error(path, sentence, names=names)
    kind = get_extension(own[0])
    start = re.sub(r"\d+$", "", os.path.commonprefix([os.path.splitext(file)[0] for file in own]))  # noqa: RUF071
    if own[0] in inside:
        start = os.path.join(path, *["*"] * (len(Path(own[0]).relative_to(path).parts) - 1), "")
    pattern = own[0] if len(own) == 1 else f"{start}*{kind}"
    sentence = (
        "{names} are not parts of one table: pass one file, or a pattern that all parts match, such as '{pattern}'"
    )
    return make_error(path, sentence, names=names, pattern=pattern)


def _choose_kind(files: Sequence[str]) -> list[str]:
    """Choose the files of one kind in the order of preference, from JSON lines to JSON and, last, text."""
    kinds = (*_PARTS, *_TEXTS)
    kind = min({*map(get_extension, files)} & {*kinds}, key=kinds.index, default=None)
    return [file for file in files if get_extension(file) == kind]


def _read_parts(path: str, files: Sequence[str]) -> Table:
    """Read several files as one table. Each file that contains records must share a field with the first."""
    records = _read_records(files)
    if records:
        return Table(records, path, lambda number: os.path.basename(files[number]))
    parts = list(map(read_file, files))
    fields = [set(part.records[0]) for part in parts if part.records and isinstance(part.records[0], dict)]
    if any(each.isdisjoint(fields[0]) for each in fields):
        raise _error_of_parts(path, files)

    def locate(number: int) -> str:
        for file, part in zip(files, parts):
            if number < len(part.records):
                return f"{os.path.basename(file)}, {part.locate(number)}"
            number -= len(part.records)
        raise IndexError(number)

    records = [record for part in parts for record in part.records]
    has_roots = any(part.root is not None for part in parts)
    root = [part.records if part.root is None else part.root for part in parts] if has_roots else None
    return Table(records, path, locate, hints=[hint for part in parts for hint in part.hints], root=root)


def _read_records(files: Sequence[str]) -> list[dict[str, Any]]:
    """Read one record from each file if every file contains a single JSON object or text, or return [] for other files.

    Each record has the name of its file. Raises InputError if only a few files do not contain an object, for example
    because an answer was cut off.
    """
    records: list[dict[str, Any]] = []
    others: list[str] = []
    extension = get_extension(files[0])
    stem_of = _name_files(files)
    for file in files if extension in (".json", *_TEXTS) else ():
        record = read_record(load_bytes(file), file)
        if record is None:
            others.append(file)
        else:
            records.append({FILE: stem_of[file], **record})
        if len(others) > len(records) + 1:  # tables, which are not read in full just to find this out
            break
    if len(records) < _RECORDS_FOR_EACH_OTHER * len(others):
        return _read_texts(files) if extension in _TEXTS else []
    if others:
        sentence = (
            "it is not a JSON object, unlike {count:,} other files: repair it, or remove it and add {use.missing:zero}"
        )
        raise make_error(others[0], sentence, count=len(records))
    return records


def _read_texts(files: Sequence[str]) -> list[dict[str, Any]]:
    """Read files that each contain one text, such as the text of a page, as one record per file."""
    records = []
    stem_of = _name_files(files)
    for file in files:
        with open(file, "rb") as stream:
            records.append({FILE: stem_of[file], VALUE: read_text(stream.read(), file)})
    return records


def _name_files(files: Sequence[str]) -> dict[str, str]:
    """Name files after their stems or, if stems repeat, after their paths (without extension) relative to their common
    folder.
    """
    stems = {file: get_stem(file) for file in files}
    if len({*stems.values()}) == len(stems):
        return stems
    folder = os.path.commonpath(list(map(os.path.dirname, files)))
    return {file: os.path.relpath(os.path.join(os.path.dirname(file), stems[file]), folder or ".") for file in files}


_RECORDS_FOR_EACH_OTHER = 4  # records for each other file; with fewer, the others are not just broken records
