"""Contexts: LangChain's documents, mappings that stand for documents (as a store or a data set gives them), and plain texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage

from ragmetrics_core import Document

from ._messages import is_from_tool, this_turn
from ._names import CONTEXTS, mapping_of

__all__ = [
    "are_texts",
    "contexts_in",
    "core_documents",
    "distinct",
    "document_lists",
    "found_by_tools",
    "returned",
    "with_contexts",
]

# where one mapping is the whole context, its text may be made of its documents, for the prompt
DOCUMENTS_FIRST = sorted(CONTEXTS, key=lambda name: "doc" not in name)


def document_of(value: Any) -> LangChainDocument | None:
    """The document that a value is; None for anything else."""
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


def contexts_in(value: Any, depth: int = 2) -> list[Any] | None:
    """Contexts however they are given: one text, one document, a list of both, or a mapping with one of these.

    ``(document, score)`` counts as the document. An empty list stays one: nothing was shown. None for anything else.
    """
    if isinstance(value, list | tuple):
        found = []
        for item in value:
            context = _context(item)
            if context is None:
                return None
            found.append(context)
        return found
    context = _context(value)
    if context is None and isinstance(value, Mapping) and depth:
        inner = (contexts_in(value[name], depth - 1) for name in DOCUMENTS_FIRST if name in value)
        return next((found for found in inner if found is not None), None)
    is_none = context is None or (isinstance(context, str) and not context.strip())
    return None if is_none else [context]


def _context(item: Any) -> Any:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float):
        item = item[0]
    return item if isinstance(item, str | Document) else document_of(item)


def are_texts(contexts: Iterable[Any]) -> bool:
    """Whether they are texts only."""
    return all(isinstance(item, str) for item in contexts)


def document_lists(value: Any, depth: int = 2) -> Iterator[list[LangChainDocument]]:
    """The lists of documents, and only documents, that a value is or holds in mappings up to ``depth`` levels deep."""
    if isinstance(value, list | tuple):
        found = contexts_in(value)
        if found and all(isinstance(item, LangChainDocument) for item in found):
            yield found
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from document_lists(item, depth - 1)


def distinct(documents: Iterable[LangChainDocument]) -> list[LangChainDocument]:
    """The documents without repetitions of the same id and text."""
    found: dict[tuple[str | None, str], LangChainDocument] = {}
    for document in documents:
        found.setdefault((document.id, document.page_content), document)
    return list(found.values())


def returned(value: Any) -> tuple[list[Any] | None, list[str] | None]:
    """The contexts that stand under one of the usual names: as documents (texts may be among them), and as texts.

    An empty list of documents says that nothing was shown.
    """
    found = mapping_of(value) or {}
    readings = [reading for name in CONTEXTS if (reading := contexts_in(found.get(name))) is not None]
    documents = next((items for items in readings if not are_texts(items)), None)
    texts = next((items for items in readings if items and are_texts(items)), None)
    if documents is None and texts is None and readings:
        documents = []
    return documents, texts


def found_by_tools(messages: Sequence[BaseMessage]) -> list[Any]:
    """What the tools of this turn found: the documents in their artifacts, else what they said, unless that is the answer."""
    said = [message for message in this_turn(messages) if is_from_tool(message)]
    left = (document_lists(getattr(message, "artifact", None)) for message in said)
    documents = distinct(document for lists in left for found in lists for document in found)
    before = said[:-1] if said and said[-1] is messages[-1] else said
    return list(documents) or [text for message in before if (text := str(message.text)).strip()]


def core_documents(found: Iterable[Any]) -> list[Any]:
    """The same with LangChain's documents as the core's, which metrics can match by id or metadata."""
    documents = ((item, document_of(item)) for item in found)
    return [
        item if document is None else Document(document.page_content, document.id, meta=document.metadata)
        for item, document in documents
    ]


def with_contexts(found: Iterable[Any]) -> dict[str, Any]:
    """The two fields that contexts fill: their texts, and the documents."""
    documents = core_documents(found)
    texts = [(item.content or "") if isinstance(item, Document) else item for item in documents]
    return {"retrieved_contexts": texts, "retrieved_documents": documents}
