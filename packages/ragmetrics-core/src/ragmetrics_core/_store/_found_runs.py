"""Find the runs in a folder, for a viewer: the directories and files that ``LoadedRun`` reads, by a look at their first bytes.

A viewer must show nothing outside its folder. So links are not followed, and a directory in which a file of the run is a link is
left out. A run has a key, which addresses hold in place of its path: no text from outside ever becomes part of a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from .._values._errors import InvalidInput
from ._files import LIVE, SCORES
from ._lock import LOCK, was_killed
from ._parquet import HEAD, SUFFIXES
from ._records import record_of
from ._run_dir import ACCOUNT, JOURNAL, read_account

DEEPEST = 4
"""How many folders may lie between the folder and a run."""

FILES = (ACCOUNT, SCORES, LIVE, JOURNAL)
"""The files that are read in the directory of a run."""

LINES = frozenset({".jsonl", ".ndjson"})

FOOTER = 1_000_000
"""The bytes at the end of a Parquet file that are searched for the mark of this program."""

LONGEST_LINE = 10_000_000
"""The bytes of a first line that are read."""

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class FoundRun:
    """A run in the folder of a viewer.

    Attributes:
        key: what addresses hold: a digest of its name.
        name: its path in the folder.
        path: where it is.
        changed: when its scores were last written, in seconds since 1970.
        stamp: names, times and sizes of its files; it differs after each change.
        going_on: whether it has not come to its end and holds its directory. A run that was killed on another
            machine looks like that too.
    """

    key: str
    name: str
    path: Path
    changed: float
    stamp: Stamp
    going_on: bool = False


def found_runs(root: Path) -> list[FoundRun]:
    """Return the runs in a folder, or the run that the folder is, those that were written last first."""
    found = [_found(root, path) for path in _paths(root, 0)]
    return sorted(found, key=lambda run: (-run.changed, run.name))


def _paths(folder: Path, depth: int) -> Iterator[Path]:
    if any((folder / name).is_symlink() for name in FILES):
        return
    if _is_directory_of_run(folder):
        yield folder
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:  # folders of other people, or one that was removed just now
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if depth < DEEPEST:
                yield from _paths(path, depth + 1)
        elif entry.is_file(follow_symlinks=False):
            state = entry.stat(follow_symlinks=False)
            if _is_file_of_scores(path, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)):
                yield path


def _is_directory_of_run(folder: Path) -> bool:
    return (folder / SCORES).is_file() and any((folder / name).is_file() for name in (ACCOUNT, LIVE))


@lru_cache(maxsize=10_000)
def _is_file_of_scores(path: Path, _: tuple[int, ...]) -> bool:
    """Look at the first bytes of a file, once for each of its states: pages that are open ask for the runs every second."""
    kind = path.suffix.lower()
    if kind not in LINES | SUFFIXES:
        return False
    try:
        with path.open("rb") as file:
            if kind in SUFFIXES:
                file.seek(max(0, path.stat().st_size - FOOTER))
                return HEAD in file.read()
            record_of(file.readline(LONGEST_LINE))
    except (OSError, ValueError):  # it cannot be read, or has other lines
        return False
    return True


def _found(root: Path, path: Path) -> FoundRun:
    name = root.name if path == root else path.relative_to(root).as_posix()
    files = [path / item for item in (ACCOUNT, SCORES, LIVE)] if path.is_dir() else [path]
    stamp, changed = [], 0.0
    for file in files:
        if file.exists():
            state = file.stat()
            stamp.append((file.name, state.st_mtime_ns, state.st_size))
            changed = state.st_mtime if file.name in (SCORES, path.name) else changed
    key = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return FoundRun(key, name, path, changed, tuple(stamp), _is_going_on(path))


def _is_going_on(path: Path) -> bool:
    """Whether a run has not come to its end, and the process that its lock file names may still run."""
    if not (path / LOCK).exists() or was_killed(path):
        return False
    try:
        stored = read_account(path)
    except InvalidInput:  # of another version; its page says so
        return False
    return stored is not None and stored.account.seal is None
