r"""Extracts an answer from raw model output, with one function for each kind of wrapping.

A function ``take_...`` or ``strip_...`` returns the answer without whitespace around it, or None if the string has no
such wrapping. All of these functions run in linear time on any string. `extract.EXTRACTORS` is the table of rules that
use them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from anls_metric.core.json_strings import STRING, double_backslashes

# Reasoning

_REASONING = (  # what stands before and after it
    ("<think>", "</think>"),  # most models
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),  # EXAONE Deep
    ("<reasoning>", "</reasoning>"),  # gpt-oss on Bedrock
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi-VL
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThoughts
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Cohere
    ("<|channel>thought", "<channel|>"),  # Gemma 4
)
_OPENING, _CLOSING = ("|".join(map(re.escape, marks)) for marks in zip(*_REASONING))


def take_after_thinking(text: str, tag: str = "") -> str | None:
    """Take the string after the reasoning or, if the reasoning was cut off, the string before it, which is usually "".

    Pass a tag for a model that uses marks of its own. Without a tag, the marks of many models are recognized.
    """
    opening, closing = (f"<{re.escape(tag)}>", f"</{re.escape(tag)}>") if tag else (_OPENING, _CLOSING)
    rest = re.split(closing, text)[-1]
    answer = re.split(opening, rest, maxsplit=1)[0]
    return None if answer == text else answer.strip()


# Conversations

# https://cookbook.openai.com/articles/openai-harmony
_FINAL = r"<\|channel\|>\s{0,3}final\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
_BARE_FINAL = r"(?s)\s*(?:analysis|commentary).*assistantfinal"  # decoded without special tokens
_END_OF_MESSAGE = r"<\|(?:end|return|call|start|channel)\|>"


def take_from_harmony(text: str) -> str | None:
    """Take the message in the last ``final`` channel, or "" if there are only other channels."""
    if "<|channel|>" not in text:
        bare = re.match(_BARE_FINAL, text)
        return text[bare.end() :].strip() if bare else None
    _, *messages = re.split(_FINAL, text)
    return re.split(_END_OF_MESSAGE, messages[-1], maxsplit=1)[0].strip() if messages else ""


_NAME = r"(?:GPT4[ ]Correct[ ])?"
_ASSISTANT = (
    r"<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|assistant\|>|<start_of_turn>model"
    rf"|\[/INST\]|\bASSISTANT:|^[ ]{{0,3}}(?:[#]{{1,3}}[ ])?{_NAME}Assistant:|^assistant[ ]{{0,3}}\r?(?=\n)"
    r"|^[#]{2,3}[ ]Response:"
)
_END_OF_TURN = r"<\|(?:im_end|eot_id|end|end_of_turn|endoftext)\|>|<end_of_turn>|</s>"
_OTHER_ROLE = (
    r"<\|im_start\|>|<\|start_header_id\|>|<\|(?:user|system|observation)\|>|<start_of_turn>|\[INST\]|\b(?:USER|HUMAN|SYSTEM):"
    rf"|^[ ]{{0,3}}(?:[#]{{1,3}}[ ])?{_NAME}(?:User|Human|System|Instruction):|^(?:user|system)[ ]{{0,3}}\r?$"
    rf"|{_END_OF_TURN}"
)


def take_from_chat(text: str) -> str | None:
    """Take the last nonempty turn of the assistant, or "" if all turns of the assistant are empty."""
    _, *parts = re.split(rf"(?m:({_ASSISTANT})|{_OTHER_ROLE})", text)
    turns = [turn.strip() for assistant, turn in zip(parts[::2], parts[1::2]) if assistant]
    return next(filter(None, reversed(turns)), "") if turns else None


# Tags, LaTeX, HTML

_SPECIAL_TOKEN = (
    r"<\|[^\s<>|]{1,40}\|>|<｜[^\s<>]{1,40}｜>|</?s>|\[(?:CLS|EOS|PAD|SEP)\]"
    r"|<(?:bos|eod|eos|pad|unk|end_of_turn|end_of_utterance|start_of_turn)>"
)


def take_from_tags(text: str, tag: str = "answer") -> str | None:
    """Take the content of the last pair of tags. Without a pair, take what follows the last opening tag, because the
    closing tag was cut off.

    What a model writes after the end of its turn is not part of the answer. A string that begins with a special token
    is a whole chat, in which earlier turns also end.
    """
    turn = re.split(_END_OF_TURN, text, maxsplit=1)[0]
    if f"<{tag}>" in turn and not re.match(rf"\s*(?:{_SPECIAL_TOKEN})", text):
        text = turn
    before, closing, _ = text.rpartition(f"</{tag}>")
    _, opening, answer = (before or text).rpartition(f"<{tag}>")
    return (answer.partition(closing)[0] if closing else answer).strip() if opening else None


_LATEX_TEXT = r"text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf)|mbox"
_MOST_COMMANDS = 20


def take_boxed(text: str) -> str | None:
    r"""Take the content of the last ``\boxed{..}``."""
    parts = _split_at_command(text, "boxed")
    return _remove_latex(parts[1]) if parts else None


def _remove_latex(text: str) -> str:
    r"""Remove ``\text{..}`` around strings, and the backslash of ``\$``."""
    for _ in range(_MOST_COMMANDS):
        parts = _split_at_command(text, _LATEX_TEXT)
        if parts is None:
            break
        text = "".join(parts)
    return re.sub(r"\\([$%&#_{}])", r"\1", text).strip()


def _split_at_command(text: str, command: str, token: str = r"(?s)\\.|[{}]") -> tuple[str, str, str] | None:
    r"""Split a string at its last ``\command{..}`` into the parts before the command, in its braces, and after the
    command. The pattern ``token`` finds braces and by default skips any brace after a backslash.
    """
    for start in reversed([*re.finditer(rf"\\(?:{command})\{{", text)][-_MOST_COMMANDS:]):
        depth = 1
        for brace in re.compile(token).finditer(text, start.end()):
            depth += (brace[0] == "{") - (brace[0] == "}")
            if not depth:
                return text[: start.start()], text[start.end() : brace.start()], text[brace.end() :]
    return None


def take_as_lmms_eval(text: str) -> str:
    r"""Take the answer in the same way as lmms-eval's reasoning tasks, or "" if there is none.

    The answer is the content of the first ``<answer>..</answer>``, the content of the last ``\boxed{..}``, or a number
    at the end of a line, in this order of preference.
    """
    answer, closing, _ = text.partition("<answer>")[2].partition("</answer>")
    return (answer if closing else _take_last_box(text) or _take_last_number(text)).strip()


def _take_last_box(text: str) -> str:
    """Take the content of the last box with balanced braces, including escaped ones, or "" if there is no such box."""
    parts = _split_at_command(text, "boxed", token="[{}]")
    return parts[1] if parts else ""


def _take_last_number(text: str) -> str:
    """Take the number from the last line that ends with a number and an optional period, or "" if there is none."""
    for line in reversed(text.strip().split("\n")):
        number = re.search(r"\b\d+(?:\.\d+)?$", line.rstrip().removesuffix(".").rstrip())
        if number:
            return number[0]
    return ""


# An amount in dollars is not a formula, so no whitespace follows the first $ or stands before the last one.
_FORMULA = r"(?s)(?:\$\$|\$(?=\S)|\\[(\[])((?:[^$\\]|\\[^()\[\]])+)(?:\$\$|(?<=\S)\$|\\[)\]])"


def take_math(text: str) -> str | None:
    """Take the content of a formula, if the formula is the whole string."""
    formula = re.fullmatch(_FORMULA, text.strip())
    return _remove_latex(formula[1]) if formula else None


_BLOCKS = (
    "address|article|blockquote|body|br|center|dd|div|dl|dt|form|h[1-6]|head|hr|html|li|main|ol|p|pre|section|table|tbody"
    "|td|tfoot|th|thead|title|tr|ul"
)
_INLINE = "a|abbr|b|big|cite|code|em|font|i|kbd|label|mark|small|span|strike|strong|sub|sup|tt|u|var"
_HTML_TAG = rf"(?i:</?(?:({_BLOCKS})|{_INLINE})(?:\s{{1,3}}[\w:-]{{1,30}}=[^<>]{{0,300}})?\s{{0,3}}/?>)"
_ENTITY = r"&(?:[#]\d{1,7}|[#][xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});"


def take_from_html(text: str) -> str | None:
    """Remove HTML tags and replace entities with their characters."""
    import html

    answer = re.sub(_HTML_TAG, lambda tag: "\n" if tag[1] else "", text)
    answer = re.sub(_ENTITY, lambda entity: html.unescape(entity[0]), answer)
    return None if answer == text else "\n".join(filter(None, map(str.strip, answer.splitlines())))


# Objects and lists, in JSON or as Python prints them

# Numbers of single answers stay strings, because 0.10 is an answer of four characters.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
_NUMBER_DECODER = json.JSONDecoder(strict=False)

_NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?"
_PYTHON_TOKEN = rf"{STRING}|(?P<number>{_NUMBER})|None|True|False|[\[\](){{}},:]|\s+"
_MOST_LITERAL = 10_000  # characters of a literal, since Python's parser uses a lot of memory
_MOST_TRIES = 1_000
_MOST_READ = 10  # times that a character is read on average: once for each object around it without the field

# A value, and where reading stopped. The value is None if it cannot be read.
_Found = tuple[Any, int]


def _read_json(text: str, start: int, numbers: bool) -> _Found:
    decoder = _NUMBER_DECODER if numbers else _DECODER
    try:
        return decoder.raw_decode(text, start)
    except (ValueError, RecursionError) as error:  # thousands of digits or brackets: no position
        return None, getattr(error, "pos", len(text))


def _read_python(text: str, start: int, numbers: bool) -> _Found:
    """Read a Python literal up to the bracket that closes the first bracket, so that Python parses nothing else."""
    scan, place, depth, parts = re.compile(_PYTHON_TOKEN).match, start, 0, []
    while token := scan(text, place, start + _MOST_LITERAL):
        place = token.end()
        depth += (token[0] in "[({") - (token[0] in "])}")
        parts.append(f"'{token[0]}'" if token["number"] and not numbers else token[0])
        if not depth:
            try:
                return ast.literal_eval(double_backslashes("".join(parts))), place
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                break
    return None, place


def _format(value: Any) -> str | None:
    """Format a value as JSON, or return None for a Python dict with keys that JSON does not allow."""
    try:
        return json.dumps(value, ensure_ascii=False, default=list)
    except TypeError:
        return None


class Syntax(NamedTuple):
    """A syntax for objects and lists.

    Args:
        read: the function that reads the value at a position in a string. Numbers become strings unless ``numbers`` is
            true.
        object: a pattern for the beginning of an object.
        container: a pattern for the beginning of an object or list.
    """

    read: Callable[[str, int, bool], _Found]
    object: str
    container: str

    def take_field(self, text: str, field: str = "answer") -> str | None:
        """Extract the value of the field from the last object that has the field, if the value is a single answer."""
        objects = list(self._find(text, field, numbers=False))
        return _parse_answer(objects[-1][field]) if objects else None

    def take_value(self, text: str, field: str = "") -> str | None:
        """Extract, as JSON, the longest object or list or, if a field is given, the value of the field in the last
        object that has the field.
        """
        found = list(self._find(text, field, numbers=True))
        if field:
            return _format(found[-1][field]) if found else None
        return max(filter(None, map(_format, found)), key=len, default=None)

    def _find(self, text: str, field: str, numbers: bool) -> Iterator[Any]:
        """Find the objects that have the field or, without a field, all objects and lists.

        No value that is found is inside another. After a value that cannot be read, the search continues where reading
        stopped, because any values before that point are parts of the unreadable value. Without a field, the search
        ends at that point, because the values that follow may also be parts of the unreadable value.
        """
        opening = self.object if field else self.container
        find, place, rest = re.compile(opening).search, 0, _MOST_READ * len(text)
        for _ in range(_MOST_TRIES):
            if rest < 0 or not (match := find(text, place)):
                return
            value, place = self.read(text, match.start(), numbers)
            rest -= place - match.start()
            if value is None and not field and place > match.start() + 1:
                return
            if field and value is not None and not (isinstance(value, dict) and field in value):
                place = match.start() + 1  # an object inside may have the field
            elif isinstance(value, (dict, list)):
                yield value


JSON = Syntax(_read_json, r'\{\s*"', r"[\[{]")
PYTHON = Syntax(_read_python, r"\{\s*['\"]", r"""[\[{]\s*['"\[{]""")


def _parse_answer(value: Any) -> str | None:
    """Return a value as a string if the value is a single answer, or None otherwise."""
    match value:
        case str(answer) | [str(answer)]:
            return answer.strip()
        case bool():
            return str(value).lower()
        case None:
            return ""
    return None


def take_list(text: str) -> str | None:
    """Take a list, tuple or set that makes up the whole string, and return it as a JSON list."""
    text = text.strip()
    for read in (_read_json, _read_python):
        value, end = read(text, 0, numbers=True)
        if isinstance(value, (list, tuple, set)) and end == len(text):
            return _format(value)
    return None


def take_only_item(text: str) -> str | None:
    """Take the only item of a list, if the list is the whole string and the item is a string."""
    match _NUMBER_DECODER.decode(take_list(text) or "[]"):
        case [str(item)]:
            return item.strip()
    return None


# Marks and words around an answer

_LANGUAGE = r"\A[\w+#.-]*[ \t\r]*\n(?=\s*\S)"


def take_from_fence(text: str) -> str | None:
    """Take the content of the last nonempty code fence, even if the fence is cut off. If all fences are empty, take the
    string before the first one.
    """
    before, *parts = text.split("```")
    insides = [re.sub(_LANGUAGE, "", part).strip() for part in parts[::2]]
    return [before.strip(), *filter(None, insides)][-1] if parts else None


def strip_special_tokens(text: str) -> str | None:
    """Drop the special tokens before and after the answer."""
    blank = re.sub(_SPECIAL_TOKEN, lambda token: " " * len(token[0]), text)
    answer = text[len(blank) - len(blank.lstrip()) : len(blank.rstrip())]
    return None if answer == text.strip() else answer


_LABEL = (
    r"(?:[#]|[*]{2}|__)[ ]?(?:[Ff]inal[ ]|FINAL[ ])?(?:[Aa]nswer|ANSWER)(?:[*]{2}|__)?[ \t]{0,3}\r?\n|"
    r"\b(?:[Aa]nswer|ANSWER)[*_]{0,3}\s{0,3}[:：][*_]{0,3}"
    r"|\b(?:[Tt]he|THE)\s{1,3}(?:\w{1,12}\s{1,3})?(?:[Aa]nswer|ANSWER)\s{1,3}(?:is|IS)\b(?:[*_]{0,3}\s{0,3}[:：])?[*_]{0,3}"
)


_WORD_OF_LABEL = re.compile("nswer|NSWER")
_LONGEST_LABEL = 60  # more characters than any label has before this word


def take_after_label(text: str) -> str | None:
    """Take the first line after the last label that is followed by any text, without bold marks."""
    found = _WORD_OF_LABEL.search(text)
    start = max(0, found.start() - _LONGEST_LABEL) if found else len(text)
    _, *parts = re.split(_LABEL, text[start:])
    lines = [re.sub(r"[*]{2,3}", "", part).strip().partition("\n")[0].rstrip() for part in parts]
    return next(filter(None, reversed(lines)), None)


# A blank line, or a line that begins the next question or an explanation. After a colon the answer goes on.
_AFTER_ANSWER = (
    r"(?<![:：])(?<![:：]\r)(?:\n[^\S\n]{0,20}\n"
    r"|\n[^\S\n]{0,20}[#*]{0,3}[ ]?(?:Questions?|Q|Explanation|Reasoning|Reason|Rationale|Note|Context|Human|User)"
    r"[ ]?\d{0,3}[*]{0,2}[ ]?[:：]"
    r"|\sQuestion[ ]?\d{0,3}:)"
)


def take_before_rest(text: str) -> str | None:
    """Take the string before a blank line, an explanation or the next question."""
    answer, *rest = re.split(_AFTER_ANSWER, text.strip(), maxsplit=1)
    return answer.rstrip() if rest and re.search(r"\w", answer) else None


_FEWEST_WORDS = 3
_MOST_WORDS = 200  # of a repeated answer


def take_repeated(text: str) -> str | None:
    """Take the repeated part of a string that consists only of repetitions, the last of which may be cut off.

    On one line, the part must occur three times, or twice if it has three words or more, so that "New York, New York"
    stays unchanged. On several lines, two occurrences are enough.
    """
    words = re.findall(r"[^ \t\r\n]+", text)
    keys = [word.strip(",;|/.") or word for word in words]
    least = 2 if "\n" in text.strip() else 3
    for count in range(1, min(len(keys) // 2, _MOST_WORDS) + 1):
        repeats = keys[count] == keys[0] and keys[count:-1] == keys[: -count - 1]
        if repeats and keys[-count - 1].startswith(keys[-1]) and (count >= _FEWEST_WORDS or least * count <= len(keys)):
            return " ".join(words[:count]).rstrip(",;|/").strip()  # a word may end with a form feed
    return None


_LEADS = (
    r"(?i:(?:(?:final|predicted|short|my|the|generated)[ ])?(?:answer|ans|response|output|result|prediction|reply)"
    r"|antwort|réponse|respuesta|risposta|resposta|svar|ответ|odpowiedź|yanıt|cevap)|A|答案|回答|答え|答|정답|답변|답|الإجابة|उत्तर"
)
_BULLET = "[-*•–—·‣▪●○]"
_DATE = r"[ ]\w{1,20}\.?\s{1,3}\d{4}\b"  # "1. Januar 2020"
_PREFIX = (  # but not the dash of "- 12 -"
    rf"(?s)(?![-–—].*[-–—]\Z)(?:(?:[*_]{{0,2}}(?:{_LEADS})[*_]{{0,2}}\s{{0,2}}[:：][*_]{{0,2}}"
    rf"|(?:答案|回答)[是为為][:：]?|(?:{_BULLET}|1[.)](?!{_DATE})|\(1\))(?=[ \t]))\s*){{1,3}}(?=\S)"
)
_NEXT_ITEM = rf"\n[^\S\n]{{0,20}}(?:{_BULLET}|\(?2[.)])[ \t]"


def strip_prefix(text: str) -> str | None:
    """Drop up to three prefixes, such as "A:" or a bullet. A list of several items stays unchanged."""
    text = text.strip()
    prefix = re.match(_PREFIX, text)
    return text[prefix.end() :] if prefix and not re.search(_NEXT_ITEM, text) else None


_SUBJECT = (  # of a sentence on one line
    r"[\"'“]?(?:[Tt](?:he|his|hat|hese|hose|hey|heir)|[Ii]ts?|[Hh](?:e|is|er)|[Ss]he|According to|Based on|As per|From"
    r"|In|On)\b(?=[^\n]*\Z)"
)
_VERB = (  # but not of a relative clause or of "there is"
    r"(?:(?<![Tt]hat |[Ww]hat |[Ww]hom )(?<![Ww]hich |[Ww]here |[Tt]here )(?<![Ww]ho )\b(?:is|are|was|were|reads)"
    r"|(?<=\b[Ii]t)['’]s)(?:[ ]as[ ]follows)?[:,]?[ ]{1,9}(?![ ]|(?:not|no longer)\b)"
)
_PARTICIPLE = (
    r"[a-z]{1,20}(?:ed|en|wn|nt|ld|de)[ ](?:by|in|on|at|to|from|for|of|with|under|above|below|near|as)[ ]{1,9}"
)
_PERIOD = r"[.。](?:\Z|\s{1,9}(?:The|This|That|It|These|They|There|I|Please|Note)\b)"
_FEWEST_SUBJECT_WORDS = 5


def take_from_sentence(text: str) -> str | None:
    """Take the text after the verb of a sentence, such as "X" from "The title is X." or from "It was signed by X."

    A sentence without a period must have a long subject or a digit in its answer, because a sentence such as "The
    medium is the message" may be a title.
    """
    text = text.strip()
    if not re.match(_SUBJECT, text):
        return None
    verb = re.search(rf"{_VERB}(?!{_PARTICIPLE})", text) or re.search(rf"{_VERB}{_PARTICIPLE}", text)
    if not verb:
        return None
    answer, *period = re.split(_PERIOD, text[verb.end() :], maxsplit=1)
    is_long = len(text[: verb.start()].split()) >= _FEWEST_SUBJECT_WORDS
    return answer.strip() or None if period or is_long or re.search(r"\d", answer) else None


def take_bold(text: str) -> str | None:
    """Remove bold marks that surround the whole string."""
    bold = re.fullmatch(r"(?s)([*]{2,3}|__)(.+)\1", text.strip())
    return bold[2].strip() if bold and bold[1] not in bold[2] else None


# Each opening quotation mark with its closing ones.
QUOTES = {mark: mark for mark in "\"'`”’"}
QUOTES |= {"“": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』"}


def take_from_quotes(text: str) -> str | None:
    """Take the string inside quotation marks that enclose the whole string, unlike those in ``"a" and "b"``."""
    quoted = re.fullmatch(r"(?s)(.)(.*)(.)", text.strip())
    if quoted is None or quoted[3] not in QUOTES.get(quoted[1], ""):
        return None
    opening, inside, closing = quoted.groups()
    # A mark after whitespace opens a quotation inside, and group 1 is that whitespace. A mark before ")" is for inches.
    mark = re.search(rf"(\A|\s)[{opening}{closing}]|[{opening}{closing}][^\w)]", inside)
    return None if mark and mark[1] is None else inside.strip()


_OPTION = r"(?:(?:[Tt]he[ ])?(?:[Cc]orrect[ ]|[Ff]inal[ ]|[Bb]est[ ])?(?:[Aa]nswer|[Oo]ption|[Cc]hoice|[Ll]etter)\b)"
_LETTER = (  # in brackets, before a point or colon, or alone: "(B)", "B. Rotterdam", "Option B"; but not "A dog"
    rf"[*_\"'`\s]{{0,5}}(?:{_OPTION}(?:[ ]is\b)?(?:[ ]?[:：])?[*_\"'`\s]{{0,5}}){{0,2}}"
    r"(?:\(([A-Za-z])\)|\[([A-Z])\]|([A-Z])(?=[*_\"'`]{0,3}(?:\.(?!\w\.)|[:),、]|\s*\Z|\s*\n)))"
)
_LETTER_AT_END = (
    rf"{_OPTION}[ ](?:is[ ]|would[ ]be[ ])?(?:{_OPTION}[ ])?[*_\"'`]{{0,3}}\(?([A-Z])\)?[*_\"'`]{{0,3}}[.!]?\s*\Z"
)


def take_letter(text: str) -> str | None:
    """Take the option letter at the beginning of a string or in the statement at its end, converted to uppercase."""
    found = re.match(_LETTER, text) or re.search(_LETTER_AT_END, text)
    return next(filter(None, found.groups())).upper() if found else None


def strip_period(text: str) -> str | None:
    """Drop the period at the end, unless the string ends with "..."."""
    text = text.strip()
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("...") else None
