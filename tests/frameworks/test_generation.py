"""The callback that generates, in real trainers with tiny random models. Every score is also computed by hand."""

from __future__ import annotations

import copy
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anls_metric
from tests.frameworks.conftest import join_other_process

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from anls_metric.transformers import GenerateAndScore  # noqa: E402

pytestmark = pytest.mark.usefixtures("single_thread")

QUIET: dict[str, Any] = {"use_cpu": True, "report_to": [], "disable_tqdm": True, "save_strategy": "no"}
CONFIG = transformers.GenerationConfig(max_new_tokens=8, do_sample=False)


@pytest.fixture(scope="module")
def made() -> SimpleNamespace:
    """A random T5 and a random Llama, 7 receipts, and the datasets of both."""
    example, sizes = import_module("train_with_transformers"), {"hidden_size": 16, "intermediate_size": 32}
    tokenizer, asked = example.make_tokenizer(), example.receipts(7, seed=2)
    ids = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    transformers.set_seed(1)
    layers = {"num_hidden_layers": 1, "num_attention_heads": 2}
    llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **layers, **ids))
    encoded, seeds = example.encode(asked, tokenizer), iter(range(20))
    found = SimpleNamespace(
        tokenizer=tokenizer,
        accepted=[accepted for _, accepted in asked],
        t5=None,
        llama=llama,
        encoded=encoded,
        prompts=[{"prompt": text} for text, _ in asked],
        whole=[
            {"input_ids": row["input_ids"] + row["labels"], "labels": [-100] * len(row["input_ids"]) + row["labels"]}
            for row in encoded
        ],
    )
    # With other versions of the library, other weights are random, and most of them write nothing.
    while not found.t5 or not sum(score_by_hand(found, "t5")):
        found.t5 = example.make_model(len(tokenizer), next(seeds))
    return found


def build_trainer(made: Any, model: Any, rows: Any, callbacks: list[Any], folder: Any, **options: Any) -> Any:
    prefix = "Seq2Seq" if model.config.is_encoder_decoder else ""
    arguments = getattr(transformers, f"{prefix}TrainingArguments")(str(folder), **QUIET, **options)
    collator = transformers.DataCollatorForSeq2Seq(made.tokenizer)
    one = next(iter(rows.values())) if isinstance(rows, dict) else rows
    trainer = getattr(transformers, f"{prefix}Trainer")
    return trainer(model, arguments, collator, train_dataset=one, eval_dataset=rows, callbacks=callbacks)


@torch.no_grad()  # type: ignore[untyped-decorator]
def answer_by_hand(made: Any, kind: str) -> list[str]:
    """Generate an answer to each receipt by itself."""
    answers, model = [], getattr(made, kind).eval()
    for row in made.encoded if kind == "t5" else made.prompts:
        ids = row["input_ids"] if kind == "t5" else made.tokenizer(row["prompt"])["input_ids"]
        written = model.generate(torch.tensor([ids]), generation_config=CONFIG)[0]
        answers.append(made.tokenizer.decode(written[0 if kind == "t5" else len(ids) :], skip_special_tokens=True))
    return answers


def score_by_hand(made: Any, kind: str) -> list[float]:
    return anls_metric.anls_scores(answer_by_hand(made, kind), made.accepted, variant="nls")


def evaluate(made: Any, kind: str, folder: Any, **options: Any) -> dict[str, float]:
    """Evaluate a model in a trainer with the callback."""
    rows = made.encoded if kind == "t5" else made.prompts
    options = {"processor": made.tokenizer, "generation_config": CONFIG, "variant": "nls", "batch_size": 3} | options
    callback = GenerateAndScore(rows, made.accepted, **options)
    whole = made.encoded if kind == "t5" else made.whole
    metrics: dict[str, float] = build_trainer(made, getattr(made, kind), whole, [callback], folder).evaluate()
    return metrics


