"""Answers extracted from raw model output."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anls_metric
from anls_metric.reading.extract import (
    EXTRACTORS,
    answer_in_tags,
    describe_extraction,
    extract_all,
    extractor,
)

ALL_RULES = extractor(",".join(EXTRACTORS))

# The name of a rule -> texts with the answers that the rule finds; None for no answer.
FOUND: dict[str, list[tuple[str, str | None]]] = {
    "harmony": [
        (
            "<|channel|>analysis<|message|>Pepsi?<|end|><|start|>assistant"
            "<|channel|>final<|message|>Coca Cola<|return|>",
            "Coca Cola",
        ),
        ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", "{}"),
        ("<|channel|>final<|message|>Pepsi<|end|><|channel|>final<|message|>Coca Cola", "Coca Cola"),
        ("<|channel|>analysis<|message|>It could be Pepsi, the final", ""),  # cut off before it answered
        ("analysisIt could be Pepsi.assistantfinalCoca Cola", "Coca Cola"),  # decoded without special tokens
        ("The assistantfinal is out", None),
        ("analysis of Coca Cola", None),
    ],
    "chat": [
        ("USER: <image>\nWhich brand? ASSISTANT: Coca Cola", "Coca Cola"),
        ("Human: Which?\n\nAssistant: Coca Cola\n\nHuman: And", "Coca Cola"),
        ("<|im_start|>user\nWhich?<|im_end|>\n<|im_start|>assistant\nCoca Cola<|im_end|>", "Coca Cola"),
        (
            "<|start_header_id|>user<|end_header_id|>\n\nWhich?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nCoca Cola<|eot_id|>",
            "Coca Cola",
        ),
        ("system\nYou are helpful.\nuser\nWhich?\nassistant\nCoca Cola", "Coca Cola"),
        ("[INST] Which? [/INST] Coca Cola</s>", "Coca Cola"),
        ("<start_of_turn>user\nWhich?<end_of_turn>\n<start_of_turn>model\nCoca Cola<end_of_turn>", "Coca Cola"),
        ("<|user|>\nWhich?<|end|>\n<|assistant|>\nCoca Cola<|end|>", "Coca Cola"),
        ("### Instruction:\nWhich?\n\n### Response:\nCoca Cola", "Coca Cola"),
        ("USER: a ASSISTANT: Pepsi USER: b ASSISTANT: Coca Cola", "Coca Cola"),
        ("USER: a ASSISTANT: Coca Cola USER: thanks ASSISTANT:", "Coca Cola"),
        ("USER: Which? ASSISTANT:", ""),
        ("USER: Coca Cola", None),
        ("Assistant Professor: R. Jones", None),
        ("Medical assistant", None),
    ],
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
        ('{"page": {"answer": "Pepsi"}, "answer": "Coca Co', None),  # cut off: a part of it is another answer
    ],
    "python": [
        ("{'answer': 'Coca Cola'}", "Coca Cola"),
        ("Here: {'why': \"it's red\", 'answer': 'Coca Cola'}.", "Coca Cola"),
        ("{'result': {'answer': ['Coca Cola']}}", "Coca Cola"),
        ("{'answer': 'Pepsi'} {'answer': 'Coca Cola'} {'page': 7}", "Coca Cola"),
        ('{"answer": "Coca Cola", "page": None}', "Coca Cola"),
        ("{'answer': 0.10}", "0.10"),
        ("{'answer': True}", "true"),
        ("{'answer': None}", ""),
        (r"{'answer': 'Caf\u00e9 \d'}", r"Café \d"),
        ("{'answer': ['Coca', 'Cola']}", None),
        ("{'answer': open('x')}", None),
        ("{'answer': 'Coca Cola", None),
        ("{'answer': '" + "a" * 20_000 + "'}", None),
        ("{Coca: Cola}", None),
    ],
    "list": [
        ("['Coca Cola']", "Coca Cola"),
        ('["Coca Cola"]', "Coca Cola"),
        ('["R. \\u00c9mile \\/ Sons"]', "R. Émile / Sons"),
        ('["DEAN\'S OFFICE"]', "DEAN'S OFFICE"),
        ("('Coca Cola',)", "Coca Cola"),
        ("{'Coca Cola'}", "Coca Cola"),
        ("['Coca', 'Cola']", None),
        ("('Coca Cola')", None),
        ("[7]", None),
        ("[Coca Cola]", None),
        ("['Coca Cola", None),
        ("It is ['Coca Cola']", None),
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
    "html": [
        ("<p>Coca Cola</p>", "Coca Cola"),
        ("<div class='a'><b>Coca</b> Cola<br/></div>", "Coca Cola"),
        ("<ul>\n<li>Coca</li>\n<li>Cola</li>\n</ul>", "Coca\nCola"),
        ("AT&amp;T &#169; 1999 &eacute;", "AT&T © 1999 é"),
        ("<P></P>", ""),
        ("a <b and c> d", None),
        ("2 < 3 > 1 & AT&T &c", None),
        ("<answer>Coca Cola</answer>", None),
        ("<img_1> Coca Cola</s>", None),
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
    "first-line": [
        ("Coca Cola\n\nThe logo says so.", "Coca Cola"),
        ("Coca Cola\n\nQuestion: Which", "Coca Cola"),
        ("Coca Cola\nQ: Which", "Coca Cola"),
        ("Coca Cola\n**Explanation:** The logo", "Coca Cola"),
        ("Coca Cola\r\n \r\nThe logo", "Coca Cola"),
        ("Coca Cola Question: Which", "Coca Cola"),
        ("12 Main Street\nSpringfield\n\nIt stands on top.", "12 Main Street\nSpringfield"),
        ("12 Main Street\nSpringfield", None),
        ("The answer is:\n\nCoca Cola", None),
        ("Question: Which?\nA: Coca Cola", None),
        ("?\n\nCoca Cola", None),
    ],
    "repeat": [
        ("Coca Cola\nCoca Cola", "Coca Cola"),
        ("Coca Cola Coca Cola Coca Cola", "Coca Cola"),
        ("Coca Cola, Coca Cola, Coca Cola, Co", "Coca Cola"),
        ("24 24 24 24", "24"),
        ("Quinn and Co., Inc. Quinn and Co., Inc.", "Quinn and Co., Inc."),
        ("12 Main St\n\n12 Main St\n\n12 Ma", "12 Main St"),
        ("New York, New York", None),
        ("Walla Walla", None),
        ("Coca Cola Coca Cola", None),
        ("Coca Cola Coca Pepsi Coca Cola", None),
        ("555 555 5555", None),
        ("1 2 1 2 1 3", None),
    ],
    "prefix": [
        ("A: Coca Cola", "Coca Cola"),
        ("Response:\nCoca Cola", "Coca Cola"),
        ("Output: Coca Cola", "Coca Cola"),
        ("RESULT : Coca Cola", "Coca Cola"),
        ("**Predicted answer:** Coca Cola", "Coca Cola"),
        ("答案：可口可乐", "可口可乐"),
        ("答案是可口可乐", "可口可乐"),
        ("答案为：可口可乐", "可口可乐"),
        ("Réponse : Coca Cola", "Coca Cola"),
        ("- Coca Cola", "Coca Cola"),
        ("• $5", "$5"),
        ("1. Coca Cola", "Coca Cola"),
        ("(1) Coca Cola", "Coca Cola"),
        ("1. A: - Coca Cola", "Coca Cola"),
        ("- Coca\n- Cola", None),
        ("1. Coca\n2. Cola", None),
        ("1. Januar 2020", None),
        ("- 12 -", None),
        ("-5", None),
        ("1.5", None),
        ("A:", None),
    ],
    "sentence": [
        ("The title mentioned in the document is Coca Cola.", "Coca Cola"),
        ("The title mentioned in the document is Coca Cola", "Coca Cola"),
        ("It's $5.", "$5"),
        ("The date is 21/4/1956", "21/4/1956"),
        ("The amount is $33,207.64.", "$33,207.64"),
        ("According to the letter, the company is Quinn and Co., Inc..", "Quinn and Co., Inc."),
        ("The slogan is: This is it.", "This is it"),
        ("The person that is named on top is R. Jones.", "R. Jones"),
        ("The person who is listed in box 3 is R. Jones.", "R. Jones"),
        ("The letter was signed by R. Jones.", "R. Jones"),
        ("The total is $5. It stands on page 3.", "$5"),
        ("The medium is the message", None),
        ("This side of card is for address", None),
        ("The date is not mentioned in the document.", None),
        ("There is no date.", None),
        ("The Sun Is Rising.", None),
        ("Time is money.", None),
        ("Sodium is a nutrient.\nIt is.", None),
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
    "math": [
        ("$Coca Cola$", "Coca Cola"),
        (r"\( 70 \% \)", "70 %"),
        (r"\[\text{Coca Cola}\]", "Coca Cola"),
        ("$$12.5$$", "12.5"),
        (r"$\$485$", "$485"),
        ("$5", None),
        ("$5 to $10", None),
        ("$5 and 10 $", None),
        ("$a$ and $b$", None),
        ("$", None),
        ("$$$", None),
        (r"$5\$", None),
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


# Answers that no rule may change, except rules that drop a period.
UNTOUCHED = [
    *(
        "$5",
        "$5 to $10",
        "$33,207.64",
        "US$ 5.00",
        "5 $",
        "(5,000)",
        "-5",
        "- ",
        "1.5",
        "0.10",
        "22.1%",
        "12-14",
        "#7",
        "*",
    ),
    *("April 21, 1956", "21/4/1956", "1. Januar 2020", "4-2-87", "10:30", "10:30 - 11:00 a.m", "11.14 to 11.39"),
    *(
        "Ratio 1:2",
        "Vitamin A: 5 mg",
        "Re: A: B",
        "Attn: R. Jones",
        "Dr. R. Jones: Chair",
        "Subject: Answers",
        "A",
        "A."[:1],
    ),
    *("P.O. Box 6839, Richmond, VA 86928", "12 Main St.\nSpringfield, IL", "New York, New York", "(641) 555-3891"),
    *("Coca Cola, Pepsi and Fanta", "a; b; c", "[1]", "[Redacted]", "{1, 2}", "(a)", "a, b, a, b", "x = {1: 2}", "I/O"),
    *(
        "AT&T",
        "R&D",
        "2 < 3 > 1",
        "a<b",
        "http://a.b/c?d=1&e=2",
        "r.jones@example.com",
        "C:\\Temp\\a_b",
        "O'Neil & Sons",
    ),
    *(
        "What is Life?",
        "The medium is the message",
        "The Who",
        "There is no date",
        "Is it?",
        "this is it",
        "To be or not to be",
    ),
    *(
        "Question 5",
        "Questions: none",
        "User manual",
        "Assistant Director",
        "analysis",
        "Result",
        "Note",
        "USER",
        "None",
        "nan",
    ),
    *(
        "5'6\"",
        'the "zero span" test',
        "a * b * c",
        "snake_case_name",
        "** note",
        "Walla Walla",
        "No. 5 - No. 7",
        "可口可乐",
        "",
    ),
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_answer_without_a_wrapping_stays_as_it_is(text: str) -> None:
    changed = {name: answer for name, rule in EXTRACTORS.items() if (answer := rule.find(text)) not in (None, text)}
    assert {name: answer for name, answer in changed.items() if name != "period"} == {}


def test_every_rule_has_cases_and_a_meaning() -> None:
    assert list(FOUND) == list(EXTRACTORS)
    assert all(rule.name == name and rule.meaning and rule.marks for name, rule in EXTRACTORS.items())


# A wrapping of answers that score 0.9229 -> a function that makes it, the score with it, and the rules that remove it.
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
        ("thinks", r"unknown extraction rule 'thinks': did you mean think\?"),
        ("", r"the names of rules are '' \(str\): pass a string, such as"),
        ("think,", "unknown extraction rule ''"),
        ("think final", "unknown extraction rule 'think final'"),
        ("final:7", "unknown extraction rule 'final:7'; write final$"),
        ("json:", "unknown extraction rule 'json:'; write json:FIELD$"),
        (None, "the names of rules are None: pass a string, such as"),
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


# What the rules did


def test_extract_all_returns_answers_and_counts() -> None:
    texts = ['<think>a</think>{"answer": "b"}', "b", None, "<think>a</think>b", '{"answer": "b']
    answers, counts = extract_all(extractor("think,json"), texts)
    assert answers == ["b", "b", None, "b", '{"answer": "b']
    assert counts == {
        "think": {"changed": 2, "left": 2},
        "json": {"changed": 1, "left": 3},
    }
    assert extract_all(extractor("think"), []) == ([], {"think": {"changed": 0, "left": 0}})


def test_describe_extraction_counts_what_changed() -> None:
    assert describe_extraction({"json:brand": {"changed": 200, "left": 1000}, "think": {"changed": 0, "left": 1}}) == [
        "json:brand changed 200 of 1,200 answers and left 1,000",
        "think changed 0 of 1 answer and left 1",
    ]


def test_part_of_values_that_are_cut_off_is_no_answer() -> None:
    texts = ['{"vendor": {"name": "a"}, "items": [{"b": "c"}', '{"items": [{"a": 1},], "b": 2}', '[{"a": "b"}, {"c"']
    counts = {"json": {"changed": 0, "left": 3}}
    assert extract_all(extractor("json", values=True), texts) == (texts, counts)


# Pieces of texts that are expensive for rules.
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
    *(
        "<|channel|>",
        "final<|message|>",
        "USER:",
        "ASSISTANT:",
        "\nassistant\n",
        "<p ",
        "&#1",
        "{'a': ",
        "['",
        "('a',",
        "-1",
    ),
    *("\n \n", "Question:", "a ", "b a ", "A: ", "- ", "The ", "that is ", "signed by ", "$", r"\(", "'s ", "7", "é: "),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join))
@example("0\x0c\r0\x0c\r0")
def test_rules_return_a_text_for_any_text(text: str) -> None:
    for rule in EXTRACTORS.values():
        answer = rule.extract(text)
        assert answer is None or (isinstance(answer, str) and answer == answer.strip())
        assert rule.find(text) == answer, "a rule found something in a text without its marks"
    assert isinstance(ALL_RULES(text), str)


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "Zs"])))
@example("assistant")  # an answer, and no role: nothing follows it
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert ALL_RULES(text) == text


@pytest.mark.parametrize("piece", PIECES)
def test_rules_take_linear_time_for_hostile_texts(piece: str) -> None:
    """A rule with quadratic time would take many minutes."""
    for start in ("", '"', r"\boxed{", "Answer: "):
        text = start + piece * (20_000 // len(piece)) + start[::-1]
        for rule in EXTRACTORS.values():
            answer = rule.extract(text)
            assert answer is None or len(answer) <= len(text)


# Answers that are lists and nested values: texts with the JSON that the rule finds; None for no answer.
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
    "python": [
        ("So: {'total': 12.5, 'items': ['a', None]}.", '{"total": 12.5, "items": ["a", null]}'),
        ("{'a': ('b', 'é')}", '{"a": ["b", "é"]}'),
        ("{'a': {'b'}}", '{"a": ["b"]}'),
        ("{'a': 'b'", None),
    ],
    "python:brand": [("{'brand': ['a']} {'page': 7}", '["a"]')],
    "list": [("['a', 1]", '["a", 1]'), ('["a"]', '["a"]'), ("[a]", None), ("('a',)", '["a"]')],
    "fence": [('So:\n```json\n["a"]\n```', '["a"]')],
}


@pytest.mark.parametrize(("rule", "text", "value"), [(r, *case) for r, cases in FOUND_VALUES.items() for case in cases])
def test_rule_of_values_finds_json(rule: str, text: str, value: str | None) -> None:
    extract = pickle.loads(pickle.dumps(extractor(rule, values=True)))
    assert extract(text) == (text if value is None else value)
    assert extract.signature == rule
