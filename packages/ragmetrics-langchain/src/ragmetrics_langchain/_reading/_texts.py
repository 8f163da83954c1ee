"""What is one text in a sample: the question, the answer and the reference, found in any value of a LangChain program.

Strategy. A value is searched in a fixed order: a text or a message is what it is; in a mapping (or an object with fields) the
usual keys come first, then ``messages``, then, for want of anything better, the only text under a key that means nothing else.
Nothing is invented: where two readings are equally good, none is taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue
from pydantic_core import to_jsonable_python

from ragmetrics_core import InvalidInput, Score

from ._messages import last_answer, last_question, messages_in, text_of
from ._names import ANSWERS, CONTEXTS, HISTORY, QUESTIONS, REFERENCES, mapping_of

__all__ = ["MISSING", "Answer", "answer_in", "find_answer", "question_in", "reference_in"]

NO_ANSWER = frozenset({*QUESTIONS, *CONTEXTS, *REFERENCES, *HISTORY})
NO_QUESTION = frozenset({*ANSWERS, *CONTEXTS, *REFERENCES, *HISTORY})


def question_in(value: Any, depth: int = 3) -> str | None:
    """The question that a chain's input holds."""
    if isinstance(value, str | BaseMessage):
        return text_of(value)
    if isinstance(value, list | tuple | PromptValue):
        return last_question(messages_in(value) or ())
    found = mapping_of(value)
    if found is None or not depth:
        return None
    if "role" in found and "content" in found:
        return text_of(next(iter(messages_in(found) or ()), None))
    for name in QUESTIONS:
        question = question_in(found.get(name), depth - 1)
        if question is not None:
            return question
    messages = messages_in(found.get("messages"))
    if messages is not None:
        return last_question(messages)
    return _only_text(found, NO_QUESTION) if isinstance(value, Mapping) else None


def _only_text(found: Mapping[str, Any], other: Iterable[str]) -> str | None:
    texts = [text for name, value in found.items() if name not in other and (text := text_of(value)) is not None]
    return texts[0] if len(texts) == 1 else None


@dataclass(frozen=True)
class Answer:
    """What a value says its answer is: a text, structured output as JSON values, or None where it says that there is none."""

    said: Any

    @property
    def is_structured(self) -> bool:
        """Whether it is no text."""
        return not (self.said is None or isinstance(self.said, str))

    @property
    def is_blank(self) -> bool:
        """Whether it is a text without a word."""
        return isinstance(self.said, str) and not self.said.strip()

    @property
    def text(self) -> str | None:
        """What is judged."""
        return json.dumps(self.said, ensure_ascii=False) if self.is_structured else self.said


MISSING = Answer(None)


def answer_in(value: Any, inputs: Any = None, *, whole: bool = True) -> str | None:
    """The answer that a chain's output holds, as a text; None where there is none. See ``find_answer``."""
    return (find_answer(value, inputs, whole=whole) or MISSING).text


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
        first = next(chain.from_iterable(value.generations), None)
        return find_answer(getattr(first, "message", getattr(first, "text", None)))
    if isinstance(value, list | tuple):
        messages = None if all(isinstance(item, str) for item in value) else messages_in(value)
        if messages is not None:
            return _said_last(messages)
        return _structure(value) if whole and value and all(map(mapping_of, value)) else None
    found = mapping_of(value)
    if not found or not depth:
        return None
    if "role" in found and "content" in found:
        return find_answer(next(iter(messages_in(found) or ()), None))
    return _in_mapping(value, found, inputs, depth, whole=whole)


def _scalar(value: Any) -> Answer:
    if isinstance(value, Enum):
        value = value.value
    return MISSING if _is_gap(value) else Answer(str(value))


def _is_gap(value: Any) -> bool:
    return value is None or value != value  # noqa: PLR0124  not a number: how tables say that there is none


def _said_last(messages: list[BaseMessage]) -> Answer | None:
    text = last_answer(messages)
    return None if text is None else Answer(text)


