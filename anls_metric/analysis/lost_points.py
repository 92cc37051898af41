"""Breaks down by cause the points that a score loses, so that the causes add up to 1 - score.

The first rows are the steps that win points back, usually with options (see `step_search`). What an answer still loses
after these steps is attributed to the first applicable cause in a table (see `causes`, and `leaf_causes` for nested
values).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.causes import (
    CAUSES,
    DIGITS,
    LETTERS_AND_DIGITS,
    MISSING,
    RIGHT,
    Case,
    Cause,
    Facts,
    find_facts,
    is_cut_off,
    show,
)
from anls_metric.analysis.leaf_causes import LEAF_CAUSES, name_leaf_causes
from anls_metric.analysis.scored import Scored, average, once
from anls_metric.analysis.step_search import Applied, State, find_steps, start_state
from anls_metric.analysis.steps import EXAMPLES
from anls_metric.core.strings.abstention import UNANSWERABLE, lacks_answer
from anls_metric.core.strings.matches import normalize_wrong
from anls_metric.messages import Message
from anls_metric.options import KEYS
from anls_metric.reading.answers import list_places

if TYPE_CHECKING:
    from anls_metric.analysis.groups import Group


class Loss(NamedTuple):
    """The points that an answer or a question loses to one cause and, for nested values, the keys that lead to the
    leaf.
    """

    cause: str
    points: float
    keys: Sequence[object] = ()


COUNTED = "{count:,} of {total:,} "
"""The beginning of a sentence about answers."""

Losses = Sequence[Sequence[Any]]
"""The losses of each question, as causes with their points, such as `Loss`."""


class Row(NamedTuple):
    """A row of the account.

    Attributes:
        cause: the name of the cause.
        points: the points that the score loses to the cause, from 0 to 1, or that a step wins back.
        answers: the number of answers, or of leaves in nested values.
        meaning: the text that follows the number of answers.
        remedy: what to do.
        options: the options to type for a step and all steps before it; None for a step without options and for other
            causes.
        anls: the score after a step; None for other causes.
        lowered: the points that a step takes away from other answers, which are already subtracted from ``points``.
    """

    cause: str
    points: float
    answers: int
    meaning: Message
    remedy: Message
    options: Mapping[str, str] | None = None
    anls: float | None = None
    lowered: float = 0.0


@dataclass(frozen=True, eq=False)
class LostPoints:
    """The account of the points that a submission lost, every part of which is computed when it is first needed."""

    scored: Scored
    examples: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def steps(self) -> list[Applied]:
        """The steps that win points back, in the order in which they are applied."""
        return find_steps(self.scored)

    @cached_property
    def final(self) -> State:
        """The answers after all steps."""
        return self.steps[-1].after if self.steps else start_state(self.scored)

    @cached_property
    def table(self) -> CauseTable:
        """The table of causes for leaves if the scorer has leaves, otherwise the table for whole answers."""
        return OF_LEAVES if self.final.scorer.has_leaves else OF_ANSWERS

    @property
    def typed(self) -> Mapping[str, str]:
        """The options to type for all steps that have options."""
        return next((applied.options for applied in reversed(self.steps) if applied.options), {})

    @cached_property
    def causes(self) -> Sequence[Sequence[Loss]]:
        """The losses of each answer that remain after the steps, or () for an answer that loses nothing."""
        return self.table.find(self)

    def _list_causes(self) -> Sequence[Sequence[Loss]]:
        found: list[Sequence[Loss]] = [()] * len(self.final.scores)
        cases = self._list_cases()
        at_zero, above = _choose_causes(cases[0][1].facts, bool(self.final.scorer.columns)) if cases else ((), ())
        for place, case in cases:
            cause = MISSING
            for name, applies in (above if case.score else at_zero) if case.prediction is not None else ():
                if applies(case):
                    cause = name
                    break
            found[place] = (Loss(cause, 1.0 - case.score),)
            if cause not in self.examples:
                self.examples[cause] = " for ".join(map(show, (case.prediction, *case.references[:1])))
        return found

    def _list_cases(self) -> list[tuple[int, Case]]:
        """List the answers that still lose points after all steps, with their positions."""
        answers, (predictions, references, scorer, scores, *_) = self.scored.answers, self.final
        if answers.columns is not None:
            predictions = self.scored.compared[0]
        raw, records = answers.raw or answers.predictions, self.scored.questions.table.records
        has_flags = not UNANSWERABLE.keys().isdisjoint(self.scored.questions.table.fields)
        wrong = [place for place, score in enumerate(scores) if score < 1.0]
        questions = list_places(answers)
        lacking = [
            isinstance(predictions[place], str)
            and lacks_answer(references[place], records[questions[place]] if has_flags else {})
            for place in wrong
        ]
        facts = find_facts(zip(predictions, references, scores), scorer.as_text)
        facts = facts._replace(marker=scorer.marker, unanswerable=any(lacking))
        pairs = normalize_wrong(predictions, references, scores, scorer) if self.steps else self.scored.texts
        texts, all_texts = [pairs[place][0] for place in wrong], [pairs[place][1] for place in wrong]
        columns = (
            [predictions[place] for place in wrong],
            [references[place] for place in wrong],
            [scores[place] for place in wrong],
            [raw[place] for place in wrong],
            texts,
            all_texts,
            LETTERS_AND_DIGITS.apply_to_each(texts),
            LETTERS_AND_DIGITS.apply_to_lists(all_texts),
            DIGITS.apply_to_each(texts),
            DIGITS.apply_to_lists(all_texts),
            lacking,
            repeat(facts),
        )
        return list(zip(wrong, map(Case, *columns)))

    def _list_leaf_causes(self) -> Sequence[Sequence[Loss]]:
        """List the losses of each answer, leaf by leaf."""
        scorer = self.final.scorer.list_leaves()
        raw, found = self.scored.answers.raw or self.scored.answers.predictions, list[Sequence[Loss]]()
        for prediction, references, value, output in zip(
            self.final.predictions, self.final.references, self.final.values, raw
        ):
            if float(value) == 1.0:
                found.append(())
                continue
            row = value
            if not row.leaves and prediction is None:
                row = scorer.score_missing(references)
            elif not row.leaves:
                [row] = scorer.score([prediction], [references])
            is_cut = isinstance(prediction, str) and is_cut_off(output)
            names = ["cut off"] * len(row.leaves) if is_cut else name_leaf_causes(prediction, row.leaves, self.examples)
            losses = [(1.0 - leaf.score) / row.length for leaf in row.leaves]
            parts = zip(names, losses, (leaf.keys for leaf in row.leaves))
            found.append([Loss(*part) for part in parts if part[1]])
        return found

    @cached_property
    def parts(self) -> Sequence[Sequence[Loss]]:
        """The losses of each question, averaged over runs: first those to the steps, in order, then those to the other
        causes. The losses of a question add up to 1 - score.
        """
        answers = self.scored.answers
        if not self.steps and answers.places is None:
            return self.causes
        gains = [
            (applied.step.name, average(answers, _subtract(applied.before.scores, applied.after.scores)))
            for applied in self.steps
        ]
        return [
            [
                *(Loss(name, gain[place]) for name, gain in gains if gain[place]),
                *(
                    part._replace(points=part.points / len(run)) if len(run) > 1 else part
                    for answer in run
                    for part in self.causes[answer]
                ),
            ]
            for place, run in enumerate(self.scored.runs)
        ]

    @cached_property
    def by_question(self) -> Sequence[Mapping[str, float]]:
        """The total points that each question loses to each cause."""
        return [_sum_up((part.cause, part.points) for part in own) for own in self.parts]

    @cached_property
    def main_causes(self) -> Sequence[str]:
        """The cause that costs each answer the most (in a tie, the first); `RIGHT` for an answer that loses nothing."""
        found, most = [], []
        for parts in self.causes:
            sums: dict[str, float] = {}
            for cause, points, _ in parts:
                sums[cause] = sums.get(cause, 0.0) + points
            cause, points = max(sums.items(), key=itemgetter(1), default=(RIGHT, 0.0))
            found.append(cause)
            most.append(points)
        for applied in self.steps:
            for place, gain in enumerate(_subtract(applied.before.scores, applied.after.scores)):
                if gain > most[place]:
                    found[place], most[place] = applied.step.name, gain
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of the account: first the steps, in order, then the causes, with the most expensive first."""
        return [*map(self._describe_step, self.steps), *self._describe_causes()]

    def _describe_step(self, applied: Applied) -> Row:
        step, before, after = applied.step, applied.before, applied.after
        changes = average(self.scored.answers, _subtract(before.scores, after.scores))
        return Row(
            step.name,
            after.anls - before.anls,
            applied.changed,
            Message("", step.meaning, step.values),
            applied.remedy,
            applied.options,
            after.anls,
            math.fsum(-change for change in changes if change < 0) / len(changes),
        )

    def _describe_causes(self) -> list[Row]:
        table = {row.name: row for row in self.table.rows}
        counts = Counter(part.cause for parts in self.causes for part in parts)
        rows = []
        for name, points in self._sum_causes().items():
            values = {"example": self.examples.get(name, ""), "marker": self.final.scorer.marker}
            cause = table[name]
            meaning, remedy = Message("", cause.meaning, values), Message("", cause.remedy, values)
            rows.append(Row(name, points, counts[name], meaning, remedy))
        return sorted(rows, key=lambda row: -row.points)

    def _sum_causes(self) -> dict[str, float]:
        """Sum up the points that the score loses to each cause after the steps."""
        scorer, values = self.final.scorer, self.final.values
        if not scorer.averages_rows:  # each leaf has the same weight
            length = sum(value.length for value in values) or 1
            return _sum_up(
                (part.cause, part.points * value.length / length)
                for parts, value in zip(self.causes, values)
                for part in parts
            )
        runs, total = self.scored.runs, len(self.scored.scores)
        if self.scored.answers.places is None:
            return _sum_up(((part.cause, part.points) for parts in self.causes for part in parts), total)
        return _sum_up(
            ((part.cause, part.points / len(run)) for run in runs for answer in run for part in self.causes[answer]),
            total,
        )

    def of_group(self, field: str, name: str, group: Group) -> dict[str, float]:
        """Return the mean points that the questions in a group lose to each cause, which add up to 1 minus the group's
        mean. For a key of nested values, return the mean points that all questions lose under the key after the steps,
        which add up to the key's cost.
        """
        if field != KEYS:
            parts = ((part.cause, part.points) for place in group.places for part in self.parts[place])
            found = _sum_up(parts, len(group.places))
        else:
            found = {**self._by_key.get(name, {})}
        return {row.cause: found[row.cause] for row in self.rows if row.cause in found}

    @cached_property
    def _by_key(self) -> Mapping[str, Mapping[str, float]]:
        """The mean points that all questions lose under each key, by cause."""
        from anls_metric.analysis.leaf_keys import name_keys  # strings do not need it

        lists: dict[str, list[tuple[str, float]]] = {}
        for run in self.scored.runs:
            for answer in run:
                for part in self.causes[answer]:
                    for key in name_keys(part.keys):
                        lists.setdefault(key, []).append((part.cause, part.points / len(run)))
        return {key: _sum_up(pairs, len(self.scored.scores)) for key, pairs in lists.items()}

    @cached_property
    def credit_for_wrong(self) -> dict[str, float]:
        """How much of the score is credit given to wrong answers, by cause."""
        credited = {row.name for row in self.table.rows if row.is_credited}
        places = enumerate(self.causes)
        pairs = ((parts[0].cause, self.final.scores[place]) for place, parts in places if parts)
        found = _sum_up((pair for pair in pairs if pair[0] in credited and pair[1]), len(self.final.scores))
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _say_meanings(causes: Iterable[Cause]) -> dict[str, str]:
    """Return the meaning of each cause, without an example, keyed by the cause's name."""
    return {row.name: row.meaning.removesuffix(", such as {example}").format(marker="...") for row in causes}


