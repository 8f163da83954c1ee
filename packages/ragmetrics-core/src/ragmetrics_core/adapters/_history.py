"""The ways to choose the question of a chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._values._errors import InvalidInput


def way_of(question: Any, ways: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function that finds the question: the one of this name, or the user's own.

    Raises:
        InvalidInput: there is no such name, and it is no function.
    """
    way = ways.get(question) if isinstance(question, str) else question
    if not callable(way):
        raise InvalidInput(f"question must be {', '.join(map(repr, ways))} or a function, got {question!r}")
    return way
