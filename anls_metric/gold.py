"""Gold data by name, such as ``docvqa:val``: a table of public datasets, and a fetch of their texts from the Hub.

Only the text columns are fetched, once. They are kept as JSON lines in ``$ANLS_CACHE``, or in ``~/.cache/anls``.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from anls_metric.core.choices import find_similar_name
from anls_metric.messages import InputError, list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.formats import Content, list_columns
from anls_metric.reading.reader import Input, check_paths
from anls_metric.reading.table import Table, make_table

Row = dict[str, Any]

QUESTION_ID = "questionId"
_CONNECTIONS = 16
_UNREAD = ("ocr",)  # text columns that are large, and that nobody scores
_AS_FILE = "pass the gold file as a file"


# Each function makes a row of a gold file from a row of a dataset, and its number from 0.


def _read_mmlongbench(row: Row, number: int) -> Row:
    return {QUESTION_ID: number, **{"gold" if name == "answer" else name: value for name, value in row.items()}}


def _read_chartqapro(row: Row, number: int) -> Row:
    """Show the earlier turns of a conversation. The last question is asked."""
    row = {QUESTION_ID: number, **{name.lower().replace(" ", "_"): value for name, value in row.items()}}
    *earlier, row["question"] = row["question"]
    if earlier:
        row["turns"] = [{"question": text, "answer": answer} for text, answer in zip(earlier, row["answer"])]
    return row


def _read_ocrbench(row: Row, number: int) -> Row:
    """Name the rule. A column without a value is absent, as in the file of the benchmark."""
    return {**{name: value for name, value in row.items() if value is not None}, "rule": "item"}


def _read_cord(row: Row, number: int) -> Row:
    return {QUESTION_ID: number, "answers": json.loads(row["ground_truth"])["gt_parse"]}


class GoldSet(NamedTuple):
    """A row of the table of gold data.

    Attributes:
        name: the name.
        dataset: the id of the dataset on the Hub.
        revision: its commit, in full: the Hub takes no shortened one.
        files: the pattern of its Parquet files.
        columns: the columns that the files must have. All other text columns are read, too.
        shown: the fields of a question that do not give its answer away.
        rows: the number of rows.
        license: the license tag of the dataset.
        citation: the paper.
        variant: the variant or rule that the name implies; None for the usual one.
        make_row: makes a row of a gold file.
        is_partial: whether the rule scores only some kinds of questions.
        about: what the line that says what was read adds under the usual variant.
        hash: the hash of the questions; "" until `tools/pin_gold.py` has printed it.
    """

    name: str
    dataset: str
    revision: str
    files: str
    columns: tuple[str, ...]
    shown: tuple[str, ...]
    rows: int
    license: str
    citation: str
    variant: str | None = None
    make_row: Callable[[Row, int], Row] = lambda row, number: row
    is_partial: bool = False
    about: str = ""
    hash: str = ""

    @property
    def tag(self) -> str:
        """The part of a signature that names the data."""
        return f"{self.name}@{self.revision[:7]}"

    @property
    def source(self) -> str:
        """The URL of the dataset."""
        return f"https://huggingface.co/datasets/{self.dataset}"


_DOCUMENT = ("docId", "ucsf_document_id", "ucsf_document_page_no")

_TABLE = (
    GoldSet(
        "docvqa:val",
        "lmms-lab-encoder/DocVQA",
        "539088ef8a8ada01ac8e2e6d4e372586748a265e",
        "DocVQA/validation-*.parquet",
        (QUESTION_ID, "question", "answers", "question_types", *_DOCUMENT),
        (QUESTION_ID, "question", *_DOCUMENT),
        5349,
        "apache-2.0",
        "https://arxiv.org/abs/2007.00398",
        about="the leaderboard scores with rrc",
    ),
    GoldSet(
        "infovqa:val",
        "lmms-lab-encoder/DocVQA",
        "539088ef8a8ada01ac8e2e6d4e372586748a265e",
        "InfographicVQA/validation-*.parquet",
        (QUESTION_ID, "question", "answers", "answer_type", "image_url"),
        (QUESTION_ID, "question", "image_url"),
        2801,
        "apache-2.0",
        "https://arxiv.org/abs/2104.12756",
        about="the leaderboard scores with rrc",
    ),
    GoldSet(
        "mmlongbench",
        "yubo2333/MMLongBench-Doc",
        "892279c4682a4c633c54aa25d30d51982f24e6b4",
        "data/train-*.parquet",
        ("doc_id", "question", "answer", "answer_format"),
        (QUESTION_ID, "question", "doc_id", "doc_type"),
        1091,
        "none",
        "https://arxiv.org/abs/2407.01523",
        "mmlongbench_doc",
        _read_mmlongbench,
    ),
    GoldSet(
        "chartqapro",
        "ahmed-masry/ChartQAPro",
        "e27c2874825874d6767d2bbc538ed4f0dc2c64c2",
        "data/test-*.parquet",
        ("Question", "Answer", "Question Type", "Year"),
        (QUESTION_ID, "question", "turns", "question_type", "paragraph"),
        1948,
        "mit",
        "https://arxiv.org/abs/2504.05506",
        "chartqapro",
        _read_chartqapro,
    ),
    GoldSet(
        "ocrbench_v2",
        "ling99/OCRBench_v2",
        "c7e7cdf23bdb6774661e9b0caf0d9935a42feb8b",
        "data/test-*.parquet",
        ("id", "question", "answers", "type", "eval"),
        ("id", "question", "type", "dataset_name"),
        10_000,
        "mit",
        "https://arxiv.org/abs/2501.00321",
        "ocrbench_v2",
        _read_ocrbench,
        is_partial=True,
    ),
    GoldSet(
        "cord:test",
        "naver-clova-ix/cord-v2",
        "7f0115a4b758a71d6473b8d085751692da2fef98",
        "data/test-*.parquet",
        ("ground_truth",),
        (QUESTION_ID,),
        100,
        "cc-by-4.0",
        "https://openreview.net/forum?id=SJl3z659UH",
        "anls_star",
        _read_cord,
    ),
)
GOLD: Mapping[str, GoldSet] = {row.name: row for row in _TABLE}
"""The gold data by name. Ids, revisions and counts are those of stored cards and of other people's pins."""


