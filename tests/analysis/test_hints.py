"""Hints about files that can be scored but look wrong. All data are made up, but for the real answers."""

from __future__ import annotations

import hashlib
import json
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import score
from anls_metric.analysis.causes import CAUSES, NULLS
from anls_metric.analysis.evaluation import Result, evaluate
from anls_metric.analysis.hint import Hint
from anls_metric.analysis.hints import LAST_SIGNS, SIGNS, find_hints
from anls_metric.analysis.leaf_causes import LEAF_CAUSES
from anls_metric.analysis.steps import EXAMPLES as STEPS
from anls_metric.core.extraction.extract import extractor
from anls_metric.core.scorer import get_scorer
from anls_metric.options import Settings
from anls_metric.reading.inputs import Input
from tests.analysis.scoring import score_columns

BRANDS = ["Coca", "Pepsi", "Fanta", "Sprite", "Schweppes", "Orangina", "Afri", "Rivella"]
ANSWERS = [f"{brand} {thing} {n}" for n, brand in enumerate(BRANDS) for thing in ("Cola", "Company", "Café")]
MANY = [f"{brand} {number}" for number in range(100, 112) for brand in BRANDS][:90]
UNLIKE = [hashlib.sha256(answer.encode()).hexdigest()[:12] for answer in MANY]
NUMBERS = [str(n) for n in range(3, 33)]

Columns = tuple[Sequence[Any], Sequence[Sequence[Any]]]


def find(predictions: Sequence[Any], references: Sequence[Any], scorer: Any = "standard") -> list[Hint]:
    return find_hints(score_columns(predictions, references, scorer=scorer))


def name_cause(hint: Hint) -> str:
    """Name the row of the account that a hint repeats; for a sign, its sentence."""
    start = re.sub(r"{count:,} (of {total:,} )?", "", hint.message.sentence)
    rows: list[Any] = [*CAUSES, *LEAF_CAUSES, *STEPS]
    return next((row.name for row in rows if start == f"{row.meaning}: {start[len(row.meaning) + 2 :]}"), start)


def in_lists(answers: Sequence[str]) -> list[list[str]]:
    return [[answer] for answer in answers]


def change(convert: Callable[[str], str], count: int = 90) -> Columns:
    """Change the first of ninety right answers."""
    return [convert(answer) if n < count else answer for n, answer in enumerate(MANY)], in_lists(MANY)


def accept(convert: Callable[[str], Sequence[str]], count: int = 24) -> Columns:
    """Change the first accepted answers of 24 right answers."""
    return ANSWERS, [convert(answer) if n < count else [answer] for n, answer in enumerate(ANSWERS)]


def evaluate_table(predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Any) -> Result:
    pairs = zip(predictions, references)
    rows = [{"prediction": prediction, "answers": accepted} for prediction, accepted in pairs]
    return evaluate([Input(rows)], None, Settings(**options))


# Raw model output: the rules that extract the answers, and what is around them

WRAPPINGS: dict[str, Callable[[str], str]] = {
    "harmony": lambda answer: f"<|channel|>analysis<|message|>It is red.<|end|><|channel|>final<|message|>{answer}",
    "chat": lambda answer: f"USER: <image>\nWhat? ASSISTANT: {answer}",
    "think": lambda answer: f"<think>It could be Pepsi.</think>\n\n{answer}",
    "tag": lambda answer: f"<think>Hm.</think><answer>{answer}</answer>",
    "boxed": lambda answer: rf"<think>Hm.</think>The answer is $\boxed{{\text{{{answer}}}}}$.",
    "think,bold": lambda answer: f"<think>Hm.</think>**{answer}**",
    "tag,special-tokens": lambda answer: f"<think>Hm.</think><answer><|begin_of_box|>{answer}<|end_of_box|></answer>",
    "tag:s_answer": lambda answer: f"<s_docvqa><s_question>What?</s_question><s_answer> {answer}</s_answer></s>",
    "json": lambda answer: f"Here it is:\n```json\n{json.dumps({'page': 3, 'answer': answer})}\n```",
    "json:brand": lambda answer: json.dumps({"page": 3, "brand": answer}),
    "python": lambda answer: str({"answer": answer, "page": 3}),
    "list": lambda answer: str([answer]),
    "fence": lambda answer: f"```\n{answer}\n```",
    "html": lambda answer: f"<p>{answer}</p>",
    "special-tokens": lambda answer: f"{answer}</s>",
    "first-line": lambda answer: f"{answer}\n\nQuestion: What is the date of the letter that is shown on page 3?",
    "repeat": lambda answer: " ".join([answer] * 4),
    "final": lambda answer: f"It is red. **Answer:** {answer}",
    "prefix": lambda answer: f"Final response: {answer}",
    "sentence": lambda answer: f"The name of the brand that is shown on the page is {answer}.",
    "bold": lambda answer: f"**{answer}**",
    "quotes": lambda answer: f"“{answer}”",
    "period": lambda answer: f"{answer}.",
    "period,quotes": lambda answer: f'"{answer}".',
}


