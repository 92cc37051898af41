"""Decides which field of a file is which, from its names and values, and from the file on the other side.

Each role (id, question, prediction, accepted answers) has candidates: the field that the user names, the paths of the
layout, and usual names. `resolve` chooses among them by name. `match` then looks at the values of both files: the id of
a submission is the field that holds the ids of the gold file. Every choice that a reader might not expect has a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from anls_metric.reading import remedies
from anls_metric.reading.containers import KEY, VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.layouts import ABSENT, Layout, Path, take

Side = Literal["both", "gold", "submission"]
"""What a file holds: predictions with their accepted answers, accepted answers, or predictions."""

# Usual names of fields, the likeliest first. The first ids are those of the leaderboard's files,
# https://rrc.cvc.uab.es/?ch=17&com=tasks.
ID_FIELDS = ("questionId", "question_id", "id", "qid", "questionID", KEY)
QUESTION_FIELDS = ("question", "query", "prompt")
PREDICTION_FIELDS = (
    *("prediction", "predicted_answer", "pred_answer", "model_answer", "predicted", "pred", "prediction_text"),
    *("model_prediction", "predict", "model_output", "model_response", "llm_output", "llm_response", "llm_answer"),
    *("response", "output", "generated_text", "generated_answer", "generation", "completion", "answer_pred"),
)
REFERENCES_FIELDS = (
    *("references", "answers", "accepted_answers", "gold_answers", "ground_truths", "ground_truth", "gt_answers"),
    *("answers.text", "reference", "gold", "gt", "target", "targets", "labels", "label"),
)
ANSWER_FIELD = "answer"  # the prediction in a submission, the accepted answer in a gold file or beside a prediction

# Fields that tell the submissions of a long table apart, and fields that tell the runs of one model apart.
SUBMISSION_FIELDS = ("model", "checkpoint", "system", "submission")
RUN_FIELDS = ("seed", "sample", "epoch", "run", "trial")

SAMPLE = 100  # records that are looked at
_NEARLY_ALL = 0.95  # the share of a field's values that must be ids of the gold file


class Sample(NamedTuple):
    """What the resolver sees of a file.

    Attributes:
        name: the name of the file in errors.
        records: its first records.
        fields: the names of all columns, where the records may lack some.
    """

    name: str
    records: Sequence[Mapping[str, Any]]
    fields: Sequence[str] = ()

    def has(self, path: Path) -> bool:
        """Whether a path leads to a value in any record."""
        return path in self.fields or any(take(record, path) is not ABSENT for record in self.records)

    def first_of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The first path that leads to a value, as a layout holds it."""
        return next(((path,) for path in paths if self.has(path)), ())

    def list_paths(self) -> list[str]:
        """The paths of all values of the first record that are no objects, and of the other columns."""
        return list(dict.fromkeys([*(_list_paths(self.records[0]) if self.records else ()), *self.fields]))

    def describe_paths(self) -> str:
        """The paths of the first record in words, those inside lists as well."""
        paths = list(_list_paths(self.records[0], into_lists=True)) if self.records else []
        return list_some(map(repr, dict.fromkeys([*paths, *self.fields])), _SHOWN_PATHS) or "nothing"


_SHOWN_PATHS = 12


def _list_paths(record: Mapping[str, Any], before: str = "", depth: int = 8, into_lists: bool = False) -> Iterable[str]:
    for name, value in record.items():
        first = value[0] if into_lists and isinstance(value, list) and value else None
        if isinstance(value, Mapping) and depth > 1:
            yield from _list_paths(value, f"{before}{name}.", depth - 1, into_lists)
        elif isinstance(first, Mapping) and depth > 1:
            yield from _list_paths(first, f"{before}{name}.0.", depth - 1, into_lists)
        else:
            yield before + name


# Roles by name


class Named(NamedTuple):
    """The fields that the user names; None for a role without one."""

    id: str | None = None
    prediction: str | None = None
    references: str | None = None


