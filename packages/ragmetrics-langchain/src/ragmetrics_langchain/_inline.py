"""Hooks that cost asynchronous chains nothing but their own work.

Why. In an asynchronous chain LangChain sends every event of a synchronous handler through a thread pool, and the chain waits:
about 20 hops per call, and one more per token of a stream, far more than the work itself. Coroutine functions are awaited in
place, but in a synchronous chain each of their events costs an event loop of its own. (``run_inline`` would help, but takes
``on_llm_start`` away from the other handlers of the chain.)

Strategy. An inline hook does its work when it is called and returns something that can be awaited and is no coroutine: both ways of
LangChain to call it are served at once. So that it is awaited in place, it answers ``inspect.iscoroutinefunction`` with yes, as any
object with the code of a coroutine function does. Where that is not believed, the hook goes through the thread pool as before.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

__all__ = ["inline"]

F = TypeVar("F", bound=Callable[..., Any])


def inline(hook: F) -> F:
    """The hook, called in place by synchronous and by asynchronous chains."""
    return cast("F", _Inline(hook))


class _Done:
    """Can be awaited, and is done."""

    def __await__(self) -> Iterator[None]:
        return iter(())


DONE = _Done()


async def _stub() -> None:
    """Lends its code, which says that it is a coroutine function."""


class _Inline:
    """A function of a class; the attributes are those by which ``inspect`` knows a function."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self._hook = hook
        self.__name__ = hook.__name__
        self.__qualname__ = hook.__qualname__
        self.__doc__ = hook.__doc__
        self.__module__ = hook.__module__
        self.__wrapped__ = hook
        self.__code__ = _stub.__code__
        self.__defaults__ = None
        self.__kwdefaults__ = None
        self.__annotations__: dict[str, Any] = {}

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> _Done:
        self._hook(*args, **kwargs)
        return DONE
