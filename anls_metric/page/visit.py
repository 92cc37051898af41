"""What a visitor's page shows, as HTML: an answer as it is typed, or what is known of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anls_metric.core.scoring import explain
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.page import limits
from anls_metric.page.scoring import Found, Report
from anls_metric.reading.values import typed_values, value_or_text
from anls_metric.report import html_parts

if TYPE_CHECKING:
    from anls_metric.nested import ValueVariant

NOTHING = (
    "Drop a gold file and one or more submissions, or files that hold both: logs of evaluation harnesses, tables "
    "(JSON, JSON lines, CSV, Parquet, Excel)."
)

# One answer


def accepted(answers: str) -> list[str]:
    """The accepted answers of a text field: one a line, blank lines left out."""
    return [line for line in answers.splitlines() if line.strip()]


def one_answer(prediction: str, answers: str, variant: Variant | ValueVariant) -> tuple[str, str]:
    """The HTML of one answer: its score with the reason, and its score under every variant.

    Raises:
        ValueError: too much to compare, or no JSON where a list or an object seems to be meant.
    """
    if max(len(prediction), len(answers)) > limits.MOST_CHARACTERS:
        raise ValueError(f"the text is longer than {limits.MOST_CHARACTERS:,} characters: score it as a file")
    if not accepted(answers):
        return html_parts.format_hint("Write an accepted answer to see the score."), ""
    if isinstance(variant, Variant):
        return _one_text(prediction, answers, variant)
    return _one_value(prediction, answers, variant)


def _one_text(prediction: str, answers: str, variant: Variant) -> tuple[str, str]:
    references = accepted(answers)
    work = limits.refuse_too_long(prediction, references, "the texts")
    with limits.turnstile.passed(large=work * len(VARIANTS) > limits.SMALL_WORK):
        why = explain(prediction, references, variant=variant)
        return html_parts.format_answer(why), html_parts.format_variant_scores(prediction, references, why)


def _one_value(prediction: str, answers: str, variant: ValueVariant) -> tuple[str, str]:
    """Of a list or nested value; one that is written over several lines is one."""
    references = accepted(answers) if isinstance(value_or_text(answers), str) else [answers]
    limits.refuse_too_many_pairs(prediction, references, "the values")
    return html_parts.format_value_answer(variant.explain(*typed_values(prediction, references)), variant.label), ""


# Files


def scores(found: Found) -> str:
    """The HTML of the scores, which are known before the report is."""
    return html_parts.format_summary(found.document, found.notes)


def framed(report: Report) -> str:
    """The HTML of a frame that shows a report, which page.js unpacks, and whose script reaches nothing around it."""
    sandbox = "allow-scripts allow-downloads"
    return f'<iframe title="The report" sandbox="{sandbox}" data-packed="{report.packed}"></iframe>'
