"""Finds what looks wrong with a file that can be scored: a table of signs, each with its advice.

A hint never changes a score. It says that the score seems to depend on how a file is written, and not on how well the
questions are answered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, pairwise, repeat
from typing import NamedTuple

from anls_metric.analysis.scored import Scored
from anls_metric.core.rows import describe
from anls_metric.core.variants import Scorer, Variant, get_variant
from anls_metric.reading import remedies
from anls_metric.reading.extract import EXTRACTORS, Extractor, extractor
from anls_metric.reading.references import parse_references
from anls_metric.reading.remedies import Door, Remedy
from anls_metric.reading.values import parse_value_or_text


class Hint(NamedTuple):
    """A reason to doubt a score, and what to do about it. As a string it has the words of Python.

    Attributes:
        key: the key of the sign, or of what else the hint is about.
        text: what looks wrong, and with how many predictions.
        remedy: what to do: a row of `remedies`, or a sentence where every door says the same; "" for nothing.
        value: what the remedy names, such as rules or a separator; "" where it names nothing.

    Example:
        >>> hint = Hint("wrapped", "9 of 10 predictions look wrapped", remedies.EXTRACT, "think,final")
        >>> print(hint)
        9 of 10 predictions look wrapped: take the answers out with extract="think,final"
        >>> hint.format_for("command")
        '9 of 10 predictions look wrapped: take the answers out with --extract think,final'
    """

    key: str
    text: str
    remedy: Remedy | str = ""
    value: str = ""

    def format_for(self, door: Door) -> str:
        """The hint, with the remedy in the words of a door."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy.format_for(door, self.value)
        return ": ".join(filter(None, [self.text, remedy]))

    def __str__(self) -> str:
        return self.format_for("python")


