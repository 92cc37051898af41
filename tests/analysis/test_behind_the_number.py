"""Points, metrics, confusions, corrections and suspects in an evaluation and its document. The answers are made up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from anls_metric import VARIANTS
from anls_metric.analysis.evaluation import Evaluation
from anls_metric.analysis.gold_hash import add_to_signature
from anls_metric.analysis.metrics import find_metrics
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.corrections import Correction, Corrections
from anls_metric.reading.errors import InputError
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


def test_signature_of_a_file_identifies_its_questions(tmp_path: Path) -> None:
    signature = run(tmp_path, ANSWERS).entries[0].signature
    assert re.fullmatch(r"anls\|standard\|threshold:0.5\|questions:4\|gold:[0-9a-f]{8}\|v.*", signature)
    table = tmp_path / "table.csv"
    rows = [f'{key},"{ANSWERS[key]}","{accepted[0]}"' for key, accepted in reversed(GOLD.items())]
    table.write_text("\n".join(["questionId,prediction,answers", *rows]))
    of_table = Evaluation(find_submissions([str(table)])).finish()
    assert of_table.entries[0].signature == signature
    table.write_text(table.read_text().replace("Coca Cola", "Coca-Cola"))
    assert Evaluation(find_submissions([str(table)])).finish().entries[0].signature != signature


def test_questions_without_ids_are_identified_by_their_answers(tmp_path: Path) -> None:
    signatures = set()
    for order in (1, -1):
        table = tmp_path / "table.jsonl"
        rows = [{"prediction": ANSWERS[key], "answers": accepted} for key, accepted in [*GOLD.items()][::order]]
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
        signatures.add(Evaluation(find_submissions([str(table)])).finish().entries[0].signature)
    assert len(signatures) == 1


def test_corrections_change_the_number_and_the_signature(tmp_path: Path) -> None:
    plain = run(tmp_path, ANSWERS, ANSWERS).entries[0]
    corrections = Corrections({"3": Correction(["modem box"]), "2": Correction(exclude=True)})
    evaluation = run(tmp_path, ANSWERS, ANSWERS, corrections=corrections)
    submission = describe(evaluation)["submissions"][0]
    assert submission["questions"] == 3
    assert submission["anls"] == pytest.approx((6 / 7 + 1 + 1) / 3)
    without = plain.scored_set.mean
    assert submission["corrections"] == {"accepted": 1, "excluded": 1, "anls_without": without}
    assert evaluation.entries[0].signature == add_to_signature(plain.signature, corrections.signature)
    assert evaluation.compared is not None


def test_corrections_of_unknown_questions_are_an_error_and_idle_ones_a_note(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it corrects questions that do not exist \(77\)"):
        run(tmp_path, ANSWERS, corrections=Corrections({"77": Correction(exclude=True)}))
    evaluation = run(tmp_path, ANSWERS, corrections=Corrections({"1": Correction(["977633"])}))
    assert any("changes nothing" in note for note in evaluation.notes)


def test_suspects_stand_in_the_document_where_asked(tmp_path: Path) -> None:
    evaluation = run(tmp_path, ANSWERS, ANSWERS, ANSWERS | {"2": "0.3"}, keep=True)
    suspects = evaluation.find_suspects()
    document = build_document(evaluation.entries, suspects=suspects)
    assert document["suspects"][0] == {"id": "1", "answer": "977,633", "submissions": 3, "accepted": ["977633"]}
    with pytest.raises(ValueError, match="three submissions or more, not 2"):
        run(tmp_path, ANSWERS, ANSWERS, keep=True).find_suspects()


def test_signature_of_the_functions_stays_as_it_is() -> None:
    assert ScoredSet().signature == VARIANTS["standard"].signature()
