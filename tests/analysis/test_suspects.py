"""Suspects: questions where most submissions agree on an answer that is not accepted. The answers are made up."""

from __future__ import annotations

import doctest
from collections.abc import Mapping

from anls_metric.analysis import suspects
from anls_metric.analysis.outcomes import Judge
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.suspects import Suspect, find_suspects
from anls_metric.reading.batch import Row


def find(*answers: Mapping[str, str | None], accepted: str = "Cola") -> list[Suspect]:
    sets = []
    for each in answers:
        scored_set = ScoredSet(keep=True)
        scored_set.add([Row(key, answer, [accepted], {}) for key, answer in each.items()])
        sets.append(scored_set)
    return find_suspects(join_questions(sets), Judge().normalize)


def test_three_of_three_agree() -> None:
    assert find({"7": "Tea"}, {"7": " tea"}, {"7": "TEA"}) == [Suspect("7", "tea", 3, ["Cola"])]


def test_close_answer_that_scores_less_than_1_can_be_suspect() -> None:
    assert find({"7": "Colas"}, {"7": "Colas"}, {"7": "Colas"})[0].answer == "colas"


def test_fewer_than_three_or_no_more_than_half_are_not_enough() -> None:
    assert find({"7": "Tea"}, {"7": "Tea"}) == []
    assert find({"7": "Tea"}, {"7": "Tea"}, {"7": "Milk"}) == []
    assert find(*[{"7": "Tea"}] * 3, *[{"7": "Milk"}] * 3) == []
    assert len(find(*[{"7": "Tea"}] * 3, *[{"7": "Milk"}] * 2)) == 1


def test_right_empty_and_missing_answers_are_no_suspects() -> None:
    assert find(*[{"7": "Cola"}] * 3) == []
    assert find(*[{"7": "  "}] * 3) == []
    assert find(*[{"7": None}] * 3) == []


def test_submission_without_the_question_counts_as_one_that_does_not_agree() -> None:
    assert find(*[{"7": "Tea"}] * 3, *[{"8": "Tea"}] * 3) == []


def test_most_agreed_come_first_and_then_the_order_of_the_questions() -> None:
    full = {"7": "Tea", "8": "Tea", "9": "Tea"}
    suspects_of = find(full, full, full, full | {"7": "Milk", "8": "Cocoa"})
    assert [(suspect.id, suspect.submissions) for suspect in suspects_of] == [("9", 4), ("7", 3), ("8", 3)]


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(suspects).failed == 0
