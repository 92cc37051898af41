"""The report: one file that shows scored sets, opens without a network, and can be sent to a colleague.

The summary of all questions is written here, as HTML and SVG that need no script. The questions are data, which
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
from anls_metric.analysis.outcomes import OUTCOMES, Judge
from anls_metric.analysis.questions import Question, join_questions
from anls_metric.analysis.scored import KEYS, Groups, group, grouping_fields, sort_groups
from anls_metric.analysis.suspects import FEWEST, Suspect, find_suspects
from anls_metric.core.explanation import format_number
from anls_metric.core.variants import VARIANTS, Variant, get_variant
from anls_metric.core.version import __version__
from anls_metric.report import charts
from anls_metric.report.beside import list_lines
from anls_metric.report.document import build_document, index_comparisons, list_extraction
from anls_metric.report.html_parts import escape
from anls_metric.report.images import Images
from anls_metric.report.numbers import PLAIN
from anls_metric.report.question_data import MOST_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.terminal import make_printable

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared

ASSETS = Path(__file__).parent / "assets"

_MOST_GROUPS = 40  # groups of a field that are shown
_FEW_GROUPS = 12  # a field that nobody asked for is shown if it has at most so many groups
_MOST_FIELDS = 4  # fields that are shown though nobody asked for them
_ROWS_TO_LOOK_AT = 5_000  # to find these fields

# The outcomes in the order of a bar: from right to wrong.
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
    compared: Compared | None = None,
    hints: Sequence[str] = (),
    source: str = "",
    images: Images | None = None,
    most_bytes: int = MOST_BYTES,
    most_by_variant: int | None = None,
) -> str:
    """The report of one submission or more, as an HTML file.

    Args:
        entries: the submissions; their scored sets must keep their rows and similarities.
        compared: the comparison of several submissions.
        hints: warnings about the scores.
        source: the name of the file with the questions.
        images: the images of the pages that the questions are about.
        most_bytes: how many bytes the texts of questions and answers may take. Beyond, questions with differences and
            zeros come first, and the report says how many questions it left out.
        most_by_variant: with more answers than this, answers are not scored under every variant; None: no limit.

    Returns:
        The text of the file. Write it as UTF-8 and do not change the line ends.
    """
    whole = _Whole(entries, compared, hints)
    questions = select_questions(whole.questions, most_bytes)
    sets = [entry.scored_set for entry in whole.entries]
    data = build_question_data(questions, sets, [field for field in whole.groups if field != KEYS], images)
    whole.shown_groups = {field: groups["names"] for field, groups in data["groups"].items()}
    notes = [
        f"{len(questions):,} of {len(whole.questions):,} questions are in this file, those that differ or score 0 "
        "before any other; the numbers above are of all of them."
        if len(questions) < len(whole.questions)
        else "",
        f"{images.note}." if images and images.note else "",
    ]
    style, script = _read_asset("report.css"), _read_asset("report.js")
    return Template(_read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(whole.title),
        head=_format_head(whole, source),
        summary="".join(_iter_sections(whole, most_by_variant)),
        notes="".join(f"<p class=note>{escape(note)}</p>" for note in notes if note),
        version=escape(__version__),
        data=encode_script_data({**_describe_report(whole), **data}),
        style=style,
        script=script,
    )


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


class _Whole:
    """The data of a report: the submissions, the best first. The colour of a submission is its place."""

    def __init__(self, entries: Sequence[Entry], compared: Compared | None, hints: Sequence[str]) -> None:
        self.entries = sorted(entries, key=lambda entry: -entry.scored_set.mean)
        self.compared = compared
        self.document = build_document(self.entries, compared, hints)
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
    def suspects(self) -> list[Suspect]:
        """The questions with suspect accepted answers; none for fewer than three submissions."""
        return find_suspects(self.questions, Judge(self.scorer).normalize) if len(self.entries) >= FEWEST else []

    @cached_property
    def groups(self) -> dict[str, list[Groups]]:
        """A field -> the groups of each submission: the fields that were asked for, else fields with few groups."""
        sets = [entry.scored_set for entry in self.entries]
        fields = [field for field in sets[0].groups if any(scored_set.groups[field] for scored_set in sets)]
        if not fields:
            rows = [scored.row for scored in sets[0].rows]
            others = (field for field in grouping_fields(rows) if field != "question")
            few = (field for field in others if len(group(sets[0].rows[:_ROWS_TO_LOOK_AT], field)) <= _FEW_GROUPS)
            fields = list(islice(few, _MOST_FIELDS))
        return {
            field: [scored_set.groups.get(field) or group(scored_set.rows, field) for scored_set in sets]
            for field in fields
        }


def _describe_report(whole: _Whole) -> dict[str, Any]:
    """The data of the script besides the questions."""
    variant = whole.variant or get_variant()  # the texts inside values are compared as by default
    return {
        "signature": whole.document["signature"],
        "submissions": list(map(make_printable, whole.names)),
        "baseline": whole.names.index(whole.compared.baseline) if whole.compared else -1,
        "outcomes": [{"name": outcome.name, "meaning": outcome.meaning} for outcome in OUTCOMES],
        "ignore_case": variant.ignore_case,
        "whitespace": variant.whitespace,
        "of_texts": whole.variant is not None,
    }


# The summary


def _format_head(whole: _Whole, source: str) -> str:
    clusters, count = whole.document["clusters"], whole.document["questions"]
    of = f" of {escape(source)}" if source else ""
    by = f" · {clusters['count']:,} clusters by {escape(clusters['field'])}" if clusters else ""
    return (
        f"<p class=kicker>{whole.label} report</p><div class=title><h1><bdi>{escape(whole.title)}</bdi></h1>"
        f"<p class=of>{count:,} question{'s' * (count != 1)}{of}{by}</p>"
        f"<p class=signature><code>{escape(whole.document['signature'])}</code></p></div>"
    )


def _iter_sections(whole: _Whole, most_by_variant: int | None) -> Iterator[str]:
    yield _format_hints(whole.document["hints"])
    yield from (f"<p class=note>{escape(sentence)}</p>" for sentence in list_extraction(whole.document))
    if len(whole.entries) > 1:
        yield _format_section("which", "Which is better", _format_ranking(whole))
    else:
        yield _format_score(whole)
    flawless = all(entry["outcomes"]["equal"] == entry["questions"] for entry in whole.submissions)
    yield _format_section("outcomes", "Nothing goes wrong" if flawless else "What goes wrong", _format_outcomes(whole))
    yield from _iter_behind(whole)
    if whole.variant:
        yield "<div class=two>"
        yield _format_section("thresholds", "ANLS over the threshold", _draw_thresholds(whole, whole.variant))
        yield _format_section("spread", "Similarities, before the threshold", _draw_spreads(whole, whole.variant))
        yield "</div>"
    for place, (field, groups) in enumerate(whole.groups.items()):
        yield _format_section(f"groups-{place}", f"By {escape(field, 80)}", _format_groups(whole, field, groups))
    if whole.variant:
        answers = sum(entry.scored_set.count for entry in whole.entries)
        few = most_by_variant is None or answers <= most_by_variant
        yield _format_section("variants", "Under every variant", _format_variants(whole) if few else _MANY_ANSWERS)


def _format_section(name: str, title: str, content: str) -> str:
    return f'<section class=card aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{content}</section>'


_FLAGS = re.compile(r"--[a-z-]+(?: (?!with|or|and)[\w,:.]+)?")


def _format_hints(hints: Sequence[str]) -> str:
    if not hints:
        return ""
    texts = (_FLAGS.sub(r"<code>\g<0></code>", escape(hint, 1000)) for hint in hints)
    items = "".join(f"<li>{text}</li>" for text in texts)
    return f'<section class=hints aria-label="What to know first"><b>Look here</b><ul>{items}</ul></section>'


def _format_name(name: str, colour: int) -> str:
    return f'<span class="name s{colour % charts.COLOURS}"><i class=dot></i><bdi>{escape(name, 120)}</bdi></span>'


def _split_answers(submission: Mapping[str, Any]) -> list[charts.Part]:
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


def _format_score(whole: _Whole) -> str:
    (submission,) = whole.submissions
    interval = submission["interval"]
    scale = charts.choose_scale([submission["anls"], *(interval or [])])
    spread = "No interval: it needs two clusters of questions."
    if interval:
        spread = f"95 % interval {PLAIN.format_interval(interval)}"
    shares = [f"<div><dt>{part.name}</dt><dd>{part.size:,}</dd></div>" for part in _split_answers(submission)]
    return (
        '<section class="card hero" aria-labelledby=score><h2 id=score>'
        f"{whole.label}</h2>"
        f"<div class=number><b>{submission['anls']:.4f}</b>"
        f"{charts.draw_interval(submission['anls'], interval, scale, 0)}{_format_ends(scale)}"
        f"<p class=said>{spread}</p></div>"
        f"<div class=shares>{charts.draw_stack(_split_answers(submission), 20)}{_KEY}<dl>{''.join(shares)}"
        f"<div><dt>exact match</dt><dd>{submission['exact_match']:.4f}</dd></div>"
        f"<div><dt>contains an answer</dt><dd>{submission['contains']:.4f}</dd></div></dl></div></section>"
    )


def _format_ends(scale: charts.Scale) -> str:
    return f"<span class=ends><span>{format_number(scale.low)}</span><span>{format_number(scale.high)}</span></span>"


def _format_ranking(whole: _Whole) -> str:
    """The submissions, the best first, each against the baseline."""
    comparisons = index_comparisons(whole.document)
    ends = [end for submission in whole.submissions for end in submission["interval"] or [submission["anls"]]]
    scale = charts.choose_scale(ends)
    rows = []
    for place, submission in enumerate(whole.submissions):
        cells = [
            ("", f"<td class=rank>{place + 1}</td>"),
            ("", f"<th scope=row>{_format_name(submission['name'], place)}</th>"),
            (whole.label, f"<b class=anls>{submission['anls']:.4f}</b>"),
            ("95 % interval", charts.draw_interval(submission["anls"], submission["interval"], scale, place)),
            ("equal, partial, zero", charts.draw_stack(_split_answers(submission))),
            ("exact", PLAIN.format(submission["exact_match"])),
            ("contains", PLAIN.format(submission["contains"])),
        ]
        if whole.compared:
            cells += _format_comparison(comparisons.get(submission["name"]))
        rows.append("<tr>" + "".join(_format_cell(label, content) for label, content in cells) + "</tr>")
    head = ["<th></th>", "submission", whole.label, f"95 % interval{_format_ends(scale)}", "equal · partial · zero"]
    head += ["exact", "contains"]
    if whole.compared:
        head += [f"against <bdi>{escape(whole.compared.baseline, 60)}</bdi>", "p", "verdict"]
    table = f'<table class="stack ranked">{_format_header(head)}<tbody>{"".join(rows)}</tbody></table>'
    return table + _format_fine_print(whole)


def _format_header(head: Sequence[str]) -> str:
    cells = "".join(name if name.startswith("<th") else f"<th scope=col>{name}</th>" for name in head)
    return f"<thead><tr>{cells}</tr></thead>".replace("<th></th>", "<td></td>")


def _format_cell(label: str, content: str) -> str:
    if content.startswith(("<td", "<th")):
        return content
    return f'<td data-label="{label}">{content}</td>'


_VERDICT = {"better": "good", "worse": "zero", "not told apart": "plain", "too few questions": "plain"}


def _format_comparison(comparison: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if comparison is None:
        return [("difference", "<span class=said>the baseline</span>"), *[("", "<td class=none></td>")] * 2]
    p, least = comparison["p_value_adjusted"], comparison["least_difference"]
    detectable = "" if least is None else f"<small>detectable: {PLAIN.format(least)}</small>"
    return [
        (
            "difference",
            f"{PLAIN.format(comparison['difference'], '+')}"
            f"<small>{PLAIN.format_interval(comparison['interval'], '+')}</small>",
        ),
        ("p", "&lt;0.001" if p < 0.001 else f"{p:.3f}"),
        (
            "verdict",
            f'<span class="verdict {_VERDICT[comparison["verdict"]]}">{comparison["verdict"]}</span>'
            f"<small>{comparison['better']:,} better, {comparison['worse']:,} worse</small>{detectable}",
        ),
    ]


def _format_fine_print(whole: _Whole) -> str:
    """How the comparison was made."""
    if whole.compared is None:
        return _KEY
    clusters, count = whole.compared.clusters, len(whole.compared.comparisons)
    by = f"by {escape(clusters.field)} ({clusters.count:,} clusters)" if clusters else "question by question"
    text = f"Paired {by}, signs flipped"
    text += f"; p adjusted for {count} comparisons (Holm)." if count > 1 else "."
    return f"{_KEY}<p class=said>{text}</p>"


def _format_outcomes(whole: _Whole) -> str:
    """The outcomes of the answers: a bar for each submission, and a table of counts; each count is a filter."""
    places = {outcome.name: (number, outcome) for number, outcome in enumerate(OUTCOMES)}
    used = [name for name in _BAR_ORDER if any(submission["outcomes"][name] for submission in whole.submissions)]
    bars = "".join(
        f"<div>{_format_name(submission['name'], place) if len(whole.entries) > 1 else ''}"
        + charts.draw_stack(
            [charts.Part(name, submission["outcomes"][name], f"o{places[name][0]}") for name in used], 18
        )
        + "</div>"
        for place, submission in enumerate(whole.submissions)
    )
    rows = "".join(
        f"<tr><th scope=row><i class='o{places[name][0]}'></i>{name}"
        f"<small>{escape(places[name][1].meaning)}</small></th>"
        + "".join(
            _format_cell(
                escape(submission["name"], 120),
                _format_count(submission["outcomes"][name], place, places[name][0]),
            )
            for place, submission in enumerate(whole.submissions)
        )
        + "</tr>"
        for name in used
    )
    head = ["outcome", *(_format_name(name, place) for place, name in enumerate(whole.names))]
    if len(whole.entries) == 1:
        head[1:] = ["answers"]
    table = f'<table class="stack counts{_style_few(whole)}">{_format_header(head)}<tbody>{rows}</tbody></table>'
    return f'<div class="bars{" alone" * (len(whole.entries) == 1)}">{bars}</div>{table}'


def _style_few(whole: _Whole) -> str:
    return " few" * (len(whole.entries) <= 7)


def _format_count(count: int, submission: int, outcome: int) -> str:
    if not count:
        return "<span class=said>0</span>"
    return f'<button class=filter data-submission="{submission}" data-outcome="{outcome}">{count:,}</button>'


def _draw_thresholds(whole: _Whole, variant: Variant) -> str:
    lines = [
        charts.Line(entry.name, place, curves.compute_means_by_threshold(entry.scored_set))
        for place, entry in enumerate(whole.entries)
    ]
    label = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{y:.3f} at {format_number(x)}" for x, y in line.points if x in (0.25, 0.5, 0.75, 0.9))
        for line in lines
    )
    names = "".join(_format_name(line.name, line.colour) for line in lines) if len(lines) > 1 else ""
    of = "of the distance, " if "distance" in variant.kept else ""
    mark = f"dashed: the threshold of these scores, {format_number(variant.threshold)}"
    return (
        f"{charts.draw_curves(lines, variant.threshold, label)}<p class=said>threshold, {of}{mark}</p>"
        f"<p class=names>{names}</p>"
    )


def _iter_behind(whole: _Whole) -> Iterator[str]:
    """What lies behind the number: points, confusions, confidence, judge, and suspects, as far as they are known."""
    lists = "".join(_format_behind(whole, place) for place in range(len(whole.submissions)))
    if lists:
        yield _format_section("behind", "Behind the number", lists)
    lines = [
        charts.Line(entry.name, place, [(step.count / assessments.count, step.risk) for step in assessments.steps])
        for place, entry in enumerate(whole.entries)
        if (assessments := entry.assessments) and assessments.steps
    ]
    if lines:
        label = "; ".join(f"{line.name}: risk {line.points[-1][1]:.3f} of all answers" for line in lines)
        names = "".join(_format_name(line.name, line.colour) for line in lines) if len(lines) > 1 else ""
        said = "risk (1 - mean score) over the share of answers that are accepted, the most confident first"
        curve = f"{charts.draw_curves(lines, 1.0, label)}<p class=said>{said}</p><p class=names>{names}</p>"
        yield _format_section("risk", "Risk and coverage", curve)
    if whole.suspects:
        yield _format_section("suspects", "Suspect annotations", _format_suspects(whole.suspects))


def _format_behind(whole: _Whole, place: int) -> str:
    submission = whole.submissions[place]
    lines = list_lines(submission)
    if not lines:
        return ""
    name = f"<p>{_format_name(submission['name'], place)}</p>" if len(whole.submissions) > 1 else ""
    items = "".join(f"<li>{escape(' '.join(filter(None, line)), 1000)}</li>" for line in lines)
    return f"{name}<ul class=said>{items}</ul>"


def _format_suspects(suspects: Sequence[Suspect]) -> str:
    """The questions where most submissions agree on an answer that is not accepted."""
    items = "".join(
        f"<li><b>{escape(each.id, 120)}</b>: {each.submissions} submissions say "
        f"<bdi>{escape(each.answer, 200)}</bdi></li>"
        for each in suspects
    )
    return f"<ul>{items}</ul>"


def _draw_spreads(whole: _Whole, variant: Variant) -> str:
    least = curves.least_similarity(variant)
    figures = []
    for place, entry in enumerate(whole.entries):
        counts, equal = curves.count_similarities(entry.scored_set)
        rest = sum(counts)
        caption = f"{equal:,} equal, {rest:,} others; the tallest bar is {max(counts):,}" if rest else "all equal"
        name = _format_name(entry.name, place) if len(whole.entries) > 1 else ""
        chart = charts.draw_distribution(counts, least, place, caption) if rest else ""
        figures.append(f"<figure><figcaption>{name}<span class=said>{caption}</span></figcaption>{chart}</figure>")
    key = f"from 0 to 1, without the equal ones; dashed: {format_number(least)}, under which one scores 0"
    content = f'<div class="spreads{" alone" * (len(figures) == 1)}">{"".join(figures)}</div>'
    return content + f"<p class=said>{key}</p>" * ("<svg" in content)


def _format_groups(whole: _Whole, field: str, groups: Sequence[Groups]) -> str:
    everything: Groups = {name: tally for tallies in reversed(groups) for name, tally in tallies.items()}
    names = list(sort_groups(everything))
    if len(names) > _MOST_GROUPS:
        names = sorted(sorted(names, key=lambda name: -everything[name].count)[:_MOST_GROUPS], key=names.index)
    rows = "".join(
        f"<tr><th scope=row>{_format_group(whole, field, name)}</th>"
        f"<td data-label=questions>{everything[name].count:,}</td>"
        + "".join(
            _format_cell(
                escape(whole.names[place], 120),
                f"{tallies[name].mean:.4f}{charts.draw_bar(tallies[name].mean, place)}"
                + _format_group_details(whole.submissions[place]["groups"].get(field, {}).get(name, {})),
            )
            if name in tallies
            else "<td>-</td>"
            for place, tallies in enumerate(groups)
        )
        + "</tr>"
        for name in names
    )
    head = [escape(field, 80), "questions", *(_format_name(name, place) for place, name in enumerate(whole.names))]
    if len(whole.names) == 1:
        head[2:] = [whole.label]
    rest = len(everything) - len(names)
    more = f"<p class=said>and {rest:,} smaller groups</p>" if rest else ""
    return f'<table class="stack numbers{_style_few(whole)}">{_format_header(head)}<tbody>{rows}</tbody></table>{more}'


def _format_group_details(group: Mapping[str, Any]) -> str:
    """The interval of a group that was asked for, and its difference from the baseline."""
    details = PLAIN.format_interval(group["interval"]) if group.get("interval") else ""
    difference = ""
    if group.get("difference") is not None:
        interval = group["difference_interval"]
        difference = f"difference {PLAIN.format(group['difference'], '+')}"
        difference += f", {PLAIN.format_interval(interval, '+')}" if interval else ""
    return "".join(f"<small>{text}</small>" for text in (details, difference) if text)


def _format_group(whole: _Whole, field: str, name: str) -> str:
    """The name of a group. It is a filter if the file holds questions of the group."""
    label, known = f"<bdi>{escape(name, 80)}</bdi>", whole.shown_groups.get(field, [])
    if name not in known:
        return label
    places = f'data-field="{list(whole.groups).index(field)}" data-group="{known.index(name)}"'
    return f"<button class=filter {places}>{label}</button>"


_MANY_ANSWERS = "<p class=said>Of so many answers, <code>anls --variant all</code> says it.</p>"


def _format_variants(whole: _Whole) -> str:
    """The score of each submission under every variant, with the threshold and case of the variant."""
    means = [entry.scored_set.means_under(VARIANTS.values()) for entry in whole.entries]
    rows = "".join(
        f"<tr{' class=chosen' * (name == whole.scorer.name)}><th scope=row>{name}"
        f"<small>{escape(variant.meaning.replace('`', ''))}</small></th>"
        + "".join(
            _format_cell(escape(whole.names[place], 120), f"{by_name[name]:.4f}{charts.draw_bar(by_name[name], place)}")
            for place, by_name in enumerate(means)
        )
        + "</tr>"
        for name, variant in VARIANTS.items()
    )
    head = ["variant", *(_format_name(name, place) for place, name in enumerate(whole.names))]
    if len(means) == 1:
        head[1:] = ["ANLS"]
    low, high = min(means[0].values()), max(means[0].values())
    spread = f"from {low:.4f} to {high:.4f}" if low < high else f"always {low:.4f}"
    summary = f"<bdi>{escape(whole.names[0], 80)}</bdi>: {spread}, as each program would have it"
    return (
        f"<details><summary>{summary}</summary><p class=said>Each with its own threshold and case.</p>"
        f'<table class="stack numbers{_style_few(whole)}">{_format_header(head)}<tbody>{rows}</tbody></table></details>'
    )
