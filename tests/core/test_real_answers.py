"""Real answers of nine models. They are not in this repository; without them, the tests are left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anls_metric import command_line, score
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("model", "variant", "expected"),
    [("llama_maverick", "standard", 0.9228), ("llama_maverick", "due", 0.8475), ("qwen2_vl_7b", "rrc", 0.2691)],
)
def test_command_reproduces_the_scores_of_the_original_programs(
    real_answers: Path, model: str, variant: str, expected: float, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--gold-label-file", str(real_answers / "gold.json")]
    files += ["--submission-file", str(real_answers / f"submission__{model}.json")]
    assert command_line.main([*files, "--variant", variant, "--format", "json"]) == 0
    assert round(json.loads(capsys.readouterr().out)["submissions"][0]["anls"], 4) == expected


def test_scores_in_the_documentation_are_those_of_the_answers(real_answers: Path) -> None:
    models = json.loads((ROOT / "benchmarks" / "nine_models.json").read_text("utf-8"))["scores"]
    assert len(models) == 9
    for model, expected in models.items():
        path = real_answers / f"submission__{model.replace(' ', '_')}.json"
        document = score(path, real_answers / "gold.json", variant="all").to_dict()
        scores = document["submissions"][0]["variants"]
        assert {name: round(100 * each, 2) for name, each in scores.items()} == expected
