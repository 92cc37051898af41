"""Formats what the page shows as HTML: the score of an answer as it is typed, and the report of files."""

from __future__ import annotations

from anls_metric.core.explanation import Explanation, format_number
from anls_metric.core.variants import OF_VALUES, Scorer
from anls_metric.page import limits
from anls_metric.page.inputs import read_answer
from anls_metric.page.summary import format_said
from anls_metric.page.upload_scoring import Pages, Report
from anls_metric.reading.values import parse_value_or_text
from anls_metric.report import html_parts

NOTHING = (
    "Drop a gold file and one or more submissions, or files that hold both: logs of evaluation harnesses, tables "
    "(JSON, JSON lines, CSV, Parquet, Excel). A zip of images shows the pages beside the questions."
)

OWN_TAB = '<a class="own-tab" href="#" target="_blank" rel="noopener">Open the report in its own tab</a>'
"""A link. page.js sets its URL to the report."""


def split_answers(text: str, scorer: Scorer) -> list[str]:
    """Split a text field into accepted answers: one per line, without blank lines. A value may span several lines."""
    if scorer.name in OF_VALUES and not isinstance(parse_value_or_text(text), str):
        return [text]
    return [line for line in text.splitlines() if line.strip()]


def show_answer(prediction: str, answers: str, scorer: Scorer) -> tuple[str, str]:
    """Show one answer as HTML: its score with the reason, and its score under every variant.

    Raises:
        ValueError: the texts are too long to compare, or a text looks like a list or an object and is not JSON.
    """
    if max(len(prediction), len(answers)) > limits.MOST_CHARACTERS:
        raise ValueError(f"the text is longer than {limits.MOST_CHARACTERS:,} characters: score it as a file")
    references = split_answers(answers, scorer)
    if not references:
        return html_parts.format_hint("Write an accepted answer to see the score."), ""
    answer = read_answer(scorer, prediction, references)
    why = scorer.explain(answer.prediction, answer.references)
    if isinstance(why, Explanation):
        shown = format_said(html_parts.format_answer(why), f"Score {format_number(why.score)}. {why.sentence}")
        return shown, html_parts.format_variant_scores(prediction, references, why)
    return format_said(
        html_parts.format_value_answer(why, scorer.label), f"Score {format_number(why.score)}. {why}."
    ), ""


def show_pages(pages: Pages) -> str:
    """Show how many pages are in the report so far, as HTML."""
    return html_parts.format_hint(f"The report is on its way: {pages.words}.")


def frame_report(report: Report) -> str:
    """Put a report into a frame, as HTML. page.js unpacks it; its script cannot reach anything outside the frame."""
    sandbox = "allow-scripts allow-downloads"
    return f'<iframe title="The report" sandbox="{sandbox}" data-packed="{report.packed}"></iframe>'
