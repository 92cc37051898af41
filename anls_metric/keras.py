"""ANLS as metrics of Keras 3, on any backend, and the edit distance of `keras_hub` without TensorFlow.

Texts are no numbers, so none of this can run inside a compiled training step. Where Keras traces one, a metric here
says so, and `ValidationMetrics` is the callback that scores after each epoch instead.
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
# Whole numbers up to this are their own hash, by which rapidfuzz compares.
_GREATEST_TOKEN = 2**61 - 2


class _Ratio(keras.metrics.Metric):  # type: ignore[misc]
    """The base of the metrics: the quotient of two exact sums."""

    def __init__(self, dtype: Any, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name is {describe(name)}: it must be a string or None")
        super().__init__(dtype=dtype, name=name)
        if "float" not in self.dtype:
            raise ValueError(f'dtype is {describe(dtype)}: it must be that of a fraction, "float32" for example')
        # Each sum is a float32 and what it lacks: one float32 drifts in long epochs, and JAX (by default) and Apple's
        # GPUs have no float64. Both are one variable, so that a batch is added as a whole or not at all.
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
        """The sums of all batches: numerator and denominator."""
        return [math.fsum(parts) for parts in _read(self._sums.value, "the state of the metric")]

    def result(self) -> Any:
        """The value of all batches since `reset_state`, as a scalar tensor; 0 without any."""
        numerator, denominator = self._read_sums()
        return keras.ops.convert_to_tensor(numerator / (denominator or 1), dtype=self.dtype)


@keras.saving.register_keras_serializable(package="anls")
class EditDistance(_Ratio):
    """The edit distance of tokenized texts: word error rate on words, character error rate on characters.

    ``update_state`` takes ``y_true`` and ``y_pred``, both the tokens of one text (rank 1) or of a batch of texts (rank
    2, each of its own length), as lists, numpy arrays, tensors of any backend or ragged tensors of TensorFlow. Tokens
    are whole numbers or strings. ``sample_weight`` is a number for each text, or one for all.

    It is the metric of `keras_hub`, with the same numbers, except that there token 0 and the empty string are left out
    of the distance (but not of the length), and weights are ignored. Here every token counts: leave out what fills up
    a text first.

    Args:
        normalize: if True, the edits (insertions, deletions, substitutions) of all texts are divided by the number of
            tokens in all of ``y_true``, which is how jiwer too takes many texts together. Where ``y_true`` has no
            tokens at all, the edits are the value, as in jiwer. If False, the value is the mean of the edits of each
            text.
        dtype: of the value; what is counted stays exact.
        name: of the metric.

    Raises:
        ValueError: a dtype that holds no fractions; and when it is called: what is wrong and in which text, or that
            there are no values yet, inside a compiled step. Nothing of that batch is kept. In ``model.compile`` it
            works with PyTorch and, with ``run_eagerly=True``, with TensorFlow; with JAX it does not.

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
            raise ValueError(f"normalize is {describe(normalize)}: it must be True or False")
        super().__init__(dtype, name)
        self.normalize = normalize
        self._direction = "down"  # what Keras goes by where a callback monitors a compiled metric

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch, or one text.

        Args:
            y_true: the tokens that are right.
            y_pred: the tokens that are compared with them.
            sample_weight: what each text counts; None is 1.

        Raises:
            ValueError: what is wrong and in which text of the batch; nothing of the batch is kept.
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
        """The arguments for `from_config`."""
        return {**super().get_config(), "normalize": self.normalize}


