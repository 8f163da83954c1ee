"""Write files completely or not at all.

A file is written under a temporary name, flushed to the disk, and then renamed. After a kill or a power cut there is the old file
or the new one, never an incomplete one. The temporary name contains the process id, so that a later run can remove files that
killed processes have left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from .._values._errors import InvalidInput, RagmetricsError, Setting

ANOTHER = ("give another ", Setting("run_dir"))
"""The cure if a directory cannot be used as run directory."""

OWNER_ONLY, OWNER_ONLY_FILE = 0o700, 0o600
"""Permissions of a run directory and of a file of replies: only the user who ran it may read the replies."""

SCORES, LIVE = "scores.jsonl", "live.json"
"""The scores in the directory of a run, and the counts of a live evaluation beside them."""


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can read. An existing directory is not changed.

    Raises:
        InvalidInput: it cannot be made.
    """
    try:
        path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be made a directory: {error.strerror}") from None


def check_directory(path: Path) -> None:
    """Check that a directory can be made here and written to, without making it.

    Raises:
        InvalidInput: the path, or the first existing folder above it, is not a directory or is not writable.
    """
    there = next(above for above in (path, *path.absolute().parents) if above.exists() or above.is_symlink())
    if not there.is_dir():
        raise InvalidInput(Setting("run_dir", str(path)), f" cannot be made a directory: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInput(Setting("run_dir", str(path)), " cannot be written: Permission denied")


def temporary_name(path: Path) -> Path:
    """Return the temporary name under which this process writes a file."""
    return path.with_name(f".{path.name}.{os.getpid()}")


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file to write to, which replaces the file at ``path`` when the block ends. After an error the temporary
    file is removed.

    Raises:
        RagmetricsError: the file cannot be written.
    """
    part = temporary_name(path)
    try:
        with explain_errors(path):
            with part.open("wb") as file:
                yield file
                sync_to_disk(file)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def sync_to_disk(file: Any) -> None:
    """Flush the file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def write_all(file: Any, data: bytes) -> None:
    """Write all bytes to an unbuffered file. A nearly full disk writes a part, and raises at the next attempt."""
    written = 0
    while written < len(data):
        written += file.write(data[written:])


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to the disk. Windows has no call for that."""
    if os.name != "nt":
        directory = os.open(path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def remove_leftovers(path: Path) -> None:
    """Remove temporary files of this file that killed processes have left. Only for the one writer of a directory."""
    for part in path.parent.glob(f".{path.name}.*"):
        owner = part.name.rpartition(".")[2]
        if owner.isdecimal():
            part.unlink(missing_ok=True)


def free_name(path: Path) -> Path:
    """Return the first unused name among ``scores.1.jsonl``, ``scores.2.jsonl`` and so on."""
    names = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())


@contextmanager
def explain_errors(path: Path, what: Callable[[str], RagmetricsError] = RagmetricsError) -> Iterator[None]:
    """Convert an ``OSError`` about a file that is written into an error with its path.

    Raises:
        RagmetricsError: or the error that ``what`` makes, instead of the ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise what(f"{path} cannot be written: {error.strerror}") from None