# Names


def find_gold(word: str) -> GoldSet | None:
    """Find the gold data of a name; None if the word is a file, or does not look like a name.

    Raises:
        InputError: the word looks like a name that does not exist.

    Example:
        >>> find_gold("docvqa:test")
        Traceback (most recent call last):
        anls_metric.messages.InputError: docvqa:test: no such file or gold data: did you mean docvqa:val?
    """
    if not re.fullmatch(r"\w[\w-]*(:[\w-]+)?", word) or os.path.exists(word):
        return None
    if word in GOLD:
        return GOLD[word]
    stem, colon, _ = word.partition(":")
    similar = find_similar_name(stem, GOLD)
    if similar:
        raise make_error(word, "no such file or gold data: did you mean {similar}?", similar=similar)
    if colon:
        raise make_error(word, "no such file or gold data: choose from {names}", names=", ".join(GOLD))
    return None


def is_name(word: str) -> bool:
    """Whether a word names gold data, and no file."""
    return word in GOLD and not os.path.exists(word)


def find_tag(digest: str) -> str:
    """Find the tag of the gold data whose questions have a hash; "" for none."""
    return next((row.tag for row in GOLD.values() if row.hash == digest), "")


def resolve(
    inputs: Sequence[Input], gold: Input | None, settings: Settings
) -> tuple[Sequence[Input], Input | None, Settings]:
    """Replace the name of gold data by its table: that of the gold file, or of the first input without one.

    Args:
        inputs: files and tables.
        gold: the gold file.
        settings: the options. Without a variant, they get the one that the name of the data implies.

    Raises:
        InputError: there is no such name, no submission, or the data cannot be fetched.
    """
    words = [gold, *inputs] if gold else list(inputs)
    for each in words[1:]:
        if is_name(each.path):
            raise make_error(each.path, "gold data go first: pass the name before the predictions, or with {use.gold}")
    row = find_gold(words[0].path) if words else None
    if row is None:
        return inputs, gold, settings
    if len(words) == 1:
        raise make_error(row.name, "there is nothing to score: pass the file of the predictions as well")
    check_paths(words[1:])
    table = read_gold(row, settings.variant)
    return words[1:], Input(table, row.name), replace(settings, variant=settings.variant or row.variant)


