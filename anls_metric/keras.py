"""Metrics for Keras 3 on any backend: ANLS, and the edit distance of `keras_hub` without TensorFlow.

Texts are not numbers, so these metrics cannot run inside a compiled training step. If Keras compiles the step, a metric
raises an error that says so. Use the callback `ValidationMetrics` then: it scores after each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import keras
import numpy as np
from rapidfuzz.distance import Levenshtein

from anls_metric.core.rows import as_text, describe, name_row
from anls_metric.core.variants import VARIANTS, Variant, get_variant

__all__ = ["ANLS", "EditDistance", "ValidationMetrics"]

_GREATEST_FLOAT32 = float(np.finfo("float32").max)
# rapidfuzz compares tokens by their hash. A whole number up to this one is its own hash.
_GREATEST_TOKEN = 2**61 - 2


class _Ratio(keras.metrics.Metric):  # type: ignore[misc]
    """The base class of the metrics: the quotient of two exact sums."""

    def __init__(self, dtype: Any, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name must be a string or None, got {describe(name)}")
        super().__init__(dtype=dtype, name=name)
        if "float" not in self.dtype:
            raise ValueError(f'dtype must be a floating-point type such as "float32", got {describe(dtype)}')
        # Each sum is a float32 and its rounding error, because a float32 alone drifts in long epochs, and JAX (by
        # default) and Apple's GPUs have no float64. One variable holds both sums, so that a batch is added as a whole.
        self._sums = self.add_weight(shape=(2, 2), initializer="zeros", dtype="float32", name="sums")

    def _add(self, sample_weight: Any, numerators: Sequence[float], denominators: Sequence[float]) -> None:
        if sample_weight is not None:
            weights = _read_weights(sample_weight, len(numerators))
            numerators = [weight * value for weight, value in zip(weights, numerators)]
            denominators = [weight * value for weight, value in zip(weights, denominators)]
        numerator, denominator = self._read_sums()
        sums = np.array([math.fsum([numerator, *numerators]), math.fsum([denominator, *denominators])])
        if sums.max() > _GREATEST_FLOAT32:
            raise ValueError("sample_weight adds up to more than float32 holds: divide the weights")
        rounded = sums.astype("float32")
        self._sums.assign(np.stack([rounded, sums - rounded], axis=1))

    def _read_sums(self) -> list[float]:
        """Read the numerator and the denominator, summed over all batches."""
        return [math.fsum(parts) for parts in _read(self._sums.value, "the state of the metric")]

    def result(self) -> Any:
        """Compute the value over all batches since `reset_state`: a scalar tensor, 0 without any batch."""
        numerator, denominator = self._read_sums()
        return keras.ops.convert_to_tensor(numerator / (denominator or 1), dtype=self.dtype)


@keras.saving.register_keras_serializable(package="anls")
class EditDistance(_Ratio):
    """The edit distance of tokenized texts: word error rate on words, character error rate on characters.

    ``update_state`` takes ``y_true`` and ``y_pred``: the tokens of one text (rank 1) or of a batch of texts (rank 2,
    texts of any length), as lists, numpy arrays, tensors of any backend or ragged tensors of TensorFlow. Tokens are
    whole numbers or strings. ``sample_weight`` is one number for each text, or one for all.

    The numbers are those of the metric of `keras_hub`, with two exceptions: `keras_hub` ignores weights, and leaves
    token 0 and the empty string out of the distance, but not out of the length. Here every token counts, so remove
    padding first.

    In ``model.compile`` the metric works with PyTorch, and with TensorFlow if ``run_eagerly=True``; it does not work
    with JAX.

    Args:
        normalize: if True, the value is the number of edits (insertions, deletions, substitutions) in all texts divided
            by the number of tokens in all of ``y_true``, or the number of edits if there are no such tokens; jiwer does
            the same. If False, the value is the mean number of edits of a text.
        dtype: the dtype of the value; the sums stay exact.
        name: the name of the metric.

    Raises:
        ValueError: the dtype cannot hold fractions. In a call: a batch cannot be scored, and the message says what is
            wrong and in which text; or the step is compiled, so that tensors have no values. No part of that batch is
            added.

    Example:
        >>> from anls_metric.keras import EditDistance
        >>> metric = EditDistance()
        >>> y_true = ["the tiny little cat was found under the big funny bed".split()]
        >>> y_pred = ["the cat was found under the bed".split()]
        >>> print(f"{float(metric(y_true, y_pred)):.4f}")
        0.3636
        >>> y_true, y_pred = "it is sunny today".split(), "it is sunny but with a hint of cloud cover".split()
        >>> print(f"{float(metric(y_true, y_pred)):.4f}")  # both texts
        0.7333
        >>> float(EditDistance(normalize=False)(list("CocaCola"), list("Coca Cola")))
        1.0

    Source: https://keras.io/keras_hub/api/metrics/edit_distance/.
    """

    def __init__(self, normalize: bool = True, dtype: Any = "float32", name: str | None = "edit_distance") -> None:
        if not isinstance(normalize, bool):
            raise ValueError(f"normalize must be True or False, got {describe(normalize)}")
        super().__init__(dtype, name)
        self.normalize = normalize
        self._direction = "down"  # callbacks that monitor a compiled metric read this attribute

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch, or one text.

        Args:
            y_true: the reference tokens.
            y_pred: the predicted tokens.
            sample_weight: the weight of each text, or one weight for all; None is 1.

        Raises:
            ValueError: a text cannot be scored; the message names it. No part of the batch is added.
        """
        truth, predicted = _read_texts(y_true, "y_true"), _read_texts(y_pred, "y_pred")
        if len(truth) != len(predicted):
            raise ValueError(
                f"y_true and y_pred hold {len(truth):,} and {len(predicted):,} texts: pass the tokens of "
                "the same number of texts on both sides (a flat list is one text)"
            )
        if len({type(tokens[0]) for tokens in (*truth, *predicted) if tokens}) > 1:
            raise ValueError(
                "some texts are of strings and some of whole numbers: pass y_true and y_pred from the same tokenizer"
            )
        edits = list(map(Levenshtein.distance, truth, predicted))
        self._add(sample_weight, edits, [len(tokens) if self.normalize else 1 for tokens in truth])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments for `from_config`."""
        return {**super().get_config(), "normalize": self.normalize}


@keras.saving.register_keras_serializable(package="anls")
class ANLS(_Ratio):
    """ANLS, the average normalized Levenshtein similarity of answers to their accepted answers.

    ``update_state`` takes ``y_true``, for each row one string or a list of accepted answers, and ``y_pred``, a list of
    strings. Both may be lists, numpy arrays, or string tensors of TensorFlow (also ragged ones), decoded as UTF-8.
    ``sample_weight`` is one number for each row, or one for all.

    ``model.compile`` passes token ids to a metric, and no texts: use `ValidationMetrics` there.

    Args:
        variant, threshold, ignore_case: which ANLS, as `get_variant` takes them.
        dtype: the dtype of the value; the sum of the scores stays exact.
        name: the name of the metric.

    Raises:
        ValueError: an unknown variant, a threshold outside [0, 1], or a dtype that cannot hold fractions. In a call: a
            row cannot be scored, and the message names it. No part of that batch is added.

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
        'anls|standard|threshold:0.5|v2.0.0'

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
        self._original = get_variant(variant)
        self.variant = get_variant(self._original, threshold, ignore_case)
        super().__init__(dtype, name)
        self.threshold, self.ignore_case = threshold, ignore_case
        self._direction = "up"  # callbacks that monitor a compiled metric read this attribute

    def signature(self) -> str:
        """The signature of the score. Report it with the score."""
        return self.variant.signature()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Args:
            y_true: for each row a list of accepted answers, or one string.
            y_pred: the answers to score.
            sample_weight: the weight of each row, or one weight for all; None is 1.

        Raises:
            ValueError: a row cannot be scored; the message names it. No part of the batch is added.
        """
        scores = self.variant.score(_read_column(y_pred, "y_pred"), _read_column(y_true, "y_true"))
        self._add(sample_weight, scores, [1] * len(scores))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments for `from_config`: the name of the variant, or the fields of a variant of your own."""
        name = self._original.name
        variant = name if VARIANTS.get(name) == self._original else asdict(self._original)
        return {
            **super().get_config(),
            "variant": variant,
            "threshold": self.threshold,
            "ignore_case": self.ignore_case,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ANLS:
        """Make the metric that `get_config` describes. ValueError: the config describes no metric."""
        variant = config.get("variant", "standard")
        if isinstance(variant, Mapping):
            # JSON has no tuples.
            fields: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in variant.items()
            }
            try:
                variant = Variant(**fields)
            except TypeError as error:
                raise ValueError(f"the variant of the config is {describe(variant)}, no Variant ({error})") from None
        return cls(**{**config, "variant": variant})


