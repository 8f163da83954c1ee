"""A request on its way to a model: what makes two of them the same, and what it costs a program that shares a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, overload

from .._kernel._drive import Call
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._requests import Ask, Reply, Request, Usage


class Landed(NamedTuple):
    """The outcome of a call, for the program that pays for it and for others that share it."""

    paid: Outcome
    shared: Outcome


class PendingCall:
    """A request, resolved to the model that answers it. Two are equal that ask the same model the same in the same repeat.

    Args:
        model: the model.
        traits: what it says about itself.
        call: the model's own function with its argument.
        make: makes such a call of another request, as a batch needs.
        request: the request.
        repeat: which repeat of the metric asks; a text has one vector, however often it is asked for.

    Attributes:
        digest: its key in the journal; None until it is needed.
        looked_up: how many replies this run had kept when it was last looked up there; -1: never.
        tried_in_place: whether it was made in place, and lost.
        outcome: what came of it; None until then, and for good where the budget is used up.
        task: makes the call; None until it has to be waited for.
        is_shared: whether another program has started that task, and so pays for it.
    """

    __slots__ = (
        *("_hash", "_parts", "call", "digest", "is_shared", "looked_up", "make", "model", "outcome", "repeat"),
        *("request", "task", "traits", "tried_in_place"),
    )

    def __init__(  # noqa: PLR0917  keywords cost time
        self,
        model: Any,
        traits: ModelTraits,
        call: Call,
        make: Callable[[Request], Call],
        request: Request,
        repeat: int,
    ) -> None:
        self.model = model
        self.traits = traits
        self.call = call
        self.make = make
        self.request = request
        self.repeat = repeat if isinstance(request, Ask) else 0
        self._parts = (id(model), self.repeat, request)
        sent: Any = (request.messages[-1:], request.reply) if isinstance(request, Ask) else request
        self._hash = hash((id(model), self.repeat, sent))  # once: a call is looked up many times
        self.digest: bytes | None = None
        self.looked_up = -1
        self.tried_in_place = False
        self.outcome: Outcome | None = None
        self.task: asyncio.Future[Landed | None] | None = None
        self.is_shared = False

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PendingCall) and self._parts == other._parts


RowMemory = dict[PendingCall, Reply[Any]]
"""The replies that one row has had so far, each as a second program gets it."""

SHARED = Usage(calls=1, cached_calls=1)
"""What a reply costs a program that only shares it."""


def to_share(outcome: Outcome) -> Outcome:
    """The outcome of a call, with a place for what the programs that share it make of it."""
    if isinstance(outcome, Reply):
        return Reply(outcome.value, outcome.usage, outcome.truncated, {})
    return outcome


@overload
def as_shared(outcome: Reply[Any]) -> Reply[Any]: ...
@overload
def as_shared(outcome: Outcome) -> Outcome: ...
def as_shared(outcome: Outcome) -> Outcome:
    """The outcome for a program that did not pay for it."""
    if isinstance(outcome, Reply):
        return Reply(outcome.value, SHARED, outcome.truncated, outcome.made)
    twin = copy(outcome)  # each program that raises an error writes on it what it had spent itself
    twin.usage = SHARED if outcome.usage else None
    return twin
