"""The reward for TRL: scores of completions, and TRL's trainers on tiny random models."""

from __future__ import annotations

import copy
import importlib
import json
import multiprocessing
import pickle
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from anls_metric.nested import get_value_variant
from anls_metric.reading.extract import answer_in_tags
from anls_metric.trl import Reward, anls_reward, build_reward
from tests.conftest import ROOT

# Scores of completions


def test_completions_are_texts_or_messages() -> None:
    reward = build_reward("accepted")
    message: list[Any] = [
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
    rewards = reward(completions=message, accepted=[["Coca Cola", "Pepsi"]] * 6, **columns)
    assert rewards == [8 / 9] * 4 + [0.0] * 2
    assert all(type(score) is float for score in rewards)
    assert reward(completions=[], accepted=[]) == []


def test_row_without_references_has_no_reward() -> None:
    accepted: list[Any] = ["a", None, [], ("x",), set(), ("d", "e")]
    assert anls_reward(completions=list("abcdee"), answers=accepted) == [1.0, None, None, 0.0, None, 1.0]


def test_accepted_answers_may_be_a_set() -> None:
    assert anls_reward(completions=["CocaCola"], answers=[{"Coca Cola", "Pepsi"}]) == [8 / 9]


def test_extract_takes_the_answer_out_of_tags() -> None:
    reward = build_reward(extract=answer_in_tags)
    text = "<answer>Pepsi</answer> no, wait: <answer>\nCoca Cola </answer> it is"
    rewards = reward(completions=[text, "Coca Cola", "<answer>Coca Cola", ""], answers=["Coca Cola"] * 4)
    assert rewards == [1.0, 0.0, 0.0, 0.0]
    assert answer_in_tags("<x>a</x><answer>b</answer>", tag="x") == "a"
    assert answer_in_tags("<answer> </answer>") == ""
    assert answer_in_tags("Coca Cola") is None
    nothing = build_reward(extract=lambda text: None, threshold=0.0)
    assert nothing(completions=["Coca Cola"], answers=["Coca Cola"]) == [0.0]


def test_metric_builds_rewards_with_its_options(metric: Any) -> None:
    columns = {"completions": ["ab  "], "answers": [["a"]]}
    assert metric.build_reward()(**columns) == [0.5]
    assert metric.build_reward(variant="rrc")(**columns) == [0.75]
    assert anls_metric.load(threshold=0.8).build_reward()(**columns) == [0.0]
    assert metric.build_reward(extract=answer_in_tags)(**columns) == [0.0]
    assert metric.build_reward("accepted", name="strict").__name__ == "strict"
    with pytest.raises(TypeError, match="unexpected keyword argument 'treshold'"):
        metric.build_reward(treshold=0.5)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "anls"),
        ({"variant": "standard", "threshold": 0.5, "ignore_case": True}, "anls"),
        ({"variant": "rrc"}, "anls_rrc"),
        ({"variant": "vlmevalkit"}, "anls_rrc"),
        ({"threshold": 0.8}, "anls_0.8"),
        ({"variant": "rrc", "threshold": 0, "ignore_case": False}, "anls_rrc_0.0_cased"),
        ({"variant": "due", "ignore_case": True}, "anls_due_uncased"),
        ({"variant": anls_metric.Variant("mine", threshold=0.3)}, "anls_mine"),
        ({"name": "by the letter"}, "by the letter"),
    ],
)
def test_name_tells_variant_threshold_and_case(options: Any, name: str) -> None:
    assert build_reward(**options).__name__ == name


def score_with(reward: Reward) -> list[float | None]:
    return reward(completions=["<answer>Cola</answer>"], answers=[["Coca Cola"]])


def test_reward_can_be_copied_and_sent_to_another_process() -> None:
    reward = build_reward(extract=answer_in_tags, variant="rrc", threshold=0.2, name="mine")
    for copied in (copy.deepcopy(reward), pickle.loads(pickle.dumps(reward))):
        assert score_with(copied) == [4 / 9]
        assert copied.__name__ == "mine"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(score_with, [reward]) == [4 / 9]


