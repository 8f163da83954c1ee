"""One answer for several programs that ask the same: its cost is booked once, by the program that made the call."""

from __future__ import annotations

from copy import copy
from typing import Any, overload

from .._kernel._requests import Reply, Usage
from .._kernel._steps import Outcome

SHARED = Usage(calls=1, cached_calls=1)
"""What an answer costs a program that only shares it."""


def to_share(outcome: Outcome) -> Outcome:
    """The outcome of a question, with a place for what the programs of a row make of it."""
    if isinstance(outcome, Reply):
        return outcome.booked(outcome.usage, {})
    return outcome


@overload
def as_shared(outcome: Reply[Any]) -> Reply[Any]: ...
@overload
def as_shared(outcome: Outcome) -> Outcome: ...
def as_shared(outcome: Outcome) -> Outcome:
    """The outcome for a program that did not pay for it."""
    if isinstance(outcome, Reply):
        return outcome.booked(SHARED, outcome.made)
    twin = copy(outcome)  # each program that raises an error writes on it what it had spent itself
    twin.usage = SHARED if outcome.usage else None
    return twin
