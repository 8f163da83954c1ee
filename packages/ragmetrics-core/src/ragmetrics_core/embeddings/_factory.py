"""Make an embedding model from the name of its provider, with a function like those of other libraries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .._support._providers import SERVERS, server_named
from .._values._errors import InvalidInput
from .._values._requests import Embeddings, SyncEmbeddings
from ..llms._openai._named_servers import settings_of_server
from ._hashing import HashingEmbeddings
from ._local import SentenceTransformerEmbeddings
from ._openai import OpenAIEmbeddings

T = TypeVar("T")


def embedding_factory(
    provider: str = "openai", model: Any = None, client: Any = None, *, interface: str = "modern", **settings: Any
) -> Embeddings | SyncEmbeddings:
    """Make an embedding model.

    Args:
        provider: ``openai`` (also any compatible server, with ``base_url``), the name of a server as in ``llm_factory``,
            ``sentence-transformers`` or ``huggingface`` (a local model), or ``hashing`` (offline, without a model).
        model: name of the model; default: the provider's default if it has one.
        client: for ``openai`` and named servers: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``.
        interface: for code that was written for RAGAS; only ``modern`` is supported.
        settings: the settings of the provider's class.

    Raises:
        InvalidInput: there is no such provider, or a setting does not fit it.
        MissingExtra: the package that the provider needs is not installed.
    """
    if interface not in ("modern", "auto"):
        raise InvalidInput(f"interface {interface!r} is RAGAS' legacy one and does not exist here: leave it out")
    name = str(provider).lower().replace("_", "-")
    model_setting = {} if model is None else {"model": model}
    server = server_named(name)
    if name == "openai" or server is not None:
        if server is not None and server == "anthropic":
            raise InvalidInput(
                f"{provider} has no embedding models: use openai, gemini, mistral or sentence-transformers"
            )
        if client is None and server is not None:
            settings = settings_of_server(server, settings)
            client = settings.pop("client", None)
        return _made(OpenAIEmbeddings, provider, {**model_setting, "client": client}, settings)
    if client is not None:
        raise InvalidInput(f"the provider {provider!r} takes no client: leave client out")
    if name in ("sentence-transformers", "huggingface"):
        if model is None:
            raise InvalidInput(f"{provider!r} needs model=..., such as 'sentence-transformers/all-MiniLM-L6-v2'")
        return _made(SentenceTransformerEmbeddings, provider, {"model": model}, settings)
    if name == "hashing":
        if model is not None:
            raise InvalidInput("hashing uses no model: leave model out")
        return _made(HashingEmbeddings, provider, {}, settings)
    raise InvalidInput(
        f"unknown provider {provider!r}: use 'openai', {', '.join(map(repr, SERVERS))}, 'sentence-transformers', 'huggingface' or "
        "'hashing'"
    )


def _made(kind: Callable[..., T], provider: str, given: Mapping[str, Any], settings: Mapping[str, Any]) -> T:
    known = [name for name in inspect.signature(kind).parameters if name not in ("model", "client")]
    for name in settings:
        if name not in known:
            raise InvalidInput(f"the provider {provider!r} has no setting {name!r}: it takes {', '.join(known)}")
    return kind(**given, **settings)
