"""The bridges to models keep the contract of the core; and what is special about embedders."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from haystack.components.embedders import (
    MockDocumentEmbedder,
    MockTextEmbedder,
    OpenAIDocumentEmbedder,
    OpenAITextEmbedder,
)
from haystack.components.generators.chat import MockChatGenerator
from haystack.utils.auth import Secret

from loopback import OpenAIServer
from ragmetrics_core import InvalidInput, ModelError
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.testing import EmbeddingsContract, LLMContract
from ragmetrics_haystack import HaystackEmbeddings, HaystackLLM

KEY = "sk-secret-4711-abcdefghijklmnop"


# no code closes the clients of a model that goes through several event loops, so they keep no connections
NOT_KEPT = {"http_client_kwargs": {"headers": {"Connection": "close"}}, "max_retries": 0}


class TestOpenAI(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer, openai: Any) -> HaystackLLM:
        return HaystackLLM(openai(server))

    @pytest.fixture
    def failing_llm(self, server: OpenAIServer, openai: Any) -> HaystackLLM:
        server.models = {"another"}
        return HaystackLLM(openai(server))


class TestMock(LLMContract):
    can_fail = False

    @pytest.fixture
    def llm(self) -> HaystackLLM:
        return HaystackLLM(MockChatGenerator("Iceland"))


class TestBlocking(LLMContract):
    can_fail = False
    counts_tokens = False

    @pytest.fixture
    def llm(self, sync_judge: Any) -> HaystackLLM:
        return HaystackLLM(sync_judge("Iceland"))


class TestOpenAITextEmbedder(EmbeddingsContract):
    secrets = (KEY,)

    @pytest.fixture
    def embeddings(self, server: OpenAIServer) -> HaystackEmbeddings:
        return HaystackEmbeddings(OpenAITextEmbedder(Secret.from_token(KEY), api_base_url=server.base_url, **NOT_KEPT))

    @pytest.fixture
    def failing_embeddings(self, server: OpenAIServer) -> HaystackEmbeddings:
        server.models = {"another"}
        return HaystackEmbeddings(OpenAITextEmbedder(Secret.from_token(KEY), api_base_url=server.base_url, **NOT_KEPT))


class TestOpenAIDocumentEmbedder(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self, server: OpenAIServer) -> HaystackEmbeddings:
        embedder = OpenAIDocumentEmbedder(
            Secret.from_token(KEY), api_base_url=server.base_url, progress_bar=False, **NOT_KEPT
        )
        return HaystackEmbeddings(embedder)


def by_words(text: str) -> list[float]:
    return HashingEmbeddings().embed([text]).value[0]


class TestMockTextEmbedder(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> HaystackEmbeddings:
        return HaystackEmbeddings(MockTextEmbedder(embedding_fn=by_words))


class TestMockDocumentEmbedder(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> HaystackEmbeddings:
        return HaystackEmbeddings(MockDocumentEmbedder(embedding_fn=by_words))


def test_text_and_document_embedders_agree() -> None:
    texts = ["a", "b", "a", ""]
    by_text = HaystackEmbeddings(MockTextEmbedder(dimension=8)).embed(texts).value
    by_document = HaystackEmbeddings(MockDocumentEmbedder(dimension=8)).embed(texts).value
    assert by_text == by_document
    assert by_text[0] == by_text[2] != by_text[1]


def test_embedders_without_texts_and_with_a_single_text() -> None:
    embeddings = HaystackEmbeddings(MockTextEmbedder(dimension=4))
    assert embeddings.embed([]).value == asyncio.run(embeddings.aembed([])).value == []
    with pytest.raises(InvalidInput, match="^embed takes a list of texts, got a single str"):
        embeddings.embed("text")


def test_an_embedder_of_another_loop() -> None:
    class Embedder:
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": [1.0, 2.0]}

        async def run_async(self, text: str) -> dict[str, Any]:
            raise RuntimeError("Event loop is closed")

    assert asyncio.run(HaystackEmbeddings(Embedder()).aembed(["a", "b"])).value == [[1.0, 2.0]] * 2


def test_a_missing_embedding() -> None:
    def run(text: str) -> dict[str, Any]:
        return {"embedding": None if text == "b" else [1.0]}

    with pytest.raises(ModelError, match="^SimpleNamespace: 1 of 2 texts came back without an embedding$"):
        HaystackEmbeddings(SimpleNamespace(run=run)).embed(["a", "b"])


def test_an_embedder_that_returns_nothing() -> None:
    with pytest.raises(ModelError, match="^SimpleNamespace: 2 of 2 texts came back without an embedding$"):
        HaystackEmbeddings(SimpleNamespace(run=lambda text: None)).embed(["a", "b"])
    with pytest.raises(ModelError, match="^SimpleNamespace: 2 of 2 texts came back without an embedding$"):
        HaystackEmbeddings(SimpleNamespace(run=lambda documents: None)).embed(["a", "b"])
