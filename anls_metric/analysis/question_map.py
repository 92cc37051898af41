"""Lists the questions in a report by document, for the map of all questions."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.analysis.clustering import choose_clusters
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored

MOST, PART = 5000, 100
"""If there are no documents and more than `MOST` questions, the questions are listed in parts of `PART` questions, and
a map draws only some of the parts.
"""


def list_documents(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]
) -> list[tuple[str | None, list[int]]]:
    """List the documents with the numbers of their questions, in the order of the questions.

    Returns:
        Pairs of a document's name and the numbers of its questions. A question without a document has a pair of its
        own, with None as the name. Without any documents, there is one pair of None and all questions, or several pairs
        with `PART` questions each if there are many.
    """
    scored = submissions[0]
    records = [question.record for question in questions]
    clusters = scored.clusters and choose_clusters(records, scored.settings.cluster_by)
    if clusters is None:
        size = PART if len(questions) > MOST else max(len(questions), 1)
        return [(None, [*range(start, min(start + size, len(questions)))]) for start in range(0, len(questions), size)]
    found: dict[object, tuple[str | None, list[int]]] = {}
    for number, name in enumerate(clusters.names):
        key = ("own", number) if name is None else name
        found.setdefault(key, (None if name is None else str(name), []))[1].append(number)
    return list(found.values())
