"""Metrics for Keras 3 on any backend: ANLS, and a version of `keras_hub`'s edit distance without TensorFlow.

Strings are not numbers, so these metrics cannot run inside a compiled training step. If Keras compiles the step, a
metric raises an error that says so. In that case, use the callback `ValidationMetrics`, which scores after each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from anls_metric.core.checks import count_noun, describe, requires
from anls_metric.core.strings.rows import as_column
from anls_metric.core.strings.variants import Variant, get_variant

with requires("keras"):
    import keras
    import numpy as np

__all__ = ["ANLS", "EditDistance", "ValidationMetrics"]


class _Ratio(keras.metrics.Metric):  # type: ignore[misc]
    """The base class of the metrics: a quotient of two exact sums."""

    def __init__(self, dtype: Any, name: str | None) -> None:
        super().__init__(dtype=dtype, name=name)
        if "float" not in self.dtype:
            raise ValueError(f'dtype must be a floating-point type such as "float32", got {describe(dtype)}')
        # Each sum is a float32 and its rounding error: a float32 alone drifts in long epochs, and neither JAX (by
        # default) nor Apple's GPUs have float64. One variable holds both sums, so that a batch is added as a whole.
        self._sums = self.add_weight(shape=(2, 2), initializer="zeros", dtype="float32", name="sums")

    def _add(self, sample_weight: Any, *columns: Sequence[float]) -> None:
        """Add the numerators and the denominators of a batch."""
        weights = 1.0 if sample_weight is None else _to_lists(sample_weight, "sample_weight")
        weights = np.broadcast_to(np.asarray(weights, dtype="float64"), len(columns[0]))
        products = [weights * column for column in columns]
        sums = np.array([math.fsum([before, *added]) for before, added in zip(self._read_sums(), products)])
        rounded = sums.astype("float32")
        self._sums.assign(np.stack([rounded, sums - rounded], axis=1))

    def _read_sums(self) -> Any:
        """Read the numerator and the denominator, summed over all batches."""
        return keras.ops.convert_to_numpy(self._sums.value).sum(axis=1, dtype="float64")

    def result(self) -> Any:
        """Compute the value over all batches since `reset_state` as a scalar tensor, which is 0 without batches."""
        numerator, denominator = self._read_sums()
        return keras.ops.convert_to_tensor(numerator / (denominator or 1), dtype=self.dtype)


@keras.saving.register_keras_serializable(package="anls")
class EditDistance(_Ratio):
    """The edit distance of tokenized strings: the word error rate if the tokens are words, the character error rate if
    they are characters.

    ``update_state`` takes ``y_true`` and ``y_pred``: the tokens of one string (rank 1) or of a batch (rank 2, strings
    of any length), as lists, numpy arrays, tensors of any backend or ragged TensorFlow tensors. Tokens are whole
    numbers or strings. ``sample_weight`` is one number per string or one for all.

    The numbers are the same as those of `keras_hub`'s metric, with two exceptions: `keras_hub` ignores weights, and it
    leaves token 0 and the empty string out of the distance but not out of the length. Here, every token counts, so
    remove padding first.

    In ``model.compile``, the metric works with PyTorch and, if ``run_eagerly=True``, with TensorFlow, but not with JAX.

    Args:
        normalize: if True, the value is the number of edits (insertions, deletions, substitutions) in all strings
            divided by the number of tokens in all of ``y_true``, or just the number of edits if there are no such
            tokens, as in jiwer. If False, the value is the mean number of edits per string.
        dtype: the dtype of the value; the sums stay exact.
        name: the name of the metric.

    Raises:
        ValueError: the dtype cannot hold fractions. In a call: a batch cannot be scored (the message says what is
            wrong), or the step is compiled, so tensors have no values. No part of that batch is added.

    Example:
        >>> from anls_metric.keras import EditDistance
        >>> metric = EditDistance()
        >>> y_true = ["the tiny little cat was found under the big funny bed".split()]
        >>> y_pred = ["the cat was found under the bed".split()]
        >>> print(f"{float(metric(y_true, y_pred)):.4f}")
        0.3636
        >>> y_true, y_pred = "it is sunny today".split(), "it is sunny but with a hint of cloud cover".split()
        >>> print(f"{float(metric(y_true, y_pred)):.4f}")  # both strings
        0.7333
        >>> float(EditDistance(normalize=False)(list("CocaCola"), list("Coca Cola")))
        1.0

    Source: https://keras.io/keras_hub/api/metrics/edit_distance/.
    """

    def __init__(self, normalize: bool = True, dtype: Any = "float32", name: str | None = "edit_distance") -> None:
        super().__init__(dtype, name)
        self.normalize = normalize

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of strings or a single string.

        Args:
            y_true: the reference tokens.
            y_pred: the predicted tokens.
            sample_weight: the weight of each string, or one weight for all; None means 1.

        Raises:
            ValueError: the strings cannot be compared. No part of the batch is added.
        """
        truth, predicted = _read_texts(y_true, "y_true"), _read_texts(y_pred, "y_pred")
        if len(truth) != len(predicted):
            raise ValueError(
                f"y_true has {count_noun(len(truth), 'string')} and y_pred has {len(predicted):,}: pass tokens for the "
                "same number of strings in both (a flat list is one string)"
            )
        kinds = {type(token).__name__ for tokens in (*truth, *predicted) for token in tokens}
        if kinds not in ({"int"}, {"str"}, set()):
            raise ValueError(
                f"the tokens are {' and '.join(sorted(kinds))}: pass token ids (whole numbers) or strings, with "
                "the same kind on both sides (for scores over a vocabulary, first take keras.ops.argmax(scores, -1))"
            )
        edits = list(map(Levenshtein.distance, truth, predicted))
        self._add(sample_weight, edits, [len(tokens) if self.normalize else 1 for tokens in truth])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments for `from_config`."""
        return {**super().get_config(), "normalize": self.normalize}


@keras.saving.register_keras_serializable(package="anls")
class ANLS(_Ratio):
    """ANLS, the average normalized Levenshtein similarity of answers to their references.

    ``update_state`` takes ``y_true``, which contains one string or a list of references for each row, and ``y_pred``, a
    list of strings. Both may be lists, numpy arrays, or TensorFlow string tensors (including ragged ones), which are
    decoded as UTF-8. ``sample_weight`` is one number per row or one for all.

    A metric in ``model.compile`` receives token ids rather than strings, so use `ValidationMetrics` there.

    Args:
        variant, threshold, ignore_case: which ANLS to compute, as in `get_variant`.
        dtype: the dtype of the value; the sum of the scores stays exact.
        name: the name of the metric.

    Raises:
        ValueError: the variant is unknown, the threshold is outside [0, 1], or the dtype cannot hold fractions. In a
            call: a row cannot be scored (the message gives its number). No part of that batch is added.

    Example:
        >>> from anls_metric.keras import ANLS
        >>> metric = ANLS()
        >>> y_true = [["Coca Cola", "Coca Cola Company"], ["Coca Cola"]]
        >>> print(f"{float(metric(y_true, ['CocaCola', 'The Coca'])):.4f}")
        0.4444
        >>> metric.update_state(["12/15/88"], ["12/15/89"])
        >>> print(f"{float(metric.result()):.4f}")
        0.5880
        >>> metric.signature()
        'anls|standard|threshold:0.5|v2'

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """

    def __init__(
        self,
        variant: str | Variant = "standard",
        threshold: float | None = None,
        ignore_case: bool | None = None,
        dtype: Any = "float32",
        name: str | None = "anls",
    ) -> None:
        self.variant = get_variant(variant, threshold, ignore_case)
        super().__init__(dtype, name)

    def signature(self) -> str:
        """Return the signature of the score. Report it with the score."""
        return self.variant.signature()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Args:
            y_true: for each row, a list of references or one string.
            y_pred: the answers to score.
            sample_weight: the weight of each row, or one weight for all; None means 1.

        Raises:
            ValueError: a row cannot be scored (the message gives its number). No part of the batch is added.
        """
        scores = self.variant.score(_to_lists(y_pred, "y_pred"), _to_lists(y_true, "y_true"))
        self._add(sample_weight, scores, [1] * len(scores))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments for `from_config`. Raises ValueError if the variant differs from the row of `VARIANTS`
        with the same name.
        """
        variant = self.variant
        options: dict[str, Any] = {
            "variant": variant.name,
            "threshold": variant.threshold,
            "ignore_case": variant.ignore_case,
        }
        if get_variant(**options) != variant:
            raise ValueError(f"the variant {variant.name} differs from the one in the table, so it cannot be saved")
        return {**super().get_config(), **options}


class ValidationMetrics(keras.callbacks.Callback):  # type: ignore[misc]
    """A callback that makes predictions with the model after each epoch and logs the metrics as ``val_...``.

    Pass it to ``fit`` before callbacks that use its values, and tell those callbacks that higher is better:
    ``ModelCheckpoint(path, monitor="val_anls", mode="max", save_best_only=True)``.

    Args:
        predict: a function that takes the model and returns its predictions for all rows of ``y_true``, for example
            with ``model.generate`` and a tokenizer that decodes.
        y_true: the references with which the metrics compare the predictions.
        metrics: one metric, or a list of metrics, that compares the predictions with the references; None means
            ``[ANLS()]``. Each value is logged as ``val_`` plus the name of its metric.

    Raises:
        ValueError: two metrics have the same name, or one is not a Keras metric. At the end of an epoch: a metric
            cannot score the predictions.

    Example:
        >>> import keras
        >>> from anls_metric.keras import ANLS, ValidationMetrics
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile("sgd", "mse")
        >>> x = keras.ops.ones((2, 1))
        >>> def predict(model):
        ...     return ["Coca Cola" if score > 0 else "Pepsi" for score in model.predict(x, verbose=0)[:, 0]]
        >>> metrics = [ANLS(), ANLS("due", name="due")]
        >>> callback = ValidationMetrics(predict, [["coca cola"], ["Coca-Cola", "Coke"]], metrics)
        >>> history = model.fit(x, x, verbose=0, callbacks=[callback])
        >>> print({name: round(values[0], 4) for name, values in history.history.items() if "val" in name})
        {'val_anls': 0.9444, 'val_due': 0.8333}

    Source: https://keras.io/guides/writing_your_own_callbacks/.
    """

    def __init__(
        self,
        predict: Callable[[Any], Any],
        y_true: Any,
        metrics: keras.metrics.Metric | Sequence[keras.metrics.Metric] | None = None,
    ) -> None:
        super().__init__()
        self.metrics: list[Any] = keras.tree.flatten(ANLS() if metrics is None else metrics)
        others = [metric for metric in self.metrics if not isinstance(metric, keras.metrics.Metric)]
        if others:
            raise ValueError(f"metrics contains {describe(others[0])}: pass Keras metrics, such as ANLS()")
        names = [metric.name for metric in self.metrics]
        if len(set(names)) < len(names):
            raise ValueError(
                f'metrics must have different names, got {", ".join(names)}: name them, as in ANLS(name="...")'
            )
        self.predict = predict
        self.y_true = y_true

    def on_epoch_end(self, epoch: int, logs: dict[str, Any]) -> None:
        """Make predictions, score them, and log the scores.

        Args:
            epoch: the number of the epoch that has ended.
            logs: the logs of the epoch, to which the values are added.

        Raises:
            ValueError: a metric cannot score the predictions.
        """
        y_pred = self.predict(self.model)
        for metric in self.metrics:
            metric.reset_state()
            metric.update_state(self.y_true, y_pred)
            logs[f"val_{metric.name}"] = float(metric.result())


# Reading lists, arrays and tensors


def _to_lists(value: Any, what: str) -> Any:
    """Convert arrays and tensors of any library, including those in lists, to lists. Bytes are decoded, and other
    objects are kept.
    """
    if isinstance(value, (list, tuple)):
        return [_to_lists(item, what) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if not hasattr(value, "dtype"):
        return value
    # Methods are found by name, because TensorFlow's datasets can yield a batch under any backend. Arrays and most
    # tensors have `tolist`, TensorFlow's ragged tensors `to_list`, and its other tensors `numpy`.
    method = next((name for name in ("tolist", "to_list") if hasattr(value, name)), "numpy")
    try:
        items = getattr(value, method)()
    except Exception as error:  # each library raises its own errors
        raise ValueError(
            f"{what} is a symbolic tensor ({type(value).__name__}), as in a compiled Keras step, where strings cannot "
            "be compared: use the callback anls_metric.keras.ValidationMetrics, or, with TensorFlow, "
            "model.compile(..., run_eagerly=True)"
        ) from error
    return _to_lists(items, what)


def _read_texts(value: Any, what: str) -> list[list[Any]]:
    """Read the tokens of each string. A flat list is one string."""
    advice = "pass a list or tensor of tokens, such as list(string) or string.split(), or a list of these"
    items = as_column(_to_lists(value, what), what, advice)
    return items if items and all(isinstance(item, list) for item in items) else [items]
