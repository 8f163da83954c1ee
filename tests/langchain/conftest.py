"""Fixtures of the LangChain tests.

The modules that these tests share cannot be imported as ``langchain.*``, which is LangChain's own name: their folder is put on
the path instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback import OpenAIServer

sys.path.append(str(Path(__file__).parent / "shared"))
pytest.register_assert_rewrite("lc_table")

KEY = "sk-secret-4711-abcdefghijklmnop"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no tracing of the machine's user."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORG_ID", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING"):
        monkeypatch.setenv(name, "false")


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: '{"reason": "so", "verdict": true}', api_key=KEY) as running:
        yield running
