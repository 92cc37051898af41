"""Defines `Anls`, the metric for Hugging Face evaluate, and `load`, which creates the metric without the Hub."""

from __future__ import annotations

import inspect
import os
import platform
import sys
import time
import weakref
from collections import deque
from contextlib import suppress
from glob import escape, glob
from itertools import chain
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from anls_metric.core.checks import describe, describe_unknown, name_row
from anls_metric.core.scorer import Scorer, get_scorer, import_from_package
from anls_metric.transformers import ComputeMetrics, build_compute_metrics

__all__ = ["load"]

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
        """Add one prediction and its references for the next `compute`. `add_batch` explains why this method is
        overridden.

        ``evaluate.combine`` passes the row as ``predictions`` and ``references``. A row that cannot be scored raises
        ValueError and is not added.
        """
        for name in set(columns) - {"predictions", "references"}:
            raise ValueError(describe_unknown("argument", name, ["prediction", "reference"]))
        row = {"predictions": prediction, "references": reference, **columns}
        given = {name: [value] for name, value in row.items() if value is not ...}  # None is a value
        self.add_batch(**given)

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add predictions and their references for the next `compute`.

        This method replaces the base class's method for two reasons. First, the base class stores rows with Arrow,
        which takes six times as long. Second, the base class returns wrong numbers without an error for references that
        are nested one level too deep, for dicts and for bare strings; a lone surrogate even breaks the instance.

        A row that cannot be scored raises ValueError, which gives the number of the row, counted from the first row
        that was added. No part of the batch is added.
        """
        self._add(self._find_scorer(), predictions, references)

    def _add(self, scorer: Scorer, predictions: Any, references: Any) -> None:
        rows = scorer.check(predictions, references, lambda row: name_row(len(self) + row))
        self._batches.append(scorer.copy_rows(rows))  # the caller may change its lists

    def _take_rows(self) -> list[Any]:
        """Remove and return the rows that have been added so far. Rows that another thread adds in the meantime stay
        for the next call.
        """
        batches = [self._batches.popleft() for _ in range(len(self._batches))]
        return [list(chain.from_iterable(column)) for column in zip(*batches)] or [[], []]

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Score the rows that were added before together with the given rows. Afterwards, the metric is empty, even
        after an error.

        In a distributed run, all processes except the first return None.
        """
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
        """Gather the rows of all processes in process 0, using the base class's files, and return None in all other
        processes.
        """
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
        """Create a file, the mark, that stays locked as long as this metric exists, and return its name. If a running
        process with the same number has left a mark, the process belongs to another job, and a note is put next to both
        marks.
        """
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
        """Describe the job of this process by the variables that its launcher set and by the parent process on this
        machine.
        """
        node, told = platform.node(), [os.environ.get(name, "") for name in _OF_JOBS]
        if os.environ.get("MASTER_ADDR", "").startswith(("127.", "localhost", "::1")):
            told.append(node)  # such a job has no process on another machine
        return [*([("launcher", " ".join(told))] if any(told) else []), (f"machine {node}", str(os.getppid()))]

    def _refuse_two_jobs(self, jobs: Any) -> None:
        """Raise ValueError if the rows come from two jobs, given the mark of each process and the description of its
        job.
        """
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
    """Load the same metric as ``evaluate.load``, without contacting the Hub.

    Args:
        config_name: the default variant of ``compute``; or "anls_star" or "anlsl" to score lists and nested values.
        **kwargs: defaults for the options of ``compute``, and arguments of ``evaluate.Metric`` (``num_process``,
            ``process_id``, ``experiment_id``, ``cache_dir``, ...).

    Returns:
        An ``Anls``, a subclass of ``evaluate.Metric``.

    Raises:
        ImportError: evaluate is not installed.
        ValueError: an option or variant is unknown.

    Example:
        >>> load(variant="rrc").compute(predictions=["ab  "], references=["a"])
        {'anls': 0.75}

    Source: https://huggingface.co/docs/evaluate/package_reference/loading_methods.
    """
    return Anls(config_name, **kwargs)


def _import_evaluate() -> None:
    """Import evaluate, and make its class ``Metric`` the base class of `Anls`. Raises ImportError if evaluate is not
    installed.
    """
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
