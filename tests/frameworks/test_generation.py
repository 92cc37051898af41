"""The callback that generates, in real trainers with tiny random models. Every score is also computed by hand."""

from __future__ import annotations

import copy
import sys
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anls_metric
from tests.frameworks.conftest import join_other_process

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `transformers` is not installed")

from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard  # noqa: E402
from transformers import TrainerCallback  # noqa: E402

from anls_metric.generation import GenerateAndScore, _encode  # noqa: E402

pytestmark = [  # the tiny models are random, so that few answers end
    pytest.mark.usefixtures("single_thread"),
    pytest.mark.filterwarnings("ignore:.* answers have no end token:UserWarning"),
]

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
    arguments = getattr(transformers, f"{prefix}TrainingArguments")(str(folder), **{**QUIET, **options})
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


@pytest.fixture(scope="module")
def vision(made: Any) -> SimpleNamespace:
    """A random Llava whose answers depend on the image, its processor, whose tokenizer writes a first token, and rows
    of three images.
    """
    image_module = pytest.importorskip("PIL.Image")
    from tokenizers.processors import TemplateProcessing

    tokenizer = import_module("train_with_transformers").make_tokenizer()
    tokenizer.add_special_tokens({"bos_token": "<s>", "additional_special_tokens": ["<image>"]})
    first = ("<s>", tokenizer.bos_token_id)
    tokenizer._tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[first])
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template="{{ bos_token }}{% for message in messages %}{% for part in message.content %}"
        "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}",
    )
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": tokenizer.bos_token_id}
    transformers.set_seed(3)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(
            vision_config=transformers.CLIPVisionConfig(**sizes, image_size=32, patch_size=16),
            text_config=transformers.LlamaConfig(**sizes, **ids),
            image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        )
    ).eval()
    images = [image_module.new("RGB", (40, 30), color) for color in ("red", "white", "black")]
    questions = [row["prompt"] for row in made.prompts[:3]]
    return SimpleNamespace(processor=processor, model=model, images=images, questions=questions)


def write_image_rows(vision: Any, kind: str) -> list[Any]:
    """Write the rows of images in one of the forms that recipes use."""
    rows: list[Any] = []
    for image, text in zip(vision.images, vision.questions):
        answer = {"role": "assistant", "content": "wrong"}
        question = {"type": "text", "text": text}
        asked = {
            "text": [{"role": "user", "content": text}],
            "parts": [{"role": "user", "content": [{"type": "image"}, question]}],
            "own": [{"role": "user", "content": [{"type": "image", "image": image}, question]}],
        }[kind.removesuffix(" answered")]
        row: dict[str, Any] = {"messages": [*asked, answer]} if kind.endswith("answered") else {"prompt": asked}
        rows.append(row if kind.startswith("own") else {**row, "images": [image]})
    return rows


def ask_by_hand(vision: Any, row: Any) -> Any:
    """Encode a row as the library documents it."""
    return vision.processor.apply_chat_template(
        row["prompt"], tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )


@pytest.mark.parametrize("kind", ["text", "parts", "own", "text answered", "parts answered", "own answered"])
def test_ids_of_images_are_those_of_the_template(vision: Any, kind: str) -> None:
    """The template writes the first token, which the tokenizer must not write again."""
    rows = write_image_rows(vision, kind)
    expected = [ask_by_hand(vision, row) for row in write_image_rows(vision, "own")]
    found = _encode(vision.processor, rows, vision.model)
    ids = [row[mask > 0].tolist() for row, mask in zip(found["input_ids"], found["attention_mask"])]
    assert ids == [each["input_ids"][0].tolist() for each in expected]
    assert ids[0].count(vision.processor.tokenizer.bos_token_id) == 1
    assert torch.equal(found["pixel_values"], torch.cat([each["pixel_values"] for each in expected]))


