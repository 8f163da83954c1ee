"""What is observed of a running application: which queries are open, which are nested, and what is streamed.

Strategy. The open calls are in a context variable, which threads and asyncio tasks inherit, so a call that begins while another one
is open is nested. A task may outlive the call that started it, so each call has a flag that it is open. The words of a stream are
collected while the user reads it, piece by piece, and the pieces pass through unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

Done = Callable[[str | None], None]
"""Called once: with the whole text, or with None if the reader left early or the stream failed."""


@dataclass
class OpenCall:
    """A call: its tags, whether another call was open when it began, and whether it is open."""

    tags: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = False
    is_open: bool = True


class OpenCalls:
    """The calls that are open, by whatever the framework knows them by."""

    def __init__(self) -> None:
        self._enclosing: ContextVar[tuple[OpenCall, ...]] = ContextVar("ragmetrics_open_calls", default=())
        # some begin in one context and end in another
        self._known: dict[Hashable, OpenCall] = {}

    def begin(self, key: Hashable, tags: Mapping[str, Any] | None = None) -> None:
        """A call begins; one that is open already is still the same one."""
        if key in self._known:
            return
        enclosing = tuple(call for call in self._enclosing.get() if call.is_open)
        call = self._known[key] = OpenCall(dict(tags or {}), nested=bool(enclosing))
        self._enclosing.set((*enclosing, call))

    def end(self, key: Hashable) -> OpenCall | None:
        """The call that ends; None if it is not open."""
        call = self._known.pop(key, None)
        if call is not None:
            call.is_open = False
        return call


def heard(pieces: Any, done: Done) -> Generator[Any, None, None]:
    """The same pieces; ``done`` is called at the end."""
    words: list[str] = []
    whole = False
    try:
        for piece in pieces:
            words.append(words_of(piece))
            yield piece
        whole = True
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
        done("".join(words) if whole else None)


async def heard_async(pieces: Any, done: Done) -> AsyncGenerator[Any, None]:
    """The same for an asynchronous stream."""
    words: list[str] = []
    whole = False
    try:
        async for piece in pieces:
            words.append(words_of(piece))
            yield piece
        whole = True
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
        done("".join(words) if whole else None)


def words_of(piece: Any) -> str:
    """The text of a piece: a text, or an object whose ``delta`` is new."""
    return str(getattr(piece, "delta", piece) or "")
