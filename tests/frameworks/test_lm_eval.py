"""The metric, the filter and the examples for lm-evaluation-harness, in the harness and by its plugin interface."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT
from tests.frameworks.conftest import ANSWERS, HARNESSES, QUESTIONS

pytest.importorskip("lm_eval.evaluator", reason="lm_eval is not installed")

WRITTEN = ["12.34 EUR", "<think>A sign.</think>The answer is CocaCola", "12/15/89", "eight"]


def evaluate(folder: Path, task: str) -> dict[str, Any]:
    evaluator: Any = import_module("lm_eval.evaluator")
    tasks: Any = import_module("lm_eval.tasks")
    dummy: Any = import_module("lm_eval.models.dummy").DummyLM

    class Fixed(dummy):  # type: ignore[misc]
        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            written = {line["question"]: text for line, text in zip(QUESTIONS, WRITTEN)}
            return [written[request.args[0].removesuffix(" Answer:")] for request in requests]

    manager = tasks.TaskManager(include_path=str(folder), include_defaults=False)
    result = evaluator.simple_evaluate(Fixed(), tasks=[task], task_manager=manager, bootstrap_iters=0)
    found: dict[str, Any] = result["results"][task]
    signature = result["configs"][task]["metadata"]["signature"].removesuffix("|extract:think,final")
    assert anls_metric.signature("rrc").startswith(signature)
    return found


@pytest.mark.parametrize(
    ("task", "key", "answers", "field"),
    [
        ("anls_one_answer", "anls,none", WRITTEN, "answer"),
        ("anls_several_answers", "anls,none", WRITTEN, "answers"),
        ("anls_extracted", "anls,extracted", ANSWERS, "answer"),
    ],
)
def test_task_gives_our_scores(
    task: str, key: str, answers: list[str], field: str, in_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if task == "anls_extracted":
        monkeypatch.chdir(ROOT)
    expected = anls_metric.anls_scores(answers, [line[field] for line in QUESTIONS], variant="rrc")
    assert evaluate(HARNESSES / "lm_eval", task)[key] == pytest.approx(anls_metric.mean(expected), abs=1e-12)


def test_metric_is_loaded_by_its_path_through_evaluate(tmp_path: Path) -> None:
    text = (HARNESSES / "lm_eval" / "anls_one_answer.yaml").read_text(encoding="utf-8")
    text = text.replace("- metric: anls", f"- metric: {ROOT / 'anls.py'}")
    (tmp_path / "task.yaml").write_text(text.replace("anls/examples", str(ROOT / "examples")), encoding="utf-8")
    expected = anls_metric.anls_scores(WRITTEN, [line["answer"] for line in QUESTIONS], variant="rrc")
    result = evaluate(tmp_path, "anls_one_answer")
    assert result["anls,none"] == pytest.approx(anls_metric.mean(expected), abs=1e-12)


def test_entry_points_fit_the_contract_of_plugins() -> None:
    """These lines do what the harness does: register an entry by its name, load it for a task, and call it."""
    registry: Any = import_module("lm_eval.api.registry")
    (metric,) = entry_points(group="lm_eval.metrics", name="anls")
    (filter_,) = entry_points(group="lm_eval.filters", name="anls_extract")
    scored = metric.load()(references=["Coca Cola"], predictions=["CocaCola"], variant="rrc", threshold=0.6)
    assert scored == anls_metric.anls_score("CocaCola", ["Coca Cola"], variant="rrc", threshold=0.6)
    assert registry.get_metric("anls") is metric.load()
    assert registry.is_higher_better("anls") is True
    assert registry.get_metric_aggregation("anls")([0.25, 0.75]) == 0.5
    assert registry.get_filter("anls_extract") is filter_.load()
    assert filter_.load()(rules="think").apply([["<think>Hm.</think>a", "b"], ["c"]], [{}, {}]) == [["a", "b"], ["c"]]
    with pytest.raises(ValueError, match=r"\bno\b"):
        filter_.load()("no")


def test_process_results_takes_all_accepted_answers() -> None:
    module: Any = import_module("anls_metric.lm_eval")
    assert module.process_results({"answers": ["Pepsi", "Coca Cola"]}, ["CocaCola"]) == {"anls": 8 / 9}
    apart = {"answers": ["axyz"]}, ["abcd"]
    assert [module.process_results_rrc(*apart), module.process_results_nls(*apart)] == [{"anls": 0.0}, {"anls": 0.25}]
    assert not hasattr(module, "process_results_absent")
