"""How a reply becomes bytes, the same for every store: its parts, and the digest that finds damage."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Any

from .._values._requests import Reply, Usage, counted

DIGEST_SIZE = 8
"""Bytes of a digest: about one in 2**64 damaged replies would count as undamaged."""

TEXT, NUMBERS = None, -1
"""The width of texts and of lists of numbers. The width of vectors is their length."""

Parts = tuple[int | None, bytes, int, int, int]
"""The width, the value, the tokens of the prompt and of the completion, and whether the reply was cut off (0 or 1)."""


def parts_of(reply: Reply[Any]) -> Parts:
    """The parts of a reply."""
    width, value = _packed(reply.value)
    usage = reply.usage
    return width, value, counted(usage.prompt_tokens), counted(usage.completion_tokens), int(reply.truncated)


def reply_of(parts: Parts) -> Reply[Any]:
    """The reply with these parts.

    Raises:
        ValueError: the value does not fit the width.
    """
    width, value, prompt_tokens, completion_tokens, truncated = parts
    return Reply(_unpacked(width, value), Usage(1, prompt_tokens, completion_tokens), bool(truncated))


def digest_of(key: bytes, *parts: Any) -> bytes:
    """The digest of a key and of the values that belong to it."""
    data = [part if isinstance(part, bytes) else repr(part).encode() for part in (key, *parts)]
    return blake2b(b"".join([b"%d %b" % (len(part), part) for part in data]), digest_size=DIGEST_SIZE).digest()


def _packed(value: Any) -> tuple[int | None, bytes]:
    if isinstance(value, str):
        return TEXT, value.encode("utf-8", "surrogatepass")
    if len(value) and not isinstance(value[0], float | int):
        flat = array("d")
        for vector in value:
            flat.extend(vector)
        return len(value[0]), (flat or array("d", [0.0] * len(value))).tobytes()  # empty vectors must be counted too
    return NUMBERS, array("d", value).tobytes()


def _unpacked(width: int | None, value: bytes) -> Any:
    if width is TEXT:
        return value.decode("utf-8", "surrogatepass")
    numbers = array("d", value).tolist()
    if width == NUMBERS:
        return numbers
    return (
        [numbers[start : start + width] for start in range(0, len(numbers), width)] if width else [[] for _ in numbers]
    )
