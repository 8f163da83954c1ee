"""How often the statistics keep what they promise, in samples of populations whose truth is known.

Every function draws ``runs`` samples from its own seed, so that its figures are the same each time. A share of 0.95 over 1,000
runs is right to about 0.014 (two standard errors), over 10,000 to 0.004.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from core.statistics.populations import Population
from ragmetrics_core.statistics import PairedDifference, mean_interval, paired_difference

__all__ = ["Held", "Plan", "clustered_means", "clustered_pairs", "pairs", "planned"]

ALPHA = 0.05
SLACK = 1e-9
FEWEST = 6

Method = Callable[..., PairedDifference]


@dataclass(frozen=True)
class Held:
    """What became of the samples.

    Attributes:
        coverage: the share of intervals that contain the truth.
        rejected: the share of p-values of at most 0.05.
    """

    coverage: float
    rejected: float


@dataclass(frozen=True)
class Plan:
    """How many rows were said to be needed, and what they achieve.

    Attributes:
        rows: the median over the pilots; None if there was no answer to most.
        power: the share of samples of just as many rows that show the difference.
        planned: the share of pilots with an answer.
    """

    rows: float | None
    power: float
    planned: float


def pairs(population: Population, count: int, runs: int, method: Method = paired_difference) -> Held:
    """Samples of independent rows."""
    rng = random.Random(f"pairs {population} {count}")
    return _held(
        population,
        [method(*zip(*population.sample(rng, count), strict=True), scale=population.scale) for _ in range(runs)],
    )


def clustered_pairs(
    population: Population, sizes: Sequence[int], likeness: float, runs: int, method: Method = paired_difference
) -> Held:
    """Samples of clusters with these sizes and this intra-class correlation of the differences."""
    rng = random.Random(f"clusters {population} {sizes} {likeness}")
    found = []
    for _ in range(runs):
        rows, clusters = population.clustered_sample(rng, sizes, likeness)
        found.append(method(*zip(*rows, strict=True), clusters=clusters, scale=population.scale))
    return _held(population, found)


def _held(population: Population, found: Sequence[PairedDifference]) -> Held:
    truth = population.difference
    within = [each.interval is not None and _within(truth, each.interval) for each in found]
    rejected = [each.p_value is not None and each.p_value <= ALPHA for each in found]
    return Held(sum(within) / len(found), sum(rejected) / len(found))


def _within(truth: float, interval: tuple[float, float, str]) -> bool:
    return interval[0] - SLACK <= truth <= interval[1] + SLACK


def clustered_means(population: Population, sizes: Sequence[int], likeness: float, runs: int) -> float:
    """The share of intervals of the mean score after the change that contain the truth."""
    rng = random.Random(f"means {population} {sizes} {likeness}")
    held, scores = 0, population.scores_after
    for _ in range(runs):
        rows, clusters = scores.clustered_sample(rng, sizes, likeness)
        interval = mean_interval([after for _, after in rows], clusters, population.scale)
        held += interval is not None and _within(scores.difference, interval)
    return held / runs


def planned(pilot: Population, changed: Population, count: int, runs: int, share: float = 1.0) -> Plan:
    """Pilots say how many rows show the true difference of another population; then so many are drawn from there.

    Args:
        pilot: what the pilots are drawn from.
        changed: what has the difference.
        count: rows of a pilot.
        runs: how many pilots.
        share: how many of the rows asked for are drawn.
    """
    rng = random.Random(f"plan {pilot} {changed} {count}")
    rows, shown = list[int](), 0
    for _ in range(runs):
        first = paired_difference(*zip(*pilot.sample(rng, count), strict=True), scale=pilot.scale)
        needed = first.rows_needed(changed.difference)
        if needed is None:
            continue
        needed = math.ceil(share * needed)
        rows.append(needed)
        second = paired_difference(*zip(*changed.sample(rng, needed), strict=True), scale=changed.scale)
        shown += is_shown(second)
    return Plan(median(rows) if rows else None, shown / len(rows) if rows else 0.0, len(rows) / runs)


def is_shown(found: PairedDifference) -> bool:
    """Whether a difference is shown: p at most 0.05, an interval without 0, and six pairs that changed."""
    return (
        found.changed >= FEWEST
        and found.p_value is not None
        and found.p_value <= ALPHA
        and found.interval is not None
        and not _within(0.0, found.interval)
    )
