"""A source: a file whose layout is known, so that ids, questions, predictions and references can be read as columns.

Whether all is right is found by looking at whole columns; a value is looked at alone only to say what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from anls_metric.core.rows import as_text
from anls_metric.reading import layouts, remedies
from anls_metric.reading.containers import VALUE
from anls_metric.reading.extract import Extraction
from anls_metric.reading.files import Chunk, kind, some
from anls_metric.reading.layouts import ABSENT, ANSWER_FIELD, take, without_prompt
from anls_metric.reading.records import Records
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.rows import InputError, parse_references, text_of_parts
from anls_metric.reading.values import accepted_value, value_or_text

AUTO = "auto"


class Reading(NamedTuple):
    """How somebody wants files to be read. What is left out is found out.

    Args:
        layout: the name of a row of `layouts.LAYOUTS`, or "auto".
        id_field: the path of the id; "none" numbers the records of a table.
        prediction_field: the path of the prediction.
        references_field: the path of the accepted answers.
        references_separator: what stands between the accepted answers of a text.
        repeat: which of the values counts by which a program repeats its questions: the name of a filter of
            lm-evaluation-harness, the number of an epoch of inspect_ai.
        extract: takes the answer out of what a model wrote: see `extract.extractor`.
        missing: "error", or "zero" to count a question without an answer as 0.
        extra: "error", or "ignore" to leave out answers to questions that the gold file does not have.
        values: whether answers are lists and nested values, and not texts.
    """

    layout: str = AUTO
    id_field: str | None = None
    prediction_field: str | None = None
    references_field: str | None = None
    references_separator: str | None = None
    repeat: str | None = None
    extract: Extraction | None = None
    missing: str = "error"
    extra: str = "error"
    values: bool = False

    @property
    def rules(self) -> str:
        """The names of the rules of extraction, "" for none."""
        return self.extract.signature if self.extract else ""


class Source:
    """A file whose layout is known.

    Args:
        file: a path, or its `Records`.
        reading: how it is to be read.
        fields: names and paths of the fields that are wanted besides, None for all that there are.

    Attributes:
        name: of the file.
        layout: which field is which.
        notes: what was found out that a reader of the number should know.

    Raises:
        InputError: the file cannot be read. ValueError: there is no such layout.
    """

    def __init__(
        self, file: str | Records, reading: Reading | None = None, fields: Sequence[str] | None = None
    ) -> None:
        self.records = file if isinstance(file, Records) else Records(file)
        self.name = self.records.name
        self.reading = reading or Reading()
        self.notes: list[str] = []
        self._unwraps: bool | None = None
        first = self.records.first()
        if self.reading.layout != AUTO:
            self.layout = layouts.named(self.reading.layout)
        else:
            found = layouts.recognise(first, self.records.fields)
            self.layout = found or layouts.by_names(first, self.records.fields)
        if self.reading.values:
            self.layout = self.layout._replace(**self.layout.of_values)
        if VALUE in self.layout.fields:
            several = isinstance(first.get(VALUE), list) and not self.reading.values
            role = "references" if several else "prediction"
            self.layout = layouts.with_paths(self.layout, **{role: VALUE})
        self.layout = layouts.with_paths(
            self.layout,
            id=self.reading.id_field if self.reading.id_field != "none" else None,
            prediction=self.reading.prediction_field,
            references=self.reading.references_field,
        )
        if self.reading.id_field == "none":
            self.layout = self.layout._replace(id=())
        if fields is not None:
            self._leave_out_other_columns(fields)

    def _leave_out_other_columns(self, fields: Sequence[str]) -> None:
        layout = self.layout
        roles = [*layout.id, *layout.question, *layout.prediction, *layout.references, layout.repeated_by]
        if not any(callable(path) for path in roles):  # a function looks for itself
            self.records.only(_columns_of(roles), unless_bytes=_columns_of(fields))

    @property
    def has_predictions(self) -> bool:
        """Whether its first record has a prediction: a path that somebody names may lead nowhere in this file."""
        first = self.records.first()
        if self.layout.expand and first:
            first = next(iter(self.layout.expand(first)), {})
        return _first_of(first, self.layout.prediction) is not ABSENT

    @property
    def program(self) -> str:
        """The name of the layout of a program, "" where the fields are just called what they are."""
        return "" if self.layout.name == "table" else self.layout.name

    def chunks(self) -> Iterator[Chunk]:
        """The records, each question once where a program repeats them.

        Raises:
            InputError: see `Records.chunks`; and questions that come several times.
        """
        by, expand = self.layout.repeated_by, self.layout.expand
        if expand:
            return _expanded(self.records.chunks(), expand)
        return self._unrepeated(by) if by else self.records.chunks()

    def _unrepeated(self, by: str) -> Iterator[Chunk]:
        chunks = list(self.records.chunks())  # which of them count is known at the end
        values = [[str(record.get(by)) for record in chunk.records] for chunk in chunks]
        known = list(dict.fromkeys(chain.from_iterable(values)))
        chosen = self.reading.repeat
        if chosen is not None and chosen not in known:
            raise self.records.error(f"there is no {by} {chosen!r} (found {some(known)})")
        if chosen is None and len(known) > 1:
            if not self.layout.unrepeated:
                raise self.records.error(
                    f"every question comes {len(known)} times, by {by} ({some(known)})", remedy=remedies.REPEATS[by]
                )
            chosen = known[0]
            if self.reading.prediction_field is None:
                self.layout = layouts.with_paths(self.layout, prediction=self.layout.unrepeated)
            self.notes.append(
                f"{len(known)} {by}s ({some(known)}): each answer is scored once, as {self.layout.prediction[0]}"
            )
        for chunk, found in zip(chunks, values):
            keep = [chosen is None or value == chosen for value in found]
            records = [record for record, kept in zip(chunk.records, keep) if kept]
            if records:
                places = [place for place, kept in zip(chunk.places, keep) if kept]
                yield Chunk(records, places, chunk.unit)

    # Columns of a chunk

    def ids(self, chunk: Chunk) -> list[str]:
        """The ids, as texts, so that 7 in one file is "7" in the other."""
        paths = self.layout.id or layouts.ID_FIELDS[:1]
        ids = self._column(chunk, paths, remedies.ID_FIELD)
        kinds = set(map(type, ids))
        if kinds - {str, int}:
            number, value = next((number, value) for number, value in enumerate(ids) if type(value) not in (str, int))
            found = f"{paths[0]} is {value!r} ({kind(value)})"
            raise self.records.error(found, chunk.place(number), "an id must be a text or a whole number")
        return ids if kinds == {str} else list(map(str, ids))

    def predictions(self, chunk: Chunk, where: Callable[[int], str]) -> list[str | None]:
        """The answers; None where there is none and that is allowed.

        Raises:
            InputError: an answer that is not a text.
        """
        paths = self.layout.prediction or (layouts.PREDICTION_FIELDS[0],)
        answers = self._column(chunk, paths, remedies.PREDICTION_FIELD)
        name = str(paths[0]) if isinstance(paths[0], str) else "the prediction"
        if self.reading.values:
            return [self._value(value, name, where, number) for number, value in enumerate(answers)]
        if set(map(type, answers)) != {str}:
            answers = [self._answer(value, name, where, number) for number, value in enumerate(answers)]
        answers = self._without_printed_lists(answers, name, where)
        if self.reading.extract is not None:
            extract = self.reading.extract
            answers = [answer if answer is None else extract(answer) for answer in answers]
        return answers

    def written(self, chunk: Chunk) -> Iterable[str | None]:
        """What the model wrote, where rules take the answers out of that; None where there is no text."""
        if self.reading.extract is None:
            return repeat(None)
        paths = self.layout.prediction or (layouts.PREDICTION_FIELDS[0],)
        answers = map(text_of_parts, self._column(chunk, paths, remedies.PREDICTION_FIELD))
        return [answer if isinstance(answer, str) else None for answer in answers]

    def _answer(self, value: Any, name: str, where: Callable[[int], str], number: int) -> str | None:
        if value is None:
            if self.reading.missing == "zero":
                return None
            raise InputError(f"{name} is null, which is no answer", where(number), remedies.NO_ANSWER)
        value = text_of_parts(value)
        return _told(as_text, value, name, where, number)  # type: ignore[no-any-return]

    def _value(self, value: Any, name: str, where: Callable[[int], str], number: int) -> Any:
        """An answer that may be a list or nested; a text that is one as JSON is read, and that is noted."""
        if value is None:
            return self._answer(value, name, where, number)
        value = text_of_parts(value) if self.program else value
        if not isinstance(value, str):
            return _told(_from_json, value, name, where, number)
        text = value if self.reading.extract is None else self.reading.extract(value)
        value = value_or_text(text)
        if value is not text:
            self._note(f"texts of {name} that are JSON are read as JSON")
        return value

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _without_printed_lists(
        self, answers: list[str | None], name: str, where: Callable[[int], str]
    ) -> list[str | None]:
        """Answers that are all the printed form of a list of one, as that one."""
        if self._unwraps is False or not answers or not (answers[0] or "").lstrip().startswith("["):
            unwraps, found = False, answers
        else:
            found = [None if answer is None else _only_item(answer) for answer in answers]
            unwraps = len(answers) > 1 and all(one is not None or answer is None for one, answer in zip(found, answers))
        if self._unwraps is None:
            self._unwraps = unwraps
            if unwraps:
                self.notes.append(f"every {name} is a printed list of one answer: it is read as that one")
        elif self._unwraps and not unwraps:
            number = next(number for number, answer in enumerate(answers) if answer and _only_item(answer) is None)
            found_text = f"{name} is no printed list of one answer, as those before are"
            raise InputError(found_text, where(number), "write the answers in one way")
        return found if unwraps else answers

    def references(self, chunk: Chunk, where: Callable[[int], str], remedy: Remedy | str) -> list[Sequence[str]]:
        """The accepted answers of each record.

        Raises:
            InputError: none, or something that is no text.
        """
        paths = self.layout.references or (layouts.REFERENCES_FIELDS[0],)
        column = self._column(chunk, paths, remedy)
        if self.reading.values:
            name = str(paths[0]) if isinstance(paths[0], str) else "the reference"
            return [_told(self._accepted, value, name, where, number) for number, value in enumerate(column)]
        if set(map(type, column)) == {list} and all(column):
            try:
                "".join(chain.from_iterable(column))  # the fastest check that every item is a string
                return column
            except TypeError:
                pass
        name, separator = (
            str(paths[0]) if isinstance(paths[0], str) else "references",
            self.reading.references_separator,
        )
        found = [_told(parse_references, value, name, where, number) for number, value in enumerate(column)]
        return found if separator is None else [_split(references, separator) for references in found]

    def _accepted(self, value: Any, name: str) -> Sequence[Any]:
        """What is accepted: one value, or the several of ``{"__tuple__": [...]}``."""
        read = accepted_value(value, name) if isinstance(value, str) else value
        if isinstance(value, str) and not isinstance(read, str):
            self._note(f"texts of {name} that are JSON are read as JSON")
        read = _from_json(read, name)
        return read if isinstance(read, tuple) else (read,)

    def rows_records(self, chunk: Chunk) -> Sequence[Mapping[str, Any]]:
        """The records, each with its question under "question", without the prompt that a program wrote around it."""
        if not self.program or not self.layout.question:
            return chunk.records
        records: list[Mapping[str, Any]] = []
        for record in chunk.records:
            asked = _first_of(record, self.layout.question)
            asked = without_prompt(asked) if isinstance(asked, str) else asked
            same = asked is ABSENT or record.get("question") == asked
            records.append(record if same else {**record, "question": asked})
        return records

    def _column(self, chunk: Chunk, paths: Sequence[layouts.Path], remedy: Remedy | str) -> list[Any]:
        first = paths[0]
        if isinstance(first, str):
            try:
                return list(map(itemgetter(first), chunk.records))
            except KeyError:
                pass
        column = [_first_of(record, paths) for record in chunk.records]
        for number, value in enumerate(column):
            if value is ABSENT and isinstance(first, str):
                raise self.records.error_without_field(chunk.records[number], first, chunk.place(number), remedy)
            if value is ABSENT:
                found = f"it does not hold one text or its accepted answers as files of {self.layout.name} do"
                raise self.records.error(found, chunk.place(number))
        return column


def _expanded(chunks: Iterable[Chunk], expand: Callable[[Any], list[dict[str, Any]]]) -> Iterator[Chunk]:
    for chunk in chunks:
        several = [(place, one) for place, record in zip(chunk.places, chunk.records) for one in expand(record)]
        if several:
            places, records = zip(*several)
            yield Chunk(list(records), places, chunk.unit)


def _columns_of(paths: Iterable[layouts.Path]) -> list[str]:
    """The columns that paths may begin with."""
    return [name for path in paths if isinstance(path, str) for name in (path, path.partition(".")[0])]


def as_gold(source: Source) -> Source:
    """The source as the one that has the accepted answers: there a lone `answer` is one."""
    if not source.layout.references:
        lone = source.layout.prediction in ((ANSWER_FIELD,), (VALUE,))
        references = source.layout.prediction if lone else ("answers",)
        source.layout = source.layout._replace(references=references)
    return source


def as_submission(source: Source) -> Source:
    """The source as the one that has the answers: there they are in `answer` where nothing else is known."""
    if not source.layout.prediction:
        lone = source.layout.references == (VALUE,)
        source.layout = source.layout._replace(prediction=(VALUE,) if lone else (ANSWER_FIELD,))
    return source


def _first_of(record: Mapping[str, Any], paths: Sequence[layouts.Path]) -> Any:
    return next((found for path in paths if (found := take(record, path)) is not ABSENT), ABSENT)


def _only_item(answer: str) -> str | None:
    """The text of which an answer is the printed list."""
    if not (answer.startswith(("['", '["')) and answer.endswith(("']", '"]'))):
        return None
    try:
        items = parse_references(answer, "")
    except ValueError:
        return None
    return items[0] if len(items) == 1 and items[0] != answer else None


def _split(references: Sequence[str], separator: str) -> Sequence[str]:
    return [part.strip() for reference in references for part in reference.split(separator)]


def _from_json(value: Any, name: str) -> Any:
    from anls_metric.nested import from_json

    try:
        return from_json(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _told(read: Callable[[Any, str], Any], value: Any, field: str, where: Callable[[int], str], number: int) -> Any:
    """What is read from a value; where it cannot be, an error that says where it stands."""
    try:
        return read(value, field)
    except ValueError as error:
        raise InputError(str(error), where(number)) from None
