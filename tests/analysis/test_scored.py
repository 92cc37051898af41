"""What is known about a scored set: groups, the worst answers, clusters, runs, and data of the report."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import VARIANTS, Scores, Variant, cluster_field, compare, get_variant, interval, score
from anls_metric.analysis.alignment import MAX_CELLS, align
from anls_metric.analysis.clustering import choose_clusters
from anls_metric.analysis.independence import describe_independence
from anls_metric.analysis.question_groups import list_grouping_fields
from anls_metric.analysis.scored import score_under
from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.reading.table import Table
from tests.analysis.scoring import make_table, score_columns
from tests.conftest import fuzzed_rows

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

Records = list[dict[str, Any]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x", "y", "x", "y"], {"x": (2, 0.5), "y": (2, 0.75)}),
        ([["x", "y"], ["x"], "absent", None], {"x": (2, 1.0), "y": (1, 1.0)}),  # a list is several groups
        ([["x", "x"], [], "x", "y"], {"x": (2, 0.5), "y": (1, 0.5)}),
        ([7, "7", 7.0, 7.5], {"7": (3, 2 / 3), "7.5": (1, 0.5)}),  # formats write a value differently
        ([10, 2, True, 2], {"2": (2, 0.75), "10": (1, 1.0), "True": (1, 0.0)}),  # 2 before 10
    ],
)
def test_groups_are_by_the_values_of_a_field(values: list[Any], expected: dict[str, tuple[int, float]]) -> None:
    rows = [row | ({} if value == "absent" else {"kind": value}) for row, value in zip(make_table("yynh"), values)]
    groups = score(rows, by="kind").to_dict()["submissions"][0]["groups"]["kind"]
    found = [(name, (group["questions"], group["anls"])) for name, group in groups.items()]
    assert found == [*expected.items()]


def test_groups_of_keys_count_a_key_without_a_prediction_as_0() -> None:
    accepted = {"total": "5", "items": [{"name": "tea"}, {"name": "milk"}]}
    predictions: list[Any] = [{"total": "5", "items": [{"name": "tea"}]}, None]
    rows = [{"prediction": prediction, "answers": accepted} for prediction in predictions]
    groups = score(rows, variant="anls_star", by_key=True, missing="zero").to_dict()["submissions"][0]["groups"]
    found = {name: group["anls"] for name, group in groups["key of the value"].items()}
    assert found == {"items": 0.25, "items.name": 0.25, "total": 0.5}  # a missed item has a missed name


def test_worst_say_why_they_have_their_score() -> None:
    worst: Any = score(make_table("yhn"), worst=2).to_dict()["submissions"][0]["worst"]
    found = [(each["id"], each["score"], each["closest_reference"]) for each in worst]
    assert found == [("q2", 0.0, "Cola"), ("q1", 0.5, "Cola")]
    assert "2 edits on 4 characters" in worst[1]["why"]


@pytest.mark.parametrize(
    ("variant", "predictions", "shares"),
    [
        ("standard", ["Coca Cola", " coca  cola ", "Coca Col", "the Coca Cola sign", "Pepsi"], (2 / 5, 3 / 5)),
        ("standard", ["It is: Coca Cola!", None], (0.0, 0.5)),
        ("lmms_eval_0_2", ["Coca Col", "Coca Cola"], (0.5, 0.5)),  # both score 1
        ("due", ["coca cola"], (0.0, 0.0)),
    ],
)
def test_shares_of_exact_matches_and_contained_answers(variant: str, predictions: list[Any], shares: Any) -> None:
    scored = score_columns(predictions, [["Coca Cola"]] * len(predictions), scorer=variant)
    assert (scored.exact_match, scored.contains) == shares


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_those_of_the_explanations(variant: str) -> None:
    predictions, references = zip((None, [""]), ("None", ["none"]), *fuzzed_rows(300, seed=3))
    scored = score_columns(predictions, references, scorer=variant)
    for place, own in enumerate(scored.scores):
        why = scored.why(place)
        assert own == (why.score if why else 0.0)


def test_wrong_answer_is_explained_once_for_all_outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    explained: list[str] = []
    explain = Variant.explain

    def count(variant: Variant, prediction: str, references: Any) -> Any:
        explained.append(prediction)
        return explain(variant, prediction, references)

    monkeypatch.setattr(Variant, "explain", count)
    predictions = ["right", *(f"b{number}d" for number in range(9)), "x"]
    scores = score(predictions, [["right"], *[["bad"]] * 9, ["y"]], worst=5)
    scores.to_dict()
    scores.confusions()
    scores.report(tmp_path / "report.html")
    assert sorted(explained) == sorted(predictions[1:])


def test_interval_of_a_mean_of_leaves_takes_each_question_as_a_cluster() -> None:
    predictions, references = [["a", "b"], ["a", "x"], ["c"]], [["a", "b"], ["a", "b"], ["x"]]
    scores = score(predictions, references, variant="anls_star", average="leaves")
    assert scores.anls == 0.6
    assert scores.interval == interval([1.0, 1.0, 1.0, 0.0, 0.0], [1, 1, 2, 2, 3])


def test_list_grouping_fields_lists_fields_with_few_values() -> None:
    odd: dict[str, Any] = {"none": None, "same": 1, "raw": b"x", "tags": ["a"]}
    records = [odd | {"kind": n % 3, "half": n % 2, "id": n} for n in range(9)]
    scored = score_columns(["x"] * 9, [["a"]] * 9)
    answers = scored.answers._replace(questions=scored.questions._replace(table=Table(records)))
    assert list_grouping_fields(replace(scored, answers=answers)) == ["half", "kind"]


# Clusters: the first field of the documented order that repeats


def make_records(count: int = 12, **counts: int) -> Records:
    """Make records whose fields have these numbers of values."""
    return [{name: f"{name} {number % most}" for name, most in counts.items()} for number in range(count)]


DOCVQA = make_records(60, questionId=60, docId=30, ucsf_document_id=10, ucsf_document_page_no=3, image=30)


@pytest.mark.parametrize(
    ("records", "cluster_by", "expected"),
    [
        (DOCVQA, None, ("ucsf_document_id", 10)),
        (DOCVQA, "image", ("image", 30)),
        (DOCVQA, "ucsf_document_page_no", ("ucsf_document_page_no", 3)),
        (DOCVQA, "questionId", ("questionId", 60)),
        (DOCVQA, "none", None),
        (make_records(image=3, docId=4), None, ("docId", 4)),
        (make_records(image=3, docId=12), None, ("image", 3)),  # docId differs for each question
        (make_records(image=3, docId=1), None, ("image", 3)),  # docId is always the same
        (make_records(count=5_000, document=16), None, ("document", 16)),  # the number of values does not matter
        (make_records(page=3, question_type=2), None, None),
        ([{"doc": {"image_id": number // 2}} for number in range(8)], None, ("doc.image_id", 4)),  # lm-eval's logs
        ([{"row": {"image_id": number // 2}} for number in range(8)], None, None),
        ([{"images": [f"{number // 4}.png", "b.png"]} for number in range(8)], None, ("images", 2)),
        ([{"images": [f"{number // 4}.png"]} for number in range(8)], "images", ("images", 2)),
        ([{"doc": {"image": number // 2}} for number in range(8)], "doc.image", ("doc.image", 4)),
        ([{"doc": "a"}, {"doc": "a"}, {"doc": "b"}, {}, {"doc": None}], None, ("doc", 4)),
    ],
)
def test_clusters_are_by_the_first_field_that_repeats(records: Records, cluster_by: str | None, expected: Any) -> None:
    rows = [{**record, "prediction": "a", "references": ["a"]} for record in records]
    found = score(rows, cluster_by=cluster_by).to_dict()["clusters"]
    assert found == (expected and {"field": expected[0], "count": expected[1], "rule": ""})


# The values of a field, and the documents that they name; None for a field that names none.
LETTERS = "abcdefghijklmno"
PAGES: dict[str, tuple[list[str], list[str] | None]] = {
    "letters": (["a-p1", "a-p2.png", "b-p1"], ["a", "a", "b"]),
    "words": (["Report page 1", "Report page 2", "Memo page 1"], ["Report", "Report", "Memo"]),
    "folders": (
        [f"{name}/{page}.jpg" for name in LETTERS for page in (1, 2)],
        [name for name in LETTERS for _ in "12"],
    ),
    "pages in folders": (["A/page_1.png", "A/page_2.png", "B/page_1.png"], ["A", "A", "B"]),
    "numbers that repeat": ([f"{a}_{n}" for a in LETTERS for n in "12"], [a for a in LETTERS for _ in "12"]),
    "few names": (["fq_1.png", "fq_2.png", "xy_1.png", "xy_1.png"], ["fq_1.png", "fq_2.png", "xy_1.png", "xy_1.png"]),
    "one number of two kinds": (
        [f"form_{n}.png" for n in range(20)] + [f"chart_{n}.png" for n in range(19, 40)] + ["form_1.png"],
        [f"form_{n}.png" for n in range(20)] + [f"chart_{n}.png" for n in range(19, 40)] + ["form_1.png"],
    ),
    "years of firms": (
        [f"{firm}_{year}" for firm in "abc" for year in range(2000, 2020)] * 2,
        [f"{firm}_{year}" for firm in "abc" for year in range(2000, 2020)] * 2,
    ),
    "numbers of one stem": (["invoice_1001", "invoice_1002", "invoice_1002"], ["invoice_1001", *["invoice_1002"] * 2]),
    "numbers in one folder": (
        ["img/1001.png", "img/1002.png", "img/1002.png"],
        ["img/1001.png", *["img/1002.png"] * 2],
    ),
    "one document": (["a-p1", "a-p2", "a-p3"], ["a", "a", "a"]),
    "only pages": (["page_1.png", "page_2.png", "page_2.png"], None),
    "no pages": (["a.png", "b.png", "b.png"], ["a.png", "b.png", "b.png"]),
}


@pytest.mark.parametrize("case", PAGES)
def test_documents_are_what_is_left_without_the_page(case: str) -> None:
    values, expected = PAGES[case]
    records = [{}, *({"image": value} for value in values)]  # the field may come late
    found = choose_clusters(records)
    assert (found and found.names[1:]) == expected
    assert choose_clusters(records[::-1]) == (found and found._replace(names=found.names[::-1]))
    assert choose_clusters(records, "image").names[1:] == values  # type: ignore[union-attr]


@pytest.mark.parametrize("field", ["doc_id", "docId", "pdf_path", "doc_name"])
def test_number_in_the_name_of_a_document_is_no_page(field: str) -> None:
    names = [f"{name}_{year}" for name in LETTERS for year in (2019, 2020)] * 2
    assert choose_clusters([{field: name} for name in names]).names == names  # type: ignore[union-attr]
    pages = [{field: f"{name}_p{page}"} for name in LETTERS for page in (1, 2)]
    assert choose_clusters(pages).size == len(LETTERS)  # type: ignore[union-attr]


def test_output_says_which_unit_was_taken() -> None:
    rows = [{"prediction": "a", "references": ["a"], "scan": n // 2, "kind": n % 3} for n in range(24)]
    cases: tuple[tuple[Any, str, str], ...] = (
        ({}, "independent", "questions taken as independent: no field names their document; if 'scan' does, add "),
        ({"cluster_by": "scan"}, "clusters", "12 documents (by scan)"),
    )
    for options, where, words in cases:
        scores = score(rows, **options)
        assert scores.to_dict().get(where)
        assert words in str(scores)
    assert "24 questions about 12 documents (by scan)" in score(rows, cluster_by="scan").to_markdown()
    assert "Questions taken as independent: no field names" in compare({"a": rows, "b": rows}).to_markdown()
    assert "independent" not in score(rows, cluster_by="none").to_dict()


@pytest.mark.parametrize(("first", "second"), [*pairwise(DOCUMENTS)])
def test_cluster_field_takes_the_usual_names_in_their_order(first: str, second: str) -> None:
    assert cluster_field(make_records(**{second: 2, first: 6})) == first
    assert cluster_field(make_records(**{second: 2, first: 12})) == second


NOTHING: list[Any] = [None, "", float("nan"), {"bytes": b"", "path": "a"}, ["a", "b"]]


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], ["a"] * 4, *([value] * 4 for value in NOTHING)], ids=str)
def test_cluster_field_skips_values_that_group_nothing(values: list[Any]) -> None:
    assert cluster_field([{"image": value} for value in values]) is None
    both = [{"image": value, "page_id": number // 2} for number, value in enumerate(values)]
    assert cluster_field(both) == "page_id"


@pytest.mark.parametrize("cluster_by", ["ucsf_document_id", "image", "none"])
def test_interval_is_that_of_the_clusters_in_any_order(cluster_by: str) -> None:
    chance = random.Random(1)
    rows = [record | {"prediction": chance.choice(["Cola", "x"]), "answers": ["Cola"]} for record in DOCVQA]
    names = None if cluster_by == "none" else [row[cluster_by] for row in rows]
    expected = interval([float(row["prediction"] == "Cola") for row in rows], names)
    assert score(chance.sample(rows, len(rows)), cluster_by=cluster_by).interval == expected


# Several runs of a model: averages by question, the deviation, and comparisons

Runs = Mapping[str, Sequence[str | None]]


def list_rows(answers: Runs) -> Records:
    """List the answers to each question; each run has the field "run"."""
    return [
        {"id": key, "run": number, "prediction": text, "answers": ["Coca Cola"]}
        for key, runs in answers.items()
        for number, text in enumerate(runs)
    ]


def score_runs(answers: Runs, **options: Any) -> Scores:
    return score(list_rows(answers), missing="zero", runs="question", **options)


def test_runs_are_averaged_by_question() -> None:
    answers = {"7": ["Coca Cola", "CocaCola", "Pepsi"], "8": ["Coca Cola", "x", "Coca Cola"]}
    scores = score_runs(answers, worst=1, metrics="f1")
    scored = scores["data"]
    assert scored.scores == [math.fsum([1, 8 / 9, 0]) / 3, 2 / 3]
    assert scores.anls == pytest.approx(statistics.mean([1, 8 / 9, 0, 1, 0, 1]))
    assert (scored.exact_match, scored.contains) == (0.5, 0.5)
    causes = ["right", "punctuation", "wrong", "right", "wrong", "right"]
    assert [answer["outcome"] for answer in scores.answers()] == causes
    assert [answer["score"] for answer in scores.answers()] == [1, 8 / 9, 0, 1, 0, 1]
    (document,) = scores.to_dict()["submissions"]
    assert (document["questions"], document["runs"]) == (2, 3)
    assert document["run_scores"] == pytest.approx([1, 4 / 9, 0.5])
    assert document["run_sd"] == pytest.approx(statistics.stdev([1, 4 / 9, 0.5]))
    assert document["metrics"]["f1"]["mean"] == 0.5
    lost = {row["cause"]: (row["points"], row["answers"]) for row in document["lost"]["rows"]}
    assert lost == {"wrong": (pytest.approx(1 / 3), 2), "punctuation": (pytest.approx(1 / 54), 1)}
    (worst,) = document["worst"]
    # The answer whose score is closest to the mean represents the question.
    assert (worst["id"], worst["prediction"], worst["outcome"]) == ("7", "CocaCola", "punctuation")


@pytest.mark.parametrize(
    ("answers", "anls", "run_scores"),
    [
        ({"7": ["Coca Cola"] * 3, "8": ["x"]}, 0.5, [0.5] * 3),  # the other runs lack an answer
        ({"7": ["Coca Cola", None], "8": ["x", "x"]}, 0.25, [0.5, 0.0]),  # a missing answer counts 0
    ],
)
def test_runs_with_answers_missing(answers: Runs, anls: float, run_scores: list[float]) -> None:
    scores = score_runs(answers)
    assert scores.anls == anls
    assert scores["data"].run_scores == run_scores
    assert ("run_sd" in scores.to_dict()["submissions"][0]) == bool(run_scores)


def test_runs_are_compared_by_their_mean_scores() -> None:
    answers = {"base": ["Coca Cola", "x"], "tuned": ["Coca Cola", "Coca Cola"]}
    tables = {name: list_rows({str(place): runs for place in range(40)}) for name, runs in answers.items()}
    (comparison,) = compare(tables, runs="question").to_dict()["comparisons"]
    assert (comparison["difference"], comparison["wins"], comparison["questions"]) == (0.5, 40, 40)


@pytest.mark.parametrize(("spread", "could_turn"), [(1, False), (9, True)])
def test_verdict_of_runs_says_whether_other_seeds_could_turn_it(spread: int, could_turn: bool) -> None:
    """The difference is 12 points; Welch's bound is that of scipy."""
    stats = pytest.importorskip("scipy.stats")
    wrong = {"base": [20, 20 + spread, 20 + 2 * spread], "tuned": [8, 8 + spread, 8 + 2 * spread]}
    tables = {
        name: [
            {"id": place, "run": run, "prediction": "x" if place < count else "Coca Cola", "answers": ["Coca Cola"]}
            for run, count in enumerate(counts)
            for place in range(100)
        ]
        for name, counts in wrong.items()
    }
    scores = compare(tables, runs="question")
    found: Any = scores.to_dict()["comparisons"][0]
    assert (found["verdict"], found["difference"]) == ("better", pytest.approx(0.12))
    p_value = stats.ttest_ind(*wrong.values(), equal_var=False).pvalue
    assert (found["difference"] < found["seeds_bound"]) == (p_value > 0.05) == could_turn
    bound = stats.t.ppf(0.975, 4) * math.sqrt(2 * (spread / 100) ** 2 / 3)
    assert found["seeds_bound"] == pytest.approx(bound)
    assert ("better, other seeds could turn it" in str(scores)) == could_turn
    assert any("other seeds could turn the difference" in hint for hint in scores.hints) == could_turn
    one = {name: [row for row in rows if row["run"] == 0] for name, rows in tables.items()}
    assert compare(one).to_dict()["comparisons"][0]["seeds_bound"] is None


