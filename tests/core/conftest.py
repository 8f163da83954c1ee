"""A loopback server, and questions to put to models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from loopback import OpenAIServer
from ragmetrics_core import Ask, Prompt

SERVERS = """
OPENAI AZURE_OPENAI OLLAMA VLLM LLAMACPP LLAMA_API LMSTUDIO OPENROUTER LITELLM
ANTHROPIC AWS BEDROCK DEEPSEEK FIREWORKS GEMINI GOOGLE GROQ MISTRAL TOGETHER
"""
OUTSIDE = tuple(f"{name}_" for name in SERVERS.split())
"""What the environment variables with addresses and keys of servers begin with."""

KEY = "sk-secret-4711-abcdefghijklmnop"

VERDICT = {
    "title": "Verdict",
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"type": "boolean", "default": False}},
    "required": ["reason"],
}


@dataclass(frozen=True)
class Format:
    schema: Mapping[str, Any] | None = None

    def instructions(self) -> str:
        return "Reply with JSON." if self.schema else "Reply with one word."

    def parse(self, text: str) -> str:
        return text


Asking = Callable[..., Ask]


@pytest.fixture
def ask() -> Asking:
    """Makes a question; ``schema=VERDICT`` by default, ``schema=None`` for plain text."""

    def asking(
        text: str = "yes?",
        *,
        schema: Mapping[str, Any] | None = VERDICT,
        instructions: str = "Judge.",
        name: str = "judge",
    ) -> Ask:
        prompt = Prompt(instructions, Format(schema), name=name)
        return Ask(prompt.messages({"text": text}), prompt.reply, prompt, {"text": text})

    return asking


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: '{"reason": "so", "verdict": true}', api_key=KEY) as running:
        yield running


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(OUTSIDE)]:
        monkeypatch.delenv(name)
