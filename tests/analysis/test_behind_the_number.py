"""An evaluation as a whole: its statistics bit by bit, and what a plain run costs. The answers are made up."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from anls_metric import compare, score
from anls_metric.command.command_line import main
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

GOLDEN = ROOT / "tests" / "data" / "statistics.json"
ACCEPTED = ["Coca Cola", "1988", "12.50 $", "modern box", "page 5 of 15", "Café Noir", "yes"]


def make_table(seed: int, quality: float) -> list[dict[str, Any]]:
    chance, rows = random.Random(seed), []
    for number in range(240):
        accepted, is_right = ACCEPTED[number % 7], chance.random() < quality
        wrong = [accepted[:-1], accepted + "!", "Pepsi", "1989", f"It is {accepted}.", ""]
        row = {
            "questionId": number,
            "prediction": accepted if is_right else chance.choice(wrong),
            "answers": [accepted],
            "docId": number // 4,
            "kind": ["text", "table", "figure"][number % 3],
            "p": round(chance.random(), 2),
            "verdict": chance.random() < 0.7,
        }
        rows.append(row)
    return rows


BASE = make_table(1, 0.6)
TABLES = {"base": BASE, "tuned": make_table(2, 0.8), "small": make_table(3, 0.5)}
CONFIDENCE, JUDGE = {"confidence": "p"}, {"judge": "verdict"}


def choose(found: Any, like: Any) -> Any:
    """Choose the keys of a value that another value has."""
    return {key: choose(found[key], like[key]) for key in like} if isinstance(like, Mapping) else found


def test_statistics_are_bit_by_bit_those_of_the_golden_file() -> None:
    """All but intervals and minimum detectable effects are those of commit 750dc88, the version before `Scored`."""
    golden = json.loads(GOLDEN.read_text())
    document = compare(TABLES, by="kind", metrics="f1,cer", field=CONFIDENCE | JUDGE, baseline="base").to_dict()
    submissions = {each["name"]: each for each in document["submissions"]}
    comparisons = {each["second"]: each for each in document["comparisons"]}
    found = json.loads(json.dumps({"submissions": submissions, "comparisons": comparisons}))
    assert choose(found, golden) == golden


def describe(**options: Any) -> Any:
    return score(BASE, **options).to_dict()


ON_REQUEST: list[tuple[str, Callable[[], Any]]] = [
    ("analysis.metric_values.compute_values", lambda: describe(metrics="f1")),
    ("analysis.groups.group_scores", lambda: describe(by="kind")),
    ("analysis.scored.Scored.why", lambda: describe(worst=1)),
    ("analysis.parts.confidence.measure_confidence", lambda: describe(field=CONFIDENCE)),
    ("analysis.parts.judge.compare_verdicts", lambda: describe(field=JUDGE)),
    ("analysis.confusions.find_confusions", lambda: score(BASE).confusions()),
    ("analysis.suspects.find_suspects", lambda: compare(TABLES).suspects()),
]
"""Functions that cost something -> what asks for them."""


@pytest.mark.parametrize(("function", "ask"), ON_REQUEST, ids=lambda value: value if isinstance(value, str) else "")
def test_plain_run_does_not_compute(function: str, ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise NotImplementedError(function)

    monkeypatch.setattr(f"anls_metric.{function}", refuse)
    files = [tmp_path / f"{name}.json" for name in TABLES]
    for file, rows in zip(files, TABLES.values()):
        file.write_text(json.dumps(rows))
    for form in ("text", "json", "csv"):
        assert main([*map(str, files), "--format", form]) == 0
    with pytest.raises(NotImplementedError):
        ask()
