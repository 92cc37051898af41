"""Checks what visitors and programs send: the scorer, the answer, and how to read files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.evaluation import find_rule_columns, find_scorers
from anls_metric.core.choices import describe_unknown
from anls_metric.core.rows import as_references, as_text
from anls_metric.core.variants import MEANINGS, OF_RULES, OF_VALUES, VARIANT_NAMES, VARIANTS, Scorer
from anls_metric.page import limits
from anls_metric.reading.extract import extractor
from anls_metric.reading.sources import Reading
from anls_metric.reading.values import parse_typed_values

if TYPE_CHECKING:
    pass


def get_scorer(
    variant: object, threshold: object = None, ignore_case: object = None, none_keys: object = "", average: object = ""
) -> Scorer:
    """Get a scorer. An option that is None or empty keeps the value of the scorer.

    Raises:
        ValueError: there is no such variant, or it does not have the option: see `find_scorers`.
    """
    if variant not in (*VARIANT_NAMES, *OF_VALUES, *OF_RULES):  # one name, no list of names
        raise ValueError(describe_unknown("variant", variant, (*VARIANTS, *OF_VALUES, *OF_RULES), (), MEANINGS))
    (scorer,) = find_scorers(variant, threshold, ignore_case, none_keys or None, average or None)  # type: ignore[arg-type]
    return scorer


def get_shown_scorer(variant: str, threshold: float, ignore_case: bool) -> Scorer:
    """Get the scorer for the settings of the page. Settings that the scorer does not have are ignored."""
    options = get_scorer(variant).options
    settings = {"threshold": threshold, "ignore_case": ignore_case}
    return get_scorer(variant, **{name: value for name, value in settings.items() if name in options})


def read_link(parameters: Mapping[str, str]) -> Scorer:
    """Read the settings in the URL of the page.

    Example:
        >>> read_link({"variant": "rrc", "threshold": "0.8", "case": "counts"}).threshold
        0.8

    Raises:
        ValueError: a setting does not exist.
    """
    threshold = parameters.get("threshold")
    try:
        number = None if threshold is None else float(threshold)
    except ValueError:
        raise ValueError(f"threshold is {threshold!r} in the link: it must be a number from 0 to 1") from None
    name, ignore_case = parameters.get("variant", "standard"), read_case(parameters.get("case", ""))
    return get_scorer(name, number, None if name in (*OF_VALUES, *OF_RULES) else ignore_case)


def read_case(case: object) -> bool | None:
    """Read whether to ignore case; None keeps the case of the variant. ValueError: neither "ignored" nor "counts"."""
    cases = {"": None, "ignored": True, "counts": False}
    if not isinstance(case, str) or case not in cases:
        raise ValueError(f"case is {case!r}: it must be ignored or counts")
    return cases[case]


def make_reading(
    scorer: Scorer,
    unanswered_score_0: object,
    extract: object = "",
    ignore_extra: object = False,
    **fields: object,
) -> Reading:
    """Make the options for reading files.

    Args:
        scorer: the scorer of the answers.
        unanswered_score_0: whether a question without an answer scores 0; otherwise it is an error.
        extract: the names of extraction rules, comma-separated.
        ignore_extra: whether to ignore answers to unknown questions; otherwise they are an error.
        **fields: other texts of `Reading` by name. Empty texts are detected.

    Raises:
        ValueError: a field is not a text, or an extraction rule does not exist.
    """
    rules, values = as_text(extract, "extract"), scorer.name in OF_VALUES
    texts: dict[str, Any] = {name: as_text(value, name) for name, value in fields.items()}
    return Reading(
        missing="zero" if unanswered_score_0 else "error",
        extra="ignore" if ignore_extra else "error",
        extract=extractor(rules, values=values) if rules else None,
        values=values,
        rule=find_rule_columns(scorer.name),
    )._replace(**{name: text for name, text in texts.items() if text})


class Answer(NamedTuple):
    """One answer in the form that the scorer takes.

    Attributes:
        prediction: a text, or a list or object.
        references: the accepted texts, or the accepted value.
        work: the cost of comparing the texts: see `limits.measure_work`.
        pairs: the number of pairs of values to compare, 1 for a text.
    """

    prediction: Any
    references: Any
    work: int
    pairs: int = 1


def read_answer(
    scorer: Scorer, prediction: object, references: object, row: str = "", most: int = sys.maxsize
) -> Answer:
    """Read an answer and its accepted answers, which are JSON if the scorer is for lists and nested values.

    Args:
        scorer: the scorer of the answer.
        prediction: a text.
        references: a list of texts.
        row: the name of the row in errors: " of row 3".
        most: the largest number of accepted answers.

    Raises:
        ValueError: something is not a text, is not JSON, or is too large to compare here.
    """
    if scorer.columns:
        columns = ", ".join(scorer.columns)
        raise ValueError(f"the rule {scorer.name} needs {columns}: score a file that has these fields")
    what = f"prediction{row}"
    text, texts = as_text(prediction, what), list(as_references(references, f"accepted_answers{row}"))
    work = limits.refuse_too_long(text, texts, what)
    if len(texts) > most:
        raise ValueError(f"accepted_answers{row} has more than {most:,} texts: {limits.WITH_COMMAND}")
    if scorer.name not in OF_VALUES:
        return Answer(text, texts, work)
    pairs = limits.refuse_too_many_pairs(text, texts, what)
    return Answer(*parse_typed_values(text, texts), work, pairs)
