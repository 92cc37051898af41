"""Decides which field of a file is which, from its names and values, and from the file on the other side.

Each role (id, question, prediction, accepted answers) has candidates: the field that the user names, the paths of the
layout, and usual names. `resolve` chooses among them by name. `match` then looks at the values of both files: the id of
a submission is the field that holds the ids of the gold file. Every choice that a reader might not expect has a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise, takewhile
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from anls_metric.reading import long_tables, remedies
from anls_metric.reading.containers import KEY, VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.layouts import ABSENT, Layout, Path, take
from anls_metric.reading.references import parse_references

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
    *("predictions", "preds", "actual_output"),
)
REFERENCES_FIELDS = (
    *("references", "answers", "accepted_answers", "gold_answers", "ground_truths", "ground_truth", "gt_answers"),
    *("answers.text", "gt", "expected_output"),
)
# These can also hold a source, a flag or a category.
LESS_CERTAIN_REFERENCES_FIELDS = ("reference", "gold", "target", "targets", "labels", "label")
ANSWER_FIELD = "answer"  # the prediction in a submission, the accepted answer in a gold file or beside a prediction

SAMPLE = 100  # the number of records that are examined
_NEARLY_ALL = 0.95  # the share of a field's values that must be ids of the gold file


class Sample:
    """The first records of a file, which the resolver examines.

    Args:
        name: the name of the file in errors.
        records: its first records, of which at most `SAMPLE` are examined.
        fields: the names of all columns, if the records may lack some.
    """

    def __init__(self, name: str, records: Sequence[Mapping[str, Any]], fields: Sequence[str] = ()) -> None:
        self.name, self.fields = name, fields
        self.records = records[:SAMPLE]
        self._names = {*chain.from_iterable(self.records), *fields}

    def has(self, path: Path) -> bool:
        """Whether a path leads to a value in any record."""
        if path in self._names:
            return True
        nested = callable(path) or "." in path
        return nested and any(take(record, path) is not ABSENT for record in self.records)

    def values(self, path: Path) -> list[Any]:
        """Return the values of a path in the records that have it."""
        there = self.has(path)
        return [value for record in self.records if (value := take(record, path)) is not ABSENT] if there else []

    def fills(self, path: Path) -> bool:
        """Whether a path leads to a value that is not empty."""
        return any(value not in (None, "", [], {}) for value in self.values(path))

    def first_of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the first path that leads to a value, as a tuple for a layout; () for none."""
        return next(((path,) for path in paths if self.has(path)), ())

    def spell(self, names: Iterable[str]) -> list[str]:
        """Return names, followed by fields that differ from them in case and blanks: "Ground Truth", "ground_truth"."""
        names = list(names)
        own = {_fold(name): name for name in sorted(self._names, reverse=True)}
        return [*names, *(own[_fold(name)] for name in names if _fold(name) in own)]

    def list_paths(self) -> list[str]:
        """List the paths of the values of the first record that are not objects, and of the other columns."""
        return list(dict.fromkeys([*(_list_paths(self.records[0]) if self.records else ()), *self.fields]))

    def describe_paths(self) -> str:
        """List the paths of the first record in words, including paths inside lists."""
        paths = list(_list_paths(self.records[0], into_lists=True)) if self.records else []
        names = [_MAP_PARTS.get(path, repr(path)) for path in dict.fromkeys([*paths, *self.fields])]
        return list_some(names, _SHOWN_PATHS) or "nothing"


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


_SHOWN_PATHS = 12
_MAP_PARTS = {KEY: "the keys of an object", VALUE: "values without a name"}


def _list_paths(record: Mapping[str, Any], before: str = "", depth: int = 8, into_lists: bool = False) -> Iterable[str]:
    for name, value in record.items():
        place = _find_last_message(value) if into_lists else 0
        first = value[place] if into_lists and isinstance(value, list) and value else None
        if isinstance(value, Mapping) and depth > 1:
            yield from _list_paths(value, f"{before}{name}.", depth - 1, into_lists)
        elif isinstance(first, Mapping) and depth > 1:
            yield from _list_paths(first, f"{before}{name}.{place}.", depth - 1, into_lists)
        else:
            yield before + name


