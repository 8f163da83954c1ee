"""Make an LLM by its name, with a function as other libraries have it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from .._lexical._judge import LexicalJudge
from .._support._providers import SERVERS, server_named
from .._values._errors import InvalidInput
from .._values._requests import LLM
from ._native._anthropic import AnthropicLLM
from ._native._gemini import GeminiLLM
from ._openai._llm import OpenAILLM
from ._openai._named_servers import settings_of_server

NATIVE: Mapping[str, type[AnthropicLLM | GeminiLLM]] = {"anthropic": AnthropicLLM, "gemini": GeminiLLM}
"""The models that are called by their provider's own protocol, by extra."""

OFFLINE = "lexical"
NEARLY = 0.8
"""Similarity from which on a name counts as a misspelling of ``lexical``. Without this check OpenAI would be called, and perhaps
bill for it.
"""


def llm_factory(model: str, provider: str = "openai", client: Any = None, **settings: Any) -> LLM:
    """Make an LLM by its name.

    Args:
        model: name of the model; ``lexical`` is the offline judge.
        provider: ``openai`` for OpenAI and every compatible server (with ``base_url``); the name of a server, such as ``azure``,
            ``gemini`` or ``ollama`` (docs/models.md has the table), whose address and key come from its environment variables; or
            ``lexical``.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``.
        settings: the settings of ``OpenAILLM``, such as ``base_url`` or ``temperature``; for Azure also ``api_version``; for
            ``anthropic`` and ``gemini`` those of ``AnthropicLLM`` and ``GeminiLLM``.

    Raises:
        InvalidInput: there is no such provider, or a setting does not fit it.
        MissingExtra: the package that the provider needs is not installed.
    """
    if not isinstance(provider, str):
        raise InvalidInput(f"provider must be a str, got {type(provider).__name__}: write client=... by name")
    if OFFLINE in (model, provider):
        if client is not None or settings:
            raise InvalidInput(f"the lexical judge runs offline and takes no {min(settings, default='client')}")
        return LexicalJudge()
    server = server_named(provider)
    if provider != "openai" and server is None:
        raise InvalidInput(
            f"unknown provider {provider!r}: use 'openai' (with base_url=... for any compatible server), "
            f"{', '.join(map(repr, SERVERS))} or 'lexical'; models of "
            "LangChain, LlamaIndex and Haystack are wrapped by ragmetrics-langchain, -llama-index and -haystack"
        )
    if client is None and server is not None:
        settings = settings_of_server(server, _as_it_takes(server, settings))
        if native := NATIVE.get(SERVERS[server].extra):
            return native(model, **settings)
        client = settings.pop("client", None)
    elif client is None and not settings.get("base_url") and _is_nearly_offline(model):
        raise InvalidInput(f"there is no model {model!r}: did you mean {OFFLINE!r}?")
    return OpenAILLM(model, client=client, **settings)


def _as_it_takes(server: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the highest form of reply of a provider, and with a seed under the provider's name for it.

    Raises:
        InvalidInput: there is a seed, and the provider takes none.
    """
    provider = SERVERS[server]
    settings = {"structured": provider.forms[0], **settings}
    if settings.get("seed") is not None and provider.seed != "seed":
        if not provider.seed:
            raise InvalidInput(f"{server} takes no seed: leave seed out")
        settings["extra_body"] = {provider.seed: settings.pop("seed"), **(settings.get("extra_body") or {})}
    return settings


def _is_nearly_offline(model: object) -> bool:
    return isinstance(model, str) and difflib.SequenceMatcher(None, model.strip().casefold(), OFFLINE).ratio() >= NEARLY
