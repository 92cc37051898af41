"""The scorers for other tools: in the tool where it is installed, and else as plain functions, with a stand-in for what
they import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anls_metric import anls_score, explain
from tests.conftest import ROOT

ANSWER, ACCEPTED = "CocaCola", ["Coca-Cola", "Coca Cola Company"]
EXPECTED = (anls_score(ANSWER, ACCEPTED), explain(ANSWER, ACCEPTED).sentence)


def measure(metric: Any) -> tuple[float, str]:
    """Measure as DeepEval does, which reads the score and the reason afterwards."""
    case = SimpleNamespace(actual_output=ANSWER, metadata={"answers": ACCEPTED})
    assert (metric.measure(case), metric.is_successful()) == (EXPECTED[0], True)
    return metric.score, metric.reason


# A module of the examples, what it imports with stand-ins, and how the tool calls it and reads what it returns.
TOOLS: dict[str, tuple[dict[str, dict[str, Any]], Callable[[Any], tuple[float, str]]]] = {
    "braintrust_scorer": (
        {"braintrust": {"Score": lambda name, score, metadata: SimpleNamespace(score=score, metadata=metadata)}},
        lambda module: read(module.anls(input="?", output=ANSWER, expected=ACCEPTED), "score", "metadata"),
    ),
    "deepeval_metric": (
        {"deepeval": {}, "deepeval.metrics": {"BaseMetric": object}},
        lambda module: measure(module.ANLS()),
    ),
    "mlflow_scorer": (
        {
            "mlflow": {},
            "mlflow.entities": {"Feedback": SimpleNamespace},
            "mlflow.genai": {"scorer": lambda function: function},
        },
        lambda module: read(module.anls(outputs=ANSWER, expectations={"answers": ACCEPTED}), "value", "rationale"),
    ),
    "phoenix_evaluator": (
        {
            "phoenix": {},
            "phoenix.evals": {"Score": SimpleNamespace, "create_evaluator": lambda **_: lambda function: function},
        },
        lambda module: read(ask_phoenix(module.anls), "score", "explanation"),
    ),
    "promptfoo_assert": (
        {},
        lambda module: read(module.get_assert(ANSWER, {"vars": {"answers": ACCEPTED}}), "score", "reason"),
    ),
    "weave_scorer": (
        {"weave": {"op": lambda function: function}},
        lambda module: read(module.anls(output=ANSWER, answers=ACCEPTED), "anls", "reason"),
    ),
}


def ask_phoenix(evaluator: Any) -> Any:
    """Score as Phoenix does, which passes a row and gets a list."""
    if not hasattr(evaluator, "evaluate"):
        return evaluator(output=ANSWER, expected=ACCEPTED)
    return evaluator.evaluate({"output": ANSWER, "expected": ACCEPTED})[0]


def read(result: Any, score: str, reason: str) -> tuple[float, str]:
    """Read the score and the reason from what a scorer returns."""
    values = result if isinstance(result, dict) else {name: getattr(result, name) for name in (score, reason)}
    found = values[reason]["reason"] if isinstance(values[reason], dict) else values[reason]
    return values[score], found


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Load a module of the examples, with stand-ins for a tool that is not installed."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "tools"))

    def import_with_stand_ins(name: str) -> Any:
        modules = TOOLS[name][0]
        if modules and find_spec(next(iter(modules))) is None:
            for module, names in modules.items():
                stand_in = ModuleType(module)
                vars(stand_in).update(names)
                monkeypatch.setitem(sys.modules, module, stand_in)
        return import_module(name)

    yield import_with_stand_ins
    for name in TOOLS:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", TOOLS)
def test_scorer_returns_the_score_and_the_reason(name: str, load: Callable[[str], Any]) -> None:
    assert TOOLS[name][1](load(name)) == EXPECTED


@pytest.mark.needs("mlflow")
def test_scorer_runs_in_mlflow(load: Callable[[str], Any], tmp_path: Any) -> None:
    mlflow: Any = import_module("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    rows = [{"inputs": {"question": "?"}, "outputs": ANSWER, "expectations": {"answers": ACCEPTED}}]
    result = mlflow.genai.evaluate(data=rows, scorers=[load("mlflow_scorer").anls])
    assert result.metrics == {"anls/mean": pytest.approx(EXPECTED[0])}


@pytest.mark.needs("braintrust")
def test_scorer_runs_in_braintrust(load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    braintrust: Any = import_module("braintrust")
    monkeypatch.setenv("BRAINTRUST_API_KEY", "none")
    rows = [{"input": "?", "expected": ACCEPTED}]
    scorers = [load("braintrust_scorer").anls]
    result = braintrust.Eval("made-up", data=rows, task=lambda _: ANSWER, scores=scorers, no_send_logs=True)
    assert result.results[0].scores == {"anls": EXPECTED[0]}
