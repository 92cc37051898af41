"""What a visitor or a program sent, checked: which scorer, which answer, and how files are to be read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.evaluation import find_rule_columns, find_scorers
from anls_metric.core.choices import describe_unknown
from anls_metric.core.rows import as_references, as_text
from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANT_NAMES, VARIANTS, Scorer
from anls_metric.page import limits
from anls_metric.reading.extract import extractor
from anls_metric.reading.sources import Reading
from anls_metric.reading.values import parse_typed_values

if TYPE_CHECKING:
    pass


def get_scorer(
    variant: object, threshold: object = None, ignore_case: object = None, none_keys: object = "", average: object = ""
) -> Scorer:
    """Get the scorer that was asked for. An option that is None or empty has the scorer's own value.

    Raises:
        ValueError: there is no such variant, or it has no such option, see `find_scorers`.
    """
    if variant not in (*VARIANT_NAMES, *OF_VALUES, *OF_RULES):  # one name, no list of names
        raise ValueError(describe_unknown("variant", variant, (*VARIANTS, *OF_VALUES, *OF_RULES)))
    (scorer,) = find_scorers(variant, threshold, ignore_case, none_keys or None, average or None)  # type: ignore[arg-type]
    return scorer


def get_shown_scorer(variant: str, threshold: float, ignore_case: bool) -> Scorer:
    """Get the scorer of the page's settings. A switch does not count where the scorer has no such option."""
    options = get_scorer(variant).options
    given = {"threshold": threshold, "ignore_case": ignore_case}
    return get_scorer(variant, **{name: value for name, value in given.items() if name in options})


def read_link(parameters: Mapping[str, str]) -> Scorer:
    """Read the settings in the address of the page.

    Example:
        >>> read_link({"variant": "rrc", "threshold": "0.8", "case": "counts"}).threshold
        0.8

    Raises:
        ValueError: a setting that does not exist.
    """
    threshold = parameters.get("threshold")
    try:
        number = None if threshold is None else float(threshold)
    except ValueError:
        raise ValueError(f"threshold is {threshold!r} in the link: it must be a number from 0 to 1") from None
    name, ignore_case = parameters.get("variant", "standard"), read_case(parameters.get("case", ""))
    return get_scorer(name, number, None if name in (*OF_VALUES, *OF_RULES) else ignore_case)


def read_case(case: object) -> bool | None:
    """Whether case is ignored, None for what the variant does. ValueError: neither ignored nor counts."""
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
    """Make the rules to read files by.

    Args:
        scorer: what will score the answers.
        unanswered_score_0: whether a question without an answer scores 0, and is no error.
        extract: the names of extraction rules, with commas between.
        ignore_extra: whether answers to other questions are left out, and are no error.
        **fields: texts of `Reading` by name, such as the fields; what is empty is detected.

    Raises:
        ValueError: a field that is no text, or an extraction rule that does not exist.
    """
    rules, values = as_text(extract, "extract"), scorer.name in OF_VALUES
    texts: dict[str, Any] = {name: as_text(value, name) for name, value in fields.items()}
    return Reading(
        missing="zero" if unanswered_score_0 else "error",
        extra="ignore" if ignore_extra else "error",
        extract=extractor(rules, values) if rules else None,
        values=values,
        rule=find_rule_columns(scorer.name),
    )._replace(**{name: text for name, text in texts.items() if text})


class Answer(NamedTuple):
    """One answer, as a scorer takes it.

    Attributes:
        prediction: a text, or a list or object.
        references: the accepted texts, or the accepted value.
        work: what it costs to compare the texts, see `limits.measure_work`.
        pairs: how many pairs of values are compared, 1 for a text.
    """

    prediction: Any
    references: Any
    work: int
    pairs: int = 1


def read_answer(
    scorer: Scorer, prediction: object, references: object, row: str = "", most: int = sys.maxsize
) -> Answer:
    """Read an answer and its accepted answers, which are JSON where the scorer is for lists and nested values.

    Args:
        scorer: what will score it.
        prediction: a text.
        references: a list of texts.
        row: which row it is, for errors: " of row 3".
        most: how many accepted answers there may be.

    Raises:
        ValueError: something is no text, no JSON, or too large to compare here.
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
