"""Extracts answers from raw model output, using a table with one rule for each kind of wrapping."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anls_metric.core.checks import count_noun, describe, describe_unknown
from anls_metric.core.extraction.wrappings import (
    JSON,
    PYTHON,
    QUOTES,
    strip_period,
    strip_prefix,
    strip_special_tokens,
    take_after_label,
    take_after_thinking,
    take_as_lmms_eval,
    take_before_rest,
    take_bold,
    take_boxed,
    take_from_chat,
    take_from_fence,
    take_from_harmony,
    take_from_html,
    take_from_quotes,
    take_from_sentence,
    take_from_tags,
    take_letter,
    take_list,
    take_math,
    take_only_item,
    take_repeated,
)
from anls_metric.core.scorer import Scorer
from anls_metric.core.strings.rows import as_text


class Extractor(NamedTuple):
    r"""An extraction step, such as a row of `EXTRACTORS`.

    Args:
        name: the name of the rule.
        meaning: what the rule extracts, in one line.
        extract: the function that finds the answer in a string and returns it without surrounding whitespace, or None
            if there is no answer.
        marks: strings, or the characters of one string, at least one of which must occur for the rule to find anything.
        option: what ``NAME:VALUE`` chooses, "field" or "tag"; "" if the rule has no such form.
        of_values: the function to use if answers are lists and nested values; None for ``extract``.
        arguments: the values of the option, which are passed to ``extract`` after the string.

    Example:
        >>> EXTRACTORS["boxed"].find(r"So it is \boxed{7}.")
        '7'
        >>> EXTRACTORS["boxed"].find("It is 7.") is None
        True
    """

    name: str
    meaning: str
    extract: Callable[..., str | None]
    marks: Iterable[str]
    option: str = ""
    of_values: Callable[..., str | None] | None = None
    arguments: tuple[str, ...] = ()

    def find(self, text: str) -> str | None:
        """Extract the answer, or return None at once if the string contains none of the marks."""
        for mark in self.marks:
            if mark in text:
                return self.extract(text, *self.arguments)
        return None


@dataclass(frozen=True)
class Extraction:
    """A function that applies rules one after another and can be pickled, as returned by `extractor`.

    Args:
        rules: the rules in the order in which they are applied.
    """

    rules: tuple[Extractor, ...]

    @property
    def signature(self) -> str:
        """The names of the rules, in the form that `extractor` accepts and signatures use."""
        return ",".join(rule.name for rule in self.rules)

    def __call__(self, text: str) -> str:
        """Extract the answer from a string.

        Returns:
            The answer, or the string itself if no rule finds anything.

        Raises:
            ValueError: `text` is not a string.
        """
        (answer,), _ = extract_all(self, [as_text(text, "text")])
        return str(answer)


Counts = Mapping[str, Mapping[str, int]]
"""The numbers of strings that a rule changed and left unchanged, keyed by the name of the rule."""


def extract_all(extraction: Extraction, texts: Sequence[Any]) -> tuple[list[Any], Counts]:
    """Extract the answers from raw model output, and count the strings that each rule changes.

    Args:
        extraction: the rules.
        texts: the raw outputs. A value that is not a string stays unchanged and is not counted.

    Returns:
        The answers, and the numbers of strings that each rule changed and left unchanged, keyed by rule name in the
        order in which the rules are applied.

    Example:
        >>> texts = ['<think>Hm.</think>{"answer": "7"}', "8", '{"answer": "Coca Co', None]
        >>> answers, counts = extract_all(extractor("think,json"), texts)
        >>> answers
        ['7', '8', '{"answer": "Coca Co', None]
        >>> counts["json"]
        {'changed': 1, 'left': 2}
    """
    answers, counts = list(texts), {}
    for rule in extraction.rules:
        outcomes = counts[rule.name] = {"changed": 0, "left": 0}
        for place, text in enumerate(answers):
            if isinstance(text, str):
                answer = rule.find(text)
                outcomes["left" if answer in (None, text) else "changed"] += 1
                answers[place] = text if answer is None else answer
    return answers, counts


def describe_extraction(counts: Counts) -> list[str]:
    """Describe what each rule did, in one sentence per rule.

    Args:
        counts: the counts that `extract_all` returned.

    Example:
        >>> describe_extraction({"period": {"changed": 7, "left": 3}})
        ['period changed 7 of 10 answers and left 3']
    """
    return [
        f"{name} changed {rule['changed']:,} of {count_noun(sum(rule.values()), 'answer')} and left {rule['left']:,}"
        for name, rule in counts.items()
    ]


def extractor(names: str, *, values: bool = False) -> Extraction:
    """Make a function that extracts answers from raw model output.

    Args:
        names: names from the table `EXTRACTORS`, such as "think" or "json", separated by commas, in the order in which
            they are applied. ``json:FIELD``, ``python:FIELD`` and ``tag:NAME`` look for a different field, key or tag
            than ``answer``.
        values: whether answers are lists and nested values; if so, ``json`` extracts an object or list, as JSON.

    Returns:
        A function that takes a string. A string in which a rule finds nothing stays unchanged; an extracted answer has
        no whitespace around it. The function's ``.signature`` names the rules.

    Raises:
        ValueError: there is no such rule.

    Example:
        >>> extract = extractor("think,final")
        >>> extract("<think>A logo. The answer is Pepsi?</think>The answer is Coca Cola")
        'Coca Cola'
        >>> extract("Coca Cola")
        'Coca Cola'
        >>> extract.signature
        'think,final'
        >>> extractor("json:brand")('It reads so: {"brand": "Coca Cola"}')
        'Coca Cola'
        >>> extractor("json", values=True)('It reads so: {"brand": ["Coca Cola"]}.')
        '{"brand": ["Coca Cola"]}'
    """
    if not names or not isinstance(names, str):
        raise ValueError(f'the rule names must be a nonempty string such as "think,final", got {describe(names)}')
    return Extraction(tuple(_find_rule(name.strip(), values) for name in names.split(",")))


def extractor_for(scorer: Scorer, names: str) -> Extraction:
    """Make the function that extracts answers for a scorer. Raises ValueError if there is no such rule."""
    return extractor(names, values=scorer.reads_json)


def _find_rule(text: str, values: bool) -> Extractor:
    name, *arguments = text.split(":", 1)
    rule = EXTRACTORS.get(name) or PROGRAMS.get(name)
    if rule is None:
        raise ValueError(describe_unknown("extraction step", name, [*EXTRACTORS, *PROGRAMS], "EXTRACTORS"))
    if arguments and not (rule.option and arguments[0]):
        form = f"{name}:{rule.option.upper()}".rstrip(":")
        raise ValueError(f"unknown extraction step {text!r}; write {form}")
    extract = (values and rule.of_values) or rule.extract
    return rule._replace(name=text, extract=extract, arguments=tuple(arguments))


def answer_in_tags(text: str, tag: str = "answer") -> str | None:
    """Extract the string between the last ``<answer>`` and its ``</answer>``. The end tag may be missing because of a
    stop string.

    Args:
        text: the raw output of a model.
        tag: the name of the tag.

    Returns:
        The answer without whitespace around it, or None if there is no answer.

    Raises:
        ValueError: `text` is not a string.

    Example:
        >>> answer_in_tags("The logo reads so. <answer> Coca Cola </answer>")
        'Coca Cola'
    """
    return take_from_tags(as_text(text, "text"), tag)


# The usual outermost wrapping comes first.
_RULES = [
    Extractor(
        "harmony",
        "the text in the channel `final` of gpt-oss; an empty string if there are only other channels",
        take_from_harmony,
        marks=("<|channel|>", "assistantfinal"),
    ),
    Extractor(
        "chat",
        "the last text of the assistant, after `ASSISTANT:`, `[/INST]`, `<|im_start|>assistant` and the like",
        take_from_chat,
        marks=("ssistant", "SSISTANT", "[/INST]", "<start_of_turn>", "# Response:"),
    ),
    Extractor(
        "think",
        "the text after the reasoning, which ends with `</think>` or the like; an empty string if it does not end",
        take_after_thinking,
        marks=">▷]",
        option="tag",
    ),
    Extractor(
        "tag",
        "the text in the last `<answer>..</answer>`, or after an `<answer>` whose end was cut off",
        take_from_tags,
        marks=">",
        option="tag",
    ),
    Extractor(
        "boxed",
        r"the text in the last `\boxed{..}`",
        take_boxed,
        marks="\\",
    ),
    Extractor(
        "json",
        "the field `answer` of the last JSON object; for structured answers, the longest object or list",
        JSON.take_field,
        marks="{[",
        option="field",
        of_values=JSON.take_value,
    ),
    Extractor(
        "python",
        "the key `answer` of the last stringified Python dict, like `{'answer': 'X'}`; for values, the longest one",
        PYTHON.take_field,
        marks="{[",
        option="field",
        of_values=PYTHON.take_value,
    ),
    Extractor(
        "list",
        "the string in a list of one string, like `['X']`, with nothing around it; for values, the whole list",
        take_only_item,
        marks="[{(",
        of_values=take_list,
    ),
    Extractor("fence", "the text in the last code fence (three backticks)", take_from_fence, marks="`"),
    Extractor(
        "html",
        "the text without HTML tags like `<p>..</p>`, and with entities like `&amp;` decoded",
        take_from_html,
        marks="<&",
    ),
    Extractor(
        "final",
        "the text after the last `Answer:`, `Final answer:` or `The answer is`, to the end of its line",
        take_after_label,
        marks=("nswer", "NSWER"),
    ),
    Extractor(
        "special-tokens",
        "the text without `<|im_end|>`, `</s>`, `<eos>`, `<pad>` and the like before and after it",
        strip_special_tokens,
        marks=">]",
    ),
    Extractor(
        "first-line",
        "the text before a blank line, before `Explanation:` or before the next `Question:`",
        take_before_rest,
        marks=("\n", "Question"),
    ),
    Extractor(
        "repeat",
        "the answer once, if the whole output is this answer repeated",
        take_repeated,
        marks=" \n\t\r",
    ),
    Extractor(
        "prefix",
        "the text without a label in front: `A:`, `Response:`, `Result:`, `答案：`, a bullet, `1.` and the like",
        strip_prefix,
        marks=":： \t是为為",
    ),
    Extractor(
        "sentence",
        "the text after `is` or `are` in a sentence like `The title of the page is X.`, without the period",
        take_from_sentence,
        marks=" ",
    ),
    Extractor("bold", "the text in `**..**`, if they enclose the whole prediction", take_bold, marks="*_"),
    Extractor(
        "quotes",
        "the text in quotation marks, if they enclose the whole prediction",
        take_from_quotes,
        marks=QUOTES,
    ),
    Extractor(
        "math",
        r"the text in `$..$`, `\(..\)` or `\[..\]`, if they enclose the whole prediction; `$5` stays",
        take_math,
        marks="$\\",
    ),
    Extractor(
        "letter",
        "the letter of an option: `B` for `(B)`, `B. Rotterdam`, `Option B` or `The answer is (B).`",
        take_letter,
        marks="ABCDEFGHIJKLMNOPQRSTUVWXYZ(",
    ),
    Extractor("period", "the text without the period at its end", strip_period, marks=".。"),
]
EXTRACTORS: Mapping[str, Extractor] = {rule.name: rule for rule in _RULES}

PROGRAMS: Mapping[str, Extractor] = {
    "lmms-eval-reasoning": Extractor(
        "lmms-eval-reasoning",
        r"the text in the first `<answer>..</answer>`, else in the last `\boxed{..}`, else a number that ends a line, "
        "else an empty string, as in lmms-eval's `docvqa_val_reasoning`",
        take_as_lmms_eval,
        marks=("",),
    )
}
"""Steps that extract what particular programs extract. These steps replace every string and so are never suggested."""

CERTAIN = ("think", "tag", "boxed", "json", "fence", "special-tokens")
"""The rules for wrappings that never occur in the text of a document. A string that one of the rules changes is raw
model output.
"""


_AROUND = ("chat", "final", "prefix", "bold", "quotes")
_FEWEST = 10  # strings that such a rule must change


def find_certain_rules(texts: Sequence[str]) -> tuple[str, int]:
    """Find the rules in `CERTAIN` that change at least one string, and the rules for surrounding words and marks that
    change nearly all strings.

    Returns:
        The names of the rules in the form that `extractor` accepts, and the number of strings that the rules change.

    Example:
        >>> find_certain_rules(["<think>A logo.</think>Coca Cola", "Pepsi"])
        ('think', 1)
        >>> find_certain_rules([f"Final answer: {number}" for number in range(10)])
        ('final', 10)
    """
    names, before = [], list(texts)
    for name in (*CERTAIN, *_AROUND):
        after, counts = extract_all(extractor(name), before)
        if counts[name]["changed"] >= (1 if name in CERTAIN else max(_FEWEST, 0.9 * len(texts))):
            names.append(name)
            before = after
    return ",".join(names), sum(map(str.__ne__, texts, before))
