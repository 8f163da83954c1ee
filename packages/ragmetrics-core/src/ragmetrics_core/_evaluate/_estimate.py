"""The price of a run before it is made, as a value and as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._show._tables import room, table, wrapped
from .._store._prices import ModelUsage
from .._values._counts import count_of
from .._values._errors import Setting
from .._values._layout import printable
from .._values._requests import Usage

NO_MODEL = type(None).__name__
"""What the name of a model is where none was given."""

LEAST_MEASURED = 5
"""Rows with replies from which on they are a measure for the others."""


@dataclass(frozen=True)
class MetricEstimate:
    """What one metric will ask.

    Attributes:
        name: name of the metric.
        usage: calls that are still to be made, with their prompt and completion tokens.
        shared: questions besides that need no call, because the same was asked before.
        measured: rows whose replies are there already; from five on they are the measure of the others.
        failed: rows that cannot be scored, for want of a field, say.
    """

    name: str
    usage: Usage
    shared: int
    measured: int
    failed: int


@dataclass(frozen=True)
class Estimate:
    """What a run will cost: what is left to pay, where a part of it was made.

    Attributes:
        source: the file that was read, or "".
        rows: how many rows it has.
        metrics: what every metric will ask.
        models: what every model will be asked.
        max_concurrency: most calls in flight.
        seconds: how long it will take, if a server takes that many at once.
        seconds_per_call: what one has taken so far; None where that is assumed.
        unforeseen: names of prompts whose replies cannot be foreseen, so that what comes after them is not counted.
    """

    source: str
    rows: int
    metrics: tuple[MetricEstimate, ...]
    models: tuple[ModelUsage, ...]
    max_concurrency: int
    seconds: float
    seconds_per_call: float | None = None
    unforeseen: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        """Calls and tokens of all metrics."""
        return sum((item.usage for item in self.metrics), Usage())

    @property
    def calls(self) -> int:
        """Calls that are still to be made."""
        return self.usage.calls

    @property
    def prompt_tokens(self) -> int:
        """Tokens that will be sent."""
        return self.usage.prompt_tokens

    @property
    def completion_tokens(self) -> int:
        """Tokens that will be written."""
        return self.usage.completion_tokens

    @property
    def measured(self) -> int:
        """Rows whose replies are there already, for the metric with the fewest among those that ask."""
        return min((item.measured for item in self.metrics if item.usage.calls), default=0)

    @property
    def dollars(self) -> float | None:
        """What it will cost in US dollars; None where a price is not known."""
        costs = [item.cost() for item in self.models]
        known = [cost.dollars for cost in costs if cost is not None and cost.dollars is not None]
        return sum(known) if known and len(known) == sum(cost is not None for cost in costs) else None

    def __str__(self) -> str:
        return self.text()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the text."""
        printer.text("..." if cycle else str(self))

    def text(
        self, width: int | None = None, words: Callable[[str], str] = str, *, write: Callable[[Setting], str] = str
    ) -> str:
        """The estimate as a table, with what it rests on below.

        Args:
            width: columns that it may take; default: those of the terminal.
            words: puts each note below the table into other words.
            write: how a setting is called where the text is shown; default: as an argument in Python.
        """
        wide = room() if width is None else width
        calls, dollars = self._of_run()
        source = f" of {printable(self.source)}" if self.source else ""
        title = f"{count_of(self.rows, 'row')}{source}: {calls}{dollars}"
        paragraphs = [wrapped(title, wide), [self._table(wide)]]
        paragraphs += [wrapped(words(line), wide, indent="  ") for line in self._notes(write)]
        return "\n\n".join("\n".join(lines) for lines in paragraphs[:2]) + "".join(
            f"\n{'' if number else chr(10)}{chr(10).join(lines)}" for number, lines in enumerate(paragraphs[2:])
        )

    def _of_run(self) -> tuple[str, str]:
        if not self.calls:
            nothing = self.rows and all(item.failed == self.rows for item in self.metrics)
            return "none can be scored" if nothing else "no call is left to be made", ""
        known = self.dollars
        money = "" if known is None else f", about ${known:.4f}"
        return f"about {count_of(self.calls, 'call')}, {_time(self.seconds)}", money

    def _table(self, width: int) -> str:
        rows = [(item.name, item.usage, item.shared, item.measured, item.failed) for item in self.metrics]
        if len(rows) > 1:
            rows.append(("all", self.usage, sum(item.shared for item in self.metrics), self.measured, 0))
        headings = ["metric", "calls", "tokens in", "tokens out"]
        cells = [
            [printable(name), f"{usage.calls:,}", f"{usage.prompt_tokens:,}", f"{usage.completion_tokens:,}"]
            for name, usage, *_ in rows
        ]
        for place, heading in ((2, "shared"), (3, "measured")):
            if any(row[place] for row in rows):
                headings.append(heading)
                cells = [[*line, f"{row[place]:,}"] for line, row in zip(cells, rows, strict=True)]
        if any(item.failed for item in self.metrics):
            headings.append("cannot be scored")
            failed = [f"{item.failed:,}" for item in self.metrics]
            cells = [[*line, number] for line, number in zip(cells, [*failed, ""], strict=False)]
        return table(headings, cells, width)

    def _notes(self, write: Callable[[Setting], str]) -> list[str]:
        first_rows = f"the first rows ({write(Setting('limit', 20))} with {write(Setting('run_dir', ...))})"
        notes = ["price: unknown, as no model is named"] if any(item.name == NO_MODEL for item in self.models) else []
        for model in self.models:
            cost = model.cost() if model.name != NO_MODEL else None
            if cost is not None:
                name = printable(model.name)
                notes.append(
                    f"price {name}: {cost}" if cost.dollars is not None else f"price {name}: unknown ({cost.source})"
                )
        if self.calls:
            one = self.seconds_per_call
            each = "assumed are 0.6 seconds for a call, and one for 70 tokens that are written"
            each = each if one is None else f"a call has taken {one:.2g} seconds so far"
            notes.append(f"time: {self.max_concurrency} calls in flight; {each}; a server's limits come on top")
            if self.measured >= LEAST_MEASURED:
                notes.append(f"tokens: by the measure of {self.measured} rows whose replies are there")
            else:
                notes.append(
                    "tokens: those that are sent are a guess from the texts; those that are written, and the number of claims, are "
                    "assumed, and may be half or double; a model that reasons writes several times as much. "
                    f"Run {first_rows}, and the price of the others is measured by them"
                )
        if self.unforeseen:
            notes.append(
                f"not counted: what comes after the prompts {', '.join(map(printable, self.unforeseen))}, whose replies cannot be "
                f"foreseen; run {first_rows}"
            )
        return notes


def _time(seconds: float) -> str:
    if seconds < 90:
        whole = max(1, round(seconds))
        return "1 second" if whole == 1 else f"{whole} seconds"
    return f"{seconds / 60:,.0f} minutes" if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
