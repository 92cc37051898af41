"""Decodes generated token ids, extracts the answers and scores them, for use in trainer hooks and rewards.

This module needs no framework, because ids are lists and a tokenizer is any object that decodes ids.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.core.checks import describe, name_row
from anls_metric.core.scorer import Scorer, get_scorer, import_from_package
from anls_metric.core.strings.rows import as_column, as_text
from anls_metric.core.strings.variants import get_variant

if TYPE_CHECKING:
    from anls_metric.core.strings.metrics import Metric

Extract = Callable[[str], str | None]
Ids = list[list[int]]  # the ids of each row
References = Sequence[Any]  # the accepted answers of each row

_METRICS = "anls_metric.core.strings.metrics"
_SIMILAR = 0.7  # labels that differ only slightly after decoding are more similar than this


def as_extract(extract: Any, scorer: Scorer) -> Extract:
    """Return a function that extracts an answer from a string, given a function, the names of rules for a scorer, or
    None for the whole string.

    Raises ValueError if ``extract`` has another type or names a rule that does not exist, and ImportError if it names
    rules but the package is not installed.
    """
    if extract is None:
        return str
    if isinstance(extract, str):
        rules = import_from_package("anls_metric.core.extraction.extract", "an extraction step")
        return rules.extractor_for(scorer, extract)  # type: ignore[no-any-return]
    if callable(extract):
        return extract  # type: ignore[no-any-return]
    raise ValueError(
        f"extract is {describe(extract)}: pass extraction steps, or a function of a string that returns the answer"
    )


def extract_answer(text: str, extract: Extract, what: str, default: str = "") -> str:
    """Extract the answer from a string, or return the default if ``extract`` returns None."""
    answer = extract(text)
    return default if answer is None else as_text(answer, f"what extract made of {what}")


class Decoder:
    """A decoder of token ids that also extracts and scores the answers.

    Args:
        tokenizer: a tokenizer or processor, which decodes ids with ``batch_decode(rows, skip_special_tokens=...)``.
        references: the references of one evaluation set, or a dict of references keyed by evaluation set; None to use
            the labels.
        extract: a function that extracts the answer from a string, or the names of rules; None for the whole string.
        skip_special_tokens: whether the tokenizer omits special tokens.
        metrics: the names of additional string metrics.
        variant: the variant, whose options are passed as further keyword arguments.

    Raises:
        ValueError: a reference cannot be scored, or a name does not exist.
    """

    def __init__(
        self,
        tokenizer: Any,
        references: Any = None,
        extract: Extract | str | None = None,
        skip_special_tokens: bool = True,
        metrics: str | Sequence[str] = (),
        variant: Any = "standard",
        **options: Any,
    ) -> None:
        self.scorer = scorer = get_scorer(variant, **options)
        names = [name.strip() for name in metrics.split(",") if name] if isinstance(metrics, str) else list(metrics)
        if names and scorer.form != "text":
            others = f"not to the answers of {scorer.name}"
            raise ValueError(f"metrics apply only to strings, {others}: leave the metrics out")
        self.tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        self.sets = None if references is None else read_sets(references, scorer)
        self.extract = as_extract(extract, scorer)
        self.skip_special_tokens = skip_special_tokens
        known = import_from_package(_METRICS, "a further metric") if names else None
        self.metrics: Sequence[Metric] = known.find_metrics(names) if known else []

    def decode(self, rows: Ids, what: str) -> list[str]:
        """Decode token ids and extract the answers. Without an answer, a label stays whole, and a prediction becomes
        "".
        """
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=self.skip_special_tokens)
        answers = [
            extract_answer(text, self.extract, f"the {what} of {name_row(row)}", text if what == "label" else "")
            for row, text in enumerate(texts)
        ]
        if what == "prediction" and any(texts) and not any(answers):
            where = f"any of {len(texts):,} predictions; the first is {describe(texts[0])}"
            warnings.warn(f"extract finds no answer in {where}", stacklevel=4)
        return answers

    def score_ids(self, ids: Ids, references: References) -> tuple[list[str], list[Any], dict[str, float]]:
        """Decode the token ids of predictions, and return the answers, their scores and the mean of each metric."""
        answers = self.decode(ids, "prediction")
        scores = score_rows(self.scorer, answers, references)
        means = {self.scorer.key: self.scorer.mean(scores)}
        if self.metrics:
            columns = self.scorer.check(answers, references)
            means |= {each.name: each.average(*columns, scores, self.scorer) for each in self.metrics}
        return answers, scores, means

    def describe_other_labels(self, labels: list[str | None], missing: list[int], references: References) -> str:
        """Describe the first mismatched label, or return "" if most labels match or resemble their references."""
        rows = [row for row, label in enumerate(labels) if label]
        texts, accepted = [labels[row] or "" for row in rows], [references[row] for row in rows]
        similar = get_variant("nls", ignore_case=True) if self.scorer.form == "text" else self.scorer
        similarities = score_rows(similar, texts, accepted)
        if 2 * len(missing) <= len(rows) or sum(similarities) >= _SIMILAR * len(rows):
            return ""
        row = missing[0]
        return (
            f"the labels of {len(missing):,} of {len(rows):,} rows are not among their references; the first is "
            f"{name_row(row)}, {describe(labels[row])} beside {describe(references[row])}"
        )


def read_sets(references: Any, scorer: Scorer) -> list[References]:
    """Read and check the references of each evaluation set."""
    sets: list[References] = []
    for column in references.values() if isinstance(references, Mapping) else [references]:
        rows = as_column(column, "references", "pass a list with the references of each row of the evaluation set")
        rows = list(map(scorer.read_references, rows)) if scorer.reads_json else rows
        sets.append(scorer.check([""] * len(rows), rows)[1])
    return sets


def fold(value: Any) -> str:
    """Return a string, or the JSON form of any other value, with case and whitespace normalized."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return " ".join(text.casefold().split())


def list_texts(references: References) -> set[str]:
    """Collect the references as folded strings. A list adds its items and, since it may be a value, also itself."""
    lists = [[each, *each] if isinstance(each, (list, tuple)) else [each] for each in references]
    return {fold(text) for each in lists for text in each}


def score_rows(scorer: Scorer, texts: Sequence[str], references: References) -> list[Any]:
    """Score each generated string, treating a string that the scorer cannot read as a missing answer."""
    if scorer.form == "text":
        return scorer.score(texts, references)
    rows = zip(texts, references)
    return [score_text(scorer, text, accepted, name_row(row))[0] for row, (text, accepted) in enumerate(rows)]


def score_text(scorer: Scorer, text: str, references: Any, row: str) -> tuple[Any, bool]:
    """Return the score of a generated string, and whether the scorer can read the string. A string that the scorer
    cannot read is treated as a missing answer.
    """
    try:
        prediction = scorer.parse_output(text)
    except ValueError:
        return scorer.score_missing(references, row), False
    return scorer.score([prediction], [references], lambda _: row)[0], True
