"""The hook in transformers' trainers, on the tiny random T5 of the example. Every score is also computed by hand."""

from __future__ import annotations

import copy
import pickle
import runpy
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import anls_metric
from anls_metric.core.strings.metrics import METRICS
from tests.conftest import ROOT
from tests.frameworks.conftest import join_other_process

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
pytest.importorskip("accelerate")

pytestmark = [
    pytest.mark.usefixtures("single_thread"),
    pytest.mark.filterwarnings("ignore:the predictions are logits:UserWarning"),
]

QUIET: dict[str, Any] = {"use_cpu": True, "report_to": [], "disable_tqdm": True, "save_strategy": "no"}


class Setup(NamedTuple):
    """A model, its tokenizer, encoded rows, and their accepted answers."""

    model: Any
    tokenizer: Any
    rows: list[dict[str, list[int]]]
    accepted: list[list[str]]


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """The T5 of the example, trained until some of its answers are close, and 7 rows."""
    example, folder = import_module("train_with_transformers"), str(tmp_path_factory.mktemp("training"))
    learned, asked = example.receipts(400, seed=1), example.receipts(7, seed=2)
    tokenizer = example.make_tokenizer()
    model = example.make_model(len(tokenizer))
    transformers.Trainer(
        model,
        transformers.TrainingArguments(
            folder, max_steps=60, per_device_train_batch_size=16, learning_rate=5e-3, **QUIET
        ),
        train_dataset=example.encode(learned, tokenizer),
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
    ).train()
    return Setup(model, tokenizer, example.encode(asked, tokenizer), [accepted for _, accepted in asked])


def evaluate(setup: Setup, hook: Any, folder: Path | str, kind: str = "logits", **batches: bool) -> float:
    """Score with a trainer that gives generated answers, logits, or the ids that the hook makes of logits."""
    generation = {"predict_with_generate": kind == "generated", "generation_max_length": 10}
    prefix, options = ("", {}) if kind == "logits" else ("Seq2Seq", generation)
    arguments = getattr(transformers, f"{prefix}TrainingArguments")
    score: float = getattr(transformers, f"{prefix}Trainer")(
        setup.model,
        arguments(str(folder), per_device_eval_batch_size=2, **QUIET, **options, **batches),
        eval_dataset=setup.rows,
        data_collator=transformers.DataCollatorForSeq2Seq(setup.tokenizer),
        compute_metrics=hook,
        preprocess_logits_for_metrics=hook.preprocess_logits_for_metrics if kind == "ids" else None,
    ).evaluate()["eval_anls"]
    return score


def decode_by_hand(ids: Any) -> str:
    """Decode ids without the tokenizer."""
    names = ["", "", "", *sys.modules["made_up"].LETTERS]
    return "".join(names[item] for item in ids.tolist())


@torch.no_grad()  # type: ignore[untyped-decorator]
def predict_by_hand(setup: Setup, generate: bool) -> list[str]:
    """Generate an answer for each row by itself, or predict each token after the correct tokens before it."""
    texts = []
    for row in setup.rows:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor([row["labels"]])
        if generate:
            (written,) = setup.model.generate(ids, max_length=10, do_sample=False)
        else:
            written = setup.model(input_ids=ids, labels=labels).logits[0].argmax(-1)
        texts.append(decode_by_hand(written))
    return texts


@pytest.mark.parametrize("batches", [{}, {"eval_do_concat_batches": False}, {"batch_eval_metrics": True}], ids=str)
@pytest.mark.parametrize("kind", ["generated", "logits", "ids"])
def test_score_is_the_same_in_every_way_a_trainer_hands_over_answers(
    t5: Setup, metric: Any, kind: str, batches: dict[str, bool], tmp_path: Path
) -> None:
    """The logits of T5 come in a tuple with hidden states."""
    written, processor = predict_by_hand(t5, kind == "generated"), SimpleNamespace(tokenizer=t5.tokenizer)
    labels = [accepted[:1] for accepted in t5.accepted]
    for accepted, options, hook in [
        (t5.accepted, {"threshold": 0.2}, anls_metric.build_compute_metrics(t5.tokenizer, t5.accepted, threshold=0.2)),
        (labels, {"variant": "nls"}, metric.build_compute_metrics(processor, variant="nls")),
    ]:
        expected = anls_metric.mean(anls_metric.anls_scores(written, accepted, **options))  # type: ignore[arg-type]
        assert 0 < expected < 1
        for _ in range(2):
            assert evaluate(t5, hook, tmp_path, kind, **batches) == expected


