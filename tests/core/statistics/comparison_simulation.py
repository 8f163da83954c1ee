"""How often whole comparisons of two runs are wrong where nothing changed, and what they find of what did.

Rows are drawn with the scores of several metrics, which may have much in common, and what decides the comparisons of users decides
here: adjusted p-values, verdicts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.report.comparing import MetricComparison, metric_column, run_of
from core.statistics.populations import NORMAL, Pair, Population
from ragmetrics_core import Comparison, compare_runs

__all__ = [
    "Family",
    "Verdicts",
    "any_alarm",
    "by_verdict",
    "compared",
    "corrected",
    "pass_or_fail",
    "shares_of_claims",
    "two_runs",
]

Family = Sequence[MetricComparison]
Rule = Callable[[Family, Family], tuple[Sequence[bool], Sequence[bool]]]
"""From the comparisons of metrics, and those of metrics in slices, to whether each of them shows a difference."""


@dataclass(frozen=True)
class Verdicts:
    """What became of whole comparisons.

    Attributes:
        false: the share of comparisons with any difference shown that is none.
        metrics: of the metrics that did change, the share that was shown; None if none did.
        slices: of the metrics that did change in a slice, the share that was shown there; None if none did.
    """

    false: float
    metrics: float | None
    slices: float | None


def by_verdict(metrics: Family, slices: Family) -> tuple[list[bool], list[bool]]:
    """What a comparison calls better or worse."""
    of_metrics, of_slices = ([each.verdict in {"better", "worse"} for each in family] for family in (metrics, slices))
    return of_metrics, of_slices


def compared(
    scene: Sequence[Sequence[Population]], rows: int, alike: float, runs: int, rule: Rule = by_verdict
) -> Verdicts:
    """Comparisons of several metrics, over all rows and in slices of equal size.

    Args:
        scene: for every metric the population of each of its slices; a single one where rows are not sliced.
        rows: how many there are in all.
        alike: how much the differences of two metrics in one row have in common: the correlation of their normal variables.
        runs: how many comparisons.
        rule: what shows a difference.
    """
    slices = len(scene[0]) if len(scene[0]) > 1 else 0
    cells = [abs(population.difference) > 1e-9 for metric in scene for population in metric] if slices else []
    wholes = [any(abs(population.difference) > 1e-9 for population in metric) for metric in scene]
    rng = random.Random(f"compared {len(scene)} {slices} {rows} {alike} {scene[0][0]}")
    false, of_metrics, of_slices = 0, 0, 0
    for _ in range(runs):
        drawn = _drawn(scene, rows // len(scene[0]), alike, rng)
        pairs = [[pair for chunk in chunks for pair in chunk] for chunks in drawn]
        labels = [f"{number:03}" for number, chunk in enumerate(drawn[0]) for _ in chunk] if slices else None
        comparison = two_runs(pairs, [metric[0].scale for metric in scene], labels)
        metrics, parts = rule(comparison.metrics, comparison.slices)
        shown = [*zip(metrics, wholes, strict=True), *zip(parts, cells, strict=True)]
        false += any(called and not true for called, true in shown)
        of_metrics += sum(called and true for called, true in shown[: len(wholes)])
        of_slices += sum(called and true for called, true in shown[len(wholes) :])
    return Verdicts(
        false / runs,
        of_metrics / runs / sum(wholes) if any(wholes) else None,
        of_slices / runs / sum(cells) if any(cells) else None,
    )


def _drawn(
    scene: Sequence[Sequence[Population]], size: int, alike: float, rng: random.Random
) -> list[list[list[Pair]]]:
    """For every metric and every slice the pairs of its rows."""
    shared, own = math.sqrt(alike), math.sqrt(1 - alike)
    drawn: list[list[list[Pair]]] = [[[] for _ in metric] for metric in scene]
    for place in range(len(scene[0])):
        for _ in range(size):
            centre = shared * rng.gauss(0, 1)
            for metric, chunks in zip(scene, drawn, strict=True):
                chunks[place].append(metric[place].at(NORMAL.cdf(centre + own * rng.gauss(0, 1))))
    return drawn


def two_runs(
    metrics: Sequence[Sequence[Pair]], scales: Sequence[tuple[float, float]], labels: Sequence[str] | None = None
) -> Comparison:
    """A comparison of two runs over the same rows.

    Args:
        metrics: for every metric its score of each row before a change and after it.
        scales: those of the metrics.
        labels: the slice of each row; None where rows are not sliced.
    """
    columns = [metric_column(f"metric {place}", scale, "M()") for place, scale in enumerate(scales)]
    before, after = (
        run_of(
            (
                (
                    {"id": str(row), "slice": labels and labels[row]},
                    {f"metric {n}": pair[side] for n, pair in enumerate(pairs)},
                )
                for row, pairs in enumerate(zip(*metrics, strict=True))
            ),
            columns,
        )
        for side in (0, 1)
    )
    return before.compare(after, by="slice" if labels else None, allow_different_judges=True)


def pass_or_fail(rng: random.Random) -> Callable[[], float]:
    """A row with its own probability that a run passes it."""
    chance = rng.betavariate(2, 0.5)
    return lambda: float(rng.random() < chance)


def shares_of_claims(rng: random.Random) -> Callable[[], float]:
    """A row of 2 to 7 claims, each of which is supported with a chance that belongs to the row."""
    chance, claims = rng.betavariate(5, 0.7), rng.randint(2, 7)
    return lambda: sum(rng.random() < chance for _ in range(claims)) / claims


def any_alarm(
    row: Callable[[random.Random], Callable[[], float]], versions: int, rows: int, metrics: int, runs: int
) -> float:
    """The share of comparisons of several runs in which two runs are distinguished although nothing differs.

    Args:
        row: draws a row: what draws its score in a run.
        versions: how many runs are compared, at least two.
        rows: how many rows they have.
        metrics: how many metrics, which have nothing in common.
        runs: how many comparisons.
    """
    rng = random.Random(f"several {row.__name__} {versions} {rows} {metrics}")
    alarms = 0
    for _ in range(runs):
        drawn = [{f"metric {number}": row(rng) for number in range(metrics)} for _ in range(rows)]
        made = [
            run_of(
                ({"id": str(place)}, {name: score() for name, score in each.items()})
                for place, each in enumerate(drawn)
            )
            for _ in range(versions)
        ]
        found = compare_runs(made, all_pairs=True)
        told_apart = any(item.verdict in {"better", "worse"} for pair in found.pairs for item in pair.metrics)
        assert told_apart or not any(item.worse for item in found.best)
        alarms += told_apart
    return alarms / runs


def corrected(better: float, worse: float, errors: tuple[float, float], labels: int, runs: int) -> float:
    """The share of 95 % intervals of the difference that people would see, with labels of some rows in both runs, that contain
    the truth.

    Args:
        better: the share of 400 rows that people fail before a change and pass after it.
        worse: the share that they pass before and fail after it.
        errors: the share of rows that the judge gets wrong before and after.
        labels: number of rows with labels.
        runs: how many comparisons.
    """
    rng = random.Random(f"corrected {better} {worse} {errors} {labels}")
    held = 0
    for _ in range(runs):
        people = [_verdicts_of_people(rng, better, worse) for _ in range(400)]
        made, calibrations = [], []
        for side, error in enumerate(errors):
            judged = ({"m": float(pair[side] != (rng.random() < error))} for pair in people)
            run = run_of(({"id": str(row), "question": f"{row}"}, scores) for row, scores in enumerate(judged))
            lines = ({"id": str(row), "metric": "m", "label": people[row][side]} for row in range(labels))
            made.append(run)
            calibrations.append(run.calibrate(list(lines)))
        before, after = made
        (found,) = before.compare(after, calibration=(calibrations[0], calibrations[1])).corrected
        interval = found.corrected and found.corrected.interval
        held += interval is not None and interval.low <= better - worse <= interval.high
    return held / runs


def _verdicts_of_people(rng: random.Random, better: float, worse: float) -> tuple[bool, bool]:
    chance, usual = rng.random(), rng.random() < 0.8
    if chance < better + worse:
        return chance >= better, chance < better
    return usual, usual
