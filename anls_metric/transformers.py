"""ANLS as ``compute_metrics`` for the trainers of transformers and TRL.

This module does not import transformers: the hook takes arrays of ids or logits, and a tokenizer to decode them.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import compress
from typing import Any

from anls_metric.core.rows import as_column, as_references, as_text, describe, name_row, refuse_no_rows
from anls_metric.core.variants import Variant, get_variant

__all__ = ["ComputeMetrics", "build_compute_metrics"]

Extract = Callable[[str], str | None]

# Ids that stand for no token: at positions without a label, and where the logits are NaN.
_NOTHING, _NOT_A_NUMBER = -100, -1000


def import_from_package(module: str, feature: str) -> Any:
    """Import a module of the package. ImportError: only the file anls.py is here."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError(f"{feature}: this needs the package anls-metric: pip install anls-metric") from error


def as_extract(extract: Any, values: bool = False) -> Extract | None:
    """Return the function that extracts the answer from a text, given a function or the names of extraction rules.

    ValueError: it is neither, or there is no such rule. ImportError: rules need the package, and only anls.py is here.
    """
    if isinstance(extract, str):
        rules = import_from_package("anls_metric.reading.extract", "an extraction rule")
        function: Extract = rules.extractor(extract, values=values)
        return function
    if extract is None or callable(extract):
        return extract  # type: ignore[no-any-return]
    raise ValueError(
        f"extract is {describe(extract)}: pass names of rules, or a function that takes a text and returns the answer"
    )


def extract_answer(text: str, extract: Extract | None, what: str) -> str | None:
    """Extract the answer from a text: None if ``extract`` finds none, the whole text without ``extract``."""
    if extract is None:
        return text
    answer = extract(text)
    return None if answer is None else as_text(answer, f"what extract made of {what}")


