"""A comparison as Markdown: a comment for a pull request.

Whatever comes from the data is hostile there: a metric's name may hold a pipe that splits a table, an id may call people by
``@name``, a claim may be a link, an image or HTML. So every character of it that could mean anything is written as a numeric
reference, which no parser takes for markup, and stands in ``<code>``, where platforms look for no mentions and no references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ._comparison_words import MOST_SHOWN, NUMBERS, evidence, remarks, row_change, row_remarks, telling, warning_head
from ._table import cut_middle, printable

if TYPE_CHECKING:
    from ._comparison import Comparison, MetricComparison

__all__ = ["code", "comparison_markdown", "cut", "folded", "line_of", "prose"]

MARKUP = re.compile(r"[^\w\s,;()%'+=.?:/-]|_|:(?=\S)|(?<=www)\.", re.ASCII)
"""ASCII characters that may mean something; letters of all scripts mean nothing."""

CALLS = re.compile("(&#(?:64|35|58|46);)")
"""What platforms make a mention, a reference or an address of, even where it is written as a numeric reference."""

MARKS = {"better": "\N{WHITE HEAVY CHECK MARK} ", "worse": "\N{CROSS MARK} "}

LONGEST_PART = 12_000
"""Characters of each part; platforms refuse comments of more than 65,536."""


def comparison_markdown(comparison: Comparison) -> str:
    """The whole comment."""
    return "\n\n".join("\n".join(lines) for section in SECTIONS if (lines := section(comparison))) + "\n"


def code(text: str, length: int = 120) -> str:
    """A text from the data, cut in the middle to so many characters, without effect."""
    return f"<code>{_references(cut_middle(' '.join(text.split()), length))}</code>"


def prose(text: str) -> str:
    """A sentence of ours that may quote data, without effect; an invisible space parts ``@`` from a name, ``:`` from ``//``."""
    return CALLS.sub("\\1&#8203;", _references(printable(" ".join(text.split()))))


def _references(text: str) -> str:
    return MARKUP.sub(lambda match: f"&#{ord(match[0])};" if match[0].isascii() else match[0], text)


def _title(comparison: Comparison) -> list[str]:
    pairs = f"{comparison.pairs:,} row{'s' * (comparison.pairs != 1)} in both, paired by {comparison.paired_by}"
    return [f"### From {code(comparison.before)} to {code(comparison.after)}", "", pairs]


def _warnings(comparison: Comparison) -> list[str]:
    if not comparison.warnings:
        return []
    return [f"> **{warning_head(comparison)}**", ">", *(f"> * {prose(text)}" for text in cut(comparison.warnings))]


def _verdicts(comparison: Comparison) -> list[str]:
    return _table(comparison.metrics, "metric")


def _reasons(comparison: Comparison) -> list[str]:
    return cut([f"* {_name(item)}: {prose(item.why)}" for item in comparison.metrics])


def _slices(comparison: Comparison) -> list[str]:
    """The slices; where there are too many, those with a verdict come first."""
    order = ("worse", "better")
    items = sorted(
        comparison.slices, key=lambda item: order.index(item.verdict) if item.verdict in order else len(order)
    )
    whole = _table(comparison.slices, "metric, slice")
    kept = whole if whole == cut(whole) else cut(_table(items, "metric, slice"))
    reasons = [f"* {_name(item)}: {prose(item.why)}" for item in telling(comparison.slices)]
    return folded(f"{len(comparison.slices):,} slices", [*kept, "", *cut(reasons)]) if comparison.slices else []


def _changed(comparison: Comparison) -> list[str]:
    lines = []
    for item in comparison.metrics:
        for change in item.changes[:MOST_SHOWN]:
            lines.append(f"* {_name(item)} of {row_change(change, code)}")
            lines += [f"  * {text}" for text in evidence(change, code)]
    return folded("Rows that changed most", cut(lines)) if lines else []


def _rows(comparison: Comparison) -> list[str]:
    lines = [f"* {text}" for text in row_remarks(comparison, code)]
    return folded("Rows without a pair or a value", cut(lines)) if lines else []


def _remarks(comparison: Comparison) -> list[str]:
    return folded("What the numbers rest on", cut([f"* {prose(text)}" for text in remarks(comparison)]))


def _table(items: Sequence[MetricComparison], first: str) -> list[str]:
    headings = [first, "verdict", *(heading for heading, _ in NUMBERS)]
    lines = [line_of(headings), line_of([":--", ":--", *("--:" for _ in NUMBERS)])]
    for item in items:
        verdict = f"{MARKS.get(item.verdict, '')}{item.verdict}" + (" (see the warning)" if item.warnings else "")
        lines.append(line_of([_name(item), verdict, *(prose(cell(item)) for _, cell in NUMBERS)]))
    return lines


def line_of(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def _name(item: MetricComparison) -> str:
    return code(item.name) if item.by is None else f"{code(item.name)}, {code(item.slice or '')}"


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that are shown when the title is clicked."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def cut(lines: Sequence[str], rest: str = "which the JSON has") -> list[str]:
    """As many lines as a part may have; the rest is counted."""
    kept: list[str] = []
    room = LONGEST_PART
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, "", f"and {len(lines) - len(kept):,} more lines, {rest}"]
        kept.append(line)
    return kept


SECTIONS: tuple[Callable[[Comparison], list[str]], ...] = (
    _title,
    _warnings,
    _verdicts,
    _reasons,
    _slices,
    _changed,
    _rows,
    _remarks,
)
