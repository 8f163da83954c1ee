"""The price of a run before it is made, as a value and as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
"""Rows with scores from which on they are a measure for the others."""

HALF, DOUBLE = 0.5, 2.0
"""The range of the tokens that models write, as shares of the best guess, where no rows measure them."""


@dataclass(frozen=True)
class MetricEstimate:
    """What one metric will ask.

    Attributes:
        name: name of the metric.
        usage: calls that are still to be made, with their prompt and completion tokens.
        shared: further questions that need no call, because the same was asked before.
        measured: rows with scores; from five on they are the measure of the others.
        failed: rows that cannot be scored, because a field is missing, say.
    """

    name: str
    usage: Usage
    shared: int
    measured: int
    failed: int

    @property
    def low(self) -> Usage:
        """The least to expect: half of the completion tokens; all of ``usage`` where rows measure it."""
        return self._written(HALF)

    @property
    def high(self) -> Usage:
        """The most to expect: twice the completion tokens; no more than ``usage`` where rows measure it."""
        return self._written(DOUBLE)

    def _written(self, share: float) -> Usage:
        share = 1.0 if self.measured >= LEAST_MEASURED else share
        return replace(self.usage, completion_tokens=round(self.usage.completion_tokens * share))


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
        """Calls and tokens of all metrics, as the best guess."""
        return sum((item.usage for item in self.metrics), Usage())

    @property
    def low(self) -> Usage:
        """The least to expect of all metrics."""
        return sum((item.low for item in self.metrics), Usage())

    @property
    def high(self) -> Usage:
        """The most to expect of all metrics."""
        return sum((item.high for item in self.metrics), Usage())

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
        """Tokens that will be written, as the best guess."""
        return self.usage.completion_tokens

    @property
    def measured(self) -> int:
        """Rows with scores, for the metric with the fewest among those that ask."""
        return min((item.measured for item in self.metrics if item.usage.calls), default=0)

    @property
    def dollars(self) -> float | None:
        """What it will cost in US dollars, as the best guess; None where a price is not known."""
        return self._price(self.usage)

    @property
    def dollar_range(self) -> tuple[float, float] | None:
        """The least and the most dollars to expect; None where a price is not known."""
        low, high = self._price(self.low), self._price(self.high)
        return None if low is None or high is None else (low, high)

    def _price(self, usage: Usage) -> float | None:
        """The price where so many tokens are written, by all models alike."""
        share = usage.completion_tokens / (self.completion_tokens or 1)
        costs = []
        for item in self.models:
            written = round(item.usage.completion_tokens * share)
            costs.append(replace(item, usage=replace(item.usage, completion_tokens=written)).cost())
        known = [cost.dollars for cost in costs if cost is not None and cost.dollars is not None]
        return sum(known) if known and len(known) == sum(cost is not None for cost in costs) else None

    def __str__(self) -> str:
        return self.text()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the text."""
        printer.text("..." if cycle else str(self))

    def text(self, width: int | None = None, *, write: Callable[[Setting], str] = str) -> str:
        """The estimate as a table, with what it rests on below.

        Args:
            width: columns that it may take; default: those of the terminal.
            write: how a setting is called where the text is shown; default: as an argument in Python.
        """
        wide = room() if width is None else width
        source = f" of {printable(self.source)}" if self.source else ""
        title = wrapped(f"{count_of(self.rows, 'row')}{source}: {self._of_run()}", wide)
        notes = [line for note in self._notes(write) for line in wrapped(note, wide, indent="  ")]
        return "\n\n".join(["\n".join(title), self._table(wide), *(["\n".join(notes)] if notes else [])])

    def _of_run(self) -> str:
        if not self.calls:
            nothing = self.rows and all(item.failed == self.rows for item in self.metrics)
            return "none can be scored" if nothing else "no call is left to be made"
        money = "" if self.dollar_range is None else f", {_between(*self.dollar_range, '${:.4f}')}"
        return f"about {count_of(self.calls, 'call')}, {_time(self.seconds)}{money}"

    def _table(self, width: int) -> str:
        items = list(self.metrics)
        ranges = [(item.low, item.high) for item in items]
        if len(items) > 1:
            ranges.append((self.low, self.high))
            items.append(MetricEstimate("all", self.usage, sum(item.shared for item in items), self.measured, 0))
        columns = {
            "metric": [printable(item.name) for item in items],
            "calls": [f"{item.usage.calls:,}" for item in items],
            "tokens in": [f"{item.usage.prompt_tokens:,}" for item in items],
            "tokens out": [_between(low.completion_tokens, high.completion_tokens, "{:,}") for low, high in ranges],
        }
        if any(item.shared for item in items):
            columns["shared"] = [f"{item.shared:,}" for item in items]
        if any(item.measured for item in items):
            columns["measured"] = [f"{item.measured:,}" for item in items]
        if any(item.failed for item in items):
            columns["cannot be scored"] = [*(f"{item.failed:,}" for item in self.metrics), ""][: len(items)]
        return table(list(columns), list(zip(*columns.values(), strict=True)), width)

    def _notes(self, write: Callable[[Setting], str]) -> list[str]:
        first_rows = f"the first rows ({write(Setting('limit', 20))} with {write(Setting('run_dir', ...))})"
        notes = ["price: unknown, as no model is named"] if any(item.name == NO_MODEL for item in self.models) else []
        for model in self.models:
            cost = None if model.name == NO_MODEL else model.cost()
            if cost is not None:
                seen = f"unknown ({cost.source})" if cost.dollars is None else str(cost)
                notes.append(f"price {printable(model.name)}: {seen}")
        if self.calls:
            one = self.seconds_per_call
            each = "assumed are 0.6 seconds for a call, and one for 70 tokens that are written"
            each = each if one is None else f"a call has taken {one:.2g} seconds so far"
            notes.append(f"time: {self.max_concurrency} calls in flight; {each}; a server's limits come on top")
            if self.measured >= LEAST_MEASURED:
                notes.append(f"tokens: by the measure of {self.measured} rows with scores")
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


def _between(low: float, high: float, form: str) -> str:
    """A range, or the one number that it is."""
    return form.format(low) if low == high else f"{form.format(low)} to {form.format(high)}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return count_of(max(1, round(seconds)), "second")
    return f"{seconds / 60:,.0f} minutes" if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
