"""Whatever a server sends, and whatever the client library raises over it, fails one call and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from core.evaluate.doubles import Rated, questions
from core.llms.clients import NATIVE, made
from loopback import OpenAIServer, Response
from odd_calls import assert_each_call_fails_alone, assert_each_row_fails_alone
from ragmetrics_core import ModelError, evaluate
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM

pytestmark = pytest.mark.slow

Made = Callable[[str], Any]


class SyncOnly:
    """A model without its asynchronous method."""

    def __init__(self, llm: Any) -> None:
        self.generate = llm.generate
        self.identity = llm.identity


CHATS: dict[str, Made] = {
    "own client": lambda url: OpenAILLM("judge", base_url=url),
    "own client, sync": lambda url: SyncOnly(OpenAILLM("judge", base_url=url, max_retries=0)),
    "given client": lambda url: OpenAILLM("judge", client=openai.AsyncOpenAI(base_url=url, api_key="k")),
    "given client, sync": lambda url: SyncOnly(
        OpenAILLM("judge", client=openai.OpenAI(base_url=url, api_key="k", max_retries=0))
    ),
    "lean client": lambda url: OpenAIServerLLM(url, "judge"),
    **{name: partial(made, name) for name in NATIVE},
    **{f"{name}, sync": lambda url, name=name: SyncOnly(made(name, url)) for name in NATIVE},
}
EMBEDDINGS: dict[str, Made] = {
    "own client": lambda url: OpenAIEmbeddings("e", base_url=url, max_retries=0),
    "given client": lambda url: OpenAIEmbeddings("e", client=openai.OpenAI(base_url=url, api_key="k", max_retries=0)),
}


@pytest.mark.parametrize("way", CHATS)
def test_an_odd_answer_fails_its_row_alone(way: str, tmp_path: Path) -> None:
    with OpenAIServer() as server:
        assert_each_row_fails_alone(server, CHATS[way](server.base_url), tmp_path / "run")


@pytest.mark.parametrize("way", EMBEDDINGS)
def test_odd_vectors_fail_their_call_alone(way: str) -> None:
    with OpenAIServer() as server:
        assert_each_call_fails_alone(server, EMBEDDINGS[way](server.base_url))


@pytest.mark.parametrize("way", ["own client", "lean client", *NATIVE])
def test_what_is_no_utf8_may_be_mended_by_another_call(way: str) -> None:
    with OpenAIServer(lambda body: Response("0.5")) as server:
        server.queue.append(Response(body=b"\xff"))
        result = evaluate(questions(1), Rated(), llm=CHATS[way](server.base_url), progress=False)
        assert result.scores["rated"][0].value == 0.5
        assert len(server.chats) == 2


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    "problem", [TypeError("odd"), KeyError("choices"), ZeroDivisionError("odd"), StopAsyncIteration()]
)
def test_what_the_openai_package_raises_has_its_name(
    way: str, problem: Exception, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **settings: Any) -> Any:
        raise problem

    for kind in ("Completions", "AsyncCompletions"):
        monkeypatch.setattr(f"openai.resources.chat.completions.{kind}.create", broken)
    llm = OpenAILLM("judge", base_url="http://127.0.0.1:9/v1")
    call = llm.generate if way == "sync" else lambda asked: asyncio.run(llm.agenerate(asked))
    with pytest.raises(ModelError) as caught:
        call(ask())
    said = str(problem) or "StopAsyncIteration"
    assert str(caught.value) == (f"judge: the call to http://127.0.0.1:9/v1 failed ({type(problem).__name__}: {said})")
    assert (caught.value.transient, caught.value.fatal) == (False, False)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("way", ["openai", "aiohttp"])
@pytest.mark.parametrize("problem", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_a_program_goes_through(
    way: str, problem: BaseException, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*arguments: Any, **settings: Any) -> Any:
        raise problem

    monkeypatch.setattr("openai.resources.chat.completions.AsyncCompletions.create", ended)
    monkeypatch.setattr(aiohttp.ClientSession, "post", ended)
    url = "http://127.0.0.1:9/v1"
    llm: Any = OpenAILLM("judge", base_url=url) if way == "openai" else OpenAIServerLLM(url, "judge")

    async def asked() -> None:
        with pytest.raises(type(problem)):
            await llm.agenerate(ask())

    asyncio.run(asked())


@pytest.mark.parametrize("way", ["own client", "given client", "lean client"])
def test_a_bug_of_ours_propagates(way: str, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise TypeError("a bug")

    monkeypatch.setattr("ragmetrics_core.llms._wire._attempts._read", broken)
    with OpenAIServer() as server, pytest.raises(TypeError, match="^a bug$"):
        asyncio.run(CHATS[way](server.base_url).agenerate(ask()))
