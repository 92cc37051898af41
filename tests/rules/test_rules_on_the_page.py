"""The endpoints of the page score files with the rules of benchmarks, and refuse single answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anls_metric.page import endpoints
from anls_metric.page.inputs import get_scorer, make_reading
from anls_metric.page.upload_scoring import Result, Task, score
from anls_metric.page.uploads import Upload
from tests.rules.test_rules_of_files import DUDE_ANSWERS, DUDE_GOLD


def test_uploads_are_scored_by_the_rule(tmp_path: Path) -> None:
    paths = [tmp_path / "gold.json", tmp_path / "answers.json"]
    for path, content in zip(paths, (DUDE_GOLD, DUDE_ANSWERS)):
        path.write_text(json.dumps(content), encoding="utf-8")
    gold, answers = (Upload(str(path)) for path in paths)
    scorer = get_scorer("dude")
    steps = score(Task([answers], gold, scorer, make_reading(scorer, False), report=True), "page")
    (result,) = (step for step in steps if isinstance(step, Result))
    assert result.document["submissions"][0]["summary"]["anls"] == (8 / 9 + 2) / 3


def test_single_answer_needs_a_file() -> None:
    with pytest.raises(ValueError, match="dude needs answer_type, gold, prediction: score a file"):
        endpoints.score_answers(["a"], [["a"]], variant="dude")
    assert "docvqa_2026" in {variant["name"] for variant in endpoints.list_variants()}
