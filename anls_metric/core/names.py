"""Shortens, sorts and compares the names of submissions and files, and finds submissions by full or short name."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

_WORD = r"(?:submission|prediction|answer|result|output)s?"
_PREFIX = rf".*__|{_WORD}[_-]+"


def drop_shared_prefix(names: Sequence[str], others: Iterable[str] = ()) -> list[str]:
    """Drop the shared prefix of all names if the prefix ends in two underscores or is a word such as "submission".

    From a single name, drop only such a word followed by two underscores, since any other prefix may distinguish the
    name from those of other runs.

    Args:
        names: the names of files.
        others: names that the user gave, which stay unchanged.

    Example:
        >>> drop_shared_prefix(["submission__base", "submission__tuned"])
        ['base', 'tuned']
        >>> drop_shared_prefix(["base_1", "base_2"]), drop_shared_prefix(["submission__base"])
        (['base_1', 'base_2'], ['base'])
        >>> drop_shared_prefix(["router__whole__k5"])
        ['router__whole__k5']
    """
    common = os.path.commonprefix(names)  # noqa: RUF071, of characters
    prefix = re.match(_PREFIX if len(names) > 1 else f"{_WORD}__", common)
    short = [name[prefix.end() :] for name in names] if prefix else []
    return short if all(short) and len({*short, *others}) == len({*names, *others}) else list(names)


def find_name(name: str, names: Iterable[str]) -> str:
    """Find the submission that has the given name, with or without the shared prefix, or return "" if there is none.

    Example:
        >>> find_name("submission__base", ["base", "tuned"]), find_name("rebase", ["base", "tuned"])
        ('base', '')
    """
    matches = [each for each in names if name == each or re.fullmatch(_PREFIX, name.removesuffix(each))]
    return max(matches, key=len, default="")


def get_stem(path: str) -> str:
    """Return the file name at the end of a path, without its extension."""
    name = os.path.basename(os.path.normpath(path)).removesuffix(".gz")
    return os.path.splitext(name)[0] or name


def get_base(path: str) -> str:
    r"""Return the last part of a path, after the last slash or backslash.

    Example:
        >>> get_base("runs/a/"), get_base("runs\\a.json")
        ('a', 'a.json')
    """
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def natural_key(name: str) -> str:
    """Make a sort key that puts "part 2" before "part 10"."""
    return re.sub(r"\d+", lambda number: number[0].zfill(20), name)


def find_repeated(items: Iterable[str]) -> list[str]:
    """Find the items that occur more than once."""
    return [item for item, count in Counter(items).items() if count > 1]
