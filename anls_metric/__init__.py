"""What is built on the metric of `anls.py`: reading answer files, scoring and comparing them, showing what came out.

The rooms, in the order in which they know of each other (none knows of one further down)::

    anls.py               what a number is and why: variants, scores, explanations, evaluate's metric, a Trainer's hook
    anls_metric/
      nested.py           answers that are lists and nested values: ANLS* and ANLSL
      reading/            what comes in: a file becomes records, each with its place, and these become rows
      analysis/           what is known: rows are scored; a scored set has its mean, outcomes, groups, worst
      report/             what is shown: tables, text and pages; it computes nothing
      command_line.py     doors, each of which takes what a user hands over, calls the rooms, and gives what they made:
      files.py            the command calculate-anls; the same from Python; and a module of the name of each library
      trl.py              that it serves
      torchmetrics.py
      keras.py
      page/               the Space: endpoints for programs, and a page

The path of data: file -> record -> Row -> Scored -> ScoredSet -> document -> characters.

Where new code goes. Does it change the number of a text? A row of `anls.VARIANTS`. Of any other value? `nested`.
Does it only say which field is which in somebody's file? A row of `reading.layouts.LAYOUTS`. Which part of what a model
wrote is its answer? `reading.extract`. Does it need an outside library? The one module of that name. Does it compute
from rows or scores? `analysis`, and it prints nothing. Does it make characters? `report`, and it computes nothing. Else
it is a door: parse, call, print.

`from anls_metric import score_file, compare_files` scores files. Importing this imports `anls` alone, and says so where
another package of that name hides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anls as _anls

if TYPE_CHECKING:
    from anls_metric.files import FileScores, compare_files, score_file

__all__ = ["FileScores", "compare_files", "score_file"]

if not hasattr(_anls, "VARIANTS"):
    # With its name, Python itself ends `python -m anls_metric` with this line and without a traceback.
    raise ImportError(
        f"the module `anls` of anls-metric is hidden by another one, {_anls.__file__ or list(_anls.__path__)}: "
        "pip uninstall anls, then install anls-metric again",
        name=__name__,
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from anls_metric import files

    return getattr(files, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
