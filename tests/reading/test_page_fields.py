"""Whether answers name the right pages: ``--metrics pages``."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric import compare, score
from tests.reading.conftest import Shell

GOLD = [{"id": n, "answers": ["a"], "answer_page_idx": page} for n, page in enumerate([0, 2, 1, 3])]


def answer(pages: list[Any], name: str = "answer_page", **more: Any) -> list[dict[str, Any]]:
    return [{"id": n, "prediction": "a", name: page, **more} for n, page in enumerate(pages)]


# The pages of four questions, those of the answers, and the means of the metrics.
MEANS: dict[str, tuple[list[Any], list[Any], dict[str, float]]] = {
    "numbers": ([0, 2, 1, 3], [0, 1, 1, 3], {"page_accuracy": 0.75}),
    "forms of numbers": ([0, 2, 1, 3], ["0", 2.0, "[1]", [3]], {"page_accuracy": 1.0}),
    "no page": ([0, 2, None, 3], [None, "", None, 3], {"page_accuracy": 0.5}),
    "names": (["p1", "p2", "p3", "p4"], ["p1", "p2", "p3", "p5"], {"page_accuracy": 0.75}),
    "lists": ([[1, 2], [3], "[4, 5]", []], [[1], [3, 4], "[4, 6]", []], {"page_recall": 0.75, "page_precision": 0.75}),
    "a list of a model": ([1, 2, 3, 4], [[1, 2], [], [3], [4]], {"page_recall": 0.75, "page_precision": 0.625}),
}


@pytest.mark.parametrize("case", MEANS)
def test_pages_have_accuracy_or_recall_and_precision(case: str) -> None:
    gold, pages, means = MEANS[case]
    questions = [row | {"answer_page_idx": page} for row, page in zip(GOLD, gold)]
    (submission,) = score(answer(pages), gold=questions, metrics="pages").to_dict()["submissions"]
    assert {name: found["mean"] for name, found in submission["pages"].items()} == means


def test_pages_are_joined_and_compared_like_any_metric(shell: Shell) -> None:
    shell.write({"g.json": GOLD, "x.json": answer([0, 1, 1, 3])[::-1], "y.json": answer([1, 1, 1, 1], "pred_page")})
    assert "page accuracy  0.7500, 95% CI " in shell.print("g.json x.json --metrics pages")
    document = shell.document("g.json x.json y.json --metrics pages,f1 --quiet")
    found = document["comparisons"][0]["metrics"]["page_accuracy"]
    assert (found["difference"], found["questions"], found["is_better"]) == (-0.5, 4, False)
    assert "page accuracy" in shell.print("g.json x.json y.json --metrics pages --quiet")
    assert score([row | {"prediction": "a", "pred_page": 0} for row in GOLD], metrics="pages").anls == 1


def test_missing_answer_and_runs_count_for_pages() -> None:
    runs = [*answer([0, 2, 1, 3], seed=1), *answer([1, 2, 1, 1], seed=2)]
    (submission,) = score(runs, gold=GOLD, metrics="pages").to_dict()["submissions"]
    assert submission["pages"]["page_accuracy"]["mean"] == 0.75
    scores = compare({"x": answer([0, 2])}, gold=GOLD, metrics="pages", missing="zero")
    assert scores.to_dict()["submissions"][0]["pages"]["page_accuracy"]["mean"] == 0.5


# A gold file, a submission, what is typed, and the error.
PLAIN = [{"id": 0, "answers": ["a"]}]
COPY = [{"id": 0, "answers": ["a"], "evidence_pages": [1]}]
NO_PAGES: dict[str, tuple[list[Any], list[Any], str, str]] = {
    "of questions": (PLAIN, answer([1]), "", "g.json: no field of the pages of questions: pass it with --field gold_"),
    "of answers": (GOLD[:1], answer([1], "said_page"), "", "x.json: no field of the pages that answers name: pass it"),
    "a copy": (COPY, answer([[1]], "evidence_pages", answers=["a"]), "", "x.json: no field of the pages that answers "),
    "no such field": (GOLD[:1], answer([1]), " --field page=side", "x.json: no field 'side' for --field page"),
}


@pytest.mark.parametrize("case", NO_PAGES)
def test_file_without_pages_is_an_error(shell: Shell, case: str) -> None:
    gold, answers, options, words = NO_PAGES[case]
    shell.write({"g.json": gold, "x.json": answers})
    assert shell.error(f"g.json x.json --metrics pages{options}").startswith(words)


def test_fields_of_pages_can_be_named(shell: Shell) -> None:
    shell.write({"g.json": [{**row, "where": 7} for row in GOLD], "x.json": answer([7, 7, 1, 7], "said_page")})
    document = shell.document("g.json x.json --metrics pages --field page=said_page --field gold_page=where")
    assert document["submissions"][0]["pages"]["page_accuracy"]["mean"] == 0.75


@pytest.mark.parametrize("variant", ["anls_star", "mmlongbench_doc"])
def test_pages_are_measured_beside_any_scorer(variant: str) -> None:
    gold = [row | {"answer_format": "Str"} for row in GOLD]
    (submission,) = score(answer([0, 2, 1, 3]), gold=gold, variant=variant, metrics="pages").to_dict()["submissions"]
    assert submission["pages"]["page_accuracy"]["mean"] == 1
