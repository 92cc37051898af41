"""What programs are answered, without the server that asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import anls
from anls_metric.analysis import significance
from anls_metric.page import api, limits
from anls_metric.page.errors import FOR_PROGRAMS, told
from anls_metric.page.uploads import Upload
from anls_metric.reading.rows import REMEDIES, InputError
from tests.conftest import ROOT
from tests.page.files import write_table

GOLD = Upload(str(ROOT / "examples" / "gold_label.json"))
SUBMISSION = Upload(str(ROOT / "examples" / "submission.json"))
TABLE = Upload(str(ROOT / "examples" / "table.csv"))


def test_an_answer_is_explained() -> None:
    why = api.explain_answer("The Coca", ["Coca Cola", "Cola"])
    assert why["score"] == 0
    assert why["sentence"] == "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0."
    assert why["signature"] == anls.signature()
    assert [match["distance"] for match in why["accepted_answers"]] == [5, 5]
    assert why["edits"][0] == {"operation": "insert", "prediction": "", "reference": "c"}
    assert api.explain_answer("a", ["a"], "rrc", 0.7, False)["signature"] == anls.signature("rrc", 0.7, False)


def test_long_texts_are_explained_without_edits() -> None:
    assert len(api.explain_answer("ab" * 1_000, ["ac" * 1_000])["edits"]) == 2_000
    why = api.explain_answer("ab" * 2_500, ["ac" * 2_500])
    assert (why["score"], why["edits"]) == (0.5, None)


def test_every_variant_is_compared() -> None:
    scores = api.compare_variants("ab", ["abcd"])
    assert scores == {name: anls.anls_score("ab", ["abcd"], variant=name) for name in anls.VARIANTS}
    assert {row["name"] for row in api.list_variants()} == set(anls.VARIANTS)


def test_many_answers_are_scored() -> None:
    many = api.score_answers(["a", "b"], [["a"], ["c"]], "rrc")
    assert many == {"anls": 0.5, "scores": [1.0, 0.0], "signature": anls.signature("rrc")}


LONG = "a" * 30_000


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: api.explain_answer("a", ["a"], "standard", 7.0), "threshold is 7.0"),
        (lambda: api.explain_answer(LONG, [LONG]), "prediction: 30,000 characters and 1 accepted answers of 30,000"),
        (lambda: api.explain_answer("a" * 20_000, ["b" * 20_000] * 1_000), "too long to compare here"),
        (lambda: api.explain_answer("a", ["b"] * 1_001), "accepted_answers has more than 1,000 texts"),
        (lambda: api.compare_variants(LONG, [LONG]), "too long to compare here"),
        (lambda: api.score_answers(["a", LONG], [["a"], [LONG]]), "prediction of row 1: 30,000 characters"),
        (lambda: api.score_answers(["a" * 5_000] * 50, [["b" * 5_000]] * 50), "score them as a file"),
        (lambda: api.explain_answer("a", ["a"], "none"), "there is no variant 'none'"),
        (lambda: api.explain_answer("a", []), "accepted_answers"),
        (lambda: api.explain_answer(7, ["a"]), "not a string"),  # type: ignore[arg-type]
        (lambda: api.score_answers(["a"], []), "1 predictions"),
        (lambda: api.score_files(GOLD, SUBMISSION, case="maybe"), "case is 'maybe'"),
        (lambda: api.score_table(TABLE, "nothing"), "there is no field 'nothing'"),
    ],
)
def test_a_mistake_is_told(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert said in told(error.value, FOR_PROGRAMS)


def test_files_are_scored() -> None:
    result = api.score_files(GOLD, SUBMISSION)
    assert result["anls"] == pytest.approx(0.6273148)
    assert {name: count for name, count in result["zeros"].items() if count} == {"other": 1, "empty": 1}
    assert result["signature"] == anls.signature()
    assert list(result["scores"]) == ["1", "2", "3", "4", "5", "6"]
    low, high = result["interval"]
    assert low < result["anls"] < high
    assert api.score_files(GOLD, SUBMISSION, case="counts")["signature"] == anls.signature(ignore_case=False)
    assert api.score_table(TABLE, "model", "accepted", "rrc", 0.9)["signature"] == anls.signature("rrc", 0.9)


def test_an_interval_is_the_one_that_the_page_and_the_example_show(load_example: Any, capsys: Any) -> None:
    result = api.score_files(GOLD, SUBMISSION)
    assert tuple(result["interval"]) == significance.interval(list(result["scores"].values()))
    load_example("confidence_interval").main(GOLD.path, SUBMISSION.path)
    low, high = result["interval"]
    assert f"interval {low:.4f} to {high:.4f}" in capsys.readouterr().out


def test_one_question_has_no_interval(tmp_path: Path) -> None:
    assert api.score_table(write_table(tmp_path / "t.jsonl", 1))["interval"] is None


def test_unanswered_questions_score_0_where_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    few = Upload(str(tmp_path / "few.json"))
    assert api.score_files(GOLD, few, unanswered_score_0=True)["zeros"]["missing"] == 5
    with pytest.raises(InputError) as error:
        api.score_files(GOLD, few)
    assert told(error.value, FOR_PROGRAMS).endswith("add them, or count them as 0 with unanswered_score_0")


@pytest.mark.parametrize(
    "wrong", [{"variant": "none"}, {"threshold": "7"}, {"threshold": "x"}, {"threshold": "nan"}, {"case": "maybe"}]
)
def test_a_link_is_checked(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        api.settings_of_link(wrong)


def test_every_remedy_has_words_for_a_visitor_and_for_a_program() -> None:
    from anls_metric.page.errors import ON_THE_PAGE

    elsewhere = {"no references", "no predictions", "no gold", "no submission", "several ids"}  # of the command alone
    elsewhere |= {
        "results elsewhere",
        "overwrite results",
        "extract",
        "references separator",
        "another prediction field",
        "none keys",
    }
    assert set(ON_THE_PAGE) == set(FOR_PROGRAMS) == set(REMEDIES) - elsewhere


def test_what_is_told_is_one_short_line() -> None:
    said = told(InputError("x" * 10_000 + "\x1b[2J\ud800", "a\nb"), FOR_PROGRAMS)
    assert len(said) < 620
    assert said.isprintable()
    assert (
        told(FileNotFoundError("/tmp/gradio/secret"), FOR_PROGRAMS) == "the file is not there any more: drop it again"
    )


def test_what_nobody_foresaw_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert "secret" not in told(KeyError("secret"), FOR_PROGRAMS)
    assert "secret" in caplog.text


def test_a_large_request_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "turnstile", limits.Turnstile(most_waiting=1))
    with limits.turnstile.passed(large=True):
        assert api.explain_answer("a", ["a"])["score"] == 1
        with pytest.raises(ValueError, match="try again in a minute"):
            api.explain_answer("a" * 5_000, ["b" * 5_000])
        with pytest.raises(ValueError, match="try again in a minute"):
            api.compare_variants("a" * 1_000, ["b" * 1_000])


def test_results_are_json() -> None:
    for result in (api.explain_answer("a", ["b"]), api.compare_variants("a", ["b"]), api.score_files(GOLD, SUBMISSION)):
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_what_is_answered_and_shown_needs_no_gradio(run_python: Any) -> None:
    program = (
        "import sys; sys.modules['gradio'] = sys.modules['gradio_client'] = sys.modules['starlette'] = None;"
        "from anls_metric.page import api, errors, guard, limits, uploads, visit;"
        "print(api.explain_answer('a', ['a'])['score'], visit.one_answer('a', '', api.settings('rrc', 1, True))[1:])"
    )
    done = run_python(program, ROOT)
    assert (done.stdout, done.stderr) == ("1.0 ('',)\n", "")