def test_answers_to_images_are_those_of_a_loop_by_hand(made: Any, vision: Any) -> None:
    callback = GenerateAndScore(
        write_image_rows(vision, "text"), made.accepted[:3], processor=vision.processor, generation_config=CONFIG
    )
    answers = []
    for row in write_image_rows(vision, "own"):
        inputs = ask_by_hand(vision, row)
        written = vision.model.generate(**inputs, generation_config=CONFIG)[0, inputs["input_ids"].shape[1] :]
        answers.append(vision.processor.tokenizer.decode(written, skip_special_tokens=True))
    assert len(set(answers)) > 1
    places = [callback.decoder.tokenizer.decode(ids, skip_special_tokens=True) for ids in generate(callback, vision)]
    assert places == answers


def generate(callback: Any, made: Any) -> list[list[int]]:
    (rows, _) = callback.sets[""]
    ids: list[list[int]] = callback._generate(made.model, rows, range(len(rows)))
    return ids


def test_conversations_are_asked_without_their_answers(made: Any, tmp_path: Path) -> None:
    tokenizer = copy.deepcopy(made.tokenizer)
    tokenizer.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    rows = [
        {"messages": [{"role": "user", "content": row["prompt"]}, {"role": "assistant", "content": accepted[0]}]}
        for row, accepted in zip(made.prompts, made.accepted)
    ]
    callback = GenerateAndScore(rows, made.accepted, processor=tokenizer, generation_config=CONFIG, variant="nls")
    metrics = build_trainer(made, made.llama, made.whole, [callback], tmp_path).evaluate()
    assert metrics["eval_anls_generated"] == anls_metric.mean(score_by_hand(made, "llama"))
    prompts = [{"prompt": row["messages"]} for row in rows]
    with pytest.raises(ValueError, match="rename the column to 'messages', or leave out its last message"):
        GenerateAndScore(prompts, made.accepted)
    later = [{"prompt": rows[0]["messages"][:1]}, *prompts[1:]]
    with pytest.raises(ValueError, match="ends with the answer of the assistant"):
        GenerateAndScore(later, made.accepted, processor=tokenizer).score(made.llama, later, made.accepted)


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


# Loggers


class Recorder(TrainerCallback):  # type: ignore[misc]
    """A logger, which keeps what a trainer logs."""

    def __init__(self) -> None:
        self.logs: list[dict[str, float]] = []

    def on_log(self, args: Any, state: Any, control: Any, *, logs: Any, **given: Any) -> None:
        self.logs.append(dict(logs))


