"""Finds the answer in a response from the API of OpenAI, Anthropic or Gemini, or from a compatible API.

Each function that finds an answer returns its text without reasoning, "" if the model wrote no answer, or None if the
request failed. For a response with another structure, the function raises an error, so that `records.take` returns
`ABSENT`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anls_metric.reading.records import Record


class Samples(list[Any]):
    """Several answers from a model to one question, as opposed to a single answer that is a list."""


def _list_samples(answers: list[Any]) -> Any:
    """Return the only answer, or `Samples` if there are several answers. Raises IndexError if there is no answer."""
    return Samples(answers) if len(answers) > 1 else answers[0]


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
        >>> find_answer({"choices": [{"text": "56"}, {"text": "65"}]})
        ['56', '65']
    """
    if response.get("error") or response.get("status") in ("failed", "cancelled"):
        return None
    if "output" in response:
        return _join_messages(response["output"])
    return _list_samples(list(map(_find_text, response["choices"])))


def _find_text(choice: Record) -> Any:
    if "message" not in choice:
        return choice["text"] or ""
    return text_of_parts(choice["message"].get("content")) or choice["message"].get("refusal") or ""


def _join_messages(items: Iterable[Record]) -> str:
    """Join the texts of the messages, leaving out reasoning, tool calls, and commentary before the answer."""
    messages = [item for item in items if item["type"] == "message" and item.get("phase") != "commentary"]
    return join_texts(part for message in messages for part in message["content"])


def find_batch_answer(record: Record) -> Any:
    """Find the answer in a line of an OpenAI batch, or in the field ``response`` of a user's own table if this field
    contains a string.
    """
    response = record["response"]
    if isinstance(response, str):
        return response
    if record.get("error") or not str(response.get("status_code", 200)).startswith("2"):
        return None
    return find_answer(response.get("body", response))


def find_message_answer(record: Record) -> Any:
    """Find the answer in a line of an Anthropic message batch."""
    result = record["result"]
    return (text_of_parts(result["message"]["content"]) or "") if result["type"] == "succeeded" else None


def find_candidate_answer(record: Record) -> Any:
    """Find the answer in a line of a Gemini batch. Raises KeyError for a blocked prompt, whose response has no
    candidates.
    """
    contents = [candidate.get("content") or {} for candidate in record["response"]["candidates"]]
    return _list_samples(
        [join_texts(part for part in content.get("parts", ()) if not part.get("thought")) for content in contents]
    )


def text_of_parts(value: Any) -> Any:
    """Read the text of a chat message, whose content may be a list of parts.

    Args:
        value: the content of a chat message.

    Returns:
        The text parts joined into one string, or the unchanged value if it is not a list of parts.

    Example:
        >>> text_of_parts([{"type": "reasoning", "reasoning": "It says 56."}, {"type": "text", "text": "56"}])
        '56'
    """
    if isinstance(value, list) and value and all(isinstance(part, Mapping) and "type" in part for part in value):
        return join_texts(part for part in value if part["type"] in ("text", "output_text"))
    return value


def join_texts(parts: Iterable[Record]) -> str:
    """Join the text parts of a message, using the refusal of a part that has no text."""
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)
