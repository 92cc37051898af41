"""The page, used like a person does, in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import shlex
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.command_line import main
from tests.conftest import ROOT
from tests.page.conftest import SIZES, Served, Visit
from tests.page.files import write_table
from tests.report.sample_reports import HOSTILE, read_data

Visits = Callable[..., Visit]

GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"
SCRIPT = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}{{x}}"


# One answer


@pytest.mark.parametrize("size", SIZES)
def test_score_follows_what_is_typed(visit: Visits, size: str) -> None:
    user = visit(size=size)
    user.field("prediction").fill("The Coca")
    user.see("#answer .why", "5 edits on 9 characters: similarity 0.4444 is below the threshold of 0.5, so 0.")
    user.field("prediction").press_sequentially(" Cola")
    user.see("#answer .score", "0.6923")
    user.field("answers").fill("The Coca Cola\nPepsi")
    user.see("#answer .why", "Equal to an accepted answer, so 1.")
    assert user.page.locator("#answer tbody tr").count() == 2
    assert user.fits()


def test_edits_and_variants_are_shown(visit: Visits) -> None:
    user = visit()
    user.field("prediction").fill("xoca  cola")
    user.see("#answer .edits .replace")
    user.field("prediction").fill("ab")
    user.field("answers").fill("abcd")
    user.see("#answer .score", "0.5")
    assert user.page.locator("#variants tbody tr").count() == len(anls_metric.VARIANTS)
    user.see("#variants tr:has-text('pypi_anls') .differs")
    disagreeing = sum(anls_metric.anls_score("ab", ["abcd"], variant=name) != 0.5 for name in anls_metric.VARIANTS)
    user.see("#variants .said", f"{disagreeing} of {len(anls_metric.VARIANTS)} disagree with 0.5")
    assert user.page.locator("#variants .differs").count() == disagreeing


def test_examples_are_there_to_click(visit: Visits) -> None:
    user = visit()
    scores = {"TALKINGHEADS": "0.9231", "Exactly 0.5": "0.5", "White space": "0.6154", "Empty": "0", "A list": "0.5"}
    for name, score in {**scores, "Coca Cola": "0.8889"}.items():
        user.page.get_by_role("button", name=name, exact=True).click()
        user.page.wait_for_function(
            "score => document.querySelector('#answer .score b')?.textContent === score", arg=score
        )


def test_settings_change_the_score_and_the_address(visit: Visits) -> None:
    user = visit()
    user.page.locator("#threshold input[type=number]").fill("0.9")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#answer .why", "similarity 0.8889 is below the threshold of 0.9, so 0.")
    user.see("#answer code", "anls|standard|threshold:0.9")
    user.choose("#variant input", "due:")
    user.see("#answer code", "anls|due|threshold:0.5")
    user.page.locator("#ignore-case input").check()
    user.see("#answer code", "ignore_case:True")
    user.page.wait_for_function("location.search.includes('case=ignored')")
    assert "variant=due" in user.page.url
    assert "threshold=0.5" in user.page.url
    assert "prediction" not in user.page.url
    user.page.reload()
    user.see("#answer code", "ignore_case:True")
    assert user.field("variant").input_value().startswith("due:")


def test_link_has_the_settings_and_on_request_the_answer(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.7&case=counts")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")
    user.field("prediction").fill("ç & Cola")
    user.page.get_by_role("button", name="Copy a link").click()
    user.page.wait_for_function("location.search.includes('prediction')")
    other = visit(user.page.url.partition("/?")[2].join(["?", ""]))
    assert other.field("prediction").input_value() == "ç & Cola"
    other.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")


def test_list_is_scored_leaf_by_leaf(visit: Visits) -> None:
    user = visit()
    user.choose("#variant input", "anls_star:")
    user.field("prediction").fill('{"total": "12.5", "items": ["tea", "mlik"]}')
    user.field("answers").fill('{"total": "12.50",\n "items": ["milk", "tea"]}')
    user.see("#answer .why", "1 of 3 leaves right, 2 close, so 0.7667.")
    user.see("#answer code", "anls|anls_star|matching:munkres-1.1.4")
    assert user.page.locator("#answer tbody tr").count() == 3
    assert user.page.locator("#ignore-case input").is_disabled()
    user.page.wait_for_function("location.search.includes('anls_star')")
    user.page.reload()
    user.see("#answer code", "anls_star")
    assert user.page.locator("#ignore-case input").is_disabled()
    assert user.page.locator("input[type=checkbox]:visible").count() == 1
    assert user.fits()
    user.choose("#variant input", "rrc:")
    user.see("#answer code", "anls|rrc")
    user.page.locator("#ignore-case input:enabled").wait_for()


def test_passing_through_the_variant_changes_nothing(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.8&case=counts")
    user.page.locator("#variant input").focus()
    user.page.keyboard.press("Tab")
    user.page.keyboard.press("Shift+Tab")
    user.page.keyboard.press("Escape")
    user.field("prediction").fill("Coca Col")
    user.see("#answer .why", "1 edit on 9 characters")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.8")


def test_url_has_the_visible_answer_or_none(visit: Visits) -> None:
    user = visit()
    user.page.get_by_role("button", name="Copy a link").click()
    user.see(".toast-body", "The link is in the address bar")
    assert "prediction=CocaCola" in user.page.url
    user.page.get_by_role("button", name="TALKINGHEADS").click()
    user.page.wait_for_function("!location.search.includes('prediction')")
    user.field("prediction").fill("é" * 3000)
    user.see("#answer .score", "0")
    user.page.get_by_role("button", name="Copy a link").click()
    user.see(".toast-body", "too long for a link")
    assert "prediction" not in user.page.url


def test_wrong_link_is_reported_and_not_followed(visit: Visits) -> None:
    user = visit("?variant=none&threshold=0.7")
    user.see(".toast-body", "The settings of the link are not used")
    user.see("#answer code", "anls|standard|threshold:0.5")


def test_text_with_script_is_text(visit: Visits) -> None:
    user = visit()
    user.field("prediction").fill(SCRIPT)
    user.field("answers").fill(SCRIPT + "\n" + SCRIPT.upper())
    user.see("#answer q", "<script>window.ran = 1</script>")
    assert user.page.locator("#answer script, #answer img").count() == 0
    user.see("#answer q", "${window.ran = 1}{{x}}")


def test_empty_fields_are_no_mistake(visit: Visits) -> None:
    user = visit()
    user.field("answers").fill("")
    user.see("#answer", "Write an accepted answer")
    user.field("answers").fill("a")
    user.field("prediction").fill("")
    user.see("#answer .why", "The prediction is empty, so 0.")


def test_page_works_by_keyboard(visit: Visits) -> None:
    user = visit()
    user.field("prediction").focus()
    for key in ("Control+a", "Delete"):
        user.page.keyboard.press(key)
    user.page.keyboard.type("Coca Cole")
    user.page.keyboard.press("Tab")
    user.page.keyboard.press("Control+a")
    user.page.keyboard.type("Coca Cola")
    user.see("#answer .why", "1 edit on 9 characters")
    for _ in range(4):
        user.page.keyboard.press("Tab")
    user.page.keyboard.press("Enter")  # an example
    user.see("#answer .score", "0.6154")
    user.page.get_by_role("tab", name="One answer").focus()
    user.page.keyboard.press("Tab")
    user.page.keyboard.press("Enter")
    user.see("#summary", "Drop a gold file")


# Files


def test_files_are_scored_and_reported(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(SUBMISSION, GOLD)  # in any order
    user.see("#summary .score", "0.6273")
    user.see("#summary .why", "6 questions. 2 score 0.")
    report = user.report()
    report.get_by_text("95 % interval 0.").wait_for()
    report.get_by_role("searchbox").fill("SIGN")
    assert report.get_by_role("status").inner_text() == "2 of 6 questions"
    report.get_by_role("button", name="empty").first.click()
    report.get_by_text("The prediction is empty, so 0.").or_(report.get_by_text("1 of 6 questions")).first.wait_for()
    with user.page.expect_download() as download:
        report.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    assert [row["outcome"] for row in rows] == ["empty"]
    user.page.locator("#threshold input[type=number]").fill("0.88")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.88")
    user.report("threshold:0.88")
    assert "Coca" not in user.page.url


def test_files_of_lists_and_nested_values_are_scored(visit: Visits) -> None:
    user = visit("?tab=file&variant=anls_star")
    user.drop(ROOT / "examples" / "invoices.jsonl")
    user.see("#summary .score", "0.7222")
    report = user.report("ANLS* report")
    report.locator("#list tr.row").first.click()
    report.get_by_text("leaves right").first.wait_for()


def test_file_is_scored_once_for_the_settings_of_a_link(visit: Visits) -> None:
    for _ in range(3):  # gradio sends the settings before, with or after the file
        user = visit("?tab=file&variant=anls_star")
        sent: list[str] = []
        user.page.on("request", lambda request, sent=sent: sent.append(request.post_data or ""))
        user.drop(ROOT / "examples" / "invoices.jsonl")
        user.report("ANLS* report")
        user.page.wait_for_timeout(1000)
        assert len([body for body in sent if '"orig_name":"invoices.jsonl"' in body]) == 1


def test_report_is_saved_as_it_is_shown(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION)
    user.report()
    with user.page.expect_download() as download:
        user.page.get_by_role("button", name="Save the report").click()
    assert download.value.suggested_filename == "anls-report.html"
    found = read_data(Path(download.value.path()).read_text(encoding="utf-8"))
    assert [round(score, 4) for score in found["answers"][0]["scores"]] == [0.8889, 0, 1, 0.875, 1, 0]


def test_several_submissions_are_compared(visit: Visits, tmp_path: Path) -> None:
    records = json.loads(GOLD.read_text())["data"]
    better = [{"questionId": record["questionId"], "answer": record["answers"][0]} for record in records]
    (tmp_path / "better one.json").write_text(json.dumps(better))
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION, tmp_path / "better one.json")
    user.see("#summary tr", "better one")
    report = user.report("too few questions")
    report.get_by_text("+0.3727").wait_for()


def test_made_up_files_are_there_to_try(visit: Visits) -> None:
    user = visit("?tab=file", size="phone")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary tr", "careful reader")
    report = user.report("60 questions")
    assert report.get_by_role("tab", name="Groups").is_visible()
    assert user.fits()
    user.page.locator("#files button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.page.locator("#report iframe").wait_for(state="detached")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


def test_table_is_scored_by_the_chosen_fields(visit: Visits, tmp_path: Path) -> None:
    table = tmp_path / "the table.csv"
    rows = [
        ["kind", "one", "other", "truth"],
        ["name", "CocaCola", "Coca Cola", '["Coca Cola", "Coca Cola Company"]'],
        ["date", "12/15/89", "", '["12/15/88"]'],
    ]
    with open(table, "w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    user = visit("?tab=file")
    user.drop(table)
    user.see("#summary [role=alert]", "pick the field of the accepted answers under “Which field is which”")
    user.see("#prediction-field input")  # it has opened
    for role, field in {"prediction": "one", "references": "truth"}.items():
        user.pick(f"#{role}-field", field)
    user.see("#summary .score", "0.8819")


def test_answers_are_taken_out_where_a_hint_says_so(visit: Visits, tmp_path: Path) -> None:
    rows = [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)]
    (tmp_path / "wrapped.json").write_text(json.dumps(rows))
    user = visit("?tab=file")
    user.drop(tmp_path / "wrapped.json")
    user.see("#summary .hint", "under “Extract answers from raw model output”")
    user.page.locator("#extract input").click()
    user.page.get_by_role("option", name="final:").click()
    user.see("#summary code", "extract:final")


def test_wrong_file_is_reported_and_the_page_goes_on(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    (tmp_path / "empty.json").write_bytes(b"")
    hostile = {"questionId": SCRIPT, "answers": []}
    (tmp_path / "hostile.json").write_text(json.dumps([hostile]))
    for name, error_text in (
        ("empty.json", "empty.json: the file is empty"),
        ("hostile.json", "<script>window.ran = 1"),
    ):
        user.drop(tmp_path / name, SUBMISSION)
        message = user.see("#summary [role=alert]", error_text).inner_text()
        assert "/tmp" not in message
        user.page.locator("#files button[aria-label=Clear]").click()
        user.see("#summary", "Drop a gold file")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary tr", "careful reader")


def test_hostile_answers_stay_in_their_frame(visit: Visits, tmp_path: Path) -> None:
    rows = [{"id": HOSTILE[:-8], "question": SCRIPT, "prediction": SCRIPT, "references": [SCRIPT + "x"]}]
    (tmp_path / "hostile.json").write_text(json.dumps(rows))
    user = visit("?tab=file")
    user.drop(tmp_path / "hostile.json")
    report = user.report()
    report.locator("#list tr.row").first.click()
    assert "<script>window.ran = 1</script>" in report.locator(".written").inner_text()
    frame = user.page.frames[-1]
    assert frame.evaluate("window.ran") is None
    assert frame.evaluate("window.origin") == "null"  # it reaches nothing of the page


def test_unanswered_questions_score_0_on_request(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "few.json")
    user.see("#summary [role=alert]", "no answer to 5 of the questions")
    user.page.locator("#unanswered input").check()
    user.see("#summary .why", "5 score 0")


def test_file_over_the_limit_is_not_sent(visit: Visits, tmp_path: Path) -> None:
    large = tmp_path / "large file.csv"
    with open(large, "wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    user = visit("?tab=file&variant=rrc")
    sent: list[int] = []
    user.page.on("request", lambda request: sent.append(int(request.headers.get("content-length", 0))))
    user.page.locator("#files input[type=file]").set_input_files([large, GOLD])  # the other one is sent
    refusal = user.see("#refusal [role=alert]", "large file.csv (60 MB). A file is larger than 50 MB")
    assert "no such limits" in refusal.inner_text()
    user.see("#refusal code", "anls gold_label.json 'large file.csv' --variant rrc")
    user.see("#files", "gold_la")
    user.drop(SUBMISSION)
    user.see("#summary .score", "0.6273")
    user.page.locator("#refusal [role=alert]").wait_for(state="detached")
    assert max(sent) < 1_000_000


DROP = """([selector, sizes]) => {
    const dropped = new DataTransfer();
    for (const [name, size] of Object.entries(sizes)) {
        const text = '[{"id": 1, "prediction": "a", "references": ["a"]}]';
        dropped.items.add(new File([text, new Uint8Array(size)], name));
    }
    const target = document.querySelector(selector);
    for (const type of ["dragenter", "dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: dropped}));
    }
}"""


def test_large_file_that_is_dropped_is_not_sent(visit: Visits) -> None:
    user = visit("?tab=file")
    user.page.evaluate(DROP, ["#files button", {"large.csv": 60 << 20}])
    user.see("#refusal [role=alert]", "large.csv")
    user.page.evaluate(DROP, ["#files button", {"large.csv": 60 << 20, "small.json": 0}])
    user.see("#summary .why", "1 question.")
    user.see("#refusal code", "anls large.csv small.json")


def test_page_does_not_freeze_while_100_000_answers_are_scored(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user, other = visit("?tab=file"), visit()
    user.page.locator("#files input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text", "questions")
    other.field("prediction").fill("Coca Cole")
    other.see("#answer .why", "1 edit on 9 characters")
    assert not user.page.locator("#summary .score").is_visible()  # it was scoring all the time
    user.page.locator("#summary .why", has_text="100,000 questions.").wait_for(state="visible", timeout=120_000)
    user.page.frame_locator("#report iframe").locator("#list tr.row").first.wait_for(timeout=120_000)


def test_page_shows_result_of_last_change(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 20_000)
    user, other = visit("?tab=file"), visit("?tab=file")
    user.page.locator("#files input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text, #summary .progress-level")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary tr", "careful reader")
    other.drop(tmp_path / "large.jsonl")
    other.see("#summary .why", "20,000 questions")  # large files take turns: the first one is scored as well
    user.page.locator("#threshold input[type=number]").fill("0.9")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.9")
    user.see("#summary tr", "careful reader")
    user.report("threshold:0.9")


def test_two_users_see_their_own_files(visit: Visits, tmp_path: Path, served: Served) -> None:
    users = [visit("?tab=file"), visit("?tab=file")]
    for place, user in enumerate(users):
        table = tmp_path / f"table of {place}.csv"
        table.write_text(f"prediction,references\nsecret {place},secret {place}{'x' * place}\n")
        user.drop(table)
    for place, user in enumerate(users):
        user.see("#summary .why", "1 question.")
        user.see("#summary .score", "1" if place == 0 else "0.8889")
        assert user.report().locator("#list tr.row .answer").inner_text().endswith(f"secret {place}")
    for path in served.uploads.rglob("*.csv"):
        with pytest.raises(urllib.error.HTTPError) as closed:
            urllib.request.urlopen(f"{served.address}gradio_api/file={urllib.parse.quote(str(path))}", timeout=10)
        assert closed.value.code == 404


# Several files, names and choices


def write_answers(path: Path, **more: str) -> Path:
    """Write made-up, right answers to the questions of the example, with more fields."""
    records = json.loads(GOLD.read_text())["data"]
    path.parent.mkdir(exist_ok=True)
    answers = [{"questionId": record["questionId"], "answer": record["answers"][0], **more} for record in records]
    path.write_text(json.dumps(answers))
    return path


def test_files_of_one_name_get_names_that_can_be_edited(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    first = tmp_path / "first" / "results.json"
    first.write_bytes(SUBMISSION.read_bytes())
    second = write_answers(tmp_path / "second" / "results.json", note="made up")
    user = visit("?tab=file")
    user.drop(GOLD, first, second)
    user.see("#summary tr", "results (1)")
    box = user.see(".name-of-file textarea")  # the part has opened
    assert box.input_value() == "results (1)"
    assert user.page.get_by_label("2. results.json").input_value() == "results (2)"
    box.fill("base/line")
    box.press("Enter")
    user.see("#summary tr", "base-line")
    second_box = user.page.get_by_label("2. results.json")
    second_box.press_sequentially("tun")  # while the server scores again, with the cleaned name
    user.report("base-line")
    user.page.wait_for_timeout(500)
    assert "tun" in second_box.input_value()
    second_box.fill("tuned")
    user.page.keyboard.press("Tab")
    user.see("#summary code", "anls gold_label.json base-line=results.json tuned=results.json")
    user.report("tuned")
    user.pick("#baseline", "tuned")
    user.see("#summary code", "--baseline tuned")
    user.page.get_by_label("2. results.json").fill("base-line")  # files of one name are runs
    user.page.keyboard.press("Enter")
    user.see("#summary .why", "6 questions")
    user.see("#summary code", "base-line=results.json base-line=results.json")


def test_models_name_files_of_one_name(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    files = [write_answers(tmp_path / name / "answers.json", model=f"org/{name}") for name in ("small", "large")]
    user.drop(GOLD, *files)
    user.see("#summary tr", "small")
    user.see("#summary code", "small=answers.json large=answers.json")


def test_broken_file_does_not_hide_the_scores_of_others(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text('[{"questionId": 99, "answer": "x"}]')
    (tmp_path / "results_1.json").write_text(
        json.dumps({"results": {"docvqa": {"anls,none": 0.8, "anls_stderr,none": 0.1}}, "versions": {}})
    )
    user = visit("?tab=file")
    user.drop(tmp_path / "broken.json", tmp_path / "other.json", tmp_path / "results_1.json", SUBMISSION, GOLD)
    user.see("#summary .score", "0.6273")
    alerts = user.page.locator("#summary [role=alert]").all_inner_texts()
    assert [text.partition(":")[0] for text in alerts] == [
        "broken.json, line 1, column 2",
        "results_1.json",
        "other.json",
    ]
    assert "the mean scores of an evaluation harness, and no answers: score the file of its samples" in alerts[1]
    user.see("#summary code", "anls gold_label.json submission.json")
    user.report()


def test_one_of_two_gold_files_is_chosen(visit: Visits, tmp_path: Path) -> None:
    records = json.loads(GOLD.read_text())["data"][:5]
    (tmp_path / "five.json").write_text(json.dumps({"data": records}))
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "five.json", SUBMISSION)
    user.see("#summary [role=alert]", "choose the gold file under “Files and names”")
    user.pick("#gold", "five")
    user.see("#summary [role=alert]", "1 answer to questions that five.json does not have")
    user.page.get_by_role("button", name="Ignore answers to other questions").click()
    user.see("#summary .why", "5 questions.")
    user.see("#summary", "gold_label.json is left out")
    user.see("#summary code", "anls five.json submission.json --extra ignore")


HINTS = {
    "Extract with sentence": (
        [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)]
    ),
    "Score with anls_star": [{"id": 1, "prediction": ["a", "b"], "references": ["a", "b"]}],
    "Take them as runs of one model": [{"id": 1, "prediction": text, "references": ["a"]} for text in "ab"]
    + [{"id": 2, "prediction": "a", "references": ["a"]}],
    "Score each model_used by itself": [
        {"id": number, "prediction": text, "references": ["a"], "model_used": name}
        for number in range(5)
        for text, name in (("a", "x"), ("b", "y"))
    ],
}


@pytest.mark.parametrize("button", HINTS)
def test_button_of_a_hint_applies_it(visit: Visits, tmp_path: Path, button: str) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(HINTS[button]))
    user = visit("?tab=file")
    user.drop(tmp_path / "answers.json")
    user.page.locator("#summary").get_by_role("button", name=button).click()
    user.page.locator("#summary").get_by_role("button", name=button).wait_for(state="detached")
    user.see("#summary .score, #summary td")
    assert user.page.locator("#summary [role=alert]").count() == 0


def test_answers_without_common_ids_are_matched_by_position(visit: Visits, tmp_path: Path) -> None:
    answers = [{"questionId": f"q{number}", "answer": "Coca Cola"} for number in range(6)]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "answers.json")
    user.page.get_by_role("button", name="Match answers by position").click()
    user.see("#summary code", "anls gold_label.json answers.json --id-field none")
    assert user.page.locator("#id-field input").input_value() == "none: match by position"


def test_command_can_be_copied_and_gives_the_same(visit: Visits, tmp_path: Path, capsys: Any) -> None:
    rows = [
        {
            "id": n,
            "prediction": "milk" if n % 3 else "tea",
            "references": ["milk"],
            "kind": f"kind {n % 2}",
            "sure": n / 10,
        }
        for n in range(10)
    ]
    (tmp_path / "my answers.json").write_text(json.dumps(rows))
    (tmp_path / "corrections.json").write_text('[{"questionId": "0", "accept": "tea"}]')
    user = visit("?tab=file")
    user.drop(tmp_path / "my answers.json")
    user.see("#summary .score")
    user.pick("#by", "kind")
    user.see("#summary code", "--by kind")
    user.page.get_by_role("button", name="More options").click()
    user.page.locator("#metrics input").click()
    user.page.get_by_role("option", name="f1:").click()
    user.page.locator("#corrections input[type=file]").set_input_files(tmp_path / "corrections.json")
    user.see("#summary code", "corrections:")
    user.page.get_by_role("button", name="Which field is which").click()
    user.pick("#confidence-field", "sure")
    user.see("#summary code", "--confidence-field sure")
    user.page.get_by_text("Behind the number").first.click()
    beside = user.see("#summary details table").inner_text()
    assert all(word in beside for word in ("f1", "corrected", "AUROC"))
    user.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    user.page.get_by_role("button", name="Copy the command").click()
    user.see("text=Copied")
    words = shlex.split(user.page.evaluate("navigator.clipboard.readText()"))
    user.page.context.clear_permissions()
    names = {name: str(tmp_path / name) for name in ("my answers.json", "corrections.json")}
    assert main([*(names.get(word, word) for word in words[1:]), "--format", "json"]) == 0
    (submission,) = json.loads(capsys.readouterr().out)["submissions"]
    assert f"{submission['anls']:.4g}" == user.page.locator("#summary .score b").inner_text()
    assert set(submission["metrics"]) == {"f1"}


def test_suspects_and_the_judge_are_shown(visit: Visits, tmp_path: Path) -> None:
    for name in "abc":
        rows = [{"questionId": 1, "answer": "wrong", "ok": "yes"}, {"questionId": 2, "answer": "Coca Cola", "ok": "no"}]
        (tmp_path / f"{name}.json").write_text(json.dumps([{**row, "by": name} for row in rows]))
    user = visit("?tab=file")
    user.drop(GOLD, *(tmp_path / f"{name}.json" for name in "abc"))
    user.page.locator("#unanswered input").check()
    user.page.get_by_role("button", name="Which field is which").click()
    user.pick("#judge-field", "ok")
    user.see("#summary code", "--judge-field ok")
    user.page.get_by_text("Behind the number").first.click()
    shown = user.page.locator("#summary details").inner_text()
    assert "agreement" in shown
    assert "'wrong' by 3 submissions" in shown


# The pages of the questions


@pytest.mark.parametrize("size", SIZES)
def test_zip_of_images_shows_the_pages_and_the_command_does_the_same(visit: Visits, tmp_path: Path, size: str) -> None:
    images = pytest.importorskip("tests.report.test_images", reason="images need pyarrow and Pillow")
    rows = [{**row, "image": f"page_{place}.png"} for place, row in enumerate(images.make_rows(images.PAGES))]
    (tmp_path / "gold.json").write_text(json.dumps(images.without("prediction", rows)))
    images.write_submission(tmp_path / "answers.json", rows)
    images.write_zip(
        tmp_path / "my pages.zip", {f"a/page_{place}.png": page for place, page in enumerate(images.PAGES)}
    )
    (tmp_path / "bad.zip").write_text("no archive")
    paths = {name: tmp_path / name for name in ("my pages.zip", "answers.json", "gold.json")}
    user = visit("?tab=file", size=size)
    user.drop(*paths.values())
    user.see("#summary .score", "0.75")
    report = user.report()
    assert user.page.locator("#report .message").count() == 0
    report.locator("#list tr.row a").first.click()
    picture = report.locator(".opened img")
    picture.wait_for()
    assert picture.evaluate("image => image.decode().then(() => image.naturalHeight)") == 43  # of the wrong answer
    assert user.fits()
    user.see("#own-tab a", "Open the report in its own tab")
    words = shlex.split(user.see("#summary code", "--images").inner_text())
    assert words == ["anls", "gold.json", "answers.json", "--images", "my pages.zip", "--report", "report.html"]
    report_path = tmp_path / "report.html"
    names = {**{name: str(path) for name, path in paths.items()}, "report.html": str(report_path)}
    assert main([names.get(word, word) for word in words[1:]]) == 0
    assert images.read_heights(report_path) == [1, 2, 1, 3]
    user.page.locator("#files button[aria-label=Clear]").click()
    user.drop(paths["gold.json"], paths["answers.json"], tmp_path / "bad.zip")
    user.see("#summary [role=alert]", "bad.zip: not a zip archive, or a damaged one: make it again")
    user.see("#summary .score", "0.75")
    assert user.see("#summary code", "anls gold.json").inner_text() == "anls gold.json answers.json"
    user.report()


def test_pages_of_a_parquet_file_stand_beside_the_questions(visit: Visits, tmp_path: Path) -> None:
    images = pytest.importorskip("tests.report.test_images", reason="images need pyarrow and Pillow")
    images.write_parquet(tmp_path / "log.parquet", images.make_rows(images.PAGES))
    user = visit("?tab=file")
    user.drop(tmp_path / "log.parquet")
    report = user.report()
    report.locator("#list tr.row a").first.click()
    report.locator(".opened img").wait_for()
    with user.page.expect_download() as download:
        user.page.get_by_role("button", name="Save the report").click()
    assert images.read_heights(Path(download.value.path())) == [1, 2, 1, 3]


def test_a_zip_over_the_limit_is_named_in_the_command(visit: Visits) -> None:
    user = visit("?tab=file")
    user.page.evaluate(DROP, ["#files button", {"pages.zip": 60 << 20, "small.json": 0}])
    user.see("#refusal [role=alert]", "pages.zip (61 MB)")
    user.see("#refusal code", "anls small.json --images pages.zip --report report.html")
    user.see("#summary .why", "1 question.")


# What one looks at


STATE = """(hash) => parent.postMessage({type: "anls-report-state", hash: hash}, "*")"""


def test_changed_setting_keeps_what_the_report_shows(visit: Visits) -> None:
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION)
    user.report()
    frame = user.page.locator("#report iframe").element_handle().content_frame()
    assert frame.evaluate("document.documentElement.dataset.hash") is None
    frame.evaluate(STATE, "#q-3?sort=-id")
    user.page.wait_for_function("location.hash.includes('q-3')")
    assert "tab=file" in user.page.url
    user.page.locator("#threshold input[type=number]").fill("0.88")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.report("threshold:0.88")
    frame = user.page.locator("#report iframe").element_handle().content_frame()
    assert frame.evaluate("document.documentElement.dataset.hash") == "#q-3?sort=-id"
    frame.wait_for_selector("#list tr.open")
    assert frame.locator("th[aria-sort=descending]").count() == 1
    user.page.evaluate(STATE, "#q-4")  # messages of other windows are ignored
    with user.page.expect_download() as download:
        user.page.get_by_role("button", name="Save the report").click()
    assert "data-hash" not in Path(download.value.path()).read_text(encoding="utf-8")[:200]
    assert "q-4" not in user.page.url
    user.page.locator("#files button[aria-label=Clear]").click()
    user.page.wait_for_function("location.hash === ''")


def test_link_to_a_view_is_handed_to_the_report(visit: Visits) -> None:
    user = visit("?tab=file#q-3?outcome=empty")
    user.drop(GOLD, SUBMISSION)
    user.report()
    frame = user.page.locator("#report iframe").element_handle().content_frame()
    assert frame.evaluate("document.documentElement.dataset.hash") == "#q-3?outcome=empty"


def test_report_opens_in_its_own_tab(visit: Visits) -> None:
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION)
    user.report()
    with user.page.context.expect_page() as opened:
        user.page.get_by_role("link", name="Open the report in its own tab").click()
    frame = opened.value.frame_locator("iframe")
    frame.locator("#list tr.row").first.wait_for()
    assert opened.value.title() == "ANLS report"
    assert opened.value.frames[-1].evaluate("window.origin") == "null"  # it reaches nothing of the page
    assert opened.value.locator("iframe").bounding_box()["width"] == opened.value.viewport_size["width"]
    opened.value.close()


# Layout


@pytest.mark.parametrize("tab", ["answer", "file"])
def test_phone_shows_the_score_without_scrolling(visit: Visits, tab: str) -> None:
    user = visit(f"?tab={tab}", size="phone")
    place = "#answer"
    if tab == "file":
        user.drop(GOLD, SUBMISSION)
        place = "#summary"
    score = user.see(f"{place} .score b").bounding_box()
    assert score["y"] + score["height"] < 700  # of 844
    assert user.page.evaluate("scrollY") == 0
    assert user.fits()


def test_report_is_as_wide_as_the_window(visit: Visits) -> None:
    user = visit("?tab=file")
    user.page.set_viewport_size({"width": 1920, "height": 1080})
    user.drop(GOLD, SUBMISSION)
    user.report()
    assert user.page.locator("#report iframe").bounding_box()["width"] > 1850
    assert user.fits()


FOCUSED = """() => {
    let element = document.activeElement;
    const name = element.id || element.ariaLabel || element.textContent.trim().slice(0, 30) || element.tagName;
    for (; element && element !== document.body; element = element.parentElement) {
        const {outlineStyle, outlineWidth, opacity} = getComputedStyle(element);
        if (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && opacity !== "0") return [name, true];
    }
    return [name, false];
}"""


@pytest.mark.parametrize("tab", ["answer", "file"])
def test_focus_can_be_seen_on_every_control(visit: Visits, tab: str) -> None:
    user = visit(f"?tab={tab}")
    if tab == "file":
        user.page.get_by_role("button", name="Try made-up files").click()
        user.report()
        for part in ("Files and names", "More options", "Which field is which"):
            user.page.get_by_role("button", name=part).click()
    user.page.locator("#introduction").click()
    seen = []
    for _ in range(60):
        user.page.keyboard.press("Tab")
        name, is_visible = user.page.evaluate(FOCUSED)
        if name == "IFRAME":
            break  # the report shows where the focus is
        seen.append((name, is_visible))
    assert len(set(seen)) > 10
    # gradio's list of choices passes the focus on to nothing for a moment
    assert [name for name, is_visible in seen if not is_visible and not name.startswith("ANLS")] == []


def test_scores_are_announced(visit: Visits, tmp_path: Path) -> None:
    user = visit()
    user.field("prediction").fill("Coca Cole")
    user.page.wait_for_function("document.getElementById('voice').textContent.includes('1 edit on 9 characters')")
    user.tab("Files")
    user.drop(GOLD, SUBMISSION)
    user.page.wait_for_function(
        "document.getElementById('voice').textContent === 'ANLS of submission: 0.6273. 6 questions.'"
    )
    assert user.page.locator("#voice").get_attribute("role") == "status"


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_page_is_accessible(visit: Visits, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    user = visit(size=size, scheme=scheme)
    user.field("prediction").fill("xCoca  Col")
    user.see("#answer .edits .delete")
    serious = []
    for tab in ("One answer", "Files", "How it works"):
        user.tab(tab)
        if tab == "Files":
            user.page.get_by_role("button", name="Try made-up files").click()
            user.report("60 questions")
        user.page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")
        found = axe.Axe().run(user.page, options={"resultTypes": ["violations"]}).response["violations"]
        serious += [
            (tab, one["id"], [node["html"][:160] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert user.fits()
    assert serious == []


def test_how_it_works_has_every_variant(visit: Visits) -> None:
    user = visit("?tab=how")
    for name in anls_metric.VARIANTS:
        user.see(".words td b", name)
    user.see("text=What to report")
    user.see("text=biten2019scene")
