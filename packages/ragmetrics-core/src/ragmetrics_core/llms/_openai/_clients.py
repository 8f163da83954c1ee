"""Turn "a client, or the settings of a client" into the openai client that a call needs.

Strategy. The user gives a synchronous client, an asynchronous client, or none. Calls come from synchronous code, from an event
loop, or from several event loops. A client of the other kind is built from the settings of the given client. The
connections of an asynchronous client belong to the event loop that opened them, and only the user knows which loop that is. So a
loop always gets a separate client, built like the given client (see ``PerLoop``), and the user's client stays unchanged.

A client cannot be rebuilt if it is a subclass, has a custom HTTP client, or fetches its credentials itself. Then
a synchronous client serves asynchronous code from a thread, and an asynchronous client serves only the first event loop.

The settings of a given client are read only here, and through a public method: its ``copy`` passes all settings to the
constructor, under the documented names. So a copy is made of a stand-in object whose constructor only records these settings.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..._support._providers import OPENAI_URL
from ..._support._secrets import routing_digest
from ..._values._errors import InvalidInput, ModelError, Setting
from .._wire._bounded import bounded_client, is_bounded
from .._wire._connections import (
    bare_url,
    check_header,
    check_installed,
    check_url,
    openai_package,
    tidy_key,
)
from .._wire._failures import OPENAI_PROTOCOL
from .._wire._package_model import KeptClients

if TYPE_CHECKING:
    import openai
    from typing_extensions import Self


NO_KEY = "no-key"
"""The key for a server that needs none, because the openai package insists on a key."""

OWN_WAYS = ("azure_ad_token_provider", "provider", "workload_identity")
"""Settings with which a client fetches its credentials. Those of a synchronous client do not work in an asynchronous one, and
vice versa.
"""


def own_client(kind: str, settings: Mapping[str, Any]) -> Any:
    """Make a client from settings. ``kind`` is ``OpenAI`` or ``AsyncOpenAI``.

    Raises:
        ModelError: there is no API key and no base URL of another server, or the key cannot be sent.
    """
    openai = openai_package()

    variable = str(settings.get("key_variable", "OPENAI_API_KEY"))
    key = settings.get("api_key") or tidy_key(os.environ.get(variable))
    if key is None:
        if not settings.get("base_url") and not os.environ.get("OPENAI_BASE_URL"):
            given = Setting("api_key", ..., before=", or give "), ", or give ", Setting("base_url", ...)
            said = f"no API key for OpenAI: set the environment variable {variable}"
            problem = ModelError(said, *given, " for a server of your own that needs none", fatal=True)
            problem.needs_key = True
            raise problem
        key = NO_KEY
    check_header("the API key", key)
    known = {name: value for name, value in settings.items() if name != "key_variable"}
    is_async = kind.startswith("Async")
    http_client = bounded_client(openai.DefaultAsyncHttpxClient if is_async else openai.DefaultHttpxClient)
    return getattr(openai, kind)(**{**known, "api_key": key, "http_client": http_client})


def settings_of(client: Any) -> dict[str, Any]:
    """Return the arguments, by name, that would construct this client again. An object that only looks like a client has none."""
    openai = openai_package()

    kinds = (openai.AzureOpenAI, openai.AsyncAzureOpenAI, openai.OpenAI, openai.AsyncOpenAI)
    kind = next((kind for kind in kinds if issubclass(type(client), kind)), None)
    if kind is None:
        return {}
    noted: dict[str, Any] = {}
    stand_in: Any = type("StandIn", (kind,), {"__init__": lambda _, **settings: noted.update(settings)})()
    vars(stand_in).update(vars(client))
    stand_in.copy()
    return noted


def header_texts(settings: Mapping[str, Any]) -> dict[str, str]:
    """The headers that the user has given to a client."""
    headers = settings.get("default_headers") or {}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def can_be_rebuilt(client: Any, settings: Mapping[str, Any], *, asynchronous: bool) -> bool:
    """Whether ``rebuilt`` makes a client that behaves like this one."""
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
    """Whether the openai package made this HTTP client itself. Then its class is private in the package."""
    import openai  # noqa: PLC0415  heavy

    named = (openai.DefaultHttpxClient, openai.DefaultAsyncHttpxClient)
    kind = type(http_client)
    return isinstance(http_client, named) and kind not in named and kind.__module__.partition(".")[0] == "openai"


def rebuilt(client: Any, settings: Mapping[str, Any], *, asynchronous: bool) -> Any:
    """Make a client with the same settings and with separate connections."""
    import openai  # noqa: PLC0415  heavy

    if asynchronous and isinstance(client, openai.AsyncOpenAI):
        http_client = openai.DefaultAsyncHttpxClient(base_url=client.base_url, timeout=client.timeout)
        return client.copy(http_client=http_client)
    azure = isinstance(client, openai.AzureOpenAI | openai.AsyncAzureOpenAI)
    kind = ("Async" if asynchronous else "") + ("AzureOpenAI" if azure else "OpenAI")
    parent = openai.DefaultAsyncHttpxClient if asynchronous else openai.DefaultHttpxClient
    bounded = bounded_client(parent) if is_bounded(settings.get("http_client")) else None
    live = {"api_key": None if client.api_key.startswith("<missing") else client.api_key, "http_client": bounded}
    known = {name: value for name, value in {**settings, **live}.items() if not name.startswith("_")}
    return getattr(openai, kind)(**{name: value for name, value in known.items() if value is not None})


NOT_FOR_SYNC = (
    "the AsyncOpenAI given as client cannot serve synchronous calls, because it is a subclass, or has its own http_client or "
    "credentials: use the asynchronous methods, or give an openai.OpenAI"
)
NOT_FOR_THIS_LOOP = (
    "the AsyncOpenAI given as client belongs to another event loop and cannot be rebuilt for this one, because it is a subclass "
    "or has its own http_client: give an openai.OpenAI, or make one model per event loop"
)


class Clients(KeptClients):
    """The openai clients of one model.

    Args:
        client: the user's ``openai.OpenAI`` or ``openai.AsyncOpenAI`` (Azure clients included), or None.
        settings: settings of the clients that are made here: ``base_url``, ``api_key``, ``key_variable``, ``timeout``,
            ``max_retries``. A setting that is None is left out.

    Raises:
        MissingExtra: the openai package is not installed.
        InvalidInput: the client is something else, both a client and settings are given, or the base URL is no address.
    """

    def __init__(self, client: openai.OpenAI | openai.AsyncOpenAI | None, settings: Mapping[str, Any]) -> None:
        check_installed("openai", "openai")
        settings = {**settings, "api_key": tidy_key(settings.get("api_key"))}
        self._settings = {name: value for name, value in settings.items() if value is not None}
        self._given = client
        self._given_settings: dict[str, Any] = {}
        self._given_loop: weakref.ref[Any] | None = None
        self._forget_connections()
        if client is None:
            urls = {"base_url": self._settings.get("base_url"), "OPENAI_BASE_URL": os.environ.get("OPENAI_BASE_URL")}
            for name, url in urls.items():
                if url is not None and url != "":
                    check_url(url, name)
        else:
            _check_client(client, self._settings)
            self._given_settings = settings_of(client)

    @property
    def _holds_key(self) -> bool:
        key = self._settings.get("api_key", NO_KEY)
        return self._given is not None or key != NO_KEY or urlsplit(self._full_url).username is not None

    def without_retries(self) -> Self:
        other = super().without_retries()
        given = self._given
        if given is not None and other._given is given and type(given).__module__.startswith("openai"):
            other._given = given.with_options(max_retries=0)  # a copy that uses the same connections
        return other

    @property
    def given(self) -> bool:
        """Whether the user gave a client, which may do more than the usual client, such as check every answer."""
        return self._given is not None

    @property
    def base_url(self) -> str:
        """The address of the server, without credentials and query."""
        return bare_url(self._full_url)

    @property
    def query(self) -> dict[str, Any]:
        """The parameters that the given client adds to the query of every request, such as ``api-version`` on Azure."""
        return dict(getattr(self._given, "default_query", {}))

    @property
    def headers(self) -> str | None:
        """A digest of the given client's headers that may choose a model or a provider: all headers that do not authorize."""
        return routing_digest(header_texts(self._given_settings))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must never be shown."""
        found = [self._settings.get("api_key")]
        found += [os.environ.get(name, "").strip() for name in ("OPENAI_API_KEY", self.key_variable)]
        found += [urlsplit(self._full_url).password]
        found += [getattr(client, "api_key", None) for client in (self._given, self._made) if client is not None]
        found += [self._given_settings.get(name) for name in ("azure_ad_token", "admin_api_key")]
        for value in header_texts(self._given_settings).values():
            found += [value, value.rpartition(" ")[2]]  # such as "Bearer" and a token
        return tuple({text for text in found if isinstance(text, str) and text})

    protocol = OPENAI_PROTOCOL

    @property
    def sends_key(self) -> bool:
        """Whether there is a key to send."""
        key = self._settings.get("api_key") or tidy_key(os.environ.get(self.key_variable))
        return self.given or key not in (None, NO_KEY)

    @property
    def key_variable(self) -> str:
        """The environment variable that is read if no key is given."""
        if type(self._given).__name__.endswith("AzureOpenAI"):
            return "AZURE_OPENAI_API_KEY"
        return str(self._settings.get("key_variable", "OPENAI_API_KEY"))

    @property
    def _full_url(self) -> str:
        if self._given is not None:
            return str(self._given.base_url)
        return str(self._settings.get("base_url") or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)

    def sync(self) -> openai.OpenAI:
        """Return a synchronous client.

        Raises:
            ModelError: there is no API key, or the key or a header cannot be sent.
            InvalidInput: an asynchronous client was given that cannot be rebuilt as a synchronous one.
        """
        import openai  # noqa: PLC0415  heavy

        if self._given is not None:
            self._check_headers()
        if isinstance(self._given, openai.OpenAI):
            return self._given
        found: openai.OpenAI = super().sync()
        return found

    async def here(self) -> openai.AsyncOpenAI | None:
        """Return an asynchronous client for the running loop; None if only the synchronous client in a thread can serve it.

        Raises:
            ModelError: there is no API key, or the key or a header cannot be sent.
            InvalidInput: the given asynchronous client serves another loop and cannot be rebuilt for this one.
        """
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        import openai  # noqa: PLC0415  heavy

        given = self._given
        if given is not None:
            self._check_headers()
        if given is None or self._can_be_rebuilt(asynchronous=True):
            found: openai.AsyncOpenAI = await super().here()
            return found
        if isinstance(given, openai.OpenAI):
            return None
        loop = weakref.ref(asyncio.get_running_loop())
        with self._lock:
            if self._given_loop not in (None, loop):
                raise InvalidInput(NOT_FOR_THIS_LOOP)
            self._given_loop = loop
        return given

    def _check_headers(self) -> None:
        """Refuse a key or header that cannot be sent. The HTTP library would quote it in its error."""
        check_header("the API key", getattr(self._given, "api_key", None))
        check_header("the Azure token", self._given_settings.get("azure_ad_token"))
        for name, value in header_texts(self._given_settings).items():
            check_header(f"the header {name!r} of the client", value)

    def _load(self) -> None:
        import_module("openai")

    def _can_be_rebuilt(self, *, asynchronous: bool) -> bool:
        return can_be_rebuilt(self._given, self._given_settings, asynchronous=asynchronous)

    def _new(self, *, asynchronous: bool) -> Any:
        """Make a client from the settings, or from the given client."""
        if self._given is None:
            made = own_client("AsyncOpenAI" if asynchronous else "OpenAI", self._settings)
        elif not asynchronous and not self._can_be_rebuilt(asynchronous=False):
            raise InvalidInput(NOT_FOR_SYNC)
        else:
            made = rebuilt(self._given, self._given_settings, asynchronous=asynchronous)
        if not self._retrying:
            made.max_retries = 0
        return made


def _check_client(client: Any, settings: Mapping[str, Any]) -> None:
    import openai  # noqa: PLC0415  heavy

    if not isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        raise InvalidInput(
            f"client must be an openai.OpenAI or an openai.AsyncOpenAI, got {type(client).__name__}; a model of another "
            "library is wrapped in a class with a method generate(ask)"
        )
    if settings:
        raise InvalidInput(
            f"client and {min(settings)} are both given, but a client has its own settings: leave {min(settings)} out, "
            "or give client=client.with_options(...)"
        )
