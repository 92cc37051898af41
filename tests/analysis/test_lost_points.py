"""The account of lost points: every lost point has one cause, and what is advised gives back what it promises.

All data are made up.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as run_settings
from hypothesis import strategies as st

from anls_metric import VARIANTS, Scorer, Variant, compare, get_scorer, get_variant, register, score
from anls_metric.analysis import lost_points
from anls_metric.analysis.causes import CAUSES, is_cut_off
from anls_metric.analysis.contributions import split_difference, split_loss
from anls_metric.analysis.leaf_causes import LEAF_CAUSES
from anls_metric.analysis.lost_points import LostPoints, account_for
from anls_metric.analysis.steps import EXAMPLES
from anls_metric.options import KEYS
from anls_metric.report.lost import format_lost, round_rows
from anls_metric.report.numbers import NumberFormat
from tests.analysis.scoring import score_columns
from tests.system.conftest import Shell, shell  # noqa: F401  (a fixture)
from tests.system.test_advice import add_option

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

BRANDS = ["Coca", "Pepsi", "Fanta", "Sprite", "Schweppes", "Orangina", "Afri", "Rivella"]
ANSWERS = [f"{brand} {thing} {n}" for n, brand in enumerate(BRANDS) for thing in ("Cola", "Company", "Café")]
RIGHT = [(answer, [answer]) for answer in ANSWERS]

Pair = tuple[Any, Sequence[Any]]


def account(pairs: Sequence[Pair], scorer: Any = "standard") -> LostPoints:
    predictions, references = zip(*pairs)
    scorer = get_scorer(scorer) if isinstance(scorer, str) else scorer
    return account_for(score_columns(list(predictions), list(references), scorer=scorer))


def total(points: Any) -> float:
    return math.fsum(points)


# Causes of strings. Where two rows of the table apply, the first counts

STRINGS: dict[str, list[Pair]] = {
    "missing": [(None, ["Coca Cola"]), (None, ["nan"])],
    "lost reference": [("Coca Cola", ["nan"]), ("", ["NaN", "<NA>"]), ("Error code: 429", ["nan"])],
    "failed request": [
        ("Error code: 429 - {'message': 'slow down'}", ["Coca Cola"]),
        ("openai.RateLimitError: too many", ["Coca Cola"]),
        ("Traceback (most recent call last):", ["Coca Cola"]),
        ("Request timed out.", ["Coca Cola"]),
        ('Error: {"answer": "Coca', ["Coca Cola"]),
        ("502 Bad Gateway", ["Coca Cola"]),
        ("HTTPError 503", ["Coca Cola"]),
        ("Connection error.", ["Coca Cola"]),
        ("An unexpected error occurred", ["Coca Cola"]),
        ("<html><head><title>502 Bad Gateway</title></head></html>", ["Coca Cola"]),
        ('{"error": {"message": "overloaded"}}', ["Coca Cola"]),
    ],
    "cut off": [
        ('{"answer": "Co', ["Coca Cola"]),
        ("<think>Is it Coca Cola", ["Coca Cola"]),
        ('The answer:\n```json\n{"answer": "Co', ["Coca Cola"]),
    ],
    "empty": [("", ["Coca Cola"]), (" \n", ["Coca Cola"])],
    "null": [("NaN", ["Coca Cola"]), ("N/A", ["Coca Cola"])],
    "unanswerable, declined": [(text, ["Not answerable"]) for text in ("It is not mentioned in the document.", "N/A")],
    "unanswerable, answered": [("Coca Cola", ["Not answerable"]), ("3 dollars", ["Not answerable"])],
    "refusal": [("I cannot answer this question.", ["Coca Cola"]), ("Not mentioned", ["42"])],
    "another form": [("3 dollars", ["$3"]), ("May 3, 1998", ["1998-05-03"]), ("$ 1,200", ["1200"])],
    "punctuation": [("Coca-Cola!", ["Coca Cola"]), ("Cafe", ["Café"]), ("b, a", ["ba"])],
    "another order": [("tea, milk", ["milk, tea"]), ("5 and 7", ["7; 5"])],
    "opposite": [("Unlikely", ["Likely"]), ("not approved", ["approved"]), ("sales increased", ["sales decreased"])],
    "among other words": [("It is 5 of 12", ["5"]), ("the Coca Cola of today", ["Coca Cola"])],
    "part of the answer": [("Coca", ["Coca Cola"]), ("5", ["12 of 5"])],
    "another number": [("page 7", ["page 5"]), ("1989", ["2017"])],
    "a few characters": [("Coca Cole", ["Coca Cola"]), ("page 5.", ["pages 5"])],
    "wrong": [("a tree", ["Coca Cola"]), ("Error bars show the mean", ["Coca Cola"]), ("The request of May", ["x"])],
}
OF_SETS = {"no marker", "another question's answer"}  # below


@pytest.mark.parametrize("cause", STRINGS)
def test_answer_loses_all_that_it_lacks_to_the_first_cause_that_applies(cause: str) -> None:
    for pair in STRINGS[cause]:
        found = account([pair, *RIGHT])
        lost = 1.0 - found.scored.scores[0]
        assert found.main_causes == [cause, *["right"] * 24], pair
        assert found.by_question[0] == {cause: lost}, pair
        assert [(row.cause, row.points, row.answers, row.options) for row in found.rows] == [
            (cause, lost / 25, 1, None)
        ], pair


def test_every_cause_has_a_situation() -> None:
    assert [cause.name for cause in CAUSES if cause.name not in OF_SETS] == list(STRINGS)
    assert [cause.name for cause in LEAF_CAUSES] == list(VALUES)


def test_references_of_other_questions_are_answers_that_were_moved() -> None:
    names = ["tree", "lamp", "river", "cloud", "stone", "bread", "glass", "money", "night", "paper", "queen", "tiger"]
    found = account([(text, [names[(n + 1) % 12]]) for n, text in enumerate(names)])
    assert {*found.main_causes} == {"another question's answer"}
    alone = account([(names[0], [names[1]]), *((text, [text]) for text in names[1:])])
    assert alone.main_causes[0] == "wrong"


def test_sentences_that_abstain_are_no_failed_requests() -> None:
    found = account([("I cannot answer this question.", [text]) for text in ANSWERS])
    assert {*found.main_causes} == {"refusal"}


# Under the rule of a benchmark: what the rule tells, and the rest "wrong" or "a few characters"
OF_RULES = [
    ("docvqa_2026", "Coca Cola", "Coca Cola", "no marker"),
    ("docvqa_2026", "FINAL ANSWER: tree", "Coca Cola", "wrong"),
    ("docvqa_2026", "FINAL ANSWER: page 7", "page 5", "wrong"),
    ("mmlongbench_doc", "  ", "Coca Cola", "empty"),
    ("mmlongbench_doc", "NaN", "Coca Cola", "null"),
    ("mmlongbench_doc", "Coca Cole", "Coca Cola", "a few characters"),
    ("mmlongbench_doc", "Error code: 429 - slow", "Coca Cola", "failed request"),
    ("mmlongbench_doc", "the Coca Cola of today and of all times", "Coca Cola", "wrong"),
]


@pytest.mark.parametrize(("rule", "prediction", "reference", "cause"), OF_RULES)
def test_cause_under_the_rule_of_a_benchmark(rule: str, prediction: str, reference: str, cause: str) -> None:
    form = "FINAL ANSWER: {}" if rule == "docvqa_2026" else "{}"
    rows = [{"prediction": form.format(text), "answer": text, "answer_format": "Str"} for text in ANSWERS]
    scores = score([{**rows[0], "prediction": prediction, "answer": reference}, *rows], variant=rule)
    assert [(row["cause"], row["options"]) for row in scores.lost_points()] == [(cause, None)]
    assert total(row["points"] for row in scores.lost_points()) == pytest.approx(1 - scores.anls, abs=1e-15)


# Causes of values, by leaf: a prediction, a reference, and the number of leaves with each cause

TEA = {"name": "tea", "price": "5"}
VALUES: dict[str, tuple[Any, Any, dict[str, int]]] = {
    "failed request": ("Error code: 503", TEA, {"failed request": 2}),
    "not JSON": ("no such value", TEA, {"not JSON": 2}),
    "cut off": ('{"name": "te', TEA, {"cut off": 2}),
    "another shape": ({"a": [TEA], "b": "x"}, {"a": TEA, "b": "x"}, {"another shape": 2}),
    "another key": ({"name": "tea", "cost": "5"}, TEA, {"another key": 2}),
    "another form": ({"name": "tea", "price": "5 dollars"}, {"name": "tea", "price": "$5"}, {"another form": 1}),
    "close": ({"name": "teas", "price": "5"}, TEA, {"close": 1}),
    "wrong": ({"name": "milk", "price": "5"}, TEA, {"wrong": 1}),
    "missed": ({"name": "tea"}, TEA, {"missed": 1}),
    "invented": ({**TEA, "color": "red"}, TEA, {"invented": 1}),
}
SHAPES = [
    (TEA, [TEA]),
    ({"a": "x"}, {"a": ["x"]}),
    ({"a": {"b": "x"}}, {"a": "x"}),
    ({"a": ["x"]}, {"a": "x"}),
]


FAILURES = [
    {"error": "overloaded"},
    {"error": {"code": 503}, "status": 503},
    "<html>502 Bad Gateway</html>",
    "HTTP 429",
]


@pytest.mark.parametrize("failure", FAILURES)
def test_failure_in_place_of_a_value_is_a_failed_request(failure: Any) -> None:
    found = account([(failure, (TEA,)), *[(TEA, (TEA,))] * 24], "anls_star")
    assert {part.cause for part in found.causes[0]} == {"failed request"}
    other = account([({"error": "x", "name": "tea"}, (TEA,)), *[(TEA, (TEA,))] * 24], "anls_star")
    assert "failed request" not in {part.cause for part in other.causes[0]}


@pytest.mark.parametrize("cause", VALUES)
def test_leaves_lose_their_share_of_the_answer(cause: str) -> None:
    prediction, reference, counts = VALUES[cause]
    found = account([(prediction, (reference,)), *[(TEA, (TEA,))] * 24], "anls_star")
    assert Counter(part.cause for part in found.causes[0]) == counts
    assert found.main_causes[0] == cause
    assert total(part.points for part in found.parts[0]) == pytest.approx(1 - found.scored.scores[0], abs=1e-15)
    assert [(row.cause, row.answers) for row in found.rows] == [*counts.items()]


@pytest.mark.parametrize(("prediction", "reference"), SHAPES)
def test_list_object_and_text_are_other_shapes_of_each_other(prediction: Any, reference: Any) -> None:
    found = account([(prediction, (reference,)), *[(TEA, (TEA,))] * 24], "anls_star")
    assert {part.cause for part in found.causes[0]} == {"another shape"}


# Sums: all that is lost, of all questions, of a question, of a group, under a key, and between two models

TEXTS = st.sampled_from(
    [*(pair[0] for pairs in STRINGS.values() for pair in pairs), *ANSWERS[:6], "The answer is Coca Cola.", "Ａ１", "٣"]
)
ACCEPTED = st.lists(
    st.sampled_from([text for pairs in STRINGS.values() for _, texts in pairs for text in texts] + ANSWERS[:6]),
    min_size=1,
    max_size=3,
)
WRAPS = st.sampled_from(
    ["{}", "{}", "<think>so</think>{}", "{}.", "**{}**", "The answer is {}.", "<answer>{}</answer>"]
)
NAMES = st.sampled_from([*VARIANTS, "rrc+"])


def check_sums(found: LostPoints) -> None:
    """Check that nothing is lost twice, or without a cause."""
    scored = found.scored
    assert total(row.points for row in found.rows) == pytest.approx(1 - scored.anls, abs=1e-12)
    for place, value in enumerate(scored.scores):
        assert total(part.points for part in found.parts[place]) == pytest.approx(1 - value, abs=1e-12)
    assert len(found.main_causes) == len(scored.answer_scores)
    for cause, value in zip(found.main_causes, scored.answer_scores):
        assert value == 1.0 or cause != "right"
    for group in scored.groups.values():
        for name, own in group.items():
            lost = found.of_group("kind", name, own)
            assert total(lost.values()) == pytest.approx(1 - (own.mean or 0.0), abs=1e-12)
    assert all(row.points > 0.0 for row in found.rows)
    steps = [row for row in found.rows if row.anls is not None]
    assert found.rows[: len(steps)] == steps  # they come first
    assert total([scored.anls, *(row.points for row in steps)]) == pytest.approx(found.final.anls, abs=1e-12)


@given(st.lists(st.tuples(TEXTS, ACCEPTED), min_size=1, max_size=12), WRAPS, st.integers(1, 6), NAMES)
def test_causes_of_strings_add_up(pairs: list[Pair], wrap: str, times: int, name: str) -> None:
    scorer = replace(get_variant("rrc"), threshold=0.3) if name == "rrc+" else get_variant(name)
    wrapped = [(text and wrap.format(text), texts) for text, texts in pairs * times]
    check_sums(account(wrapped, scorer))


LEAVES = st.one_of(st.sampled_from(["tea", "teas", "5", "5 dollars", "$5", "", "x", 5, 5.0, None, True]))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "A", "cost"]), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "A", "cost"]), TREES, max_size=3)
STAR = st.sampled_from(
    [{}, {"average": "leaves"}, {"none_keys": "ignored"}, {"numbers": "by_value"}, {"normalize": "keys"}]
)


@given(st.lists(st.tuples(TREES | st.sampled_from(['{"a": "te', "no"]), OBJECTS), min_size=1, max_size=8), STAR)
def test_causes_of_values_add_up(pairs: list[Pair], options: dict[str, str]) -> None:
    scorer = get_scorer("anls_star", **options)
    found = account([(prediction, (reference,)) for prediction, reference in pairs], scorer)
    if options.get("average") == "leaves":
        assert total(row.points for row in found.rows) == pytest.approx(1 - found.scored.anls, abs=1e-12)
    else:
        check_sums(found)


@run_settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["tea", "tee", "milk", None]), max_size=3), min_size=1, max_size=6))
def test_causes_of_lists_add_up(predictions: list[Any]) -> None:
    lists = [[each for each in own if each] for own in predictions]
    found = account([(own, (["tea", "milk"],)) for own in lists], "anlsl")
    assert total(row.points for row in found.rows) == pytest.approx(1 - found.scored.anls, abs=1e-12)


def list_rows(seed: int, **more: Any) -> list[dict[str, Any]]:
    """Make a table of answers with many causes: some in their thoughts, some in other characters."""
    pool = [pair for pairs in STRINGS.values() for pair in pairs if pair[0] is not None]
    rows = []
    for n in range(120):
        text, texts = (ANSWERS[n % 24], [ANSWERS[n % 24]]) if (n * seed) % 3 else pool[(n * seed) % len(pool)]
        wrap = "<think>Hm.</think>{}" if (n + seed) % 4 == 0 else "{}"
        rows.append({"id": n, "prediction": wrap.format(text), "answers": texts, "kind": "abc"[n % 3], **more})
    return rows


@pytest.mark.parametrize("variant", ["standard", "rrc", "nls"])
def test_causes_of_groups_add_up(variant: str) -> None:
    scores = score(list_rows(1), by="kind", variant=variant)
    check_sums(account_for(scores["data"]))
    (document,) = scores.to_dict()["submissions"]
    lost, groups = document["lost"], document["groups"]["kind"]
    assert (lost["total"], [*lost["groups"]["kind"]]) == (1 - document["anls"], ["a", "b", "c"])
    for name, own in lost["groups"]["kind"].items():
        assert total(own.values()) == pytest.approx(1 - groups[name]["anls"], abs=1e-12)
    parts = [own.get(row["cause"], 0.0) for row in lost["rows"] for own in lost["groups"]["kind"].values()]
    assert total(parts) / 3 == pytest.approx(lost["total"], abs=1e-12)  # groups of equal size


def test_causes_of_keys_add_up_to_the_cost_of_the_key() -> None:
    rows = [{"prediction": prediction, "answers": reference} for prediction, reference, _ in VALUES.values()] * 3
    scores = score(rows, variant="anls_star", by_key=True)
    (document,) = scores.to_dict()["submissions"]
    lost = document["lost"]["groups"][KEYS]
    assert "name" in lost
    assert not any(row["options"] for row in scores.lost_points())
    for name, group in document["groups"][KEYS].items():
        assert total(lost.get(name, {}).values()) == pytest.approx(group["cost"], abs=1e-12), name


def test_causes_of_runs_are_averaged_by_question() -> None:
    answers = {"7": ["Coca Cola", "CocaCola", "a tree"], "8": ["Coca Cola", "", "Coca Cola"], "9": ["tea"]}
    rows = [
        {"id": key, "run": number, "prediction": text, "answers": ["Coca Cola"]}
        for key, runs in answers.items()
        for number, text in enumerate(runs)
    ]
    scores = score(rows, runs="question", missing="zero")
    found: Any = {row["cause"]: (row["points"], row["answers"]) for row in scores.lost_points()}
    assert found == {
        "wrong": (pytest.approx((1 / 3 + 1 / 3) / 3), 2),
        "missing": (pytest.approx(2 / 3 / 3), 2),
        "empty": (pytest.approx(1 / 3 / 3), 1),
        "punctuation": (pytest.approx(1 / 9 / 3 / 3), 1),
    }
    assert total(points for points, _ in found.values()) == pytest.approx(1 - scores.anls, abs=1e-15)
    check_sums(account_for(scores["data"]))


@pytest.mark.parametrize("missing", [0, 10])
def test_causes_of_two_models_add_up_to_their_difference(missing: int) -> None:
    tables = {"one": list_rows(1), "two": list_rows(2)[missing:], "three": list_rows(5)}
    document = compare(tables, missing="zero" if missing else None, all_pairs=True).to_dict()
    assert len(document["comparisons"]) == 3
    for pair in document["comparisons"]:
        assert total(pair["lost"].values()) == pytest.approx(pair["difference"], abs=1e-12)
        assert len(pair["lost"]) > 5


# As printed

PLAIN, PERCENT = NumberFormat(), NumberFormat(percent=True)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=12), st.integers(0, 3), st.sampled_from([1, 2, 3, 4, 6]))
def test_printed_rows_add_up_and_end_at_the_score_that_they_promise(
    weights: list[int], steps: int, digits: int
) -> None:
    steps = min(steps, len(weights) - 1)
    whole = sum(weights) + 1
    start = 1 / whole
    rows, reached = list[Any](), start
    for place, weight in enumerate(weights):
        reached += weight / whole
        rows.append({"points": weight / whole, "anls": reached if place < steps else None})
    printed = [Decimal(f"{each:.{digits}f}") for each in round_rows(rows, start, digits)]
    assert sum(printed) == 1 - Decimal(f"{round(start * 10**digits) / 10**digits:.{digits}f}")
    for place in range(steps):
        sofar = Decimal(f"{round(start * 10**digits) / 10**digits:.{digits}f}") + sum(printed[: place + 1])
        assert sofar == Decimal(f"{round(rows[place]['anls'] * 10**digits) / 10**digits:.{digits}f}")


def read_lost(text: str) -> list[list[Decimal]]:
    """Read the numbers of the table of an account: a list for each row, the sum last."""
    lines = text.splitlines()
    rows = [re.split(r"  +", line.strip()) for line in lines[1:] if re.search(r"  +[+-]?\d", line)]
    head = re.split(r"  +", lines[0].strip())
    if re.match(r"\d", head[1]):  # one submission
        return [[Decimal(row[1])] for row in rows] + [[Decimal(head[1])]]
    return [[Decimal(cell) for cell in row[1:]] for row in rows]


@pytest.mark.parametrize("names", [["one"], ["one", "two"], ["one", "two", "three"]])
@pytest.mark.parametrize("missing", [0, 10])
def test_printed_account_adds_up_as_printed(names: list[str], missing: int) -> None:
    tables = {name: list_rows(seed) for name, seed in zip(("one", "two", "three"), (1, 2, 5))}
    tables["two"] = tables["two"][missing:]
    document = compare({name: tables[name] for name in names}).to_dict()
    for numbers in (PLAIN, PERCENT, NumberFormat(percent=True, digits=1), NumberFormat(digits=2)):
        *rows, sums = read_lost(format_lost(document, numbers))
        assert len(rows) >= 9
        for column, value in zip(zip(*rows), sums):
            assert sum(column) == value
        for each, value in zip(document["submissions"], sums):
            assert Decimal(numbers.format(each["anls"])) + value == (100 if numbers.percent else 1)
        if len(names) == 2:
            (pair,) = document["comparisons"]
            assert sums[2] == (Decimal(numbers.format(pair["difference"], "+")) if missing else sums[0] - sums[1])


def test_printed_account_has_at_most_eight_rows_and_the_rest() -> None:
    text = format_lost(score(list_rows(1)).to_dict(), PLAIN)
    head, *rows, more = [line for line in text.splitlines() if not line.startswith("of the score")]
    assert re.fullmatch(r"lost points +0\.\d{4}  answers  what to do", head)
    assert len(rows) == 8
    assert re.match(r"\d+ more +0\.\d{4}", more)


def test_nothing_is_printed_where_nothing_is_lost() -> None:
    assert format_lost(score(ANSWERS, [[text] for text in ANSWERS]).to_dict(), PLAIN) == ""


# Credit


def test_credit_for_wrong_answers_is_no_row() -> None:
    pairs = [("Unlikely", ["Likely"]), ("page 7", ["page 5"]), ("Coca Cole", ["Coca Cola"]), *RIGHT]
    found = account(pairs)
    scores = found.scored.scores
    assert found.credit_for_wrong == {
        "another number": pytest.approx(scores[1] / 27),
        "opposite": pytest.approx(scores[0] / 27),
    }
    text = format_lost(score(*map(list, zip(*pairs))).to_dict(), PLAIN)
    credit = total(found.credit_for_wrong.values())
    assert f"\nof the score, {credit:.4f} is credit for wrong answers (another number, opposite)" in text
    assert "credit" not in format_lost(score(["a tree"], [["Coca Cola"]]).to_dict(), PLAIN)


# Steps. Each is typed as it is printed, in the command and in Python


def wrap(form: Callable[[str], Any] | str, count: int = 24, **more: Any) -> list[dict[str, Any]]:
    """Make a table of right answers, of which the first are changed; six more are wrong."""
    change = form.format if isinstance(form, str) else form
    texts = [change(text) if n < count else text for n, text in enumerate(ANSWERS)]
    rows = [{"prediction": text, "answers": [answer], **more} for text, answer in zip(texts, ANSWERS)]
    wrong = [{"prediction": f"a tree {n}", "answers": ["Coca Cola"], **more} for n in range(6)]
    return [{"id": n, **row} for n, row in enumerate(rows + wrong)]


def nest(prediction: Callable[[dict[str, Any]], Any], accepted: Callable[[dict[str, Any]], Any] = dict) -> Any:
    """Make a table of right objects, which are changed; one of four has a wrong total."""
    values = [{"brand": text, "total": f"{n}.5", "items": [{"name": text[:4]}]} for n, text in enumerate(ANSWERS)]
    return [
        {"id": n, "prediction": prediction(value | ({} if n % 4 else {"total": "x"})), "answers": accepted(value)}
        for n, value in enumerate(values)
    ]


def turn(value: dict[str, Any]) -> str:
    """Write an object as JSON, in another order of its keys."""
    return json.dumps(dict(reversed(value.items())))


def spell_keys(value: Any) -> Any:
    return {key.upper() + "_": item for key, item in value.items()}


def widen(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if sign.isascii() and sign.isalnum() else sign for sign in text)


STAR_LINE = "t.json --variant anls_star"
GLM = "<think>so</think><answer><|begin_of_box|>{}<|end_of_box|></answer>"
CHAT = "<|im_start|>user\nWhich?<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>"
STEPS: dict[str, tuple[Any, str, list[dict[str, str]]]] = {
    "joined references": ([row | {"answers": "|".join(["?", *row["answers"]])} for row in wrap("{}")], "t.json",
        [{"references_separator": "|"}]),
    "lines": ([row | {"answers": "\n".join(["?", *row["answers"]])} for row in wrap("{}")], "t.json",
        [{"references_separator": r"\n"}]),
    "thoughts": (wrap("<think>It is red.</think>{}"), "t.json", [{"extract": "think"}]),
    "thoughts in a continued chain": (wrap("<think>It is red.</think>**{}**"), "t.json --extract think",
        [{"extract": "think,bold"}]),
    "box in tags in thoughts": (wrap(GLM), "t.json", [{"extract": "tag,special-tokens"}]),
    "tag in a box in a chat": (wrap(lambda text: CHAT.format(rf"\boxed{{<answer>{text}</answer>}}")), "t.json",
        [{"extract": "tag"}]),
    "sentences": (wrap("The name of the brand is {}."), "t.json", [{"extract": "sentence"}]),
    "periods in quotes": (wrap('"{}".'), "t.json", [{"extract": "period,quotes"}]),
    "JSON": (wrap(lambda text: json.dumps({"answer": text, "page": 3})), "t.json", [{"extract": "json"}]),
    "another key of JSON": (wrap(lambda text: json.dumps({"brand": text})), "t.json", [{"extract": "json:brand"}]),
    "letters": ([{"id": n, "prediction": f"The answer is ({'ABCD'[n % 4]}).", "answers": ["ABCDA"[n % 4 + n % 7 // 6]]}
        for n in range(40)], "t.json", [{"extract": "letter"}]),
    "text after the end of the turn": (wrap("<answer>{}</answer><|im_end|>\n<answer>no</answer>"), "t.json",
        [{"extract": "tag"}]),
    "full width": (wrap(lambda text: text.translate({n: n + 0xFEE0 for n in range(33, 127)}), 9), "t.json",
        [{"normalize": "width"}]),
    "accents": (wrap(lambda text: text.replace("é", "e\u0301")), "t.json", [{"normalize": "nfc"}]),
    "typography": ([row | {"prediction": f"“{row['prediction']}–9”", "answers": [f'"{row["answers"][0]}-9"']}
        for row in wrap("{}")], "t.json --variant nls", [{"normalize": "typography"}]),
    "digits": ([{"prediction": "".join(chr(0x660 + int(sign)) for sign in str(n)), "answers": [str(n)]}
        for n in range(100, 140)], "t.json", [{"normalize": "digits"}]),
    "spaces": ([{"prediction": " ".join(f"${n},000"), "answers": [f"${n},000"]} for n in range(3, 33)], "t.json",
        [{"normalize": "spaces"}]),
    "two normalizations": ([{"prediction": f"Ｂ{n}e\u0301", "answers": [f"B{n}é"]} for n in range(3, 33)], "t.json",
        [{"normalize": "nfc,width"}]),
    "a normalization is continued": ([{"prediction": f"Ｂ{n}e\u0301", "answers": [f"B{n}é"]} for n in range(3, 33)],
        "t.json --normalize width", [{"normalize": "nfc,width"}]),
    "split, extracted and normalized": ([row | {"answers": "|".join(["?", *row["answers"]]), "prediction":
        row["prediction"].replace("Cola", "Ｃｏｌａ")} for row in wrap("<think>so</think>{}", 12)], "t.json",
        [{"references_separator": "|"}, {"references_separator": "|", "extract": "think"},
         {"references_separator": "|", "extract": "think", "normalize": "width"}]),
    "JSON read as text": (nest(json.dumps, turn), "t.json", [{"variant": "anls_star"}]),
    "full-width letters in values": (nest(lambda value: {**value, "brand": widen(value["brand"])}), STAR_LINE,
        [{"normalize": "width"}]),
    "fences around wrong values": (
        nest(lambda value: f"```json\n{json.dumps({**value, 'total': 'zzz'})}\n```"), STAR_LINE, [{"extract": "json"}]),
    "JSON read as text, with a threshold": (nest(json.dumps, turn), "t.json --threshold 0.99",
        [{"variant": "anls_star"}]),
    "JSON read as text, normalized": (nest(lambda value: json.dumps(value).replace(" Co", "  Co"), turn),
        "t.json --normalize spaces", [{"variant": "anls_star"}]),
    "JSON read as text, in lists": (nest(json.dumps, lambda value: [turn(value)]), "t.json",
        [{"variant": "anls_star", "references": "answers.0"}]),
    "fenced JSON read as text": (nest(lambda value: f"Here:\n```json\n{json.dumps(value)}\n```", turn), "t.json",
        [{"variant": "anls_star", "extract": "json"}]),
    "a list of one": (nest(lambda value: [value]), STAR_LINE, [{"prediction": "prediction.0"}]),
    "a root": (nest(lambda value: {"invoice": value}), STAR_LINE, [{"prediction": "prediction.invoice"}]),
    "a reference in a list of one": (nest(dict, lambda value: [value]), STAR_LINE, [{"references": "answers.0"}]),
    "a reference in a root": (nest(json.dumps, lambda value: {"fields": value}), STAR_LINE,
        [{"references": "answers.fields"}]),
    "fenced values": (nest(lambda value: f"Here:\n```json\n{json.dumps(value)}\n```"), STAR_LINE,
        [{"extract": "json"}]),
    "keys beside the answer": (nest(lambda value: {**value, "tokens": 7, "meta": {"model": "m"}}), STAR_LINE,
        [{"ignore_keys": "tokens,meta"}]),
    "other keys": (nest(spell_keys), STAR_LINE, [{"normalize": "keys"}]),
    "numbers as written": (nest(lambda value: value | {"n": 15.0}, lambda value: value | {"n": 15}), STAR_LINE,
        [{"numbers": "by_value"}]),
    "keys without a value": (nest(lambda value: value | {"tax": None}), STAR_LINE, [{"none_keys": "ignored"}]),
    "keys and numbers": (nest(lambda value: spell_keys(value | {"n": 15.0}), lambda value: value | {"n": 15}),
        STAR_LINE, [{"normalize": "keys"}, {"normalize": "keys", "numbers": "by_value"}]),
    "root, numbers and empty keys": (
        nest(lambda value: {"invoice": value | {"n": 15.0, "tax": ""}}, lambda value: value | {"n": 15}), STAR_LINE,
        [{"prediction": "prediction.invoice"}]),
    "average of leaves": (nest(lambda value: value | {"tax": None}), f"{STAR_LINE} --average leaves",
        [{"none_keys": "ignored"}]),
    "lists": ([{"prediction": ["tea", " Milk "], "answers": ["tea", "milk"]}] * 24, "t.json --variant anlsl", []),
}  # fmt: skip


def read_options(line: str) -> dict[str, Any]:
    """Read the options of a command."""
    pairs = re.findall(r"--(\S+) (\S+)", line)
    return {name.replace("-", "_"): value for name, value in pairs}


@pytest.mark.parametrize("case", STEPS)
def test_step_that_is_typed_gives_the_promised_score(shell: Shell, case: str) -> None:  # noqa: F811
    rows, line, expected = STEPS[case]
    shell.write({"t.json": rows})
    (submission,) = shell.document(line)["submissions"]
    found = [row for row in submission["lost"]["rows"] if row["anls"] is not None]
    assert [row["options"] for row in found][: len(expected)] == expected
    before, text = submission["anls"], shell.print(line)
    for row in found:
        assert row["remedy"] in text
        typed = line
        for option in re.findall(r"--\S+ (?:'[^']*'|\S+)", row["remedy"].partition(" with ")[2]):
            typed = add_option(typed, option)
        done = shell.print(f"{typed} --score-only --quiet")
        assert float(done) == row["anls"] > before
        assert before + row["points"] == pytest.approx(row["anls"], abs=1e-12)
        options: dict[str, Any] = read_options(line) | row["options"]
        scores = score("t.json", **options)
        assert scores.anls == row["anls"]
        after = shell.document(typed)
        assert after["submissions"][0]["anls"] == row["anls"]
        assert {name for name in row["options"] if name in after["signature"]} >= {*row["options"]} & {
            "extract", "normalize", "numbers", "ignore_keys"}  # fmt: skip
        before = row["anls"]
    own = score("t.json", **read_options(line)).lost_points()
    assert [row["options"] for row in own] == [row["options"] for row in submission["lost"]["rows"]]
    assert total(row["points"] for row in own) == pytest.approx(submission["lost"]["total"], abs=1e-12)


@pytest.mark.parametrize("wrap_value", [lambda value: [value], lambda value: json.dumps({"invoice": value})])
def test_root_in_an_object_of_answers_by_id_can_be_typed(shell: Shell, wrap_value: Any) -> None:  # noqa: F811
    values = {f"i{n}": {"brand": text, "total": f"{n}.5"} for n, text in enumerate(ANSWERS)}
    shell.write({"g.json": values, "t.json": {key: wrap_value(value) for key, value in values.items()}})
    line = "g.json t.json --variant anls_star"
    (row,) = shell.document(line)["submissions"][0]["lost"]["rows"]
    ((name, path),) = row["options"].items()
    assert (name, row["anls"]) == ("prediction", 1.0)
    assert shell.print(f"{line} --prediction-field '{path}' --score-only --quiet").strip() == "1.0"


def test_root_in_an_object_of_references_by_id_can_be_typed(shell: Shell) -> None:  # noqa: F811
    values = {f"i{n}": {"brand": text, "total": f"{n}.5"} for n, text in enumerate(ANSWERS)}
    shell.write({"g.json": {key: [value] for key, value in values.items()}, "t.json": values})
    line = "g.json t.json --variant anls_star"
    (row,) = shell.document(line)["submissions"][0]["lost"]["rows"]
    ((name, path),) = row["options"].items()
    assert (name, row["anls"]) == ("references", 1.0)
    assert shell.print(f"{line} --references-field '{path}' --score-only --quiet").strip() == "1.0"


def test_every_step_has_a_data_set() -> None:
    typed = {step.name for step in EXAMPLES if step.options}
    found = set[str]()
    for rows, line, expected in STEPS.values():
        options: dict[str, Any] = read_options(line)
        found |= {row["cause"] for row in score(rows, **options).lost_points() if row["options"]} if expected else set()
    assert found == typed


def test_step_that_spoils_right_answers_says_by_how_much() -> None:
    rows = [
        *wrap("{}."),
        *(
            {"id": f"x{n}", "prediction": f"Orangina and Co {n}.", "answers": [f"Orangina and Co {n}."]}
            for n in range(9)
        ),
    ]
    (row, *_) = score(rows).lost_points()
    assert (row["cause"], row["options"]) == ("raw output", {"extract": "period"})
    assert row["lowered"] == pytest.approx(
        total(1 - each for each in score(rows, extract="period")["data"].scores[-9:]) / 39
    )
    text = format_lost(score(rows).to_dict(), PLAIN)
    assert f"-> {row['anls']:.4f} (other answers lose {row['lowered']:.4f})" in text
    assert "lowers" not in format_lost(score(wrap("<think>x</think>{}")).to_dict(), PLAIN)


def test_amount_of_a_step_is_that_of_all_answers_and_not_of_a_sample() -> None:
    answers = [f"{brand} {number}" for number in range(200) for brand in BRANDS]
    texts = [f"<think>x</think>{text}" if n % 7 else text for n, text in enumerate(answers)]
    (row,) = account([(text, [answer]) for text, answer in zip(texts, answers)]).rows
    count = sum(n % 7 > 0 for n in range(1600))
    assert (row.answers, row.anls) == (count, 1.0)
    assert row.points == pytest.approx(count / 1600, abs=1e-12)


def test_steps_that_only_files_can_take_have_no_options() -> None:
    (row,) = account([(f"{n}.0", [str(n)]) for n in range(3, 33)]).rows
    assert (row.cause, row.options, row.anls) == ("decimals", None, 1.0)


@pytest.mark.parametrize(
    "options", [{"ignore_case": False}, {"references_separator": "|"}, {"metrics": "f1"}], ids=repr
)
def test_fields_are_not_advised_beside_an_option_of_strings(options: dict[str, Any]) -> None:
    causes = {row["cause"] for row in score(nest(json.dumps, turn)).lost_points()}
    assert "JSON read as text" in causes
    causes = {row["cause"] for row in score(nest(json.dumps, turn), **options).lost_points()}
    assert "JSON read as text" not in causes


@pytest.mark.parametrize("samples", ["best", "vote"])
def test_extraction_is_not_promised_for_an_answer_that_is_chosen_after_it(samples: Any) -> None:
    rows = wrap("<think>x</think>{}")
    rows = [row | {"prediction": [row["prediction"], "a tree", row["prediction"]]} for row in rows]
    assert [row["options"] for row in score(rows, samples=samples).lost_points() if row["options"]] == []


class Equality(Scorer):
    """A scorer of a stranger, with nothing but what it needs."""

    name, meaning, source, threshold = "equality", "1 for the text of a reference", "made up", 0.5

    def score(self, predictions: Any, references: Any, row_name: Any = None) -> list[float]:
        return [float(text in texts) for text, texts in zip(predictions, references)]

    def score_missing(self, references: Any, row: str = "") -> float:
        return 0.0

    def mean(self, scores: Any) -> float:
        return math.fsum(scores) / len(scores)

    def explain(self, prediction: Any, references: Any) -> Any:
        raise NotImplementedError


def test_scorer_without_options_has_an_account() -> None:
    (row, *_) = account([(f"<think>x</think>{text}", [text]) for text in ANSWERS], Equality()).rows
    assert row.options == {"extract": "think"}


def test_losses_are_questions_and_not_their_parts() -> None:
    values = {"brand": "Coca Cola", "total": "1.5", "date": "May 3"}
    wrong = dict.fromkeys(values, "a tree")
    rows = [{"id": n, "prediction": wrong, "answers": values} for n in range(4)]
    first, second = (score(rows, variant="anls_star")["data"] for _ in range(2))
    assert [(each.losses, each.wins) for each in split_loss(first)] == [(4, 0)]
    assert split_difference(first, second) == []


def test_key_that_cannot_be_typed_is_not_left_out() -> None:
    rows = nest(lambda value: value | {"a,b": "tree", "page": "3"})
    assert score(rows, variant="anls_star").lost_points()[0]["options"] == {"ignore_keys": "page"}


def test_key_in_other_signs_is_compared_and_not_left_out() -> None:
    rows = nest(lambda value: {"brand": value["brand"], "total:": "1000", "items": value["items"]})
    options = [row["options"] for row in score(rows, variant="anls_star").lost_points() if row["options"]]
    assert not any("ignore_keys" in each for each in options)


def test_missing_answers_are_in_no_sign() -> None:
    rows = [{"id": n, "prediction": text, "answers": [text]} for n, text in enumerate(ANSWERS * 2)]
    rows += [{"id": f"x{n}", "prediction": None, "answers": ["Coca Cola"]} for n in range(3)]
    (hint,) = score(rows, missing="zero").to_dict()["hints"]
    assert hint["text"].startswith("48 of 48 predictions equal a reference")


def test_bracket_in_a_string_of_json_cuts_nothing_off() -> None:
    assert not is_cut_off('{"answer": "5 [see note"}')
    assert not is_cut_off(r'{"answer": "a \" { quote"}')
    assert is_cut_off('{"answer": ["5", "6"')
    assert is_cut_off('{"answer": "5 [see no')


@pytest.mark.parametrize("name", ["base", "tuned"])
@pytest.mark.parametrize("variant", ["standard", "rrc", "nls", "pypi_anls"])
def test_no_step_is_advised_for_tidy_answers(name: str, variant: str) -> None:
    rows = score(f"examples/compare/{name}.json", "examples/compare/gold.json", variant=variant).lost_points()
    assert rows
    assert [row["options"] for row in rows] == [None] * len(rows)


def test_steps_are_those_of_each_submission() -> None:
    tables = {"thinks": wrap("<think>x</think>{}"), "boxes": wrap(r"\boxed{{{}}}"), "tidy": wrap("{}")}
    scores = compare(tables)
    assert [scores.lost_points(name)[0]["options"] for name in tables] == [
        {"extract": "think"}, {"extract": "boxed"}, None]  # fmt: skip
    text = format_lost(scores.to_dict(), PLAIN)
    assert "\nthinks: extract the answers with extract=" in text
    with pytest.raises(ValueError, match="thinks, boxes, tidy"):
        scores.lost_points()
    with pytest.raises(KeyError, match="nobody"):
        scores.lost_points("nobody")


# What it costs

NOTHING = ["--quiet", "--score-only", "--quiet --score-only", "--quiet --format csv", "--quiet --format json"]


@pytest.mark.parametrize("options", NOTHING)
def test_account_is_not_made_where_nobody_sees_it(
    shell: Shell,  # noqa: F811
    options: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(scored: Any) -> Any:
        raise NotImplementedError

    monkeypatch.setattr(lost_points, "find_steps", refuse)
    monkeypatch.setattr(LostPoints, "causes", property(refuse))
    for files in ("a.json", "a.json b.json"):
        shell.print(f"gold.json {files} {options}")
        with pytest.raises(NotImplementedError):
            shell.type(f"gold.json {files}")


def test_quiet_document_has_no_account(shell: Shell) -> None:  # noqa: F811
    document = shell.document("gold.json a.json b.json --quiet")
    assert not any("lost" in each for each in (*document["submissions"], *document["comparisons"]))
    assert all("lost" in each for each in shell.document("gold.json a.json b.json")["submissions"])


COUNTS: Counter[str] = Counter()


@dataclass(frozen=True)
class Counting(Variant):
    """A variant that counts how often a text is normalized beside the scoring."""

    @property
    def as_text(self) -> Callable[[str], str]:
        normalize = super().as_text

        def count(text: str) -> str:
            COUNTS[text] += 1
            return normalize(text)

        return count


def test_text_is_normalized_at_most_once_beside_the_scoring() -> None:
    rrc = get_variant("rrc")
    register(Counting(**{name: getattr(rrc, name) for name in Variant.__dataclass_fields__} | {"name": "counting"}))
    pairs = [(f"tree {n}", [f"Coca Cola {n}", f"Cola {n}"]) for n in range(40)]
    rows = [{"prediction": text, "answers": texts, "kind": n % 2} for n, (text, texts) in enumerate(pairs)]
    COUNTS.clear()
    document = score(rows, variant="counting", by="kind", metrics="abstention").to_dict()
    assert document["submissions"][0]["lost"]["total"] > 0
    assert {*COUNTS.values()} == {1}
    assert len(COUNTS) == 120
