"""Read messages and contexts in the values of a LangChain program.

Strategy. Messages may be objects, ``(role, text)`` pairs, mappings in two dialects, or plain texts. LangChain's own
``convert_to_messages`` turns them into objects. It raises if parts are missing or invalid, as is usual in records: the id of a
tool call, the name of a function, the arguments of a call. So a mapping is first reduced to the parts that are needed here.
Reading never raises: if a value is not a message, the caller looks elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import takewhile
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

from ragmetrics_core import Document, Score

# The names of a sample's fields in the values of programs, each list in the order in which they are tried.
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
HISTORY = ("chat_history", "history")
REWRITTEN = ("standalone_question", "condensed_question", "rewritten_question", "rephrased_question")

# if one mapping is the whole context, its text may have been joined from its documents, for the prompt
DOCUMENTS_FIRST = sorted(CONTEXTS, key=lambda name: "doc" not in name)

OF_TOOLS = (ToolMessage, FunctionMessage)
CONVERSATIONS = (list, tuple, PromptValue)
ROLES = frozenset({"human", "user", "ai", "assistant", "system", "developer", "tool", "function"})
SOME_CALL = {"name": "", "args": {}, "id": ""}


def messages_in(value: Any) -> list[BaseMessage] | None:
    """Return the messages in a value, in whatever form they are; None if it has none."""
    if isinstance(value, PromptValue):
        value = value.to_messages()
    if isinstance(value, BaseMessage | str | Mapping) or _is_pair(value):
        value = [value]
    if not isinstance(value, Sequence) or not value:
        return None
    if len(value) > 1 and all(isinstance(item, str) for item in value):
        return None  # several texts: their speakers are unknown
    convertible = [_convertible(item) for item in value]
    known = [item for item in convertible if item is not None]
    return convert_to_messages(known) if len(known) == len(convertible) else None


def said_in(message: BaseMessage) -> str:
    """Return the text of a message."""
    return str(message.text)


def calls_tools(message: Any) -> bool:
    """Whether a message of a model calls tools, so that the answer is still to come."""
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def document_of(value: Any) -> LangChainDocument | None:
    """Return the LangChain document that a value is or represents; None for any other value."""
    if isinstance(value, LangChainDocument):
        return value
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("kwargs"), Mapping):  # LangChain's serialised form
        value = value["kwargs"]
    text, key, metadata = value.get("page_content"), value.get("id"), value.get("metadata")
    if not isinstance(text, str):
        return None
    meta = dict(metadata) if isinstance(metadata, Mapping) else {}
    return LangChainDocument(page_content=text, id=None if key is None else str(key), metadata=meta)


def core_document(document: LangChainDocument) -> Document:
    """Turn a document of LangChain into a document of the core, which metrics can match by id or metadata."""
    return Document(document.page_content, document.id, meta=document.metadata)


def _convertible(value: Any) -> BaseMessage | str | dict[str, Any] | None:
    """Reduce a message to a form that ``convert_to_messages`` accepts without an error; None if the value is not a message."""
    if isinstance(value, BaseMessage | str):
        return value
    if _is_pair(value):
        value = {"role": value[0], "content": value[1]}
    if not isinstance(value, Mapping):
        return None
    role = str(value.get("role") or value.get("type"))
    stored = value.get("data")  # LangChain's stored form of messages
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
    """Return a text or a list of blocks. Blocks without a type, as some providers send them, get one."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return content if isinstance(content, str) else ""
    blocks = [block for block in content if isinstance(block, str | Mapping)]
    return [{"type": "text", **block} if isinstance(block, Mapping) else block for block in blocks]


def _is_pair(value: Any) -> bool:
    is_two_texts = isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(item, str) for item in value)
    return is_two_texts and value[0] in ROLES


def mapping_of(value: Any) -> Mapping[str, Any] | None:
    """Return a mapping unchanged, and an object with declared fields as a mapping; None for any other value, messages included."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (BaseMessage, LangChainDocument, PromptValue, LLMResult, Score, type)):
        return None
    if is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    declared = getattr(type(value), "model_fields", None)
    return {name: getattr(value, name) for name in declared} if isinstance(declared, Mapping) else None


def text_of(value: Any) -> str | None:
    """Return a text, or the text of a message; None if the text is blank or the value is neither."""
    text = said_in(value) if isinstance(value, BaseMessage) else value
    return text if isinstance(text, str) and text.strip() else None


def last_question(messages: Sequence[Any]) -> str | None:
    """Return the last message of the user."""
    asked = (text_of(message) for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(filter(None, asked), None)


def this_turn(messages: Sequence[Any]) -> Sequence[Any]:
    """Return the messages after the user's last message; all messages if there is no message of the user."""
    start = next((at for at in range(len(messages), 0, -1) if isinstance(messages[at - 1], HumanMessage)), 0)
    return messages[start:]


