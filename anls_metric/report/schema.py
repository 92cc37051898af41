"""Defines the keys of the JSON document and their types.

Scores are from 0 to 1. Names from the data, such as field names, are the keys of a `Mapping`. docs/json.md prints the
text under each key, and keys without a text share the next text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from anls_metric.analysis.parts import PARTS
from anls_metric.analysis.parts.all_keys import Leaves

if TYPE_CHECKING:
    from typing import TypeAlias

FigureKind = Literal["forest", "threshold", "groups", "keys"]
"""The kinds of figures."""

FORMAT = 1
"""The version of the document. It changes if a key is removed or its meaning or type changes, but not if a key is
added.
"""

Interval = list[float] | None
"""The ends of a 95% confidence interval, or None if there are fewer than two clusters."""


class Clusters(TypedDict):
    """The field that identifies the documents of questions, and the number of documents."""

    field: str
    """the field that identifies the document"""
    count: int
    """the number of documents"""
    rule: str
    """`without the page` if its values were shortened, or empty"""


class Hint(TypedDict):
    """A hint about what looks wrong and what to do."""

    text: str
    """what looks wrong, and what to do"""
    submission: str | None
    """the submission; null for all"""
    extract: list[str] | None
    """the [extraction steps](extraction.md) that the hint proposes; null for none"""
    anls: float | None
    """the score after the change; null if it is not known"""


# Groups


class _Group(TypedDict):
    anls: float  # None for a key under which this submission has no leaf
    interval: Interval
    """the score and its 95% CI"""
    questions: int
    """the number of questions"""


class _ComparedGroup(_Group, total=False):
    difference: float | None
    difference_interval: Interval
    """for a compared submission, its score minus the baseline's, and the 95% CI"""


class Key(Leaves, total=False):
    """The additional keys of a group that is a key of structured answers."""

    exact_match: float | None
    """the share of its documents in which all of its leaves score 1"""
    cost: float
    """how much of the score is lost here; the costs of the keys of the outermost objects add up to 1 - ANLS\\*"""
    p_value_adjusted: float | None
    verdict: str | None
    """for a compared submission: as in [comparisons](#comparison-comparisons), with p adjusted for all keys"""


class Group(_ComparedGroup, Key, total=False):
    """The questions with one value of a field, or the documents that have a leaf under a key."""


# Submissions


class ThresholdScore(TypedDict):
    """The score at one threshold."""

    threshold: float
    anls: float
    """the threshold and the score"""


class Source(TypedDict):
    """The files and fields that were read for a submission."""

    prediction: str
    file: str
    references: str
    gold: str
    """the fields of predictions and references, and their files; `gold` is empty if one file has both"""
    joined_by: str
    """the field that joins two files"""
    rows: str
    """the number of answered questions, or of rows"""
    notes: list[str]
    """what else was done, such as choosing a harness's filter"""


class _Submission(TypedDict):
    name: str
    """its name"""
    read: str
    """what was read, in one line"""
    source: Source
    """what was read, as an object"""
    layout: str
    """the [layout](layouts.md); `table` for a table of your own"""
    questions: int
    """the number of its questions"""
    anls: float
    interval: Interval
    """the score and its 95% CI"""
    exact_match: float
    contains: float
    """the share of answers that equal a reference, and that contain one"""
    groups: dict[str, dict[str, Group]]
    """by field of `--by` and value, the [groups](#group-submissionsgroups)"""


class _Runs(TypedDict, total=False):
    runs: int
    run_scores: list[float]
    run_sd: float
    """for several runs, their number, the score of each, and the standard deviation"""


class _OfSeveralRuns(TypedDict, total=False):
    signature: str
    """in a [comparison of kept runs](runs.md) with different signatures, that of its run"""


class _OfFigures(TypedDict, total=False):
    thresholds: list[ThresholdScore]
    """with `--plot-kind threshold`, the score at each threshold from 0 to 1 in steps of 0.05"""


if TYPE_CHECKING:
    Submission: TypeAlias = dict[str, Any]  # mypy does not allow a table to add keys to a `TypedDict`
else:
    _Parts = TypedDict("_Parts", {part.key: part.type for part in PARTS}, total=False)

    class Submission(_Submission, _Runs, _Parts, _OfSeveralRuns, _OfFigures):
        """A submission, with the parts listed in `PARTS`."""


# Comparisons


class OneDocument(TypedDict):
    """A comparison repeated without the document that decides it."""

    document: Any
    """its name"""
    questions: int
    """the number of its questions"""
    difference: float
    interval: Interval
    p_value: float
    """the comparison without it"""


class MetricComparison(TypedDict):
    """A comparison of two submissions under another metric."""

    metric: str
    """the metric"""
    questions: int
    difference: float
    interval: Interval
    p_value: float
    p_value_adjusted: float
    """as above"""
    is_better: bool | None
    """whether the second has the better mean"""


class _OfDocuments(TypedDict, total=False):
    differing: int | None
    """the number of documents (or questions, without documents) in which the scores differ"""


