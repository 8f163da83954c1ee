"""Question, answer and contexts in the values that LangChain programs take and return. The one place that knows their habits.

Strategy. A value is searched in a fixed order: a text or a message is what it is; in a mapping (or an object with fields) the usual
keys come first, then ``messages``, then, for want of anything better, the only text under a key that means nothing else. Nothing is
invented: where two readings are equally good, none is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue

from ragmetrics_core import Score

from ._documents import contexts_in
from ._messages import last_answer, last_question, text_of, turns_in
from ._structured import json_of

__all__ = ["ANSWERS", "CONTEXTS", "QUESTIONS", "REFERENCES", "answer_in", "mapping_of", "question_in", "returned"]

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
HISTORY = ("chat_history", "history")
NO_ANSWER = frozenset({*QUESTIONS, *CONTEXTS, *REFERENCES, *HISTORY, "messages"})
NO_QUESTION = frozenset({*ANSWERS, *CONTEXTS, *REFERENCES, *HISTORY, "messages"})


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """A mapping as it is, an object with declared fields as one; None for anything else, messages and documents included."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseMessage | LangChainDocument | PromptValue | LLMResult | Score | type):
        return None
    if is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    declared = getattr(type(value), "model_fields", None)
    return {name: getattr(value, name) for name in declared} if isinstance(declared, Mapping) else None


def question_in(value: Any, depth: int = 3) -> str | None:
    """The question that a chain's input holds."""
    if isinstance(value, str | BaseMessage):
        return text_of(value)
    if isinstance(value, list | tuple | PromptValue):
        turns = turns_in(value)
        return None if turns is None else last_question(turns)
    found = mapping_of(value)
    if found is None or not depth:
        return None
    if "role" in found and "content" in found:
        return _said(found)
    for name in QUESTIONS:
        question = question_in(found.get(name), depth - 1)
        if question is not None:
            return question
    turns = turns_in(found.get("messages"))
    if turns is not None:
        return last_question(turns)
    return _only_text(found, NO_QUESTION) if isinstance(value, Mapping) else None


def answer_in(value: Any, inputs: Any = None, depth: int = 3, *, whole: bool = True) -> str | None:
    """The answer that a chain's output holds.

    Args:
        value: the output.
        inputs: what was given to the chain; it is no answer where it comes back.
        depth: levels of mappings to look into.
        whole: whether structured output may be the answer as a whole, as JSON.
    """
    if isinstance(value, BaseMessage):
        return None if getattr(value, "tool_calls", None) else text_of(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, LLMResult):
        return _generated(value)
    if isinstance(value, list | tuple):
        turns = turns_in(value) if any(not isinstance(item, str) for item in value) else None
        if turns is not None:
            return last_answer(turns)
        return json_of(value) if whole and value and all(mapping_of(item) for item in value) else None
    found = mapping_of(value)
    if not found or not depth:
        return None
    if "role" in found and "content" in found:
        return None if found.get("tool_calls") else _said(found)
    return _named_answer(found, depth) or _unnamed_answer(value, found, inputs, whole=whole)


def _named_answer(found: Mapping[str, Any], depth: int) -> str | None:
    """The answer under a name that means one; structured output comes before the messages it was made of."""
    named = ("structured_response", "parsed", "raw") if {"raw", "parsed"} <= set(found) else ("structured_response",)
    for name in (*named, *ANSWERS):
        answer = answer_in(found.get(name), None, depth - 1)
        if answer is not None:
            return answer
    return None


def _unnamed_answer(value: Any, found: Mapping[str, Any], inputs: Any, *, whole: bool) -> str | None:
    turns = turns_in(found.get("messages"))
    if turns is not None:
        return last_answer(turns)
    other = NO_ANSWER | set(mapping_of(inputs) or ())
    text = _only_text(found, other)
    if text is not None or not whole or not other.isdisjoint(found):
        return text
    return json_of(value)


def _said(message: Mapping[str, Any]) -> str | None:
    """The text of a message in OpenAI's dialect."""
    turns = turns_in(message)
    return text_of(turns[0].text) if turns else None


def _generated(result: LLMResult) -> str | None:
    generation = next((item for row in result.generations for item in row), None)
    message = getattr(generation, "message", None)
    return answer_in(message) if message is not None else text_of(getattr(generation, "text", None))


def _only_text(found: Mapping[str, Any], other: Iterable[str]) -> str | None:
    texts = [text_of(value) for name, value in found.items() if name not in other]
    known = [text for text in texts if text is not None]
    return known[0] if len(known) == 1 else None


def returned(value: Any, names: Iterable[str] = CONTEXTS) -> tuple[list[Any] | None, list[str] | None]:
    """The contexts that stand under one of the usual names: as documents (texts may be among them), and as texts.

    An empty list of documents says that nothing was shown.
    """
    found = mapping_of(value) or {}
    readings = [reading for name in names if (reading := contexts_in(found.get(name))) is not None]
    documents = next((items for items in readings if any(not isinstance(item, str) for item in items)), None)
    texts = next((items for items in readings if items and all(isinstance(item, str) for item in items)), None)
    if documents is None and texts is None and readings:
        documents = []
    return documents, texts
