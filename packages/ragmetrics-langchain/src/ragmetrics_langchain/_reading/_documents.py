"""Reading documents: LangChain's own, the same as dicts (as they come back from a store or a data set), and plain texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document as LangChainDocument

from ragmetrics_core import Document

__all__ = ["contexts_and_documents", "contexts_in", "distinct", "document_lists", "documents_in", "texts_in"]


def document_of(value: Any) -> LangChainDocument | None:
    """The document that a value is; None for anything else."""
    if isinstance(value, LangChainDocument):
        return value
    if isinstance(value, Mapping):
        if isinstance(value.get("kwargs"), Mapping):  # as LangChain serialises it
            value = value["kwargs"]
        text = value.get("page_content")
        if isinstance(text, str):
            key, metadata = value.get("id"), value.get("metadata")
            return LangChainDocument(
                page_content=text,
                id=None if key is None else str(key),
                metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
            )
    return None


def documents_in(value: Any) -> list[LangChainDocument] | None:
    """The documents of a list of nothing else (pairs with a score included); None for anything else, and for an empty list."""
    if not isinstance(value, list | tuple) or not value:
        return None
    found: list[LangChainDocument] = []
    for item in value:
        scored = isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float)
        document = document_of(item[0] if scored else item)
        if document is None:
            return None
        found.append(document)
    return found


def document_lists(value: Any, depth: int = 2) -> Iterator[list[LangChainDocument]]:
    """The lists of documents in a value: itself, or in a mapping, up to ``depth`` levels down."""
    found = documents_in(value)
    if found is not None:
        yield found
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from document_lists(item, depth - 1)


def texts_in(value: Any) -> list[str] | None:
    """Contexts that are given as texts: a list of them, or one."""
    if isinstance(value, str):
        return [value] if value.strip() else None
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return list(value)
    return None


NESTED = ("documents", "docs", "source_documents", "retrieved_contexts", "contexts", "context")
"""Keys of a mapping that stands for the contexts as a whole, such as what a retrieval step returns."""


def contexts_in(value: Any, depth: int = 2) -> list[Any] | None:
    """Contexts however they are given: one text, one document, a list of both, or a mapping with one of these.

    An empty list stays one: nothing was shown. None for anything else.
    """
    if isinstance(value, str):
        return texts_in(value)
    document = value if isinstance(value, Document) else document_of(value)
    if document is not None:
        return [document]
    if isinstance(value, Mapping) and depth:
        inner = (contexts_in(value[name], depth - 1) for name in NESTED if name in value)
        return next((found for found in inner if found is not None), None)
    if not isinstance(value, list | tuple):
        return None
    if value and all(isinstance(item, str) for item in value):
        return list(value)
    items = [_context(item) for item in value]
    return items if all(item is not None for item in items) else None


def _context(item: Any) -> Any:
    """One item of a list of contexts, without its score; None if it is none."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float):
        item = item[0]
    return item if isinstance(item, str | Document) else document_of(item)


def distinct(documents: Iterable[LangChainDocument]) -> list[LangChainDocument]:
    """Each document once, by id and text, where it came first."""
    found: dict[tuple[str | None, str], LangChainDocument] = {}
    for document in documents:
        found.setdefault((document.id, document.page_content), document)
    return list(found.values())


def contexts_and_documents(found: Sequence[Any]) -> tuple[list[str], list[Document | str]]:
    """The same contexts twice: as texts, and as documents for metrics that match them by id or metadata."""
    texts: list[str] = []
    documents: list[Document | str] = []
    for item in found:
        document = document_of(item)
        if isinstance(item, Document):
            texts.append(item.content or "")
            documents.append(item)
        elif document is None:
            texts.append(item)
            documents.append(item)
        else:
            texts.append(document.page_content)
            documents.append(Document(document.page_content, document.id, meta=document.metadata))
    return texts, documents
