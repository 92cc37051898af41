"""Explains a score with the distance to each reference, the edits and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.strings.kernel import Kernel

__all__ = ["Edit", "Explanation", "Match"]

Reason = Literal["equal", "close enough", "under the threshold", "nothing in common", "empty"]


class Edit(NamedTuple):
    """One step from the normalized prediction to the normalized reference.

    Attributes:
        operation: "equal", "replace", "delete" (from the prediction) or "insert" (into the prediction).
        prediction: the characters of the prediction; "" for "insert".
        reference: the characters of the reference; "" for "delete".
    """

    operation: str
    prediction: str
    reference: str


class Match(NamedTuple):
    """The comparison of a prediction with one reference.

    Attributes:
        reference: the reference, as given.
        normalized_prediction: the prediction after normalization.
        normalized_reference: the reference after normalization.
        distance: the Levenshtein distance between the normalized strings.
        length: the length by which the distance is divided.
    """

    reference: str
    normalized_prediction: str
    normalized_reference: str
    distance: int
    length: int

    @property
    def ratio(self) -> float:
        """The normalized Levenshtein distance: distance / length, or 0 for two empty strings."""
        return self.distance / self.length if self.length else 0.0

    @property
    def similarity(self) -> float:
        """The normalized Levenshtein similarity, 1 - distance / length, before any threshold."""
        return 1 - self.ratio

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the normalized prediction to the normalized reference.

        Joining the ``prediction`` of all steps gives the normalized prediction, and joining the ``reference`` of all
        steps gives the normalized reference.
        """
        answer, accepted = self.normalized_prediction, self.normalized_reference
        return tuple(
            Edit(step.tag, answer[step.src_start : step.src_end], accepted[step.dest_start : step.dest_end])
            for step in Levenshtein.opcodes(answer, accepted)
        )


