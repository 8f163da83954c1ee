"""``evaluate`` through the real openai client, against a loopback server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from core.evaluate.doubles import Rated, RatedContexts, questions
from loopback import OpenAIServer
from ragmetrics_core import ModelError, aevaluate, evaluate
from ragmetrics_core.llms import OpenAILLM
from waiting import Crowd

openai = pytest.importorskip("openai")

KEY = "sk-a-key-that-is-never-shown"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    def slowly(body: object) -> str:
        time.sleep(0.02)
        return "0.5"

    with OpenAIServer(slowly, api_key=KEY) as running:
        yield running


def model(server: OpenAIServer, key: str = KEY) -> OpenAILLM:
    return OpenAILLM("judge", base_url=server.base_url, api_key=key)


def test_one_model_serves_run_after_run(server: OpenAIServer) -> None:
    llm = model(server)
    for _ in range(3):
        assert evaluate(questions(10), Rated(), llm=llm).summary()["rated"].mean == 0.5
    assert len(server.chats) == 30


async def test_and_runs_inside_of_a_running_loop(server: OpenAIServer) -> None:
    llm = model(server)
    for _ in range(2):
        summary = evaluate(questions(5), Rated(), llm=llm).summary()
        assert (summary["rated"].scored, summary["rated"].usage.calls) == (5, 5)
        assert summary["rated"].usage.prompt_tokens > 0


ROWS = [{"retrieved_contexts": [f"{row}{n}" for n in range(5)]} for row in range(6)]


def test_a_synchronous_client_keeps_the_limit(server: OpenAIServer) -> None:
    crowd = Crowd(2)
    server.responder = lambda body: "0.5" if crowd.wait() else "alone"
    with openai.OpenAI(base_url=server.base_url, api_key=KEY) as client:
        result = evaluate(ROWS, RatedContexts(), llm=OpenAILLM("judge", client=client), max_concurrency=4)
    assert result.summary()["rated_contexts"].scored == 6
    assert 2 <= server.max_in_flight <= 4


async def test_an_asynchronous_client_keeps_the_limit(server: OpenAIServer) -> None:
    crowd = Crowd(2)
    server.responder = lambda body: "0.5" if crowd.wait() else "alone"
    async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
        result = await aevaluate(ROWS, RatedContexts(), llm=OpenAILLM("judge", client=client), max_concurrency=4)
    assert result.summary()["rated_contexts"].scored == 6
    assert 2 <= server.max_in_flight <= 4


def test_a_refused_key_stops_the_run_with_one_error(server: OpenAIServer) -> None:
    with pytest.raises(ModelError) as caught:
        evaluate(questions(200), Rated(), llm=model(server, "sk-wrong"), max_concurrency=4)
    assert caught.value.fatal
    assert "(401)" in str(caught.value)
    assert len(server.requests) <= 8, "one per call in flight, not one per row"
