"""Writes the claims that the results in a document allow in a paper, the claims that they do not yet allow, and what
would decide the latter.

The report, Markdown and the terminal show the resulting sentences, which are derived from the document alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.verdicts import FEW, MIN_CLUSTERS, TOO_FEW, choose_wanted
from anls_metric.core.checks import count_noun
from anls_metric.report.numbers import NumberFormat, format_p_value
from anls_metric.report.schema import Document, Hint
from anls_metric.report.wording import get_label

MANY_TIMES = 50
"""The multiple of the number of documents in a set above which a larger set is out of reach."""


class Claim(NamedTuple):
    """A sentence about the scores.

    Attributes:
        title: the heading of the sentence.
        quote: what one can or cannot write in a paper; "" if there is nothing to quote.
        text: the rest of the sentence.
    """

    title: str
    quote: str
    text: str

    def __str__(self) -> str:
        return " ".join(filter(None, [self.quote and f'"{self.quote}"', self.text]))


class Claims(NamedTuple):
    """Three claims about what one can write, what one cannot write yet, and what would decide the latter, with the name
    of the submission concerned ("" if there is only one).
    """

    can: Claim
    cannot: Claim
    decides: Claim
    about: str = ""

    @property
    def sentences(self) -> tuple[Claim, ...]:
        """The three claims as a tuple, without the name of the submission."""
        return self[:3]


class _Pair(NamedTuple):
    """A comparison with the baseline, in which the difference is the model minus the baseline."""

    model: str
    baseline: str
    values: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two submissions, the one with the higher score first."""
        return (self.model, self.baseline) if self.values["difference"] >= 0 else (self.baseline, self.model)


def write_claims(document: Document, numbers: NumberFormat, names: Mapping[str, str] | None = None) -> Claims:
    """Write the claims that the results in a document allow.

    Args:
        document: a document from `document.build_document`.
        numbers: how scores are printed.
        names: shorter names for the submissions.
    """
    short = names or {each["name"]: each["name"] for each in document["submissions"]}
    pairs = [
        _Pair(short[pair["second"]], short[pair["first"]], pair)
        for pair in document["comparisons"]
        if pair["first"] == document["baseline"]
    ]
    if not pairs:
        return _write_score(document, numbers, short)
    raw = {short[name]: hint for name, hint in _find_raw(document).items()}
    unfair = [pair for pair in pairs if pair.names[1] in raw]  # extraction raises the lower score
    if not unfair:
        return _write_pairs(document, pairs, numbers)
    fair, (high, low) = [pair for pair in pairs if pair not in unfair], unfair[0].names
    keys = {shown: key for key, shown in short.items()}
    can = _write_pairs(document, fair, numbers).can if fair else _write_own(document, keys[high], numbers, short)
    return Claims(can, *_write_extraction(raw[low], low, document, numbers), keys[low])


def _write_pairs(document: Document, pairs: Sequence[_Pair], numbers: NumberFormat) -> Claims:
    """Write the claims about comparisons with the baseline."""
    if all(pair.values["interval"] is None or pair.values["verdict"] == TOO_FEW for pair in pairs):
        return _write_too_few(document, pairs, numbers)
    values = choose_wanted([pair.values for pair in pairs])
    wanted = next(pair for pair in pairs if pair.values is values)
    decided = [pair for pair in pairs if pair.values["verdict"] in ("better", "worse")]
    opened = [pair for pair in pairs if pair not in decided]
    can = _write_decided(decided, document, numbers) if decided else _write_equal(opened, numbers)
    if not opened:
        doubt, more = _write_doubt(wanted, document, numbers), _write_more(document)
        return Claims(can, doubt, more, wanted.values["second"])
    needed = _write_needed(wanted, document, numbers)
    return Claims(can, _write_open(wanted, document, numbers), needed, wanted.values["second"])


def _can(quote: str, text: str = "") -> Claim:
    return Claim("You can write", quote, text)


def _cannot(quote: str, text: str) -> Claim:
    return Claim("You cannot write yet", quote, text)


