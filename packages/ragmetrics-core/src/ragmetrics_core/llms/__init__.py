"""Language models that answer the metrics' questions. Importing this loads no model library."""

from __future__ import annotations

from .._protocols import LLM, AsyncLLM, SyncLLM
from ._factory import llm_factory
from ._lexical_judge import LexicalJudge
from ._openai import OpenAILLM
from ._openai_server import OpenAIServerLLM

__all__ = ["LLM", "AsyncLLM", "LexicalJudge", "OpenAILLM", "OpenAIServerLLM", "SyncLLM", "llm_factory"]
