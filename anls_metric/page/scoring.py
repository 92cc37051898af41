"""Uploads are scored and compared: what the page shows and what an endpoint answers come from here, step by step."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.evaluation import Evaluation
from anls_metric.core.variants import VARIANTS, Scorer
from anls_metric.page import apart, limits
from anls_metric.page.uploads import Spent, Upload, columns_of, find, open_all
from anls_metric.reading.remedies import Door
from anls_metric.reading.sources import Reading
from anls_metric.report.document import build_document


class Asked(NamedTuple):
    """What is to be scored.

    Attributes:
        files: that hold both sides each, or submissions; among these the gold file, where `gold` is None.
        gold: the file with the accepted answers.
        variant: which ANLS, or which score of lists and nested values.
        reading: how the files are to be read.
        baseline: the submission that the others are compared with, None for the first.
        worst: how many of the worst answers are wanted.
        report: whether a report is wanted as well.
    """

    files: Sequence[Upload]
    gold: Upload | None = None
    variant: Scorer = VARIANTS["standard"]
    reading: Reading = Reading()
    baseline: str | None = None
    worst: int = 0
    report: bool = False

    @property
    def is_large(self) -> bool:
        """Whether it may take long, which values do not show before. OSError: a file is gone."""
        uploads = [*self.files, *filter(None, [self.gold])]
        known = not self.reading.values and not any(upload.is_packed for upload in uploads)
        return not known or sum(upload.size for upload in uploads) > limits.SMALL_FILES


class Fields(NamedTuple):
    """What the records of the files have, to pick from."""

    names: list[str]


class Progress(NamedTuple):
    """How many rows of a submission are scored."""

    done: int
    name: str


class Found(NamedTuple):
    """What is known of the submissions: the JSON document, and how the files were read."""

    document: dict[str, Any]
    notes: list[str]


class Report(NamedTuple):
    """The report as a file, packed: gradio sends what an event returns twice, and copies it a dozen times."""

    packed: str


Step = Fields | Progress | Found | Report


def score(asked: Asked, door: Door) -> Iterator[Step]:
    """Score uploads, step by step; large ones in a process of their own, when it is their turn.

    Args:
        asked: which ones, and how.
        door: in whose words hints are.

    Raises:
        ValueError: they cannot be scored, and why. OSError: a file is gone.
    """
    if asked.is_large:
        with limits.turnstile.passed(large=True):
            yield from apart.run(_score, asked, door)
    else:
        yield from _score(asked, door)


def _score(asked: Asked, door: Door) -> Iterator[Step]:
    opened = open_all(asked.files, asked.gold)
    if asked.report:
        yield Fields(columns_of(opened.values()))
    submissions = find(asked.files, asked.gold, asked.reading, opened)
    evaluation = Evaluation(
        submissions,
        [asked.variant],
        worst=asked.worst,
        baseline=asked.baseline,
        keep=asked.report,
        similarities=asked.report,
    )
    counts = dict.fromkeys((submission.name for submission in submissions), 0)
    for submission, scored in evaluation.run(Spent().batches):
        counts[submission.name] += len(scored)
        yield Progress(counts[submission.name], submission.name)
    hints = [hint.worded(door) for hint in evaluation.hints]
    yield Found(build_document(evaluation.entries, evaluation.compared, hints), evaluation.notes)
    if asked.report:
        from anls_metric.report.html import as_html

        sources = {submission.asked for submission in submissions}
        source = sources.pop() if len(sources) == 1 else ""
        few = limits.MOST_BY_VARIANT
        page = as_html(
            evaluation.entries,
            evaluation.compared,
            hints,
            source,
            most_bytes=limits.MOST_SHOWN,
            most_by_variant=few,
        )
        yield Report(base64.b64encode(gzip.compress(page.encode(), compresslevel=1)).decode())
