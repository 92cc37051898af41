"""The images of pages in the report of uploads: from their columns, and from a zip archive."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits, subprocesses
from anls_metric.page.limits import ExhaustedError
from anls_metric.page.upload_scoring import Pages, Report, Result, Step, Task, score
from anls_metric.page.uploads import Upload
from tests.report.test_images import (
    BAD_ZIPS,
    PAGES,
    make_bomb,
    make_hostile_pages,
    make_rows,
    read_heights,
    without,
    write_parquet,
    write_submission,
    write_zip,
)


def write_files(folder: Path, holds_images: bool = False) -> list[Upload]:
    """A gold file and answers. The gold file holds the images, or it has their names."""
    rows = make_rows(PAGES)
    answers = write_submission(folder / "answers.json", rows)
    if holds_images:
        return [Upload(write_parquet(folder / "gold.parquet", without("prediction", rows))), Upload(answers)]
    named = [{**row, "image": f"documents/page_{place}.png"} for place, row in enumerate(without("prediction", rows))]
    (folder / "gold.json").write_text(json.dumps(named))
    return [Upload(str(folder / "gold.json")), Upload(answers)]


def write_pages(path: Path, pages: Mapping[str, bytes] | None = None) -> Upload:
    return Upload(write_zip(path, pages or {f"scans/page_{place}.jpg": page for place, page in enumerate(PAGES)}))


def unpack(steps: list[Step]) -> tuple[Result, str]:
    """The scores and the report among the steps, each of which is there once."""
    (result,) = [step for step in steps if isinstance(step, Result)]
    (report,) = [step for step in steps if isinstance(step, Report)]
    return result, gzip.decompress(base64.b64decode(report.packed)).decode()


def score_in_process(files: list[Upload], images: Upload | None = None, **options: Any) -> list[Step]:
    task = Task(files, report=True, images=images)
    return list(subprocesses.run(score, task, "page", is_large=True, **options))


@pytest.mark.parametrize("holds_images", [True, False])
def test_report_has_the_pages_of_uploads(holds_images: bool, tmp_path: Path) -> None:
    files = write_files(tmp_path, holds_images)
    steps = score_in_process(files, None if holds_images else write_pages(tmp_path / "pages.zip"))
    result, report = unpack(steps)
    assert read_heights(report) == [1, 2, 1, 3]
    assert result.broken == {}
    assert result.document["submissions"][0]["anls"] == 0.75
    told = [step.words for step in steps if isinstance(step, Pages)]
    assert told
    assert told[0].startswith("1 page, ")
    assert steps.index(result) < min(place for place, step in enumerate(steps) if isinstance(step, Pages))


@pytest.mark.parametrize("problem", BAD_ZIPS)
def test_bad_zip_hides_neither_scores_nor_the_pages_of_the_files(problem: str, tmp_path: Path) -> None:
    BAD_ZIPS[problem](tmp_path / "pages.zip")
    files = write_files(tmp_path, holds_images=True)
    result, report = unpack(score_in_process(files, Upload(str(tmp_path / "pages.zip"))))
    assert result.broken["pages.zip"].text.startswith(f"pages.zip: {problem}")
    assert result.document["submissions"][0]["anls"] == 0.75
    assert read_heights(report) == [1, 2, 1, 3]


def test_zip_that_is_gone_hides_no_scores(tmp_path: Path) -> None:
    result, _ = unpack(score_in_process(write_files(tmp_path), Upload(str(tmp_path / "pages.zip"))))
    assert result.broken["pages.zip"].text == "the file is not there any more: drop it again"


def test_hostile_pages_leave_the_others_in_the_report(tmp_path: Path) -> None:
    zeros = bytes(70 << 20)
    hostile = dict(zip(("page_0.png", "page_1.png"), (zeros, make_bomb())))
    pages = write_pages(
        tmp_path / "pages.zip", {**hostile, "page_2.png": make_hostile_pages()[3], "page_3.png": PAGES[3]}
    )
    assert pages.size < 2_000_000
    result, report = unpack(score_in_process(write_files(tmp_path), pages))
    assert result.broken == {}
    assert read_heights(report) == ["cannot be read"] * 3 + [3]


def test_limit_of_bytes_keeps_pages_of_wrong_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "MOST_OF_IMAGES", 1)
    task = Task(write_files(tmp_path), report=True, images=write_pages(tmp_path / "pages.zip"))
    _, report = unpack(list(score(task, "page")))
    assert read_heights(report) == ["no room", "no room", "no room", 3]


def test_limit_of_seconds_leaves_pages_out_with_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "IMAGE_SECONDS", -1)
    for holds_images in (False, True):
        files = write_files(tmp_path, holds_images)
        task = Task(files, report=True, images=None if holds_images else write_pages(tmp_path / "pages.zip"))
        _, report = unpack(list(score(task, "page")))
        assert read_heights(report) == ["no time"] * 4
        assert "for lack of time" in report


# The tab in gradio


def run_tab(paths: list[str], **changes: Any) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """The tab of files, and what it shows step by step of the files that were dropped."""
    gradio = pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")
    from anls_metric.page import file_tab

    with gradio.Blocks():
        tab = file_tab._Tab()
        settings = {"variant": "standard", "threshold": 0.5, "ignore_case": True}
        settings |= {name: component.value for name, component in tab.settings.items()}
        for shown in file_tab._run(tab, paths, "{}", "[]", {**settings, **changes}, lambda *_, **__: None):
            yield tab, shown


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of a gold file, answers and a zip of images, as the page gets them."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    folder = tmp_path / ("0" * 64)
    folder.mkdir()
    return [*(file.path for file in write_files(folder)), write_pages(folder / "my pages.zip").path]


def test_scores_stay_where_the_report_takes_too_much(dropped: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(function: Any, task: Task, *_: Any, **__: Any) -> Iterator[Step]:
        for step in score(task, "page"):
            if isinstance(step, Pages):
                raise ExhaustedError("on your computer, type anls")
            yield step

    monkeypatch.setattr(subprocesses, "run", run)
    steps = list(run_tab(dropped))
    tab = steps[0][0]
    assert [shown[tab.summary] for _, shown in steps if tab.summary in shown][-1].find("0.75") > 0
    assert tab.summary not in steps[-1][1]
    assert "more memory or time than the page has" in steps[-1][1][tab.own_tab].value


def test_zip_files_that_cannot_be_meant_are_refused_with_a_sentence(dropped: list[str]) -> None:
    *files, pages = dropped
    other = Path(pages).with_name("other.zip")
    other.write_bytes(Path(pages).read_bytes())
    for paths, said in (
        ([*files, pages, str(other)], "the images are in 2 zip files (my pages.zip, other.zip): put them into one"),
        ([pages], "my pages.zip: a zip file is for the images of pages: drop the gold file and the submissions, too"),
    ):
        ((tab, shown),) = run_tab(paths)
        assert said in shown[tab.summary]
