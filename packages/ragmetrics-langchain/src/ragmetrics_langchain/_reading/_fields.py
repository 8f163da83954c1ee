"""Question, answer and contexts in the values that LangChain programs take and return. The one place that knows their habits.

Strategy. A value is searched in a fixed order: a text or a message is what it is; in a mapping (or an object with fields) the usual
keys come first, then ``messages``, then, for want of anything better, the only text under a key that means nothing else. Nothing is
invented: where two readings are equally good, none is taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue
from pydantic_core import to_jsonable_python

from ragmetrics_core import Score

from ._documents import contexts_in, distinct, document_lists
from ._messages import Turn, last_answer, last_question, text_of, this_turn, turns_in

__all__ = [
    "ANSWERS",
    "CONTEXTS",
    "MISSING",
    "QUESTIONS",
    "REFERENCES",
    "Answer",
    "answer_in",
    "find_answer",
    "found_by_tools",
    "is_guess",
    "mapping_of",
    "question_in",
    "returned",
]

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
        turns = turns_in(found)
        return text_of(turns[0].text) if turns else None
    for name in QUESTIONS:
        question = question_in(found.get(name), depth - 1)
        if question is not None:
            return question
    turns = turns_in(found.get("messages"))
    if turns is not None:
        return last_question(turns)
    return _only_text(found, NO_QUESTION) if isinstance(value, Mapping) else None


@dataclass(frozen=True)
class Answer:
    """What a value says its answer is: a text, or structured output; neither where it says that there is none."""

    text: str | None = None
    structure: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read in it."""
        return not (self.text or "").strip() and self.structure is None

    def __str__(self) -> str:
        return self.text or "" if self.structure is None else json.dumps(self.structure, ensure_ascii=False)


MISSING = Answer()


def answer_in(value: Any, inputs: Any = None, *, whole: bool = True) -> str | None:
    """The answer that a chain's output holds, as a text; None where there is none. See ``find_answer``."""
    found = find_answer(value, inputs, whole=whole)
    return None if found is None or found == MISSING else str(found)


def find_answer(value: Any, inputs: Any = None, depth: int = 3, *, whole: bool = True) -> Answer | None:
    """The answer that a value holds; None where nothing tells.

    A number or a switch is its text. What holds None where an answer belongs holds none, whatever else there is.

    Args:
        value: the output.
        inputs: what was given to the chain; it is no answer where it comes back.
        depth: levels of mappings to look into.
        whole: whether structured output may be the answer as a whole.
    """
    if isinstance(value, BaseMessage):
        return None if getattr(value, "tool_calls", None) else Answer(str(value.text))
    if isinstance(value, str | int | float | Decimal):
        return _scalar(value)
    if isinstance(value, LLMResult):
        return _generated(value)
    if isinstance(value, list | tuple):
        turns = turns_in(value) if any(not isinstance(item, str) for item in value) else None
        if turns is not None:
            return _said_last(turns)
        return _structure(value) if whole and value and all(mapping_of(item) for item in value) else None
    found = mapping_of(value)
    if not found or not depth:
        return None
    if "role" in found and "content" in found:
        return None if found.get("tool_calls") else _said(found)
    return _in_mapping(value, found, inputs, depth, whole=whole)


def _scalar(value: Any) -> Answer:
    if isinstance(value, Enum):
        value = value.value
    return MISSING if value != value else Answer(str(value))  # noqa: PLR0124  not a number: how tables say that there is none


def _in_mapping(value: Any, found: Mapping[str, Any], inputs: Any, depth: int, *, whole: bool) -> Answer | None:
    """The answer under a name that means one, else in the messages, else the only text, else the whole as structured output."""
    named = [_named(found[name], depth) for name in _names(found) if name in found]
    readable = [answer for answer in named if answer is not None and answer != MISSING]
    answer = next((answer for answer in readable if not answer.is_empty), None) or next(iter(readable), None)
    turns = turns_in(found.get("messages")) if answer is None else None
    if answer is not None or turns is not None:
        return answer or _said_last(turns or ())
    if MISSING in named or _only_failed(found):
        return MISSING
    choices = None if named else found.get("choices")
    if (
        isinstance(choices, list) and len(choices) == 1 and mapping_of(choices[0])
    ):  # as servers of OpenAI's protocol answer
        return find_answer(choices[0], None, depth - 1)
    other = NO_ANSWER | set(mapping_of(inputs) or ())
    text = _only_text(found, other)
    if text is not None:
        return Answer(text)
    return _structure(value) if whole and not named and other.isdisjoint(found) else None


