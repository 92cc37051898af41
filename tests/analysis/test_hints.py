"""Hints about files that can be scored but look wrong. All data are made up."""

from __future__ import annotations

import hashlib
import json
import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

import anls_metric
from anls_metric.analysis.hints import Hint, Hints
from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.sign import Sign
from anls_metric.analysis.signs import NULLS, SIGNS, VALUE_SIGNS
from anls_metric.core.variants import get_variant
from anls_metric.nested import get_value_variant
from anls_metric.reading import remedies
from anls_metric.reading.batch import Row
from anls_metric.reading.extract import extractor
from anls_metric.reading.remedies import Door

BRANDS = ["Coca", "Pepsi", "Fanta", "Sprite", "Schweppes", "Orangina", "Afri", "Rivella"]
ANSWERS = [
    f"{brand} {thing} no. {number}" for number, brand in enumerate(BRANDS) for thing in ("Cola", "Company", "Café")
]
MANY = [f"{brand} {number}" for number in range(100, 112) for brand in BRANDS][:90]


def find_hints(
    predictions: Sequence[str | None],
    references: Iterable[Sequence[str]] | None = None,
    variant: str = "standard",
    piece: int = 1000,
    extract: str = "",
    **facts: Any,
) -> list[Hint]:
    """Find the hints about predictions, by default with the answers as references."""
    references = [[answer] for answer in ANSWERS] if references is None else references
    apply = extractor(extract) if extract else None
    rows = [
        Row(str(n), apply(text) if apply and text else text, accepted, {}, text if apply else None)
        for n, (text, accepted) in enumerate(zip(predictions, references))
    ]
    scored_set, hints = ScoredSet(variant), Hints(variant, extract)
    for start in range(0, len(rows), piece):
        hints.add(scored_set.add(rows[start : start + piece]))
    return hints.conclude(**facts)


def find_hint(*columns: Any, **options: Any) -> Hint:
    (hint,) = find_hints(*columns, **options)
    return hint


def as_references(answers: Iterable[str]) -> list[list[str]]:
    return [[answer] for answer in answers]


def find_hints_of_many(change: Callable[[str], str], count: int = len(MANY), **options: Any) -> list[Hint]:
    """Find the hints about ninety answers, of which the first are changed."""
    predictions = [change(answer) if n < count else answer for n, answer in enumerate(MANY)]
    predictions[-1] += "a"  # a copy of the accepted answers has a hint of its own
    return find_hints(predictions, as_references(MANY), **options)


def hash_of(answer: str) -> str:
    """Return some letters that differ from answer to answer."""
    return hashlib.sha256(answer.encode()).hexdigest()[:12]


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "harmony": lambda answer: (
        f"<|channel|>analysis<|message|>It reads so.<|end|><|start|>assistant<|channel|>final<|message|>{answer}"
    ),
    "chat": lambda answer: f"USER: <image>\nWhat? ASSISTANT: {answer}",
    "chat,think": lambda answer: (
        f"<|im_start|>user\nWhat?<|im_end|>\n<|im_start|>assistant\n<think>Hm.</think>{answer}<|im_end|>"
    ),
    "think": lambda answer: f"<think>It could be Pepsi.</think>\n\n{answer}",
    "final": lambda answer: f"<think>The answer is Pepsi?</think>The answer is {answer}",
    "tag": lambda answer: f"<think>Hm.</think><answer>{answer}</answer>",
    "boxed": lambda answer: rf"<think>Hm.</think>The answer is $\boxed{{\text{{{answer}}}}}$.",
    "think,bold": lambda answer: f"<think>Hm.</think>**{answer}**",
    "tag,special-tokens": lambda answer: f"<think>Hm.</think><answer><|begin_of_box|>{answer}<|end_of_box|></answer>",
    "final,special-tokens,period": lambda answer: f"**Answer:** {answer}.<|im_end|>",
    "tag:s_answer": lambda answer: f"<s_docvqa><s_question>What?</s_question><s_answer> {answer}</s_answer></s>",
    "tag:reply": lambda answer: f"<thought>It is red.</thought><reply>{answer}</reply>",
    "json": lambda answer: f"Here it is:\n```json\n{json.dumps({'page': 3, 'answer': answer})}\n```",
    "json:brand": lambda answer: json.dumps({"page": 3, "brand": answer}),
    "python": lambda answer: str({"answer": answer, "page": 3}),
    "list": lambda answer: str([answer]),
    "fence": lambda answer: f"```\n{answer}\n```",
    "html": lambda answer: f"<p>{answer}</p>",
    "special-tokens": lambda answer: f"{answer}</s>",
    "first-line": lambda answer: f"{answer}\n\nQuestion: What is the date of the letter that is shown on page 3?",
    "repeat": lambda answer: " ".join([answer] * 4),
    "prefix": lambda answer: f"Final response: {answer}",
    "sentence": lambda answer: f"The name of the brand that is shown on the page is {answer}.",
    "bold": lambda answer: f"**{answer}**",
    "quotes": lambda answer: f"“{answer}”",
    "period": lambda answer: f"{answer}.",
    "period,quotes": lambda answer: f'"{answer}".',
    "quotes,period": lambda answer: f'"{answer}."',
}


