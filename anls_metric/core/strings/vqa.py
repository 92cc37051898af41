"""Computes the accuracy used by VQA, TextVQA and related benchmarks, in which ten people answered each question."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS)} | {"none": "0"}
_VQA_ARTICLES = frozenset(("a", "an", "the"))
_VQA_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32  # the official program passes a flag of this value as the count
_NUMBER_WITH_COMMA = re.compile(r"\d,\d")

# Each contraction, followed after "=" by the words that become it unless this is just the contraction without
# apostrophes.
_CONTRACTIONS = """
ain't aren't can't could've couldn't couldn't've=couldn'tve,couldnt've didn't doesn't don't hadn't
hadn't've=hadnt've,hadn'tve hasn't haven't he'd he'd've=hed've,he'dve he's how'd how'll how's
I'd've=Id've,I'dve I'm I've isn't it'd it'd've=itd've,it'dve it'll let's=let's ma'am mightn't
mightn't've=mightnt've,mightn'tve might've mustn't must've needn't not've o'clock oughtn't
'ow's'at=ow's'at,'ows'at,'ow'sat shan't she'd've=shed've,she'dve she's=she's should've shouldn't
shouldn't've=shouldnt've,shouldn'tve somebodyd=somebody'd somebody'd've=somebodyd've,somebody'dve
somebody'll somebody's someone'd someone'd've=someoned've,someone'dve someone'll someone's something'd
something'd've=somethingd've,something'dve something'll that's there'd there'd've=thered've,there'dve
there're there's they'd they'd've=theyd've,they'dve they'll they're they've 'twas wasn't
we'd've=wed've,we'dve we've weren't what'll what're what's what've when's where'd where's where've who'd
who'd've=whod've,who'dve who'll who's who've why'll why're why's won't would've wouldn't
wouldn't've=wouldnt've,wouldn'tve y'all y'all'll=yall'll,y'allll y'all'd've=yall'd've,y'alld've,y'all'dve
you'd you'd've=youd've,you'dve you'll you're you've
"""
_FORMS = {
    form: contraction
    for contraction, _, forms in (word.partition("=") for word in _CONTRACTIONS.split())
    for form in (forms or contraction.replace("'", "")).split(",")
}


def score_vqa(prediction: str, references: Sequence[str]) -> float:
    """Compute the VQA accuracy of an answer, which is the mean over all references of min(n / 3, 1), where n is the
    number of other references that match the answer.

    Strings are normalized only if the references differ. With fewer than four references, no answer can score 1.

    Example:
        >>> score_vqa("The Stop!", ["stop"] * 4 + ["halt"] * 6), score_vqa("stop", ["stop"] * 2 + ["halt"] * 8)
        (1.0, 0.6)

    Source: https://github.com/GT-Vision-Lab/VQA, PythonEvaluationTools/vqaEvaluation/vqaEval.py.
    """
    answer, *texts = (text.replace("\n", " ").replace("\t", " ").strip() for text in (prediction, *references))
    if len({*texts}) > 1:
        answer, *texts = map(_normalize_for_vqa, (answer, *texts))
    matches, total = texts.count(answer), 0.0
    for text in texts:  # in this order, since the sum is rounded
        total += min(1.0, (matches - (text == answer)) / 3)
    return total / len(texts)


def _normalize_for_vqa(text: str) -> str:
    """Remove punctuation and articles, and normalize numbers and contractions."""
    joins = _NUMBER_WITH_COMMA.search(text) is not None
    cleaned = text
    for sign in _VQA_PUNCTUATION:
        if sign in text:
            cleaned = cleaned.replace(sign, "" if joins or f"{sign} " in text or f" {sign}" in text else " ")
    cleaned = _PERIOD.sub("", cleaned, count=_MOST_PERIODS)
    words = (_NUMBERS.get(word, word) for word in cleaned.lower().split())
    return " ".join(_FORMS.get(word, word) for word in words if word not in _VQA_ARTICLES)
