"""What a visitor's page shows, as HTML: an answer as it is typed, or what is known of files."""

from __future__ import annotations

import base64
import gzip

from anls import VARIANTS, Variant, explain
from anls_metric.page import limits
from anls_metric.page.scoring import Found
from anls_metric.report import pieces

NOTHING = (
    "Drop a gold file and one or more submissions, or files that hold both: logs of evaluation harnesses, tables "
    "(JSON, JSON lines, CSV, Parquet, Excel)."
)

# One answer


def accepted(answers: str) -> list[str]:
    """The accepted answers of a text field: one a line, blank lines left out."""
    return [line for line in answers.splitlines() if line.strip()]


def one_answer(prediction: str, answers: str, variant: Variant) -> tuple[str, str]:
    """The HTML of one answer: its score with the reason, and its score under every variant.

    Raises:
        ValueError: too much to compare.
    """
    if max(len(prediction), len(answers)) > limits.MOST_CHARACTERS:
        raise ValueError(f"the text is longer than {limits.MOST_CHARACTERS:,} characters: score it as a file")
    references = accepted(answers)
    if not references:
        return pieces.hint("Write an accepted answer to see the score."), ""
    work = limits.refuse_too_long(prediction, references, "the texts")
    with limits.turnstile.passed(large=work * len(VARIANTS) > limits.SMALL_WORK):
        why = explain(prediction, references, variant=variant)
        return pieces.answer(why), pieces.answer_by_variant(prediction, references, why)


# Files


def scores(found: Found) -> str:
    """The HTML of the scores, which are known before the report is."""
    return pieces.summary(found.document, found.notes)


def framed(report: str) -> str:
    """The HTML of a frame that shows a report, whose script reaches nothing around it.

    It comes packed, and page.js unpacks it: gradio sends what an event returns twice, and copies it a dozen times.
    """
    packed = base64.b64encode(gzip.compress(report.encode(), compresslevel=1)).decode()
    return f'<iframe title="The report" sandbox="allow-scripts allow-downloads" data-packed="{packed}"></iframe>'
