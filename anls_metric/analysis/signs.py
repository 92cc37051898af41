"""A table of signs that a score depends on how a file is written rather than on how well the questions are answered."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import chain, repeat

from anls_metric.analysis.evidence import Case, Evidence
from anls_metric.analysis.extraction_search import find_rules
from anls_metric.analysis.joined_signs import JOINED_SIGNS
from anls_metric.analysis.outcomes import Judge, refuses, stands_in
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.analysis.sign import Findings, Sign, each
from anls_metric.analysis.spelling_signs import SPELLING_SIGNS
from anls_metric.core.rows import describe
from anls_metric.reading import remedies
from anls_metric.reading.extract import CERTAIN, EXTRACTORS, extractor
from anls_metric.reading.values import parse_value_or_text

# The whole file


def _find_copies(evidence: Evidence) -> Findings:
    fields = f" (other fields of text: {', '.join(evidence.other_fields)})" if evidence.other_fields else ""
    return dict.fromkeys(range(evidence.total), fields) if evidence.all_copied else {}


def _find_unmarked(evidence: Evidence) -> Findings:
    """Find the predictions without the text that the rule of a benchmark expects before the answer."""
    marker = getattr(evidence.scorer, "marker", "")
    unmarked = (case.number for case in evidence.wrong if marker not in str(case.prediction))
    return dict.fromkeys(unmarked, marker)


def _find_misplaced(evidence: Evidence) -> Findings:
    """Find accepted answers of other questions, if chance does not explain how many of them are predictions."""
    wrong = evidence.wrong
    asked: dict[str, set[int]] = defaultdict(set)
    for case in wrong:
        for reference in case.references:
            asked[reference].add(case.number)
    places = {case.number: asked.get(case.prediction, set()) for case in wrong if case.score == 0.0 and case.prediction}
    elsewhere = [number for number in places if places[number]]
    if len(elsewhere) <= 0.3 * len(places):
        return {}
    before, after = ([number for number in places if number + step in places[number]] for step in (-1, 1))
    for numbers, others, side in (before, after, "before"), (after, before, "after"):
        if len(numbers) > max(0.3 * len(places), 3 * len(others)):  # neighbouring questions can share an answer
            return dict.fromkeys(numbers, f"the question right {side} theirs")
    common = sum(any(len(asked[reference]) > 1 for reference in case.references) for case in wrong)
    chance = common / len(wrong)
    return dict.fromkeys(elsewhere if len(elsewhere) > max(0.5, 2 * chance) * len(places) else (), "another question")


def _find_stuck(evidence: Evidence) -> Findings:
    """Find the predictions that repeat the one before, unless most of them are one frequent text."""
    stuck = {case.number: case.prediction for case in evidence.wrong if case.number in evidence.stuck}
    most = max(Counter(stuck.values()).values(), default=0)
    return dict.fromkeys(stuck if 2 * most <= len(stuck) else (), "")


# Wrapped predictions


def _find_wrapped(evidence: Evidence) -> Findings:
    """Find the predictions that rules change, if that adds a point to the score, or more for few predictions."""
    proposal = find_rules(evidence, least=0.01) if len(evidence.wrong) >= min(3, 0.2 * evidence.total) else None
    if not proposal:
        return {}
    many = len(proposal.changed) >= 0.2 * evidence.total
    return dict.fromkeys(proposal.changed if many or proposal.gain >= 0.4 / evidence.total**0.5 else (), proposal.rules)


_THINK = EXTRACTORS["think"]
# Rules for what a model or its chat template writes, and no document shows.
_OF_MODELS = [EXTRACTORS[name] for name in ("think", "tag", "boxed", "special-tokens", "chat", "harmony")]


def _find_wrapped_gold(evidence: Evidence) -> Findings:
    """Find accepted answers with reasoning, tags or tokens of a model, in training data for example."""
    cases = [*evidence.wrong, *evidence.right]
    texts = "\0".join(chain.from_iterable(case.references for case in cases))
    if not any(mark in texts for mark in chain.from_iterable(rule.marks for rule in _OF_MODELS)):
        return {}
    wrapped = {
        case.number: text
        for case in cases
        for text in case.references
        if any(rule.find(text) is not None for rule in _OF_MODELS)
    }
    return dict.fromkeys(wrapped, _quote(next(iter(wrapped.values()))) if wrapped else "")


def _find_certainly_wrapped(names: Sequence[str], evidence: Evidence) -> Findings:
    """Find the predictions to which one of these rules applies, if rules add a tenth to their scores."""
    rules = [EXTRACTORS[name] for name in names]
    marks = chain.from_iterable(rule.marks for rule in rules)
    findings = each(lambda case: any(rule.find(case.prediction) is not None for rule in rules), *marks)(evidence)
    best = find_rules(evidence.only(findings)) if findings else None
    helps = best is not None and best.gain * evidence.total >= 0.1 * len(best.changed)
    return dict.fromkeys(best.changed, best.rules) if best and helps else {}


def _is_unfinished(case: Case) -> bool:
    return _THINK.find(case.prediction) == ""


_OBJECT = r"""\s*(?:```\w*\s*)?(?:\[\s*)?\{\s*["']"""


def _is_cut_off(text: str) -> bool:
    """Whether a text begins an object, or a list of objects, that does not end."""
    is_open = text.count("{") > text.count("}") or text.count("[") > text.count("]")
    return is_open and re.match(_OBJECT, text) is not None


def _is_cut_off_json(case: Case) -> bool:
    return _is_cut_off(case.prediction) and not any(re.match(_OBJECT, text) for text in case.references)


# Predictions that are no answers

NULLS = frozenset(["nan", "NaN", "None", "null", "NULL", "<NA>", "N/A", "n/a", "#N/A", "NaT", "undefined"])
"""The texts that programs write for missing values."""


def _find_nulls(evidence: Evidence) -> Findings:
    """Find the texts for missing values, unless the same text, in any case, is right for some question."""
    nulls = [case for case in evidence.wrong if isinstance(case.prediction, str) and case.prediction in NULLS]
    respelled = [case for case in nulls if case.prediction.lower() in [str(text).lower() for text in case.references]]
    right = evidence.right_nulls.union(case.prediction for case in respelled)
    lost = {case.number: case.prediction for case in nulls if case.prediction not in right}
    return dict.fromkeys(lost, " or ".join(f'"{text}"' for text in sorted(set(lost.values()))))


_GOLD_NULLS = NULLS - {"None", "N/A", "n/a"}  # these are also answers
PADDING = _GOLD_NULLS | {""}
"""The texts that fill up a list of accepted answers, if all lists have the same length."""


_FAILURES = (
    r"(?i)\A(?:error\Z|(?:error|exception)\b ?:|error code\b|traceback \(|#(?:ref|value|div/0|num|null)!|#name\?)"
    r"|\b(?:failed to obtain answer|cuda out of memory|connection (?:error|refused|reset)|internal server error"
    r"|too many requests|rate limit (?:reached|exceeded)|request timed out)\b"
)
_MARKS_OF_FAILURES = [
    "rror",
    "RROR",
    "xception",
    "raceback",
    "#",
    "memory",
    "onnection",
    "requests",
    "imit",
    "timed out",
    "Failed to obtain",
]


def _find_failures(evidence: Evidence) -> Findings:
    """Find messages of failed requests and formulas, unless the same text is an accepted answer."""
    if not any(mark in evidence.text for mark in _MARKS_OF_FAILURES):
        return {}
    failed = [case for case in evidence.wrong if re.search(_FAILURES, case.prediction.strip())]
    accepted = {text for case in (*evidence.wrong, *evidence.right) for text in case.references} if failed else ()
    failed = [case for case in failed if case.prediction not in accepted]
    return dict.fromkeys((case.number for case in failed), _quote(failed[0].prediction) if failed else "")


def _find_gold_nulls(evidence: Evidence) -> Findings:
    """Find accepted answers that are only texts for missing values and never right."""
    nulls = _GOLD_NULLS.difference(*(case.references for case in evidence.right))
    lost = {case.number for case in evidence.wrong if nulls.issuperset(case.references)}
    texts = {text for case in evidence.wrong if case.number in lost for text in case.references}
    return dict.fromkeys(lost, " or ".join(f'"{text}"' for text in sorted(texts)))


def _find_accepted_empty(evidence: Evidence) -> Findings:
    """Find predictions, unless they are few, that are right because "" or "nan" pads a list of accepted answers."""
    cases = [case for case in evidence.right if case.prediction in PADDING and not PADDING.issuperset(case.references)]
    padded = [case.number for case in cases]
    texts = " or ".join(f'"{text}"' for text in sorted({case.prediction for case in cases}))
    return dict.fromkeys(padded if len(padded) >= 0.02 * evidence.total else (), texts)


def _find_categories(evidence: Evidence) -> Findings:
    """Find accepted answers that are a few texts again and again, where predictions differ and all score 0."""
    wrong = [case for case in evidence.wrong if case.score == 0.0]
    counts = Counter(chain.from_iterable(set(case.references) for case in wrong))
    differ = len({case.prediction for case in wrong}) >= 0.5 * len(wrong)
    if evidence.right_count or not differ or len(counts) > 0.2 * len(wrong):
        return {}
    return dict.fromkeys((case.number for case in wrong), ", ".join(_quote(text) for text, _ in counts.most_common(3)))


def _find_repeated(evidence: Evidence) -> Findings:
    """Find predictions that are frequent, almost never accepted, and no refusal to answer."""
    counts = Counter(case.prediction for case in evidence.wrong)
    often = {text for text, count in counts.items() if count >= 0.05 * evidence.total and text.strip()}
    often = {text for text in often if not refuses(text)}
    accepted: Counter[str] = Counter()
    for cases, weight in ((evidence.wrong, 1), (evidence.right, evidence.right_count // max(1, len(evidence.right)))):
        for case in cases if often else ():
            accepted.update(dict.fromkeys(often.intersection(case.references), weight))
    often = {text for text in often if 10 * accepted[text] <= counts[text]}
    return {case.number: _quote(case.prediction) for case in evidence.wrong if case.prediction in often}


def _quote(text: str) -> str:
    return describe(text).removesuffix(" (str)")


def _is_empty(case: Case) -> bool:
    text = case.prediction
    return text in ([], {}) or (isinstance(text, str) and not text.strip())


def _is_first_character(case: Case) -> bool:
    text = case.prediction
    is_first = len(text) == 1 and any(reference.startswith(text) for reference in case.references)
    return is_first and not is_any_same_value(text, case.references)


# Words around the answer that no rule removes


def _find_surplus(evidence: Evidence) -> Findings:
    """Find the predictions that contain an accepted answer among other words, begin or end alike, or repeat words."""
    normalize, wrong = Judge(evidence.scorer).normalize, evidence.wrong
    containing = [
        case
        for case in wrong
        if any(map(stands_in, map(normalize, case.references), repeat(normalize(case.prediction))))
    ]
    if len(containing) >= 0.05 * evidence.total + evidence.total**0.5:  # good models have up to a twentieth
        alike, words = _find_shared_words(containing, len(containing) // 2 + 1)
        words = f"contain an accepted answer among other words{words and f' ({len(alike):,} {words})'}"
        return dict.fromkeys((case.number for case in containing), words)
    alike, words = _find_shared_words(wrong, evidence.total // 2 + 1)
    if alike:
        return dict.fromkeys((case.number for case in alike), f"{words}, and their accepted answers do not")
    return {case.number: "repeat the same words" for case in wrong if _repeats_itself(case.prediction)}


def _find_shared_words(cases: Sequence[Case], least: int) -> tuple[list[Case], str]:
    """Find enough predictions that begin alike, or end alike, with words that are not in their accepted answers."""
    for verb, step in ("begin", 1), ("end", -1):
        texts = sorted(case.prediction.strip()[::step][:100] for case in cases)
        # In sorted texts, the words that the first and the last of a window share are shared by all of the window.
        words = max(map(_find_common_words, texts, texts[least - 1 :]), key=len, default="")
        alike = [case for case in cases if words and case.prediction.strip()[::step].startswith(words)]
        accepted = sum(any(words[::step] in text for text in case.references) for case in alike)
        if alike and 5 * accepted <= len(alike):
            return alike, f"{verb} with {_quote(words[::step])}"
    return [], ""


def _find_common_words(first: str, second: str) -> str:
    """Find the words with which both texts begin, unless they are the whole first text."""
    length = next(
        (place for place, (letter, other_letter) in enumerate(zip(first, second)) if letter != other_letter), len(first)
    )
    common = first[:length]
    if common[-1:].isalnum() and any(text[length : length + 1].isalnum() for text in (first, second)):
        common = "".join(re.split(r"(\W)", common)[:-1])  # drops a cut-off word
    return "" if common == first else common.strip()


def _repeats_itself(text: str) -> bool:
    """Whether every sequence of three words occurs three times or more."""
    words = text.split()
    return len(words) >= 5 and 3 * len(set(zip(words, words[1:], words[2:]))) <= len(words)


# Lists and nested values

_find_value = extractor("json", values=True)


def _is_broken(case: Case) -> bool:
    """Whether a list or an object is accepted, and the model began one and did not end it."""
    text, accepted = case.raw, case.references
    if not isinstance(text, str) or not any(isinstance(value, (list, dict)) for value in accepted):
        return False
    holds_none = ("{" in text or "[" in text) and isinstance(parse_value_or_text(_find_value(text)), str)
    return holds_none or _is_cut_off(text)


def _has_filled_keys(case: Case) -> bool:
    if not isinstance(case.prediction, dict) or not all(isinstance(value, dict) for value in case.references):
        return False
    known = set(chain.from_iterable(case.references))
    return any(value is None and key not in known for key, value in case.prediction.items())


# The tables. A prediction counts for one hint only: the first one.

_WRITE_MORE = "raise the token limit of the model"

_COPIES = Sign(
    "copies",
    _find_copies,
    "predictions equal an accepted answer exactly, as if the gold file had been copied{value}",
    remedies.ANOTHER_PREDICTION_FIELD,
    least=20,
)
_WRAPPED = Sign("wrapped", _find_wrapped, "predictions look like raw model output", remedies.EXTRACT)
_NULLS = Sign(
    "nulls",
    _find_nulls,
    "predictions are {value}, which programs write for missing values",
    "look for the step that lost these answers",
)
_EMPTY = Sign("empty", each(_is_empty), "predictions are empty", remedies.ANOTHER_PREDICTION_FIELD, 0.9)

VALUE_SIGNS = (
    _COPIES,
    Sign("broken", each(_is_broken), "predictions begin a list or an object but are not valid JSON", _WRITE_MORE),
    _WRAPPED,
    _NULLS,
    _EMPTY,
    Sign(
        "filled keys",
        each(_has_filled_keys),
        "predictions have keys without a value that no accepted answer has",
        remedies.NONE_KEYS,
        0.2,
    ),
)

RULE_SIGNS = (
    Sign(
        "no marker",
        _find_unmarked,
        'predictions have no "{value}", without which the rule scores 0',
        remedies.WHOLE_OUTPUT,
        0.1,
    ),
)

SIGNS = (
    _COPIES,
    Sign(
        "wrapped answers of gold",
        _find_wrapped_gold,
        "accepted answers look like raw model output, such as {value}",
        "write only the answer there, because extraction rules change only predictions",
        0.05,
    ),
    _WRAPPED,
    Sign(
        "reasoning",
        partial(_find_certainly_wrapped, ["think"]),
        "predictions contain reasoning, such as <think>..</think>",
        remedies.EXTRACT,
    ),
    Sign(
        "some wrapped",
        partial(_find_certainly_wrapped, [name for name in CERTAIN if name != "think"]),
        "predictions look like raw model output",
        remedies.EXTRACT,
    ),
    Sign(
        "unfinished",
        each(_is_unfinished, *_THINK.marks),
        "predictions contain reasoning but no answer after it",
        _WRITE_MORE,
    ),
    Sign("cut off", each(_is_cut_off_json, "{"), "predictions are JSON that is cut off", _WRITE_MORE),
    _NULLS,
    Sign(
        "failures",
        _find_failures,
        "predictions are messages about errors, such as {value}",
        "ask the model these questions again, or leave these answers empty",
        least=2,
    ),
    Sign(
        "nulls of gold",
        _find_gold_nulls,
        "accepted answers are {value}, which programs write for missing values",
        "look for the step that lost these accepted answers",
    ),
    Sign(
        "accepted empty",
        _find_accepted_empty,
        "predictions are {value} and right, because a list of accepted answers holds this text beside others",
        "remove such texts, unless they are answers",
    ),
    *JOINED_SIGNS,
    *SPELLING_SIGNS,
    _EMPTY,
    Sign(
        "misplaced",
        _find_misplaced,
        "predictions are an accepted answer of {value}",
        "check that each prediction has the id of its own question; without ids, both sides need the same order",
        least=10,
    ),
    Sign(
        "repeated",
        _find_repeated,
        "predictions are the same wrong answer, {value}",
        "if the model did not give it, check the program that wrote the file: it may write this text after an error",
        0.2,
        least=10,
    ),
    Sign(
        "first character",
        each(_is_first_character),
        "predictions are the first character of an accepted answer",
        "check whether a program takes the first character of each text, as text[0] does",
        0.2,
        least=10,
    ),
    Sign(
        "stuck",
        _find_stuck,
        "predictions are wrong and repeat the prediction before",
        "check the program that wrote them, because it may write one answer for several questions",
        0.1,
        least=10,
    ),
    Sign(
        "surplus",
        _find_surplus,
        "predictions {value}",
        "no extraction rule helps: ask the model for only the answer",
        0.1,
    ),
    Sign(
        "categories",
        _find_categories,
        "accepted answers are the same few texts ({value}), and no prediction is one of them",
        remedies.REFERENCES_FIELD,
        0.9,
        least=20,
    ),
)
