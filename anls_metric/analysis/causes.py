"""Defines the causes of lost points as a table, in which the first row that applies to an answer decides its cause.

Answers are compared in the normalized form that the scorer uses. A string counts as contained in another string only if
no letter or digit directly precedes or follows it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.extraction.extract import EXTRACTORS
from anls_metric.core.json_strings import format_value
from anls_metric.core.strings.abstention import abstains
from anls_metric.core.strings.matches import contains_any, is_contained
from anls_metric.reading.records import is_failure

NULLS = frozenset(["nan", "NaN", "None", "null", "NULL", "<NA>", "N/A", "n/a", "#N/A", "NaT", "undefined"])
"""The strings that programs write for missing values."""

_NEVER_IN_DOCUMENTS = NULLS - {"None", "N/A", "n/a"}


class Facts(NamedTuple):
    """Facts about all answers as a whole.

    Attributes:
        lost: references of wrong answers that programs write for missing values and that never occur in documents.
        unanswerable: whether any wrong answer belongs to a question without an answer.
        accepted: all references in lower case, if any wrong answer is a string that programs write for missing values.
        moved: answers that are references of other questions, if they are so numerous that the ids must be wrong.
        failed: the first three words of many wrong answers that contain a phrase typical of failed requests, if no
            other answer and no reference begins with these words.
        marker: the string that a benchmark's rule expects before the answer; "" if it expects none.
    """

    lost: Collection[str] = frozenset()
    unanswerable: bool = False
    accepted: Collection[str] = frozenset()
    moved: Collection[str] = frozenset()
    failed: Collection[str] = frozenset()
    marker: str = ""


class Case(NamedTuple):
    """An answer that scores less than 1.

    Attributes:
        prediction: the answer.
        references: the references of the question.
        score: the score of the answer.
        raw: the model output from which the answer was extracted.
        text, texts: the normalized answer and references; "" for what the scorer treats as no answer.
        letters, all_letters: the letters and digits in these strings.
        digits, all_digits: the digits in these strings.
        lacks_answer: whether the question has no answer.
        facts: the facts about all answers.
    """

    prediction: Any
    references: Sequence[Any]
    score: float
    raw: Any
    text: str
    texts: Sequence[str]
    letters: str
    all_letters: Sequence[str]
    digits: str
    all_digits: Sequence[str]
    lacks_answer: bool
    facts: Facts


class Cause(NamedTuple):
    """A cause of lost points, which is a row of `CAUSES` or of `leaf_causes.LEAF_CAUSES`.

    Attributes:
        name: the name that is shown everywhere.
        meaning: the text that follows the number of answers.
        remedy: what to do.
        applies: tells whether an answer has this cause.
        share: the loss, as a share of the score, above which a hint is given; 0 if any loss is enough, None if no hint
            is ever given.
        of_rules: whether the cause also applies to answers scored by a benchmark metric.
        at: "zero" if only answers that score 0 can have the cause, "above" if only answers that score more can, "" if
            both can.
        needs: the field of `Facts` that must not be empty or False for the cause to apply; "" if the cause needs no
            fact.
        is_credited: whether an answer with the cause is wrong even if it receives partial credit.
    """

    name: str
    meaning: str
    remedy: str
    applies: Callable[[Case], bool] = lambda case: True
    share: float | None = None
    of_rules: bool = False
    at: str = ""
    needs: str = ""
    is_credited: bool = False


MISSING = "missing"
"""The cause of a question without an answer in the submission."""

RIGHT = "right"
"""The name used instead of a cause for an answer that loses no points."""


# How messages of failed requests begin. A sentence from a document that begins similarly must not match, so "Error"
# must be followed by a sign or a number, and most phrases come from a single library.
_PHRASES = "|".join(
    (
        r"[\[(<*]*(?:api[ _])?error\b.{0,3}(?:[:\-\])>]|\bcode\b|[45]\d\d\b)",
        r"[\[(<*]*(?:api[ _])?(?:exception|failed|failure) ?[:\])>]",
        r"(?:\w{1,40}\.){0,5}\w{0,40}(?:error|exception)(?:[(:.]|\s*$| ?[45]\d\d\b)",
        r"(?:api|connection|http|network|read|request|server) error\b",
        r"an? (?:\w{1,20} )?error (?:has )?(?:occurred|happened)",
        r"traceback \(most",
        r"failed to (?:obtain|get|call|generate|process|connect|fetch)",
        r"(?:the )?(?:request|connection|read|call) (?:has )?(?:timed ?out|failed|aborted|reset|refused)",
        r"(?:the )?(?:request|response|content) (?:was )?(?:blocked|filtered)|content_(?:filter|policy)",
        r"(?:the )?(?:engine|model|server|service) is (?:currently )?(?:down|overloaded|unavailable)",
        r"time(?:d )?out\b",
        r"[45]\d\d (?:client error|server error|too many|bad |internal|service|gateway|unauthori|forbidden)",
        r"(?:http|status) ?(?:code|error)?:? ?[45]\d\d\b",
        r"(?:rate limit|quota) (?:was )?(?:reached|exceeded)|too many requests",
        r"internal server error|service unavailable|bad gateway|gateway time",
        r"(?:cuda )?out of memory\b",
        r"<(?:!doctype )?html\b.{0,300}?(?:[45]\d\d\b|error|gateway|unavailable|forbidden)",
        r"""\{\s*["']error["']\s*:""",
    )
)
_FAILED = re.compile(_PHRASES, re.IGNORECASE | re.DOTALL)
_FAILED_INSIDE = rf"(?is)(?<!\w)(?:{_PHRASES})"  # compiled when first needed, because it takes a while
_find_object = re.compile(r"""(?:\A|```\w*)\s*(?:\[\s*)?\{\s*["']""").search
_THINK = EXTRACTORS["think"]
_find_end_of_thinking = re.compile("|".join(map(re.escape, _THINK.marks))).search
_SEPARATORS = r"[,;/|\n&]"
_SEPARATOR = re.compile(rf"{_SEPARATORS}|\band\b")
_find_sign = re.compile(_SEPARATORS).search  # takes a quarter of the time that it takes with the word
_PREFIXES = frozenset(("un", "in", "im", "ir", "il", "dis", "non", "non-", "not "))
_OPPOSITES = frozenset(
    frozenset(pair.split())
    for pair in (
        *("increase decrease", "increased decreased", "increasing decreasing", "ascending descending"),
        *("male female", "man woman", "maximum minimum", "import export", "imports exports", "inside outside"),
        *("inner outer", "upper lower", "upward downward", "before after", "positive negative", "first last"),
        *("internal external", "include exclude", "agree disagree", "more less", "higher lower"),
    )
)