def _decides(text: str) -> Claim:
    return Claim("What would decide it", "", text)


def _points(value: float, numbers: NumberFormat, form: str = "") -> str:
    return numbers.format(value, form) + " points" * numbers.percent


def _count(document: Document, factor: int = 1) -> str:
    """Write the number of documents in a set or, without documents, the number of questions."""
    clusters = document["clusters"]
    count, noun = (clusters["count"], "document") if clusters else (document["questions"], "question")
    return count_noun(count * factor, noun)


def _find_raw(document: Document) -> Mapping[str, Hint]:
    """Find the hints that raw output was scored, which extraction would change, keyed by the name of the submission."""
    hints = [hint for hint in document["hints"] if hint["extract"] and hint["anls"] is not None]
    return {hint["submission"] or document["submissions"][0]["name"]: hint for hint in hints}


def _write_extraction(hint: Hint, name: str, document: Document, numbers: NumberFormat) -> tuple[Claim, Claim]:
    """Write that the score of raw output is not that of the model, and what to extract."""
    score = next(each["anls"] for each in document["submissions"] if hint["submission"] in (each["name"], None, ""))
    after = numbers.format(hint["anls"])
    cannot = _cannot(
        f"{name} scores {numbers.format(score)}.", f"Of its raw output: after extraction it scores {after}."
    )
    return cannot, _decides(f"Extract the answers with {','.join(hint['extract'] or ())}, and score again.")


def _write_own(document: Document, name: str, numbers: NumberFormat, names: Mapping[str, str]) -> Claim:
    """Write the score of a submission."""
    (submission,) = (each for each in document["submissions"] if each["name"] == name)
    interval = submission["interval"]
    certainty = f" (95% CI {numbers.format(interval)})" if interval else ""
    return _can(f"{names[name]} scores {numbers.format(submission['anls'])} {get_label(document)}{certainty}.")


def _write_score(document: Document, numbers: NumberFormat, names: Mapping[str, str]) -> Claims:
    """Write the claims about a single submission."""
    (submission,) = document["submissions"]
    interval, can = submission["interval"], _write_own(document, submission["name"], numbers, names)
    raw = _find_raw(document)
    if raw:
        return Claims(can, *_write_extraction(raw[submission["name"]], "The model", document, numbers))
    if not interval:
        return Claims(
            can,
            _cannot("It is better than another score.", "There is no interval."),
            _decides("At least two documents."),
        )
    low, high = (numbers.format(end) for end in interval)
    cannot = _cannot(
        f"{names[submission['name']]} beats a model that scores {numbers.format(interval[0])}.",
        f"From {low} to {high}, chance may explain the difference.",
    )
    return Claims(
        can, cannot, _decides("The answers of the other model to these questions: a paired comparison shows more.")
    )


def _write_too_few(document: Document, pairs: Sequence[_Pair], numbers: NumberFormat) -> Claims:
    """Write the claims about comparisons for which there are too few documents to test."""
    wanted = max(pairs, key=lambda pair: abs(pair.values["difference"]))
    difference = _points(wanted.values["difference"], numbers, "+")
    high, low = wanted.names
    return Claims(
        _can(f"On these {_count(document)}, {wanted.model} minus {wanted.baseline} is {difference}."),
        _cannot(f"{high} beats {low}.", f"{_count(document)} are too few for a test."),
        _decides(f"At least {MIN_CLUSTERS} documents, better {FEW}."),
        wanted.values["second"],
    )


def _write_p(document: Document, p_value: float) -> str:
    """Write a p-value and what it is adjusted for."""
    count = len(document["comparisons"])
    if count < 2:
        return format_p_value(p_value)
    what = f"choosing the best of {count + 1}" if document["chose_best"] else f"{count} comparisons"
    return f"{format_p_value(p_value)} after {what}"


