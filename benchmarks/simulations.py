"""Simulates what docs/statistics.md says of intervals, tests and effects: ``python benchmarks/simulations.py``.

Each sample draws documents, with replacement, from a made-up set whose true scores are known. The documents of a set
are easy or hard, have one or many questions, and are answered by two models, which tend to miss the same questions.
Further parts have equally good models of which one loses whole documents where the other loses single questions, and
equal methods whose runs differ by their seeds. With a gold file and a submission as arguments, the documents are those
of real answers, and only the interval of the score is simulated.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from anls_metric import differences, interval, mean, minimum_detectable_effect, paired_test, score
from anls_metric.core.statistics import significance
from anls_metric.core.statistics.significance import welch_bound

RESULTS = Path(__file__).with_suffix(".json")
SAMPLES, TESTS = 2_000, 1_000
DOCUMENTS = (5, 10, 30, 100, 200, 1_000)
MEANS = (0.5, 0.92, 0.98)
SET = 2_000
"""The number of documents of a made-up set."""

Document = list[tuple[float, float]]
"""The scores of two models for each question of a document."""

# The number of questions of a document, by the name of the design.
SIZES: dict[str, Callable[[random.Random], int]] = {
    "one question": lambda chance: 1,
    "1 to 5 questions": lambda chance: chance.randint(1, 5),
    "1 to 60 questions": lambda chance: min(60, 1 + int(chance.expovariate(1 / 6))),
}
PARTS = ("scores", "differences", "power", "documents", "seeds")
LARGEST = 3_000
"""Larger samples, of questions, are left out: the table says enough without them."""


def make_documents(chance: random.Random, center: float, size: str, better: float = 0.0) -> list[Document]:
    """Make a set. Of the wrong answers of the first model, the second gives a share right: `better`.

    The share of right answers differs between documents by a beta distribution with an intraclass correlation of 0.2.
    A quarter of the wrong answers are nearly right, and score 0.8.
    """
    right = (center - 0.2) / 0.8

    def answer(quality: float) -> float:
        if chance.random() < quality:
            return 1.0
        return 0.8 if chance.random() < 0.25 else 0.0

    documents = []
    for _ in range(SET):
        both = chance.betavariate(4 * right, 4 * (1 - right))
        document: Document = []
        for _ in range(SIZES[size](chance)):
            first = answer(both)
            second = first if chance.random() < 0.5 else answer(both)
            document.append((first, 1.0 if second < 1.0 and chance.random() < better else second))
        documents.append(document)
    return documents


def draw(chance: random.Random, documents: Sequence[Document], count: int) -> tuple[list[Any], list[int]]:
    """Draw documents, and return the scores of both models and the document of each question."""
    drawn = chance.choices(documents, k=count)
    clusters = [number for number, document in enumerate(drawn) for _ in document]
    return list(zip(*chain.from_iterable(drawn))), clusters


def find_means(documents: Iterable[Document]) -> tuple[float, float]:
    """Compute the true scores of both models."""
    first, second = zip(*chain.from_iterable(documents))
    return mean(first), mean(second)


def cover_score(chance: random.Random, documents: Sequence[Document], count: int) -> dict[str, float]:
    """Simulate the interval of a score: the share that contains the true score, and the mean width."""
    truth, _ = find_means(documents)
    found = [
        interval(first, clusters) for (first, _), clusters in (draw(chance, documents, count) for _ in range(SAMPLES))
    ]
    return {
        "interval": mean([low <= truth <= high for low, high in found]),
        "width": mean([high - low for low, high in found]),
    }


def cover_difference(chance: random.Random, documents: Sequence[Document], count: int) -> dict[str, float]:
    """Simulate the interval of a difference, and the test of models that are equally good: either may be the first."""
    before, after = find_means(documents)
    hits, alarms = [], []
    for _ in range(TESTS):
        (first, second), clusters = draw(chance, documents, count)
        low, high = differences(first, second, clusters).interval()
        hits.append(low <= after - before <= high)
        swaps = [chance.random() < 0.5 for _ in range(count)]
        pairs = [pair[::-1] if swaps[own] else pair for pair, own in zip(zip(first, second), clusters)]
        alarms.append(paired_test(*zip(*pairs), clusters) < 0.05)
    return {"difference": mean(hits), "false_alarms": mean(alarms)}


def find_power(size: str, count: int) -> dict[str, Any]:
    """Find models whose difference is the effect that is said to be detectable, and count how often it is detected."""
    least, most = 0.0, 1.0
    for _ in range(8):
        better = (least + most) / 2
        chance = random.Random(0)
        documents = make_documents(chance, 0.8, size, better)
        before, after = find_means(documents)
        samples = [draw(chance, documents, count) for _ in range(TESTS // 2)]
        effect = mean([minimum_detectable_effect(*scores, clusters) for scores, clusters in samples])
        least, most = (better, most) if after - before < effect else (least, better)
    detected = mean([paired_test(*scores, clusters) < 0.05 for scores, clusters in samples])
    return {"size": size, "documents": count, "effect": effect, "difference": after - before, "detected": detected}


def lose_documents(chance: random.Random, count: int) -> float:
    """Count how often a model that loses whole documents of unequal size, where an equally good one loses single
    questions, is called different.
    """
    alarms = []
    for _ in range(TESTS):
        first, second, clusters = [], [], []
        for number in range(count):
            is_lost = chance.random() < 0.2
            for _ in range(SIZES["1 to 60 questions"](chance)):
                first.append(float(chance.random() >= 0.2))
                second.append(float(not is_lost))
                clusters.append(number)
        alarms.append(paired_test(first, second, clusters) < 0.05)
    return mean(alarms)


def turn_by_seeds(chance: random.Random, runs: int, spread: float = 0.02) -> dict[str, Any]:
    """Count how often two equal methods whose scores differ by their seeds get a verdict, and how often it comes
    without the warning that other seeds could turn it.
    """
    verdicts, certain = [], []
    for _ in range(TESTS):
        methods = []
        for _ in range(2):
            qualities = [chance.gauss(0.8, spread) for _ in range(runs)]
            methods.append([[float(chance.random() < quality) for _ in range(1_000)] for quality in qualities])
        scores = [[mean(answers) for answers in zip(*own)] for own in methods]
        between = differences(*scores)
        bound = welch_bound(*([mean(run) for run in own] for own in methods))
        verdicts.append(between.p_value() < 0.05)
        certain.append(verdicts[-1] and abs(between.mean) >= (bound or 0.0))
    return {"runs": runs, "verdicts": mean(verdicts), "without_a_warning": mean(certain)}


def simulate(parts: set[str], known: dict[str, Any]) -> dict[str, Any]:
    """Simulate all designs of the parts that are asked for; the results of the others are known."""
    significance.FLIPS = 999  # equally valid, and ten times as fast
    found: dict[str, Any] = {**known, "samples": SAMPLES, "tests": TESTS}
    if parts & {"scores", "differences"}:
        found["rows"] = _cover_all(parts, known.get("rows", ()))
    if "power" in parts:
        found["power"] = [find_power(size, count) for size in SIZES for count in (30, 100)]
    if "documents" in parts:
        chance = random.Random("documents")
        rows = [{"documents": count, "false_alarms": lose_documents(chance, count)} for count in (30, 100)]
        found["whole_documents"] = rows
    if "seeds" in parts:
        found["seeds"] = [turn_by_seeds(random.Random(runs), runs) for runs in (1, 3, 5)]
    return found


def _cover_all(parts: set[str], known: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Simulate the intervals of scores, or those of differences and the tests, of all designs."""
    rows = {(row["size"], row["documents"], row["mean"]): row for row in known}
    simulations = {"scores": cover_score, "differences": cover_difference}
    for size in SIZES:
        for center in MEANS:
            documents = make_documents(random.Random(f"{size} {center}"), center, size)
            questions = sum(map(len, documents)) / SET
            for count in DOCUMENTS:
                if count * questions <= LARGEST:
                    row = rows.setdefault((size, count, center), {"size": size, "documents": count, "mean": center})
                    for part in sorted(parts & {*simulations}):
                        row |= simulations[part](random.Random(f"{part} {size} {center} {count}"), documents, count)
                    print(row, flush=True)
    return list(rows.values())


def cover_answers(gold: str, submission: str) -> None:
    """Print the coverage of samples of documents, and of single questions, of real answers."""
    (scored,) = score(submission, gold=gold).submissions.values()
    names = scored.clusters.names if scored.clusters else [None] * len(scored.scores)
    documents: dict[Any, Document] = {}
    for number, (name, own) in enumerate(zip(names, scored.scores)):
        documents.setdefault(number if name is None else name, []).append((own, own))
    alone = [[pair] for document in documents.values() for pair in document]
    for what, drawn in (("documents", list(documents.values())), ("questions", alone)):
        for count in DOCUMENTS:
            found = cover_score(random.Random(count), drawn, count)
            print(f"{count:5} {what}: {found['interval']:.1%} of intervals, mean width {found['width']:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="a gold file and a submission")
    parser.add_argument("--parts", default=",".join(PARTS), help="the tables to simulate; the others stay as they are")
    flags = parser.parse_args()
    if flags.files:
        cover_answers(*flags.files)
    else:
        known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        found = simulate({*flags.parts.split(",")}, known)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
