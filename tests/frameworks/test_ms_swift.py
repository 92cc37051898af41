"""The reward for ms-swift, loaded and called as by ms-swift 4.6.0, with a stand-in for its two classes."""

from __future__ import annotations

import runpy
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT

PLUGIN = ROOT / "examples" / "ms_swift" / "reward_plugin.py"
COMPLETIONS, ANSWERS = ["CocaCola", "Pepsi", "yes"], [["Coca Cola"], ["Coca Cola"], None]
REWARDS = [8 / 9, 0.0, None]


@pytest.fixture
def orms(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The rewards of ms-swift by name, after `--external_plugins`."""

    class ORM:
        def __init__(self, args: Any = None, **kwargs: Any) -> None:
            self.args = args

    rewards = ModuleType("swift.rewards")
    rewards.ORM, rewards.orms = ORM, {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    runpy.run_path(str(PLUGIN), run_name="_swift_external_0")
    table: dict[str, Any] = rewards.orms
    return table


def test_plugin_registers_a_reward_that_is_called_with_completions_and_columns(orms: dict[str, Any]) -> None:
    reward = orms["anls"](args=None)
    columns = {"answers": ANSWERS, "messages": [[], [], []], "trainer_state": None}
    assert reward(COMPLETIONS, **columns) == REWARDS
    assert type(reward).__name__ == "AnlsReward"  # the name in its log


def test_folder_of_the_plugin_hides_no_library() -> None:
    """ms-swift puts the folder first on Python's module path."""
    assert [*PLUGIN.parent.glob("*.py")] == [PLUGIN]
