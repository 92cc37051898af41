# ruff: noqa: E501
# mypy: ignore-errors
"""ANLS (Average Normalized Levenshtein Similarity) for answers to questions about documents, in one file.

BUILT from the package anls_metric, whose docstrings say more: change a module and run ``python tools/one_file.py``.
``evaluate.load`` takes this file, and it can be imported and copied. It needs rapidfuzz; the metric, evaluate as well.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import platform
import re
import string
import sys
import time
import warnings
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from glob import escape, glob
from importlib import import_module
from itertools import chain, count, islice, pairwise
from numbers import Real
from operator import itemgetter
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import uuid4

from rapidfuzz.distance import Levenshtein

if TYPE_CHECKING:
    from anls_metric.core.strings.metrics import Metric

__all__ = ["VARIANTS", "ComputeMetrics", "Variant", "anls_score", "anls_scores", "build_compute_metrics", "get_variant", "load", "mean", "signature"]  # fmt: skip


_DESCRIPTION = """\
ANLS (Average Normalized Levenshtein Similarity) scores answers that are read from documents and scenes, as in
DocVQA, InfographicVQA and ST-VQA. An answer scores 1 - edit distance / length against the closest of the
accepted answers, so that a small OCR error costs little. If this similarity is below the threshold of 0.5, the
answer counts as wrong and scores 0. ANLS is the mean of the scores.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of N strings, the answers to score.
    references: list of N lists of strings, the accepted answers to each question; a string counts as one answer.
    variant: which ANLS: "standard" (the default), "rrc" (the RRC leaderboard's script), or another row of VARIANTS.
    threshold: from 0 to 1; a similarity below it scores 0. Default: the variant's own, 0.5 for most.
    ignore_case: whether case is ignored. Default: what the variant does; "standard" ignores it.
    normalize: what to do with both sides first, such as "width,typography"; it needs the package. Default: nothing.
    none_keys: for "anls_star" only: whether a predicted key without a value is "counted" as wrong, or "ignored".
    average: for "anls_star" only: whether the score is the mean over "rows" or over all "leaves".
    numbers: for "anls_star" only: "as_written" to compare numbers as Python prints them, "by_value" for 2440 = 2440.0.
    ignore_keys: for "anls_star" only: the paths of keys to leave out on both sides, such as "model_name,items.score".
    return_all_scores: whether to return the score of each answer as well. Default: False.
Returns:
    anls: the mean of the scores, from 0 to 1.
    anls_scores: with return_all_scores, the list of the N scores.
    The configurations "anls_star" and "anlsl", for lists and nested values, return these under their own names.
Raises:
    ValueError: the message says what is wrong, and in which row. The metric is empty afterwards.
Examples:
    >>> import evaluate
    >>> anls = evaluate.load("./anls.py")
    >>> anls.compute(predictions=["CocaCola"], references=[["Coca Cola", "Coca Cola Company"]])
    {'anls': 0.8888888888888888}

    >>> predictions = ["The Coca", "Coca cola", "12/15/89"]
    >>> references = [["Coca Cola", "Coca Cola Company"], ["Coca Cola", "Coca Cola Company"], ["12/15/88"]]
    >>> anls.compute(predictions=predictions, references=references, return_all_scores=True)
    {'anls': 0.625, 'anls_scores': [0.0, 1.0, 0.875]}

    >>> anls.compute(predictions=["ab  "], references=["a"], variant="rrc")
    {'anls': 0.75}

    >>> for prediction, reference in zip(predictions, references):
    ...     anls.add(prediction=prediction, reference=reference)
    >>> anls.compute(ignore_case=False)
    {'anls': 0.5879629629629629}

    >>> anls.signature(variant="rrc")
    'anls|rrc|threshold:0.5|v2'
"""

_CITATION = """\
@inproceedings{biten2019scene,
    title = {Scene Text Visual Question Answering},
    author = {Biten, Ali Furkan and Tito, Ruben and Mafla, Andres and Gomez, Lluis and Rusi{\\~n}ol, Mar{\\c{c}}al and
        Valveny, Ernest and Jawahar, C. V. and Karatzas, Dimosthenis},
    booktitle = {Proceedings of the IEEE/CVF International Conference on Computer Vision (ICCV)},
    pages = {4291--4301},
    year = {2019},
}
@inproceedings{mathew2021docvqa,
    title = {{DocVQA}: A Dataset for {VQA} on Document Images},
    author = {Mathew, Minesh and Karatzas, Dimosthenis and Jawahar, C. V.},
    booktitle = {Proceedings of the IEEE/CVF Winter Conference on Applications of Computer Vision (WACV)},
    pages = {2200--2209},
    year = {2021},
}
"""


if hasattr(sys.modules.get("evaluate"), "Metric"):  # evaluate.load imports this module
    import datasets
    import evaluate
else:  # until a metric is made: the functions do not need evaluate, whose import takes one to twenty seconds
    evaluate = SimpleNamespace(Metric=type("Metric", (), {}))


class Anls(evaluate.Metric):  # type: ignore[misc]
    __doc__ = _DESCRIPTION + _KWARGS_DESCRIPTION

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _import_evaluate()
        return super().__new__(cls)

    def __init__(self, config_name: str | None = None, **kwargs: Any) -> None:
        known = inspect.signature(evaluate.Metric.__init__).parameters
        options = {name: kwargs.pop(name) for name in list(kwargs) if name not in known}
        given = options.get("variant", config_name)
        if config_name not in (None, "default", given):
            both = f"both the configuration {config_name!r} and variant={describe(given)}"
            raise ValueError(f"got {both}: pass only one of them")
        # The options that `compute` uses unless it is given others.
        self._defaults = options if config_name in (None, "default") else {"variant": config_name, **options}
        self._known = list(inspect.signature(self._compute).parameters)
        self._return_all_scores = self._defaults.pop("return_all_scores", False)
        self._find_scorer(**options)  # rejects invalid options
        self._batches: deque[Any] = deque()  # of predictions and references
        super().__init__(config_name, **kwargs)
        self._mark = self._leave_mark() if self.num_process > 1 else ""

    def _info(self) -> Any:
        scorer = self._find_scorer()
        papers = ["https://arxiv.org/abs/1905.13648", "https://arxiv.org/abs/2007.00398"]
        text = datasets.Value("string", id="sequence")
        several = datasets.Sequence(datasets.Value("string"), id="references")
        return evaluate.MetricInfo(
            description=_DESCRIPTION if scorer.form == "text" else f"{scorer.meaning}.\n",
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[datasets.Features(predictions=text, references=kind) for kind in (several, text)],
            license="Apache-2.0",
            homepage="https://rrc.cvc.uab.es/?ch=17&com=tasks",
            codebase_urls=["https://github.com/shunk031/ANLS", "https://rrc.cvc.uab.es"],
            reference_urls=papers if scorer.form == "text" else [scorer.source],
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        variant: str | Scorer | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        normalize: Any = None,
        none_keys: str | None = None,
        average: str | None = None,
        numbers: str | None = None,
        ignore_keys: Any = None,
        return_all_scores: bool = False,
    ) -> dict[str, Any]:
        options = (variant, threshold, ignore_case, normalize, none_keys, average, numbers, ignore_keys)
        scorer = self._find_scorer(**dict(zip(self._known[2:], options)))  # after predictions and references
        scores = scorer.score(predictions, references)
        result: dict[str, Any] = {scorer.key: scorer.mean(scores)}
        return result | {f"{scorer.key}_scores": list(map(float, scores))} if return_all_scores else result

    def _find_scorer(self, return_all_scores: bool = False, **options: Any) -> Scorer:
        """Return the scorer for the options of a call. An option that is None is replaced by the metric's default."""
        for name in options:
            if name not in self._known:
                raise ValueError(describe_unknown("argument", name, self._known))
        given = {name: value for name, value in options.items() if value is not None}
        chosen = {"variant": "standard", **self._defaults, **given}
        return get_scorer(chosen.pop("variant"), **chosen)

    def _build_data_dir(self) -> str:
        """Create the folder in which processes exchange rows. A single process works without it."""
        try:
            return str(super()._build_data_dir())
        except OSError:
            if self.num_process > 1:
                raise
            return str(self._data_dir_root)

    def __len__(self) -> int:
        return sum(len(predictions) for predictions, _ in self._batches)

    def signature(self, **options: Any) -> str:
        """Return the signature of the score that `compute` returns with these options. Report it with the score."""
        return str(self._find_scorer(**options).signature())

    def build_compute_metrics(
        self, tokenizer: Any, references: Any = None, extract: Any = None, **options: Any
    ) -> ComputeMetrics:
        """Build ``compute_metrics`` for a transformers ``Trainer``: see the function `build_compute_metrics`."""
        return build_compute_metrics(tokenizer, references, extract=extract, **self._choose_variant(options))

    def build_reward(self, references_column: str = "answers", extract: Any = None, **options: Any) -> Any:
        """Build a reward function for TRL: see `build_reward` in ``anls_metric.trl``."""
        trl = import_from_package("anls_metric.trl", "a reward")
        return trl.build_reward(references_column, extract, **self._choose_variant(options))

    def _choose_variant(self, options: dict[str, Any]) -> dict[str, Any]:
        """Replace the options of a scorer with the scorer itself, using the metric's defaults."""
        own = {name: options.pop(name) for name in self._known if name in options}
        return {"variant": self._find_scorer(**own), **options}

    def add(self, *, prediction: Any = ..., reference: Any = ..., **columns: Any) -> None:
        """Add one prediction and its references for the next `compute`. `add_batch` explains why this method is overridden."""
        for name in set(columns) - {"predictions", "references"}:
            raise ValueError(describe_unknown("argument", name, ["prediction", "reference"]))
        row = {"predictions": prediction, "references": reference, **columns}
        given = {name: [value] for name, value in row.items() if value is not ...}  # None is a value
        self.add_batch(**given)

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add predictions and their references for the next `compute`."""
        self._add(self._find_scorer(), predictions, references)

    def _add(self, scorer: Scorer, predictions: Any, references: Any) -> None:
        rows = scorer.check(predictions, references, lambda row: name_row(len(self) + row))
        self._batches.append(scorer.copy_rows(rows))  # the caller may change its lists

    def _take_rows(self) -> list[Any]:
        """Remove and return the rows that have been added so far."""
        batches = [self._batches.popleft() for _ in range(len(self._batches))]
        return [list(chain.from_iterable(column)) for column in zip(*batches)] or [[], []]

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Score the rows that were added before together with the given rows."""
        options = {"return_all_scores": self._return_all_scores, **options}
        try:
            scorer = self._find_scorer(**options)  # rejects invalid options before this process waits for others
            is_given = predictions is not None or references is not None
            if is_given and self.num_process == 1 and not self._batches:
                return self._compute(predictions, references, **options)
            if is_given:
                self._add(scorer, predictions, references)
        finally:
            rows = self._take_rows()
        rows = self._gather(rows, scorer) if self.num_process > 1 else rows
        return rows and self._compute(*rows, **options)

    def _gather(self, own: Any, scorer: Scorer) -> Any:
        """Gather the rows of all processes in process 0, using the base class's files, and return None in all other processes."""
        # The rows of a process are one string, which can also hold what Arrow rejects, such as lone surrogates.
        rows = scorer.dump([[self._mark, *self._describe_job()], *own])
        try:
            super().add_batch(predictions=[rows], references=[""])  # the processes wait for each other
            self._finalize()
            if self.process_id:  # the file of the next round must not replace this file before it is read
                self._wait_until(self.process_id, exists=False)
                self._refuse_two_jobs([[self._mark]])
                return None
            jobs, *columns = zip(*map(scorer.load, self.data["predictions"]))
            self._refuse_two_jobs(jobs)
            return [list(chain.from_iterable(column)) for column in columns]
        finally:
            for lock in filter(None, (self.filelock, self.rendez_vous_lock, *(self.filelocks or ()))):
                lock.release()
            self.__dict__.update(dict.fromkeys(("writer", "data", "filelock", "rendez_vous_lock", "filelocks")))
            for path in self.file_paths or ():  # process 0 has them
                with suppress(OSError):
                    os.remove(path)

    def _leave_mark(self) -> str:
        """Create a file, the mark, that stays locked as long as this metric exists, and return its name."""
        start = f"{self.experiment_id}-{self.num_process}-{self.process_id}-"
        process = f"{start}{platform.node()}-{os.getpid()}-"
        mark = f"{process}{uuid4().hex}.job"
        path = os.path.join(self.data_dir, mark)
        lock = evaluate.module.FileLock(path)
        lock.acquire()
        weakref.finalize(self, _remove_mark, lock, path)
        for other in glob(os.path.join(escape(self.data_dir), f"{escape(start)}*.job")):
            if not os.path.basename(other).startswith(process) and self._is_locked(other):
                for each in (path, other):
                    open(f"{each}.clash", "w").close()
        return mark

    @staticmethod
    def _is_locked(path: str) -> bool:
        """Whether the process that left a mark is still running."""
        lock = evaluate.module.FileLock(path)
        try:
            lock.acquire(timeout=0)
        except evaluate.module.Timeout:
            return True
        except OSError:  # it was removed
            return False
        lock.release()
        return False

    @staticmethod
    def _describe_job() -> list[tuple[str, str]]:
        """Describe the job of this process by the variables that its launcher set and by the parent process on this machine."""
        node, told = platform.node(), [os.environ.get(name, "") for name in _OF_JOBS]
        if os.environ.get("MASTER_ADDR", "").startswith(("127.", "localhost", "::1")):
            told.append(node)  # such a job has no process on another machine
        return [*([("launcher", " ".join(told))] if any(told) else []), (f"machine {node}", str(os.getppid()))]

    def _refuse_two_jobs(self, jobs: Any) -> None:
        """Raise ValueError if the rows come from two jobs, given the mark of each process and the description of its job."""
        marks, descriptions = zip(*((mark, tuple(map(tuple, described))) for mark, *described in jobs))
        known = set(chain.from_iterable(descriptions))
        clash = any(os.path.exists(os.path.join(self.data_dir, f"{mark}.clash")) for mark in marks)
        if clash or len(known) > len({name for name, _ in known}):
            raise ValueError(f"two jobs use experiment_id={self.experiment_id!r} at once: give each its own id")

    def _check_rendez_vous(self) -> None:
        # Two processes that look for process 0 at once would mistake each other for it, so wait for its file first.
        self._wait_until(0, exists=True)
        super()._check_rendez_vous()

    def _wait_until(self, process_id: int, exists: bool) -> None:
        path = os.path.join(self.data_dir, f"{self.experiment_id}-{self.num_process}-{process_id}.arrow")
        for _ in range(int(self.timeout * 100)):
            if os.path.exists(path) == exists:
                return
            time.sleep(0.01)
        raise ValueError(f"process {self.process_id} waited {self.timeout} s for process 0")


def load(config_name: str | None = None, **kwargs: Any) -> Any:
    """Load the same metric as ``evaluate.load``, without contacting the Hub."""
    return Anls(config_name, **kwargs)


def _import_evaluate() -> None:
    """Import evaluate, and make its class ``Metric`` the base class of `Anls`."""
    global datasets, evaluate
    try:
        import datasets
        import evaluate
    except ImportError as error:
        raise ImportError("the metric needs Hugging Face evaluate: pip install evaluate datasets") from error
    Anls.__bases__ = (evaluate.Metric,)


# The variables that launchers set, the same in all processes of a job.
_OF_JOBS = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID")


def _remove_mark(lock: Any, path: str) -> None:
    """Remove a mark and the note next to it."""
    for remove in (lock.release, lambda: os.remove(path), lambda: os.remove(f"{path}.clash")):
        with suppress(OSError):
            remove()


# ---- What the metric needs of anls_metric: version, scoring, checks, scorer, variants, kernel, rows, decoding, transformers

__version__ = "2.0.0"

SCORES_VERSION = 2


def _get_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None) -> Kernel:
    """Return the kernel of a variant. Raises the same ValueError as `get_variant`."""
    try:
        return _find_kernel(variant, threshold, ignore_case, SCORERS.changes)
    except TypeError:  # a list, for example, which `get_variant` rejects
        return compile_kernel(get_variant(variant, threshold, ignore_case))


