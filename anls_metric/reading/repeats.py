"""Finds questions that a table asks several times: for several models, or because rows were written twice.

Repeated ids tell this. If a table has no ids, or numbers its rows, the questions and their accepted answers tell it,
and where there are no questions, the accepted answers alone.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.reading import long_tables, remedies, resolver
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import Chunk, list_some
from anls_metric.reading.layouts import ABSENT, take_column
from anls_metric.reading.remedies import Remedy

if TYPE_CHECKING:
    from anls_metric.reading.sources import Source


class Doubt(NamedTuple):
    """A reason to doubt how a file was read.

    Attributes:
        text, remedy, value: the words of a hint, as those of `hints.Hint`.
        most: the largest score at which there is a hint.
    """

    text: str
    remedy: Remedy | str
    value: str = ""
    most: float = 1.0


class Repeats:
    """Collects the questions of a table, as hashes of 8 bytes.

    Args:
        source: the table.
    """

    def __init__(self, source: Source) -> None:
        layout, sample = source.layout, source.sample
        self._source = source
        ids = list(map(str, sample.values(layout.id[0]))) if layout.id else []
        self._has_ids = bool(ids) and not resolver.are_places(ids)
        self._question = next(iter(layout.question), None)
        if self._question and len(set(map(str, sample.values(self._question)))) <= min(3, len(sample.records) / 10):
            self._question = None  # one of a few prompts, and no question
        self._is_on = source.reads_texts and source.reading.id_field != "none"
        self._roles = {*layout.id, self._question, *layout.prediction, *layout.references}
        if self._has_ids:  # only several submissions repeat questions then, and a field of few values names them
            counts = [
                len(set(map(str, sample.values(name)))) for name in sample.list_paths() if name not in self._roles
            ]
            self._is_on = self._is_on and any(count <= 0.1 * len(ids) for count in counts)
        self._questions, self._asked = array("q"), array("q")
        self._neighbours = 0  # rows with the question of the row before
        self._files: list[tuple[str, int]] = []  # the file of each chunk in a folder, and the number of its records

    def add(self, chunk: Chunk, references: Sequence[Sequence[str]]) -> None:
        """Add the questions of a chunk. A table is not examined if it is huge, or some questions are not texts."""
        if not self._is_on:
            return
        questions = take_column(chunk.records, self._question) if self._question else []
        self._is_on = {*map(type, questions)} <= {str} and len(self._asked) < _MOST_ROWS
        if self._is_on:
            answers = map(tuple, references)
            self._asked.extend(map(hash, zip(questions, answers) if self._question else answers))
            self._questions.extend(map(hash, questions))
            self._neighbours += sum(map(eq, questions, islice(questions, 1, None)))
            self._files.append((chunk.unit.rpartition(", ")[0], len(references)))

    def conclude(self) -> list[Doubt]:
        """Return the reasons to doubt the number of questions.

        Raises:
            InputError: a field, or the file in a folder, tells several submissions apart that have the same questions.
        """
        count, distinct = len(self._asked), len(set(self._asked))
        if not self._is_on or (not self._question and distinct < 0.02 * count):  # few texts repeat by chance
            return []
        is_known = bool(self._question) and not self._has_ids  # then a few rows that repeat others are a sign, too
        surplus = count - distinct
        may_be_several = surplus >= max(_LEAST, (0.05 if is_known else 0.1 if self._question else _SEVERAL) * count)
        may_be_copies = surplus >= max(_LEAST, (0.01 if is_known else _SEVERAL) * count)
        searches: Mapping[Callable[[], list[Doubt]], bool] = {
            self._find_submissions: may_be_several,
            self._find_crossed: may_be_several and not self._has_ids,
            self._find_padding: is_known,
            self._find_copies: may_be_copies and not self._has_ids,
            self._find_lists: is_known and self._neighbours >= max(_LEAST, 0.05 * count),
        }
        return next(filter(None, (search() for search, is_likely in searches.items() if is_likely)), [])

    def _find_submissions(self) -> list[Doubt]:
        source = self._source
        files = list(chain.from_iterable(repeat(name, count) for name, count in self._files))
        if self._tells_submissions(files):
            problem = f"the files have the same questions ({list_some(dict.fromkeys(files))})"
            raise InputError(problem, source.name, remedies.FILE_FOR_EACH)
        records = list(self._read_again())
        for name in dict.fromkeys(chain.from_iterable(records[: resolver.SAMPLE])):
            values = [record.get(name) for record in records]
            is_name = name not in self._roles and set(map(type, values)) <= {str, int, float, bool}
            if not is_name or long_tables.names_documents(name, values):
                continue
            if self._tells_submissions(values):
                names = list_some(dict.fromkeys(map(str, values)))
                is_each = len(self._asked) - len(set(self._asked)) >= _SEVERAL * len(self._asked)
                problem = f"{'each question has' if is_each else 'some questions have'} several rows"
                problem = f"{problem}, and the field {name!r} ({names})"
                if long_tables.is_run_field(name, source.layout.run_field):
                    return [Doubt(f"{problem} tells runs of one model apart", remedies.RUNS_BY_ID, name)]
                raise InputError(f"{problem} tells submissions apart", source.name, remedies.MODEL_OF_ROWS, name)
        return []

    def _tells_submissions(self, values: Sequence[Hashable]) -> bool:
        if self._question:
            return long_tables.tells_submissions(values, self._questions, self._asked)
        return long_tables.have_all_answers(values, self._asked)

    def _read_again(self) -> Iterator[Mapping[str, Any]]:
        """Read the records again; none if the file cannot be read again."""
        again = self._source.reopen()
        yield from chain.from_iterable(chunk.records for chunk in again.chunks()) if again else ()

    def _find_crossed(self) -> list[Doubt]:
        """Find questions that were joined with each other's predictions."""
        count = count_crossed(self._asked, map(self._source.read_first, self._read_again()))
        text = f"{count:,} of {len(self._asked):,} rows have questions beside the predictions of other questions"
        return [Doubt(text, JOIN_BY_ID)] if count >= 0.01 * len(self._asked) and count else []

    def _find_copies(self) -> list[Doubt]:
        """Find rows that were written twice.

        Questions like "What is the date?" have several answers, and may repeat one by chance. They do not count.
        """
        counts = Counter(self._asked)
        questions = self._questions or self._asked
        answers_of = Counter(question for question, _ in set(zip(questions, self._asked)))
        usual, times = Counter(counts.values()).most_common(1)[0]
        are_all = times >= max(_LEAST_QUESTIONS, 0.8 * len(counts))  # nearly all questions are asked equally often
        most = max(usual if are_all else 0, _COPIES if self._question else 0)
        roles = self._list_roles("id", "prediction")
        first: dict[int, Mapping[str, Any]] = {}
        count = 0
        for question, key, record in zip(questions, self._asked, self._read_again()):
            if answers_of[question] == 1 < counts[key] <= most:
                other = first.setdefault(key, record)
                count += other is not record and _are_alike(other, record, roles)
        what = "the question and the accepted answers" if self._question else "the accepted answers"
        text = f"{count:,} of {len(self._asked):,} rows repeat {what} of another row"
        least = max(_LEAST, 0.01 * len(self._asked))
        return [Doubt(text, REMOVE_COPIES)] if count >= least else []

    def _find_padding(self) -> list[Doubt]:
        """Find last rows that repeat the first rows: a sampler for several processes fills up its last batch with them.

        One such row matters, too. By chance, no question is only in the first row and in the last row.
        """
        count = self._asked.index(self._asked[-1]) + 1 if self._asked else 0
        first = self._asked[:count]
        if 2 * count >= len(self._asked) or first != self._asked[-count:]:
            return []
        times = Counter(self._asked)
        records, roles = list(self._read_again()), self._list_roles()
        are_alike = all(_are_alike(*pair, roles) for pair in zip(records, records[-count:]))
        if not records or not are_alike or {times[key] for key in first} != {2}:
            return []
        text = f"the last {count:,} rows are the same as the first {count:,}" if count > 1 else _LAST_IS_FIRST
        return [Doubt(text, REMOVE_COPIES)]

    def _find_lists(self) -> list[Doubt]:
        """Find questions with a row for each accepted answer."""
        counts = Counter(self._questions)
        roles = self._list_roles("id", "references")
        before: tuple[int, int, Mapping[str, Any]] = 0, 0, {}
        count = 0
        for question, key, record in zip(self._questions, self._asked, self._read_again()):
            if question == before[0] and key != before[1] and counts[question] <= _ACCEPTED:
                count += _are_alike(before[2], record, roles)
            before = question, key, record
        text = f"{count:,} of {len(self._asked):,} rows repeat the question and the prediction of the row before"
        least = max(_LEAST, 0.05 * len(self._asked))
        remedy = "if they hold its other accepted answers, write these into one row, as a list"
        return [Doubt(text, remedy)] if count >= least else []

    def _list_roles(self, *roles: str) -> set[Any]:
        """List the fields in which rows may differ: those of the roles, numbers of rows, and other texts of models."""
        sample, paths = self._source.sample, [path for role in roles for path in getattr(self._source.layout, role)]
        numbers = [name for name in sample.list_paths() if resolver.are_places(list(map(str, sample.values(name))))]
        return {*paths, *numbers, *self._source.other_texts}


