"""A progress bar for people who watch; silence for files, logs and pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

from .._kernel._errors import InvalidInput
from .._kernel._layout import readable
from .._kernel._requests import Usage

__all__ = ["Bar", "Progress", "check_progress", "progress_bar", "watching"]

Progress = bool | Literal["always"]

SHORT = 1.0
"""Shorter waits, in seconds, are not shown."""


class Bar:
    """What is shown after every finished row: the rate and the time left (by tqdm), what failed, tokens used.

    Args:
        bar: tqdm's; None where nobody watches.
        lost: what has become of those that are counted as failures, in a word.
    """

    def __init__(self, bar: Any = None, lost: str = "failed") -> None:
        self._bar = bar
        self._lost = lost
        self._failed = 0
        self._shown = ""  # beside the number of rows
        self._reason = ""  # why the run waits, as long as that is shown

    def advance(self, failed: int, usage_so_far: Callable[[], Usage]) -> None:
        """One more row is finished, with so many failures; what was used is asked for only where somebody watches."""
        if self._bar is None:
            return
        usage = usage_so_far()
        self._failed += failed
        tokens = usage.prompt_tokens + usage.completion_tokens
        self._shown = f"{self._failed} {self._lost}, {_short(tokens)} tokens"
        self._reason = ""
        self._bar.set_postfix_str(self._shown, refresh=False)
        self._bar.update()

    @property
    def watched(self) -> bool:
        """Whether anything is shown."""
        return self._bar is not None

    def wait(self, waiting: tuple[float, str] | None) -> None:
        """Show for how many seconds the run waits, and for what; None: it does not wait.

        The seconds are counted down for a person; a file or a pipe gets them once.
        """
        if self._bar is None:
            return
        reason = "" if waiting is None or waiting[0] < SHORT else waiting[1]
        if reason == self._reason and not (reason and _counts_down()):
            return
        self._reason = reason
        words = f"waiting {waiting[0]:.0f} s: {readable(reason)}" if waiting and reason else self._shown
        self._bar.set_postfix_str(words, refresh=True)


def check_progress(progress: object) -> None:
    """True, False or "always"."""
    if not (isinstance(progress, bool) or progress == "always"):
        raise InvalidInput(f"progress must be True, False or 'always', got {progress!r}")


def _counts_down() -> bool:
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def progress_bar(
    progress: Progress,
    count: Callable[[], int | None],
    title: str = "evaluate",
    unit: str = "rows",
    lost: str = "failed",
) -> Iterator[Bar]:
    """The bar of a run. It goes to stderr, and only to a terminal or a notebook unless ``progress`` is "always".

    The rows are counted only where somebody watches; where their number is not known, neither is the time left.
    A process without a console, such as pythonw, has no stderr and gets no bar.
    """
    notebook = _in_notebook()
    if not notebook and (sys.stderr is None or not (progress == "always" or (progress and sys.stderr.isatty()))):
        yield Bar()
        return
    if notebook and not progress:
        yield Bar()
        return
    with _tqdm(notebook)(total=count(), unit=f" {unit}", desc=title, file=None if notebook else sys.stderr) as bar:
        yield Bar(bar, lost)


@asynccontextmanager
async def watching(bar: Bar, waiting: Callable[[], tuple[float, str] | None]) -> AsyncIterator[None]:
    """While somebody watches, show every second whether the run only waits, and for what."""
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


def _tqdm(notebook: bool) -> Any:
    if notebook:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415  loaded only when somebody watches

        return tqdm
    from tqdm import tqdm as plain  # type: ignore[import-untyped]  # noqa: PLC0415  the same

    return plain


def _in_notebook() -> bool:
    """Whether this runs in a notebook, where stderr is no terminal and somebody watches all the same."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _short(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)
