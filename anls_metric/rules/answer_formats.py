"""Judges numbers, strings and lists in the same way as the benchmarks that use answer formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anls_metric.core.strings.kernel import Kernel
from anls_metric.rules.cleaning import is_exact
from anls_metric.rules.closeness import OVER_HALF, is_close
from anls_metric.rules.judgment import Judgment, Similarity
from anls_metric.rules.literals import parse_literal


def judge_float(answer: float | None, gold: float) -> Judgment:
    """Judge a number, which scores 1 if it is close to the reference."""
    if answer is None:
        return Judgment(0.0, "the prediction is not a number, and the answer is {}", (gold,))
    if is_close(answer, gold):
        return Judgment(1.0, "numbers {} and {} differ by at most 1%, or are equal once rounded", (answer, gold))
    return Judgment(0.0, "numbers {} and {} differ by more than 1%", (answer, gold))


def judge_equal(answer: Any, gold: Any, are_equal: bool) -> Judgment:
    """Judge an answer that must equal the reference."""
    return Judgment(float(are_equal), "{} equals {}" if are_equal else "{} must be equal to {}", (answer, gold))


def judge_text(
    answer: str, gold: str, must_be_equal: Callable[[str], bool] = is_exact, kernel: Kernel = OVER_HALF
) -> Judgment:
    """Judge a cleaned string by its similarity to the reference, unless the reference must be matched exactly."""
    if must_be_equal(gold):
        return judge_equal(answer, gold, answer == gold)
    return judge_similar(answer, gold, kernel.score(answer, [gold]))


def judge_similar(answer: str, gold: str, score: float) -> Judgment:
    """Judge a string by its similarity score, which is 0 for a similarity of at most 0.5."""
    words = "{} is compared with {} as text, kept above a similarity of {}"
    return Judgment(score, words, (answer, gold, Similarity(0.5)))


def read_items(value: Any) -> list[Any] | None:
    """Read the items of a list. Any other value is treated as a list of one item.

    The authors' programs run a string that begins with a bracket as Python code. Here, only literals are read.

    Args:
        value: a list, a list written as a string, or one item.

    Returns:
        The items, or None for a string that begins with a bracket but is not a literal.

    Example:
        >>> read_items("['a', 'b']"), read_items("a, b"), read_items("[a, b]")
        (['a', 'b'], ['a, b'], None)
    """
    if isinstance(value, str) and value.startswith("["):
        value = parse_literal(value)
        if value is None:
            return None
    return value if isinstance(value, list) else [value]


def judge_sorted(
    answers: Sequence[str],
    golds: Sequence[str],
    must_be_equal: Callable[[str], bool],
    kernel: Kernel = OVER_HALF,
    key: Callable[[Sequence[str]], object] = "-".join,
) -> Judgment:
    """Judge a list of cleaned strings in any order. Both lists are sorted, and the worst pair of items determines the
    score.

    Args:
        answers, golds: the items.
        must_be_equal: the function that decides from the first accepted item whether the lists must be equal.
        kernel: the kernel that compares two items.
        key: the function that makes the value to compare if the lists must be equal. The authors' programs join the
            items with hyphens.
    """
    if len(answers) != len(golds):
        return Judgment(0.0, "{} items, where {} are expected", (len(answers), len(golds)))
    if not golds:
        return Judgment(1.0, "both lists are empty")
    answers, golds = sorted(answers), sorted(golds)
    if must_be_equal(golds[0]):
        return judge_equal(answers, golds, key(answers) == key(golds))
    pairs = [(kernel.score(answer, [gold]), answer, gold) for answer, gold in zip(answers, golds)]
    score, answer, gold = min(pairs, key=lambda pair: pair[0])
    return Judgment(score, "the worst pair of items is {} and {}", (answer, gold))