@dataclass(frozen=True)
class Explanation:
    """An explanation of the score of an answer. Its string form is one plain sentence.

    Attributes:
        prediction: the answer, as given.
        matches: the comparisons of the answer with each reference, in the order of the references.
        winner: the index of the closest reference in ``matches``.
        score: the score, from 0 to 1.
        reason: "equal", "close enough", "under the threshold", "empty" or, if there is no threshold, "nothing in
            common".
        variant: the variant that computed the score, with the threshold and case of the call.
    """

    prediction: str
    matches: tuple[Match, ...]
    winner: int
    score: float
    reason: Reason
    variant: Any  # a `Variant`, whose module imports this one

    @property
    def best(self) -> Match:
        """The match with the closest reference."""
        return self.matches[self.winner]

    @property
    def normalized_prediction(self) -> str:
        """The answer after normalization."""
        return self.best.normalized_prediction

    @property
    def closest(self) -> str:
        """The closest reference, as given."""
        return self.best.reference

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the normalized prediction to the normalized form of the closest reference."""
        return self.best.edits

    @property
    def signature(self) -> str:
        """The signature to report with the score."""
        return str(self.variant.signature())

    def __str__(self) -> str:
        return self._put_into_words(NOTES)

    def _repr_html_(self) -> str:
        """Return HTML for a notebook, with the sentence and the edits from the prediction to the closest reference."""
        from html import escape  # slow to import

        shown = [
            "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in (("del", edit[1]), ("ins", edit[2])) if text)
            if edit.operation != "equal"
            else escape(edit.prediction)
            for edit in self.edits
        ]
        edits = f"<p style='white-space: pre-wrap'>{''.join(shown)}</p>" if self.best.distance else ""
        return f"<p>{escape(str(self))}</p>{edits}"

    @property
    def sentence(self) -> str:
        """A sentence that explains the score as a percentage, for a page that shows the reference beside the answer."""
        return self._put_into_words(SENTENCES, in_percent=True)

    def _put_into_words(self, words: Mapping[str, str], in_percent: bool = False) -> str:
        best, threshold = self.best, self.variant.threshold
        key: str = self.reason
        if key == "equal" and self.prediction != best.reference:
            key = "alike"
        elif key == "empty":
            key = "no answer" if self.normalized_prediction else "blank"
        facts = {
            "why": self,
            "best": best,
            "s": "s" * (best.distance != 1),
            "characters": f"{best.length:,} character{'s' * (best.length != 1)}",
            "similarity": _tell_apart(best.similarity, threshold, in_percent),
            "ratio": _tell_apart(best.ratio, threshold, in_percent),
            "threshold": _tell_apart(threshold, best.similarity, in_percent),
            "so_1": (", so 100%" if in_percent else ", so 1") * (self.score == 1.0),
        }
        keeps, fails = (words.format(**facts) for words in KEPT_WORDS[self.variant.kept])
        return words[key].format(**facts, keeps=keeps, fails=fails)


NOTES: Mapping[str, str] = {
    "equal": "equal to {best.reference!r}, so 1",
    "alike": "equal to {best.reference!r}, so 1",
    "blank": "the prediction is empty, so 0",
    "no answer": "{why.prediction!r} counts as no answer, so 0",
    "nothing in common": "nothing in common with {best.reference!r}, so 0",
    "close enough": "{best.distance:,} edit{s} on {characters} from {best.reference!r}: similarity {similarity}{keeps}"
    "{so_1}",
    "under the threshold": "{best.distance:,} edit{s} on {characters} from {best.reference!r}: similarity {similarity}"
    "{fails}, so 0",
}
"""The lines for a terminal, keyed by the reason for the score."""

SENTENCES: Mapping[str, str] = {
    "equal": "Equal to a reference, so 100%.",
    "alike": "Equal to a reference once normalized, so 100%.",
    "blank": "The prediction is empty, so 0.",
    "no answer": "By {why.variant.name}, “{why.normalized_prediction}” is no answer, so 0.",
    "nothing in common": "Nothing in common with any reference, so 0.",
    "close enough": "{best.distance:,} edit{s} on {characters}: similarity {similarity}{keeps}{so_1}.",
    "under the threshold": "{best.distance:,} edit{s} on {characters}: similarity {similarity}{fails}, so 0.",
}
"""The sentences for a page, keyed by the reason for the score."""

# The rule that keeps a similarity -> the words for a similarity that is kept and for one that is not.
KEPT_WORDS: Mapping[str, tuple[str, str]] = {
    "similarity >= threshold": (", at least the threshold of {threshold}", " is below the threshold of {threshold}"),
    "similarity > threshold": (", above the threshold of {threshold}", " is not above the threshold of {threshold}"),
    "distance / length < threshold": (
        ", and distance / length {ratio} is below the threshold of {threshold}",
        ", but distance / length {ratio} is not below the threshold of {threshold}",
    ),
}


def format_number(value: float) -> str:
    """Format a number the way people write it, such as 0, 1, 0.5 or 0.8889."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def format_percent(value: float) -> str:
    """Format a score for a page, such as 0%, 100%, 50% or 88.9%."""
    return f"{100 * value:.1f}%".replace(".0%", "%")


def _tell_apart(value: float, other: float, in_percent: bool) -> str:
    """Format a number with enough digits to distinguish it from `other`."""
    short, shown = map(format_percent if in_percent else format_number, (value, other))
    if value == other or short != shown:
        return short
    return f"{100 * value:.15g}%" if in_percent else repr(value)


def match_texts(prediction: str, reference: str, kernel: Kernel) -> Match:
    """Compare a prediction with one reference."""
    answer, accepted = kernel.normalize(prediction), kernel.normalize(reference)
    length = max(kernel.prediction_length(prediction, answer), kernel.reference_length(reference, accepted))
    return Match(reference, answer, accepted, Levenshtein.distance(answer, accepted), length)


def explain_texts(prediction: str, references: Sequence[str], variant: Any, kernel: Kernel) -> Explanation:
    """Score a prediction in plain steps and explain the score. The strings must already have been checked."""
    matches = tuple(match_texts(prediction, text, kernel) for text in references)
    ratios = [match.ratio for match in matches]
    best = matches[winner := ratios.index(min(ratios))]
    score = kernel.keep(best.normalized_prediction, best.normalized_reference, best.ratio)
    return Explanation(prediction, matches, winner, score, _find_reason(best, score, kernel), variant)


def _find_reason(best: Match, score: float, kernel: Kernel) -> Reason:
    """Find the reason for a score, given the match with the closest reference."""
    answer = best.normalized_prediction
    if score:
        return "close enough" if best.ratio else "equal"
    if not answer or answer in kernel.no_answers:
        return "empty"
    # Without a threshold, the limits are 0 and 1, or the next numbers above and below.
    return "nothing in common" if kernel.low < 1e-300 and kernel.high > 1 - 1e-15 else "under the threshold"