def _in_mapping(value: Any, found: Mapping[str, Any], inputs: Any, depth: int, *, whole: bool) -> Answer | None:
    """The answer under a name that means one, else in the messages, else the only text, else the whole as structured output."""
    named = [_named(found[name], depth) for name in _names(found) if name in found]
    readable = [answer for answer in named if answer is not None and answer != MISSING]
    if readable:
        return min(readable, key=lambda answer: answer.is_blank)
    messages = messages_in(found.get("messages"))
    if messages is not None:
        return _said_last(messages)
    if MISSING in named or _only_failed(found):
        return MISSING
    choices = None if named else found.get("choices")
    if isinstance(choices, list) and len(choices) == 1 and mapping_of(choices[0]):  # as in OpenAI's protocol
        return find_answer(choices[0], None, depth - 1)
    other = NO_ANSWER | set(mapping_of(inputs) or ())
    text = _only_text(found, other)
    if text is not None:
        return Answer(text)
    return _structure(value) if whole and not named and other.isdisjoint(found) else None


def _names(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that mean an answer; structured output comes before the messages it was made of."""
    message = found.get("message")
    return (
        "structured_response",
        *(("parsed", "raw") if {"raw", "parsed"} <= set(found) else ()),
        *ANSWERS,
        *(("message",) if isinstance(message, BaseMessage) or mapping_of(message) else ()),
    )


def _named(value: Any, depth: int) -> Answer | None:
    if value is None:
        return MISSING
    answer = find_answer(value, None, depth - 1)
    return _structure(value) if answer is None and isinstance(value, list | tuple) and value else answer


def _only_failed(found: Mapping[str, Any]) -> bool:
    """Whether all that is said is an error, or the one list that answers come in is empty."""
    said = {name for name, value in found.items() if value is not None and value not in ("", [], {})}
    return said == {"error"} or (not said and bool({"choices", "generations"} & set(found)))


def _structure(value: Any) -> Answer | None:
    """Structured output as JSON values; None where something in it is none, as in what a program keeps for itself."""
    if any(isinstance(item, BaseMessage | Document | Score) for item in _leaves(value, depth=5)):
        return None  # no model wrote those
    try:
        plain = to_jsonable_python(value)
    except ValueError:
        return None
    said = [item for item in _leaves(plain) if not _is_gap(item)]
    if said and all(isinstance(item, str) and not item.strip() for item in said):
        return Answer("")
    return Answer(plain) if said else MISSING


def _leaves(value: Any, depth: int = 1000) -> Iterator[Any]:
    """What a value says, at any depth; an empty list says that nothing was found, an empty object says nothing."""
    found = mapping_of(value)
    inner: Iterable[Any]
    if found is not None:
        inner = found.values()
    elif value and isinstance(value, list | tuple | set):
        inner = value
    else:
        yield value
        return
    for item in inner if depth else ():
        yield from _leaves(item, depth - 1)


def reference_in(where: str, value: Any, answer: Answer | None) -> str | None:
    """The reference that a value is; as JSON only where the answer is structured output too.

    Raises:
        InvalidInput: it is something else: no comparison with an answer would mean anything.
    """
    if value is None or value == {}:
        return None
    found = find_answer(value)
    if found is not None and answer is not None and _have_one_form(answer.said, found.said):
        return Answer(_ordered_as(answer.said, found.said)).text
    if found is None or found.is_structured or (found != MISSING and _is_guess(value)):
        keys = mapping_of(value)
        what = type(value).__name__ if keys is None else f"{sorted(map(str, keys))}, and none of them tells which it is"
        raise InvalidInput(f"{where}: a reference is one text, got {what}: say where it is with reference_key=...")
    return found.text


def _is_guess(value: Any) -> bool:
    """Whether nothing but the kind of a value could tell which of several in a mapping is the answer."""
    found = {name: item for name, item in (mapping_of(value) or {}).items() if item is not None}
    return len(found) > 1 and found.keys().isdisjoint({*_names(found), "messages", "choices", "content"})


def _have_one_form(answer: Any, reference: Any) -> bool:
    """Whether both are objects with a name in common, or both are lists: others can only differ."""
    if isinstance(answer, dict) and isinstance(reference, dict):
        return not answer.keys().isdisjoint(reference)
    return isinstance(answer, list) and isinstance(reference, list)


def _ordered_as(model: Any, value: Any) -> Any:
    """The same value, its names in the order that they have in another one: stores of data sets do not keep it."""
    if isinstance(value, dict) and isinstance(model, dict):
        names = [name for name in model if name in value] + [name for name in value if name not in model]
        return {name: _ordered_as(model.get(name), value[name]) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        return [_ordered_as(model[index] if index < len(model) else None, item) for index, item in enumerate(value)]
    return value
