"""Which part of what a model wrote is its answer."""

from __future__ import annotations

from anls import as_text


def answer_in_tags(text: str, tag: str = "answer") -> str | None:
    """The text between the last ``<answer>`` and its ``</answer>``, None where there is none.

    Args:
        text: what the model wrote.
        tag: the name of the tag.

    Returns:
        The answer without blanks around it.

    Raises:
        ValueError: a text that is not a string.

    Example:
        >>> answer_in_tags("The logo reads so. <answer> Coca Cola </answer>")
        'Coca Cola'
    """
    _, opened, rest = as_text(text, "text").rpartition(f"<{tag}>")
    answer, closed, _ = rest.partition(f"</{tag}>")
    return answer.strip() if opened and closed else None
