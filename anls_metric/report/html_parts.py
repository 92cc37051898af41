"""Formats scores and their reasons as parts of an HTML page. All texts of users are escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anls_metric.analysis.curves import get_minimum_similarity
from anls_metric.core.explanation import Edit, Explanation, Match, format_number
from anls_metric.core.variants import VARIANTS
from anls_metric.messages import shorten
from anls_metric.reading.values import format_value
from anls_metric.report.texts import make_printable

if TYPE_CHECKING:
    from anls_metric.nested import Leaf, StarExplanation

STYLE = Path(__file__).parent / "assets" / "html_parts.css"
"""The style sheet of these parts."""

MAX_EDITS = 200  # edits that are drawn
MAX_LENGTH = 300  # characters of a text

LEGEND = (
    '<p class="legend edits"><em>from the prediction to the accepted answer, both as compared:</em> '
    "<em><del>a</del> too much</em> <em><ins>a</ins> missing</em></p>"
)


def escape(value: object, limit: int = MAX_LENGTH) -> str:
    """Format any text as HTML: escaped, without control characters, and without its middle if longer than `limit`."""
    return html.escape(make_printable(shorten(str(value), limit))).replace("{", "&#123;").replace("$", "&#36;")


# One answer


def draw_edits(match: Match) -> str:
    """Draw the edits from the prediction to the accepted answer. Differences are marked not only by color."""
    edits = match.edits
    return f'<div class="edits">{"".join(map(_draw_edit, edits[:MAX_EDITS]))}{" …" * (len(edits) > MAX_EDITS)}</div>'


def _draw_edit(edit: Edit) -> str:
    if edit.operation == "equal":
        return escape(edit.prediction)
    sides = {"del": edit.prediction, "ins": edit.reference}
    return "".join(f"<{tag}>{escape(text).replace(' ', '␣')}</{tag}>" for tag, text in sides.items() if text)


def format_answer(why: Explanation) -> str:
    """Format the explanation of an answer: score, reason, edits, and every accepted answer."""
    tag = ' <span class="tag">closest</span>'
    rows = [
        [
            f"<q>{escape(match.reference)}</q>" + tag * (place == why.winner),
            f"{match.distance:,}",
            f"{match.length:,}",
            format_number(match.similarity),
        ]
        for place, match in enumerate(why.matches)
    ]
    typed = f"<p>As typed: <q>{escape(why.prediction)}</q></p>" * (why.prediction != why.normalized_prediction)
    closest = f"<p>Closest accepted answer: <q>{escape(why.closest)}</q></p>" * (why.reason != "empty")
    minimum = format_number(get_minimum_similarity(why.variant))
    header = ["accepted answer", "distance", "length", f"similarity (minimum {minimum})"]
    return (
        f'<section class="anls">{_format_head(why.score, why.sentence, why.signature, typed + closest)}'
        f"<h3>From the prediction to the accepted answer</h3>{draw_edits(why.best)}{LEGEND}"
        f"<h3>Every accepted answer</h3>{format_table(header, rows, marked=why.winner)}</section>"
    )


def format_value_answer(why: StarExplanation, label: str) -> str:
    """Format the explanation of a value: its score, and the score of each leaf with the reason."""
    rows = [[_format_leaf(leaf), format_number(leaf.score)] for leaf in why.leaves]
    leaves = f"<h3>Leaf by leaf</h3>{format_table(['prediction for accepted answer', 'score'], rows)}" if rows else ""
    return f'<section class="anls">{_format_head(why.score, f"{why}.", why.signature, unit=label)}{leaves}</section>'


def _format_leaf(leaf: Leaf) -> str:
    sides = [
        "nothing" if value is None else f"<q>{escape(format_value(value), 120)}</q>"
        for value in (leaf.prediction, leaf.reference)
    ]
    edits = draw_edits(leaf.text.best) if leaf.text and leaf.score < 1 else ""
    sentence = f'<p class="said">{escape(leaf.sentence)}</p>'
    return f"<b>{escape(leaf.path, 80)}</b> {' for '.join(sides)}{sentence}{edits}"


def _format_head(score: float, sentence: str, signature: str, more: str = "", unit: str = "score") -> str:
    return (
        f'<div class="head"><div class="score{" zero" * (score == 0)}"><b>{format_number(score)}</b>'
        f"<span>{unit}</span></div>"
        f'<div><p class="why">{escape(sentence)}</p>{more}'
        f'<p class="signed"><code>{escape(signature)}</code></p></div></div>'
    )


# Other parts


def format_variants() -> str:
    """Format the table of all variants."""
    rows = [
        [
            f"<b>{variant.name}</b><small>{escape(variant.meaning.replace('`', ''))}</small>",
            "ignored" if variant.ignore_case else "counts",
            variant.whitespace,
            f"{variant.prediction_length}, {variant.reference_length}",
            variant.kept.replace(">=", "≥"),
            format_number(variant.threshold),
        ]
        for variant in VARIANTS.values()
    ]
    header = ["variant", "case", "whitespace", "length (prediction, reference)", "kept when", "threshold"]
    return f'<section class="anls words">{format_table(header, rows)}</section>'


def format_error(message: str) -> str:
    """Format a message about what went wrong."""
    return f'<section class="anls"><p class="message" role="alert">{escape(message, 600)}</p></section>'


def format_hint(message: str) -> str:
    """Format a message about what to do next."""
    return f'<section class="anls"><p class="said">{escape(message, 600)}</p></section>'


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], marked: int | None = None) -> str:
    """Format a table of HTML cells. The first column holds texts, the others numbers."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join(
        f"<tr{' class=marked' * (place == marked)}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for place, row in enumerate(rows)
    )
    # On a narrow screen the table scrolls sideways, also with the keyboard.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{header[0]}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
