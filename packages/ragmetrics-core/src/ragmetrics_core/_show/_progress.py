"""A progress bar on terminals and in notebooks; nothing in files, logs and pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

from .._values._errors import InvalidInput
from .._values._layout import readable
from .._values._requests import Usage
from ._tables import room

Progress = bool | Literal["always"]

SHORT = 1.0
"""Waits shorter than this, in seconds, are not shown."""

WIDE = 110
"""The number of columns that has room for a bar and the rate beside the necessary words; with fewer, tqdm would cut the end of a
line.
"""

NARROW = "{desc}: {percentage:3.0f}% {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
WAITING = "{desc}: {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
"""The ``bar_format`` of tqdm if there are fewer columns."""


class Bar:
    """The progress display after every finished row: rate and time left (by tqdm), failures, tokens used.

    Args:
        bar: tqdm's bar; None if nothing is shown.
        lost: the word for failures.
        narrow: whether the terminal is too narrow for a bar beside the words.
    """

    def __init__(self, bar: Any = None, lost: str = "failed", *, narrow: bool = False) -> None:
        self._bar = bar
        self._narrow = narrow
        self._lost = lost
        self._failed = 0
        self._shown = ""  # beside the number of rows
        self._reason = ""  # why the run waits, while this is shown

    def advance(self, failed: int, usage_so_far: Callable[[], Usage] | None = None) -> None:
        """Count one more finished row with its number of failures; usage is read only if the bar is shown."""
        if self._bar is None:
            return
        self._failed += failed
        self._shown = f"{self._failed} {self._lost}"
        if usage_so_far is not None:
            usage = usage_so_far()
            self._shown += f", {_short(usage.prompt_tokens + usage.completion_tokens)} tokens"
        self._reason = ""
        self._show(self._shown, NARROW, refresh=False)
        self._bar.update()

    @property
    def watched(self) -> bool:
        """Whether anything is shown."""
        return self._bar is not None

    def wait(self, waiting: tuple[float, str] | None) -> None:
        """Show for how many seconds the run waits, and for what; None: it does not wait.

        In a terminal or a notebook the seconds are counted down; a file or a pipe gets them once.
        """
        if self._bar is None:
            return
        reason = "" if waiting is None or waiting[0] < SHORT else waiting[1]
        counts_down = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        if reason == self._reason and not (reason and counts_down):
            return
        self._reason = reason
        words = f"waiting {waiting[0]:.0f} s: {readable(reason)}" if waiting and reason else self._shown
        self._show(words, WAITING if reason else NARROW, refresh=True)

    def _show(self, words: str, narrow: str, *, refresh: bool) -> None:
        if self._narrow:
            self._bar.bar_format = narrow
        self._bar.set_postfix_str(words, refresh=refresh)


def check_progress(progress: object) -> None:
    """Check that ``progress`` is True, False or "always"."""
    if not (isinstance(progress, bool) or progress == "always"):
        raise InvalidInput(f"progress must be True, False or 'always', got {progress!r}")


@contextmanager
def progress_bar(
    progress: Progress,
    count: Callable[[], int | None],
    title: str = "evaluate",
    unit: str = "rows",
    lost: str = "failed",
) -> Iterator[Bar]:
    """Return the bar of a run. It is written to stderr, and only to a terminal or a notebook unless ``progress`` is "always".

    The rows are counted only if the bar is shown. Without their number the time left is not known.
    A process without a console, such as pythonw, has no stderr and gets no bar.
    """
    notebook = _in_notebook()
    terminal = sys.stderr is not None and (progress == "always" or sys.stderr.isatty())
    if not (progress and (notebook or terminal)):
        yield Bar()
        return
    total = count()
    narrow = not notebook and total is not None and _columns() < WIDE
    settings: dict[str, Any] = {"bar_format": NARROW} if narrow else {}
    file = None if notebook else sys.stderr
    from tqdm.auto import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415  loaded only if the bar is shown

    with tqdm(total=total, unit=f" {unit}", desc=title, file=file, **settings) as bar:
        yield Bar(bar, lost, narrow=narrow)


@asynccontextmanager
async def watching(bar: Bar, waiting: Callable[[], tuple[float, str] | None]) -> AsyncIterator[None]:
    """While the bar is shown, check every second whether the run is only waiting, and show for what."""
    if not bar.watched:
        yield
        return

    async def watch() -> None:
        while True:
            await asyncio.sleep(1.0)
            bar.wait(waiting())

    watcher = asyncio.ensure_future(watch())
    try:
        yield
    finally:
        watcher.cancel()


def _columns() -> int:
    """Return the width of the terminal behind stderr, where the bar is shown; stdout may be a file."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # not a terminal, or a stream without a file descriptor
        width = 0
    return width or room()


def _in_notebook() -> bool:
    """Whether this runs in a notebook, where a bar is shown although stderr is not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _short(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1_000:.1f}k" if number >= 1_000 else str(number)
