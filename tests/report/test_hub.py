"""The score in the format of the Hugging Face Hub."""

from __future__ import annotations

import datetime
import re
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line
from anls_metric.report.hub import Benchmark, as_eval_results
from tests.conftest import ROOT

FILES = [str(ROOT / "examples" / "compare" / name) for name in ("gold.json", "base.json", "tuned.json")]
HUB = ["--format", "hub", "--hub-dataset", "made-up/DocVQA", "--hub-task", "val"]

# The published schema, eval_results.yaml of huggingface/hub-docs: key -> the types of its values. "?": it is optional.
SCHEMA = {
    "dataset": {"id": str, "task_id": str, "revision?": str},
    "value": (int, float),
    "verifyToken?": str,
    "date?": str,
    "source?": {"url": str, "name?": str, "user?": str, "org?": str},
    "notes?": str,
}


def check(value: Any, schema: Any) -> None:
    if not isinstance(schema, dict):
        assert isinstance(value, schema)
        return
    assert {key for key in schema if not key.endswith("?")} <= set(value) <= {key.rstrip("?") for key in schema}
    for key, inner in value.items():
        check(inner, schema.get(key, schema.get(f"{key}?")))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = command_line.main([*arguments, "--quiet"])
    return status, *capsys.readouterr()


def test_yaml_fits_the_published_schema(capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    status, out, _ = run(capsys, *FILES[:2], *HUB, "--variant", "rrc")
    (entry,) = yaml.safe_load(out)
    check(entry, SCHEMA)
    found = anls_metric.score(FILES[1], gold=FILES[0], variant="rrc")
    assert (status, entry["dataset"]) == (0, {"id": "made-up/DocVQA", "task_id": "val"})
    assert (entry["value"], entry["notes"]) == (found.anls, found.signature)
    assert entry["source"] == {"url": anls_metric.VARIANTS["rrc"].source}
    datetime.date.fromisoformat(entry["date"])


def test_hub_library_reads_the_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    hub: Any = pytest.importorskip("huggingface_hub", minversion="1.4")
    flags = ["--percent", "--digits", "1", "--hub-source", "https://example.org/logs"]
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(run(capsys, *FILES[:2], *HUB, *flags)[1]))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("made-up/DocVQA", "val", 83.6)
    assert entry.source_url == "https://example.org/logs"


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ([*FILES[:2], *HUB[:2]], "--format hub needs --hub-dataset and --hub-task: add --hub-dataset and --hub-task"),
        ([*FILES[:2], *HUB[:4]], "add --hub-task"),
        ([*FILES[:2], *HUB[2:]], "are for --format hub"),
        ([*FILES[:2], *HUB, "--columns", "anls"], "--columns is for tables"),
        ([*FILES, *HUB], "--format hub is for one model, and there are several (base, tuned)"),
        ([*FILES[:2], *HUB[:3], "DocVQA", *HUB[4:]], "--hub-dataset is 'DocVQA': write OWNER/NAME"),
    ],
)
def test_flags_that_do_not_fit_are_refused(capsys: pytest.CaptureFixture[str], flags: list[str], problem: str) -> None:
    status, out, err = run(capsys, *flags)
    assert (status, out) == (2, "")
    assert problem in err


@pytest.mark.parametrize("mean", [0.0, 1.0, 1 / 3, 1e-05, 2.5e-7])
def test_value_is_a_number_with_all_of_its_digits(mean: float) -> None:
    document = {"submissions": [{"name": "a", "anls": mean}], "signature": 'a "quoted" text: \\ #'}
    text = as_eval_results(document, Benchmark("a/b", "1", "https://example.org", "2026-11-22"))
    (value,) = re.findall(r"^  value: ([\d.]+)$", text, re.MULTILINE)
    assert float(value) == mean
    assert pytest.importorskip("yaml").safe_load(text)[0]["notes"] == document["signature"]
