"""Splits answers with repeated ids into the runs of one model: samples, seeds or epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from anls_metric.reading import long_tables, remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import Chunk, list_some
from anls_metric.reading.join import RepeatedIdsError
from anls_metric.reading.layouts import Layout
from anls_metric.reading.records import find_shards
from anls_metric.reading.repeats import KEEP_LAST, RETRIED, Doubt, are_retries
from anls_metric.reading.sources import Source, first_of, roles_of

Choice = TypeVar("Choice")

ERROR, QUESTION = "error", "question"
"""The possible values of `Reading.runs`, besides None."""


def split_runs(source: Source, error: RepeatedIdsError) -> dict[str, Source]:
    """Split a file with repeated ids into runs.

    The answers are runs if `Reading.runs` says so, or if every id occurs equally often and records with the same id
    differ in no field but one like "epoch". Several files may be models: without such a field, they are no runs.

    Args:
        source: the file.
        error: the error to raise if they are not runs.

    Returns:
        A source for each run by its name: the epoch, or else its number. Each id occurs once in a run.
    """
    again = source.reopen()
    is_refused = source.reading.runs == ERROR or (source.reading.rule and source.reading.runs is None)
    if again is None or is_refused:
        raise error
    chunks = again.hold()
    ids = [again.ids(chunk) for chunk in chunks]
    everywhere = [question_id for column in ids for question_id in column]
    records = [record for chunk in chunks for record in chunk.records]
    own = again.layout.run_field
    field = long_tables.find_splitting_field(everywhere, records, roles_of(again.layout), own)
    tells_runs = field is not None and long_tables.is_run_field(field, own)
    counts = set(Counter(everywhere).values())
    has_parts = len(find_shards(source.records.path) or ()) > 1
    retried = are_retries(everywhere, map(again.read_first, records))
    are_runs = (
        not retried
        and (tells_runs or (field is None and not has_parts))
        and len(counts) == 1
        and _ask_the_same(again.layout, everywhere, records)
    )
    if again.reading.runs != QUESTION and not are_runs:
        raise error
    by_field = field if tells_runs and len(counts) == 1 else None
    keys = _number_repetitions(ids) if by_field is None else _read_keys(chunks, by_field)
    parts = again.split_by(keys)
    times = f"{max(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    of = f": {list_some(f'{by_field} {name}' for name in parts)}" if by_field else ""
    note = f"each question has {times} answers, which are scored as runs of one model{of}"
    if again.reading.runs != QUESTION and by_field is None:
        note += "; if they are not runs, keep one answer for each question"
    first = next(iter(parts.values()))
    first.notes.append(note)
    first.doubts += [Doubt(RETRIED, KEEP_LAST)] if retried else []
    return parts


def _ask_the_same(layout: Layout, ids: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether records with the same id have the same question and accepted answers, if they have any."""
    texts = [repr([first_of(record, paths) for paths in (layout.question, layout.references)]) for record in records]
    return len(set(zip(ids, texts))) == len(set(ids))


def _read_keys(chunks: Sequence[Chunk], field: str) -> list[list[str]]:
    return [[str(record[field]) for record in chunk.records] for chunk in chunks]


def _number_repetitions(ids: Sequence[Sequence[str]]) -> list[list[str]]:
    """Number the occurrences of each id.

    Example:
        >>> _number_repetitions([["7", "8"], ["7"]])
        [['1', '1'], ['2']]
    """
    counts: Counter[str] = Counter()

    def number(question_id: str) -> str:
        counts[question_id] += 1
        return str(counts[question_id])

    return [list(map(number, column)) for column in ids]


def choose_run(runs: Mapping[str, Choice], run: str, name: str) -> Choice:
    """Choose a run by its name, or by its number from 1.

    Raises:
        InputError: there is no such run.
    """
    if run in runs:
        return runs[run]
    if run.isdecimal() and 0 < int(run[:9]) <= len(runs):
        return list(runs.values())[int(run) - 1]
    raise InputError(f"there is no run {run!r} (found {list_some(runs)})", name, remedies.RUN)
