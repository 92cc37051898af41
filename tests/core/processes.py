"""The work of each process of a distributed run. A new process imports only this module, to start fast."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

# If they are installed, evaluate imports transformers and scipy, which import torch or TensorFlow: 20 s instead of 3.
# evaluate works without them.
if "evaluate" not in sys.modules:
    sys.modules |= dict.fromkeys(("transformers", "scipy"))  # type: ignore[arg-type]
    with suppress(ImportError):
        import evaluate  # noqa: F401
    for name in ("transformers", "scipy"):
        del sys.modules[name]

import anls_metric

Calls = list[tuple[str, dict[str, Any]]]


def call_metric(options: dict[str, Any], calls: Calls) -> list[Any]:
    """Make calls of a new metric, and return the result or the ValueError of each."""
    metric = anls_metric.load(**options)
    results: list[Any] = []
    for method, arguments in calls:
        try:
            results.append(getattr(metric, method)(**arguments))
        except ValueError as error:
            results.append(error)
    return results
