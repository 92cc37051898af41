"""The report, opened from a file in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from anls_metric import explain
from anls_metric.analysis.evaluation import evaluate
from anls_metric.analysis.hint import Hint
from anls_metric.analysis.images import Images
from anls_metric.analysis.lost_points import MEANINGS
from anls_metric.messages import Message
from anls_metric.options import Settings
from anls_metric.reading.corrections import read_corrections
from anls_metric.reading.inputs import Input
from tests.conftest import wait_for
from tests.report.conftest import SIZES, OpenReport
from tests.report.sample_reports import HOSTILE, as_html, build_report, conclude, make_answers, read_data, score_pairs

TWO = {"first": make_answers(120, 0.9), "second": make_answers(120, 0.5)}
SIX = {name: make_answers(120, share) for name, share in zip("abcdef", (0.9, 0.8, 0.7, 0.5, 0.3, 0.0))}
NINE = {f"submission__model_{n}": make_answers(120, 0.9 - n / 10) for n in range(9)}
RAW = [
    Hint(Message("", "9 of 120 look raw: {use.extract:sentence}", {}), f"submission__model_{n}", ("sentence",), 0.97)
    for n in range(4, 9)
]
SUSPECTS = {name: [("February 24, 1966", ["February 24 1966"]), ("2", ["4"])] for name in "abcdefg"}
SUSPECTS["h"] = [("February 24 1966", ["February 24 1966"]), ("4", ["4"])]
SUSPECTS["i"] = [("", ["February 24 1966"]), ("2", ["4"])]
TIED = "≈ not significantly worse than the best"
THICK = "thick: 95% CI alone; thin: as wide as the verdict asks for"
PROPOSED = "◇ after the extraction that a hint proposes"
TWENTY = {f"checkpoint-{place:04d}-docvqa-lora": make_answers(120, place / 20) for place in range(20)}
KINDS = [{"kind": "ab"[number % 2]} for number in range(120)]
PAGES = [{"id": f"q{n}", "question": f"What is {n}?", "image": f"a/ab{n // 8}_{n // 4}.png"} for n in range(120)]


def list_ids(page: Any) -> list[str]:
    """List the ids of the visible questions."""
    return [*page.locator("#list tr.row small bdi:first-child").all_inner_texts()]


def read_open(page: Any) -> str:
    """Read the id of the open question."""
    return str(page.locator("#list tr.open small bdi").first.inner_text())


def read_status(page: Any) -> str:
    """Read the number of questions."""
    return str(page.get_by_role("status").first.inner_text())


def read_query(page: Any) -> dict[str, list[str]]:
    """Read the parameters of the URL."""
    return urllib.parse.parse_qs(page.url.partition("?")[2])


def open_question(page: Any, key: str) -> None:
    """Open a question by its URL, and wait until it is open."""
    page.evaluate("key => { location.hash = '#q-' + key }", key)
    page.locator(f"#list tr.open a[data-row='{key}']").wait_for()


def find_chip(page: Any, name: str) -> Any:
    """Find a filter."""
    return page.locator("#filters button", has_text=re.compile(f"^{re.escape(name)} "))


def download(page: Any, name: str, path: Path) -> str:
    """Press a button of the menu that downloads a file. Returns its content."""
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as started:
        page.locator("#more").get_by_role("button", name=name).click()
    started.value.save_as(path)
    return path.read_bytes().decode()


def test_heading_is_the_verdict_and_the_first_of_two_is_the_baseline(open_report: OpenReport) -> None:
    page = open_report({"good": TWO["first"], "poor": TWO["second"]}, PAGES)
    verdict = page.get_by_role("heading", level=1).inner_text()
    assert re.fullmatch(r"good is better than poor by \d+\.\d points", verdict)
    assert page.title() == verdict
    claims = page.locator(".claim").all()
    assert claims[0].locator("b").inner_text() == "You can write"
    assert all(claim.bounding_box()["y"] < 250 for claim in claims)
    assert "poor minus good: −" in page.locator("#summary").inner_text()
    rows = page.locator(".forest tbody tr")
    assert [row.locator("th").inner_text() for row in rows.all()] == ["good", "poor"]
    assert page.locator(".forest .title").inner_text() == "difference from good in points, 95% CI"
    pair = read_data(page.content())["pairs"]["good"]["poor"]
    difference = f"{100 * pair['difference']:.1f}".replace("-", "−")
    assert rows.last.locator(".difference").inner_text() == difference
    assert rows.last.locator(".against").inner_text().strip() == "48 losses · 0 wins"
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in pair["interval"])
    assert rows.last.get_by_role("img", name=f"95% CI {low} to {high}, significant").count() == 1
    rows.last.get_by_role("link", name="48 losses").click()
    assert read_query(page) == {"change": ["losses"]}
    assert read_status(page) == "48 of 120 questions"
    assert page.evaluate("document.activeElement.id") == "count"
    page.locator("#details summary").click()
    assert "anls|standard" in page.locator("#details").inner_text()


def test_report_compares_with_the_baseline_that_the_user_names(open_report: OpenReport) -> None:
    page = open_report(SIX, baseline="c")
    assert "difference from c in points" in page.locator(".forest .title").inner_text()
    page.locator(".forest tbody tr").last.get_by_role("link", name="losses").click()
    assert read_query(page) == {"first": ["f"], "change": ["losses"]}


def test_forest_shows_what_is_certain_and_few_numbers_stand_on_the_first_screen(open_report: OpenReport) -> None:
    page = open_report(NINE, hints=RAW)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert (
        "Five scores are for raw output; ◇ marks them after extraction" in page.locator("#summary b").first.inner_text()
    )
    raw = page.locator(".forest tbody tr", has_text="model_8")  # without the beginning that all names share
    assert raw.locator(".against").inner_text().strip() == "losses · wins ◇ 97.0 extracted"
    assert raw.locator("path.worse, circle.worse").count() == 1
    pairs = read_data(page.content())["pairs"]["submission__model_0"]
    dots = {"open": 0, "worse": 0}
    for pair in pairs.values():
        dots["worse" if pair["verdict"] == "worse" else "open"] += 1
    assert {style: page.locator(f".forest .dot.{style}").count() for style in dots} == dots
    tied = read_data(page.content())["document"]["best"]["no_significant_difference"]
    assert page.locator(".forest .tied").count() == (len(tied) + 1 if tied else 0)
    assert page.locator(".forest", has_text="rank").count() == 0
    script = """() => [...document.querySelectorAll("#report *")]
      .filter(each => each.checkVisibility() && each.getBoundingClientRect().top < innerHeight)
      .flatMap(each => [...each.childNodes].map(node => node.nodeType === Node.TEXT_NODE ? node.data : ""))"""
    numbers = re.findall(r"(?<![\w.])\d[\d.,]*(?!\w)", " ".join(page.evaluate(script)))
    assert 20 < len(numbers) <= 80
    page.get_by_text("Hints on models and differences").click()
    assert page.locator("#hints details li:visible").count() == 5
    alone = open_report({RAW[0].submission: TWO["first"]}, hints=RAW[:1])
    assert alone.locator(".against").inner_text().strip() == "◇ 97.0 extracted"
    assert "look raw" in alone.locator(".hints").inner_text()


def test_models_can_be_searched_and_put_in_the_order_of_the_files(open_report: OpenReport) -> None:
    page = open_report(TWENTY, url="#?order=files&models=000")
    names = page.locator(".forest tbody th")
    assert names.all_inner_texts() == [f"checkpoint-000{place}-docvqa-lora" for place in range(10)]
    page.get_by_label("sorted").select_option(label="by score")
    assert names.first.inner_text() == "checkpoint-0009-docvqa-lora"
    page.get_by_role("searchbox", name="Search models").fill("19 lora")
    assert (names.count(), read_query(page)) == (1, {"models": ["19 lora"]})
    page.reload()
    assert names.all_inner_texts() == ["checkpoint-0019-docvqa-lora"]


def test_axis_is_as_wide_as_the_charts_on_a_phone(open_report: OpenReport) -> None:
    page = open_report(TWENTY, size="phone")
    axis, chart = (page.locator(f".forest {place} svg").first.bounding_box() for place in ("thead", "tbody"))
    assert (axis["x"], axis["width"]) == pytest.approx((chart["x"], chart["width"]), abs=2)


def test_copied_figure_is_an_svg_of_the_models(open_report: OpenReport) -> None:
    page = open_report(SIX, scheme="dark")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy figure").click()
    page.get_by_role("button", name="Copy as SVG").click()
    page.locator("#figure", has_text="Copied").wait_for()
    figure = ElementTree.fromstring(page.evaluate("navigator.clipboard.readText()"))
    texts = ["".join(each.itertext()) for each in figure.iter("{http://www.w3.org/2000/svg}text")]
    scores = page.locator(".forest .anls b").all_inner_texts()
    assert {*"abcdef", *scores, "difference from a in points, 95% CI"} <= set(texts)
    circles = [each.get("fill") for each in figure.iter("{http://www.w3.org/2000/svg}circle")]
    assert "rgb(47, 85, 212)" in circles  # the color of the light theme


def test_what_was_asked_for_is_in_the_first_table(open_report: OpenReport) -> None:
    inputs = [Input([{"id": n, "prediction": text, "answers": ["b"]} for n in range(40)], text) for text in "ab"]
    page = open_report(as_html(evaluate(inputs, None, Settings(metrics=("f1", "cer")))))
    assert page.locator(".forest thead .asked").all_inner_texts() == ["f1", "cer"]
    assert page.locator(".forest tbody tr").last.locator(".asked").all_inner_texts() == ["0.0", "100.0"]


def test_each_cause_filters_exactly_its_questions_and_causes_add_up(open_report: OpenReport) -> None:
    page = open_report(SIX)
    for first, second in (("b", "a"), ("a", "f"), ("d", "c")):
        for label, name in (("minus", second), ("model", first), ("minus", second)):
            page.get_by_label(label, exact=True).select_option(label=name)
        points, found = 0.0, {"loss": 0, "win": 0}
        for row in page.locator("#causes .causes tr").all():
            texts = row.locator("td").all_inner_texts()
            counts = {noun: int(number) for number, noun in re.findall(r"(\d+) (loss|win)", texts[2])}
            row.get_by_role("button").click()
            assert read_status(page) == f"{sum(counts.values())} of 120 questions"
            found = {noun: found[noun] + counts.get(noun, 0) for noun in found}
            points += float(texts[0].replace("−", "-"))
        page.get_by_role("button", name="Clear filters").click()
        total = page.locator("#causes .total").inner_text().split()[0].replace("−", "-")
        assert points == pytest.approx(float(total), abs=0.01)  # as printed
        for name, count in {"losses": found["loss"], "wins": found["win"]}.items():
            chip = find_chip(page, name)
            assert (chip.inner_text() if chip.count() else f"{name} 0") == f"{name} {count}"


def test_single_submission_shows_where_it_loses_points(open_report: OpenReport) -> None:
    answers = [("tea", ["tea"])] * 9 + [("", ["tea"])] * 4
    page = open_report({"one": answers}, [{"image": f"p/doc{n // 9}-p{n % 2}.png"} for n in range(13)])
    assert page.get_by_role("heading", level=1).inner_text() == "one scores 69.2"
    assert "4 questions, 4 in doc1" in page.locator("#causes").inner_text()
    page.locator("#causes").get_by_role("button", name="empty").click()
    assert (read_status(page), read_query(page)) == ("4 of 13 questions", {"lost": ["empty"]})


def read_parts(page: Any, column: int) -> dict[str, float]:
    """Read the points of the causes (column 0) or of the groups (column 1)."""
    rows = page.locator(f"{('#causes', '#groups')[column]} .causes tr").all()
    points = [row.locator(".points").inner_text().replace("−", "-") for row in rows]
    return {row.locator("th").inner_text(): float(text) for row, text in zip(rows, points)}


def test_nested_values_show_causes_and_outermost_keys_that_add_up(open_report: OpenReport) -> None:
    def make_log(accepted: int) -> list[dict[str, Any]]:
        values = [{"a": "tea", "b": {"c": n % accepted or None, "d": "x"}} for n in range(9)]
        gold = {"a": "tea", "b": {"c": 1, "d": "x"}}
        return [{"id": n, "prediction": value, "references": gold} for n, value in enumerate(values)]

    inputs = [Input(make_log(accepted), name) for name, accepted in {"good": 9, "poor": 2}.items()]
    page = open_report(as_html(evaluate(inputs, None, Settings(variant="anls_star", by_key=True, quiet=True))))
    total = float(page.locator("#causes .total").inner_text().split()[0].replace("−", "-"))
    causes, keys = read_parts(page, 0), read_parts(page, 1)
    assert {"missed", "wrong"} >= set(causes)
    assert list(keys) == ["a", "b"] or list(keys) == ["b", "a"]  # without b.c, which is inside of b
    assert sum(causes.values()) == pytest.approx(total, abs=0.01)
    assert sum(keys.values()) == pytest.approx(total, abs=0.01)
    page.locator("#causes").get_by_role("button", name="missed").click()
    assert 0 < len(list_ids(page)) < 9
    page.locator("#details summary").click()
    assert "by key of the value" in page.locator("#details").inner_text()


def test_groups_and_confusions_filter_the_questions(open_report: OpenReport) -> None:
    texts = [("12/15/89", "12/15/88"), ("B0B", "BOB"), ("R0AD", "ROAD"), ("a,b", "ab"), ("ab", "a b")]
    answers = [(ours, [accepted]) for ours, accepted in texts]
    page = open_report({"one": answers}, [{"kind": "ab"[n % 2]} for n in range(5)])
    assert set(read_parts(page, 1)) == {"a", "b"}
    page.locator("#groups").get_by_role("button", name="b", exact=True).click()
    assert (read_status(page), read_query(page)) == ("2 of 5 questions", {"group": ["kind:b"]})
    page.get_by_label("by", exact=True).select_option(label="kind of answer")
    assert set(read_parts(page, 1)) == {"number", "one word", "2 to 4 words"}
    page.get_by_text("Confusions", exact=True).click()
    for label, ids in {"0 for o 2": ["1", "2"], "+, 1": ["3"], "−space 1": ["4"]}.items():
        page.locator("#confusions").get_by_role("button", name=label).click()
        assert sorted(list_ids(page)) == ids
    page.reload()
    assert list_ids(page) == ["4"]
    page.locator("#confusions[open]").wait_for()


def test_many_groups_are_one_row_that_opens(open_report: OpenReport) -> None:
    page = open_report(TWO, PAGES)
    assert page.locator("#groups select").input_value() == "image"
    assert len(read_parts(page, 1)) == 6
    page.get_by_role("button", name=re.compile(r"^\d+ others$")).click()
    assert len(read_parts(page, 1)) == 30
    page.get_by_role("button", name="fewer").click()
    assert len(read_parts(page, 1)) == 6


def test_search_finds_words_in_any_order(open_report: OpenReport) -> None:
    page = open_report(TWO, PAGES)
    box = page.get_by_role("searchbox")
    box.press_sequentially("117? IS WHAT")
    assert list_ids(page) == ["q117"]
    for text, count in {"no such words": 0, "q11": 11, "99 question": 1, "ab1_2": 4, "doc:ab": 0}.items():
        box.fill(text)
        assert read_status(page) == f"{count} of 120 questions"
    assert "No question matches" in page.locator("#list").inner_text()
    page.keyboard.press("Escape")
    assert box.input_value() == ""
    page.locator("#list tr.row").first.click()
    page.get_by_role("button", name=re.compile(r"^ab\d+$")).click()
    assert read_status(page) == "8 of 120 questions"


def test_questions_about_a_page_are_not_those_of_a_page_with_a_longer_number(open_report: OpenReport) -> None:
    pages = [{"id": f"q{n}", "image": f"a/ab_{page}.png"} for n, page in enumerate([4, 4, 42])]
    page = open_report({"one": [("tea", ["tea"])] * 3}, pages, url="#q-q0")
    page.get_by_role("button", name="ab_4", exact=True).click()
    assert sorted(list_ids(page)) == ["q0", "q1"]


def test_count_of_each_chip_is_what_a_click_gives(open_report: OpenReport) -> None:
    page = open_report(SIX, KINDS, url="#?search=question+1&first=e")
    for first in (None, "losses"):
        if first:
            find_chip(page, first).click()
        for chip in page.locator("#filters button[aria-pressed=false]").all():
            name, count = chip.inner_text().rsplit(" ", 1)
            before = page.url
            chip.click()
            assert read_status(page) == f"{count} of 120 questions", (first, name)
            page.evaluate("url => { location.hash = url }", before.partition("#")[2])
            find_chip(page, name).and_(page.locator("[aria-pressed=false]")).wait_for()


def test_every_column_sorts_all_pages_and_sets_aria_sort(open_report: OpenReport) -> None:
    page = open_report(TWO)
    headers = page.locator("#list thead th")
    assert headers.all_inner_texts() == ["question", "references", "second", "first", "difference"]
    for place in range(5):
        headers.nth(place).get_by_role("button").click()
        directions = [headers.nth(other).get_attribute("aria-sort") for other in range(5)]
        assert (directions[place], directions.count("none")) == ("ascending", 4)
    texts = page.locator("#list td.of-difference").all_inner_texts()
    for number in (2, 3):
        page.get_by_role("button", name="Next", exact=True).click()
        assert page.locator("#page").inner_text() == f"page {number} of 3"
        texts += page.locator("#list td.of-difference").all_inner_texts()
    values = [float(text.replace("−", "-")) for text in texts]
    differing = [value for value in values if value]
    assert (len(values), values[: len(differing)]) == (120, sorted(differing))  # ties come last
    assert page.get_by_role("button", name="Next", exact=True).is_disabled()


def test_keyboard_opens_marks_closes_and_searches_questions(open_report: OpenReport) -> None:
    page = open_report(TWO)
    order = list_ids(page)
    for key, place in (("j", 0), ("j", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("k", 0)):
        page.keyboard.press(key)
        assert read_open(page) == order[place]
    for key, names in (("1", ["1 leave out"]), ("1", []), ("4", ["4 unclear"]), ("4", [])):
        page.keyboard.press(key)
        assert page.locator(".marks [aria-pressed=true]").all_inner_texts() == names
    for key, count in (("Escape", 0), ("Enter", 1)):  # the focus stays on its link
        page.keyboard.press(key)
        assert page.locator("#list tr.open").count() == count
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.get_by_role("searchbox").input_value() == "jk"
    page.get_by_role("searchbox").fill("")
    page.get_by_role("searchbox").blur()
    for _ in range(51):  # the key j continues on the next page
        page.keyboard.press("j")
    assert page.locator("#page").inner_text() == "page 2 of 3"


def test_clicked_row_stays_under_the_pointer_unless_its_panel_needs_room(open_report: OpenReport) -> None:
    page = open_report(SIX)
    page.locator("#list tr.row").nth(3).click()
    row = page.locator("#list tr.row").nth(6)
    row.evaluate("row => row.scrollIntoView({ block: 'start' })")
    before = row.bounding_box()["y"]
    row.locator(".of-references").click()
    assert page.locator("#list tr.open").bounding_box()["y"] == pytest.approx(before, abs=40)
    last = page.locator("#list tr.row").nth(9)
    last.evaluate("row => row.scrollIntoView({ block: 'end' })")
    last.locator("small").first.click()
    panel = page.locator("#list tr.detail").bounding_box()
    assert panel["y"] + panel["height"] == pytest.approx(900, abs=2)  # the smallest step
    page.mouse.wheel(0, 600)
    head = page.locator("#list thead th").first
    wait_for(lambda: head.bounding_box()["y"] == 0)


@pytest.mark.parametrize("key", ["49153", "a/b ü%20?#&\"'", "مرحبا", "-"])
def test_url_opens_its_question(open_report: OpenReport, key: str) -> None:
    records = [{"id": str(number)} for number in range(119)] + [{"id": key}]
    page = open_report(TWO, records, url=f"#q-{urllib.parse.quote(key, safe='')}")
    link = page.locator("#list tr.open a").first
    assert (read_open(page), link.get_attribute("aria-expanded")) == (key, "true")
    page.reload()
    assert read_open(page) == key


def test_opened_question_shows_the_edits_in_place_and_the_raw_output(open_report: OpenReport) -> None:
    thought, long = "<think>A cup.</think>The answer is CocaCola.", "A very  LONG answer\nof two lines. " * 30_000
    answers = [("CocaCola", ["x", "Coca Cola"]), (long, ["tea"]), (" Coca  COLA", ["Coca Cola"])]
    page = open_report(as_html(conclude([score_pairs(answers, raw=[thought, long, " Coca  COLA"])])), url="#q-0")
    assert page.locator(".given > .text").inner_text() == "CocaCola"
    assert page.locator(".opened .edits").inner_text() == "Coca␣Cola"
    page.locator("summary", has_text="raw output").click()
    assert page.locator(".raw .text").inner_text() == thought
    assert page.locator(".accepted li").all_inner_texts() == ["references", "x", "Coca Colaclosest"]
    assert "prediction (prediction) of model.json" in page.locator("footer").inner_text()
    page.get_by_role("searchbox").fill("a cup")
    assert list_ids(page) == ["0"]
    open_question(page, "1")
    page.locator(".opened", has_text="threshold of 50%, so 0.").wait_for()
    open_question(page, "2")
    page.locator(".opened", has_text="Equal to a reference once normalized, so 100%.").wait_for()
    assert page.locator(".opened .edits").count() == 0  # they differ only in case and spaces


def test_edits_are_folded_under_an_answer_that_scores_0(open_report: OpenReport) -> None:
    page = open_report({"a": [("base dectitorea", ["strong joins"])], "b": [("strong join", ["strong joins"])]})
    page.locator("#list tr.row").click()
    answers = page.locator(".answers tr")
    for place, text, is_open in ((0, "strong join", True), (1, "base dectitorea", False)):
        given = answers.nth(place).locator(".given")
        assert given.locator("> .text").inner_text() == text
        assert (given.locator(".edits").is_visible(), given.locator("summary").is_visible()) == (is_open, True)
    answers.nth(1).locator("summary", has_text="is below the threshold of 50%, so 0.").click()
    assert answers.nth(1).locator(".edits").is_visible()


def test_chips_name_the_model_and_a_pressed_one_shows_its_meaning(open_report: OpenReport) -> None:
    page = open_report(TWO)
    assert page.locator(".chips .said").all_inner_texts() == ["second against first:", "Answers of second:"]
    find_chip(page, "a few characters").click()
    assert page.locator("#filters > .said").inner_text() == f"a few characters: {MEANINGS['a few characters']}"
    for place, name in enumerate(page.locator("#list .of-question + td + td small").all_inner_texts()):
        assert name == "a few characters", place


def test_legend_shows_only_the_marks_of_the_table(open_report: OpenReport) -> None:
    legends = {
        "two": ({"first": TWO["first"], "second": TWO["second"]}, (), ["● significant"]),
        "same": ({"a": TWO["first"], "b": TWO["first"]}, (), [TIED, "○ not significant"]),
        "raw": (NINE, RAW, ["● significant", THICK, PROPOSED]),
        "one": ({"one": TWO["first"]}, (), []),
    }
    for submissions, hints, legend in legends.values():
        page = open_report(submissions, hints=hints)
        assert page.locator("#forest .key").all_inner_texts() == legend


def test_nested_answer_shows_first_what_is_wrong_in_it(open_report: OpenReport) -> None:
    gold = {"a": "tea", "b": {"c": "1", "d": "x"}}
    log = [{"id": 0, "prediction": {"a": "tea", "b": {"c": "2", "d": "x"}}, "references": gold}]
    page = open_report(as_html(evaluate([Input(log)], None, Settings(variant="anls_star"))))
    assert page.locator("#list .answer .brief").inner_text() == "b.c: 2 for 1"
    assert page.locator("#list .answer small").inner_text() == "1 wrong"
    page.locator("#list tr.row").click()
    assert page.locator(".given > .tree > li .path").all_inner_texts() == ["b.c"]
    assert page.locator(".given details .tree").first.is_hidden()
    page.get_by_text("all values").click()
    assert page.locator(".given details .path").all_inner_texts() == ["a", "b", "c", "d"]


def test_reason_of_a_suspected_label_is_said(open_report: OpenReport) -> None:
    page = open_report(SUSPECTS, url="#q-1")
    assert '8 models give the same answer, "2", and it is not a reference.' in page.locator(".opened").inner_text()
    alone = open_report({"one": [("4", ["four"]), ("tea", ["tea"])]}, url="#q-0")
    assert '"4" has the value of a reference, written differently.' in alone.locator(".opened").inner_text()


def test_map_has_a_square_for_each_question_and_a_block_lists_its_document(open_report: OpenReport) -> None:
    lost = [("", pair[1]) if number < 8 else pair for number, pair in enumerate(TWO["first"])]
    page = open_report({"good": TWO["first"], "lost": lost}, PAGES)
    assert page.locator(".map .block").count() == 30
    assert page.locator(".map .block i").count() == 120
    counts = {text.split()[1]: int(text.split()[0]) for text in page.locator("#map .key").all_inner_texts()}
    changed = sum(ours != own for (ours, _), (own, _) in zip(TWO["first"], lost))
    assert sum(counts.values()) == 120
    assert counts["lost"] <= changed
    first = page.locator(".map .block").first  # what was lost comes first
    assert re.fullmatch(r"ab\d_\d\.png: 4 of 4 lost, −\d\.\d points", first.get_attribute("aria-label") or "")
    assert page.locator("#map .whole button").first.inner_text() == first.get_attribute("aria-label")
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert read_status(page) == "4 of 120 questions"
    assert read_query(page)["group"][0].startswith("image:a/ab0_")
    alone = open_report({"one": lost}, PAGES)
    kinds = {text.split()[1] for text in alone.locator("#map .key").all_inner_texts()}
    assert {"right", "empty"} <= kinds <= {"right", "close", "wrong", "empty"}


def test_map_of_many_questions_draws_the_documents_that_differ_most(open_report: OpenReport) -> None:
    pairs = make_answers(6000, 0.9)
    other = [("", pair[1]) if number % 30 == 0 else pair for number, pair in enumerate(pairs)]
    page = open_report({"good": pairs, "other": other}, [{"doc": f"d{number // 6}"} for number in range(6000)])
    assert page.locator(".map .block i").count() <= 5000
    counts = [int(text.split()[0].replace(",", "")) for text in page.locator("#map .key").all_inner_texts()]
    assert sum(counts) == 6000
    drawn = page.locator(".map .lost").count() + page.locator(".map .won").count()
    assert drawn == sum(ours != own for ours, own in zip(pairs, other) if ours[0].lower() in map(str.lower, ours[1]))


def test_small_parts_get_more_digits_and_forced_colors_keep_the_map(open_report: OpenReport) -> None:
    pairs = make_answers(6000, 1.0)
    other = [("", pair[1]) if number in (3, 400) else pair for number, pair in enumerate(pairs)]
    page = open_report({"good": pairs, "other": other})
    assert page.locator("#causes .points").all_inner_texts() == ["−0.03"]
    page.emulate_media(forced_colors="active")
    colors = page.locator(".map .block i").evaluate_all(
        "all => all.map(each => getComputedStyle(each).backgroundColor)"
    )
    assert len({*colors}) > 1


def test_three_questions_stand_for_the_causes_and_open(open_report: OpenReport) -> None:
    answers = [("", ["tea"])] * 9 + [("4", ["four"])] * 2 + [("It is tea.", ["tea"])] * 4 + [("tea", ["tea"])] * 5
    right = [(accepted[0], accepted) for _, accepted in answers]
    page = open_report({"right": right, "poor": answers})
    cases = page.locator(".case")
    assert cases.locator(".tag").all_inner_texts() == ["empty, 8 like it", *cases.locator(".tag").all_inner_texts()[1:]]
    strict = cases.last.inner_text()
    assert "another form, 1 like it" in strict
    assert "The metric is too strict here" in strict
    assert cases.last.locator("del").inner_text() == "4"
    assert cases.last.locator("ins").inner_text() == "four"
    cases.last.locator("a").click()
    assert read_open(page) == "9"
    assert open_report({"one": right}).locator(".case").count() == 0


def test_each_run_is_a_dot_with_its_score_and_stands_in_the_details(open_report: OpenReport) -> None:
    texts = [pair[0] for pair in TWO["first"]]
    runs = {name: [*texts, *["x"] * count, *texts[count:]] for name, count in {"a": 3, "b": 40}.items()}
    scored = [score_pairs(TWO["first"], name=name, runs=own) for name, own in runs.items()]
    page = open_report(as_html(conclude(scored)))
    row = page.locator(".forest tbody tr").last
    titles = row.locator(".run title").evaluate_all("all => all.map(each => each.textContent)")
    assert titles == [f"run {n}: {100 * score:.1f}" for n, score in enumerate(scored[1].run_scores, 1)]
    assert page.locator(".key", has_text="a run").count() == 1
    page.locator("#details summary").click()
    numbers = ", ".join(f"{100 * score:.1f}" for score in scored[1].run_scores)
    assert numbers in page.locator("#details").inner_text()


def test_interval_that_decides_is_drawn_around_the_plain_one(open_report: OpenReport) -> None:
    page = open_report(SIX)
    for row in page.locator(".forest tbody tr:has(.alone)").all():
        widths = [row.locator(f".reach.{name}").bounding_box() for name in ("decides", "alone")]
        assert widths[0]["width"] >= widths[1]["width"]
    pairs = read_data(page.content())["document"]["comparisons"]
    for pair in pairs:
        is_open = pair["deciding_interval"][0] <= 0 <= pair["deciding_interval"][1]
        row = page.locator(".forest tbody tr", has=page.locator(f"th:text-is('{pair['second']}')"))
        assert (row.locator("circle.open").count() == 1) == is_open or row.locator("path.dot").count() == 1


def test_variants_that_reverse_the_order_are_marked(open_report: OpenReport) -> None:
    lower, upper = [("coca cola", ["Coca Cola"])] * 40, [*[("Coca Cola", ["Coca Cola"])] * 38, ("x", ["Coca Cola"])] * 2
    page = open_report({"lower": lower, "upper": upper[:40]})
    reversed_by = read_data(page.content())["reversed_by"]
    page.locator("#details summary").click()
    marked = page.locator("#details tr", has_text="◂ upper leads")
    assert marked.count() == len(reversed_by) > 0


def test_answers_of_nine_submissions_fit_on_a_screen(open_report: OpenReport) -> None:
    texts = ["tea", "the tea", "a cup of tea", "coffee", "", "TEA", "teas", "green tea", "It is said to be tea. " * 90]
    long = [f"It is {number} cups of tea, {text}. " * 30 for number, text in enumerate(texts)]
    for answers in (texts, long):
        named = {f"model_{n}": [(text, ["tea"])] * 3 for n, text in enumerate(answers)}
        page = open_report(named, PAGES[:3], url="#q-q1")
        assert page.locator(".answers tr").count() == 9
        assert page.locator("#list tr.detail").bounding_box()["height"] <= 500
    cut = page.locator(".given > .text").nth(3)
    assert cut.bounding_box()["height"] < 40
    cut.click()
    assert cut.bounding_box()["height"] > 100  # a clicked answer is whole, and stays so
    page.locator(".answers tr").last.get_by_role("button", name="accept this answer").click()
    assert page.locator(".answers tr").last.locator("[aria-pressed=true]").count() == 1


def test_url_of_a_filtered_question_clears_filters(open_report: OpenReport) -> None:
    page = open_report(TWO, url="#q-99?search=99")
    page.get_by_role("button", name="Clear filters").click()
    assert page.evaluate("document.activeElement.dataset.row") == "99"
    page.get_by_role("searchbox").fill("no such words")
    open_question(page, "7")
    assert page.get_by_role("searchbox").input_value() == ""


def test_long_texts_show_few_edits_and_a_sentence_in_place_of_many(open_report: OpenReport) -> None:
    texts = ["".join(random.Random(seed).choices("abcdefgh", k=7_500)) for seed in (1, 2)]
    text = "  ".join(texts)
    changed = text[:7000] + "X" + text[7000:], [text[:7500] + text[7501:9000] + text[9005:]]
    page = open_report({"one": [changed, (texts[0], [texts[1]])]}, url="#q-0")
    assert page.locator(".opened .edits ins:not(.free), .opened .edits del:not(.free)").all_inner_texts()[0] == "X"
    assert page.locator(".opened .edits .free").all_inner_texts() == ["␣␣", "␣"]
    assert "equal characters" in page.locator(".opened .edits .gap").first.inner_text()
    assert len(page.locator(".opened .edits").inner_text()) < 1000
    open_question(page, "1")
    page.get_by_text("There are too many edits to show.").wait_for()


def test_hostile_texts_are_shown_as_text(open_report: OpenReport) -> None:
    answers = [(HOSTILE, [HOSTILE + "x", "y"]), ("a", ["a"]), (HOSTILE, ["q"])]
    records = [{"id": HOSTILE, "question": HOSTILE, "kind": HOSTILE}, *({"id": key, "kind": "x"} for key in "12")]
    page = open_report({HOSTILE: answers, "other": answers}, records, hints=[HOSTILE], gold=HOSTILE)
    page.locator("#list tr.row").first.click()
    assert page.locator(".opened script, .opened img, #list script").count() == 0
    assert "<script>window.ran = 1</script>" in page.locator(".opened").inner_text()
    signs = page.locator(".opened .sign").evaluate_all("all => all.map(sign => sign.dataset.name)")
    assert {"U+202E", "U+0000", "U+200B", "U+D800"} <= set(signs)
    page.locator(".opened .sign").first.evaluate("sign => getSelection().selectAllChildren(sign.parentElement)")
    assert "U+" not in page.evaluate("getSelection().toString()")  # a copy has the characters, not their names


def test_arabic_text_runs_from_the_right(open_report: OpenReport) -> None:
    question = {"id": "7", "question": "المبلغ"}
    page = open_report({"one": [("المبلغ ١٢", ["المبلغ ٣٤"])]}, [question], url="#q-7")
    assert page.locator("#list tr.open .brief").first.get_attribute("dir") == "auto"
    lefts = [page.locator(f".opened .edits {tag}").first.bounding_box()["x"] for tag in ("del", "ins")]
    assert lefts[0] > lefts[1]


def test_page_of_a_question_is_beside_it_and_opens_in_its_own_size(open_report: OpenReport, tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image").new("RGB", (600, 800)).save(tmp_path / "page.png")
    images, records = Images(str(tmp_path)), [{"image": "page.png"}, {"image": "other.png"}]
    page = open_report({"one": make_answers(2, 0)}, records, images=images, url="#q-0")
    picture = page.get_by_role("img", name="The page of the question: page.png")
    assert picture.evaluate("image => image.naturalWidth") == 600
    sides = [page.locator(place).bounding_box() for place in (".picture", ".answers")]
    assert sides[0]["x"] + sides[0]["width"] < sides[1]["x"]
    page.get_by_role("button", name="Enlarge the page").click()
    assert page.locator("dialog img").bounding_box()["width"] == 600
    tops = [page.locator(place).bounding_box()["y"] for place in ("dialog", ".picture")]
    assert abs(tops[0] - tops[1]) < 60  # where the reader clicked
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.locator("#list tr.open").count() == 1
    open_question(page, "1")
    page.get_by_text("The page other.png is not in this report: not found.").wait_for()


def test_url_holds_the_whole_view_and_gives_it_back(open_report: OpenReport) -> None:
    page = open_report(SIX, KINDS)
    page.get_by_label("model", exact=True).select_option(label="e")
    page.get_by_label("minus", exact=True).select_option(label="c")
    page.get_by_role("searchbox").fill("question")
    find_chip(page, "losses").click()
    page.locator("#list thead button", has_text="difference").click()
    page.locator("#list tr.row a").nth(2).click()
    parts = [page.url, read_status(page), list_ids(page), read_open(page)]
    page.reload()
    assert [page.url, read_status(page), list_ids(page), read_open(page)] == parts
    assert page.get_by_role("searchbox").input_value() == "question"
    assert page.locator('#list th[aria-sort="descending"]').inner_text() == "difference"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    link = f"{urllib.parse.unquote(page.url.partition('#')[0].rpartition('/')[2])}#{page.url.partition('#')[2]}"
    page.locator("#copy-view").click()
    page.locator("#copy-view", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == link  # no folder of whoever copies it
    page.locator("[data-key='copy question']").click()
    page.locator("[data-key='copy question']", has_text="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0].startswith("references: answer of question ")
    assert copied[1].startswith("e (")
    assert copied[2].startswith("c (")
    assert copied[-1] == link


def test_back_and_forward_return_to_views(open_report: OpenReport) -> None:
    page = open_report(TWO)
    find_chip(page, "losses").click()
    page.locator("#list tr.row a").first.click()
    page.go_back()
    page.locator("#list tr.open").wait_for(state="detached")
    page.go_back()
    page.get_by_text("120 questions", exact=True).last.wait_for()
    page.go_forward()
    assert read_status(page) == "48 of 120 questions"


def test_unknown_url_is_named(open_report: OpenReport) -> None:
    unknown = {
        "#q-404": "has no question “404”",
        "#?first=nobody": "unknown setting: “first=nobody”",
        "#q-7?outcome=odd": "“outcome=odd”",
        "#?lost=odd": "“lost=odd”",
        '#?confusion=["a","b"]': "“confusion=",
        "#q-%ff": "has no question “\ufffd”",
    }
    page = open_report(TWO)
    for url, words in unknown.items():
        page.evaluate("url => { location.hash = url }", url)
        page.get_by_role("alert").filter(has_text=words).wait_for()
        find_chip(page, "losses").click()
        assert not page.get_by_role("alert").is_visible()


def test_report_in_a_frame_tells_its_view_to_the_page_around_it(browser: Any) -> None:
    page = browser.new_page()
    page.evaluate("""() => { window.views = []; addEventListener('message', event => {
        if (event.data.type === 'anls-report-state') views.push(event.data.hash)
    }) }""")
    put = """([hash, report]) => {
        const frame = document.createElement("iframe");
        Object.assign(frame, {name: JSON.stringify({hash}), sandbox: "allow-scripts allow-downloads", srcdoc: report});
        document.body.replaceChildren(frame);
    }"""
    page.evaluate(put, ["", build_report(TWO)])
    frame = page.frame_locator("iframe")
    frame.locator("#changes button", has_text="losses").click()
    page.wait_for_function("views.length === 1")
    assert page.evaluate("views") == ["#?change=losses"]
    page.evaluate(put, ["#q-7?change=losses", build_report(TWO)])
    frame.locator("#list tr.open").wait_for()
    assert frame.locator(".chips button[aria-pressed=true]").inner_text().startswith("losses")
    page.close()


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
    group = page.get_by_role("group", name="Mark", exact=True)
    for _ in range(3):
        group.get_by_role("button", name="model wrong").click()
    group.get_by_role("textbox", name="Accept").fill("the correct answer")
    group.get_by_role("textbox", name="Note").fill("see the title")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Next question").click()
    group.get_by_role("button", name="leave out").click()
    second = read_open(page)
    reopen_until(page, group.get_by_role("button", name="leave out", pressed=True))
    find_chip(page, "model wrong").click()
    assert (read_status(page), list_ids(page)) == ("1 of 120 questions", ["7"])
    assert json.loads(download(page, "Export marks", tmp_path / "marks.json")) == [
        {"questionId": "7", "mark": "model wrong", "accept": ["the correct answer"], "note": "see the title"},
        {"questionId": second, "mark": "", "exclude": True},
    ]
    assert "--corrections marks.json" in page.locator("#said").inner_text()
    assert page.locator("#more").is_hidden()
    corrections = read_corrections(str(tmp_path / "marks.json")).by_id
    assert corrections == {"7": ("the correct answer",), second: None}


@pytest.mark.parametrize("most_bytes", [32_000_000, 9_000])
def test_what_marks_change_is_what_the_command_then_gives(
    open_report: OpenReport, tmp_path: Path, most_bytes: int
) -> None:
    named = {"first": make_answers(120, 0.8), "second": make_answers(120, 0.5), "third": make_answers(120, 0.3)}
    files = []
    for name, pairs in named.items():
        rows = [{"id": n, "prediction": text, "answers": gold} for n, (text, gold) in enumerate(pairs)]
        if name == "third":  # two runs
            rows += [{**row, "prediction": f"{row['prediction']}s"} for row in rows]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
        files.append(Input(str(tmp_path / f"{name}.json"), name))
    settings = Settings(runs="question")
    page = open_report(as_html(evaluate(files, None, settings), most_bytes=most_bytes), url="#?first=second")
    keys = ["1", "2", "2", "1", "2", "3", "2"]
    for key in keys:
        page.keyboard.press("j")
        page.keyboard.press(key)
    effect = page.locator("#effect")
    assert effect.inner_text().startswith("Your 7 marks would change ")
    shown = [float(each) for each in effect.locator("data").evaluate_all("all => all.map(each => each.value)")]
    download(page, "Export marks", tmp_path / "marks.json")
    again = evaluate(files, None, replace(settings, corrections=str(tmp_path / "marks.json")))
    before = {each.name: each.anls for each in evaluate(files, None, settings).submissions}
    after = {each.name: each.anls for each in again.submissions}
    order = sorted(before, key=lambda name: -before[name])
    assert shown == [after[name] for name in order if after[name] != before[name]]
    assert len(shown) >= 2


def test_marks_without_an_effect_say_what_has_one(open_report: OpenReport) -> None:
    page = open_report(TWO, url="#q-7")
    page.keyboard.press("3")
    words = "Your 1 mark change no score: leave a question out, or accept an answer."
    assert page.locator("#effect").inner_text() == words
    page.get_by_role("textbox", name="Accept").fill("never given")
    page.keyboard.press("Enter")
    assert page.locator("#effect").inner_text().endswith("What you typed counts once you score again.")


def test_export_without_marks_says_so_in_sight(open_report: OpenReport) -> None:
    page = open_report(TWO)
    page.on("download", lambda _: pytest.fail("there is nothing to download"))
    page.get_by_role("button", name="More", exact=True).click()
    page.locator("#more").get_by_role("button", name="Export marks").click()
    page.get_by_text("No question has a mark: open one and mark it.").wait_for()
    place = page.locator("#said").bounding_box()
    assert 0 <= place["y"] <= 901 - place["height"]


def test_imported_marks_do_not_replace_own_ones(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO, url="#q-7")
    page.keyboard.press("3")
    excluded = {"questionId": "9", "exclude": True, "note": "no page"}
    others = [{"questionId": "7", "mark": "unclear"}, {"questionId": 8, "accept": ["tea"]}, {"questionId": "404"}]
    import_marks(page, tmp_path / "other.json", [*others, excluded])
    page.get_by_text(
        "2 marks imported. Your own mark stays on 1 question. 1 mark skipped: no such question."
    ).wait_for()
    for name, ids in {"model wrong": ["7"], "accepts more": ["8"], "left out": ["9"]}.items():
        find_chip(page, name).click()
        assert list_ids(page) == ids
        find_chip(page, name).click()
    assert {**excluded, "mark": ""} in json.loads(download(page, "Export marks", tmp_path / "m.json"))
    import_marks(page, tmp_path / "odd.json", {})
    page.get_by_text("This isn't a file of marks").wait_for()


def test_answer_of_a_submission_is_accepted_without_typing(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(SUSPECTS, url="#q-0")
    names = [row.locator(".name").all_inner_texts() for row in page.locator(".answers tr").all()]
    assert names == [["i"], ["h"], [*"abcdefg"]]  # those with the same answer share a row
    box, buttons = (
        page.get_by_role("textbox", name="Accept"),
        page.get_by_role("button", name="accept this answer", exact=True),
    )
    assert buttons.count() == 1  # an answer that scores 1 and an empty answer have none
    box.fill("24 February")
    buttons.click()
    assert box.input_value() == "24 February | February 24, 1966"
    exported = json.loads(download(page, "Export marks", tmp_path / "m.json"))
    assert exported == [{"questionId": "0", "mark": "", "accept": ["24 February", "February 24, 1966"]}]
    find_chip(page, "suspected label errors").click()
    assert list_ids(page) == ["1", "0"]  # the question with the most submissions first


def test_marked_question_stays_in_the_list_until_a_key_leads_on(open_report: OpenReport, tmp_path: Path) -> None:
    page = open_report(TWO)
    import_marks(page, tmp_path / "m.json", [{"questionId": str(number), "mark": "unclear"} for number in (7, 8, 9)])
    find_chip(page, "unclear").click()
    order = list_ids(page)
    page.locator("#details summary").click()  # keys work from there, too
    for place in range(2):
        page.keyboard.press("j")
        assert (read_open(page), list_ids(page)) == (order[place], order[place:])
        page.keyboard.press("4")
        assert read_open(page) == order[place]
        assert read_status(page).startswith(find_chip(page, "unclear").inner_text().split()[1])
    page.keyboard.press("Escape")
    assert list_ids(page) == order[2:]
    assert page.evaluate("document.activeElement.id") == "count"


def test_answers_that_corrections_added_are_named(open_report: OpenReport, tmp_path: Path) -> None:
    path = tmp_path / "corrections.json"
    path.write_text(json.dumps([{"questionId": 1, "accept": ["tea", "Tee"]}]))
    data = [{"id": 1, "prediction": "tea", "answers": ["Tee"]}]
    page = open_report(as_html(evaluate([Input(data)], None, Settings(corrections=str(path)))), url="#q-1")
    shown = page.locator(".opened .line > .accepted li").all_inner_texts()
    assert shown == ["references", "Tee", "teaadded by correctionsclosest"]


def test_report_says_when_the_browser_cannot_keep_marks(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO).encode())
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('private') } })")
    page.goto((tmp_path / "report.html").as_uri() + "#q-7")
    page.get_by_role("button", name="unclear").click()
    assert "cannot store marks" in page.locator("#marks-place").inner_text()
    assert json.loads(download(page, "Export marks", tmp_path / "m.json"))[0]["mark"] == "unclear"
    page.close()


TRICKY = ["-12.5", "=1+1", '"quoted", and\ncut', "ümläut", "  spaces ", "", "[1, 2]", "x\r\ny", "@name", "\t7"]


def test_downloaded_csv_gives_the_same_scores_and_has_no_formulas(open_report: OpenReport, tmp_path: Path) -> None:
    answers = [(text, [text or "x", '["y"]']) for text in TRICKY]
    other = [(references[0].upper(), references) for _, references in answers]
    page = open_report({"one": answers, "two": other}, [{"image": "a_1.png"} for _ in answers])
    text = download(page, "CSV", tmp_path / "again.csv")
    assert text.startswith("\ufeff")
    sheet = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert {"-12.5", "'=1+1", "'@name", "'\t7", "ümläut"} <= {row["one"] for row in sheet}
    assert {row["document"] for row in sheet} == {"a_1.png"}
    again = evaluate([Input(str(tmp_path / "again.csv"))], None, Settings(prediction=("one", "two")))
    for scored, pairs in zip(again.submissions, (answers, other)):
        rows = zip(map(int, scored.questions.ids), scored.answers.predictions, scored.scores)
        for key, text, score in rows:
            prediction, references = pairs[key]
            assert (text, score) == (prediction, explain(prediction, references).score)


def test_copied_tables_are_those_of_the_screen(open_report: OpenReport) -> None:
    page = open_report(SIX)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for title, words in {"LaTeX": r"\begin{tabular}", "Markdown": "|---|", "CSV": "anls,"}.items():
        page.get_by_role("button", name="Copy table").click()
        button, menu = (page.locator(place).bounding_box() for place in ("#copy", "#copy-table"))
        assert menu["x"] <= button["x"] + button["width"] <= menu["x"] + menu["width"] + 1
        assert menu["y"] == pytest.approx(button["y"] + button["height"], abs=2)
        page.get_by_role("button", name=f"Copy as {title}").click()
        assert page.locator("#copy-table").is_hidden()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert words in copied
        scores = page.locator(".forest .anls b").all_inner_texts()
        assert all(score in copied for score in scores)
        page.get_by_role("button", name="Copy table").wait_for()


def test_print_has_the_worst_questions_or_the_filtered_list_whole(open_report: OpenReport) -> None:
    page = open_report(TWO, scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(list_ids(page)) == 20
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    find_chip(page, "same score").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(list_ids(page)) == 72
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    assert page.locator(".chips :visible:is(.said, .chip)").all_inner_texts() == [
        "second against first:",
        "same score 72",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(list_ids(page)) == 50
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf())) <= 12


LONG = "a-name-without-an-end-" * 5
WORDY = {
    name: [(f"It is {name}, as the page says. " * 90, ["tea"])] * 40 for name in ("one", "two", "six", "ten", "nine")
}


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
@pytest.mark.parametrize(
    "submissions",
    [{"one": [("a", ["a"])] * 40}, TWO, TWENTY, WORDY, {f"{LONG}{n}": make_answers(120, 0.5) for n in (1, 2)}],
    ids=["nothing wrong", "two", "twenty", "long answers", "long names"],
)
def test_report_passes_axe_and_fits(open_report: OpenReport, submissions: Any, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    count = len(next(iter(submissions.values())))
    records = [{"question": f"Who is {LONG * (number == 1)}{number}?", "kind": number % 2} for number in range(count)]
    hint = "9 predictions look like raw model output: extract the answers with --extract final,sentence,quotes,period"
    page = open_report(submissions, records, size, scheme, hints=[hint], url="#q-1")
    for summary in page.locator("main details:visible > summary").all():
        summary.click()
        for width in (2560, 1280, 1024, 800) if size == "desktop" else (320, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (summary.inner_text(), width)
    page.set_viewport_size(SIZES[size])
    page.locator("#filters button").first.click()  # a pressed filter has other colors
    violations = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
    assert [(violation["id"], violation["nodes"][0]["html"][:160]) for violation in serious] == []


def test_tables_of_the_details_break_no_words_on_a_phone(open_report: OpenReport) -> None:
    page = open_report(TWENTY, size="phone")
    page.locator("#details summary").click()
    heights = page.locator("#details .numbers tbody tr").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert max(heights) < 100  # a few lines


def test_list_on_a_phone_is_as_wide_as_the_page_and_names_are_whole(open_report: OpenReport) -> None:
    page = open_report(TWO, size="phone")
    for place in (".of-question", ".of-difference"):
        assert page.locator(f"td{place}").first.bounding_box()["width"] > 350
    heights = page.locator(".who").evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")
    assert max(heights) < 25


def test_names_with_hyphens_are_not_broken_and_signs_of_zero_are_not_shown(open_report: OpenReport) -> None:
    names = "InternVL3-78B-Instruct", "Qwen2.5-VL-72B-Instruct-AWQ"
    page = open_report(dict.fromkeys(names, TWO["first"]))
    rows = page.locator(".name:visible").evaluate_all("all => all.map(each => [each.textContent, each.offsetHeight])")
    assert {text for text, _ in rows} == set(names)
    assert max(height for _, height in rows) < 32
    heading = page.locator("#heading").inner_text()
    assert all(name.replace("-", "-\u2060") in heading for name in names)  # no line ends after a word joiner
    page.locator("#details summary").click()
    details = page.locator("#details").inner_text()
    assert re.search(r"\b0\.0\b", details)
    assert not re.search(r"[-−+]0\.0\b", details)


def test_few_tab_stops_lead_to_the_search(open_report: OpenReport) -> None:
    page = open_report(TWENTY, PAGES, url="#?change=losses")
    focused: list[str] = []
    while "search" not in focused:
        page.keyboard.press("Tab")
        focused.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert (focused[0], len(focused) <= 32) == ("skip", True)
    page.locator(".skip").press("Enter")
    assert page.evaluate("document.activeElement.id") == "questions"
    assert page.url.endswith("#?change=losses")


def test_benchmark_times_opening_and_searching(browser: Any, tmp_path: Path) -> None:
    module = import_module("report")
    path = tmp_path / module.FILE
    path.write_text(build_report({"one": make_answers(12, 0.5)}), encoding="utf-8", newline="")
    assert min(module.open_and_search(browser, path)) > 0


def test_names_of_models_and_groups_are_no_properties_of_objects(open_report: OpenReport) -> None:
    names = ["constructor", "__proto__", "toString"]
    pairs = dict(zip(names, (TWO["first"], TWO["second"], TWO["first"])))
    page = open_report(pairs, [{"image": names[number % 3]} for number in range(120)])
    assert page.locator("#list tr.row").count() > 0
    assert {row.inner_text() for row in page.locator(".forest .name").all()} == set(names)
