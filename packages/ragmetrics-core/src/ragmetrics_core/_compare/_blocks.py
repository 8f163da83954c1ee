"""A comparison as blocks of text and tables. Only this module words its numbers for terminals, Markdown and notebooks.

Warnings that forbid crediting a difference to the system come first, then the verdicts with their reasons, then the numbers. The
page of a comparison, which has pictures and rows, uses the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .._show._bars import Bar, symmetric
from .._show._blocks import Block, Details, Items, Note, Sentence, Table, Text
from .._show._tables import LONGEST_ROW, cut_middle, first_of, in_groups, number
from .._values._counts import count_of
from .._values._findings import Tone
from ..statistics import METHODS
from ._comparison import ComparedRuns, MetricComparison
from ._outcomes import RowCounts
from ._row_changes import RowChange
from ._sentence import comparison_sentence
from ._verdicts import ALPHA, ends, p_text, signed

LONGEST_NAME, LONGEST_CLAIM = 40, 160
"""The number of characters shown of the name of a metric or a run, and of a claim."""

MOST_SHOWN, MOST_CLAIMS = 3, 3
"""The number of changed rows shown for each metric, and of claims of each kind."""

MOST_IN_ORDER = 60
"""If there are more slices than this, slices with a verdict come first, because a pull request comment has no room for all."""

SHORT_VERDICTS = {"no difference larger than the margin": "within the margin"}
"""The short forms of verdicts, for tables."""

KINDS = {"lost": "lost support", "gained": "gained support", "new": "new", "gone": "gone"}
"""The words for each kind of change in a claim."""

MARKS = {"better": "\N{HEAVY CHECK MARK} ", "worse": "\N{HEAVY BALLOT X} "}
"""The symbols put before verdicts in Markdown; they are in fonts without emoji too."""

TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "cannot say": "open"}
"""What verdicts say, from which colours are chosen."""


def comparison_blocks(comparison: ComparedRuns, marks: Mapping[str, str] | None = None) -> list[Block]:
    """Return all blocks of a comparison; ``marks`` are the symbols put before verdicts."""
    marks = marks or {}
    reasons = [f"{_name(item)}: {item.why}" for item in telling(comparison.slices)]
    slices = f"{len(comparison.slices):,} slices"
    return [
        Sentence(comparison_sentence(comparison)),
        Text(f"from {comparison.before} to {comparison.after}: {pairs_in_words(comparison)}"),
        Note("", warning_head(comparison), comparison.warnings) if comparison.warnings else Note(""),
        Items(
            [
                Items(
                    (item.why,),
                    f"{_name(item)}: {marks.get(item.verdict, '')}{verdict_in_words(item)}",
                    TONES.get(item.verdict, ""),
                )
                for item in comparison.metrics
            ]
        ),
        Items([str(item) for item in comparison.corrected]),
        _table("metric", comparison.metrics, NUMBERS),
        Details(slices, (verdict_table("metric, slice", comparison.slices, marks), Items(reasons))),
        Details("Rows that changed most", (Items(list(_changed(comparison)), "changed most:"),)),
        Details("Rows without a pair or a value", (Items(list(row_remarks(comparison))),)),
        Details("What the numbers rest on", (Items(list(remarks(comparison))),)),
        *map(Note, comparison.caveats),
    ]


def pairs_in_words(comparison: ComparedRuns) -> str:
    """Say how many rows were compared, and by what they were paired."""
    return f"{count_of(comparison.pairs, 'row')} in both, paired by {comparison.paired_by}"


def warning_head(comparison: ComparedRuns) -> str:
    """Return the heading of the warnings, which says what they mean."""
    if comparison.allow_different_judges:
        return "WARNING: who scored differs between the runs, so a difference may come from that, not from the system"
    return "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs"


def telling(items: Iterable[MetricComparison]) -> list[MetricComparison]:
    """Return the slices whose reasons must be read: slices that are worse, and slices that look better or worse."""
    return [item for item in items if item.verdict == "worse" or (item.verdict == "cannot say" and _looks_clear(item))]


def _looks_clear(item: MetricComparison) -> bool:
    interval = item.interval
    return interval is not None and (interval.low > 0 or interval.high < 0 or (item.p_adjusted or 1.0) <= ALPHA)


def _name(item: MetricComparison) -> str:
    """Return the name of a metric, with its slice."""
    name = cut_middle(item.name, LONGEST_NAME)
    return name if item.by is None else f"{name}, {item.slice}"


def verdict_in_words(item: MetricComparison) -> str:
    """Return the verdict in words, marked as doubtful if the warnings put it in doubt."""
    return f"{item.verdict} (see the warning)" if item.warnings and item.credited else item.verdict


def _coverage(item: MetricComparison) -> str:
    shares = (item.coverage_before, item.coverage_after)
    return ", ".join("-" if share is None else _percent(share) for share in shares)


def _percent(share: float) -> str:
    """Return a share as a whole per cent. A share just above 0 or just below 1 is shown as "< 1 %" or "> 99 %", never as "0 %"
    or "100 %".
    """
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


Cell = Callable[[MetricComparison], str]

NUMBERS: dict[str, Cell] = {
    "before": lambda item: number(item.before),
    "after": lambda item: number(item.after),
    "difference": lambda item: "-" if item.difference is None else signed(item.difference),
    "95 % interval": lambda item: ends(item.interval) if item.interval else "-",
    "p": lambda item: p_text(item.p_value),
    "adjusted p": lambda item: p_text(item.p_adjusted),
    "pairs": lambda item: f"{item.pairs:,}",
    "changed": lambda item: f"{item.changed:,}" if item.credited else "-",
    "coverage": _coverage,
}
"""The columns of a table: each heading with the function that makes a cell from a metric."""

SLICE_NUMBERS = {name: cell for name, cell in NUMBERS.items() if name != "p"}
"""The columns of a table of slices, which shows the adjusted p-value instead of the plain one."""


def _table(first: str, items: Sequence[MetricComparison], columns: Mapping[str, Cell]) -> Table:
    rows = [[_name(item), *(cell(item) for cell in columns.values())] for item in items]
    return Table([first, *columns], rows, bars=list(_bars(items)))


def _bars(items: Sequence[MetricComparison]) -> Iterator[Bar | None]:
    """Return each difference with its interval; differences on one scale share an axis, which reaches at least to the margin."""
    reach: dict[object, float] = {}
    for item in items:
        limits = item.interval[:2] if item.interval else ()
        reach[item.scale] = max(reach.get(item.scale, 0.0), item.margin, *map(abs, limits))
    for item in items:
        difference, interval = item.difference, item.interval
        if difference is None or interval is None:
            yield None
        else:
            yield Bar(difference, interval[:2], symmetric(reach[item.scale]), TONES.get(item.verdict, ""))


def verdict_table(first: str, items: Sequence[MetricComparison], marks: Mapping[str, str]) -> Table:
    """Return a table with the verdict and the numbers of each item; ``first`` is the heading of their names."""
    if len(items) > MOST_IN_ORDER:
        items = sorted(items, key=lambda item: {"worse": 0, "better": 1}.get(item.verdict, 2))
    columns: dict[str, Cell] = {
        "verdict": lambda item: f"{marks.get(item.verdict, '')}{SHORT_VERDICTS.get(item.verdict, item.verdict)}",
        **SLICE_NUMBERS,
    }
    return _table(first, items, columns)


def _changed(comparison: ComparedRuns) -> Iterator[Items]:
    """Return the rows to read first, with the changes in their evidence."""
    for item in comparison.metrics:
        for change in item.changes[:MOST_SHOWN]:
            numbers = f"{change.difference:+.3g}, {_percent(change.share)} of all change"
            row = cut_middle(change.row, LONGEST_ROW)
            title = f"{_name(item)} of {row}: {change.before:.3g} to {change.after:.3g} ({numbers})"
            yield Items(list(_evidence(change)), title)


def _evidence(change: RowChange) -> Iterator[str]:
    """Return the changes in the evidence of a row. If the evidence has no claims, return the sentence that explains each score."""
    one, two = change.labels
    if one != two:
        yield f"label: {' to '.join(_quoted(label, LONGEST_NAME) if label else 'none' for label in (one, two))}"
    for kind, words in KINDS.items():
        claims = change.of_kind(kind)
        texts = [_quoted(claim.text, LONGEST_CLAIM) for claim in claims[:MOST_CLAIMS]]
        if kind in {"new", "gone"}:
            marks = ("" if claim.after or claim.before else "not " for claim in claims)
            texts = [f"{text} ({mark}supported)" for text, mark in zip(texts, marks, strict=False)]
        if claims:
            more = f" and {len(claims) - MOST_CLAIMS:,} more" if len(claims) > MOST_CLAIMS else ""
            yield f"{words}: {', '.join(texts)}{more}"
    if not change.claims:
        for when, text in zip(("before", "after"), change.says, strict=True):
            yield f"{when}: {_quoted(text, LONGEST_CLAIM)}"


def _quoted(text: str, length: int) -> str:
    return f"'{cut_middle(text, length)}'"


def row_remarks(comparison: ComparedRuns) -> Iterator[str]:
    """Return remarks on rows and metrics that only one run has, and on rows without a value."""
    names = [cut_middle(name, LONGEST_NAME) for name in (comparison.before, comparison.after)]
    metrics = comparison.metrics_only_before, comparison.metrics_only_after
    for name, rows, others in zip(names, (comparison.only_before, comparison.only_after), metrics, strict=True):
        if rows:
            yield f"only in {name}: {_rows(rows)}"
        if others:
            yield f"only in {name}, and not compared: {', '.join(cut_middle(metric, LONGEST_NAME) for metric in others)}"
    for item in comparison.metrics:
        for name, counts in zip(names, (item.rows_before, item.rows_after), strict=True):
            if parts := list(_without_value(counts)):
                yield f"{_name(item)} in {name}: {'; '.join(parts)}"


def _without_value(counts: RowCounts) -> Iterator[str]:
    for word, rows in (("unscored", counts.unscored), ("failed", counts.failed)):
        if rows:
            yield f"{len(rows):,} of {counts.rows:,} rows {word} ({first_of(rows)})"
    if counts.lost:
        yield f"{_rows(counts.lost)} with a value in the other run"


def remarks(comparison: ComparedRuns) -> Iterator[str]:
    """Return remarks on how the numbers were made, and on anything else that readers must know."""
    yield from (f"not known: {text}" for text in comparison.unknown)
    yield from (f"note: {text}" for text in comparison.notes)
    yield from (f"note: {item.metric}, {text}" for item in comparison.corrected for text in item.warnings)
    yield from dict.fromkeys(f"slices: {one.why}" for one in comparison.slices if not (one.credited or one.warnings))
    yield "before, after and difference: of the rows that have a value in both runs"
    if ways := in_groups((METHODS[item.method], item.name) for item in comparison.metrics if item.interval):
        yield f"95 % interval: {ways}"
    tests = {
        what: sum(item.p_value is not None for item in items)
        for what, items in (("metric", comparison.metrics), ("slice", comparison.slices))
    }
    families = [count_of(count, what) for what, count in tests.items() if count]
    if len(families) == 2:
        yield f"adjusted p: twice Holm's, over {families[0]} and separately over {families[1]} of metrics"
    elif sum(tests.values()) > 1:
        yield f"adjusted p: Holm's, over {families[0]}"
    if sum(tests.values()) > 1:
        yield "rows that would show a difference: of one comparison alone; among several it takes more"
    yield f"margin: {comparison.margin:g} of the width of a scale" + _margins(comparison)
    if comparison.cluster is not None:
        yield f"clusters: rows with the same {comparison.cluster} are not independent"


def _margins(comparison: ComparedRuns) -> str:
    other = {item.name: item.margin for item in comparison.metrics if item.scale and item.margin != comparison.margin}
    unknown = [item.name for item in comparison.metrics if item.scale is None and item.credited]
    text = "".join(f", {margin:.3g} for {name}" for name, margin in other.items())
    if unknown:
        text += f"; {comparison.margin:g} as it is for {first_of(unknown)}, whose scale is not known"
    return text


def _rows(rows: Sequence[str]) -> str:
    return f"{count_of(len(rows), 'row')} ({first_of(rows)})"
