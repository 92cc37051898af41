"""The Space, used as a person would in a real browser without a network, and as a program would."""

from __future__ import annotations

import asyncio
import base64
import csv
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")
pytest.importorskip("scipy", reason="the page needs scipy for its intervals")

import anls
from anls_metric import page as space
from anls_metric import review

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"
SCRIPT = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>${window.ran = 1}{{x}}"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the page, run as a Space is, and the folder that gradio keeps uploads in."""
    folder = tmp_path_factory.mktemp("space") / "app"
    folder.mkdir()
    for name in ("anls.py", "app.py"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "anls_metric", folder / "anls_metric", ignore=shutil.ignore_patterns("__pycache__"))
    uploads, private = folder.parent / "uploads", folder.parent / "private"
    private.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_TEMP_DIR": str(uploads),
        "TMPDIR": str(private),
        "HF_HUB_OFFLINE": "1",
    }
    log = open(folder.parent / "log", "w")  # noqa: SIM115, closed below
    process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(240):
            assert process.poll() is None, (folder.parent / "log").read_text()
            try:
                urllib.request.urlopen(address, timeout=5).read()
                break
            except OSError:
                time.sleep(0.25)
        yield address, uploads
    finally:
        process.terminate()
        process.wait(20)
        log.close()
    assert "Traceback" not in (folder.parent / "log").read_text()
    assert not any(path.is_file() for path in private.rglob("*"))  # what was uploaded went with the server


@pytest.fixture(scope="module")
def address(served: tuple[str, Path]) -> str:
    return served[0]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    options = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
    closed = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    flags = [f"--{option}" for option in [*options.split(), "disable-sync"]]
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=[*flags, closed])
        yield chromium
        chromium.close()


class Visit:
    """One user's page, and what went on in it."""

    def __init__(self, browser: Any, address: str, size: str = "desktop", scheme: str = "light") -> None:
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.address = address
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.elsewhere.append(url)

    def open(self, query: str = "") -> Visit:
        self.page.goto(self.address + query)
        self.page.wait_for_function("window.settled")
        return self

    def see(self, selector: str, text: str = "") -> Any:
        found = self.page.locator(selector, has_text=text) if text else self.page.locator(selector)
        found.first.wait_for(state="visible")
        return found.first

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def field(self, name: str) -> Any:
        return self.page.locator(f"#{name} textarea, #{name} input").first

    def drop(self, *paths: Path | str) -> None:
        """Drop files into the places for gold, submission and second submission."""
        for place, path in zip(("gold", "submission", "second"), paths):
            if path:
                self.page.locator(f"#{place} input[type=file]").set_input_files(path)
                self.see(f"#{place} button[aria-label=Clear]")


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Any]:
    """Open pages of different users; afterwards none has asked anything of another machine, or failed."""
    visits: list[Visit] = []

    def opened(query: str = "", size: str = "desktop", scheme: str = "light") -> Visit:
        visits.append(Visit(browser, address, size, scheme))
        return visits[-1].open(query)

    yield opened
    for one in visits:
        assert one.elsewhere == []
        assert one.errors == []
        assert one.page.evaluate("window.ran") is None
        one.context.close()


# One answer


@pytest.mark.parametrize("size", SIZES)
def test_the_score_follows_what_is_typed(visit: Any, size: str) -> None:
    user = visit(size=size)
    user.field("prediction").fill("The Coca")
    user.see("#answer .why", "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0.")
    user.field("prediction").press_sequentially(" Cola")
    user.see("#answer .score", "0.6923")
    user.field("answers").fill("The Coca Cola\nPepsi")
    user.see("#answer .why", "Equal to an accepted answer, so 1.")
    assert user.page.locator("#answer tbody tr").count() == 2
    assert user.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]


