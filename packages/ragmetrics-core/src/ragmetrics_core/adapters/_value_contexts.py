"""What names mean in the values of programs, what messages say, and what contexts a value holds.

Strategy. An adapter names the framework's own classes and says what one message and one document hold. What follows from that
is the same everywhere, and built up in three classes: ``ContextReader`` knows which message asks and which answers, and finds
contexts; ``TextReader`` finds the fields that are one text; and ``SampleReader`` makes a sample of a row. Reading never raises:
what is no message is no message, and the caller looks elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import takewhile
from typing import Any, ClassVar

from .._values._sample import Document
from .._values._score import Score

Classes = tuple[type[Any], ...]


class FieldNames:
    """The names of a sample's fields in the values of programs, each list in the order in which they are tried."""

    questions = ("user_input", "question", "query", "input")
    answers = (
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
    contexts = (
        "retrieved_contexts",
        "contexts",
        "context",
        "retrieved_documents",
        "source_documents",
        "documents",
        "docs",
    )
    references = ("reference", "ground_truth", "reference_answer", "ground_truth_answer", "expected_answer")
    expected = ("reference_contexts", "reference_documents", "rubric")
    history = ("chat_history", "history", "messages")


# where one mapping is the whole context, its text may be made of its documents, for the prompt
DOCUMENTS_FIRST = sorted(FieldNames.contexts, key=lambda name: "doc" not in name)


class ContextReader(FieldNames, ABC):
    """What messages say, what contexts a value holds, and what all readers need to know of a framework.

    Class attributes:
        message: the class of its messages.
        document: the class of its documents.
        of_users, of_models, of_tools: the classes of messages, by who speaks.
        conversations: classes of values that are read as messages and as nothing else.
        opaque: further classes whose fields say nothing to a reader, as those of messages do.
    """

    message: ClassVar[type[Any]]
    document: ClassVar[type[Any]]
    of_users: ClassVar[Classes]
    of_models: ClassVar[Classes]
    of_tools: ClassVar[Classes]
    conversations: ClassVar[Classes] = (list, tuple)
    opaque: ClassVar[Classes] = ()

    @abstractmethod
    def messages_in(self, value: Any) -> list[Any] | None:
        """The messages that a value holds, however they are written; None if it holds none."""

    @abstractmethod
    def said_in(self, message: Any) -> str:
        """The text of a message."""

    @abstractmethod
    def calls_tools(self, message: Any) -> bool:
        """Whether a model calls tools with it, so that the answer is still to come."""

    def mapping_of(self, value: Any) -> Mapping[str, Any] | None:
        """A mapping as it is, an object with declared fields as a mapping; None for anything else, also for messages."""
        if isinstance(value, Mapping):
            return value
        if isinstance(value, (self.message, self.document, *self.opaque, Score, type)):
            return None
        if is_dataclass(value):
            return {item.name: getattr(value, item.name) for item in fields(value)}
        declared = getattr(type(value), "model_fields", None)
        return {name: getattr(value, name) for name in declared} if isinstance(declared, Mapping) else None

    def text_of(self, value: Any) -> str | None:
        """A text, or the text of a message; None if it is blank, or the value neither."""
        text = self.said_in(value) if isinstance(value, self.message) else value
        return text if isinstance(text, str) and text.strip() else None

    def is_from_tool(self, message: Any) -> bool:
        """Whether it is what a tool said."""
        return isinstance(message, self.of_tools)

    def last_question(self, messages: Sequence[Any]) -> str | None:
        """What the user said last."""
        asked = (self.text_of(message) for message in reversed(messages) if isinstance(message, self.of_users))
        return next(filter(None, asked), None)

    def this_turn(self, messages: Sequence[Any]) -> Sequence[Any]:
        """What came after the user's last message; everything where there is none."""
        start = next((at for at in range(len(messages), 0, -1) if isinstance(messages[at - 1], self.of_users)), 0)
        return messages[start:]

    def last_answer(self, messages: Sequence[Any]) -> str | None:
        """The last text of the assistant since the user's last message; that of a tool, if the tool spoke last.

        If the assistant's last message is blank and there is no other, so is the answer.
        """
        said = self.this_turn(messages)
        if said and self.is_from_tool(said[-1]):  # a tool that answers directly
            return self.said_in(said[-1]) or None
        answers = [message for message in said if isinstance(message, self.of_models) and not self.calls_tools(message)]
        texts = filter(None, map(self.text_of, reversed(answers)))
        return next(texts, "" if answers and answers[-1] is said[-1] else None)

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
            found = list(takewhile(lambda context: context is not None, map(self._context, value)))
            return found if len(found) == len(value) else None
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
