"""The hook in transformers' trainers, on the tiny random T5 of the example. Every score is also computed by hand."""

from __future__ import annotations

import copy
import json
import os
import pickle
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anls_metric
from tests.conftest import ROOT

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
pytest.importorskip("accelerate")

SCRIPT = ROOT / "examples" / "train_with_transformers.py"
COUNT = 7


@pytest.fixture(scope="module", autouse=True)
def _single_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def example(load_example: Callable[[str], ModuleType]) -> ModuleType:
    return load_example("train_with_transformers")


@pytest.fixture(scope="module")
def tokenizer(example: Any) -> Any:
    return example.make_tokenizer()


@pytest.fixture(scope="module")
def model(example: Any, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model that was trained until some of its answers are close."""
    model = example.make_model(len(tokenizer))
    folder = tmp_path_factory.mktemp("training")
    arguments = transformers.Seq2SeqTrainingArguments(
        str(folder), max_steps=60, per_device_train_batch_size=16, learning_rate=5e-3, **QUIET
    )
    rows = example.encode(example.receipts(400, seed=1), tokenizer)
    collator = transformers.DataCollatorForSeq2Seq(tokenizer)
    transformers.Seq2SeqTrainer(model, arguments, train_dataset=rows, data_collator=collator).train()
    return model


QUIET: dict[str, Any] = {"use_cpu": True, "report_to": [], "disable_tqdm": True, "save_strategy": "no"}
Rows = list[tuple[str, list[str]]]


@pytest.fixture
def rows(example: Any) -> Rows:
    receipts: Rows = example.receipts(COUNT, seed=2)
    return receipts


MakeTrainer = Callable[..., Any]


@pytest.fixture
def make_trainer(example: Any, model: Any, tokenizer: Any, rows: Rows, tmp_path: Path) -> MakeTrainer:
    """Make a trainer on the rows with a hook, generating or not."""

    def make(compute_metrics: Any, generate: bool = True, kind: Any = None, **arguments: Any) -> Any:
        options = {"predict_with_generate": generate, "generation_max_length": 10} if kind is None else {}
        arguments_class = transformers.Seq2SeqTrainingArguments if kind is None else transformers.TrainingArguments
        hooks = {"preprocess_logits_for_metrics": arguments.pop("preprocess", None)}
        return (kind or transformers.Seq2SeqTrainer)(
            model,
            arguments_class(str(tmp_path), per_device_eval_batch_size=2, **(QUIET | options | arguments)),
            eval_dataset=example.encode(rows, tokenizer),
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
            compute_metrics=compute_metrics,
            **hooks,
        )

    return make


def decode_by_hand(ids: Any) -> str:
    """Decode ids without the tokenizer."""
    names = ["", "", "", *sys.modules["made_up"].LETTERS]
    return "".join(names[item] for item in np.asarray(ids).tolist() if item >= 0)


def generate_answers(example: Any, model: Any, tokenizer: Any, rows: Rows) -> list[str]:
    """Generate an answer for each row separately."""
    texts = []
    for row in example.encode(rows, tokenizer):
        ids = model.generate(torch.tensor([row["input_ids"]]), max_length=10, do_sample=False)
        texts.append(decode_by_hand(ids[0]))
    return texts


def predict_taught(example: Any, model: Any, tokenizer: Any, rows: Rows) -> list[str]:
    """Predict each token after the correct tokens before it."""
    texts = []
    for row in example.encode(rows, tokenizer):
        with torch.no_grad():
            outputs = model(input_ids=torch.tensor([row["input_ids"]]), labels=torch.tensor([row["labels"]]))
        texts.append(decode_by_hand(outputs.logits[0].argmax(-1)))
    return texts


@pytest.mark.parametrize(("kind", "predict"), [(None, "generate_answers"), (transformers.Trainer, "predict_taught")])
def test_answers_are_scored_against_the_labels(
    example: Any,
    model: Any,
    tokenizer: Any,
    rows: Rows,
    make_trainer: MakeTrainer,
    metric: Any,
    kind: Any,
    predict: str,
) -> None:
    """The logits of T5 come in a tuple with hidden states."""
    written = globals()[predict](example, model, tokenizer, rows)
    expected = anls_metric.mean(anls_metric.anls_scores(written, [accepted[:1] for _, accepted in rows], variant="nls"))
    assert 0 < expected < 1
    hook = metric.build_compute_metrics(SimpleNamespace(tokenizer=tokenizer), variant="nls")  # as in a processor
    assert make_trainer(hook, kind=kind).evaluate()["eval_anls"] == expected


@pytest.mark.parametrize("batches", [{}, {"eval_do_concat_batches": False}, {"batch_eval_metrics": True}], ids=str)
@pytest.mark.parametrize("kind", ["generated", "logits", "ids"])
def test_score_is_the_same_in_every_way_a_trainer_hands_over_answers(
    example: Any, model: Any, tokenizer: Any, rows: Rows, make_trainer: MakeTrainer, kind: str, batches: dict[str, bool]
) -> None:
    accepted = [accepted for _, accepted in rows]
    hook = anls_metric.build_compute_metrics(tokenizer, accepted, threshold=0.2)
    written = (generate_answers if kind == "generated" else predict_taught)(example, model, tokenizer, rows)
    preprocess = None if kind == "logits" else hook.preprocess_logits_for_metrics
    trainer = make_trainer(hook, generate=kind == "generated", preprocess=preprocess, **batches)
    expected = anls_metric.mean(anls_metric.anls_scores(written, accepted, threshold=0.2))
    assert 0 < expected < 1
    for _ in range(2):
        assert trainer.evaluate()["eval_anls"] == expected


def test_logits_of_a_decoder_stand_one_place_before_their_labels(
    example: Any, tokenizer: Any, rows: Rows, tmp_path: Path
) -> None:
    transformers.set_seed(1)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    decoder = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=len(tokenizer), **sizes, pad_token_id=0, eos_token_id=1, bos_token_id=None)
    )
    encoded, written = [], []
    for row in example.encode(rows, tokenizer):
        asked, answer = row["input_ids"], row["labels"]
        encoded.append({"input_ids": asked + answer, "labels": [-100] * len(asked) + answer})
        with torch.no_grad():
            logits = decoder(torch.tensor([asked + answer])).logits[0]
        written.append(decode_by_hand(logits[len(asked) - 1 : -1].argmax(-1)))
    accepted = [accepted for _, accepted in rows]
    expected = anls_metric.mean(anls_metric.anls_scores(written, accepted, variant="nls"))
    assert 0 < expected < 1
    hook = anls_metric.build_compute_metrics(tokenizer, accepted, causal=True, variant="nls")
    for preprocess in (None, hook.preprocess_logits_for_metrics):
        trainer = transformers.Trainer(
            decoder,
            transformers.TrainingArguments(str(tmp_path), per_device_eval_batch_size=2, **QUIET),
            eval_dataset=encoded,
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
            compute_metrics=hook,
            preprocess_logits_for_metrics=preprocess,
        )
        assert trainer.evaluate()["eval_anls"] == expected


def test_best_checkpoint_has_the_best_anls(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SCRIPT), run_name="__main__")
    printed, signature = capsys.readouterr().out.splitlines()[-1].split("  ")
    listed, kept = printed.removeprefix("ANLS by epoch: ").split("; kept ")
    scores = list(map(float, listed.split(", ")))
    assert len(scores) == 5
    assert 0 < min(scores) < max(scores) < 1
    assert float(kept) == max(scores)
    assert signature == anls_metric.signature()


TWO_PROCESSES = """
import json, sys
import torch, transformers
sys.path.insert(0, sys.argv[1])
import anls_metric, train_with_transformers as example

torch.set_num_threads(1)
rows = example.receipts(7, seed=2)
tokenizer = example.make_tokenizer()
model = example.make_model(len(tokenizer))
model.load_state_dict(torch.load(sys.argv[3]))
scores = {}
for kind in ("Trainer", "Seq2SeqTrainer"):
    for batches in ({}, {"batch_eval_metrics": True}):
        seen = []
        hook = anls_metric.build_compute_metrics(tokenizer, [accepted for _, accepted in rows], variant="nls")
        def counting(prediction, compute_result=True):
            seen.append(len(prediction.label_ids))
            return hook(prediction, compute_result)
        options = {} if kind == "Trainer" else {"predict_with_generate": True, "generation_max_length": 10}
        arguments = getattr(transformers, {"Trainer": "TrainingArguments"}.get(kind, "Seq2SeqTrainingArguments"))
        trainer = getattr(transformers, kind)(
            model,
            arguments(sys.argv[2], per_device_eval_batch_size=2, use_cpu=True, report_to=[], **options, **batches),
            eval_dataset=example.encode(rows, tokenizer),
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
            compute_metrics=counting,
        )
        score = trainer.evaluate()["eval_anls"]
        scores[f"{kind} {'by batch' if batches else ''}"] = score, sum(seen)
    process = trainer.args.process_index
with open(f"{sys.argv[2]}/{process}.json", "w") as file:
    json.dump(scores, file)
"""


def test_two_processes_with_an_uneven_last_batch_give_the_number_of_one(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seq2SeqTrainer passes 8 rows for a set of 7."""
    weights, program, folders = tmp_path / "weights", tmp_path / "program.py", [tmp_path / "alone", tmp_path / "both"]
    torch.save(model.state_dict(), weights)
    program.write_text(TWO_PROCESSES)
    commands = [[str(program), str(SCRIPT.parent), str(folder), str(weights)] for folder in folders]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(sys, "argv", commands[0])
    runpy.run_path(str(program))
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*launch, *commands[1]], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    alone, *both = [json.loads(path.read_text()) for folder in folders for path in sorted(folder.glob("*.json"))]
    assert len(both) == 2
    assert both[0] == both[1]
    assert {name: score for name, (score, _) in both[0].items()} == {name: score for name, (score, _) in alone.items()}
    assert {name: count for name, (_, count) in both[0].items()} == {
        "Trainer ": 7,
        "Trainer by batch": 7,
        "Seq2SeqTrainer ": 8,
        "Seq2SeqTrainer by batch": 8,
    }
    assert all(0 < score < 1 for score, _ in alone.values())


# Tensors


def test_bfloat16_tensors_are_scored_by_a_hook_that_can_be_copied_and_nan_is_refused(tokenizer: Any) -> None:
    a = tokenizer.convert_tokens_to_ids("a")
    logits = torch.zeros(2, 3, len(tokenizer), dtype=torch.bfloat16)
    logits[:, :, a] = 1
    labels = torch.tensor([[a, a, -100], [-100, -100, -100]])
    hook = anls_metric.build_compute_metrics(tokenizer, ["aa", "aa"])
    for copied in (hook, copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        assert copied(((logits, "hidden states"), labels)) == {"anls": 0.5}
    logits[0, 1, 3] = torch.nan
    with pytest.raises(ValueError, match=r"the logits of row 0 \(counted from 0\) are NaN"):
        hook((logits, labels))
