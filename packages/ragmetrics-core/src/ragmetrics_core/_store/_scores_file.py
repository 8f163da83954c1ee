"""The file of a run's scores: one line of JSON per row, written as soon as the row is finished.

While a run goes on, the file only grows, so a kill costs at most the line that is being written. A row that is scored again gets
a new line, and the last line counts. At the end of the run, the file is written again in input order, with one line per row, and
replaces the old file in one step. One run writes at a time; any number may read.

A seal is the number of lines and a checksum of them, as they were at the end of the run. The checksum leaves out line ends, so a
copy with other line ends is still the same. The seal finds damage. A checksum is enough for that and faster than a cryptographic
hash, which would not protect more, because it would be stored beside the file.
"""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import weakref
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from .._values._errors import InvalidInput
from ._files import ANOTHER, explain_errors, sync_to_disk, temporary_name, write_all
from ._records import Record, Records, View, record_line, record_of


@dataclass
class Seal:
    """The number and the checksum of the lines of a file of scores.

    Attributes:
        rows: the number of lines.
        checksum: the checksum of all lines, in order.
    """

    rows: int = 0
    checksum: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the seal in the form that ``run.json`` stores."""
        return {"rows": self.rows, "digest": f"{self.checksum:08x}"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Seal:
        """Return the seal that ``to_dict`` wrote.

        Raises:
            LookupError, TypeError, ValueError: the data have a different form.
        """
        if type(data["rows"]) is not int:
            raise TypeError("the number of rows is not a whole number")
        return cls(data["rows"], int(data["digest"], 16))

    def add(self, line: bytes) -> None:
        """Count one more line. A blank line is ignored."""
        if text := line.rstrip():
            self.rows += 1
            self.checksum = crc32(b"\n", crc32(text, self.checksum))


NOWHERE = -1

MOST_AHEAD = 1_000_000
"""The most by which a row number may exceed the number of lines before it. Without a limit, a damaged number could take all
memory."""


class ScoresFile:
    """The lines of a file of scores, by row.

    Args:
        path: the file. With ``writing``, a missing file is created; an existing file does not change until a line is added.
        writing: whether lines will be added.
        named: False for lines that may never become part of the file: they are in a temporary file without a name, which vanishes
            with this process.
        metrics: names of the metrics of which a line must have scores, and no others; empty: the metrics of the first line.
        most: how many lines are read; None: all of them.

    Attributes:
        unreadable: the number of lines that are cut short, damaged, or of other metrics. Their rows are left out.
        seal: the seal of the lines when the file was opened or last rewritten.

    Raises:
        InvalidInput: the file cannot be opened.
        RagmetricsError: (later) it cannot be written.
    """

    def __init__(
        self, path: Path, *, writing: bool, named: bool = True, metrics: Iterable[str] = (), most: int | None = None
    ) -> None:
        self._path = path
        self._lock = threading.Lock()  # records may be read from any thread
        self._starts = array("q")
        self._lengths = array("q")
        self._lines = 0
        self.unreadable = 0
        self._metrics = frozenset(metrics)
        self._cut = False
        self.seal = Seal()
        if named:
            self._open(path, "a+b" if writing else "rb")
            with explain_errors(self._path):
                self._cut = not self._scan(most)
        else:
            with explain_errors(self._path):
                self._use(tempfile.TemporaryFile(buffering=0, dir=path.parent))  # noqa: SIM115  as long as the records

    def add(self, record: Record) -> None:
        """Append the line of one row."""
        self._append(record.index, record_line(record, with_calls=True).encode())

    def take(self, other: ScoresFile) -> None:
        """Append the lines of another file."""
        for index in other.indexes():
            self._append(index, other.line(index))

    def _append(self, index: int, line: bytes) -> None:
        # a line that a kill has cut short must not merge with the next one
        data = b"\n" + line if self._cut else line
        with self._lock, explain_errors(self._path):
            self._file.seek(0, os.SEEK_END)
            write_all(self._file, data)
            end = self._file.tell()
        self._cut = False
        self._note(index, end - len(line), len(line))

    def settle(self, keep: Callable[[int], bool]) -> Seal:
        """Rewrite the file with the rows in ``keep``, one line each, in input order."""
        part = temporary_name(self._path)
        try:
            with explain_errors(self._path):
                starts, lengths, seal = self._copy(part, keep)
                self._close()
                if os.name == "nt":  # where an open file cannot be moved
                    part.replace(self._path)
                    self._open(self._path, "rb")
                else:
                    self._open(part, "rb")  # this file, not the path: another process may replace the file
                    part.replace(self._path)
        finally:
            part.unlink(missing_ok=True)
        self._starts, self._lengths, self.seal = starts, lengths, seal
        return seal

    def _copy(self, path: Path, keep: Callable[[int], bool]) -> tuple[array[int], array[int], Seal]:
        starts, lengths, seal = array("q"), array("q"), Seal()
        with path.open("wb") as file:
            for index, (start, length) in enumerate(zip(self._starts, self._lengths, strict=True)):
                kept = start != NOWHERE and keep(index)
                # a kill may have cut off the line end only
                line = self._read(start, length).rstrip() + b"\n" if kept else b""
                starts.append(file.tell() if kept else NOWHERE)
                lengths.append(len(line))
                seal.add(line)
                file.write(line)
            sync_to_disk(file)
        return starts, lengths, seal

    def indexes(self) -> array[int]:
        """Return the indexes of the rows in the file, in input order."""
        return array("q", (row for row, start in enumerate(self._starts) if start != NOWHERE))

    def records(self) -> Records:
        """Return the rows in input order. They are read when they are used."""
        return StoredRecords(self.indexes(), self.read)

    def read(self, index: int) -> Record:
        """Return the record with this index."""
        return record_of(self.line(index))

    def line(self, index: int) -> bytes:
        """Return the line with this index, unchanged."""
        return self._read(self._starts[index], self._lengths[index])

    def __contains__(self, index: int) -> bool:
        return index < len(self._starts) and self._starts[index] != NOWHERE

    def _open(self, path: Path, mode: str) -> None:
        try:
            if path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
                raise InvalidInput(f"{path} is not a regular file: ", *ANOTHER)
            # no buffer: the operating system has a line as soon as it is written
            self._use(path.open(mode, buffering=0))
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be opened: {error.strerror}") from None

    def _use(self, file: IO[Any]) -> None:
        self._file = file
        # stays open while the records are in use, because another process may replace the file
        self._close = weakref.finalize(self, file.close)

    def _read(self, start: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            data: bytes = self._file.read(length)
            return data

    def _scan(self, most: int | None) -> bool:
        """Find the lines of the file, or the first ``most`` of them; return True if the last line is complete."""
        start, line = 0, b"\n"
        self._file.seek(0)
        # the same file, opened again: the path may lead to another file by now
        with open(self._file.fileno(), "rb", closefd=False) as file:
            for line in islice(file, most):
                if line.strip():
                    self._find(line, start)
                self.seal.add(line)
                start += len(line)
        return line.endswith(b"\n")

    def _find(self, line: bytes, start: int) -> None:
        self._lines += 1
        try:
            record = record_of(line)
        except ValueError:
            self.unreadable += 1  # cut short by a kill, or damaged: the row is scored again
            return
        self._metrics = self._metrics or frozenset(record.scores)
        if record.index < self._lines + MOST_AHEAD and self._metrics == record.scores.keys():
            self._note(record.index, start, len(line))
        else:
            self.unreadable += 1

    def _note(self, index: int, start: int, length: int) -> None:
        missing = index + 1 - len(self._starts)
        if missing > 0:
            self._starts.extend([NOWHERE] * missing)
            self._lengths.extend([0] * missing)
        self._starts[index], self._lengths[index] = start, length


class StoredRecords(View[Record], Records):
    """Records that are read from their file when they are used."""
