"""One client per event loop, closed when its loop ends.

Strategy. The connections of an asynchronous client belong to the event loop that opened them, so every loop gets a client of its
own. It is closed when the loop shuts down: asyncio promises to finish every asynchronous generator that was started in a loop,
so each client lives inside one (see ``keep_open``). It is closed earlier when nobody needs it any more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["PerLoop"]


class Closable(Protocol):
    """What can be closed in its event loop."""

    async def close(self) -> None:
        """Close the connections."""
        ...


C = TypeVar("C", bound=Closable)


class PerLoop(Generic[C]):
    """The clients by event loop. Safe to use from several threads, each with a loop of its own."""

    def __init__(self) -> None:
        self._kept: weakref.WeakKeyDictionary[Any, Kept[C]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    async def here(self, make: Callable[[], C]) -> C:
        """The client of the running loop, made if there is none yet."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        loop = asyncio.get_running_loop()
        found = self._kept.get(loop)  # a loop runs in one thread, so nobody else is about to make its client
        if found is not None:
            return found.client
        with self._lock:
            for other in [reference() for reference in self._kept.keyrefs()]:
                if other is not None and other.is_closed():
                    self._kept.pop(other, None)
            made = make()
            kept = self._kept[loop] = Kept(made, keep_open(made, self._kept))
        # the first step registers the generator with the loop
        await anext(kept.keeper)
        return made


class Kept(Generic[C]):
    """The client of one event loop and the generator that closes it."""

    __slots__ = ("client", "keeper")

    def __init__(self, client: C, keeper: AsyncGenerator[None, None]) -> None:
        self.client = client
        self.keeper = keeper


async def keep_open(client: C, kept: weakref.WeakKeyDictionary[Any, Kept[C]]) -> AsyncGenerator[None, None]:
    """Keeps the client open until the running loop shuts down, or until nobody needs the client any more."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    try:
        yield
    finally:
        # open connections hold the loop, which is the key: without this the entry would keep itself alive
        kept.pop(asyncio.get_running_loop(), None)
        await client.close()
        await asyncio.sleep(0)  # a closed transport lets go of its socket in the next step of the loop
