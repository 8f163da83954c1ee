"""A request resolved to a model: when two of them are equal, and what a reply costs a program that shares it."""

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


class CallOutcome(NamedTuple):
    """The outcome of a call: ``paid`` for the program that made the call, ``shared`` for all other programs."""

    paid: Outcome
    shared: Outcome


@dataclass(slots=True, eq=False)
class PendingCall:
    """A request and the model that answers it. Two are equal if the model, the request and the repeat are equal.

    Attributes:
        model: the model.
        traits: the traits of the model.
        call: the model's function with its argument.
        make: makes a call from another request; a batch needs it for the merged request.
        request: the request.
        repeat: the repeat of the metric, from 0; always 0 for embeddings and comparisons, because a text has only one vector.
        digest: the key of the reply in the journal; None until it is needed.
        looked_up: the number of replies that this run had kept at the last look into the journal; -1 if there was no look.
        tried_in_place: whether the call was made in place and was lost.
        outcome: the outcome of the call; None before there is one, and also at the end if the budget was used up.
        task: the task that makes the call; None until a program has to wait for it.
        is_shared: whether another program started the task, and so pays for the call.
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
    task: asyncio.Future[CallOutcome | None] | None = None
    is_shared: bool = False
    _parts: tuple[Any, ...] = field(init=False)
    _hash: int = field(init=False)  # computed once, because a call is looked up many times

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
"""The replies to one row so far, each in the form for programs that share it."""

SHARED = Usage(calls=1, cached_calls=1)
"""The usage of a program that only shares a reply."""


def to_share(outcome: Outcome) -> Outcome:
    """Return the outcome of a call with an empty cache (``made``), in which the programs that share it keep what they parsed."""
    if isinstance(outcome, Reply):
        return Reply(outcome.value, outcome.usage, outcome.truncated, {})
    return outcome


@overload
def as_shared(outcome: Reply[Any]) -> Reply[Any]: ...
@overload
def as_shared(outcome: Outcome) -> Outcome: ...
def as_shared(outcome: Outcome) -> Outcome:
    """Return the outcome for a program that shares it: its usage is one cached call without tokens."""
    if isinstance(outcome, Reply):
        return Reply(outcome.value, SHARED, outcome.truncated, outcome.made)
    error = copy(outcome)  # each program that raises the error notes its own usage on it
    error.usage = SHARED if outcome.usage else None
    return error
