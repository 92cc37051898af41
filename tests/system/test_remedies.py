"""Every remedy of the command works: the suggested command is run on the file that caused the error.

Questions and answers are made up.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from anls_metric import command_line
from anls_metric.reading import remedies
from anls_metric.reading.remedies import Remedy
from tests.system.conftest import Run

REMEDIES = {name: row for name, row in vars(remedies).items() if isinstance(row, Remedy)}
OF_THE_PAGE = {"GOLD_FILE"}
"""The page alone raises errors with these remedies."""

KEYS = range(100, 124)
GOLD = [{"questionId": key, "answers": [f"answer {key}"]} for key in KEYS]
ANSWERS = [{"questionId": key, "prediction": f"answer {key}" if key % 2 else "other"} for key in KEYS]
TABLE: list[dict[str, Any]] = [
    {"id": key, "prediction": f"answer {key}" if key % 2 else "other", "references": [f"answer {key}"]} for key in KEYS
]


def name_models(field: str) -> list[dict[str, Any]]:
    return [{**row, field: name} for row in TABLE for name in ("base", "tuned")]


def rename(rows: list[dict[str, Any]], old: str, new: str) -> list[dict[str, Any]]:
    return [{new if name == old else name: value for name, value in row.items()} for row in rows]


def ask(rows: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Replace ids by the texts of the questions."""
    return [{**row, "question": f"What is {row['id']}?", **more, "id": n} for n, row in enumerate(rows)]


class Case(NamedTuple):
    """A command that ends with a remedy, and the command that the remedy suggests. ``mended`` replaces files."""

    line: str
    next_line: str
    files: Mapping[str, Any] = MappingProxyType({})
    mended: Mapping[str, Any] = MappingProxyType({})


