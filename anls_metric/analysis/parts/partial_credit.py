"""How much of the score is partial credit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from anls_metric.analysis import partial_credit
from anls_metric.analysis.part import Column, Line, Part, Write


class PartialCredit(TypedDict):
    """How much of the score is partial credit."""

    format_loss: float
    """how much higher the score would be if each answer scored 1 that has the value, or the letters and digits, of a
    reference"""
    wrong_number_credit: float
    """how much lower the score would be if wrong numbers scored 0: see
    [partial credit](error_analysis.md#partial-credit)"""


def _write_lines(values: PartialCredit, write: Write) -> Iterable[Line]:
    loss, credit = write(values["format_loss"]), write(values["wrong_number_credit"])
    return [Line("partial credit", f"format loss {loss}, wrong-number credit {credit}")]


PART = Part(
    key="partial_credit",
    sentence="with `--metrics partial_credit`",
    find=lambda scored: partial_credit.measure_partial_credit(scored)._asdict(),
    type=PartialCredit,
    order=40,
    only_strings=True,
    columns=[
        Column("format_loss", "format loss", "score lost by correct answers in a different format"),
        Column("wrong_number_credit", "wrong-number credit", "score gained by wrong numbers"),
    ],
    lines=_write_lines,
)
