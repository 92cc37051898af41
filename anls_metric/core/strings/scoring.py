"""The public functions for strings, which score one answer, columns, streams or batches and explain a score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from anls_metric.core.checks import describe, name_row
from anls_metric.core.scorer import SCORERS, refuse_no_rows
from anls_metric.core.strings.explanation import Explanation, match_texts
from anls_metric.core.strings.kernel import Kernel, score_columns
from anls_metric.core.strings.rows import as_references, as_text, check_pairs, get_columns
from anls_metric.core.strings.variants import Variant, compile_kernel, get_variant

__all__ = [
    "anls_batch",
    "anls_score",
    "anls_scores",
    "explain",
    "iter_anls_scores",
    "normalized_levenshtein_similarity",
]


def _get_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None) -> Kernel:
    """Return the kernel of a variant. Raises the same ValueError as `get_variant`."""
    try:
        return _find_kernel(variant, threshold, ignore_case, SCORERS.changes)
    except TypeError:  # a list, for example, which `get_variant` rejects
        return compile_kernel(get_variant(variant, threshold, ignore_case))


@lru_cache(maxsize=256, typed=True)
def _find_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None, changes: int) -> Kernel:
    """Return the kernel of a variant, cached until the registered names change."""
    return compile_kernel(get_variant(variant, threshold, ignore_case))


def anls_score(
    prediction: str,
    gold_labels: Iterable[str],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> float:
    """Score one answer by its similarity to the closest reference, or as 0 if the similarity is below the threshold.

    Args:
        prediction: the answer to score.
        gold_labels: the references, one or more; a bare string is one reference.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`.

    Returns:
        The score, from 0 to 1.

    Raises:
        ValueError: a value is not a string, there are no references, the variant is unknown, or the threshold is
            outside [0, 1].

    Example:
        >>> anls_score("CocaCola", ["Coca Cola", "Coca Cola Company"])
        0.8888888888888888
        >>> anls_score("The Coca", ["Coca Cola", "Coca Cola Company"])
        0.0
        >>> anls_score("Coca cola", ["Coca Cola", "Coca Cola Company"])
        1.0

    Source: equation 1 of https://arxiv.org/abs/1905.13648; the arguments are those of https://github.com/shunk031/ANLS.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    return kernel.score(as_text(prediction, "the prediction"), as_references(gold_labels, "gold_labels"))


def anls_scores(
    predictions: Iterable[str],
    references: Iterable[Iterable[str]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> list[float]:
    """Score each answer in a set in the same way as `anls_score`. The `mean` of the scores is the ANLS of the set.

    Args:
        predictions: N answers, as a list, tuple, iterator, numpy array, a column of a pandas, datasets or pyarrow
            table, or a table with one column, such as a DuckDB relation.
        references: the references of each question, in the same order: N lists of strings, or N strings if each
            question has one reference.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`.

    Returns:
        N scores from 0 to 1.

    Raises:
        ValueError: a value is not a string or a row has no references (the message names the row), the columns have
            different lengths, there are no rows, the variant is unknown, or the threshold is outside [0, 1].

    Example:
        >>> anls_scores(["CocaCola", "12/15/89"], [["Coca Cola", "Coca Cola Company"], ["12/15/88"]])
        [0.8888888888888888, 0.875]

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    scores = score_columns(predictions, references, kernel)
    refuse_no_rows(scores)
    return scores


