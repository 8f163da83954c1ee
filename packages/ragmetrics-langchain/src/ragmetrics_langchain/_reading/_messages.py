"""Messages in the many ways to write them: objects, ``(role, text)`` pairs, mappings in two dialects, plain texts.

Strategy. LangChain's own ``convert_to_messages`` makes the objects. It raises at what records often lack or spoil: the id of a
tool's call, the name of a function, the arguments of a call. So a mapping is first cut down to what is asked about it here.
Reading never raises: what is no message is no message, and the caller looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

__all__ = ["calls_tools", "is_from_tool", "last_answer", "last_question", "messages_in", "text_of", "this_turn"]

ROLES = frozenset({"human", "user", "ai", "assistant", "system", "developer", "tool", "function"})
SOME_CALL = {"name": "", "args": {}, "id": ""}


def messages_in(value: Any) -> list[BaseMessage] | None:
    """The messages that a value holds; None if it holds none."""
    if isinstance(value, PromptValue):
        value = value.to_messages()
    if isinstance(value, BaseMessage | str | Mapping) or _is_pair(value):
        value = [value]
    if not isinstance(value, Sequence) or not value:
        return None
    if len(value) > 1 and all(isinstance(item, str) for item in value):
        return None  # several texts: nothing tells who says which
    convertible = [_convertible(item) for item in value]
    known = [item for item in convertible if item is not None]
    return convert_to_messages(known) if len(known) == len(convertible) else None


def _convertible(value: Any) -> BaseMessage | str | dict[str, Any] | None:
    """The same message as ``convert_to_messages`` takes it without an error; None for what is no message."""
    if isinstance(value, BaseMessage | str):
        return value
    if _is_pair(value):
        value = {"role": value[0], "content": value[1]}
    if not isinstance(value, Mapping):
        return None
    role = str(value.get("role") or value.get("type"))
    stored = value.get("data")  # as LangChain stores messages
    value = stored if isinstance(stored, Mapping) else value
    if role not in ROLES or "content" not in value:
        return None
    return {
        "role": role,
        "content": _content(value["content"]),
        "tool_calls": [SOME_CALL] if value.get("tool_calls") else [],
        "artifact": value.get("artifact"),
        "name": "",
        "tool_call_id": "",
    }


def _content(content: Any) -> str | list[Any]:
    """A text or a list of blocks; some providers leave out their type."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return content if isinstance(content, str) else ""
    blocks = [block for block in content if isinstance(block, str | Mapping)]
    return [{"type": "text", **block} if isinstance(block, Mapping) else block for block in blocks]


def _is_pair(value: Any) -> bool:
    is_two_texts = isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(item, str) for item in value)
    return is_two_texts and value[0] in ROLES


def text_of(value: Any) -> str | None:
    """A text, or the text of a message; None if it is blank, or the value neither."""
    text = value if isinstance(value, str) else str(value.text) if isinstance(value, BaseMessage) else None
    return text if text and text.strip() else None


def calls_tools(message: BaseMessage) -> bool:
    """Whether a model calls tools with it, so that the answer is still to come."""
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def is_from_tool(message: BaseMessage) -> bool:
    """Whether it is what a tool said."""
    return isinstance(message, ToolMessage | FunctionMessage)


def last_question(messages: Sequence[BaseMessage]) -> str | None:
    """What the user said last."""
    asked = (text_of(message) for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(filter(None, asked), None)


def this_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What came after the user's last message; everything where there is none."""
    start = next((at for at in range(len(messages), 0, -1) if isinstance(messages[at - 1], HumanMessage)), 0)
    return messages[start:]


def last_answer(messages: Sequence[BaseMessage]) -> str | None:
    """The last text of the assistant since the user's last message; that of a tool, if the tool spoke last.

    If the assistant's last message is blank and there is no other, so is the answer.
    """
    said = this_turn(messages)
    if said and is_from_tool(said[-1]):  # a tool that answers directly
        return str(said[-1].text) or None
    answers = [message for message in said if isinstance(message, AIMessage) and not calls_tools(message)]
    texts = filter(None, map(text_of, reversed(answers)))
    return next(texts, "" if answers and answers[-1] is said[-1] else None)
