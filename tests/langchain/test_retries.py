"""Retries do not multiply: within ``evaluate`` a model is asked as often as it says; the user's own object keeps its retries."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from unittest.mock import MagicMock

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from lc_models import KEY, chat, question, short_lived
from openai import OpenAI

from loopback import OpenAIServer, server_error
from ragmetrics_core import ModelError, evaluate
from ragmetrics_core.metrics import AnswerAccuracy
from ragmetrics_langchain import LangChainEmbeddings, LangChainLLM

ROW = {"user_input": "q", "response": "a", "reference": "b"}


def failing(server: OpenAIServer) -> None:
    server.responder = lambda body: server_error()


@pytest.mark.parametrize("retries", [None, 3])
@pytest.mark.parametrize("bound", [False, True])
def test_retries_of_a_chat_model_do_not_multiply(server: OpenAIServer, retries: int | None, *, bound: bool) -> None:
    failing(server)
    model = chat(server, max_retries=retries)
    judge = LangChainLLM(model.bind(temperature=0).with_config(tags=["x"]) if bound else model)
    (scores,) = evaluate([ROW], AnswerAccuracy(), llm=judge, max_retries=1, progress=False).scores.values()
    assert "(500)" in (scores[0].error or "")
    assert len(server.requests) == 4, "two questions, each asked twice"
    assert (model.max_retries, model.root_client.max_retries) == (retries, retries or 2)
    assert judge.without_retries().identity == judge.identity


def test_the_settings_by_which_a_cache_knows_a_model_stay(server: OpenAIServer) -> None:
    model = chat(server, max_retries=3)
    other: Any = LangChainLLM(model).without_retries().chat_model
    assert other._get_llm_string() == model._get_llm_string()
    assert (other.root_client.max_retries, other.root_async_client.max_retries) == (0, 0)


def test_retries_of_an_embedding_model_do_not_multiply(server: OpenAIServer) -> None:
    server.queue.extend(server_error() for _ in range(3))
    model = OpenAIEmbeddings(
        model="small",
        base_url=server.base_url,
        api_key=KEY,
        check_embedding_ctx_length=False,
        max_retries=3,
        http_async_client=short_lived(),
    )
    judge = LangChainEmbeddings(model)
    with pytest.raises(ModelError, match=r"\(500\)"):
        judge.without_retries().embed(["a"])
    assert len(server.requests) == 1
    assert model.client._client.max_retries == 3
    assert judge.without_retries().identity == judge.identity


def test_a_fallback_answers_only_after_the_retries_of_the_first(server: OpenAIServer) -> None:
    """Otherwise whatever is lost once would be judged by another model."""
    first, second = chat(server, model="first", max_retries=2), chat(server, model="second")
    server.queue.append(server_error())
    judge = LangChainLLM(first.with_fallbacks([second])).without_retries()
    assert judge.generate(question()).usage.calls == 1
    assert [item["model"] for item in server.chats] == ["first", "first"]


class MadeWhenNeeded(BaseChatModel):
    """As those are that make their client when it is needed, out of their settings."""

    url: str
    max_retries: int = 2

    @property
    def _llm_type(self) -> str:
        return "made-when-needed"

    @cached_property
    def _client(self) -> OpenAI:
        return OpenAI(base_url=self.url, api_key=KEY, max_retries=self.max_retries)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._client.models.list()
        raise AssertionError("the server fails")


@pytest.mark.parametrize("used_before", [False, True])
def test_a_client_that_is_made_when_it_is_needed(server: OpenAIServer, *, used_before: bool) -> None:
    model = MadeWhenNeeded(url=server.base_url)
    if used_before:
        assert model._client.max_retries == 2
    server.queue.extend(server_error() for _ in range(3))
    judge = LangChainLLM(model).without_retries()
    with pytest.raises(ModelError, match=r"\(500\)"):
        judge.generate(question())
    assert len(server.requests) == 1
    assert model._client.max_retries == 2


def test_a_client_that_cannot_be_changed_is_left_unchanged(server: OpenAIServer) -> None:
    client = MagicMock()
    model = ChatOpenAI(
        model="judge", api_key=KEY, client=client, async_client=client, root_client=client, root_async_client=client
    )
    assert LangChainLLM(model).without_retries().chat_model is model
    assert not client.with_options.mock_calls
