"""Every failure of a call is one clear ModelError that names the cure, and no secret is in it or attached to it."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import traceback
from typing import Any

import openai
import pytest

from core.llms.clients import NATIVE, made, url_of
from loopback import OpenAIServer, Response, error, rate_limited, server_error
from ragmetrics_core import BadReply, ModelError
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM

each = pytest.mark.parametrize("name", ["openai", *NATIVE])


def failure(llm: Any, question: Any, way: str) -> ModelError:
    call = llm.generate if way == "sync" else lambda asked: asyncio.run(llm.agenerate(asked))
    with pytest.raises(ModelError) as caught:
        call(question)
    return caught.value


BUSY = (
    "judge: {url} answers too many requests (429): Rate limit reached for requests per min. Please try again later. "
    "Ask fewer questions at a time, or try again later."
)

FAILURES = [
    (
        error(403, "Your organization must be verified."),
        "judge: {url} forbids this (403): Your organization must be verified. Does the key have access to it?",
        {"fatal": True, "transient": False},
    ),
    (
        error(400, "The model `judge` does not exist", code="model_not_found"),
        "judge: {url} has no such model (400): The model `judge` does not exist. Check the model name.",
        {"fatal": True, "transient": False},
    ),
    (
        error(404, "The model `judge` does not exist", code="model_not_found"),
        "judge: {url} has no such model or address (404): The model `judge` does not exist. Check the model name and the base URL.",
        {"fatal": True, "transient": False},
    ),
    (
        rate_limited("1.5"),
        BUSY,
        {"fatal": False, "transient": True, "retry_after": 1.5},
    ),
    (
        rate_limited("Wed, 21 Oct 2015 07:28:00 GMT"),
        BUSY,
        {"fatal": False, "transient": True, "retry_after": 0.0},
    ),
    (
        rate_limited("soon"),
        BUSY,
        {"fatal": False, "transient": True, "retry_after": None},
    ),
    (
        error(429, "You exceeded your current quota.", code="insufficient_quota"),
        "judge: {url} answers too many requests (429): You exceeded your current quota. The account has no credit left.",
        {"fatal": True, "transient": False},
    ),
    (
        server_error(503),
        "judge: {url} is failing (503): The server had an error while processing your request. Try again later.",
        {"fatal": False, "transient": True},
    ),
    (
        error(400, "Unsupported value: 'temperature' does not support 0.", param="temperature"),
        "judge: {url} refuses the parameter 'temperature' (400): Unsupported value: 'temperature' does not support 0.",
        {"fatal": False, "transient": False},
    ),
    (
        Response(status=413, body="Payload\n  too large"),
        "judge: {url} refuses the request (413): Payload too large.",
        {"fatal": False, "transient": False},
    ),
    (
        Response(reset=True),
        "judge: cannot reach {url} (",
        {"fatal": False, "transient": True},
    ),
]


@each
@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("response", "message", "facts"), FAILURES)
def test_what_servers_refuse(
    server: OpenAIServer,
    key: str,
    ask: Any,
    name: str,
    way: str,
    response: Response,
    message: str,
    facts: dict[str, Any],
) -> None:
    server.responder = lambda body: response
    llm = made(name, server.base_url, api_key=key)
    found = failure(llm, ask(), way)
    expected = message.format(url=url_of(llm))
    assert str(found) == expected or (response.reset and str(found).startswith(expected))
    assert type(found) is ModelError
    assert {name: getattr(found, name) for name in facts} == facts
    assert found.__cause__ is found.__context__ is None


@each
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_question_that_a_filter_refuses_is_a_bad_reply(
    server: OpenAIServer, key: str, ask: Any, name: str, way: str
) -> None:
    """It concerns this sample only, and asking again does not help."""
    server.queue.append(error(400, "The response was filtered.", code="content_filter", param="prompt"))
    llm = made(name, server.base_url, api_key=key)
    found = failure(llm, ask(), way)
    assert type(found) is BadReply
    assert str(found) == f"judge: the content filter of {url_of(llm)} refuses the question: The response was filtered."


@each
@pytest.mark.parametrize("way", ["sync", "async"])
def test_nobody_listens(ask: Any, name: str, way: str) -> None:
    with socket.socket() as taken:  # bound, so that nobody else is there, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        llm = made(name, url)
        found = failure(llm, ask(), way)
    assert str(found).startswith(f"judge: cannot reach {url_of(llm)} (")
    assert str(found).endswith("): is a server listening there?")
    assert "refused" in str(found).lower() or "connection attempts failed" in str(found).lower()
    assert not found.fatal


@each
@pytest.mark.parametrize("way", ["sync", "async"])
def test_no_answer_in_time(server: OpenAIServer, key: str, ask: Any, name: str, way: str) -> None:
    server.responder = lambda body: Response(hang=True)
    llm = made(name, server.base_url, api_key=key, timeout=0.1)
    found = failure(llm, ask(), way)
    assert str(found) == (
        f"judge: no answer from {url_of(llm)} in time: is the server overloaded? A longer timeout may help."
    )
    assert vars(found)["transient"] is True


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("model", [OpenAILLM("judge"), OpenAIEmbeddings("judge")], ids=["llm", "embeddings"])
def test_there_is_no_key(ask: Any, way: str, model: Any) -> None:
    calls = {
        "OpenAILLM": (lambda: model.generate(ask()), lambda: model.agenerate(ask())),
        "OpenAIEmbeddings": (lambda: model.embed(["a"]), lambda: model.aembed(["a"])),
    }
    sync, asynchronous = calls[type(model).__name__]
    call = sync if way == "sync" else lambda: asyncio.run(asynchronous())
    with pytest.raises(ModelError) as caught:
        call()
    assert str(caught.value) == (
        "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give api_key=..., or give base_url=... "
        "for a server of your own that needs none"
    )
    assert caught.value.fatal


@each
def test_the_retries_are_the_clients_own(server: OpenAIServer, key: str, ask: Any, name: str) -> None:
    server.queue.extend([rate_limited("0"), server_error()])
    reply = made(name, server.base_url, api_key=key, max_retries=2).generate(ask(schema=None))
    assert reply.usage.calls == 1
    assert len(server.chats) == 3


def test_what_the_package_cannot_send(server: OpenAIServer, key: str, ask: Any) -> None:
    found = failure(OpenAILLM("judge", base_url=server.base_url, api_key=key, seed=object()), ask(), "sync")
    assert str(found) == (
        f"judge: the call to {server.base_url} failed (TypeError: Object of type object is not JSON serializable)"
    )


@each
def test_long_messages_are_cut(server: OpenAIServer, key: str, ask: Any, name: str) -> None:
    server.queue.append(error(400, "x" * 5000))
    found = failure(made(name, server.base_url, api_key=key), ask(), "sync")
    assert str(found).endswith(f"(400): {'x' * 500} ...")


@each
def test_errors_survive_pickling(server: OpenAIServer, key: str, ask: Any, name: str) -> None:
    server.responder = lambda body: rate_limited("3")
    found = failure(made(name, server.base_url, api_key=key), ask(), "sync")
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert vars(again) == vars(found)


ECHOES = [
    "Incorrect API key provided: {key}. You can find your API key at ...",
    "Incorrect API key provided: sk-se******************mnop.",
    "Invalid header: Authorization: Bearer {key}",
    "key={key}&x=1",
]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("name", ["openai", "openai, given client", *NATIVE])
def test_a_refused_key_is_shown_nowhere(
    ask: Any, way: str, echo: str, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "sk-secret-4711-abcdefghijklmnop"
    caplog.set_level(logging.DEBUG)
    with OpenAIServer(lambda body: error(401, echo.format(key=secret))) as server:
        if "," in name:
            with openai.OpenAI(base_url=server.base_url, api_key=secret) as client:
                llm: Any = OpenAILLM("judge", client=client)
                found = failure(llm, ask(), way)
        else:
            llm = made(name, server.base_url, api_key=secret)
            found = failure(llm, ask(), way)
        assert secret in repr(server.requests[0].headers)
    assert found.fatal
    assert str(found).startswith(f"judge: {url_of(llm)} refuses the API key (401): ")
    variable = f"{name.upper()}_API_KEY" if name in NATIVE else "OPENAI_API_KEY"
    assert str(found).endswith(f" Set the environment variable {variable}, or give api_key.")
    own_words = "".join(traceback.format_exception(found)) + repr(found) + repr(llm) + repr(llm.identity)
    assert secret not in own_words
    assert "mnop" not in own_words
    assert caplog.records  # the openai package does log at this level, and keeps the key to itself
    assert secret not in caplog.text
    assert secret not in "".join(capfd.readouterr())


def test_credentials_in_the_address_are_shown_nowhere(ask: Any) -> None:
    with OpenAIServer(lambda body: error(400, "bad request to http://user:hunter2-password@host/")) as server:
        url = server.base_url.replace("http://", "http://user:hunter2-password@")
        llm = OpenAILLM("judge", base_url=url)
        found = failure(llm, ask(), "sync")
    assert str(found) == f"judge: {server.base_url} refuses the request (400): bad request to http://***@host/."
    assert "hunter2" not in repr(llm) + repr(llm.identity)
