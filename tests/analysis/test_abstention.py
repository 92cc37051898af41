"""Right, missed and false abstentions."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anls_metric import score
from anls_metric.analysis.parts.abstention import measure_abstention
from anls_metric.core.strings.abstention import abstains, lacks_answer
from tests.conftest import ROOT

SETS = json.loads((ROOT / "tests/data/rules/mmlongbench_doc.json").read_text("utf-8"))["sets"]


def list_counts(scored: Any) -> tuple[Any, ...]:
    return tuple(measure_abstention(scored).values())


def measure(predictions: list[Any], references: list[Any], **options: Any) -> Any:
    return SimpleNamespace(**measure_abstention(score(predictions, references, **options)["data"]))


SENTENCES = [
    "It is not possible to determine the city.",
    "The document does not contain this information.",
    "None of the provided pages relate to the question.",
    "I couldn't find the date on this page.",
]


def test_sentences_that_abstain_are_counted_although_they_score_0() -> None:
    predictions = [*SENTENCES, *map(str, range(12))]
    references = [["Not answerable"]] * 4 + [[str(each)] for each in range(12)]
    scored = score(predictions, references)
    assert scored.anls == 0.75
    assert list_counts(scored["data"]) == (4, 4, 0, 12, 0, 12, 1.0, 0)
    (hint,) = scored["data"].questions and scored.to_dict()["hints"]
    assert hint["text"].startswith("4 of 16 predictions abstain in their own words where there is no answer, such as ")


def test_each_kind_of_answer_is_counted_once() -> None:
    predictions = ["", "N/A", "Udo", None, "", "not given", "Cola", "None", "none", "Dr. Noh", None]
    references = [[""], ["Unanswerable"], [""], [""], ["Cola"], ["Udo"], ["Cola"], ["0"], ["None"], ["Dr. No"], ["x"]]
    found = score(predictions, references, missing="zero")["data"]
    assert list_counts(found) == (3, 2, 1, 6, 3, 4, (0 + 1 + 1 + 6 / 7) / 4, 2)


def test_nothing_is_answered() -> None:
    assert measure(["", "I don't know"], [["Udo"], ["Not answerable"]]).accuracy_of_answered is None
    assert list_counts(score(["Udo"], [["Udo"]])["data"]) == (0, 0, 0, 1, 0, 1, 1.0, 0)


@pytest.mark.parametrize("found", SETS, ids=lambda each: str(each["id"]))
def test_figures_are_those_of_mmlongbench_doc(found: dict[str, Any], tmp_path: Path) -> None:
    """The program counts only the form `Not answerable`. Without other forms, its F1 follows from our figures."""
    rows = zip(found["answer_format"], found["gold"], found["prediction"])
    records = [
        {"question": str(number), "answer_format": kind, "answer": gold, "pred": prediction}
        for number, (kind, gold, prediction) in enumerate(rows)
    ]
    (tmp_path / "rows.json").write_text(json.dumps(records), "utf-8")
    scored = score(tmp_path / "rows.json", variant="mmlongbench_doc", metrics="abstention")
    figures = scored.to_dict()["submissions"][0]["abstention"]
    scores = dict(zip(range(len(records)), scored["rows"].answer_scores))
    other = [
        number
        for number, each in enumerate(records)
        if each["pred"] != "Not answerable"
        and abstains(str(each["pred"]))
        and (lacks_answer([each["answer"]], each) or scores[number] == 0)
    ]
    answered = sum(each["pred"] != "Not answerable" for each in records)
    assert figures["answered"] == answered - len(other)
    if not other and all(each["answer"] for each in records):
        recall_total = sum(each["answer"] != "Not answerable" for each in records)
        right = (figures["accuracy_of_answered"] or 0.0) * figures["answered"]
        recall, precision = right / (recall_total or 1), right / (answered or 1)
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        assert f1 == pytest.approx(found["official"]["f1"])


def test_flags_of_dude_and_lists_of_answers(tmp_path: Path) -> None:
    gold = [
        {"questionId": "a", "question": "?", "answers": [], "answer_type": "not-answerable"},
        {"questionId": "b", "question": "?", "answers": [], "answer_type": "not-answerable"},
        {"questionId": "c", "question": "?", "answers": ["Cola"], "answer_type": "extractive"},
        {"questionId": "d", "question": "?", "answers": ["Cola"], "answer_type": "extractive"},
    ]
    answers = [["Not answerable"], ["Udo"], ["Cola"], [""]]
    (tmp_path / "gold.json").write_text(json.dumps({"dataset_name": "DUDE Dataset", "data": gold}), "utf-8")
    (tmp_path / "model.json").write_text(
        json.dumps([{"questionId": each["questionId"], "answers": own} for each, own in zip(gold, answers)]), "utf-8"
    )
    scored = score(tmp_path / "model.json", tmp_path / "gold.json", variant="dude", metrics="abstention")
    assert list_counts(scored["model"]) == (2, 1, 1, 2, 1, 2, 0.5, 0)


def test_empty_list_is_a_question_without_an_answer_unless_all_are_empty(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text('[{"id": 1, "answers": []}, {"id": 2, "answers": ["Cola"]}]', "utf-8")
    (tmp_path / "model.json").write_text('[{"id": 1, "answer": ""}, {"id": 2, "answer": "Cola"}]', "utf-8")
    scored = score(tmp_path / "model.json", tmp_path / "gold.json")
    assert (scored.anls, list_counts(scored["model"])) == (1.0, (1, 1, 0, 1, 0, 1, 1.0, 0))


def test_values_abstain_if_they_are_empty() -> None:
    references = [{"total": "5"}, {"total": "5"}, {"total": "5"}]
    found = measure([{}, [], {"total": "5"}], references, variant="anls_star")
    assert (found.answerable, found.false_abstentions, found.accuracy_of_answered) == (3, 2, 1.0)
