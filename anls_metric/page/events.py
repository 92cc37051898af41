"""The functions that page.js calls like endpoints but that are hidden from programs."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

from anls_metric.page import file_scores, processes, typed_answers
from anls_metric.page.endpoints import describe_error, run_small
from anls_metric.page.rows import read_rows, write_rows
from anls_metric.page.uploads import drop_report, keep, name_report, take_all
from anls_metric.page.visitors import find_visitor

_MADE_UP = Path(__file__).parent / "assets" / "made-up"


def show_answer(prediction: str, references: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Describe one answer with `typed_answers.show`, in a separate process if scoring may take long."""
    return run_small(typed_answers.show, prediction, references, settings.pop("variant"), settings)


def keep_rows(text: str) -> str:
    """Store pasted rows like an uploaded CSV file, and return the path of this file."""
    return keep("pasted rows.csv", io.BytesIO(write_rows(read_rows(text)).encode("utf-8", "replace")))


def keep_example() -> list[str]:
    """Store a made-up gold file and two made-up submissions like uploaded files, and return their paths."""
    names = ("gold.json", "careful reader.json", "hasty reader.json")
    return [keep(name, io.BytesIO((_MADE_UP / name).read_bytes())) for name in names]


async def show_files(request: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    """Score files with a visitor's settings.

    Args:
        request: a dict with ``paths``, the uploaded files; ``gold``, the name of the gold file that the visitor chose,
            or ""; ``names``, the names of submissions, keyed by path; ``settings``, keyed by option name; and ``last``,
            the path of the report that the new report replaces, or "".

    Yields:
        A dict with the ``stage`` of the work whenever a new stage begins and, at the end, the fields of `Shown`.
    """
    shown, told, report, visitor = file_scores.Shown(), None, name_report(), find_visitor()
    try:
        paths = take_all(request["paths"], "the drop area")
        options = (request["gold"], request["names"], request["settings"])
        looks = processes.watch(file_scores.show, paths, *options, report, visitor=visitor.address)
        with closing(looks):
            for stage, found in looks:
                if visitor.has_left():
                    return
                if found:
                    shown = file_scores.Shown(**found)
                    break
                if stage != told:
                    yield {"stage": stage}
                told = stage
                await asyncio.sleep(processes.PAUSE)
    except Exception as error:
        shown = file_scores.Shown([(describe_error(error, "page"), {})])
    finally:
        if not shown.report:  # it may be half-written
            drop_report(report)
    drop_report(str(request["last"]))
    yield shown._asdict()


EVENTS = (show_answer, keep_rows, keep_example)
"""The functions that return a single result, unlike `show_files`."""
