"""A typical evaluate module: Value and Sequence features, and a Python loop."""

import datasets
import evaluate
from rapidfuzz.distance import Levenshtein


class UsualModule(evaluate.Metric):
    """Standard ANLS, with rows in evaluate's own buffers."""

    def _info(self):
        return evaluate.MetricInfo(
            description="",
            citation="",
            inputs_description="",
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": datasets.Sequence(datasets.Value("string")),
                }
            ),
        )

    def _compute(self, predictions, references):
        scores = []
        for prediction, accepted in zip(predictions, references):
            prediction = " ".join(prediction.strip().lower().split())
            best = 0.0
            for reference in accepted:
                reference = " ".join(reference.strip().lower().split())
                best = max(best, Levenshtein.normalized_similarity(prediction, reference))
            scores.append(best if best >= 0.5 else 0.0)
        return {"anls": sum(scores) / len(scores)}
