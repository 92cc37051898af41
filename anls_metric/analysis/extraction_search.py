"""Finds rules that extract the answers from wrong predictions, by trying the rules of `EXTRACTORS` on a sample."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from anls_metric.analysis.evidence import Case, Evidence, measure_cases
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import Variant
from anls_metric.reading.extract import EXTRACTORS, Extraction, Extractor, extractor
from anls_metric.reading.values import parse_value_or_text

_MOST_RULES = 4  # rules that are added
_MOST_CASES = 256  # wrong cases in the sample, and as many right ones
_FIRST_CASES = 128  # wrong cases that are tried first
_MOST_VALUES = 5  # fields or tags that are tried for a rule
_LEAST_GAIN = 0.002  # each rule must add this to the mean,
_LEAST_CLOSER = 0.01  # or this to the mean similarity, if it helps only together with another rule


class RuleProposal(NamedTuple):
    """The rules that raise a mean most.

    Attributes:
        rules: the names of the rules, as `extractor` takes them, including the rules in use.
        gain: the increase of the mean, estimated from the sample.
        changed: the numbers of the wrong predictions from which the rules extract another, non-empty text.
    """

    rules: str
    gain: float
    changed: Sequence[int]


def find_rules(evidence: Evidence, least: float = 0.0) -> RuleProposal | None:
    """Find a short chain of extraction rules that raises the mean of a set most.

    Each step adds the rule that helps most, at the best place in the chain. In the end, rules that have become
    unnecessary are dropped, and the order of the table is restored if the gain stays the same.

    Args:
        evidence: the wrong predictions, and some right ones, which rules could spoil.
        least: the smallest gain that counts.

    Returns:
        The proposed rules; None if no rules raise the mean enough.

    Example:
        >>> from anls_metric.core.variants import get_variant
        >>> text = "<think>Pepsi?</think>**Coca Cola**"
        >>> case = Case(0, text, ["Coca Cola"], 0.0, text)
        >>> find_rules(Evidence(get_variant("standard"), "", 1, [case], [], 0))
        RuleProposal(rules='think,bold', gain=1.0, changed=[0])
    """
    trials = _Trials(evidence)
    little = 0.1 * len(evidence.wrong) / max(1, evidence.total)
    if not trials.may_gain(max(least, min(_LEAST_GAIN, little)), min(_LEAST_CLOSER, little)):
        return None
    rules, gain = trials.in_use, trials.measure(trials.in_use)
    for _ in range(_MOST_RULES):
        longer = max(trials.extend(rules), key=trials.measure, default=rules)
        score, similarity = trials.measure(longer)
        if score < gain[0] + min(_LEAST_GAIN, little) and similarity < gain[1] + min(_LEAST_CLOSER, little):
            break
        rules, gain = longer, (score, similarity)
    enough = gain[0] - min(_LEAST_GAIN, gain[0] / 10)
    for rule in reversed(rules):
        shorter = tuple(other for other in rules if other != rule)
        if rule not in trials.in_use and trials.measure(shorter)[0] > enough:
            rules = shorter
    ordered = tuple(sorted(rules, key=_find_place))
    if not trials.in_use and trials.measure(ordered)[0] >= trials.measure(rules)[0]:
        rules = ordered
    score = trials.measure(rules)[0]
    enough_gain = score > 0.0 and score >= least
    return RuleProposal(Extraction(rules).signature, score, trials.find_changed(rules)) if enough_gain else None


def _find_place(rule: Extractor) -> int:
    return list(EXTRACTORS).index(rule.name.partition(":")[0])


Chain = tuple[Extractor, ...]

# The option of a rule -> the pattern that finds its possible values in a text.
_OPTIONS = {
    "field": r"""["']([^"',:\\\s](?:[^"',:\\\n]{0,38}[^"',:\\\s])?)["']\s{0,9}:""",
    "tag": r"</([\w.-]{1,40})>",
}