MEANINGS: Mapping[str, str] = {
    RIGHT: "predictions lose nothing",
    **_say_meanings((*LEAF_CAUSES, *CAUSES)),
    **{row.name: row.meaning.format(**row.values) for row in EXAMPLES},
}
"""The description of the answers with each cause, by the name of the cause."""


class CauseTable(NamedTuple):
    """A table of causes, for answers or for leaves.

    Attributes:
        rows: the causes.
        find: the function that lists the losses of each answer.
        counted: the beginning of a sentence about a cause.
        meanings: the description of the answers with each cause, by the name of the cause.
    """

    rows: Sequence[Cause]
    find: Callable[[LostPoints], Sequence[Sequence[Loss]]]
    counted: str
    meanings: Mapping[str, str]


OF_ANSWERS = CauseTable(CAUSES, LostPoints._list_causes, COUNTED, MEANINGS)
OF_LEAVES = CauseTable(
    LEAF_CAUSES, LostPoints._list_leaf_causes, "{count:,} ", {**MEANINGS, **_say_meanings(LEAF_CAUSES)}
)
"""The table of causes for the leaves of nested values. The table for whole answers is `OF_ANSWERS`."""


_Rows = Sequence[tuple[str, Callable[[Case], bool]]]


def _choose_causes(facts: Facts, of_rules: bool) -> tuple[_Rows, _Rows]:
    """Choose the rows of `CAUSES` to check for answers that score 0, and those to check for answers that score more."""
    rows = [
        row
        for row in CAUSES
        if row.name != MISSING and (row.of_rules or not of_rules) and (not row.needs or getattr(facts, row.needs))
    ]
    at_zero, above = ([(row.name, row.applies) for row in rows if row.at in ("", at)] for at in ("zero", "above"))
    return at_zero, above


