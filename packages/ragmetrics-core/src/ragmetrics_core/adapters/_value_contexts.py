"""Contexts: a framework's documents, mappings that stand for documents (as a store or a data set gives them), and plain texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._kernel._sample import Document
from ._value_messages import MessageReader
from ._value_names import FieldNames

# where one mapping is the whole context, its text may be made of its documents, for the prompt
DOCUMENTS_FIRST = sorted(FieldNames.contexts, key=lambda name: "doc" not in name)


class ContextReader(MessageReader):
    """What contexts a value holds."""

    @abstractmethod
    def document_of(self, value: Any) -> Any:
        """The document of the framework that a value is or stands for; None for anything else."""

    @abstractmethod
    def core_document(self, document: Any) -> Document:
        """A document of the framework as one of the core, which metrics can match by id or metadata."""

    def contexts_in(self, value: Any, depth: int = 2) -> list[Any] | None:
        """Contexts however they are given: one text, one document, a list of both, or a mapping with one of these.

        ``(document, score)`` counts as the document. An empty list stays one: nothing was shown. None for anything else.
        """
        if isinstance(value, list | tuple):
            found = []
            for item in value:
                context = self._context(item)
                if context is None:
                    return None
                found.append(context)
            return found
        context = self._context(value)
        if context is None and isinstance(value, Mapping) and depth:
            inner = (self.contexts_in(value[name], depth - 1) for name in DOCUMENTS_FIRST if name in value)
            return next((found for found in inner if found is not None), None)
        is_none = context is None or (isinstance(context, str) and not context.strip())
        return None if is_none else [context]

    def _context(self, item: Any) -> Any:
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float):
            item = item[0]
        return item if isinstance(item, str | Document) else self.document_of(item)

    @staticmethod
    def are_texts(contexts: Iterable[Any]) -> bool:
        """Whether they are texts only."""
        return all(isinstance(item, str) for item in contexts)

    def document_lists(self, value: Any, depth: int = 2) -> Iterator[list[Any]]:
        """The lists of documents, and only documents, that a value is or holds in mappings up to ``depth`` levels deep."""
        if isinstance(value, list | tuple):
            found = self.contexts_in(value)
            if found and all(isinstance(item, self.document) for item in found):
                yield found
        elif depth and isinstance(value, Mapping):
            for item in value.values():
                yield from self.document_lists(item, depth - 1)

    def distinct(self, documents: Iterable[Any]) -> list[Any]:
        """The documents without repetitions of the same id and text."""
        found: dict[tuple[str | None, str | None], Any] = {}
        for document in documents:
            same = self.core_document(document)
            found.setdefault((same.id, same.content), document)
        return list(found.values())

    def returned(self, value: Any) -> tuple[list[Any] | None, list[str] | None]:
        """The contexts that stand under one of the usual names: as documents (texts may be among them), and as texts.

        An empty list of documents says that nothing was shown.
        """
        found = self.mapping_of(value) or {}
        readings = [reading for name in self.contexts if (reading := self.contexts_in(found.get(name))) is not None]
        documents = next((items for items in readings if not self.are_texts(items)), None)
        texts = next((items for items in readings if items and self.are_texts(items)), None)
        if documents is None and texts is None and readings:
            documents = []
        return documents, texts

    def found_by_tools(self, messages: Sequence[Any]) -> list[Any]:
        """What the tools of this turn found: the documents in their artifacts, else what they said, unless that is the answer."""
        said = [message for message in self.this_turn(messages) if self.is_from_tool(message)]
        left = (self.document_lists(getattr(message, "artifact", None)) for message in said)
        documents = self.distinct(document for lists in left for found in lists for document in found)
        before = said[:-1] if said and said[-1] is messages[-1] else said
        return list(documents) or [text for message in before if (text := self.said_in(message)).strip()]

    def core_documents(self, found: Iterable[Any]) -> list[Any]:
        """The same with the framework's documents as the core's."""
        documents = ((item, self.document_of(item)) for item in found)
        return [item if document is None else self.core_document(document) for item, document in documents]

    def with_contexts(self, found: Iterable[Any]) -> dict[str, Any]:
        """The two fields that contexts fill: their texts, and the documents."""
        documents = self.core_documents(found)
        texts = [(item.content or "") if isinstance(item, Document) else item for item in documents]
        return {"retrieved_contexts": texts, "retrieved_documents": documents}
