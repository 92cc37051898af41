"""Reads predictions and references in the form that a scorer needs: strings, values, or the rows of a benchmark."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

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
from anls_metric.reading.layouts import describe_failures
from anls_metric.reading.records import ABSENT, Path, is_failure
from anls_metric.reading.responses import Samples, text_of_parts
from anls_metric.reading.roles import ANSWERS, PREDICTIONS, usual_field
from anls_metric.reading.table import Table, list_fields, read_column, show_path
from anls_metric.reading.values import parse_all, refuse_gaps


class AnswerForm(ABC):
    """The base class of objects that read answers in a particular form.

    Attributes:
        needs_references: whether a gold file must have a field of references.
    """

    needs_references = True

    def read_predictions(
        self,
        column: list[Any],
        table: Table,
        path: Path,
        settings: Settings,
        references: Sequence[Sequence[Any]] = (),
    ) -> list[Any]:
        """Read the predictions in a column of a table.

        Args:
            column: the value at the path in each record.
            table: the table that contains the column.
            path: the path of the prediction.
            settings: the user's options, which decide whether a missing prediction is an error and whether a record may
                contain several answers.
            references: the references of some questions, which decide the advice in an error.

        Returns:
            For each record, a string or a value, `Samples` if the record has several predictions, or None if it has
            none.

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
        column = self.open_cells(column, table, settings)
        has_nan = any(isinstance(value, float) and value != value for value in column)
        try:
            column = parse_all(partial(self._read, settings, path), column, table)
        except InputError as error:
            raise self._add_remedy(error, as_they_are, path, references) from None
        if settings.missing == "error":
            sentence = (
                '{field} is null or missing: write "" if the model gave no answer, or add {use.missing:zero} to '
                "score it 0"
            )
            if has_nan:
                sentence += f"; {_READ_AGAIN}"
            refuse_gaps(column, table, path, sentence)
        return column

    def open_cells(self, column: list[Any], table: Table, settings: Settings) -> list[Any]:
        """Extract the text of chat messages and, if the user asks for samples, split cells that contain several
        answers.
        """
        column = list(map(text_of_parts, column)) if table.layout else column
        return list(map(_split_samples, column)) if settings.samples else column

    @abstractmethod
    def read_value(self, value: Any, path: Path) -> Any:
        """Read one prediction. Raises InputError if the value is not a prediction."""

    def _read(self, settings: Settings, path: Path, value: Any) -> Any:
        if value is None or value is ABSENT or value != value:  # NaN: a gap in a column of numbers
            return None
        return self._read_samples(settings, path, value) if isinstance(value, Samples) else self.read_value(value, path)

    def _read_samples(self, settings: Settings, path: Path, samples: Samples) -> Samples | None:
        """Read several answers to one question, and keep, skip or reject null answers according to the option
        `missing`.
        """
        if not settings.samples:
            raise _error_of_value(path, samples)
        read = Samples(self._read(settings, path, text_of_parts(value)) for value in samples)
        if None in read and settings.missing == "error":
            sentence = "{field} has an answer that is null: to score it 0, add {use.missing:zero}; to leave it out, "
            raise make_error("", sentence + "{use.missing:skip}", field=show_path(path))
        return Samples(value for value in read if value is not None or settings.missing == "zero") or None

    def _add_remedy(
        self, error: InputError, column: Sequence[Any], path: Path, references: Sequence[Sequence[Any]]
    ) -> InputError:
        """Add a remedy, based on all predictions and references, to the error for a prediction that is not a string."""
        message, values = error.message, dict(error.message.values)
        if message.sentence != _NO_TEXT:
            return error
        others = [value for value in column if value is not ABSENT and type(value) not in _PLAIN]
        lists = [value for value in others if isinstance(value, list)]
        accepted = [own for own in references if own]
        inner = _find_text(others) if isinstance(path, str) else None
        if isinstance(others[0], bytes):
            remedy = "decode it, as with value.decode()"
        elif any(lists) and len({*map(len, lists)}) > 1 and all(type(item) is int for own in lists for item in own):
            remedy = "decode token ids first, as with tokenizer.batch_decode(ids, skip_special_tokens=True)"
        elif any(lists) and all(type(text_of_parts(item)) in _PLAIN for own in lists for item in own):
            remedy = self.advise_lists(lists, accepted)
        elif accepted and all(isinstance(parse_value_or_text(own[0]), (dict, list)) for own in accepted):
            remedy = _OF_VALUES
        elif inner:
            remedy, values["inner"] = "pass the text in it with {use.prediction:{inner}}", f"{path}.{inner}"
        else:
            remedy = "pass a field of strings with {use.prediction}"
        return InputError(Message(message.where, f"{message.sentence}: {remedy}", values))

    def advise_lists(self, lists: Sequence[list[Any]], accepted: Sequence[Sequence[Any]]) -> str:
        """Write the remedy for predictions that are lists, given the references of some questions."""
        return "for several answers to a question, add {use.samples:mean} or {use.samples:vote}"

    def warn_of_references(self, column: Sequence[Any], table: Table) -> list[Message]:
        """Return warnings about references that can be read but may be wrong."""
        return []

    def warn_of_predictions(
        self, column: Sequence[Any], table: Table, references: Sequence[Sequence[Any]], settings: Settings
    ) -> list[Message]:
        """Return warnings about predictions that can be read but may be wrong."""
        return []

    @abstractmethod
    def read_references(self, column: list[Any], table: Table, path: Path | None, settings: Settings) -> list[Any]:
        """Convert the references in a column to a list of strings or values for each record.

        Raises:
            InputError: a record has no reference, or a reference has the wrong type.
        """


