"""What the numbers of a decided gate say, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._kernel._counts import count_of
from .._kernel._layout import printable
from ..statistics import Interval
from ._verdicts import about, new_run

if TYPE_CHECKING:
    from ._gate_results import GateResult

MOST_ROWS = 100_000
"""More rows than that are not proposed."""

CLOSE = 1e-9
DIGITS = range(3, 7)


def why(result: GateResult) -> str:
    """Why a gate has its verdict: the conditions that are not met, the estimate, how sure it is, and what would decide."""
    warned = [f"WARNING: who scored differs: {printable(text)}" for text in result.warnings]
    return "; ".join([*result.unmet, *_numbers(result), *warned])


def _numbers(result: GateResult) -> Iterator[str]:
    estimate, interval, limit = result.estimate, result.interval, result.gate.limit
    if estimate is None:
        return
    yield f"{result.gate.of} {_shown(estimate, limit)}{_sure(result)} from {_rows(result)}"
    if interval is None:
        yield "no interval, since " + _without_interval(result)
        return
    if result.unmet:
        return
    adjusted = result.adjusted or interval
    if adjusted != interval and result.is_bad(interval):
        yield f"{_ends(adjusted, limit)} when adjusted for the number of gates"
    if result.missing and result.missing not in result.doubt:
        yield result.missing + ("; counted as the worst value, it still holds" if result.verdict == "passed" else "")
    if result.doubt:
        yield result.doubt
    elif result.verdict == "undecided":
        yield _what_decides(result)


def _sure(result: GateResult) -> str:
    return f", 95 % interval {_ends(result.interval, result.gate.limit)}," if result.interval else ""


def _rows(result: GateResult) -> str:
    if result.gate.of == "drop":
        rows = f"{result.scored} pair{'s' * (result.scored != 1)}"
    elif result.scored == result.rows:
        rows = f"{result.scored} row{'s' * (result.scored != 1)}"
    else:
        rows = f"{result.scored} of {result.rows} rows"
    return rows if result.clusters is None else rows + _grouped(result, result.clusters)


def _grouped(result: GateResult, clusters: int) -> str:
    return f" ({clusters:,} without repeats)" if result.repeated else f" in {count_of(clusters, 'cluster')}"


def _without_interval(result: GateResult) -> str:
    if result.scored == 1:
        return "one row says nothing of the others"
    if result.clusters == 1:
        return f"one {'row' if result.repeated else 'cluster'} says nothing of the others"
    return "all values are equal, on a scale that is not known"


def _what_decides(result: GateResult) -> str:
    rows = result.rows_needed
    if rows is None:
        return f"so close to the limit that {MOST_ROWS:,} rows would not decide"
    clusters = result.clusters
    where = "" if clusters is None else _grouped(result, about(math.ceil(clusters * rows / result.scored)))
    seen = f"a true {result.gate.of} of {_shown(result.estimate or 0.0, result.gate.limit)} (as seen)"
    of_slice = "" if result.by is None else " of this slice"
    return new_run(f"about {about(rows):,} rows{of_slice}{where}", seen, "decide")


def _ends(interval: Interval, limit: float) -> str:
    return f"{_shown(interval.low, limit)} to {_shown(interval.high, limit)}"


def _shown(value: float, limit: float) -> str:
    """The number with three decimals, and more where it would look like the limit without being at it."""
    texts = [f"{value:.{digits}f}" for digits in DIGITS]
    text = next((text for text in texts if float(text) != limit or abs(value - limit) <= CLOSE), texts[-1])
    return text if float(text) else text.removeprefix("-")
