"""How the programs of a framework write what they take and return, and what their messages say.

Strategy. An adapter names the framework's own classes and says what one message and one document hold. What follows from that is
the same everywhere, and built up in four classes: ``MessageReader`` here knows which message asks and which answers,
``ContextReader`` finds contexts, ``TextReader`` the fields that are one text, and ``SampleReader`` makes a sample of a row.
Reading never raises: what is no message is no message, and the caller looks elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from .._kernel._score import Score
from ._value_names import FieldNames

Classes = tuple[type[Any], ...]


class MessageReader(FieldNames, ABC):
    """What messages say, and what the other classes of readers need to know of a framework.

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
        text = value if isinstance(value, str) else self.said_in(value) if isinstance(value, self.message) else None
        return text if text and text.strip() else None

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
