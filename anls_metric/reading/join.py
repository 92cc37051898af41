"""Makes rows from records: joins a gold file and a submission by id, or reads one file that holds both.

Rows come in batches, one for each chunk of records.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.records import Records
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.sources import Reading, Source, treat_as_gold, treat_as_submission


class Row(NamedTuple):
    """One question with the answer to score.

    Attributes:
        id: the id of the question.
        prediction: the answer: a text, or a value where `Reading.values` says so; None where there is no answer.
        references: the accepted answers, one or more.
        record: the record of the gold file or table that the row was read from.
        written: the raw model output, if the prediction was extracted from it by rules; else None.
    """

    id: str
    prediction: Any
    references: Sequence[Any]
    record: Mapping[str, Any]
    written: str | None = None


class Questions:
    """The questions of a gold file, which is read once for several submissions.

    Args:
        gold: the file with the id and the accepted answers of each question.
        keep: whether the questions are kept for more submissions; otherwise they are streamed.
    """

    def __init__(self, gold: Source, keep: bool = False) -> None:
        self.source = gold
        self._batches: list[Batch] | None = [] if keep else None
        self._is_read = False

    def batches(self) -> Iterator[Batch]:
        """Yield the questions in the order of the file.

        Raises:
            InputError: an id is missing or comes twice, or a question has no accepted answers.
        """
        if self._is_read and self._batches is not None:
            yield from self._batches
            return
        known = _Ids()
        source = treat_as_gold(self.source)
        for chunk in source.chunks():
            ids = source.ids(chunk)
            references = source.references(chunk, _locate_by_question(source, ids), _TEST_SPLIT)
            known.add(ids)
            batch = ids, references, source.complete_records(chunk)
            if self._batches is not None:
                self._batches.append(batch)
            yield batch
        _refuse_repeated(source, known)
        self._is_read = True


Batch = tuple[list[str], list[Sequence[str]], Sequence[Mapping[str, Any]]]
"""The ids of some questions, their accepted answers, and their records."""


def join_files(
    gold: str | Records | Source | Questions, submission: str | Records | Source, reading: Reading | None = None
) -> Iterator[list[Row]]:
    """Join the questions of a gold file with the answers of a submission by id, in the order of the gold file.

    If both files are streamed (JSON lines, CSV, Parquet) and have the same order, memory does not grow with them, apart
    from 8 bytes for each id. An answer that comes before its question is kept until then.

    Args:
        gold: a file with an id and the accepted answers of each question: its path, "-" for standard input, its
            `Records`, its `Source` or its `Questions`.
        submission: a file with an id and an answer in each record: its path, `Records` or `Source`.
        reading: how to read them.

    Yields:
        Batches of `Row`. Some errors are raised only after the last batch, so use no result before the end.

    Raises:
        InputError: it says which file, and which id or line. An id is missing, comes twice, or is not in the other
            file; a question has no accepted answers; an answer is not a string; a file is not what its name says.
        OSError: a file cannot be opened.
    """
    reading = reading or (submission.reading if isinstance(submission, Source) else Reading())
    questions = gold if isinstance(gold, Questions) else Questions(_open_source(gold, reading))
    gold, submission = questions.source, _open_source(submission, reading)
    if gold.records.path == submission.records.path == "-":
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    _refuse_swapped(gold, submission)
    answers = _Answers(treat_as_submission(submission))
    question_ids = _Ids()
    unanswered: list[str] = []
    count = 0
    for ids, references, records in questions.batches():
        question_ids.add(ids)
        predictions = answers.take(ids)
        if len(predictions) < len(ids):
            unanswered += [question_id for question_id in ids if question_id not in predictions]
        count += len(ids)
        yield make_rows(ids, map(predictions.get, ids), references, records, answers.take_raw(ids))
    early = answers.read_rest()
    surplus = question_ids.find_others(early) if early else []
    common = count - len(unanswered)
    if 2 * common < min(count, answers.count):
        problem = (
            f"few of its ids ({list_some(surplus)}) are those of {gold.name} ({list_some(unanswered)}): "
            "ids of another kind"
        )
        raise submission.records.error(problem, remedy="write the same ids in both")
    if len(surplus) < len(early):
        not_asked = set(surplus)
        twice = [question_id for question_id in early if question_id not in not_asked]
        raise submission.records.error(
            f"{_count(len(twice), 'question')} answered more than once ({list_some(twice)})",
            remedy="keep one answer",
        )
    if surplus and reading.extra != "ignore":
        raise submission.records.error(
            f"{_count(len(surplus), 'answer')} to questions that {gold.name} does not have ({list_some(surplus)})",
            remedy=remedies.EXTRA,
        )
    if unanswered and reading.missing != "zero":
        raise submission.records.error(
            f"no answer to {len(unanswered)} of the questions of {gold.name} ({list_some(unanswered)})",
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
    """Read the rows of one file that holds predictions and accepted answers.

    Args:
        table: the file: its path, "-" for standard input, its `Records` or its `Source`.
        reading: how to read it. If it has no id, its records are numbered from 1.

    Yields:
        Batches of `Row`, streamed. Some errors are raised only after the last batch, so use no result before the end.

    Raises:
        InputError: it says which line. An id comes twice, a prediction or the accepted answers are missing, an answer
            is not a string, or the file is not what its name says.
        OSError: the file cannot be opened.
    """
    table = _open_source(table, reading or Reading())
    ids_before = _Ids()
    count = 0
    for chunk in table.chunks():

        def where(number: int, chunk: Any = chunk) -> str:
            return f"{table.name}, {chunk.place_of(number)}"

        predictions = table.predictions(chunk, where)
        references = table.references(chunk, where, remedies.REFERENCES_FIELD)
        if table.layout.id:
            ids = table.ids(chunk)
            ids_before.add(ids)
        else:
            ids = list(map(str, range(count + 1, count + 1 + len(chunk.records))))
        count += len(ids)
        yield make_rows(ids, predictions, references, table.complete_records(chunk), table.raw_texts(chunk))
    _refuse_repeated(table, ids_before, remedies.SEVERAL_IDS)


def make_rows(
    ids: Iterable[str],
    predictions: Iterable[str | None],
    references: Iterable[Sequence[str]],
    records: Iterable[Mapping[str, Any]],
    written: Iterable[str | None],
) -> list[Row]:
    """Make rows from columns. It does what ``map(Row, ...)`` does in a third of its time."""
    return list(map(tuple.__new__, repeat(Row), zip(ids, predictions, references, records, written)))


def _locate_by_question(source: Source, ids: Sequence[str]) -> Callable[[int], str]:
    """Make the function that names the place of a record in an error by the id of its question."""
    return lambda number: f"{source.name}, question {ids[number]}"


def _open_source(file: str | Records | Source, reading: Reading) -> Source:
    return file if isinstance(file, Source) else Source(file, reading)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


class _Answers:
    """The answers of a submission by id. An answer that comes before its question is kept until then."""

    def __init__(self, submission: Source) -> None:
        self.count = 0
        self._submission = submission
        self._chunks = submission.chunks()
        self._early: dict[str, str | None] = {}
        self._written: dict[str, str | None] = {}  # raw model output, if answers are extracted from it

    def take(self, ids: list[str]) -> dict[str, str | None]:
        """Take the answers to these questions. A question without an answer in the whole file is left out."""
        early = self._early
        while not all(map(early.__contains__, ids)) and self._read():
            pass
        answered = dict.fromkeys(filter(early.__contains__, ids))
        return dict(zip(answered, map(early.pop, answered)))

    def take_raw(self, ids: list[str]) -> Iterable[str | None]:
        """Take the raw model output for these questions: see `Source.raw_texts`."""
        return [self._written.pop(question_id, None) for question_id in ids] if self._written else repeat(None)

    def read_rest(self) -> dict[str, str | None]:
        """Read the rest of the file, and return the answers that no question took."""
        while self._read():
            pass
        return self._early

    def _read(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        source = self._submission
        ids = source.ids(chunk)
        answers = source.predictions(chunk, _locate_by_question(source, ids))
        before = len(self._early)
        known = self._early.keys() & set(ids) if before else set()
        self._early.update(zip(ids, answers))
        if source.reading.extract is not None:
            self._written.update(zip(ids, source.raw_texts(chunk)))
        self.count += len(ids)
        if len(self._early) != before + len(ids):
            repeated = next(iter(known), None) or Counter(ids).most_common(1)[0][0]
            problem = f"question {repeated} is answered more than once"
            raise source.records.error(problem, remedy="keep one answer")
        return True


class _Ids:
    """The ids so far, kept as hashes of 8 bytes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, ids: Iterable[str]) -> None:
        self._hashes.extend(array("q", list(map(hash, ids))))

    def find_others(self, ids: Iterable[str]) -> list[str]:
        """Find the ids that are not among them."""
        known = set(self._hashes)
        return [question_id for question_id in ids if hash(question_id) not in known]

    def find_repeated(self) -> set[int]:
        """Find the hashes that were added more than once."""
        if len(self._hashes) < 1 << 20:
            parts = [self._hashes]
        else:  # a set of all of them at once would be too large
            parts = [array("q") for _ in range(256)]
            for value in self._hashes:
                parts[value & 255].append(value)
        crowded = (part for part in parts if len(set(part)) < len(part))
        return {value for part in crowded for value, count in Counter(part).items() if count > 1}


def _refuse_repeated(source: Source, ids: _Ids, remedy: Remedy | str = "keep one record of each") -> None:
    repeated = ids.find_repeated()
    if repeated:
        first = ""
        if os.path.isfile(source.records.path):  # a pipe cannot be read again
            again = Source(Records(source.records.path, source.records.columns), source.reading)
            ids_again = chain.from_iterable(again.ids(chunk) for chunk in again.chunks())
            first = next((f" (first: {question_id})" for question_id in ids_again if hash(question_id) in repeated), "")
        raise source.records.error(f"{_count(len(repeated), 'id')} repeated{first}", remedy=remedy)