def _find_last_message(value: Any) -> int:
    """Find the place of the last message of the assistant in a list of messages; 0 for any other value."""
    items = value if isinstance(value, list) else ()
    roles = [item.get("role") if isinstance(item, Mapping) else None for item in items]
    return len(roles) - 1 - roles[::-1].index("assistant") if "assistant" in roles else 0


# Roles by name


def resolve(
    side: Side,
    sample: Sample,
    layout: Layout | None = None,
    named: Mapping[str, str | None] = MappingProxyType({}),
    values: bool = False,
) -> Layout:
    """Choose the path of each role by its name.

    Args:
        side: what the file holds.
        sample: its first records.
        layout: the layout of the program that wrote it; None for a table, whose fields have usual names.
        named: the fields that the user names, by role: "id", "prediction", "references". They win where the file has
            them.
        values: whether answers are lists and nested values: then a whole record of an object by id can be an answer.

    Returns:
        The layout with a path for each role. A role without any candidate has none.

    Example:
        >>> record = {"question_id": 7, "answer": "Coca Cola", "prediction": "CocaCola"}
        >>> layout = resolve("both", Sample("table.json", [record]))
        >>> layout.id, layout.prediction, layout.references
        (('question_id',), ('prediction',), ('answer',))
        >>> resolve("submission", Sample("a.json", [{"id": 7, "answer": "Coca Cola"}])).prediction
        ('answer',)
    """
    paths: dict[str, Any] = {role: (path,) for role, path in named.items() if path and sample.has(path)}
    if layout is None:
        layout = _guess(side, sample, paths, values)
    if VALUE in layout.fields:
        several = any(isinstance(record.get(VALUE), list) for record in sample.records)
        role = {"gold": "references", "submission": "prediction"}.get(side, "references" if several else "prediction")
        paths = {role: (VALUE,), **paths}
    elif values and side != "both" and layout.name == "table":
        role = "references" if side == "gold" else "prediction"
        if _is_whole_answer(sample, getattr(layout, role)):
            paths = {role: (_take_whole,), **paths}
    return layout._replace(**paths)


def _guess(
    side: Side,
    sample: Sample,
    paths: Mapping[str, tuple[str, ...]],
    values: bool,
    spell: Callable[[Iterable[str]], Iterable[str]] = list,
) -> Layout:
    """Choose the fields by their usual names; in any spelling if a role has none otherwise."""
    usual = [name for name in spell(PREDICTION_FIELDS) if values or not _holds_objects(sample, name)]
    prediction = paths.get("prediction") or sample.first_of(usual)
    taken = paths.get("references", ())
    answer = sample.first_of(spell([ANSWER_FIELD, VALUE]))
    certain, less_certain = (
        [name for name in spell(names) if (name,) != prediction]
        for names in (REFERENCES_FIELDS, LESS_CERTAIN_REFERENCES_FIELDS)
    )
    names = [*certain, *(answer if side == "gold" else ()), *less_certain]
    references = taken or sample.first_of(filter(sample.fills, names)) or sample.first_of(names)
    if side == "submission" or (side == "both" and references):
        prediction = prediction or (answer if answer != taken else ())
    elif side == "both" and prediction:
        references = answer if answer != prediction else ()
    elif side == "both":
        prediction = answer
    if spell is list and not ((references or side == "submission") and (prediction or side == "gold")):
        return _guess(side, sample, paths, values, sample.spell)
    question = sample.first_of(spell(QUESTION_FIELDS))
    return Layout("table", "", (), sample.first_of(ID_FIELDS), question, prediction, references)


# Names that can also be fields of a document: an invoice has a reference, a form has labels.
_OF_DOCUMENTS = frozenset(
    (
        *("answer", "response", "output", "completion", "generation"),
        *("reference", "gold", "gt", "target", "targets", "labels", "label"),
    )
)


def _is_whole_answer(sample: Sample, paths: tuple[Path, ...]) -> bool:
    """Whether the records of an object by id are whole answers: ``{"id": {"total": "12.50", "date": ...}}``."""
    if not sample.has(KEY):
        return False
    if not paths:
        return True
    alone = all(len(record) <= 2 for record in sample.records)
    nested = all(isinstance(value, (list, dict)) for value in sample.values(paths[0]))
    return paths[0] in _OF_DOCUMENTS and not alone and not nested


