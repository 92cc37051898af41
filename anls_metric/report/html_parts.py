"""Scores and their reasons as HTML: pieces of a page, without the page. Every text of a user is escaped here."""

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
from anls_metric.reading.values import written
from anls_metric.report.terminal import printable

if TYPE_CHECKING:
    from anls_metric.nested import Leaf, StarExplanation

STYLE = Path(__file__).parent / "assets" / "html_parts.css"
"""How the pieces look."""

MOST_EDITED = 2_000**2  # characters of one text times those of the other, up to which their edits are looked for
LONGEST_EDITS = 400  # characters of an edit view
LONGEST_TEXT = 300  # characters of any other text
MOST_REFERENCES = 50  # accepted answers of one answer that are shown
MOST_LEAVES = 200  # leaves of one value that are shown


def text(value: object, limit: int = LONGEST_TEXT) -> str:
    """Anybody's text as HTML: escaped, without control characters, its middle left out where it is long."""
    whole = str(value)
    if len(whole) > limit:
        whole = whole[: limit // 2] + " … " + whole[-limit // 2 :]
    return html.escape(printable(whole)).replace("{", "&#123;").replace("$", "&#36;")


# One answer


def edits_of(match: Match) -> tuple[Edit, ...] | None:
    """The edits of a match; None where both texts are so long that nobody would read them.

    Example:
        >>> from anls_metric import explain
        >>> edits_of(explain("a" * 3000, ["b" * 3000]).best) is None
        True
    """
    size = len(match.normalized_prediction) * len(match.normalized_reference)
    return match.edits if size <= MOST_EDITED else None


def edit_view(match: Match, limit: int = LONGEST_EDITS) -> str:
    """Prediction above reference, character by character, with what differs marked by more than colour."""
    edits = edits_of(match)
    if edits is None:
        sizes = [len(match.normalized_prediction), len(match.normalized_reference)]
        return f'<p class="said">{sizes[0]:,} characters against {sizes[1]:,}: too long to show what differs.</p>'
    columns = (
        (edit.operation, edit.prediction[place : place + 1], edit.reference[place : place + 1])
        for edit in edits
        for place in range(max(len(edit.prediction), len(edit.reference)))
    )
    shown = "".join(
        f'<span class="{operation}"><span>{_cell(left, operation)}</span><span>{_cell(right, operation)}</span></span>'
        for operation, left, right in islice(columns, limit)
    )
    if next(columns, None):
        shown += '<span class="more"><span>…</span><span>…</span></span>'
    steps = [edit for edit in edits if edit.operation != "equal"]
    told = "; ".join(text(_step(edit), 80) for edit in steps[:10]) or "no edits"
    return f'<div class="edits" role="img" aria-label="Edits: {told}">{shown}</div>'


def _cell(character: str, operation: str) -> str:
    if not character:
        return "&nbsp;"
    if character.isspace():
        return "&nbsp;" if operation == "equal" else "␣"
    return text(character)


def _step(edit: Edit) -> str:
    if edit.operation == "replace":
        return f"replace “{edit.prediction}” by “{edit.reference}”"
    return f"{edit.operation} “{edit.prediction or edit.reference}”"


LEGEND = (
    '<p class="legend edits"><em>above the prediction, below the accepted answer, both as compared</em> '
    '<em><span class="delete"><span>a</span></span>delete: too much</em> '
    '<em><span class="insert"><span>a</span></span>insert: missing</em> '
    '<em><span class="replace"><span>a</span></span>replace: another one</em></p>'
)


def number_line(why: Explanation) -> str:
    """Where the accepted answers stand against the threshold."""
    least = least_similarity(why.variant)
    marks = "".join(
        f'<i class="dot{" best" * (place == why.winner)}" style="left:{_percent(match.similarity)}" '
        f'title="{text(match.reference, 60)}: {format_number(match.similarity)}"></i>'
        for place, match in _shown_matches(why)
    )
    closest = format_number(why.best.similarity)
    label = f"closest accepted answer at similarity {closest}, threshold at {format_number(least)}"
    return (
        f'<div class="line" role="img" aria-label="{label}"><div class="scale">'
        f'<div class="kept" style="left:{_percent(least)}"></div>{marks}'
        f'<i class="mark" style="left:{_percent(least)}"><b>{format_number(least)}</b></i></div>'
        '<div class="ends"><span>0</span><span>similarity</span><span>1</span></div></div>'
    )


def _shown_matches(why: Explanation) -> list[tuple[int, Match]]:
    """The closest accepted answer and the first others, each with its place among them."""
    places = sorted({*range(min(len(why.matches), MOST_REFERENCES)), why.winner})
    return [(place, why.matches[place]) for place in places]


def _percent(fraction: float) -> str:
    return f"{100 * min(max(fraction, 0.0), 1.0):.2f}%"


def answer(why: Explanation) -> str:
    """All that is said of one answer: score, reason, edits, and every accepted answer."""
    shown = _shown_matches(why)
    winner = "" if why.reason == "empty" else f"<p>Closest accepted answer: <q>{text(why.best.reference)}</q></p>"
    if why.prediction != why.normalized_prediction:
        winner = f"<p>As typed: <q>{text(why.prediction)}</q></p>{winner}"
    rows = [
        [
            f"<q>{text(match.reference)}</q>" + (' <span class="tag">closest</span>' if place == why.winner else ""),
            f"{match.distance:,}",
            f"{match.length:,}",
            format_number(match.similarity),
        ]
        for place, match in shown
    ]
    marked = [place for place, _ in shown].index(why.winner)
    rest = len(why.matches) - len(shown)
    more = f'<p class="said">and {rest:,} other accepted answers</p>' if rest else ""
    return (
        f'<section class="anls">{_head(why.score, why.sentence, winner, why.signature)}'
        f"<h3>From the prediction to the accepted answer</h3>{edit_view(why.best)}{LEGEND}"
        f"<h3>Every accepted answer, against the threshold</h3>{number_line(why)}"
        f"{table(['accepted answer', 'distance', 'length', 'similarity'], rows, marked=marked)}{more}</section>"
    )


def answer_of_values(why: StarExplanation, label: str) -> str:
    """All that is said of one list or nested value: score, and why each leaf has its own."""
    rows = [[_leaf(leaf), format_number(leaf.score)] for leaf in why.leaves[:MOST_LEAVES]]
    rest = len(why.leaves) - len(rows)
    more = f'<p class="said">and {rest:,} other leaves</p>' if rest else ""
    leaves = f"<h3>Leaf by leaf</h3>{table(['prediction for accepted answer', 'score'], rows)}{more}" if rows else ""
    return f'<section class="anls">{_head(why.score, f"{why}.", "", why.signature, label)}{leaves}</section>'


def _leaf(leaf: Leaf) -> str:
    sides = [
        "nothing" if value is None else f"<q>{text(written(value), 120)}</q>"
        for value in (leaf.prediction, leaf.reference)
    ]
    edits = edit_view(leaf.text.best, 60) if leaf.text and leaf.score < 1 else ""
    said = f'<p class="said">{text(leaf.sentence)}</p>'
    return f"<b>{text(leaf.path, 80)}</b> {' for '.join(sides)}{said}{edits}"


def _head(score: float, said: str, more: str, signed: str, unit: str = "score") -> str:
    return (
        f'<div class="head"><div class="score{" zero" * (score == 0)}"><b>{format_number(score)}</b>'
        f"<span>{unit}</span></div>"
        f'<div><p class="why">{text(said)}</p>{more}<p class="signed"><code>{text(signed)}</code></p></div></div>'
    )


def answer_by_variant(prediction: str, references: Sequence[str], chosen: Explanation) -> str:
    """The same answer under every variant, each as published; those that disagree are marked."""
    rows, others = [], 0
    for variant in VARIANTS.values():
        (score,), (similarity,) = scores_and_similarities([prediction], [references], variant=variant)
        differs = score != chosen.score
        others += differs
        rows.append([_variant(variant), format_number(similarity), _score_cell(score, differs)])
    said = (
        f"{others} of {len(rows)} disagree with {format_number(chosen.score)}" if others else f"All {len(rows)} agree"
    )
    return (
        f'<section class="anls"><h3>The same answer under every variant</h3><p class="said">{said}. '
        "Each with its own threshold and case.</p>"
        f"{table(['variant', 'similarity', 'score'], rows)}</section>"
    )


def _variant(variant: Variant) -> str:
    meaning = text(variant.meaning.replace("`", "'"))
    return f"<b>{text(variant.name)}</b><small>{meaning}</small>"


def _score_cell(score: float, differs: bool) -> str:
    return f'{format_number(score)} <span class="tag differs">≠</span>' if differs else format_number(score)


# Files


def summary(document: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """The scores of a document: one large, or a table of several; with hints, and how the files were read."""
    submissions, label = document["submissions"], document.get("label", Variant.label)
    said = "".join(f'<p class="hint">{text(hint, 600)}</p>' for hint in document["hints"])
    said += "".join(f'<p class="said">{text(note)}</p>' for note in notes)
    if len(submissions) > 1:
        rows = [
            [text(one["name"], 60), f"{_bar(one['anls'])}<small>{_spread(one['interval'])}</small>"]
            for one in submissions
        ]
        signed = f'<p class="signed"><code>{text(document["signature"])}</code></p>'
        shown = table(["submission", f"{label}, 95 % interval"], rows)
        return f'<section class="anls">{shown}{signed}{said}</section>'
    (one,) = submissions
    zeros = one["questions"] - one["outcomes"]["equal"] - one["outcomes"]["close enough"]
    count = f"{one['questions']:,} question{'s' * (one['questions'] != 1)}"
    why = f"{zeros:,} score{'s' * (zeros == 1)} 0" if zeros else "None scores 0"
    spread = f"95 % interval {_spread(one['interval'])}" if one["interval"] else "No interval: it needs two questions"
    more = f"<p>{spread}</p><p>{text(one['name'])}</p>"
    head = _head(one["anls"], f"{count}. {why}.", more, document["signature"], label)
    return f'<section class="anls">{head}{said}</section>'


def _spread(interval: Sequence[float] | None) -> str:
    return f"{interval[0]:.4f} to {interval[1]:.4f}" if interval else "-"


def _bar(score: float) -> str:
    return f'<span class="bar"><i style="width:{_percent(score)}"></i></span>{score:.4f}'


# Pieces


def message(said: str) -> str:
    """What went wrong, or what to do next."""
    return f'<section class="anls"><p class="message" role="alert">{text(said, 600)}</p></section>'


def hint(said: str) -> str:
    """What to do next."""
    return f'<section class="anls"><p class="said">{text(said, 600)}</p></section>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], marked: int | None = None) -> str:
    """A table of HTML cells; the first column is text, the others are numbers."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join(
        f"<tr{' class=marked' * (place == marked)}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for place, row in enumerate(rows)
    )
    # It scrolls sideways where a phone is narrower, also by the keyboard.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{header[0]}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def variants() -> str:
    """The table of variants."""
    rows = [
        [
            _variant(variant),
            "ignored" if variant.ignore_case else "counts",
            variant.whitespace,
            f"{variant.prediction_length}, {variant.reference_length}",
            variant.kept.replace(">=", "≥"),
            format_number(variant.threshold),
        ]
        for variant in VARIANTS.values()
    ]
    header = ["variant", "case", "white space", "length (prediction, reference)", "kept when", "threshold"]
    return f'<section class="anls words">{table(header, rows)}</section>'
