"""What looks wrong with a file although it can be scored: a table of signs, each with its advice.

A hint never changes a number. It comes where the number seems to be about how a file is written, and not about how well
its questions were answered.
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
from anls_metric.reading.values import value_or_text


class Hint(NamedTuple):
    """What to know of a number before believing it, and what to do. As a string it has the words of Python.

    Attributes:
        key: which row of the table of signs it comes from, or what else it is about.
        text: what looks wrong, and with how many predictions.
        remedy: what to do: a row of `remedies`, or a sentence where every door says the same; "" for nothing.
        value: what is named in the remedy: rules, a separator; "" where nothing is.

    Example:
        >>> hint = Hint("wrapped", "9 of 10 predictions look wrapped", remedies.EXTRACT, "think,final")
        >>> print(hint)
        9 of 10 predictions look wrapped: take the answers out with extract="think,final"
        >>> hint.worded("command")
        '9 of 10 predictions look wrapped: take the answers out with --extract think,final'
    """

    key: str
    text: str
    remedy: Remedy | str = ""
    value: str = ""

    def worded(self, door: Door) -> str:
        """The hint, with the remedy in the words of a door."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy.worded(door, self.value)
        return ": ".join(filter(None, [self.text, remedy]))

    def __str__(self) -> str:
        return self.worded("python")


