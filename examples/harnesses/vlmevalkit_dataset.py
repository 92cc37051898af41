"""The validation split of DocVQA as a dataset for VLMEvalKit, scored with ANLS.

Put this file into `vlmeval/dataset/`, import `DocVQAByANLS` in the `__init__.py` there, and add it to `IMAGE_DATASET`:

    python run.py --data DocVQA_VAL_ANLS --model ...

Needs ``pip install "anls-metric[files]"`` beside VLMEvalKit. The method `evaluate` was run on the class of VLMEvalKit
in ms-vlmeval 0.0.20, and the tests use a stand-in for it. `run.py` was not run with a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from vlmeval.dataset.image_vqa import ImageVQADataset

from anls_metric import score

VARIANT = "rrc"


class DocVQAByANLS(ImageVQADataset):  # type: ignore[misc]
    """The dataset DocVQA_VAL, with the same questions and prompt."""

    DATASET_URL: ClassVar = {"DocVQA_VAL_ANLS": ImageVQADataset.DATASET_URL["DocVQA_VAL"]}
    DATASET_MD5: ClassVar = {"DocVQA_VAL_ANLS": ImageVQADataset.DATASET_MD5["DocVQA_VAL"]}

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> pd.DataFrame:
        """Score a file of predictions. Returns and writes the ANLS of all questions and of each split, times 100."""
        result = score(eval_file, layout="vlmevalkit", variant=VARIANT, by="split")
        print(result)  # with interval, lost points and signature
        groups = result.to_dict()["submissions"][0]["groups"].get("split", {})
        scores = {"Overall": result.anls, **{split: group["anls"] for split, group in groups.items()}}
        table = pd.DataFrame([{name: 100 * value for name, value in scores.items()}])
        table.to_csv(Path(eval_file).with_suffix("").as_posix() + "_acc.csv", index=False)
        return table