@pytest.mark.parametrize("names", WRAPPINGS)
def test_hint_names_the_shortest_chain_that_extracts_the_answers(names: str) -> None:
    wrapped = list(map(WRAPPINGS[names], ANSWERS))
    (hint,) = find(wrapped, in_lists(ANSWERS))
    assert hint.text().startswith("24 of 24 predictions look like raw model output: extract the answers with extract=")
    assert hint.message.action == ("extract", ",".join(hint.extract))
    assert len(hint.extract) == len(names.split(","))  # another rule, or order, may do the same
    assert list(map(extractor(",".join(hint.extract)), wrapped)) == ANSWERS
    assert hint.anls == 1.0 == pytest.approx(hint.cost + score_columns(wrapped, in_lists(ANSWERS)).anls)


@pytest.mark.parametrize("name", ["think", "tag", "boxed", "json", "fence"])
def test_one_answer_in_ninety_is_enough_where_no_document_looks_so(name: str) -> None:
    (hint,) = find(*change(WRAPPINGS[name], 1))
    assert hint.text().startswith("1 of 90 predictions look like raw model output")
    assert find(*change(lambda answer: WRAPPINGS[name](answer[::-1]), 1)) == []  # a rule would not change the score


def test_rules_in_use_are_continued() -> None:
    columns = list(map(WRAPPINGS["think,bold"], ANSWERS)), in_lists(ANSWERS)
    (hint,) = evaluate_table(*columns, extract=("think",)).hints
    assert (hint.extract, hint.anls) == (("think", "bold"), 1.0)
    cured = evaluate_table(*columns, extract=hint.extract)
    assert (cured.submissions[0].anls, cured.hints) == (1.0, [])


def test_count_is_exact_in_large_files() -> None:
    answers = [f"{brand} {number}" for number in range(500) for brand in BRANDS]
    (hint,) = find(list(map(WRAPPINGS["think"], answers)), in_lists(answers))
    assert hint.text().startswith("4,000 of 4,000 predictions")


# Other situations: the columns, the number of answers, and the row of the account or the sign of the one hint

