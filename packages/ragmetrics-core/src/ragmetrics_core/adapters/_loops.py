"""Event loops and threads: the loop of a model's connections, the way into a loop from synchronous code, and the order of calls."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

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


def run_blocking(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end from synchronous code, also where an event loop is already running in this thread.

    It runs in a new loop, with the caller's context variables; its exceptions come as they are. Ctrl-C cancels it and
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


class Turn:
    """The exclusive use of a model; a context manager. All users of a model take turns, whichever adapter they come through. ::

        with Turn.with_model(llm):
            llm.complete(...)

    The model is held as long as it is used, and no longer.
    """

    _all: ClassVar[WeakValueDictionary[int, Turn]] = WeakValueDictionary()
    _door: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, model: object) -> None:
        self._model = model  # as long as it is held here, no other model has its id
        self._lock = threading.Lock()

    @classmethod
    def with_model(cls, model: object) -> Turn:
        """The turn of this very model."""
        with cls._door:
            turn = cls._all.get(id(model))
            if turn is None:
                turn = cls._all[id(model)] = cls(model)
            return turn

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
