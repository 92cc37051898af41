"""What an error or a hint proposes works: each option that is printed with a value is typed as it is printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import anls_metric
from anls_metric import score
from anls_metric.command import command_line
from anls_metric.command.arguments import score_files
from anls_metric.messages import InputError, Message
from tests.reading.test_join import CONTRADICTIONS, ERRORS
from tests.system.conftest import GOLD, IDS, Shell, list_answers, list_rows
from tests.system.test_situations import NEXT_STEPS, use

Situation = tuple[str, Mapping[str, Any]]

NESTED: list[dict[str, Any]] = [
    {"id": n, "prediction": {"total": f"{n}.50"}, "answers": {"total": f"{n}.5"}} for n in range(6)
]
REQUESTS = [{"custom_id": f"q-{key}", "response": None, "error": {"code": "429"}} for key in IDS]
# More situations of the kinds that no other table has.
MORE: dict[str, Situation] = {
    "an answer that is null": ("gold.json x.json", {"x.json": [*list_answers()[1:], list_answers()[0] | {
        "prediction": None}]}),
    "objects as answers": ("t.json", {"t.json": NESTED}),
    "samples": ("t.json", {"t.json": [{"prediction": ["a", "b"], "answers": "a"}]}),
    "samples or lists": ("t.json", {"t.json": [{"prediction": ["a", "b"], "answers": ["a", "c"]}]}),
    "samples in a cell": ("t.csv", {"t.csv": [{"prediction": '["a", "b"]', "answers": "a"}] * 3}),
    "samples of objects": ("t.json --variant anls_star", {"t.json": [{"prediction": [{"a": 1}, {"a": 2}], "answers": {
        "a": 1}}]}),
    "a sample that is null": ("t.json --samples mean", {"t.json": [{"prediction": ["a", None], "answers": "a"}]}),
    "a text in an object": ("t.json --prediction-field x", {"t.json": [{"x": {"text": "a"}, "answers": "a"}]}),
    "objects and references that are JSON": ("t.json", {"t.json": [{"prediction": [{"a": 1}], "answers": '{"a": 1}'}]}),
    "references in lists of one object": ("t.json", {"t.json": [{"prediction": "{}", "answers": [{"a": 1}]}]}),
    "references that are objects with a text": ("t.json", {"t.json": [{"prediction": "a", "answers": {"value": "a",
        "page": 3}}]}),
    "lists of several models": ("t.json", {"t.json": {"models": {name: {"rows": list_rows()} for name in "ab"}}}),
    "answers by id of several models": ("gold.json m.json", {"m.json": {name: {str(row["questionId"]): "a" for row in
        GOLD} for name in ("base", "tuned")}}),
    "a copied answer beside a model": ("g.json x.json", {"g.json": [{"id": n, "answer": f"a{n}"} for n in range(6)],
        "x.json": [{"id": n, "answer": f"a{n}", "gpt-4o": f"a{n % 4}"} for n in range(6)]}),
    "a list with unusual names": ("t.json", {"t.json": {"rows": [{"guess": "a", "want": "a"}], "n": 1}}),
    "questions in a list": ("t.json --prediction-field texts.*.p --references-field texts.*.r", {"t.json": [
        {"texts": [{"p": "a", "r": "a"}, {"p": "b", "r": "c"}]}]}),
    "values without the variant for them": ("t.json --by-key", {"t.json": NESTED}),
    "results before the gold file": ("t.json g.json", {"t.json": list_rows(), "g.json": [{"question": row["question"],
        "answer": row["answers"][0]} for row in GOLD]}),
    "repeated ids of a gold file": ("g.json a.json", {"g.json": [*GOLD, GOLD[0]]}),
    "a metric that needs a column": ("t.json --variant mmlongbench_doc", {"t.json": [{"prediction": "a", "gold":
        ["a"]}]}),
    "numbers in two forms": ("t.json --variant anls_star", {"t.json": [{**row, "prediction": {"total": 10 * n},
        "answers": {"total": 10.0 * n}} for n, row in enumerate(NESTED)]}),
    "keys without a value": ("t.json --variant anls_star", {"t.json": [{**row, "prediction": {**row["prediction"],
        "tax": None}} for row in NESTED]}),
    "answers in columns": ("g.csv x.csv", {name: [{"id": 7, "sum": "a", "tip": "b"}] for name in ("g.csv", "x.csv")}),
    "keys beside the answer": ("t.json --variant anls_star", {"t.json": [{**row, "prediction": {**row["prediction"],
        "tokens": 7, "meta": {"model": "m"}}} for row in NESTED]}),
    "a comparison of leaves": ("a=t.json b=t.json --variant anls_star --average leaves", {"t.json": NESTED}),
    "runs of leaves": ("a=t.json a=./t.json --variant anls_star --average leaves", {"t.json": NESTED}),
    "failed requests": ("gold.json x.jsonl", {"x.jsonl": REQUESTS}),
    "another question": ("gold.json x.json", {"x.json": list_answers(question="How much?")}),
    "raw model output": ("gold.json x.json", {"x.json": [row | {"prediction": f"The answer is {row['prediction']}."}
        for row in list_answers()]}),
    "several answers in one text": ("t.json", {"t.json": [row | {"answers": "|".join(row["answers"])}
        for row in list_rows()]}),
    "answers in another form": ("t.json", {"t.json": [{"prediction": f"{n} dollars", "answers": [f"${n}"]}
        for n in range(3, 33)]}),
    "abstentions": ("t.json", {"t.json": [{"prediction": "It is not mentioned.", "answers": [["Not answerable"],
        ["a"]][n > 2]} for n in range(9)]}),
    "a kind without a figure": ("gold.json a.json --plot-kind keys", {}),
    "a figure of texts by key": ("gold.json a.json --plot f.pdf --plot-kind keys", {}),
    "a figure of values by key": ("t.json --variant anls_star --plot f.pdf --plot-kind keys", {"t.json": NESTED}),
    "a figure of groups": ("t.json --plot f.pdf --plot-kind groups", {"t.json": [row | {"kind": "ab"[n % 2]} for n, row
        in enumerate(list_rows())]}),
    "an export without ids": ("export rrc x.json", {"x.json": [{"answer": "a"}, {"answer": "b"}]}),
}  # fmt: skip
SITUATIONS: dict[str, Situation] = {
    **{line: (line, {}) for line, *_ in NEXT_STEPS},
    **{case: (line, files) for case, (line, files, *_) in ERRORS.items()},
    **{
        case: (
            "g.json x.json" + " --prediction-field value" * ("value" in answers[0]),
            {"g.json": gold, "x.json": answers},
        )
        for case, (gold, answers, *_) in CONTRADICTIONS.items()
    },
    **MORE,
}


def list_proposals(message: Message) -> Iterator[str]:
    """List the options that a message prints with a value that can be typed, and is no placeholder."""
    for _, name, value, _ in Formatter().parse(message.sentence):
        if name and name.startswith("use.") and value:
            printed = Message("", f"{{{name}:{value}}}", message.values).text("command")
            if not re.search(r"PATH|\.\.\.", printed):
                yield printed
    yield from (
        Message("", f"{{use.{name}:{{value}}}}", {"value": value}).text("command")
        for name, value in message.options.items()
    )


def add_option(line: str, option: str) -> str:
    """Add an option to a command, in place of another value."""
    flag = option.partition(" ")[0]
    words = shlex.split(line)
    if flag in words:
        del words[words.index(flag) : words.index(flag) + 2]
    return f"{shlex.join(words)} {option}"


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages of the errors and hints of the commands that are typed."""
    found: list[Message] = []
    describe = command_line._describe_error

    def keep_error(error: ValueError | OSError | MemoryError, words: list[str]) -> str:
        found.extend([error.message] if isinstance(error, InputError) else [])
        return describe(error, words)

    def keep_hints(*arguments: Any) -> Any:
        result, run = score_files(*arguments)
        found.extend(hint.message for hint in result.hints)
        return result, run

    monkeypatch.setattr(command_line, "_describe_error", keep_error)
    monkeypatch.setattr("anls_metric.command.command_line.score_files", keep_hints)
    return found


