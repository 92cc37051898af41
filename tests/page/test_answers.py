"""The answers of the endpoints and the files of the page, without a server."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import typing
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import messages
from anls_metric.analysis.steps import EXAMPLES
from anls_metric.api import score
from anls_metric.core.scorer import get_scorer
from anls_metric.messages import Message
from anls_metric.options import OPTIONS
from anls_metric.page import file_scores, processes
from anls_metric.page.endpoints import (
    compare_variants,
    describe_error,
    explain_answer,
    list_layouts,
    list_variants,
    score_answers,
    score_files,
    score_logs,
)
from anls_metric.page.markup import SETTINGS, write_page
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.report.texts import escape
from tests.conftest import ROOT, without_questions
from tests.page.conftest import write_table

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
TABLE = ROOT / "examples" / "table.csv"
TOTAL = '{"total": "12.5", "items": ["tea"]}'
LONG = "a" * 30_000


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of uploads."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def upload(folder: Path, *files: Path) -> list[str]:
    """Store files as gradio does."""
    paths = [folder / f"{place:064x}" / file.name for place, file in enumerate(files)]
    for path, file in zip(paths, files):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.read_bytes())
    return list(map(str, paths))


# Answers


def test_answer_is_explained() -> None:
    why = explain_answer("The Coca", ["Coca Cola", "Cola"])
    assert (why["score"], why["signature"]) == (0, anls_metric.signature())
    assert why["sentence"] == "5 edits on 9 characters: similarity 44.4% is below the threshold of 50%, so 0."
    assert [match["distance"] for match in why["references"]] == [5, 5]
    assert why["edits"][0] == {"operation": "insert", "prediction": "", "reference": "c"}
    assert explain_answer("a", ["a"], "rrc", 0.7, False)["signature"] == anls_metric.signature("rrc", 0.7, False)


def test_variants_are_compared_and_listed() -> None:
    scores = compare_variants("ab", ["abcd"])
    assert scores == {name: anls_metric.anls_score("ab", ["abcd"], variant=name) for name in anls_metric.VARIANTS}
    assert [row["name"] for row in list_variants()] == [*anls_metric.SCORERS]
    assert [(row["name"], row["contains"]) for row in list_layouts()] == [
        (each.name, each.contains) for each in LAYOUTS
    ]


@pytest.mark.parametrize("count", [2, 300])  # in the server, and in a process
def test_many_answers_are_scored(count: int) -> None:
    many = score_answers(["a", "b"] * (count // 2), [["a"], ["c"]] * (count // 2), "rrc")
    assert many == {"anls": 0.5, "scores": [1.0, 0.0] * (count // 2), "signature": anls_metric.signature("rrc")}


def test_lists_and_nested_values_are_scored() -> None:
    accepted = '{"total": {"__tuple__": ["12", "12.50"]}, "items": ["milk", "tea"]}'
    why = explain_answer(TOTAL, [accepted], "anls_star")
    assert why["score"] == pytest.approx((0.8 + 1) / 3)
    leaves = [("total", 0.8), ("items[0]", 1), ("items[0]", 0)]
    assert [(leaf["where"], leaf["score"]) for leaf in why["leaves"]] == leaves
    many = score_answers([TOTAL, "[]"], [[TOTAL], ['["tea"]']], "anls_star")
    assert many == {"anls": 0.5, "scores": [1.0, 0.0], "signature": get_scorer("anls_star").signature()}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: explain_answer("a", ["a"], "standard", 7.0), "threshold must be a number from 0 to 1, got 7.0"),
        (lambda: explain_answer("a", ["a"], "none"), "unknown variant 'none'"),
        (lambda: explain_answer("a", ["a"], ["rrc"]), "variant is ['rrc'] (list): pass a name"),  # type: ignore[arg-type]
        (lambda: explain_answer("a", ["a"], "dude"), "dude needs answer_type"),
        (lambda: explain_answer("a", []), "references"),
        (lambda: explain_answer(7, ["a"]), "not a string"),  # type: ignore[arg-type]
        (lambda: explain_answer("[]", ["{'a': 1}"], "anls_star"), "looks like a list or object: write it as JSON"),
        (lambda: explain_answer("[]", ["[]"], "anls_star", None, False), "ignore_case"),
        (lambda: score_answers(["a"], []), "predictions has 1"),
        (lambda: score_answers("a", ["a"]), "predictions is 'a' (str): pass a list of strings"),  # type: ignore[arg-type, list-item]
        (lambda: score_answers(["a", 7], [["a"], ["b"]]), "prediction of row 1"),  # type: ignore[list-item]
        (lambda: score_files(str(GOLD), [str(SUBMISSION)]), "not an uploaded file"),
        (lambda: score_logs([]), "files is missing"),
        (lambda: score_logs(["a.json"] * 21), "files has more than 20 files"),
    ],
)
def test_wrong_call_is_reported(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert words in describe_error(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"worst": -1}, "worst must be a whole number from 0 to 100, got -1"),
        ({"extract": "y"}, "unknown extraction step 'y'"),
        ({"missing": "maybe"}, "missing must be error, zero or skip, got 'maybe'"),
        ({"id": "nothing"}, "table.csv: no field 'nothing'"),
    ],
)
def test_wrong_option_is_reported(uploads: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        score_logs(upload(uploads, TABLE), **options)


def test_long_answers_are_scored_in_a_process() -> None:
    assert explain_answer(LONG, [LONG[1:]])["references"][0]["distance"] == 1
    assert set(compare_variants(LONG, [LONG]).values()) == {1}
    assert explain_answer("a", ["b"] * 20_000)["score"] == 0


def test_unexpected_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert "secret" not in describe_error(KeyError("secret"))
    assert "secret" in caplog.text


# Files for programs


def test_files_are_scored(uploads: Path) -> None:
    gold, submission, table = upload(uploads, GOLD, SUBMISSION, TABLE)
    document = score(SUBMISSION, GOLD, worst=2).to_dict()
    assert score_files(gold, [submission], worst=2) == json.loads(json.dumps(document))
    same = score_files(gold, [submission], ignore_case=False)
    assert without_questions(same["signature"]) == anls_metric.signature(ignore_case=False)
    found = score_logs([table], "rrc", 0.9, prediction="reply", references="accepted")
    assert without_questions(found["signature"]) == anls_metric.signature("rrc", 0.9)
    options: dict[str, Any] = {"variant": "anls_star", "none_keys": "ignored", "average": "leaves"}
    invoices = ROOT / "examples" / "invoices.jsonl"
    found = score_logs(upload(uploads, invoices), **options)
    assert found == json.loads(json.dumps(score(invoices, **options).to_dict()))


@pytest.mark.parametrize("endpoint", [score_files, score_logs])
def test_endpoints_for_files_have_the_options_of_the_page(endpoint: Any) -> None:
    parameters = inspect.signature(endpoint).parameters
    assert (
        {*SETTINGS, "variant", "threshold", "ignore_case"}
        <= {*parameters}
        == {*typing.get_type_hints(endpoint)} - {"return"}
    )
    lines = re.findall(r"^    (\w+): .+\.$", endpoint.__doc__, re.MULTILINE)
    assert lines == [*parameters]


def test_option_that_an_error_of_an_endpoint_proposes_works(uploads: Path, tmp_path: Path) -> None:
    gold = [{"questionId": n, "answers": ["tea"], "kind": "ab"[n % 2]} for n in range(4)]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "more.json").write_text(json.dumps([{"questionId": n, "answer": "tea"} for n in range(6)]))
    paths = upload(uploads, tmp_path / "gold.json", tmp_path / "more.json")
    with pytest.raises(ValueError, match='extra="ignore" skips such answers'):
        score_files(paths[0], paths[1:])
    (submission,) = score_files(paths[0], paths[1:], extra="ignore", by="kind")["submissions"]
    assert (submission["anls"], {*submission["groups"]["kind"]}) == (1.0, {"a", "b"})


def test_errors_and_documents_name_no_folder(uploads: Path, tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    gold, few = upload(uploads, GOLD, tmp_path / "few.json")
    with pytest.raises(ValueError, match=r'^few\.json: .*missing="zero"') as error:
        score_files(gold, [few])
    assert str(tmp_path) not in str(error.value)
    found = score_files(gold, [few], missing="zero")
    missing = [row["answers"] for row in found["submissions"][0]["lost"]["rows"] if row["cause"] == "missing"]
    assert missing == [5]
    assert str(tmp_path) not in json.dumps(found)


def test_file_beyond_the_limits_is_for_the_command(uploads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        processes.watch, "__kwdefaults__", {**(processes.watch.__kwdefaults__ or {}), "memory": 120_000_000}
    )
    (table,) = upload(uploads, write_table(uploads / "my table.jsonl", 100_000))
    with pytest.raises(ValueError, match=r"more memory or time than the web app allows|does not fit in memory"):
        score_logs([table], variant="rrc")


# Files of the page


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., file_scores.Shown]:
    """A function that scores files as the page does, and writes tmp_path/report/report.html."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))

    def score(*paths: Path, gold: str = "", names: Sequence[str] = (), **options: Any) -> file_scores.Shown:
        report = tmp_path / "report" / "report.html"
        shutil.rmtree(report.parent, ignore_errors=True)
        given = dict(zip(map(str, paths), names))
        shown = file_scores.Shown(**file_scores.show(list(map(str, paths)), gold, given, options, str(report)))
        assert bool(shown.report) == report.exists()
        return shown

    return score


