"""Uploads are scored and compared: what the page shows and what an endpoint answers come from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from anls import VARIANTS, Variant
from anls_metric.analysis.comparison import Compared
from anls_metric.analysis.evaluation import Evaluation
from anls_metric.page import limits
from anls_metric.page.uploads import Spent, Upload, find
from anls_metric.reading.sources import Reading
from anls_metric.report.document import Entry, document

Progress = Callable[[int, str], object]
"""Told how many rows are done, and of what."""


def _no_progress(count: int, name: str) -> None:
    pass


class Asked(NamedTuple):
    """What is to be scored.

    Attributes:
        files: that hold both sides each, or submissions; among these the gold file, where `gold` is None.
        gold: the file with the accepted answers.
        variant: which ANLS.
        reading: how the files are to be read.
        baseline: the submission that the others are compared with, None for the first.
        worst: how many of the worst answers are wanted.
    """

    files: Sequence[Upload]
    gold: Upload | None = None
    variant: Variant = VARIANTS["standard"]
    reading: Reading = Reading()
    baseline: str | None = None
    worst: int = 0

    @property
    def is_large(self) -> bool:
        """Whether it takes long. OSError: a file is gone."""
        return any(upload.is_large for upload in [*self.files, *filter(None, [self.gold])])


class Found(NamedTuple):
    """What is known of the submissions.

    Attributes:
        entries: the submissions.
        compared: how they compare, where they do.
        hints: what to know of the numbers before believing them.
        source: the name of the file that has the questions, "" where there are several.
        notes: how the files were read.
    """

    entries: list[Entry]
    compared: Compared | None
    hints: list[str]
    source: str
    notes: list[str]

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self.entries, self.compared, self.hints)

    def report(self) -> str:
        """The report, as a file."""
        from anls_metric.report.html import as_html

        with limits.turnstile.passed(sum(entry.scored_set.count for entry in self.entries) > limits.MANY_ANSWERS):
            return as_html(
                self.entries,
                self.compared,
                self.hints,
                self.source,
                most_bytes=limits.MOST_SHOWN,
                most_by_variant=limits.MOST_BY_VARIANT,
            )


def score(asked: Asked, remedies: Mapping[str, str], keep: bool = False, tell: Progress = _no_progress) -> Found:
    """Score uploads.

    Args:
        asked: which ones, and how.
        remedies: in whose words hints are.
        keep: whether a report is wanted as well.
        tell: is told how far it is.

    Raises:
        ValueError: they cannot be scored, and why. OSError: a file is gone.
    """
    with limits.turnstile.passed(asked.is_large):
        submissions = find(asked.files, asked.gold, asked.reading)
        several = len(submissions) > 1
        evaluation = Evaluation(
            [asked.variant], worst=asked.worst, keep=keep or several, similarities=keep, extract=asked.reading.rules
        )
        spent = Spent()
        for submission in submissions:
            count = 0
            for scored in evaluation.score(submission, spent.batches(submission)):
                count += len(scored)
                tell(count, submission.name)
        compared, hints = None, [hint.worded(remedies) for hint in evaluation.hints]
        try:
            compared = evaluation.compare(asked.baseline)
            hints += compared.hints if compared else []
        except ValueError as error:
            if asked.baseline not in (None, *evaluation.scored_sets):
                raise
            hints.append(f"not compared: {error}")  # each has its number all the same
    sources = {submission.asked for submission in submissions}
    return Found(
        [Entry(one.name, evaluation.scored_sets[one.name], one.layout) for one in submissions],
        compared,
        list(dict.fromkeys(hints)),
        sources.pop() if len(sources) == 1 else "",
        [note for submission in submissions for note in submission.notes],
    )
