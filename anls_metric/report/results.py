"""Writes results.json and other files. A file is written under a temporary name, and renamed when it is complete.

results.json holds every answer with its score, under the keys of PyPI anls. It is written during scoring.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from tempfile import NamedTemporaryFile
from typing import IO, Any

from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ANSWER_TYPES, ScoredRow
from anls_metric.reading import remedies
from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.values import as_json
from anls_metric.report.document import get_question_text

_BEGINNING = '{"inputs": '


def name_folder(submission: str) -> str:
    """Name the folder of a submission. A name from a file cannot lead outside the output folder.

    Example:
        >>> name_folder("Qwen/Qwen2.5-VL"), name_folder("../../etc")
        ('Qwen/Qwen2.5-VL', 'etc')
    """
    parts = submission.replace("\\", "/").replace("\0", "").split("/")
    return os.path.join(*([part for part in parts if part not in ("", ".", "..")] or ["submission"]))


class ResultsFile:
    """A context manager that writes the scores of all answers as JSON. The file appears when it is complete.

    Args:
        path: the file to write; its folder is created if it is missing.
        inputs: the scored files, which the results name.
        force: whether to overwrite the results of other inputs.

    Raises:
        InputError: the file holds results of other inputs, or is one of the inputs.
        OSError: the file cannot be written.
    """

    def __init__(self, path: str, inputs: Sequence[str], force: bool = False) -> None:
        self.path = path
        self._inputs = [path if path == "-" else os.path.abspath(path) for path in inputs]
        self._force = force
        self._separator = ""
        self._stack = ExitStack()

    def __enter__(self) -> ResultsFile:
        with suppress(FileExistsError):  # of a file, which is refused below
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        self._refuse_to_overwrite()
        self._file = self._stack.enter_context(open_aside(self.path, "ascii"))
        self._file.write(f'{_BEGINNING}{json.dumps(self._inputs)},\n"per_sample_result": {{')
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def discard(self) -> None:
        """Delete the unfinished file."""
        reason = ValueError("the results are void")
        with suppress(ValueError):
            self._stack.__exit__(ValueError, reason, None)

    def _refuse_to_overwrite(self) -> None:
        refuse_input(self.path, self._inputs, remedies.RESULTS_ELSEWHERE)
        inputs = None if self._force else _read_inputs(self.path)
        if inputs is not None and inputs != self._inputs:
            of = f"of other inputs ({', '.join(inputs)})" if inputs else "of unknown inputs"
            raise InputError(f"the file holds results {of}", self.path, remedies.OVERWRITE_RESULTS)

    def add(self, answers: Sequence[ScoredRow]) -> None:
        """Write more answers. OSError: the file cannot be written."""
        for scored in answers:
            row = scored.row
            sample: dict[str, Any] = {
                "score": scored.score,
                "question": get_question_text(row) or "",
                "gt": list(map(as_json, row.references)),
                "det": _write_answer(row),
                "info": scored.zero,
            }
            if scored.runs:
                sample["runs"] = [{"det": _write_answer(run.row), "score": run.score} for run in scored.runs]
            self._file.write(f"{self._separator}\n{json.dumps(row.id)}: {json.dumps(sample)}")
            self._separator = ","

    def finish(self, entry: Entry, answer_types: bool = False) -> None:
        """Write the scores of the whole set. The file appears when the context ends.

        Args:
            entry: the submission with the scores of all answers.
            answer_types: whether the scores are grouped by the fields of `ANSWER_TYPES`.

        Raises:
            InputError: another run has written results of other inputs in the meantime.
            OSError: the file cannot be written.
        """
        by_type = {
            ANSWER_TYPES[field][0]: {value: tally.mean for value, tally in entry.scored_set.groups[field].items()}
            for field in (ANSWER_TYPES if answer_types else ())
        }
        totals = {
            "result": {"score": entry.scored_set.mean, "signature": entry.signature},
            "scores_by_types": {name: by_type.get(name, {}) for name, _ in ANSWER_TYPES.values()},
        }
        self._file.write("\n},\n" + json.dumps(totals)[1:] + "\n")
        self._refuse_to_overwrite()  # another run may have written results in the meantime


def _write_answer(row: Row) -> Any:
    return "" if row.prediction is None else as_json(row.prediction)


def refuse_input(path: str, inputs: Sequence[str], remedy: Remedy | str = "write it to another file") -> None:
    """Refuse to overwrite an input.

    Args:
        path: the file to write.
        inputs: the scored files.
        remedy: what the error tells the user to do.

    Raises:
        InputError: ``path`` is one of the inputs, or its folder does not exist.
    """
    folder = os.path.dirname(path)
    if os.path.isfile(folder):
        raise InputError(f"{folder} is a file, not a folder", path, "name another folder")
    if folder and not os.path.isdir(folder):
        raise InputError(f"there is no folder {folder}", path, "make it, or write to another folder")
    for source in inputs:
        with suppress(OSError):
            if os.path.samefile(source, path):
                raise InputError("the file is an input, and would be overwritten", path, remedy)


def refuse_report_path(path: str) -> None:
    """Refuse a folder, or the name of a file of another format, as the path of a report.

    Raises:
        InputError: the path is a folder, or its name ends in neither .html nor .htm.
    """
    if not path:
        raise InputError("the name of the report is empty", remedy="name a file, such as report.html")
    if os.path.isdir(path):
        raise InputError(f"{path!r} is a folder", remedy="name a file in it, such as report.html")
    is_pipe = os.path.exists(path) and not os.path.isfile(path)
    if not path.lower().endswith((".html", ".htm")) and not is_pipe:
        raise InputError(f"{path!r} does not end in .html", remedy=f"name a file such as {path}.html")


def write_whole(path: str, content: str) -> None:
    """Write a text file as UTF-8. The file appears when it is complete.

    Raises:
        OSError: the file cannot be written.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or the terminal
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(content)
    else:
        with open_aside(path, "utf-8") as file:
            file.write(content)


@contextmanager
def open_aside(path: str, encoding: str) -> Iterator[IO[str]]:
    """Open a new file in the same folder. It replaces ``path`` when the context ends, or is removed after an error.

    Args:
        path: the file to replace or create.
        encoding: the encoding of the new file.

    Raises:
        OSError: the file cannot be written; the error names ``path``.
    """
    folder, name = os.path.split(path)
    aside = None
    try:
        with NamedTemporaryFile(
            "w",
            encoding=encoding,
            newline="",
            dir=folder or ".",
            prefix=f".{name}.",
            suffix=".unfinished",
            delete=False,
        ) as file:
            aside = file.name
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)  # the usual permissions of a new file, since temporary files are private
        os.replace(aside, path)
    except BaseException as error:
        if aside is not None:
            with suppress(OSError):
                os.unlink(aside)
        if isinstance(error, OSError) and (aside is None or error.filename in (None, aside)):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _read_inputs(path: str) -> list[str] | None:
    """Read the inputs that a results.json names: [] if it names none, None if there is no such file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            beginning = file.readline()
    except FileNotFoundError:
        return None
    except OSError:
        return []
    try:
        inputs, _ = json.JSONDecoder().raw_decode(beginning.removeprefix(_BEGINNING))
    except ValueError:
        return []
    return inputs if isinstance(inputs, list) and all(isinstance(path, str) for path in inputs) else []
