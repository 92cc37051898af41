"""A task for lighteval with synthetic questions, scored with ANLS against all accepted answers.

    lighteval accelerate "model_name=..." "anls_example|0" --custom-tasks examples/harnesses/lighteval_task.py

Needs ``pip install anls-metric lighteval``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

from anls_metric import anls_score, signature

VARIANT = "rrc"


class AnlsOfSample(SampleLevelComputation):  # type: ignore[misc]
    """The score of the first answer of a model. lighteval prints the metric as its signature."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        """Score one document."""
        return anls_score(model_response.final_text[0], doc.get_golds(), variant=VARIANT)

    def __str__(self) -> str:
        return signature(VARIANT)


anls_metric = SampleLevelMetric(
    metric_name="anls",
    sample_level_fn=AnlsOfSample(),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn=np.mean,
    higher_is_better=True,
)


def prompt(line: dict[str, Any], task_name: str) -> Doc:
    """Make a question from a record. All of its answers are accepted."""
    choices = line["answers"]
    return Doc(
        task_name=task_name, query=f"{line['question']} Answer:", choices=choices, gold_index=list(range(len(choices)))
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name="anls_example",
        prompt_function=prompt,
        hf_repo=str(Path(__file__).parent / "questions"),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[anls_metric],
        generation_size=32,
        stop_sequence=["\n"],
    )
]
