"""Embeddings of the OpenAI protocol: OpenAI, Azure, or any compatible server. Clients and errors are as for ``OpenAILLM``.

Strategy. The texts are sent in batches. Servers answer in different ways: some leave ``index`` out, some do not support base64,
and some send an error with status 200. A vector that is assigned to the wrong text would be a wrong score that nothing reveals.
Therefore the ``index`` fields are used only if every index occurs exactly once; if all are left out, the order of the vectors is
used.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._kernel._model_traits import readable_texts
from .._support._secrets import mask
from .._values._errors import ModelError
from .._values._requests import Reply, Usage, counted
from .._values._settings import check_whole
from ..llms._openai._llm import OpenAIModel
from ..llms._wire._attempts import Exchange, Failure, field_of
from ..llms._wire._failures import Failures

if TYPE_CHECKING:
    import openai

Vectors = Reply[list[list[float]]]


def vectors(failures: Failures, texts: Sequence[str], size: int, settings: Mapping[str, Any]) -> Exchange[Vectors]:
    """Request the vectors of some texts, in batches of at most ``size``. This generator makes no calls itself; the model makes
    them.

    Raises:
        ModelError: a call failed, or its answer does not follow the protocol.
    """
    vectors_so_far: list[list[float]] = []
    usage = Usage()
    for start in range(0, len(texts), size):
        batch = texts[start : start + size]
        # with an explicit encoding, the package does not decode the vectors itself; it would fail on answers without vectors
        answer = yield {"model": failures.model, **settings, "input": batch, "encoding_format": "base64"}
        if isinstance(answer, Failure):
            raise answer.problem
        problem = ""
        try:
            items = _in_order(_items(answer, len(batch)))
            vectors_so_far += [_floats(item, index) for index, item in enumerate(items)]
        except Malformed as error:
            problem = str(error)
        except RecursionError:
            problem = "data that are nested too deeply"
        if problem:  # raised outside the except block: the original exception may show the key
            text = f"{failures.model}: the answer of {failures.place.base_url} has {problem}"
            raise ModelError(mask(text, failures.place.secrets))
        usage += Usage(1, counted(field_of(field_of(answer, "usage"), "prompt_tokens")))
    return Reply(vectors_so_far, usage)


class Malformed(Exception):
    """An answer is invalid. The message completes the sentence "the answer has ..."."""


def _items(answer: Any, count: int) -> list[Any]:
    data = field_of(answer, "data")
    if data is not None and not isinstance(data, list):
        raise Malformed(f"no list of vectors for {count} texts: data is a {type(data).__name__}")
    if len(data or ()) != count:
        error = field_of(answer, "error")
        raise Malformed(f"the error {error}" if error else f"{len(data or ())} vectors for {count} texts")
    return data or []


def _in_order(items: list[Any]) -> list[Any]:
    """Return the items sorted by their index, or in the given order if no item has an index."""
    indices = [field_of(item, "index") for item in items]
    if all(index is None for index in indices):
        return items
    places = {index: item for index, item in zip(indices, items, strict=True) if type(index) is int}
    if sorted(places) != list(range(len(items))):
        raise Malformed(f"wrong indices {indices}: each of 0 to {len(items) - 1} must occur once, or all be left out")
    return [places[index] for index in range(len(items))]


def _floats(item: Any, index: int) -> list[float]:
    """Return the vector of an item, from base64 or, for servers that do not support base64, from a list of numbers."""
    embedding = field_of(item, "embedding")
    try:
        if isinstance(embedding, str):
            raw = base64.b64decode(embedding, validate=True)
            numbers: Sequence[float] = struct.unpack(f"<{len(raw) // 4}f", raw)
        elif isinstance(embedding, list) and all(type(number) in (int, float) for number in embedding):
            numbers = [float(number) for number in embedding]
        else:
            raise Malformed(f"no vector as data item {index}: embedding must be numbers or base64, got {embedding!r}")
    except (OverflowError, ValueError, struct.error) as error:  # invalid base64, or a number that is too large
        raise Malformed(f"a vector that cannot be read: {error}") from None
    if not numbers:
        raise Malformed(f"an empty vector as data item {index}")
    return list(numbers)


class OpenAIEmbeddings(OpenAIModel):
    """An embedding model that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``; either kind serves both ``embed``
            and ``aembed``. The client is never closed here.
        base_url: address of a compatible server; needs no key.
        api_key: default: the value of the environment variable ``key_variable``.
        dimensions: length of the vectors, for models that can shorten theirs.
        batch_size: most texts sent in one request (OpenAI accepts up to 2048).
        timeout: seconds to wait for an answer. The limits on the size of an answer and on its total time, and the treatment of
            redirects, are the same as for ``OpenAILLM``.
        max_retries: retries of the openai client; default: the package's (2). ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``OPENAI_API_KEY``. The key in any other variable is
            never sent.

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
        super().__init__(model, client, locals())
        check_whole("dimensions", 1 if dimensions is None else dimensions, least=1)
        check_whole("batch_size", batch_size, least=1)
        self.dimensions = dimensions
        self.batch_size = batch_size

    @property
    def texts_per_call(self) -> int:
        """The number of texts in one request. ``evaluate`` passes no more texts at a time, so that a call is one request."""
        return self.batch_size

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a vector. The API key is not included."""
        return self._identity(dimensions=self.dimensions)

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return one vector per text, in order. The usage counts one call per request that was sent.

        Raises:
            ModelError: there is no key, no connection, no such model, no quota left or no answer in time, or the answer does not
                follow the protocol.
            InvalidInput: an item is not a text, or the given client cannot serve synchronous calls.
        """
        return self._run(self._exchange(texts))

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return one vector per text without blocking the running loop. Usage and errors are the same as for ``embed``."""
        return await self._run_async(self._exchange(texts))

    def _exchange(self, texts: Sequence[str]) -> Exchange[Vectors]:
        return vectors(self._failures, readable_texts(texts), self.batch_size, self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {} if self.dimensions is None else {"dimensions": self.dimensions}

    def _send(self, client: Any, parameters: dict[str, Any]) -> Any:
        return client.embeddings.create(**parameters)

    def __repr__(self) -> str:
        return self._repr(self._settings)
