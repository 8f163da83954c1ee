"""A run directory has one writer: a lock of the operating system on a file in the directory.

The operating system releases the lock when the process ends, however it ends. A kill may leave the file behind, and the next run
locks that file. The file says which process holds the lock, for the message to those that are refused; it decides nothing else.

The writer removes the file when it releases the lock, and the directories that it made if nothing else is in them. So a run that
keeps nothing leaves nothing. (At worst an empty directory, if two such runs come and go in the same moment.) Another process may
have opened the file just before it was removed, and would lock a file without a name. So a process that has the lock looks whether
its file is still there, and starts again if not.

``flock`` belongs to one opening of the file, so it also keeps two runs of one process apart. A forked child shares the opening and
would keep the lock after the death of its parent, so it closes its copy first of all. On Windows a locked byte cannot be read, so
the lock is on a byte far behind the text.

A file system that supports no locks is refused. The journal of the run would not work there either.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

from .._values._errors import InvalidInput, Setting
from ._files import ANOTHER, OWNER_ONLY, check_directory, explain_errors

LOCK = ".ragmetrics.lock"

ATTEMPTS, PAUSE = 5, 0.02
"""How often the lock is tried, and the seconds between two attempts: a process that has just locked the file writes its name, and
one that has just ended removes the file.
"""

MOST_TEXT = 1000
"""Bytes of the text that are read."""

BEHIND = 1 << 30
"""The position of the byte that is locked on Windows."""

DAMAGED = (LookupError, OSError, OverflowError, RecursionError, TypeError, ValueError)
"""What reading the text of a lock file may raise."""

held: set[IO[bytes]] = set()
"""The lock files of this process."""


@contextmanager
def only_writer(path: Path | None) -> Iterator[Callable[[], bool]]:
    """Hold the lock of a run directory during the block; the directory is made if there is none. None: a run without a directory.

    The block gets a function that says whether the lock is still at its place: the directory may be moved or replaced.

    Raises:
        InvalidInput: another run writes there, the path cannot be a directory, or its file system supports no locks.
        RagmetricsError: the lock file cannot be written.
    """
    if path is None:
        yield lambda: True
        return
    check_directory(path)
    path = path.absolute()  # the program may change its working directory
    folders: list[Path] = []
    file = _locked_file(path, folders)
    held.add(file)
    try:
        with explain_errors(path / LOCK):
            file.truncate(0)
            holder = {"host": socket.gethostname(), "process": os.getpid(), "started": _now()}
            file.write(json.dumps(holder).encode())
        yield lambda: _is_at(file, path / LOCK)
    finally:
        held.discard(file)
        if not file.closed:  # it is closed in a forked child
            _remove(file, path / LOCK, folders)


def _locked_file(path: Path, made: list[Path]) -> IO[bytes]:
    """Open the lock file, lock it, and return it. Directories that had to be made for it are added to ``made``."""
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            time.sleep(PAUSE)
        made += [folder for folder in (path, *path.parents) if not folder.exists()]
        try:
            path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            file = open(path / LOCK, "a+b", buffering=0, opener=open_no_link)  # noqa: SIM115  it stays open
        except (FileExistsError, FileNotFoundError):  # the run that had made the directory removes it just now
            continue
        except OSError as error:
            raise InvalidInput(Setting("run_dir", str(path)), f" cannot be written: {error.strerror}") from None
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):
            with file:
                if attempt == ATTEMPTS:
                    raise _in_use(path, file) from None
        except OSError as error:
            _remove(file, path / LOCK, made)
            why = f" is on a file system without locks ({error.strerror}), so a second run could not be kept out: "
            raise InvalidInput(Setting("run_dir", str(path)), why, *ANOTHER, " on a local disk") from None
        else:
            if _is_at(file, path / LOCK):
                return file
            file.close()
    raise _in_use(path)


def open_no_link(path: str, flags: int) -> int:
    """Open a file, but not through a symbolic link: the text is written over what is in the file."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _lock(file: IO[bytes]) -> None:
    """Lock the file without waiting.

    Raises:
        BlockingIOError, PermissionError: it is locked already.
        OSError: the file system supports no locks.
    """
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        file.seek(BEHIND)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the path still leads to the open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:  # the file is gone
        return False


def _remove(file: IO[bytes], path: Path, made: list[Path]) -> None:
    """Remove the lock file, and the directories that were made for it unless something is in them, and release the lock."""
    mine = _is_at(file, path)
    if sys.platform == "win32":  # an open file cannot be removed there, so no other process has it open afterwards
        file.close()
    with suppress(OSError):  # a file that stays keeps no run out
        if mine:
            path.unlink()
    file.close()
    with suppress(OSError):  # it is not empty
        for folder in sorted(set(made), reverse=True):  # the inner ones first
            folder.rmdir()


def _in_use(path: Path, file: IO[bytes] | None = None) -> InvalidInput:
    """Return the error for a directory in which another run writes. It names that run, unless the text of the lock file is
    damaged.
    """
    who = "another process writes there"
    with suppress(*DAMAGED):
        if file is not None:
            file.seek(0)
            holder = json.loads(file.read(MOST_TEXT))
            who = f"process {holder['process']:d} on {holder['host']:s} has been writing there since {holder['started']:s}"
    return InvalidInput(Setting("run_dir", str(path)), f" is in use: {who}: wait until it ends, or ", *ANOTHER)


def was_killed(path: Path) -> bool:
    """Whether the process that the lock file of a run directory names has ended on this machine; the lock itself is not tried, as
    that could refuse a run.
    """
    with suppress(*DAMAGED):
        holder = json.loads((path / LOCK).read_bytes()[:MOST_TEXT])
        if (
            sys.platform != "win32" and holder["host"] == socket.gethostname()
        ):  # on Windows the signal 0 would end the process
            try:
                os.kill(holder["process"], 0)
            except ProcessLookupError:
                return True
            except PermissionError:  # of another user
                return False
    return False


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def _close_copies() -> None:
    for file in held:
        file.close()
    held.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_close_copies)