@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_answers_are_those_of_a_loop_by_hand(made: Any, kind: str, tmp_path: Path) -> None:
    scores = score_by_hand(made, kind)
    assert 0 < anls_metric.mean(scores) < 1
    metrics = evaluate(made, kind, tmp_path, metrics="exact_match")
    low, high = anls_metric.interval(scores)
    assert {name[20:]: score for name, score in metrics.items() if "generated" in name} == {
        "": pytest.approx(anls_metric.mean(scores), abs=0),
        "exact_match": 0,
        "low": low,
        "high": high,
    }
    limited = [evaluate(made, kind, tmp_path, limit=3)["eval_anls_generated"] for _ in range(2)]
    assert limited[0] == limited[1] != metrics["eval_anls_generated"]


def test_conversations_are_written_by_the_template(made: Any, tmp_path: Path) -> None:
    tokenizer = copy.deepcopy(made.tokenizer)
    tokenizer.chat_template = "{{ messages[0].content }}"
    rows = [{"prompt": [{"role": "user", "content": row["prompt"]}]} for row in made.prompts]
    callback = GenerateAndScore(rows, made.accepted, processor=tokenizer, generation_config=CONFIG, variant="nls")
    metrics = build_trainer(made, made.llama, made.whole, [callback], tmp_path).evaluate()
    scores = score_by_hand(made, "llama")
    assert metrics["eval_anls_generated"] == anls_metric.mean(scores)


@pytest.mark.parametrize("has_parts", [False, True])
def test_images_of_the_rows_are_given_to_the_processor(made: Any, has_parts: bool) -> None:
    """A random Llava, whose answers depend on the image, answers as by hand."""
    image_module = pytest.importorskip("PIL.Image")
    tokenizer = import_module("train_with_transformers").make_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    size = {"height": 32, "width": 32}
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=size),
        tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template="{% for part in messages[0].content %}{% if part.type == 'image' %}<image>{% else %}"
        "{{ part.text }}{% endif %}{% endfor %}",
    )
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    transformers.set_seed(3)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(
            vision_config=transformers.CLIPVisionConfig(**sizes, image_size=32, patch_size=16),
            text_config=transformers.LlamaConfig(**sizes, **ids),
            image_token_id=len(tokenizer) - 1,
        )
    ).eval()
    rows, expected = [], []
    for place, color in enumerate(["red", "white", "black"]):
        image, text = image_module.new("RGB", (40, 30), color), made.prompts[place]["prompt"]
        parts = [{"type": "image"}, {"type": "text", "text": text}]
        rows.append({"prompt": [{"role": "user", "content": parts if has_parts else text}], "images": [image]})
        inputs = processor(text=f"<image>{text}", images=image, return_tensors="pt")
        written = model.generate(**inputs, generation_config=CONFIG)[0, inputs["input_ids"].shape[1] :]
        expected.append(tokenizer.decode(written, skip_special_tokens=True))
    callback = GenerateAndScore(rows, made.accepted[:3], generation_config=CONFIG, batch_size=2)
    ids_of_answers = callback._generate(model, {"processing_class": processor}, rows)
    assert [tokenizer.decode(each, skip_special_tokens=True) for each in ids_of_answers] == expected


def test_sets_have_scores_of_their_own_and_encode_makes_the_inputs(made: Any, tmp_path: Path) -> None:
    def encode(rows: list[Any]) -> Any:
        return made.tokenizer.pad({"input_ids": [row["input_ids"] for row in rows]}, return_tensors="pt")

    sets, accepted = {"a": made.encoded, "b": made.encoded[:2]}, {"b": made.accepted[:2], "a": made.accepted}
    options = {"processor": made.tokenizer, "encode": encode, "generation_config": CONFIG, "name": "n"}
    callback = GenerateAndScore(sets, accepted, variant="nls", **options)
    metrics = build_trainer(made, made.t5, sets, [callback], tmp_path).evaluate()
    scores = anls_metric.anls_scores(answer_by_hand(made, "t5"), made.accepted, variant="nls")
    assert metrics["eval_a_n"] == anls_metric.mean(scores)
    assert metrics["eval_b_n"] == anls_metric.mean(scores[:2])


