"""Scores files in a process of its own. What comes in and goes out is plain data, and nothing here needs gradio."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from anls_metric.analysis.evaluation import Result, evaluate, find_scorers, make_reading
from anls_metric.messages import FrontEnd, InputError, make_error
from anls_metric.options import Settings, make_settings
from anls_metric.page import limits
from anls_metric.reading.join import Reading
from anls_metric.reading.reader import Input
from anls_metric.reading.roles import has_certain_references
from anls_metric.reading.table import Table, get_stem, has, read_table
from anls_metric.report.document import build_document
from anls_metric.report.texts import make_printable, shorten

ARCHIVE = ".zip"
"""The extension of an archive with page images."""

_GOLD_NAMES = ("gold", "label", "truth")
_MAX_FIELDS = 200
_MAX_TEXT = 1_000


class Advice(NamedTuple):
    """A sentence for a visitor. If an option helps: the option and its value."""

    text: str
    option: str = ""
    value: str = ""


class Shown(NamedTuple):
    """What the page shows of files.

    Attributes:
        problems: what is wrong with files, or with all of them.
        hints: reasons to doubt the scores.
        read: what was read, a line for each submission.
        names: the names of the submissions, in the order of their files.
        fields: the fields of the files, to choose from.
        golds: the files that may be the gold file, if the page has to ask.
        gold: the gold file; "" for none.
        said: the scores in words.
        report: the report, compressed; "" if there are no scores.
    """

    problems: Sequence[Advice] = ()
    hints: Sequence[Advice] = ()
    read: Sequence[str] = ()
    names: Sequence[str] = ()
    fields: Sequence[str] = ()
    golds: Sequence[str] = ()
    gold: str = ""
    said: str = ""
    report: str = ""


def score(files: Sequence[str], gold: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Score files for programs.

    Args:
        files: the paths of submissions, or of files with predictions and accepted answers.
        gold: the path of the gold file.
        options: the options of `api.score`.

    Returns:
        The JSON document.

    Raises:
        ValueError: the files cannot be scored.
    """
    paths = [*files, *([gold] if gold else [])]
    inputs = [Input(path, name) for path, name in zip(files, name_files(files))]
    try:
        document = build_document(evaluate(inputs, Input(gold) if gold else None, make_settings(options)))
    except (ValueError, OSError) as error:
        raise ValueError(_describe(error, paths, "python").text) from None
    plain: dict[str, Any] = json.loads(_hide_folders(json.dumps(document, ensure_ascii=False), paths))
    return plain


def show(
    files: Sequence[str], gold: str, names: Sequence[str], options: Mapping[str, Any], report: Callable[[int], None]
) -> dict[str, Any]:
    """Score files for the page.

    Args:
        files: the paths of all files, in any order; one of them may be the gold file, and one an archive of images.
        gold: the file that the visitor chose as the gold file; "" to find it.
        names: the names that the visitor gave to the submissions, in the order of their files; [] for none.
        options: the options of `api.score`.
        report: is called with the number of answers of each submission, once they are scored.

    Returns:
        The fields of `Shown`.
    """
    errors: list[Exception] = []
    shown = Shown()
    with _keep(errors):
        shown = _show(files, gold, names, make_settings(options), report, errors)
    return shown._replace(problems=[_describe(error, files) for error in errors])._asdict()


def _show(
    files: Sequence[str],
    gold: str,
    names: Sequence[str],
    settings: Settings,
    report: Callable[[int], None],
    errors: list[Exception],
) -> Shown:
    """Score files, and add what is wrong to the errors."""
    archives = [path for path in files if path.lower().endswith(ARCHIVE)]
    reading = make_reading(settings, find_scorers(settings)[0])
    tables: dict[str, Table] = {}
    for path in files:
        if path not in archives:
            with _keep(errors):
                tables[path] = read_table(path, settings, reading.of_values)
    if archives and len(files) == len(archives):
        raise make_error(archives[0], "a zip file is for page images: drop the files with the answers as well")
    fields = dict.fromkeys(field for table in tables.values() for field in table.fields)
    found, is_sure = find_gold(tables, reading)
    shown = Shown(fields=[field for field in fields if _is_showable(field)][:_MAX_FIELDS])
    if not is_sure:
        found = gold if gold in tables else found
        shown = shown._replace(golds=list(tables), gold=found or "")
    paths = [path for path in tables if path != found]
    if not paths or not (found or is_sure):
        return shown
    shown = shown._replace(names=list(names) if all(names) and len(names) == len(paths) else name_files(paths))
    inputs = [Input(tables[path], name) for path, name in zip(paths, shown.names)]
    with _keep(errors):
        result = _evaluate(inputs, Input(tables[found]) if found else None, settings, report, errors)
        label = result.submissions[0].scorer.label
        scores = "; ".join(f"{label} of {scored.name}: {scored.anls:.4f}" for scored in result.submissions[:10])
        return shown._replace(
            hints=[Advice(_word(hint.text("page"), files), *(hint.message.action or ())) for hint in result.hints],
            read=[_word(scored.answers.read.text("page"), files) for scored in result.submissions],
            said=f"{scores}. {len(result.hints)} hints." if result.hints else f"{scores}.",
            report=_make_report(result, os.path.basename(found or ""), archives, errors),
        )
    return shown


