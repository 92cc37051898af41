"""Finds problems in files that can be scored, and says what to do about them.

A hint never changes a score. It warns that the score seems to depend on how a file is written rather than on how well
the questions are answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, cast

from anls_metric.analysis.evidence import Case, Evidence, make_cases, measure_cases
from anls_metric.analysis.scored import ScoredBatch, ScoredRow
from anls_metric.analysis.sign import Sign
from anls_metric.analysis.signs import NULLS, PADDING, RULE_SIGNS, SIGNS, VALUE_SIGNS
from anls_metric.core.variants import Scorer, Variant, get_variant
from anls_metric.reading.remedies import Door, Remedy


class Hint(NamedTuple):
    """A reason to doubt a score, and what to do about it. As a string it has the words for Python.

    Attributes:
        key: the key of the sign, or of another cause.
        text: what looks wrong, and in how many predictions.
        remedy: what to do: a row of `remedies`, or a sentence that fits every door; "" for nothing.
        value: the value that the remedy names, such as rules or a separator; "" if it names none.

    Example:
        >>> from anls_metric.reading import remedies
        >>> hint = Hint("wrapped", "9 of 10 predictions look like raw model output", remedies.EXTRACT, "think,final")
        >>> print(hint)
        9 of 10 predictions look like raw model output: extract the answers with extract="think,final"
        >>> hint.format_for("command")
        '9 of 10 predictions look like raw model output: extract the answers with --extract think,final'
    """

    key: str
    text: str
    remedy: Remedy | str = ""
    value: str = ""

    def format_for(self, door: Door) -> str:
        """Format the hint with the remedy in the words of a door."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy.format_for(door, self.value)
        return ": ".join(filter(None, [self.text, remedy]))

    def __str__(self) -> str:
        return self.format_for("python")


class Hints:
    """Collects hints about scored rows that are added in batches.

    It keeps wrong predictions and some right ones. If there are too many, it keeps only every second piece of 1,024
    rows, then every fourth, and so on; a hint then says that it is about a sample.

    Args:
        scorer: the scorer of the rows: the name of a variant, or any `Scorer`.
        extract: the extraction rules in use, as `extractor` takes them.

    Example:
        >>> from anls_metric.analysis.scored import ScoredSet
        >>> from anls_metric.reading.batch import Row
        >>> hints = Hints()
        >>> hints.add(ScoredSet().add([Row("7", "<think>A logo.</think>Coca Cola", ["Coca Cola"], {})]))
        >>> [(hint.text, hint.value) for hint in hints.conclude()]
        [('1 of 1 predictions look like raw model output', 'think')]
    """

    def __init__(self, scorer: str | Scorer = "standard", extract: str = "") -> None:
        self._scorer = get_variant(scorer) if isinstance(scorer, str) else scorer
        self._of_texts = isinstance(self._scorer, Variant)
        self._extract = extract
        self._rows = self._number = self._size = 0
        self._step = 1
        # The number of a piece -> how many predictions it has, the wrong ones, and some of the right ones.
        self._pieces: dict[int, tuple[int, list[Case], list[Case]]] = {}
        self._right_nulls: frozenset[str] = frozenset()
        self._stuck: set[int] = set()
        self._all_copied = True

    def add(self, scored: Sequence[ScoredRow]) -> None:
        """Examine a batch. Rows without a prediction do not count."""
        for start in range(0, len(scored), _PIECE):
            rows = ScoredBatch.of(scored[start : start + _PIECE])
            if self._number % self._step == 0:
                self._keep(rows)
            self._rows += len(rows)
            self._number += 1

    def _keep(self, rows: ScoredBatch) -> None:
        scores = rows.scores
        low = [place for place, score in enumerate(scores) if score < 1.0]
        wrong = make_cases(rows, low, self._rows)
        step = 1 + len(rows) // _RIGHT
        predictions, references = rows.batch.predictions, rows.batch.references
        places = set(range(0, len(rows), step))
        if self._of_texts and not PADDING.isdisjoint(cast("Sequence[str]", predictions)):
            places.update(place for place, text in enumerate(predictions) if text in PADDING and any(references[place]))
        right = make_cases(rows, (place for place in sorted(places) if scores[place] >= 1.0), self._rows)
        self._pieces[self._number] = len(rows) - len(low) + len(wrong), wrong, right
        if self._of_texts and not NULLS.isdisjoint(cast("Sequence[str]", predictions)):
            self._right_nulls |= NULLS & {text for text, score in zip(predictions, scores) if score >= 1.0}
        self._stuck.update(
            self._rows + place
            for place in (low if self._of_texts else ())
            if place and predictions[place] and predictions[place] == predictions[place - 1]
            if set(references[place]).isdisjoint(references[place - 1])
        )
        self._all_copied = self._all_copied and not wrong and all(map(_is_copied, rows))
        self._size += measure_cases(chain(wrong, right))
        while len(self._pieces) > 1 and self._size > _MOST:
            self._step *= 2
            self._pieces = {number: piece for number, piece in self._pieces.items() if number % self._step == 0}
            self._size = sum(measure_cases(chain(wrong, right)) for _, wrong, right in self._pieces.values())

    def conclude(
        self, other_fields: Sequence[str] = (), float_count: int = 0, accepted_number_count: int = 0
    ) -> list[Hint]:
        """Return a hint for each sign that enough predictions show, in the order of the table.

        Args:
            other_fields: other text fields of the answers that could be the prediction.
            float_count: how many predictions are floats in the file.
            accepted_number_count: how many accepted answers are numbers in the file.
        """
        totals, *columns = zip(*self._pieces.values()) if self._pieces else ((), (), ())
        wrong, right = (list(chain.from_iterable(column)) for column in columns)
        total = sum(totals)
        evidence = Evidence(
            self._scorer,
            self._extract,
            total,
            wrong,
            right,
            total - len(wrong),
            self._right_nulls,
            frozenset(self._stuck),
            self._all_copied,
            other_fields,
            float_count,
            accepted_number_count,
        )
        few = evidence.sample(_FEW)
        hints, sampled = [], " sampled" * (self._step > 1)
        for sign in SIGNS if self._of_texts else RULE_SIGNS if self._scorer.columns else VALUE_SIGNS:
            signed = sign.find(evidence) if _may_show(sign, evidence, few) else {}
            value, count = Counter(signed.values()).most_common(1)[0] if signed else ("", 0)
            if count >= max(sign.least, sign.share * total):
                text = f"{count:,} of {total:,}{sampled} {sign.text.format(value=value)}"
                hints.append(Hint(sign.key, text, sign.remedy, value))
                evidence = evidence.without(signed)
                few = evidence.sample(_FEW)
        return hints


def _is_copied(scored: ScoredRow) -> bool:
    """Whether a prediction equals an accepted answer exactly, and no rules extracted it."""
    row = scored.row
    return row.prediction is None or (row.prediction in row.references and row.written in (None, row.prediction))


def _may_show(sign: Sign, evidence: Evidence, few: Evidence) -> bool:
    """Whether enough predictions are wrong; for a sign with a share, whether a few predictions show half this share."""
    enough = evidence.all_copied or len(evidence.wrong) >= max(sign.least, sign.share * evidence.total)
    return enough and (not sign.share or len(sign.find(few)) >= 0.5 * sign.share * few.total)


_FEW = 200  # wrong predictions that are examined first
_PIECE = 1024  # rows that are kept or dropped together
_MOST = 8192  # cases that are kept
_RIGHT = 32  # rows of each piece whose right predictions are kept
