"""Scores files in a separate process. This module takes and returns plain data and does not need gradio."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from anls_metric.analysis.evaluation import Result, evaluate, find_scorers
from anls_metric.core.checks import count_noun
from anls_metric.core.names import drop_shared_prefix, get_stem
from anls_metric.document import build_document
from anls_metric.messages import InputError, Message, make_error, reword
from anls_metric.options import Settings, make_settings
from anls_metric.page import limits
from anls_metric.page.processes import tell
from anls_metric.page.uploads import get_folder, make_room
from anls_metric.reading.files import read_table
from anls_metric.reading.golds import find_golds, is_named_gold
from anls_metric.reading.inputs import Input
from anls_metric.reading.reading import make_reading
from anls_metric.report.numbers import PERCENT
from anls_metric.report.schema import Document
from anls_metric.report.wording import word

ARCHIVE = ".zip"
"""The extension of an archive with page images."""

ADD_FILES = "files"
"""The key that stands in place of an option if the visitor should add files."""

WHICH_GOLD = "Which of these is the gold file, the one with the references?"

GOLD, SUBMISSION, IMAGES, UNREAD = "gold file", "submission", "page images", "not read"
"""The roles of files on the page."""

_MAX_FIELDS = 200
_MAX_NAME = 200  # characters of the name of a field


class Shown(NamedTuple):
    """What the page shows about the files.

    Attributes:
        problems: a message for each problem with the files or the options, and the values of the options that would
            each solve it.
        files: the file name, the role and the submission name of each file.
        fields: the fields of the files, which the page suggests for options.
        golds: the names of the files that may be the gold file if there are several, from which the visitor can choose.
        gold: the name of the file that is read as the gold file, or "" if there is none.
        said: the text for screen readers, which is the scores in words, a question, or "".
        report: the path of the report, or "" without scores.
    """

    problems: Sequence[tuple[str, Mapping[str, str]]] = ()
    files: Sequence[Sequence[str]] = ()
    fields: Sequence[str] = ()
    golds: Sequence[str] = ()
    gold: str = ""
    said: str = ""
    report: str = ""


def score(files: Sequence[str], gold: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Score files for programs and agents that call an endpoint.

    Args:
        files: the paths of submissions or of files with both predictions and references.
        gold: the path of the gold file, or None without a gold file.
        options: the options of `api.score`.

    Returns:
        The JSON document of the scores.

    Raises:
        ValueError: the files cannot be scored.
    """
    paths = [*files, *([gold] if gold else [])]
    inputs = [Input(path, name) for path, name in zip(files, name_files(files))]
    try:
        result = evaluate(inputs, Input(gold) if gold else None, make_settings(options))
        document: dict[str, Any] = _hide_folders(_cut_edits(word(build_document(result))), paths)
    except ValueError as error:
        raise ValueError(_hide_folders(str(error), paths)) from None
    return document


def _cut_edits(document: Document) -> Document:
    """Truncate the lists of edits of the worst answers, since a long answer may have an edit for each character."""
    for submission in document["submissions"]:
        for answer in submission.get("worst", ()):
            for part in (answer, *answer.get("leaves", ())):
                if "edits" in part:
                    part["edits"] = part["edits"][: limits.MAX_EDITS]
    return document


def show(
    files: Sequence[str], gold: str, names: Mapping[str, str], options: Mapping[str, Any], report: str
) -> dict[str, Any]:
    """Score files for display on the page.

    Args:
        files: the paths of all files in any order, including the gold file and an archive of images if there are any.
        gold: the name of the file that the visitor chose as the gold file, or "" to find the gold file automatically.
        names: the names that the visitor gave to submissions, keyed by file path.
        options: the options of `api.score`.
        report: the path of the report to write.

    Returns:
        The fields of `Shown`.
    """
    errors: list[ValueError] = []
    shown = Shown()
    with _keep(errors):
        shown = _show(dict.fromkeys(files), gold, names, make_settings(options), report, errors)
    problems = []
    for error in errors:
        message = (
            error.message
            if isinstance(error, InputError)
            else Message("", "{error}", {"error": reword(str(error), "page")})
        )
        more = {ADD_FILES: ""} if "{do.add_" in message.sentence else {}
        problems.append((message.text("page"), {**more, **message.find_options()}))
    content: dict[str, Any] = _hide_folders(shown._replace(problems=problems)._asdict(), files)
    return content


