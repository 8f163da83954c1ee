"""Anthropic's Messages API as pure functions, from and to what the server of OpenAI's protocol works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._protocol import Response, error, usage_of, words

STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def is_message(path: str) -> bool:
    """Whether a request is one for a message."""
    return path.split("?", maxsplit=1)[0] == "/v1/messages"


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request as a chat request of OpenAI's protocol."""
    system = [{"role": "system", "content": part["text"]} for part in body.get("system", ())]
    return {**body, "messages": [*system, *body["messages"]]}


def refusal_of(body: Mapping[str, Any], refuses: set[str]) -> Response | None:
    """What the API has against a request; None if nothing."""
    if "max_tokens" not in body:
        return error(400, "max_tokens: Field required")
    if any(not message["content"].strip() for message in body["messages"]):
        return error(400, "messages: text content blocks must contain non-whitespace text")
    if "output_config" in body and "json_schema" in refuses:
        return error(400, "output_config.format: Extra inputs are not permitted")
    return None


def message(body: Mapping[str, Any], response: Response, number: int) -> dict[str, Any]:
    """The body of an answer; a ``content`` of the response's message is sent as it is."""
    counts = usage_of(as_chat(body), response)
    cached = sum(words(part["text"]) for part in body.get("system", ()) if "cache_control" in part)
    given = (response.message or {}).get("content")
    answer: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": response.text}] if given is None else given,
        "stop_reason": STOPS.get(response.finish_reason, response.finish_reason),
        "stop_sequence": None,
    }
    if response.usage is not None:
        answer["usage"] = {
            "input_tokens": counts["prompt_tokens"] - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": counts["completion_tokens"],
        }
    return answer
