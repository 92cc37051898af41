"""Scored sets of lists and nested values: what they have otherwise than those of texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.clusters import cluster_column
from anls_metric.analysis.hints import Hint
from anls_metric.analysis.outcomes import OUTCOMES, Judge
from anls_metric.analysis.scored import Scored, ScoredSet, Tally
from anls_metric.analysis.significance import Interval, Sample
from anls_metric.core.scoring import normalizer
from anls_metric.reading.extract import extractor
from anls_metric.reading.rows import Row
from anls_metric.reading.values import as_json, value_or_text

if TYPE_CHECKING:
    from anls_metric.nested import KeyScore, RowScore, StarExplanation, ValueVariant

KEYS = "key of the value"
"""The group of the scores of keys, in `ScoredValues.groups`."""


class ScoredValues(ScoredSet):
    """What is known of scored rows whose answers are lists and nested values.

    Args:
        variant: which score: a name or a `ValueVariant`, as `nested.get_value_variant` gives it.
        by_key: whether to have the mean score of each key of the values, as the groups of `KEYS`.
        **options: as `ScoredSet` takes them.

    Example:
        >>> scored_values = ScoredValues(by_key=True)
        >>> rows = [Row("7", {"total": "12.5"}, [{"total": "12.50"}], {}), Row("8", ["tea"], [["tea", "milk"]], {})]
        >>> [scored.score for scored in scored_values.add(rows)]
        [0.8, 0.5]
        >>> {key: tally.mean for key, tally in scored_values.groups[KEYS].items()}
        {'total': 0.8}
    """

    variant: ValueVariant

    def __init__(self, variant: str | ValueVariant = "anls_star", by_key: bool = False, **options: Any) -> None:
        super().__init__(variant, **options)  # type: ignore[arg-type]
        self._by_key = by_key
        self._leaves: list[tuple[RowScore, Row]] = []  # where the mean is one of leaves, which need them all
        if by_key:
            self.groups[KEYS] = {}

    def _as_variant(self, variant: Any) -> ValueVariant:
        from anls_metric.nested import get_value_variant

        return get_value_variant(variant)

    def _signature(self, extract: str) -> str:
        return self.variant.signature(extract)

    def _as_judge(self) -> Judge:
        return ValueJudge(self.variant)

    @property
    def label(self) -> str:  # type: ignore[override]
        """What the number is called."""
        return self.variant.label

    def explanation(self, scored: Scored) -> StarExplanation | None:
        """Why an answer has its score; None for a question without an answer."""
        row = scored.row
        return None if row.prediction is None else self.variant.explain(row.prediction, reference_of(row))

    @property
    def of_rows(self) -> bool:  # type: ignore[override]
        """Whether the mean is that of the scores of rows, and not of all leaves."""
        return self.variant.average != "leaves"

    @property
    def mean(self) -> float:
        """The score of the set. ValueError: nothing was scored."""
        return super().mean if self.of_rows else self.variant.mean([leaves for leaves, _ in self._leaves])

    @property
    def interval(self) -> Interval | None:
        """The 95 % confidence interval of the mean; None of fewer than two clusters (rows at least)."""
        if self.of_rows:
            return super().interval
        clusters = self.clusters
        records = [row.record for _, row in self._leaves]
        names = cluster_column(records, clusters.field) if clusters else [None] * len(records)
        sample = Sample()
        for place, ((leaves, _), name) in enumerate(zip(self._leaves, names)):
            zeros = [0.0] * (leaves.length - len(leaves.scores))
            sample.add([*leaves.scores, *zeros], [(place,) if name is None else name] * leaves.length)
        return sample.interval() if sample.cluster_count > 1 else None

    def add(self, rows: Sequence[Row]) -> list[Scored]:
        """Score rows and count them in. ValueError: what of a row cannot be scored."""
        scored = super().add(rows)
        for one in scored if self._by_key else ():
            self._add_keys(one.row)
        return scored

    def _add_keys(self, row: Row) -> None:
        """Count in the scores of the keys of a row. Those inside what is missing, or of another kind, have 0."""
        why = self.variant.explain([] if row.prediction is None else row.prediction, reference_of(row))
        found = {} if row.prediction is None else dict(_flat(why.key_scores))
        for key, score in {**dict.fromkeys(_keys(why.closest), 0.0), **found}.items():
            self.groups[KEYS].setdefault(key, Tally()).add([score])

    def _score(
        self, rows: Sequence[Row], variant: Any, measures: bool
    ) -> tuple[Sequence[float], Iterable[float | None]]:
        """The score of each row, and nothing else; a missing answer has all leaves of the reference wrong."""
        # Values that say nothing are scored in its place, and then taken for wrong.
        predictions = [[] if row.prediction is None else row.prediction for row in rows]
        found = self.variant.score(
            predictions, list(map(reference_of, rows)), lambda place: f"question {rows[place].id}"
        )
        found = [
            leaves._replace(scores=[0.0], length=max(1, leaves.length)) if row.prediction is None else leaves
            for leaves, row in zip(found, rows)
        ]
        if not self.of_rows:
            self._leaves += zip(found, rows)
        return [leaves.score for leaves in found], [None] * len(rows)


def reference_of(row: Row) -> Any:
    """The accepted answers of a row as one value."""
    return row.references[0] if len(row.references) == 1 else tuple(row.references)


def _flat(keys: Mapping[str, KeyScore], before: str = "") -> Iterator[tuple[str, float]]:
    """Keys by their path: items, items.price."""
    for name, key in keys.items():
        yield before + name, key.score
        yield from _flat(key.children, f"{before}{name}.")


def _keys(value: Any, before: str = "") -> Iterator[str]:
    """The paths of the keys of a value, named as those of `_flat`."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{before}{name}"
            yield from _keys(item, f"{before}{name}.")
    elif value and isinstance(value, (list, tuple)):
        for item in value if isinstance(value, list) else value[:1]:
            yield from _keys(item, before)