def test_runs_and_a_mean_of_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match='runs can only be averaged question by question: use average="rows"'):
        score_runs({"7": ["Coca Cola", "x"]}, variant="anls_star", average="leaves")


# What the report shows of an answer and of all questions: every number equals that of scoring again


@pytest.mark.parametrize(
    ("prediction", "reference", "sizes"),
    [
        ("CocaCola", "Coca Cola", [4, 4, 0, 1, 4, 4]),
        ("xCola", "Cola", [0, 0, 1, 0, 4, 4]),
        ("  COLA", "colas ", [2, 0, 0, 0, 4, 4, 0, 1, 0, 1]),
        ("a \n b", "A b!", [1, 1, 0, 0, 3, 1, 0, 0, 1, 1, 0, 1]),
        ("İstanbul", "istanbu", [0, 1, 1, 0, 6, 6, 1, 0]),
        ("🙂a", "🙂b", [1, 1, 1, 1]),
    ],
)
def test_align_counts_characters_of_the_texts_as_written(prediction: str, reference: str, sizes: list[int]) -> None:
    assert align(anls_metric.explain(prediction, [reference])) == sizes


@pytest.mark.parametrize("variant", ["standard", "stvqa", "nls", "mistral_evals", "rrc"])
def test_align_covers_both_texts(variant: str) -> None:
    for prediction, references in fuzzed_rows(100, 7):
        why = anls_metric.explain(prediction, references, variant=variant)
        sizes = align(why)
        assert sizes is not None
        assert (sum(sizes[::2]), sum(sizes[1::2])) == (len(prediction), len(why.closest))


