"""A progress bar for people who watch; silence for files, logs and pipes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

__all__ = ["Progress", "progress_bar"]

Progress = bool | Literal["always"]


@contextmanager
def progress_bar(progress: Progress, total: int | None) -> Iterator[Callable[[], object]]:
    """A function to call after every row. The bar goes to stderr, and only to a terminal unless ``progress`` is "always".

    A process without a console, such as pythonw, has no stderr and gets no bar.
    """
    if sys.stderr is None or not (progress == "always" or (progress and sys.stderr.isatty())):
        yield lambda: None
        return
    from tqdm import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415  loaded only when somebody watches

    with tqdm(total=total, unit=" rows", desc="evaluate", file=sys.stderr) as bar:
        yield bar.update
