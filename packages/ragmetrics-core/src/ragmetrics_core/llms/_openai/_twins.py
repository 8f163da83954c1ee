"""How an openai client is built: from settings, or from another client's settings for another kind or another event loop.

The openai package offers a copy of the same kind only, so the settings of a client are read from it here, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..._kernel._errors import ModelError
from .._wire._api_keys import check_header, tidy_key

__all__ = ["NO_KEY", "can_be_rebuilt", "check_headers", "header_texts", "own_client", "twin"]

NO_KEY = "no-key"
"""Sent to servers of the user's own, which need none, because the openai package insists on a key."""

MISSING_KEY = (
    "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or pass api_key=..., "
    "or pass base_url=... for a server of your own that needs none"
)


def own_client(kind: str, settings: Mapping[str, Any]) -> Any:
    """A client made here; ``kind`` is ``OpenAI`` or ``AsyncOpenAI``.

    Raises:
        ModelError: there is no API key, and no base URL of another server; or the key cannot be sent.
    """
    import openai  # noqa: PLC0415  heavy

    key = settings.get("api_key") or tidy_key(os.environ.get("OPENAI_API_KEY"))
    if key is None:
        if not settings.get("base_url") and not os.environ.get("OPENAI_BASE_URL"):
            raise ModelError(MISSING_KEY, fatal=True)
        key = NO_KEY
    check_header("the API key", key)
    return getattr(openai, kind)(**{**settings, "api_key": key})


def check_headers(client: Any) -> None:
    """Refuse a client whose key or headers cannot be sent, before the HTTP library does so and quotes them.

    Raises:
        ModelError: a value holds a character that no header can carry.
    """
    check_header("the API key", client.api_key)
    check_header("the Azure token", getattr(client, "_azure_ad_token", None))
    for name, value in header_texts(client).items():
        check_header(f"the header {name!r} of the client", value)


def header_texts(client: Any) -> dict[str, str]:
    """The headers that the user has given to a client."""
    headers = getattr(client, "_custom_headers", None) or {}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def can_be_rebuilt(client: Any, *, asynchronous: bool) -> bool:
    """Whether ``twin`` makes a client that behaves as this one does."""
    import openai  # noqa: PLC0415  heavy

    exact = type(client) in (openai.OpenAI, openai.AsyncOpenAI, openai.AzureOpenAI, openai.AsyncAzureOpenAI)
    # the wrappers are what the package makes when it was given no http client
    if not exact or not type(getattr(client, "_client", None)).__name__.endswith("HttpxClientWrapper"):
        return False
    if isinstance(client, openai.AsyncOpenAI) == asynchronous:
        return True
    own_ways = ("_api_key_provider", "workload_identity", "_provider", "_azure_ad_token_provider")
    return bool(client.api_key) and not any(getattr(client, name, None) for name in own_ways)


def twin(client: Any, *, asynchronous: bool) -> Any:
    """A client with the same settings and with connections of its own."""
    import openai  # noqa: PLC0415  heavy

    if asynchronous and isinstance(client, openai.AsyncOpenAI):
        http_client = openai.DefaultAsyncHttpxClient(base_url=client.base_url, timeout=client.timeout)
        return client.copy(http_client=http_client)
    settings = {
        "base_url": client.base_url,
        "organization": client.organization,
        "project": getattr(client, "project", None),
        "default_headers": getattr(client, "_custom_headers", None),
        "default_query": getattr(client, "_custom_query", None),
        "api_version": getattr(client, "_api_version", None),
        "azure_ad_token": getattr(client, "_azure_ad_token", None),
        "api_key": client.api_key if not client.api_key.startswith("<missing") else None,
    }
    azure = isinstance(client, openai.AzureOpenAI | openai.AsyncAzureOpenAI)
    kind = ("Async" if asynchronous else "") + ("AzureOpenAI" if azure else "OpenAI")
    return getattr(openai, kind)(
        timeout=client.timeout,
        max_retries=client.max_retries,
        **{name: value for name, value in settings.items() if value is not None},
    )
