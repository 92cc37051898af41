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
from anls_metric.options import OPTIONS
from tests.conftest import ROOT, wait_for
from tests.page.conftest import SIZES, Served, Visit, write_table

Visits = Callable[..., Visit]

GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"
SCRIPT = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}{{x}}"
VOICE = "text => document.getElementById('voice').textContent.includes(text)"


def set_threshold(user: Visit, value: str) -> None:
    user.unfold("#settings")
    user.page.locator("#threshold input[type=number]").fill(value)
    user.page.locator("#threshold input[type=number]").press("Tab")


def announced(user: Visit, text: str) -> None:
    """Wait until screen readers are told."""
    user.page.wait_for_function(VOICE, arg=text)


# One answer


@pytest.mark.parametrize("size", SIZES)
def test_score_follows_what_is_typed(visit: Visits, size: str) -> None:
    user = visit(size=size)
    user.see("#answer .score", "88.9")  # the first visit shows a scored answer
    user.field("prediction").fill("The Coca")
    user.see("#answer .why", "5 edits on 9 characters: similarity 44.4% is below the threshold of 50%, so 0.")
    user.field("prediction").press_sequentially(" Cola")
    user.see("#answer .score", "69.2")
    user.field("answers").fill("The Coca Cola\nPepsi")
    user.see("#answer .why", "Equal to a reference, so 100%.")
    announced(user, "Equal to a reference")
    user.field("answers").fill("")
    user.see("#answer", "Enter a reference")
    assert user.fits()


def test_variants_that_agree_are_folded(visit: Visits) -> None:
    user = visit()
    user.field("prediction").fill("ab")
    user.field("answers").fill("abcd")
    user.see("#answer .score", "50.0")
    disagreeing = sum(anls_metric.anls_score("ab", ["abcd"], variant=name) != 0.5 for name in anls_metric.VARIANTS)
    user.see("#variants .said", f"{disagreeing} of {len(anls_metric.VARIANTS)} variants give a score other than 50.0")
    assert user.page.locator("#variants tbody tr:visible").count() == disagreeing
    user.page.locator("#variants summary").click()
    assert user.page.locator("#variants tbody tr:visible").count() == len(anls_metric.VARIANTS)


def test_examples_are_there_to_click(visit: Visits) -> None:
    user = visit()
    scores = {"TALKINGHEADS": "92.3", "Exactly 50%": "50.0", "Whitespace": "61.5", "Empty": "0.0", "A list": "50.0"}
    for name, score in {**scores, "Coca Cola": "88.9"}.items():
        user.page.get_by_role("button", name=name, exact=True).click()
        user.see("#answer .line", f"{score}ANLS")


def test_settings_change_the_score_and_the_address(visit: Visits) -> None:
    user = visit()
    set_threshold(user, "90")
    user.see("#answer .why", "similarity 88.9% is below the threshold of 90%, so 0.")
    user.pick("#variant", "due:")
    user.see("#answer code", "anls|due|threshold:0.5")
    user.page.locator("#ignore-case input").check()
    user.see("#answer code", "ignore_case:True")
    user.page.wait_for_function("location.search.includes('case=ignored')")
    assert "variant=due" in user.page.url
    assert "prediction" not in user.page.url
    user.page.reload()
    user.see("#answer code", "ignore_case:True")


def test_link_has_the_settings_and_on_request_the_answer(visit: Visits) -> None:
    user = visit("?variant=rrc&threshold=0.7&case=counts")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")
    user.field("prediction").fill("ç & Cola")
    user.see("#answer .score")
    user.page.get_by_role("button", name="Copy a link").click()
    user.page.wait_for_function("location.search.includes('prediction')")
    other = visit(user.page.url.partition("/?")[2].join(["?", ""]))
    assert other.field("prediction").input_value() == "ç & Cola"
    other.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")
    user.page.get_by_role("button", name="TALKINGHEADS").click()
    user.page.wait_for_function("!location.search.includes('prediction')")
    user.field("prediction").fill("é" * 3000)
    user.page.get_by_role("button", name="Copy a link").click()
    user.see("#copied", "too long for a link")
    wrong = visit("?variant=none&threshold=0.7")
    wrong.see(".toast-body", "The settings of the link are not used")
    wrong.see("#answer code", "anls|standard|threshold:0.5")
    wrong.page.locator(".toast-body").wait_for(state="detached")  # it covers the buttons