class ExactMatch(anls_metric.Variant):
    """A scorer that is not a variant: only equal texts score 1."""

    key, options = "exact", ()

    def score(self, predictions: Any, references: Any, row_name: Any = None) -> list[float]:
        return [float(prediction in accepted) for prediction, accepted in zip(predictions, references)]


def test_variant_may_be_any_scorer() -> None:
    scorer = ExactMatch("exact")
    reward = build_reward(variant=scorer, extract="tag")
    message = ["<answer>a</answer>", "A", "b"]
    assert reward(completions=message, answers=[["a"], ["a"], None]) == [1.0, 0.0, None]
    assert reward.__name__ == "exact"
    with pytest.raises(ValueError, match="exact takes no options here: leave out threshold"):
        build_reward(variant=scorer, threshold=0.5)


# Models that write JSON

INVOICE = {"total": "12.50", "items": ["tea", "milk"]}
WRITTEN: dict[str, float] = {
    '{"total": "12.50", "items": ["milk", "tea"]}': 1.0,
    ' {"total": "12.50"}\n': 1 / 3,
    '```json\n{"total": "12.50", "items": ["tea"]}\n```': 0.0,
    '{"total": "12.50", "items": ["milk", "tea"]': 0.0,
    "12.50": 0.0,
    "": 0.0,
    "[" * 100_000: 0.0,
    "[" * 400 + "]" * 400: 0.0,  # JSON, and deeper than any answer
    '{"__tuple__": [{"total": "12.50", "items": ["milk", "tea"]}, "x"]}': 0.0,  # a prediction has no alternatives
}
UNREADABLE = 5 / 9


def test_values_are_read_as_json_and_unreadable_ones_are_logged() -> None:
    logged: list[tuple[str, float]] = []
    columns: dict[str, Any] = {"completions": list(WRITTEN), "log_metric": lambda *entry: logged.append(entry)}
    reward = build_reward(variant="anls_star")
    assert reward(answers=[INVOICE] * 9, **columns) == list(WRITTEN.values())
    assert reward(answers=[json.dumps(INVOICE)] * 9, **columns) == list(WRITTEN.values())
    assert logged == [("rewards/anls_star/unreadable", UNREADABLE)] * 2
    assert reward(completions=[], answers=[], log_metric=lambda *entry: logged.append(entry)) == []
    assert logged[2:] == [("rewards/anls_star/unreadable", 0.0)]  # every process logs the same names


def test_extract_takes_values_out_of_a_text() -> None:
    reward = build_reward(variant="anls_star", extract="think,json")
    message = ["<think>[1]</think>It is ```" + json.dumps(INVOICE) + "``` (see [1]).", "It is 12.50"]
    assert reward(completions=message, answers=[INVOICE] * 2) == [1.0, 0.0]
    assert build_reward(variant="anlsl", extract="json:a")(completions=['{"a": ["b", "c"]}'], answers=[["b"]]) == [0.5]
    assert build_reward(variant="anls_star", extract=answer_in_tags)(
        completions=['<answer>["a"]</answer>', '["a"]'], answers=[["a"]] * 2
    ) == [1.0, 0.0]


def test_accepted_values_are_what_the_variant_scores() -> None:
    reward = build_reward(variant="anls_star")
    accepted: list[Any] = ["[]", None, [], '{"a": {"__tuple__": ["x", "y"]}}', "Coca Cola"]
    message = ["[]", "[]", "[]", '{"a": "y"}', '"coca cola"']
    assert reward(completions=message, answers=accepted) == [1.0, None, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"the reference of row 1 \(counted from 0\), \[0\], is b'a'"):
        reward(completions=["[]", "[]"], answers=[[], [b"a"]])
    with pytest.raises(ValueError, match=r"the references of row 0 \(counted from 0\), item 0, is 5"):
        build_reward(variant="anlsl")(completions=["[]"], answers=[[5]])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"variant": "anls_star"}, "anls_star"),
        ({"variant": "anlsl", "threshold": 0.8}, "anlsl_0.8"),
        ({"variant": "anls_star", "threshold": 0.0, "none_keys": "ignored"}, "anls_star_0.0_none_keys_ignored"),
        ({"variant": get_value_variant("anls_star", threshold=0.25)}, "anls_star_0.25"),
        ({"variant": "anls_star", "name": "forms"}, "forms"),
    ],
)
def test_name_of_a_reward_of_values_tells_its_options(options: Any, name: str) -> None:
    assert pickle.loads(pickle.dumps(build_reward(**options))).__name__ == name