@lru_cache(maxsize=256, typed=True)
def _find_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None, changes: int) -> Kernel:
    """Return the kernel of a variant, cached until the registered names change."""
    return compile_kernel(get_variant(variant, threshold, ignore_case))


def anls_score(
    prediction: str,
    gold_labels: Iterable[str],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> float:
    """Score one answer by its similarity to the closest reference, or as 0 if the similarity is below the threshold."""
    kernel = _get_kernel(variant, threshold, ignore_case)
    return kernel.score(as_text(prediction, "the prediction"), as_references(gold_labels, "gold_labels"))


def anls_scores(
    predictions: Iterable[str],
    references: Iterable[Iterable[str]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> list[float]:
    """Score each answer in a set in the same way as `anls_score`. The `mean` of the scores is the ANLS of the set."""
    kernel = _get_kernel(variant, threshold, ignore_case)
    scores = score_columns(predictions, references, kernel)
    refuse_no_rows(scores)
    return scores


def describe(value: object) -> str:
    """Describe a value and its type on one short line for an error message."""
    try:
        # The beginning of a long value is enough, and the repr of a very long value takes too long.
        some = value[:1000] if isinstance(value, (str, bytes, list, tuple)) else value
        text = " ".join(repr(some).split())
    except Exception:  # the value is nested too deeply, has too many digits, or its __repr__ fails
        text = "..."
    if len(text) > 60:
        text = text[:57] + "..."
    return text if value is None else f"{text} ({type(value).__name__})"


RowName = Callable[[int], str]


def name_row(row: object) -> str:
    """Return the name of a row for an error message."""
    return f"row {row} (counted from 0)"


def find_similar_name(name: str, choices: Iterable[str]) -> str:
    """Find the existing name that a user may have meant by a similar or partial name."""
    from difflib import get_close_matches

    folded = {choice.lower().replace("-", "_"): choice for choice in choices}
    typed = name[:100].lower().replace("-", "_")
    similar = get_close_matches(typed, folded, 1, 0.65)
    similar += [choice for choice in folded if len(typed) > 2 and typed in choice]
    return folded[similar[0]] if similar else ""


MEANINGS: Mapping[str, Mapping[str, str]] = {
    "variant": {"anls": "standard", "docvqa": "rrc", "anls*": "anls_star", "all": ""}
}


def describe_unknown(kind: str, name: object, choices: Collection[str], listed_by: str = "") -> str:
    """Describe an unknown name for an error message, suggesting a similar name or listing the valid names."""
    similar = ""
    if isinstance(name, str):
        similar = MEANINGS.get(kind, {}).get(name.lower(), find_similar_name(name, choices))
    unknown = f"unknown {kind} {repr(name)[:40]}"
    if listed_by:
        return f"{unknown}: did you mean {similar}?" if similar else f"{unknown}: {listed_by} lists them"
    advice = f"did you mean {similar}? Choose" if similar else "choose"
    return f"{unknown}; {advice} from {', '.join(choices)}"


def check_choice(name: str, value: Any, choices: Collection[object]) -> None:
    """Raise a ValueError that lists the choices if a value is not among them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {describe(value)}")


def check_number(name: str, value: Any) -> float:
    """Return a value as a float. Raises ValueError if it is not a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {describe(value)}")
    return float(value) + 0.0  # 0.0 for -0.0


def is_number(value: object) -> bool:
    """Whether a value is a Python or numpy number. True and False do not count as numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


Form = Literal["text", "value", "row"]
_JSON = "anls_metric.core.json_values", "structured answers"


class Scorer(ABC):
    """A metric for answers that are strings, lists and nested values, or rows with a benchmark's additional columns."""

    name: str
    meaning: str
    source: str
    threshold: float
    label: str = "ANLS"
    options: tuple[str, ...] = ()
    columns: Mapping[str, str] = MappingProxyType({})
    references: str = "references"
    reads_json: bool = False

    @property
    def key(self) -> str:
        """The name of the score in a dict of results."""
        return "anls"

    @property
    def form(self) -> Form:
        """The form of answers: "row" if there are columns, "value" if answers are JSON, and otherwise "text"."""
        return "row" if self.columns else "value" if self.reads_json else "text"

    def copy_rows(self, rows: tuple[Any, Any]) -> tuple[Any, Any]:
        """Copy checked rows, because the caller may change the original rows later."""
        return (list(rows[0]), list(map(tuple, rows[1]))) if self.form == "text" else deepcopy(rows)

    def dump(self, rows: Any) -> str:
        """Write rows as JSON. Lists and nested values need the package, because their tuples hold alternatives."""
        return json.dumps(rows if self.form == "text" else import_from_package(*_JSON).to_json(rows))

    def load(self, text: str) -> Any:
        """Read rows from the JSON that `dump` wrote."""
        return json.loads(text) if self.form == "text" else import_from_package(*_JSON).from_json(json.loads(text))

    def read_answer(self, text: str) -> Any:
        """Read an answer that a person wrote, which need not be JSON."""
        return text

    def parse_output(self, text: str) -> Any:
        """Parse an answer that a model wrote. Raises ValueError if it is not JSON or cannot be scored."""
        return text

    def read_references(self, references: Any) -> Any:
        """Read the references of a row from a value or a JSON string."""
        return references

    @property
    def as_text(self) -> Callable[[Any], str]:
        """The function that converts an answer to the string used for comparison, or to "" if the answer is empty."""
        return str

    def check(self, predictions: Any, references: Any, row_name: RowName = name_row) -> tuple[list[Any], list[Any]]:
        """Check the predictions and references, and return both as lists."""
        predictions, references = list(predictions), list(references)
        self.score(predictions, references, row_name)
        return predictions, references

    @abstractmethod
    def score(self, predictions: Any, references: Any, row_name: RowName = name_row) -> list[Any]:
        """Score each row from 0 to 1, for use by `mean`."""

    def score_missing(self, references: Any, row: str = "") -> float:
        """Score a question without an answer, for use by `mean`."""
        return 0.0

    def mean(self, scores: Iterable[Any]) -> float:
        """Compute the score of a set from the scores of its rows. Raises ValueError if there are no rows."""
        return mean(scores)

    def signature(self, extract: str = "") -> str:
        """Return the signature to print next to a score, which records how the score was computed."""
        options = (f"{option}:{getattr(self, option)}" for option in self.options)
        return join_signature(self.name, *options, extract=extract)


def join_signature(*parts: str, extract: str) -> str:
    """Join the parts of a signature, with the extraction steps and the version of the scores at the end."""
    extracted = [f"extract:{extract}"] if extract else []
    return "|".join(["anls", *parts, *extracted, f"v{SCORES_VERSION}"])


def mean(scores: Iterable[float]) -> float:
    """Compute the mean of scores, which is the same to the last bit in any order of the scores."""
    rows = count()
    try:
        total = math.fsum(map(itemgetter(0), zip(scores, rows)))
    except TypeError as error:
        raise ValueError(f"scores must be a list or an iterable of numbers: {error}") from None
    number = next(rows)
    refuse_no_rows(number)
    if not math.isfinite(total):
        raise ValueError("the scores must all be finite numbers")
    return total / number


def refuse_no_rows(rows: Sequence[object] | int) -> None:
    """Raise ValueError if there are no rows to score."""
    if not rows:
        raise ValueError("there are no rows to score: pass at least one prediction and its references")


# The scorers by name


class _Scorers(Mapping[str, Scorer]):
    """A mapping of names to scorers that looks up registered scorers first and loads tables of scorers on demand."""

    def __init__(self) -> None:
        self.registered: dict[str, Scorer] = {}
        self.changes = 0
        self.tables: list[Callable[[], Mapping[str, Scorer]]] = []

    def __getitem__(self, name: str) -> Scorer:
        if name in self.registered:
            return self.registered[name]
        for load in self.tables:
            if name in (known := load()):
                return known[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, scorer in self.list_all().items() if name == scorer.name])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def list_all(self) -> dict[str, Scorer]:
        """Return the scorers of all tables and all registered scorers, keyed by name and by alias."""
        names = [name for load in self.tables for name in load()]
        return {name: self[name] for name in [*names, *self.registered]}


SCORERS = _Scorers()


def load_table(reference: str) -> Mapping[str, Scorer]:
    """Load the table of scorers at ``module:table``, or return {} if anls.py is used without the package."""
    module, _, table = reference.partition(":")
    try:
        return getattr(import_module(module), table)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        return {}


def get_scorer(scorer: str | Scorer = "standard", **options: Any) -> Scorer:
    """Return the scorer with the given name, with any given options in place of its own."""
    if isinstance(scorer, str):
        try:
            scorer = SCORERS[scorer]
        except KeyError:
            raise ValueError(describe_unknown_scorer(scorer)) from None
    elif not hasattr(scorer, "score_missing"):
        raise ValueError(f"variant is {describe(scorer)}: pass a name or a Scorer")
    changes = {option: value for option, value in options.items() if value is not None}
    for option in changes:
        if option not in scorer.options:
            choices = f"choose from {', '.join(scorer.options)}" if scorer.options else "leave it out"
            raise ValueError(f"{scorer.name} has no option {option!r}; {choices}")
    # A copy takes longer than scoring a short answer. The repr distinguishes 1 from True.
    is_same = all(repr(getattr(scorer, option)) == repr(value) for option, value in changes.items())
    return scorer if is_same else replace(scorer, **changes)  # type: ignore[type-var]


def describe_unknown_scorer(name: object) -> str:
    """Describe an unknown name of a scorer for an error message."""
    problem = describe_unknown("variant", name, SCORERS.list_all(), "SCORERS")
    try:
        import_from_package("anls_metric", "any other metric")
    except ImportError as error:
        return f"{problem}; {error}"
    return problem


def import_from_package(module: str, feature: str) -> Any:
    """Import a module of the package. Raises ImportError if anls.py is used without the package."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError(f"{feature} needs the package anls-metric: pip install anls-metric") from error


Whitespace = Literal["squeeze", "strip", "keep", "words"]
Length = Literal["normalized", "normalized upper", "stripped", "stripped upper", "raw", "raw upper"]
Kept = Literal["similarity >= threshold", "similarity > threshold", "distance / length < threshold"]

_NORMALIZATION = "anls_metric.core.strings.normalization", "normalize"
# The fields of a variant that accept only certain values.
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "whitespace": get_args(Whitespace),
    "prediction_length": get_args(Length),
    "reference_length": get_args(Length),
    "kept": get_args(Kept),
    **dict.fromkeys(("ignore_case", "empty_equals_empty", "all_or_nothing"), (True, False)),
}


@dataclass(frozen=True)
class Variant(Scorer):
    """One way to compute ANLS, such as a row of the table `VARIANTS`. Its `signature` identifies the variant."""

    name: str
    meaning: str = ""
    source: str = ""
    ignore_case: bool = True
    whitespace: Whitespace = "squeeze"
    ignored_ending: str = ""
    prediction_length: Length = "normalized"
    reference_length: Length = "normalized"
    kept: Kept = "similarity >= threshold"
    threshold: float = 0.5
    no_answers: tuple[str, ...] = ()
    empty_equals_empty: bool = False
    all_or_nothing: bool = False
    aliases: tuple[str, ...] = ()
    normalize: str = ""

    options = ("threshold", "ignore_case", "normalize")  # not annotated: an attribute of the class rather than a field

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold))
        for field, choices in _CHOICES.items():
            check_choice(field, getattr(self, field), choices)
        if self.normalize:
            rows = import_from_package(*_NORMALIZATION).sort_rows(self.normalize, of_values=False)
            object.__setattr__(self, "normalize", rows)
        if not isinstance(self.no_answers, tuple):  # in a string, each character would be an answer
            raise ValueError(f"no_answers must be a tuple of strings, got {describe(self.no_answers)}")

    def check(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> tuple[list[str], list[Sequence[str]]]:
        """Check the predictions and references, and return both as lists."""
        return check_columns(predictions, references, row_name)

    def score(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> list[float]:
        """Score each row. Returns [] if there are no rows. Raises the same ValueError as `check`."""
        return score_columns(predictions, references, compile_kernel(self), row_name)

    @property
    def as_text(self) -> Callable[[str], str]:
        """The function that normalizes a string before it is compared."""
        return compile_kernel(self).normalize

    def signature(self, extract: str = "") -> str:
        """Return the signature of this variant, as described for the function `signature`."""
        default = VARIANTS.get(self.name, VARIANTS["standard"])
        shown = [
            f"{field}:{getattr(self, field)}"
            for field in _SCORING_FIELDS
            if field == "threshold" or getattr(self, field) != getattr(default, field)
        ]
        return join_signature(self.name, *shown, extract=extract)


@lru_cache(maxsize=256)
def compile_kernel(variant: Variant) -> Kernel:
    """Make the kernel of a variant."""
    squeeze = NORMALIZERS[variant.ignore_case, variant.whitespace]
    ending = variant.ignored_ending
    kernel = Kernel(
        (lambda text: squeeze(text).rstrip(ending)) if ending else squeeze,
        LENGTHS[variant.prediction_length],
        LENGTHS[variant.reference_length],
        *LIMITS[variant.kept](variant.threshold),
        frozenset(variant.no_answers),
        variant.empty_equals_empty,
        variant.all_or_nothing,
    )
    if variant.normalize:
        kernel = import_from_package(*_NORMALIZATION).prepare(kernel, variant.normalize)
    return kernel


# Fields that several programs share: the strings and their lengths as given, or the lengths in uppercase.
_AS_GIVEN: dict[str, Any] = {"whitespace": "keep", "prediction_length": "raw", "reference_length": "raw"}
_UPPER: dict[str, Any] = {"prediction_length": "raw upper", "reference_length": "raw upper"}

# fmt: off
_TABLE = (
    Variant("standard", "case and extra whitespace ignored, a similarity at the threshold passes",
        "https://arxiv.org/abs/1905.13648", aliases=("evalscope", "minicpm_v")),
    Variant("rrc", "the official script of the Robust Reading Competition (RRC), as its leaderboard scores",
        "https://rrc.cvc.uab.es", **_UPPER, aliases=("vlmevalkit", "unitxt", "qwen_vl")),
    Variant("mmpretrain", "the official script with normalized references",
        "https://github.com/open-mmlab/mmpretrain", prediction_length="raw upper",
        reference_length="normalized upper"),
    Variant("pypi_anls", "PyPI anls 0.0.2: a similarity at the threshold scores 0",
        "https://github.com/shunk031/ANLS", prediction_length="normalized upper", reference_length="normalized upper",
        kept="distance / length < threshold"),
    Variant("mistral_evals", "no threshold, punctuation at the end ignored",
        "https://github.com/mistralai/mistral-evals", ignored_ending="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~ ",
        threshold=0.0),
    Variant("mp_docvqa", "spaces inside a string matter; an empty prediction, or `none`, scores 0",
        "https://github.com/rubenpt91/MP-DocVQA-Framework", whitespace="strip", no_answers=("", "none")),
    Variant("stvqa", "the M4C evaluator (in MMF, LLaVA and InternVL): spaces inside a string matter",
        "https://github.com/OpenGVLab/InternVL", whitespace="strip", aliases=("moondream", "mini_monkey")),
    Variant("pix2struct", "all whitespace matters, a similarity at the threshold scores 0",
        "https://github.com/google-research/pix2struct", whitespace="keep", kept="distance / length < threshold",
        aliases=("docowl15",)),
    Variant("paligemma", "like pix2struct, but two empty strings are equal even at threshold 0",
        "https://github.com/google-research/big_vision", whitespace="keep", kept="distance / length < threshold",
        empty_equals_empty=True),
    Variant("molmo", "like pix2struct, but divided by the lengths of the original strings",
        "https://github.com/allenai/molmo", **_AS_GIVEN, kept="distance / length < threshold",
        aliases=("molmo2", "layoutlmv2")),
    Variant("due", "case and all whitespace matter, a similarity at the threshold scores 0",
        "https://github.com/due-benchmark/evaluator", ignore_case=False, **_AS_GIVEN,
        kept="distance / length < threshold"),
    Variant("mmlongbench", "case and all whitespace matter, a similarity must be above the threshold",
        "https://github.com/open-compass/VLMEvalKit", ignore_case=False, whitespace="keep", **_UPPER,
        kept="similarity > threshold"),
    Variant("fast_anls", "case and all whitespace matter, a similarity must be above the threshold",
        "https://notes.penpusher.app/Misc/Speeding+up+Visual+Question+Answering+10x+(Faster+ANLS)", ignore_case=False,
        **_AS_GIVEN, kept="similarity > threshold"),
    Variant("nls", "plain normalized Levenshtein similarity: case and whitespace matter, no threshold",
        "https://docsaid.org/en/blog/impl-normalized-levenshtein-similarity", ignore_case=False, **_AS_GIVEN,
        threshold=0.0, aliases=("docsaid_nls", "docext")),
    Variant("lmms_eval", "lmms-eval since 0.3.0: like rrc, but predictions are stripped first",
        "https://github.com/EvolvingLMMs-Lab/lmms-eval", prediction_length="stripped upper",
        reference_length="raw upper", aliases=("aisbench",)),
    Variant("lmms_eval_0_2", "lmms-eval 0.1.0 to 0.2.4: like rrc, but every score above 0 becomes full",
        "https://github.com/EvolvingLMMs-Lab/lmms-eval/tree/v0.2.4", **_UPPER, all_or_nothing=True),
    Variant("openbench", "spaces inside a string matter, a similarity at the threshold scores 0",
        "https://github.com/groq/openbench", whitespace="strip", kept="distance / length < threshold",
        aliases=("latin_prompt",)),
    Variant("monkey", "like stvqa, but divided by the lengths of the stripped prediction and the original reference",
        "https://github.com/Yuliang-Liu/Monkey", whitespace="strip", prediction_length="stripped",
        reference_length="raw"),
    Variant("inspect_evals", "like molmo, but two empty strings are equal even at threshold 0",
        "https://github.com/UKGovernmentBEIS/inspect_evals", **_AS_GIVEN, kept="distance / length < threshold",
        empty_equals_empty=True),
    Variant("layoutlmv3_docvqa", "like molmo, but an empty prediction scores 0",
        "https://github.com/allanj/LayoutLMv3-DocVQA", **_AS_GIVEN, kept="distance / length < threshold",
        no_answers=("",)),
    Variant("florence2", "Florence-2 fine-tuning: like due, but an empty prediction scores 0",
        "https://github.com/andimarafioti/florence2-finetuning/blob/main/metrics.py", ignore_case=False, **_AS_GIVEN,
        kept="distance / length < threshold", no_answers=("",)),
    Variant("lmms_eval_slidevqa", "lmms-eval's SlideVQA: all whitespace matters, a similarity must be above the threshold",
        "https://github.com/EvolvingLMMs-Lab/lmms-eval/blob/main/lmms_eval/tasks/slidevqa/utils.py",
        whitespace="keep", kept="similarity > threshold", no_answers=("",)),
    Variant("squad_anls", "normalized as by SQuAD: without ASCII punctuation and the articles a, an and the",
        "https://rajpurkar.github.io/SQuAD-explorer", whitespace="words"),
    Variant("vlmevalkit_dude", "VLMEvalKit's DUDE and SlideVQA: all whitespace matters, a similarity must be above the threshold",
        "https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/dude.py", whitespace="keep",
        prediction_length="normalized upper", reference_length="normalized upper", kept="similarity > threshold"),
    Variant("vlmevalkit_mmlongbench", "VLMEvalKit's MMLongBench since 2026: like mmlongbench, but no threshold",
        "https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/utils/mmlongbench_metrics.py",
        ignore_case=False, whitespace="keep", **_UPPER, kept="similarity > threshold", threshold=0.0),
)
# fmt: on
VARIANTS: Mapping[str, Variant] = MappingProxyType({variant.name: variant for variant in _TABLE})
NAMES: Mapping[str, Variant] = {name: variant for variant in _TABLE for name in (variant.name, *variant.aliases)}

# The fields that determine the score; the other fields describe the variant.
_SCORING_FIELDS = [
    field.name for field in fields(Variant) if field.name not in ("name", "meaning", "source", "aliases")
]


def get_variant(
    variant: str | Variant = "standard", threshold: float | None = None, ignore_case: bool | None = None
) -> Variant:
    """Return the variant with the given name, with any given options in place of its own."""
    if isinstance(variant, str):
        known = SCORERS.get(variant)
        if not isinstance(known, Variant):
            raise ValueError(_describe_other(variant))
        variant = known
    elif not isinstance(variant, Variant):
        if not vars(type(variant)).get("__dataclass_fields__", {}).keys() >= {*_SCORING_FIELDS}:
            names = ", ".join(VARIANTS)
            raise ValueError(f"variant is {describe(variant)}: pass a Variant or one of the names {names}")
        variant = Variant(**vars(variant))  # evaluate.load imports a copy of this file, which has its own class
    found: Any = get_scorer(variant, threshold=threshold, ignore_case=ignore_case)
    return found  # type: ignore[no-any-return]


def _describe_other(name: str) -> str:
    """Explain that a name is not a string variant, and suggest the call for another metric or a similar name."""
    scorer = SCORERS.get(name)
    if scorer is None:
        return describe_unknown_scorer(name)
    what = "is for structured answers" if scorer.reads_json else "is not a variant of ANLS"
    what = "needs more than predictions and references" if scorer.columns else what
    return f'{name} {what}: score with get_scorer("{name}"), or with score(..., variant="{name}")'


def signature(
    variant: str | Scorer = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    extract: str = "",
) -> str:
    """Return a short string that describes how a score was computed, to be printed next to the score and reported with it."""
    return get_scorer(variant, threshold=threshold, ignore_case=ignore_case).signature(extract)


# For a prediction longer than this many characters, avoiding the edit distance is faster than computing it.
LONG = 64


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def split_into_words(text: str) -> list[str]:
    """Split a string into words, leaving out ASCII punctuation and lowercase articles, as SQuAD does."""
    return _ARTICLES.sub(" ", text.translate(_NO_PUNCTUATION)).split()


# (ignore_case, whitespace) -> the function that normalizes a string before the comparison.
NORMALIZERS: Mapping[tuple[bool, str], Callable[[str], str]] = {
    (True, "squeeze"): lambda text: " ".join(text.lower().split()),
    (True, "strip"): lambda text: text.lower().strip(),
    (True, "keep"): str.lower,
    (True, "words"): lambda text: " ".join(split_into_words(text.lower())),
    (False, "squeeze"): lambda text: " ".join(text.split()),
    (False, "strip"): str.strip,
    (False, "keep"): str.__str__,
    (False, "words"): lambda text: " ".join(split_into_words(text)),
}

# The name of a length -> the length, computed from the raw and the normalized string. Uppercasing makes some longer.
LengthOf = Callable[[str, str], int]
LENGTHS: Mapping[str, LengthOf] = {
    "normalized": lambda text, normalized: len(normalized),
    "normalized upper": lambda text, normalized: len(normalized.upper()),
    "stripped": lambda text, normalized: len(text.strip()),
    "stripped upper": lambda text, normalized: len(text.strip().upper()),
    "raw": lambda text, normalized: len(text),
    "raw upper": lambda text, normalized: len(text.upper()),
}

# The rule that keeps a score -> a function that maps the threshold to the smallest similarity and the largest
# distance / length that keep a score.
LIMITS: Mapping[str, Callable[[float], tuple[float, float]]] = {
    "similarity >= threshold": lambda threshold: (threshold, math.inf),
    "similarity > threshold": lambda threshold: (math.nextafter(threshold, math.inf), math.inf),
    "distance / length < threshold": lambda threshold: (0.0, math.nextafter(threshold, -math.inf)),
}


@dataclass(frozen=True, eq=False)
class Kernel:
    """The loop that scores strings, with the properties of a variant that the loop needs."""

    normalize: Callable[[str], str]
    prediction_length: LengthOf
    reference_length: LengthOf
    low: float  # a score is kept at this similarity or above ...
    high: float  # ... and at this distance / length or below
    no_answers: Collection[str]  # normalized predictions that score 0
    empty_equals_empty: bool  # whether two empty strings score 1 at any threshold
    all_or_nothing: bool  # whether every score above 0 becomes 1

    def keep(self, answer: str, accepted: str, ratio: float) -> float:
        """Convert `ratio`, which is distance / length for an answer and the closest reference, to a score."""
        if answer in self.no_answers:
            return 0.0
        if self.empty_equals_empty and not answer and not accepted:
            return 1.0
        similarity = 1 - ratio
        score = similarity if similarity >= self.low and ratio <= self.high else 0.0
        return 1.0 if score and self.all_or_nothing else score

    @cached_property
    def limit(self) -> float:
        """A limit above which no distance / length is kept, even after rounding."""
        return min(self.high, 1.0 - self.low + 1e-9)

    def score(self, prediction: str, references: Sequence[str]) -> float:
        """Score a prediction against its references, all of which must be strings that have already been checked."""
        return next(self.score_rows([(prediction, references)]))

    @cached_property
    def score_rows(self) -> Callable[[Iterable[tuple[str, Sequence[str]]]], Iterator[float]]:
        """The function that scores rows of a prediction and its references, one row at a time."""
        normalize, no_answers, low, high, limit = self.normalize, self.no_answers, self.low, self.high, self.limit
        prediction_length, reference_length = self.prediction_length, self.reference_length
        measures_normalized = prediction_length is LENGTHS["normalized"]
        # Whether the functions of the kernel can be inlined: two calls per string would take a fifth of the time.
        measures_alike = measures_normalized and reference_length is prediction_length
        plain = normalize is NORMALIZERS[True, "squeeze"] and measures_alike and not no_answers
        bounded = measures_normalized and limit < 1
        equal, equal_empty = self.keep("a", "a", 0.0), self.keep("", "", 0.0)
        raw_match = not no_answers and equal == equal_empty  # strings that are equal as given are equal once normalized
        distance, far, long, all_or_nothing = Levenshtein.distance, math.inf, LONG, self.all_or_nothing

        def score_rows(rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[float]:
            for prediction, references in rows:
                if raw_match and prediction in references:
                    yield equal
                    continue
                is_long = len(prediction) > long
                if is_long and bounded and _is_too_long(prediction, references, self):
                    yield 0.0
                    continue
                if plain:
                    answer = " ".join(prediction.lower().split())
                    answer_length = len(answer)
                else:
                    answer = normalize(prediction)
                    answer_length = prediction_length(prediction, answer)
                    if answer in no_answers:
                        yield 0.0
                        continue
                least = far
                for reference in references:
                    if plain:
                        accepted = " ".join(reference.lower().split())
                        length = len(accepted)
                    else:
                        accepted = normalize(reference)
                        length = reference_length(reference, accepted)
                    if accepted == answer:
                        yield equal if answer else equal_empty
                        break
                    if length < answer_length:
                        length = answer_length
                    if is_long:
                        # With more edits than this, the score is 0 or another reference is closer.
                        most = int((least if least < limit else limit) * length) + 1
                        ratio = distance(answer, accepted, score_cutoff=most) / length
                    else:
                        ratio = distance(answer, accepted) / length
                    if ratio < least:
                        least = ratio
                else:
                    similarity = 1 - least
                    score = similarity if similarity >= low and least <= high else 0.0
                    yield 1.0 if all_or_nothing and score else score

        return score_rows


# How many rows are checked and then scored at a time. So few stay in the processor's cache between the two steps.
CHUNK = 1024


def score_columns(predictions: Any, references: Any, kernel: Kernel, row_name: RowName = name_row) -> list[float]:
    """Score each row of two columns of any supported type."""
    predictions, references = pair_columns(predictions, references)
    scores: list[float] = []
    for first in range(0, len(predictions), CHUNK):
        chunk = slice(first, first + CHUNK)
        scores += kernel.score_rows(zip(*check_rows(predictions[chunk], references[chunk], row_name, first)))
    return scores


def _is_too_long(prediction: str, references: Sequence[str], kernel: Kernel) -> bool:
    """Whether the beginning of a prediction is enough to show that the whole prediction scores 0."""
    # Changing the case turns a character into at most three, and an ASCII character into one. The other steps of
    # normalizing only remove characters.
    longest = max(map(len, references)) * (1 if "".join(references).isascii() else 3)
    enough = int(longest / (1 - kernel.limit)) + 5
    # A quarter more characters, because normalizing removes some of the whitespace among them.
    beginning = enough + enough // 4 + 1
    return len(prediction) > beginning and len(kernel.normalize(prediction[:beginning])) > enough


def as_text(value: object, what: str) -> str:
    """Return the value as a plain string, or raise an error if it is not a string."""
    if isinstance(value, str):
        return str.__str__(value)  # converts numpy.str_ and enumerations to plain strings
    advice = "pass a string"
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        advice += ' ("" for no answer), or leave it out'
    elif isinstance(value, bytes):
        advice += " (decode the bytes first)"
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e20):
        advice += f' ("{value}")'
    elif isinstance(value, (list, tuple)):
        advice += ", not a list (decode token ids first)"
    elif isinstance(value, Mapping):
        advice += f" from this dict, which has the keys {_list_keys(value)}"
    raise ValueError(f"{what} is {describe(value)}, not a string: {advice}")


def _list_keys(value: Mapping[Any, Any]) -> str:
    return ", ".join(map(repr, islice(value, 5))) or "(none)"


def as_references(value: Any, what: str) -> Sequence[str]:
    """Return the references of one row, or raise an error if they are not strings."""
    if isinstance(value, str):
        return (as_text(value, what),)
    if isinstance(value, (list, tuple)) and value and are_strings(value):
        return tuple(value)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=describe)
    items = as_column(value, what, "pass a list of strings, the references")
    if not items:
        raise ValueError(f"{what} is an empty list: add a reference, or leave the question out")
    return tuple(as_text(text, f"{what}, item {item},") for item, text in enumerate(items))


# The methods that convert a library's column to a list, in order of preference.
COLUMN_METHODS = ("to_pylist", "tolist", "to_list")

# The methods that fetch the rows of a lazy table or column, in order of preference.
LAZY_METHODS = ("compute", "collect")


def has_stream(data: Any) -> bool:
    """Whether data is an Arrow stream. The class is checked because an instance may claim to have every attribute."""
    return hasattr(type(data), "__arrow_c_stream__")


def find_lazy_call(data: Any) -> str | None:
    """Return the call that fetches the rows of a lazy table or column, such as ".collect()", or None for other data."""
    method = next((method for method in LAZY_METHODS if hasattr(type(data), method)), None)
    return f".{method}()" if method and not has_stream(data) else None


def read_stream(data: Any, what: str) -> Any:
    """Read an Arrow stream as a pyarrow table. Raises ValueError if pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise ValueError(f"{what} is a {type(data).__name__}, which needs pyarrow: pip install pyarrow") from error
    return pyarrow.table(data)


def as_column(column: Any, what: str, advice: str = "pass a list") -> list[Any]:
    """Convert a column of any supported type to a list."""
    if isinstance(column, list):
        return column
    kind = type(column).__name__
    call = find_lazy_call(column)
    if call:
        raise ValueError(f"{what} is a lazy {kind}: call {call} first")
    is_table = hasattr(type(column), "columns")
    if has_stream(column) and (is_table or not any(hasattr(type(column), method) for method in COLUMN_METHODS)):
        columns = read_stream(column, what).columns
        if len(columns) == 1:
            return columns[0].to_pylist()  # type: ignore[no-any-return]
        is_table = True
    if is_table:
        raise ValueError(f'{what} is a {kind}: pass one of its columns, like frame["prediction"], as a list')
    if isinstance(column, Mapping):
        raise ValueError(f"{what} is a dict with the keys {_list_keys(column)}, not a list: {advice}")
    method = next((method for method in COLUMN_METHODS if hasattr(type(column), method)), None)
    items = getattr(column, method)() if method else column
    if isinstance(items, Iterable) and not isinstance(items, (str, bytes, set, frozenset)):
        return list(items)
    raise ValueError(f"{what} is {describe(column)}: {advice}")


def check_columns(
    predictions: Any, references: Any, row_name: RowName = name_row
) -> tuple[list[str], list[Sequence[str]]]:
    """Return N predictions as strings and their references as N lists of strings."""
    return check_rows(*pair_columns(predictions, references), row_name)


def pair_columns(predictions: Any, references: Any) -> tuple[list[Any], list[Any]]:
    """Convert two columns of any supported type to lists of equal length."""
    predictions = as_column(predictions, "predictions", "pass a list of strings, one for each question")
    references = as_column(references, "references", "pass a list with the references of each question")
    if len(predictions) != len(references):
        raise ValueError(
            f"the lengths differ (predictions has {len(predictions):,}, references has {len(references):,}): "
            "pass one list of references for each prediction"
        )
    return predictions, references


def check_rows(
    predictions: list[Any], references: list[Any], row_name: RowName = name_row, first: int = 0
) -> tuple[list[str], list[Sequence[str]]]:
    """Check rows and return the predictions as strings and the references as lists of strings."""
    # Whole columns are checked first, because that is several times as fast as checking row by row.
    if set(map(type, predictions)) - {str}:
        predictions = [
            as_text(text, f"the prediction of {row_name(row)}") for row, text in enumerate(predictions, first)
        ]
    kinds = set(map(type, references))
    if kinds == {str}:
        text = references[0]
        if first == 0 and _looks_like_list(text):  # as in a table that pandas wrote, or a column of Dask
            sentence = (
                f"the references of {row_name(0)} are one string that looks like a list, {describe(text)}: "
                "{}parse it, for example with ast.literal_eval"
            )
            if len(references) > 1 and all(map(_looks_like_list, references)):
                raise ValueError(sentence.format(""))
            warnings.warn(sentence.format("if it is one, "), stacklevel=3)
        references = list(zip(references))
    elif not (kinds <= {list, tuple} and all(references) and are_strings(map("".join, references))):
        references = [
            as_references(texts, f"the references of {row_name(row)}") for row, texts in enumerate(references, first)
        ]
    return predictions, references


def _looks_like_list(text: str) -> bool:
    return text[:2] in ("['", '["') and text[-1] == "]"


def are_strings(values: Iterable[Any]) -> bool:
    """Whether all values are strings. Joining the values is the fastest way to find out."""
    try:
        "".join(values)
    except TypeError:
        return False
    return True


Extract = Callable[[str], str | None]
Ids = list[list[int]]  # the ids of each row
References = Sequence[Any]  # the accepted answers of each row

_METRICS = "anls_metric.core.strings.metrics"
_SIMILAR = 0.7  # labels that differ only slightly after decoding are more similar than this


def as_extract(extract: Any, scorer: Scorer) -> Extract:
    """Return a function that extracts an answer from a string, given a function, the names of rules for a scorer, or None for the whole string."""
    if extract is None:
        return str
    if isinstance(extract, str):
        rules = import_from_package("anls_metric.core.extraction.extract", "an extraction step")
        return rules.extractor_for(scorer, extract)  # type: ignore[no-any-return]
    if callable(extract):
        return extract  # type: ignore[no-any-return]
    raise ValueError(
        f"extract is {describe(extract)}: pass extraction steps, or a function of a string that returns the answer"
    )


def extract_answer(text: str, extract: Extract, what: str, default: str = "") -> str:
    """Extract the answer from a string, or return the default if ``extract`` returns None."""
    answer = extract(text)
    return default if answer is None else as_text(answer, f"what extract made of {what}")


class Decoder:
    """A decoder of token ids that also extracts and scores the answers."""

    def __init__(
        self,
        tokenizer: Any,
        references: Any = None,
        extract: Extract | str | None = None,
        skip_special_tokens: bool = True,
        metrics: str | Sequence[str] = (),
        variant: Any = "standard",
        **options: Any,
    ) -> None:
        self.scorer = scorer = get_scorer(variant, **options)
        names = [name.strip() for name in metrics.split(",") if name] if isinstance(metrics, str) else list(metrics)
        if names and scorer.form != "text":
            others = f"not to the answers of {scorer.name}"
            raise ValueError(f"metrics apply only to strings, {others}: leave the metrics out")
        self.tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        self.sets = None if references is None else read_sets(references, scorer)
        self.extract = as_extract(extract, scorer)
        self.skip_special_tokens = skip_special_tokens
        known = import_from_package(_METRICS, "a further metric") if names else None
        self.metrics: Sequence[Metric] = known.find_metrics(names) if known else []

    def decode(self, rows: Ids, what: str) -> list[str]:
        """Decode token ids and extract the answers."""
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=self.skip_special_tokens)
        answers = [
            extract_answer(text, self.extract, f"the {what} of {name_row(row)}", text if what == "label" else "")
            for row, text in enumerate(texts)
        ]
        if what == "prediction" and any(texts) and not any(answers):
            where = f"any of {len(texts):,} predictions; the first is {describe(texts[0])}"
            warnings.warn(f"extract finds no answer in {where}", stacklevel=4)
        return answers

    def score_ids(self, ids: Ids, references: References) -> tuple[list[str], list[Any], dict[str, float]]:
        """Decode the token ids of predictions, and return the answers, their scores and the mean of each metric."""
        answers = self.decode(ids, "prediction")
        scores = score_rows(self.scorer, answers, references)
        means = {self.scorer.key: self.scorer.mean(scores)}
        if self.metrics:
            columns = self.scorer.check(answers, references)
            means |= {each.name: each.average(*columns, scores, self.scorer) for each in self.metrics}
        return answers, scores, means

    def describe_other_labels(self, labels: list[str | None], missing: list[int], references: References) -> str:
        """Describe the first mismatched label, or return "" if most labels match or resemble their references."""
        rows = [row for row, label in enumerate(labels) if label]
        texts, accepted = [labels[row] or "" for row in rows], [references[row] for row in rows]
        similar = get_variant("nls", ignore_case=True) if self.scorer.form == "text" else self.scorer
        similarities = score_rows(similar, texts, accepted)
        if 2 * len(missing) <= len(rows) or sum(similarities) >= _SIMILAR * len(rows):
            return ""
        row = missing[0]
        return (
            f"the labels of {len(missing):,} of {len(rows):,} rows are not among their references; the first is "
            f"{name_row(row)}, {describe(labels[row])} beside {describe(references[row])}"
        )


def read_sets(references: Any, scorer: Scorer) -> list[References]:
    """Read and check the references of each evaluation set."""
    sets: list[References] = []
    for column in references.values() if isinstance(references, Mapping) else [references]:
        rows = as_column(column, "references", "pass a list with the references of each row of the evaluation set")
        rows = list(map(scorer.read_references, rows)) if scorer.reads_json else rows
        sets.append(scorer.check([""] * len(rows), rows)[1])
    return sets


def fold(value: Any) -> str:
    """Return a string, or the JSON form of any other value, with case and whitespace normalized."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return " ".join(text.casefold().split())


def list_texts(references: References) -> set[str]:
    """Collect the references as folded strings. A list adds its items and, since it may be a value, also itself."""
    lists = [[each, *each] if isinstance(each, (list, tuple)) else [each] for each in references]
    return {fold(text) for each in lists for text in each}


def score_rows(scorer: Scorer, texts: Sequence[str], references: References) -> list[Any]:
    """Score each generated string, treating a string that the scorer cannot read as a missing answer."""
    if scorer.form == "text":
        return scorer.score(texts, references)
    rows = zip(texts, references)
    return [score_text(scorer, text, accepted, name_row(row))[0] for row, (text, accepted) in enumerate(rows)]


def score_text(scorer: Scorer, text: str, references: Any, row: str) -> tuple[Any, bool]:
    """Return the score of a generated string, and whether the scorer can read the string."""
    try:
        prediction = scorer.parse_output(text)
    except ValueError:
        return scorer.score_missing(references, row), False
    return scorer.score([prediction], [references], lambda _: row)[0], True


# Ids that stand for no token, at positions without a label and where the logits are NaN.
_NOTHING, _NOT_A_NUMBER = -100, -1000

_MANY = 8  # more tokens than fit the labels of the next position by chance

_SET_EACH = "set `trainer.compute_metrics` before each `trainer.evaluate(...)`"


_TEACHER_FORCED = (
    "the predictions are logits, for which the model saw the correct tokens before each position, so the score is "
    "higher than that of its own answers: set predict_with_generate=True in Seq2SeqTrainingArguments"
)


def build_compute_metrics(
    tokenizer: Any,
    references: Any = None,
    extract: Extract | str | None = None,
    *,
    causal: bool = False,
    skip_special_tokens: bool = True,
    threshold: float | None = None,
    variant: Any = "standard",
    ignore_case: bool | None = None,
    metrics: str | Sequence[str] = (),
) -> ComputeMetrics:
    """Build ``compute_metrics`` for transformers' ``Trainer`` and ``Seq2SeqTrainer``, and for TRL's ``SFTTrainer``."""
    options = {"variant": variant, "threshold": threshold, "ignore_case": ignore_case}
    return ComputeMetrics(causal, tokenizer, references, extract, skip_special_tokens, metrics, **options)


@dataclass
class _Rows:
    """The token ids of the rows of an evaluation, and whether every row so far begins without a label, as it does after a masked prompt."""

    predicted: Ids
    expected: Ids
    begin_masked: bool


class ComputeMetrics(Decoder):
    """The function that `build_compute_metrics` returns, which scores an evaluation as a whole or in batches."""

    __name__ = "anls"

    def __init__(self, causal: bool, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.causal = causal
        self.reset()

    def reset(self) -> None:
        """Discard the rows of an evaluation that was interrupted between two batches."""
        self.rows = _Rows([], [], True)

    def preprocess_logits_for_metrics(self, logits: Any, labels: Any = None) -> Any:
        """Reduce logits to predicted ids. Pass this method as ``Trainer(preprocess_logits_for_metrics=...)``."""
        logits = _take_first(logits)
        if logits.ndim != 3:
            return logits
        if not self.causal:
            warnings.warn(_TEACHER_FORCED, stacklevel=2)
        highest, ids = logits.max(-1), logits.argmax(-1)
        highest = getattr(highest, "values", highest)  # a tensor also returns the indices
        ids[highest != highest] = _NOT_A_NUMBER  # only NaN differs from itself
        if self.causal:
            ids[..., 1:] = ids[..., :-1] + 0  # + 0 makes a copy of an array and of a tensor
            ids[..., 0] = _NOTHING
        if labels is not None:
            ids[_take_first(labels) < 0] = _NOTHING
        return ids

    def __call__(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Score a whole evaluation, or add a batch to the current one."""
        rows = self.rows
        self.reset()  # no rows are left after an error
        batches, labels = tuple(eval_prediction)[:2]
        if not isinstance(batches, list):
            batches, labels = [batches], [labels]
        for batch in zip(batches, labels or [None] * len(batches), strict=True):
            self._add(rows, *batch)
        if not compute_result:
            self.rows = rows
            return {}
        predicted, expected = rows.predicted, rows.expected
        if rows.begin_masked and not self.causal:
            _refuse_shifted(predicted, expected)
        if self.sets is None:
            _warn_of_unlabeled(expected)
            predicted = [ids for ids, label in zip(predicted, expected) if label]
            labels = self.decode([label for label in expected if label], "label")
            references: Sequence[Any] = list(map(self.scorer.read_answer, labels))
        else:
            references = self._choose_references(predicted, expected, self.sets)
        _, _, means = self.score_ids(predicted[: len(references)], references)
        return means

    def _add(self, rows: _Rows, predictions: Any, labels: Any) -> None:
        """Add the ids of a batch, given its arrays."""
        ids = self.preprocess_logits_for_metrics(predictions, labels).tolist()
        label_ids = [[]] * len(ids) if labels is None else _take_first(labels).tolist()
        if len(ids) != len(label_ids):
            numbers = f"{len(ids):,} predictions for {len(label_ids):,} rows"
            raise ValueError(f"got {numbers}: generate one for each row (num_return_sequences=1)")
        pad = getattr(self.tokenizer, "pad_token_id", None)
        for row, label in zip(ids, label_ids):
            _refuse_unreadable(row, label, name_row(len(rows.predicted)))
            rows.begin_masked &= bool(label) and row[0] < 0 and label[0] < 0
            # With generated ids, `Seq2SeqTrainer` pads labels with this token, to a length that depends on the batch.
            padding = pad if row and row[0] >= 0 else None
            rows.predicted.append([item for item in row if item >= 0])
            rows.expected.append([item for item in label if item >= 0 and item != padding])

    def _choose_references(self, predicted: Ids, expected: Ids, sets: Sequence[References]) -> References:
        """Choose the references of an evaluation by the number of rows and the labels, and return them in the order of the labels."""
        size = _choose_size(predicted, expected, [len(each) for each in sets])
        labels = [text if ids else None for ids, text in zip(expected, self.decode(expected[:size], "label"))]
        folded = [label and fold(self.scorer.read_answer(label)) for label in labels]
        fitting = [(sum(map(list_texts(each).__contains__, folded)), each) for each in sets if len(each) == size]
        most = max(count for count, _ in fitting)
        best = [each for count, each in fitting if count == most]
        if len(best) > 1:
            raise ValueError(f"two sets of references have {size:,} rows each, and both fit the labels: {_SET_EACH}")
        (references,) = best
        missing = [row for row, text in enumerate(folded) if text and text not in list_texts([references[row]])]
        if missing:
            ordered = _order_by_labels(folded, references)
            if ordered is not None:
                return ordered
            problem = self.describe_other_labels(labels, missing, references)
            unlike = [row for row in missing if not _overlaps(folded[row] or "", references[row])]
            if problem and 2 * len(unlike) > len(missing):
                raise ValueError(
                    f"{problem}: pass the references of each set in a dict "
                    '(references={"validation": ..., "test": ...}), and turn off options that order the rows '
                    "(group_by_length, shuffle_dataset)"
                )
            if problem:
                warnings.warn(f"{problem}. Perhaps labels are cut off, or need extract=", stacklevel=3)
        return references


def _overlaps(label: str, references: Any) -> bool:
    """Whether a folded label contains a reference of its row, or is contained in one."""
    return any(text in label or label in text for text in list_texts([references]) if text)


def _order_by_labels(labels: Sequence[str | None], references: References) -> References | None:
    """Put references in the order of the labels, or return None if a label matches no references or several different ones."""
    places: dict[str, list[int]] = {}
    for place, accepted in enumerate(references):
        for text in list_texts([accepted]):
            places.setdefault(text, []).append(place)
    ordered = [places.get(label or "", []) for label in labels]
    free = {tuple(each): iter(each) for each in ordered}  # rows with the same references share their places
    if any(len({str(references[place]) for place in each}) != 1 for each in ordered):
        return None
    chosen = [next(free[tuple(each)], None) for each in ordered]
    return None if None in chosen else [references[place] for place in chosen]  # type: ignore[index]


def _refuse_shifted(predicted: Ids, expected: Ids) -> None:
    """Raise ValueError if logits fit the labels one position later far better than their own, as those of a decoder-only model do."""
    total = sum(map(len, expected))
    own = sum(ids == label for row in zip(predicted, expected) for ids, label in zip(*row))
    ahead = sum(ids == label for row, labels in zip(predicted, expected) for ids, label in zip(row, labels[1:]))
    if ahead > max(2 * own, total / 4) or ahead > 3 * own + _MANY:  # the second at the beginning of training
        raise ValueError(
            "the logits fit the labels shifted by one position: pass causal=True, because the model is decoder-only"
        )


def _warn_of_unlabeled(labels: Ids) -> None:
    """Warn about rows without labels. Raises ValueError if no row has a label."""
    missing = labels.count([])
    if missing:
        problem = (
            f"{missing:,} of {len(labels):,} rows have no labels, the first is {name_row(labels.index([]))}, and are "
            "left out of the score: pass references, or see whether answers are cut off at a maximal length"
        )
        if missing == len(labels):
            raise ValueError(problem)
        warnings.warn(problem, stacklevel=3)


def _choose_size(predicted: Ids, labels: Ids, sizes: Sequence[int]) -> int:
    """Return the number of rows in the evaluated set, which is smaller than the number in the evaluation if a distributed run padded the set."""
    # The rows that fill the last batch repeat the first ones, which labels do not show if they are all the same.
    count, labels_differ = len(labels), len(set(map(tuple, labels))) > 1
    sizes = list(dict.fromkeys(sizes))

    def repeats_first_rows(rows: Ids, size: int) -> bool:
        return size < count and rows[size:] == rows[:-size]

    fitting = [size for size in sizes if size == count or (labels_differ and repeats_first_rows(labels, size))]
    if len(fitting) > 1:
        fitting = [size for size in fitting if size == count or repeats_first_rows(predicted, size)]
    if len(fitting) == 1:
        return fitting[0]
    numbers = ", ".join(f"{size:,}" for size in fitting or sizes)
    advice = (
        'pass references for every row of each evaluated set (references={"validation": ..., "test": ...}), and set '
        "dataloader_drop_last=False. If an evaluation was interrupted, call reset() and evaluate again"
    )
    if fitting:
        advice = f"some may repeat the first rows, so {_SET_EACH}"
    raise ValueError(f"there are {count:,} predictions but references for {numbers} rows: {advice}")


def _refuse_unreadable(predicted: list[int], label: list[int], row: str) -> None:
    """Raise ValueError for input that would silently lead to a wrong score."""
    if _NOT_A_NUMBER in predicted:
        raise ValueError(f"the logits of {row} are NaN: check the loss, and evaluate in float32 or bfloat16")
    # Ids from the logits of a decoder-only model have no token at the first position; generated ids have one.
    if label and predicted[0] < 0 <= label[0]:
        raise ValueError(
            f"the labels of {row} include the prompt: mask it with -100 (SFTTrainer does so for the columns `prompt` "
            "and `completion`, and with assistant_only_loss=True for conversations), or drop causal=True if the model "
            "has an encoder"
        )
    if sum(left < 0 <= right for left, right in pairwise([_NOTHING, *predicted])) > 1:
        raise ValueError(
            f"the prediction for {row} is not contiguous, as happens with packed rows or multi-turn conversations: "
            "evaluate one answer per row (in SFTTrainer, set eval_packing=False; if it packs for training, "
            "also set per_device_eval_batch_size=1)"
        )


def _take_first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs


SCORERS.tables += [lambda: NAMES, lambda: load_table("anls_metric:SCORERS")]  # the package for other names


def __getattr__(name: str) -> Any:
    """Take explanations from the package."""
    if name not in ("Edit", "Explanation", "Match", "explain"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_from_package("anls_metric", name), name)


if __name__ == "__main__":
    sys.exit("this file is a module, not a command: pip install anls-metric, and run anls")
