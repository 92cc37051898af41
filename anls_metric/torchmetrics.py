"""ANLS as metrics of torchmetrics: for training loops, on any device, in any number of processes.

Sums are whole numbers, so that they are exact: the same bits after a million updates, and in whatever order batches
and processes come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import torch
import torchmetrics
from rapidfuzz.distance import Levenshtein
from torch import Tensor
from torchmetrics.utilities import dim_zero_cat

from anls_metric.core.rows import as_column, as_text, describe, name_row
from anls_metric.core.variants import Variant, get_variant

__all__ = ["ANLS", "NormalizedLevenshteinSimilarity"]

Reduction = Literal["mean", "sum", "none"] | None

# A score is 1 - x of a float x from 0 to 2, so a whole number of units of 2 ** -53. Of n scores their sum is up to
# n * 2 ** 53, and is kept in two parts that int64 holds, which every device has (MPS has no float64).
_UNITS = 2**53
_LOW = 2**32


class _Scores(torchmetrics.Metric):  # type: ignore[misc]
    """The base of the metrics: the scores of all batches and their reduction. Subclasses define `_score`.

    The state is called after what is computed. A MetricCollection takes metrics for one whose states have equal names
    and, after the first batch, equal values; two variants, which often agree on a batch, must stay two.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(self, name: str, reduction: Reduction, **kwargs: Any) -> None:
        if reduction not in ("mean", "sum", "none", None):
            raise ValueError(f'reduction is {describe(reduction)}: it must be "mean", "sum", "none" or None')
        super().__init__(**kwargs)
        self.reduction = reduction
        self._keeps_all = reduction in ("none", None)
        self._state = f"{name}|{reduction or 'none'}"
        self._scores_of_forward: list[float] | None = None
        if self._keeps_all:
            self.add_state(self._state, [], dist_reduce_fx="cat")
        else:
            self.add_state(self._state, torch.zeros(3, dtype=torch.int64), dist_reduce_fx="sum")

    @property
    def plot_lower_bound(self) -> float | None:
        """The smallest possible value."""
        return 0.0

    @property
    def plot_upper_bound(self) -> float | None:
        """The largest possible value."""
        return None if self.reduction == "sum" else 1.0

    def _score(self, preds: Any, target: Any) -> list[float]:
        raise NotImplementedError

    def update(self, preds: str | Iterable[str], target: str | Iterable[str | Iterable[str]]) -> None:
        """Add a batch.

        Args:
            preds: N strings, or one.
            target: what they are compared with: see the class.

        Raises:
            ValueError: what is wrong and in which row of the batch; nothing of the batch is kept.
        """
        try:
            scores = self._score(preds, target) if self._scores_of_forward is None else self._scores_of_forward
        except BaseException:
            self._update_count -= 1  # torchmetrics has counted the batch already
            raise
        state = getattr(self, self._state)
        if self._keeps_all:
            # In the dtype of the metric: a process without batches joins in with an empty tensor of that one, and
            # gloo ends with an error, or with wrong numbers, where processes bring different ones.
            state.append(torch.tensor(scores, dtype=self.dtype, device=self.device))
        else:
            parts = *divmod(sum(int(score * _UNITS) for score in scores), _LOW), len(scores)
            setattr(self, self._state, state + torch.tensor(parts, dtype=torch.int64, device=self.device))

    @torch.jit.unused  # type: ignore[untyped-decorator]  # so that a model that holds the metric can be scripted
    def forward(self, preds: str | Iterable[str], target: str | Iterable[str | Iterable[str]]) -> Tensor:
        """Add a batch, as `update` does, and return the value of this batch alone."""
        # Scored here, because an error inside would leave the metric empty.
        self._scores_of_forward = self._score(preds, target)
        try:
            return super().forward(preds, target)
        finally:
            self._scores_of_forward = None

    def compute(self) -> Tensor:
        """The value of all batches, of all processes."""
        state = getattr(self, self._state)
        if self._keeps_all:
            return dim_zero_cat(state) if len(state) else torch.tensor([], dtype=self.dtype, device=self.device)
        high, low, count = state.tolist()
        value = (high * _LOW + low) / _UNITS
        if self.reduction == "mean":
            value /= count or 1
        # At least float32: a model that is turned to bfloat16 takes its metrics along.
        return torch.tensor(value, dtype=torch.promote_types(self.dtype, torch.float32), device=self.device)

    def set_dtype(self, dst_type: str | torch.dtype) -> _Scores:
        """Return values in another dtype, float64 for example. What is counted stays whole numbers."""
        before = getattr(self, self._state), self._defaults[self._state]
        super().set_dtype(dst_type)
        if not self._keeps_all:
            state, self._defaults[self._state] = (tensor.to(self.device) for tensor in before)
            setattr(self, self._state, state)
            self._computed = None
        return self

    def plot(self, val: Tensor | Sequence[Tensor] | None = None, ax: Any = None) -> Any:
        """Plot values with matplotlib.

        Args:
            val: what `forward` or `compute` returned, or a list of that; None computes it.
            ax: the axes of matplotlib to plot into; None makes new ones.

        Returns:
            Figure and axes, as every metric of torchmetrics does.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
        """
        return self._plot(val, ax)


