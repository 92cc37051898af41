"""One run: submissions are scored, looked at and compared. Every door calls it, and then prints."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.clusters import CLUSTER_FIELDS
from anls_metric.analysis.hints import Hint, Hints
from anls_metric.analysis.scored import ANSWER_TYPES, Scored, ScoredSet
from anls_metric.core.variants import OF_VALUES, VARIANTS, Scorer, get_variant
from anls_metric.reading.errors import InputError
from anls_metric.reading.join import Row
from anls_metric.reading.submissions import Submission

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared
    from anls_metric.analysis.variant_search import VariantMatch
    from anls_metric.nested import Average, NoneKeys

EVERY_VARIANT = "all"


def find_scorers(
    names: str,
    threshold: float | None = None,
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
    average: Average | None = None,
) -> list[Scorer]:
    """The scorers that somebody names: the first gives the scores.

    Args:
        names: a name, names with commas between, or "all", which begins with the default; or one of lists and nested
            values, "anls_star" or "anlsl".
        threshold, ignore_case: see `get_variant`; they hold for all of them.
        none_keys, average: of lists and nested values, see `nested.get_value_variant`.

    Raises:
        ValueError: there is no such variant, or it has no such option.

    Example:
        >>> [scorer.name for scorer in find_scorers("rrc, standard")]
        ['rrc', 'standard']
    """
    if names in OF_VALUES:
        from anls_metric.nested import get_value_variant

        options = {"threshold": threshold, "ignore_case": ignore_case, "none_keys": none_keys, "average": average}
        return [get_value_variant(names, **options)]
    for option, value in {"none_keys": none_keys, "average": average}.items():
        if value is not None:
            raise ValueError(f"{option} is for lists and nested values: give it with variant={OF_VALUES[0]!r}")
    chosen = VARIANTS if names.strip() == EVERY_VARIANT else [name.strip() for name in names.split(",")]
    variants = (get_variant(name, threshold, ignore_case) for name in chosen)
    return list({variant.name: variant for variant in variants}.values())


class Entry(NamedTuple):
    """A submission that was scored.

    Attributes:
        name: what it is called.
        scored_set: what is known of it.
        layout: that of its file.
    """

    name: str
    scored_set: ScoredSet
    layout: str = ""


class Evaluation:
    """Submissions to the same questions: scored one after the other, then compared.

    Args:
        submissions: what is to be scored.
        scorers: the first gives the scores; under the others only the means are wanted.
        by: fields of the records to break the scores down by.
        answer_types: whether to break down by the fields of InfographicVQA as well, those of `ANSWER_TYPES` that exist.
        by_key: of lists and nested values: whether to have the mean score of each key.
        worst: how many of the worst answers of each submission to keep.
        cluster_by: the field that says which questions belong together, as `ScoredSet` takes it.
        baseline: the name of the submission that the others are compared with; None takes the first.
        keep: whether the rows are kept, which a report and a list of regressions need.
        similarities: whether rows that are kept have their similarity.

    Attributes:
        entries: the submissions that are scored.
        compared: how they compare; None where there is one alone, or where they cannot be compared, as a hint says.
        hints: what to know of the numbers before believing them.
        notes: how the files were read.

    Example:
        >>> from anls_metric.reading.submissions import find_submissions
        >>> submissions = find_submissions(["examples/gold_label.json", "examples/submission.json"])
        >>> evaluation = Evaluation(submissions)
        >>> sum(len(batch) for _, batch in evaluation.run()), evaluation.entries[0].scored_set.mean
        (6, 0.6273148148148148)
    """

    def __init__(
        self,
        submissions: Sequence[Submission],
        scorers: Sequence[Scorer] = (VARIANTS["standard"],),
        *,
        by: Sequence[str] = (),
        answer_types: bool = False,
        by_key: bool = False,
        worst: int = 0,
        cluster_by: str | None = None,
        baseline: str | None = None,
        keep: bool = False,
        similarities: bool = False,
    ) -> None:
        names = [submission.name for submission in submissions]
        if baseline not in (None, *names):
            raise ValueError(f"no submission is called {baseline!r}: the baseline is one of {', '.join(names)}")
        self.entries: list[Entry] = []
        self.compared: Compared | None = None
        self.hints: list[Hint] = []
        self._submissions, self._scorers, self._baseline = submissions, scorers, baseline
        self._by, self._answer_types = by, answer_types
        self._options: dict[str, Any] = {
            "by": [*(ANSWER_TYPES if answer_types else ()), *by],
            "by_key": by_key,
            "worst": worst,
            "cluster_by": cluster_by,
            "keep": keep,
            "comparable": len(submissions) > 1,
            "similarities": similarities,
            "others": scorers if len(scorers) > 1 else (),
        }

    @property
    def scored_sets(self) -> dict[str, ScoredSet]:
        """What is known of each submission, by its name."""
        return {entry.name: entry.scored_set for entry in self.entries}

    @property
    def notes(self) -> list[str]:
        """How the files were read, each sentence once."""
        return list(dict.fromkeys(note for submission in self._submissions for note in submission.notes))

    def run(
        self, batches: Callable[[Submission], Iterable[Sequence[Row]]] = Submission.batches
    ) -> Iterator[tuple[Submission, list[Scored]]]:
        """Score everything, batch by batch, then compare: take all of the batches.

        Args:
            batches: gives the rows of a submission, where somebody watches over how many come.

        Yields:
            Each submission with a batch of its scored rows.

        Raises:
            InputError: a submission cannot be read, has no questions, or lacks a field of `by`. OSError: a file of it
                cannot be read.
        """
        for submission in self._submissions:
            scored_set = ScoredSet(self._scorers[0], extract=submission.rules, **self._options)
            hints = Hints(self._scorers[0], submission.rules)
            for rows in batches(submission):
                scored = scored_set.add(rows)
                hints.add(scored)
                yield submission, scored
            self._check(submission, scored_set)
            self.entries.append(Entry(submission.name, scored_set, submission.layout))
            self.hints += hints.conclude()
        self._compare()
        self.hints = list(dict.fromkeys(self.hints))

    def finish(self) -> Evaluation:
        """Run, where nobody looks at the batches."""
        deque(self.run(), maxlen=0)
        return self

    def _check(self, submission: Submission, scored_set: ScoredSet) -> None:
        if not scored_set.count:
            raise InputError("there are no questions in it", submission.asked)
        for field in self._by:
            if not scored_set.groups[field]:
                raise InputError(f"no question has the field {field!r} to break the scores down by", submission.asked)
        if self._answer_types and not any(scored_set.groups[field] for field in ANSWER_TYPES):
            raise InputError(f"no question has an answer type (a field {', '.join(ANSWER_TYPES)})", submission.asked)

    def _compare(self) -> None:
        """Compare the submissions; where they cannot be compared they have their numbers all the same."""
        if len(self.entries) < 2:
            return
        from anls_metric.analysis.comparison import compare

        try:
            self.compared = compare(self.scored_sets, self._baseline, self._options["cluster_by"])
        except InputError as error:
            problem = ": ".join(filter(None, ["not compared", error.where, error.problem]))
            self.hints.append(Hint("not compared", problem, error.remedy))
        except ValueError as error:
            self.hints.append(Hint("not compared", f"not compared: {error}"))
        else:
            self.hints += [Hint("comparison", text) for text in self.compared.hints]

    def find_variants(self, number: str) -> list[VariantMatch]:
        """Which of the variants give a number, see `variant_search.find_variants`."""
        from anls_metric.analysis.variant_search import find_variants

        sets = self.scored_sets.items()
        return find_variants(number, {name: each.means or {each.scorer.name: each.mean} for name, each in sets})


def fields_of(by: Iterable[str], cluster_by: str | None) -> list[str]:
    """The fields of the records that an evaluation looks at, for formats that need not read the others."""
    return [*by, "question", *CLUSTER_FIELDS, *filter(None, [cluster_by])]
