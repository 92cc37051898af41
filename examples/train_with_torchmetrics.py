"""Train a tiny model to correct OCR errors, and score it with torchmetrics after each epoch.

    python examples/train_with_torchmetrics.py

It makes a random model and random answers, so that nothing is downloaded, and takes some seconds on a CPU.
Needs ``pip install "anls-metric[torch]"``.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn
from torchmetrics import MetricCollection

from anls_metric.torchmetrics import ANLS, NormalizedLevenshteinSimilarity

LETTERS = " .-/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # 0, the blank, is also the padding
MISREAD = str.maketrans("OIlSBZgGeaou", "01158296eoec")
SHOPS = ["Aldi", "Lidl", "Spar", "Coop", "Billa", "Globus"]
LONGEST = 24


def make_answers(count: int, seed: int) -> list[tuple[str, str]]:
    """Make answers from receipts: texts with OCR errors, and the correct texts."""
    chance = random.Random(seed)
    rows = []
    for _ in range(count):
        date = f"{chance.randint(1, 28):02}/{chance.randint(1, 12):02}/20{chance.randint(10, 29)}"
        text = f"{chance.choice(SHOPS)} {date} {chance.randint(1, 99)}.{chance.randint(10, 99)}"
        rows.append((text.translate(MISREAD), text))
    return rows


def encode(texts: list[str]) -> Tensor:
    """Convert texts to letter numbers, of shape (texts, places)."""
    return torch.tensor([[LETTERS.index(letter) for letter in text.ljust(LONGEST)] for text in texts])


def decode(ids: Tensor) -> list[str]:
    """Convert letter numbers to texts."""
    return ["".join(LETTERS[place] for place in row).rstrip() for row in ids.tolist()]


def make_model() -> nn.Module:
    """Make a model with random weights that predicts each letter from five: the letter and its neighbours."""
    letters = len(LETTERS)
    return nn.Sequential(nn.Embedding(letters, 16), nn.Flatten(2), nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, letters))


def read(model: nn.Module, texts: list[str]) -> Tensor:
    """Return the logits of each place, of shape (texts, places, letters)."""
    return model(nn.functional.pad(encode(texts), (2, 2)).unfold(1, 5, 1))


def main(epochs: int = 5) -> dict[str, float]:
    """Train, and return the scores after the last epoch."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    learned, asked = make_answers(256, seed=1), make_answers(100, seed=2)
    metrics = MetricCollection([ANLS(), NormalizedLevenshteinSimilarity()])
    scores: dict[str, float] = {}
    for epoch in range(1, epochs + 1):
        for start in range(0, len(learned), 32):
            misread, texts = zip(*learned[start : start + 32])
            logits = read(model, list(misread))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), encode(list(texts)).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        metrics.reset()
        for start in range(0, len(asked), 32):
            misread, texts = zip(*asked[start : start + 32])
            with torch.no_grad():
                metrics.update(decode(read(model, list(misread)).argmax(-1)), list(texts))
        scores = {name: value.item() for name, value in metrics.compute().items()}
        print(f"epoch {epoch}  " + "  ".join(f"{name} {score:.4f}" for name, score in scores.items()))
    print(metrics["ANLS"].signature())
    return scores


if __name__ == "__main__":
    main()
