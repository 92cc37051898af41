"""Formats a document that contains all results, and its answers with aligned strings, for a terminal."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.part import TERMINAL, Line
from anls_metric.analysis.parts import PARTS
from anls_metric.analysis.parts.worst import Leaf, WorstAnswer
from anls_metric.core.checks import count_noun
from anls_metric.core.printing import GAP, align_texts, make_printable
from anls_metric.messages import shorten
from anls_metric.report.lost import format_lost
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import Document, Match, Source, Submission
from anls_metric.report.texts import align_rows
from anls_metric.report.wording import describe_clusters, get_label

if TYPE_CHECKING:
    from anls_metric.report.columns import Names
    from anls_metric.report.tables import PrintedTable

MAX_HINTS = 3
"""The maximum number of hints to print. The document contains all hints."""

MAX_LEAVES = 10

NEAR = 3
"""The maximum distance in points from a published number at which a score is shown as the nearest."""

LEGEND = f"alignment: {GAP} no character, D delete, I insert, R replace"
"""The explanation of the marks in the output of `align_texts`."""

Lines = Sequence[tuple[str, str]]
"""Pairs of a name and a text, as in `Line`."""


def as_text(document: Document, numbers: NumberFormat = PLAIN, columns: Names = (), width: float = inf) -> str:
    """Format a document, with one submission as a list of figures and several submissions as tables.

    Args:
        document: a document from `wording.word`.
        numbers: how scores are printed.
        columns: the columns that the user requests, which are always shown as a table; empty for the usual columns.
        width: the width of the terminal. A wider table is split.
    """
    submissions = document["submissions"]
    several, tables = len(submissions) > 1, []
    if several or columns or submissions[0]["groups"] or "variants" in submissions[0]:
        from anls_metric.report.tables import TEXT, build_tables, list_notes

        built = build_tables(document, numbers, columns, TEXT)
        fitted = built if columns else map(_fit, built)
        tables = [_format_table(table, width) for table in fitted]
        has_differences = any(column.key == "difference" for column in built[0].columns)
    if several or columns:
        from_baseline = [f"Differences: model minus {document['baseline']}."] if has_differences else []
        notes = [" ".join([*list_notes(document), *from_baseline]), document["signature"]]
        parts = ["\n".join([tables[0], *notes]), format_read(document)]
        for submission in submissions:
            lines = list_details(submission, numbers)
            parts += [f"{submission['name']}\n{_format_lines(lines, '  ')}"] if lines else []
    else:
        parts = [_format_lines(_list_figures(document, submissions[0], numbers))]
    parts += filter(None, [_format_claims(document, numbers), format_lost(document, numbers), *tables[1:]])
    worst: list[WorstAnswer] = []
    for submission in submissions:
        answers = submission.get("worst", [])
        parts += [submission["name"]] if several and answers else []
        parts += map(format_answer, answers)
        worst += answers
    if any(answer.get("edits") and answer["prediction"] for answer in worst):
        parts.append(LEGEND)
    return "\n".join(map(make_printable, "\n\n".join(parts).split("\n")))


def _format_claims(document: Document, numbers: NumberFormat) -> str:
    """Format what one can and cannot claim about a comparison. Returns "" for a single submission."""
    if not document["comparisons"]:
        return ""
    from anls_metric.report.claims import write_claims

    claims = write_claims(document, numbers)
    return "\n".join(f"{claim.title}: {claim}" for claim in claims.sentences)


def format_hints(document: Document, where: str) -> str:
    """Format the most expensive hints, one per line, then the number of the other hints and where to find them."""
    hints = [hint["text"] for hint in document["hints"]]
    others = count_noun(len(hints) - MAX_HINTS, "more hint")
    more = [f"{others}: {where}"] if len(hints) > MAX_HINTS else []
    return "\n".join(make_printable(f"hint: {text}") for text in [*hints[:MAX_HINTS], *more])


OWN_TABLE = "table"
"""The layout of a file whose fields are the user's own."""

MAX_FILES = 3
"""The maximum number of files to list in a line."""


def format_read(document: Document) -> str:
    """Format what was read, with the files and fields of the predictions and references and how they were joined.

    Whatever is the same for all submissions is on a single line.
    """
    return _format_lines([(name, make_printable(text)) for name, text in _list_read(document)])


