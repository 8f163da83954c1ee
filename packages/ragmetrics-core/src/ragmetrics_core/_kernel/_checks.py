"""The answers of models are checked once, where they come in, so that no metric ever meets NaN or a missing vector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ._errors import ModelError
from ._requests import Reply


def check_text(answer: Any) -> Reply[str]:
    """The answer of an LLM: a ``Reply`` or plain text."""
    if isinstance(answer, str):
        return Reply(answer)
    if isinstance(answer, Reply) and isinstance(answer.value, str):
        return answer
    raise TypeError(f"an LLM answers with a Reply or a str, got {type(answer).__name__}")


def check_vectors(answer: Any, count: int) -> Reply[list[list[float]]]:
    """The answer of an embedding model: ``count`` vectors of finite numbers, of one length."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    vectors = _plain(reply.value)
    if not isinstance(vectors, list | tuple):
        raise TypeError(f"an embedding model answers with one vector per text, got {type(vectors).__name__}")
    if len(vectors) != count:
        raise ModelError(f"the embedding model returned {len(vectors)} vectors for {count} texts")
    rows = [_floats(vector, "the embedding model") for vector in vectors]
    if len({len(row) for row in rows}) > 1:
        raise ModelError("the embedding model returned vectors of different lengths")
    return Reply(rows, reply.usage)


def check_numbers(answer: Any, count: int) -> Reply[list[float]]:
    """The answer of a pair scorer: ``count`` finite numbers."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    if isinstance(reply.value, str) or not hasattr(reply.value, "__len__"):
        raise TypeError(f"a pair scorer answers with one number per pair, got {type(reply.value).__name__}")
    numbers = _floats(reply.value, "the pair scorer")
    if len(numbers) != count:
        raise ModelError(f"the pair scorer returned {len(numbers)} numbers for {count} pairs")
    return Reply(numbers, reply.usage)


def cosines(
    reply: Reply[list[list[float]]], texts: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Reply[list[float]]:
    """The cosine of every pair, from the vectors of the distinct texts."""
    vectors = dict(zip(texts, reply.value, strict=True))
    return Reply([cosine(vectors[left], vectors[right]) for left, right in pairs], reply.usage)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Cosine of the angle between two vectors, clipped to [-1, 1].

    Raises:
        ModelError: a vector is zero, so that it has no direction.
    """
    if left == right and any(left):
        return 1.0  # exactly, whatever the rounding below would make of it
    # hypot scales inside, so neither tiny nor huge vectors under- or overflow
    left_length, right_length = math.hypot(*left), math.hypot(*right)
    if not (left_length and right_length):
        raise ModelError("the embedding model returned a zero vector, which has no direction to compare")
    dot = math.fsum([a / left_length * (b / right_length) for a, b in zip(left, right, strict=True)])
    return max(-1.0, min(1.0, dot))


def distinct_texts(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The texts of all pairs, each once, in order of appearance."""
    return tuple(dict.fromkeys(text for pair in pairs for text in pair))


def _floats(values: Any, who: str) -> list[float]:
    try:
        numbers = list(map(float, _plain(values)))
    except (OverflowError, TypeError, ValueError):  # a server may send anything in the place of numbers
        raise ModelError(f"{who} returned something else in the place of finite numbers") from None
    if not all(map(math.isfinite, numbers)):
        odd = next(number for number in numbers if not math.isfinite(number))
        raise ModelError(f"{who} returned {odd}, which is not a finite number")
    return numbers


def _plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values
