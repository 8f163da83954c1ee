"""A LangChain embedding model as the core's."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings

from ragmetrics_core import InvalidInput, Reply
from ragmetrics_core.adapters import EmbeddingsBridge

from ._described import Described, home_of

__all__ = ["LangChainEmbeddings"]


class LangChainEmbeddings(Described[list[str], list[list[float]]], EmbeddingsBridge):
    """An embedding model behind any LangChain ``Embeddings``; the usage counts one call, as LangChain reports no more.

    Args:
        embeddings: the model, such as ``OpenAIEmbeddings()`` of langchain-openai.

    Raises:
        InvalidInput: it is no LangChain embedding model.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        if not isinstance(embeddings, Embeddings):
            raise InvalidInput(
                f"LangChainEmbeddings takes a LangChain embedding model, got {type(embeddings).__name__}"
            )
        super().__init__(embeddings, home=home_of(embeddings))

    @property
    def embeddings(self) -> Embeddings:
        """The model that embeds."""
        model: Embeddings = self._ready(self._given)
        return model

    def _embed(self, model: Embeddings, texts: list[str]) -> list[list[float]]:
        return model.embed_documents(texts)

    async def _embed_async(self, model: Embeddings, texts: list[str]) -> list[list[float]]:
        return await model.aembed_documents(texts)

    def _read(self, answer: Any) -> Reply[list[list[float]]]:
        return Reply(answer)
