"""Post JSON to a server with the standard library, for servers that are no models: sinks and the user's application."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..._support._secrets import mask
from ..._values._errors import InvalidInput, RagmetricsError
from ._connections import bare_url, check_url, is_of_this_machine

MOST_SHOWN = 10_000
"""The bytes of an error that are read."""


def check_address(name: str, url: object, *, has_key: bool) -> str:
    """Return the address of a server, without a slash at its end.

    Raises:
        InvalidInput: it is not an address, or a key would travel over a network without encryption.
    """
    check_url(url, name)
    address = bare_url(str(url))
    if has_key and address.startswith("http://") and not is_of_this_machine(address):
        raise InvalidInput(f"{name} must start with https://, because a key is sent there, got {address!r}")
    return address


def post_json(
    url: str,
    body: Any,
    headers: Mapping[str, str],
    *,
    to: str,
    secrets: Iterable[str],
    timeout: float | None,
    most: int,
) -> Any:
    """Send JSON to a server and return its answer. Redirects are not followed, since they could lead a key elsewhere.

    Args:
        url: the whole address.
        body: JSON values.
        headers: further headers.
        to: the name of the server in messages.
        secrets: texts that are never shown.
        timeout: seconds without a byte after which the server counts as dead; None: no limit.
        most: the largest number of bytes of its answer.

    Raises:
        RagmetricsError: the server cannot be reached, refuses the request, or gives an answer that is too long or no JSON.
    """
    from http.client import HTTPException  # noqa: PLC0415  costly to import
    from urllib.error import HTTPError, URLError  # noqa: PLC0415
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener  # noqa: PLC0415

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    direct = [ProxyHandler({})] if is_of_this_machine(url) else []
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    request = Request(url, data, {"Content-Type": "application/json", **headers}, method="POST")  # noqa: S310  checked
    try:
        with build_opener(Stay, *direct).open(request, timeout=timeout) as answer:
            text = answer.read(most + 1)
        if len(text) <= most:
            return json.loads(text)
        problem = f"gives an answer of more than {most:,} bytes"
    except HTTPError as error:
        with error:
            problem = f"answers {error.code}: {error.read(MOST_SHOWN).decode('utf-8', 'replace')}"
    except URLError as error:
        problem = f"cannot be reached: {error.reason}"
    except (OSError, HTTPException, RecursionError, ValueError) as error:
        problem = f"gives no valid answer: {type(error).__name__}: {error}"
    raise RagmetricsError(f"{to} {mask(' '.join(problem.split()), secrets)}")