def resolve(side: Side, sample: Sample, layout: Layout | None, named: Named, values: bool = False) -> Layout:
    """Choose the path of each role by its name.

    Args:
        side: what the file holds.
        sample: its first records.
        layout: the layout of the program that wrote it; None for a table, whose fields have usual names.
        named: the fields that the user names. They win where the file has them.
        values: whether answers are lists and nested values: then the records of a map can be answers as a whole.

    Returns:
        The layout with a path for each role. A role without any candidate has none.

    Example:
        >>> record = {"question_id": 7, "answer": "Coca Cola", "prediction": "CocaCola"}
        >>> layout = resolve("both", Sample("table.json", [record]), None, Named())
        >>> layout.id, layout.prediction, layout.references
        (('question_id',), ('prediction',), ('answer',))
        >>> resolve("submission", Sample("a.json", [{"id": 7, "answer": "Coca Cola"}]), None, Named()).prediction
        ('answer',)
    """
    given: dict[str, Any] = {role: (path,) for role, path in named._asdict().items() if path and sample.has(path)}
    if layout is None:
        layout = _guess(side, sample, given, values)
    if VALUE in layout.fields:
        several = any(isinstance(record.get(VALUE), list) for record in sample.records)
        role = {"gold": "references", "submission": "prediction"}.get(side, "references" if several else "prediction")
        given = {role: (VALUE,), **given}
    elif values and side != "both" and layout.name == "table":
        role = "references" if side == "gold" else "prediction"
        if _is_whole_answer(sample, getattr(layout, role)):
            given = {role: (_take_whole,), **given}
    return layout._replace(**given)


def _guess(side: Side, sample: Sample, given: Mapping[str, tuple[str, ...]], values: bool) -> Layout:
    usual = PREDICTION_FIELDS if values else [name for name in PREDICTION_FIELDS if not _holds_objects(sample, name)]
    prediction = given.get("prediction") or sample.first_of(usual)
    taken = given.get("references", ())
    references = taken or sample.first_of(name for name in REFERENCES_FIELDS if (name,) != prediction)
    answer = sample.first_of([ANSWER_FIELD, VALUE])
    if side == "gold":
        references = references or answer
    elif side == "submission" or references:
        prediction = prediction or (answer if answer != taken else ())
    elif prediction:
        references = answer if answer != prediction else ()
    else:
        prediction = answer
    return Layout("table", "", (), sample.first_of(ID_FIELDS), sample.first_of(QUESTION_FIELDS), prediction, references)


# Fields that a document can have itself: an invoice has a reference, a form has labels.
_OF_DOCUMENTS = frozenset(
    (*("answer", "response", "output", "completion", "generation", "reference"), *REFERENCES_FIELDS[-7:])
)


def _is_whole_answer(sample: Sample, paths: tuple[Path, ...]) -> bool:
    """Whether the records of a map are answers as a whole: ``{"id": {"total": "12.50", "date": ...}}``."""
    if not sample.has(KEY):
        return False
    if not paths:
        return True
    alone = all(len(record) <= 2 for record in sample.records)
    nested = all(isinstance(value, (list, dict)) for value in _values(sample, paths[0]))
    return paths[0] in _OF_DOCUMENTS and not alone and not nested


def _take_whole(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != KEY}


def _holds_objects(sample: Sample, path: str) -> bool:
    return any(isinstance(value, Mapping) for value in _values(sample, path))


def refuse_two_roles(sample: Sample, layout: Layout) -> None:
    """Refuse a field with two roles.

    Raises:
        InputError: the prediction is read from the field of the accepted answers, or one of them from that of the id.
    """
    roles = {"prediction": layout.prediction, "accepted answers": layout.references, "id": layout.id}
    for role, paths in roles.items():
        for other, others in roles.items():
            same = [path for path in paths[:1] if role < other and path in others[:1]]
            if same and isinstance(same[0], str):
                raise InputError(
                    f"the field {same[0]!r} cannot be both the {other} and the {role}", sample.name, remedies.TWO_ROLES
                )


