"""Makes rows from records: joins a gold file and a submission by id, or reads one file that holds both.

Rows come in batches, one for each chunk of records.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import compress, islice, repeat
from typing import Any, NamedTuple, TypeAlias

from anls_metric.reading import long_tables, remedies, resolver
from anls_metric.reading.answer_fields import NOTHING_BESIDE
from anls_metric.reading.batch import Batch
from anls_metric.reading.containers import VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import count_noun, list_some
from anls_metric.reading.layouts import Path, describe_failures, take, take_column
from anls_metric.reading.odd_rows import doubt_row
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.repeats import JOIN_BY_ID, KEEP_LAST, RETRIED, Doubt, Repeats, are_retries, count_crossed
from anls_metric.reading.resolver import Gold, Match, Sample
from anls_metric.reading.sources import Reading, Source, first_of, name_of, roles_of


class RepeatedIdsError(InputError):
    """Several answers have the same id. They may be runs of one model: see `runs.split_runs`."""


_Questions: TypeAlias = "tuple[list[str], list[Sequence[str]], Sequence[Mapping[str, Any]]]"
"""The ids of some questions, their accepted answers, and their records."""


class Questions:
    """The questions of a gold file, which is read once for several submissions.

    Args:
        gold: the file with the id and the accepted answers of each question.
        keep: whether to keep the questions for more submissions; otherwise they are streamed.
    """

    def __init__(self, gold: Source, keep: bool = False) -> None:
        self.source = gold
        self._batches: list[_Questions] | None = [] if keep else None
        self._is_read = self._is_matched = False
        self.ids = _Ids()  # the ids of the questions that were read

    def match(self, submission: Source) -> Match:
        """Choose the ids by which the answers of a submission find their questions: see `resolver.match`."""
        gold, reading = self.source.take_side("gold"), submission.reading
        gold_id = gold.layout.id[0] if self._is_matched and gold.layout.id else reading.gold_id_field
        sample = Sample(gold.name, ()) if self._is_matched and not gold.layout.id else gold.sample
        ids = Gold(sample, gold.layout, gold.first_records(), self._read_all)
        match = resolver.match(ids, submission.sample, submission.layout, reading.id_field, gold_id)
        gold.layout = gold.layout._replace(id=() if match.gold_id is None else (match.gold_id,))
        submission.doubts += gold.check_references(_pair_first(ids, submission, match))
        self._is_matched = True
        return match

    def keep(self) -> None:
        """Keep the questions for more submissions. If they were read before and not kept, they are read again."""
        if self._batches is None:
            self._batches, self._is_read = [], False

    def choose(self, ids: Container[str]) -> Questions:
        """Choose some of the questions. All of them must have been read and kept."""
        some = copy(self)
        some._batches = [_choose_rows(batch, ids) for batch in self._batches or ()]
        return some

    def _read_all(self) -> Sequence[Mapping[str, Any]]:
        return [record for chunk in self.source.hold(self.source.sample.list_paths()) for record in chunk.records]

    def batches(self) -> Iterator[_Questions]:
        """Yield the questions in the order of the file.

        Raises:
            InputError: an id is missing or repeated, or a question has no accepted answers.
        """
        if self._is_read and self._batches is not None:
            yield from self._batches
            return
        self.ids, count = _Ids(), 0
        source = self.source.take_side("gold")
        if self._batches is not None:
            self._batches = []
        for chunk in source.chunks():
            ids = _read_ids(source, chunk, count)
            references = source.references(chunk, _locate_by_question(source, ids))
            self.ids.add(ids)
            count += len(ids)
            batch = ids, references, source.complete_records(chunk)
            if self._batches is not None:
                self._batches.append(batch)
            yield batch
        _refuse_repeated(source, self.ids, InputError)
        self._is_read = True


def _pair_first(gold: Gold, submission: Source, match: Match) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Pair the first questions with their answers, where they are among the first answers."""
    answers, path, own = submission.sample.records, match.submission_id, match.gold_id
    if path is None:
        yield from zip(gold.first, map(submission.read_first, answers))
    elif own is not None:
        by_id = {str(take(record, own)): record for record in gold.first}
        pairs = ((by_id.get(str(take(answer, path))), answer) for answer in answers)
        yield from ((record, submission.read_first(answer)) for record, answer in pairs if record is not None)


