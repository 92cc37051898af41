"""Groups the questions in a report by fields, by document, and by kind of answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.answer_kinds import KIND, find_kind
from anls_metric.analysis.clustering import choose_clusters
from anls_metric.analysis.groups import Groups, group_scores
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored
from anls_metric.core.statistics.clusters import Clusters
from anls_metric.options import KEYS
from anls_metric.reading.records import Record, take_column

MAX_FIELDS = 4
"""The maximum number of fields that group questions by default."""


class Grouping(NamedTuple):
    """The questions of submissions and of a report, grouped by fields.

    Attributes:
        groups: for each submission, its groups by field and name.
        questions: the numbers of the report's questions in each group, by field and name. The group of a key of nested
            values contains the questions in which any submission has a leaf under the key that scores less than 1.
        first_field: the field to show first; "" if there is none.
    """

    groups: Sequence[Mapping[str, Groups]]
    questions: Mapping[str, Mapping[str, list[int]]]
    first_field: str


def group_questions(submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]) -> Grouping:
    """Group all questions of each submission, and group the questions that a report shows."""
    first = submissions[0]
    documents = [first.clusters.field] if first.clusters else []
    named = [field for field, groups in first.groups.items() if groups]
    kinds = [KIND] * (first.scorer.form == "text")
    fields = list(dict.fromkeys([*(named or list_grouping_fields(first)[:MAX_FIELDS]), *documents, *kinds]))
    groups = [_group(scored, fields) for scored in submissions]
    records: Sequence[Record] = [question.record for question in questions]
    clusters = first.clusters and choose_clusters(records, first.settings.cluster_by)
    records = _complete_records(fields, records, [question.references for question in questions], clusters)
    found = {field: group_scores(records, range(len(records)), field) for field in fields}
    listed = {field: {name: group.places for name, group in own.items()} for field, own in found.items()}
    if first.groups.get(KEYS):
        listed[KEYS] = _list_wrong(submissions, questions)
    return Grouping(groups, listed, next(iter([*first.groups, *documents, *fields]), ""))


def _group(scored: Scored, fields: Sequence[str]) -> dict[str, Groups]:
    """Group the questions of a submission by fields."""
    own = scored.questions
    records = _complete_records(fields, own.table.records, own.references, scored.clusters)
    return {field: scored.groups.get(field) or group_scores(records, scored.scores, field) for field in fields}


def _list_wrong(submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]) -> dict[str, list[int]]:
    """List, for each key, the numbers of the questions in which any submission has a leaf that scores less than 1."""
    listed = {}
    for name in submissions[0].groups[KEYS]:
        keys = [scored.groups[KEYS][name] for scored in submissions]
        lost = [{place for place, score in zip(key.places, key.scores) if score < 1.0} for key in keys]
        listed[name] = [
            number
            for number, question in enumerate(questions)
            if any(place in own for place, own in zip(question.places, lost))
        ]
    return listed


def _complete_records(
    fields: Collection[str], records: Sequence[Record], references: Sequence[Any], clusters: Clusters | None
) -> Sequence[Record]:
    """Return the records with the name of each question's document in the field of the clusters and, if ``fields``
    includes it, with the kind of answer.
    """
    if clusters:
        records = [{**record, clusters.field: name} for record, name in zip(records, clusters.names)]
    if KIND not in fields:
        return records
    return [{**record, KIND: find_kind(accepted)} for record, accepted in zip(records, references)]


MAX_GROUPS = 12
"""The maximum number of distinct values in a field that groups questions by default."""


def list_grouping_fields(scored: Scored) -> list[str]:
    """List the fields with few distinct values, starting with the fewest. Fields that contain the texts of questions or
    answers are left out.
    """
    records = scored.questions.table.records
    texts = (list(scored.questions.texts), list(scored.answers.predictions))
    fields = _list_fields_with_few_values(records, min(MAX_GROUPS, len(records) // 2))
    return [field for field in fields if take_column(records, field) not in texts]


def _list_fields_with_few_values(records: Sequence[Record], most: int) -> list[str]:
    """List the fields with at least two and at most ``most`` distinct values in a sample of records, starting with the
    fewest.
    """
    sample = records[:2000]
    sizes: dict[str, int] = {}
    for name in {name: None for record in sample[:100] for name in record}:
        values = [record.get(name) for record in sample]
        if not any(isinstance(value, (bytes, dict, list)) for value in values):
            sizes[name] = len({str(value) for value in values if value is not None})
    return sorted((name for name, size in sizes.items() if 1 < size <= most), key=sizes.__getitem__)