def test_options_of_values_change_the_reward() -> None:
    columns: dict[str, Any] = {"completions": ['{"a": "abcd", "b": null}'], "answers": [{"a": "abce"}]}
    assert build_reward(variant="anls_star")(**columns) == [0.375]
    assert build_reward(variant="anls_star", none_keys="ignored")(**columns) == [0.75]
    assert build_reward(variant="anls_star", none_keys="ignored", threshold=0.8)(**columns) == [0.0]
    star = anls_metric.load(config_name="anls_star", none_keys="ignored")
    assert star.build_reward()(**columns) == [0.75]
    assert star.build_reward(threshold=0.8)(**columns) == [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "anls_star", "ignore_case": True}, "anls_star has no option 'ignore_case'"),
        ({"variant": "anlsl", "none_keys": "ignored"}, "anlsl has no option 'none_keys'"),
        ({"variant": "rrc", "none_keys": "ignored"}, "none_keys is an option of the variant anls_star"),
        ({"variant": "anls_star", "none_keys": "x"}, "none_keys must be .*, got 'x'"),
        ({"variant": "anls_star", "extract": "tags"}, "unknown extraction rule 'tags'"),
    ],
)
def test_options_that_a_variant_does_not_have_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_reward(**options)


# Refused input


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"completions": ["a"], "gold": ["a"]},
            r"no column 'answers' \(found 'gold'\): name .* with build_reward\(references_column=",
        ),
        ({"completions": ["a"], "answers": None}, "the column 'answers' is None: name the column"),
        ({"completions": ["a"], "answers": ["a", "b"]}, "1 completions but references for 2"),
        ({"completions": [7], "answers": ["a"]}, r"completion of row 0 \(counted from 0\) is 7 .*: pass a string or a"),
        ({"completions": [["a"]], "answers": ["a"]}, "completion of row 0 .* pass a string or a list of messages"),
        (
            {"completions": [[{"content": 7}]], "answers": ["a"]},
            "completion of row 0 .*, its content, is 7 .*, not a s",
        ),
        ({"completions": ["a"], "answers": [["a", 7]]}, r"references of row 0 \(counted from 0\), item 1, is 7"),
        (
            {"completions": ["a", "b"], "answers": ["a", float("nan")]},
            r"references of row 1 \(counted from 0\) is nan \(float\): pass a list of strings",
        ),
        (
            {"completions": ["a", "b"], "answers": [None, 5]},
            r"references of row 1 \(counted from 0\) is 5 \(int\): pass",
        ),
        ({"completions": ["a"], "answers": 5}, r"answers is 5 \(int\): pass a list with one for each completion"),
        ({"completions": ["a"], "answers": "a"}, r"answers is 'a' \(str\): pass a list with one for each completion"),
        ({"completions": None, "answers": ["a"]}, "completions is None: pass a list with one for each completion"),
    ],
)
def test_bad_completions_and_references_are_refused(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_reward()(**columns)


def test_bad_extract_and_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"what extract made of row 0 \(counted from 0\) is 7"):
        build_reward(extract=lambda text: 7)(completions=["a"], answers=["a"])  # type: ignore[arg-type,return-value]
    assert build_reward(extract="tag")(completions=["It is <answer>a</answer>"], answers=["a"]) == [1.0]
    with pytest.raises(ValueError, match="unknown extraction rule 'tags'"):
        build_reward(extract="tags")
    with pytest.raises(ValueError, match=r"extract is 7 \(int\): pass names of rules, or a function"):
        build_reward(extract=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the name of the reward is 7"):
        build_reward(name=7)  # type: ignore[arg-type]


# In TRL


@pytest.fixture(scope="module")
def example(load_example: Callable[[str], ModuleType]) -> Any:
    pytest.importorskip("trl", reason="the extra `trl` is not installed")
    return load_example("train_with_trl")


def test_grpo_logs_the_mean_score_of_each_reward(example: Any, tmp_path: Path, metric: Any) -> None:
    strict = build_reward(variant="nls", threshold=0.3)
    reward = metric.build_reward(variant="nls")
    seen = []

    def anls_of(**columns: Any) -> Any:
        seen.append((columns["completions"], columns["answers"]))
        return reward(**columns)

    trainer = example.make_trainer(str(tmp_path), [anls_of, reward, strict], steps=3)
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "rewards/anls_of/mean" in entry]
    assert len(logged) == len(seen) == 3
    for entry, (completions, answers) in zip(logged, seen):
        assert len(completions) == 32
        direct = anls_metric.mean(anls_metric.anls_scores(completions, answers, variant="nls"))
        assert 0 < direct < 1
        assert entry["rewards/anls_of/mean"] == entry["rewards/anls_nls/mean"] == pytest.approx(direct, rel=1e-6)
        direct = anls_metric.mean(anls_metric.anls_scores(completions, answers, variant="nls", threshold=0.3))
        assert entry["rewards/anls_nls_0.3/mean"] == pytest.approx(direct, rel=1e-6)


