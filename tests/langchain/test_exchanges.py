"""Every metric with a recorded exchange, as a Runnable: the core's score, sync and async, judge calls as children of its run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.messages import BaseMessage
from langchain_openai import ChatOpenAI
from lc_parts import Scripted, Tracer

from exchanges import EXCHANGES, VECTORS, WITH_EMBEDDINGS, Exchange
from loopback import OpenAIServer
from ragmetrics_core import Ask, Score
from ragmetrics_langchain import LangChainLLM, MetricRunnable

ALL = [*EXCHANGES, WITH_EMBEDDINGS]


class Recorded:
    """The core's own judge, without LangChain."""

    instant = True

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange

    def generate(self, ask: Ask) -> str:
        system, user = ask.messages
        return self.exchange.reply_to(system.content, user.content)


class Vectors(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [VECTORS[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return VECTORS[text]


class CoreVectors:
    instant = True

    def embed(self, texts: Any) -> list[list[float]]:
        return [VECTORS[text] for text in texts]


def fresh(exchange: Exchange) -> Any:
    return type(exchange.metric).from_dict(exchange.metric.to_dict())


def core_score(exchange: Exchange) -> Score:
    metric = fresh(exchange)
    object.__setattr__(metric, "llm", Recorded(exchange))
    object.__setattr__(metric, "embeddings", CoreVectors())
    return metric.score(exchange.sample)


def evidence(score: Score, *apart: str) -> dict[str, Any]:
    """The details, apart from what they say of the models of jurors: LangChain's in one score, the core's in the other."""
    details = dict(score.details)
    if "jurors" in details:
        details["jurors"] = [
            {name: value for name, value in juror.items() if name not in apart} for juror in details["jurors"]
        ]
    return details


def judge(exchange: Exchange) -> Scripted:
    def say(messages: list[BaseMessage]) -> str:
        system, user = messages
        return exchange.reply_to(str(system.content), str(user.content))

    return Scripted(says=say)


def as_langchain_writes_it(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The same sample under LangChain's names."""
    names = {"user_input": "input", "response": "answer", "retrieved_contexts": "context"}
    return {names.get(name, name): value for name, value in sample.items()}


@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_the_score_is_the_core_s(exchange: Exchange) -> None:
    expected = core_score(exchange)
    assert expected.value == pytest.approx(exchange.value, abs=1e-12)
    runnable = MetricRunnable(fresh(exchange), llm=judge(exchange), embeddings=Vectors())
    tracers = [Tracer(), Tracer()]
    config: Any = [{"callbacks": [tracer], "tags": ["t"], "metadata": {"m": 1}} for tracer in tracers]
    scores = [
        runnable.invoke(exchange.sample, config[0]),
        asyncio.run(runnable.ainvoke(as_langchain_writes_it(exchange.sample), config[1])),
    ]
    for score in scores:
        assert replace(score, details=evidence(score, "model")) == replace(
            expected, details=evidence(expected, "model")
        )
    for tracer in tracers:
        (root,) = tracer.roots
        assert (root.name, root.run_type, root.parent_run_id) == (exchange.name, "chain", None)
        assert [child.run_type for child in root.child_runs] == ["llm"] * len(exchange.calls)
        for child in root.child_runs:
            assert child.parent_run_id == root.id
            assert child.child_runs == []
            assert "t" in (child.tags or ())
            assert child.extra["metadata"]["m"] == 1


@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_the_score_over_a_real_client_is_the_core_s(exchange: Exchange, server: OpenAIServer, key: str) -> None:
    def respond(body: dict[str, Any]) -> str:
        system, user = body["messages"]
        assert [system["role"], user["role"]] == ["system", "user"]
        return exchange.reply_to(system["content"], user["content"])

    server.responder = respond
    expected = core_score(exchange)
    short_lived = httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0))  # the loop ends with the test
    model = ChatOpenAI(
        model="judge", base_url=server.base_url, api_key=key, max_retries=0, http_async_client=short_lived
    )
    runnable = MetricRunnable(fresh(exchange), llm=LangChainLLM(model), embeddings=Vectors())
    for score in (runnable.invoke(exchange.sample), asyncio.run(runnable.ainvoke(exchange.sample))):
        assert (score.value, score.passing) == (expected.value, expected.passing)
        assert evidence(score, "model", "usage") == evidence(expected, "model", "usage")
        assert score.usage.calls == expected.usage.calls
        assert score.usage.prompt_tokens > 0
    assert len(server.chats) == 2 * len(exchange.calls)


def test_the_data_arrives_as_it_was_written() -> None:
    """What the judge is shown is the core's message to the letter, documents included."""
    (exchange,) = (item for item in EXCHANGES if item.name == "faithfulness")  # its calls follow one after the other
    asked: list[str] = []

    def say(messages: list[BaseMessage]) -> str:
        asked.append(str(messages[1].content))
        return exchange.reply_to(str(messages[0].content), str(messages[1].content))

    MetricRunnable(exchange.metric, llm=Scripted(says=say)).invoke(exchange.sample)
    assert [json.loads(text) for text in asked] == [turn.data for turn in exchange.calls]
