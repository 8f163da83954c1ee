"""Collecting the text of a stream while the user reads it, token by token."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse

__all__ = ["Writing", "listen", "listen_async"]

Done = Callable[[str | None], None]
"""Called once: with the whole text, or with None if the reader left early or the stream failed."""


def listen(tokens: Any, done: Done) -> Generator[Any, None, None]:
    """The same tokens; ``done`` is called at the end."""
    heard: list[str] = []
    whole = False
    try:
        for token in tokens:
            heard.append(_words(token))
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
            heard.append(_words(token))
            yield token
        whole = True
    finally:
        close = getattr(tokens, "aclose", None)
        if close is not None:
            await close()
        done("".join(heard) if whole else None)


def _words(token: Any) -> str:
    """The text of a token: query engines stream texts, chat engines messages whose ``delta`` is new."""
    return str(getattr(token, "delta", token) or "")


class Writing:
    """Streaming answers that chat engines are still writing into their history."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[StreamingAgentChatResponse, Done]] = {}
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread

    def begin(self, response: StreamingAgentChatResponse, done: Done) -> None:
        """Call ``done`` when the whole answer is written, or now if it is."""
        if not response.is_writing_to_memory:  # it is written by being read
            if response.achat_stream is not None:
                response.achat_stream = listen_async(response.achat_stream, done)
            else:
                response.chat_stream = listen(response.chat_stream, done)
            return
        with self._lock:
            self._waiting[id(response)] = response, done
        if response.is_done or response.exception is not None:
            self.end(response)

    def end(self, response: StreamingAgentChatResponse) -> None:
        """The answer is written, or writing has failed."""
        with self._lock:
            _, done = self._waiting.pop(id(response), (None, None))
        if done is not None:
            done(_written(response) if response.exception is None else None)


def _written(response: StreamingAgentChatResponse) -> str:
    """The whole answer; in older releases it is in the queues until the user has read it."""
    waiting = [*response.queue.queue, *getattr(response.aqueue, "_queue", ())]
    return response.response or f"{response.unformatted_response}{''.join(map(_words, waiting))}".strip()