def count_crossed(questions: Iterable[Hashable], predictions: Iterable[Any]) -> int:
    """Count the rows of questions that have each other's predictions, as a join by the image of a page makes them.

    If a page has four questions, such a join makes sixteen rows: each question has the predictions of all four.

    Args:
        questions: the id of the question of each row, or a hash of its text with its accepted answers.
        predictions: the prediction of each row.

    Returns:
        The number of rows; 0 if most rows of repeated questions do not look like this, as those of several runs do not.

    Example:
        >>> count_crossed("aaaabbbbccccdddd", "1234" * 4), count_crossed("aaaabbbbccccdddd", "1111222233334445")
        (16, 0)
    """
    predictions_of: dict[Hashable, list[str]] = {}
    for question, prediction in zip(questions, predictions):
        predictions_of.setdefault(question, []).append(repr(prediction))
    blocks: dict[tuple[str, ...], list[int]] = {}  # how often the questions with the same predictions are asked
    repeated = [texts for texts in predictions_of.values() if len(texts) > 1]
    for texts in repeated:
        part = _find_period(texts)
        blocks.setdefault(part, []).append(len(texts) // len(part))
    crossed = {
        part: times
        for part, times in blocks.items()
        if len(part) > 1 < len(times) and sum(times) <= len(part) <= 2 * sum(times)
    }
    count = sum(len(part) * sum(times) for part, times in crossed.items())
    are_others = len(set(chain.from_iterable(crossed))) > 0.5 * sum(map(len, crossed.values()))  # not only yes and no
    return count if are_others and count >= max(_LEAST_CROSSED, 0.5 * sum(map(len, repeated))) else 0


def are_retries(ids: Iterable[Hashable], predictions: Iterable[Any]) -> bool:
    """Whether ids are repeated because requests failed and were sent again: only the last prediction is not empty.

    Example:
        >>> are_retries("abab", [None, "x", "y", "z"]), are_retries("aba", [None, "x", "y"])
        (False, True)
    """
    predictions_of: dict[Hashable, list[bool]] = {}
    for key, prediction in zip(ids, predictions):
        is_empty = prediction is None or prediction is ABSENT or str(prediction).strip() in ("", "nan")
        predictions_of.setdefault(key, []).append(not is_empty)
    repeated = [there for there in predictions_of.values() if len(there) > 1]
    return any(there[-1] for there in repeated) and not any(chain.from_iterable(there[:-1] for there in repeated))


def _find_period(texts: Sequence[str]) -> tuple[str, ...]:
    """Find the shortest part of which texts are repetitions.

    Example:
        >>> _find_period("abab"), _find_period("aba")
        (('a', 'b'), ('a', 'b', 'a'))
    """
    count = len(texts)
    lengths = (n for n in range(1, count) if count % n == 0 and texts[n:] == texts[:-n])
    return tuple(texts[: next(lengths, count)])


RETRIED = "all records of a repeated id but the last have an empty prediction"
KEEP_LAST = "if requests that had failed were sent again, keep only the last record of each id"
REMOVE_COPIES = "if these rows were written twice, remove one of each"
_LAST_IS_FIRST = "the last row is the same as the first one"
JOIN_BY_ID = "join the predictions with the questions by the ids of the questions"
_LEAST = 3.0  # rows
_LEAST_QUESTIONS = 10
_LEAST_CROSSED = 16
_COPIES = 3  # a question with the same answers in more rows is asked about several documents, unless most questions are
_ACCEPTED = 10  # a question in more rows than this is, too
_SEVERAL = 0.35  # at least this share of the rows repeats other rows, if each of several models has all questions
_MOST_ROWS = 200_000


def _are_alike(first: Mapping[str, Any], second: Mapping[str, Any], roles: set[Any]) -> bool:
    """Whether two rows are about the same document: all fields but these roles, measurements and times are the same."""
    different = (value for name, value in second.items() if name not in roles and first.get(name) != value)
    return not any(map(_names_document, different))


def _names_document(value: Any) -> bool:
    """Whether a value can name a document, and is neither a measurement nor a time."""
    return not isinstance(value, float) and not re.match(r"\d{4}-\d\d-\d\d[T ]|\d+\.\d+$", str(value))
