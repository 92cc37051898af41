"""Reward a tiny language model for its answers with TRL's GRPO.

    python examples/train_with_trl.py

It makes a model, a tokenizer and receipts, so that nothing is downloaded, and takes less than a minute on a CPU.
Needs ``pip install "anls-metric[trl]"``.
"""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from datasets import Dataset
from made_up import make_tokenizer, receipts
from transformers import LlamaConfig, LlamaForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

from anls_metric import signature
from anls_metric.trl import build_reward


def make_trainer(folder: str, reward: Any, steps: int) -> GRPOTrainer:
    """Make a trainer for a random Llama with one layer. The column of references is called `answers`."""
    set_seed(0)
    tokenizer = make_tokenizer()
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    ids = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    rows = receipts(64, seed=1)
    return GRPOTrainer(
        model=LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes, **ids)),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=Dataset.from_list([{"prompt": text, "answers": accepted} for text, accepted in rows]),
        args=GRPOConfig(
            folder,
            max_steps=steps,
            per_device_train_batch_size=32,
            num_generations=8,
            max_completion_length=6,
            learning_rate=1e-2,
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        ),
    )


def main(steps: int = 100) -> list[float]:
    """Train, and return the mean reward of each step."""
    torch.set_num_threads(1)
    # Random weights rarely come near an answer. Without a threshold, every correct character counts from the start.
    reward = build_reward(references_column="answers", variant="nls")
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(folder, reward, steps)
        trainer.train()
    logged = f"rewards/{reward.__name__}/mean"
    rewards = [entry[logged] for entry in trainer.state.log_history if logged in entry]
    print(f"mean reward of the first step {rewards[0]:.4f}, of the last one {rewards[-1]:.4f}  {signature('nls')}")
    return rewards


if __name__ == "__main__":
    main()
