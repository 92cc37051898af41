"""The report as a file: its data, summary and images, and the escaping of texts."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.report.html import ASSETS, MODULES, as_html
from anls_metric.report.images import Images
from anls_metric.report.question_data import select_questions
from tests.report.sample_reports import HOSTILE, build_report, list_elements, make_answers, read_data, score_answers

THREE = {"good": make_answers(200, 0.9), "fair": make_answers(200, 0.6), "poor": make_answers(200, 0.0)}


def test_report_loads_nothing_from_any_network() -> None:
    page = build_report(THREE, hints=["see --extract final"])
    for tag, attributes in list_elements(page):
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
        for name in ("src", "href", "action", "style", "srcset", "background"):
            assert name not in attributes, (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert "url(" not in page


def test_content_security_policy_allows_only_the_own_style_and_script() -> None:
    page = build_report(THREE)
    policy = next(
        attributes["content"]
        for _, attributes in list_elements(page)
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for name, pattern in (
        ("style-src", r"<style>(.*?)</style>"),
        ("script-src", r'<script type="module">(.*?)</script>'),
    ):
        (content,) = re.findall(pattern, page, re.DOTALL)
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
    assert "\r" not in page


def test_report_data_holds_every_answer_as_written() -> None:
    page = build_report({"one": [("  The\nCOCA Cola ", ["Coca Cola", "Pepsi"]), (None, ["7"]), ("x" * 10**6, ["8"])]})
    data = read_data(page)
    (answers,) = data["answers"]
    assert data["ids"] == ["0", "1", "2"]
    assert data["references"] == [["Coca Cola", "Pepsi"], ["7"], ["8"]]
    assert answers["predictions"] == ["  The\nCOCA Cola ", None, "x" * 10**6]
    assert answers["scores"] == [explain("  The\nCOCA Cola ", "Coca Cola").score, 0.0, 0.0]
    sentences = [data["sentences"][place] for place in answers["sentences"]]
    assert sentences[0] == "4 edits on 13 characters: similarity 0.6923, at least the threshold of 0.5."
    assert sentences[1] == "The submission has no answer to it, so 0."


def test_report_puts_the_best_submission_first_and_compares_it_with_the_baseline() -> None:
    page = build_report({"poor": THREE["poor"], "good": THREE["good"]})
    data = read_data(page)
    assert data["submissions"] == ["good", "poor"]
    assert data["baseline"] == 1
    assert [each["name"] for each in data["document"]["submissions"]] == ["good", "poor"]
    assert data["pairs"][1][0]["verdict"] == "better"
    assert data["pairs"][0][1]["verdict"] == "worse"
    assert data["pairs"][0][0] is None


def test_join_questions_has_no_answer_of_a_submission_that_was_not_asked() -> None:
    sets = [score_answers([("a", ["a"])], [{"id": "7"}]), score_answers([("b", ["b"])], [{"id": "8"}])]
    assert [(question.id, [bool(answer) for answer in question.answers]) for question in join_questions(sets)] == [
        ("7", [True, False]),
        ("8", [False, True]),
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_report_of_every_variant_marks_the_variant_and_has_its_signature(variant: str) -> None:
    page = build_report({"one": [("abcd", ["abcd"]), ("ab", ["abcd"]), ("", ["a"])]}, variant=variant)
    data = read_data(page)
    assert data["variants"]["chosen"] == variant
    assert data["variants"]["names"] == list(VARIANTS)
    assert data["signature"].startswith(f"anls|{variant}|")


@pytest.mark.parametrize(
    "answers", [[("a", ["a"])], [(None, ["a"])], [("a", ["a"]), ("b", ["b"])], [("x", ["a"])] * 3, [("İ" * 9, ["q"])]]
)
def test_report_holds_every_question_of_small_and_odd_sets(answers: Any) -> None:
    for variant in ("standard", "rrc", "pypi_anls"):
        assert len(read_data(build_report({"one": answers}, variant=variant))["ids"]) == len(answers)


def test_report_escapes_hostile_texts() -> None:
    record = {"id": HOSTILE, "question": HOSTILE, "image": HOSTILE, HOSTILE: HOSTILE}
    records = [record, {**record, "id": "2", HOSTILE: "other"}]
    answers = [(HOSTILE, [HOSTILE + "x"]), (HOSTILE, ["y"])]
    page = build_report({HOSTILE: answers, HOSTILE + "2": answers}, records, hints=[HOSTILE], source=HOSTILE)
    page.encode()  # halves of surrogate pairs have no bytes: they are escaped
    tags = [tag for tag, _ in list_elements(page)]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert read_data(page)["ids"][0] == HOSTILE
    assert read_data(page)["answers"][0]["predictions"][0] == HOSTILE
    for character in "\u202e\x00\r":
        assert character not in re.sub(r'<script id="data".*?</script>', "", page, flags=re.DOTALL)


def test_report_beyond_its_size_limit_keeps_differences_and_zeros_first() -> None:
    right, wrong = [(f"answer {number}", [f"answer {number}"]) for number in range(100)], [("x", ["y"])] * 5
    first = [*right, *wrong]
    second = [*right[:50], ("near answer 50", ["answer 50"]), *right[51:], *wrong]
    page = build_report({"one": first, "two": second}, most_bytes=4_000)
    ids = list(map(int, read_data(page)["ids"]))
    assert ids == sorted(ids)
    assert {50, *range(100, 105)} < set(ids) < set(range(105))
    assert f"{len(ids)} of 105 questions are in this file, those that differ or score 0" in read_data(page)["notes"][0]
    assert read_data(page)["about"] == "105 questions"
    everything = join_questions([score_answers(first), score_answers(second)])
    assert [question.id for question in select_questions(everything, 500)] == ["50", "100", "101", "102", "103", "104"]
    assert len(select_questions(everything)) == 105
    assert "are in this file" not in build_report({"one": first})


def test_report_leaves_out_variants_beyond_most_by_variant() -> None:
    assert read_data(build_report(THREE, most_by_variant=600))["variants"]["names"] == list(VARIANTS)
    assert read_data(build_report(THREE, most_by_variant=599))["variants"] == {"names": []}


def test_report_of_2000_answers_takes_less_than_3_mb() -> None:
    assert len(build_report({"one": make_answers(2000, 0.8)}).encode()) < 3_000_000


def test_report_groups_by_fields_with_few_values() -> None:
    records = [{"kind": "ab"[number % 2], "page": str(number), "list": ["x"]} for number in range(40)]
    page = build_report({"one": make_answers(40, 0.5)}, records)
    assert list(read_data(page)["groups"]) == ["kind"]
    assert read_data(page)["groups"]["kind"]["of"][:3] == [0, 1, 0]
    table = read_data(page)["tables"]["kind"]
    assert (table["names"], table["counts"]) == (["a", "b"], [[20, 20]])
    assert [low < mean < high for mean, (low, high) in zip(table["means"][0], table["intervals"][0])] == [True, True]


def test_report_has_the_differences_of_groups_for_every_pair() -> None:
    records = [{"kind": "ab"[number % 2]} for number in range(200)]
    table = read_data(build_report(THREE, records))["tables"]["kind"]
    assert list(table["differences"]) == ["0 1", "0 2", "1 2"]
    for name, differences in table["differences"].items():
        first, second = map(int, name.split())
        for place, (difference, (low, high)) in enumerate(differences):
            assert difference == pytest.approx(table["means"][second][place] - table["means"][first][place], abs=1e-5)
            assert low < difference < high


def test_report_groups_by_the_field_of_the_documents() -> None:
    records = [{"image": f"documents/a{number // 4}_1.png"} for number in range(40)]
    data = read_data(build_report({"one": make_answers(40, 0.5)}, records))
    assert list(data["tables"]) == ["image"]
    assert len(data["tables"]["image"]["names"]) == 10
    assert data["pages"]["of"][:5] == [0, 0, 0, 0, 1]


def test_edits_are_embedded_only_where_texts_differ_beyond_what_the_variant_ignores() -> None:
    answers = [("COCA  cola", ["Coca Cola"]), ("CocaCola", ["Coca Cola"]), (None, ["a"]), ("", ["a"])]
    assert read_data(build_report({"one": answers}))["answers"][0]["edits"] == {"1": [4, 4, 0, 1, 4, 4]}


@pytest.mark.parametrize("variant", ["standard", "nls", "fast_anls"])
def test_points_are_the_sums_of_the_questions_that_the_report_names(variant: str) -> None:
    texts = [("0.26", "0.28"), ("977,633", "977633"), ("240", "240.00"), ("1988", "2019"), ("Coca Col", "Coca Cola")]
    answers = [(ours, [accepted]) for ours, accepted in (*texts, ("12/15/89", "12/15/88"), ("5", "5"), ("", "5"))]
    data = read_data(build_report({"one": [*answers, (None, ["5"])]}, variant=variant))
    of, points = data["answers"][0], data["document"]["submissions"][0]["points"]
    lost, given = (of["points"][name] for name in ("lost_to_format", "given_to_wrong_numbers"))
    assert sum(1 - of["scores"][row] for row in lost) / 9 == pytest.approx(points["lost_to_format"])
    assert sum(of["scores"][row] for row in given) / 9 == pytest.approx(points["given_to_wrong_numbers"])
    assert {0, 5} <= set(given)
    assert all(of["scores"][row] > 0 for row in given)
    assert {1, 2} <= set(lost)


def test_confusions_name_the_questions_that_count_in_them() -> None:
    texts = [("B0B", "BOB"), ("R0AD", "ROAD"), ("5", "5"), ("zzz", "ROAD"), ("b0b", "bob")]
    data = read_data(build_report({"one": [(ours, [accepted]) for ours, accepted in texts]}))
    assert data["document"]["submissions"][0]["confusions"] == [{"predicted": "0", "accepted": "o", "count": 3}]
    assert data["confusions"] == [[[0, 1, 4]]]


def test_points_of_runs_name_each_question_once() -> None:
    scored_set = ScoredSet(keep=True)
    runs = [Row("7", prediction, ["0.28"], {}) for prediction in ("0.26", "0.28", "0.27")]
    scored_set.add(
        [runs[0]._replace(runs=runs), Row("8", "5", ["5"], {})._replace(runs=[Row("8", "5", ["5"], {})] * 3)]
    )
    data = read_data(as_html([Entry("one", scored_set)]))
    assert data["answers"][0]["points"] == {"lost_to_format": [], "given_to_wrong_numbers": [0]}
    assert data["document"]["submissions"][0]["points"]["given_to_wrong_numbers"] == pytest.approx(1.5 / 6)


def test_modules_of_the_script_are_all_joined() -> None:
    assert sorted(MODULES) == sorted(path.stem for path in ASSETS.glob("*.js"))
    script = re.findall(r'<script type="module">(.*?)</script>', build_report(THREE), re.DOTALL)[0]
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


def save_image(path: Path, size: tuple[int, int] = (2000, 1500)) -> None:
    pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow.effect_noise(size, 60).save(path)


def test_images_of_questions_with_zeros_are_embedded_first(tmp_path: Path) -> None:
    for number in range(3):
        save_image(tmp_path / f"documents/page {number}.png", (300, 200))
    (tmp_path / "no image.png").write_text("nothing")
    records = [{"image": f"pages/page {number}.png"} for number in (0, 1, 1, 2)]
    records += [{"image": name} for name in ("no image.png", "../absent.png")]
    answers = [("a", ["a"]), ("b", ["b"]), ("x", ["b"]), ("c", ["c"]), ("d", ["d"]), ("e", ["e"])]
    images = Images(str(tmp_path), most_bytes=1)
    data = read_data(build_report({"one": answers}, records, images=images))
    assert data["images"] == [-2, 0, 0, -2, -2, -3]  # there is room for one, and question 2 has the zero
    assert data["pictures"][0].startswith("data:image/webp;base64,")
    assert data["missing"] == ["", "no room", "not found"]
    assert images.note == "images left out: 3 over the limit of 1e-06 MB, 1 not in the folder (../absent.png)"
    images = Images(str(tmp_path))
    page = build_report({"one": answers}, records, images=images)
    assert sorted(read_data(page)["images"]) == [-3, -2, 0, 0, 1, 2]
    assert images.note == "images left out: 1 not in the folder (../absent.png), 1 that cannot be read"
    assert read_data(page)["notes"] == [f"{images.note}."]
    assert sorted(read_data(page)["missing"]) == ["", "cannot be read", "not found"]


def test_images_scales_a_large_image_down(tmp_path: Path) -> None:
    save_image(tmp_path / "large.png")
    images = Images(str(tmp_path))
    images.add(["large.png"])
    assert len(images.data["large.png"]) < (tmp_path / "large.png").stat().st_size / 4


def test_images_opens_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    save_image(tmp_path / "private/secret.png", (10, 10))
    save_image(tmp_path / "images/page.png", (10, 10))
    images = Images(str(tmp_path / "images"))
    images.add(["../private/secret.png", str(tmp_path / "private/secret.png")])
    assert images.data == {}


def test_images_refuses_a_missing_or_empty_folder(tmp_path: Path) -> None:
    save_image(tmp_path / "images/page.png", (10, 10))
    (tmp_path / "empty").mkdir()
    for name, message in (("absent", "there is no such folder"), ("empty", "it has no images")):
        with pytest.raises(InputError, match=message):
            Images(str(tmp_path / name))
