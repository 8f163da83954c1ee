"""Streams that are listened to while the user reads them, token by token as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

__all__ = ["listen", "listen_async"]

Done = Callable[[str | None], None]
"""Called once, with the whole text, or None where the reader left early or the stream broke."""


def listen(tokens: Any, done: Done) -> Generator[Any, None, None]:
    """The same tokens; ``done`` hears of the end."""
    heard: list[str] = []
    whole = False
    try:
        for token in tokens:
            heard.append(str(token))
            yield token
        whole = True
    finally:
        close = getattr(tokens, "close", None)
        if close is not None:
            close()
        done("".join(heard) if whole else None)


async def listen_async(tokens: Any, done: Done) -> AsyncGenerator[Any, None]:
    """The same for an asynchronous stream."""
    heard: list[str] = []
    whole = False
    try:
        async for token in tokens:
            heard.append(str(token))
            yield token
        whole = True
    finally:
        close = getattr(tokens, "aclose", None)
        if close is not None:
            await close()
        done("".join(heard) if whole else None)
