"""Charts as inline SVG. They only have shapes and classes; the page sets the colours.

A distribution is a histogram with the mean and its interval below. A difference and its interval are drawn on an axis with 0 in
the middle, on which the margin is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .._compare._comparison import MetricComparison
from .._compare._verdicts import signed
from .._summary._summary import MetricSummary
from .._values._tags import Html, element

BINS = 20
WIDTH, HEIGHT = 240, 56
"""The size of the histogram, in units of the picture."""

STRIP = 14
"""The height of the strip with mean and interval."""

LEAST_BAR = 1.5
"""The height of a bar of a single row, so that it stays visible beside a bar of a thousand rows."""

AXIS_WIDTH, AXIS_HEIGHT = 400, 34
"""The size of the chart of a difference."""

LEAST_MARGINS = 1.5
"""The smallest reach of an axis on each side, in margins, so that the margin can be distinguished from the end of the axis."""

ROOM = 1.08
"""The reach of an axis as a multiple of the end of the longest interval."""


def histogram(values: Sequence[float], low: float, high: float) -> list[int]:
    """Count the values in each of ``BINS`` equal parts of the scale; the upper end belongs to the last part."""
    counts = [0] * BINS
    width = high - low
    for value in values:
        place = int((value - low) / width * BINS) if width > 0 else BINS // 2
        counts[min(max(place, 0), BINS - 1)] += 1
    return counts


def distribution(item: MetricSummary, values: Sequence[float]) -> Html | None:
    """Return the chart of a metric's values; None if there are no values."""
    if not values:
        return None
    low, high = item.scale or (min(values), max(values))
    counts = histogram(values, low, high)
    step = (high - low) / BINS
    words = {
        place: f"{low + place * step:.3g} to {low + (place + 1) * step:.3g}: {count}"
        for place, count in enumerate(counts)
        if count
    }
    bars = [_bar(place, counts[place] / max(counts), text) for place, text in words.items()]
    middle = HEIGHT + STRIP / 2 + 1
    ends = [across(limit, low, high, WIDTH, 2) for limit in (item.interval or ())[:2]]
    means = [] if item.mean is None else [across(item.mean, low, high, WIDTH, 2)]
    return element(
        "svg",
        element("title", f"Distribution of {len(values)} values from {low:g} to {high:g}"),
        *bars,
        element("line", class_="axis", x1=0, x2=WIDTH, y1=HEIGHT, y2=HEIGHT),
        _line("interval", ends[0], ends[1], middle, middle) if ends else None,
        *(_line("mean", at, at, middle - 5, middle + 5) for at in means),
        class_="distribution",
        viewBox=f"0 0 {WIDTH} {HEIGHT + STRIP}",
        role="img",
        aria_label=f"Rows by value: {', '.join(words.values())}",
        preserveAspectRatio="none",
    )


def _bar(place: int, share: float, words: str) -> Html:
    height = max(LEAST_BAR, share * (HEIGHT - 2))
    box = {"x": place * WIDTH / BINS + 1, "y": HEIGHT - height, "width": WIDTH / BINS - 2, "height": height}
    rounded = {name: f"{value:.1f}" for name, value in box.items()}
    return element("rect", element("title", words), class_="bar", **rounded, rx=1)


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Html:
    return element("line", class_=kind, x1=f"{x1:.1f}", x2=f"{x2:.1f}", y1=y1, y2=y2)


def across(value: float, low: float, high: float, width: float, stroke: float) -> float:
    """Return the position of a value on an axis from ``low`` to ``high``, with half a stroke of room at each end."""
    share = (value - low) / (high - low) if high > low else 0.5
    return min(max(share, 0.0), 1.0) * (width - stroke) + stroke / 2


def widest(items: Iterable[MetricComparison]) -> float:
    """Return how far the common axis of these metrics must reach on each side of 0, as a share of a metric's scale: as far as
    the longest interval. It is at most 1, because no difference is larger than the scale.
    """
    shares = [
        max(LEAST_MARGINS * item.margin, abs(item.difference or 0.0), *map(abs, (item.interval or (0.0,))[:2]))
        / _width(item)
        for item in items
    ]
    return min(max(shares, default=0.0) * ROOM, 1.0)


def _width(item: MetricComparison) -> float:
    low, high = item.scale or (0.0, 1.0)
    return high - low if high > low else 1.0


def difference_chart(item: MetricComparison, share: float, *, ends: bool = True) -> Html | None:
    """Return the chart of a difference; None if there is no difference.

    Args:
        item: the metric.
        share: how far the axis reaches on each side, as a share of the metric's scale.
        ends: whether to label the ends of the axis.
    """
    if item.difference is None:
        return None
    reach = share * _width(item)
    picture = element(
        "svg",
        *_difference_shapes(item, reach),
        class_="difference",
        viewBox=f"0 0 {AXIS_WIDTH} {AXIS_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_in_words(item, item.difference),
    )
    if not ends:
        return picture
    left, right = {True: ("worse ", " better"), False: ("better ", " worse"), None: ("", "")}[item.higher_is_better]
    words = f"{left}{-reach:+.2g}", f"margin \u00b1{item.margin:.3g}", f"{reach:+.2g}{right}"
    below = element("p", *(element("span", word) for word in words), class_="ends", aria_hidden="true")
    return element("div", picture, below, class_="axis-box")


def _difference_shapes(item: MetricComparison, reach: float) -> Iterator[Html]:
    """Return the margin as a band, the axis, 0, the interval and the difference."""

    def place(value: float) -> float:
        return across(value, -reach, reach, AXIS_WIDTH, 3)

    left, middle = place(-item.margin), AXIS_HEIGHT / 2
    band = {"x": f"{left:.1f}", "y": 0, "width": f"{place(item.margin) - left:.1f}", "height": AXIS_HEIGHT}
    yield element("rect", element("title", f"margin: \u00b1{item.margin:.3g}"), class_="margin", **band)
    yield _line("axis", 0, AXIS_WIDTH, AXIS_HEIGHT - 1, AXIS_HEIGHT - 1)
    yield _line("zero", AXIS_WIDTH / 2, AXIS_WIDTH / 2, 0, AXIS_HEIGHT)
    if item.interval:
        low, high = map(place, item.interval[:2])
        yield _line("interval", low, high, middle, middle)
        for end in (low, high):
            yield _line("interval", end, end, middle - 5, middle + 5)
    at = place(item.difference or 0.0)
    yield _line("mean", at, at, middle - 9, middle + 9)


def _in_words(item: MetricComparison, difference: float) -> str:
    """Describe the chart in words, for readers who do not see it."""
    words = f"difference {signed(difference)}"
    if item.interval:
        low, high = item.interval[:2]
        where = "is without 0" if low > 0 or high < 0 else "holds 0"
        words += f"; 95 % interval {signed(low)} to {signed(high)}, which {where}"
    return f"{words}; margin \u00b1{item.margin:.3g}"
