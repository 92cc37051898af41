"""ANLS as ``compute_metrics`` for the trainers of transformers and TRL.

This module does not import transformers: the function takes arrays of ids or logits, and a tokenizer to decode them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

from anls_metric.core.rows import as_column, as_text, check_rows, describe, name_row
from anls_metric.core.variants import Variant, get_variant

__all__ = ["ComputeMetrics", "build_compute_metrics"]

Extract = Callable[[str], str | None]
Ids = list[list[int]]  # the ids of each row
References = dict[int, list[Sequence[str]]]  # the number of rows of a set -> their references

# Ids that stand for no token: at positions without a label, and where the logits are NaN.
_NOTHING, _NOT_A_NUMBER = -100, -1000

_SET_EACH = "set `trainer.compute_metrics` before each `trainer.evaluate(...)`"


def import_from_package(module: str, feature: str) -> Any:
    """Import a module of the package. ImportError: only the file anls.py is here."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError(f"{feature}: this needs the package anls-metric: pip install anls-metric") from error


def as_extract(extract: Any, values: bool = False) -> Extract:
    """Return the function that extracts the answer from a text: a function, the names of rules, or None for all of it.

    ValueError: it is none of these, or there is no such rule. ImportError: rules need the package.
    """
    if extract is None:
        return str
    if isinstance(extract, str):
        rules = import_from_package("anls_metric.reading.extract", "an extraction rule")
        return rules.extractor(extract, values=values)  # type: ignore[no-any-return]
    if callable(extract):
        return extract  # type: ignore[no-any-return]
    raise ValueError(
        f"extract is {describe(extract)}: pass names of rules, or a function that takes a text and returns the answer"
    )


def extract_answer(text: str, extract: Extract, what: str, default: str = "") -> str:
    """Extract the answer from a text; the default if ``extract`` returns None."""
    answer = extract(text)
    return default if answer is None else as_text(answer, f"what extract made of {what}")


