"""The examples for evaluation harnesses run in these harnesses, with models that give fixed, made-up answers."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

import anls_metric
from tests.conftest import DATA
from tests.frameworks.conftest import ACCEPTED, ANSWERS, HARNESSES, QUESTIONS

SEVERAL = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant="rrc")
ROWS = [
    {"index": number, "question": line["question"], "answer": str(line["answers"]), "split": split, "prediction": text}
    for number, (line, text, split) in enumerate(zip(QUESTIONS, ANSWERS, ["val", "val", "test", "test"]))
]
PARTS = {"Overall": SEVERAL, "val": SEVERAL[:2], "test": SEVERAL[2:]}
SUMMARY = {name: pytest.approx(100 * anls_metric.mean(scores), abs=1e-10) for name, scores in PARTS.items()}


@pytest.fixture(autouse=True)
def _examples_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HARNESSES))


@pytest.fixture
def vlmevalkit_dataset(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example for VLMEvalKit, with a stand-in for the class of VLMEvalKit."""
    pytest.importorskip("pandas")

    class ImageVQADataset:
        DATASET_URL: ClassVar = {"DocVQA_VAL": "https://example.org/DocVQA_VAL.tsv"}
        DATASET_MD5: ClassVar = {"DocVQA_VAL": "0"}

    for name in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.image_vqa"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["vlmeval.dataset.image_vqa"].ImageVQADataset = ImageVQADataset  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "vlmevalkit_dataset", raising=False)
    return import_module("vlmevalkit_dataset").DocVQAByANLS()


def test_examples_for_vlmevalkit_give_our_scores(vlmevalkit_dataset: Any, tmp_path: Path) -> None:
    """VLMEvalKit calls `evaluate` with the file of predictions, which the other example scores afterwards."""
    assert list(vlmevalkit_dataset.DATASET_URL) == list(vlmevalkit_dataset.DATASET_MD5) == ["DocVQA_VAL_ANLS"]
    pd: Any = import_module("pandas")
    path = f"{tmp_path}/model_DocVQA_VAL.tsv"
    pd.DataFrame(ROWS).to_csv(path, sep="\t", index=False)
    assert vlmevalkit_dataset.evaluate(path, model="exact_matching").to_dict("records") == [SUMMARY]
    assert pd.read_csv(tmp_path / "model_DocVQA_VAL_acc.csv").to_dict("records") == [SUMMARY]
    assert import_module("rescore_vlmevalkit").rescore(path).anls == anls_metric.mean(SEVERAL)
    (summary,) = pd.read_csv(tmp_path / "model_DocVQA_VAL_anls.csv").to_dict("records")
    assert summary.pop("signature").startswith("anls|rrc|")
    assert summary == SUMMARY
    answers = pd.read_csv(tmp_path / "model_DocVQA_VAL_anls_answers.csv")
    assert answers["anls"].tolist() == pytest.approx([100 * score for score in SEVERAL], abs=1e-12)


@pytest.mark.parametrize("ending", ["xlsx", "tsv", "json"])
def test_examples_score_the_files_that_vlmevalkit_wrote(ending: str, vlmevalkit_dataset: Any, tmp_path: Path) -> None:
    name = f"canned-edge_DocVQA_VAL.{ending}"
    manifest = json.loads((DATA / "layouts" / "MANIFEST.json").read_text(encoding="utf-8"))
    (expected,) = (entry["expected"]["rrc"] for entry in manifest if entry["file"] == f"vlmevalkit/{name}")
    path = str(shutil.copy(DATA / "layouts" / "vlmevalkit" / name, tmp_path))
    assert vlmevalkit_dataset.evaluate(path)["Overall"][0] == pytest.approx(100 * expected, abs=1e-10)
    assert import_module("rescore_vlmevalkit").rescore(path).anls == pytest.approx(expected, abs=1e-12)


@pytest.mark.needs("lighteval")
def test_task_of_lighteval_gives_our_scores() -> None:
    """Its task and its metric. A whole run would need the network, because two built-in tasks do at import."""
    example: Any = import_module("lighteval_task")
    task: Any = import_module("lighteval.tasks.lighteval_task").LightevalTask
    response: Any = import_module("lighteval.models.model_output").ModelResponse
    (config,) = example.TASKS_TABLE
    docs = task(config).eval_docs()
    assert [doc.query for doc in docs] == [f"{line['question']} Answer:" for line in QUESTIONS]
    (metric,) = config.metrics
    given = [response(text=[answer]) for answer in ANSWERS]
    result = [metric.compute_sample(doc=doc, model_response=each) for doc, each in zip(docs, given)]
    assert result == [{"anls": score} for score in SEVERAL]
    assert metric.get_corpus_aggregations()["anls"](SEVERAL) == pytest.approx(anls_metric.mean(SEVERAL), abs=1e-12)
    assert str(metric.sample_level_fn) == anls_metric.signature("rrc")


@pytest.mark.needs("mlflow")
def test_metric_of_mlflow_gives_our_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow: Any = import_module("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    example: Any = import_module("mlflow_metric")
    assert example.main()["anls/mean"] == pytest.approx(anls_metric.mean(SEVERAL), abs=1e-12)
    value = example.score(example.pd.Series(ANSWERS), example.pd.Series(ACCEPTED))
    assert value.scores == SEVERAL
