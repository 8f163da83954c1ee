"""Every failure of OpenAIServerLLM: the same words as OpenAILLM's, the same facts, and no secret anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import re
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from loopback import OpenAIServer, Response, error, rate_limited, server_error
from ragmetrics_core import Ask, BadReply, ModelError
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM


def failure(llm: Any, question: Ask) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asyncio.run(llm.agenerate(question))
    assert caught.value.__cause__ is caught.value.__context__ is None  # aiohttp's exceptions know the request
    return caught.value


@pytest.fixture
def llm(server: OpenAIServer, key: str) -> OpenAIServerLLM:
    return OpenAIServerLLM(server.base_url, "judge", api_key=key)


SAME = [
    error(403, "Your organization must be verified."),
    error(404, "The model `judge` does not exist", code="model_not_found"),
    rate_limited("1.5"),
    rate_limited("Wed, 21 Oct 2015 07:28:00 GMT"),
    error(429, "Slow down.", headers={"retry-after-ms": "250", "Retry-After": "1"}),
    rate_limited("soon"),
    Response(body="<html>login</html>", headers={"Content-Type": "text/html"}),
    Response(body=""),
    rate_limited("-1"),
    error(429, "You exceeded your current quota.", code="insufficient_quota"),
    error(408, "Took too long."),
    server_error(500),
    server_error(503),
    error(400, "Unsupported value: 'temperature' does not support 0.", param="temperature"),
    error(400, "The response was filtered.", code="content_filter", param="prompt"),
    error(400, "x" * 5000),
    Response(status=413, body="Payload\n  too large"),
    Response(status=400, body='{"object": "error", "message": "no such template", "code": 400}'),
    Response(status=422, body='{"detail": [{"loc": ["body"], "msg": "field required"}]}'),
    Response(status=400, body='{"error": "model is loading"}'),
    Response(body='{"id": "x", "choices": []}'),
    Response(body='{"error": {"message": "upstream gone", "code": 502}}'),
    Response(body='"just text"'),
    Response(body="<html>proxy login</html>"),
    Response(body='{"choices": ['),
]


@pytest.mark.parametrize("response", SAME, ids=lambda response: f"{response.status} {response.body[:40]!r}")
def test_the_same_errors_as_through_the_openai_package(
    server: OpenAIServer, llm: OpenAIServerLLM, key: str, ask: Any, response: Response
) -> None:
    server.responder = lambda body: response
    other = OpenAILLM("judge", base_url=server.base_url, api_key=key, max_retries=0)
    found, expected = failure(llm, ask()), failure(other, ask())
    assert str(found) == str(expected)
    assert type(found) is type(expected)
    for fact in ("fatal", "transient", "retry_after"):
        assert getattr(found, fact) == getattr(expected, fact), fact
    assert key not in str(found)


def test_a_limit_in_full(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.responder = lambda body: rate_limited("1.5")
    found = failure(llm, ask())
    assert str(found) == (
        f"judge: {server.base_url} answers too many requests (429): Rate limit reached for requests per min. Please try again "
        "later. Ask fewer questions at a time, or try again later."
    )
    assert (found.fatal, found.transient, found.retry_after) == (False, True, 1.5)
    assert len(server.requests) == 1  # nothing is asked twice
    again = pickle.loads(pickle.dumps(found))
    assert (str(again), vars(again)) == (str(found), vars(found))


def test_a_filter_is_about_one_question(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.responder = lambda body: error(400, "The response was filtered.", code="content_filter")
    assert type(failure(llm, ask())) is BadReply


@pytest.mark.parametrize(
    ("body", "cut_short"),
    [
        ("", True),
        (b"\xff\xfe\xfa", True),
        ("[" * 100_000, True),
        ('{"choices": [{"mess', True),
        (" <html>404</html>", False),
        ("[1, 2]", False),
        ('{"choices": "abc"}', False),
        ('{"choices": [7]}', False),
    ],
)
def test_answers_that_are_anything(
    server: OpenAIServer, llm: OpenAIServerLLM, ask: Any, body: Any, cut_short: bool
) -> None:
    server.responder = lambda _: Response(body=body)
    found = failure(llm, ask())
    assert str(found).startswith(f"judge: the answer of {server.base_url} does not follow the OpenAI protocol (")
    assert (found.fatal, found.transient) == (False, cut_short)


@pytest.mark.parametrize(
    "body", ["", "[]", "null", "[" * 100_000, '{"error": {"message": "", "code": ["a"], "param": 7}}']
)
def test_errors_that_are_anything(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any, body: str) -> None:
    server.responder = lambda _: Response(status=502, body=body)
    found = failure(llm, ask())
    assert str(found).startswith(f"judge: {server.base_url} is failing (502): ")
    assert str(found).endswith(" Try again later.")
    assert found.transient


def test_a_server_that_says_nothing_has_its_status_named(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.responder = lambda _: Response(status=502, body="")
    assert str(failure(llm, ask())) == f"judge: {server.base_url} is failing (502): Bad Gateway. Try again later."


def test_a_redirect_is_named_and_not_followed(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.responder = lambda _: Response(status=307, body="", headers={"Location": "https://elsewhere.example/v1/x"})
    assert str(failure(llm, ask())) == (
        f"judge: {server.base_url} refuses the request (307): it redirects to https://elsewhere.example/v1/x: give the address "
        "where the server is as the base URL."
    )


def test_nobody_listens(ask: Any) -> None:
    with socket.socket() as taken:  # bound, so that nobody else is there, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        found = failure(OpenAIServerLLM(url, "llama"), ask())
    assert str(found) == f"llama: cannot reach {url} (Connection refused): is a server listening there?"
    assert (found.fatal, found.transient) == (False, True)


def test_no_such_host(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: Any, **settings: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # which a name server may take its time to say, or deny
    found = failure(OpenAIServerLLM("http://host.invalid/v1", "llama", timeout=20), ask())
    assert str(found).startswith("llama: cannot reach http://host.invalid/v1 (")


def test_a_connection_that_is_dropped(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.queue.append(Response(reset=True))
    found = failure(llm, ask())
    assert str(found).startswith(f"judge: cannot reach {server.base_url} (")
    assert (found.fatal, found.transient) == (False, True)


def took(connection: socket.socket) -> None:
    """Read a request to its end: what is left unread would be answered by a reset, which may overtake the answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    assert length is not None
    while len(body) < int(length[1]):
        body += connection.recv(65536)