def _choose_rows(batch: _Questions, ids: Container[str]) -> _Questions:
    places = [place for place, question_id in enumerate(batch[0]) if question_id in ids]
    return tuple([column[place] for place in places] for column in batch)  # type: ignore[return-value]


def join_files(
    gold: str | Records | Source | Questions,
    submission: str | Records | Source,
    reading: Reading | None = None,
    alone: bool = True,
) -> Iterator[Batch]:
    """Join the questions of a gold file with the answers of a submission, in the order of the gold file.

    They are joined by id; answers without ids are joined by position. If both files are streamed (JSON lines, CSV,
    Parquet) and have the same order, memory does not grow with them, apart from 8 bytes for each id. An answer that
    comes before its question is kept until then.

    Args:
        gold: a file with an id and the accepted answers of each question: its path, "-" for standard input, its
            `Records`, its `Source` or its `Questions`.
        submission: a file with an answer in each record: its path, `Records` or `Source`.
        reading: how to read them.
        alone: whether there is no other submission, so that this one must have the fields that the user names.

    Yields:
        Batches of rows. Some errors are raised only after the last batch, so use no result before the end.

    Raises:
        InputError: an id is missing, repeated, or not in the other file; a question has no accepted answers; an answer
            is not a string; a file has another format than its name. The message names the file, and the id or line.
        OSError: a file cannot be opened.
    """
    reading = reading or (submission.reading if isinstance(submission, Source) else Reading())
    questions = gold if isinstance(gold, Questions) else Questions(_open_source(gold, reading))
    gold, submission = questions.source, _open_source(submission, reading)
    if gold.records.path == submission.records.path == "-":
        raise InputError(
            "the gold file and the submission cannot both be standard input", remedy="name one of the files"
        )
    refuse_swapped(gold, submission)
    gold_fields = {name for record in gold.sample.records for name in record}
    submission.take_side("submission", alone, gold_fields)
    gold.faces_texts = submission.predicts_texts()
    match = questions.match(submission)
    if match.note:
        submission.notes.append(match.note)
    if match.submission_id is None:
        yield from _join_by_position(questions, submission, forced=reading.id_field == "none")
        return
    submission.layout = submission.layout._replace(id=(match.submission_id,))
    check = _QuestionCheck(gold, submission)
    answers = _Answers(submission, check.path)
    unanswered: list[str] = []
    count = 0
    for ids, references, records in questions.batches():
        part = answers.take(ids)
        unanswered += part.unanswered
        count += len(ids)
        check.add(records, part.asked)
        yield Batch(ids, part.predictions, references, records, part.written, None, part.beside, submission.reads_texts)
    early = answers.read_rest()
    surplus = questions.ids.find_others(early) if early else []
    common = count - len(unanswered)
    if 2 * common < min(count, answers.count):
        problem = (
            f"{f'only {common:,} of its ids are' if common else 'none of its ids is'} in {gold.name}: "
            f"it has {list_some(surplus)}, and {gold.name} has {list_some(unanswered)}"
        )
        raise submission.records.error(problem, remedy=remedies.UNKNOWN_IDS)
    if len(surplus) < len(early):
        not_asked = set(surplus)
        twice = [question_id for question_id in early if question_id not in not_asked]
        raise _error_of_repeated(submission, twice)
    if reading.extra != "ignore" and len(surplus) == len(unanswered) > 0:
        problem = (
            f"{count_noun(len(surplus), 'answer')} to questions that {gold.name} does not have ({list_some(surplus)}), "
            f"and no answer to {len(unanswered):,} of its questions ({list_some(unanswered)})"
        )
        raise submission.records.error(problem, remedy=remedies.UNKNOWN_IDS)
    if surplus and reading.extra != "ignore":
        problem = f"{count_noun(len(surplus), 'answer')} to questions that {gold.name} does not have"
        raise _error_of_other_ids(gold, submission, f"{problem} ({list_some(surplus)})", remedies.EXTRA)
    _refuse_failures(submission)
    check.conclude()
    split = _find_split(gold, unanswered) if unanswered and answers.count else ""
    if unanswered and reading.missing != "zero":
        problem = f"no answer to {len(unanswered):,} of the questions of {gold.name} ({list_some(unanswered)}){split}"
        remedy = remedies.OTHER_SPLIT if split else remedies.MISSING
        raise _error_of_other_ids(gold, submission, problem if answers.count else "it has no answers", remedy)
    if split:
        text = f"{count_noun(len(unanswered), 'question')} without an answer score 0{split}"
        submission.doubts.append(Doubt(text, "remove them from the gold file if the model was not asked"))