def find_other_texts(side: Side, sample: Sample, layout: Layout, known: Collection[str] = ()) -> list[str]:
    """Find fields of text that could also have been the prediction.

    Args:
        side: what the file holds.
        sample: its first records.
        layout: the chosen fields.
        known: the fields of the gold file, which hold no predictions.

    Returns:
        Where the prediction has a usual name, other fields that are named like a prediction. Where it has not, or is
        called "answer", any field of texts that differ from question to question.
    """
    chosen = layout.prediction[:1]
    if layout.name != "table" or not chosen:
        return []
    anything = chosen[0] in (ANSWER_FIELD, VALUE)
    roles = {*layout.id, *layout.question, *layout.prediction, *layout.references, *QUESTION_FIELDS}
    others = [path for path in sample.list_paths() if path not in roles and path not in known]
    if not anything:
        others = [path for path in others if re.search(_LIKE_A_PREDICTION, path.rpartition(".")[2].lower())]
    if side == "submission" and not anything and sample.has(ANSWER_FIELD):
        others = [ANSWER_FIELD, *(path for path in others if path != ANSWER_FIELD)]
    least = len(set(map(str, _values(sample, chosen[0])))) / 2
    return [path for path in others if _holds_answers(_values(sample, path), least)]


_LIKE_A_PREDICTION = r"pred|output|response|generat|completion|hypothes|answer"


def _values(sample: Sample, path: Path) -> list[Any]:
    return [value for record in sample.records if (value := take(record, path)) is not ABSENT]


