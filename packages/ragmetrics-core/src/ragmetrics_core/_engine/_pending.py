"""A request on its way to a model: what makes two of them the same, and what it costs a program that shares a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from .._kernel._drive import Call
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._requests import Ask, Reply, Request, Usage


class Landed(NamedTuple):
    """The outcome of a call, for the program that pays for it and for others that share it."""

    paid: Outcome
    shared: Outcome


@dataclass(slots=True, eq=False)
class PendingCall:
    """A request, resolved to the model that answers it. Two are equal that ask the same model the same in the same repeat.

    Attributes:
        model: the model.
        traits: what it says about itself.
        call: the model's own function with its argument.
        make: makes such a call of another request, as a batch needs.
        request: the request.
        repeat: which repeat of the metric asks; 0 for embeddings, as a text has one vector, however often it is asked for.
        digest: its key in the journal; None until it is needed.
        looked_up: how many replies this run had kept when it was last looked up there; -1: never.
        tried_in_place: whether it was made in place, and lost.
        outcome: what came of it; None until then, and for good where the budget is used up.
        task: makes the call; None until it has to be waited for.
        is_shared: whether another program has started that task, and so pays for it.
    """

    model: Any
    traits: ModelTraits
    call: Call
    make: Callable[[Request], Call]
    request: Request
    repeat: int
    digest: bytes | None = None
    looked_up: int = -1
    tried_in_place: bool = False
    outcome: Outcome | None = None
    task: asyncio.Future[Landed | None] | None = None
    is_shared: bool = False
    _parts: tuple[Any, ...] = field(init=False)
    _hash: int = field(init=False)  # made once: a call is looked up many times

    def __post_init__(self) -> None:
        sent: Any = self.request
        if isinstance(self.request, Ask):
            sent = (self.request.messages[-1:], self.request.reply)
        else:
            self.repeat = 0
        self._parts = (id(self.model), self.repeat, self.request)
        self._hash = hash((id(self.model), self.repeat, sent))

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