Show = Callable[..., file_scores.Shown]


def list_names(shown: file_scores.Shown) -> list[str]:
    return [name for _, role, name in shown.files if role == file_scores.SUBMISSION]


def test_gold_file_is_found_in_any_order(show: Show, tmp_path: Path) -> None:
    gold = ["gold_label.json", "gold file", ""]
    submission = ["submission.json", "submission", "submission"]
    for files, rows in (((GOLD, SUBMISSION), [gold, submission]), ((SUBMISSION, GOLD), [submission, gold])):
        shown = show(*files)
        assert (shown.said, shown.problems, shown.files) == ("ANLS of submission: 62.7.", [], rows)
        assert "0.6273" in (tmp_path / "report" / "report.html").read_text()
    both = write_table(tmp_path / "both.jsonl", 9), write_table(tmp_path / "other.jsonl", 9)
    assert list_names(show(*both)) == ["both", "other"]


def test_file_that_cannot_be_read_is_the_only_problem(show: Show, tmp_path: Path) -> None:
    """Not also that the gold file, which is left, has no predictions."""
    (tmp_path / "page.png").write_bytes(b"\x89PNG\r\n")
    ((text, _),) = show(GOLD, tmp_path / "page.png").problems
    assert text.startswith("page.png: ")


def test_page_asks_which_file_is_the_gold_file(show: Show, tmp_path: Path) -> None:
    """Both have only "answer"."""
    files = [tmp_path / name for name in ("first.json", "second.json")]
    for file, text in zip(files, "ab"):
        file.write_text(json.dumps([{"questionId": n, "answer": text} for n in range(3)]))
    shown = show(*files)
    assert (shown.golds, shown.said) == (["first", "second"], file_scores.WHICH_GOLD)
    shown = show(*files, gold="second")
    assert (shown.golds, list_names(shown), shown.said) == (["first", "second"], ["first"], "ANLS of first: 0.0.")
    named = files[1].rename(tmp_path / "labels.json")
    shown = show(files[0], named)
    assert (shown.golds, shown.gold, list_names(shown)) == (["first", "labels"], "labels", ["first"])


