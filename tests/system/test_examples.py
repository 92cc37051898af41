"""The examples without their own test file, and the benchmarks of whole programs on a few rows."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.command import command_line
from tests.conftest import ROOT, without_questions


def test_confidence_interval_example_agrees_with_score(capsys: pytest.CaptureFixture[str]) -> None:
    example: Any = import_module("confidence_interval")
    files = [str(ROOT / "examples" / "compare" / name) for name in ("gold.json", "tuned.json")]
    example.main(*files)
    printed = capsys.readouterr().out
    document: Any = anls_metric.score(files[1], files[0]).to_dict()
    (submission,) = document["submissions"]
    assert re.findall(r"\d\.\d{4}", printed) == [f"{x:.4f}" for x in (submission["anls"], *submission["interval"])]
    assert f"(by {document['clusters']['field']})" in printed
    assert anls_metric.signature() in without_questions(printed)


@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_verdicts_on_fields_are_those_of_the_tutorial_on_invoices() -> None:
    gold, *models = (str(ROOT / "examples" / "extraction" / f"{name}.jsonl") for name in ("gold", "small", "large"))
    options: Any = {"variant": "anls_star", "extract": "json", "numbers": "by_value", "by_key": True}
    _, large = anls_metric.compare(models, gold=gold, **options).to_dict()["submissions"]
    (keys,) = large["groups"].values()
    better = [name for name, key in keys.items() if key["verdict"] != "no significant difference"]
    assert (better, len(keys)) == (["purchase_order"], 9)
    assert {keys[name]["verdict"] for name in better} == {"better"}


def test_combine_metrics_example_gives_both_scores() -> None:
    pytest.importorskip("evaluate")
    example: Any = import_module("combine_metrics")
    assert example.main() == {"anls": (8 / 9 + 0 + 0.875 + 1) / 4, "exact_answer": 0.25}


def test_ask_questions_example_asks_again_only_what_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    datasets, image = pytest.importorskip("datasets"), pytest.importorskip("PIL.Image")
    example: Any = import_module("ask_questions")
    rows = [
        {"questionId": str(i), "question": f"No. {i}?", "answers": [f"{i}"], "image": image.new("L", (1, 1))}
        for i in range(600)
    ]
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: datasets.Dataset.from_list(rows))
    monkeypatch.chdir(tmp_path)
    asked = []

    def ask(image: Any, question: str) -> str:
        asked.append(question)
        if len(asked) == 3:
            raise TimeoutError("too many requests")
        return question[4:-1]

    monkeypatch.setattr(example, "ask", ask)
    example.main()
    assert len(asked) == 500
    with pytest.raises(ValueError, match="no answer to 1 question in gold"):
        anls_metric.score("answers.jsonl", "gold.jsonl")
    example.main()
    assert len(asked) == 501
    assert anls_metric.score("answers.jsonl", "gold.jsonl").anls == 1.0


# Benchmarks

files, workloads = map(import_module, ("files", "workloads"))


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # scripts as people write them
@pytest.mark.parametrize("name", files.KINDS)
def test_kinds_of_file_have_one_score_by_both_programs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = files.KINDS[name]
    paths = [tmp_path / file for file in kind.files]
    kind.write(workloads.docvqa_like(12), *paths)
    assert command_line.main(["--score-only", *map(str, paths)]) == 0
    ours = capsys.readouterr().out
    assert 0 < float(ours) < 1
    monkeypatch.setattr(sys, "argv", ["script", *map(str, paths)])
    exec(kind.script, {})
    assert capsys.readouterr().out == ours