class Hints:
    """Collects hints about scored rows that come in batches. It keeps only counts.

    To save time it looks at the first 16,384 rows, and then at every eighth piece of 1,024 rows; a hint says so.

    Args:
        scorer: the scorer of the rows: the name of a variant, or any `Scorer`.
        extract: the rules that extracted the predictions, as `extractor` takes them.

    Example:
        >>> from anls_metric.analysis.scored import ScoredSet
        >>> from anls_metric.reading.join import Row
        >>> hints = Hints()
        >>> hints.add(ScoredSet().add([Row("7", "<think>A logo.</think>Coca Cola", ["Coca Cola"], {})]))
        >>> [(hint.text, hint.value) for hint in hints.conclude()]
        [('1 of 1 predictions look wrapped', 'think')]
    """

    def __init__(self, scorer: str | Scorer = "standard", extract: str = "") -> None:
        self._scorer = get_variant(scorer) if isinstance(scorer, str) else scorer
        self._signs = SIGNS if isinstance(self._scorer, Variant) else VALUE_SIGNS
        self._extract = extract
        self._rows = self._pieces = self._looked_at = 0
        self._last: Sequence[Scored] = ()
        self._seen: dict[str, Counter[str]] = {sign.key: Counter() for sign in self._signs}

    def add(self, scored: Sequence[Scored]) -> None:
        """Look at a batch. Rows without a prediction do not count."""
        for start in range(0, len(scored), _PIECE):
            piece = scored[start : start + _PIECE]
            if self._rows < _ALL or self._pieces % _STEP == 0:
                self._look(Batch(piece, self._last, self._scorer))
            self._rows += len(piece)
            self._pieces += 1
            self._last = piece[-1:]

    def _look(self, batch: Batch) -> None:
        self._looked_at += batch.count
        for sign in self._signs if batch.wrong else ():
            seen = self._seen[sign.key]
            seen.update(sign.find(batch))
            if len(seen) > _MOST_VALUES:
                self._seen[sign.key] = Counter(dict(seen.most_common(_MOST_VALUES // 2)))

    def conclude(self) -> list[Hint]:
        """Return a hint for each sign that enough predictions show, in the order of the table."""
        return [hint for sign in self._signs if (hint := self._make_hint(sign, self._seen[sign.key]))]

    def _make_hint(self, sign: Sign, seen: Counter[str]) -> Hint | None:
        value, count = sign.choose(seen) if seen else ("", 0)
        if count < max(sign.least, sign.share * self._looked_at):
            return None
        if sign.remedy == remedies.EXTRACT and self._extract:
            value = f"{self._extract},{value}"
        total = f"{self._looked_at:,} sampled" if self._rows > _ALL else f"{self._looked_at:,}"
        return Hint(sign.key, sign.text.format(count=f"{count:,}", total=total, value=value), sign.remedy, value)


_PIECE = 1024  # rows that are looked at together
_ALL = 16_384  # rows that are all looked at
_STEP = 8  # of the following pieces, every eighth is looked at
_SHARE = 0.2  # the smallest share of the predictions that makes a hint
_MOST_VALUES = 200  # values that are counted for each sign; rare ones are dropped first


def _choose_commonest(seen: Counter[str]) -> tuple[str, int]:
    return seen.most_common(1)[0]


class Sign(NamedTuple):
    """A row of `SIGNS` or `VALUE_SIGNS`.

    Attributes:
        key: the name of the sign.
        find: finds the predictions of a batch that show the sign, and gives for each the value that the remedy names:
            rules, a separator, or "".
        text: the words of the hint, with {count}, {total} and {value}.
        remedy: what to do: a row of `remedies`, or a sentence.
        share: the smallest share of the predictions that makes a hint.
        least: the smallest number of predictions that makes a hint: more than one where chance also gives the sign.
        choose: chooses the value that the hint names from all counted values, and says how many predictions it fits.
    """

    key: str
    find: Callable[[Batch], Iterable[str]]
    text: str
    remedy: Remedy | str
    share: float = _SHARE
    least: int = 1
    choose: Callable[[Counter[str]], tuple[str, int]] = _choose_commonest


class Batch:
    """Scored rows, and the texts of all wrong ones as one text, which is searched faster than each of them.

    Args:
        scored: consecutive rows.
        before: the row before them, if there is one.
        scorer: the scorer of the rows.

    Attributes:
        count: how many rows have a prediction.
        wrong: the rows that score less than 1, each with its prediction.
        predictions: the predictions of the wrong rows.
        accepted: their accepted answers.
    """

    def __init__(self, scored: Sequence[Scored], before: Sequence[Scored], scorer: Scorer) -> None:
        self.scored, self.before, self.scorer = scored, before, scorer
        low = [answer for answer in scored if answer.score < 1.0]
        self.wrong = [(answer.row.prediction, answer) for answer in low if answer.row.prediction is not None]
        self.predictions = [prediction for prediction, _ in self.wrong]
        self.accepted = [answer.row.references for _, answer in self.wrong]
        self.count = len(scored) - len(low) + len(self.wrong)

    @cached_property
    def rules(self) -> dict[int, str]:
        """The rules that extract the answer of a wrong row, by its place."""
        return dict(_find_rules_of_rows(self))

    @cached_property
    def bare(self) -> list[tuple[str, Scored]]:
        """The wrong rows from which no rules extract an answer."""
        if not self.rules:
            return self.wrong
        return [row for place, row in enumerate(self.wrong) if place not in self.rules]

    @cached_property
    def text(self) -> str:
        """The predictions of the wrong rows as one text."""
        return "\0".join(self.predictions)

    @cached_property
    def references(self) -> str:
        """The accepted answers of the wrong rows as one text."""
        return "\0".join(chain.from_iterable(self.accepted))

    def find_places(self, rule: Extractor) -> list[int]:
        """The places of the wrong rows in which a rule finds something."""
        marks = [mark for mark in rule.marks if mark in self.text]
        places = {place for mark in marks for place, text in enumerate(self.predictions) if mark in text}
        return [place for place in places if rule.extract(self.predictions[place]) is not None]

    def score(self, prediction: str, references: Sequence[str]) -> float:
        """Score another prediction, or other accepted answers."""
        (score,) = self.scorer.score([prediction], [references])
        return score

    def is_better(self, prediction: str, references: Sequence[str], score: float) -> bool:
        """Whether other texts score more than this, and at least 0.5."""
        return score < self.score(prediction, references) >= 0.5


# Wrapped predictions

# The rules that are tried; Donut has its own tag.
_RULES = (*extractor("tag:s_answer").rules, *EXTRACTORS.values())


def _find_wrapped(batch: Batch) -> Iterable[str]:
    return batch.rules.values()


def _find_rules_of_rows(batch: Batch) -> Iterator[tuple[int, str]]:
    places = sorted({place for rule in (*_RULES, _OBJECT) for place in batch.find_places(rule)})
    for place in places:
        if names := _find_rules(*batch.wrong[place], batch):
            yield place, ",".join(names)


def _find_rules(prediction: str, scored: Scored, batch: Batch) -> list[str]:
    """Find the rules that extract the answer from a prediction, in the order in which they do."""
    answer, names, references = prediction, [], scored.row.references

    def extract(rule: Extractor) -> str | None:
        content = rule.find(answer)
        if content is None or any(rule.find(reference) is not None for reference in references):
            return None
        certain = rule.certain or batch.is_better(content, references, batch.score(answer, references))
        return content if certain else None

    rest = [*_RULES, *_make_field_rules(prediction)]
    while step := next(((rule, content) for rule in rest if (content := extract(rule)) is not None), None):
        rest.remove(step[0])
        names.append(step[0].name)
        answer = step[1]
    is_answer = names and answer and not re.search(_ROLE, answer) and batch.score(answer, references) >= scored.score
    return names if is_answer else []


_FIELD = r'"([^",:\\]{1,40})"\s{0,9}:'
_MOST_FIELDS = 20


def _find_first_field(text: str) -> str | None:
    field = re.search(_FIELD, text)
    return field and field[1]


# An object whose answer may be any of its fields.
_OBJECT = Extractor("object", "its first field", _find_first_field, marks=("{",))


def _make_field_rules(text: str) -> list[Extractor]:
    names = list(dict.fromkeys(re.findall(_FIELD, text)))[:_MOST_FIELDS] if _OBJECT.find(text) else []
    return [rule._replace(certain=False) for name in names for rule in extractor(f"json:{name}").rules]


def _find_unfinished(batch: Batch) -> Iterator[str]:
    think = EXTRACTORS["think"]
    return ("" for place in batch.find_places(think) if think.find(batch.predictions[place]) == "")


def _choose_smallest_chain(seen: Counter[str]) -> tuple[str, int]:
    """Choose the rules that extract the most answers; of several such chains, the shortest."""
    uses: Counter[str] = Counter()
    for names, count in seen.items():
        uses.update(dict.fromkeys(names.split(","), count))
    needed = sorted((name for name in uses if uses[name] >= _SHARE * max(uses.values())), key=_place_of)
    chains: Counter[str] = Counter()
    for names, count in seen.items():
        chains[",".join(name for name in names.split(",") if name in needed)] += count
    del chains[""]

    def count_answers(names: str) -> int:
        return sum(count for part, count in chains.items() if _is_part(part.split(","), names.split(",")))

    best = max([*chains, ",".join(needed)], key=lambda names: (count_answers(names), -len(names.split(","))))
    return best, count_answers(best)


def _place_of(name: str) -> tuple[int, str]:
    return list(EXTRACTORS).index(name.partition(":")[0]), name


def _is_part(part: Iterable[str], names: Iterable[str]) -> bool:
    rest = iter(names)
    return all(name in rest for name in part)


# Lists that are written as texts

# A separator -> whether it certainly separates answers; otherwise one of the parts must fit the prediction.
_SEPARATORS = {"||": True, " | ": True, "|": True, ";": False, "\n": False}


def _find_joined(batch: Batch) -> Iterator[str]:
    separators = [separator for separator in _SEPARATORS if separator in batch.references]
    for prediction, answer in batch.wrong if separators else ():
        if len(answer.row.references) == 1:
            for separator in separators:
                parts = [part for part in answer.row.references[0].split(separator) if part.strip()]
                if len(parts) > 1 and (_SEPARATORS[separator] or batch.is_better(prediction, parts, answer.score)):
                    yield separator
                    break


def _find_characters(batch: Batch) -> Iterator[str]:
    for accepted in batch.accepted:
        if len(accepted) > 3 and set(map(len, accepted)) == {1}:
            yield ""


_PRINTED = r"""(?:frozenset|set|array|tensor|np\.str_)\(|b['"]|[\[(]?\{\s*['"]\w+['"]\s*:|\{[^{}:'",]+,[^{}:'"]+\}$"""
_BRACKETS = ("[", "{", "(", "b'", 'b"')


def _is_printed(text: str) -> bool:
    """Whether a text is the printed form of a list, a set, a dictionary, an array or bytes."""
    text = text.strip()
    if not text.endswith(("]", "}", ")", "'", '"')):
        return False
    try:
        return bool(re.match(_PRINTED, text)) or list(parse_references(text, "text")) != [text]
    except ValueError:
        return True


def _find_printed_references(batch: Batch) -> Iterator[str]:
    if any(bracket in batch.references for bracket in _BRACKETS):
        for accepted in batch.accepted:
            if len(accepted) == 1 and _is_printed(accepted[0]):
                yield ""


def _find_printed_predictions(batch: Batch) -> Iterator[str]:
    if any(bracket in batch.text for bracket in _BRACKETS):
        for prediction, answer in batch.bare:
            if _is_printed(prediction) and not any(map(_is_printed, answer.row.references)):
                yield ""


# The same text in another spelling


def _find_respelled(normalize: Callable[[str], str], batch: Batch) -> Iterator[str]:
    """Find the predictions that score more once both sides are normalized."""
    if normalize(batch.text) == batch.text and normalize(batch.references) == batch.references:
        return
    for prediction, answer in batch.bare:
        before = [prediction, *answer.row.references]
        after = list(map(normalize, before))
        if after != before and batch.is_better(after[0], after[1:], answer.score):
            yield ""


_INVISIBLE = "(?<!Ã)\u00ad|[\u200b-\u200f\u2060-\u2064\ufeff]"
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
_ESCAPED = r"\\u([0-9a-fA-F]{4})"
_BLANK_TOKEN = "[Ġ▁]"


def _compose(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _remove_invisible(text: str) -> str:
    return text if text.isascii() else re.sub(_INVISIBLE, "", text)


def _decode_utf_8(text: str) -> str:
    return text if text.isascii() else re.sub(_LATIN, _decode_match, text)


def _decode_match(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


def _unescape_entities(text: str) -> str:
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def _unescape(text: str) -> str:
    return re.sub(_ESCAPED, lambda match: chr(int(match[1], 16)), text) if r"\u" in text else text


def _remove_token_signs(text: str) -> str:
    return text if text.isascii() else re.sub(_BLANK_TOKEN, " ", text)


# Predictions that are no answers


def _find_empty(batch: Batch) -> list[str]:
    return ["" for prediction in batch.predictions if not prediction.strip()]


def _find_repeated(batch: Batch) -> Iterator[str]:
    often = 0.05 * batch.count
    if len(set(batch.predictions)) <= len(batch.predictions) - often + 1:
        for prediction, count in Counter(batch.predictions).items():
            if count >= often and prediction.strip():
                yield from repeat(describe(prediction).removesuffix(" (str)"), count)


_ROLES = ("ssistant", "SSISTANT", "[/INST]")
_ROLE = r"(?:\A|[\n>])[ ]?(?:[Aa]ssistant|ASSISTANT)[ ]?(?:[\n:]|<\|)|ASSISTANT:|\[/INST\]"


def _find_prompts(batch: Batch) -> Iterator[str]:
    roles = any(role in batch.text for role in _ROLES)
    for prediction, answer in batch.bare:
        question = answer.row.record.get("question")
        repeats = (
            type(question) is str and 0 < len(question) <= len(prediction) and prediction.lstrip().startswith(question)
        )
        if repeats or (roles and re.search(_ROLE, prediction)):
            yield ""


def _find_first_characters(batch: Batch) -> Iterator[str]:
    for prediction, answer in batch.wrong:
        if len(prediction) == 1 and any(reference.startswith(prediction) for reference in answer.row.references):
            yield ""


def _find_shifted(batch: Batch) -> Iterator[str]:
    if 2 * len(batch.wrong) > batch.count:
        for first, second in pairwise([*batch.before, *batch.scored]):
            if second.score == 0.0 and second.row.prediction and second.row.prediction in first.row.references:
                yield "before"
            if first.score == 0.0 and first.row.prediction and first.row.prediction in second.row.references:
                yield "after"


def _choose_one_way(seen: Counter[str]) -> tuple[str, int]:
    """Choose the direction only if it is clear: neighbours with the same answer look shifted in both directions."""
    (value, count), *others = seen.most_common()
    return value, count if count > 3 * sum(other for _, other in others) else 0


# Lists and nested values

_VALUE_IN = extractor("json", values=True)


def _find_texts_for_values(batch: Batch) -> Iterator[str]:
    """Find the predictions that are texts although a list or an object is accepted."""
    for prediction, scored in batch.wrong:
        if isinstance(prediction, str) and any(isinstance(value, (list, dict)) for value in scored.row.references):
            yield prediction


def _is_value(text: str) -> bool:
    """Whether a text contains a list or an object."""
    return not isinstance(parse_value_or_text(_VALUE_IN(text)), str)


def _find_wrapped_values(batch: Batch) -> Iterator[str]:
    return ("think,json" if "</think>" in text else "json" for text in _find_texts_for_values(batch) if _is_value(text))


def _find_broken_values(batch: Batch) -> Iterator[str]:
    return ("" for text in _find_texts_for_values(batch) if ("{" in text or "[" in text) and not _is_value(text))


def _find_empty_values(batch: Batch) -> list[str]:
    return ["" for prediction in batch.predictions if prediction in ("", [], {})]


def _find_filled_keys(batch: Batch) -> Iterator[str]:
    for prediction, scored in batch.wrong:
        if isinstance(prediction, dict) and all(isinstance(value, dict) for value in scored.row.references):
            known = {key for value in scored.row.references for key in value}
            if any(value is None and key not in known for key, value in prediction.items()):
                yield ""


def _choose_longest_chain(seen: Counter[str]) -> tuple[str, int]:
    """Choose the longest chain of rules, which also works where a shorter one is enough."""
    return max(seen, key=len), seen.total()


VALUE_SIGNS = (
    Sign(
        "wrapped",
        _find_wrapped_values,
        "{count} of {total} predictions are texts around a list or an object",
        remedies.EXTRACT,
        choose=_choose_longest_chain,
    ),
    Sign(
        "broken",
        _find_broken_values,
        "{count} of {total} predictions begin a list or an object and are no JSON",
        "let the model write more",
    ),
    Sign(
        "empty values",
        _find_empty_values,
        "{count} of {total} predictions are empty",
        remedies.ANOTHER_PREDICTION_FIELD,
    ),
    Sign(
        "filled keys",
        _find_filled_keys,
        "{count} of {total} predictions have keys without a value that are not asked for",
        remedies.NONE_KEYS,
    ),
)

SIGNS = (
    Sign(
        "wrapped",
        _find_wrapped,
        "{count} of {total} predictions look wrapped",
        remedies.EXTRACT,
        choose=_choose_smallest_chain,
    ),
    Sign(
        "unfinished",
        _find_unfinished,
        "{count} of {total} predictions hold reasoning without an answer after it",
        "let the model write more",
    ),
    Sign(
        "printed predictions",
        _find_printed_predictions,
        "{count} of {total} predictions look like the printed form of a list or a dictionary",
        "write the text that it holds",
    ),
    Sign(
        "prompt",
        _find_prompts,
        "{count} of {total} predictions hold the prompt, or roles of a conversation",
        "keep what the model wrote after them",
    ),
    Sign(
        "joined",
        _find_joined,
        "{count} of {total} accepted answers look like several in one text",
        remedies.REFERENCES_SEPARATOR,
    ),
    Sign(
        "printed references",
        _find_printed_references,
        "{count} of {total} accepted answers look like the printed form of a list",
        "write a list of texts",
    ),
    Sign(
        "characters",
        _find_characters,
        "{count} of {total} lists of accepted answers hold single characters, as of a text that was taken for a list",
        "write a list of texts",
    ),
    Sign(
        "accents",
        partial(_find_respelled, _compose),
        "{count} of {total} predictions score less because one side writes accents decomposed, the other one does not",
        'write both sides alike, as unicodedata.normalize("NFC", text) does',
        share=0.0,
    ),
    Sign(
        "invisible",
        partial(_find_respelled, _remove_invisible),
        "{count} of {total} predictions score less because of characters that nobody sees (U+200B, U+FEFF, U+00AD)",
        "leave them out on both sides",
        share=0.0,
    ),
    Sign(
        "encoding",
        partial(_find_respelled, _decode_utf_8),
        "{count} of {total} predictions score less because UTF-8 was read as another encoding (Ã© for é)",
        "read the file that they come from as UTF-8",
        share=0.0,
    ),
    Sign(
        "entities",
        partial(_find_respelled, _unescape_entities),
        "{count} of {total} predictions score less because of entities of HTML (&amp; for &)",
        "write what they stand for, as html.unescape does",
        share=0.0,
    ),
    Sign(
        "escapes",
        partial(_find_respelled, _unescape),
        r"{count} of {total} predictions score less because of escaped characters (\u00e9 for é)",
        "write what they stand for, as json.loads does",
        share=0.0,
    ),
    Sign(
        "tokens",
        partial(_find_respelled, _remove_token_signs),
        "{count} of {total} predictions score less because a tokenizer's signs stand for blanks (Ġ or ▁)",
        "let the tokenizer decode what the model generated",
        share=0.0,
    ),
    Sign(
        "empty",
        _find_empty,
        "{count} of {total} predictions are empty",
        remedies.ANOTHER_PREDICTION_FIELD,
        share=0.9,
    ),
    Sign(
        "repeated",
        _find_repeated,
        "{count} of {total} predictions are wrong and the same, {value}",
        "look at what wrote them: an error or a missing answer may pass for an answer there",
        least=10,
    ),
    Sign(
        "first character",
        _find_first_characters,
        "{count} of {total} predictions are the first character of an accepted answer",
        "look whether a text was taken for a list, as in text[0]",
        least=10,
    ),
    Sign(
        "shifted",
        _find_shifted,
        "{count} of {total} predictions are an accepted answer of the question right {value} theirs",
        "look whether predictions and questions are in the same order",
        least=10,
        choose=_choose_one_way,
    ),
)
