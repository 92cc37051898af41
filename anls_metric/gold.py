"""Provides public gold data by name, such as ``docvqa:val``, by fetching the text of datasets from the Hugging Face
Hub.

Only text columns are fetched, and only once, because the rows are cached as JSON lines in ``$ANLS_CACHE`` or
``~/.cache/anls``.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from anls_metric.core.checks import find_similar_name
from anls_metric.endings import clean_up
from anls_metric.messages import Message, make_error
from anls_metric.options import Settings
from anls_metric.reading.inputs import Input, check_paths
from anls_metric.reading.laid_out import apply_layout
from anls_metric.reading.table import Table

GoldRow = dict[str, Any]

QUESTION_ID = "questionId"


# Each function makes a row of a gold file from a row of a dataset and its number, counted from 0.


def _read_mmlongbench(row: GoldRow, number: int) -> GoldRow:
    return {QUESTION_ID: number, **{"gold" if name == "answer" else name: value for name, value in row.items()}}


def _read_chartqapro(row: GoldRow, number: int) -> GoldRow:
    """Keep the last question of a conversation as the question, and move the earlier turns to ``turns``."""
    row = {QUESTION_ID: number, **{name.lower().replace(" ", "_"): value for name, value in row.items()}}
    *earlier, row["question"] = row["question"]
    if earlier:
        row["turns"] = [{"question": text, "answer": answer} for text, answer in zip(earlier, row["answer"])]
    return row


def _read_ocrbench(row: GoldRow, number: int) -> GoldRow:
    """Add the name of the rule, and leave out columns without a value, like the benchmark's own file."""
    return {**{name: value for name, value in row.items() if value is not None}, "rule": "item"}


def _read_cord(row: GoldRow, number: int) -> GoldRow:
    """Accept a single menu line both inside and outside a list, since CORD stores a single line without a list."""
    truth = json.loads(row["ground_truth"])
    image = {"image_id": truth["meta"]["image_id"]} if "image_id" in truth.get("meta", {}) else {}
    return {QUESTION_ID: number, **image, "answers": _accept_lists(truth["gt_parse"])}


_LINES = ("menu", "void_menu", "sub")


def _accept_lists(value: Any) -> Any:
    """Accept each single line or sub-line of a receipt both as an object and as a list that contains this object."""
    if isinstance(value, list):
        return list(map(_accept_lists, value))
    if not isinstance(value, dict):
        return value
    items = {key: _accept_lists(item) for key, item in value.items()}
    single = {key: item for key, item in items.items() if key in _LINES and isinstance(item, dict)}
    return {**items, **{key: {"__tuple__": [item, [item]]} for key, item in single.items()}}


