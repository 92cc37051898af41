"""Answers that abstain: forms that people posted, and answers that look like them."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric.core.strings.abstention import FORMS, abstains, lacks_answer

POSTED = {
    "English": """
        It is not possible to determine the city.
        The document does not contain this information.
        None of the provided pages relate to the question.
        I couldn't find the date on this page.
        The answer cannot be determined because the page is missing.
        The detailed text itself isn't included in the material.
        There is no date mentioned in the document.
        the detailed policy text itself isn't included in the indexed materials
        I couldn't find the actual text of Northwind's parental leave policy
        does not include a specific text for the parental-leave policy in the documents that are currently indexed
        I can not answer the question because of the insufficient information in documents.
        I don't have that information
        not enough information
        I’m not sure.
        We can’t determine.
        This problem cannot be answered.
        It is impossible to answer.
        We are not given enough information.
        There is no public information available.
        I'm sorry, but I can't
        As an AI model
        **Not Answerable**
        (unanswerable).
        CANNOTANSWER
        N/A
    """,
    "German": """
        Ich konnte in den indizierten Dokumenten leider **keine eigentliche Richtlinie zur Elternzeit** finden
        Diese Information ist nicht in der Wissensdatenbank verfügbar.
        Es liegen keine Informationen zu dieser Frage in der Wissensdatenbank vor.
        Ich habe dazu keine gesicherten Informationen in der Wissensdatenbank gefunden.
        Es tut mir wirklich leid, dass ich dir im Moment keine klare Antwort geben kann.
        nicht in den Regeln angegeben
        Das kann nicht beantwortet werden.
        Ich weiß es nicht.
        k. A.
    """,
    "French": """
        Je ne trouve pas cette information dans les documents.
        Je ne trouve pas l'information dans les documents à ma disposition.
        Désolé, je ne peux pas aider sur ce sujet.
        pas spécifié dans les règles
        Le document ne mentionne pas cette date.
        Cette information n'est pas mentionnée dans le document.
        Aucune information n'est disponible.
        Non précisé
    """,
    "Spanish": """
        Lo siento mucho, pero no puedo responder a tu mensaje.
        no tengo información
        no tengo la respuesta a esa pregunta
        No puedo encontrar
        no especificado en las reglas
        No se menciona en el documento.
        El documento no contiene esa información.
        No lo sé
    """,
    "Chinese": """
        文档信息不足，因此我无法基于提供的文档回答该问题。
        抱歉，无法从检索到的文档中找到解决此问题的信息。
        文件中找不到
        文件中没有相关信息
        根据图片无法确定
        无法回答
        未提及
    """,
    "Japanese": """
        見つかりませんでした
        わかりません
        わからない
        文書に記載されていません。
        この情報は記載がありません
        申し訳ありませんが、お答えできません。
        該当なし
    """,
}

ANSWERS = """
    A
    N
    E
    (C)
    D.
    Na
    No
    No. 5
    Dr. No
    not
    Nine
    Nothing
    None of the above
    Sorry Street 5
    Can do
    mention
    Fail to answer
    Not Answered
    0
    -
    ...
    No smoking
    Kein Kopierschutz
    Nicht rauchen
    Pas-de-Calais
    No entry
    未成年
    未来
    ないとう
"""


def split(texts: str) -> list[str]:
    return [line.strip() for line in texts.strip().splitlines()]


@pytest.mark.parametrize("language", [forms.language for forms in FORMS])
def test_posted_forms_abstain(language: str) -> None:
    assert [text for text in split(POSTED[language]) if not abstains(text)] == []


def test_every_answer_of_the_table_abstains_and_names_its_source() -> None:
    for forms in FORMS:
        assert [answer for answer in forms.answers if not abstains(f"**{answer[0].upper()}{answer[1:]}.**")] == []
        assert len(set(forms.answers)) == len(forms.answers)
        assert all(source.startswith("https://") for source in forms.sources)


def test_answers_do_not_abstain() -> None:
    assert [text for text in split(ANSWERS) if abstains(text)] == []


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_blank_answer_abstains(text: str) -> None:
    assert abstains(text)
    assert abstains(text, ["Udo"])


def test_accepted_answer_does_not_abstain() -> None:
    assert abstains("None")
    assert not abstains("None.", ["none", "0"])
    assert not abstains("Coca-Cola does not contain Saccharin", ["Coca-Cola does not contain saccharin"])


@pytest.mark.parametrize(
    ("accepted", "record", "expected"),
    [
        ([], {}, True),
        ([""], {}, True),
        (["Not answerable"], {}, True),
        (["not answerable", "Unanswerable."], {}, True),
        (["Unanswerable", "Udo"], {}, False),
        (["None"], {}, False),
        (["unknown"], {}, False),
        (["Udo"], {}, False),
        (["Udo"], {"answer_type": "extractive", "answer_format": "Str", "is_impossible": False}, False),
        (["x"], {"answer_type": "not-answerable"}, True),
        (["None"], {"answer_format": "None"}, True),
        (["Udo"], {"is_impossible": True}, True),
        ([[]], {}, True),
        ([{"total": "5"}], {}, False),
    ],
)
def test_question_without_an_answer(accepted: list[Any], record: dict[str, Any], expected: bool) -> None:
    assert lacks_answer(accepted, record) == expected