@contextlib.contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """Sends the same bytes to whoever connects, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work() -> None:
            connection, _ = listener.accept()
            with connection:
                took(connection)
                connection.sendall(answer)

        thread = threading.Thread(target=work)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200", b""], ids=["head", "nothing"])
def test_no_answer(ask: Any, answer: bytes) -> None:
    with raw_server(answer) as url:
        found = failure(OpenAIServerLLM(url, "judge"), ask())
    assert str(found).startswith(f"judge: cannot reach {url} (")
    assert found.transient


NO_HTTP = "Expected HTTP/" if aiohttp.__version__ == "3.11.18" else "Bad status line"
"""How the oldest release of aiohttp that we work with, and how later ones say it."""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [{"mess', "Not enough data "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{", "Not enough data "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}", ""),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", "Got more than "),
        (b"SSH-2.0-OpenSSH_9.6\r\n", NO_HTTP),
    ],
    ids=["length", "chunks", "chunk size", "no length", "header", "other protocol"],
)
def test_answers_that_are_broken(ask: Any, answer: bytes, words: str) -> None:
    """What arrived of an answer is never read as the whole, and each fault has words of its own."""
    with raw_server(answer) as url:
        found = failure(OpenAIServerLLM(url, "judge"), ask())
    start = f"judge: the answer of {url} is broken ("
    assert str(found).startswith(start + words)
    assert str(found).endswith("): is it an HTTP server, or does a proxy truncate its answers?")
    assert "400, message" not in str(found)
    assert found.transient


def test_no_answer_in_time(server: OpenAIServer, key: str, ask: Any) -> None:
    server.responder = lambda body: Response(hang=True)
    start = time.monotonic()
    found = failure(OpenAIServerLLM(server.base_url, "judge", api_key=key, timeout=0.2), ask())
    assert 0.15 < time.monotonic() - start < 30  # the server would never answer
    assert str(found) == (
        f"judge: no answer from {server.base_url} in time: is the server overloaded? A longer timeout may help."
    )
    assert (found.fatal, found.transient) == (False, True)


def test_no_connection_in_time(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that drops what comes, as a firewall does: a backlog that is full, as far as a test can have one."""
    monkeypatch.setattr("ragmetrics_core.llms._server._llm.CONNECTING", 0.1)
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        found = failure(OpenAIServerLLM(url, "judge", timeout=None), ask())
    assert str(found) == (f"judge: cannot reach {url} (no connection within 0.1 seconds): is a server listening there?")
    assert found.transient


