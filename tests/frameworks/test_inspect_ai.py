"""The scorers and the example for inspect_ai run in inspect_ai, with a model that gives fixed, made-up answers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT, RunPython
from tests.frameworks.conftest import ACCEPTED, ANSWERS, HARNESSES

inspect_ai: Any = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
models: Any = import_module("inspect_ai.model")
data: Any = import_module("inspect_ai.dataset")
scorers: Any = import_module("inspect_ai.scorer")
ours: Any = import_module("anls_metric.inspect_ai")

COMPLETIONS = [ANSWERS[0], f"<think>Hm.</think>Answer: {ANSWERS[1]}", *ANSWERS[2:]]
DOCUMENTS = ["a", "a", "b", "b"]
SCORES = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant="rrc")


def make_task(accepted: list[list[str]], scorer: Any) -> Any:
    samples = [
        data.Sample(input=f"question {number}", target=target, metadata={"doc_id": document})
        for number, (target, document) in enumerate(zip(accepted, DOCUMENTS))
    ]
    solver = import_module("inspect_ai.solver").generate()
    return inspect_ai.Task(dataset=data.MemoryDataset(samples), solver=solver, scorer=scorer, name="made_up")


def evaluate(folder: Path, task: Any, completions: list[str]) -> Any:
    outputs = [models.ModelOutput.from_content("mockllm/model", text) for text in completions]
    model = models.get_model("mockllm/model", custom_outputs=outputs)
    options: dict[str, Any] = {"display": "none", "max_connections": 1, "max_samples": 1}
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), **options)
    assert log.status == "success", log.error
    return log


@pytest.fixture(autouse=True)
def _count_tokens_without_a_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    async def count(self: Any, text: str) -> int:
        return len(text)

    monkeypatch.setattr("inspect_ai.model._providers.mockllm.MockLLM.count_text_tokens", count)


def test_inspect_score_appends_anls_to_a_log_of_somebody_else(tmp_path: Path, run_python: RunPython) -> None:
    """The command finds the scorer by the entry point of the installed package."""
    log = evaluate(tmp_path, make_task(ACCEPTED, scorers.exact()), COMPLETIONS)
    program = "from inspect_ai._cli.main import main; main()"
    words = ["score", log.location, "--scorer", "anls_metric/anls", "-S", "variant=rrc", "-S", "extract=think,final"]
    words += ["--action", "append", "--output-file", str(tmp_path / "scored.eval"), "--display", "plain"]
    done = run_python(["-c", program, *words], tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stdout + done.stderr
    scored = import_module("inspect_ai.log").read_eval_log(str(tmp_path / "scored.eval"))
    assert [each.name for each in scored.results.scores] == ["exact", "anls"]
    samples = [sample.scores["anls"] for sample in scored.samples]
    assert [sample.value for sample in samples] == SCORES
    assert [sample.answer for sample in samples] == ANSWERS
    assert samples[0].explanation == "equal to '12.34 EUR', so 1"
    assert samples[1].explanation == (
        "1 edit on 9 characters from 'Coca Cola': similarity 0.8889, at least the threshold of 0.5\n\n"
        "    coca·cola\n    coca cola\n        I"
    )
    assert samples[1].metadata == {"signature": anls_metric.signature("rrc", extract="think,final")}


def test_task_is_scored_and_the_standard_error_is_clustered_by_document(tmp_path: Path) -> None:
    log = evaluate(tmp_path, make_task(ACCEPTED, ours.anls(extract="think,final")), COMPLETIONS)
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    mean = anls_metric.mean(SCORES)
    assert metrics["mean"] == pytest.approx(mean, abs=1e-12)
    sums = [sum(score - mean for score in SCORES[:2]), sum(score - mean for score in SCORES[2:])]
    clustered = (2 * sum(each**2 for each in sums)) ** 0.5 / len(SCORES)  # two clusters
    assert metrics["stderr"] == pytest.approx(clustered, rel=1e-9)
    without_documents = [scorers.SampleScore(score=scorers.Score(value=score)) for score in SCORES]
    assert ours.stderr()(without_documents) == scorers.stderr()(without_documents) != pytest.approx(clustered, rel=1e-3)


def test_anls_star_scores_json(tmp_path: Path) -> None:
    accepted = [['{"total": "12.50", "shop": "Coca Cola"}'], ['["a", "b"]', '["b"]'], ['{"total": "1"}'], ['"yes"']]
    completions = ['It says {"total": "12.5", "shop": "Coca Cola"}', '["b"]', "nothing", '"yes"']
    log = evaluate(tmp_path, make_task(accepted, ours.anls_star()), completions)
    scores = [sample.scores["anls_star"] for sample in log.samples]
    assert [score.value for score in scores] == [0.9, 1.0, 0.0, 1.0]
    assert scores[0].metadata["signature"].startswith("anls|anls_star|")
    assert "total" in scores[0].explanation


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ours.anls("no"), "unknown variant 'no'"),
        (lambda: ours.anls(extract="no"), "unknown extraction step 'no'"),
        (lambda: ours.anls_star(none_keys="no"), "none_keys"),
    ],
)
def test_wrong_options_are_refused(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_example_gives_our_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HARNESSES))
    log = evaluate(tmp_path, import_module("inspect_task").receipts(), ANSWERS)
    scores = [sample.scores["anls"] for sample in log.samples]
    assert [score.value for score in scores] == anls_metric.anls_scores(ANSWERS, ACCEPTED, variant="rrc")
    assert scores[1].metadata == {"signature": anls_metric.signature("rrc")}
    assert "1 edit on 9 characters from 'Coca Cola'" in scores[1].explanation
