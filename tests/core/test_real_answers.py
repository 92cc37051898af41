"""Real answers of nine models. They are not in this repository; without them, the tests are left out."""

from __future__ import annotations

import json
from pathlib import Path

from anls_metric import score
from tests.conftest import ROOT


def test_scores_in_the_documentation_are_those_of_the_answers(real_answers: Path) -> None:
    models = json.loads((ROOT / "benchmarks" / "nine_models.json").read_text("utf-8"))["scores"]
    assert len(models) == 9
    for model, expected in models.items():
        path = real_answers / f"submission__{model.replace(' ', '_')}.json"
        document = score(path, real_answers / "gold.json", variant="all").to_dict()
        scores = document["submissions"][0]["variants"]
        assert {name: round(100 * each, 2) for name, each in scores.items()} == expected
    # The original programs printed these.
    assert (models["llama maverick"]["standard"], models["llama maverick"]["due"]) == (92.28, 84.75)
    assert models["qwen2 vl 7b"]["rrc"] == 26.91
