"""Formats the questions to look at first as HTML, from the data of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from anls_metric.report.details import escape_sentence
from anls_metric.report.numbers import NumberFormat
from anls_metric.report.texts import escape

MOST_EDITS = 12
"""The maximum number of lengths in the edits to draw, with two lengths for each edit or equal part. If there are more,
the two strings are shown one after the other.
"""

MOST_LEAVES = 3


def format_first(cases: Sequence[Any], data: Mapping[str, Any], numbers: NumberFormat, first: int, second: int) -> str:
    """Format the questions to look at first. Returns "" if there are none.

    Args:
        cases: the questions that `first_look.choose_cases` chose.
        data: the data of the report.
        numbers: how scores are printed.
        first, second: the numbers of a submission and of its baseline; -1 for no baseline.
    """
    if not cases:
        return ""
    counts = {2: "these two", 3: "these three"}
    title = f"<h2>Look at {counts.get(len(cases), 'this one')} first</h2>"
    items = "".join(_format_case(case, data, numbers, first, second) for case in cases)
    return f'<section class="first" aria-label="Questions to look at first">{title}{items}</section>'


def _format_case(case: Any, data: Mapping[str, Any], numbers: NumberFormat, first: int, second: int) -> str:
    row, names = case["row"], [data["names"][each["name"]] for each in data["document"]["submissions"]]
    first, second = (first, second) if case["who"] == first else (second, first)
    answer, references = data["answers"][first]["rows"][row], data["references"][row]
    others = f", {case['like'] - 1} like it" if case["like"] > 1 else ""
    question = escape(data["questions"][row] or data["ids"][row], 160)
    key = quote(data["ids"][row].encode("utf-8", "replace").decode(), safe="")
    link = f'<a href="#q-{escape(key, 2000)}" data-open="{row}">{question}</a>'
    tag = f'<span class="tag">{escape(case["cause"])}{others}</span>'
    score = f"<b>{escape_sentence(numbers.format(answer['score']))}</b>"
    why = "The metric is too strict here: people would accept it. " * case["is_strict"]
    sentence = "" if "tree" in answer else data["sentences"][answer["sentence"]]
    lines = [f'<p class="edits">{"".join(_draw(answer, answer.get("references", references), case["cause"]))}</p>']
    lines.append(f'<p class="said">{escape(names[first])} {score}. {why}{escape_sentence(sentence)}</p>')
    said = [data["pages"][row].replace("\\", "/").rpartition("/")[2]] if data["pages"][row] else []
    if second >= 0 and (other := data["answers"][second]["rows"][row]):
        text = "no answer" if other["prediction"] is None else other["prediction"] or "empty"
        short = "" if "tree" in other else f": {text if len(text) <= 80 else text[:77] + '...'}"
        said.insert(0, f"{names[second]} {numbers.format(other['score'])}{short}")
    lines.append(f'<p class="said">{escape_sentence(" · ".join(said))}</p>' if said else "")
    picture = data["images"][row] if row < len(data["images"]) else None
    image = f'<img data-picture="{picture}" alt="">' if isinstance(picture, int) else ""
    return f'<article class="case">{image}<div><p class="q">{link}{tag}</p>{"".join(lines)}</div></article>'


def _draw(answer: Mapping[str, Any], references: Sequence[str], cause: str) -> Iterator[str]:
    """Draw an answer with its edits to the closest reference or, for a nested value, its wrong leaves, starting with
    those that have the given cause.
    """
    if "tree" in answer:
        lacks = {"missed": "prediction", "invented": "reference"}.get(cause, "")
        leaves = sorted(_list_wrong(answer["tree"], ""), key=lambda pair: lacks and pair[1][lacks] is not None)
        for path, leaf in leaves[:MOST_LEAVES]:
            yield f"{escape(path)}: {_replace(leaf['prediction'], leaf['reference'])}<br>"
        if len(leaves) > MOST_LEAVES:
            yield f"{len(leaves) - MOST_LEAVES} more"
        return
    closest = references[answer["closest"]] if references else ""
    parts, prediction = answer.get("edits") or (), answer["prediction"] or ""
    alike = sum(parts[0::4])
    if len(parts) > MOST_EDITS or 2 * alike < min(len(prediction), len(closest)) or not alike:
        yield _replace(prediction, closest)
        return
    before = after = 0
    for place in range(0, len(parts), 2):
        gone, come = prediction[before : before + parts[place]], closest[after : after + parts[place + 1]]
        before, after = before + parts[place], after + parts[place + 1]
        yield escape(gone) if place % 4 == 0 else _replace(gone, come, "")


def _replace(gone: str | None, come: str | None, between: str = " ") -> str:
    """Draw one string in place of another."""
    old = f"<del>{escape(gone, 120)}</del>" if gone else ""
    new = f"<ins>{escape(come, 120)}</ins>" if come else ""
    return (between if old and new else "").join([old, new])


def _list_wrong(branch: Mapping[str, Any], start: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """List the wrong leaves of a branch with their paths."""
    for inner in branch["inside"]:
        path = f"{start}{inner['name']}".lstrip(".")
        if inner["inside"]:
            yield from _list_wrong(inner, path)
        elif inner["score"] < 1:
            yield path, inner
