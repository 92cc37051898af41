"""A source is a file whose layout is known, so that ids, predictions and references can be read as columns.

Whole columns are checked at once; single values are checked only to describe an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.core.rows import as_references, as_text, describe
from anls_metric.reading import layouts, long_tables, remedies, resolver
from anls_metric.reading.answer_fields import CONFIDENCE, CONFIDENCE_FIELDS, JUDGE, READERS
from anls_metric.reading.column_records import get_column
from anls_metric.reading.containers import VALUE, holds_questions
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import Extraction, ExtractionReport
from anls_metric.reading.input_file import FIRST_SHEET, Chunk, describe_kind, list_some
from anls_metric.reading.layouts import ABSENT, Layout, look_up, remove_prompt, take
from anls_metric.reading.records import DELIMITED, TABLES, Records
from anls_metric.reading.references import is_unanswerable, parse_references, text_of_parts, unwrap_references
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.repeats import Doubt
from anls_metric.reading.resolver import Sample, Side, as_id
from anls_metric.reading.values import parse_accepted_value, parse_value_or_text

if TYPE_CHECKING:
    from anls_metric.reading.rule_columns import RuleColumns

AUTO = "auto"
CHOICES = {"missing": ("error", "zero"), "extra": ("error", "ignore"), "runs": ("question", "error")}
"""The values of the fields of `Reading` that have a few."""


class Reading(NamedTuple):
    """How to read files. An option that is None is detected.

    Args:
        layout: the name of a row of `layouts.LAYOUTS`, or "auto".
        id_field: the path of the id, in the files that have it; "none" numbers the records of a table, and matches
            answers with questions by position.
        gold_id_field: the path of the id in the gold file, where it differs.
        prediction_field: the path of the prediction; several paths separated by commas make a submission each.
        references_field: the path of the accepted answers.
        submission_field: the field that names the submission of each record, in a long table.
        references_separator: the text between accepted answers that share one string.
        filter: which filter of lm-evaluation-harness to score.
        runs: "question" if answers with the same id are runs of one model, "error" to refuse them; None takes them
            as runs if every id occurs equally often and they differ in nothing else.
        run: which run to score, None for the mean of all: its number from 1, or the value of the field that names the
            runs, such as the epoch.
        extract: extracts the answer from raw model output: see `extract.extractor`.
        confidence_field: the path of the confidence in an answer.
        judge_field: the path of the verdict of a judge about an answer; None reads none.
        missing: "error", or "zero" to count a question without an answer as 0.
        extra: "error", or "ignore" to leave out answers to questions that the gold file does not have.
        values: whether answers are lists and nested values, and not texts.
        rule: the columns of the rule of a benchmark; None for texts and for lists and nested values.
    """

    layout: str = AUTO
    id_field: str | None = None
    gold_id_field: str | None = None
    prediction_field: str | None = None
    references_field: str | None = None
    submission_field: str | None = None
    references_separator: str | None = None
    filter: str | None = None
    runs: str | None = None
    run: str | None = None
    extract: Extraction | None = None
    confidence_field: str | None = None
    judge_field: str | None = None
    missing: str = "error"
    extra: str = "error"
    values: bool = False
    rule: RuleColumns | None = None

    @property
    def rules(self) -> str:
        """The names of the extraction rules, "" for none."""
        return self.extract.signature if self.extract else ""


class Source:
    """A file whose layout is known.

    Args:
        file: a path, or its `Records`.
        reading: how to read it.
        fields: names and paths of more fields to read, None for all.

    Attributes:
        name: the name of the file.
        sample: its first records.
        layout: which field is which. It holds no fields of a table until `take_side` decides.
        other_texts: fields of text that could also have been the prediction.
        notes: how the file was read, where it matters for the score.
        doubts: reasons to doubt how it was read, which hints name.
        numbers: how many predictions are numbers rather than texts, by type.
        accepted_numbers: how many accepted answers are numbers rather than texts, by type.
        failures: how many requests failed, by the reason that the file gives.
        extraction: what the extraction rules did; None without rules.
        faces_texts: whether the predictions of another file are texts.

    Raises:
        InputError: the file cannot be read. ValueError: there is no such layout.
    """

    def __init__(
        self, file: str | Records, reading: Reading | None = None, fields: Sequence[str] | None = None
    ) -> None:
        self.records = file if isinstance(file, Records) else Records(file)
        self.name = self.records.name
        self.reading = reading or Reading()
        self.other_texts: list[str] = []
        self.notes: list[str] = []
        self.doubts: list[Doubt] = []
        self.numbers: Counter[type] = Counter()
        self.accepted_numbers: Counter[type] = Counter()
        self.failures: Counter[str] = Counter()
        self.extraction = self._start_extraction()
        self.faces_texts = False
        self._fields = fields
        self._more_columns: list[str] = []
        self._columns: list[str] = []  # the prediction fields of a table in which each column is a submission
        self._held: list[Chunk] | None = None
        self._side: Side | None = None
        self._unwraps: bool | None = None
        self._first = self.records.first_records()
        first = self._first[0] if self._first else {}
        if self.reading.layout != AUTO:
            layout: Layout | None = layouts.find_layout(self.reading.layout)
        else:
            layout = layouts.recognize_layout(first, self.records.fields)
        if layout and self.reading.values:
            layout = layout._replace(**layout.of_values)
        self._recognized = layout
        self.layout = layout or layouts.TABLE
        self.sample = Sample(self.name, self._expand(self._first[: resolver.SAMPLE]), self.records.fields)
        self._whole_sample = self.sample  # a part of a long table keeps it, so that all parts have the same roles
        self._layouts: dict[Side, Layout] = {}

    def _start_extraction(self) -> ExtractionReport | None:
        return ExtractionReport(self.reading.extract) if self.reading.extract else None

    @property
    def program(self) -> str:
        """The name of the layout, "" if it was guessed from the names of the fields."""
        return "" if self._recognized is None else self.layout.name

    def first_records(self) -> Sequence[dict[str, Any]]:
        """Return the first chunk of records."""
        return self._expand(self._first)

    def _expand(self, records: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        expand = self.layout.expand
        return list(chain.from_iterable(map(expand, records))) if expand else records

    # Which field is which

    def try_side(self, side: Side) -> Layout:
        """Find the layout of the file, assuming that it holds this side: see `resolver.resolve`."""
        if side not in self._layouts:
            reading = self.reading
            named = {
                "id": None if reading.id_field == "none" else reading.id_field,
                "prediction": None if side == "gold" else next(iter(self.prediction_fields), None),
                "references": None if side == "submission" else reading.references_field,
            }
            if reading.rule and self._recognized is None:
                named |= {
                    role: named[role] or path for role, path in reading.rule.find_roles(side, self.sample).items()
                }
            values = reading.values or reading.rule is not None
            layout = resolver.resolve(side, self.sample, self._recognized, named, values)
            without_id = reading.id_field == "none" and side == "both"
            self._layouts[side] = layout._replace(id=()) if without_id else layout
        return self._layouts[side]

    def take_side(self, side: Side, alone: bool = True, gold_fields: Collection[str] = ()) -> Source:
        """Decide what the file holds, and which field is which.

        Args:
            side: predictions with their accepted answers, accepted answers, or predictions.
            alone: whether this is the only file with that side. Then it must have the fields that the user names.
            gold_fields: the fields of the gold file, which hold no predictions.

        Raises:
            InputError: a field that the user names is missing, or would have two roles.
        """
        if self._side != side:
            self._side = side
            self.layout = self.try_side(side)
            self.check_named_fields(side, alone)
            there = bool(self.sample.records)
            if there and not self.layout.references and side != "submission":
                raise self.error_of_missing("accepted answers", remedies.NO_REFERENCES_HERE)
            if there and not self.layout.prediction and side != "gold":
                raise self.error_of_missing("predictions", remedies.PREDICTION_FIELD)
            if self.reading.filter is not None and not self.layout.repeated_by and side != "gold":
                self.note(f"it has no filters: the filter {self.reading.filter!r} is not used")
            resolver.refuse_two_roles(side, self.sample, self.layout)
            if side == "both":
                self._choose_references()
            self._note_other_texts(side, gold_fields)
        return self

    def error_of_missing(self, what: str, remedy: Remedy | str) -> InputError:
        """Make the error for a file without predictions or accepted answers; it lists the paths of a record."""
        if self.holds_means:
            return self.records.error(
                "it has the mean scores of an evaluation harness, and no answers", remedy=_SAMPLES
            )
        if not self.sample.records:
            return self.records.error("it has no records", remedy="add a record for each question")
        for paths in self._find_values():
            values = (first_of(record, paths) for record in self.sample.records)
            value = next((value for value in values if isinstance(value, (list, dict))), None)
            if value is not None:
                return _error_of_value(value, paths, what, self.name, self.sample.values(paths[0]))
        if self.records.ending in DELIMITED and any(path.strip().isdecimal() for path in self.sample.list_paths()):
            remedy = "the first line looks like data: write a line with a name for each column before it: id and answer"
        file = "its first sheet" if self.records.other_sheets else "it"
        fields, named = self.sample.list_paths(), self.reading.references_field
        if self.records.other_sheets:
            remedy = FIRST_SHEET
        elif self.records.ending in TABLES and len(list(filter(None, fields))) <= 1:
            remedy = "the first row must name the columns: delete the rows above it"
        elif remedy is remedies.NO_REFERENCES_HERE and self._has_all(named):
            remedy = remedies.ONE_LIST
        return self.records.error(f"{file} has no {what} (found {self.sample.describe_paths()})", remedy=remedy)

    def _has_all(self, paths: str | None) -> bool:
        """Whether the file has all of several paths, separated by commas."""
        return paths is not None and "," in paths and all(map(self.sample.has, map(str.strip, paths.split(","))))

    @property
    def holds_means(self) -> bool:
        """Whether it is a file of means that a harness writes beside the answers, such as ``results_*.json``."""
        return any("_stderr" in path for path in self.sample.list_paths())

    def _find_values(self) -> list[Sequence[layouts.Path]]:
        """Find the fields that are missing among the texts, and that are there as lists or nested values."""
        side = self._side or "both"
        texts, values = self.try_side(side), resolver.resolve(side, self.sample, self._recognized, values=True)
        paths_of_roles = [getattr(values, role) for role in ("prediction", "references") if not getattr(texts, role)]
        return [paths for paths in paths_of_roles if name_of(paths, "") and roles_of(texts).isdisjoint(paths)]

    def check_named_fields(self, side: Side, alone: bool = True) -> None:
        """Refuse a field that the user names and the file lacks; only note it if another file may have the field.

        Raises:
            InputError: the field is missing.
        """
        layout = self.try_side(side)
        roles = {
            "prediction": (next(iter(self.prediction_fields), None), remedies.PREDICTION_FIELD),
            "references": (self.reading.references_field, remedies.REFERENCES_FIELD),
        }
        for role, (path, remedy) in roles.items():
            if path is None or self.sample.has(path) or not self.sample.records:
                continue
            if (side, role) in (("gold", "prediction"), ("submission", "references")):
                continue
            own = getattr(layout, role)
            if alone or not own:
                if role == "references" and self._has_all(path):
                    remedy = remedies.ONE_LIST
                raise self._error_without_field(self.sample.records[0], path, "", remedy)
            what = "the prediction is" if role == "prediction" else "the accepted answers are"
            self.note(f"it has no field {path!r}: {what} read from {own[0]!r}")

    def _note_other_texts(self, side: Side, gold_fields: Collection[str]) -> None:
        if side == "gold" or self.reading.prediction_field or self.reading.values or self.reading.rule:
            return
        self.other_texts = resolver.find_other_texts(side, self.sample, self.layout, gold_fields)
        if self.other_texts:
            others = " or ".join(map(repr, self.other_texts[:3]))
            note = f"the prediction is read from {self.layout.prediction[0]!r}, not from {others}"
            self.notes.append(f"{note}; to read another field, name it (--prediction-field)")

    def _choose_references(self) -> None:
        """Choose the field of the accepted answers in a table with predictions: the same one for all submissions."""
        others = self._find_other_references()
        columns: list[Sequence[layouts.Path]] = [(column,) for column in self._columns] or [self.layout.prediction]
        pairs = [
            (record, text_of_parts(first_of(record, column)))
            for column in columns
            for record in (self._whole_sample.records if others else ())
        ]
        if others:
            self.layout = self.layout._replace(references=(resolver.choose_references(self.layout, others, pairs),))
            self.doubts += self.check_references(pairs)

    def _find_other_references(self) -> list[str]:
        if self.reading.references_field or not self.reads_texts:
            return []
        return resolver.find_other_references(self._whole_sample, self.layout)

    def check_references(self, pairs: Iterable[tuple[Mapping[str, Any], Any]]) -> list[Doubt]:
        """Note fields that could hold the accepted answers, too, and doubt the choice if the predictions equal one.

        Args:
            pairs: some records of this file, each with its prediction.
        """
        others = self._find_other_references()
        if not others:
            return []
        own = self.layout.references[0]
        not_read = " or ".join(map(repr, others[:3]))
        self.note(f"the accepted answers are read from {own!r}, not from {not_read}")
        path, problem = resolver.find_better_references(own, others, list(pairs))
        return [Doubt(problem, remedies.OTHER_REFERENCES, path)] if path else []

    def read_first(self, record: Mapping[str, Any]) -> Any:
        """Read the prediction of a record of the sample, before any rule extracts it."""
        return text_of_parts(first_of(record, self.layout.prediction))

    @property
    def prediction_fields(self) -> list[str]:
        """The prediction fields that the user names. A name with commas is one field if the file has it."""
        named = self.reading.prediction_field
        if named is None:
            return []
        return [named] if self.sample.has(named) else [part for part in map(str.strip, named.split(",")) if part]

    @cached_property
    def beside_fields(self) -> Mapping[str, str]:
        """The paths of the confidence and of the verdict of a judge, by the names of `answer_fields.READERS`."""
        named = self.reading.confidence_field, self.reading.judge_field
        usual = next(filter(self.sample.has, CONFIDENCE_FIELDS), None)
        paths = {CONFIDENCE: named[0] or usual, JUDGE: named[1]}
        return {role: path for role, path in paths.items() if path is not None}

    @property
    def reads_texts(self) -> bool:
        """Whether answers are texts, rather than lists, nested values or the columns of a rule."""
        return not self.reading.values and self.reading.rule is None

    @property
    def reads_beside(self) -> bool:
        """Whether answers have a confidence or a verdict."""
        return bool(self.beside_fields) or self.reading.rule is not None

    def beside(self, chunk: Chunk, where: Callable[[int], str]) -> list[Mapping[str, Any]] | None:
        """Read the fields of `beside_fields`. An unreadable value is skipped, unless the user names its field.

        Returns:
            A dict for each record; None if the file has no such fields.

        Raises:
            InputError: a value of a field that the user names cannot be read.
        """
        if not self.reads_beside:
            return None
        return [self._read_beside(record, where, number) for number, record in enumerate(chunk.records)]

    def _read_beside(self, record: Mapping[str, Any], where: Callable[[int], str], number: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for role, path in self.beside_fields.items():
            try:
                values[role] = READERS[role](record, path)
            except ValueError as error:
                if path in (self.reading.confidence_field, self.reading.judge_field):
                    raise InputError(str(error), where(number)) from None
        if self.reading.rule:
            from anls_metric.reading.rule_columns import COLUMNS

            values[COLUMNS] = self.reading.rule.take(record, self.layout, self.reading.rule.names)
        return values

    def has_both_sides(self) -> bool:
        """Whether the file has accepted answers, and predictions in another field."""
        layout = self.try_side("both")
        prediction, references = name_of(layout.prediction, ""), name_of(layout.references, "")
        separate = layout.prediction[:1] not in (layout.references[:1], layout.id[:1]) and not prediction.startswith(
            f"{references}."
        )
        return separate and bool(layout.references) and any(map(self.sample.has, layout.prediction))

    @property
    def holds_both(self) -> bool:
        """Whether the file is read as predictions with their accepted answers."""
        return self._side == "both"

    def all_notes(self) -> list[str]:
        """Return the notes, with sentences about answers that are numbers, and about failed requests."""
        numbers = [
            _describe_numbers(counts[kind], noun, words)
            for noun, counts in (("prediction", self.numbers), ("accepted answer", self.accepted_numbers))
            for kind, words in _NUMBERS.items()
            if counts[kind]
        ]
        return [
            *self.records.notes,
            *self.notes,
            *numbers,
            *([layouts.describe_failures(self.failures)] if self.failures else []),
        ]

    # Records

    def chunks(self) -> Iterator[Chunk]:
        """Yield the records, each question once if the program repeats them.

        Raises:
            InputError: see `Records.chunks`; or it is unclear which repetition of a question counts.
        """
        if self._held is not None:
            yield from self._held
            return
        self._skip_other_columns()
        by, expand = self.layout.repeated_by, self.layout.expand
        if expand:
            yield from _expand_chunks(self.records.chunks(), expand)
        else:
            yield from self._choose_repeats(by) if by else self.records.chunks()

    def reopen(self) -> Source | None:
        """Make a source with the same roles that reads all columns of the records again; None for a pipe."""
        if self._held is not None:
            return self._take_part(self._held)
        records = self.records.reopen()
        if records is None:
            return None
        again = Source(records, self.reading)
        again.layout = self.layout
        return again

    def hold(self, columns: Iterable[layouts.Path] = ()) -> list[Chunk]:
        """Read all records and keep them, so that `chunks` yields them again.

        Args:
            columns: paths of more columns to read.
        """
        if self._held is None:
            self._more_columns += _columns_of(columns)
            self._held = list(self.chunks())
        return self._held

    def keep_columns(self, columns: Iterable[layouts.Path]) -> None:
        """Read these columns as well as the columns of the roles."""
        self._more_columns += _columns_of(columns)

    def _skip_other_columns(self) -> None:
        layout = self.layout
        roles = [*layout.id, *layout.question, *layout.prediction, *layout.references, layout.repeated_by]
        roles += self.beside_fields.values() if self._side != "gold" else ()
        roles += self.reading.rule.list_paths(layout) if self.reading.rule else ()
        if self._fields is not None and self._side and not layout.expand and not any(map(callable, roles)):
            columns = [*_columns_of(roles), *self._more_columns]
            self.records.keep_columns(columns, unless_bytes=_columns_of(self._fields))

    def split(self) -> dict[str, Source]:
        """Split a file that holds several submissions.

        Returns:
            A source for each submission by its name: a prediction field, or a value of the field that names the model.
            Empty where the file holds one submission.

        Raises:
            InputError: the file does not have a field that the user names, or few records name their model.
        """
        columns = self.prediction_fields
        if len(columns) > 1:
            self._columns = columns
            return {column: self._take_part(self.hold(), prediction_field=column) for column in columns}
        field = self.reading.submission_field
        if field is not None:
            return self._split_by(field)
        field = long_tables.find_submission_field(self.sample.list_paths(), roles_of(self.try_side("both")))
        if field is None or self.layout.repeated_by:
            return {}
        names = {str(take(record, field)) for chunk in self.hold() for record in chunk.records}
        count = sum(len(chunk.records) for chunk in self.hold())
        are_several = 1 < len(names) <= count / 2 and self._repeats_questions(field)
        return self._split_by(field) if are_several else {}

    def _split_by(self, field: str) -> dict[str, Source]:
        chunks = self.hold()
        columns = [self._take_column(chunk, [field], remedies.PICK_SUBMISSION_FIELD) for chunk in chunks]
        names = list(chain.from_iterable(columns))
        filled = [str(name) for name in names if name not in ("", None) and name == name]
        if 1 < len(filled) == len(set(filled)) <= len(names) / 3 and str(names[0]) == filled[0]:
            problem = f"only {len(filled):,} of its {len(names):,} records name a {field}, as if cells were merged"
            raise self.records.error(problem, remedy=f"write the {field} into each record")
        parts = self.split_by([list(map(str, column)) for column in columns])
        note = f"{len(parts)} submissions, one for each {field} ({list_some(parts)})"
        for part in parts.values():
            part.notes = [note]
        return parts

    def split_by(self, keys: Sequence[Sequence[str]]) -> dict[str, Source]:
        """Split the records of a source that holds them.

        Args:
            keys: the key of each record, in a list for each chunk.

        Returns:
            A source for each key.
        """
        parts: dict[str, list[Chunk]] = {key: [] for column in keys for key in column}
        for chunk, column in zip(self.hold(), keys):
            rows: dict[str, list[tuple[int, dict[str, Any]]]] = {}
            for key, place, record in zip(column, chunk.places, chunk.records):
                rows.setdefault(key, []).append((place, record))
            for key, numbered in rows.items():
                parts[key] += _make_chunk(numbered, chunk.unit)
        return {key: self._take_part(chunks) for key, chunks in parts.items()}

    def _repeats_questions(self, field: str) -> bool:
        """Whether the values of a field have the same questions, by their ids, or by their texts and accepted answers.

        If there are neither ids nor questions, they have.
        """
        layout, records = self.try_side("both"), [record for chunk in self.hold() for record in chunk.records]
        ids = () if self.reading.id_field == "none" else [str(first_of(record, layout.id)) for record in records]
        if layout.id and len(set(ids)) < len(ids):
            return True
        if not layout.question:
            return not layout.id or not ids
        names = [str(take(record, field)) for record in records]
        questions = [repr(first_of(record, layout.question)) for record in records]
        asked = [(question, repr(first_of(record, layout.references))) for question, record in zip(questions, records)]
        is_same = long_tables.tells_submissions if layout.id and ids else long_tables.have_same_answers
        return is_same(names, questions, asked)

    def _take_part(self, chunks: list[Chunk], prediction_field: str | None = None) -> Source:
        part = copy(self)
        part._held, part._side = chunks, None
        part.reading = self.reading._replace(prediction_field=prediction_field or self.reading.prediction_field)
        part.notes, part.doubts, part.other_texts, part._layouts = [], [], [], {}
        part.numbers, part.accepted_numbers, part.failures = Counter(), Counter(), Counter()
        part.extraction = self._start_extraction()
        part.sample = Sample(self.name, chunks[0].records if chunks else [], self.sample.fields)
        return part

    def _choose_repeats(self, by: str) -> Iterator[Chunk]:
        chunks = list(self.records.chunks())  # only the whole file shows how often a question is repeated
        values = [[str(record.get(by)) for record in chunk.records] for chunk in chunks]
        known = list(dict.fromkeys(chain.from_iterable(values)))
        chosen = self.reading.filter
        if chosen is not None and chosen not in known:
            raise self.records.error(
                f"there is no {by} {chosen!r} (found {list_some(known)})", remedy="name one of these"
            )
        if chosen is None and len(known) > 1:
            chosen = known[0]
            if self.reading.prediction_field is None:
                self.layout = self.layout._replace(prediction=(self.layout.unrepeated,))
            self.notes.append(
                f"{len(known):,} {by}s ({list_some(known)}): each answer is scored once, as {self.layout.prediction[0]}"
            )
        for chunk, names in zip(chunks, values):
            rows = zip(chunk.places, chunk.records, names)
            pairs = [(place, record) for place, record, name in rows if chosen in (None, name)]
            yield from _make_chunk(pairs, chunk.unit)

    # Columns of a chunk

    def ids(self, chunk: Chunk) -> list[str]:
        """Read the ids as texts, so that 7 in one file is "7" in the other.

        Raises:
            InputError: an id is missing, or is neither a text nor a whole number.
        """
        paths = self.layout.id
        ids = self._take_column(chunk, paths, remedies.ID_FIELD)
        kinds = set(map(type, ids))
        if kinds <= {str, int}:
            return ids if kinds == {str} else list(map(str, ids))
        texts = []
        for number, value in enumerate(ids):
            if (text := as_id(value)) is None:
                problem = f"{paths[0]} is {value!r} ({describe_kind(value)})"
                raise self.records.error(problem, chunk.place_of(number), "an id must be a text or a whole number")
            texts.append(text)
        return texts

    def predictions(self, chunk: Chunk, where: Callable[[int], str]) -> list[str | None]:
        """Read the answers, and extract them from raw model output if there are extraction rules.

        Args:
            chunk: records of the file.
            where: names the place of a record in an error.

        Returns:
            An answer for each record; None if it is missing and `Reading.missing` allows that, and if the request
            failed.

        Raises:
            InputError: an answer is missing, or is not a text.
        """
        if self.reading.rule:
            return self._show_predictions(chunk, where, self.reading.rule)
        answers = self._take_predictions(chunk)
        failed = layouts.find_failures(self.layout, chunk.records, answers)
        self.failures.update(failed.values())
        name = _show_field(self.layout.prediction, "the prediction")
        if self.reading.values or set(map(type, answers)) != {str}:
            parse = self._parse_value if self.reading.values else self._parse_answer
            answers = [
                None if number in failed else parse(value, name, where, number) for number, value in enumerate(answers)
            ]
        if self.reading.values:
            return answers
        answers = self._unwrap_printed_lists(answers, name, where)
        if self.extraction is not None:
            extract = self.extraction.extract
            answers = [answer if answer is None else extract(answer) for answer in answers]
        return answers

    def _show_predictions(self, chunk: Chunk, where: Callable[[int], str], rule: RuleColumns) -> list[str | None]:
        """Format the answers as texts. The rule of a benchmark scores the values behind them."""
        answers = [rule.show_prediction(record, self.layout) for record in chunk.records]
        if None in answers and self.reading.missing != "zero":
            name = _show_field(self.layout.prediction, "the prediction")
            raise InputError(f"{name} is null, not an answer", where(answers.index(None)), remedies.NO_ANSWER)
        if self.extraction is not None:
            extract = self.extraction.extract
            answers = [answer if answer is None else extract(answer) for answer in answers]
        return answers

    def raw_texts(self, chunk: Chunk) -> list[str | None] | None:
        """Read the raw model output, if rules extract the answers from it; None otherwise."""
        if self.reading.extract is None:
            return None
        answers = map(text_of_parts, self._take_predictions(chunk))
        return [answer if isinstance(answer, str) else None for answer in answers]

    def _take_predictions(self, chunk: Chunk) -> list[Any]:
        return self._take_column(chunk, self.layout.prediction, remedies.PREDICTION_FIELD)

    def _parse_answer(self, value: Any, name: str, where: Callable[[int], str], number: int) -> str | None:
        if value is None or value != value:  # NaN: a gap in a column of numbers
            if self.reading.missing == "zero":
                return None
            kind = "null" if value is None else "NaN"
            raise InputError(f"{name} is {kind}, not a text", where(number), remedies.NO_ANSWER)
        value = text_of_parts(value)
        if isinstance(value, (list, dict)):
            paths = self.layout.prediction
            if self._looks_swapped():
                problem = f"{name} is {describe(value)}, and every accepted answer is a text, so the two look swapped"
                raise InputError(problem, where(number), remedies.SWAPPED)
            raise _error_of_value(value, paths, name, where(number), self.sample.values(paths[0]))
        if type(value) in (int, float):
            self.numbers[type(value)] += 1
            return str(value)
        return _parse_at(as_text, value, name, where, number)  # type: ignore[no-any-return]

    def _looks_swapped(self) -> bool:
        """Whether two columns in memory hold lists of texts as predictions, and texts as accepted answers."""
        predictions, accepted = (
            [first_of(record, paths) for record in self.sample.records]
            for paths in (self.layout.prediction, self.layout.references)
        )
        several = any(isinstance(value, list) and len(value) > 1 for value in predictions)
        in_memory = self._side == "both" and not self.records.path
        return in_memory and several and all(isinstance(value, str) for value in accepted)

    def _parse_value(self, value: Any, name: str, where: Callable[[int], str], number: int) -> Any:
        """Parse an answer that may be a value, or a JSON text of one; parsing a text adds a note."""
        if value is None:
            return self._parse_answer(value, name, where, number)
        value = text_of_parts(value) if self.program else value
        if not isinstance(value, str):
            return _parse_at(_from_json, value, name, where, number)
        text = value if self.extraction is None else self.extraction.extract(value)
        value = parse_value_or_text(text)
        if value is not text:
            self.note(f"texts of {name} that are JSON are read as JSON")
        return value

    def note(self, note: str) -> None:
        """Add a note, unless it was added before."""
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

    def references(self, chunk: Chunk, where: Callable[[int], str]) -> list[Sequence[str]]:
        """Read the accepted answers of each record.

        Args:
            chunk: records of the file.
            where: names the place of a record in an error.

        Raises:
            InputError: a record has no accepted answers, or one is not a text.
        """
        if self.reading.rule:
            return [self.reading.rule.show_references(record, self.layout) for record in chunk.records]
        paths = self.layout.references
        column = self._take_column(chunk, paths, remedies.REFERENCES_FIELD)
        if self.reading.values:
            name = _show_field(paths, "the reference")
            return [_parse_at(self._parse_accepted, value, name, where, number) for number, value in enumerate(column)]
        if set(map(type, column)) == {list} and all(column):
            try:
                "".join(chain.from_iterable(column))  # the fastest check that every item is a string
                return column
            except TypeError:
                pass
        name, separator = _show_field(paths, "references"), self.reading.references_separator
        kinds = Counter(type(item) for value in column for item in (value if type(value) is list else [value]))
        self.accepted_numbers.update({kind: kinds[kind] for kind in (int, float)})
        column = [_write_numbers(value) for value in column]
        if not {list, dict}.isdisjoint(map(type, column)):
            pairs = zip(column, chunk.records)
            column = [
                [""] if self._has_answers and is_unanswerable(*pair) else unwrap_references(pair[0]) for pair in pairs
            ]
        for number, value in enumerate(column):
            if value is None:
                remedy = 'write a list of texts, such as ["a", "b"], or leave the question out'
                raise InputError(f"{name} is null", where(number), remedy)
            if isinstance(value, list) and any(isinstance(item, (list, dict)) for item in value):
                raise self._error_of_accepted_value(value, name, where(number))
        column = [_parse_at(parse_references, value, name, where, number) for number, value in enumerate(column)]
        if separator is None:
            return column
        return [
            _parse_at(partial(_split_references, separator), references, name, where, number)
            for number, references in enumerate(column)
        ]

    @cached_property
    def _has_answers(self) -> bool:
        """Whether some of the first questions have an answer. In a test split none has one, because all are missing."""
        values = [(first_of(record, self.layout.references), record) for record in self.sample.records]
        return not all(is_unanswerable(*pair) for pair in values)

    def _error_of_accepted_value(self, value: Any, name: str, where: str) -> InputError:
        """Make the error for a list or an object in an accepted answer. Beside texts, anls_star would score it 0."""
        beside_texts = self.faces_texts or (self.holds_both and self.predicts_texts())
        if not beside_texts:
            return _error_of_value(value, self.layout.references, name, where)
        remedy = _OWN_FILES if self.layout.references == (VALUE,) and holds_questions(value) else _AS_TEXTS
        return InputError(f"{name} is {describe(value)}, not a list of texts", where, remedy)

    def predicts_texts(self) -> bool:
        """Whether the first predictions are texts, and not lists or objects in a text."""
        answers = [first_of(record, self.layout.prediction) for record in self.sample.records]
        return all(isinstance(answer, str) and not answer.lstrip().startswith(("[", "{")) for answer in answers)

    def _parse_accepted(self, value: Any, name: str) -> Sequence[Any]:
        """Parse an accepted answer: one value, or several as ``{"__tuple__": [...]}``."""
        parsed = parse_accepted_value(value, name) if isinstance(value, str) else value
        if isinstance(value, str) and not isinstance(parsed, str):
            self.note(f"texts of {name} that are JSON are read as JSON")
        parsed = _from_json(parsed, name)
        return parsed if isinstance(parsed, tuple) else (parsed,)

    def complete_records(self, chunk: Chunk) -> Sequence[Mapping[str, Any]]:
        """Add the field "question" to records that have the question elsewhere, without the program's prompt."""
        records = self._complete_questions(chunk.records)
        return records if self.reading.rule is None else self.reading.rule.add_columns(records, self.layout)

    def _complete_questions(self, before: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        if not self.program or not self.layout.question:
            return before
        records: list[Mapping[str, Any]] = []
        for record in before:
            question = first_of(record, self.layout.question)
            question = remove_prompt(question) if isinstance(question, str) else question
            same = question is ABSENT or record.get("question") == question
            records.append(record if same else {**record, "question": question})
        return records

    def _error_without_field(
        self, record: Mapping[str, Any], field: str, place: str, remedy: Remedy | str
    ) -> InputError:
        """Make the error for a record without a field; it lists the paths that the record has."""
        own = (self.reading.id_field, self.reading.references_field, *self.prediction_fields)
        is_other_layout = self.reading.layout != AUTO and field not in own and not self.sample.has(field)
        remedy = remedies.LAYOUT if is_other_layout else remedy
        there = Sample(self.name, [record], self.records.fields).describe_paths()
        return self.records.error(f"no field {field!r} (found {there})", place, remedy)

    def _lacks_answer(self, record: Mapping[str, Any], field: str) -> bool:
        """Whether other records have this field of the prediction, and this record has no other prediction."""
        return self.sample.has(field) and not resolver.resolve("submission", Sample(self.name, [record])).prediction

    def _take_column(self, chunk: Chunk, paths: Sequence[layouts.Path], remedy: Remedy | str) -> list[Any]:
        first = paths[0]
        if isinstance(first, str):
            try:
                return get_column(chunk.records, first)
            except KeyError:
                pass
        column = [first_of(record, paths) for record in chunk.records]
        for number, value in enumerate(column):
            if value is ABSENT and isinstance(first, str):
                if remedy is remedies.PREDICTION_FIELD and self._lacks_answer(chunk.records[number], first):
                    if self.reading.missing == "zero":
                        column[number] = None
                        continue
                    remedy = remedies.NO_ANSWER
                elif self.sample.has(first):
                    remedy = "write it into this record"
                raise self._error_without_field(chunk.records[number], first, chunk.place_of(number), remedy)
            if value is ABSENT:
                problem = (
                    f"it is no record of the layout {self.layout.name}: its text or its accepted answers are missing"
                )
                raise self.records.error(problem, chunk.place_of(number))
        return column


def _expand_chunks(chunks: Iterable[Chunk], expand: Callable[[Any], list[dict[str, Any]]]) -> Iterator[Chunk]:
    for chunk in chunks:
        pairs = zip(chunk.places, chunk.records)
        yield from _make_chunk([(place, part) for place, record in pairs for part in expand(record)], chunk.unit)


def _make_chunk(numbered: Sequence[tuple[int, dict[str, Any]]], unit: str) -> Iterator[Chunk]:
    """Make a chunk of numbered records; no chunk for no records."""
    if numbered:
        places, records = zip(*numbered)
        yield Chunk(list(records), places, unit)


def name_of(paths: Sequence[layouts.Path], otherwise: str) -> str:
    """Name a field in errors."""
    first = next(iter(paths), None)
    return first if isinstance(first, str) and first != VALUE else otherwise


def _show_field(paths: Sequence[layouts.Path], otherwise: str) -> str:
    """Name a field in errors, in quotation marks."""
    return repr(name_of(paths, "")) if name_of(paths, "") else otherwise


def roles_of(layout: Layout) -> set[layouts.Path]:
    """Collect the paths that have a role."""
    return {*layout.id, *layout.question, *layout.prediction, *layout.references}


def _columns_of(paths: Iterable[layouts.Path]) -> list[str]:
    """List the columns with which paths can begin."""
    return [name for path in paths if isinstance(path, str) for name in (path, path.partition(".")[0])]


def first_of(record: Mapping[str, Any], paths: Sequence[layouts.Path]) -> Any:
    """Return the value of the first path that leads to one in a record, else `ABSENT`."""
    return next((value for path in paths if (value := take(record, path)) is not ABSENT), ABSENT)


def _parse_only_item(answer: str) -> str | None:
    """Parse an answer that is a printed list of one text, and return that text; None for any other answer."""
    if not (answer.startswith(("['", '["')) and answer.endswith(("']", '"]'))):
        return None
    try:
        items = parse_references(answer, "")
    except ValueError:
        return None
    return items[0] if len(items) == 1 and items[0] != answer else None


def _split_references(separator: str, references: Sequence[str], what: str) -> Sequence[str]:
    r"""Split accepted answers at a separator. The separators ``\n`` and ``\t`` may be written with a backslash."""
    sign = _WRITTEN_SIGNS.get(separator, separator)
    parts = [part.strip() for text in references for part in text.replace(sign, separator).split(separator)]
    return as_references([part for part in parts if part], what)


_WRITTEN_SIGNS = {r"\n": "\n", r"\t": "\t"}


def _write_numbers(value: Any) -> Any:
    """Write the numbers among accepted answers as texts, by the rule for predictions."""
    if type(value) in (int, float):
        return str(value)
    return list(map(_write_numbers, value)) if type(value) is list else value


def _error_of_value(
    value: Any, paths: Sequence[layouts.Path], name: str, where: str, others: Sequence[Any] = ()
) -> InputError:
    """Make the error for a list or an object in place of a text. It names the text in an object, or in a list of one.

    Args:
        value: the value.
        paths: the paths of its field.
        name: what it is, if the field has no name.
        where: its place.
        others: the values of the field in the first records; none for accepted answers.
    """
    problem, field = f"{_show_field(paths, name)} is {describe(value)}, not a text", name_of(paths, "")
    values = [value, *(other for other in others if isinstance(other, type(value)))]
    is_only_item = bool(others) and all(isinstance(other, list) and len(other) == 1 for other in others)
    parts = _list_parts(value, is_only_item) if others or isinstance(value, dict) else ()
    part = next((part for part in parts if all(isinstance(look_up(each, part), str) for each in values)), "")
    if not field and is_only_item:
        return InputError(problem, where, "write each answer as a text, and not as a list of one text")
    if not field and holds_questions(value):
        return InputError(problem, where, _OWN_FILES)
    if field and part:
        is_certain = is_only_item or part.rpartition(".")[2] in _TEXTS
        remedy = remedies.PART_OF_FIELD if is_certain else remedies.PART_OR_VALUES
        return InputError(problem, where, remedy, f"{field}.{part}")
    return InputError(problem, where, remedies.VALUES)


def _list_parts(value: Any, is_only_item: bool) -> list[str]:
    """List the paths of texts that can be the answer in an object, in a list of one, or in a list of messages."""
    if isinstance(value, dict):
        texts = [name for name, text in value.items() if isinstance(text, str) and "." not in name]
        return [*_TEXTS, *(texts if len(texts) == 1 < len(value) else ())]
    if is_only_item:
        return ["0", *(f"0.{part}" for part in _TEXTS)]
    last = max((n for n, item in enumerate(value) if look_up(item, "role") == "assistant"), default=None)
    return ["0", *([] if last is None else [f"{last}.content"])]


_NUMBERS = {
    int: ("a whole number, read as its digits", "whole numbers, read as their digits"),
    float: ("a decimal number", "decimal numbers"),
}


def _describe_numbers(count: int, noun: str, words: tuple[str, str]) -> str:
    return f"1 {noun} is {words[0]}" if count == 1 else f"{count:,} {noun}s are {words[1]}"


_AS_TEXTS = 'write the accepted answers as a list of texts: ["a", "b"]'
_OWN_FILES = "if it is a list of records, write each such list to its own file"
_TEXTS = (
    *("text", "answer", "prediction", "generated_text", "prediction_text", "content", "output", "value"),
    *("message.content", "choices.0.message.content", "choices.0.text", "content.0.text"),
    "candidates.0.content.parts.0.text",
)
_SAMPLES = "score the file of its samples instead, such as samples_*.jsonl, which lm_eval writes with --log_samples"


def _from_json(value: Any, name: str) -> Any:
    from anls_metric.nested import from_json

    try:
        return from_json(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _parse_at(
    parse: Callable[[Any, str], Any], value: Any, field: str, where: Callable[[int], str], number: int
) -> Any:
    """Parse a value. An error names its place."""
    try:
        return parse(value, field)
    except ValueError as error:
        raise InputError(str(error), where(number)) from None
