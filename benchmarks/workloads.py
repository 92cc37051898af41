"""Makes reproducible rows to score, in the shape of real answers, and writes them as files of the leaderboard."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

Rows = tuple[list[str], list[list[str]]]

_ANSWER = string.ascii_letters + string.digits + "    .,-/"


def _edited(chance: random.Random, text: str, edits: int, operations: str, alphabet: str) -> str:
    letters = list(text)
    for _ in range(edits):
        operation, place = chance.choice(operations), chance.randint(0, len(letters))
        removed = operation in "dr"
        letters[place : place + removed] = chance.choice(alphabet) if operation in "ir" else ""
    return "".join(letters)


def fuzz(count: int, seed: int = 1) -> Rows:
    """W1: pairs of texts with 5 to 25 letters, one made from the other by insertions and deletions."""
    chance = random.Random(seed)
    predictions, references = [], []
    for _ in range(count):
        text = "".join(chance.choices(string.ascii_letters, k=chance.randint(5, 25)))
        predictions.append(_edited(chance, text, chance.randint(0, 8), "id", string.ascii_letters))
        references.append([text])
    return predictions, references


def _answer(chance: random.Random) -> str:
    return "".join(chance.choices(_ANSWER, k=max(1, round(chance.gauss(13, 6))))).strip() or "7"


def docvqa_like(count: int, seed: int = 2) -> Rows:
    """W2: 1 to 4 references of 13 characters on average; 60% of the answers are right, 25% close, 15% wrong."""
    chance = random.Random(seed)
    predictions, references = [], []
    for _ in range(count):
        answer = _answer(chance)
        ways = [answer.lower(), answer.upper(), answer.title(), answer.replace(" ", ""), f"{answer} {_answer(chance)}"]
        accepted = [answer, *chance.sample(ways, chance.choice([0, 0, 1, 1, 2, 3]))]
        kind, chosen = chance.random(), chance.choice(accepted)
        if kind < 0.6:
            prediction = chance.choice([chosen, chosen, chosen.lower(), chosen.upper()])
        elif kind < 0.85:
            prediction = _edited(chance, chosen, chance.randint(1, 3), "idr", string.ascii_lowercase)
        else:
            prediction = _answer(chance)
        predictions.append(prediction)
        references.append(accepted)
    return predictions, references


def long_pairs(count: int, seed: int = 3) -> Rows:
    """W3: pairs of 500 to 2,000 characters, up to half of them replaced."""
    chance = random.Random(seed)
    alphabet = string.ascii_lowercase + "     "
    predictions, references = [], []
    for _ in range(count):
        text = "".join(chance.choices(alphabet, k=chance.randint(500, 2000)))
        letters = list(text)
        for place in chance.sample(range(len(text)), chance.randint(0, len(text) // 2)):
            letters[place] = chance.choice(alphabet)
        predictions.append("".join(letters))
        references.append([text])
    return predictions, references


def rambling(count: int, seed: int = 4) -> Rows:
    """W3b: predictions of over 500 characters against one or two references of 15."""
    chance = random.Random(seed)
    predictions, references = [], []
    for _ in range(count):
        predictions.append(" ".join(_answer(chance) + "." for _ in range(chance.randint(40, 60))))
        references.append(["".join(chance.choices(_ANSWER[:62], k=15)) for _ in range(chance.randint(1, 2))])
    return predictions, references


WORKLOADS: dict[str, Callable[[int], Rows]] = {
    "W1": fuzz,
    "W2": docvqa_like,
    "W3": long_pairs,
    "W3b": rambling,
}


# The files of the leaderboard

QUESTION = "What is the date at the top of the page?"


def gold_file(references: list[list[str]]) -> dict[str, Any]:
    """Make the questions with their accepted answers, in the format of DocVQA."""
    records = [
        {
            "questionId": number,
            "question": QUESTION,
            "question_types": ["handwritten", "form"],
            "image": f"documents/page{number // 4}.png",
            "docId": number // 4,
            "ucsf_document_id": f"page{number // 4}",
            "ucsf_document_page_no": "2",
            "answers": accepted,
            "data_split": "val",
        }
        for number, accepted in enumerate(references)
    ]
    return {"dataset_name": "made up", "data": records}


def submission_file(predictions: list[str]) -> list[dict[str, Any]]:
    """Make a submission in the format of DocVQA."""
    return [{"questionId": number, "answer": text} for number, text in enumerate(predictions)]


def another(rows: Rows, seed: int) -> list[str]:
    """Make the answers of another model: one in five differs, and half of these are the first accepted answer."""
    chance = random.Random(seed)
    return [
        prediction if chance.random() < 0.8 else chance.choice([accepted[0], _answer(chance)])
        for prediction, accepted in zip(*rows)
    ]
