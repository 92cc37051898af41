"""The public functions that score and explain lists and nested values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anls_metric.core.scorer import get_scorer, refuse_no_rows
from anls_metric.core.values.star_explanation import StarExplanation
from anls_metric.core.values.value_variants import KeyPaths, NoneKeys, Numbers, ValueVariant


def anls_star_score(
    prediction: Any,
    reference: Any,
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
    numbers: Numbers = "as_written",
    ignore_keys: KeyPaths = (),
) -> float:
    """Compute the ANLS* of one value, which is the sum of its leaf scores divided by the number of leaves.

    Args:
        prediction: a string, number, bool or None, or a list or dict of such values.
        reference: the accepted value. A tuple in it holds alternatives; a tuple of one value stands for that value. If
            the prediction is a string, a list of strings holds alternatives as well.
        threshold: the similarity, from 0 to 1, below which a leaf scores 0; None takes 0.5.
        none_keys: how to treat a predicted key that the reference does not have if its value is None, "", [] or {}:
            "counted" as a wrong leaf (as in the program since version 0.0.7) or "ignored" (as in the paper).
        numbers: "as_written" to compare numbers as Python prints them (as in the program); "by_value" to compare 2440
            and 2440.0 as equal. Strings and bools stay as they are.
        ignore_keys: the paths of keys to leave out on both sides, such as "model_name" and "items.score", in a list or
            separated by commas. Lists add nothing to a path.

    Returns:
        The score, from 0 to 1.

    Raises:
        ValueError: a leaf has another type (date, Decimal, bytes, set), the prediction contains a tuple, a tuple is
            empty, or the threshold is outside [0, 1]. The message says where in the value the problem is.

    Example:
        >>> anls_star_score({"total": "12.50", "items": ["tea", "milk"]}, {"total": "12.50", "items": ["milk", "tea"]})
        1.0
        >>> anls_star_score({"total": "12.5", "paid": True}, {"total": ("12.50", "12,50"), "paid": True, "tip": "1"})
        0.6
        >>> anls_star_score({"total": "12.50", "tokens": 7}, {"total": "12.50"}, ignore_keys="tokens")
        1.0

    Source: section 3 of https://arxiv.org/abs/2402.03848; https://github.com/deepopinion/anls_star_metric.
    """
    variant = _get_variant(
        "anls_star", threshold=threshold, none_keys=none_keys, numbers=numbers, ignore_keys=ignore_keys
    )
    return float(variant.score_row(prediction, reference))


def anls_star_scores(
    predictions: Iterable[Any],
    references: Iterable[Any],
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
    numbers: Numbers = "as_written",
    ignore_keys: KeyPaths = (),
) -> list[float]:
    """Compute the ANLS* of each value in a set in the same way as `anls_star_score`. The `mean` of the scores is the
    ANLS* over rows.

    Args:
        predictions: N values, as a list, tuple, iterator, or a column of a pandas, datasets or pyarrow table.
        references: N accepted values, in the same order.
        threshold, none_keys, numbers, ignore_keys: as in `anls_star_score`.

    Returns:
        N scores from 0 to 1.

    Raises:
        ValueError: a row cannot be scored (the message gives its number, counted from 0), the columns have different
            lengths, there are no rows, or an option is invalid.

    Example:
        >>> anls_star_scores([["a", "b"], {"n": 1}], [["b", "a", "c", "d"], {"n": "1"}])
        [0.5, 1.0]

    Source: https://github.com/deepopinion/anls_star_metric.
    """
    variant = _get_variant(
        "anls_star", threshold=threshold, none_keys=none_keys, numbers=numbers, ignore_keys=ignore_keys
    )
    rows = variant.score(predictions, references)
    refuse_no_rows(rows)
    return list(map(float, rows))


def explain_star(
    prediction: Any,
    reference: Any,
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
    numbers: Numbers = "as_written",
    ignore_keys: KeyPaths = (),
) -> StarExplanation:
    """Explain the ANLS* of a value with the closest accepted value, the score of each key, and each leaf and its edits.

    Args:
        prediction, reference, threshold, none_keys, numbers, ignore_keys: as in `anls_star_score`.

    Returns:
        A `StarExplanation`.

    Raises:
        ValueError: as in `anls_star_score`.

    Example:
        >>> why = explain_star({"items": ["tee", "milk"]}, {"items": ["milk", ("tea", "coffee")], "tip": None})
        >>> print(why)
        2 of 3 leaves correct, 1 close, so 0.8889
        >>> why.closest, why.key_scores["items"].score
        ({'items': ['tea', 'milk']}, 0.8333333333333334)
        >>> for leaf in why.leaves:
        ...     print(leaf)
        items[0]: 1 edit on 3 characters from 'tea': similarity 0.6667, at least the threshold of 0.5
        items[1]: equal to 'milk', so 1
        tip: no answer is expected and none is given, so 1
        >>> why.leaves[0].edits[1]
        Edit(operation='replace', prediction='e', reference='a')
        >>> for branch in why.tree.children:
        ...     print(branch.name, branch.score, branch.sentence)
        .items 0.8333333333333334 1 of 2 leaves correct, 1 close, so 83.3%.
        .tip 1.0 no answer is expected and none is given, so 1.

    Source: https://github.com/deepopinion/anls_star_metric (``return_gt``, ``return_key_scores``).
    """
    variant = _get_variant(
        "anls_star", threshold=threshold, none_keys=none_keys, numbers=numbers, ignore_keys=ignore_keys
    )
    return variant.explain(prediction, reference)


def anlsl_score(prediction: Iterable[str], references: Iterable[str], *, threshold: float | None = 0.5) -> float:
    """Compute the ANLSL of a list of strings, whose items are matched one to one with the accepted items.

    Args:
        prediction: the predicted list, or one string.
        references: the accepted list, or one string.
        threshold: the similarity, from 0 to 1, below which an item scores 0; None takes 0.5.

    Returns:
        The score, from 0 to 1: the sum of the scores of the matched items (variant "rrc"), divided by the number of
        distinct accepted items or the number of predicted items, whichever is larger.

    Raises:
        ValueError: an item is not a string, there are no accepted items, or the threshold is outside [0, 1].

    Example:
        >>> anlsl_score(["Cola", "tea", "milk"], ["tea", "cola"])
        0.6666666666666666

    Source: Tito et al., DocCVQA, https://arxiv.org/abs/2104.14336; the program is https://github.com/Jordy-VL/DUDEeval.
    """
    return float(_get_variant("anlsl", threshold=threshold).score_row(prediction, references))


def _get_variant(name: str, **options: Any) -> ValueVariant:
    found: Any = get_scorer(name, **options)
    return found  # type: ignore[no-any-return]
