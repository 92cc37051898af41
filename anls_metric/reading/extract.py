"""Extracts answers from raw model output: a table of rules, one for each kind of wrapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from anls_metric.core.choices import describe_unknown
from anls_metric.core.rows import as_text, describe
from anls_metric.reading import wrappings


class Extractor(NamedTuple):
    r"""A rule: a row of `EXTRACTORS`.

    Args:
        name: the name of the rule.
        meaning: what it extracts, in one line.
        extract: finds the answer in a text, without blanks around it; None where there is none.
        marks: the rule finds nothing in a text without any of these. Single characters are found fastest.
        option: the argument of ``extract`` that ``NAME:VALUE`` sets; "" where a rule has none.
        of_values: replaces ``extract`` where answers are lists and nested values; None keeps it.
        is_broken: whether a text without an answer has a wrapping that begins and cannot be read; None if the wrapping
            cannot break.
        broken: what such texts are, in a few words.

    Example:
        >>> EXTRACTORS["boxed"].find(r"So it is \boxed{7}.")
        '7'
        >>> EXTRACTORS["boxed"].find("It is 7.") is None
        True
    """

    name: str
    meaning: str
    extract: Callable[..., str | None]
    marks: tuple[str, ...]
    option: str = ""
    of_values: Callable[..., str | None] | None = None
    is_broken: Callable[..., bool] | None = None
    broken: str = ""

    def find(self, text: str) -> str | None:
        """Extract the answer, or return None at once if the text holds none of the marks."""
        for mark in self.marks:
            if mark in text:
                return self.extract(text)
        return None


class Extraction:
    """A function that applies rules one after the other: what `extractor` returns. It can be pickled.

    Args:
        rules: the rules in the order in which they are applied.
    """

    def __init__(self, rules: tuple[Extractor, ...]) -> None:
        self.rules = rules

    @property
    def signature(self) -> str:
        """The names of the rules, as `extractor` takes them and as a signature shows them."""
        return ",".join(rule.name for rule in self.rules)

    def __call__(self, text: str) -> str:
        """Extract the answer from a text.

        Returns:
            The answer; the text itself where no rule finds anything.

        Raises:
            ValueError: the text is not a string.
        """
        text = as_text(text, "text")
        for rule in self.rules:
            answer = rule.find(text)
            text = text if answer is None else answer
        return text


class RuleCounts(NamedTuple):
    """How many answers a rule changed, left as they were, and could not read."""

    changed: int = 0
    left: int = 0
    unreadable: int = 0


class ExtractionReport:
    r"""Extracts answers, and counts what each rule does.

    Args:
        extraction: the rules.

    Example:
        >>> report = ExtractionReport(extractor("think,json"))
        >>> [report.extract(text) for text in ('<think>Hm.</think>{"answer": "7"}', "8", '{"answer": "Coca Co')]
        ['7', '8', '{"answer": "Coca Co']
        >>> report.counts["json"]
        RuleCounts(changed=1, left=1, unreadable=1)
        >>> print("\n".join(report.sentences))
        think changed 1 of 3 answers and left 2
        json changed 1 of 3 answers and left 1; 1 is not valid JSON: cut off?
    """

    def __init__(self, extraction: Extraction) -> None:
        self._rules = extraction.rules
        self._outcomes = [[0, 0, 0] for _ in self._rules]

    def extract(self, text: str) -> str:
        """Extract the answer from a text, as `Extraction` does, and count it."""
        for rule, outcomes in zip(self._rules, self._outcomes):
            answer = rule.find(text)
            if not answer and rule.is_broken is not None and rule.is_broken(text):
                outcomes[2] += 1
            else:
                outcomes[answer is None or answer == text] += 1
            text = text if answer is None else answer
        return text

    def __add__(self, other: ExtractionReport) -> ExtractionReport:
        """Add two reports on the same rules."""
        both = copy(self)
        both._outcomes = [list(map(sum, zip(*outcomes))) for outcomes in zip(self._outcomes, other._outcomes)]
        return both

    @property
    def counts(self) -> dict[str, RuleCounts]:
        """The counts of each rule by its name, in the order in which the rules are applied."""
        return {rule.name: RuleCounts(*outcomes) for rule, outcomes in zip(self._rules, self._outcomes)}

    @property
    def sentences(self) -> list[str]:
        """A sentence for each rule."""
        return describe_extraction(self.as_dict())

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts as values that JSON can hold."""
        return {name: counts._asdict() for name, counts in self.counts.items()}


