"""The endpoints of the web app, each of which is also a tool for agents.

Since gradio joins the lines of `Returns` with commas, only the last of these lines ends with punctuation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from anls_metric.core.checks import check_count
from anls_metric.core.scorer import SCORERS
from anls_metric.messages import FrontEnd, reword
from anls_metric.options import Options
from anls_metric.page import file_scores, limits, processes, typed_answers
from anls_metric.page.uploads import take, take_all
from anls_metric.reading.layouts import LAYOUTS

FAULT = "this could not be done because of an error in the web app: see its log for details"
_Result = TypeVar("_Result")
_LOG = logging.getLogger(__name__)

# Answers


def explain_answer(
    prediction: str,
    references: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score one answer with ANLS (Average Normalized Levenshtein Similarity) and explain the score.

    Args:
        prediction: the answer to score; for anls_star and anlsl, a list or object as JSON.
        references: the references (accepted answers), one or more; the closest one is used.
        variant: the variant of ANLS, a name from list_variants.
        threshold: the minimum similarity, from 0 to 1; anything lower scores 0. None takes the variant's threshold.
        ignore_case: whether to ignore case. None follows the variant.

    Returns:
        score, signature, sentence, closest reference
        and for a string: reason, edits, and the distance, length and similarity of each reference
        or for a list or object: the score of each leaf.
    """
    options = {"threshold": threshold, "ignore_case": ignore_case}
    return run_small(typed_answers.explain, prediction, references, variant, options)


def compare_variants(prediction: str, references: list[str]) -> dict[str, float]:
    """Score one answer with every variant of ANLS, each with its own threshold and case.

    Args:
        prediction: the answer to score.
        references: the references (accepted answers), one or more.

    Returns:
        The score of each variant, keyed by its name.
    """
    return run_small(typed_answers.compare, prediction, references)


