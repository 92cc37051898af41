"""The endpoints of the page: each public function is an endpoint for programs, and a tool for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anls_metric.core.choices import check_count
from anls_metric.core.explanation import Explanation
from anls_metric.core.rows import describe
from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANTS
from anls_metric.page import limits
from anls_metric.page.inputs import get_scorer, make_reading, read_answer, read_case
from anls_metric.page.upload_scoring import Result, Task, score
from anls_metric.page.uploads import Upload
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.reading.values import format_value
from anls_metric.report import html_parts

if TYPE_CHECKING:
    from anls_metric.nested import StarExplanation

# Answers


def explain_answer(
    prediction: str,
    accepted_answers: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score one answer with ANLS (Average Normalized Levenshtein Similarity) and explain the score.

    Args:
        prediction: the answer to score; for anls_star and anlsl a list or object as JSON.
        accepted_answers: the accepted answers, one or more; the closest one counts.
        variant: the variant of ANLS, a name from list_variants.
        threshold: from 0 to 1; a similarity below it scores 0. None takes the threshold of the variant.
        ignore_case: whether to ignore case. None does as the variant does.

    Returns:
        score, reason, sentence and signature; for each accepted answer its distance, length and similarity; edits, or
        none for long texts. For a list or object: score, sentence, signature, closest accepted value, and leaves.
    """
    scorer = get_scorer(variant, threshold, ignore_case)
    answer = read_answer(scorer, prediction, accepted_answers, most=limits.MOST_REFERENCES)
    why = scorer.explain(answer.prediction, answer.references)
    return {"score": why.score, "signature": why.signature, **_describe(why)}