def _find_split(gold: Source, unanswered: Sequence[str]) -> str:
    """Say in which split all unanswered questions are, if no other question is in it; "" for none."""
    ids = frozenset(unanswered)
    field = next(filter(long_tables.is_split_field, gold.sample.list_paths()), None)
    pairs = _read_again(gold) if field and gold.layout.id else []
    lacking, answered = (
        {str(take(record, field)) for key, record in pairs if field and (key in ids) == side} for side in (True, False)
    )
    is_split = lacking and answered and lacking.isdisjoint(answered)
    return f", and all of them have {field} = {' or '.join(sorted(lacking))}" if is_split else ""


def refuse_swapped(gold: Source, submission: Source) -> None:
    """Refuse a gold file and a submission that are swapped; note that it is unclear if they have the same fields.

    Raises:
        InputError: the gold file has no accepted answers, but the submission has.
    """
    if _holds_references(gold) < _holds_references(submission) and not submission.has_both_sides():
        problem = f"it has no accepted answers, and {submission.name} has some, so the two look swapped"
        raise InputError(problem, gold.name, remedies.SWAPPED)
    if _may_be_submission(gold, submission):
        gold.note(
            f"it {_TAKEN_AS_GOLD}, although it has the fields of a submission; "
            "if it holds the answers of a model, name the gold file before it"
        )


_TAKEN_AS_GOLD = "is taken as the gold file because it comes first"


def _error_of_other_ids(gold: Source, submission: Source, problem: str, remedy: remedies.Remedy) -> InputError:
    """Make the error for a submission with other ids than the gold file. Perhaps the gold file is a submission, too."""
    if _may_be_submission(gold, submission):
        problem = f"{problem}; {gold.name} {_TAKEN_AS_GOLD}"
        remedy = remedies.unless_submission(remedy)
    return submission.records.error(problem, remedy=remedy)


def _may_be_submission(gold: Source, submission: Source) -> bool:
    """Whether a gold file has the same fields as a submission."""
    answer = gold.try_side("gold").references[:1]
    has_more = not set(gold.sample.list_paths()) <= set(submission.sample.list_paths())
    return not has_more and answer == submission.try_side("submission").prediction[:1] and not _holds_references(gold)


def _holds_references(source: Source) -> bool:
    """Whether a file has accepted answers for certain: in a field of their own, or as lists."""
    layout = source.try_side("gold")
    if layout.references[:1] not in ((resolver.ANSWER_FIELD,), (VALUE,)):
        return bool(layout.references)
    values = [first_of(record, layout.references) for record in source.sample.records]
    least = 2 if layout.references == (resolver.ANSWER_FIELD,) else 1  # a prediction may be a list of one, too
    return source.reads_texts and any(isinstance(value, list) and len(value) >= least for value in values)


