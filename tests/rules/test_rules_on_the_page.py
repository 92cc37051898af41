"""The page scores files with the rules of benchmarks, and refuses single answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from anls_metric.page import endpoints, file_scores
from tests.rules.conftest import Shell
from tests.rules.test_rules_of_files import DUDE_ANSWERS, DUDE_GOLD


def test_uploads_are_scored_by_the_rule(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    shell.write({"gold.json": DUDE_GOLD, "answers.json": DUDE_ANSWERS})
    document = file_scores.score(["answers.json"], "gold.json", {"variant": "dude"})
    assert document["submissions"][0]["summary"]["anls"] == (8 / 9 + 2) / 3
    shown = file_scores.show(["answers.json", "gold.json"], "", {}, {"variant": "dude"}, "report/report.html")
    assert (shown["problems"], shown["report"]) == ([], "report/report.html")


def test_single_answer_needs_a_file() -> None:
    with pytest.raises(ValueError, match="dude needs answer_type, gold, prediction: score a file"):
        endpoints.score_answers(["a"], [["a"]], variant="dude")
    assert "docvqa_2026" in {variant["name"] for variant in endpoints.list_variants()}
