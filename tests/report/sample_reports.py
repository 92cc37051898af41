"""Makes sample submissions, and reports about them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.comparison import compare
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.hint import Hint
from anls_metric.analysis.images import Images
from anls_metric.analysis.scored import Scored, score_answers
from anls_metric.core.strings.variants import get_variant
from anls_metric.document import MAX_BYTES, REPORT, build_document
from anls_metric.messages import Message
from anls_metric.options import Settings
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.table import Table
from anls_metric.report import headline, html
from anls_metric.report.schema import Headline

SCRIPT = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}<!--<script>"
HOSTILE = f"{SCRIPT}\u202eevil\u202c\x00\u200b\r\n\ud800\t&amp;"

Pairs = Sequence[tuple[str | None, Sequence[str]]]
"""Answers with their accepted answers."""


def score_pairs(
    pairs: Pairs,
    records: Sequence[Mapping[str, Any]] = (),
    variant: str = "standard",
    name: str = "model",
    runs: Sequence[str] = (),
    gold: str = "gold.json",
    **columns: Any,
) -> Scored:
    """Score answers, or several runs of them, with their accepted answers. Ids are numbers unless records have ids."""
    records = records or [{"question": f"What is number {number}?"} for number in range(len(pairs))]
    ids = [str(record.get("id", number)) for number, record in enumerate(records)]
    texts = [record.get("question") for record in records]
    questions = Questions(Table(records, gold), ids, [list(accepted) for _, accepted in pairs], texts, has_ids=True)
    read = Source("prediction", f"{name}.json", "references", gold, "id", f"{len(ids)} of {len(ids)}")
    if runs:
        columns["places"] = [number * len(pairs) // len(runs) for number in range(len(runs))]
    answers = Answers(name, questions, runs or [prediction for prediction, _ in pairs], read, **columns)
    return score_answers(answers, get_variant(variant))


def conclude(submissions: Sequence[Scored], hints: Sequence[str | Hint] = (), **options: Any) -> Result:
    """Make the result of scored submissions, with hints or their sentences."""
    settings = Settings(**options)
    several = len(submissions) > 1
    return Result(
        list(submissions),
        settings,
        submissions[0].signature,
        compare(submissions, settings.baseline, settings.all_pairs) if several else None,
        hints=[hint if isinstance(hint, Hint) else Hint(Message("", "{text}", {"text": hint})) for hint in hints],
    )


def as_html(result: Result, images: Images | None = None, most_bytes: int = MAX_BYTES, **options: Any) -> str:
    """Format the report of a result."""
    command = options.pop("command", "")
    return html.as_html(build_document(result, {REPORT}, images, most_bytes, command), **options)


def describe_headline(result: Result) -> Headline:
    """Describe the top of the report of a result."""
    return headline.describe_headline(build_document(result, {REPORT}))


def build_report(
    submissions: Mapping[str, Pairs],
    records: Sequence[Mapping[str, Any]] = (),
    variant: str = "standard",
    hints: Sequence[str | Hint] = (),
    baseline: str | None = None,
    gold: str = "gold.json",
    **options: Any,
) -> str:
    """Build the HTML report of submissions to the same questions."""
    scored = [score_pairs(pairs, records, variant, name, gold=gold) for name, pairs in submissions.items()]
    return as_html(conclude(scored, hints, baseline=baseline), **options)


def make_answers(count: int, correct: float) -> list[tuple[str, list[str]]]:
    """Make answers with accepted answers. The share `correct` of them is correct, and some others nearly."""
    answers = []
    for number in range(count):
        accepted = f"answer of question {number}"
        wrong = accepted[: 6 + number % 15] if number % 3 else f"It is the {accepted}, as the page says in its title."
        answers.append((accepted.upper() if number % 10 < 10 * correct else wrong, [accepted, f"{number}"]))
    return answers


def read_data(page: str) -> dict[str, Any]:
    """Read the data for the script from a report."""
    match = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


def read_rows(page: str, number: int = 0) -> list[Any]:
    """Read the answers of a submission from a report: see `question_data._describe_answer`."""
    rows: list[Any] = read_data(page)["answers"][number]["rows"]
    return rows
