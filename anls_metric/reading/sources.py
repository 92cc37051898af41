"""A source is a file whose layout is known, so that ids, predictions and references can be read as columns.

Whole columns are checked at once; single values are checked only to say what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from anls_metric.core.rows import as_text
from anls_metric.reading import layouts, remedies
from anls_metric.reading.containers import VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import Extraction
from anls_metric.reading.input_file import Chunk, describe_kind, list_some
from anls_metric.reading.layouts import ABSENT, ANSWER_FIELD, remove_prompt, take
from anls_metric.reading.records import Records
from anls_metric.reading.references import parse_references, text_of_parts
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.values import parse_accepted_value, parse_value_or_text

AUTO = "auto"


class Reading(NamedTuple):
    """How to read files. What is None is detected.

    Args:
        layout: the name of a row of `layouts.LAYOUTS`, or "auto".
        id_field: the path of the id; "none" numbers the records of a table.
        prediction_field: the path of the prediction.
        references_field: the path of the accepted answers.
        references_separator: the text between accepted answers that are written as one text.
        repeat: which repetition of the questions to score: the name of a filter of lm-evaluation-harness, or the number
            of an epoch of inspect_ai.
        extract: extracts the answer from raw model output: see `extract.extractor`.
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
        """The names of the rules that extract answers, "" for none."""
        return self.extract.signature if self.extract else ""


