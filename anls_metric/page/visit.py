"""What one visitor's page shows, as HTML: an answer as it is typed, or files that are read and scored once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from anls import VARIANTS, Variant, anls_scores, explain, mean
from anls_metric.analysis import significance
from anls_metric.analysis.comparison import compare
from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.scored import Scored, ScoredSet, group, grouping_fields
from anls_metric.page import limits
from anls_metric.page.errors import ON_THE_PAGE, told
from anls_metric.page.uploads import Answers, Upload, can_be_shown, read_column, read_submission
from anls_metric.reading.rows import Row
from anls_metric.report import pieces
from anls_metric.report.document import answer_records
from anls_metric.report.tables import to_csv

ZEROS = [outcome.name for outcome in reversed(OUTCOMES) if outcome.scores_zero]
"""Why an answer can score 0, to filter by."""

NOTHING = "Drop a gold file and a submission, or one table (CSV, JSON lines, JSON, Parquet) with both."

_WORST = 10
_DIFFERENCES = 5
_LARGE = 2_000  # rows that take a while
_CHUNK = 1024  # rows that are scored at a time

Progress = Callable[[int, str], object]
"""Told how many rows are done, and what is being done."""


def _no_progress(count: int, said: str) -> None:
    pass


# One answer


def accepted(answers: str) -> list[str]:
    """The accepted answers of a text field: one a line, blank lines left out."""
    return [line for line in answers.splitlines() if line.strip()]


def one_answer(prediction: str, answers: str, variant: Variant) -> tuple[str, str]:
    """The HTML of one answer: its score with the reason, and its score under every variant.

    Raises:
        ValueError: too much to compare.
    """
    if max(len(prediction), len(answers)) > limits.MOST_CHARACTERS:
        raise ValueError(f"the text is longer than {limits.MOST_CHARACTERS:,} characters: score it as a file")
    references = accepted(answers)
    if not references:
        return pieces.hint("Write an accepted answer to see the score."), ""
    work = limits.refuse_too_long(prediction, references, "the texts")
    with limits.turnstile.passed(large=work * len(VARIANTS) > limits.SMALL_WORK):
        why = explain(prediction, references, variant=variant)
        return pieces.answer(why), pieces.answer_by_variant(prediction, references, why)


# Files


class Asked(NamedTuple):
    """What is to be scored: one or two submissions to a gold file, or columns of a table."""

    gold: Upload | None = None
    submission: Upload | None = None
    second: Upload | None = None
    prediction_column: str | None = None
    references_column: str | None = None
    second_column: str | None = None
    unanswered_score_0: bool = False

    @property
    def uploads(self) -> list[Upload]:
        """The files."""
        return [upload for upload in (self.gold, self.submission, self.second) if upload is not None]

    def answers(self) -> list[Answers]:
        """Those of each submission or column, to be read; none while something lacks."""
        if self.gold is None:
            return []
        submissions = self.uploads[1:]
        if submissions:
            return [read_submission(self.gold, upload, self.unanswered_score_0) for upload in submissions]
        if self.prediction_column and self.references_column:
            columns = [column for column in (self.prediction_column, self.second_column) if column]
            return [read_column(self.gold, column, self.references_column) for column in columns]
        return []

    def next_step(self) -> str:
        """What lacks, in words."""
        if self.gold is None:
            return "Drop the gold file as well." if self.uploads else NOTHING
        return f"Drop a submission to {self.gold.name}, or pick the columns of predictions and of accepted answers."


class Submission(NamedTuple):
    """The answers of a submission or column, scored.

    Attributes:
        name: what the visitor calls it.
        scored: every answer with its score.
    """

    name: str
    scored: ScoredSet

    @property
    def rows(self) -> list[Row]:
        """Its rows."""
        return [scored.row for scored in self.scored.rows]

    @property
    def scores(self) -> list[float]:
        """Their scores."""
        return [scored.score for scored in self.scored.rows]

    @property
    def interval(self) -> significance.Interval | None:
        """The 95 % interval of its score; None for a single question."""
        return significance.interval(self.scores) if self.scored.count > 1 else None

    def worst(self, most: int, words: str = "", zero: str = "") -> tuple[list[Scored], int]:
        """The worst answers, and how many there are in all.

        Args:
            most: how many to return.
            words: only those that have it in id, question, prediction or references, whatever its case.
            zero: only those that score 0 for this reason, one of `ZEROS`.
        """
        words = words.casefold()
        found = [
            (scored.score, scored.similarity, place)
            for place, scored in enumerate(self.scored.rows)
            if (not zero or scored.zero == zero) and (not words or words in _searched(scored.row))
        ]
        found.sort()
        return [self.scored.rows[place] for *_, place in found[:most]], len(found)


def score(name: str, batches: Iterable[Sequence[Row]], variant: Variant, tell: Progress) -> Submission:
    """Score rows as they come."""
    scored_set = ScoredSet(variant, keep=True)
    for rows in batches:
        scored_set.add(rows)
        tell(scored_set.count, f"Scoring {name}")
    return Submission(name, scored_set)


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


def by_variant(rows: Sequence[Row]) -> dict[str, float]:
    """The score under every variant, each as published."""
    answered = [(row.prediction, row.references) for row in rows if row.prediction is not None]
    unanswered = [0.0] * (len(rows) - len(answered))
    predictions, references = zip(*answered) if answered else ((), ())
    return {
        name: mean((anls_scores(predictions, references, variant=name) if answered else []) + unanswered)
        for name in VARIANTS
    }


def _searched(row: Row) -> str:
    texts = [row.id, str(row.record.get("question", "")), row.prediction or "", *row.references]
    return "\n".join(texts).casefold()


def differences(first: Submission, second: Submission, most: int) -> list[tuple[Scored, Scored]]:
    """The questions on which two submissions differ most, with both answers."""
    pairs = [pair for pair in zip(first.scored.rows, second.scored.rows) if pair[0].score != pair[1].score]
    pairs.sort(key=lambda pair: -abs(pair[0].score - pair[1].score))
    return pairs[:most]


def as_json(scored_set: ScoredSet) -> str:
    """The score of each answer as JSON, with the signature."""
    result = {"anls": scored_set.mean, "signature": scored_set.signature, "answers": answer_records(scored_set)}
    return json.dumps(result, indent=1)


DOWNLOADS: Mapping[str, Callable[[ScoredSet], str]] = {"CSV": to_csv, "JSON": as_json}


class Visit:
    """The files of one visitor: other settings score them without reading them again.

    They are let go where all visitors together hold too much, and read again when they are asked for.

    Attributes:
        uploads: gold file or table, submission, and second submission, None where there is none.
        fields: the fields of the gold file that put questions into groups, those with the fewest groups first.
        field: the one whose groups are shown.
    """

    def __init__(self) -> None:
        self.uploads: list[Upload | None] = [None, None, None]
        self.fields: list[str] = []
        self.field: str | None = None
        self._newest = 0  # the call that was made last: what an older one finds is not shown
        self._asked = Asked()
        self._variant = VARIANTS["standard"]
        self._filter = ("", "")
        self._submissions: list[Submission] = []
        self._by_variant: dict[str, float] = {}

    def let_go(self) -> None:
        """Forget what was read."""
        self._submissions = []

    def columns(self) -> list[str]:
        """The columns to pick from: those of the table, where there is one alone."""
        table, *submissions = self.uploads
        try:
            return table.columns() if table and not any(submissions) else []
        except (ValueError, OSError):  # scoring it says what is wrong
            return []

    def score(
        self, asked: Asked, variant: Variant, tell: Progress = _no_progress, number: int | None = None
    ) -> dict[str, str] | None:
        """Score files.

        Args:
            asked: which ones.
            variant: by which ANLS.
            tell: is told how far it is.
            number: which call of this visitor it is, since calls may overtake each other; None for the next.

        Returns:
            The HTML of what is to be shown, by the part of the page; "summary" alone where there is no score. None
            where something else was asked for after it.
        """
        number = self._newest + 1 if number is None else number
        self._newest = max(number, self._newest)
        try:
            with limits.turnstile.passed(any(upload.is_large for upload in asked.uploads)):
                if number < self._newest:
                    return None
                found, size = self._scored(asked, variant, tell)
                said = shown_scores(found) if found else {"summary": pieces.hint(asked.next_step())}
        except Exception as error:
            found, size, said = [], 0, {"summary": pieces.message(told(error, ON_THE_PAGE))}
        if number < self._newest:
            return None
        self._asked, self._variant, self._submissions = asked if found else Asked(), variant, found
        if size:
            self._by_variant = {}
            limits.budget.hold(self, size)
        if found:
            self.fields = fields_of(found[0].rows)
            said |= {"worst": self.worst(*self._filter), "groups": self.groups(self._kept_field())}
        return said

    def _scored(self, asked: Asked, variant: Variant, tell: Progress) -> tuple[list[Submission], int]:
        """The scored submissions, and how many bytes they take; 0 where they are held already."""
        known = self._submissions
        if known and asked == self._asked:
            return [score(submission.name, _batches(submission.rows), variant, tell) for submission in known], 0
        read = asked.answers()
        found = [score(answers.name, answers, variant, tell) for answers in read]
        return found, sum(answers.size for answers in read)

    def _first(self) -> Submission | None:
        """The first submission, read again where it was let go."""
        if not self._submissions and self._asked.uploads:
            self.score(self._asked, self._variant, number=self._newest)
        return next(iter(self._submissions), None)

    def _kept_field(self) -> str | None:
        return self.field if self.field in self.fields else next(iter(self.fields), None)

    def worst(self, words: str | None = "", zero: str | None = "") -> str:
        """The HTML of the worst answers, of those that have some words and score 0 for a reason."""
        self._filter = words or "", zero or ""
        first = self._first()
        if first is None:
            return ""
        with limits.turnstile.passed(first.scored.count > _LARGE):
            return pieces.answers(*first.worst(_WORST, *self._filter), first.scored.variant)

    def groups(self, field: str | None) -> str:
        """The HTML of the score of each group of a field."""
        self.field = field
        first = self._first()
        if first is None or not field:
            return ""
        return pieces.groups(field, group(first.scored.rows, field))

    def every_variant(self) -> str:
        """The HTML of the score under every variant: the one thing that scores again."""
        first = self._first()
        if first is None:
            return ""
        with limits.turnstile.passed(first.scored.count > _LARGE):
            self._by_variant = self._by_variant or by_variant(first.rows)
            return pieces.by_variant(self._by_variant, first.scored.variant)

    def download(self, kind: str) -> str:
        """Every answer with its score, as a file of a kind of `DOWNLOADS`."""
        first = self._first()
        if first is None:
            return ""
        with limits.turnstile.passed(first.scored.count > _LARGE):
            return DOWNLOADS[kind](first.scored)


def fields_of(rows: Sequence[Row]) -> list[str]:
    """The fields that put rows into groups, as far as a page can show them; of a wide table few rows are looked at."""
    width = sum(len(row.record) for row in rows[:100]) or 1
    return [name for name in grouping_fields(rows[: max(100, 10**6 // width)]) if can_be_shown(name)]


def shown_scores(submissions: Sequence[Submission]) -> dict[str, str]:
    """The HTML of what is said at once of scored files, by the part of the page where it stands."""
    first, *others = submissions
    similarities = [scored.similarity or 0.0 for scored in first.scored.rows]
    return {
        "summary": pieces.summary(first.scored, first.interval, first.name),
        "histogram": pieces.histogram(similarities, first.scored.variant),
        "comparison": "".join(shown_comparison(first, second) for second in others),
    }


def shown_comparison(first: Submission, second: Submission) -> str:
    """The HTML of two submissions: which is better, how sure that is, and where they differ."""
    names = (first.name, second.name)
    if first.name == second.name:
        names = (f"{first.name} (first)", f"{second.name} (second)")
    (found,) = compare(dict(zip(names, (first.scored, second.scored)))).comparisons
    said = pieces.comparison(first.scored, second.scored, found)
    return said + pieces.differences(differences(first, second, _DIFFERENCES), names, first.scored.variant)
