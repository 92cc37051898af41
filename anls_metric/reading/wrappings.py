r"""Extracts an answer from raw model output: a function for each kind of wrapping.

A function ``take_...`` or ``strip_...`` returns the answer without blanks around it, or None if the text has no such
wrapping. A function ``is_broken_...`` says whether a wrapping begins in a text but cannot be read. All take linear time
for any text. `extract.EXTRACTORS` is the table of these functions.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anls_metric.reading.references import double_backslashes

# Reasoning

# The marks around reasoning of most models, Claude, Kimi-VL, and Magistral.
_THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)


def take_after_thinking(text: str) -> str | None:
    """Take the text after the reasoning; "" if the reasoning does not end, because it was cut off before the answer."""
    answer = text
    for opening, closing in _THINKING:
        answer = answer.rpartition(closing)[2].partition(opening)[0]
    return None if len(answer) == len(text) else answer.strip()


def is_broken_thinking(text: str) -> bool:
    """Whether reasoning has no end."""
    return any(opening in text.rpartition(closing)[2] for opening, closing in _THINKING)


# Conversations

# https://cookbook.openai.com/articles/openai-harmony
_CHANNEL = r"<\|channel\|>\s{0,3}(\w{1,20})[^<]{0,100}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
_END_OF_MESSAGE = r"<\|(?:end|return|call|start|channel)\|>"
_CHANNELS = ("analysis", "commentary")
_BARE_FINAL = "assistantfinal"


def take_from_harmony(text: str) -> str | None:
    """Take the message of the last channel ``final``; "" if there are only other channels.

    Without special tokens, the text reads "analysis...assistantfinal...".
    """
    if "<|channel|>" in text:
        finals = [match.end() for match in re.finditer(_CHANNEL, text) if match[1] == "final"]
        return re.split(_END_OF_MESSAGE, text[finals[-1] :], maxsplit=1)[0].strip() if finals else ""
    bare = text.lstrip().startswith(_CHANNELS) and _BARE_FINAL in text
    return text.rpartition(_BARE_FINAL)[2].strip() if bare else None


def is_broken_harmony(text: str) -> bool:
    """Whether there are channels, and no ``final`` among them."""
    return "<|channel|>" in text and all(match[1] != "final" for match in re.finditer(_CHANNEL, text))


_NAME = r"(?:GPT4[ ]Correct[ ])?"
_ASSISTANT = (
    r"<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|assistant\|>|<start_of_turn>model"
    rf"|\[/INST\]|\bASSISTANT:|^[ ]{{0,3}}(?:[#]{{1,3}}[ ])?{_NAME}Assistant:|^assistant[ ]{{0,3}}\r?(?=\n)"
    r"|^[#]{2,3}[ ]Response:"
)
_OTHER_ROLE = (
    r"<\|im_start\|>|<\|start_header_id\|>|<\|(?:user|system|observation)\|>|<start_of_turn>|\[INST\]|\b(?:USER|HUMAN|SYSTEM):"
    rf"|^[ ]{{0,3}}(?:[#]{{1,3}}[ ])?{_NAME}(?:User|Human|System|Instruction):|^(?:user|system)[ ]{{0,3}}\r?$"
    r"|<\|(?:im_end|eot_id|end|end_of_turn|endoftext)\|>|<end_of_turn>|</s>"
)
_TURN = rf"(?m:(?P<assistant>{_ASSISTANT})|{_OTHER_ROLE})"


def take_from_chat(text: str) -> str | None:
    """Take the last turn of the assistant."""
    marks = list(re.finditer(_TURN, text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    messages = [text[mark.end() : end].strip() for mark, end in zip(marks, ends) if mark["assistant"]]
    return next(filter(None, reversed(messages)), "") if messages else None


# Tags, LaTeX, HTML


def take_from_tags(text: str, tag: str = "answer") -> str | None:
    """Take the content of the last pair of tags."""
    before, closed, _ = text.rpartition(f"</{tag}>")
    _, opened, answer = before.rpartition(f"<{tag}>")
    return answer.partition(f"</{tag}>")[0].strip() if opened and closed else None


def is_broken_tag(text: str, tag: str = "answer") -> bool:
    """Whether there is an opening tag, but no pair of tags."""
    return f"<{tag}>" in text and take_from_tags(text, tag) is None


_LATEX_TEXT = r"text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf)|mbox"


def take_boxed(text: str) -> str | None:
    r"""Take the content of the last ``\boxed{..}``."""
    box = max(_find_braces(text, "boxed"), default=None)
    return None if box is None else _remove_latex(text[box[1] : box[2]])


def is_broken_box(text: str) -> bool:
    r"""Whether there is a ``\boxed{``, but none with a closing brace."""
    return r"\boxed{" in text and take_boxed(text) is None


def _remove_latex(text: str) -> str:
    r"""Remove ``\text{..}`` around texts, and the backslash of ``\$``."""
    cuts = [cut for start, inside, end in _find_braces(text, _LATEX_TEXT) for cut in ((start, inside), (end, end + 1))]
    pieces, place = [], 0
    for start, end in sorted(cuts):
        pieces.append(text[place:start])
        place = end
    return re.sub(r"\\([$%&#_{}])", r"\1", "".join([*pieces, text[place:]])).strip()


def _find_braces(text: str, command: str) -> Iterator[tuple[int, int, int]]:
    r"""Find each ``\command{...}`` of LaTeX: where it starts, and where the text in its braces starts and ends."""
    token = re.compile(rf"(?s)(?P<opening>(\\(?:{command}))?\{{)|(?P<closing>\}})|\\.")
    opened: list[tuple[int, int]] = []
    for match in token.finditer(text):
        if match.lastgroup == "opening":
            opened.append((match.start() if match[2] else -1, match.end()))
        elif match.lastgroup == "closing" and opened:
            place, inside = opened.pop()
            if place >= 0:
                yield place, inside, match.start()


_FORMULAS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


def take_math(text: str) -> str | None:
    """Take the content of a formula that is the whole text. An amount in dollars is not a formula."""
    text = text.strip()
    for opening, closing in _FORMULAS:
        inside = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inside.strip():
            rest = inside.replace(r"\$", "")
            closes_early = opening in rest or closing in rest or inside.endswith("\\")
            is_amount = opening == "$" and inside != inside.strip()
            return None if closes_early or is_amount else _remove_latex(inside)
    return None


_BLOCKS = (
    "address|article|blockquote|body|br|center|dd|div|dl|dt|form|h[1-6]|head|hr|html|li|main|ol|p|pre|section|table|tbody"
    "|td|tfoot|th|thead|title|tr|ul"
)
_INLINE = "a|abbr|b|big|cite|code|em|font|i|kbd|label|mark|small|span|strike|strong|sub|sup|tt|u|var"
_HTML_TAG = rf"(?i:</?(?:({_BLOCKS})|{_INLINE})(?:\s{{1,3}}[\w:-]{{1,30}}=[^<>]{{0,300}})?\s{{0,3}}/?>)"
_ENTITY = r"&(?:[#]\d{1,7}|[#][xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});"


def take_from_html(text: str) -> str | None:
    """Remove HTML tags, and replace entities by their characters."""
    answer = re.sub(_HTML_TAG, lambda tag: "\n" if tag[1] else "", text)
    if re.search(_ENTITY, answer):
        import html

        answer = re.sub(_ENTITY, lambda entity: html.unescape(entity[0]), answer)
    return None if answer == text else "\n".join(filter(None, map(str.strip, answer.splitlines())))


# JSON

# Numbers stay texts, because 0.10 is an answer of four characters.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
_PLAIN_DECODER = json.JSONDecoder(strict=False)
_OBJECT = r'\{\s*"'
_CONTAINER = r"[\[{]"
_JSON = r'\{\s*"|\[\s*["\[{]'  # the certain beginnings of JSON
_WHOLE_JSON = rf"\s*(?:```\w{{0,20}}\s*)?(?={_JSON})"
_CONSTANTS = {None: "", True: "true", False: "false"}


def _find_json(
    text: str, opening: str, decoder: json.JSONDecoder, accept: Callable[[Any], bool]
) -> Iterator[tuple[Any, str]]:
    """Find the accepted JSON values in a text, none inside another, each with its own text.

    Texts that only look like JSON are tried until that becomes expensive. A value that is cut off at the end of the
    text is not searched, because the values inside it are parts of another answer.
    """
    find, place, patience, end_of_text = re.compile(opening).search, 0, 20 * len(text), len(text.rstrip())
    while patience > 0 and (match := find(text, place)):
        start = match.start()
        place = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            break
        except json.JSONDecodeError as error:
            if error.pos >= end_of_text or error.msg.startswith("Unterminated string"):
                break
            patience -= error.pos + 100  # computing the position took time up to there
            continue
        except ValueError:  # a number of thousands of digits
            patience -= len(text)
            continue
        patience -= end - start
        if accept(value):
            yield value, text[start:end]
            place = end


def take_field(text: str, field: str = "answer") -> str | None:
    """Take the field of the last object that has it."""
    values = [value[field] for value, _ in _find_json(text, _OBJECT, _DECODER, lambda value: field in value)]
    return _choose_answer(values)


def take_value(text: str, field: str = "") -> str | None:
    """Take the longest object or list as JSON; or the field of the last object that has it."""
    whole = re.match(_WHOLE_JSON, text)
    if whole and not _is_json(text, whole.end()):
        return None
    if field:
        values = [value[field] for value, _ in _find_json(text, _OBJECT, _PLAIN_DECODER, lambda value: field in value)]
        return json.dumps(values[-1], ensure_ascii=False) if values else None
    return max(
        (source for _, source in _find_json(text, _CONTAINER, _PLAIN_DECODER, _accept_any)), key=len, default=None
    )


def is_broken_json(text: str, field: str = "") -> bool:
    """Whether a part that looks like JSON cannot be parsed."""
    opening = re.search(_JSON, text)
    return opening is not None and not _is_json(text, opening.start())


def _is_json(text: str, start: int) -> bool:
    try:
        _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True


def _accept_any(value: Any) -> bool:
    return True


def _choose_answer(values: Sequence[Any]) -> str | None:
    """Choose the last value that is a single answer, as a text."""
    return next((answer for value in reversed(values) if (answer := _parse_answer(value)) is not None), None)


def _parse_answer(value: Any) -> str | None:
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value.strip()
    return _CONSTANTS[value] if value is None or isinstance(value, bool) else None


# Lists and dictionaries as Python prints them

_TEXT = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?"
_PYTHON_TOKEN = (
    rf"(?P<text>{_TEXT})|(?P<number>{_NUMBER})|(?P<opening>[\[({{])|(?P<closing>[\])}}])|None|True|False|[,:]|\s+"
)
_PYTHON_DICT = r"\{\s*['\"]"
_PYTHON_CONTAINER = r"""[\[{]\s*['"\[{]"""
_PYTHON_LIST = r"""[\[({]\s*['"]"""
_MOST_LITERAL = 10_000  # characters of a literal, since Python's parser takes much memory
_MOST_TRIES = 20
_DEEPEST = 50


def _find_literals(text: str, opening: str, accept: Callable[[Any], bool], numbers: bool) -> Iterator[tuple[Any, str]]:
    """Find the accepted lists and dictionaries in a text, none inside another, each with its own text.

    Args:
        text: the text.
        opening: the pattern of their beginnings, of which a few are tried.
        accept: whether a value is one of them.
        numbers: whether to parse numbers; otherwise they stay texts.
    """
    find, place = re.compile(opening).search, 0
    for _ in range(_MOST_TRIES):
        if not (match := find(text, place)):
            return
        place = match.start() + 1
        source = _scan_literal(text, match.start(), numbers)
        value = _parse_literal(source[0]) if source else None
        if source and value is not None and accept(value):
            yield value, text[match.start() : source[1]]
            place = source[1]


def _scan_literal(text: str, start: int, numbers: bool) -> tuple[str, int] | None:
    """Read tokens up to the bracket that closes the first one; None if other tokens come before it.

    Returns:
        The source of the literal, in which numbers are texts unless ``numbers``, and its end.
    """
    scan, place, depth, parts = re.compile(_PYTHON_TOKEN).match, start, 0, []
    while place - start < _MOST_LITERAL and depth <= _DEEPEST and (token := scan(text, place)):
        place, kind = token.end(), token.lastgroup
        depth += (kind == "opening") - (kind == "closing")
        parts.append(token[0] if numbers or kind != "number" else f"'{token[0]}'")
        if not depth:
            return "".join(parts), place
    return None


def _parse_literal(source: str) -> Any:
    try:
        return ast.literal_eval(double_backslashes(source))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def take_python_field(text: str, field: str = "answer") -> str | None:
    """Take the field of the last dictionary that has it."""
    literals = _find_literals(
        text, _PYTHON_DICT, lambda value: isinstance(value, dict) and field in value, numbers=False
    )
    return _choose_answer([value[field] for value, _ in literals])


def take_python_value(text: str, field: str = "") -> str | None:
    """Take the longest dictionary or list as JSON; or the field of the last dictionary that has it."""
    if field:
        literals = _find_literals(
            text, _PYTHON_DICT, lambda value: isinstance(value, dict) and field in value, numbers=True
        )
        return _as_json([value[field] for value, _ in literals][-1:])
    literals = _find_literals(text, _PYTHON_CONTAINER, lambda value: isinstance(value, (dict, list)), numbers=True)
    return _as_json([value for value, _ in sorted(literals, key=lambda item: len(item[1]))][-1:])


def _as_json(values: Sequence[Any]) -> str | None:
    try:
        return json.dumps(values[0], ensure_ascii=False) if values else None
    except (TypeError, ValueError):  # a set, or a key that is a tuple
        return None


def is_broken_python(text: str, field: str = "") -> bool:
    """Whether a part that looks like a dictionary cannot be parsed."""
    opening = re.search(_PYTHON_DICT, text)
    return opening is not None and _scan_literal(text, opening.start(), numbers=False) is None


def take_only_item(text: str) -> str | None:
    """Take the only item, a text, of a list in Python or JSON that is the whole text."""
    text = text.strip()
    items = _parse_list(text) if re.match(_PYTHON_LIST, text) else None
    only = items is not None and len(items) == 1 and isinstance(items[0], str)
    return str(items[0]).strip() if items and only else None


def take_list(text: str) -> str | None:
    """Take a list that is the whole text, as JSON."""
    text = text.strip()
    items = _parse_list(text) if text.startswith("[") else None
    return None if items is None else _as_json([items])


def is_broken_list(text: str) -> bool:
    """Whether a text that looks like a list of texts cannot be parsed."""
    text = text.strip()
    return bool(re.match(r"""\[\s*['"]""", text)) and _parse_list(text) is None


def _parse_list(text: str) -> Sequence[Any] | None:
    if len(text) > _MOST_LITERAL:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        source = _scan_literal(text, 0, numbers=True)
        value = _parse_literal(source[0]) if source and source[1] == len(text) else None
    if isinstance(value, set):
        return list(value)
    return value if isinstance(value, (list, tuple)) else None


# Marks and words around an answer

_LANGUAGE = r"[\w+#.-]*[ \t\r]*"


def take_from_fence(text: str) -> str | None:
    """Take the content of the last fence, which may be cut off. An empty fence at the end leaves the text before it."""
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


def strip_special_tokens(text: str) -> str | None:
    """Drop the special tokens before and after the text."""
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


def take_after_label(text: str) -> str | None:
    """Take the text after the last label, from its line or the next one."""
    for label in reversed(list(re.finditer(_LABEL, text))):
        if line := text[label.end() :].lstrip().partition("\n")[0].rstrip():
            for mark in _BOLD[1:]:
                if line.count(mark) % 2:  # the mark was opened before the label
                    line = "".join(line.rsplit(mark, 1)).rstrip()
            bold = take_bold(line)
            return line if bold is None else bold
    return None


# A blank line, or a line that begins the next question or an explanation.
_AFTER_ANSWER = (
    r"\n[^\S\n]{0,20}\n"
    r"|\n[^\S\n]{0,20}[#*]{0,3}[ ]?(?:Questions?|Q|Explanation|Reasoning|Reason|Rationale|Note|Context|Human|User)"
    r"[ ]?\d{0,3}[*]{0,2}[ ]?[:：]"
    r"|\sQuestion[ ]?\d{0,3}:"
)


def take_before_rest(text: str) -> str | None:
    """Take the text before a blank line, an explanation or the next question. A text that ends in a colon goes on."""
    text = text.strip()
    end = re.search(_AFTER_ANSWER, text)
    answer = text[: end.start()].rstrip() if end else ""
    return answer if re.search(r"\w", answer) and not answer.endswith((":", "：")) else None


_BETWEEN_REPEATS = ",;|/"


def take_repeated(text: str) -> str | None:
    """Take a text that is repeated, if the whole text is repetitions; the last one may be cut off.

    Two equal lines are enough. On one line the text must occur three times, or twice if it has three words or more:
    "New York, New York" stays.
    """
    if sum(map(text.count, " \t\r\n")) < 2 and "\n" not in text:
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and len(set(lines)) == 1:
        return lines[0]
    words = re.findall(r"[^ \t\r\n]+", text)
    keys = [word.strip(f"{_BETWEEN_REPEATS}.") or word for word in words]
    if len(keys) < 3 or 2 * len(set(keys)) > len(keys) + 2:  # too many different words; the last one may be cut off
        return None
    period = _find_period(keys)
    if len(keys) < 2 * period or (len(keys) < 3 * period and period < _FEWEST_WORDS):
        return None
    return " ".join(words[:period]).rstrip(_BETWEEN_REPEATS).strip()  # a word may begin or end with a form feed


_FEWEST_WORDS = 3


def _find_period(keys: Sequence[str]) -> int:
    """Find the smallest number of words after which the words repeat. Only the last word may be cut off."""
    borders = [0] * len(keys)  # for each prefix, how many of its last words are also its first words
    length = 0
    for place in range(1, len(keys)):
        last = place == len(keys) - 1
        while length and not _repeats(keys[place], keys[length], last):
            length = borders[length - 1]
        length += _repeats(keys[place], keys[length], last)
        borders[place] = length
    return len(keys) - length or 1


def _repeats(word: str, before: str, may_be_cut: bool) -> bool:
    return before.startswith(word) if may_be_cut else before == word


_LEADS = (
    r"(?i:(?:(?:final|predicted|short|my|the|generated)[ ])?(?:answer|ans|response|output|result|prediction|reply)"
    r"|antwort|réponse|respuesta|risposta|resposta|svar|ответ|odpowiedź|yanıt|cevap)|A|答案|回答|答え|答|정답|답변|답|الإجابة|उत्तर"
)
_BULLET = "[-*•–—·‣▪●○]"
_LEAD = (
    rf"\s{{0,9}}(?:[*_]{{0,2}}(?:{_LEADS})[*_]{{0,2}}\s{{0,2}}[:：][*_]{{0,2}}\s{{0,9}}"
    rf"|(?:答案|回答)[是为為][:：]?\s{{0,9}}|(?:{_BULLET}|1[.)]|\(1\))[ \t]{{1,9}})"
)
_NEXT_ITEM = rf"\n[^\S\n]{{0,20}}(?:{_BULLET}|\(?2[.)])[ \t]"
_DASHES = ("-", "–", "—")
_DATE = r"\w{1,20}\.?\s{1,3}\d{4}\b"  # "1. Januar 2020"


def strip_prefix(text: str) -> str | None:
    """Drop up to three prefixes, such as "A:" or a bullet. A list of several items stays unchanged."""
    answer = text
    for _ in range(3):
        lead = re.match(_LEAD, answer)
        rest = answer[lead.end() :] if lead else ""
        if not lead or not rest.strip() or (lead[0].strip() == "1." and re.match(_DATE, rest)):
            break
        answer = rest
    is_page_number = text.strip()[:1] in _DASHES and text.strip()[-1] in _DASHES  # "- 12 -"
    stays = len(answer) == len(text) or is_page_number or re.search(_NEXT_ITEM, text)
    return None if stays else answer.strip()


_STARTS = (
    r"[\"'“]?(?:[Tt](?:he|his|hat|hese|hose|hey|heir)|[Ii]ts?|[Hh](?:e|is|er)|[Ss]he|According to|Based on|As per|From"
    r"|In|On)\b"
)
_COPULA = r"(?:(?<!\w)(?:is|are|was|were|reads)|(?<=\b[Ii]t)['’]s|(?<=\b[Tt]hat)['’]s)(?:[ ]as[ ]follows)?[:,]?[ ]{1,9}"
_NO_SUBJECT = r"(?:\b[Tt]hat|\b[Ww]hich|\b[Ww]ho|\b[Ww]hom|\b[Ww]hat|\b[Ww]here|\b[Tt]here)\s{1,9}\Z"
_NOT = r"(?:not|no longer)\b"
_PARTICIPLE = (
    r"[a-z]{1,20}(?:ed|en|wn|nt|ld|de)[ ](?:by|in|on|at|to|from|for|of|with|under|above|below|near|as)[ ]{1,9}"
)
_NEXT_SENTENCE = r"[.。]\s{1,9}(?:The|This|That|It|These|They|There|I|Please|Note)\b"
_FEWEST_SUBJECT_WORDS = 5


def take_from_sentence(text: str) -> str | None:
    """Take the end of a sentence after its verb: "The title of the page is X." -> "X", "It was signed by X." -> "X".

    A sentence without a period needs a long subject, or a digit in its answer: "The medium is the message" is a title.
    """
    text = text.strip()
    if "\n" in text or not re.match(_STARTS, text):
        return None
    verb = _find_verb(text)
    if verb is None:
        return None
    start, end = verb
    answer = re.split(_NEXT_SENTENCE, text[end:], maxsplit=1)[0]
    has_period = len(answer) < len(text) - end or answer.endswith((".", "。"))
    if not has_period and len(text[:start].split()) < _FEWEST_SUBJECT_WORDS and not re.search(r"\d", answer):
        return None
    bare = strip_period(answer)
    return (answer if bare is None else bare).strip() or None


def _find_verb(text: str) -> tuple[int, int] | None:
    """Find the start and end of the verb before an answer: the first one without a participle, else the first one."""
    passive = None
    for verb in re.finditer(_COPULA, text):
        start, end = verb.span()
        if re.search(_NO_SUBJECT, f"{text[max(start - 20, 0) : start]} ") or re.match(_NOT, text[end : end + 20]):
            continue
        participle = re.match(_PARTICIPLE, text[end : end + 60])
        if participle is None:
            return start, end
        passive = passive or (start, end + participle.end())
    return passive


def take_bold(text: str) -> str | None:
    """Take the content of bold marks around the whole text."""
    text = text.strip()
    for mark in _BOLD:
        inside = text[len(mark) : -len(mark)]
        if inside and mark not in inside and text.startswith(mark) and text.endswith(mark):
            return inside.strip()
    return None


# Each opening quotation mark with its closing ones.
QUOTES = {mark: mark for mark in "\"'`”’"}
QUOTES |= {"“": "”", "‘": "’", "„": "“”", "‚": "‘’", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』"}


def take_from_quotes(text: str) -> str | None:
    """Take the content of quotation marks around the whole text."""
    text = text.strip()
    enclosed = len(text) > 1 and text[-1] in QUOTES.get(text[0], "") and not _closes_early(text)
    return text[1:-1].strip() if enclosed else None


def _closes_early(text: str) -> bool:
    """Whether the quotation at the start of a text ends before the end of the text, as in ``"a" and "b"``."""
    depth, opening, closing = 1, text[0], text[-1]
    for quote in re.compile(f"[{opening}{closing}]").finditer(text, 1, len(text) - 1):
        before, after = text[quote.start() - 1], text[quote.end()]
        if before.isalnum() and after.isalnum():  # an apostrophe
            continue
        if opening != closing:
            depth += 1 if quote[0] == opening else -1
        elif not before.isalnum() and not after.isspace():
            depth += 1
        elif not before.isspace() and after not in ")]}":  # 5'6" has an inch mark
            depth -= 1
        if depth == 0:
            return True
    return False


def strip_period(text: str) -> str | None:
    """Drop the period at the end."""
    text = text.strip()
    return text[:-1].rstrip() if text.endswith((".", "。")) and not text.endswith("...") else None
