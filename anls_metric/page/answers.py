"""Scores answers that are typed or sent as strings, and explains one of them. Nothing here needs gradio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import find_scorers
from anls_metric.core.choices import describe_unknown
from anls_metric.core.explanation import Explanation, format_number
from anls_metric.core.rows import as_references, as_text, check_columns
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANT_NAMES, VARIANTS, Scorer
from anls_metric.options import make_settings
from anls_metric.page import limits
from anls_metric.reading.values import format_value, parse_typed_values, parse_value_or_text
from anls_metric.report import html_parts

if TYPE_CHECKING:
    from anls_metric.nested import StarExplanation

_NOTHING = "Write an accepted answer to see the score."


def get_scorer(variant: object, **options: object) -> Scorer:
    """Get the scorer of one variant. An option that is None keeps the value of the variant.

    Raises:
        ValueError: there is no such variant, or it does not have the option.

    Example:
        >>> get_scorer("rrc", threshold=0.8).signature().split("|")[1:3]
        ['rrc', 'threshold:0.8']
    """
    if variant not in (*VARIANT_NAMES, *OF_VALUES, *OF_RULES):  # one name, no list of names
        raise ValueError(describe_unknown("variant", variant, (*VARIANTS, *OF_VALUES, *OF_RULES)))
    return find_scorers(make_settings({"variant": variant, **options}))[0]


def fit_options(variant: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out threshold and case if the variant does not have them: the page shows them for all variants."""
    known = get_scorer(variant).options
    return {
        name: value for name, value in settings.items() if name in known or name not in ("threshold", "ignore_case")
    }


def is_quick(prediction: object, references: object, others: Sequence[object]) -> bool:
    """Whether one or more answers are scored so fast that it needs no process. The others are further arguments."""
    count = len(prediction) if isinstance(prediction, list) else 1
    size = len(str((prediction, references)))
    of_values = any(name in others for name in OF_VALUES)
    return not of_values and count <= limits.MAX_LISTED and size <= limits.MAX_CHARACTERS


def explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score and explain one answer, for programs. ValueError: it cannot be scored."""
    why = _explain(prediction, references, variant, options)
    return {"score": why.score, "signature": why.signature, **_describe(why)}


def _explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> Any:
    scorer = _get_scorer_of_answers(variant, options)
    text, texts = as_text(prediction, "prediction"), as_references(references, "references")
    return scorer.explain(*(parse_typed_values(text, texts) if scorer.name in OF_VALUES else (text, texts)))


def _get_scorer_of_answers(variant: Any, options: dict[str, Any]) -> Scorer:
    """Get a scorer that needs only predictions and references."""
    scorer = get_scorer(variant, **options)
    if scorer.columns:
        raise ValueError(f"{scorer.name} needs {', '.join(scorer.columns)}: score a file that has these fields")
    return scorer


def _describe(why: Explanation | StarExplanation) -> dict[str, Any]:
    """Describe an explanation: accepted answers and edits, or the leaves of a list or object."""
    if isinstance(why, Explanation):
        names = ("reference", "distance", "length", "similarity")
        return {
            "reason": why.reason,
            "sentence": why.sentence,
            "closest": why.closest,
            "references": [{name: getattr(match, name) for name in names} for match in why.matches],
            "edits": [edit._asdict() for edit in why.edits],
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
    return {"sentence": f"{why}.", "closest": format_value(why.closest), "leaves": leaves}


def compare(prediction: Any, references: Any) -> dict[str, float]:
    """Score one answer under every variant. ValueError: it cannot be scored."""
    return {name: variant.score([prediction], [references])[0] for name, variant in VARIANTS.items()}


def score(predictions: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score many answers. ValueError: they cannot be scored."""
    scorer = _get_scorer_of_answers(variant, options)
    columns: Any = check_columns(predictions, references)
    if scorer.name in OF_VALUES:
        columns = zip(*map(parse_typed_values, *columns))
    scores = scorer.score(*columns)
    return {"anls": scorer.mean(scores), "scores": list(map(float, scores)), "signature": scorer.signature()}


# For the page


def show(prediction: str, answers: str, variant: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Show one answer as HTML: its score with the reason, and its score under the other variants.

    Raises:
        ValueError: the answer cannot be scored.
    """
    is_value = variant in OF_VALUES and not isinstance(parse_value_or_text(answers), str)
    references = [answers] if is_value else [line for line in answers.splitlines() if line.strip()]
    if not references:
        return html_parts.format_hint(_NOTHING), ""
    why = _explain(prediction, references, variant, fit_options(variant, settings))
    score = format_number(why.score)
    if isinstance(why, Explanation):
        said = f"Score {score}. {why.sentence}"
        return add_speech(html_parts.format_answer(why), said), _show_variants(prediction, references, why.score)
    return add_speech(html_parts.format_value_answer(why, why.variant.label), f"Score {score}. {why}."), ""


def add_speech(content: str, said: str) -> str:
    """Add a sentence to HTML, which page.js passes to screen readers when the content is shown."""
    return f'<div data-said="{html_parts.escape(said, 1000)}">{content}</div>'


def _show_variants(prediction: str, references: Sequence[str], given: float) -> str:
    """Show the score under every variant: those that disagree, and behind a fold those that agree."""
    rows: dict[bool, list[list[str]]] = {False: [], True: []}
    for variant in VARIANTS.values():
        (score,), (similarity,) = scores_and_similarities([prediction], [references], variant=variant)
        name = f"<b>{variant.name}</b><small>{html_parts.escape(variant.meaning)}</small>"
        rows[score == given].append([name, format_number(similarity), format_number(score)])
    differ, agree = (html_parts.format_table(["variant", "similarity", "score"], each) for each in rows.values())
    return (
        '<section class="anls"><h3>The same answer under every variant</h3>'
        f'<p class="said">{len(rows[False])} of {len(VARIANTS)} disagree with {format_number(given)}. '
        f"Each has its own threshold and case.</p>{differ if rows[False] else ''}"
        f"<details><summary>{len(rows[True])} with {format_number(given)}</summary>{agree}</details></section>"
    )