def test_logits_of_a_decoder_stand_one_place_before_their_labels(t5: Setup, tmp_path: Path) -> None:
    transformers.set_seed(1)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ids = {"vocab_size": len(t5.tokenizer), "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    decoder = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **ids))
    encoded, written = [], []
    for asked, answer in (row.values() for row in t5.rows):
        encoded.append({"input_ids": asked + answer, "labels": [-100] * len(asked) + answer})
        logits = decoder(torch.tensor([asked + answer])).logits[0]
        written.append(decode_by_hand(logits[len(asked) - 1 : -1].argmax(-1)))
    expected = anls_metric.mean(anls_metric.anls_scores(written, t5.accepted, variant="nls"))
    assert 0 < expected < 1
    hook = anls_metric.build_compute_metrics(t5.tokenizer, t5.accepted, causal=True, variant="nls")
    for kind in ("logits", "ids"):
        assert evaluate(t5._replace(model=decoder, rows=encoded), hook, tmp_path, kind) == expected


def test_best_checkpoint_has_the_best_anls(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_with_transformers.py"), run_name="__main__")
    printed, signature = capsys.readouterr().out.splitlines()[-1].split("  ")
    listed, kept = printed.removeprefix("ANLS by epoch: ").split("; kept ")
    scores = list(map(float, listed.split(", ")))
    assert len(scores) == 5
    assert 0 < min(scores) < max(scores) < 1
    assert float(kept) == max(scores)
    assert signature == anls_metric.signature()


def score_and_count(t5: Setup, folder: str) -> list[tuple[float, int]]:
    """Evaluate in four ways, and count the rows that the hook is given."""
    found = []
    for kind in ("logits", "generated"):
        for by_batch in (False, True):
            counts: list[int] = []
            hook = anls_metric.build_compute_metrics(t5.tokenizer, t5.accepted, variant="nls")

            def count(prediction, compute_result=True, hook=hook, counts=counts):
                counts.append(len(prediction.label_ids))
                return hook(prediction, compute_result)

            score = evaluate(t5, count, folder, kind, batch_eval_metrics=by_batch)
            found.append((score, sum(counts)))
    return found


def score_in_process(rank: int, folder: str, t5: Setup) -> None:
    join_other_process(rank, folder)
    torch.save(score_and_count(t5, folder), f"{folder}/{rank}.pt")


def test_two_processes_with_an_uneven_last_batch_give_the_number_of_one(t5: Setup, tmp_path: Path) -> None:
    """Seq2SeqTrainer passes 8 rows for a set of 7."""
    torch.multiprocessing.spawn(score_in_process, (str(tmp_path), t5), nprocs=2)
    scores = [score for score, _ in score_and_count(t5, str(tmp_path))]
    assert 0 < min(scores) < max(scores) < 1
    for rank in range(2):
        assert torch.load(tmp_path / f"{rank}.pt") == list(zip(scores, [7, 7, 8, 8]))


# Tensors


def test_bfloat16_tensors_are_scored_by_a_hook_that_can_be_copied_and_nan_is_refused(t5: Setup) -> None:
    a = t5.tokenizer.convert_tokens_to_ids("a")
    logits = torch.zeros(2, 3, len(t5.tokenizer), dtype=torch.bfloat16)
    logits[:, :, a] = 1
    labels = torch.tensor([[a, a, -100], [-100, -100, -100]])
    hook = anls_metric.build_compute_metrics(t5.tokenizer, ["aa", "aa"])
    for copied in (hook, copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        assert copied(((logits, "hidden states"), labels)) == {"anls": 0.5}
    every = anls_metric.build_compute_metrics(t5.tokenizer, ["aa", "aa"], metrics=list(METRICS))
    for copied in (copy.deepcopy(every), pickle.loads(pickle.dumps(every))):
        assert list(copied((logits, labels))) == ["anls", *METRICS]
    logits[0, 1, 3] = torch.nan
    with pytest.raises(ValueError, match=r"the logits of row 0 \(counted from 0\) are NaN"):
        hook((logits, labels))