class Source:
    """A file whose layout is known.

    Args:
        file: a path, or its `Records`.
        reading: how to read it.
        fields: names and paths of more fields to read, None for all.

    Attributes:
        name: the name of the file.
        layout: which field is which.
        notes: how the file was read, as far as it matters to the score.

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
            self.layout = layouts.find_layout(self.reading.layout)
        else:
            fields_of_file = self.records.fields
            self.layout = layouts.recognize_layout(first, fields_of_file) or layouts.guess_layout(first, fields_of_file)
        if self.reading.values:
            self.layout = self.layout._replace(**self.layout.of_values)
        if VALUE in self.layout.fields:
            several = isinstance(first.get(VALUE), list) and not self.reading.values
            role = "references" if several else "prediction"
            self.layout = layouts.replace_paths(self.layout, **{role: VALUE})
        self.layout = layouts.replace_paths(
            self.layout,
            id=self.reading.id_field if self.reading.id_field != "none" else None,
            prediction=self.reading.prediction_field,
            references=self.reading.references_field,
        )
        if self.reading.id_field == "none":
            self.layout = self.layout._replace(id=())
        if fields is not None:
            self._skip_other_columns(fields)

    def _skip_other_columns(self, fields: Sequence[str]) -> None:
        layout = self.layout
        roles = [*layout.id, *layout.question, *layout.prediction, *layout.references, layout.repeated_by]
        if not any(callable(path) for path in roles):  # a function may need any column
            self.records.keep_columns(_columns_of(roles), unless_bytes=_columns_of(fields))

    @property
    def has_predictions(self) -> bool:
        """Whether the first record has a prediction. A path that somebody names may lead nowhere in this file."""
        first = self.records.first()
        if self.layout.expand and first:
            first = next(iter(self.layout.expand(first)), {})
        return _first_of(first, self.layout.prediction) is not ABSENT

    @property
    def program(self) -> str:
        """The name of the layout, "" where it was guessed from the names of the fields."""
        return "" if self.layout.name == "table" else self.layout.name

    def chunks(self) -> Iterator[Chunk]:
        """Yield the records, each question once if the program repeats them.

        Raises:
            InputError: see `Records.chunks`; or it is not clear which repetition of the questions counts.
        """
        by, expand = self.layout.repeated_by, self.layout.expand
        if expand:
            return _expand_chunks(self.records.chunks(), expand)
        return self._choose_repeats(by) if by else self.records.chunks()

    def _choose_repeats(self, by: str) -> Iterator[Chunk]:
        chunks = list(self.records.chunks())  # only the whole file tells how often a question comes
        values = [[str(record.get(by)) for record in chunk.records] for chunk in chunks]
        known = list(dict.fromkeys(chain.from_iterable(values)))
        chosen = self.reading.repeat
        if chosen is not None and chosen not in known:
            raise self.records.error(f"there is no {by} {chosen!r} (found {list_some(known)})")
        if chosen is None and len(known) > 1:
            if not self.layout.unrepeated:
                problem = f"every question comes {len(known)} times, by {by} ({list_some(known)})"
                raise self.records.error(problem, remedy=remedies.REPEATS[by])
            chosen = known[0]
            if self.reading.prediction_field is None:
                self.layout = layouts.replace_paths(self.layout, prediction=self.layout.unrepeated)
            self.notes.append(
                f"{len(known)} {by}s ({list_some(known)}): each answer is scored once, as {self.layout.prediction[0]}"
            )
        for chunk, names in zip(chunks, values):
            rows = zip(chunk.places, chunk.records, names)
            kept = [(place, record) for place, record, name in rows if chosen in (None, name)]
            yield from _make_chunk(kept, chunk.unit)

    # Columns of a chunk

    def ids(self, chunk: Chunk) -> list[str]:
        """Read the ids as texts, so that 7 in one file is "7" in the other.

        Raises:
            InputError: an id is missing, or is no text and no whole number.
        """
        paths = self.layout.id or layouts.ID_FIELDS[:1]
        ids = self._take_column(chunk, paths, remedies.ID_FIELD)
        kinds = set(map(type, ids))
        if kinds - {str, int}:
            number, value = next((number, value) for number, value in enumerate(ids) if type(value) not in (str, int))
            problem = f"{paths[0]} is {value!r} ({describe_kind(value)})"
            raise self.records.error(problem, chunk.place_of(number), "an id must be a text or a whole number")
        return ids if kinds == {str} else list(map(str, ids))

    def predictions(self, chunk: Chunk, where: Callable[[int], str]) -> list[str | None]:
        """Read the answers, and extract them from raw model output if there are rules for it.

        Args:
            chunk: records of the file.
            where: names the place of a record in an error.

        Returns:
            An answer for each record; None where there is none and `Reading.missing` allows it.

        Raises:
            InputError: an answer is missing or is not a text.
        """
        answers = self._take_predictions(chunk)
        name = _name_of(self.layout.prediction or layouts.PREDICTION_FIELDS, "the prediction")
        if self.reading.values:
            return [self._parse_value(value, name, where, number) for number, value in enumerate(answers)]
        if set(map(type, answers)) != {str}:
            answers = [self._parse_answer(value, name, where, number) for number, value in enumerate(answers)]
        answers = self._unwrap_printed_lists(answers, name, where)
        if self.reading.extract is not None:
            extract = self.reading.extract
            answers = [answer if answer is None else extract(answer) for answer in answers]
        return answers

    def raw_texts(self, chunk: Chunk) -> Iterable[str | None]:
        """Read the raw model output, if rules extract the answers from it; None for each record otherwise."""
        if self.reading.extract is None:
            return repeat(None)
        answers = map(text_of_parts, self._take_predictions(chunk))
        return [answer if isinstance(answer, str) else None for answer in answers]

    def _take_predictions(self, chunk: Chunk) -> list[Any]:
        paths = self.layout.prediction or layouts.PREDICTION_FIELDS[:1]
        return self._take_column(chunk, paths, remedies.PREDICTION_FIELD)

    def _parse_answer(self, value: Any, name: str, where: Callable[[int], str], number: int) -> str | None:
        if value is None:
            if self.reading.missing == "zero":
                return None
            raise InputError(f"{name} is null, which is no answer", where(number), remedies.NO_ANSWER)
        value = text_of_parts(value)
        return _parse_at(as_text, value, name, where, number)  # type: ignore[no-any-return]

    def _parse_value(self, value: Any, name: str, where: Callable[[int], str], number: int) -> Any:
        """Parse an answer that may be a list or nested, or a text that is one as JSON, which is noted."""
        if value is None:
            return self._parse_answer(value, name, where, number)
        value = text_of_parts(value) if self.program else value
        if not isinstance(value, str):
            return _parse_at(_from_json, value, name, where, number)
        text = value if self.reading.extract is None else self.reading.extract(value)
        value = parse_value_or_text(text)
        if value is not text:
            self._note(f"texts of {name} that are JSON are read as JSON")
        return value

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _unwrap_printed_lists(
        self, answers: list[str | None], name: str, where: Callable[[int], str]
    ) -> list[str | None]:
        """Replace answers by their only items, if all of them are printed lists of one item."""
        if self._unwraps is False or not answers or not (answers[0] or "").lstrip().startswith("["):
            unwraps, items = False, answers
        else:
            items = [None if answer is None else _parse_only_item(answer) for answer in answers]
            unwraps = len(answers) > 1 and items.count(None) == answers.count(None)
        if self._unwraps is None:
            self._unwraps = unwraps
            if unwraps:
                self.notes.append(f"every {name} is a printed list of one answer: it is read as that one")
        elif self._unwraps and not unwraps:
            number = next(n for n, answer in enumerate(answers) if answer and _parse_only_item(answer) is None)
            problem = f"{name} is no printed list of one answer, as those before are"
            raise InputError(problem, where(number), "write the answers in one way")
        return items if unwraps else answers

    def references(self, chunk: Chunk, where: Callable[[int], str], remedy: Remedy | str) -> list[Sequence[str]]:
        """Read the accepted answers of each record.

        Args:
            chunk: records of the file.
            where: names the place of a record in an error.
            remedy: what to do where the field is missing.

        Raises:
            InputError: a record has no accepted answers, or one is not a text.
        """
        paths = self.layout.references or layouts.REFERENCES_FIELDS[:1]
        column = self._take_column(chunk, paths, remedy)
        if self.reading.values:
            name = _name_of(paths, "the reference")
            return [_parse_at(self._parse_accepted, value, name, where, number) for number, value in enumerate(column)]
        if set(map(type, column)) == {list} and all(column):
            try:
                "".join(chain.from_iterable(column))  # the fastest check that every item is a string
                return column
            except TypeError:
                pass
        name, separator = _name_of(paths, "references"), self.reading.references_separator
        column = [_parse_at(parse_references, value, name, where, number) for number, value in enumerate(column)]
        return column if separator is None else [_split_references(references, separator) for references in column]

    def _parse_accepted(self, value: Any, name: str) -> Sequence[Any]:
        """Parse an accepted answer: one value, or several as ``{"__tuple__": [...]}``."""
        parsed = parse_accepted_value(value, name) if isinstance(value, str) else value
        if isinstance(value, str) and not isinstance(parsed, str):
            self._note(f"texts of {name} that are JSON are read as JSON")
        parsed = _from_json(parsed, name)
        return parsed if isinstance(parsed, tuple) else (parsed,)

    def complete_records(self, chunk: Chunk) -> Sequence[Mapping[str, Any]]:
        """Add the field "question" to records that have it elsewhere, without the prompt of the program."""
        if not self.program or not self.layout.question:
            return chunk.records
        records: list[Mapping[str, Any]] = []
        for record in chunk.records:
            question = _first_of(record, self.layout.question)
            question = remove_prompt(question) if isinstance(question, str) else question
            same = question is ABSENT or record.get("question") == question
            records.append(record if same else {**record, "question": question})
        return records

    def _take_column(self, chunk: Chunk, paths: Sequence[layouts.Path], remedy: Remedy | str) -> list[Any]:
        first = paths[0]
        if isinstance(first, str):
            try:
                return list(map(itemgetter(first), chunk.records))
            except KeyError:
                pass
        column = [_first_of(record, paths) for record in chunk.records]
        for number, value in enumerate(column):
            if value is ABSENT and isinstance(first, str):
                raise self.records.error_without_field(chunk.records[number], first, chunk.place_of(number), remedy)
            if value is ABSENT:
                problem = f"it does not hold one text or its accepted answers as files of {self.layout.name} do"
                raise self.records.error(problem, chunk.place_of(number))
        return column


def _expand_chunks(chunks: Iterable[Chunk], expand: Callable[[Any], list[dict[str, Any]]]) -> Iterator[Chunk]:
    for chunk in chunks:
        pairs = zip(chunk.places, chunk.records)
        yield from _make_chunk([(place, part) for place, record in pairs for part in expand(record)], chunk.unit)


def _make_chunk(numbered: Sequence[tuple[int, dict[str, Any]]], unit: str) -> Iterator[Chunk]:
    """Make a chunk of records with their numbers; nothing where there are none."""
    if numbered:
        places, records = zip(*numbered)
        yield Chunk(list(records), places, unit)


def _name_of(paths: Sequence[layouts.Path], otherwise: str) -> str:
    """The name of a field in errors."""
    return paths[0] if isinstance(paths[0], str) else otherwise


def _columns_of(paths: Iterable[layouts.Path]) -> list[str]:
    """The columns that paths can begin with."""
    return [name for path in paths if isinstance(path, str) for name in (path, path.partition(".")[0])]


def treat_as_gold(source: Source) -> Source:
    """Treat a source as the gold file: a field `answer` alone holds the accepted answer."""
    if not source.layout.references:
        lone = source.layout.prediction in ((ANSWER_FIELD,), (VALUE,))
        references = source.layout.prediction if lone else ("answers",)
        source.layout = source.layout._replace(references=references)
    return source


def treat_as_submission(source: Source) -> Source:
    """Treat a source as the submission: a field `answer` holds the prediction, unless another field is known."""
    if not source.layout.prediction:
        lone = source.layout.references == (VALUE,)
        source.layout = source.layout._replace(prediction=(VALUE,) if lone else (ANSWER_FIELD,))
    return source


def _first_of(record: Mapping[str, Any], paths: Sequence[layouts.Path]) -> Any:
    return next((value for path in paths if (value := take(record, path)) is not ABSENT), ABSENT)


def _parse_only_item(answer: str) -> str | None:
    """The only item of an answer that is a printed list of one text; None for any other answer."""
    if not (answer.startswith(("['", '["')) and answer.endswith(("']", '"]'))):
        return None
    try:
        items = parse_references(answer, "")
    except ValueError:
        return None
    return items[0] if len(items) == 1 and items[0] != answer else None


def _split_references(references: Sequence[str], separator: str) -> Sequence[str]:
    return [part.strip() for reference in references for part in reference.split(separator)]


def _from_json(value: Any, name: str) -> Any:
    from anls_metric.nested import from_json

    try:
        return from_json(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _parse_at(
    parse: Callable[[Any, str], Any], value: Any, field: str, where: Callable[[int], str], number: int
) -> Any:
    """Parse a value; an error says where it is."""
    try:
        return parse(value, field)
    except ValueError as error:
        raise InputError(str(error), where(number)) from None
