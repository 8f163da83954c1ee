"""Embeddings of the OpenAI protocol: OpenAI, Azure, or any compatible server. Clients and errors are those of ``OpenAILLM``.

What is sent to a server of embeddings, and how its answers are read. No IO: the model makes the calls.

Strategy. The texts go out in batches. Servers differ in how they answer: some leave ``index`` out, some know no base64, and some
send, with status 200, what is no answer at all. A vector that lands on the wrong text would be a wrong score that goes unnoticed,
so an order is believed only where it is complete: every index once, or none at all.
"""

from __future__ import annotations

import base64
import copy
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._kernel._model_traits import readable_texts
from .._support._secrets import mask
from .._support._threads import in_own_thread
from .._values._errors import InvalidInput, ModelError
from .._values._requests import Reply, Usage, counted
from ..llms._openai._clients import Clients
from ..llms._openai._llm import TranslatedErrors
from ..llms._wire._attempts import field_of
from ..llms._wire._connections import hashed
from ..llms._wire._failures import Failures
from ._local import at_least_1

if TYPE_CHECKING:
    import openai


class OpenAIRequests:
    """The requests for some texts: iterating gives the parameters of each, and reads the answer to the one before.

    for parameters in requests:
        with requests.errors:
            requests.answer = ... call the server ...
    return requests.reply()

    Args:
        clients: who makes the calls.
        texts: all of them.
        size: most texts of one request.
        parameters: of every request; ``model`` is one of them.
    """

    def __init__(self, clients: Clients, texts: Sequence[str], size: int, parameters: Mapping[str, Any]) -> None:
        self.errors = TranslatedErrors(Failures(parameters["model"], clients, clients.key_cure))
        self.answer: Any = None
        self._clients = clients
        self._texts = texts
        self._size = size
        self._parameters = parameters
        self._vectors: list[list[float]] = []
        self._usage = Usage()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self._texts), self._size):
            batch = self._texts[start : start + self._size]
            # asked for by name, the vectors come as they are: the package would fail on answers that hold none
            yield {**self._parameters, "input": batch, "encoding_format": "base64"}
            if self.errors.problem is not None:
                raise self.errors.problem
            self._take(self.answer, len(batch))

    def _take(self, answer: Any, count: int) -> None:
        """Keep the vectors of an answer, in the order of their texts.

        Raises:
            ModelError: the answer is not one of the protocol.
        """
        try:
            items = _in_order(_items(answer, count))
            self._vectors += [_floats(item, index) for index, item in enumerate(items)]
        except Malformed as error:
            problem = f"{self._parameters['model']}: {self._clients.base_url} sent {error}"
        except RecursionError:
            problem = f"{self._parameters['model']}: {self._clients.base_url} sent data that are nested too deeply"
        else:
            self._usage += Usage(1, _tokens(answer))
            return
        raise ModelError(mask(problem, self._clients.secrets))

    def reply(self) -> Reply[list[list[float]]]:
        """One vector per text, and what they cost."""
        return Reply(self._vectors, self._usage)


class Malformed(Exception):
    """What a server sent instead of an answer; completes the sentence "the server sent ..."."""


def _items(answer: Any, count: int) -> list[Any]:
    data = field_of(answer, "data")
    if data is not None and not isinstance(data, list):
        raise Malformed(f"data that is no list of vectors but a {type(data).__name__}, for {count} texts")
    if len(data or ()) != count:
        raise Malformed(f"{field_of(answer, 'error') or f'{len(data or ())} vectors'} for {count} texts")
    return data or []


def _in_order(items: list[Any]) -> list[Any]:
    """The items by their index; as they came where none has one."""
    indices = [field_of(item, "index") for item in items]
    if all(index is None for index in indices):
        return items
    places = {index: item for index, item in zip(indices, items, strict=True) if type(index) is int}
    if sorted(places) != list(range(len(items))):
        raise Malformed(f"indices that are neither 0 to {len(items) - 1}, each once, nor all left out: {indices}")
    return [places[index] for index in range(len(items))]


def _floats(item: Any, index: int) -> list[float]:
    """The vector, from base64 or, from servers that know no base64, from a list of numbers."""
    embedding = field_of(item, "embedding")
    try:
        if isinstance(embedding, str):
            raw = base64.b64decode(embedding, validate=True)
            numbers: Sequence[float] = struct.unpack(f"<{len(raw) // 4}f", raw)
        elif isinstance(embedding, list) and all(type(number) in (int, float) for number in embedding):
            numbers = [float(number) for number in embedding]
        else:
            raise Malformed(
                f"no vector as item {index} of data: embedding must be a list of numbers or base64, got {embedding!r}"
            )
    except (OverflowError, ValueError, struct.error) as error:  # no base64 after all, or a number without end
        raise Malformed(f"a vector that cannot be read: {error}") from None
    if not numbers:
        raise Malformed(f"an empty vector as item {index} of data")
    return list(numbers)


def _tokens(answer: Any) -> int:
    return counted(field_of(field_of(answer, "usage"), "prompt_tokens"))


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
