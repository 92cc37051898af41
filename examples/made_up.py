"""Made-up receipts and a tokenizer for them, so that the training examples download nothing."""

from __future__ import annotations

import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

LETTERS = " .:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SHOPS = ["Aldi", "Lidl", "Spar", "Coop"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Make a tokenizer with a token for each character."""
    names = ["<pad>", "</s>", "<unk>", *LETTERS]
    tokenizer = Tokenizer(models.WordLevel({name: place for place, name in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def receipts(count: int, seed: int) -> list[tuple[str, list[str]]]:
    """Make receipts, each with the accepted answers to the question for its total."""
    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        total = f"{chance.randint(1, 99)}.{chance.randint(10, 99)}"
        rows.append((f"{chance.choice(SHOPS)} total: {total}", [total, f"{total} EUR"]))
    return rows