@pytest.mark.parametrize("names", WRAPPINGS)
def test_wrapped_hint_names_the_shortest_chain_that_extracts_the_answers(names: str) -> None:
    wrapped = list(map(WRAPPINGS[names], ANSWERS))
    hint = find_hint(wrapped)
    assert hint[:3] == ("wrapped", "24 of 24 predictions look like raw model output", remedies.EXTRACT)
    assert len(hint.value.split(",")) == len(names.split(","))  # the order may be another one
    assert list(map(extractor(hint.value), wrapped)) == list(map(extractor(names), wrapped)) == ANSWERS


def test_wrapped_hint_names_every_rule_that_some_predictions_need() -> None:
    mixed = [*map(WRAPPINGS["think"], ANSWERS[:12]), *map(WRAPPINGS["final"], ANSWERS[12:])]
    assert list(map(extractor(find_hint(mixed).value), mixed)) == ANSWERS
    apart = [*map(WRAPPINGS["bold"], ANSWERS[:3]), *map(WRAPPINGS["quotes"], ANSWERS[3:6]), *ANSWERS[6:]]
    hint = find_hint(apart)
    assert (hint.text, set(hint.value.split(","))) == (
        "6 of 24 predictions look like raw model output",
        {"bold", "quotes"},
    )


def test_wrapped_hint_tries_a_rule_at_every_place_of_the_chain() -> None:
    def wrap(n: int, answer: str) -> str:
        reasoning = "It is red.\nThe answer is Pepsi?" if n % 4 == 0 else "Hm."
        return f"<think>{reasoning}\n</think>{answer if n % 4 == 0 else f'The answer is {answer}'}"

    wrapped = [wrap(n, answer) for n, answer in enumerate(ANSWERS)]
    hint = find_hint(wrapped)
    assert hint.value == "think,final"
    assert list(map(extractor(hint.value), wrapped)) == ANSWERS


def test_rule_that_does_not_raise_the_score_is_not_named() -> None:
    assert "think" not in {hint.value for hint in find_hints([f"<think>Hm.</think>{BRANDS[0]}" for _ in ANSWERS])}
    with_period = [f"{answer}." for answer in ANSWERS]
    assert find_hints(["a.", *with_period[1:]], as_references(with_period)) == []
    rambling = [f"I read this on the page, where it stands at the top: it is {answer}." for answer in ANSWERS]
    assert all("period" not in hint.value.split(",") for hint in find_hints(rambling))


def test_rule_that_spoils_right_answers_is_not_named() -> None:
    """Most accepted answers end in a period, and some predictions have a second period."""
    references = [f"{brand} & Co." for brand in BRANDS * 10] + ["Fanta"] * 15
    predictions = references[:80] + ["Fanta."] * 15
    assert all(hint.value != "period" for hint in find_hints(predictions, as_references(references)))
    assert find_hint(predictions[60:], as_references(references[60:])).value == "period"


@pytest.mark.parametrize("variant", anls_metric.VARIANTS)
def test_period_gives_a_hint_only_if_it_lowers_scores(variant: str) -> None:
    with_period = [f"{answer}." for answer in ANSWERS]
    reached = get_variant(variant).score(with_period, as_references(ANSWERS))[0]
    assert [hint.value for hint in find_hints(with_period, variant=variant)] == ["period"] * (reached < 1.0)


def test_wrapped_hint_needs_a_fifth_of_the_predictions_or_much_of_the_score() -> None:
    assert [hint.text for hint in find_hints_of_many(WRAPPINGS["bold"], 18)] == [
        "18 of 90 predictions look like raw model output"
    ]
    assert find_hints_of_many(WRAPPINGS["bold"], 9) == []
    assert find_hints_of_many(WRAPPINGS["final"], 9)[0].text == "9 of 90 predictions look like raw model output"
    unanswered = find_hints([*map(WRAPPINGS["bold"], MANY[:9]), *[None] * 90], as_references(MANY[:9] * 11))
    assert [hint.text for hint in unanswered] == [
        "9 of 9 predictions look like raw model output"
    ]  # None is no prediction


def test_wrapped_hint_extends_the_rules_of_the_run() -> None:
    wrapped = [f"<think>Hm.</think>**{answer}**" for answer in ANSWERS]
    hint = find_hint(wrapped, extract="think")
    assert hint.value == "think,bold"
    assert find_hints(wrapped, extract=hint.value) == []  # the advice is a cure
    before = [f"<think>Hm.\nThe answer is Pepsi\n</think>{answer}" for answer in ANSWERS]
    hint = find_hint(before, extract="final")
    assert list(map(extractor(hint.value), before)) == ANSWERS


def test_rules_of_the_run_are_not_advised_again() -> None:
    assert all(hint.remedy != remedies.EXTRACT for hint in find_hints(["<think>a</think>x"] * 24, extract="think"))