class _Pair(_OfDocuments):
    first: str
    second: str
    """the two submissions; the first is the baseline"""
    questions: int
    """the number of questions that both have"""
    difference: float
    interval: Interval
    """the score of the second minus that of the first, and its 95% CI, which excludes 0 exactly if `p_value` is below
    0.05"""
    p_value: float
    p_value_adjusted: float
    """the p-value, before and after the adjustment for several comparisons"""
    wins: int
    losses: int
    equal: int
    """the number of questions on which the second scores higher, lower, and the same"""
    mde: float | None
    """the minimum detectable effect; null if it would be more than 1"""
    verdict: str
    """`better`, `worse`, `no significant difference` or, with fewer than six, `too few documents`"""
    few_documents: bool
    """whether there are fewer than 30 documents"""
    seeds_bound: float | None
    """with [several runs](compare.md#several-runs-of-a-model) of both, the difference up to which other seeds could
    reverse it; otherwise null"""


class _Comparison(_Pair):
    p_value_is_bound: bool
    """whether `p_value` is the smallest possible one, so that the true one may be smaller"""
    one_document: OneDocument | None
    """if one document turns the verdict or makes up a third of the difference; otherwise null"""


class Comparison(_Comparison, total=False):
    """A comparison of two submissions."""

    deciding_interval: Interval
    """the interval at the level of `p_value_adjusted`: it excludes 0 exactly if the verdict is `better` or `worse`"""
    documents_needed: int | None
    """about how many documents (or questions, without documents) would show such a difference at 80% power; null for
    more than a million"""
    lost: dict[str, float]
    """the difference by cause: how much more the first loses to it than the second; not with `--quiet`"""
    metrics: Mapping[str, MetricComparison]
    """with `--metrics`, the comparison under each metric"""


class Best(TypedDict):
    """The best submission."""

    name: str
    """the submission with the highest score; in a tie, the first"""
    no_significant_difference: list[str]
    """the submissions that are not [significantly different](statistics.md#several-models) from it"""


class Gate(TypedDict):
    """A pair of submissions that was tested for `--fail-if-worse`."""

    first: str
    second: str
    """the pair"""
    difference: float
    p_value_adjusted: float
    p_value_is_bound: bool
    verdict: str
    """as in `comparisons`"""
    doubt: str | None
    """why the pair cannot be decided; null if it can"""
    differing: int | None
    """as in `comparisons`"""


class Match(TypedDict):
    """A variant or metric that reproduces a published number."""

    name: str
    """the submission"""
    variant: str
    """the variant or metric that reproduces the number"""
    threshold: float | None
    """the threshold, if it is not the variant's own; otherwise null"""
    extract: str
    """the extraction steps, "" for none"""
    average: str
    """`--average` of a variant for nested values, "" for the default"""
    none_keys: str
    """`--none-keys` of a variant for nested values, "" for the default"""
    scale: int
    """1, or 100 if the number is a percentage"""
    anls: float
    """the score, from 0 to 1"""
    exact: bool
    """whether the score rounds to the number; otherwise it is the nearest score"""


class FindChance(TypedDict):
    """How much a match with a published number proves."""

    tried: int
    """the number of combinations that were tried"""
    share: float
    """of the numbers near it with as many digits, the share that at least one of the combinations produces"""


# The document


class _Document(TypedDict):
    format: int
    """the [version of the document](#the-version-of-the-document)"""
    signature: str
    """the [signature](signature.md) of the scores"""
    questions: int
    """the number of questions, or the largest number if submissions differ"""
    clusters: Clusters | None
    """the documents that questions are about; null if no field identifies them"""
    hints: list[Hint]
    """the [hints](#hint-hints), the most expensive first, at most three about the answers of each submission"""
    submissions: list[Submission]
    """the [submissions](#submission-submissions), in the order in which you passed them"""
    comparisons: list[Comparison]
    """the [comparisons](#comparison-comparisons) with the baseline, or of all pairs; empty for one submission"""


class Independent(TypedDict, total=False):
    """A key that exists only if no field identifies the documents of questions."""

    independent: str
    """a sentence that says that questions were treated as independent, and which field may identify their documents"""


class Compared(TypedDict, total=False):
    """Keys that exist only if there are several submissions."""

    best: Best
    """the best submission"""
    baseline: str
    """the name of the baseline"""
    all_pairs: bool
    """whether every pair was compared"""
    chose_best: bool
    """whether the baseline was chosen as the best of three or more, so that p is adjusted for this choice"""
    gate: list[Gate]
    """with `--fail-if-worse`: the pairs that decide the exit status"""


class Pair(_Pair):
    """A comparison, without information on the document that decides it."""


class PairComparison(Pair):
    """A comparison in the report."""

    note: str
    """why interval and verdict disagree"""


class Headline(TypedDict, total=False):
    """The content of the top of the report."""

    heading: str
    summary: str
    """the verdict and the sentences below it"""
    warnings: list[str]
    """the sentences in the summary that cast doubt on the scores"""
    names: Mapping[str, str]
    """the names in the report, without a long beginning that all of them share"""
    variants: Mapping[str, Mapping[str, float]]
    """the score of each submission under each variant"""
    ranks: Mapping[str, int]
    """the ranks: 1 for the best and for all that are not significantly different from it"""
    reported_baseline: str
    """the submission with which the report compares the others: the `baseline`, or with `--all-pairs` the best of three
    or more"""
    pairs: Mapping[str, Mapping[str, PairComparison]]
    """the comparisons with the `reported_baseline`, as in `comparisons` without `one_document`; p is adjusted for
    these"""
    reversed_by: Mapping[str, float]
    """by how much each variant puts the second-best submission ahead of the best"""


