"""Train a tiny model to correct OCR errors, and keep the weights of the epoch with the best ANLS.

    KERAS_BACKEND=torch python examples/train_with_keras.py

It makes a random model and random answers, so that nothing is downloaded, and takes some seconds on a CPU. It works
with any backend: torch, jax or tensorflow. Needs ``pip install "anls-metric[keras]"`` and the backend.
"""

from __future__ import annotations

import random
from typing import Any

import keras
import numpy as np

from anls_metric.keras import ANLS, EditDistance, ValidationMetrics

LETTERS = " .-/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # 0, the blank, is also the padding
MISREAD = str.maketrans("OIlSBZgGeaou", "01158296eoec")
SHOPS = ["Aldi", "Lidl", "Spar", "Coop", "Billa", "Globus"]
LONGEST = 24


def make_answers(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Make answers from receipts: texts with OCR errors, and the correct texts."""
    chance = random.Random(seed)
    texts = []
    for _ in range(count):
        date = f"{chance.randint(1, 28):02}/{chance.randint(1, 12):02}/20{chance.randint(10, 29)}"
        texts.append(f"{chance.choice(SHOPS)} {date} {chance.randint(1, 99)}.{chance.randint(10, 99)}")
    return [text.translate(MISREAD) for text in texts], texts


def encode(texts: list[str]) -> Any:
    """Convert texts to letter numbers, of shape (texts, places)."""
    return np.array([[LETTERS.index(letter) for letter in text.ljust(LONGEST)] for text in texts], dtype="int32")


def decode(ids: Any) -> list[str]:
    """Convert letter numbers to texts."""
    return ["".join(LETTERS[place] for place in row).rstrip() for row in ids.tolist()]


def make_model() -> Any:
    """Make a model with random weights that predicts each letter from five: the letter and its neighbours."""
    return keras.Sequential(
        [
            keras.Input((LONGEST,), dtype="int32"),
            keras.layers.Embedding(len(LETTERS), 16),
            keras.layers.Conv1D(64, 5, padding="same", activation="relu"),
            keras.layers.Dense(len(LETTERS)),
        ]
    )


def read(model: Any, texts: list[str]) -> list[str]:
    """Let the model correct texts."""
    return decode(model.predict(encode(texts), verbose=0).argmax(-1))


def main(epochs: int = 10) -> float:
    """Train, and return the score of the best weights."""
    keras.utils.set_random_seed(0)
    model = make_model()
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    misread, texts = make_answers(256, seed=1)
    asked, expected = make_answers(100, seed=2)
    anls = ANLS()
    history = model.fit(
        encode(misread),
        encode(texts),
        epochs=epochs,
        verbose=0,
        callbacks=[
            ValidationMetrics(lambda model: read(model, asked), expected, anls),
            keras.callbacks.EarlyStopping("val_anls", mode="max", patience=4, restore_best_weights=True),
        ],
    ).history
    for epoch, (loss, score) in enumerate(zip(history["loss"], history["val_anls"]), 1):
        print(f"epoch {epoch:2}  loss {loss:.4f}  ANLS {score:.4f}")
    predictions = read(model, asked)
    anls.reset_state()
    score = float(anls(expected, predictions))
    error_rate = float(EditDistance()(list(map(list, expected)), list(map(list, predictions))))
    print(f"kept      ANLS {score:.4f}  character error rate {error_rate:.4f}")
    print(anls.signature())
    return score


if __name__ == "__main__":
    main()
