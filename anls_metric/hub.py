"""Fetches the text columns of a dataset from the Hugging Face Hub, in a separate process.

Since a process can be ended whatever its threads are waiting for, an unresponsive Hub cannot block the caller, and no
library's thread outlives the interpreter. The process reads a description of the dataset from standard input, and
writes the rows or an error to standard output.
"""

from __future__ import annotations

import fnmatch
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from anls_metric.endings import clean_up
from anls_metric.messages import list_some, make_error
from anls_metric.reading.formats import list_columns

Result = TypeVar("Result")

SILENCE = 45.0
"""The number of seconds without a finished request after which a fetch is aborted."""

PATIENCE = 10.0
"""The number of seconds after which an unfinished fetch prints a note."""

_CONNECTIONS = 16
_RETRIES = 4
_ATTEMPTS = 5  # to get a range over a bad connection
_BUSY = (429, 503)
_UNREAD = ("ocr",)  # text columns that are large and that nobody scores
_AS_FILE = "pass the path of the gold file"


class Wanted(NamedTuple):
    """A dataset to fetch.

    Attributes:
        name: the name of the gold set, which the progress bar and errors show.
        dataset: the id of the dataset on the Hub.
        revision: the commit hash of the dataset.
        files: the pattern for the paths of the Parquet files.
        columns: the columns that the files must have.
        rows: the number of rows that the files must have in total.
        silence: the number of seconds without a finished request after which the fetch is aborted.
        patience: the number of seconds after which an unfinished fetch prints a note.
    """

    name: str
    dataset: str
    revision: str
    files: str
    columns: Sequence[str]
    rows: int
    silence: float = SILENCE
    patience: float = PATIENCE


def fetch(wanted: Wanted) -> list[dict[str, Any]]:
    """Fetch the text columns of a dataset in a new process, which is ended before this function returns.

    Raises:
        InputError: a library is not installed, the fetch fails, or the dataset does not have the expected rows and
            columns.
    """
    try:
        import huggingface_hub  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        sentence = "fetching it needs {module}: pip install 'anls-metric[hub]', or " + _AS_FILE
        raise make_error(wanted.name, sentence, module=error.name) from None
    program = f"import sys; sys.path[:] = {sys.path!r}; from anls_metric.hub import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches only this process, which ends the other
    )
    try:
        with clean_up(process.kill):
            output, _ = process.communicate(json.dumps(wanted).encode())
    finally:
        process.kill()
        process.wait()
    rows = [json.loads(line) for line in output.splitlines()]
    if process.returncode == 0 and len(rows) == wanted.rows:
        return rows
    problem = rows[-1] if process.returncode == 1 and rows else {}
    sentence = problem.pop("sentence", "the fetch ended with the status {status}: try again, or " + _AS_FILE)
    raise make_error(wanted.name, sentence, **{"status": process.returncode, **problem})


# The process


class _RefusedError(Exception):
    """Raised with a sentence that explains why the data are unavailable, and with the values that the sentence
    contains.
    """

    def __init__(self, sentence: str, **values: Any) -> None:
        super().__init__(sentence)
        self.problem = {"sentence": sentence, **values}


def main() -> None:
    """Fetch the dataset that standard input describes, and print its rows or an error as JSON lines."""
    wanted = Wanted(*json.load(sys.stdin))
    try:
        lines, status = [json.dumps(row) for row in _fetch(wanted)], 0
    except _RefusedError as error:
        lines, status = [json.dumps(error.problem)], 1
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    os._exit(status)  # without waiting for threads that wait for the Hub


