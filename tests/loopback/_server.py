"""The sockets of the loopback server: one thread per connection, keep-alive, every request recorded.

Whatever a test programs wrong (a responder that raises) is reported when the server stops, so that it never looks like a
failing model.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _anthropic as anthropic
from . import _gemini as gemini
from . import _protocol as protocol
from ._protocol import Response

if TYPE_CHECKING:
    from typing_extensions import Self

Responder = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class OpenAIServer:
    """The server; a context manager. All attributes may be changed while it runs.

    Attributes:
        responder: from the body of a chat request to a str, a ``Response``, or JSON values that are sent as text.
        embedder: from a text to its vector; None: vectors hashed from the words, of the dimensions asked for (default 16).
        queue: responses given out first, one per request (of any kind), such as ``rate_limited()`` or ``server_error()``.
        refuses: request features that are refused as real servers do: ``json_schema``, ``json_object``, ``temperature``.
        api_key: the only key that is accepted; None accepts all.
        models: the only models that exist; None: all do.
        described: what the list of models says about each in addition to its name, such as ``{"max_model_len": 4096}``.
        refusal_of: what a server of another make has against a request, or None; asked before anything else.
        requests: everything received, in order of arrival.
        max_in_flight: the highest number of requests that were being answered at the same time.
    """

    def __init__(
        self,
        responder: Responder = lambda body: "ok",
        *,
        refuses: Iterable[str] = (),
        api_key: str | None = None,
        models: Iterable[str] | None = None,
    ) -> None:
        self.responder = responder
        self.embedder: Callable[[str], list[float]] | None = None
        self.refusal_of: Callable[[Received], Response | None] = lambda received: None
        self.queue: deque[Response] = deque()
        self.refuses = set(refuses)
        self.api_key = api_key
        self.models = None if models is None else set(models)
        self.described: dict[str, Any] = {}
        self.requests: list[Received] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.connections = 0
        self.stopping = threading.Event()
        self._crashes: list[Exception] = []
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chat requests."""
        paths = ("/chat/completions", "/v1/messages", ":generateContent")
        return [item.body for item in self.requests if item.path.split("?")[0].endswith(paths)]

    @property
    def embedded(self) -> list[dict[str, Any]]:
        """The bodies of the embedding requests."""
        return [item.body for item in self.requests if item.path.split("?")[0].endswith("/embeddings")]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.hang_up()
        self._thread.join()
        if self._crashes and value is None:
            raise self._crashes[0]

    def decide(self, received: Received) -> Response:
        """What happens to one request: queued responses, then refusals, then the answer itself."""
        with self._lock:
            self.requests.append(received)
            if self.queue:
                return self.queue.popleft()
        refusal = self.refusal_of(received) or self._refusal(received)
        if refusal is not None:
            return refusal
        if (chat := self._chat(received)) is None:
            return Response()
        try:
            answer = self.responder(chat)
        except Exception as crash:  # noqa: BLE001  raised again when the server stops
            self._crashes.append(crash)
            return protocol.error(500, f"the responder of the test raised {crash!r}", kind="server_error")
        return answer if isinstance(answer, Response) else Response(answer)

    @staticmethod
    def _chat(received: Received) -> dict[str, Any] | None:
        """The body of a question, of whatever protocol, as that of a chat request; None: it is another request."""
        if anthropic.is_message(received.path):
            return anthropic.as_chat(received.body)
        if gemini.is_question(received.path):
            return gemini.as_chat(received.body)
        return received.body if received.path.split("?")[0].endswith("/chat/completions") else None

    def _refusal(self, received: Received) -> Response | None:
        headers = received.headers
        token = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("api-key", "")
        token = token or headers.get("x-api-key", "") or headers.get("x-goog-api-key", "")
        if self.api_key is not None and token != self.api_key:
            message = f"Incorrect API key provided: {token}. You can find your API key in your account settings."
            return protocol.error(401, message, code="invalid_api_key")
        body = received.body if isinstance(received.body, dict) else {}
        model = body.get("model")
        if self.models is not None and model is not None and model not in self.models:
            message = f"The model `{model}` does not exist or you do not have access to it."
            return protocol.error(404, message, code="model_not_found")
        if anthropic.is_message(received.path) and (refusal := anthropic.refusal_of(body, self.refuses)) is not None:
            return refusal
        if gemini.is_question(received.path) and (refusal := gemini.refusal_of(body, self.refuses)) is not None:
            return refusal
        kind = (body.get("response_format") or {}).get("type")
        if kind in self.refuses:
            message = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
            return protocol.error(400, message, param="response_format")
        if "temperature" in self.refuses and "temperature" in body:
            message = "Unsupported value: 'temperature' does not support 0.0 with this model."
            return protocol.error(400, message, code="unsupported_value", param="temperature")
        return None

    @contextlib.contextmanager
    def counted(self) -> Any:
        with self._lock:
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        self.owner.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake the threads that wait for the next request of a kept-alive connection."""
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet per answer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer(json.loads(raw))

    def _answer(self, body: Any) -> None:
        owner = self.server.owner
        received = Received(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        with owner.counted():
            response = owner.decide(received)
            if response.hang or response.delay:
                owner.stopping.wait(None if response.hang else response.delay)
            if response.hang or response.reset:
                self._reset()
            elif response.body is None and isinstance(body, dict) and body.get("stream"):
                self._stream(body, response)
            else:
                self._send(response, self._body(received, response))

    def _body(self, received: Received, response: Response) -> bytes:
        if response.body is not None:
            return response.body.encode() if isinstance(response.body, str) else response.body
        owner, path = self.server.owner, received.path.split("?")[0]
        if path.endswith("/chat/completions"):
            answer = protocol.completion(received.body, response, len(owner.requests))
        elif anthropic.is_message(path):
            answer = anthropic.message(received.body, response, len(owner.requests))
        elif gemini.is_question(path):
            answer = gemini.content(received.body, response)
        elif path.endswith("/embeddings"):
            answer = protocol.embeddings(received.body, owner.embedder)
        else:
            names = sorted(owner.models or {"loopback"})
            data = [{"id": name, "object": "model", "created": 0, **owner.described} for name in names]
            answer = {"object": "list", "data": data}
        return json.dumps(answer).encode()

    def _send(self, response: Response, payload: bytes) -> None:
        self.send_response(response.status)
        for name, value in {"Content-Type": "application/json", **response.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def _stream(self, body: Mapping[str, Any], response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in [*protocol.chunks(body, response, len(self.server.owner.requests)), b""]:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()

    def _reset(self) -> None:
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)  # closing now sends RST, which is what a crashed server looks like
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the base class's
        """Tests read `requests`, not a log."""
