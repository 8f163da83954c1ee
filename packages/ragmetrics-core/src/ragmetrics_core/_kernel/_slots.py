"""Filling the slots of frozen values fast, where rows make them by the dozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def setters(cls: type, *names: str) -> tuple[Callable[[Any, Any], None], ...]:
    """For each of these slots the function that sets it, ``(of what, value)``.

    ``object.__setattr__``, which a frozen dataclass calls, looks the slot up each time, and so takes twice as long.
    """
    return tuple(getattr(cls, name).__set__ for name in names)
