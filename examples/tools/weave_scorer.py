"""A scorer for `weave.Evaluation`, whose rows hold the references in `answers`. Needs weave."""

from __future__ import annotations

from typing import Any

import weave

from anls_metric import anls_score, explain


@weave.op  # type: ignore[untyped-decorator]
def anls(output: str, answers: list[str]) -> dict[str, Any]:
    """Score an answer, with the reason."""
    return {"anls": anls_score(output, answers), "reason": explain(output, answers).sentence}
