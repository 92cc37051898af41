"""Combine ANLS with another metric in one call of evaluate.

    python examples/combine_metrics.py

Needs ``pip install "anls-metric[evaluate]"``.
"""

from __future__ import annotations

from pathlib import Path

import evaluate

from anls_metric import load, signature


def main() -> dict[str, float]:
    """Score synthetic answers with both metrics."""
    exact_answer = evaluate.load(str(Path(__file__).with_name("exact_answer.py")))
    both = evaluate.combine([load(), exact_answer])
    predictions = ["CocaCola", "The Coca", "12/15/89", "7"]
    references = [["Coca Cola", "Coca Cola Company"], ["Coca Cola"], ["12/15/88"], ["7", "seven"]]
    for prediction, accepted in zip(predictions, references):
        both.add(prediction=prediction, reference=accepted)
    scores: dict[str, float] = both.compute()
    print(scores, signature())
    return scores


if __name__ == "__main__":
    main()