def _only_failed(found: Mapping[str, Any]) -> bool:
    """Whether all that is said is an error, or the one list that answers come in is empty."""
    said = {name for name, value in found.items() if value is not None and value not in ("", [], {})}
    return said == {"error"} or (not said and bool({"choices", "generations"} & set(found)))


def _names(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that mean an answer; structured output comes before the messages it was made of."""
    parsed = ("parsed", "raw") if {"raw", "parsed"} <= set(found) else ()
    message = ("message",) if isinstance(found.get("message"), BaseMessage) or mapping_of(found.get("message")) else ()
    return ("structured_response", *parsed, *ANSWERS, *message)


def is_guess(value: Any) -> bool:
    """Whether nothing but the kind of a value could tell which of several in a mapping is the answer."""
    found = {name: item for name, item in (mapping_of(value) or {}).items() if item is not None}
    return len(found) > 1 and found.keys().isdisjoint({*_names(found), "messages", "choices", "content"})


def _named(value: Any, depth: int) -> Answer | None:
    if value is None:
        return MISSING
    answer = find_answer(value, None, depth - 1)
    return _structure(value) if answer is None and isinstance(value, list | tuple) and value else answer


def _structure(value: Any) -> Answer | None:
    """Structured output as JSON values; None where something in it is none, as in what a program keeps for itself."""
    if _holds_state(value):
        return None
    try:
        plain = to_jsonable_python(value)
    except ValueError:
        return None
    said = [item for item in _leaves(plain) if item is not None and item == item]  # noqa: PLR0124  not a number: a gap
    if said and all(isinstance(item, str) and not item.strip() for item in said):
        return Answer("")
    return Answer(structure=plain) if said else MISSING


def _leaves(plain: Any) -> Iterator[Any]:
    """What JSON values say, at any depth; an empty list says that nothing was found, an empty object says nothing."""
    pending = [plain]
    while pending:
        item = pending.pop()
        if isinstance(item, dict) or (isinstance(item, list) and item):
            pending.extend(item.values() if isinstance(item, dict) else item)
        else:
            yield item


def _holds_state(value: Any, depth: int = 5) -> bool:
    """Whether messages, documents or scores are in it: no model wrote those."""
    if isinstance(value, BaseMessage | LangChainDocument | Score):
        return True
    found = mapping_of(value)
    inner = found.values() if found is not None else value if isinstance(value, list | tuple | set) else ()
    return depth > 0 and any(_holds_state(item, depth - 1) for item in inner)


def _said(message: Mapping[str, Any]) -> Answer | None:
    """The text of a message in OpenAI's dialect."""
    turns = turns_in(message)
    return Answer(turns[0].text) if turns else None


def _said_last(turns: Sequence[Turn]) -> Answer | None:
    text = last_answer(turns)
    return None if text is None else Answer(text)


def _generated(result: LLMResult) -> Answer | None:
    generation = next((item for row in result.generations for item in row), None)
    message = getattr(generation, "message", None)
    return find_answer(message if message is not None else getattr(generation, "text", None))


def _only_text(found: Mapping[str, Any], other: Iterable[str]) -> str | None:
    texts = [text_of(value) for name, value in found.items() if name not in other]
    known = [text for text in texts if text is not None]
    return known[0] if len(known) == 1 else None


def found_by_tools(turns: Sequence[Turn]) -> list[Any]:
    """What the tools of this turn brought: the documents that they left, else what they said, unless that is the answer."""
    said = [turn for turn in this_turn(turns) if turn.role == "tool"]
    documents = distinct(document for turn in said for found in document_lists(turn.artifact) for document in found)
    before = said[:-1] if turns and turns[-1].role == "tool" else said
    return list(documents) or [turn.text for turn in before if turn.text.strip()]


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
