"""Which part of what a model wrote is its answer: a table of rules, each of which takes it out of one wrapping."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from anls_metric.core.rows import as_text, describe


class Extractor(NamedTuple):
    r"""A rule: a row of `EXTRACTORS`.

    Args:
        name: what it is called.
        meaning: what it takes out, in one line.
        extract: the answer in a text, without blanks around it, or None where the rule finds nothing.
        marks: of these a text holds one or more, or the rule finds nothing in it. Single characters are found fastest.
        option: the argument of ``extract`` that ``NAME:VALUE`` gives; "" where a rule has none.
        certain: whether what the rule finds is no part of the answer; a period may well be.
        of_values: takes the place of ``extract`` where answers are lists and nested values; None takes that as well.

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
    certain: bool = True
    of_values: Callable[..., str | None] | None = None

    def find(self, text: str) -> str | None:
        """What ``extract`` gives, in less time where the text holds none of the marks."""
        for mark in self.marks:
            if mark in text:
                return self.extract(text)
        return None


class Extraction:
    """Rules that are applied one after the other: what `extractor` returns. It can be pickled.

    Args:
        rules: the rules, in their order.
    """

    def __init__(self, rules: tuple[Extractor, ...]) -> None:
        self.rules = rules

    @property
    def signature(self) -> str:
        """The names of the rules, as `extractor` takes them and the signature of a score tells them."""
        return ",".join(rule.name for rule in self.rules)

    def __call__(self, text: str) -> str:
        """The answer in a text; the text as it is where no rule finds one. ValueError: it is not a string."""
        text = as_text(text, "text")
        for rule in self.rules:
            found = rule.find(text)
            text = text if found is None else found
        return text