class _Trials:
    """Measures chains of rules on a sample. Extractions and scores are cached.

    Attributes:
        in_use: the rules that already extracted the predictions.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._scorer = evidence.scorer
        self._of_values = not isinstance(evidence.scorer, Variant)
        self.in_use: Chain = extractor(evidence.rules, values=self._of_values).rules if evidence.rules else ()
        self._evidence = evidence
        self._extracted: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by the name of the rule
        self._scores: dict[tuple[int, str], tuple[float, float]] = {}
        self._gains: dict[Chain, tuple[float, float]] = {}
        self._sample: list[tuple[Case, float]] = []  # each case with the share of the set that it represents
        self._candidates: list[Extractor] = []

    def may_gain(self, least: float, closer: float) -> bool:
        """Whether rules may add this much to the mean, or one rule to the mean similarity. Otherwise none is tried.

        Most sets gain nothing, so this check uses only some wrong predictions, and each rule alone. Right predictions
        cannot gain.
        """
        wrong = self._spread(self._evidence.wrong, len(self._evidence.wrong), _MOST_CASES)
        self._candidates = list(self._list_candidates(case.raw for case, _ in wrong))
        self._keep_changed(self._spread(self._evidence.wrong, len(self._evidence.wrong), _FIRST_CASES))
        singles = list(map(self.measure, self.extend(self.in_use)))
        gain = sum(score for score, _ in singles if score > 0.0)
        if gain < least and max((similarity for _, similarity in singles), default=0.0) < closer:
            return False
        self._gains.clear()
        self._scores.clear()
        self._sample.clear()
        right = self._spread(self._evidence.right, self._evidence.right_count, _MOST_CASES)
        self._keep_changed([*wrong, *right])
        return True

    def _spread(self, cases: Sequence[Case], count: int, most: int) -> list[tuple[Case, float]]:
        """Take some of the cases, evenly spread, to represent all of them."""
        some = cases[:: 1 + measure_cases(cases) // most]
        return [(case, count / len(some) / self._evidence.total) for case in some if isinstance(case.raw, str)]

    def _keep_changed(self, sample: Sequence[tuple[Case, float]]) -> None:
        """Keep the cases that one more rule changes, at any place in the chain. No longer chain changes any others."""
        steps = [[case.raw for case, _ in sample]]
        for rule in self.in_use:
            steps.append([self._extract((rule,), text) for text in steps[-1]])
        texts = set(chain.from_iterable(steps))
        changed = {text for rule in self._candidates for text in texts if self._extract((rule,), text) != text}
        self._sample += [entry for entry, *own in zip(sample, *steps) if not changed.isdisjoint(own)]

    def _list_candidates(self, texts: Iterable[str]) -> Iterator[Extractor]:
        """List the rules that may find something, then rules with the most common values of their options."""
        text = "\0".join(texts)
        names = [name for name, rule in EXTRACTORS.items() if any(mark in text for mark in rule.marks)]
        for name in list(names):
            option = _OPTIONS.get(EXTRACTORS[name].option)
            values = re.findall(option, text) if option else []
            names += [f"{name}:{value}" for value, _ in Counter(values).most_common(_MOST_VALUES)]
        yield from (rule for name in names for rule in extractor(name, values=self._of_values).rules)

    def extend(self, rules: Chain) -> Iterator[Chain]:
        """List the chains with one more rule, beginning with the chains that have it at the end."""
        for rule in self._candidates:
            if rule not in rules:
                yield from ((*rules[:place], rule, *rules[place:]) for place in range(len(rules), -1, -1))

    def measure(self, rules: Chain) -> tuple[float, float]:
        """Measure what rules add to the mean, and to the mean similarity, which also grows below the threshold."""
        if rules not in self._gains:
            changes = [
                (place, after, before, share)
                for place, (case, share) in enumerate(self._sample)
                if (after := self._extract(rules, case.raw)) != (before := self._extract(self.in_use, case.raw))
            ]
            self._score((place, text) for place, *texts, _ in changes for text in texts)
            pairs = [
                (share, self._scores[place, after], self._scores[place, before])
                for place, after, before, share in changes
            ]
            self._gains[rules] = (
                round(sum(share * (after[0] - before[0]) for share, after, before in pairs), 9),
                round(sum(share * (after[1] - before[1]) for share, after, before in pairs), 9),
            )
        return self._gains[rules]

    def find_changed(self, rules: Chain) -> list[int]:
        """Find the wrong predictions from which rules extract another, non-empty text."""
        return [
            case.number
            for case in self._evidence.wrong
            if isinstance(case.raw, str)
            and self._extract(rules, case.raw) not in ("", self._extract(self.in_use, case.raw))
        ]

    def _extract(self, rules: Chain, text: str) -> str:
        for rule in rules:
            known = self._extracted[rule.name]
            answer = known.get(text)
            if answer is None:
                answer = rule.find(text)
                known[text] = answer = text if answer is None else answer
            text = answer
        return text

    def _score(self, cases: Iterable[tuple[int, str]]) -> None:
        """Score texts as predictions of cases, and cache score and similarity; for values, the score twice."""
        fresh = [case for case in dict.fromkeys(cases) if case not in self._scores]
        references = [self._sample[place][0].references for place, _ in fresh]
        if not isinstance(self._scorer, Variant):
            scores = [self._score_value(parse_value_or_text(text), of) for (_, text), of in zip(fresh, references)]
            self._scores.update(zip(fresh, zip(scores, scores)))
        elif fresh:
            texts = [text for _, text in fresh]
            self._scores.update(zip(fresh, zip(*scores_and_similarities(texts, references, variant=self._scorer))))

    def _score_value(self, value: Any, references: Sequence[Any]) -> float:
        try:
            return float(self._scorer.score([value], [references])[0])
        except ValueError:  # the value is nested too deep
            return -1.0