CASES = {
    "ID_FIELD": Case("gold.json a.json --id-field nr", "gold.json a.json --id-field questionId"),
    "PREDICTION_FIELD": Case(
        "gold.json a.json --prediction-field predicton", "gold.json a.json --prediction-field prediction"
    ),
    "REFERENCES_FIELD": Case("t.json --references-field nope", "t.json --references-field references"),
    "OTHER_REFERENCES": Case(
        "t.json",
        "t.json --references-field answer",
        {"t.json": [{"id": key, "answer": f"{key % 2}", "label": "b", "prediction": f"{key % 2}"} for key in KEYS]},
    ),
    "GOLD_ID_FIELD": Case("gold.json a.json --gold-id-field nr", "gold.json a.json --gold-id-field questionId"),
    "ONE_LIST": Case(
        "t.json --references-field first,second",
        "t.json --references-field accepted",
        {"t.json": [{"id": key, "prediction": "a", "first": "a", "second": "b"} for key in KEYS]},
        {"t.json": [{"id": key, "prediction": "a", "accepted": ["a", "b"]} for key in KEYS]},
    ),
    "TWO_ROLES": Case(
        "t.json --prediction-field references --references-field references",
        "t.json --prediction-field prediction --references-field references",
    ),
    "OTHER_THAN_ID": Case(
        "gold.json a.json --prediction-field questionId", "gold.json a.json --prediction-field prediction"
    ),
    "UNKNOWN_IDS": Case(
        "gold.json a.json",
        "gold.json a.json --id-field none",
        {"a.json": [{"questionId": n, "answer": row["prediction"]} for n, row in enumerate(ANSWERS)]},
    ),
    "DOUBTFUL_NUMBER": Case(
        "gold.json a.json",
        "gold.json a.json --id-field none",
        {
            "gold.json": [{**row, "questionId": f"q{row['questionId']}x"} for row in GOLD],
            "a.json": [{"n": -n % 24, "response": "yes"} for n in range(24)],
        },
    ),
    "DOUBTFUL_ID": Case(
        "gold.json a.json",
        "gold.json a.json --id-field item",
        {"a.json": [{"item": row["questionId"], "answer": row["prediction"]} for row in reversed(ANSWERS)]},
    ),
    "ORDER": Case("gold.json a.json", "gold.json a.json", {"a.json": [{"answer": "other"}] * 23}, {"a.json": ANSWERS}),
    "ONE_ANSWER_EACH": Case(
        "gold.json a.json",
        "gold.json a.json",
        {"a.json": ["other"] * 23},
        {"a.json": ["other"] * 23 + [""]},
    ),
    "PICK_SUBMISSION_FIELD": Case(
        "long.json --submission-field modle", "long.json --submission-field model", {"long.json": name_models("model")}
    ),
    "ANOTHER_PREDICTION_FIELD": Case(
        "copy.json",
        "copy.json --prediction-field output",
        {"copy.json": [{**row, "prediction": row["references"][0], "output": row["prediction"]} for row in TABLE]},
    ),
    "NO_ANSWER": Case("t.json", "t.json --missing zero", {"t.json": [{**TABLE[0], "prediction": None}, *TABLE[1:]]}),
    "MISSING": Case("gold.json a.json", "gold.json a.json --missing zero", {"a.json": ANSWERS[:20]}),
    "EXTRA": Case("gold.json a.json", "gold.json a.json --extra ignore", {"gold.json": GOLD[:20]}),
    "NO_REFERENCES": Case(
        "t.json", "t.json --references-field labelled", {"t.json": rename(TABLE, "references", "labelled")}
    ),
    "NO_REFERENCES_HERE": Case(
        "-g gold.json -s a.json",
        "-g gold.json -s a.json --references-field labelled",
        {"gold.json": rename(GOLD, "answers", "labelled")},
    ),
    "NO_PREDICTIONS": Case("t.json", "t.json --prediction-field said", {"t.json": rename(TABLE, "prediction", "said")}),
    "NO_GOLD_BEFORE": Case("a.json", "gold.json a.json"),
    "NO_ANSWERS_AFTER": Case("gold.json", "gold.json a.json"),
    "SWAPPED": Case("-g a.json -s gold.json", "gold.json a.json"),
    "NO_GOLD": Case("-s a.json", "-s a.json --gold gold.json"),
    "NO_SUBMISSION": Case("-g gold.json", "-g gold.json --submission a.json"),
    "RUN": Case("long.json --run 7", "long.json --run base", {"long.json": name_models("seed")}),
    "REPEATED_QUESTIONS": Case(
        "gold.json a.json", "gold.json a.json", {"gold.json": [*GOLD, GOLD[0]]}, {"gold.json": GOLD}
    ),
    "QUESTIONS_OF_AN_ID": Case(
        "gold.json a.json",
        "gold.json a.json --id-field none",
        {
            "gold.json": [{**row, "questionId": n // 3, "question": f"{n}?"} for n, row in enumerate(GOLD)],
            "a.json": [{**row, "questionId": n // 3} for n, row in enumerate(ANSWERS)],
        },
    ),
    "REPEATED_IDS": Case("t.json --runs error", "t.json --runs question", {"t.json": [*TABLE, *TABLE]}),
    "DOCUMENT_IDS": Case(
        "t.json",
        "t.json --id-field none",
        {"t.json": [{**row, "id": n // 3, "question": f"{n}?"} for n, row in enumerate(TABLE)]},
    ),
    "REPEATED_IN_PARTS": Case("gold.json '[ab].json'", "gold.json '[ab].json' --runs question", {"b.json": ANSWERS}),
    "RUNS": Case("long.json --runs error", "long.json --runs question", {"long.json": name_models("seed")}),
    "OTHER_QUESTIONS": Case("m=t.json m=u.json", "one=t.json two=u.json", {"t.json": TABLE[:12], "u.json": TABLE[12:]}),
    "SUBMISSION_FIELD": Case("long.json", "long.json --submission-field method", {"long.json": name_models("method")}),
    "MODEL_OF_ROWS": Case(
        "long.json",
        "long.json --submission-field method",
        {"long.json": [*ask(TABLE, method="base"), *ask(TABLE, method="tuned")]},
    ),
    "FILE_FOR_EACH": Case(
        "'s?.jsonl'",
        "one=s1.jsonl two=s2.jsonl",
        {f"s{n}.jsonl": rename(ask(TABLE), "id", "place") for n in (1, 2)},
    ),
    "RUNS_BY_ID": Case(
        "long.json",
        "long.json --id-field question",
        {"long.json": rename([*ask(TABLE, seed=1), *ask(TABLE, seed=2)], "id", "place")},
    ),
    "QUESTIONS_DIFFER": Case(
        "gold.json a.json",
        "gold.json a.json --id-field question",
        {
            "gold.json": [{**row, "question": f"What is {row['questionId']}?"} for row in GOLD],
            "a.json": [{**row, "question": f"What is {KEYS[n - 1]}?"} for n, row in enumerate(ANSWERS)],
        },
    ),
    "OTHER_SPLIT": Case(
        "gold.json a.json",
        "gold.json a.json",
        {"gold.json": [{**row, "split": "ab"[n // 12]} for n, row in enumerate(GOLD)], "a.json": ANSWERS[:12]},
        {"gold.json": GOLD[:12]},
    ),
    "NONE_KEYS": Case(
        "t.json --variant anls_star",
        "t.json --variant anls_star --none-keys ignored",
        {"t.json": [{"prediction": {"a": "x", "b": None}, "references": {"a": "x"}}]},
    ),
    "EXTRACT": Case(
        "t.json",
        "t.json --extract think",
        {"t.json": [{**row, "prediction": f"<think>Hm.</think>{row['references'][0]}"} for row in TABLE]},
    ),
    "REFERENCES_SEPARATOR": Case(
        "t.json",
        't.json --references-separator "|"',
        {"t.json": [{**row, "references": f"{row['references'][0]}|{row['id']} b"} for row in TABLE]},
    ),
    "RESULTS_ELSEWHERE": Case("results.json --output .", "results.json --output out", {"results.json": TABLE}),
    "OVERWRITE_RESULTS": Case("t.json --output .", "t.json --output . --force", {"results.json": {}}),
    "OWN_NAMES": Case("gold.json a.json a.json", "gold.json one=a.json two=a.json"),
    "BY_EACH": Case(
        "t.json --by a,b", "t.json --by a --by b", {"t.json": [{**row, "a": "x", "b": "y"} for row in TABLE]}
    ),
    "BY": Case(
        "t.json --by knd",
        "t.json --by kind",
        {"t.json": [{**row, "kind": "form"} for row in TABLE]},
    ),
    "LAYOUT": Case("gold.json a.json --layout squad", "gold.json a.json --layout auto"),
    "PART_OR_VALUES": Case(
        "gold.json a.json",
        "gold.json a.json --prediction-field predictions.0",
        {"a.json": [{"questionId": key, "predictions": [f"answer {key}", "other"]} for key in KEYS]},
    ),
    "PART_OF_FIELD": Case(
        "gold.json a.json",
        "gold.json a.json --prediction-field output.text",
        {"a.json": [{"questionId": row["questionId"], "output": {"text": row["prediction"]}} for row in ANSWERS]},
    ),
    "VALUES": Case(
        "t.json",
        "t.json --variant anls_star",
        {
            "t.json": [
                {**row, "prediction": {"a": row["prediction"], "b": "b"}, "references": [{"a": "a"}]} for row in TABLE
            ]
        },
    ),
    "WHOLE_OUTPUT": Case(
        "t.json --variant docvqa_2026",
        "t.json --variant docvqa_2026 --field prediction=output",
        {"t.json": [{"prediction": "a", "gold": "a", "output": "It is a.\nFINAL ANSWER: a"}]},
    ),
    "RULE_COLUMN": Case(
        "t.json --variant dude",
        "t.json --variant dude --field answer_type=kind",
        {"t.json": [{"id": 1, "prediction": ["a"], "answers": ["a"], "gold": ["a"], "kind": "extractive"}]},
    ),
}


def test_every_remedy_of_the_command_is_tried() -> None:
    assert set(CASES) | OF_THE_PAGE == set(REMEDIES)


@pytest.mark.parametrize("name", CASES)
def test_command_that_a_remedy_suggests_works_on_the_file_that_caused_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case, remedy = CASES[name], REMEDIES[name]
    monkeypatch.chdir(tmp_path)
    files = {"gold.json": GOLD, "a.json": ANSWERS, "t.json": TABLE, **case.files}
    for path, rows in files.items():
        Path(path).write_text(json.dumps(rows), encoding="utf-8")
    status, out, err = run(*shlex.split(case.line))
    words = remedy.command.partition("{value}")[0]
    assert words in err
    assert status == 2 or "hint: " in err
    flags = set(re.findall(r"--[\w-]+", remedy.command))
    assert not flags or flags & set(shlex.split(case.next_line)) or case.mended or "=" in case.next_line
    for path, rows in case.mended.items():
        Path(path).write_text(json.dumps(rows), encoding="utf-8")
    status, out, err = run(*shlex.split(case.next_line))
    assert (status, words in err) == (0, False), err
    assert "anls|" in out


def test_remedies_of_the_command_name_flags_that_exist() -> None:
    known = {flag for action in command_line.build_parser()._actions for flag in action.option_strings}
    named = {flag for row in REMEDIES.values() for flag in re.findall(r"--[\w-]+", row.command)}
    assert named - known == set()
