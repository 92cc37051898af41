"""Finds problems in files that can still be scored, and says what to do about them.

`transformations` finds what helps; the signs of this module are what no transformation shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

from anls_metric.analysis.extra_keys import find_extra_keys
from anls_metric.analysis.partial_credit import FORMAT_LOSS, find_partial_credit
from anls_metric.analysis.scored import MIN_GAIN, Scored, score_under
from anls_metric.analysis.transformations import SampledAnswer, find_transformations, score_after
from anls_metric.core.extraction.extract import EXTRACTORS
from anls_metric.core.json_strings import format_value
from anls_metric.core.strings.abstention import abstains, lacks_answer
from anls_metric.core.strings.metrics import contains_any
from anls_metric.messages import FrontEnd, Message
from anls_metric.reading.answers import list_references
from anls_metric.reading.values import LOST_FORMATTING

MAX_HINTS = 3
MIN_ANSWERS = 10  # fewer are alike by chance

NULLS = frozenset(["nan", "NaN", "None", "null", "NULL", "<NA>", "N/A", "n/a", "#N/A", "NaT", "undefined"])
"""The strings that programs write for missing values."""
_LOST = NULLS - {"None", "N/A", "n/a"}
"""Those of them that no document contains as an answer."""


@dataclass(frozen=True)
class Hint:
    """A reason to doubt a score. It never changes a score.

    Attributes:
        message: what looks wrong, and what to do.
        submission: the name of the submission; "" for all.
        extract: the extraction rules that it proposes, with those in use; () for none.
        anls: the score after the remedy; None if it is not known.
        cost: by how much the score of the set is too low; the most expensive hint is shown first. It is 1 if a file or
            a comparison is not what it seems.
        before: the score before the remedy, if the text shows both.
    """

    message: Message
    submission: str = ""
    extract: tuple[str, ...] = ()
    anls: float | None = None
    cost: float = 0.0
    before: float | None = None

    def text(self, front_end: FrontEnd = "python", form: Callable[[Any], str] = "{:.4f}".format) -> str:
        """Word the hint for a front end, and include the submission name. `form` formats scores."""
        text = self.message.text(front_end)
        if self.before is not None:
            text += f" ({form(self.before)} now, {form(self.anls)} then)"
        return f"{self.submission}: {text}" if self.submission else text


def find_hints(scored: Scored) -> list[Hint]:
    r"""Find at most three hints about the answers of a submission, those that cost the most points first.

    Example:
        >>> from anls_metric import score
        >>> scores = score(["<think>A logo.</think>Coca Cola", "Pepsi"], [["Coca Cola"], ["Pepsi"]])
        >>> (hint,) = find_hints(scores["data"])
        >>> print(hint.text("command").replace(": ", ":\n"))
        1 of 2 predictions look like raw model output:
        extract the answers with --extract think (0.5000 now, 1.0000 then)
    """
    answers = scored.answers
    rows = zip(answers.predictions, list_references(answers), scored.answer_scores)
    wrong = [SampledAnswer(*row) for row in rows if row[2] < 1.0 and row[0] is not None]
    hints = [*_find_transformations(scored, wrong), *_try_signs(SIGNS, scored, wrong)]
    if 4 * sum(hint.cost for hint in hints) < 1.0 - scored.anls:
        hints += _try_signs(LAST_SIGNS, scored, wrong)[:1]
    return sorted(hints, key=lambda hint: -hint.cost)[:MAX_HINTS]


def _say(scored: Scored, count: float, sentence: str, is_estimate: bool = False, **values: Any) -> Hint:
    """Make a hint about some answers. Its cost is their share."""
    total = len(scored.answers.predictions) - scored.answers.predictions.count(None)
    start = f"{'about ' * is_estimate}{{count:,}} of {{total:,}} "
    return Hint(Message("", start + sentence, {"count": round(count), "total": total, **values}), cost=count / total)


def _find_transformations(scored: Scored, wrong: Sequence[SampledAnswer]) -> Iterator[Hint]:
    """Find transformations that help if at least 1% of the answers score under 1; none under a benchmark metric."""
    if 100 * len(wrong) < len(scored.answer_scores) or scored.scorer.columns:
        return
    for row, gain, changed, count in find_transformations(scored, wrong):
        if row.name == "floats" and any(hint.sentence == LOST_FORMATTING for hint in scored.answers.hints):
            continue
        extract = (*(scored.settings.extract or ()), *row.value.split(",")) if row.name == "extract" else ()
        after, value = score_after(scored, row), ",".join(extract) or row.value
        hint = _say(scored, count, f"{row.sentence}: {row.remedy}", count > len(changed), value=value)
        yield replace(hint, extract=extract, before=scored.anls, anls=after, cost=gain)


# Signs: what no transformation shows. Each is a cheap count over all answers.


Found = tuple[int, str]
"""The number of answers that show a sign, and the value that its sentence names, "" for none."""


class Sign(NamedTuple):
    """A sign that something is wrong with the answers: a row of `SIGNS`.

    Attributes:
        find: counts the answers that show the sign, and finds the value that the sentence names; None for no sign.
        sentence: what is wrong after the number of answers, and what to do.
        of_strings: whether only strings show it, and not lists and nested values.
        least: the smallest number of answers that gives a hint: above 1 if the sign occurs by chance.
    """

    find: Callable[[Scored, Sequence[SampledAnswer]], Found | None]
    sentence: str
    of_strings: bool = False
    least: int = 1


def _try_signs(signs: Sequence[Sign], scored: Scored, wrong: Sequence[SampledAnswer]) -> list[Hint]:
    """Try signs, and make hints from those that enough answers show."""
    hints = []
    for sign in signs:
        fits = scored.scorer.scores_strings or not sign.of_strings
        found = sign.find(scored, wrong) if fits else None
        if found and found[0] >= sign.least:
            hints.append(_say(scored, found[0], sign.sentence, value=found[1]))
    return hints


def _find_unmarked(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find predictions that lack the string a benchmark's rule expects before the answer, if at least 10% do."""
    marker = getattr(scored.scorer, "marker", "")
    count = sum(marker not in str(case.prediction) for case in wrong)
    return (count, marker) if 10 * count >= len(scored.answer_scores) else None


