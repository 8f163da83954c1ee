"""A comparison as text, for people: sections, one below the other, that fit the width they are given.

What forbids to credit the system comes first, then the verdicts with their reasons, then the numbers. Every section is a function
from the comparison and the width to its lines; one that has nothing to say returns no lines. ``SECTIONS`` is their order. Whatever
comes from the data is shown with control characters as escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._kernel._layout import printable
from .._show._tables import GAP, cut_middle, hanging, table, wrapped
from ._words import (
    MOST_SHOWN,
    NUMBERS,
    evidence,
    pairs_in_words,
    remarks,
    row_change,
    row_remarks,
    telling,
    warning_head,
)

if TYPE_CHECKING:
    from ._comparison import ComparedRuns, MetricComparison


LONGEST_NAME, SHORTEST_NAME = 40, 16
"""Characters of a name that tables show: at most, and at least, however narrow they are."""

ROOM_FOR_VERDICTS = 60
SHORT_VERDICTS = {"no difference larger than the margin": "within the margin"}
"""How tables that are narrower than that say a verdict."""


def comparison_text(comparison: ComparedRuns, width: int) -> str:
    """The whole account."""
    parts = (section(comparison, width) for section in SECTIONS)
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _title(comparison: ComparedRuns, width: int) -> list[str]:
    return wrapped(printable(f"from {comparison.before} to {comparison.after}: {pairs_in_words(comparison)}"), width)


def _warnings(comparison: ComparedRuns, width: int) -> list[str]:
    lines = [line for text in comparison.warnings for line in wrapped(printable(text), width, indent="  ")]
    return [*wrapped(warning_head(comparison), width), *lines] if lines else []


def _verdicts(comparison: ComparedRuns, width: int) -> list[str]:
    lines = []
    for item in comparison.metrics:
        warned = " (see the warning)" if item.warnings and item.credited else ""
        lines += wrapped(f"{shown_name(item)}: {item.verdict}{warned}", width)
        lines += [f"  {line}" for line in wrapped(printable(item.why), width - 2)]
    return lines


def _corrected(comparison: ComparedRuns, width: int) -> list[str]:
    """What people would say."""
    return [line for item in comparison.corrected for line in hanging(printable(str(item)), width)]


def _numbers(comparison: ComparedRuns, width: int) -> list[str]:
    return [_table(comparison.metrics, (("metric", shown_name), *NUMBERS), width)]


def _slices(comparison: ComparedRuns, width: int) -> list[str]:
    numbers = (column for column in NUMBERS if column[0] != "p")  # the adjusted one is what counts
    columns = (("metric, slice", shown_name), ("verdict", lambda item: item.verdict), *numbers)
    if not comparison.slices:
        return []
    reasons = [f"{shown_name(item)}: {printable(item.why)}" for item in telling(comparison.slices)]
    lines = [line for text in reasons for line in hanging(text, width)]
    return [_table(comparison.slices, columns, width), *([""] if lines else []), *lines]


def _table(
    items: Sequence[MetricComparison],
    columns: Sequence[tuple[str, Callable[[MetricComparison], str]]],
    width: int,
) -> str:
    """A table of which each line fits, names cut for that; verdicts are short where they would leave no room for names."""
    headings = [heading for heading, _ in columns]
    rows = [[cell(item) for _, cell in columns] for item in items]
    if width < ROOM_FOR_VERDICTS:
        rows = [[SHORT_VERDICTS.get(text, text) for text in row] for row in rows]
    widest = max(len(text) for row in (headings, *rows) for text in row[1:])
    longest = max(SHORTEST_NAME, width - widest - len(GAP))
    return table(
        [cut_middle(headings[0], longest), *headings[1:]],
        [[cut_middle(name, longest), *others] for name, *others in rows],
        width,
    )


def shown_name(item: MetricComparison) -> str:
    """The name of a metric, with the slice that it is about."""
    name = cut_middle(item.name, LONGEST_NAME)
    return name if item.by is None else f"{name}, {item.slice}"


def _changed(comparison: ComparedRuns, width: int) -> list[str]:
    """The rows to read first, with what changed in their evidence."""
    lines = []
    for item in comparison.metrics:
        for change in item.changes[:MOST_SHOWN]:
            lines += wrapped(f"{shown_name(item)} of {row_change(change, cut_middle)}", width, indent="  ")
            lines += [f"    {line}" for text in evidence(change, _quoted) for line in hanging(text, width - 4)]
    return ["changed most:", *lines] if lines else []


def _quoted(text: str, length: int) -> str:
    return f"'{cut_middle(text, length)}'"


def _rows(comparison: ComparedRuns, width: int) -> list[str]:
    return [line for text in row_remarks(comparison, cut_middle) for line in hanging(text, width)]


def _remarks(comparison: ComparedRuns, width: int) -> list[str]:
    return [line for text in remarks(comparison) for line in hanging(printable(text), width)]


Section = Callable[["ComparedRuns", int], list[str]]

HEAD: tuple[Section, ...] = (_title, _warnings, _verdicts)
NOTES: tuple[Section, ...] = (
    _changed,
    _rows,
    _remarks,
)
SECTIONS = (*HEAD, _corrected, _numbers, _slices, *NOTES)