def test_wrapped_predictions_give_no_second_hint() -> None:
    yes_or_no = [f"Answer: {'yes' if n % 2 else 'no'}" for n in range(40)]
    references = [["yes" if n % 2 else "no"] for n in range(40)]
    assert [hint.key for hint in find_hints(yes_or_no, references)] == ["wrapped"]
    printed = [f"```json\n{json.dumps({'answer': answer})}\n```" for answer in ANSWERS]
    assert [hint.key for hint in find_hints(printed)] == ["wrapped"]


def test_wrapped_hint_in_values() -> None:
    texts = [f'So it is {{"brand": "{brand}"}}.' for brand in BRANDS]
    scorer = get_value_variant("anls_star")
    hints = Hints(scorer)
    rows = [Row(str(n), text, ({"brand": brand},), {}) for n, (text, brand) in enumerate(zip(texts, BRANDS))]
    hints.add(ScoredSet(scorer).add(rows))
    assert [(hint.text, hint.value) for hint in hints.conclude()] == [
        ("8 of 8 predictions look like raw model output", "json")
    ]


# At any share


def test_reasoning_gives_a_hint_at_any_share() -> None:
    (hint,) = find_hints_of_many(WRAPPINGS["think"], 1)
    assert (hint.key, hint.text, hint.value) == (
        "reasoning",
        "1 of 90 predictions contain reasoning, such as <think>..</think>",
        "think",
    )
    answers = [f"{brand} {n}" for n in range(200) for brand in BRANDS]
    few = find_hint([WRAPPINGS["think"](answers[0]), *answers[1:]], as_references(answers))
    assert (few.text, few.value) == ("1 of 1,600 predictions contain reasoning, such as <think>..</think>", "think")
    (hint,) = find_hints_of_many(lambda answer: f"<think>Is it {answer}", 2)
    assert (
        str(hint) == "2 of 90 predictions contain reasoning but no answer after it: raise the token limit of the model"
    )


@pytest.mark.parametrize("names", ["tag", "boxed", "json", "fence", "special-tokens"])
def test_wrapping_that_cannot_be_an_answer_gives_a_hint_at_any_share(names: str) -> None:
    (hint,) = find_hints_of_many(lambda answer: WRAPPINGS[names](answer).removeprefix("<think>Hm.</think>"), 1)
    assert hint.text == "1 of 90 predictions look like raw model output"
    wrong = find_hints_of_many(lambda answer: WRAPPINGS[names](answer[::-1]).removeprefix("<think>Hm.</think>"), 1)
    assert wrong == []  # the rule would not change the score


@pytest.mark.parametrize(
    "cut",
    [
        lambda answer: f'{{"reasoning": "It is red.", "answer": "{answer[:3]}',
        lambda answer: f"[{{'answer': '{answer}'}},",
        lambda answer: f'```json\n{{"answer": "{answer[:-1]}',
    ],
)
def test_json_that_is_cut_off_gives_a_hint_at_any_share(cut: Callable[[str], str]) -> None:
    (hint,) = find_hints_of_many(cut, 1)
    assert str(hint) == "1 of 90 predictions are JSON that is cut off: raise the token limit of the model"


def test_text_in_braces_is_no_json_that_is_cut_off() -> None:
    assert find_hints_of_many(lambda answer: f"{{{answer}", 1) == []
    assert find_hints_of_many(lambda answer: f'{{"a": 1}} {answer}', 1) == []


@pytest.mark.parametrize("text", sorted(NULLS))
def test_null_gives_a_hint_at_any_share(text: str) -> None:
    (hint,) = find_hints_of_many(lambda _: text, 3)
    assert hint.text == f'3 of 90 predictions are "{text}", which programs write for missing values'


@pytest.mark.parametrize("text", ["nan", "<NA>", "null"])
def test_null_among_accepted_answers_gives_a_hint_at_any_share(text: str) -> None:
    references = [[text] if n < 3 else [answer] for n, answer in enumerate(MANY)]
    hint = find_hint([*MANY[:-1], "a"], references)
    assert hint.text == f'3 of 90 accepted answers are "{text}", which programs write for missing values'
    beside = [[text, answer] if n < 3 else [answer] for n, answer in enumerate(MANY)]
    assert find_hints([*MANY[:-1], "a"], beside) == []
    assert find_hints([text, *MANY[1:-1], "a"], references) == []  # a person can be called Nan
    none = [["None"] if n < 3 else [answer] for n, answer in enumerate(MANY)]
    assert find_hints([*MANY[:-1], "a"], none) == []


def test_empty_text_that_pads_accepted_answers_gives_a_hint() -> None:
    predictions = [answer if n % 6 else "" for n, answer in enumerate([*MANY[:-1], "a"])]
    hint = find_hint(predictions, [[answer, "", ""] for answer in MANY])
    assert hint.text.startswith('15 of 90 predictions are "" and right, because a list of accepted answers holds')
    padded = [[answer, "nan", "nan"] for answer in MANY]
    assert '15 of 90 predictions are "nan" and right' in find_hint([text or "nan" for text in predictions], padded).text
    unanswerable = [[answer] if n % 6 else [""] for n, answer in enumerate(MANY)]
    assert find_hints(predictions, unanswerable) == []


