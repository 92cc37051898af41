"""Prints a document as bare scores, as text, as JSON or as a table, and checks the limits that determine the exit
status.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from typing import NamedTuple, cast

from anls_metric.command.arguments import print_note
from anls_metric.core.printing import make_printable
from anls_metric.options import Settings
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import Document, Gate, Run
from anls_metric.report.terminal import as_text, format_hints, format_read


def print_hints(
    document: Document, settings: Settings, where: str = "--format json has all, and so has --report FILE.html"
) -> None:
    """Print the hints in a document to standard error, and where to find those that are left out, unless the user chose
    ``--quiet``.
    """
    if document["hints"] and not settings.quiet:
        print_note(format_hints(document, where))


def print_document(document: Document, settings: Settings) -> None:
    """Print a document, whose messages are already worded, in the chosen format."""
    numbers, columns = NumberFormat(settings.percent, settings.digits), settings.columns
    if settings.score_only:
        for submission in document["submissions"]:
            mean = submission["anls"]
            print(mean if numbers == PLAIN else numbers.format(mean))
    elif settings.format == "json":
        print(json.dumps(document, indent=2))
    elif settings.format != "text":
        from anls_metric.report.tables import FORMATS

        print(FORMATS[settings.format](document, numbers, columns))
        if not settings.quiet:
            print_note(format_read(document))
    else:
        if settings.quiet:  # the report may need the account
            submissions = [
                {key: part for key, part in each.items() if key != "lost"} for each in document["submissions"]
            ]
            document = cast(Document, {**document, "submissions": submissions})
        is_terminal = sys.stdout and sys.stdout.isatty()
        print(as_text(document, numbers, columns, shutil.get_terminal_size().columns if is_terminal else math.inf))


class Limits(NamedTuple):
    """The result of checking the user's limits, which consists of the failures, further notes, and the tested pairs of
    submissions.
    """

    failures: list[str]
    notes: list[str]
    gates: list[Gate]


def check_limits(run: Run, settings: Settings) -> Limits:
    """Find scores below ``--fail-under`` and, with ``--fail-if-worse``, submissions that are worse than the baseline,
    whose own score is then not limited. Raises InputError if there is no submission to compare with the baseline.
    """
    if not (settings.fail_under or settings.fail_if_worse):
        return Limits([], [], [])
    from anls_metric.analysis.gate import choose_baseline, describe_gates, list_gates, list_low

    limited = run["submissions"]
    if settings.fail_if_worse:
        baseline = choose_baseline(run, settings.baseline)
        limited = [each for each in limited if each["name"] != baseline]
    low = list(list_low(limited, settings.fail_under or {}))
    gates = list_gates(run, settings.baseline) if settings.fail_if_worse else []
    worse, notes = describe_gates(gates, settings.allow_doubt)
    return Limits(low + worse, notes, gates)


def print_limits(limits: Limits) -> int:
    """Print the failures and the notes, and return the exit status."""
    for line in limits.failures + limits.notes:
        print_note(make_printable(f"anls: {line}"))
    return int(bool(limits.failures))
