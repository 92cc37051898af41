"""Hints about files that look wrong although they can be scored."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

import anls_metric
from anls_metric.analysis.hints import SIGNS, VALUE_SIGNS, Hint, Hints, Sign
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading import remedies
from anls_metric.reading.extract import extractor
from anls_metric.reading.join import Row
from anls_metric.reading.remedies import Door

BRANDS = ["Coca", "Pepsi", "Fanta", "Sprite", "Schweppes", "Orangina", "Afri", "Rivella"]
ANSWERS = [
    f"{brand} {thing} no. {number}" for number, brand in enumerate(BRANDS) for thing in ("Cola", "Company", "Café")
]


def find_hints(
    predictions: Sequence[str | None],
    references: Iterable[Sequence[str]] | None = None,
    records: Iterable[dict[str, Any]] | None = None,
    variant: str = "standard",
    piece: int = 1000,
    extract: str = "",
) -> list[Hint]:
    """The hints about predictions, against the answers where no references are given."""
    references = [[answer] for answer in ANSWERS] if references is None else references
    records = [{}] * len(predictions) if records is None else records
    rows = [Row(str(n), *row) for n, row in enumerate(zip(predictions, references, records))]
    scored_set, hints = ScoredSet(variant), Hints(variant, extract)
    for start in range(0, len(rows), piece):
        hints.add(scored_set.add(rows[start : start + piece]))
    return hints.conclude()


def find_hint(*columns: Any, **options: Any) -> Hint:
    (hint,) = find_hints(*columns, **options)
    return hint


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "harmony": lambda answer: (
        f"<|channel|>analysis<|message|>It reads so.<|end|><|start|>assistant<|channel|>final<|message|>{answer}"
    ),
    "chat": lambda answer: f"USER: <image>\nWhat? ASSISTANT: {answer}",
    "chat,think": lambda answer: (
        f"<|im_start|>user\nWhat?<|im_end|>\n<|im_start|>assistant\n<think>Hm.</think>{answer}<|im_end|>"
    ),
    "think": lambda answer: f"<think>It could be Pepsi.</think>\n\n{answer}",
    "think,final": lambda answer: f"<think>The answer is Pepsi?</think>The answer is {answer}",
    "think,tag": lambda answer: f"<think>Hm.</think><answer>{answer}</answer>",
    "think,boxed": lambda answer: rf"<think>Hm.</think>The answer is $\boxed{{\text{{{answer}}}}}$.",
    "think,tag,special-tokens": lambda answer: (
        f"<think>Hm.</think><answer><|begin_of_box|>{answer}<|end_of_box|></answer>"
    ),
    "final,special-tokens,period": lambda answer: f"**Answer:** {answer}.<|im_end|>",
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
    "prefix": lambda answer: f"Final response: {answer}",
    "sentence": lambda answer: f"The name of the brand that is shown on the page is {answer}.",
    "bold": lambda answer: f"**{answer}**",
    "quotes": lambda answer: f"“{answer}”",
    "period": lambda answer: f"{answer}.",
    "period,quotes": lambda answer: f'"{answer}".',
    "quotes,period": lambda answer: f'"{answer}."',
}


@pytest.mark.parametrize("names", WRAPPINGS)
def test_wrapped_hint_names_the_rules_that_extract_the_answers(names: str) -> None:
    wrapped = list(map(WRAPPINGS[names], ANSWERS))
    assert find_hint(wrapped) == ("wrapped", "24 of 24 predictions look wrapped", remedies.EXTRACT, names)
    assert list(map(extractor(names), wrapped)) == ANSWERS


def test_wrapped_hint_counts_wrong_answers() -> None:
    assert find_hint([f"<think>Hm.</think>{answer[::-1]}" for answer in ANSWERS]).value == "think"


def test_wrapped_hint_names_the_smallest_chain_that_many_need() -> None:
    think, final, boxed = (WRAPPINGS[name] for name in ("think", "think,final", "think,boxed"))
    some = ANSWERS[:3]
    mixed = [*map(think, ANSWERS[:12]), *map(final, ANSWERS[12:])]
    assert find_hint(mixed).value == "think,final"
    rare = [*map(think, ANSWERS[:-3]), *map(boxed, ANSWERS[-3:])]
    assert find_hint(rare) == ("wrapped", "24 of 24 predictions look wrapped", remedies.EXTRACT, "think")
    apart = [*map(WRAPPINGS["bold"], some), *map(WRAPPINGS["quotes"], ANSWERS[3:6]), *ANSWERS[6:]]
    assert find_hint(apart) == ("wrapped", "6 of 24 predictions look wrapped", remedies.EXTRACT, "bold,quotes")


@pytest.mark.parametrize(("count", "texts"), [(19, []), (20, ["20 of 100 predictions look wrapped"])])
def test_hint_needs_a_fifth_of_the_predictions(count: int, texts: list[str]) -> None:
    answers = (ANSWERS * 5)[:100]
    predictions = [f"**{answer}**" if n < count else answer for n, answer in enumerate(answers)]
    assert [hint.text for hint in find_hints(predictions, [[answer] for answer in answers])] == texts
    unanswered = find_hints([*predictions, *[None] * 50], [[answer] for answer in answers] + [["a"]] * 50)
    assert [hint.text for hint in unanswered] == texts  # they are no predictions


@pytest.mark.parametrize("variant", anls_metric.VARIANTS)
def test_period_gives_a_hint_only_if_it_lowers_scores(variant: str) -> None:
    rambling = [f"I read this on the page, where it stands at the top: it is {answer}." for answer in ANSWERS]
    assert find_hints(rambling, variant=variant) == []
    with_period = [f"{answer}." for answer in ANSWERS]
    assert find_hints(with_period, [[answer] for answer in with_period], variant=variant) == []
    assert find_hints(with_period[::-1], [[answer] for answer in with_period], variant=variant) == []


def test_wrapping_of_the_references_gives_no_hint() -> None:
    references = [[f'"{answer}"'] for answer in ANSWERS]
    assert find_hints([f'"{answer[::-1]}"' for answer in ANSWERS], references) == []


def test_wrapped_hint_begins_with_the_rules_of_the_run() -> None:
    assert find_hint([f"Answer: {answer}" for answer in ANSWERS], extract="think").value == "think,final"


def test_unfinished_hint_for_reasoning_without_an_answer() -> None:
    hint = find_hint([f"<think>Is it {answer}" for answer in ANSWERS])
    assert str(hint) == "24 of 24 predictions hold reasoning without an answer after it: let the model write more"


# Hints about predictions that no rule mends, each by what makes a file like that.
SPOILT: list[tuple[str, Callable[[str], str]]] = [
    ("printed predictions", lambda answer: str(answer.encode())),
    ("prompt", lambda answer: f"What does it read? {answer}"),
    ("accents", lambda answer: unicodedata.normalize("NFD", answer)),
    ("invisible", lambda answer: f"\ufeff{answer}"),
    ("invisible", lambda answer: answer.replace("o", "o\u00ad")),
    ("encoding", lambda answer: answer.encode().decode("latin-1")),
    ("encoding", lambda answer: answer.replace("no.", "–").encode().decode("cp1252").replace("â€“", "no.")),
    ("escapes", lambda answer: json.dumps(answer)[1:-1]),
    ("tokens", lambda answer: "▁" + answer.replace(" ", "▁")),
    ("tokens", lambda answer: answer.replace(" ", "Ġ")),
    ("empty", lambda answer: " "),
    ("repeated", lambda answer: "Error code: 429"),
    ("first character", lambda answer: answer[0]),
]


@pytest.mark.parametrize(("key", "spoil"), SPOILT)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_spoilt_predictions_give_one_hint_in_any_pieces(key: str, spoil: Callable[[str], str], piece: int) -> None:
    records = [{"question": "What does it read?"}] * len(ANSWERS)
    assert [hint.key for hint in find_hints(list(map(spoil, ANSWERS)), records=records, piece=piece)] == [key]


def test_hints_have_their_words() -> None:
    sentences = {hint.key: str(hint) for _, spoil in SPOILT for hint in find_hints(list(map(spoil, ANSWERS)))}
    assert sentences["empty"] == (
        "24 of 24 predictions are empty: if another field holds them, name it with prediction_field"
    )
    assert sentences["repeated"].startswith("24 of 24 predictions are wrong and the same, 'Error code: 429': look at")
    assert sentences["accents"].startswith("8 of 24 predictions score less because one side writes accents decomposed")


@pytest.mark.parametrize("key", ["accents", "encoding", "escapes", "invisible", "entities"])
def test_spoilt_references_give_a_hint(key: str) -> None:
    spoil = dict([*SPOILT, ("entities", lambda answer: answer.replace("é", "&eacute;"))])[key]
    assert find_hint(ANSWERS, [[spoil(answer)] for answer in ANSWERS]).key == key
    both = find_hints(list(map(spoil, ANSWERS)), [[spoil(answer)] for answer in ANSWERS])
    assert both == []  # they are alike


def test_single_prediction_with_decomposed_accents_gives_a_hint() -> None:
    predictions = [unicodedata.normalize("NFD", answer) if n == 2 else answer for n, answer in enumerate(ANSWERS)]
    assert find_hint(predictions).text.startswith("1 of 24 predictions")


@pytest.mark.parametrize("separator", ["|", " | ", "||", ";", "\n"])
def test_joined_hint_names_the_separator(separator: str) -> None:
    references = [[f"{answer}{separator}the {answer}"] for answer in ANSWERS]
    text = "24 of 24 accepted answers look like several in one text"
    assert find_hint(ANSWERS, references) == ("joined", text, remedies.REFERENCES_SEPARATOR, separator)
    few = [row if n < 4 else [answer] for n, (row, answer) in enumerate(zip(references, ANSWERS))]
    assert find_hints(ANSWERS, few) == []


def test_separator_inside_an_answer_gives_no_hint() -> None:
    assert find_hints(ANSWERS, [[f"{answer[::-1]}; and more of it"] for answer in ANSWERS]) == []
    assert find_hints(ANSWERS, [["a|b", answer[::-1]] for answer in ANSWERS]) == []  # a list it is


@pytest.mark.parametrize(
    "printed", [lambda texts: str(set(texts)), str, json.dumps, lambda texts: f"{{{','.join(texts)}}}"]
)
def test_printed_references_give_a_hint(printed: Callable[[list[str]], str]) -> None:
    references = [[printed([answer, f"the {answer}"])] for answer in ANSWERS]
    assert find_hint(ANSWERS, references).key == "printed references"


def test_references_split_into_characters_give_a_hint() -> None:
    assert find_hint(ANSWERS, [list(answer) for answer in ANSWERS]).key == "characters"


@pytest.mark.parametrize("piece", [1, 5, 1000])
def test_shifted_hint_names_the_direction(piece: int) -> None:
    answers = random.Random(1).sample(ANSWERS, len(ANSWERS))
    references = [[answer] for answer in answers]
    before, after = ["", *answers[:-1]], [*answers[1:], ""]
    assert "question right before theirs" in find_hint(before, references, variant="rrc", piece=piece).text
    assert "question right after theirs" in find_hint(after, references, variant="rrc", piece=piece).text


def test_neighbours_with_the_same_answers_give_no_shifted_hint() -> None:
    references = [["yes"], ["no"]] * 20
    hints = find_hints(["no", "yes"] * 20, references)
    assert [hint.key for hint in hints] == ["repeated"]


def test_clean_file_gives_no_hints() -> None:
    assert find_hints(ANSWERS) == []
    assert find_hints([answer[:-2] for answer in ANSWERS]) == []
    assert find_hints([""] * 21 + ANSWERS[21:]) == []  # it may know little
    assert find_hints([]) == []
    assert find_hints([None] * 24) == []


# Models that write sentences, and one that was not trained to follow instructions -> the rules that mend their answers.
WRAPPED_MODELS = {"llama_scout": "sentence,period", "llama_vision": "sentence", "qwen2_vl_7b": "final,first-line"}


@pytest.mark.parametrize("variant", ["standard", "rrc", "nls"])
def test_real_answers_give_hints_only_where_rules_mend_them(real_answers: Path, variant: str) -> None:
    questions = json.loads((real_answers / "gold.json").read_text("utf-8"))["data"]
    submissions = sorted(real_answers.glob("submission__*.json"))
    assert len(submissions) == 9
    for path in submissions:
        answer_of = {record["questionId"]: record["answer"] for record in json.loads(path.read_text("utf-8"))}
        predictions = [answer_of[question["questionId"]] for question in questions]
        references = [question["answers"] for question in questions]
        hints = find_hints(predictions, references, questions, variant=variant)
        rules = WRAPPED_MODELS.get(path.stem.removeprefix("submission__"))
        assert [hint.value for hint in hints] == ([rules] if rules else []), path.name


def test_hint_about_a_large_file_says_that_it_is_sampled() -> None:
    (hint,) = find_hints([""] * 40_960, [["a"]] * 40_960, piece=40_960)
    assert hint.text == "19,456 of 19,456 sampled predictions are empty"


def test_hints_keep_few_counts() -> None:
    hints, scored_set = Hints(), ScoredSet()
    for n in range(500):
        hints.add(scored_set.add([Row(str(n), f"wrong {n}", ["a"], {})]))
    assert sum(map(len, hints._seen.values())) <= 200
    assert hints.conclude() == []


@pytest.mark.parametrize("signs", [SIGNS, VALUE_SIGNS])
@pytest.mark.parametrize("door", get_args(Door))
def test_sign_has_words_for_every_door(signs: Sequence[Sign], door: Door) -> None:
    assert len({sign.key for sign in signs}) == len(signs)
    for sign in signs:
        hint = Hint(sign.key, sign.text.format(count="2", total="3", value="think"), sign.remedy, "think")
        assert hint.format_for(door).startswith(f"{hint.text}: ")
        assert "{" not in hint.format_for(door)
        assert ("--" in hint.format_for(door)) <= (door == "command")
