"""Names that users choose from: describes an unknown name, and suggests a similar one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType


def find_similar_name(name: str, choices: Iterable[str]) -> str:
    """Find the choice that a user perhaps meant.

    Args:
        name: what the user typed.
        choices: the names that exist.

    Returns:
        The most similar choice, or the first choice that contains the name; "" where no choice is similar.

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


def describe_unknown(
    kind: str,
    name: object,
    choices: Iterable[str],
    others: Iterable[str] = (),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Describe a name that does not exist, for an error message.

    Args:
        kind: what the name should be, such as "variant".
        name: what the user gave. It should be a string.
        choices: the names that exist, which the message lists.
        others: more names that the message may suggest but does not list, such as aliases.
        meanings: names from elsewhere, in lower case, with the names to suggest for them; "" for none.

    Returns:
        The message, with a similar name if there is one.

    Example:
        >>> describe_unknown("layout", "sqad", ["rrc", "squad"])
        "unknown layout 'sqad'; did you mean squad? Choose from rrc, squad"
        >>> describe_unknown("layout", "x", ["rrc", "squad"])
        "unknown layout 'x'; choose from rrc, squad"
        >>> describe_unknown("layout", "website", ["rrc", "squad"], meanings={"website": "rrc"})
        "unknown layout 'website'; did you mean rrc? Choose from rrc, squad"
    """
    names = list(choices)
    candidates = [each for each in (*names, *others) if each != name]
    similar = ""
    if isinstance(name, str):
        meaning = meanings.get(name.lower())
        similar = find_similar_name(name, candidates) if meaning is None else meaning
    advice = f"did you mean {similar}? Choose" if similar else "choose"
    text = repr(name)
    return f"unknown {kind} {text if len(text) <= 40 else text[:37] + '...'}; {advice} from {', '.join(names)}"