class ValidationMetrics(keras.callbacks.Callback):  # type: ignore[misc]
    """A callback that lets the model predict after each epoch, and logs the metrics as ``val_...``.

    Pass it to ``fit`` before callbacks that use its values, and tell them that higher is better:
    ``ModelCheckpoint(path, monitor="val_anls", mode="max", save_best_only=True)``.

    Args:
        predict: a function that takes the model and returns its predictions for all rows of ``y_true``, for example
            with ``model.generate`` and a tokenizer that decodes.
        y_true: the references that the metrics compare the predictions with.
        metrics: one metric, or a list of metrics, that take such references and predictions; None is ``[ANLS()]``. A
            value is logged as ``val_`` plus the name of its metric.

    Raises:
        ValueError: two metrics have the same name, an item is not a metric, or `predict` cannot be called. At the end
            of an epoch: a metric cannot score the predictions.

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
        if not callable(predict):
            raise ValueError(f"predict is {describe(predict)}: pass a function that takes the model")
        if metrics is None:
            metrics = ANLS()
        self.metrics: list[Any] = list(metrics) if isinstance(metrics, (list, tuple)) else [metrics]
        for metric in self.metrics:
            if not isinstance(metric, keras.metrics.Metric):
                raise ValueError(f"{describe(metric)} is not a Keras metric: pass one such as ANLS()")
        names = [metric.name for metric in self.metrics]
        if len(set(names)) < len(names):
            raise ValueError(f'the names of the metrics are {", ".join(names)}: give each its own, ANLS(name="...")')
        self.predict = predict
        self.y_true = y_true

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Predict, score and log.

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
            if logs is not None:
                logs[f"val_{metric.name}"] = float(metric.result())


# Reading lists, arrays and tensors


def _read(value: Any, what: str) -> Any:
    """Convert an array or tensor of any library to nested lists; return any other object unchanged."""
    # Methods are found by name, because TensorFlow's data sets can give a batch under any backend. `to_list` is for
    # ragged tensors of TensorFlow and columns of pandas, `tolist` for numpy, PyTorch and JAX, `numpy` for TensorFlow.
    for method in ("to_list", "tolist", "numpy"):
        if hasattr(value, method):
            try:
                items = getattr(value, method)()
            except Exception:  # each library raises its own errors
                break
            return items.tolist() if method == "numpy" and hasattr(items, "tolist") else items
    if isinstance(value, keras.KerasTensor) or (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise ValueError(
            f"{what} is a symbolic tensor ({type(value).__name__}), as in a compiled Keras step, where strings cannot "
            "be compared: use the callback anls_metric.keras.ValidationMetrics, or with TensorFlow "
            "model.compile(..., run_eagerly=True)"
        )
    return value


def _read_items(value: Any, what: str, depth: int = 2) -> Any:
    """Convert as `_read` does, also the items of lists down to this depth, and decode bytes."""
    value = _read(value, what)
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{what}, is not UTF-8 ({error}): decode the bytes first") from None
    if isinstance(value, str):
        return as_text(value, what)
    if isinstance(value, (list, tuple)) and depth and not {int, str}.issuperset(map(type, value)):
        return [_read_items(item, f"{what}, item {place}", depth - 1) for place, item in enumerate(value)]
    return value


def _read_texts(value: Any, what: str) -> list[list[Any]]:
    """Read the tokens of each text: strings or whole numbers."""
    items = _read_items(value, what)
    if not isinstance(items, (list, tuple)):
        raise ValueError(
            f"{what} is {describe(value)}: pass the tokens of a text as a list or tensor, for example list(text) or "
            "text.split(), or a list of these"
        )
    nested = [isinstance(item, (list, tuple)) for item in items]
    if not any(nested):
        no_rows = len(getattr(value, "shape", ())) == 2  # a tensor without texts; [] is one text without tokens
        return [] if no_rows else [_check_tokens(items, what)]
    if not all(nested):
        place = nested.index(False)
        raise ValueError(
            f"{what} holds lists, but item {place} (counted from 0) is {describe(items[place])}: pass the tokens of "
            "one text, or a list with the tokens of each text"
        )
    return [_check_tokens(row, f"{what}, text {place} (counted from 0)") for place, row in enumerate(items)]


def _check_tokens(row: Sequence[Any], what: str) -> list[Any]:
    """Check that the edit distance can compare the tokens of a text, and return them as a list."""
    kinds = set(map(type, row))
    if kinds - {int, str}:
        place = next(place for place, token in enumerate(row) if type(token) not in (int, str))
        advice = "pass token ids, which are whole numbers, or strings"
        if isinstance(row[place], (list, tuple)):
            advice += ", in a list for each text (of scores over a vocabulary take keras.ops.argmax(scores, -1) first)"
        elif isinstance(row[place], float):
            advice += ' (keras.ops.cast(ids, "int32"))'
        raise ValueError(f"{what}, token {place}, is {describe(row[place])}: {advice}")
    if len(kinds) > 1:
        raise ValueError(f"{what} holds strings and whole numbers: pass tokens of one kind")
    if kinds == {int} and not -_GREATEST_TOKEN <= min(row) <= max(row) <= _GREATEST_TOKEN:
        raise ValueError(f"{what} contains a number of more than 60 bits: pass token ids, or strings")
    return list(row)


def _read_column(value: Any, what: str) -> Any:
    """Read a column of strings or of lists of strings. The variant refuses other items later."""
    kind = str(getattr(value, "dtype", ""))
    column = _read_items(value, what)
    if any(number in kind for number in ("int", "float", "bool")):
        raise ValueError(
            f"{what} is a tensor or array of {kind}: pass texts, decoded by the tokenizer (model.compile gives none: "
            "use the callback anls_metric.keras.ValidationMetrics)"
        )
    return column


def _read_weights(sample_weight: Any, rows: int) -> list[float]:
    weights = _read_items(sample_weight, "sample_weight")
    if not isinstance(weights, (list, tuple)):
        weights = [weights] * rows
    if len(weights) != rows:
        raise ValueError(
            f"sample_weight has {len(weights):,} rows and the batch has {rows:,}: pass one weight, or one for each row"
        )
    for row, weight in enumerate(weights):
        if not isinstance(weight, (int, float)) or not 0 <= weight <= _GREATEST_FLOAT32:
            raise ValueError(
                f"sample_weight, {name_row(row)}, must be a finite float32 number, 0 or more, got {describe(weight)}"
            )
    return list(weights)