def test_edits_and_variants_are_shown(visit: Any) -> None:
    user = visit()
    user.field("prediction").fill("xoca  cola")
    user.see("#answer .edits .replace")
    user.field("prediction").fill("ab")
    user.field("answers").fill("abcd")
    user.see("#answer .score", "0.5")
    assert user.page.locator("#variants tbody tr").count() == len(anls.VARIANTS)
    user.see("#variants tr:has-text('pypi_anls') .differs")
    disagreeing = sum(anls.anls_score("ab", ["abcd"], variant=name) != 0.5 for name in anls.VARIANTS)
    user.see("#variants .said", f"{disagreeing} of 14 disagree with 0.5")
    assert user.page.locator("#variants .differs").count() == disagreeing


def test_examples_are_there_to_click(visit: Any) -> None:
    user = visit()
    scores = {"TALKINGHEADS": "0.9231", "Exactly 0.5": "0.5", "White space": "0.6154", "Empty": "0"}
    for name, score in {**scores, "Coca Cola": "0.8889"}.items():
        user.page.get_by_role("button", name=name, exact=True).click()
        user.page.wait_for_function(
            "score => document.querySelector('#answer .score b')?.textContent === score", arg=score
        )


def test_settings_change_the_score_and_the_address(visit: Any) -> None:
    user = visit()
    user.page.locator("#threshold input[type=number]").fill("0.9")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#answer .why", "similarity 0.8889 is under 0.9, so 0.")
    user.see("#answer code", "anls|standard|threshold:0.9")
    user.page.locator("#variant input").click()
    user.page.get_by_role("option", name="due:").click()
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


def test_a_link_has_the_settings_and_an_answer_where_one_asks_for_it(visit: Any) -> None:
    user = visit("?variant=rrc&threshold=0.7&case=counts")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")
    user.field("prediction").fill("ç & Cola")
    user.page.get_by_role("button", name="Copy a link").click()
    user.page.wait_for_function("location.search.includes('prediction')")
    other = visit(user.page.url.partition("/?")[2].join(["?", ""]))
    assert other.field("prediction").input_value() == "ç & Cola"
    other.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.7")


def test_passing_through_the_variant_changes_nothing(visit: Any) -> None:
    user = visit("?variant=rrc&threshold=0.8&case=counts")
    user.page.locator("#variant input").focus()
    user.page.keyboard.press("Tab")
    user.page.keyboard.press("Shift+Tab")
    user.page.keyboard.press("Escape")
    user.field("prediction").fill("Coca Col")
    user.see("#answer .why", "1 edit on 9 characters")
    user.see("#answer code", "anls|rrc|ignore_case:False|threshold:0.8")


def test_the_address_has_the_answer_that_is_shown_or_none(visit: Any) -> None:
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


@pytest.mark.parametrize("query", ["?variant=none", "?threshold=7"])
def test_a_wrong_link_is_told_and_not_followed(visit: Any, query: str) -> None:
    user = visit(query)
    user.see(".toast-body", "The settings of the link are not used")
    user.see("#answer code", "anls|standard|threshold:0.5")


def test_text_with_script_is_text(visit: Any) -> None:
    user = visit()
    user.field("prediction").fill(SCRIPT)
    user.field("answers").fill(SCRIPT + "\n" + SCRIPT.upper())
    user.see("#answer q", "<script>window.ran = 1</script>")
    assert user.page.locator("#answer script, #answer img").count() == 0
    user.see("#answer q", "${window.ran = 1}{{x}}")


def test_empty_fields_are_no_mistake(visit: Any) -> None:
    user = visit()
    user.field("answers").fill("")
    user.see("#answer", "Write an accepted answer")
    user.field("answers").fill("a")
    user.field("prediction").fill("")
    user.see("#answer .why", "The prediction is empty, so 0.")


def test_the_keyboard_is_enough(visit: Any) -> None:
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


# A file


