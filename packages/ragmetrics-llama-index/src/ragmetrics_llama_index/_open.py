"""Observation of a running application: the open queries, their nesting, and the text of streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

Done = Callable[[str | None], None]
"""A function that is called once, with the whole text, or with None if the reader stopped early or the stream failed."""


@dataclass
class OpenCall:
    """A call.

    Attributes:
        tags: the tags that were set when it began.
        nested: whether another call was open when it began.
        is_open: whether it is still open.
        earlier: the earlier messages of a chat; None if the call is no turn of a chat.
        queries: what a turn of a chat asked other calls and retrievers.
        messages: the messages of the first calls of its LLM.
    """

    tags: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = False
    is_open: bool = True
    earlier: Sequence[Any] | None = None
    queries: list[str] = field(default_factory=list)
    messages: list[Sequence[Any]] = field(default_factory=list)


class OpenCalls:
    """The calls that are open, by the key under which the framework reports them."""

    def __init__(self) -> None:
        self._enclosing: ContextVar[tuple[OpenCall, ...]] = ContextVar("ragmetrics_open_calls", default=())
        # found by key, because some calls end in another context than they begin in
        self._known: dict[Hashable, OpenCall] = {}

    def begin(self, key: Hashable, tags: Mapping[str, Any] | None = None, asked: str = "", earlier: Any = None) -> None:
        """Record that a call begins, and what it is asked. If a call with this key is open already, nothing changes."""
        if key in self._known:
            return
        enclosing = tuple(call for call in self._enclosing.get() if call.is_open)
        if enclosing and enclosing[0].earlier is not None:
            enclosing[0].queries.append(asked)
        call = self._known[key] = OpenCall(dict(tags or {}), nested=bool(enclosing), earlier=earlier)
        self._enclosing.set((*enclosing, call))

    def chat(self) -> OpenCall | None:
        """Return the outermost open call of this context if it is a turn of a chat."""
        outer = next((call for call in self._enclosing.get() if call.is_open), None)
        return None if outer is None or outer.earlier is None else outer

    def end(self, key: Hashable) -> OpenCall | None:
        """Record that a call ends, and return it; None if it is not open."""
        call = self._known.pop(key, None)
        if call is not None:
            call.is_open = False
        return call


def heard(pieces: Any, done: Done) -> Generator[Any, None, None]:
    """Yield the pieces of a stream unchanged, and call ``done`` when the stream ends."""
    words: list[str] = []
    is_complete = False
    try:
        for piece in pieces:
            words.append(words_of(piece))
            yield piece
        is_complete = True
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
        done("".join(words) if is_complete else None)


async def heard_async(pieces: Any, done: Done) -> AsyncGenerator[Any, None]:
    """Do the same as ``heard`` for an asynchronous stream."""
    words: list[str] = []
    is_complete = False
    try:
        async for piece in pieces:
            words.append(words_of(piece))
            yield piece
        is_complete = True
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
        done("".join(words) if is_complete else None)


def words_of(piece: Any) -> str:
    """Return the text of a piece: the piece itself, or its ``delta``, the text that is new."""
    return str(getattr(piece, "delta", piece) or "")
