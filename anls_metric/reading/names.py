"""The names of submissions: a prefix that the names of all files share is not shown."""

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
    prefix = re.match(_PREFIX, common) if len(names) > 1 else None
    short = [name[prefix.end() :] for name in names] if prefix else []
    return short if all(short) and short and len({*short, *others}) == len({*names, *others}) else list(names)


def find_name(name: str, names: Iterable[str]) -> str:
    """Find a submission by its name, with or without the shared prefix; "" if there is none.

    Example:
        >>> find_name("submission__base", ["base", "tuned"]), find_name("rebase", ["base", "tuned"])
        ('base', '')
    """
    matches = [each for each in names if name == each or re.fullmatch(_PREFIX, name.removesuffix(each))]
    return max(matches, key=len, default="")
