"""A folder in which commands are typed, as in the tests of the whole system."""

from tests.system.conftest import Shell, shell

__all__ = ["Shell", "shell"]