def read_gold(row: GoldSet, variant: str | None = None) -> Table:
    """Read gold data as a table, as if the user had passed a file of it. InputError: as `load_rows`."""
    rows = load_rows(row)
    about = "" if variant else row.about
    if len(rows) < row.rows:
        about = f"{len(rows):,} of {row.rows:,} rows, those that the rule {row.variant} scores"
    return make_table(row.name, Content(rows, about=about), Settings(layout="table"))._replace(tag=row.tag)


def load_rows(row: GoldSet) -> list[Row]:
    """Load the rows of gold data that its rule scores. InputError: they cannot be fetched, or kept."""
    rows = _load(row)
    if not row.is_partial:
        return rows
    from anls_metric.rules import rule

    judge = rule(str(row.variant))
    kept = []
    for each in rows:
        with suppress(ValueError):  # a kind of question that other metrics score, such as table parsing
            judge.scores([{**each, "prediction": ""}])
            kept.append(each)
    return kept


def format_questions(row: GoldSet, with_answers: bool = False) -> str:
    """Format what to ask a model as JSON lines; with answers, the lines are a gold file."""
    rows = load_rows(row)
    if not with_answers:
        rows = [{name: each[name] for name in row.shown if name in each} for each in rows]
    return "".join(map(_format_row, rows))


