"""One answer for several who ask the same: what it cost is booked once, by the one whose call it was."""

from __future__ import annotations

from copy import copy

from .._kernel._requests import Reply, Usage
from .._kernel._steps import Outcome

__all__ = ["SHARED", "as_shared"]

SHARED = Usage(calls=1, cached_calls=1)
"""What an answer costs those who only share it."""


def as_shared(outcome: Outcome) -> Outcome:
    """The outcome for one who did not pay for it."""
    if isinstance(outcome, Reply):
        return Reply(outcome.value, SHARED, outcome.truncated)
    twin = copy(outcome)  # each program that raises an error writes on it what it had spent itself
    twin.usage = SHARED if outcome.usage else None
    return twin
