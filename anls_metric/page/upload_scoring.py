"""Score and compare uploads, step by step: the page shows the steps, an endpoint answers with the result."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.evaluation import Evaluation
from anls_metric.core.variants import VARIANTS, Scorer
from anls_metric.page import limits
from anls_metric.page.uploads import Budget, Upload, find, list_columns, open_all
from anls_metric.reading.remedies import Door
from anls_metric.reading.sources import Reading
from anls_metric.report.document import build_document


class Task(NamedTuple):
    """What to score.

    Attributes:
        files: that hold both sides each, or submissions; among these the gold file, where `gold` is None.
        gold: the file with the accepted answers.
        scorer: which ANLS, or which score of lists and nested values.
        reading: how the files are to be read.
        baseline: the submission that the others are compared with, None for the first.
        worst: how many of the worst answers are wanted.
        report: whether a report is wanted as well.
    """

    files: Sequence[Upload]
    gold: Upload | None = None
    scorer: Scorer = VARIANTS["standard"]
    reading: Reading = Reading()
    baseline: str | None = None
    worst: int = 0
    report: bool = False


class Fields(NamedTuple):
    """The fields of the records, to pick from."""

    names: list[str]


class Progress(NamedTuple):
    """How many rows of a submission are scored."""

    done: int
    name: str


class Result(NamedTuple):
    """The scores: the JSON document, and notes on how the files were read."""

    document: dict[str, Any]
    notes: list[str]


class Report(NamedTuple):
    """The report as a file, packed: gradio sends what an event returns twice, and copies it a dozen times."""

    packed: str


Step = Fields | Progress | Result | Report


def score(task: Task, door: Door) -> Iterator[Step]:
    """Score uploads, step by step.

    Args:
        task: which ones, and how.
        door: in whose words hints are.

    Raises:
        ValueError: they cannot be scored, and why. OSError: a file is gone.
    """
    opened = open_all(task.files, task.gold)
    if task.report:
        yield Fields(list_columns(opened.values()))
    submissions = find(task.files, task.gold, task.reading, opened)
    evaluation = Evaluation(
        submissions,
        [task.scorer],
        worst=task.worst,
        baseline=task.baseline,
        keep=task.report,
        similarities=task.report,
    )
    counts: Counter[str] = Counter()
    for submission, scored in evaluation.run(Budget().read_batches):
        counts[submission.name] += len(scored)
        yield Progress(counts[submission.name], submission.name)
    hints = [hint.format_for(door) for hint in evaluation.hints]
    yield Result(build_document(evaluation.entries, evaluation.compared, hints), evaluation.notes)
    if task.report:
        from anls_metric.report.html import as_html

        sources = {submission.questions_name for submission in submissions}
        page = as_html(
            evaluation.entries,
            evaluation.compared,
            hints,
            sources.pop() if len(sources) == 1 else "",
            most_bytes=limits.MOST_SHOWN,
            most_by_variant=limits.MOST_BY_VARIANT,
        )
        yield Report(base64.b64encode(gzip.compress(page.encode(), compresslevel=1)).decode())
