"""Embeddings of the OpenAI protocol: OpenAI, Azure, or any compatible server. Clients and errors are those of ``OpenAILLM``."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._kernel._errors import InvalidInput
from .._kernel._model_traits import readable_texts
from .._kernel._requests import Reply
from .._support._threads import in_own_thread
from ..llms._openai._clients import Clients
from ..llms._wire._hidden import hashed
from ._openai_requests import OpenAIRequests
from ._texts import at_least_1

if TYPE_CHECKING:
    import openai


class OpenAIEmbeddings:
    """An embedding model that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``; either kind serves both
            ``embed`` and ``aembed``, and stays the caller's.
        base_url: address of a compatible server; needs no key.
        api_key: default: what the environment variable ``key_variable`` holds.
        dimensions: length of the vectors, for models that can shorten theirs.
        batch_size: most texts sent in one request (OpenAI takes up to 2048).
        timeout: seconds to wait for an answer; bounds of size and time, and redirects: as for ``OpenAILLM``.
        max_retries: retries of the openai client; default: the package's (2). ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``OPENAI_API_KEY``. No other is sent.

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
        key_variable: str | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InvalidInput(f"model must be the name of a model, got {model!r}")
        self.model = model
        self.dimensions = None if dimensions is None else at_least_1("dimensions", dimensions)
        self.batch_size = at_least_1("batch_size", batch_size)
        settings = {"base_url": base_url, "api_key": api_key, "timeout": timeout, "max_retries": max_retries}
        settings["key_variable"] = key_variable
        self._clients = Clients(client, settings)

    @property
    def texts_per_call(self) -> int:
        """Texts that make one request: ``evaluate`` gathers no more, so that a call is a request."""
        return self.batch_size

    def without_retries(self) -> OpenAIEmbeddings:
        """The same model for a caller that retries by itself, as ``evaluate`` does: every failure reaches it at once."""
        other = copy.copy(self)
        other._clients = self._clients.without_retries()
        return other

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a vector; no key."""
        query, headers = self._clients.query, self._clients.headers
        return {
            "provider": "openai",
            "model": self.model,
            "base_url": self._clients.base_url,
            "dimensions": self.dimensions,
            **({"query": hashed(query, self._clients.secrets)} if query else {}),
            # such as the provider behind a gateway
            **({"headers": headers} if headers else {}),
        }

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order. The usage counts one call per request that was sent.

        Raises:
            ModelError: no key, no connection, no such model, no quota, no answer in time, or one that is not of the protocol.
            InvalidInput: an item is not a text, or the client given cannot serve synchronous calls.
        """
        client = self._clients.sync()
        requests = self._requests(texts)
        for parameters in requests:
            with requests.errors:
                requests.answer = client.embeddings.create(**parameters)
        return requests.reply()

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        client = await self._clients.here()
        if client is None:
            return await in_own_thread(partial(self.embed, texts))
        requests = self._requests(texts)
        for parameters in requests:
            with requests.errors:
                requests.answer = await client.embeddings.create(**parameters)
        return requests.reply()

    def _requests(self, texts: Sequence[str]) -> OpenAIRequests:
        extra = {} if self.dimensions is None else {"dimensions": self.dimensions}
        return OpenAIRequests(self._clients, readable_texts(texts), self.batch_size, {"model": self.model, **extra})

    def __deepcopy__(self, memo: Any) -> OpenAIEmbeddings:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        extra = "" if self.dimensions is None else f", dimensions={self.dimensions}"
        return f"{type(self).__name__}({self.model!r}, base_url={self._clients.base_url!r}{extra})"
