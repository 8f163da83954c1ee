"""The way from synchronous code into an event loop, also where one is already running in the caller's thread.

Several coroutines side by side, none of which outlives the first error or a cancellation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from typing import Any, TypeVar

from ._threads import in_loop, start

T = TypeVar("T")

GLANCE = 0.2
"""Seconds between two looks for a Ctrl-C that the caller's own loop has caught."""


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end from synchronous code, also where a loop is already running in this thread.

    Ctrl-C cancels it in both cases and returns at once.
    """
    return _on_other_thread(main) if in_loop() else asyncio.run(main())


def _on_other_thread(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    inside: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def body() -> T:
        task = asyncio.current_task()
        assert task is not None
        inside.set_result((asyncio.get_running_loop(), task))
        return await main()

    running = start(lambda: asyncio.run(body()))
    try:
        while not wait([running], GLANCE).done:
            _heed_ctrl_c()
        return running.result()
    except KeyboardInterrupt:
        # it may have been raised inside the coroutine, which has ended then
        either: list[Future[Any]] = [running, inside]
        wait(either, return_when=FIRST_COMPLETED)
        if inside.done() and not running.done():
            loop, task = inside.result()
            with suppress(RuntimeError):  # the loop closes at this very moment
                loop.call_soon_threadsafe(task.cancel)
        raise


def _heed_ctrl_c() -> None:
    """Since Python 3.11 ``asyncio.run`` turns Ctrl-C into a cancellation of its task, which is not seen while that task blocks."""
    task = asyncio.current_task()
    if task is not None and getattr(task, "cancelling", int)():
        raise KeyboardInterrupt


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all, run side by side; the first error ends the others before it is raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        unfinished = [task for task in tasks if not task.done()]
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.gather(*unfinished, return_exceptions=True)
