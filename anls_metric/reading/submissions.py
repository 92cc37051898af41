"""Finds what is to be scored: turns the files that somebody names into submissions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import ExtractionReport
from anls_metric.reading.input_file import list_some
from anls_metric.reading.join import Questions, Row, join_files, read_table, refuse_swapped
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.resolver import refuse_two_roles
from anls_metric.reading.sources import Reading, Source, name_of, roles_of

# Pairs of files that a program writes into one folder: the gold file and the submission.
_PAIRS = (("instances.json", "display_predictions.json"),)


class Submission:
    """Answers to score: one file, or a part of it, with the gold file if the file itself has no accepted answers.

    Args:
        name: the name in reports.
        path: the file with the answers.
        open_source: opens that file when it is needed, so that several files are not in memory at once.
        questions: the questions of the gold file; None where the file itself has the accepted answers.
        alone: whether no other file has answers, so that this one must have the fields that the user names.
    """

    def __init__(
        self,
        name: str,
        path: str,
        open_source: Callable[[], Source],
        questions: Questions | None,
        alone: bool = True,
    ) -> None:
        self.name = name
        self._path, self._open, self._questions, self._alone = path, open_source, questions, alone

    @cached_property
    def _source(self) -> Source:
        return self._open()

    @property
    def inputs(self) -> list[str]:
        """The paths of the gold file, if there is one, and of the answers."""
        return [*([self._questions.source.records.path] if self._questions else []), self._path]

    @property
    def questions_name(self) -> str:
        """The name of the file that has the questions."""
        return (self._questions.source if self._questions else self._source).name

    @property
    def rules(self) -> str:
        """The names of the rules that extract the answers, "" for none."""
        return self._source.reading.rules

    @property
    def layout(self) -> str:
        """The layout of the file with the answers."""
        return self._source.layout.name

    @property
    def notes(self) -> list[str]:
        """How the files were read, as far as it matters to the score."""
        sources = [*([self._questions.source] if self._questions else []), self._source]
        layouts = [f"{source.name}: read as {source.program}" for source in sources if source.program]
        return layouts + [f"{source.name}: {note}" for source in sources for note in source.all_notes()]

    @property
    def other_texts(self) -> list[str]:
        """Fields of text that could also have been the prediction."""
        return self._source.other_texts

    @property
    def extraction(self) -> ExtractionReport | None:
        """What the rules did that extracted the answers; None without rules."""
        return self._source.extraction

    @property
    def float_count(self) -> int:
        """How many predictions are numbers with a decimal point, and not texts."""
        return self._source.numbers[float]

    def split(self) -> list[Submission]:
        """Split a file that holds several submissions: a long table of several models, or a column for each.

        Returns:
            The submissions; this one alone where the file holds one.

        Raises:
            InputError: the file cannot be read, or does not have a field that the user names.
        """
        parts = self._source.split()
        before = "" if self._alone else f"{self.name}/"
        return [
            Submission(before + name, self._path, partial(_return, part), self._questions)
            for name, part in parts.items()
        ] or [self]

    def batches(self) -> Iterator[list[Row]]:
        """Read the rows: see `join.join_files` and `join.read_table`."""
        source = self._source
        if self._questions is None:
            return read_table(_require_both_sides(source, self._alone).take_side("both", self._alone))
        return join_files(self._questions, source, alone=self._alone)


def _return(source: Source) -> Source:
    return source


def find_submissions(
    files: Sequence[str],
    gold: str | None = None,
    submissions: Sequence[str] = (),
    reading: Reading | None = None,
    fields: Sequence[str] = (),
    records: Callable[[str], Records] = Records,
) -> list[Submission]:
    """Find the submissions among files.

    Args:
        files: files with predictions and accepted answers; or a gold file and then submissions; or, where `gold` is
            given, more submissions. ``NAME=FILE`` gives a submission its name.
        gold: the gold file, if it is named as such.
        submissions: the submissions, if they are named as such.
        reading: how to read the files.
        fields: names and paths of more fields to read, for groups.
        records: makes the records of a path; the page limits them.

    Returns:
        One submission or more, with different names. `Submission.split` says whether a file holds several.

    Raises:
        InputError: a file has no predictions, no accepted answers, or cannot be read. OSError: a file cannot be opened.
    """
    reading = reading or Reading()
    pairs = [_split_name(file) for file in (*submissions, *files)]
    opened: dict[str, Source] = {}  # what was opened to find out which file is which

    def open_source(path: str) -> Source:
        return opened.pop(path, None) or Source(records(path), reading, fields)

    if gold is None and not submissions and files:
        name, path = pairs[0]
        gold, answers = _find_pair(path) or (None, path)
        if gold:
            pairs[0] = name, answers
        else:
            opened[path] = Source(records(path), reading, fields)
            second = pairs[1][1] if len(pairs) > 1 else None
            if _holds_both_sides(opened, second, open_source):
                return _name_all(pairs, open_source, None)
            gold, pairs = path, pairs[1:]
    if gold is not None and len(pairs) > 1:  # a pattern of all files of a folder names it again
        pairs = [pair for pair in pairs if pair != ("", gold)]
    if gold is None:
        raise InputError("the gold file is missing", remedy=remedies.NO_GOLD)
    if not pairs:
        raise InputError("the submission is missing", remedy=remedies.NO_SUBMISSION)
    paths = [path for _, path in pairs]
    if [gold, *paths].count("-") > 1 or (gold == "-" and len(pairs) > 1):
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    for path in paths:  # a missing file is reported before anything is scored
        if path != "-" and find_shards(path) is None:
            os.stat(path)
    questions = Questions(open_source(gold), keep=len(pairs) > 1)
    return _name_all(pairs, open_source, questions)


def _name_all(
    pairs: Sequence[tuple[str, str]], open_source: Callable[[str], Source], questions: Questions | None
) -> list[Submission]:
    alone = len(pairs) == 1
    return [
        Submission(name, path, partial(open_source, path), questions, alone)
        for name, (_, path) in zip(_name_submissions(pairs), pairs)
    ]


def _holds_both_sides(opened: dict[str, Source], second: str | None, open_source: Callable[[str], Source]) -> bool:
    """Whether the first file has predictions and accepted answers; otherwise it is the gold file of those after it.

    Raises:
        InputError: it can be neither.
    """
    (first,) = opened.values()
    has_references = bool(first.try_side("both").references)
    if second is None:
        _require_both_sides(first)
        return True
    if has_references and not first.has_both_sides():
        return False
    other = opened[second] = opened.get(second) or open_source(second)
    if has_references:
        return bool(other.try_side("both").references)
    refuse_swapped(first, other)
    if not first.try_side("gold").references:
        raise _error_of_missing(first, "accepted answers in it", remedies.NO_REFERENCES)
    return False


def _require_both_sides(source: Source, alone: bool = True) -> Source:
    """Return a source that has predictions and accepted answers; raise an `InputError` where it lacks them."""
    layout = source.try_side("both")
    source.check_named_fields("both", alone)
    if not layout.references:
        raise _error_of_missing(source, "accepted answers in it", remedies.NO_REFERENCES, remedies.NO_GOLD_BEFORE)
    refuse_two_roles(source.sample, layout)
    if not layout.prediction:
        what = f"predictions besides the accepted answers in {name_of(layout.references, 'it')!r}"
        raise _error_of_missing(source, what, remedies.NO_PREDICTIONS, remedies.NO_ANSWERS_AFTER)
    return source


def _error_of_missing(source: Source, what: str, remedy: Remedy, otherwise: Remedy | None = None) -> InputError:
    """Make the error for a file without one side. Where no other field could have it, only another file can."""
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


def _split_name(file: str) -> tuple[str, str]:
    """Split ``NAME=FILE`` into name and path; the name is "" where there is none."""
    name, equals, path = file.partition("=")
    return (name, path) if equals and name and os.sep not in name and not os.path.exists(file) else ("", file)


def _name_submissions(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Name submissions by the stems of their files, and by more of the path where two stems are the same.

    Raises:
        InputError: two submissions have the same name.
    """
    parts = [
        [name] if name else ["standard input"] if path == "-" else os.path.normpath(path).split(os.sep)
        for name, path in pairs
    ]
    names = [_stem_of(path[-1]) if path[-1] not in ("", "standard input") else path[-1] for path in parts]
    for length in range(1, 1 + max(map(len, parts))):
        crowded = {name for name in names if names.count(name) > 1}
        if not crowded:
            break
        names = [
            "/".join([*path[-length:-1], _stem_of(path[-1]) if length < len(path) + 1 else path[-1]])
            if name in crowded
            else name
            for name, path in zip(names, parts)
        ]
    crowded = {name for name in names if names.count(name) > 1}
    if crowded:
        raise InputError(
            f"two submissions are called {list_some(sorted(crowded))}", remedy="give each a name: NAME=FILE"
        )
    return names


def _stem_of(name: str) -> str:
    return os.path.splitext(name.removesuffix(".gz"))[0] or name