def _list_read(document: Document) -> Lines:
    """List the lines about what was read."""
    submissions = document["submissions"]
    files: dict[str, dict[str, None]] = {}
    for each in submissions:
        source, layout = each["source"], each["layout"]
        field = source["prediction"] + (f" (read as {layout})" if layout != OWN_TABLE else "")
        files.setdefault(field, {})[source["file"]] = None
    predictions = [
        f"{', '.join(names) if len(names) <= MAX_FILES else f'{len(names)} files'}: {field}"
        for field, names in files.items()
    ]
    sources = [each["source"] for each in submissions]
    references = [f"{own['gold'] or own['file']}: {own['references']}" for own in sources]
    return [
        *_name_first("predictions", predictions),
        *_name_first("references", dict.fromkeys(references)),
        *_name_first("joined by", _say_each(submissions, [_describe_join(own) for own in sources if own["gold"]])),
        *_name_first("read", _say_each(submissions, [own["rows"] for own in sources if not own["gold"]])),
        *_name_first("", _say_each(submissions, ["; ".join(own["notes"]) for own in sources])),
    ]


def _describe_join(source: Source) -> str:
    return f"{source['joined_by']}, {source['rows']}"


def _say_each(submissions: Sequence[Submission], texts: Sequence[str]) -> Iterable[str]:
    """List a text for each submission, or a single text if all submissions have the same one."""
    if len({*texts}) <= 1:
        return filter(None, dict.fromkeys(texts))
    return [f"{submission['name']}: {text}" for submission, text in zip(submissions, texts) if text]


def _list_parts(submission: Submission, numbers: NumberFormat, *, of_tables: bool) -> Lines:
    """List the lines for the parts of a submission, either those with columns in a terminal's table or all others."""
    parts = [part for part in PARTS if any(TERMINAL in column.shown for column in part.columns) == of_tables]
    return [
        line for part in parts if part.key in submission for line in part.lines(submission[part.key], numbers.format)
    ]


def list_details(submission: Submission, numbers: NumberFormat) -> Lines:
    """List the lines for the parts of a submission that have no columns in a terminal's table."""
    return _list_parts(submission, numbers, of_tables=False)


def _list_figures(document: Document, submission: Submission, numbers: NumberFormat) -> Lines:
    """List the lines that replace a table if there is only one submission."""
    return [
        *_list_scores(document, submission, numbers),
        *_list_parts(submission, numbers, of_tables=True),
        *list_details(submission, numbers),
        Line("questions", f"{submission['questions']:,}"),
        *_list_read(document),
        Line("signature", document["signature"]),
    ]


def _list_scores(document: Document, submission: Submission, numbers: NumberFormat) -> Iterator[Line]:
    """List the lines about the score itself."""
    write, clusters = numbers.format, describe_clusters(document)
    yield Line(get_label(document), write(submission["anls"]))
    if submission["interval"]:
        yield Line("95% CI", write(submission["interval"]) + (f", {clusters}" if clusters else ""))
    if document.get("independent"):
        yield Line("", str(document["independent"]))
    if "runs" in submission:
        scores = submission["run_scores"]
        spread = write((min(scores), max(scores)))
        yield Line("runs", f"{submission['runs']}, {spread}, SD {write(submission['run_sd'])}")
    yield Line("metrics", f"exact match {write(submission['exact_match'])}, contains {write(submission['contains'])}")


def _format_lines(lines: Lines, indent: str = "", least: int = 11) -> str:
    """Format lines with aligned texts, after names padded to at least this width."""
    width = max(least, *(len(name) for name, _ in lines))
    return "\n".join(f"{indent}{name:{width}}  {text}".rstrip() for name, text in lines)


def _name_first(name: str, texts: Iterable[str]) -> Lines:
    """Put a name on the first of several lines."""
    return [("" if place else name, text) for place, text in enumerate(texts)]


MAX_WIDTH = 110
"""The maximum width of a table with the usual columns, unless the requested columns need more."""


LEAST_COLUMNS = 5
"""The number of columns at the start of `IMPORTANT_COLUMNS`, up to the verdict, that are never left out."""


def _fit(table: PrintedTable) -> PrintedTable:
    """Leave out the least important columns of a table until it fits, but none that the user requested."""
    from anls_metric.report.columns import IMPORTANT_COLUMNS

    keys = [column.key for column in table.columns]
    if "right" in keys:  # the table of keys, which was asked for
        return table
    columns = list(zip(table.columns, zip(*table.rows)))
    for key in reversed(IMPORTANT_COLUMNS[LEAST_COLUMNS:]):
        if sum(max(map(len, cells)) + 2 for _, cells in columns) - 2 <= MAX_WIDTH:
            break
        columns = [each for each in columns if each[0].key != key]
    kept, cells = zip(*columns)
    return table._replace(columns=kept, rows=list(zip(*cells)))


def _format_table(table: PrintedTable, width: float) -> str:
    """Format a table. If it is too wide, it is split, and each part begins with the names of the rows."""
    columns = list(zip(*table.rows))
    names = sum(column.key in ("group", "name") for column in table.columns)
    parts = [columns[:names]]
    for column in columns[names:]:
        total = sum(max(map(len, each)) + 2 for each in [*parts[-1], column]) - 2
        if total > width and len(parts[-1]) > names:
            parts.append(columns[:names])
        parts[-1].append(column)
    text = "\n\n".join(align_rows(zip(*part)) for part in parts)
    return f"{table.title}\n{text}" if table.title else text