_NO_REFERENCE = "{field} is null or missing: add a reference, or leave the question out"


class _Texts(AnswerForm):
    """The form of answers that are strings."""

    def open_cells(self, column: list[Any], table: Table, settings: Settings) -> list[Any]:
        column = list(map(text_of_parts, column))
        if settings.samples:
            return list(map(_split_samples, column))
        return [value[0] if isinstance(value, list) and len(value) == 1 else value for value in column]

    def read_value(self, value: Any, path: Path) -> str:
        text = _show(value) if is_failure(value) else _write_number(value)
        if isinstance(text, str):
            return text
        raise _error_of_value(path, value)

    def advise_lists(self, lists: Sequence[list[Any]], accepted: Sequence[Sequence[Any]]) -> str:
        remedy = super().advise_lists(lists, accepted)
        if 2 * sum(len(own) > 1 for own in accepted) <= len(accepted):
            return remedy
        of_lists = "for answers that are lists, {use.variant:anls_star}"
        are_even = len(set(map(len, lists))) == 1  # models are asked equally often, and lists differ
        return f"{remedy}; {of_lists}" if are_even else f"{of_lists}; {remedy}"

    def warn_of_references(self, column: Sequence[Any], table: Table) -> list[Message]:
        return _warn_of_decimals(column, table.name, "references")

    def warn_of_predictions(
        self, column: Sequence[Any], table: Table, references: Sequence[Sequence[Any]], settings: Settings
    ) -> list[Message]:
        warnings = _warn_of_decimals(column, table.name, "predictions")
        if settings.samples or not all(isinstance(value, str) and value[:1] == "[" for value in column):
            return warnings
        words, remedy = "strings, compared as one text", "{use.samples:mean}; for lists, {use.variant:anls_star}"
        return [*_warn_of_lists(list(map(_split_samples, column)), table.name, words, remedy), *warnings]

    def read_references(self, column: list[Any], table: Table, path: Path | None, settings: Settings) -> list[Any]:
        if all(value in (None, ABSENT, "") or is_unanswerable(value) for value in column):
            sentence = "{field} is empty everywhere, as in a test split: write a leaderboard file with anls export rrc"
            raise make_error(table.name, sentence, field=show_path(path))
        refuse_gaps(column, table, path, _NO_REFERENCE)
        if not _are_lists_of_strings(column):
            column = [[""] if is_unanswerable(value) else value for value in column]
            try:
                column = parse_all(_read_accepted, column, table)
            except InputError as error:
                raise _add_remedy_for_objects(error, column, path) from None
        if settings.references_separator:
            column = [_split_accepted(accepted, settings.references_separator) for accepted in column]
        return column


