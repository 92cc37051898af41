"""Corrections of accepted answers. The files are made up."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from anls_metric.reading import corrections
from anls_metric.reading.batch import Row
from anls_metric.reading.corrections import Correction, Corrections, read_corrections
from anls_metric.reading.errors import InputError

ROWS = [Row("7", "tea", ["Tea time"], {}), Row("8", None, ["milk"], {}), Row("9", "x", ["y"], {})]


def write(folder: Path, records: list[dict[str, Any]]) -> str:
    path = folder / "corrections.json"
    path.write_text(json.dumps(records))
    return str(path)


def test_json_and_csv_are_the_same_corrections(tmp_path: Path) -> None:
    csv = tmp_path / "corrections.csv"
    csv.write_text(
        "questionId,accept,exclude,note\n8,,true,no such page\n"
        '7,"[""tea"", ""a tea""]",,\n9,"1,5",false,"so, ""it"" is"\n'
    )
    as_json = read_corrections(
        write(
            tmp_path,
            [
                {"questionId": 7, "accept": ["a tea", "tea"], "note": "as the page says"},
                {"questionId": "8", "exclude": True},
                {"questionId": 9, "accept": "1,5"},
            ],
        )
    )
    as_csv = read_corrections(str(csv))
    assert as_csv.signature == as_json.signature
    assert {frozenset(row.references) for row in as_csv.apply(ROWS)} == {
        frozenset({"Tea time", "tea", "a tea"}),
        frozenset({"y", "1,5"}),
    }
    assert (as_csv.accepted, as_csv.excluded, as_csv.conclude()) == (2, 1, [])


def test_rows_of_several_submissions_count_once() -> None:
    applied = Corrections({"7": Correction(["tea"])})
    for _ in range(3):
        applied.apply(ROWS)
    assert (applied.accepted, applied.excluded) == (1, 0)


def test_rows_that_no_correction_names_stay_as_they_are() -> None:
    rows = Corrections({"7": Correction(["tea"])}).apply(ROWS)
    assert rows[1] is ROWS[1]
    assert ROWS[0].references == ["Tea time"]


def test_unknown_ids_are_an_error() -> None:
    applied = Corrections({"7": Correction(["tea"]), "77": Correction(exclude=True)}, "corrections.json")
    applied.apply(ROWS)
    with pytest.raises(InputError, match=r"corrections.json: it corrects questions that do not exist \(77\)"):
        applied.conclude()


def test_idle_correction_is_noted() -> None:
    applied = Corrections({"7": Correction(["Tea time"])}, "corrections.json")
    assert applied.apply(ROWS) == ROWS
    assert applied.accepted == 0
    assert applied.conclude() == [
        "corrections.json: 1 correction changes nothing: the answers are accepted already (7)"
    ]


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{"accept": "x"}], r"record 1: questionId is None: write the id of a question"),
        ([{"questionId": True, "accept": "x"}], "questionId is True"),
        ([{"questionId": 7, "acept": "x"}], "unknown field 'acept'; a correction has the fields questionId, accept"),
        ({"1": ["x"]}, r"it is an object, not a list: write a list of corrections, such as \[{\"questionId\": 1"),
        ([{"questionId": 7}], "question 7 neither accepts an answer nor excludes it"),
        ([{"questionId": 7, "accept": "x", "exclude": True}], "accepts answers and excludes the question"),
        ([{"questionId": 7, "exclude": "perhaps"}], "exclude is 'perhaps'"),
        ([{"questionId": 7, "accept": [1]}], "accept of question 7"),
        ([{"questionId": 7, "accept": "x"}, {"questionId": "7", "accept": "y"}], "a second correction of question 7"),
    ],
)
def test_bad_correction_is_an_error_with_its_place(tmp_path: Path, records: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_corrections(write(tmp_path, records))


def test_marks_of_a_reviewer_correct_what_they_accept(tmp_path: Path) -> None:
    marks: list[dict[str, Any]] = [
        {"questionId": "7", "accept": ["tea"], "mark": "annotation wrong", "note": "the page says so"},
        {"questionId": "8", "mark": "unclear"},
    ]
    applied = read_corrections(write(tmp_path, marks))
    assert [row.references for row in applied.apply(ROWS)][:2] == [["Tea time", "tea"], ROWS[1].references]
    assert applied.signature == Corrections({"7": Correction(["tea"])}).signature
    assert applied.conclude() == []
    with pytest.raises(InputError, match="a second correction of question 8"):
        read_corrections(write(tmp_path, [*marks, {"questionId": 8, "accept": "x"}]))


def test_signature_depends_on_what_is_corrected_alone() -> None:
    first = Corrections({"7": Correction(["a", "b"], note="x"), "8": Correction(exclude=True)})
    second = Corrections({"8": Correction(exclude=True), "7": Correction(["b", "a", "a"])})
    others = [{"7": Correction(["a"])}, {"9": Correction(["a", "b"]), "8": Correction(exclude=True)}]
    assert first.signature == second.signature
    assert len({first.signature, *(Corrections(other).signature for other in others)}) == 3


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(corrections).failed == 0
