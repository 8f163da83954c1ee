"""The comparison of two runs in a sentence or two, made from its numbers: what to say where no table is read.

What is decided comes first. It is decided by the verdicts, so the sentence claims nothing that their intervals do not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._gate._evidence import about
from .._lexical._judge import lexical_remark
from .._show._sentences import as_sentence, in_words, listed, names_in_words, spoken
from .._show._tables import first_of
from .._values._counts import count_of
from ..statistics import FEWEST_CHANGED
from ._comparison import ComparedRuns, MetricComparison
from ._verdicts import ALPHA, p_text

MOST_SLICES = 3
"""The number of slices that the sentence names; the rest is counted."""

Items = Sequence[MetricComparison]

JUDGED_DIFFERENTLY = "the judge or its settings differ between the runs, so a difference may not come from the system"


def comparison_sentence(comparison: ComparedRuns) -> str:
    """Return the result of a comparison in one sentence or a few."""
    items = [item for item in comparison.metrics if item.credited]
    said = [*_decided(comparison, items), *_open(items), *_slices(comparison), *_doubts(comparison)]
    return " ".join(map(as_sentence, said))


def _decided(comparison: ComparedRuns, items: Items) -> Iterator[str]:
    """Say which metrics are better or worse; if none is, what can be said instead."""
    better, worse = ([item for item in items if item.verdict == verdict] for verdict in ("better", "worse"))
    others = [item for item in items if not (item in better or item in worse or _is_open(item))]
    if better and worse:
        yield f"some metrics are better and some are worse; better: {_numbers(better)}; worse: {_numbers(worse)}"
    elif better or worse:
        yield f"the new version is {'better' if better else 'worse'}: {_numbers(better or worse)}"
    if (better or worse) and others:
        yield "no other metric changed beyond chance"
    elif others:
        yield from _undecided(others)
    if (better or worse) and (rows := comparison.rows_worse):
        yield f"{count_of(rows, 'row')} got worse{' in at least one metric' if len(comparison.metrics) > 1 else ''}"


def _undecided(items: Items) -> Iterator[str]:
    """Say that no change is shown, and how many rows would show one."""
    same = [item for item in items if item.verdict != "cannot say"]
    unsure = [item for item in items if item not in same]
    if unsure:
        needed = [item.rows_needed or 0 for item in unsure]
        if not any(item.changed for item in unsure):
            head = "no score changed"
        elif any(rows > item.pairs for rows, item in zip(needed, unsure, strict=True)):
            head = "too few rows to tell"
        elif all(item.changed < FEWEST_CHANGED for item in unsure):
            head = "too few rows changed to tell"
        else:
            head = "no change beyond chance"
        margins = {item.margin for item in unsure}
        rows = f"; about {about(max(needed)):,} rows would probably show a difference of {min(margins):.3g}"
        known = all(needed) and len(margins) == 1 and head == "too few rows to tell"
        yield f"{head}: {_numbers(unsure)}{rows if known else ''}"
    if same:
        sizes = {f"{item.margin:.3g}" for item in same}
        yield f"no difference larger than {sizes.pop() if len(sizes) == 1 else 'the margin'}: {_numbers(same)}"


def _is_open(item: MetricComparison) -> bool:
    """Whether there is a reason for the missing verdict other than chance."""
    return item.verdict not in ("better", "worse") and (item.interval is None or _is_shown(item))


def _is_shown(item: MetricComparison) -> bool:
    interval, p_value = item.interval, item.p_adjusted
    clear = interval is not None and (interval.low > 0 or interval.high < 0)
    return clear and p_value is not None and p_value <= ALPHA and item.changed >= FEWEST_CHANGED


def _open(items: Items) -> Iterator[str]:
    found = [item for item in items if _is_open(item)]
    aimless = [item for item in found if item.interval and item.higher_is_better is None]
    turned = [item for item in found if item.interval and item not in aimless]
    if turned:
        yield f"undecided, as rows without a value could turn it: {_numbers(turned)}"
    if aimless:
        yield f"changed, for better or for worse: {_numbers(aimless)}"
    empty = [item.name for item in found if not item.pairs]
    unknown = [item.name for item in found if item.pairs and not item.interval]
    if empty:
        yield f"no row has a value of {names_in_words(empty)} in both runs"
    if unknown:
        yield f"no verdict on {names_in_words(unknown)}, because the difference has no interval"


def _slices(comparison: ComparedRuns) -> Iterator[str]:
    """Name the slices that are worse; and those that are better, if all rows together decide nothing."""
    decided = any(item.verdict in ("better", "worse") for item in comparison.metrics)
    for verdict in ("worse",) if decided else ("worse", "better"):
        if names := [f"{in_words(item.name)} in {item.slice}" for item in comparison.slices if item.verdict == verdict]:
            yield f"{verdict} in {count_of(len(names), 'slice')}: {first_of(names, MOST_SLICES)}"


def _doubts(comparison: ComparedRuns) -> Iterator[str]:
    """Give reasons to doubt the verdicts."""
    if refused := [item.name for item in comparison.metrics if not item.credited]:
        yield f"no verdict on {names_in_words(refused)}, because the judge or its settings differ between the runs"
    credited = [item for item in comparison.metrics if item.credited]
    if any(item.warnings for item in credited):
        yield JUDGED_DIFFERENTLY
    elif any(item.void for item in credited):
        yield "it is not known whether both runs were scored in the same way"
    if missing := len(comparison.only_before):
        yield f"{count_of(missing, 'row')} of the first run {'is' if missing == 1 else 'are'} missing from the second"
    if lost := comparison.rows_lost:
        yield f"{count_of(lost, 'row')} {'has' if lost == 1 else 'have'} a value in the first run only"
    if incomplete := len(comparison.incomplete):
        yield "one of the runs is not complete" if incomplete == 1 else "neither run is complete"
    yield from lexical_remark(comparison.caveats, "both runs")


def _numbers(items: Items) -> str:
    return listed([_of_metric(item) for item in items])


def _of_metric(item: MetricComparison) -> str:
    """Return the means and the interval of their difference; if that is clear but decides nothing, why it does not."""
    if item.before is None or item.after is None or item.interval is None:
        return in_words(item.name)
    before, after = spoken(item.before, item.after)
    low, high = spoken(*item.interval[:2], sign="+")
    return f"{in_words(item.name)} {before} → {after} ({low} to {high}{_why_open(item)})"


def _why_open(item: MetricComparison) -> str:
    interval = item.interval
    if item.verdict != "cannot say" or _is_shown(item) or interval is None or interval.low <= 0 <= interval.high:
        return ""
    if item.changed < FEWEST_CHANGED:
        return f", but only {count_of(item.changed, 'row')} changed"
    return f", but adjusted p = {p_text(item.p_adjusted)}"
