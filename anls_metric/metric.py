"""The metric for Hugging Face evaluate.

The class `Anls` is created on first use, so that this module can be imported without evaluate.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import chain, repeat, starmap
from typing import TYPE_CHECKING, Any, TypeVar

from anls_metric.core.choices import describe_unknown
from anls_metric.core.rows import describe, is_list_of_texts, name_row, name_rows_from
from anls_metric.core.variants import OF_VALUES, Scorer, Variant, get_variant
from anls_metric.transformers import ComputeMetrics, Extract, build_compute_metrics

if TYPE_CHECKING:
    from evaluate import Metric as _Base

    from anls_metric.nested import Average, NoneKeys
else:
    _Base = object  # `_define_metric` adds evaluate.Metric as a base class

__all__ = ["load"]

_Item = TypeVar("_Item")

_NOT_GIVEN: Any = object()  # None is a value that can be scored

_DESCRIPTION = """\
ANLS (Average Normalized Levenshtein Similarity) scores answers that are read from documents and scenes, as in
DocVQA, InfographicVQA and ST-VQA. An answer scores 1 - edit distance / length against the closest of the
accepted answers, so that a slip of the OCR costs little. If this similarity is below the threshold of 0.5, the
answer is taken to be another one, and scores 0. ANLS is the mean of the scores.
"""

_INPUTS_DESCRIPTION = """
Args:
    predictions: list of N strings, the answers to score.
    references: list of N lists of strings, the accepted answers to each question; a string counts as one answer.
    variant: which ANLS: "standard" (the default), "rrc" (the leaderboard's script), or another row of VARIANTS.
    threshold: from 0 to 1; a similarity below it scores 0. Default: the variant's own, 0.5 for most.
    ignore_case: whether case is ignored. Default: what the variant does; "standard" ignores it.
    none_keys: for "anls_star" only: whether a predicted key without a value is "counted" as wrong, or "ignored".
    average: for "anls_star" only: whether the score is the mean over "rows" or over all "leaves".
    return_all_scores: whether to return the score of each answer as well. Default: False.
Returns:
    anls: the mean of the scores, from 0 to 1.
    anls_scores: with return_all_scores, the list of the N scores.
    The configurations "anls_star" and "anlsl", for lists and nested values, return these under their own names.
Raises:
    ValueError: what is wrong, and in which row. The metric is empty after it.
Examples:
    >>> import evaluate
    >>> anls = evaluate.load("anls")
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
    'anls|rrc|threshold:0.5|v2.0.0'
"""

CITATION = """\
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


_PAPERS = ("https://arxiv.org/abs/1905.13648", "https://arxiv.org/abs/2007.00398")
_NEEDS_EVALUATE = "the metric needs Hugging Face evaluate: pip install evaluate datasets"


def load(config_name: str | None = None, **kwargs: Any) -> Anls:
    """Load the metric as ``evaluate.load`` does, without asking the Hub.

    Args:
        config_name: the default variant of ``compute``; or "anls_star" or "anlsl" to score lists and nested values.
        **kwargs: defaults for the options of ``compute`` (``variant``, ``threshold``, ``ignore_case``; for "anls_star"
            also ``none_keys`` and ``average``), and arguments of ``evaluate.Metric`` (``num_process``, ``process_id``,
            ``experiment_id``, ``cache_dir``, ...).

    Returns:
        An ``Anls``, a subclass of ``evaluate.Metric``.

    Raises:
        ImportError: evaluate is not installed.
        ValueError: an unknown option or variant.

    Example:
        >>> load(variant="rrc").compute(predictions=["ab  "], references=["a"])
        {'anls': 0.75}

    Source: https://huggingface.co/docs/evaluate/package_reference/loading_methods.
    """
    metric: Anls = __getattr__("Anls")(config_name, **kwargs)
    return metric


def _import_nested() -> Any:
    try:
        from anls_metric import nested
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError("lists and nested values need the package anls-metric: pip install anls-metric") from error
    return nested


class _AnlsBehaviour(_Base):  # type: ignore[misc]
    """The metric for Hugging Face evaluate.

    Rows are checked when they are added, and kept in a queue. They pass through Arrow only in a distributed run
    (``num_process`` > 1), in which the base class gathers the rows of all processes in the first process.

    `Anls`, created on first use, combines this class with ``evaluate.Metric``.
    """

    def __init__(
        self,
        config_name: str | None = None,
        *,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
        **kwargs: Any,
    ) -> None:
        # The added rows, batch by batch: predictions and references. A batch is added and removed by one call in C, so
        # that neither Ctrl-C nor another thread can separate its columns.
        self._batches: deque[tuple[Sequence[Any], Sequence[Any]]] = deque()
        self._of_values = config_name in OF_VALUES
        self._options: dict[str, Any] = {"variant": "standard" if config_name in (None, "default") else config_name}
        self._known_options = self._find_scorer().options if self._of_values else ("variant", *Variant.options)
        _refuse_unknown(kwargs, (*self._known_options, *_BASE_ARGUMENTS))
        self._options = self._choose_options(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        )
        self._find_scorer()  # refuses wrong options
        super().__init__(config_name, **kwargs)

    def _choose_options(self, **options: Any) -> dict[str, Any]:
        """Combine the options of a call with the defaults of the metric."""
        options = {name: value for name, value in options.items() if value is not None}
        _refuse_unknown(options, self._known_options)
        return self._options | options

    def _find_scorer(self, **options: Any) -> Scorer:
        """Get the scorer for these options."""
        get: Callable[..., Scorer] = _import_nested().get_value_variant if self._of_values else get_variant
        return get(**(self._choose_options(**options) if options else self._options))

    def _info(self) -> Any:
        import datasets
        import evaluate

        text = datasets.Value("string", id="sequence")
        several = datasets.Sequence(datasets.Value("string"), id="references")
        columns = [{"predictions": text, "references": several}, {"predictions": text, "references": text}]
        scorer: Any = self._find_scorer()
        return evaluate.MetricInfo(
            description=f"{scorer.meaning}.\n" if self._of_values else _DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS_DESCRIPTION,
            features=list(map(datasets.Features, columns[1:] if self._of_values else columns)),
            license="Apache-2.0",
            homepage="https://rrc.cvc.uab.es/?ch=17&com=tasks",
            codebase_urls=["https://github.com/shunk031/ANLS", "https://rrc.cvc.uab.es"],
            reference_urls=[scorer.source] if self._of_values else list(_PAPERS),
        )

    def __len__(self) -> int:
        # A copy, as other threads may add batches. `tuple` would not do: it can start the garbage collector half-way.
        return sum(len(predictions) for predictions, _ in self._batches.copy())

    def signature(
        self,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
    ) -> str:
        """Return the signature of the score that `compute` returns with these options. Report it with the score."""
        return self._find_scorer(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        ).signature()

    def build_compute_metrics(
        self,
        tokenizer: Any,
        references: Any = None,
        *,
        causal: bool = False,
        extract: Extract | str | None = None,
        skip_special_tokens: bool = True,
        **options: Any,
    ) -> ComputeMetrics:
        """Build ``compute_metrics`` for a transformers ``Trainer``: see the function `build_compute_metrics`."""
        _refuse_unknown(options, ("references", "causal", "extract", "skip_special_tokens", *self._known_options))
        scorer = self._find_scorer(**options)
        if not isinstance(scorer, Variant):
            raise ValueError(
                f"{scorer.name} scores values, and the labels of a Trainer are texts: take evaluate.load('anls')"
            )
        return build_compute_metrics(
            tokenizer,
            references,
            causal=causal,
            extract=extract,
            skip_special_tokens=skip_special_tokens,
            variant=scorer,
        )

    def build_reward(
        self,
        references_column: str = "answers",
        extract: Extract | str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Callable[..., list[float | None]]:
        """Build a reward function for TRL: see `build_reward` of ``anls_metric.trl``."""
        try:
            from anls_metric.trl import build_reward
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("anls_metric"):
                raise
            raise ImportError("a reward needs the package anls-metric: pip install anls-metric") from error
        return build_reward(references_column, extract, name=name, variant=self._find_scorer(**options))

    def add(self, *, prediction: Any = _NOT_GIVEN, reference: Any = _NOT_GIVEN, **columns: Any) -> None:
        """Add one prediction and its references, for the next `compute`.

        Args:
            prediction: a string; for "anls_star" and "anlsl" a value.
            reference: the accepted answers: a list of strings, or one string; for a value, the accepted value.
            **columns: the same two under the names ``predictions`` and ``references``, which ``evaluate.combine`` uses.

        Raises:
            ValueError: the row cannot be scored. It is not added.
        """
        if columns:
            _refuse_unknown(columns, ("predictions", "references"))
            if len(columns) + (prediction is not _NOT_GIVEN) + (reference is not _NOT_GIVEN) > 2:
                raise ValueError("add takes one prediction and its references, each of them once")
            prediction = columns.get("predictions", prediction)
            reference = columns.get("references", reference)
        if prediction is _NOT_GIVEN or reference is _NOT_GIVEN:
            raise ValueError("add takes a prediction and its references: pass both")
        if type(prediction) is str and not self._of_values and is_list_of_texts(reference):  # a much faster check
            self._batches.append(((prediction,), (tuple(reference),)))
        else:
            self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **unknown: Any) -> None:
        """Add predictions and their references, for the next `compute`.

        Args:
            predictions: N strings; for "anls_star" and "anlsl" N values.
            references: the accepted answers of each: N lists of strings, or N strings; for values, N accepted values.
            **unknown: no other arguments are allowed.

        Raises:
            ValueError: a row cannot be scored; the message names it, counted from the first row that was added. No part
                of the batch is added.
        """
        _refuse_unknown(unknown, ("predictions", "references"))
        # Rows are counted only for an error: counting them for each batch would take quadratic time.
        rows = self._find_scorer().check(predictions, references, lambda row: name_row(len(self) + row))
        # A copy, because the caller may change its lists later.
        self._batches.append(deepcopy(rows) if self._of_values else (tuple(rows[0]), tuple(map(tuple, rows[1]))))

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        return_all_scores: bool = False,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
        **unknown: Any,
    ) -> Any:
        """Score the rows that were added and the rows given here. Afterwards the metric is empty.

        Args:
            predictions: N strings; for "anls_star" and "anlsl" N values. None scores only the rows that were added.
            references: the accepted answers of each: N lists of strings, or N strings; for values, N accepted values.
            variant, threshold, ignore_case: which ANLS, as `get_variant` takes them; None takes the options with which
                the metric was loaded.
            return_all_scores: whether to return the score of each row as well.
            none_keys: an option of "anls_star": whether a predicted key without a value is "counted" as wrong, or
                "ignored".
            average: an option of "anls_star": the mean over "rows", or over all "leaves".
            **unknown: no other arguments are allowed.

        Returns:
            A dict with the mean score as "anls" and, with ``return_all_scores``, the N scores as "anls_scores". For
            "anls_star" and "anlsl" the keys have these names instead. In a distributed run, all processes but the first
            return None.

        Raises:
            ValueError: a row cannot be scored, and the message names it; or an option is wrong. The metric is empty
                afterwards.
        """
        batches = _drain(self._batches)
        _refuse_unknown(unknown, ("predictions", "references", *self._known_options, "return_all_scores"))
        if not isinstance(return_all_scores, bool):
            raise ValueError(f"return_all_scores is {describe(return_all_scores)}: it must be True or False")
        scorer = self._find_scorer(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        )
        if batches:
            columns = [list(chain.from_iterable(column)) for column in zip(*batches)]
            if predictions is not None or references is not None:
                row_name = name_rows_from(len(columns[0]), name_row)
                for column, more in zip(columns, self._find_scorer().check(predictions, references, row_name)):
                    column += more
            predictions, references = columns
        elif predictions is None and references is None:
            predictions, references = [], []
        if self.num_process > 1:
            return self._gather(predictions, references, scorer, return_all_scores)
        return self._result(predictions, references, scorer, return_all_scores)

    def _result(self, predictions: Any, references: Any, scorer: Scorer, return_all_scores: bool) -> dict[str, Any]:
        scores = scorer.score(predictions, references)
        result = {scorer.key: scorer.mean(scores)}
        return result | ({f"{scorer.key}_scores": list(map(float, scores))} if return_all_scores else {})

    # The rest of the class is for distributed runs: each process writes its rows to a file, and process 0 reads all
    # files, scores the rows and removes the files.

    _read_files: Sequence[str] = ()
    file_paths: Any  # of the base class

    def _gather(self, predictions: Any, references: Any, scorer: Scorer, return_all_scores: bool) -> Any:
        import datasets

        encode = _import_nested().to_json if self._of_values else list
        # All rows of a process become one row of JSON, so that a process that fails leaves all of its rows or none.
        row = [json.dumps(encode(column)) for column in self._find_scorer().check(predictions, references)]
        text = datasets.Value("large_string")
        try:
            self.selected_feature_format = datasets.Features({"predictions": text, "references": text})
            self._init_writer()  # the processes wait for each other here, even if one has no rows
            super().add_batch(predictions=row[:1], references=row[1:])
            result = super().compute(scorer=scorer, return_all_scores=return_all_scores)
            if self.process_id:  # the file of the next round must not replace this file before it is read
                self._wait_until(self.process_id, exists=False)
            return result
        finally:
            self._leave()

    def _check_rendez_vous(self) -> None:
        # The base class tries to lock the file of process 0. If that fails, it concludes that process 0 is running. Two
        # processes that try at the same moment would take each other for process 0, so wait for the file first.
        self._wait_until(0, exists=True)
        super()._check_rendez_vous()

    def _wait_until(self, process_id: int, exists: bool) -> None:
        """Wait until the file of a process exists, or no longer exists."""
        path = os.path.join(self.data_dir, f"{self.experiment_id}-{self.num_process}-{process_id}.arrow")
        end = time.monotonic() + self.timeout
        while os.path.exists(path) != exists:
            if time.monotonic() > end:
                goal = "begin" if exists else "read its rows"
                raise ValueError(f"process {self.process_id} waited {self.timeout} s for process 0 to {goal}")
            time.sleep(0.01)

    def _compute(
        self, predictions: Iterable[str], references: Iterable[str], scorer: Scorer, return_all_scores: bool
    ) -> dict[str, Any]:
        self._read_files, self.file_paths = self.file_paths, ()  # `_leave` removes them, not the base class
        decode = _import_nested().from_json if self._of_values else list
        values, accepted = (
            list(chain.from_iterable(decode(json.loads(row)) for row in column)) for column in (predictions, references)
        )
        return self._result(values, accepted, scorer, return_all_scores)

    def _leave(self) -> None:
        """Release all locks, then remove the files. A process may begin the next round once its file is removed."""
        for lock in (self.filelock, self.rendez_vous_lock, *(self.filelocks or ())):
            if lock is not None:
                lock.release(force=True)
        paths = [self.cache_file_name, *self._read_files]
        self.__dict__.update(dict.fromkeys(_BASE_STATE), _read_files=())
        for path in filter(None, paths):
            with suppress(OSError):
                os.remove(path)