@keras.saving.register_keras_serializable(package="anls")
class ANLS(_Ratio):
    """ANLS, the average normalized Levenshtein similarity, of answers and the accepted answers of each.

    ``update_state`` takes ``y_true``, for each row one string or a list of accepted answers, and ``y_pred``, a list of
    strings. Both may be lists, arrays of numpy, or tensors of strings, ragged ones too, of TensorFlow, which are taken
    as UTF-8. ``sample_weight`` is a number for each row, or one for all.

    Args:
        variant, threshold, ignore_case: which ANLS, as `get_variant` takes them.
        dtype: of the value; the sum that it comes from stays exact.
        name: of the metric.

    Raises:
        ValueError: an unknown variant, a threshold outside [0, 1], a dtype that holds no fractions; and when it is
            called: what is wrong and in which row. Nothing of that batch is kept. ``model.compile`` has token ids for
            it and no texts: use `ValidationMetrics` there.

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
        self._named = get_variant(variant)
        self.variant = get_variant(self._named, threshold, ignore_case)
        super().__init__(dtype, name)
        self.threshold, self.ignore_case = threshold, ignore_case
        self._direction = "up"  # what Keras goes by where a callback monitors a compiled metric

    def signature(self) -> str:
        """The signature of the score. Report it with the score."""
        return self.variant.signature()

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Args:
            y_true: for each row the accepted answers, or one string.
            y_pred: the answers to score.
            sample_weight: what each row counts; None is 1.

        Raises:
            ValueError: what is wrong and in which row of the batch; nothing of the batch is kept.
        """
        scores = self.variant.score(_read_column(y_pred, "y_pred"), _read_column(y_true, "y_true"))
        self._add(sample_weight, scores, [1] * len(scores))

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes the metric from: the variant by its name, or one of your own by its fields."""
        named = self._named
        variant = named.name if VARIANTS.get(named.name) == named else asdict(named)
        return {
            **super().get_config(),
            "variant": variant,
            "threshold": self.threshold,
            "ignore_case": self.ignore_case,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ANLS:
        """The metric that `get_config` describes. ValueError: it describes none."""
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
    """A callback that lets the model answer after each epoch, and logs the metrics as ``val_...``.

    Give it to ``fit`` before callbacks that look at what it logs, and tell these which way is better:
    ``ModelCheckpoint(path, monitor="val_anls", mode="max", save_best_only=True)``.

    Args:
        predict: what gives the predictions for all rows of ``y_true``, for a model: ``model.predict`` or ``generate``,
            and a tokenizer that decodes.
        y_true: what the metrics compare them with.
        metrics: one or a list of them, of any kind that takes both; None is ``[ANLS()]``. A value is logged as
            ``val_`` and the name of its metric.

    Raises:
        ValueError: two metrics of one name, what is no metric, a `predict` that cannot be called; and at the end of an
            epoch what the metrics say.

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
                raise ValueError(f"{describe(metric)} is no metric of Keras: pass ANLS() for example")
        names = [metric.name for metric in self.metrics]
        if len(set(names)) < len(names):
            raise ValueError(f'the names of the metrics are {", ".join(names)}: give each its own, ANLS(name="...")')
        self.predict = predict
        self.y_true = y_true

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Predict, score and log.

        Args:
            epoch: which one has ended.
            logs: what there is to say of it; the values are put there.

        Raises:
            ValueError: what the metrics say of the predictions.
        """
        y_pred = self.predict(self.model)
        for metric in self.metrics:
            metric.reset_state()
            metric.update_state(self.y_true, y_pred)
            if logs is not None:
                logs[f"val_{metric.name}"] = float(metric.result())


# What is read from lists, arrays and tensors


def _read(value: Any, what: str) -> Any:
    """What an array or tensor of any library holds, as nested lists; anything else as it is."""
    # By name, because a batch can come from TensorFlow's data sets under any backend. First ragged tensors of
    # TensorFlow and columns of pandas; then numpy, PyTorch and JAX; then TensorFlow, which goes through numpy.
    for method in ("to_list", "tolist", "numpy"):
        if hasattr(value, method):
            try:
                items = getattr(value, method)()
            except Exception:  # each library has its own
                break
            return items.tolist() if method == "numpy" and hasattr(items, "tolist") else items
    if isinstance(value, keras.KerasTensor) or (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise ValueError(
            f"{what} is a tensor without values ({type(value).__name__}), as in a compiled step of Keras, where texts "
            "cannot be compared: use the callback anls_metric.keras.ValidationMetrics, or with TensorFlow "
            "model.compile(..., run_eagerly=True)"
        )
    return value


def _read_items(value: Any, what: str, depth: int = 2) -> Any:
    """The same, also of the items of a list, so many levels down, with bytes decoded."""
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
    """The tokens of each text: strings or whole numbers."""
    items = _read_items(value, what)
    if not isinstance(items, (list, tuple)):
        raise ValueError(
            f"{what} is {describe(value)}: pass the tokens of a text as a list or tensor, for example list(text) or "
            "text.split(), or a list of these"
        )
    nested = [isinstance(item, (list, tuple)) for item in items]
    if not any(nested):
        no_rows = len(getattr(value, "shape", ())) == 2  # a tensor of no texts, as against the list of no tokens
        return [] if no_rows else [_check_tokens(items, what)]
    if not all(nested):
        place = nested.index(False)
        raise ValueError(
            f"{what} holds lists, but item {place} (counted from 0) is {describe(items[place])}: pass the tokens of "
            "one text, or a list with the tokens of each text"
        )
    return [_check_tokens(row, f"{what}, text {place} (counted from 0)") for place, row in enumerate(items)]


def _check_tokens(row: Sequence[Any], what: str) -> list[Any]:
    """The tokens of one text, if they are what the edit distance can compare."""
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
        raise ValueError(f"{what} holds a number beyond 60 bits: pass token ids, or strings")
    return list(row)


def _read_column(value: Any, what: str) -> Any:
    """A column of strings, or of lists of strings; the variant refuses what else it may be."""
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
                f"sample_weight, {name_row(row)}, is {describe(weight)}: it must be a number, 0 or more, that float32 "
                "holds"
            )
    return list(weights)
