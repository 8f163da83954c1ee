"""The address of a server: checked before it is used, and in the one form that may be shown, without credentials and query.

Keys and other values that travel in a header, checked before anything is sent.

Strategy. The HTTP libraries find a bad character too late and quote the whole header in their error, key included. So whatever goes
into a header passes through here first, and the error names the place of the character instead of the value.

Settings as they may be shown and stored: what is secret in them is hidden, by name and by value.

Strategy. Parameters of the protocol may hold keys of other services (such as "on your data" of Azure in ``extra_body``). A text
below a name such as ``api_key`` is hidden, and so is a text that holds a known secret. Numbers are shown whatever
their name is: ``max_tokens`` is not a secret. What is stored as ``identity`` keeps a hash, so that another key is another identity.

One client per event loop, closed when its loop ends.

Strategy. The connections of an asynchronous client belong to the event loop that opened them, so every loop gets a client of its
own. It is closed when the loop shuts down: asyncio promises to finish every asynchronous generator that was started in a loop,
so each client lives inside one. It is closed earlier when it is no longer needed: at once where its loop runs, and with the loop
otherwise. The generator lives longer than the model, so the client is closed whenever the model is collected.
"""

from __future__ import annotations

import hashlib
import importlib.util
import ipaddress
import re
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from ..._support._secrets import MASKED, conceal, is_secret
from ..._values._errors import InvalidInput, MissingExtra, ModelError

if TYPE_CHECKING:
    import asyncio


def bare_url(url: str) -> str:
    """Return the scheme, host, port and path of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def is_of_this_machine(url: str) -> bool:
    """Whether an address is a loopback address: a local server or a proxy."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # the host is a name, not an IP address
        return host == "localhost"


def check_installed(package: str, extra: str) -> None:
    """Refuse a model whose package is missing. The package is not imported yet.

    Raises:
        MissingExtra: the package is not installed.
    """
    if importlib.util.find_spec(package) is None:
        name = package.replace("_", "-")
        raise MissingExtra(f'the {name} package is not installed: pip install "ragmetrics-core[{extra}]"')


def openai_package() -> Any:
    """Return the package openai, for whatever makes or takes a client.

    httpx is imported first: newer releases of openai look at a module httpx that another thread is still importing, and fail.
    """
    import httpx  # noqa: F401, PLC0415  heavy
    import openai  # noqa: PLC0415  heavy

    return openai


def check_model(model: object) -> None:
    """Refuse an invalid name of a model.

    Raises:
        InvalidInput: the name is not a text, or is blank.
    """
    if not isinstance(model, str) or not model.strip():
        raise InvalidInput(f"model must be the name of a model, got {model!r}")


def check_url(url: object, name: str = "base_url") -> None:
    """Refuse an invalid address of a web server. An address with a query or fragment is refused too, because the path is
    appended to it.

    Raises:
        InvalidInput: the address is not a text, does not start with http:// or https://, has no valid host and port, or has a
            query or a fragment.
    """
    if not isinstance(url, str):
        raise InvalidInput(f"{name} must be the address of a server, got {type(url).__name__}")
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"{name} must start with http:// or https://{_got(url)}")
    if any(character.isspace() or not character.isprintable() for character in url) or not _has_host(url):
        raise InvalidInput(
            f"{name} must be an address such as http://localhost:8000/v1, with a valid host and port{_got(url)}"
        )
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise InvalidInput(f"{name} must end with the path, such as /v1: leave out what starts with ? or #")


def _got(text: str) -> str:
    """Return the wrong address for the message, but only if it looks like an address; it may be a key in the wrong place."""
    bare = conceal(re.split(r"[?#]", text.rpartition("@")[2])[0])
    return f", got {bare!r}" if re.match(r"localhost\b|[\w-]*[.:/]", bare) else ""


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # invalid brackets or an invalid port
        return False


HOLDS_KEY = (
    "a model that was given a key or a client cannot be pickled, for the key would be written: leave api_key and client out and "
    "set the environment variable OPENAI_API_KEY, or make the model in the other process"
)

NO_HEADER_CHARACTER = re.compile(r"[^ -~]")


def tidy_key(key: object) -> str | None:
    """Strip the white space around a key, which files and shells add. Return None if nothing remains.

    Raises:
        InvalidInput: the key is not a text.
    """
    if key is not None and not isinstance(key, str):
        raise InvalidInput(f"api_key must be a str, got {type(key).__name__}")
    return (key or "").strip() or None


def check_header(what: str, value: object) -> None:
    """Refuse a text that cannot be the value of a header. Values of other types are not checked.

    Raises:
        ModelError: the text contains a character that is not printable ASCII, or white space at an end.
    """
    if not isinstance(value, str):
        return
    bad_character = NO_HEADER_CHARACTER.search(value)
    if bad_character is None and value == value.strip():
        return
    place = bad_character.start() if bad_character else 0 if value.startswith(" ") else len(value) - 1
    raise ModelError(
        f"{what} contains a character that is not allowed in a header "
        f"(position {place}): check that it was copied completely and alone",
        fatal=True,
    )


