"""What is to be scored: the files that somebody names become submissions, with a gold file or holding both sides."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from anls_metric.reading.files import some
from anls_metric.reading.join import join_files, read_table
from anls_metric.reading.records import Records
from anls_metric.reading.rows import InputError, Row
from anls_metric.reading.sources import Reading, Source

# Pairs of files that a program writes into one folder: the gold file and the submission.
_PAIRS = (("instances.json", "display_predictions.json"),)


class Submission:
    """Answers to score, with the accepted answers or with a gold file that has them.

    Args:
        name: what it is called.
        source: the file with the answers.
        gold: the gold file; None where the source holds both sides.
    """

    def __init__(self, name: str, source: Source, gold: Source | None = None) -> None:
        self.name = name
        self._source, self._gold = source, gold

    @property
    def inputs(self) -> list[str]:
        """The paths of its files."""
        return [source.records.path for source in (self._gold, self._source) if source]

    @property
    def asked(self) -> str:
        """The name of the file that has the questions."""
        return (self._gold or self._source).name

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
        sources = [source for source in (self._gold, self._source) if source]
        said = [f"{one.name}: read as {one.program}" for one in sources if one.program]
        return said + [f"{one.name}: {note}" for one in sources for note in one.notes]

    def batches(self) -> Iterator[list[Row]]:
        """The rows: see `join.join_files` and `join.read_table`."""
        if self._gold is None:
            return read_table(self._source)
        return join_files(self._gold, self._source)


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
    if gold is None and not submissions and files:
        name, path = named[0]
        gold, answers = _pair(path) or (None, path)
        first = Source(records(gold or answers), reading, fields)
        if gold:
            named[0] = name, answers
        elif not first.layout.references:
            raise _lacks(first, "accepted answers", "no references")
        elif first.layout.prediction and (first.has_predictions or not named[1:]):
            sources = [first, *(Source(records(path), reading, fields) for _, path in named[1:])]
            return [_with_both_sides(*one) for one in zip(_names(named), sources)]
        elif not named[1:]:
            raise _lacks(first, "predictions", "no predictions")
        else:
            gold, named = path, named[1:]
    if gold is not None and len(named) > 1:  # a pattern of all files of a folder names it again
        named = [one for one in named if one != ("", gold)]
    if gold is None:
        raise InputError("the gold file is missing", remedy="no gold")
    if not named:
        raise InputError("the submission is missing", remedy="no submission")
    if [gold, *(path for _, path in named)].count("-") > 1 or (gold == "-" and len(named) > 1):
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    return [
        Submission(name, Source(records(path), reading, ()), Source(records(gold), reading, fields))
        for name, (_, path) in zip(_names(named), named)
    ]


def _with_both_sides(name: str, source: Source) -> Submission:
    for role, lacks, remedy in (
        (source.layout.references, "accepted answers", "no references"),
        (source.layout.prediction, "predictions", "no predictions"),
    ):
        if not role:
            raise _lacks(source, lacks, remedy)
    return Submission(name, source)


def _lacks(source: Source, what: str, remedy: str) -> InputError:
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
