"""The HTML report: one file that shows scored sets, opens without a network, and can be sent to a colleague.

The file holds one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no text of a user becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from anls_metric.analysis import curves
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.group_tables import build_group_table
from anls_metric.analysis.outcomes import OUTCOMES, Judge
from anls_metric.analysis.questions import Question, join_questions
from anls_metric.analysis.scored import KEYS, Groups, group, grouping_fields
from anls_metric.analysis.suspects import FEWEST, Suspect, find_suspects
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.core.version import __version__
from anls_metric.report.beside import list_lines
from anls_metric.report.document import build_document, list_extraction
from anls_metric.report.images import Images
from anls_metric.report.numbers import PLAIN
from anls_metric.report.question_data import MOST_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.tables import FORMATS
from anls_metric.report.terminal import make_printable

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Comparison, ComparisonSet

ASSETS = Path(__file__).parent / "assets" / "report"

# The modules of the script. A module comes after the modules that it imports.
MODULES = (
    "elements",
    "data",
    "marks",
    "state",
    "charts",
    "questions",
    "edits",
    "downloads",
    "ranking",
    "closer",
    "page",
    "question",
    "list",
    "main",
)

_FEW_GROUPS = 12  # the most groups of a field that is shown without being asked for
_MOST_FIELDS = 4  # the most fields that are shown without being asked for
_ROWS_TO_LOOK_AT = 5_000  # the rows that are examined to find these fields

# The outcomes in the order of a bar, from right to wrong.
_BAR_ORDER = (
    "equal",
    "close enough",
    "same value",
    "contains an answer",
    "part of an answer",
    "formatting",
    "another number",
    "refusal",
    "empty",
    "missing",
    "other",
)


def as_html(
    entries: Sequence[Entry],
    compared: ComparisonSet | None = None,
    hints: Sequence[str] = (),
    source: str = "",
    images: Images | None = None,
    most_bytes: int = MOST_BYTES,
    most_by_variant: int | None = None,
) -> str:
    """Format a report of one submission or more as an HTML file.

    Args:
        entries: the submissions; their scored sets must keep their rows and similarities.
        compared: the comparison of several submissions.
        hints: warnings about the scores.
        source: the name of the file with the questions.
        images: the images of the pages that the questions are about.
        most_bytes: the limit for the texts of questions and answers. Above it, questions with differences and zeros
            come first, and the report says how many questions it left out.
        most_by_variant: the most answers that are scored under every variant; None for no limit.

    Returns:
        The content of the file. Write it as UTF-8, without changing the line ends.
    """
    whole = _Whole(entries, compared, hints)
    questions = select_questions(whole.questions, most_bytes)
    fields = [field for field in whole.groups if field != KEYS]
    corrections = entries[0].corrections
    data = build_question_data(questions, whole.sets, fields, images, corrections.added if corrections else None)
    notes = [
        f"{len(questions):,} of {len(whole.questions):,} questions are in this file, those that differ or score 0 "
        "before any other; the numbers above are of all of them."
        if len(questions) < len(whole.questions)
        else "",
        f"{images.note}." if images and images.note else "",
    ]
    summary = {"source": source, "version": __version__, "notes": list(filter(None, notes))}
    style, script = _read_asset("report.css"), _join_modules()
    return Template(_read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=_escape(f"{whole.title} - {whole.label} report"),
        description=_escape(whole.describe(source)),
        scores=_escape("\n".join(f"{each['anls']:.4f}  {each['name']}" for each in whole.submissions)),
        data=encode_script_data({**summary, **_describe_report(whole, most_by_variant), **data}),
        style=style,
        script=script,
    )


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _join_modules() -> str:
    """Join the modules to one script. They share one scope, so imports and exports are removed."""
    lines = (line for name in MODULES for line in _read_asset(f"{name}.js").splitlines(keepends=True))
    return "".join(line.removeprefix("export ") for line in lines if not line.startswith("import "))


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _escape(text: str) -> str:
    return html.escape("\n".join(map(make_printable, text.split("\n"))))


class _Whole:
    """The submissions of a report, the best first, with shared data. The place of a submission sets its colour."""

    def __init__(self, entries: Sequence[Entry], compared: ComparisonSet | None, hints: Sequence[str]) -> None:
        self.entries = sorted(entries, key=lambda entry: -entry.scored_set.mean)
        self.sets = [entry.scored_set for entry in self.entries]
        self.compared = compared
        self.document = build_document(self.entries, compared, hints)
        self.submissions: list[dict[str, Any]] = self.document["submissions"]
        self.label = self.sets[0].label
        self.scorer = self.sets[0].scorer
        self.variant = self.scorer if isinstance(self.scorer, Variant) else None
        self.names = [entry.name for entry in self.entries]
        self.title = self.names[0] if len(entries) == 1 else f"{len(entries)} submissions"

    def describe(self, source: str) -> str:
        """Describe in words what the report is about."""
        clusters, count = self.document["clusters"], self.document["questions"]
        of = f" of {source}" if source else ""
        by = f" · {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
        return f"{count:,} question{'s' * (count != 1)}{of}{by}"

    @cached_property
    def questions(self) -> list[Question]:
        """Every question."""
        return join_questions(self.sets)

    @cached_property
    def suspects(self) -> list[Suspect]:
        """The questions with suspect accepted answers; none for fewer than three submissions."""
        return find_suspects(self.questions, Judge(self.scorer).normalize) if len(self.entries) >= FEWEST else []

    @cached_property
    def groups(self) -> dict[str, list[Groups]]:
        """The groups of each submission by field: the fields that the user asks for, else fields with few groups.

        The field that names the documents comes last.
        """
        fields = [field for field in self.sets[0].groups if any(scored_set.groups[field] for scored_set in self.sets)]
        if not fields:
            rows = [scored.row for scored in self.sets[0].rows]
            others = (field for field in grouping_fields(rows) if field != "question")
            few = (field for field in others if len(group(self.sets[0].rows[:_ROWS_TO_LOOK_AT], field)) <= _FEW_GROUPS)
            fields = list(islice(few, _MOST_FIELDS))
        clusters = self.document["clusters"]
        if clusters and clusters["field"] not in fields:
            fields.append(clusters["field"])
        return {
            field: [scored_set.groups.get(field) or group(scored_set.rows, field) for scored_set in self.sets]
            for field in fields
        }


def _describe_report(whole: _Whole, most_by_variant: int | None) -> dict[str, Any]:
    """Describe everything in the report but the questions."""
    places = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}
    document = {**whole.document, "submissions": [_without_groups(each) for each in whole.submissions]}
    pairs, cluster_of = _compare(whole)
    return {
        "title": make_printable(whole.title),
        "label": whole.label,
        "about": make_printable(whole.describe("")),
        "signature": whole.document["signature"],
        "document": document,
        "submissions": list(map(make_printable, whole.names)),
        "baseline": whole.names.index(whole.compared.baseline) if whole.compared else -1,
        "pairs": pairs,
        "outcomes": [{"name": outcome.name, "meaning": outcome.meaning} for outcome in OUTCOMES],
        "order": [places[name] for name in _BAR_ORDER],
        "extraction": list_extraction(whole.document),
        "beside": [
            [" ".join(filter(None, line)) for line in list_lines(each, without=("points", "confusions"))]
            for each in whole.submissions
        ],
        "suspects": [{"id": each.id, "answer": each.answer, "count": each.submissions} for each in whole.suspects],
        "curves": _describe_curves(whole),
        "paper": {name: write(_without_details(whole.document), PLAIN, ()) for name, write in FORMATS.items()},
        "tables": {field: _describe_groups(whole, groups, cluster_of) for field, groups in whole.groups.items()},
        "variants": _describe_variants(whole, most_by_variant),
        "of_texts": whole.variant is not None,
    }


def _without_details(document: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the groups from a document, for the tables of a paper."""
    return {**document, "submissions": [{**_without_groups(each), "groups": {}} for each in document["submissions"]]}


