"""Threads that never keep a process alive, and the way from synchronous code into an event loop.

Why not ``asyncio.to_thread`` or a ``ThreadPoolExecutor``: the first shares a pool of few threads (CPU count + 4), and both are
waited for when the interpreter ends, so that Ctrl-C would hang until the slowest model call comes back. Daemon threads end
with the process.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

__all__ = ["DaemonThreads", "run_blocking"]

T = TypeVar("T")

GLANCE = 0.2
"""Seconds between two looks for a Ctrl-C that the caller's own loop has caught."""

Job = tuple["Future[Any]", Callable[[], Any]]


class DaemonThreads:
    """As many threads as calls run at once, each started when it is first needed; the caller bounds the calls."""

    def __init__(self) -> None:
        self._started = 0
        self._idle = 0
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()

    def close(self) -> None:
        """Send the idle threads home; those that still wait for a model are not waited for."""
        for _ in range(self._started):
            self._jobs.put(None)

    async def run(self, function: Callable[[], T]) -> T:
        """Call the function on a thread, with the caller's context variables; to be used from one event loop only."""
        if self._idle:
            self._idle -= 1
        else:
            self._started += 1
            Thread(target=self._work, name=f"ragmetrics-{self._started}", daemon=True).start()
        future: Future[T] = Future()
        self._jobs.put((future, partial(contextvars.copy_context().run, function)))
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._idle += 1

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, function = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001  carried to the task that waits, and raised there
                future.set_exception(error)
            else:
                future.set_result(result)
            del job, future, function  # or an idle thread would keep the last sample alive


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end from synchronous code, also where a loop is already running in this thread.

    Ctrl-C cancels it in both cases and returns at once.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main())
    return _on_other_thread(main)


def _on_other_thread(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    inside: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def body() -> T:
        task = asyncio.current_task()
        assert task is not None
        inside.set_result((asyncio.get_running_loop(), task))
        return await main()

    pool = ThreadPoolExecutor(1, "ragmetrics-loop")
    running = pool.submit(contextvars.copy_context().run, lambda: asyncio.run(body()))
    try:
        while not wait([running], GLANCE).done:
            _heed_ctrl_c()
        return running.result()
    except KeyboardInterrupt:
        # it may come from inside, and then all is over there
        either: list[Future[Any]] = [running, inside]
        wait(either, return_when=FIRST_COMPLETED)
        if inside.done() and not running.done():
            loop, task = inside.result()
            with suppress(RuntimeError):  # the loop closes at this very moment
                loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        pool.shutdown(wait=False)


def _heed_ctrl_c() -> None:
    """Since Python 3.11 ``asyncio.run`` turns Ctrl-C into a cancellation of its task, which nobody sees while that task blocks."""
    task = asyncio.current_task()
    if task is not None and getattr(task, "cancelling", int)():
        raise KeyboardInterrupt
