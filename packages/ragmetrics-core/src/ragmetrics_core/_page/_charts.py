"""Distributions as inline SVG: a histogram, and below it the mean with its interval. Shapes and classes; colours are the page's."""

from __future__ import annotations

from collections.abc import Sequence

from .._summary._summary import MetricSummary
from .._values._tags import Html, element

BINS = 20
WIDTH, HEIGHT = 240, 56
"""Of the histogram, in units of the picture."""

STRIP = 14
"""Height of the strip with mean and interval."""

LEAST = 1.5
"""Height of a bar of a single row, so that it can be seen beside a thousand."""


def histogram(values: Sequence[float], low: float, high: float) -> list[int]:
    """How many values stand in each of ``BINS`` equal parts of the scale; the upper end belongs to the last part."""
    counts = [0] * BINS
    width = high - low
    for value in values:
        place = int((value - low) / width * BINS) if width > 0 else BINS // 2
        counts[min(max(place, 0), BINS - 1)] += 1
    return counts


def distribution(item: MetricSummary, values: Sequence[float]) -> Html | None:
    """The picture of a metric's values; None where there are none."""
    if not values:
        return None
    low, high = item.scale or (min(values), max(values))
    counts = histogram(values, low, high)
    bars = [_bar(place, count, max(counts), low, high) for place, count in enumerate(counts) if count]
    base = element("line", class_="axis", x1=0, x2=WIDTH, y1=HEIGHT, y2=HEIGHT)
    words = f"Distribution of {len(values)} values from {low:g} to {high:g}"
    return element(
        "svg",
        element("title", words),
        *bars,
        base,
        *_strip(item, low, high),
        class_="distribution",
        viewBox=f"0 0 {WIDTH} {HEIGHT + STRIP}",
        role="img",
        aria_label=_in_words(counts, low, high),
        preserveAspectRatio="none",
    )


def _bar(place: int, count: int, most: int, low: float, high: float) -> Html:
    height = max(LEAST, count / most * (HEIGHT - 2))
    start, end = _edges(place, low, high)
    return element(
        "rect",
        element("title", f"{start:.3g} to {end:.3g}: {count}"),
        class_="bar",
        x=f"{place * WIDTH / BINS + 1:.1f}",
        y=f"{HEIGHT - height:.1f}",
        width=f"{WIDTH / BINS - 2:.1f}",
        height=f"{height:.1f}",
        rx=1,
    )


def _strip(item: MetricSummary, low: float, high: float) -> list[Html]:
    """The mean with its interval, below the axis."""
    middle = HEIGHT + STRIP / 2 + 1
    found = []
    if item.interval:
        ends = [_across(limit, low, high) for limit in item.interval[:2]]
        found.append(element("line", class_="interval", x1=f"{ends[0]:.1f}", x2=f"{ends[1]:.1f}", y1=middle, y2=middle))
    if item.mean is not None:
        at = _across(item.mean, low, high)
        found.append(element("line", class_="mean", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=middle - 5, y2=middle + 5))
    return found


def _across(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return min(max(share, 0.0), 1.0) * (WIDTH - 2) + 1


def _edges(place: int, low: float, high: float) -> tuple[float, float]:
    step = (high - low) / BINS
    return low + place * step, low + (place + 1) * step


def _in_words(counts: Sequence[int], low: float, high: float) -> str:
    """What the picture shows, for who does not see it: the parts of the scale that hold rows."""
    parts = ((*_edges(place, low, high), count) for place, count in enumerate(counts) if count)
    return "Rows by value: " + ", ".join(f"{count} from {start:.3g} to {end:.3g}" for start, end, count in parts)
