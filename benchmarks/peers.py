"""Other implementations, each as a function of predictions and references, with the definition that it must match."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

Scorer = Callable[[list[str], list[list[str]]], list[float]]
Definition = Callable[[str, list[str]], float]


@cache
def distance(left: str, right: str) -> int:
    """Compute the Levenshtein distance with the textbook algorithm."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def squeezed(text: str) -> str:
    return " ".join(text.strip().lower().split())


def definition(normalize: Callable[[str], str], keeps: Callable[[float], bool]) -> Definition:
    """Make a function that computes the ANLS of one answer in textbook style."""

    def score(prediction: str, accepted: list[str]) -> float:
        pairs = [(normalize(prediction), normalize(reference)) for reference in accepted]
        best = max(1 - distance(*pair) / (max(map(len, pair)) or 1) for pair in pairs)
        return best if keeps(best) else 0.0

    return score


standard = definition(squeezed, lambda similarity: similarity >= 0.5)
strict = definition(squeezed, lambda similarity: 1 - similarity < 0.5)
as_given = definition(str, lambda similarity: similarity > 0.5)


def load_pypi_anls(folder: Path) -> Scorer:
    """Load PyPI anls 0.0.2 from its own folder, since `import anls` loads the built file in the checkout."""
    sys.path.insert(0, str(folder))
    score = importlib.import_module("anls").anls_score
    sys.path.remove(str(folder))
    return lambda predictions, references: [score(*row, 0.5) for row in zip(predictions, references)]


def load_anls_star() -> Scorer:
    score = importlib.import_module("anls_star").anls_score
    return lambda predictions, references: [
        score(tuple(accepted), prediction) for prediction, accepted in zip(predictions, references)
    ]


def load_blog_loop() -> Scorer:
    """The loop of the post "Speeding up Visual Question Answering 10x (Faster ANLS)": no checks, no normalization."""
    edits = importlib.import_module("Levenshtein").distance

    def scores(predictions: list[str], references: list[list[str]]) -> list[float]:
        result = []
        for prediction, accepted in zip(predictions, references):
            best = max(1 - edits(prediction, text) / max(len(prediction), len(text)) for text in accepted)
            result.append(best if best > 0.5 else 0.0)
        return result

    return scores


def load_naive_loop() -> Scorer:
    similarity = importlib.import_module("rapidfuzz.distance.Levenshtein").normalized_similarity

    def scores(predictions: list[str], references: list[list[str]]) -> list[float]:
        result = []
        for prediction, accepted in zip(predictions, references):
            prediction = squeezed(prediction)
            best = max(similarity(prediction, squeezed(text)) for text in accepted)
            result.append(best if best >= 0.5 else 0.0)
        return result

    return scores


# The name of a library -> the function that loads it, and the definition that it must match.
PEERS: dict[str, tuple[Callable[[], Scorer], Definition]] = {
    "anls_star": (load_anls_star, standard),
    "blog's loop over Levenshtein": (load_blog_loop, as_given),
    "naive rapidfuzz loop": (load_naive_loop, standard),
}
FAST = ("blog's loop over Levenshtein", "naive rapidfuzz loop")