def iter_anls_scores(
    rows: Iterable[tuple[str, Iterable[str]]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Iterator[float]:
    """Score each row of a stream in the same way as `anls_scores`, but in constant memory.

    Args:
        rows: pairs of an answer and its references, for example from a generator that reads a file.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`.

    Returns:
        An iterator over the scores, from 0 to 1. It yields each score before it reads the next row and can be passed to
        `mean`.

    Raises:
        ValueError: as in `anls_scores`. Invalid options are rejected at once. An invalid row is rejected when it is
            read, after the scores of the rows before it; the error gives its number in the stream.

    Example:
        >>> rows = (("CocaCola", ["Coca Cola"]) for _ in range(1000))
        >>> mean(iter_anls_scores(rows))
        0.8888888888888888
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    return kernel.score_rows(check_pairs(rows))


def anls_batch(
    batch: Any,
    indices: Sequence[object] | None = None,
    prediction_column: str = "prediction",
    references_column: str = "references",
    score_column: str = "anls",
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> dict[str, list[float]]:
    """Compute the column of scores for one batch, for engines that split a dataset into batches, such as `datasets`,
    Ray Data and Spark.

    Args:
        batch: columns by name, as a dict, a data frame, or any Arrow stream: a pyarrow table or record batch, a DuckDB
            relation, a Spark 4 frame.
        indices: the row numbers to show in error messages. ``Dataset.map(..., with_indices=True)`` passes the numbers
            of the rows in the whole dataset.
        prediction_column: the name of the column with the answers.
        references_column: the name of the column with the references.
        score_column: the name of the column for the scores.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`.

    Returns:
        ``{score_column: scores}``, with exactly the scores that `anls_scores` returns for the whole dataset; [] for an
        empty batch. Because polars treats a list as one cell, turn it into a column with
        ``frame.with_columns(polars.Series("anls", scores))``.

    Raises:
        ValueError: as in `anls_scores`; or the batch is a single row, because ``batched=True`` is missing.
        KeyError: the batch lacks a column. The data frames of some libraries raise an error of their own instead.

    Example:
        >>> anls_batch({"prediction": ["CocaCola"], "references": [["Coca Cola"]]})
        {'anls': [0.8888888888888888]}

    Source: https://huggingface.co/docs/datasets/process#batch-processing.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    row_name = name_row if indices is None else lambda row: f"row {indices[row]}"
    columns = get_columns(batch, prediction_column, references_column)
    if columns[0] is None or isinstance(columns[0], str):
        raise ValueError(
            f"predictions is {describe(columns[0])}: pass a list of strings, one for each question; Dataset.map "
            "passes lists with batched=True"
        )
    scores = score_columns(*columns, kernel, row_name)
    return {score_column: scores}


def normalized_levenshtein_similarity(
    prediction: str, reference: str, variant: str | Variant = "standard", ignore_case: bool | None = None
) -> float:
    """Compute the similarity of two strings before any threshold, which is ``1 - distance / length``.

    Args:
        prediction: the first string.
        reference: the second string.
        variant, ignore_case: the variant that normalizes the strings and measures their lengths, as in `get_variant`.

    Returns:
        1 for strings that are equal once normalized, 0 for strings that share nothing. The similarity can be below 0
        for variants that divide by the length of the string as given, if lowercasing makes the string longer.

    Raises:
        ValueError: a value is not a string, or the variant is unknown.

    Example:
        >>> normalized_levenshtein_similarity("The Coca", "Coca Cola")
        0.4444444444444444

    Source: https://arxiv.org/abs/1905.13648, section 4.
    """
    kernel = _get_kernel(variant, None, ignore_case)
    return match_texts(as_text(prediction, "prediction"), as_text(reference, "reference"), kernel).similarity


def explain(
    prediction: str,
    references: Iterable[str],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Explanation:
    """Explain a score, with the distance, length, similarity and edits for every reference.

    The score is computed in plain steps that follow the definition, and `anls_score` returns exactly the same number.

    Args:
        prediction: the answer.
        references: the references, one or more; a bare string is one reference.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`.

    Returns:
        An `Explanation`.

    Raises:
        ValueError: a value is not a string, there are no references, the variant is unknown, or the threshold is
            outside [0, 1].

    Example:
        >>> why = explain("CocaCola", ["Coca Cola Company", "Coca Cola"])
        >>> print(why)
        1 edit on 9 characters from 'Coca Cola': similarity 0.8889, at least the threshold of 0.5
        >>> why.best.edits[1]
        Edit(operation='insert', prediction='', reference=' ')

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """
    return get_variant(variant, threshold, ignore_case).explain(prediction, references)
