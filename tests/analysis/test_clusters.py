"""The clusters of questions."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anls_metric.analysis.clusters import (
    ClusteredScores,
    Clusters,
    Doubt,
    cluster_column,
    cluster_field,
    find_clusters,
)
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
        ["a", "b", "c", "d"],  # all values differ
        ["a", "a", "a", "a"],  # all values are the same
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
    """Harnesses put the record of the question into the record of the answer."""
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
    with pytest.raises(ValueError, match="no question has the field 'page' to cluster by"):
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


Rows = list[tuple[float, dict[str, Any]]]

RECORDS = st.fixed_dictionaries(
    {"doc": st.sampled_from(["x", {"image": "y"}, {"doc": {"image": "z"}}, None, ["x"]])},
    optional={"docId": st.sampled_from([1, 2, "3", ""]), "image": st.sampled_from(["yes", "no", True])},
)


def collect(rows: Rows, piece: int, cluster_by: str | None = None) -> ClusteredScores:
    scores = ClusteredScores(cluster_by)
    for start in range(0, len(rows), piece):
        scores.add(*zip(*rows[start : start + piece]))
    return scores


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), RECORDS | st.just({})), min_size=2, max_size=60),
    st.integers(1, 70),
    st.randoms(use_true_random=False),
)
def test_clusters_are_the_same_for_any_order_and_pieces_of_the_records(
    rows: Rows, piece: int, chance: random.Random
) -> None:
    whole = collect(rows, len(rows))
    chance.shuffle(rows)
    pieces = collect(rows, piece)
    clusters, sample = whole.choose()
    again, other = pieces.choose()
    assert (again, pieces.find_doubts()) == (clusters, whole.find_doubts())
    assert (other.mean, other.count, other.cluster_count) == (sample.mean, sample.count, sample.cluster_count)
    if sample.cluster_count > 1:
        assert other.interval() == sample.interval()


def test_field_that_comes_after_many_records_counts() -> None:
    rows: Rows = [(number % 2, {"id": number}) for number in range(300)]
    late: Rows = [(number % 2, {"id": number, "docId": number // 3}) for number in range(300, 600)]
    for order in (rows + late, late + rows):
        scores = collect(order, 100)
        assert scores.choose()[0] == Clusters("docId", 400)
        assert scores.choose()[1].count == 600


def test_names_of_objects_that_are_data_are_no_fields() -> None:
    """In each record the object has another id as its key, which must not become a column."""
    rows: Rows = [(1.0, {"doc": f"{n // 2}", "pages": {f"page {n}": {"image": f"{n // 4}"}}}) for n in range(200)]
    for order in (rows, rows[::-1]):
        scores = collect(order, 10)
        assert scores.choose()[0] == Clusters("doc", 100)
        assert set(scores._columns) == {"doc"}
    deep: dict[str, Any] = {"image": "x"}
    for _ in range(900):
        deep = {"inside": deep}
    assert find_clusters([{**deep, "doc": "a"}, {"doc": "a"}, {"doc": "b"}]) == Clusters("doc", 2)


# Fields of few values


def make_rows(count: int, **values: int) -> Rows:
    """Make questions with fields of these numbers of values."""
    return [(n % 2, {field: f"{field} {n % most}" for field, most in values.items()}) for n in range(count)]


@pytest.mark.parametrize(
    ("count", "values", "chosen"),
    [
        (160, {"image": 2, "docId": 80}, "docId"),
        (1_000, {"image": 12, "docId": 80}, "docId"),
        (5_000, {"document": 16}, None),
        (150, {"document": 10}, "document"),  # ten contracts
        (400, {"document": 10}, "document"),
        (410, {"document": 10}, None),
        (1_082, {"doc_id": 135}, "doc_id"),
        (40, {"document": 2}, "document"),  # too few questions to decide
        (42, {"document": 2}, None),
    ],
)
def test_field_of_few_values_for_its_questions_is_no_document(
    count: int, values: dict[str, int], chosen: str | None
) -> None:
    rows = make_rows(count, **values)
    assert cluster_field([record for _, record in rows]) == chosen
    field = min(values, key=values.__getitem__)
    named = collect(rows, 50, field)
    assert named.choose()[0] == Clusters(field, values[field])
    assert named.find_doubts() == []


@pytest.mark.parametrize(
    ("count", "values", "doubts"),
    [
        (160, {"image": 2, "docId": 80}, []),  # clearly a kind
        (
            160,
            {"image": 2},
            [Doubt("image has only 2 values for 160 questions, so each question counts for itself", "image")],
        ),
        (
            1_000,
            {"image": 12, "docId": 80},
            [
                Doubt(
                    "image has only 12 values for 1,000 questions, so the clusters are the 80 values of docId", "image"
                )
            ],
        ),
        (
            1_000,
            {"image": 20, "docId": 250},
            [Doubt("the clusters are the 20 values of image, few for 1,000 questions; docId has 250 values", "docId")],
        ),
        (1_000, {"image": 20}, []),
        (1_000, {"image": 100, "docId": 250}, []),
        (60, {"image": 10, "docId": 30}, []),
    ],
)
def test_close_choice_of_the_field_is_doubted(count: int, values: dict[str, int], doubts: list[Doubt]) -> None:
    assert collect(make_rows(count, **values), 64).find_doubts() == doubts
    assert collect(make_rows(count, **values), 64, "none").find_doubts() == []


# One document with many questions


def make_sizes(*sizes: int) -> Rows:
    """Make questions about documents with these numbers of questions."""
    names = [f"document {place}" for place, size in enumerate(sizes) for _ in range(size)]
    return [(number % 2, {"doc_name": name}) for number, name in enumerate(names)]


@pytest.mark.parametrize(
    ("sizes", "large"),
    [
        ([300, *[4] * 75], 300),
        ([100, *[4] * 75], 100),
        ([99, *[4] * 75], 0),
        ([30, *[10] * 7], 30),
        ([10] * 4, 0),  # none of them dwarfs the others
        ([10, 10], 0),
        ([30, 10, 10], 30),
    ],
)
def test_document_with_a_quarter_of_the_questions_is_doubted(sizes: list[int], large: int) -> None:
    for cluster_by in (None, "doc_name"):
        doubts = collect(make_sizes(*sizes), 64, cluster_by).find_doubts()
        problem = f"{large} of {sum(sizes)} questions are about one document (doc_name document 0)"
        assert doubts == ([Doubt(f"{problem}: the 95 % interval is too narrow")] if large else [])


def test_long_name_of_a_document_is_cut() -> None:
    rows: Rows = [(n % 2, {"doc": "long\n name " * 1_000 if n < 30 else f"{n // 3}"}) for n in range(60)]
    (doubt,) = collect(rows, 60).find_doubts()
    assert len(doubt.text) < 200
    assert "\n" not in doubt.text


def test_interval_is_too_narrow_where_one_document_has_half_of_the_questions() -> None:
    """Each document has its own share of right answers. The interval should contain the mean over all documents."""
    chance = random.Random(1)

    def covers(sizes: list[int]) -> bool:
        shares = [chance.betavariate(4, 1.5) for _ in sizes]
        scores = [float(chance.random() < share) for share, size in zip(shares, sizes) for _ in range(size)]
        low, high = interval(scores, [name for name, size in enumerate(sizes) for _ in range(size)])
        return low <= 4 / 5.5 <= high

    assert sum(covers([4] * 76) for _ in range(200)) > 180
    assert sum(covers([300] + [4] * 75) for _ in range(200)) < 160