def _holds_answers(values: Sequence[Any], least: float) -> bool:
    """Whether these are texts, about as different as predictions are, and neither ids nor paths of files."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < 0.9 * len(values) or len(set(texts)) < max(2.0, least):
        return False
    return not all(re.fullmatch(r"\S*(?:\d{4,}|[\\/])\S*", text) for text in texts if text)


# Ids by value


class Match(NamedTuple):
    """How the answers of a submission find their questions.

    Attributes:
        gold_id: the path of the id in the gold file; None where its questions are numbered.
        submission_id: the path of the id in the submission; None where answers are matched by position.
        note: the sentence that reports it; "" where nobody expects otherwise.
    """

    gold_id: Path | None
    submission_id: Path | None
    note: str = ""


class GoldIds(NamedTuple):
    """The gold file, as far as ids need it.

    Attributes:
        sample: its first records, more than `SAMPLE`.
        layout: its fields.
        read_all: reads all of its records.
    """

    sample: Sample
    layout: Layout
    read_all: Callable[[], Iterable[Mapping[str, Any]]]


def match(gold: GoldIds, sample: Sample, layout: Layout, id_field: str | None, gold_id_field: Path | None) -> Match:
    """Choose the ids by which the answers of a submission find their questions.

    Args:
        gold: the gold file.
        sample: the first records of the submission.
        layout: the fields of the submission.
        id_field: the field that the user names; it counts in the files that have it. "none" matches by position.
        gold_id_field: the field of the gold file that the user names.

    Raises:
        InputError: no file has a field that the user names; two fields hold ids of the gold file and disagree; or no
            field does, although one looks like an id.

    Example:
        >>> questions = Sample("gold.json", [{"questionId": n, "answers": ["a"]} for n in (49003, 49011)])
        >>> layout = resolve("gold", questions, None, Named())
        >>> gold = GoldIds(questions, layout, lambda: questions.records)
        >>> answers = Sample("a.jsonl", [{"custom_id": "49011", "answer": "a"}, {"custom_id": "49003", "answer": "b"}])
        >>> match(gold, answers, resolve("submission", answers, None, Named()), None, None)
        Match(gold_id='questionId', submission_id='custom_id', note="the id of a question is read from 'custom_id'")
    """
    gold_paths = _list_gold_ids(gold, id_field, gold_id_field)
    own = gold_paths[0] if gold_paths else None
    if id_field == "none":
        return Match(own, None, "the answers are matched with the questions by position")
    if id_field and not sample.has(id_field) and id_field not in gold_paths[:1]:
        raise InputError(
            f"neither this file nor {gold.sample.name} has the field {id_field!r} (found {sample.describe_paths()})",
            sample.name,
            remedies.ID_FIELD,
        )
    if id_field and sample.has(id_field):
        return Match(own, id_field)
    if not sample.records:
        return Match(own, layout.id[0] if layout.id else ID_FIELDS[0])
    columns = _list_id_columns(sample, layout)
    usual = columns[0] if columns and columns[0].is_usual else None
    if usual and own is not None:
        first_ids = set(_texts(_values(gold.sample, own)))
        if len(columns) == 1 and usual.share(first_ids) >= _NEARLY_ALL:
            return Match(own, usual.path)
    columns = [column for column in columns if column.is_usual or not column.is_place]
    if not columns:
        return Match(own, None, _BY_POSITION)
    records = gold.read_all()
    for path in gold_paths:
        ids = _texts(value for record in records if (value := take(record, path)) is not ABSENT)
        if found := _choose_column(columns, ids, sample, gold.sample.name):
            note = "" if found.is_usual else f"the id of a question is read from {found.name!r}"
            return Match(path, found.path, note)
    if usual and own is not None:
        return Match(own, usual.path)
    raise _error_of_unknown_ids(gold, own, sample, columns)


_BY_POSITION = "the answers have no ids: they are matched with the questions by position"


class _Column(NamedTuple):
    """A field of the submission that may be its id.

    Attributes:
        path: where a record has it.
        values: the values in the sample, as texts.
        is_usual: whether an id is usually called so.
        is_place: whether the values are the places of the records: 0, 1, 2 or 1, 2, 3.
    """

    path: Path
    values: Sequence[str]
    is_usual: bool
    is_place: bool

    @property
    def name(self) -> str:
        return self.path if isinstance(self.path, str) else "id"

    def share(self, ids: Collection[str]) -> float:
        """The share of the values that are among these ids."""
        return sum(value in ids for value in self.values) / max(1, len(self.values))


def _list_id_columns(sample: Sample, layout: Layout) -> list[_Column]:
    """List the fields that may hold ids: the usual one first, then others whose values are all different."""
    usual = next((path for path in layout.id if sample.has(path)), None)
    roles = {*layout.question, *layout.prediction, *layout.references}
    paths: list[Path] = [path for path in sample.list_paths() if path not in roles and path != usual]
    columns = []
    for path in [usual, *paths] if usual is not None else paths:
        values = _values(sample, path)
        texts = _texts(values)
        if path != usual and len(texts) < len(sample.records):
            continue
        is_place = len(texts) == len(sample.records) and _are_places(texts)
        different = len(set(texts)) == len(texts) and (not is_place or len(texts) > 1)
        if path == usual or (different and _looks_like_ids(str(path), values)):
            columns.append(_Column(path, texts, path == usual, is_place and len(texts) > 1))
    return columns


def _are_places(texts: Sequence[str]) -> bool:
    return any(texts == [str(number) for number in range(first, first + len(texts))] for first in (0, 1))


_ID_NAME = r"(?:^|[_.\- ])(?:id|ids|uid|uuid|qid|guid|key|idx|index|no|nr|num|number|name)$|[a-z](?:Id|ID|Key|Index)$"


def _looks_like_ids(path: str, values: Sequence[Any]) -> bool:
    """Whether different values are ids, and not numbers that were measured or texts that somebody wrote."""
    if path == KEY or re.search(_ID_NAME, path):
        return True
    return all(
        isinstance(value, str) and re.fullmatch(r"\S{1,80}", value) and re.search(r"\d", value) for value in values
    )


def _texts(values: Iterable[Any]) -> list[str]:
    return [str(value) for value in values if type(value) in (str, int)]


def _list_gold_ids(gold: GoldIds, id_field: str | None, gold_id_field: Path | None) -> list[Path]:
    """List the fields that may hold the ids of the gold file, the likeliest first."""
    if gold_id_field is not None:
        if not gold.sample.has(gold_id_field):
            raise InputError(
                f"there is no field {gold_id_field!r} (found {gold.sample.describe_paths()})",
                gold.sample.name,
                remedies.GOLD_ID_FIELD,
            )
        return [gold_id_field]
    if id_field is not None and gold.sample.has(id_field):
        return [id_field]
    usual = [path for path in gold.layout.id if gold.sample.has(path)][:1]
    columns = _list_id_columns(gold.sample, gold.layout)
    return [*usual, *(column.path for column in columns if column.path not in usual)]


def _choose_column(columns: Sequence[_Column], ids: list[str], sample: Sample, gold_name: str) -> _Column | None:
    """Choose the field whose values are ids of the gold file."""
    known = set(ids)
    numbers = [int(text) for text in known if text.isdecimal()]
    dense = len(numbers) == len(known) and bool(numbers) and max(numbers) - min(numbers) < 2 * len(numbers)
    fitting = [column for column in columns if column.share(known) >= _NEARLY_ALL and _is_no_chance(column, dense)]
    for other in fitting[1:]:
        if list(other.values) != list(fitting[0].values):
            raise InputError(
                f"{fitting[0].name!r} and {other.name!r} both hold ids of {gold_name}, but not the same ones",
                sample.name,
                remedies.ID_FIELD,
            )
    return fitting[0] if fitting else None


def _is_no_chance(column: _Column, dense: bool) -> bool:
    """Whether values are ids for certain: where all small numbers are ids, any column of small numbers looks so."""
    return column.is_usual or not dense or bool(re.search(_ID_NAME, column.name))


def _error_of_unknown_ids(gold: GoldIds, own: Path | None, sample: Sample, columns: Sequence[_Column]) -> InputError:
    column = columns[0]
    values = list_some(column.values[:2])
    if own is None:
        problem = f"{column.name!r} looks like an id ({values}), but {gold.sample.name} has no ids"
    else:
        theirs = list_some(_texts(_values(gold.sample, own))[:2])
        name = own if isinstance(own, str) else "id"
        problem = (
            f"no field holds ids of {gold.sample.name}: {column.name!r} is {values}, and {name!r} there is {theirs}"
        )
    return InputError(problem, sample.name, remedies.UNKNOWN_IDS)


# Long tables


def find_submission_field(sample: Sample, roles: Collection[Any]) -> str | None:
    """Find the field that names the model of each record, in a table of several models; it has no other role."""
    return next((name for name in sample.list_paths() if name.lower() in SUBMISSION_FIELDS and name not in roles), None)


def find_splitting_field(
    ids: Sequence[str], records: Sequence[Mapping[str, Any]], roles: Collection[Any] = ()
) -> str | None:
    """Find the field that tells records with the same id apart.

    Args:
        ids: the id of each record, some of them repeated.
        records: the records.
        roles: fields that have a role, such as the prediction.

    Returns:
        The field with the fewest values, such that no value comes twice with the same id; None where there is none.

    Example:
        >>> methods = [{"method": "a"}, {"method": "b"}, {"method": "a"}, {"method": "b"}]
        >>> find_splitting_field(["7", "7", "8", "8"], methods)
        'method'
    """
    if len(set(ids)) == len(ids):
        return None
    best: tuple[int, str] | None = None
    names = dict.fromkeys(chain.from_iterable(records[:SAMPLE]))
    for name in names:
        values = [record.get(name) for record in records]
        if name in roles or not all(isinstance(value, (str, int)) for value in values):
            continue
        count = len(set(values))
        if (
            1 < count <= len(values) / 2
            and len(set(zip(ids, values))) == len(ids)
            and (best is None or count < best[0])
        ):
            best = count, name
    return best[1] if best else None


# Answers in the order of the questions


def find_misplaced(own: Sequence[Collection[str]], texts: Sequence[str | None], inside: bool = False) -> int | None:
    """Find the first text that belongs to another question, where answers are matched with questions by position.

    Args:
        own: the texts that belong to each question, such as its text or its accepted answers.
        texts: the text beside each answer; None where there is none.
        inside: whether a text belongs to a question if it holds one of its texts, as a prompt holds the question.

    Returns:
        The place of the first text that is none of its own question and is one of another question.

    Example:
        >>> find_misplaced([["Who?"], ["When?"]], ["Answer briefly. When?", "Who?"], inside=True)
        0
        >>> find_misplaced([["Who?"], ["When?"]], ["Wer?", "Wann?"], inside=True) is None
        True
    """
    known = {text for own_texts in own for text in own_texts if text}
    patience = _PATIENCE
    for place, (own_texts, text) in enumerate(zip(own, texts)):
        if text is None or text in own_texts or (inside and any(part in text for part in own_texts)):
            continue
        if text in known or (inside and patience and any(part in text for part in known)):
            return place
        patience -= inside and patience > 0
    return None


_PATIENCE = 20  # texts that are searched for all questions
