"""What lies behind the number, in a run and in its document. The answers are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anls_metric import VARIANTS
from anls_metric.analysis.evaluation import Evaluation
from anls_metric.analysis.metrics import find_metrics
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.submissions import find_submissions
from anls_metric.report.document import build_document

GOLD = {"1": ["977633"], "2": ["0.28"], "3": ["modern box"], "4": ["Coca Cola"]}
ANSWERS = {"1": "977,633", "2": "0.26", "3": "modem box", "4": "Coca Cola"}


def write_files(folder: Path, *answers: dict[str, str]) -> list[str]:
    gold = folder / "gold.json"
    gold.write_text(json.dumps([{"questionId": key, "answers": accepted} for key, accepted in GOLD.items()]))
    files = [str(gold)]
    for place, each in enumerate(answers):
        file = folder / f"model{place}.json"
        file.write_text(json.dumps([{"questionId": key, "answer": answer} for key, answer in each.items()]))
        files.append(str(file))
    return files


def run(folder: Path, *answers: dict[str, str], **options: Any) -> Evaluation:
    return Evaluation(find_submissions(write_files(folder, *answers)), **options).finish()


def describe(evaluation: Evaluation) -> dict[str, Any]:
    document = build_document(evaluation.entries, evaluation.compared)
    json.dumps(document)
    return document


def test_points_stand_in_the_document(tmp_path: Path) -> None:
    submission = describe(run(tmp_path, ANSWERS))["submissions"][0]
    assert submission["points"] == pytest.approx({"lost_to_format": 1 / 28, "given_to_wrong_numbers": 0.75 / 4})
    assert "metrics" not in submission
    assert "confusions" not in submission


def test_metrics_have_mean_and_interval(tmp_path: Path) -> None:
    metrics = describe(run(tmp_path, ANSWERS, metrics=find_metrics("f1,cer")))["submissions"][0]["metrics"]
    assert metrics["f1"]["mean"] == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    low, high = metrics["cer"]["interval"]
    assert low <= metrics["cer"]["mean"] <= high


def test_confusions_are_listed(tmp_path: Path) -> None:
    confusions = describe(run(tmp_path, ANSWERS, confusions=True))["submissions"][0]["confusions"]
    assert {"predicted": "m", "accepted": "rn", "count": 1} in confusions


def test_values_have_no_points_and_refuse_metrics_of_texts() -> None:
    from anls_metric.nested import get_value_variant

    assert ScoredSet(get_value_variant("anls_star")).points is None
    for options in ({"metrics": find_metrics("f1")}, {"confusions": True}):
        with pytest.raises(ValueError, match="are for texts"):
            ScoredSet(get_value_variant("anls_star"), **options)


def test_signature_of_the_functions_stays_as_it_is() -> None:
    assert ScoredSet().signature == VARIANTS["standard"].signature()
