"""Train a tiny T5 on synthetic receipts with transformers, and score its answers after each epoch.

    python examples/train_with_transformers.py

It makes a random model and its tokenizer, so that nothing is downloaded, and takes less than a minute on a CPU.
Needs ``pip install "anls-metric[evaluate,transformers]"``.
"""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from made_up import make_tokenizer, receipts
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

import anls_metric


def make_model(tokens: int, seed: int = 0) -> T5ForConditionalGeneration:
    """Make a T5 with two layers and random weights."""
    set_seed(seed)
    sizes: dict[str, Any] = {"d_model": 48, "d_kv": 12, "d_ff": 96, "num_layers": 2, "num_heads": 4}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    return T5ForConditionalGeneration(T5Config(vocab_size=tokens, dropout_rate=0.0, **sizes, **ids))


def encode(rows: list[tuple[str, list[str]]], tokenizer: PreTrainedTokenizerFast) -> list[dict[str, list[int]]]:
    """Encode the receipts, with the first accepted answers as labels."""
    return [
        {
            "input_ids": tokenizer(text).input_ids,
            "labels": [*tokenizer(accepted[0]).input_ids, tokenizer.eos_token_id],
        }
        for text, accepted in rows
    ]


def main(epochs: int = 5) -> list[float]:
    """Train, and return the ANLS after each epoch."""
    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    learned, asked = receipts(1000, seed=1), receipts(50, seed=2)
    metric = anls_metric.load()
    compute_metrics = metric.build_compute_metrics(tokenizer, references=[accepted for _, accepted in asked])
    with tempfile.TemporaryDirectory() as folder:
        trainer = Seq2SeqTrainer(
            model=make_model(len(tokenizer)),
            args=Seq2SeqTrainingArguments(
                folder,
                num_train_epochs=epochs,
                per_device_train_batch_size=16,
                per_device_eval_batch_size=16,
                learning_rate=5e-3,
                predict_with_generate=True,
                generation_max_length=10,
                eval_strategy="epoch",
                save_strategy="epoch",
                metric_for_best_model="anls",
                load_best_model_at_end=True,
                use_cpu=True,
                report_to=[],
                disable_tqdm=True,
            ),
            train_dataset=encode(learned, tokenizer),
            eval_dataset=encode(asked, tokenizer),
            data_collator=DataCollatorForSeq2Seq(tokenizer),
            compute_metrics=compute_metrics,
            preprocess_logits_for_metrics=compute_metrics.preprocess_logits_for_metrics,
        )
        trainer.train()
        best = trainer.evaluate()["eval_anls"]
    scores = [entry["eval_anls"] for entry in trainer.state.log_history if "eval_anls" in entry][:epochs]
    print(f"ANLS by epoch: {', '.join(f'{score:.4f}' for score in scores)}; kept {best:.4f}  {metric.signature()}")
    return scores


if __name__ == "__main__":
    main()
