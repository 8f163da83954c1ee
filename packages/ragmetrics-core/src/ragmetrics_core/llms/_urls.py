"""The address of a server, in the one form that may be shown: without credentials and query."""

from __future__ import annotations

from urllib.parse import urlsplit

from .._errors import InvalidInput

__all__ = ["OPENAI_URL", "bare_url", "check_url"]

OPENAI_URL = "https://api.openai.com/v1"


def bare_url(url: str) -> str:
    """Scheme, host, port and path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def check_url(url: str) -> None:
    """Refuse what is no address of a web server.

    Raises:
        InvalidInput: it does not start with http:// or https://.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"base_url must start with http:// or https://, got {url.rpartition('@')[2]!r}")
