"""Splits a response of a document interface (Textract, Azure, Document AI) into a record for each query or field.

A response does not say which document it is about. In a folder of responses the name of the file does: see
`containers.FILE`. So a record has three fields that may be its id: the query or field (`KEY`), the file (`FILE`), and
both (`FILE_KEY`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from anls_metric.reading.containers import FILE, KEY, objects_of

FILE_KEY = f"{FILE}.key"
ANSWER = "answer"


class _Field(NamedTuple):
    key: str
    answer: str | None
    confidence: Any = None
    question: str | None = None


def _make_records(record: Mapping[str, Any], fields: Iterable[_Field]) -> list[dict[str, Any]]:
    """Make a record for each field that has a text. A repeated key gets a number: "total/2"."""
    file, seen, records = record.get(FILE), Counter[str](), []
    for field in fields:
        if field.answer is None:
            continue
        seen[field.key] += 1
        key = field.key if seen[field.key] == 1 else f"{field.key}/{seen[field.key]}"
        ids = {KEY: key} if file is None else {KEY: key, FILE: file, FILE_KEY: f"{file}/{key}"}
        question = {} if field.question is None else {"question": field.question}
        records.append({**ids, ANSWER: field.answer, "confidence": field.confidence, **question})
    return records


# Amazon Textract


def split_queries(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a response of Textract into its queries. The key of a query is its alias, or its text.

    A query about several pages has several answers; the most confident one counts.
    """
    blocks = objects_of(record.get("Blocks"))
    by_id = {str(block.get("Id")): block for block in blocks}
    answers: dict[str, list[Mapping[str, Any]]] = {}
    questions: dict[str, str] = {}
    for block in blocks:
        query = block.get("Query")
        if block.get("BlockType") != "QUERY" or not isinstance(query, Mapping):
            continue
        key = str(query.get("Alias") or query.get("Text"))
        questions.setdefault(key, str(query.get("Text", "")))
        relations = [each for each in objects_of(block.get("Relationships")) if each.get("Type") == "ANSWER"]
        ids = [str(each) for relation in relations for each in _list_ids(relation)]
        answers.setdefault(key, []).extend(by_id[each] for each in ids if each in by_id)
    return _make_records(record, [_choose_answer(key, questions[key], results) for key, results in answers.items()])


def _list_ids(relation: Mapping[str, Any]) -> list[Any]:
    ids = relation.get("Ids")
    return ids if isinstance(ids, list) else []


def _choose_answer(key: str, question: str, results: list[Mapping[str, Any]]) -> _Field:
    best = max(results, key=_get_confidence, default={})
    return _Field(key, str(best.get("Text") or ""), best.get("Confidence"), question)


def _get_confidence(block: Mapping[str, Any]) -> float:
    confidence = block.get("Confidence")
    return confidence if isinstance(confidence, (int, float)) else 0.0


# Azure Document Intelligence


def split_fields(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a result of Azure into its fields, with their texts in the document. Lists and objects are left out."""
    return _make_records(
        record,
        [
            _Field(name, _read_field(field), field.get("confidence") if isinstance(field, Mapping) else None)
            for document in _list_documents(record)
            for name, field in _fields_of(document)
        ],
    )


def find_field_values(record: Mapping[str, Any]) -> Any:
    """Collect the fields of a result of Azure into one value, or into a list if it has several documents."""
    values = [{name: _read_value(field) for name, field in _fields_of(each)} for each in _list_documents(record)]
    return values[0] if len(values) == 1 else values


def _list_documents(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    result = record.get("analyzeResult", record)
    return objects_of(result.get("documents")) if isinstance(result, Mapping) else []


def _fields_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    fields = document.get("fields")
    yield from fields.items() if isinstance(fields, Mapping) else ()


def _read_field(field: Any) -> str | None:
    """Read the text of a field: "" for an empty field, None for a list or an object."""
    if not isinstance(field, Mapping):
        return ""
    mark, content = field.get("valueSelectionMark"), field.get("content")
    if isinstance(mark, str) or isinstance(content, str):
        return mark if isinstance(mark, str) else content
    values = [value for name, value in field.items() if name.startswith("value") and name != "value_type"]
    if not values or values[0] is None:
        return ""
    if isinstance(values[0], bool):
        return "true" if values[0] else "false"
    return str(values[0]) if isinstance(values[0], (str, int, float)) else None


def _read_value(field: Any) -> Any:
    items, members = (field.get("valueArray"), field.get("valueObject")) if isinstance(field, Mapping) else (None, None)
    if isinstance(items, list):
        return [_read_value(item) for item in items]
    if isinstance(members, Mapping):
        return {name: _read_value(value) for name, value in members.items()}
    return _read_field(field)


# Google Document AI


def split_entities(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a document of Document AI into its entities, and their properties. The key is the type."""
    return _make_records(record, _list_entities(_entities_of(record)))


def find_entity_values(record: Mapping[str, Any]) -> Any:
    """Collect the entities of a document of Document AI into one value: texts by type, lists for repeated types."""
    return _read_entities(_entities_of(record))


def _entities_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    document = record.get("document", record)
    return objects_of(document.get("entities")) if isinstance(document, Mapping) else []


def _list_entities(entities: Iterable[Mapping[str, Any]], parent: str = "") -> Iterator[_Field]:
    for entity in entities:
        name = _name_entity(entity, parent)
        text = entity.get("mentionText")
        if isinstance(text, str) or not entity.get("properties"):
            yield _Field(name, text if isinstance(text, str) else "", entity.get("confidence"))
        yield from _list_entities(objects_of(entity.get("properties")), f"{name}/")


def _read_entities(entities: Iterable[Mapping[str, Any]], parent: str = "") -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for entity in entities:
        name = _name_entity(entity, parent)
        properties = objects_of(entity.get("properties"))
        value = _read_entities(properties, f"{name}/") if properties else entity.get("mentionText") or ""
        values.setdefault(name.removeprefix(parent), []).append(value)
    return {name: several[0] if len(several) == 1 else several for name, several in values.items()}


def _name_entity(entity: Mapping[str, Any], parent: str) -> str:
    """Name the type of an entity. In most processors, the type of a property begins with the type of its parent."""
    name = str(entity.get("type", ""))
    return name if name.startswith(parent) else f"{parent}{name}"
