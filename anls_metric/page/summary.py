"""Formats what the page shows of files above the report: scores, other results, and what to do next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anls_metric.page.advice import Action, Advice
from anls_metric.page.upload_scoring import Result
from anls_metric.report import html_parts
from anls_metric.report.beside import format_suspects, list_lines
from anls_metric.report.html_parts import escape

_LONGEST_COMMAND = 10_000  # characters
_MOST_SUSPECTS = 20


def format_result(result: Result, command: str) -> str:
    """Format the scores as HTML. They are shown before the report is ready.

    Args:
        result: the scores.
        command: the command that gives the same scores.
    """
    document = result.document
    scores = html_parts.format_summary({**document, "hints": []})
    broken = "".join(_format_advice(advice, "message", ' role="alert"') for advice in result.broken.values())
    hints = "".join(_format_advice(advice, "hint") for advice in result.hints)
    notes = "".join(f'<p class="said">{escape(note)}</p>' for note in result.notes)
    parts = [scores, broken, hints, _format_beside(document), notes]
    return format_said("".join(parts) + format_command(command), _say_scores(document, len(result.broken)))


def format_error(advice: Advice, command: str = "") -> str:
    """Format an error as HTML, with the button of its remedy and the command that does the same."""
    content = _format_advice(advice, "message", ' role="alert"')
    return f'<section class="anls">{content}</section>{format_command(command) if command else ""}'


def format_said(content: str, said: str) -> str:
    """Add a sentence to HTML, which page.js passes to screen readers when the content is shown."""
    return f'<div data-said="{escape(said, 1000)}">{content}</div>'


def format_command(command: str) -> str:
    """Format a command as HTML, with a button that copies it. page.js listens to the button."""
    return (
        '<section class="anls command"><h3 id="same">The same in your terminal</h3>'
        f'<pre tabindex="0" aria-labelledby="same"><code>{escape(command, _LONGEST_COMMAND)}</code></pre>'
        '<button type="button" class="copy">Copy the command</button></section>'
    )


def _format_advice(advice: Advice, style: str, attributes: str = "") -> str:
    return f'<p class="{style}"{attributes}>{escape(advice.text, 600)}{_format_button(advice.action)}</p>'


def _format_button(action: Action | None) -> str:
    """Format the button of an action. Its value is JSON, so that no character is lost."""
    if action is None:
        return ""
    value = escape(json.dumps(action.value), 2000)
    return (
        f' <button type="button" class="apply" data-setting="{action.setting}" data-value="{value}">'
        f"{escape(action.label, 120)}</button>"
    )


def _format_beside(document: Mapping[str, Any]) -> str:
    """Format the other results in a folded section: metrics, confidence, judge, suspects."""
    several = len(document["submissions"]) > 1
    rows = [
        [*([escape(submission["name"], 60)] if several else []), f"<b>{escape(name)}</b> {escape(text, 400)}"]
        for submission in document["submissions"]
        for name, text in list_lines(submission, without=("confusions",))
    ]
    suspects = document.get("suspects") or []
    lines = format_suspects(suspects[:_MOST_SUSPECTS])[1:] if suspects else []
    if not (rows or lines):
        return ""
    table = html_parts.format_table(["submission", "beside"] if several else ["beside the score"], rows) if rows else ""
    more = f" (the first {_MOST_SUSPECTS} of {len(suspects):,})" if len(suspects) > _MOST_SUSPECTS else ""
    items = "".join(f"<li>{escape(line.strip(), 400)}</li>" for line in lines)
    listed = f"<h3>Most agree on an answer that is not accepted{more}</h3><ul>{items}</ul>" if items else ""
    return (
        '<details class="anls beside words"><summary>Behind the number</summary>'
        f'<div class="anls">{table}{listed}</div></details>'
    )


def _say_scores(document: Mapping[str, Any], broken: int) -> str:
    label = document.get("label", "ANLS")
    scores = [
        f"{label} of {submission['name']}: {submission['anls']:.4f}" for submission in document["submissions"][:10]
    ]
    files = f" {broken} file{'s' * (broken != 1)} could not be read." if broken else ""
    hints = f" {len(document['hints'])} hint{'s' * (len(document['hints']) != 1)}." if document["hints"] else ""
    return f"{'; '.join(scores)}. {document['questions']:,} questions.{files}{hints}"
