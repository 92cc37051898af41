"""What programs may ask of the page: each public function is an endpoint, and a tool of the same name for agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import find_scorers
from anls_metric.core.kernel import mean
from anls_metric.core.rows import as_references, as_text, describe
from anls_metric.core.scoring import anls_score, anls_scores, explain
from anls_metric.core.variants import OF_VALUES, VARIANTS, Variant, get_variant
from anls_metric.page import limits
from anls_metric.page.scoring import Asked, Found, score
from anls_metric.page.uploads import Upload
from anls_metric.reading.extract import extractor
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.reading.sources import Reading
from anls_metric.reading.values import typed_values, written
from anls_metric.report import html_parts

if TYPE_CHECKING:
    from anls_metric.nested import StarExplanation, ValueVariant

# Settings


def settings(
    variant: object, threshold: object = None, ignore_case: object = None, none_keys: object = "", average: object = ""
) -> Variant | ValueVariant:
    """The variant that was asked for, of texts or of lists and nested values; what is empty is as the variant has it.

    Raises:
        ValueError: there is no such variant, or it has no such option, see `evaluation.find_scorers`.
    """
    of_values = isinstance(variant, str) and variant in OF_VALUES
    name = variant if of_values else get_variant(variant).name  # type: ignore[arg-type]
    if of_values and ignore_case is True:  # as it is there in any case
        ignore_case = None
    (scorer,) = find_scorers(name, threshold, ignore_case, none_keys or None, average or None)  # type: ignore[arg-type]
    return scorer  # type: ignore[return-value]


def settings_of_link(parameters: Mapping[str, str]) -> Variant | ValueVariant:
    """The settings that stand in the address of the page.

    Example:
        >>> settings_of_link({"variant": "rrc", "threshold": "0.8", "case": "counts"}).threshold
        0.8

    Raises:
        ValueError: a setting that does not exist.
    """
    threshold = parameters.get("threshold")
    try:
        number = None if threshold is None else float(threshold)
    except ValueError:
        raise ValueError(f"threshold is {threshold!r} in the link: it must be a number from 0 to 1") from None
    return settings(parameters.get("variant", "standard"), number, _ignore_case(parameters.get("case", "")))


def _ignore_case(case: object) -> bool | None:
    cases = {"": None, "ignored": True, "counts": False}
    if not isinstance(case, str) or case not in cases:
        raise ValueError(f"case is {case!r}: it must be ignored or counts")
    return cases[case]


def reading(
    values: bool,
    unanswered_score_0: object,
    extract: object = "",
    prediction_field: object = "",
    references_field: object = "",
    id_field: object = "",
) -> Reading:
    """How files are to be read, `values` of lists and nested values; what is empty is found.

    Raises:
        ValueError: something that is no text, or a rule that does not exist.
    """
    texts = {"extract": extract, "prediction_field": prediction_field}
    texts |= {"references_field": references_field, "id_field": id_field}
    given: dict[str, Any] = {name: as_text(value, name) for name, value in texts.items()}
    rules = given.pop("extract")
    return Reading(
        missing="zero" if unanswered_score_0 else "error",
        extract=extractor(rules, values) if rules else None,
        values=values,
    )._replace(**{name: field for name, field in given.items() if field})


# Answers


def explain_answer(
    prediction: str,
    accepted_answers: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score one answer with ANLS (Average Normalized Levenshtein Similarity) and say why the score is what it is.

    Args:
        prediction: the answer to score; under anls_star and anlsl a list or object as JSON.
        accepted_answers: the accepted answers, one or more; the closest one counts.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        ignore_case: whether case is ignored; none does as the variant does.

    Returns:
        score, reason, sentence and signature; for each accepted answer its distance, length and similarity; edits, none
        where the texts are long. Of a list or object score, sentence, signature, closest accepted value, and leaves.
    """
    chosen = settings(variant, threshold, ignore_case)
    prediction, accepted_answers, work = _texts(prediction, accepted_answers)
    if len(accepted_answers) > limits.MOST_REFERENCES:
        raise ValueError(f"accepted_answers has more than {limits.MOST_REFERENCES:,} texts: {limits.WITH_COMMAND}")
    if not isinstance(chosen, Variant):
        limits.refuse_too_many_pairs(prediction, accepted_answers, "prediction")
        return _explained(chosen.explain(*typed_values(prediction, accepted_answers)))
    with limits.turnstile.passed(work > limits.SMALL_WORK):
        why = explain(prediction, accepted_answers, variant=chosen)
        edits = html_parts.find_edits(why.best)
    return {
        "score": why.score,
        "reason": why.reason,
        "sentence": why.sentence,
        "signature": why.signature,
        "closest": why.best.reference,
        "accepted_answers": [
            {
                "text": match.reference,
                "distance": match.distance,
                "length": match.length,
                "similarity": match.similarity,
            }
            for match in why.matches
        ],
        "edits": None if edits is None else [edit._asdict() for edit in edits],
    }


