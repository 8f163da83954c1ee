"""What a comparison says in words and numbers, for all pictures of it.

Words are ours and data is not: functions take ``data``, which a picture gives to show a text from the data (an id, a claim, the
name of a run) so that it has no effect there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .._kernel._counts import count_of
from .._show._tables import LONGEST_ROW, MOST_ROWS
from ..statistics import METHODS
from ._verdicts import ALPHA, p_text, signed

if TYPE_CHECKING:
    from ._comparison import ComparedRuns, MetricComparison
    from ._pairs import RowCounts
    from ._row_changes import RowChange


Data = Callable[[str, int], str]
"""Shows a text from the data, cut in the middle to so many characters."""

LONGEST_NAME, LONGEST_CLAIM = 40, 160
"""Characters of the name of a run or a metric, and of a claim, that are shown."""

MOST_SHOWN, MOST_CLAIMS = 3, 3
"""Changed rows that are shown of each metric, and claims of each kind."""

KINDS = {"lost": "lost support", "gained": "gained support", "new": "new", "gone": "gone"}
"""What happened to claims."""


def pairs_in_words(comparison: ComparedRuns) -> str:
    """How many rows were compared, and what says that they are the same."""
    return f"{count_of(comparison.pairs, 'row')} in both, paired by {comparison.paired_by}"


def warning_head(comparison: ComparedRuns) -> str:
    """What the warnings mean."""
    if comparison.allow_different_judges:
        return (
            "WARNING: who scored differs between the runs, so a difference may come from that and not from the system:"
        )
    return "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:"


def telling(items: Iterable[MetricComparison]) -> list[MetricComparison]:
    """Slices whose reasons must be read: those that are worse, and those that look as if they were better or worse."""
    return [item for item in items if item.verdict == "worse" or (item.verdict == "cannot say" and _looks_clear(item))]


def _looks_clear(item: MetricComparison) -> bool:
    interval = item.interval
    return interval is not None and (interval.low > 0 or interval.high < 0 or (item.p_adjusted or 1.0) <= ALPHA)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(item: MetricComparison) -> str:
    return f"{signed(item.interval.low)} to {signed(item.interval.high)}" if item.interval else "-"


def _coverage(item: MetricComparison) -> str:
    shares = (item.coverage_before, item.coverage_after)
    return ", ".join("-" if share is None else _percent(share) for share in shares)


NUMBERS: tuple[tuple[str, Callable[[MetricComparison], str]], ...] = (
    ("before", lambda item: _mean(item.before)),
    ("after", lambda item: _mean(item.after)),
    ("difference", lambda item: "-" if item.difference is None else signed(item.difference)),
    ("95 % interval", _interval),
    ("p", lambda item: p_text(item.p_value)),
    ("adjusted p", lambda item: p_text(item.p_adjusted)),
    ("pairs", lambda item: f"{item.pairs:,}"),
    ("changed", lambda item: f"{item.changed:,}" if item.credited else "-"),
    ("coverage", _coverage),
)
"""The columns of a table: their headings, and what they show of a metric."""


def _percent(share: float) -> str:
    """Whole per cent; what is not none and not all is shown as neither."""
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def row_change(change: RowChange, data: Data) -> str:
    """A row that changed, with both scores."""
    numbers = f"{change.difference:+.3g}, {_percent(change.share)} of all change"
    return f"{data(change.row, LONGEST_ROW)}: {change.before:.3g} to {change.after:.3g} ({numbers})"


def evidence(change: RowChange, data: Data) -> Iterator[str]:
    """What changed in the evidence of a row; where that has no claims, what either score rests on."""
    one, two = change.labels
    if one != two:
        labels = (data(label, LONGEST_NAME) if label else "none" for label in (one, two))
        yield f"label: {' to '.join(labels)}"
    for kind, words in KINDS.items():
        claims = change.of_kind(kind)
        shown = [data(claim.text, LONGEST_CLAIM) for claim in claims[:MOST_CLAIMS]]
        if kind in {"new", "gone"}:
            marks = (claim.after if kind == "new" else claim.before for claim in claims)
            shown = [f"{text} ({'' if mark else 'not '}supported)" for text, mark in zip(shown, marks, strict=False)]
        if claims:
            yield f"{words}: {_listed(shown, len(claims))}"
    if not change.claims:
        for when, text in zip(("before", "after"), change.says, strict=True):
            yield f"{when}: {data(text, LONGEST_CLAIM)}"


def row_remarks(comparison: ComparedRuns, data: Data) -> Iterator[str]:
    """Rows and metrics that only one run has, and rows without a value."""
    names = [data(name, LONGEST_NAME) for name in (comparison.before, comparison.after)]
    metrics = comparison.metrics_only_before, comparison.metrics_only_after
    for name, rows, others in zip(names, (comparison.only_before, comparison.only_after), metrics, strict=True):
        if rows:
            yield f"only in {name}: {_rows(rows, data)}"
        if others:
            yield f"only in {name}, and not compared: {', '.join(data(metric, LONGEST_NAME) for metric in others)}"
    for item in comparison.metrics:
        for name, counts in zip(names, (item.rows_before, item.rows_after), strict=True):
            parts = list(_without_value(counts, data))
            if parts:
                yield f"{data(item.name, LONGEST_NAME)} in {name}: {'; '.join(parts)}"


def _without_value(counts: RowCounts, data: Data) -> Iterator[str]:
    for word, rows in (("unscored", counts.unscored), ("failed", counts.failed)):
        if rows:
            yield f"{len(rows):,} of {counts.rows:,} rows {word} ({_first(rows, data)})"
    if counts.lost:
        yield f"{_rows(counts.lost, data)} with a value in the other run"


def remarks(comparison: ComparedRuns) -> Iterator[str]:
    """What the numbers rest on, and what else must be known; plain sentences, which may quote data."""
    yield from (f"not known: {text}" for text in comparison.unknown)
    yield from (f"note: {text}" for text in comparison.notes)
    yield from (f"note: {item.metric}, {text}" for item in comparison.corrected for text in item.warnings)
    yield from dict.fromkeys(
        f"slices: {item.why}" for item in comparison.slices if not (item.credited or item.warnings)
    )
    yield "before, after and difference: of the rows that have a value in both runs"
    yield from _methods(comparison.metrics)
    families = [
        f"{count} {what}{'s' * (count != 1)}"
        for what, items in (("metric", comparison.metrics), ("slice", comparison.slices))
        if (count := sum(item.p_value is not None for item in items))
    ]
    if len(families) == 2:
        yield f"adjusted p: twice that of Holm, over {families[0]}, and apart from that over {families[1]} of metrics"
    elif families and not families[0].startswith("1 "):
        yield f"adjusted p: that of Holm, over {families[0]}"
    if sum(item.p_value is not None for item in (*comparison.metrics, *comparison.slices)) > 1:
        yield "rows that would show a difference: of one comparison alone; among several it takes more"
    yield f"margin: {comparison.margin:g} of the width of a scale" + _margins(comparison)
    if comparison.cluster is not None:
        yield f"clusters: rows with the same {comparison.cluster} are not independent"


def _margins(comparison: ComparedRuns) -> str:
    other = {item.name: item.margin for item in comparison.metrics if item.scale and item.margin != comparison.margin}
    unknown = [item.name for item in comparison.metrics if item.scale is None and item.credited]
    text = "".join(f", {margin:.3g} for {name}" for name, margin in other.items())
    if unknown:
        text += f"; {comparison.margin:g} as it is for {_few(unknown)}, whose scale is not known"
    return text


def _methods(items: Iterable[MetricComparison]) -> Iterator[str]:
    """How the intervals were made, and for which metrics, if in more than one way."""
    found: dict[str, list[str]] = {}
    for item in items:
        if item.interval:
            found.setdefault(METHODS[item.method], []).append(item.name)
    ways = list(found) if len(found) == 1 else [f"{method} for {_few(names)}" for method, names in found.items()]
    if ways:
        yield f"95 % interval: {'; '.join(ways)}"


def _few(names: Sequence[str]) -> str:
    return _listed(names[:MOST_ROWS], len(names))


def _rows(rows: Sequence[str], data: Data) -> str:
    return f"{count_of(len(rows), 'row')} ({_first(rows, data)})"


def _first(rows: Sequence[str], data: Data) -> str:
    return _listed([data(row, LONGEST_ROW) for row in rows[:MOST_ROWS]], len(rows))


def _listed(shown: Sequence[str], count: int) -> str:
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
