"""Language models that answer the metrics' questions. Importing this loads no model library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._lexical._judge import LexicalJudge
from .._values._requests import LLM, AsyncLLM, SyncLLM
from ._factory import llm_factory
from ._native._anthropic import AnthropicLLM
from ._native._gemini import GeminiLLM
from ._openai._llm import OpenAILLM
from ._server._llm import OpenAIServerLLM

__all__ = [
    "LLM",
    "AnthropicLLM",
    "AsyncLLM",
    "GeminiLLM",
    "LexicalJudge",
    "OpenAILLM",
    "OpenAIServerLLM",
    "SyncLLM",
    "llm_factory",
]

if not TYPE_CHECKING:  # to a checker, every name would exist

    def __getattr__(name: str) -> Any:
        from .._support._other_names import no_attribute  # noqa: PLC0415  for mistakes only

        raise no_attribute(__name__, name)
