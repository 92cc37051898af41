r"""Finds transformations that raise a score: of the predictions, of the accepted answers, or of both.

Each one is tried on a sample of the wrong answers and on as many right ones, which it could spoil. Extraction rules are
transformations, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from math import ceil, sqrt
from typing import Any, NamedTuple

from anls_metric.analysis.scored import MIN_GAIN, Scored, score_under
from anls_metric.core.variants import Scorer, Variant
from anls_metric.reading.answers import list_references
from anls_metric.reading.extract import CERTAIN, EXTRACTORS, Extractor, extractor
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
    is_certain: bool = True
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


def _unescape_html(text: str) -> str:
    import html

    return html.unescape(text)


def _unquote(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)


def _normalize(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", text)


def _unwrap(texts: Sequence[str]) -> list[str]:
    return list(map(extractor("think,tag,boxed,special-tokens"), texts))


_PRINTED = r"""(?s)(?:[a-z_.]{1,12}\()?b?[\[({"'].*[\])}"']"""


def _read_printed(texts: Sequence[str]) -> list[str]:
    """Read the items of a printed list, or join characters."""
    if len(texts) > 3 and set(map(len, texts)) == {1}:
        return ["".join(texts)]
    if len(texts) > 1 or not re.fullmatch(_PRINTED, texts[0].strip()):
        return list(texts)
    return [item for each in re.split(r"""[\[\](){}'",\\]+""", texts[0]) if (item := each.strip())] or list(texts)


def _split(separator: str, texts: Sequence[str]) -> list[str]:
    parts = [part.strip() for text in texts for part in text.split(separator)] if separator in "".join(texts) else texts
    return list(filter(None, parts)) or list(texts)


def _of_references(
    name: str, sentence: str, remedy: str, marks: Sequence[str], change: Callable[[Sequence[str]], list[str]]
) -> Transformation:
    """Make a row that changes the accepted answers."""
    value = {"\n": r"\n", "\t": r"\t"}.get(marks[0], marks[0])
    return Transformation(name, sentence, remedy, marks, _keep, change, False, value)


def _of_both(
    name: str, sentence: str, remedy: str, marks: Sequence[str], change: Change, is_certain: bool = True
) -> Transformation:
    """Make a row that changes both sides alike."""
    return Transformation(name, sentence, remedy, marks, change, lambda texts: list(map(change, texts)), is_certain)


_SEPARATORS = (
    *("|||", "||", " | ", "|", ";", "；", "<OR>", "\n", r"\n", "\t", "<br>", "<sep>", "[SEP]", "###", "##", "::"),
    *(" / ", "/", " OR ", " or ", ", ", "、"),
)
_AS_STRINGS = "write them as strings"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328\u3099\u309a"
_FULL_WIDTH = "".join(map(chr, range(0xFF01, 0xFF5F)))

TRANSFORMATIONS = (
    _of_references(
        "wrapped",
        "accepted answers look like raw model output",
        "write only the answers there, since {use.extract} changes only predictions",
        ("</", "<|", r"\boxed", "<eos>"),
        _unwrap,
    ),
    _of_references(
        "printed",
        "accepted answers look like printed lists, or single characters",
        'write them as lists of strings: ["a", "b"]',
        ("",),
        _read_printed,
    ),
    *(
        _of_references(
            "joined",
            "accepted answers look like several in one string",
            "split them with {use.references_separator:{value}}",
            (separator,),
            partial(_split, separator),
        )
        for separator in _SEPARATORS
    ),
    _of_both(
        "floats",
        'answers are whole numbers, and floats on one side ("15.0" for "15")',
        _AS_STRINGS,
        (".0\0",),
        _replace(r"^(-?\d+)\.0$", r"\1"),
        is_certain=False,
    ),
    _of_both(
        "zeros",
        'answers lack leading zeros on one side ("42" for "00042")',
        _AS_STRINGS,
        ("\x000",),
        _replace(r"^0+(?=[1-9]\d*$)", ""),
        is_certain=False,
    ),
    _of_both(
        "shares",
        'answers are percentages, and shares on one side ("0.15" for "15%")',
        _AS_STRINGS,
        ("%\0",),
        _replace(r"^(-?\d+(?:\.\d+)?) ?%$", lambda match: f"{float(match[1]) / 100:.12g}"),
        is_certain=False,
    ),
    _of_both(
        "booleans",
        "answers are yes or no, and true or false on one side",
        _AS_STRINGS,
        ("rue\0", "RUE\0", "alse\0", "ALSE\0"),
        lambda text: {"true": "yes", "false": "no"}.get(text.lower(), text),
        is_certain=False,
    ),
    _of_both(
        "lost",
        "answers contain U+FFFD for lost characters on one side",
        "read the original file in its own encoding",
        ("\ufffd",),
        _replace("[^\0-\x7f]+", ""),
    ),
    _of_both(
        "encoding",
        "answers are UTF-8 that was read in a different encoding (Ã© for é)",
        "read the original file as UTF-8",
        tuple(map(chr, range(0xC2, 0xF5))),
        _replace(_LATIN, _decode_utf_8),
    ),
    _of_both(
        "characters",
        "answers encode accents or full-width characters in two ways",
        'normalize both sides with unicodedata.normalize("NFKC", text)',
        tuple(_ACCENTS + _FULL_WIDTH),
        _normalize,
    ),
    _of_both(
        "invisible",
        "answers contain invisible characters on one side",
        "remove them",
        tuple(_INVISIBLE),
        _replace(f"[{_INVISIBLE}]", ""),
    ),
    _of_both(
        "entities",
        "answers contain HTML entities on one side (&amp; for &)",
        "decode both sides with html.unescape",
        ("&",),
        _unescape_html,
    ),
    _of_both(
        "escapes",
        r"answers contain escaped characters on one side (\u00e9 for é)",
        "decode them with json.loads",
        (r"\u",),
        _replace(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16))),
    ),
    _of_both(
        "URLs",
        "answers contain URL escapes on one side (%20 for a space)",
        "decode both sides with urllib.parse.unquote",
        ("%2", "%3", "%C", "%E"),
        _unquote,
    ),
    _of_both(
        "tokens",
        "answers contain the marks of a tokenizer for spaces (Ġ or ▁)",
        "decode the output with the tokenizer",
        ("Ġ", "▁"),
        _replace("[Ġ▁]", " "),
    ),
)


# The engine

Case = tuple[str, Sequence[Any], float]
"""A prediction, its accepted answers, and its score."""


class Sample(NamedTuple):
    """Answers of a set that are strings.

    Attributes:
        scorer: what scores them.
        total: the number of answers of the set.
        wrong: answers that score less than 1.
        right: answers that score 1.
        wrong_weight: for how many answers of the set each of the wrong ones stands.
        right_weight: likewise.
    """

    scorer: Scorer
    total: int
    wrong: list[Case]
    right: list[Case]
    wrong_weight: float
    right_weight: float


class Trial(NamedTuple):
    """What a transformation does to a set, estimated from a sample.

    Attributes:
        row: the transformation.
        gain: by how much it raises the mean.
        changed: the places in the sample of the wrong answers that it changes.
    """

    row: Transformation
    gain: float
    changed: set[int]


def take_sample(scored: Scored) -> Sample:
    """Take wrong and right answers, evenly spread."""
    rows = zip(scored.answers.predictions, list_references(scored.answers), scored.answer_scores)
    cases = [row for row in rows if isinstance(row[0], str)]
    groups = [case for case in cases if case[2] < 1.0], [case for case in cases if case[2] == 1.0]
    copy = list if isinstance(scored.scorer, Variant) else _keep
    samples: list[Any] = []
    weights: list[float] = []
    for group in groups:
        size = max(len(group) / MAX_CASES, sum(len(case[0]) for case in group) / MAX_CHARACTERS)
        samples.append([(text, copy(accepted), score) for text, accepted, score in group[:: ceil(size) or 1]])
        weights.append(len(group) / (len(samples[-1]) or 1))
    return Sample(scored.scorer, len(scored.answer_scores), samples[0], samples[1], *weights)


def find_transformations(sample: Sample, rules: Sequence[str]) -> Iterator[Trial]:
    """Find the transformations that raise the mean, the best one first, without others that change the same answers.

    Args:
        sample: the answers.
        rules: the extraction rules in use.
    """
    trials = _find_chain(sample, rules)
    if isinstance(sample.scorer, Variant):
        strings = (text for cases in (sample.wrong, sample.right) for case in cases for text in (case[0], *case[1]))
        text = "\0".join(["", *strings, ""])
        trials += _try_all(sample, (row for row in TRANSFORMATIONS if any(mark in text for mark in row.marks)))
    seen: set[int] = set()
    for trial in sorted(trials, key=lambda trial: -trial.gain):
        if 2 * len(trial.changed - seen) > len(trial.changed):
            seen |= trial.changed
            yield trial


def _try_all(sample: Sample, rows: Iterable[Transformation]) -> list[Trial]:
    """Try transformations, and list those that are worth a hint.

    They must raise the mean of the set, and make enough answers right, or nearly so. The answers of good models have
    some periods, quotation marks and sentences, too, so that uncertain transformations need more.
    """
    trials = []
    for row in rows:
        least, enough = MIN_SHARE * sample.total, MIN_GAIN
        if not row.is_certain:
            least = max(least, min(sample.total / 2, 2 + 0.4 * sqrt(sample.total)))
            enough = MIN_UNCERTAIN_GAIN
        changed = _change(row, sample.wrong)
        gains = _measure(sample.scorer, changed)
        repaired = sum(gain > 0.0 and gain + case[2] >= NEARLY_RIGHT for gain, case in zip(gains, changed.values()))
        if sample.wrong_weight * repaired >= least:
            losses = _measure(sample.scorer, _change(row, sample.right))
            gain = (sample.wrong_weight * sum(gains) + sample.right_weight * sum(losses)) / sample.total
            trials += [Trial(row, gain, set(changed))] if gain >= enough else []
    return trials


def _change(row: Transformation, cases: Sequence[Case]) -> dict[int, Case]:
    """Transform answers; return those that change, by their places."""
    new = [(row.prediction(text), row.references(references), score) for text, references, score in cases]
    return {place: after for place, (before, after) in enumerate(zip(cases, new)) if before != after}


def _measure(scorer: Scorer, changed: Mapping[int, Case]) -> list[float]:
    """Measure by how much the scores of answers rise that were transformed; none if one is nested too deep."""
    texts, references, scores = zip(*changed.values()) if changed else ((), (), ())
    try:
        new = scorer.score(list(map(_find_parser(scorer), texts)), references)
    except ValueError:
        new = scores
    return [float(after) - before for after, before in zip(new, scores)]


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
    singles = [_make_row(rule) for rule in _list_rules(sample) if rule.name not in rules]
    enough = MIN_SHARE_OF_CHAIN * sample.total
    firsts = [row for row in singles if sample.wrong_weight * len(_change(row, sample.wrong)) >= enough]
    pairs = [_join(first, second) for first in firsts for second in singles if first is not second]
    trials = _try_all(sample, singles + pairs)
    return sorted(trials, key=lambda trial: MIN_GAIN * ("," in trial.row.value) - trial.gain)[:1]


def _list_rules(sample: Sample) -> Iterator[Extractor]:
    """List the rules that may find something, then rules with the most common values of their options."""
    text = "\0".join([case[0] for case in sample.wrong])
    names = [name for name, rule in EXTRACTORS.items() if any(mark in text for mark in rule.marks)]
    for name in list(names):
        option = _OPTIONS.get(EXTRACTORS[name].option)
        values = Counter(re.findall(option, text) if option else ())
        names += [f"{name}:{value}" for value, _ in values.most_common(_MAX_VALUES)]
    return (extractor(name, values=not isinstance(sample.scorer, Variant)).rules[0] for name in names)


def _make_row(rule: Extractor) -> Transformation:
    @cache
    def extract(text: str) -> str:
        answer = rule.find(text)
        return text if answer is None else answer

    sentence, remedy = "predictions look like raw model output", "extract the answers with {use.extract:{value}}"
    is_certain = rule.name.partition(":")[0] in CERTAIN
    return Transformation("extract", sentence, remedy, (), extract, is_certain=is_certain, value=rule.name)


def _join(first: Transformation, second: Transformation) -> Transformation:
    """Make a row that applies two extraction rules."""
    return first._replace(
        prediction=lambda text: second.prediction(first.prediction(text)),
        is_certain=first.is_certain and second.is_certain,
        value=f"{first.value},{second.value}",
    )
