"""Retries do not multiply: within ``evaluate`` a model is asked as often as it says; the user's own object keeps its retries."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms import MockLLM
from openai import OpenAI

from llama_index.doubles import openai_like
from loopback import OpenAIServer, server_error
from ragmetrics_core import Ask, Prompt, evaluate
from ragmetrics_core.metrics import AnswerAccuracy, SemanticSimilarity
from ragmetrics_core.replies import YesNoReply
from ragmetrics_llama_index import LlamaIndexEmbeddings, LlamaIndexLLM

KEY = "sk-secret-4711-abcdefghijklmnop"
PROMPT = Prompt("Is it so?", YesNoReply(), name="is_it_so")
QUESTION = Ask(PROMPT.messages({"text": "a"}), PROMPT.reply, PROMPT, {})
ROW = {"user_input": "q", "response": "a", "reference": "b"}


@pytest.mark.parametrize("from_settings", [False, True])
def test_retries_of_an_llm_do_not_multiply(server: OpenAIServer, *, from_settings: bool) -> None:
    server.responder = lambda body: server_error()
    model = openai_like(server, KEY, max_retries=3)
    Settings.llm = model
    judge = LlamaIndexLLM(None if from_settings else model)
    (scores,) = evaluate([ROW], AnswerAccuracy(), llm=judge, max_retries=1, progress=False).scores.values()
    assert "(500)" in (scores[0].error or "")
    assert len(server.requests) == 4, "two questions, each asked twice"
    assert model.max_retries == 3
    assert judge.without_retries().identity == judge.identity
    assert judge.without_retries().without_retries().llm is model


def test_a_client_that_is_kept_is_shared_and_keeps_its_retries(server: OpenAIServer) -> None:
    server.responder = lambda body: server_error()
    client = OpenAI(base_url=server.base_url, api_key=KEY, max_retries=2)
    model = openai_like(server, KEY, max_retries=2, reuse_client=True, openai_client=client)
    judge = LlamaIndexLLM(model).without_retries()
    for calls in (1, 2):
        with pytest.raises(Exception, match=r"\(500\)"):
            judge.generate(QUESTION)
        assert len(server.requests) == calls
    assert model._client is client
    assert client.max_retries == 2
    assert server.connections == 1


class Embedding(BaseEmbedding):
    """As the embedding models of LlamaIndex are that speak to a server with a client of OpenAI."""

    model_name: str = "small"
    max_retries: int = Field(default=4)
    _client: Any = PrivateAttr(default=None)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        answer = self._client.embeddings.create(model=self.model_name, input=[text])
        return list(answer.data[0].embedding)


def test_retries_of_an_embedding_model_do_not_multiply(server: OpenAIServer) -> None:
    server.queue.extend(server_error() for _ in range(9))
    model = Embedding()
    model._client = OpenAI(base_url=server.base_url, api_key=KEY, max_retries=4)
    judge = LlamaIndexEmbeddings(model)
    (scores,) = evaluate([ROW], SemanticSimilarity(), embeddings=judge, max_retries=0, progress=False).scores.values()
    assert "(500)" in (scores[0].error or "")
    assert len(server.requests) <= 2, "one for each of two texts"
    assert model._client.max_retries == 4
    assert judge.without_retries().identity == judge.identity


class Mocked(MockLLM):
    max_retries: int = 3
    _client: Any = PrivateAttr(default_factory=MagicMock)


def test_a_model_whose_client_cannot_be_changed_is_left_unchanged() -> None:
    model = Mocked()
    judge = LlamaIndexLLM(model).without_retries()
    assert judge._ready(model) is model
    assert not model._client.with_options.mock_calls
