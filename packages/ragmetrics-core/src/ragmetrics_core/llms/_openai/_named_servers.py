"""The settings of a model on a named server, from the table of providers and the environment.

Strategy. There is no branch per server. Only Azure's older addresses also need Azure's client, because there the deployment is a
part of the path. A named server gets the key in its own variable and no other key; it never gets the key of OpenAI.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..._support._providers import OPENAI_URL, SERVERS, NamedServer, server_named
from ..._values._errors import InvalidInput, Setting
from .._wire._bounded import bounded_client
from .._wire._connections import bare_url, check_installed, check_url, tidy_key
from ._clients import NO_KEY

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  nothing is bound to it
"""Addresses that a server listens on, as ``OLLAMA_HOST`` may contain them, and the address where a client reaches it."""


def first_set(variables: Iterable[str]) -> str | None:
    """Return the first of the environment variables that is set and not empty."""
    return next((name for name in variables if os.environ.get(name, "").strip()), None)


def settings_of_server(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``OpenAILLM`` and ``OpenAIEmbeddings`` for a named server: ``base_url`` and ``key_variable``, or
    ``client``.

    Args:
        name: the name of the server in the table.
        given: the user's settings, which take precedence over the environment; ``api_version`` only for Azure.

    Raises:
        InvalidInput: the address or the key is missing, or the address is invalid. The message names everything that is missing.
        MissingExtra: the openai package is not installed.
    """
    server = SERVERS[name]
    settings = {key: value for key, value in given.items() if value is not None}
    _check_complete(server, name, settings)
    version = settings.pop("api_version", None) if server.version_variables else None
    version = version or _value(first_set(server.version_variables))
    base_url = _address(server, settings.pop("base_url", None))
    if version and not base_url.endswith("/v1"):
        return _with_client_of_azure(base_url.removesuffix("/openai"), version, settings)
    path, usual = urlsplit(base_url).path, urlsplit(server.url).path
    if usual.startswith(path):  # the path is empty or incomplete, such as /openai for Azure
        base_url = base_url.removesuffix(path) + usual
    key_variable = first_set(server.key_variables) or server.key_variables[0]
    return {"key_variable": key_variable, **settings, "base_url": base_url}


def address_of(provider: str, base_url: str | None) -> str:
    """Return the address, without credentials, of a model whose provider is ``openai`` or a named server.

    Raises:
        InvalidInput: see ``settings_of_server``.
        MissingExtra: the address is one of Azure's older ones, which need the openai package.
    """
    if (server := server_named(provider)) is not None:
        return bare_url(str(settings_of_server(server, {"base_url": base_url, "api_key": "none"})["base_url"]))
    url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    check_url(url)
    return bare_url(url)


def _value(variable: str | None) -> str:
    return os.environ.get(variable or "", "").strip()


def _check_complete(server: NamedServer, name: str, given: Mapping[str, Any]) -> None:
    """Refuse incomplete settings and name everything that is missing. A user's own address, such as a gateway, may need no key."""
    if given.get("base_url"):
        return
    missing: list[tuple[str, tuple[str, ...], str]] = []
    if server.url.startswith("/") and first_set(server.url_variables) is None:
        missing.append(("an address", server.url_variables, "base_url"))
    has_key = given.get("api_key") or given.get("key_variable") or first_set(server.key_variables)
    if server.region_variables and first_set((*server.url_variables, *server.region_variables)) is None:
        missing.append(("a region", server.region_variables, "base_url"))
    if server.needs_key and not has_key:
        missing.append(("a key", server.key_variables, "api_key"))
    if not missing:
        return
    parts: list[str | Setting] = []
    for what, variables, setting in missing:
        start = f"{' and ' if parts else ''}{what} (set the environment variable {' or '.join(variables)}"
        parts += [start, Setting(setting, ..., before=", or give "), ")"]
    problem = InvalidInput(f"the provider {name!r} needs ", *parts)
    problem.needs_key = True
    raise problem


def _address(server: NamedServer, given: object) -> str:
    """Return the address of the server as far as it is known, without a slash at the end."""
    if given:
        url, name = given, "base_url"
    elif variable := first_set(server.url_variables):
        url, name = _with_scheme(_value(variable), server), variable
    else:
        url, name = server.url.format(region=_value(first_set(server.region_variables))), "base_url"
    if server.version_variables and isinstance(url, str):
        # Azure's portal shows an address with the path of one deployment
        url = url.partition("/openai/deployments/")[0]
    check_url(url, name)
    return str(url).rstrip("/")


def _with_scheme(text: str, server: NamedServer) -> str:
    """Turn the value of a variable into a complete address. ``OLLAMA_HOST`` may also be ``0.0.0.0``, ``gpu-box`` or ``:11434``."""
    if "://" not in text:
        usual = urlsplit(server.url)
        host, slash, path = text.partition("/")
        host = f"127.0.0.1{host}" if host.startswith(":") else host
        if usual.port and not host.rpartition("]")[2].rpartition(":")[2].isdecimal():
            host += f":{usual.port}"
        text = f"{usual.scheme or 'https'}://{host}{slash}{path}"
    for listening, reached in EVERYWHERE.items():
        text = text.replace(f"://{listening}", f"://{reached}", 1)
    return text


def _with_client_of_azure(endpoint: str, version: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the settings that belong to a client by a client of Azure with these settings."""
    check_installed("openai", "openai")
    import openai  # noqa: PLC0415  heavy

    from_variable = _value(settings.pop("key_variable", "AZURE_OPENAI_API_KEY"))
    key = tidy_key(settings.pop("api_key", None)) or tidy_key(from_variable)
    token = tidy_key(_value("AZURE_OPENAI_AD_TOKEN"))
    of_client = {name: settings.pop(name) for name in ("timeout", "max_retries") if name in settings}
    client = openai.AzureOpenAI(
        azure_endpoint=endpoint,
        api_version=version,
        api_key=key or (None if token else NO_KEY),
        azure_ad_token=token,
        http_client=bounded_client(openai.DefaultHttpxClient),
        **of_client,
    )
    return {**settings, "client": client}
