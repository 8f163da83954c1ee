"""Embeddings that are computed by any embedding model of LlamaIndex."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings.utils import resolve_embed_model

from ragmetrics_core import InvalidInput, Reply, Usage
from ragmetrics_core.adapters import EmbeddingsBridge, has_methods, overrides

from ._described import Described


class LlamaIndexEmbeddings(Described[list[str], list[list[float]]], EmbeddingsBridge):
    """An embedding model that is called through LlamaIndex, so that its callbacks and caches take part.

    Args:
        embed_model: an embedding model of LlamaIndex, or what ``Settings.embed_model`` takes. None: ``Settings.embed_model``,
            looked up at every call.

    Raises:
        InvalidInput: ``embed_model`` is no embedding model.
    """

    _setting = "embed_model"
    _what = "embedding model"

    def __init__(self, embed_model: Any = None) -> None:
        if embed_model is not None and not isinstance(embed_model, BaseEmbedding):
            embed_model = _resolved(embed_model)
        super().__init__(embed_model, overlap=True)

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model that embeds.

        Raises:
            ModelError: none was given, and ``Settings.embed_model`` is not set.
        """
        model: BaseEmbedding = self._model
        return model

    def _has_async(self, model: BaseEmbedding) -> bool:
        """Whether the asynchronous methods do more than call the synchronous ones, as those of the base class do."""
        names = ("_aget_text_embedding", "_aget_text_embeddings")
        return any(overrides(type(model), BaseEmbedding, name) for name in names)

    def _embed(self, model: BaseEmbedding, texts: list[str]) -> list[list[float]]:
        return model.get_text_embedding_batch(texts)

    async def _embed_async(self, model: BaseEmbedding, texts: list[str]) -> list[list[float]]:
        return await model.aget_text_embedding_batch(texts)

    def _read(self, answer: list[list[float]]) -> Reply[list[list[float]]]:
        return Reply(answer, Usage(calls=1))


def _resolved(embed_model: Any) -> BaseEmbedding:
    try:
        return resolve_embed_model(embed_model)
    except (AssertionError, AttributeError):
        kind = type(embed_model).__name__
    raise InvalidInput(f"LlamaIndexEmbeddings takes an embedding model of LlamaIndex, got {kind}")


def scorer_of(embed_model: Any) -> Any:
    """The model that embeds or compares; what has the methods of the core's models is one already."""
    is_one = has_methods(embed_model, "embed", "aembed", "compare", "acompare")
    return embed_model if is_one and not isinstance(embed_model, BaseEmbedding) else LlamaIndexEmbeddings(embed_model)