def describe_extraction(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Describe in a sentence for each rule what it did.

    Args:
        counts: as `ExtractionReport.as_dict` gives them.

    Example:
        >>> describe_extraction({"period": {"changed": 7, "left": 3, "unreadable": 0}})
        ['period changed 7 of 10 answers and left 3']
    """
    return [_describe_rule(name, RuleCounts(**rule)) for name, rule in counts.items()]


def _describe_rule(name: str, counts: RuleCounts) -> str:
    total = sum(counts)
    sentence = f"{name} changed {counts.changed:,} of {total:,} answer{'s' * (total != 1)} and left {counts.left:,}"
    if not counts.unreadable:
        return sentence
    verb = "is" if counts.unreadable == 1 else "are"
    return f"{sentence}; {counts.unreadable:,} {verb} {EXTRACTORS[name.partition(':')[0]].broken}: cut off?"


def extractor(names: str, *, values: bool = False) -> Extraction:
    """Make a function that extracts answers from raw model output.

    Args:
        names: names of `anls_metric.reading.extract.EXTRACTORS`, such as "think" or "json", separated by commas, in the
            order in which they are applied; ``anls --help`` lists them. ``json:FIELD``,
            ``python:FIELD`` and ``tag:NAME`` look for another field, key or tag than ``answer``.
        values: whether answers are lists and nested values: then ``json`` extracts an object or list, as JSON.

    Returns:
        A function of a text. A text in which a rule finds nothing stays unchanged; an extracted answer has no blanks
        around it. Its ``.signature`` names the rules.

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
        raise ValueError(f'the names of rules are {describe(names)}: pass a text, such as "think,final"')
    return Extraction(tuple(_find_rule(name.strip(), values) for name in names.split(",")))


def _find_rule(text: str, values: bool) -> Extractor:
    name, _, value = text.partition(":")
    rule = EXTRACTORS.get(name)
    if rule and values and rule.of_values:
        rule = rule._replace(extract=rule.of_values)
    if rule is None:
        raise ValueError(describe_unknown("extraction rule", name, EXTRACTORS))
    if text == name:
        return rule
    if not rule.option or not value:
        raise ValueError(
            f"unknown extraction rule {text!r}; write {f'{name}:{rule.option.upper()}' if rule.option else name}"
        )
    option = {rule.option: value}
    is_broken = rule.is_broken and partial(rule.is_broken, **option)
    return rule._replace(name=text, extract=partial(rule.extract, **option), is_broken=is_broken)


def answer_in_tags(text: str, tag: str = "answer") -> str | None:
    """Extract the text between the last ``<answer>`` and its ``</answer>``.

    Args:
        text: the raw output of a model.
        tag: the name of the tag.

    Returns:
        The answer without blanks around it; None where there is none.

    Raises:
        ValueError: a text that is not a string.

    Example:
        >>> answer_in_tags("The logo reads so. <answer> Coca Cola </answer>")
        'Coca Cola'
    """
    return wrappings.take_from_tags(as_text(text, "text"), as_text(tag, "tag"))


# The usual outermost wrapping comes first.
_RULES = (
    Extractor(
        "harmony",
        "the text in the channel `final` of gpt-oss; an empty text if there are only other channels",
        wrappings.take_from_harmony,
        marks=("<|channel|>", "assistantfinal"),
        is_broken=wrappings.is_broken_harmony,
        broken="without the channel final",
    ),
    Extractor(
        "chat",
        "the last text of the assistant, after `ASSISTANT:`, `[/INST]`, `<|im_start|>assistant` and the like",
        wrappings.take_from_chat,
        marks=("ssistant", "SSISTANT", "[/INST]", "<start_of_turn>", "# Response:"),
    ),
    Extractor(
        "think",
        "the text after the reasoning, which ends with `</think>`; an empty text if the reasoning does not end",
        wrappings.take_after_thinking,
        marks=(">", "▷", "]"),
        is_broken=wrappings.is_broken_thinking,
        broken="reasoning without an end",
    ),
    Extractor(
        "tag",
        "the text in the last `<answer>..</answer>`",
        wrappings.take_from_tags,
        marks=(">",),
        option="tag",
        is_broken=wrappings.is_broken_tag,
        broken="without the closing tag",
    ),
    Extractor(
        "boxed",
        r"the text in the last `\boxed{..}`",
        wrappings.take_boxed,
        marks=("\\",),
        is_broken=wrappings.is_broken_box,
        broken="without the closing brace",
    ),
    Extractor(
        "json",
        "the field `answer` of the last JSON object; for lists and nested values, the longest object or list",
        wrappings.take_field,
        marks=("{", "["),
        option="field",
        of_values=wrappings.take_value,
        is_broken=wrappings.is_broken_json,
        broken="not valid JSON",
    ),
    Extractor(
        "python",
        "the key `answer` of the last printed Python dictionary, like `{'answer': 'X'}`; for values, the longest one",
        wrappings.take_python_field,
        marks=("{", "["),
        option="field",
        of_values=wrappings.take_python_value,
        is_broken=wrappings.is_broken_python,
        broken="not a printed dictionary",
    ),
    Extractor(
        "list",
        "the text in a list of one text, like `['X']`, with nothing around it; for values, the whole list",
        wrappings.take_only_item,
        marks=("[", "{", "("),
        of_values=wrappings.take_list,
        is_broken=wrappings.is_broken_list,
        broken="not a list",
    ),
    Extractor("fence", "the text in the last code fence (three backticks)", wrappings.take_from_fence, marks=("`",)),
    Extractor(
        "html",
        "the text without HTML tags like `<p>..</p>`, and with entities like `&amp;` decoded",
        wrappings.take_from_html,
        marks=("<", "&"),
    ),
    Extractor(
        "final",
        "the text after the last `Answer:`, `Final answer:` or `The answer is`, to the end of its line",
        wrappings.take_after_label,
        marks=("nswer", "NSWER"),
    ),
    Extractor(
        "special-tokens",
        "the text without `<|im_end|>`, `</s>`, `<eos>`, `<pad>` and the like before and after it",
        wrappings.strip_special_tokens,
        marks=(">", "]"),
    ),
    Extractor(
        "first-line",
        "the text before a blank line, before `Explanation:` or before the next `Question:`",
        wrappings.take_before_rest,
        marks=("\n", "Question"),
    ),
    Extractor(
        "repeat",
        "the text once, if it is there several times and nothing else is",
        wrappings.take_repeated,
        marks=(" ", "\n", "\t", "\r"),
    ),
    Extractor(
        "prefix",
        "the text without a label in front: `A:`, `Response:`, `Result:`, `答案：`, a bullet, `1.` and the like",
        wrappings.strip_prefix,
        marks=(":", "：", " ", "\t", "是", "为", "為"),
    ),
    Extractor(
        "sentence",
        "the text after `is` or `are` in a sentence like `The title of the page is X.`, without the period",
        wrappings.take_from_sentence,
        marks=(" ",),
    ),
    Extractor(
        "bold", "the text in `**..**`, if these enclose the whole prediction", wrappings.take_bold, marks=("*", "_")
    ),
    Extractor(
        "quotes",
        "the text in quotation marks, if these enclose the whole prediction",
        wrappings.take_from_quotes,
        marks=tuple(wrappings.QUOTES),
    ),
    Extractor(
        "math",
        r"the text in `$..$`, `\(..\)` or `\[..\]`, if these enclose the whole prediction; `$5` stays",
        wrappings.take_math,
        marks=("$", "\\"),
    ),
    Extractor("period", "the text without the period at its end", wrappings.strip_period, marks=(".", "。")),
)
EXTRACTORS: Mapping[str, Extractor] = MappingProxyType({rule.name: rule for rule in _RULES})

CERTAIN = ("think", "tag", "boxed", "json", "fence", "special-tokens")
"""The rules for wrappings that no document's text has. Where one applies, the text is raw model output."""


_AROUND = ("chat", "final", "prefix", "bold", "quotes")
_FEWEST = 10  # texts that such a rule must change


def find_certain_rules(texts: Sequence[str]) -> tuple[str, int]:
    """Find the rules of `CERTAIN` that apply to any of the texts, and rules for words around nearly all of them.

    Returns:
        Their names, as `extractor` takes them, and how many texts they change.

    Example:
        >>> find_certain_rules(["<think>A logo.</think>Coca Cola", "Pepsi"])
        ('think', 1)
        >>> find_certain_rules([f"Final answer: {number}" for number in range(10)])
        ('final', 10)
    """
    names, before = [], texts
    for name in (*CERTAIN, *_AROUND):
        found = map(EXTRACTORS[name].find, before)
        after = [text if answer is None else answer for text, answer in zip(before, found)]
        count = sum(map(str.__ne__, before, after))
        if count >= (1 if name in CERTAIN else max(_FEWEST, 0.9 * len(texts))):
            names.append(name)
            before = after
    return ",".join(names), sum(map(str.__ne__, texts, before))
