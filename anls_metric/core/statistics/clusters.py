"""Finds the document of each question in a field of the records. Intervals, tests, causes and groups use documents as
their units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

_DOCUMENTS = (
    *("ucsf_document_id", "docId", "doc_id", "document_id", "document", "document_name", "doc_name", "doc"),
    *("deck_name", "arxiv_id", "pdf", "pdf_path"),
)
DOCUMENTS = (
    *_DOCUMENTS,
    *("file_name", "filename", "image", "images", "imgname", "image_id", "image_name", "image_filename", "image_path"),
    *("image_url", "image_local_name", "page_id", "page_ids", "conversation_id"),
)
"""The fields that identify the document, page or image of a question, from coarse to fine."""

_PARENTS = ("doc", "metadata", "source")
"""The fields whose objects are also searched for the fields in `DOCUMENTS`."""

Names = Sequence[Hashable]
"""The name of each question's document, or None for a question that is its own document."""

WITHOUT_PAGE = "without the page"


class Clusters(NamedTuple):
    """The document that each question is about.

    Attributes:
        field: the field of the records that identifies the document.
        names: the name of each question's document, or None for a question that is its own document.
        rule: "without the page" if pages were removed from the values of the field; "" if the values are unchanged.
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
        The documents according to the first field in `DOCUMENTS` whose values repeat, either unchanged or without the
        page at the end, or None if there is no such field. A field inside an object is given as a path, such as
        "doc.image_id".

    Example:
        >>> find_clusters([{"image": f"fqvw{n // 2}_{n % 2}.png"} for n in range(40)]).names[:4]
        ['fqvw0', 'fqvw0', 'fqvw1', 'fqvw1']
    """
    known: set[str] = set().union(*records)
    for field in DOCUMENTS:
        parents = (f"{parent}.{field}" for parent in _PARENTS if parent in known)
        for path in (*([field] if field in known else []), *parents):
            names = keep_names(_take(records, path))
            documents = name_documents(names, has_numbers=field not in _DOCUMENTS)
            clusters = Clusters(path, documents, WITHOUT_PAGE if documents != names else "")
            is_only_a_page = None in documents and None not in names
            if not is_only_a_page and len(set(names)) > 1 and clusters.size < len(records):
                return clusters
    return None


def _take(records: Sequence[Mapping[str, Any]], path: str) -> list[Any]:
    """Return the value of a field, which may be inside an object, in each record."""
    parent, _, field = path.rpartition(".")
    if not parent:
        return [record.get(field) for record in records]
    return [row.get(field) if isinstance(row := record.get(parent), Mapping) else None for record in records]


def keep_names(values: Sequence[Any]) -> list[Hashable]:
    """Keep the values that can identify a document. A list of names becomes one name, without the pages of the
    documents. A value that cannot identify a document (NaN, an empty string, an object) becomes None.
    """
    return [
        ", ".join(dict.fromkeys(map(str, map(_remove_page, value)))) or None
        if isinstance(value, list) and all(isinstance(item, str) for item in value)
        else value
        if isinstance(value, (str, int, float)) and value == value and value != ""
        else None
        for value in values
    ]


_EXTENSION = r"(?:\.[A-Za-z]{2,4})?"
_PAGE = re.compile(rf"(?i)(?:(?:^|[-_ /.])(?:p|pg|page)[-_ ]?\d+){_EXTENSION}$")
_NUMBER = re.compile(rf"[_/](\d+){_EXTENSION}$")

_SHARED, _LARGEST = 0.5, 0.1


def name_documents(names: Names, has_numbers: bool = True) -> list[Hashable]:
    """Remove a page such as ``-p34`` or `` page 34`` from the end of each name, and also a number such as ``_34`` or
    ``/34`` if numbers are pages.

    Numbers are pages if at least half of the names end in a number that occurs with another stem as well, and no stem
    has more than a tenth of the names. For example, "invoice_1001" and "invoice_1002" are documents. A name that is
    only a page, such as "page_3.png", does not identify a document and becomes None.

    Args:
        names: the names.
        has_numbers: whether numbers can be pages.

    Example:
        >>> name_documents(["a-p1", "a-p2", "DOC/page_3.png"]), name_documents(["invoice_1001", "invoice_1002"])
        (['a', 'a', 'DOC'], ['invoice_1001', 'invoice_1002'])
        >>> pages = [f"{name}_{page}.png" for name in "abcdefghijklmno" for page in (1, 2)]
        >>> name_documents(pages)[:4], name_documents(pages[:4])
        (['a', 'a', 'b', 'b'], ['a_1.png', 'a_2.png', 'b_1.png', 'b_2.png'])
    """
    different = {*names}
    numbers = [found for name in different if isinstance(name, str) and (found := _NUMBER.search(name))]
    stems: dict[str, set[str]] = {}
    for each in numbers:
        stems.setdefault(each[1].lstrip("0"), set()).add(each.string[: each.start()])
    sizes = Counter(each.string[: each.start()] for each in numbers)
    shared = sum(len(stems[each[1].lstrip("0")]) > 1 for each in numbers)
    are_pages = has_numbers and shared >= _SHARED * len(different) > 0
    are_pages = are_pages and max(sizes.values(), default=0) <= _LARGEST * len(different)
    documents = {name: _remove_page(name, are_pages) for name in different}
    return [documents[name] for name in names]


def _remove_page(name: Hashable, are_pages: bool = False) -> Hashable:
    if not isinstance(name, str):
        return name
    page = _PAGE.search(name) or (_NUMBER.search(name) if are_pages else None)
    return name[: page.start()].strip("-_ /.") or None if page else name


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Find the field that identifies a question's document.

    Args:
        records: the records of the questions.

    Returns:
        The first field with a usual name, such as "docId" or "image", that has several values, some of which repeat,
        either as they are or without the page at their end; None if there is no such field.

    Raises:
        Nothing.

    Example:
        >>> cluster_field([{"id": 1, "doc": "a", "image": "a1"}, {"id": 2, "doc": "a", "image": "a2"}, {"doc": "b"}])
        'doc'
    """
    clusters = find_clusters(records)
    return clusters.field if clusters else None
