"""The clients of a provider's package: made at the first call, one for synchronous calls and one for each event loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..._support._providers import SERVERS, NamedServer
from ..._values._errors import ModelError, Setting
from ..._values._settings import check_seconds, check_whole
from .._wire._connections import bare_url, check_header, check_installed, check_url, tidy_key
from .._wire._package_model import KeptClients

RETRIES = 2
"""How often a failed call is made again, as often as by other clients."""


class Make(Protocol):
    """Makes a client of a package."""

    def __call__(self, *, asynchronous: bool, base_url: str, key: str, timeout: float, retries: int) -> Any:
        """Return the client."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """A provider with a package.

    Attributes:
        name: its name in messages.
        package: the name of the package.
        extra: the extra that installs the package, and the name of the provider in the table of providers.
        load: imports the package.
        make: makes a client.
        suffixes: what other clients have at the end of the address, and this one has not; the longest first.
        defaults: the parameters that are sent if the user sets none.
    """

    name: str
    package: str
    extra: str
    load: Callable[[], Any]
    make: Make
    suffixes: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def provider(self) -> NamedServer:
        """Its row in the table of providers."""
        return SERVERS[self.extra]

    def address(self, url: str) -> str:
        """Return an address as the package takes it."""
        url = url.rstrip("/")
        return next((url.removesuffix(end) for end in self.suffixes if url.endswith(end)), url)


class NativeClients(KeptClients):
    """The clients of a service.

    Args:
        service: the provider.
        settings: base_url, api_key, timeout in seconds, max_retries and key_variable; None: not given.

    Raises:
        InvalidInput: a setting is impossible.
        MissingExtra: the package is not installed.
    """

    def __init__(self, service: Service, settings: Mapping[str, Any]) -> None:
        check_installed(service.package, service.extra)
        self._service = service
        self._key = tidy_key(settings.get("api_key"))
        self._variables = (
            (settings["key_variable"],) if settings.get("key_variable") else service.provider.key_variables
        )
        self._timeout = 600.0 if settings.get("timeout") is None else settings["timeout"]
        check_seconds("timeout", self._timeout)
        self._retries = RETRIES if settings.get("max_retries") is None else settings["max_retries"]
        check_whole("max_retries", self._retries, least=0)
        given, variable = settings.get("base_url"), service.provider.url_variables[0]
        url = given or os.environ.get(variable, "").strip() or service.provider.url
        check_url(url, "base_url" if given else variable)
        self._url = service.address(url)
        self._forget_connections()

    @property
    def key_variable(self) -> str:
        """The environment variable of the key, for messages."""
        return self._variables[0]

    @property
    def _holds_key(self) -> bool:
        return self._key is not None or urlsplit(self._url).username is not None

    def _load(self) -> None:
        self._service.load()

    @property
    def base_url(self) -> str:
        """The address of the server, without credentials and query."""
        return bare_url(self._url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must never be shown."""
        found = [self._key, urlsplit(self._url).password]
        found += [os.environ.get(name, "").strip() for name in self._variables]
        return tuple({text for text in found if text})

    @property
    def protocol(self) -> tuple[str, str]:
        """The name of the protocol, and what to check if the server does not follow it."""
        return self._service.name, f"is a server of {self._service.name} at this address?"

    def _new(self, *, asynchronous: bool) -> Any:
        key = self._key or next(filter(None, (tidy_key(os.environ.get(name)) for name in self._variables)), None)
        if key is None:
            said = f"no API key for {self._service.name}: set the environment variable {' or '.join(self._variables)}"
            problem = ModelError(said, Setting("api_key", ..., before=", or give "), fatal=True)
            problem.needs_key = True
            raise problem
        check_header("the API key", key)
        return self._service.make(
            asynchronous=asynchronous,
            base_url=self._url,
            key=key,
            timeout=self._timeout,
            retries=self._retries * self._retrying,
        )