def extractor(names: str, values: bool = False) -> Extraction:
    """What takes the answer out of a text by these rules, in this order.

    Args:
        names: names of `EXTRACTORS`, with commas between; ``json:FIELD`` and ``tag:NAME`` look for another field or
            tag than ``answer``.
        values: whether answers are lists and nested values: then ``json`` takes out an object or list, as JSON.

    Returns:
        A function of a text. A text in which a rule finds nothing stays as it is; what a rule finds has no blanks
        around it. Its ``.signature`` says which rules it has.

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
    return Extraction(tuple(_rule(name.strip(), values) for name in as_text(names, "extract").split(",")))


def _rule(text: str, values: bool) -> Extractor:
    name, _, value = text.partition(":")
    rule = EXTRACTORS.get(name)
    if rule and values and rule.of_values:
        rule = rule._replace(extract=rule.of_values)
    if rule is None:
        raise ValueError(
            f"there is no rule {describe(name)} to take answers out: there are {', '.join(EXTRACTORS)}, "
            "with commas between where there are several"
        )
    if text == name:
        return rule
    if not rule.option or not value:
        there_is = f"{name}:{rule.option.upper()}" if rule.option else name
        raise ValueError(f"there is no rule {describe(text)} to take answers out: there is {there_is}")
    return rule._replace(name=text, extract=partial(rule.extract, **{rule.option: value}))


def answer_in_tags(text: str, tag: str = "answer") -> str | None:
    """The text between the last ``<answer>`` and its ``</answer>``, None where there is none.

    Args:
        text: what the model wrote.
        tag: the name of the tag.

    Returns:
        The answer without blanks around it.

    Raises:
        ValueError: a text that is not a string.

    Example:
        >>> answer_in_tags("The logo reads so. <answer> Coca Cola </answer>")
        'Coca Cola'
    """
    return _in_tags(as_text(text, "text"), as_text(tag, "tag"))


# The rules. Each takes time that grows with the length of the text alone, whatever the text.

# What models write before and after their reasoning: most of them; Claude; Kimi-VL; Magistral.
_THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)


def _after_thinking(text: str) -> str | None:
    """Reasoning that has no end was cut off before it came to an answer: nothing was answered."""
    answer = text
    for opening, closing in _THINKING:
        answer = answer.rpartition(closing)[2].partition(opening)[0]
    return None if len(answer) == len(text) else answer.strip()


def _in_tags(text: str, tag: str = "answer") -> str | None:
    before, closed, _ = text.rpartition(f"</{tag}>")
    _, opened, answer = before.rpartition(f"<{tag}>")
    return answer.partition(f"</{tag}>")[0].strip() if opened and closed else None


_LATEX_TEXT = r"text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf)|mbox"


def _boxed(text: str) -> str | None:
    box = max(_braced(text, "boxed"), default=None)
    if box is None:
        return None
    answer = text[box[1] : box[2]]
    cuts = [cut for start, inside, end in _braced(answer, _LATEX_TEXT) for cut in ((start, inside), (end, end + 1))]
    kept, place = [], 0
    for start, end in sorted(cuts):
        kept.append(answer[place:start])
        place = end
    return re.sub(r"\\([$%&#_{}])", r"\1", "".join([*kept, answer[place:]])).strip()


def _braced(text: str, command: str) -> Iterator[tuple[int, int, int]]:
    r"""Where each ``\command{...}`` of LaTeX starts, and where what it holds starts and ends, by matching braces."""
    token = re.compile(rf"(?P<opening>(\\(?:{command}))?\{{)|(?P<closing>\}})|\\.", re.DOTALL)
    opened: list[tuple[int, int]] = []
    for found in token.finditer(text):
        if found.lastgroup == "opening":
            opened.append((found.start() if found[2] else -1, found.end()))
        elif found.lastgroup == "closing" and opened:
            place, inside = opened.pop()
            if place >= 0:
                yield place, inside, found.start()


# Values of JSON stay as they are written: 0.10 is an answer of four characters.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
_PLAIN_DECODER = json.JSONDecoder(strict=False)
_OBJECT = r'\{\s*"'
_CONTAINER = r"[\[{]"
_CONSTANTS = {None: "", True: "true", False: "false"}


def _json_in(
    text: str, opening: str, decoder: json.JSONDecoder, takes: Callable[[Any], bool]
) -> Iterator[tuple[Any, str]]:
    """The values in a text that are taken, none inside another one, each as it is written, too.

    Texts that only look like values are tried until that gets expensive.
    """
    find, place, patience = re.compile(opening).search, 0, 20 * len(text)
    while patience > 0 and (match := find(text, place)):
        start = match.start()
        place = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            break
        except ValueError as error:
            patience -= getattr(error, "pos", 0) + 100  # it has looked for the number of the line
            continue
        patience -= end - start
        if takes(value):
            yield value, text[start:end]
            place = end


def _field(text: str, field: str = "answer") -> str | None:
    """Of the last object that has it."""
    values = [value[field] for value, _ in _json_in(text, _OBJECT, _DECODER, lambda value: field in value)]
    return next((answer for value in reversed(values) if (answer := _as_answer(value)) is not None), None)


def _value(text: str, field: str = "") -> str | None:
    """As JSON: the longest object or list; or what the last object that has the field has there."""
    if field:
        values = [value[field] for value, _ in _json_in(text, _OBJECT, _PLAIN_DECODER, lambda value: field in value)]
        return json.dumps(values[-1], ensure_ascii=False) if values else None
    return max((written for _, written in _json_in(text, _CONTAINER, _PLAIN_DECODER, _any)), key=len, default=None)


def _any(value: Any) -> bool:
    return True


def _as_answer(value: Any) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value.strip()
    return None if isinstance(value, (list, dict)) else _CONSTANTS[value]


_LANGUAGE = r"[\w+#.-]*[ \t\r]*"


def _in_fence(text: str) -> str | None:
    """Of the last fence; one that is never closed ends with the text, as in Markdown, or ends what stands before."""
    before, *parts = text.split("```")
    if not parts:
        return None
    insides = [part for part in parts[::2] if part.strip()]
    if not insides:
        return before.strip()
    language, _, lines = insides[-1].partition("\n")
    return (lines if lines.strip() and re.fullmatch(_LANGUAGE, language) else insides[-1]).strip()


_SPECIAL_TOKEN = (
    r"(<\|[^\s<>|]{1,40}\|>|<｜[^\s<>]{1,40}｜>|</?s>|\[(?:CLS|EOS|PAD|SEP)\]"
    r"|<(?:bos|eod|eos|pad|unk|end_of_turn|end_of_utterance|start_of_turn)>)"
)


def _without_special_tokens(text: str) -> str | None:
    parts = re.split(_SPECIAL_TOKEN, text)  # what stands before, between and after them at even places
    said = [place for place in range(0, len(parts), 2) if parts[place].strip()]
    first, last = (said[0], said[-1]) if said else (0, 0)
    return None if last - first == len(parts) - 1 else "".join(parts[first : last + 1]).strip()


_LABEL = (
    r"(?:[#]|[*]{2}|__)[ ]?(?:[Ff]inal[ ]|FINAL[ ])?(?:[Aa]nswer|ANSWER)(?:[*]{2}|__)?[ \t]{0,3}\r?\n|"
    r"\b(?:[Aa]nswer|ANSWER)[*_]{0,3}\s{0,3}[:：][*_]{0,3}"
    r"|\b(?:[Tt]he|THE)\s{1,3}(?:\w{1,12}\s{1,3})?(?:[Aa]nswer|ANSWER)\s{1,3}(?:is|IS)\b(?:[*_]{0,3}\s{0,3}[:：])?[*_]{0,3}"
)
_BOLD = ("***", "**", "__")


def _after_label(text: str) -> str | None:
    """After the last label that something follows, be it on the next line."""
    for label in reversed(list(re.finditer(_LABEL, text))):
        if line := text[label.end() :].lstrip().partition("\n")[0].rstrip():
            for mark in _BOLD[1:]:
                if line.count(mark) % 2:  # it was opened before the label
                    line = "".join(line.rsplit(mark, 1)).rstrip()
            bold = _bold(line)
            return line if bold is None else bold
    return None


def _bold(text: str) -> str | None:
    text = text.strip()
    for mark in _BOLD:
        inside = text[len(mark) : -len(mark)]
        if inside and mark not in inside and text.startswith(mark) and text.endswith(mark):
            return inside.strip()
    return None


# Each with those that close it.
_QUOTES = {mark: mark for mark in "\"'`”’"}
_QUOTES |= {"“": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』"}


def _in_quotes(text: str) -> str | None:
    text = text.strip()
    enclosed = len(text) > 1 and text[-1] in _QUOTES.get(text[0], "") and not _closes_early(text)
    return text[1:-1].strip() if enclosed else None


def _closes_early(text: str) -> bool:
    """Whether the quotation that a text begins with ends before the text, as in ``"a" and "b"``."""
    depth, opening, closing = 1, text[0], text[-1]
    for quote in re.compile(f"[{opening}{closing}]").finditer(text, 1, len(text) - 1):
        before, after = text[quote.start() - 1], text[quote.end()]
        if before.isalnum() and after.isalnum():  # an apostrophe
            continue
        if opening != closing:
            depth += 1 if quote[0] == opening else -1
        elif not before.isalnum() and not after.isspace():
            depth += 1
        elif not before.isspace() and after not in ")]}":  # 5'6") has a sign for inches
            depth -= 1
        if depth == 0:
            return True
    return False


def _without_period(text: str) -> str | None:
    text = text.strip()
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("...") else None


def _table(rules: Iterable[Extractor]) -> Mapping[str, Extractor]:
    return MappingProxyType({rule.name: rule for rule in rules})


# What usually stands outside comes first.
EXTRACTORS: Mapping[str, Extractor] = _table(
    (
        Extractor(
            "think",
            "what follows the reasoning that ends with </think>; nothing where the reasoning has no end",
            _after_thinking,
            marks=(">", "▷", "]"),
        ),
        Extractor("tag", "what the last <answer>..</answer> holds", _in_tags, marks=(">",), option="tag"),
        Extractor("boxed", r"what the last \boxed{..} holds", _boxed, marks=("\\",)),
        Extractor(
            "json",
            "the field `answer` of the last JSON object; of values the longest object or list",
            _field,
            marks=("{", "["),
            option="field",
            of_values=_value,
        ),
        Extractor("fence", "what the last ``` fence holds", _in_fence, marks=("`",)),
        Extractor(
            "final",
            "what follows the last `Answer:`, `Final answer:` or `The answer is`, to the end of its line",
            _after_label,
            marks=("nswer", "NSWER"),
        ),
        Extractor(
            "special-tokens",
            "without <|im_end|>, </s>, <eos>, <pad> and the like before and after it",
            _without_special_tokens,
            marks=(">", "]"),
        ),
        Extractor("bold", "what **..** around all of it holds", _bold, marks=("*", "_")),
        Extractor(
            "quotes",
            "what the quotation marks around all of it hold",
            _in_quotes,
            marks=tuple(_QUOTES),
        ),
        Extractor("period", "without the period at its end", _without_period, marks=(".", "。"), certain=False),
    )
)
