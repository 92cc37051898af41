"""Reads columns as values (ids, predictions, references, confidences and verdicts), and JSON in strings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from anls_metric.core.checks import describe
from anls_metric.core.json_strings import (
    parse_references,
    parse_value_or_text,
    parse_written_list,
    read_reference,
    unwrap_references,
)
from anls_metric.core.json_values import from_json
from anls_metric.core.scorer import Form
from anls_metric.messages import InputError, Message, make_error, shorten
from anls_metric.options import Settings
from anls_metric.reading.answers import LOST_FORMATTING
from anls_metric.reading.layouts import describe_failures, remove_prompt
from anls_metric.reading.records import ABSENT, Path, Records, is_failure, take
from anls_metric.reading.responses import Samples, text_of_parts
from anls_metric.reading.roles import ANSWERS, PREDICTIONS, usual_field
from anls_metric.reading.table import Table, list_fields, name_place, read_column, show_path, split_key

if TYPE_CHECKING:
    from anls_metric.reading.table import Roles


def refuse_gaps(
    column: Sequence[Any], table: Table, path: Path | None, sentence: str, gaps: Sequence[Any] = (None, ABSENT)
) -> None:
    """Refuse records without a value. The sentence for the error may name the field."""
    places = [column.index(gap) for gap in gaps if gap in column]
    if places:
        raise make_error(name_place(table, min(places)), sentence, field=show_path(path))


# Ids, and texts of questions


def read_ids(table: Table, path: Path | None) -> list[str | None]:
    """Read ids as strings, so that 7 in one file equals "7" in another. A record without an id has None.

    pandas writes whole numbers as floats if the column once had a gap, so 7.0 is "7". Several fields, with
    commas between them, are an id together.
    """
    if path is None:
        return []
    parts = split_key(table, path)
    if len(parts) > 1:
        rows = zip(*(read_ids(table, part) for part in parts))
        return [None if None in row else ", ".join(row) for row in rows]
    column = read_column(table, path)
    return list(map(str if set(map(type, column)) <= {str, int} else read_id, column))


def show_ids(ids: Iterable[str | None], path: Path | None) -> list[str]:
    """Show ids in a message: those of several fields in parentheses.

    Example:
        >>> show_ids(["a.pdf, total"], "file,field"), show_ids(["a.pdf"], "file")
        (['(a.pdf, total)'], ['a.pdf'])
    """
    return [f"({each})" if isinstance(path, str) and "," in path else str(each) for each in ids]


def read_id(value: Any) -> str | None:
    """Read an id as a string, or return None if the value is not an id."""
    if type(value) in (str, int):
        return str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else None


def read_questions(table: Table, path: Path | None) -> list[str | None]:
    """Read the text of each question, without the prompt that a program wrote around it, or None where there is no
    text.
    """
    if path is None:
        return [None] * len(table.records)
    texts = read_column(table, path)
    if set(map(type, texts)) != {str}:
        texts = [text if isinstance(text, str) else None for text in map(text_of_parts, texts)]
    return [text and remove_prompt(text) for text in texts] if table.layout else texts


# Predictions


def read_predictions(
    column: list[Any],
    table: Table,
    path: Path,
    settings: Settings,
    form: Form = "text",
    references: Sequence[Sequence[Any]] = (),
) -> list[Any]:
    """Read predictions.

    Args:
        column: what the records have at the path.
        table: the table.
        path: the path of the prediction.
        settings: whether a missing prediction is an error, and whether a record may hold several answers.
        form: what predictions are.
        references: the references of some questions, for the advice of an error.

    Returns:
        A string or a value for each record, or `Samples` of them; None for no prediction.

    Raises:
        InputError: a prediction is missing, or is not a string.
    """
    failures = describe_failures(table.layout, table.records, column) if table.layout else ""
    if failures and settings.missing == "error":
        raise make_error(
            table.name, "{failures}: to score unanswered questions 0, add {use.missing:zero}", failures=failures
        )
    if table.layout:
        column = _find_samples(column, table, path)
    if set(map(type, column)) == {str} and not settings.samples:
        return column
    as_they_are = column
    if form == "text" or table.layout:
        column = list(map(text_of_parts, column))
    if settings.samples:
        column = list(map(_split_samples, column))
    elif form == "text":
        column = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in column]
    has_nan = any(isinstance(value, float) and value != value for value in column)
    try:
        column = parse_all(partial(_read_prediction, form, settings, path), column, table)
    except InputError as error:
        raise _add_remedy(error, as_they_are, path, form, references) from None
    if settings.missing == "error":
        sentence = (
            '{field} is null or missing: write "" if the model gave no answer, or add {use.missing:zero} to score it 0'
        )
        if has_nan:
            sentence += f"; {_READ_AGAIN}"
        refuse_gaps(column, table, path, sentence)
    return column


def _find_samples(column: list[Any], table: Table, path: Path) -> list[Any]:
    """Find all answers where a program writes a list of them, of which the layout names the first."""
    if not isinstance(path, str) or ".0." not in path:
        return column
    lists = read_column(table, path.replace(".0.", ".*."))
    return [Samples(own) if isinstance(own, list) and len(own) > 1 else first for first, own in zip(column, lists)]


def _split_samples(value: Any) -> Any:
    """Split a list, which may be written as a string, into the answers that the user says it holds."""
    if isinstance(value, str):
        with suppress(ValueError):  # it only begins like a list
            value = parse_written_list(value, "")
    return Samples(value) if isinstance(value, list) else value


def warn_of_lists(
    column: Sequence[Any], name: str, form: Form, references: Sequence[Sequence[Any]], settings: Settings
) -> list[Message]:
    """Warn of predictions that may be several answers each: lists of equally many strings that are compared as one
    text, as in a cell of CSV, or lists of equally many objects where each reference is an object.
    """
    if settings.samples or not column:
        return []
    if form == "text" and all(isinstance(value, str) and value[:1] == "[" for value in column):
        words, lists = "strings, compared as one text", list(map(_split_samples, column))
        remedy = "{use.samples:mean}; for lists, {use.variant:anls_star}"
    elif form == "value" and all(isinstance(own[0], dict) for own in references):
        words, remedy = "objects, and each reference is one object", "{use.samples:mean}"
        lists = [_read_objects(value) for value in column]
    else:
        return []
    sizes = {len(own) if isinstance(own, list) else 0 for own in lists}
    if len(sizes) > 1 or max(sizes) < 2:
        return []
    sentence = f"each prediction is a list of {{size}} {words}: for several answers to a question, add {remedy}"
    return [Message(name, sentence, {"size": max(sizes)})]


def _read_objects(value: Any) -> list[Any]:
    """Read a list of objects, each of which may be JSON; [] for any other value."""
    items = list(map(parse_value_or_text, value)) if isinstance(value, list) else []
    return items if all(isinstance(item, dict) for item in items) else []


def _read_prediction(form: Form, settings: Settings, path: Path, value: Any) -> Any:
    if value is None or value is ABSENT or value != value:  # NaN: a gap in a column of numbers
        return None
    if isinstance(value, Samples):
        return _read_samples(form, settings, path, value)
    if form == "row":
        return _show(value)
    if form == "value":  # a string stays a string: extraction comes first
        return value if isinstance(value, str) else from_json(value)
    text = _show(value) if is_failure(value) else _write_number(value)
    if isinstance(text, str):
        return text
    raise _error_of_value(path, value)


def _read_samples(form: Form, settings: Settings, path: Path, samples: Samples) -> Samples | None:
    """Read several answers to a question. Those that are missing are treated as missing answers to questions are."""
    if not settings.samples:
        raise _error_of_value(path, samples)
    read = Samples(_read_prediction(form, settings, path, text_of_parts(value)) for value in samples)
    if None in read and settings.missing == "error":
        sentence = "{field} has an answer that is null: to score it 0, add {use.missing:zero}; to leave it out, "
        raise make_error("", sentence + "{use.missing:skip}", field=show_path(path))
    return Samples(value for value in read if value is not None or settings.missing == "zero") or None


def _error_of_value(path: Path, value: Any) -> InputError:
    """Make the error for a prediction that is not a string. `_add_remedy` adds what to do."""
    shown = shorten(str(value), 60) if isinstance(value, (list, dict)) else describe(value)
    return make_error("", _NO_TEXT, field=show_path(path), value=shown)


_NO_TEXT = "{field} must be a string, got {value}"


def _add_remedy(
    error: InputError, column: Sequence[Any], path: Path, form: Form, references: Sequence[Sequence[Any]]
) -> InputError:
    """Add what to do to the error for a prediction that is not a string, judging by all predictions and references."""
    message, values = error.message, dict(error.message.values)
    if message.sentence != _NO_TEXT:
        return error
    others = [value for value in column if value is not ABSENT and type(value) not in _PLAIN]
    lists = [value for value in others if isinstance(value, list)]
    accepted = [own for own in references if own]
    inner = _find_text(others) if isinstance(path, str) else None
    if isinstance(others[0], bytes):
        remedy = "decode it, as with value.decode()"
    elif any(lists) and all(type(text_of_parts(item)) in _PLAIN for own in lists for item in own):
        remedy = "for several answers to a question, add {use.samples:mean} or {use.samples:vote}"
        if form == "text" and 2 * sum(len(own) > 1 for own in accepted) > len(accepted):
            of_lists = "for answers that are lists, {use.variant:anls_star}"
            are_even = len(set(map(len, lists))) == 1  # models are asked equally often, and lists differ
            remedy = f"{remedy}; {of_lists}" if are_even else f"{of_lists}; {remedy}"
    elif accepted and all(isinstance(parse_value_or_text(own[0]), (dict, list)) for own in accepted):
        remedy = "score lists and objects with {use.variant:anls_star}"
    elif inner:
        remedy, values["inner"] = "pass the text in it with {use.prediction:{inner}}", f"{path}.{inner}"
    else:
        remedy = "pass a field of strings with {use.prediction}"
    return InputError(Message(message.where, f"{message.sentence}: {remedy}", values))


_PLAIN = (str, int, float, type(None))


def _find_text(values: Sequence[Any]) -> str | None:
    """Find the path of the text in objects, or in lists of objects: a field with a usual name, or the only string."""
    before = ""
    if all(isinstance(value, list) for value in values):
        before = "0." if max(map(len, values)) == 1 else "*."
        values = [item for value in values for item in value]
    if set(map(type, values)) != {dict}:
        return None
    table = Table(values, fields=list_fields(values))
    texts = {field: False for field in table.fields if set(map(type, read_column(table, field))) == {str}}
    name = usual_field(table._replace(fields=texts), (*PREDICTIONS, *ANSWERS, "text", "content"))
    name = name or next(iter(texts if len(texts) == 1 else ()), None)
    return before + name if name else None


def warn_of_decimals(column: Sequence[Any], name: str, what: str) -> list[Message]:
    """Warn of decimal numbers in a column of a table, given its name, because their original formatting is lost."""
    if set(map(type, column)) <= {str} or _are_lists_of_strings(column):
        return []
    items = chain.from_iterable(value if isinstance(value, list) else [value] for value in column)
    count = sum(isinstance(value, float) and value == value for value in items)
    return [Message(name, LOST_FORMATTING, {"count": count, "what": what})] if count else []


# Accepted answers


def read_references(
    column: list[Any], table: Table, path: Path | None, settings: Settings, form: Form = "text"
) -> list[Any]:
    """Read the references of each record, which are at the path, as a list of strings or of values.

    Raises:
        InputError: a record has none, or one is not a string.
    """
    if form == "row":
        return list(map(_show_accepted, column))
    if form == "text" and all(value in (None, ABSENT, "") or is_unanswerable(value) for value in column):
        sentence = "{field} is empty everywhere, as in a test split: write a leaderboard file with anls export rrc"
        raise make_error(table.name, sentence, field=show_path(path))
    sentence = "{field} is null or missing: add a reference, or leave the question out"
    refuse_gaps(column, table, path, sentence, [ABSENT] if form == "value" else [None, ABSENT])  # null can be a value
    if form == "value":
        return parse_all(_parse_accepted, column, table)
    if not _are_lists_of_strings(column):
        column = [[""] if is_unanswerable(value) else value for value in column]
        column = parse_all(_read_accepted, column, table)
    if settings.references_separator:
        column = [_split_accepted(accepted, settings.references_separator) for accepted in column]
    return column


def read_columns_together(table: Table, path: Path | None) -> list[Any]:
    """Read a column, or a list of the values of several columns, some of which may be empty."""
    parts = [] if path is None else split_key(table, path)
    if len(parts) < 2:
        return read_column(table, path)
    rows = zip(*(read_column(table, part) for part in parts))
    return [_join_cells(row) or ABSENT for row in rows]


def _join_cells(row: Iterable[Any]) -> list[Any]:
    """Join the values of several columns, which may be lists or empty."""
    lists = (value if isinstance(value, list) else [value] for value in map(parse_value_or_text, row))
    return [value for value in chain.from_iterable(lists) if value not in (None, ABSENT, "") and value == value]


def _are_lists_of_strings(column: Sequence[Any]) -> bool:
    """Whether nothing needs to be done, as is usual: found without a loop over the strings."""
    return set(map(type, column)) == {list} and all(column) and set(map(type, chain.from_iterable(column))) == {str}


def _read_accepted(value: Any) -> Sequence[str]:
    value = unwrap_references(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, float) and item != item for item in items):
        raise ValueError(
            f"{_ACCEPTED} is NaN, a missing value: add a reference, or leave the question out; {_READ_AGAIN}"
        )
    if any(isinstance(item, dict) for item in items):
        sentence = "the reference must be a string, got {value}: score lists and objects with {use.variant:anls_star}"
        raise make_error("", sentence, value=describe(value))
    if isinstance(value, list):
        value = list(map(_write_number, value))
    return parse_references(_write_number(value), _ACCEPTED)


def _write_number(value: Any) -> Any:
    return str(value) if type(value) in (int, float) else value


_ACCEPTED = "the reference"
_READ_AGAIN = "if it was a text such as NA or None, let pandas read the file with keep_default_na=False"


def _parse_accepted(value: Any) -> tuple[Any, ...]:
    """Parse an accepted value: one value, or several as ``{"__tuple__": [...]}``."""
    parsed = read_reference(value)
    return parsed if isinstance(parsed, tuple) else (parsed,)


def _split_accepted(accepted: Sequence[str], separator: str) -> Sequence[str]:
    r"""Split references at a separator. A newline and a tab may be written as ``\n`` and ``\t``."""
    sign = {r"\n": "\n", r"\t": "\t"}.get(separator, separator)
    parts = [part.strip() for text in accepted for part in text.replace(separator, sign).split(sign)]
    return [part for part in parts if part] or accepted


def parse_all(parse: Callable[[Any], Any], values: Iterable[Any], table: Table) -> list[Any]:
    """Parse the values of a column. If a value cannot be parsed, the error names its place."""
    parsed = []
    for number, value in enumerate(values):
        try:
            parsed.append(parse(value))
        except InputError as error:
            raise InputError(error.message._replace(where=name_place(table, number))) from None
        except ValueError as error:
            raise make_error(name_place(table, number), "{problem}", problem=str(error)) from None
    return parsed


# Confidences and verdicts

_NOTHING = (None, ABSENT, "")
_VERDICTS = {"true": True, "1": True, "correct": True, "yes": True}
_VERDICTS |= {"false": False, "0": False, "incorrect": False, "no": False}


def read_confidence(value: Any, is_log: bool) -> float | None:
    """Read a confidence, which is a probability from 0 to 1 or its natural logarithm, or return None if there is none.

    Raises:
        ValueError: the value is not a probability.

    Example:
        >>> read_confidence("0.75", is_log=False), read_confidence(0, is_log=True)
        (0.75, 1.0)
    """
    if value in _NOTHING:
        return None
    try:
        number = float(str(value))  # True is no number
        number = math.exp(number) if is_log else number
    except (ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        allowed = "the logarithm of a probability, at most 0" if is_log else "a probability from 0 to 1"
        raise ValueError(f"the confidence must be {allowed}, got {describe(value)}")
    return number


def read_confidences(value: Any, is_log: bool) -> Any:
    """Read either one confidence or an object with the confidences for the values of a nested answer.

    Raises:
        ValueError: as `read_confidence`.

    Example:
        >>> read_confidences({"total": 0.75, "items": [{"name": "0.5"}]}, is_log=False)
        {'total': 0.75, 'items': [{'name': 0.5}]}
    """

    def read(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: read(item) for key, item in part.items()}
        return list(map(read, part)) if isinstance(part, list) else read_confidence(part, is_log)

    parsed = parse_value_or_text(value)
    return read(parsed) if isinstance(parsed, dict) else read_confidence(value, is_log)


def read_verdict(value: Any, what: str = "the verdict") -> bool | None:
    """Read a judge's verdict: true or false, 1 or 0, correct or incorrect, yes or no. Returns None if there is no
    verdict.

    Args:
        value: the value.
        what: its name in an error.

    Raises:
        ValueError: the value is no verdict.
    """
    if value in _NOTHING:
        return None
    text = str(read_id(value) or value).strip().lower()
    if text not in _VERDICTS:
        raise ValueError(
            f"{what} must be true or false, 1 or 0, correct or incorrect, yes or no, got {describe(value)}"
        )
    return _VERDICTS[text]


def read_assessments(table: Table, roles: Roles, role: str, is_named: bool) -> list[Any] | None:
    """Read the column of confidences or of verdicts, or return None if the table has none.

    A value that cannot be read is an error in a field that the user names. Any other field then holds something else.
    """
    path = roles.others.get(role)
    if path is None:
        return None
    is_log = str(path).rpartition(".")[2] == "logprob"
    read = read_verdict if role == "judge" else partial(read_confidences, is_log=is_log)
    try:
        return parse_all(read, read_column(table, path), table)
    except InputError:
        if is_named:
            raise
        return None


# Columns of the rule of a benchmark


def read_columns(table: Table, roles: Roles) -> Records:
    """Read those columns of a rule that a table has, as one dict for each record."""
    paths = roles.others.items()
    return [
        {name: value for name, path in paths if (value := take(record, path)) is not ABSENT} for record in table.records
    ]


def _show_accepted(value: Any) -> list[str]:
    """Show the references of a record, which only a rule understands, as strings; "" if there are none."""
    if value is ABSENT:
        return [""]
    return list(map(_show, value if isinstance(value, (list, tuple)) else [value])) or [""]


def _show(value: Any) -> str:
    is_json = isinstance(value, (list, tuple, dict))
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def is_unanswerable(value: Any) -> bool:
    """Whether a record says that its question has no answer, either by an empty list or in the SQuAD 2.0 form.

    Example:
        >>> is_unanswerable({"text": [], "answer_start": []}), is_unanswerable([]), is_unanswerable(["", "a"])
        (True, True, False)
    """
    if isinstance(value, Mapping):
        return "answer_start" in value and value.get("text") == []
    return isinstance(value, (list, str)) and value in ([], "[]")