def score_answers(
    predictions: list[str],
    references: list[list[str]],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score many answers with ANLS. Returns the mean, the score of each answer, and the signature to report with the
    mean.

    Args:
        predictions: the answers to score; for anls_star and anlsl, lists and objects as JSON.
        references: the references (accepted answers) of each prediction.
        variant: the variant of ANLS, a name from list_variants.
        threshold: the minimum similarity, from 0 to 1; anything lower scores 0. None takes the variant's threshold.
        ignore_case: whether to ignore case. None follows the variant.

    Returns:
        anls, scores and signature.
    """
    options = {"threshold": threshold, "ignore_case": ignore_case}
    return run_small(typed_answers.score, predictions, references, variant, options)


def run_small(function: Callable[..., _Result], prediction: Any, references: Any, *others: Any) -> _Result:
    """Call a function that scores answers in the server or, if scoring may take long, in a separate process."""
    if typed_answers.is_quick(prediction, references, others):
        return function(prediction, references, *others)
    return processes.run_answers(function, prediction, references, *others)


def list_variants() -> list[dict[str, str]]:
    """List the published variants of ANLS, each with its name and meaning.

    The last variants score lists and objects, or are benchmark metrics, which need more fields in the files.

    Returns:
        name, meaning, signature and source of each variant.
    """
    scorers = SCORERS.values()
    return [
        {"name": scorer.name, "meaning": scorer.meaning, "signature": scorer.signature(), "source": scorer.source}
        for scorer in scorers
    ]


# Files


def score_files(
    gold: str,
    submissions: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    missing: str = "error",
    extract: str | None = None,
    prediction: str | None = None,
    references: str | None = None,
    id: str | None = None,
    baseline: str | None = None,
    worst: int = 0,
    none_keys: str | None = None,
    average: str | None = None,
    numbers: str | None = None,
    ignore_keys: str | None = None,
) -> dict[str, Any]:
    """Score submissions against a gold file with ANLS and compare them. Answers are joined with questions by id.

    Upload each file to /gradio_api/upload first, then pass the path that the upload returned.

    Args:
        gold: a file with the id and the references of each question, in a layout from list_layouts or as a table.
        submissions: one or more files with the id and the answer of each question.
        variant: the variant of ANLS, a name from list_variants.
        threshold: the minimum similarity, from 0 to 1; anything lower scores 0. None takes the variant's threshold.
        ignore_case: whether to ignore case. None follows the variant.
        missing: "error", "zero" or "skip": what to do with unanswered questions.
        extract: rules that extract the answers from raw model output, comma-separated, such as think,final.
        prediction: the path of the prediction in a record, such as output.text; None takes the common names.
        references: the path of the references; None takes the common names.
        id: the path of the question id; None takes the common names, "none" matches by position.
        baseline: the name of the submission to compare the others with; None takes the first of two and the best of
            three or more.
        worst: how many of the worst answers of each submission to return.
        none_keys: for anls_star: whether predicted keys without a value are "counted" or "ignored".
        average: for anls_star: the mean over "rows" or "leaves".
        numbers: for anls_star: compare numbers "as_written" or "by_value", so that 2440 equals 2440.0.
        ignore_keys: for anls_star: keys to leave out on both sides, comma-separated, such as model_name,items.score.

    Returns:
        The document of anls --format json: signature, questions, clusters, hints
        for each submission its name, read, layout, questions, anls, interval (95%), exact_match, contains, lost
        and comparisons with difference, interval, p_value, verdict.
    """
    return _score(take_all(submissions, "submissions"), take(gold, "gold"), locals())


def score_logs(
    files: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    missing: str = "error",
    extract: str | None = None,
    prediction: str | None = None,
    references: str | None = None,
    id: str | None = None,
    baseline: str | None = None,
    worst: int = 0,
    none_keys: str | None = None,
    average: str | None = None,
    numbers: str | None = None,
    ignore_keys: str | None = None,
) -> dict[str, Any]:
    """Score files that contain both predictions and references, such as logs of evaluation harnesses and tables, with
    ANLS.

    Upload each file to /gradio_api/upload first, then pass the path that the upload returned.

    Args:
        files: one or more files, each in a layout from list_layouts or as a table.
        variant: the variant of ANLS, a name from list_variants.
        threshold: the minimum similarity, from 0 to 1; anything lower scores 0. None takes the variant's threshold.
        ignore_case: whether to ignore case. None follows the variant.
        missing: "error", "zero" or "skip": what to do with unanswered questions.
        extract: rules that extract the answers from raw model output, comma-separated, such as think,final.
        prediction: the path of the prediction in a record, such as output.text; None takes the common names.
        references: the path of the references; None takes the common names.
        id: the path of the question id; None takes the common names, "none" numbers the records.
        baseline: the name of the file to compare the others with; None takes the first of two and the best of three or
            more.
        worst: how many of the worst answers of each file to return.
        none_keys: for anls_star: whether predicted keys without a value are "counted" or "ignored".
        average: for anls_star: the mean over "rows" or "leaves".
        numbers: for anls_star: compare numbers "as_written" or "by_value", so that 2440 equals 2440.0.
        ignore_keys: for anls_star: keys to leave out on both sides, comma-separated, such as model_name,items.score.

    Returns:
        The same as score_files.
    """
    return _score(take_all(files, "files"), None, locals())


def list_layouts() -> list[dict[str, str]]:
    """List the known file layouts, which come from competitions, programs and evaluation harnesses.

    Returns:
        name, source and fields of each layout, and whether its files contain predictions, references, both or either.
    """
    return [
        {"name": layout.name, "source": layout.source, "fields": ", ".join(layout.fields), "contains": layout.contains}
        for layout in LAYOUTS
    ]


def _score(files: Sequence[str], gold: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Score files in a separate process with the arguments of an endpoint, which have the same names as the options."""
    check_count("worst", values["worst"], limits.MAX_WORST)
    options = {name: value for name, value in values.items() if name in Options.__annotations__}
    return processes.run(file_scores.score, files, gold, options)


def describe_error(error: Exception, front_end: FrontEnd = "endpoint") -> str:
    """Describe an error to the caller, but only log the details of an unexpected error."""
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return reword(str(error).encode("utf-8", "replace").decode()[:2_000], front_end)
    _LOG.error("a call failed", exc_info=error)
    return FAULT


ENDPOINTS = (explain_answer, compare_variants, score_answers, list_variants, list_layouts, score_files, score_logs)
