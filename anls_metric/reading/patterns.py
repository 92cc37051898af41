"""Regular expressions that are compiled when they are first used: to compile all takes longer than many a run."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._arguments = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._arguments)
        methods = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")
        self.__dict__.update({method: getattr(compiled, method) for method in methods})
        return getattr(compiled, name)


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled at its first use.

    Example:
        >>> pattern("co+").findall("coca cooca")
        ['co', 'coo']
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))
