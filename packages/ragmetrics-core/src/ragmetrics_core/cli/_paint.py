"""Lines with colours, where there is a person at a terminal who wants them; plain text everywhere else.

Colours say nothing that the text does not say. A pipe, a file, ``NO_COLOR`` (https://no-color.org) and a dumb terminal get no
escape codes at all. rich, which comes with typer, is loaded only where it paints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from .._kernel._evidence import Line, Tone
from ._output import printable_on, say

STYLES: dict[Tone, str] = {"title": "bold", "good": "green", "bad": "red", "open": "yellow", "aside": "dim"}


def say_lines(parts: Iterable[Iterable[Line]]) -> None:
    """Print the lines of each part, with a blank line between two parts."""
    for number, part in enumerate(parts):
        lines = [Line(""), *part] if number else list(part)
        if not (_in_colours() and _painted(lines)):
            say("\n".join(line.text for line in lines))


def _in_colours() -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout is not None and sys.stdout.isatty()


def _painted(lines: Sequence[Line]) -> bool:
    """Print the lines in colours; returns whether there is something that can."""
    try:
        from rich.console import Console  # noqa: PLC0415  a pipe needs no colours
        from rich.text import Text  # noqa: PLC0415  the same
    except ImportError:  # a typer without it
        return False
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(Text(printable_on(line.text, sys.stdout), style=STYLES.get(line.tone, "")))
    return True
