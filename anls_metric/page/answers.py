"""Scores answers that are typed or sent as strings, and explains one of them. Nothing here needs gradio."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.question_data import describe_drawing
from anls_metric.core import scorer
from anls_metric.core.json_strings import format_value, parse_typed_values, parse_value_or_text
from anls_metric.core.scorer import SCORERS, Scorer
from anls_metric.core.strings.explanation import Explanation
from anls_metric.core.strings.rows import as_references, as_text, check_columns
from anls_metric.core.strings.variants import VARIANTS, Variant
from anls_metric.options import make_settings
from anls_metric.page import limits
from anls_metric.report.numbers import PERCENT
from anls_metric.report.texts import escape

if TYPE_CHECKING:
    from anls_metric.core.values import StarExplanation

_NOTHING = "Enter a reference to see the score."


def get_scorer(variant: Any, **options: Any) -> Scorer:
    """Get a scorer, given options as a user types them. If an option is None, the scorer keeps its own value.

    Raises:
        ValueError: there is no such variant, or it does not have an option.

    Example:
        >>> get_scorer("rrc", threshold="0.8").signature().split("|")[1:3]
        ['rrc', 'threshold:0.8']
    """
    read = make_settings(options)
    return scorer.get_scorer(variant, **{name: getattr(read, name) for name in options})


def fit_options(variant: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the threshold and the case if the variant lacks these options, because the page shows them for all
    variants.
    """
    known = get_scorer(variant).options
    return {
        name: value for name, value in settings.items() if name in known or name not in ("threshold", "ignore_case")
    }


def describe(scorer: Scorer) -> str:
    """Describe a scorer on the page."""
    return scorer.meaning.replace("`", "")


def read_percent(percent: float) -> float:
    """Read a threshold from the page, which shows scores, similarities and thresholds in percent."""
    return round(percent / 100, 6)


def is_quick(prediction: object, references: object, others: Sequence[object]) -> bool:
    """Whether one or more answers can be scored so fast that no separate process is needed. The others are further
    arguments.
    """
    count = len(prediction) if isinstance(prediction, list) else 1
    text = str((prediction, references))
    is_nested = any(known.reads_json and name in others for name, known in SCORERS.items())
    items = sum(map(text.count, "[{,")) if is_nested else 0
    return items <= limits.MAX_ITEMS and count <= limits.MAX_LISTED and len(text) <= limits.MAX_CHARACTERS


def explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score and explain one answer, for programs. Raises ValueError if it cannot be scored."""
    return _describe(_explain(prediction, references, variant, options))


def _explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> Any:
    scorer = _get_scorer_of_answers(variant, options)
    text, texts = as_text(prediction, "prediction"), as_references(references, "references")
    return scorer.explain(*(parse_typed_values(text, texts) if scorer.reads_json else (text, texts)))


def _get_scorer_of_answers(variant: Any, options: dict[str, Any]) -> Scorer:
    """Get a scorer that needs only predictions and references."""
    scorer = get_scorer(variant, **options)
    if scorer.columns:
        raise ValueError(f"{scorer.name} needs {', '.join(scorer.columns)}: score a file that has these fields")
    return scorer


def _describe(why: Explanation | StarExplanation) -> dict[str, Any]:
    """Describe an explanation: references and edits, or the leaves of a list or object."""
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
    """Score one answer under every variant. Raises ValueError if it cannot be scored."""
    return {name: variant.score([prediction], [references])[0] for name, variant in VARIANTS.items()}


def score(predictions: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score many answers. Raises ValueError if they cannot be scored."""
    scorer = _get_scorer_of_answers(variant, options)
    columns: Any = check_columns(predictions, references)
    if scorer.reads_json:
        columns = zip(*map(parse_typed_values, *columns))
    scores = scorer.score(*columns)
    return {"anls": scorer.mean(scores), "scores": list(map(float, scores)), "signature": scorer.signature()}


# For the page


def show(prediction: str, answers: str, variant: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Show one answer, with the reason for its score, and its scores under the other variants. answer.js draws both.

    Returns:
        HTML with what to draw as JSON.

    Raises:
        ValueError: the answer cannot be scored.
    """
    is_value = get_scorer(variant).reads_json and not isinstance(parse_value_or_text(answers), str)
    references = [answers] if is_value else [line for line in answers.splitlines() if line.strip()]
    if not references:
        return format_note(_NOTHING), ""
    why = _explain(prediction, references, variant, fit_options(variant, settings))
    content = {"prediction": prediction, "label": why.variant.label, "drawn": describe_drawing(why), **_describe(why)}
    said, variants = f"Score {PERCENT.format(why.score)}. {why.sentence}", ""
    if isinstance(why, Explanation):
        content["minimum"] = why.variant.minimum_similarity
        rows = [_score_under(variant, prediction, references) for variant in VARIANTS.values()]
        variants = _format_data("variants", {"score": why.score, "variants": rows})
    return add_speech(_format_data("answer", content), said), variants


def _score_under(variant: Variant, prediction: str, references: Sequence[str]) -> dict[str, Any]:
    """Score one answer under a variant, with its own threshold and case."""
    why = variant.explain(prediction, references)
    return {"name": variant.name, "meaning": describe(variant), "score": why.score, "similarity": why.best.similarity}


# HTML


def _format_data(name: str, content: Mapping[str, Any]) -> str:
    """Format an element in which answer.js draws the content."""
    return f'<div data-{name}="{escape(json.dumps(content), sys.maxsize)}"></div>'


def format_note(message: str, attributes: str = 'class="said"') -> str:
    """Format a message about what to do next."""
    return f'<section class="anls"><p {attributes}>{escape(message, 600)}</p></section>'


def format_error(message: str) -> str:
    """Format a message about what went wrong."""
    return format_note(message, 'class="message" role="alert"')


def add_speech(content: str, said: str) -> str:
    """Add a sentence to HTML. page.js passes it to screen readers when the content is shown."""
    return f'<div data-said="{escape(said, 1000)}">{content}</div>'
