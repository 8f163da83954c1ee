"""What is installed, set and running here: what a report of a bug should say, and never the value of a variable."""

from __future__ import annotations

import os
import platform
import socket
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

from .._support._secrets import conceal
from ..llms._openai._named_servers import SERVERS

EXTRAS = {
    "openai": "openai",
    "server": "aiohttp",
    "sentence-transformers": "sentence-transformers",
    "pandas": "pandas",
    "excel": "openpyxl",
    "parquet": "pyarrow",
    "documents": "pypdf",
    "prices": "genai-prices",
}
"""The package that each extra is for."""

OTHERS = (
    "pydantic",
    "typer",
    "ragmetrics-langchain",
    "ragmetrics-llama-index",
    "ragmetrics-haystack",
    "ragmetrics-pytest",
)
KNOCKING = 0.3
"""Seconds to wait for a port of this machine: one that listens answers at once."""


def environment() -> dict[str, Any]:
    """Versions, extras, variables (whether they are set) and servers of this machine that listen where they usually do."""
    return {
        "versions": {
            "ragmetrics-core": _version("ragmetrics-core"),
            "python": platform.python_version(),
            "system": conceal(platform.platform()),
            **{name: found for name in OTHERS if (found := _version(name))},
        },
        "extras": {extra: _version(package) for extra, package in EXTRAS.items()},
        "variables": {name: bool(os.environ.get(name, "").strip()) for name in _variables()},
        "listening": {name: url for name, server in SERVERS.items() if (url := _listening(server.url))},
    }


def _variables() -> list[str]:
    found = ["OPENAI_API_KEY", "OPENAI_BASE_URL"]
    for server in SERVERS.values():
        found += [*server.url_variables, *server.key_variables, *server.version_variables]
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _listening(url: str) -> str | None:
    """The address, if it is one of this machine and something listens there."""
    parts = urlsplit(url)
    if parts.hostname != "localhost" or parts.port is None:
        return None
    try:
        with socket.create_connection(("127.0.0.1", parts.port), timeout=KNOCKING):
            return url
    except OSError:
        return None