def _take_whole(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != KEY}


def _holds_objects(sample: Sample, path: str) -> bool:
    return any(isinstance(value, Mapping) for value in sample.values(path))


def refuse_two_roles(side: Side, sample: Sample, layout: Layout) -> None:
    """Refuse a field with two of the roles that this side has.

    Raises:
        InputError: prediction and accepted answers are read from the same field, or one of them from the id field.
    """
    roles = {"prediction": layout.prediction, "accepted answers": layout.references, "id": layout.id}
    roles.pop({"gold": "prediction", "submission": "accepted answers"}.get(side, ""), None)
    for role, paths in roles.items():
        for other, others in roles.items():
            same = [path for path in paths[:1] if role < other and path in others[:1]]
            if same and isinstance(same[0], str):
                problem = f"the field {same[0]!r} cannot be both the {other} and the {role}"
                remedy = remedies.TWO_ROLES if "id" not in (role, other) else remedies.OTHER_THAN_ID
                raise InputError(problem, sample.name, remedy)


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
    others = [path for path in others if not re.search(rf"{_ID_NAME}|{_UNNAMED}", path) and path != KEY]
    if not anything:
        first = {path: re.sub(r"\.\d+$", "", path) for path in others}  # pandas calls a second column prediction.1
        others = [path for path in others if first[path] not in layout.references]
        others = [path for path in others if re.search(_LIKE_A_PREDICTION, first[path].rpartition(".")[2].lower())]
    if side == "submission" and not anything and sample.has(ANSWER_FIELD):
        others = [ANSWER_FIELD, *(path for path in others if path != ANSWER_FIELD)]
    least = len(set(map(str, sample.values(chosen[0])))) / 2
    return [path for path in others if _holds_answers(sample.values(path), least)]


_UNNAMED = r"^(?:Unnamed: \d+)?$"  # pandas calls a column without a name so
_LIKE_A_PREDICTION = r"pred|output|response|generat|completion|hypothes|answer"


