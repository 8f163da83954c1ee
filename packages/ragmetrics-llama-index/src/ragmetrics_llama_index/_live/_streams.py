"""Streams that are listened to while the user reads them, token by token as they come."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse

__all__ = ["Writing", "listen", "listen_async"]

Done = Callable[[str | None], None]
"""Called once, with the whole text, or None where the reader left early or the stream broke."""


def listen(tokens: Any, done: Done) -> Generator[Any, None, None]:
    """The same tokens; ``done`` hears of the end."""
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
    """Query engines stream texts, chat engines messages with what is new in them."""
    return str(getattr(token, "delta", token) or "")


class Writing:
    """Answers that chat engines are still writing into their history, beside the user who reads them."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[StreamingAgentChatResponse, Done]] = {}
        self._door = threading.Lock()

    def begin(self, response: StreamingAgentChatResponse, done: Done) -> None:
        """Tell ``done`` when all of it is written; at once, where it is already."""
        if not response.is_writing_to_memory:  # whoever reads it writes it
            if response.achat_stream is not None:
                response.achat_stream = listen_async(response.achat_stream, done)
            else:
                response.chat_stream = listen(response.chat_stream, done)
            return
        with self._door:
            self._waiting[id(response)] = response, done
        if response.is_done or response.exception is not None:
            self.end(response)

    def end(self, response: StreamingAgentChatResponse) -> None:
        """It is written, or broken off."""
        with self._door:
            _, done = self._waiting.pop(id(response), (None, None))
        if done is not None:
            done(_written(response) if response.exception is None else None)


def _written(response: StreamingAgentChatResponse) -> str:
    """All of the answer. In older releases it stands in the response only when the user has read it, until then in the queues."""
    waiting = [*response.queue.queue, *getattr(response.aqueue, "_queue", ())]
    return response.response or f"{response.unformatted_response}{''.join(map(_words, waiting))}".strip()
