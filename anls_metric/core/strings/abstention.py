"""Recognizes answers that abstain, using a table of typical phrases in six languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple


class Forms(NamedTuple):
    """A row of `FORMS`, which lists the phrases for declining to answer in one language.

    Attributes:
        language: the language.
        answers: whole answers, in lowercase.
        marks: strings, at least one of which occurs in every phrase. The marks are searched for first to save time.
        phrases: regular expressions for phrases inside a sentence, in lowercase with one space between words.
        sources: the addresses of pages on which people posted such answers.
    """

    language: str
    answers: tuple[str, ...]
    marks: tuple[str, ...]
    phrases: tuple[str, ...]
    sources: tuple[str, ...]


def _split(answers: str) -> tuple[str, ...]:
    return tuple(answers.split(", "))


FORMS = (
    Forms(
        "English",
        _split(
            "not answerable, unanswerable, cannotanswer, no_answer, noanswer, no answer, no answer found, "
            "unknown, undetermined, unclear, n/a, n.a., none, null, nan, idk, i don't know, not applicable, "
            "not available, not specified, not mentioned, not provided, not given, not found, not stated, "
            "not visible, not known, don't know, cannot answer, can't answer, cannot determine, no information, "
            "not enough information, insufficient information"
        ),
        ("not", "n't", "no ", "none ", "unable", "impossible", "sorry", "apologi", "an ai", "unanswer", "insufficient"),
        (
            r"\bi (?:can ?not|can't|could not|couldn't|do not|don't|am not able|am unable|was unable)\b",
            r"\bi(?:'m| am) (?:not sure|sorry|unable)\b",
            r"\bwe (?:can ?not|can't|do not|don't) (?:answer|calculate|determine|know|provide)\b",
            r"\bi apologi[sz]e\b|\bas an ai\b|\b(?:un|not )answerable\b|\bno answer\b",
            r"\bunable to (?:answer|confirm|determine|find|identify|locate|provide|read|see|verify)\b",
            r"\bimpossible to (?:answer|determine|know|provide|read|say|tell)\b",
            r"\bno (?:(?:relevant|specific|such) )?information\b|\b(?:insufficient|not enough) (?:context"
            r"|information)\b",
            r"\b(?:not|(?:are|is|was|were)n't) (?:(?:clearly|directly|explicitly|specifically) )?(?:available"
            r"|contained|disclosed|found|given|included|indicated|legible|listed|mentioned|possible|present"
            r"|provided|shown|specified|stated|visible)\b",
            r"\b(?:can(?:not|'t| not)|could(?:n't| not)) be (?:answered|determined|found|identified|inferred"
            r"|located|read)\b",
            r"\b(?:do|does|did)(?:n't| not) (?:appear|contain|have (?:any|enough|that) |include|indicate"
            r"|mention|provide|say|show|specify|state)",
            r"\bnone of the (?:\w+ ){0,2}(?:documents|excerpts|images|pages|passages|slides"
            r"|sources) (?:address|answer|contain|include|indicate|mention|provide|relate|show|specify|state)",
            r"\b(?:there (?:are|is)|there's) no (?:\w+ ){1,5}(?:available|found|given|included|indicated"
            r"|listed|mentioned|provided|shown|specified|stated|visible)\b",
        ),
        (
            "https://github.com/mayubo2333/MMLongBench-Doc",
            "https://github.com/Jordy-VL/DUDEeval",
            "https://rajpurkar.github.io/SQuAD-explorer",
            "https://github.com/chen700564/RGB",
            "https://github.com/Asir-Saadat/Abstention-Aware-LLaVA",
            "https://github.com/heypinchy/pinchy/pull/1163",
            "https://github.com/bandr-ai/vektori/issues/16",
        ),
    ),
    Forms(
        "German",
        _split(
            "nicht beantwortbar, unbeantwortbar, keine angabe, keine angaben, k.a., k. a., unbekannt, "
            "nicht angegeben, nicht bekannt, nicht verfügbar, nicht vorhanden, nicht genannt, weiß nicht, "
            "keine antwort, keine information, keine informationen, nicht ermittelbar"
        ),
        ("nicht", "kein", " leid", "unmöglich"),
        (
            r"\bnicht (?:\w+ ){0,3}(?:angegeben|aufgeführt|beantworte\w*|bestimm\w*|enthalten|ermittel\w*"
            r"|ersichtlich|erwähnt|gefunden|genannt|lesbar|möglich|verfügbar|vorhanden|zu finden)\b",
            r"\bkeine[nrs]? (?:\w+ ){0,3}(?:angaben?|antwort|hinweise?|informationen)\b",
            r"\bkeine[nrs]? (?:[\w-]+ ){1,8}(?:enthalten|erwähnt|finden|gefunden|genannt)\b",
            r"\bich (?:weiß|weiss) (?:\w+ )?nicht\b|\bich kann (?:\w+ ){0,6}nicht (?:\w+ )?(?:antworten"
            r"|erkennen|finden|sagen)\b",
            r"\btut mir (?:\w+ )?leid\b|\bunmöglich zu (?:beantworten|bestimmen|sagen)\b",
        ),
        (
            "https://github.com/heypinchy/pinchy/pull/1163",
            "https://github.com/klapom/AEGIS_Rag",
            "https://github.com/androed2024/WissensDB_WunschOele",
        ),
    ),
    Forms(
        "French",
        _split(
            "sans réponse, pas de réponse, aucune réponse, inconnu, inconnue, non spécifié, non spécifiée, "
            "non mentionné, non mentionnée, non précisé, non précisée, non indiqué, non indiquée, non fourni, "
            "non disponible, non renseigné, je ne sais pas, aucune information, impossible à déterminer"
        ),
        ("pas", "aucun", "impossible", "désolé"),
        (
            r"\bje ne (?:dispose|peux|sais|trouve|vois) pas\b|\bje n'ai pas (?:\w+ )?trouvé\b",
            r"\bn(?:e|')(?:\w+ ?)(?:pas|aucune?) (?:\w+ )?(?:disponible|fourni|indiqu|mentionn|possible|précis"
            r"|présent|spécifi)",
            r"\bne (?:contien|fourni|indique|mentionne|permet|peu|précise|spécifie)\w* (?:pas|aucune?)\b"
            r"|\bn'indique\w* pas\b",
            r"\baucune? (?:\w+ ){0,2}(?:indication|information|mention|réponse)\b|\bpas d'informations?\b",
            r"\bimpossible (?:d'y|de|à) (?:déterminer|dire|lire|répondre|savoir)\b|\bdésolée?\b",
            r"\bpas (?:disponible|indiqu|mentionn|précis|spécifi)",
        ),
        (
            "https://github.com/chen700564/RGB",
            "https://github.com/the-momentum/python-ai-kit",
        ),
    ),
    Forms(
        "Spanish",
        _split(
            "sin respuesta, no respondible, no se puede responder, desconocido, desconocida, no especificado, "
            "no especificada, no mencionado, no mencionada, no indicado, no disponible, no lo sé, no sé, "
            "sin información, no hay información, no se menciona, no se especifica, no se indica"
        ),
        ("no ", "lo siento", "imposible", "insuficiente"),
        (
            r"\bno se (?:\w+ )?(?:dice|encuentra|encontró|especifica|incluye|indica|menciona|muestra"
            r"|proporciona)\w*\b",
            r"\bno (?:es posible|he podido|pude|puedo|se puede) (?:\w+ )?(?:contestar|determinar|encontrar"
            r"|identificar|leer|responder|saber|ver)\b",
            r"\bno (?:contiene|dispongo de|existe|hay|incluye|tengo) (?:\w+ ){0,3}(?:datos|información|mención"
            r"|respuesta)\b",
            r"\b(?:contexto|documento|imagen|página|texto) no (?:contiene|dice|especifica|incluye|indica"
            r"|menciona|proporciona)\b",
            r"\bno está (?:disponible|especificad|indicad|mencionad)|\bno (?:encontré|encuentro)\b",
            r"\blo siento\b|\binformación insuficiente\b|\bimposible (?:de )?(?:determinar|responder|saber)\b",
            r"\bno (?:disponible|especificad|indicad|mencionad)",
        ),
        (
            "https://github.com/the-momentum/python-ai-kit",
            "https://github.com/stevenvo780/organizador-libros",
        ),
    ),
    Forms(
        "Chinese",
        _split(
            "无法回答, 無法回答, 不可回答, 无法确定, 無法確定, 不知道, 未知, 不详, 未提及, 未提供, 未说明, "
            "无答案, 没有答案, 无法得知, 无相关信息, 未找到, 没有提到"
        ),
        ("无法", "無法", "不能", "没有", "沒有", "未", "不足", "找不到", "不知道", "抱歉"),
        (
            r"(?:无法|無法|不能)[^,。，;；]{0,20}?(?:判断|回答|得知|找到|提供|确定|確定|获取|识别)",
            r"(?:没有|沒有|并未|未)(?:明确|直接)?(?:包含|找到|提供|提到|提及|给出|说明|注明|相关信息)",
            r"(?:信息|内容|資訊|资料)不足|找不到|不知道|抱歉",
        ),
        ("https://github.com/chen700564/RGB",),
    ),
    Forms(
        "Japanese",
        _split(
            "回答不能, 回答不可, 不明, わかりません, 分かりません, わからない, 該当なし, 記載なし, 情報なし, "
            "回答できません, 答えられません, 見つかりませんでした"
        ),
        ("ません", "ない", "なし", "不足", "申し訳"),
        (
            r"(?:提供|明記|掲載|記載|示|言及|含ま)(?:が|は)?(?:されて|されては|れて|れては)?(?:あり|い"
            r"|おり)?(?:ない|なし|ません)",
            r"(?:判断|判別|回答|特定|確認|答え|お答え)(?:する)?(?:こと)?(?:が|は)?(?:でき"
            r"|られ)(?:かね)?(?:ない|ません)",
            r"(?:情報|根拠|記述)(?:が|は)?(?:あり|見つかり|含まれてい)?(?:ない|ません)|情報が?不足",
            r"見つかりません|(?:わかり|分かり)ません|(?:わから|分から)ない|申し訳",
        ),
        ("https://github.com/kayac/nepp-chan/issues/254",),
    ),
)

UNANSWERABLE: Mapping[str, tuple[Any, ...]] = {
    "answer_type": ("not-answerable", "not answerable", "unanswerable"),  # DUDE
    "answer_format": ("None",),  # MMLongBench-Doc
    "is_impossible": (True,),  # SQuAD 2.0
}
"""The values that mean that a question has no answer, keyed by the field of the question."""

_AROUND = " \t\r\n.。!！*_`'\"“”‘’「」『』()[]{}"
_NOTHING = " \t\r\n[]{}()"
"""The characters that programs write when there is no value, as in "[]". An answer with no other characters is empty.
"""

_AMBIGUOUS = frozenset({"none", "null", "nan", "unknown", "unclear", "not found", "未知", "不明", "unbekannt"})
"""Answers that may also be the text of a document. In a gold file, a reference in this set means that the question has
no answer only if a flag says so.
"""


def _clean(text: str) -> str:
    text = text.lower().replace("’", "'").replace("**", "").replace("_", " ")
    return " ".join(text.split()).strip(_AROUND)


@cache
def _list_answers() -> frozenset[str]:
    return frozenset(_clean(answer) for forms in FORMS for answer in forms.answers)


@cache
def _list_certain() -> frozenset[str]:
    return _list_answers() - _AMBIGUOUS


@cache
def _compile_marks() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(mark) for forms in FORMS for mark in forms.marks))


def abstains(text: str, accepted: Iterable[str] = ()) -> bool:
    """Whether an answer is empty or matches one of the phrases in `FORMS` for declining to answer.

    An answer that equals a reference or is the letter of a choice does not abstain.

    Args:
        text: the answer.
        accepted: the references; empty for a question that has no answer.

    Example:
        >>> abstains("The document does not mention it."), abstains("Not answerable"), abstains("")
        (True, True, True)
        >>> abstains("None", ["none"]), abstains("N"), abstains("Sorry Street 5")
        (False, False, False)
    """
    cleaned = _clean(text)
    if not cleaned:
        return not text.strip(_NOTHING)
    if any(cleaned == _clean(each) for each in accepted):
        return False
    is_form = cleaned in _list_answers()
    if is_form or not _compile_marks().search(cleaned):
        return is_form
    found = [forms.phrases for forms in FORMS if any(mark in cleaned for mark in forms.marks)]
    return any(re.search(phrase, cleaned) for phrases in found for phrase in phrases)


def lacks_answer(accepted: Iterable[Any], record: Mapping[str, Any]) -> bool:
    """Whether a question has no answer, according to its references and the flags of its record.

    Example:
        >>> lacks_answer(["Not answerable"], {}), lacks_answer(["Udo"], {"is_impossible": True})
        (True, True)
        >>> lacks_answer(["None"], {}), lacks_answer(["None"], {"answer_format": "None"})
        (False, True)
    """
    if record and any(record.get(field) in values for field, values in UNANSWERABLE.items()):
        return True
    certain = _list_certain()
    return all(not each or (isinstance(each, str) and _clean(each) in certain) for each in accepted)
