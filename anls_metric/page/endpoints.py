"""The endpoints of the web app, each of which is also a tool for agents.

Since gradio joins the lines of `Returns` with commas, only the last of these lines ends with punctuation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, TypeVar, get_type_hints

from anls_metric.core.checks import check_count
from anls_metric.core.scorer import SCORERS
from anls_metric.messages import FrontEnd, reword
from anls_metric.options import OPTIONS, read_count, read_share, read_switch
from anls_metric.page import file_scores, limits, processes, typed_answers
from anls_metric.page.uploads import take, take_all
from anls_metric.reading.layouts import LAYOUTS

FAULT = "this could not be done because of an error in the web app: see its log for details"
_Result = TypeVar("_Result")
_Endpoint = Callable[..., dict[str, Any]]
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


def _add_options(endpoint: _Endpoint) -> _Endpoint:
    """Give an endpoint the options for files as parameters. Gradio reads the signature, and one line of the docstring
    for each parameter.
    """
    own = [each for each in signature(endpoint).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=_DEFAULTS.get(name, OPTIONS[name].default or None))
        for name in FILE_OPTIONS
    ]
    types = {name: _TYPES.get(OPTIONS[name].read, str) for name in FILE_OPTIONS}
    whole = Signature([*own, *options], return_annotation=dict[str, Any])

    @wraps(endpoint)
    def call(*arguments: Any, **named: Any) -> dict[str, Any]:
        bound = whole.bind(*arguments, **named)
        bound.apply_defaults()
        return endpoint(**bound.arguments)

    hints = {
        name: type_ if whole.parameters[name].default is not None else type_ | None for name, type_ in types.items()
    }
    fixed = {name: type_ for name, type_ in get_type_hints(endpoint).items() if name != "options"}
    call.__annotations__ = {**fixed, **hints}
    call.__signature__ = whole  # type: ignore[attr-defined]
    lines = [f"    {name}: {_describe_option(name)}." for name in FILE_OPTIONS]
    call.__doc__ = cleandoc(str(endpoint.__doc__)).replace("\n\nReturns:", "\n" + "\n".join(lines) + "\n\nReturns:")
    return call


_FIRST = ("variant", "threshold", "ignore_case", "missing", "extra", "extract")
_ALSO = ("average", "worst")
FILE_OPTIONS: Sequence[str] = tuple(
    dict.fromkeys([*_FIRST, *(name for name, option in OPTIONS.items() if option.label and name != "gold"), *_ALSO])
)
"""The options of the endpoints for files, which are those of the page and a few more."""

_DEFAULTS: Mapping[str, Any] = {"variant": "standard", "worst": 0}
_TYPES: Mapping[Any, Any] = {read_share: float, read_count: int, read_switch: bool}


def _describe_option(name: str) -> str:
    """Describe an option and its choices in one line."""
    option = OPTIONS[name]
    return option.help + (f"; one of {', '.join(option.choices)}" if option.choices else "")


@_add_options
def score_files(gold: str, submissions: list[str], **options: Any) -> dict[str, Any]:
    """Score submissions against a gold file with ANLS and compare them. Answers are joined with questions by id.

    Upload each file to /gradio_api/upload first, then pass the path that the upload returned.

    Args:
        gold: a file with the id and the references of each question, in a layout from list_layouts or as a table.
        submissions: one or more files with the id and the answer of each question.

    Returns:
        The document of anls --format json: signature, questions, clusters, hints
        for each submission its name, read, layout, questions, anls, interval (95%), exact_match, contains, lost
        and comparisons with difference, interval, p_value, verdict.
    """
    return _score(take_all(submissions, "submissions"), take(gold, "gold"), options)


@_add_options
def score_logs(files: list[str], **options: Any) -> dict[str, Any]:
    """Score files that contain both predictions and references, such as logs of evaluation harnesses and tables, with
    ANLS.

    Upload each file to /gradio_api/upload first, then pass the path that the upload returned.

    Args:
        files: one or more files, each in a layout from list_layouts or as a table.

    Returns:
        The same as score_files.
    """
    return _score(take_all(files, "files"), None, options)


def list_layouts() -> list[dict[str, str]]:
    """List the known file layouts, which come from competitions, programs and evaluation harnesses.

    Returns:
        name, source and fields of each layout, and whether its files contain predictions, references, both or either.
    """
    return [
        {"name": layout.name, "source": layout.source, "fields": ", ".join(layout.fields), "contains": layout.contains}
        for layout in LAYOUTS
    ]


def _score(files: Sequence[str], gold: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Score files in a separate process."""
    check_count("worst", options["worst"], limits.MAX_WORST)
    return processes.run(file_scores.score, files, gold, options)


def describe_error(error: Exception, front_end: FrontEnd = "endpoint") -> str:
    """Describe an error to the caller, but only log the details of an unexpected error."""
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return reword(str(error).encode("utf-8", "replace").decode()[:2_000], front_end)
    _LOG.error("a call failed", exc_info=error)
    return FAULT


ENDPOINTS = (explain_answer, compare_variants, score_answers, list_variants, list_layouts, score_files, score_logs)
