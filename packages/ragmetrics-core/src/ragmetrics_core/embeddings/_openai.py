"""Embeddings of the OpenAI protocol: OpenAI, Azure, or any compatible server. Clients and errors are those of ``OpenAILLM``.

What is sent to a server of embeddings, and how its answers are read. No IO: the model makes the calls.

Strategy. The texts go out in batches. Servers differ in how they answer: some leave ``index`` out, some know no base64, and some
send, with status 200, what is no answer at all. A vector that lands on the wrong text would be a wrong score that goes unnoticed,
so an order is believed only where it is complete: every index once, or none at all.
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
    """Ask for the vectors of some texts, in batches of at most ``size``.

    Raises:
        ModelError: a call failed, or its answer is not one of the protocol.
    """
    found: list[list[float]] = []
    usage = Usage()
    for start in range(0, len(texts), size):
        batch = texts[start : start + size]
        # asked for by name, the vectors come as they are: the package would fail on answers that hold none
        answer = yield {"model": failures.model, **settings, "input": batch, "encoding_format": "base64"}
        if isinstance(answer, Failure):
            raise answer.problem
        problem = ""
        try:
            items = _in_order(_items(answer, len(batch)))
            found += [_floats(item, index) for index, item in enumerate(items)]
        except Malformed as error:
            problem = str(error)
        except RecursionError:
            problem = "data that are nested too deeply"
        if problem:  # not raised from where it was caught: that may show the key
            sent = f"{failures.model}: {failures.place.base_url} sent {problem}"
            raise ModelError(mask(sent, failures.place.secrets))
        usage += Usage(1, counted(field_of(field_of(answer, "usage"), "prompt_tokens")))
    return Reply(found, usage)


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
            raise Malformed(f"no vector as data item {index}: embedding must be numbers or base64, got {embedding!r}")
    except (OverflowError, ValueError, struct.error) as error:  # no base64 after all, or a number without end
        raise Malformed(f"a vector that cannot be read: {error}") from None
    if not numbers:
        raise Malformed(f"an empty vector as data item {index}")
    return list(numbers)


class OpenAIEmbeddings(OpenAIModel):
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
        super().__init__(model, client, base_url, api_key, timeout, max_retries, key_variable)
        check_whole("dimensions", 1 if dimensions is None else dimensions, least=1)
        check_whole("batch_size", batch_size, least=1)
        self.dimensions = dimensions
        self.batch_size = batch_size

    @property
    def texts_per_call(self) -> int:
        """Texts that make one request: ``evaluate`` gathers no more, so that a call is a request."""
        return self.batch_size

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a vector; no key."""
        return self._identity(dimensions=self.dimensions)

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order. The usage counts one call per request that was sent.

        Raises:
            ModelError: no key, no connection, no such model, no quota, no answer in time, or one that is not of the protocol.
            InvalidInput: an item is not a text, or the client given cannot serve synchronous calls.
        """
        return self._run(self._exchange(texts))

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
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