def format_matches(number: str, document: Document, known: Collection[str]) -> str:
    """Format the results that `variant_search.search_variants` found for a number, with a line for each extraction step
    and score, a line for all variants at other thresholds, and a line on how conclusive the result is.

    A variant that reproduces the number without extraction is not repeated for an extraction step. The nearest result
    is shown only if it is within `NEAR` points. The names in `known` are those of variants for strings, and all other
    names are those of metrics.
    """
    matches, chance = document["find"], document["find_chance"]
    first = matches[0]
    points = 100 * abs(first["anls"] - float(number.strip().removesuffix("%")) / first["scale"])
    if not first["exact"] and points > NEAR:
        words = f"no variant, metric or extraction step comes within {NEAR} points of {number}"
        return f"{words}: check that the answers and references are those of this score"
    usual = [match for match in matches if match["threshold"] is None]
    start = f"{number} fits" if first["exact"] else f"no variant or metric gives {number}; the nearest is"
    lines = [f"{start} {words}" for words in _name_matches(usual or matches, known)]
    named = {match["variant"] for match in usual}
    others = _name_matches([match for match in matches if usual and match["variant"] not in named], known)
    if others:
        more = f", and {len(others) - 1} more" * (len(others) > 1)
        lines.append(f"also, at another threshold: {others[0]}{more}")
    digits = count_noun(len(number.strip().removesuffix("%").partition(".")[2]), "digit")
    tried = f"tried {count_noun(chance['tried'], 'combination')}"
    lines.append(f"{tried}; by chance, one gives a number of {digits} near {number} in {chance['share']:.1%} of cases")
    return "\n".join(map(make_printable, lines))


def _name_matches(matches: Sequence[Match], known: Collection[str]) -> list[str]:
    """Name the variants and metrics that reproduce a number, with their options, in one text for each score."""
    shown: set[tuple[str, float | None, str]] = set()
    variants: dict[str, list[str]] = {}  # the text after the variants -> the variants
    for match in sorted(matches, key=lambda match: match["extract"] != ""):
        score = f" on {match['name']}: {match['anls'] * match['scale']:.6g}"
        names = ("threshold", "average", "none_keys", "extract")
        values: dict[str, Any] = {**match}
        options = {name.replace("_", "-"): values[name] for name in names if values[name] not in ("", None)}
        rule = "".join(f" with --{name} {value}" for name, value in options.items())
        if (match["variant"], match["threshold"], score) not in shown:
            variants.setdefault(rule + score, []).append(match["variant"])
        shown.add((match["variant"], match["threshold"], score))
    return [f"{_name_variants(names, known)}{words}" for words, names in variants.items()]


MAX_NAMES = 5


def _name_variants(names: Sequence[str], variants: Collection[str]) -> str:
    """List variants and metrics with the same score, naming only the first of many variants."""
    known = [name for name in names if name in variants]
    if len(known) <= MAX_NAMES:
        return ", ".join(names)
    others = f"{known[0]} and {len(known) - 1} others, which this number does not tell apart,"
    return ", ".join([*(name for name in names if name not in variants), others])


# Answers


def format_answer(answer: WorstAnswer) -> str:
    """Format an answer from the document, with its references, its edits or leaves, and the reason for its score."""
    head = f"question {answer['id']}  score {answer['score']:.4f}  "
    if answer["why"] is None:
        return head + "no answer"
    lines = [(name, _format_line(answer[name])) for name in ("question", "raw") if answer.get(name) is not None]
    lines.append(("prediction", _format_line(answer["prediction"]) or "(empty)"))
    lines.append(("references", "; ".join(map(_format_line, answer["references"]))))
    if answer.get("edits") and answer["prediction"]:
        lines += zip(("compared", "with", ""), align_texts(answer["edits"]))
    lines += _name_first("leaves", _format_leaves(answer.get("leaves", ())))
    return f"{head}{shorten(answer['why'])}\n{_format_lines(lines, '  ', 10)}"


def _format_line(value: Any) -> str:
    """Format a value as one line that is not too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(make_printable(" ".join(text.split())))


def _format_leaves(leaves: Sequence[Leaf]) -> list[str]:
    """Format the leaves of a value that score less than 1, one per line."""
    wrong = [leaf for leaf in leaves if leaf["score"] < 1]
    lines = [_format_line(": ".join(filter(None, [leaf["where"], leaf["why"]]))) for leaf in wrong[:MAX_LEAVES]]
    return lines + [f"... and {len(wrong) - MAX_LEAVES} more"] * (len(wrong) > MAX_LEAVES)
