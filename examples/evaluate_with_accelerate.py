"""Generate and score answers with accelerate, each row once, in as many processes as there are.

    accelerate launch --cpu --num_processes 2 examples/evaluate_with_accelerate.py

The model is tiny and random, so it answers nothing right; nothing is downloaded. Needs ``pip install
"anls-metric[evaluate,transformers]"``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from accelerate import Accelerator
from made_up import make_tokenizer, receipts
from torch.utils.data import DataLoader
from train_with_transformers import make_model

from anls_metric import load


def make_batch(tokenizer: Any, rows: list[tuple[str, list[str]]]) -> dict[str, Any]:
    """Make a batch of receipts, with the references of each as lists."""
    texts, references = zip(*rows)
    return {**tokenizer(list(texts), padding=True, return_tensors="pt"), "references": list(references)}


def generate(tokenizer: Any, model: Any, batch: dict[str, Any]) -> list[str]:
    """Generate an answer to each row of a batch."""
    ids = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=8)
    answers: list[str] = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return answers


def evaluate(model: Any, loader: Any, generate: Callable[[Any, Any], list[str]]) -> Any:
    """Score the answers of all processes, and print the score. Each process returns it."""
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    metric = load()
    for batch in loader:
        predictions = accelerator.gather_for_metrics(generate(model, batch), use_gather_object=True)
        references = accelerator.gather_for_metrics(batch["references"], use_gather_object=True)
        metric.add_batch(predictions=predictions, references=references)
    scores = metric.compute()
    if accelerator.is_main_process:
        print(scores)
    return scores


def main(count: int = 7) -> None:
    """Evaluate a random model on receipts."""
    tokenizer = make_tokenizer()
    loader = DataLoader(receipts(count, seed=2), batch_size=2, collate_fn=partial(make_batch, tokenizer))
    evaluate(make_model(len(tokenizer)), loader, partial(generate, tokenizer))


if __name__ == "__main__":
    main()