def _join_by_position(questions: Questions, submission: Source, forced: bool) -> Iterator[Batch]:
    """Join the questions with answers that are in the same order."""
    gold = questions.source
    common = _list_common_fields(gold, submission)
    submission.keep_columns(common)
    gold.keep_columns(common)
    rest, total, count = _Queue(submission), 0, 0
    for ids, references, records in questions.batches():
        answers = rest.take(len(ids))
        total += len(ids)
        count += len(answers)
        if len(answers) < len(ids):
            continue
        predictions, raw_texts, beside, others = zip(*answers)
        misplaced = _find_misplaced(gold, submission, common, (records, references), others)
        if misplaced is not None and not forced:
            raise InputError(
                f"the answers have no ids, and they are not in the order of {gold.name}: "
                f"answer {count - len(ids) + misplaced + 1} belongs to another question",
                submission.name,
                remedies.ORDER,
            )
        if misplaced is not None:
            note = (
                f"some answers do not belong to the question at their position (the first: question {ids[misplaced]})"
            )
            submission.notes.append(note)
        raw, known = raw_texts if submission.reading.extract else None, beside if submission.reads_beside else None
        yield Batch(ids, predictions, references, records, raw, None, known, submission.reads_texts)
    _refuse_failures(submission)
    count += len(rest.take(None))
    if count != total:
        fields = set(submission.sample.list_paths())
        without = "ids" if fields <= roles_of(submission.layout) else "a known field of ids"
        asked = count_noun(total, "question")
        problem = f"it has {count_noun(count, 'answer')} without {without}, and {gold.name} has {asked}"
        raise InputError(problem, submission.name, remedies.ONE_ANSWER_EACH if fields == {VALUE} else remedies.ORDER)


_QueuedAnswer = tuple[Any, str | None, Mapping[str, Any], Mapping[str, Any]]
"""An answer, the raw model output, the fields of `Row.beside`, and the record."""


class _Queue:
    """The answers of a submission in their order."""

    def __init__(self, submission: Source) -> None:
        self._answers = self._read(submission)

    @staticmethod
    def _read(source: Source) -> Iterator[_QueuedAnswer]:
        for chunk in source.chunks():

            def where(number: int, chunk: Any = chunk) -> str:
                return f"{source.name}, {chunk.place_of(number)}"

            raw, beside = source.raw_texts(chunk) or repeat(None), source.beside(chunk, where) or repeat(NOTHING_BESIDE)
            yield from zip(source.predictions(chunk, where), raw, beside, chunk.records)

    def take(self, count: int | None) -> list[_QueuedAnswer]:
        """Take the next answers, all that are left for None."""
        return list(islice(self._answers, count))


def _list_common_fields(gold: Source, submission: Source) -> list[str]:
    """List the fields that both files have. A question and its answer have the same values there."""
    roles = {*gold.layout.id, *submission.layout.id, *submission.layout.prediction, *gold.layout.references}
    own = set(gold.sample.list_paths())
    return [path for path in submission.sample.list_paths() if path in own and path not in roles]


