"""Finished rows for sinks. Each sink has its own thread and queue. So a sink that is slow or dead costs a run little time and a
bounded backlog; it is reported by one warning for its first failure and one line at the end.
"""

from __future__ import annotations

import inspect
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any

from .._store._records import Record
from .._support._blocking import run_blocking
from .._support._secrets import Kept, conceal_record
from .._support._threads import awaited, in_own_thread
from .._values._errors import RagmetricsError
from .._values._sample import Sample

if TYPE_CHECKING:
    from typing_extensions import Self

LOGGER = logging.getLogger("ragmetrics")
LOGGER.addFilter(conceal_record)

Sink = Callable[[Any], object]

MOST_WAITING = 1000
"""The number of rows that may wait for a sink. Further rows are dropped, once the patience of the run is used up."""

PATIENCE = 10.0
"""Seconds that a run waits, in all, for room in the queue of a sink."""

STILL = 5.0
"""Seconds after which a sink that finishes no row counts as dead, when the run has ended."""

CLOSING = 60.0
"""Seconds that the end of a run waits for sinks that are at work."""

GLANCE = 0.01


class Outbox:
    """The rows that wait for one sink.

    Args:
        name: the name of the sink in messages.
        sink: called in a thread with each row; a coroutine function is run to its end.
    """

    def __init__(self, name: str, sink: Sink) -> None:
        self._name, self._sink = name, sink
        self._queue = queue.Queue[Record](MOST_WAITING)
        self._patience = PATIENCE
        self._seen = self._dropped = self._done = self._failed = 0
        self._is_closed = False

    def add(self, record: Record) -> None:
        """Queue a row. The thread starts with the first one."""
        if not self._seen:
            # in an empty context: the span of the run is not the span of its rows
            threading.Thread(target=Context().run, args=(self._work,), name="ragmetrics-sink", daemon=True).start()
        self._seen += 1
        begun = time.monotonic()
        try:
            self._queue.put(record, timeout=min(1.0, self._patience))
        except queue.Full:  # no row has left the queue for a second: the sink hangs
            self._patience = 0.0
            self._dropped += 1
        else:
            self._patience = max(0.0, self._patience - (time.monotonic() - begun))

    def _work(self) -> None:
        while not self._is_closed:
            with suppress(queue.Empty):
                self._hand_over(self._queue.get(timeout=GLANCE))
                self._done += 1

    def _hand_over(self, record: Record) -> None:
        kept = Kept()
        with kept:
            answer = self._sink(record)
            if inspect.isawaitable(answer):
                run_blocking(partial(awaited, answer))
            return
        self._failed += 1
        if self._failed == 1:
            trace = None if isinstance(kept.error, RagmetricsError) else kept.error
            LOGGER.warning("%s failed: %s; further failures are only counted", self._name, kept.error, exc_info=trace)

    def close(self, end: float) -> None:
        """Wait for the queued rows while the sink is at work, at most until ``end``, and log how many it did not get."""
        done, since = -1, 0.0
        while (now := time.monotonic()) < end and self._done < self._seen - self._dropped:
            if done != self._done:
                done, since = self._done, now
            elif now - since > STILL:
                break
            time.sleep(GLANCE)
        self._is_closed = True
        waiting = self._seen - self._dropped - self._done
        if lost := self._failed + self._dropped + waiting:
            text = "%s did not get %d of %d rows: %d failed, %d dropped, %d still waiting"
            LOGGER.warning(text, self._name, lost, self._seen, self._failed, self._dropped, waiting)


class Outboxes:
    """The rows for all sinks of a run: an asynchronous context manager, whose end waits for the sinks."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self._boxes = [Outbox(f"sinks[{place}] ({type(sink).__name__})", sink) for place, sink in enumerate(sinks)]

    def add(self, record: Record, earlier: Callable[[int, Sample], Record | None] = lambda *_: None) -> None:
        """Queue a finished row for every sink, unless an earlier part of the run had the same scores.

        Args:
            record: the row with its scores.
            earlier: returns what an earlier part of the run kept of the row.
        """
        if self._boxes and _is_news(record, earlier(record.index, record.sample)):
            for box in self._boxes:
                box.add(record)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if self._boxes:
            # a user who presses Ctrl-C does not want to wait
            await in_own_thread(partial(self._close, time.monotonic() + (CLOSING if kind is None else STILL)))

    def _close(self, end: float) -> None:
        for box in self._boxes:
            box.close(end)


def _is_news(record: Record, there: Record | None) -> bool:
    """Whether a score is new. A failure is not new if the row had any score before."""
    known = {} if there is None else there.scores
    return any(
        name not in known
        or (score.error is None and (score.value, score.state) != (known[name].value, known[name].state))
        for name, score in record.scores.items()
    )
