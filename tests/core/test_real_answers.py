"""Real answers of nine models. They are not in this repository; the tests are skipped without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anls_metric import command_line


@pytest.mark.parametrize(
    ("model", "variant", "score"),
    [
        ("llama_maverick", "standard", 0.9228),
        ("llama_maverick", "rrc", 0.9228),
        ("llama_maverick", "pypi_anls", 0.9203),
        ("llama_maverick", "due", 0.8475),
        ("llama_maverick", "mistral_evals", 0.9344),
        ("qwen2_vl_7b", "rrc", 0.2691),
        ("qwen2_vl_7b", "standard", 0.2596),
        ("qwen2_vl_7b", "pypi_anls", 0.2551),
        ("qwen2_vl_7b", "mistral_evals", 0.3287),
    ],
)
def test_command_reproduces_the_scores_of_the_original_programs(
    real_answers: Path, model: str, variant: str, score: float, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--gold-label-file", str(real_answers / "gold.json")]
    files += ["--submission-file", str(real_answers / f"submission__{model}.json")]
    assert command_line.main([*files, "--variant", variant, "--format", "json"]) == 0
    assert round(json.loads(capsys.readouterr().out)["submissions"][0]["anls"], 4) == score
