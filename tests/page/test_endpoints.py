"""The answers of the endpoints, without the server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import api
from anls_metric.command_line import build_parser
from anls_metric.core.variants import OF_RULES
from anls_metric.nested import get_value_variant
from anls_metric.page.endpoints import (
    compare_variants,
    explain_answer,
    list_layouts,
    list_variants,
    score_answers,
    score_files,
    score_logs,
)
from anls_metric.page.inputs import read_link
from anls_metric.page.messages import describe_error, format_remedy
from anls_metric.page.uploads import Upload
from anls_metric.reading.errors import InputError
from anls_metric.reading.layouts import LAYOUTS
from tests.conftest import ROOT, without_questions
from tests.page.files import write_table

GOLD = Upload(str(ROOT / "examples" / "gold_label.json"))
SUBMISSION = Upload(str(ROOT / "examples" / "submission.json"))
TABLE = Upload(str(ROOT / "examples" / "table.csv"))


def test_answer_is_explained() -> None:
    why = explain_answer("The Coca", ["Coca Cola", "Cola"])
    assert why["score"] == 0
    assert why["sentence"] == "5 edits on 9 characters: similarity 0.4444 is below the threshold of 0.5, so 0."
    assert why["signature"] == anls_metric.signature()
    assert [match["distance"] for match in why["accepted_answers"]] == [5, 5]
    assert why["edits"][0] == {"operation": "insert", "prediction": "", "reference": "c"}
    assert explain_answer("a", ["a"], "rrc", 0.7, False)["signature"] == anls_metric.signature("rrc", 0.7, False)


def test_long_texts_are_explained_without_edits() -> None:
    assert len(explain_answer("ab" * 1_000, ["ac" * 1_000])["edits"]) == 2_000
    why = explain_answer("ab" * 2_500, ["ac" * 2_500])
    assert (why["score"], why["edits"]) == (0.5, None)


def test_every_variant_is_compared() -> None:
    scores = compare_variants("ab", ["abcd"])
    assert scores == {name: anls_metric.anls_score("ab", ["abcd"], variant=name) for name in anls_metric.VARIANTS}
    assert [row["name"] for row in list_variants()] == [*anls_metric.VARIANTS, *anls_metric.OF_VALUES, *OF_RULES]


def test_many_answers_are_scored() -> None:
    many = score_answers(["a", "b"], [["a"], ["c"]], "rrc")
    assert many == {"anls": 0.5, "scores": [1.0, 0.0], "signature": anls_metric.signature("rrc")}


# Lists and nested values


TOTAL = '{"total": "12.5", "items": ["tea"]}'


def test_lists_and_nested_values_are_explained() -> None:
    accepted = '{"total": {"__tuple__": ["12", "12.50"]}, "items": ["milk", "tea"]}'
    why = explain_answer(TOTAL, [accepted], "anls_star")
    assert why["score"] == pytest.approx((0.8 + 1) / 3)
    assert why["signature"].startswith("anls|anls_star|matching:munkres-1.1.4")
    scores = [(leaf["where"], leaf["score"]) for leaf in why["leaves"]]
    assert scores == [("total", 0.8), ("items[0]", 1), ("items[0]", 0)]
    assert why["leaves"][2] == {
        "where": "items[0]",
        "prediction": None,
        "reference": "milk",
        "score": 0,
        "sentence": "a text is accepted and nothing is there, so 0",
    }
    assert explain_answer("tea", ["milk", "tea"], "anls_star")["score"] == 1  # one of two texts
    assert explain_answer('["tea"]', ['["milk", "tea"]'], "anlsl", 0.9)["signature"].count("threshold:0.9") == 1


def test_many_lists_and_nested_values_are_scored() -> None:
    many = score_answers([TOTAL, "[]"], [[TOTAL], ['["tea"]']], "anls_star")
    assert many == {"anls": 0.5, "scores": [1.0, 0.0], "signature": get_value_variant("anls_star").signature()}


def test_files_of_lists_and_nested_values_are_scored() -> None:
    invoices = Upload(str(ROOT / "examples" / "invoices.jsonl"))
    options: dict[str, Any] = {"none_keys": "ignored", "average": "leaves"}
    found = score_logs([invoices], variant="anls_star", worst=1, **options)
    assert found == api.score(invoices.path, variant="anls_star", worst=1, **options).to_dict()
    assert found["label"] == "ANLS*"


MANY = json.dumps(list(range(600)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: explain_answer("[]", ["{'a': 1}"], "anls_star"),
            "looks like a list or object: write it as JSON",
        ),
        (lambda: explain_answer(MANY, [MANY], "anls_star"), "prediction: there are too many values in it"),
        (
            lambda: score_answers([MANY], [[MANY]], "anls_star"),
            "prediction of row 0: there are too many values in it",
        ),
        (
            lambda: score_answers([MANY[:1000] + "]"] * 9, [["[1]" * 200]] * 9, "anls_star"),
            "score them as a file",
        ),
        (lambda: score_answers(["a"], [], "anls_star"), "predictions has 1"),
        (
            lambda: explain_answer("[]", ["[]"], "anls_star", None, False),
            "anls_star has no option 'ignore_case'",
        ),
        (lambda: score_files(GOLD, [SUBMISSION], average="leaves"), "average is for lists and nested values"),
        (lambda: score_files(GOLD, [SUBMISSION], "anls_star", none_keys="maybe"), "none_keys"),
        (lambda: score_files(GOLD, [SUBMISSION], "rrc,standard"), "unknown variant 'rrc,standard'"),
    ],
)
def test_unscorable_values_are_reported(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


LONG = "a" * 30_000


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: explain_answer("a", ["a"], "standard", 7.0), "threshold is 7.0"),
        (
            lambda: explain_answer(LONG, [LONG]),
            "prediction: 30,000 characters and 1 accepted answers of 30,000",
        ),
        (lambda: explain_answer("a" * 20_000, ["b" * 20_000] * 1_000), "too long to compare here"),
        (lambda: explain_answer("a", ["b"] * 1_001), "accepted_answers has more than 1,000 texts"),
        (lambda: compare_variants(LONG, [LONG]), "too long to compare here"),
        (lambda: score_answers(["a", LONG], [["a"], [LONG]]), "prediction of row 1: 30,000 characters"),
        (lambda: score_answers(["a" * 5_000] * 50, [["b" * 5_000]] * 50), "score them as a file"),
        (lambda: explain_answer("a", ["a"], "none"), "unknown variant 'none'"),
        (lambda: explain_answer("a", []), "accepted_answers"),
        (lambda: explain_answer(7, ["a"]), "not a string"),  # type: ignore[arg-type]
        (lambda: score_answers(["a"], []), "predictions has 1"),
        (lambda: score_files(GOLD, [SUBMISSION], case="maybe"), "case is 'maybe'"),
        (lambda: score_files(GOLD, [SUBMISSION], baseline="x", extract="y"), "unknown extraction rule 'y'"),
        (lambda: score_files(GOLD, [SUBMISSION], worst=-1), "worst is -1"),
        (lambda: score_logs([TABLE], "nothing", "accepted"), "no field 'nothing'"),
        (lambda: score_logs([TABLE]), "it has no accepted answers"),
        (lambda: score_logs([GOLD]), "name the field of the predictions with prediction_field, or call score_files"),
        (lambda: score_logs([TABLE], 7), "prediction_field"),  # type: ignore[arg-type]
    ],
)
def test_wrong_input_is_reported(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert words in describe_error(error.value, "endpoint")


def test_files_are_scored() -> None:
    result = score_files(GOLD, [SUBMISSION], worst=2)
    (one,) = result["submissions"]
    assert (one["name"], one["questions"], one["anls"]) == ("submission", 6, pytest.approx(0.6273148))
    assert (one["outcomes"]["other"], one["outcomes"]["empty"]) == (1, 1)
    assert [worst["score"] for worst in one["worst"]] == [0, 0]
    assert without_questions(result["signature"]) == anls_metric.signature()
    low, high = one["interval"]
    assert low < one["anls"] < high
    scored = score_files(GOLD, [SUBMISSION], case="counts")
    assert without_questions(scored["signature"]) == anls_metric.signature(ignore_case=False)
    assert without_questions(
        score_logs([TABLE], "reply", "accepted", "", "rrc", 0.9)["signature"]
    ) == anls_metric.signature("rrc", 0.9)
    extracted = score_files(GOLD, [SUBMISSION], extract="think,final")
    assert "extract:think,final" in extracted["signature"]


def test_document_is_the_one_of_the_other_doors() -> None:
    assert score_files(GOLD, [SUBMISSION]) == api.score(SUBMISSION.path, GOLD.path).to_dict()


def test_several_submissions_are_compared(tmp_path: Path) -> None:
    records = json.loads(Path(GOLD.path).read_text())["data"]
    better = [{"questionId": record["questionId"], "answer": record["answers"][0]} for record in records]
    (tmp_path / "better.json").write_text(json.dumps(better))
    submissions = [SUBMISSION, Upload(str(tmp_path / "better.json"))]
    (one,) = score_files(GOLD, submissions)["comparisons"]
    assert (one["first"], one["second"], one["difference"]) == ("submission", "better", pytest.approx(0.3727, abs=1e-4))
    assert (one["better"], one["worse"], one["verdict"]) == (4, 0, "too few questions")
    (one,) = score_files(GOLD, submissions, baseline="better")["comparisons"]
    assert one["first"] == "better"
    with pytest.raises(ValueError, match="unknown baseline 'best'"):
        score_files(GOLD, submissions, baseline="best")


def test_submissions_to_other_questions_have_their_numbers_all_the_same(tmp_path: Path) -> None:
    for name, start in (("one", 0), ("other", 100)):
        rows = [{"id": start + n, "prediction": "a", "references": ["a"]} for n in range(3)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    result = score_logs([Upload(str(tmp_path / name)) for name in ("one.json", "other.json")])
    assert [one["anls"] for one in result["submissions"]] == [1, 1]
    assert result["comparisons"] == []
    assert result["hints"][0].startswith("not compared: ")


def test_interval_is_that_of_the_clusters(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.jsonl", 60)
    alone = score_logs([table])["submissions"][0]["interval"]
    rows = [json.loads(line) | {"image": n // 6} for n, line in enumerate(Path(table.path).read_text().splitlines())]
    (tmp_path / "u.json").write_text(json.dumps(rows))
    result = score_logs([Upload(str(tmp_path / "u.json"))])
    assert result["clusters"] == {"field": "image", "count": 10}
    assert result["submissions"][0]["interval"] != alone
    assert score_logs([write_table(tmp_path / "v.jsonl", 1)])["submissions"][0]["interval"] is None


def test_every_layout_is_listed() -> None:
    assert [row["name"] for row in list_layouts()] == [layout.name for layout in LAYOUTS]
    assert all(row["source"] for row in list_layouts())
    assert {row["holds"] for row in list_layouts()} == {"answers", "gold", "both", "answers or gold"}


def test_unanswered_questions_score_0_on_request(tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    few = Upload(str(tmp_path / "few.json"))
    result = score_files(GOLD, [few], unanswered_score_0=True)
    assert result["submissions"][0]["outcomes"]["missing"] == 5
    with pytest.raises(InputError) as error:
        score_files(GOLD, [few])
    assert describe_error(error.value, "endpoint").endswith("add the answers, or score them 0 with unanswered_score_0")


@pytest.mark.parametrize(
    "wrong", [{"variant": "none"}, {"threshold": "7"}, {"threshold": "x"}, {"threshold": "nan"}, {"case": "maybe"}]
)
def test_link_is_checked(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        read_link(wrong)


def test_error_is_described_in_one_short_line() -> None:
    words = describe_error(InputError("x" * 10_000 + "\x1b[2J\ud800", "a\nb"), "endpoint")
    assert len(words) < 620
    assert words.isprintable()
    assert (
        describe_error(FileNotFoundError("/tmp/gradio/secret"), "endpoint")
        == "the file is not there any more: upload it again"
    )


def test_error_does_not_name_the_folder_of_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", "/tmp/anls-x")
    words = describe_error(InputError("cannot open /tmp/anls-x/0a/a.csv", "a.csv"), "endpoint")
    assert words == "a.csv: cannot open 0a/a.csv"


def test_unexpected_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert "secret" not in describe_error(KeyError("secret"), "endpoint")
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({"gold": GOLD, "submissions": [SUBMISSION]}, "anls gold_label.json submission.json"),
        ({"files": [TABLE], "variant": "rrc", "threshold": 0.0}, "anls table.csv --variant rrc --threshold 0.0"),
        ({"files": [Upload("/x/-my log's.json")], "variant": None}, """anls './-my log'"'"'s.json'"""),
        (
            {"files": [TABLE], "case": "counts", "unanswered_score_0": True, "extract": "think,final", "worst": 3},
            "anls table.csv --extract think,final --missing zero --no-ignore-case",
        ),
        (
            {"files": [TABLE], "variant": "anls_star", "none_keys": "ignored", "average": "leaves"},
            "anls table.csv --variant anls_star --none-keys ignored --average leaves",
        ),
        (
            {"files": [TABLE], "prediction_field": "a", "references_field": "b.c", "id_field": "", "baseline": "x"},
            "anls table.csv --prediction-field a --references-field b.c --baseline x",
        ),
    ],
)
def test_error_of_full_page_suggests_a_command(values: dict[str, Any], command: str) -> None:
    assert format_remedy(values) == f"on your computer, type {command}"
    parsed = build_parser().parse_args(shlex.split(command)[1:])
    assert parsed.files


def test_answers_have_no_command_to_type() -> None:
    assert format_remedy({"prediction": "a", "accepted_answers": ["a"]}) == "score it with anls on your computer"


def test_results_are_json() -> None:
    for result in (
        explain_answer("a", ["b"]),
        compare_variants("a", ["b"]),
        score_files(GOLD, [SUBMISSION]),
    ):
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_endpoints_and_views_import_no_gradio(run_python: Any) -> None:
    program = (
        "import sys; sys.modules['gradio'] = sys.modules['gradio_client'] = sys.modules['starlette'] = None;"
        "from anls_metric.page import calls, endpoints, inputs, messages, middleware, upload_scoring, uploads, views;"
        "print(endpoints.explain_answer('a', ['a'])['score'], views.show_answer('a', '', inputs.get_scorer('rrc'))[1:])"
    )
    done = run_python(program, ROOT)
    assert (done.stdout, done.stderr) == ("1.0 ('',)\n", "")
