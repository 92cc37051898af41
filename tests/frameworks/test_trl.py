"""The reward for TRL: scores of completions, and TRL's trainers on tiny random models."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.core.extraction.extract import answer_in_tags
from anls_metric.core.scorer import get_scorer
from anls_metric.trl import anls_reward, build_reward

# Scores of completions


PARTS = [{"type": "image"}, {"type": "text", "text": "Coca"}, {"type": "text", "text": "Cola"}]
MESSAGES = [
    {"role": "assistant", "content": "Pepsi?", "tool_calls": []},
    {"role": "tool", "content": "no"},
    {"role": "assistant", "content": "CocaCola"},
]
STAR = {"variant": "anls_star"}
INVOICE = {"total": "12.50", "items": ["tea", "milk"]}
WRITTEN = json.dumps(INVOICE)


class ExactMatch(anls_metric.Variant):
    """A scorer that is not a variant: only equal texts score 1."""

    options: Any = ()

    @property
    def key(self) -> str:
        return "exact"

    def score(self, predictions: Any, references: Any, row_name: Any = None) -> list[float]:
        return [float(prediction in accepted) for prediction, accepted in zip(predictions, references)]


@pytest.mark.parametrize(
    ("options", "completion", "answers", "expected"),
    [
        ({}, "CocaCola", ["Coca Cola", "Pepsi"], 8 / 9),
        ({}, "CocaCola", {"Coca Cola", "Pepsi"}, 8 / 9),
        ({}, "CocaCola", "Coca Cola", 8 / 9),
        ({}, "Pepsi", None, None),
        ({}, "Pepsi", [], None),
        ({}, [{"role": "assistant", "content": "CocaCola"}], ["Coca Cola"], 8 / 9),
        ({}, MESSAGES, ["Coca Cola"], 8 / 9),  # the last message of the assistant
        ({}, [{"role": "assistant", "content": PARTS}], ["Coca Cola"], 8 / 9),
        ({}, [{"role": "assistant", "content": None, "tool_calls": []}], ["Coca Cola"], 0.0),
        ({}, [], ["Coca Cola"], 0.0),
        ({"extract": answer_in_tags}, "<answer>Pepsi</answer> no, <answer>\nCola </answer>", ["Cola"], 1.0),
        ({"extract": answer_in_tags}, "Cola", ["Cola"], 0.0),
        ({"extract": answer_in_tags}, "<answer>Cola</answer><|im_end|>\n<answer>Pepsi</answer>", ["Cola"], 1.0),
        ({"extract": "tag"}, "<answer>Pepsi</answer></s><answer>Cola</answer>", ["Cola"], 0.0),
        ({"extract": answer_in_tags, "variant": "rrc", "threshold": 0.2}, "<answer>Cola</answer>", "Coca Cola", 4 / 9),
        ({"extract": "tag"}, "It is <answer>a</answer>", ["a"], 1.0),
        ({"variant": "rrc"}, "ab  ", ["a"], 0.75),
        ({"threshold": 0.8}, "ab  ", ["a"], 0.0),
        ({"variant": ExactMatch("exact"), "extract": "tag"}, "<answer>a</answer>", ["a"], 1.0),
        ({"variant": ExactMatch("exact")}, "A", ["a"], 0.0),
        # Models that write JSON.
        (STAR, '{"total": "12.50", "items": ["milk", "tea"]}', INVOICE, 1.0),
        (STAR, ' {"total": "12.50"}\n', WRITTEN, 1 / 3),
        ({**STAR, "extract": "think,json"}, f"<think>[1]</think>It is {WRITTEN} (see [1]).", WRITTEN, 1.0),
        ({**STAR, "extract": answer_in_tags}, '<answer>["a"]</answer>', ["a"], 1.0),
        (STAR, "[]", "[]", 1.0),
        (STAR, "[]", [], 1.0),
        (STAR, "[]", None, None),
        (STAR, '{"a": "y"}', '{"a": {"__tuple__": ["x", "y"]}}', 1.0),
        (STAR, '"coca cola"', "Coca Cola", 1.0),
        (STAR, '{"a": "abcd", "b": null}', {"a": "abce"}, 0.375),
        ({**STAR, "none_keys": "ignored"}, '{"a": "abcd", "b": null}', {"a": "abce"}, 0.75),
        ({**STAR, "threshold": 0.8}, '{"a": "abcd"}', {"a": "abce"}, 0.0),
        ({"variant": "anlsl", "extract": "json:a"}, '{"a": ["b", "c"]}', ["b"], 0.5),
    ],
)
def test_reward_of_a_completion(options: Any, completion: Any, answers: Any, expected: float | None) -> None:
    columns: dict[str, Any] = {"prompts": ["", ""], "trainer_state": object(), "log_metric": print}
    reward = build_reward("accepted", **options)
    for each in (reward, pickle.loads(pickle.dumps(reward))):  # for another process
        assert each(completions=[completion, ""], accepted=[answers, None], **columns) == [expected, None]


def test_completions_that_are_no_json_score_0_and_are_logged() -> None:
    worthless = [
        f"```json\n{WRITTEN}\n```",
        WRITTEN[:-1],
        "",
        "[" * 100_000,
        "[" * 400 + "]" * 400,  # JSON, and deeper than any answer
        "12.50",  # a string
        '{"__tuple__": [{"total": "12.50"}, "x"]}',  # a prediction has no alternatives
    ]
    logged: list[tuple[str, float]] = []
    columns: dict[str, Any] = {"log_metric": lambda *entry: logged.append(entry)}
    reward = build_reward(variant="anls_star")
    assert reward([*worthless, WRITTEN, ""], answers=[*[INVOICE] * 8, None], **columns) == [0.0] * 7 + [1.0, None]
    assert reward([], answers=[], **columns) == []
    # Every process logs the same names.
    assert logged == [("rewards/anls_star/unreadable", 5 / 8), ("rewards/anls_star/unreadable", 0.0)]


def test_metric_builds_rewards_with_its_options(metric: Any) -> None:
    columns = {"completions": ["ab  "], "answers": [["a"]]}
    assert metric.build_reward()(**columns) == [0.5]
    assert metric.build_reward(variant="rrc")(**columns) == [0.75]
    assert anls_metric.load(threshold=0.8).build_reward()(**columns) == [0.0]
    assert metric.build_reward(extract=answer_in_tags)(**columns) == [0.0]
    assert metric.build_reward("accepted", name="strict").__name__ == "strict"
    star = anls_metric.load(config_name="anls_star", none_keys="ignored").build_reward()
    assert star(completions=['{"a": "abcd", "b": null}'], answers=[{"a": "abce"}]) == [0.75]
    star = metric.build_reward(variant="anls_star", numbers="by_value")
    assert star(completions=['{"a": 2440.0}', '{"a": 2441.0}'], answers=[{"a": 2440}] * 2) == [1.0, 0.75]
    with pytest.raises(TypeError, match="argument 'treshold'"):
        metric.build_reward(treshold=0.5)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "anls"),
        ({"variant": "standard", "threshold": 0.5, "ignore_case": True}, "anls"),
        ({"variant": "vlmevalkit"}, "anls_rrc"),
        ({"threshold": 0.8}, "anls_0.8"),
        ({"variant": "rrc", "threshold": 0, "ignore_case": False}, "anls_rrc_0.0_cased"),
        ({"variant": "due", "ignore_case": True}, "anls_due_uncased"),
        ({"variant": anls_metric.Variant("mine", threshold=0.3)}, "anls_mine"),
        ({"variant": ExactMatch("exact")}, "exact"),
        ({"name": "by the letter"}, "by the letter"),
        ({"variant": "anls_star", "none_keys": "ignored"}, "anls_star"),
        ({"variant": "anlsl", "threshold": 0.8}, "anlsl_0.8"),
        ({"variant": get_scorer("anls_star", threshold=0.25)}, "anls_star_0.25"),
    ],
)
def test_name_tells_variant_threshold_and_case(options: Any, name: str) -> None:
    assert build_reward(**options).__name__ == name
    assert pickle.loads(pickle.dumps(build_reward(**options))).__name__ == name


# Refused input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "anls_star", "ignore_case": True}, "anls_star has no option 'ignore_case'"),
        ({"variant": "anlsl", "none_keys": "ignored"}, "anlsl has no option 'none_keys'"),
        ({"variant": "rrc", "none_keys": "ignored"}, "rrc has no option 'none_keys'; choose from threshold"),
        ({"variant": "anls_star", "none_keys": "x"}, "none_keys must be .*, got 'x'"),
        ({"variant": "anls_star", "extract": "tags"}, "unknown extraction step 'tags'"),
        ({"variant": ExactMatch("exact"), "threshold": 0.5}, "exact has no option 'threshold'; leave it out"),
        ({"extract": 7}, r"extract is 7 \(int\): pass extraction steps, or a function"),
    ],
)
def test_wrong_options_are_refused(options: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        build_reward(**options)


@pytest.mark.parametrize(
    ("options", "completions", "columns", "message"),
    [
        ({}, ["a"], {"gold": ["a"]}, r"no column 'answers' \(found 'gold'\): .* build_reward\(references_column="),
        ({}, ["a"], {"answers": ["a", "b"]}, "argument 2 is longer than argument 1"),
        ({}, ["a"], {"answers": "a"}, r"answers is 'a' \(str\): pass a list with one for each completion"),
        ({}, ["a"], {"answers": None}, "answers is None: pass a list with one for each completion"),
        ({}, [[{"content": 7}]], {"answers": ["a"]}, "completion of row 0 .*, its content, is 7 .*, not a string"),
        ({}, ["a", "b"], {"answers": ["a", ["a", 7]]}, r"references of row 1 \(counted from 0\), item 1, is 7"),
        ({"extract": lambda text: 7}, ["a"], {"answers": ["a"]}, "what extract made of row 0 .* is 7"),
        ({"variant": "anls_star"}, ["[]", "[]"], {"answers": [[], [b"a"]]}, r"reference of row 1 .*, \[0\], is b'a'"),
        ({"variant": "anlsl"}, ["[]"], {"answers": [[5]]}, "references of row 0 .*, item 0, is 5"),
    ],
)
def test_bad_completions_and_references_are_refused(options: Any, completions: Any, columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_reward(**options)(completions=completions, **columns)


# In TRL


@pytest.fixture(scope="module")
def example() -> Any:
    return import_module("train_with_trl")


@pytest.mark.needs("trl")
def test_grpo_logs_the_mean_score_of_each_reward(example: Any, tmp_path: Path, metric: Any) -> None:
    star = build_reward(variant="anls_star", extract=write_json_sometimes)
    seen = []

    def watch(completions: list[str], answers: list[Any], **columns: Any) -> list[float]:
        seen.append((completions, answers))
        return [0.0] * len(completions)

    rewards = [watch, metric.build_reward(variant="nls"), build_reward(variant="nls", threshold=0.3), star]
    trainer = example.make_trainer(str(tmp_path), rewards, steps=3)
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "rewards/watch/mean" in entry]
    assert len(logged) == len(seen) == 3
    for entry, (completions, answers) in zip(logged, seen):
        assert len(completions) == 32
        for name, threshold in [("anls_nls", 0.0), ("anls_nls_0.3", 0.3)]:
            scores = anls_metric.anls_scores(completions, answers, variant="nls", threshold=threshold)
            assert entry[f"rewards/{name}/mean"] == pytest.approx(anls_metric.mean(scores), rel=1e-6)
        unreadable = sum(len(text) % 2 == 0 for text in completions) / len(completions)
        assert 0 < unreadable < 1
        assert entry["rewards/anls_star/unreadable"] == pytest.approx(unreadable)


def write_json_sometimes(text: str) -> str:
    return json.dumps([text]) if len(text) % 2 else "["


@pytest.mark.needs("trl")
def test_command_of_trl_takes_anls_reward(example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))  # the command adds to it
    trainer = example.make_trainer(str(tmp_path), anls_reward, steps=1)
    trainer.save_model(str(tmp_path / "model"))
    (tmp_path / "data").mkdir()
    trainer.train_dataset.to_json(str(tmp_path / "data" / "train.json"))
    command: Any = import_module("trl.scripts.grpo")
    arguments = f"""--model_name_or_path {tmp_path}/model --dataset_name {tmp_path}/data --output_dir {tmp_path}/out
        --reward_funcs anls_metric.trl.anls_reward --max_steps 1 --logging_steps 1 --per_device_train_batch_size 4
        --num_generations 4 --max_completion_length 4 --use_cpu --bf16 false --report_to none --dtype float32"""
    parsed = command.make_parser().parse_args_and_config(args=arguments.split())
    command.main(*parsed)
    (state,) = tmp_path.glob("out/checkpoint-*/trainer_state.json")
    assert "rewards/anls/mean" in state.read_text(encoding="utf-8")


@pytest.mark.needs("trl")
def test_example_raises_its_mean_reward(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    example.main()
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


def make_turns(asked: str, answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]


ROWS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "texts": lambda asked, answer: {"text": f"{asked} {answer}"},
    "prompts": lambda asked, answer: {"prompt": f"{asked} ", "completion": answer},
    "chats": lambda asked, answer: {"messages": make_turns(asked, answer)},
    "long chats": lambda asked, answer: {"messages": make_turns(asked, answer) * 2},
}


def evaluate_with_sft(example: Any, folder: Path, kind: str, is_labelled: bool = False, **arguments: Any) -> float:
    """Evaluate a random Llama with SFTTrainer."""
    trl, datasets, transformers = map(import_module, ("trl", "datasets", "transformers"))
    transformers.set_seed(0)
    tokenizer = example.make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    rows = datasets.Dataset.from_list([ROWS[kind](*row) for row in QUESTIONS])
    references = None if is_labelled else [answer for _, answer in QUESTIONS]
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


@pytest.mark.needs("trl")
def test_sft_scores_rows_of_one_answer(example: Any, tmp_path: Path) -> None:
    alone = evaluate_with_sft(example, tmp_path, "prompts")
    assert 0 < alone < 1
    assert evaluate_with_sft(example, tmp_path, "prompts", is_labelled=True) == alone
    # With packing for training, rows of an unpacked evaluation are only separate in batches of one.
    unpacked: dict[str, Any] = {"packing": True, "eval_packing": False, "per_device_eval_batch_size": 1}
    assert evaluate_with_sft(example, tmp_path, "prompts", **unpacked) == alone
    assert 0 < evaluate_with_sft(example, tmp_path, "chats", assistant_only_loss=True) < 1


@pytest.mark.needs("trl")
@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("texts", {}, "labels of row 0 .* include the prompt"),
        ("chats", {}, "labels of row 0 .* include the prompt.*assistant_only_loss=True for conversations"),
        ("long chats", {"assistant_only_loss": True}, "prediction for row 0 .* is not contiguous"),
        ("prompts", {"packing": True}, "prediction for row 0 .* is not contiguous.* eval_packing=False"),
        ("prompts", {"packing": True, "eval_packing": False}, "not contiguous.* set per_device_eval_batch_size=1"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else None,
)
def test_sft_rows_that_do_not_hold_one_answer_are_refused(
    example: Any, tmp_path: Path, kind: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_with_sft(example, tmp_path, kind, **arguments)
