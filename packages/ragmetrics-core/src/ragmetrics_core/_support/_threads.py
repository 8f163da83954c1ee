"""Blocking calls on their own threads: from asynchronous code, or several at once from synchronous code.

Neither ``asyncio.to_thread`` nor a ``ThreadPoolExecutor``: the pool of the former is small and shared, so that it, not the
caller, would decide how many calls run at once; and the interpreter waits for the threads of both when it ends, so that Ctrl-C
would hang until the last call returns. A daemon thread ends with the process.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def start(function: Callable[[], T]) -> Future[T]:
    """Begin a call on its own thread, with the caller's context variables; its result, when it comes."""
    from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a caller that stops waiting leaves, and the result is dropped
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function)
        except StopIteration as stop:  # a task that is given one would wait for ever
            problem = RuntimeError("the function raised StopIteration")
            problem.__cause__ = stop
            future.set_exception(problem)
        except BaseException as error:  # noqa: BLE001  handed to the waiting caller, and raised there
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=work, name="ragmetrics-call", daemon=True).start()
    return future


def in_threads(functions: Iterable[Callable[[], T]], most: int) -> list[T]:
    """What the functions return, in their order, called at the same time on at most ``most`` threads.

    Where the system has no thread left, or gives out none because the program is ending, the caller's own thread does the rest.
    """
    waiting = enumerate(functions)
    found: dict[int, T] = {}

    def work() -> None:
        for index, function in iter(lambda: next(waiting, None), None):
            found[index] = function()

    workers: list[Future[None]] = []
    while len(workers) < most and (worker := _started(work)) is not None:
        workers.append(worker)
    if len(workers) < most:
        work()
    for worker in workers:
        worker.result()
    return [found[index] for index in range(len(found))]


def _started(work: Callable[[], None]) -> Future[None] | None:
    try:
        return start(work)
    except RuntimeError:
        return None


async def in_own_thread(function: Callable[[], T]) -> T:
    """What the function returns, called on its own thread with the caller's context variables."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    return await asyncio.wrap_future(start(function))


def in_loop() -> bool:
    """Whether an event loop is running in this thread."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
