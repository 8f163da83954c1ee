"""Which form of reply a model behind a framework is asked for, and what is done where its server refuses that form.

Strategy. The ladder of the core's own models: JSON schema, else JSON mode, else plain text. A framework says nothing of what its
server takes, so a question that is refused is asked one rung lower, and the rung that worked is remembered. Servers of all
kinds are met here, and they refuse in all kinds of words; so any refusal of a question that carried a form of ours is worth one
more call without it, and only a second such question, or a server that points at the form, settles the matter.
"""

from __future__ import annotations

from typing import Any

from .._values._errors import ModelError
from .._values._requests import Ask
from ..llms._wire._attempts import Climb, Ladder, Rung, is_refusal, schema_of
from ._failures import Explained

REFUSED = frozenset({400, 415, 422})
"""Statuses by which a server says that it cannot do what is asked, in whatever words."""


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
        self._ladder = Ladder(highest)

    def attempts(self, ask: Ask | None) -> Attempts:
        """The attempts at one question; None: at one that has no form of reply, as one for vectors."""
        return Attempts(self._ladder, ask)

    def __reduce__(self) -> tuple[Any, ...]:
        return (FormsOfReply, (self._highest,))  # another process learns for itself


class Attempts(Climb):
    """The attempts at one question: iterating gives the form of each, until one is answered or fails for good. ::

        attempts = forms.attempts(ask)
        for form in attempts:
            with (attempt := explained(model)):
                reply = ...  # ask for this form
                attempts.answered()
                return reply
            attempts.failed(attempt)
        raise attempts.problem

    Attributes:
        rung: the form of the attempt at hand.
        problem: what the last attempt failed with.
    """

    problem: ModelError

    def __init__(self, ladder: Ladder, ask: Ask | None) -> None:
        super().__init__(ladder, None if ask is None else schema_of(ask))
        self._ask = ask

    def parameters(self) -> dict[str, Any]:
        """What a client of the OpenAI protocol is given for the form of this attempt: at most ``response_format``."""
        prompt = getattr(getattr(self._ask, "prompt", None), "name", None) or "reply"
        return self.form(prompt)

    def failed(self, attempt: Explained) -> None:
        """Note what the attempt failed with, and whether the server refused the form, or may have."""
        self.problem = attempt.problem
        refused = attempt.refused
        if self._ask is None or refused is None or self.rung == "text":
            return
        found = is_refusal(refused, (message.content for message in self._ask.messages))
        if found is not None or (refused.status in REFUSED and not attempt.is_filtered):
            self.refused(refused.message, certain=found == "pointed at")
