"""The report as a file: its data, its summary, and the escaping of texts."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.analysis.evaluation import evaluate
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.scored import score_answers
from anls_metric.options import Settings
from anls_metric.reading.reader import Input
from anls_metric.report.html import ASSETS, MODULES, as_html
from anls_metric.report.question_data import select_questions
from tests.report.sample_reports import (
    HOSTILE,
    build_report,
    conclude,
    list_elements,
    make_answers,
    read_data,
    read_rows,
    score_pairs,
)

THREE = {"good": make_answers(200, 0.9), "fair": make_answers(200, 0.6), "poor": make_answers(200, 0.0)}


def test_report_loads_nothing_from_any_network() -> None:
    page = build_report(THREE, hints=["see --extract final"])
    for tag, attributes in list_elements(page):
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
        for name in ("src", "href", "action", "style", "srcset", "background"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert "url(" not in page


def test_content_security_policy_allows_only_the_own_style_and_script() -> None:
    page = build_report(THREE)
    policies = [attributes["content"] for _, attributes in list_elements(page) if "http-equiv" in attributes]
    assert policies[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
    assert (rules["default-src"], rules["img-src"]) == ("'none'", "data:")
    patterns = {"style-src": r"<style>(.*?)</style>", "script-src": r'<script type="module">(.*?)</script>'}
    for name, pattern in patterns.items():
        (content,) = re.findall(pattern, page, re.DOTALL)
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
    assert "\r" not in page


def test_modules_of_the_script_are_all_joined() -> None:
    assert sorted(MODULES) == sorted(path.stem for path in ASSETS.glob("*.js"))
    script = re.findall(r'<script type="module">(.*?)</script>', build_report(THREE), re.DOTALL)[0]
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    sizes = {kind: sum(path.stat().st_size for path in ASSETS.glob(f"*.{kind}")) for kind in ("js", "css")}
    assert sizes["js"] <= 75_000
    assert sizes["css"] <= 16_000
    lines = [line for path in ASSETS.iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
    assert max(map(len, lines)) <= 120


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
    assert read_rows(page)[0][0] == HOSTILE
    for character in "\u202e\x00\r":
        assert character not in re.sub(r'<script id="data".*?</script>', "", page, flags=re.DOTALL)


# Questions and answers


def test_report_data_holds_every_answer_unchanged() -> None:
    page = build_report({"one": [("  The\nCOCA Cola ", ["Coca Cola", "Pepsi"]), (None, ["7"]), ("x" * 10**6, ["8"])]})
    data, rows = read_data(page), read_rows(page)
    assert data["ids"] == ["0", "1", "2"]
    assert data["references"] == [["Coca Cola", "Pepsi"], ["7"], ["8"]]
    assert [row[0] for row in rows] == ["  The\nCOCA Cola ", None, "x" * 10**6]
    assert [row[1] for row in rows] == [explain("  The\nCOCA Cola ", "Coca Cola").score, 0.0, 0.0]
    assert [data["sentences"][row[3]] for row in rows][:2] == [
        "4 edits on 13 characters: similarity 0.6923, at least the threshold of 0.5.",
        "The submission has no answer to it, so 0.",
    ]
    assert data["document"]["submissions"][0]["read"] == "prediction of one.json"


def test_report_joins_submissions_with_other_questions_and_other_accepted_answers() -> None:
    common = [{"id": "5"}, {"id": "6"}]
    first = score_pairs(
        [("a", ["a"])] * 2 + [("a", ["a"]), ("b", ["b"])], [*common, {"id": "7"}, {"id": "8"}], name="first"
    )
    second = score_pairs(
        [("a", ["a"])] * 2 + [("x", ["c"]), ("b", ["b"])], [*common, {"id": "8"}, {"id": "9"}], name="second"
    )
    page = as_html(conclude([first, second]))
    data = read_data(page)
    assert (data["ids"][2:], data["references"][2:]) == (["7", "8", "9"], [["a"], ["b"], ["b"]])
    assert [row and row[1] for row in read_rows(page)[2:]] == [1.0, 1.0, None]
    assert [row and row[1] for row in read_rows(page, 1)[2:]] == [None, 0.0, 1.0]
    assert read_rows(page, 1)[3][5]["references"] == ["c"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_report_of_every_variant_marks_the_variant_and_has_its_signature(variant: str) -> None:
    data = read_data(build_report({"one": [("abcd", ["abcd"]), ("ab", ["abcd"]), ("", ["a"])]}, variant=variant))
    assert list(data["variants"]["one"]) == list(VARIANTS)
    assert data["document"]["signature"].startswith(f"anls|{variant}|")


@pytest.mark.parametrize(
    "answers", [[("a", ["a"])], [(None, ["a"])], [("a", ["a"]), ("b", ["b"])], [("x", ["a"])] * 3, [("İ" * 9, ["q"])]]
)
def test_report_holds_every_question_of_small_and_odd_sets(answers: Any) -> None:
    for variant in ("standard", "rrc", "pypi_anls"):
        assert len(read_data(build_report({"one": answers}, variant=variant))["ids"]) == len(answers)


def test_report_beyond_its_size_limit_keeps_differences_and_zeros_first() -> None:
    correct, wrong = [(f"answer {number}", [f"answer {number}"]) for number in range(100)], [("x", ["y"])] * 5
    first = [*correct, *wrong]
    second = [*correct[:50], ("near answer 50", ["answer 50"]), *correct[51:], *wrong]
    page = build_report({"one": first, "two": second}, most_bytes=4_000)
    ids = list(map(int, read_data(page)["ids"]))
    assert ids == sorted(ids)
    assert {50, *range(100, 105)} < set(ids) < set(range(105))
    assert f"This file contains {len(ids)} of 105 questions, those with differences or" in read_data(page)["notes"][0]
    assert read_data(page)["document"]["questions"] == 105
    scored = [score_pairs(first), score_pairs(second)]
    everything = join_questions(scored)
    chosen = select_questions(scored, everything, 1_400)
    assert [question.id for question in chosen] == ["50", "100", "101", "102", "103", "104"]
    assert len(select_questions(scored, everything)) == 105
    assert "This file contains" not in build_report({"one": first})


def test_report_of_2000_answers_takes_less_than_3_mb() -> None:
    assert len(build_report({"one": make_answers(2000, 0.8)}).encode()) < 3_000_000


def test_edits_are_embedded_only_where_strings_differ_beyond_what_the_variant_ignores() -> None:
    answers = [("COCA  cola", ["Coca Cola"]), ("CocaCola", ["Coca Cola"]), (None, ["a"]), ("", ["a"])]
    edits = [dict(*row[5:]).get("edits") for row in read_rows(build_report({"one": answers}))]
    assert edits == [None, [4, 4, 0, 1, 4, 4], None, None]


def test_raw_output_is_embedded_only_where_it_differs() -> None:
    scored = score_pairs([("tea", ["tea"]), ("cup", ["cup"])], raw=["It is tea.", "cup"])
    rows = read_rows(as_html(conclude([scored])))
    assert [dict(*row[5:]) for row in rows] == [{"raw": "It is tea."}, {}]


# Comparison, groups, and what is behind a score


def test_report_puts_the_best_submission_first_and_compares_the_others_with_it() -> None:
    data = read_data(build_report({"poor": THREE["poor"], "good": THREE["good"]}))
    assert [submission["name"] for submission in data["document"]["submissions"]] == ["good", "poor"]
    assert (data["document"]["baseline"], data["ranks"]) == ("good", {"good": 1, "poor": 2})
    pairs = {(first, second): pair for first, others in data["pairs"].items() for second, pair in others.items()}
    verdicts = {names: (pair["verdict"], pair["wins"], pair["losses"]) for names, pair in pairs.items()}
    assert verdicts == {("poor", "good"): ("better", 180, 0), ("good", "poor"): ("worse", 0, 180)}


def test_report_of_all_pairs_has_every_pair_with_its_p_value_for_all_pairs() -> None:
    scored = [score_pairs(THREE[name], name=name) for name in ("poor", "good", "fair")]
    pairs = conclude(scored, all_pairs=True)
    expected = {frozenset((each.first, each.second)): each.p_value_adjusted for each in pairs.compared.comparisons}
    document = read_data(as_html(pairs))["document"]
    found = {frozenset((each["first"], each["second"])): each["p_value_adjusted"] for each in document["comparisons"]}
    assert (document["baseline"], document["all_pairs"], found) == ("good", True, expected)
    assert len(read_data(as_html(conclude(scored)))["document"]["comparisons"]) == 2


def test_report_leaves_out_variants_beyond_most_by_variant() -> None:
    assert list(read_data(build_report(THREE, most_by_variant=600))["variants"]) == list(THREE)
    assert read_data(build_report(THREE, most_by_variant=599))["variants"] == {}


def test_report_groups_by_fields_with_few_values() -> None:
    records = [{"kind": "ab"[number % 2], "page": str(number), "list": ["x"]} for number in range(40)]
    data = read_data(build_report({"one": make_answers(40, 0.5)}, records))
    assert data["groups"] == {"kind": {"a": list(range(0, 40, 2)), "b": list(range(1, 40, 2))}}
    groups = data["document"]["submissions"][0]["groups"]["kind"]
    assert [each["questions"] for each in groups.values()] == [20, 20]
    assert [low < mean < high for mean, (low, high), _ in map(dict.values, groups.values())] == [True, True]


def test_report_groups_by_the_field_of_the_documents() -> None:
    records = [{"image": f"documents/a{number // 4}_1.png"} for number in range(40)]
    data = read_data(build_report({"one": make_answers(40, 0.5)}, records))
    assert list(data["groups"]) == ["image"]
    assert len(data["groups"]["image"]) == 10
    assert data["pages"][:5] == ["documents/a0_1.png"] * 4 + ["documents/a1_1.png"]


@pytest.mark.parametrize("variant", ["standard", "nls", "fast_anls"])
def test_partial_credit_is_the_sum_of_the_questions_that_the_report_names(variant: str) -> None:
    texts = [("0.26", "0.28"), ("977,633", "977633"), ("240", "240.00"), ("1988", "2019"), ("Coca Col", "Coca Cola")]
    answers = [(ours, [accepted]) for ours, accepted in (*texts, ("12/15/89", "12/15/88"), ("5", "5"), ("", "5"))]
    page = build_report({"one": [*answers, (None, ["5"])]}, variant=variant)
    scores = [row[1] for row in read_rows(page)]
    credit = read_data(page)["answers"][0]["partial_credit"]
    lost, gained = (credit[name] for name in ("format_loss", "wrong_number_credit"))
    assert sum(1 - scores[row] for row in lost["questions"]) / 9 == pytest.approx(lost["value"])
    assert sum(scores[row] for row in gained["questions"]) / 9 == pytest.approx(gained["value"])
    assert {0, 5} <= set(gained["questions"])
    assert {1, 2} <= set(lost["questions"])


def test_partial_credit_of_runs_names_each_question_once() -> None:
    scored = score_pairs([("0.26", ["0.28"]), ("5", ["5"])])
    runs = scored.answers._replace(predictions=["0.26", "0.28", "0.27", "5", "5", "5"], places=[0, 0, 0, 1, 1, 1])
    page = as_html(conclude([score_answers(runs, scored.scorer)]))
    credit = read_data(page)["answers"][0]["partial_credit"]
    assert credit["format_loss"] == {"value": 0.0, "questions": []}
    assert credit["wrong_number_credit"] == {"value": pytest.approx(1.5 / 6), "questions": [0]}


def test_confusions_name_the_questions_that_count_in_them() -> None:
    texts = [("B0B", "BOB"), ("R0AD", "ROAD"), ("5", "5"), ("zzz", "ROAD"), ("b0b", "bob")]
    data = read_data(build_report({"one": [(ours, [accepted]) for ours, accepted in texts]}))
    expected = {"predicted": "0", "accepted": "o", "count": 3, "questions": [0, 1, 4]}
    assert data["answers"][0]["confusions"] == [expected]


def test_suspected_label_errors_are_listed_for_three_submissions() -> None:
    answers = [("Cola", ["Pepsi"]), ("tea", ["tea"])]
    data = read_data(build_report(dict.fromkeys("abc", answers)))
    assert data["suspected_label_errors"] == ["0"]
    assert read_data(build_report(dict.fromkeys("ab", answers)))["suspected_label_errors"] == []


def test_report_of_nested_values_has_their_trees_and_the_groups_of_their_keys() -> None:
    log = [{"id": n, "prediction": {"a": "tee", "b": n}, "references": {"a": "tea", "b": 1}} for n in range(4)]
    result = evaluate([Input(log)], None, Settings(variant="anls_star", by_key=True, quiet=True))
    page = as_html(result)
    assert (read_data(page)["similarities"], read_data(page)["variants"]) == (None, {})
    assert list(read_data(page)["document"]["submissions"][0]["groups"]["key of the value"]) == ["a", "b"]
    branches = read_rows(page)[0][5]["tree"][5]
    assert [(name, prediction, reference) for name, prediction, reference, *_ in branches] == [
        (".a", "tee", "tea"),
        (".b", "0", "1"),
    ]
    assert branches[0][6] == [2, 2, 1, 1]  # edits
