"""An embedding model that is any embedder of Haystack: a text embedder, or a document embedder.

Strategy. A document embedder takes all texts of a request in one call and makes its own batches of them; a text embedder takes
one text per call, so the calls overlap where the embedder allows it. Both give the same vectors for the same text, unless they
put different words in front of it. Which of the two an embedder is, its ``run`` says by the name of its parameter.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from haystack import Document
from ragmetrics_core import InvalidInput, ModelError, Reply, Usage
from ragmetrics_core.adapters import EmbeddingsBridge, in_threads, kind_of, usage_of

from ._component import Component

AT_ONCE = 16
"""Most calls to a text embedder that overlap."""


class Embedded(NamedTuple):
    """One vector per text, None where an embedder gave none, and the tokens that they cost."""

    vectors: list[Any]
    tokens: int


class HaystackEmbeddings(Component[list[str], list[list[float]]], EmbeddingsBridge):
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
            raise InvalidInput(
                "HaystackEmbeddings takes a text embedder or a document embedder such as OpenAITextEmbedder(), "
                f"got {kind_of(text_embedder)}"
            )
        super().__init__(text_embedder)
        self.text_embedder = text_embedder
        self._takes_documents = "documents" in known

    def _embed(self, model: Any, texts: list[str]) -> Embedded:
        if self._takes_documents:
            return _of_documents(texts, model.run(documents=_documents(texts)))
        most = min(len(texts), AT_ONCE) if self._has_async(model) else 1
        if most == 1:
            return _of_texts([model.run(text=text) for text in texts])
        return _of_texts(in_threads([partial(model.run, text=text) for text in texts], most))

    async def _embed_async(self, model: Any, texts: list[str]) -> Embedded:
        if self._takes_documents:
            return _of_documents(texts, await model.run_async(documents=_documents(texts)))
        room = asyncio.Semaphore(AT_ONCE)

        async def one(text: str) -> Any:
            async with room:
                return await model.run_async(text=text)

        return _of_texts(await asyncio.gather(*map(one, texts)))

    def _read(self, answer: Embedded) -> Reply[list[list[float]]]:
        missing = sum(vector is None for vector in answer.vectors)
        if missing:
            raise ModelError(
                f"{self._name(self.text_embedder)}: {missing} of {len(answer.vectors)} texts came back without an embedding"
            )
        vectors = [[float(number) for number in vector] for vector in answer.vectors]
        return Reply(vectors, Usage(calls=1, prompt_tokens=answer.tokens))


def _documents(texts: list[str]) -> list[Document]:
    # equal texts would get equal ids
    return [Document(id=str(index), content=text) for index, text in enumerate(texts)]


def _of_documents(texts: list[str], result: Any) -> Embedded:
    by_id = {document.id: document.embedding for document in _found(result, "documents") or ()}
    return Embedded([by_id.get(str(index)) for index in range(len(texts))], _tokens(result))


def _of_texts(results: list[Any]) -> Embedded:
    return Embedded([_found(result, "embedding") for result in results], sum(map(_tokens, results)))


def _tokens(result: Any) -> int:
    return usage_of(_found(result, "meta")).prompt_tokens


def _found(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, Mapping) else None
