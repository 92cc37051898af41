"""Several submissions: differences, verdicts, groups, and what is doubtful about a comparison."""

from __future__ import annotations

import re
from typing import Any

import pytest

import anls_metric
from anls_metric import compare
from tests.system.conftest import Shell

COUNT = 200
GOLD = [
    {"id": n, "question": f"What is {n}?", "answers": [f"Answer {n}"], "image": f"{n // 2}.png", "kind": "ab"[n % 2]}
    for n in range(COUNT)
]
CORRECT: dict[str, set[int]] = {
    "base": {*range(100)},
    "tuned": {*range(10, 100), *range(120, 160)},
    "alike": {*range(1, 101)},
}


def answer(correct: set[int]) -> list[dict[str, Any]]:
    return [{"id": n, "answer": f"answer {n}" if n in correct else f"no idea whatever {n}"} for n in range(COUNT)]


@pytest.fixture
def models(shell: Shell) -> Shell:
    """Made-up answers to 200 questions on 100 pages: base knows half; tuned knows 40 more, and ten of these less."""
    shell.write({"g.json": GOLD, **{f"{name}.json": answer(correct) for name, correct in CORRECT.items()}})
    return shell


LINE = "g.json base.json tuned.json alike.json"


def test_comparison_has_the_statistics_of_the_public_functions(models: Shell) -> None:
    document = models.document(LINE)
    scores = {name: [float(n in correct) for n in range(COUNT)] for name, correct in CORRECT.items()}
    pages = [f"{n // 2}.png" for n in range(COUNT)]
    p_values = []
    for comparison in document["comparisons"]:
        sample = anls_metric.differences(scores["base"], scores[comparison["second"]], pages)
        p_values.append(comparison["p_value"])
        assert comparison["difference"] == sample.mean
        assert comparison["interval"] == [*sample.interval()]
        assert comparison["mde"] == sample.minimum_detectable_effect()
    assert [each["p_value_adjusted"] for each in document["comparisons"]] == anls_metric.holm(p_values)
    assert document["clusters"] == {"field": "image", "count": 100}
    assert document["submissions"][0]["interval"] == [*anls_metric.interval(scores["base"], pages)]


def test_verdicts_and_counts_are_those_of_the_answers(models: Shell) -> None:
    document = models.document(LINE)
    tuned, alike = document["comparisons"]
    keys = ("wins", "losses", "equal", "verdict")
    assert [tuned[key] for key in keys] == [40, 10, 150, "better"]
    assert [alike[key] for key in keys] == [1, 1, 198, "no significant difference"]
    assert document["best"] == {"name": "tuned", "no_significant_difference": []}
    best = models.document("g.json base.json alike.json")["best"]
    assert best == {"name": "alike", "no_significant_difference": ["base"]}  # equal scores: by name


def test_baseline_is_compared_with_the_others(models: Shell) -> None:
    pairs = models.document(f"{LINE} --baseline tuned")["comparisons"]
    assert [(pair["first"], pair["second"], pair["verdict"]) for pair in pairs] == [
        ("tuned", "base", "worse"),
        ("tuned", "alike", "worse"),
    ]


def test_all_pairs_are_compared_and_adjusted_together(models: Shell) -> None:
    pairs = models.document(f"{LINE} --all-pairs")["comparisons"]
    names = [("base", "tuned"), ("base", "alike"), ("tuned", "alike")]
    assert [(pair["first"], pair["second"]) for pair in pairs] == names
    assert [pair["p_value_adjusted"] for pair in pairs] == anls_metric.holm([pair["p_value"] for pair in pairs])
    few = models.document(LINE)["comparisons"]
    assert [pair["p_value"] for pair in pairs[:2]] == [pair["p_value"] for pair in few]


def test_choice_of_the_best_takes_a_stricter_test(shell: Shell) -> None:
    """18 of 23 differing answers are better: p is 0.011, enough for the baseline of four, but not for their best."""

    def find(**wrong: range) -> tuple[list[str], list[str]]:
        answers = {name: {n: "x" if n in places else "a" for n in range(200)} for name, places in wrong.items()}
        document = compare(answers, {n: ["a"] for n in range(200)}).to_dict()
        return [pair["verdict"] for pair in document["comparisons"]], document["best"]["no_significant_difference"]

    two = {"best": range(5), "other": range(5, 23)}
    assert find(**two) == (["worse"], [])
    verdicts, ties = find(**two, one=range(30, 35), more=range(60, 65))
    assert (verdicts[0], ties) == ("worse", ["other", "one", "more"])


