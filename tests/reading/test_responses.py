"""The answer in made-up responses of model APIs, which follow the published schemas."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading import responses

# A function -> responses with the answers that it finds; None for a failed request.
ANSWERS: dict[str, list[tuple[Any, str | None]]] = {
    "find_answer": [
        ({"choices": [{"message": {"content": [{"type": "text", "text": "7"}]}}]}, "7"),
        ({"choices": [{"message": {"content": "7", "reasoning": "6?", "tool_calls": []}}]}, "7"),
        ({"choices": [{"message": {"content": "", "reasoning_content": "6?"}}]}, ""),
        ({"choices": [{"message": {"content": None, "tool_calls": [{}]}}]}, ""),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "No."),
        ({"choices": [{"text": None}]}, ""),
        ({"choices": []}, None),
        ({"output": [{"type": "reasoning"}, {"type": "function_call"}], "status": "completed"}, ""),
        ({"output": [{"type": "reasoning"}], "status": "incomplete", "incomplete_details": {"reason": "x"}}, ""),
        ({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]}, "No."),
        (
            {
                "output": [
                    {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "6?"}]},
                    {"type": "message", "phase": "final_answer", "content": [{"type": "output_text", "text": "7"}]},
                ]
            },
            "7",
        ),
        ({"output": [], "status": "failed", "error": {"code": "server_error"}}, None),
        ({"error": {"message": "rate limit"}}, None),
        ("7", None),
        (None, None),
    ],
    "find_batch_answer": [
        ({"response": {"body": {"output": [{"type": "message", "content": [{"text": "7"}]}]}}}, "7"),
        ({"response": {"choices": [{"message": {"content": "7"}}]}}, "7"),
        ({"response": {"status_code": 200, "body": None}}, None),
        ({}, None),
    ],
    "find_message_answer": [
        ({"result": {"type": "succeeded", "message": {"content": []}}}, ""),
        ({"result": {"type": "succeeded", "message": {"content": [{"type": "tool_use", "input": {}}]}}}, ""),
        ({"result": {"type": "succeeded"}}, None),
        ({"result": None}, None),
    ],
    "find_candidate_answer": [
        ({"response": {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}}, ""),
        ({"response": {"candidates": [{"finishReason": "SAFETY"}]}}, ""),
        ({"response": {"candidates": [{"content": {"parts": [{"text": "6?", "thought": True}]}}]}}, ""),
        ({"response": {"candidates": []}}, None),
        ({"response": None}, None),
    ],
    "find_sample_answer": [
        ({"output": {"raw": ["7", "8"]}}, "7"),
        ({"output": {"raw": []}}, ""),
        ({"output": {"raw": [""]}, "error": "timeout"}, None),
        ({"output": {"raw": ["7"]}, "error": "late"}, "7"),
        (
            {
                "output": None,
                "messages": [
                    {"role": "user", "content": "?"},
                    {"role": "assistant", "content": "6?"},
                    {"role": "assistant", "content": "7"},
                    {"role": "tool", "content": "8"},
                ],
            },
            "7",
        ),
        ({"output": None, "messages": None, "error": "timeout"}, None),
    ],
}


@pytest.mark.parametrize(
    ("function", "response", "answer"), [(name, *row) for name, rows in ANSWERS.items() for row in rows]
)
def test_answer_of_a_response_is_its_text_alone(function: str, response: Any, answer: str | None) -> None:
    assert getattr(responses, function)(response) == answer


@pytest.mark.parametrize(("own", "left"), [("chatcmpl-8f2", {}), ("resp_8f2", {}), ("49003", {"id": "49003"})])
def test_id_of_a_response_is_no_id_of_a_question(own: str, left: dict[str, Any]) -> None:
    assert responses.drop_response_id({"id": own}) == [left]


FIELDS = (
    *("choices", "message", "content", "text", "output", "type", "result", "response", "body", "candidates", "parts"),
    *("error", "status", "messages", "role", "raw"),
)
JSON = st.recursive(
    st.none() | st.integers(0, 9) | st.sampled_from(["message", "succeeded", "assistant", "text", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
@pytest.mark.parametrize("function", ANSWERS)
def test_any_object_is_read_without_an_exception(function: str, record: dict[str, Any]) -> None:
    getattr(responses, function)(record)
