"""Haystack's own clients of OpenAI, answered oddly: each answer costs its own call and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.utils.auth import Secret

from loopback import OpenAIServer
from odd_calls import assert_each_call_fails_alone, assert_each_row_fails_alone
from ragmetrics_haystack import HaystackEmbeddings, HaystackLLM


@pytest.mark.slow
def test_of_a_chat_generator(server: OpenAIServer, openai: Any, tmp_path: Path) -> None:
    assert_each_row_fails_alone(server, HaystackLLM(openai(server)), tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [OpenAITextEmbedder, OpenAIDocumentEmbedder])
def test_of_an_embedder(server: OpenAIServer, kind: Any) -> None:
    settings = {"http_client_kwargs": {"headers": {"Connection": "close"}}, "max_retries": 0}
    embedder = kind(Secret.from_token(server.api_key), model="e", api_base_url=server.base_url, **settings)
    assert_each_call_fails_alone(server, HaystackEmbeddings(embedder))
