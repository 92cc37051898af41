"""The names of submissions: what their files have in common before each name says nothing, and is not shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

_PREFIX = r".*__|(?:submission|prediction|answer|result|output)s?[_-]+"


def drop_shared_prefix(names: Sequence[str], others: Iterable[str] = ()) -> list[str]:
    """Drop the prefix that several names share, if it ends in two underscores or is a word such as submission.

    Args:
        names: the names of files.
        others: names that the user gave, which stay as they are.

    Example:
        >>> drop_shared_prefix(["submission__base", "submission__tuned"])
        ['base', 'tuned']
        >>> drop_shared_prefix(["base_1", "base_2"])
        ['base_1', 'base_2']
    """
    common = os.path.commonprefix(names)  # noqa: RUF071, of characters
    found = re.match(_PREFIX, common) if len(names) > 1 else None
    short = [name[found.end() :] for name in names] if found else []
    return short if all(short) and short and len({*short, *others}) == len({*names, *others}) else list(names)


def find_name(name: str, names: Iterable[str]) -> str:
    """Find a submission by its name, with or without the prefix that is not shown; "" if there is none.

    Example:
        >>> find_name("submission__base", ["base", "tuned"]), find_name("rebase", ["base", "tuned"])
        ('base', '')
    """
    found = [each for each in names if name == each or re.fullmatch(_PREFIX, name.removesuffix(each))]
    return max(found, key=len, default="")