def test_what_aiohttp_raises_otherwise_has_its_name(
    llm: OpenAIServerLLM, server: OpenAIServer, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **settings: Any) -> Any:
        raise TypeError("odd")

    monkeypatch.setattr(aiohttp.ClientSession, "post", broken)
    found = failure(llm, ask())
    assert str(found) == f"judge: the call to {server.base_url} failed (TypeError: odd)"
    assert not found.transient


ECHOES = [
    "Incorrect API key provided: {key}. You can find your API key at ...",
    "Incorrect API key provided: my-se******************mnop.",
    "Invalid header: Authorization: Bearer {key}",
    "key={key}&x=1",
]


@pytest.mark.parametrize("echo", ECHOES)
def test_a_refused_key_is_shown_nowhere(
    ask: Any, echo: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "my-secret-4711-abcdefghijklmnop"
    caplog.set_level(logging.DEBUG)
    with OpenAIServer(lambda body: error(401, echo.format(key=secret))) as server:
        llm = OpenAIServerLLM(server.base_url, "judge", api_key=secret, user=secret)
        with pytest.raises(ModelError) as caught:
            asyncio.run(llm.agenerate(ask()), debug=True)
        assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    found = caught.value
    assert found.fatal
    assert str(found).startswith(f"judge: {server.base_url} refuses the API key (401): ")
    assert str(found).endswith(" llm='openai:MODEL' sends the one in the environment variable OPENAI_API_KEY.")
    shown = "".join(traceback.format_exception(found)) + repr(found) + repr(llm) + caplog.text
    assert secret not in shown + "".join(capfd.readouterr())
    assert "mnop" not in shown


def test_the_cure_for_openais_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def cure(**key: str) -> str:
        return str(ModelError(*OpenAIServerLLM("https://api.openai.com/v1", "gpt", **key)._endpoint.key_cure))

    assert cure() == "Set the environment variable OPENAI_API_KEY, or give api_key."
    assert cure(api_key="x").startswith("To this server no key of the environment is sent: give api_key.")


def test_a_proxy_of_the_environment(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the whole address; where it is not there, its password is not shown."""
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with OpenAIServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.origin.removeprefix("http://"))
        llm = OpenAIServerLLM("http://far.example/v1", "judge")
        assert asyncio.run(llm.agenerate(ask(schema=None))).value == "ok"
        assert proxy.requests[0].path == "http://far.example/v1/chat/completions"
        monkeypatch.setenv("no_proxy", "far.example")
        assert llm._endpoint._proxy() is None
        monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", proxy.origin.replace("http://", "http://me:hunter2-password@"))
    found = failure(llm, ask())
    assert str(found) == "judge: cannot reach http://far.example/v1 (Connection refused): is a server listening there?"
    assert "hunter2-password" in llm._endpoint.secrets
