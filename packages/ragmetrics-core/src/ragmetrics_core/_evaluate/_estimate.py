"""The price of a run, estimated before it starts, as a value and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .._engine._schedule import Assignment
from .._show._tables import room, table, wrapped
from .._store._prices import ModelUsage
from .._values._counts import count_of
from .._values._errors import Setting
from .._values._layout import printable
from .._values._requests import Usage

NO_MODEL = type(None).__name__
"""The name of the model if none was given."""

LEAST_MEASURED = 5
"""The number of rows with scores from which on they are used to scale the estimate of the other rows."""

HALF, DOUBLE = 0.5, 2.0
"""The range of completion tokens, as factors of the best guess, if no scored rows measure them."""


@dataclass(frozen=True)
class MetricEstimate:
    """What one metric will ask.

    Attributes:
        name: the name of the metric.
        usage: calls that are still to be made, with their prompt and completion tokens.
        shared: further questions that need no call, because another metric asks the same.
        measured: rows with scores. From five on, they scale the estimate of the other rows.
        failed: rows that cannot be scored, for example because a field is missing.
    """

    name: str
    usage: Usage
    shared: int
    measured: int
    failed: int

    @property
    def low(self) -> Usage:
        """The least to expect: half of the completion tokens, or all of ``usage`` if scored rows measure it."""
        return self._written(HALF)

    @property
    def high(self) -> Usage:
        """The most to expect: twice the completion tokens, or no more than ``usage`` if scored rows measure it."""
        return self._written(DOUBLE)

    def _written(self, share: float) -> Usage:
        share = 1.0 if self.measured >= LEAST_MEASURED else share
        return replace(self.usage, completion_tokens=round(self.usage.completion_tokens * share))


@dataclass(frozen=True)
class Estimate:
    """The cost of a run; for a run that was stopped, the cost of the rest.

    Attributes:
        source: the file that was read, or "".
        rows: the number of its rows.
        metrics: what every metric will ask.
        models: what every model will be asked.
        max_concurrency: most calls in flight.
        seconds: how long it will take, if a server accepts that many calls at once.
        seconds_per_call: seconds that a call has taken so far; None if that is assumed.
        unforeseen: names of prompts whose replies cannot be made up, so that later questions are not counted.
        waiting: questions in open batches, which are paid for and not counted.
        may_stop: whether the run stops when its gates are decided: then this is an upper limit.
    """

    source: str
    rows: int
    metrics: tuple[MetricEstimate, ...]
    models: tuple[ModelUsage, ...]
    max_concurrency: int
    seconds: float
    seconds_per_call: float | None = None
    unforeseen: tuple[str, ...] = ()
    waiting: int = 0
    may_stop: bool = False

    @property
    def usage(self) -> Usage:
        """Calls and tokens of all metrics, as the best guess."""
        return sum((item.usage for item in self.metrics), Usage())

    @property
    def low(self) -> Usage:
        """The least calls and tokens to expect, of all metrics."""
        return sum((item.low for item in self.metrics), Usage())

    @property
    def high(self) -> Usage:
        """The most calls and tokens to expect, of all metrics."""
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
        """Tokens that models will write, as the best guess."""
        return self.usage.completion_tokens

    @property
    def measured(self) -> int:
        """The number of rows that have scores: the smallest such number among the metrics that still have calls to make; 0
        without such metrics.
        """
        return min((item.measured for item in self.metrics if item.usage.calls), default=0)

    @property
    def dollars(self) -> float | None:
        """The cost in US dollars, as the best guess; None if a price is not known."""
        return self._price(self.usage)

    @property
    def dollar_range(self) -> tuple[float, float] | None:
        """The least and the most dollars to expect; None if a price is not known."""
        low, high = self._price(self.low), self._price(self.high)
        return None if low is None or high is None else (low, high)

    def in_batches(self, assignments: Iterable[Assignment]) -> Estimate:
        """Return the estimate for a run in batches: what language models are asked costs half."""
        llms = (one.llm for item in assignments for one in item.models.leaves() if one.llm is not None)
        batched = {(found.name, found.base_url) for found in (ModelUsage.of(llm, Usage(), 0) for llm in llms)}
        models = (
            replace(item, batched=item.usage) if (item.name, item.base_url) in batched else item for item in self.models
        )
        return replace(self, models=tuple(models))

    @property
    def is_batched(self) -> bool:
        """Whether the questions are asked in batches."""
        return any(item.batched.calls for item in self.models)

    def _price(self, usage: Usage) -> float | None:
        """Return the price if all models together write this many tokens, divided among them as in the best guess."""
        share = usage.completion_tokens / (self.completion_tokens or 1)
        costs = []
        for item in self.models:
            written = round(item.usage.completion_tokens * share)
            asked = replace(item.usage, completion_tokens=written)
            costs.append(replace(item, usage=asked, batched=asked if item.batched.calls else Usage()).cost())
        known = [cost.dollars for cost in costs if cost is not None and cost.dollars is not None]
        return sum(known) if known and len(known) == sum(cost is not None for cost in costs) else None

    def __str__(self) -> str:
        return self.text()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the text."""
        printer.text("..." if cycle else str(self))

    def text(self, width: int | None = None, *, write: Callable[[Setting], str] = str) -> str:
        """Return the estimate as a table, with its assumptions below.

        Args:
            width: columns that it may take; default: the width of the terminal.
            write: formats a setting in the style of the place where the text is shown; default: as a Python argument.
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
        time = "within a day or two" if self.is_batched else _time(self.seconds)
        return f"about {count_of(self.calls, 'call')}, {time}{money}"

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
        if self.calls and self.may_stop:
            notes.append("upper limit: for all rows; the run stops as soon as its gates are decided")
        if self.calls:
            one = self.seconds_per_call
            assumed = "assumed are 0.6 seconds for a call, and one for 70 tokens that are written"
            each = assumed if one is None else f"a call has taken {one:.2g} seconds so far"
            if self.is_batched:
                notes.append("batches: half the price; each is answered within 24 hours, and most metrics need two")
            else:
                notes.append(f"time: {self.max_concurrency} calls in flight; {each}; a server's limits come on top")
            if self.measured >= LEAST_MEASURED:
                notes.append(f"tokens: by the measure of {self.measured} rows with scores")
            else:
                notes.append(
                    "tokens: those that are sent are a guess from the texts; those that are written, and the number of claims, are "
                    "assumed, and may be half or double; a model that reasons writes several times as much. "
                    f"Run {first_rows}, and the price of the others is measured by them"
                )
        if self.waiting:
            notes.append(f"not counted: {count_of(self.waiting, 'question')} in open batches")
        if self.unforeseen:
            notes.append(
                f"not counted: what comes after the prompts {', '.join(map(printable, self.unforeseen))}, whose replies cannot be "
                f"foreseen; run {first_rows}"
            )
        return notes


def _between(low: float, high: float, form: str) -> str:
    """Return a range, or one number if both ends look the same."""
    return form.format(low) if low == high else f"{form.format(low)} to {form.format(high)}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return count_of(max(1, round(seconds)), "second")
    return f"{seconds / 60:,.0f} minutes" if seconds < 5400 else f"{seconds / 3600:,.1f} hours"