def build_compute_metrics(
    tokenizer: Any,
    references: Any = None,
    extract: Extract | str | None = None,
    *,
    causal: bool = False,
    skip_special_tokens: bool = True,
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> ComputeMetrics:
    """Build ``compute_metrics`` for transformers' ``Trainer`` and ``Seq2SeqTrainer``, and for TRL's ``SFTTrainer``.

    The function decodes the predictions of the model and scores them. Predictions are generated ids
    (``predict_with_generate=True``) or logits. Logits are teacher-forced: the model predicts each token from the
    correct tokens before it, so the score is higher than that of generated answers. For logits, also pass its
    ``preprocess_logits_for_metrics`` to the trainer; otherwise the trainer keeps all logits in memory.

    The function works with ``batch_eval_metrics=True``, with ``eval_do_concat_batches=False``, and in distributed runs.
    There ``Seq2SeqTrainer`` fills the last batch with the first rows; with ``references``, it drops these rows.

    Call ``reset()`` after an evaluation with ``batch_eval_metrics=True`` was interrupted between two batches. A trainer
    does not say when an evaluation begins, so the function still holds the rows of the interrupted evaluation. With
    ``references``, the next evaluation then usually fails because it has too many rows; without them, the old rows
    count as well.

    Args:
        tokenizer: the tokenizer of the model, or its processor.
        references: the accepted answers of each row, in the order of the evaluation set: N lists of strings, or N
            strings. For several evaluation sets, a dict of these by name: the function chooses the set by the number of
            rows. None takes the decoded label of a row as its only accepted answer, and skips rows without labels, with
            a warning.
        extract: a function, or the names of rules, to extract the answer from a decoded prediction or label. If it
            returns None, the prediction scores as "", and the label stays as it is.
        causal: whether the logits are those of a decoder-only model, which stand one position before their labels.
        skip_special_tokens: whether the tokenizer leaves special tokens out of the strings. Pass False if ``extract``
            needs them.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        A function of an ``EvalPrediction`` that returns ``{"anls": score}``, for ``metric_for_best_model="anls"``.

    Raises:
        ValueError: a reference is not a string, two sets have the same number of rows, or the variant is unknown. In a
            call: no set of references has this number of rows; logits are NaN; labels cover the question, too, or
            several answers in one row; there are no rows.

    Example:
        >>> class Tokenizer:
        ...     def batch_decode(self, rows, skip_special_tokens):
        ...         return [" ".join("- Coca Cola Pepsi".split()[token] for token in row if token) for row in rows]
        >>> compute_metrics = build_compute_metrics(Tokenizer(), references=[["Coca Cola", "Cola"], ["Pepsi"]])
        >>> import numpy
        >>> compute_metrics((numpy.array([[2, -100], [1, 3]]), numpy.array([[1, 2], [3, -100]])))
        {'anls': 0.75}

    Source: https://huggingface.co/docs/transformers/main_classes/trainer.
    """
    return ComputeMetrics(
        getattr(tokenizer, "tokenizer", tokenizer),
        None if references is None else _read_sets(references),
        as_extract(extract),
        causal,
        skip_special_tokens,
        get_variant(variant, threshold, ignore_case),
    )


@dataclass(eq=False, repr=False)
class ComputeMetrics:
    """The `compute_metrics` function that `build_compute_metrics` returns. It scores a whole evaluation, or batches.

    It can be pickled and copied if the tokenizer and ``extract`` can.
    """

    __name__ = "anls"

    tokenizer: Any
    sets: References | None
    extract: Extract
    causal: bool
    skip_special_tokens: bool
    variant: Variant

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the rows of an evaluation that was interrupted between two of its batches."""
        self.predicted: Ids = []
        self.expected: Ids = []

    def preprocess_logits_for_metrics(self, logits: Any, labels: Any = None) -> Any:
        """Reduce logits to predicted ids: pass it as ``Trainer(preprocess_logits_for_metrics=...)``.

        The function gives the same score for logits and for these ids, but ids take far less memory.

        Args:
            logits: an array or tensor of shape (rows, positions, vocabulary), or a tuple that begins with one.
                Generated ids, of shape (rows, positions), are returned unchanged.
            labels: an array or tensor of shape (rows, positions), negative at positions without a label; or None.

        Returns:
            The ids with the highest logits, of shape (rows, positions), at the positions of their labels. Ids are
            negative at positions without a label, and where logits are NaN, which the function then refuses.

        Example:
            >>> class Tokenizer:
            ...     def batch_decode(self, rows, skip_special_tokens): ...
            >>> compute_metrics = build_compute_metrics(Tokenizer(), causal=True)
            >>> import numpy
            >>> compute_metrics.preprocess_logits_for_metrics(numpy.eye(3)[None], numpy.array([[-100, 7, 8]])).tolist()
            [[-100, 0, 1]]

        Source: https://huggingface.co/docs/transformers/main_classes/trainer.
        """
        logits = _take_first(logits)
        if logits.ndim != 3:
            return logits
        highest, ids = logits.max(-1), logits.argmax(-1)
        highest = getattr(highest, "values", highest)  # a tensor also returns the indices
        ids[highest != highest] = _NOT_A_NUMBER  # only NaN differs from itself
        if self.causal:
            ids[..., 1:] = ids[..., :-1] + 0  # + 0 makes a copy of an array and of a tensor
            ids[..., 0] = _NOTHING
        if labels is not None:
            ids[_take_first(labels) < 0] = _NOTHING
        return ids

    def __call__(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Take a whole evaluation, or a batch of it. Returns the score of all rows with the last batch, else {}."""
        predicted, expected = self.predicted, self.expected
        self.reset()  # no rows stay after an error
        batches, labels = tuple(eval_prediction)[:2]
        if not isinstance(batches, list):
            batches, labels = [batches], [labels]
        for batch in zip(batches, labels or [None] * len(batches), strict=True):
            self._add(predicted, expected, *batch)
        if not compute_result:
            self.predicted, self.expected = predicted, expected
            return {}
        if self.sets is None:
            _warn_of_unlabeled(expected)
            predicted = [ids for ids, label in zip(predicted, expected) if label]
            references: Sequence[Any] = self._decode([label for label in expected if label], "label")
        else:
            references = _choose_references(predicted, expected, self.sets)
        answers = self._decode(predicted[: len(references)], "prediction")
        return {"anls": self.variant.mean(self.variant.score(answers, references))}

    def _add(self, predicted: Ids, expected: Ids, predictions: Any, labels: Any) -> None:
        """Add the ids of a batch, given its arrays."""
        ids = self.preprocess_logits_for_metrics(predictions, labels).tolist()
        label_ids = [[]] * len(ids) if labels is None else _take_first(labels).tolist()
        pad = getattr(self.tokenizer, "pad_token_id", None)
        for row, label in zip(ids, label_ids, strict=True):
            _refuse_unreadable(row, label, name_row(len(predicted)))
            # With generated ids, `Seq2SeqTrainer` pads labels with this token, to a length that depends on the batch.
            padding = pad if row and row[0] >= 0 else None
            predicted.append([item for item in row if item >= 0])
            expected.append([item for item in label if item >= 0 and item != padding])

    def _decode(self, rows: Ids, what: str) -> list[str]:
        """Decode ids and extract the answers. A label without an answer stays whole; such a prediction becomes ""."""
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=self.skip_special_tokens)
        return [
            extract_answer(text, self.extract, f"the {what} of {name_row(row)}", text if what == "label" else "")
            for row, text in enumerate(texts)
        ]


