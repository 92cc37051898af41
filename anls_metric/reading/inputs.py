"""The inputs that a user passes, which are files and in-memory data, and the names of the submissions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.core.names import drop_shared_prefix, find_repeated, get_stem
from anls_metric.messages import list_some, make_error


class Input(NamedTuple):
    """A path or in-memory data that the user passes.

    Attributes:
        data: the path of a file or a folder, a pattern, "-" for standard input, or in-memory data, such as a `Table`.
        name: the name given by the user, or "" to derive a name from the path.
        is_marked: whether the user marks the input as a submission.
    """

    data: Any
    name: str = ""
    is_marked: bool = False

    @property
    def path(self) -> str:
        """The path, or "" for in-memory data."""
        return self.data if isinstance(self.data, str) else ""

    @property
    def is_submission(self) -> bool:
        """Whether the user marks or names the input, so that it cannot be the gold file."""
        return self.is_marked or bool(self.name)


def parse_input(word: str) -> Input:
    """Create an input from a command-line word, which is a path or ``NAME=FILE``.

    Example:
        >>> parse_input("base=run 1.json")
        Input(data='run 1.json', name='base', is_marked=False)
    """
    name, equals, path = word.partition("=")
    is_named = equals and name and os.sep not in name and not os.path.exists(word)
    if not word:
        raise make_error("", "a file name is empty: check for an empty shell variable")
    if is_named and not path:
        raise make_error(word, "there is no file after the equals sign: write NAME=FILE")
    return Input(path, name) if is_named else Input(word)


def check_paths(inputs: Sequence[Input]) -> None:
    """Raise an error for a missing file before any file is read."""
    from anls_metric.reading.files import describe_missing_file, list_files

    for path in {each.path for each in inputs} - {"", "-"}:
        if not os.path.exists(path) and list_files(path) is None:
            raise describe_missing_file(path)


def name_inputs(inputs: Sequence[Input]) -> list[str]:
    """Name inputs after their file stems, with folders as prefixes if two stems are the same.

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
        sentence = "two submissions are named {names}: give each its own name"
        path = next(path for path, name in zip(paths, names) if name in taken)
        real = [os.path.realpath(path) for path in paths]
        if len(set(real)) < len(real):
            sentence = "the same file is passed twice ({names}): remove one of them, or give each its own name"
        raise make_error("", sentence + ", such as first={path}", names=list_some(taken), path=path)
    short = iter(drop_shared_prefix(names, given))
    return [each.name or next(short) for each in inputs]
