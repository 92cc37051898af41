"""Finds the steps that raise a score. A step is chosen on a sample of wrong answers and of right answers, which the
step could spoil, and is then applied to all answers, so that the promised score is exact.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from anls_metric.analysis.scored import MIN_GAIN, Scored, mean_of
from anls_metric.analysis.steps import (
    BY_HAND,
    DECIMALS,
    NORMALIZING,
    NORMALIZING_VALUES,
    OF_VALUES,
    SPLITTING,
    Root,
    Step,
    extract_by,
    follow,
    leave_out,
    read_as_values,
    read_inside,
    take_inside,
    take_reference,
)
from anls_metric.core.extraction.extract import EXTRACTORS, extractor_for
from anls_metric.core.json_strings import parse_value_or_text
from anls_metric.core.scorer import Form, Scorer, get_scorer
from anls_metric.core.strings.normalization import sort_rows
from anls_metric.messages import Message, list_some
from anls_metric.reading.answers import LOST_FORMATTING, list_references
from anls_metric.reading.records import VALUE, take
from anls_metric.reading.table import ALL_VALUES, WHOLE_RECORD

MAX_CASES = 256
"""The maximum number of wrong answers, and separately of right answers, in a sample."""

MAX_CHARACTERS = 1_000
"""The number of characters that a sample keeps of a long string, half of them from each end, where the marks of raw
model output are.
"""

MIN_UNCERTAIN_GAIN = 0.02  # for the first uncertain step of a kind; the following ones only need MIN_GAIN
MIN_SHARE = 0.01  # the share of the answers that a step must repair
MIN_REPAIRED = 3  # the number of answers that an uncertain step must repair
NEARLY_RIGHT = 0.9  # the score from which an answer is repaired
MAX_STEPS = 4  # the most steps of one kind


class State(NamedTuple):
    """The columns of the answers after some steps, and the score of these answers."""

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    scorer: Scorer
    scores: Sequence[float]
    values: Sequence[Any]
    anls: float
    texts: Sequence[Any]
    """The predictions before they are parsed as JSON."""


class Applied(NamedTuple):
    """A step that was applied to all answers.

    Attributes:
        step: the step.
        before, after: the answers before and after the step.
        options: the options to type for this step and all steps before it; None if one of the steps can only be done in
            the files.
        changed: the number of wrong answers whose scores change.
    """

    step: Step
    before: State
    after: State
    options: Mapping[str, str] | None
    changed: int

    @property
    def remedy(self) -> Message:
        """The message that says what to do, with all options to type."""
        return advise(self.step.remedy, self.options or {})


def advise(remedy: str, options: Mapping[str, str]) -> Message:
    """Create the message of a remedy, followed by the options to type."""
    words = " ".join(f"{{use.{option}:{{{option}}}}}" for option in options)
    return Message("", f"{remedy} with {words}" if words else remedy, dict(options))


class _Answer(NamedTuple):
    """An answer in a sample, which represents `weight` answers."""

    prediction: Any
    references: Sequence[Any]
    text: Any
    score: float
    weight: float


class _Sample(NamedTuple):
    """A sample of the answers in a state: some that score less than 1 and some that score 1, with the total number of
    answers.
    """

    state: State
    wrong: Sequence[_Answer]
    right: Sequence[_Answer]
    total: int


def start_state(scored: Scored) -> State:
    """Return the answers as they were scored."""
    answers = scored.answers
    return State(
        answers.predictions,
        list_references(answers),
        scored.scorer,
        scored.answer_scores,
        scored.values,
        scored.anls,
        [own if text is None else text for own, text in zip(answers.predictions, answers.texts)]
        if answers.texts
        else answers.predictions,
    )


def find_steps(scored: Scored) -> list[Applied]:
    """Find the steps that raise a score, and apply them one after the other. For a benchmark metric, there are none.

    The steps are tried in the order in which the program applies them, so that typing their options has exactly the
    effect that was tried. Consecutive steps with the same option become one step.
    """
    state, found = start_state(scored), list[Applied]()
    if scored.anls == 1.0:
        return found
    sample = _take_sample(state)
    for kind in _KINDS:
        for _ in range(MAX_STEPS):
            if 100 * sum(answer.weight for answer in sample.wrong) < sample.total:
                return found
            typed = (found[-1].options or {}) if found else {}
            known = next(iter(found[-1].step.options), "") if found else ""
            trials = [(_try(sample, step, known), step) for step in kind.list_for(sample, scored, typed)]
            gain, step = max(trials, key=itemgetter(0), default=(0.0, None))
            if step is None or not gain:
                break
            after = _apply(step, state, scored)
            if after.anls - state.anls < MIN_GAIN:
                break
            found = _add(found, step, state, after, scored)
            state, sample = after, _take_sample(after)
    return found


def _add(found: list[Applied], step: Step, before: State, after: State, scored: Scored) -> list[Applied]:
    """Add a step to those found so far, merging the step with the last one if both have the same option."""
    options: Mapping[str, str] | None = None
    if step.options and (not found or found[-1].options is not None):
        options = _join_options(found[-1].options or {} if found else {}, step, scored)
    if found and step.options and [*found[-1].step.options] == [*step.options]:
        before = found.pop().before
    changed = sum(old < 1.0 and new != old for old, new in zip(before.scores, after.scores))
    return [*found, Applied(step, before, after, options, changed)]


def _join_options(typed: Mapping[str, str], step: Step, scored: Scored) -> dict[str, str]:
    """Add the options of a step to those of the steps before it. Extraction steps and normalizations are appended to
    those that the user typed.
    """
    options = {**typed, **step.options}
    if "extract" in step.options:
        options["extract"] = ",".join(filter(None, [typed.get("extract", scored.extract), step.options["extract"]]))
    if "normalize" in step.options:
        own = typed.get("normalize", getattr(scored.scorer, "normalize", ""))
        options["normalize"] = sort_rows(",".join(filter(None, [own, step.options["normalize"]])))
    return options


def try_values(scored: Scored) -> tuple[Step, float] | None:
    """Return the step that scores the fields of JSON answers that were scored as strings, and the score after this
    step, or None if no such step applies.
    """
    state = start_state(scored)
    steps = _OF_VARIANTS.list_for(_take_sample(state), scored, {})
    return (steps[0], _apply(steps[0], state, scored).anls) if steps else None


# Samples and trials


def _take_sample(state: State) -> _Sample:
    rows = zip(state.predictions, state.references, state.texts, state.scores)
    wrong: list[tuple[Any, ...]] = []
    right: list[tuple[Any, ...]] = []
    for row in rows:
        if row[0] is not None:
            (wrong if row[3] < 1.0 else right).append(row)
    return _Sample(state, _spread(wrong, state.scorer), _spread(right, state.scorer), len(state.scores))


def _spread(rows: Sequence[tuple[Any, ...]], scorer: Scorer) -> list[_Answer]:
    """Take an evenly spread sample of answers from rows that contain the first fields of `_Answer`."""
    some = rows[:: math.ceil(len(rows) / MAX_CASES) or 1]
    weight = len(rows) / max(1, len(some))
    if not scorer.reads_json:
        some = [(_cut(row[0]), row[1], _cut(row[0]), row[3]) for row in some]
    return [_Answer(row[0], row[1], row[2], row[3], weight) for row in some]


def _cut(text: Any) -> Any:
    """Cut the middle out of a long string."""
    half = MAX_CHARACTERS // 2
    is_long = isinstance(text, str) and len(text) > MAX_CHARACTERS
    return f"{text[:half]} … {text[-half:]}" if is_long else text


def _try(sample: _Sample, step: Step, known: str = "") -> float:
    """Estimate from a sample how much a step raises the mean score, or return 0.0 if the step does not help enough.

    A step must make enough answers right or nearly right. The answers of good models also contain some periods,
    quotation marks and sentences, so uncertain steps must gain more, unless they continue the option `known`.
    """
    least, enough = MIN_SHARE * sample.total, MIN_GAIN
    if not step.is_certain:
        least = max(least, MIN_REPAIRED, min(sample.total / 2, 2 + 0.4 * math.sqrt(sample.total)))
        enough = MIN_GAIN if known in step.options else MIN_UNCERTAIN_GAIN
    changed = list(_rescore(sample.state.scorer, step, sample.wrong))
    gained = sum(answer.weight * (after - answer.score) for answer, after in changed)
    parses = step.is_certain and sample.state.scorer.reads_json  # the values in the parsed string may be wrong
    enough_right = 0.0 if parses else NEARLY_RIGHT
    repaired = sum(answer.weight for answer, after in changed if after > answer.score and after >= enough_right)
    may_be_small = step.changes_values or (step.rescores and step.is_certain)  # other steps may follow
    if gained <= 0.0 or (repaired < least and not may_be_small):
        return 0.0
    right = _rescore(sample.state.scorer, step, sample.right)
    gained = (gained + sum(answer.weight * (after - answer.score) for answer, after in right)) / sample.total
    return gained if gained >= enough else 0.0


def _change(step: Step, prediction: Any, references: Sequence[Any], text: Any) -> tuple[Any, Sequence[Any], Any]:
    if step.text is not None:
        new = step.text(text) if isinstance(text, str) else text
        return (prediction if new == text else step.prediction(new)), step.references(references), new
    changes = isinstance(prediction, str) or (step.changes_values and prediction is not None)
    new = step.prediction(prediction) if changes else prediction
    return new, step.references(references), new if changes else text


def _rescore(scorer: Scorer, step: Step, answers: Iterable[_Answer]) -> Iterable[tuple[_Answer, float]]:
    """Apply a step to answers, and return the changed answers with their new scores."""
    changed, predictions, references = [], [], []
    for answer in answers:
        prediction, accepted, _ = _change(step, *answer[:3])
        if not step.changes_texts or [prediction, *accepted] != [answer.prediction, *answer.references]:
            changed.append(answer)
            predictions.append(prediction)
            references.append(accepted)
    try:
        scores = step.rescore(scorer).score(predictions, references)
    except ValueError:  # a value is nested too deeply
        return []
    return zip(changed, map(float, scores))


def _apply(step: Step, state: State, scored: Scored) -> State:
    """Apply a step to all answers. Unchanged answers keep their scores, unless the step only changes the scorer."""
    scorer = step.rescore(state.scorer)
    rescores_all = not step.changes_texts or scorer.name != state.scorer.name
    pairs = [_change(step, *row) for row in zip(state.predictions, state.references, state.texts)]
    olds = zip(state.predictions, state.references)
    places = [
        place
        for place, ((new, accepted, _), (old, known)) in enumerate(zip(pairs, olds))
        if rescores_all or new != old or (accepted is not known and list(accepted) != list(known))
    ]
    asked = [place for place in places if pairs[place][0] is not None]
    values = list(state.values)
    for place in places:
        if pairs[place][0] is None:
            values[place] = scorer.score_missing(pairs[place][1])
    new_values = scorer.score([pairs[place][0] for place in asked], [pairs[place][1] for place in asked])
    for place, value in zip(asked, new_values):
        values[place] = value
    predictions, references, texts = map(list, zip(*pairs))
    anls = mean_of(scored.answers, values, scorer)
    return State(predictions, references, scorer, list(map(float, values)), values, anls, texts)


# The steps to try


def _list_splitting(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    if "references_separator" in typed:
        return []
    text = "\0".join(text for answer in sample.wrong for text in answer.references)
    return [step for step in SPLITTING if step.mark in text]


def _list_variants(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    if not are_values([*sample.wrong, *sample.right]):
        return []
    settings = scored.settings
    is_for_strings = settings.ignore_case is not None or settings.references_separator
    if is_for_strings or "references_separator" in typed or not {*settings.metrics} <= _METRICS_OF_VALUES:
        return []
    own = {"threshold": settings.threshold, "normalize": settings.normalize}
    path = _find_only_reference(scored)
    rules = ("", "json")[: 2 - bool(scored.extract)]
    return [] if path is None else [read_as_values(rule, path, **own) for rule in rules]


_METRICS_OF_VALUES = {"exact_match", "abstention", "pages"}


def _find_only_reference(scored: Scored) -> str | None:
    """Return the path to the only item of each list of references, since the list itself would be read as a value.
    Return "" if the references are not in lists, or None if no path leads to every reference.
    """
    questions = scored.questions
    path, records = scored.answers.read.references, questions.table.records
    fields = [take(record, path) for record in records] if path else []
    if len(fields) != len(questions.references):
        return None
    if all([field] == list(texts) for field, texts in zip(fields, questions.references)):
        return ""
    has_path = any(record.keys() != {"references"} for record in records)  # Python lists have no paths
    are_alone = all(isinstance(field, list) and len(field) == 1 for field in fields)
    return f"{path}.0" if has_path and are_alone else None


def are_values(answers: Sequence[_Answer]) -> bool:
    """Whether the references of most answers are objects or lists written as JSON."""
    return 2 * sum(all(map(_is_value, answer.references)) for answer in answers) > len(answers)


def _is_value(text: Any) -> bool:
    """Whether a string is an object or a list written as JSON, other than a number in brackets, which is a citation."""
    is_open = isinstance(text, str) and text.lstrip()[:1] in ("{", "[") and not re.fullmatch(r"\s*\[\d+\]\s*", text)
    return is_open and isinstance(parse_value_or_text(text), (dict, list))


_DEEPEST = 3


def _list_roots(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    """List the steps that read only the part of each prediction that has the form of the references, if most whole
    predictions do not.
    """
    if not {"variant", "prediction"}.isdisjoint(typed) or scored.settings.extract:
        return []
    roots: Counter[tuple[Root, str]] = Counter()
    for answer in sample.wrong:
        if not _fits(answer.prediction, answer.references):
            parts = list(_list_parts(answer.prediction, ()))
            for rule in ("", "json"):
                roots.update((root, rule) for root, part in parts if _fits(read_inside(part, rule), answer.references))
    path = scored.answers.read.prediction
    return [
        take_inside(_NO_FIELD.get(path, path), root, rule)
        for (root, rule), count in roots.most_common(2)
        if 2 * count > len(sample.wrong) and _have_all(sample.state.predictions, root)
    ]


def _list_roots_of_references(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    """List the steps that read only the part of each reference that has the form of the prediction, if most whole
    references do not.
    """
    if not {"variant", "references"}.isdisjoint(typed):
        return []
    roots: Counter[Root] = Counter()
    for answer in sample.wrong:
        if not _fits(answer.prediction, answer.references):
            parts = [part for reference in answer.references for part in _list_parts(reference, ())]
            roots.update({root for root, part in parts if _fits(answer.prediction, [part])})
    path, accepted = scored.answers.read.references, [each for own in sample.state.references for each in own]
    return [
        take_reference(_NO_FIELD.get(path, path), root)
        for root, count in roots.most_common(2)
        if 2 * count > len(sample.wrong) and _have_all(accepted, root)
    ]


_NO_FIELD = {WHOLE_RECORD: "", ALL_VALUES: VALUE}
"""The paths to type in place of the words for what is no field."""


def _have_all(values: Iterable[Any], root: Root) -> bool:
    """Whether all values but those of missing answers have a part at a root."""
    return all(follow(root, value) is not None for value in values if value is not None)


def _fits(value: Any, references: Sequence[Any]) -> bool:
    """Whether a value has the type of any reference or, if both are objects, at least half of the reference's keys."""
    for reference in references:
        if isinstance(reference, dict) and isinstance(value, dict):
            if 2 * len(reference.keys() & value.keys()) >= len(reference):
                return True
        elif type(reference) is type(value):
            return True
    return False


