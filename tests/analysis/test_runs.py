"""Several runs of a model: averages by question, the deviation, and comparisons."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from anls_metric import Scores, compare, score

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

Runs = Mapping[str, Sequence[str | None]]


def list_rows(answers: Runs) -> list[dict[str, Any]]:
    """List the answers to each question; each run has the field "run"."""
    return [
        {"id": key, "run": number, "prediction": text, "answers": ["Coca Cola"]}
        for key, runs in answers.items()
        for number, text in enumerate(runs)
    ]


def score_runs(answers: Runs, **options: Any) -> Scores:
    return score(list_rows(answers), missing="zero", runs="question", **options)


def test_runs_are_averaged_by_question() -> None:
    answers = {"7": ["Coca Cola", "CocaCola", "Pepsi"], "8": ["Coca Cola", "x", "Coca Cola"]}
    scores = score_runs(answers, worst=1, metrics="f1,partial_credit")
    scored = scores["data"]
    assert scored.scores == [math.fsum([1, 8 / 9, 0]) / 3, 2 / 3]
    assert scores.anls == pytest.approx(statistics.mean([1, 8 / 9, 0, 1, 0, 1]))
    assert (scored.exact_match, scored.contains) == (0.5, 0.5)
    assert [scored.outcomes[name] for name in ("equal", "close enough", "other")] == [3, 1, 2]
    assert [answer["score"] for answer in scores.answers()] == [1, 8 / 9, 0, 1, 0, 1]
    (document,) = scores.to_dict()["submissions"]
    assert (document["questions"], document["runs"]) == (2, 3)
    assert document["run_scores"] == pytest.approx([1, 4 / 9, 0.5])
    assert document["run_sd"] == pytest.approx(statistics.stdev([1, 4 / 9, 0.5]))
    assert document["metrics"]["f1"]["mean"] == 0.5
    assert document["partial_credit"] == {"format_loss": pytest.approx(1 / 54), "wrong_number_credit": 0.0}
    (worst,) = document["worst"]
    # The answer whose score is closest to the mean represents the question.
    assert (worst["id"], worst["prediction"], worst["outcome"]) == ("7", "CocaCola", "close enough")


@pytest.mark.parametrize(
    ("answers", "anls", "run_scores"),
    [
        ({"7": ["Coca Cola"] * 3, "8": ["x"]}, 0.5, []),  # no run has answered every question
        ({"7": ["Coca Cola", None], "8": ["x", "x"]}, 0.25, [0.5, 0.0]),  # a missing answer counts 0
    ],
)
def test_runs_with_answers_missing(answers: Runs, anls: float, run_scores: list[float]) -> None:
    scores = score_runs(answers)
    assert scores.anls == anls
    assert scores["data"].run_scores == run_scores
    assert ("run_sd" in scores.to_dict()["submissions"][0]) == bool(run_scores)


def test_runs_are_compared_by_their_mean_scores() -> None:
    tables = {
        name: list_rows({str(place): answers for place in range(40)})
        for name, answers in {"base": ["Coca Cola", "x"], "tuned": ["Coca Cola", "Coca Cola"]}.items()
    }
    (comparison,) = compare(tables, runs="question").to_dict()["comparisons"]
    assert (comparison["difference"], comparison["wins"], comparison["questions"]) == (0.5, 40, 40)


def test_runs_and_a_mean_of_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match='several runs need average="rows"'):
        score_runs({"7": ["Coca Cola", "x"]}, variant="anls_star", average="leaves")