WRAPPED_GOLD = {
    "<think>": "<think>\n\n</think>\n\n{}",
    "<|im_end|>": "{}<|im_end|>",
    "</answer>": "<answer>{}</answer>",
    "boxed": r"\boxed{{{}}}",
    "</s>": "{}</s>",
}


@pytest.mark.parametrize("mark", WRAPPED_GOLD)
def test_accepted_answers_like_raw_output_give_a_hint_with_and_without_extraction(mark: str) -> None:
    references = as_references(WRAPPED_GOLD[mark].format(answer) for answer in MANY)
    for predictions in (MANY, [*(text for (text,) in references[:60]), *MANY[60:]]):
        hint = find_hints(predictions, references)[0]
        assert "accepted answers look like raw model output, such as" in hint.text
        assert mark in hint.text
        assert find_hints(predictions, references, extract="think,tag,boxed,special-tokens")[0].key == hint.key
    assert find_hints([*MANY[:-1], "a"], as_references(MANY)) == []


def test_categories_as_accepted_answers_give_a_hint() -> None:
    hint = find_hint(MANY, [["accept"]] * 90)
    text = "90 of 90 accepted answers are the same few texts ('accept'), and no prediction is one of them"
    assert hint[:3] == ("categories", text, remedies.REFERENCES_FIELD)
    assert find_hint(MANY, [["date", "stamp"] if n % 3 else ["total"] for n in range(90)]).key == "categories"
    assert find_hints([MANY[0], "yes", *MANY[2:]], [["yes" if n % 3 else "no"] for n in range(90)]) == []
    assert find_hints(["no"] * 90, [["yes"]] * 90)[0].key != "categories"


def test_null_that_is_right_somewhere_gives_no_hint() -> None:
    references = as_references([*MANY[:-1], "none"])
    predictions = ["nan", "None", *MANY[2:-1], "None"]
    assert find_hint(predictions, references).text.startswith('1 of 90 predictions are "nan"')
    assert find_hints(["None", "None", *MANY[2:-1], "None"], references) == []


def test_whole_numbers_that_are_written_as_floats_give_a_hint() -> None:
    numbers = [str(n) for n in range(3, 33)]
    hint = find_hint([f"{number}.0" for number in numbers], as_references(numbers))
    assert hint.key == "floats"
    assert hint.text.startswith('30 of 30 predictions score less because whole numbers are written as floats ("15.0"')
    assert find_hint(["7.0", *MANY[1:]], as_references(["7", *MANY[1:]])).text.startswith("1 of 90 predictions")
    some = find_hint([f"{number}.0" if n < 2 else number for n, number in enumerate(numbers)], as_references(numbers))
    assert some.text.startswith("2 of 30 predictions")


def test_float_of_a_model_gives_no_hint() -> None:
    texts = [str(n) for n in range(200)]
    assert find_hints(["0.0", *texts[1:]], as_references(texts)) == []  # it also writes 7 and 12
    assert find_hints([f"{text}.0" for text in texts[1:]], as_references(f"{text}.0" for text in texts[:-1])) == []


def test_accepted_whole_numbers_that_are_written_as_floats_give_a_hint() -> None:
    numbers = [str(n) for n in range(3, 33)]
    floats = as_references(f"{number}.0" for number in numbers)
    text = 'accepted answers are whole numbers written as floats ("15.0" for "15"), and no prediction is'
    assert find_hint(numbers, floats)[:2] == ("floats of gold", f"30 of 30 {text}")
    mixed = [f"{number}.0" if n % 2 else number for n, number in enumerate(numbers)]
    assert find_hints(mixed, floats) == []  # the page reads 7.0, and the model sometimes writes 7


# Accepted answers, the predictions of a right model, and the sign
LOST: list[tuple[list[str], list[str], str]] = [
    ([f"{n}.5" for n in range(30)], [f"${n}.50" for n in range(30)], "numbers of gold"),
    ([str(n) for n in range(30)], [f"${n}" for n in range(30)], "numbers of gold"),
    ([f"{n / 100}" for n in range(11, 41)], [f"{n}%" for n in range(11, 41)], "numbers of gold"),
]
MANGLED: list[tuple[list[str], list[str], str]] = [
    ([str(n) for n in range(30)], [f"{n:05}" for n in range(30)], "leading zeros"),
    ([f"{n / 100}" for n in range(11, 41)], [f"{n}%" for n in range(11, 41)], "percent"),
    (["TRUE", "FALSE"] * 15, ["yes", "No"] * 15, "booleans"),
    ([answer.replace("é", "\ufffd") for answer in ANSWERS], ANSWERS, "replaced"),
    ([answer.replace(" ", "%20") for answer in ANSWERS], ANSWERS, "URL escapes"),
]


@pytest.mark.parametrize(("accepted", "predictions", "key"), [*LOST, *MANGLED])
def test_accepted_answers_that_a_program_changed_give_one_hint(
    accepted: list[str], predictions: list[str], key: str
) -> None:
    number_count = len(accepted) * (key == "numbers of gold")
    hint = find_hint(predictions, as_references(accepted), accepted_number_count=number_count)
    assert hint.key == key
    few = [text if n < 1 else answer for n, (text, answer) in enumerate(zip(accepted, predictions))]
    if key not in ("replaced", "URL escapes"):  # a model can also write one number in another form
        assert find_hints([*predictions[:-1], "a"], as_references(few), accepted_number_count=number_count) == []


