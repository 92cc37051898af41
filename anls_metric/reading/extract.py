"""Extracts answers from raw model output: a table of rules, one for each kind of wrapping."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from anls_metric.core.rows import as_text, describe


class Extractor(NamedTuple):
    r"""A rule: a row of `EXTRACTORS`.

    Args:
        name: the name of the rule.
        meaning: what it extracts, in one line.
        extract: finds the answer in a text, without blanks around it; None where there is none.
        marks: the rule finds nothing in a text without any of these. Single characters are found fastest.
        option: the argument of ``extract`` that ``NAME:VALUE`` sets; "" where a rule has none.
        of_values: replaces ``extract`` where answers are lists and nested values; None keeps it.

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
        """The names of the rules, as `extractor` takes them and as the signature of a score shows them."""
        return ",".join(rule.name for rule in self.rules)

    def __call__(self, text: str) -> str:
        """Extract the answer from a text.

        Returns:
            The answer; the text itself where no rule finds anything.

        Raises:
            ValueError: it is not a string.
        """
        text = as_text(text, "text")
        for rule in self.rules:
            answer = rule.find(text)
            text = text if answer is None else answer
        return text


def extractor(names: str, values: bool = False) -> Extraction:
    """Make a function that extracts answers from raw model output.

    Args:
        names: names of `EXTRACTORS`, separated by commas, in the order in which they are applied. ``json:FIELD`` and
            ``tag:NAME`` look for another field or tag than ``answer``.
        values: whether answers are lists and nested values: then ``json`` extracts an object or list, as JSON.

    Returns:
        A function of a text. A text in which a rule finds nothing stays as it is; an extracted answer has no blanks
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
    return Extraction(tuple(_find_rule(name.strip(), values) for name in as_text(names, "extract").split(",")))


def _find_rule(text: str, values: bool) -> Extractor:
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
    return _take_from_tags(as_text(text, "text"), as_text(tag, "tag"))


# The rules. Each takes linear time, whatever the text.

# The marks around reasoning of most models, Claude, Kimi-VL, and Magistral.
_THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)


def _take_after_thinking(text: str) -> str | None:
    """Reasoning without an end was cut off before the answer, so the answer is empty."""
    answer = text
    for opening, closing in _THINKING:
        answer = answer.rpartition(closing)[2].partition(opening)[0]
    return None if len(answer) == len(text) else answer.strip()


def _take_from_tags(text: str, tag: str = "answer") -> str | None:
    before, closed, _ = text.rpartition(f"</{tag}>")
    _, opened, answer = before.rpartition(f"<{tag}>")
    return answer.partition(f"</{tag}>")[0].strip() if opened and closed else None


_LATEX_TEXT = r"text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf)|mbox"


def _take_boxed(text: str) -> str | None:
    box = max(_find_braces(text, "boxed"), default=None)
    if box is None:
        return None
    answer = text[box[1] : box[2]]
    cuts = [
        cut for start, inside, end in _find_braces(answer, _LATEX_TEXT) for cut in ((start, inside), (end, end + 1))
    ]
    kept, place = [], 0
    for start, end in sorted(cuts):
        kept.append(answer[place:start])
        place = end
    return re.sub(r"\\([$%&#_{}])", r"\1", "".join([*kept, answer[place:]])).strip()


def _find_braces(text: str, command: str) -> Iterator[tuple[int, int, int]]:
    r"""Find each ``\command{...}`` of LaTeX: where it starts, and where the text in its braces starts and ends."""
    token = re.compile(rf"(?P<opening>(\\(?:{command}))?\{{)|(?P<closing>\}})|\\.", re.DOTALL)
    opened: list[tuple[int, int]] = []
    for match in token.finditer(text):
        if match.lastgroup == "opening":
            opened.append((match.start() if match[2] else -1, match.end()))
        elif match.lastgroup == "closing" and opened:
            place, inside = opened.pop()
            if place >= 0:
                yield place, inside, match.start()


# Numbers stay as they are written: 0.10 is an answer of four characters.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
_PLAIN_DECODER = json.JSONDecoder(strict=False)
_OBJECT = r'\{\s*"'
_CONTAINER = r"[\[{]"
_CONSTANTS = {None: "", True: "true", False: "false"}


def _find_json(
    text: str, opening: str, decoder: json.JSONDecoder, accept: Callable[[Any], bool]
) -> Iterator[tuple[Any, str]]:
    """Find the accepted JSON values in a text, none inside another, each with its own text.

    Texts that only look like JSON are tried until that gets expensive.
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
            patience -= getattr(error, "pos", 0) + 100  # the error has counted lines up to there
            continue
        patience -= end - start
        if accept(value):
            yield value, text[start:end]
            place = end


def _take_field(text: str, field: str = "answer") -> str | None:
    """Take the field of the last object that has it."""
    values = [value[field] for value, _ in _find_json(text, _OBJECT, _DECODER, lambda value: field in value)]
    return next((answer for value in reversed(values) if (answer := _parse_answer(value)) is not None), None)


