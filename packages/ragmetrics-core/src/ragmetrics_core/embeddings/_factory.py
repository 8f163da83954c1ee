"""An embedding model by the name of its provider, for those who come from libraries that build theirs with a function."""

from __future__ import annotations

from typing import Any

from .._errors import InvalidInput
from .._protocols import Embeddings
from ._hashing import HashingEmbeddings
from ._openai import OpenAIEmbeddings
from ._sentence_transformers import SentenceTransformerEmbeddings

__all__ = ["embedding_factory"]


def embedding_factory(provider: str = "openai", model: Any = None, client: Any = None, **settings: Any) -> Embeddings:
    """An embedding model.

    Args:
        provider: ``openai`` (any compatible server too, with ``base_url``), ``sentence-transformers`` or ``huggingface`` (a local
            model), or ``hashing`` (offline, no model at all).
        model: name of the model; the provider's default where it has one.
        client: for ``openai``: an ``openai.OpenAI`` or ``openai.AsyncOpenAI``.
        settings: as the class of the provider takes them.

    Raises:
        InvalidInput: there is no such provider, or a setting does not fit it.
        MissingExtra: the package that the provider needs is not installed.
    """
    name = str(provider).lower().replace("_", "-")
    named = {} if model is None else {"model": model}
    if name in ("openai", "azure"):
        return OpenAIEmbeddings(**named, client=client, **settings)
    if client is not None:
        raise InvalidInput(f"the provider {provider!r} takes no client")
    if name in ("sentence-transformers", "huggingface"):
        if model is None:
            raise InvalidInput(
                f"the provider {provider!r} needs model=..., such as 'sentence-transformers/all-MiniLM-L6-v2'"
            )
        return SentenceTransformerEmbeddings(model, **settings)
    if name == "hashing":
        if model is not None:
            raise InvalidInput("hashing uses no model: leave model out")
        return HashingEmbeddings(**settings)
    raise InvalidInput(
        f"unknown provider {provider!r}: use 'openai', 'sentence-transformers', 'huggingface' or 'hashing'"
    )