def _list_parts(value: Any, root: Root) -> Iterator[tuple[Root, Any]]:
    """List the values inside an object or inside a list with a single item, each with its path, with the outermost
    first.
    """
    if len(root) < _DEEPEST:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        inside = [((*root, key), item) for key, item in items if isinstance(value, dict) or len(value) == 1]
        yield from inside
        for own, item in inside:
            yield from _list_parts(item, own)


_OPTIONS = {
    "field": r"""["']([^"',:\\\s](?:[^"',:\\\n]{0,38}[^"',:\\\s])?)["']\s{0,9}:""",
    "tag": r"</([\w.-]{1,40})>",
}
"""The patterns that find possible values of an extraction step's option in a string, keyed by the option."""
_MAX_VALUES = 3
_MOST_RULES, _BEAM = 4, 3


class _Chain(NamedTuple):
    """A chain of extraction steps, with the sampled answers after these steps and the similarity of each to a
    reference.
    """

    names: tuple[str, ...]
    texts: Sequence[str]
    similarities: Sequence[float]

    @property
    def closeness(self) -> float:
        return math.fsum(self.similarities)


def _list_chains(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    """Return the step with the best chain of extraction steps, in a list that is empty if no chain helps. Every
    extraction step after the first must gain enough to be worth adding.

    Chains are extended by the steps that bring the sampled answers closest to a reference, even if these do not score
    yet, because the outer marks around an answer hide the inner ones.
    """
    answers = [answer for answer in sample.wrong if isinstance(answer.text, str)]
    if not answers or scored.settings.samples in ("vote", "best"):  # these choose an answer after the extraction
        return []
    scorer = sample.state.scorer
    loose = get_scorer(scorer, threshold=0.0) if "threshold" in scorer.options else scorer
    known = "extract" if "extract" in typed else ""
    used = {*(scored.settings.extract or ()), *typed.get("extract", "").split(",")}
    references = [answer.references for answer in answers]
    finish = scorer.read_answer

    @cache
    def make(name: str) -> Callable[[str], str]:
        return extractor_for(scorer, name)

    def grow(chain: _Chain, name: str) -> _Chain | None:
        texts = list(map(make(name), chain.texts))
        places = [place for place, text in enumerate(texts) if text != chain.texts[place]]
        try:
            scores = loose.score([finish(texts[place]) for place in places], [references[place] for place in places])
        except ValueError:  # a value is nested too deeply
            return None
        similarities = list(chain.similarities)
        for place, score in zip(places, scores):
            similarities[place] = float(score)
        return _Chain((*chain.names, name), texts, similarities) if places else None

    texts = [answer.text for answer in answers]
    start = _Chain((), texts, list(map(float, loose.score(list(map(finish, texts)), references))))
    kept, best, most = [start], list[tuple[float, Step]](), start.closeness
    for count in range(_MOST_RULES):
        names = [(chain, name) for chain in kept for name in _list_rules(chain.texts)]
        fresh = [(chain, name) for chain, name in names if name not in used and name not in chain.names]
        grown = [chain for chain in map(grow, *zip(*fresh)) if chain and chain.closeness > most] if fresh else []
        if not grown:
            break
        kept = sorted(grown, key=lambda chain: -chain.closeness)[:_BEAM]
        most = kept[0].closeness
        for chain in kept:
            step = extract_by(chain.names, scorer)
            gain = _try(sample, step, known)
            if gain:
                best.append((gain - count * MIN_GAIN, step))
    return [max(best, key=itemgetter(0))[1]] if best else []


def _list_rules(texts: Sequence[str]) -> list[str]:
    """List the extraction steps whose marks occur in texts, followed by these steps with the most common values for
    their options.
    """
    text = "\0".join(texts)
    names = [name for name, rule in EXTRACTORS.items() if any(mark in text for mark in rule.marks)]
    for name in list(names):
        option = _OPTIONS.get(EXTRACTORS[name].option)
        values = Counter(re.findall(option, text) if option else ())
        names += [f"{name}:{value}" for value, _ in values.most_common(_MAX_VALUES)]
    return names


def _list_normalizing(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    return _choose_unused(NORMALIZING, sample)


def _list_for_values(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    scorer = sample.state.scorer
    in_use = {("normalize", name) for name in _list_in_use(scorer)}
    in_use |= {(name, getattr(scorer, name)) for name in scorer.options}
    steps = [
        step
        for step in OF_VALUES
        if step.options.keys() <= {*scorer.options} and in_use.isdisjoint(step.options.items())
    ]
    named = [_name_keys(step, sample) if "keys" in step.options.values() else step for step in steps]
    return [*named, *_choose_unused(NORMALIZING_VALUES, sample)]


def _list_in_use(scorer: Scorer) -> list[str]:
    """List the normalizations that a scorer applies."""
    return str(getattr(scorer, "normalize", "")).split(",")


def _choose_unused(rows: Sequence[Step], sample: _Sample) -> list[Step]:
    """Choose the steps whose normalizations are not yet in use. If all characters are ASCII, only spaces can differ."""
    scorer = sample.state.scorer
    text = repr([(answer.prediction, *answer.references) for answer in sample.wrong])
    usable = rows if not text.isascii() else [step for step in rows if "spaces" in step.options.values()]
    known = _list_in_use(scorer)
    return [step for step in usable if step.options["normalize"] not in known and "normalize" in scorer.options]


_MOST_KEYS = 5


def _name_keys(step: Step, sample: _Sample) -> Step:
    """Add to a step's meaning the keys in predictions that differ from keys in references only in spelling."""
    from anls_metric.analysis.extra_keys import list_keys  # strings do not need it
    from anls_metric.reading.roles import fold_name

    found: dict[str, None] = {}
    for answer in sample.wrong:
        known = {path for path, _ in list_keys(answer.references)}
        folded = set(map(fold_name, known))
        own = (path for path, _ in list_keys(answer.prediction) if path not in known)
        found |= dict.fromkeys(path for path in own if fold_name(path) in folded)
    keys = list_some([path.rpartition(".")[2] for path in found], _MOST_KEYS)
    return step._replace(meaning=f"{step.meaning}, such as {{keys}}", values={"keys": keys}) if keys else step


def _list_by_hand(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    is_known = any(hint.sentence == LOST_FORMATTING for hint in scored.answers.hints)
    return [step for step in BY_HAND if not (is_known and step.name == DECIMALS)]


def _list_extra_keys(sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
    if "ignore_keys" in typed:
        return []
    from anls_metric.analysis.extra_keys import find_extra_keys  # strings do not need it

    keys = find_extra_keys(sample.state.scorer, sample.state.predictions, sample.state.references)
    return [leave_out(keys)] if keys else []


class _Kind(NamedTuple):
    """A kind of step: the function that lists its steps, and the forms of answers to which they apply."""

    list_all: Callable[[_Sample, Scored, Mapping[str, str]], list[Step]]
    forms: tuple[Form, ...]

    def list_for(self, sample: _Sample, scored: Scored, typed: Mapping[str, str]) -> list[Step]:
        """List the steps of this kind for a sample."""
        return self.list_all(sample, scored, typed) if sample.state.scorer.form in self.forms else []


_OF_VARIANTS = _Kind(_list_variants, ("text",))
_KINDS = (
    _Kind(_list_splitting, ("text",)),
    _OF_VARIANTS,
    _Kind(_list_roots, ("value",)),
    _Kind(_list_roots_of_references, ("value",)),
    _Kind(_list_chains, ("text", "value")),
    _Kind(_list_extra_keys, ("value",)),
    _Kind(_list_normalizing, ("text",)),
    _Kind(_list_for_values, ("value",)),
    _Kind(_list_by_hand, ("text",)),
)
"""The kinds of steps, in the order in which the program applies them."""