class _Values(AnswerForm):
    """The form of answers that are lists or nested values."""

    def read_value(self, value: Any, path: Path) -> Any:
        return value if isinstance(value, str) else from_json(value)  # extraction from a string comes first

    def warn_of_predictions(
        self, column: Sequence[Any], table: Table, references: Sequence[Sequence[Any]], settings: Settings
    ) -> list[Message]:
        if settings.samples or not all(isinstance(own[0], dict) for own in references):
            return []
        words, remedy = "objects, and each reference is one object", "{use.samples:mean}"
        return _warn_of_lists([_read_objects(value) for value in column], table.name, words, remedy)

    def read_references(self, column: list[Any], table: Table, path: Path | None, settings: Settings) -> list[Any]:
        refuse_gaps(column, table, path, _NO_REFERENCE, [ABSENT])  # null can be a value
        return parse_all(_parse_accepted, column, table)


class _Rows(AnswerForm):
    """The form of answers that are rows with additional columns, which only a benchmark's rule understands."""

    needs_references = False

    def read_value(self, value: Any, path: Path) -> str:
        return _show(value)

    def read_references(self, column: list[Any], table: Table, path: Path | None, settings: Settings) -> list[Any]:
        return list(map(_show_accepted, column))


ANSWER_FORMS: Mapping[Form, AnswerForm] = {"text": _Texts(), "value": _Values(), "row": _Rows()}
"""The objects that read answers, keyed by the name of the form."""


# Predictions


def _warn_of_lists(lists: Sequence[Any], name: str, words: str, remedy: str) -> list[Message]:
    """Warn if the predictions are lists of equal length with at least two items, because each list may contain several
    answers to one question.
    """
    sizes = {len(own) if isinstance(own, list) else 0 for own in lists}
    if len(sizes) != 1 or max(sizes) < 2:
        return []
    sentence = f"each prediction is a list of {{size}} {words}: for several answers to a question, add {remedy}"
    return [Message(name, sentence, {"size": max(sizes)})]


def _find_samples(column: list[Any], table: Table, path: Path) -> list[Any]:
    """Find all answers in the lists that a program writes if the path in the layout leads only to the first answer."""
    if not isinstance(path, str) or ".0." not in path:
        return column
    lists = read_column(table, path.replace(".0.", ".*."))
    return [Samples(own) if isinstance(own, list) and len(own) > 1 else first for first, own in zip(column, lists)]


def _split_samples(value: Any) -> Any:
    """Convert a list, which may be written as a string, to several answers, and return any other value unchanged."""
    if isinstance(value, str):
        with suppress(ValueError):  # it only begins like a list
            value = parse_written_list(value, "")
    return Samples(value) if isinstance(value, list) else value


def _read_objects(value: Any) -> list[Any]:
    """Read a list of objects, each of which may be a JSON string, or return [] for any other value."""
    items = list(map(parse_value_or_text, value)) if isinstance(value, list) else []
    return items if all(isinstance(item, dict) for item in items) else []


def _error_of_value(path: Path, value: Any) -> InputError:
    """Create the error for a prediction that is not a string, to which `_add_remedy` adds a remedy."""
    return make_error("", _NO_TEXT, field=show_path(path), value=_describe_value(value))


def _describe_value(value: Any) -> str:
    """Show a list or an object, and describe any other value with its type."""
    return shorten(str(value), 60) if isinstance(value, (list, dict)) else describe(value)


_NO_TEXT = "{field} must be a string, got {value}"
_PLAIN = (str, int, float, type(None))


def _find_text(values: Sequence[Any]) -> str | None:
    """Find the path of the text inside objects or lists of objects, which is a field with a usual name or the only
    field of strings.
    """
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