def test_grpo_logs_how_many_completions_are_no_json(example: Any, tmp_path: Path) -> None:
    reward, seen = build_reward(variant="anls_star", extract=write_json_sometimes), []

    def star(**columns: Any) -> Any:
        seen.append(columns["completions"])
        return reward(**columns)

    trainer = example.make_trainer(str(tmp_path), [star], steps=2)
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "rewards/star/mean" in entry]
    assert len(logged) == len(seen) == 2
    for entry, completions in zip(logged, seen):
        unreadable = sum(len(text) % 2 == 0 for text in completions) / len(completions)
        assert 0 < unreadable < 1
        assert entry["rewards/anls_star/unreadable"] == pytest.approx(unreadable)


def write_json_sometimes(text: str) -> str:
    return json.dumps([text]) if len(text) % 2 else "["


def test_command_of_trl_takes_anls_reward(example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))  # the command adds to it
    trainer = example.make_trainer(str(tmp_path), anls_reward, steps=1)
    trainer.save_model(str(tmp_path / "model"))
    (tmp_path / "data").mkdir()
    trainer.train_dataset.to_json(str(tmp_path / "data" / "train.json"))
    command: Any = importlib.import_module("trl.scripts.grpo")
    message = f"""--model_name_or_path {tmp_path}/model --dataset_name {tmp_path}/data --output_dir {tmp_path}/out
        --reward_funcs anls_metric.trl.anls_reward --max_steps 1 --logging_steps 1 --per_device_train_batch_size 4
        --num_generations 4 --max_completion_length 4 --use_cpu --bf16 false --report_to none --dtype float32"""
    parsed = command.make_parser().parse_args_and_config(args=message.split())
    command.main(*parsed)
    (state,) = tmp_path.glob("out/checkpoint-*/trainer_state.json")
    assert "rewards/anls/mean" in state.read_text(encoding="utf-8")


