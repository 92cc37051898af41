"""Formats scores and their reasons as parts of an HTML page. All texts of users are escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.curves import least_similarity
from anls_metric.core.explanation import Edit, Explanation, Match, format_number
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.reading.values import format_value
from anls_metric.report.document import list_extraction
from anls_metric.report.numbers import PLAIN
from anls_metric.report.terminal import make_printable, shorten

if TYPE_CHECKING:
    from anls_metric.nested import Leaf, StarExplanation

STYLE = Path(__file__).parent / "assets" / "html_parts.css"
"""The style sheet of these parts."""

MOST_EDITED = 2_000**2  # characters of one text times characters of the other; above it, edits are not computed
LONGEST_EDITS = 400  # characters of drawn edits
LONGEST_TEXT = 300  # characters of any other text
MOST_REFERENCES = 50  # accepted answers that are shown for one answer
MOST_LEAVES = 200  # leaves that are shown for one value


def escape(value: object, limit: int = LONGEST_TEXT) -> str:
    """Format any text as HTML: escaped, without control characters, and without its middle if longer than `limit`."""
    return html.escape(make_printable(shorten(str(value), limit))).replace("{", "&#123;").replace("$", "&#36;")


# One answer


def find_edits(match: Match) -> tuple[Edit, ...] | None:
    """Find the edits of a match; None if the texts are too long.

    Example:
        >>> from anls_metric import explain
        >>> find_edits(explain("a" * 3000, ["b" * 3000]).best) is None
        True
    """
    size = len(match.normalized_prediction) * len(match.normalized_reference)
    return match.edits if size <= MOST_EDITED else None


def draw_edits(match: Match, limit: int = LONGEST_EDITS) -> str:
    """Draw the prediction above the reference, character by character. Differences are marked not only by colour."""
    edits = find_edits(match)
    if edits is None:
        sizes = [len(match.normalized_prediction), len(match.normalized_reference)]
        return f'<p class="said">{sizes[0]:,} characters against {sizes[1]:,}: too long to show what differs.</p>'
    columns = (
        (edit.operation, edit.prediction[place : place + 1], edit.reference[place : place + 1])
        for edit in edits
        for place in range(max(len(edit.prediction), len(edit.reference)))
    )
    characters = "".join(
        f'<span class="{operation}"><span>{_draw_sign(left, operation)}</span>'
        f"<span>{_draw_sign(right, operation)}</span></span>"
        for operation, left, right in islice(columns, limit)
    )
    if next(columns, None):
        characters += '<span class="more"><span>…</span><span>…</span></span>'
    steps = [edit for edit in edits if edit.operation != "equal"]
    label = "; ".join(escape(_describe_edit(edit), 80) for edit in steps[:10]) or "no edits"
    return f'<div class="edits" role="img" aria-label="Edits: {label}">{characters}</div>'


def _draw_sign(character: str, operation: str) -> str:
    if not character:
        return "&nbsp;"
    if character.isspace():
        return "&nbsp;" if operation == "equal" else "␣"
    return escape(character)


def _describe_edit(edit: Edit) -> str:
    if edit.operation == "replace":
        return f"replace “{edit.prediction}” by “{edit.reference}”"
    return f"{edit.operation} “{edit.prediction or edit.reference}”"


LEGEND = (
    '<p class="legend edits"><em>above the prediction, below the accepted answer, both as compared</em> '
    '<em><span class="delete"><span>a</span></span>delete: too much</em> '
    '<em><span class="insert"><span>a</span></span>insert: missing</em> '
    '<em><span class="replace"><span>a</span></span>replace: another one</em></p>'
)


def draw_number_line(why: Explanation) -> str:
    """Draw the similarities of the accepted answers on a line from 0 to 1, with the threshold."""
    least = least_similarity(why.variant)
    marks = "".join(
        f'<i class="dot{" best" * (place == why.winner)}" style="left:{_format_percent(match.similarity)}" '
        f'title="{escape(match.reference, 60)}: {format_number(match.similarity)}"></i>'
        for place, match in _select_matches(why)
    )
    closest = format_number(why.best.similarity)
    label = f"closest accepted answer at similarity {closest}, threshold at {format_number(least)}"
    return (
        f'<div class="line" role="img" aria-label="{label}"><div class="scale">'
        f'<div class="kept" style="left:{_format_percent(least)}"></div>{marks}'
        f'<i class="mark" style="left:{_format_percent(least)}"><b>{format_number(least)}</b></i></div>'
        '<div class="ends"><span>0</span><span>similarity</span><span>1</span></div></div>'
    )


def _select_matches(why: Explanation) -> list[tuple[int, Match]]:
    """Select the first accepted answers and the closest one, with their indices."""
    places = sorted({*range(min(len(why.matches), MOST_REFERENCES)), why.winner})
    return [(place, why.matches[place]) for place in places]


def _format_percent(fraction: float) -> str:
    return f"{100 * min(max(fraction, 0.0), 1.0):.2f}%"


def format_answer(why: Explanation) -> str:
    """Format the explanation of an answer: score, reason, edits, and every accepted answer."""
    matches = _select_matches(why)
    winner = "" if why.reason == "empty" else f"<p>Closest accepted answer: <q>{escape(why.best.reference)}</q></p>"
    if why.prediction != why.normalized_prediction:
        winner = f"<p>As typed: <q>{escape(why.prediction)}</q></p>{winner}"
    rows = [
        [
            f"<q>{escape(match.reference)}</q>" + (' <span class="tag">closest</span>' if place == why.winner else ""),
            f"{match.distance:,}",
            f"{match.length:,}",
            format_number(match.similarity),
        ]
        for place, match in matches
    ]
    marked = [place for place, _ in matches].index(why.winner)
    rest = len(why.matches) - len(matches)
    more = f'<p class="said">and {rest:,} other accepted answers</p>' if rest else ""
    return (
        f'<section class="anls">{_format_head(why.score, why.sentence, winner, why.signature)}'
        f"<h3>From the prediction to the accepted answer</h3>{draw_edits(why.best)}{LEGEND}"
        f"<h3>Every accepted answer, against the threshold</h3>{draw_number_line(why)}"
        f"{format_table(['accepted answer', 'distance', 'length', 'similarity'], rows, marked=marked)}{more}</section>"
    )


def format_value_answer(why: StarExplanation, label: str) -> str:
    """Format the explanation of a value: its score, and the score of each leaf with the reason."""
    rows = [[_format_leaf(leaf), format_number(leaf.score)] for leaf in why.leaves[:MOST_LEAVES]]
    rest = len(why.leaves) - len(rows)
    more = f'<p class="said">and {rest:,} other leaves</p>' if rest else ""
    leaves = (
        f"<h3>Leaf by leaf</h3>{format_table(['prediction for accepted answer', 'score'], rows)}{more}" if rows else ""
    )
    return f'<section class="anls">{_format_head(why.score, f"{why}.", "", why.signature, label)}{leaves}</section>'


def _format_leaf(leaf: Leaf) -> str:
    sides = [
        "nothing" if value is None else f"<q>{escape(format_value(value), 120)}</q>"
        for value in (leaf.prediction, leaf.reference)
    ]
    edits = draw_edits(leaf.text.best, 60) if leaf.text and leaf.score < 1 else ""
    sentence = f'<p class="said">{escape(leaf.sentence)}</p>'
    return f"<b>{escape(leaf.path, 80)}</b> {' for '.join(sides)}{sentence}{edits}"


def _format_head(score: float, sentence: str, more: str, signature: str, unit: str = "score") -> str:
    return (
        f'<div class="head"><div class="score{" zero" * (score == 0)}"><b>{format_number(score)}</b>'
        f"<span>{unit}</span></div>"
        f'<div><p class="why">{escape(sentence)}</p>{more}'
        f'<p class="signed"><code>{escape(signature)}</code></p></div></div>'
    )


def format_variant_scores(prediction: str, references: Sequence[str], chosen: Explanation) -> str:
    """Format the score of an answer under every variant, and mark the variants that disagree with the chosen one."""
    rows, count = [], 0
    for variant in VARIANTS.values():
        (score,), (similarity,) = scores_and_similarities([prediction], [references], variant=variant)
        differs = score != chosen.score
        count += differs
        rows.append([_format_variant(variant), format_number(similarity), _format_score(score, differs)])
    result = (
        f"{count} of {len(rows)} disagree with {format_number(chosen.score)}" if count else f"All {len(rows)} agree"
    )
    return (
        f'<section class="anls"><h3>The same answer under every variant</h3><p class="said">{result}. '
        "Each with its own threshold and case.</p>"
        f"{format_table(['variant', 'similarity', 'score'], rows)}</section>"
    )


def _format_variant(variant: Variant) -> str:
    meaning = escape(variant.meaning.replace("`", "'"))
    return f"<b>{escape(variant.name)}</b><small>{meaning}</small>"


def _format_score(score: float, differs: bool) -> str:
    return f'{format_number(score)} <span class="tag differs">≠</span>' if differs else format_number(score)


# Files


def format_summary(document: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """Format the scores of a document: the score of one submission, or a table of several; then hints and notes.

    Args:
        document: as `document.build_document` makes it.
        notes: sentences about how the files were read.
    """
    submissions, label = document["submissions"], document.get("label", Variant.label)
    remarks = "".join(f'<p class="hint">{escape(hint, 600)}</p>' for hint in document["hints"])
    remarks += "".join(f'<p class="said">{escape(note)}</p>' for note in [*list_extraction(document), *notes])
    if len(submissions) > 1:
        rows = [
            [
                escape(entry["name"], 60),
                f"{_draw_bar(entry['anls'])}<small>{PLAIN.format_interval(entry['interval'])}</small>",
            ]
            for entry in submissions
        ]
        signature = f'<p class="signed"><code>{escape(document["signature"])}</code></p>'
        scores = format_table(["submission", f"{label}, 95 % interval"], rows)
        return f'<section class="anls">{scores}{signature}{remarks}</section>'
    (submission,) = submissions
    zeros = submission["questions"] - submission["outcomes"]["equal"] - submission["outcomes"]["close enough"]
    count = f"{submission['questions']:,} question{'s' * (submission['questions'] != 1)}"
    why = f"{zeros:,} score{'s' * (zeros == 1)} 0" if zeros else "None scores 0"
    spread = "No interval: it needs two questions"
    if submission["interval"]:
        spread = f"95 % interval {PLAIN.format_interval(submission['interval'])}"
    more = f"<p>{spread}</p><p>{escape(submission['name'])}</p>"
    head = _format_head(submission["anls"], f"{count}. {why}.", more, document["signature"], label)
    return f'<section class="anls">{head}{remarks}</section>'


def _draw_bar(score: float) -> str:
    return f'<span class="bar"><i style="width:{_format_percent(score)}"></i></span>{score:.4f}'


# Other parts


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


def format_variants() -> str:
    """Format the table of all variants."""
    rows = [
        [
            _format_variant(variant),
            "ignored" if variant.ignore_case else "counts",
            variant.whitespace,
            f"{variant.prediction_length}, {variant.reference_length}",
            variant.kept.replace(">=", "≥"),
            format_number(variant.threshold),
        ]
        for variant in VARIANTS.values()
    ]
    header = ["variant", "case", "white space", "length (prediction, reference)", "kept when", "threshold"]
    return f'<section class="anls words">{format_table(header, rows)}</section>'
