"""What a comparison leaves over: rows that only one run has, rows without a value, and what the numbers rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .._kernel._counts import count_of
from .._kernel._tags import EMPTY, Html, element
from ._comparison_words import remarks
from ._html_paired_rows import PairedRows
from ._html_paired_side import FAILED, SCORED, UNSCORED

if TYPE_CHECKING:
    from ._comparison import Comparison

MOST_NAMES = 200
"""Rows of a list that are named; the rest is counted, and in the table."""

WORDS = {UNSCORED: "unscored", FAILED: "failed"}
SIGNS = {UNSCORED: "\u2013", FAILED: "\u2718"}


def left_over(comparison: Comparison, rows: PairedRows) -> Html:
    """The rows that no difference rests on, counted and listed; nothing where there are none."""
    lists = [*_alone(rows), *_without_value(comparison, rows)]
    others = list(_other_metrics(comparison))
    if not lists and not others:
        return EMPTY
    return element(
        "section",
        element("h2", "Rows without a pair or a value", id="left-title"),
        *lists,
        *(element("p", text, class_="remark", dir="auto") for text in others),
        class_="left-over",
        aria_labelledby="left-title",
    )


def _alone(rows: PairedRows) -> Iterator[Html]:
    for side, other in (rows.sides, rows.sides[::-1]):
        found = [row for row in range(len(rows)) if other.positions[row] is None]
        yield from _list(("only in ", side.run.name), "", found, rows)


def _without_value(comparison: Comparison, rows: PairedRows) -> Iterator[Html]:
    for item in comparison.metrics:
        states = rows.states(item.name)
        for at, side in enumerate(rows.sides):
            for state, word in WORDS.items():
                found = [row for row, letter in enumerate(states[at]) if letter == state]
                lost = sum(states[1 - at][row] == SCORED for row in found)
                other = rows.sides[1 - at].run.name
                remark = f"; {lost:,} of them with a value in {other}" if lost else ""
                head = (SIGNS[state], f" {word} by ", item.name, " in ", side.run.name)
                yield from _list(head, f" of {_asked(states[at]):,}{remark}", found, rows)


def _asked(states: str) -> int:
    return sum(letter in (SCORED, UNSCORED, FAILED) for letter in states)


def _list(head: Sequence[str], remark: str, found: Sequence[int], rows: PairedRows) -> Iterator[Html]:
    """A list of rows to unfold, if there are any."""
    if not found:
        return
    names = [
        element("li", element("a", rows.name(row), href=f"#n={row + 1}", dir="auto")) for row in found[:MOST_NAMES]
    ]
    if len(found) > MOST_NAMES:
        names.append(element("li", f"and {len(found) - MOST_NAMES:,} more, which the table shows"))
    count = f": {len(found):,}{remark}" if remark else f": {count_of(len(found), 'row')}"
    title = element("summary", *(element("bdi", part) for part in head), count)
    yield element("details", title, element("ul", *names, class_="names"))


def _other_metrics(comparison: Comparison) -> Iterator[str]:
    pairs = (
        (comparison.before, comparison.metrics_only_before),
        (comparison.after, comparison.metrics_only_after),
    )
    for name, metrics in pairs:
        if metrics:
            yield f"Only in {name}, and not compared: {', '.join(metrics)}"


def rests_on(comparison: Comparison) -> Html:
    """How the numbers were made, what is not known, and what else must be known."""
    items = (element("li", text, dir="auto") for text in remarks(comparison))
    return element(
        "section",
        element("h2", "What the numbers rest on", id="rests-title"),
        element("ul", *items),
        class_="rests",
        aria_labelledby="rests-title",
    )
