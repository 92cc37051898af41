"""Finds the document of each question, using a field of the records. Documents are the units of intervals, tests,
causes and groups.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

DOCUMENTS = (
    *("ucsf_document_id", "docId", "doc_id", "document_id", "document", "document_name", "doc_name", "doc"),
    *("deck_name", "arxiv_id", "pdf", "file_name", "image", "image_id", "image_name", "image_path", "image_url"),
    *("image_local_name", "page_id"),
)
"""The fields that name the document, page or image of a question, the coarsest first."""

Names = Sequence[Hashable]
"""The document of each question; None for a question that is its own."""

WITHOUT_PAGE = "without the page"


class Clusters(NamedTuple):
    """The document that each question is about.

    Attributes:
        field: the field of the records that names the document.
        names: the document of each question; None for a question that is its own.
        rule: what was done to the values of the field: "without the page", or "" for nothing.
    """

    field: str
    names: Names
    rule: str = ""

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(set(self.names) - {None}) + self.names.count(None)


def find_clusters(records: Sequence[Mapping[str, Any]]) -> Clusters | None:
    """Find the document that each question is about.

    Args:
        records: the records of the questions.

    Returns:
        The documents by the first field of `DOCUMENTS` that repeats, as it is or without the page at the end of its
        values; None for none.

    Example:
        >>> find_clusters([{"image": f"fqvw{n // 3}_{n % 3}.png"} for n in range(6)]).names
        ['fqvw0', 'fqvw0', 'fqvw0', 'fqvw1', 'fqvw1', 'fqvw1']
    """
    known: set[str] = set().union(*records)
    for field in DOCUMENTS:
        names = keep_names([record.get(field) for record in records]) if field in known else []
        documents = name_documents(names)
        clusters = Clusters(field, documents, WITHOUT_PAGE if documents != names else "")
        is_only_a_page = None in documents and None not in names
        if not is_only_a_page and len(set(names)) > 1 and clusters.size < len(records):
            return clusters
    return None


def keep_names(values: Sequence[Any]) -> list[Hashable]:
    """Keep the values that can name a document. A value that groups nothing (NaN, an empty string, a list) becomes
    None.
    """
    return [each if isinstance(each, (str, int, float)) and each == each and each != "" else None for each in values]


_EXTENSION = r"(?:\.[A-Za-z]{2,4})?"
_PAGE = re.compile(rf"(?i)(?:(?:^|[-_ /.]+)(?:p|pg|page)[-_ ]?\d+){_EXTENSION}$")
_NUMBER = re.compile(rf"[_/](\d+){_EXTENSION}$")


def name_documents(names: Names) -> list[Hashable]:
    """Remove the page from the end of each name, such as ``-p34`` or `` page 34``; also ``_34`` and ``/34`` if such
    numbers repeat.

    Numbers repeat if several documents have a page of one number; "invoice_1001" and "invoice_1002" are documents. A
    name that is only a page, such as "page_3.png", names no document: None.

    Example:
        >>> name_documents(["a-p1", "a-p2", "DOC/page_3.png"]), name_documents(["invoice_1001", "invoice_1002"])
        (['a', 'a', 'DOC'], ['invoice_1001', 'invoice_1002'])
    """
    stems: dict[str, set[str]] = {}
    for name in {*names}:
        number = _NUMBER.search(name) if isinstance(name, str) else None
        if number:
            stems.setdefault(number[1].lstrip("0"), set()).add(number.string[: number.start()])
    repeat = any(len(each) > 1 for each in stems.values())
    documents = {name: _name_document(name, repeat) for name in {*names}}
    return [documents[name] for name in names]


def _name_document(name: Hashable, numbers_repeat: bool) -> Hashable:
    if not isinstance(name, str):
        return name
    page = _PAGE.search(name) or (_NUMBER.search(name) if numbers_repeat else None)
    return name[: page.start()].strip("-_ /.") or None if page else name


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Find the field that names the document of a question.

    Args:
        records: the records of the questions.

    Returns:
        The first field with a usual name, such as "docId" or "image", that has several values and repeats, as it is or
        without the page at the end of its values; None for none.

    Raises:
        Nothing.

    Example:
        >>> cluster_field([{"id": 1, "doc": "a", "image": "a1"}, {"id": 2, "doc": "a", "image": "a2"}, {"doc": "b"}])
        'doc'
    """
    clusters = find_clusters(records)
    return clusters.field if clusters else None
