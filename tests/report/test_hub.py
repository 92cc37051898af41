"""The score in the format of the Hugging Face Hub: anls export hub."""

from __future__ import annotations

import datetime
import re
import shlex
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line
from anls_metric.report.hub import as_eval_results
from tests.conftest import ROOT

GOLD, BASE, TUNED = (str(ROOT / "examples" / "compare" / f"{name}.json") for name in ("gold", "base", "tuned"))
HUB = f"export hub {GOLD} {BASE} --dataset made-up/DocVQA --task val"
KEYS = {"dataset", "value", "date", "source", "notes"}
"""Keys of the published schema, eval_results.yaml of huggingface/hub-docs."""


def test_yaml_fits_the_published_schema(capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    assert command_line.main(shlex.split(f"{HUB} --variant rrc")) == 0
    (entry,) = yaml.safe_load(capsys.readouterr().out)
    found = anls_metric.score(BASE, gold=GOLD, variant="rrc")
    assert set(entry) == KEYS
    assert entry["dataset"] == {"id": "made-up/DocVQA", "task_id": "val"}
    assert (entry["value"], entry["notes"]) == (found.anls, found.signature)
    assert entry["source"] == {"url": anls_metric.VARIANTS["rrc"].source}
    datetime.date.fromisoformat(entry["date"])


def test_library_of_the_hub_reads_the_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    hub: Any = pytest.importorskip("huggingface_hub", minversion="1.4")
    assert command_line.main(shlex.split(f"{HUB} --percent --digits 1 --source https://example.org/logs")) == 0
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(capsys.readouterr().out))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("made-up/DocVQA", "val", 83.6)
    assert entry.source_url == "https://example.org/logs"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"export hub {GOLD} {BASE}", "the following arguments are required: --dataset, --task"),
        (f"{HUB} {TUNED}", "the Hub takes the score of one model, and there are several (base, tuned)"),
        (HUB.replace("made-up/", ""), "'DocVQA' is not a dataset id: write OWNER/NAME, such as"),
        (f"{HUB} --columns anls", "unknown flag --columns"),
    ],
)
def test_score_that_the_hub_does_not_take_is_an_error(
    capsys: pytest.CaptureFixture[str], line: str, problem: str
) -> None:
    try:
        status = command_line.main(shlex.split(line))
    except SystemExit as ended:
        status = int(ended.code or 0)
    out, err = capsys.readouterr()
    assert (status, out, problem in err) == (2, "", True), err


@pytest.mark.parametrize("mean", [0.0, 1.0, 1 / 3, 1e-05, 2.5e-7])
def test_value_is_a_number_with_all_of_its_digits(mean: float) -> None:
    document = {"submissions": [{"name": "a", "anls": mean}], "signature": 'a "quoted" text: \\ #'}
    text = as_eval_results(document, "a/b", "1", "https://example.org", "2026-11-22")
    (value,) = re.findall(r"^  value: ([\d.]+)$", text, re.MULTILINE)
    assert float(value) == mean
    assert pytest.importorskip("yaml").safe_load(text)[0]["notes"] == document["signature"]
