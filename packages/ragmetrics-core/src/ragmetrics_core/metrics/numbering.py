"""Replies that have one item for each numbered item of the data, and that name such items by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ragmetrics_core import BadReply

__all__ = ["check_one_each", "once_each"]

JUST_NUMBERS = frozenset({int})


def check_one_each(numbers: Iterable[int], count: int, things: str) -> None:
    """Each number from 1 to ``count`` stands there exactly once: a missing, doubled or invented verdict would change the score.

    Args:
        numbers: those in the reply, in any order.
        count: how many items were sent.
        things: what they are, for the message, such as ``claims``.

    Raises:
        BadReply: one is missing, doubled or invented.
    """
    given = sorted(numbers)
    if given != list(range(1, count + 1)):
        raise BadReply(f"exactly one verdict is needed for each of the {things} 1 to {count}, got numbers {given}")


def once_each(numbers: Iterable[Any]) -> Sequence[Any]:
    """The numbers in order, each once: in a tuple, if they are whole numbers and nothing else, else in a list."""
    given = tuple(numbers)
    found = sorted(set(given))
    return tuple(found) if JUST_NUMBERS.issuperset(map(type, given)) else found
