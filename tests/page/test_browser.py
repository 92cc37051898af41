"""The page, used as a person would in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

import anls_metric
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
def test_the_score_follows_what_is_typed(visit: Visits, size: str) -> None:
    user = visit(size=size)
    user.field("prediction").fill("The Coca")
    user.see("#answer .why", "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0.")
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
    user.see("#answer .why", "similarity 0.8889 is under 0.9, so 0.")
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


def test_a_link_has_the_settings_and_an_answer_where_one_asks_for_it(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.7&case=counts")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")
    user.field("prediction").fill("ç & Cola")
    user.page.get_by_role("button", name="Copy a link").click()
    user.page.wait_for_function("location.search.includes('prediction')")
    other = visit(user.page.url.partition("/?")[2].join(["?", ""]))
    assert other.field("prediction").input_value() == "ç & Cola"
    other.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")


def test_a_list_is_scored_leaf_by_leaf(visit: Visits) -> None:
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
    assert user.page.locator("#ignore-case input").is_enabled()


def test_passing_through_the_variant_changes_nothing(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.8&case=counts")
    user.page.locator("#variant input").focus()
    user.page.keyboard.press("Tab")
    user.page.keyboard.press("Shift+Tab")
    user.page.keyboard.press("Escape")
    user.field("prediction").fill("Coca Col")
    user.see("#answer .why", "1 edit on 9 characters")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.8")


def test_the_address_has_the_answer_that_is_shown_or_none(visit: Visits) -> None:
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


def test_a_wrong_link_is_told_and_not_followed(visit: Visits) -> None:
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


def test_the_keyboard_is_enough(visit: Visits) -> None:
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
    user.drop(SUBMISSION, GOLD)  # in whatever order
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


def test_the_report_is_saved_as_it_is_shown(visit: Visits, tmp_path: Path) -> None:
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
    assert report.get_by_text("By kind").is_visible()
    assert user.fits()
    user.page.locator("#files button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.page.locator("#report iframe").wait_for(state="detached")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


def test_a_table_is_scored_by_the_fields_one_picks(visit: Visits, tmp_path: Path) -> None:
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
    user.see("#summary [role=alert]", "pick their field under “Which field is which”")
    user.see("#prediction-field input")  # it has opened
    for role, field in {"prediction": "one", "references": "truth"}.items():
        user.pick(f"#{role}-field", field)
    user.see("#summary .score", "0.8819")


def test_answers_are_taken_out_where_a_hint_says_so(visit: Visits, tmp_path: Path) -> None:
    rows = [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)]
    (tmp_path / "wrapped.json").write_text(json.dumps(rows))
    user = visit("?tab=file")
    user.drop(tmp_path / "wrapped.json")
    user.see("#summary .hint", "under “Take answers out”")
    user.page.locator("#extract input").click()
    user.page.get_by_role("option", name="final:").click()
    user.see("#summary code", "extract:final")


def test_a_wrong_file_is_told_and_the_page_goes_on(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    (tmp_path / "empty.json").write_bytes(b"")
    hostile = {"questionId": SCRIPT, "answers": []}
    (tmp_path / "hostile.json").write_text(json.dumps([hostile]))
    for name, said in (("empty.json", "empty.json: the file is empty"), ("hostile.json", "<script>window.ran = 1")):
        user.drop(tmp_path / name, SUBMISSION)
        message = user.see("#summary [role=alert]", said).inner_text()
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


def test_unanswered_questions_score_0_where_one_says_so(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "few.json")
    user.see("#summary [role=alert]", "no answer to 5 of the questions")
    user.page.locator("#unanswered input").check()
    user.see("#summary .why", "5 score 0")


def test_a_file_of_100_mb_is_refused(visit: Visits, tmp_path: Path) -> None:
    large = tmp_path / "large file.csv"
    with open(large, "wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    user = visit("?tab=file")
    user.page.locator("#files input[type=file]").set_input_files(large)
    user.see("text=/maximum allowed size|larger than 50 MB/")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary tr", "careful reader")


def test_the_page_does_not_freeze_while_100_000_answers_are_scored(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user, other = visit("?tab=file"), visit()
    user.page.locator("#files input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text", "questions")
    other.field("prediction").fill("Coca Cole")
    other.see("#answer .why", "1 edit on 9 characters")
    assert not user.page.locator("#summary .score").is_visible()  # it was scoring all the time
    user.page.locator("#summary .why", has_text="100,000 questions.").wait_for(state="visible", timeout=120_000)
    user.page.frame_locator("#report iframe").locator("#list tr.row").first.wait_for(timeout=120_000)


def test_what_was_asked_for_last_is_what_is_shown(visit: Visits, tmp_path: Path) -> None:
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


# Look


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_everybody_can_use_it(visit: Visits, size: str, scheme: str) -> None:
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
