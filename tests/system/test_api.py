"""`score` and `compare`: data in memory in every form, mistakes, and what they return."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import anls_metric
from anls_metric import ANLSWarning, compare, score
from anls_metric.analysis.answer_rows import Answer
from tests.conftest import ROOT
from tests.system.conftest import ACCEPTED, BASE, BETTER, GOLD, IDS, SCORE, TUNED, list_answers, list_both, list_rows

EXAMPLES = ROOT / "examples" / "compare"
FILES = [EXAMPLES / "base.json", EXAMPLES / "tuned.json"]
ANSWERS = {"base": list_answers(), "tuned": list_answers(answers=TUNED)}
COLUMNS = {"prediction": [*BASE.values()], "references": [*ACCEPTED.values()]}
MEAN = (SCORE + BETTER) / 2
LISTS = list(BASE.values()), list(ACCEPTED.values())


def test_index_of_pandas_holds_the_ids() -> None:
    pandas = pytest.importorskip("pandas")
    by_id = pandas.Series(BASE).sample(frac=1, random_state=1)
    for answers in (by_id, by_id.rename_axis("questionId"), by_id.to_frame("answer")):
        assert score(answers, GOLD).anls == SCORE
    assert score(pandas.Series(LISTS[0]), GOLD).anls == SCORE  # by position, where the index counts
    frame = pandas.DataFrame(GOLD)[["questionId", "answers"]]
    some = frame[frame["questionId"] > IDS[3]]
    assert [each["id"] for each in score(some["questionId"].map(BASE), some).answers()] == list(map(str, IDS[4:]))
    assert score(by_id, pandas.Series(ACCEPTED)).anls == SCORE
    twice = [0] * 24  # labels that repeat are no ids
    assert score(pandas.Series(LISTS[0], index=twice), pandas.Series(LISTS[1], index=twice)).anls == SCORE
    gaps = pandas.DataFrame({"prediction": ["a", None, pandas.NA], "references": [["a"], ["b"], ["c"]]})
    assert score(gaps, missing="zero").anls == 1 / 3


BY_MODEL = [{"base": BASE[key], "tuned": TUNED[key], "gt": texts} for key, texts in ACCEPTED.items()]


@pytest.mark.parametrize(
    "make",
    [
        lambda: compare(ANSWERS, GOLD),
        lambda: compare({"base": {"prediction": LISTS[0]}, "tuned": {"answer": [*TUNED.values()]}}, LISTS[1]),
        lambda: compare({"base": LISTS[0], "tuned": [*TUNED.values()]}, LISTS[1]),
        lambda: compare({"base": tuple(LISTS[0]), "tuned": TUNED.values()}, ACCEPTED.values()),
        lambda: compare({"base": BASE, "tuned": TUNED}, ACCEPTED),
        lambda: compare({"base": list_rows(), "tuned": list_rows(TUNED)}),
        lambda: compare(list_both("model")),
        lambda: compare(list_both("method"), submission="method"),
        lambda: compare(BY_MODEL, prediction="base,tuned"),
    ],
)
def test_compare_takes_the_answers_of_each_model_in_every_form(make: Callable[[], anls_metric.Scores]) -> None:
    scores = make()
    means = {name: each.anls for name, each in scores.submissions.items()}
    assert means == pytest.approx({"base": SCORE, "tuned": BETTER})
    (comparison,) = scores.to_dict()["comparisons"]
    assert [comparison[key] for key in ("first", "second", "wins", "losses")] == ["base", "tuned", 4, 2]


@pytest.mark.parametrize("runs", [list(ANSWERS.values()), [BASE, TUNED]])
def test_runs_are_a_list_of_tables(runs: list[Any]) -> None:
    scores = score(runs, GOLD)
    (submission,) = scores.to_dict()["submissions"]
    assert submission["run_scores"] == pytest.approx([SCORE, BETTER])
    assert submission["run_sd"] == pytest.approx((BETTER - SCORE) / 2**0.5)
    assert scores.anls == pytest.approx(MEAN)
    assert [answer["run"] for answer in scores.answers()[:2]] == [1, 2]
    assert score(FILES, EXAMPLES / "gold.json").to_dict()["submissions"][0]["runs"] == 2
    both = compare({"two": runs, "one": BASE}, GOLD).submissions
    assert both["two"].run_scores == pytest.approx([SCORE, BETTER])
    assert both["one"].run_scores == []


# Mistakes

ONE = (["a"], [["a"]])
MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: score(["a"], [["a"], ["b"]]), "1 answer for 2 questions, but no ids to join them by"),
    (lambda: score(EXAMPLES / "bse.json"), f"bse.json does not exist: did you mean {FILES[0]}?"),
    (lambda: score("hf://a/b.json"), "download the file, and pass its path"),
    (lambda: score({"mine": ["a"], "theirs": [["a"]]}), "pass their field with references=, or pass a gold file"),
    (lambda: score(ANSWERS, GOLD), "it contains several submissions (base, tuned): call compare instead"),
    (lambda: compare([*ANSWERS.values()], GOLD), "expected a dict mapping the name of each model to its answers"),
    (lambda: compare({}, GOLD), "there are no predictions: pass them with submissions="),
    (lambda: compare({"a": ["x"], "b": ["x", "y"]}, [["x"]]), "b: 2 answers for 1 question, but no ids"),
    (lambda: score([("a", ["a"])]), "data: no references"),
    (lambda: score(*ONE, threshold=50), "threshold must be a number from 0 to 1, got 50"),
    (lambda: score(*ONE, variant=5), "variant must be a nonempty string, got 5"),  # type: ignore[arg-type]
    (lambda: score(*ONE, worst=-1), "worst must be a whole number of at least 0, got -1"),
    (lambda: score(*ONE, by_key=1), "by_key must be True or False, got 1"),  # type: ignore[arg-type]
    (lambda: score(*ONE, missing="zeros"), "missing must be error, zero or skip, got 'zeros'"),  # type: ignore[arg-type]
    (lambda: score(*ONE, field="confidence"), "field must be NAME=PATH, such as confidence=meta.p, got 'confidence'"),  # type: ignore[arg-type]
    (lambda: score(*ONE, corrections=[{}]), "corrections must be a nonempty string, got [{}]"),  # type: ignore[arg-type]
    (lambda: score(*ONE, references=[["a"]]), "references must be a nonempty string, got [['a']]"),  # type: ignore[arg-type]
    (lambda: score(BASE, ACCEPTED, filter=2), "no run '2': pass an existing one with filter= (found no field of runs)"),
    (lambda: score({IDS[0]: "x"}, ACCEPTED), 'to score unanswered questions 0, add missing="zero"'),
    (lambda: score(*ONE, layout="lmm_eval"), "unknown layout 'lmm_eval': did you mean lmms_eval?"),
    (lambda: score(*ONE).report(""), "the file name of a report must end in .html, such as report.html"),
    (lambda: score(*ONE).to_markdown(columns="x"), "unknown column 'x'; choose from name, "),
    (lambda: compare(ANSWERS, GOLD).anls, 'there are several submissions (base, tuned): take one with scores["base"]'),
    (lambda: compare(ANSWERS, GOLD).suspects(), "suspected label errors require at least 3 submissions, got 2"),
    (lambda: score(*ONE).find("many"), "'many' is no"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), MISTAKES)
def test_mistake_is_an_error_that_says_what_to_do(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as error:
        call()
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"varient": "rrc"}, "got an unexpected keyword argument 'varient': did you mean variant?"),
        ({"id_field": "nr"}, "did you mean id?"),
        ({"confusions": 3}, "score(...).confusions(n) lists them"),
        ({"return_all_scores": True}, "score(...).answers() lists every answer with its score"),
        ({"report": "r.html"}, 'score(...).report("report.html") writes the report'),
        ({"confidence_field": "p"}, 'pass field={"confidence": PATH}'),
        ({"quiet": True}, "got an unexpected keyword argument 'quiet'"),
        ({"xyzzy": 1}, "help(anls_metric.Options) lists the options"),
    ],
)
def test_unknown_option_is_a_type_error_that_says_what_to_do(options: Any, words: str) -> None:
    for function in (score, compare):
        with pytest.raises(TypeError, match=r"\w") as error:
            function(COLUMNS, **options)
        assert words in str(error.value)


def test_missing_file_is_also_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError) as error:
        score("nofile.json")
    assert error.value.filename == "nofile.json"
    with pytest.raises(KeyError, match="unknown submission 'anls'; choose from data"):
        score(*ONE)["anls"]


# What they return


def test_scores_have_the_figures_of_the_document() -> None:
    scores = compare(ANSWERS, GOLD, by="questionId")
    document = scores.to_dict()
    base = document["submissions"][0]
    assert json.loads(json.dumps(document)) == document
    assert (scores["base"].anls, list(scores["base"].interval or ())) == (base["anls"], base["interval"])
    assert scores.signature == document["signature"]
    assert scores.read == [each["read"] for each in document["submissions"]]
    assert repr(scores) == f"<Scores base: 0.7500, tuned: 0.8333; {scores.signature}>"
    assert str(scores).startswith("       ANLS ")
    assert str(score(BASE, GOLD)).startswith("ANLS         0.7500\n")
    assert "| base | *0.7500* |" in scores._repr_markdown_()
    assert scores.to_markdown(columns="anls", percent=True).splitlines()[2] == "| base | *75.00* |"
    assert r"\textbf{0.8333}" in scores.to_latex()
    assert scores.to_csv(columns=["anls"]).splitlines()[1].startswith("base,0.75,0.0,1.0,")


def test_answers_are_listed_with_scores_and_groups() -> None:
    (_, second, *rest) = score(BASE, GOLD, by="questionId", extract="think").answers()
    ids = {"questionId": str(IDS[1]), "id": str(IDS[1]), "submission": "data"}
    question = {"question": f"What is {IDS[1]}?", "references": ACCEPTED[IDS[1]]}
    text = ACCEPTED[IDS[1]][0]
    assert second == ids | question | {"prediction": text, "raw": text, "score": 1.0, "outcome": "right"}
    assert len(rest) == 22
    # Type checkers know that these keys are there.
    assert Answer.__required_keys__ == second.keys() - {"raw", "questionId"}


def test_frames_have_a_row_for_each_answer_or_submission() -> None:
    pytest.importorskip("pandas")
    scores = compare(ANSWERS, GOLD)
    assert scores.answers_frame()["score"].mean() == pytest.approx(MEAN)
    assert scores.to_pandas()["anls"].tolist() == pytest.approx([SCORE, BETTER])


def test_hint_is_a_warning_at_the_line_of_the_user() -> None:
    raw = {key: f"<think>Hm.</think>{text}" for key, text in BASE.items()}
    with pytest.warns(ANLSWarning, match='extract="think"') as caught:
        scores = score(raw, GOLD)
    assert caught[0].filename == __file__
    assert [str(each.message) for each in caught] == scores.hints
    (hint,) = scores.to_dict()["hints"]
    assert hint["anls"] == pytest.approx(score(raw, GOLD, extract=hint["extract"]).anls) == pytest.approx(SCORE)
    with pytest.warns(ANLSWarning, match="^x: "):
        compare({"x": raw, "y": BASE}, GOLD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(BASE, GOLD)