@once
def account_for(scored: Scored) -> LostPoints:
    """Return the account of a submission's lost points, which is created only once.

    Example:
        >>> from anls_metric import score
        >>> scored = score(["<think>?</think>tea", "", "tee"], [["tea"]] * 3)["data"]
        >>> [(row.cause, round(row.points, 4), row.options) for row in account_for(scored).rows]
        [('raw output', 0.3333, {'extract': 'think'}), ('empty', 0.3333, None), ('a few characters', 0.1111, None)]
    """
    return LostPoints(scored)


def _subtract(before: Sequence[float], after: Sequence[float]) -> list[float]:
    return [new - old for old, new in zip(before, after)]


def _sum_up(pairs: Iterable[tuple[str, float]], total: int = 1) -> dict[str, float]:
    """Sum up points by cause, and divide the sums by the total, such as the number of questions."""
    lists: dict[str, list[float]] = {}
    for cause, points in pairs:
        lists.setdefault(cause, []).append(points)
    return {cause: math.fsum(points) / total for cause, points in lists.items()}


def compare_losses(
    first: Sequence[Losses], second: Sequence[Losses], pairs: Iterable[tuple[int, int]]
) -> dict[str, float]:
    """Break down by cause the second score minus the first, which is how much more the first submission loses to each
    cause. The causes add up to the difference.

    Args:
        first, second: the losses of each question in the two submissions, from `LostPoints.parts`.
        pairs: the positions, in both submissions, of each question that both have.
    """
    rows, count = list[tuple[str, float]](), 0
    for count, (own, other) in enumerate(pairs, 1):  # noqa: B007
        rows += [(cause, points) for cause, points, *_ in first[own]]
        rows += [(cause, -points) for cause, points, *_ in second[other]]
    return dict(sorted(_sum_up(rows, count or 1).items(), key=lambda pair: -abs(pair[1])))
