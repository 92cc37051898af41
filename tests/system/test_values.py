"""Lists, nested values and rules of benchmarks, through the command and Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anls_metric import anls_star_scores, nested, score
from tests.conftest import ROOT
from tests.system.conftest import Shell

INVOICE = {"total": "12.50", "items": [{"name": "tea", "price": "2.50"}, {"name": "milk"}]}
GOLD: dict[str, Any] = {
    "1": INVOICE,
    "2": ["Air", "Bus", ("Other", "Others")],
    "3": {"date": ("31.12.2023", "31 Dec 2023"), "paid": True, "tip": None},
    "4": "Coca Cola",
}
ANSWERS: dict[str, Any] = {
    "1": {"total": 12.5, "items": [{"name": "milk"}, {"name": "tee", "price": "2.50"}]},
    "2": ["bus", "others"],
    "3": {"date": "31 Dec 2023", "paid": "yes", "note": None},
    "4": "CocaCola",
}


@pytest.fixture
def values(shell: Shell) -> Shell:
    records = [
        [{"id": key, "answer": nested.to_json(value)} for key, value in side.items()] for side in (GOLD, ANSWERS)
    ]
    shell.write({"g.json": records[0], "x.json": records[1]})
    return shell


LINE = "-g g.json x.json --variant anls_star"


def test_command_has_the_scores_of_the_public_functions(values: Shell) -> None:
    answers = [answer["score"] for answer in score("x.json", "g.json", variant="anls_star").answers()]
    assert answers == anls_star_scores(ANSWERS.values(), GOLD.values())
    options: dict[str, Any]
    for flags, options in (
        ("", {}),
        ("--average leaves", {"average": "leaves"}),
        ("--none-keys ignored", {"none_keys": "ignored"}),
        ("--threshold 0.9", {"threshold": 0.9}),
    ):
        variant = nested.get_value_variant("anls_star", **options)
        assert values.scores(f"{LINE} {flags}") == [variant.mean(variant.score(ANSWERS.values(), GOLD.values()))]


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ("--average leaves", {"average": "leaves"}),
        ("--by-key --none-keys ignored", {"by_key": True, "none_keys": "ignored"}),
        ("--worst 3", {"worst": 3}),
    ],
)
def test_flag_gives_the_document_of_its_option_in_python(values: Shell, flags: str, options: Any) -> None:
    document = score("x.json", "g.json", variant="anls_star", **options).to_dict()
    assert {**values.document(f"{LINE} {flags}"), "hints": []} == {**document, "hints": []}
    assert document["label"] == "ANLS*"


def test_keys_break_the_score_down(values: Shell) -> None:
    keys = values.document(f"{LINE} --by-key")["submissions"][0]["groups"]["key of the value"]
    assert {name: group["anls"] for name, group in keys.items()}["items.name"] == pytest.approx((1 + 2 / 3) / 2)
    assert "\nANLS* by key of the value\n" in values.print(f"{LINE} --by-key")


def test_values_without_keys_have_no_table_of_keys(shell: Shell) -> None:
    shell.write({"g.json": [{"id": 1, "answer": ["a"]}], "x.json": [{"id": 1, "answer": ["a"]}]})
    assert "by key" not in shell.print("-g g.json x.json --variant anls_star --by-key")


def test_worst_values_are_shown_by_their_leaves(values: Shell) -> None:
    (worst,) = values.document(f"{LINE} --worst 1")["submissions"][0]["worst"]
    assert worst["closest_reference"] == {"date": "31 Dec 2023", "paid": True}
    leaves = [(leaf["where"], leaf["score"]) for leaf in worst["leaves"]]
    assert leaves == [("date", 1.0), ("paid", 0.0), ("tip", 1.0), ("note", 0.0)]
    assert "\n  leaves      paid: " in values.print(f"{LINE} --worst 1")


def test_results_have_values_as_json(values: Shell) -> None:
    values.print(f"{LINE} --output out")
    samples = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["per_sample_result"]
    assert (samples["1"]["det"], samples["1"]["gt"]) == (ANSWERS["1"], [INVOICE])
    assert samples["3"]["gt"] == [{"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "paid": True, "tip": None}]


def test_null_is_an_accepted_value(shell: Shell) -> None:
    shell.write(
        {
            "g.json": [{"id": n, "answer": None} for n in (1, 2)],
            "x.json": [{"id": 1, "answer": ""}, {"id": 2, "answer": "x"}],
        }
    )
    assert shell.scores("-g g.json x.json --variant anls_star") == [0.5]


def test_raw_output_is_extracted_before_it_is_parsed(shell: Shell) -> None:
    shell.write(
        {"g.json": [{"id": 1, "answer": INVOICE}], "x.json": {"1": f"Here:\n```json\n{json.dumps(INVOICE)}\n```"}}
    )
    assert shell.scores("-g g.json x.json --variant anls_star --quiet") == [0.0]
    assert shell.scores("-g g.json x.json --variant anls_star --extract fence,json") == [1.0]


def test_lists_by_id_are_answers_in_python() -> None:
    for accepted in ({"7": ["a", "b"]}, [{"id": 7, "answer": ["a", "b"]}]):
        assert score({"7": ["b"]}, accepted, variant="anls_star").anls == 0.5
    assert score([{"a": "b"}], [{"a": "b"}], variant="anls_star").anls == 1.0
    assert score([["b"]], [{"__tuple__": [["a"], ["b"]]}], variant="anls_star").anls == 1.0


def test_values_are_compared_by_rows(shell: Shell) -> None:
    good = {str(n): {"a": str(n), "b": ["x"]} for n in range(40)}
    bad = {key: {**value, "b": ["y"]} for key, value in good.items()}
    files = {
        name: [{"id": key, "answer": value} for key, value in own.items()]
        for name, own in {"g": good, "p": good, "q": bad}.items()
    }
    shell.write({f"{name}.json": records for name, records in files.items()})
    line = "-g g.json p.json q.json --variant anls_star"
    (comparison,) = shell.document(line)["comparisons"]
    assert (comparison["difference"], comparison["verdict"]) == (-0.5, "worse")
    message = shell.error(f"{line} --average leaves")
    assert message == "a comparison needs --average rows, since it compares questions"
    runs = "-g g.json m=p.json m=q.json --variant anls_star"
    assert "several runs need --average rows" in shell.error(f"{runs} --average leaves")
    assert shell.scores(f"{runs} --average rows") == [0.75]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--variant anls_star --references-separator ';'", "--references-separator is for strings: leave it out"),
        ("--variant anls_star --metrics f1", "--metrics is for strings: leave it out"),
        ("--variant anls_star --ignore-case", "anls_star has no option 'ignore_case'"),
        ("--variant anlsl --average leaves", "anlsl has no option 'average'"),
        ("--variant anls_stars", "did you mean anls_star?"),
        ("", "record 1: the accepted answer is a dict with the keys"),
        ("--references-field answer.total --missing zero", "record 2: 'answer.total' is null or missing"),
    ],
)
def test_option_that_does_not_fit_values_is_an_error(values: Shell, flags: str, words: str) -> None:
    assert words in values.error(f"-g g.json -s x.json {flags}")


@pytest.mark.parametrize(
    ("gold", "answer", "words"),
    [
        ("a", None, "x.json, record 1: 'answer' is null or missing"),
        ("a", {"__tuple__": ["a", "b"]}, "question 1 is a tuple, which means one of several"),
        ({"x": [{"__tuple__": ["a"], "b": "c"}]}, "a", "g.json, record 1: "),
        ("{'a': 1}", "a", "which looks like a list or object: write it as JSON"),
    ],
)
def test_value_that_cannot_be_scored_is_an_error(shell: Shell, gold: Any, answer: Any, words: str) -> None:
    shell.write({"g.json": [{"id": 1, "answers": gold}], "x.json": [{"id": 1, "answer": answer}]})
    assert words in shell.error("-g g.json x.json --variant anls_star")


# Rules of benchmarks

TABLE = [
    {"doc_id": "r.pdf", "question": "How many?", "answer": "12", "answer_format": "Int", "pred": "12"},
    {"doc_id": "r.pdf", "question": "Which?", "answer": "['red', 'green']", "answer_format": "List", "pred": "['red']"},
]
DUDE = [
    {"questionId": "1", "answers": ["Coca Cola"], "answers_variants": [], "answer_type": "extractive"},
    {"questionId": "2", "answers": [], "answers_variants": [], "answer_type": "not-answerable"},
]


def test_rule_scores_with_its_columns(shell: Shell) -> None:
    renamed = [{**row, "meta": {"format": row["answer_format"]}, "answer_format": None} for row in TABLE]
    shell.write({"t.jsonl": TABLE, "r.jsonl": renamed})
    out = shell.print("t.jsonl --variant mmlongbench_doc")
    assert out.startswith("accuracy   0.5000\n")
    assert "\nsummary    acc 0.5000\n           f1 0.5" in out
    assert shell.scores("r.jsonl --variant mmlongbench_doc --field answer_format=meta.format") == [0.5]


def test_rule_of_dude_joins_its_columns_from_the_gold_file(shell: Shell) -> None:
    answers = [("1", ["CocaCola"], [0.9]), ("2", [], [0.2])]
    names = ("questionId", "answers", "answers_confidence")
    shell.write({"g.json": {"data": DUDE}, "x.json": [dict(zip(names, row)) for row in answers]})
    (submission,) = shell.document("g.json x.json --variant dude")["submissions"]
    assert submission["anls"] == pytest.approx((8 / 9 + 1) / 2)
    assert score("x.json", "g.json", variant="dude").anls == submission["anls"]
    assert score("x.json", "g.json", variant="dude", threshold=0.9).anls == 0.5


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--variant mmlongbench_doc", "mmlongbench_doc needs answer_format, which no file has (found"),
        ("--variant dude", "needs answer_type, which no file has"),
        ("--variant dude --ignore-case", "has no option 'ignore_case'"),
        ("--variant dude,rrc", "dude cannot be combined with other variants: score it by itself"),
        ("--variant dude --metrics f1", "--metrics is for strings: leave it out"),
        ("--variant dude --corrections c.json", "--corrections is not for the rule of a benchmark: leave it out"),
        ("--variant mmlongbench_doc --field format=x", "format"),
    ],
)
def test_rule_without_its_columns_is_an_error(shell: Shell, flags: str, words: str) -> None:
    shell.write({"t.jsonl": [{"prediction": "a", "references": ["a"]}]})
    assert words in shell.error(f"t.jsonl {flags}")


def test_examples_of_values_and_rules_run(shell: Shell) -> None:
    for line in ("invoices.jsonl --variant anls_star --by-key", "mmlongbench_doc.jsonl --variant mmlongbench_doc"):
        shell.print(f"{ROOT}/examples/{line}")
