"""A blocking call from asynchronous code, on a thread of its own.

Not ``asyncio.to_thread``: its pool is small and shared, so that it decides how many calls run at once instead of the caller; and
it is waited for when the interpreter ends, so that Ctrl-C would hang until the last call comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_own_thread"]

T = TypeVar("T")


async def in_own_thread(function: Callable[[], T]) -> T:
    """What the function returns, called on a thread of its own with the caller's context variables."""
    from .._engine._threads import DaemonThreads  # noqa: PLC0415  loads asyncio

    threads = DaemonThreads()
    try:
        return await threads.run(function)
    finally:
        threads.close()