def _warn_of_unlabeled(labels: Ids) -> None:
    """Warn of rows without labels. ValueError: no row has any."""
    missing = labels.count([])
    if missing:
        problem = (
            f"{missing:,} of {len(labels):,} rows have no labels, the first is {name_row(labels.index([]))}, and are "
            "left out of the score: pass references, or see whether answers are cut off at a maximal length"
        )
        if missing == len(labels):
            raise ValueError(problem)
        warnings.warn(problem, stacklevel=3)


def _choose_references(predicted: Ids, labels: Ids, sets: References) -> list[Sequence[str]]:
    """Choose the references with this number of rows, or those that a distributed run filled up to it."""
    # The rows that fill the last batch repeat the first ones. Labels that are all the same do not show it.
    count, labels_differ = len(labels), len(set(map(tuple, labels))) > 1
    filled = [size for size in sets if size < count and labels_differ and labels[size:] == labels[:-size]]
    fitting = [size for size in sets if size == count or size in filled]
    if len(fitting) > 1:
        fitting = [size for size in fitting if size not in filled or predicted[size:] == predicted[:-size]]
    if len(fitting) == 1:
        return sets[fitting[0]]
    numbers = ", ".join(f"{size:,}" for size in fitting or sets)
    advice = (
        "pass the accepted answers of each row of the evaluation set. If an evaluation was interrupted, call reset() "
        "and evaluate again"
    )
    if fitting:
        advice = f"some may repeat the first rows, so {_SET_EACH}"
    raise ValueError(f"there are {count:,} predictions but references for {numbers} rows: {advice}")


def _read_sets(references: Any) -> References:
    """Check the references of each evaluation set, and list them by their number of rows."""
    sets: References = {}
    for column in references.values() if isinstance(references, Mapping) else [references]:
        advice = "pass a list with the accepted answers of each row of the evaluation set"
        _, accepted = check_rows([], as_column(column, "references", advice))
        if len(accepted) in sets:
            raise ValueError(f"two sets of references have {len(accepted):,} rows each: {_SET_EACH}")
        sets[len(accepted)] = accepted
    return sets


def _refuse_unreadable(predicted: list[int], label: list[int], row: str) -> None:
    """Refuse input that would silently give a wrong score."""
    if _NOT_A_NUMBER in predicted:
        raise ValueError(f"the logits of {row} are NaN: check the loss, and evaluate in float32 or bfloat16")
    # Ids from the logits of a decoder-only model have no token at the first position; generated ids have one.
    if label and predicted[0] < 0 <= label[0]:
        raise ValueError(
            f"the labels of {row} include the prompt: mask it with -100 (SFTTrainer does for columns `prompt` and "
            "`completion`, and with assistant_only_loss=True for conversations), or drop causal=True if the model "
            "has an encoder"
        )
    if sum(left < 0 <= right for left, right in pairwise([_NOTHING, *predicted])) > 1:
        raise ValueError(
            f"the prediction of {row} is not contiguous, as in packed rows or conversations of several turns: "
            "evaluate one answer per row (in SFTTrainer, set eval_packing=False; if it packs for training, "
            "also set per_device_eval_batch_size=1)"
        )


def _take_first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs
