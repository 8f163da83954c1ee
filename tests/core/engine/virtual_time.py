"""An event loop whose clock jumps to the next timer instead of waiting, so that an hour of a server takes a second."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from ragmetrics_core import Evaluation, aevaluate

__all__ = ["Stuck", "VirtualTimeLoop", "evaluate", "run"]

T = TypeVar("T")


class Stuck(Exception):
    """Every task waits, and no timer will ever wake one."""


class JumpingSelector(selectors.SelectSelector):
    """Looks at the real file descriptors without waiting, then lets the clock jump."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("every task waits, and no timer will ever wake one")
        if timeout > 0:
            self.now += timeout
            return []
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Runs timers in their order, at once; nothing but timers can be waited for."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(work: Coroutine[Any, Any, T], loop: VirtualTimeLoop | None = None) -> T:
    """As ``asyncio.run``, in virtual time; what is still running at the end is cancelled."""
    loop = loop or VirtualTimeLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()


def evaluate(*given: Any, **settings: Any) -> Evaluation:
    """As the core's, in virtual time: which call is answered first does not depend on the machine."""
    return run(aevaluate(*given, **settings))
