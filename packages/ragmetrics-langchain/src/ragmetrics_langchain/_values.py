"""How LangChain programs write what they take and return: messages and documents.

Strategy. Messages are objects, ``(role, text)`` pairs, mappings in two dialects, or plain texts. LangChain's own
``convert_to_messages`` makes the objects. It raises at what records often lack or spoil: the id of a tool's call, the name of a
function, the arguments of a call. So a mapping is first cut down to what is asked about it here. What is read off messages and
documents is the core's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.outputs import LLMResult
from langchain_core.prompt_values import PromptValue

from ragmetrics_core import Document
from ragmetrics_core.adapters import ExampleReader

ROLES = frozenset({"human", "user", "ai", "assistant", "system", "developer", "tool", "function"})
SOME_CALL = {"name": "", "args": {}, "id": ""}


class LangChainReader(ExampleReader):
    """Reads messages and documents of LangChain."""

    message = BaseMessage
    document = LangChainDocument
    of_users = (HumanMessage,)
    of_models = (AIMessage,)
    of_tools = (ToolMessage, FunctionMessage)
    conversations = (list, tuple, PromptValue)
    opaque = (PromptValue, LLMResult)
    reference_cure = "say where it is with reference_key=..."

    def messages_in(self, value: Any) -> list[BaseMessage] | None:
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

    def said_in(self, message: BaseMessage) -> str:
        return str(message.text)

    def calls_tools(self, message: Any) -> bool:
        return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)

    def unwrapped(self, value: Any) -> Any:
        """The first message or text of what a model returned to its callbacks; anything else as it is."""
        if not isinstance(value, LLMResult):
            return value
        first = next(chain.from_iterable(value.generations), None)
        return getattr(first, "message", getattr(first, "text", None))

    def document_of(self, value: Any) -> LangChainDocument | None:
        if isinstance(value, LangChainDocument):
            return value
        if not isinstance(value, Mapping):
            return None
        if isinstance(value.get("kwargs"), Mapping):  # as LangChain serialises it
            value = value["kwargs"]
        text, key, metadata = value.get("page_content"), value.get("id"), value.get("metadata")
        if not isinstance(text, str):
            return None
        meta = dict(metadata) if isinstance(metadata, Mapping) else {}
        return LangChainDocument(page_content=text, id=None if key is None else str(key), metadata=meta)

    def core_document(self, document: LangChainDocument) -> Document:
        return Document(document.page_content, document.id, meta=document.metadata)


VALUES = LangChainReader()


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
