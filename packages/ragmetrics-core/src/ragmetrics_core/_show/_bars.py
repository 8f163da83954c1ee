"""Intervals as bars: lines of characters for a terminal, and SVG for notebooks. Numbers stand in the table beside them.

A bar lies on an axis with two ends. If 0 is between them, it is marked, because a difference is judged by its side of 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from .._values._findings import Line, Tone
from .._values._layout import cells
from .._values._tags import Html, element
from ._tables import GAP, cut_middle


@dataclass(frozen=True)
class Bar:
    """A value and its interval on an axis.

    Attributes:
        value: the value.
        interval: its two limits.
        ends: the two ends of the axis.
        tone: what the bar says; from it the colour is chosen.
    """

    value: float
    interval: tuple[float, float]
    ends: tuple[float, float]
    tone: Tone = ""

    def places(self, last: int) -> list[int]:
        """Return where limits and value are, in parts of the axis from 0 to ``last``: the lower limit, the value, the upper one."""
        (low, high), values = self.ends, (self.interval[0], self.value, self.interval[1])
        return [round((min(max(value, low), high) - low) / (high - low) * last) for value in values]

    def zero(self, last: int) -> int | None:
        """Return where 0 is; None if it is an end of the axis, or not on it."""
        low, high = self.ends
        return round(-low / (high - low) * last) if low < 0 < high else None


class Glyphs(NamedTuple):
    """The characters of a bar: the axis, 0 on it and in an interval, and both limits, the line and the value of an interval."""

    axis: str
    zero: str
    crossed: str
    low: str
    line: str
    high: str
    value: str


DRAWN = Glyphs("·", "│", "┼", "├", "─", "┤", "●")
PLAIN = Glyphs(".", "|", "+", "[", "-", "]", "o")
"""For terminals whose encoding has no ``DRAWN`` characters."""


def glyphs_for(encoding: str | None) -> Glyphs:
    """Return the characters that an encoding has."""
    try:
        "".join(DRAWN).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return DRAWN


LEAST, MOST = 12, 60
"""The smallest and the largest number of columns of an axis."""


def symmetric(reach: float) -> tuple[float, float]:
    """Return the ends of an axis with 0 in its middle: the reach, rounded up to one digit."""
    digit = 10.0 ** math.floor(math.log10(reach)) if reach > 0 else 1.0
    end = math.ceil(round(reach / digit, 9)) * digit or digit
    return -end, end


def bar_lines(names: Sequence[str], bars: Sequence[Bar | None], width: int, glyphs: Glyphs) -> Iterator[Line]:
    """Return a line for each bar, after its name, and above them the ends of their axis; rows without a bar are left out."""
    drawn = [(name, bar) for name, bar in zip(names, bars, strict=True) if bar is not None]
    longest = max((cells(name) for name, _ in drawn), default=0)
    room = min(longest, max(width - len(GAP) - LEAST, LEAST), max(width // 3, LEAST))
    columns = max(LEAST, min(MOST, width - room - len(GAP)))
    for ends, group in groupby(drawn, key=lambda item: item[1].ends):
        those = list(group)
        low, high = (f"{end:g}" for end in ends)
        zero = those[0][1].zero(columns - 1)
        scale = low if zero is None else f"{low.ljust(zero)}0"
        yield Line(f"{'':{room}}{GAP}{scale}{high.rjust(columns - len(scale))}", "aside")
        for name, bar in those:
            shown = cut_middle(name, room)
            yield Line(f"{shown}{' ' * (room - cells(shown))}{GAP}{_drawn(bar, columns, glyphs)}", bar.tone)


def _drawn(bar: Bar, columns: int, glyphs: Glyphs) -> str:
    low, value, high = bar.places(columns - 1)
    line = [glyphs.axis] * columns
    line[low : high + 1] = [glyphs.line] * (high + 1 - low)
    if (zero := bar.zero(columns - 1)) is not None:
        line[zero] = glyphs.crossed if low <= zero <= high else glyphs.zero
    line[low], line[high], line[value] = glyphs.low, glyphs.high, glyphs.value
    return "".join(line)


PICTURE = 200
"""The width of a picture, in its own units."""


def pictures(bars: Iterable[Bar | None]) -> list[Html | str]:
    """Return each bar as a picture, without words, as the numbers are beside it; "" where there is none."""
    return ["" if bar is None else _picture(bar) for bar in bars]


def _picture(bar: Bar) -> Html:
    low, value, high = bar.places(PICTURE)
    zero = bar.zero(PICTURE)
    return element(
        "svg",
        _line("axis", 0, PICTURE, 8, 8),
        None if zero is None else _line("axis", zero, zero, 0, 16),
        _line("interval", low, high, 8, 8),
        _line("mean", value, value, 3, 13),
        class_=f"strip {bar.tone}".strip(),
        viewBox=f"-2 0 {PICTURE + 4} 16",
        role="img",
        aria_label=f"{bar.value:.3g}, {bar.interval[0]:.3g} to {bar.interval[1]:.3g}, on {bar.ends[0]:g} to {bar.ends[1]:g}",
        preserveAspectRatio="none",
    )


def _line(name: str, x1: int, x2: int, y1: int, y2: int) -> Html:
    return element("line", class_=name, x1=x1, x2=x2, y1=y1, y2=y2)
