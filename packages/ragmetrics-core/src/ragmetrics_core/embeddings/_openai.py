"""Embeddings of the OpenAI protocol: OpenAI, Azure, or any compatible server. Clients and errors are those of ``OpenAILLM``."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import InvalidInput, ModelError
from .._requests import Reply, Usage
from ..llms._openai_clients import Clients
from ..llms._openai_errors import Explained, mask
from ._texts import readable_texts

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIEmbeddings"]


class OpenAIEmbeddings:
    """An embedding model that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``; either kind serves both
            ``embed`` and ``aembed``, and stays the caller's.
        base_url: address of a compatible server; needs no key.
        api_key: default: the environment variable ``OPENAI_API_KEY``.
        dimensions: length of the vectors, for models that can shorten theirs.
        batch_size: most texts sent in one request (OpenAI takes up to 2048).
        timeout: seconds to wait for an answer; default: the openai package's.
        max_retries: retries of the openai client; default: the package's (2).

    Raises:
        MissingExtra: the openai package is not installed.
        InvalidInput: the client is of another library, or two settings contradict each other.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        client: openai.OpenAI | openai.AsyncOpenAI | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 256,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InvalidInput(f"model must be the name of a model, got {model!r}")
        if batch_size < 1:
            raise InvalidInput(f"batch_size must be at least 1, got {batch_size}")
        self.model = model
        self.dimensions = dimensions
        self.batch_size = batch_size
        settings = {"base_url": base_url, "api_key": api_key, "timeout": timeout, "max_retries": max_retries}
        self._clients = Clients(client, settings)

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a vector; no key."""
        base_url = self._clients.base_url
        return {"provider": "openai", "model": self.model, "base_url": base_url, "dimensions": self.dimensions}

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order. The usage counts one call per request that was sent.

        Raises:
            ModelError: no key, no connection, no such model, no quota, no answer in time, or one that is not of the protocol.
            InvalidInput: an item is not a text, or the client given cannot serve synchronous calls.
        """
        client = self._clients.sync()
        explained = Explained(self.model, self._clients)
        vectors: list[list[float]] = []
        usage = Usage()
        for parameters in self._requests(texts):
            with explained:
                answer = client.embeddings.create(**parameters)
                usage += self._read(answer, len(parameters["input"]), vectors)
            if explained.problem is not None:
                raise explained.problem
        return Reply(vectors, usage)

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        client = await self._clients.here()
        if client is None:
            import asyncio  # noqa: PLC0415  costs more to import than all of this package

            return await asyncio.to_thread(self.embed, texts)
        explained = Explained(self.model, self._clients)
        vectors: list[list[float]] = []
        usage = Usage()
        for parameters in self._requests(texts):
            with explained:
                answer = await client.embeddings.create(**parameters)
                usage += self._read(answer, len(parameters["input"]), vectors)
            if explained.problem is not None:
                raise explained.problem
        return Reply(vectors, usage)

    def _requests(self, texts: Sequence[str]) -> Iterator[dict[str, Any]]:
        items = readable_texts(texts)
        extra = {} if self.dimensions is None else {"dimensions": self.dimensions}
        for start in range(0, len(items), self.batch_size):
            batch = items[start : start + self.batch_size]
            # asked for by name, the vectors come as they are: the package would fail on answers that hold none
            yield {"model": self.model, "input": batch, "encoding_format": "base64", **extra}

    def _read(self, answer: Any, count: int, vectors: list[list[float]]) -> Usage:
        """Append the vectors in the order of their texts."""
        data = getattr(answer, "data", None) or []
        if len(data) != count:
            found = mask(str(getattr(answer, "error", None) or f"{len(data)} vectors"), self._clients.secrets)
            raise ModelError(f"{self.model}: {self._clients.base_url} sent {found} for {count} texts")
        try:
            vectors.extend(_floats(item.embedding) for item in sorted(data, key=lambda item: item.index))
        except (ValueError, struct.error) as error:  # base64 that is none
            raise ModelError(
                f"{self.model}: {self._clients.base_url} sent a vector that cannot be read: {error}"
            ) from None
        return Usage(1, getattr(getattr(answer, "usage", None), "prompt_tokens", None) or 0)

    def __deepcopy__(self, memo: Any) -> OpenAIEmbeddings:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        extra = "" if self.dimensions is None else f", dimensions={self.dimensions}"
        return f"{type(self).__name__}({self.model!r}, base_url={self._clients.base_url!r}{extra})"


def _floats(embedding: Any) -> list[float]:
    """The vector, from base64 or, from servers that know no base64, from a list."""
    if not isinstance(embedding, str):
        return list(embedding)
    raw = base64.b64decode(embedding, validate=True)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))
