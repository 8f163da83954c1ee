"""Read the fields that are one text, in any value of a program: the question, the answer and the reference.

Strategy. A value is searched in a fixed order. A text or a message is used unchanged. In a mapping (or an object with fields),
the usual names come first, then ``messages``, and last the only text under a name that means nothing else. Nothing is guessed: if
two readings are equally good, neither is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from pydantic_core import to_jsonable_python

from ragmetrics_core import InvalidInput, Score

from ._values import (
    ANSWERS,
    CONTEXTS,
    CONVERSATIONS,
    HISTORY,
    QUESTIONS,
    REFERENCES,
    last_answer,
    last_question,
    mapping_of,
    messages_in,
    said_in,
    text_of,
)

NEITHER = frozenset({*CONTEXTS, *REFERENCES, *HISTORY, "messages"})
NO_ANSWER = NEITHER.union(QUESTIONS)
NO_QUESTION = NEITHER.union(ANSWERS)


@dataclass(frozen=True)
class Answer:
    """The answer in a value: a text, or structured output as JSON values; None if the value says that there is no answer."""

    content: Any

    @property
    def is_structured(self) -> bool:
        """Whether the answer is structured output."""
        return not (self.content is None or isinstance(self.content, str))

    @property
    def text(self) -> str | None:
        """The text that is judged."""
        return json.dumps(self.content, ensure_ascii=False) if self.is_structured else self.content


MISSING = Answer(None)


def question_in(value: Any, depth: int = 3) -> str | None:
    """Return the question in the input of a program."""
    if isinstance(value, (str, BaseMessage)):
        return text_of(value)
    if isinstance(value, CONVERSATIONS):
        return last_question(messages_in(value) or ())
    mapping = mapping_of(value)
    if mapping is None or not depth:
        return None
    if "role" in mapping and "content" in mapping:
        return text_of(next(iter(messages_in(mapping) or ()), None))
    for name in QUESTIONS:
        question = question_in(mapping.get(name), depth - 1)
        if question is not None:
            return question
    messages = messages_in(mapping.get("messages"))
    if messages is not None:
        return last_question(messages)
    return _only_text(mapping, NO_QUESTION) if isinstance(value, Mapping) else None


def _only_text(mapping: Mapping[str, Any], other: Iterable[str]) -> str | None:
    found = (text_of(value) for name, value in mapping.items() if name not in other)
    texts = [text for text in found if text is not None]
    return texts[0] if len(texts) == 1 else None


def answer_in(value: Any, inputs: Any = None, *, whole: bool = True) -> str | None:
    """Return the answer in the output of a program, as a text; None if there is none. See ``find_answer``."""
    return (find_answer(value, inputs, whole=whole) or MISSING).text


def find_answer(value: Any, inputs: Any = None, depth: int = 3, *, whole: bool = True) -> Answer | None:
    """Return the answer in a value; None if it is not clear which part is the answer.

    A number or a boolean counts as its text. A None under a name that means an answer says that there is no answer, unless
    another such name or the messages have one.

    Args:
        value: the output of a program.
        inputs: the inputs of the program; an output that repeats an input under the same name is not an answer.
        depth: levels of mappings to look into.
        whole: whether a mapping as a whole may be the answer, as structured output.
    """
    if isinstance(value, BaseMessage):
        return None if getattr(value, "tool_calls", None) else Answer(said_in(value))
    if isinstance(value, str | int | float | Decimal):
        plain = value.value if isinstance(value, Enum) else value
        return MISSING if _is_gap(plain) else Answer(str(plain))
    if isinstance(value, LLMResult):  # the form in which callbacks get a model's answer
        first = next(chain.from_iterable(value.generations), None)
        return find_answer(getattr(first, "message", getattr(first, "text", None)))
    if isinstance(value, list | tuple):
        return _in_list(value, whole=whole)
    mapping = mapping_of(value)
    if not mapping or not depth:
        return None
    if "role" in mapping and "content" in mapping:
        return find_answer(next(iter(messages_in(mapping) or ()), None))
    return _in_mapping(value, mapping, inputs, depth, whole=whole)


def _in_list(value: Sequence[Any], *, whole: bool) -> Answer | None:
    """Return the last answer in a list of messages; else the whole list as structured output."""
    messages = None if all(isinstance(item, str) for item in value) else messages_in(value)
    if messages is not None:
        text = last_answer(messages)
        return None if text is None else Answer(text)
    return _structure(value) if whole and value and all(map(mapping_of, value)) else None


def _in_mapping(value: Any, mapping: Mapping[str, Any], inputs: Any, depth: int, *, whole: bool) -> Answer | None:
    """Return the answer under a name that means one; else in the messages; else the only text; else the whole mapping as
    structured output.
    """
    answers = [_named(mapping[name], depth) for name in _names(mapping) if name in mapping]
    readable = [answer for answer in answers if answer is not None and answer != MISSING]
    if readable:
        return min(readable, key=lambda answer: not str(answer.content).strip())  # the first answer that is not blank
    messages = messages_in(mapping.get("messages"))
    if messages is not None:
        return _in_list(messages, whole=False)
    if MISSING in answers or _only_failed(mapping):
        return MISSING
    choices = None if answers else mapping.get("choices")
    if isinstance(choices, list) and len(choices) == 1 and mapping_of(choices[0]):  # the form of OpenAI's protocol
        return find_answer(choices[0], None, depth - 1)
    other = NO_ANSWER | set(mapping_of(inputs) or ())
    text = _only_text(mapping, other)
    if text is not None:
        return Answer(text)
    return _structure(value) if whole and not answers and other.isdisjoint(mapping) else None


def _names(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys under which an answer may stand, in order of preference. Structured output ("parsed") comes before the
    message that it was parsed from ("raw").
    """
    message = mapping.get("message")
    return (
        "structured_response",
        *(("parsed", "raw") if {"raw", "parsed"} <= set(mapping) else ()),
        *ANSWERS,
        *(("message",) if isinstance(message, BaseMessage) or mapping_of(message) else ()),
    )


