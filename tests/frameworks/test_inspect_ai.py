"""The scorers for inspect_ai run in inspect_ai, with a model that gives fixed, made-up answers."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT

inspect_ai: Any = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")

ACCEPTED = [["Coca Cola", "Coca Cola Company"], ["12.50"], ["yes"], ["no"]]
COMPLETIONS = ["CocaCola", "<think>Hm.</think>12.5", "yes", "maybe"]
ANSWERS = ["CocaCola", "12.5", "yes", "maybe"]
DOCUMENTS = ["a", "a", "b", "b"]
SCORES = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant="rrc")


def evaluate(folder: Path, accepted: list[list[str]], completions: list[str], scorer: Any = None) -> Any:
    models: Any = import_module("inspect_ai.model")
    data: Any = import_module("inspect_ai.dataset")
    scorers: Any = import_module("inspect_ai.scorer")
    outputs = [models.ModelOutput.from_content("mockllm/model", text) for text in completions]
    samples = [
        data.Sample(input=f"question {number}", target=target, metadata={"doc_id": document})
        for number, (target, document) in enumerate(zip(accepted, DOCUMENTS))
    ]
    task = inspect_ai.Task(
        dataset=data.MemoryDataset(samples),
        solver=import_module("inspect_ai.solver").generate(),
        scorer=scorer or scorers.exact(),
        name="made_up",
    )
    (log,) = inspect_ai.eval(
        task,
        model=models.get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(folder),
        display="none",
        max_connections=1,
        max_samples=1,
    )
    assert log.status == "success", log.error
    return log


@pytest.fixture(autouse=True)
def _count_tokens_without_a_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    async def count(self: Any, text: str) -> int:
        return len(text)

    monkeypatch.setattr("inspect_ai.model._providers.mockllm.MockLLM.count_text_tokens", count)


def test_inspect_score_appends_anls_to_a_log_of_somebody_else(tmp_path: Path) -> None:
    """The command finds the scorer by the entry point of the installed package."""
    log = evaluate(tmp_path, ACCEPTED, COMPLETIONS)
    program = "from inspect_ai._cli.main import main; main()"
    words = ["score", log.location, "--scorer", "anls_metric/anls", "-S", "variant=rrc", "-S", "extract=think"]
    words += ["--action", "append", "--output-file", str(tmp_path / "scored.eval"), "--display", "plain"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    scored = import_module("inspect_ai.log").read_eval_log(str(tmp_path / "scored.eval"))
    assert [each.name for each in scored.results.scores] == ["exact", "anls"]
    samples = [sample.scores["anls"] for sample in scored.samples]
    assert [sample.value for sample in samples] == SCORES
    assert [sample.answer for sample in samples] == ANSWERS
    assert samples[0].explanation == (
        "1 edit on 9 characters from 'Coca Cola': similarity 0.8889, at least the threshold of 0.5\n\n"
        "    coca*cola\n    coca cola\n        I"
    )
    assert samples[2].explanation == "equal to 'yes', so 1"
    assert samples[0].metadata == {"signature": anls_metric.signature("rrc", extract="think")}


def test_task_is_scored_and_the_standard_error_is_clustered_by_document(tmp_path: Path) -> None:
    door: Any = import_module("anls_metric.inspect_ai")
    log = evaluate(tmp_path, ACCEPTED, COMPLETIONS, door.anls(extract="think"))
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    mean = anls_metric.mean(SCORES)
    assert metrics["mean"] == pytest.approx(mean, abs=1e-12)
    sums = [sum(score - mean for score in SCORES[:2]), sum(score - mean for score in SCORES[2:])]
    clustered = (2 * sum(each**2 for each in sums)) ** 0.5 / len(SCORES)  # two clusters
    assert metrics["stderr"] == pytest.approx(clustered, rel=1e-9)
    assert metrics["stderr"] != pytest.approx(door.stderr_of_clusters()(_bare_scores()), rel=1e-3)


def _bare_scores() -> list[Any]:
    scorers: Any = import_module("inspect_ai.scorer")
    return [scorers.SampleScore(score=scorers.Score(value=score)) for score in SCORES]


def test_standard_error_without_documents_is_that_of_inspect_ai() -> None:
    door: Any = import_module("anls_metric.inspect_ai")
    assert door.stderr()(_bare_scores()) == door.stderr_of_clusters()(_bare_scores())


def test_anls_star_scores_json(tmp_path: Path) -> None:
    door: Any = import_module("anls_metric.inspect_ai")
    accepted = [['{"total": "12.50", "shop": "Coca Cola"}'], ['["a", "b"]', '["b"]'], ['{"total": "1"}'], ['"yes"']]
    completions = ['It says {"total": "12.5", "shop": "Coca Cola"}', '["b"]', "nothing", '"yes"']
    log = evaluate(tmp_path, accepted, completions, door.anls_star())
    assert [sample.scores["anls_star"].value for sample in log.samples] == [0.9, 1.0, 0.0, 1.0]
    assert log.samples[0].scores["anls_star"].metadata["signature"].startswith("anls|anls_star|")
    assert "total" in log.samples[0].scores["anls_star"].explanation


def test_wrong_options_are_refused() -> None:
    door: Any = import_module("anls_metric.inspect_ai")
    with pytest.raises(ValueError, match="unknown variant 'no'"):
        door.anls("no")
    with pytest.raises(ValueError, match=r"\bno\b"):
        door.anls(extract="no")
    with pytest.raises(ValueError, match="none_keys"):
        door.anls_star(none_keys="no")