def _explained(why: StarExplanation) -> dict[str, Any]:
    return {
        "score": why.score,
        "sentence": f"{why}.",
        "signature": why.signature,
        "closest": written(why.closest),
        "leaves": [
            {
                "where": leaf.path,
                "prediction": None if leaf.prediction is None else written(leaf.prediction),
                "reference": None if leaf.reference is None else written(leaf.reference),
                "score": leaf.score,
                "sentence": leaf.sentence,
            }
            for leaf in why.leaves
        ],
    }


def compare_variants(prediction: str, accepted_answers: list[str]) -> dict[str, float]:
    """Score one answer under every published variant of ANLS, each with its own threshold and case.

    Args:
        prediction: the answer to score.
        accepted_answers: the accepted answers, one or more.

    Returns:
        The score by the name of the variant.
    """
    prediction, accepted_answers, work = _texts(prediction, accepted_answers)
    with limits.turnstile.passed(work * len(VARIANTS) > limits.SMALL_WORK):
        return {name: anls_score(prediction, accepted_answers, variant=name) for name in VARIANTS}


def _texts(prediction: object, accepted_answers: object, where: str = "") -> tuple[str, list[str], int]:
    """One answer and its references, checked, and what it costs to compare them."""
    text = as_text(prediction, f"prediction{where}")
    texts = list(as_references(accepted_answers, f"accepted_answers{where}"))
    return text, texts, limits.refuse_too_long(text, texts, f"prediction{where}")


