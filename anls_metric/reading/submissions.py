"""Turns the files and tables that a user names into submissions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import chain
from typing import NamedTuple

from anls_metric.reading import remedies
from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import ExtractionReport
from anls_metric.reading.input_file import CHUNK, list_some
from anls_metric.reading.join import Questions, RepeatedIdsError, join_files, read_table, refuse_swapped
from anls_metric.reading.names import drop_shared_prefix
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.repeats import Doubt
from anls_metric.reading.resolver import ANSWER_FIELD, refuse_two_roles
from anls_metric.reading.runs import QUESTION, choose_run, split_runs
from anls_metric.reading.sources import Reading, Source, name_of, roles_of

# Pairs of files that a program writes into one folder: the gold file and the submission.
_PAIRS = (("instances.json", "display_predictions.json"),)


class Input(NamedTuple):
    """A file or a table that a user names.

    Attributes:
        path: the path of a file, "" for a table in memory.
        name: the name that the user gives; "" to name it by its path.
        records: the records of a table in memory, or of a file that is already open; None to open the file.
    """

    path: str
    name: str = ""
    records: Records | None = None

    @classmethod
    def parse(cls, file: str) -> Input:
        """Make an input from a path, or from ``NAME=FILE``."""
        name, equals, path = file.partition("=")
        named = equals and name and os.sep not in name and not os.path.exists(file)
        if named and not path:
            raise InputError("there is no file after the equals sign", file, "write NAME=FILE")
        return cls(path, name) if named else cls(file)

    def open(self, reading: Reading, fields: Sequence[str]) -> Source:
        """Open the input as a source."""
        source = Source(self.records or Records(self.path), reading, fields)
        if reading.runs == QUESTION:
            source.hold()
        return source


class Submission:
    """The answers of one model: a file, a part of a file, or several files, which are its runs.

    Args:
        name: the name in reports.
        inputs: the files with the answers.
        open_source: opens a file when it is needed, so that not all files are in memory at once.
        questions: the questions of the gold file; None where the files themselves have the accepted answers.
        alone: whether no other file has answers. Then these must have the fields that the user names.
        runs: the runs by name, where the file was split into them.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Input],
        open_source: Callable[[Input], Source],
        questions: Questions | None,
        alone: bool = True,
        runs: Mapping[str, Source] | None = None,
    ) -> None:
        self.name = name
        self._inputs, self._open, self._questions, self._alone = inputs, open_source, questions, alone
        self._runs = runs

    @cached_property
    def _sources(self) -> list[Source]:
        return list(self._runs.values()) if self._runs else list(map(self._open, self._inputs))

    @property
    def inputs(self) -> list[str]:
        """The paths of the gold file, if there is one, and of the answers."""
        gold = [self._questions.source.records.path] if self._questions else []
        return list(filter(None, [*gold, *(each.path for each in self._inputs)]))

    @property
    def questions_name(self) -> str:
        """The name of the file that has the questions."""
        return (self._questions.source if self._questions else self._sources[0]).name

    @property
    def has_ids(self) -> bool:
        """Whether the questions have ids; otherwise they are numbered. It is known after the first batch."""
        return bool((self._questions.source if self._questions else self._sources[0]).layout.id)

    @property
    def rules(self) -> str:
        """The names of the rules that extract the answers, "" for none."""
        return self._sources[0].reading.rules

    @property
    def layout(self) -> str:
        """The layout of the file with the answers."""
        return self._sources[0].layout.name

    @property
    def notes(self) -> list[str]:
        """How the files were read, where it matters for the score."""
        sources = [*([self._questions.source] if self._questions else []), *self._sources]
        layouts = [f"{source.name}: read as {source.program}" for source in sources if source.program]
        return layouts + [f"{source.name}: {note}" for source in sources for note in source.all_notes()]

    @property
    def doubts(self) -> list[Doubt]:
        """Reasons to doubt how the files were read."""
        return [doubt for source in self._sources for doubt in source.doubts]

    @property
    def other_texts(self) -> list[str]:
        """Fields of text that could also have been the prediction."""
        return self._sources[0].other_texts

    @property
    def beside_fields(self) -> Mapping[str, str]:
        """The paths of confidence and verdict: see `Source.beside_fields`."""
        return self._sources[0].beside_fields

    @property
    def reading(self) -> Reading:
        """How the file with the answers is read."""
        return self._sources[0].reading

    @property
    def extraction(self) -> ExtractionReport | None:
        """What the extraction rules did; None without rules."""
        reports = [source.extraction for source in self._sources if source.extraction]
        return reduce(ExtractionReport.__add__, reports) if reports else None

    @property
    def float_count(self) -> int:
        """How many predictions are numbers with a decimal point rather than texts."""
        return sum(source.numbers[float] for source in self._sources)

    @property
    def accepted_number_count(self) -> int:
        """How many accepted answers are numbers rather than texts."""
        sources = [self._questions.source] if self._questions else self._sources
        return sum(sum(source.accepted_numbers.values()) for source in sources)

    def split(self) -> list[Submission]:
        """Split a file that holds several submissions: a long table of several models, or a column for each.

        Returns:
            The submissions; only this one if the file holds one.

        Raises:
            InputError: the file cannot be read, does not have a field that the user names, or holds several
                submissions although the user names it as a run.
        """
        parts = self._sources[0].split()
        if not parts:
            return [self]
        if len(self._inputs) > 1:
            problem = f"it holds several submissions ({list_some(parts)}), and is named as a run of {self.name}"
            raise InputError(problem, self._sources[0].name, "give each file of several submissions its own name")
        before = "" if self._alone else f"{self.name}/"
        return [
            Submission(before + name, self._inputs, partial(_return, part), self._questions)
            for name, part in parts.items()
        ]

    def batches(self) -> Iterator[Batch]:
        """Read the rows: see `join.join_files` and `join.read_table`. If there are runs, each row holds those of all.

        Raises:
            RepeatedIdsError: ids are repeated; `take_runs` reads them as runs.
        """
        run = self._sources[0].reading.run
        if self._runs is None and len(self._inputs) == 1:
            yield from self._read(self._sources[0])
            if run is not None:
                choose_run({"1": None}, run, self._sources[0].name)
            return
        runs = self._runs or {str(number): source for number, source in enumerate(self._sources, 1)}
        if run is not None:
            self._sources = [choose_run(runs, run, self.name)]
            runs = {run: self._sources[0]}
        rows = self._join_runs([self._read_run(name, source) for name, source in runs.items()])
        yield from (Batch.of(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK))

    def take_runs(self, error: RepeatedIdsError) -> Submission:
        """Read answers with the same id as runs. Raises the error if they are not runs."""
        if self._runs is not None or len(self._inputs) > 1:
            raise error
        runs = split_runs(self._sources[0], error)
        return Submission(self.name, self._inputs, self._open, self._questions, self._alone, runs)

    def _read(self, source: Source, questions: Questions | None = None) -> Iterator[Batch]:
        questions = questions or self._questions
        if questions is None:
            return read_table(_require_both_sides(source, self._alone).take_side("both", self._alone))
        batches = join_files(questions, source, alone=self._alone)
        if source.records.path and source.records.path == questions.source.records.path:
            batches = _blame_same_file(batches)
        rule = source.reading.rule
        refusal = rule.find_refusal(questions.source.records.path, source.records.path) if rule else ""
        return _quote_refusal(batches, source, refusal) if refusal else batches

    def _read_run(self, name: str, source: Source) -> list[Row]:
        questions = self._questions
        if questions is not None:
            questions.keep()
            if self._runs and name != next(iter(self._runs)):  # the first run has all questions; later ones need not
                questions = questions.choose({key for chunk in source.hold() for key in source.ids(chunk)})
        return list(chain.from_iterable(self._read(source, questions)))

    def _join_runs(self, runs: Sequence[list[Row]]) -> list[Row]:
        """Join the rows of all runs to the rows of the first run."""
        if len(runs) == 1:
            return runs[0]
        rows_of = {row.id: [row] for row in runs[0]}
        for number, rows in enumerate(runs[1:], 2):
            others = [row.id for row in rows if row.id not in rows_of]
            lacks = len(rows) - len(others) < len(rows_of) and not self._runs
            if others or lacks:
                missing = others or list(rows_of.keys() - {row.id for row in rows})
                problem = f"run {number} and run 1 do not have the same questions (the first: {missing[0]})"
                raise InputError(problem, self.name, remedies.OTHER_QUESTIONS)
            for row in rows:
                rows_of[row.id].append(row)
        return [rows[0]._replace(runs=tuple(rows)) for rows in rows_of.values()]


