"""The scores of a run as a file: one JSON line per row, written as soon as the row is finished.

Strategy. While a run goes on the file only grows, so a kill at any moment costs at most the line being written. A row that is
scored again gets a new line, and the last one counts. When the run ends, the file is written anew, one line per row in input
order, and takes the old one's place in a single step. Two processes that write into one file hurt nobody: each knows where its
own lines stand.
"""

from __future__ import annotations

import os
import threading
import weakref
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from ._errors import InvalidInput, RagmetricsError
from ._records import Record, Records, record_line, record_of

__all__ = ["ScoresFile"]

NOWHERE = -1


class ScoresFile:
    """The lines of a file of scores by row.

    Args:
        path: the file; made if it is missing and ``writing``.
        writing: whether lines will be added.

    Raises:
        InvalidInput: the file cannot be opened.
        RagmetricsError: (later) it cannot be written.
    """

    def __init__(self, path: Path, *, writing: bool) -> None:
        self._path = path
        self._lock = threading.Lock()  # records may be read from any thread
        self._open("a+b" if writing else "rb")
        self._starts = array("q")
        self._lengths = array("q")
        with _worded(self._path):
            whole = self._scan()
            if writing and not whole:
                self._file.write(b"\n")  # the line that a kill cut short must not swallow the next one

    def clear(self) -> None:
        """Drop all lines; who looks at the old ones goes on seeing them."""
        self._close()
        with _worded(self._path):
            self._path.unlink(missing_ok=True)
        self._open("a+b")
        del self._starts[:], self._lengths[:]

    def add(self, record: Record) -> None:
        """Write the line of one row, behind all others."""
        data = record_line(record).encode()
        written = 0
        with _worded(self._path):
            while written < len(data):  # a disk that is nearly full takes a part, and raises at the next attempt
                written += self._file.write(data[written:])
        self._note(record.index, self._file.tell() - len(data), len(data))

    def settle(self, keep: Callable[[int], bool]) -> None:
        """Write the file anew: the rows to keep, one line each, in input order."""
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            with _worded(self._path):
                starts, lengths = self._copy(part, keep)
                self._close()
                if os.name == "nt":  # where an open file cannot be moved
                    part.replace(self._path)
                    self._open("rb")
                else:
                    self._open(
                        "rb", part
                    )  # the very file that was written: another process may put its own in this place
                    part.replace(self._path)
        finally:
            part.unlink(missing_ok=True)
        self._starts, self._lengths = starts, lengths

    def _copy(self, path: Path, keep: Callable[[int], bool]) -> tuple[array[int], array[int]]:
        starts, lengths = array("q"), array("q")
        with path.open("wb") as file:
            for index, (start, length) in enumerate(zip(self._starts, self._lengths, strict=True)):
                kept = start != NOWHERE and keep(index)
                # a kill may have cut off the line end alone
                line = self._line(start, length).rstrip() + b"\n" if kept else b""
                starts.append(file.tell() if kept else NOWHERE)
                lengths.append(len(line))
                file.write(line)
        return starts, lengths

    def records(self) -> Records:
        """The rows in input order, read when they are looked at."""
        return StoredRecords(self, array("q", (row for row, start in enumerate(self._starts) if start != NOWHERE)))

    def read(self, index: int) -> Record:
        """The row of this index."""
        return record_of(self._line(self._starts[index], self._lengths[index]))

    def _open(self, mode: Literal["a+b", "rb"], path: Path | None = None) -> None:
        try:
            # no buffer: a line is in the hands of the operating system as soon as it is written
            self._file = (path or self._path).open(mode, buffering=0)
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be opened: {error.strerror}") from None
        # held open as long as anybody looks at the records, because another process may replace the file
        self._close = weakref.finalize(self, self._file.close)

    def _line(self, start: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return self._file.read(length)

    def _scan(self) -> bool:
        """Find the lines that are there; whether the last one is whole."""
        at, line = 0, b"\n"
        self._file.seek(0)
        # a second look at the same file: the path may lead to another one by now
        with open(self._file.fileno(), "rb", closefd=False) as file:
            for line in file:
                if line.strip():
                    self._find(line, at)
                at += len(line)
        return line.endswith(b"\n")

    def _find(self, line: bytes, at: int) -> None:
        try:
            record = record_of(line)
        except (ValueError, KeyError, TypeError):
            return  # cut short by a kill: the row is scored again
        self._note(record.index, at, len(line))

    def _note(self, index: int, start: int, length: int) -> None:
        missing = index + 1 - len(self._starts)
        if missing > 0:
            self._starts.extend([NOWHERE] * missing)
            self._lengths.extend([0] * missing)
        self._starts[index], self._lengths[index] = start, length


class StoredRecords(Records):
    """Records that stay in their file."""

    def __init__(self, file: ScoresFile, rows: Any) -> None:
        self._file = file
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Record]:
        return map(self._file.read, self._rows)

    def _at(self, index: int) -> Record:
        return self._file.read(self._rows[index])


@contextmanager
def _worded(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RagmetricsError(f"{path} cannot be written: {error.strerror}") from None
