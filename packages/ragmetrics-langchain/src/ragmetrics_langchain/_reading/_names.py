"""Which name means what in the mappings that LangChain programs take and return: the only table, used by all readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue

from ragmetrics_core import Score

__all__ = ["ANSWERS", "CONTEXTS", "EXPECTED", "HISTORY", "QUESTIONS", "REFERENCES", "mapping_of"]

QUESTIONS = ("user_input", "question", "query", "input")
ANSWERS = (
    "response",
    "answer",
    "output",
    "result",
    "generation",
    "final_answer",
    "predicted_answer",
    "generated_answer",
    "text",
)
CONTEXTS = (
    "retrieved_contexts",
    "contexts",
    "context",
    "retrieved_documents",
    "source_documents",
    "documents",
    "docs",
)
REFERENCES = ("reference", "ground_truth", "reference_answer", "ground_truth_answer", "expected_answer")
EXPECTED = ("reference_contexts", "reference_documents", "rubric")
HISTORY = ("chat_history", "history", "messages")
"""Each table lists its names in the order in which they are tried."""


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """A mapping as it is, an object with declared fields as a mapping; None for anything else, also for messages and documents."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseMessage | Document | PromptValue | LLMResult | Score | type):
        return None
    if is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    declared = getattr(type(value), "model_fields", None)
    return {name: getattr(value, name) for name in declared} if isinstance(declared, Mapping) else None
