"""A folder of made-up files in which commands are typed, as in the tests of the whole system."""

from __future__ import annotations

from tests.system.conftest import Shell, shell

__all__ = ["Shell", "read", "shell"]


def read(shell: Shell, line: str) -> str:
    """Type a command, and return the line that says what was read; one line for each submission."""
    return "\n".join(submission["read"] for submission in shell.document(f"{line} --quiet")["submissions"])