def _blame_same_file(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Say in an error that gold file and submission are the same file, which is usually a slip."""
    try:
        yield from batches
    except InputError as error:
        problem = f"{error.problem} (this file is both the gold file and the submission)"
        raise type(error)(problem, error.where, "name two different files", error.value) from None


def _quote_refusal(batches: Iterator[Batch], source: Source, refusal: str) -> Iterator[Batch]:
    """Add to an error what the program of the benchmark says about the files; a note where there is no error."""
    try:
        yield from batches
    except InputError as error:
        problem = f'{error.problem} (the benchmark\'s own script says "{refusal}")'
        raise type(error)(problem, error.where, error.remedy, error.value) from None
    source.notes.append(f'the benchmark\'s own script refuses these files: "{refusal}"')


def _return(source: Source, _: Input) -> Source:
    return source


def find_submissions(
    files: Sequence[str | Input],
    gold: str | Input | None = None,
    submissions: Sequence[str | Input] = (),
    reading: Reading | None = None,
    fields: Sequence[str] = (),
) -> list[Submission]:
    """Find the submissions among files and tables.

    Args:
        files: files with predictions and accepted answers; or a gold file and then submissions; or, where `gold` is
            given, more submissions. ``NAME=FILE`` gives a submission its name; files of one name are runs of it.
        gold: the gold file, if it is named as such.
        submissions: the submissions, if they are named as such.
        reading: how to read the files.
        fields: names and paths of more fields to read, for groups.

    Returns:
        One submission or more, with different names. `Submission.split` finds the submissions inside one file.

    Raises:
        InputError: a file has no predictions, no accepted answers, or cannot be read. OSError: a file cannot be opened.
    """
    reading = reading or Reading()
    inputs = [_as_input(file) for file in (*submissions, *files)]
    gold = _as_input(gold)._replace(name="") if gold is not None else None
    opened: dict[Input, Source] = {}  # the files that were opened to see what they hold

    def open_source(each: Input) -> Source:
        return opened.pop(each, None) or each.open(reading, fields)

    if gold is None and not submissions and files:
        pair = _find_pair(inputs[0].path)
        if pair:
            gold, inputs[0] = Input(pair[0]), Input(pair[1], inputs[0].name)
        else:
            opened[inputs[0]] = inputs[0].open(reading, fields)
            if _holds_both_sides(opened, inputs[1] if len(inputs) > 1 else None, open_source):
                return _name_all(inputs, open_source, None)
            gold, *inputs = inputs
    if gold is not None and len(inputs) > 1:  # a pattern for all files of a folder includes the gold file
        inputs = [each for each in inputs if each != gold]
    if gold is None:
        raise InputError("the gold file is missing", remedy=remedies.NO_GOLD)
    if not inputs:
        raise InputError("the submission is missing", remedy=remedies.NO_SUBMISSION)
    paths = [each.path for each in inputs if not each.records]
    if [gold.path, *paths].count("-") > 1 or (gold.path == "-" and len(inputs) > 1):
        raise InputError(
            "the gold file and the submission cannot both be standard input", remedy="name one of the files"
        )
    for path in paths:  # a missing file is reported before anything is scored
        parts = find_shards(path)
        if parts is None and path != "-":
            os.stat(path)
        _refuse_mixed_parts(path, parts or (), gold.path)
    return _name_all(inputs, open_source, Questions(open_source(gold), keep=len(inputs) > 1))


def _refuse_mixed_parts(path: str, parts: Sequence[str], gold: str) -> None:
    """Refuse a folder or a pattern that holds the gold file beside answers."""
    if any(gold and os.path.realpath(part) == os.path.realpath(gold) for part in parts) and path != gold:
        problem = f"it holds the gold file {os.path.basename(gold)} beside answers"
        raise InputError(problem, path, "name the gold file first, and each file of answers by itself")


def find_tables(inputs: Sequence[Input], reading: Reading, fields: Sequence[str] = ()) -> list[Submission]:
    """Find the submissions among files and tables that also hold the accepted answers.

    Args:
        inputs: the files and tables.
        reading, fields: see `find_submissions`.
    """
    return _name_all(inputs, lambda each: each.open(reading, fields), None)


def _as_input(file: str | Input) -> Input:
    return Input.parse(file) if isinstance(file, str) else file


def _name_all(
    inputs: Sequence[Input], open_source: Callable[[Input], Source], questions: Questions | None
) -> list[Submission]:
    """Make the submissions. Inputs with the same name from the user are runs of one submission."""
    groups: dict[str, list[Input]] = {}
    for each, name in zip(inputs, _name_inputs(inputs)):
        groups.setdefault(name, []).append(each)
    alone = len(groups) == 1
    return [Submission(name, group, open_source, questions, alone) for name, group in groups.items()]


def _holds_both_sides(
    opened: dict[Input, Source], second: Input | None, open_source: Callable[[Input], Source]
) -> bool:
    """Whether the first file has predictions and accepted answers; otherwise it is the gold file for the others.

    Raises:
        InputError: the file can be neither.
    """
    (first,) = opened.values()
    has_references = bool(first.try_side("both").references)
    if second is None:
        _require_both_sides(first)
        return True
    if has_references and not first.has_both_sides():
        return False
    other = opened[second] = opened.get(second) or open_source(second)
    if has_references and other.try_side("both").references:
        return True
    if has_references:
        field = name_of(first.try_side("both").prediction, ANSWER_FIELD)
        if field != ANSWER_FIELD:  # in a gold file, this can be one of the accepted answers
            first.note(f"it is taken as the gold file, and its predictions, in {field!r}, are not scored")
        return False
    refuse_swapped(first, other)
    if not first.try_side("gold").references:
        has_predictions = bool(first.try_side("both").prediction)
        remedy = remedies.NO_REFERENCES if has_predictions else remedies.NO_REFERENCES_HERE
        raise _error_of_missing(first, "accepted answers", remedy)
    return False


def _require_both_sides(source: Source, alone: bool = True) -> Source:
    """Return a source if it has predictions and accepted answers, else raise an `InputError`."""
    layout = source.try_side("both")
    source.check_named_fields("both", alone)
    if not layout.references or not layout.prediction:
        parts = find_shards(source.records.path) or ()
        holding = [part for part in parts if _holds_only_references(part)]
        if 0 < len(holding) < len(parts):
            _refuse_mixed_parts(source.name, parts, holding[0])
    if not layout.references:
        raise _error_of_missing(source, "accepted answers", remedies.NO_REFERENCES, remedies.NO_GOLD_BEFORE)
    refuse_two_roles("both", source.sample, layout)
    if not layout.prediction:
        field = name_of(layout.references, "")
        what = "predictions, only accepted answers" + (f" in {field!r}" if field else "")
        raise _error_of_missing(source, what, remedies.NO_PREDICTIONS, remedies.NO_ANSWERS_AFTER)
    return source


def _holds_only_references(path: str) -> bool:
    layout = Source(path).try_side("both")
    return bool(layout.references) and not layout.prediction


def _error_of_missing(source: Source, what: str, remedy: Remedy, otherwise: Remedy | None = None) -> InputError:
    """Make the error for a file without one side. If no other field could hold it, the remedy is another file."""
    paths = source.sample.list_paths()
    nothing_else = bool(paths) and roles_of(source.try_side("both")).issuperset(paths)
    return source.error_of_missing(what, otherwise if otherwise and nothing_else else remedy)


def _find_pair(path: str) -> tuple[str, str] | None:
    """Find the gold file and the submission that a program wrote into a folder."""
    for pair in _PAIRS:
        gold, submission = (os.path.join(path, name) for name in pair)
        if os.path.isfile(gold) and os.path.isfile(submission):
            return gold, submission
    return None


# Names


def _name_inputs(inputs: Sequence[Input]) -> list[str]:
    """Name inputs by the stems of their files, with more of the path if two stems are the same.

    Raises:
        InputError: two files without a name from the user would have the same name, or one the name of another input.
    """
    user_names = {each.name for each in inputs} - {""}
    parts = [
        ["standard input"] if each.path == "-" else os.path.normpath(each.path).split(os.sep)
        for each in inputs
        if not each.name
    ]
    names = [_stem_of(path[-1]) if path[-1] != "standard input" else path[-1] for path in parts]
    for length in range(1, 1 + max(map(len, parts), default=0)):
        crowded = {name for name in names if names.count(name) > 1 or name in user_names}
        if not crowded:
            break
        names = [
            "/".join([*path[-length:-1], _stem_of(path[-1]) if length < len(path) + 1 else path[-1]])
            if name in crowded
            else name
            for name, path in zip(names, parts)
        ]
    crowded = {name for name in names if names.count(name) > 1 or name in user_names}
    if crowded:
        raise InputError(f"two submissions are called {list_some(sorted(crowded))}", remedy=remedies.OWN_NAMES)
    unnamed = iter(drop_shared_prefix(names, user_names))
    return [each.name or next(unnamed) for each in inputs]


def _stem_of(name: str) -> str:
    return os.path.splitext(name.removesuffix(".gz"))[0] or name
