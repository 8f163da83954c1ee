"""What stands between the network and the viewer: every request passes here before any other code sees it.

The pages show texts of customers and models, so only the user's own browser may read them. Other pages in that browser can send
requests too, and make a name of theirs lead to this machine (DNS rebinding). So the ``Host`` must be the one that is served, an
``Origin`` must be the same, and the cookie is never sent with a request from elsewhere (``SameSite=Strict``).

The token comes in the address once. It is exchanged for a cookie with a random value of this process, so neither the history of
the browser nor the cookie holds the token longer than needed. The page that sets the cookie goes on by itself, instead of a
redirect: browsers count a redirect as part of the visit that another site began, and would not send the cookie.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from .._values._tags import shown

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 200_000
"""The largest body of a request, in bytes."""

LONGEST_ADDRESS = 2_000
"""The largest number of characters of a path with its query."""

LEAST_TOKEN = 16
"""The smallest number of characters of a token."""

HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

POLICY = "content-security-policy"
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""The policy of an answer that is no page."""

NO_ENTRANCE = "This viewer needs its token: open the address that it printed with ?token= and the value of RAGMETRICS_VIEW_TOKEN.\n"


@dataclass(frozen=True)
class Refusal:
    """An answer that refuses a request."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = ()


class TooLarge(Exception):
    """A body is longer than it may be; the application answers with ``TOO_LARGE``."""


class Guard:
    """Refuses requests, and adds the headers that keep answers where they belong.

    Args:
        app: what answers the requests that pass.
        hosts: the values of ``Host`` that are answered, in lower case, with the port.
        token: what the address must hold once; None: nothing.
        cookie: the name of the cookie; cookies do not know ports, so two viewers need two names.
    """

    def __init__(self, app: App, hosts: Collection[str], token: str | None, cookie: str) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._token = token
        self._cookie = cookie
        self._session = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # there are no web sockets here
            return
        sending = _with_headers(send)
        refusal = self._refusal(scope) or self._entrance(scope)
        if refusal is not None:
            await _answer(refusal, sending)
            return
        await self._app(scope, _limited(receive), sending)

    def _refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused before its token is looked at; None if it is not."""
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refusal(421, "This address is not served here.\n")
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return Refusal(403, "Requests from other pages are refused.\n")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(405, "There is nothing that can be done so.\n", (("allow", "GET, HEAD, POST"),))
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            return Refusal(414, "The address is too long.\n")
        if scope["method"] == "POST":
            return _refused_post(scope, origins)
        return None

    def _entrance(self, scope: Scope) -> Refusal | None:
        """Exchange the token for the cookie, or look for the cookie; None if the request may pass."""
        if self._token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if given := [value for name, value in query if name == "token"]:
            if len(given) > 1 or not _equal(given[0], self._token):
                return Refusal(403, "The token is wrong.\n")
            return self._entered(scope["path"], [item for item in query if item[0] != "token"])
        cookies = (part.strip().partition("=") for value in _values(scope, b"cookie") for part in value.split(";"))
        if any(name == self._cookie and _equal(value, self._session) for name, _, value in cookies):
            return None
        return Refusal(403, NO_ENTRANCE)

    def _entered(self, path: str, query: list[tuple[str, str]]) -> Refusal:
        """Return the page that sets the cookie and goes on without the token."""
        # one slash: two would begin the name of another server
        target = "/" + quote(path.lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")
        page = f'<!doctype html><meta http-equiv="refresh" content="0;url={shown(target)}"><title>ragmetrics</title>'
        cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        return Refusal(
            200, page, (("set-cookie", cookie), ("content-type", "text/html; charset=utf-8"), (POLICY, ENTERING))
        )


ENTERING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
TOO_LARGE = Refusal(413, f"The request is longer than {MOST_BODY:,} bytes.\n")


def _refused_post(scope: Scope, origins: list[str]) -> Refusal | None:
    lengths = _values(scope, b"content-length")
    if len(origins) != 1:
        return Refusal(403, "Changes must come from a page of this viewer.\n")
    if [value.partition(";")[0].strip().lower() for value in _values(scope, b"content-type")] != ["application/json"]:
        return Refusal(415, "A change must be JSON.\n")
    if any(not value.isdecimal() or len(value) > 12 or int(value) > MOST_BODY for value in lengths):
        return TOO_LARGE
    return None


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _equal(given: str, wanted: str) -> bool:
    """Compare secrets in a time that tells nothing of them, not even their length."""
    digests = (sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, wanted))
    return hmac.compare_digest(*digests)


def _limited(receive: Receive) -> Receive:
    """Count the bytes of a body; it need not say how long it is."""
    read = 0

    async def receive_part() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BODY:
            raise TooLarge
        return message

    return receive_part


def _with_headers(send: Send) -> Send:
    """Add the headers of every answer; its own win."""

    async def send_part(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.decode("latin-1").lower() for name, _ in message.get("headers", ())}
            added = ((name, value) for name, value in {**HEADERS, POLICY: NOTHING}.items() if name not in own)
            message["headers"] = [
                *message.get("headers", ()),
                *((name.encode(), value.encode()) for name, value in added),
            ]
        await send(message)

    return send_part


async def _answer(refusal: Refusal, send: Send) -> None:
    body = refusal.text.encode()
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **dict(refusal.headers)}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
