"""An embedding model that is any embedder of Haystack: a text embedder, or a document embedder.

Strategy. A document embedder takes all texts of a request in one call and makes its own batches of them; a text embedder takes
one text per call, so the calls overlap where the embedder allows it. Both give the same vectors for the same text, unless they
put different words in front of it. Which of the two an embedder is, its ``run`` says by the name of its parameter.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from haystack import Document
from ragmetrics_core import InvalidInput, ModelError, Reply, Usage
from ragmetrics_core.adapters import Turn, in_own_thread, in_threads, readable_texts

from ._called import Called
from ._identity import explained, identity_of, name_of

__all__ = ["HaystackEmbeddings"]

AT_ONCE = 16
"""Most calls to a text embedder that overlap."""


class HaystackEmbeddings:
    """An embedding model that is called through Haystack.

    Args:
        text_embedder: a text embedder, or a document embedder, which takes many texts in one call.

    Raises:
        InvalidInput: it is neither.
    """

    def __init__(self, text_embedder: Any) -> None:
        run = getattr(text_embedder, "run", None)
        known = set() if isinstance(text_embedder, type) or run is None else set(inspect.signature(run).parameters)
        if not known & {"text", "documents"}:
            given = text_embedder.__name__ if isinstance(text_embedder, type) else type(text_embedder).__name__
            raise InvalidInput(
                f"HaystackEmbeddings takes a text embedder or a document embedder such as OpenAITextEmbedder(), got {given}"
            )
        self.text_embedder = text_embedder
        self._takes_documents = "documents" in known
        self._called = Called(text_embedder)

    def without_retries(self) -> HaystackEmbeddings:
        """The same model without the retries of its client, for drivers that make lost calls again themselves."""
        other = copy.copy(self)
        other._called = self._called.without_retries()
        return other

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a vector, and no key; None where the embedder cannot say what it is."""
        return identity_of(self.text_embedder)

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; lone surrogates, which no model can read, count as U+FFFD.

        Raises:
            ModelError: the model or its server failed.
        """
        items = readable_texts(texts)
        embedder = self._called.ready()
        attempt = explained(self.text_embedder)
        # one that has no asynchronous method may compute in this process, and rarely survives overlapping calls
        with nullcontext() if self._called.has_async else Turn.with_model(self.text_embedder), attempt:
            return self._answer(items, self._run(embedder, items) if items else [])
        raise attempt.problem

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        if not (self._called.has_async and self._called.home.is_here()):
            return await in_own_thread(partial(self.embed, texts))
        items = readable_texts(texts)
        embedder = await self._called.ready_async()
        attempt = explained(self.text_embedder)
        with attempt:
            return self._answer(items, await self._run_async(embedder, items) if items else [])
        if attempt.is_of_other_loop:
            return await in_own_thread(partial(self.embed, texts))
        raise attempt.problem

    def _run(self, embedder: Any, texts: list[str]) -> list[Any]:
        if self._takes_documents:
            return [embedder.run(documents=_documents(texts))]
        if not self._called.has_async or len(texts) == 1:
            return [embedder.run(text=text) for text in texts]
        return in_threads([partial(embedder.run, text=text) for text in texts], min(len(texts), AT_ONCE))

    async def _run_async(self, embedder: Any, texts: list[str]) -> list[Any]:
        if self._takes_documents:
            return [await embedder.run_async(documents=_documents(texts))]
        room = asyncio.Semaphore(AT_ONCE)

        async def one(text: str) -> Any:
            async with room:
                return await embedder.run_async(text=text)

        return await asyncio.gather(*map(one, texts))

    def _answer(self, texts: list[str], results: list[Any]) -> Reply[list[list[float]]]:
        if self._takes_documents and texts:
            by_id = {document.id: document.embedding for document in _found(results[0], "documents") or ()}
            vectors = [by_id.get(str(place)) for place in range(len(texts))]
        else:
            vectors = [_found(result, "embedding") for result in results]
        missing = sum(vector is None for vector in vectors)
        if missing:
            raise ModelError(
                f"{name_of(self.text_embedder)}: {missing} of {len(texts)} texts came back without an embedding"
            )
        tokens = sum(_tokens(result.get("meta")) for result in results)
        usage = Usage(calls=1, prompt_tokens=tokens)
        return Reply([[float(number) for number in vector or ()] for vector in vectors], usage)

    def __deepcopy__(self, memo: Mapping[int, Any]) -> HaystackEmbeddings:
        return self  # a handle: copies of what holds it share its embedder

    def __repr__(self) -> str:
        return f"HaystackEmbeddings(<{type(self.text_embedder).__name__} {name_of(self.text_embedder)!r}>)"


def _found(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, Mapping) else None


def _documents(texts: list[str]) -> list[Document]:
    # equal texts would get equal ids
    return [Document(id=str(place), content=text) for place, text in enumerate(texts)]


def _tokens(meta: Any) -> int:
    usage = meta.get("usage") if isinstance(meta, Mapping) else None
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    return int(count) if isinstance(count, int | float) else 0
