"""The OpenAI chat protocol over a lean HTTP client, for very many calls.

Strategy. The request and the reading of an answer are the same as for ``OpenAILLM`` (see ``_attempts``); only the HTTP client
differs. The openai package spends about a millisecond of processor time on each call, and aiohttp an eighth of that. The
difference decides how long hundreds of thousands of calls take, and how much of a machine is left for a model on the same
machine.

``Endpoint`` is the server where ``OpenAIServerLLM`` posts its questions: address, key, connections, and the errors of calls.

aiohttp does the HTTP; this module chooses the session for the running loop and distinguishes the errors of aiohttp. A failure is
returned, not raised, so that the exception of aiohttp, which contains the request, is not chained. Every exception that aiohttp
raises for a call counts as a failure of that call, because a server can make it raise nearly anything.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import os
import re
import weakref
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ..._support._providers import OPENAI_URL, Rung
from ..._support._retry_after import seconds_to_wait
from ..._support._secrets import Kept
from ..._values._errors import InvalidInput, ModelError, Setting
from ..._values._requests import Ask, Reply
from ..._values._settings import check_seconds
from .._wire._attempts import Failure, Ladder, arun_exchange, chat, chat_parameters, check_parameters
from .._wire._batches import OpenAIBatches
from .._wire._connections import (
    HOLDS_KEY,
    PerLoop,
    bare_url,
    check_header,
    check_installed,
    check_model,
    check_url,
    hashed,
    is_of_this_machine,
    openai_package,
    shown,
    tidy_key,
)
from .._wire._failures import LARGEST, OPENAI_PROTOCOL, Failures, Refused, root_of, set_key

if TYPE_CHECKING:
    import aiohttp
    import openai


CONNECTING = 10.0
"""Seconds that one attempt to connect may take. A running server accepts a connection at once, however busy it is."""

IDLE = 4.0
"""Seconds that an idle connection is kept. Uvicorn, the server of vLLM, closes it after 5; a request sent at that moment fails."""

CONNECTIONS = frozenset({"_sessions", "_proxy_passwords", "_client"})
"""The attributes that are not pickled; another process makes its own."""

LARGE = 2**20
"""The size of a body in bytes from which on aiohttp wants a file, which it sends in chunks."""


def to_json(value: Any) -> bytes:
    """Encode plain values as JSON, three times as fast as the json module."""
    import pydantic_core  # noqa: PLC0415  heavy

    return pydantic_core.to_json(value)


NO_KEY_SENT = (
    "To this server no key of the environment is sent",
    Setting("api_key", before=": give "),
    ". ",
    Setting("llm", "openai:MODEL"),
    " sends the one in the environment variable OPENAI_API_KEY.",
)


class Endpoint:
    """A server of the OpenAI protocol. Safe to use in several event loops and threads.

    Args:
        base_url: its address, up to and including ``/v1``; may contain credentials for basic authentication.
        api_key: sent as a bearer token.
        timeout: seconds for a whole request, or None for no limit.

    Raises:
        MissingExtra: aiohttp is not installed.
        InvalidInput: a setting has the wrong type or an impossible value.
    """

    def __init__(self, base_url: str, api_key: str | None, timeout: float | None) -> None:
        check_installed("aiohttp", "server")
        check_url(base_url)
        check_seconds("timeout", timeout)
        api_key = tidy_key(api_key)
        self.base_url = bare_url(base_url)
        parts = urlsplit(base_url)
        if api_key is not None and parts.username is not None:
            raise InvalidInput("an API key is given, and the base URL holds credentials too: leave one of them out")
        self._login = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
        self._given_key = api_key
        self._timeout = timeout
        self._forget_connections()
        importlib.import_module("aiohttp")  # import it now, so that the first calls of a run do not wait for it

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings for another process, which makes new connections.

        Raises:
            InvalidInput: the settings contain a key.
        """
        if self._given_key is not None or self._login is not None:
            raise InvalidInput(HOLDS_KEY)
        return {name: value for name, value in vars(self).items() if name not in CONNECTIONS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget_connections()

    def _forget_connections(self) -> None:
        self._sessions: PerLoop[aiohttp.ClientSession] = PerLoop()
        self._proxy_passwords: set[str] = set()
        self._client: openai.OpenAI | None = None
        self._proxy()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must never be shown."""
        password = self._login[1] if self._login else None
        found = (self._given_key, tidy_key(os.environ.get("OPENAI_API_KEY")), password)
        return tuple({*self._proxy_passwords, *(text for text in found if text)})

    @property
    def wants_key_of_environment(self) -> bool:
        """Whether the key in ``OPENAI_API_KEY`` is meant for this server. The key belongs to OpenAI, and no other server should
        see it.
        """
        return self.base_url == OPENAI_URL and self._given_key is None and self._login is None

    @property
    def key_cure(self) -> tuple[str | Setting, ...]:
        """The advice for a key that is refused."""
        return set_key() if self.wants_key_of_environment else NO_KEY_SENT

    protocol = OPENAI_PROTOCOL

    def client(self) -> openai.OpenAI:
        """Return a client of the openai package for this server.

        Raises:
            MissingExtra: the openai package is not installed.
        """
        check_installed("openai", "openai")
        if self._client is None:
            package = openai_package()
            client: openai.OpenAI = package.OpenAI(
                api_key="no-key",  # a key replaces it in the header
                base_url=self.base_url,
                timeout=self._timeout,
                default_headers=self._authorization(),
                http_client=package.DefaultHttpxClient(follow_redirects=False),
            )
            weakref.finalize(self, client.close)
            self._client = client
        return self._client

    async def post(self, parameters: dict[str, Any], failures: Failures) -> Any:
        """Return the answer to one chat request as JSON values, or a ``Failure``.

        Raises:
            ModelError: the key contains a character that is not allowed in a header.
        """
        answer = await self._sent(parameters)
        if isinstance(answer, Exception):
            return Failure(_failure(answer, failures))
        response, raw = answer
        if raw is None:
            return Failure(failures.too_long())
        if response.status >= 300:
            refused = _refused(response, raw)
            return Failure(failures.refused(refused), refused)
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return Failure(failures.no_json(raw.decode("utf-8", "replace")))

    async def _sent(self, parameters: dict[str, Any]) -> tuple[aiohttp.ClientResponse, bytes | None] | Exception:
        """Return the answer with its body, or the exception of aiohttp."""
        session = await self._sessions.here(self._connect)
        body = to_json(parameters)
        url, data = f"{self.base_url}/chat/completions", body if len(body) < LARGE else io.BytesIO(body)
        attempt = Kept()
        with attempt:
            async with session.post(url, data=data, allow_redirects=False) as response:
                return response, await _read(response)
        return attempt.error

    def _connect(self) -> aiohttp.ClientSession:
        """Return the session of the running loop. The session does not limit concurrency; the caller does."""
        import aiohttp  # noqa: PLC0415  heavy

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=CONNECTING),
            headers={"Content-Type": "application/json", **self._authorization()},
            proxy=self._proxy(),
        )

    def _proxy(self) -> str | None:
        """Return the current proxy. Remember its password, because every answer is searched for it and reading the environment
        is slow.
        """
        proxy = _proxy_for(self.base_url)
        if password := urlsplit(proxy or "").password:
            self._proxy_passwords.add(password)
        return proxy

    def _authorization(self) -> dict[str, str]:
        if self._login is not None:
            return {"Authorization": f"Basic {base64.b64encode(':'.join(self._login).encode()).decode()}"}
        key = self._given_key
        if self.wants_key_of_environment:
            key = tidy_key(os.environ.get("OPENAI_API_KEY"))
        check_header("the API key", key)
        return {"Authorization": f"Bearer {key}"} if key else {}


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    """Return the decompressed body of an answer; None if it is too long."""
    parts = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def _failure(error: Exception, failures: Failures) -> ModelError:
    """Turn an exception of aiohttp into an error with a message."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    import aiohttp  # noqa: PLC0415  heavy

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return failures.unreachable(f"no connection within {CONNECTING:g} seconds")
    if isinstance(error, asyncio.TimeoutError):  # not the built-in TimeoutError before Python 3.11
        return failures.too_late()
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
        return failures.no_http(_violation(error))
    if isinstance(error, aiohttp.ClientError):
        return failures.unreachable(root_of(error))
    return failures.unexpected(error)


def _violation(error: Exception) -> str:
    """Return the parser's description of what is wrong with an answer, from the exception's message or from the lines after
    "400, message:".
    """
    text = str(getattr(error, "message", "") or error)
    quoted = re.search(r"message=(['\"])(.+?)\1", text)
    lines = [quoted[2]] if quoted else [line.strip() for line in text.splitlines()]
    reasons = (line.removesuffix(":") for line in lines if line and not line.startswith("400, message"))
    return next(reasons, "no reason given")


def _refused(response: aiohttp.ClientResponse, raw: bytes) -> Refused:
    """Return the server's error. Its body may follow the protocol, be other JSON, or be text."""
    text = raw.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    if isinstance(body, dict):
        body = body.get("error", body)
    source = body
    if response.status < 400:
        body = Failures.redirected(response.headers.get("Location"))
    reason = response.reason or "it gives no reason"
    return Refused.of(response.status, body, reason, source, seconds_to_wait(response.headers))


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for this address, from a cache. aiohttp would look it up again for each
    request.
    """
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415  costly to import, rarely needed

    parts = urlsplit(url)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


FROM_OPENAI_LLM = "OpenAILLM(..., client=openai.AsyncOpenAI(...))"
SET_ELSEWHERE = {
    "client": f"this model makes its own connections; a client of yours serves {FROM_OPENAI_LLM}",
    "max_retries": "nothing is asked twice here; evaluate makes lost calls again",
    "extra_headers": f"headers of your own need {FROM_OPENAI_LLM}",
    "extra_query": f"a query of your own needs {FROM_OPENAI_LLM}",
}


class OpenAIServerLLM:
    """An LLM behind any server of the OpenAI chat protocol, called with little overhead: about 0.15 ms of processor time per call.

    It has only the asynchronous method. ``evaluate`` and ``ascore`` keep its connections open. A single ``score`` from
    synchronous code works too, but opens a connection for each question.

    Nothing is retried here. A busy server or a lost connection is a ``ModelError`` with ``transient`` and, if the server
    gives it, ``retry_after``. The run that makes the calls decides when to retry.

    Args:
        base_url: address of the server, such as ``http://localhost:8000/v1``. A proxy that the environment names is used.
        model: name of the model.
        api_key: sent as a bearer token; most local servers need none. The environment variable ``OPENAI_API_KEY`` is used only
            for ``https://api.openai.com/v1``, so that no other server ever sees that key.
        timeout: seconds for a whole request; None: no limit. Connecting may take 10 seconds of it.
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``. If
            the server refuses a form, the next lower form is used and remembered.
        temperature: sent only if it is set, because newer models refuse it.
        parameters: any other parameter of the chat protocol, such as ``max_completion_tokens`` or ``seed``; each is sent only if
            it is set. The entries of a mapping ``extra_body`` become parameters of the request, as in the openai package.

    Attributes:
        price_as: the name of the model in the price table, ``MODEL`` or ``PROVIDER:MODEL``, for a deployment that has a name of its
            own; None: ``model``.

    Raises:
        MissingExtra: aiohttp is not installed.
        InvalidInput: a setting has the wrong type or an impossible value, or belongs elsewhere.
    """

    price_as: str | None = None

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float | None = 600.0,
        structured: Rung = "schema",
        temperature: float | None = None,
        **parameters: Any,
    ) -> None:
        check_model(model)
        spread = _spread(parameters)
        check_parameters(parameters, by_package=False)
        parameters = chat_parameters(structured, temperature, spread, SET_ELSEWHERE)
        _as_sent("model", model)
        self.parameters = {name: _as_sent(name, value) for name, value in parameters.items()}
        self.model = model
        self.structured = structured
        self._endpoint = Endpoint(base_url, api_key, timeout)
        self._failures = Failures(model, self._endpoint)
        self._ladder = Ladder(structured)

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply, without the key. It equals the identity of an ``OpenAILLM`` at this address."""
        known = {"provider": "openai", "model": self.model, "base_url": self._endpoint.base_url}
        parameters = hashed(self.parameters, self._endpoint.secrets)
        return {**known, "structured": self.structured, "parameters": parameters}

    @property
    def on_this_machine(self) -> bool:
        """Whether the server runs on this machine, so that a refused connection is final at once."""
        return is_of_this_machine(self._endpoint.base_url)

    @property
    def wants_key_of_environment(self) -> bool:
        """Whether the key in ``OPENAI_API_KEY`` is sent: only to OpenAI itself, and only if no other key is given."""
        return self._endpoint.wants_key_of_environment

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with the tokens that the server reports; attempts that the server refused cost nothing.

        Raises:
            ModelError: there is no connection, the key is refused, there is no such model, no quota left or no answer in time, or
                the answer does not follow the protocol.
            BadReply: the model refused to answer, a content filter stopped it, or its answer has no text.
            InvalidInput: a message cannot be sent as UTF-8.
        """
        exchange = chat(self._failures, self.parameters, self._ladder, ask)
        return await arun_exchange(exchange, partial(self._endpoint.post, failures=self._failures))

    def batches(self) -> OpenAIBatches:
        """Return the batch API of this model; it needs the openai package. Making it calls no server."""
        chat_about = partial(chat, self._failures, self.parameters, self._ladder)
        return OpenAIBatches(self._endpoint.client, self._failures, lambda ask: next(chat_about(ask)))

    def __deepcopy__(self, memo: Any) -> OpenAIServerLLM:
        return self  # a handle to a server: copies of an object that contains it share the connections

    def __repr__(self) -> str:
        settings = [repr(self._endpoint.base_url), repr(self.model)]
        settings += [f"{name}={value!r}" for name, value in shown(self.parameters, self._endpoint.secrets).items()]
        return f"{type(self).__name__}({', '.join(settings)})"


def _spread(parameters: Mapping[str, Any]) -> dict[str, Any]:
    extra = parameters.get("extra_body") or {}
    if not isinstance(extra, Mapping):
        raise InvalidInput(f"extra_body must be a mapping of parameters, got {type(extra).__name__}")
    return {**{name: value for name, value in parameters.items() if name != "extra_body"}, **extra}


def _as_sent(name: str, value: object) -> Any:
    """Return the value as plain JSON values. So every library writes it in the same way, and later changes to the value have no
    effect.
    """
    try:
        plain = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
        to_json({name: plain})
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be sent as JSON: {error}") from None
    return plain
