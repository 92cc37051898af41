"""The tasks for lmms-eval, read and called as by lmms-eval 0.7.3, which cannot be installed beside other harnesses."""

from __future__ import annotations

import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anls_metric
from anls_metric.lmms_eval import TASKS
from tests.conftest import RunPython
from tests.frameworks.conftest import ACCEPTED, ANSWERS, QUESTIONS

NAMES = ["docvqa_val_anls", "docvqa_val_lite_anls", "infovqa_val_anls", "infovqa_val_lite_anls"]


def read_task(path: Path) -> dict[str, Any]:
    """Read YAML as lmms-eval does: `include` names another file, `!function FILE.NAME` a function beside it."""
    yaml: Any = import_module("yaml")

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        pass

    def load_function(loader: Any, node: Any) -> Any:
        module, name = loader.construct_scalar(node).rsplit(".", 1)
        return runpy.run_path(f"{path.parent}/{module}.py")[name]

    Loader.add_constructor("!function", load_function)
    task: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader)
    included = read_task(path.parent / task.pop("include")) if "include" in task else {}
    return {**included, **task}


def test_folder_of_the_tasks_is_that_of_the_plugin() -> None:
    """With LMMS_EVAL_PLUGINS=anls_metric.lmms_eval, lmms-eval runs these three lines."""
    spec = find_spec("anls_metric.lmms_eval.tasks")
    assert spec is not None
    assert spec.submodule_search_locations == [TASKS]
    assert import_module("anls_metric.lmms_eval.models").AVAILABLE_MODELS == {}
    assert sorted(path.stem for path in Path(TASKS).glob("*.yaml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_task_gives_our_scores_and_reports_the_signatures(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    task = read_task(Path(TASKS) / f"{name}.yaml")
    assert (task["task"], task["output_type"]) == (name, "generate_until")
    prompt = task["lmms_eval_specific_kwargs"]["default"]
    docs = [{**line, "image": SimpleNamespace(convert=lambda mode: mode)} for line in QUESTIONS]
    assert task["doc_to_visual"](docs[0]) == ["RGB"]
    assert task["doc_to_text"](docs[0], prompt).startswith(f"{QUESTIONS[0]['question']}\nAnswer the question using")
    assert all(task["doc_to_target"] in doc for doc in docs)
    given = [task["process_results"](doc, [answer]) for doc, answer in zip(docs, ANSWERS)]
    reported = dict(line.split(": ") for line in capsys.readouterr().err.splitlines())  # once, not for each question
    assert [metric["metric"] for metric in task["metric_list"]] == list(reported)
    for metric in task["metric_list"]:
        key = metric["metric"]
        assert (metric["aggregation"], metric["higher_is_better"]) == ("mean", True)
        variant = reported[key].split("|")[1]
        assert reported[key] == anls_metric.signature(variant)
        assert reported[key].startswith(task["metadata"][key])
        assert [each[key] for each in given] == anls_metric.anls_scores(ANSWERS, ACCEPTED, variant=variant)


def test_package_is_imported_without_lmms_eval(tmp_path: Path, run_python: RunPython) -> None:
    program = (
        "import sys; sys.modules['lmms_eval'] = None; import anls_metric.lmms_eval.models;"
        "import anls_metric.lmms_eval.tasks.document_questions; print(anls_metric.lmms_eval.TASKS)"
    )
    assert run_python(program, tmp_path).stdout == f"{TASKS}\n"
