"""The viewer as a process that listens: bytes on a socket, pages that follow a run, Ctrl-C, and what it prints."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from waiting import PATIENCE

TOO_LONG = b"Content-Length: 99999999\r\n\r\n"
TOKEN = "0123456789abcdef-token"


class Serving:
    """A process of ``ragmetrics view``."""

    def __init__(self, folder: Path, *options: str, token: str | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "RAGMETRICS_VIEW_TOKEN"}
        if token is not None:
            environment["RAGMETRICS_VIEW_TOKEN"] = token
        command = [sys.executable, "-m", "ragmetrics_core", "view", str(folder), "--port", "0", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/ ", self.said)
        assert found is not None, self.said
        self.port = int(found[1])

    def get(self, place: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", place, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def keys(self) -> list[str]:
        """The keys of the runs in the list."""
        return list(dict.fromkeys(re.findall(r"/run/([0-9a-f]{12})/", self.get("/")[1])))

    def post(self, place: str, body: Any) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"origin": f"http://127.0.0.1:{self.port}", "content-type": "application/json"}
            connection.request("POST", place, json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def event(self, place: str) -> dict[str, Any]:
        """The first event there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", place)
            found: dict[str, Any] = json.loads(connection.getresponse().readline().removeprefix(b"data: "))
            return found
        finally:
            connection.close()

    def send(self, data: bytes) -> bytes:
        """The head of what comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            found = b""
            while b"\r\n\r\n" not in found and (part := connection.recv(65_536)):
                found += part
            return found

    def end(self) -> tuple[int, str, str]:
        """Its exit status and what it printed, after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, self.said + err


@contextmanager
def serving(folder: Path, *options: str, token: str | None = None) -> Iterator[Serving]:
    found = Serving(folder, *options, token=token)
    try:
        yield found
    finally:
        found.process.kill()
        found.process.communicate()


@pytest.mark.usefixtures("interruptible")
def test_it_ends_at_ctrl_c_with_pages_open_and_has_logged_no_token(runs: Path) -> None:
    with serving(runs, token=TOKEN) as server:
        assert server.get("/")[0] == 403
        status, _, headers = server.get(f"/?token={TOKEN}")
        assert status == 200
        cookie = headers["set-cookie"].partition(";")[0]
        assert server.get("/?token=wrong-token-of-some-length", cookie=cookie)[0] == 403
        assert server.get("/", cookie=cookie)[0] == 200
        following = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        following.request("GET", "/events", headers={"cookie": cookie})
        assert following.getresponse().readline().startswith(b'data: {"state": ')
        status, out, err = server.end()
        following.close()
    name = f"http://127.0.0.1:{server.port}/ shows the runs in {runs}"
    said = f"{name} to those who add ?token= and RAGMETRICS_VIEW_TOKEN\nragmetrics: stopped\n"
    assert (status, out, err) == (130, "", said)


@pytest.fixture(scope="module")
def server(runs: Path) -> Iterator[Serving]:
    with serving(runs) as found:
        yield found


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: {here}\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (
            b"GET / HTTP/1.1\r\nHost: {here}\r\nX-Forwarded-Host: evil.example\r\nOrigin: http://evil.example\r\n\r\n",
            403,
        ),
        (b"GET /%0d%0aset-cookie:%20a=b HTTP/1.1\r\nHost: {here}\r\n\r\n", 404),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: {here}\r\n\r\n", 404),
        (b"GET //etc/passwd HTTP/1.1\r\nHost: {here}\r\n\r\n", 404),
        (b"GET /run/..%2f..%2fetc/ HTTP/1.1\r\nHost: {here}\r\n\r\n", 404),
        (b"GET /\x00 HTTP/1.1\r\nHost: {here}\r\n\r\n", 400),
        (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: {here}\r\n\r\n", 405),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: {here}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 200),
        (b"POST / HTTP/1.1\r\nHost: {here}\r\nContent-Length: 99999999\r\n\r\n", 403),
        (
            b"POST / HTTP/1.1\r\nHost: {here}\r\nOrigin: http://{here}\r\nContent-Type: application/json\r\n"
            + TOO_LONG,
            413,
        ),
    ],
)
def test_bytes_that_no_browser_sends(server: Serving, data: bytes, status: int) -> None:
    found = server.send(data.replace(b"{here}", f"127.0.0.1:{server.port}".encode()))
    assert found.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"root:" not in found
    assert b"\r\nset-cookie" not in found
    assert b"\r\nserver:" not in found


def test_so_many_pages_can_follow_and_no_more(server: Serving) -> None:
    open_pages = []
    for _ in range(24):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("GET", "/events")
        response = connection.getresponse()
        assert (response.status, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert json.loads(response.readline().removeprefix(b"data: ")).keys() == {"state"}
        open_pages.append(connection)
    assert server.get("/events")[:2] == (503, "Too many pages are open.\n")
    assert server.get("/")[0] == 200
    for connection in open_pages:
        connection.close()


def test_only_this_machine_reaches_it(server: Serving) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        assert connection.connect_ex(("127.0.0.2", server.port)) != 0


def test_a_port_that_is_taken(server: Serving, runs: Path) -> None:
    command = [sys.executable, "-m", "ragmetrics_core", "view", str(runs), "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"ragmetrics: --port {server.port} at 127.0.0.1 cannot be used: Address already in use: give another one\n"
    )


def test_a_run_that_goes_on_tells_how_far_it_is(runs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    account = json.loads((runs / "new" / "run.json").read_text())
    begun = {name: account[name] for name in account if name not in ("scores", "stopped", "models", "seconds")}
    (run / "run.json").write_text(json.dumps(begun))
    (run / ".ragmetrics.lock").write_text("{}")
    lines = (runs / "new" / "scores.jsonl").read_text().splitlines(keepends=True)
    (run / "scores.jsonl").write_text(lines[0] + lines[3][:50])
    with serving(tmp_path) as server:
        _check_progress(server, run, lines)


def _check_progress(server: Serving, run: Path, lines: list[str]) -> None:
    text = server.get("/")[1]
    assert 'class="going-on"> going on<' in text
    (key,) = set(re.findall(r"/run/([0-9a-f]{12})/", text))
    assert server.event(f"/run/{key}/events") == {
        "rows": 1,
        "means": {"exact_match": 1.0, "token_f1": 1.0},
        "going_on": True,
        "ready": False,
    }
    (run / "scores.jsonl").write_text("".join([lines[0], lines[3], lines[1], lines[3]]))
    event = server.event(f"/run/{key}/events")
    assert (event["rows"], event["means"]["exact_match"]) == (3, 2 / 3)
    (run / ".ragmetrics.lock").unlink()
    assert server.event(f"/run/{key}/events")["going_on"] is False
