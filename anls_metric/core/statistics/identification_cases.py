"""Defines made-up cases on which variants differ from one another and from functions that compute no variant."""

from __future__ import annotations

from typing import NamedTuple

MAX_SHOWN_LENGTH = 40
"""The length in characters above which a string of a case is shortened when printed."""


class Case(NamedTuple):
    """An answer and its references."""

    prediction: str
    references: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_shorten(self.prediction)} against {' or '.join(map(_shorten, self.references))}"


def _shorten(text: str) -> str:
    return repr(text) if len(text) <= MAX_SHOWN_LENGTH else f"{text[:10]!r}.. of {len(text)} characters"


# A selection of the golden cases on which the published programs were run (tests/data/conformance). Any two variants
# that differ on some golden case differ on one of these.
GOLDEN_CASES = tuple(
    Case(prediction, tuple(references))
    for prediction, *references in (
        ("CocaCola", "Coca Cola", "Coca Cola Company"),
        ("The Coca", "Coca Cola", "Coca Cola Company"),
        ("Cola", "Coca Cola", "Coca Cola Company"),
        ("talkingheads", "TALKINGHEADS", "TALKING HEADS"),
        ("hi friend", "hello my friend", "friend", "hi"),
        ("abcd", "ab#", "abc###", "ab##"),
        ("xxxxxxxxxx", "xxxxxyyyyy", "xxxxyyyyyy", "yyyyyyyyyy"),
        ("REMAIN IN LIGHT", "TALKINGHEADS", "TALKING HEADS"),
        ("rain", "shine"),
        ("I am leaving", "leave"),
        ("100%", "96%"),
        ("a##", "abc"),
        ("completely unrelated text here", "x"),
        ("lnaguaeg", "language"),
        ("abc###", "abcdef"),
        ("abcdef", "abc"),
        ("ToTaL", "tOtAl"),
        (" Coca Cola", "Coca Cola"),
        ("a b", "a    c"),
        ("a", "\t\n"),
        ("...", "..."),
        ("end. ", "end"),
        ("0.28.", "0.28"),
        ("NONE ", "nine"),
        ("BBOwn    & WIlLia msoan", "Brown & Williamson"),
        ("T.F. Rie\thl\n", "T.F. Riehl"),
        ("SugaAsassoc  iStion\t, Inc.t", "Sugar Association, Inc."),
        ("istanbul", "\u0130stanbul"),
        ("\u0130", "i"),
        ("\ufb00\ufb00", "\ufb00a"),
        ("\u0390", "\u03b9"),
        ("\u0390\u0390", "\u0390\u03b1"),
        ("", "a", ""),
        ("", ""),
    )
)

# Strings that become equal only under normalizations that no variant applies.
FOLDED_CASES = tuple(
    Case(prediction, (reference,))
    for prediction, reference in (
        ("\uff21\uff22\uff23\uff11\uff12\uff13", "ABC123"),  # full width, which NFKC folds
        ("\ufb01nance", "finance"),  # a ligature, which NFKC and case folding replace
        ("Stra\u00dfe", "STRASSE"),  # case folding
        ("\u0130ZM\u0130R", "izmir"),  # a dotted I: lower case is two characters
        ("cafe\u0301", "caf\u00e9"),  # a combining accent: NFC
        ("caf\u00e9", "cafe"),  # accents removed
        ("\u03c3\u03bf\u03c6\u03cc\u03c2", "\u03c3\u03bf\u03c6\u03cc\u03c3"),  # a final sigma: case folding
        ("x\u00b2", "x2"),
        ("\u6a94\u6848", "\u6863\u6848"),  # traditional and simplified Chinese
        ("a\u00a0b", "a b"),
        ("new\nyork", "newyork"),
        ("the cat", "cat"),
        ("cat in the hat", "cat hat"),
        ("Coca-Cola", "Coca Cola"),
        ("Coca-Cola", "CocaCola"),
        ("$1,000.00", "100000"),
        ("(1)", "1"),
        ("a_b", "ab"),
        ("5%", "5"),
        ("\u201ctitle\u201d", "title"),
        ('"title"', "title"),
        ("title:", "title"),
        ("two", "2"),
        ("1.0", "1"),
        ("none", "none"),
        ("NoNe", "none"),
        ("n/a", "n/a"),
        ("yes.", "yes"),
    )
)

# Strings that other programs cut, strip or split before they compare them.
_HEAD = "a quick brown fox jumps over lazy dogs and runs " * 4
CLEANED_CASES = tuple(
    Case(prediction, (reference,))
    for prediction, reference in (
        ("<think>it is Pepsi</think>Cola", "Cola"),
        ("<answer>Cola</answer>", "Cola"),
        ("**Cola**", "Cola"),
        ("Answer: Cola", "Cola"),
        ("The answer is Cola.", "Cola"),
        ("Cola\nIt stands in the second line.", "Cola"),
        ("Pepsi", "Coca Cola|Pepsi"),
        ("Pepsi", "Coca Cola; Pepsi"),
        ('["Cola"]', "Cola"),
        ("12/15/88", "12-15-88"),
        ("5 kg", "5"),
        ("1,000", "1000"),
        (_HEAD + "x" * 100, _HEAD + "y" * 100),  # 192 equal characters of 292
        (_HEAD + "z" * 60 + "x" * 100, _HEAD + "z" * 60 + "y" * 100),  # 252
    )
)

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""The thresholds at which each variant is tried."""

# Similarities at each threshold and on either side of it.
THRESHOLD_CASES = tuple(
    Case("b" * edits + "a" * (100 - edits), ("a" * 100,))
    for edits in sorted({round(100 * (1 - each)) + step for each in THRESHOLDS for step in (-1, 0, 1)} - {-1, 101})
)

# Similarities above the highest threshold, where only the lengths and the normalization differ.
_LONG, _EDITED = (
    "a quick brown fox jumps over lazy dogs " * 4 + "ok",
    "a quick brown fox jumps over lazy dogs " * 4 + "oh",
)
SIMILAR_CASES = tuple(
    Case(prediction, (reference,))
    for prediction, reference in (
        (_EDITED + "  ", _LONG),
        (_EDITED, _LONG + "  "),
        (_EDITED.replace(" ", "  ", 2), _LONG),
        (_EDITED, _LONG.replace(" ", "  ", 2)),
        (_EDITED.upper(), _LONG),
        (_EDITED + ".", _LONG),
        (_EDITED + "\u00df", _LONG + "\u00df"),  # longer in upper case
        (_EDITED + "\u0130", _LONG + "\u0130"),  # longer in lower case
    )
)

CASES = (*GOLDEN_CASES, *FOLDED_CASES, *CLEANED_CASES, *THRESHOLD_CASES, *SIMILAR_CASES)
