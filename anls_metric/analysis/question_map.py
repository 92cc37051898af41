"""Lists the questions in a report by document, for the map of all questions."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.analysis.clustering import choose_clusters
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored

MOST, PART = 5000, 100
"""If there are more questions than `MOST` and no documents, the questions are listed in parts of `PART` questions, some
of which a map draws.
"""


def list_documents(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]
) -> list[tuple[str | None, list[int]]]:
    """List the documents with the numbers of their questions, in the order of the questions.

    Returns:
        The name of each document with its questions, None for a question without a document. If there are no documents
        at all, all questions under None, or in parts of `PART` questions if there are many.
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
