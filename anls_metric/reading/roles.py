"""Finds the field for each role, which the user names, the layout specifies, or a usual name identifies, regardless of
values.

The lists of usual names are part of the documentation. The first name on a list that occurs in the table is used,
ignoring case, spaces and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from anls_metric.core.checks import find_similar_name
from anls_metric.core.scorer import Scorer
from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.core.strings.normalization import NORMALIZATIONS
from anls_metric.messages import InputError, Message, make_error
from anls_metric.options import NONE, OPTIONS, Settings
from anls_metric.reading.records import FILE, KEY, OTHER, PART, VALUE, Fields, Path, Record, drop_fields, take_column
from anls_metric.reading.table import MAX_SAMPLE, Roles, Table, describe_fields, first_path, has, show_path, split_key

Side = Literal["gold", "submission", "both"]
"""The contents of a table, which are references, predictions, or predictions with their references."""

Answer = Literal["prediction", "references"]

IDS = ("questionId", "question_id", "id", "qid", KEY, FILE)
QUESTIONS = ("question", "query", "prompt")
PREDICTIONS = (
    *("prediction", "predicted_answer", "pred_answer", "model_answer", "predicted", "pred", "prediction_text"),
    *(
        "extracted_answer",
        "model_prediction",
        "predict",
        "model_output",
        "model_response",
        "llm_output",
        "llm_response",
        "llm_answer",
    ),
    *("response", "output", "generated_text", "generated_answer", "generation", "completion", "answer_pred"),
    *("predictions", "preds", "actual_output", "pred_value", "generated"),
)
REFERENCES = (
    *("references", "answers", "accepted_answers", "gold_answers", "gold_answer", "correct_answer", "ground_truths"),
    *("ground_truth", "gt_answers", "answers.text", "gt", "expected_output", "reference_answer", "gold_value"),
    *("answer_ground_truth", "correct_answers", "true_answer", "truth", "gt_answer", "expected_answer"),
    *("expected_answers", "target_answer", "target_answers"),
)
ANSWERS = ("answer", VALUE)
"""The names of a field that contains predictions in a submission, references in a gold file and, in a table with both,
whichever no other field contains.
"""

LESS_CERTAIN_REFERENCES = (  # may also be a category
    *("reference", "gold", "golds", "target", "targets", "expected", "labels", "label", "label_text"),
)
ALIASES = ("answer_aliases",)
"""The names of a field that contains references in addition to the reference in "answer"."""

CONFIDENCES = ("confidence", "logprob")
SUBMISSIONS = ("model", "checkpoint", "system", "submission", "llm", "model_name", "model_id")
FILES = (*DOCUMENTS, "file", "filename", "path", "page", "pages")
"""The names of fields that show which file or page a question is about."""

PAGES_OF_QUESTIONS = (
    *("answer_page_idx", "evidence_pages", "evidence_page", "answer_pages", "answer_page", "gold_pages", "gold_page"),
    *("gt_pages", "gt_page", "true_page", "page_idx", "relevant_pages", "supporting_pages", "pages", "page"),
)
PAGES_OF_ANSWERS = (
    *("answer_page", "pred_answer_page", "predicted_pages", "predicted_page", "pred_pages", "pred_page"),
    *("pred_evidence_pages", "predicted_evidence_pages", "evidence_pages", "evidence_page", "retrieved_pages"),
    *("cited_pages", "source_pages", "supporting_pages", "answer_pages", "answer_page_idx", "pages", "page"),
)
SCORES = ("score", "anls", "accuracy", "correct", "judge", "f1", "em", "exact_match")
RUNS = ("seed", "sample", "epoch", "run", "trial", "train_trial_index")

_OF_LAYOUTS = ("id", "question", "prediction", "references")
_ASSESSMENTS = ("confidence", "judge")
_PAGES = ("page", "gold_page")
_SIDES = {
    **dict.fromkeys(("gold_id", "references", "gold_page"), "gold"),
    **dict.fromkeys(("prediction", "page", *_ASSESSMENTS), "submission"),
}
"""The side of each option whose field only one of two files contains."""


def find_roles(
    table: Table, side: Side, settings: Settings, of_values: bool = False, scorer: Scorer | None = None
) -> Roles:
    """Find the field for each role in a table.

    Args:
        table: the table.
        side: what the table contains.
        settings: the fields that the user names.
        of_values: whether answers are lists and nested values.
        scorer: the scorer that will score the answers, whose columns are roles as well.

    Raises:
        InputError: a field that the user names does not exist, or a field would have two roles.
    """
    named = _find_named(table, side, settings)
    if table.layout is None or table.layout.name == "answers_by_id":
        roles = _find_usual_roles(table, side, named, of_values)
    else:
        paths: dict[str, Any] = {role: first_path(table, getattr(table.layout, role)) for role in _OF_LAYOUTS}
        roles = Roles(**paths)
    own: dict[str, Any] = {role: path for role, path in named.items() if role in roles._fields}
    roles = roles._replace(**own)
    if settings.fields and side != "both":
        path: Any = _find_fields(table, settings.fields)
        roles = roles._replace(prediction=path, references=path)
    if scorer:
        roles = _add_columns(table, side, roles, named, scorer)
    assessed: dict[str, Path | None] = {}
    if side != "gold":
        is_inside = roles.prediction is take_whole_record  # then a confidence is a key of the answer
        assessed = {"confidence": None if is_inside else usual_field(table, CONFIDENCES), **named}
    others = {role: path for role in _ASSESSMENTS if (path := assessed.get(role)) is not None}
    roles = roles._replace(others={**roles.others, **others})
    if side != "both":
        roles = roles._replace(prediction=None) if side == "gold" else roles._replace(references=None)
    _refuse_two_roles(table, side, roles)
    return roles


def _find_named(table: Table, side: Side, settings: Settings) -> dict[str, Path | None]:
    """Find the fields that the user names for a table. Raises InputError if the table lacks a field, except ids,
    questions and columns, which may be in only one of two files.
    """
    fields = {
        "id": settings.id,
        "gold_id": settings.gold_id,
        "prediction": settings.prediction[0] if settings.prediction else None,
        "references": settings.references,
        **(settings.field or {}),
    }
    named: dict[str, Path | None] = {}
    for option, path in fields.items():
        own = _SIDES.get(option)
        if path is None or (own and side not in (own, "both")):
            continue
        parts = split_key(table, path) if option in ("id", "gold_id", "references") else [path]
        lacking = [] if path == NONE else [part for part in parts if not has(table, part)]
        if not lacking:
            named["id" if option == "gold_id" else option] = None if path == NONE else path
        elif own or side == "both":
            raise error_of_missing_field(table, str(lacking[0]), option)
    return named


def _find_fields(table: Table, keys: Sequence[str]) -> Fields:
    """Find the fields that together form an answer."""
    names = [usual_field(table, [key]) or key for key in keys]
    for name in names:
        if not has(table, name):
            raise error_of_missing_field(table, name, "fields")
    return Fields(tuple(keys), tuple(names))


def error_of_missing_field(table: Table, path: str, role: str) -> Exception:
    """Create the error for a field that the user names but the table lacks, with the most similar field name if there
    is one.
    """
    similar = find_similar_name(path, table.fields)
    option = f"{{use.{role}}}" if role in OPTIONS else f"{{use.field:{role}=...}}"
    sentence = f"no field {{path!r}} for {option}"
    sentence += ": did you mean {similar!r}?" if similar else " (found {fields})"
    return make_error(table.name, sentence, path=path, similar=similar, fields=describe_fields(table))


def check_field_names(settings: Settings, scorer: Scorer) -> None:
    """Check the role names that the user gives with ``--field``. Raises InputError if a role does not exist or has an
    option of its own.
    """
    options = {name: name for name in ("id", "prediction", "references", "submission")}
    options[scorer.references] = "references"
    names = [
        name for name in ("question", *_ASSESSMENTS, *_PAGES, *scorer.columns, *scorer.optional) if name not in options
    ]
    for name in settings.field or ():
        if name in options:
            raise make_error("", f"{{use.field}} does not apply to {{name}}: pass {{use.{options[name]}}}", name=name)
        if name not in names:
            sentence = "there is no field {name!r} to read: choose from {names}"
            raise make_error("", sentence, name=name, names=", ".join(names))


def _find_usual_roles(table: Table, side: Side, named: Mapping[str, Path | None], of_values: bool) -> Roles:
    roles = Roles(usual_field(table, IDS, with_objects=False), usual_field(table, QUESTIONS))
    if of_values and side != "both" and holds_whole_answers(table, side):
        own = KEY if KEY in table.fields else FILE  # an id inside the record is part of the answer
        return roles._replace(id=own, prediction=take_whole_record, references=take_whole_record)
    answer = usual_field(table, ANSWERS)
    prediction = named.get("prediction") or usual_field(table, PREDICTIONS, with_objects=of_values)
    references = named.get("references") or usual_field(table, REFERENCES)
    if not (prediction and references):
        prediction, references = _find_pair(table, prediction, references, of_values)
    aliases = usual_field(table, ALIASES)
    if aliases and not references:
        references = f"{answer},{aliases}" if answer and answer != prediction else aliases
        answer = None
    if answer != prediction and (side == "gold" or prediction):
        references = references or answer
    references = references or usual_field(table, LESS_CERTAIN_REFERENCES)
    return roles._replace(prediction=prediction or answer, references=references)


_PAIR = r"(?i)(?:(gt|gold|true|predicted|pred)[\s_-]?(.+)|(.+?)[\s_-]?(gt|gold|true|predicted|pred))"


def _find_pair(
    table: Table, prediction: Path | None, references: Path | None, of_values: bool
) -> tuple[Path | None, Path | None]:
    """Find the only two fields whose names differ in just a word for the role, as in ``gt_sum`` and ``pred_sum``."""
    pairs: dict[str, dict[bool, str]] = {}
    for field, is_object in table.fields.items():
        match = re.fullmatch(_PAIR, field)
        if match and (of_values or not is_object):
            mark, stem = (match[1], match[2]) if match[1] else (match[4], match[3])
            pairs.setdefault(fold_name(stem), {})[mark.lower().startswith("pred")] = field
    fitting = [
        pair
        for pair in pairs.values()
        if len(pair) == 2 and prediction in (None, pair[True]) and references in (None, pair[False])
    ]
    if len(fitting) != 1:
        return prediction, references
    return prediction or fitting[0][True], references or fitting[0][False]


def usual_field(table: Table, names: Iterable[str], with_objects: bool = True) -> str | None:
    """Find the field that has the first matching name, ignoring case, spaces and punctuation, or return None.

    Example:
        >>> table = Table([], fields={"Ground Truth": False})
        >>> usual_field(table, REFERENCES)
        'Ground Truth'
    """
    own = {fold_name(field): field for field in reversed([*table.fields])}
    for name in names:
        field = name if name in table.fields else own.get(fold_name(name))
        if field is not None and (with_objects or not table.fields[field]):
            return field
    return None


@lru_cache(maxsize=10_000)
def fold_name(name: str) -> str:
    """Normalize the case, spaces and punctuation of a field name in the same way as the keys of answers, but leave
    names that this package assigns, such as `KEY`, unchanged.
    """
    return name if name.startswith("(") else NORMALIZATIONS["keys"].apply(name) or name


def list_plain_fields(table: Table, roles: Roles) -> list[str]:
    """List the fields that contain no objects, have no role, and are not inside an answer."""
    used = {roles.id, roles.prediction, roles.question, roles.references}
    used |= {name for path in used if isinstance(path, Fields) for name in path.names}
    inside = tuple(f"{path}." for path in (roles.prediction, roles.references) if isinstance(path, str))
    plain = (field for field, is_object in table.fields.items() if not is_object and field not in used)
    return [field for field in plain if not field.startswith(inside)]


_OF_ANSWERS = {
    fold_name(name.rpartition(".")[2])
    for name in (
        *PREDICTIONS,
        *REFERENCES,
        *ANSWERS,
        *LESS_CERTAIN_REFERENCES,
        *ALIASES,
        *CONFIDENCES,
        *SCORES,
        *SUBMISSIONS,
        *RUNS,
    )
}


def list_shared_fields(table: Table, roles: Roles, other: Table, other_roles: Roles) -> list[tuple[str, str]]:
    """List the plain fields that two tables share, as pairs of the name in each table, except fields for an answer, a
    score, a model or a run.
    """
    theirs = {fold_name(field): field for field in reversed(list_plain_fields(other, other_roles))}
    own = {fold_name(field): field for field in reversed(list_plain_fields(table, roles))}
    return [
        (field, theirs[name]) for name, field in reversed(own.items()) if name in theirs and not is_of_answers(name)
    ]


def is_of_answers(field: str) -> bool:
    """Whether a field has a usual name for an answer, a score, a model or a run."""
    return fold_name(field) in _OF_ANSWERS


def holds_whole_answers(table: Table, side: Side) -> bool:
    """Whether records that are keyed by id, as in ``{"id": {"total": "12.50"}}``, or stored one per file, are
    themselves answers.

    The records are not answers if they have a field such as ``answer`` or, in a submission, a usual prediction field
    whose values are mostly objects or JSON.
    """
    if {KEY, FILE}.isdisjoint(table.fields) or usual_field(table, ["prediction", "references", "answers", *ANSWERS]):
        return False
    path = usual_field(table, PREDICTIONS) if side == "submission" else None
    values = take_column(table.records[:MAX_SAMPLE], path) if path else []
    return 2 * sum(isinstance(value, dict) or (isinstance(value, str) and "{" in value) for value in values) <= len(
        values
    )


def take_whole_record(record: Record) -> Any:
    """Return a whole record without its id as an answer, or the value that the file contains instead of a record."""
    return record[OTHER] if OTHER in record else drop_fields(record, KEY, FILE, PART)


def may_be_either(path: Path | None) -> bool:
    """Whether a field has a usual name that fits both predictions and references."""
    return isinstance(path, str) and fold_name(path) in ANSWERS


def is_uncertain(path: Path) -> bool:
    """Whether a field taken for the references may actually hold something else, such as a prediction or a category."""
    return may_be_either(path) or fold_name(str(path)) in map(fold_name, LESS_CERTAIN_REFERENCES)


def _add_columns(table: Table, side: Side, roles: Roles, named: Mapping[str, Path | None], scorer: Scorer) -> Roles:
    """Add the columns that a scorer needs, including the prediction and the references, to the roles."""
    known = {"prediction": roles.prediction, scorer.references: roles.references}
    own = {scorer.references if role == "references" else role: path for role, path in named.items()}
    first = {**known, **table.layout.columns, **own} if table.layout else own
    columns: dict[str, Path] = {}
    for column in (*scorer.columns, *scorer.optional):
        more = [scorer.prediction_field] if column == "prediction" and side == "submission" else []
        path = first_path(table, first.get(column), column, usual_field(table, [column]), known.get(column), *more)
        if path is not None and (side != "gold" or column != "prediction"):
            columns[column] = path
    prediction = columns.get("prediction", roles.prediction)
    references = columns.get(scorer.references, roles.references)
    return roles._replace(prediction=prediction, references=references, others=columns)


def _refuse_two_roles(table: Table, side: Side, roles: Roles) -> None:
    """Raise an error if one field would be both the prediction and the references, or both the id and an answer."""
    if side == "both" and roles.prediction is not None and roles.prediction == roles.references:
        sentence = (
            "{field} cannot be both the prediction and the references: pass two fields with "
            "{use.prediction} and {use.references}, or {do.add_gold}"
        )
        raise make_error(table.name, sentence, field=show_path(roles.prediction))
    if roles.id is not None and roles.id in (roles.prediction, roles.references):
        sentence = "{field} cannot be both the id and an answer: pass a different field with {use.id}"
        raise make_error(table.name, sentence, field=show_path(roles.id))


def find_pages(table: Table, side: Side, settings: Settings, taken: Path | None = None) -> Path:
    """Find the field of the pages that answers cite or, in a gold file, of the pages that contain the answers.

    Raises:
        InputError: there is no such field, apart from the taken one.
    """
    role, names = ("gold_page", PAGES_OF_QUESTIONS) if side == "gold" else ("page", PAGES_OF_ANSWERS)
    path = (settings.field or {}).get(role) or usual_field(table, [name for name in names if name != taken])
    if path is None:
        what = "the pages of questions" if side == "gold" else "the pages that answers name"
        sentence = "no field of {what}: pass it with {use.field:{role}=PATH} (found {fields})"
        raise make_error(table.name, sentence, what=what, role=role, fields=describe_fields(table))
    return path


class MissingError(InputError):
    """Raised if a table has no field for a needed role. `missing.complete_error` creates the final message.

    Attributes:
        table: the table.
        side: what the table should contain.
        missing: the roles that have no field.
        roles: the fields of all roles that were found.
    """

    def __init__(self, table: Table, side: Side, missing: Sequence[Answer], roles: Roles) -> None:
        super().__init__(Message(table.name, "no {missing}", {"missing": " and ".join(missing)}))
        self.table, self.side, self.missing, self.roles = table, side, missing, roles


def require(table: Table, side: Side, roles: Roles, *needed: Answer) -> None:
    """Raise MissingError if any of the needed roles has no field."""
    missing = [role for role in needed if getattr(roles, role) is None]
    if missing:
        raise MissingError(table, side, missing, roles)