def begin(text: Any) -> str:
    """Return the first three words of an answer."""
    return " ".join(str(text).split(maxsplit=3)[:3])


def is_failed(value: Any) -> bool:
    """Whether an answer is the error of a failed request, given as a string or as the object that an API returns."""
    return _FAILED.match(value.lstrip()) is not None if isinstance(value, str) else is_failure(value)


def _is_failed(case: Case) -> bool:
    text = case.prediction
    return is_failed(text) or (bool(case.facts.failed) and isinstance(text, str) and begin(text) in case.facts.failed)


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)  # the last one may be cut off


def is_cut_off(text: Any) -> bool:
    """Whether a string begins with an object or reasoning, or has an object in a fence, that lacks its end."""
    if not isinstance(text, str):
        return False
    if "{" in text and (beginning := _find_object(text)):
        signs = _STRING.sub("", text[beginning.start() :])
        return signs.count("{") > signs.count("}") or signs.count("[") > signs.count("]")
    return _find_end_of_thinking(text) is not None and _THINK.find(text) == ""


def _is_null(case: Case) -> bool:
    text = case.prediction
    return isinstance(text, str) and text in NULLS and not case.lacks_answer and text.lower() not in case.facts.accepted


def _is_refusal(case: Case) -> bool:
    return isinstance(case.prediction, str) and abstains(case.prediction)


class CharacterFilter(NamedTuple):
    """A filter for characters, which consists of the ASCII characters to remove and a function for strings that are not
    ASCII.
    """

    removed: bytes
    keep: Callable[[str], str]

    def apply_to_each(self, texts: Sequence[str]) -> list[str]:
        """Filter the characters of each string. All ASCII strings are joined and filtered at once, which takes a third
        of the time.
        """
        plain = [text for text in texts if text.isascii()]
        kept = "\0".join(plain).encode().translate(None, self.removed).decode().split("\0")
        if len(kept) != len(plain):  # a string contains the joining character, or there are no strings
            return list(map(self.keep, texts))
        if len(plain) == len(texts):
            return kept
        next_kept = iter(kept).__next__
        return [next_kept() if text.isascii() else self.keep(text) for text in texts]

    def apply_to_lists(self, lists: Sequence[Sequence[str]]) -> list[list[str]]:
        """Filter the characters of each string in several lists."""
        kept = iter(self.apply_to_each(list(chain.from_iterable(lists))))
        return [list(islice(kept, len(texts))) for texts in lists]


def _keep_letters_and_digits(text: str) -> str:
    """Remove punctuation, symbols, spaces and accents from a string."""
    import unicodedata  # a megabyte of tables that most runs do not need

    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text)))


