"""Submissions are scored one after the other, looked at, and compared: what every door does with files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.hints import Hint, Hints
from anls_metric.analysis.scored import Scored, ScoredSet
from anls_metric.core.variants import OF_VALUES, VARIANTS, Variant, get_variant
from anls_metric.reading.rows import InputError, Row
from anls_metric.reading.submissions import Submission

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared
    from anls_metric.analysis.origin import Origin
    from anls_metric.analysis.values import ValueHints
    from anls_metric.nested import Average, NoneKeys, ValueVariant

EVERY_VARIANT = "all"


def variants(
    names: str,
    threshold: float | None = None,
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
    average: Average | None = None,
) -> list[Variant] | list[ValueVariant]:
    """The variants that somebody names: the first is the one of the scores.

    Args:
        names: a name, names with commas between, or "all", which begins with the default; or one of lists and nested
            values, "anls_star" or "anlsl".
        threshold, ignore_case: see `anls.get_variant`; they hold for all of them.
        none_keys, average: of lists and nested values, see `nested.get_value_variant`.

    Raises:
        ValueError: there is no such variant, or it has no such option.

    Example:
        >>> [variant.name for variant in variants("rrc, standard")]
        ['rrc', 'standard']
    """
    options = {"threshold": threshold, "ignore_case": ignore_case, "none_keys": none_keys, "average": average}
    if names in OF_VALUES:
        from anls_metric.nested import get_value_variant

        return [get_value_variant(names, **options)]
    for option in ("none_keys", "average"):
        if options[option] is not None:
            raise ValueError(f"{option} is for lists and nested values: give it with variant={OF_VALUES[0]!r}")
    asked = VARIANTS if names.strip() == EVERY_VARIANT else [name.strip() for name in names.split(",")]
    found = (get_variant(name, threshold, ignore_case) for name in asked)
    return list({variant.name: variant for variant in found}.values())


class Evaluation:
    """Submissions to the same questions.

    Args:
        variants: which ANLS; under those after the first only the means are wanted. Or one of lists and nested values.
        by, worst, cluster_by: as `ScoredSet` takes them.
        keep: whether the rows are kept, without which submissions cannot be compared.
        similarities: whether rows that are kept have their similarity.
        extract: the rules by which the answers are taken out of what a model wrote.
        by_key: of values: whether to have the mean score of each key.

    Attributes:
        scored_sets: what is known of each submission, by its name.
        hints: what looks wrong with them.

    Example:
        >>> from anls_metric.reading.submissions import find_submissions
        >>> evaluation = Evaluation()
        >>> for submission in find_submissions(["examples/gold_label.json", "examples/submission.json"]):
        ...     count = sum(len(scored) for scored in evaluation.score(submission))
        >>> count, evaluation.scored_sets["submission"].mean
        (6, 0.6273148148148148)
    """

    def __init__(
        self,
        variants: Sequence[Variant] | Sequence[ValueVariant] = (VARIANTS["standard"],),
        by: Sequence[str] = (),
        worst: int = 0,
        cluster_by: str | None = None,
        keep: bool = False,
        similarities: bool = False,
        extract: str = "",
        by_key: bool = False,
    ) -> None:
        self.scored_sets: dict[str, ScoredSet] = {}
        self.hints: list[Hint] = []
        self._variants = variants
        self._similarities, self._by_key = similarities, by_key
        self._options: dict[str, Any] = {
            "by": by,
            "worst": worst,
            "cluster_by": cluster_by,
            "keep": keep,
            "extract": extract,
        }

    def _new_set(self) -> tuple[ScoredSet, Hints | ValueHints]:
        """What a submission is scored into, and what looks for hints in it."""
        variant, *others = self._variants
        extract = self._options["extract"]
        if isinstance(variant, Variant):
            wanted: Any = self._variants if others else ()
            texts = ScoredSet(variant, similarities=self._similarities, variants=wanted, **self._options)
            return texts, Hints(variant, extract)
        from anls_metric.analysis.values import ScoredValues, ValueHints

        return ScoredValues(variant, by_key=self._by_key, **self._options), ValueHints(extract)

    def score(self, submission: Submission, batches: Iterable[Sequence[Row]] | None = None) -> Iterator[list[Scored]]:
        """Score one more submission: take all of the batches, and it is one of `scored_sets`.

        Args:
            submission: it.
            batches: its rows, where somebody watches over how many come; None takes them from it.

        Raises:
            InputError: it cannot be read, or has no questions. OSError: a file of it cannot be read.
        """
        scored_set, hints = self._new_set()
        for rows in submission.batches() if batches is None else batches:
            scored = scored_set.add(rows)
            hints.add(scored)
            yield scored
        if not scored_set.count:
            raise ValueError(f"{submission.asked}: there are no questions in it")
        self.scored_sets[submission.name] = scored_set
        self.hints += hints.found()

    def compare(self, baseline: str | None = None) -> Compared | None:
        """How the submissions compare with one of them, the first unless it is named; None where there is one alone.

        Raises:
            ValueError, InputError: they cannot be compared, see `comparison.compare`; no submission is called so.
        """
        if len(self.scored_sets) < 2 and baseline in (None, *self.scored_sets):
            return None
        from anls_metric.analysis.comparison import compare

        return compare(self.scored_sets, baseline, self._options["cluster_by"])

    def conclude(self, baseline: str | None, remedies: Mapping[str, str]) -> tuple[Compared | None, list[str]]:
        """How the submissions compare, and what to know of the numbers before believing them.

        Submissions that cannot be compared have their numbers all the same: then the reason is among what to know.

        Args:
            baseline: as `compare` takes it.
            remedies: the words of a door, see `hints.Hint.worded`.

        Raises:
            ValueError: no submission is called so.
        """
        said = [hint.worded(remedies) for hint in self.hints]
        compared = None
        try:
            compared = self.compare(baseline)
        except ValueError as error:
            if baseline not in (None, *self.scored_sets):
                raise
            why = error.worded(remedies) if isinstance(error, InputError) else str(error)
            said.append(f"not compared: {why}")
        else:
            said += compared.hints if compared else []
        return compared, list(dict.fromkeys(said))

    def find(self, number: str) -> list[Origin]:
        """Which of the variants give a number, see `origin.find_number`."""
        from anls_metric.analysis.origin import find_number

        means = {name: one.means or {one.variant.name: one.mean} for name, one in self.scored_sets.items()}
        return find_number(number, means)


def fields_of(by: Iterable[str], cluster_by: str | None) -> list[str]:
    """The fields of the records that an evaluation looks at, for formats that need not read the others."""
    from anls_metric.analysis.clusters import CLUSTER_FIELDS

    return [*by, "question", *CLUSTER_FIELDS, *filter(None, [cluster_by])]
