"""Scores as text for a terminal: the summary and the alignment of two texts."""

from __future__ import annotations

import anls_metric
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from anls_metric.report.terminal import align_texts, format_summary, make_printable


def align(prediction: str, reference: str, variant: str = "standard", width: int = 100) -> list[str]:
    return align_texts(anls_metric.explain(prediction, reference, variant=variant).best.edits, width)


def test_align_texts_marks_insertions_deletions_and_replacements() -> None:
    assert align("CocaCola!", "Coca Cola") == ["coca*cola!", "coca cola*", "    I    D"]
    assert align("1989", "1988") == ["1989", "1988", "   R"]


def test_align_texts_keeps_columns_of_wide_and_control_characters() -> None:
    assert align("東京x", "東a京") == ["東*京x", "東a京*", "  I  D"]
    assert align("漢", "ab") == ["*漢", "ab ", "IRR"]
    assert align("a\x1b[2J\n", "a[2J", "nls") == ["a·[2J·", "a*[2J*", " D   D"]
    assert align("e\u0301", "e", "nls") == ["e◌\u0301", "e*", " D"]


def test_align_texts_cuts_long_lines() -> None:
    lines = align("a" * 500, "a" * 400 + "b", width=50)
    assert [len(line) for line in lines] == [52, 52, 52]
    assert all(line.endswith("…") for line in lines)


def test_format_summary_prints_no_control_characters() -> None:
    assert make_printable("a\x1b[2J\nb\u202e") == "a·[2J·b·"
    scored_set = ScoredSet(by=["kind\x1b"], worst=1)
    scored_set.add([Row("1\x1b[2J", "x\x1b]", ["a\x07b"], {"kind\x1b": "g\x1b", "question": "q\x1b\n"})])
    assert all(character.isprintable() for character in format_summary(Entry("model", scored_set)).replace("\n", ""))


def test_format_summary_sorts_groups_by_name() -> None:
    scored_set = ScoredSet(by=["page"])
    scored_set.add([Row(str(page), "a", ["a"], {"page": page}) for page in (10, 1, 2, "b", "1", 1.0)])
    lines = format_summary(Entry("model", scored_set)).split("\n\n")[1].splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["1", "2", "10", "b"]
    assert lines[0] == "  1      1.0000  1.0000 to 1.0000  3"
    assert lines[1] == "  2      1.0000  -                 1"


def test_format_summary_uses_the_words_of_explain() -> None:
    scored_set = ScoredSet(worst=1)
    scored_set.add([Row("7", "The Coca", ["Coca Cola"], {})])
    assert str(anls_metric.explain("The Coca", "Coca Cola")) in format_summary(Entry("model", scored_set))
