"""Scores answers to questions about documents with ANLS (Average Normalized Levenshtein Similarity).

    >>> from anls_metric import anls_score, anls_scores, mean, signature
    >>> anls_score("CocaCola", ["Coca Cola", "Coca Cola Company"])
    0.8888888888888888
    >>> mean(anls_scores(["CocaCola", "12/15/89"], [["Coca Cola"], ["12/15/88"]]))
    0.8819444444444444
    >>> signature()
    'anls|standard|threshold:0.5|v2'

Import every public name from `anls_metric`:

Score strings
    anls_score                  one answer
    anls_scores, mean           many answers, and their mean
    iter_anls_scores            a stream
    anls_batch                  a batch of `datasets`, Ray or Spark
Choose a variant
    VARIANTS                    the table of all variants; each row is a `Variant`
    get_variant                 a variant by its name, with another threshold or case
    signature                   the name of a score, to report with the number
    identify                    which variant a function computes, an `Identification`
    SCORERS, get_scorer         all metrics by name, each a `Scorer`, including those for lists and nested values
    register                    adds a metric of your own, whose `explain` returns a `Judgment`
See why
    explain                     an `Explanation`, with a `Match` for each reference and each `Edit` in it
    normalized_levenshtein_similarity
Score lists and nested values
    anls_star_score, anls_star_scores, anlsl_score, explain_star
Score by a benchmark metric
    rule                        a rule by its name, such as "dude", which needs more columns
Score and compare files, DataFrames and lists
    score, compare              one model, or several side by side; both return `Scores`
    open                        opens a run that was saved in a file, as a `Run`; a star import leaves `open` out
    Options                     the options of `score` and `compare`
    ANLSWarning                 the category of warnings for hints
    extractor                   extracts the answer from raw model output
Compare scores
    interval                    the 95% confidence interval of a mean
    cluster_field               the field that identifies a question's document
    paired_test, holm           the p-value of a difference, and its adjustment for several comparisons
    differences, minimum_detectable_effect
Train and evaluate
    load                        the metric of Hugging Face evaluate
    build_compute_metrics       the `compute_metrics` function of a Trainer, a `ComputeMetrics`
The modules `anls_metric.trl`, `anls_metric.torchmetrics` and `anls_metric.keras` serve the libraries they are named
after, and `anls_metric.generation` contains a callback that generates answers during training. Importing `anls_metric`
imports nothing heavy: a name loads its module on first use.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anls_metric.core.scorer import SCORERS, find_installed, load_table

if TYPE_CHECKING:
    from anls_metric.api import ANLSWarning, Scores, compare, score
    from anls_metric.core.extraction.extract import extractor
    from anls_metric.core.scorer import Scorer, get_scorer, mean, register
    from anls_metric.core.statistics.clusters import cluster_field
    from anls_metric.core.statistics.identification import Identification, identify
    from anls_metric.core.statistics.significance import (
        differences,
        holm,
        interval,
        minimum_detectable_effect,
        paired_test,
    )
    from anls_metric.core.strings.explanation import Edit, Explanation, Match
    from anls_metric.core.strings.scoring import (
        anls_batch,
        anls_score,
        anls_scores,
        explain,
        iter_anls_scores,
        normalized_levenshtein_similarity,
    )
    from anls_metric.core.strings.variants import VARIANTS, Variant, get_variant, signature
    from anls_metric.core.values import anls_star_score, anls_star_scores, anlsl_score, explain_star
    from anls_metric.core.version import __version__
    from anls_metric.metric import load
    from anls_metric.options import Options
    from anls_metric.rules import Judgment, rule
    from anls_metric.run import Run, open_run
    from anls_metric.transformers import ComputeMetrics, build_compute_metrics

    open = open_run  # noqa: A001

__all__ = [
    "SCORERS",
    "VARIANTS",
    "ANLSWarning",
    "ComputeMetrics",
    "Edit",
    "Explanation",
    "Identification",
    "Judgment",
    "Match",
    "Options",
    "Run",
    "Scorer",
    "Scores",
    "Variant",
    "__version__",
    "anls_batch",
    "anls_score",
    "anls_scores",
    "anls_star_score",
    "anls_star_scores",
    "anlsl_score",
    "build_compute_metrics",
    "cluster_field",
    "compare",
    "differences",
    "explain",
    "explain_star",
    "extractor",
    "get_scorer",
    "get_variant",
    "holm",
    "identify",
    "interval",
    "iter_anls_scores",
    "load",
    "mean",
    "minimum_detectable_effect",
    "normalized_levenshtein_similarity",
    "paired_test",
    "register",
    "rule",
    "score",
    "signature",
]

if not TYPE_CHECKING and find_spec("evaluate") is None:
    __all__.remove("load")  # otherwise a star import would fail

# Each module with its names, which load it on first use.
_MODULES = {
    "anls_metric.core.statistics.clusters": ("cluster_field",),
    "anls_metric.core.statistics.identification": ("Identification", "identify"),
    "anls_metric.core.statistics.significance": (
        "differences",
        "holm",
        "interval",
        "minimum_detectable_effect",
        "paired_test",
    ),
    "anls_metric.api": ("ANLSWarning", "Scores", "compare", "score"),
    "anls_metric.core.scorer": ("SCORERS", "Scorer", "get_scorer", "mean", "register"),
    "anls_metric.core.strings.explanation": ("Edit", "Explanation", "Match"),
    "anls_metric.core.strings.scoring": (
        "anls_batch",
        "anls_score",
        "anls_scores",
        "explain",
        "iter_anls_scores",
        "normalized_levenshtein_similarity",
    ),
    "anls_metric.core.strings.variants": ("VARIANTS", "Variant", "get_variant", "signature"),
    "anls_metric.core.version": ("__version__",),
    "anls_metric.metric": ("load",),
    "anls_metric.core.values": ("anls_star_score", "anls_star_scores", "anlsl_score", "explain_star"),
    "anls_metric.options": ("Options",),
    "anls_metric.core.extraction.extract": ("extractor",),
    "anls_metric.rules": ("Judgment", "rule"),
    "anls_metric.run": ("Run", "open_run"),
    "anls_metric.transformers": ("ComputeMetrics", "build_compute_metrics"),
}
# Where to find scorers. Our own are entry points as well, but a checkout has none, and a scan takes longer than an
# import.
SCORERS.tables += [
    partial(load_table, "anls_metric.core.strings.variants:NAMES"),
    partial(load_table, "anls_metric.core.values:VALUE_VARIANTS"),
    partial(load_table, "anls_metric.rules:RULES"),
    find_installed,
]

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
_RENAMED = {"open": "open_run"}  # a star import would replace Python's own


def __getattr__(name: str) -> Any:
    own = _RENAMED.get(name, name)
    if own not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(_MODULE_OF[own]), own))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