def test_numbers_in_another_form_give_no_hint_if_they_were_texts_in_the_file() -> None:
    for accepted, predictions, _ in LOST[:1]:
        assert find_hints(predictions, as_references([*accepted[:-1], predictions[-1]]))[0].key != "numbers of gold"


def test_refusals_give_no_repeated_hint() -> None:
    assert find_hints_of_many(lambda _: "unanswerable", 30) == []


def test_numbers_of_the_file_give_a_hint_if_they_are_wrong() -> None:
    hint = find_hint(["1234.5", *MANY[1:]], as_references(["$1,234.50", *MANY[1:]]), float_count=3)
    assert hint.text.startswith("1 of 90 predictions are wrong and were numbers in the file, so their written form is")
    assert '"1234.5" was perhaps "$1,234.50"' in str(hint)
    numbers = as_references(str(n) for n in range(30))
    assert find_hint([f"{n}.0" for n in range(30)], numbers, float_count=30).key == "numbers of the file"
    wrong = find_hints([*MANY[:-1], "a"], as_references(MANY), float_count=3)
    assert wrong == []


# The whole file


def test_copy_of_the_accepted_answers_gives_a_hint() -> None:
    hint = find_hint(ANSWERS, other_fields=["model_response", "output"])
    assert str(hint) == (
        "24 of 24 predictions equal an accepted answer exactly, as if the gold file had been copied "
        "(other fields of text: model_response, output): "
        "if another field holds the predictions, name it with the argument 'prediction'"
    )
    assert "other fields" not in find_hint([*ANSWERS, None], as_references([*ANSWERS, "Cola"])).text
    assert find_hints(ANSWERS[:19]) == []
    assert find_hints([ANSWERS[0].lower(), *ANSWERS[1:]]) == []
    assert find_hints(ANSWERS, piece=7)[0].key == "copies"
    assert find_hints([*ANSWERS[:-1], "Cola"], piece=7) == find_hints(["Cola", *ANSWERS[1:]], piece=7) == []


@pytest.mark.parametrize("piece", [1, 5, 1000])
def test_misplaced_hint_names_the_direction(piece: int) -> None:
    answers = random.Random(1).sample(ANSWERS, len(ANSWERS))
    before, after = ["", *answers[:-1]], [*answers[1:], ""]
    for predictions, words in (before, "question right before theirs"), (after, "question right after theirs"):
        assert words in find_hint(predictions, as_references(answers), variant="rrc", piece=piece).text


def test_misplaced_hint_in_any_order() -> None:
    shuffled = random.Random(2).sample(MANY, len(MANY))
    hint = find_hint(shuffled, as_references(MANY), variant="due")
    assert "predictions are an accepted answer of another question" in hint.text
    weak = [answer if n % 2 else MANY[0] for n, answer in enumerate(MANY)]
    assert all(hint.key != "misplaced" for hint in find_hints(weak, as_references(MANY)))


@pytest.mark.parametrize("part", [slice(20, 50), slice(60, 90)])
def test_misplaced_hint_about_a_part_of_the_answers(part: slice) -> None:
    answers = list(map(hash_of, MANY))
    shifted, shuffled = list(answers), list(answers)
    shifted[part] = [hash_of("first"), *answers[part][:-1]]
    shuffled[part] = random.Random(4).sample(answers[part], 30)
    shifts = find_hint(shifted, as_references(answers))
    assert shifts.text == "29 of 90 predictions are an accepted answer of the question right before theirs"
    assert "are an accepted answer of another question" in find_hint(shuffled, as_references(answers)).text


def test_some_answers_of_other_questions_give_no_hint() -> None:
    """A model that reads the wrong line of a page gives the answer to another question."""
    predictions = [
        hash_of(answer) if n % 3 == 0 else MANY[n - 1] if n % 9 == 1 else answer for n, answer in enumerate(MANY)
    ]
    assert find_hints(predictions, as_references(MANY)) == []


@pytest.mark.parametrize("piece", [7, 1000])
def test_predictions_that_repeat_the_one_before_give_a_hint(piece: int) -> None:
    """As after an error that leaves the variable of the answer unchanged, or one answer for each batch."""
    stale = [MANY[n - 1] if n % 4 == 1 else answer for n, answer in enumerate(MANY)]
    of_batch = [MANY[n - n % 8] for n in range(90)]
    for predictions in stale, of_batch:
        hint = find_hint(predictions, as_references(MANY), piece=piece)
        assert hint.key == "stuck"
        assert "predictions are wrong and repeat the prediction before" in hint.text
    assert find_hints(["no" if n % 3 else text for n, text in enumerate(MANY)], as_references(MANY))[0].key != "stuck"


def test_answers_that_many_questions_share_give_no_misplaced_hint() -> None:
    assert find_hints(["no", "yes"] * 20, [["yes"], ["no"]] * 20) == []
    numbers = [str(n % 7) for n in range(90)]
    assert find_hints(random.Random(3).sample(numbers, 90), as_references(numbers)) == []


