"""Finds the answer in a response of a model API: OpenAI, Anthropic, Gemini, and compatible APIs.

Each function returns the text of the answer without reasoning: "" if the model wrote none, None if the request failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anls_metric.reading.containers import objects_of
from anls_metric.reading.references import text_of_parts


def find_answer(response: Any) -> Any:
    """Find the answer in a chat completion, a completion, or a response of OpenAI's Responses API.

    Args:
        response: the response as JSON.

    Example:
        >>> find_answer({"choices": [{"message": {"content": "56", "reasoning_content": "It says so."}}]})
        '56'
        >>> find_answer({"output": [{"type": "message", "content": [{"type": "output_text", "text": "56"}]}]})
        '56'
        >>> find_answer({"choices": [{"message": {"content": None, "refusal": "I can't see it."}}]})
        "I can't see it."
        >>> find_answer({"error": {"message": "rate limit"}}) is None
        True
    """
    if not isinstance(response, Mapping) or response.get("error") or response.get("status") in _FAILED:
        return None
    if isinstance(response.get("output"), list):
        return _join_messages(objects_of(response["output"]))
    choices = objects_of(response.get("choices"))
    if not choices:
        return None
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return choices[0].get("text") or ""
    return text_of_parts(message.get("content")) or message.get("refusal") or ""


_FAILED = ("failed", "cancelled")


def _join_messages(items: Iterable[Mapping[str, Any]]) -> str:
    """Join the texts of the messages, without reasoning, tool calls, and comments before the answer."""
    messages = [item for item in items if item.get("type") == "message" and item.get("phase") != "commentary"]
    parts = [part for message in messages for part in objects_of(message.get("content"))]
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def drop_response_id(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Drop the id that the API gave to the response, since it is not the id of a question. Other ids stay.

    Example:
        >>> drop_response_id({"id": "chatcmpl-8f2", "object": "chat.completion"})
        [{'object': 'chat.completion'}]
    """
    is_own = str(record.get("id")).startswith(_RESPONSE_IDS)
    return [{name: value for name, value in record.items() if name != "id" or not is_own}]


_RESPONSE_IDS = ("chatcmpl-", "cmpl-", "resp_")


def find_batch_answer(record: Mapping[str, Any]) -> Any:
    """Find the answer in a line of an OpenAI batch. In a table of a user, the field may hold the text itself."""
    response = record.get("response")
    if isinstance(response, str):
        return response
    if record.get("error") or not isinstance(response, Mapping) or not _is_ok(response.get("status_code", 200)):
        return None
    return find_answer(response.get("body", response))


def _is_ok(status: Any) -> bool:
    return str(status).startswith("2")


def find_message_answer(record: Mapping[str, Any]) -> Any:
    """Find the answer in a line of an Anthropic message batch."""
    result = record.get("result")
    if not isinstance(result, Mapping) or result.get("type") != "succeeded":
        return None
    message = result.get("message")
    return (text_of_parts(message.get("content")) or "") if isinstance(message, Mapping) else None


def find_candidate_answer(record: Mapping[str, Any]) -> Any:
    """Find the answer in a line of a Gemini batch. A blocked prompt has no candidates, and counts as failed."""
    response = record.get("response")
    candidates = objects_of(response.get("candidates")) if isinstance(response, Mapping) else []
    if not candidates:
        return None
    content = candidates[0].get("content")
    parts = objects_of(content.get("parts")) if isinstance(content, Mapping) else []
    return "".join(str(part.get("text") or "") for part in parts if not part.get("thought"))


def find_sample_answer(record: Mapping[str, Any]) -> Any:
    """Find the answer in a sample of Every Eval Ever: the output, or the last message of the assistant."""
    output = record.get("output")
    texts = output.get("raw") if isinstance(output, Mapping) else None
    if not isinstance(texts, list):
        messages = reversed(objects_of(record.get("messages")))
        texts = [message.get("content") for message in messages if message.get("role") == "assistant"]
    return next(filter(None, texts[:1]), None if record.get("error") else "")
