"""Event loops and threads: the loop of a model's connections, running a coroutine from synchronous code, and exclusive use of a
model.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

from .._kernel._drive import driver

if TYPE_CHECKING:
    import asyncio


T = TypeVar("T")


class HomeLoop:
    """The first event loop in which a model is used.

    Most clients keep one pool of connections for all event loops, but a connection works only in the loop that opened it. The
    second ``asyncio.run`` of a program, or the second ``evaluate``, would get connections of a closed loop. So a model is called
    asynchronously in its first loop, and synchronously elsewhere, with ``in_own_thread``. Beside a running application it is always
    called synchronously, because the application may use the same client in its own loop.
    """

    def __init__(self) -> None:
        self._loop: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._lock = threading.Lock()

    def is_here(self) -> bool:
        """Whether the running loop is the first one that called this."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        running = asyncio.get_running_loop()
        if driver.get() is not None:
            return False
        with self._lock:
            if self._loop is None:
                self._loop = weakref.ref(running)
            return self._loop() is running

    def __reduce__(self) -> tuple[Any, ...]:
        return (HomeLoop, ())  # another process has other loops


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end from synchronous code, even if an event loop is already running in this thread.

    It runs in a new loop, with the caller's context variables; its exceptions are raised unchanged. Ctrl-C cancels it and returns
    at once.

    Args:
        main: a function without arguments, such as ``partial(answer, question)`` or ``lambda: answer(question)``.
    """
    from .._support._blocking import run_blocking as run_in_loop  # noqa: PLC0415  loads asyncio

    return run_in_loop(main)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a coroutine that answers a synchronous call must not wait, but it awaited something")


class Turn:
    """Exclusive use of a model, as a context manager. All users of a model take turns, whichever adapter they use. ::

        with Turn.with_model(llm):
            llm.complete(...)

    The lock exists only as long as it is in use.
    """

    _all: ClassVar[WeakValueDictionary[int, Turn]] = WeakValueDictionary()
    _door: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, model: object) -> None:
        self._model = model  # a reference, so that no other model can have its id
        self._lock = threading.Lock()

    @classmethod
    def with_model(cls, model: object) -> Turn:
        """Return the lock of this model."""
        with cls._door:
            turn = cls._all.get(id(model))
            if turn is None:
                turn = cls._all[id(model)] = cls(model)
            return turn

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
