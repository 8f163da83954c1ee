"""The models that are asked over HTTP, for tests that hold for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core.llms import AnthropicLLM, GeminiLLM, OpenAILLM, OpenAIServerLLM

NATIVE = {"anthropic": ("anthropic", AnthropicLLM), "gemini": ("google.genai", GeminiLLM)}
"""Those that are called by their provider's protocol, each with its package."""

WAYS = ("openai", "server", *NATIVE)


def made(way: str, url: str, **settings: Any) -> Any:
    """A model with the name ``judge`` at an address that ends in ``/v1``; it makes no call again unless it is said."""
    if way == "server":
        return OpenAIServerLLM(url, "judge", **settings)
    if way == "openai":
        return OpenAILLM("judge", base_url=url, **{"max_retries": 0, **settings})
    package, kind = NATIVE[way]
    pytest.importorskip(package)
    url = url.removesuffix("/v1")
    return kind("judge", base_url=url, **{"max_retries": 0, "api_key": "sk-none-of-4711", **settings})


def url_of(llm: Any) -> str:
    """The address of a model, as messages show it."""
    return str(llm.identity["base_url"])
