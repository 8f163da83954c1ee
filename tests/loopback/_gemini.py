"""Google's protocol of Gemini as pure functions, from and to what the server of OpenAI's protocol works with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ._protocol import Response, usage_of

PATH = re.compile(r"/v1beta/models/([^/:]+):generateContent")
STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def is_question(path: str) -> bool:
    """Whether a request is one for content."""
    return PATH.fullmatch(path.split("?", maxsplit=1)[0]) is not None


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request as a chat request of OpenAI's protocol."""

    def message(role: str, content: Mapping[str, Any]) -> dict[str, Any]:
        return {"role": role, "content": "".join(part["text"] for part in content["parts"])}

    system = [message("system", body["systemInstruction"])] if "systemInstruction" in body else []
    rest = [message("assistant" if item["role"] == "model" else "user", item) for item in body["contents"]]
    return {**body, "messages": [*system, *rest]}


def refusal_of(body: Mapping[str, Any], refuses: set[str]) -> Response | None:
    """What the API has against a request; None if nothing."""
    config = body.get("generationConfig") or {}
    if any(not part["text"].strip() for item in body["contents"] for part in item["parts"]):
        return failure(400, "Unable to submit request because it must have a text parameter.", "INVALID_ARGUMENT")
    if "responseJsonSchema" in config and "json_schema" in refuses:
        message = "response_json_schema is not supported for this model"
        return failure(400, f"Invalid value at 'generation_config': {message}", "INVALID_ARGUMENT")
    if "responseMimeType" in config and "json_object" in refuses:
        return failure(400, "JSON mode is not enabled for this model", "INVALID_ARGUMENT")
    return None


def failure(status: int, message: str, code: str, *details: Mapping[str, Any]) -> Response:
    """An error in Google's shape."""
    return Response(
        status=status,
        body=json.dumps({"error": {"code": status, "message": message, "status": code, "details": details}}),
    )


def content(body: Mapping[str, Any], response: Response) -> dict[str, Any]:
    """The body of an answer; the ``message`` of a response is sent as the candidate."""
    counts = usage_of(as_chat(body), response)
    candidate = dict(
        response.message
        or {
            "content": {"role": "model", "parts": [{"text": response.text}]},
            "finishReason": STOPS.get(response.finish_reason, response.finish_reason),
            "index": 0,
        }
    )
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": "loopback"}
    if response.usage is not None:
        answer["usageMetadata"] = {
            "promptTokenCount": counts["prompt_tokens"],
            "candidatesTokenCount": counts["completion_tokens"],
            "totalTokenCount": counts["total_tokens"],
        }
    return answer