class Document(_Document, Independent, Compared, Headline, total=False):
    """A JSON document that contains all results."""

    label: str
    """the name of the score, if it is not ANLS"""
    threshold: float
    """with `--plot-kind threshold`, the threshold of the scores"""
    find: list[Match]
    find_chance: FindChance
    """with `--find`, [what gives the number](#a-published-number-find)"""


# What only the views need


class HintMessage(TypedDict):
    """The message of a hint. Messages are in the order of the hints."""

    text: str  # for Python, without the name of the submission
    before: float | None  # the score before the change, if the text shows both
    options: dict[str, str]  # the options that the hint proposes
    is_note: bool  # whether it is about a difference
    cost: float  # by how much the score is too low


class Row(TypedDict, total=False):
    """The answer to a question, as in `answer_rows.AnswerRow`."""

    id: str
    question: str | None
    prediction: Any
    references: list[Any]
    score: float
    outcome: str
    raw: str | None
    groups: dict[str, Any]
    runs: list[Any]
    lost: list[list[Any]]  # each cause with its points
    document: Any  # what the question is about; None if it has no document


class Deciding(OneDocument):
    """The document that decides a difference."""

    of: dict[str, Any]  # the comparison


class Standings(TypedDict, total=False):
    """The standings of the submissions, from `standings.describe_standings`."""

    variants: dict[str, dict[str, float]]
    ranks: dict[str, int]
    reported_baseline: str
    best_two: PairComparison
    pairs: dict[str, dict[str, PairComparison]]
    reversed_by: dict[str, float]
    reversals_count_case: bool
    p_value: float
    one_document: Deciding | None


class Outcome(TypedDict):
    """A cause, and the text about the answers with this cause."""

    name: str
    meaning: str


class Confusion(TypedDict):
    """A frequent edit, and the numbers of the questions in which it occurs."""

    predicted: str
    accepted: str
    count: int
    questions: list[int]


class AnswersData(TypedDict):
    """The answers in a submission, by question number."""

    rows: list[dict[str, Any] | None]
    confusions: list[Confusion]


class ScriptData(TypedDict):
    """The data that the report script draws, from `question_data.build_question_data`."""

    label: str
    source: str
    outcomes: list[Outcome]
    suspected_label_errors: list[str]
    suspicions: list[str]
    accepted: dict[Any, dict[Any, dict[Any, float]]]
    unseen: list[list[Any] | None]
    documents: list[list[Any]]
    leaves: list[list[dict[str, int] | None]]
    contributions: dict[str, list[dict[str, Any]]]
    of_strings: bool
    groups: dict[str, dict[str, list[int]]]
    first_field: str
    ids: list[str]
    questions: list[str]
    pages: list[str]
    references: list[list[str]]
    added: dict[Any, list[str]]
    images: list[Any]
    pictures: list[str]
    answers: list[AnswersData]
    sentences: list[str]


class ReportData(TypedDict):
    """The additional data that the HTML report shows, from `anls_metric.document.build_document`."""

    document: Document  # with the best first, and with the comparisons of the report
    messages: list[HintMessage]
    order: list[str]  # the names in the order in which the user passed them
    grouped: list[dict[str, dict[str, Group]]]  # the groups of each submission, by field
    total: int  # the number of all questions
    image_note: str  # which images are left out
    standings: Standings
    data: ScriptData
    looked_at: list[int]  # the numbers of the submission to look at first and of its baseline; -1 for none
    cases: list[dict[str, Any]]  # the questions to look at first, see `first_look.Case`


class Figures(TypedDict, total=False):
    """The additional data that figures show."""

    unfit: dict[str, str]  # the reason why a kind cannot be drawn, by kind
    threshold: float
    thresholds: list[list[ThresholdScore]]  # for each submission


Words = dict[str, dict[str, str]]


class _ForViews(TypedDict):
    messages: list[HintMessage]
    words: Words  # the texts of a message for other front ends, by its text for Python
    made: dict[str, str]  # the date, and the versions of what computed the scores
    options: dict[str, Any]  # the options that differ from the defaults, by their names in Python
    digits: int | None  # the number of decimal places that the user asked for
    averages_rows: bool  # whether the score is the mean of the question scores
    command: str  # the command that scored; empty for a call in Python


class _IfAsked(TypedDict, total=False):
    rows: dict[str, list[Row]]  # the answers in each submission
    figures: Figures
    report: ReportData


class Run(Document, _ForViews, _IfAsked, total=False):
    """A document that also contains the data that only the views need. A run in a file contains all of this data."""


FOR_VIEWS = (*_ForViews.__annotations__, *_IfAsked.__annotations__)
"""The keys that only the views need and that are left out of the printed document."""
