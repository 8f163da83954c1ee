"""Embedding models and pair scorers. Importing this loads no model library."""

from __future__ import annotations

from .._protocols import Embeddings, PairScorer, SyncEmbeddings
from ._cross_encoder import CrossEncoder
from ._factory import embedding_factory
from ._hashing import HashingEmbeddings
from ._openai import OpenAIEmbeddings
from ._sentence_transformers import SentenceTransformerEmbeddings

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
