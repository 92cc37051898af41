"""Finds the document of each question, by a field of the records: the unit of intervals, tests, causes and groups."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.messages import make_error
from anls_metric.options import NONE
from anls_metric.reading.layouts import take_column
from anls_metric.reading.roles import DOCUMENTS

Names = Sequence[Hashable]
"""The document of each question; None for a question that is its own."""

WITHOUT_PAGE = "without the page"


class Clusters(NamedTuple):
    """The documents of questions.

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


def find_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """Find the documents of questions.

    Args:
        records: the records of the questions.
        cluster_by: the field or path that names the document of a question, as it is; "none" for no documents. None
            takes the first of `roles.DOCUMENTS` that repeats, as it is or without the page at the end of its values.

    Returns:
        The documents; None for none.

    Raises:
        InputError: no record has the field of `cluster_by`.

    Example:
        >>> find_clusters([{"image": f"fqvw{n // 3}_{n % 3}.png"} for n in range(6)]).names
        ['fqvw0', 'fqvw0', 'fqvw0', 'fqvw1', 'fqvw1', 'fqvw1']
    """
    if cluster_by == NONE:
        return None
    if cluster_by is not None:
        clusters = Clusters(cluster_by, _read_names(records, cluster_by))
        if all(name is None for name in clusters.names):
            sentence = "no question has the field {field!r}: {use.cluster_by} takes a field of the questions"
            raise make_error("", sentence, field=cluster_by)
        return clusters
    known: set[str] = set().union(*records)
    for field in DOCUMENTS:
        names = _read_names(records, field) if field in known else []
        documents = name_documents(names)
        clusters = Clusters(field, documents, WITHOUT_PAGE if documents != names else "")
        if None not in {*documents} - {*names} and len(set(names)) > 1 and clusters.size < len(records):
            return clusters
    return None


def _read_names(records: Sequence[Mapping[str, Any]], field: str) -> list[Hashable]:
    """Read the name of each record; None for a value that groups nothing: NaN, an empty string, a list."""
    column = take_column(records, field)
    return [each if isinstance(each, (str, int, float)) and each == each and each != "" else None for each in column]


_EXTENSION = r"(?:\.[A-Za-z]{2,4})?"
_PAGE = re.compile(rf"(?i)(?:(?:^|[-_ /.]+)(?:p|pg|page)[-_ ]?\d+){_EXTENSION}$")
_NUMBER = re.compile(rf"[_/](\d+){_EXTENSION}$")


def name_documents(names: Names) -> list[Hashable]:
    """Take the page off the end of each name: ``-p34``, `` page 34``; and ``_34`` and ``/34`` if such numbers repeat.

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
