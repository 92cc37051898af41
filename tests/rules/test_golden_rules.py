"""Every number of the benchmarks' programs is reproduced: for answers to the bit, for data sets to 1e-9."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from anls_metric import rule
from anls_metric.rules.madqa import score_citations
from tests.conftest import DATA
from tests.rules.cases import is_scored_or_refused

GOLDEN = DATA / "rules"

Case = dict[str, Any]


class File(NamedTuple):
    """A golden file: its rule, the program in `scores` if there are several, and the key of the number."""

    name: str
    program: str = ""
    key: str = "score"


FILES = {
    "docvqa_2026": File("docvqa2026"),
    "dude": File("dude"),
    "mmlongbench_doc": File("mmlongbench_doc", "official"),
    "mmlongbench_doc_lmms_eval": File("mmlongbench_doc", "lmms_eval"),
    "longdocurl": File("longdocurl", "official"),
    "longdocurl_vlmevalkit": File("longdocurl", "vlmevalkit"),
    "chartqapro": File("chartqapro", "official"),
    "chartqapro_lmms_eval": File("chartqapro", "lmms_eval"),
    "chartqapro_openbench": File("chartqapro", "openbench"),
    "ocrbench_v2": File("ocrbench_v2", "official"),
    "madqa": File("madqa", key="anls_star"),
}

# The official programs run these predictions as Python code, and a rule reads literals only. Both score 0 here.
CODE = {"['a'] + ['b']", "['a'][0]"}


def read(name: str) -> Any:
    text = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text, object_hook=lambda value: float(value["$float"]) if "$float" in value else value)


@pytest.mark.parametrize("name", FILES)
def test_score_equals_that_of_the_program(name: str) -> None:
    """An answer that breaks the program is scored or refused. A date that depends on the day of the run is no match."""
    file, wrong, compared = FILES[name], {}, 0
    for case in read(file.name)["cases"]:
        expected = case.get("scores", {}).get(file.program) if file.program else case.get(file.key)
        row = {**case, "gold": tuple(case["gold"])} if case.get("gold_tuple") else case
        chosen = rule(name, threshold=case["threshold"]) if "threshold" in case else rule(name)
        if "kind" in case and case["kind"] != "answer":
            continue
        if "today" in case:
            expected = 0.0
        elif not isinstance(expected, float) or str(case["prediction"]) in CODE:
            assert is_scored_or_refused(name, case) or "response" in case
            continue
        compared += 1
        (score,), why = chosen.scores([row]), chosen.explain(row)
        assert (why.score, str(why).endswith(f", so {score:.4g}"), why.sentence.endswith(".")) == (score, True, True)
        if score != expected:
            wrong[case["id"]] = (score, expected)
    assert compared
    assert wrong == {}


def columns_of(data_set: Case) -> list[Case]:
    names = ("answer_format", "gold", "prediction")
    rows = [dict(zip(names, row)) for row in zip(*(data_set[name] for name in names))]
    return [row for place, row in enumerate(rows) if place not in data_set.get("without_score", ())]


def rows_of_dude(data_set: Case) -> list[Case]:
    answers = {str(answer["questionId"]): answer for answer in data_set["submission"]}
    rows = []
    for question in data_set["gold"]["data"]:
        answer = answers[str(question["questionId"])]
        row = {"gold": question["answers"], "prediction": answer["answers"], **question}
        rows.append(row | ({"confidence": answer["answers_confidence"]} if "answers_confidence" in answer else {}))
    return rows


def rows_of_madqa(data_set: Case) -> list[Case]:
    questions = {question["question"].strip(): question for question in data_set["gold"]}
    questions_by_id = {question["id"]: question for question in data_set["gold"]}
    rows = []
    for result in data_set["results"]:
        question = questions.get(result["question"].strip()) or questions_by_id.get(result["id"])
        if question:
            rows.append({**question, **result, "answer_variants": question["answers"], "prediction": result["answer"]})
    return rows


OF_DUDE = {"anls": "anls", "aurc": "aurc_stable", "auroc": "auroc_ood"}
SETS: dict[str, tuple[Callable[[Case], list[Case]], Callable[[Case], Case]]] = {
    "dude": (rows_of_dude, lambda each: {name: each[key] for name, key in OF_DUDE.items() if key in each}),
    "mmlongbench_doc": (columns_of, lambda each: each["official"]),
    "mmlongbench_doc_lmms_eval": (columns_of, lambda each: each["lmms_eval"]),
    "longdocurl": (columns_of, lambda each: each["official"]),
    "chartqapro": (lambda each: each["rows"], lambda each: each["official"]),
    "chartqapro_lmms_eval": (lambda each: each["rows"], lambda each: each["lmms_eval"]),
    "chartqapro_openbench": (lambda each: each["rows"], lambda each: each["openbench"]),
    "madqa": (rows_of_madqa, lambda each: {**each["overall"], "by_hop_type": each["by_hop_type"]}),
}
# Numbers of a summary that are not in every golden file.
MORE = {"dude": {"Abstractive", "Extractive", "Not Answerable", "auroc"}, "longdocurl": {"generalized_accuracy"}}


@pytest.mark.parametrize("name", SETS)
def test_summary_has_the_numbers_of_the_program(name: str) -> None:
    rows_of, numbers_of = SETS[name]
    for data_set in read(FILES[name].name)["sets"]:
        if "error" in data_set or data_set.get("check_files"):
            continue
        options = {"threshold": data_set["threshold"]} if name == "dude" else {}
        summary, expected = rule(name, **options).summary(rows_of(data_set)), numbers_of(data_set)
        assert summary.keys() - expected.keys() <= MORE.get(name, set())
        for number, value in expected.items():
            assert close(summary[number], value), (data_set["id"], number)


def close(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return value.keys() == expected.keys() and all(close(value[name], expected[name]) for name in expected)
    if value is None or expected is None:
        return value is expected
    return bool(value == pytest.approx(expected, abs=1e-9, rel=0, nan_ok=True))


def test_files_that_the_script_of_dude_refuses_are_refused_with_its_message() -> None:
    data_sets = [each for each in read(FILES["dude"].name)["sets"] if each.get("check_files")]
    assert any(each["valid"] for each in data_sets)
    for each in data_sets:
        if each["valid"] or each["error"] == "KeyError":  # the script itself fails: our reader has its own message
            rule("dude").check_files(each["gold"], each["submission"])
        else:
            with pytest.raises(ValueError, match=f"^{re.escape(each['message'])}$"):
                rule("dude").check_files(each["gold"], each["submission"])


def test_citations_have_the_numbers_of_the_program() -> None:
    cases = [case for case in read("madqa")["cases"] if case["kind"] == "citation"]
    assert cases
    for case in cases:
        arguments = case["citations"], case["evidence"], case["level"]
        if "error" in case["result"]:
            with pytest.raises(ValueError, match="must be"):
                score_citations(*arguments)
        else:
            assert score_citations(*arguments) == case["result"]
