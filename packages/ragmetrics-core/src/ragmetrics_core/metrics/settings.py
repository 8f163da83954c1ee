"""Checks of settings, so that each kind of setting has one message."""

from __future__ import annotations

from ragmetrics_core import InvalidInput

__all__ = ["check_choice", "check_number", "check_passages", "check_switch", "check_whole"]


def check_number(metric: str, name: str, value: object, low: float, high: float) -> None:
    """Check that a setting is a number from ``low`` to ``high``. True and False are refused, although Python counts them as 1
    and 0.

    Raises:
        InvalidInput: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidInput(f"{metric}: {name} must be a number from {low:g} to {high:g}, got {value!r}")


def check_whole(metric: str, name: str, value: object, *, or_none: bool = False) -> None:
    """Check that a setting is a whole number, at least 1. With ``or_none``, None is allowed too.

    Raises:
        InvalidInput: it is not.
    """
    if or_none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{metric}: {name} must be a whole number from 1{' or None' * or_none}, got {value!r}")


def check_switch(metric: str, name: str, value: object) -> None:
    """Check that a setting is True or False.

    Raises:
        InvalidInput: it is something else.
    """
    if not isinstance(value, bool):
        raise InvalidInput(f"{metric}: {name} must be True or False, got {value!r}")


def check_choice(metric: str, name: str, value: object, choices: tuple[object, ...]) -> None:
    """Check that a setting is one of the ``choices``.

    Raises:
        InvalidInput: it is not.
    """
    if value not in choices:
        raise InvalidInput(f"{metric}: {name} must be {' or '.join(map(repr, choices))}, got {value!r}")


def check_passages(metric: str, window: int | None, per_passage: object) -> None:
    """Check ``window`` and ``per_passage``, the settings that say how claims are checked against passages.

    Raises:
        InvalidInput: ``window`` is not a whole number from 1 or None, or ``per_passage`` is not a bool.
    """
    check_whole(metric, "window", window, or_none=True)
    check_switch(metric, "per_passage", per_passage)
