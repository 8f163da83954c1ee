"""Embedding models and pair scorers. Importing this loads no model library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._values._requests import Embeddings, PairScorer, SyncEmbeddings
from ._factory import embedding_factory
from ._hashing import HashingEmbeddings
from ._local import CrossEncoder, SentenceTransformerEmbeddings
from ._openai import OpenAIEmbeddings

__all__ = [
    "CrossEncoder",
    "Embeddings",
    "HashingEmbeddings",
    "OpenAIEmbeddings",
    "PairScorer",
    "SentenceTransformerEmbeddings",
    "SyncEmbeddings",
    "embedding_factory",
]

if not TYPE_CHECKING:  # to a checker, every name would exist

    def __getattr__(name: str) -> Any:
        from .._support._other_names import no_attribute  # noqa: PLC0415  for mistakes only

        raise no_attribute(__name__, name)