class Hints:
    """The hints about scored rows, which come batch by batch. It keeps counts alone.

    It costs little: it looks at the first 16,384 rows and at each eighth thousand of the others, and then says so.

    Args:
        scorer: what gave the scores: a name of a variant, or any `Scorer`.
        extract: the rules by which the answers were taken out before, as `extractor` takes them.

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
        """Look at a batch. Only predictions that score less than 1 need a look; rows without one do not count."""
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
            seen.update(sign.look(batch))
            if len(seen) > _MOST_VALUES:
                self._seen[sign.key] = Counter(dict(seen.most_common(_MOST_VALUES // 2)))

    def conclude(self) -> list[Hint]:
        """What looks wrong with all that was seen, each once, in the order of the table."""
        return [hint for sign in self._signs if (hint := self._hint(sign, self._seen[sign.key]))]

    def _hint(self, sign: Sign, seen: Counter[str]) -> Hint | None:
        value, count = sign.choose(seen) if seen else ("", 0)
        if count < max(sign.least, sign.share * self._looked_at):
            return None
        if sign.remedy == remedies.EXTRACT and self._extract:
            value = f"{self._extract},{value}"
        total = f"{self._looked_at:,} sampled" if self._rows > _ALL else f"{self._looked_at:,}"
        return Hint(sign.key, sign.text.format(count=f"{count:,}", total=total, value=value), sign.remedy, value)


# How many rows are looked at together, how many in any case, and which piece of those that follow.
_PIECE, _ALL, _STEP = 1024, 16_384, 8
# From this share of the predictions on a hint is worth a line.
_SHARE = 0.2
# How many values of a sign are counted at a time; rare ones go first.
_MOST_VALUES = 200


def _commonest(seen: Counter[str]) -> tuple[str, int]:
    return seen.most_common(1)[0]


class Sign(NamedTuple):
    """A row of `SIGNS` or `VALUE_SIGNS`.

    Attributes:
        key: what it is called.
        look: the predictions of a batch that show it, each as what the remedy is to name: rules, a separator, or "".
        text: what it looks like, with {count}, {total} and {value}.
        remedy: what to do: a row of `remedies`, or a sentence.
        share: from which share of the predictions on it is said ...
        least: ... and from how many on: a sign that chance gives too wants more than one.
        choose: of all that was seen the value to name, and how many predictions it holds for.
    """

    key: str
    look: Callable[[Batch], Iterable[str]]
    text: str
    remedy: Remedy | str
    share: float = _SHARE
    least: int = 1
    choose: Callable[[Counter[str]], tuple[str, int]] = _commonest


class Batch:
    """Scored rows of which those are at hand that need a look, and their texts as one, to look at all at once.

    Args:
        scored: rows that follow each other.
        before: the row before them, where there is one.
        scorer: what gave the scores.

    Attributes:
        count: how many of them have a prediction.
        wrong: those that score less than 1, each with its prediction.
        predictions: the predictions of these.
        accepted: their accepted answers.
    """

    def __init__(self, scored: Sequence[Scored], before: Sequence[Scored], scorer: Scorer) -> None:
        self.scored, self.before, self.scorer = scored, before, scorer
        low = [one for one in scored if one.score < 1.0]
        predictions = [one.row.prediction for one in low]
        self.wrong = [(text, one) for text, one in zip(predictions, low) if text is not None]
        self.predictions = [text for text in predictions if text is not None]
        self.accepted = [one.row.references for _, one in self.wrong]
        self.count = len(scored) - len(low) + len(self.wrong)

    @cached_property
    def wrapped(self) -> dict[int, str]:
        """The rules that take the answer out of a wrong row, by its place."""
        return dict(_wrapped_rows(self))

    @cached_property
    def bare(self) -> list[tuple[str, Scored]]:
        """The wrong rows that no rules take an answer out of."""
        if not self.wrapped:
            return self.wrong
        return [row for place, row in enumerate(self.wrong) if place not in self.wrapped]

    @cached_property
    def text(self) -> str:
        """The predictions of the wrong rows as one text."""
        return "\0".join(self.predictions)

    @cached_property
    def references(self) -> str:
        """Their accepted answers as one text."""
        return "\0".join(chain.from_iterable(self.accepted))

    def found_by(self, rule: Extractor) -> list[int]:
        """The places of the wrong rows in which a rule finds something."""
        marks = [mark for mark in rule.marks if mark in self.text]
        places = {place for mark in marks for place, text in enumerate(self.predictions) if mark in text}
        return [place for place in places if rule.extract(self.predictions[place]) is not None]

    def score(self, prediction: str, references: Sequence[str]) -> float:
        """What the variant gives other texts."""
        (score,) = self.scorer.score([prediction], [references])
        return score

    def is_better(self, prediction: str, references: Sequence[str], score: float) -> bool:
        """Whether other texts are what was meant: they score more than this, and not just a trifle."""
        return score < self.score(prediction, references) >= 0.5


# Wrapped predictions

# The rules that are tried; Donut has a tag of its own.
_RULES = (*extractor("tag:s_answer").rules, *EXTRACTORS.values())


def _wrapped(batch: Batch) -> Iterable[str]:
    return batch.wrapped.values()


def _wrapped_rows(batch: Batch) -> Iterator[tuple[int, str]]:
    places = sorted({place for rule in (*_RULES, _OBJECT) for place in batch.found_by(rule)})
    for place in places:
        if names := _rules_for(*batch.wrong[place], batch):
            yield place, ",".join(names)


def _rules_for(prediction: str, one: Scored, batch: Batch) -> list[str]:
    """The rules that take the answer out of a prediction, in the order in which they do."""
    answer, names, references = prediction, [], one.row.references

    def take_out(rule: Extractor) -> str | None:
        found = rule.find(answer)
        if found is None or any(rule.find(reference) is not None for reference in references):
            return None
        certain = rule.certain or batch.is_better(found, references, batch.score(answer, references))
        return found if certain else None

    rest = [*_RULES, *_field_rules(prediction)]
    while step := next(((rule, found) for rule in rest if (found := take_out(rule)) is not None), None):
        rest.remove(step[0])
        names.append(step[0].name)
        answer = step[1]
    taken_out = names and answer and not re.search(_ROLE, answer) and batch.score(answer, references) >= one.score
    return names if taken_out else []


_FIELD = r'"([^",:\\]{1,40})"\s{0,9}:'
_MOST_FIELDS = 20


def _first_field(text: str) -> str | None:
    field = re.search(_FIELD, text)
    return field and field[1]


# An object whose answer may have any name.
_OBJECT = Extractor("object", "its first field", _first_field, marks=("{",))


def _field_rules(text: str) -> list[Extractor]:
    names = list(dict.fromkeys(re.findall(_FIELD, text)))[:_MOST_FIELDS] if _OBJECT.find(text) else []
    return [rule._replace(certain=False) for name in names for rule in extractor(f"json:{name}").rules]


def _unfinished(batch: Batch) -> Iterator[str]:
    think = EXTRACTORS["think"]
    return ("" for place in batch.found_by(think) if think.find(batch.predictions[place]) == "")


def _smallest_chain(seen: Counter[str]) -> tuple[str, int]:
    """The rules that many of the wrapped predictions need, in the order in which most of them do."""
    uses: Counter[str] = Counter()
    for names, count in seen.items():
        uses.update(dict.fromkeys(names.split(","), count))
    needed = sorted((name for name in uses if uses[name] >= _SHARE * max(uses.values())), key=_place)
    chains: Counter[str] = Counter()
    for names, count in seen.items():
        chains[",".join(name for name in names.split(",") if name in needed)] += count
    del chains[""]

    def covered(names: str) -> int:
        return sum(count for part, count in chains.items() if _is_part(part.split(","), names.split(",")))

    best = max([*chains, ",".join(needed)], key=lambda names: (covered(names), -len(names.split(","))))
    return best, covered(best)


def _place(name: str) -> tuple[int, str]:
    return list(EXTRACTORS).index(name.partition(":")[0]), name


def _is_part(part: Iterable[str], names: Iterable[str]) -> bool:
    rest = iter(names)
    return all(name in rest for name in part)


# Lists that are not written as lists

# Whether a text that it stands in is certainly several answers; else the parts must explain the prediction.
_SEPARATORS = {"||": True, " | ": True, "|": True, ";": False, "\n": False}


def _joined(batch: Batch) -> Iterator[str]:
    separators = [separator for separator in _SEPARATORS if separator in batch.references]
    for prediction, one in batch.wrong if separators else ():
        if len(one.row.references) == 1:
            for separator in separators:
                parts = [part for part in one.row.references[0].split(separator) if part.strip()]
                if len(parts) > 1 and (_SEPARATORS[separator] or batch.is_better(prediction, parts, one.score)):
                    yield separator
                    break


def _characters(batch: Batch) -> Iterator[str]:
    for accepted in batch.accepted:
        if len(accepted) > 3 and set(map(len, accepted)) == {1}:
            yield ""


_PRINTED = r"""(?:frozenset|set|array|tensor|np\.str_)\(|b['"]|[\[(]?\{\s*['"]\w+['"]\s*:|\{[^{}:'",]+,[^{}:'"]+\}$"""
_BRACKETS = ("[", "{", "(", "b'", 'b"')


def _is_printed(text: str) -> bool:
    """Whether a text is how a program prints a list, a set, a dictionary, an array or bytes."""
    text = text.strip()
    if not text.endswith(("]", "}", ")", "'", '"')):
        return False
    try:
        return bool(re.match(_PRINTED, text)) or list(parse_references(text, "text")) != [text]
    except ValueError:
        return True


def _printed_references(batch: Batch) -> Iterator[str]:
    if any(bracket in batch.references for bracket in _BRACKETS):
        for accepted in batch.accepted:
            if len(accepted) == 1 and _is_printed(accepted[0]):
                yield ""


def _printed_predictions(batch: Batch) -> Iterator[str]:
    if any(bracket in batch.text for bracket in _BRACKETS):
        for prediction, one in batch.bare:
            if _is_printed(prediction) and not any(map(_is_printed, one.row.references)):
                yield ""


# The same text, written otherwise


def _respelled(plain: Callable[[str], str], batch: Batch) -> Iterator[str]:
    """The predictions that score more once both sides are written plainly."""
    if plain(batch.text) == batch.text and plain(batch.references) == batch.references:
        return
    for prediction, one in batch.bare:
        before = [prediction, *one.row.references]
        after = list(map(plain, before))
        if after != before and batch.is_better(after[0], after[1:], one.score):
            yield ""


_INVISIBLE = "(?<!Ã)\u00ad|[\u200b-\u200f\u2060-\u2064\ufeff]"
_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
_ESCAPED = r"\\u([0-9a-fA-F]{4})"
_BLANK_TOKEN = "[Ġ▁]"


def _composed(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _visible(text: str) -> str:
    return text if text.isascii() else re.sub(_INVISIBLE, "", text)


def _read_as_utf_8(text: str) -> str:
    return text if text.isascii() else re.sub(_LATIN, _decoded, text)


def _decoded(found: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return found[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return found[0]


def _without_entities(text: str) -> str:
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def _unescaped(text: str) -> str:
    return re.sub(_ESCAPED, lambda found: chr(int(found[1], 16)), text) if r"\u" in text else text


def _untokenized(text: str) -> str:
    return text if text.isascii() else re.sub(_BLANK_TOKEN, " ", text)


# Predictions that are something else


def _empty(batch: Batch) -> list[str]:
    return ["" for prediction in batch.predictions if not prediction.strip()]


def _repeated(batch: Batch) -> Iterator[str]:
    often = 0.05 * batch.count
    if len(set(batch.predictions)) <= len(batch.predictions) - often + 1:
        for prediction, count in Counter(batch.predictions).items():
            if count >= often and prediction.strip():
                yield from repeat(describe(prediction).removesuffix(" (str)"), count)


_ROLES = ("ssistant", "SSISTANT", "[/INST]")
_ROLE = r"(?:\A|[\n>])[ ]?(?:[Aa]ssistant|ASSISTANT)[ ]?(?:[\n:]|<\|)|ASSISTANT:|\[/INST\]"


def _prompt(batch: Batch) -> Iterator[str]:
    roles = any(role in batch.text for role in _ROLES)
    for prediction, one in batch.bare:
        question = one.row.record.get("question")
        repeats = (
            type(question) is str and 0 < len(question) <= len(prediction) and prediction.lstrip().startswith(question)
        )
        if repeats or (roles and re.search(_ROLE, prediction)):
            yield ""


def _first_character(batch: Batch) -> Iterator[str]:
    for prediction, one in batch.wrong:
        if len(prediction) == 1 and any(reference.startswith(prediction) for reference in one.row.references):
            yield ""


def _shifted(batch: Batch) -> Iterator[str]:
    if 2 * len(batch.wrong) > batch.count:
        for first, second in pairwise([*batch.before, *batch.scored]):
            if second.score == 0.0 and second.row.prediction and second.row.prediction in first.row.references:
                yield "before"
            if first.score == 0.0 and first.row.prediction and first.row.prediction in second.row.references:
                yield "after"


def _one_way(seen: Counter[str]) -> tuple[str, int]:
    """Neighbours that share an answer do so both ways."""
    (value, count), *others = seen.most_common()
    return value, count if count > 3 * sum(other for _, other in others) else 0


# Lists and nested values

_VALUE_IN = extractor("json", values=True)


def _texts_for_values(batch: Batch) -> Iterator[str]:
    """The predictions that are texts where a list or an object is accepted."""
    for prediction, scored in batch.wrong:
        if isinstance(prediction, str) and any(isinstance(value, (list, dict)) for value in scored.row.references):
            yield prediction


def _is_value(text: str) -> bool:
    """Whether a list or an object stands in a text."""
    return not isinstance(value_or_text(_VALUE_IN(text)), str)


def _wrapped_values(batch: Batch) -> Iterator[str]:
    return ("think,json" if "</think>" in text else "json" for text in _texts_for_values(batch) if _is_value(text))


def _broken_values(batch: Batch) -> Iterator[str]:
    return ("" for text in _texts_for_values(batch) if ("{" in text or "[" in text) and not _is_value(text))


def _empty_values(batch: Batch) -> list[str]:
    return ["" for prediction in batch.predictions if prediction in ("", [], {})]


def _filled_keys(batch: Batch) -> Iterator[str]:
    for prediction, scored in batch.wrong:
        if isinstance(prediction, dict) and all(isinstance(value, dict) for value in scored.row.references):
            known = {key for value in scored.row.references for key in value}
            if any(value is None and key not in known for key, value in prediction.items()):
                yield ""


def _all_rules(seen: Counter[str]) -> tuple[str, int]:
    """The longest chain of rules, which does no harm where a shorter one is enough."""
    return max(seen, key=len), seen.total()


VALUE_SIGNS = (
    Sign(
        "wrapped",
        _wrapped_values,
        "{count} of {total} predictions are texts around a list or an object",
        remedies.EXTRACT,
        choose=_all_rules,
    ),
    Sign(
        "broken",
        _broken_values,
        "{count} of {total} predictions begin a list or an object and are no JSON",
        "let the model write more",
    ),
    Sign(
        "empty values",
        _empty_values,
        "{count} of {total} predictions are empty",
        remedies.ANOTHER_PREDICTION_FIELD,
    ),
    Sign(
        "filled keys",
        _filled_keys,
        "{count} of {total} predictions have keys without a value that are not asked for",
        remedies.NONE_KEYS,
    ),
)

SIGNS = (
    Sign(
        "wrapped",
        _wrapped,
        "{count} of {total} predictions look wrapped",
        remedies.EXTRACT,
        choose=_smallest_chain,
    ),
    Sign(
        "unfinished",
        _unfinished,
        "{count} of {total} predictions hold reasoning without an answer after it",
        "let the model write more",
    ),
    Sign(
        "printed predictions",
        _printed_predictions,
        "{count} of {total} predictions look like the printed form of a list or a dictionary",
        "write the text that it holds",
    ),
    Sign(
        "prompt",
        _prompt,
        "{count} of {total} predictions hold the prompt, or roles of a conversation",
        "keep what the model wrote after them",
    ),
    Sign(
        "joined",
        _joined,
        "{count} of {total} accepted answers look like several in one text",
        remedies.REFERENCES_SEPARATOR,
    ),
    Sign(
        "printed references",
        _printed_references,
        "{count} of {total} accepted answers look like the printed form of a list",
        "write a list of texts",
    ),
    Sign(
        "characters",
        _characters,
        "{count} of {total} lists of accepted answers hold single characters, as of a text that was taken for a list",
        "write a list of texts",
    ),
    Sign(
        "accents",
        partial(_respelled, _composed),
        "{count} of {total} predictions score less because one side writes accents decomposed, the other one does not",
        'write both sides alike, as unicodedata.normalize("NFC", text) does',
        share=0.0,
    ),
    Sign(
        "invisible",
        partial(_respelled, _visible),
        "{count} of {total} predictions score less because of characters that nobody sees (U+200B, U+FEFF, U+00AD)",
        "leave them out on both sides",
        share=0.0,
    ),
    Sign(
        "encoding",
        partial(_respelled, _read_as_utf_8),
        "{count} of {total} predictions score less because UTF-8 was read as another encoding (Ã© for é)",
        "read the file that they come from as UTF-8",
        share=0.0,
    ),
    Sign(
        "entities",
        partial(_respelled, _without_entities),
        "{count} of {total} predictions score less because of entities of HTML (&amp; for &)",
        "write what they stand for, as html.unescape does",
        share=0.0,
    ),
    Sign(
        "escapes",
        partial(_respelled, _unescaped),
        r"{count} of {total} predictions score less because of escaped characters (\u00e9 for é)",
        "write what they stand for, as json.loads does",
        share=0.0,
    ),
    Sign(
        "tokens",
        partial(_respelled, _untokenized),
        "{count} of {total} predictions score less because a tokenizer's signs stand for blanks (Ġ or ▁)",
        "let the tokenizer decode what the model generated",
        share=0.0,
    ),
    Sign(
        "empty",
        _empty,
        "{count} of {total} predictions are empty",
        remedies.ANOTHER_PREDICTION_FIELD,
        share=0.9,
    ),
    Sign(
        "repeated",
        _repeated,
        "{count} of {total} predictions are wrong and the same, {value}",
        "look at what wrote them: an error or a missing answer may pass for an answer there",
        least=10,
    ),
    Sign(
        "first character",
        _first_character,
        "{count} of {total} predictions are the first character of an accepted answer",
        "look whether a text was taken for a list, as in text[0]",
        least=10,
    ),
    Sign(
        "shifted",
        _shifted,
        "{count} of {total} predictions are an accepted answer of the question right {value} theirs",
        "look whether predictions and questions are in the same order",
        least=10,
        choose=_one_way,
    ),
)
