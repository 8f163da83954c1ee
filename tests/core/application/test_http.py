"""Applications behind an address: what they are sent, what they may answer, and what a server that fails does to its row."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from loopback import ODD_ANSWERS, OpenAIServer, Response
from ragmetrics_core import InvalidInput, ModelError, Sample, run_app

KEY = "internal-4711-abcdef"
ROWS = [{"question": "Where?", "id": "a"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with OpenAIServer() as running:
        answer(running, {"response": "Paris", "retrieved_contexts": ["It stands in Paris."], "model": "m1"})
        yield running


def answer(server: OpenAIServer, body: Any, **more: Any) -> None:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    server.refusal_of = lambda request: Response(body=text, **more)


def ask(address: str, **options: Any) -> Sample:
    (row,) = run_app(address, ROWS, **options)
    return row


def test_a_question_is_posted_and_its_answer_is_read(server: OpenAIServer) -> None:
    row = ask(f"{server.origin}/ask/")
    (request,) = server.requests
    assert (request.path, request.body) == ("/ask/", {"user_input": "Where?"})
    assert request.headers["content-type"] == "application/json"
    assert (row.response, row.retrieved_contexts) == ("Paris", ["It stands in Paris."])
    assert (row.metadata["app_name"], row.metadata["model"]) == (f"{server.origin}/ask/", "m1")


def test_other_shapes(server: OpenAIServer) -> None:
    answer(server, {"output": {"text": "Paris", "hits": [{"body": "c1"}, {"body": "c2"}]}})
    rows = [{"prompt": "And when?", "history": [{"role": "user", "content": "Where?"}]}]
    (row,) = run_app(
        server.origin,
        rows,
        columns={"question": "prompt", "answer": "output.text", "contexts": "output.hits.body"},
        send="input.question",
    )
    assert server.requests[0].body == {"input": {"question": "And when?", "history": rows[0]["history"]}}
    assert (row.response, row.retrieved_contexts) == ("Paris", ["c1", "c2"])


def test_a_json_text_is_the_response(server: OpenAIServer) -> None:
    answer(server, '"Paris"')
    assert ask(server.origin).response == "Paris"


def test_headers_come_from_a_variable_and_are_never_shown(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_HEADERS", f"Authorization: Bearer {KEY}\nX-Tenant: acme-tenant")
    ask(server.origin, headers_from="MY_HEADERS")
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-tenant"]) == (f"Bearer {KEY}", "acme-tenant")
    answer(server, f"the key {KEY} is refused", status=401)
    row = ask(server.origin, headers_from="MY_HEADERS", out=tmp_path / "answers.jsonl")
    assert row.metadata["app_error"] == f"{server.origin} answers 401: the key *** is refused"
    assert KEY not in (tmp_path / "answers.jsonl").read_text()


BAD_CHARACTER = (
    "line 1 of MY_HEADERS contains a character that is not allowed in a header (position 20): check that it was copied "
    "completely and alone"
)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "headers_from='MY_HEADERS': this environment variable is not set"),
        (
            f"Bearer {KEY}",
            "headers_from='MY_HEADERS': line 1 of this environment variable is no header: write Name: value",
        ),
        (
            f"A: 1\n: {KEY}",
            "headers_from='MY_HEADERS': line 2 of this environment variable is no header: write Name: value",
        ),
        (
            f"A: {KEY}\u2026",
            BAD_CHARACTER,
        ),
    ],
)
def test_headers_that_cannot_be_sent(value: str | None, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_HEADERS", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_HEADERS", value)
    with pytest.raises((InvalidInput, ModelError)) as raised:
        ask("http://localhost:1", headers_from="MY_HEADERS")
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("ftp://host/x", {}, "app must start with http:// or https://, got 'ftp://host/x'"),
        (
            "http://",
            {},
            "app must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://'",
        ),
        ("http://host/?key=1", {}, "app must end with the path, such as /v1: leave out what starts with ? or #"),
        (
            "http://me:secret-4711@host/x",
            {},
            "app must have no password in it, got 'http://host/x': give it in headers_from=...",
        ),
        (
            "http://host/x",
            {"headers_from": "MY_HEADERS"},
            "app must start with https://, because a key is sent there, got 'http://host/x'",
        ),
        ("json:loads", {"send": "input"}, "send='input' only applies to the address of a server: leave it out"),
        (
            "json:loads",
            {"headers_from": "MY_HEADERS"},
            "headers_from='MY_HEADERS' only applies to the address of a server: leave it out",
        ),
    ],
)
def test_addresses_that_are_refused(address: str, options: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_HEADERS", f"Authorization: Bearer {KEY}")
    with pytest.raises(InvalidInput) as raised:
        ask(address, **options)
    assert str(raised.value) == message


NOTHING = "there is no response and nothing retrieved"
OTHER_TYPE = "it returned a value of type {}: return a text"


@pytest.mark.parametrize(
    ("body", "more", "message"),
    [
        ("boom", {"status": 500}, "answers 500: boom"),
        ('{"detail": "user_input is missing"}', {"status": 422}, 'answers 422: {"detail": "user_input is missing"}'),
        ("moved", {"status": 307, "headers": {"Location": "http://127.0.0.1:1/"}}, "answers 307: moved"),
        (b'{"response": "\xff"}', {}, "gives no valid answer: UnicodeDecodeError: "),
        (b"", {}, "gives no valid answer: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("<html>login</html>", {}, "gives no valid answer: JSONDecodeError: "),
        ("[" * 100_000, {}, "gives no valid answer: "),
        ("", {"reset": True}, "gives no valid answer: "),
    ],
)  # fmt: skip
def test_failures_of_a_server_are_results_of_their_rows(
    server: OpenAIServer, body: Any, more: Any, message: str
) -> None:
    answer(server, body, **more)
    assert ask(server.origin).metadata["app_error"].startswith(f"{server.origin} {message}")


@pytest.mark.parametrize("name", [name for name in ODD_ANSWERS if name != '"ok"'])
def test_no_odd_answer_ends_the_run(server: OpenAIServer, name: str) -> None:
    server.refusal_of = lambda request: ODD_ANSWERS[name]
    row = ask(server.origin)
    assert row.response is None
    assert row.metadata["app_error"]


@contextmanager
def raw(*pieces: bytes, hangs: bool = False, trickle: bytes = b"") -> Iterator[str]:
    """A server that writes these bytes to one client and closes the connection, or keeps it open, or goes on for ever."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)
                while trickle and not over.wait(0.02):
                    connection.sendall(trickle)
                if hangs:
                    over.wait(30)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ((OK, b"Content-Length: 100\r\n\r\n", b'{"response": "Par'), "JSONDecodeError"),
        ((CHUNKED, b"11\r\n", b'{"response": "Par'), "IncompleteRead"),
        ((CHUNKED, b"zz\r\n", b'{"response": "Par'), "IncompleteRead"),
        ((b"no http\r\n\r\n",), "BadStatusLine"),
        ((b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000 + b"\r\n",), "HTTPException"),
        ((), "RemoteDisconnected"),
    ],
)
def test_answers_that_are_cut_or_no_http(pieces: tuple[bytes, ...], message: str) -> None:
    with raw(*pieces) as address:
        error = ask(address).metadata["app_error"]
    assert error.startswith(
        (f"{address} gives no valid answer: {message}", f"{address} gives no valid answer: Connection")
    )


