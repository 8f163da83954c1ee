"""How often runs that stop when their gates are decided are wrong, and for how many rows they pay.

Every run is an ``evaluate(..., stop=...)`` over drawn rows. Rows that take longer do so in virtual time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.engine.virtual_time import evaluate as evaluate_in_virtual_time
from ragmetrics_core import Ask, Metric, Prompt, Reply, Score, Steps, Stop, evaluate
from ragmetrics_core.replies import YesNoReply

__all__ = [
    "Draw",
    "Looked",
    "Rows",
    "beta_values",
    "claim_shares",
    "in_clusters",
    "labelled",
    "looked",
    "passes",
    "several_passes",
    "two_runs",
]

READ = Prompt("Read the text.", YesNoReply(), name="read")

Rows = list[dict[str, Any]]
"""Rows with the values of the metrics m0, m1, ... in ``response``, those of an earlier run in ``before``, and other columns."""


@dataclass(frozen=True)
class Number(Metric):
    """One of the numbers in the response."""

    place: int = 0

    def measure(self, response: str) -> Score:
        return Score(float(response.split()[self.place]))


@dataclass(frozen=True)
class Read(Number):
    """The same after a question, as of a judge."""

    def measure(self, response: str) -> Steps[Score]:  # type: ignore[override]
        yield from READ.ask(text=response)
        return Score(float(response.split()[self.place]))


@dataclass(frozen=True)
class SlowModel:
    """Answers after a second, and about a response of 0 after this many."""

    seconds: float

    async def agenerate(self, ask: Ask) -> Reply:
        await asyncio.sleep(self.seconds if float(ask.inputs["text"].split()[0]) == 0 else 1.0)
        return Reply("yes")


@dataclass(frozen=True)
class Looked:
    """What became of the runs.

    Attributes:
        red: the share of runs with any gate that failed.
        green: the share of runs of which all gates passed.
        rows: the mean share of the rows that were scored.
        decided: the share of runs that were decided before their last row.
    """

    red: float
    green: float
    rows: float
    decided: float


def rows_of(values: Sequence[Any], **columns: Sequence[Any]) -> Rows:
    """Rows with these responses and these columns."""
    return [
        {"id": f"q{at}", "response": str(value), **{name: column[at] for name, column in columns.items()}}
        for at, value in enumerate(values)
    ]


Draw = Callable[[random.Random], Rows]


def passes(rate: float, count: int) -> Draw:
    """Passes and fails."""
    return lambda rng: rows_of([float(rng.random() < rate) for _ in range(count)])


def labelled(labels: Sequence[float], count: int) -> Draw:
    """So many of these labels, without replacement."""
    return lambda rng: rows_of(rng.sample(labels, count))


def claim_shares(count: int) -> Draw:
    """Of five claims, those that are supported with a chance that is beta(8, 2) from row to row: 0.8 on average."""

    def draw(rng: random.Random) -> Rows:
        chances = (rng.betavariate(8, 2) for _ in range(count))
        return rows_of([sum(rng.random() < chance for _ in range(5)) / 5 for chance in chances])

    return draw


def beta_values(yes: float, no: float, count: int) -> Draw:
    """Values of a beta distribution, with the mean yes / (yes + no)."""
    return lambda rng: rows_of([rng.betavariate(yes, no) for _ in range(count)])


def two_runs(better: float, worse: float, count: int) -> Draw:
    """Passes and fails of two runs, of which these shares of rows become better and worse; the others are ties."""

    def pair(rng: random.Random) -> tuple[float, float]:
        chance, tie = rng.random(), float(rng.random() < 0.8)
        return (1.0, 0.0) if chance < worse else (0.0, 1.0) if chance < worse + better else (tie, tie)

    def draw(rng: random.Random) -> Rows:
        before, after = zip(*(pair(rng) for _ in range(count)), strict=True)
        return rows_of(after, before=before)

    return draw


def in_clusters(rate: float, size: int, likeness: float, count: int) -> Draw:
    """Passes and fails in clusters of this size, whose rates are beta with this intra-class correlation."""

    def draw(rng: random.Random) -> Rows:
        weight = 1 / likeness - 1
        rates = [rng.betavariate(rate * weight, (1 - rate) * weight) for _ in range(count // size)]
        values = [float(rng.random() < each) for each in rates for _ in range(size)]
        return rows_of(values, doc=[at // size for at in range(len(values))])

    return draw


def several_passes(rate: float, metrics: int, alike: float, count: int) -> Draw:
    """Passes and fails of several metrics, which take the same of a row in this share of rows."""

    def values(rng: random.Random) -> str:
        shared = rng.random()
        return " ".join(str(float((shared if rng.random() < alike else rng.random()) < rate)) for _ in range(metrics))

    return lambda rng: rows_of([values(rng) for _ in range(count)])


def looked(draw: Draw, gates: Sequence[str], runs: int, *, slow: float = 0.0, **stop: Any) -> Looked:
    """Run so many times.

    Args:
        draw: returns the rows of a run.
        gates: the gates, on m0, m1, ...; one on a drop is measured from ``before``.
        runs: how many runs.
        slow: seconds for a row whose first value is 0, if others take one; 0: no row takes time.
        stop: other arguments of ``Stop``.
    """
    rng = random.Random(f"looks {gates} {runs} {slow}")
    kind = Read if slow else Number
    metrics = [kind(place=place, name=f"m{place}") for place in range(len({gate.split()[0] for gate in gates}))]
    red = green = rows_scored = rows_drawn = decided = 0
    for seed in range(runs):
        rows = draw(rng)
        if "before" in rows[0]:
            earlier = [{**row, "response": str(row["before"])} for row in rows]
            stop["baseline"] = evaluate(earlier, metrics[0], progress=False)
        options = {"gates": gates, "stop": Stop(**stop), "seed": seed, "progress": False}
        if slow:
            run = evaluate_in_virtual_time(rows, metrics, llm=SlowModel(slow), **options)
        else:
            run = evaluate(rows, metrics, **options)
        assert run.decision is not None
        red += any(result.verdict == "failed" for result in run.decision.results)
        green += run.decision.passed
        rows_scored += len(run)
        rows_drawn += len(rows)
        decided += run.left > 0
    return Looked(red / runs, green / runs, rows_scored / rows_drawn, decided / runs)
