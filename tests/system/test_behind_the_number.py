"""What lies behind the number, through the command and through `score` and `compare`. The answers are made up."""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anls_metric import compare, score
from anls_metric.analysis import assessments
from anls_metric.reading.errors import InputError
from anls_metric.report import beside
from tests.system.conftest import Run, run_to_error, write

GOLD = [{"questionId": number, "answers": [text]} for number, text in enumerate(["977633", "0.28", "tea", "BOB"], 1)]
ANSWERS = ["977,633", "0.26", "milk", "B0B"]


def write_answers(path: Path, answers: Sequence[Any] = ANSWERS, **more: Sequence[Any]) -> Path:
    records: list[dict[str, Any]] = [{"questionId": number, "answer": text} for number, text in enumerate(answers, 1)]
    for name, values in more.items():
        records = [
            {**record, **({} if value is None else {name: value})}
            for record, value in zip(records, values, strict=True)
        ]
    path.write_text(json.dumps(records))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(GOLD))
    return path


def describe(run: Run, *arguments: Any) -> dict[str, Any]:
    status, out, err = run(*arguments, "--format", "json")
    assert status == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def test_metrics_are_in_document_text_and_tables(run: Run, gold: Path, tmp_path: Path) -> None:
    files = gold, write_answers(tmp_path / "a.json"), write_answers(tmp_path / "b.json", ["977633", "0.28", "tea", "x"])
    document = describe(run, *files, "--metrics", "f1,cer")
    assert [each["metrics"]["f1"]["mean"] for each in document["submissions"]] == [0.25, 0.75]
    compared = document["comparisons"][0]["metrics"]["cer"]
    assert compared["difference"] < 0
    assert compared["is_better"]
    assert compare([str(each) for each in files[1:]], str(gold), metrics="f1,cer").to_dict() == document
    assert "metric_f1_low" in run(*files, "--metrics", "f1", "--format", "csv")[1].splitlines()[0]
    assert "| f1 | 95 % |" in run(*files, "--metrics", "f1", "--format", "markdown")[1]
    assert re.search(r"^f1 +0\.2500, 95 % ", run(*files[:2], "--metrics", "f1")[1], re.MULTILINE)
    assert "unknown metric 'f2'" in run(*files, "--metrics", "f2")[2]


def test_points_are_columns(run: Run, gold: Path, tmp_path: Path) -> None:
    out = run(gold, write_answers(tmp_path / "a.json"), "--columns", "lost_to_format,given_to_wrong_numbers")[1]
    assert out.splitlines()[1].split() == ["a", "0.0357", "0.1875"]


def test_confusions_are_listed(run: Run, gold: Path, tmp_path: Path) -> None:
    files = gold, write_answers(tmp_path / "a.json")
    submission = describe(run, *files, "--confusions", 9)["submissions"][0]
    assert {"predicted": "0", "accepted": "o", "count": 1} in submission["confusions"]
    assert "'0' for 'o' 1 time" in run(*files, "--confusions", 9)[1]
    assert score(str(files[1]), str(gold), confusions=1).to_dict()["submissions"][0]["confusions"]