def _fetch(wanted: Wanted) -> list[dict[str, Any]]:
    """Fetch the footers of all files, which locate the columns, and then the text columns of all row groups in
    parallel.
    """
    from huggingface_hub.utils import logging, tqdm
    from pyarrow.parquet import ParquetFile

    logging.set_verbosity_error()  # otherwise it prints a line for each of many attempts
    requests = _Requests(wanted)

    def open_file(path: str, metadata: Any = None) -> Any:
        return ParquetFile(_RemoteFile(_locate(wanted, "resolve", path), sizes[path]), metadata=metadata)

    def read_group(path: str, metadata: Any, group: int) -> Any:
        file = open_file(path, metadata)
        columns = [name for name in list_columns(file.schema_arrow, path) if name not in _UNREAD]
        return file.read_row_group(group, columns, use_threads=False).to_pylist()

    (sizes,) = requests.send([(_list_sizes, wanted)])
    paths = sorted(fnmatch.filter(sizes, wanted.files))
    files = dict(zip(paths, requests.send([(open_file, path) for path in paths])))
    _check(wanted, list(files.values()))
    groups = [
        (read_group, path, file.metadata, group) for path, file in files.items() for group in range(file.num_row_groups)
    ]
    with tqdm(
        desc=f"fetching {wanted.name}", leave=False, disable=None, total=len(groups)
    ) as bar:  # only on a terminal
        return [row for rows in requests.send(groups, bar.update) for row in rows]


def _check(wanted: Wanted, files: Sequence[Any]) -> None:
    """Check that the files have the expected rows and columns, because pyarrow silently skips missing columns."""
    rows = sum(file.metadata.num_rows for file in files)
    if rows != wanted.rows:
        sentence = "the Hub has {count:,} rows, expected {expected:,}, so nothing is kept: try again, or " + _AS_FILE
        raise _RefusedError(sentence, count=rows, expected=wanted.rows)
    missing = dict.fromkeys(name for file in files for name in wanted.columns if name not in file.schema_arrow.names)
    if missing:
        sentence = "the files on the Hub have no column {names}: " + _AS_FILE
        raise _RefusedError(sentence, names=list_some(missing))


def _get_endpoint() -> str:
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def _locate(wanted: Wanted, verb: str, path: str) -> str:
    """Return the URL of a file ("resolve") or of the list of files in a folder ("tree")."""
    start = f"{_get_endpoint()}/api" if verb == "tree" else _get_endpoint()
    return f"{start}/datasets/{wanted.dataset}/{verb}/{wanted.revision}/{quote(path)}"


def _get(url: str, attempts: int = 1, **headers: str) -> Any:
    """Get a response from the Hub. The client removes the user's token when it follows a redirect to another host."""
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

    response = http_backoff(
        "GET",
        url,
        headers={**build_hf_headers(), **headers},
        timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT,
        max_retries=attempts - 1,
        retry_on_status_codes=(),  # `_Requests` does so
    )
    hf_raise_for_status(response)
    return response


def _list_sizes(wanted: Wanted) -> dict[str, int]:
    """Return the sizes of the files in the folder of the dataset, keyed by path. A second page of the list is rejected,
    because its URL could lead anywhere.
    """
    response = _get(_locate(wanted, "tree", os.path.dirname(wanted.files)))
    if "next" in response.links:
        raise _RefusedError("the Hub lists more files than these data have, so nothing is kept: " + _AS_FILE)
    return {entry["path"]: entry.get("size", 0) for entry in response.json()}


class _RemoteFile(io.RawIOBase):
    """A file on the Hub, from which each read fetches a range of bytes."""

    def __init__(self, url: str, size: int) -> None:
        self._url, self._size, self._place = url, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        self._place = place + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        return self._place

    def read(self, count: int = -1) -> bytes:
        end = self._size if count < 0 else min(self._place + count, self._size)
        if end <= self._place:
            return b""
        content: bytes = _get(self._url, _ATTEMPTS, range=f"bytes={self._place}-{end - 1}").content
        if len(content) != end - self._place:
            raise _RefusedError("the Hub did not send the range that was asked for: try again, or " + _AS_FILE)
        self._place = end
        return content