def build_compute_metrics(
    tokenizer: Any,
    references: Any = None,
    *,
    causal: bool = False,
    extract: Extract | str | None = None,
    skip_special_tokens: bool = True,
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> ComputeMetrics:
    """Build ``compute_metrics`` for transformers' ``Trainer`` and ``Seq2SeqTrainer``, and for TRL's ``SFTTrainer``.

    The hook decodes the predictions of the model and scores them. Predictions are generated ids
    (``predict_with_generate=True``) or logits. Logits are teacher-forced: the model predicts each token from the
    correct tokens before it, so the score is higher than that of generated answers. For logits, also pass the hook's
    ``preprocess_logits_for_metrics`` to the trainer; otherwise the trainer keeps all logits in memory.

    The hook works with ``batch_eval_metrics=True``, with ``eval_do_concat_batches=False``, and in distributed runs.
    There ``Seq2SeqTrainer`` fills the last batch with the first rows; with ``references``, the hook drops these rows.

    Call ``reset()`` after an evaluation with ``batch_eval_metrics=True`` was interrupted between two batches. A trainer
    does not say when an evaluation begins, so the hook still holds the rows of the interrupted evaluation. With
    ``references``, the next evaluation then usually fails because it has too many rows; without them, the old rows
    count as well.

    Args:
        tokenizer: the tokenizer of the model, or its processor.
        references: the accepted answers of each row, in the order of the evaluation set: N lists of strings, or N
            strings. For several evaluation sets, a dict of these by name: the hook chooses the set by the number of
            rows. None takes the decoded label of a row as its only accepted answer, and skips rows without labels, with
            a warning.
        causal: whether the logits are those of a decoder-only model, which stand one position before their labels.
        extract: a function, or the names of rules, to extract the answer from a decoded prediction or label. If it
            returns None, the prediction scores as "", and the label stays as it is.
        skip_special_tokens: whether the tokenizer leaves special tokens out of the texts. Pass False if ``extract``
            needs them.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        A function of an ``EvalPrediction`` that returns ``{"anls": score}``, for ``metric_for_best_model="anls"``.

    Raises:
        ValueError: the tokenizer cannot decode, a reference is not a text, two sets have the same number of rows, or
            the variant is unknown. In a call: no set of references has this number of rows; an id is not in the
            tokenizer; logits are NaN; labels cover the question, too, or several answers in one row; there are no rows.

    Example:
        >>> class Tokenizer:
        ...     def batch_decode(self, rows, skip_special_tokens):
        ...         return [" ".join("- Coca Cola Pepsi".split()[token] for token in row if token) for row in rows]
        >>> hook = build_compute_metrics(Tokenizer(), references=[["Coca Cola", "Cola"], ["Pepsi"]])
        >>> import numpy
        >>> hook((numpy.array([[2, -100], [1, 3]]), numpy.array([[1, 2], [3, -100]])))
        {'anls': 0.75}

    Source: https://huggingface.co/docs/transformers/main_classes/trainer.
    """
    variant = get_variant(variant, threshold, ignore_case)
    return ComputeMetrics(tokenizer, references, causal, as_extract(extract), skip_special_tokens, variant)


class ComputeMetrics:
    """The hook that `build_compute_metrics` returns. It takes a whole evaluation, or one batch at a time.

    It can be pickled and copied if the tokenizer and ``extract`` can.
    """

    __name__ = "anls"

    def __init__(
        self,
        tokenizer: Any,
        references: Any,
        causal: bool,
        extract: Extract | None,
        skip_special_tokens: bool,
        variant: Variant,
    ) -> None:
        self._tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        if not hasattr(self._tokenizer, "batch_decode"):
            raise ValueError(
                f"tokenizer is {describe(tokenizer)}, which cannot decode: pass the tokenizer or processor of the model"
            )
        self._causal, self._extract, self._variant = causal, extract, variant
        self._skip_special_tokens = skip_special_tokens
        self._sets: dict[Any, list[Sequence[str]]] | None = None
        if references is not None:
            sets = references if isinstance(references, Mapping) else {None: references}
            self._sets = {name: _check_references(accepted, name) for name, accepted in sets.items()}
            rows, count = Counter(map(len, self._sets.values())).most_common(1)[0] if sets else (0, 1)
            if count > 1:
                raise ValueError(
                    f"{count} sets of references have {rows:,} rows each: set `trainer.compute_metrics` before each "
                    "`trainer.evaluate(...)`"
                )
        self.reset()

    def reset(self) -> None:
        """Forget the rows of an evaluation that was interrupted between two of its batches."""
        self._predictions: list[str] = []
        self._labels: list[list[int]] = []

    def preprocess_logits_for_metrics(self, logits: Any, labels: Any = None) -> Any:
        """Reduce logits to predicted ids: pass it as ``Trainer(preprocess_logits_for_metrics=...)``.

        The hook gives the same score for logits and for these ids, but ids take far less memory.

        Args:
            logits: an array or tensor of shape (rows, positions, vocabulary), or a tuple that begins with one.
                Generated ids, of shape (rows, positions), are returned unchanged.
            labels: an array or tensor of shape (rows, positions), negative at positions without a label; or None.

        Returns:
            The ids with the highest logits, of shape (rows, positions), at the positions of their labels. Ids are
            negative at positions without a label, and where logits are NaN, which the hook then refuses.

        Raises:
            ValueError: the shapes of logits and labels do not fit.

        Example:
            >>> class Tokenizer:
            ...     def batch_decode(self, rows, skip_special_tokens): ...
            >>> hook = build_compute_metrics(Tokenizer(), causal=True)
            >>> import numpy
            >>> hook.preprocess_logits_for_metrics(numpy.eye(3)[None], numpy.array([[-100, 7, 8]])).tolist()
            [[-100, 0, 1]]

        Source: https://huggingface.co/docs/transformers/main_classes/trainer.
        """
        logits = _take_first(logits)
        if getattr(logits, "ndim", None) != 3:
            return logits
        highest, ids = _find_highest(logits)
        ids[highest != highest] = _NOT_A_NUMBER  # only NaN differs from itself
        if self._causal:
            ids[..., 1:] = ids[..., :-1] + 0  # + 0 makes a copy of an array and of a tensor
            ids[..., 0] = _NOTHING
        if labels is not None:
            labels = _take_first(labels)
            if ids.shape != labels.shape:
                raise ValueError(
                    f"the logits have {_join_shape(ids)} positions and the labels have {_join_shape(labels)}: pass "
                    "the logits of the positions of the labels"
                )
            ids[labels < 0] = _NOTHING
        return ids

    def __call__(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Take a whole evaluation, or a batch of it. Returns the score of all rows with the last batch, else {}."""
        if not isinstance(compute_result, bool):
            raise ValueError("pass one pair of predictions and labels: hook((predictions, labels))")
        more = False
        try:
            self._add(*_unpack_evaluation(eval_prediction))
            more = not compute_result
            return {} if more else {"anls": self._score()}
        finally:
            if not more:
                self.reset()

    def _add(self, predictions: Any, labels: Any) -> None:
        batches = predictions if isinstance(predictions, list) else [predictions]
        batches_of_labels = (
            labels if isinstance(labels, list) else [labels] * (1 if labels is not None else len(batches))
        )
        if len(batches) != len(batches_of_labels):
            raise ValueError(
                f"the lengths differ (predictions has {len(batches):,} batches, labels has "
                f"{len(batches_of_labels):,}): pass the labels of each batch"
            )
        for batch, places in zip(batches, batches_of_labels):
            ids = _list_ids(self.preprocess_logits_for_metrics(batch, places), "predictions")
            labelled = _list_ids(_take_first(places), "labels") if places is not None else [[]] * len(ids)
            if len(ids) != len(labelled):
                raise ValueError(
                    f"the lengths differ in a batch (predictions has {len(ids):,}, labels has {len(labelled):,}): "
                    "pass the labels of each prediction"
                )
            labelled = list(map(self._strip_padding, labelled, ids))
            for row, (predicted, label) in enumerate(zip(ids, labelled), len(self._predictions)):
                self._refuse_unreadable(predicted, label, name_row(row))
            self._predictions += self._decode(list(map(_drop_negative, ids)), "prediction", len(self._predictions))
            if places is not None:
                self._labels += map(_drop_negative, labelled)

    def _strip_padding(self, label: list[int], predicted: list[int]) -> list[int]:
        """Remove the padding that `Seq2SeqTrainer` appends to a label when it generates.

        The amount of padding depends on the batch, so the same row in another batch would look different.
        """
        if not predicted or predicted[0] < 0:
            return label  # these ids come from logits, not from generation
        pad = getattr(self._tokenizer, "pad_token_id", None)
        if pad is None:
            pad = getattr(self._tokenizer, "eos_token_id", None)
        end = len(label)
        while end and label[end - 1] == pad:
            end -= 1
        return label[:end]

    def _refuse_unreadable(self, predicted: list[int], label: list[int], row: str) -> None:
        """Refuse input that would silently give a wrong score."""
        if _NOT_A_NUMBER in predicted:
            raise ValueError(f"the logits of {row} are NaN: check the loss, and evaluate in float32 or bfloat16")
        # Ids from the logits of a decoder-only model have no token at the first position; generated ids have one.
        if predicted and label and predicted[0] < 0 <= label[0]:
            raise ValueError(
                f"the labels of {row} include the prompt: mask it with -100 (SFTTrainer does for columns `prompt` and "
                "`completion`, and with assistant_only_loss=True for conversations), or drop causal=True if the model "
                "has an encoder"
            )
        for ids, what in (predicted, "prediction"), (label if self._sets is None else [], "label"):
            if _is_in_pieces(ids):
                raise ValueError(
                    f"the {what} of {row} is not contiguous, as in packed rows or conversations of several turns: "
                    "evaluate one answer per row (in SFTTrainer, set eval_packing=False; if it packs for training, "
                    "also set per_device_eval_batch_size=1)"
                )

    def _decode(self, rows: list[list[int]], what: str, before: int = 0) -> list[str]:
        """Decode ids and extract the answers. A label without an answer stays whole; such a prediction becomes ""."""
        known = len(self._tokenizer) if hasattr(self._tokenizer, "__len__") else math.inf
        for row, ids in enumerate(rows, before):
            if max(ids, default=0) >= known:
                raise ValueError(
                    f"the {what} of {name_row(row)} holds the id {max(ids)}, but the tokenizer has {known} tokens: "
                    "pass the tokenizer of the model"
                )
        texts = self._tokenizer.batch_decode(rows, skip_special_tokens=self._skip_special_tokens) if rows else []
        answers = []
        for row, text in enumerate(texts, before):
            text = as_text(text, f"the decoded {what} of {name_row(row)}")
            answer = extract_answer(text, self._extract, f"the {what} of {name_row(row)}")
            answers.append(answer if answer is not None else "" if what == "prediction" else text)
        return answers

    def _score(self) -> float:
        refuse_no_rows(self._predictions)
        columns = self._select_labelled() if self._sets is None else self._select_referenced(self._sets)
        return self._variant.mean(self._variant.score(*columns))

    def _select_labelled(self) -> tuple[list[str], list[str]]:
        """Select the predictions of rows with labels, and these labels as the only accepted answers."""
        rows = len(self._predictions)
        if len(self._labels) != rows:
            raise ValueError(
                f"there are {rows:,} predictions and {len(self._labels):,} labels: pass references, or an evaluation "
                "set with labels"
            )
        empty = [row for row, ids in enumerate(self._labels) if not ids]
        if empty:
            problem = (
                f"{len(empty):,} of {rows:,} rows have no labels (all are negative), the first is {name_row(empty[0])}"
            )
            advice = "pass references, or see whether answers are cut off at a maximal length"
            if len(empty) == rows:
                raise ValueError(f"{problem}: {advice}")
            warnings.warn(f"{problem}, and are left out of the score: {advice}", stacklevel=2)
        labels = self._decode(self._labels, "label")
        return list(compress(self._predictions, self._labels)), list(compress(labels, self._labels))

    def _select_referenced(self, sets: Mapping[Any, list[Sequence[str]]]) -> tuple[list[str], list[Sequence[str]]]:
        """Choose the set with this number of rows, or the set that was padded to it."""
        rows = len(self._predictions)
        fitting = [accepted for accepted in sets.values() if len(accepted) == rows]
        fitting += [accepted for accepted in sets.values() if self._is_padded_from(len(accepted))]
        if not fitting:
            numbers = ", ".join(f"{len(accepted):,}" for accepted in sets.values())
            raise ValueError(
                f"there are {rows:,} predictions but references for {numbers} rows: pass the accepted answers of each "
                "row of the evaluation set. If an evaluation was interrupted, call reset() and evaluate again"
            )
        return self._predictions[: len(fitting[0])], fitting[0]

    def _is_padded_from(self, rows: int) -> bool:
        """Whether the rows after so many rows repeat the first ones, as in the last batch of a distributed run.

        Rows are compared by their labels, which must not all be the same.
        """
        labels = self._labels
        return (
            0 < rows < len(labels) == len(self._predictions)
            and any(labels[rows:])
            and min(labels) != max(labels)
            and all(label == labels[place % rows] for place, label in enumerate(labels))
        )


def _check_references(references: Any, name: object) -> list[Sequence[str]]:
    what = "references" if name is None else f"references[{name!r}]"
    accepted = as_column(references, what, "pass a list with the accepted answers of each row of the evaluation set")
    return [as_references(answers, f"the {what} of {name_row(row)}") for row, answers in enumerate(accepted)]


def _unpack_evaluation(eval_prediction: Any) -> tuple[Any, Any]:
    if hasattr(eval_prediction, "predictions"):
        return eval_prediction.predictions, eval_prediction.label_ids
    try:
        predictions, labels = eval_prediction
    except (TypeError, ValueError):
        raise ValueError(
            f"the evaluation is {describe(eval_prediction)}: "
            "pass an EvalPrediction, or a pair of predictions and labels"
        ) from None
    return predictions, labels


def _take_first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs


def _join_shape(array: Any) -> str:
    return " x ".join(map(str, array.shape))


def _find_highest(logits: Any) -> tuple[Any, Any]:
    """Find the highest logit at each position, NaN if any is NaN, and its id, in an array or a tensor."""
    highest = logits.max(-1)
    return (highest.values, highest.indices) if hasattr(highest, "indices") else (highest, logits.argmax(-1))


def _list_ids(array: Any, what: str) -> list[list[int]]:
    """Convert an array of ids to lists. Negative ids stand for no token."""
    rows: list[list[int]] | None = array.tolist() if getattr(array, "ndim", None) == 2 else None
    if rows is None or not all(isinstance(item, int) for row in rows for item in row[:1]):
        kind = f"an array of {_join_shape(array)} {array.dtype}" if hasattr(array, "dtype") else describe(array)
        raise ValueError(
            f"the {what} are {kind}: pass ids (rows x positions, whole numbers)"
            + (" or logits (rows x positions x vocabulary)" if what == "predictions" else "")
        )
    return rows


def _drop_negative(row: list[int]) -> list[int]:
    return [item for item in row if item >= 0]


def _is_in_pieces(row: list[int]) -> bool:
    """Whether negative ids stand between tokens, and not just before and after them."""
    tokens = _drop_negative(row)
    start = row.index(tokens[0]) if tokens else 0
    return row[start : start + len(tokens)] != tokens
