"""The section on what was scored, below the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ._printable import printable

if TYPE_CHECKING:
    from ragmetrics_core import Comparison

    from ._outcome import Outcome

COLOURS = {"failed": {"red": True, "bold": True}, "undecided": {"yellow": True}, "passed": {"green": True}}


def write_summary(terminal: pytest.TerminalReporter, outcome: Outcome) -> None:
    """Means with their intervals, the rows to look at, what was asked and what it cost; then the gates."""
    terminal.section("ragmetrics")
    if outcome.evaluation is not None:
        _write(terminal, outcome.summary)
        _write(terminal, "")
    for text in outcome.unscored_tests:
        _write(terminal, text, yellow=True)
    if outcome.comparison is not None:
        _write_comparison(terminal, outcome.comparison, outcome.baseline)
    if outcome.decision is not None:
        _write(terminal, str(outcome.decision), **COLOURS[outcome.decision.verdict])
    for text in outcome.warnings:
        _write(terminal, f"UNDECIDED {text}", **COLOURS["undecided"])
    for text in outcome.failures:
        _write(terminal, f"FAILED {text}", **COLOURS["failed"])
    if outcome.evaluation is not None:
        _write(terminal, f"run: {outcome.run_dir} (ragmetrics show, report and compare read it)")


def _write(terminal: pytest.TerminalReporter, text: str, **colours: bool) -> None:
    terminal.write_line(printable(text), **colours)


def _write_comparison(terminal: pytest.TerminalReporter, comparison: Comparison, baseline: str) -> None:
    """Every metric, the slices that became better or worse, and what must be known of the two runs."""
    _write(terminal, f"compared with {baseline}: {comparison.pairs} pairs of rows")
    alone = ((comparison.only_before, "the baseline"), (comparison.only_after, "this session"))
    for rows, where in alone:
        if rows:
            _write(terminal, f"{len(rows)} rows are in {where} alone")
    for item in (*comparison.metrics, *comparison.slices):
        if item.slice is None or item.verdict in ("better", "worse"):
            name = item.name if item.slice is None else f"{item.name}, {item.slice}"
            _write(terminal, f"{name}: {item.verdict}; {item.why}")
    for text in (*comparison.warnings, *comparison.notes):
        _write(terminal, text)
    _write(terminal, "")