FAILURES = (
    "ERROR",
    "Error: timeout",
    "Error code: 429 - too many",
    "CUDA out of memory. Tried",
    "#REF!",
    "#N/A",
    "n/a",
    "Failed to obtain answer via API.",
)


@pytest.mark.parametrize("text", FAILURES)
def test_few_failures_give_a_hint(text: str) -> None:
    hint = find_hint([text, text, *ANSWERS[2:]])
    assert hint.text.startswith("2 of 24 predictions are ")
    assert text in hint.text
    assert (
        find_hints([text, text, "Error bars", "error 404", *ANSWERS[4:]], [[text]] * 2 + as_references(ANSWERS[2:]))
        == []
    )


def test_refusals_give_no_hint() -> None:
    assert find_hints(["Not answerable"] * 12 + ANSWERS[12:]) == []


def test_percentages_on_both_sides_give_no_hint() -> None:
    percentages = [f"{n}%" for n in range(30, 54)]
    assert find_hints([f"{n + 11 * (n % 3 == 0)}%" for n in range(30, 54)], as_references(percentages)) == []


def test_wrong_answer_that_is_right_elsewhere_gives_no_repeated_hint() -> None:
    references = as_references(["yes"] * 30 + ["no"] * 30)
    assert find_hints(["yes"] * 45 + ["no"] * 15, references) == []
    assert find_hint(["yes"] * 30 + ["maybe"] * 30, references).key == "repeated"


# Words around the answer

AROUND: dict[str, Callable[[str], str]] = {
    "begin with": lambda answer: f"In this picture I can read {answer} at its top",
    "end with": lambda answer: f"{answer[::-1]} {answer} or so, as far as I can read it",
    "among other words": lambda answer: f"{hash_of(answer)} {answer} {hash_of(answer)}",
}


@pytest.mark.parametrize("words", AROUND)
def test_words_around_the_answer_give_one_hint(words: str) -> None:
    hint = find_hint(list(map(AROUND[words], ANSWERS)))
    assert hint.key in ("surplus", "wrapped")  # a rule may help
    if hint.key == "surplus":
        assert "24 of 24 predictions contain an accepted answer among other words" in hint.text
        assert words in hint.text
        assert "no extraction rule helps" in str(hint)


def test_surplus_hint_needs_more_predictions_than_a_good_model_has() -> None:
    around = AROUND["among other words"]
    assert find_hints_of_many(around, 13) == []
    assert [hint.text for hint in find_hints_of_many(around, 14)] == [
        "14 of 90 predictions contain an accepted answer among other words"
    ]


def test_wrong_predictions_that_begin_alike_give_a_hint() -> None:
    wrong = [f"Sorry, it could be {answer[::-1]}" for answer in ANSWERS]
    assert find_hint(wrong).text == (
        "24 of 24 predictions begin with 'Sorry, it could be', and their accepted answers do not"
    )
    assert find_hints(wrong[:12] + ANSWERS[12:]) == []
    assert "end with 'it could be so'" in find_hint([f"{answer[::-1]} it could be so" for answer in ANSWERS]).text


def test_words_that_accepted_answers_share_give_no_hint() -> None:
    amounts = [f"${n * 37},{n * 77 % 1000}.{n * 7 % 100}" for n in range(20, 60)]
    wrong = [f"${n * 91},{n * 31 % 1000}.{n * 3 % 100}" for n in range(20, 60)]
    assert find_hints(wrong, as_references(amounts)) == []


def test_predictions_that_repeat_themselves_give_a_hint() -> None:
    repeated = [f"{answer[::-1]} " * 5 for answer in MANY]
    assert find_hint(repeated, as_references(MANY)).text == "90 of 90 predictions repeat the same words"


# Other spellings, and predictions that are no answers

SPOILT: list[tuple[str, Callable[[str], str]]] = [
    ("accents", lambda answer: unicodedata.normalize("NFD", answer)),
    ("invisible", lambda answer: f"\ufeff{answer}"),
    ("invisible", lambda answer: answer.replace("o", "o\u00ad")),
    ("encoding", lambda answer: answer.encode().decode("latin-1")),
    ("encoding", lambda answer: answer.replace("no.", "–").encode().decode("cp1252").replace("â€“", "no.")),
    ("escapes", lambda answer: json.dumps(answer)[1:-1]),
    ("tokens", lambda answer: "▁" + answer.replace(" ", "▁")),
    ("tokens", lambda answer: answer.replace(" ", "Ġ")),
    ("empty", lambda answer: " "),
    ("repeated", lambda answer: "wordless"),
    ("failures", lambda answer: "Error code: 429"),
    ("first character", lambda answer: answer[0]),
]


@pytest.mark.parametrize(("key", "spoil"), SPOILT)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_spoilt_predictions_give_one_hint_in_any_pieces(key: str, spoil: Callable[[str], str], piece: int) -> None:
    (hint,) = find_hints(list(map(spoil, ANSWERS)), piece=piece)
    assert hint.key in (key, "wrapped")  # a rule may mend it


