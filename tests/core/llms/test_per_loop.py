"""The client of each event loop: closed to its end, whenever it is that nobody needs it any more, and whatever the loop does."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import Awaitable, Callable

import pytest

from ragmetrics_core.llms._wire._connections import PerLoop
from waiting import until_async

pytestmark = pytest.mark.slow


class Client:
    """Takes several steps of its loop to close, as one does that has several connections."""

    def __init__(self) -> None:
        self.steps = 0

    async def close(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0.001)
            self.steps += 1

    @property
    def is_closed(self) -> bool:
        return self.steps == 10


@pytest.fixture(autouse=True)
def nothing_goes_wrong(caplog: pytest.LogCaptureFixture) -> object:
    """Such as a task that was destroyed while it was pending."""
    caplog.set_level(logging.WARNING)
    yield
    gc.collect()
    assert caplog.messages == []


def end(loop: asyncio.AbstractEventLoop) -> None:
    """As ``asyncio.run`` ends one, and plugins of test runners do."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True)) if tasks else None
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_one_for_each_loop() -> None:
    clients: PerLoop[Client] = PerLoop()

    async def twice() -> list[Client]:
        return [await clients.here(Client), await clients.here(Client)]

    (first, again), (other, _) = asyncio.run(twice()), asyncio.run(twice())
    assert first is again is not other
    assert first.is_closed
    assert other.is_closed
    assert len(clients) == 0


async def test_it_is_closed_as_soon_as_nobody_needs_it() -> None:
    clients: PerLoop[Client] = PerLoop()
    client = await clients.here(Client)
    gc.disable()
    try:
        del clients
        assert await until_async(lambda: client.is_closed)
    finally:
        gc.enable()


@pytest.mark.parametrize("steps", range(6))
def test_nobody_needs_it_just_before_the_loop_ends(steps: int) -> None:
    """Its closing has begun when all tasks are cancelled."""

    async def main() -> Client:
        clients: PerLoop[Client] = PerLoop()
        client = await clients.here(Client)
        del clients
        for _ in range(steps):
            await asyncio.sleep(0)
        return client

    assert asyncio.run(main()).is_closed


@pytest.mark.parametrize("on_a_thread", [False, True])
def test_nobody_needs_it_while_the_loop_rests(on_a_thread: bool) -> None:
    """As between the end of a test and the end of its loop: nothing runs any more but what ends the loop."""
    loop = asyncio.new_event_loop()
    box: list[PerLoop[Client]] = [PerLoop()]
    client = loop.run_until_complete(box[0].here(Client))
    if on_a_thread:
        dropping = threading.Thread(target=box.clear)
        dropping.start()
        dropping.join()
    else:
        box.clear()
    end(loop)
    assert client.is_closed


def test_nobody_needs_it_after_its_loop() -> None:
    clients: PerLoop[Client] = PerLoop()
    loop = asyncio.new_event_loop()
    client = loop.run_until_complete(clients.here(Client))
    loop.close()  # and so it cannot be closed
    del clients
    assert not client.is_closed


def test_a_loop_that_goes_on_after_a_rest() -> None:
    loop = asyncio.new_event_loop()

    async def made() -> Client:
        clients: PerLoop[Client] = PerLoop()
        return await clients.here(Client)

    client = loop.run_until_complete(made())
    loop.run_until_complete(until_async(lambda: client.is_closed))
    assert client.is_closed
    end(loop)


@pytest.mark.parametrize("ended", [True, False])
def test_loops_are_not_kept(ended: bool) -> None:
    clients: PerLoop[Client] = PerLoop()

    def use(finish: Callable[[asyncio.AbstractEventLoop], None]) -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(clients.here(Client))
        finish(loop)
        return weakref.ref(loop)

    loop = use(end if ended else lambda loop: loop.close())
    asyncio.run(here(clients))
    gc.collect()
    assert loop() is None
    assert len(clients) == 0


async def here(clients: PerLoop[Client]) -> None:
    made: Awaitable[Client] = clients.here(Client)
    await made
