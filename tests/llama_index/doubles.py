"""Models of LlamaIndex that do what a test tells them to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CustomLLM
from llama_index.llms.openai_like import OpenAILike

from loopback import OpenAIServer
from ragmetrics_core.embeddings import HashingEmbeddings


def openai_like(server: OpenAIServer, key: str = "sk-test", **settings: Any) -> OpenAILike:
    # a client that is used again is never closed, and leaves its connections behind when an event loop ends
    defaults = {
        "model": "judge",
        "is_chat_model": True,
        "max_retries": 0,
        "context_window": 8000,
        "reuse_client": False,
    }
    return OpenAILike(api_base=server.base_url, api_key=key, **{**defaults, **settings})


class Completions(CustomLLM):
    """An LLM that has nothing but ``complete``: it says what ``reply`` makes of a prompt, or the next of a list."""

    model_name: str = "completions"
    context_window: int = 8000
    delay: float = 0.0
    is_chat: bool = False
    _reply: Any = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)
    _busy: int = PrivateAttr(default=0)
    _most: int = PrivateAttr(default=0)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, reply: str | Sequence[Any] | Callable[[str], Any] = "YES", **settings: Any) -> None:
        super().__init__(**settings)
        self._reply = reply if isinstance(reply, str) or callable(reply) else iter(reply)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.context_window, num_output=200, model_name=self.model_name, is_chat_model=self.is_chat
        )

    @property
    def prompts(self) -> list[str]:
        return self._prompts

    @property
    def most_at_once(self) -> int:
        return self._most

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        with self._lock:
            self._prompts.append(prompt)
            self._busy += 1
            self._most = max(self._most, self._busy)
        try:
            if self.delay:
                time.sleep(self.delay)
            reply = self._reply
            said = reply if isinstance(reply, str) else reply(prompt) if callable(reply) else next(reply)
            if isinstance(said, BaseException):
                raise said
            return said if isinstance(said, CompletionResponse) else CompletionResponse(text=said)
        finally:
            with self._lock:
                self._busy -= 1

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        whole = self.complete(prompt, formatted=formatted, **kwargs).text

        def stream() -> CompletionResponseGen:
            text = ""
            for word in whole.split(" "):
                delta = word if not text else f" {word}"
                text += delta
                yield CompletionResponse(text=text, delta=delta)

        return stream()


class HashingEmbedding(BaseEmbedding):
    """The offline embeddings of the core, for an index."""

    model_name: str = "hashing"

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(HashingEmbeddings(dimensions=64).embed([text]).value[0])

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
