"""Reading LangChain's many ways to write a message: objects, ``(role, text)`` pairs, dicts of two dialects, plain texts.

Reading never raises: what is no message is no message, and the caller looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.prompt_values import PromptValue

__all__ = ["Turn", "is_pending", "last_answer", "last_question", "text_of", "this_turn", "turns_in"]

Role = Literal["user", "assistant", "system", "tool", "other"]
ROLES: Mapping[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True)
class Turn:
    """One message: who says it, its text, whether it calls tools, and what a tool leaves beside its text."""

    role: Role
    text: str
    calls_tools: bool = False
    artifact: Any = None


def turns_in(value: Any) -> list[Turn] | None:
    """The messages that a value holds; None if it holds none."""
    if isinstance(value, PromptValue):
        value = value.to_messages()
    if isinstance(value, BaseMessage | str | Mapping) or _is_pair(value):
        value = [value]
    if not isinstance(value, Sequence) or not value:
        return None
    if len(value) > 1 and all(isinstance(item, str) for item in value):
        return None  # several texts: nothing tells who says which
    turns = [turn_of(item) for item in value]
    known = [turn for turn in turns if turn is not None]
    return known if len(known) == len(turns) else None


def turn_of(value: Any) -> Turn | None:
    """The message that a value stands for; None if it stands for none."""
    if isinstance(value, BaseMessage):
        # chunks call themselves "AIMessageChunk"
        role = ROLES.get(value.type.removesuffix("MessageChunk").lower(), "other")
        calls = isinstance(value, AIMessage) and bool(value.tool_calls or value.invalid_tool_calls)
        artifact = value.artifact if isinstance(value, ToolMessage) else None
        return Turn(role, str(value.text), calls, artifact)
    if isinstance(value, str):
        return Turn("user", value)
    if _is_pair(value):
        return Turn(ROLES[value[0]], value[1])
    if isinstance(value, Mapping):
        return _from_mapping(value)
    return None


def _from_mapping(value: Mapping[str, Any]) -> Turn | None:
    role = ROLES.get(str(value.get("role") or value.get("type") or ""))
    inner = value.get("data")
    if role is not None and isinstance(inner, Mapping):  # as LangChain stores messages
        value = inner
    if role is None or "content" not in value:
        return None
    return Turn(role, _content(value["content"]), bool(value.get("tool_calls")), value.get("artifact"))


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    return "".join(_block(block) for block in content)


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) and block.get("type", "text") == "text" else None
    return text if isinstance(text, str) else ""


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and isinstance(value[0], str)
        and value[0] in ROLES
        and isinstance(value[1], str)
    )


def text_of(value: Any) -> str | None:
    """The text of a text or of a message; None where there is none, or nothing but white space."""
    text = value if isinstance(value, str) else str(value.text) if isinstance(value, BaseMessage) else None
    return text if text and text.strip() else None


def last_question(turns: Sequence[Turn]) -> str | None:
    """What the user said last."""
    return next((turn.text for turn in reversed(turns) if turn.role == "user" and turn.text.strip()), None)


def this_turn(turns: Sequence[Turn]) -> list[Turn]:
    """What came after the user's last message; all of it where no user spoke."""
    found: list[Turn] = []
    for turn in reversed(turns):
        if turn.role == "user":
            break
        found.append(turn)
    return found[::-1]


def last_answer(turns: Sequence[Turn]) -> str | None:
    """What the assistant said last in answer to the user; what a tool said, where that is the last word.

    An assistant that ends its turn without a word gave a blank answer.
    """
    said = this_turn(turns)
    if said and said[-1].role == "tool":  # a tool that answers directly
        return said[-1].text or None
    is_over = bool(said) and said[-1].role == "assistant" and not said[-1].calls_tools
    return next(_answers(said), "" if is_over else None)


def _answers(said: Sequence[Turn]) -> Iterator[str]:
    for turn in reversed(said):
        if turn.role == "assistant" and not turn.calls_tools and turn.text.strip():
            yield turn.text


def is_pending(turns: Sequence[Turn]) -> bool:
    """Whether the conversation stops where a tool is called: somebody has to go on before there is an answer."""
    return bool(turns) and turns[-1].role == "assistant" and turns[-1].calls_tools
