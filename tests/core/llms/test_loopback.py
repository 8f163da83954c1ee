"""The loopback server keeps the protocol: what other tests rely on."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from loopback import OpenAIServer, Response, hashed_vector, rate_limited

MESSAGES: Any = [{"role": "user", "content": "one two three"}]


@pytest.fixture
def client(server: OpenAIServer, key: str) -> Any:
    with openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0) as client:
        yield client


def test_a_chat_and_its_record(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.responder = lambda body: {"echo": body["messages"][-1]["content"]}
    answer = client.chat.completions.create(model="m", messages=MESSAGES)
    assert json.loads(answer.choices[0].message.content or "") == {"echo": "one two three"}
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (3, 4, 7)
    assert server.requests[0].path == "/v1/chat/completions"


def test_a_streamed_chat(server: OpenAIServer, client: openai.OpenAI) -> None:
    text = "a long answer that comes in several pieces, ünïcödé included"
    server.responder = lambda body: text
    stream = client.chat.completions.create(
        model="m", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == len(text.split())


def test_embeddings_and_models(server: OpenAIServer, client: openai.OpenAI) -> None:
    packed = client.embeddings.create(model="e", input=["ab cd", "x"], dimensions=8).data
    plain = client.embeddings.create(model="e", input="ab cd", dimensions=8, encoding_format="float").data
    assert [item.index for item in packed] == [0, 1]
    assert packed[0].embedding == pytest.approx(plain[0].embedding, abs=1e-6)
    assert plain[0].embedding == hashed_vector("ab cd", 8)
    server.models = {"b", "a"}
    assert [model.id for model in client.models.list()] == ["a", "b"]


def test_refusals(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.models, server.refuses = {"m"}, {"temperature"}
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="other", messages=MESSAGES)
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=MESSAGES, temperature=0)
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="sk-wrong").chat.completions.create(model="m", messages=MESSAGES)
    server.queue.append(rate_limited("7"))
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="m", messages=MESSAGES)
    assert caught.value.response.headers["retry-after"] == "7"
    assert client.chat.completions.create(model="m", messages=MESSAGES).choices


def test_requests_in_flight_are_counted(server: OpenAIServer, client: openai.OpenAI) -> None:
    barrier = threading.Barrier(4, timeout=60)  # nobody is answered before all have asked
    server.responder = lambda body: f"place {barrier.wait()}"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: client.chat.completions.create(model="m", messages=MESSAGES), range(4)))
    assert server.max_in_flight == 4


def test_a_hung_call_does_not_hold_the_test_up() -> None:
    start = time.perf_counter()
    with OpenAIServer(lambda body: Response(hang=True)) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="sk", timeout=0.1, max_retries=0)
        with client, pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model="m", messages=MESSAGES)
    assert time.perf_counter() - start < 20  # it would hang for ever


def test_a_responder_that_raises_fails_the_test() -> None:
    def responder(body: Any) -> str:
        raise KeyError("a typing mistake in a test")

    server = OpenAIServer(responder).__enter__()
    with openai.OpenAI(base_url=server.base_url, api_key="sk", max_retries=0) as client:
        with pytest.raises(openai.InternalServerError, match="the responder of the test raised KeyError"):
            client.chat.completions.create(model="m", messages=MESSAGES)
        with pytest.raises(KeyError, match="a typing mistake"):
            server.__exit__(None, None, None)