def test_two_files_are_scored(visit: Any, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(GOLD)
    user.see("#summary", "Drop a submission to gold_label.json")
    user.drop("", SUBMISSION)
    user.see("#summary .score", "0.6273")
    user.see("#summary .why", "6 questions. 2 score 0 (1 under the threshold, 1 empty).")
    user.see("#summary", "95 % interval")
    user.see("#summary code", "anls|standard|threshold:0.5")
    user.see("#histogram .mark", "0.5")
    assert user.page.locator("#worst article").count() == 6
    user.see("#worst article", "The prediction is empty, so 0.")
    user.page.locator("#words textarea, #words input").fill("SIGN")
    user.see("#worst .said", "2 of 2 answers")
    user.page.locator("#words textarea, #words input").fill("")
    user.page.locator("#zero input").click()
    user.page.get_by_role("option", name="empty").click()
    user.see("#worst .said", "1 of 1 answers")
    user.see("#every-variant tr", "mistral_evals")
    user.page.locator("#field input").click()
    user.page.get_by_role("option", name="evidence").click()
    user.see("#groups tr", "Table/list")
    for kind in ("CSV", "JSON"):
        with user.page.expect_download() as download:
            user.page.get_by_role("button", name=f"Download {kind}").click()
        written = Path(download.value.path()).read_text(encoding="utf-8")
        if kind == "JSON":
            assert [round(row["score"], 4) for row in json.loads(written)["answers"]] == [0.8889, 0, 1, 0.875, 1, 0]
        else:
            rows = list(csv.DictReader(io.StringIO(written)))
            assert [row["zero"] for row in rows] == ["", "under the threshold", "", "", "", "empty"]
    user.page.locator("#threshold input[type=number]").fill("0.88")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.88")
    assert "Coca" not in user.page.url


def test_a_second_submission_is_compared(visit: Any, tmp_path: Path) -> None:
    better = [{"questionId": record["questionId"], "answer": record["answers"][0]} for record in gold_records()]
    second = tmp_path / "better one.json"
    second.write_text(json.dumps(better))
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION, second)
    user.see("#comparison", "Difference +0.3727")
    user.see("#comparison", "p = ")
    user.see("#comparison .pair", "Which company made the sign?")
    assert user.page.locator("#comparison .pair").count() == 4


def gold_records() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(GOLD.read_text())["data"]
    return records


def test_made_up_files_are_there_to_try(visit: Any) -> None:
    user = visit("?tab=file", size="phone")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")
    user.see("#comparison", "p = ")
    user.see("#groups tr", "shop")
    assert user.page.evaluate("document.documentElement.scrollWidth") <= 390
    user.page.locator("#second button[aria-label=Clear]").click()  # they stand where one's own would
    user.page.locator("#comparison .pair").first.wait_for(state="detached")
    user.page.locator("#submission button[aria-label=Clear]").click()
    user.page.locator("#gold button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_is_scored_by_the_columns_one_picks(visit: Any, tmp_path: Path, kind: str) -> None:
    rows = [
        {"kind": "name", "one": "CocaCola", "other": "Coca Cola", "truth": '["Coca Cola", "Coca Cola Company"]'},
        {"kind": "date", "one": "12/15/89", "other": "", "truth": '["12/15/88"]'},
    ]
    table = tmp_path / f"the table.{kind}"
    if kind == "csv":
        with open(table, "w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif kind == "jsonl":
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), table)
    user = visit("?tab=file")
    user.drop(table)
    for label, column in {"Column of predictions": "one", "Column of accepted answers": "truth"}.items():
        user.page.get_by_label(label, exact=True).click()
        user.page.get_by_role("option", name=column, exact=True).last.click()
    user.see("#summary .score", "0.8819")
    user.page.get_by_label("Second column of predictions").click()
    user.page.get_by_role("option", name="other", exact=True).click()
    user.see("#comparison", "Difference -0.3819")


WRONG_FILES: list[tuple[bytes, bytes, str]] = [
    (b"", b"[]", "gold 0.json: the file is empty"),
    (b"\xff\xfe\x00", b"[]", "is not UTF-8: save the file as UTF-8"),
    (b"{", b"[]", "not JSON"),
    (b"PK\x03\x04\xff", b"[]", "is not UTF-8"),
    (GOLD.read_bytes(), b'[{"questionId": 99, "answer": "x"}]', "write the same ids in both"),
    (
        GOLD.read_bytes(),
        b'[{"questionId": 1, "answer": "x"}]',
        "add them, or count them as 0 with the switch for unanswered questions",
    ),
    (GOLD.read_bytes(), b'[{"questionId": 1, "answer": 7}]', "not a string"),
    (f'[{{"questionId": {json.dumps(SCRIPT)}, "answers": []}}]'.encode(), b"[]", "<script>window.ran"),
]


