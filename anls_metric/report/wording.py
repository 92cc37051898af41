"""Words a document for a front end, and describes what the document is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.messages import FrontEnd
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import FOR_VIEWS, Document, Hint, HintMessage, Run, Words


def word(run: Run, front_end: FrontEnd = "python", numbers: NumberFormat = PLAIN) -> Document:
    """Word a document for a front end, leaving out what only the views need.

    Args:
        run: a document from `anls_metric.document.build_document`.
        front_end: the front end in whose words messages name options.
        numbers: the format of the scores in hints.

    Returns:
        The JSON document.
    """
    document: Any = {key: value for key, value in run.items() if key not in FOR_VIEWS}
    return word_document(document, run["messages"], run["words"], front_end, numbers)


def word_document(
    document: Document, messages: Sequence[HintMessage], words: Words, front_end: FrontEnd, numbers: NumberFormat
) -> Document:
    """Word a document, given the messages of its hints and the wording for other front ends."""

    def say(text: str) -> str:
        return find_words(text, words, front_end)

    hints = [_word_hint(*each, say, numbers) for each in zip(document["hints"], messages, strict=True)]
    submissions = [_word_account(submission, say) for submission in document["submissions"]]
    worded: Any = {**document, "hints": hints, "submissions": submissions}
    return worded  # type: ignore[no-any-return]


def find_words(text: str, words: Words, front_end: FrontEnd) -> str:
    """Find the text of a message in a front end's wording, given the text for Python."""
    return words.get(text, {}).get(front_end, text)


def _word_hint(hint: Hint, message: HintMessage, say: Callable[[str], str], numbers: NumberFormat) -> Hint:
    text, form = say(message["text"]), numbers.format
    if message["before"] is not None:
        text += f" ({form(message['before'])} now, {form(hint['anls'])} then)"
    return {**hint, "text": f"{hint['submission']}: {text}" if hint["submission"] else text}


def _word_account(submission: Any, say: Callable[[str], str]) -> Any:
    """Word a submission's account of lost points, if it has one."""
    if "lost" not in submission:
        return {**submission}
    lost = submission["lost"]
    rows = [{**row, "meaning": say(row["meaning"]), "remedy": say(row["remedy"])} for row in lost["rows"]]
    return {**submission, "lost": {**lost, "rows": rows}}


def get_label(document: Document) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def describe_clusters(document: Document) -> str:
    """Describe the clusters in words, such as "75 documents (by image)". Returns "" if there are none."""
    clusters = document["clusters"]
    return f"{count_noun(clusters['count'], 'document')} (by {clusters['field']})" if clusters else ""
