"""How often gates are falsely red or green, where the truth is exactly at their limit.

Several gates of one command are about metrics that have nothing in common here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.report.comparing import metric_column, run_of
from core.statistics.comparison_simulation import two_runs
from core.statistics.populations import Population
from ragmetrics_core import Decision, Gate

__all__ = ["Gated", "drop_gates", "mean_gates", "repeated_sessions"]


@dataclass(frozen=True)
class Gated:
    """What became of the commands.

    Attributes:
        red: the share with any gate that failed.
        alone: the share with any gate that would fail by its own 95 % interval: what would be red without an adjustment.
        green: the share of all gates that passed.
    """

    red: float
    alone: float
    green: float


def mean_gates(population: Population, gates: int, rows: int, runs: int) -> Gated:
    """Gates ``score >= limit`` for the scores after the change, whose true mean is the limit."""
    scores = population.scores_after
    wanted = [Gate(f"metric {place}", ">=", scores.difference) for place in range(gates)]
    columns = [metric_column(gate.metric, scores.scale, "M()") for gate in wanted]

    def decided(rng: random.Random) -> Decision:
        drawn = [[after for _, after in scores.sample(rng, rows)] for _ in wanted]
        values = (dict(zip([gate.metric for gate in wanted], row, strict=True)) for row in zip(*drawn, strict=True))
        return run_of((({"id": str(row)}, scored) for row, scored in enumerate(values)), columns).gate(*wanted)

    return _gated(decided, gates, runs, f"means {population} {gates} {rows}")


def drop_gates(population: Population, gates: int, rows: int, runs: int) -> Gated:
    """Gates ``score drop <= limit`` where the true drop is the limit."""
    wanted = [Gate(f"metric {place}", "<=", -population.difference, "drop") for place in range(gates)]

    def decided(rng: random.Random) -> Decision:
        drawn = [population.sample(rng, rows) for _ in wanted]
        return two_runs(drawn, [population.scale] * gates).gate(*wanted)

    return _gated(decided, gates, runs, f"drops {population} {gates} {rows}")


def _gated(decided: Callable[[random.Random], Decision], gates: int, runs: int, seed: str) -> Gated:
    rng = random.Random(seed)
    red = alone = green = 0
    for _ in range(runs):
        results = decided(rng).results
        verdicts = [result.verdict for result in results]
        red += "failed" in verdicts
        green += verdicts.count("passed")
        alone += any(result.interval is not None and result.is_bad(result.interval) for result in results)
    return Gated(red / runs, alone / runs, green / runs / gates)


def repeated_sessions(rate: float, gate: str, sizes: Sequence[int], runs: int) -> tuple[float, float]:
    """Sessions of a fixed number of tests whose gate is decided at their end, run again with more tests until it is decided.

    Args:
        rate: the share of tests that pass.
        gate: a gate on the metric m.
        sizes: how many tests there are each time, of which the first are those of the time before.
        runs: how often this is done.

    Returns:
        The shares that are red and green in the end.
    """
    rng = random.Random(f"sessions {rate} {gate} {sizes}")
    red = green = 0
    for _ in range(runs):
        values = [float(rng.random() < rate) for _ in range(sizes[-1])]
        runs_of_sizes = (
            run_of(({"id": str(n)}, {"m": value}) for n, value in enumerate(values[:size])) for size in sizes
        )
        verdicts = (run.gate(gate).verdict for run in runs_of_sizes)
        verdict = next((each for each in verdicts if each != "undecided"), "undecided")
        red += verdict == "failed"
        green += verdict == "passed"
    return red / runs, green / runs
