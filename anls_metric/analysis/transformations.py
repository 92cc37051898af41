r"""Finds transformations that raise a score when they are applied to the predictions, to the references, or to both.

Each one is tried on a sample of the wrong answers and on as many right ones, which it could spoil. Extraction rules are
transformations, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import permutations
from math import ceil, sqrt
from operator import itemgetter
from typing import Any, NamedTuple

from anls_metric.analysis.scored import MIN_GAIN, Scored, score_under
from anls_metric.core.extraction.extract import CERTAIN, EXTRACTORS, extractor
from anls_metric.core.scorer import Scorer
from anls_metric.reading.answers import list_references

MAX_CASES = 256
MAX_CHARACTERS = 1_000_000  # of long model output, fewer answers are in the sample
MIN_UNCERTAIN_GAIN = 0.02
MIN_SHARE = 0.01  # of the answers, which a transformation must repair:
NEARLY_RIGHT = 0.9  # then they have at least this score

Change = Callable[[str], Any]


def _keep(value: Any) -> Any:
    return value


class Transformation(NamedTuple):
    r"""A change that strings may have undergone before they were scored, and what undoes it: a row of
    `TRANSFORMATIONS`.

    Attributes:
        name: the name.
        sentence: what is wrong, after the number of answers.
        remedy: what to do.
        prediction: the transformation of a prediction.
        references: the transformation of the accepted answers of a question.
        mark: it changes nothing in answers without this string.
        is_certain: whether correct answers never look like this by chance.
        value: the value of the option in the remedy.
    """

    name: str
    sentence: str
    remedy: str
    prediction: Change = _keep
    references: Callable[[Sequence[str]], Sequence[str]] = _keep
    mark: str = ""
    is_certain: bool = False
    value: str = ""


# What programs do to strings


def _decode_utf_8(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


def _normalize(match: re.Match[str]) -> str:
    import unicodedata  # a megabyte of tables, which most runs do not need

    return unicodedata.normalize("NFKC", match[0])


_PRINTED = r"""(?s)(?:[a-z_.]{1,12}\()?b?[\[({"'].*[\])}"']"""


def _read_printed(texts: Sequence[str]) -> Sequence[str]:
    """Read the items of a printed list, or join single characters."""
    if len(texts) > 3 and set(map(len, texts)) == {1}:
        return ["".join(texts)]
    is_printed = len(texts) == 1 and re.fullmatch(_PRINTED, texts[0].strip())
    return _split(r"""[\[\](){}'",\\]+""", texts) if is_printed else texts


def _split(separator: str, texts: Sequence[str]) -> Sequence[str]:
    """Split strings at a pattern."""
    parts = [part.strip() for text in texts for part in re.split(separator, text)]
    return list(filter(None, parts)) or texts


def _replace(pattern: str, new: str | Callable[..., str]) -> tuple[Change, Callable[..., Sequence[str]]]:
    """Make the transformations of both sides that replace a pattern."""
    change = partial(re.sub, pattern, new)
    return change, lambda texts: list(map(change, texts))


_SEPARATORS = (
    *("|||", "||", " | ", "|", ";", "；", "<OR>", "\n", r"\n", "\t", "<br>", "<sep>", "[SEP]", "###", "##", "::"),
    *(" / ", "/", " OR ", " or ", ", ", "、"),
)
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
_TWO_WAYS = "(?s:.)[\u0300-\u036f\u3099\u309a]+|[\uff01-\uff5e]+"  # a letter with its accents, full-width characters

TRANSFORMATIONS = (
    Transformation(
        "printed",
        "references look like printed lists, or single characters",
        'write them as lists of strings: ["a", "b"]',
        references=_read_printed,
    ),
    *(
        Transformation(
            "joined",
            "references look like several in one string",
            "split them with {use.references_separator:{value}}",
            references=partial(_split, re.escape(separator)),
            mark=separator,
            value={"\n": r"\n", "\t": r"\t"}.get(separator, separator),
        )
        for separator in _SEPARATORS
    ),
    Transformation(
        "floats",
        'answers are whole numbers, and floats on one side ("15.0" for "15")',
        "write them as strings",
        *_replace(r"^(-?\d+)\.0$", r"\1"),
        mark=".0",
    ),
    Transformation(
        "encoding",
        "answers are UTF-8 that was read in a different encoding (Ã© for é)",
        "read the original file as UTF-8",
        *_replace(_LATIN, _decode_utf_8),
        is_certain=True,
    ),
    Transformation(
        "characters",
        "answers encode accents or full-width characters in two ways",
        'normalize both sides with unicodedata.normalize("NFKC", text)',
        *_replace(_TWO_WAYS, _normalize),
        is_certain=True,
    ),
    Transformation(
        "digits",
        "answers have the digits of another script (\u0663 for 3)",
        "write both sides with the digits 0 to 9",
        *_replace(r"(?![0-9])\d", lambda match: str(int(match[0]))),
        is_certain=True,
    ),
    Transformation(
        "spaces",
        'answers have spaces between tokens on one side ("$ 1,200" for "$1,200")',
        "join the tokens as the tokenizer of the model does",
        *_replace(r"\s+", ""),
    ),
)


# The engine


class SampledAnswer(NamedTuple):
    """An answer from a set. In a sample, it represents `weight` answers."""

    prediction: Any
    references: Sequence[Any]
    score: float
    weight: float = 1.0


class Sample(NamedTuple):
    """The string answers of a set.

    Attributes:
        scorer: what scores them.
        total: the number of answers of the set.
        wrong: answers that score less than 1.
        right: answers that score 1.
    """

    scorer: Scorer
    total: int
    wrong: Sequence[SampledAnswer]
    right: Sequence[SampledAnswer]


class Trial(NamedTuple):
    """The effect of a transformation on a set, estimated from a sample.

    Attributes:
        row: the transformation.
        gain: by how much it raises the mean; 0 if it repairs too few answers.
        changed: the places in the sample of the wrong answers that it changes.
        number: the number of wrong answers that it changes.
    """

    row: Transformation
    gain: float
    changed: set[int]
    number: float


def _spread(rows: Iterable[tuple[Any, ...]]) -> list[SampledAnswer]:
    """Take answers that are strings, evenly spread, from rows with the first fields of `SampledAnswer`."""
    texts = [row for row in rows if isinstance(row[0], str)]
    size = max(len(texts) / MAX_CASES, sum(len(row[0]) for row in texts) / MAX_CHARACTERS)
    some = texts[:: ceil(size) or 1]
    return [SampledAnswer(row[0], row[1], row[2], len(texts) / len(some)) for row in some]


def find_transformations(scored: Scored, wrong: Sequence[SampledAnswer]) -> Iterator[Trial]:
    """Find the transformations that raise the mean, the best first. Those that mostly change the same answers as a
    better one are left out.

    Args:
        scored: the answers.
        wrong: those that score less than 1.
    """
    rows = zip(scored.answers.predictions, list_references(scored.answers), scored.answer_scores)
    right = (row for row in rows if row[2] == 1.0)
    sample = Sample(scored.scorer, len(scored.answer_scores), _spread(wrong), _spread(right))
    trials = _find_chain(sample, scored.settings.extract or ())
    if scored.scorer.scores_strings:
        text = "\0".join(text for case in sample.wrong for text in (case.prediction, *case.references))
        trials += [_try(sample, row) for row in TRANSFORMATIONS if row.mark in text]
    seen: set[int] = set()
    for trial in sorted(trials, key=lambda trial: -trial.gain):
        if trial.gain and 2 * len(trial.changed - seen) > len(trial.changed):
            seen |= trial.changed
            yield trial


def _try(sample: Sample, row: Transformation) -> Trial:
    """Try a transformation. It must raise the mean of the set, and make enough answers right, or nearly so.

    The answers of good models have some periods, quotation marks and sentences, too, so that uncertain transformations
    need more.
    """
    least, enough = MIN_SHARE * sample.total, MIN_GAIN
    if not row.is_certain:
        least = max(least, min(sample.total / 2, 2 + 0.4 * sqrt(sample.total)))
        enough = MIN_UNCERTAIN_GAIN
    changed = _rescore(sample.scorer, row, sample.wrong)
    repaired = sum(case.weight for case, after in changed.values() if after > case.score and after >= NEARLY_RIGHT)
    gain = 0.0
    if repaired >= least:
        both = (*changed.values(), *_rescore(sample.scorer, row, sample.right).values())
        gain = sum(case.weight * (after - case.score) for case, after in both) / sample.total
    number = sum(case.weight for case, _ in changed.values())
    return Trial(row, gain if gain >= enough else 0.0, set(changed), number)


def _rescore(
    scorer: Scorer, row: Transformation, cases: Sequence[SampledAnswer]
) -> dict[int, tuple[SampledAnswer, float]]:
    """Transform answers, and score those that change; return them with their new scores by place."""
    changed, predictions, references = {}, [], []
    for place, case in enumerate(cases):
        prediction, accepted = row.prediction(case.prediction), row.references(case.references)
        if [prediction, *accepted] != [case.prediction, *case.references]:
            changed[place] = case
            predictions.append(prediction)
            references.append(accepted)
    try:
        scores = scorer.score(predictions, references)
    except ValueError:  # one is nested too deeply
        return {}
    return {place: (case, float(score)) for (place, case), score in zip(changed.items(), scores)}


def score_after(scored: Scored, row: Transformation) -> float:
    """Compute the score of the whole set after a transformation."""
    answers = scored.answers
    predictions = [row.prediction(each) if isinstance(each, str) else each for each in answers.predictions]
    questions = answers.questions._replace(references=list(map(row.references, answers.questions.references)))
    return score_under(answers._replace(questions=questions), scored.scorer, predictions)


# Chains of extraction rules

_OPTIONS = {
    "field": r"""["']([^"',:\\\s](?:[^"',:\\\n]{0,38}[^"',:\\\s])?)["']\s{0,9}:""",
    "tag": r"</([\w.-]{1,40})>",
}
"""The option of a rule -> the pattern that finds its possible values in a string."""
_MAX_VALUES = 3
MIN_SHARE_OF_CHAIN = 0.05  # of the answers, which the first rule of a chain must change


def _find_chain(sample: Sample, rules: Sequence[str]) -> list[Trial]:
    """Find the chain of one or two extraction rules that helps most. A second rule must be worth a hint of its own."""
    finish = sample.scorer.read_answer
    names = [name for name in _list_rules([case.prediction for case in sample.wrong]) if name not in rules]
    extract = {name: cache(extractor(name, values=sample.scorer.reads_json)) for name in names}
    singles = {name: _try(sample, _make_row(extract, finish, name)) for name in names}
    pairs = [
        _try(sample, _make_row(extract, finish, first, second))
        for first, second in permutations(names, 2)
        if singles[first].number >= MIN_SHARE_OF_CHAIN * sample.total
    ]
    gains = [*((trial.gain, trial) for trial in singles.values()), *((trial.gain - MIN_GAIN, trial) for trial in pairs)]
    return [max(gains, key=itemgetter(0))[1]] if gains else []


def _list_rules(texts: Sequence[str]) -> list[str]:
    """List the rules that may find something, then rules with the most common values of their options."""
    text = "\0".join(texts)
    names = [name for name, rule in EXTRACTORS.items() if any(mark in text for mark in rule.marks)]
    for name in list(names):
        option = _OPTIONS.get(EXTRACTORS[name].option)
        values = Counter(re.findall(option, text) if option else ())
        names += [f"{name}:{value}" for value, _ in values.most_common(_MAX_VALUES)]
    return names


def _make_row(extract: Mapping[str, Change], finish: Change, *names: str) -> Transformation:
    """Make the row for extraction rules that are applied one after the other, followed by what reads a value."""

    def apply(text: str) -> Any:
        for name in names:
            text = extract[name](text)
        return finish(text)

    return Transformation(
        "extract",
        "predictions look like raw model output",
        "extract the answers with {use.extract:{value}}",
        apply,
        is_certain=all(name.partition(":")[0] in CERTAIN for name in names),
        value=",".join(names),
    )
