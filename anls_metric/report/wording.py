"""Words a document for a front end, and says what it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.messages import FrontEnd
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import FOR_VIEWS, Document, Run


def word(run: Run, front_end: FrontEnd = "python", numbers: NumberFormat = PLAIN) -> Document:
    """Word a document for a front end, without what only views need.

    Args:
        run: as `anls_metric.document.build_document` makes it.
        front_end: the front end in whose words messages name options.
        numbers: the format of the scores in hints.

    Returns:
        The JSON document.
    """
    return word_document({key: value for key, value in run.items() if key not in FOR_VIEWS}, run, front_end, numbers)


def word_document(document: Any, run: Run, front_end: FrontEnd, numbers: NumberFormat) -> Document:
    """Word a document that is part of another, which has the words."""
    words = run["words"]

    def say(text: str) -> str:
        return words.get(text, {}).get(front_end, text)

    hints = [_word_hint(hint, say, numbers) for hint in document["hints"]]
    submissions = [_word_account(submission, say) for submission in document["submissions"]]
    worded: Any = {**document, "hints": hints, "submissions": submissions}
    return worded  # type: ignore[no-any-return]


def _word_hint(hint: Any, say: Callable[[str], str], numbers: NumberFormat) -> Any:
    text, form = say(hint["message"]), numbers.format
    if hint["before"] is not None:
        text += f" ({form(hint['before'])} now, {form(hint['anls'])} then)"
    if hint["submission"]:
        text = f"{hint['submission']}: {text}"
    return {"text": text, **{key: hint[key] for key in ("submission", "extract", "anls")}}


def _word_account(submission: Any, say: Callable[[str], str]) -> Any:
    """Word the account of lost points of a submission, if it has one."""
    if "lost" not in submission:
        return {**submission}
    lost = submission["lost"]
    rows = [{**row, "meaning": say(row["meaning"]), "remedy": say(row["remedy"])} for row in lost["rows"]]
    return {**submission, "lost": {**lost, "rows": rows}}


def get_label(document: Document) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def describe_clusters(document: Document) -> str:
    """Describe the clusters in words, such as "75 documents (by image)", or return "" if there are none."""
    clusters = document["clusters"]
    return f"{count_noun(clusters['count'], 'document')} (by {clusters['field']})" if clusters else ""
