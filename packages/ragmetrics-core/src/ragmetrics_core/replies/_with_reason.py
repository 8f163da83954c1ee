"""A reply together with the reason that the judge gives for it.

``YesNoReply`` and ``RatingReply`` ask for a reason, because a model that gives one judges better, and return the bare value,
because that is what most code wants. ``WithReason`` is the same question, and keeps the reason: it is the evidence of such a
score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._values._requests import ReplyFormat, is_json

BARE = 3
"""Words that an answer and its label take ("Verdict: YES", "**Answer:** no"): no more than that gives no reason."""

T = TypeVar("T")


@dataclass(frozen=True)
class WithReason(Generic[T]):
    """A reply format whose value is ``(value, reason)``: ``WithReason(YesNoReply())`` gives ``(bool, str)``.

    What the model is asked for, and what is read and refused, is what the format inside says. The reason is empty where the reply
    gives none, and where the format has no method ``parse_with_reason(text)``, as ``YesNoReply`` and ``RatingReply`` have.

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
        """What the format inside says."""
        return is_json(self.reply)

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return self.reply.instructions()

    def parse(self, text: str) -> tuple[T, str]:
        """The value and its reason.

        Raises:
            BadReply: the reply has no honest reading.
        """
        read = getattr(self.reply, "parse_with_reason", None)
        return value_and_reason(self.reply.parse(text) if read is None else read(text))


def value_and_reason(reply: Any) -> tuple[Any, str]:
    """What a judge said, as ``(value, reason)``, whether its reply format gives a reason or the bare value."""
    if isinstance(reply, tuple) and len(reply) == 2:
        value, reason = reply
        return value, reason if isinstance(reason, str) else ""
    return reply, ""


def words_beside_verdict(text: str) -> str:
    """The reason in a reply in words: what stands below a line that holds the answer alone, else all of it."""
    first, _, rest = text.strip().partition("\n")
    if len(first.split()) <= BARE:
        return rest.strip()
    return text.strip()
