"""Describes values, rows and unknown names for error messages, and checks options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any


def describe(value: object) -> str:
    """Describe a value and its type on one short line for an error message.

    Args:
        value: any object, even one whose ``repr`` fails.

    Returns:
        At most 60 characters of the value's ``repr`` on one line, followed by the type unless the value is None.

    Raises:
        Nothing.

    Example:
        >>> describe(3.5), describe("a" * 100), describe(None)
        ('3.5 (float)', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... (str)", 'None')
    """
    try:
        # The beginning of a long value is enough, and the repr of a very long value takes too long.
        some = value[:1000] if isinstance(value, (str, bytes, list, tuple)) else value
        text = " ".join(repr(some).split())
    except Exception:  # the value is nested too deeply, has too many digits, or its __repr__ fails
        text = "..."
    if len(text) > 60:
        text = text[:57] + "..."
    return text if value is None else f"{text} ({type(value).__name__})"


RowName = Callable[[int], str]
"""A function that returns the name of a row for an error message, given the row number."""


def name_row(row: object) -> str:
    """Return the name of a row for an error message."""
    return f"row {row} (counted from 0)"


def find_similar_name(name: str, choices: Iterable[str]) -> str:
    """Find the existing name that a user may have meant by a similar or partial name.

    Args:
        name: what the user typed.
        choices: the names that exist.

    Returns:
        The most similar choice, the first choice that contains the name if no choice is similar, or "" for no match.

    Example:
        >>> find_similar_name("Standrad", ["standard", "rrc"]), find_similar_name("squad", ["standard", "rrc"])
        ('standard', '')
    """
    from difflib import get_close_matches

    folded = {choice.lower().replace("-", "_"): choice for choice in choices}
    typed = name[:100].lower().replace("-", "_")
    similar = get_close_matches(typed, folded, 1, 0.65)
    similar += [choice for choice in folded if len(typed) > 2 and typed in choice]
    return folded[similar[0]] if similar else ""


MEANINGS: Mapping[str, Mapping[str, str]] = {
    "variant": {"anls": "standard", "docvqa": "rrc", "anls*": "anls_star", "all": ""},
}
"""The names to suggest, keyed by the kind of name and then by the lowercase name that users try; "" suggests none."""


def describe_unknown(kind: str, name: object, choices: Collection[str], listed_by: str = "") -> str:
    """Describe an unknown name for an error message, suggesting a similar name or listing the valid names.

    Args:
        kind: what the name should be, such as "variant".
        name: what the user gave. It should be a string.
        choices: the names that exist.
        listed_by: what lists the valid names if there are too many for a message; "" to list them in the message.

    Returns:
        The message, with a similar name if there is one.

    Example:
        >>> describe_unknown("layout", "sqad", ["rrc", "squad"], "LAYOUTS")
        "unknown layout 'sqad': did you mean squad?"
        >>> describe_unknown("layout", "x", ["rrc", "squad"], "LAYOUTS")
        "unknown layout 'x': LAYOUTS lists them"
        >>> describe_unknown("metric", "x", ["f1", "cer"])
        "unknown metric 'x'; choose from f1, cer"
        >>> describe_unknown("variant", "docvqa", ["rrc", "standard"], "SCORERS")
        "unknown variant 'docvqa': did you mean rrc?"
    """
    similar = ""
    if isinstance(name, str):
        similar = MEANINGS.get(kind, {}).get(name.lower(), find_similar_name(name, choices))
    unknown = f"unknown {kind} {repr(name)[:40]}"
    if listed_by:
        return f"{unknown}: did you mean {similar}?" if similar else f"{unknown}: {listed_by} lists them"
    advice = f"did you mean {similar}? Choose" if similar else "choose"
    return f"{unknown}; {advice} from {', '.join(choices)}"


def check_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a value after checking that it is a whole number from 0 to ``most``. Raises ValueError if it is not.

    Example:
        >>> check_count("worst", -1)
        Traceback (most recent call last):
        ValueError: worst must be a whole number of at least 0, got -1 (int)
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0 or (most is not None and value > most):
        limits = "of at least 0" if most is None else f"from 0 to {most:,}"
        raise ValueError(f"{name} must be a whole number {limits}, got {describe(value)}")
    return value


def check_choice(name: str, value: Any, choices: Collection[object]) -> None:
    """Raise a ValueError that lists the choices if a value is not among them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {describe(value)}")


def check_names(name: str, value: Any) -> tuple[str, ...]:
    """Return the names in a list or in a comma-separated string as a tuple. Raises ValueError for any other value.

    Example:
        >>> check_names("ignore_keys", "model,meta.tokens"), check_names("ignore_keys", ["model"])
        (('model', 'meta.tokens'), ('model',))
    """
    names = [item.strip() for item in value.split(",")] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(item, str) and item for item in names):
        raise ValueError(f"{name} must be names, comma-separated or in a list, got {describe(value)}")
    return tuple(names)


def check_number(name: str, value: Any) -> float:
    """Return a value as a float. Raises ValueError if it is not a number from 0 to 1.

    Example:
        >>> check_number("threshold", 0.5)
        0.5
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {describe(value)}")
    return float(value) + 0.0  # 0.0 for -0.0


def is_number(value: object) -> bool:
    """Whether a value is a Python or numpy number. True and False do not count as numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def count_noun(count: int, noun: str) -> str:
    """Format a count with its noun, such as "1 answer" or "2 answers"."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


@contextmanager
def requires(package: str) -> Iterator[None]:
    """Add the installation command of a missing library to the error that its import raises.

    Example:
        >>> with requires("made-up-library"):
        ...     import made_up_library
        Traceback (most recent call last):
        ModuleNotFoundError: No module named 'made_up_library': pip install made-up-library
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}: pip install {package}", name=error.name) from None
