"""Defines the functions that lmms-eval calls for each question of a task in this folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from anls_metric.core.strings.scoring import anls_score
from anls_metric.core.strings.variants import signature

VARIANTS: Mapping[str, str] = {"anls": "lmms_eval", "anls_standard": "standard", "anls_rrc": "rrc"}
"""The variants of the metrics, keyed by the name of the metric."""


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """Return the image of the page, as a list for lmms-eval."""
    return [doc["image"].convert("RGB")]


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, str]) -> str:
    """Return the question, surrounded by the prompt texts of the model."""
    return f"{lmms_eval_specific_kwargs['pre_prompt']}{doc['question']}{lmms_eval_specific_kwargs['post_prompt']}"


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score an answer, which lmms-eval has stripped, under each variant. The first call reports the signatures.

    Args:
        doc: the record of the question, with the references as ``answers``.
        results: a list whose only item is the model's answer.

    Returns:
        A score from 0 to 1 for each name in `VARIANTS`.

    Example:
        >>> process_results({"answers": ["Coca Cola"]}, ["CocaCola"])["anls_rrc"]
        0.8888888888888888
    """
    report_signatures()
    return {name: anls_score(results[0], doc["answers"], variant=variant) for name, variant in VARIANTS.items()}


@cache
def report_signatures() -> None:
    """Print the signature of each metric on stderr, but only once."""
    for name, variant in VARIANTS.items():
        print(f"{name}: {signature(variant)}", file=sys.stderr)
