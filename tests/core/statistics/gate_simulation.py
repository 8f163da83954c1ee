"""How often gates are falsely red or green, where the truth is exactly at their limit.

Several gates of one command are slices here, each with rows of its own, and they are decided together by what decides the gates of
users.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast
from unittest import mock

from core.statistics.comparison_simulation import draft
from core.statistics.populations import Population
from ragmetrics_core import Comparison
from ragmetrics_core._compare._compare import finished
from ragmetrics_core._compare._drops import drop_evidence
from ragmetrics_core._gate import _decision as _gate_decision
from ragmetrics_core._gate._evidence import Evidence, of_mean
from ragmetrics_core._gate._gates import Conditions, Gate

__all__ = ["Conditions", "Evidence", "Gated", "decide", "drop_gates", "mean_gates", "of_mean"]

decide = _gate_decision.decide


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
    gate = Gate("score", ">=", scores.difference)

    def evidence(rng: random.Random) -> Evidence:
        values = [after for _, after in scores.sample(rng, rows)]
        return of_mean(values, scores.scale, None, Conditions(), rows=rows, failed=0)

    return _gated(gate, evidence, gates, runs, f"means {population} {gates} {rows}")


def drop_gates(population: Population, gates: int, rows: int, runs: int) -> Gated:
    """Gates ``score drop <= limit`` where the true drop is the limit."""
    gate = Gate("score", "<=", -population.difference, "drop")

    def evidence(rng: random.Random) -> Evidence:
        [[metric]] = finished([[draft("score", population.sample(rng, rows), population)]])
        comparison = SimpleNamespace(metrics=[metric], slices=[], before="before", after="after", incomplete=())
        [found] = drop_evidence(cast("Comparison", comparison), [gate], Conditions())["score"]
        return found

    return _gated(gate, evidence, gates, runs, f"drops {population} {gates} {rows}")


def _gated(gate: Gate, evidence: Callable[[random.Random], Evidence], gates: int, runs: int, seed: str) -> Gated:
    rng = random.Random(seed)
    red = alone = green = 0
    for _ in range(runs):
        cases = [(gate, evidence(rng)) for _ in range(gates)]
        with mock.patch.object(_gate_decision, "HALVINGS", 0):  # how many rows would decide is not asked, and is slow
            verdicts = [result.verdict for result in _gate_decision.decide(cases).results]
        red += "failed" in verdicts
        green += verdicts.count("passed")
        alone += any(_is_bad(gate, found) for _, found in cases)
    return Gated(red / runs, alone / runs, green / runs / gates)


def _is_bad(gate: Gate, evidence: Evidence) -> bool:
    interval = evidence.interval_at(0.95)
    return interval is not None and (interval.high < gate.limit if gate.sign > 0 else interval.low > gate.limit)
