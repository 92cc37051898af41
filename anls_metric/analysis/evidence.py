"""The evidence for hints: the wrong predictions of a set, and some right predictions for comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any, NamedTuple

from anls_metric.analysis.scored import ScoredBatch
from anls_metric.core.variants import Scorer


class Case(NamedTuple):
    """A prediction with its score, without the record of the row, which can be large.

    Attributes:
        number: the place of the row in the set.
        prediction: the prediction, never None.
        references: the accepted answers.
        score: the score.
        raw: the raw model output, if the prediction was extracted from it; otherwise the prediction.
    """

    number: int
    prediction: Any
    references: Sequence[Any]
    score: float
    raw: Any


def make_cases(scored: ScoredBatch, places: Iterable[int], before: int) -> list[Case]:
    """Make cases from the rows at these places that have a prediction.

    Args:
        scored: some rows of a set.
        places: places in them.
        before: how many rows of the set come before them.
    """
    predictions, references, scores = scored.batch.predictions, scored.batch.references, scored.scores
    raw_texts = scored.batch.written or repeat(None)
    raw = [prediction if text is None else text for prediction, text in zip(predictions, raw_texts)]
    fields = (
        (before + place, predictions[place], references[place], scores[place], raw[place])
        for place in places
        if predictions[place] is not None
    )
    return list(map(tuple.__new__, repeat(Case), fields))  # `map(Case._make, ...)`, in a third of its time


def measure_cases(cases: Iterable[Case]) -> int:
    """Measure the size of cases: their number, plus one for every thousand characters of text."""
    texts = [case.raw for case in cases if isinstance(case.raw, str)]
    return len(texts) + sum(map(len, texts)) // 1000


class _Fields(NamedTuple):
    scorer: Scorer
    rules: str
    total: int
    wrong: Sequence[Case]
    right: Sequence[Case]
    right_count: int
    right_nulls: frozenset[str] = frozenset()
    stuck: frozenset[int] = frozenset()
    all_copied: bool = False
    other_fields: Sequence[str] = ()
    float_count: int = 0
    accepted_number_count: int = 0


class Evidence(_Fields):
    """Cases of a set, or of a sample of it.

    Attributes:
        scorer: the scorer of the set.
        rules: the names of the extraction rules, "" for none.
        total: the number of predictions.
        wrong: the predictions that score less than 1.
        right: some of the predictions that score 1.
        right_count: the number of predictions that score 1.
        right_nulls: the texts of `signs.NULLS` that are the right prediction for some question.
        stuck: the numbers of the wrong predictions that repeat the prediction of the row before, whose accepted answers
            are others.
        all_copied: whether every prediction equals an accepted answer exactly.
        other_fields: other fields of text that could be the prediction.
        float_count: the number of predictions that are floats in the file.
        accepted_number_count: the number of accepted answers that are numbers in the file.
    """

    @cached_property
    def text(self) -> str:
        """The wrong predictions, which must be texts, as one text, because searching it once is faster."""
        return "\0".join([case.prediction for case in self.wrong])

    @cached_property
    def of_other_letters(self) -> list[Case]:
        """The wrong predictions that are not ASCII, or have an accepted answer that is not."""
        if self.text.isascii() and self.references.isascii():
            return []
        return [case for case, text in zip(self.wrong, self._texts_of_cases) if not text.isascii()]

    def find_mark(self, mark: str) -> list[Case]:
        """Find the wrong predictions that contain a mark, or have an accepted answer that does."""
        if mark not in self.text and mark not in self.references:
            return []
        return [case for case, text in zip(self.wrong, self._texts_of_cases) if mark in text]

    @cached_property
    def _texts_of_cases(self) -> list[str]:
        """The prediction of each wrong case, joined with its accepted answers."""
        return ["\0".join((case.prediction, *case.references)) for case in self.wrong]

    @cached_property
    def references(self) -> str:
        """The accepted answers of the wrong predictions, as one text."""
        return "\0".join(chain.from_iterable(case.references for case in self.wrong))

    def sample(self, most: int) -> Evidence:
        """Keep at most this many wrong predictions, evenly spread, and reduce the total by the same factor."""
        few = self.wrong[:: 1 + len(self.wrong) // most]
        return self._replace(wrong=few, total=self.total * len(few) // max(1, len(self.wrong)))

    def only(self, numbers: Collection[int]) -> Evidence:
        """Keep these wrong predictions."""
        return self._replace(wrong=[case for case in self.wrong if case.number in numbers])

    def without(self, numbers: Collection[int]) -> Evidence:
        """Remove these wrong predictions."""
        return self._replace(wrong=[case for case in self.wrong if case.number not in numbers])

    def is_better(self, case: Case, prediction: str, references: Sequence[str]) -> bool:
        """Whether other texts score at least 0.5, and more than the texts of a case."""
        (score,) = self.scorer.score([prediction], [references])
        return case.score < score >= 0.5
