"""Which questions belong together."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anls_metric.analysis.clusters import ClusteredScores, Clusters, cluster_column, cluster_field, find_clusters
from anls_metric.analysis.significance import interval

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


def test_cluster_field_is_the_one_with_the_fewest_clusters() -> None:
    assert cluster_field(DOCVQA) == "ucsf_document_id"
    assert find_clusters(DOCVQA) == Clusters("ucsf_document_id", 10)
    without = [{key: value for key, value in record.items() if key[:4] != "ucsf"} for record in DOCVQA]
    assert find_clusters(without) == Clusters("docId", 30)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "c", "d"],  # nothing comes twice
        ["a", "a", "a", "a"],  # everything does
        [None, None, None, None],
        ["", "", "", ""],
        [float("nan")] * 4,
        [{"bytes": b"", "path": "a"}] * 4,
        [["a", "b"], ["a", "b"], ["c"], ["c"]],
    ],
    ids=str,
)
def test_cluster_field_skips_fields_that_group_nothing(values: list[Any]) -> None:
    assert cluster_field([{"image": value} for value in values]) is None
    assert (
        cluster_field([{"image": value, "image_id": number // 2} for number, value in enumerate(values)]) == "image_id"
    )


def test_cluster_field_skips_fields_that_name_no_document() -> None:
    assert (
        cluster_field([{"question_types": "layout", "data_split": "val", "id": number} for number in range(9)]) is None
    )
    assert cluster_field([]) is None


def test_find_clusters_looks_into_nested_records() -> None:
    """Harnesses write the question's own record into that of its answer."""
    records = [{"doc_id": place, "doc": record, "target": "x"} for place, record in enumerate(DOCVQA)]
    assert find_clusters(records) == Clusters("doc.ucsf_document_id", 10)
    assert find_clusters(records, "doc.image") == Clusters("doc.image", 30)


def test_record_without_the_field_is_its_own_cluster() -> None:
    records: list[dict[str, Any]] = [{"doc": "a"}, {"doc": "a"}, {"doc": "b"}, {}, {"doc": None}]
    assert find_clusters(records) == Clusters("doc", 4)
    assert cluster_column(records, "doc") == ["a", "a", "b", None, None]


def test_find_clusters_takes_a_field() -> None:
    assert find_clusters(DOCVQA, "ucsf_document_page_no") == Clusters("ucsf_document_page_no", 3)
    assert find_clusters(DOCVQA, "questionId") == Clusters("questionId", 60)
    assert find_clusters(DOCVQA, "none") is None
    with pytest.raises(ValueError, match="no question has the field 'page', by which to cluster"):
        find_clusters(DOCVQA, "page")


@pytest.mark.parametrize(
    ("cluster_by", "field"),
    [(None, "ucsf_document_id"), ("image", "image"), ("none", None), ("questionId", "questionId")],
)
def test_clustered_scores_have_the_same_interval_in_any_order(cluster_by: str | None, field: str | None) -> None:
    chance = random.Random(1)
    rows = [(chance.choice([0.0, 0.5, 1.0]), record) for record in DOCVQA]
    expected = interval([score for score, _ in rows], cluster_column(DOCVQA, field) if field else None)
    for _ in range(3):
        chance.shuffle(rows)
        scores = ClusteredScores(cluster_by)
        for start in range(0, 60, 7):
            scores.add(*zip(*rows[start : start + 7]))
        clusters, sample = scores.choose()
        assert (clusters and clusters.field) == field
        assert sample.interval() == expected
        assert sample.count == 60


def test_clustered_scores_take_the_fields_of_the_first_records() -> None:
    """The first records say which fields there are: looking at every record costs as much as all the rest."""
    scores = ClusteredScores()
    scores.add([1.0, 1.0], [{}, {"doc": "a"}])
    scores.add([1.0, 0.0], [{"doc": "a"}, {"doc": "b", "image": "b"}])
    assert scores.choose()[0] == Clusters("doc", 3)