# Changes that make a prediction unlike an answer. Rules can undo some of them.
UNLIKE: list[Callable[[str], str]] = [
    lambda answer: str([answer]),
    lambda answer: str({"answer": answer}),
    lambda answer: str(answer.encode()),
    lambda answer: f"system\nYou are.\nuser\nWhat?\nassistant\n{answer}",
    lambda answer: f"<|im_start|>assistant\n{answer}<|im_end|>",
    lambda answer: f"USER: <image>\nWhat? ASSISTANT: {answer}",
    lambda answer: f"[INST] What? [/INST] {answer}",
    lambda answer: f"What does it read? {answer}",
    lambda answer: f"{answer}\n\nQuestion: What is it?",
    lambda answer: f"{answer}\n" * 4,
]


@pytest.mark.parametrize("change", UNLIKE)
def test_predictions_unlike_answers_give_one_hint(change: Callable[[str], str]) -> None:
    predictions = list(map(change, ANSWERS))
    (hint,) = find_hints(predictions)
    assert hint.key in ("wrapped", "surplus")
    if hint.key == "wrapped":
        score = get_variant("standard").score
        assert sum(score(list(map(extractor(hint.value), predictions)), as_references(ANSWERS))) > sum(
            score(predictions, as_references(ANSWERS))
        )


def test_prediction_that_is_the_answer_of_a_single_question_gives_a_hint_where_it_is_wrong() -> None:
    assert find_hint([ANSWERS[3]] * len(ANSWERS)).text.startswith("23 of 24 predictions are the same wrong answer")
    assert find_hints(["yes"] * 24, [["yes"]] * 6 + [["no"]] * 18) == []


def test_hints_have_their_words() -> None:
    sentences = {hint.key: str(hint) for _, spoil in SPOILT for hint in find_hints(list(map(spoil, ANSWERS)))}
    assert sentences["empty"] == (
        "24 of 24 predictions are empty: if another field holds the predictions, name it with the argument 'prediction'"
    )
    assert sentences["repeated"].startswith("24 of 24 predictions are the same wrong answer, 'wordless': if")
    assert sentences["accents"].startswith("8 of 24 predictions score less because the two sides encode accents")


@pytest.mark.parametrize("key", ["accents", "encoding", "escapes", "invisible", "entities"])
def test_spoilt_references_give_a_hint(key: str) -> None:
    spoil = dict([*SPOILT, ("entities", lambda answer: answer.replace("é", "&eacute;"))])[key]
    assert find_hint(ANSWERS, as_references(map(spoil, ANSWERS))).key == key
    both = [*map(spoil, ANSWERS[:-1]), "a"]
    assert find_hints(both, as_references(map(spoil, ANSWERS))) == []  # they are alike


def test_single_prediction_with_decomposed_accents_gives_a_hint() -> None:
    predictions = [unicodedata.normalize("NFD", answer) if n == 2 else answer for n, answer in enumerate(ANSWERS)]
    assert find_hint(predictions).text.startswith("1 of 24 predictions")


@pytest.mark.parametrize("separator", ["|", " | ", "||", ";", "\n", "\t", r"\n", "<br>", "；"])
def test_joined_hint_names_the_separator(separator: str) -> None:
    references = [[f"{answer}{separator}the {answer}"] for answer in ANSWERS]
    text = "24 of 24 accepted answers look like several in one text"
    written = {"\n": r"\n", "\t": r"\t"}.get(separator, separator)
    assert find_hint(ANSWERS, references) == ("joined", text, remedies.REFERENCES_SEPARATOR, written)
    few = [row if n < 4 else [answer] for n, (row, answer) in enumerate(zip(references, ANSWERS))]
    text = "4 of 24 accepted answers may be several in one text"
    assert find_hint(ANSWERS, few) == ("some joined", text, remedies.REFERENCES_SEPARATOR, written)
    whole = [row[0] for row in references[8:]]  # the model gives some lists in full, and a part of others
    assert find_hints([*ANSWERS[:4], "?", "?", "?", "?", *whole], references) == []


@pytest.mark.parametrize("separator", [" / ", " or ", " OR "])
def test_separator_between_words_gives_a_hint_if_few_answers_are_right_with_it(separator: str) -> None:
    references = [[f"{answer}{separator}the {answer}" if n < 4 else answer] for n, answer in enumerate(ANSWERS)]
    text = "4 of 24 accepted answers may be several in one text"
    assert find_hint(ANSWERS, references) == ("some joined", text, remedies.REFERENCES_SEPARATOR, separator)
    assert find_hints(ANSWERS[:1] + [text for (text,) in references[1:]], references) == []


@pytest.mark.parametrize("separator", ["/", ", "])
def test_separator_that_is_common_in_answers_gives_a_hint_to_write_lists(separator: str) -> None:
    hint = find_hint(ANSWERS, [[f"{answer}{separator}the {answer}"] for answer in ANSWERS])
    assert hint.text == f'24 of 24 accepted answers may be several in one text, with "{separator}" between them'
    assert hint.remedy == 'if they are, write them as a list of texts: ["a", "b"]'


