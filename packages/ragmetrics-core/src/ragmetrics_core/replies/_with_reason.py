"""Read a reply together with the judge's reason for it.

``YesNoReply`` and ``RatingReply`` ask for a reason, because a model that gives a reason judges better. They return the bare
value, because most code needs only the value. ``WithReason`` asks the same question and keeps the reason as evidence of the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._values._requests import ReplyFormat, is_json

BARE = 3
"""The most words of an answer with its label ("Verdict: YES", "**Answer:** no"). A line with so few words contains no reason."""

T = TypeVar("T")


@dataclass(frozen=True)
class WithReason(Generic[T]):
    """A reply format whose value is ``(value, reason)``: ``WithReason(YesNoReply())`` gives ``(bool, str)``.

    The format inside decides what the model is asked for, and which replies are read or refused. The reason is empty if the reply
    gives none, or if the format inside has no method ``parse_with_reason(text)``. ``YesNoReply`` and ``RatingReply`` have this
    method.

    Attributes:
        reply: the format inside.
    """

    reply: ReplyFormat[T]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the format inside."""
        return self.reply.schema

    @property
    def is_json(self) -> bool:
        """Whether the reply of the format inside is JSON."""
        return is_json(self.reply)

    def instructions(self) -> str:
        """Return the shape of the reply, for the system message."""
        return self.reply.instructions()

    def parse(self, text: str) -> tuple[T, str]:
        """Return the value and its reason.

        Raises:
            BadReply: the reply has no honest reading.
        """
        read = getattr(self.reply, "parse_with_reason", None)
        return value_and_reason(self.reply.parse(text) if read is None else read(text))


def value_and_reason(reply: Any) -> tuple[Any, str]:
    """Return a parsed reply as ``(value, reason)``. The reason is empty if the format gives only the value."""
    if isinstance(reply, tuple) and len(reply) == 2:
        value, reason = reply
        return value, reason if isinstance(reason, str) else ""
    return reply, ""


def words_beside_verdict(text: str) -> str:
    """Return the reason in a reply in words: the text below a line that is only the answer, else the whole text."""
    first, _, rest = text.strip().partition("\n")
    if len(first.split()) <= BARE:
        return rest.strip()
    return text.strip()
