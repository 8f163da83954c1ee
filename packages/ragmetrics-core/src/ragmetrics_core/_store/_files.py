"""Files that are written whole or not at all, and what killed processes have left of such files.

Strategy. A file that others rely on is written under another name, brought to the disk, and only then put in its place: after a
kill or a power cut there is the old file or the new one, and never an empty one. The other name tells the process, so that the
next run can sweep away what a dead one has left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from .._kernel._errors import InvalidInput, RagmetricsError

OWNER_ONLY = 0o700
"""What was asked and answered is nobody else's business."""


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can look into; one that exists stays as it is.

    Raises:
        InvalidInput: it cannot be made.
    """
    try:
        path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"run_dir {path} cannot be made a directory: {error.strerror}") from None


def check_directory(path: Path) -> None:
    """Refuse a path where no directory could be made, or nothing could be written; makes nothing.

    Raises:
        InvalidInput: the path, or the first folder above it that exists, is no directory or must not be written to.
    """
    there = next(above for above in (path, *path.absolute().parents) if above.exists() or above.is_symlink())
    if not there.is_dir():
        raise InvalidInput(f"run_dir {path} cannot be made a directory: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInput(f"run_dir {path} cannot be written: Permission denied")


def part_of(path: Path) -> Path:
    """The name under which this process writes a file before it puts it in its place."""
    return path.with_name(f".{path.name}.{os.getpid()}")


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which then takes the place of another one; where that fails nothing is left of it.

    Raises:
        RagmetricsError: it cannot be written.
    """
    part = part_of(path)
    try:
        with worded(path):
            with part.open("wb") as file:
                yield file
                put(file)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def put(file: Any) -> None:
    """Bring what was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sweep(path: Path) -> None:
    """Remove what dead processes have left of this file."""
    for part in path.parent.glob(f".{path.name}.*"):
        owner = part.name.rpartition(".")[2]
        if owner.isdecimal() and not _lives(int(owner)):
            part.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    if os.name == "nt" or process == os.getpid():  # there signal 0 is Ctrl-C
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another user
        return True
    return True


def free_name(path: Path) -> Path:
    """The first of ``scores.1.jsonl``, ``scores.2.jsonl`` and so on that is not taken."""
    names = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())


@contextmanager
def worded(path: Path, what: Callable[[str], RagmetricsError] = RagmetricsError) -> Iterator[None]:
    """Say in words what the operating system says about a file.

    Raises:
        RagmetricsError: (or ``what``) instead of an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise what(f"{path} cannot be written: {error.strerror}") from None
