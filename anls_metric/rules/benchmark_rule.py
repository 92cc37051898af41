"""Defines the class `Rule`, the counterpart of `Variant` for the answers to one benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from anls_metric.core.checks import RowName, check_number, describe, name_row
from anls_metric.core.scorer import Scorer, mean
from anls_metric.core.strings.rows import pair_columns
from anls_metric.rules.judgment import ColumnError, Judgment, Row
from anls_metric.rules.shapes import Fit

Summary = dict[str, Any]
"""The figures of a dataset, named as in the benchmark's program."""

FindRefusal = Callable[[Any, Any], str]
"""A function that returns the message with which a benchmark's program rejects a gold file and a submission, or "" if
the program accepts both files.
"""

Summarize = Callable[[Sequence[Row], Sequence[float], float], Summary]
"""A function that computes the figures of a dataset from its rows, their scores and the threshold."""


def summarize_mean(name: str) -> Summarize:
    """Make a function that summarizes a dataset with a single figure, which is the mean score under the given name."""
    return lambda rows, scores, threshold: {name: mean(scores)}


@dataclass(frozen=True)
class Rule(Scorer):
    """The rule of a benchmark that needs more columns than predictions and references.

    Attributes:
        name: the name of the rule.
        label: the name of the score in a table.
        meaning: what the rule adds to ANLS, in one line.
        source: the program that the rule reproduces.
        columns: the names of the columns that a row must have, each with a description.
        references: the column of the references.
        optional: the columns that a row may have in addition, each with a description. Most of them are needed only
            for the figures of a dataset.
        judge: the function that scores a row, given the row and the threshold.
        summarize: the function that computes the figures of a dataset from rows and their scores.
        threshold: the smallest similarity that is kept; in most rules, it is fixed.
        options: the options that `rule` accepts.
        marker: the string that must precede the answer in a prediction; "" for none.
        prediction_field: the field of the predictions in a submission to the benchmark.
        find_refusal: the function that finds why the benchmark's program rejects files, as in `check_files`.
        fit: the function that converts the references in a file to the shape that the program expects; None to leave
            the references unchanged.
        confidence_bins: the maximum number of bins for the calibration error; None for the default.

    Example:
        >>> from anls_metric import rule
        >>> row = {"answer_format": "Float", "gold": "12", "prediction": "12.5"}
        >>> rule("mmlongbench_doc").scores([row])
        [0.0]
        >>> print(rule("mmlongbench_doc").explain(row))
        numbers 12.5 and 12 differ by more than 1%, so 0
    """

    name: str
    label: str = field()  # without it, a dataclass takes the value of the base class as its default
    meaning: str
    source: str
    columns: Mapping[str, str] = field()
    references: str = field()
    judge: Callable[[Row, float], Judgment] = field(repr=False)
    summarize: Summarize = field(repr=False)
    optional: Mapping[str, str] = field(default_factory=dict)
    threshold: float = 0.5
    options: tuple[str, ...] = ()
    marker: str = ""
    prediction_field: str = "prediction"
    find_refusal: FindRefusal | None = field(default=None, repr=False)
    fit: Fit | None = field(default=None, repr=False)
    confidence_bins: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold))

    def fit_row(self, row: Row, name: str) -> Row:
        """Convert the references of a row to the shape that the program expects. Raises ValueError if the references
        are invalid.
        """
        if self.fit is None or self.references not in row:
            return row
        try:
            return {**row, self.references: self.fit(row[self.references], row, self.references)}
        except ColumnError as error:
            self._refuse({**dict.fromkeys(self.columns), **row}, name, error)

    def scores(self, rows: Iterable[Row], row_name: RowName = name_row) -> list[float]:
        """Score each row.

        Args:
            rows: dicts with the columns of the rule.
            row_name: the function that names a row in an error message.

        Returns:
            A score from 0 to 1 for each row.

        Raises:
            ValueError: a row lacks a column or contains a value that cannot be scored; the error names the row and the
                column.
        """
        scores: list[float] = []
        judge, threshold, row = self.judge, self.threshold, None
        try:
            for row in rows:
                scores.append(judge(row, threshold)[0])
        except Exception as error:
            self._refuse(row, row_name(len(scores)), error)
        return scores

    def summary(self, rows: Iterable[Row], row_name: RowName = name_row) -> Summary:
        """Compute the figures of a dataset, named as in the benchmark's program.

        Raises:
            ValueError: there are no rows, or as in `scores`.
        """
        rows = list(rows)
        return self.summarize_scores(rows, self.scores(rows, row_name), row_name)

    def summarize_scores(self, rows: Sequence[Row], scores: Sequence[float], row_name: RowName = name_row) -> Summary:
        """Compute the figures of `summary` from rows and their scores."""
        try:
            return self.summarize(rows, scores, self.threshold)
        except ColumnError as error:
            self._refuse(rows[error.place], row_name(error.place), error)

    def explain(self, row: Any, columns: Row | None = None) -> Judgment:
        """Explain the score of an answer by finding the branch of the rule that decided it.

        Args:
            row: a dict with the columns of the rule, or only the prediction.
            columns: the other columns, if ``row`` is only the prediction.

        Raises:
            ValueError: as in `scores`.
        """
        row = row if columns is None else {**columns, "prediction": row}
        try:
            return self.judge(row, self.threshold)
        except Exception as error:
            self._refuse(row, "the row", error)

    def check_files(self, gold: Any, submission: Any) -> None:
        """Check the contents of two files in the same way as the benchmark's program. Most programs check nothing.

        Args:
            gold: the content of the gold file, as `json.load` returns it.
            submission: the content of the submission.

        Raises:
            ValueError: the program rejects the files; the message is the program's own.

        Example:
            >>> from anls_metric import rule
            >>> rule("dude").check_files({"data": []}, [])
            Traceback (most recent call last):
                ...
            ValueError: The GT file is not valid (no dataset_name key)
        """
        refusal = self.find_refusal(gold, submission) if self.find_refusal else ""
        if refusal:
            raise ValueError(refusal)

    # For a `Scorer`, the references of a rule are dicts with the other columns.

    def read_typed(self, prediction: str, references: Sequence[str]) -> NoReturn:
        """Raise ValueError, because a typed answer lacks the other columns."""
        raise ValueError(f"{self.name} needs {', '.join(self.columns)}: score a file that has these fields")

    def score(self, predictions: Iterable[Any], references: Iterable[Row], row_name: RowName = name_row) -> list[float]:
        """Score each row, given its other columns in ``references``. Raises the same ValueError as `scores`."""
        rows = (
            {**columns, "prediction": prediction} if isinstance(columns, Mapping) else columns
            for prediction, columns in zip(*pair_columns(predictions, references))
        )
        return self.scores(rows, row_name)

    def _refuse(self, row: Any, name: str, error: Exception) -> NoReturn:
        """Raise the error for a row that cannot be scored."""
        if not isinstance(row, Mapping):
            problem = f"{name} is {describe(row)}: pass a dict with the columns {', '.join(self.columns)}"
        elif missing := [column for column in self.columns if column not in row]:
            problem = f"{name} has no {' and no '.join(missing)}: {self.name} needs {', '.join(self.columns)}"
        elif isinstance(error, ColumnError):
            problem = f"{error.column} of {name} {error.problem}"
        elif isinstance(error, (ValueError, RecursionError, OverflowError)):  # an integer of thousands of digits
            problem = f"{name} cannot be scored by {self.name}: {error}"
        else:
            raise error
        raise ValueError(problem) from None
