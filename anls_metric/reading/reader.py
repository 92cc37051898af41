"""Reads the answers of all files, folders and tables that a user passes: the gold file once, then each submission."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from anls_metric.messages import Message, list_some, make_error
from anls_metric.reading.answers import Answers
from anls_metric.reading.formats import find_repeated
from anls_metric.reading.join import Reading, extract_answers, join, join_runs, read_both, read_gold, split_submissions
from anls_metric.reading.roles import has_certain_references
from anls_metric.reading.table import (
    Table,
    describe_missing_file,
    get_stem,
    has,
    list_files,
    make_table,
    read_column,
    read_table,
)


class Input(NamedTuple):
    """A file or data in memory.

    Attributes:
        data: the path of a file, a folder or a pattern, or "-"; or data in memory, such as a `Table`.
        name: the name that the user gives it; "" to name it by its path.
    """

    data: Any
    name: str = ""

    @property
    def path(self) -> str:
        """The path; "" for data in memory."""
        return self.data if isinstance(self.data, str) else ""


def parse_input(word: str) -> Input:
    """Make an input of a path, or of ``NAME=FILE``.

    Example:
        >>> parse_input("base=run 1.json")
        Input(data='run 1.json', name='base')
    """
    name, equals, path = word.partition("=")
    is_named = equals and name and os.sep not in name and not os.path.exists(word)
    if is_named and not path:
        raise make_error(word, "there is no file after the equals sign: write NAME=FILE")
    return Input(path, name) if is_named else Input(word)


def read_answers(inputs: Sequence[Input], gold: Input | None, reading: Reading) -> Iterator[Answers]:
    """Read the answers of each submission.

    Args:
        inputs: files and tables. Inputs with the same name are runs of one submission. If there are several and no gold
            file, the first is the gold file, unless each of them has predictions and accepted answers.
        gold: the gold file.
        reading: how to read them.

    Yields:
        The answers of each submission, in the order of the inputs.

    Raises:
        InputError: an input cannot be read. OSError: a file cannot be opened.
    """
    if not inputs:
        sentence = "there are no files to score: pass a gold file, then submissions; or a table with both"
        raise make_error("", "there are no predictions: pass them with {use.submissions}" if gold else sentence)
    tables: dict[int, Table] = {}
    if gold is None and len(inputs) > 1:
        first, second = (_read(each, reading, {}) for each in inputs[:2])
        tables = {id(inputs[0].data): first, id(inputs[1].data): second}
        if _is_gold(first, second, reading):
            gold, *inputs = inputs
            tables[id(gold.data)] = first._replace(hints=[*first.hints, *_find_two_submissions(first, second, reading)])
    questions = None if gold is None else read_gold(_read(gold, reading, tables), reading)
    if questions and len(inputs) > 1:  # a pattern for all files of a folder includes the gold file
        inputs = [each for each in inputs if each.path != questions.table.name]
    groups: dict[str, list[Input]] = {}
    for each, name in zip(inputs, name_inputs(inputs)):
        groups.setdefault(name, []).append(each)
    for name, group in groups.items():
        runs_of: dict[str, list[Answers]] = {}
        for each in group:
            for part, (table, how) in split_submissions(_read(each, reading, tables), reading).items():
                answers = read_both(table, how) if questions is None else join(questions, table, how)
                full = part if part and len(groups) == 1 else "/".join(filter(None, (name, part)))
                runs_of.setdefault(full, []).append(answers._replace(name=full))
        for runs in runs_of.values():
            yield extract_answers(join_runs(runs), reading)


def _find_two_submissions(first: Table, second: Table, reading: Reading) -> list[Message]:
    """Find a gold file that may be a submission: it has the fields of one, and one string for each question."""
    path = reading.find_roles(first, "gold").references
    if (
        path is None
        or _has_accepted(first, reading)
        or first.fields.keys() != second.fields.keys()
        or not all(isinstance(value, str) for value in read_column(first, path))
    ):
        return []
    sentence = "{gold} has the fields of a submission, and is read as the gold file: pass the gold file with {use.gold}"
    return [Message("", sentence, {"gold": first.name})]


def check_paths(inputs: Sequence[Input]) -> None:
    """Report a missing file before anything is read."""
    for path in {each.path for each in inputs} - {"", "-"}:
        if not os.path.exists(path) and list_files(path) is None:
            raise describe_missing_file(path)


def _read(each: Input, reading: Reading, tables: dict[int, Table]) -> Table:
    """Read an input, unless that was done before."""
    table = tables.pop(id(each.data), None)
    if table is not None:
        return table
    if isinstance(each.data, Table):
        return each.data
    if each.path:
        return read_table(each.path, reading.settings, reading.of_values)
    from anls_metric.reading.memory import read_memory

    settings, name = reading.settings, each.name or "data"
    fields = [*(settings.prediction or ()), settings.references, settings.id, settings.gold_id, settings.submission]
    return make_table(name, read_memory(each.data, name, fields), settings, reading.of_values)


def _is_gold(first: Table, second: Table, reading: Reading) -> bool:
    """Whether the first of several tables is the gold file, and not a table with predictions like the second."""
    accepted = [_has_accepted(table, reading) for table in (first, second)]
    if accepted == [False, True]:
        sentence = "it has no accepted answers, and {other} has some: pass the gold file first"
        raise make_error(first.name, sentence, other=second.name)
    return not (all(accepted) and all(_has_both(table, reading) for table in (first, second)))


def _has_accepted(table: Table, reading: Reading) -> bool:
    """Whether a table has accepted answers, in the field that the user names or in one with a usual name."""
    named = reading.settings.references
    return has(table, named) if named else has_certain_references(table)


def _has_both(table: Table, reading: Reading) -> bool:
    """Whether a table that has accepted answers also has predictions."""
    named = reading.settings.prediction
    return has(table, named[0]) if named else reading.find_roles(table, "both").prediction is not None


# Names


def name_inputs(inputs: Sequence[Input]) -> list[str]:
    """Name inputs by the stems of their files, with folders before them if two stems are the same.

    Example:
        >>> name_inputs([Input("a/run.json"), Input("b/run.json"), Input("c.json", "tuned")])
        ['a/run', 'b/run', 'tuned']
    """
    paths = ["standard input" if each.path == "-" else each.path for each in inputs if not each.name]
    names = list(map(get_stem, paths))
    if len(set(names)) < len(names):
        folders = [os.path.dirname(os.path.abspath(path)) for path in paths]
        shared = os.path.commonpath(folders)
        names = [os.path.relpath(os.path.join(folder, name), shared) for folder, name in zip(folders, names)]
    given = {each.name for each in inputs if each.name}
    taken = find_repeated([*names, *given])
    if taken:
        sentence = "two submissions are called {names}: give each its own name, with NAME=FILE or in a dict"
        raise make_error("", sentence, names=list_some(taken))
    short = iter(drop_shared_prefix(names, given))
    return [each.name or next(short) for each in inputs]


_PREFIX = r".*__|(?:submission|prediction|answer|result|output)s?[_-]+"


def drop_shared_prefix(names: Sequence[str], others: Iterable[str] = ()) -> list[str]:
    """Drop the prefix that all names share, if it ends in two underscores or, of several, is a word such as submission.

    Args:
        names: the names of files.
        others: names that the user gave, which stay as they are.

    Example:
        >>> drop_shared_prefix(["submission__base", "submission__tuned"])
        ['base', 'tuned']
        >>> drop_shared_prefix(["base_1", "base_2"]), drop_shared_prefix(["submission__base"])
        (['base_1', 'base_2'], ['base'])
    """
    common = os.path.commonprefix(names)  # noqa: RUF071, of characters
    prefix = re.match(_PREFIX if len(names) > 1 else ".*__", common)
    short = [name[prefix.end() :] for name in names] if prefix else []
    return short if all(short) and len({*short, *others}) == len({*names, *others}) else list(names)


def find_name(name: str, names: Iterable[str]) -> str:
    """Find a submission by its name, with or without the shared prefix; "" if there is none.

    Example:
        >>> find_name("submission__base", ["base", "tuned"]), find_name("rebase", ["base", "tuned"])
        ('base', '')
    """
    matches = [each for each in names if name == each or re.fullmatch(_PREFIX, name.removesuffix(each))]
    return max(matches, key=len, default="")
