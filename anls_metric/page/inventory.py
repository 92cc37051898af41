"""Finds out which upload is the gold file, answers, or a log that holds both, and names the submissions."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.records import Records
from anls_metric.reading.sources import Reading, Source
from anls_metric.reading.submissions import Input, Submission, find_submissions

LONGEST_NAME = 100  # characters of the name of a submission

_HEAD = 64 * 1024  # bytes of a file that are searched for the name of its model
_MODEL_FIELDS = ("model", "model_name", "model_id", "model_name_or_path", "checkpoint", "system")
_MODEL = re.compile(rf'"(?:{"|".join(_MODEL_FIELDS)})"[ \t]?:[ \t]?"([^"\\]{{1,200}})"')


class Inventory(NamedTuple):
    """Which upload is which.

    Attributes:
        gold: the path of the gold file; None if each file has its own accepted answers.
        answers: the paths of the other files, in the order in which they are scored.
        names: the names of the submissions by path. Files with the same name are runs of one model.
        labels: the default names by path.
        broken: the errors of files that cannot be read, by path.
        notes: sentences about files that are left out.
    """

    gold: str | None
    answers: list[str]
    names: dict[str, str]
    labels: dict[str, str]
    broken: dict[str, ValueError | OSError]
    notes: list[str]

    def list_files(self, without: Container[str] = ()) -> list[str]:
        """List the files in the order of the command, each as ``FILE`` or ``NAME=FILE``.

        Args:
            without: the names of submissions to leave out.
        """
        gold = [os.path.basename(self.gold)] if self.gold else []
        named = [(self.names[path], path) for path in self.answers if self.names[path] not in without]
        return gold + [
            os.path.basename(path) if name == _get_stem(path) else f"{name}={os.path.basename(path)}"
            for name, path in named
        ]


def take_inventory(
    paths: Iterable[str],
    gold: str | None,
    reading: Reading,
    opened: Mapping[str, Records],
    names: Mapping[str, str] | None = None,
) -> Inventory:
    """Find out which upload is which.

    Args:
        paths: the uploads, in any order.
        gold: the gold file, if the visitor chose it.
        reading: how to read the files.
        opened: the records of the files by path. Scoring continues with these records, so that a file is read once.
        names: the names that the visitor gave to submissions, by path.

    Raises:
        InputError: several files could be the gold file.
    """
    golds: list[str] = []
    both: list[str] = []
    others: list[str] = []
    broken: dict[str, ValueError | OSError] = {}
    for path in dict.fromkeys(paths):
        if path == gold:
            continue
        try:
            source = Source(opened[path], reading)
            has_references, has_both = bool(source.try_side("both").references), source.has_both_sides()
            if not has_references and source.holds_means:
                raise source.error_of_missing("answers", remedies.NO_PREDICTIONS)
        except (ValueError, OSError) as error:
            broken[path] = error
        else:
            (both if has_both else golds if has_references else others).append(path)
    if gold is None and len(set(map(_get_content, golds))) > 1:
        names_of_golds = list_some(label_files(golds, opened).values())
        problem = f"{len(golds)} files have accepted answers and no predictions ({names_of_golds})"
        raise InputError(problem, remedy=remedies.GOLD_FILE)
    chosen, notes = gold or next(iter(golds), None), []
    rest = [path for path in golds if path != chosen]
    if both or others or gold is None:  # otherwise a second file that looks like gold is the only file of answers
        notes = [f"{opened[path].name} is left out: it has accepted answers and no predictions" for path in rest]
        rest = []
    answers = [*both, *others, *rest]
    labels = label_files(answers, opened)
    called = {path: clean_submission_name((names or {}).get(path, "")) or label for path, label in labels.items()}
    return Inventory(chosen, answers, called, labels, broken, notes)


def find_submissions_of(
    inventory: Inventory, reading: Reading, opened: Mapping[str, Records], fields: Sequence[str]
) -> list[Submission]:
    """Find the submissions of an inventory: see `find_submissions`."""
    inputs = [Input(path, inventory.names[path], opened[path]) for path in inventory.answers]
    if inventory.gold is None:
        return find_submissions(inputs, None, (), reading, fields)
    gold = Input(inventory.gold, records=opened[inventory.gold])
    if not inputs:  # the error says what the file lacks
        return find_submissions([gold], None, (), reading, fields)
    return find_submissions(inputs, gold, (), reading, fields)


def _get_content(path: str) -> str:
    """Return what identifies the content of a file: the folder of an upload, a hash; the path of any other file."""
    folder = os.path.basename(os.path.dirname(path))
    return folder if len(folder) == 64 else path


# Names


def label_files(paths: Iterable[str], opened: Mapping[str, Records]) -> dict[str, str]:
    """Label files by their names, without the ending if the labels stay different.

    Files with the same name are labeled with the model that each file names, or with a number.
    """
    labels = {path: _get_stem(path) for path in paths}
    counts = Counter(labels.values())
    for stem in [stem for stem, number in counts.items() if number > 1]:
        group = [path for path in labels if labels[path] == stem]
        models = [_find_model(path, opened[path]) for path in group]
        if not all(models) or len(set(models)) < len(models) or counts.keys() & set(models):
            numbers = (f"{stem} ({number})" for number in count(1))
            models = [next(name for name in numbers if name not in counts) for _ in group]
        labels |= zip(group, models)
        counts.update(models)
    return labels


def clean_submission_name(name: str) -> str:
    """Clean the name of a submission, so that the command accepts it as ``NAME=FILE``.

    Example:
        >>> clean_submission_name("  Qwen/Qwen2=VL ")
        'Qwen-Qwen2-VL'
    """
    return " ".join(name.replace("/", "-").replace("\\", "-").replace("=", "-").split())[:LONGEST_NAME]


def _get_stem(path: str) -> str:
    name = Path(path).name.removesuffix(".gz")
    return os.path.splitext(name)[0] or name


def _find_model(path: str, records: Records) -> str:
    """Find the name of the model in the first record or the first bytes of a file; "" for none."""
    try:
        first = next(iter(records.first_records()), {})
        with open(path, "rb") as stream:
            head = _MODEL.search(stream.read(_HEAD).decode(errors="replace"))
    except (ValueError, OSError):
        return ""
    names = [value for value in map(first.get, _MODEL_FIELDS) if isinstance(value, str)]
    name = next(iter(names), head[1] if head else "")
    return clean_submission_name(name.rstrip("/").rpartition("/")[2])
