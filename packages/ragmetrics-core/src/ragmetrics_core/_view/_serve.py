"""Run the viewer: where it listens, whom it answers, and how it ends."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn

from .._values._errors import InvalidInput
from ._app import Say, Viewer
from ._guard import LEAST_TOKEN, Guard
from ._library import Library

VARIABLE = "RAGMETRICS_VIEW_TOKEN"
LOOPBACK = "127.0.0.1"

MOST_CONNECTIONS = 100


def serve(folder: Path, host: str | None, port: int, say: Say, opened: Callable[[str], object] | None = None) -> None:
    """Serve the runs in a folder until Ctrl-C.

    Args:
        folder: the folder.
        host: the address or name to listen at; None: this machine only.
        port: the port; 0: any free one.
        say: shows a line to the person at the terminal.
        opened: gets the address when the server listens.

    Raises:
        InvalidInput: there is no such folder, the token is missing or too short, or the address cannot be used.
        KeyboardInterrupt: at Ctrl-C.
    """
    token = _token(host)
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not a directory: give a folder of runs")
    with _listening(host or LOOPBACK, port) as listener:
        port = listener.getsockname()[1]
        viewer = Viewer(Library(Path(os.path.realpath(folder))), say)
        guard = Guard(viewer.app(), set(_hosts(host, port)), token, f"ragmetrics-{port}")
        address = f"http://{_in_address(host or LOOPBACK)}:{port}/"
        say(f"{address} shows the runs in {folder}" + (f" to those who add ?token= and {VARIABLE}" if token else ""))
        if opened is not None:
            opened(address)
        _Server(uvicorn.Config(guard, **SETTINGS), viewer).run([listener])


# No log has an address of a request: it may hold the token. Headers of proxies are not believed.
SETTINGS: dict[str, Any] = {
    "access_log": False,
    "h11_max_incomplete_event_size": 16_384,
    "http": "h11",
    "lifespan": "off",
    "limit_concurrency": MOST_CONNECTIONS,
    "log_config": None,
    "log_level": "critical",
    "proxy_headers": False,
    "server_header": False,
    "timeout_graceful_shutdown": 1,
    "ws": "none",
}


class _Server(uvicorn.Server):
    """A server whose pages stop following their runs when it ends."""

    def __init__(self, config: uvicorn.Config, viewer: Viewer) -> None:
        super().__init__(config)
        self._viewer = viewer

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, at Ctrl-C."""
        self._viewer.ending = True
        await super().shutdown(sockets)


def _token(host: str | None) -> str | None:
    """Return the token that requests need; None: they need none.

    Raises:
        InvalidInput: it is missing or too short.
    """
    token = os.environ.get(VARIABLE)
    if token is None and host is None:
        return None
    if token is None:
        raise InvalidInput(f"--host lets other machines in, so a token is needed: set {VARIABLE} to a secret text")
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        why = f"{VARIABLE} must have at least {LEAST_TOKEN} letters, digits or signs, without spaces"
        raise InvalidInput(f'{why}: python -c "import secrets; print(secrets.token_urlsafe())" makes one')
    return token


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InvalidInput(f"--host {host} cannot be used: {error.strerror}") from None
    try:
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InvalidInput(f"--port {port} at {host} cannot be used: {error.strerror}: give another one") from None
    return listener


def _hosts(host: str | None, port: int) -> Iterator[str]:
    """Yield the values of ``Host`` that are answered."""
    names = [LOOPBACK, "localhost", "::1"]
    if host is not None:
        names.append(host)
        try:
            everywhere = ipaddress.ip_address(host).is_unspecified
        except ValueError:  # a name
            everywhere = False
        if everywhere:
            own = socket.gethostname()
            names += [own, socket.getfqdn(), *_addresses(own)]
    for name in names:
        yield f"{_in_address(name)}:{port}".lower()
        if port == 80:
            yield _in_address(name).lower()


def _addresses(name: str) -> list[str]:
    try:
        return [str(item[4][0]) for item in socket.getaddrinfo(name, None)]
    except OSError:  # the machine does not know its own name
        return []


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
