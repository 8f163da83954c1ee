"""What a reply format is: instructions for the model, an optional JSON schema, and a reader of the reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

__all__ = ["ReplyFormat"]

T_co = TypeVar("T_co", covariant=True)


class ReplyFormat(Protocol[T_co]):
    """How a model is to reply, and how its reply is read.

    Implementations are values: frozen, hashable, picklable, with a repr that can be read back.
    """

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """A JSON schema for strict structured output, or None where the reply is plain text."""
        ...

    def instructions(self) -> str:
        """The text that tells a model how to reply; it closes the system message."""
        ...

    def parse(self, text: str) -> T_co:
        """The value in a reply.

        Raises:
            BadReply: the reply has no honest reading.
        """
        ...