def _find_misplaced(
    gold: Source,
    submission: Source,
    common: Sequence[str],
    questions: tuple[Sequence[Mapping[str, Any]], Sequence[Sequence[str]]],
    beside: Sequence[Mapping[str, Any]],
) -> int | None:
    """Find the first answer that belongs to another question, by its question, accepted answers or other fields."""
    records, references = questions

    def texts(source: Source, paths: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        values = (first_of(row, paths) for row in rows)
        return [str(value) if type(value) in (str, int) else None for value in values]

    def own(source: Source, paths: Sequence[Any]) -> list[list[str]]:
        return [[] if text is None else [text] for text in texts(source, paths, records)]

    asked = texts(submission, submission.layout.question, beside)
    places = [resolver.find_misplaced(own(gold, gold.layout.question), asked, inside=True)]
    if not gold.reading.values:
        labels = texts(submission, submission.try_side("both").references, beside)
        places.append(resolver.find_misplaced(references, labels))
    places += [resolver.find_misplaced(own(gold, [path]), texts(submission, [path], beside)) for path in common]
    return min((place for place in places if place is not None), default=None)


def read_table(table: str | Records | Source, reading: Reading | None = None) -> Iterator[Batch]:
    """Read the rows of one file that holds predictions and accepted answers.

    Args:
        table: the file: its path, "-" for standard input, its `Records` or its `Source`.
        reading: how to read it. If it has no id, its records are numbered from 1.

    Yields:
        Batches of rows, streamed. Some errors are raised only after the last batch, so use no result before the end.

    Raises:
        InputError: an id is repeated, a prediction or the accepted answers are missing, an answer is not a string, the
            rows are of several submissions, or the file has another format than its name. The message names the line.
        OSError: the file cannot be opened.
    """
    table = _open_source(table, reading or Reading()).take_side("both")
    ids_before, repeats = _Ids(), Repeats(table)
    count = 0
    for chunk in table.chunks():

        def where(number: int, chunk: Any = chunk) -> str:
            return f"{table.name}, {chunk.place_of(number)}"

        predictions = table.predictions(chunk, where)
        references = table.references(chunk, where)
        ids = _read_ids(table, chunk, count)
        if table.layout.id:  # numbers do not repeat
            ids_before.add(ids)
        repeats.add(chunk, references)
        if table.reads_texts and not count:
            table.doubts += doubt_row(chunk, 0, predictions[0], references[0])
        last = chunk, len(ids) - 1, predictions[-1], references[-1]
        count += len(ids)
        records, raw, beside = table.complete_records(chunk), table.raw_texts(chunk), table.beside(chunk, where)
        yield Batch(ids, predictions, references, records, raw, None, beside, table.reads_texts)
    _refuse_failures(table)
    _refuse_repeated(table, ids_before)
    table.doubts += repeats.conclude()
    if table.reads_texts and count > 1:
        table.doubts += doubt_row(*last)


def _refuse_failures(source: Source) -> None:
    if source.failures and source.reading.missing != "zero":
        raise source.records.error(describe_failures(source.failures), remedy=remedies.MISSING)


def _read_ids(source: Source, chunk: Any, before: int) -> list[str]:
    """Read the ids of a chunk; where there are none, number its records from 1."""
    return source.ids(chunk) if source.layout.id else list(map(str, range(before + 1, before + 1 + len(chunk.records))))


def _locate_by_question(source: Source, ids: Sequence[str]) -> Callable[[int], str]:
    """Make the function that names the place of a record in an error by the id of its question."""
    return lambda number: f"{source.name}, question {ids[number]}"


def _open_source(file: str | Records | Source, reading: Reading) -> Source:
    return file if isinstance(file, Source) else Source(file, reading)


class _AnswerColumns(NamedTuple):
    """The answers to some questions, as columns of a `Batch`.

    Attributes:
        predictions, written, beside: see `Batch`.
        asked: the question in the record of each answer; None if these questions are not read.
        unanswered: the ids of questions without an answer.
    """

    predictions: Sequence[str | None]
    written: Sequence[str | None] | None
    beside: Sequence[Mapping[str, Any]] | None
    asked: Sequence[Any] | None = None
    unanswered: Sequence[str] = ()


class _QuestionCheck:
    """Compares the questions of a submission with those of the gold file that have the same ids; of many, the first.

    Attributes:
        path: the path of the question in the submission; None if a file has no questions.
    """

    def __init__(self, gold: Source, submission: Source) -> None:
        own, other = (next(filter(each.sample.has, each.layout.question), None) for each in (gold, submission))
        self.path: Path | None = None if own is None else other
        self._gold_path: Path | None = None if other is None else own
        self._submission = submission
        self._known = array("q")  # the hashes of the questions of the gold file
        self._others = array("q")  # the hashes of questions that neither contain that of the gold file nor are in it
        self._sentences: set[int] = set()  # the hashes of those that look like questions, without their digits

    def add(self, records: Sequence[Mapping[str, Any]], asked: Sequence[Any] | None) -> None:
        """Compare the questions of some records of the gold file with those of their answers."""
        if self._gold_path is None or asked is None or len(self._known) > _MOST_READ_AGAIN:
            return
        own = take_column(records, self._gold_path)
        self._known.extend(hash(text) for text in own if isinstance(text, str))
        pairs = [(text, other) for text, other in zip(asked, own) if text != other and type(text) is type(other) is str]
        unlike = (_are_unlike(text, other) for text, other in pairs)
        others = [text for text, _ in compress(pairs, unlike)]
        self._others.extend(map(hash, others))
        self._sentences.update(hash(re.sub(r"\d+", "", text)) for text in others if re.search(r"\s|[^\0-\x7f]", text))

    def conclude(self) -> None:
        """Add a doubt if the questions of some answers are other questions of the gold file."""
        known, count = set(self._known) if self._others else set(), len(self._known)
        wrong = sum(text in known for text in self._others)
        field = name_of([self.path or ""], "question")
        if wrong:
            text = f"{wrong:,} of {count_noun(count, 'question')} have an answer beside the text of another question"
            self._submission.doubts.append(Doubt(text, remedies.QUESTIONS_DIFFER, field))
        elif len(self._others) >= max(10.0, 0.9 * count) and len(self._sentences) >= 0.5 * len(set(self._known)):
            # Translated and rewritten questions are usual, unless all fail; one prompt or a path is no question.
            text = f"{len(self._others):,} of {count_noun(count, 'question')} have another text beside their answer"
            remedy = "check that both files have the same questions, and not different splits"
            self._submission.doubts.append(Doubt(text, remedy, most=0.2))


def _are_unlike(first: str, second: str) -> bool:
    """Whether neither of two questions contains the other, which may be cut off."""
    one, other = ("".join(text.casefold().split()).rstrip(".…") for text in (first, second))
    return one not in other and other not in one


class _Answers:
    """The answers of a submission by id. An answer that comes before its question is kept until then."""

    def __init__(self, submission: Source, question: Any = None) -> None:
        self.count = 0
        self._submission, self._question = submission, question
        self._chunks = submission.chunks()
        self._early: dict[str, str | None] = {}
        self._raw_texts: dict[str, str | None] = {}  # raw model output, if answers are extracted from it
        self._beside: dict[str, Mapping[str, Any]] = {}
        self._asked: dict[str, Any] = {}

    def take(self, ids: list[str]) -> _AnswerColumns:
        """Take the answers to these questions."""
        early = self._early
        if not early:  # most files have the order of the gold file, and nothing needs to be kept
            read = self._read()
            if read is None or read[0] == ids:
                return read[1] if read else _AnswerColumns([None] * len(ids), None, None, None, ids)
            self._keep(*read)
        while not all(map(early.__contains__, ids)):
            read = self._read()
            if read is None:
                break
            self._keep(*read)
        answered = dict.fromkeys(filter(early.__contains__, ids))
        answers = dict(zip(answered, map(early.pop, answered)))
        source, raw_texts, beside = self._submission, self._raw_texts, self._beside
        return _AnswerColumns(
            list(map(answers.get, ids)),
            [raw_texts.pop(question_id, None) for question_id in ids] if source.reading.extract else None,
            [beside.pop(question_id, NOTHING_BESIDE) for question_id in ids] if source.reads_beside else None,
            [self._asked.pop(question_id, None) for question_id in ids] if self._question else None,
            [] if len(answers) == len(ids) else [question_id for question_id in ids if question_id not in answers],
        )

    def read_rest(self) -> dict[str, str | None]:
        """Read the rest of the file, and return the answers that belong to no question."""
        while (read := self._read()) is not None:
            self._keep(*read)
        return self._early

    def _read(self) -> tuple[list[str], _AnswerColumns] | None:
        """Read the next chunk: ids with their answers; None at the end of the file."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return None
        source = self._submission
        ids = source.ids(chunk)
        where = _locate_by_question(source, ids)
        self.count += len(ids)
        predictions, raw, beside = (
            source.predictions(chunk, where),
            source.raw_texts(chunk),
            source.beside(chunk, where),
        )
        asked = take_column(chunk.records, self._question) if self._question else None
        return ids, _AnswerColumns(predictions, raw, beside, asked)

    def _keep(self, ids: list[str], answers: _AnswerColumns) -> None:
        before = len(self._early)
        known = self._early.keys() & set(ids) if before else set()
        self._early.update(zip(ids, answers.predictions))
        if answers.written is not None:
            self._raw_texts.update(zip(ids, answers.written))
        if answers.beside is not None:
            self._beside.update(zip(ids, answers.beside))
        if answers.asked is not None:
            self._asked.update(zip(ids, answers.asked))
        if len(self._early) != before + len(ids):
            raise _error_of_repeated(self._submission, [next(iter(known), None) or Counter(ids).most_common(1)[0][0]])


class _Ids:
    """The ids that were read so far, as hashes of 8 bytes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, ids: Iterable[str]) -> None:
        self._hashes.extend(array("q", list(map(hash, ids))))

    def find_others(self, ids: Iterable[str]) -> list[str]:
        """Find the ids that were not read so far."""
        known = set(self._hashes)
        return [question_id for question_id in ids if hash(question_id) not in known]

    def find_repeated(self) -> set[int]:
        """Find the hashes that were added more than once."""
        if len(self._hashes) < 1 << 20:
            parts = [self._hashes]
        else:  # a set of all hashes at once would be too large
            parts = [array("q") for _ in range(256)]
            for value in self._hashes:
                parts[value & 255].append(value)
        crowded = (part for part in parts if len(set(part)) < len(part))
        return {value for part in crowded for value, count in Counter(part).items() if count > 1}


