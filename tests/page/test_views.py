"""The HTML for a visitor, without the page around it."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from anls_metric import OF_VALUES, VARIANTS, get_variant
from anls_metric.core.explanation import format_number
from anls_metric.page import views
from anls_metric.page.inputs import get_scorer
from anls_metric.page.messages import describe_error
from anls_metric.page.summary import format_result
from anls_metric.page.upload_scoring import Files, Report, Result, RowCount, Step, Task, score
from anls_metric.page.uploads import Upload
from anls_metric.page.views import show_answer
from anls_metric.reading.sources import Reading
from anls_metric.report import html_parts
from tests.conftest import ROOT
from tests.page.files import write_table
from tests.report.sample_reports import HOSTILE, list_elements, read_data

GOLD = Upload(str(ROOT / "examples" / "gold_label.json"))
SUBMISSION = Upload(str(ROOT / "examples" / "submission.json"))
STANDARD = get_variant()


# One answer


def test_one_answer_is_shown_with_its_reason() -> None:
    shown, variants = show_answer("CocaCola", "Coca Cola\n\n  \nCoca Cola Company\n", STANDARD)
    assert "1 edit on 9 characters" in shown
    assert shown.count("<q>Coca Cola") == 3  # the closest one twice
    assert all(f"<b>{name}</b>" in variants for name in VARIANTS)
    assert show_answer("CocaCola", " \n", STANDARD) == (
        html_parts.format_hint("Write an accepted answer to see the score."),
        "",
    )


def test_costly_comparison_is_refused() -> None:
    for prediction, answers in (("a" * 20_000, "b\n" * 10_000), ("a" * 20_001, "b"), ("a", "b" * 20_001)):
        with pytest.raises(ValueError, match=r"too long|longer than"):
            show_answer(prediction, answers, STANDARD)


def test_long_answer_is_scored_without_its_edits() -> None:
    shown, _ = show_answer("ab" * 2_500, "ac" * 2_500, STANDARD)
    assert "2,500 edits on 5,000 characters" in shown
    assert "5,000 characters against 5,000: too long to show what differs" in shown
    assert "Edits:" not in shown


def test_html_of_many_answers_stays_small() -> None:
    shown, variants = show_answer("a", "\n".join(["bcd"] * 5_000), STANDARD)
    assert len(shown) + len(variants) < 60_000
    assert "and 4,950 other accepted answers" in shown


def test_list_is_shown_leaf_by_leaf() -> None:
    shown, variants = show_answer('["tea", "mlik"]', '["milk", "tea", "<b>"]', get_scorer("anls_star"))
    assert "1 of 3 leaves right, 1 close, so 0.5000." in shown
    assert "anls|anls_star|" in shown
    assert "&lt;b&gt;" in shown
    assert "<b><" not in shown
    assert variants == ""
    over_lines = '{\n"total": {"__tuple__": ["1", "2"]}\n}'
    assert "<b>1</b>" in show_answer('{"total": "2"}', over_lines, get_scorer("anls_star"))[0]
    with pytest.raises(ValueError, match="too many values in it to match here"):
        show_answer(str([1] * 700), str([1] * 700), get_scorer("anlsl"))


# Files


def steps(*files: Upload, variant: str = "standard", **reading: Any) -> list[Step]:
    """List the steps of scoring for a visitor who drops these files."""
    of_values = variant in OF_VALUES
    asked = Task(files, None, get_scorer(variant), Reading(values=of_values, **reading), report=True)
    return list(score(asked, "page"))


def score_uploads(*files: Upload, **asked: Any) -> tuple[str, str]:
    """Return the HTML of the scores and of the report."""
    *_, result, report = steps(*files, **asked)
    assert isinstance(result, Result)
    assert isinstance(report, Report)
    return format_result(result, "anls"), gzip.decompress(base64.b64decode(report.packed)).decode()


def test_scores_of_files_are_shown_before_their_report() -> None:
    shown, report = score_uploads(GOLD, SUBMISSION)
    assert "0.6273" in shown
    assert "6 questions. 2 score 0." in shown
    assert "95 % interval" in shown
    assert "anls|standard|threshold:0.5" in shown
    assert "6 questions of gold_label.json" in report
    assert read_data(report)["submissions"] == ["submission"]


def test_several_submissions_are_shown_beside_each_other(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_bytes(Path(SUBMISSION.path).read_bytes())
    shown, report = score_uploads(Upload(str(tmp_path / "other.json")), SUBMISSION, GOLD)
    assert shown.count("</span>0.6273") == 2
    assert "<td>other</td>" in shown
    assert read_data(report)["submissions"] == ["other", "submission"]


def test_hints_and_layouts_are_told_in_the_words_of_the_page(tmp_path: Path) -> None:
    rows = [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)]
    (tmp_path / "wrapped.json").write_text(json.dumps(rows))
    shown, report = score_uploads(Upload(str(tmp_path / "wrapped.json")))
    assert "under “Extract answers from raw model output”" in shown
    assert "under “Extract answers from raw model output”" in report
    log = tmp_path / "log.jsonl"
    doc = {"doc_id": 0, "target": "['a']", "filtered_resps": ["a"], "input": "q", "doc_hash": "x"}
    log.write_text(json.dumps(doc))
    assert "log.jsonl: read as lmms_eval" in score_uploads(Upload(str(log)))[0]


def test_report_is_framed_in_a_sandbox() -> None:
    report = steps(GOLD, SUBMISSION)[-1]
    assert isinstance(report, Report)
    shown = views.frame_report(report)
    ((tag, attributes),) = list_elements(shown)
    assert tag == "iframe"
    assert attributes["data-packed"] == report.packed
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert not any(sign in shown for sign in ("{", "$"))  # which gradio would fill in


def test_names_of_files_are_text(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "").replace("\0", "").replace("\ud800", "")[:80] + ".json"
    (tmp_path / name).write_bytes(Path(SUBMISSION.path).read_bytes())
    shown, _ = score_uploads(GOLD, Upload(str(tmp_path / name)))
    assert not {tag for tag, _ in list_elements(shown)} & {"script", "img"}


def test_score_uses_the_chosen_fields(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("one,other,truth\nCocaCola,Coca Cola,Coca Cola\n")
    odd = Upload(str(tmp_path / "odd.csv"))
    seen: list[Step] = []
    with pytest.raises(ValueError, match="it has no") as error:
        seen += score(Task([odd], report=True), "page")
    assert [step.fields for step in seen if isinstance(step, Files)] == [["one", "other", "truth"]] * 2
    assert "pick the field of the accepted answers under “Which field is which”" in describe_error(error.value, "page")
    fields = {"references_field": "truth", "id_field": "none"}
    for field, mean in (("one", 8 / 9), ("other", 1.0)):
        assert f"<b>{format_number(mean)}</b>" in score_uploads(odd, prediction_field=field, **fields)[0]
    with pytest.raises(ValueError, match="no field 'none of them'") as error:
        score_uploads(odd, prediction_field="none of them", **fields)
    assert "pick the field of the predictions" in describe_error(error.value, "page")


def test_same_file_twice_is_one_submission(tmp_path: Path) -> None:
    assert read_data(score_uploads(GOLD, SUBMISSION, SUBMISSION)[1])["submissions"] == ["submission"]


def test_file_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone") as error:
        score_uploads(GOLD, Upload(str(tmp_path / "gone.json")))
    assert "drop it again" in describe_error(error.value, "page")


def test_row_counts_are_reported(tmp_path: Path) -> None:
    progress = [step for step in steps(write_table(tmp_path / "table.jsonl", 3_000)) if isinstance(step, RowCount)]
    assert progress[-1] == RowCount(3_000, "table")
    assert len(progress) > 1


WRONG_FILES = [
    (b"", b"[]", "gold.json: the file is empty"),
    (b"\xff\xfe\x00", b"[]", "not UTF-16"),
    (b"{", b"[]", "the JSON is cut off"),
    (b"PK\x03\x04\xff", b"[]", "the zip archive is damaged"),
    (Path(GOLD.path).read_bytes(), b'[{"questionId": 99, "answer": "x"}]', "write the same ids on both sides"),
    (Path(GOLD.path).read_bytes(), b'[{"questionId": 1, "answer": true}]', "not a string"),
    (b'[{"questionId": "<script>", "answers": []}]', b"[]", "<script>"),
]


@pytest.mark.parametrize(("gold", "submission", "words"), WRONG_FILES)
def test_wrong_file_is_reported(tmp_path: Path, gold: bytes, submission: bytes, words: str) -> None:
    for name, content in (("gold.json", gold), ("submission.json", submission)):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"json") as error:
        score_uploads(Upload(str(tmp_path / "gold.json")), Upload(str(tmp_path / "submission.json")))
    shown = describe_error(error.value, "page")
    assert words in shown
    assert str(tmp_path) not in shown


def test_files_of_lists_and_nested_values_are_shown() -> None:
    shown, report = score_uploads(Upload(str(ROOT / "examples" / "invoices.jsonl")), variant="anls_star")
    assert "0.7222" in shown
    assert "<span>ANLS*</span>" in shown
    assert "leaves right" in report
