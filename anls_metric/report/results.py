"""Files that are written aside and renamed when they are whole: results.json, and any other.

results.json has every answer with its score, with the keys of PyPI anls, and is written as the answers are scored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from tempfile import NamedTemporaryFile
from typing import IO, Any

from anls_metric.analysis.scored import ANSWER_TYPES, Scored, ScoredSet
from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.values import as_json
from anls_metric.report.document import RESULTS_FILE

_BEGINNING = '{"inputs": '


class ResultsFile:
    """A folder's results.json, written while the answers are scored. Nobody sees it before it is whole.

    Args:
        folder: where to write; it is made where it is not there.
        inputs: the files that are scored, which the results name.
        force: whether to overwrite the results of other inputs.

    Raises:
        InputError: there are results of other inputs, or the file is one of the inputs. OSError: it cannot be written.
    """

    def __init__(self, folder: str, inputs: Sequence[str], force: bool = False) -> None:
        self.path = os.path.join(folder, RESULTS_FILE)
        self._inputs = [path if path == "-" else os.path.abspath(path) for path in inputs]
        self._force = force
        self._separator = ""
        self._stack = ExitStack()

    def __enter__(self) -> ResultsFile:
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        self._refuse_to_overwrite()
        self._file = self._stack.enter_context(open_aside(self.path, "ascii"))
        self._file.write(f'{_BEGINNING}{json.dumps(self._inputs)},\n"per_sample_result": {{')
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def _refuse_to_overwrite(self) -> None:
        refuse_input(self.path, self._inputs, remedies.RESULTS_ELSEWHERE)
        found = None if self._force else _inputs_of(self.path)
        if found is not None and found != self._inputs:
            of = f"of other inputs ({', '.join(found)})" if found else "that name no inputs"
            raise InputError(f"there are results {of}", self.path, remedies.OVERWRITE_RESULTS)

    def add(self, scored: Sequence[Scored]) -> None:
        """Write these answers as well."""
        for one in scored:
            asked = one.row.record.get("question")
            sample = {
                "score": one.score,
                "question": asked if isinstance(asked, str) else "",
                "gt": list(map(as_json, one.row.references)),
                "det": "" if one.row.prediction is None else as_json(one.row.prediction),
                "info": one.zero,
            }
            self._file.write(f"{self._separator}\n{json.dumps(one.row.id)}: {json.dumps(sample)}")
            self._separator = ","

    def finish(self, scored_set: ScoredSet, answer_types: bool = False) -> None:
        """Write what is said of the whole, and put the file in its place.

        Args:
            scored_set: what was scored.
            answer_types: whether it was broken down by the fields of `ANSWER_TYPES`.
        """
        by_type = {
            ANSWER_TYPES[field][0]: {value: tally.mean for value, tally in scored_set.groups[field].items()}
            for field in (ANSWER_TYPES if answer_types else ())
        }
        totals = {
            "result": {"score": scored_set.mean, "signature": scored_set.signature},
            "scores_by_types": {name: by_type.get(name, {}) for name, _ in ANSWER_TYPES.values()},
        }
        self._file.write("\n},\n" + json.dumps(totals)[1:] + "\n")
        self._refuse_to_overwrite()  # somebody else may have written there in the meantime


def refuse_input(path: str, inputs: Sequence[str], remedy: Remedy | str = "write it to another file") -> None:
    """Refuse to overwrite one of the files that are scored.

    Raises:
        InputError: it is one of them.
    """
    for one in inputs:
        with suppress(OSError):
            if os.path.samefile(one, path):
                raise InputError("it is an input, and would be overwritten", path, remedy)


def write_whole(path: str, content: str) -> None:
    """Write a text file, which nobody sees before it is whole.

    Raises:
        OSError: it cannot be written.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or the terminal
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(content)
    else:
        with open_aside(path, "utf-8") as file:
            file.write(content)


@contextmanager
def open_aside(path: str, encoding: str) -> Iterator[IO[str]]:
    """A new file beside another one, which it replaces when it is whole. Where something fails, it goes.

    Raises:
        OSError: it cannot be written; it names the path.
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
        os.chmod(aside, 0o666 & ~mask)  # as any new file, and not for its owner alone
        os.replace(aside, path)
    except BaseException as error:
        if aside is not None:
            with suppress(OSError):
                os.unlink(aside)
        if isinstance(error, OSError) and (aside is None or error.filename in (None, aside)):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _inputs_of(path: str) -> list[str] | None:
    """The inputs that a results.json names, none where it names none; None where there is no such file."""
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
    return inputs if isinstance(inputs, list) and all(isinstance(one, str) for one in inputs) else []