def test_list_is_scored_leaf_by_leaf(visit: Visits) -> None:
    user = visit("?variant=anls_star")
    user.unfold("#settings")
    user.field("prediction").fill('{"total": "12.5", "items": ["tea", "mlik"]}')
    user.field("answers").fill('{"total": "12.50",\n "items": ["milk", "tea"]}')
    user.see("#answer .why", "1 of 3 leaves correct, 2 close, so 76.7%.")
    user.see("#answer .tree .tree li", "[0]100.0tea")
    assert user.page.locator("#answer .tree .edits").count() == 2
    assert user.page.locator("#ignore-case input").is_disabled()
    user.pick("#variant", "rrc:")
    user.page.locator("#ignore-case input:enabled").wait_for()


def test_text_with_script_is_text(visit: Visits) -> None:
    user = visit()
    user.field("prediction").fill(SCRIPT)
    user.field("answers").fill(SCRIPT + "\n" + SCRIPT.upper())
    user.see("#answer q", "<script>window.ran = 1</script>")
    assert user.page.locator("#answer script, #answer img").count() == 0
    user.see("#answer q", "${window.ran = 1}{{x}}")


# Files


def test_files_are_scored_and_reported(visit: Visits) -> None:
    user = visit("?tab=file")
    user.drop(SUBMISSION, GOLD)  # in any order
    announced(user, "ANLS of submission: 62.7.")
    report = user.report("62.7")
    user.see("#chosen > button", "Files: submission · gold_label.json (gold)")
    user.unfold("#chosen")
    user.see("#names", "joined by questionId: 6 of 6")
    report.get_by_role("searchbox").fill("SIGN")
    report.get_by_text("2 of 6 questions").first.wait_for()
    set_threshold(user, "88")
    user.report("threshold:0.88")
    assert "Coca" not in user.page.url
    saved = user.save()
    assert saved.suggested_filename == "anls-report.html"
    assert "threshold:0.88" in Path(saved.path()).read_text(encoding="utf-8")
    with user.page.context.expect_page() as opened:
        user.page.get_by_role("link", name="Open in its own tab").click()
    opened.value.locator("#list tr.row").first.wait_for()
    assert opened.value.evaluate("window.origin") == "null"  # it reaches nothing of the page
    opened.value.close()


def test_made_up_files_are_there_to_try(visit: Visits) -> None:
    user = visit("?tab=file", size="phone")
    user.page.get_by_role("button", name="Try example files").click()
    user.report("careful reader")
    user.see("#chosen > button", "Files: gold.json (gold) · careful reader · hasty reader")
    assert user.fits()
    user.clear()
    user.page.locator("#result iframe").wait_for(state="detached")
    user.drop(GOLD, SUBMISSION)
    user.report("62.7")
    user.see("#chosen > button", "Files: gold_label.json (gold) · submission")


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
    user.see("#result", "This link shows a report of the table.csv: drop these files to see it.")
    user.drop(tmp_path / "the table.csv")
    user.see(".problem [role=alert]", "“Field of references”")
    user.unfold("#options")
    user.pick("#setting-prediction", "one")
    user.pick("#setting-references", "found")
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
    place = user.page if option == "missing" else user.report()
    button = place.get_by_role("button", name=f"{OPTIONS[option].label}: ").first
    button.click()
    button.wait_for(state="detached")
    user.report()
    user.page.locator(".problem").wait_for(state="detached")


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
        user.see(".problem [role=alert]", name + words)
    user.report("62.7")
    for files, words in (
        ([tmp_path / "pages.zip"], "pages.zip: a zip file is only for page images"),
        ([GOLD], "or drop a submission as well"),
        ([SUBMISSION], "or drop the gold file as well"),
        ([tmp_path / "hostile.json", GOLD], "<script>window.ran = 1"),
    ):
        user.clear()
        user.drop(*files)
        assert "/tmp" not in user.see(".problem [role=alert]", words).inner_text()
        assert user.page.locator("#result iframe").count() == 0


