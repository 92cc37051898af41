"""ANLS as ``compute_metrics`` for the trainers of transformers and TRL.

This module does not import transformers, since the function needs only arrays of ids or logits, and a tokenizer that
decodes ids.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from anls_metric.core.checks import name_row
from anls_metric.core.decoding import Decoder, Extract, Ids, References, fold, list_texts

__all__ = ["ComputeMetrics", "build_compute_metrics"]

# Ids that stand for no token, at positions without a label and where the logits are NaN.
_NOTHING, _NOT_A_NUMBER = -100, -1000

_MANY = 8  # more tokens than fit the labels of the next position by chance

_SET_EACH = "set `trainer.compute_metrics` before each `trainer.evaluate(...)`"


_TEACHER_FORCED = (
    "the predictions are logits, for which the model saw the correct tokens before each position, so the score is "
    "higher than that of its own answers: set predict_with_generate=True in Seq2SeqTrainingArguments"
)


def build_compute_metrics(
    tokenizer: Any,
    references: Any = None,
    extract: Extract | str | None = None,
    *,
    causal: bool = False,
    skip_special_tokens: bool = True,
    threshold: float | None = None,
    variant: Any = "standard",
    ignore_case: bool | None = None,
    metrics: str | Sequence[str] = (),
) -> ComputeMetrics:
    """Build ``compute_metrics`` for transformers' ``Trainer`` and ``Seq2SeqTrainer``, and for TRL's ``SFTTrainer``.

    The function decodes the model's predictions and scores them. Predictions are generated ids
    (``predict_with_generate=True``) or logits. Logits are teacher-forced: the model predicts each token from the
    correct tokens before it, so the score is higher than for generated answers. For logits, also pass the function's
    ``preprocess_logits_for_metrics`` to the trainer; otherwise the trainer keeps all logits in memory.

    The function works with ``batch_eval_metrics=True``, with ``eval_do_concat_batches=False``, and in distributed runs.
    In a distributed run, ``Seq2SeqTrainer`` fills the last batch with the first rows, which the function drops if it
    was given ``references``.

    Call ``reset()`` after an evaluation with ``batch_eval_metrics=True`` was interrupted between two batches. Trainers
    do not announce the beginning of an evaluation, so the function still holds the rows of the interrupted evaluation.
    With ``references``, the next evaluation then usually fails because it has too many rows; without them, the old rows
    are scored as well.

    Args:
        tokenizer: the model's tokenizer or processor.
        references: the references of each row, in the order of the evaluation set: N lists of strings, or N strings.
            For several evaluation sets, pass a dict that maps the name of each set to its references, from which the
            function chooses by the number of rows and by the labels. If the labels show that the trainer reorders the
            rows, the function puts the references in the same order or warns that it cannot. None takes the decoded
            label of a row as its only reference and skips rows without labels, with a warning.
        extract: a function, or the names of rules, to extract the answer from a decoded prediction or label. If it
            returns None, the prediction scores as "", and the label stays as it is.
        causal: whether the logits come from a decoder-only model, so that they are one position before their labels.
        skip_special_tokens: whether the tokenizer leaves special tokens out of the strings. Pass False if ``extract``
            needs them.
        threshold, variant, ignore_case: which ANLS to compute, as in `get_variant`. For answers that are lists or
            nested values in JSON, the variant can also be "anls_star" or "anlsl", whose name then replaces "anls" in
            the result.
        metrics: further string metrics, by name, such as "exact_match,f1".

    Returns:
        A function that takes an ``EvalPrediction`` and returns ``{"anls": score}``, for
        ``metric_for_best_model="anls"``, and the score of each further metric under its name.

    Raises:
        ValueError: a reference cannot be scored, or the variant or a metric is unknown. In a call: no set of references
            has this number of rows, or two sets fit; most labels belong to other rows than their references; logits
            are NaN, or come from a decoder-only model without ``causal``; labels also cover the question, or several
            answers in one row; there are no rows.

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
    options = {"variant": variant, "threshold": threshold, "ignore_case": ignore_case}
    return ComputeMetrics(causal, tokenizer, references, extract, skip_special_tokens, metrics, **options)


@dataclass
class _Rows:
    """The token ids of the rows of an evaluation, and whether every row so far begins without a label, as it does after
    a masked prompt.
    """

    predicted: Ids
    expected: Ids
    begin_masked: bool


