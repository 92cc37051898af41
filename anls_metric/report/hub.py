"""Formats a score for the Hugging Face Hub, as YAML for a file in a model repository's ``.eval_results/`` folder.

Source: https://github.com/huggingface/hub-docs/blob/main/eval_results.yaml.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from anls_metric.messages import list_some, make_error
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import Document

_ENTRY = """\
- dataset:
    id: {dataset}
    task_id: {task}
  value: {value}
  date: {date}
{source}  notes: {signature}"""


def as_eval_results(
    document: Document, dataset: str, task: str, source: str, date: str, numbers: NumberFormat = PLAIN
) -> str:
    """Format the score of one submission as YAML.

    Args:
        document: a document from `wording.word`.
        dataset: the id of the dataset, such as ``lmms-lab-encoder/DocVQA``.
        task: the id of the task in the dataset's ``eval.yaml``.
        source: the URL of evidence for the score, such as a log or a paper; "" for none.
        date: the date of the evaluation, such as 2026-11-22.
        numbers: how the score is printed; `PLAIN` prints all digits.

    Raises:
        InputError: there are several submissions, or the dataset id is not valid on the Hub.
    """
    if len(document["submissions"]) > 1:
        names = list_some(submission["name"] for submission in document["submissions"])
        raise make_error("", "the Hub accepts the score of only one model: pass one of {names}", names=names)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset):
        sentence = "{dataset!r} is not a dataset id: write OWNER/NAME, such as lmms-lab-encoder/DocVQA"
        raise make_error("", sentence, dataset=dataset)
    mean = document["submissions"][0]["anls"]
    digits = f"{Decimal(repr(mean)):f}"  # without an exponent, since 1e-05 is a string in YAML 1.1
    texts = {"dataset": dataset, "task": task, "date": date, "signature": document["signature"]}
    quoted = {name: json.dumps(text, ensure_ascii=False) for name, text in texts.items()}  # also strings in YAML
    evidence = f"  source:\n    url: {json.dumps(source, ensure_ascii=False)}\n" if source else ""
    return _ENTRY.format(source=evidence, value=digits if numbers == PLAIN else numbers.format(mean), **quoted)
