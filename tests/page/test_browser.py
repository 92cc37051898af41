"""The page, used like a person does, in a real browser without a network."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import page
from anls_metric.options import OPTIONS
from anls_metric.page.endpoints import ENDPOINTS
from tests.conftest import ROOT, wait_for
from tests.page.conftest import SIZES, Served, Visit, write_table

Visits = Callable[..., Visit]

GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"
SCRIPT = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}{{x}}"
EXAMPLES = json.loads((Path(page.__file__).parent / "assets" / "examples.json").read_text(encoding="utf-8"))
VOICE = "text => document.getElementById('voice').textContent.includes(text)"


def set_threshold(user: Visit, value: str) -> None:
    user.pick("threshold", value)


def announced(user: Visit, text: str) -> None:
    """Wait until screen readers are told."""
    user.page.wait_for_function(VOICE, arg=text)


# One answer


@pytest.mark.parametrize("size", SIZES)
def test_score_follows_what_is_typed(visit: Visits, size: str) -> None:
    user = visit(size=size)
    user.see("#answer .score", "88.9")  # the first visit shows a scored answer
    user.field("prediction").fill("The Coca")
    user.see("#answer .why", "5 edits on 9 characters: 1 − 5/9 = 44.4% is below the threshold of 50%, so 0.")
    user.field("prediction").press_sequentially(" Cola")
    user.see("#answer .score", "69.2")
    user.field("answers").fill("The Coca Cola\nPepsi")
    user.see("#answer .why", "Equal to a reference, so 100%.")
    announced(user, "Equal to a reference")
    user.field("answers").fill("")
    user.see("#answer", "Enter a reference")
    assert user.fits()


def test_first_screen_says_what_0_50_and_100_mean(visit: Visits) -> None:
    user = visit(size="phone")
    user.see("#introduction", "100 is a perfect match, 0 too far off.")
    for place in (user.see(".tiles"), user.see("#answer .score"), user.see(".gauge", "under 50: scores 0")):
        box = place.bounding_box()
        assert box["y"] + box["height"] <= SIZES["phone"][1]


def test_tiles_align_the_answer_with_its_edits(visit: Visits) -> None:
    user = visit()
    user.field("answers").fill("Coca Cola")
    cases = {
        "CocaCola": ["Coca+Cola", "Coca_Cola"],
        "xCoca Col": ["xCoca_Col+", "+Coca_Cola"],
        " coca  cola": ["_coca__cola", "+Coca_+Cola"],
        "": ["+" * 9, "Coca_Cola"],
        "😀oca Cola": ["😀oca_Cola", "Coca_Cola"],
    }
    read = """() => [0, 1].map((row) => [...document.querySelectorAll(".column")].map((column) =>
        column.children[row].textContent.replace("␣", "_") || "+").join(""))"""
    for prediction, rows in cases.items():
        user.field("prediction").fill(prediction)
        user.page.wait_for_function(f"rows => JSON.stringify(({read})()) === JSON.stringify(rows)", arg=rows)
    user.field("prediction").fill("CocaCola")
    wait_for(lambda: user.page.locator(".tile.edit").count() == 2)  # the missing space, and the gap above it
    user.field("prediction").fill("COCA COLA")
    wait_for(lambda: user.page.locator(".tile.free").count() == 12)  # case is not counted
    assert user.page.locator(".tile.edit").count() == 0
    user.field("prediction").fill("Coca Cola " * 30)
    user.see("#answer .text", "Coca Cola Coca Cola")  # a long answer is a text


def test_gauge_shows_similarity_and_threshold(visit: Visits) -> None:
    user = visit()
    place = "selector => getComputedStyle(document.querySelector(selector)).getPropertyValue('--at')"
    user.field("prediction").fill("The Coca")
    user.see("#answer .score", "0.0")
    similarity, threshold = (
        float(user.page.evaluate(place, f".bar {name}")[:-1]) for name in (".similarity", ".threshold")
    )
    assert [similarity, threshold] == pytest.approx([100 * 4 / 9, 50])
    set_threshold(user, "40")
    user.see(".gauge", "under 40: scores 0")
    user.see("#answer .score", "44.4")


def test_variants_that_agree_are_counted(visit: Visits) -> None:
    user = visit()
    user.field("prediction").fill("ab")
    user.field("answers").fill("abcd")
    user.see("#answer .score", "50.0")
    scores = {name: anls_metric.anls_score("ab", ["abcd"], variant=name) for name in anls_metric.VARIANTS}
    agreeing = sum(score == 0.5 for score in scores.values())
    user.see("#variants summary", f"{agreeing} of {len(scores)} published variants agree; the others give 100.0, 0.0")
    assert user.page.locator("#variants tbody tr:visible").count() == 0
    user.page.locator("#variants summary").click()
    user.field("prediction").fill("aab")
    user.field("prediction").fill("ab")  # the table stays open
    user.see("#variants tbody tr")
    user.see("#variants summary", f"{agreeing} of {len(scores)}")
    # in one step: the rows are replaced when the server answers
    shown = user.page.evaluate(
        "() => [...document.querySelectorAll('#variants tbody b')].map((name) => name.innerText)"
    )
    assert sorted(shown) == sorted(scores)
    assert [scores[name] == 0.5 for name in shown] == [False] * (len(scores) - agreeing) + [True] * agreeing


def test_examples_are_there_to_click(visit: Visits) -> None:
    user = visit()
    for example, score in zip(EXAMPLES, ("88.9", "87.5", "100.0", "0.0", "0.0", "50.0")):
        user.press(example["label"])
        user.see("#answer .why", example["lesson"])
        user.see("#answer .score", score)
    user.press("A wrong digit")
    user.see(".chosen", "Variant: standard, 50%")
    user.field("prediction").fill("12/15/87")
    user.page.locator("#answer .why b").wait_for(state="detached")  # the lesson is about the example


def test_settings_change_the_score_and_the_address(visit: Visits) -> None:
    user = visit()
    set_threshold(user, "90")
    user.see("#answer .why", "88.9% is below the threshold of 90%, so 0.")
    user.pick("variant", "due")
    signature = user.page.locator("#signature")
    wait_for(lambda: signature.text_content().startswith("anls|due|threshold:0.5"))
    user.open_settings()
    user.page.locator("#settings [name=ignore_case]").check()
    wait_for(lambda: "ignore_case:True" in signature.text_content())
    assert "variant=due" in user.page.url
    assert "case=ignored" in user.page.url
    assert "prediction" not in user.page.url
    user.page.reload()
    wait_for(lambda: "ignore_case:True" in signature.text_content())


CLIPBOARD = """() => Object.defineProperty(navigator, "clipboard", {
    value: {writeText: (text) => { window.copied = text; }},
})"""


def test_link_has_the_settings_and_on_request_the_answer(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.7&case=counts")
    signature = "anls|rrc|ignore_case:False|threshold:0.7|v2"
    assert user.page.locator("#signature").text_content() == signature
    user.page.evaluate(CLIPBOARD)
    user.field("prediction").fill("ç & Cola")
    user.see("#answer .score")
    user.press("Copy link")
    user.page.wait_for_function("window.copied === location.href")
    other = visit(user.page.url.removeprefix(user.address))
    assert other.field("prediction").input_value() == "ç & Cola"
    assert other.page.locator("#signature").text_content() == signature
    user.press("Other case")
    user.page.wait_for_function("!location.search.includes('prediction')")
    user.field("prediction").fill("é" * 3000)
    user.press("Copy link")
    user.see("#alerts", "too long for a link")


def test_link_has_the_options_for_files(visit: Visits, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"own": "<think>?</think>Cola", "prediction": "x", "answers": ["Cola"]}]))
    user = visit("", path)
    user.report("0.0")
    user.pick("prediction", "own")
    user.pick("extract", "think")
    user.report("100.0")
    assert "prediction_field=own&extract=think" in user.page.url
    other = visit(user.page.url.removeprefix(user.address), path)
    other.report("100.0")
    user.pick("extract", "")
    user.page.wait_for_function("!location.search.includes('extract')")


def test_settings_of_a_link_that_are_not_used_are_named(visit: Visits) -> None:
    wrong = visit("?variant=none&threshold=0.7&case=perhaps&missing=some")
    wrong.see("#alerts [role=alert]", "The link's settings were ignored: variant=none, case=perhaps, missing=some")
    wrong.see(".chosen", "Variant: standard, 70%")
    wrong.press("Close")
    wrong.page.locator("#alerts [role=alert]").wait_for(state="detached")


def test_answer_is_copied_as_python(visit: Visits) -> None:
    for query, score in (
        ("?variant=due&threshold=0.4", "0.875"),
        ("?variant=anls_star&prediction=[7]&answers=[7,8]", "0.5"),
    ):
        user = visit(query)
        user.page.evaluate(CLIPBOARD)
        if "due" in query:
            user.press("A wrong digit")
            user.pick("variant", "due")
            set_threshold(user, "40")
            user.see("#answer .score", "87.5")
            user.see(".chosen", "due, 40%")
        user.press("Copy as Python")
        user.page.wait_for_function("window.copied")
        program = user.page.evaluate("window.copied").replace("print(", "found = (")
        found: dict[str, Any] = {}
        exec(program, found)
        assert str(found["found"].score) == score
        assert found["found"].signature == user.page.locator("#signature").text_content()


def test_list_is_scored_leaf_by_leaf(visit: Visits) -> None:
    user = visit("?variant=anls_star")
    user.field("prediction").fill('{"total": "12.5", "items": ["tea", "mlik"]}')
    user.field("answers").fill('{"total": "12.50",\n "items": ["milk", "tea"]}')
    user.see("#answer .why", "1 of 3 leaves correct, 2 close, so 76.7%.")
    user.see("#answer summary", "all values").click()
    user.see("#answer .tree .tree li", "[0]100.0tea")
    assert user.page.locator("#answer .tree .edits").count() == 4  # the wrong values first, then all of them
    assert user.page.locator("#settings [name=ignore_case]").is_disabled()
    user.pick("variant", "rrc")
    assert user.page.locator("#settings [name=ignore_case]").is_enabled()


def test_text_with_script_is_text(visit: Visits) -> None:
    user = visit()
    for name, text in (("prediction", SCRIPT[:24]), ("answers", SCRIPT[:24] + "\n" + SCRIPT.upper()[:20])):
        user.field(name).fill(text)
    wait_for(lambda: user.page.locator(".column").count() == 24)
    user.field("prediction").fill(SCRIPT)
    user.field("answers").fill(SCRIPT + "\n" + SCRIPT.upper())
    user.see("#more summary", "The closest of 2 references decides").click()
    user.see("#more q", "<script>window.ran = 1</script>")
    user.see("#answer .text", "${window.ran = 1}{{x}}")
    assert user.page.locator("#answer script, #answer img, #more script, #more img").count() == 0


# Files


def test_files_are_scored_and_reported(visit: Visits) -> None:
    user = visit("?tab=file")
    user.drop(SUBMISSION, GOLD)  # in any order
    announced(user, "ANLS of submission: 62.7.")
    report = user.report("62.7")
    assert user.list_files() == ["submission", "gold_label.json"]
    user.see("#files li", "gold file")
    report.locator("#read", has_text="joined by questionId").wait_for()
    report.get_by_role("searchbox").fill("SIGN")
    report.get_by_text("2 of 6 questions").first.wait_for()
    set_threshold(user, "88")
    user.report("threshold:0.88")
    assert "Coca" not in user.page.url
    saved = user.save()
    assert saved.suggested_filename == "anls-report.html"
    assert "threshold:0.88" in Path(saved.path()).read_text(encoding="utf-8")
    with user.page.context.expect_page() as opened:
        user.page.get_by_role("link", name="Open in a new tab").click()
    opened.value.locator("#list tr.row").first.wait_for()
    assert opened.value.evaluate("window.origin") == "null"  # it reaches nothing of the page
    opened.value.close()


def test_finished_report_opens_at_once(visit: Visits) -> None:
    user = visit(size="phone")
    user.press("Open the example")
    user.report("careful reader")
    assert user.list_files() == ["gold.json", "careful reader", "hasty reader"]
    assert user.fits()
    user.clear()
    assert user.page.locator("#result iframe").count() == 0
    user.drop(GOLD, SUBMISSION)
    user.report("62.7")
    assert user.list_files() == ["gold_label.json", "submission"]


@pytest.mark.parametrize("size", SIZES)
def test_result_is_the_page(visit: Visits, size: str) -> None:
    """The report is as high as its content, so there is one scroll bar, and it grows with an open question."""
    user = visit("?tab=file", GOLD, SUBMISSION, size=size)
    report, frame = user.report(), user.page.locator("#result iframe")
    inside = "document.documentElement.scrollHeight - document.documentElement.clientHeight"
    wait_for(lambda: find_frame(user).evaluate(inside) == 0)
    before = frame.bounding_box()["height"]
    report.locator("#list tr.row").first.click()
    wait_for(lambda: frame.bounding_box()["height"] > before and find_frame(user).evaluate(inside) == 0)
    assert user.fits()
    user.page.evaluate(POST, {"type": "anls-report-size", "height": 7})  # other windows are ignored
    assert frame.bounding_box()["height"] > before


def test_files_are_added_and_removed(visit: Visits, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(SUBMISSION.read_bytes())
    user = visit("", SUBMISSION)
    alert = user.see("#problems [role=alert]", "or add the gold file")
    with user.page.expect_file_chooser() as chooser:
        alert.get_by_role("button", name="Add files").click()
    chooser.value.set_files(GOLD)
    user.report("62.7")
    user.drop(other)
    wait_for(lambda: user.list_files() == ["submission", "gold_label.json", "other"])
    user.report("other")
    user.drop(other)  # once more
    user.press("Remove submission.json")
    wait_for(lambda: user.list_files() == ["gold_label.json", "other"])
    user.report("62.7")


DROP = """([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    const place = document.querySelector("footer");
    for (const type of ["dragover", "drop"]) {
        place.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}));
    }
}"""


def test_files_are_dropped_anywhere(visit: Visits) -> None:
    user = visit()
    for path in (GOLD, SUBMISSION):  # the second beside the first
        user.page.evaluate(DROP, [path.name, path.read_text()])
        user.page.locator(f'#files [aria-label="Remove {path.name}"]').wait_for()
    user.report("62.7")


def test_file_is_scored_once_for_the_settings_of_a_link(visit: Visits) -> None:
    for _ in range(3):  # gradio sends the settings before, with or after the file
        user = visit("?tab=file&variant=anls_star")
        user.drop(ROOT / "examples" / "invoices.jsonl")
        user.report("ANLS*")
        user.page.wait_for_timeout(1000)
        reports = {url for url in user.requests if "gradio_api/file=" in url and url.endswith(".html")}
        assert len(reports) == 1, user.requests


def test_table_is_scored_by_the_chosen_fields(visit: Visits, tmp_path: Path) -> None:
    rows = [
        ["kind", "one", "other", "found"],
        ["name", "CocaCola", "Coca Cola", '["Coca Cola", "Coca Cola Company"]'],
        ["date", "12/15/89", "", '["12/15/88"]'],
    ]
    with open(tmp_path / "the table.csv", "w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    user = visit("?tab=file&files=the table.csv")
    user.see("#drop", "This link shows a report of the table.csv: drop these files to see it.")
    user.drop(tmp_path / "the table.csv")
    user.see("#problems [role=alert]", "“Field of references”")
    user.open_settings()
    assert user.page.locator("#fields option").evaluate_all("all => all.map(one => one.value)") == rows[0]
    user.page.keyboard.press("Escape")
    user.pick("prediction", "one")
    user.pick("references", "found")
    user.report("88.2")


HINTS: dict[str, Any] = {
    "extract": [{"id": n, "prediction": f"The answer is {n}.", "references": [str(n)]} for n in range(30)],
    "variant": [{"id": 1, "prediction": ["a", "b"], "references": ["a", "b"]}],
    "missing": [{"questionId": 1, "answer": "Coca Cola"}],
}


@pytest.mark.parametrize("option", HINTS)
def test_button_of_a_hint_applies_it(visit: Visits, tmp_path: Path, option: str) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(HINTS[option]))
    user = visit("?tab=file", tmp_path / "answers.json", *([GOLD] if option == "missing" else []))
    place = user.report() if option == "extract" else user.page.locator("#problems")
    button = place.get_by_role("button", name=f"{OPTIONS[option].label}: ").first
    button.click()
    button.wait_for(state="detached")
    user.report()
    user.page.locator("#problems [role=alert]").first.wait_for(state="detached")


BROKEN = {
    "broken.json": (b"{", ", line 1, column 2: the JSON is cut off"),
    "scan.pdf": (b"%PDF-1.7", ": files of this kind are not read"),
    "page.jpg": (b"\xff\xd8\xff\xe0", ": files of this kind are not read"),
    "other.json": (b'[{"questionId": 99, "answer": "x"}]', ": no ids in common with gold_label.json"),
    "pages.zip": (b"no archive", ": not a zip archive"),
}


def test_broken_files_are_named_and_others_scored(visit: Visits, tmp_path: Path) -> None:
    for name, (content, _) in BROKEN.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "hostile.json").write_text(json.dumps([{"questionId": SCRIPT, "answer": "a"}]))
    user = visit("?tab=file", *(tmp_path / name for name in BROKEN), SUBMISSION, GOLD)
    for name, (_, words) in BROKEN.items():
        user.see("#problems [role=alert]", name + words)
    user.report("62.7")
    for files, words in (
        ([tmp_path / "pages.zip"], "pages.zip: a zip file may contain only page images"),
        ([GOLD], "or add a submission"),
        ([SUBMISSION], "or add the gold file"),
        ([tmp_path / "hostile.json", GOLD], "<script>window.ran = 1"),
    ):
        user.clear()
        user.drop(*files)
        assert "/tmp" not in user.see("#problems [role=alert]", words).inner_text()
        assert user.page.locator("#result iframe").count() == 0


def test_page_asks_which_file_is_the_gold_file(visit: Visits, tmp_path: Path) -> None:
    for name in ("first", "second"):
        rows = [{"questionId": n, "answer": f"{name} {n}"} for n in range(3)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    user = visit("?tab=file", tmp_path / "first.json", tmp_path / "second.json")
    announced(user, "Which of these is the gold file")
    user.page.get_by_role("radio", name="second").check()
    user.report("second.json")
    assert user.list_files() == ["first", "second.json"]


def test_question_and_button_of_nested_files_are_side_by_side(visit: Visits, tmp_path: Path) -> None:
    for name in ("first", "second"):
        rows = [{"id": n, "answer": {"total": str(n), "shop": name}} for n in range(3)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    user = visit("", tmp_path / "first.json", tmp_path / "second.json")
    user.see("#gold", "which of these contains the references?")
    user.page.get_by_role("button", name="Variant: anls_star").click()
    user.page.locator("#problems [role=alert]").wait_for(state="detached")
    user.page.get_by_role("radio", name="second").check()
    user.report("ANLS*")


def test_names_can_be_changed(visit: Visits, tmp_path: Path) -> None:
    other = tmp_path / "results.json"
    other.write_bytes(SUBMISSION.read_bytes())
    user = visit("?tab=file", GOLD, SUBMISSION, other)
    user.report("results")
    name = user.page.get_by_label("Name of results.json")
    name.fill("tuned")
    name.press("Enter")
    user.report("tuned")
    user.pick("baseline", "tuned")
    user.report("tuned")
    name.fill("submission")  # runs of one model
    name.press("Enter")
    wait_for(lambda: user.list_files() == ["gold_label.json", "submission", "submission"])
    user.clear()
    user.drop(GOLD, SUBMISSION)  # baselines stay with their files
    user.report()
    assert user.list_files() == ["gold_label.json", "submission"]
    assert user.page.locator("#problems [role=alert]").count() == 0


def test_hostile_answers_stay_in_their_frame(visit: Visits, tmp_path: Path) -> None:
    rows = [{"id": SCRIPT, "question": SCRIPT, "prediction": SCRIPT, "references": [SCRIPT + "x"]}]
    (tmp_path / "hostile.json").write_text(json.dumps(rows))
    user = visit("?tab=file", tmp_path / "hostile.json")
    user.report().locator("#list tr.row").first.click()
    frame = user.page.frames[-1]
    with user.page.context.expect_page() as opened:
        user.page.get_by_role("link", name="Open in a new tab").click()
    opened.value.locator("#list tr.row").first.click()
    for place in (frame, opened.value):
        assert place.evaluate("window.ran") is None
        assert place.evaluate("window.origin") == "null"  # it reaches nothing of the page
    opened.value.close()


def test_file_over_the_limit_is_refused_and_stays_said(visit: Visits, tmp_path: Path) -> None:
    with open(tmp_path / "large file.csv", "wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    user = visit("?tab=file", tmp_path / "large file.csv", GOLD, SUBMISSION)
    user.report("62.7")
    user.see("#alerts [role=alert]", "large file.csv has 62.9 MB, and the limit is 50 MB")
    assert user.list_files() == ["gold_label.json", "submission"]


def test_page_does_not_freeze_while_100_000_answers_are_scored(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user, other = visit("?tab=file"), visit()
    user.drop(tmp_path / "large.jsonl")
    user.pass_stage("scoring")
    other.field("prediction").fill("CocaCola")
    other.see("#answer .why", "1 edit on 9 characters")
    wait_for(lambda: other.page.locator(".tile.gap").count() == 1)
    assert not user.page.locator("#result iframe").is_visible()  # it was scoring all the time
    user.report("100,000 questions")


def test_page_shows_result_of_last_change(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 40_000)
    user = visit("?tab=file", tmp_path / "large.jsonl")
    set_threshold(user, "90")  # while the file is scored, or just after
    user.report("threshold:0.9")
    user.clear()


def test_two_users_see_their_own_files(visit: Visits, tmp_path: Path) -> None:
    users = []
    for place in range(2):
        table = tmp_path / f"table of {place}.csv"
        table.write_text(f"prediction,references\nsecret {place},secret {place}{'x' * place}\n")
        users.append(visit("?tab=file", table))
    for place, user in enumerate(users):
        assert f"secret {place}" in user.report().locator("#list tr.row").first.inner_text()


# Pasted rows

PASTED = {
    "cells": ('CocaCola\tCoca Cola\n12/15/89\t["12/15/88", "x"]\n', "88.2"),
    "headings": ('references\tquestion\tprediction\n"Coca Cola\nCola"\tWhich?\tCocaCola\n', "88.9"),
    "lists": ('predictions=["CocaCola", "a"],\nreferences=[["Coca Cola", "b"], ["a"]]', "94.4"),
}
PASTE = """([place, text]) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const event = new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true});
    return document.querySelector(place).dispatchEvent(event);
}"""


@pytest.mark.parametrize("name", PASTED)
def test_pasted_rows_are_scored_wherever_they_are_pasted(visit: Visits, name: str) -> None:
    text, score = PASTED[name]
    for place in ("footer", "#prediction"):
        user = visit()
        user.page.evaluate(PASTE, [place, text])
        user.report(score)
        assert user.list_files() == ["pasted rows"]
    user = visit()
    user.press("Paste rows")
    user.page.locator("#rows").fill(text)
    user.press("Score the rows")
    user.report(score)


def test_pasted_text_that_is_no_table_stays_in_its_field(visit: Visits) -> None:
    user = visit()
    for place, text, is_kept in (
        ("#answers", "one\ntwo", True),
        ("footer", "a word", True),
        ("footer", "one\ntwo", False),
    ):
        assert user.page.evaluate(PASTE, [place, text]) is is_kept
    user.see("#alerts", "There is only one column")


# Page and report


POST = "message => parent.postMessage(message, '*')"


def find_frame(user: Visit) -> Any:
    return user.page.locator("#result iframe").element_handle().content_frame()


@pytest.mark.parametrize("size", SIZES)
def test_heading_is_at_the_top_and_the_open_answer_in_the_window(visit: Visits, tmp_path: Path, size: str) -> None:
    user = visit("?tab=file", write_table(tmp_path / "table.jsonl", 60), size=size)
    heading = user.report().locator("h1")
    wait_for(lambda: 0 < heading.bounding_box()["y"] <= 260)
    heading.click()
    for _ in range(9):
        user.page.keyboard.press("j")
    opened = user.report().locator(".opened")
    head = user.report().locator("#list thead th").first
    opened.wait_for()

    def is_in_window() -> bool:
        box = opened.bounding_box()
        is_whole = bool(0 <= box["y"] <= SIZES[size][1] - min(box["height"], 300))
        return is_whole and (size == "phone" or 0 <= head.bounding_box()["y"] < box["y"])

    wait_for(is_in_window)
    place = user.report().locator("#list tr.row").nth(12)  # a clicked row stays under the pointer
    before = place.bounding_box()["y"]
    place.evaluate("row => row.click()")
    wait_for(lambda: abs(place.bounding_box()["y"] - before) < 3)


def test_changed_setting_keeps_view_and_marks(visit: Visits, served: Served) -> None:
    user = visit()
    before = set(served.uploads.rglob("anls-report.html"))
    user.drop(GOLD, SUBMISSION)
    user.report()
    own = set(served.uploads.rglob("anls-report.html")) - before
    assert len(own) == 1
    frame = find_frame(user)
    frame.evaluate(POST, {"type": "anls-report-state", "hash": "#q-3?sort=-id"})
    frame.evaluate(POST, {"type": "anls-report-marks", "place": "gold:1", "marks": '[["1", {}]]'})
    user.page.wait_for_function("location.hash.includes('q-3')")
    set_threshold(user, "88")
    user.report("threshold:0.88")
    frame = find_frame(user)
    data = frame.evaluate("({...document.documentElement.dataset})")
    wait_for(lambda: not any(path.exists() for path in own))  # there is another one now
    assert data["hash"] == "#q-3?sort=-id"
    assert json.loads(data["marks"]) == {"gold:1": '[["1", {}]]'}
    user.page.evaluate(POST, {"type": "anls-report-state", "hash": "#q-4"})  # other windows are ignored
    assert "q-4" not in user.page.url
    user.clear()
    user.page.wait_for_function("location.hash === ''")


def test_copied_link_opens_the_question_once_the_files_are_dropped(visit: Visits) -> None:
    user = visit()
    user.drop(GOLD, SUBMISSION)
    report = user.report()
    report.locator("#list tr.row a").nth(2).click()
    user.page.wait_for_function("location.hash.includes('q-')")
    question = report.locator(".opened").inner_text()
    find_frame(user).evaluate(CLIPBOARD)
    report.locator(".opened").get_by_role("button", name="Copy", exact=True).click()
    link = find_frame(user).evaluate("window.copied").split()[-1]
    assert link == user.page.url
    other = visit(link.removeprefix(user.address), GOLD, SUBMISSION)
    opened = other.report().locator(".opened")
    opened.wait_for()
    assert opened.inner_text().replace("Copied", "Copy") == question


# Images


@pytest.mark.parametrize("kind", ["zip", "parquet"])
def test_pages_stand_beside_the_questions(visit: Visits, tmp_path: Path, kind: str) -> None:
    images = pytest.importorskip("tests.report.test_images", reason="images need pyarrow and Pillow")
    rows = images.make_rows(images.PAGES)
    paths = [tmp_path / "log.parquet"]
    if kind == "zip":
        paths = [tmp_path / "pages.zip", tmp_path / "log.json"]
        named = [{**row, "image": f"page_{place}.png"} for place, row in enumerate(rows)]
        paths[1].write_text(json.dumps(named))
        images.write_zip(paths[0], {f"a/page_{place}.png": page for place, page in enumerate(images.PAGES)})
    else:
        images.write_parquet(paths[0], rows)
    user = visit("?tab=file", *paths)
    report = user.report()
    report.locator("#list tr.row a").first.click()
    report.locator(".opened img").wait_for()


# Layout


# A score, a similarity or a threshold from 0 to 1. A signature, which is typed, has such a number after a colon.
FRACTION = re.compile(r"(similarity|threshold|scores?)[^\d:]{0,20}\b(0\.[1-9]|1(?![\d.]))|\b[01]\.\d\d+ (now|then)")


def test_scores_similarities_and_thresholds_are_in_percent(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(HINTS["extract"]))
    user = visit("?tab=file&threshold=0.7", tmp_path / "answers.json")
    report = user.report("threshold 70%")
    report.get_by_text("(0.0 now, 100.0 then)").wait_for()
    user.see("#line .chosen", "standard, 70%")
    other, how = visit("?threshold=0.7"), visit("how")
    other.see("#answer .why", "at least the threshold of 70%")
    how.see("td", "similarity >= 50%")
    texts = [
        text
        for place in (user.page, report, other.page, how.page)
        for text in place.locator("p, li, td, th, label, button, header, pre, .gauge span").all_text_contents()
    ]
    assert len(texts) > 300
    assert [text for text in texts if FRACTION.search(text)] == []


FOCUSED = """() => {
    const element = document.activeElement;
    if (element === document.body) return ["BODY", true];
    const name = element.id || element.ariaLabel || element.textContent.trim().slice(0, 30) || element.tagName;
    const {outlineStyle, outlineWidth, opacity} = getComputedStyle(element);
    return [name, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && opacity !== "0"];
}"""


@pytest.mark.parametrize("place", ["answer", "files", "settings"])
def test_focus_can_be_seen_on_every_control(visit: Visits, place: str) -> None:
    user = visit()
    if place == "files":
        user.press("Open the example")
        user.report()
    elif place == "settings":
        user.open_settings()
    user.page.locator("h1").click()
    if place == "settings":
        user.page.locator(".chosen:visible").press("Enter")
    seen = []
    for _ in range(60):
        user.page.keyboard.press("Tab")
        name, is_visible = user.page.evaluate(FOCUSED)
        if name in ("IFRAME", "BODY"):
            break  # the report shows where the focus is
        seen.append((name, is_visible))
    assert len(set(seen)) > 9
    assert [name for name, is_visible in seen if not is_visible] == []


def open_nothing(user: Visit, folder: Path) -> None:
    """The first visit."""


def open_tables(user: Visit, folder: Path) -> None:
    for summary in user.page.locator("#more summary").all():
        summary.click()


def open_list(user: Visit, folder: Path) -> None:
    user.press("A list")
    user.see(".tree")


def open_paste(user: Visit, folder: Path) -> None:
    user.press("Paste rows")
    user.page.locator("#rows").fill("one")
    user.press("Score the rows")
    user.see("#alerts [role=alert]")


def open_settings(user: Visit, folder: Path) -> None:
    user.open_settings()


def open_report(user: Visit, folder: Path) -> None:
    user.press("Open the example")
    user.report("60 questions")


def open_question(user: Visit, folder: Path) -> None:
    for name in ("first", "second"):
        rows = [{"id": n, "answer": {"total": str(n)}} for n in range(3)]
        (folder / f"{name}.json").write_text(json.dumps(rows))
    user.drop(folder / "first.json", folder / "second.json")
    user.see("#gold")


def open_problem(user: Visit, folder: Path) -> None:
    user.drop(SUBMISSION)
    user.see("#problems [role=alert]")


def open_stopped(user: Visit, folder: Path) -> None:
    user.drop(write_table(folder / "large.jsonl", 100_000))
    user.pass_stage("scoring")
    user.press("Stop")
    user.see("#again")


STATES = (
    *(open_nothing, open_tables, open_list, open_paste, open_settings),
    *(open_report, open_question, open_problem, open_stopped),
)


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_page_is_accessible_and_fits(visit: Visits, tmp_path: Path, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    violations: list[Any] = []

    def check(user: Visit, state: str) -> None:
        user.page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")
        found = axe.Axe().run(user.page, options={"resultTypes": ["violations"]}).response["violations"]
        violations.extend((state, one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found)
        assert user.fits(), state

    for open_state in STATES:
        user = visit(size=size, scheme=scheme)
        open_state(user, tmp_path)
        check(user, open_state.__name__)
    how = visit("how", size=size, scheme=scheme)
    check(how, "how")
    assert violations == []
    for name in anls_metric.VARIANTS:
        how.see("td code, th code", name)


def test_description_of_the_endpoints_opens(visit: Visits) -> None:
    user = visit()
    user.page.get_by_role("link", name="Use via API or MCP").click()
    for endpoint in ENDPOINTS:
        user.see("th code", endpoint.__name__)