def _find_empty(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find empty predictions, if there are more than good models have."""
    count = sum(str(case.prediction).strip() == "" for case in wrong)
    return (count, "") if _are_many(count, scored) else None


SOME = 0.02
"""A share of answers that good models hardly exceed: of 200, up to 2.5% have lost credit by their form."""


def _are_many(count: float, scored: Scored, share: float = 0.1) -> bool:
    """Whether these are more than a share of the answers, with a margin for chance."""
    total = len(scored.answer_scores)
    return count > share * total + 10 * share * sqrt(total)


def _find_other_forms(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find answers with the value of a reference in another form, if this costs more than good models lose."""
    places = find_partial_credit(scored)[FORMAT_LOSS]
    lost = [1.0 - scored.answer_scores[place] for place in places]
    if not _are_many(sum(lost), scored, SOME):
        return None
    place = places[lost.index(max(lost))]
    pair = scored.answers.predictions[place], list_references(scored.answers)[place][0]
    points = 100 * sum(lost) / len(scored.answer_scores)
    return len(places), " for ".join(map(_show, pair)) + f"; this costs {points:.1f} points"


def _find_failures(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find three words that many answers begin with, all of them wrong, as messages of failed requests do."""
    texts = scored.answers.predictions
    pairs = zip(texts, scored.answer_outcomes)
    failed = Counter(_begin(text) for text, outcome in pairs if outcome in ("other", "another number"))
    words, count = next(((words, count) for words, count in failed.most_common() if words.count(" ") > 1), ("", 0))
    are_all = _are_many(count, scored, SOME) and count == sum(_begin(text) == words for text in texts)
    return (count, _show(words)) if are_all else None


def _begin(text: Any) -> str:
    """The first three words of a text."""
    return " ".join(str(text).split(maxsplit=3)[:3])


def _find_copies(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find a set whose predictions all equal a reference.

    A good model may get all numbers and all letters of choices right, but it writes some words in its own way.
    """
    answers = scored.answers
    pairs = [] if wrong or answers.raw else list(zip(answers.predictions, list_references(answers)))
    words = {str(text) for text, _ in pairs if str(text).upper() != str(text).lower()}
    are_copied = len(words) >= MIN_ANSWERS and all(text is None or text in texts for text, texts in pairs)
    return (len(pairs), "") if are_copied else None


def _find_nulls(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found:
    """Find strings for missing values, unless a reference equals them except in case, or there is no answer."""
    nulls = [case for case in wrong if str(case.prediction) in NULLS]
    lost = [str(case.prediction) for case in nulls if not lacks_answer(case.references, {})]
    if lost:
        accepted = {str(text).lower() for texts in list_references(scored.answers) for text in texts}
        lost = [text for text in lost if text.lower() not in accepted]
    return len(lost), " or ".join(map(_show, sorted(set(lost))))


def _find_null_references(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found:
    """Find references that programs write for missing values, and that nobody writes into a document."""
    lost = [str(text) for case in wrong for text in case.references[:1] if {*map(str, case.references)} <= _LOST]
    return len(lost), " or ".join(map(_show, sorted(set(lost))))


def _find_cut_off(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found:
    return sum(isinstance(case.prediction, str) and _is_cut_off(case.prediction) for case in wrong), ""


_begins_object = re.compile(r"""\s*(?:```\w*\s*)?(?:\[\s*)?\{\s*["']""").match


def _is_cut_off(text: str) -> bool:
    """Whether a string begins an object that does not end, or reasoning that does not end."""
    if _begins_object(text):
        return text.count("{") > text.count("}") or text.count("[") > text.count("]")
    return EXTRACTORS["think"].find(text) == ""


def _find_moved(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find predictions that are references of other questions.

    Chance must not explain them: correct predictions, too, are accepted answers of these questions by chance, and an
    answer that many questions share says nothing.
    """
    zeros = [case for case in wrong if case.score == 0.0 and case.prediction]
    asked = {text for case in zeros for text in case.references}
    moved = [case.prediction for case in zeros if case.prediction in asked]
    if len(moved) < 0.3 * len(zeros) or 2 * len(set(moved)) < len(moved):
        return None
    right = [text for text, score in zip(scored.answers.predictions, scored.answer_scores) if score == 1.0]
    by_chance = sum(text in asked for text in right) / max(len(right), MIN_ANSWERS)
    return (len(moved), "") if len(moved) >= 3 * by_chance * len(zeros) else None


def _find_abstentions(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find answers that abstain in their own words, and score less than 1, where no answer is right."""
    found = [
        case.prediction
        for case in wrong
        if case.prediction.strip() and lacks_answer(case.references, {}) and abstains(case.prediction)
    ]
    return (len(found), _show(found[0])) if found else None


def _find_same(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find one wrong answer that is given again and again, and that would hardly ever be right in a random order."""
    [(text, count)] = Counter(case.prediction for case in wrong).most_common(1) or [("", 0)]
    if count < max(MIN_ANSWERS, 0.05 * len(scored.answer_scores)) or text in NULLS or abstains(text):
        return None
    references = (list(map(str.lower, texts)) for texts in list_references(scored.answers))
    accepted = sum(contains_any(text.lower(), texts) for texts in references)
    return (count, _show(text)) if 10 * accepted <= count else None


def _find_empty_keys(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find keys without a value that no reference has: the score is higher without them."""
    scorer: Any = scored.scorer
    cases = wrong if "none_keys" in scorer.options else ()
    count = sum(isinstance(case.prediction, dict) and None in case.prediction.values() for case in cases)
    if not count:
        return None
    gain = score_under(scored.answers, replace(scorer, none_keys="ignored")) - scored.anls
    return (count, "") if gain >= MIN_GAIN else None


def _find_extra_keys(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find keys that nearly all predictions have, and no reference."""
    keys = find_extra_keys(scored) if wrong else []
    return (sum(isinstance(case.prediction, (dict, list)) for case in wrong), ",".join(keys)) if keys else None


def _find_other_kinds(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find a key with a list on one side and an object on the other, whose values all score 0."""
    found: Counter[str] = Counter()
    for case in wrong:
        values = case.prediction.items() if isinstance(case.prediction, dict) else ()
        for key, value in ((key, value) for key, value in values if isinstance(value, (list, dict))):
            kinds = {type(accepted.get(key)) for accepted in case.references if isinstance(accepted, dict)}
            found[str(key)] += kinds | {type(value)} == {list, dict}
    if not found:
        return None
    [(key, count)] = found.most_common(1)
    return count, key


_FLOAT = re.compile(r"\d\.0\b|\de[+-]?\d")
_MAX_TRIALS = 50


def _find_numbers(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find numbers in two forms, 2440.0 for 2440: a sample of the values scores higher if numbers count by value."""
    scorer: Any = scored.scorer
    if "numbers" not in scorer.options or scorer.numbers == "by_value":
        return None
    by_value, sample = replace(scorer, numbers="by_value"), wrong[:: len(wrong) // _MAX_TRIALS + 1]
    cases = [case for case in sample if _FLOAT.search(repr(case[:2]))]
    scores = by_value.score([case.prediction for case in cases], [case.references for case in cases])
    gains = [float(score) - case.score for score, case in zip(scores, cases)]
    weight = len(wrong) / max(1, len(sample))
    gain = weight * sum(gains) / len(scored.answer_scores)
    return (round(weight * sum(map(bool, gains))), f"{100 * gain:.1f}") if gain >= MIN_GAIN else None


def _find_other_words(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find answers that contain a reference among other words, and those of them that score 0."""
    count = sum(scored.matches.contains) - sum(scored.matches.exact)
    return (count, f"{scored.outcomes['contains an answer']:,}") if _are_many(count, scored) else None


def _find_zeros(scored: Scored, wrong: Sequence[SampledAnswer]) -> Found | None:
    """Find answers that score 0, if they are more than half, and so many that chance does not explain it."""
    zeros = [case for case in wrong if case.score == 0.0]
    total = len(scored.answer_scores)
    if len(zeros) < min(total, total / 2 + 1.5 * sqrt(total)):
        return None
    some = zeros[:: len(zeros) // 3 or 1][:3]
    return len(zeros), ", ".join(f"{_show(case.prediction)} for {_show(case.references[0])}" for case in some)


def _show(value: Any) -> str:
    """Show an answer in a sentence."""
    text = " ".join(format_value(value).split())
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'


SIGNS = (
    Sign(
        _find_unmarked,
        'predictions lack "{value}", so they score 0: pass the field of the whole output with {use.prediction}',
    ),
    Sign(_find_empty, "predictions are empty: find the step that lost them", least=5),
    Sign(
        _find_copies,
        "predictions equal a reference exactly, as in a copy of the gold file: check {use.prediction}",
        least=25,
    ),
    Sign(_find_nulls, "predictions are {value}, which programs write for missing values: find the step that lost them"),
    Sign(
        _find_null_references,
        "questions have only {value} as their reference, which programs write for missing values: find the step that "
        "lost them",
    ),
    Sign(
        _find_failures,
        "predictions begin with {value} and are wrong, as after a failed request: ask these questions again",
        of_strings=True,
        least=5,
    ),
    Sign(
        _find_abstentions,
        "predictions abstain where there is no answer, such as {value}, and lose points: see {use.metrics:abstention}",
        of_strings=True,
    ),
    Sign(_find_cut_off, "predictions are cut-off JSON or reasoning: raise the token limit of the model"),
    Sign(
        _find_moved,
        "predictions are references of other questions: check the ids and the order of both files",
        of_strings=True,
        least=MIN_ANSWERS,
    ),
    Sign(
        _find_extra_keys,
        "predictions have keys that no reference has, which count as wrong: if these are no parts of the answer, leave "
        "them out with {use.ignore_keys:{value}}",
        least=3,
    ),
    Sign(
        _find_empty_keys,
        "predictions have keys without a value, which count as wrong: ignore them with {use.none_keys:ignored}",
    ),
    Sign(
        _find_other_kinds,
        'answers have a list on one side and an object on the other under "{value}", so that all of it scores 0: write '
        "one form, or accept both",
    ),
    Sign(
        _find_numbers,
        "answers contain equal numbers in two forms, such as 2440.0 for 2440, which costs {value} points: compare them "
        "by value with {use.numbers:by_value}",
    ),
)
LAST_SIGNS = (
    Sign(
        _find_other_forms,
        "answers are equal in value and written differently, such as {value}: see {use.metrics:partial_credit}",
        of_strings=True,
        least=3,
    ),
    Sign(
        _find_same,
        "predictions are the same wrong answer, {value}: check the program that wrote them",
        of_strings=True,
    ),
    Sign(
        _find_other_words,
        "predictions contain a reference among other words, and {value} of them score 0: ask the model for only the "
        "answer",
        of_strings=True,
        least=MIN_ANSWERS,
    ),
    Sign(_find_zeros, "predictions score 0, such as {value}: check the ids, the split, and {use.prediction}", least=5),
)
"""Signs that count, the first of them, only if other hints explain less than a quarter of what the score lacks."""
