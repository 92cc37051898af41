"""The report: one file that shows scored sets, opens without a network, and can be sent to a colleague.

What it says of the whole is written here, as HTML and SVG that need no script. Its questions are data, which
assets/report.js shows, filters, sorts and searches. Every text of a user is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from anls_metric.analysis import curves
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.questions import Question, join_questions
from anls_metric.analysis.scored import KEYS, Groups, group, grouping_fields, in_order
from anls_metric.core.explanation import format_number
from anls_metric.core.variants import VARIANTS, Variant, get_variant
from anls_metric.core.version import __version__
from anls_metric.report import charts
from anls_metric.report.document import document
from anls_metric.report.html_parts import text
from anls_metric.report.images import Images
from anls_metric.report.question_data import MOST_BYTES, as_script, columns, shown_questions
from anls_metric.report.terminal import printable

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared

ASSETS = Path(__file__).parent / "assets"

_MOST_GROUPS = 40  # of a field that are shown
_FEW_GROUPS = 12  # that a field has which nobody asked for, and is shown all the same
_MOST_FIELDS = 4  # that are found
_LOOKED_AT = 5_000  # rows, to find them

# In the order of a bar: from right to wrong.
_IN_A_BAR = (
    "equal",
    "close enough",
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
    compared: Compared | None = None,
    hints: Sequence[str] = (),
    source: str = "",
    images: Images | None = None,
    most_bytes: int = MOST_BYTES,
    most_by_variant: int | None = None,
) -> str:
    """The report of one submission or more, as an HTML file.

    Args:
        entries: the submissions, whose sets keep their rows with their similarities.
        compared: how they compare, where there are several.
        hints: what to know of the numbers before believing them.
        source: the name of the file that has the questions.
        images: the pages that the questions are about.
        most_bytes: how much text of questions and answers it may hold; beyond, differences and zeros come first, and
            the report says what it left out.
        most_by_variant: beyond so many answers they are not scored again under every variant; None for any number.

    Returns:
        The text of the file, to be written as UTF-8 without changing line ends.
    """
    whole = _Whole(entries, compared, hints)
    shown = shown_questions(whole.questions, most_bytes)
    sets = [entry.scored_set for entry in whole.entries]
    data = columns(shown, sets, [field for field in whole.groups if field != KEYS], images)
    whole.shown_groups = {field: one["names"] for field, one in data["groups"].items()}
    notes = [
        f"{len(shown):,} of {len(whole.questions):,} questions are in this file, those that differ or score 0 before "
        "any other; the numbers above are of all of them."
        if len(shown) < len(whole.questions)
        else "",
        f"{images.note}." if images and images.note else "",
    ]
    style, script = _asset("report.css"), _asset("report.js")
    return Template(_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=text(whole.title),
        head=_head(whole, source),
        summary="".join(_sections(whole, most_by_variant)),
        notes="".join(f"<p class=note>{text(note)}</p>" for note in notes if note),
        version=text(__version__),
        data=as_script({**_about(whole), **data}),
        style=style,
        script=script,
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


class _Whole:
    """The submissions, the best first: their colours are their places."""

    def __init__(self, entries: Sequence[Entry], compared: Compared | None, hints: Sequence[str]) -> None:
        self.entries = sorted(entries, key=lambda entry: -entry.scored_set.mean)
        self.compared = compared
        self.document = document(self.entries, compared, hints)
        self.submissions: list[dict[str, Any]] = self.document["submissions"]
        self.label = self.entries[0].scored_set.label
        self.scorer = self.entries[0].scored_set.scorer
        self.variant = self.scorer if isinstance(self.scorer, Variant) else None
        self.names = [entry.name for entry in self.entries]
        self.shown_groups: dict[str, list[str]] = {}
        self.title = self.names[0] if len(entries) == 1 else f"{len(entries)} submissions"

    @cached_property
    def questions(self) -> list[Question]:
        """Every question."""
        return join_questions([entry.scored_set for entry in self.entries])

    @cached_property
    def groups(self) -> dict[str, list[Groups]]:
        """By field, the groups of each submission: of the fields that were asked for, else of those that have few."""
        sets = [entry.scored_set for entry in self.entries]
        fields = [field for field in sets[0].groups if any(one.groups[field] for one in sets)]
        if not fields:
            found = [field for field in grouping_fields([one.row for one in sets[0].rows]) if field != "question"]
            few = (field for field in found if len(group(sets[0].rows[:_LOOKED_AT], field)) <= _FEW_GROUPS)
            fields = list(islice(few, _MOST_FIELDS))
        return {field: [one.groups.get(field) or group(one.rows, field) for one in sets] for field in fields}


def _about(whole: _Whole) -> dict[str, Any]:
    """What the script knows besides the questions."""
    variant = whole.variant or get_variant()  # texts inside values are as by default
    return {
        "signature": whole.document["signature"],
        "submissions": list(map(printable, whole.names)),
        "baseline": whole.names.index(whole.compared.baseline) if whole.compared else -1,
        "outcomes": [{"name": outcome.name, "meaning": outcome.meaning} for outcome in OUTCOMES],
        "ignore_case": variant.ignore_case,
        "whitespace": variant.whitespace,
        "of_texts": whole.variant is not None,
    }


# What is said of the whole


def _head(whole: _Whole, source: str) -> str:
    clusters, count = whole.document["clusters"], whole.document["questions"]
    of = f" of {text(source)}" if source else ""
    by = f" · {clusters['count']:,} clusters by {text(clusters['field'])}" if clusters else ""
    return (
        f"<p class=kicker>{whole.label} report</p><div class=title><h1><bdi>{text(whole.title)}</bdi></h1>"
        f"<p class=of>{count:,} question{'s' * (count != 1)}{of}{by}</p>"
        f"<p class=signature><code>{text(whole.document['signature'])}</code></p></div>"
    )


def _sections(whole: _Whole, most_by_variant: int | None) -> Iterator[str]:
    yield _hints(whole.document["hints"])
    yield _section("which", "Which is better", _ranked(whole)) if len(whole.entries) > 1 else _alone(whole)
    flawless = all(one["outcomes"]["equal"] == one["questions"] for one in whole.submissions)
    yield _section("outcomes", "Nothing goes wrong" if flawless else "What goes wrong", _outcomes(whole))
    if whole.variant:
        yield "<div class=two>"
        yield _section("thresholds", "ANLS over the threshold", _thresholds(whole, whole.variant))
        yield _section("spread", "Similarities, before the threshold", _spreads(whole, whole.variant))
        yield "</div>"
    for place, (field, groups) in enumerate(whole.groups.items()):
        yield _section(f"groups-{place}", f"By {text(field, 80)}", _grouped(whole, field, groups))
    if whole.variant:
        answers = sum(entry.scored_set.count for entry in whole.entries)
        few = most_by_variant is None or answers <= most_by_variant
        yield _section("variants", "Under every variant", _variants(whole) if few else _MANY_ANSWERS)


def _section(name: str, title: str, content: str) -> str:
    return f'<section class=card aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{content}</section>'


_FLAGS = re.compile(r"--[a-z-]+(?: (?!with|or|and)[\w,:.]+)?")


def _hints(hints: Sequence[str]) -> str:
    said = [_FLAGS.sub(r"<code>\g<0></code>", text(hint, 1000)) for hint in hints]
    items = "".join(f"<li>{hint}</li>" for hint in said)
    return f'<section class=hints aria-label="What to know first"><b>Look here</b><ul>{items}</ul></section>' * bool(
        hints
    )


def _name(name: str, colour: int) -> str:
    return f'<span class="name s{colour % charts.COLOURS}"><i class=dot></i><bdi>{text(name, 120)}</bdi></span>'


def _parts(submission: Mapping[str, Any]) -> list[charts.Part]:
    outcomes = submission["outcomes"]
    right, partial = outcomes["equal"], outcomes["close enough"]
    zero = submission["questions"] - right - partial
    return [
        charts.Part("equal", right, "good"),
        charts.Part("partial", partial, "partial"),
        charts.Part("zero", zero, "zero"),
    ]


_KEY = (
    "<p class=key><span><i class=good></i>equal</span><span><i class=partial></i>partial</span>"
    "<span><i class=zero></i>zero</span></p>"
)


def _interval(interval: Sequence[float] | None, form: str = ".4f") -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}" if interval else "-"


def _alone(whole: _Whole) -> str:
    (one,) = whole.submissions
    interval = one["interval"]
    scale = charts.scale_of([one["anls"], *(interval or [])])
    spread = f"95 % interval {_interval(interval)}" if interval else "No interval: it needs two clusters of questions."
    shares = [f"<div><dt>{part.name}</dt><dd>{part.size:,}</dd></div>" for part in _parts(one)]
    return (
        '<section class="card hero" aria-labelledby=score><h2 id=score>'
        f"{whole.label}</h2>"
        f"<div class=number><b>{one['anls']:.4f}</b>"
        f"{charts.whiskers(one['anls'], interval, scale, 0)}{_ends(scale)}<p class=said>{spread}</p></div>"
        f"<div class=shares>{charts.stacked(_parts(one), 20)}{_KEY}<dl>{''.join(shares)}"
        f"<div><dt>exact match</dt><dd>{one['exact_match']:.4f}</dd></div>"
        f"<div><dt>contains an answer</dt><dd>{one['contains']:.4f}</dd></div></dl></div></section>"
    )


def _ends(scale: charts.Scale) -> str:
    return f"<span class=ends><span>{format_number(scale.low)}</span><span>{format_number(scale.high)}</span></span>"


def _ranked(whole: _Whole) -> str:
    """The submissions, the best first, each against the baseline."""
    comparisons = {one["second"]: one for one in whole.document["comparisons"]}
    scale = charts.scale_of([end for one in whole.submissions for end in one["interval"] or [one["anls"]]])
    rows = []
    for place, one in enumerate(whole.submissions):
        cells = [
            ("", f"<td class=rank>{place + 1}</td>"),
            ("", f"<th scope=row>{_name(one['name'], place)}</th>"),
            (whole.label, f"<b class=anls>{one['anls']:.4f}</b>"),
            ("95 % interval", charts.whiskers(one["anls"], one["interval"], scale, place)),
            ("equal, partial, zero", charts.stacked(_parts(one))),
            ("exact", f"{one['exact_match']:.3f}"),
            ("contains", f"{one['contains']:.3f}"),
        ]
        if whole.compared:
            cells += _against(comparisons.get(one["name"]))
        rows.append("<tr>" + "".join(_cell(label, content) for label, content in cells) + "</tr>")
    head = ["<th></th>", "submission", whole.label, f"95 % interval{_ends(scale)}", "equal · partial · zero"]
    head += ["exact", "contains"]
    if whole.compared:
        head += [f"against <bdi>{text(whole.compared.baseline, 60)}</bdi>", "p", "verdict"]
    return f'<table class="stack ranked">{_table_head(head)}<tbody>{"".join(rows)}</tbody></table>{_fine_print(whole)}'


def _table_head(head: Sequence[str]) -> str:
    cells = "".join(name if name.startswith("<th") else f"<th scope=col>{name}</th>" for name in head)
    return f"<thead><tr>{cells}</tr></thead>".replace("<th></th>", "<td></td>")


def _cell(label: str, content: str) -> str:
    if content.startswith(("<td", "<th")):
        return content
    return f'<td data-label="{label}">{content}</td>'


_VERDICT = {"better": "good", "worse": "zero", "not told apart": "plain", "too few questions": "plain"}


def _against(comparison: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if comparison is None:
        return [("difference", "<span class=said>the baseline</span>"), *[("", "<td class=none></td>")] * 2]
    p = comparison["p_value_adjusted"]
    return [
        (
            "difference",
            f"{comparison['difference']:+.4f}<small>{_interval(comparison['interval'], '+.3f')}</small>",
        ),
        ("p", "&lt;0.001" if p < 0.001 else f"{p:.3f}"),
        (
            "verdict",
            f'<span class="verdict {_VERDICT[comparison["verdict"]]}">{comparison["verdict"]}</span>'
            f"<small>{comparison['better']:,} better, {comparison['worse']:,} worse</small>",
        ),
    ]


def _fine_print(whole: _Whole) -> str:
    """How the comparison was made, and what it cannot tell."""
    if whole.compared is None:
        return _KEY
    clusters, count = whole.compared.clusters, len(whole.compared.comparisons)
    by = f"by {text(clusters.field)} ({clusters.count:,} clusters)" if clusters else "question by question"
    said = f"Paired {by}, signs flipped"
    said += f"; p adjusted for {count} comparisons (Holm)." if count > 1 else "."
    least = whole.compared.least_difference
    if least:
        said += f" A difference under {least:.4f} cannot be told here."
    return f"{_KEY}<p class=said>{said}</p>"


def _outcomes(whole: _Whole) -> str:
    """Why answers score what they score: a bar for each submission, and the counts, each of which is a filter."""
    places = {outcome.name: (number, outcome) for number, outcome in enumerate(OUTCOMES)}
    used = [name for name in _IN_A_BAR if any(one["outcomes"][name] for one in whole.submissions)]
    bars = "".join(
        f"<div>{_name(one['name'], place) if len(whole.entries) > 1 else ''}"
        + charts.stacked([charts.Part(name, one["outcomes"][name], f"o{places[name][0]}") for name in used], 18)
        + "</div>"
        for place, one in enumerate(whole.submissions)
    )
    rows = "".join(
        f"<tr><th scope=row><i class='o{places[name][0]}'></i>{name}<small>{text(places[name][1].meaning)}</small></th>"
        + "".join(
            _cell(text(one["name"], 120), _count(one["outcomes"][name], place, places[name][0]))
            for place, one in enumerate(whole.submissions)
        )
        + "</tr>"
        for name in used
    )
    head = ["outcome", *(_name(name, place) for place, name in enumerate(whole.names))]
    if len(whole.entries) == 1:
        head[1:] = ["answers"]
    table = f'<table class="stack counts{_few(whole)}">{_table_head(head)}<tbody>{rows}</tbody></table>'
    return f'<div class="bars{" alone" * (len(whole.entries) == 1)}">{bars}</div>{table}'


def _few(whole: _Whole) -> str:
    return " few" * (len(whole.entries) <= 7)


def _count(count: int, submission: int, outcome: int) -> str:
    if not count:
        return "<span class=said>0</span>"
    return f'<button class=filter data-submission="{submission}" data-outcome="{outcome}">{count:,}</button>'


def _thresholds(whole: _Whole, variant: Variant) -> str:
    lines = [
        charts.Line(entry.name, place, curves.by_threshold(entry.scored_set))
        for place, entry in enumerate(whole.entries)
    ]
    said = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{y:.3f} at {format_number(x)}" for x, y in line.points if x in (0.25, 0.5, 0.75, 0.9))
        for line in lines
    )
    names = "".join(_name(line.name, line.colour) for line in lines) if len(lines) > 1 else ""
    of = "of the distance, " if "distance" in variant.kept else ""
    mark = f"dashed: the threshold of these scores, {format_number(variant.threshold)}"
    return (
        f"{charts.curves(lines, variant.threshold, said)}<p class=said>threshold, {of}{mark}</p>"
        f"<p class=names>{names}</p>"
    )


def _spreads(whole: _Whole, variant: Variant) -> str:
    least = curves.least_similarity(variant)
    found = []
    for place, entry in enumerate(whole.entries):
        counts, equal = curves.spread(entry.scored_set)
        rest = sum(counts)
        said = f"{equal:,} equal, {rest:,} others; the tallest bar is {max(counts):,}" if rest else "all equal"
        name = _name(entry.name, place) if len(whole.entries) > 1 else ""
        drawn = charts.distribution(counts, least, place, said) if rest else ""
        found.append(f"<figure><figcaption>{name}<span class=said>{said}</span></figcaption>{drawn}</figure>")
    key = f"from 0 to 1, without the equal ones; dashed: {format_number(least)}, under which one scores 0"
    drawn = f'<div class="spreads{" alone" * (len(found) == 1)}">{"".join(found)}</div>'
    return drawn + f"<p class=said>{key}</p>" * ("<svg" in drawn)


def _grouped(whole: _Whole, field: str, groups: Sequence[Groups]) -> str:
    everything: Groups = {name: tally for one in reversed(groups) for name, tally in one.items()}
    names = list(in_order(everything))
    if len(names) > _MOST_GROUPS:
        names = sorted(sorted(names, key=lambda name: -everything[name].count)[:_MOST_GROUPS], key=names.index)
    rows = "".join(
        f"<tr><th scope=row>{_group(whole, field, name)}</th><td data-label=questions>{everything[name].count:,}</td>"
        + "".join(
            _cell(text(whole.names[place], 120), f"{one[name].mean:.4f}{charts.bar(one[name].mean, place)}")
            if name in one
            else "<td>-</td>"
            for place, one in enumerate(groups)
        )
        + "</tr>"
        for name in names
    )
    head = [text(field, 80), "questions", *(_name(name, place) for place, name in enumerate(whole.names))]
    if len(whole.names) == 1:
        head[2:] = [whole.label]
    rest = len(everything) - len(names)
    more = f"<p class=said>and {rest:,} smaller groups</p>" if rest else ""
    return f'<table class="stack numbers{_few(whole)}">{_table_head(head)}<tbody>{rows}</tbody></table>{more}'


def _group(whole: _Whole, field: str, name: str) -> str:
    """The name of a group, which is a filter where the file holds questions of it."""
    shown, known = f"<bdi>{text(name, 80)}</bdi>", whole.shown_groups.get(field, [])
    if name not in known:
        return shown
    places = f'data-field="{list(whole.groups).index(field)}" data-group="{known.index(name)}"'
    return f"<button class=filter {places}>{shown}</button>"


_MANY_ANSWERS = "<p class=said>Of so many answers, <code>anls --variant all</code> says it.</p>"


def _variants(whole: _Whole) -> str:
    """The number of each submission under each variant, with its own threshold and case."""
    found = [entry.scored_set.means_under(VARIANTS.values()) for entry in whole.entries]
    rows = "".join(
        f"<tr{' class=chosen' * (name == whole.scorer.name)}><th scope=row>{name}"
        f"<small>{text(variant.meaning.replace('`', ''))}</small></th>"
        + "".join(
            _cell(text(whole.names[place], 120), f"{one[name]:.4f}{charts.bar(one[name], place)}")
            for place, one in enumerate(found)
        )
        + "</tr>"
        for name, variant in VARIANTS.items()
    )
    head = ["variant", *(_name(name, place) for place, name in enumerate(whole.names))]
    if len(found) == 1:
        head[1:] = ["ANLS"]
    low, high = min(found[0].values()), max(found[0].values())
    spread = f"from {low:.4f} to {high:.4f}" if low < high else f"always {low:.4f}"
    said = f"<bdi>{text(whole.names[0], 80)}</bdi>: {spread}, as each program would have it"
    return (
        f"<details><summary>{said}</summary><p class=said>Each with its own threshold and case.</p>"
        f'<table class="stack numbers{_few(whole)}">{_table_head(head)}<tbody>{rows}</tbody></table></details>'
    )