def _format_row(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


# The cache


def _load(row: GoldSet) -> list[Row]:
    """Read all rows from the cache; fetch them first unless it has them whole."""
    folder = os.environ.get("ANLS_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "anls")
    path = os.path.join(folder, f"{row.name.replace(':', '-')}-{row.revision}.jsonl")
    data = b""
    with suppress(OSError), open(path, "rb") as file:
        data = file.read()
    if not data.endswith(b"\n") or data.count(b"\n") != row.rows:
        rows = [row.make_row(each, number) for number, each in enumerate(_fetch(row))]
        data = "".join(map(_format_row, rows)).encode()
        try:
            _store(path, data)
        except OSError as error:
            sentence = "cannot write to {folder} ({problem}): set ANLS_CACHE to a different folder"
            raise make_error(row.name, sentence, folder=folder, problem=error.strerror) from None
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def _store(path: str, data: bytes) -> None:
    """Write a file under a name of its own, and rename it, so that several processes can do so at once."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    aside = f"{path}.{os.getpid()}-{time.time_ns()}"  # of mkstemp, only this user could read the file
    try:
        with open(aside, "wb") as file:
            file.write(data)
        os.replace(aside, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


# The Hub


def _fetch(row: GoldSet) -> list[Row]:
    """Fetch the text columns. InputError: that is not possible, or they are not the data of the table."""
    try:
        import pyarrow.parquet  # noqa: F401
        from huggingface_hub import HfFileSystem
        from huggingface_hub.utils import logging, tqdm
    except ImportError as error:
        sentence = "fetching it needs {module}: pip install 'anls-metric[hub]', or " + _AS_FILE
        raise make_error(row.name, sentence, module=error.name) from None
    logging.set_verbosity_error()  # else it prints a line for each of many attempts
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(_CONNECTIONS)
    try:
        with tqdm(desc=f"fetching {row.name}", leave=False, disable=None) as bar:  # None: only on a terminal
            return _fetch_columns(row, HfFileSystem(), pool, bar)
    except InputError:
        raise
    except Exception as error:  # of three HTTP libraries, one for each major version of huggingface_hub
        raise _explain(row, error) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _fetch_columns(row: GoldSet, hub: Any, pool: Any, bar: Any) -> list[Row]:
    """Fetch the ends of all files, which say where the columns are, and then the columns of all row groups at once."""
    from concurrent.futures import as_completed

    from pyarrow.parquet import ParquetFile

    def open_file(path: str, metadata: Any = None) -> Any:
        return ParquetFile(hub.open(path, cache_type="none"), metadata=metadata)

    def read_group(path: str, metadata: Any, group: int) -> Any:
        file = open_file(path, metadata)
        columns = [name for name in list_columns(file.schema_arrow, path) if name not in _UNREAD]
        # Threads of Arrow that outlive the fetch would abort the process.
        return file.read_row_group(group, columns, use_threads=False).to_pylist()

    names = hub.ls(f"datasets/{row.dataset}@{row.revision}/{os.path.dirname(row.files)}", detail=False)
    paths = sorted(fnmatch.filter(names, f"*/{row.files}"))
    files = dict(zip(paths, pool.map(open_file, paths)))
    _check(row, list(files.values()))
    groups = [(path, file.metadata, group) for path, file in files.items() for group in range(file.num_row_groups)]
    parts = [pool.submit(read_group, *group) for group in groups]
    bar.reset(len(parts))
    for part in as_completed(parts):
        part.result()  # the first failure ends the fetch
        bar.update()
    return [each for part in parts for each in part.result()]


def _check(row: GoldSet, files: Sequence[Any]) -> None:
    """Check the number of rows and the names of the columns: pyarrow skips an unknown column in silence."""
    count = sum(file.metadata.num_rows for file in files)
    if count != row.rows:
        sentence = "the Hub has {count:,} rows, expected {expected:,}, so nothing is kept: try again, or " + _AS_FILE
        raise make_error(row.name, sentence, count=count, expected=row.rows)
    missing = dict.fromkeys(name for file in files for name in row.columns if name not in file.schema_arrow.names)
    if missing:
        sentence = "the files on the Hub have no column {names}: " + _AS_FILE
        raise make_error(row.name, sentence, names=list_some(missing))


def _explain(row: GoldSet, error: BaseException | None) -> InputError:
    """Explain why a fetch failed, by the answer of the Hub, which may be in the cause of the error."""
    from huggingface_hub import constants, get_token

    chain = []
    while error is not None:
        chain.append(error)
        error = error.__cause__ or error.__context__
    responses = [getattr(each, "response", None) for each in chain]
    response = next((each for each in responses if each is not None), None)  # one of an error is false
    status, code = getattr(response, "status_code", 0), getattr(response, "headers", {}).get("X-Error-Code")
    if constants.HF_HUB_OFFLINE:
        sentence = "it is not in the cache, and HF_HUB_OFFLINE is set: unset it, or " + _AS_FILE
    elif code == "GatedRepo" or status == 403:
        sentence = "it is gated: accept its terms at {source}, and set HF_TOKEN to your token, or " + _AS_FILE
    elif status == 401 and code != "RepoNotFound" and get_token():
        sentence = "the Hub refuses your token: correct or unset HF_TOKEN, or run hf auth logout"
    elif status in (401, 404):
        sentence = "the Hub does not have {source} at {revision}: " + _AS_FILE
    else:
        sentence = "cannot fetch it from {endpoint} ({problem:.100}): check the network, or " + _AS_FILE
    values = {"source": row.source, "revision": row.revision, "endpoint": constants.ENDPOINT, "problem": str(chain[-1])}
    return make_error(row.name, sentence, **values)