def _drain(rows: deque[_Item]) -> list[_Item]:
    """Drain a queue. Each item goes to one caller, even if several call at once."""
    items: list[_Item] = []
    with suppress(IndexError):
        # One call in C takes all items, so that an interrupt cannot lose some of them.
        items.extend(starmap(rows.popleft, repeat(())))
    return items


# The arguments of evaluate's constructor besides the configuration. It would silently accept any others.
_BASE_ARGUMENTS = (
    *("keep_in_memory", "cache_dir", "num_process", "process_id", "seed", "experiment_id", "hash"),
    *("max_concurrent_cache_files", "timeout"),
)
# The attributes that evaluate sets during a distributed run.
_BASE_STATE = (
    *("writer", "data", "selected_feature_format", "cache_file_name"),
    *("filelock", "rendez_vous_lock", "filelocks"),
)


def _refuse_unknown(arguments: Mapping[str, object], known: Sequence[str]) -> None:
    for name in arguments:
        if name not in known:
            raise ValueError(describe_unknown("argument", name, known))


def _define_metric() -> type:
    try:
        import evaluate
    except ImportError as error:
        raise ImportError(_NEEDS_EVALUATE) from error
    return type(
        "Anls",
        (_AnlsBehaviour, evaluate.Metric),
        {"__module__": __name__, "__doc__": _AnlsBehaviour.__doc__},
    )


def __getattr__(name: str) -> Any:
    if name != "Anls":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault("Anls", _define_metric())


if TYPE_CHECKING:
    Anls = _AnlsBehaviour
elif hasattr(sys.modules.get("evaluate"), "Metric"):
    # evaluate.load looks for a subclass of Metric among the names of the module, right after its import.
    Anls = _define_metric()