class ValueJudge(Judge):
    """Outcomes of values, which are compared as the text that they are as JSON."""

    def __init__(self, variant: ValueVariant) -> None:
        super().__init__()
        self.variant = variant  # type: ignore[assignment]
        self.normalize = _written
        self.known_outcomes = [outcome for outcome in OUTCOMES if not outcome.of_texts]


_squeezed = normalizer()


def _written(value: Any) -> str:
    """A value as a text: "" where it says nothing."""
    if value is None or (isinstance(value, (str, list, dict)) and not value):
        return ""
    plain = isinstance(value, (str, bool, int, float))
    return _squeezed(str(value) if plain else json.dumps(as_json(value), ensure_ascii=False))


# What looks wrong

# From this share of the predictions on a hint is worth a line.
_SHARE = 0.2


class ValueHints:
    """The hints about scored rows of values, which come batch by batch.

    Args:
        extract: the rules by which the answers were taken out before.

    Example:
        >>> hints = ValueHints()
        >>> hints.add(ScoredValues().add([Row("7", 'So: {"a": 1}', [{"a": "1"}], {})]))
        >>> print(hints.found()[0])
        1 of 1 predictions are texts around a list or an object: take the answers out with extract="json"
    """

    def __init__(self, extract: str = "") -> None:
        self._extract = extract
        self._rows = self._wrapped = self._broken = self._empty = self._filled = 0
        self._thinks = False

    def add(self, scored: Sequence[Scored]) -> None:
        """Look at a batch."""
        for one in scored:
            if one.row.prediction is None:
                continue
            self._rows += 1
            if one.score < 1.0:
                self._look(one.row.prediction, one.row.references)

    def _look(self, prediction: Any, references: Sequence[Any]) -> None:
        if prediction in ("", [], {}):
            self._empty += 1
        elif isinstance(prediction, str):
            self._look_at_text(prediction, references)
        elif isinstance(prediction, dict) and all(isinstance(one, dict) for one in references):
            known = {key for one in references for key in one}
            self._filled += any(value is None and key not in known for key, value in prediction.items())

    def _look_at_text(self, text: str, references: Sequence[Any]) -> None:
        if not any(isinstance(one, (list, dict)) for one in references):
            return
        if not isinstance(value_or_text(_JSON(text)), str):
            self._wrapped += 1
            self._thinks |= "</think>" in text
        elif "{" in text or "[" in text:
            self._broken += 1

    def found(self) -> list[Hint]:
        """What looks wrong with all that was seen."""
        rules = ",".join(filter(None, [self._extract, "think" if self._thinks else "", "json"]))
        signs = (
            ("wrapped", self._wrapped, "are texts around a list or an object", "extract", rules),
            ("broken", self._broken, "begin a list or an object and are no JSON", "let the model write more", ""),
            ("empty values", self._empty, "are empty", "another prediction field", ""),
            ("filled keys", self._filled, "have keys without a value that are not asked for", "none keys", ""),
        )
        return [
            Hint(key, f"{count:,} of {self._rows:,} predictions {found}", remedy, value)
            for key, count, found, remedy, value in signs
            if count and count >= _SHARE * self._rows
        ]


_JSON = extractor("json", values=True)
