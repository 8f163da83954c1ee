"""Which form of reply a model behind a framework is asked for, and what is done where its server refuses that form.

Strategy. The ladder of the core's own models: JSON schema, else JSON mode, else plain text. A framework says nothing of what its
server takes, so a question that is refused is asked one rung lower, and the rung that worked is remembered. Servers of all
kinds are met here, and they refuse in all kinds of words; so any refusal of a question that carried a form of ours is worth one
more call without it, and only a second such question, or a server that points at the form, settles the matter.
"""

from __future__ import annotations

from typing import Any

from .._values._requests import Ask
from ..llms._wire._attempts import Attempts, Ladder, Rung


def wants_json(ask: Ask) -> bool:
    """Whether the instructions ask for JSON."""
    return ask.wants_json


class FormsOfReply:
    """What one model has learned about its server. Safe to share between threads.

    Args:
        highest: the first form to try, ``schema``, ``json`` or ``text``.
    """

    def __init__(self, highest: Rung = "schema") -> None:
        self._highest = highest
        self._ladder = Ladder(highest, trusts_status=True)

    def attempts(self, ask: Ask | None) -> Attempts:
        """The attempts at one question; None: at one that has no form of reply, as one for vectors."""
        return Attempts(self._ladder, ask)

    def __reduce__(self) -> tuple[Any, ...]:
        return (FormsOfReply, (self._highest,))  # another process learns for itself
