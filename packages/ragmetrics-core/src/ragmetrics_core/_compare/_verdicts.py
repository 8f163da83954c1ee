"""The four verdicts that a comparison gives on a metric, and the reasons for them.

*Better* and *worse* need an adjusted p-value of at most 0.05 together with a 95 % interval that excludes 0. With fewer than six
changed pairs (with clusters: six clusters) no test can reach that, however large the changes are: five coins all fall on one side
once in sixteen throws. *Better* has one more condition: it must hold if the rows that only the second run has lost count as the
worst value, because a system that stays silent on hard questions must not win.

*No difference larger than the margin* needs an interval within the margin, and enough rows to have met rare large changes
(`statistics._pairs`). Everything else is *cannot say*, with the number of rows that would show a difference of the margin. This
number is never computed from the observed difference, which would only restate the p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .._gate._evidence import about, absent_rows, new_run, too_few
from .._values._counts import count_of
from ..statistics import FEWEST_CHANGED, Interval, PairedDifference
from ..statistics._interval import ROUNDING
from ..statistics._pairs import MOST_ROWS
from ._outcomes import MetricPairs

Verdict = Literal["better", "worse", "no difference larger than the margin", "cannot say"]

ALPHA = 0.05

CANNOT_SAY: Verdict = "cannot say"


@dataclass(frozen=True)
class MetricTest:
    """One metric over all rows or over one slice, with the results of all tests together.

    Attributes:
        pairs: its values.
        found: their difference; None if no row has a value in both runs.
        with_lost: the difference if values that the second run has lost count as the worst value; None if no value was lost.
        tests: the number of tests made together.
        p_adjusted: the p-value, adjusted for all tests.
        p_with_lost: the p-value of ``with_lost``, adjusted in the same way.
    """

    pairs: MetricPairs
    found: PairedDifference | None
    with_lost: PairedDifference | None = None
    tests: int = 1
    p_adjusted: float | None = None
    p_with_lost: float | None = None


def verdict_of(test: MetricTest) -> tuple[Verdict, str]:
    """Return the verdict and its reason."""
    pairs, difference = test.pairs, test.found
    if pairs.refusal:
        return CANNOT_SAY, pairs.refusal
    if difference is None:
        return CANNOT_SAY, "no row has a value in both runs"
    interval = difference.interval
    if interval is None:
        return CANNOT_SAY, difference.problem or "there is no interval"
    moved = pairs.values.moved if pairs.values else 0
    if moved < FEWEST_CHANGED:
        total = f"{difference.pairs:,} pairs" if difference.clusters is None else f"{difference.clusters:,} clusters"
        few = f"{f'only {moved}' if moved else 'none'} of {total} changed"
        why = f"{few}: with fewer than {FEWEST_CHANGED}, chance cannot be ruled out"
        return CANNOT_SAY, f"{why}; {_rows(pairs, difference)}"
    clear, significant = _clear(interval), _significant(test.p_adjusted)
    if clear and significant and pairs.higher_is_better is not None:
        return _sided(test, difference)
    if _within(interval, pairs.margin):
        return _no_difference(pairs, difference, interval)
    if clear and significant:
        direction = "neither high nor low values are better"
        unknown = "which end of its scale is better is not known"
        return CANNOT_SAY, f"{_numbers(test, difference)}, but {direction if pairs.knows_better else unknown}"
    if clear is not significant:
        return CANNOT_SAY, f"{_disagreement(test, difference, interval)}; {_rows(pairs, difference)}"
    far = f"the 95 % interval, {ends(interval)}, contains 0 and reaches further than {pairs.margin:.3g} from it"
    return CANNOT_SAY, f"{far}; {_rows(pairs, difference)}"


def _no_difference(pairs: MetricPairs, found: PairedDifference, interval: Interval) -> tuple[Verdict, str]:
    """Return the verdict *no difference larger than the margin* if there are enough rows: so many that rare changes would have
    shown if they could push the mean beyond the margin.
    """
    text = f"the 95 % interval, {ends(interval)}, lies within {pairs.margin:.3g} of 0"
    have = found.clusters or found.pairs
    enough = max(pairs.values.enough(sign, pairs.margin, have) for sign in (1, -1)) if pairs.values else 1
    if few := too_few(found.pairs, found.clusters, enough, "pairs"):
        return CANNOT_SAY, f"{text}, but {few}"
    lost = lost_rows(pairs.outcomes.lost, pairs.outcomes.short)
    not_counted = f"; {lost}, and not in this" if lost else ""
    return "no difference larger than the margin", f"{text}{_absent(pairs)}{not_counted}"


def _sided(test: MetricTest, found: PairedDifference) -> tuple[Verdict, str]:
    """Return the verdict *better* or *worse*."""
    pairs, rose = test.pairs, found.difference > 0
    text = _numbers(test, found) + ("" if pairs.higher_is_better else "; low values are better")
    if rose is not pairs.higher_is_better:
        return "worse", text
    text += _absent(pairs)
    lost = lost_rows(pairs.outcomes.lost, pairs.outcomes.short)
    if not lost:
        return "better", text
    if pairs.worst is None:
        return CANNOT_SAY, f"{text}; but {lost}, and no value is known to be the worst, which could turn it"
    lost_note = f"{lost}; counted as the worst value, {pairs.worst:g}"
    other = test.with_lost
    if other is None or other.interval is None:
        return CANNOT_SAY, f"{text}; but {lost_note}, they could turn it"
    if _clear(other.interval) and _significant(test.p_with_lost) and (other.difference > 0) is rose:
        return "better", f"{text}; {lost_note}, it still holds"
    would = f"the difference would be {_difference(other, test.p_with_lost, test.tests)}"
    return CANNOT_SAY, f"{text}; but {lost_note}, they could turn it: {would}"


def _absent(pairs: MetricPairs) -> str:
    """Describe the rows that the second run does not have, or did not score; empty if there are none."""
    text = f"; {absent_rows(pairs.part.gone)}, and not in this" if pairs.part.gone else ""
    if unasked := pairs.outcomes.unasked:
        rows = f"{count_of(unasked, 'row')} with a value in the first run"
        text += f"; of {rows} the second did not ask this metric, and they are not in this"
    return text


def lost_rows(lost: int, short: int) -> str:
    """Describe the rows of both runs whose value the second run has lost, in whole or in part; empty if there are none."""
    whole = f"{count_of(lost, 'row')} lost the value that the first run gave" if lost else ""
    part = f"{count_of(short, 'row')} lost the value of some repeats" if short else ""
    return " and ".join(filter(None, (whole, part)))


def _clear(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _significant(p_adjusted: float | None) -> bool:
    return p_adjusted is not None and p_adjusted <= ALPHA


def _within(interval: Interval, margin: float) -> bool:
    most = margin * (1 + ROUNDING)
    return -most <= interval.low and interval.high <= most


def _disagreement(test: MetricTest, found: PairedDifference, interval: Interval) -> str:
    several = test.tests > 1
    adjusted = f"the p-value, adjusted for {test.tests} comparisons, is" if several else "the p-value is"
    if not _clear(interval):
        return f"{adjusted} {p_text(test.p_adjusted)}, but the 95 % interval, {ends(interval)}, holds 0"
    alone = f" (alone it is {p_text(found.p_value)})" if several and _significant(found.p_value) else ""
    return f"the 95 % interval, {ends(interval)}, is without 0, but {adjusted} {p_text(test.p_adjusted)}{alone}"


def _rows(pairs: MetricPairs, found: PairedDifference) -> str:
    """Describe how many rows would show a difference of the margin, and which difference these rows would have shown."""
    smallest, needed = found.smallest_change(), _rows_to_show(pairs, found)
    return f"{needed}; these rows had 80 % power to show a difference of {smallest:.3g}" if smallest else needed


def _rows_to_show(pairs: MetricPairs, found: PairedDifference) -> str:
    needed = found.rows_needed(pairs.margin)
    difference = f"a true difference of {pairs.margin:.3g} (the margin)"
    if needed is None and (not found.changed or found.method == "constant"):
        return f"how many rows would show {difference} is not known, as pairs do not differ among each other"
    if needed is None:
        return f"more than {MOST_ROWS:,} rows would be needed to show {difference}"
    rows = f"about {about(needed):,} rows{'' if pairs.part.by is None else ' of this slice'}"
    if found.clusters is not None:
        rows += f" in {about(math.ceil(found.clusters * needed / found.pairs)):,} clusters"
    if needed <= found.pairs:
        return f"there are enough rows to show {difference} in 80 % of such runs ({rows})"
    return new_run(rows, difference, "show it")


def _numbers(test: MetricTest, found: PairedDifference) -> str:
    values = test.pairs.values
    before, after = (values.before.mean, values.after.mean) if values else (0.0, 0.0)
    return f"it goes from {before:.3f} to {after:.3f}: {_difference(found, test.p_adjusted, test.tests)}"


def _difference(found: PairedDifference, p_value: float | None, tests: int) -> str:
    limits = f", 95 % interval {ends(found.interval)}" if found.interval else ""
    return f"{signed(found.difference)}{limits}, {'adjusted ' if tests > 1 else ''}p {p_text(p_value)}"


def ends(interval: Interval) -> str:
    """Return the two ends of the interval of a difference, as text."""
    return f"{signed(interval.low)} to {signed(interval.high)}"


def signed(value: float) -> str:
    """Return a difference with its sign and three decimals, or with more decimals if it would look like 0."""
    text = f"{value:+.3f}"
    return f"{value:+.1g}" if value and not float(text) else text


def p_text(value: float | None) -> str:
    """Return a p-value as readable text."""
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
