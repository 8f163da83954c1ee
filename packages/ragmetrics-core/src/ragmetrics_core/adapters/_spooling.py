"""What live evaluation writes to its spool and to its sinks: calls until they are judged, and records without secrets."""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from .._kernel._wording import to_json
from .._values._errors import RagmetricsError
from .._values._plain import json_walk
from .._values._score import Score
from ._background import settled

if TYPE_CHECKING:
    from .._store._spool import Spool
    from .._values._sample import Sample
    from ._live_judging import LiveJudging

LOOK = 60.0
"""Seconds between two looks at what processes that were killed have left."""

TEXTS = ("sample", "metadata", "tags", "query", "response", "contexts", "error")
"""The parts of a record that may hold texts of users or of models."""

Redact = Callable[[str], str]


def redacted(data: Mapping[str, Any], redact: Redact | None) -> dict[str, Any]:
    """Return a record, as plain values, with all texts of users and models redacted. Names, times and ids are kept."""
    if redact is None:
        return dict(data)
    walk = json_walk(
        lambda value: redact(value) if isinstance(value, str) else value, kept=frozenset({int, bool, type(None)})
    )
    changed = {name: walk(value) if name in TEXTS else value for name, value in data.items()}
    if "scores" in data:
        texts = ("reason", "error", "details")
        changed["scores"] = {
            name: {key: walk(value) if key in texts else value for key, value in score.items()}
            for name, score in data["scores"].items()
        }
    return changed


def stored_sample(data: Mapping[str, Any]) -> Sample:
    """Return the sample that ``to_dict`` returned, after it was written as JSON."""
    from .._store._records import read_sample  # noqa: PLC0415  loads asyncio

    return read_sample(dict(data))


class RedactedRecord:
    """A record of live evaluation as sinks get it if there is a ``redact``.

    Args:
        record: the record, with ``to_dict``.
        redact: returns what may be seen of a text.
    """

    def __init__(self, record: Any, redact: Redact) -> None:
        self._data = redacted(record.to_dict(), redact)

    @property
    def sample(self) -> Sample | None:
        """What was judged; None if it could not be read."""
        return None if self._data.get("sample") is None else stored_sample(self._data["sample"])

    @property
    def scores(self) -> dict[str, Score]:
        """The scores by the name of the metric."""
        return {name: Score.from_dict(score) for name, score in self._data["scores"].items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return dict(self._data)


class Spooling:
    """Keeps the calls of a live evaluation in a spool until they are judged, and judges those that others have left.

    Reading and writing happens in a background thread, for many calls at once. A call that is judged before it was written is
    never written.

    Args:
        spool: the spool.
        live: the judging.
        most: how many calls may be pending.
        restore: judges a call that was kept: it gets its id and its data.
    """

    def __init__(self, spool: Spool, live: LiveJudging[Any], most: int, restore: Callable[[str, Any], object]) -> None:
        self._spool, self._live, self._half, self._restore = spool, live, max(1, most // 2), restore
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Start with nothing to write: in a fork, what waits to be written is written by the parent process."""
        self._process = os.getpid()
        self._own_lock = threading.RLock()  # garbage collection may end a stream in this thread, and its call is kept
        self._kept: dict[str, Callable[[], dict[str, Any]]] = {}
        self._released: list[str] = []
        self._done: list[str] = []
        self._is_writing = False
        self._has_more = True
        self._looked = -LOOK

    @property
    def _lock(self) -> threading.RLock:
        if self._process != os.getpid():
            self._begin_anew()
        return self._own_lock

    def keep(self, data: Callable[[], dict[str, Any]]) -> str:
        """Keep a call, and return its id. ``data`` returns it as plain values, in a background thread."""
        ticket = uuid.uuid4().hex
        with self._lock:
            self._kept[ticket] = data
        self._write_soon()
        return ticket

    def release(self, ticket: str) -> None:
        """Leave a call to whichever process has time for it."""
        with self._lock:
            self._released.append(ticket)
            self._has_more = True
        self._write_soon()

    def remove(self, ticket: str) -> None:
        """Forget a call that is judged."""
        with self._lock:
            if self._kept.pop(ticket, None) is None:
                self._done.append(ticket)
        self._write_soon()

    def look(self) -> bool:
        """Judge calls that were left, if there is time; return whether there may be some."""
        now = time.monotonic()
        with self._lock:
            is_due = (self._has_more or now - self._looked > LOOK) and self._live.evaluations <= self._half
            if not is_due or self._live.is_closed or self._live.is_over_budget:
                return False
            self._looked, self._has_more = now, False
        self._do(self._claim)
        return True

    def _claim(self) -> None:
        calls, old = self._spool.claim(self._half)
        self._has_more = self._has_more or len(calls) >= self._half
        for ticket, data in calls:
            outcome = settled(partial(self._restore, ticket, json.loads(data)))
            if self._live.log.note("the record of a call", outcome) is not None:
                self.remove(ticket)  # it would fail again
        if old:
            raise RagmetricsError(f"{old} calls in the spool were older than max_age={self._spool.max_age:g} seconds")

    def _write_soon(self) -> None:
        with self._lock:
            if self._is_writing:
                return
            self._is_writing = True
        self._do(self._write)

    def _do(self, job: Callable[[], None]) -> None:
        self._live.tell(job, partial(self._live.log.note, "spool"), "spool", workers=1, is_bounded=False)

    def _write(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, {}
            released, self._released = self._released, []
            done, self._done = self._done, []
            self._is_writing = False
        outcomes = {ticket: settled(partial(_line, data)) for ticket, data in kept.items()}
        for outcome in outcomes.values():
            self._live.log.note("the record of a call", outcome)
        calls = [(ticket, outcome.result()) for ticket, outcome in outcomes.items() if outcome.exception() is None]
        lost = self._spool.write(calls, released, done)
        if lost:
            path, most = self._spool.path, self._spool.max_bytes
            raise RagmetricsError(f"calls are not kept in {path}, because it has reached max_bytes={most}")


def _line(data: Callable[[], dict[str, Any]]) -> bytes:
    return to_json(data()).encode()
