"""Formats the other results of a submission, besides its score, as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anls_metric.messages import count_noun
from anls_metric.report.document import Document
from anls_metric.report.numbers import PLAIN, Numbers

Lines = list[tuple[str, str]]
"""Names and texts. A line without a name continues the line before."""


def list_lines(submission: Document, numbers: Numbers = PLAIN, without: Collection[str] = ()) -> Lines:
    """List the other results of a submission, besides its score.

    Args:
        submission: a submission of the document.
        numbers: how scores are printed.
        without: keys of the document to leave out, because they are shown elsewhere.

    Example:
        >>> list_lines({"partial_credit": {"format_loss": 0.25, "wrong_number_credit": 0}})
        [('partial credit', 'format loss 0.2500, wrong-number credit 0.0000')]
    """
    found = {key: value for key, value in submission.items() if key not in without}
    lines: Lines = []
    if "summary" in found:  # of the rule of a benchmark; figures of groups are only in the document
        figures = {name: value for name, value in found["summary"].items() if not isinstance(value, dict)}
        texts = {n: numbers.format(each) if isinstance(each, float) else each for n, each in figures.items()}
        lines += name_first("summary", [f"{n} {'-' if text is None else text}" for n, text in texts.items()])
    if "partial_credit" in found:
        loss, given = map(numbers.format, found["partial_credit"].values())
        lines.append(("partial credit", f"format loss {loss}, wrong-number credit {given}"))
    for name, metric in found.get("metrics", {}).items():
        interval = numbers.format_interval(metric["interval"])
        lines.append((name, f"{numbers.format(metric['mean'])}, 95% CI {interval}"))
    if "corrections" in found:
        accepted, excluded, anls = found["corrections"].values()
        text = f"{count_noun(accepted, 'question')} with more accepted answers, {excluded} excluded"
        lines.append(("corrected", f"{text}; without corrections {numbers.format(anls)}"))
    if "confidence" in found:
        lines += name_first("confidence", _describe_confidence(found["confidence"]))
    if "judge" in found:
        lines += name_first("judge", _describe_judge(found["judge"]))
    return lines


def name_first(name: str, texts: Iterable[str]) -> Lines:
    """Give the first of several lines a name."""
    return [("" if place else name, text) for place, text in enumerate(texts)]


def _describe_confidence(confidence: Document) -> list[str]:
    auroc, aurc, ece = (_format_measure(confidence[key]) for key in ("auroc", "aurc", "ece"))
    shares = [f"{share:.0%} at {float(level):.0%} accuracy" for level, share in confidence["coverage"].items()]
    return [f"AUROC {auroc}, AURC {aurc}, ECE {ece}", f"coverage {', '.join(shares)}"]


def _describe_judge(judge: Document) -> list[str]:
    correct, wrong = judge["table"]["correct"], judge["table"]["wrong"]
    ids = ", ".join(str(each["id"]) for each in judge["differences"])
    return [
        f"agreement {_format_measure(judge['agreement'])}, kappa {_format_measure(judge['kappa'])}",
        f"correct for both {correct['correct']}, wrong for both {wrong['wrong']}, "
        f"correct for ANLS alone {correct['wrong']}, for the judge alone {wrong['correct']}",
        *([f"they differ on {ids}"] if ids else []),
    ]


def _format_measure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
