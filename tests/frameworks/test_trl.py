"""The reward for TRL: what it makes of completions, and a real GRPOTrainer on a tiny random model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls
from tests.conftest import ROOT


def test_completions_are_texts_or_messages() -> None:
    reward = anls.build_reward("accepted")
    said: list[Any] = [
        "CocaCola",
        [{"role": "assistant", "content": "CocaCola"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "Coca"}, {"type": "text", "text": "Cola"}]}],
        [
            {"role": "assistant", "content": "Pepsi?", "tool_calls": []},
            {"role": "tool", "content": "no"},
            {"role": "assistant", "content": "CocaCola"},
        ],
        [{"role": "assistant", "content": None, "tool_calls": []}],
        [],
    ]
    columns: dict[str, Any] = {
        "prompts": [""] * 6,
        "completion_ids": [[1]] * 6,
        "trainer_state": object(),
        "log_extra": print,
        "log_metric": print,
        "environments": None,
    }
    rewards = reward(completions=said, accepted=[["Coca Cola", "Pepsi"]] * 6, **columns)
    assert rewards == [8 / 9] * 4 + [0.0] * 2
    assert all(type(score) is float for score in rewards)
    assert reward(completions=["a", "b", "c", "d"], accepted=["a", None, [], ("x",)]) == [1.0, None, None, 0.0]
    assert reward(completions=[], accepted=[]) == []
    assert reward.__name__ == "anls"


def test_an_answer_in_tags() -> None:
    reward = anls.build_reward(extract=anls.answer_in_tags)
    text = "<answer>Pepsi</answer> no, wait: <answer>\nCoca Cola </answer> it is"
    rewards = reward(completions=[text, "Coca Cola", "<answer>Coca Cola", ""], answers=["Coca Cola"] * 4)
    assert rewards == [1.0, 0.0, 0.0, 0.0]
    assert anls.answer_in_tags("<x>a</x><answer>b</answer>", tag="x") == "a"
    nothing = anls.build_reward(extract=lambda text: None, threshold=0.0)
    assert nothing(completions=["Coca Cola"], answers=["Coca Cola"]) == [0.0]


def test_options_are_those_of_the_metric(metric: Any) -> None:
    columns = {"completions": ["ab  "], "answers": [["a"]]}
    assert metric.build_reward()(**columns) == [0.5]
    assert metric.build_reward(variant="rrc")(**columns) == [0.75]
    assert anls.load(threshold=0.8).build_reward()(**columns) == [0.0]
    assert metric.build_reward(extract=metric.answer_in_tags)(**columns) == [0.0]
    with pytest.raises(ValueError, match="no argument 'treshold'"):
        metric.build_reward(treshold=0.5)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"completions": ["a"], "gold": ["a"]}, "no column 'answers': name .* by references_column .there are gold"),
        ({"completions": ["a"], "answers": ["a", "b"]}, "1 completions but references for 2"),
        ({"completions": [7], "answers": ["a"]}, r"completion of row 0 \(counted from 0\) is 7 .*: pass a string or a"),
        ({"completions": [["a"]], "answers": ["a"]}, "completion of row 0 .* pass a string or a list of messages"),
        (
            {"completions": [[{"content": 7}]], "answers": ["a"]},
            "completion of row 0 .*, its content, is 7 .*, not a s",
        ),
        ({"completions": ["a"], "answers": [["a", 7]]}, r"answers of row 0 \(counted from 0\), item 1, is 7"),
    ],
)
def test_what_is_no_completion_or_reference_is_refused(columns: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        anls.build_reward()(**columns)


def test_an_extraction_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"what extract made of row 0 \(counted from 0\) is 7"):
        anls.build_reward(extract=lambda text: 7)(completions=["a"], answers=["a"])  # type: ignore[arg-type,return-value]


def test_grpo_logs_the_mean_score(load_example: Callable[[str], ModuleType], tmp_path: Path, metric: Any) -> None:
    pytest.importorskip("trl", reason="the extra `trl` is not installed")
    example: Any = load_example("train_with_trl")
    reward = metric.build_reward(variant="nls")
    seen = []

    def anls_of(**columns: Any) -> Any:
        seen.append((columns["completions"], columns["answers"]))
        return reward(**columns)

    trainer = example.make_trainer(str(tmp_path), anls_of, steps=3)
    trainer.train()
    logged = [entry["rewards/anls_of/mean"] for entry in trainer.state.log_history if "rewards/anls_of/mean" in entry]
    assert len(logged) == len(seen) == 3
    for mean, (completions, answers) in zip(logged, seen):
        assert len(completions) == 32
        direct = anls.mean(anls.anls_scores(completions, answers, variant="nls"))
        assert 0 < direct < 1
        assert mean == pytest.approx(direct, rel=1e-6)


def test_the_example_gets_better(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra `trl` is not installed")
    script = ROOT / "examples" / "train_with_trl.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told, signed = done.stdout.splitlines()[-1].split("  ")
    first, last = (float(part.split()[-1]) for part in told.split(", of"))
    assert first < last
    assert signed == anls.signature("nls")
