"""A task for inspect_ai with synthetic questions, scored with ANLS against all accepted answers.

    inspect eval examples/harnesses/inspect_task.py --model ...

Needs ``pip install anls-metric inspect_ai``.
"""

from __future__ import annotations

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from anls_metric import explain

QUESTIONS = Path(__file__).parent / "questions" / "test.jsonl"


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def anls(variant: str = "rrc") -> Scorer:
    """Score the completion, and explain the score."""

    async def score(state: TaskState, target: Target) -> Score:
        why = explain(state.output.completion, list(target), variant=variant)
        return Score(
            value=why.score,
            answer=state.output.completion,
            explanation=str(why),
            metadata={"signature": why.signature},
        )

    return score


@task  # type: ignore[untyped-decorator]
def receipts() -> Task:
    """The task with the questions."""
    lines = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    samples = [Sample(input=line["question"], target=line["answers"]) for line in lines]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=anls())
