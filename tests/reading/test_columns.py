"""The short way of plain columns finds what the reader finds, and leaves to it what has to be decided."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric import compare, get_scorer
from anls_metric.options import make_settings
from anls_metric.reading.answers import Answers
from anls_metric.reading.columns import pair_columns
from anls_metric.reading.inputs import Input
from anls_metric.reading.reader import read_answers
from anls_metric.reading.reading import make_reading

TEXTS, REFERENCES = ["tea", "", "(sic)"], [["tea", "Tea"], ["7"], [""]]


def make_inputs(columns: dict[str, Any], references: Any) -> tuple[list[Input], Input]:
    inputs = [Input({"prediction": column}, name) for name, column in columns.items()]
    return inputs, Input({"references": references}, "gold")


def describe(answers: Answers) -> Any:
    """Describe answers, with functions by what they return."""
    table = answers.questions.table
    places = [table.locate(table.numbers[place]) for place in range(len(table.records))]
    own = table._replace(locate=str, hints=list(table.hints))
    return answers._replace(questions=answers.questions._replace(table=own), hints=list(answers.hints)), places


@pytest.mark.parametrize("columns", [{"data": TEXTS}, {"a/b": tuple(TEXTS), "c": ["7", "7", "7"]}])
@pytest.mark.parametrize("options", [{}, {"missing": "skip"}, {"variant": "rrc", "threshold": 0.2, "metrics": "f1"}])
def test_short_way_finds_what_the_reader_finds(columns: dict[str, Any], options: dict[str, Any]) -> None:
    settings, (inputs, gold) = make_settings(options), make_inputs(columns, REFERENCES)
    paired = pair_columns(inputs, gold, settings, get_scorer())
    read = read_answers(inputs, gold, make_reading(settings, get_scorer()))
    assert paired is not None
    assert list(map(describe, paired)) == list(map(describe, read))


UNDECIDED: list[tuple[Any, Any, dict[str, Any]]] = [
    (["tea", None, "7"], REFERENCES, {}),
    (["tea", 5, "7"], REFERENCES, {}),
    (TEXTS[:2], REFERENCES, {}),
    (["['a', 'b']"] * 3, REFERENCES, {}),
    ([], [], {}),
    (TEXTS, ["tea", "7", ""], {}),
    (TEXTS, [["tea"], [], ["7"]], {}),
    (TEXTS, [["tea"], [7], ["7"]], {}),
    *(
        (TEXTS, REFERENCES, options)
        for options in ({"id": "none"}, {"extract": "think"}, {"references_separator": "|"})
    ),
    *((TEXTS, REFERENCES, options) for options in ({"metrics": "pages"}, {"records": "x"}, {"samples": "mean"})),
]


@pytest.mark.parametrize(("texts", "references", "options"), UNDECIDED)
def test_reader_decides_the_rest(texts: Any, references: Any, options: dict[str, Any]) -> None:
    inputs, gold = make_inputs({"data": texts}, references)
    assert pair_columns(inputs, gold, make_settings(options), get_scorer()) is None


def test_reader_decides_without_gold_and_about_values_runs_and_nothing() -> None:
    settings, (inputs, gold) = make_settings({}), make_inputs({"data": TEXTS}, REFERENCES)
    assert pair_columns(inputs, None, settings, get_scorer()) is None
    assert pair_columns(inputs, gold, settings, get_scorer("anls_star")) is None
    assert pair_columns(inputs * 2, gold, settings, get_scorer()) is None
    with pytest.raises(ValueError, match="there are no predictions"):
        compare({}, REFERENCES)
