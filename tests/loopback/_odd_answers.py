"""Answers with status 200 that no client of the protocol should have to expect, for chats and for embeddings."""

from __future__ import annotations

import gzip
import json
from typing import Any

from ._protocol import Response

__all__ = ["ODD_ANSWERS", "ODD_CHATS", "ODD_VECTORS"]

PACKED = gzip.compress(b'{"choices": []}')


def _message(**message: Any) -> Response:
    return Response(body=json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))


def _data(embedding: Any) -> Response:
    return Response(body=json.dumps({"data": [{"index": 0, "embedding": embedding}]}))


ODD_ANSWERS = {
    "the byte 0xFF": Response(body=b"\xff"),
    "broken UTF-8": Response(body=b'{"choices": [{"message": {"content": "\xe2\x82"}}], "data": "\xe2\x82"}'),
    "nothing": Response(body=b""),
    "no JSON": Response(body=b"ok"),
    "JSON that is cut": Response(body=b'{"choices": [{"message"'),
    "broken gzip": Response(body=PACKED[:10] + b"\0\0\0" + PACKED[13:], headers={"Content-Encoding": "gzip"}),
    "no gzip": Response(body=b"ok", headers={"Content-Encoding": "gzip"}),
    "lists in lists": Response(body=b"[" * 100_000 + b"]" * 100_000),
    "an error in lists": Response(body=b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}"),
    "a number without end": Response(body=b'{"choices": ' + b"9" * 5000 + b"}"),
    **{f"{body}": Response(body=body) for body in ("null", "1", '"ok"', "[]", "{}", "[{}]", "NaN")},
    **{
        f"{name} {value}": Response(body=json.dumps({name: value}))
        for name in ("choices", "data", "content", "candidates")
        for value in (None, 1, "ok", {}, [], [None], [1], ["ok"], [[]], [{}])
    },
    "an unknown character set": Response(body=b"{}", headers={"Content-Type": "application/json; charset=none-such"}),
}
"""None of them holds an answer to a chat or to texts."""

ODD_CHATS = {
    **{
        f"message {value}": Response(body=json.dumps({"choices": [{"message": value}]}))
        for value in (None, 1, "ok", [])
    },
    **{
        f"content {value}": _message(role="assistant", content=value) for value in (None, 1, {}, [], [1], [{"type": 1}])
    },
    **{
        f"parts of Anthropic {value}": Response(body=json.dumps({"content": [value], "usage": value}))
        for value in ({"type": 1}, {"type": "text"}, {"type": "text", "text": 1}, {"type": "text", "text": ["ok"]})
    },
    **{
        f"content of Gemini {value}": Response(
            body=json.dumps({"candidates": [{"content": value}], "usageMetadata": value})
        )
        for value in (
            None,
            1,
            "ok",
            [],
            {"parts": 1},
            {"parts": [1]},
            {"parts": [{"text": 1}]},
            {"parts": [{"text": ["ok"]}]},
        )
    },
    "a reason of Gemini that is none": Response(body=json.dumps({"candidates": [{"finishReason": [1]}]})),
    "a blocked question of Gemini": Response(body=json.dumps({"promptFeedback": {"blockReason": [1]}})),
    "a role that is none": _message(role=[1], content=None),
    "calls of no tool": _message(role="assistant", content=None, tool_calls=[1]),
}
"""None of them holds a text."""

ODD_VECTORS = {
    f"embedding {str(value)[:20]}": _data(value) for value in (None, 1, "%", {}, [], ["a"], [[1.0]], [None], [10**400])
}
"""None of them holds a vector."""