def _write_decided(decided: Sequence[_Pair], document: Document, numbers: NumberFormat) -> Claim:
    """Write which models are better than the baseline or, if there are none, which models are worse."""
    better = [pair for pair in decided if pair.values["verdict"] == "better"]
    shown, word = (better, "higher") if better else (decided, "lower")
    base = shown[0].baseline
    p_value = _write_p(document, max(pair.values["p_value_adjusted"] for pair in shown))
    if len(shown) == 1:
        values = shown[0].values
        adjusted = "unadjusted " * (len(document["comparisons"]) > 1)
        interval = f"{adjusted}95% CI {numbers.format(values['interval'])}"
        difference = _points(values["difference"], numbers, "+")
        return _can(f"{shown[0].model} scores {word} than {base}: {difference} ({interval}, {p_value}).")
    which = [pair.model for pair in shown]
    return _can(f"{_join(which)} score {word} than {base} ({p_value.replace('=', '<=')}).")


def _join(names: Sequence[str], most: int = 2) -> str:
    """Join names for a sentence, replacing all but the first few of many names with a count."""
    shown = list(names) if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _bound(pair: _Pair, numbers: NumberFormat) -> float:
    """Return the largest absolute difference in a pair's interval, rounded up to the printed digits."""
    scale = 10.0**numbers.places
    far: float = max(map(abs, pair.values["interval"]))
    return math.ceil(far * scale - 1e-9) / scale


def _write_equal(opened: Sequence[_Pair], numbers: NumberFormat) -> Claim:
    """Write the largest difference that the interval of the closest pair allows."""
    pair = min((pair for pair in opened if pair.values["interval"]), key=lambda pair: _bound(pair, numbers))
    high, low = pair.names
    return _can(f"{high} and {low} differ by less than {_points(_bound(pair, numbers), numbers)} (95% CI).")


def _write_open(pair: _Pair, document: Document, numbers: NumberFormat) -> Claim:
    """Write the claim that one would like to make but cannot, with its p-value."""
    high, low = pair.names
    return _cannot(f"{high} beats {low}.", f"{_write_p(document, pair.values['p_value_adjusted'])}.")


def _write_needed(pair: _Pair, document: Document, numbers: NumberFormat) -> Claim:
    """Write how many documents could decide a comparison."""
    needed, clusters = pair.values.get("documents_needed"), document["clusters"]
    noun = "documents" if clusters else "questions"
    count = clusters["count"] if clusters else pair.values["questions"]
    if needed is None or needed > MANY_TIMES * count:
        return _decides(f"No set within reach: they are level ({_points(pair.values['difference'], numbers, '+')}).")
    return _decides(f"About {_round_up(max(needed, count + 1)):,} {noun} like these, {count:,} of which are here.")


def _round_up(count: int) -> int:
    """Round a number up to two significant digits.

    Example:
        >>> _round_up(417), _round_up(1_204), _round_up(9)
        (420, 1300, 9)
    """
    scale: int = 10 ** max(len(str(count)) - 2, 0)
    return math.ceil(count / scale) * scale


def _write_doubt(pair: _Pair, document: Document, numbers: NumberFormat) -> Claim:
    """Write what a significant difference does not show."""
    values, (high, low) = pair.values, pair.names
    if values["seeds_bound"] and abs(values["difference"]) < values["seeds_bound"]:
        bound = _points(values["seeds_bound"], numbers)
        return _cannot(f"The method of {high} is better.", f"Runs of equal methods differ by up to {bound}.")
    reversed_by: Any = document.get("reversed_by", {})
    if reversed_by:
        return _cannot(
            "The order is the same under every ANLS.", f"It is another under {count_noun(len(reversed_by), 'variant')}."
        )
    if values["few_documents"]:
        return _cannot(f"{high} is better in general.", f"{_count(document)} are few.")
    near, far = sorted(map(abs, values["interval"]))
    lead = f"{high} leads {low} by exactly {_points(abs(values['difference']), numbers)}."
    return _cannot(lead, f"For documents like these, it may be {numbers.format(near)} to {numbers.format(far)}.")


def _write_more(document: Document) -> Claim:
    """Write what more documents would add to a decided comparison."""
    return _decides(f"It is decided; with {_count(document, 4)}, the interval would be half as wide.")
