"""A blocking call from asynchronous code, on a thread of its own.

Not ``asyncio.to_thread``: its pool is small and shared, so that it decides how many calls run at once instead of the caller; and
it is waited for when the interpreter ends, so that Ctrl-C would hang until the last call comes back. A daemon thread ends
with the process.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_own_thread"]

T = TypeVar("T")


async def in_own_thread(function: Callable[[], T]) -> T:
    """What the function returns, called on a thread of its own with the caller's context variables."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package
    from concurrent.futures import Future  # noqa: PLC0415  the same

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
