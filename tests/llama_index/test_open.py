"""Which queries are open and nested, and what is heard of a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from ragmetrics_llama_index._open import OpenCalls, heard, heard_async, words_of


def test_calls_within_calls_are_nested() -> None:
    calls = OpenCalls()
    calls.begin("a", {"tag": 1})
    calls.begin("a")
    calls.begin("b")
    inner, outer = calls.end("b"), calls.end("a")
    assert inner is not None
    assert outer is not None
    assert (inner.nested, outer.nested, outer.tags, outer.is_open) == (True, False, {"tag": 1}, False)
    assert calls.end("a") is None
    calls.begin("c")
    after = calls.end("c")
    assert after is not None
    assert after.nested is False


@dataclass
class Delta:
    delta: str | None


def test_a_stream_is_heard_to_its_end() -> None:
    texts: list[str | None] = []
    assert list(heard(["a", Delta("b"), Delta(None)], texts.append)) == ["a", Delta("b"), Delta(None)]
    assert texts == ["ab"]
    assert words_of(Delta("b")) == "b"


def test_a_stream_that_is_left_is_closed() -> None:
    texts: list[str | None] = []
    left: list[str] = []

    def stream() -> Iterator[str]:
        try:
            yield from "ab"
        finally:
            left.append("closed")

    listening = heard(stream(), texts.append)
    assert next(listening) == "a"
    listening.close()
    assert (texts, left) == ([None], ["closed"])


@pytest.mark.parametrize("whole", [True, False])
async def test_an_asynchronous_stream(*, whole: bool) -> None:
    texts: list[str | None] = []

    async def stream() -> AsyncIterator[str]:
        for piece in "ab":
            yield piece

    listening = heard_async(stream(), texts.append)
    if whole:
        assert [piece async for piece in listening] == ["a", "b"]
    else:
        assert await anext(listening) == "a"
        await listening.aclose()
    assert texts == ["ab" if whole else None]


class Lines:
    """An asynchronous stream that cannot be closed."""

    def __init__(self) -> None:
        self.left = ["a"]

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop()


async def test_a_stream_without_an_end() -> None:
    texts: list[str | None] = []
    assert [piece async for piece in heard_async(Lines(), texts.append)] == ["a"]
    assert texts == ["a"]
