"""Event loops: the one that a model's connections belong to, and the way into one from synchronous code."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Coroutine, Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class HomeLoop:
    """The first event loop in which a model is used.

    Most clients keep one pool of connections for all event loops, and a connection works only in the loop that opened it: the
    second ``asyncio.run`` of a program, or the second ``evaluate``, would meet connections of a loop that is closed. So a model is
    called asynchronously in its first loop, and elsewhere synchronously, with ``in_own_thread``.
    """

    def __init__(self) -> None:
        self._loop: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._lock = threading.Lock()

    def is_here(self) -> bool:
        """Whether the running loop is the first one that has asked this."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        running = asyncio.get_running_loop()
        with self._lock:
            if self._loop is None:
                self._loop = weakref.ref(running)
            return self._loop() is running

    def __reduce__(self) -> tuple[Any, ...]:
        return (HomeLoop, ())  # in another process there are other loops


@cache  # one small entry per key, as long as the process lives: so do connections that are shared behind the user's back
def shared_home(*key: Hashable) -> HomeLoop:  # noqa: ARG001  told apart by it
    """The one home of all models with this key, such as a class and an address, which may share connections."""
    return HomeLoop()


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end from synchronous code, also where an event loop is already running in this thread.

    It runs in a loop of its own, with the caller's context variables; its exceptions come as they are. Ctrl-C cancels it and
    returns at once.

    Args:
        main: such as ``partial(asked, question)`` or ``lambda: asked(question)``.
    """
    from .._support._blocking import run_blocking as run_in_loop  # noqa: PLC0415  loads asyncio

    return run_in_loop(main)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns in which nothing waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("the synchronous way of a question must not wait")
