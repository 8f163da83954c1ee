"""Models by name where nothing is called."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from ragmetrics_core import estimate
from ragmetrics_core._names._named import Uncalled, embeddings_named, embeddings_to_price, llm_named, llm_to_price
from ragmetrics_core._values._errors import InvalidInput, MissingExtra

LOCAL = "http://localhost:1/v1"


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, no package of a model is found."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    found = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in ("openai", "aiohttp", "sentence_transformers") else found(name, package)

    return lambda: monkeypatch.setattr(importlib.util, "find_spec", find_spec)


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("openai:gpt-4o-mini", None),
        (" gpt-4o-mini ", None),
        ("ft:gpt-4o-mini:acme::1", None),
        ("llama3.1:8b", LOCAL),
        ("openai:llama3.1:8b", "http://me:secret@localhost:1/v1/"),
        ("server:llama3.1:8b", LOCAL),
        ("ollama:llama3.1:8b", None),
        ("deepseek:deepseek-chat", LOCAL),
        ("LM-Studio:qwen", LOCAL),
    ],
)
def test_it_says_of_itself_what_the_model_says(
    name: str, base_url: str | None, without_packages: Callable[[], None]
) -> None:
    model = llm_named(name, base_url)
    assert type(llm_to_price(name, base_url)) is type(model)
    without_packages()
    with pytest.raises(MissingExtra):
        llm_named(name, base_url)
    stand_in = llm_to_price(name, base_url)
    assert isinstance(stand_in, Uncalled)
    assert (stand_in.model, stand_in.identity) == (model.model, model.identity)
    for call in (stand_in.generate, stand_in.embed):
        with pytest.raises(MissingExtra, match="is not installed: pip install"):
            call([])


@pytest.mark.parametrize("name", ["openai", "openai:text-embedding-3-large", "ollama:nomic-embed-text"])
def test_embeddings_too(name: str, without_packages: Callable[[], None]) -> None:
    model = embeddings_named(name)
    without_packages()
    stand_in = embeddings_to_price(name)
    assert isinstance(stand_in, Uncalled)
    assert (stand_in.model, stand_in.identity) == (model.model, model.identity)


def test_no_key_is_needed(without_packages: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="needs a key"):
        llm_named("openrouter:qwen/qwen3-32b")
    there = llm_to_price("openrouter:qwen/qwen3-32b")
    without_packages()
    assert llm_to_price("openrouter:qwen/qwen3-32b").identity == there.identity


def test_what_is_computed_here_needs_its_package(without_packages: Callable[[], None]) -> None:
    without_packages()
    with pytest.raises(MissingExtra, match="sentence-transformers"):
        embeddings_to_price("sentence-transformers:all-MiniLM-L6-v2")


def test_an_address_that_is_none(without_packages: Callable[[], None]) -> None:
    without_packages()
    with pytest.raises(InvalidInput, match="^base_url must start with"):
        llm_to_price("gpt", "localhost")


def test_a_price_without_the_package(without_packages: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    rows = [{"user_input": "Where?", "response": "In Paris.", "reference": "Paris."}]
    both = {"llm": "openai:gpt-4o-mini", "embeddings": "openai"}
    there = estimate(rows, "answer_correctness", **both)  # type: ignore[arg-type]
    without_packages()
    assert estimate(rows, "answer_correctness", **both) == there  # type: ignore[arg-type]
    assert there.calls > 1