def test_missing_and_needless_letters_are_confused_with_nothing(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(
        '[{"prediction": "Colas", "references": ["Cola"]}, {"prediction": "Pais", "references": ["Paris"]}]'
    )
    out = run(table, "--confusions", 9)[1]
    assert "'s' for nothing 1 time" in out
    assert "nothing for 'r' 1 time" in out


def test_suspects_are_listed(run: Run, gold: Path, tmp_path: Path) -> None:
    files = [write_answers(tmp_path / f"{name}.json") for name in "abc"]
    suspects = describe(run, gold, *files, "--suspects")["suspects"]
    assert {"id": "3", "answer": "milk", "submissions": 3, "accepted": ["tea"]} in suspects
    assert "3  'milk' by 3 submissions; accepted: tea" in run(gold, *files, "--suspects")[1]
    assert compare(list(map(str, files)), str(gold), suspects=True).to_dict()["suspects"] == suspects
    assert "suspects need three submissions or more, not 1" in run(gold, files[0], "--suspects")[2]


def test_corrections_change_the_number_and_the_signature(run: Run, gold: Path, tmp_path: Path) -> None:
    file, corrections = write_answers(tmp_path / "a.json"), tmp_path / "corrections.json"
    corrections.write_text('[{"questionId": 3, "accept": "milk"}, {"questionId": 4, "exclude": true}]')
    document = describe(run, gold, file, "--corrections", corrections)
    submission = document["submissions"][0]
    assert submission["corrections"] == {
        "accepted": 1,
        "excluded": 1,
        "anls_without": score(str(file), str(gold)).anls,
    }
    assert submission["questions"] == 3
    assert re.search(r"\|questions:4\|gold:[0-9a-f]{8}\|corrections:[0-9a-f]{8}\|v", document["signature"])
    assert "1 question with more accepted answers, 1 left out" in run(gold, file, "--corrections", corrections)[1]
    assert score(str(file), str(gold), corrections=corrections).to_dict() == document


def test_corrections_in_parts_are_read_together(run: Run, gold: Path, tmp_path: Path) -> None:
    file, folder = write_answers(tmp_path / "a.json"), tmp_path / "parts"
    folder.mkdir()
    write(folder / "1.json", [{"questionId": 3, "accept": "milk"}])
    write(folder / "2.json", [{"questionId": 4, "exclude": True}])
    for corrections in (folder, folder / "*.json"):
        out = run(gold, file, "--corrections", corrections)[1]
        assert "1 question with more accepted answers, 1 left out" in out


def test_corrections_of_too_many_or_repeated_questions_say_what_to_do(run: Run, gold: Path, tmp_path: Path) -> None:
    files = gold, write_answers(tmp_path / "a.json"), "--corrections"
    everything = write(tmp_path / "all.json", [{"questionId": key, "exclude": True} for key in range(1, 5)])
    assert f"{everything}: it excludes every question: exclude fewer questions" in run_to_error(run, *files, everything)
    twice = write(tmp_path / "two.json", [{"questionId": 3, "accept": text} for text in ("milk", "soup")])
    error = run_to_error(run, *files, twice)
    assert "record 2: a second correction of question 3: write one for each question" in error
    once = write(tmp_path / "one.json", [{"questionId": 3, "accept": ["milk", "soup"]}])
    assert run(*files, once)[0] == 0


@pytest.mark.parametrize("name", ["confidence", "p"])
def test_confidence_is_measured(run: Run, gold: Path, tmp_path: Path, name: str) -> None:
    file = write_answers(tmp_path / "a.json", **{name: [0.9, 0.8, 0.1, 0.7]})
    flags = [] if name == "confidence" else ["--confidence-field", name]
    submission = describe(run, gold, file, *flags)["submissions"][0]
    assert submission["confidence"]["auroc"] == 1.0
    assert submission["confidence"]["coverage"]["0.99"] == 0.75
    assert "confidence AUROC 1.0000" in run(gold, file, *flags)[1]
    options = {} if name == "confidence" else {"confidence_field": name}
    assert score(str(file), str(gold), **options).to_dict()["submissions"][0] == submission  # type: ignore[arg-type]


def test_right_at_says_what_is_right(run: Run, gold: Path, tmp_path: Path) -> None:
    file = write_answers(tmp_path / "a.json", confidence=[0.9, 0.8, 0.1, 0.7])
    assert describe(run, gold, file, "--right-at", 0.8)["submissions"][0]["confidence"]["coverage"]["0.99"] == 0.25


def test_score_is_no_confidence(run: Run, gold: Path, tmp_path: Path) -> None:
    file = write_answers(tmp_path / "a.json", score=[0.9, 0.8, 0.1, 0.7])
    assert "confidence" not in describe(run, gold, file)["submissions"][0]


def test_missing_confidence_is_a_note_or_an_error(run: Run, gold: Path, tmp_path: Path) -> None:
    file = write_answers(tmp_path / "a.json", confidence=[0.9, None, 0.1, None])
    status, out, err = run(gold, file)
    assert (status, "AUROC" in out) == (0, False)
    assert "2 of 4 answers have no confidence in the field 'confidence', so nothing is said about it" in err
    status, _, err = run(gold, file, "--confidence-field", "confidence")
    assert status == 2
    assert "2 of 4 answers have no confidence" in err
    with pytest.raises(InputError, match="4 of 4 answers have no confidence"):
        score(str(file), str(gold), confidence_field="other")
    file = write_answers(tmp_path / "b.json", confidence=[None] * 4)
    assert run(gold, file)[2] == ""


def test_judge_is_compared_with_the_score(run: Run, gold: Path, tmp_path: Path) -> None:
    file = write_answers(tmp_path / "a.json", verdict=["correct", "no", False, 1])
    judge = describe(run, gold, file, "--judge-field", "verdict")["submissions"][0]["judge"]
    assert judge["agreement"] == 0.75
    assert judge["table"] == {"right": {"right": 2, "wrong": 1}, "wrong": {"right": 0, "wrong": 1}}
    assert judge["differences"] == [{"id": "2", "score": 0.75, "verdict": False}]
    assert "they differ about 2" in run(gold, file, "--judge-field", "verdict")[1]
    broken = write_answers(tmp_path / "b.json", verdict=["correct", "perhaps", False, 1])
    assert "verdict is 'perhaps' (str): write true or false" in run(gold, broken, "--judge-field", "verdict")[2]


def test_answers_without_ids_keep_their_confidence(gold: Path) -> None:
    rows = [{"prediction": text, "confidence": 0.5} for text in ANSWERS]
    assert score(rows, str(gold)).to_dict()["submissions"][0]["confidence"]["auroc"] == 0.5


@pytest.mark.parametrize("module", [assessments, beside])
def test_examples_of_the_docstrings_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_corrections_count_in_every_run(tmp_path: Path) -> None:
    gold = [{"questionId": n, "answers": ["yes"]} for n in range(3)]
    runs = [[{"questionId": n, "answer": answer} for n in range(3)] for answer in ("si", "yes")]
    path = tmp_path / "corrections.json"
    path.write_text(json.dumps([{"questionId": 0, "accept": "si"}, {"questionId": 1, "exclude": True}]))
    assert score(runs, gold).to_dict()["submissions"][0]["run_scores"] == [0, 1]
    corrected = score(runs, gold, corrections=path).to_dict()["submissions"][0]
    assert corrected["questions"] == 2
    assert corrected["run_scores"] == [0.5, 1]