def _holds_answers(values: Sequence[Any], least: float) -> bool:
    """Whether values can be predictions: texts, most of them different, and neither ids nor paths of files."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < 0.9 * len(values) or len(set(texts)) < max(2.0, least):
        return False
    return not all(re.search(r"\d{4}|[\\/]", text) and not re.search(r"\s", text) for text in texts if text)


def find_other_references(sample: Sample, layout: Layout) -> list[str]:
    """Find fields that could also have been the accepted answers, and hold others than the chosen field does.

    Example:
        >>> sample = Sample("gold.json", [{"answer": "a", "aliases": ["b"], "label": "date"}])
        >>> find_other_references(sample, resolve("gold", sample))
        ['aliases', 'label']
        >>> sample = Sample("gold.json", [{"answers": ["a"], "label": "date"}])
        >>> find_other_references(sample, resolve("gold", sample))
        []
    """
    if layout.name != "table" or not layout.references:
        return []
    roles = {*layout.id, *layout.question, *layout.prediction, *layout.references}
    is_certain = _fold(str(layout.references[0])) in _CERTAIN_REFERENCES
    usual = _CERTAIN_REFERENCES | {ANSWER_FIELD} if is_certain else _USUAL_REFERENCES
    own = [_list_accepted(take(record, layout.references[0])) for record in sample.records]
    unnamed = _list_unnamed_beside(sample, layout.references[0])
    return [
        path
        for path in sample.list_paths()
        if path not in roles
        and (_fold(path) in usual or path in unnamed or re.fullmatch(_MORE_REFERENCES, path.lower().replace(" ", "_")))
        if any(_list_accepted(take(record, path)) - texts for record, texts in zip(sample.records, own))
    ]


def _list_unnamed_beside(sample: Sample, own: Path) -> list[str]:
    """List the columns of words without a name at the right of a column: one header may stand for all of them."""
    paths = sample.list_paths()
    after = paths[paths.index(own) + 1 :] if isinstance(own, str) and own in paths else []
    unnamed = list(takewhile(lambda path: re.search(_UNNAMED, path), after))
    return [path for path in unnamed if any(re.search(r"[^\W\d_]", str(value)) for value in sample.values(path))]


# Names of fields with more accepted answers. `answers_variants` is not among them: DUDE does not accept these.
_MORE_REFERENCES = (
    r"alias(?:es)?|synonyms?|alternatives?|also_accept(?:ed)?|annotator_?\d+"
    r"|(?:all|alt|alternate|alternative|other|extra|additional|acceptable|accepted|valid|possible)"
    r"_(?:answer|reference|variant)s?"
    r"|(?:answer|reference|ground_truth|gold|gt|target|label)"
    r"[._]?(?:\d+|alias(?:es)?|alt|alternatives?|variants?|synonyms?)"
    r"|(?:answer|reference|ground_truth|label)s[._]\d+"
)


_CERTAIN_REFERENCES = frozenset(map(_fold, REFERENCES_FIELDS))
_USUAL_REFERENCES = _CERTAIN_REFERENCES | {ANSWER_FIELD, *LESS_CERTAIN_REFERENCES_FIELDS}


def _list_accepted(value: Any) -> set[str]:
    """List the texts of an accepted answer, in lower case; none for a value that is no accepted answer."""
    if isinstance(value, (str, int, float)) and value == value:
        value = str(value)
    try:
        texts = parse_references(value, "")
    except ValueError:
        return set()
    return {text.strip().lower() for text in texts} - {""}


def choose_references(layout: Layout, others: Sequence[str], pairs: Sequence[tuple[Mapping[str, Any], Any]]) -> Path:
    """Choose the field of the accepted answers in a table with predictions: "label", or "answer" beside it.

    A label can be a category, and an answer can be what was taken out of a prediction. Then it fits every prediction.

    Args:
        layout: the chosen fields.
        others: other fields that could hold the accepted answers: see `find_other_references`.
        pairs: records, each with its prediction.

    Returns:
        The chosen field; "answer" if that one is less certain, and many predictions fit the answer alone.

    Example:
        >>> names = ["Acme", "Delta", "Hooli", "Stark", "Initech"]
        >>> pairs = [({"answer": name, "label": "issuer", "output": name}, name) for name in [*names, "Globex"]]
        >>> layout = resolve("both", Sample("table.json", [record for record, _ in pairs]))
        >>> layout.references, choose_references(layout, ["answer"], [*pairs[:5], (pairs[5][0], "Umbrella")])
        (('label',), 'answer')
    """
    own = layout.references[0]
    answer = next((path for path in others if _fold(path) == ANSWER_FIELD), None)
    if answer is None or not isinstance(own, str) or _fold(own) not in LESS_CERTAIN_REFERENCES_FIELDS:
        return own
    texts = [(record, text.strip().lower()) for record, text in pairs if isinstance(text, str)]
    fitting, label = ([text for record, text in texts if _fits(text, take(record, path))] for path in (answer, own))
    is_answer = 0.2 * len(texts) <= len(fitting) < 0.95 * len(texts) and len(set(fitting)) >= 3
    return answer if is_answer and len(fitting) >= 4 * len(label) else own


def _fits(text: str, value: Any) -> bool:
    """Whether a prediction is an accepted answer, or contains one that is not very short."""
    return any(text == accepted or (len(accepted) > 2 and accepted in text) for accepted in _list_accepted(value))


def find_better_references(
    own: Path, others: Iterable[str], pairs: Sequence[tuple[Mapping[str, Any], Any]]
) -> tuple[str, str]:
    """Find a field that holds the accepted answers rather than the chosen one, because the predictions equal it.

    Args:
        own: the chosen field.
        others: other fields that could hold the accepted answers: see `find_other_references`.
        pairs: records, each with its prediction.

    Returns:
        The field and a sentence with the counts; "" twice for none.

    Example:
        >>> pairs = [({"answer": name, "label": "issuer"}, name) for name in ("Acme", "Delta")]
        >>> print(find_better_references("label", ["answer"], pairs)[1])
        the accepted answers are read from 'label', but 2 of the first 2 predictions equal 'answer', and 0 equal 'label'
    """
    texts = [(record, text.strip().lower()) for record, text in pairs if isinstance(text, str) and text.strip()]
    usual = [path for path in others if _fold(path) in _USUAL_REFERENCES]
    counts = {path: sum(text in _list_accepted(take(record, path)) for record, text in texts) for path in (own, *usual)}
    best = max(usual, key=counts.__getitem__, default=None)
    if best is None or counts[best] < max(2, 0.3 * len(texts), 4 * counts[own]):
        return "", ""
    share = (
        f"{counts[best]:,} of the first {len(texts):,} predictions equal {best!r}, and {counts[own]:,} equal {own!r}"
    )
    return best, f"the accepted answers are read from {own!r}, but {share}"


# Ids by value


class Match(NamedTuple):
    """How the answers of a submission find their questions.

    Attributes:
        gold_id: the path of the id in the gold file; None where its questions are numbered.
        submission_id: the path of the id in the submission; None where answers are matched by position.
        note: the sentence that reports an unusual choice; "" for a usual one.
    """

    gold_id: Path | None
    submission_id: Path | None
    note: str = ""


class Gold(NamedTuple):
    """A gold file, as the resolver sees it.

    Attributes:
        sample: its first records.
        layout: its fields.
        first: its first chunk of records.
        read_all: reads all of its records.
    """

    sample: Sample
    layout: Layout
    first: Sequence[Mapping[str, Any]]
    read_all: Callable[[], Sequence[Mapping[str, Any]]]


def match(
    gold: Gold, sample: Sample, layout: Layout, id_field: str | None = None, gold_id_field: Path | None = None
) -> Match:
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
        >>> records = [{"questionId": n, "answers": ["a"]} for n in (49003, 49011)]
        >>> questions = Sample("gold.json", records)
        >>> gold = Gold(questions, resolve("gold", questions), records, lambda: records)
        >>> answers = Sample("a.jsonl", [{"custom_id": "49011", "answer": "a"}, {"custom_id": "49003", "answer": "b"}])
        >>> match(gold, answers, resolve("submission", answers))
        Match(gold_id='questionId', submission_id='custom_id', note="the id of a question is read from 'custom_id'")
    """
    own = _find_own_id(gold, id_field, gold_id_field)
    if id_field == "none":
        is_repeated = own is not None and _repeats(own, gold.read_all())
        return Match(None if is_repeated else own, None, "the answers are matched with the questions by position")
    joint = own if isinstance(own, JointId) else _find_joint_id(gold, own, sample) if id_field is None else None
    if joint is not None and all(map(sample.has, joint.fields)):
        names = " and ".join(map(repr, joint.fields))
        return Match(joint, joint, f"the ids begin again in each document: a question is matched by {names}")
    if id_field is not None:
        if sample.has(id_field):
            return Match(own, id_field)
        if own != id_field:
            problem = f"neither this file nor {gold.sample.name} has the field {id_field!r}"
            raise InputError(f"{problem} (found {sample.describe_paths()})", sample.name, remedies.ID_FIELD)
    usual = next((path for path in layout.id if sample.has(path)), None)
    if not sample.records:
        return Match(own, ID_FIELDS[0])
    columns = _list_id_columns(sample, layout, usual)
    if own is not None and usual is not None and usual != own and gold_id_field is None and gold.sample.has(usual):
        records = gold.read_all()
        if all(columns[0].share(_take_texts(records, path)) >= _NEARLY_ALL for path in (own, usual)):
            return Match(usual, usual, f"the ids are those of {usual!r} in {gold.sample.name}, not of {own!r}")
    if own is not None and usual is not None and len(columns) == 1 and _fits_best(gold, own, columns[0]):
        return Match(own, usual)
    if not columns:
        return _match_numbers(gold, own, sample, layout)
    records = gold.read_all()
    if own is not None and usual is not None:
        columns = [
            each for each in columns if each.path == usual or not _is_copied(records, own, sample, usual, each.path)
        ]
    for path in _list_gold_ids(gold, own) if gold_id_field is None else [gold_id_field]:
        column = _choose_column(columns, _take_texts(records, path), sample, gold.sample.name)
        if column:
            note = "" if column.is_usual else f"the id of a question is read from {column.name!r}"
            return Match(path, column.path, note)
    if usual is not None and own is not None:
        return Match(own, usual)
    raise _error_of_unknown_ids(gold, own, sample, columns[0])


