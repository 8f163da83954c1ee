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
from .._values._errors import InvalidInput, RagmetricsError
from .._values._plain import json_walk
from .._values._score import Score
from ._background import settled

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .._store._spool import Spool
    from .._values._sample import Sample
    from ._live_judging import LiveJudging

LOOK = 60.0
"""Seconds between two searches for calls that killed processes have left."""

TEXTS = ("sample", "metadata", "tags", "query", "response", "contexts", "error")
"""The parts of a record that may hold texts of users or of models."""

IDS = frozenset({"id", "id_", "retrieved_context_ids", "reference_context_ids", "trace_id", "span_id"})
"""Names of values that are never redacted: without them, a score cannot be matched to its row, its documents or its trace."""

Redact = Callable[[str], str]


def redacted(data: Mapping[str, Any], redact: Redact | None) -> dict[str, Any]:
    """Return a record, as plain values, with all texts of users and models redacted. Names, times and ids are kept."""
    if redact is None:
        return dict(data)

    def changed_text(value: Any) -> Any:
        changed = redact(value) if isinstance(value, str) else value
        if isinstance(value, str) and not isinstance(changed, str):
            raise InvalidInput(f"redact must return a text, got {type(changed).__name__}")
        return changed

    def of_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
        return {str(key): item if key in IDS else walk(item) for key, item in value.items()}

    walk = json_walk(changed_text, kept=frozenset({int, bool, type(None)}), mapping=of_mapping)
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


class Full(RagmetricsError):
    """The spool has no room for further calls."""


class Expired(RagmetricsError):
    """Calls in the spool had become too old."""


class OfOthers(RagmetricsError):
    """Calls in the spool are of another kind."""


class Spooling:
    """Keeps the calls of a live evaluation in a spool until they are judged, and judges those that others have left.

    Reading and writing happens in a background thread, for many calls at once. A call that is judged before it was written is
    never written. What cannot be written now is written with the next call.

    Args:
        spool: the spool.
        kind: how calls are recorded, and the names of the metrics that judge them. Calls of another kind stay in the spool.
        live: the judging.
        most: how many calls may be pending.
        restore: judges a call that was kept: it gets its id and its data.
    """

    def __init__(
        self, spool: Spool, kind: str, live: LiveJudging[Any], most: int, restore: Callable[[str, Any], object]
    ) -> None:
        self._spool, self._kind, self._live, self._most, self._restore = spool, kind, live, most, restore
        self._half = max(1, most // 2)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()  # garbage collection may end a stream in this thread, and its call is kept
        self._kept: dict[str, Callable[[], dict[str, Any]]] = {}
        self._released: list[str] = []
        self._done: list[str] = []
        self._is_working = False
        self._has_more = True
        self._looked = -LOOK

    def _entered(self) -> threading.RLock:
        """Return the lock. After a fork, forget the calls of the parent process."""
        if self._process != os.getpid():
            self._begin_anew()
        return self._lock

    def keep(self, data: Callable[[], dict[str, Any]]) -> str:
        """Keep a call, and return its id. ``data`` returns it as plain values, in a background thread."""
        ticket = uuid.uuid4().hex
        with self._entered():
            self._kept[ticket] = data
        self._work_soon()
        return ticket

    def release(self, ticket: str) -> None:
        """Let any process judge this call."""
        with self._entered():
            self._released.append(ticket)
            self._has_more = True
        self._work_soon()

    def remove(self, ticket: str) -> None:
        """Forget a call that is judged."""
        with self._entered():
            if self._kept.pop(ticket, None) is None:
                self._done.append(ticket)
        self._work_soon()

    def look(self) -> bool:
        """Judge calls that were left, if there is time, and write what could not be written before. Return whether there may be
        calls to judge.
        """
        with self._entered():
            must_write, may_claim = self._must_write, self._may_claim
        if must_write or may_claim:
            self._work_soon()
        return may_claim

    @property
    def _must_write(self) -> bool:
        return bool(self._kept or self._released or self._done)

    @property
    def _may_claim(self) -> bool:
        is_due = self._has_more or time.monotonic() - self._looked > LOOK
        has_room = self._live.evaluations <= self._half and not self._live.is_closed and not self._live.is_over_budget
        return is_due and has_room

    def _work_soon(self) -> None:
        with self._entered():
            if self._is_working:
                return
            self._is_working = True
        self._live.tell(self._work, self._worked, "spool", workers=1, is_bounded=False)

    def _worked(self, outcome: Future[Any]) -> None:
        self._is_working = False  # also if the job was not begun in time
        is_idle = outcome.exception() is None and not outcome.result()
        if is_idle or self._live.log.note("spool", outcome) is None:
            self.look()

    def _work(self) -> bool:
        """Write, and take over calls, if that is due; return whether the file was used."""
        must_write, may_claim = self._must_write, self._may_claim
        if may_claim:  # noted first, since ``flush`` would try without end if the file cannot be written
            self._looked, self._has_more = time.monotonic(), False
        if must_write:
            self._write()
        if may_claim:
            self._claim()
        return must_write or may_claim

    def _claim(self) -> None:
        found = self._spool.claim(self._kind, self._half)
        self._has_more = self._has_more or len(found.calls) >= self._half
        self._live.take_back(found.own)
        for ticket, data in found.calls:
            outcome = settled(partial(self._restore, ticket, json.loads(data)))
            if self._live.log.note("the record of a call", outcome) is not None:
                self.remove(ticket)  # it would fail again
        if found.others:
            left = (
                f"{found.others} calls in the spool stay there, because they were recorded in another way or for other"
            )
            self._note(OfOthers(f"{left} metrics than this live evaluation has ({self._kind})"))
        if found.expired:
            age = f"{self._spool.max_age:g} seconds"
            self._note(Expired(f"{found.expired} calls in the spool were older than max_age={age}"))

    def _write(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, {}
            released, self._released = self._released, []
            done, self._done = self._done, []
        outcomes = {ticket: settled(partial(_line, data)) for ticket, data in kept.items()}
        for outcome in outcomes.values():
            self._live.log.note("the record of a call", outcome)
        calls = [(ticket, outcome.result()) for ticket, outcome in outcomes.items() if outcome.exception() is None]
        try:
            lost, missing = self._spool.write(self._kind, calls, released, done)
        except RagmetricsError:
            self._put_back(kept, released, done)
            raise
        self._live.lose(missing)
        if lost:
            path, most = self._spool.path, self._spool.max_bytes
            self._note(Full(f"calls are not kept in {path}, because it has reached max_bytes={most}"))

    def _put_back(self, kept: Mapping[str, Callable[[], dict[str, Any]]], released: list[str], done: list[str]) -> None:
        """Write it later. At most as many calls for other processes are held in memory as may be pending."""
        with self._lock:
            done = [*done, *self._done]
            self._done = [ticket for ticket in done if ticket not in kept]
            self._kept = {**{ticket: data for ticket, data in kept.items() if ticket not in done}, **self._kept}
            released = [*released, *self._released]
            self._released, lost = released[: self._most], released[self._most :]
            for ticket in lost:
                self._kept.pop(ticket, None)
        self._live.lose(len(lost))

    def _note(self, error: RagmetricsError) -> None:
        self._live.log.failed("spool", error, "are not logged")


def _line(data: Callable[[], dict[str, Any]]) -> bytes:
    return to_json(_as_json(data())).encode()


_as_json = json_walk(str)
"""Metadata that JSON does not have become texts, since a call without them is better than none."""
