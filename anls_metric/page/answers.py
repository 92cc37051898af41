"""Scores answers that are typed or sent as strings, and explains one of them. Nothing here needs gradio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import find_scorers
from anls_metric.core.choices import describe_unknown
from anls_metric.core.explanation import Explanation, format_number
from anls_metric.core.rows import as_references, as_text
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import MEANINGS, OF_RULES, OF_VALUES, VARIANT_NAMES, VARIANTS, Scorer
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
        raise ValueError(describe_unknown("variant", variant, (*VARIANTS, *OF_VALUES, *OF_RULES), (), MEANINGS))
    return find_scorers(make_settings({"variant": variant, **options}))[0]


def get_shown_scorer(variant: str, threshold: float, ignore_case: bool) -> Scorer:
    """Get the scorer of the settings of the page. Settings that the variant does not have are ignored."""
    options = {"threshold": threshold, "ignore_case": ignore_case}
    known = get_scorer(variant).options
    return get_scorer(variant, **{name: value for name, value in options.items() if name in known})


def is_quick(variant: object, predictions: Any, references: Any) -> bool:
    """Whether answers are scored so fast that it needs no process."""
    count = len(predictions) if isinstance(predictions, list) else 1
    size = max(map(_count, (predictions, references)))
    return variant not in OF_VALUES and count <= limits.MAX_LISTED and size <= limits.MAX_CHARACTERS


def _count(value: Any) -> int:
    """Count the characters of a string, or of all strings in a list; an item counts as one more."""
    if isinstance(value, list):
        return sum(map(_count, value), len(value))
    return len(value) if isinstance(value, str) else 0


def explain(prediction: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score and explain one answer, for programs.

    Raises:
        ValueError: the answer cannot be scored, or is too long.
    """
    scorer = get_scorer(variant, **options)
    why = scorer.explain(*_read(scorer, prediction, references))
    return {"score": why.score, "signature": why.signature, **_describe(why)}


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
    """Score one answer under every variant. ValueError: it cannot be scored, or is too long."""
    text, texts = _read(VARIANTS["standard"], prediction, references)
    return {name: variant.score([text], [texts])[0] for name, variant in VARIANTS.items()}


def score(predictions: Any, references: Any, variant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score many answers. ValueError: they cannot be scored."""
    scorer = get_scorer(variant, **options)
    if not isinstance(predictions, list) or not isinstance(references, list):
        raise ValueError("predictions must be a list of strings, and references a list of lists of strings")
    if len(predictions) != len(references):
        raise ValueError(
            f"the lengths differ (predictions has {len(predictions):,}, references has {len(references):,}): "
            "send a list of accepted answers for each prediction"
        )
    rows = [_read(scorer, *pair, f" of row {row}", None) for row, pair in enumerate(zip(predictions, references))]
    scores = scorer.score([row[0] for row in rows], [row[1] for row in rows])
    return {"anls": scorer.mean(scores), "scores": list(map(float, scores)), "signature": scorer.signature()}


def _read(
    scorer: Scorer, prediction: Any, references: Any, row: str = "", most: int | None = limits.MAX_CHARACTERS
) -> tuple[Any, Any]:
    """Check an answer, and parse it if the scorer is for lists and nested values."""
    if scorer.columns:
        raise ValueError(f"{scorer.name} needs {', '.join(scorer.columns)}: score a file that has these fields")
    text, texts = as_text(prediction, f"prediction{row}"), list(as_references(references, f"references{row}"))
    for what, count in (("prediction", len(text)), ("references", _count(texts))):
        if most is not None and count > most:
            raise ValueError(f"{what}: {count:,} characters are more than {most:,}: score the answer in a file")
    return parse_typed_values(text, texts) if scorer.name in OF_VALUES else (text, texts)


# For the page


def show(prediction: str, answers: str, variant: str, threshold: float, ignore_case: bool) -> tuple[str, str]:
    """Show one answer as HTML: its score with the reason, and its score under the other variants.

    Raises:
        ValueError: the answer cannot be scored, or is too long.
    """
    scorer = get_shown_scorer(variant, threshold, ignore_case)
    is_value = scorer.name in OF_VALUES and not isinstance(parse_value_or_text(answers), str)
    references = [answers] if is_value else [line for line in answers.splitlines() if line.strip()]
    if not references:
        return html_parts.format_hint(_NOTHING), ""
    why = scorer.explain(*_read(scorer, prediction, references))
    score = format_number(why.score)
    if isinstance(why, Explanation):
        said = f"Score {score}. {why.sentence}"
        return add_speech(html_parts.format_answer(why), said), _show_variants(prediction, references, why)
    return add_speech(html_parts.format_value_answer(why, scorer.label), f"Score {score}. {why}."), ""


def add_speech(content: str, said: str) -> str:
    """Add a sentence to HTML, which page.js passes to screen readers when the content is shown."""
    return f'<div data-said="{html_parts.escape(said, 1000)}">{content}</div>'


def _show_variants(prediction: str, references: Sequence[str], why: Explanation) -> str:
    """Show the score under every variant: those that disagree, and behind a fold those that agree."""
    agree: list[list[str]] = []
    differ: list[list[str]] = []
    for variant in VARIANTS.values():
        (score,), (similarity,) = scores_and_similarities([prediction], [references], variant=variant)
        meaning = html_parts.escape(variant.meaning.replace("`", "'"))
        cells = [f"<b>{variant.name}</b><small>{meaning}</small>", format_number(similarity), format_number(score)]
        (agree if score == why.score else differ).append(cells)
    header, given = ["variant", "similarity", "score"], format_number(why.score)
    count = f"{len(differ)} of {len(VARIANTS)} disagree with {given}" if differ else f"All {len(VARIANTS)} agree"
    tables = html_parts.format_table(header, differ) if differ else ""
    if agree:
        table = html_parts.format_table(header, agree)
        tables += f"<details><summary>{len(agree)} with {given}</summary>{table}</details>"
    return (
        '<section class="anls"><h3>The same answer under every variant</h3>'
        f'<p class="said">{count}. Each has its own threshold and case.</p>{tables}</section>'
    )