def _take_value(text: str, field: str = "") -> str | None:
    """Take the longest object or list as JSON; or the field of the last object that has it."""
    if field:
        values = [value[field] for value, _ in _find_json(text, _OBJECT, _PLAIN_DECODER, lambda value: field in value)]
        return json.dumps(values[-1], ensure_ascii=False) if values else None
    return max(
        (source for _, source in _find_json(text, _CONTAINER, _PLAIN_DECODER, _accept_any)), key=len, default=None
    )


def _accept_any(value: Any) -> bool:
    return True


def _parse_answer(value: Any) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value.strip()
    return None if isinstance(value, (list, dict)) else _CONSTANTS[value]


_LANGUAGE = r"[\w+#.-]*[ \t\r]*"


def _take_from_fence(text: str) -> str | None:
    """Take the content of the last fence. A fence that is never closed ends
    with the text; where nothing follows its mark, the answer is the text before it.
    """
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


def _strip_special_tokens(text: str) -> str | None:
    parts = re.split(_SPECIAL_TOKEN, text)  # texts at even places, tokens at odd places
    texts = [place for place in range(0, len(parts), 2) if parts[place].strip()]
    first, last = (texts[0], texts[-1]) if texts else (0, 0)
    return None if last - first == len(parts) - 1 else "".join(parts[first : last + 1]).strip()


_LABEL = (
    r"(?:[#]|[*]{2}|__)[ ]?(?:[Ff]inal[ ]|FINAL[ ])?(?:[Aa]nswer|ANSWER)(?:[*]{2}|__)?[ \t]{0,3}\r?\n|"
    r"\b(?:[Aa]nswer|ANSWER)[*_]{0,3}\s{0,3}[:：][*_]{0,3}"
    r"|\b(?:[Tt]he|THE)\s{1,3}(?:\w{1,12}\s{1,3})?(?:[Aa]nswer|ANSWER)\s{1,3}(?:is|IS)\b(?:[*_]{0,3}\s{0,3}[:：])?[*_]{0,3}"
)
_BOLD = ("***", "**", "__")


def _take_after_label(text: str) -> str | None:
    """Take the text after the last label, from its line or the next one."""
    for label in reversed(list(re.finditer(_LABEL, text))):
        if line := text[label.end() :].lstrip().partition("\n")[0].rstrip():
            for mark in _BOLD[1:]:
                if line.count(mark) % 2:  # it was opened before the label
                    line = "".join(line.rsplit(mark, 1)).rstrip()
            bold = _take_bold(line)
            return line if bold is None else bold
    return None


def _take_bold(text: str) -> str | None:
    text = text.strip()
    for mark in _BOLD:
        inside = text[len(mark) : -len(mark)]
        if inside and mark not in inside and text.startswith(mark) and text.endswith(mark):
            return inside.strip()
    return None


# Each opening quotation mark with its closing ones.
_QUOTES = {mark: mark for mark in "\"'`”’"}
_QUOTES |= {"“": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』"}


def _take_from_quotes(text: str) -> str | None:
    text = text.strip()
    enclosed = len(text) > 1 and text[-1] in _QUOTES.get(text[0], "") and not _closes_early(text)
    return text[1:-1].strip() if enclosed else None


def _closes_early(text: str) -> bool:
    """Whether the quotation at the start of a text ends before the text does, as in ``"a" and "b"``."""
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


def _strip_period(text: str) -> str | None:
    text = text.strip()
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("...") else None


# The usual outermost wrapping comes first.
_RULES = (
    Extractor(
        "think",
        "what follows the reasoning that ends with </think>; nothing where the reasoning has no end",
        _take_after_thinking,
        marks=(">", "▷", "]"),
    ),
    Extractor("tag", "what the last <answer>..</answer> holds", _take_from_tags, marks=(">",), option="tag"),
    Extractor("boxed", r"what the last \boxed{..} holds", _take_boxed, marks=("\\",)),
    Extractor(
        "json",
        "the field `answer` of the last JSON object; of values the longest object or list",
        _take_field,
        marks=("{", "["),
        option="field",
        of_values=_take_value,
    ),
    Extractor("fence", "what the last ``` fence holds", _take_from_fence, marks=("`",)),
    Extractor(
        "final",
        "what follows the last `Answer:`, `Final answer:` or `The answer is`, to the end of its line",
        _take_after_label,
        marks=("nswer", "NSWER"),
    ),
    Extractor(
        "special-tokens",
        "without <|im_end|>, </s>, <eos>, <pad> and the like before and after it",
        _strip_special_tokens,
        marks=(">", "]"),
    ),
    Extractor("bold", "what **..** around all of it holds", _take_bold, marks=("*", "_")),
    Extractor(
        "quotes",
        "what the quotation marks around all of it hold",
        _take_from_quotes,
        marks=tuple(_QUOTES),
    ),
    Extractor("period", "without the period at its end", _strip_period, marks=(".", "。")),
)
EXTRACTORS: Mapping[str, Extractor] = MappingProxyType({rule.name: rule for rule in _RULES})
