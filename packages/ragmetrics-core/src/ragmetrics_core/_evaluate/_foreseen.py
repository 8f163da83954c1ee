"""What a run would ask and cost, found out without a call: the same programs over the same rows, with replies made up here.

Strategy. The programs of the metrics run as they always do; only what answers them is different. Within a row, and between
rows where replies are kept, the same question is asked once, as in a run. Replies that stand in the journal of the run are
taken from there: they are paid, and what they say decides how the program goes on. And a row whose replies are all there measures
how far the made-up ones are from the truth: what it really took, over what would have been foreseen for it, is the factor for
the rows that are still to come (a ratio estimate, as in surveys), for calls, prompt tokens and completion tokens apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .._engine import Assignment, ReplyStore
from .._kernel._inputs import Reading
from .._kernel._requests import Usage
from .._kernel._sample import Row
from .._store._prices import ModelUsage
from ._asking import Cost
from ._estimate import LEAST_MEASURED, Estimate, MetricEstimate
from ._walk import Known, Replies, Walk

FIRST_TOKEN, TOKENS_PER_SECOND = 0.6, 70.0
"""Assumed of every call: seconds until a model starts to write, and how fast it does."""


@dataclass
class Tally:
    """What one metric asks of one model.

    Attributes:
        left: what rows still cost, where they are not measured.
        paid: what measured rows have cost.
        foreseen: what would have been foreseen for the measured rows.
    """

    left: Cost = field(default_factory=Cost)
    paid: Cost = field(default_factory=Cost)
    foreseen: Cost = field(default_factory=Cost)

    def scaled(self, measured: int) -> Cost:
        """What is left, by the measure of the rows that are over."""
        if measured < LEAST_MEASURED:
            return self.left
        ratios = (
            paid / foreseen if paid and foreseen else 1.0
            for paid, foreseen in (
                (self.paid.calls, self.foreseen.calls),
                (self.paid.prompt, self.foreseen.prompt),
                (self.paid.completion, self.foreseen.completion),
            )
        )
        calls, prompt, completion = ratios
        return Cost(self.left.calls * calls, self.left.prompt * prompt, self.left.completion * completion)


@dataclass
class MetricTally:
    """What one metric asks of all models, over all rows."""

    models: dict[int, Tally] = field(default_factory=dict)
    shared: int = 0
    measured: int = 0
    failed: int = 0


class Foreseer:
    """Foresees a run.

    Args:
        assignments: the metrics with the models that would answer.
        journal: the replies that are there already; None where none are kept.
    """

    def __init__(self, assignments: Sequence[Assignment], journal: ReplyStore | None) -> None:
        self._assignments = assignments
        self._replies = Replies(journal)
        self.metrics = {item.metric.name: MetricTally() for item in assignments}
        self.rows = 0
        self._longest = 0  # rounds of a row, one after the other

    def estimate(self, rows: Iterable[Row], max_concurrency: int, name: str, earlier: Sequence[ModelUsage]) -> Estimate:
        """Go through all rows; ``earlier`` is what the models were asked in earlier parts of the run.

        Raises:
            RagmetricsError: they cannot be read.
        """
        for row in rows:
            self.rows += 1
            if row.problem is not None:
                for tally in self.metrics.values():
                    tally.failed += 1
                continue
            self._row(row)
        metrics, models = [], {key: Cost() for key in self._replies.models}
        for metric, tally in self.metrics.items():
            total = Cost()
            for key, part in tally.models.items():
                cost = part.scaled(tally.measured)
                for sum_ in (total, models[key]):
                    sum_.add(cost.calls, cost.prompt, cost.completion)
            usage = _usage(total)
            metrics.append(MetricEstimate(metric, usage, tally.shared, tally.measured, tally.failed))
        return Estimate(
            source=name,
            rows=self.rows,
            metrics=tuple(metrics),
            models=tuple(
                ModelUsage.of(self._replies.models[key].model, _usage(cost), 0)
                for key, cost in models.items()
                if cost.calls
            ),
            max_concurrency=max_concurrency,
            seconds=self._seconds(list(models.values()), max_concurrency, _seconds_per_call(earlier)),
            seconds_per_call=_seconds_per_call(earlier),
            unforeseen=tuple(sorted(self._replies.unforeseen)),
        )

    def _seconds(self, costs: list[Cost], max_concurrency: int, measured: float | None) -> float:
        calls = sum(cost.calls for cost in costs)
        if not calls:
            return 0.0
        writing = sum(cost.completion for cost in costs) / TOKENS_PER_SECOND
        total = calls * FIRST_TOKEN + writing if measured is None else calls * measured
        return max(total / max_concurrency, self._longest * total / calls)

    def _row(self, row: Row) -> None:
        told: Known = {}
        told_without: Known = {}
        reading = Reading(row.sample)
        for assignment in self._assignments:
            if not row.is_asked(assignment.metric.name):
                continue
            tally = self.metrics[assignment.metric.name]
            actual = Walk(self._replies, assignment, told, replayed=self._replies.kept)
            if not actual.go(reading):
                tally.failed += assignment.repeat == 0
                continue
            tally.shared += actual.shared
            self._longest = max(self._longest, actual.rounds)
            if not self._replies.kept:
                _book(tally, actual.new, "left")
                continue
            without = Walk(self._replies, assignment, told_without, replayed=False)
            without.go(reading)
            if not actual.guessed and (actual.paid or actual.shared):
                tally.measured += assignment.repeat == 0
                _book(tally, actual.paid, "paid")
                _book(tally, without.new, "foreseen")
            else:
                _book(tally, actual.new, "left")


def _book(tally: MetricTally, costs: dict[int, Cost], where: str) -> None:
    for key, cost in costs.items():
        part: Cost = getattr(tally.models.setdefault(key, Tally()), where)
        part.add(cost.calls, cost.prompt, cost.completion)


def _seconds_per_call(earlier: Sequence[ModelUsage]) -> float | None:
    """What a call has taken on average; None where too few were measured."""
    timed = [item for item in earlier if item.seconds]
    calls = sum(item.usage.calls for item in timed)
    return sum(item.seconds for item in timed) / calls if calls >= LEAST_MEASURED else None


def _usage(cost: Cost) -> Usage:
    calls = round(cost.calls) if cost.calls >= 1 else int(cost.calls > 0)
    return Usage(calls, round(cost.prompt), round(cost.completion))