def test_groups_have_intervals_and_differences(models: Shell) -> None:
    base, tuned, _ = models.document(f"{LINE} --by kind,image")["submissions"]
    own, other = base["groups"]["kind"]["a"], tuned["groups"]["kind"]["a"]
    scores = {name: [float(n in CORRECT[name]) for n in range(0, COUNT, 2)] for name in ("base", "tuned")}
    assert own == {"anls": 0.5, "interval": [*anls_metric.interval(scores["base"])], "questions": 100}
    sample = anls_metric.differences(scores["base"], scores["tuned"])
    assert (other["difference"], other["difference_interval"]) == (sample.mean, pytest.approx([*sample.interval()]))
    page = {"anls": 0.0, "interval": None, "questions": 2, "difference": -1.0, "difference_interval": None}
    assert tuned["groups"]["image"]["0.png"] == page


def test_group_that_the_baseline_lacks_has_no_difference(shell: Shell) -> None:
    def make_table(kinds: str) -> list[dict[str, Any]]:
        return [{"id": n, "answers": ["a"], "prediction": "a", "kind": kind} for n, kind in enumerate(kinds)]

    shell.write({"one.json": make_table("aaa"), "two.json": make_table("aab")})
    groups = shell.document("one.json two.json --by kind")["submissions"][1]["groups"]["kind"]
    assert (groups["a"]["difference"], groups["b"]["difference"]) == (0.0, None)
    assert re.search(
        r"^b     two         1\.0000  -( +-){2} +1$", shell.print("one.json two.json --by kind"), re.MULTILINE
    )


def test_metrics_are_compared_with_the_baseline(models: Shell) -> None:
    document = models.document(f"{LINE} --metrics exact_match,cer")
    exact, errors = document["comparisons"][0]["metrics"]["exact_match"], document["comparisons"][0]["metrics"]["cer"]
    assert exact["difference"] == pytest.approx(0.15)
    assert errors["difference"] < 0
    assert (exact["is_better"], errors["is_better"]) == (True, True)


def test_submissions_of_other_questions_are_compared_on_the_common_ones(shell: Shell) -> None:
    rows = [{"id": n, "answers": ["a"], "prediction": "a" if n % 3 else "x"} for n in range(90)]
    shell.write(
        {
            "s.json": rows[:60],
            "t.json": rows[20:],
            "u.json": rows[60:],
            "v.json": [{**r, "answers": ["b"]} for r in rows],
        }
    )
    document = shell.document("s.json t.json")
    assert document["comparisons"][0]["questions"] == 40
    words = "t is compared with s on the 40 questions that both have: it has 70, s has 60"
    assert words in [hint["text"] for hint in document["hints"]]
    assert "u: no question ids in common with s: 60, 61, ... / 0, 1, ..." in shell.error("s.json u.json")
    assert "use the same id for the same question in both" in shell.error("s.json v.json")


@pytest.mark.parametrize("gold", ["gold", "g"])
def test_prefix_that_all_names_share_is_not_shown(shell: Shell, gold: str) -> None:
    shell.write({f"{gold}.json": GOLD, **{f"submission__{name}.json": answer(CORRECT[name]) for name in CORRECT}})
    names = " ".join(f"submission__{name}.json" for name in CORRECT)
    document = shell.document(f"{gold}.json {names} --baseline submission__tuned")
    assert [submission["name"] for submission in document["submissions"]] == ["base", "tuned", "alike"]
    assert document["baseline"] == "tuned"


def test_files_of_one_name_in_two_folders_are_two_submissions(shell: Shell) -> None:
    shell.write({"g.json": GOLD, "x/run.json": answer(CORRECT["base"]), "y/run.json": answer(CORRECT["tuned"])})
    assert [each["name"] for each in shell.document("g.json x/run.json y/run.json")["submissions"]] == [
        "x/run",
        "y/run",
    ]
