"""What is said of a scored set."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anls
from anls_metric.report import Report, Tally, alignment
from anls_metric.rrc import Question

QUESTIONS = [
    Question("1", "CocaCola", ["Coca Cola"], {"page": 1, "tags": ["x", "y"]}),
    Question("2", "The Coca", ["Coca Cola"], {"page": 2, "tags": ["x"]}),
    Question("3", "", ["Coca Cola"], {"page": 2}),
    Question("4", None, [""], {"page": None}),
]


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=1), st.randoms(use_true_random=False))
def test_a_tally_has_the_bits_of_the_mean_in_any_order_and_pieces(scores: list[float], chance: random.Random) -> None:
    shuffled = chance.sample(scores, len(scores))
    cut = chance.randint(0, len(scores))
    tally = Tally()
    tally.add(shuffled[:cut])
    tally.add(shuffled[cut:])
    assert tally.mean == anls.mean(scores)
    assert tally.count == len(scores)


def test_zeros_are_told_apart() -> None:
    report = Report()
    scored = report.score(QUESTIONS)
    assert [one.zero for one in scored] == ["", "under the threshold", "empty", "missing"]
    assert report.zeros == {"under the threshold": 1, "empty": 1, "missing": 1}
    assert report.anls == pytest.approx(8 / 9 / 4)
    assert report.count == 4
    assert scored[3].explanation(report.variant) is None


def test_the_variant_decides() -> None:
    report = Report(replace(anls.VARIANTS["nls"], no_answers=("The Coca",)))
    assert [one.zero for one in report.score(QUESTIONS)] == ["", "empty", "empty", "missing"]
    assert report.signature == "anls|nls|threshold:0.0|no_answers:('The Coca',)|v" + anls.__version__


def test_groups_in_pieces() -> None:
    report = Report(by=["page", "tags"])
    for question in QUESTIONS:
        report.score([question])
    assert {name: tally.count for name, tally in report.groups["page"].items()} == {"1": 1, "2": 2}
    assert {name: tally.mean for name, tally in report.groups["tags"].items()} == {"x": 4 / 9, "y": 8 / 9}


@pytest.mark.parametrize("worst", [0, 1, 3, 10])
@pytest.mark.parametrize("piece", [1, 2, 7])
def test_the_worst_come_first_and_then_as_they_stood(worst: int, piece: int) -> None:
    chance = random.Random(worst)
    questions = [Question(str(place), "ab" + "c" * chance.randint(0, 4), ["abcc"], {}) for place in range(20)]
    report = Report(worst=worst)
    scored = [one for start in range(0, 20, piece) for one in report.score(questions[start : start + piece])]
    assert report.worst == sorted(scored, key=lambda one: one.score)[:worst]


def aligned(prediction: str, reference: str, variant: str = "standard", width: int = 100) -> list[str]:
    return alignment(anls.explain(prediction, reference, variant=variant).best.edits, width)


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
