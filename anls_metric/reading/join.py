"""Records become rows: a gold file and a submission joined by id, or one file that holds both sides.

Rows come in batches, one for each chunk of records.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from anls_metric.reading import remedies
from anls_metric.reading.files import some
from anls_metric.reading.records import Records
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.rows import InputError, Row
from anls_metric.reading.sources import Reading, Source, as_gold, as_submission


class Questions:
    """The questions of a gold file, which several submissions answer: the file is read once.

    Args:
        gold: the file with the id and the accepted answers of each question.
        keep: whether the questions are kept for further submissions; else they are streamed.
    """

    def __init__(self, gold: Source, keep: bool = False) -> None:
        self.source = gold
        self._batches: list[Batch] | None = [] if keep else None
        self._is_read = False

    def batches(self) -> Iterator[Batch]:
        """The questions in the order of the file.

        Raises:
            InputError: what is wrong in the file: an id that is no id or comes twice, no accepted answers.
        """
        if self._is_read and self._batches is not None:
            yield from self._batches
            return
        known = _Ids()
        source = as_gold(self.source)
        for chunk in source.chunks():
            ids = source.ids(chunk)
            references = source.references(chunk, _by_question(source, ids), _TEST_SPLIT)
            known.add(ids)
            batch = ids, references, source.rows_records(chunk)
            if self._batches is not None:
                self._batches.append(batch)
            yield batch
        _refuse_repeated(source, known)
        self._is_read = True


# The ids of some questions, their accepted answers and their records.
Batch = tuple[list[str], list[Sequence[str]], Sequence[Mapping[str, Any]]]


def join_files(
    gold: str | Records | Source | Questions, submission: str | Records | Source, reading: Reading | None = None
) -> Iterator[list[Row]]:
    """The questions of a gold file, in its order, each with the answer of a submission file.

    They are joined by id. Where both files are JSON lines, CSV or Parquet and come in the same order, memory
    stays small however long they are, but for 8 bytes an id; answers that come earlier than their question are
    kept until it comes.

    Args:
        gold: a file with an id and the accepted answers of each question: its path, "-" for standard input, its
            `Records`, its `Source` or its `Questions`.
        submission: a file with an id and the answer of each, likewise.
        reading: how they are to be read.

    Yields:
        Batches of `Row`. What is wrong with the whole is raised at the end: take no result before it.

    Raises:
        InputError: what is wrong, in which file, at which id or line: ids that come twice, that are missing, that
            the other file does not have; a question without accepted answers; an answer that is not a string;
            a file that is not what its name says. OSError: a file that cannot be read.
    """
    reading = reading or (submission.reading if isinstance(submission, Source) else Reading())
    questions = gold if isinstance(gold, Questions) else Questions(_source(gold, reading))
    gold, submission = questions.source, _source(submission, reading)
    if gold.records.path == submission.records.path == "-":
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    _refuse_swapped(gold, submission)
    answers = _Answers(as_submission(submission))
    asked = _Ids()
    unanswered: list[str] = []
    count = 0
    for ids, references, records in questions.batches():
        asked.add(ids)
        predictions = answers.to(ids)
        if len(predictions) < len(ids):
            unanswered += [question_id for question_id in ids if question_id not in predictions]
        count += len(ids)
        yield make_rows(ids, map(predictions.get, ids), references, records, answers.written(ids))
    early = answers.rest()
    surplus = asked.others(early) if early else []
    common = count - len(unanswered)
    if 2 * common < min(count, answers.count):
        found = f"few of its ids ({some(surplus)}) are those of {gold.name} ({some(unanswered)}): ids of another kind"
        raise submission.records.error(found, remedy="write the same ids in both")
    if len(surplus) < len(early):
        not_asked = set(surplus)
        twice = [question_id for question_id in early if question_id not in not_asked]
        raise submission.records.error(
            f"{_number(len(twice), 'question')} answered more than once ({some(twice)})", remedy="keep one answer"
        )
    if surplus and reading.extra != "ignore":
        raise submission.records.error(
            f"{_number(len(surplus), 'answer')} to questions that {gold.name} does not have ({some(surplus)})",
            remedy=remedies.EXTRA,
        )
    if unanswered and reading.missing != "zero":
        raise submission.records.error(
            f"no answer to {len(unanswered)} of the questions of {gold.name} ({some(unanswered)})",
            remedy=remedies.MISSING,
        )


_TEST_SPLIT = "the test splits have none, the competition's site scores them"


def _refuse_swapped(gold: Source, submission: Source) -> None:
    if submission.layout.references and not submission.layout.prediction and not gold.layout.references:
        raise InputError(
            f"the file of gold labels has no accepted answers, and {submission.name} has: they look swapped",
            gold.name,
            "name them the other way round",
        )


def read_table(table: str | Records | Source, reading: Reading | None = None) -> Iterator[list[Row]]:
    """The questions of one file that holds predictions and accepted answers.

    Args:
        table: the file: its path, "-" for standard input, its `Records` or its `Source`.
        reading: how it is to be read. Where it has no id, its records are numbered from 1.

    Yields:
        Batches of `Row`, streamed. What is wrong with the whole is raised at the end.

    Raises:
        InputError: what is wrong and where. OSError: the file cannot be read.
    """
    table = _source(table, reading or Reading())
    ids_before = _Ids()
    count = 0
    for chunk in table.chunks():

        def where(number: int, chunk: Any = chunk) -> str:
            return f"{table.name}, {chunk.place(number)}"

        predictions = table.predictions(chunk, where)
        references = table.references(chunk, where, remedies.REFERENCES_FIELD)
        if table.layout.id:
            ids = table.ids(chunk)
            ids_before.add(ids)
        else:
            ids = list(map(str, range(count + 1, count + 1 + len(chunk.records))))
        count += len(ids)
        yield make_rows(ids, predictions, references, table.rows_records(chunk), table.written(chunk))
    _refuse_repeated(table, ids_before, remedies.SEVERAL_IDS)


def make_rows(
    ids: Iterable[str],
    predictions: Iterable[str | None],
    references: Iterable[Sequence[str]],
    records: Iterable[Mapping[str, Any]],
    written: Iterable[str | None],
) -> list[Row]:
    """Columns as rows: `map(Row, ...)`, in a third of its time."""
    return list(map(tuple.__new__, repeat(Row), zip(ids, predictions, references, records, written)))


def _by_question(source: Source, ids: Sequence[str]) -> Callable[[int], str]:
    """Where a record stands, by the id of its question."""
    return lambda number: f"{source.name}, question {ids[number]}"


def _source(file: str | Records | Source, reading: Reading) -> Source:
    return file if isinstance(file, Source) else Source(file, reading)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


class _Answers:
    """The answers of a submission, by id: those that came earlier than their question are kept until it comes."""

    def __init__(self, submission: Source) -> None:
        self.count = 0
        self._submission = submission
        self._chunks = submission.chunks()
        self._early: dict[str, str | None] = {}
        self._written: dict[str, str | None] = {}  # where answers are taken out of that

    def to(self, ids: list[str]) -> dict[str, str | None]:
        """The answers to these questions; those without one in the whole file are left out."""
        early = self._early
        while not all(map(early.__contains__, ids)) and self._read():
            pass
        answered = dict.fromkeys(filter(early.__contains__, ids))
        return dict(zip(answered, map(early.pop, answered)))

    def written(self, ids: list[str]) -> Iterable[str | None]:
        """What the model wrote to these questions, see `Source.written`."""
        return [self._written.pop(one, None) for one in ids] if self._written else repeat(None)

    def rest(self) -> dict[str, str | None]:
        """The answers that nobody has asked for."""
        while self._read():
            pass
        return self._early

    def _read(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        source = self._submission
        ids = source.ids(chunk)
        answers = source.predictions(chunk, _by_question(source, ids))
        before = len(self._early)
        known = self._early.keys() & set(ids) if before else set()
        self._early.update(zip(ids, answers))
        if source.reading.extract is not None:
            self._written.update(zip(ids, source.written(chunk)))
        self.count += len(ids)
        if len(self._early) != before + len(ids):
            repeated = next(iter(known), None) or Counter(ids).most_common(1)[0][0]
            found = f"question {repeated} is answered more than once"
            raise source.records.error(found, remedy="keep one answer")
        return True


class _Ids:
    """Which ids came already, in 8 bytes each: their hashes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, ids: Iterable[str]) -> None:
        self._hashes.extend(array("q", list(map(hash, ids))))

    def others(self, ids: Iterable[str]) -> list[str]:
        """Those ids that did not come."""
        known = set(self._hashes)
        return [question_id for question_id in ids if hash(question_id) not in known]

    def repeated(self) -> set[int]:
        """The hashes that came more than once."""
        if len(self._hashes) < 1 << 20:
            parts = [self._hashes]
        else:  # a set of all of them at once would be too large
            parts = [array("q") for _ in range(256)]
            for value in self._hashes:
                parts[value & 255].append(value)
        crowded = (part for part in parts if len(set(part)) < len(part))
        return {value for part in crowded for value, count in Counter(part).items() if count > 1}


def _refuse_repeated(source: Source, ids: _Ids, remedy: Remedy | str = "keep one record of each") -> None:
    repeated = ids.repeated()
    if repeated:
        first = ""
        if os.path.isfile(source.records.path):  # no pipe: it can be read once more
            again = Source(Records(source.records.path, source.records.columns), source.reading)
            found = chain.from_iterable(again.ids(chunk) for chunk in again.chunks())
            first = next((f" (first: {question_id})" for question_id in found if hash(question_id) in repeated), "")
        raise source.records.error(f"{_number(len(repeated), 'id')} repeated{first}", remedy=remedy)
