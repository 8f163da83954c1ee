"""One client per event loop, closed when its loop ends.

Strategy. The connections of an asynchronous client belong to the event loop that opened them, so every loop gets a client of its
own. It is closed when the loop shuts down: asyncio promises to finish every asynchronous generator that was started in a loop,
so each client lives inside one. It is closed earlier when nobody needs it any more: at once where its loop runs, and with the loop
otherwise. The generator outlives whoever needed the client, so at no moment of the garbage collector is the client left behind.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio


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
                    self.forget(other)
            made = make()
            open_client = OpenClient(made, loop, weakref.ref(self))
            keeper = open_client.until_its_loop_ends()
            unneeded = weakref.finalize(self, open_client.close_soon, keeper)
            unneeded.atexit = False
            self._kept[loop] = Kept(made, unneeded)
        # the first step registers the generator with the loop
        await anext(keeper)
        return made

    def forget(self, loop: asyncio.AbstractEventLoop) -> None:
        """The client of this loop is being closed, or never will be."""
        kept = self._kept.pop(loop, None)
        if kept is not None:
            kept.unneeded.detach()


class Kept(Generic[C]):
    """The client of one event loop, and what closes it when nobody needs it any more."""

    __slots__ = ("client", "unneeded")

    def __init__(self, client: C, unneeded: weakref.finalize[Any, Any]) -> None:
        self.client = client
        self.unneeded = unneeded


class OpenClient(Generic[C]):
    """A client and the ways in which it is closed, of which the first one does it and the others wait for that.

    Args:
        client: the client.
        loop: its event loop.
        owner: who needs it, and forgets it when it is closed.
    """

    def __init__(self, client: C, loop: asyncio.AbstractEventLoop, owner: weakref.ref[PerLoop[C]]) -> None:
        self._client = client
        self._loop = loop
        self._owner = owner
        self._closing: asyncio.Task[None] | None = None

    async def until_its_loop_ends(self) -> AsyncGenerator[None, None]:
        """What the loop finishes when it shuts down, by which the client is closed."""
        try:
            yield
        finally:
            await self._close()

    def close_soon(self, keeper: AsyncGenerator[None, None]) -> None:
        """Have it closed: nobody needs it any more. On any thread, whether the loop runs or not."""

        async def close() -> None:
            try:
                await self._close()
            finally:
                with suppress(RuntimeError):  # the loop shuts down and is at it already
                    await keeper.aclose()

        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(lambda: _uncancelled(close(), self._loop))

    async def _close(self) -> None:
        """Close it, or wait until it is closed."""
        if self._closing is None:
            # open connections hold the loop, which is the key: without this the entry would keep itself alive
            if (owner := self._owner()) is not None:
                owner.forget(self._loop)
            del owner
            self._closing = _uncancelled(self._closed(), self._loop)
        await self._closing

    async def _closed(self) -> None:
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        await self._client.close()
        await asyncio.sleep(0)  # a closed transport lets go of its socket in the next step of the loop


def _uncancelled(work: Any, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
    """A task that a loop that is about to shut down, and cancels all of its tasks, waits for."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    class Uncancelled(asyncio.Task[None]):
        def cancel(self, msg: Any = None) -> bool:  # noqa: ARG002  of the base class
            return False

    return Uncancelled(work, loop=loop)
