"""A model by its name, for those who come from libraries that build theirs with a function."""

from __future__ import annotations

from typing import Any

from .._errors import InvalidInput
from .._protocols import LLM

__all__ = ["llm_factory"]


def llm_factory(model: str, provider: str = "openai", client: Any = None, **settings: Any) -> LLM:
    """An LLM by name.

    Args:
        model: name of the model; ``lexical`` is the offline judge.
        provider: ``openai`` for OpenAI, Azure (with ``client``) and every compatible server (with ``base_url``), or ``lexical``.
        client: an ``openai.OpenAI`` or ``openai.AsyncOpenAI``.
        settings: as ``OpenAILLM`` takes them, such as ``base_url`` or ``temperature``.

    Raises:
        InvalidInput: there is no such provider, or the settings do not fit it.
        MissingExtra: the package that the provider needs is not installed.
    """
    if not isinstance(provider, str):
        raise InvalidInput(f"provider must be a str, got {type(provider).__name__}: write client=... by name")
    if "lexical" in (model, provider):
        if client is not None or settings:
            given = sorted(settings) or ["client"]
            raise InvalidInput(f"the lexical judge runs offline and takes no {given[0]}")
        from ._lexical_judge import LexicalJudge  # noqa: PLC0415  loads word lists, rarely needed

        return LexicalJudge()
    if provider in ("openai", "azure"):
        from ._openai import OpenAILLM  # noqa: PLC0415  the other providers do not need it

        return OpenAILLM(model, client=client, **settings)
    raise InvalidInput(
        f"unknown provider {provider!r}: use 'openai' (with base_url=... for any compatible server) or 'lexical'; models of "
        "LangChain, LlamaIndex and Haystack are wrapped by ragmetrics-langchain, -llama-index and -haystack"
    )
