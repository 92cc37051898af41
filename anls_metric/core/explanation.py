"""Why an answer has its score: the distance to each accepted answer, the edits, and a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.kernel import Kernel, keep_similarity

if TYPE_CHECKING:
    from anls_metric.core.variants import Variant

__all__ = ["Edit", "Explanation", "Match"]

Reason = Literal["equal", "close enough", "under the threshold", "nothing in common", "empty"]


class Edit(NamedTuple):
    """One step from the normalized prediction to the normalized reference.

    ``operation`` is "equal", "replace", "delete" (from the prediction) or "insert" (into it);
    ``prediction`` and ``reference`` are the characters that it concerns on each side.
    """

    operation: str
    prediction: str
    reference: str


@dataclass(frozen=True)
class Match:
    """How a prediction compares with one accepted answer.

    Attributes:
        reference: the accepted answer, as given.
        normalized_prediction: what of the prediction is compared.
        normalized_reference: what of the accepted answer is compared.
        distance: the Levenshtein distance between the normalized texts.
        length: what the distance is divided by.
    """

    reference: str
    normalized_prediction: str
    normalized_reference: str
    distance: int
    length: int

    @property
    def ratio(self) -> float:
        """The normalized Levenshtein distance: distance / length, 0 for two empty texts."""
        return self.distance / self.length if self.length else 0.0

    @property
    def similarity(self) -> float:
        """The normalized Levenshtein similarity, 1 - distance / length, before any threshold."""
        return 1 - self.ratio

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the normalized prediction to the normalized reference.

        Joined, their texts give both back.
        """
        answer, accepted = self.normalized_prediction, self.normalized_reference
        return tuple(
            Edit(step.tag, answer[step.src_start : step.src_end], accepted[step.dest_start : step.dest_end])
            for step in Levenshtein.opcodes(answer, accepted)
        )


@dataclass(frozen=True)
class Explanation:
    """Why an answer has its score; as a string, one plain sentence.

    Attributes:
        prediction: the answer, as given.
        normalized_prediction: what of it is compared.
        matches: how it compares with each accepted answer, in their order.
        winner: which of them is the closest: its place in ``matches``.
        score: the score, from 0 to 1.
        reason: "equal", "close enough", "under the threshold", "empty", or, where there is no threshold,
            "nothing in common".
        variant: the variant that gave it, with the threshold and case of the call.
    """

    prediction: str
    normalized_prediction: str
    matches: tuple[Match, ...]
    winner: int
    score: float
    reason: Reason
    variant: Variant

    @property
    def best(self) -> Match:
        """The match that won."""
        return self.matches[self.winner]

    @property
    def signature(self) -> str:
        """Which ANLS the score is."""
        return self.variant.signature()

    def __str__(self) -> str:
        best, threshold = self.best, repr(self.variant.threshold)
        if self.reason == "equal":
            return f"equal to {best.reference!r}, so 1"
        if self.reason == "empty" and not self.normalized_prediction:
            return "the prediction is empty, so 0"
        if self.reason == "empty":
            return f"{self.prediction!r} counts as no answer, so 0"
        if self.reason == "nothing in common":
            return f"nothing in common with {best.reference!r}, so 0"
        edits = f"{best.distance} edit{'s' * (best.distance != 1)} on {best.length} characters"
        measured, rule = f"similarity {best.similarity:.4f}", self.variant.kept.replace("threshold", threshold)
        kept = "is kept" if self.score else "is not kept, so 0"
        if self.variant.all_or_nothing and self.score:
            kept += ", so 1"
        return f"{edits} from {best.reference!r}: {measured} {kept} ({rule})"


def match_texts(prediction: str, reference: str, kernel: Kernel) -> Match:
    """How a prediction compares with one accepted answer."""
    answer, accepted = kernel.normalize(prediction), kernel.normalize(reference)
    length = max(kernel.prediction_length(prediction, answer), kernel.reference_length(reference, accepted))
    return Match(reference, answer, accepted, Levenshtein.distance(answer, accepted), length)


def reason_of(answer: str, score: float, kernel: Kernel) -> Reason:
    """Why a normalized answer has its score."""
    if score == 1.0 and not kernel.all_or_nothing:
        return "equal"
    if score > 0.0:
        return "close enough"
    if not answer or answer in kernel.no_answers:
        return "empty"
    all_is_kept = kernel.low <= math.nextafter(0.0, 1.0) and kernel.high >= math.nextafter(1.0, 0.0)
    return "nothing in common" if all_is_kept else "under the threshold"


def explain_texts(prediction: str, references: Sequence[str], variant: Variant, kernel: Kernel) -> Explanation:
    """Why a checked prediction has its score, in plain steps."""
    matches = tuple(match_texts(prediction, text, kernel) for text in references)
    winner = min(range(len(matches)), key=lambda place: matches[place].ratio)
    best, answer = matches[winner], kernel.normalize(prediction)
    score = keep_similarity(answer, best.normalized_reference, best.ratio, kernel)
    why = "equal" if score and not best.ratio else reason_of(answer, score, kernel)
    return Explanation(prediction, answer, matches, winner, score, why, variant)