class GoldSet(NamedTuple):
    """A public gold set and its dataset on the Hub.

    Attributes:
        name: the name of the gold set, such as ``docvqa:val``.
        dataset: the id of the dataset on the Hub.
        revision: the full commit hash of the dataset, since the Hub does not accept abbreviated hashes.
        files: the pattern for the paths of the Parquet files.
        columns: the columns that the files must have, although all other text columns are read as well.
        shown: the fields of a question that do not reveal its answer.
        rows: the number of rows.
        license: the license tag of the dataset.
        citation: the URL of the paper.
        variant: the variant or rule that the name implies, or None for the default variant.
        make_row: the function that creates a row of a gold file from a row of the dataset and its number.
        is_partial: whether the rule scores only some of the questions.
        about: a remark to add to the line that says what was read, if the user does not choose a variant.
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
    make_row: Callable[[GoldRow, int], GoldRow] = lambda row, number: row
    is_partial: bool = False
    about: str = ""

    @property
    def source(self) -> str:
        """The URL of the dataset on the Hub."""
        return f"https://huggingface.co/datasets/{self.dataset}"


def _make_cord(split: str, files: str) -> GoldSet:
    return GoldSet(
        f"cord:{split}",
        "naver-clova-ix/cord-v2",
        "7f0115a4b758a71d6473b8d085751692da2fef98",
        f"data/{files}-*.parquet",
        ("ground_truth",),
        (QUESTION_ID, "image_id"),
        100,
        "cc-by-4.0",
        "https://openreview.net/forum?id=SJl3z659UH",
        "anls_star",
        _read_cord,
    )


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
    _make_cord("test", "test"),
    _make_cord("val", "validation"),
)
GOLD: Mapping[str, GoldSet] = {row.name: row for row in _TABLE}
"""The public gold sets, keyed by name, with ids, revisions and counts from stored dataset cards and from versions that
others pinned.
"""


# Names


def find_gold(word: str) -> GoldSet | None:
    """Find a gold set by name, or return None if the word is an existing path or does not resemble the name of a gold
    set.

    Raises:
        InputError: the word resembles the name of a gold set, but no gold set has this name.

    Example:
        >>> find_gold("docvqa:vall")
        Traceback (most recent call last):
        anls_metric.messages.InputError: docvqa:vall: no such file or gold data: did you mean docvqa:val?
    """
    if not re.fullmatch(r"\w[\w-]*(:[\w-]+)?", word) or os.path.exists(word):
        return None
    if word in GOLD:
        return GOLD[word]
    stem, colon, split = word.partition(":")
    similar = find_similar_name(stem, GOLD)
    if split == "test" and f"{stem}:val" in GOLD:
        sentence = (
            "test splits, whose references are secret, are not downloaded: use {stem}:val, or pass a file with the "
            "questions to anls export rrc"
        )
        raise make_error(word, sentence, stem=stem)
    if similar:
        raise make_error(word, "no such file or gold data: did you mean {similar}?", similar=similar)
    if colon:
        raise make_error(word, "no such file or gold data: choose from {names}", names=", ".join(GOLD))
    return None


def is_name(word: str) -> bool:
    """Whether a word is the name of a gold set rather than of an existing file."""
    return word in GOLD and not os.path.exists(word)


def resolve(
    inputs: Sequence[Input], gold: Input | None, settings: Settings
) -> tuple[Sequence[Input], Input | None, Settings]:
    """Replace the name of a gold set, given as the gold file or, without a gold file, as the first input, with a table
    of its data.

    Args:
        inputs: the files and tables that the user passes.
        gold: the gold file or the name of a gold set, or None if the user does not specify one.
        settings: the user's options. If no variant is chosen, the variant that the name of the gold set implies is
            added.

    Raises:
        InputError: the name does not exist or is not the first input, there is no submission, a file is missing, or the
            data cannot be fetched.
    """
    words = [gold, *inputs] if gold else list(inputs)
    for each in words[1:]:
        if is_name(each.path):
            raise make_error(
                each.path, "gold data must come first: pass them before the predictions, or with {use.gold}"
            )
    row = find_gold(words[0].path) if words else None
    if row is None:
        return inputs, gold, settings
    if len(words) == 1:
        raise make_error(row.name, "there is nothing to score: pass the predictions file as well")
    check_paths(words[1:])
    table = load_gold(row, settings.variant)
    return words[1:], Input(table, row.name), replace(settings, variant=settings.variant or row.variant)


def load_gold(row: GoldSet, variant: str | None = None) -> Table:
    """Load a gold set as a table, like a gold file that the user passes. Raises InputError if the data cannot be
    fetched or stored.
    """
    table = load_rows(row)
    about, count = "" if variant else row.about, len(table.records)
    if count < row.rows:
        about = f"{count:,} of {row.rows:,} rows, those that the rule {row.variant} scores"
    return apply_layout(table._replace(about=about), Settings(layout="table"))


def load_rows(row: GoldSet) -> Table:
    """Load the rows of a gold set that its variant or rule can score. Raises InputError if the data cannot be fetched
    or stored.
    """
    table = _load(row)
    if not row.is_partial:
        return table
    from anls_metric.rules import rule

    judge = rule(str(row.variant))
    kept = []
    for each in table.records:
        with suppress(ValueError):  # a kind of question that other metrics score, such as table parsing
            judge.scores([{**each, "prediction": ""}])
            kept.append(each)
    return table._replace(records=kept)


def format_questions(row: GoldSet, with_answers: bool = False, sample: int | None = None, seed: int = 0) -> str:
    """Format the questions of a gold set as JSON lines for a model or, with answers, as a gold file. Raises ValueError
    if the sample is empty or larger than the gold set.
    """
    rows = load_rows(row).records
    if sample is not None:
        rows = _draw(rows, row.shown[0], sample, seed)
    if not with_answers:
        rows = [{name: each[name] for name in row.shown if name in each} for each in rows]
    return "".join(map(_format_row, rows))


def _draw(rows: Sequence[GoldRow], key: str, count: int, seed: int) -> list[GoldRow]:
    """Draw a sample of rows, in their original order, by a hash of the seed and the id, so that the sample depends
    neither on the order of the rows nor on the Python version.
    """
    if not 0 < count <= len(rows):
        raise ValueError(f"--sample must be from 1 to {len(rows)} (the number of questions), got {count}")
    places = sorted(range(len(rows)), key=lambda place: _hash(f"{seed}:{rows[place][key]}".encode()))
    return [rows[place] for place in sorted(places[:count])]


def _format_row(row: GoldRow) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


# The cache


def _load(row: GoldSet) -> Table:
    """Read all rows of a gold set from the cache, or fetch and cache them if the cache does not contain an intact file.
    A hint reports any damaged file.
    """
    pattern = os.path.join(glob.escape(_find_cache(row)), f"{row.name.replace(':', '-')}-{row.revision}-*.jsonl")
    damaged = []
    for path in glob.glob(pattern):
        with suppress(OSError), open(path, "rb") as file:
            data = file.read()
            if path.endswith(f"-{_hash(data)}.jsonl"):
                return Table([json.loads(line) for line in data.split(b"\n")[:-1]], row.name)
            damaged.append(path)
    rows = [row.make_row(each, number) for number, each in enumerate(_fetch(row))]
    data = "".join(map(_format_row, rows)).encode()
    try:
        _store(pattern.replace("*", _hash(data)), data)
    except OSError as error:
        sentence = "cannot write to {folder} ({problem}): set ANLS_CACHE to a different folder"
        raise make_error(row.name, sentence, folder=os.path.dirname(pattern), problem=error.strerror) from None
    sentence = "{file} in the cache was damaged, so the data were fetched again"
    hints = [Message(row.name, sentence, {"file": os.path.basename(path)}) for path in damaged]
    return Table(rows, row.name, hints=hints)


def _find_cache(row: GoldSet) -> str:
    """Find the cache folder. Raises InputError if ANLS_CACHE is not set and the user has no home folder."""
    folder = os.path.expanduser(os.environ.get("ANLS_CACHE") or os.path.join("~", ".cache", "anls"))
    if folder.startswith("~"):
        raise make_error(row.name, "no home folder was found for the cache: set ANLS_CACHE to a folder")
    return folder


def _hash(data: bytes) -> str:
    from hashlib import sha256  # slow to import

    return sha256(data).hexdigest()[:16]


def _store(path: str, data: bytes) -> None:
    """Write a file under a unique name and then rename it, so that several processes can write it at once."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    aside = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.unfinished")

    def remove() -> None:
        with suppress(FileNotFoundError):
            os.unlink(aside)

    try:
        with clean_up(remove):
            with open(aside, "xb") as file:
                file.write(data)
            os.replace(aside, path)
    finally:
        remove()


def _fetch(row: GoldSet) -> list[GoldRow]:
    """Fetch the unchanged rows of a dataset from the Hub. Raises InputError if the fetch fails."""
    from anls_metric.hub import PATIENCE, SILENCE, Wanted, fetch  # not needed for a user's files

    return fetch(Wanted(row.name, row.dataset, row.revision, row.files, row.columns, row.rows, SILENCE, PATIENCE))
