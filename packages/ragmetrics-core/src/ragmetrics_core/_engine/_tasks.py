"""The tasks of one run: its workers, and the calls that they wait for.

Several runs may wait for the same call. A run that ends early cancels its workers, and the calls that no other run waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from ._pending import CallOutcome, RowMemory

T = TypeVar("T")


def no_op(*_: Any) -> None:
    """Do nothing: the default of a callback."""


def new_task(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Return a task that begins in the next turn of the event loop, also in a loop whose own tasks begin at once (eager tasks)."""
    return asyncio.Task(work, loop=asyncio.get_running_loop())


def until_done(awaited: asyncio.Future[Any]) -> asyncio.Future[None]:
    """Return a future that is done with another one. If a task that awaits it is cancelled, the other one is not cancelled."""
    waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end(_: object) -> None:
        if not waiter.done():
            waiter.set_result(None)

    awaited.add_done_callback(end)
    return waiter


class CallInFlight:
    """A call that is being made, and the runs that wait for it.

    Args:
        task: the task that makes the call.
        cancel: cancels this task.

    Attributes:
        memories: the replies to the rows that wait for the call; the reply is added to each as soon as it is there.
    """

    def __init__(self, task: asyncio.Task[CallOutcome | None], cancel: Callable[[], None]) -> None:
        self.task = task
        self.cancel = cancel
        self.memories: list[RowMemory] = []
        self._runs: set[Tasks] = set()

    def join(self, run: Tasks, memory: RowMemory) -> None:
        """Note that a row of a run waits for the call."""
        self.memories.append(memory)
        if run not in self._runs:
            self._runs.add(run)
            run.watch(self.task, self)

    def leave(self, run: Tasks) -> bool:
        """Note that a run no longer waits for the call; return True if no other run does, so that the call is cancelled."""
        self._runs.discard(run)
        if not self._runs:
            self.cancel()
        return not self._runs


class Tasks:
    """The tasks of one run.

    Attributes:
        gathering: the number of requests that wait for a batch or for its answer.
        on_gathering: a callback for when this number grows.
    """

    def __init__(self) -> None:
        self.gathering = 0
        self.on_gathering: Callable[[], None] = no_op
        self._left: dict[asyncio.Task[Any], CallInFlight | None] = {}
        self._over: asyncio.Future[None] | None = None

    async def run(self, workers: Iterable[Coroutine[None, None, None]]) -> None:
        """Run the workers and all tasks that they start to the end. The first error, or a cancellation, ends the run."""
        self._over = asyncio.get_running_loop().create_future()
        for worker in workers:
            self.start(worker)
        try:
            await self._over
        except BaseException:
            cancelled = []
            for task, call in list(self._left.items()):
                if call is None:
                    task.cancel()
                if call is None or call.leave(self):
                    cancelled.append(task)
            await asyncio.gather(*cancelled, return_exceptions=True)
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a worker, and return its task."""
        task = new_task(work)
        self.watch(task)
        return task

    def watch(self, task: asyncio.Task[Any], call: CallInFlight | None = None) -> None:
        """End the run no earlier than this task. ``call``: the call that the task makes; None for a worker."""
        self._left[task] = call
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._left[task]
        error = None if task.cancelled() else task.exception()
        if self._over is None or self._over.done():
            return
        if task.cancelled():
            self._over.cancel()
        elif error is not None:
            self._over.set_exception(error)
        elif not self._left:
            self._over.set_result(None)