def score_answers(
    predictions: list[str],
    accepted_answers: list[list[str]],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score many answers with ANLS: the mean, the score of each, and the signature to report with the number.

    Args:
        predictions: the answers to score; under anls_star and anlsl lists and objects as JSON.
        accepted_answers: for each of them its accepted answers.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        ignore_case: whether case is ignored; none does as the variant does.

    Returns:
        anls, scores and signature.
    """
    chosen = settings(variant, threshold, ignore_case)
    work = 0
    if isinstance(predictions, list) and isinstance(accepted_answers, list):
        work = sum(_texts(*texts, f" of row {row}")[-1] for row, texts in enumerate(zip(predictions, accepted_answers)))
        if work > limits.MOST_COMPARED_AT_ONCE:
            raise ValueError("predictions: they are too long, or too many, to compare here: score them as a file")
    if not isinstance(chosen, Variant):
        return _scored(predictions, accepted_answers, chosen)
    with limits.turnstile.passed(work > limits.SMALL_WORK):
        scores = anls_scores(predictions, accepted_answers, variant=chosen)
    return {"anls": mean(scores), "scores": scores, "signature": chosen.signature()}


def _scored(predictions: list[str], accepted_answers: list[list[str]], variant: ValueVariant) -> dict[str, Any]:
    """The scores of lists and nested values."""
    if not isinstance(predictions, list) or not isinstance(accepted_answers, list):
        raise ValueError("predictions and accepted_answers must be lists of texts, and of lists of texts")
    pairs = 0
    for row, (prediction, references) in enumerate(zip(predictions, accepted_answers)):
        pairs += limits.refuse_too_many_pairs(prediction, references, f"prediction of row {row}")
    if pairs > limits.MOST_PAIRS:
        raise ValueError("predictions: they are too many values to match here: score them as a file")
    values = [typed_values(*row) for row in zip(predictions, accepted_answers)]
    if len(predictions) != len(accepted_answers):
        raise ValueError(f"{len(predictions)} predictions and {len(accepted_answers)} lists of accepted answers")
    rows = variant.score([prediction for prediction, _ in values], [reference for _, reference in values])
    return {"anls": variant.mean(rows), "scores": [row.score for row in rows], "signature": variant.signature()}


def list_variants() -> list[dict[str, str]]:
    """List the published variants of ANLS: the name and the meaning of each; the last ones score lists and objects.

    Returns:
        name, meaning, signature and source of each variant.
    """
    found = list(map(settings, [*VARIANTS, *OF_VALUES]))
    signatures = [one.signature() for one in found]
    return [
        {"name": variant.name, "meaning": variant.meaning, "signature": signature, "source": variant.source}
        for variant, signature in zip(found, signatures)
    ]


# Files


def score_files(
    gold: Upload,
    submissions: list[Upload],
    variant: str = "standard",
    threshold: float | None = None,
    case: str = "",
    unanswered_score_0: bool = False,
    extract: str = "",
    baseline: str = "",
    worst: int = 0,
    none_keys: str = "",
    average: str = "",
) -> dict[str, Any]:
    """Score submissions against a gold file with ANLS, joined by the ids of the questions, and compare them.

    A file is uploaded first, to /gradio_api/upload, and named by the path or address that this gives.

    Args:
        gold: a file with the id and the accepted answers of each question, in a layout that list_layouts knows.
        submissions: one file or more with the id and the answer of each question.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        case: ignored or counts; empty does as the variant does.
        unanswered_score_0: whether a question without an answer scores 0, instead of being an error.
        extract: rules that take answers out of what a model wrote, with commas between, like think,final.
        baseline: the name of the submission that the others are compared with; empty takes the first.
        worst: how many of the worst answers of each submission to tell.
        none_keys: of anls_star: counted or ignored, of predicted keys without a value; empty counts them.
        average: of anls_star: rows or leaves; empty takes the mean of rows.

    Returns:
        signature, questions, clusters, hints; of each submission name, layout, questions, anls, interval (95 %),
        exact_match, contains, outcomes, groups; and comparisons with difference, interval, p_value and verdict.
    """
    chosen = settings(variant, threshold, _ignore_case(case), none_keys, average)
    how = reading(variant in OF_VALUES, unanswered_score_0, extract)
    return _document(Asked(submissions, gold, chosen, how), baseline, worst)


def score_logs(
    files: list[Upload],
    prediction_field: str = "",
    references_field: str = "",
    id_field: str = "",
    variant: str = "standard",
    threshold: float | None = None,
    case: str = "",
    unanswered_score_0: bool = False,
    extract: str = "",
    baseline: str = "",
    worst: int = 0,
    none_keys: str = "",
    average: str = "",
) -> dict[str, Any]:
    """Score files that hold both predictions and accepted answers with ANLS: logs of evaluation harnesses, tables.

    A file is uploaded first, to /gradio_api/upload, and named by the path or address that this gives.

    Args:
        files: one file or more, each in a layout that list_layouts knows, or a table.
        prediction_field: where a record has the prediction, like output.text; empty finds it.
        references_field: where a record has the accepted answers; empty finds it.
        id_field: where a record has its id; empty finds it, none numbers the records.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        case: ignored or counts; empty does as the variant does.
        unanswered_score_0: whether a question without an answer scores 0, instead of being an error.
        extract: rules that take answers out of what a model wrote, with commas between, like think,final.
        baseline: the name of the file that the others are compared with; empty takes the first.
        worst: how many of the worst answers of each file to tell.
        none_keys: of anls_star: counted or ignored, of predicted keys without a value; empty counts them.
        average: of anls_star: rows or leaves; empty takes the mean of rows.

    Returns:
        The same as score_files.
    """
    chosen = settings(variant, threshold, _ignore_case(case), none_keys, average)
    how = reading(variant in OF_VALUES, unanswered_score_0, extract, prediction_field, references_field, id_field)
    return _document(Asked(files, None, chosen, how), baseline, worst)


def list_layouts() -> list[dict[str, str]]:
    """List the layouts of files that are recognised: those of competitions, programs and evaluation harnesses.

    Returns:
        name, source and fields of each layout.
    """
    return [{"name": one.name, "source": one.source, "fields": ", ".join(one.fields)} for one in LAYOUTS]


def _document(asked: Asked, baseline: object, worst: object) -> dict[str, Any]:
    if not isinstance(worst, int) or not 0 <= worst <= limits.MOST_WORST:
        raise ValueError(f"worst is {describe(worst)}: it must be a whole number up to {limits.MOST_WORST}")
    if not isinstance(baseline, str):
        raise ValueError(f"baseline is {describe(baseline)}: it must be the name of a submission")
    steps = score(asked._replace(baseline=baseline or None, worst=worst), "endpoint")
    (found,) = [step for step in steps if isinstance(step, Found)]
    return found.document
