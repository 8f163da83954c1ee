"""A loopback server as the judge, an index over three short documents, and no settings from outside."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import pytest

from loopback import OpenAIServer

# Absent where only the core is tested.
collect_ignore_glob: list[str] = []
if importlib.util.find_spec("ragmetrics_llama_index") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]

KEY = "sk-secret-4711-abcdefghijklmnop"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from llama_index.core import Settings

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "IS_TESTING"):
        monkeypatch.delenv(name, raising=False)
    before = Settings._llm, Settings._embed_model
    yield
    Settings._llm, Settings._embed_model = before


@pytest.fixture
def nothing_stays_attached() -> Iterator[None]:
    """A handler that listens to LlamaIndex's events in a test has stopped when the test ends."""
    from llama_index.core.instrumentation import get_dispatcher

    dispatcher = get_dispatcher()
    before = len(dispatcher.event_handlers), len(dispatcher.span_handlers)
    yield
    assert (len(dispatcher.event_handlers), len(dispatcher.span_handlers)) == before


@pytest.fixture
def closed_loop() -> Iterator[None]:
    """For evaluators of LlamaIndex, which leave an event loop open when they are asked synchronously."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: "YES", api_key=KEY) as running:
        yield running


@pytest.fixture
def llm(server: OpenAIServer) -> Any:
    from llama_index.doubles import openai_like

    return openai_like(server, KEY)


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def index() -> Any:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    from llama_index.doubles import HashingEmbedding

    texts = {
        "ada": "Ada Lovelace was born in London in 1815.",
        "babbage": "Charles Babbage designed the Analytical Engine.",
        "mendel": "Gregor Mendel bred peas in Brno.",
    }
    nodes = [TextNode(text=text, id_=name) for name, text in texts.items()]
    return VectorStoreIndex(nodes, embed_model=HashingEmbedding())
