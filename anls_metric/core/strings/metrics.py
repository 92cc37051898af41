"""Defines a table of string metrics other than ANLS.

Each row names the source of a metric, and tests compare the metric with a published implementation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.checks import describe_unknown
from anls_metric.core.scorer import Scorer, mean
from anls_metric.core.strings.kernel import split_into_words
from anls_metric.core.strings.matches import References, find_matches
from anls_metric.core.strings.vqa import score_vqa


def _describe_nothing(references: References) -> str:
    return ""


class Metric(NamedTuple):
    """A metric other than ANLS, such as a row of `METRICS`.

    Attributes:
        name: the name under which the metric is chosen and shown.
        meaning: what the metric measures, in one line.
        source: the definition of the metric.
        compute: the function that computes the value of each answer from the predictions (None for no answer), their
            references, their scores and the scorer.
        most: the largest possible value.
        lower_is_better: whether 0 is the best value.
        count_errors: for the error rate of a whole corpus, the function that counts the errors in each answer and the
            units by which the errors are divided; `compute` returns the rate of each answer.
        least_references: the minimum number of references with which an answer can score 1.
        describe: the function that describes how the references of a set are measured, or returns "" for the usual way.

    Example:
        >>> from anls_metric import get_variant
        >>> METRICS["f1"].compute(["the Cola", None], [["Cola"], ["5"]], [0.0, 0.0], get_variant())
        [1.0, 0.0]
    """

    name: str
    meaning: str
    source: str
    compute: Callable[[Sequence[Any], References, Sequence[float], Scorer], list[float]]
    most: float = 1.0
    lower_is_better: bool = False
    count_errors: Callable[..., list[tuple[int, int]]] | None = None
    least_references: int = 1
    describe: Callable[[References], str] = _describe_nothing

    def average(self, *answers: Any) -> float:
        """Compute the value of a set from the arguments of `compute`."""
        return (
            mean(self.compute(*answers))
            if self.count_errors is None
            else _divide(*map(sum, zip(*self.count_errors(*answers))))
        )


def _divide(errors: float, length: float) -> float:
    return errors / (length or 1)


def find_metrics(names: Sequence[str], others: Sequence[str] = ()) -> list[Metric]:
    """Find metrics by name, without duplicates. Names in ``others`` are valid but are left out of the result.

    Raises:
        ValueError: there is no such metric.

    Example:
        >>> [metric.name for metric in find_metrics(["f1", "cer", "f1"])]
        ['f1', 'cer']
    """
    known = [*METRICS, *others]
    for name in names:
        if name not in known:
            raise ValueError(describe_unknown("metric", name, known))
    return [METRICS[name] for name in dict.fromkeys(names) if name in METRICS]


# Words, characters and numbers


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
"""The letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are written without spaces between words."""


@cache
def _compile_unspaced() -> re.Pattern[str]:
    """Compile the pattern for a letter in `_UNSPACED` on first use, because this takes longer than most imports."""
    return re.compile(f"[{_UNSPACED}]")


@cache
def _compile_token() -> re.Pattern[str]:
    """Compile the pattern for a word or for a single letter in `_UNSPACED`."""
    return re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")


def score_f1(prediction: str, reference: str) -> float:
    """Compute the F1 of the words in two strings. Two strings without words score 1, as in SQuAD 2.0.

    In scripts without spaces between words, each character is a word.

    Example:
        >>> round(score_f1("The Coca-Cola Company", "Company of Coca Cola!"), 4)
        0.3333
        >>> score_f1("\u4e8c\u96f6\u4e8c\u56db\u5e74", "\u4e8c\u96f6\u4e8c\u4e94\u5e74\u3002")
        0.8
    """
    split = _compile_token().findall if _compile_unspaced().search(prediction + reference) else split_into_words
    words, accepted = split(prediction.lower()), split(reference.lower())
    if not words or not accepted:
        return float(words == accepted)
    common = (Counter(words) & Counter(accepted)).total()
    return 2 * common / (len(words) + len(accepted))


def score_cer(prediction: str, reference: str) -> float:
    """Compute the character error rate, which is the edit distance divided by the length of the reference.

    The rate can exceed 1.

    Example:
        >>> score_cer("abd", "abc"), score_cer("abcd", "a"), score_cer("", "")
        (0.3333333333333333, 3.0, 0.0)
    """
    return _divide(*count_characters(prediction, reference))


def count_characters(prediction: str, reference: str) -> tuple[int, int]:
    """Count the character errors in a string and the characters in its reference."""
    prediction, reference = prediction.strip(), reference.strip()
    return Levenshtein.distance(prediction, reference), len(reference)


def count_words(prediction: str, reference: str) -> tuple[int, int]:
    """Count the word errors in a string and the words in its reference.

    Example:
        >>> count_words("the cold drink", "a cold drink of Cola")
        (3, 5)
    """
    words, accepted = prediction.split(), reference.split()
    return Levenshtein.distance(words, accepted), len(accepted)


def is_relaxed_match(prediction: str, reference: str) -> bool:
    """Whether a string equals the reference except for case or, if both are numbers, is within 5% of the reference.

    Example:
        >>> is_relaxed_match("104", "100"), is_relaxed_match("5%", "0.05"), is_relaxed_match("Yes", "yes")
        (True, True, True)
        >>> is_relaxed_match("1,000", "1000"), is_relaxed_match("0.0", "0")
        (False, False)
    """
    number, accepted = _as_float(prediction), _as_float(reference)
    if number is not None and accepted:
        return abs(number - accepted) / abs(accepted) <= 0.05
    return prediction.lower() == reference.lower()


def _as_float(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _take_best(
    measure: Callable[[str, str], float],
    best: Callable[[list[float]], float],
    of_missing: float,
    predictions: Sequence[Any],
    references: References,
    *_: Any,
) -> list[float]:
    """Measure each answer against the reference that gives the best value."""
    return [
        of_missing if prediction is None else float(best([measure(prediction, text) for text in texts]))
        for prediction, texts in zip(predictions, references)
    ]


_Count = Callable[[str, str], tuple[int, int]]


def _count_all(count: _Count, predictions: Sequence[Any], references: References, *_: Any) -> list[tuple[int, int]]:
    """Count the errors of each answer against the reference with the lowest error rate. A missing answer is empty."""
    found = []
    for prediction, texts in zip(predictions, references):
        counts = [count("" if prediction is None else prediction, text) for text in texts]
        found.append(min(counts, key=lambda pair: _divide(*pair)))
    return found


def _compute_rate(count: _Count, prediction: str, reference: str) -> float:
    return _divide(*count(prediction, reference))


def _compute_vqa(predictions: Sequence[Any], references: References, *_: Any) -> list[float]:
    return [
        0.0 if prediction is None else score_vqa(prediction, texts)
        for prediction, texts in zip(predictions, references)
    ]


def _describe_tokens(references: References) -> str:
    return "by character" * any(map(_compile_unspaced().search, chain.from_iterable(references)))


def _list_rates(meaning: str, count: _Count) -> Iterator[Metric]:
    """Yield the metrics for the error rate of a whole corpus and for the mean of the error rates of its strings."""
    rates = partial(_take_best, partial(_compute_rate, count), min, 1.0)
    source = "jiwer, https://github.com/jitsi/jiwer"
    short, kind = meaning[0] + "er", f"{meaning} error rate, the lowest over the references; 0 is best; it can exceed 1"
    infinite = float("inf")
    yield Metric(short, f"{kind}; of all texts together", source, rates, infinite, True, partial(_count_all, count))
    yield Metric(f"mean_{short}", f"{kind}; the mean over the texts", source, rates, infinite, True)


def _list_matches(kind: str, *answers: Any) -> list[float]:
    """Return 1.0 for each answer with a match of the given kind, "exact" or "contains", and 0.0 for the others."""
    return list(map(float, getattr(find_matches(*answers), kind)))


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "f1",
            "F1 of the words (Chinese, Japanese, Thai: of the characters), the best over the references",
            "SQuAD 2.0, https://rajpurkar.github.io/SQuAD-explorer (evaluate's metrics squad and squad_v2)",
            partial(_take_best, score_f1, max, 0.0),
            describe=_describe_tokens,
        ),
        *_list_rates("character", count_characters),
        *_list_rates("word", count_words),
        Metric(
            "vqa_accuracy",
            "min(1, equal references / 3), averaged over leaving out each of ten references",
            "VQA, https://visualqa.org/evaluation.html",
            _compute_vqa,
            least_references=4,
        ),
        Metric(
            "relaxed",
            "numbers within 5%, other strings equal except for case",
            "ChartQA, https://arxiv.org/abs/2203.10244, section 5.1, as Qwen-VL and lmms-eval compute it",
            partial(_take_best, is_relaxed_match, max, 0.0),
        ),
        Metric(
            "exact_match",
            "equals a reference after normalization",
            "the variant that scores the set",
            partial(_list_matches, "exact"),
        ),
        Metric(
            "contains",
            "contains a reference as whole words",
            "the variant that scores the set",
            partial(_list_matches, "contains"),
        ),
    )
}
