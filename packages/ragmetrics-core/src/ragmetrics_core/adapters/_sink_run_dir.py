"""A sink that writes records to a directory, with the counts of the live evaluation beside them."""

from __future__ import annotations

import json
import os
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._store._files import LIVE, SCORES, make_directory, replace_file
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
    evaluation says, at most once a second and when it is closed. Each process needs a directory to itself.

    Args:
        path: the directory; made if there is none.
        settings: those of ``JsonlSink``.

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

    def attach(self, live: LiveEvaluation[Any, Any]) -> None:
        """Take the counts of this live evaluation; it calls this itself."""
        self._live = weakref.ref(live)
        self.close()

    def __call__(self, record: JudgedCall) -> None:
        """Write a record, unless it was not judged, and the counts, if a second has passed."""
        super().__call__(record)
        if time.monotonic() >= self._next:
            self.close()

    def close(self) -> None:
        """Write the counts."""
        live = None if self._live is None else self._live()
        if live is not None:
            self._next = time.monotonic() + EVERY
            with replace_file(self._counts) as file:
                file.write(json.dumps(live.stats(), indent=1).encode())