def test_answers_with_another_form_give_no_hint() -> None:
    assert find_hints([str(n) for n in range(24)], [[f"[{n}]"] for n in range(24)]) == []  # citations
    hints = find_hints([str(n % 10) for n in range(24)], [[f"{n % 10}.0"] for n in range(24)])
    assert [hint.key for hint in hints] == ["floats of gold"]


def test_separator_inside_an_answer_gives_no_hint() -> None:
    assert find_hints(ANSWERS, [[f"{answer[::-1]}; and more of it"] for answer in ANSWERS]) == []
    assert find_hints(ANSWERS, [["a|b", answer[::-1]] for answer in ANSWERS]) == []  # a list it is
    assert find_hints(ANSWERS, [[f"NY | {n}"] for n in range(24)]) == []
    places = [f"{answer}, NC" for answer in MANY]  # the model leaves the state out of some answers
    assert (
        find_hints([place.removesuffix(", NC" * (n % 4 == 0)) for n, place in enumerate(places)], as_references(places))
        == []
    )


@pytest.mark.parametrize(
    "printed",
    [
        lambda texts: str(set(texts)),
        lambda texts: json.dumps(texts)[1:-1],
        lambda texts: json.dumps(json.dumps(texts)),
        str,
        json.dumps,
        lambda texts: f"{{{','.join(texts)}}}",
        lambda texts: f"[{', '.join(texts)}]",
    ],
)
def test_printed_references_give_a_hint(printed: Callable[[list[str]], str]) -> None:
    references = [[printed([answer, f"the {answer}"])] for answer in ANSWERS]
    assert find_hint(ANSWERS, references).key == "printed"


def test_brackets_inside_an_answer_give_no_hint() -> None:
    pages = [f"[{n}]" for n in range(90)]
    assert find_hints([f"[{n + n % 3}]" for n in range(90)], as_references(pages)) == []


def test_letters_of_choices_give_no_hint() -> None:
    assert find_hints(list("abcdef") * 15, [["a", "b", "c", "d"]] * 90) == []


def test_references_split_into_characters_give_a_hint() -> None:
    assert find_hint(ANSWERS, [list(answer) for answer in ANSWERS]).key == "characters"


def test_clean_file_gives_no_hints() -> None:
    assert find_hints([*ANSWERS[:-1], "a"]) == []
    assert find_hints([answer[:-2] for answer in ANSWERS]) == []
    assert find_hints([""] * 21 + ANSWERS[21:]) == []  # it may know little
    assert find_hints([]) == []
    assert find_hints([None] * 24) == []


# Models that write sentences, and a model without instruction tuning -> the rules that extract their answers.
WRAPPED_MODELS = {"llama_scout": "sentence,period", "llama_vision": "sentence", "qwen2_vl_7b": "final,first-line"}


@pytest.mark.parametrize("variant", ["standard", "rrc", "nls"])
def test_real_answers_give_a_hint_only_if_the_model_writes_more_than_the_answer(
    real_answers: Path, variant: str
) -> None:
    questions = json.loads((real_answers / "gold.json").read_text("utf-8"))["data"]
    keys = {}
    for path in real_answers.glob("submission__*.json"):
        answer_of = {record["questionId"]: record["answer"] for record in json.loads(path.read_text("utf-8"))}
        predictions = [answer_of[question["questionId"]] for question in questions]
        references = [question["answers"] for question in questions]
        keys[path.stem.removeprefix("submission__")] = {
            hint.key for hint in find_hints(predictions, references, variant=variant)
        }
    good = {name for name, found in keys.items() if not found}
    assert good == {"llama_maverick", "llama_nemotron", "nemotron", "qwen2_vl_7b_instruct"}
    assert set().union(*keys.values()) <= {"wrapped", "some wrapped", "surplus"}


# Samples


def test_hint_about_a_large_file_says_that_it_is_sampled() -> None:
    (hint,) = find_hints(["a b"] * 40_960, [["z"]] * 40_960, piece=40_960)
    count, total = hint.text.split(" sampled")[0].split(" of ")
    assert count == total == "5,120"


def test_hints_keep_few_cases_whatever_the_size_of_the_texts() -> None:
    for text in "a b", "a b" * 1000:
        hints, scored_set = Hints(), ScoredSet()
        for start in range(0, 20_000, 1000):
            hints.add(scored_set.add([Row(str(n), text, ["z"], {}) for n in range(start, start + 1000)]))
        cases = [case for _, wrong, right in hints._pieces.values() for case in (*wrong, *right)]
        assert len(cases) <= 8192
        assert sum(len(case.prediction) for case in cases) <= 16_000_000
        assert [hint.key for hint in hints.conclude()] == ["repeated"]


@pytest.mark.parametrize("signs", [SIGNS, VALUE_SIGNS])
@pytest.mark.parametrize("door", get_args(Door))
def test_sign_has_words_for_every_door(signs: Sequence[Sign], door: Door) -> None:
    assert len({sign.key for sign in signs}) == len(signs)
    for sign in signs:
        hint = Hint(sign.key, sign.text.format(value="think"), sign.remedy, "think")
        assert hint.format_for(door).startswith(f"{hint.text}: ")
        assert "{" not in hint.format_for(door)
        assert ("--" in hint.format_for(door)) <= (door == "command")
