"""Groups the scores of questions by the values of a field or by the keys of nested values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.answer_types import ANSWER_TYPES
from anls_metric.core.json_strings import parse_written_list
from anls_metric.core.names import natural_key
from anls_metric.core.scorer import mean
from anls_metric.messages import make_error
from anls_metric.reading.answers import Questions
from anls_metric.reading.records import ABSENT, Record, take_column

if TYPE_CHECKING:
    from anls_metric.core.statistics.clusters import Clusters
    from anls_metric.core.statistics.significance import Interval


class Group(NamedTuple):
    """The positions and scores of the questions in a group and, for a key of nested values, the figures for the key's
    leaves.
    """

    places: list[int]
    scores: list[float]
    figures: Mapping[str, Any] = {}

    @property
    def mean(self) -> float | None:
        """The mean of the scores, or None if there are no questions."""
        return mean(self.scores) if self.scores else None

    def interval(self, clusters: Clusters | None) -> Interval | None:
        """Return the 95% confidence interval of the mean, or None if there are fewer than two clusters."""
        from anls_metric.core.statistics.significance import mean_interval

        return mean_interval(self.scores, clusters and [clusters.names[place] for place in self.places])


Groups = dict[str, Group]


def group_by_fields(questions: Questions, scores: Sequence[float], fields: Sequence[str]) -> dict[str, Groups]:
    """Group the scores of questions by each of several fields.

    Raises:
        InputError: one of the fields occurs in no question.
    """
    groups = {field: group_scores(questions.table.records, scores, field) for field in fields}
    for field, found in groups.items():
        if not found:
            sentence = "no question has the field {field!r}: with {use.by}, pass fields that they have (found {fields})"
            known = ", ".join(map(repr, questions.table.records[0]))
            raise make_error(questions.table.name, sentence, field=field, fields=known)
    return groups


def group_scores(records: Sequence[Record], scores: Sequence[float], field: str) -> Groups:
    """Group the scores of questions by the values of a field in their records. The groups are sorted by name, with 2
    before 10.

    Example:
        >>> groups = group_scores([{"kind": "x"}, {"kind": ["x", "y"]}], [1.0, 0.0], "kind")
        >>> {name: group.mean for name, group in groups.items()}
        {'x': 0.5, 'y': 0.0}
    """
    groups: Groups = {}
    for place, value in enumerate(take_column(records, field)):
        for name in name_groups(field, value):
            group = groups.setdefault(name, Group([], []))
            group.places.append(place)
            group.scores.append(scores[place])
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def name_groups(field: str, value: Any) -> list[str]:
    """Return the distinct names of the groups to which a question belongs, given its value in a field. A string that
    represents a list of strings is treated as a list.

    Example:
        >>> name_groups("evidence_sources", "['Table', 'Chart']"), name_groups("page", [2, 2.0])
        (['Table', 'Chart'], ['2'])
    """
    if isinstance(value, str):
        with suppress(ValueError):  # it only begins like a list
            value = parse_written_list(value, field)
    items = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(_name_group(field, item) for item in items if item is not None and item is not ABSENT))


def _name_group(field: str, value: Any) -> str:
    """Return the name of a group. 7, "7" and 7.0 belong to the same group, since file formats write the same number
    differently.
    """
    name = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return ANSWER_TYPES[field][1].get(name, name) if field in ANSWER_TYPES else name
