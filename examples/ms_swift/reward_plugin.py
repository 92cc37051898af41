"""Register the reward ``anls`` with ms-swift.

    swift rlhf --rlhf_type grpo ... --external_plugins examples/ms_swift/reward_plugin.py --reward_funcs anls

The column ``answers`` of the dataset holds the accepted answers of each prompt. ms-swift puts the folder of this file
first on Python's module path, so a module beside it could hide a library. Needs ``pip install anls-metric ms-swift``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swift.rewards import ORM, orms

from anls_metric.trl import build_reward

reward = build_reward(references_column="answers")


class AnlsReward(ORM):  # type: ignore[misc]
    """The ANLS of each completion, and None for a row without accepted answers."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Score the completions, which are texts or lists of messages, against the columns of the dataset."""
        return reward(completions, **columns)


orms["anls"] = AnlsReward
