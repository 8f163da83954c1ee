"""Which methods of a class are its own."""

from __future__ import annotations

import inspect

__all__ = ["overrides"]


def overrides(cls: type, base: type, name: str) -> bool:
    """Whether a class has a method of its own in the place of that of its base; what LlamaIndex wraps around both is no matter."""
    return inspect.unwrap(getattr(cls, name)) is not inspect.unwrap(getattr(base, name))
