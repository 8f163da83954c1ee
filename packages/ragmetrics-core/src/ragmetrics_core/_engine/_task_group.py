"""A group of tasks that others join while it runs, as ``asyncio.TaskGroup`` is one since Python 3.11."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine


class TaskGroup:
    """A group of tasks that ends when all of them have, or with the first error; none of them outlives it.

    Args:
        stopping: called before the tasks that are left are cancelled.
    """

    def __init__(self, stopping: Callable[[], None]) -> None:
        self._stopping = stopping
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, work: Coroutine[None, None, None]) -> None:
        """Start a task; tasks of the group may do so too."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def join(self) -> None:
        """Wait for all; the first error, or a cancellation, ends the others before it is raised."""
        try:
            await self._over
        finally:
            self._stopping()
            left = list(self._tasks)
            for task in left:
                task.cancel()
            if left:
                await asyncio.gather(*left, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if self._over.done():
            return
        if task.cancelled():
            self._over.cancel()
        elif error is not None:
            self._over.set_exception(error)
        elif not self._tasks:
            self._over.set_result(None)
