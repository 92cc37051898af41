"""What a visitor or a program sent, checked: which scorer, which answer, and how files are to be read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.evaluation import find_scorers
from anls_metric.core.rows import as_references, as_text
from anls_metric.core.variants import OF_VALUES, Scorer, get_variant
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
    if variant not in OF_VALUES:
        variant = get_variant(variant).name  # type: ignore[arg-type]  # one name, no list of names
    (scorer,) = find_scorers(variant, threshold, ignore_case, none_keys or None, average or None)  # type: ignore[arg-type]
    return scorer


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
    return get_scorer(name, number, None if name in OF_VALUES else ignore_case)


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
    prediction_field: object = "",
    references_field: object = "",
    id_field: object = "",
) -> Reading:
    """Make the rules to read files by. A field that is empty is detected.

    Raises:
        ValueError: a field that is no text, or an extraction rule that does not exist.
    """
    texts = {"extract": extract, "prediction_field": prediction_field}
    texts |= {"references_field": references_field, "id_field": id_field}
    given: dict[str, Any] = {name: as_text(value, name) for name, value in texts.items()}
    rules, values = given.pop("extract"), scorer.name in OF_VALUES
    return Reading(
        missing="zero" if unanswered_score_0 else "error",
        extract=extractor(rules, values) if rules else None,
        values=values,
    )._replace(**{name: field for name, field in given.items() if field})


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
    what = f"prediction{row}"
    text, texts = as_text(prediction, what), list(as_references(references, f"accepted_answers{row}"))
    work = limits.refuse_too_long(text, texts, what)
    if len(texts) > most:
        raise ValueError(f"accepted_answers{row} has more than {most:,} texts: {limits.WITH_COMMAND}")
    if scorer.name not in OF_VALUES:
        return Answer(text, texts, work)
    pairs = limits.refuse_too_many_pairs(text, texts, what)
    return Answer(*parse_typed_values(text, texts), work, pairs)