def last_answer(messages: Sequence[Any]) -> str | None:
    """Return the last text of the assistant after the user's last message; the text of a tool if the tool spoke last.

    If the assistant has only blank messages, the answer is blank.
    """
    said = this_turn(messages)
    if said and isinstance(said[-1], OF_TOOLS):  # a tool that answers the user directly
        return said_in(said[-1]) or None
    answers = [message for message in said if isinstance(message, AIMessage) and not calls_tools(message)]
    texts = filter(None, map(text_of, reversed(answers)))
    return next(texts, "" if answers and answers[-1] is said[-1] else None)


def contexts_in(value: Any, depth: int = 2) -> list[Any] | None:
    """Return contexts in whatever form they are given: one text, one document, a list of both, or a mapping with one of these. A
    pair ``(document, score)`` counts as the document. An empty list stays empty, because it means that no contexts were shown.
    None for any other value.
    """
    if isinstance(value, list | tuple):
        contexts = list(takewhile(lambda context: context is not None, map(_context, value)))
        return contexts if len(contexts) == len(value) else None
    context = _context(value)
    if context is None and isinstance(value, Mapping) and depth:
        inner = (contexts_in(value[name], depth - 1) for name in DOCUMENTS_FIRST if name in value)
        return next((contexts for contexts in inner if contexts is not None), None)
    is_none = context is None or (isinstance(context, str) and not context.strip())
    return None if is_none else [context]


def _context(item: Any) -> Any:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float):
        item = item[0]
    return item if isinstance(item, str | Document) else document_of(item)


def are_texts(contexts: Iterable[Any]) -> bool:
    """Whether all contexts are texts."""
    return all(isinstance(item, str) for item in contexts)


def document_lists(value: Any, depth: int = 2) -> Iterator[list[Any]]:
    """Return the lists that contain only documents: the value itself, or lists in mappings up to ``depth`` levels deep."""
    if isinstance(value, list | tuple):
        found = contexts_in(value)
        if found and all(isinstance(item, LangChainDocument) for item in found):
            yield found
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from document_lists(item, depth - 1)


def distinct_documents(documents: Iterable[Any]) -> list[Any]:
    """Return the documents without repetitions of the same id and text."""
    found: dict[tuple[str | None, str | None], Any] = {}
    for document in documents:
        same = core_document(document)
        found.setdefault((same.id, same.content), document)
    return list(found.values())


def returned_contexts(value: Any) -> tuple[list[Any] | None, list[str] | None]:
    """Return the contexts under the usual names: as documents (texts may be among them), and as texts.

    An empty list of documents means that nothing was shown.
    """
    found = mapping_of(value) or {}
    readings = [reading for name in CONTEXTS if (reading := contexts_in(found.get(name))) is not None]
    documents = next((items for items in readings if not are_texts(items)), None)
    texts = next((items for items in readings if items and are_texts(items)), None)
    if documents is None and texts is None and readings:
        documents = []
    return documents, texts


def found_by_tools(messages: Sequence[Any]) -> list[Any]:
    """Return what the tools of this turn found: the documents in their artifacts; else their texts, unless such a text is the
    answer.
    """
    said = [message for message in this_turn(messages) if isinstance(message, OF_TOOLS)]
    left = (document_lists(getattr(message, "artifact", None)) for message in said)
    documents = distinct_documents(document for lists in left for found in lists for document in found)
    before = said[:-1] if said and said[-1] is messages[-1] else said
    return list(documents) or [text for message in before if (text := said_in(message)).strip()]


def core_documents(found: Iterable[Any]) -> list[Any]:
    """Return the contexts with documents of LangChain replaced by documents of the core."""
    documents = ((item, document_of(item)) for item in found)
    return [item if document is None else core_document(document) for item, document in documents]


def with_contexts(found: Iterable[Any]) -> dict[str, Any]:
    """Return the two fields that contexts fill: their texts, and the documents."""
    documents = core_documents(found)
    texts = [(item.content or "") if isinstance(item, Document) else item for item in documents]
    return {"retrieved_contexts": texts, "retrieved_documents": documents}
