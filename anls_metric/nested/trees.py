"""Values as trees: the kinds of nodes, and how a node of the reference compares with one of the prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.variants import check_threshold
from anls_metric.nested.matching import Place
from anls_metric.nested.row_scores import average, choose

NoneKeys = Literal["counted", "ignored"]


class Rule(NamedTuple):
    """The options of a comparison."""

    threshold: float  # a leaf less similar than that scores 0
    none_key_length: int  # how many leaves a predicted key without a value adds, where the reference has no such key


def make_rule(threshold: float | None, none_keys: NoneKeys) -> Rule:
    """The rule of a call. ValueError: a threshold outside [0, 1], other none_keys."""
    checked = 0.5 if threshold is None else check_threshold(threshold)
    return Rule(checked, 1 if choose(none_keys, NoneKeys, "none_keys") == "counted" else 0)


def says_nothing(value: Any) -> bool:
    """Whether a value is right where nothing is expected."""
    return value is None or (isinstance(value, (str, list, dict)) and not value)


class Node:
    """A value of a tree: what it is, and how it compares with what was predicted."""

    __slots__ = ("size", "value")
    text: str | None = None  # what of a leaf is compared

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        self.size = size  # the number of its leaves

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        """This reference with a prediction of any kind."""
        raise NotImplementedError

    def find_closest(self, pair: Pair) -> Any:
        """What of this reference is closest to the prediction of the pair."""
        return self.value

    def mismatch(self, prediction: Node) -> Pair:
        """This reference with a prediction of another kind: nothing is right."""
        return Pair(self, prediction, [0.0], max(self.size, prediction.size), False)


class Pair:
    """A reference compared with a prediction."""

    __slots__ = ("length", "parts", "places", "prediction", "reference", "same", "scores")

    def __init__(
        self,
        reference: Node,
        prediction: Node,
        scores: list[float],
        length: int,
        same: bool,
        parts: Sequence[Pair | Node] = (),
        places: Sequence[Place] = (),
    ) -> None:
        self.reference = reference  # of several accepted values the one that was chosen
        self.prediction = prediction
        self.scores = scores  # of the leaves, in the order in which they are added
        self.length = length  # by which their sum is divided
        self.same = same  # whether what is closest to the prediction is equal to it
        self.parts = parts  # the pairs inside, a node for one with itself: of a dict in the order of its keys
        self.places = places  # of a list the row and column of each part

    @property
    def average(self) -> float:
        """The sum of the scores over the length; 1 where nothing is expected and nothing given."""
        return average(self.scores, self.length)

    @property
    def weight(self) -> float:
        """How much speaks for this pair when lists are matched: the average, a bit more where nothing differs."""
        return math.nextafter(self.average, math.inf) if self.same else self.average

    @property
    def closest(self) -> Any:
        """What of the reference is closest to the prediction."""
        return self.reference.find_closest(self)

    @property
    def inside(self) -> list[Pair]:
        """The parts, as pairs."""
        return [part if isinstance(part, Pair) else Pair(part, part, [1.0], 1, True) for part in self.parts]

    def sort_by_column(self) -> list[Pair]:
        """The parts of a list, in the order of the prediction."""
        return [part for _, part in sorted(zip(self.places, self.inside), key=lambda placed: placed[0][1])]

    def is_same_inside(self) -> bool:
        """Whether nothing differs for a list or dict around it, where nan is equal to itself."""
        return self.same or self.reference.value is self.prediction.value


class Nothing(Node):
    """No value: nothing is expected, or nothing was given."""

    __slots__ = ()

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        if says_nothing(prediction.value):
            return Pair(self, prediction, [1.0], 1, True)
        return self.mismatch(prediction)

    def find_closest(self, pair: Pair) -> Any:
        return pair.prediction.value if pair.same else None


NOTHING = Nothing(None, 1)  # each None, and what stands for a key that is not there


class Scalar(Node):
    """A text, a number or a bool. All are compared as texts, as the variant "standard" compares them."""

    __slots__ = ("text",)
    text: str
    size = 1

    def __init__(self, value: Any, text: str) -> None:
        self.value = value
        self.text = " ".join(text.lower().split())

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        text, other = self.text, prediction.text
        if other is None:
            return self.mismatch(prediction)
        score = 1.0 if text == other else 1 - Levenshtein.distance(text, other) / max(len(text), len(other))
        scores = [score if score >= rule.threshold else 0.0]
        return Pair(self, prediction, scores, 1, self.value == prediction.value)


class Text(Scalar):
    """A leaf that is a text: one node for all places in both values where that text stands."""

    __slots__ = ()


class OneOf(Node):
    """Several accepted values: the best one counts, of equally good ones the one that is equal, then the first."""

    __slots__ = ("options",)

    def __init__(self, value: Any, options: list[Node]) -> None:
        super().__init__(value, max(option.size for option in options))
        self.options = options

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        pairs = []
        for option in self.options:
            pairs.append(option.compare(prediction, rule))
        return max(pairs, key=lambda pair: (pair.average, pair.same))


class Dict(Node):
    """Values by key: each is compared with the predicted one, with None where either has no such key."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: dict[Any, Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items.values()])

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        if not isinstance(prediction, Dict):
            return self.mismatch(prediction)
        scores: list[float] = []
        parts: list[Pair | Node] = []
        length, same, predicted = 0, True, prediction.items
        for key, item in self.items.items():
            other = predicted.get(key, NOTHING)
            if item is other:
                parts.append(item)
                scores.append(1.0)
                length += 1
                continue
            part = item.compare(other, rule)
            parts.append(part)
            scores += part.scores
            length += part.length
            same = same and (part.is_same_inside() or (key not in predicted and says_nothing(part.reference.value)))
        for _, item in () if predicted.keys() <= self.items.keys() else self.find_extra(prediction):
            same = False
            if says_nothing(item.value):
                length += rule.none_key_length
            else:
                scores.append(0.0)
                length += max(1, item.size)
        return Pair(self, prediction, scores, length, same, parts)

    def find_closest(self, pair: Pair) -> Any:
        if not isinstance(pair.prediction, Dict):
            return self.value
        values = {key: part.closest for key, part in zip(self.items, pair.inside)}
        predicted = pair.prediction.items
        return {key: value for key, value in values.items() if key in predicted or not says_nothing(value)} | {
            key: None for key, item in self.find_extra(pair.prediction) if not says_nothing(item.value)
        }

    def find_extra(self, prediction: Dict) -> list[tuple[Any, Node]]:
        """What is predicted under keys that are not here."""
        return [(key, item) for key, item in prediction.items.items() if key not in self.items]
