"""Metrics for torchmetrics: ANLS and normalized Levenshtein similarity, on any device and with any number of processes.

Sums are exact because they are kept as whole numbers. The result is the same to the last bit after a million updates
and in any order of batches and processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rapidfuzz.distance import Levenshtein

from anls_metric.core.checks import check_count, describe, requires
from anls_metric.core.strings.rows import check_columns
from anls_metric.core.strings.variants import Variant, get_variant
from anls_metric.core.version import SCORES_VERSION

with requires("torchmetrics"):
    import torch
    import torchmetrics
    from torch import Tensor
    from torchmetrics.utilities import dim_zero_cat

__all__ = ["ANLS", "NormalizedLevenshteinSimilarity"]

Reduction = Literal["mean", "sum", "none"] | None
Texts = str | Iterable[str]
References = str | Iterable[str | Iterable[str]]

# A score is 1 - x for a float x from 0 to 2, so it is a multiple of 2 ** -53. In these units, the sum of n scores is at
# most n * 2 ** 53. It is kept as two int64 parts, because MPS has no float64.
_UNITS = 2**53
_LOW = 2**32


class _Scores(torchmetrics.Metric):  # type: ignore[misc]
    """The base class of the metrics, which collects the scores of all batches and reduces them. Subclasses define
    `_score`.

    The name of the state says what is computed, because a MetricCollection merges metrics whose states have the same
    names and, after the first batch, the same values. Two variants often agree on a batch but must not be merged.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(self, name: str, reduction: Reduction, **kwargs: Any) -> None:
        if reduction not in ("mean", "sum", "none", None):
            raise ValueError(f'reduction must be "mean", "sum", "none" or None, got {describe(reduction)}')
        super().__init__(**kwargs)
        self.reduction = reduction or "none"
        self._state = f"{name}|{self.reduction}"
        if self.reduction == "none":
            self.add_state(self._state, [], dist_reduce_fx="cat")
        else:
            self.add_state(self._state, torch.zeros(3, dtype=torch.int64), dist_reduce_fx="sum")

    def _score(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        raise NotImplementedError

    def update(self, preds: Texts, target: References) -> None:
        """Add a batch.

        Args:
            preds: N strings or one string.
            target: the references, as described for the class.

        Raises:
            ValueError: a row cannot be scored (the message gives its number). No part of the batch is added.
        """
        scores = self._score(*_read_rows(preds, target))
        state = getattr(self, self._state)
        if isinstance(state, list):
            # A process without batches contributes an empty tensor of the metric's dtype. All processes must use this
            # dtype, because gloo fails or returns wrong numbers if dtypes differ.
            state.append(torch.tensor(scores, dtype=self.dtype, device=self.device))
        else:
            parts = *divmod(sum(int(score * _UNITS) for score in scores), _LOW), len(scores)
            setattr(self, self._state, state + torch.tensor(parts, device=self.device))

    @torch.jit.unused  # type: ignore[untyped-decorator]  # so that a model that contains the metric can be scripted
    def forward(self, preds: Texts, target: References) -> Tensor:
        """Add a batch, as `update` does, and return the value for this batch alone."""
        # Check the rows before the call, because an error inside `super().forward` would leave the metric empty.
        return super().forward(*_read_rows(preds, target))

    def compute(self) -> Tensor:
        """Compute the value over all batches of all processes."""
        state = getattr(self, self._state)
        if self.reduction == "none":
            return dim_zero_cat(state) if len(state) else torch.tensor([], dtype=self.dtype, device=self.device)
        high, low, count = state.tolist()
        value = (high * _LOW + low) / _UNITS
        if self.reduction == "mean":
            value /= count or 1
        return torch.tensor(value, device=self.device)

    def set_dtype(self, dst_type: Any) -> _Scores:
        """Change nothing, because sums are whole numbers and values are float32."""
        return self

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot values with matplotlib, as described for torchmetrics' ``Metric.plot``."""
        return self._plot(val, ax)


class ANLS(_Scores):
    """ANLS, the average normalized Levenshtein similarity of answers to their references.

    ``update`` and ``forward`` take ``preds``, a list of N strings, and ``target``, N lists of references or N strings.
    If ``preds`` is one string, ``target`` contains its references as a list or one string. ``compute`` returns a
    float32 scalar or, with reduction "none", a tensor of N scores (a scalar if N = 1, as in torchmetrics). Without
    samples, it returns 0 or an empty tensor.

    Args:
        variant, threshold, ignore_case: which ANLS to compute, as in `get_variant`.
        reduction: "mean" or "sum" over the samples, or "none" or None for the score of each one.
        **kwargs: arguments of ``torchmetrics.Metric`` (``sync_on_compute``, ``dist_sync_on_step``, ...).

    Raises:
        ValueError: the variant or reduction is unknown, or the threshold is outside [0, 1]. In a call: a row cannot be
            scored (the message gives its number). No part of that batch is added.

    Example:
        >>> from anls_metric.torchmetrics import ANLS
        >>> metric = ANLS()
        >>> metric(["CocaCola", "The Coca"], [["Coca Cola", "Coca Cola Company"], ["Coca Cola"]])
        tensor(0.4444)
        >>> metric.update("12/15/89", "12/15/88")
        >>> metric.compute()
        tensor(0.5880)
        >>> metric.signature()
        'anls|standard|threshold:0.5|v2'

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """

    def __init__(
        self,
        variant: str | Variant = "standard",
        threshold: float | None = None,
        ignore_case: bool | None = None,
        reduction: Reduction = "mean",
        **kwargs: Any,
    ) -> None:
        variant = get_variant(variant, threshold, ignore_case)
        # Without the version of the scores, so that the next version can load saved states.
        name, _, _ = variant.signature().rpartition("|")
        super().__init__(name, reduction, **kwargs)
        self.variant = variant

    def signature(self) -> str:
        """Return the signature of the score. Report it with the score."""
        return self.variant.signature()

    def _score(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return self.variant.score_checked(predictions, references)


class NormalizedLevenshteinSimilarity(_Scores):
    """The similarity of two strings: 1 - distance / length of the longer string, or 1 for two empty strings.

    Case and whitespace matter, and there is no threshold. The distance is exact, whereas torchmetrics' ``EditDistance``
    is a beam search whose distance is sometimes too high.

    ``update`` and ``forward`` take ``preds`` and ``target``, each a list of N strings or one string. If ``target``
    contains lists of strings, the most similar string in each is used. ``compute`` returns a float32 scalar or, with
    reduction "none", a tensor of N similarities (a scalar if N = 1, as in torchmetrics). Without samples, it returns 0
    or an empty tensor.

    Args:
        substitution_cost: the cost of replacing a character; inserting or deleting a character costs 1. A cost above 2
            is treated as 2, since deleting and inserting is then cheaper. With a cost above 1, the similarity can be
            negative, down to -1.
        reduction: "mean" or "sum" over the samples, or "none" or None for the similarity of each one.
        **kwargs: arguments of ``torchmetrics.Metric`` (``sync_on_compute``, ``dist_sync_on_step``, ...).

    Raises:
        ValueError: the cost is not a whole number of 0 or more, or the reduction is unknown. In a call: a row cannot be
            scored (the message gives its number). No part of that batch is added.

    Example:
        >>> from anls_metric.torchmetrics import NormalizedLevenshteinSimilarity
        >>> metric = NormalizedLevenshteinSimilarity(reduction="none")
        >>> metric(["rain", "lnaguaeg"], ["shine", "language"])
        tensor([0.4000, 0.5000])
        >>> NormalizedLevenshteinSimilarity()(["rain", "lnaguaeg"], ["shine", "language"])
        tensor(0.4500)

    Source: https://docsaid.org/en/blog/impl-normalized-levenshtein-similarity.
    """

    def __init__(self, substitution_cost: int = 1, reduction: Reduction = "mean", **kwargs: Any) -> None:
        super().__init__(f"nls|substitution_cost:{substitution_cost}", reduction, **kwargs)
        self.substitution_cost = check_count("substitution_cost", substitution_cost)

    def signature(self) -> str:
        """Return the signature of the similarity. Report it with the number."""
        return f"nls|substitution_cost:{self.substitution_cost}|v{SCORES_VERSION}"

    def _score(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [
            max(self._compare(prediction, text) for text in texts) for prediction, texts in zip(predictions, references)
        ]

    def _compare(self, prediction: str, text: str) -> float:
        edits = Levenshtein.distance(prediction, text, weights=(1, 1, self.substitution_cost))
        return 1 - edits / (max(len(prediction), len(text)) or 1)


def _read_rows(preds: Any, target: Any) -> tuple[list[str], list[Sequence[str]]]:
    """Check a batch, which may be one string with its references, and return it as lists."""
    if isinstance(preds, str):
        return check_columns([preds], [target])
    return check_columns(preds, [target] if isinstance(target, str) else target)
