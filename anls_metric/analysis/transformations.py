r"""Finds transformations that raise a score: of the predictions, of the accepted answers, or of both.

Each one is tried on a sample of the wrong answers and on as many right ones, which it could spoil. Extraction rules are
transformations, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from math import ceil, sqrt
from typing import Any, NamedTuple

from anls_metric.analysis.scored import MIN_GAIN, Scored, score_under
from anls_metric.core.variants import Scorer, Variant
from anls_metric.reading.answers import list_references
from anls_metric.reading.extract import CERTAIN, EXTRACTORS, Extraction, Extractor, extractor
from anls_metric.reading.values import parse_value_or_text

MAX_CASES = 256
MAX_CHARACTERS = 1_000_000  # of long model output, fewer answers are in the sample
MIN_UNCERTAIN_GAIN = 0.02
MIN_SHARE = 0.01  # of the answers, which a transformation must repair:
NEARLY_RIGHT = 0.9  # then they have at least this score

Change = Callable[[str], str]


def _keep(value: Any) -> Any:
    return value


class Transformation(NamedTuple):
    r"""What could have happened to strings before they were scored, and what undoes it: a row of `TRANSFORMATIONS`.

    Attributes:
        name: the name.
        sentence: what is wrong, after the number of answers.
        remedy: what to do.
        marks: it changes nothing if the answers contain none of these. Each string has "\0" before and after it.
        prediction: the transformation of a prediction.
        references: the transformation of the accepted answers of a question.
        is_certain: whether correct answers never look like this by chance.
        value: the value of the option in the remedy.
    """

    name: str
    sentence: str
    remedy: str
    marks: Sequence[str]
    prediction: Change = _keep
    references: Callable[[Sequence[str]], Sequence[str]] = _keep
    is_certain: bool = False
    value: str = ""


# What programs do to strings


def _replace(pattern: str, new: str | Callable[[re.Match[str]], str]) -> Change:
    """Make a function that replaces a pattern in a string."""
    return lambda text: re.sub(pattern, new, text)


def _decode_utf_8(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


def _normalize(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", text)


_PRINTED = r"""(?s)(?:[a-z_.]{1,12}\()?b?[\[({"'].*[\])}"']"""


def _read_printed(texts: Sequence[str]) -> list[str]:
    """Read the items of a printed list, or join characters."""
    if len(texts) > 3 and set(map(len, texts)) == {1}:
        return ["".join(texts)]
    if len(texts) > 1 or not re.fullmatch(_PRINTED, texts[0].strip()):
        return list(texts)
    items = map(str.strip, re.split(r"""[\[\](){}'",\\]+""", texts[0]))
    return list(filter(None, items)) or list(texts)


def _split(separator: str, texts: Sequence[str]) -> list[str]:
    parts = [part.strip() for text in texts for part in text.split(separator)]
    return list(filter(None, parts)) or list(texts)


def _of_both(
    name: str, sentence: str, remedy: str, marks: Sequence[str], change: Change, is_certain: bool = False
) -> Transformation:
    """Make a row that changes both sides alike."""
    return Transformation(name, sentence, remedy, marks, change, lambda texts: list(map(change, texts)), is_certain)


_SEPARATORS = (
    *("|||", "||", " | ", "|", ";", "；", "<OR>", "\n", r"\n", "\t", "<br>", "<sep>", "[SEP]", "###", "##", "::"),
    *(" / ", "/", " OR ", " or ", ", ", "、"),
)
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328\u3099\u309a"
_FULL_WIDTH = "".join(map(chr, range(0xFF01, 0xFF5F)))

TRANSFORMATIONS = (
    Transformation(
        "printed",
        "accepted answers look like printed lists, or single characters",
        'write them as lists of strings: ["a", "b"]',
        ("",),
        references=_read_printed,
    ),
    *(
        Transformation(
            "joined",
            "accepted answers look like several in one string",
            "split them with {use.references_separator:{value}}",
            (separator,),
            references=partial(_split, separator),
            value={"\n": r"\n", "\t": r"\t"}.get(separator, separator),
        )
        for separator in _SEPARATORS
    ),
    _of_both(
        "floats",
        'answers are whole numbers, and floats on one side ("15.0" for "15")',
        "write them as strings",
        (".0\0",),
        _replace(r"^(-?\d+)\.0$", r"\1"),
    ),
    _of_both(
        "encoding",
        "answers are UTF-8 that was read in a different encoding (Ã© for é)",
        "read the original file as UTF-8",
        tuple(map(chr, range(0xC2, 0xF5))),
        _replace(_LATIN, _decode_utf_8),
        is_certain=True,
    ),
    _of_both(
        "characters",
        "answers encode accents or full-width characters in two ways",
        'normalize both sides with unicodedata.normalize("NFKC", text)',
        tuple(_ACCENTS + _FULL_WIDTH),
        _normalize,
        is_certain=True,
    ),
)


# The engine

Case = tuple[str, Sequence[Any], float]
"""A prediction, its accepted answers, and its score."""


class Part(NamedTuple):
    """Some of the wrong answers of a set, or some of the right ones. Each of the cases stands for `weight` answers."""

    cases: Sequence[Case]
    weight: float


class Sample(NamedTuple):
    """Answers of a set that are strings.

    Attributes:
        scorer: what scores them.
        total: the number of answers of the set.
        wrong: answers that score less than 1.
        right: answers that score 1.
    """

    scorer: Scorer
    total: int
    wrong: Part
    right: Part


class Trial(NamedTuple):
    """What a transformation does to a set, estimated from a sample.

    Attributes:
        row: the transformation.
        gain: by how much it raises the mean; 0 if it repairs too few answers.
        changed: the places in the sample of the wrong answers that it changes.
    """

    row: Transformation
    gain: float
    changed: set[int]


def take_sample(scored: Scored, wrong: Sequence[Case]) -> Sample:
    """Take some of the wrong answers, and of the right ones."""
    rows = zip(scored.answers.predictions, list_references(scored.answers), scored.answer_scores)
    right = [row for row in rows if row[2] == 1.0]
    return Sample(scored.scorer, len(scored.answer_scores), _spread(wrong), _spread(right))


def _spread(some: Sequence[Case]) -> Part:
    """Take answers that are strings, evenly spread."""
    cases = [case for case in some if isinstance(case[0], str)]
    size = max(len(cases) / MAX_CASES, sum(len(case[0]) for case in cases) / MAX_CHARACTERS)
    spread = cases[:: ceil(size) or 1]
    return Part(spread, len(cases) / (len(spread) or 1))


def find_transformations(sample: Sample, rules: Sequence[str]) -> Iterator[Trial]:
    """Find the transformations that raise the mean, the best one first, without others that change the same answers.

    Args:
        sample: the answers.
        rules: the extraction rules in use.
    """
    trials = _find_chain(sample, rules)
    if isinstance(sample.scorer, Variant):
        strings = (text for part in sample[2:] for case in part.cases for text in (case[0], *case[1]))
        text = "\0".join(["", *strings, ""])
        trials += [_try(sample, row) for row in TRANSFORMATIONS if any(mark in text for mark in row.marks)]
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
    scores = _rescore(sample.scorer, row, sample.wrong)
    pairs = [(after, sample.wrong.cases[place][2]) for place, after in scores.items()]
    repaired = sum(after > before and after >= NEARLY_RIGHT for after, before in pairs)
    gain = 0.0
    if sample.wrong.weight * repaired >= least:
        gains = sample.wrong.weight * sum(after - before for after, before in pairs)
        losses = sample.right.weight * sum(1.0 - after for after in _rescore(sample.scorer, row, sample.right).values())
        gain = (gains - losses) / sample.total
    return Trial(row, gain if gain >= enough else 0.0, set(scores))


def _rescore(scorer: Scorer, row: Transformation, part: Part) -> dict[int, float]:
    """Transform answers, and score those that change; return the new scores by place."""
    changed = {}
    for place, (text, references, _) in enumerate(part.cases):
        new = row.prediction(text), row.references(references)
        if new[0] != text or list(new[1]) != list(references):
            changed[place] = new
    texts, references = zip(*changed.values()) if changed else ((), ())
    try:
        return dict(zip(changed, map(float, scorer.score(list(map(_find_parser(scorer), texts)), references))))
    except ValueError:  # one is nested too deep
        return {}


def _find_parser(scorer: Scorer) -> Callable[[str], Any]:
    return _keep if isinstance(scorer, Variant) else parse_value_or_text


def score_after(scored: Scored, row: Transformation) -> float:
    """Compute the score of the whole set after a transformation."""
    answers, parse = scored.answers, _find_parser(scored.scorer)
    predictions = [parse(row.prediction(each)) if isinstance(each, str) else each for each in answers.predictions]
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
    singles = [rule for rule in _list_rules(sample) if rule.name not in rules]
    trials = [_try(sample, _make_row(rule)) for rule in singles]
    enough = MIN_SHARE_OF_CHAIN * sample.total
    firsts = [rule for rule, trial in zip(singles, trials) if sample.wrong.weight * len(trial.changed) >= enough]
    trials += [_try(sample, _make_row(first, second)) for first in firsts for second in singles if first is not second]
    return sorted(trials, key=lambda trial: MIN_GAIN * ("," in trial.row.value) - trial.gain)[:1]


def _list_rules(sample: Sample) -> list[Extractor]:
    """List the rules that may find something, then rules with the most common values of their options."""
    text = "\0".join([case[0] for case in sample.wrong.cases])
    names = [name for name, rule in EXTRACTORS.items() if any(mark in text for mark in rule.marks)]
    for name in list(names):
        option = _OPTIONS.get(EXTRACTORS[name].option)
        values = Counter(re.findall(option, text) if option else ())
        names += [f"{name}:{value}" for value, _ in values.most_common(_MAX_VALUES)]
    rules = [extractor(name, values=not isinstance(sample.scorer, Variant)).rules[0] for name in names]
    return [rule._replace(extract=cache(rule.extract)) for rule in rules]


def _make_row(*rules: Extractor) -> Transformation:
    """Make the row of extraction rules that are applied one after the other."""
    extraction = Extraction(rules)
    return Transformation(
        "extract",
        "predictions look like raw model output",
        "extract the answers with {use.extract:{value}}",
        (),
        extraction.__call__,
        is_certain=all(rule.name.partition(":")[0] in CERTAIN for rule in rules),
        value=extraction.signature,
    )