def test_page_asks_which_file_is_the_gold_file(visit: Visits, tmp_path: Path) -> None:
    for name in ("first", "second"):
        rows = [{"questionId": n, "answer": f"{name} {n}"} for n in range(3)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    user = visit("?tab=file", tmp_path / "first.json", tmp_path / "second.json")
    announced(user, "Which of these is the gold file")
    user.page.get_by_role("radio", name="second").check()
    user.report("second.json")
    user.see("#chosen > button", "Files: first · second.json (gold)")


def test_names_can_be_changed(visit: Visits, tmp_path: Path) -> None:
    other = tmp_path / "results.json"
    other.write_bytes(SUBMISSION.read_bytes())
    user = visit("?tab=file", GOLD, SUBMISSION, other)
    user.report("results")
    user.unfold("#chosen")
    user.page.locator("#names [data-row='2'][data-col='2']").dblclick()
    user.page.keyboard.press("ControlOrMeta+a")
    user.page.keyboard.type("tuned")
    user.page.keyboard.press("Enter")
    user.report("tuned")
    user.unfold("#options")
    user.pick("#setting-baseline", "tuned")
    user.report("tuned")
    user.clear()
    user.drop(GOLD, SUBMISSION)  # baselines stay with their files
    user.see("#chosen > button", "Files: gold_label.json (gold) · submission")
    user.report()
    assert user.page.locator(".problem [role=alert]").count() == 0


def test_hostile_answers_stay_in_their_frame(visit: Visits, tmp_path: Path) -> None:
    rows = [{"id": SCRIPT, "question": SCRIPT, "prediction": SCRIPT, "references": [SCRIPT + "x"]}]
    (tmp_path / "hostile.json").write_text(json.dumps(rows))
    user = visit("?tab=file", tmp_path / "hostile.json")
    user.report().locator("#list tr.row").first.click()
    frame = user.page.frames[-1]
    with user.page.context.expect_page() as opened:
        user.page.get_by_role("link", name="Open in its own tab").click()
    opened.value.locator("#list tr.row").first.click()
    for place in (frame, opened.value):
        assert place.evaluate("window.ran") is None
        assert place.evaluate("window.origin") == "null"  # it reaches nothing of the page
    opened.value.close()


def test_file_over_the_limit_is_refused(visit: Visits, tmp_path: Path) -> None:
    with open(tmp_path / "large file.csv", "wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    user = visit("?tab=file")
    user.page.locator("#files input[type=file]").set_input_files(tmp_path / "large file.csv")
    user.see(".toast-body", "size")


def test_page_does_not_freeze_while_100_000_answers_are_scored(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user, other = visit("?tab=file"), visit()
    user.drop(tmp_path / "large.jsonl")
    user.pass_stage("scoring")
    other.field("prediction").fill("Coca Cole")
    other.see("#answer .why", "1 edit on 9 characters")
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


# A pasted table

PASTED = {
    "cells": ('CocaCola\tCoca Cola\n12/15/89\t["12/15/88", "x"]\n', "88.2"),
    "headings": ('references\tquestion\tprediction\n"Coca Cola\nCola"\tWhich?\tCocaCola\n', "88.9"),
    "lists": ('predictions=["CocaCola", "a"],\nreferences=[["Coca Cola", "b"], ["a"]]', "94.4"),
}
PASTE = """([place, text]) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.querySelector(place).dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true}));
}"""


@pytest.mark.parametrize("name", PASTED)
def test_pasted_table_is_scored(visit: Visits, name: str) -> None:
    text, score = PASTED[name]
    user = visit("?tab=table")
    user.page.locator("#table [data-row='0'][data-col='0']").click()
    user.page.evaluate(PASTE, ["#table [data-row='0'][data-col='0']", text])
    user.see("#table", "a" if name == "lists" else "CocaCola")
    user.page.wait_for_function("document.querySelector('#pasted textarea').value === ''")
    user.page.get_by_role("button", name="Score the table").click()
    user.report(score)
    user.see("#chosen > button", "Files: pasted table")


# Page and report


POST = "message => parent.postMessage(message, '*')"


def find_frame(user: Visit) -> Any:
    return user.page.locator("#result iframe").element_handle().content_frame()


@pytest.mark.parametrize("size", SIZES)
def test_heading_is_at_the_top_and_the_open_answer_in_the_window(visit: Visits, tmp_path: Path, size: str) -> None:
    user = visit("?tab=file", write_table(tmp_path / "table.jsonl", 60), size=size)
    heading = user.report().locator("h1")
    wait_for(lambda: 0 < heading.bounding_box()["y"] <= 200)  # a small window moves to the report
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


def test_changed_setting_keeps_view_and_marks(visit: Visits, served: Served) -> None:
    user = visit()
    user.tab("Files")
    before = set(served.uploads.rglob("anls-report.html"))
    user.drop(GOLD, SUBMISSION)
    user.report()
    own = set(served.uploads.rglob("anls-report.html")) - before
    assert len(own) == 1
    frame = find_frame(user)
    frame.evaluate(POST, {"type": "anls-report-state", "hash": "#q-3?sort=-id"})
    frame.evaluate(POST, {"type": "anls-report-marks", "place": "gold:1", "marks": '[["1", {}]]'})
    user.page.wait_for_function("location.hash.includes('q-3')")
    assert "tab=file" in user.page.url
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


CLIPBOARD = """() => Object.defineProperty(navigator, "clipboard", {
    value: {writeText: (text) => { window.copied = text; }},
})"""


def test_copied_link_opens_the_question_once_the_files_are_dropped(visit: Visits) -> None:
    user = visit()
    user.tab("Files")
    user.drop(GOLD, SUBMISSION)
    report = user.report()
    report.locator("#list tr.row a").nth(2).click()
    user.page.wait_for_function("location.hash.includes('q-')")
    question = report.locator(".opened").inner_text()
    find_frame(user).evaluate(CLIPBOARD)
    report.locator(".opened").get_by_role("button", name="Copy link").click()
    link = find_frame(user).evaluate("window.copied")
    assert link == user.page.url
    other = visit(link.removeprefix(user.address), GOLD, SUBMISSION)
    opened = other.report().locator(".opened")
    opened.wait_for()
    assert opened.inner_text().replace("Copied", "Copy link") == question


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
    user.see("#settings > button", "standard, 70%")
    user.tab("How it works")
    user.see("#how td", "similarity >= 50%")
    user.tab("One answer")
    user.see("#answer .why", "at least the threshold of 70%")
    texts = [
        text
        for place in (user.page, report)
        for text in place.locator("p, li, td, th, label, button, header, .prose pre").all_text_contents()
    ]
    assert len(texts) > 300
    assert [text for text in texts if FRACTION.search(text)] == []


FOCUSED = """() => {
    let element = document.activeElement;
    while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const name = element.id || element.ariaLabel || element.textContent.trim().slice(0, 30) || element.tagName;
    for (; element && element !== document.body; element = element.parentElement ?? element.getRootNode().host) {
        const {outlineStyle, outlineWidth, opacity} = getComputedStyle(element);
        if (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && opacity !== "0") return [name, true];
    }
    return [name, false];
}"""


@pytest.mark.parametrize("tab", ["answer", "file"])
def test_focus_can_be_seen_on_every_control(visit: Visits, tab: str) -> None:
    user = visit(f"?tab={tab}")
    if tab == "file":
        user.page.get_by_role("button", name="Try example files").click()
        user.report()
        user.unfold("#options")
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


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_page_is_accessible_and_fits(visit: Visits, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    user = visit(size=size, scheme=scheme)
    user.field("prediction").fill("xCoca  Col")
    user.see("#answer .edits")
    serious = []
    for tab in ("One answer", "Paste a table", "Files", "How it works"):
        user.tab(tab)
        if tab == "Files":
            user.page.get_by_role("button", name="Try example files").click()
            user.report("60 questions")
            user.unfold("#options")
        user.page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")
        found = axe.Axe().run(user.page, options={"resultTypes": ["violations"]}).response["violations"]
        serious += [
            (tab, one["id"], [node["html"][:160] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert user.fits()
    assert serious == []
    for name in anls_metric.VARIANTS:
        user.see("#how td code", name)
