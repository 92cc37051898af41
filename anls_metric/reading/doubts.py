"""Checks the joined rows of two files against other fields that both files contain, and reports contradictions as
errors or hints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.core.checks import count_noun
from anls_metric.messages import InputError, Message, list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.golds import count_equal, fold
from anls_metric.reading.reading import Reading
from anls_metric.reading.records import Fields, Path
from anls_metric.reading.roles import (
    FILES,
    is_uncertain,
    list_shared_fields,
    may_be_either,
    take_whole_record,
    usual_field,
)
from anls_metric.reading.table import Roles, Table, does_count, is_unique, read_column, show_path
from anls_metric.reading.values import read_columns_together, read_ids, read_questions

if TYPE_CHECKING:
    from anls_metric.reading.answers import Questions

Pairs = Iterable[tuple[int, int]]
"""Pairs of the position of a question and the position of the record that answers the question."""


class _Witness(NamedTuple):
    """A field that both files contain and that can show whether their rows match.

    Attributes:
        own, theirs: the field's values in the submission and in the gold file.
        differ: the function that returns whether two unequal values contradict each other.
        name: the name of the field.
    """

    own: Sequence[str | None]
    theirs: Sequence[str | None]
    differ: Callable[[str, str], bool]
    name: str


_QUESTION = "question text"


def check_pairing(
    gold: Questions, table: Table, roles: Roles, pairs: Pairs, by_position: bool, settings: Settings
) -> list[Message]:
    """Check pairs of questions and answers against the question texts and the other fields that both files contain.

    Returns:
        Hints about fields in which some pairs differ.

    Raises:
        InputError: a field differs in most pairs, or, in a join by position, a differing value occurs in another row of
            the gold file.
    """
    hints = []
    witnesses = [*_list_questions(gold, table, roles), *_list_fields(gold, table, roles, by_position)]
    rows = list(pairs) if witnesses else []
    for witness in witnesses:
        compared = [
            (place, own, theirs)
            for place, record in rows
            if (own := witness.own[record]) and (theirs := witness.theirs[place])
        ]
        differing = [each for each in compared if each[1] != each[2] and witness.differ(each[1], each[2])]
        known = {*witness.theirs}
        is_moved = by_position and any(own in known for _, own, _ in differing)
        if not differing:
            continue
        message = _describe(gold, table, witness, differing, len(compared))
        if settings.id != NONE and (is_moved or 2 * len(differing) > len(compared)):
            remedy, fields = _find_remedy(gold, table, roles, witness.name)
            raise make_error(table.name, f"{message.sentence}: {remedy}", **message.values, **fields)
        hints.append(message)
    return hints


def check_copies(
    gold: Questions, table: Table, roles: Roles, pairs: Pairs, by_position: bool, reading: Reading
) -> tuple[Path | None, list[Message]]:
    """Compare the references in a submission with the references in the gold file, which are used for scoring.

    Returns:
        The field of the submission's references, or None if it has none, and a list with a hint if some references
        differ.

    Raises:
        InputError: most references differ in a join by position.
    """
    path = reading.find_copy(table)
    if path is None or show_path(path) == show_path(roles.prediction):
        return None, []
    try:
        column = read_columns_together(table, path)
        own = reading.form.read_references(column, table, path, reading.settings)
    except InputError:  # the field contains something else
        return None, []
    pairs = list(pairs)
    differing = [
        (place, first, theirs)
        for place, record in pairs
        if (first := own[record]) != (theirs := gold.references[place]) and not _share(first, theirs)
    ]
    if not differing:
        return path, []
    is_most = 2 * len(differing) > len(pairs)
    if is_most and is_uncertain(path):
        return None, []
    place, first, theirs = differing[0]
    sentence = (
        "its own references ({field}) differ from those of {gold} in {count} of {total}, and are not used; the first "
        "is question {id} ({theirs!r} there, {own!r} here)"
    )
    values = {
        "field": show_path(path),
        "gold": gold.table.name,
        "count": f"{len(differing):,}",
        "total": count_noun(len(pairs), "row"),
        "id": gold.ids[place],
        "own": str(first[0])[:80],
        "theirs": str(theirs[0])[:80],
    }
    if is_most and by_position and reading.settings.id != NONE:
        remedy, fields = _find_remedy(gold, table, roles)
        raise make_error(table.name, f"{sentence}: {remedy}", **values, **fields)
    return path, [Message(table.name, sentence, values)]


def refuse_copies(gold: Questions, table: Table, roles: Roles, pairs: Pairs, settings: Settings) -> None:
    """Reject an `answer` field that copies the references of a gold file if another field may contain the predictions.

    Raises:
        InputError: the field copies the references, and another field may contain the predictions.
    """
    path = roles.prediction
    if settings.prediction or not may_be_either(path):
        return
    column = read_column(table, path)
    references: list[Sequence[Any]] = [()] * len(column)
    for place, record in pairs:
        references[record] = gold.references[place]
    count = count_equal([own if accepted else None for own, accepted in zip(column, references)], references)
    is_copy = count == len(column) or (count and may_be_either(gold.roles.references))
    if not is_copy:
        return
    from anls_metric.reading.missing import find_other_predictions  # only for errors

    shared = {own for own, _ in list_shared_fields(table, roles, gold.table, gold.roles)}
    fields = [field for field in find_other_predictions(table, roles, references) if field not in shared]
    if fields:
        sentence = (
            "its {path!r} equals the references of {gold} in {count}, as a copy does: if {fields} "
            "{verb} the predictions, add {use.prediction:{others}}; if not, {use.prediction:{path}}"
        )
        values = {"path": path, "gold": gold.table.name, "count": count_noun(count, "row"), "others": ",".join(fields)}
        verb = "are" if len(fields) > 1 else "holds"
        raise make_error(table.name, sentence, **values, fields=list_some(map(repr, fields)), verb=verb)


def _share(own: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """Whether one of two lists of references contains all references in the other, ignoring case and whitespace."""
    first, second = ({*map(fold, side)} for side in (own, theirs))
    return first <= second or second <= first


def _list_questions(gold: Questions, table: Table, roles: Roles) -> Iterator[_Witness]:
    if roles.question is not None:
        texts = read_questions(table, roles.question)
        yield _Witness(texts, gold.texts, _are_different_texts, _QUESTION)


def _are_different_texts(first: str, second: str) -> bool:
    """Whether neither of two questions contains the other, as a prompt would contain its question."""
    one, other = ("".join(text.casefold().split()) for text in (first, second))
    return one not in other and other not in one


def _list_fields(gold: Questions, table: Table, roles: Roles, by_position: bool) -> Iterator[_Witness]:
    """Yield the fields that both files have under the same name and that show which rows belong together.

    If the values of a field are unique, at least half of them must occur in both files. In a join by position, a field
    with repeated values also qualifies if each value occurs equally often in both files.
    """
    are_answers = take_whole_record in (roles.prediction, gold.roles.references)  # then all fields are values to score
    for own_name, gold_name in () if are_answers else list_shared_fields(table, roles, gold.table, gold.roles):
        if isinstance(roles.prediction, Fields) and usual_field(Table([], fields={own_name: False}), FILES) is None:
            continue  # a column that the user did not choose may still be part of the answer, and differ
        own, theirs = read_ids(table, own_name), read_ids(gold.table, gold_name)
        if is_unique(own) and is_unique(theirs):
            is_place = does_count(own) and not (by_position and _is_out_of_order(own, theirs))
            knows = not is_place and 2 * len({*own} & {*theirs}) >= min(len(own), len(theirs))
        else:
            knows = by_position and None not in own and Counter(own) == Counter(theirs)
        if knows:
            yield _Witness(own, theirs, lambda first, second: True, own_name)


def _is_out_of_order(*columns: Sequence[Any]) -> bool:
    """Whether any column contains whole numbers that may be row positions but are not sorted."""
    return any(list(map(int, column)) != sorted(map(int, column)) for column in columns if does_count(column))


def _describe(gold: Questions, table: Table, witness: _Witness, differing: Sequence[Any], total: int) -> Message:
    place, own, theirs = differing[0]
    sentence = (
        "{count} of {total} have a different {field} in {gold}; the first is question {id} "
        "({theirs!r} there, {own!r} here)"
    )
    values = {"id": gold.ids[place], "own": own[:80], "theirs": theirs[:80], "field": witness.name}
    count = f"{len(differing):,}"
    return Message(
        table.name, sentence, {"count": count, "total": count_noun(total, "answer"), "gold": gold.table.name, **values}
    )


def _find_remedy(gold: Questions, table: Table, roles: Roles, name: str = "") -> tuple[str, dict[str, str]]:
    """Find the remedy for rows that do not belong together, and the values for the remedy."""
    remedy, fields = propose_key(gold, table, roles)
    if remedy:
        return remedy, fields
    if name == _QUESTION:
        return "check that both files are of the same split; {use.field:question=none} skips this check", {}
    return "add an id to each record of both files; {use.id:none} joins by position all the same", {}


def propose_key(gold: Questions, table: Table, roles: Roles, share: float = 0.5) -> tuple[str, dict[str, str]]:
    """Propose one field, or two fields if no single field is sufficient, as a key for joining both files.

    Args:
        gold: the questions.
        table: the submission.
        roles: the roles of the submission's fields.
        share: the fraction of the smaller file's values that must also occur in the other file.

    Returns:
        A clause for a message, or "" if no fields are a key, and the values for the clause.
    """
    fields = list_shared_fields(table, roles, gold.table, gold.roles)
    if isinstance(roles.question, str) and isinstance(gold.roles.question, str):
        fields.append((roles.question, gold.roles.question))
    for chosen in chain.from_iterable(combinations(fields, size) for size in (1, 2)):
        own, theirs = (",".join(names) for names in zip(*chosen))
        ids, others = read_ids(table, own), read_ids(gold.table, theirs)
        common = len({*ids} & {*others})
        is_key = is_unique(ids) and is_unique(others) and common >= max(1, share * min(len(ids), len(others)))
        if own != roles.id and is_key:
            named = "{use.id:{key}}" if own == theirs else "{use.id:{key}} {use.gold_id:{gold_key}}"
            return f"to join by {{key}}, add {named}", {"key": own, "gold_key": theirs}
    return "", {}
