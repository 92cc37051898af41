"""Represents values as trees, and compares the nodes of a reference with the nodes of a prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.values.matching import Place
from anls_metric.core.values.row_scores import average


class Terms(NamedTuple):
    """The options of a comparison."""

    threshold: float  # a leaf with a similarity below it scores 0
    none_key_length: int  # how many leaves a predicted key without a value counts as if the reference lacks it
    variant: str  # the variant that scores two strings
    by_value: bool = False  # whether two numbers are compared by value

    def count_extra(self, item: Node) -> int:
        """Count the leaves of a predicted value under a key that the reference lacks."""
        return self.none_key_length if says_nothing(item.value) else max(1, item.size)


def says_nothing(value: Any) -> bool:
    """Whether a value is None, "", [] or {}, which are all correct where nothing is expected."""
    return value is None or (isinstance(value, (str, list, dict)) and not value)


class Node:
    """A node of a tree, which holds a value and compares it with a predicted value."""

    __slots__ = ("size", "value")
    text: str | None = None  # the normalized string of a leaf

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        self.size = size  # the number of leaves

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        """Compare this reference with a prediction of any kind."""
        raise NotImplementedError

    def mismatch(self, prediction: Node) -> Pair:
        """Compare this reference with a prediction of a different kind, which scores 0."""
        return Pair(self, prediction, [0.0], max(self.size, prediction.size), False)


class Pair(NamedTuple):
    """The result of comparing a reference with a prediction."""

    reference: Node  # if there are alternatives, the chosen one
    prediction: Node
    scores: Sequence[float]  # the scores of the leaves, in the order in which they are added
    length: int  # the number by which their sum is divided
    same: bool  # whether the closest accepted value equals the prediction
    parts: Sequence[Pair] = ()  # the pairs inside; for a dict, in the order of its keys
    places: Sequence[Place] = ()  # for a list, the row and column of each part

    @property
    def average(self) -> float:
        """The sum of the scores divided by the length, or 1 if nothing is expected and nothing is given."""
        return average(self.scores, self.length)

    @property
    def weight(self) -> float:
        """The weight of this pair in a matching, which is its average, raised by one bit if both sides are equal."""
        return math.nextafter(self.average, math.inf) if self.same else self.average

    def is_same_inside(self) -> bool:
        """Whether both sides are equal as parts of a list or dict, where Python treats nan as equal to itself."""
        return self.same or self.reference.value is self.prediction.value


class Nothing(Node):
    """The absence of a value in a reference or a prediction."""

    __slots__ = ()

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        if says_nothing(prediction.value):
            return Pair(self, prediction, [1.0], 1, True)
        return self.mismatch(prediction)


NOTHING = Nothing(None, 1)  # stands for every None and every missing key


class Scalar(Node):
    """A string, a number or a bool, which is compared as a string under the variant "standard"."""

    __slots__ = ("text",)
    text: str
    size = 1

    def __init__(self, value: Any) -> None:
        self.value = value
        self.text = " ".join(str(value).lower().split())

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        if prediction.text is None:
            return self.mismatch(prediction)
        text, other = self.text, prediction.text
        if terms.by_value and are_unquoted_numbers(self.value, prediction.value):
            text, other = write_number(self.value), write_number(prediction.value)
        score = 1.0 if text == other else Levenshtein.normalized_similarity(text, other)
        scores = [score if score >= terms.threshold else 0.0]
        return Pair(self, prediction, scores, 1, self.value == prediction.value)


def are_unquoted_numbers(*values: Any) -> bool:
    """Whether all values are numbers rather than bools or strings."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def write_number(value: float) -> str:
    """Format a number in an exact decimal form that is the same for equal values.

    An int already has this form. A float is given the digits that Python prints, without an exponent or trailing zeros.

    Example:
        >>> write_number(2440.0), write_number(-0.0), write_number(1e-7)
        ('2440', '0', '0.0000001')
    """
    if isinstance(value, float) and math.isfinite(value):
        return format(Decimal(str(value)).normalize(), "f") if value else "0"
    return str(value)


class OneOf(Node):
    """Several accepted values, of which the one with the best score is used. In a tie, a value that equals the
    prediction takes precedence, and then the first value.
    """

    __slots__ = ("options",)

    def __init__(self, value: Any, options: list[Node]) -> None:
        super().__init__(value, max(option.size for option in options))
        self.options = options

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        pairs = [option.compare(prediction, terms) for option in self.options]
        return max(pairs, key=lambda pair: (pair.average, pair.same))


class Dict(Node):
    """A dict whose values are compared with the predicted values of the same keys. A missing key is treated as None."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: dict[Any, Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items.values()])

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        if not isinstance(prediction, Dict):
            return self.mismatch(prediction)
        scores: list[float] = []
        parts: list[Pair] = []
        length, same, predicted = 0, True, prediction.items
        for key, item in self.items.items():
            part = item.compare(predicted.get(key, NOTHING), terms)
            parts.append(part)
            scores += part.scores
            length += part.length
            same = same and (part.is_same_inside() or (key not in predicted and says_nothing(part.reference.value)))
        for _, item in self.find_extra(prediction):
            same = False
            length += terms.count_extra(item)
        return Pair(self, prediction, scores, length, same, parts)

    def find_extra(self, prediction: Dict) -> list[tuple[Any, Node]]:
        """Find the predicted keys that this dict lacks, with their nodes."""
        return [(key, item) for key, item in prediction.items.items() if key not in self.items]