class JointId:
    """The path of an id that is made of the document of a question and its number in the document.

    Args:
        fields: the paths of both.

    Example:
        >>> JointId("doc", "question_id")({"doc": "invoice_7", "question_id": 2})
        'invoice_7#2'
    """

    def __init__(self, *fields: str) -> None:
        self.fields = fields

    def __call__(self, record: Mapping[str, Any]) -> Any:
        """Make the id of a record; `ABSENT` if a part is not there."""
        parts = [take(record, path) for path in self.fields]
        return ABSENT if ABSENT in parts else "#".join(map(str, parts))


def _find_joint_id(gold: Gold, own: Path | None, sample: Sample) -> JointId | None:
    """Find the field of the document, if the numbers of questions begin again in each document."""
    if not isinstance(own, str) or not _repeats(own, sample.records) or not _repeats(own, gold.first):
        return None
    documents = [path for path in sample.list_paths() if path != own and gold.sample.has(path)]
    documents = [path for path in documents if long_tables.names_documents(path, sample.values(path))]
    joints = (JointId(path, own) for path in documents)
    return next((joint for joint in joints if not _repeats(joint, gold.first)), None)


def _repeats(path: Path, records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a field has a value more than once."""
    return len(_take_texts(records, path)) < len(records)


def _match_numbers(gold: Gold, own: Path | None, sample: Sample, layout: Layout) -> Match:
    """Match answers without a field that looks like an id: by a field of whole numbers that are ids, or by position.

    Raises:
        InputError: such a field holds small numbers, which may be ids or count something else, and the order of the
            answers depends on which of them is true.
    """
    columns, is_of_lines = _list_number_columns(sample, layout), layout.prediction == (VALUE,)
    questions = gold.read_all() if columns or is_of_lines else ()
    ids = {} if own is None else _take_texts(questions, own)
    if is_of_lines and _begin_with_ids(sample.values(VALUE), ids):
        raise InputError(f"each line begins with an id of {gold.sample.name}", sample.name, _AS_A_TABLE)
    if not _are_dense(ids):
        column = _choose_column(columns, ids, sample, gold.sample.name)
        if column:
            return Match(own, column.path, f"the id of a question is read from {column.name!r}")
    for column in columns:
        if _are_dense(ids) and column.share(ids) == 1.0:
            if not _have_one_order(column.values, list(ids)):
                problem = f"it is unclear whether {column.name!r} holds ids of {gold.sample.name}"
                raise InputError(
                    f"{problem}, in another order than there", sample.name, remedies.DOUBTFUL_ID, column.name
                )
        elif _number_in_another_order(column.values, len(questions)):
            problem = f"it is unclear whether {column.name!r} numbers the questions: it counts them in another order"
            raise InputError(problem, sample.name, remedies.DOUBTFUL_NUMBER, column.name)
    return Match(own, None, "the answers have no ids: they are matched with the questions by position")


_AS_A_TABLE = "write a table: a line with the names questionId,answer, and then an id and an answer on each line"


def _begin_with_ids(texts: Sequence[Any], ids: Collection[str]) -> bool:
    """Whether nearly all texts are an id and more, such as ``49001: Coca Cola``."""
    starts = [re.match(r"([^\s:,;|]+)\s*[\s:,;|]", str(text)) for text in texts]
    return sum(start is not None and start[1] in ids for start in starts) >= max(2, _NEARLY_ALL * len(texts))


def _number_in_another_order(values: Sequence[str], count: int) -> bool:
    """Whether values number so many questions, from 0 or 1, but do not count upwards."""
    numbers = list(map(int, values))
    most = max(numbers, default=0)
    is_all = len(numbers) < count or sorted(numbers) in ([*range(count)], [*range(1, count + 1)])
    return is_all and len(numbers) > 4 and most <= count and numbers != sorted(numbers)


def _have_one_order(values: Sequence[str], ids: Sequence[str]) -> bool:
    """Whether values are in the order of the ids, or both count upwards."""
    return list(values) == ids[: len(values)] or all(
        first < second for texts in (values, ids) for first, second in pairwise(map(int, texts))
    )


def _find_own_id(gold: Gold, id_field: str | None, gold_id_field: Path | None) -> Path | None:
    """Find the id of the gold file: the field that the user names, else the usual one, else one that looks like it."""
    if gold_id_field is not None:
        if gold.sample.has(gold_id_field):
            return gold_id_field
        problem = f"no field {gold_id_field!r} (found {gold.sample.describe_paths()})"
        raise InputError(problem, gold.sample.name, remedies.GOLD_ID_FIELD)
    if id_field is not None and gold.sample.has(id_field):
        return id_field
    usual = next((path for path in gold.layout.id if gold.sample.has(path)), None)
    return next(iter(_list_gold_ids(gold, None)), None) if usual is None else usual


def _fits_best(gold: Gold, own: Path, column: _Column) -> bool:
    """Whether, in its first records, no other field of the gold file holds more of these ids.

    If so, a large gold file need not be read before the answers.
    """
    share = column.share(_take_texts(gold.first, own))
    if share >= _NEARLY_ALL:
        return True
    others = [path for path in _list_gold_ids(gold, own) if path != own]
    return all(column.share(_take_texts(gold.first, path)) <= share for path in others)


def _list_gold_ids(gold: Gold, own: Path | None) -> list[Path]:
    """List the fields that may hold the ids of the gold file, the likeliest first."""
    others = [column.path for column in _list_id_columns(gold.sample, gold.layout, None, places=True)]
    return others if own is None else [own, *(path for path in others if path != own)]


class _Column(NamedTuple):
    """A field that may hold ids.

    Attributes:
        path: where a record has it.
        values: the values in the sample, as texts.
        is_usual: whether an id is usually called so.
    """

    path: Path
    values: Sequence[str]
    is_usual: bool

    @property
    def name(self) -> str:
        return self.path if isinstance(self.path, str) else "id"

    def share(self, ids: Collection[str]) -> float:
        """The share of the values that are among these ids."""
        return sum(value in ids for value in self.values) / max(1, len(self.values))


def _list_id_columns(sample: Sample, layout: Layout, usual: Path | None, places: bool = False) -> list[_Column]:
    """List the fields that may hold ids: the usual one first, then others whose values are all different.

    Places in a file (0, 1, 2 or 1, 2, 3) are ids only where the field has a usual name, or in a gold file.
    """
    columns = [] if usual is None else [_Column(usual, list(_take_texts(sample.records, usual)), True)]
    roles = {usual, *layout.question, *layout.prediction, *layout.references}
    for path in sample.list_paths():
        if path not in roles and not (usual and re.match(_INDEX, str(path))):
            values = sample.values(path)
            texts = [text for value in values if (text := as_id(value)) is not None]
            different = len(set(texts)) == len(sample.records)
            if different and _looks_like_ids(path, values) and (places or not are_places(texts)):
                columns.append(_Column(path, texts, False))
    return columns


def _list_number_columns(sample: Sample, layout: Layout) -> list[_Column]:
    """List the fields whose values are whole numbers, all different, whatever their names are."""
    roles = {*layout.id, *layout.question, *layout.prediction, *layout.references}
    columns = [
        _Column(path, values, False)
        for path in sample.list_paths()
        if path not in roles and not long_tables.names_documents(path, values := list(map(str, sample.values(path))))
    ]
    return [
        column
        for column in columns
        if all(map(str.isdecimal, column.values)) and len(set(column.values)) == len(sample.records)
    ]


_ID_NAME = r"(?:^|[_.\- ])(?i:id|ids|uid|uuid|qid|guid|key|idx|index|no|nr|num|number|name)$|[a-z](?:Id|ID|Key|Index)$"


_INDEX = r"__index_level_\d+__$"  # the index of a DataFrame in Parquet


def _looks_like_ids(path: str, values: Sequence[Any]) -> bool:
    """Whether distinct values look like ids, and not like measurements or written texts."""
    if path == KEY or re.search(_ID_NAME, path) or re.match(_INDEX, path):
        return True
    return all(
        isinstance(value, str) and re.fullmatch(r"\S{1,80}", value) and re.search(r"\d", value) for value in values
    )


def are_places(texts: Sequence[str]) -> bool:
    """Whether texts number the records of a file: 0, 1, 2 or 1, 2, 3."""
    return len(texts) > 1 and any(texts == [str(n) for n in range(first, first + len(texts))] for first in (0, 1))


def as_id(value: Any) -> str | None:
    """Return an id as a text; None for a value that cannot be an id.

    A whole number can be a float: pandas writes the column 1, 2 as 1.0, 2.0 if it once had a gap.

    Example:
        >>> as_id(7), as_id("7"), as_id(7.0), as_id(7.5), as_id(True)
        ('7', '7', '7', None, None)
    """
    if type(value) is float and value.is_integer() and abs(value) < _FIRST_INEXACT:
        return str(int(value))
    return str(value) if type(value) in (str, int) else None


_FIRST_INEXACT = 2**53  # from here on, several whole numbers become the same float


def _take_texts(records: Iterable[Mapping[str, Any]], path: Path) -> dict[str, None]:
    """Return the distinct values of a field that can be ids, as texts in their order."""
    return {text: None for record in records if (text := as_id(take(record, path))) is not None}


def _choose_column(columns: Sequence[_Column], ids: Collection[str], sample: Sample, gold_name: str) -> _Column | None:
    """Choose the field whose values are ids of the gold file.

    If the ids of the gold file are all small numbers, any column of small numbers looks like them. Then only a usual
    name, or one like an id, counts.
    """
    dense = _are_dense(ids)
    fitting = [
        column
        for column in columns
        if (column.is_usual or not dense or re.search(_ID_NAME, column.name)) and column.share(ids) >= _NEARLY_ALL
    ]
    for other in fitting[1:]:
        if list(other.values) != list(fitting[0].values):
            problem = f"{fitting[0].name!r} and {other.name!r} both hold ids of {gold_name}, but not the same ones"
            raise InputError(problem, sample.name, remedies.ID_FIELD)
    return fitting[0] if fitting else None


def _is_copied(records: Iterable[Mapping[str, Any]], own: Path, sample: Sample, usual: Path, path: Path) -> bool:
    """Whether each answer has the value that its question has in a field of this name, so that the ids agree."""
    known = {(as_id(take(record, own)), as_id(take(record, path))) for record in records}
    return all((as_id(take(record, usual)), as_id(take(record, path))) in known for record in sample.records)


def _are_dense(ids: Collection[str]) -> bool:
    """Whether ids are small numbers, as places and measurements are."""
    numbers = [int(text) for text in ids if text.isdecimal() and len(text) < 20]
    return len(numbers) == len(ids) and bool(numbers) and max(numbers) - min(numbers) < 2 * len(numbers)


def _error_of_unknown_ids(gold: Gold, own: Path | None, sample: Sample, column: _Column) -> InputError:
    values = list_some(column.values[:2])
    if own is None:
        problem = f"{column.name!r} looks like an id ({values}), but {gold.sample.name} has no ids"
    else:
        name, theirs = own if isinstance(own, str) else "id", list_some(list(_take_texts(gold.first, own))[:2])
        problem = (
            f"no field holds ids of {gold.sample.name}: {column.name!r} is {values}, and {name!r} there is {theirs}"
        )
    return InputError(problem, sample.name, remedies.UNKNOWN_IDS)


# Answers in the order of the questions


def find_misplaced(own: Sequence[Collection[str]], texts: Sequence[str | None], inside: bool = False) -> int | None:
    """Find the first text that belongs to another question, for answers that are matched with questions by position.

    Args:
        own: the texts that belong to each question, such as its text or its accepted answers.
        texts: the text beside each answer; None where there is none.
        inside: whether a text belongs to a question if it holds one of its texts, as a prompt holds the question.

    Returns:
        The place of the first text that belongs to another question, and not to its own.

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


_PATIENCE = 20  # texts that are compared with all questions
