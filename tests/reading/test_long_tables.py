"""Fields that tell models, runs and documents apart. Made-up records."""

from __future__ import annotations

import pytest

from anls_metric.reading.long_tables import find_splitting_field, find_submission_field


@pytest.mark.parametrize("name", ["model", "checkpoint", "system", "submission", "Model"])
def test_find_submission_field_knows_the_names_of_models(name: str) -> None:
    assert find_submission_field(["id", name]) == name
    assert find_submission_field(["id", name], {name}) is None


def test_find_splitting_field_takes_the_field_that_makes_ids_unique() -> None:
    pairs = [(key, method) for method in ("a", "b", "c") for key in ("7", "8", "9", "10")]
    records = [
        {"method": method, "kind": int(key) % 2, "row": n, "answer": f"{n % 6}"}
        for n, (key, method) in enumerate(pairs)
    ]
    ids = [key for key, _ in pairs]
    assert find_splitting_field(ids, records) == "method"
    assert find_splitting_field(ids, records, {"method"}) == "answer"
    assert find_splitting_field(ids, [{"kind": record["kind"]} for record in records]) is None
    assert find_splitting_field(["1", "2"], [{"a": "x"}, {"a": "y"}]) is None
