"""Run blocking calls in threads: from asynchronous code, or several at a time from synchronous code.

``asyncio.to_thread`` and ``ThreadPoolExecutor`` are not used for two reasons. The pool of ``to_thread`` is small and shared, so the
pool would limit how many calls run at a time. And the interpreter waits for the threads of both at exit, so Ctrl-C would hang until
the last call returns. The daemon threads used here end with the process. While the program ends, no thread can be started (from
Python 3.12 on), so asynchronous code then makes its blocking calls in its own thread.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

running_calls: contextvars.ContextVar[set[Future[Any]] | None] = contextvars.ContextVar("running_calls", default=None)
"""The calls in threads that were started in this context and have not returned; None: they are not counted."""


def start(function: Callable[[], T], *, here: bool = False) -> Future[T]:
    """Start a call in a new thread, with the context variables of the caller, and return the future of its result.

    Args:
        function: the call.
        here: make the call in this thread if no thread can be started.

    Raises:
        RuntimeError: no thread can be started, because there are too many or the program is ending.
    """
    from concurrent.futures import Future  # noqa: PLC0415  costs more to import than all of this package

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # if the caller stops waiting, the result is dropped
    context = contextvars.copy_context()
    running = running_calls.get()

    def work() -> None:
        if running is not None:
            running.add(future)
        try:
            result = context.run(function)
        except StopIteration as stop:  # an asyncio task that gets a StopIteration would wait forever
            problem = RuntimeError("the function raised StopIteration")
            problem.__cause__ = stop
            future.set_exception(problem)
        except BaseException as error:  # noqa: BLE001  raised in the waiting caller
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            if running is not None:
                running.discard(future)

    try:
        threading.Thread(target=work, name="ragmetrics-call", daemon=True).start()
    except RuntimeError:
        if not here:
            raise
        work()
    return future


def in_threads(functions: Iterable[Callable[[], T]], most: int) -> list[T]:
    """Call functions concurrently in at most ``most`` threads, and return their results in order.

    If no more threads can be started, because there are too many or the program is ending, the caller's thread calls the rest.
    """
    waiting = enumerate(functions)
    results: dict[int, T] = {}

    def work() -> None:
        for index, function in iter(lambda: next(waiting, None), None):
            results[index] = function()

    workers: list[Future[None]] = []
    while len(workers) < most and (worker := _started(work)) is not None:
        workers.append(worker)
    if len(workers) < most:
        work()
    for worker in workers:
        worker.result()
    return [results[index] for index in range(len(results))]


def _started(work: Callable[[], None]) -> Future[None] | None:
    try:
        return start(work)
    except RuntimeError:
        return None


async def awaited(answer: Awaitable[T]) -> T:
    """Return the result of any awaitable, where a coroutine is needed."""
    return await answer


async def in_own_thread(function: Callable[[], T]) -> T:
    """Call a function in a new thread, with the context variables of the caller, and return its result."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    return await asyncio.wrap_future(start(function, here=True))


def in_loop() -> bool:
    """Whether an event loop is running in this thread."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
