"""A difference with its interval as inline SVG, on an axis with 0 in the middle and the margin marked beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._compare._comparison import MetricComparison
from .._compare._verdicts import signed
from .._values._tags import Html, element

WIDTH, HEIGHT = 400, 34
"""In units of the picture, which is as wide as its place."""

LEAST = 1.5
"""Margins that an axis shows on each side at least, so that the margin can be distinguished from the axis."""

ROOM = 1.08
"""Room behind the end of the longest interval."""


def widest(items: Iterable[MetricComparison]) -> float:
    """How far the axis of all these reaches on each side of 0, as a share of a metric's scale: as far as the longest interval.

    It is 1 at most: no difference is larger than the scale.
    """
    shares = [_reach(item) / _width(item) for item in items]
    return min(max(shares, default=0.0) * ROOM, 1.0)


def _width(item: MetricComparison) -> float:
    low, high = item.scale or (0.0, 1.0)
    return high - low if high > low else 1.0


def _reach(item: MetricComparison) -> float:
    """How far from 0 anything stands that the picture of this one shows."""
    ends = [abs(limit) for limit in item.interval[:2]] if item.interval else []
    return max([LEAST * item.margin, abs(item.difference or 0.0), *ends])


def difference_chart(item: MetricComparison, share: float, *, ends: bool = True) -> Html | None:
    """The picture; None where there is no difference.

    Args:
        item: the metric.
        share: how far the axis reaches on each side, as a share of the metric's scale.
        ends: whether the ends of the axis are named below it.
    """
    if item.difference is None:
        return None
    reach = share * _width(item)
    picture = element(
        "svg",
        *_ground(item, reach),
        *_difference(item, reach),
        class_="difference",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_in_words(item),
    )
    if not ends:
        return picture
    below = element("p", *(element("span", word) for word in _below(item, reach)), class_="ends", aria_hidden="true")
    return element("div", picture, below, class_="axis-box")


def _below(item: MetricComparison, reach: float) -> Sequence[str]:
    """What stands below the axis: its ends, with what they mean, and what is shaded in the middle."""
    left, right = {True: ("worse ", " better"), False: ("better ", " worse"), None: ("", "")}[item.higher_is_better]
    return f"{left}{-reach:+.2g}", f"0, shaded: margin \u00b1{item.margin:.3g}", f"{reach:+.2g}{right}"


def _ground(item: MetricComparison, reach: float) -> Sequence[Html]:
    """The margin as a band, the axis, and 0."""
    left, right = _across(-item.margin, reach), _across(item.margin, reach)
    words = f"margin: \u00b1{item.margin:.3g}"
    band = element("title", words)
    return (
        element("rect", band, class_="margin", x=f"{left:.1f}", y=0, width=f"{right - left:.1f}", height=HEIGHT),
        element("line", class_="axis", x1=0, x2=WIDTH, y1=HEIGHT - 1, y2=HEIGHT - 1),
        element("line", class_="zero", x1=WIDTH / 2, x2=WIDTH / 2, y1=0, y2=HEIGHT),
    )


def _difference(item: MetricComparison, reach: float) -> Iterable[Html]:
    middle = HEIGHT / 2
    if item.interval:
        low, high = (_across(limit, reach) for limit in item.interval[:2])
        yield element("line", class_="interval", x1=f"{low:.1f}", x2=f"{high:.1f}", y1=middle, y2=middle)
        for end in (low, high):
            yield element("line", class_="interval", x1=f"{end:.1f}", x2=f"{end:.1f}", y1=middle - 5, y2=middle + 5)
    at = _across(item.difference or 0.0, reach)
    yield element("line", class_="mean", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=middle - 9, y2=middle + 9)


def _across(value: float, reach: float) -> float:
    """Where a difference stands, with half a stroke of room at either end."""
    share = (value / reach + 1) / 2 if reach > 0 else 0.5
    return min(max(share, 0.0), 1.0) * (WIDTH - 3) + 1.5


def _in_words(item: MetricComparison) -> str:
    """What the picture shows, for who does not see it."""
    assert item.difference is not None
    parts = [f"difference {signed(item.difference)}"]
    if item.interval:
        low, high = item.interval[:2]
        where = "is without 0" if low > 0 or high < 0 else "holds 0"
        parts.append(f"95 % interval {signed(low)} to {signed(high)}, which {where}")
    return f"{'; '.join(parts)}; margin \u00b1{item.margin:.3g}"
