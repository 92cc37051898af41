"""Files that are written aside and renamed when they are whole: results.json, and any other.

results.json has every answer with its score, with the keys of PyPI anls, and is written as the answers are scored.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from anls_metric.analysis.scored import ANSWER_TYPES, Scored, ScoredSet
from anls_metric.reading import remedies
from anls_metric.reading.remedies import Remedy
from anls_metric.reading.rows import InputError
from anls_metric.reading.values import as_json
from anls_metric.report.document import RESULTS_FILE

_BEGINNING = '{"inputs": '
_UNFINISHED = ".unfinished"


class ResultsFile:
    """A folder's results.json: written aside, and renamed when it is whole, so that nobody ever sees a part of it.

    What is written aside has a name of its own that cannot be foreseen, and is locked: a run that was killed leaves it
    unlocked, and the next one removes it.

    Args:
        folder: where to write; it is made where it is not there.
        inputs: the files that are scored, which the results name.
        force: whether to overwrite the results of other inputs.

    Raises:
        InputError: there are results of other inputs, or the file is one of the inputs. OSError: it cannot be written.
    """

    def __init__(self, folder: str, inputs: Sequence[str], force: bool = False) -> None:
        self.path = os.path.join(folder, RESULTS_FILE)
        self._folder = folder
        self._inputs = [path if path == "-" else os.path.abspath(path) for path in inputs]
        self._force = force
        self._separator = ""

    def __enter__(self) -> ResultsFile:
        os.makedirs(self._folder, exist_ok=True)
        self._refuse_to_overwrite()
        self._file, self._aside = _open_aside(self.path, "ascii")
        self._write(f'{_BEGINNING}{json.dumps(self._inputs)},\n"per_sample_result": {{')
        return self

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
            self._write(f"{self._separator}\n{json.dumps(one.row.id)}: {json.dumps(sample)}")
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
        self._write("\n},\n" + json.dumps(totals)[1:] + "\n")
        self._refuse_to_overwrite()  # somebody else may have written there in the meantime
        try:
            self._file.flush()
            os.replace(self._aside, self.path)
        except OSError as error:
            raise _named(error, self.path) from None

    def _write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError as error:  # a full disk does not say which file it was
            raise _named(error, self.path) from None

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):
            os.unlink(self._aside)
        with suppress(OSError):  # what could not be written is tried once more
            self._file.close()


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
        return
    try:
        file, aside = _open_aside(path, "utf-8")
    except OSError as error:
        raise _named(error, path) from None
    try:
        with file:
            file.write(content)
            file.flush()
            os.replace(aside, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(aside)
        raise _named(error, path) from None


def _named(error: OSError, path: str) -> OSError:
    return OSError(error.errno, error.strerror, path)


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


def _open_aside(path: str, encoding: str) -> tuple[IO[str], str]:
    """A new file beside another one, locked, and its name. What killed runs left there goes."""
    folder, beginning = os.path.dirname(path) or ".", f".{os.path.basename(path)}."
    _remove_left_overs(folder, beginning)
    while True:
        number, name = tempfile.mkstemp(_UNFINISHED, beginning, folder)
        if _lock(number) is not False and os.path.exists(name):  # else another run takes it for a left-over
            break
        os.close(number)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)  # as any new file, and not for its owner alone
    return open(number, "w", encoding=encoding, newline="\n"), name


def _remove_left_overs(folder: str, beginning: str) -> None:
    for entry in os.scandir(folder):
        ours = entry.name.startswith(beginning) and entry.name.endswith(_UNFINISHED)
        if not ours or not entry.is_file(follow_symlinks=False):
            continue
        with suppress(OSError):
            number = os.open(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if stat.S_ISREG(os.fstat(number).st_mode) and _lock(number) is True:
                    os.unlink(entry.path)
            finally:
                os.close(number)


def _lock(number: int) -> bool | None:
    """Lock a file until it is closed: False where somebody else has locked it, None where files cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
