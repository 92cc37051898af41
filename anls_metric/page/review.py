"""A file under review: read within the limits of a page, scored, and put into the order of interest."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from anls import VARIANTS, Variant
from anls_metric import compare, rrc
from anls_metric.report import Report, Scored, Tally, group_values

MOST_BYTES = 50 * 1024 * 1024
MOST_QUESTIONS = 200_000
MOST_UNPACKED = 4 * MOST_BYTES  # of a Parquet file; characters of any file
MOST_COMPARED = 20_000**2  # characters of a prediction times those of a reference

_CHUNK = 5_000
_WITH_COMMAND = "score it with calculate-anls"

Progress = Callable[[float, str], object]
"""Told how much is done, from 0 to 1, and what is being done."""


def _no_progress(fraction: float, said: str) -> None:
    pass


class Upload:
    """A file that a user uploaded, moved out of reach of other users; it is deleted when nothing holds it any more.

    Args:
        path: where it is now. Its folder is named after its content, as gradio does it: whose file is the same, and
            was moved for another already, shares what was moved.

    Raises:
        ValueError: it is too large; then it is deleted at once. OSError: it is not there.
    """

    def __init__(self, path: str) -> None:
        self.name = Path(path).name
        with _lock:
            file = _Private(path) if path not in _held or Path(path).exists() else _held[path]
            _held[path] = self._file = file

    def records(self) -> rrc.Records:
        """Its records, under the name that the user knows."""
        records = rrc.Records(self._file.path, most_bytes=MOST_UNPACKED)
        records.name = self.name
        return records

    def columns(self) -> list[str]:
        """The fields of its first record."""
        first: dict[str, Any] = next(iter(self.records()), {})
        return [name for name in first if _is_text(name)]


class _Private:
    """A file that was moved into a folder of its own, which goes when this goes."""

    def __init__(self, path: str) -> None:
        if Path(path).stat().st_size > MOST_BYTES:
            os.unlink(path)
            raise ValueError(f"{Path(path).name} is larger than {MOST_BYTES >> 20} MB: {_WITH_COMMAND}")
        self._folder = tempfile.TemporaryDirectory(prefix="anls-", ignore_cleanup_errors=True)
        self.path = str(shutil.move(path, self._folder.name))


_held: weakref.WeakValueDictionary[str, _Private] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _is_text(name: str) -> bool:
    """Whether a page can show it: not with half of a surrogate pair."""
    return name.isascii() or name.encode("utf-8", "ignore").decode() == name


def refuse_too_long(prediction: str, references: Sequence[str], what: str) -> None:
    """Refuse texts whose comparison would keep other users waiting."""
    longest = max(map(len, references), default=0)
    if len(prediction) * longest > MOST_COMPARED:
        raise ValueError(
            f"{what}: the prediction has {len(prediction):,} characters and a reference {longest:,}, which is too long "
            f"to compare here: {_WITH_COMMAND}"
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """The questions of a file, each with the answer of one submission or column."""

    name: str
    questions: list[rrc.Question]

    @cached_property
    def by_variant(self) -> dict[str, float]:
        """The score under every variant, each as published."""
        scores = {}
        for name in VARIANTS:
            report = Report(name)
            report.score(self.questions)
            scores[name] = report.anls
        return scores

    @cached_property
    def fields(self) -> list[str]:
        """The fields of the gold file that put questions into groups, those with the fewest groups first."""
        sizes: dict[str, int] = {}
        some = self.questions[:2000]
        for field in dict.fromkeys(name for question in some[:100] for name in question.record if _is_text(name)):
            values = [value for question in some for value in group_values(question.record, field)]
            if any(isinstance(value, (bytes, dict, list)) for value in values):
                continue
            groups = len(set(map(str, values)))
            if 1 < groups <= max(2, len(some) // 2):
                sizes[field] = groups
        return sorted(sizes, key=sizes.__getitem__)


def read_submission(
    gold: Upload, submission: Upload, missing_is_0: bool = False, progress: Progress = _no_progress
) -> Answers:
    """The answers of a submission to the questions of a gold file.

    Raises:
        ValueError: see `rrc.read_questions`; or there are too many. OSError: a file is gone.
    """
    records = gold.records()
    questions = rrc.read_questions(records, submission.records(), "zero" if missing_is_0 else "error")
    return Answers(submission.name, _read(questions, records, progress))


def read_column(
    table: Upload, prediction_column: str, references_column: str, progress: Progress = _no_progress
) -> Answers:
    """The answers in a column of a table.

    Raises:
        ValueError: see `rrc.read_table`; or there are too many. OSError: the file is gone.
    """
    records = table.records()
    questions = rrc.read_table(records, prediction_column, references_column)
    return Answers(prediction_column, _read(questions, records, progress))


def _read(questions: Iterator[rrc.Question], records: rrc.Records, progress: Progress) -> list[rrc.Question]:
    found: list[rrc.Question] = []
    characters = 0
    for question in questions:
        refuse_too_long(question.prediction or "", question.references, f"{records.name}, question {question.id}")
        characters += len(question.prediction or "") + _size(question.record)
        found.append(question)
        if len(found) > MOST_QUESTIONS:
            raise ValueError(f"{records.name} has more than {MOST_QUESTIONS:,} questions: {_WITH_COMMAND}")
        if characters > MOST_UNPACKED:
            raise ValueError(f"{records.name} has more than {MOST_UNPACKED:,} characters: {_WITH_COMMAND}")
        if len(found) % _CHUNK == 0:
            progress(records.fraction or 0.0, f"Reading {records.name}")
    if not found:
        raise ValueError(f"{records.name}: there are no questions in it")
    return found


def _size(record: Mapping[str, Any]) -> int:
    """About how many characters a record has."""
    return sum(
        sum(len(item) if isinstance(item, (str, bytes)) else 8 for item in value)
        if isinstance(value, list)
        else (len(value) if isinstance(value, (str, bytes, dict)) else 8)
        for value in record.values()
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """Answers that were scored: the score of each, and its similarity before the threshold."""

    answers: Answers
    report: Report
    scored: list[Scored]
    similarities: list[float]

    @property
    def name(self) -> str:
        """What the user calls the file or column."""
        return self.answers.name

    @cached_property
    def interval(self) -> compare.Interval | None:
        """The 95 % interval of the score; None for a single question."""
        return compare.interval([scored.score for scored in self.scored]) if len(self.scored) > 1 else None

    def groups(self, field: str) -> dict[str, Tally]:
        """The score of each group of a field of the gold file."""
        report = Report(self.report.variant, by=[field])
        report.score(self.answers.questions)
        return report.groups[field]

    def worst(self, most: int, words: str = "", zero: str = "") -> tuple[list[Scored], int]:
        """The worst answers, and how many there are in all.

        Args:
            most: how many to return.
            words: only those that have it in id, question, prediction or references, whatever its case.
            zero: only those that score 0 for this reason, one of `report.ZERO_REASONS`.
        """
        words = words.casefold()
        found = [
            (scored.score, similarity, place)
            for place, (scored, similarity) in enumerate(zip(self.scored, self.similarities))
            if (not zero or scored.zero == zero) and (not words or words in _searched(scored.question))
        ]
        found.sort()
        return [self.scored[place] for *_, place in found[:most]], len(found)


def _searched(question: rrc.Question) -> str:
    texts = [question.id, str(question.record.get("question", "")), question.prediction or "", *question.references]
    return "\n".join(texts).casefold()


def score(answers: Answers, variant: Variant, progress: Progress = _no_progress) -> Scores:
    """Score answers."""
    report = Report(variant)
    without_threshold = Report(replace(variant, kept="similarity >= threshold", threshold=0.0))
    scored: list[Scored] = []
    similarities: list[float] = []
    for start in range(0, len(answers.questions), _CHUNK):
        chunk = answers.questions[start : start + _CHUNK]
        scored += report.score(chunk)
        similarities += [scored.score for scored in without_threshold.score(chunk)]
        progress(len(scored) / len(answers.questions), f"Scoring {answers.name}")
    return Scores(answers, report, scored, similarities)


def comparison(first: Scores, second: Scores) -> compare.Comparison | None:
    """Whether the second is better; None for a single question."""
    if len(first.scored) < 2:
        return None
    return compare.compare([scored.score for scored in first.scored], [scored.score for scored in second.scored])


def differences(first: Scores, second: Scores, most: int) -> list[tuple[Scored, Scored]]:
    """The questions on which two submissions differ most, with both answers."""
    pairs = [pair for pair in zip(first.scored, second.scored) if pair[0].score != pair[1].score]
    pairs.sort(key=lambda pair: -abs(pair[0].score - pair[1].score))
    return pairs[:most]


def as_json(scores: Scores) -> str:
    """The score of each answer as JSON, with the signature."""
    result = {"anls": scores.report.anls, "signature": scores.report.signature, "answers": list(_rows(scores))}
    return json.dumps(result, indent=1)


def as_csv(scores: Scores) -> str:
    """The score of each answer as CSV; what a spreadsheet would take for a formula has an apostrophe before it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*next(_rows(scores)), "signature"])
    for row in _rows(scores):
        row["references"] = json.dumps(row["references"], ensure_ascii=False)
        cells = [_no_formula(value) if isinstance(value, str) else value for value in row.values()]
        writer.writerow([*cells, scores.report.signature])
    return stream.getvalue().encode("utf-8", "replace").decode("utf-8")


def _rows(scores: Scores) -> Iterator[dict[str, Any]]:
    for (question, score, zero), similarity in zip(scores.scored, scores.similarities):
        yield {
            "id": question.id,
            "prediction": question.prediction,
            "references": list(question.references),
            "score": score,
            "similarity": similarity,
            "zero": zero,
        }


def _no_formula(text: str) -> str:
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
