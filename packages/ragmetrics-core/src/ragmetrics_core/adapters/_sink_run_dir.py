"""A sink that writes records to a directory, with the counts of the live evaluation beside them."""

from __future__ import annotations

import atexit
import json
import os
import time
import weakref
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._store._files import LIVE, SCORES, make_directory, replace_file
from .._store._lock import only_writer
from ._sink_jsonl import JsonlSink
from ._sinks import JudgedCall

if TYPE_CHECKING:
    from ._live_evaluation import LiveEvaluation

EVERY = 1.0
"""The fewest seconds between two writings of the counts."""


class RunDirSink(JsonlSink):
    """Write every judged call to a directory: ``sinks=[RunDirSink("live")]``. ``ragmetrics live`` shows its means while it grows,
    and ``show``, ``report``, ``compare``, ``calibrate`` and ``Evaluation.load`` read it as a run.

    Beside the file of scores, which ``JsonlSink`` describes with its settings, it keeps ``live.json``: what ``stats()`` of the live
    evaluation says, at most once a second and when it is closed, and ``since``, when it began. After a restart, the counts begin at
    0. One process at a time may write to a directory: give each worker of a server its own.

    Args:
        path: the directory; made if there is none.
        settings: the settings of ``JsonlSink``.

    Raises:
        InvalidInput: a setting is impossible.
        RagmetricsError: the directory cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str], **settings: Any) -> None:
        make_directory(Path(path))
        super().__init__(Path(path) / SCORES, **settings)
        self._counts = Path(path) / LIVE
        self._live: weakref.ref[LiveEvaluation[Any, Any]] | None = None
        self._next = 0.0
        self._writer: int | None = None

    def attach(self, live: LiveEvaluation[Any, Any]) -> None:
        """Take the counts of this live evaluation; it calls this itself."""
        self._live, self._since = weakref.ref(live), datetime.now(timezone.utc).isoformat(timespec="seconds")
        atexit.register(_close, weakref.ref(self))  # runs after the exit function of the live evaluation

    def __call__(self, record: JudgedCall) -> None:
        """Write a record, unless it was not judged, and the counts, if a second has passed."""
        with self._lock:
            if self._writer != os.getpid():
                held = ExitStack()
                held.enter_context(only_writer(self._counts.parent))
                self._held, self._writer, self._lines = held, os.getpid(), None
        super().__call__(record)
        if time.monotonic() >= self._next:
            self._write()

    def close(self) -> None:
        """Write the counts, and let other processes write."""
        with self._lock:
            if self._writer == os.getpid():
                self._writer = None
                with self._held:
                    self._write()

    def _write(self) -> None:
        live = None if self._live is None else self._live()
        if live is not None:
            self._next = time.monotonic() + EVERY
            with replace_file(self._counts) as file:
                file.write(json.dumps({"since": self._since, **live.stats()}, indent=1).encode())


def _close(sink: weakref.ref[RunDirSink]) -> None:
    if (found := sink()) is not None:
        found.close()
