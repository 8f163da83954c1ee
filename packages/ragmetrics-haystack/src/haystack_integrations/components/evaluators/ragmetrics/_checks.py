"""Checks of settings, so that a wrong one is reported where it is given and not in the middle of a run."""

from __future__ import annotations

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import check_whole

__all__ = ["check_calls", "check_switch"]


def check_calls(max_concurrency: object, max_retries: object = 0, timeout: object = None) -> None:
    """Check the numbers that rule calls.

    Raises:
        InvalidInput: one of them has no possible value.
    """
    check_whole("max_concurrency", max_concurrency, least=1)
    check_whole("max_retries", max_retries, least=0)
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise InvalidInput(f"timeout must be a positive number of seconds, got {timeout!r}")


def check_switch(name: str, value: object) -> None:
    """A setting that is on, off, or left to the class.

    Raises:
        InvalidInput: it is something else.
    """
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True, False or None, got {value!r}")