SEPARATORS = {**{each: each for each in ("|", " | ", "||", ";", "<br>", "；", " / ", " or ", ", ")}, "\n": r"\n"}
PROMPT, BLANK, COPIES, SAME, ZEROS = (sign.sentence for sign in (*SIGNS, *LAST_SIGNS))
SITUATIONS: dict[str, tuple[Columns, int, str]] = {
    **{null: (([null] * 3 + MANY[3:], in_lists(MANY)), 3, "null") for null in sorted(NULLS)},
    "cut object": (change(lambda answer: f'{{"brand": "red", "answer": "{answer}', 1), 1, "cut off"),
    "cut thoughts": (change(lambda answer: f"<think>Is it {answer}", 2), 2, "cut off"),
    "empty": (change(lambda _: " ", 20), 20, "empty"),
    "copies": (change(str), 90, COPIES),
    "shuffled": ((UNLIKE[::-1], in_lists(UNLIKE)), 90, "another question's answer"),
    "partly": (([*UNLIKE[:60], *UNLIKE[:59:-1]], in_lists(UNLIKE)), 30, "another question's answer"),
    "same": (change(lambda _: "a logo", 10), 10, SAME),
    "abstentions": (
        (["It is not mentioned in the document.", *MANY[1:]], [["Not answerable"], *in_lists(MANY[1:])]),
        1, "unanswerable, declined"),
    "failures": (change(lambda answer: f"Error code: 429 - {answer[::-1]}", 10), 10, "failed request"),
    "a failure": (change(lambda _: "Error 429", 1), 1, "failed request"),
    "another beginning": (change(lambda _: "So sorry: rate limit reached", 10), 10, "failed request"),
    "another sentence": (change(lambda _: "The logo is red", 10), 10, SAME),
    "other forms": (([f"{n} dollars" for n in NUMBERS], [[f"${n}"] for n in NUMBERS]), 30, "another form"),
    "null of gold": ((MANY, in_lists(["nan", *MANY[1:]])), 1, "lost reference"),
    "punctuation": (change(lambda answer: answer.replace(" ", "-"), 40), 40, "punctuation"),
    "order": (([f"tea, milk, {n}" for n in NUMBERS], [[f"{n}, milk, tea"] for n in NUMBERS]), 30, "another order"),
    "digits": ((["".join(chr(0x660 + int(sign)) for sign in text) for text in NUMBERS], in_lists(NUMBERS)),
        30, "other characters"),
    "spaces": (([" ".join(f"${n},000") for n in NUMBERS], [[f"${n},000"] for n in NUMBERS]), 30, "other characters"),
    "words": (change(lambda answer: f"in the end, {answer}", 30), 30, "among other words"),
    "zeros": ((UNLIKE, in_lists(MANY)), 90, ZEROS),
    "set": (accept(lambda answer: [str({answer, "?"})]), 24, "printed references"),
    "letters": (accept(list), 24, "printed references"),
    "braces": (accept(lambda answer: [f"{{{answer},?}}"]), 24, "printed references"),
    **{repr(sign): ((ANSWERS, [[f"a{sign}{text}"] for text in ANSWERS]), 24, "joined references")
        for sign in SEPARATORS},
    "floats": (([f"{n}.0" for n in NUMBERS], in_lists(NUMBERS)), 30, "decimals"),
    "floats of gold": ((NUMBERS, [[f"{n}.0"] for n in NUMBERS]), 30, "decimals"),
    "encoding": (accept(lambda answer: [answer.encode().decode("latin-1")]), 8, "wrong encoding"),
    "accents": (accept(lambda answer: [unicodedata.normalize("NFD", answer)]), 8, "other characters"),
    "full width": (change(lambda answer: answer.translate({n: n + 0xFEE0 for n in range(33, 127)}), 9), 9,
        "other characters"),
    "curly": (([f"{text}\u2019\u2013" for text in MANY], in_lists([f"{text}'-" for text in MANY])), 90,
        "other characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation_has_one_hint(name: str) -> None:
    columns, count, cause = SITUATIONS[name]
    (hint,) = find(*columns)
    assert name_cause(hint) == cause
    assert hint.text().startswith(f"{count} of {len(columns[0])} ")
    assert "{" not in hint.text() or name == "cut object"
    options = hint.message.find_options()
    if hint.anls is not None and options:  # who does what it says gets the score that it promises
        (scored,) = evaluate_table(*columns, **options).submissions
        assert hint.anls == scored.anls > score_columns(*columns).anls


EXAMPLES = {
    "null": 'such as "nan" for "Coca 100"',
    "abstentions": 'such as "It is not mentioned in the document." for "Not answerable": count them with metrics=',
    "other forms": 'such as "3 dollars" for "$3"',
    "zeros": f'such as "{UNLIKE[0]}" for "Coca 100", "',
    "same": 'the same wrong answer, "a logo"',
    "null of gold": 'such as "Coca 100" for "nan": find the step that lost it',
    "words": 'such as "in the end, Coca 100" for "Coca 100"',
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_hint_shows_an_answer_and_its_reference(name: str) -> None:
    (hint,) = find(*SITUATIONS["nan" if name == "null" else name][0])
    assert EXAMPLES[name] in hint.text()


@pytest.mark.parametrize("separator", SEPARATORS)
def test_separator_in_references_is_an_option_to_type(separator: str) -> None:
    columns, *_ = SITUATIONS[repr(separator)]
    (hint,) = evaluate_table(*columns).hints
    assert hint.message.action == ("references_separator", SEPARATORS[separator])
    cured = evaluate_table(*columns, references_separator=SEPARATORS[separator])
    assert hint.anls == cured.submissions[0].anls == 1.0


def test_every_cause_and_sign_that_is_a_hint_has_a_situation() -> None:
    found = {cause for _, _, cause in SITUATIONS.values()} | {"raw output"}
    of_values = {"other keys", "numbers as written", "keys without a value", "keys beside the answer", "another root",
        "nested references"}  # fmt: skip
    elsewhere = {"no marker", "JSON read as text"}  # below, and in test_lost_points
    causes = {cause.name for cause in CAUSES if cause.share is not None} | {step.name for step in STEPS}
    assert found == (causes - of_values - elsewhere) | {COPIES, SAME, ZEROS}


def test_prompt_in_the_output_is_a_hint() -> None:
    questions = [f"What is the total of invoice {n}?" for n in range(12)]
    rows = [
        {"question": text, "prediction": f"{text} {n}.50" if n < 6 else f"{n}.50", "answers": [f"{n}.50"]}
        for n, text in enumerate(questions)
    ]
    result = evaluate([Input(rows, "a")], None, Settings())
    assert f"6 of 12 {PROMPT}" in [hint.text() for hint in result.hints]


def test_signs_count_unless_other_hints_explain_a_quarter_of_the_loss() -> None:
    wrong = [WRAPPINGS["think"](answer) if n < 3 else UNLIKE[n] for n, answer in enumerate(MANY)]
    zeros, raw = find(wrong, in_lists(MANY))
    assert zeros.text().startswith("90 of 90 predictions score 0")
    assert raw.text().startswith("3 of 90 predictions look like raw")
    assert len(find(*change(WRAPPINGS["think"], 60))) == 1


def test_hints_of_several_submissions_begin_with_files_and_comparisons() -> None:
    gold = [{"id": n, "answers": [n + 0.5]} for n in range(90)]
    columns = {"a": range(90), "raw": [f"<think>Hm.</think>{n}.5" for n in range(60)], "b": range(90)}
    inputs = [
        Input([{"id": n, "prediction": str(text)} for n, text in enumerate(own)], name) for name, own in columns.items()
    ]
    result = evaluate(inputs, Input(gold, "gold"), Settings(missing="zero"))
    texts = [(hint.submission, hint.text()) for hint in result.hints]
    assert [name for name, _ in texts] == ["", "", "", "raw"]
    assert texts[2][1] == "b: it has the same answers as a: pass the answers of a different model"
    assert texts[0][1].startswith("gold: decimal numbers among the references (90)")


@pytest.mark.parametrize("lose_formatting", [False, True])
def test_floats_are_a_hint_unless_reading_has_found_them(lose_formatting: bool) -> None:
    answers = [float(n) if lose_formatting else f"{n}.0" for n in range(30)]
    rows = [{"id": n, "prediction": answer} for n, answer in enumerate(answers)]
    result = evaluate([Input(rows, "a")], Input([{"answers": [str(n)]} for n in range(30)], "gold"), Settings())
    texts = [hint.text() for hint in result.hints]
    assert sum("gold has no ids" in text for text in texts) == 1
    assert [" floats on one side" in text for text in texts].count(True) == (not lose_formatting)
    assert ["have lost their formatting" in text for text in texts].count(True) == lose_formatting


# Clean files

CLEAN: dict[str, Columns] = {
    "no answers": ([None] * 24, in_lists(ANSWERS)),
    "few equal answers": (ANSWERS, in_lists(ANSWERS)),
    "a null is accepted": (["None", "None", *MANY[2:]], in_lists(["none", *MANY[1:-1], "?"])),
    "braces": change(lambda answer: f"{{{answer}", 1),
    "sentences": change(WRAPPINGS["sentence"], 3),
    "other words": change(lambda answer: f"a {answer} or so", 13),
    "refusals": change(lambda _: "Not answerable", 30),
    "a float": (["0.0", *map(str, range(1, 90))], in_lists(list(map(str, range(90))))),
    "citations": ([f"[{n + n % 3}]" for n in range(90)], [[f"[{n}]"] for n in range(90)]),
    "places": ([f"{text}, NC" if n % 4 else text for n, text in enumerate(MANY)], [[f"{text}, NC"] for text in MANY]),
    "periods": ([*(f"{text}." for text in MANY[3:]), *MANY[:3]], [[f"{text}."] for text in [*MANY[3:], *MANY[:3]]]),
    "some answers of others": ([UNLIKE[n - n % 9 // 8] for n in range(90)], in_lists(UNLIKE)),
}


@pytest.mark.parametrize("name", CLEAN)
def test_clean_file_has_no_hints(name: str) -> None:
    assert find(*CLEAN[name]) == []


KINDS: dict[str, Callable[[random.Random], str]] = {
    "choices": lambda chance: chance.choice("ABCD"),
    "yes or no": lambda chance: chance.choice(["yes", "no"]),
    "percentages": lambda chance: f"{chance.randint(0, 100)}%",
    "counts": lambda chance: str(min(20, int(chance.expovariate(0.3)))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sets_with_few_different_answers_have_no_hints(kind: str) -> None:
    for seed in range(60):
        chance = random.Random(seed)
        accepted = [KINDS[kind](chance) for _ in range(chance.choice([5, 20, 50, 100, 200]))]
        accuracy, form = chance.choice([0.3, 0.5, 0.7, 0.85, 0.95]), chance.choice(["lower", "upper", "title"])
        predictions = [text if chance.random() < accuracy else KINDS[kind](chance) for text in accepted]
        hints = find([getattr(text, form)() for text in predictions], in_lists(accepted))
        assert [hint for hint in hints if accuracy > 0.5 or "score 0" not in hint.text()] == []


def read_real(folder: Path, model: str) -> Columns:
    questions = json.loads((folder / "gold.json").read_text("utf-8"))["data"]
    records = json.loads((folder / f"submission__{model}.json").read_text("utf-8"))
    answer_of = {record["questionId"]: record["answer"] for record in records}
    return [answer_of[question["questionId"]] for question in questions], [each["answers"] for each in questions]


@pytest.mark.parametrize("model", ["llama_maverick", "llama_nemotron", "nemotron", "qwen2_vl_7b_instruct"])
def test_real_tidy_answers_have_no_hints_but_in_another_order(real_answers: Path, model: str) -> None:
    predictions, references = read_real(real_answers, model)
    assert find(predictions, references) == find(predictions, references, "nls") == []
    for size in (5, 20, 60, 200):
        for start in range(0, 1001 - size, 110):
            assert find(predictions[start : start + size], references[start : start + size]) == []
    (hint,) = find(random.Random(1).sample(predictions, 1000), references)
    assert "predictions are references of other questions" in hint.text()


@pytest.mark.parametrize(
    ("model", "rules"), [("llama_vision", "sentence,quotes,period"), ("qwen2_vl_7b", "first-line,prefix,repeat,math")]
)
def test_real_sentences_have_one_hint_of_extraction(real_answers: Path, model: str, rules: str) -> None:
    predictions, references = read_real(real_answers, model)
    (hint,) = (hint for hint in find(predictions, references) if hint.extract)
    assert ",".join(hint.extract) == rules
    assert hint.anls == score_columns(list(map(extractor(rules), predictions)), references).anls


def test_hints_about_values() -> None:
    star, right = get_scorer("anls_star"), [{"brand": answer} for answer in ANSWERS]
    accepted = [(value,) for value in right]
    (hint,) = find([f'So it is {{"brand": "{answer}"}}.' for answer in ANSWERS], accepted, star)
    assert (hint.extract, hint.anls) == (("json",), 1.0)
    (hint,) = find(['{"brand": "Co', *right[1:]], accepted, star)
    assert hint.text().endswith("in cut-off JSON or reasoning: raise the token limit of the model")
    (hint,) = find([{**value, "color": None} for value in right], accepted, star)
    assert hint.message.action == ("none_keys", "ignored")
    (hint,) = find(
        [{"total": 15.0, "n": "a"}] * 12 + [{"total": 7, "n": "a"}] * 12, [({"total": 15, "n": "a"},)] * 24, star
    )
    assert hint.message.action == ("numbers", "by_value")
    (hint,) = find([{"items": [{"name": "tea"}], "a": "b"}] * 24, [({"items": {"name": "tea"}, "a": "b"},)] * 24, star)
    assert (name_cause(hint), '"items.name"' in hint.text()) == ("another shape", True)
    (hint,) = find([{}] * 24, accepted, star)
    assert hint.text().startswith("24 of 24 predictions score 0, such as")
    assert find([{}, *right[1:]], accepted, star) == find([f"{'[' * 1000} no", *right[1:]], accepted, star) == []


@pytest.mark.parametrize("form", ["{}", "FINAL ANSWER: {}"])
def test_rule_of_a_benchmark_expects_its_marker(form: str) -> None:
    hints = evaluate_table(list(map(form.format, MANY)), in_lists(MANY), variant="docvqa_2026").hints
    words = '90 of 90 predictions lack "FINAL ANSWER:", which the rule expects'
    assert [words in hint.text() for hint in hints] == [True] * (form == "{}")


def test_questions_without_text_and_reference_are_named() -> None:
    rows = [{"id": n, "question": "" if n < 4 else "Who?", "answers": ["" if n < 4 else "Ann"]} for n in range(30)]
    hints = score([row | {"prediction": "Ann"} for row in rows]).hints
    assert hints[0].startswith("4 of 30 questions have no text and no reference")


@pytest.mark.parametrize(
    ("text", "cause"), [("None", "null"), (" ", "empty"), ('{"answer": "Co', "cut off"), ("no logo", ZEROS)]
)
def test_causes_are_found_under_the_metric_of_a_benchmark(text: str, cause: str) -> None:
    rows = [{"prediction": text, "answer": answer, "answer_format": "Str"} for answer in MANY]
    (hint,) = evaluate([Input(rows)], None, Settings(variant="mmlongbench_doc")).hints
    assert (name_cause(hint), hint.text().startswith("90 of 90 predictions ")) == (cause, True)


@pytest.mark.parametrize("variant", anls_metric.VARIANTS)
def test_hints_are_at_most_three_in_order_and_the_same_again(variant: str) -> None:
    chance = random.Random(1)
    for _ in range(10):
        some = chance.sample([columns for columns, *_ in SITUATIONS.values()], 4)
        predictions, references = ([row for columns in some for row in columns[side]] for side in (0, 1))
        scored = score_columns(predictions, references, scorer=variant)
        before, hints = list(scored.scores), find_hints(scored)
        assert len(hints) <= 3
        assert hints == sorted(hints, key=lambda hint: -hint.cost) == find_hints(scored)
        assert list(scored.scores) == before


# How a model writes the same answer.
WRITTEN: list[Callable[[str], str]] = [
    str,
    "```json\n{}\n```".format,
    "<think>Is it so?</think>\n{}".format,
    "Here it is:\n```json\n{}\n```".format,
]


@pytest.mark.parametrize("number", range(12))
def test_promise_of_extraction_is_what_it_gives_in_any_mixture(number: int) -> None:
    ways = [WRITTEN[number % 4], WRITTEN[(number + 1 + number // 4) % 4], WRITTEN[0]]
    references = [{"city": f"c{n}", "total": f"{n}.50"} for n in range(24)]
    inner = [{**own, "total": "9"} if n % 5 == 0 else own for n, own in enumerate(references)]
    wrapped = [{"fields": own} if number % 3 else own for own in inner]
    predictions = [ways[n % 3](json.dumps(own)) for n, own in enumerate(wrapped)]
    rows = [
        {"id": n, "prediction": own, "answers": reference}
        for n, (own, reference) in enumerate(zip(predictions, references))
    ]
    before = score(rows, variant="anls_star")
    for hint in find_hints(before["data"]):
        options: dict[str, Any] = dict(hint.message.find_options())
        assert hint.anls == pytest.approx(score(rows, variant="anls_star", **options).anls)
    assert max([before.anls, *(hint.anls or 0.0 for hint in find_hints(before["data"]))]) > 0.8


@pytest.mark.parametrize("write", [json.dumps, lambda fields: f"```json\n{json.dumps(fields)}\n```"])
def test_step_into_a_part_reads_json_in_its_text(write: Callable[[Any], str]) -> None:
    references = {f"d{n}": {"city": f"c{n}", "total": f"{n}.50"} for n in range(6)}
    answers = {key: {"raw": write(own), "seconds": 1} for key, own in references.items()}
    (hint,) = find_hints(score(answers, gold=references, variant="anls_star")["data"])
    options: dict[str, Any] = dict(hint.message.find_options())
    assert options["prediction"] == "raw"
    assert hint.anls == score(answers, gold=references, variant="anls_star", **options).anls == 1.0
