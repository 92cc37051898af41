"""Answers extracted from raw model output."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anls_metric
from anls_metric.reading.extract import EXTRACTORS, answer_in_tags, extractor

ALL_RULES = extractor(",".join(EXTRACTORS))

# The name of a rule -> texts with the answers that it finds; None where it finds nothing.
FOUND: dict[str, list[tuple[str, str | None]]] = {
    "think": [
        ("<think>Pepsi?</think> Coca Cola\n", "Coca Cola"),
        ("Pepsi? No.\n</think>\n\nCoca Cola", "Coca Cola"),  # the prompt had the opening
        ("<think>a</think>b<think>c</think>Coca Cola", "Coca Cola"),
        ("<think>It could be Pepsi, the answer is", ""),  # cut off before it answered
        ("<think>a</think>Coca Cola<think>or", "Coca Cola"),
        ("<thinking>a</thinking>Coca Cola", "Coca Cola"),
        ("◁think▷a◁/think▷Coca Cola", "Coca Cola"),
        ("[THINK]a[/THINK]Coca Cola", "Coca Cola"),
        ("I think: Coca Cola > Pepsi", None),
    ],
    "tag": [
        ("So: <answer> Coca Cola </answer>.", "Coca Cola"),
        ("<answer>Pepsi</answer> no, <answer>Coca Cola</answer>", "Coca Cola"),
        ("<answer>Coca Cola</answer> <answer>", "Coca Cola"),
        ("<answer><answer>Coca Cola</answer></answer>", "Coca Cola"),
        ("<answer></answer>", ""),
        ("<answer>Coca Cola", None),
        ("Coca Cola</answer>", None),
    ],
    "boxed": [
        (r"So it is $\boxed{Coca Cola}$.", "Coca Cola"),
        (r"\boxed{Pepsi} \boxed{Coca Cola}", "Coca Cola"),
        (r"\boxed{Coca {Cola}}", "Coca {Cola}"),
        (r"\boxed{\text{Coca Cola}}", "Coca Cola"),
        (r"\boxed{12\text{ cm} \textbf{\text{long}}}", "12 cm long"),
        (r"\boxed{\text{Coca {Cola}}}", "Coca {Cola}"),
        (r"\boxed{\$1,200 or 50\%}", "$1,200 or 50%"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"{ \boxed{\{7\}}", "{7}"),
        (r"\boxed{7} and \boxed{8", "7"),
        (r"\boxed{7", None),
        ("boxed{7}", None),
    ],
    "json": [
        ('{"answer": "Coca Cola"}', "Coca Cola"),
        ('```json\n{\n  "why": "a {b}",\n  "answer": "Coca Cola"\n}\n```', "Coca Cola"),
        ('Here {it} is: {"answer": "Coca Cola"}. Good {luck}!', "Coca Cola"),
        ('{"answer": "Pepsi"} {"answer": "Coca Cola"} {"page": 7}', "Coca Cola"),
        ('{"result": {"answer": "Coca Cola"}}', "Coca Cola"),
        ('[{"score": 0.9, "answer": ["Coca Cola"]}]', "Coca Cola"),
        ('{"answer": "Caf\\u00e9\nCola"}', "Café\nCola"),
        ('{"answer": 0.10}', "0.10"),
        ('{"answer": 1' + "0" * 5000 + "}", "1" + "0" * 5000),
        ('{"answer": true}', "true"),
        ('{"answer": null}', ""),
        ('{"answer": ["Coca", "Cola"]}', None),
        ('{"Answer": "Coca Cola"}', None),
        ('{"answer": "Coca Cola', None),
        ('"answer": "Coca Cola"', None),
    ],
    "fence": [
        ("```\nCoca Cola\n```", "Coca Cola"),
        ("```text\nCoca Cola\n```", "Coca Cola"),
        ("```c++\r\nCoca\r\nCola\r\n```", "Coca\r\nCola"),
        ("```Coca Cola```", "Coca Cola"),
        ("```Coca\n```", "Coca"),
        ("```Coca Cola\nPepsi```", "Coca Cola\nPepsi"),
        ("```\nPepsi\n``` no:\n```\nCoca Cola\n```", "Coca Cola"),
        ("```\nCoca Cola", "Coca Cola"),
        ("Coca Cola\n```", "Coca Cola"),  # the prompt had the opening
        ("```\n```", ""),
        ("`Coca Cola`", None),
    ],
    "final": [
        ("Answer: Coca Cola", "Coca Cola"),
        ("It reads so.\nFinal answer: Coca Cola\nThank you.", "Coca Cola"),
        ("FINAL ANSWER：Coca Cola", "Coca Cola"),
        ("So the answer is Coca Cola", "Coca Cola"),
        ("The final answer is: Coca Cola.", "Coca Cola."),
        ("**Answer:** Coca Cola", "Coca Cola"),
        ("**Final Answer**: Coca Cola", "Coca Cola"),
        ("**Answer: Coca Cola**", "Coca Cola"),
        ("Answer: **Coca Cola**", "Coca Cola"),
        ("**The answer is Coca Cola** (page 3)", "Coca Cola (page 3)"),
        ("### Final Answer\n\nCoca Cola", "Coca Cola"),
        ("Answer:\n\n  Coca Cola\nPepsi", "Coca Cola"),
        ("Answer: Pepsi. No, the answer is Coca Cola", "Coca Cola"),
        ("Answer: Coca Cola\nFinal answer:", "Coca Cola"),
        ("The answer isn't there", None),
        ("Questions and Answers: 7", None),
        ("answer:", None),
    ],
    "special-tokens": [
        ("Coca Cola<|im_end|>", "Coca Cola"),
        ("<s> Coca Cola</s>", "Coca Cola"),
        ("Coca Cola<|im_end|>\n<|endoftext|>", "Coca Cola"),
        ("Coca Cola<eos><pad><pad>", "Coca Cola"),
        ("Coca Cola<|eot_id|>", "Coca Cola"),
        ("<|begin_of_box|>Coca Cola<|end_of_box|>", "Coca Cola"),
        ("Coca Cola<｜end▁of▁sentence｜>", "Coca Cola"),
        ("a<pad>b<pad>", "a<pad>b"),
        ("</s>", ""),
        ("Coca<|sep|>Cola", None),
        ("a < b > c", None),
    ],
    "bold": [
        ("**Coca Cola**", "Coca Cola"),
        (" __Coca Cola__\n", "Coca Cola"),
        ("***Coca Cola***", "Coca Cola"),
        ("**Coca** and **Cola**", None),
        ("It is **Coca Cola**", None),
        ("****", None),
    ],
    "quotes": [
        ('"Coca Cola"', "Coca Cola"),
        ("'DEAN'S OFFICE'", "DEAN'S OFFICE"),
        ("“Coca Cola”", "Coca Cola"),
        ("„Coca Cola“", "Coca Cola"),
        ("«Coca Cola»", "Coca Cola"),
        ("‘DEAN’S OFFICE’", "DEAN’S OFFICE"),
        ("`Coca Cola`", "Coca Cola"),
        ('"the "zero span" technique"', 'the "zero span" technique'),
        ('"165 cm (5\'6")"', "165 cm (5'6\")"),
        ('""', ""),
        ("“Soda water” and “soda pop”", None),
        ('"Soda water" and "soda pop"', None),
        ('"', None),
        ("Coca 'Cola'", None),
    ],
    "period": [
        ("Coca Cola.", "Coca Cola"),
        ("Coca Cola, Inc.. ", "Coca Cola, Inc."),
        ("コカ・コーラ。", "コカ・コーラ"),
        (".", ""),
        ("Coca Cola...", None),
        ("Coca. Cola", None),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "answer"), [(name, text, answer) for name, rows in FOUND.items() for text, answer in rows]
)
def test_rule_finds_the_answer(name: str, text: str, answer: str | None) -> None:
    assert EXTRACTORS[name].find(text) == answer
    assert extractor(name)(text) == (text if answer is None else answer)


def test_every_rule_has_cases_and_a_meaning() -> None:
    assert list(FOUND) == list(EXTRACTORS)
    assert all(rule.name == name and rule.meaning and rule.marks for name, rule in EXTRACTORS.items())


# A wrapping of answers that score 0.9229 -> how it is made, the score with it, and the rules that remove it.
WRAPPED: dict[str, tuple[Callable[[str], str], float, str]] = {
    "think": (lambda answer: f"<think>\nLet me look at the document.\n</think>\n{answer}", 0.0152, "think"),
    "fenced JSON": (lambda answer: f"```json\n{json.dumps({'answer': answer})}\n```", 0.0782, "json"),
    "the answer is": (lambda answer: f"The answer is {answer}", 0.2219, "final"),
    "special token": (lambda answer: f"{answer}<|im_end|>", 0.3106, "special-tokens"),
    "boxed": (lambda answer: rf"\boxed{{{answer}}}", 0.3723, "boxed"),
    "fence": (lambda answer: f"```\n{answer}\n```", 0.3726, "fence"),
    "answer": (lambda answer: f"Answer: {answer}", 0.3761, "final"),
    "bold": (lambda answer: f"**{answer}**", 0.5688, "bold"),
    "quotes": (lambda answer: f'"{answer}"', 0.7145, "quotes"),
    "period": (lambda answer: f"{answer}.", 0.8024, "period"),
    "tag": (lambda answer: f"<answer>{answer}</answer>", 0.1658, "tag"),
    "several": (
        lambda answer: f'<think>Hm.</think>**The answer is "{answer}".**</s>',
        0.0218,
        "think,final,special-tokens,period,quotes",
    ),
}


@pytest.mark.parametrize(("wrap", "score", "names"), WRAPPED.values(), ids=WRAPPED)
def test_rules_extract_real_answers_from_their_wrapping(
    real_answers: Path, wrap: Callable[[str], str], score: float, names: str
) -> None:
    questions = json.loads((real_answers / "gold.json").read_text("utf-8"))["data"]
    submission = json.loads((real_answers / "submission__nemotron.json").read_text("utf-8"))
    answer_of = {record["questionId"]: record["answer"] for record in submission}
    answers = [answer_of[question["questionId"]] for question in questions]
    references = [question["answers"] for question in questions]
    wrapped = list(map(wrap, answers))
    assert round(anls_metric.mean(anls_metric.anls_scores(wrapped, references)), 4) == score
    assert list(map(extractor(names), wrapped)) == answers
    assert (
        round(anls_metric.mean(anls_metric.anls_scores(list(map(extractor(names), wrapped)), references)), 4) == 0.9229
    )


def test_extractor_applies_rules_in_their_order() -> None:
    text = '<think>The answer is Pepsi</think>"The answer is Coca Cola."'
    assert extractor("think")(text) == '"The answer is Coca Cola."'
    assert extractor(" think , quotes,final, period").signature == "think,quotes,final,period"
    assert extractor("think,quotes,final,period")(text) == "Coca Cola"
    assert extractor("final,period,quotes")(text) == 'Coca Cola."'


def test_extractor_takes_the_name_of_a_field_or_tag() -> None:
    assert extractor("json:brand")('{"answer": "Pepsi", "brand": "Coca Cola"}') == "Coca Cola"
    assert extractor("tag:s_answer")("<s_docvqa><s_answer> Coca Cola</s_answer></s>") == "Coca Cola"
    assert extractor("tag:s_answer,json:a:b").signature == "tag:s_answer,json:a:b"
    assert extractor("json:a:b")('{"a:b": "Coca Cola"}') == "Coca Cola"


def test_extractor_can_be_pickled() -> None:
    extract = extractor("json:brand," + ALL_RULES.signature)
    again = pickle.loads(pickle.dumps(extract))
    assert again.signature == extract.signature
    assert again('{"brand": "**Coca Cola**."}') == extract('{"brand": "**Coca Cola**."}') == "**Coca Cola**"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("thinks", f"no rule 'thinks' .*: there are {', '.join(EXTRACTORS)}"),
        ("", "no rule ''"),
        ("think,", "no rule ''"),
        ("think final", "no rule 'think final'"),
        ("final:7", "no rule 'final:7' .*: there is final$"),
        ("json:", "no rule 'json:' .*: there is json:FIELD$"),
        (None, "extract is None, not a string"),
    ],
)
def test_extractor_refuses_an_unknown_rule(names: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extractor(names)


def test_extraction_refuses_a_value_that_is_no_text() -> None:
    for take in (extractor("think"), answer_in_tags):
        with pytest.raises(ValueError, match=r"text is 7 \(int\), not a string"):
            take(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "answer"), FOUND["tag"])
def test_answer_in_tags_finds_the_answer_or_none(text: str, answer: str | None) -> None:
    assert answer_in_tags(text) == answer
    assert answer_in_tags(text.replace("answer", "x"), tag="x") == answer


# Texts that make rules work hard.
PIECES = [
    *(
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        r"\boxed{",
        r"\text{",
        "{",
        "}",
        "\\",
        '{"answer": ',
        '{"a":',
        '"',
    ),
    *(
        "[",
        "]",
        "```",
        "\n",
        "<|",
        "|>",
        "</s>",
        "Answer:",
        "the ",
        "answer is ",
        "*",
        "_",
        "'",
        "“",
        "”",
        ".",
        " ",
        "a",
    ),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join))
def test_rules_return_a_text_for_any_text(text: str) -> None:
    for rule in EXTRACTORS.values():
        answer = rule.extract(text)
        assert answer is None or (isinstance(answer, str) and answer == answer.strip())
        assert rule.find(text) == answer, "a rule found something in a text without its marks"
    assert isinstance(ALL_RULES(text), str)


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "Zs"])))
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert ALL_RULES(text) == text


@pytest.mark.parametrize("piece", PIECES)
def test_rules_take_linear_time_for_hostile_texts(piece: str) -> None:
    """A rule of quadratic time would take hours."""
    for start in ("", '"', r"\boxed{", "Answer: "):
        text = start + piece * (60_000 // len(piece)) + start[::-1]
        for rule in EXTRACTORS.values():
            answer = rule.extract(text)
            assert answer is None or len(answer) <= len(text)


# Answers that are lists and nested values: the text -> the JSON that the rule finds; None where it finds nothing.
FOUND_VALUES: dict[str, list[tuple[str, str | None]]] = {
    "json": [
        ('Here: {"total": "12.50", "items": [1, 2]}, see [3].', '{"total": "12.50", "items": [1, 2]}'),
        ('["a", "b"]', '["a", "b"]'),
        ('```json\n[\n  "a"\n]\n```', '[\n  "a"\n]'),
        ('[see] {"a": 0.10}', '{"a": 0.10}'),
        ("[1] [2]", "[1]"),
        ('{"a": "b"', None),
        ("Coca Cola", None),
        ("[" * 10_000, None),
        ('{"a": ' * 10_000, None),
    ],
    "json:answer": [
        ('{"answer": ["a"]} {"answer": {"b": "é"}} {"page": 7}', '{"b": "é"}'),
        ('{"answer": "Coca Cola"}', '"Coca Cola"'),
        ('{"result": {"answer": []}}', "[]"),
        ('["a"]', None),
    ],
    "fence": [('So:\n```json\n["a"]\n```', '["a"]')],
}


@pytest.mark.parametrize(("rule", "text", "value"), [(r, *case) for r, cases in FOUND_VALUES.items() for case in cases])
def test_rule_of_values_finds_json(rule: str, text: str, value: str | None) -> None:
    extract = pickle.loads(pickle.dumps(extractor(rule, values=True)))
    assert extract(text) == (text if value is None else value)
    assert extract.signature == rule