def test_logger_gets_a_table_of_the_worst_answers(made: Any, tmp_path: Path, monkeypatch: Any) -> None:
    logged: list[dict[str, Any]] = []
    stub = SimpleNamespace(run=1, log=logged.append, Table=lambda columns, data: data)
    monkeypatch.setitem(sys.modules, "wandb", stub)
    metrics = evaluate(made, "t5", tmp_path)
    (entry,) = logged
    table = entry.pop("eval_anls_generated_worst")
    assert entry == {name: score for name, score in metrics.items() if "generated" in name}
    assert [row[3] for row in table] == sorted(row[3] for row in table)
    assert {row[1] for row in table} == set(answer_by_hand(made, "t5"))


def evaluate_in_process(rank: int, folder: str, made: Any) -> None:
    join_other_process(rank, folder)
    torch.save(evaluate(made, "t5", folder)["eval_anls_generated"], f"{folder}/{rank}.pt")


def test_two_processes_score_an_odd_number_of_rows_as_one_does(made: Any, tmp_path: Path) -> None:
    expected = evaluate(made, "t5", tmp_path)["eval_anls_generated"]
    torch.multiprocessing.spawn(evaluate_in_process, (str(tmp_path), made), nprocs=2)
    assert [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)] == [expected] * 2


def test_early_stopping_must_stand_behind(made: Any, tmp_path: Path) -> None:
    options = {"eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1, "max_steps": 3}
    options |= {"metric_for_best_model": "anls_generated", "load_best_model_at_end": True, "learning_rate": 0.0}
    callbacks = [
        GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer, generation_config=CONFIG),
        transformers.EarlyStoppingCallback(1),
    ]
    arguments = {**QUIET, **options}
    for order in (callbacks, callbacks[::-1]):
        trainer = transformers.Trainer(
            made.t5,
            transformers.TrainingArguments(str(tmp_path), **arguments),
            transformers.DataCollatorForSeq2Seq(made.tokenizer),
            train_dataset=made.encoded,
            eval_dataset=made.encoded,
            callbacks=order,
        )
        if order is callbacks:
            trainer.train()
            scored = [entry for entry in trainer.state.log_history if "eval_anls_generated" in entry]
            assert [entry["step"] for entry in scored] == [1, 2]  # nothing is learned, so it stops
        else:
            with pytest.raises(ValueError, match="put GenerateAndScore before it in callbacks"):
                trainer.train()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": ["a"]}, "has 7 rows, but there are references for 1"),
        ({"references": {"a": ["a"]}}, "must either both be dicts with the same keys"),
        ({"references": None}, "references must not be None"),
        ({"dataset": [{"question": "?"}] * 7}, r"no column 'prompt', only \['question'\]"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"generation_config": SimpleNamespace(num_return_sequences=2)}, "set num_return_sequences=1"),
        ({"variant": "no"}, "no"),
        ({"extract": "no"}, "no"),
    ],
    ids=str,
)
def test_refuses_before_the_training(made: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GenerateAndScore(**{"dataset": made.encoded, "references": made.accepted, **options})


def test_refuses_a_trainer_without_a_processor_and_prompts_with_answers(made: Any, tmp_path: Path) -> None:
    bare = GenerateAndScore(made.encoded, made.accepted)
    with pytest.raises(ValueError, match="pass processor to GenerateAndScore"):
        build_trainer(made, made.t5, made.encoded, [bare], tmp_path).train()
    whole = GenerateAndScore(made.whole, made.accepted, processor=made.tokenizer)
    with pytest.raises(ValueError, match="pass rows with a 'prompt' column"):
        build_trainer(made, made.llama, made.whole, [whole], tmp_path).evaluate()