def _named(value: Any, depth: int) -> Answer | None:
    if value is None:
        return MISSING
    answer = find_answer(value, None, depth - 1)
    if answer is None and isinstance(value, list | tuple) and value:
        return _structure(value)
    return answer


def _structure(value: Any) -> Answer | None:
    """Return structured output as JSON values; ``MISSING`` if these contain nothing; None for any other value, such as a
    program's state.
    """
    if any(isinstance(item, (BaseMessage, LangChainDocument, Score)) for item in _leaves(value, depth=5)):
        return None  # a model did not write these
    try:
        plain = to_jsonable_python(value)
    except ValueError:
        return None
    leaves = [item for item in _leaves(plain) if not _is_gap(item)]
    if leaves and all(isinstance(item, str) and not item.strip() for item in leaves):
        return Answer("")
    return Answer(plain) if leaves else MISSING


def _leaves(value: Any, depth: int = 1000) -> Iterator[Any]:
    """Yield the values that contain no other values. An empty list is yielded (nothing was found), an empty object is not."""
    mapping = mapping_of(value)
    if mapping is None and not (value and isinstance(value, list | tuple | set)):
        yield value
    elif depth:
        for item in value if mapping is None else mapping.values():
            yield from _leaves(item, depth - 1)


def reference_in(where: str, value: Any, answer: Answer | None) -> str | None:
    """Read a value as the reference: one text, or JSON if the answer is structured output of the same form.

    Raises:
        InvalidInput: the value is anything else, which no answer can be compared with.
    """
    if value is None or value == {}:
        return None
    answer_found = find_answer(value)
    if answer_found is not None and answer is not None and _have_one_form(answer.content, answer_found.content):
        return Answer(_ordered_as(answer.content, answer_found.content)).text
    if answer_found is None or answer_found.is_structured or (answer_found != MISSING and _is_guess(value)):
        keys = mapping_of(value)
        what = type(value).__name__
        if keys is not None:
            what = f"{sorted(map(str, keys))}, and none of them tells which it is"
        raise InvalidInput(
            f"{where}: a reference is one text, got {what}: name the key of the text with reference_key=..."
        )
    return answer_found.text


def _is_guess(value: Any) -> bool:
    """Whether a mapping has several values, and no name shows which of them is the answer."""
    found = {name: item for name, item in (mapping_of(value) or {}).items() if item is not None}
    return len(found) > 1 and found.keys().isdisjoint({*_names(found), "messages", "choices", "content"})


def _is_gap(value: Any) -> bool:
    return value is None or value != value  # noqa: PLR0124  NaN: a missing value in tables


def _only_failed(mapping: Mapping[str, Any]) -> bool:
    """Whether a mapping contains only an error, or only an empty list where answers would be."""
    said = {name for name, value in mapping.items() if value is not None and value not in ("", [], {})}
    return said == {"error"} or (not said and bool({"choices", "generations"} & set(mapping)))


def _have_one_form(answer: Any, reference: Any) -> bool:
    """Whether both are objects that share a name, or both are lists. Values of different forms can never be equal."""
    if isinstance(answer, dict) and isinstance(reference, dict):
        return not answer.keys().isdisjoint(reference)
    return isinstance(answer, list) and isinstance(reference, list)


def _ordered_as(model: Any, value: Any) -> Any:
    """Return the value with its names in the order of ``model``, because stores of data sets do not keep the order."""
    if isinstance(value, dict) and isinstance(model, dict):
        names = [name for name in model if name in value] + [name for name in value if name not in model]
        return {name: _ordered_as(model.get(name), value[name]) for name in names}
    if isinstance(value, list) and isinstance(model, list):
        return [_ordered_as(model[index] if index < len(model) else None, item) for index, item in enumerate(value)]
    return value
