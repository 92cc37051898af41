"""What lmms-eval calls for each document of docvqa_val_anls.yaml.

It needs ``pip install anls-metric`` beside lmms-eval.
"""

from __future__ import annotations

from typing import Any

from anls_metric import anls_score

# The names of metric_list, and the variants that they are.
VARIANTS = {"anls": "lmms_eval", "anls_standard": "standard"}


def doc_to_visual(doc: dict[str, Any]) -> list[Any]:
    """The page."""
    return [doc["image"].convert("RGB")]


def doc_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, str]) -> str:
    """The question, with what the model's prompt has before and after it."""
    return f"{lmms_eval_specific_kwargs['pre_prompt']}{doc['question']}{lmms_eval_specific_kwargs['post_prompt']}"


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The score of the answer, which lmms-eval has stripped of outer blanks, against all accepted ones."""
    return {name: anls_score(results[0], doc["answers"], variant=variant) for name, variant in VARIANTS.items()}
