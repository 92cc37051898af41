"""The examples for evaluation harnesses run in these harnesses, with models that give fixed, made-up answers."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

import anls_metric
from tests.conftest import DATA, ROOT

FOLDER = ROOT / "examples" / "harnesses"
QUESTIONS = [json.loads(line) for line in (FOLDER / "questions" / "test.jsonl").read_text().splitlines()]
ANSWERS = ["12.34 EUR", "CocaCola", "12/15/89", "eight"]
SEVERAL = anls_metric.anls_scores(ANSWERS, [line["answers"] for line in QUESTIONS], variant="rrc")
ROWS = [
    {"index": number, "question": line["question"], "answer": str(line["answers"]), "split": split, "prediction": text}
    for number, (line, text, split) in enumerate(zip(QUESTIONS, ANSWERS, ["val", "val", "test", "test"]))
]
PARTS = {"Overall": SEVERAL, "val": SEVERAL[:2], "test": SEVERAL[2:]}
SUMMARY = {name: pytest.approx(100 * anls_metric.mean(scores), abs=1e-10) for name, scores in PARTS.items()}


@pytest.fixture(autouse=True)
def _examples_on_path() -> Iterator[None]:
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


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


def test_dataset_of_vlmevalkit_gives_our_scores(vlmevalkit_dataset: Any, tmp_path: Path) -> None:
    """VLMEvalKit calls this method with the file of predictions."""
    assert list(vlmevalkit_dataset.DATASET_URL) == list(vlmevalkit_dataset.DATASET_MD5) == ["DocVQA_VAL_ANLS"]
    pd: Any = import_module("pandas")
    pd.DataFrame(ROWS).to_csv(tmp_path / "model_DocVQA_VAL_ANLS.tsv", sep="\t", index=False)
    result = vlmevalkit_dataset.evaluate(str(tmp_path / "model_DocVQA_VAL_ANLS.tsv"), model="exact_matching")
    assert result.to_dict("records") == [SUMMARY]
    assert pd.read_csv(tmp_path / "model_DocVQA_VAL_ANLS_acc.csv").to_dict("records") == [SUMMARY]


@pytest.mark.parametrize(
    "name", ["canned-edge_DocVQA_VAL.xlsx", "canned-edge_DocVQA_VAL.tsv", "canned-edge_DocVQA_VAL.json"]
)
def test_dataset_of_vlmevalkit_scores_files_that_it_wrote(name: str, vlmevalkit_dataset: Any, tmp_path: Path) -> None:
    manifest = json.loads((DATA / "layouts" / "MANIFEST.json").read_text(encoding="utf-8"))
    (expected,) = (entry["expected"]["rrc"] for entry in manifest if entry["file"] == f"vlmevalkit/{name}")
    shutil.copy(DATA / "layouts" / "vlmevalkit" / name, tmp_path)
    result = vlmevalkit_dataset.evaluate(str(tmp_path / name))
    assert result["Overall"][0] == pytest.approx(100 * expected, abs=1e-10)


@pytest.mark.parametrize("ending", ["tsv", "json", "xlsx"])
def test_result_file_of_vlmevalkit_is_scored_again(ending: str, tmp_path: Path) -> None:
    pd: Any = pytest.importorskip("pandas")
    path = tmp_path / f"model_DocVQA_VAL.{ending}"
    if ending == "json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    elif ending == "tsv":
        pd.DataFrame(ROWS).to_csv(path, sep="\t", index=False)
    else:
        pytest.importorskip("openpyxl")
        pd.DataFrame(ROWS).to_excel(path, index=False)
    example: Any = import_module("rescore_vlmevalkit")
    assert example.rescore(str(path)).anls == anls_metric.mean(SEVERAL)
    (summary,) = pd.read_csv(tmp_path / "model_DocVQA_VAL_anls.csv").to_dict("records")
    assert summary.pop("signature").startswith("anls|rrc|")
    assert summary == SUMMARY
    answers = pd.read_csv(tmp_path / "model_DocVQA_VAL_anls_answers.csv")
    assert answers["anls"].tolist() == pytest.approx([100 * score for score in SEVERAL], abs=1e-12)


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
    result = [
        metric.compute_sample(doc=doc, model_response=response(text=[answer])) for doc, answer in zip(docs, ANSWERS)
    ]
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
    value = example.score(example.pd.Series(ANSWERS), example.pd.Series([line["answers"] for line in QUESTIONS]))
    assert value.scores == SEVERAL
