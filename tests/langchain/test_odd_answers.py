"""LangChain's own client of OpenAI, answered oddly: each answer costs its own call and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_openai import OpenAIEmbeddings
from lc_models import chat, short_lived

from loopback import OpenAIServer
from odd_calls import assert_each_call_fails_alone, assert_each_row_fails_alone
from ragmetrics_langchain import LangChainEmbeddings, LangChainLLM


@pytest.mark.slow
def test_of_a_chat_model(server: OpenAIServer, tmp_path: Path) -> None:
    llm = LangChainLLM(chat(server))
    assert_each_row_fails_alone(server, llm, tmp_path / "run")


@pytest.mark.slow
def test_of_an_embedding_model(server: OpenAIServer, key: str) -> None:
    model = OpenAIEmbeddings(
        model="e",
        base_url=server.base_url,
        api_key=key,
        max_retries=0,
        check_embedding_ctx_length=False,
        http_async_client=short_lived(),
    )
    assert_each_call_fails_alone(server, LangChainEmbeddings(model))