def test_align_refuses_texts_that_are_too_long_or_differ_everywhere() -> None:
    long = "a" * (int(MAX_CELLS**0.5) + 1)
    assert align(anls_metric.explain(long, [long + "b"])) is None
    assert align(anls_metric.explain("ab" * 1000, ["ac" * 1000], variant="nls")) is None


ROWS = [*fuzzed_rows(300, 11), ("none", ["none"]), ("", ["a"]), ("", [""]), ("ab", ["abcd"]), ("İİ", ["i"])]


@pytest.mark.parametrize("variant", VARIANTS)
def test_score_under_another_variant_is_its_score_and_missing_answers_count_0(variant: str) -> None:
    predictions, references = zip(*ROWS)
    scored = score_columns(predictions, references, scorer=variant)
    assert score_under(scored.answers, get_variant(variant)) == scored.anls
    half = score_columns([*predictions, *[None] * len(ROWS)], references * 2)
    assert score_under(half.answers, get_variant(variant)) == pytest.approx(scored.anls / 2)


def test_answer_scores_from_a_minimum_similarity() -> None:
    assert [VARIANTS[name].minimum_similarity for name in ("standard", "nls")] == [0.5, 0.0]


# A field of 60 rows, and whether it is proposed as that of the documents.
MAY_BE_DOCUMENTS: dict[str, tuple[dict[str, Any], bool]] = {
    "scattered numbers": ({"tokens": [n * 7919 % 31 for n in range(60)]}, False),
    "scattered numbers of CSV": ({"tokens": [str(n * 7919 % 31) for n in range(60)]}, False),
    "numbers of documents": ({"scan": [n // 2 for n in range(60)]}, True),
    "scattered names": ({"scan": [f"s{n * 7919 % 31}" for n in range(60)]}, True),
    "answers of another model": ({"model_answer": [f"a{n % 31}" for n in range(60)]}, False),
    "scores": ({"f1": [f"a{n % 31}" for n in range(60)]}, False),
}


@pytest.mark.parametrize("case", MAY_BE_DOCUMENTS)
def test_field_that_may_name_documents_is_proposed(case: str) -> None:
    columns, is_proposed = MAY_BE_DOCUMENTS[case]
    (name,) = columns
    texts = [f"a {n}" for n in range(60)]
    found = describe_independence(
        score({"prediction": texts, "references": [[text] for text in texts], **columns})["data"]
    )
    assert (f"--cluster-by {name}" in found) == is_proposed


def test_fields_of_an_answer_name_no_document() -> None:
    answers = {f"d{n}": {"city": f"c{n % 9}", "total": f"{n}"} for n in range(40)}
    scored = score(answers, gold=answers, variant="anls_star")["data"]
    assert describe_independence(scored).endswith("no field names their document")


def test_table_with_both_sides_keeps_its_roles() -> None:
    scored = score(
        [{"nr": n, "said": "a", "right": "a"} for n in range(3)], id="nr", prediction="said", references="right"
    )
    assert scored["data"].questions.roles[:4] == ("nr", None, "said", "right")


def test_references_that_repeat_name_no_document() -> None:
    rows = [{"prediction": "a", "answers": [f"{n % 9} and {n % 9}"], "note": n} for n in range(40)]
    assert describe_independence(score(rows)["data"]).endswith("no field names their document")
