"""What a terminal shows."""

from __future__ import annotations

import anls_metric
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.rows import Row
from anls_metric.report.terminal import alignment, printable, summary


def aligned(prediction: str, reference: str, variant: str = "standard", width: int = 100) -> list[str]:
    return alignment(anls_metric.explain(prediction, reference, variant=variant).best.edits, width)


def test_an_alignment_can_be_read() -> None:
    assert aligned("CocaCola!", "Coca Cola") == ["coca*cola!", "coca cola*", "    I    D"]
    assert aligned("1989", "1988") == ["1989", "1988", "   R"]


def test_an_alignment_keeps_its_columns_and_shows_no_control_characters() -> None:
    assert aligned("東京x", "東a京") == ["東*京x", "東a京*", "  I  D"]
    assert aligned("漢", "ab") == ["*漢", "ab ", "IRR"]
    assert aligned("a\x1b[2J\n", "a[2J", "nls") == ["a·[2J·", "a*[2J*", " D   D"]
    assert aligned("e\u0301", "e", "nls") == ["e◌\u0301", "e*", " D"]


def test_a_long_alignment_is_cut() -> None:
    lines = aligned("a" * 500, "a" * 400 + "b", width=50)
    assert [len(line) for line in lines] == [52, 52, 52]
    assert all(line.endswith("…") for line in lines)


def test_nothing_of_a_file_commands_the_terminal() -> None:
    assert printable("a\x1b[2J\nb\u202e") == "a·[2J·b·"
    scored_set = ScoredSet(by=["kind\x1b"], worst=1)
    scored_set.add([Row("1\x1b[2J", "x\x1b]", ["a\x07b"], {"kind\x1b": "g\x1b", "question": "q\x1b\n"})])
    assert all(character.isprintable() for character in summary(scored_set).replace("\n", ""))


def test_groups_stand_in_the_order_of_their_names() -> None:
    scored_set = ScoredSet(by=["page"])
    scored_set.add([Row(str(page), "a", ["a"], {"page": page}) for page in (10, 1, 2, "b", "1", 1.0)])
    assert [line.split()[0] for line in summary(scored_set).split("\n\n")[1].splitlines()[1:]] == ["1", "2", "10", "b"]
    assert "  1      1.0000  3" in summary(scored_set)


def test_the_words_are_those_of_the_explanation() -> None:
    scored_set = ScoredSet(worst=1)
    scored_set.add([Row("7", "The Coca", ["Coca Cola"], {})])
    assert str(anls_metric.explain("The Coca", "Coca Cola")) in summary(scored_set)
