"""Signs that several accepted answers are written as one text, or one text as several accepted answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from anls_metric.analysis.evidence import Case, Evidence
from anls_metric.analysis.sign import Findings, Sign, each
from anls_metric.reading import remedies
from anls_metric.reading.references import parse_references

_SEPARATORS = (
    "|||",
    "||",
    " | ",
    "|",
    ";",
    "；",
    "؛",
    "<OR>",
    "\n",
    r"\n",
    "\t",
    "<br>",
    "<br/>",
    "<sep>",
    "[SEP]",
    "###",
    "##",
    "::",
    " • ",
    "&&",
    "@@",
    "^",
)
_TYPED = {"\n": r"\n", "\t": r"\t"}  # as users write them
_BETWEEN_WORDS = (" / ", " OR ", " or ")
_INSIDE_ANSWERS = (" / ", "/", " or ", " OR ", ", ", "、", "~")  # separators that are also common inside an answer


def _find_joined(evidence: Evidence) -> Findings:
    """Find the accepted answers of which a part, between separators, fits the prediction."""
    return _find_parts(evidence, _SEPARATORS, lambda case, parts: evidence.is_better(case, case.prediction, parts))


def _find_perhaps_joined(evidence: Evidence) -> Findings:
    """Find the accepted answers of which a part equals the prediction, if few predictions hold the separator."""
    cases = [*evidence.wrong, *evidence.right]
    rare = [each for each in _INSIDE_ANSWERS if 5 * sum(each in case.prediction for case in cases) <= len(cases)]
    return _find_parts(evidence, rare, _equals_a_part)


def _equals_a_part(case: Case, parts: Sequence[str]) -> bool:
    return case.prediction.strip().lower() in map(str.lower, parts)


def _find_some_joined(evidence: Evidence) -> Findings:
    """Find the accepted answers of which a part equals the prediction, unless more are right as a whole."""
    separators = [*_SEPARATORS, *_BETWEEN_WORDS]
    findings = _find_parts(evidence, separators, _equals_a_part)
    counts = Counter(findings.values())
    of_each = evidence.right_count / max(1, len(evidence.right))  # the right predictions are a sample
    for separator in separators if findings else ():
        whole = of_each * sum(separator in text for case in evidence.right for text in case.references)
        typed = _TYPED.get(separator, separator)
        if counts[typed] < max(whole, 0.1 * evidence.total * (separator in _BETWEEN_WORDS)):
            findings = {number: value for number, value in findings.items() if value != typed}
    return findings


def _find_parts(evidence: Evidence, separators: Iterable[str], fits: Callable[[Case, Sequence[str]], bool]) -> Findings:
    joined: dict[int, str] = {}
    separators = [separator for separator in separators if separator in evidence.references]
    for case in evidence.wrong if separators else ():
        for separator in separators if len(case.references) == 1 else ():
            parts = [part.strip() for part in case.references[0].split(separator) if part.strip()]
            if len(parts) > 1 and fits(case, parts):
                joined[case.number] = _TYPED.get(separator, separator)
                break
    return joined


def _is_accepted_by_character(case: Case) -> bool:
    several = len(case.prediction.strip()) > 1  # otherwise the answers may be letters of choices
    return several and len(case.references) > 3 and set(map(len, case.references)) == {1}


_PRINTED = (
    r"""(?:frozenset|set|array|tensor|np\.str_)\(|b['"]|[\[(]?\{\s*['"]\w+['"]\s*:"""
    r"""|"[^"]*"(?:, ?"[^"]*")+$|'[^']*'(?:, ?'[^']*')+$|"\[.*\]"$"""
)
# A list without quotation marks, which can also be an answer like "[12]".
_BARE_LIST = r"""\{([^{}:'",]+,[^{}:'"]+)\}|\[([^\[\]'"]+)\]"""


def _is_printed(text: str) -> bool:
    """Whether a text is the printed form of a list, a set, a dictionary, an array or bytes."""
    text = text.strip()
    if not text.endswith(("]", "}", ")", "'", '"')):
        return False
    try:
        return bool(re.match(_PRINTED, text)) or list(parse_references(text, "text")) != [text]
    except ValueError:
        return True


def _find_printed(evidence: Evidence) -> Findings:
    """Find the accepted answers that are a printed list; without quotation marks, an item must fit the prediction."""
    findings = {}
    for case in evidence.wrong:
        text = case.references[0].strip() if len(case.references) == 1 else ""
        bare = re.fullmatch(_BARE_LIST, text)
        items = (bare[1] or bare[2]).split(",") if bare else ()
        if bare and text[1:-1].isdecimal():  # a citation
            continue
        if evidence.is_better(case, case.prediction, items) if bare else _is_printed(text):
            findings[case.number] = ""
    return findings


_WRITE_LIST = 'write the accepted answers as a list of texts: ["a", "b"]'

JOINED_SIGNS = (
    Sign("joined", _find_joined, "accepted answers look like several in one text", remedies.REFERENCES_SEPARATOR, 0.2),
    Sign(
        "some joined",
        _find_some_joined,
        "accepted answers may be several in one text",
        remedies.REFERENCES_SEPARATOR,
        0.03,
        least=3,
    ),
    Sign(
        "perhaps joined",
        _find_perhaps_joined,
        'accepted answers may be several in one text, with "{value}" between them',
        'if they are, write them as a list of texts: ["a", "b"]',
        0.2,
    ),
    Sign(
        "printed",
        _find_printed,
        "accepted answers look like a list in one text",
        _WRITE_LIST,
        0.2,
    ),
    Sign(
        "characters",
        each(_is_accepted_by_character),
        "lists of accepted answers contain single characters, as if a text was read as a list",
        _WRITE_LIST,
        0.2,
    ),
)
