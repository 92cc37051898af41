"""Answers extracted from raw model output."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS, answer_in_tags, extract_all, extractor

ALL_RULES = extractor(",".join(EXTRACTORS))


class Cases(NamedTuple):
    """Texts in which a rule finds "Coca Cola", in which it finds another answer, and in which it finds nothing."""

    cola: list[str]
    others: dict[str, str]
    nothing: list[str]

    def pairs(self) -> list[tuple[str, str | None]]:
        return [*((text, "Coca Cola") for text in self.cola), *self.others.items(), *((t, None) for t in self.nothing)]


FOUND: dict[str, Cases] = {
    "harmony": Cases(
        ["<|channel|>analysis<|message|>Pepsi?<|end|><|start|>assistant<|channel|>final<|message|>Coca Cola<|return|>",
         "<|channel|>final<|message|>Pepsi<|end|><|channel|>final<|message|>Coca Cola",
         "analysisIt could be Pepsi.assistantfinalCoca Cola"],
        {"<|channel|>final <|constrain|>json<|message|>{}<|return|>": "{}",
         "<|channel|>analysis<|message|>It could be Pepsi, the final": ""},
        ["The assistantfinal is out", "analysis of Coca Cola"]),
    "chat": Cases(
        ["USER: <image>\nWhich brand? ASSISTANT: Coca Cola", "Human: Which?\n\nAssistant: Coca Cola\n\nHuman: And",
         "<|im_start|>user\nWhich?<|im_end|>\n<|im_start|>assistant\nCoca Cola<|im_end|>",
         "<|start_header_id|>user<|end_header_id|>\n\nWhich?<|eot_id|>"
         "<|start_header_id|>assistant<|end_header_id|>\n\nCoca Cola<|eot_id|>",
         "system\nYou are helpful.\nuser\nWhich?\nassistant\nCoca Cola", "[INST] Which? [/INST] Coca Cola</s>",
         "<start_of_turn>user\nWhich?<end_of_turn>\n<start_of_turn>model\nCoca Cola<end_of_turn>",
         "<|user|>\nWhich?<|end|>\n<|assistant|>\nCoca Cola<|end|>",
         "### Instruction:\nWhich?\n\n### Response:\nCoca Cola",
         "USER: a ASSISTANT: Pepsi USER: b ASSISTANT: Coca Cola",
         "USER: a ASSISTANT: Coca Cola USER: thanks ASSISTANT:"],
        {"USER: Which? ASSISTANT:": ""},
        ["USER: Coca Cola", "Assistant Professor: R. Jones", "Medical assistant"]),
    "think": Cases(
        ["<think>Pepsi?</think> Coca Cola\n", "Pepsi? No.\n</think>\n\nCoca Cola",
         "<think>a</think>b<think>c</think>Coca Cola", "<think>a</think>Coca Cola<think>or",
         "<thinking>a</thinking>Coca Cola", "◁think▷a◁/think▷Coca Cola", "[THINK]a[/THINK]Coca Cola",
         "<reasoning>a</reasoning>Coca Cola", "<seed:think>a</seed:think>\nCoca Cola", "<thought>a</thought>Coca Cola",
         "<|START_THINKING|>a<|END_THINKING|>Coca Cola", "<|channel>thought\na<channel|>Coca Cola"],
        {"<think>It could be Pepsi, the answer is": ""},
        ["I think: Coca Cola > Pepsi"]),
    "tag": Cases(
        ["So: <answer> Coca Cola </answer>.", "<answer>Pepsi</answer> no, <answer>Coca Cola</answer>",
         "<answer>Coca Cola</answer> <answer>", "<answer><answer>Coca Cola</answer></answer>",
         "So: <answer> Coca Cola"],
        {"<answer></answer>": "",
         "<answer>Coca Cola</answer><|im_end|>\n<|im_start|>user\n<answer>Pepsi</answer>": "Coca Cola",
         "<answer>Coca Cola<|eot_id|><answer>Pepsi</answer>": "Coca Cola",
         "<answer>Coca Cola</answer></s> <answer>Pepsi</answer>": "Coca Cola",
         "Hm.<end_of_turn>\n<answer>Coca Cola</answer>": "Coca Cola",
         "<|im_start|>user\n<answer>Pepsi</answer>?<|im_end|>\n<|im_start|>assistant\n<answer>Coca Cola</answer>":
            "Coca Cola"},
        ["Coca Cola</answer>"]),
    "boxed": Cases(
        [r"So it is $\boxed{Coca Cola}$.", r"\boxed{Pepsi} \boxed{Coca Cola}", r"\boxed{\text{Coca Cola}}"],
        {r"\boxed{Coca {Cola}}": "Coca {Cola}", r"\boxed{12\text{ cm} \textbf{\text{long}}}": "12 cm long",
         r"\boxed{\text{Coca {Cola}}}": "Coca {Cola}", r"\boxed{\$1,200 or 50\%}": "$1,200 or 50%",
         r"\boxed{\boxed{7}}": "7", r"{ \boxed{\{7\}}": "{7}", r"\boxed{7} and \boxed{8": "7"},
        [r"\boxed{7", "boxed{7}"]),
    "json": Cases(
        ['{"answer": "Coca Cola"}', '```json\n{\n  "why": "a {b}",\n  "answer": "Coca Cola"\n}\n```',
         'Here {it} is: {"answer": "Coca Cola"}. Good {luck}!',
         '{"answer": "Pepsi"} {"answer": "Coca Cola"} {"page": 7}', '{"result": {"answer": "Coca Cola"}}',
         '[{"score": 0.9, "answer": ["Coca Cola"]}]'],
        {'{"answer": "Caf\\u00e9\nCola"}': "Café\nCola", '{"answer": 0.10}': "0.10",
         '{"answer": 1' + "0" * 5000 + "}": "1" + "0" * 5000, '{"answer": true}': "true", '{"answer": null}': ""},
        ['{"answer": ["Coca", "Cola"]}', '{"Answer": "Coca Cola"}', '{"answer": "Coca Cola', '"answer": "Coca Cola"',
         '{"page": {"answer": "Pepsi"}, "answer": "Coca Co']),
    "python": Cases(
        ["{'answer': 'Coca Cola'}", "Here: {'why': \"it's red\", 'answer': 'Coca Cola'}.",
         "{'result': {'answer': ['Coca Cola']}}", "{'answer': 'Pepsi'} {'answer': 'Coca Cola'} {'page': 7}",
         '{"answer": "Coca Cola", "page": None}'],
        {"{'answer': 0.10}": "0.10", "{'answer': True}": "true", "{'answer': None}": "",
         r"{'answer': 'Caf\u00e9 \d'}": r"Café \d"},
        ["{'answer': ['Coca', 'Cola']}", "{'answer': open('x')}", "{'answer': 'Coca Cola",
         "{'answer': '" + "a" * 20_000 + "'}", "{Coca: Cola}"]),
    "list": Cases(
        ["['Coca Cola']", '["Coca Cola"]', "('Coca Cola',)", "{'Coca Cola'}"],
        {'["R. \\u00c9mile \\/ Sons"]': "R. Émile / Sons", '["DEAN\'S OFFICE"]': "DEAN'S OFFICE"},
        ["['Coca', 'Cola']", "('Coca Cola')", "[7]", "[Coca Cola]", "['Coca Cola", "It is ['Coca Cola']"]),
    "fence": Cases(
        ["```\nCoca Cola\n```", "```text\nCoca Cola\n```", "```Coca Cola```",
         "```\nPepsi\n``` no:\n```\nCoca Cola\n```", "```\nCoca Cola", "Coca Cola\n```"],
        {"```c++\r\nCoca\r\nCola\r\n```": "Coca\r\nCola", "```Coca\n```": "Coca",
         "```Coca Cola\nPepsi```": "Coca Cola\nPepsi", "```\n```": ""},
        ["`Coca Cola`"]),
    "html": Cases(
        ["<p>Coca Cola</p>", "<div class='a'><b>Coca</b> Cola<br/></div>"],
        {"<ul>\n<li>Coca</li>\n<li>Cola</li>\n</ul>": "Coca\nCola", "AT&amp;T &#169; 1999 &eacute;": "AT&T © 1999 é",
         "<P></P>": ""},
        ["a <b and c> d", "2 < 3 > 1 & AT&T &c", "<answer>Coca Cola</answer>", "<img_1> Coca Cola</s>"]),
    "final": Cases(
        ["Answer: Coca Cola", "It reads so.\nFinal answer: Coca Cola\nThank you.", "FINAL ANSWER：Coca Cola",
         "So the answer is Coca Cola", "**Answer:** Coca Cola", "**Final Answer**: Coca Cola", "**Answer: Coca Cola**",
         "Answer: **Coca Cola**", "### Final Answer\n\nCoca Cola", "Answer:\n\n  Coca Cola\nPepsi",
         "Answer: Pepsi. No, the answer is Coca Cola", "Answer: Coca Cola\nFinal answer:"],
        {"The final answer is: Coca Cola.": "Coca Cola.", "**The answer is Coca Cola** (page 3)": "Coca Cola (page 3)"},
        ["The answer isn't there", "Questions and Answers: 7", "answer:"]),
    "special-tokens": Cases(
        ["Coca Cola<|im_end|>", "<s> Coca Cola</s>", "Coca Cola<|im_end|>\n<|endoftext|>", "Coca Cola<eos><pad><pad>",
         "Coca Cola<|eot_id|>", "<|begin_of_box|>Coca Cola<|end_of_box|>", "Coca Cola<｜end▁of▁sentence｜>"],
        {"a<pad>b<pad>": "a<pad>b", "</s>": ""},
        ["Coca<|sep|>Cola", "a < b > c"]),
    "first-line": Cases(
        ["Coca Cola\n\nThe logo says so.", "Coca Cola\n\nQuestion: Which", "Coca Cola\nQ: Which",
         "Coca Cola\n**Explanation:** The logo", "Coca Cola\r\n \r\nThe logo", "Coca Cola Question: Which"],
        {"12 Main Street\nSpringfield\n\nIt stands on top.": "12 Main Street\nSpringfield"},
        ["12 Main Street\nSpringfield", "The answer is:\n\nCoca Cola", "Question: Which?\nA: Coca Cola",
         "?\n\nCoca Cola"]),
    "repeat": Cases(
        ["Coca Cola\nCoca Cola", "Coca Cola Coca Cola Coca Cola", "Coca Cola, Coca Cola, Coca Cola, Co"],
        {"24 24 24 24": "24", "Quinn and Co., Inc. Quinn and Co., Inc.": "Quinn and Co., Inc.",
         "12 Main St\n\n12 Main St\n\n12 Ma": "12 Main St"},
        ["New York, New York", "Walla Walla", "Coca Cola Coca Cola", "Coca Cola Coca Pepsi Coca Cola", "555 555 5555",
         "1 2 1 2 1 3"]),
    "prefix": Cases(
        ["A: Coca Cola", "Response:\nCoca Cola", "Output: Coca Cola", "RESULT : Coca Cola",
         "**Predicted answer:** Coca Cola", "Réponse : Coca Cola", "- Coca Cola", "1. Coca Cola", "(1) Coca Cola",
         "1. A: - Coca Cola"],
        {"答案：可口可乐": "可口可乐", "答案是可口可乐": "可口可乐", "答案为：可口可乐": "可口可乐", "• $5": "$5"},
        ["- Coca\n- Cola", "1. Coca\n2. Cola", "1. Januar 2020", "- 12 -", "-5", "1.5", "A:"]),
    "sentence": Cases(
        ["The title mentioned in the document is Coca Cola.", "The title mentioned in the document is Coca Cola"],
        {"It's $5.": "$5", "The date is 21/4/1956": "21/4/1956", "The amount is $33,207.64.": "$33,207.64",
         "According to the letter, the company is Quinn and Co., Inc..": "Quinn and Co., Inc.",
         "The slogan is: This is it.": "This is it", "The person that is named on top is R. Jones.": "R. Jones",
         "The person who is listed in box 3 is R. Jones.": "R. Jones",
         "The letter was signed by R. Jones.": "R. Jones", "The total is $5. It stands on page 3.": "$5"},
        ["The medium is the message", "This side of card is for address", "The date is not mentioned in the document.",
         "There is no date.", "The Sun Is Rising.", "Time is money.", "Sodium is a nutrient.\nIt is."]),
    "bold": Cases(
        ["**Coca Cola**", " __Coca Cola__\n", "***Coca Cola***"],
        {},
        ["**Coca** and **Cola**", "It is **Coca Cola**", "****"]),
    "quotes": Cases(
        ['"Coca Cola"', "“Coca Cola”", "„Coca Cola“", "«Coca Cola»", "`Coca Cola`"],
        {"'DEAN'S OFFICE'": "DEAN'S OFFICE", "‘DEAN’S OFFICE’": "DEAN’S OFFICE",
         '"the "zero span" technique"': 'the "zero span" technique', '"165 cm (5\'6")"': "165 cm (5'6\")", '""': ""},
        ["“Soda water” and “soda pop”", '"Soda water" and "soda pop"', '"', "Coca 'Cola'"]),
    "math": Cases(
        ["$Coca Cola$", r"\[\text{Coca Cola}\]"],
        {r"\( 70 \% \)": "70 %", "$$12.5$$": "12.5", r"$\$485$": "$485"},
        ["$5", "$5 to $10", "$5 and 10 $", "$a$ and $b$", "$", "$$$", r"$5\$"]),
    "letter": Cases(
        [],
        {**dict.fromkeys(["(B)", "(b)", "[B]", "B.", "B)", "B: Rotterdam", "B. Rotterdam", "**B**", "Option B",
         "Answer: B", "The answer is (B).", "The correct option is **B**.", "So the best choice is option B."], "B"),
         "B\n\nIt stands on page 3.": "B", "A. 1988": "A"},
        ["A dog", "I think so", "Basel", "AB", "Rotterdam (B)", "The answer is Rotterdam.", "U.S.", "Option Basel"]),
    "period": Cases(
        ["Coca Cola."],
        {"Coca Cola, Inc.. ": "Coca Cola, Inc.", "コカ・コーラ。": "コカ・コーラ", ".": ""},
        ["Coca Cola...", "Coca. Cola"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_rule_finds_the_answer(name: str) -> None:
    extract = pickle.loads(pickle.dumps(extractor(name)))
    assert extract.signature == name
    for text, answer in FOUND[name].pairs():
        assert (text, EXTRACTORS[name].find(text)) == (text, answer)
        assert extract(text) == (text if answer is None else answer)


# Answers that no rule may change, except rules that drop a period.
UNTOUCHED = (  # noqa: SIM905
    "$5 | $5 to $10 | $33,207.64 | US$ 5.00 | 5 $ | (5,000) | -5 | -  | 1.5 | 0.10 | 22.1% | 12-14 | #7 | * | "
    "April 21, 1956 | 21/4/1956 | 1. Januar 2020 | 4-2-87 | 10:30 | 10:30 - 11:00 a.m | 11.14 to 11.39 | "
    "Ratio 1:2 | Vitamin A: 5 mg | Re: A: B | Attn: R. Jones | Dr. R. Jones: Chair | Subject: Answers | A | "
    "P.O. Box 6839, Richmond, VA 86928 | New York, New York | (641) 555-3891 | Coca Cola, Pepsi and Fanta | "
    "a; b; c | [1] | [Redacted] | {1, 2} | (a) | a, b, a, b | x = {1: 2} | I/O | AT&T | R&D | 2 < 3 > 1 | a<b | "
    "http://a.b/c?d=1&e=2 | r.jones@example.com | C:\\Temp\\a_b | O'Neil & Sons | What is Life? | "
    "The medium is the message | The Who | There is no date | Is it? | this is it | To be or not to be | "
    "Question 5 | Questions: none | User manual | Assistant Director | analysis | Result | Note | USER | None | "
    'nan | 5\'6" | the "zero span" test | a * b * c | snake_case_name | ** note | Walla Walla | '
    "No. 5 - No. 7 | 可口可乐"
).split(" | ")


def test_answer_without_a_wrapping_stays_as_it_is() -> None:
    for text in [*UNTOUCHED, "", "12 Main St.\nSpringfield, IL"]:
        found = {name: rule.find(text) for name, rule in EXTRACTORS.items() if name not in ("letter", "period")}
        assert [(text, name) for name, answer in found.items() if answer not in (None, text)] == []


def test_every_rule_has_cases_and_a_meaning() -> None:
    assert list(FOUND) == list(EXTRACTORS)
    assert all(rule.name == name and rule.meaning and rule.marks for name, rule in EXTRACTORS.items())


# Outputs, and what the program extracts from them.
REASONING = {
    "<think>5</think><answer> Coca Cola </answer> or <answer>Pepsi</answer>": "Coca Cola",
    "<answer></answer> 7": "",
    r"So it is \boxed{7}, no, \boxed{\text{12} kg}. 5": r"\text{12} kg",
    r"\boxed{7} and \boxed{8": "7",
    "<answer>cut off at 12": "12",
    "The total is 204.\nI am sure.": "204",
    "It is 3.50 .\n\n": "3.50",
    "It is 1.2.3": "2.3",
    "Coca Cola": "",
    "a12": "",
    "": "",
}


def test_reasoning_of_lmms_eval_is_extracted_as_it_does() -> None:
    """The right sides are what `extract_anwser_tag` of lmms-eval returned at commit 75571cf, stripped."""
    extract = extractor("lmms-eval-reasoning")
    assert {text: extract(text) for text in REASONING} == REASONING
    assert extract.signature == "lmms-eval-reasoning"
    assert not {*PROGRAMS} & {*EXTRACTORS}


# Rules, and a wrapping of real answers that they remove.
WRAPPED: dict[str, Callable[[str], str]] = {
    "think": lambda answer: f"<think>\nLet me look at the document.\n</think>\n{answer}",
    "json": lambda answer: f"```json\n{json.dumps({'answer': answer})}\n```",
    "final": lambda answer: f"The answer is {answer}",
    "special-tokens": lambda answer: f"{answer}<|im_end|>",
    "boxed": lambda answer: rf"\boxed{{{answer}}}",
    "fence": lambda answer: f"```\n{answer}\n```",
    "bold": lambda answer: f"**{answer}**",
    "quotes": lambda answer: f'"{answer}"',
    "period": lambda answer: f"{answer}.",
    "tag": lambda answer: f"<answer>{answer}</answer>",
    "think,final,special-tokens,period,quotes": lambda answer: f'<think>Hm.</think>**The answer is "{answer}".**</s>',
}


@pytest.mark.parametrize("names", WRAPPED)
def test_rules_extract_real_answers_from_their_wrapping(real_answers: Path, names: str) -> None:
    records = json.loads((real_answers / "submission__nemotron.json").read_text("utf-8"))
    answers = [record["answer"] for record in records]
    assert list(map(extractor(names), map(WRAPPED[names], answers))) == answers


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


UNKNOWN = {
    "": "the rule names must be a nonempty string such as \"think,final\", got '' (str)",
    "think,": "unknown extraction step ''",
    "think final": "unknown extraction step 'think final'",
    "final:7": "unknown extraction step 'final:7'; write final",
    "json:": "unknown extraction step 'json:'; write json:FIELD",
}


@pytest.mark.parametrize("names", UNKNOWN)
def test_extractor_refuses_an_unknown_rule(names: str) -> None:
    with pytest.raises(ValueError, match=re.escape(UNKNOWN[names])):
        extractor(names)


def test_extraction_refuses_a_value_that_is_no_text() -> None:
    for take in (extractor("think"), answer_in_tags):
        with pytest.raises(ValueError, match=r"text is 7 \(int\), not a string"):
            take(7)  # type: ignore[arg-type]


def test_reasoning_ends_at_a_tag_that_the_user_names() -> None:
    take = extractor("think:plan")
    assert (take("<plan>Pepsi</plan> Coca Cola"), take("<plan>Pepsi"), take("<think>a</think>b")) == (
        "Coca Cola",
        "",
        "<think>a</think>b",
    )


def test_answer_in_tags_finds_the_answer_or_none() -> None:
    for text, answer in FOUND["tag"].pairs():
        assert answer_in_tags(text) == answer
        assert answer_in_tags(text.replace("answer", "x"), tag="x") == answer


def test_part_of_values_that_are_cut_off_is_no_answer() -> None:
    texts = ['{"vendor": {"name": "a"}, "items": [{"b": "c"}', '{"items": [{"a": 1},], "b": 2}', '[{"a": "b"}, {"c"']
    counts = {"json": {"changed": 0, "left": 3}}
    assert extract_all(extractor("json", values=True), texts) == (texts, counts)


# Pieces of texts that are expensive for rules.
PIECES = [
    *("<think>", "</think>", "<answer>", "</answer>", r"\boxed{", r"\text{", "{", "}", "\\", '{"answer": ', '{"a":'),
    *('"', "[", "]", "```", "\n", "<|", "|>", "</s>", "Answer:", "the ", "answer is ", "*", "_", "'", "“", "”", "."),
    *(" ", "a", "<|channel|>", "final<|message|>", "USER:", "ASSISTANT:", "\nassistant\n", "<p ", "&#1", "{'a': "),
    *("['", "('a',", "-1", "\n \n", "Question:", "a ", "b a ", "A: ", "- ", "The ", "that is ", "signed by ", "$"),
    *(r"\(", "'s ", "7", "é: "),
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
FOUND_VALUES: dict[str, dict[str, str | None]] = {
    "json": {'Here: {"total": "12.50", "items": [1, 2]}, see [3].': '{"total": "12.50", "items": [1, 2]}',
        '["a", "b"]': '["a", "b"]', '```json\n[\n  "a"\n]\n```': '["a"]', '[see] {"a": 0.10}': '{"a": 0.1}',
        "[1] [2]": "[1]", '{"a": "b"': None, "Coca Cola": None, "[" * 10_000: None, '{"a": ' * 10_000: None},
    "json:answer": {'{"answer": ["a"]} {"answer": {"b": "é"}} {"page": 7}': '{"b": "é"}', '["a"]': None,
        '{"answer": "Coca Cola"}': '"Coca Cola"', '{"result": {"answer": []}}': "[]"},
    "python": {"So: {'total': 12.5, 'items': ['a', None]}.": '{"total": 12.5, "items": ["a", null]}',
        "{'a': ('b', 'é')}": '{"a": ["b", "é"]}', "{'a': {'b'}}": '{"a": ["b"]}', "{'a': 'b'": None},
    "python:brand": {"{'brand': ['a']} {'page': 7}": '["a"]'},
    "list": {"['a', 1]": '["a", 1]', '["a"]': '["a"]', "[a]": None, "('a',)": '["a"]'},
    "fence": {'So:\n```json\n["a"]\n```': '["a"]'},
}  # fmt: skip


@pytest.mark.parametrize("rule", FOUND_VALUES)
def test_rule_of_values_finds_json(rule: str) -> None:
    extract = pickle.loads(pickle.dumps(extractor(rule, values=True)))
    for text, value in FOUND_VALUES[rule].items():
        assert extract(text) == (text if value is None else value)
    assert extract.signature == rule
