"""Scores and explains answers that are typed or sent as strings, without needing gradio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.alignment import align
from anls_metric.analysis.question_data import describe_drawing
from anls_metric.core import scorer
from anls_metric.core.json_strings import format_value
from anls_metric.core.scorer import SCORERS, Scorer
from anls_metric.core.strings.explanation import Explanation
from anls_metric.core.strings.rows import as_references, as_text, check_columns
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.options import make_settings
from anls_metric.page import limits

if TYPE_CHECKING:
    from anls_metric.core.values import StarExplanation


def get_scorer(variant: Any, **options: Any) -> Scorer:
    """Return a scorer with the options that a user typed, using the default of the scorer for an option that is None.

    Raises:
        ValueError: the variant does not exist or lacks one of the options, or a value is invalid.

    Example:
        >>> get_scorer("rrc", threshold="0.8").signature().split("|")[1:3]
        ['rrc', 'threshold:0.8']
    """
    read = make_settings(options)
    return scorer.get_scorer(variant, **{name: getattr(read, name) for name in options})


def is_quick(prediction: object, references: object, others: Sequence[object]) -> bool:
    """Whether one or more answers can be scored so quickly that no separate process is needed, given any further
    arguments of the call.
    """
    count = len(prediction) if isinstance(prediction, list) else 1
    text = str((prediction, references))
    is_nested = any(known.reads_json and name in others for name, known in SCORERS.items())
    items = sum(map(text.count, "[{,")) if is_nested else 0
    return items <= limits.MAX_ITEMS and count <= limits.MAX_LISTED and len(text) <= limits.MAX_CHARACTERS


def explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score and explain one answer for programs. Raises ValueError if the answer cannot be scored."""
    return _describe(_explain(prediction, references, variant, options)[0])


def _explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> tuple[Any, tuple[Any, Any]]:
    """Explain one answer, and return the explanation together with the prediction and the references that were
    compared.
    """
    scorer = get_scorer(variant, **options)
    values: Any = as_text(prediction, "prediction"), as_references(references, "references")
    values = scorer.read_typed(*values)
    return scorer.explain(*values), values


def _describe(why: Explanation | StarExplanation) -> dict[str, Any]:
    """Convert an explanation to a dict with the references and the edits or, for a list or object, with the leaves."""
    content = {"score": why.score, "signature": why.signature, "sentence": why.sentence}
    if isinstance(why, Explanation):
        names = ("reference", "distance", "length", "similarity")
        return content | {
            "reason": why.reason,
            "closest": why.closest,
            "references": [{name: getattr(match, name) for name in names} for match in why.matches[: limits.MAX_EDITS]],
            "edits": [edit._asdict() for edit in why.edits[: limits.MAX_EDITS]],
        }
    leaves = [
        {
            "where": leaf.path,
            "prediction": None if leaf.prediction is None else format_value(leaf.prediction),
            "reference": None if leaf.reference is None else format_value(leaf.reference),
            "score": leaf.score,
            "sentence": leaf.sentence,
        }
        for leaf in why.leaves
    ]
    return content | {"closest": format_value(why.closest), "leaves": leaves}


def compare(prediction: Any, references: Any) -> dict[str, float]:
    """Return the scores of one answer, keyed by variant. Raises ValueError if the answer cannot be scored."""
    return {name: variant.score([prediction], [references])[0] for name, variant in VARIANTS.items()}


def score(predictions: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score many answers, and return the mean, the scores and the signature. Raises ValueError if an answer cannot be
    scored.
    """
    scorer = get_scorer(variant, **options)
    rows = list(map(scorer.read_typed, *check_columns(predictions, references)))
    scores = scorer.score([own for own, _ in rows], [accepted for _, accepted in rows])
    return {"anls": scorer.mean(scores), "scores": list(map(float, scores)), "signature": scorer.signature()}


# For the page


def show(prediction: str, answers: str, variant: str, options: dict[str, Any]) -> dict[str, Any]:
    """Describe one answer for answer.js to draw, including the scores of all variants for a string, or return {} if
    there is no reference.

    Raises:
        ValueError: the answer cannot be scored.
    """
    references = get_scorer(variant).split_typed(answers)
    if not references:
        return {}
    why, values = _explain(prediction, references, variant, options)
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    call = f"get_scorer({variant!r}{given}).explain({values[0]!r}, {values[1]!r})"
    content = {
        **_describe(why),
        "prediction": prediction,
        "drawn": describe_drawing(why),
        "python": f"from anls_metric import get_scorer\n\nprint({call})",
    }
    if isinstance(why, Explanation):
        formula = f": 1 − {why.best.distance:,}/{why.best.length:,} = "
        content |= {
            "sentence": why.sentence.replace(": similarity ", formula),
            "drawn": {"edits": align(why)},
            "similarity": why.best.similarity,
            "minimum": why.variant.minimum_similarity,
            "variants": compare(prediction, references),
        }
    return content