def _warn_of_decimals(column: Sequence[Any], name: str, what: str) -> list[Message]:
    """Warn if a column contains decimal numbers, because the original formatting of these numbers is lost."""
    if set(map(type, column)) <= {str} or _are_lists_of_strings(column):
        return []
    items = chain.from_iterable(value if isinstance(value, list) else [value] for value in column)
    count = sum(isinstance(value, float) and value == value for value in items)
    return [Message(name, LOST_FORMATTING, {"count": count, "what": what})] if count else []


# References


def _are_lists_of_strings(column: Sequence[Any]) -> bool:
    """Whether all values are nonempty lists of strings, which need no conversion."""
    return set(map(type, column)) == {list} and all(column) and set(map(type, chain.from_iterable(column))) == {str}


_OBJECT = "the reference must be a string, got {value}: "
_NAMES_OF_TEXTS = (*ANSWERS, "text", "content", "value")
_OF_VALUES = "score lists and objects with {use.variant:anls_star}"


def _read_accepted(value: Any) -> Sequence[str]:
    value = unwrap_references(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, float) and item != item for item in items):
        raise ValueError(
            f"{_ACCEPTED} is NaN, a missing value: add a reference, or leave the question out; {_READ_AGAIN}"
        )
    if any(isinstance(item, dict) for item in items):
        raise make_error("", _OBJECT + _OF_VALUES, value=_describe_value(value))
    if isinstance(value, list):
        value = list(map(_write_number, value))
    return parse_references(_write_number(value), _ACCEPTED)


def _add_remedy_for_objects(error: InputError, column: Sequence[Any], path: Path | None) -> InputError:
    """Add what to type to the error for references that are objects: the path of a text inside them, and the path of
    the object if every reference is a list of one.
    """
    message, objects = error.message, [value for value in column if isinstance(value, (dict, list)) and value]
    if not (message.sentence.startswith(_OBJECT) and objects and isinstance(path, str)):
        return error
    inner, remedies = _find_text(objects), [_OF_VALUES]
    if all(isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) for value in objects):
        remedies = ["score the objects with {use.variant:anls_star} and {use.references:{first}}"]
    if inner and inner.rpartition(".")[2] in _NAMES_OF_TEXTS:  # no field of a document
        remedies.insert(0, "for the text in it, add {use.references:{text}}")
    values = {**message.values, "first": f"{path}.0", "text": f"{path}.{inner}"}
    return InputError(Message(message.where, _OBJECT + "; ".join(remedies), values))


def _write_number(value: Any) -> Any:
    return str(value) if type(value) in (int, float) else value


_ACCEPTED = "the reference"
_READ_AGAIN = "if it was a text such as NA or None, let pandas read the file with keep_default_na=False"


def _parse_accepted(value: Any) -> tuple[Any, ...]:
    """Parse the references in a cell, which are one value, or several values in ``{"__tuple__": [...]}``."""
    parsed = read_reference(value)
    return parsed if isinstance(parsed, tuple) else (parsed,)


def _split_accepted(accepted: Sequence[str], separator: str) -> Sequence[str]:
    r"""Split references at a separator, in which ``\n`` and ``\t`` stand for a newline and a tab."""
    sign = {r"\n": "\n", r"\t": "\t"}.get(separator, separator)
    parts = [part.strip() for text in accepted for part in text.replace(separator, sign).split(sign)]
    return [part for part in parts if part] or accepted


def _show_accepted(value: Any) -> list[str]:
    """Convert a record's references, which only a benchmark's rule understands, to strings for display, or return [""]
    if the record has none.
    """
    if value is ABSENT:
        return [""]
    return list(map(_show, value if isinstance(value, (list, tuple)) else [value])) or [""]


def _show(value: Any) -> str:
    is_json = isinstance(value, (list, tuple, dict))
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def is_unanswerable(value: Any) -> bool:
    """Whether the references are an empty list or an empty SQuAD 2.0 answer, which mark a question as unanswerable.

    Example:
        >>> is_unanswerable({"text": [], "answer_start": []}), is_unanswerable([]), is_unanswerable(["", "a"])
        (True, True, False)
    """
    if isinstance(value, Mapping):
        return "answer_start" in value and value.get("text") == []
    return isinstance(value, (list, str)) and value in ([], "[]")
