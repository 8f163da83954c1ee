"""The comparison of two runs in a sentence or two, made from its numbers: what to say where no table is read.

What is decided comes first. It is decided by the verdicts, so the sentence claims nothing that their intervals do not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._gate._evidence import about
from .._lexical._judge import lexical_remark
from .._show._sentences import as_sentence, listed, names_in_words, spoken
from .._show._tables import first_of
from .._values._counts import count_of
from ..statistics import FEWEST_CHANGED
from ._comparison import ComparedRuns, MetricComparison
from ._verdicts import ALPHA

MOST_SLICES = 3
"""The number of slices that the sentence names; the rest is counted."""

Items = Sequence[MetricComparison]


def comparison_sentence(comparison: ComparedRuns) -> str:
    """Return the result of a comparison in one sentence or a few."""
    items = [item for item in comparison.metrics if item.credited]
    said = [*_decided(items), *_open(items), *_slices(comparison), *_doubts(comparison)]
    return " ".join(map(as_sentence, said))


def _decided(items: Items) -> Iterator[str]:
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


def _undecided(items: Items) -> Iterator[str]:
    """Say that no change is shown, and how many rows would show one."""
    same = [item for item in items if item.verdict != "cannot say"]
    unsure = [item for item in items if item not in same]
    if unsure:
        needed = [item.rows_needed or 0 for item in unsure]
        if any(rows > item.pairs for rows, item in zip(needed, unsure, strict=True)):
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
        yield f"no difference larger than the margin: {_numbers(same)}"


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
        yield f"changed, but which end of its scale is better is not known, or neither is: {_numbers(aimless)}"
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
        if names := [f"{item.name} in {item.slice}" for item in comparison.slices if item.verdict == verdict]:
            yield f"{verdict} in {count_of(len(names), 'slice')}: {first_of(names, MOST_SLICES)}"


def _doubts(comparison: ComparedRuns) -> Iterator[str]:
    """Give reasons to doubt the verdicts."""
    if refused := [item.name for item in comparison.metrics if not item.credited]:
        yield f"no verdict on {names_in_words(refused)}, because who scored differs between the runs"
    credited = [item for item in comparison.metrics if item.credited]
    if any(item.warnings for item in credited):
        yield "who scored differs between the runs, so a difference may not come from the system"
    elif any(item.void for item in credited):
        yield "it is not known that both runs were scored alike"
    if missing := len(comparison.only_before):
        yield f"{count_of(missing, 'row')} of the first run {'is' if missing == 1 else 'are'} missing from the second"
    if incomplete := len(comparison.incomplete):
        yield "one of the runs is not complete" if incomplete == 1 else "neither run is complete"
    yield from lexical_remark(comparison.caveats)


def _numbers(items: Items) -> str:
    return listed([_of_metric(item) for item in items])


def _of_metric(item: MetricComparison) -> str:
    """Return the means, the interval of their difference, and how many rows got worse."""
    if item.before is None or item.after is None or item.interval is None:
        return names_in_words([item.name])
    before, after = spoken(item.before, item.after)
    low, high = spoken(*item.interval[:2], sign="+")
    worse = _got_worse(item)
    rows = f"; {count_of(worse, 'row')} got worse" if worse and item.verdict == "better" else ""
    return f"{names_in_words([item.name])} {before} -> {after} ({low} to {high}{rows})"


def _got_worse(item: MetricComparison) -> int:
    if item.values is None:
        return 0
    rose = item.values.changes.above(0.0)
    return item.values.changes.changed - rose if item.higher_is_better else rose