def _refuse_repeated(source: Source, ids: _Ids, kind: type[InputError] = RepeatedIdsError) -> None:
    repeated = ids.find_repeated()
    if repeated:
        pairs = _read_again(source)
        first = next((question_id for question_id, _ in pairs if hash(question_id) in repeated), "")
        raise _error_of_repeated(source, [first] * len(repeated), pairs, kind)


def _error_of_repeated(
    source: Source,
    ids: Sequence[str],
    pairs: Sequence[tuple[str, Mapping[str, Any]]] | None = None,
    kind: type[InputError] = RepeatedIdsError,
) -> InputError:
    """Make the error for repeated ids. It names the field in which records with the same id differ."""
    pairs = _read_again(source) if pairs is None else pairs
    keys, records = [key for key, _ in pairs], [record for _, record in pairs]
    asked = {(key, repr(first_of(record, source.layout.question))) for key, record in pairs}
    if kind is RepeatedIdsError and source.holds_both and len(asked) == len(pairs) > 0:
        problem = f"{len(ids):,} ids belong to several questions each (the first: {ids[0]})"
        return kind(problem, source.name, remedies.DOCUMENT_IDS)
    first = f" (the first: {ids[0]})" if ids[0] else ""
    problem = f"{len(ids):,} ids are repeated{first}"
    if len(ids) == 1:
        problem = f"the id {ids[0]} is repeated" if first else "an id is repeated"
    if kind is not RepeatedIdsError:
        are_others = len(asked) == len(pairs) > 0
        return kind(problem, source.name, remedies.QUESTIONS_OF_AN_ID if are_others else remedies.REPEATED_QUESTIONS)
    accepted, predictions = (
        len({(key, repr(first_of(record, paths))) for key, record in pairs})
        for paths in (source.layout.references, source.layout.prediction)
    )
    if source.holds_both and len(ids) > 2 and predictions == len(set(keys)) < accepted:
        problem = f"{problem}, with other accepted answers for the same prediction"
        remedy = "write one record for each question, with all of its accepted answers as a list"
        return InputError(problem, source.name, remedy)
    if count_crossed(keys, map(source.read_first, records)):
        return InputError(f"{problem}, with the predictions of other questions beside them", source.name, JOIN_BY_ID)
    field = long_tables.find_splitting_field(keys, records, roles_of(source.layout), source.layout.run_field)
    tells_runs = field is not None and long_tables.is_run_field(field, source.layout.run_field)
    can_be_retries = field is None or tells_runs or 1 in Counter(keys).values()
    if can_be_retries and are_retries(keys, map(source.read_first, records)):
        return kind(f"{problem}, and {RETRIED}", source.name, KEEP_LAST)
    if field is None:
        has_parts = len(find_shards(source.records.path) or ()) > 1
        return kind(problem, source.name, remedies.REPEATED_IN_PARTS if has_parts else remedies.REPEATED_IDS)
    names = list_some(dict.fromkeys(str(record[field]) for _, record in pairs))
    if tells_runs:
        problem = f"ids are repeated{first}, and the field {field!r} ({names}) tells runs of one model apart"
        return kind(problem, source.name, remedies.RUNS)
    problem = f"ids are repeated{first}, and the field {field!r} ({names}) tells several submissions apart"
    return kind(problem, source.name, remedies.SUBMISSION_FIELD, field)


def _read_again(source: Source) -> list[tuple[str, Mapping[str, Any]]]:
    """Read the id and the record of each answer again; [] if the file cannot be read again."""
    again = source.reopen()
    if again is None:
        return []
    pairs = (pair for chunk in again.chunks() for pair in zip(again.ids(chunk), chunk.records))
    return list(islice(pairs, _MOST_READ_AGAIN))


_MOST_READ_AGAIN = 200_000  # records
