"""Methods of subclasses and of their bases: which are their own, and what is given to them by position."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["by_name", "overrides"]


def overrides(cls: type, base: type, name: str) -> bool:
    """Whether a class has a method of its own in the place of that of its base; what LlamaIndex wraps around both is no matter."""
    return inspect.unwrap(getattr(cls, name)) is not inspect.unwrap(getattr(base, name))


def by_name(method: str, names: Sequence[str], values: Sequence[Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that were given by position, under their names.

    Raises:
        TypeError: there are more than names, or one was given by name too.
    """
    if len(values) > len(names):
        raise TypeError(f"{method} takes {len(names)} arguments by position after contexts, got {len(values)}")
    given = dict(zip(names, values, strict=False))
    twice = [name for name in given if name in others]
    if twice:
        raise TypeError(f"{method} got {twice[0]!r} twice, by position and by name")
    return given
