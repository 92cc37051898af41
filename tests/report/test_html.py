"""The report as a file: what it holds, that it is closed, and that texts are texts."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from anls_metric import VARIANTS
from anls_metric.analysis.questions import join_questions
from anls_metric.reading.rows import InputError
from anls_metric.report.images import Images
from anls_metric.report.question_data import shown_questions
from tests.report.sample_reports import HOSTILE, data_of, elements, many, report, scored

THREE = {"good": many(200, 0.9), "fair": many(200, 0.6), "poor": many(200, 0.0)}


def test_it_asks_nothing_of_any_network() -> None:
    page = report(THREE, hints=["see --extract final"])
    for tag, attributes in elements(page):
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
        for name in ("src", "href", "action", "style", "srcset", "background"):
            assert name not in attributes, (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert "url(" not in page


def test_its_policy_allows_its_own_style_and_script_alone() -> None:
    page = report(THREE)
    policy = next(one["content"] for _, one in elements(page) if one.get("http-equiv") == "Content-Security-Policy")
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for name, pattern in (("style-src", r"<style>(.*?)</style>"), ("script-src", r"<script>(.*?)</script>")):
        (content,) = re.findall(pattern, page, re.DOTALL)
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
    assert "\r" not in page


def test_every_answer_is_in_it_as_it_was_written() -> None:
    page = report({"one": [("  The\nCOCA Cola ", ["Coca Cola", "Pepsi"]), (None, ["7"]), ("x" * 10**6, ["8"])]})
    data = data_of(page)
    (answers,) = data["answers"]
    assert data["ids"] == ["0", "1", "2"]
    assert data["references"] == [["Coca Cola", "Pepsi"], ["7"], ["8"]]
    assert answers["predictions"] == ["  The\nCOCA Cola ", None, "x" * 10**6]
    assert answers["scores"] == [one.score for one in scored([("  The\nCOCA Cola ", ["Coca Cola"])]).rows] + [0.0, 0.0]
    said = [data["sentences"][place] for place in answers["sentences"]]
    assert said[0] == "4 edits on 13 characters: similarity 0.6923, at least the threshold of 0.5."
    assert said[1] == "The submission has no answer to it, so 0."


def test_the_best_comes_first_and_is_compared_with_the_baseline() -> None:
    page = report({"poor": THREE["poor"], "good": THREE["good"]})
    data = data_of(page)
    assert data["submissions"] == ["good", "poor"]
    assert data["baseline"] == 1
    assert re.search(r"<b class=anls>0\.9\d\d\d</b>.*<b class=anls>0\.\d{4}</b>", page)
    assert '<span class="verdict good">better</span>' in page
    assert "the baseline" in page
    assert page.count('class="whiskers') == 2


def test_an_answer_that_only_one_was_asked_for_is_no_answer_of_the_other() -> None:
    sets = [scored([("a", ["a"])], [{"id": "7"}]), scored([("b", ["b"])], [{"id": "8"}])]
    assert [(one.id, [bool(answer) for answer in one.answers]) for one in join_questions(sets)] == [
        ("7", [True, False]),
        ("8", [False, True]),
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_a_report(variant: str) -> None:
    page = report({"one": [("abcd", ["abcd"]), ("ab", ["abcd"]), ("", ["a"])]}, variant=variant)
    assert f"<tr class=chosen><th scope=row>{variant}<small>" in page
    assert data_of(page)["signature"].startswith(f"anls|{variant}|")


@pytest.mark.parametrize(
    "answers", [[("a", ["a"])], [(None, ["a"])], [("a", ["a"]), ("b", ["b"])], [("x", ["a"])] * 3, [("İ" * 9, ["q"])]]
)
def test_small_and_odd_sets_have_a_report(answers: Any) -> None:
    for variant in ("standard", "rrc", "pypi_anls"):
        assert len(data_of(report({"one": answers}, variant=variant))["ids"]) == len(answers)


def test_texts_are_text() -> None:
    record = {"id": HOSTILE, "question": HOSTILE, "image": HOSTILE, HOSTILE: HOSTILE}
    records = [record, {**record, "id": "2", HOSTILE: "other"}]
    answers = [(HOSTILE, [HOSTILE + "x"]), (HOSTILE, ["y"])]
    page = report({HOSTILE: answers, HOSTILE + "2": answers}, records, hints=[HOSTILE], source=HOSTILE)
    page.encode()  # halves of surrogate pairs have no bytes: they are escaped
    found = [tag for tag, _ in elements(page)]
    assert found.count("script") == 2
    assert "img" not in found
    assert data_of(page)["ids"][0] == HOSTILE
    assert data_of(page)["answers"][0]["predictions"][0] == HOSTILE
    for character in "\u202e\x00\r":
        assert character not in re.sub(r'<script id="data".*?</script>', "", page, flags=re.DOTALL)


def test_beyond_the_limit_differences_and_zeros_come_first() -> None:
    right, wrong = [(f"answer {number}", [f"answer {number}"]) for number in range(100)], [("x", ["y"])] * 5
    first = [*right, *wrong]
    second = [*right[:50], ("near answer 50", ["answer 50"]), *right[51:], *wrong]
    page = report({"one": first, "two": second}, most_bytes=4_000)
    ids = list(map(int, data_of(page)["ids"]))
    assert ids == sorted(ids)
    assert {50, *range(100, 105)} < set(ids) < set(range(105))
    assert f"{len(ids)} of 105 questions are in this file, those that differ or score 0" in page
    assert "105 questions" in page
    everything = join_questions([scored(first), scored(second)])
    assert [one.id for one in shown_questions(everything, 500)] == ["50", "100", "101", "102", "103", "104"]
    assert len(shown_questions(everything)) == 105
    assert "are in this file" not in report({"one": first})


def test_many_answers_are_not_scored_again_where_that_is_asked() -> None:
    assert "anls --variant all" not in report(THREE, most_by_variant=600)
    page = report(THREE, most_by_variant=599)
    assert "<code>anls --variant all</code>" in page
    assert "vlmevalkit_dude" not in page


def test_two_thousand_answers_take_less_than_3_mb() -> None:
    assert len(report({"one": many(2000, 0.8)}).encode()) < 3_000_000


def test_groups_are_those_asked_for_or_those_that_are_few() -> None:
    records = [{"kind": "ab"[number % 2], "page": str(number), "list": ["x"]} for number in range(40)]
    page = report({"one": many(40, 0.5)}, records)
    assert list(data_of(page)["groups"]) == ["kind"]
    assert data_of(page)["groups"]["kind"]["of"][:3] == [[0], [1], [0]]
    assert ">By kind</h2>" in page


def image(path: Path, size: tuple[int, int] = (2000, 1500)) -> None:
    pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow.effect_noise(size, 60).save(path)


def test_images_are_embedded_where_they_matter_most_first(tmp_path: Path) -> None:
    for number in range(3):
        image(tmp_path / f"documents/page {number}.png", (300, 200))
    (tmp_path / "no image.png").write_text("nothing")
    records = [{"image": f"pages/page {number}.png"} for number in (0, 1, 1, 2)]
    records += [{"image": name} for name in ("no image.png", "../absent.png")]
    answers = [("a", ["a"]), ("b", ["b"]), ("x", ["b"]), ("c", ["c"]), ("d", ["d"]), ("e", ["e"])]
    images = Images(str(tmp_path), most_bytes=1)
    data = data_of(report({"one": answers}, records, images=images))
    assert data["images"] == [-1, 0, 0, -1, -1, -1]  # there is room for one, and question 2 has the zero
    assert data["pictures"][0].startswith("data:image/webp;base64,")
    assert images.note == "images left out: 3 beyond 1e-06 MB together, 1 not in the folder"
    images = Images(str(tmp_path))
    page = report({"one": answers}, records, images=images)
    assert sorted(data_of(page)["images"]) == [-1, -1, 0, 0, 1, 2]
    assert images.note == "images left out: 1 not in the folder, 1 that cannot be read"
    assert images.note in page


def test_an_image_is_scaled_down(tmp_path: Path) -> None:
    image(tmp_path / "large.png")
    images = Images(str(tmp_path))
    images.add(["large.png"])
    assert len(images.data["large.png"]) < (tmp_path / "large.png").stat().st_size / 4


def test_nothing_outside_of_the_folder_is_opened(tmp_path: Path) -> None:
    image(tmp_path / "private/secret.png", (10, 10))
    image(tmp_path / "images/page.png", (10, 10))
    images = Images(str(tmp_path / "images"))
    images.add(["../private/secret.png", str(tmp_path / "private/secret.png")])
    assert images.data == {}


def test_a_folder_without_images_is_an_error(tmp_path: Path) -> None:
    image(tmp_path / "images/page.png", (10, 10))
    (tmp_path / "empty").mkdir()
    for name, said in (("absent", "there is no such folder"), ("empty", "no image is in it")):
        with pytest.raises(InputError, match=said):
            Images(str(tmp_path / name))