def shown(parameters: Mapping[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """Return the parameters for ``repr``, with every secret text replaced by ``***``."""
    known = tuple(secrets)
    return _hidden(parameters, lambda text, named: MASKED if named else conceal(text, known))


def hashed(parameters: Mapping[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """Return the parameters for ``identity``, with every secret text replaced by the beginning of its SHA-256."""
    known = tuple(secrets)

    def hide(text: str, named: bool) -> str:
        if not named and conceal(text, known) == text:
            return text
        return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    return _hidden(parameters, hide)


def _hidden(value: Any, hide: Callable[[str, bool], str], named: bool = False) -> Any:
    if isinstance(value, str):
        return hide(value, named) if value else value
    if isinstance(value, Mapping):
        return {name: _hidden(item, hide, named or is_secret(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item, hide, named) for item in value]
    return value


class Closable(Protocol):
    """A client that can be closed in its event loop."""

    async def close(self) -> None:
        """Close the connections."""
        ...


C = TypeVar("C", bound=Closable)


class PerLoop(Generic[C]):
    """Clients by event loop. Safe to use from several threads, each with its own loop."""

    def __init__(self) -> None:
        # each client, with the finalizer that closes it when this object is no longer needed
        self._kept: weakref.WeakKeyDictionary[Any, tuple[C, weakref.finalize[Any, Any]]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    async def here(self, make: Callable[[], C]) -> C:
        """Return the client of the running loop; make it if there is none yet."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        loop = asyncio.get_running_loop()
        client_of_loop = self._kept.get(loop)  # a loop runs in one thread, so no other thread can be making its client
        if client_of_loop is not None:
            return client_of_loop[0]
        with self._lock:
            for other in [reference() for reference in self._kept.keyrefs()]:
                if other is not None and other.is_closed():
                    self.forget(other)
            new_client = make()
            open_client = OpenClient(new_client, loop, weakref.ref(self))
            keeper = open_client.until_its_loop_ends()
            unneeded = weakref.finalize(self, open_client.close_soon, keeper)
            unneeded.atexit = False
            self._kept[loop] = (new_client, unneeded)
        # the first step registers the generator with the loop
        await anext(keeper)
        return new_client

    def forget(self, loop: asyncio.AbstractEventLoop) -> None:
        """Drop the client of a loop, because it is being closed or can never be closed."""
        if (kept := self._kept.pop(loop, None)) is not None:
            kept[1].detach()


class OpenClient(Generic[C]):
    """A client that can be closed from two places: when its event loop shuts down, or when its owner no longer needs it.
    Whichever comes first closes it; the other waits until it is closed.

    Args:
        client: the client.
        loop: its event loop.
        owner: the ``PerLoop`` (weakly referenced) that holds this client, and drops it when closing begins.
    """

    def __init__(self, client: C, loop: asyncio.AbstractEventLoop, owner: weakref.ref[PerLoop[C]]) -> None:
        self._client = client
        self._loop = loop
        self._owner = owner
        self._closing: asyncio.Task[None] | None = None

    async def until_its_loop_ends(self) -> AsyncGenerator[None, None]:
        """A generator that the loop finishes when it shuts down. Finishing it closes the client."""
        try:
            yield
        finally:
            await self._close()

    def close_soon(self, keeper: AsyncGenerator[None, None]) -> None:
        """Close the client because its owner no longer needs it. Works from any thread, and also if the loop is not running."""

        async def close() -> None:
            try:
                await self._close()
            finally:
                with suppress(RuntimeError):  # the loop is already shutting down and closes the generator itself
                    await keeper.aclose()

        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(lambda: _uncancelled(close(), self._loop))

    async def _close(self) -> None:
        """Close the client, or wait until it is closed."""
        if self._closing is None:
            # open connections refer to the loop, which is the key of the entry; the entry would keep itself alive
            if (owner := self._owner()) is not None:
                owner.forget(self._loop)
            del owner
            self._closing = _uncancelled(self._closed(), self._loop)
        await self._closing

    async def _closed(self) -> None:
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        await self._client.close()
        await asyncio.sleep(0)  # a closed transport releases its socket in the next step of the loop


def _uncancelled(work: Any, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
    """Start a task that the loop cannot cancel. A loop that shuts down cancels all its tasks, but waits for this one."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    class Uncancelled(asyncio.Task[None]):
        def cancel(self, msg: Any = None) -> bool:  # noqa: ARG002  of the base class
            return False

    return Uncancelled(work, loop=loop)
