"""Formats the other results of a submission, besides its score, as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from anls_metric.report.numbers import PLAIN, Numbers

Lines = list[tuple[str, str]]
"""Names and texts. A line without a name continues the line before."""


def list_lines(submission: Mapping[str, Any], numbers: Numbers = PLAIN, without: Collection[str] = ()) -> Lines:
    """List the other results of a submission, besides its score.

    Args:
        submission: a submission of the document, or the result of `document.describe_beside`.
        numbers: how scores are printed.
        without: keys of the document to leave out, because they are shown elsewhere.

    Example:
        >>> list_lines({"points": {"lost_to_format": 0.25, "given_to_wrong_numbers": 0}})
        [('points', '0.2500 lost to format, 0.0000 given to wrong numbers')]
    """
    keys = [key for key in _LINES if key in submission and key not in without]
    return [line for key in keys for line in _LINES[key](submission[key], numbers)]


def format_suspects(suspects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Format the questions with suspect accepted answers, a line for each."""
    lines = [
        f"  {each['id']}  {each['answer']!r} by {each['submissions']} submissions; accepted: "
        + "; ".join(map(str, each["accepted"]))
        for each in suspects
    ]
    return ["suspects", *(lines or ["  no question"])]


def _write_points(points: Mapping[str, float], numbers: Numbers) -> Lines:
    lost, gained = map(numbers.format, (points["lost_to_format"], points["given_to_wrong_numbers"]))
    return [("points", f"{lost} lost to format, {gained} given to wrong numbers")] if any(points.values()) else []


def _write_summary(summary: Mapping[str, Any], numbers: Numbers) -> Lines:
    """Format the figures of the rule of a benchmark. Figures of groups are only in the document."""
    texts = [f"{name} {_write_number(each, numbers)}" for name, each in summary.items() if not isinstance(each, dict)]
    return [("summary" if place == 0 else "", text) for place, text in enumerate(texts)]


def _write_number(value: Any, numbers: Numbers) -> str:
    return numbers.format(value) if isinstance(value, float) else "-" if value is None else str(value)


def _write_metrics(metrics: Mapping[str, Any], numbers: Numbers) -> Lines:
    return [
        (name, f"{numbers.format(each['mean'])}, 95 % {numbers.format_interval(each['interval'])}")
        for name, each in metrics.items()
    ]


def _write_corrections(corrections: Mapping[str, Any], numbers: Numbers) -> Lines:
    accepted, excluded = corrections["accepted"], corrections["excluded"]
    text = f"{accepted} question{'s' * (accepted != 1)} with more accepted answers, {excluded} left out"
    return [("corrected", f"{text}; without corrections {numbers.format(corrections['anls_without'])}")]


def _write_confusions(confusions: Sequence[Mapping[str, Any]], numbers: Numbers) -> Lines:
    texts = [
        f"{_quote(each['predicted'])} for {_quote(each['accepted'])} {each['count']} time{'s' * (each['count'] != 1)}"
        for each in confusions
    ]
    return [("" if place else "confused", text) for place, text in enumerate(texts)]


def _quote(text: str) -> str:
    return repr(text) if text else "nothing"


def _write_confidence(confidence: Mapping[str, Any], numbers: Numbers) -> Lines:
    auroc = "-" if confidence["auroc"] is None else f"{confidence['auroc']:.4f}"
    shares = [f"{share:.0%} at {float(level):.0%} accuracy" for level, share in confidence["coverage"].items()]
    return [
        ("confidence", f"AUROC {auroc}, AURC {confidence['aurc']:.4f}, ECE {confidence['ece']:.4f}"),
        ("", f"accept without a look: {', '.join(shares)}"),
    ]


def _write_judge(judge: Mapping[str, Any], numbers: Numbers) -> Lines:
    kappa = "-" if judge["kappa"] is None else f"{judge['kappa']:.4f}"
    table = judge["table"]
    lines = [
        f"agreement {judge['agreement']:.4f}, kappa {kappa}",
        f"right for both {table['right']['right']}, wrong for both {table['wrong']['wrong']}, "
        f"right for the score alone {table['right']['wrong']}, for the judge alone {table['wrong']['right']}",
    ]
    ids = ", ".join(str(each["id"]) for each in judge["differences"])
    lines += [f"they differ about {ids}"] if ids else []
    return [("" if place else "judge", text) for place, text in enumerate(lines)]


# The key of a submission in the document -> writes its lines.
_LINES: Mapping[str, Callable[[Any, Numbers], Lines]] = {
    "summary": _write_summary,
    "points": _write_points,
    "metrics": _write_metrics,
    "corrections": _write_corrections,
    "confidence": _write_confidence,
    "judge": _write_judge,
    "confusions": _write_confusions,
}