class _Requests:
    """Sends requests in threads, and gives up if no request finishes for some time or the parent process ends."""

    def __init__(self, wanted: Wanted) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._pool, self._wanted = ThreadPoolExecutor(_CONNECTIONS), wanted
        self._last = self._start = time.monotonic()
        self._parent, self._has_told = os.getppid(), False

    def send(self, calls: Iterable[tuple[Any, ...]], update: Callable[[], object] = lambda: None) -> list[Any]:
        """Make several calls in parallel, each given as a function and its arguments, and return their results in the
        given order.
        """
        from concurrent.futures import FIRST_COMPLETED, wait

        futures = [self._pool.submit(self._call, *call) for call in calls]
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:  # the first failure ends the fetch
                future.result()
                update()
            if os.getppid() != self._parent:  # it was killed
                os._exit(1)
            if time.monotonic() - self._start > self._wanted.patience and not self._has_told:
                self._has_told = True
                print(f"{self._wanted.name}: still fetching from {_get_endpoint()}", file=sys.stderr, flush=True)
            if time.monotonic() - self._last > self._wanted.silence:
                sentence = "the Hub has not answered for {seconds:.0f} s: check the network, or " + _AS_FILE
                raise _RefusedError(sentence, seconds=self._wanted.silence)
        return [future.result() for future in futures]

    def _call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function and, while the Hub is busy, repeat the call after the time that the Hub requests, or after 1,
        2, 4 and 8 seconds.
        """
        for attempt in count():
            try:
                return function(*arguments)
            except _RefusedError:
                raise
            except Exception as error:  # of three HTTP libraries, one for each major version of huggingface_hub
                response = _find_response(error)
                told = str(getattr(response, "headers", {}).get("Retry-After", ""))
                seconds = float(told) if told.isdigit() else 2.0**attempt
                is_busy = getattr(response, "status_code", 0) in _BUSY
                if not is_busy or seconds > SILENCE or attempt == _RETRIES:
                    raise _explain(self._wanted, error) from None
            finally:
                self._last = time.monotonic()
            self._last += seconds
            time.sleep(seconds)
        raise AssertionError("count() has no end")


def _list_causes(error: BaseException | None) -> list[BaseException]:
    """List an error, its cause, the cause of its cause, and so on."""
    causes: list[BaseException] = []
    while error is not None:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes


def _find_response(error: BaseException) -> Any:
    """Find the Hub's response in an error or one of its causes, or return None if no response led to the error."""
    responses = [getattr(each, "response", None) for each in _list_causes(error)]
    return next((each for each in responses if each is not None), None)  # a response with an error status is falsy


def _explain(wanted: Wanted, error: BaseException) -> _RefusedError:
    """Return an error that explains why a fetch failed, based on the Hub's response."""
    from huggingface_hub import constants, get_token

    response = _find_response(error)
    status, code = getattr(response, "status_code", 0), getattr(response, "headers", {}).get("X-Error-Code")
    if constants.HF_HUB_OFFLINE:
        sentence = "it is not in the cache, and HF_HUB_OFFLINE is set: unset it, or " + _AS_FILE
    elif code == "GatedRepo" or status == 403:
        sentence = "it is gated: accept its terms at {source}, and set HF_TOKEN to your token, or " + _AS_FILE
    elif status == 401 and code != "RepoNotFound" and get_token():
        sentence = "the Hub rejects your token: correct or unset HF_TOKEN, or run hf auth logout"
    elif status in (401, 404):
        sentence = "the Hub does not have {source} at {revision}: " + _AS_FILE
    elif status in _BUSY:
        sentence = "the Hub is busy (status {status}): try again later, or " + _AS_FILE
    else:
        sentence = "cannot fetch it from {endpoint} ({problem:.100}): check the network, or " + _AS_FILE
    return _RefusedError(
        sentence,
        source=f"https://huggingface.co/datasets/{wanted.dataset}",
        revision=wanted.revision,
        status=status,
        endpoint=constants.ENDPOINT,
        problem=str(_list_causes(error)[-1]),
    )
