"""No answer is read without an end, and no redirect is followed, by the clients that are made here."""

from __future__ import annotations

import asyncio
import gzip
import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import openai
import pytest

from core.llms.clients import NATIVE, made, url_of
from loopback import OpenAIServer, Response
from ragmetrics_core import ModelError
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM

Call = Callable[..., Any]


def texts(url: str, **settings: Any) -> OpenAIEmbeddings:
    return OpenAIEmbeddings("judge", base_url=url, max_retries=0, **settings)


def sync(make: Call) -> Call:
    """From an address, a question and settings to the answer of a model."""
    return lambda url, ask, **settings: make(url, **settings).generate(ask)


def asynchronous(make: Call) -> Call:
    return lambda url, ask, **settings: asyncio.run(make(url, **settings).agenerate(ask))


PACKAGES: dict[str, Call] = {
    **{name: sync(partial(made, name)) for name in ("openai", *NATIVE)},
    **{f"{name}, async": asynchronous(partial(made, name)) for name in ("openai", *NATIVE)},
    "texts": lambda url, ask, **settings: texts(url, **settings).embed(["a"]),
    "texts, async": lambda url, ask, **settings: asyncio.run(texts(url, **settings).aembed(["a"])),
}
WAYS: dict[str, Call] = {**PACKAGES, "lean": asynchronous(partial(made, "server"))}
every_way = pytest.mark.parametrize("way", WAYS)


def failure(way: str, url: str, ask: Any, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        WAYS[way](url, ask, **settings)
    return caught.value


def shown(way: str, url: str) -> str:
    """An address as the messages of a model show it."""
    name = way.partition(",")[0]
    return url_of(made(name, url)) if name in NATIVE else url


@pytest.mark.slow
@every_way
def test_few_packed_bytes_that_hold_many(way: str, server: OpenAIServer, ask: Any) -> None:
    server.api_key = None
    packed = gzip.compress(b" " * (80 * 2**20), 1)
    server.queue.append(Response(body=packed, headers={"Content-Encoding": "gzip"}))
    found = failure(way, server.base_url, ask())
    assert (
        str(found)
        == f"judge: the answer of {shown(way, server.base_url)} is longer than 64 MB, which is more than is read"
    )
    assert not found.transient


@pytest.mark.parametrize("way", PACKAGES)
def test_what_is_packed_twice(way: str, server: OpenAIServer, ask: Any) -> None:
    server.api_key = None
    packed = gzip.compress(gzip.compress(b"{}"))
    server.queue.append(Response(body=packed, headers={"Content-Encoding": "gzip, gzip"}))
    found = str(failure(way, server.base_url, ask()))
    assert found == (
        f"judge: the answer of {shown(way, server.base_url)} is broken (it is packed as 'gzip, gzip', which was not asked for): "
        "is it an HTTP server, or does a proxy truncate its answers?"
    )


@every_way
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect(way: str, status: int, server: OpenAIServer, ask: Any) -> None:
    server.api_key = None
    with OpenAIServer() as other:
        server.queue.append(Response(status=status, body="", headers={"Location": f"{other.base_url}/else"}))
        found = failure(way, server.base_url, ask())
        assert other.requests == []
    assert str(found) == (
        f"judge: {shown(way, server.base_url)} refuses the request ({status}): it redirects to {other.base_url}/else: "
        "give the address where the server is as the base URL."
    )


class Dripping(http.server.BaseHTTPRequestHandler):
    """Sends a byte in no time, and never the last one."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(OSError):
            while not self.server.ended.wait(0.01):  # type: ignore[attr-defined]
                self.wfile.write(b"1\r\n \r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the base class's
        """Not read."""


@pytest.fixture
def dripping() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dripping) as running:
        running.ended = threading.Event()  # type: ignore[attr-defined]
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}/v1"
        running.ended.set()  # type: ignore[attr-defined]
        running.shutdown()
        thread.join()


@every_way
def test_an_answer_that_never_ends(way: str, dripping: str, ask: Any) -> None:
    """Each byte comes in time, and the whole answer never does."""
    found = failure(way, dripping, ask(), timeout=0.3)
    assert (
        str(found)
        == f"judge: no answer from {shown(way, dripping)} in time: is the server overloaded? A longer timeout may help."
    )
    assert found.transient


def test_a_client_of_the_users_stays_as_it_is(server: OpenAIServer, ask: Any) -> None:
    server.api_key = None
    with OpenAIServer(lambda body: "ok") as other:
        location = f"{other.base_url}/chat/completions"
        server.queue.append(Response(status=307, body="", headers={"Location": location}))
        with openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client:
            assert OpenAILLM("m", client=client).generate(ask()).value == "ok"
