"""Merge the embedding and comparison requests of many rows into one call.

A model that embeds one text in five milliseconds embeds a hundred in fifty, but each row sends its own request. So the requests
that arrive while a call is in flight are collected, and the next call answers all of them. The busier the model is, the larger the
batches get; a single request is sent at once. (This is Nagle's algorithm, RFC 896.)

A row that waits here uses none of the calls that may be in flight, so more rows than calls may be in progress. There are enough
rows for two batches: a model that computes in this process works on one batch while the rows of the other are scored.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from .._kernel._drive import Call
from .._kernel._steps import Outcome
from .._values._errors import ModelError
from .._values._requests import Compare, Embed, Reply
from ._calls import ModelCaller
from ._pending import SHARED, as_shared
from ._tasks import new_task

FRUITLESS = 24
"""The number of refusals by a model that has never answered, after which batches are no longer halved: the fault is then in the
model, not in a text. (Halving finds one bad text among 512 in ten calls.)"""

MOST_REQUESTS = 512
"""The largest number of requests in one call."""

Bulk = Embed | Compare
Waiting = tuple[Bulk, "asyncio.Future[Outcome | None]"]


class Batches:
    """Collect the requests of one kind to one model, and send them in batches.

    Usually one call is in flight, and the next call takes all requests that arrived in the meantime. If the model can answer
    several calls at the same time, another call starts as soon as the waiting requests fill it.

    Args:
        caller: makes the calls to the model.
        make: makes the call for a request.
        most: the largest number of texts or pairs in one call; lowered when the model refuses that many.
        overlapping: whether several calls may be in flight.
    """

    def __init__(self, caller: ModelCaller, make: Callable[[Bulk], Call], *, most: int, overlapping: bool) -> None:
        self._caller = caller
        self._make = make
        self._most = most
        self._overlapping = overlapping
        self._waiting: deque[Waiting] = deque()
        self._items_waiting = 0
        self._answered = False
        self._refused = 0
        self._in_flight: dict[asyncio.Task[None], list[Waiting]] = {}

    async def perform(self, request: Bulk) -> Outcome | None:
        """Return the outcome of a request; None if the budget is used up.

        The cost of a batch is charged to its first request.
        """
        waiter: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, waiter))
        self._items_waiting += len(_items(request))
        self._start()
        try:
            return await waiter
        except asyncio.CancelledError:
            self._drop_cancelled()
            raise

    def _drop_cancelled(self) -> None:
        """Remove the requests that were cancelled, and cancel a call if all its requests were."""
        self._waiting = deque(item for item in self._waiting if not item[1].done())
        self._items_waiting = sum(len(_items(request)) for request, _ in self._waiting)
        for work, batch in self._in_flight.items():
            if batch and all(waiter.done() for _, waiter in batch):
                self._caller.cancel(work)

    def _start(self, one_is_over: bool = False) -> None:
        """Start another call if one may be started; ``one_is_over``: one of the calls in flight already has its answer."""
        free = len(self._in_flight) == int(one_is_over) or (self._overlapping and self._items_waiting >= self._most)
        if free:
            batch: list[Waiting] = []
            work = new_task(self._run(batch))
            self._in_flight[work] = batch
            work.add_done_callback(self._ended)

    async def _run(self, batch: list[Waiting]) -> None:
        await self._until_no_more_arrive()
        batch += self._next_batch()
        await self._send(batch, whole=True)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Start the next batch. An error or a cancellation is passed on to the requests of the batch."""
        batch = self._in_flight.pop(work)
        error = None if work.cancelled() else work.exception()
        for _, waiter in batch:
            if not waiter.done():
                if error is None:
                    waiter.cancel()
                else:
                    waiter.set_exception(error)
        if self._waiting:
            self._start()

    async def _until_no_more_arrive(self) -> None:
        """Wait until a turn of the event loop brings no new request, because rows that start together send their requests one after
        another.
        """
        seen = 0
        while seen < len(self._waiting) < MOST_REQUESTS and self._items_waiting < self._most:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    def _next_batch(self) -> list[Waiting]:
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
        """Send a batch in one call, or in several calls if the model refuses it; return True if all requests were answered.

        Args:
            batch: the requests, each with the future that gets its outcome.
            whole: True for a whole batch, False for a part of a batch that was refused.
        """
        batch = [item for item in batch if not item[1].done()]  # the others were cancelled, or got a fatal error
        if not batch:
            return True
        requests = [request for request, _ in batch]
        merged = _merged(requests)
        outcome = await self._caller.perform(self._make(merged), size=len(batch))
        self._note(outcome)
        if len(batch) > 1 and self._is_refused(outcome):
            return await self._send_halves(batch, len(_items(merged)))
        if whole and self._waiting and isinstance(outcome, Reply):
            self._start(one_is_over=True)  # now, or the model would idle while the rows of this batch are scored
        for (_, waiter), part in zip(batch, _parts(outcome, merged, requests), strict=True):
            _give(waiter, part)
        return isinstance(outcome, Reply)

    async def _send_halves(self, batch: list[Waiting], size: int) -> bool:
        """Send a refused batch of ``size`` texts or pairs in two halves; return True if all requests were answered.

        If one text is at fault, halving finds it in a few calls, and the other texts still get an answer. If both halves are
        answered, the batch was too large, and later batches are at most half as large.
        """
        middle = len(batch) // 2
        first, second = await self._send(batch[:middle]), await self._send(batch[middle:])
        if first and second:
            self._most = min(self._most, max(1, size // 2))
        return first and second

    def _note(self, outcome: Outcome | None) -> None:
        """Count the outcome of a call. All requests get a fatal error, because every further call would fail with it."""
        self._answered |= isinstance(outcome, Reply)
        if isinstance(outcome, ModelError):
            self._refused += 1
            if outcome.fatal:
                for _, waiter in chain(self._waiting, *self._in_flight.values()):
                    _give(waiter, as_shared(outcome))
                self._waiting.clear()
                self._items_waiting = 0

    def _is_refused(self, outcome: Outcome | None) -> bool:
        """Whether the model refused a batch of which it might accept a part."""
        refused = isinstance(outcome, ModelError) and not (outcome.fatal or outcome.transient)
        return refused and (self._answered or self._refused <= FRUITLESS)


def _items(request: Bulk) -> tuple[object, ...]:
    return request.texts if isinstance(request, Embed) else request.pairs


def _merged(requests: list[Bulk]) -> Bulk:
    """Merge requests of one kind into one request, without duplicate items."""
    items: Any = tuple(dict.fromkeys(item for request in requests for item in _items(request)))
    return requests[0] if len(requests) == 1 else type(requests[0])(items)


def _parts(outcome: Outcome | None, merged: Bulk, requests: list[Bulk]) -> Iterator[Outcome | None]:
    """Yield the part of the common outcome that belongs to each request; the first request gets the cost."""
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
