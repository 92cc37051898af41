"""Finds what is to be scored: turns the files that somebody names into submissions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.join import Questions, Row, join_files, read_table
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.sources import Reading, Source

# Pairs of files that a program writes into one folder: the gold file and the submission.
_PAIRS = (("instances.json", "display_predictions.json"),)


class Submission:
    """A file of answers to score, with the gold file that has the accepted answers, if they are not in the file itself.

    Args:
        name: the name in reports.
        path: the file with the answers.
        open_source: opens that file when it is needed, so that several files are not in memory at once.
        questions: the questions of the gold file; None where the file itself has the accepted answers.
    """

    def __init__(self, name: str, path: str, open_source: Callable[[], Source], questions: Questions | None) -> None:
        self.name = name
        self._path, self._open, self._questions = path, open_source, questions

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
        return layouts + [f"{source.name}: {note}" for source in sources for note in source.notes]

    def batches(self) -> Iterator[list[Row]]:
        """Read the rows: see `join.join_files` and `join.read_table`."""
        if self._questions is None:
            return read_table(self._source)
        return join_files(self._questions, self._source)


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
        One submission or more, with different names.

    Raises:
        InputError: a file has no predictions, no accepted answers, or cannot be read. OSError: a file cannot be opened.
    """
    reading = reading or Reading()
    pairs = [_split_name(file) for file in (*submissions, *files)]
    first: Source | None = None
    if gold is None and not submissions and files:
        name, path = pairs[0]
        gold, answers = _find_pair(path) or (None, path)
        first = Source(records(gold or answers), reading, fields)
        if gold:
            pairs[0] = name, answers
        elif not first.layout.references:
            raise _error_of_missing(first, "accepted answers", remedies.NO_REFERENCES)
        elif first.layout.prediction and (first.has_predictions or not pairs[1:]):
            opened = {path: first}
            return [
                Submission(name, path, partial(_open_both_sides, path, opened, records, reading, fields), None)
                for name, (_, path) in zip(_name_submissions(pairs), pairs)
            ]
        elif not pairs[1:]:
            raise _error_of_missing(first, "predictions", remedies.NO_PREDICTIONS)
        else:
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
    questions = Questions(first or Source(records(gold), reading, fields), keep=len(pairs) > 1)
    return [
        Submission(name, path, partial(_open_answers, path, records, reading), questions)
        for name, path in zip(_name_submissions(pairs), paths)
    ]


def _open_answers(path: str, records: Callable[[str], Records], reading: Reading) -> Source:
    return Source(records(path), reading, ())


def _open_both_sides(
    path: str, opened: dict[str, Source], records: Callable[[str], Records], reading: Reading, fields: Sequence[str]
) -> Source:
    """Open a file with predictions and accepted answers; raise an `InputError` where it lacks them."""
    source = opened.pop(path, None) or Source(records(path), reading, fields)
    if not source.layout.references:
        raise _error_of_missing(source, "accepted answers", remedies.NO_REFERENCES)
    if not source.layout.prediction:
        raise _error_of_missing(source, "predictions", remedies.NO_PREDICTIONS)
    return source


def _error_of_missing(source: Source, what: str, remedy: Remedy) -> InputError:
    fields = list_some(map(repr, source.records.fields or source.records.first())) or "nothing"
    return source.records.error(f"there are no {what} in it (found {fields})", remedy=remedy)


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
