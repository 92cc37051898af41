"""What each process of a distributed run does in the tests. A new process imports this module alone, to start fast."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

# Where they are installed, evaluate imports transformers and scipy at its beginning, and these torch or TensorFlow: 3 s
# become 20. It does without them.
if "evaluate" not in sys.modules:
    sys.modules |= dict.fromkeys(("transformers", "scipy"))  # type: ignore[arg-type]
    with suppress(ImportError):
        import evaluate  # noqa: F401
    for name in ("transformers", "scipy"):
        del sys.modules[name]

import anls_metric

Calls = list[tuple[str, dict[str, Any]]]


def call_metric(options: dict[str, Any], calls: Calls) -> list[Any]:
    """What each call of a new metric returns, or its ValueError."""
    metric = anls_metric.load(**options)
    results: list[Any] = []
    for method, arguments in calls:
        try:
            results.append(getattr(metric, method)(**arguments))
        except ValueError as error:
            results.append(error)
    return results
