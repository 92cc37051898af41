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
from typing import Any

import pytest

import anls
from tests.conftest import ROOT
from tests.page.conftest import SIZES, Served, Visit
from tests.page.files import write_table

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
    assert user.page.locator("#variants tbody tr").count() == len(anls.VARIANTS)
    user.see("#variants tr:has-text('pypi_anls') .differs")
    disagreeing = sum(anls.anls_score("ab", ["abcd"], variant=name) != 0.5 for name in anls.VARIANTS)
    user.see("#variants .said", f"{disagreeing} of {len(anls.VARIANTS)} disagree with 0.5")
    assert user.page.locator("#variants .differs").count() == disagreeing


def test_examples_are_there_to_click(visit: Visits) -> None:
    user = visit()
    scores = {"TALKINGHEADS": "0.9231", "Exactly 0.5": "0.5", "White space": "0.6154", "Empty": "0"}
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


# A file


def test_two_files_are_scored(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(GOLD)
    user.see("#summary", "Drop a submission to gold_label.json")
    user.drop("", SUBMISSION)
    user.see("#summary .score", "0.6273")
    user.see("#summary .why", "6 questions. 2 score 0 (1 empty, 1 other).")
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
            assert [row["zero"] for row in rows] == ["", "other", "", "", "", "empty"]
    user.page.locator("#threshold input[type=number]").fill("0.88")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.88")
    assert "Coca" not in user.page.url


def test_a_second_submission_is_compared(visit: Visits, tmp_path: Path) -> None:
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


def test_made_up_files_are_there_to_try(visit: Visits) -> None:
    user = visit("?tab=file", size="phone")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")
    user.see("#comparison", "p = ")
    user.see("#groups tr", "shop")
    assert user.fits()
    user.page.locator("#second button[aria-label=Clear]").click()  # they stand where one's own would
    user.page.locator("#comparison .pair").first.wait_for(state="detached")
    user.page.locator("#submission button[aria-label=Clear]").click()
    user.page.locator("#gold button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


def test_a_table_is_scored_by_the_columns_one_picks(visit: Visits, tmp_path: Path) -> None:
    table = tmp_path / "the table.csv"
    with open(table, "w", newline="") as stream:
        csv.writer(stream).writerows(
            [
                ["kind", "one", "other", "truth"],
                ["name", "CocaCola", "Coca Cola", '["Coca Cola", "Coca Cola Company"]'],
                ["date", "12/15/89", "", '["12/15/88"]'],
            ]
        )
    user = visit("?tab=file")
    user.drop(table)
    for label, column in {"Column of predictions": "one", "Column of accepted answers": "truth"}.items():
        user.page.get_by_label(label, exact=True).click()
        user.page.get_by_role("option", name=column, exact=True).last.click()
    user.see("#summary .score", "0.8819")
    user.page.get_by_label("Second column of predictions").click()
    user.page.get_by_role("option", name="other", exact=True).click()
    user.see("#comparison", "Difference -0.3819")


def test_a_wrong_file_is_told_and_the_page_goes_on(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    (tmp_path / "empty.json").write_bytes(b"")
    hostile = {"questionId": SCRIPT, "answers": []}
    (tmp_path / "hostile.json").write_text(json.dumps([hostile]))
    for name, said in (("empty.json", "empty.json: the file is empty"), ("hostile.json", "<script>window.ran = 1")):
        user.drop(tmp_path / name, SUBMISSION)
        message = user.see("#summary [role=alert]", said).inner_text()
        assert "/tmp" not in message
        for place in ("gold", "submission"):
            user.page.locator(f"#{place} button[aria-label=Clear]").click()
        user.see("#summary", "Drop a gold file")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")


def test_unanswered_questions_score_0_where_one_says_so(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "Coca Cola"}]')
    user = visit("?tab=file")
    user.drop(GOLD, tmp_path / "few.json")
    user.see("#summary [role=alert]", "no answer to 5 of the questions")
    user.page.locator("#unanswered input").check()
    user.see("#summary .why", "5 score 0 (5 missing)")
    user.see("#worst article", "has no answer")


def test_a_file_of_100_mb_is_refused(visit: Visits, tmp_path: Path) -> None:
    large = tmp_path / "large file.csv"
    with open(large, "wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    user = visit("?tab=file")
    user.page.locator("#gold input[type=file]").set_input_files(large)
    user.see("text=/maximum allowed size|larger than 50 MB/")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")


def test_the_page_does_not_freeze_while_100_000_answers_are_scored(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 100_000)
    user, other = visit("?tab=file"), visit()
    user.page.locator("#gold input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text", "questions")
    other.field("prediction").fill("Coca Cole")
    other.see("#answer .why", "1 edit on 9 characters")
    assert not user.page.locator("#summary .score").is_visible()  # it was scoring all the time
    user.page.locator("#summary .why", has_text="100,000 questions.").wait_for(state="visible", timeout=120_000)
    with user.page.expect_download(timeout=60_000) as download:
        user.page.get_by_role("button", name="Download CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as stream:
        assert sum(1 for _ in csv.reader(stream)) == 100_001


def test_what_was_asked_for_last_is_what_is_shown(visit: Visits, tmp_path: Path) -> None:
    write_table(tmp_path / "large.jsonl", 20_000)
    user, other = visit("?tab=file"), visit("?tab=file")
    user.page.locator("#gold input[type=file]").set_input_files(tmp_path / "large.jsonl")
    user.see("#summary .progress-text, #summary .progress-level")
    user.page.get_by_role("button", name="Try made-up files").click()
    user.see("#summary .why", "60 questions")
    user.page.locator("#words textarea, #words input").fill("no such words")
    user.see("#worst .said", "No answer fits the filter")
    other.drop(tmp_path / "large.jsonl")
    other.see("#summary .why", "20,000 questions")  # large files take turns: the first one is scored as well
    user.page.locator("#threshold input[type=number]").fill("0.9")
    user.page.locator("#threshold input[type=number]").press("Tab")
    user.see("#summary code", "threshold:0.9")
    user.see("#summary .why", "60 questions")
    user.see("#worst .said", "No answer fits the filter")


def test_the_same_file_may_be_dropped_twice(visit: Visits, tmp_path: Path) -> None:
    user = visit("?tab=file")
    user.drop(GOLD, SUBMISSION, SUBMISSION)
    user.see("#comparison", "They differ nowhere")
    user.see("#comparison", "submission.json (second)")


def test_names_that_are_no_text_do_no_harm(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(r"""[{"prediction": "\ud800", "references": "\ud800b", "k\ud800": "x"}]""")
    user = visit("?tab=file")
    user.drop(tmp_path / "odd.json")
    user.see("#summary .score", "0.5")
    user.page.locator("#gold button[aria-label=Clear]").click()
    user.see("#summary", "Drop a gold file")
    user.drop(GOLD, SUBMISSION)
    user.see("#summary .score", "0.6273")


def test_two_users_see_their_own_files(visit: Visits, tmp_path: Path, served: Served) -> None:
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
    for tab in ("One answer", "A file", "How it works"):
        user.tab(tab)
        if tab == "A file":
            user.page.get_by_role("button", name="Try made-up files").click()
            user.see("#comparison", "p = ")
            user.see("#every-variant tr", "mistral_evals")
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
    for name in anls.VARIANTS:
        user.see(".words td b", name)
    user.see("text=What to report")
    user.see("text=biten2019scene")
