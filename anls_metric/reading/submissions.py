"""What is to be scored: the files that somebody names become submissions, with a gold file or holding both sides."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

from anls_metric.reading import remedies
from anls_metric.reading.files import some
from anls_metric.reading.join import Questions, join_files, read_table
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.rows import InputError, Row
from anls_metric.reading.sources import Reading, Source

# Pairs of files that a program writes into one folder: the gold file and the submission.
_PAIRS = (("instances.json", "display_predictions.json"),)


class Submission:
    """Answers to score, with the accepted answers or with the questions of a gold file that has them.

    Args:
        name: what it is called.
        path: the file with the answers.
        open_source: opens that file, when it is its turn: several files are not in memory at once.
        questions: those of the gold file; None where the file holds both sides.
    """

    def __init__(self, name: str, path: str, open_source: Callable[[], Source], questions: Questions | None) -> None:
        self.name = name
        self._path, self._open, self._questions = path, open_source, questions

    @cached_property
    def _source(self) -> Source:
        return self._open()

    @property
    def inputs(self) -> list[str]:
        """The paths of its files."""
        return [*([self._questions.source.records.path] if self._questions else []), self._path]

    @property
    def asked(self) -> str:
        """The name of the file that has the questions."""
        return (self._questions.source if self._questions else self._source).name

    @property
    def rules(self) -> str:
        """The rules by which the answers are taken out of what a model wrote, "" for none."""
        return self._source.reading.rules

    @property
    def layout(self) -> str:
        """The layout of the file with the answers."""
        return self._source.layout.name

    @property
    def notes(self) -> list[str]:
        """What a reader of the number should know of how the files were read."""
        sources = [*([self._questions.source] if self._questions else []), self._source]
        layouts = [f"{source.name}: read as {source.program}" for source in sources if source.program]
        return layouts + [f"{source.name}: {note}" for source in sources for note in source.notes]

    def batches(self) -> Iterator[list[Row]]:
        """The rows: see `join.join_files` and `join.read_table`."""
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
    """What the files that somebody names are.

    Args:
        files: files that hold both sides each; or a gold file and then submissions; or, where `gold` is given, more
            submissions. ``NAME=FILE`` gives one a name.
        gold: the gold file, where it is named as that.
        submissions: the submissions, where they are named as that.
        reading: how they are to be read.
        fields: names and paths of more fields that are wanted, for groups.
        records: makes the records of a file of its path; a page limits them.

    Returns:
        One submission or more, each with another name.

    Raises:
        InputError: the files do not hold what is needed, or cannot be read. OSError: a file cannot be read.
    """
    reading = reading or Reading()
    named = [_name_and_path(file) for file in (*submissions, *files)]
    first: Source | None = None
    if gold is None and not submissions and files:
        name, path = named[0]
        gold, answers = _pair(path) or (None, path)
        first = Source(records(gold or answers), reading, fields)
        if gold:
            named[0] = name, answers
        elif not first.layout.references:
            raise _lacks(first, "accepted answers", remedies.NO_REFERENCES)
        elif first.layout.prediction and (first.has_predictions or not named[1:]):
            opened = {path: first}
            return [
                Submission(name, path, partial(_open_both_sides, path, opened, records, reading, fields), None)
                for name, (_, path) in zip(_names(named), named)
            ]
        elif not named[1:]:
            raise _lacks(first, "predictions", remedies.NO_PREDICTIONS)
        else:
            gold, named = path, named[1:]
    if gold is not None and len(named) > 1:  # a pattern of all files of a folder names it again
        named = [pair for pair in named if pair != ("", gold)]
    if gold is None:
        raise InputError("the gold file is missing", remedy=remedies.NO_GOLD)
    if not named:
        raise InputError("the submission is missing", remedy=remedies.NO_SUBMISSION)
    paths = [path for _, path in named]
    if [gold, *paths].count("-") > 1 or (gold == "-" and len(named) > 1):
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    for path in paths:  # what is not there is said before anything is scored
        if path != "-" and find_shards(path) is None:
            os.stat(path)
    questions = Questions(first or Source(records(gold), reading, fields), keep=len(named) > 1)
    return [
        Submission(name, path, partial(_open_answers, path, records, reading), questions)
        for name, path in zip(_names(named), paths)
    ]


def _open_answers(path: str, records: Callable[[str], Records], reading: Reading) -> Source:
    return Source(records(path), reading, ())


def _open_both_sides(
    path: str, opened: dict[str, Source], records: Callable[[str], Records], reading: Reading, fields: Sequence[str]
) -> Source:
    """A file that holds both sides. InputError: it does not."""
    source = opened.pop(path, None) or Source(records(path), reading, fields)
    if not source.layout.references:
        raise _lacks(source, "accepted answers", remedies.NO_REFERENCES)
    if not source.layout.prediction:
        raise _lacks(source, "predictions", remedies.NO_PREDICTIONS)
    return source


def _lacks(source: Source, what: str, remedy: Remedy) -> InputError:
    found = some(map(repr, source.records.fields or source.records.first())) or "nothing"
    return source.records.error(f"there are no {what} in it (found {found})", remedy=remedy)


def _pair(path: str) -> tuple[str, str] | None:
    """The gold file and the submission that a program wrote into a folder."""
    for pair in _PAIRS:
        gold, submission = (os.path.join(path, name) for name in pair)
        if os.path.isfile(gold) and os.path.isfile(submission):
            return gold, submission
    return None


# Names


def _name_and_path(file: str) -> tuple[str, str]:
    """What a file is called: the name before an equals sign, "" where it has none."""
    name, equals, path = file.partition("=")
    return (name, path) if equals and name and os.sep not in name and not os.path.exists(file) else ("", file)


def _names(named: Sequence[tuple[str, str]]) -> list[str]:
    """The names of submissions: the stem of the file, or as much of its path as tells it from the others.

    Raises:
        InputError: two that cannot be told apart.
    """
    parts = [
        [name] if name else ["standard input"] if path == "-" else os.path.normpath(path).split(os.sep)
        for name, path in named
    ]
    names = [_stem(path[-1]) if path[-1] not in ("", "standard input") else path[-1] for path in parts]
    for length in range(1, 1 + max(map(len, parts))):
        crowded = {name for name in names if names.count(name) > 1}
        if not crowded:
            break
        names = [
            "/".join([*path[-length:-1], _stem(path[-1]) if length < len(path) + 1 else path[-1]])
            if name in crowded
            else name
            for name, path in zip(names, parts)
        ]
    crowded = {name for name in names if names.count(name) > 1}
    if crowded:
        raise InputError(f"two submissions are called {some(sorted(crowded))}", remedy="give each a name: NAME=FILE")
    return names


def _stem(name: str) -> str:
    return os.path.splitext(name.removesuffix(".gz"))[0] or name
