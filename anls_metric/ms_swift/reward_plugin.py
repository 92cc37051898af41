"""Registers the reward ``anls`` with ms-swift. The column ``answers`` holds the accepted answers of each prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swift.rewards import ORM, orms

from anls_metric.trl import build_reward

__all__ = ["AnlsReward"]

_reward = build_reward()


class AnlsReward(ORM):  # type: ignore[misc]
    """The ANLS of each completion. For another column, variant or extraction, write a similar class."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Score each completion against the accepted answers of its row.

        Args:
            completions: texts, or lists of messages.
            **columns: the columns of the data set, with the accepted answers as ``answers``.

        Returns:
            A score from 0 to 1 for each completion; None for a row without accepted answers.

        Raises:
            ValueError: as `anls_metric.trl.build_reward`.
        """
        return _reward(completions, **columns)


orms["anls"] = AnlsReward
