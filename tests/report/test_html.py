"""The report as a file: its data, the words at its top, and the escaping of texts."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import math
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import VARIANTS, explain
from anls_metric.analysis.comparison import compare
from anls_metric.analysis.contributions import split_difference, split_loss
from anls_metric.analysis.evaluation import evaluate
from anls_metric.analysis.hint import Hint
from anls_metric.messages import Message
from anls_metric.options import Settings
from anls_metric.reading.inputs import Input
from anls_metric.report.schema import Headline
from anls_metric.report.scripts import ASSETS, DRAWING, SCRIPT
from tests.report.sample_reports import (
    HOSTILE,
    as_html,
    build_report,
    conclude,
    describe_headline,
    make_answers,
    read_data,
    read_rows,
    score_pairs,
)

GOOD, FAIR, POOR = (make_answers(120, share) for share in (0.9, 0.5, 0.1))
EQUAL, THREE = {"a": GOOD, "b": GOOD}, {"a": GOOD, "b": FAIR, "c": POOR}


class Page(HTMLParser):
    """The tag and the attributes of every element of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))


def test_report_loads_nothing_from_any_network() -> None:
    page = build_report(THREE, hints=["see --extract final"])
    for tag, attributes in Page(page).elements:
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
        for name in ("src", "href", "action", "style", "srcset", "background"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert "url(" not in page


def test_content_security_policy_allows_only_the_own_style_and_script() -> None:
    page = build_report(THREE)
    policies = [attributes["content"] for _, attributes in Page(page).elements if "http-equiv" in attributes]
    assert policies[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
    assert (rules["default-src"], rules["img-src"]) == ("'none'", "data:")
    patterns = {"style-src": r"<style>(.*?)</style>", "script-src": r'<script type="module">(.*?)</script>'}
    for name, pattern in patterns.items():
        (content,) = re.findall(pattern, page, re.DOTALL)
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
    assert "\r" not in page


def test_modules_of_the_script_are_all_joined() -> None:
    assert sorted(SCRIPT) == sorted(ASSETS.glob("*.js"))
    script = re.findall(r'<script type="module">(.*?)</script>', build_report(THREE), re.DOTALL)[0]
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    page = Path(anls_metric.__file__).parent / "page" / "assets"
    for modules in (SCRIPT, [*DRAWING, *page.glob("*.js")]):  # share a scope
        whole = "".join(path.read_text(encoding="utf-8") for path in modules)
        assert all(line.endswith('.js";') for line in re.findall("^import .*$", whole, re.MULTILINE))
        assert not re.search(r"^(?:const|let) [\[{]", whole, re.MULTILINE)  # destructuring hides names
        names = re.findall(r"^(?:export )?(?:const|let|function|class) (\w+)", whole, re.MULTILINE)
        assert len(names) == len({*names})
    sizes = {kind: sum(path.stat().st_size for path in ASSETS.glob(f"*.{kind}")) for kind in ("js", "css")}
    assert sizes["js"] <= 90_000
    assert sizes["css"] <= 20_000
    own = [*ASSETS.iterdir(), *page.glob("*.[cj]s*")]
    lines = [line for path in own for line in path.read_text(encoding="utf-8").splitlines()]
    assert max(map(len, lines)) <= 120


def test_report_escapes_hostile_texts() -> None:
    record = {"id": HOSTILE, "question": HOSTILE, "image": HOSTILE, HOSTILE: HOSTILE}
    records = [record, {**record, "id": "2", HOSTILE: "other"}]
    answers = [(HOSTILE, [HOSTILE + "x"]), (HOSTILE, ["y"])]
    page = build_report({HOSTILE: answers, HOSTILE + "2": answers}, records, hints=[HOSTILE], gold=HOSTILE)
    page.encode()  # halves of surrogate pairs have no bytes: they are escaped
    tags = [tag for tag, _ in Page(page).elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert read_data(page)["ids"][0] == HOSTILE
    assert read_rows(page)[0]["prediction"] == HOSTILE
    for character in "\u202e\x00\r":
        assert character not in re.sub(r'<script id="data".*?</script>', "", page, flags=re.DOTALL)


def test_heading_sentences_and_table_need_no_script() -> None:
    page = build_report(THREE, hints=["see --extract final"])
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    for text in ("a is the best of three", "b minus a: −", "<code>--extract final</code>", "120 questions"):
        assert text in shown
    rows = re.findall(r'<tr><th scope="row">([abc])</th><td>(.*?)</td>', shown)
    assert [name for name, _ in rows][:3] == ["a", "b", "c"]
    assert rows[0][1] == "<b>93.1</b>"


def test_report_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    raw = [Hint(Message("", "raw", {}), "b", ("final", "sentence"), 0.97)]
    scored = [score_pairs(make_answers(40, right), name=name) for name, right in {"a": 0.9, "b": 0.5}.items()]
    result = conclude(scored, raw, corrections="/tmp/upload/c.json")
    made: Any = ({}, {"command": "anls 'g h.json' --quiet"}, {"front_end": "page"})
    call, command, page = (html.unescape(as_html(result, **more)) for more in made)
    for text in (call, command, page):
        assert f"Signature: <code>{result.signature}</code></p>" in text
        assert (
            f"Made on 1970-01-02 by anls-metric {anls_metric.__version__}, Python {platform.python_version()}" in text
        )
    assert ("/tmp/upload" in call, "c.json" in call, "c.json" in page) == (False, True, False)
    assert "<code>compare(..., corrections='c.json')</code>" in call
    assert "<p>To extract answers as a hint proposes: <code>compare(..., corrections='" in call
    assert ", extract='final,sentence')</code></p>" in call
    assert "<code>anls 'g h.json' --quiet</code>" in command
    assert "<code>anls 'g h.json' --quiet --extract final,sentence</code>" in command


RULE_ROWS = [{"id": n, "prediction": "a", "gold": "a", "answer_format": "Str"} for n in range(3)]


@pytest.mark.parametrize(
    ("made", "found", "absent"),
    [
        (
            lambda: anls_metric.score(['{"brand": "Coca"}'] * 3, [["Coca"]] * 3, extract="json:brand"),
            "extract json:brand",
            "",
        ),
        (
            lambda: anls_metric.compare({"a": RULE_ROWS, "b": [RULE_ROWS, RULE_ROWS]}, variant="mmlongbench_doc"),
            "accuracy",
            "",
        ),
        (
            lambda: anls_metric.score([{"a": "x"}], [{"a": "x"}], variant="anls_star"),
            "<p>anls|anls_star|matching:munkres-1.1.4|",
            "under each variant",
        ),
    ],
    ids=["extraction with a field", "runs of one model under a benchmark metric", "values"],
)
@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_details_of_the_report_can_be_made_and_copied(made: Any, found: str, absent: str, tmp_path: Path) -> None:
    made().report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert found in page
    assert not absent or absent not in page


@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_only_outcomes_of_the_answers_are_explained(tmp_path: Path) -> None:
    anls_metric.score(["Coca-Cola", "5", "tea"], [["Coca Cola"], ["4"], ["tea"]]).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert {*re.findall("<dt>(.*?)</dt>", page)} == {"another number", "punctuation"}


# Questions and answers


def test_report_data_holds_every_answer_unchanged() -> None:
    answers = [("  The\nCOCA Cola ", ["Coca Cola", "Pepsi"]), (None, ["7"]), ("x" * 10**6, ["8"])]
    page = build_report({"one": answers})
    data, rows = read_data(page), read_rows(page)
    assert data["ids"] == ["0", "1", "2"]
    assert data["references"] == [accepted for _, accepted in answers]
    assert [row["prediction"] for row in rows] == [prediction for prediction, _ in answers]
    assert [row["score"] for row in rows] == [explain("  The\nCOCA Cola ", "Coca Cola").score, 0.0, 0.0]
    assert [data["sentences"][row["sentence"]] for row in rows][:2] == [
        "4 edits on 13 characters: similarity 69.2%, at least the threshold of 50%.",
        "The submission has no answer to it, so 0.",
    ]
    assert data["document"]["submissions"][0]["source"]["file"] == "one.json"


def test_report_joins_submissions_with_other_questions_and_other_accepted_answers() -> None:
    same, keys = [("a", ["a"])] * 2, {"first": "5678", "second": "5689"}
    pairs = {"first": [*same, ("a", ["a"]), ("b", ["b"])], "second": [*same, ("x", ["c"]), ("b", ["b"])]}
    scored = [score_pairs(pairs[name], [{"id": key} for key in own], name=name) for name, own in keys.items()]
    page = as_html(conclude(scored))
    data = read_data(page)
    assert (data["ids"][2:], data["references"][2:]) == (["7", "8", "9"], [["a"], ["b"], ["b"]])
    assert [row and row["score"] for row in read_rows(page)[2:]] == [1.0, 1.0, None]
    assert [row and row["score"] for row in read_rows(page, 1)[2:]] == [None, 0.0, 1.0]
    assert read_rows(page, 1)[3]["references"] == ["c"]


def test_report_of_every_variant_has_its_signature_and_every_question_of_odd_sets() -> None:
    answers = [("abcd", ["abcd"]), ("ab", ["abcd"]), ("", ["a"]), (None, ["a"]), ("İ" * 9, ["q"])]
    for variant in VARIANTS:
        data = read_data(build_report({"one": answers}, variant=variant))
        assert list(data["variants"]["one"]) == list(VARIANTS)
        assert data["document"]["signature"].startswith(f"anls|{variant}|")
        assert len(data["ids"]) == 5


def test_report_beyond_its_size_limit_keeps_differences_and_zeros_first() -> None:
    correct, wrong = [(f"answer {number}", [f"answer {number}"]) for number in range(100)], [("x", ["y"])] * 5
    first = [*correct, *wrong]
    second = [*correct[:50], ("near answer 50", ["answer 50"]), *correct[51:], *wrong]
    data = read_data(build_report({"one": first, "two": second}, most_bytes=4_000))
    ids = list(map(int, data["ids"]))
    assert ids == sorted(ids)
    assert {50, *range(100, 105)} < set(ids) < set(range(105))
    assert f"This file contains {len(ids)} of 105 questions, those with differences or" in data["notes"][0]
    assert data["document"]["questions"] == 105
    assert "This file contains" not in build_report({"one": first})
    assert len(build_report({"one": make_answers(2000, 0.8)})) < 3_000_000


def test_edits_and_raw_output_are_embedded_only_where_strings_differ() -> None:
    texts = ["COCA  cola", "CocaCola", None, ""]
    scored = score_pairs([(text, ["Coca Cola"]) for text in texts], raw=["It is coca cola", "CocaCola", None, ""])
    more = read_rows(as_html(conclude([scored])))
    assert [each.get("edits") for each in more] == [None, [4, 4, 0, 1, 4, 4], None, None]
    assert [each.get("raw") for each in more] == ["It is coca cola", None, None, None]


# Comparison, groups, and what is behind a score


def test_report_of_all_pairs_has_the_best_first_and_p_values_of_one_baseline() -> None:
    scored = [score_pairs(THREE[name], name=name) for name in "cab"]
    data, plain = (read_data(as_html(conclude(scored, all_pairs=all_pairs))) for all_pairs in (True, False))
    assert data == plain
    p_values = {pair["second"]: pair["p_value_adjusted"] for pair in data["document"]["comparisons"]}
    assert {name: pair["p_value_adjusted"] for name, pair in data["pairs"]["a"].items()} == p_values
    assert [*data["pairs"]] == ["a"]
    assert [submission["name"] for submission in data["document"]["submissions"]] == ["a", "b", "c"]


def test_differences_under_other_metrics_are_from_the_baseline_of_the_report() -> None:
    inputs = [Input([{"id": n, "prediction": text, "answers": ["b"]} for n in range(9)], text) for text in "ab"]
    (pair,) = read_data(as_html(evaluate(inputs, None, Settings(metrics=("f1",)))))["document"]["comparisons"]
    assert (pair["first"], pair["second"], pair["metrics"]["f1"]["difference"]) == ("a", "b", 1.0)


def test_report_groups_by_fields_with_few_values_and_by_documents() -> None:
    images = [f"documents/a{number // 4}_1.png" for number in range(40)]
    records = [{"kind": "ab"[number % 2], "list": ["x"], "image": image} for number, image in enumerate(images)]
    data = read_data(build_report({"one": make_answers(40, 0.5)}, records))
    counts = {field: len(groups) for field, groups in data["groups"].items()}
    assert counts == {"kind": 2, "image": 10, "kind of answer": 1}
    assert data["groups"]["kind"]["b"] == list(range(1, 40, 2))
    assert data["pages"] == images
    groups = data["document"]["submissions"][0]["groups"]["kind"]
    assert [each["questions"] for each in groups.values()] == [20, 20]
    assert [low < mean < high for mean, (low, high), _ in map(dict.values, groups.values())] == [True, True]


def test_report_does_not_group_by_the_answers(tmp_path: Path) -> None:
    rows = [{"question": "ab"[n % 2], "prediction": "cd"[n % 2], "references": ["c"], "kind": n % 3} for n in range(12)]
    anls_metric.score(rows).report(str(tmp_path / "report.html"))
    assert list(read_data((tmp_path / "report.html").read_text())["groups"]) == ["kind", "kind of answer"]


def list_costs(data: dict[str, Any], number: int = 0) -> list[dict[str, float]]:
    """List what each question loses to each cause: to the outcome of its answer, if nothing else is said."""
    names = [each["name"] for each in data["outcomes"]]
    rows = data["answers"][number]["rows"]
    lost = [{} if row is None else row.get("costs", {names[row["outcome"]]: 1 - row["score"]}) for row in rows]
    return [{cause: points for cause, points in own.items() if points} for own in lost]


def check_costs(page: str) -> dict[str, float]:
    """Check that what the questions lose to each cause is the account of the submission; return the account."""
    data = read_data(page)
    costs, (submission,) = list_costs(data), data["document"]["submissions"]
    points = {row["cause"]: row["points"] for row in submission["lost"]["rows"]}
    for cause, value in points.items():
        assert math.fsum(own.get(cause, 0.0) for own in costs) / len(costs) == pytest.approx(value)
    assert {cause for own in costs for cause in own} == {*points}
    assert {*points} <= {each["name"] for each in data["outcomes"]}
    return points


@pytest.mark.parametrize("variant", ["standard", "nls", "fast_anls"])
def test_costs_of_the_questions_add_up_to_the_account(variant: str) -> None:
    texts = [("0.26", "0.28"), ("977,633", "977633"), ("240", "240.00"), ("1988", "2019"), ("Coca Col", "Coca Cola")]
    answers = [(ours, [accepted]) for ours, accepted in (*texts, ("12/15/89", "12/15/88"), ("5", "5"), ("", "5"))]
    page = build_report({"one": [*answers, (None, ["5"])]}, variant=variant)
    assert {"missing", "empty", "another form", "another number"} <= {*check_costs(page)}
    (submission,) = read_data(page)["document"]["submissions"]
    scores = [row["score"] for row in read_rows(page)]
    credit = submission["lost"]["credit_for_wrong"]["another number"]
    assert credit == pytest.approx(sum(scores[row] for row in (0, 3, 5)) / 9)


def test_costs_of_a_step_and_of_runs_add_up_to_the_account() -> None:
    page = build_report({"one": [(f"<think>x</think>{text}", [text]) for text in ("tea", "milk")] + [("x", ["y"])]})
    assert check_costs(page) == {"raw output": pytest.approx(2 / 3), "wrong": pytest.approx(1 / 3)}
    runs = ["0.26", "0.28", "0.27", "5", "5", "5"]
    page = as_html(conclude([score_pairs([("0.26", ["0.28"]), ("5", ["5"])], runs=runs)]))
    assert check_costs(page) == {"another number": pytest.approx(0.5 / 6)}


def test_reason_of_an_answer_that_stands_for_several_runs_says_that_the_score_is_a_mean() -> None:
    runs = ["Cola", "Cola", "xyz", "5", "5", "5"]
    page = as_html(conclude([score_pairs([("Cola", ["Cola"]), ("5", ["5"])], runs=runs)]))
    sentences = [read_data(page)["sentences"][row["sentence"]] for row in read_rows(page)]
    assert sentences == [
        "Equal to a reference, so 100%. The score is the mean of 3 runs.",
        "Equal to a reference, so 100%.",
    ]


def test_confusions_and_suspected_label_errors_name_their_questions() -> None:
    texts = [("B0B", "BOB"), ("R0AD", "ROAD"), ("5", "5"), ("zzz", "ROAD"), ("b0b", "bob")]
    answers = [(ours, [accepted]) for ours, accepted in texts]
    data = read_data(build_report(dict.fromkeys("abc", answers)))
    expected = {"predicted": "0", "accepted": "o", "count": 3, "questions": [0, 1, 4]}
    assert data["answers"][0]["confusions"] == [expected]
    assert data["suspected_label_errors"] == ["0", "1", "3", "4"]
    assert len(data["suspicions"]) == 4
    assert read_data(build_report(dict.fromkeys("ab", answers)))["suspected_label_errors"] == []


def test_report_of_nested_values_has_their_trees_and_the_groups_of_their_keys() -> None:
    log = [{"id": n, "prediction": {"a": "tee", "b": n}, "references": {"a": "tea", "b": 1}} for n in range(4)]
    page = as_html(evaluate([Input(log)], None, Settings(variant="anls_star", by_key=True, quiet=True)))
    data = read_data(page)
    assert (data["of_strings"], data["variants"], data["first_field"]) == (False, {}, "key of the value")
    keys = data["document"]["submissions"][0]["groups"]["key of the value"]
    assert {key: [figures[name] for name in ("right", "close", "wrong")] for key, figures in keys.items()} == {
        "a": [0, 4, 0],
        "b": [1, 0, 3],
    }
    assert data["groups"]["key of the value"] == {"a": [0, 1, 2, 3], "b": [0, 2, 3]}  # where a model has it wrong
    first, second = read_rows(page)[0]["tree"]["inside"]
    names = ("name", "prediction", "reference", "edits")
    assert [first.get(name) for name in names] == [".a", "tee", "tea", [2, 2, 1, 1]]
    assert [second.get(name) for name in names] == [".b", "0", "1", [0, 0, 1, 1]]


# The words at the top: the verdict, the certainty of it, and what it depends on


def describe(submissions: Mapping[str, Any], raw: int = 0, **options: Any) -> Headline:
    """Describe the headline of submissions, of which the last ones have raw output."""
    scored = [score_pairs(pairs, name=name) for name, pairs in submissions.items()]
    hints = [Hint(Message("", "raw", {}), each.name, ("sentence",), 0.9) for each in scored[len(scored) - raw :]]
    return describe_headline(conclude(scored, hints, **options))


HEADINGS: list[tuple[dict[str, Any], int, str]] = [
    ({"one": GOOD}, 0, r"one scores 93\.1"),
    ({"submission__one": GOOD}, 0, r"one scores 93\.1"),
    ({"tuned": GOOD, "base": POOR}, 0, r"tuned is better than base by 53\.\d points"),
    (EQUAL, 0, "No significant difference between a and b"),
    ({**EQUAL, "c": POOR}, 0, "a and b are the best of three, without a significant difference"),
    (THREE, 2, r"a is the best of three, better than b by .* points"),
    (dict.fromkeys("abc", GOOD), 0, "No significant difference among the three models"),
    ({**dict.fromkeys("abcd", GOOD), "e": POOR}, 0, "a, b, c and d are the best of five, .*"),
    ({**dict.fromkeys("abcde", GOOD), "f": POOR}, 0, "No .* among the best five of six: a, b, c and 2 others"),
    ({name: pairs[:5] for name, pairs in EQUAL.items()}, 0, "Too few documents to rank both"),
    ({"submission__ant": GOOD, "submission__bee": POOR}, 0, r"ant is better than bee by 53\.\d points"),
]


@pytest.mark.parametrize(("submissions", "raw", "expected"), HEADINGS)
def test_heading_says_which_is_best_in_any_order(submissions: dict[str, Any], raw: int, expected: str) -> None:
    heading = describe(submissions, raw)["heading"]
    assert re.fullmatch(expected, heading), heading
    if not raw:
        other = describe(dict(reversed(submissions.items())))["heading"]  # of equal scores, the first file comes first
        assert len(re.findall(r"\w+", other)) == len(re.findall(r"\w+", heading))


def test_summary_has_the_interval_the_adjusted_p_and_the_variants_that_reverse_the_order() -> None:
    lower, upper = [("coca cola", ["Coca Cola"])] * 40, [*[("Coca Cola", ["Coca Cola"])] * 38, ("x", ["Coca Cola"])] * 2
    content = describe({"lower": lower, "upper": upper[:40]})
    assert content["reported_baseline"] == "lower"
    assert set(content["reversed_by"]) == {
        name for name, means in content["variants"]["upper"].items() if means > content["variants"]["lower"][name]
    }
    assert re.search(
        r"upper minus lower: -\d\.\d points \(95% CI -\d\.\d to \+?\d\.\d, p = [\d.]+\)\.", content["summary"]
    )
    assert re.search(
        rf"Under \d+ of {len(anls_metric.VARIANTS)} variants, all of them case-sensitive, upper leads, by at most",
        content["summary"],
    )
    three = describe(THREE)
    assert "b minus a: -" in three["summary"]
    assert ", p < 0.001, adjusted for choosing the best)." in three["summary"]
    assert three["ranks"] == {"a": 1, "b": 2, "c": 3}


def test_summary_names_raw_output_and_lost_answers_as_warnings() -> None:
    content = describe({"a": GOOD, "b": FAIR, "c": [("", accepted) for _, accepted in POOR]}, raw=1)
    raw = "c's score is for raw output; ◇ marks it after extraction: c passes b."
    assert content["warnings"][-2:] == [raw, "c left many answers empty."]
    assert all(warning in content["summary"] for warning in content["warnings"])
    assert describe({"one": GOOD}, raw=1)["warnings"] == ["The score is for raw output; ◇ marks it after extraction."]


def test_reversal_is_never_by_no_points() -> None:
    first, second = [("x" * 2000, ["x" * 2000])] * 40, [("x" * 1999 + "X", ["x" * 2000])] * 39
    content = describe(
        {"second": [*second, ("x" * 2000, ["x" * 2000])], "first": [*first[:39], ("X" * 2000, ["x" * 2000])]}
    )
    assert "by at most 0.0 points" not in content["summary"]


COMPARED = ["difference", "difference_low", "difference_high", "p_value_adjusted"]


@pytest.mark.parametrize(
    ("submissions", "raw", "columns"),
    [
        ({"one": GOOD}, 0, []),
        ({"one": GOOD}, 1, ["anls_extracted"]),
        ({"a": GOOD, "b": POOR}, 0, COMPARED),
        (THREE, 2, ["anls_extracted", *COMPARED]),
    ],
)
def test_copied_tables_have_the_differences_with_interval_and_p(submissions: Any, raw: int, columns: list[str]) -> None:
    hints = [
        Hint(Message("", "raw", {}), name, ("sentence",), 0.97) for name in list(submissions)[len(submissions) - raw :]
    ]
    tables = read_data(build_report(submissions, hints=hints))["tables"]
    records = list(csv.DictReader(tables["csv"].splitlines()))
    assert list(records[0]) == ["name", "anls", "low", "high", *columns, "signature"]
    assert [record.get("anls_extracted", "") for record in records].count("97.0") == raw
    count = 3 + len(columns) - ("difference" in columns)
    assert tables["markdown"].splitlines()[0].count("|") == count + 1
    assert tables["latex"].count(" & ") == (count - 1) * (len(records) + 1)


def test_verdicts_of_the_report_are_those_of_its_ranks() -> None:
    """The p-values are significant by Holm's adjustment, and not if the best was chosen by its score."""
    lost = [*[("tea", ["Cola"])] * 13, *[("Cola", ["Cola"])] * 3, *[("Cola", ["Cola"])] * 30]
    best = [*[("Cola", ["Cola"])] * 13, *[("tea", ["Cola"])] * 3, *[("Cola", ["Cola"])] * 30]
    scored = [score_pairs(pairs, name=name) for name, pairs in {"best": best, "b": lost, "c": lost}.items()]
    data = read_data(as_html(conclude(scored)))
    compared = conclude(scored, baseline="best").compared
    assert compared is not None
    assert {each.verdict for each in compared.comparisons} == {"worse"}
    assert data["heading"] == "No significant difference among the three models"
    verdicts = {each["verdict"] for each in (*data["document"]["comparisons"], *data["pairs"]["best"].values())}
    assert verdicts == {"no significant difference"}
    assert "p adjusted for choosing best, the best of 3." in as_html(conclude(scored))
    chosen = read_data(as_html(conclude(scored, baseline="best")))
    assert {each["verdict"] for each in chosen["document"]["comparisons"]} == {"worse"}
    assert "p adjusted for 2 comparisons with best (Holm)." in as_html(conclude(scored, baseline="best"))


def test_report_has_the_notes_of_its_own_comparisons() -> None:
    lost = [*[("tea", ["Cola"])] * 15, *[("Cola", ["Cola"])] * 185]
    best = [*[("Cola", ["Cola"])] * 15, *[("tea", ["Cola"])] * 5, *[("Cola", ["Cola"])] * 180]
    scored = [score_pairs(pairs, name=name) for name, pairs in {**dict.fromkeys("bcde", lost), "best": best}.items()]
    result = conclude(scored)
    (note,) = compare(scored).notes
    assert result.compared is not None
    shown = replace(result, hints=[*map(Hint, result.compared.notes), *result.hints])
    assert [hint["text"] for hint in read_data(as_html(shown))["document"]["hints"]] == [note.text("python")]


def test_user_chooses_the_baseline_and_the_digits() -> None:
    content = describe(THREE, baseline="c", digits=3)
    assert content["reported_baseline"] == "c"
    assert re.search(r"better than b by \d+\.\d{3} points", content["heading"])


def test_submission_with_two_proposed_extractions_is_counted_once() -> None:
    scored = [score_pairs(pairs, name=name) for name, pairs in {"a": GOOD, "b": POOR}.items()]
    hints = [Hint(Message("", "raw", {}), "b", (rule,), 0.9) for rule in ("sentence", "final")]
    summary = describe_headline(conclude(scored, hints))["summary"]
    assert "b's score is for raw output" in summary


def test_contributions_of_runs_add_up_to_the_difference_and_name_the_lowest_answer() -> None:
    first = score_pairs([("tea", ["tea"]), ("Cola", ["Cola"])])
    scored = score_pairs([("tea", ["tea"]), ("Cola", ["Cola"])], runs=["tea", "", "Cola", "Cola"], name="runs")
    (part,) = split_difference(scored, first)
    assert (part.outcome, part.points, part.losses, part.wins) == ("empty", -0.25, 1, 0)
    assert scored.anls - first.anls == part.points


def test_causes_of_nested_values_are_exact_parts_of_the_difference() -> None:
    gold = {"a": "tea", "b": "Coca Cola", "c": "5"}
    answers: list[Any] = [
        {"a": "tea", "b": "Coca Col"},
        {**gold, "d": "x"},
        {"a": "coffee", "b": "Coca Cola", "c": "5"},
        gold,
    ]
    named: dict[str, list[Any]] = {"one": answers, "two": [gold, gold, {}, None]}
    inputs = [
        Input([{"id": n, "prediction": each, "references": gold} for n, each in enumerate(own)], name)
        for name, own in named.items()
    ]
    result = evaluate(inputs, None, Settings(variant="anls_star", missing="zero"))
    one, two = result.submissions
    parts = split_difference(one, two)
    assert sum(part.points for part in parts) == pytest.approx(one.anls - two.anls)
    assert {part.outcome for part in parts} <= {"missed", "invented", "wrong", "close"}
    assert sum(part.points for part in split_loss(one)) == pytest.approx(one.anls - 1)
    data = read_data(as_html(result))
    costs = [list_costs(data, number) for number in range(2)]
    shown = next(own for own in costs if any("invented" in each for each in own))
    assert shown[1] == {"invented": 0.25}


def test_nested_answers_count_their_leaves_by_cause() -> None:
    gold = {"a": "tea", "b": "Coca Cola", "c": "5"}
    answers: list[Any] = [{"a": "coffee"}, gold]
    log = [{"id": n, "prediction": answer, "references": gold} for n, answer in enumerate(answers)]
    data = read_data(as_html(evaluate([Input(log)], None, Settings(variant="anls_star"))))
    assert data["leaves"] == [[{"missed": 2, "wrong": 1}, {}]]
    assert read_data(build_report({"one": GOOD}))["leaves"] == []


def test_worst_questions_need_no_script_and_no_folder_is_told() -> None:
    scored = [score_pairs(pairs, name=name) for name, pairs in THREE.items()]
    command = "anls /home/me/gold.json a=/home/me/a.json '/home/me/my data/b.json' --report /tmp/r.html"
    page = html.unescape(as_html(conclude(scored), command=command))
    static = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[0]
    assert static.count('<th scope="row">') == 10
    assert "The questions with the lowest scores" in static
    assert "/home/me" not in page
    assert "anls gold.json a=a.json 'my data/b.json' --report r.html" in page