@contextmanager
def _keep(errors: list[Exception]) -> Iterator[None]:
    """Add an error of a file or an option to others, and go on."""
    try:
        yield
    except (ValueError, OSError) as error:
        errors.append(error)


def find_gold(tables: Mapping[str, Table], reading: Reading) -> tuple[str | None, bool]:
    """Find the gold file: the one with accepted answers and without predictions, as the command does by the order.

    Args:
        tables: the files by their paths.
        reading: how to read them.

    Returns:
        The path of the gold file, None for none; and whether it is sure. If not, the path is that of a file whose name
        says so.
    """
    accepted = [path for path, table in tables.items() if _has_references(table, reading)]
    golds = [path for path in accepted if not _has_prediction(tables[path], reading)]
    if len(tables) < 2 or (len(accepted) == len(tables) and not golds):
        return None, True
    for candidates in (golds, accepted):
        if len(candidates) == 1:
            return candidates[0], True
    candidates = golds or accepted or list(tables)
    named = (path for path in candidates if any(name in os.path.basename(path).lower() for name in _GOLD_NAMES))
    return next(named, None), False


def _has_references(table: Table, reading: Reading) -> bool:
    """Whether a table has accepted answers, in the field that the visitor names or in one with a usual name."""
    named = reading.settings.references
    return has_certain_references(table) or (named is not None and has(table, named))


def _has_prediction(table: Table, reading: Reading) -> bool:
    with suppress(InputError):  # a field that the visitor names is in another file
        return reading.find_roles(table, "both").prediction is not None
    return False


def _evaluate(
    inputs: Sequence[Input],
    gold: Input | None,
    settings: Settings,
    report: Callable[[int], None],
    errors: list[Exception],
) -> Result:
    """Score submissions. If one of several cannot be scored, leave it out, and add its error."""
    try:
        return evaluate(inputs, gold, settings, report)
    except InputError:
        good = []
        for each in inputs if len(inputs) > 1 else ():
            with _keep(errors):
                evaluate([each], gold, replace(settings, quiet=True, baseline=None))
                good.append(each)
        if len(good) in (0, len(inputs)):
            errors.clear()
            raise
    return evaluate(good, gold, settings, report)


def _make_report(result: Result, source: str, archives: Sequence[str], errors: list[Exception]) -> str:
    """Make the report, compressed. Adds what is wrong with an archive of images."""
    from anls_metric.report.html import as_html
    from anls_metric.report.images import Images

    images = Images(max_bytes=limits.MAX_IMAGES)
    for archive in archives[:1]:
        with _keep(errors):
            images = Images(archive, max_bytes=limits.MAX_IMAGES)
    page = as_html(
        result,
        source=source,
        images=images,
        front_end="page",
        most_bytes=limits.MAX_REPORT,
        most_by_variant=limits.MAX_BY_VARIANT,
    )
    return base64.b64encode(gzip.compress(page.encode("utf-8", "replace"), compresslevel=1)).decode()


def name_files(paths: Sequence[str]) -> list[str]:
    """Name submissions by the stems of their files, with a number after a name that was there before.

    Example:
        >>> name_files(["/a/run.json", "/b/run.json", "/b/my model.jsonl"])
        ['run', 'run (2)', 'my model']
    """
    names: list[str] = []
    for stem in map(get_stem, paths):
        numbered = (f"{stem} ({number})" for number in count(2))
        names.append(stem if stem not in names else next(name for name in numbered if name not in names))
    return names


# Words


def _describe(error: Exception, files: Sequence[str], front_end: FrontEnd = "page") -> Advice:
    """Describe an error of input. MemoryError: it says that there was too little memory."""
    if isinstance(error.__context__, MemoryError):
        raise MemoryError
    if isinstance(error, InputError):
        action = error.message.action if front_end == "page" else None
        return Advice(_word(error.message.text(front_end), files), *(action or ()))
    if isinstance(error, OSError):
        return Advice(f"{os.path.basename(error.filename or 'the file')} is no longer there: upload it again")
    return Advice(_word(str(error), files))


def _word(text: str, files: Sequence[str]) -> str:
    return make_printable(shorten(_hide_folders(text, files), _MAX_TEXT)).encode("utf-8", "replace").decode()


def _hide_folders(text: str, files: Sequence[str]) -> str:
    """Remove the folders of files from a text."""
    for path in files:
        text = text.replace(os.path.join(os.path.dirname(path), ""), "")
    return text


def _is_showable(name: str) -> bool:
    return len(name) <= _MAX_TEXT and name.encode("utf-8", "ignore").decode() == name
