"""Models by name, for ``evaluate`` and for the command line alike: ``openai:gpt-4o-mini``, ``lexical``, ``hashing``.

What a name means is decided here and nowhere else. Model classes are loaded when a name asks for them.
"""

from __future__ import annotations

import os
from typing import Any

from .._kernel._errors import InvalidInput

__all__ = ["EMBEDDINGS_NAMES", "LLM_NAMES", "embeddings_named", "llm_named"]

LLM_NAMES = "openai:MODEL, server:MODEL or lexical"
EMBEDDINGS_NAMES = "openai:MODEL, sentence-transformers:MODEL or hashing"

FINE_TUNED = "ft"
"""What the names of OpenAI's fine-tuned models start with: ``ft:gpt-4o-mini-2024-07-18:acme::7p4lURel``."""

EMBEDDING_PROVIDERS = {
    "openai": True,
    "azure": True,
    "sentence-transformers": True,
    "huggingface": True,
    "hashing": False,
}
"""Whether the name of a model may follow, after a colon."""


def llm_named(model: Any, base_url: str | None = None) -> Any:
    """The LLM that a text names; anything but a text is returned unchanged.

    A name is ``lexical``, a model of OpenAI, with or without ``openai:`` before its name, or ``server:MODEL``, the same protocol
    over a lean client. Names of models on other servers hold colons of their own (``llama3.1:8b``), so what stands before a
    colon is taken for an unknown provider only where no other server is named, by ``base_url`` or in ``OPENAI_BASE_URL``.

    Raises:
        InvalidInput: there is no such provider, or no name of a model.
        MissingExtra: the package that a provider needs is not installed.
    """
    if not isinstance(model, str):
        return model
    server = base_url or os.environ.get("OPENAI_BASE_URL")
    _check_llm_name(model, server)
    from .. import llms  # noqa: PLC0415  loaded where a name is used

    provider, _, name = _parts(model)
    if provider == "server":
        return llms.OpenAIServerLLM(str(server), name)
    settings = {"base_url": base_url} if base_url and model != "lexical" else {}
    return llms.llm_factory(model.strip().removeprefix("openai:"), **settings)


def _parts(model: str) -> tuple[str, str, str]:
    provider, colon, name = model.partition(":")
    return provider.strip(), colon, name.strip()


def _check_llm_name(model: str, server: str | None) -> None:
    provider, colon, name = _parts(model)
    if not colon and provider == "":
        raise InvalidInput(f"llm is an empty text: write {LLM_NAMES}")
    if provider in ("openai", "server") and not name:
        raise InvalidInput(f"llm={model!r} lacks the name of the model: write {provider}:MODEL")
    if server or not colon:
        return
    if provider == "server":
        raise InvalidInput(
            f"llm={model!r} does not tell where the server is: write OpenAIServerLLM(base_url, {name!r}) or set OPENAI_BASE_URL"
        )
    if provider not in ("openai", FINE_TUNED):
        raise InvalidInput(
            f"llm={model!r}: there is no provider {provider!r}: use {LLM_NAMES}; a model of that name on a server of your own "
            f"is OpenAILLM({model!r}, base_url=...)"
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
    if provider not in EMBEDDING_PROVIDERS:
        raise InvalidInput(f"embeddings={model!r}: there is no provider {provider!r}: use {EMBEDDINGS_NAMES}")
    if provider in ("sentence-transformers", "huggingface") and not name:
        raise InvalidInput(
            f"embeddings={model!r} lacks the name of the model: write {provider}:MODEL, such as {provider}:all-MiniLM-L6-v2"
        )
    if name and not EMBEDDING_PROVIDERS[provider]:
        raise InvalidInput(f"embeddings={model!r}: {provider} uses no model: write {provider} alone")
    settings = {"base_url": base_url} if base_url and provider in ("openai", "azure") else {}
    from .. import embeddings  # noqa: PLC0415  loaded where a name is used

    return embeddings.embedding_factory(provider, name or None, **settings)
