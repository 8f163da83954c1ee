"""Run coroutines from synchronous code, also if an event loop is already running in the caller's thread.

``all_of`` runs several coroutines concurrently, and cancels the rest after the first error or a cancellation. ``OwnThreads`` is a
loop that needs no pool of threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from ._threads import in_loop, start

T = TypeVar("T")

GLANCE = 0.2
"""Seconds between two checks for a Ctrl-C that the event loop of the caller has caught."""


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function from synchronous code, also if a loop is already running in this thread.

    In both cases, Ctrl-C cancels the coroutine and returns at once.
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
        # if it was raised inside the coroutine, the coroutine has ended
        either: list[Future[Any]] = [running, inside]
        wait(either, return_when=FIRST_COMPLETED)
        if inside.done() and not running.done():
            loop, task = inside.result()
            with suppress(RuntimeError):  # the loop is just closing
                loop.call_soon_threadsafe(task.cancel)
        raise


def _heed_ctrl_c() -> None:
    """Raise ``KeyboardInterrupt`` if Ctrl-C cancelled the current task, as ``asyncio.run`` does since Python 3.11."""
    task = asyncio.current_task()
    if task is not None and getattr(task, "cancelling", int)():
        raise KeyboardInterrupt


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently and return their results.

    After the first error, the others are cancelled and the error is raised.
    """
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        unfinished = [task for task in tasks if not task.done()]
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.gather(*unfinished, return_exceptions=True)


class OwnThreads(asyncio.SelectorEventLoop):
    """An event loop whose blocking calls, such as the look-up of a host, are made in daemon threads, so that the program does not
    wait for them at its end.
    """

    def run_in_executor(self, executor: Any, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """Make a blocking call."""
        if executor is not None:
            return super().run_in_executor(executor, function, *arguments)
        return asyncio.wrap_future(start(partial(function, *arguments), here=True), loop=self)
