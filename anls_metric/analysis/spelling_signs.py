"""Signs that one side is spelled differently because of the way it was written: as numbers, or with odd characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import chain

from anls_metric.analysis.evidence import Evidence
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.analysis.sign import Findings, Sign


def _find_numbers_of_file(evidence: Evidence) -> Findings:
    """Find the wrong predictions that look like floats, if the file has floats."""
    floats = (case.number for case in evidence.wrong if re.fullmatch(r"-?\d+\.\d+(?:e[-+]?\d+)?", case.prediction))
    return dict.fromkeys(floats, "") if evidence.float_count else {}


def _find_respelled(
    normalize: Callable[[str], str], evidence: Evidence, mark: str = "", sides: str = "both"
) -> Findings:
    """Find the predictions that score more once both sides, "predictions" or "references" are normalized.

    Only texts with the mark can change; without a mark, only texts that are not ASCII.
    """
    cases = evidence.find_mark(mark) if mark else evidence.of_other_letters
    respelled = {}
    for case in cases:
        prediction = case.prediction if sides == "references" else normalize(case.prediction)
        references = case.references if sides == "predictions" else list(map(normalize, case.references))
        if evidence.is_better(case, prediction, references):
            respelled[case.number] = ""
    return respelled


def _find_floats(evidence: Evidence) -> Findings:
    """Find whole numbers written as floats, unless they are few and the model also writes whole numbers."""
    findings = _find_respelled(_write_whole, evidence, ".0", "predictions")
    few = 0 < len(findings) <= max(1, 0.01 * evidence.total)
    return {} if few and any(case.prediction.isdecimal() for case in (*evidence.wrong, *evidence.right)) else findings


def _find_floats_of_gold(evidence: Evidence) -> Findings:
    """Find accepted whole numbers written as floats, unless the model writes whole numbers so, too."""
    findings = _find_respelled(_write_whole, evidence, ".0", "references") if ".0" in evidence.references else {}
    cases = chain(evidence.wrong, evidence.right) if findings else ()
    return {} if any(_write_whole(case.prediction) != case.prediction for case in cases) else findings


def _find_numbers_of_gold(evidence: Evidence) -> Findings:
    """Find the predictions that are an accepted number in another form, if the gold file has numbers."""
    findings: dict[int, str] = {}
    for case in evidence.wrong if evidence.accepted_number_count else ():
        numbers = [text for text in case.references if re.fullmatch(r"-?\d+(?:\.\d+)?", text)]
        if is_any_same_value(case.prediction, numbers) or _write_share(case.prediction) in numbers:
            findings[case.number] = ""
    return findings


def _write_share(text: str) -> str:
    """Write a percentage as a share: 15% becomes 0.15."""
    percent = re.fullmatch(r"(-?\d+(?:\.\d+)?) ?%", text.strip())
    return f"{float(percent[1]) / 100:.12g}" if percent else text


def _find_shares(evidence: Evidence) -> Findings:
    """Find the predictions that equal an accepted answer once the percentages on one side are written as shares."""
    findings = {}
    for case in evidence.find_mark("%"):
        share, text = _write_share(case.prediction), case.prediction.strip()
        shares = [_write_share(reference) for reference in case.references if "%" in reference]
        if (share != case.prediction and share in case.references) or ("%" not in text and text in shares):
            findings[case.number] = ""
    return findings


def _write_yes(text: str) -> str:
    return {"true": "yes", "false": "no"}.get(text.strip().lower(), text)


def _find_booleans(evidence: Evidence) -> Findings:
    """Find the predictions that are right once the accepted answers true and false are read as yes and no."""
    if not re.search("(?i)true|false", evidence.references):
        return {}
    changed = [case for case in evidence.wrong if any(_write_yes(text) != text for text in case.references)]
    return {
        case.number: "" for case in changed if _write_yes(case.prediction).lower() in map(_write_yes, case.references)
    }


def _find_replaced(evidence: Evidence) -> Findings:
    return dict.fromkeys((case.number for case in evidence.find_mark("\ufffd")), "")


def _unquote(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)


def _write_whole(text: str) -> str:
    return re.sub(r"^(-?\d+)\.0$", r"\1", text)


_INVISIBLE = "(?<!Ã)\u00ad|[\u200b-\u200f\u2060-\u2064\ufeff]"
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"


def _find_invisible(evidence: Evidence) -> Findings:
    """Find the predictions that score more without invisible characters, and name the characters."""
    findings = _find_respelled(partial(re.sub, _INVISIBLE, ""), evidence)
    texts = "".join(chain.from_iterable((case.prediction, *case.references) for case in evidence.only(findings).wrong))
    names = [f"U+{ord(sign):04X}" for sign in sorted(set(re.findall(_INVISIBLE, texts)))]
    return dict.fromkeys(findings, ", ".join(names))


def _compose(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _decode_utf_8(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


def _unescape_entities(text: str) -> str:
    import html

    return html.unescape(text)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


SPELLING_SIGNS = (
    Sign(
        "numbers of the file",
        _find_numbers_of_file,
        "predictions are wrong and were numbers in the file, so their written form is lost "
        '("15.0" was perhaps "15", and "1234.5" was perhaps "$1,234.50")',
        "write the predictions as texts",
    ),
    Sign(
        "floats",
        _find_floats,
        'predictions score less because whole numbers are written as floats ("15.0" for "15")',
        "write the predictions as texts (pandas turns whole numbers into floats if a column has gaps)",
    ),
    Sign(
        "floats of gold",
        _find_floats_of_gold,
        'accepted answers are whole numbers written as floats ("15.0" for "15"), and no prediction is',
        "write the accepted answers as texts (pandas turns whole numbers into floats if a column has gaps)",
    ),
    Sign(
        "numbers of gold",
        _find_numbers_of_gold,
        "accepted answers were numbers in the file, so their written form is lost "
        '("12.5" was perhaps "$12.50" or "12.50")',
        "write the accepted answers as texts",
        0.05,
        least=3,
    ),
    Sign(
        "leading zeros",
        partial(_find_respelled, partial(re.sub, r"^0+(?=[1-9]\d*$)", ""), mark="0"),
        'predictions score less because one side has no leading zeros ("42" for "00042")',
        "write these numbers as texts (tables drop the zeros of numbers)",
        0.05,
        least=3,
    ),
    Sign(
        "percent",
        _find_shares,
        'predictions score less because one side has shares for percentages ("0.15" for "15%")',
        "write the percentages as texts",
        0.05,
        least=3,
    ),
    Sign(
        "booleans",
        _find_booleans,
        "predictions score less because the accepted answers are true and false instead of yes and no",
        "write these answers as texts",
        0.05,
        least=3,
    ),
    Sign(
        "replaced",
        _find_replaced,
        "predictions or their accepted answers contain U+FFFD, which stands for lost letters",
        "read the original file in its own encoding",
    ),
    Sign(
        "URL escapes",
        partial(_find_respelled, _unquote, mark="%"),
        "predictions score less because of URL escapes (%20 for a blank)",
        "decode both sides with urllib.parse.unquote",
    ),
    Sign(
        "accents",
        partial(_find_respelled, _compose),
        "predictions score less because the two sides encode accents differently",
        'normalize both sides with unicodedata.normalize("NFC", text)',
    ),
    Sign(
        "invisible",
        _find_invisible,
        "predictions score less because of invisible characters ({value})",
        "remove these characters on both sides",
    ),
    Sign(
        "encoding",
        partial(_find_respelled, partial(re.sub, _LATIN, _decode_utf_8)),
        "predictions score less because UTF-8 was read as another encoding (Ã© for é)",
        "read the original file as UTF-8",
    ),
    Sign(
        "entities",
        partial(_find_respelled, _unescape_entities, mark="&"),
        "predictions score less because of HTML entities (&amp; for &)",
        "decode the predictions with html.unescape",
    ),
    Sign(
        "escapes",
        partial(_find_respelled, partial(re.sub, r"\\u([0-9a-fA-F]{4})", _unescape), mark=r"\u"),
        r"predictions score less because of escaped characters (\u00e9 for é)",
        "decode the predictions with json.loads",
    ),
    Sign(
        "tokens",
        partial(_find_respelled, partial(re.sub, "[Ġ▁]", " ")),
        "predictions score less because they contain a tokenizer's marks for blanks (Ġ or ▁)",
        "decode the output with the tokenizer",
    ),
)