def test_names_make_runs(show: Show, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    second = tmp_path / "a" / "submission.json"
    second.write_bytes(SUBMISSION.read_bytes())
    assert list_names(show(GOLD, SUBMISSION, second)) == ["submission", "submission (2)"]
    shown = show(GOLD, SUBMISSION, second, names=["", "base", "base"])
    assert shown.said == "ANLS of base: 62.7."
    assert show(GOLD, SUBMISSION, names=["", ""]).said == "ANLS of submission: 62.7."
    prefixed = [tmp_path / f"submission__{name}.json" for name in ("ant", "bee")]
    for path in prefixed:
        path.write_bytes(SUBMISSION.read_bytes())
    assert show(GOLD, *prefixed).said == "ANLS of ant: 62.7; ANLS of bee: 62.7. 1 hint."


def test_hint_in_the_report_has_its_option(show: Show, tmp_path: Path) -> None:
    rows = [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)]
    (tmp_path / "run.json").write_text(json.dumps(rows))
    assert show(tmp_path / "run.json").said == "ANLS of run: 0.0. 1 hint."
    report = (tmp_path / "report" / "report.html").read_text()
    assert "30 of 30 predictions look like raw model output" in report
    options = escape(json.dumps({"extract": "sentence"}))
    assert f'<button data-options="{options}" hidden>Extract answers from raw model output: sentence<' in report


def test_button_of_a_hint_sets_all_its_options(show: Show, tmp_path: Path) -> None:
    rows = [
        {"id": n, "prediction": json.dumps({"Total Sum": n}), "references": [json.dumps({"total_sum": n})]}
        for n in range(30)
    ]
    (tmp_path / "run.json").write_text(json.dumps(rows))
    clicked: dict[str, str] = {}
    for expected in ({"variant": "anls_star", "references": "references.0"}, {"normalize": "keys"}):
        show(tmp_path / "run.json", **clicked)
        report = (tmp_path / "report" / "report.html").read_text()
        options = json.loads(unescape(re.findall(r'data-options="(.*?)"', report)[0]))
        assert options == expected
        assert options.keys() <= {*SETTINGS, "variant"}
        clicked |= options
    assert show(tmp_path / "run.json", **clicked).said == "ANLS* of run: 100.0."


def test_controls_that_messages_quote_are_on_the_page() -> None:
    labels = {unescape(text).strip() for text in re.findall(r"<label[^>]*>(?:<input[^>]*>)?([^<]+)", write_page())}
    labels |= {OPTIONS["gold"].label} & {
        unescape(text).partition(":")[0] for text in re.findall("<legend>(.*?)<", write_page())
    }
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "anls_metric").rglob("*.py")]
    named = {name for source in sources for name in re.findall(r"\{use\.(\w+)", source)}
    named |= {name for step in EXAMPLES for name in step.options}
    said = {name: Message("", f"{{use.{name}}}").text("page") for name in named if name in OPTIONS}
    assert {"extract", "missing", "gold", "variant", "id"} <= said.keys()
    for words in said.values():
        assert words.strip("“”") in labels or words.endswith(" of the anls command"), words
    quoted = {label for words in messages._LISTS.values() for label in re.findall("“(.*?)”", words.get("page", ""))}
    assert quoted
    assert quoted <= labels
