"""Queries and fields of made-up responses of document interfaces, in the shapes of their published schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading import document_fields
from anls_metric.reading.document_fields import find_entity_values, find_field_values, split_entities, split_fields
from tests.reading.test_layouts import make_azure_result, make_document, make_queries, rows_of, write

GOLD = [{"questionId": key, "question": f"{key}?", "answers": ["a"]} for key in ("total", "date")]


def answers_of(records: list[dict[str, Any]]) -> dict[str, str]:
    return {record["(key)"]: record["answer"] for record in records}


def predictions_of(*files: str, **reading: Any) -> dict[str, Any]:
    return {row.id: row.prediction for row in rows_of(*files, **reading)}


# Textract


def test_textract_query_has_its_text_as_key_where_it_has_no_alias(tmp_path: Path) -> None:
    path = write(tmp_path / "response.json", make_queries(["total", "date"], ["12.50", ""], ["", ""]))
    gold = write(tmp_path / "gold.json", GOLD)
    assert predictions_of(gold, path) == {"total": "12.50", "date": ""}  # no answer was found


def test_textract_query_of_several_pages_has_its_most_confident_answer() -> None:
    blocks = [
        {"BlockType": "QUERY", "Id": "q1", "Query": {"Text": "?", "Alias": "total"}, "Page": 1},
        *(
            {
                "BlockType": "QUERY",
                "Id": f"q{page}",
                "Query": {"Text": "?", "Alias": "total"},
                "Relationships": [{"Type": "ANSWER", "Ids": [f"a{page}", "gone"]}],
            }
            for page in (2, 3)
        ),
        {"BlockType": "QUERY_RESULT", "Id": "a2", "Text": "12", "Confidence": 40.0},
        {"BlockType": "QUERY_RESULT", "Id": "a3", "Text": "12.50", "Confidence": 90.0},
    ]
    (record,) = document_fields.split_queries({"Blocks": blocks})
    assert record == {"(key)": "total", "answer": "12.50", "confidence": 90.0, "question": "?"}


@pytest.mark.parametrize("indent", [None, 2])
def test_textract_responses_are_read_from_lines_and_from_a_folder(indent: int | None, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", GOLD)
    parts = [make_queries([key], [answer], [key]) for key, answer in (("date", "May 4"), ("total", "12.50"))]
    lines = write(tmp_path / "responses.jsonl", parts)
    folder = tmp_path / "responses"
    folder.mkdir()
    for n, part in enumerate(parts):
        (folder / f"page {n}.json").write_text(json.dumps(part, indent=indent), encoding="utf-8")
    assert predictions_of(gold, lines) == {"total": "12.50", "date": "May 4"}
    assert predictions_of(gold, str(folder)) == {"total": "12.50", "date": "May 4"}


def test_textract_responses_of_a_folder_can_be_named_by_file(tmp_path: Path) -> None:
    """Without aliases, and with the same query for every page, the id is the name of the file."""
    folder = tmp_path / "responses"
    folder.mkdir()
    for key, answer in (("date", "May 4"), ("total", "12.50")):
        write(folder / f"{key}.json", make_queries(["What is it?"], [answer], [""]))
    gold = write(tmp_path / "gold.json", GOLD)
    assert predictions_of(gold, str(folder)) == {"date": "May 4", "total": "12.50"}
    assert predictions_of(gold, str(folder), id_field="file_name") == {"date": "May 4", "total": "12.50"}


# Azure Document Intelligence

AZURE = {
    "modelId": "prebuilt-invoice",
    "documents": [
        {
            "docType": "invoice",
            "fields": {
                "Total": {
                    "type": "currency",
                    "valueCurrency": {"amount": 12.5},
                    "content": "$12.50",
                    "confidence": 0.9,
                },
                "Date": {"type": "date", "valueDate": "1998-05-24", "content": "May 24, 1998"},
                "Signed": {"type": "selectionMark", "valueSelectionMark": "selected", "content": ":selected:"},
                "Paid": {"type": "boolean", "valueBoolean": True},
                "Count": {"type": "integer", "valueInteger": 3},
                "Missing": {"type": "string"},
                "Gone": None,
                "Items": {
                    "type": "array",
                    "valueArray": [
                        {
                            "type": "object",
                            "valueObject": {
                                "Name": {"type": "string", "valueString": "Toner", "content": "Toner"},
                                "Price": {"type": "currency", "content": "5.00"},
                            },
                        }
                    ],
                },
            },
        }
    ],
}
AZURE_TEXTS = {
    "Total": "$12.50",
    "Date": "May 24, 1998",
    "Signed": "selected",
    "Paid": "true",
    "Count": "3",
    "Missing": "",
    "Gone": "",
}


def test_azure_fields_are_texts_as_they_are_written() -> None:
    assert answers_of(split_fields({"analyzeResult": AZURE})) == AZURE_TEXTS
    assert split_fields(AZURE)[0] == {"(key)": "Total", "answer": "$12.50", "confidence": 0.9}


def test_azure_field_of_a_second_document_has_a_number() -> None:
    twice = {"documents": [{"fields": {"Total": {"content": text}}} for text in ("1", "2")]}
    assert answers_of(split_fields(twice)) == {"Total": "1", "Total/2": "2"}
    assert find_field_values(twice) == [{"Total": "1"}, {"Total": "2"}]


def test_azure_fields_are_a_value_for_nested_scores() -> None:
    assert find_field_values(AZURE) == {**AZURE_TEXTS, "Items": [{"Name": "Toner", "Price": "5.00"}]}


# Google Document AI

DOCUMENT = {
    "mimeType": "application/pdf",
    "text": "...",
    "entities": [
        {"type": "total", "mentionText": "12.50", "confidence": 0.9, "normalizedValue": {"text": "12.5"}},
        {
            "type": "line_item",
            "mentionText": "Toner 5.00",
            "confidence": 0.8,
            "properties": [
                {"type": "line_item/name", "mentionText": "Toner", "confidence": 0.8},
                {"type": "price", "mentionText": "5.00", "confidence": 0.8},
            ],
        },
        {"type": "line_item", "confidence": 0.8, "properties": [{"type": "line_item/name", "mentionText": "Paper"}]},
        {"type": "date", "confidence": 0.1},
    ],
}


@pytest.mark.parametrize("record", [DOCUMENT, {"document": DOCUMENT, "humanReviewStatus": {}}])
def test_document_ai_entities_are_texts_by_type(record: Mapping[str, Any]) -> None:
    assert answers_of(split_entities(record)) == {
        "total": "12.50",
        "line_item": "Toner 5.00",
        "line_item/name": "Toner",
        "line_item/price": "5.00",
        "line_item/name/2": "Paper",
        "date": "",
    }


def test_document_ai_entities_are_a_value_for_nested_scores() -> None:
    assert find_entity_values(DOCUMENT) == {
        "total": "12.50",
        "line_item": [{"name": "Toner", "price": "5.00"}, {"name": "Paper"}],
        "date": "",
    }


# Folders of responses, a file for each document


@pytest.mark.parametrize("make", [make_azure_result, make_document])
def test_fields_of_a_folder_have_the_name_of_their_file_in_their_id(make: Any, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name, total in (("doc 1", "12.50"), ("doc 2", "7")):
        write(folder / f"{name}.json", make({"total": total}))
    gold = write(tmp_path / "gold.json", [{"id": f"doc {n}/total", "answers": ["7"]} for n in (1, 2)])
    assert predictions_of(gold, str(folder)) == {"doc 1/total": "12.50", "doc 2/total": "7"}
    values = write(tmp_path / "values.json", [{"id": f"doc {n}", "answers": {"total": "7"}} for n in (1, 2)])
    nested = predictions_of(values, str(folder), values=True)
    assert nested == {"doc 1": {"total": "12.50"}, "doc 2": {"total": "7"}}


def test_file_of_several_records_gives_no_name(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for n in (1, 2):
        write(folder / f"part {n}.json", [{"id": f"{n}{m}", "prediction": "a", "answers": ["a"]} for m in (1, 2)])
    assert all("file_name" not in row.record for row in rows_of(str(folder)))


FIELDS = (
    "Blocks",
    "BlockType",
    "Query",
    "Alias",
    "Relationships",
    "Ids",
    "documents",
    "fields",
    "entities",
    "properties",
)
JSON = st.recursive(
    st.none() | st.integers(0, 9) | st.sampled_from(["QUERY", "ANSWER", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
@pytest.mark.parametrize(
    "function", ["split_queries", "split_fields", "split_entities", "find_field_values", "find_entity_values"]
)
def test_any_object_is_split_without_an_exception(function: str, record: dict[str, Any]) -> None:
    getattr(document_fields, function)(record)
