"""The clusters of questions: the first field of the documented order that repeats."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from anls_metric import cluster_field, score
from anls_metric.analysis.significance import interval
from anls_metric.reading.roles import DOCUMENTS

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

DOCVQA: list[dict[str, Any]] = [
    {
        "questionId": number,
        "docId": 100 + number // 2,
        "ucsf_document_id": f"abcd{number // 6}",
        "ucsf_document_page_no": str(number % 3),
        "image": f"documents/abcd{number // 2}_1.png",
    }
    for number in range(60)
]


def make_records(count: int = 12, **counts: int) -> list[dict[str, Any]]:
    """Make records whose fields have these numbers of values."""
    return [{name: f"{name} {number % most}" for name, most in counts.items()} for number in range(count)]


def describe_clusters(records: list[dict[str, Any]], cluster_by: str | None = None) -> Any:
    """Score a table with these fields, and return what the document says about clusters."""
    rows = [{**record, "prediction": "a", "references": ["a"]} for record in records]
    return score(rows, cluster_by=cluster_by).to_dict()["clusters"]


@pytest.mark.parametrize(
    ("records", "cluster_by", "expected"),
    [
        (DOCVQA, None, ("ucsf_document_id", 10)),
        (DOCVQA, "image", ("image", 30)),
        (DOCVQA, "ucsf_document_page_no", ("ucsf_document_page_no", 3)),
        (DOCVQA, "questionId", ("questionId", 60)),
        (DOCVQA, "none", None),
        (make_records(image=3, docId=4), None, ("docId", 4)),
        (make_records(image=3, docId=12), None, ("image", 3)),  # docId differs for each question
        (make_records(image=3, docId=1), None, ("image", 3)),  # docId is always the same
        (make_records(count=5_000, document=16), None, ("document", 16)),  # the number of values does not matter
        (make_records(page=3, question_type=2), None, None),
        ([{"doc": {"image": number // 2}} for number in range(8)], None, None),  # only the user names a nested field
        ([{"doc": {"image": number // 2}} for number in range(8)], "doc.image", ("doc.image", 4)),
        ([{"doc": "a"}, {"doc": "a"}, {"doc": "b"}, {}, {"doc": None}], None, ("doc", 4)),
    ],
)
def test_clusters_are_by_the_first_usual_field_that_repeats(
    records: list[dict[str, Any]], cluster_by: str | None, expected: tuple[str, int] | None
) -> None:
    found = describe_clusters(records, cluster_by)
    assert found == (expected and {"field": expected[0], "count": expected[1]})


@pytest.mark.parametrize(("first", "second"), [*pairwise(DOCUMENTS)])
def test_cluster_field_takes_the_usual_names_in_their_order(first: str, second: str) -> None:
    assert cluster_field(make_records(**{second: 2, first: 6})) == first
    assert cluster_field(make_records(**{second: 2, first: 12})) == second


NOTHING: list[Any] = [None, "", float("nan"), {"bytes": b"", "path": "a"}, ["a", "b"]]


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], ["a"] * 4, *([value] * 4 for value in NOTHING)], ids=str)
def test_cluster_field_skips_values_that_group_nothing(values: list[Any]) -> None:
    assert cluster_field([{"image": value} for value in values]) is None
    both = [{"image": value, "page_id": number // 2} for number, value in enumerate(values)]
    assert cluster_field(both) == "page_id"


@pytest.mark.parametrize("cluster_by", ["ucsf_document_id", "image", "none"])
def test_interval_is_that_of_the_clusters_in_any_order(cluster_by: str) -> None:
    chance = random.Random(1)
    rows = [record | {"prediction": chance.choice(["Cola", "x"]), "answers": ["Cola"]} for record in DOCVQA]
    names = None if cluster_by == "none" else [row[cluster_by] for row in rows]
    expected = interval([float(row["prediction"] == "Cola") for row in rows], names)
    assert score(chance.sample(rows, len(rows)), cluster_by=cluster_by).interval == expected
