"""Models as words on a command line: ``lexical``, ``openai:gpt-4o-mini``, ``hashing``, ``sentence-transformers:MODEL``; and what
they may spend: ``calls=1000``.
"""

from __future__ import annotations

import os
from typing import Any

from ragmetrics_core import InvalidInput

__all__ = ["parse_budget", "parse_models"]

FINE_TUNED = "ft"
"""What the names of OpenAI's fine-tuned models start with: ``ft:gpt-4o-mini-2024-07-18:acme::7p4lURel``."""


def parse_models(llm: str | None, embeddings: str | None, base_url: str | None) -> dict[str, Any]:
    """The models that the texts name, as ``evaluate`` takes them.

    An LLM is ``lexical``, a model of OpenAI, with or without ``openai:`` before its name, or ``server:MODEL``, the same protocol
    over a lean client; embeddings are ``provider`` or ``provider:MODEL``. Names of models on other servers hold colons of their
    own (``llama3.1:8b``), so what stands before a colon is taken for an unknown provider only where no other server is named.
    Models of OpenAI are looked for at ``base_url`` if there is one.

    Raises:
        InvalidInput: there is no such provider, or nobody uses the base URL.
        MissingExtra: the package that a provider needs is not installed.
    """
    provider, _, model = (embeddings or "").partition(":")
    remote_llm = llm not in (None, "lexical")
    if base_url is not None and not remote_llm and provider != "openai":
        raise InvalidInput("--base-url needs --llm openai:MODEL or --embeddings openai:MODEL")
    address = {} if base_url is None else {"base_url": base_url}
    models: dict[str, Any] = {}
    if llm is not None:
        models["llm"] = _llm(llm, address if remote_llm else {})
    if embeddings is not None:
        from .embeddings import embedding_factory  # noqa: PLC0415  only needed here

        models["embeddings"] = embedding_factory(provider, model or None, **(address if provider == "openai" else {}))
    return models


def parse_budget(texts: list[str]) -> dict[str, int] | None:
    """The budget that texts such as ``calls=1000`` name, as ``evaluate`` takes it.

    Raises:
        InvalidInput: a text is of another form.
    """
    budget = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        if not number.replace("_", "").isdecimal():
            raise InvalidInput(f"--budget takes calls=NUMBER or tokens=NUMBER, got {text!r}")
        budget[name] = int(number.replace("_", ""))
    return budget or None


def _llm(text: str, address: dict[str, str]) -> Any:
    from .llms import llm_factory  # noqa: PLC0415  only needed here

    if text.startswith("server:"):
        if not address:
            raise InvalidInput("--llm server:MODEL needs --base-url, such as http://localhost:8000/v1")
        from .llms import OpenAIServerLLM  # noqa: PLC0415  only needed here

        return OpenAIServerLLM(address["base_url"], text.removeprefix("server:"))
    model = text.removeprefix("openai:")
    if not model.strip():
        raise InvalidInput("--llm needs the name of a model: --llm openai:MODEL, or --llm lexical")
    provider, colon, _ = text.partition(":")
    elsewhere = address or os.environ.get("OPENAI_BASE_URL")
    if colon and not elsewhere and provider not in ("openai", FINE_TUNED):
        raise InvalidInput(
            f"--llm: there is no provider {provider!r}: use openai:MODEL or lexical; a model of that name on a server of your "
            "own needs --base-url"
        )
    return llm_factory(model, **address)