def _keep_digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


LETTERS_AND_DIGITS = CharacterFilter(
    bytes(code for code in range(1, 128) if not chr(code).isalnum()), _keep_letters_and_digits
)
DIGITS = CharacterFilter(bytes(code for code in range(1, 128) if not chr(code).isdigit()), _keep_digits)


def _is_reordered(case: Case) -> bool:
    if not (_find_sign(case.text) or "and" in case.text):
        return False
    items = _list_items(case.text)
    return len(items) > 1 and items in map(_list_items, case.texts)


def _list_items(text: str) -> list[str]:
    return sorted(filter(None, map(str.strip, _SEPARATOR.split(text))))


def _is_part(case: Case) -> bool:
    return any(case.text in text and is_contained(case.text, text) for text in case.texts)


def _is_opposite(case: Case) -> bool:
    """Whether an answer differs from a reference only in one word that is replaced by its opposite, or in a preceding
    negation such as "not".
    """
    text, words = case.text, case.text.split()
    for other in case.texts:
        others = other.split()
        if len(others) == len(words):
            differing = [pair for pair in zip(words, others) if pair[0] != pair[1]]
            if len(differing) == 1 and (frozenset(differing[0]) in _OPPOSITES or _is_negated(*differing[0])):
                return True
        elif _is_negated(text, other):
            return True
    return False


def _is_negated(text: str, other: str) -> bool:
    longer, shorter = (text, other) if len(text) > len(other) else (other, text)
    return longer.endswith(shorter) and longer[: len(longer) - len(shorter)] in _PREFIXES


def _is_another_number(case: Case) -> bool:
    return case.digits != "" and case.digits not in case.all_digits and any(case.all_digits)


_ACCEPT_BOTH = "or accept both with {use.corrections}"
CAUSES = (
    Cause(
        MISSING,
        "questions have no answer in the submission",
        "ask them, or leave them out with {use.missing:skip}",
        lambda case: case.prediction is None,
        of_rules=True,
    ),
    Cause(
        "lost reference",
        "questions have only a reference that programs write for missing values, such as {example}",
        "find the step that lost it",
        lambda case: _NEVER_IN_DOCUMENTS.issuperset(map(str, case.references)),
        share=0.0,
        needs="lost",
    ),
    Cause(
        "no marker",
        'predictions lack "{marker}", which the rule expects before the answer',
        "pass the field of the whole output with {use.prediction}",
        lambda case: case.facts.marker not in str(case.raw),
        share=0.0,
        needs="marker",
        of_rules=True,
    ),
    Cause(
        "failed request",
        "predictions are messages of failed requests, such as {example}",
        "ask these questions again",
        _is_failed,
        share=0.0,
        of_rules=True,
        at="zero",
    ),
    Cause(
        "cut off",
        "predictions are cut-off JSON or reasoning",
        "raise the token limit of the model",
        lambda case: is_cut_off(case.raw),
        share=0.0,
        of_rules=True,
    ),
    Cause(
        "empty",
        "predictions are empty",
        "find the step that lost them",
        lambda case: not case.text.strip(),
        share=0.1,
        of_rules=True,
    ),
    Cause(
        "null",
        "predictions are what programs write for missing values, such as {example}",
        "find the step that lost them",
        _is_null,
        share=0.0,
        needs="accepted",
        of_rules=True,
        at="zero",
    ),
    Cause(
        "unanswerable, declined",
        "predictions abstain in their own words where there is no answer, such as {example}",
        "count them with {use.metrics:abstention}",
        lambda case: case.lacks_answer and _is_refusal(case),
        share=0.0,
        needs="unanswerable",
    ),
    Cause(
        "unanswerable, answered",
        "predictions answer a question that has no answer",
        "the model: see {use.metrics:abstention}",
        lambda case: case.lacks_answer,
        needs="unanswerable",
    ),
    Cause(
        "refusal",
        "predictions decline to answer a question that has an answer",
        "the model: it does not answer",
        _is_refusal,
        of_rules=True,
        at="zero",
    ),
    Cause(
        "another question's answer",
        "predictions are references of other questions",
        "check the ids and the order of both files",
        lambda case: case.text in case.facts.moved,
        share=0.0,
        needs="moved",
        at="zero",
    ),
    Cause(
        "another form",
        "predictions are the number, unit or date of a reference, written differently, such as {example}",
        f"ask for the form of the page, {_ACCEPT_BOTH}",
        lambda case: is_any_same_value(case.text, case.texts),
        share=0.02,
    ),
    Cause(
        "punctuation",
        "predictions equal a reference except for punctuation, symbols, spaces and accents, such as {example}",
        f"ask the model to copy the page, {_ACCEPT_BOTH}",
        lambda case: case.letters in case.all_letters and case.letters != "",
        share=0.02,
    ),
    Cause(
        "another order",
        "predictions are the items of a reference in another order, such as {example}",
        f"ask for the order of the page, {_ACCEPT_BOTH}",
        _is_reordered,
        share=0.02,
    ),
    Cause(
        "opposite",
        "predictions say the opposite of a reference, such as {example}",
        "the model",
        _is_opposite,
        at="above",
        is_credited=True,
    ),
    Cause(
        "among other words",
        "predictions contain a reference among other words, such as {example}",
        "ask the model for only the answer",
        lambda case: contains_any(case.text, case.texts),
        share=0.1,
    ),
    Cause("part of the answer", "predictions are a part of a reference", "ask for the whole answer", _is_part),
    Cause(
        "another number",
        "predictions contain other digits than every reference",
        "the model or the OCR",
        _is_another_number,
        is_credited=True,
    ),
    Cause(
        "a few characters", "predictions are close to a reference", "the model or the OCR", of_rules=True, at="above"
    ),
    Cause("wrong", "predictions are something else", "the model", of_rules=True),
)