class ANLS(_Scores):
    """ANLS, the average normalized Levenshtein similarity, of answers and the accepted answers of each.

    ``update`` and ``forward`` take ``preds``, a list of N strings, and ``target``, for each a list of accepted answers
    or one string. A string alone is one answer; ``target`` is then its accepted answers, a list or one string.
    ``compute`` returns a float32 scalar, or N values with reduction "none" (a single one as a scalar, as torchmetrics
    does). Without any samples it is 0, or an empty tensor.

    Args:
        variant, threshold, ignore_case: which ANLS, as `get_variant` takes them.
        reduction: "mean" or "sum" over the samples, or "none" or None for the score of each.
        **kwargs: what every metric of torchmetrics takes (``sync_on_compute``, ``dist_sync_on_step``, ...).

    Raises:
        ValueError: an unknown variant or reduction, a threshold outside [0, 1]; and when it is called: what is wrong
            and in which row. Nothing of that batch is kept.

    Example:
        >>> from anls_metric.torchmetrics import ANLS
        >>> metric = ANLS()
        >>> metric(["CocaCola", "The Coca"], [["Coca Cola", "Coca Cola Company"], ["Coca Cola"]])
        tensor(0.4444)
        >>> metric.update("12/15/89", "12/15/88")
        >>> metric.compute()
        tensor(0.5880)
        >>> metric.signature()
        'anls|standard|threshold:0.5|v2.0.0'

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
        name, _, _ = variant.signature().rpartition("|")  # without our version: the next one reads what this one saves
        super().__init__(name, reduction, **kwargs)
        self.variant = variant

    def signature(self) -> str:
        """The signature of the score. Report it with the score."""
        return self.variant.signature()

    def _score(self, preds: Any, target: Any) -> list[float]:
        if isinstance(preds, str):
            preds, target = [preds], [target]
        elif isinstance(target, str):
            target = [target]
        return self.variant.score(preds, target)


class NormalizedLevenshteinSimilarity(_Scores):
    """The similarity of two texts, ``1 - distance / length`` of the longer one; of two empty texts 1.

    Case and white space count, and there is no threshold. The distance is exact, which that of torchmetrics'
    ``EditDistance``, a beam search, is not always.

    ``update`` and ``forward`` take ``preds`` and ``target``, each a list of N strings or one string. ``compute``
    returns a float32 scalar, or N values with reduction "none" (a single one as a scalar, as torchmetrics does).
    Without any samples it is 0, or an empty tensor.

    Args:
        substitution_cost: what it costs to replace a character, where inserting or deleting one costs 1. From 2 on
            this is never cheaper than to delete and insert. Above 1 the similarity can be negative, down to -1.
        reduction: "mean" or "sum" over the samples, or "none" or None for the similarity of each.
        **kwargs: what every metric of torchmetrics takes (``sync_on_compute``, ``dist_sync_on_step``, ...).

    Raises:
        ValueError: a cost that is no whole number from 0 on, an unknown reduction; and when it is called: what is
            wrong and in which row. Nothing of that batch is kept.

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
        if type(substitution_cost) is not int or substitution_cost < 0:
            raise ValueError(
                f"substitution_cost is {describe(substitution_cost)}: it must be a whole number, 0 or more"
            )
        paid = min(substitution_cost, 2)  # what it costs to delete and insert instead
        super().__init__(f"nls|substitution_cost:{paid}", reduction, **kwargs)
        self.substitution_cost = substitution_cost
        self._weights = 1, 1, paid

    @property
    def plot_lower_bound(self) -> float | None:
        """The smallest possible value."""
        if self.substitution_cost <= 1:
            return 0.0
        return None if self.reduction == "sum" else -1.0

    def _score(self, preds: Any, target: Any) -> list[float]:
        predictions, references = _read_texts(preds, "preds"), _read_texts(target, "target")
        if len(predictions) != len(references):
            raise ValueError(
                f"there are {len(predictions):,} texts in preds but {len(references):,} in target: pass one text to "
                "compare with for each prediction"
            )
        return list(map(self._similarity, predictions, references))

    def _similarity(self, prediction: str, reference: str) -> float:
        cost = Levenshtein.distance(prediction, reference, weights=self._weights)
        return 1 - cost / (max(len(prediction), len(reference)) or 1)


def _read_texts(column: Any, what: str) -> list[str]:
    """A string, or a list of strings of any kind, as a list of strings."""
    texts = [column] if isinstance(column, str) else as_column(column, what, "pass a string or a list of strings")
    return [as_text(text, f"{what}, {name_row(row)},") for row, text in enumerate(texts)]
