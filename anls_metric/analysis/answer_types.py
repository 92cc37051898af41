"""The fields that group the questions in InfographicVQA, with the names used by the competition."""

from __future__ import annotations

from collections.abc import Mapping

# A field that groups the questions in InfographicVQA -> the name of the group in results.json, and the names of its
# values in the competition. Source: https://rrc.cvc.uab.es/?ch=17&com=tasks.
ANSWER_TYPES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "answer_type": (
        "answer_types",
        {
            "image span": "Image-Span",
            "question span": "Question-Span",
            "multiple spans": "Multi-Span",
            "non span": "None span",
        },
    ),
    "evidence": (
        "evidence_types",
        {
            "table/list": "Table/list",
            "textual": "Text",
            "photo/pciture/visual_objects": "Visual/Layout",
            "figure": "Figure",
            "map": "Map",
        },
    ),
    "operation/reasoning": (
        "operation_types",
        {"comparison": "Sorting", "arithmetic": "Arithmetic", "counting": "Counting"},
    ),
}
