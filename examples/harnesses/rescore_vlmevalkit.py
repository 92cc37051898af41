"""Score VLMEvalKit result files again, instead of with its `anls_compute`.

    python examples/harnesses/rescore_vlmevalkit.py outputs/MODEL/MODEL_DocVQA_VAL.xlsx --variant rrc

For each file (.xlsx, .tsv or .json) it writes two files beside it, with scores times 100: MODEL_DocVQA_VAL_anls.csv has
the ANLS of all questions and of each split, MODEL_DocVQA_VAL_anls_answers.csv has every answer with its score. Needs
``pip install "anls-metric[files]"``, but neither VLMEvalKit nor a model.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from anls_metric import Scores, score


def rescore(path: str, variant: str = "rrc", extract: str | None = None) -> Scores:
    """Score one result file, and write the two files beside it."""
    result = score(path, layout="vlmevalkit", variant=variant, extract=extract, by="split")
    groups = result.to_dict()["submissions"][0]["groups"].get("split", {})
    scores = {"Overall": result.anls, **{split: group["anls"] for split, group in groups.items()}}
    answers = [
        {**{key: answer[key] for key in ("id", "prediction")}, "anls": 100 * answer["score"]}
        for answer in result.answers()
    ]
    stem = Path(path).with_suffix("").as_posix()
    for name, rows in {
        f"{stem}_anls.csv": [
            {**{split: 100 * value for split, value in scores.items()}, "signature": result.signature}
        ],
        f"{stem}_anls_answers.csv": answers,
    }.items():
        with open(name, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return result


def main() -> None:
    """Score the files on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--variant", default="rrc")
    parser.add_argument("--extract", help="rules that extract the answer from the prediction, such as think,final")
    flags = parser.parse_args()
    for path in flags.files:
        print(f"{path}\n{rescore(path, flags.variant, flags.extract)}\n")


if __name__ == "__main__":
    main()
