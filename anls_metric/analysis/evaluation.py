"""Submissions are scored one after the other, looked at, and compared: what every door does with files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from anls import VARIANTS, Variant, get_variant
from anls_metric.analysis.hints import Hint, Hints
from anls_metric.analysis.scored import Scored, ScoredSet
from anls_metric.reading.rows import Row
from anls_metric.reading.submissions import Submission

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared
    from anls_metric.analysis.origin import Origin

EVERY_VARIANT = "all"


def variants(names: str, threshold: float | None = None, ignore_case: bool | None = None) -> list[Variant]:
    """The variants that somebody names: the first is the one of the scores.

    Args:
        names: a name, names with commas between, or "all", which begins with the default.
        threshold, ignore_case: see `anls.get_variant`; they hold for all of them.

    Raises:
        ValueError: there is no such variant.

    Example:
        >>> [variant.name for variant in variants("rrc, standard")]
        ['rrc', 'standard']
    """
    asked = VARIANTS if names.strip() == EVERY_VARIANT else [name.strip() for name in names.split(",")]
    found = (get_variant(name, threshold, ignore_case) for name in asked)
    return list({variant.name: variant for variant in found}.values())


class Evaluation:
    """Submissions to the same questions.

    Args:
        variants: which ANLS; under those after the first only the means are wanted.
        by, worst, cluster_by: as `ScoredSet` takes them.
        keep: whether the rows are kept, without which submissions cannot be compared.
        similarities: whether rows that are kept have their similarity.
        extract: the rules by which the answers are taken out of what a model wrote.

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
        variants: Sequence[Variant] = (VARIANTS["standard"],),
        by: Sequence[str] = (),
        worst: int = 0,
        cluster_by: str | None = None,
        keep: bool = False,
        similarities: bool = False,
        extract: str = "",
    ) -> None:
        self.scored_sets: dict[str, ScoredSet] = {}
        self.hints: list[Hint] = []
        self._variants = variants
        self._by, self._worst, self._cluster_by = by, worst, cluster_by
        self._keep, self._similarities, self._extract = keep, similarities, extract

    def score(self, submission: Submission, batches: Iterable[Sequence[Row]] | None = None) -> Iterator[list[Scored]]:
        """Score one more submission: take all of the batches, and it is one of `scored_sets`.

        Args:
            submission: it.
            batches: its rows, where somebody watches over how many come; None takes them from it.

        Raises:
            InputError: it cannot be read, or has no questions. OSError: a file of it cannot be read.
        """
        scored_set = ScoredSet(
            self._variants[0],
            self._by,
            self._worst,
            self._keep,
            self._cluster_by,
            self._similarities,
            self._extract,
            self._variants if len(self._variants) > 1 else (),
        )
        hints = Hints(scored_set.variant, submission.rules)
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
            ValueError, InputError: they cannot be compared, see `comparison.compare`.
        """
        if len(self.scored_sets) < 2:
            return None
        from anls_metric.analysis.comparison import compare

        return compare(self.scored_sets, baseline, self._cluster_by)

    def find(self, number: str) -> list[Origin]:
        """Which of the variants give a number, see `origin.find_number`."""
        from anls_metric.analysis.origin import find_number

        means = {name: one.means or {one.variant.name: one.mean} for name, one in self.scored_sets.items()}
        return find_number(number, means)


def fields_of(by: Iterable[str], cluster_by: str | None) -> list[str]:
    """The fields of the records that an evaluation looks at, for formats that need not read the others."""
    from anls_metric.analysis.clusters import CLUSTER_FIELDS

    return [*by, "question", *CLUSTER_FIELDS, *filter(None, [cluster_by])]