def _without_groups(submission: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in submission.items() if key not in ("groups", "worst")}


def _compare(whole: _Whole) -> tuple[list[list[dict[str, Any] | None]], Mapping[str, Hashable]]:
    """Compare all pairs of submissions, by the places of baseline and other. Also returns the clusters."""
    if whole.compared is None:
        return [], {}
    from anls_metric.analysis.comparison import compare_each_with_each, find_cluster_of_questions

    scored_sets = dict(zip(whole.names, whole.sets))
    comparisons = compare_each_with_each(scored_sets, whole.compared)
    pairs = [[_describe_pair(comparisons[baseline].get(name)) for name in whole.names] for baseline in whole.names]
    return pairs, find_cluster_of_questions(scored_sets, whole.compared)


def _describe_pair(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    return {
        "difference": _round(comparison.difference),
        "interval": _round_all(comparison.interval),
        "p": comparison.p_value_adjusted,
        "least": _round(comparison.least_difference),
        "better": comparison.better,
        "worse": comparison.worse,
        "verdict": comparison.verdict,
        "note": comparison.note,
    }


def _round(value: float | None) -> float | None:
    """Round a number that is shown with four digits, with enough digits for differences."""
    return None if value is None else round(value, 6)


def _round_all(values: Sequence[float | None] | None) -> list[float | None] | None:
    return None if values is None else list(map(_round, values))


def _describe_groups(whole: _Whole, groups: Sequence[Groups], cluster_of: Mapping[str, Hashable]) -> dict[str, Any]:
    baseline = whole.names.index(whole.compared.baseline) if whole.compared else None
    table = build_group_table(whole.sets, groups, cluster_of, baseline)
    return {
        "names": list(map(make_printable, table.names)),
        "counts": table.counts if any(counts != table.counts[0] for counts in table.counts) else table.counts[:1],
        "means": list(map(_round_all, table.means)),
        "intervals": [list(map(_round_all, intervals)) if any(intervals) else None for intervals in table.intervals],
        "differences": {
            f"{first} {second}": [
                each and [_round(each.difference), _round_all(each.difference_interval)] for each in differences
            ]
            for (first, second), differences in table.differences.items()
        },
    }


def _describe_curves(whole: _Whole) -> dict[str, Any] | None:
    """Describe the mean over the threshold, the similarities in bins, and the risk over the coverage."""
    if whole.variant is None:
        return None
    spreads = [curves.count_similarities(scored_set) for scored_set in whole.sets]
    points = [curves.compute_means_by_threshold(scored_set) for scored_set in whole.sets]
    steps = [entry.assessments.steps if entry.assessments else [] for entry in whole.entries]
    return {
        "threshold": whole.variant.threshold,
        "is_distance": "distance" in whole.variant.kept,
        "least": curves.least_similarity(whole.variant),
        "thresholds": [[[x, round(y, 5)] for x, y in line] for line in points],
        "similarities": [{"counts": counts, "equal": equal} for counts, equal in spreads],
        "risks": [
            [[round(step.count / steps[-1].count, 5), round(step.risk, 5)] for step in _thin_out(steps)]
            for steps in steps
        ],
    }


_MOST_POINTS = 500


def _thin_out(points: Sequence[Any]) -> Sequence[Any]:
    """Reduce the points of a curve to the number that a screen can show; the last point stays."""
    step = 1 + len(points) // _MOST_POINTS
    return [*points[: len(points) - 1 : step], *points[-1:]]


def _describe_variants(whole: _Whole, most_by_variant: int | None) -> dict[str, Any] | None:
    """Describe the score of each submission under every variant, with the threshold and case of the variant."""
    if whole.variant is None:
        return None
    if most_by_variant is not None and sum(scored_set.count for scored_set in whole.sets) > most_by_variant:
        return {"names": []}
    means = [scored_set.means_under(VARIANTS.values()) for scored_set in whole.sets]
    return {
        "names": list(VARIANTS),
        "meanings": [variant.meaning.replace("`", "") for variant in VARIANTS.values()],
        "means": [[_round(by_name[name]) for name in VARIANTS] for by_name in means],
        "chosen": whole.scorer.name,
    }