def test_a_wrong_file_is_told_and_the_page_goes_on(visit: Any, tmp_path: Path) -> None:
    user = visit("?tab=file")
    for number, (gold, submission, said) in enumerate(WRONG_FILES):
        names = [f"gold {number}.json", f"submission {number}.json"]
        for name, content in zip(names, (gold, submission)):
            (tmp_path / name).write_bytes(content)
        user.drop(*(tmp_path / name for name in names))
        message = user.see("#summary [role=alert]", said).inner_text()
        assert str(tmp_path) not in message
        assert "/tmp" not in message
        for place in ("gold", "submission"):
            user.page.locator(f"#{place} button[aria-label=Clear]").click()
        user.see("#summary", "Drop a gold file")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")


def test_unanswered_questions_score_0_where_one_says_so(visit: Any, tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "few.json")
    user.see("#summary [role=alert]", "no answer to 5 of the questions")
    user.page.locator("#unanswered input").check()
    user.see("#summary .why", "5 score 0 (5 missing)")
    user.see("#worst article", "has no answer")


def test_a_file_of_100_mb_is_refused(visit: Any, tmp_path: Path) -> None:
    large = tmp_path / "large file.csv"
    with open(large, "wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    user = visit("?tab=file")
    user.page.locator("#gold input[type=file]").set_input_files(large)
    user.see("text=/maximum allowed size|larger than 50 MB/")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")


def test_the_page_does_not_freeze_while_100_000_answers_are_scored(visit: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user = visit("?tab=file")
    user.page.locator("#gold input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text, #summary .progress-level")
    user.tab("One answer")
    user.field("prediction").fill("Coca Cole")
    user.see("#answer .why", "1 edit on 9 characters")
    user.tab("A file")
    assert not user.page.locator("#summary .score").is_visible()  # it was scoring all the time
    user.page.locator("#summary .why").wait_for(state="visible", timeout=60_000)
    user.see("#summary .why", "100,000 questions.")
    with user.page.expect_download(timeout=30_000) as download:
        user.page.get_by_role("button", name="Download CSV").click()
    with open(download.value.path(), encoding="utf-8") as stream:
        assert sum(1 for _ in csv.reader(stream)) == 100_001


def test_what_was_asked_for_last_is_what_is_shown(visit: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 40_000)
    user = visit("?tab=file")
    user.page.locator("#gold input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text, #summary .progress-level")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")
    user.page.locator("#words textarea, #words input").fill("no such words")
    user.see("#worst .said", "No answer fits the filter")
    user.page.locator("#threshold input[type=number]").fill("0.9")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.9")
    user.page.wait_for_timeout(6_000)  # by then the large file is scored
    user.see("#summary .why", "60 questions")
    user.see("#worst .said", "No answer fits the filter")


def test_the_same_file_may_be_dropped_twice(visit: Any, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION, SUBMISSION)
    user.see("#comparison", "They differ nowhere")
    user.see("#comparison", "submission.json (second)")


def test_names_that_are_no_text_do_no_harm(visit: Any, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(r"""[{"prediction": "\ud800", "references": "\ud800b", "k\ud800": "x"}]""")
    user = visit("?tab=file")
    user.drop(tmp_path / "odd.json")
    user.see("#summary .score", "0.5")
    user.page.locator("#gold button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


def test_two_users_see_their_own_files(visit: Any, tmp_path: Path, served: tuple[str, Path]) -> None:
    users = [visit("?tab=file"), visit("?tab=file")]
    for place, user in enumerate(users):
        table = tmp_path / f"table of {place}.csv"
        table.write_text(f"prediction,references\nsecret {place},secret {place}{'x' * place}\n")
        user.drop(table)
    for place, user in enumerate(users):
        user.see("#summary .why", "1 question.")
        user.see("#summary .score", "1" if place == 0 else "0.8889")
        with user.page.expect_download() as download:
            user.page.get_by_role("button", name="Download JSON").click()
        (answer,) = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["answers"]
        assert answer["prediction"] == f"secret {place}"
    assert kept_uploads(served[1]) == []


def kept_uploads(folder: Path) -> list[Path]:
    """What gradio keeps, where others could ask for it, but for the files that are made up."""
    made_up = {"gold.json", "careful reader.json", "hasty reader.json"}
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size and path.name not in made_up]


# Look


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_everybody_can_use_it(visit: Any, size: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the check needs axe-playwright-python")
    user = visit(size=size, scheme=scheme)
    user.field("prediction").fill("xCoca  Col")
    user.see("#answer .edits .delete")
    serious = []
    for tab in ("One answer", "A file", "How it works"):
        user.tab(tab)
        if tab == "A file":
            user.page.get_by_role("button", name="Try made-up files").click()
            user.see("#comparison", "p = ")
        user.page.wait_for_timeout(600)
        found = axe.Axe().run(user.page).response["violations"]
        serious += [
            (tab, one["id"], [node["html"][:160] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert user.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    assert serious == []


def test_how_it_works_has_every_variant(visit: Any) -> None:
    user = visit("?tab=how")
    for name in anls.VARIANTS:
        user.see(".words td b", name)
    user.see("text=What to report")
    user.see("text=biten2019scene")


# Programs


@pytest.fixture(scope="module")
def client(address: str) -> Any:
    return pytest.importorskip("gradio_client").Client(address, verbose=False)


def test_programs_get_a_score_and_why(client: Any) -> None:
    why = client.predict("The Coca", ["Coca Cola"], api_name="/explain_answer")
    assert why["score"] == 0
    assert why["sentence"] == "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0."
    assert why["signature"] == anls.signature()
    scores = client.predict("ab", ["abcd"], api_name="/compare_variants")
    assert scores["standard"] == 0.5
    assert scores["pypi_anls"] == 0
    many = client.predict(["a", "b"], [["a"], ["c"]], variant="rrc", api_name="/score_answers")
    assert many["anls"] == 0.5
    assert many["signature"] == anls.signature("rrc")
    assert {row["name"] for row in client.predict(api_name="/list_variants")} == set(anls.VARIANTS)


def test_programs_score_files(client: Any, served: tuple[str, Path], tmp_path: Path) -> None:
    from gradio_client import handle_file

    result = client.predict(handle_file(str(GOLD)), handle_file(str(SUBMISSION)), api_name="/score_files")
    assert result["anls"] == pytest.approx(0.6273148)
    assert result["zeros"] == {"under the threshold": 1, "empty": 1, "missing": 0}
    assert result["signature"] == anls.signature()
    low, high = result["interval"]
    assert low < result["anls"] < high
    same = client.predict(handle_file(str(GOLD)), handle_file(str(SUBMISSION)), case="counts", api_name="/score_files")
    assert same["signature"] == anls.signature(ignore_case=False)
    table = handle_file(str(ROOT / "examples" / "table.csv"))
    result = client.predict(table, "model", "accepted", "rrc", 0.9, api_name="/score_table")
    assert result["signature"] == anls.signature("rrc", 0.9)
    assert kept_uploads(served[1]) == []


@pytest.mark.parametrize(
    ("arguments", "endpoint", "said"),
    [
        (["a", ["a"], "standard", 7.0], "/explain_answer", "threshold is 7.0"),
        (["a" * 30_000, ["b" * 30_000]], "/explain_answer", "too long to compare here"),
        (["a" * 30_000, ["b" * 30_000]], "/compare_variants", "too long to compare here"),
        (
            [["a", "a" * 30_000], [["a"], ["b" * 30_000]]],
            "/score_answers",
            "prediction of row 1: the prediction has 30,000",
        ),
        (["a", ["a"], "none"], "/explain_answer", "there is no variant 'none'"),
        (["a", []], "/explain_answer", "accepted_answers"),
        ([7, ["a"]], "/explain_answer", "not a string"),
        ([["a"], []], "/score_answers", "1 predictions"),
    ],
)
def test_a_programs_mistake_is_told(client: Any, arguments: list[Any], endpoint: str, said: str) -> None:
    from gradio_client.exceptions import AppError

    with pytest.raises(AppError, match=said):
        client.predict(*arguments, api_name=endpoint)


def test_no_file_of_the_server_is_read(client: Any, address: str) -> None:
    host = Path("/etc/hostname").read_text().strip()
    for path in ("/etc/hostname", "../../../../etc/hostname", "file:///etc/hostname"):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        with pytest.raises(Exception, match=r".") as refused:
            client.predict(file, "prediction", "references", api_name="/score_table")
        assert host not in str(refused.value)
    for path in ("/etc/hostname", str(ROOT / "anls.py"), "anls.py", "app.py"):
        with pytest.raises(urllib.error.HTTPError) as closed:
            urllib.request.urlopen(f"{address}gradio_api/file={path}", timeout=10)
        assert closed.value.code in (403, 404)


def test_50_requests_at_once_get_their_own_answers(client: Any) -> None:
    def ask(number: int) -> Any:
        text = "x" * number + "y"
        return client.predict(text, ["x" * (number + 1)], "nls", api_name="/explain_answer")["score"]

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(1, 51))) == [
            anls.anls_score("x" * n + "y", "x" * (n + 1), variant="nls") for n in range(1, 51)
        ]


def test_agents_have_the_same_as_tools(address: str) -> None:
    pytest.importorskip("mcp", reason="tools need mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def ask() -> tuple[Any, Any, Any]:
        async with (
            streamablehttp_client(f"{address}gradio_api/mcp/") as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            tools = (await session.list_tools()).tools
            arguments = {"prediction": "CocaCola", "accepted_answers": ["Coca Cola"]}
            answer = await session.call_tool("explain_answer", arguments)
            arguments = {"table": uploaded, "prediction_column": "model", "references_column": "accepted"}
            return tools, answer, await session.call_tool("score_table", arguments)

    content = base64.b64encode((ROOT / "examples" / "table.csv").read_bytes()).decode()
    uploaded = f"data:text/csv;base64,{content}"  # or a public address, which there is none of without a network
    with ThreadPoolExecutor(1) as pool:  # playwright has a loop in this thread
        tools, answer, table = pool.submit(lambda: asyncio.run(ask())).result(60)
    assert f"{anls.signature()}" in table.content[0].text
    assert "0.5879" in table.content[0].text
    names = {tool.name: tool for tool in tools}
    expected = ["explain_answer", "compare_variants", "score_answers", "list_variants", "score_files", "score_table"]
    assert sorted(names) == sorted(expected)
    assert "say why" in names["explain_answer"].description
    assert "closest one counts" in json.dumps(names["explain_answer"].inputSchema)
    assert "0.8888888" in answer.content[0].text


def test_the_command_opens_it(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    environment = {
        **os.environ,
        "BROWSER": f"""{sys.executable} -c "open('{opened}', 'w').write('%s')" """,
        "GRADIO_TEMP_DIR": str(tmp_path / "uploads"),
    }
    command = [sys.executable, "-m", "anls_metric.command_line", "--demo"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = next(line for line in process.stdout if "http" in line)
            for _ in range(100):
                if opened.exists() and opened.read_text():
                    break
                time.sleep(0.1)
            address = opened.read_text()
            assert address.rstrip("/") in said
            assert "ANLS" in urllib.request.urlopen(address, timeout=20).read().decode()
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_the_command_says_what_it_lacks() -> None:
    program = (
        "import sys; sys.modules['gradio'] = None;"
        "from anls_metric.command_line import main; sys.exit(main(['--demo']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "calculate-anls: error: --demo needs gradio: pip install 'anls-metric[app]'\n"


# Without a page


def test_all_that_is_said_of_a_table(tmp_path: Path) -> None:
    write_table(tmp_path / "table.jsonl", 700)
    (answers,) = space.read_uploads(
        review.Upload(str(tmp_path / "table.jsonl")), None, None, "prediction", "references"
    )
    assert not (tmp_path / "table.jsonl").exists()  # moved out of reach
    scores = review.score(answers, anls.get_variant())
    assert scores.report.count == 700
    assert answers.fields == ["kind"]
    assert [tally.count for tally in scores.groups("kind").values()] == [100] * 7
    assert answers.by_variant["standard"] == scores.report.anls
    assert len(set(answers.by_variant.values())) == 1
    worst, total = scores.worst(3)
    assert ([scored.score for scored in worst], total) == (sorted(scored.score for scored in scores.scored)[:3], 700)
    assert set(space.shown_scores([scores, scores])) == {"summary", "histogram", "comparison", "every-variant"}


def write_table(path: Path, count: int) -> None:
    with open(path, "w") as stream:
        for number in range(count):
            slip = "" if number % 3 else "x"
            references = [f"answer {number} of the page", "another one"]
            row = {"prediction": f"answer {number}{slip} of the page", "references": references, "kind": number % 7}
            stream.write(json.dumps(row) + "\n")


@pytest.mark.parametrize(
    "wrong", [{"variant": "none"}, {"threshold": "7"}, {"threshold": "x"}, {"threshold": "nan"}, {"case": "maybe"}]
)
def test_a_link_is_checked(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        space.settings_of_link(wrong)


def test_a_spreadsheet_runs_no_answer() -> None:
    from anls_metric.rrc import Question

    scores = review.score(review.Answers("x", [Question("=2", "=1+1", ["-1"], {})]), anls.get_variant())
    rows = list(csv.reader(io.StringIO(review.as_csv(scores))))
    assert rows[1][:3] == ["'=2", "'=1+1", '["-1"]']


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(review, "MOST_QUESTIONS", 100)
    write_table(tmp_path / "table.jsonl", 101)
    upload = review.Upload(str(tmp_path / "table.jsonl"))
    with pytest.raises(ValueError, match=r"table\.jsonl has more than 100 questions: score it with calculate-anls"):
        review.read_column(upload, "prediction", "references")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"prediction": ["a"] * 600, "references": ["a"] * 600}
    for size, count, said in ((1_000_000, 600, "characters"), (300_000_000, 1, "once unpacked")):
        text = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), ["x" * size])
        table = pa.table({**{name: some[:count] for name, some in columns.items()}, "text": text})
        parquet.write_table(table, tmp_path / "small.parquet", compression="zstd")
        assert (tmp_path / "small.parquet").stat().st_size < 50_000
        upload = review.Upload(str(tmp_path / "small.parquet"))
        with pytest.raises(ValueError, match=said):
            review.read_column(upload, "prediction", "references")


def test_dates_that_python_does_not_have_are_told(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"prediction": ["a"], "references": ["a"], "date": pa.array([10_000_000], pa.date32())}
    parquet.write_table(pa.table(table), tmp_path / "dates.parquet")
    upload = review.Upload(str(tmp_path / "dates.parquet"))
    with pytest.raises(ValueError, match=r"dates\.parquet.*: a value that cannot be read"):
        review.read_column(upload, "prediction", "references")


def test_only_fields_that_make_groups_are_offered() -> None:
    from anls_metric.rrc import Question

    records = [
        {"none": None, "same": 1, "kind": n % 3, "tags": ["a", "b"][: n % 2], "raw": b"x", "id": n} for n in range(9)
    ]
    answers = review.Answers("x", [Question(str(n), "a", ["a"], record) for n, record in enumerate(records)])
    assert answers.fields == ["kind"]
    assert {name: tally.count for name, tally in review.score(answers, anls.get_variant()).groups("kind").items()} == {
        "0": 3,
        "1": 3,
        "2": 3,
    }