def _show(
    files: Iterable[str], gold: str, given: Mapping[str, str], settings: Settings, report: str, errors: list[ValueError]
) -> Shown:
    """Score files, write the report, and append any problems to the errors."""
    archives = [path for path in files if path.lower().endswith(ARCHIVE)]
    paths = [path for path in files if path not in archives]
    if not paths:
        raise make_error(archives[0], "a zip file may contain only page images: add the files with the answers")
    reading = make_reading(settings, find_scorers(settings)[0])
    labels, tables = dict(zip(paths, name_files(paths))), {}
    for number, path in enumerate(paths, 1):
        tell(f"reading {number} of {count_noun(len(paths), 'file')}")
        with _keep(errors):
            tables[path] = read_table(path, settings, reading.of_values)
    places = find_golds(list(tables.values()), reading) if len(tables) > 1 else []
    golds = [labels[path] for place, path in enumerate(tables) if place in places]
    if gold not in golds:
        named = [name for name in golds if is_named_gold(name)]
        gold = next(iter(golds if len(golds) == 1 else named), "")
    likely = gold or next(iter(golds), "")  # so that the visitor is also told what else is wrong
    gold_path = next((path for path in tables if labels[path] == likely), "")
    submissions = [path for path in tables if path != gold_path]
    usual = drop_shared_prefix([labels[path] for path in submissions])
    names = {path: given.get(path) or name for path, name in zip(submissions, usual)}
    roles = {**dict.fromkeys(archives, IMAGES), **dict.fromkeys(names, SUBMISSION), gold_path: GOLD}
    fields = dict.fromkeys(field for table in tables.values() for field in table.fields if len(field) <= _MAX_NAME)
    shown = Shown(
        files=[[os.path.basename(path), roles.get(path, UNREAD), names.get(path, "")] for path in files],
        fields=list(fields)[:_MAX_FIELDS],
        golds=golds if len(golds) > 1 else (),
        gold=gold,
        said=WHICH_GOLD if gold != likely else "",
    )
    if not submissions:
        return shown
    if settings.baseline not in names.values():  # it was chosen for other files
        settings = replace(settings, baseline=None)
    is_left = bool(errors) and len(tables) == 1  # what it lacks may be in a file that could not be read
    with _keep([] if is_left else errors):
        inputs = [Input(tables[path], name) for path, name in names.items()]
        result = _evaluate(inputs, Input(tables[gold_path]) if gold_path else None, settings, errors)
        if gold != likely:
            return shown
        _write_report(report, result, archives, errors)
        scores = "; ".join(
            f"{scored.scorer.label} of {scored.name}: {PERCENT.format(scored.anls)}"
            for scored in result.submissions[:10]
        )
        return shown._replace(
            said=f"{scores}. {count_noun(len(result.hints), 'hint')}." if result.hints else f"{scores}.",
            report=report,
        )
    return shown


@contextmanager
def _keep(errors: list[ValueError]) -> Iterator[None]:
    """Append a ValueError from the body to the errors instead of raising it."""
    try:
        yield
    except ValueError as error:
        errors.append(error)


def _evaluate(inputs: Sequence[Input], gold: Input | None, settings: Settings, errors: list[ValueError]) -> Result:
    """Score submissions. If one of several submissions cannot be scored, append its error to the errors and score the
    others.
    """
    total, done = sum(len(each.data.records) for each in inputs), 0
    tell(f"scoring {count_noun(total, 'answer')}")

    def show_progress(scored: int) -> None:
        nonlocal done
        done += scored
        tell(f"scoring {done:,} of {total:,} answers" if done < total else "comparing")

    try:
        return evaluate(inputs, gold, settings, show_progress)
    except InputError as error:
        where = error.message.where
        good = [each for each in inputs if where != each.name and not where.startswith(each.data.name)]
        if len(good) in (0, len(inputs)):
            raise
        errors.append(error)
    return _evaluate(good, gold, settings, errors)


def _write_report(path: str, result: Result, archives: Sequence[str], errors: list[ValueError]) -> None:
    """Write the report, and append any problem with an archive of images to the errors."""
    from anls_metric.analysis.images import Images
    from anls_metric.document import REPORT
    from anls_metric.report.html import as_html

    images = Images(max_bytes=limits.MAX_IMAGES)
    for archive in archives[:1]:
        with _keep(errors):
            images = Images(archive, max_bytes=limits.MAX_IMAGES)
    page = as_html(build_document(result, {REPORT}, images, limits.MAX_REPORT), "page")
    make_room(get_folder(), limits.MAX_KEPT - limits.MAX_COMING - limits.MAX_WRITTEN)
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as stream:
        stream.write(page)


def name_files(paths: Sequence[str]) -> list[str]:
    """Name submissions after their file stems, with a number appended if a name is already taken.

    Example:
        >>> name_files(["/a/run.json", "/b/run.json", "/b/my model.jsonl"])
        ['run', 'run (2)', 'my model']
    """
    names: list[str] = []
    for stem in map(get_stem, paths):
        name, number = stem, 1
        while name in names:
            number += 1
            name = f"{stem} ({number})"
        names.append(name)
    return names


def _hide_folders(content: Any, files: Sequence[str]) -> Any:
    """Remove the folders of the given files from JSON content, and replace lone surrogates, which cannot be encoded."""
    text = json.dumps(content, ensure_ascii=False)
    for path in files:
        text = text.replace(os.path.join(os.path.dirname(path), ""), "")
    return json.loads(text.encode("utf-8", "replace"))