def test_example_raises_its_mean_reward(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_with_trl.py"), run_name="__main__")
    printed, signature = capsys.readouterr().out.splitlines()[-1].split("  ")
    first, last = (float(part.split()[-1]) for part in printed.split(", of"))
    assert first < last
    assert signature == anls_metric.signature("nls")


# SFTTrainer with the hook: rows without exactly one answer


QUESTIONS = [("Aldi total: 8.21", "8.21"), ("Coop total: 47.30", "47.30"), ("Spar total: 5.99", "5.99")]
TEMPLATE = (
    "{% for message in messages %}{% if message.role == 'assistant' %}"
    "A: {% generation %}{{ message.content + eos_token }}{% endgeneration %}"
    "{% else %}Q: {{ message.content }} {% endif %}{% endfor %}"
    "{% if add_generation_prompt %}A: {% endif %}"
)


def make_turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 2, texts)]


ROWS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "texts": lambda asked, answer: {"text": f"{asked} {answer}"},
    "prompts": lambda asked, answer: {"prompt": f"{asked} ", "completion": answer},
    "chats": lambda asked, answer: {"messages": make_turns(asked, answer)},
    "chats with prompts": lambda asked, answer: {
        "prompt": make_turns(asked),
        "completion": make_turns(asked, answer)[1:],
    },
    "long chats": lambda asked, answer: {"messages": make_turns(asked, answer, asked, answer)},
}


def evaluate_with_sft(example: Any, folder: Path, kind: str, references: Any, **arguments: Any) -> float:
    """Evaluate a random Llama with SFTTrainer."""
    trl, datasets, transformers = map(importlib.import_module, ("trl", "datasets", "transformers"))
    transformers.set_seed(0)
    tokenizer = example.make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    rows = datasets.Dataset.from_list([ROWS[kind](*row) for row in QUESTIONS])
    hook = anls_metric.build_compute_metrics(tokenizer, references, causal=True, threshold=0.0)
    arguments = {"per_device_eval_batch_size": 2, "use_cpu": True, "bf16": False, "report_to": []} | arguments
    trainer = trl.SFTTrainer(
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **ids)),
        trl.SFTConfig(str(folder), max_length=60, disable_tqdm=True, **arguments),
        train_dataset=rows,
        eval_dataset=rows,
        processing_class=tokenizer,
        compute_metrics=hook,
        preprocess_logits_for_metrics=hook.preprocess_logits_for_metrics,
    )
    score: float = trainer.evaluate()["eval_anls"]
    return score


ANSWERS = [answer for _, answer in QUESTIONS]


def test_sft_scores_rows_of_one_answer(example: Any, tmp_path: Path) -> None:
    alone = evaluate_with_sft(example, tmp_path, "prompts", ANSWERS)
    assert 0 < alone < 1
    assert evaluate_with_sft(example, tmp_path, "prompts", None) == alone
    # With packing for training, rows of an unpacked evaluation are only separate in batches of one.
    unpacked = {"packing": True, "eval_packing": False, "per_device_eval_batch_size": 1}
    assert evaluate_with_sft(example, tmp_path, "prompts", ANSWERS, **unpacked) == alone
    chat = evaluate_with_sft(example, tmp_path, "chats", ANSWERS, assistant_only_loss=True)
    assert evaluate_with_sft(example, tmp_path, "chats with prompts", ANSWERS) == chat


@pytest.mark.parametrize("references", [None, ANSWERS], ids=["labels", "references"])
@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("texts", {}, "labels of row 0 .* include the prompt"),
        ("chats", {}, "labels of row 0 .* include the prompt.*assistant_only_loss=True for conversations"),
        ("long chats", {"assistant_only_loss": True}, "prediction of row 0 .* is not contiguous"),
        ("prompts", {"packing": True}, "prediction of row 0 .* is not contiguous.* eval_packing=False"),
        ("prompts", {"packing": True, "packing_strategy": "wrapped"}, "prediction of row 0 .* is not contiguous"),
        ("prompts", {"packing": True, "eval_packing": False}, "not contiguous.* set per_device_eval_batch_size=1"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else None,
)
def test_sft_rows_that_do_not_hold_one_answer_are_refused(
    example: Any, tmp_path: Path, kind: str, arguments: dict[str, Any], message: str, references: Any
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_with_sft(example, tmp_path, kind, references, **arguments)
