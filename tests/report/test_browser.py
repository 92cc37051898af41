"""The report, opened from a file in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from anls_metric import VARIANTS, command_line, explain
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from anls_metric.reading.corrections import read_corrections
from anls_metric.report.html import as_html
from tests.conftest import benchmark, fuzzed_rows
from tests.report.sample_reports import HOSTILE, build_report, make_answers, read_data
from tests.report.test_html import save_image

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

OpenReport = Callable[..., Any]

TWO = {"first": make_answers(120, 0.9), "second": make_answers(120, 0.5)}
SIX = {name: make_answers(120, share) for name, share in zip("abcdef", (0.9, 0.8, 0.7, 0.5, 0.3, 0.0))}


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[OpenReport]:
    """A function that writes and opens a report. At the end, check that it used no network and had no errors."""
    pages: list[Any] = []
    foreign_urls: list[str] = []
    errors: list[str] = []

    def note_foreign(url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            foreign_urls.append(url)

    def open_it(
        submissions: Mapping[str, Any],
        records: Any = (),
        size: str = "desktop",
        scheme: str = "light",
        address: str = "",
        **options: Any,
    ) -> Any:
        path = tmp_path / f"report {len(pages)}.html"
        path.write_bytes(build_report(submissions, records, **options).encode())
        page = browser.new_page()
        pages.append(page)
        page.set_viewport_size(dict(zip(("width", "height"), SIZES[size])))
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda request: note_foreign(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text))
        page.goto(path.as_uri() + address)
        page.locator("#list tbody").wait_for(state="attached")
        return page

    yield open_it
    for page in pages:
        assert page.evaluate("window.ran") is None
        page.evaluate("localStorage.clear()")
        page.close()
    assert foreign_urls == []
    assert errors == []


def list_ids(page: Any) -> list[str]:
    texts: list[str] = page.locator("#list tr.row th a").all_inner_texts()
    return texts


def find_chip(page: Any, name: str) -> Any:
    return page.locator(".chips button", has_text=name)


def fits_width(page: Any) -> bool:
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width <= int(page.viewport_size["width"])


# The table


def test_search_filters_while_typing(open_report: OpenReport) -> None:
    records = [{"id": f"q{number}", "question": f"What is {number}?"} for number in range(120)]
    page = open_report(TWO, records)
    assert page.get_by_role("searchbox").count() == 1
    page.get_by_role("searchbox").press_sequentially("WHAT IS 7?")
    assert list_ids(page) == ["q7"]
    assert page.get_by_role("status").first.inner_text() == "1 of 120 questions"
    page.get_by_role("searchbox").fill("no such words")
    assert list_ids(page) == []
    page.get_by_role("searchbox").fill("q11")
    assert sorted(list_ids(page)) == ["q11", *(f"q11{digit}" for digit in range(10))]
    page.get_by_role("searchbox").fill("of question 99")
    assert list_ids(page) == ["q99"]
    page.get_by_role("button", name="Clear filters").click()
    assert page.get_by_role("status").first.inner_text() == "120 questions"


def test_every_column_sorts_and_sets_aria_sort(open_report: OpenReport) -> None:
    page = open_report(TWO)
    headers = page.locator("#list thead th")
    assert headers.count() == 6
    for place in range(6):
        headers.nth(place).get_by_role("button").click()
        directions = [headers.nth(other).get_attribute("aria-sort") for other in range(6)]
        assert directions == ["ascending" if other == place else "none" for other in range(6)]
    headers.nth(0).get_by_role("button").click()
    assert list_ids(page)[:3] == ["0", "1", "2"]
    headers.nth(0).get_by_role("button").click()
    assert list_ids(page)[:3] == ["119", "118", "117"]


def test_chips_filter_by_outcome_and_difference(open_report: OpenReport) -> None:
    page = open_report(TWO)
    names = [outcome["name"] for outcome in json.loads(page.locator("#data").text_content())["outcomes"]]
    assert "contains an answer" in names
    find_chip(page, "contains an answer").click()
    count = int(find_chip(page, "contains an answer").locator("b").inner_text())
    assert len(list_ids(page)) == count > 0
    assert set(page.locator("#list td.outcome").all_inner_texts()) == {"contains an answer"}
    assert find_chip(page, "contains an answer").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Clear filters").click()
    assert page.locator("#list thead th").all_inner_texts()[2:4] == ["second", "first"]  # the baseline
    find_chip(page, "worse").click()
    assert len(list_ids(page)) == int(find_chip(page, "worse").locator("b").inner_text()) == 48
    assert all(text.startswith("-") for text in page.locator("#list tr.row td.of-difference").all_inner_texts())
    find_chip(page, "better").click()
    assert list_ids(page) == []


def test_count_or_group_in_the_summary_filters_the_questions(open_report: OpenReport) -> None:
    page = open_report(SIX, [{"kind": "ab"[number % 2]} for number in range(120)])
    count = page.get_by_role("button", name="contains an answer of f: show these questions")
    number = int(count.inner_text())
    count.click()
    assert page.get_by_role("status").first.inner_text() == f"{number} of 120 questions"
    assert page.get_by_label("answers of").input_value() == "5"
    assert count.get_attribute("aria-pressed") == "true"
    page.get_by_role("tab", name="Groups").click()
    page.get_by_role("button", name="b: show its questions").click()
    assert page.get_by_role("status").first.inner_text() == "60 of 120 questions"
    assert page.locator("#group option:checked").inner_text() == "b"


def test_selects_choose_another_pair_of_submissions(open_report: OpenReport) -> None:
    page = open_report(SIX)
    page.get_by_label("answers of").select_option(label="f")
    page.get_by_label("against").select_option(label="nobody")
    assert page.locator("#list thead th").all_inner_texts() == ["id", "question", "f", "outcome"]
    assert page.locator("#changes button").count() == 0
    page.get_by_label("against").select_option(label="c")
    assert page.locator("#list thead th").all_inner_texts()[2:4] == ["f", "c"]


def test_next_button_turns_to_every_page(open_report: OpenReport) -> None:
    page = open_report(TWO)
    seen = list_ids(page)
    for number in (2, 3):
        page.get_by_role("button", name="Next", exact=True).click()
        assert page.locator("#page").inner_text() == f"page {number} of 3"
        seen += list_ids(page)
    assert page.get_by_role("button", name="Next", exact=True).is_disabled()
    assert sorted(map(int, seen)) == list(range(120))


# One question


@pytest.mark.parametrize("key", ["49153", "a/b ü%20?#&\"'", "مرحبا", "-"])
def test_address_opens_its_question(open_report: OpenReport, key: str) -> None:
    records = [{"id": str(number)} for number in range(119)] + [{"id": key}]
    page = open_report(TWO, records, address=f"#q-{urllib.parse.quote(key, safe='')}")
    assert page.locator("#list tr.open a").first.inner_text() == key
    link = page.locator("#list tr.open a").first
    assert link.get_attribute("aria-expanded") == "true"
    href = link.get_attribute("href")
    page.keyboard.press("Escape")
    assert page.locator("#list tr.open").count() == 0
    page.evaluate("address => { location.hash = address }", href)
    page.locator("#list tr.open").wait_for()


def test_extracted_answer_stands_below_the_output_of_the_model(browser: Any, tmp_path: Path) -> None:
    thought = "<think>A cup.</think>The answer is CocaCola."
    scored_set = ScoredSet(keep=True)
    scored_set.add([Row("7", "CocaCola", ["Coca Cola"], {}, thought), Row("8", "tea", ["tea"], {}, "tea")])
    path = tmp_path / "report.html"
    path.write_text(as_html([Entry("model", scored_set)]), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri() + "#q-7")
    page.locator("#list tr.open").wait_for()
    assert page.locator(".written").all_inner_texts() == [thought, "CocaCola"]
    assert page.locator("article .label").all_inner_texts() == ["as written", "taken out of it"]
    page.get_by_role("searchbox").fill("a cup")
    assert list_ids(page) == ["7"]
    page.get_by_role("searchbox").fill("")
    page.evaluate("location.hash = '#q-8'")
    page.locator("#list tr.open", has_text="tea").wait_for()
    assert page.locator(".written").all_inner_texts() == ["tea"]
    page.close()


def test_address_of_a_filtered_question_clears_filters(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.get_by_role("searchbox").fill("no such words")
    page.evaluate("location.hash = '#q-7'")
    page.locator("#list tr.open").wait_for()
    assert page.get_by_role("searchbox").input_value() == ""


def test_keyboard_opens_closes_and_searches_questions(open_report: OpenReport) -> None:
    page = open_report(TWO)
    order = list_ids(page)
    page.keyboard.press("j")
    assert page.locator("#list tr.open a").first.inner_text() == order[0]
    assert page.url.endswith(f"#q-{order[0]}")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    assert page.locator("#list tr.open a").first.inner_text() == order[2]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("k")
    assert page.locator("#list tr.open a").first.inner_text() == order[0]
    page.keyboard.press("Escape")
    assert page.locator("#list tr.open").count() == 0
    assert page.evaluate("document.activeElement.dataset.row") is not None
    page.keyboard.press("Enter")
    assert page.locator("#list tr.open").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.get_by_role("searchbox").input_value() == "jk"
    for _ in range(50):  # the key j continues on the next page
        page.get_by_role("searchbox").fill("")
    page.get_by_role("searchbox").blur()
    for _ in range(51):
        page.keyboard.press("j")
    assert page.locator("#page").inner_text() == "page 2 of 3"


def test_opened_question_shows_the_whole_answer_as_written(open_report: OpenReport) -> None:
    long = "A very  LONG answer\nof two lines. " * 30_000
    page = open_report({"one": [(long, ["coca", "Coca Cola"]), (" Coca  COLA", ["x", "Coca Cola"])]}, address="#q-0")
    assert page.locator(".written").text_content() == long
    page.evaluate("location.hash = '#q-1'")
    page.locator(".opened", has_text="Equal to an accepted answer once normalized, so 1.").wait_for()
    assert page.locator(".written").text_content() == " Coca  COLA"
    assert page.locator(".accepted li").all_inner_texts() == ["accepted", "x", "Coca Colaclosest"]
    assert page.locator(".accepted .closest").inner_text().startswith("Coca Cola")
    assert page.locator(".edits").count() == 0  # they differ only in case and blanks


def test_edits_join_to_both_texts(open_report: OpenReport) -> None:
    rows = [row for row in fuzzed_rows(25, 5) if row[0]]
    page = open_report({"one": rows}, variant="nls")
    join = """(edits, side) => [...edits.childNodes].filter(part => part.nodeName !== side)
        .map(part => part.textContent).join("").replaceAll("␣", " ").replaceAll("↵", "").replaceAll("⇥", "\t")"""
    for number, (prediction, references) in enumerate(rows):
        page.evaluate(f"location.hash = '#q-{number}'")
        page.locator(f"#list tr.open a[href='#q-{number}']").first.wait_for()
        edits = page.locator(".edits")
        if edits.count():
            closest = explain(prediction, references, variant="nls").closest
            for side, text in (("INS", prediction), ("DEL", closest)):
                shown = page.evaluate(f"([edits, side]) => ({join})(edits, side)", [edits.element_handle(), side])
                assert shown.replace("⍽", "\xa0") == text


def test_hostile_texts_are_shown_as_text(open_report: OpenReport) -> None:
    answers = [(HOSTILE, [HOSTILE + "x", "y"]), ("a", ["a"]), (HOSTILE, ["q"])]
    records = [
        {"id": HOSTILE, "question": HOSTILE, "kind": HOSTILE},
        {"id": "1", "kind": "x"},
        {"id": "2", "kind": "x"},
    ]
    page = open_report({HOSTILE: answers, "other": answers}, records, hints=[HOSTILE])
    page.locator("#list tr.row").first.click()
    assert page.locator(".opened script, .opened img, #list script").count() == 0
    written = page.locator(".written").first.inner_text()
    for text in ("<script>window.ran = 1</script>", "U+202E", "NUL", "U+200B", "U+D800"):
        assert text in written
    assert "\u202e" not in page.locator("body").inner_text()


def test_arabic_text_runs_from_the_right(open_report: OpenReport) -> None:
    arabic = "العربية 12"
    page = open_report({"one": [(arabic, [arabic + " نص"])]}, [{"id": "7", "question": arabic}], address="#q-7")
    for place in (".written", ".edits", ".opened h3"):
        element = page.locator(place)
        style = "getComputedStyle(element)"
        assert element.evaluate(f"element => {style}.direction === 'rtl' || {style}.unicodeBidi === 'plaintext'"), place
        assert element.get_attribute("dir") == "auto"


def test_very_long_texts_are_not_aligned_and_a_sentence_says_so(open_report: OpenReport) -> None:
    wild = "".join(random.Random(1).choices("abcd", k=9000)), "".join(random.Random(2).choices("abcd", k=8000))
    page = open_report({"one": [(wild[0], [wild[1]])]}, address="#q-0")
    assert "9,000 characters against 8,000: too many differences" in page.locator(".opened").inner_text()


def test_long_texts_with_few_edits_show_these_edits(open_report: OpenReport) -> None:
    text = (
        "".join(random.Random(3).choices("abcdefgh", k=7_500))
        + "  "
        + "".join(random.Random(4).choices("abcd", k=7_500))
    )
    page = open_report(
        {"one": [(text[:7000] + "X" + text[7000:], [text[:7500] + text[7501:9000] + text[9005:]])]}, address="#q-0"
    )
    assert page.locator(".edits del").all_inner_texts()[0] == "X"
    assert page.locator(".edits ins:not(.free), .edits del:not(.free)").count() == 2
    assert page.locator(".edits .free").all_inner_texts() == ["␣␣", "␣"]
    assert "equal characters" in page.locator(".edits .gap").first.inner_text()
    assert len(page.locator(".edits").inner_text()) < 1000


def test_image_of_a_question_is_shown_and_can_be_enlarged(open_report: OpenReport, tmp_path: Path) -> None:
    from anls_metric.report.images import Images

    save_image(tmp_path / "images/page.png", (600, 800))
    records = [{"image": "page.png"}, {"image": "other.png"}]
    page = open_report({"one": make_answers(2, 0)}, records, images=Images(str(tmp_path / "images")), address="#q-0")
    picture = page.get_by_role("img", name="The page of the question: page.png")
    assert picture.evaluate("image => image.naturalWidth") == 600
    page.get_by_role("button", name="Enlarge the page").click()
    assert page.locator(".opened.large").count() == 1
    page.evaluate("location.hash = '#q-1'")
    picture.wait_for(state="detached")


def open_page_of_question(open_report: OpenReport, tmp_path: Path, **options: Any) -> Any:
    from anls_metric.report.images import Images

    save_image(tmp_path / "images/page.png", (600, 800))
    images = Images(str(tmp_path / "images"))
    page = open_report(
        {"one": make_answers(2, 0)}, [{"image": "page.png"}] * 2, images=images, address="#q-0", **options
    )
    page.locator(".sheet img").wait_for()
    return page


def read_view(page: Any) -> list[float]:
    """Read the offset of the page of a question to the right and down, and its zoom factor."""
    script = "image => { const m = new DOMMatrix(getComputedStyle(image).transform); return [m.e, m.f, m.a] }"
    view: list[float] = page.locator(".sheet img").evaluate(script)
    return [round(value, 2) for value in view]


def test_page_of_a_question_is_zoomed_and_moved_by_keys(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path)
    page.locator(".sheet").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    begin = read_view(page)
    assert begin[2] == 1.96
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert read_view(page) == [begin[0] - 60, begin[1] - 60, 1.96]
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert read_view(page)[0] == 0  # its edge stays at the edge of the frame
    page.keyboard.press("-")
    assert read_view(page)[2] == 1.4
    page.keyboard.press("0")
    assert read_view(page) == [0, 0, 1]
    assert page.url.endswith("#q-0")  # no key went to the list of questions


def test_page_of_a_question_is_zoomed_and_moved_by_the_mouse(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path)
    box = page.locator(".sheet").bounding_box()
    x, y = box["x"] + 60, box["y"] + 80
    page.mouse.dblclick(x, y)
    begin = read_view(page)
    assert begin == pytest.approx([-90, -120, 2.5], abs=2)  # the point under the mouse stays there
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 40)
    page.mouse.up()
    assert read_view(page) == pytest.approx([begin[0] - 30, begin[1] - 40, 2.5], abs=0.1)
    page.mouse.wheel(0, -300)
    page.wait_for_function("document.querySelector('.sheet img').style.transform.includes('scale(6.7')")
    page.get_by_role("button", name="Show the whole page").click()
    assert read_view(page) == [0, 0, 1]


def test_page_of_a_question_is_zoomed_by_two_fingers(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path, size="phone")
    session = page.context.new_cdp_session(page)
    page.locator(".sheet").scroll_into_view_if_needed()
    box = page.locator(".sheet").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + 60

    def touch(kind: str, *apart: float) -> None:
        points = [{"x": middle[0] + right, "y": middle[1], "id": place} for place, right in enumerate(apart)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", -20, 20)
    touch("touchMove", -40, 40)
    touch("touchEnd")
    page.wait_for_function("document.querySelector('.sheet.zoomed') !== null")
    assert read_view(page)[2] == pytest.approx(2, abs=0.1)


def test_wide_page_of_a_question_is_beside_its_answers(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path)
    narrow = page.locator(".sheet").bounding_box()["width"]
    page.get_by_role("button", name="Enlarge the page").click()
    sheet, answer = (page.locator(place).bounding_box() for place in (".sheet", ".opened article"))
    assert sheet["width"] > 1.3 * narrow
    assert sheet["x"] + sheet["width"] < answer["x"]


def test_same_values_and_wrong_numbers_behind_the_number_filter_the_questions(browser: Any, tmp_path: Path) -> None:
    answers = [("27 percent", "27%"), ("tea", "tea"), ("27", "8412"), ("12 %", "12%")]
    log = [{"id": place, "prediction": ours, "references": [other]} for place, (ours, other) in enumerate(answers)]
    (tmp_path / "log.json").write_text(json.dumps(log))
    report = tmp_path / "report.html"
    assert command_line.main([str(tmp_path / "log.json"), "--report", str(report)]) == 0
    page = browser.new_page()
    page.set_default_timeout(5000)
    page.goto(report.as_uri() + "#?look=behind")
    for name in ("same value", "another number"):
        button = page.get_by_role("button", name=re.compile(f"{name}: show these questions"))
        count = int(button.inner_text())
        button.click()
        assert urllib.parse.parse_qs(page.url.partition("?")[2])["outcome"] == [name]
        assert len(list_ids(page)) == count > 0
    page.close()


def test_points_show_the_questions_that_count_in_them(open_report: OpenReport) -> None:
    texts = [("0.26", "0.28"), ("12/15/89", "12/15/88"), ("977,633", "977633"), ("Coca Col", "Coca Cola"), ("5", "6")]
    good = [(accepted, [accepted]) for _, accepted in texts]
    bad = [(ours, [accepted]) for ours, accepted in texts]
    page = open_report({"good": good, "bad": bad}, address="#?look=behind")
    points = {
        submission["name"]: submission["points"] for submission in read_data(page.content())["document"]["submissions"]
    }
    assert not any(points["good"].values())
    for name, label, ids in (
        ("given_to_wrong_numbers", "given to wrong numbers", ["0", "1"]),
        ("lost_to_format", "lost to format", ["2"]),
    ):
        button = page.locator(".panel").get_by_role("button", name=f"{label} of bad")
        assert button.inner_text() == f"{points['bad'][name]:.4f} {label} ({len(ids)})"
        button.click()
        assert sorted(list_ids(page)) == ids
        assert read_status(page) == f"{len(ids)} of 5 questions"
        assert urllib.parse.parse_qs(page.url.partition("?")[2])["points"] == [name]
        address = page.url
        page.reload()
        assert sorted(list_ids(page)) == ids
        assert page.url == address
        assert find_chip(page, label).get_attribute("aria-pressed") == "true"
        assert find_chip(page, label).locator("b").inner_text() == str(len(ids))
    find_chip(page, "lost to format").click()
    assert len(list_ids(page)) == 5


def test_confusion_shows_the_questions_that_count_in_it(open_report: OpenReport) -> None:
    texts = [("B0B", "BOB"), ("R0AD", "ROAD"), ("ca1l", "call"), ("a,b", "ab"), ("ab", "a,b"), ("5", "5")]
    good = [(accepted, [accepted]) for _, accepted in texts]
    bad = [(ours, [accepted]) for ours, accepted in texts]
    page = open_report({"good": good, "bad": bad}, address="#?look=behind")
    for name, count, ids in (
        ("“0” for “o”", 2, ["0", "1"]),
        ("“,” for nothing", 1, ["3"]),
        ("nothing for “,”", 1, ["4"]),
    ):
        button = page.locator(".panel").get_by_role("button", name=f"{name}, {count} time")
        assert button.inner_text() == f"{name} ({count})"
        button.click()
        assert sorted(list_ids(page)) == ids
        assert button.get_attribute("aria-pressed") == "true"
        address = page.url
        page.reload()
        assert (sorted(list_ids(page)), page.url) == (ids, address)
    find_chip(page, "nothing for “,”").click()
    assert len(list_ids(page)) == 6


# Its CSV


TRICKY = ["-12.5", "=1+1", '"quoted", and\ncut', "ümläut", "  blanks ", "", "[1, 2]", "x\r\ny", "@name", "\t7"]


def download_csv(page: Any, path: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(path)


def test_downloaded_csv_gives_the_same_scores(
    open_report: OpenReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [*((text, [text or "x", '["y"]']) for text in TRICKY), *fuzzed_rows(50, 3)]
    answers = [(prediction, list(filter(str.strip, references)) or ["z"]) for prediction, references in answers]
    page = open_report({"one": answers})
    download_csv(page, tmp_path / "again.csv")
    assert command_line.main([str(tmp_path / "again.csv"), "--format", "json", "--output-dir", str(tmp_path)]) == 0
    capsys.readouterr()
    again = json.loads((tmp_path / "results.json").read_text())["per_sample_result"]
    assert {key: sample["det"] for key, sample in again.items()} == {
        str(key): prediction for key, (prediction, _) in enumerate(answers)
    }
    for key, (prediction, references) in enumerate(answers):
        assert again[str(key)]["score"] == explain(prediction, references).score


def test_downloaded_csv_holds_every_submission(
    open_report: OpenReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = open_report(TWO)
    page.get_by_role("searchbox").fill("question 1")
    download_csv(page, tmp_path / "again.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "again.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 31
    for name in TWO:
        arguments = [str(tmp_path / "again.csv"), "--prediction-field", name, "--format", "json"]
        assert command_line.main(arguments) == 0
        mean = json.loads(capsys.readouterr().out)["submissions"][0]["anls"]
        assert mean == pytest.approx(sum(float(row[f"{name} score"]) for row in rows) / len(rows))


# Layout


def test_scores_need_no_script(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO).encode())
    context = browser.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    shown = page.locator("body").inner_text()
    for text in ("120 questions", "0.9", "first", "All else of this report needs JavaScript"):
        assert text in shown
    context.close()


def test_print_shows_the_summary_without_the_questions(open_report: OpenReport) -> None:
    page = open_report(TWO, scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator(".questions").is_visible()
    assert page.get_by_role("heading", name="Which is better").is_visible()
    for title in ("What goes wrong", "Before and after", "Curves", "Every variant"):
        page.get_by_role("heading", name=title).wait_for()  # the event of printing comes a moment later
    page.emulate_media(media="screen")
    page.get_by_role("tab", name="Curves").wait_for()


def test_print_has_the_filtered_questions_or_the_opened_one(open_report: OpenReport) -> None:
    page = open_report(TWO, address="#?change=same")
    page.emulate_media(media="print")
    page.locator("body.has-view").wait_for()
    assert len(list_ids(page)) == 72
    page.emulate_media(media="screen")
    page.locator("body:not(.has-view)").wait_for()
    assert len(list_ids(page)) == 50
    page.locator("#list tr.row a").nth(3).click()
    page.emulate_media(media="print")
    page.locator("body.has-view").wait_for()
    assert len(list_ids(page)) == 1
    assert page.locator(".opened").is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    page.emulate_media(media="screen")


LONG = "a-name-without-an-end-" * 5
NOTHING_WRONG = {"one": [("a", ["a"])] * 40}


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark"), ("phone", "light")])
@pytest.mark.parametrize(
    "submissions",
    [NOTHING_WRONG, TWO, SIX, {LONG + "1": make_answers(120, 0.5), LONG + "2": make_answers(120, 0.4)}],
    ids=["nothing wrong", "two", "six", "long names"],
)
def test_report_passes_axe_and_fits_every_width(
    open_report: OpenReport, submissions: Any, size: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    count = len(next(iter(submissions.values())))
    records = [
        {"question": f"Who is {LONG if number == 1 else number}?", "kind": number % 2} for number in range(count)
    ]
    page = open_report(submissions, records, size, scheme)
    page.get_by_text("What the outcomes mean").click() if len(submissions) > 1 else None
    page.evaluate("location.hash = '#q-1'")
    page.locator("#list tr.open").wait_for()
    for width in (1024, 900, 800) if size == "desktop" else ():
        page.set_viewport_size({"width": width, "height": 900})
        assert fits_width(page), width
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[size])))
    assert fits_width(page)
    violations = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [
        (violation["id"], [node["html"][:160] for node in violation["nodes"][:3]])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ] == []


def test_report_of_a_variant_lists_every_question(open_report: OpenReport) -> None:
    chance = random.Random(3)
    for variant in chance.sample(sorted(VARIANTS), 3):
        page = open_report({"one": fuzzed_rows(30, 2)}, variant=variant)
        assert len(list_ids(page)) == 30


# The state: the view, the URL, and downloads


def read_status(page: Any) -> str:
    text: str = page.get_by_role("status").first.inner_text()
    return text


PAGES = [{"id": f"q{number}", "image": f"documents/ab{number // 8}_{number // 4}.png"} for number in range(120)]
TWENTY = {f"checkpoint-{place:04d}-docvqa-lora": make_answers(120, place / 20) for place in range(20)}


def test_escape_clears_the_search_and_the_list_follows(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO)
    page.get_by_role("searchbox").fill("question 11")
    page.keyboard.press("Escape")
    page.locator("#list thead button").first.click()
    assert read_status(page) == "120 questions"
    assert page.get_by_role("searchbox").input_value() == ""
    assert len(list_ids(page)) == 50
    download_csv(page, tmp_path / "all.csv")
    assert len(list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text(encoding="utf-8"))))) == 120


def test_address_holds_the_whole_view_and_gives_it_back(open_report: OpenReport) -> None:
    page = open_report(SIX, [{"kind": "ab"[number % 2]} for number in range(120)])
    page.get_by_label("answers of").select_option(label="e")
    page.get_by_label("against").select_option(label="c")
    page.get_by_role("searchbox").fill("question")
    find_chip(page, "worse").click()
    page.get_by_label("group", exact=True).select_option(label="b")
    page.locator("#list thead button", has_text="difference").click()
    page.locator("#list thead button", has_text="difference").click()
    page.get_by_role("tab", name="Groups").click()
    page.locator("#list tr.row a").nth(2).click()
    parts = [read_status(page), list_ids(page), page.locator("#list tr.open a").first.inner_text()]
    address = page.url
    assert address.index("#q-") < address.index("?")
    page.reload()
    assert [read_status(page), list_ids(page), page.locator("#list tr.open a").first.inner_text()] == parts
    assert page.get_by_role("searchbox").input_value() == "question"
    assert page.get_by_role("tab", name="Groups").get_attribute("aria-selected") == "true"
    assert page.locator('#list th[aria-sort="descending"]').inner_text() == "difference"
    assert page.url == address


def test_back_and_forward_return_to_views(open_report: OpenReport) -> None:
    page = open_report(TWO)
    find_chip(page, "worse").click()
    page.locator("#list tr.row a").first.click()
    page.get_by_role("button", name="Clear filters").click()
    assert read_status(page) == "120 questions"
    page.go_back()
    page.locator("#list tr.open").wait_for()
    assert read_status(page) == "48 of 120 questions"
    page.go_back()
    page.locator("#list tr.open").wait_for(state="detached")
    page.go_back()
    page.get_by_text("120 questions", exact=True).last.wait_for()
    page.go_forward()
    assert page.locator("#count").inner_text() == "48 of 120 questions"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#q-404", "has no question “404”"),
        ("#?first=nobody", "does not know “first=nobody”"),
        ("#q-7?outcome=odd", "“outcome=odd”"),
        ("#?points=odd", "“points=odd”"),
        ('#?confusion=["a","b"]', "“confusion="),
        ("#q-%ff", "damaged"),
    ],
)
def test_unknown_address_is_named(open_report: OpenReport, address: str, words: str) -> None:
    page = open_report(TWO, address=address)
    assert words in page.get_by_role("alert").inner_text()
    find_chip(page, "worse").click()
    assert not page.get_by_role("alert").is_visible()


def test_copy_link_gives_the_address_of_the_question(open_report: OpenReport) -> None:
    page = open_report(TWO, address="#q-7?change=different")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link", exact=True).click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("#q-7?change=different")
    page.goto(copied)
    assert page.locator("#list tr.open a").first.inner_text() == "7"


def test_copied_text_has_control_characters_and_not_their_names(open_report: OpenReport) -> None:
    page = open_report({"one": [("a\u200bb\u202ec", ["x"])]}, address="#q-0")
    copied = page.evaluate(
        """() => {
          getSelection().selectAllChildren(document.querySelector(".written"));
          const data = new DataTransfer();
          const event = new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true });
          document.querySelector(".written").dispatchEvent(event);
          return data.getData("text/plain");
        }"""
    )
    assert copied.strip() == "a\u200bb\u202ec"
    assert page.locator(".written").inner_text() == "aU+200BbU+202Ec"


# Documents and groups


def test_document_is_in_row_search_and_panel(open_report: OpenReport) -> None:
    page = open_report(TWO, PAGES)
    page.get_by_role("searchbox").fill("doc:ab1_2")
    assert sorted(list_ids(page)) == ["q10", "q11", "q8", "q9"]
    assert set(page.locator("#list .stem").all_inner_texts()) == {"ab1_2"}
    page.get_by_role("searchbox").fill("doc:ab1")
    assert len(list_ids(page)) == 8
    page.get_by_role("searchbox").fill("doc:ab1_")
    assert list_ids(page) == []
    page.get_by_role("searchbox").fill("doc:ab1 question 9")
    assert list_ids(page) == ["q9"]
    page.locator("#list tr.row a").click()
    page.get_by_role("button", name="all questions of this page (4)").click()
    assert page.get_by_role("searchbox").input_value() == "doc:ab1_2"
    assert read_status(page) == "4 of 120 questions"


def test_group_table_sorts_and_shows_every_group(open_report: OpenReport) -> None:
    page = open_report(TWO, PAGES)
    page.get_by_role("tab", name="Groups").click()
    rows = page.locator(".panel tbody tr")
    assert rows.count() == 20
    page.get_by_role("button", name="Show all 30 groups").click()
    assert rows.count() == 30
    head = page.locator(".panel thead th", has_text="difference")
    for direction in ("ascending", "descending"):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == direction
        shown = [float(text.split()[0]) for text in page.locator(".panel td[data-label=difference]").all_inner_texts()]
        assert shown == sorted(shown, reverse=direction == "descending")


# Baseline, regressions, and filters


def test_baseline_changes_difference_interval_p_and_verdict(open_report: OpenReport) -> None:
    page = open_report(SIX)
    row = page.locator(".ranked tbody tr", has_text="f").last
    before = row.inner_text()
    page.get_by_label("baseline", exact=True).select_option(label="e")
    expected = read_data(page.content())["pairs"][4][5]
    assert row.inner_text() != before
    assert f"{expected['difference']:+.4f}" in row.inner_text()
    assert f"{expected['interval'][0]:+.4f} to {expected['interval'][1]:+.4f}" in row.inner_text()
    assert expected["verdict"] in row.inner_text()
    assert page.get_by_label("against", exact=True).input_value() == "4"


def test_count_of_better_or_worse_answers_is_a_link_to_them(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.get_by_role("link", name="48 worse").click()
    assert read_status(page) == "48 of 120 questions"
    assert page.url.endswith("#?change=worse")
    assert find_chip(page, "worse").get_attribute("aria-pressed") == "true"


def test_count_of_the_baseline_keeps_the_pair(open_report: OpenReport) -> None:
    page = open_report(TWO)
    picks = page.get_by_label("answers of"), page.get_by_label("against")
    before = [pick.input_value() for pick in picks]
    count = page.get_by_role("button", name="contains an answer of first: show these questions")
    number = int(count.inner_text())
    count.click()
    assert [pick.input_value() for pick in picks] == before
    assert read_status(page) == f"{number} of 120 questions"
    page.get_by_label("against").select_option(label="second")
    assert {pick.input_value() for pick in picks} == set(before)


def test_cells_of_before_and_after_filter(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.get_by_role("tab", name="Before and after").click()
    cell = page.locator(".changes td:not(.same) button").first
    number = int(cell.inner_text())
    cell.click()
    assert read_status(page) == f"{number} of 120 questions"
    assert page.locator(".changes button[aria-pressed=true]").count() == 1
    download = page.locator("#list td.outcome").all_inner_texts()
    assert len(set(download)) == 1


# Many submissions, names, colours


def test_shared_parts_of_names_are_shown_once(open_report: OpenReport) -> None:
    page = open_report(TWENTY)
    assert page.locator(".shared code").inner_text() == "checkpoint-…-docvqa-lora"
    assert page.locator(".ranked .name").first.inner_text() == "0019"
    assert open_report(TWO).locator(".shared").count() == 0


@pytest.mark.parametrize("count", [1, 3, 9, 20])
def test_report_fits_every_width_with_many_submissions(open_report: OpenReport, count: int) -> None:
    hints = [
        "9 predictions look like raw model output: extract the answers with --extract final,sentence,quotes,period"
    ]
    page = open_report(dict(list(TWENTY.items())[:count]), PAGES, address="#q-q7?all=1", hints=hints)
    for look in page.locator("[role=tab]").all():
        look.click()
        for width in (320, 390, 768, 1024, 1280, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            assert fits_width(page), (look.inner_text(), width)


def test_questions_are_near_the_top_with_twenty_submissions(open_report: OpenReport) -> None:
    hints = [f"hint number {number} about some of the predictions" for number in range(9)]
    page = open_report(TWENTY, PAGES, hints=hints)
    for size in SIZES.values():
        page.set_viewport_size(dict(zip(("width", "height"), size)))
        assert page.evaluate("document.getElementById('questions').getBoundingClientRect().top + scrollY") < 2000
    page.reload()
    focused = []
    while "search" not in focused:
        page.keyboard.press("Tab")
        focused.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert focused[0] == "skip"
    assert len(focused) <= 13  # at most 12, and the search itself


def test_skip_link_leads_to_the_questions_and_keeps_the_view(open_report: OpenReport) -> None:
    page = open_report(TWO, address="#?change=worse")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "questions"
    assert page.url.endswith("#?change=worse")


def test_each_of_twenty_curves_has_its_own_stroke(open_report: OpenReport) -> None:
    page = open_report(TWENTY)
    page.get_by_role("tab", name="Curves").click()
    script = (
        "paths => paths.map(path => [getComputedStyle(path).stroke, getComputedStyle(path).strokeDasharray].join())"
    )
    strokes = page.locator(".panel > .two > .figure:first-child > svg path").evaluate_all(script)
    assert len(strokes) == len(set(strokes)) == 20


def measure_contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pressed_filter_is_seen_under_the_pointer(open_report: OpenReport, scheme: str) -> None:
    page = open_report(TWO, scheme=scheme)
    chip = find_chip(page, "worse")
    chip.click()
    chip.hover()
    style = "element => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    assert measure_contrast(*chip.evaluate(style)) > 4.5
    page.emulate_media(forced_colors="active")
    pressed, other = chip.evaluate(style), find_chip(page, "better").evaluate(style)
    assert pressed[1] != other[1]
    page.emulate_media(forced_colors="none")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_parts_of_charts_stand_out_from_the_card(open_report: OpenReport, scheme: str) -> None:
    page = open_report(SIX, scheme=scheme)
    script = """() => [...Array(11).keys()].flatMap(place => ["o", "s"].map(kind => {
      const part = document.createElement("i");
      part.style.backgroundColor = `var(--${kind}${place % (kind === "o" ? 11 : 8)})`;
      document.body.append(part);
      return getComputedStyle(part).backgroundColor;
    })).concat(getComputedStyle(document.querySelector(".card")).backgroundColor)"""
    *parts, card = page.evaluate(script)
    assert min(measure_contrast(part, card) for part in parts) >= 3


# One question


def test_edits_of_arabic_numbers_stand_in_order(open_report: OpenReport) -> None:
    page = open_report({"one": [("المبلغ ١٢", ["المبلغ ٣٤"])]}, address="#q-0")
    lefts = [page.locator(f".edits {tag}").first.bounding_box()["x"] for tag in ("del", "ins")]
    assert lefts[0] > lefts[1]  # the text runs from the right
    assert page.locator(".edits").evaluate("element => getComputedStyle(element).direction") == "rtl"


def test_question_without_its_page_says_why(open_report: OpenReport, tmp_path: Path) -> None:
    from anls_metric.report.images import Images

    save_image(tmp_path / "images/page.png", (60, 80))
    records = [{"image": "page.png"}, {"image": "other.png"}]
    page = open_report({"one": make_answers(2, 0)}, records, images=Images(str(tmp_path / "images")), address="#q-1")
    assert "The page other.png is not in this report: not found." in page.locator(".opened").inner_text()


def test_report_in_a_frame_tells_its_view_to_the_page_around_it(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_content("<iframe sandbox='allow-scripts allow-downloads'></iframe>")
    page.evaluate(
        """report => {
          window.views = [];
          addEventListener("message", (event) => views.push(event.data.hash));
          document.querySelector("iframe").srcdoc = report;
        }""",
        build_report(TWO),
    )
    frame = page.frame_locator("iframe")
    frame.locator(".chips button", has_text="worse").click()
    page.wait_for_function("views.length === 1")
    assert page.evaluate("views") == ["#?change=worse"]
    begun = build_report(TWO).replace("<html", '<html data-hash="#q-7?change=worse"', 1)
    page.evaluate("report => { document.querySelector('iframe').srcdoc = report }", begun)
    frame.locator("#list tr.open").wait_for()
    assert frame.locator(".chips button[aria-pressed=true]").inner_text().startswith("worse")
    page.close()


# Marks


def download_marks(page: Any, path: Path) -> Any:
    with page.expect_download() as download:
        page.get_by_role("button", name="Export marks").click()
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".json")
    return json.loads(path.read_text(encoding="utf-8"))


def reopen_until(page: Any, shown: Any) -> None:
    """Open the report again, up to three times: Chromium may store marks only after the next page has read them."""
    address = page.evaluate("location.href")
    for timeout in (5_000, 5_000, 30_000):
        page.goto("about:blank")
        page.goto(address)
        with suppress(Exception):  # the timeout of playwright, which may not be installed
            shown.wait_for(timeout=timeout)
            return
    pytest.fail("the mark was not kept")


def test_marks_are_kept_counted_filtered_and_exported(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, address="#q-7")
    group = page.get_by_role("group", name="Mark", exact=True)
    group.get_by_role("button", name="annotation wrong").click()
    group.get_by_role("textbox", name="Accept").fill("the right answer")
    group.get_by_role("textbox", name="Note").fill("see the title")
    group.get_by_role("button", name="annotation wrong").click()
    group.get_by_role("button", name="annotation wrong").click()
    page.keyboard.press("j")
    group.get_by_role("button", name="unclear").click()
    group.get_by_role("button", name="unclear", pressed=True).wait_for()
    second = page.locator("#list tr.open a").first.inner_text()
    reopen_until(page, group.get_by_role("button", name="unclear", pressed=True))
    find_chip(page, "annotation wrong").first.click()
    assert read_status(page) == "1 of 120 questions"
    assert list_ids(page) == ["7"]
    marks = download_marks(page, tmp_path / "marks.json")
    assert marks == [
        {"questionId": "7", "mark": "annotation wrong", "accept": ["the right answer"], "note": "see the title"},
        {"questionId": second, "mark": "unclear"},
    ]
    applied = read_corrections(str(tmp_path / "marks.json"))
    rows = applied.apply([Row("7", "x", ["y"], {}), Row(second, "x", ["y"], {})])
    assert [row.references for row in rows] == [["y", "the right answer"], ["y"]]


def test_marks_of_two_reviewers_are_merged_and_conflicts_shown(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, address="#q-7")
    group = page.get_by_role("group", name="Mark", exact=True)
    group.get_by_role("button", name="model wrong").click()
    other = [
        {"questionId": "7", "mark": "annotation wrong", "accept": ["tea"]},
        {"questionId": 8, "mark": "unclear"},
        {"questionId": "404", "mark": "unclear"},
    ]
    (tmp_path / "other.json").write_text(json.dumps(other))
    page.locator("#import-file").set_input_files(tmp_path / "other.json")
    page.get_by_text("1 mark taken over. 1 conflict with your marks").wait_for()
    assert "1 mark of questions that are not in this report" in page.locator("#imported").inner_text()
    assert "annotation wrong; accept tea" in page.locator(".conflict").inner_text()
    page.get_by_role("button", name="Take this mark").click()
    assert page.locator(".conflict").count() == 0
    assert page.evaluate("document.activeElement.dataset.row") == "7"
    assert [mark["mark"] for mark in download_marks(page, tmp_path / "m.json")] == ["annotation wrong", "unclear"]
    page.locator("#import-file").set_input_files(tmp_path / "other.json")
    page.get_by_text("0 marks taken over.").wait_for()
    (tmp_path / "odd.json").write_text("{")
    page.locator("#import-file").set_input_files(tmp_path / "odd.json")
    page.get_by_text("This is no file of marks").wait_for()


NINE = {name: [("February 24, 1966", ["February 24 1966"]), ("2", ["4"])] for name in "abcdefg"}
NINE |= {
    "h": [("February 24 1966", ["February 24 1966"]), ("4", ["4"])],
    "i": [("", ["February 24 1966"]), ("2", ["4"])],
}


def test_submissions_with_the_same_answer_share_a_box(open_report: OpenReport) -> None:
    page = open_report(NINE, address="#q-0")
    boxes = page.locator(".opened article")
    assert [boxes.nth(place).locator(".name").all_inner_texts() for place in range(3)] == [["h"], [*"abcdefg"], ["i"]]
    assert boxes.count() == 3
    page.keyboard.press("j")
    assert [name.split(", ") for name in boxes.evaluate_all("all => all.map(one => one.ariaLabel)")] == [
        ["h"],
        [*"abcdefg", "i"],
    ]


def test_answer_of_a_submission_is_accepted_without_typing(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(NINE, address="#q-0")
    box = page.get_by_role("textbox", name="Accept")
    buttons = page.get_by_role("button", name="Accept this answer")
    assert buttons.count() == 1  # an answer that scores 1 and an empty answer have none
    box.fill("24 February")
    buttons.click()
    assert box.input_value() == "24 February | February 24, 1966"
    assert buttons.get_attribute("aria-pressed") == "true"
    assert download_marks(page, tmp_path / "m.json") == [
        {"questionId": "0", "mark": "", "accept": ["24 February", "February 24, 1966"]}
    ]
    buttons.click()
    assert box.input_value() == "24 February"


def test_suspects_stand_beside_their_question_and_accepted_answers(open_report: OpenReport) -> None:
    page = open_report(NINE)
    page.get_by_role("tab", name="Suspect annotations").click()
    assert page.locator("#panels li").all_inner_texts() == [
        "1: 8 submissions say 2\nWhat is number 1? · accepted: 4",
        "0: 7 submissions say february 24, 1966\nWhat is number 0? · accepted: February 24 1966",
    ]


def test_suspects_are_opened_in_the_order_of_their_panel(open_report: OpenReport) -> None:
    page = open_report(NINE, address="#?look=suspects")
    page.locator("#panels li a").first.click()
    assert list_ids(page) == ["1", "0"]
    assert page.locator("#list tr.open a").first.inner_text() == "1"
    page.keyboard.press("j")
    assert page.locator("#list tr.open a").first.inner_text() == "0"
    page.reload()
    assert list_ids(page) == ["1", "0"]
    find_chip(page, "suspect annotations").click()
    assert "sort" not in page.url


def test_question_with_another_mark_stays_open_in_the_list_of_a_mark(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO)
    marks = [{"questionId": str(number), "mark": "unclear"} for number in (7, 8, 9)]
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    page.locator("#import-file").set_input_files(tmp_path / "marks.json")
    find_chip(page, "unclear").click()
    order = list_ids(page)
    page.keyboard.press("j")
    group = page.get_by_role("group", name="Mark", exact=True)
    group.get_by_role("button", name="model wrong").click()
    assert page.locator("#list tr.open a").first.inner_text() == order[0]
    page.keyboard.press("j")
    assert page.locator("#list tr.open a").first.inner_text() == order[1]
    assert list_ids(page) == order[1:]
    group.get_by_role("button", name="model wrong").click()
    page.keyboard.press("Escape")
    assert list_ids(page) == order[2:]
    assert page.evaluate("document.activeElement.id") == "count"


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_key_leaves_a_box_of_a_mark_for_the_next_question(open_report: OpenReport, key: str) -> None:
    page = open_report(TWO)
    order = list_ids(page)
    page.keyboard.press("j")
    page.get_by_role("textbox", name="Accept").press_sequentially("jk/")
    page.keyboard.press(key)
    assert page.locator("#list tr.open a").first.inner_text() == order[0]
    assert find_chip(page, "accepts more").inner_text() == "accepts more1"
    page.keyboard.press("j")
    assert page.locator("#list tr.open a").first.inner_text() == order[1]
    page.keyboard.press("k")
    assert page.get_by_role("textbox", name="Accept").input_value() == "jk/"


def test_corrections_without_a_mark_and_questions_without_one_are_filters(
    open_report: OpenReport, tmp_path: Path
) -> None:
    page = open_report(TWO)
    assert find_chip(page, "not marked").count() == 0
    corrections = [
        {"questionId": "7", "accept": ["tea"]},
        {"questionId": "8", "exclude": True},
        {"questionId": "9", "mark": "unclear"},
    ]
    (tmp_path / "corrections.json").write_text(json.dumps(corrections))
    page.locator("#import-file").set_input_files(tmp_path / "corrections.json")
    rows = page.locator("#list tr.row")
    assert rows.nth(list_ids(page).index("7")).locator("small").all_inner_texts() == ["accepts more"]
    for name, ids in (("accepts more", ["7"]), ("left out", ["8"]), ("unclear", ["9"])):
        find_chip(page, name).click()
        assert list_ids(page) == ids
        find_chip(page, name).click()
    assert find_chip(page, "not marked").inner_text() == "not marked117"
    find_chip(page, "not marked").click()
    assert read_status(page) == "117 of 120 questions"


def test_answers_that_corrections_added_are_named(browser: Any, tmp_path: Path) -> None:
    records = [{"id": number, "prediction": "tea", "answers": ["Tee"]} for number in (1, 2)]
    (tmp_path / "table.json").write_text(json.dumps(records))
    (tmp_path / "corrections.json").write_text(json.dumps([{"questionId": 2, "accept": ["tea", "Tee"]}]))
    report = tmp_path / "report.html"
    files = [str(tmp_path / name) for name in ("table.json", "corrections.json")]
    assert command_line.main([files[0], "--corrections", files[1], "--report", str(report)]) == 0
    page = browser.new_page()
    for number, accepted in (1, ["accepted", "Tee"]), (2, ["accepted", "Tee", "teaadded by correctionsclosest"]):
        page.goto(f"{report.as_uri()}#q-{number}")
        assert page.locator(".opened > div > .accepted li").all_inner_texts() == accepted
    page.close()


def test_question_that_corrections_leave_out_says_so_and_can_be_kept(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, address="#q-8")
    (tmp_path / "corrections.json").write_text(json.dumps([{"questionId": "8", "exclude": True, "note": "no page"}]))
    page.locator("#import-file").set_input_files(tmp_path / "corrections.json")
    page.get_by_text("The corrections leave this question out.").wait_for()
    page.get_by_role("button", name="Keep the question").click()
    assert page.get_by_text("leave this question out").count() == 0
    assert page.evaluate("document.activeElement.dataset.row") == "8"
    assert download_marks(page, tmp_path / "m.json") == [{"questionId": "8", "mark": "", "note": "no page"}]


def test_cleared_filters_keep_the_open_question_in_sight(open_report: OpenReport) -> None:
    page = open_report(TWO, address="#q-99?search=99")
    page.get_by_role("button", name="Clear filters").click()
    assert page.evaluate("document.activeElement.dataset.row") == "99"
    assert page.locator("#list tr.open").bounding_box()["y"] < 200


def test_report_says_when_the_browser_cannot_keep_marks(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO).encode())
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('private') } })")
    page.goto((tmp_path / "report.html").as_uri() + "#q-7")
    page.get_by_role("button", name="unclear").first.click()
    assert "cannot keep marks" in page.locator("#marks-place").inner_text()
    assert [mark["mark"] for mark in download_marks(page, tmp_path / "m.json")] == ["unclear"]
    page.close()


# Charts


def test_bar_of_the_histogram_filters_by_similarity(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.get_by_role("tab", name="Curves").click()
    bar = page.locator(".distribution.s1 rect").first
    low, high, count = re.findall(r"[\d.]+", bar.locator("title").text_content())
    bar.click()
    assert read_status(page) == f"{count} of 120 questions"
    assert f"similarity={float(low):g}-{float(high):g}" in page.url
    assert page.get_by_role("spinbutton", name="lowest similarity").input_value() == f"{float(low):g}"
    page.get_by_role("spinbutton", name="lowest similarity").fill("0")
    page.get_by_role("spinbutton", name="highest similarity").fill("1")
    page.keyboard.press("Tab")
    assert read_status(page) == "120 questions"


def test_part_of_a_bar_filters_by_outcome(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.locator(".outcomes .stacked").last.locator("rect").last.click()
    assert page.locator("#outcomes-of [aria-pressed=true]").count() == 1
    assert read_status(page).endswith("of 120 questions")


def test_chart_is_saved_with_its_colours(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO)
    page.get_by_role("tab", name="Curves").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG: ANLS over the threshold").click()
    download.value.save_as(tmp_path / "chart.svg")
    assert download.value.suggested_filename == "ANLS over the threshold.svg"
    root = ElementTree.parse(tmp_path / "chart.svg").getroot()
    strokes = {path.get("stroke") for path in root.iter("{http://www.w3.org/2000/svg}path")}
    assert len(strokes) == 2
    assert all(str(stroke).startswith("rgb(") for stroke in strokes)


def test_table_for_a_paper_is_copied(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("a table for a paper").click()
    for title, words in (("LaTeX", r"\begin{tabular}"), ("Markdown", "|---|"), ("CSV", "anls,")):
        page.get_by_role("button", name=f"Copy as {title}").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert words in page.evaluate("navigator.clipboard.readText()")
        page.get_by_role("button", name=f"Copy as {title}").wait_for()


def test_csv_for_spreadsheets_has_no_formulas_and_the_other_csv_is_untouched(
    open_report: OpenReport, tmp_path: Path
) -> None:
    page = open_report({"one": [(text, ["x"]) for text in TRICKY]}, [{"image": "a_1.png"} for _ in TRICKY])
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV for spreadsheets").click()
    download.value.save_as(tmp_path / "sheet.csv")
    text = (tmp_path / "sheet.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    shown = {row["prediction"] for row in rows}
    assert {"-12.5", "'=1+1", "'@name", "'\t7", "ümläut"} <= shown
    assert {row["document"] for row in rows} == {"a_1.png"}
    download_csv(page, tmp_path / "plain.csv")
    plain = list(csv.DictReader(io.StringIO((tmp_path / "plain.csv").read_text(encoding="utf-8"), newline="")))
    assert {"=1+1", "@name", "\t7"} <= {row["prediction"] for row in plain}
    assert "similarity" in plain[0]


# The benchmark


def test_benchmark_times_opening_and_searching(browser: Any, tmp_path: Path) -> None:
    module = benchmark("report")
    path = tmp_path / module.FILE
    path.write_text(build_report({"one": make_answers(12, 0.5)}), encoding="utf-8", newline="")
    assert min(module.open_and_search(browser, path)) > 0
