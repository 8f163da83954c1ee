"""What the viewer knows of its folder: the runs, and what was made of them.

A run is read in a thread of its own while requests wait only for a moment. Summaries of many runs are read one after the other,
the latest first; the page of a run that is opened does not wait for them. What was read is kept until the files of the run
change. The pages that were opened last are kept, because the columns of a large run take much memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from .._page._runs_list import ListedRun, listed_run
from .._page._served import ServedPage, comparison_page, run_page
from .._store._files import SCORES
from .._store._found_runs import FoundRun, Stamp, found_runs
from .._store._label_file import LabelFile
from .._store._progress import Progress
from .._support._threads import start
from .._values._counts import count_of

T = TypeVar("T")

PATIENCE = 0.5
"""The seconds that a request waits for a run to be read."""

FIRST = 200
"""How many rows are shown while the others are being read."""

MOST_PAGES, MOST_COMPARISONS, MOST_VERSIONS = 4, 2, 8
"""How many pages are kept: the latest of as many runs and pairs, and of those that were sent."""

Key = tuple[str, ...]


class Made(Generic[T]):
    """What was made of runs, by their keys, as long as their files are the same. One thing is made at a time.

    Args:
        most: how many are kept, those that were used last.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock, self._one_at_a_time = Lock(), Lock()
        self._known: OrderedDict[Key, tuple[tuple[Stamp, ...], Future[T]]] = OrderedDict()

    def get(self, runs: tuple[FoundRun, ...], make: Callable[[], T]) -> Future[T]:
        """Return what is made of these runs; it is begun if it is not known yet."""
        key, stamps = tuple(run.key for run in runs), tuple(run.stamp for run in runs)
        with self._lock:
            known = self._known.get(key)
            if known is None or known[0] != stamps:
                known = (stamps, start(lambda: self._make(make)))
                self._known[key] = known
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
            return known[1]

    def _make(self, make: Callable[[], T]) -> T:
        with self._one_at_a_time:
            return make()


class Library:
    """The runs in a folder.

    Args:
        root: the folder, without links in its path.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._pages = Made[ServedPage](MOST_PAGES)
        self._comparisons = Made[ServedPage](MOST_COMPARISONS)
        self._lock = Lock()
        self._versions: OrderedDict[str, ServedPage] = OrderedDict()
        self._readings = Made[None](1)
        self._read: dict[str, ListedRun] = {}
        self._progress: dict[str, Progress] = {}
        self._labels: dict[str, LabelFile] = {}

    def runs(self) -> list[FoundRun]:
        """Return the runs, those that were written last first."""
        return found_runs(self.root)

    def run(self, key: str) -> FoundRun | None:
        """Return the run with this key; None if there is none."""
        return next((run for run in self.runs() if run.key == key), None)

    def listed(self, *, waiting: bool) -> list[ListedRun]:
        """Return the runs with their summaries, as far as these are known, or will be after a moment."""
        runs = self.runs()
        ended = tuple(run for run in runs if not run.going_on)
        reading = self._readings.get(ended, lambda: self._read_all(ended))
        if waiting:
            wait_for(reading)
        return [self._listed(run) for run in runs]

    def _listed(self, run: FoundRun) -> ListedRun:
        if run.going_on:
            found = self.progress(run).read()
            means = "".join(f", {name} {mean:.3f}" for name, mean in found["means"].items())
            return ListedRun(run, so_far=f"{count_of(found['rows'], 'row')} so far{means}")
        return replace(self._read[run.key], run=run) if self._is_read(run) else ListedRun(run)

    def page(self, run: FoundRun) -> Future[ServedPage]:
        """Return the page of a run, which may still be in the making."""
        return self._pages.get((run,), lambda: self._kept(run_page(run.path, run.name)))

    def first_page(self, run: FoundRun) -> ServedPage:
        """Return the page of the first rows of a run, for the time until all are read."""
        note = f"These are the first {FIRST} rows. The others are being read, and this page shows them then."
        return self._kept(run_page(run.path, run.name, FIRST, note))

    def comparison(self, before: FoundRun, after: FoundRun) -> Future[ServedPage]:
        """Return the page of a comparison, which may still be in the making."""
        names = before.name, after.name
        return self._comparisons.get(
            (before, after), lambda: self._kept(comparison_page(before.path, after.path, names))
        )

    def version(self, name: str) -> ServedPage | None:
        """Return a page that was sent, by its version; None if it is no longer kept."""
        with self._lock:
            return self._versions.get(name)

    def _kept(self, page: ServedPage) -> ServedPage:
        with self._lock:
            self._versions[page.version] = page
            while len(self._versions) > MOST_VERSIONS:
                self._versions.popitem(last=False)
        return page

    def progress(self, run: FoundRun) -> Progress:
        """Return what reads how far a run is."""
        path = run.path / SCORES if run.path.is_dir() else run.path
        return self._progress.setdefault(run.key, Progress(path))

    def _is_read(self, run: FoundRun) -> bool:
        return run.key in self._read and self._read[run.key].run.stamp == run.stamp

    def labels(self, run: FoundRun) -> LabelFile:
        """Return the labels of a run."""
        with self._lock:
            return self._labels.setdefault(run.key, LabelFile(run.path))

    def _read_all(self, runs: tuple[FoundRun, ...]) -> None:
        for run in runs:
            if not self._is_read(run):
                listed = listed_run(run)
                self._read[run.key] = replace(listed, problem=self.without_folder(listed.problem))

    def without_folder(self, text: str) -> str:
        """Return a message without the path of the folder, which need not be known to those who may see its runs."""
        return text.replace(f"{self.root}/", "").replace(str(self.root), "the folder")


def wait_for(future: Future[T]) -> T | None:
    """Return the result of a future if it comes within a moment, else None. Its error is raised."""
    try:
        return future.result(PATIENCE)
    except NotYet:
        if future.done():
            raise
        return None
