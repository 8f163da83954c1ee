"""What a comparison says of a metric, in one of four verdicts, and why.

*Better* and *worse* need two things that agree: an adjusted p-value of at most 0.05, and a 95 % interval without 0. With fewer than
six pairs that changed (with clusters: six clusters) no test can reach that, whatever the changes are: five coins fall on one side
once in sixteen throws. *No difference larger than the margin* needs an interval that lies within the margin, and rows
enough to have met rare large changes (`statistics._pairs`). Everything else is
*cannot say*, with the rows that would show a difference of the margin: never one of the size that was observed, which would be the
p-value once more. *Better* has one more condition: it must hold if the rows that only the second run has lost count as the worst
value, for a system that stays silent on hard questions must not win.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .._gate._evidence import about, absent_rows, new_run, too_few
from .._values._counts import count_of
from ..statistics import FEWEST_CHANGED, Interval, PairedDifference

Verdict = Literal["better", "worse", "no difference larger than the margin", "cannot say"]

ALPHA = 0.05
MOST_ROWS = 100_000
ROUNDING = 1e-9

BETTER: Verdict = "better"
WORSE: Verdict = "worse"
WITHIN: Verdict = "no difference larger than the margin"
CANNOT_SAY: Verdict = "cannot say"


@dataclass(frozen=True)
class Case:
    """One metric over all rows or over one slice, with what its verdict hangs on.

    Attributes:
        found: the difference; None if no row has a value in both runs.
        p_adjusted: its p-value, adjusted for all that are compared together.
        tests: how many are compared together.
        means: of the pairs, in either run.
        higher_is_better: None: neither end is better, or it is not known which one is.
        knows_better: whether that is known.
        margin: the largest difference that does not matter, on the scale of the metric.
        moved: pairs that changed; with clusters, clusters whose rows changed in sum.
        enough: pairs, or clusters, from which on rare changes that exceed the margin on average would have been met.
        in_slice: whether these are the rows of a slice.
        refusal: why the two may not be compared; empty if they may.
        absent: rows that only the first run has.
        unasked: rows with a value in the first run whose metric the second one did not ask.
        lost: rows without a value in the second run that have one in the first.
        short: rows of which more repeats are without a value in the second run.
        worst: the value that they would count as; None if no value is known to be the worst.
        with_lost: the difference if they count so.
        p_with_lost: its p-value, adjusted as the other one.
    """

    found: PairedDifference | None
    p_adjusted: float | None
    tests: int
    means: tuple[float, float]
    higher_is_better: bool | None
    knows_better: bool
    margin: float
    moved: int
    enough: int = 1
    in_slice: bool = False
    refusal: str = ""
    absent: int = 0
    unasked: int = 0
    lost: int = 0
    short: int = 0
    worst: float | None = None
    with_lost: PairedDifference | None = None
    p_with_lost: float | None = None


def verdict_of(case: Case) -> tuple[Verdict, str]:
    """The verdict, and why."""
    found = case.found
    if case.refusal:
        return CANNOT_SAY, case.refusal
    if found is None:
        return CANNOT_SAY, "no row has a value in both runs"
    interval = found.interval
    if interval is None:
        return CANNOT_SAY, found.problem or "there is no interval"
    if case.moved < FEWEST_CHANGED:
        return CANNOT_SAY, f"{_few(case, found)}; {_rows(case, found)}"
    clear, significant = _clear(interval), _significant(case.p_adjusted)
    if clear and significant and case.higher_is_better is not None:
        return _sided(case, found)
    if _within(interval, case.margin):
        return _no_difference(case, found, interval)
    if clear and significant:
        neither = (
            "neither high nor low values are better"
            if case.knows_better
            else "which end of its scale is better is not known"
        )
        return CANNOT_SAY, f"it goes {_numbers(case, found)}, but {neither}"
    if clear is not significant:
        return CANNOT_SAY, f"{_disagreement(case, found, interval)}; {_rows(case, found)}"
    return (
        CANNOT_SAY,
        f"the 95 % interval, {_signed(interval)}, holds 0 and reaches further than {case.margin:.3g}; {_rows(case, found)}",
    )


def _no_difference(case: Case, found: PairedDifference, interval: Interval) -> tuple[Verdict, str]:
    """No difference larger than the margin, if there are rows enough."""
    text = f"the 95 % interval, {_signed(interval)}, lies within {case.margin:.3g} of 0"
    few = too_few(found.pairs, found.clusters, case.enough, "pairs")
    if few:
        return CANNOT_SAY, f"{text}, but {few}"
    lost = lost_rows(case.lost, case.short)
    return WITHIN, f"{text}{_absent(case)}" + (f"; {lost}, and not in this" if lost else "")


def _sided(case: Case, found: PairedDifference) -> tuple[Verdict, str]:
    """Better or worse."""
    rose = found.difference > 0
    text = f"it goes {_numbers(case, found)}" + ("" if case.higher_is_better else "; low values are better")
    if rose is not case.higher_is_better:
        return WORSE, text
    text += _absent(case)
    lost = lost_rows(case.lost, case.short)
    if not lost:
        return BETTER, text
    if case.worst is None:
        return CANNOT_SAY, f"{text}; but {lost}, and no value is known to be the worst, which could turn it"
    counted = f"{lost}; counted as the worst value, {case.worst:g}"
    if _holds(case.with_lost, case.p_with_lost, rose=rose):
        return BETTER, f"{text}; {counted}, it still holds"
    p_value = f"{'adjusted ' if case.tests > 1 else ''}p {p_text(case.p_with_lost)}"
    other = "" if case.with_lost is None else f": the difference would be {_difference(case.with_lost)}, {p_value}"
    return CANNOT_SAY, f"{text}; but {counted}, they could turn it{other}"


def _absent(case: Case) -> str:
    """The rows that the second run does not have; empty if there are none."""
    text = f"; {absent_rows(case.absent)}, and not in this" if case.absent else ""
    if case.unasked:
        rows = count_of(case.unasked, "row")
        text += (
            f"; of {rows} with a value in the first run the second did not ask this metric, and they are not in this"
        )
    return text


def lost_rows(lost: int, short: int) -> str:
    """The rows of both runs whose value the second run has lost, whole or in part, in words; empty if there are none."""
    found = [
        f"{count_of(count, 'row')} lost {what}"
        for count, what in ((lost, "the value that the first run gave"), (short, "the value of some repeats"))
        if count
    ]
    return " and ".join(found)


def _holds(found: PairedDifference | None, p_adjusted: float | None, *, rose: bool) -> bool:
    if found is None or found.interval is None:
        return False
    return _clear(found.interval) and _significant(p_adjusted) and (found.difference > 0) is rose


def _clear(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _significant(p_adjusted: float | None) -> bool:
    return p_adjusted is not None and p_adjusted <= ALPHA


def _within(interval: Interval, margin: float) -> bool:
    most = margin * (1 + ROUNDING)
    return -most <= interval.low and interval.high <= most


def _few(case: Case, found: PairedDifference) -> str:
    clustered = found.clusters is not None
    what, total = ("clusters", found.clusters) if clustered else ("pairs", found.pairs)
    count = "none" if not case.moved else f"only {case.moved}"
    return f"{count} of {total:,} {what} changed: with fewer than {FEWEST_CHANGED}, chance cannot be ruled out"


def _disagreement(case: Case, found: PairedDifference, interval: Interval) -> str:
    adjusted = f"the p-value, adjusted for {case.tests} comparisons, is" if case.tests > 1 else "the p-value is"
    if not _clear(interval):
        return f"{adjusted} {p_text(case.p_adjusted)}, but the 95 % interval, {_signed(interval)}, holds 0"
    alone = f" (alone it is {p_text(found.p_value)})" if case.tests > 1 and _significant(found.p_value) else ""
    return f"the 95 % interval, {_signed(interval)}, is without 0, but {adjusted} {p_text(case.p_adjusted)}{alone}"


def _rows(case: Case, found: PairedDifference) -> str:
    """The rows that would show a difference of the margin."""
    needed = found.rows_needed(case.margin)
    difference = f"a true difference of {case.margin:.3g} (the margin)"
    if needed is None:
        if not found.changed or found.method == "constant":
            return f"how many rows would show {difference} is not known, as pairs do not differ among each other"
        return f"more than {MOST_ROWS:,} rows would be needed to show {difference}"
    where = (
        "" if found.clusters is None else f" in {about(math.ceil(found.clusters * needed / found.pairs)):,} clusters"
    )
    rows = f"about {about(needed):,} rows{' of this slice' if case.in_slice else ''}{where}"
    if needed <= found.pairs:
        return f"there are enough rows to show {difference} in 80 % of such runs ({rows})"
    return f"{new_run(rows, difference, 'show it')}"


def _numbers(case: Case, found: PairedDifference) -> str:
    p_value = f"{'adjusted ' if case.tests > 1 else ''}p {p_text(case.p_adjusted)}"
    return f"from {case.means[0]:.3f} to {case.means[1]:.3f}: {_difference(found)}, {p_value}"


def _difference(found: PairedDifference) -> str:
    limits = f", 95 % interval {_signed(found.interval)}" if found.interval else ""
    return f"{signed(found.difference)}{limits}"


def _signed(interval: Interval) -> str:
    return f"{signed(interval.low)} to {signed(interval.high)}"


def signed(value: float) -> str:
    """A difference with its sign and three decimals; one that would look like none has the decimals that it needs."""
    text = f"{value:+.3f}"
    return f"{value:+.1g}" if value and not float(text) else text


def p_text(value: float | None) -> str:
    """A p-value as a person reads it."""
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
