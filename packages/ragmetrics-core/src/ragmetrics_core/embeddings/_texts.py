"""What every embedding model does to what it is given, before it reads it."""

from __future__ import annotations

from .._kernel._errors import InvalidInput


def at_least_1(name: str, value: int) -> int:
    """A setting that counts something.

    Raises:
        InvalidInput: it is no positive integer.
    """
    if type(value) is not int or value < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value!r}")
    return value
