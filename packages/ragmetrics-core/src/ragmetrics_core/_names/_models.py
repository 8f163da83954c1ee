"""Models by name, for ``evaluate`` and for the command line alike: ``openai:gpt-4o-mini``, ``lexical``, ``hashing``.

What a name means is decided here and nowhere else. Model classes are loaded when a name asks for them.
"""

from __future__ import annotations

import os
from typing import Any

from .._kernel._errors import InvalidInput, Setting

FINE_TUNED = "ft"
"""What the names of OpenAI's fine-tuned models start with: ``ft:gpt-4o-mini-2024-07-18:acme::7p4lURel``."""

OWN_EMBEDDINGS = {"sentence-transformers": True, "huggingface": True, "hashing": False}
"""Providers of embeddings that are no servers, and whether the name of a model follows, after a colon."""


def llm_named(model: Any, base_url: str | None = None, api_key: str | None = None) -> Any:
    """The LLM that a text names; anything but a text is returned unchanged.

    A name is ``lexical``, a model of OpenAI, with or without ``openai:`` before its name, a model on a server that has a name too
    (``azure:DEPLOYMENT``, ``ollama:llama3.1:8b``), or ``server:MODEL``, the same protocol over a lean client. Names of models on
    other servers hold colons of their own (``llama3.1:8b``), so what stands before a colon is taken for an unknown provider only
    where no other server is named, by ``base_url`` or in ``OPENAI_BASE_URL``. An ``api_key`` is for a server by name alone.

    Raises:
        InvalidInput: there is no such provider, no name of a model, or no address or key of the server.
        MissingExtra: the package that a provider needs is not installed.
    """
    if not isinstance(model, str):
        return model
    server = base_url or os.environ.get("OPENAI_BASE_URL")
    _check_llm_name(model, server)
    from .. import llms  # noqa: PLC0415  loaded where a name is used

    provider, colon, name = _parts(model)
    if provider == "server":
        return llms.OpenAIServerLLM(str(server), name)
    settings = {"base_url": base_url} if base_url and model != "lexical" else {}
    if colon and is_server(provider):
        return llms.llm_factory(name, provider, **settings, **({"api_key": api_key} if api_key else {}))
    return llms.llm_factory(model.strip().removeprefix("openai:"), **settings)


def is_server(provider: str) -> bool:
    """Whether a provider is a server that has a name."""
    from ..llms._factory import server_named  # noqa: PLC0415  loaded where a name is used

    return server_named(provider) is not None


def _servers() -> str:
    from ..llms._factory import SERVERS  # noqa: PLC0415  for messages only

    return ", ".join(f"{name}:{server.model}" for name, server in SERVERS.items())


def _parts(model: str) -> tuple[str, str, str]:
    provider, colon, name = model.partition(":")
    return provider.strip(), colon, name.strip()


def _check_llm_name(model: str, server: str | None) -> None:
    provider, colon, name = _parts(model)
    names = f"openai:MODEL, {_servers()}, server:MODEL or lexical"
    if not colon and provider == "":
        raise InvalidInput(Setting("llm"), f" is an empty text: write {names}")
    known = is_server(provider) and bool(colon or not server)
    if (known or provider in ("openai", "server")) and not name:
        raise InvalidInput(Setting("llm", model), f" lacks the name of the model: write {provider}:MODEL")
    if known or server or not colon:
        return
    if provider == "server":
        raise InvalidInput(
            Setting("llm", model),
            " does not say where the server is: give ",
            Setting("base_url", "http://localhost:8000/v1"),
            " or set OPENAI_BASE_URL",
        )
    if provider not in ("openai", FINE_TUNED):
        raise InvalidInput(
            Setting("llm", model),
            f": there is no provider {provider!r}: use {names}; a model of that name on a server of your own needs ",
            Setting("base_url", ...),
        )


def embeddings_named(model: Any, base_url: str | None = None) -> Any:
    """The embedding model that a text names, ``provider`` or ``provider:MODEL``; anything but a text is returned unchanged.

    Raises:
        InvalidInput: there is no such provider, it needs the name of a model that is not given, or it takes none.
        MissingExtra: the package that a provider needs is not installed.
    """
    if not isinstance(model, str):
        return model
    provider, _, name = _parts(model)
    remote = provider == "openai" or is_server(provider)
    if not remote and provider not in OWN_EMBEDDINGS:
        raise InvalidInput(
            Setting("embeddings", model),
            f": there is no provider {provider!r}: use openai:MODEL, {_servers()}, sentence-transformers:MODEL or hashing",
        )
    if not name and provider not in ("openai", "azure", "hashing"):
        example = f", such as {provider}:all-MiniLM-L6-v2" if provider in OWN_EMBEDDINGS else ""
        raise InvalidInput(
            Setting("embeddings", model), f" lacks the name of the model: write {provider}:MODEL{example}"
        )
    if name and not remote and not OWN_EMBEDDINGS[provider]:
        raise InvalidInput(Setting("embeddings", model), f": {provider} uses no model: write {provider} alone")
    settings = {"base_url": base_url} if base_url and remote else {}
    from .. import embeddings  # noqa: PLC0415  loaded where a name is used

    return embeddings.embedding_factory(provider, name or None, **settings)