class ComputeMetrics(Decoder):
    """The function that `build_compute_metrics` returns, which scores an evaluation as a whole or in batches.

    It can be pickled and copied if the tokenizer and ``extract`` can.
    """

    __name__ = "anls"

    def __init__(self, causal: bool, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.causal = causal
        self.reset()

    def reset(self) -> None:
        """Discard the rows of an evaluation that was interrupted between two batches."""
        self.rows = _Rows([], [], True)

    def preprocess_logits_for_metrics(self, logits: Any, labels: Any = None) -> Any:
        """Reduce logits to predicted ids. Pass this method as ``Trainer(preprocess_logits_for_metrics=...)``.

        The function returns the same score for logits as for these ids, but ids take far less memory.

        Args:
            logits: an array or tensor of shape (rows, positions, vocabulary), or a tuple that begins with one.
                Generated ids, of shape (rows, positions), are returned unchanged.
            labels: an array or tensor of shape (rows, positions), negative at positions without a label; or None.

        Returns:
            The ids with the highest logits, of shape (rows, positions), at the positions of their labels. Ids are
            negative at positions without a label and where logits are NaN, which the function then rejects.

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
        if not self.causal:
            warnings.warn(_TEACHER_FORCED, stacklevel=2)
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
        """Score a whole evaluation, or add a batch to the current one. Returns the score of all rows after the last
        batch, and {} after every other batch.
        """
        rows = self.rows
        self.reset()  # no rows are left after an error
        batches, labels = tuple(eval_prediction)[:2]
        if not isinstance(batches, list):
            batches, labels = [batches], [labels]
        for batch in zip(batches, labels or [None] * len(batches), strict=True):
            self._add(rows, *batch)
        if not compute_result:
            self.rows = rows
            return {}
        predicted, expected = rows.predicted, rows.expected
        if rows.begin_masked and not self.causal:
            _refuse_shifted(predicted, expected)
        if self.sets is None:
            _warn_of_unlabeled(expected)
            predicted = [ids for ids, label in zip(predicted, expected) if label]
            labels = self.decode([label for label in expected if label], "label")
            references: Sequence[Any] = list(map(self.scorer.read_answer, labels))
        else:
            references = self._choose_references(predicted, expected, self.sets)
        _, _, means = self.score_ids(predicted[: len(references)], references)
        return means

    def _add(self, rows: _Rows, predictions: Any, labels: Any) -> None:
        """Add the ids of a batch, given its arrays."""
        ids = self.preprocess_logits_for_metrics(predictions, labels).tolist()
        label_ids = [[]] * len(ids) if labels is None else _take_first(labels).tolist()
        if len(ids) != len(label_ids):
            numbers = f"{len(ids):,} predictions for {len(label_ids):,} rows"
            raise ValueError(f"got {numbers}: generate one for each row (num_return_sequences=1)")
        pad = getattr(self.tokenizer, "pad_token_id", None)
        for row, label in zip(ids, label_ids):
            _refuse_unreadable(row, label, name_row(len(rows.predicted)))
            rows.begin_masked &= bool(label) and row[0] < 0 and label[0] < 0
            # With generated ids, `Seq2SeqTrainer` pads labels with this token, to a length that depends on the batch.
            padding = pad if row and row[0] >= 0 else None
            rows.predicted.append([item for item in row if item >= 0])
            rows.expected.append([item for item in label if item >= 0 and item != padding])

    def _choose_references(self, predicted: Ids, expected: Ids, sets: Sequence[References]) -> References:
        """Choose the references of an evaluation by the number of rows and the labels, and return them in the order of
        the labels.
        """
        size = _choose_size(predicted, expected, [len(each) for each in sets])
        labels = [text if ids else None for ids, text in zip(expected, self.decode(expected[:size], "label"))]
        folded = [label and fold(self.scorer.read_answer(label)) for label in labels]
        fitting = [(sum(map(list_texts(each).__contains__, folded)), each) for each in sets if len(each) == size]
        most = max(count for count, _ in fitting)
        best = [each for count, each in fitting if count == most]
        if len(best) > 1:
            raise ValueError(f"two sets of references have {size:,} rows each, and both fit the labels: {_SET_EACH}")
        (references,) = best
        missing = [row for row, text in enumerate(folded) if text and text not in list_texts([references[row]])]
        if missing:
            ordered = _order_by_labels(folded, references)
            if ordered is not None:
                return ordered
            problem = self.describe_other_labels(labels, missing, references)
            unlike = [row for row in missing if not _overlaps(folded[row] or "", references[row])]
            if problem and 2 * len(unlike) > len(missing):
                raise ValueError(
                    f"{problem}: pass the references of each set in a dict "
                    '(references={"validation": ..., "test": ...}), and turn off options that order the rows '
                    "(group_by_length, shuffle_dataset)"
                )
            if problem:
                warnings.warn(f"{problem}. Perhaps labels are cut off, or need extract=", stacklevel=3)
        return references


def _overlaps(label: str, references: Any) -> bool:
    """Whether a folded label contains a reference of its row, or is contained in one."""
    return any(text in label or label in text for text in list_texts([references]) if text)


def _order_by_labels(labels: Sequence[str | None], references: References) -> References | None:
    """Put references in the order of the labels, or return None if a label matches no references or several different
    ones.
    """
    places: dict[str, list[int]] = {}
    for place, accepted in enumerate(references):
        for text in list_texts([accepted]):
            places.setdefault(text, []).append(place)
    ordered = [places.get(label or "", []) for label in labels]
    free = {tuple(each): iter(each) for each in ordered}  # rows with the same references share their places
    if any(len({str(references[place]) for place in each}) != 1 for each in ordered):
        return None
    chosen = [next(free[tuple(each)], None) for each in ordered]
    return None if None in chosen else [references[place] for place in chosen]  # type: ignore[index]


def _refuse_shifted(predicted: Ids, expected: Ids) -> None:
    """Raise ValueError if logits fit the labels one position later far better than their own, as those of a
    decoder-only model do.
    """
    total = sum(map(len, expected))
    own = sum(ids == label for row in zip(predicted, expected) for ids, label in zip(*row))
    ahead = sum(ids == label for row, labels in zip(predicted, expected) for ids, label in zip(row, labels[1:]))
    if ahead > max(2 * own, total / 4) or ahead > 3 * own + _MANY:  # the second at the beginning of training
        raise ValueError(
            "the logits fit the labels shifted by one position: pass causal=True, because the model is decoder-only"
        )


def _warn_of_unlabeled(labels: Ids) -> None:
    """Warn about rows without labels. Raises ValueError if no row has a label."""
    missing = labels.count([])
    if missing:
        problem = (
            f"{missing:,} of {len(labels):,} rows have no labels, the first is {name_row(labels.index([]))}, and are "
            "left out of the score: pass references, or see whether answers are cut off at a maximal length"
        )
        if missing == len(labels):
            raise ValueError(problem)
        warnings.warn(problem, stacklevel=3)


def _choose_size(predicted: Ids, labels: Ids, sizes: Sequence[int]) -> int:
    """Return the number of rows in the evaluated set, which is smaller than the number in the evaluation if a
    distributed run padded the set.
    """
    # The rows that fill the last batch repeat the first ones, which labels do not show if they are all the same.
    count, labels_differ = len(labels), len(set(map(tuple, labels))) > 1
    sizes = list(dict.fromkeys(sizes))

    def repeats_first_rows(rows: Ids, size: int) -> bool:
        return size < count and rows[size:] == rows[:-size]

    fitting = [size for size in sizes if size == count or (labels_differ and repeats_first_rows(labels, size))]
    if len(fitting) > 1:
        fitting = [size for size in fitting if size == count or repeats_first_rows(predicted, size)]
    if len(fitting) == 1:
        return fitting[0]
    numbers = ", ".join(f"{size:,}" for size in fitting or sizes)
    advice = (
        'pass references for every row of each evaluated set (references={"validation": ..., "test": ...}), and set '
        "dataloader_drop_last=False. If an evaluation was interrupted, call reset() and evaluate again"
    )
    if fitting:
        advice = f"some may repeat the first rows, so {_SET_EACH}"
    raise ValueError(f"there are {count:,} predictions but references for {numbers} rows: {advice}")


def _refuse_unreadable(predicted: list[int], label: list[int], row: str) -> None:
    """Raise ValueError for input that would silently lead to a wrong score."""
    if _NOT_A_NUMBER in predicted:
        raise ValueError(f"the logits of {row} are NaN: check the loss, and evaluate in float32 or bfloat16")
    # Ids from the logits of a decoder-only model have no token at the first position; generated ids have one.
    if label and predicted[0] < 0 <= label[0]:
        raise ValueError(
            f"the labels of {row} include the prompt: mask it with -100 (SFTTrainer does so for the columns `prompt` "
            "and `completion`, and with assistant_only_loss=True for conversations), or drop causal=True if the model "
            "has an encoder"
        )
    if sum(left < 0 <= right for left, right in pairwise([_NOTHING, *predicted])) > 1:
        raise ValueError(
            f"the prediction for {row} is not contiguous, as happens with packed rows or multi-turn conversations: "
            "evaluate one answer per row (in SFTTrainer, set eval_packing=False; if it packs for training, "
            "also set per_device_eval_batch_size=1)"
        )


def _take_first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs
