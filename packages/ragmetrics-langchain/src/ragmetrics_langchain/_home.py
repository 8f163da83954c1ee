"""The event loop that a model's connections belong to, and the way around it from any other loop.

Why. LangChain's models keep one pool of connections for all event loops, and a connection works only in the loop that opened it:
the second ``asyncio.run`` of a program, or the second ``evaluate``, would meet connections of a loop that is closed. So a model is
called asynchronously in the first loop that uses it, and from other loops synchronously, on a thread of its own: no shared pool
of threads decides how many calls run at once, and a daemon thread does not hold up the end of the program.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["Home", "in_own_thread"]

T = TypeVar("T")


class Home:
    """Remembers the first loop that asks."""

    def __init__(self) -> None:
        self._loop: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._lock = threading.Lock()

    def is_here(self) -> bool:
        """Whether the running loop is the first one that has asked this."""
        running = asyncio.get_running_loop()
        with self._lock:
            if self._loop is None:
                self._loop = weakref.ref(running)
            return self._loop() is running


async def in_own_thread(function: Callable[[], T]) -> T:
    """What the function returns, called on a thread of its own with the caller's context variables."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # who no longer waits leaves, and the result is dropped
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function)
        except BaseException as error:  # noqa: BLE001  carried to the task that waits, and raised there
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=work, name="ragmetrics-call", daemon=True).start()
    return await asyncio.wrap_future(future)