def test_loggers_get_the_score_once(made: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those before and those behind the callback, the progress bar, the history, and the model card."""
    given = {"processor": made.tokenizer, "generation_config": CONFIG, "variant": "nls"}
    callback, before, behind = GenerateAndScore(made.encoded, made.accepted, **given), Recorder(), Recorder()
    options = {"max_steps": 2, "eval_strategy": "steps", "eval_steps": 1, "learning_rate": 0.0, "disable_tqdm": False}
    trainer = build_trainer(made, made.t5, made.encoded, [before, callback, behind], tmp_path, **options)
    trainer.train()
    for recorder in (before, behind):
        scored = [entry for entry in recorder.logs if "eval_anls_generated" in entry]
        assert len(scored) == 2
        assert not any("eval_loss" in entry for entry in scored)
        assert set(scored[0]) == {"epoch", *(f"eval_anls_generated{end}" for end in ("", "_low", "_high"))}
    kept = [entry for entry in trainer.state.log_history if "eval_anls_generated" in entry]
    assert [(entry["step"], "eval_loss" in entry) for entry in kept] == [(1, True), (2, True)]
    assert capsys.readouterr().out.count("'eval_anls_generated'") == 2
    trainer.create_model_card()
    card = (tmp_path / "README.md").read_text()
    assert "| Anls Generated |" in card
    assert f"Anls Generated: {kept[1]['eval_anls_generated']:.4f}" in card


@pytest.mark.needs("IPython")
def test_table_of_a_notebook_shows_the_score(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = pytest.importorskip("transformers.utils.notebook")
    monkeypatch.setattr(notebook.disp, "display", lambda *_, **__: None)
    rows: list[Any] = []
    monkeypatch.setattr(notebook.NotebookTrainingTracker, "write_line", lambda _, values: rows.append(values))
    callback = GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer, generation_config=CONFIG)
    table = notebook.NotebookProgressCallback()
    for callbacks in ([callback, table], [table, callback]):
        options = {"max_steps": 1, "eval_strategy": "steps", "eval_steps": 1}
        trainer = build_trainer(made, made.t5, made.encoded, callbacks, tmp_path, **options)
        trainer.train()
        assert "eval_anls_generated" in trainer.state.log_history[-2]  # the last entry is about the training
    assert "Anls Generated" in rows[0]


@pytest.mark.needs("tensorboard")
def test_events_of_tensorboard_hold_the_score(made: Any, tmp_path: Path) -> None:
    reader = import_module("tensorboard.backend.event_processing.event_accumulator")
    callback = GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer, generation_config=CONFIG)
    options = {"max_steps": 1, "eval_strategy": "steps", "eval_steps": 1, "report_to": ["tensorboard"]}
    metrics = build_trainer(made, made.t5, made.encoded, [callback], tmp_path, **options)
    metrics.train()
    (folder,) = {path.parent for path in tmp_path.rglob("events.out.*")}
    events = reader.EventAccumulator(str(folder)).Reload().Scalars("eval/anls_generated")
    expected = metrics.state.log_history[-2]["eval_anls_generated"]
    assert [(event.step, event.value) for event in events] == [(1, pytest.approx(expected))]


def test_weights_and_biases_gets_a_table_of_the_worst_answers(made: Any, tmp_path: Path, monkeypatch: Any) -> None:
    logged: list[dict[str, Any]] = []
    stub = SimpleNamespace(run=1, log=logged.append, Table=lambda columns, data: data)
    monkeypatch.setitem(sys.modules, "wandb", stub)
    evaluate(made, "t5", tmp_path)
    ((name, table),) = logged[0].items()
    assert (len(logged), name) == (1, "eval_anls_generated_worst")
    assert [row[3] for row in table] == sorted(row[3] for row in table)
    assert {row[1] for row in table} == set(answer_by_hand(made, "t5"))


# The end of a script: other sets


def make_others(made: Any, count: int) -> tuple[list[Any], list[Any]]:
    """Make receipts that the callback was not given."""
    example = import_module("train_with_transformers")
    asked = example.receipts(count, seed=20 + count)
    return example.encode(asked, made.tokenizer), [accepted for _, accepted in asked]


def score_alone(made: Any, rows: list[Any], accepted: list[Any]) -> float:
    """Score a set with a callback of its own."""
    alone = SimpleNamespace(**{**vars(made), "encoded": rows})
    return anls_metric.mean(anls_metric.anls_scores(answer_by_hand(alone, "t5"), accepted, variant="nls"))


@pytest.mark.parametrize("count", [9, 7])  # also a set of the same size
def test_other_rows_get_no_score_but_a_warning_and_can_be_scored(made: Any, count: int, tmp_path: Path) -> None:
    rows, accepted = make_others(made, count)
    options = {"processor": made.tokenizer, "generation_config": CONFIG, "variant": "nls"}
    callback = GenerateAndScore(made.encoded, made.accepted, **options)
    trainer = build_trainer(made, made.t5, made.encoded, [callback], tmp_path)
    for prefix in ("eval", "test"):
        with pytest.warns(UserWarning, match=rf"no {prefix}_anls_generated: .*call callback.score\(model"):
            metrics = trainer.evaluate(rows, metric_key_prefix=prefix)
        assert f"{prefix}_loss" in metrics
        assert not any("generated" in name for name in [*metrics, *trainer.state.log_history[-1]])
    scores = callback.score(trainer.model, rows, accepted)
    assert list(scores) == ["anls_generated", "anls_generated_low", "anls_generated_high"]
    assert scores["anls_generated"] == score_alone(made, rows, accepted)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "no val_anls")  # the rows that it was given have a score with any prefix
        again = trainer.evaluate(list(made.encoded), metric_key_prefix="val")
    assert again["val_anls_generated"] == anls_metric.mean(score_by_hand(made, "t5"))


@pytest.mark.parametrize("count", [9, 7])
def test_sets_by_name_follow_the_prefix_and_the_rows(made: Any, count: int, tmp_path: Path) -> None:
    rows, accepted = make_others(made, count)
    options = {"processor": made.tokenizer, "generation_config": CONFIG, "variant": "nls"}
    sets = {"validation": (made.encoded, made.accepted), "test": (rows, accepted)}
    trainer = build_trainer(made, made.t5, made.encoded, [GenerateAndScore(sets, **options)], tmp_path)
    validation, test = anls_metric.mean(score_by_hand(made, "t5")), score_alone(made, rows, accepted)
    assert validation != test
    assert trainer.evaluate()["eval_anls_generated"] == validation
    assert trainer.evaluate(list(rows))["eval_anls_generated"] == test
    assert trainer.evaluate(list(rows), metric_key_prefix="test")["test_anls_generated"] == test
    assert trainer.evaluate({"test": list(rows)})["eval_test_anls_generated"] == test
    assert trainer.predict(list(rows)).metrics["test_anls_generated"] == test
    with pytest.warns(UserWarning, match="no test_anls_generated"):
        assert "test_anls_generated" not in trainer.evaluate(metric_key_prefix="test")


def test_sets_that_cannot_be_told_apart_get_no_score(made: Any, tmp_path: Path) -> None:
    sets = {"a": (made.encoded, made.accepted), "b": (list(made.encoded), made.accepted)}
    callback = GenerateAndScore(sets, processor=made.tokenizer, generation_config=CONFIG)
    trainer = build_trainer(made, made.t5, list(made.encoded), [callback], tmp_path)
    with pytest.warns(UserWarning, match="the sets 'a' and 'b' both fit: pass one of these names as metric_key_prefix"):
        assert "eval_anls_generated" not in trainer.evaluate()
    assert "b_anls_generated" in trainer.evaluate(metric_key_prefix="b")


def test_prompts_are_compared_where_labels_do_not_tell(made: Any, vision: Any, tmp_path: Path) -> None:
    """A set whose answers are the same has other questions or images."""
    rows = write_image_rows(vision, "text")
    labeled = [{**row, "input_ids": [1, 2], "labels": [3, 4]} for row in rows]
    shuffled = [{**row, "images": other["images"]} for row, other in zip(labeled, [*labeled[1:], labeled[0]])]
    callback = GenerateAndScore(rows, [["a"]] * 3, processor=vision.processor)
    pad = transformers.DataCollatorForSeq2Seq(made.tokenizer)

    def collate(batch: list[Any]) -> Any:
        return pad([{key: row[key] for key in ("input_ids", "labels")} for row in batch])

    def find_problem(evaluated: list[Any], accepted: list[str]) -> str:
        callback.decoder.tokenizer = SimpleNamespace(batch_decode=lambda ids, **_: accepted[: len(ids)])
        loader = SimpleNamespace(dataset=evaluated, collate_fn=collate)
        return str(callback._choose_set("eval", loader)[1])

    assert find_problem(labeled, ["a"] * 3) == ""
    assert find_problem(labeled, ["it is: a"] * 3) == ""  # labels may also cover the question
    assert "'images' differs in 3 of 3 rows" in find_problem(shuffled, ["a"] * 3)
    assert "labels of 3 of 3 rows are not among their references" in find_problem(labeled, ["x", "y", "z"])


# Going on with a run


def train(made: Any, callbacks: list[Any], folder: Path, resume: bool = False, rows: Any = None, **options: Any) -> Any:
    """Train for some steps, with a checkpoint at each."""
    given = {"save_strategy": "steps", "save_steps": 1, "eval_strategy": "steps", "eval_steps": 1, "max_steps": 2}
    given |= {"learning_rate": 0.0, **options}
    trainer = build_trainer(made, copy.deepcopy(made.t5), rows or made.encoded, callbacks, folder, **given)
    trainer.train(resume_from_checkpoint=resume or None)
    return trainer


@pytest.mark.parametrize("restore", [False, True])
@pytest.mark.parametrize("wrote", [False, True])
def test_run_goes_on_from_a_checkpoint(made: Any, wrote: bool, restore: bool, tmp_path: Path) -> None:
    """Also from a checkpoint that was written without the callback."""

    def make_callback() -> Any:
        return GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer, generation_config=CONFIG)

    train(made, [make_callback()] * wrote, tmp_path, max_steps=1)
    options = {"restore_callback_states_from_checkpoint": restore}
    trainer = train(made, [make_callback()], tmp_path, resume=True, **options)
    scored = [entry["step"] for entry in trainer.state.log_history if "eval_anls_generated" in entry]
    assert scored == ([1, 2] if wrote else [2])


@pytest.mark.parametrize("metric", ["loss", "anls_generated", "eval_anls_generated_low", "b_anls_generated_f1"])
def test_early_stopping_stands_behind_if_it_looks_for_the_score(made: Any, metric: str, tmp_path: Path) -> None:
    named = metric.startswith("b_")
    rows, accepted = ({"b": made.encoded}, {"b": made.accepted}) if named else (made.encoded, made.accepted)
    callback = GenerateAndScore(rows, accepted, processor=made.tokenizer, generation_config=CONFIG, metrics="f1")
    stop = transformers.EarlyStoppingCallback(1)
    options: dict[str, Any] = {"metric_for_best_model": metric, "load_best_model_at_end": True, "max_steps": 3}
    if metric != "loss":
        with pytest.raises(ValueError, match="put GenerateAndScore before it in callbacks"):
            train(made, [stop, callback], tmp_path, rows=rows, **options)
    trainer = train(made, [stop, callback] if metric == "loss" else [callback, stop], tmp_path, rows=rows, **options)
    scored = [entry["step"] for entry in trainer.state.log_history if any("_generated" in name for name in entry)]
    assert scored == [1, 2]  # nothing is learned, so it stops


# Several processes


def evaluate_in_process(rank: int, folder: str, made: Any) -> None:
    """Score in one of two processes: as a trainer, other rows, and models whose weights the processes share."""
    join_other_process(rank, folder)
    options = {"processor": made.tokenizer, "generation_config": CONFIG, "variant": "nls", "batch_size": 3}
    callback = GenerateAndScore(made.encoded, made.accepted, **options)
    trainer = build_trainer(made, made.t5, made.encoded, [callback], folder)
    rows, accepted = make_others(made, 9)
    found = {"whole": trainer.evaluate()["eval_anls_generated"]}
    with pytest.warns(UserWarning, match="the evaluation has 9 rows, but GenerateAndScore was given 7"):
        assert not any("generated" in name for name in trainer.evaluate(rows))
    found["other"] = callback.score(trainer.model, rows, accepted)["anls_generated"]
    shared = GenerateAndScore(made.prompts, made.accepted, **options)
    whole = partial(FullyShardedDataParallel, device_id=torch.device("cpu"))
    for name, share in {"fsdp1": whole, "fsdp2": fully_shard}.items():
        model = share(copy.deepcopy(made.llama))
        assert 2 * sum(_count_here(each) for each in model.parameters()) <= made.llama.num_parameters() + 10
        found[name] = shared.score(model, made.prompts, made.accepted)["anls_generated"]
    torch.save(found, f"{folder}/{rank}.pt")


def _count_here(parameter: Any) -> int:
    """Count the numbers of a weight that this process holds."""
    return int((parameter.to_local() if hasattr(parameter, "to_local") else parameter).numel())


def test_two_processes_score_an_odd_number_of_rows_as_one_does(made: Any, tmp_path: Path) -> None:
    rows, accepted = make_others(made, 9)
    torch.multiprocessing.spawn(evaluate_in_process, (str(tmp_path), made), nprocs=2)
    expected = {
        "whole": anls_metric.mean(score_by_hand(made, "t5")),
        "other": score_alone(made, rows, accepted),
        **dict.fromkeys(("fsdp1", "fsdp2"), anls_metric.mean(score_by_hand(made, "llama"))),
    }
    assert [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)] == [expected] * 2


def test_weights_that_cannot_be_gathered_are_an_error_with_a_next_step(made: Any, monkeypatch: Any) -> None:
    """As DeepSpeed ZeRO-3 would fail, or a model that processes compute together."""
    callback = GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer)
    model = copy.deepcopy(made.t5)

    def fail(**options: Any) -> Any:
        assert options["synced_gpus"]
        raise RuntimeError("'weight' must be 2-D")

    monkeypatch.setattr(model, "generate", fail)
    monkeypatch.setattr("anls_metric.generation.is_deepspeed_zero3_enabled", lambda: True)
    with pytest.raises(RuntimeError, match=r"could not gather them .*score a saved checkpoint in one process"):
        callback.score(model, made.encoded, made.accepted)
    monkeypatch.setattr(type(model), "tp_size", 2)
    with pytest.raises(ValueError, match="split by tensor parallelism"):
        callback.score(model, made.encoded, made.accepted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": ["a"]}, "has 7 rows, but there are references for 1"),
        ({"references": {"a": ["a"]}}, "must both be dicts with the same keys"),
        ({"references": None}, "references must not be None"),
        ({"dataset": [{"question": "?"}] * 7}, r"no column 'prompt', only \['question'\]"),
        ({"dataset": iter([{"prompt": "?"}])}, r"is streamed, .*list\(dataset.take\(200\)\)"),
        ({"dataset": [], "references": []}, "has no rows"),
        ({"dataset": {"a": [], "b": []}, "references": None}, "references must not be None"),
        ({"dataset": [{"messages": [{"role": "assistant", "content": "a"}]}] * 7}, "has no user message"),
        ({"dataset": [{"prompt": [{"from": "human"}]}] * 7}, "pass a list of messages"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"max_new_tokens": 5}, "max_new_tokens is an option of generate: pass it in generation_config"),
        ({"generation_config": SimpleNamespace(num_return_sequences=2)}, "set num_return_sequences=1"),
        ({"variant": "no"}, "no"),
        ({"extract": "no"}, "no"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_before_the_training(made: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GenerateAndScore(**{"dataset": made.encoded, "references": made.accepted, **options})


def test_row_that_cannot_be_encoded_is_refused_before_the_training(made: Any, tmp_path: Path) -> None:
    """The rows that a plain trainer of a decoder reads contain the answers."""
    callback = GenerateAndScore(made.whole, made.accepted, processor=made.tokenizer)
    trainer = build_trainer(made, made.llama, made.whole, [callback], tmp_path, max_steps=1)
    with pytest.raises(ValueError, match="input_ids of a decoder-only model include the answer: pass rows with a 'pr"):
        trainer.train()
    assert trainer.state.log_history == []


def test_answers_are_kept_and_those_without_an_end_are_a_warning(made: Any) -> None:
    options = {"max_new_tokens": 2, "do_sample": False}
    callback = GenerateAndScore(made.encoded, made.accepted, processor=made.tokenizer, generation_config=options)
    with pytest.warns(UserWarning, match=r"^7 of 7 answers have no end token: if they are cut off, raise max_new_tok"):
        scores = callback.score(made.t5, made.encoded, made.accepted)
    assert callback.answers == [text[: len(own)] for text, own in zip(answer_by_hand(made, "t5"), callback.answers)]
    assert scores["anls_generated"] == anls_metric.mean(anls_metric.anls_scores(callback.answers, made.accepted))


def test_refuses_a_trainer_without_a_processor_and_prompts_with_answers(made: Any, tmp_path: Path) -> None:
    bare = GenerateAndScore(made.encoded, made.accepted)
    with pytest.raises(ValueError, match="pass processor to GenerateAndScore"):
        build_trainer(made, made.t5, made.encoded, [bare], tmp_path).train()
    whole = GenerateAndScore(made.whole, made.accepted, processor=made.tokenizer)
    with pytest.raises(ValueError, match="pass rows with a 'prompt' column"):
        build_trainer(made, made.llama, made.whole, [whole], tmp_path).evaluate()
