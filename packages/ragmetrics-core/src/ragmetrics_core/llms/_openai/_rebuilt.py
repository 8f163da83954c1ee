"""How an openai client is built: from settings, or from another client's settings for another kind or another event loop.

Strategy. The settings of a client that was given are read from it here, and nowhere else, in a public way: its ``copy`` hands all
of them to the constructor, by the names that the constructor documents. So a stand-in is copied whose constructor only takes note.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..._kernel._errors import ModelError, Setting
from .._wire._api_keys import check_header, tidy_key
from ._bounded import bounded_client, is_bounded

NO_KEY = "no-key"
"""Sent to servers of the user's own, which need none, because the openai package insists on a key."""

OWN_WAYS = ("azure_ad_token_provider", "provider", "workload_identity")
"""Settings by which a client fetches its credentials: those of one kind are of no use to the other."""


def own_client(kind: str, settings: Mapping[str, Any]) -> Any:
    """A client made here; ``kind`` is ``OpenAI`` or ``AsyncOpenAI``.

    Raises:
        ModelError: there is no API key, and no base URL of another server; or the key cannot be sent.
    """
    import openai  # noqa: PLC0415  heavy

    variable = str(settings.get("key_variable", "OPENAI_API_KEY"))
    key = settings.get("api_key") or tidy_key(os.environ.get(variable))
    if key is None:
        if not settings.get("base_url") and not os.environ.get("OPENAI_BASE_URL"):
            problem = ModelError(
                f"no API key for OpenAI: set the environment variable {variable} or, in Python, api_key; for a server of your own "
                "that needs none, give ",
                Setting("base_url", ...),
                fatal=True,
            )
            problem.needs_key = True
            raise problem
        key = NO_KEY
    check_header("the API key", key)
    known = {name: value for name, value in settings.items() if name != "key_variable"}
    http_client = bounded_client(asynchronous=kind.startswith("Async"))
    return getattr(openai, kind)(**{**known, "api_key": key, "http_client": http_client})


def settings_of(client: Any) -> dict[str, Any]:
    """What a client would be made with again: the arguments of its constructor, by name; none for a mere look-alike."""
    import openai  # noqa: PLC0415  heavy

    kinds = (openai.AzureOpenAI, openai.AsyncAzureOpenAI, openai.OpenAI, openai.AsyncOpenAI)
    kind = next((kind for kind in kinds if issubclass(type(client), kind)), None)
    if kind is None:
        return {}
    noted: dict[str, Any] = {}
    stand_in: Any = type("StandIn", (kind,), {"__init__": lambda _, **settings: noted.update(settings)})()
    vars(stand_in).update(vars(client))
    stand_in.copy()
    return noted


def check_headers(client: Any, settings: Mapping[str, Any]) -> None:
    """Refuse a client whose key or headers cannot be sent, before the HTTP library does so and quotes them.

    Raises:
        ModelError: a value holds a character that no header can carry.
    """
    check_header("the API key", client.api_key)
    check_header("the Azure token", settings.get("azure_ad_token"))
    for name, value in header_texts(settings).items():
        check_header(f"the header {name!r} of the client", value)


def header_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """The headers that the user has given to a client."""
    headers = settings.get("default_headers") or {}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def can_be_rebuilt(client: Any, settings: Mapping[str, Any], *, asynchronous: bool) -> bool:
    """Whether ``rebuilt`` makes a client that behaves as this one does."""
    import openai  # noqa: PLC0415  heavy

    exact = type(client) in (openai.OpenAI, openai.AsyncOpenAI, openai.AzureOpenAI, openai.AsyncAzureOpenAI)
    http_client = settings.get("http_client")
    if not exact or not (_is_of_the_package(http_client) or is_bounded(http_client)):
        return False
    if isinstance(client, openai.AsyncOpenAI) == asynchronous:
        return True
    has_key = bool(client.api_key) and not callable(settings.get("api_key"))
    return has_key and not any(settings.get(name) for name in OWN_WAYS)


def _is_of_the_package(http_client: Any) -> bool:
    """Whether the package made it, having been given none: then it is of a kind that users have no name for."""
    import openai  # noqa: PLC0415  heavy

    named = (openai.DefaultHttpxClient, openai.DefaultAsyncHttpxClient)
    kind = type(http_client)
    return isinstance(http_client, named) and kind not in named and kind.__module__.partition(".")[0] == "openai"


def rebuilt(client: Any, settings: Mapping[str, Any], *, asynchronous: bool) -> Any:
    """A client with the same settings and with connections of its own."""
    import openai  # noqa: PLC0415  heavy

    if asynchronous and isinstance(client, openai.AsyncOpenAI):
        http_client = openai.DefaultAsyncHttpxClient(base_url=client.base_url, timeout=client.timeout)
        return client.copy(http_client=http_client)
    azure = isinstance(client, openai.AzureOpenAI | openai.AsyncAzureOpenAI)
    kind = ("Async" if asynchronous else "") + ("AzureOpenAI" if azure else "OpenAI")
    bounded = bounded_client(asynchronous=asynchronous) if is_bounded(settings.get("http_client")) else None
    live = {"api_key": None if client.api_key.startswith("<missing") else client.api_key, "http_client": bounded}
    known = {name: value for name, value in {**settings, **live}.items() if not name.startswith("_")}
    return getattr(openai, kind)(**{name: value for name, value in known.items() if value is not None})
