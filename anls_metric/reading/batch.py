"""Questions with their answers: a row holds one question, and a batch holds many as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias, cast, overload

from anls_metric.reading.answer_fields import NOTHING_BESIDE

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
"""A text, or a value as JSON holds it."""


class Row(NamedTuple):
    """One question with the answer to score.

    Attributes:
        id: the id of the question.
        prediction: the answer: a text, or a value where `Reading.values` says so; None where there is no answer.
        references: the accepted answers, one or more.
        record: the record of the gold file or table that the row was read from.
        written: the raw model output, if the prediction was extracted from it by rules; else None.
        runs: the rows of all runs, this one first, where a model answered the question in several runs; else empty.
        beside: the confidence and the verdict of a judge, if the submission has them: see `answer_fields.READERS`.
    """

    id: str
    prediction: Json
    references: Sequence[Json]
    record: Mapping[str, Any]
    written: str | None = None
    runs: Sequence[Row] = ()
    beside: Mapping[str, Any] = NOTHING_BESIDE


def get_texts(row: Row) -> tuple[str, Sequence[str]]:
    """Return the prediction and the accepted answers of a row of texts; "" if there is no answer."""
    return cast("str", row.prediction or ""), cast("Sequence[str]", row.references)


class Batch(Sequence[Row]):
    """Consecutive rows as columns. As a sequence it holds `Row` objects, each created when it is accessed.

    Scoring only needs columns, so a million rows are scored without a million objects.

    Attributes:
        ids, predictions, references, records: as the attributes of `Row`, for each row.
        written: as `Row.written`; None where no rules extract answers.
        runs: as `Row.runs`; None where there is one run.
        beside: as `Row.beside`; None if the submission has no such fields.
        has_texts: whether a reader checked that predictions are strings or None, and accepted answers lists of strings.

    Example:
        >>> batch = Batch(["7", "8"], ["tea", None], [["tea"], ["milk"]], [{}, {}])
        >>> batch[1].references, [row.id for row in batch], batch.predictions
        (['milk'], ['7', '8'], ['tea', None])
    """

    __slots__ = ("beside", "has_texts", "ids", "predictions", "records", "references", "runs", "written")

    def __init__(
        self,
        ids: Sequence[str],
        predictions: Sequence[Json],
        references: Sequence[Sequence[Json]],
        records: Sequence[Mapping[str, Any]],
        written: Sequence[str | None] | None = None,
        runs: Sequence[Sequence[Row]] | None = None,
        beside: Sequence[Mapping[str, Any]] | None = None,
        has_texts: bool = False,
    ) -> None:
        self.ids, self.predictions, self.references, self.records = ids, predictions, references, records
        self.written, self.runs, self.beside, self.has_texts = written, runs, beside, has_texts

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Batch:
        """Make a batch from rows; a batch is returned unchanged."""
        if isinstance(rows, Batch):
            return rows
        if not rows:
            return cls([], [], [], [])
        ids, predictions, references, records, written, runs, beside = map(list, zip(*rows))
        return cls(
            ids,
            predictions,
            references,
            records,
            None if written.count(None) == len(written) else written,
            runs if any(runs) else None,
            beside if any(beside) else None,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Row]:
        others = (
            repeat(default) if column is None else column
            for column, default in ((self.written, None), (self.runs, ()), (self.beside, NOTHING_BESIDE))
        )
        fields = zip(self.ids, self.predictions, self.references, self.records, *others)
        return map(tuple.__new__, repeat(Row), fields)  # `map(Row._make, ...)`, in a third of its time

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Batch: ...
    def __getitem__(self, place: int | slice) -> Row | Batch:
        if isinstance(place, slice):
            return Batch(
                self.ids[place],
                self.predictions[place],
                self.references[place],
                self.records[place],
                self.written and self.written[place],
                self.runs and self.runs[place],
                self.beside and self.beside[place],
                self.has_texts,
            )
        return Row(
            self.ids[place],
            self.predictions[place],
            self.references[place],
            self.records[place],
            self.written[place] if self.written else None,
            self.runs[place] if self.runs else (),
            self.beside[place] if self.beside else NOTHING_BESIDE,
        )
