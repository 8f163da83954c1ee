"""Embeddings and comparisons of many rows in one call.

A model that embeds one text in five milliseconds embeds a hundred in fifty. But rows ask one by one. So while a call is under
way, the requests that arrive are gathered, and the next call takes them all: the busier the model, the larger its batches, and
a lone request never waits for company. (Nagle's idea, RFC 896.) A row that waits here holds no call, so more rows may be in
progress than calls are allowed in flight: enough for two calls, so that a model that computes in this process works on one while
the scores of the other are made.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .._kernel._drive import Call
from .._kernel._steps import Outcome
from .._values._errors import ModelError
from .._values._requests import Compare, Embed, Reply
from ._calls import ModelCaller
from ._pending import SHARED, as_shared

FRUITLESS = 24
"""After so many refusals by a model that has never answered, batches are no longer halved: the model is at fault, not a text.
(Halving finds one text among 512 in ten calls.)"""

MOST_REQUESTS = 512
"""Most requests that one call answers."""

Bulk = Embed | Compare
Waiting = tuple[Bulk, "asyncio.Future[Outcome | None]"]


class Batches:
    """Gathers the requests of one kind to one model.

    Usually one call is under way, and the next one takes what has arrived meanwhile. Where the model answers several calls at
    once, another one starts as soon as there is enough to fill it.

    Args:
        caller: makes the calls to the model.
        make: the call for a request.
        most: most texts or pairs in one call; lowered when the model refuses that many.
        overlapping: whether several calls may be under way.
    """

    def __init__(self, caller: ModelCaller, make: Callable[[Bulk], Call], *, most: int, overlapping: bool) -> None:
        self._caller = caller
        self._make = make
        self._most = most
        self._overlapping = overlapping
        self._waiting: deque[Waiting] = deque()
        self._items_waiting = 0
        self._stopped = False
        self._answered = False
        self._refused = 0
        self._at_work: dict[asyncio.Task[None], list[Waiting]] = {}

    async def perform(self, request: Bulk) -> Outcome | None:
        """The outcome of a request; None: the budget is used up. Of requests answered together, the first books the cost."""
        waiter: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, waiter))
        self._items_waiting += len(_items(request))
        self._start()
        return await waiter

    def close(self) -> None:
        """Give up what is under way."""
        for work in self._at_work:
            work.cancel()

    def _start(self, one_is_over: bool = False) -> None:
        """Start another call if it is time; ``one_is_over``: one of those under way has its answer already."""
        free = len(self._at_work) == int(one_is_over) or (self._overlapping and self._items_waiting >= self._most)
        if free and not self._stopped:
            batch: list[Waiting] = []
            work = asyncio.ensure_future(self._run(batch))
            self._at_work[work] = batch
            work.add_done_callback(self._ended)

    async def _run(self, batch: list[Waiting]) -> None:
        await self._settled()
        batch += self._next()
        await self._send(batch, whole=True)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Start the next batch; an error or a cancellation goes to every request that waits."""
        batch = self._at_work.pop(work)
        error = None if work.cancelled() else work.exception()
        if error is None and not work.cancelled():
            if self._waiting:
                self._start()
            return
        for _, waiter in [*batch, *self._waiting]:
            if not waiter.done():
                if error is None:
                    waiter.cancel()
                else:
                    waiter.set_exception(error)
        self._waiting.clear()
        self._items_waiting = 0

    async def _settled(self) -> None:
        """Wait for the rows that are about to ask: those that start together arrive one after the other."""
        seen = 0
        while seen < len(self._waiting) < MOST_REQUESTS and self._items_waiting < self._most:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    def _next(self) -> list[Waiting]:
        batch: list[Waiting] = []
        size = 0
        while self._waiting and len(batch) < MOST_REQUESTS:
            if batch and size + len(_items(self._waiting[0][0])) > self._most:
                break
            batch.append(self._waiting.popleft())
            size += len(_items(batch[-1][0]))
        self._items_waiting -= size
        return batch

    async def _send(self, batch: list[Waiting], whole: bool = False) -> bool:
        """Send a batch in one call, or in several where the model does not take it whole; True if all were answered.

        Args:
            batch: the requests, each with the future that waits for its outcome.
            whole: whether it is a whole batch, not a part of one that was refused.
        """
        if not batch or self._stopped:  # its requests have their outcome already, or are about to be cancelled
            return True
        requests = [request for request, _ in batch]
        merged = _merged(requests)
        outcome = await self._caller.perform(self._make(merged), size=len(batch))
        if self._is_refused(outcome) and len(batch) > 1:
            return await self._send_halves(batch, len(_items(merged)))
        if whole and self._waiting and isinstance(outcome, Reply):
            self._start(one_is_over=True)  # first, or the model would idle while the scores of this batch are made
        for (_, waiter), part in zip(batch, _parts(outcome, merged, requests), strict=True):
            _give(waiter, part)
        return isinstance(outcome, Reply)

    async def _send_halves(self, batch: list[Waiting], size: int) -> bool:
        """Send a refused batch of so many texts or pairs in two parts; True if all were answered.

        One text that the model does not take must not cost the others their answer; halving finds it in few calls. Or it was too
        much at once, and then that is remembered.
        """
        middle = len(batch) // 2
        first, second = await self._send(batch[:middle]), await self._send(batch[middle:])
        if first and second:
            self._most = min(self._most, max(1, size // 2))
        return first and second

    def _is_refused(self, outcome: Outcome | None) -> bool:
        """Whether the model might take a part of what it does not take as a whole."""
        if isinstance(outcome, ModelError):
            # every further call would meet a fatal error too; the run stops as soon as a program has seen this one
            self._stopped |= outcome.fatal
            self._refused += 1
            return not (outcome.fatal or outcome.transient) and (self._answered or self._refused <= FRUITLESS)
        self._answered |= outcome is not None
        return False


def _items(request: Bulk) -> tuple[object, ...]:
    return request.texts if isinstance(request, Embed) else request.pairs


def _merged(requests: list[Bulk]) -> Bulk:
    """One request for all of the same kind."""
    items: Any = tuple(dict.fromkeys(item for request in requests for item in _items(request)))
    return requests[0] if len(requests) == 1 else type(requests[0])(items)


def _parts(outcome: Outcome | None, merged: Bulk, requests: list[Bulk]) -> Iterator[Outcome | None]:
    """What each request gets of the common answer; the first one books the cost."""
    if outcome is None or len(requests) == 1:
        yield from [outcome] * len(requests)
    elif isinstance(outcome, ModelError):
        yield outcome
        yield from (as_shared(outcome) for _ in requests[1:])
    else:
        values = dict(zip(_items(merged), outcome.value, strict=True))
        usage = outcome.usage
        for request in requests:
            yield Reply([values[item] for item in _items(request)], usage)
            usage = SHARED


def _give(waiter: asyncio.Future[Outcome | None], outcome: Outcome | None) -> None:
    if not waiter.done():  # else it was cancelled
        waiter.set_result(outcome)
