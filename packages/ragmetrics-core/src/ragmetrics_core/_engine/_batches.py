"""Embeddings and comparisons of many rows in one call.

A model that embeds one text in five milliseconds embeds a hundred in fifty. But rows ask one by one. So while a call is under
way, the requests that arrive are gathered, and the next call takes them all: the busier the model, the larger its batches, and
a lone request never waits for company. (Nagle's idea, RFC 896.) Whoever waits here holds no call, so more rows may be worked on
than calls are allowed in flight.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from .._errors import ModelError
from .._requests import Compare, Embed, Reply
from .._run import Call
from .._steps import Outcome
from ._line import Line
from ._sharing import SHARED, as_shared

__all__ = ["Batches"]

MOST_TEXTS = 2048
"""Texts or pairs in one call, which is what servers of the OpenAI protocol take."""

Bulk = Embed | Compare
Waiting = tuple[Bulk, "asyncio.Future[Outcome | None]"]


class Batches:
    """Gathers the requests of one kind to one model.

    Args:
        line: the line to the model.
        make: the call for a request.
    """

    def __init__(self, line: Line, make: Callable[[Bulk], Call]) -> None:
        self._line = line
        self._make = make
        self._waiting: deque[Waiting] = deque()
        self._batch: list[Waiting] = []
        self._work: asyncio.Task[None] | None = None

    async def perform(self, request: Bulk) -> Outcome | None:
        """The outcome of the request; None: the budget is used up. Of those answered together, the first books the cost."""
        future: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._work is None:
            self._work = asyncio.ensure_future(self._run())
            self._work.add_done_callback(self._ended)
        return await future

    def close(self) -> None:
        """Give up what is under way."""
        if self._work is not None:
            self._work.cancel()

    async def _run(self) -> None:
        while self._waiting:
            await self._settled()
            self._batch = self._next()
            await self._send(self._batch)
        self._work = None

    def _ended(self, work: asyncio.Task[None]) -> None:
        """An error or a cancellation that ends the work reaches all who wait."""
        error = None if work.cancelled() else work.exception()
        if error is None and not work.cancelled():
            return
        self._work = None
        for _, future in [*self._batch, *self._waiting]:
            if not future.done():
                if error is None:
                    future.cancel()
                else:
                    future.set_exception(error)
        self._waiting.clear()

    async def _settled(self) -> None:
        """Let all come who are about to ask: rows that start together arrive one after the other."""
        seen = 0
        while len(self._waiting) > seen:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    def _next(self) -> list[Waiting]:
        batch = [self._waiting.popleft()]
        size = len(_items(batch[0][0]))
        while self._waiting and (size := size + len(_items(self._waiting[0][0]))) <= MOST_TEXTS:
            batch.append(self._waiting.popleft())
        return batch

    async def _send(self, batch: list[Waiting]) -> None:
        requests = [request for request, _ in batch]
        merged = _merged(requests)
        outcome = await self._line.perform(self._make(merged), size=len(_items(merged)))
        if isinstance(outcome, ModelError) and not (outcome.fatal or outcome.transient) and len(batch) > 1:
            # one text that the model does not take must not cost the others their answer; halving finds it in few calls
            middle = len(batch) // 2
            await self._send(batch[:middle])
            await self._send(batch[middle:])
            return
        for place, (request, future) in enumerate(batch):
            _give(future, _part(outcome, merged, request, first=not place))


def _items(request: Bulk) -> tuple[object, ...]:
    return request.texts if isinstance(request, Embed) else request.pairs


def _merged(requests: list[Bulk]) -> Bulk:
    if len(requests) == 1:
        return requests[0]
    if isinstance(requests[0], Embed):
        return Embed(
            tuple(dict.fromkeys(text for request in requests if isinstance(request, Embed) for text in request.texts))
        )
    return Compare(
        tuple(dict.fromkeys(pair for request in requests if isinstance(request, Compare) for pair in request.pairs))
    )


def _part(outcome: Outcome | None, merged: Bulk, request: Bulk, *, first: bool) -> Outcome | None:
    if outcome is None:
        return None
    if isinstance(outcome, ModelError):
        return outcome if first else as_shared(outcome)
    if request is merged:
        return outcome
    values = dict(zip(_items(merged), outcome.value, strict=True))
    return Reply([values[item] for item in _items(request)], outcome.usage if first else SHARED)


def _give(future: asyncio.Future[Outcome | None], outcome: Outcome | None) -> None:
    if not future.done():  # cancelled: nobody waits for it any more
        future.set_result(outcome)