def _describe(why: Explanation | StarExplanation) -> dict[str, Any]:
    """Describe an explanation: accepted answers and edits, or the leaves of a list or object."""
    if isinstance(why, Explanation):
        edits = html_parts.find_edits(why.best)
        return {
            "reason": why.reason,
            "sentence": why.sentence,
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
    return {
        "sentence": f"{why}.",
        "closest": format_value(why.closest),
        "leaves": [
            {
                "where": leaf.path,
                "prediction": None if leaf.prediction is None else format_value(leaf.prediction),
                "reference": None if leaf.reference is None else format_value(leaf.reference),
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
        The score under each variant, by its name.
    """
    answer = read_answer(VARIANTS["standard"], prediction, accepted_answers)
    scores = {name: variant.score([answer.prediction], [answer.references]) for name, variant in VARIANTS.items()}
    return {name: score for name, (score,) in scores.items()}


def score_answers(
    predictions: list[str],
    accepted_answers: list[list[str]],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score many answers with ANLS: the mean, the score of each, and the signature to report with the number.

    Args:
        predictions: the answers to score; for anls_star and anlsl lists and objects as JSON.
        accepted_answers: the accepted answers of each prediction.
        variant: the variant of ANLS, a name from list_variants.
        threshold: from 0 to 1; a similarity below it scores 0. None takes the threshold of the variant.
        ignore_case: whether to ignore case. None does as the variant does.

    Returns:
        anls, scores and signature.
    """
    scorer = get_scorer(variant, threshold, ignore_case)
    if not isinstance(predictions, list) or not isinstance(accepted_answers, list):
        raise ValueError("send predictions as a list of texts, and accepted_answers as a list of lists of texts")
    if len(predictions) != len(accepted_answers):
        raise ValueError(
            f"the lengths differ (predictions has {len(predictions):,}, "
            f"accepted_answers has {len(accepted_answers):,}): send a list of accepted answers for each prediction"
        )
    rows = zip(predictions, accepted_answers)
    answers = [read_answer(scorer, *texts, f" of row {row}") for row, texts in enumerate(rows)]
    work = sum(answer.work for answer in answers)
    if work > limits.MOST_COMPARED_AT_ONCE or sum(answer.pairs for answer in answers) > limits.MOST_PAIRS:
        raise ValueError("the predictions are too long, or too many, to compare here: score them as a file")
    scores = scorer.score([answer.prediction for answer in answers], [answer.references for answer in answers])
    return {
        "anls": scorer.mean(scores),
        "scores": list(map(float, scores)),
        "signature": scorer.signature(),
    }


def list_variants() -> list[dict[str, str]]:
    """List the published variants of ANLS: the name and the meaning of each.

    The last variants score lists and objects, or are rules of benchmarks, which need more fields in the files.

    Returns:
        name, meaning, signature and source of each variant.
    """
    return [
        {"name": scorer.name, "meaning": scorer.meaning, "signature": scorer.signature(), "source": scorer.source}
        for scorer in map(get_scorer, [*VARIANTS, *OF_VALUES, *OF_RULES])
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

    Upload each file to /gradio_api/upload first, and pass the path or URL from its response.

    Args:
        gold: a file with the id and the accepted answers of each question, in a layout from list_layouts.
        submissions: one file or more with the id and the answer of each question.
        variant: the variant of ANLS, a name from list_variants.
        threshold: from 0 to 1; a similarity below it scores 0. None takes the threshold of the variant.
        case: "ignored" or "counts"; empty does as the variant does.
        unanswered_score_0: whether a question without an answer scores 0; otherwise it is an error.
        extract: rules that extract the answers from raw model output, comma-separated, such as think,final.
        baseline: the name of the submission to compare the others with; empty takes the first.
        worst: how many of the worst answers of each submission to return.
        none_keys: for anls_star: whether predicted keys without a value are "counted" or "ignored"; empty counts them.
        average: for anls_star: the mean over "rows" or "leaves"; empty takes rows.

    Returns:
        signature, questions, clusters and hints; for each submission name, layout, questions, anls, interval (95 %),
        exact_match, contains, outcomes, and what each extraction rule did (extraction); and comparisons with
        difference, interval, p_value and verdict.
    """
    scorer = get_scorer(variant, threshold, read_case(case), none_keys, average)
    reading = make_reading(scorer, unanswered_score_0, extract)
    return _score_uploads(Task(submissions, gold, scorer, reading), baseline, worst)


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

    Upload each file to /gradio_api/upload first, and pass the path or URL from its response.

    Args:
        files: one file or more, each in a layout from list_layouts, or a table.
        prediction_field: the path of the prediction in a record, such as output.text; empty detects it.
        references_field: the path of the accepted answers; empty detects it.
        id_field: the path of the question id; empty detects it, "none" numbers the records.
        variant: the variant of ANLS, a name from list_variants.
        threshold: from 0 to 1; a similarity below it scores 0. None takes the threshold of the variant.
        case: "ignored" or "counts"; empty does as the variant does.
        unanswered_score_0: whether a question without an answer scores 0; otherwise it is an error.
        extract: rules that extract the answers from raw model output, comma-separated, such as think,final.
        baseline: the name of the file to compare the others with; empty takes the first.
        worst: how many of the worst answers of each file to return.
        none_keys: for anls_star: whether predicted keys without a value are "counted" or "ignored"; empty counts them.
        average: for anls_star: the mean over "rows" or "leaves"; empty takes rows.

    Returns:
        The same as score_files.
    """
    scorer = get_scorer(variant, threshold, read_case(case), none_keys, average)
    fields = {"prediction_field": prediction_field, "references_field": references_field, "id_field": id_field}
    reading = make_reading(scorer, unanswered_score_0, extract, **fields)
    return _score_uploads(Task(files, None, scorer, reading), baseline, worst)


def list_layouts() -> list[dict[str, str]]:
    """List the known layouts of files: those of competitions, programs and evaluation harnesses.

    Returns:
        name, source and fields of each layout, and whether its files hold answers, gold (accepted answers) or both.
    """
    return [
        {
            "name": layout.name,
            "source": layout.source,
            "fields": ", ".join(layout.fields),
            "holds": layout.holds,
        }
        for layout in LAYOUTS
    ]


def _score_uploads(task: Task, baseline: object, worst: object) -> dict[str, Any]:
    if not isinstance(baseline, str):
        raise ValueError(f"baseline is {describe(baseline)}: it must be the name of a submission")
    most_worst = check_count("worst", worst, limits.MOST_WORST)
    steps = score(task._replace(baseline=baseline or None, worst=most_worst), "endpoint")
    (result,) = [step for step in steps if isinstance(step, Result)]
    return result.document
