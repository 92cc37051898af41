"""The report, opened from the disk in a real browser without a network."""

from __future__ import annotations

import csv
import io
import json
import random
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from anls_metric import VARIANTS, command_line, explain
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.join import Row
from anls_metric.report.html import as_html
from tests.conftest import benchmark, fuzzed_rows
from tests.report.sample_reports import HOSTILE, build_report, make_answers
from tests.report.test_html import save_image

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

OpenReport = Callable[..., Any]

TWO = {"first": make_answers(120, 0.9), "second": make_answers(120, 0.5)}
SIX = {name: make_answers(120, share) for name, share in zip("abcdef", (0.9, 0.8, 0.7, 0.5, 0.3, 0.0))}


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[OpenReport]:
    """Write a report and open it. At the end, check that it loaded nothing from elsewhere and had no errors."""
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
        page.close()
    assert foreign_urls == []
    assert errors == []


def list_ids(page: Any) -> list[str]:
    texts: list[str] = page.locator("#list tr.row td:first-child a").all_inner_texts()
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
    assert page.get_by_role("status").inner_text() == "1 of 120 questions"
    page.get_by_role("searchbox").fill("no such words")
    assert list_ids(page) == []
    page.get_by_role("searchbox").fill("q11")
    assert sorted(list_ids(page)) == ["q11", *(f"q11{digit}" for digit in range(10))]
    page.get_by_role("searchbox").fill("of question 99")
    assert list_ids(page) == ["q99"]
    page.get_by_role("button", name="Clear filters").click()
    assert page.get_by_role("status").inner_text() == "120 questions"


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
    assert all(text.startswith("-") for text in page.locator("#list tr.row td:nth-child(5)").all_inner_texts())
    find_chip(page, "better").click()
    assert list_ids(page) == []


def test_count_or_group_in_the_summary_filters_the_questions(open_report: OpenReport) -> None:
    page = open_report(SIX, [{"kind": "ab"[number % 2]} for number in range(120)])
    count = page.locator(".counts tr", has_text="contains an answer").get_by_role("button").last
    number = int(count.inner_text())
    count.click()
    assert page.get_by_role("status").inner_text() == f"{number} of 120 questions"
    assert page.get_by_label("answers of").input_value() == "5"
    page.get_by_role("button", name="b", exact=True).first.click()
    assert page.get_by_role("status").inner_text() == "60 of 120 questions"
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


def test_address_of_a_filtered_question_clears_filters_and_a_broken_one_is_ignored(open_report: OpenReport) -> None:
    page = open_report(TWO, address="#q-%ff")
    assert page.locator("#list tr.open").count() == 0
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
    for _ in range(50):  # j goes on over the border of a page
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
    assert page.locator(".accepted li").all_inner_texts() == ["accepted", "x", "Coca Cola"]
    assert page.locator(".edits").get_attribute("data-edits") == "0"
    assert page.locator(".edits .free").count() > 0


def test_edits_in_the_browser_are_as_many_as_the_distance(open_report: OpenReport) -> None:
    """The browser finds the edits in the raw texts. Edits that the variant ignores are not counted."""
    rows = [
        (prediction.replace("ß", "s"), [text.replace("ß", "s") for text in references])
        for prediction, references in fuzzed_rows(25, 5)
    ]
    rows = [row for row in rows if row[0].lower() == row[0].lower().strip("İ") and row[0]]
    for variant in ("standard", "stvqa", "nls"):
        page = open_report({"one": rows}, variant=variant)
        for number, (prediction, references) in enumerate(rows):
            best = explain(prediction, references, variant=variant).best
            page.evaluate(f"location.hash = '#q-{number}'")
            page.locator(f"#list tr.open a[href='#q-{number}']").first.wait_for()
            edits = page.locator(".edits")
            shown = int(edits.get_attribute("data-edits")) if edits.count() else 0
            if all(len(text.lower()) == len(text) for text in (prediction, best.reference)):
                assert shown == best.distance, (variant, prediction, best.reference)


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
    page = open_report({"one": [("ab" * 9000, ["ba" * 8000 + "c"])]}, address="#q-0")
    assert "18,000 characters against 16,001: too long" in page.locator(".opened").inner_text()


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


# Look


def test_summary_needs_no_script(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(build_report(TWO).encode())
    context = browser.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    for text in ("2 submissions", "Which is better", "What goes wrong", "The questions need JavaScript"):
        assert page.get_by_text(text).first.is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    context.close()


def test_print_shows_the_summary_without_the_questions(open_report: OpenReport) -> None:
    page = open_report(TWO, scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator(".questions").is_visible()
    assert page.get_by_text("Which is better").is_visible()
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
    page.locator("details summary").click()
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


# The benchmark


def test_benchmark_times_opening_and_searching(browser: Any, tmp_path: Path) -> None:
    module = benchmark("report")
    path = tmp_path / module.FILE
    path.write_text(build_report({"one": make_answers(12, 0.5)}), encoding="utf-8", newline="")
    assert min(module.open_and_search(browser, path)) > 0
