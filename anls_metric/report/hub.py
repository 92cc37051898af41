"""Formats a score for the Hugging Face Hub, as the YAML of a file in ``.eval_results/`` of a model repository.

Source: https://github.com/huggingface/hub-docs/blob/main/eval_results.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from anls_metric.report.numbers import PLAIN, Numbers


class Benchmark(NamedTuple):
    """The benchmark of a score on the Hub.

    Attributes:
        dataset: the id of the data set, such as ``lmms-lab/DocVQA``.
        task: the id of the task in the ``eval.yaml`` of the data set.
        source: the URL of evidence for the score, such as logs or a paper.
        date: the date of the evaluation, such as 2026-11-22.
    """

    dataset: str
    task: str
    source: str
    date: str


def as_eval_results(document: Mapping[str, Any], benchmark: Benchmark, numbers: Numbers = PLAIN) -> str:
    """Format the score of one submission as YAML.

    Args:
        document: as `document.build_document` makes it.
        benchmark: the benchmark of the score.
        numbers: how the score is printed; `PLAIN` prints all of its digits.

    Raises:
        ValueError: there are several submissions, or the id of the data set is not an id of the Hub.
    """
    if len(document["submissions"]) > 1:
        names = ", ".join(submission["name"] for submission in document["submissions"])
        raise ValueError(f"--format hub is for one model, and there are several ({names}): score each by itself")
    owner, slash, name = benchmark.dataset.partition("/")
    if not (owner and slash and name) or set(benchmark.dataset) & set(" \t\n:") or "/" in name:
        raise ValueError(f"--hub-dataset is {benchmark.dataset!r}: write OWNER/NAME, like lmms-lab/DocVQA")
    mean = document["submissions"][0]["anls"]
    lines = [
        "- dataset:",
        f"    id: {_quote(benchmark.dataset)}",
        f"    task_id: {_quote(benchmark.task)}",
        f"  value: {_write_all_digits(mean) if numbers == PLAIN else numbers.format(mean)}",
        f"  date: {_quote(benchmark.date)}",
        "  source:",
        f"    url: {_quote(benchmark.source)}",
        f"  notes: {_quote(document['signature'])}",
    ]
    return "\n".join(lines)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON string is a YAML string


def _write_all_digits(number: float) -> str:
    return repr(number) if "e" not in repr(number) else f"{number:.20f}"  # 1e-05 is a string in YAML 1.1
