"""Writes results.json, which contains every answer in a submission with its score, under the keys used by `anls` on
PyPI.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from anls_metric.analysis.answer_types import ANSWER_TYPES
from anls_metric.messages import make_error
from anls_metric.report.schema import Submission
from anls_metric.writing import check_output, write_whole

FILE = "results.json"


def write_results(
    path: str, submission: Submission, rows: Iterable[Mapping[str, Any]], signature: str, inputs: Sequence[str]
) -> None:
    """Write the results of a submission.

    Args:
        path: the file to write; its folder is created if it does not exist.
        submission: the submission, as in the JSON document.
        rows: the answers in the submission, from `answer_rows.list_rows`.
        signature: the signature of the score.
        inputs: the paths of the scored files, which are listed in the results.

    Raises:
        InputError: the file is an input. OSError: it cannot be written.
    """
    with suppress(FileExistsError):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    check_output(path, inputs)
    results = {
        "inputs": inputs,
        "per_sample_result": {row["id"]: _describe_answer(row) for row in rows},
        "result": {"score": submission["anls"], "signature": signature},
        "scores_by_types": {
            name: {value: group["anls"] for value, group in submission["groups"].get(field, {}).items()}
            for field, (name, _) in ANSWER_TYPES.items()
        },
    }
    write_whole(path, json.dumps(results, indent=1) + "\n")


def _describe_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    content = {
        "score": row["score"],
        "question": _or_empty(row["question"]),
        "gt": row["references"],
        "det": _or_empty(row["prediction"]),
        "info": "" if row["score"] else row["outcome"],
    }
    if "runs" in row:
        content["runs"] = [{"det": _or_empty(run["prediction"]), "score": run["score"]} for run in row["runs"]]
    return content


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


def name_folder(submission: str) -> str:
    """Return the folder name for a submission, which cannot lead outside the output folder.

    Example:
        >>> name_folder("Qwen/Qwen2.5-VL"), name_folder("../../etc")
        ('Qwen/Qwen2.5-VL', 'etc')
    """
    parts = submission.replace("\\", "/").replace("\0", "").split("/")
    return os.path.join(*([part for part in parts if part not in ("", ".", "..")] or ["submission"]))


def check_names(path: str, submissions: Sequence[str]) -> None:
    """Check that each submission gets its own folder inside ``path``, even if the file system ignores case.

    Raises:
        InputError: two submissions would share a folder.
    """
    names: dict[str, str] = {}
    for name in submissions:
        other = names.setdefault(unicodedata.normalize("NFC", name_folder(name)).casefold(), name)
        if other != name:
            sentence = "the results of {first!r} and {second!r} would share a folder: rename one of them, or write one "
            sentence += "file of answers, with {use.output:answers.csv}"
            raise make_error(path, sentence, first=other, second=name)
