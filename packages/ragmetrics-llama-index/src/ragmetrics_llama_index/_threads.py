"""The two crossings between synchronous and asynchronous code that the drivers of the core do not make by themselves."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

from ragmetrics_core import Ask, Embed, ModelError, Models, Reply, Steps, arun

__all__ = ["OneLoop", "Turn", "finish", "off_loop", "overrides"]

T = TypeVar("T")


@dataclass(frozen=True)
class _Blocking:
    """A model that can only block: the driver of the core gives it a thread of its own."""

    generate: Callable[[Ask], Reply[Any]]
    embed: Callable[[Any], Reply[Any]]


async def off_loop(answer: Callable[[Any], Reply[T]], request: Any) -> Reply[T]:
    """What a blocking method of a model answers, without blocking the running loop.

    Args:
        answer: ``generate`` of an LLM, which takes an ``Ask``, or ``embed`` of an embedding model, which takes texts.
        request: its argument.

    Raises:
        ModelError: the model could not answer.
    """
    model = _Blocking(answer, answer)
    question = request if isinstance(request, Ask) else Embed(tuple(request))
    return await arun(_asked(question), Models(model, model))


def _asked(request: Ask | Embed) -> Steps[Reply[Any]]:
    (outcome,) = yield (request,)
    if isinstance(outcome, ModelError):
        raise outcome
    return outcome


class OneLoop:
    """The first event loop in which a model is used."""

    def __init__(self) -> None:
        self._first: weakref.ref[asyncio.AbstractEventLoop] | None = None

    def is_ours(self) -> bool:
        """Whether the running loop is that one."""
        running = asyncio.get_running_loop()
        if self._first is None:
            self._first = weakref.ref(running)
        return self._first() is running


class Turn:
    """Who uses a model now; a context manager. All that use the same model take turns, whichever bridge they come through."""

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


def overrides(cls: type, base: type, name: str) -> bool:
    """Whether a class has a method of its own in the place of that of its base; what LlamaIndex wraps around both is no matter."""
    return inspect.unwrap(getattr(cls, name)) is not inspect.unwrap(getattr(base, name))


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, from synchronous code inside or outside a running loop; its exceptions come as they are."""
    with ThreadPoolExecutor(1, "ragmetrics") as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, coroutine).result()