@pytest.mark.parametrize("pieces", [(), (OK,), (CHUNKED, b"11\r\n")])
def test_a_server_that_hangs_fails_its_row_in_time(pieces: tuple[bytes, ...]) -> None:
    with raw(*pieces, hangs=True) as address:
        row = ask(address, timeout=0.3)
    assert row.metadata["app_error"] in (
        "no answer within 0.3 seconds",
        f"{address} gives no valid answer: TimeoutError: timed out",
    )


def test_an_answer_that_trickles_fails_its_row_in_time() -> None:
    with raw(OK, b'Content-Length: 90000000\r\n\r\n{"response": "', trickle=b"x") as address:
        row = ask(address, timeout=0.3)
    assert row.metadata["app_error"] == "no answer within 0.3 seconds"


def test_a_server_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert ask(address).metadata["app_error"].startswith(f"{address} cannot be reached: ")


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"response": "' + b"x" * (65 * 2**20)
    with raw(OK, b"Content-Length: 90000000\r\n\r\n", body, hangs=True) as address:
        error = ask(address).metadata["app_error"]
    assert error == f"{address} gives an answer of more than 67,108,864 bytes"


def test_the_command_asks_an_address(server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_HEADERS", f"Authorization: Bearer {KEY}")
    answer(server, {"result": {"text": "Paris"}})
    Path("q.jsonl").write_text('{"question": "Where?", "reference": "Paris"}\n')
    result = call(
        "run", server.origin, "q.jsonl", "--send", "question", "--headers-from", "MY_HEADERS", "--map", "answer=result.text",
        "-m", "exact_match", "--out", "answers.jsonl",
    )  # fmt: skip
    assert (result.exit_code, result.stderr) == (0, "")
    assert "exact_match  1.000  1 of 1" in result.stdout
    (request,) = server.requests
    assert (request.body, request.headers["authorization"]) == ({"question": "Where?"}, f"Bearer {KEY}")
