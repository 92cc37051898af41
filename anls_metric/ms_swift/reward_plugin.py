"""Registers the reward ``anls`` with ms-swift; the column ``answers`` holds the accepted answers of each prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swift.rewards import ORM, orms

from anls_metric.trl import build_reward

__all__ = ["AnlsReward"]

_reward = build_reward()


class AnlsReward(ORM):  # type: ignore[misc]
    """The ANLS of each completion. For another column, variant or extraction, write such a class of your own."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The score of each completion against the references of its row."""
        return _reward(completions, **columns)


orms["anls"] = AnlsReward
