"""The OpenAI protocol as pure functions: from the body of a request to the body of the answer. No sockets here."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Response:
    """What the server does with one request.

    Attributes:
        content: the assistant's text; anything but a str is sent as JSON text.
        message: the whole assistant message instead, such as one with a refusal or with tool calls.
        finish_reason: why the model stopped.
        usage: token counts; by default counted in words. None: the server reports none.
        status: HTTP status.
        headers: more response headers.
        body: the raw body instead of everything above.
        delay: seconds to wait before answering.
        hang: never answer (until the server is stopped).
        reset: drop the connection instead of answering.
    """

    content: Any = ""
    message: Mapping[str, Any] | None = None
    finish_reason: str = "stop"
    usage: Mapping[str, int] | None = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | str | None = None
    delay: float = 0.0
    hang: bool = False
    reset: bool = False

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    kind: str = "invalid_request_error",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error in OpenAI's shape."""
    body = json.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})
    return Response(status=status, body=body, headers=headers or {})


def rate_limited(retry_after: str = "0") -> Response:
    return error(
        429,
        "Rate limit reached for requests per min. Please try again later.",
        code="rate_limit_exceeded",
        kind="requests",
        headers={"Retry-After": retry_after},
    )


def server_error(status: int = 500) -> Response:
    return error(status, "The server had an error while processing your request.", kind="server_error")


def completion(body: Mapping[str, Any], response: Response, number: int) -> dict[str, Any]:
    """The body of a chat completion."""
    message = response.message or {"role": "assistant", "content": response.text, "refusal": None}
    answer: dict[str, Any] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model", "loopback"),
        "choices": [{"index": 0, "message": dict(message), "logprobs": None, "finish_reason": response.finish_reason}],
    }
    if response.usage is not None:
        answer["usage"] = usage_of(body, response)
    return answer


def usage_of(body: Mapping[str, Any], response: Response) -> dict[str, int]:
    """The counts that were set, else the numbers of words."""
    asked = sum(words(message.get("content")) for message in body.get("messages", ()))
    counts = dict(response.usage or {"prompt_tokens": asked, "completion_tokens": words(response.text)})
    counts.setdefault("total_tokens", counts.get("prompt_tokens", 0) + counts.get("completion_tokens", 0))
    return counts


def words(content: Any) -> int:
    if isinstance(content, str):
        return len(content.split())
    return sum(words(part.get("text")) for part in content or ())


def chunks(body: Mapping[str, Any], response: Response, number: int) -> Iterator[bytes]:
    """The same completion as server-sent events."""
    whole = completion(body, response, number)
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()

    yield event({"role": "assistant", "content": ""})
    message = dict(response.message or {"content": response.text})
    text = message.pop("content", None) or ""
    for start in range(0, len(text), 20):
        yield event({"content": text[start : start + 20]})
    rest = {key: value for key, value in message.items() if key != "role" and value is not None}
    yield event(rest, response.finish_reason)
    if (body.get("stream_options") or {}).get("include_usage") and "usage" in whole:
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': whole['usage']})}\n\n".encode()
    yield b"data: [DONE]\n\n"


def embeddings(body: Mapping[str, Any], embedder: Callable[[str], list[float]] | None = None) -> dict[str, Any]:
    """The body of an embeddings answer; base64 when asked for, as the openai client does by default."""
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    make = embedder or (lambda text: hashed_vector(text, body.get("dimensions") or 16))
    vectors = [make(str(text)) for text in inputs]
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": base64_of(vector) if packed else vector}
        for index, vector in enumerate(vectors)
    ]
    tokens = sum(len(str(text).split()) for text in inputs)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body.get("model"), "usage": usage}


def base64_of(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def hashed_vector(text: str, dimensions: int = 16) -> list[float]:
    """A unit vector that depends on nothing but the words: texts that share words are similar."""
    vector = [0.0] * dimensions
    for word in text.casefold().split() or [text]:
        digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        vector[digest[0] % dimensions] += 1.0 + digest[1] / 256
    length = math.hypot(*vector)
    return [number / length for number in vector]