@pytest.mark.parametrize("case", SITUATIONS)
def test_option_that_a_message_proposes_gives_a_score_or_a_later_error(
    shell: Shell, messages: list[Message], case: str
) -> None:
    line, files = SITUATIONS[case]
    use(shell, line)
    shell.write(files)
    first = shell.type(line)
    printed = first.err
    for option in [option for message in messages for option in list_proposals(message)]:
        assert option in printed
        done = shell.type(add_option(line, option))
        assert done.status == 0 or (first.status, done.err) != (2, printed), option
        assert "unknown" not in done.err, done.err


def test_every_proposal_of_the_source_has_a_situation(shell: Shell, messages: list[Message]) -> None:
    source = "".join(path.read_text("utf-8") for path in Path(anls_metric.__file__).parent.rglob("*.py"))
    proposals = re.compile(r"{use\.[a-z_]+:(?:\w+|{\w+})}")  # of ordinary strings
    for line, files in SITUATIONS.values():
        use(shell, line)
        shell.write(files)
        shell.type(line)
    found = {proposal for message in messages for proposal in proposals.findall(message.sentence)}
    assert {*proposals.findall(source)} - found == set()


@pytest.mark.parametrize("case", SITUATIONS)
def test_message_speaks_the_language_of_its_front_end(shell: Shell, messages: list[Message], case: str) -> None:
    line, files = SITUATIONS[case]
    use(shell, line)
    shell.write(files)
    shell.type(line)
    for message in messages:
        own = re.sub(r"'[^']*'|{.*?}", "", message.text("command"))
        assert not re.search(r"\b(dict|tuple|keyword argument)s?\b", own), own
        assert not re.search(r" --[a-z]", message.text("python"))


# What is typed or called, and what its error says.
WORDS = {
    '""': "a file name is empty",
    "variant": "the subcommand is anls variants",
    "exprot": "the subcommand is anls export",
    "gold.json a.json --variant rcc": "unknown variant 'rcc': did you mean rrc?",
    "gold.json gold.json": "it is passed both as the gold file and as a submission",
    "--extract think final gold.json a.json": "such as --extract think,final",
    "find 0.75": "type anls GOLD SUBMISSION --find NUMBER",
}


@pytest.mark.parametrize("line", WORDS)
def test_word_that_is_no_file_gets_the_sentence_that_helps(shell: Shell, line: str) -> None:
    assert WORDS[line] in shell.error(line)


CALLS: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("CocaCola", ["Coca Cola"]), {}, "to score one answer, call anls_score"),
    ((), {"predictions": ["a"], "references": [["a"]]}, "score(predictions, references)"),
    (([{"prediction": b"a", "references": ["a"]}],), {}, "decode it, as with value.decode()"),
]


@pytest.mark.parametrize(("arguments", "options", "words"), CALLS)
def test_call_that_cannot_be_scored_gets_the_sentence_that_helps(arguments: Any, options: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        score(*arguments, **options)
