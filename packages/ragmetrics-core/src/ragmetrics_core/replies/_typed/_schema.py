"""The JSON schema of one answer with its reason."""

from __future__ import annotations

from typing import Any


def answer_schema(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The schema of one answer after its reason, in the strict dialect."""
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, key: answer},
        "required": ["reason", key],
        "additionalProperties": False,
    }