MIN_ANSWERS = 10
"""The number of answers below which a similarity may be due to chance."""


def find_facts(rows: Iterable[tuple[Any, Sequence[Any], float]], normalize: Callable[[Any], str]) -> Facts:
    """Find the facts about all answers as a whole, given the prediction, references and score of each answer."""
    rows = list(rows)
    wrong = [row for row in rows if row[2] < 1.0]
    zeros = [(prediction, texts) for prediction, texts, score in wrong if score == 0.0 and isinstance(prediction, str)]
    accepted: Collection[str] = frozenset()
    if any(text in NULLS for text, _ in zeros):
        accepted = {"", *(str(text).lower() for _, texts, _ in rows for text in texts)}
    return Facts(
        lost=_NEVER_IN_DOCUMENTS & {text for _, texts, _ in wrong for text in texts if isinstance(text, str)},
        accepted=accepted,
        moved=frozenset(map(normalize, _find_moved(zeros, rows))),
        failed=_find_failed(zeros, rows),
    )


_Zeros = Sequence[tuple[str, Sequence[Any]]]
_Rows = Sequence[tuple[Any, Sequence[Any], float]]


def _find_moved(zeros: _Zeros, rows: _Rows) -> Sequence[str]:
    """Return the wrong predictions that are references of other questions, or [] if chance can explain their number.

    The correct predictions show how often a prediction is a reference of the wrongly answered questions by chance.
    Since an answer that many questions share proves nothing, at least half of the predictions must be distinct.
    """
    zeros = [pair for pair in zeros if pair[0]]
    asked = {text for _, texts in zeros for text in texts if isinstance(text, str)}
    moved = [text for text, _ in zeros if text in asked]
    if len(moved) < max(MIN_ANSWERS, 0.3 * len(zeros)) or 2 * len(set(moved)) < len(moved):
        return []
    right = [text for text, _, score in rows if score == 1.0]
    by_chance = sum(text in asked for text in right) / max(len(right), MIN_ANSWERS)
    return moved if len(moved) >= 3 * by_chance * len(zeros) else []


_FEWEST_FAILED = 5
_MOST_FAILED_TEXTS = 3


def _find_failed(zeros: _Zeros, rows: _Rows) -> Collection[str]:
    """Find three-word beginnings that many answers share. Every answer with such a beginning must score 0 and contain a
    phrase typical of failed requests, and no reference may have the same beginning.
    """
    least = max(_FEWEST_FAILED, 0.02 * len(rows) + 0.2 * math.sqrt(len(rows)))
    pairs = [(text, begin(text)) for text, _ in zeros if text.count(" ") > 1]
    many = {words for words, count in Counter(words for _, words in pairs).items() if count > least}
    beginnings = Counter(words for text, words in pairs if words in many and re.search(_FAILED_INSIDE, text))
    some = [words for words, count in beginnings.items() if count > least and words.count(" ") > 1]
    if not some:
        return frozenset()
    everywhere = Counter(begin(text) for text, _, _ in rows)
    accepted = {begin(text) for _, texts, _ in rows for text in texts}
    texts = {words: {text for text, _ in zeros if begin(text) == words} for words in some}
    return frozenset(
        words
        for words in some
        if everywhere[words] == beginnings[words] and words not in accepted and len(texts[words]) <= _MOST_FAILED_TEXTS
    )


def show(value: Any) -> str:
    """Quote an answer for use in a sentence, shortened to at most 40 characters."""
    text = " ".join(format_value(value).split())
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
