"""Makes made-up submissions, and reports about them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from anls_metric.analysis.comparison import compare
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from anls_metric.report.html import as_html

SCRIPT = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}<!--<script>"
HOSTILE = f"{SCRIPT}\u202eevil\u202c\x00\u200b\r\n\ud800\t&amp;"

Answers = Sequence[tuple[str | None, Sequence[str]]]


def score_answers(answers: Answers, records: Sequence[Mapping[str, Any]] = (), variant: str = "standard") -> ScoredSet:
    """Score answers with their references. Ids are numbers unless the records have ids."""
    scored_set = ScoredSet(variant, keep=True)
    records = records or [{"question": f"What is number {number}?"} for number in range(len(answers))]
    ids = [str(record.get("id", number)) for number, record in enumerate(records)]
    scored_set.add([Row(key, *answer, record) for key, answer, record in zip(ids, answers, records)])
    scored_set.complete()
    return scored_set


def build_report(
    submissions: Mapping[str, Answers],
    records: Sequence[Mapping[str, Any]] = (),
    variant: str = "standard",
    **options: Any,
) -> str:
    """Build the HTML report of submissions to the same questions."""
    sets = {name: score_answers(answers, records, variant) for name, answers in submissions.items()}
    compared = compare(sets) if len(sets) > 1 else None
    return as_html([Entry(name, scored_set) for name, scored_set in sets.items()], compared, **options)


def make_answers(count: int, right: float) -> list[tuple[str, list[str]]]:
    """Make answers with their references. The share `right` of them is right, and some others are nearly right."""
    answers = []
    for number in range(count):
        accepted = f"answer of question {number}"
        wrong = accepted[: 6 + number % 15] if number % 3 else f"It is the {accepted}, as the page says in its title."
        answers.append((accepted.upper() if number % 10 < 10 * right else wrong, [accepted, f"{number}"]))
    return answers


class _ElementParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))


def list_elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """List the tag and the attributes of every element of a page."""
    parser = _ElementParser()
    parser.feed(page)
    return parser.elements


def read_data(page: str) -> dict[str, Any]:
    """Read the data for the script from a report."""
    match = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data
