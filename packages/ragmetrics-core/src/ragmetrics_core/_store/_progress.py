"""How far a run is that goes on: the lines of its file of scores, read as they are written. Nothing is shared with the run."""

from __future__ import annotations

import math
import os
from pathlib import Path
from threading import Lock
from typing import Any

from ._records import record_of

MOST_READ = 4_000_000
"""The bytes that one look reads; the rest is read by the next one."""


class Progress:
    """Reads a file of scores that grows.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._offset = 0
        self._file: tuple[int, int] | None = None
        self._rows: dict[int, dict[str, float | None]] = {}

    def read(self) -> dict[str, Any]:
        """Return the number of rows so far, and the mean of each metric over those that have a value.

        A line that is being written is read the next time. A line that cannot be read is left out; the row is scored again.
        """
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    self._read_lines(file)
            except FileNotFoundError:  # the run has no row yet
                self._rows = {}
            columns: dict[str, list[float]] = {}
            for values in self._rows.values():
                for name, value in values.items():
                    columns.setdefault(name, []).extend([] if value is None else [value])
            means = {name: math.fsum(found) / len(found) for name, found in columns.items() if found}
            return {"rows": len(self._rows), "means": means}

    def _read_lines(self, file: Any) -> None:
        state = os.fstat(file.fileno())
        place = state.st_dev, state.st_ino
        if place != self._file or state.st_size < self._offset:  # another file, as at the end of a run
            self._file, self._offset, self._rows = place, 0, {}
        file.seek(self._offset)
        data = file.read(MOST_READ)
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            self._offset += len(line)
            try:
                record = record_of(line)
            except ValueError:
                continue
            self._rows[record.index] = {name: score.value for name, score in record.scores.items()}
