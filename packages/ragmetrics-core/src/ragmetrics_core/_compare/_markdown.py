"""A comparison as Markdown: a comment for a pull request. Whatever comes from the data is without effect there (`_markdown`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._show._markdown import code, cut_lines, folded, prose, row
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


MARKS = {"better": "\N{WHITE HEAVY CHECK MARK} ", "worse": "\N{CROSS MARK} "}


def comparison_markdown(comparison: ComparedRuns) -> str:
    """The whole comment."""
    return "\n\n".join("\n".join(lines) for section in SECTIONS if (lines := section(comparison))) + "\n"


def _title(comparison: ComparedRuns) -> list[str]:
    return [f"### From {code(comparison.before)} to {code(comparison.after)}", "", pairs_in_words(comparison)]


def _warnings(comparison: ComparedRuns) -> list[str]:
    if not comparison.warnings:
        return []
    return [
        f"> **{warning_head(comparison)}**",
        ">",
        *(f"> * {prose(text)}" for text in cut_lines(comparison.warnings)),
    ]


def _verdicts(comparison: ComparedRuns) -> list[str]:
    return _table(comparison.metrics, "metric")


def _reasons(comparison: ComparedRuns) -> list[str]:
    return cut_lines([f"* {_name(item)}: {prose(item.why)}" for item in comparison.metrics])


def _corrected(comparison: ComparedRuns) -> list[str]:
    """What people would say."""
    return cut_lines([f"* {prose(str(item))}" for item in comparison.corrected])


def _slices(comparison: ComparedRuns) -> list[str]:
    """The slices; where there are too many, those with a verdict come first."""
    order = ("worse", "better")
    items = sorted(
        comparison.slices, key=lambda item: order.index(item.verdict) if item.verdict in order else len(order)
    )
    whole = _table(comparison.slices, "metric, slice")
    kept = whole if whole == cut_lines(whole) else cut_lines(_table(items, "metric, slice"))
    reasons = [f"* {_name(item)}: {prose(item.why)}" for item in telling(comparison.slices)]
    return folded(f"{len(comparison.slices):,} slices", [*kept, "", *cut_lines(reasons)]) if comparison.slices else []


def _changed(comparison: ComparedRuns) -> list[str]:
    lines = []
    for item in comparison.metrics:
        for change in item.changes[:MOST_SHOWN]:
            lines.append(f"* {_name(item)} of {row_change(change, code)}")
            lines += [f"  * {text}" for text in evidence(change, code)]
    return folded("Rows that changed most", cut_lines(lines)) if lines else []


def _rows(comparison: ComparedRuns) -> list[str]:
    lines = [f"* {text}" for text in row_remarks(comparison, code)]
    return folded("Rows without a pair or a value", cut_lines(lines)) if lines else []


def _remarks(comparison: ComparedRuns) -> list[str]:
    return folded("What the numbers rest on", cut_lines([f"* {prose(text)}" for text in remarks(comparison)]))


def _table(items: Sequence[MetricComparison], first: str) -> list[str]:
    headings = [first, "verdict", *(heading for heading, _ in NUMBERS)]
    lines = [row(headings), row([":--", ":--", *("--:" for _ in NUMBERS)])]
    for item in items:
        verdict = f"{MARKS.get(item.verdict, '')}{item.verdict}" + (" (see the warning)" if item.warnings else "")
        lines.append(row([_name(item), verdict, *(prose(cell(item)) for _, cell in NUMBERS)]))
    return lines


def _name(item: MetricComparison) -> str:
    return code(item.name) if item.by is None else f"{code(item.name)}, {code(item.slice or '')}"


SECTIONS: tuple[Callable[[ComparedRuns], list[str]], ...] = (
    _title,
    _warnings,
    _verdicts,
    _reasons,
    _corrected,
    _slices,
    _changed,
    _rows,
    _remarks,
)
