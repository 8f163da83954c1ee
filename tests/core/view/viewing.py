"""The application of ``ragmetrics view``, taken from the command before it listens."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from httpx import Response
from starlette.testclient import TestClient
from typer.testing import CliRunner, Result

from ragmetrics_core.cli import app
from waiting import until

ADDRESS = re.compile(r"http://\S+:(\d+)/")


@dataclass
class Viewing:
    """A viewer that answers without a network.

    Attributes:
        client: sends requests to it, from its own address.
        port: the port that it was given.
        result: what the command has printed.
    """

    client: TestClient
    port: int
    result: Result


def viewing(folder: Path, *options: str, token: str | None = None, port: str = "0") -> Viewing:
    """Start ``ragmetrics view`` up to where it would wait for requests."""
    taken: list[Any] = []

    def run(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        assert len(sockets) == 1
        taken.append(server.config.app)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "run", run)
        patch.delenv("RAGMETRICS_VIEW_TOKEN", raising=False)
        if token is not None:
            patch.setenv("RAGMETRICS_VIEW_TOKEN", token)
        result = CliRunner().invoke(app, ["view", str(folder), "--port", port, *options])
    assert result.exit_code == 0, result.output
    found = ADDRESS.search(result.stderr)
    assert found is not None
    client = TestClient(taken[0], base_url=f"http://127.0.0.1:{found[1]}", follow_redirects=False)
    return Viewing(client, int(found[1]), result)


def refused(folder: Path, *options: str, token: str | None = None) -> tuple[int, str]:
    """The exit status and the message of a viewer that does not start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAGMETRICS_VIEW_TOKEN", raising=False)
        if token is not None:
            patch.setenv("RAGMETRICS_VIEW_TOKEN", token)
        result = CliRunner().invoke(app, ["view", str(folder), *options])
    return result.exit_code, result.stderr


def keys(viewing: Viewing) -> list[str]:
    """The keys of the runs in the list, the latest first."""
    return list(dict.fromkeys(re.findall(r'data-run="([0-9a-f]{12})"', viewing.client.get("/").text)))


def text_of(viewing: Viewing, place: str = "/") -> str:
    """A page, once everything on it is read."""
    found: list[str] = []

    def is_read() -> bool:
        found.append(viewing.client.get(place).text)
        return "being read \u2026" not in found[-1] and "are being compared" not in found[-1]

    assert until(is_read)
    return found[-1]


def asked(viewing: Viewing, page: str, what: str) -> Response:
    """What the viewer answers to a page when it asks for its index, or for the evidence of some rows."""
    version = re.search(r'id="served">(\w+)', text_of(viewing, page))
    assert version is not None
    return viewing.client.get(f"{page}{what}?v={version[1]}")
