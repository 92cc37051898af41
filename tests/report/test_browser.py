"""The report, opened from a file in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import urllib.parse
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from anls_metric import explain
from anls_metric.analysis.evaluation import evaluate
from anls_metric.options import Settings
from anls_metric.reading.corrections import read_corrections
from anls_metric.reading.reader import Input
from anls_metric.report.html import as_html
from tests.conftest import benchmark, fuzzed_rows
from tests.report.browsing import (
    SIZES,
    OpenReport,
    download,
    find_chip,
    fits_width,
    list_ids,
    measure_contrast,
    read_open,
    read_query,
    read_status,
)
from tests.report.sample_reports import HOSTILE, build_report, conclude, make_answers, read_data, score_pairs

TWO = {"first": make_answers(120, 0.9), "second": make_answers(120, 0.5)}
SIX = {name: make_answers(120, share) for name, share in zip("abcdef", (0.9, 0.8, 0.7, 0.5, 0.3, 0.0))}
NINE = {name: [("February 24, 1966", ["February 24 1966"]), ("2", ["4"])] for name in "abcdefg"}
NINE["h"] = [("February 24 1966", ["February 24 1966"]), ("4", ["4"])]
NINE["i"] = [("", ["February 24 1966"]), ("2", ["4"])]
TWENTY = {f"checkpoint-{place:04d}-docvqa-lora": make_answers(120, place / 20) for place in range(20)}
KINDS = [{"kind": "ab"[number % 2]} for number in range(120)]
PAGES = [{"id": f"q{n}", "question": f"What is {n}?", "image": f"a/ab{n // 8}_{n // 4}.png"} for n in range(120)]


# The list of questions


def test_search_filters_while_typing(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, PAGES)
    box = page.get_by_role("searchbox")
    box.press_sequentially("WHAT IS 7?")
    assert (list_ids(page), read_status(page)) == (["q7"], "1 of 120 questions")
    counts = {"no such words": 0, "q11": 11, "question 99": 1, "doc:ab1_2": 4, "doc:ab1": 8, "doc:ab1_": 0}
    for text, count in counts.items():
        box.fill(text)
        assert len(list_ids(page)) == count
    page.get_by_role("button", name="Clear filters").click()
    assert read_status(page) == "120 questions"
    box.fill("question 11")
    page.keyboard.press("Escape")
    page.locator("#list thead button").first.click()
    assert (read_status(page), box.input_value(), len(list_ids(page))) == ("120 questions", "", 50)
    text = download(page, "Download CSV", tmp_path / "all.csv")
    assert len(list(csv.DictReader(io.StringIO(text)))) == 120
    box.fill("doc:ab1 question 9")
    assert page.locator("#list .stem").inner_text() == "ab1_2"
    page.locator("#list tr.row a").click()
    page.get_by_role("button", name="all questions about this page (4)").click()
    assert (box.input_value(), read_status(page)) == ("doc:ab1_2", "4 of 120 questions")


def test_every_column_sorts_all_pages_and_sets_aria_sort(open_report: OpenReport) -> None:
    page = open_report(TWO)
    headers = page.locator("#list thead th")
    assert headers.all_inner_texts() == ["id", "question", "second", "first", "difference", "outcome"]
    for place in range(6):
        headers.nth(place).get_by_role("button").click()
        directions = [headers.nth(other).get_attribute("aria-sort") for other in range(6)]
        assert directions == ["ascending" if other == place else "none" for other in range(6)]
    for ids in (range(120), range(119, -1, -1)):
        headers.nth(0).get_by_role("button").click()
        shown = list_ids(page)
        for number in (2, 3):
            page.get_by_role("button", name="Next", exact=True).click()
            assert page.locator("#page").inner_text() == f"page {number} of 3"
            shown += list_ids(page)
        assert list(map(int, shown)) == list(ids)
    assert page.get_by_role("button", name="Next", exact=True).is_disabled()


def test_keyboard_opens_closes_and_searches_questions(open_report: OpenReport) -> None:
    page = open_report(TWO)
    order = list_ids(page)
    for key, place in (("j", 0), ("j", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("k", 0)):
        page.keyboard.press(key)
        assert read_open(page) == order[place]
    assert page.url.endswith(f"#q-{order[0]}")
    page.keyboard.press("Escape")
    assert page.locator("#list tr.open").count() == 0
    page.keyboard.press("Enter")  # the focus is still on its link
    assert page.locator("#list tr.open").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.get_by_role("searchbox").input_value() == "jk"
    page.get_by_role("searchbox").fill("")
    page.get_by_role("searchbox").blur()
    for _ in range(51):  # the key j continues on the next page
        page.keyboard.press("j")
    assert page.locator("#page").inner_text() == "page 2 of 3"


# One question


@pytest.mark.parametrize("key", ["49153", "a/b ü%20?#&\"'", "مرحبا", "-"])
def test_url_opens_its_question(open_report: OpenReport, key: str) -> None:
    records = [{"id": str(number)} for number in range(119)] + [{"id": key}]
    page = open_report(TWO, records, url=f"#q-{urllib.parse.quote(key, safe='')}")
    link = page.locator("#list tr.open a").first
    assert (link.inner_text(), link.get_attribute("aria-expanded")) == (key, "true")
    href = link.get_attribute("href")
    page.keyboard.press("Escape")
    assert page.locator("#list tr.open").count() == 0
    page.evaluate("href => { location.hash = href }", href)
    page.locator("#list tr.open").wait_for()


def test_opened_question_shows_the_whole_answer_below_the_raw_output(open_report: OpenReport) -> None:
    thought, long = "<think>A cup.</think>The answer is CocaCola.", "A very  LONG answer\nof two lines. " * 30_000
    answers = [("CocaCola", ["x", "Coca Cola"]), (long, ["tea"]), (" Coca  COLA", ["Coca Cola"])]
    scored = score_pairs(answers, raw=[thought, long, " Coca  COLA"])
    page = open_report(as_html(conclude([scored])), url="#q-0")
    assert page.locator("pre.raw").all_inner_texts() == [thought, "CocaCola"]
    assert page.locator("article .label").all_inner_texts() == ["raw output", "extracted"]
    assert page.locator(".accepted li").all_inner_texts() == ["accepted", "x", "Coca Colaclosest"]
    assert "prediction of model.json" in page.locator("footer").inner_text()
    page.get_by_role("searchbox").fill("a cup")
    assert list_ids(page) == ["0"]
    page.evaluate("location.hash = '#q-1'")
    page.locator(".opened", has_text="threshold of 0.5, so 0.").wait_for()
    assert page.locator("pre.raw").text_content() == long
    page.evaluate("location.hash = '#q-2'")
    page.locator(".opened", has_text="Equal to an accepted answer once normalized, so 1.").wait_for()
    assert page.locator(".edits").count() == 0  # they differ only in case and spaces


def test_url_of_a_filtered_question_clears_filters(open_report: OpenReport) -> None:
    page = open_report(TWO, url="#q-99?search=99")
    page.get_by_role("button", name="Clear filters").click()
    assert page.evaluate("document.activeElement.dataset.row") == "99"
    assert page.locator("#list tr.open").bounding_box()["y"] < 200
    page.get_by_role("searchbox").fill("no such words")
    page.evaluate("location.hash = '#q-7'")
    page.locator("#list tr.open").wait_for()
    assert page.get_by_role("searchbox").input_value() == ""


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


def test_long_texts_show_few_edits_and_a_sentence_in_place_of_many(open_report: OpenReport) -> None:
    texts = ["".join(random.Random(seed).choices("abcdefgh", k=7_500)) for seed in (1, 2)]
    text = "  ".join(texts)
    changed = text[:7000] + "X" + text[7000:], [text[:7500] + text[7501:9000] + text[9005:]]
    page = open_report({"one": [changed, (texts[0], [texts[1]])]}, url="#q-0")
    assert page.locator(".edits del").all_inner_texts()[0] == "X"
    assert page.locator(".edits ins:not(.free), .edits del:not(.free)").count() == 2
    assert page.locator(".edits .free").all_inner_texts() == ["␣␣", "␣"]
    assert "equal characters" in page.locator(".edits .gap").first.inner_text()
    assert len(page.locator(".edits").inner_text()) < 1000
    page.evaluate("location.hash = '#q-1'")
    page.get_by_text("7,500 characters against 7,500: too many differences").wait_for()


def test_hostile_texts_are_shown_as_text(open_report: OpenReport) -> None:
    answers = [(HOSTILE, [HOSTILE + "x", "y"]), ("a", ["a"]), (HOSTILE, ["q"])]
    records = [{"id": HOSTILE, "question": HOSTILE, "kind": HOSTILE}, *({"id": key, "kind": "x"} for key in "12")]
    page = open_report({HOSTILE: answers, "other": answers}, records, hints=[HOSTILE], source=HOSTILE)
    page.locator("#list tr.row").first.click()
    assert page.locator(".opened script, .opened img, #list script").count() == 0
    shown = page.locator("pre.raw").first.inner_text()
    for text in ("<script>window.ran = 1</script>", "U+202E", "NUL", "U+200B", "U+D800"):
        assert text in shown
    for tab in page.locator("[role=tab]").all():
        tab.click()
        assert "\u202e" not in page.locator("body").inner_text()
    copied = page.evaluate(
        """() => {
          getSelection().selectAllChildren(document.querySelector("pre.raw"));
          const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true });
          document.querySelector("pre.raw").dispatchEvent(event);
          return event.clipboardData.getData("text/plain");
        }"""
    )
    assert all(sign in copied for sign in "\u202e\u200b")  # and not their names
    assert "U+" not in copied


def test_arabic_text_runs_from_the_right(open_report: OpenReport) -> None:
    question = {"id": "7", "question": "المبلغ"}
    page = open_report({"one": [("المبلغ ١٢", ["المبلغ ٣٤"])]}, [question], url="#q-7")
    for place in ("pre.raw", ".edits", ".opened h3"):
        element = page.locator(place)
        style = "getComputedStyle(element)"
        assert element.evaluate(f"element => {style}.direction === 'rtl' || {style}.unicodeBidi === 'plaintext'"), place
        assert element.get_attribute("dir") == "auto"
    lefts = [page.locator(f".edits {tag}").first.bounding_box()["x"] for tag in ("del", "ins")]
    assert lefts[0] > lefts[1]


# Its page


def open_page_of_question(open_report: OpenReport, tmp_path: Path, **options: Any) -> Any:
    """Open a report of two questions, of which the first has its page."""
    from anls_metric.report.images import Images
    from tests.report.sample_pages import make_image

    (tmp_path / "page.png").write_bytes(make_image(0, (600, 800)))
    images, records = Images(str(tmp_path)), [{"image": "page.png"}, {"image": "other.png"}]
    page = open_report({"one": make_answers(2, 0)}, records, images=images, url="#q-0", **options)
    page.locator(".sheet img").wait_for()
    return page


def read_view(page: Any) -> list[float]:
    """Read the offset of the page of a question to the right and down, and its zoom factor."""
    script = "image => { const m = new DOMMatrix(getComputedStyle(image).transform); return [m.e, m.f, m.a] }"
    view: list[float] = page.locator(".sheet img").evaluate(script)
    return [round(value, 2) for value in view]


def test_page_of_a_question_is_shown_and_can_be_enlarged(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path)
    picture = page.get_by_role("img", name="The page of the question: page.png")
    assert picture.evaluate("image => image.naturalWidth") == 600
    narrow = page.locator(".sheet").bounding_box()["width"]
    page.get_by_role("button", name="Enlarge the page").click()
    sheet, answer = (page.locator(place).bounding_box() for place in (".sheet", ".opened article"))
    assert sheet["width"] > 1.3 * narrow
    assert sheet["x"] + sheet["width"] < answer["x"]
    page.evaluate("location.hash = '#q-1'")
    page.get_by_text("The page other.png is not in this report: not found.").wait_for()


def test_page_of_a_question_is_zoomed_and_moved(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_page_of_question(open_report, tmp_path)
    page.locator(".sheet").focus()
    for key, moved in (("+", [0, 0]), ("+", [0, 0]), ("ArrowRight", [-60, 0]), ("ArrowDown", [0, -60])):
        before = read_view(page)
        page.keyboard.press(key)
        after = read_view(page)
        assert (after[2] == pytest.approx(1.4 * before[2])) == (key == "+")
        assert key == "+" or after[:2] == [before[0] + moved[0], before[1] + moved[1]]
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert read_view(page)[0] == 0  # its edge stays at the edge of the frame
    page.keyboard.press("0")
    assert read_view(page) == [0, 0, 1]
    assert page.url.endswith("#q-0")  # no key went to the list of questions
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
    session = page.context.new_cdp_session(page)
    for kind, apart in {"touchStart": (-20, 20), "touchMove": (-40, 40), "touchEnd": ()}.items():
        points = [{"x": x + 40 + right, "y": y, "id": place} for place, right in enumerate(apart)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function("document.querySelector('.sheet.zoomed') !== null")
    assert read_view(page)[2] == pytest.approx(2, abs=0.1)


# Comparison and panels


def test_baseline_changes_difference_interval_p_and_verdict(open_report: OpenReport) -> None:
    page = open_report(SIX)
    row = page.locator(".ranked tbody tr", has_text="f").last
    before = row.inner_text()
    page.get_by_label("baseline", exact=True).select_option(label="e")
    pair = read_data(page.content())["pairs"]["e"]["f"]
    assert row.inner_text() != before
    low, high = pair["interval"]
    for text in (f"{pair['difference']:+.4f}", f"{low:+.4f} to {high:+.4f}", f"MDE {pair['mde']:.4f}", pair["verdict"]):
        assert text in row.inner_text()
    assert page.get_by_label("against", exact=True).input_value() == "4"
    page.get_by_text("How they were compared").click()
    assert "p is adjusted for 5 comparisons" in page.locator("#ranking").inner_text()
    page.get_by_role("link", name=f"{pair['losses']} losses").last.click()
    assert read_query(page) == {"first": ["f"], "against": ["e"], "change": ["losses"]}
    assert read_status(page) == f"{pair['losses']} of 120 questions"
    assert find_chip(page, "losses").get_attribute("aria-pressed") == "true"
    assert all(text.startswith("-") for text in page.locator("#list td.of-difference").all_inner_texts())


def test_counts_and_groups_in_the_panels_filter_the_questions(open_report: OpenReport) -> None:
    page = open_report(SIX, KINDS)
    picks = page.get_by_label("answers of"), page.get_by_label("against")
    for label, pair in {"equal of a": ["1", "0"], "contains an answer of f": ["5", "0"]}.items():
        count = page.get_by_role("button", name=f"{label}: show these questions")  # the baseline a keeps the pair
        count.click()
        assert read_status(page) == f"{count.inner_text()} of 120 questions"
        assert [pick.input_value() for pick in picks] == pair
    page.get_by_label("against").select_option(label="none")
    assert page.locator("#list thead th").all_inner_texts() == ["id", "question", "f", "outcome"]
    page.get_by_label("against").select_option(label="c")
    assert page.locator("#list thead th").all_inner_texts()[2:4] == ["f", "c"]
    page.locator(".outcomes .stacked").last.locator("rect").last.click()
    assert page.locator("#outcomes-of [aria-pressed=true]").count() == 1
    page.get_by_role("tab", name="Groups").click()
    page.get_by_role("button", name="b: show its questions").click()
    assert read_status(page) == "60 of 120 questions"
    assert page.locator("#group option:checked").inner_text() == "b"
    page.get_by_role("tab", name="Before and after").click()
    cell = page.locator(".changes td:not(.same) button").first
    cell.click()
    assert read_status(page) == f"{cell.inner_text()} of 120 questions"
    assert page.locator(".changes button[aria-pressed=true]").count() == 1
    assert len(set(page.locator("#list td.outcome").all_inner_texts())) == 1


def test_group_table_sorts_and_shows_every_group(open_report: OpenReport) -> None:
    page = open_report(TWO, PAGES, url="#?look=groups")
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


BEHIND = [
    ("format loss 0.2262 (4)", "partial_credit", ["2", "5", "6", "7"]),
    ("wrong-number credit 0.2031 (2)", "partial_credit", ["0", "1"]),
    ("“0” for “o” (2)", "confusion", ["3", "4"]),
    ("“,” for nothing (2)", "confusion", ["2", "5"]),
    ("nothing for “,” (1)", "confusion", ["6"]),
    ("1 same value of bad", "outcome", ["7"]),
]


def test_figures_behind_the_number_show_the_questions_that_count_in_them(open_report: OpenReport) -> None:
    texts = [("0.26", "0.28"), ("12/15/89", "12/15/88"), ("977,633", "977633"), ("B0B", "BOB"), ("R0AD", "ROAD")]
    texts += [("a,b", "ab"), ("ab", "a,b"), ("27 percent", "27%")]
    good, bad = ([((ours, accepted)[place], [accepted]) for ours, accepted in texts] for place in (1, 0))
    page = open_report({"good": good, "bad": bad}, url="#?look=behind")
    assert page.locator(".panel h3").all_inner_texts() == ["bad"]
    for label, parameter, ids in BEHIND:
        button = page.locator(".panel").get_by_role("button", name=label)
        button.click()
        assert sorted(list_ids(page)) == ids
        assert button.get_attribute("aria-pressed") == "true"
        assert list(read_query(page)) == [parameter, "look"]
        page.reload()
        assert sorted(list_ids(page)) == ids
        page.locator(".chips button[aria-pressed=true]").click()
        assert len(list_ids(page)) == 8


def test_suspected_label_errors_are_opened_in_the_order_of_their_panel(open_report: OpenReport) -> None:
    page = open_report(NINE)
    page.get_by_role("tab", name="Suspected label errors").click()
    assert page.locator("#panels li").all_inner_texts() == [
        "1: 8 submissions say 2\nWhat is number 1? · accepted: 4",
        "0: 7 submissions say february 24, 1966\nWhat is number 0? · accepted: February 24 1966",
    ]
    page.locator("#panels li a").first.click()
    assert (list_ids(page), read_open(page)) == (["1", "0"], "1")
    page.keyboard.press("j")
    assert read_open(page) == "0"
    page.reload()
    assert list_ids(page) == ["1", "0"]
    find_chip(page, "suspected label errors").click()
    assert "sort" not in page.url


def test_bar_of_the_histogram_filters_by_similarity(open_report: OpenReport) -> None:
    page = open_report(TWO, url="#?look=curves")
    bar = page.locator(".distribution.s1 rect").first
    low, high, count = re.findall(r"[\d.]+", bar.locator("title").text_content())
    bar.click()
    assert read_status(page) == f"{count} of 120 questions"
    assert read_query(page)["similarity"] == [f"{float(low):g}-{float(high):g}"]
    assert page.get_by_role("spinbutton", name="lowest similarity").input_value() == f"{float(low):g}"
    page.get_by_role("spinbutton", name="lowest similarity").fill("0")
    page.get_by_role("spinbutton", name="highest similarity").fill("1")
    page.keyboard.press("Tab")
    assert read_status(page) == "120 questions"


# The URL


def test_url_holds_the_whole_view_and_gives_it_back(open_report: OpenReport) -> None:
    page = open_report(SIX, KINDS)
    page.get_by_label("answers of").select_option(label="e")
    page.get_by_label("against").select_option(label="c")
    page.get_by_role("searchbox").fill("question")
    find_chip(page, "losses").click()
    page.get_by_label("group", exact=True).select_option(label="b")
    for _ in range(2):
        page.locator("#list thead button", has_text="difference").click()
    page.get_by_role("tab", name="Groups").click()
    page.locator("#list tr.row a").nth(2).click()
    parts, url = [read_status(page), list_ids(page), read_open(page)], page.url
    page.reload()
    assert [read_status(page), list_ids(page), read_open(page)] == parts
    assert page.get_by_role("searchbox").input_value() == "question"
    assert page.get_by_role("tab", name="Groups").get_attribute("aria-selected") == "true"
    assert page.locator('#list th[aria-sort="descending"]').inner_text() == "difference"
    assert page.url == url
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name in ("Copy link", "Copy link to this view"):
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == url
        page.get_by_role("button", name=name, exact=True).wait_for()


def test_back_and_forward_return_to_views(open_report: OpenReport) -> None:
    page = open_report(TWO)
    find_chip(page, "losses").click()
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
    assert read_status(page) == "48 of 120 questions"


def test_unknown_url_is_named(open_report: OpenReport) -> None:
    unknown = {
        "#q-404": "has no question “404”",
        "#?first=nobody": "does not know “first=nobody”",
        "#q-7?outcome=odd": "“outcome=odd”",
        "#?partial_credit=odd": "“partial_credit=odd”",
        '#?confusion=["a","b"]': "“confusion=",
        "#q-%ff": "damaged",
    }
    page = open_report(TWO)
    for url, words in unknown.items():
        page.evaluate("url => { location.hash = url }", url)
        page.get_by_role("alert").filter(has_text=words).wait_for()
        find_chip(page, "losses").click()
        assert not page.get_by_role("alert").is_visible()


def test_report_in_a_frame_tells_its_view_to_the_page_around_it(browser: Any) -> None:
    page = browser.new_page()
    page.set_content("<iframe sandbox='allow-scripts allow-downloads'></iframe>")
    page.evaluate("""() => { window.views = []; addEventListener('message', event => {
        if (event.data.type === 'anls-report-state') views.push(event.data.hash)
    }) }""")
    put = "report => { document.querySelector('iframe').srcdoc = report }"
    page.evaluate(put, build_report(TWO))
    frame = page.frame_locator("iframe")
    frame.locator(".chips button", has_text="losses").click()
    page.wait_for_function("views.length === 1")
    assert page.evaluate("views") == ["#?change=losses"]
    page.evaluate(put, build_report(TWO).replace("<html", '<html data-hash="#q-7?change=losses"', 1))
    frame.locator("#list tr.open").wait_for()
    assert frame.locator(".chips button[aria-pressed=true]").inner_text().startswith("losses")
    page.close()


# Marks


def find_marks(page: Any) -> Any:
    return page.get_by_role("group", name="Mark", exact=True)


def import_marks(page: Any, path: Path, marks: Any) -> None:
    path.write_text(json.dumps(marks))
    page.locator("#import-file").set_input_files(path)


def reopen_until(page: Any, shown: Any) -> None:
    """Open the report again, up to three times: Chromium may store marks only after the next page has read them."""
    url = page.evaluate("location.href")
    for timeout in (5_000, 5_000, 30_000):
        page.goto("about:blank")
        page.goto(url)
        with suppress(Exception):  # the timeout of playwright, which may not be installed
            shown.wait_for(timeout=timeout)
            return
    pytest.fail("the mark was not kept")


def test_marks_are_kept_counted_filtered_and_exported(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, url="#q-7")
    group = find_marks(page)
    for _ in range(3):
        group.get_by_role("button", name="annotation wrong").click()
    group.get_by_role("textbox", name="Accept").fill("the correct answer")
    group.get_by_role("textbox", name="Note").fill("see the title")
    page.get_by_role("button", name="Next question").click()
    group.get_by_role("button", name="unclear").click()
    group.get_by_role("button", name="unclear", pressed=True).wait_for()
    second = read_open(page)
    reopen_until(page, group.get_by_role("button", name="unclear", pressed=True))
    find_chip(page, "annotation wrong").first.click()
    assert (read_status(page), list_ids(page)) == ("1 of 120 questions", ["7"])
    assert json.loads(download(page, "Export marks", tmp_path / "marks.json")) == [
        {"questionId": "7", "mark": "annotation wrong", "accept": ["the correct answer"], "note": "see the title"},
        {"questionId": second, "mark": "unclear"},
    ]
    assert read_corrections(str(tmp_path / "marks.json")).accept == {"7": ("the correct answer",)}


def test_marks_of_two_reviewers_are_merged_and_conflicts_shown(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, url="#q-7")
    find_marks(page).get_by_role("button", name="model wrong").click()
    other = [
        {"questionId": "7", "mark": "annotation wrong", "accept": ["tea"]},
        {"questionId": 8, "mark": "unclear"},
        {"questionId": "404", "mark": "unclear"},
    ]
    import_marks(page, tmp_path / "other.json", other)
    page.get_by_text("1 mark imported. 1 conflict with your marks").wait_for()
    assert "1 mark of questions that are not in this report" in page.locator("#imported").inner_text()
    assert "annotation wrong; accept tea" in page.locator(".conflict").inner_text()
    page.get_by_role("button", name="Take this mark").click()
    assert page.locator(".conflict").count() == 0
    assert page.evaluate("document.activeElement.dataset.row") == "7"
    exported = json.loads(download(page, "Export marks", tmp_path / "m.json"))
    assert [mark["mark"] for mark in exported] == ["annotation wrong", "unclear"]
    import_marks(page, tmp_path / "other.json", other)
    page.get_by_text("0 marks imported.").wait_for()
    import_marks(page, tmp_path / "odd.json", {})
    page.get_by_text("This isn't a file of marks").wait_for()


def test_answer_of_a_submission_is_accepted_without_typing(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(NINE, url="#q-0")
    groups = page.locator(".opened article").evaluate_all("all => all.map(box => box.ariaLabel.split(', '))")
    assert groups == [["h"], [*"abcdefg"], ["i"]]  # submissions with the same answer share a box
    box, buttons = page.get_by_role("textbox", name="Accept"), page.get_by_role("button", name="Accept this answer")
    assert buttons.count() == 1  # an answer that scores 1 and an empty answer have none
    box.fill("24 February")
    buttons.click()
    assert box.input_value() == "24 February | February 24, 1966"
    assert buttons.get_attribute("aria-pressed") == "true"
    exported = json.loads(download(page, "Export marks", tmp_path / "m.json"))
    assert exported == [{"questionId": "0", "mark": "", "accept": ["24 February", "February 24, 1966"]}]
    buttons.click()
    assert box.input_value() == "24 February"


def test_marked_question_stays_open_in_the_list_of_a_mark_until_a_key_leads_on(
    open_report: OpenReport, tmp_path: Path
) -> None:
    page = open_report(TWO)
    import_marks(page, tmp_path / "m.json", [{"questionId": str(number), "mark": "unclear"} for number in (7, 8, 9)])
    find_chip(page, "unclear").click()
    order = list_ids(page)
    for place, key in enumerate(("Enter", "Escape")):
        page.keyboard.press("j")
        assert (read_open(page), list_ids(page)) == (order[place], order[place:])
        find_marks(page).get_by_role("button", name="model wrong").click()
        page.get_by_role("textbox", name="Accept").press_sequentially("jk/")
        page.keyboard.press(key)  # leaves the text box
        assert read_open(page) == order[place]
    assert find_chip(page, "accepts more").inner_text() == "accepts more2"
    page.keyboard.press("Escape")
    assert list_ids(page) == order[2:]
    assert page.evaluate("document.activeElement.id") == "count"


def test_corrections_without_a_mark_are_filters_and_can_be_taken_back(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO)
    assert find_chip(page, "not marked").count() == 0
    excluded = {"questionId": "8", "exclude": True, "note": "no page"}
    corrections = [{"questionId": "7", "accept": ["tea"]}, excluded, {"questionId": "9", "mark": "unclear"}]
    import_marks(page, tmp_path / "corrections.json", corrections)
    rows = page.locator("#list tr.row")
    assert rows.nth(list_ids(page).index("7")).locator("small").all_inner_texts() == ["accepts more"]
    for name, ids in {"accepts more": ["7"], "excluded": ["8"], "unclear": ["9"]}.items():
        find_chip(page, name).click()
        assert list_ids(page) == ids
        find_chip(page, name).click()
    assert find_chip(page, "not marked").inner_text() == "not marked117"
    page.evaluate("location.hash = '#q-8'")
    page.get_by_role("button", name="Keep the question").click()
    assert page.get_by_text("exclude this question").count() == 0
    assert page.evaluate("document.activeElement.dataset.row") == "8"
    exported = json.loads(download(page, "Export marks", tmp_path / "m.json"))
    assert {"questionId": "8", "mark": "", "note": "no page"} in exported


def test_answers_that_corrections_added_are_named(open_report: OpenReport, tmp_path: Path) -> None:
    path = tmp_path / "corrections.json"
    path.write_text(json.dumps([{"questionId": 2, "accept": ["tea", "Tee"]}]))
    records = [{"id": number, "prediction": "tea", "answers": ["Tee"]} for number in (1, 2)]
    page = open_report(as_html(evaluate([Input(records)], None, Settings(corrections=str(path)))))
    for number, accepted in (1, ["accepted", "Tee"]), (2, ["accepted", "Tee", "teaadded by correctionsclosest"]):
        page.evaluate(f"location.hash = '#q-{number}'")
        page.locator(f"#list tr.open a[href='#q-{number}']").first.wait_for()
        assert page.locator(".opened > div > .accepted li").all_inner_texts() == accepted


def test_report_says_when_the_browser_cannot_keep_marks(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO).encode())
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('private') } })")
    page.goto((tmp_path / "report.html").as_uri() + "#q-7")
    page.get_by_role("button", name="unclear").first.click()
    assert "cannot store marks" in page.locator("#marks-place").inner_text()
    assert json.loads(download(page, "Export marks", tmp_path / "m.json"))[0]["mark"] == "unclear"
    page.close()


# Downloads

TRICKY = ["-12.5", "=1+1", '"quoted", and\ncut', "ümläut", "  spaces ", "", "[1, 2]", "x\r\ny", "@name", "\t7"]


def test_downloaded_csv_gives_the_same_scores_and_has_no_formulas_for_spreadsheets(
    open_report: OpenReport, tmp_path: Path
) -> None:
    answers = [*((text, [text or "x", '["y"]']) for text in TRICKY), *fuzzed_rows(50, 3)]
    answers = [(prediction, list(filter(str.strip, references)) or ["z"]) for prediction, references in answers]
    other = [(references[0].upper(), references) for _, references in answers]
    page = open_report({"one": answers, "two": other}, [{"image": "a_1.png"} for _ in answers])
    download(page, "Download CSV", tmp_path / "again.csv")
    again = evaluate([Input(str(tmp_path / "again.csv"))], None, Settings(prediction=("one", "two")))
    for scored, pairs in zip(again.submissions, (answers, other)):
        rows = sorted(zip(map(int, scored.questions.ids), scored.answers.predictions, scored.scores))
        assert rows == [(key, text, explain(text, references).score) for key, (text, references) in enumerate(pairs)]
    text = download(page, "CSV for spreadsheets", tmp_path / "sheet.csv")
    assert text.startswith("\ufeff")
    sheet = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert {"-12.5", "'=1+1", "'@name", "'\t7", "ümläut"} <= {row["one"] for row in sheet}  # no formulas
    assert {row["document"] for row in sheet} == {"a_1.png"}


def test_charts_and_tables_are_taken_along(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWENTY, url="#?look=curves")
    chart = download(page, "Save as SVG: ANLS over the threshold", tmp_path / "chart.svg")
    paths = ElementTree.fromstring(chart).iter("{http://www.w3.org/2000/svg}path")
    strokes = [(str(path.get("stroke")), path.get("stroke-dasharray")) for path in paths]
    assert len(strokes) == len(set(strokes)) == 20
    assert all(stroke.startswith("rgb(") for stroke, _ in strokes)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("a table for a paper").click()
    for title, words in (("LaTeX", r"\begin{tabular}"), ("Markdown", "|---|"), ("CSV", "anls,")):
        page.get_by_role("button", name=f"Copy as {title}").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert words in page.evaluate("navigator.clipboard.readText()")
        page.get_by_role("button", name=f"Copy as {title}").wait_for()


# Layout


def test_scores_need_no_script(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO, source="gold.json").encode())
    context = browser.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    shown = page.locator("body").inner_text()
    for text in ("120 questions of gold.json", "0.9", "first", "The rest of this report needs JavaScript"):
        assert text in shown
    context.close()


def test_print_shows_the_panels_and_the_filtered_or_opened_questions(open_report: OpenReport) -> None:
    page = open_report(TWO, scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator(".questions").is_visible()
    for title in ("Which is better", "What goes wrong", "Before and after", "Curves", "Every variant"):
        page.get_by_role("heading", name=title).wait_for()  # the event of printing comes a moment later
    page.emulate_media(media="screen")
    page.get_by_role("tab", name="Curves").wait_for()
    find_chip(page, "same").click()
    for count in (72, 1):
        page.emulate_media(media="print")
        page.locator("body.has-view").wait_for()
        assert len(list_ids(page)) == count
        assert not page.get_by_role("searchbox").is_visible()
        page.emulate_media(media="screen")
        page.locator("body:not(.has-view)").wait_for()
        page.locator("#list tr.row a").nth(3).click() if count > 1 else None


LONG = "a-name-without-an-end-" * 5


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark"), ("phone", "light")])
@pytest.mark.parametrize(
    "submissions",
    [{"one": [("a", ["a"])] * 40}, TWO, TWENTY, {f"{LONG}{n}": make_answers(120, 0.5) for n in (1, 2)}],
    ids=["nothing wrong", "two", "twenty", "long names"],
)
def test_report_passes_axe_and_fits_every_width(
    open_report: OpenReport, submissions: Any, size: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    count = len(next(iter(submissions.values())))
    records = [{"question": f"Who is {LONG * (number == 1)}{number}?", "kind": number % 2} for number in range(count)]
    hint = "9 predictions look like raw model output: extract the answers with --extract final,sentence,quotes,period"
    page = open_report(submissions, records, size, scheme, hints=[hint], url="#q-1?all=1")
    for look in page.locator("[role=tab]").all():
        look.click()
        for width in (2560, 1280, 1024, 900, 800) if size == "desktop" else (320, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert fits_width(page), (look.inner_text(), width)
    page.get_by_role("tab", name="What goes wrong").click()
    page.get_by_text("What the outcomes mean").click() if len(submissions) > 1 else None
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[size])))
    violations = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
    assert [(violation["id"], violation["nodes"][0]["html"][:160]) for violation in serious] == []


def test_questions_are_near_the_top_with_twenty_submissions(open_report: OpenReport) -> None:
    page = open_report(TWENTY, PAGES, hints=[f"hint number {number}" for number in range(9)])
    assert page.locator(".shared code").inner_text() == "checkpoint-…-docvqa-lora"
    assert page.locator(".ranked .name").first.inner_text() == "0019"
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
    find_chip(page, "losses").click()
    page.locator(".skip").press("Enter")
    assert page.evaluate("document.activeElement.id") == "questions"
    assert page.url.endswith("#?change=losses")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pressed_filters_and_charts_stand_out(open_report: OpenReport, scheme: str) -> None:
    page = open_report(SIX, scheme=scheme)
    chip = find_chip(page, "losses")
    chip.click()
    chip.hover()
    style = "element => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    assert measure_contrast(*chip.evaluate(style)) > 4.5
    page.emulate_media(forced_colors="active")
    assert chip.evaluate(style)[1] != find_chip(page, "wins").evaluate(style)[1]
    page.emulate_media(forced_colors="none")
    script = """() => [...Array(11).keys()].flatMap(place => ["o", "s"].map(kind => {
      const part = document.createElement("i");
      part.style.backgroundColor = `var(--${kind}${place % (kind === "o" ? 11 : 8)})`;
      document.body.append(part);
      return getComputedStyle(part).backgroundColor;
    })).concat(getComputedStyle(document.querySelector(".card")).backgroundColor)"""
    *parts, card = page.evaluate(script)
    assert min(measure_contrast(part, card) for part in parts) >= 3


# The benchmark


def test_benchmark_times_opening_and_searching(browser: Any, tmp_path: Path) -> None:
    module = benchmark("report")
    path = tmp_path / module.FILE
    path.write_text(build_report({"one": make_answers(12, 0.5)}), encoding="utf-8", newline="")
    assert min(module.open_and_search(browser, path)) > 0
