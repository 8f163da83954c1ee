"""Replies that have one item for each numbered item of the data, and that name such items by number."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ragmetrics_core import BadReply

__all__ = ["check_one_each", "in_order"]

FEW = 8
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


def in_order(numbers: Iterable[int]) -> tuple[int, ...]:
    """The numbers in order, each once."""
    found = tuple(numbers)
    if len(found) <= FEW and JUST_NUMBERS.issuperset(map(type, found)):
        return _few_in_order(found)
    return tuple(sorted(set(found))) if len(found) > 1 else found


@lru_cache(maxsize=4096)
def _few_in_order(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The same of a few. Rows share what is made of equal ones, so that the garbage collector has less to look at."""
    return tuple(sorted(set(numbers)))
