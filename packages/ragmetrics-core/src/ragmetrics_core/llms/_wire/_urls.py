"""The address of a server: checked before it is used, and in the one form that may be shown, without credentials and query."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from ..._kernel._errors import InvalidInput
from ..._support._secrets import conceal

OPENAI_URL = "https://api.openai.com/v1"


def bare_url(url: str) -> str:
    """Scheme, host, port and path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def is_of_this_machine(url: str) -> bool:
    """Whether an address is one of the loopback: a server of one's own, or a proxy."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def check_url(url: object, name: str = "base_url") -> None:
    """Refuse what is no address of a web server.

    Raises:
        InvalidInput: it is no text, does not start with http:// or https://, or has no possible host and port.
    """
    if not isinstance(url, str):
        raise InvalidInput(f"{name} must be the address of a server, got {type(url).__name__}")
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"{name} must start with http:// or https://{_as_shown(url)}")
    if any(character.isspace() or not character.isprintable() for character in url) or not _has_host(url):
        raise InvalidInput(
            f"{name} must be an address such as http://localhost:8000/v1: the host or port in it is none"
        )


def check_no_query(url: str, name: str = "base_url") -> None:
    """Refuse an address that goes on behind its path: what is added to it would become a part of the query.

    Raises:
        InvalidInput: it holds a query or a fragment.
    """
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise InvalidInput(f"{name} must end with the path, such as /v1: leave out what starts with ? or #")


def _as_shown(text: str) -> str:
    """What was given instead of an address, but only if it looks like one: it may be a key in the wrong place."""
    bare = conceal(re.split(r"[?#]", text.rpartition("@")[2])[0])
    return f", got {bare!r}" if re.match(r"localhost\b|[\w-]*[.:/]", bare) else ""


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets or a port that are none
        return False
