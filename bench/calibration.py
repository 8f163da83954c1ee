"""How often corrected means hold, and how wide they are beside labels alone: simulated, cell by cell.

    python bench/calibration.py [--runs 400] [--again 2000] [--part verdicts|scores|grades|numbers|suggested|clusters|paired ...]

Each cell is a population with a known mean label and a judge with known errors. A run draws rows from it, of which a few are
labelled, and asks `corrected_mean` for its 95 % interval. Printed are: the share of intervals that hold the mean, corrected and of
labels alone; the mean width of the corrected one, and over that of labels alone; and in how many runs the labels stood alone. The
goal is a coverage of .93 or more and a relative width of 1.03 or less. Coverage of 400 runs is known to +- .02 only, so a cell that
falls short is run again, more often and with other draws; that line stands below it, and is marked if it falls short too. All parts
take about an hour on one core.

Not every cell reaches the goal. ``--part suggested --runs 150 --again 600``: 2 of 54 fall short (0.923, 0.913), ``--part paired
--runs 100 --again 600``: 3 of 72 (0.922, 0.922, 0.928), ``--part verdicts --runs 100 --again 600``: 3 of 80 (0.902, 0.917, 0.920).
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragmetrics_core.statistics import corrected_mean, suggest

LEAST_COVERAGE, MOST_WIDTH = 0.93, 1.03
UNIT = (0.0, 1.0)
JUDGES = ((0.9, 0.9), (0.97, 0.5), (0.8, 0.95), (0.6, 0.6))
RATES = (0.5, 0.7, 0.85, 0.95)

Row = tuple[float, float]
"""The label that people would give, and the judge's score."""


@dataclass(frozen=True)
class Cell:
    """One population, one judge, one number of labels.

    Attributes:
        name: of both, in words.
        row: draws a row; a cluster's own level, 0 on average, comes with it.
        truth: the mean label.
        labels: how many rows are labelled.
        rows: how many are judged.
        suggested: whether the labelled rows are drawn by the judge's uncertainty.
        cluster_size: rows of a cluster; 1 where rows are independent.
        scale: of the labels.
    """

    name: str
    row: Callable[[random.Random, float], Row]
    truth: float
    labels: int
    rows: int = 1000
    suggested: bool = False
    cluster_size: int = 1
    scale: tuple[float, float] = UNIT


@dataclass(frozen=True)
class Result:
    """What the runs of a cell came to: shares of runs, and mean widths."""

    coverage: float
    coverage_alone: float
    width: float
    width_alone: float
    alone: float

    @property
    def relative_width(self) -> float:
        """The width beside that of labels alone."""
        return self.width / self.width_alone

    @property
    def holds(self) -> bool:
        """Whether the cell reaches both goals."""
        return self.coverage >= LEAST_COVERAGE and self.relative_width <= MOST_WIDTH


def simulated(cell: Cell, runs: int, seed: int = 0) -> Result:
    """The cell, run that many times."""
    generator = random.Random(f"{cell.name} {cell.labels} {cell.rows} {seed}")
    held, held_alone, stood_alone, width, width_alone = 0, 0, 0, 0.0, 0.0
    for _ in range(runs):
        levels = [generator.gauss(0, 1) for _ in range(-(-cell.rows // cell.cluster_size))]
        rows = [cell.row(generator, levels[place // cell.cluster_size]) for place in range(cell.rows)]
        judged = [score for _, score in rows]
        labels: list[float | None] = [None] * cell.rows
        weights: list[float | None] | None = None
        if cell.suggested:
            weights = [None] * cell.rows
            for row, _, weight in suggest(judged, cell.labels, seed=generator.getrandbits(32), scale=UNIT):
                labels[row], weights[row] = rows[row][0], weight
        else:
            for row in generator.sample(range(cell.rows), cell.labels):
                labels[row] = rows[row][0]
        clusters = [place // cell.cluster_size for place in range(cell.rows)] if cell.cluster_size > 1 else None
        found = corrected_mean(judged, labels, weights, clusters, cell.scale)
        assert found.interval is not None
        assert found.label_interval is not None
        held += found.interval.low <= cell.truth <= found.interval.high
        held_alone += found.label_interval.low <= cell.truth <= found.label_interval.high
        width += found.interval.high - found.interval.low
        width_alone += found.label_interval.high - found.label_interval.low
        stood_alone += found.interval == found.label_interval
    return Result(held / runs, held_alone / runs, width / runs, width_alone / runs, stood_alone / runs)


def verdicts() -> Iterator[Cell]:
    """Passes and fails, judged by verdicts with known sensitivity and specificity."""
    for rate, errors, labels in itertools.product(RATES, JUDGES, (20, 50, 100, 200)):
        yield Cell(f"pass rate {rate}, judge {errors[0]}/{errors[1]}", _verdicts(rate, *errors), rate, labels)
    for rate, errors in itertools.product(RATES, JUDGES):
        yield Cell(f"pass rate {rate}, judge {errors[0]}/{errors[1]}", _verdicts(rate, *errors), rate, 100, rows=5000)


def _verdicts(rate: float, sensitivity: float, specificity: float) -> Callable[[random.Random, float], Row]:
    def row(generator: random.Random, _: float) -> Row:
        label = generator.random() < rate
        passed = generator.random() < sensitivity if label else generator.random() >= specificity
        return float(label), float(passed)

    return row


def _scored(rate: float, apart: float) -> Callable[[random.Random, float], Row]:
    """Passes and fails with a score from 0 to 1, the means of both as far apart as said."""

    def row(generator: random.Random, _: float) -> Row:
        label = generator.random() < rate
        middle = 0.5 + apart / 2 if label else 0.5 - apart / 2
        return float(label), generator.betavariate(4 * middle, 4 * (1 - middle))

    return row


def scores() -> Iterator[Cell]:
    """Passes and fails, judged by scores."""
    for rate, apart, labels in itertools.product(RATES, (0.0, 0.3, 0.6), (20, 50, 200)):
        yield Cell(f"pass rate {rate}, scores {apart} apart", _scored(rate, apart), rate, labels)


GRADES = {
    "even": (0.2, 0.2, 0.2, 0.2, 0.2),
    "mild skew": (0.05, 0.1, 0.2, 0.35, 0.3),
    "skew": (0.02, 0.03, 0.1, 0.25, 0.6),
    "strong skew": (0.01, 0.01, 0.03, 0.1, 0.85),
    "low": (0.5, 0.25, 0.15, 0.07, 0.03),
    "two ends": (0.15, 0.03, 0.02, 0.1, 0.7),
}
"""Shares of the grades 0 to 4."""

GRADERS = {
    "good judge": {-1: 0.1, 0: 0.75, 1: 0.15},
    "poor judge": {-2: 0.1, -1: 0.2, 0: 0.4, 1: 0.2, 2: 0.1},
    "lenient judge": {0: 0.45, 1: 0.4, 2: 0.15},
    "blind judge": None,
}
"""How far from the label the judge's grade lies, how often; None for one that does not look."""


def _graded(shares: Sequence[float], errors: dict[int, float] | None) -> Callable[[random.Random, float], Row]:
    def row(generator: random.Random, _: float) -> Row:
        label = generator.choices(range(5), shares)[0]
        if errors is None:
            return label / 4, generator.choices(range(5), (0.05, 0.1, 0.15, 0.3, 0.4))[0] / 4
        score = label + generator.choices(list(errors), list(errors.values()))[0]
        return label / 4, min(max(score, 0), 4) / 4

    return row


def _mean_grade(shares: Sequence[float]) -> float:
    return sum(grade * share for grade, share in enumerate(shares)) / 4


def grades() -> Iterator[Cell]:
    """Grades from 0 to 4, evenly spread and skewed."""
    for (name, shares), (judge, errors), labels in itertools.product(
        GRADES.items(), GRADERS.items(), (20, 50, 100, 200)
    ):
        yield Cell(f"grades, {name}, {judge}", _graded(shares, errors), _mean_grade(shares), labels)


def _numbers(a: float, b: float, noise: float) -> Callable[[random.Random, float], Row]:
    def row(generator: random.Random, _: float) -> Row:
        label = generator.betavariate(a, b)
        return label, min(max(label + generator.gauss(0.05, noise), 0.0), 1.0)

    return row


def numbers() -> Iterator[Cell]:
    """Labels that are numbers from 0 to 1, evenly spread and skewed."""
    for (a, b), noise, labels in itertools.product(((2, 2), (8, 2), (4, 0.5)), (0.1, 0.3, 1.0), (20, 50, 100, 200)):
        yield Cell(f"numbers, beta({a}, {b}), noise {noise}", _numbers(a, b, noise), a / (a + b), labels)


def suggested() -> Iterator[Cell]:
    """Labels of rows drawn half uniformly, half by the judge's uncertainty."""
    for rate, apart, labels in itertools.product(RATES, (0.3, 0.6), (20, 50, 100, 200)):
        yield Cell(
            f"suggested, pass rate {rate}, scores {apart} apart", _scored(rate, apart), rate, labels, suggested=True
        )
    for (name, shares), labels in itertools.product(GRADES.items(), (20, 50, 200)):
        row = _graded(shares, GRADERS["poor judge"])
        yield Cell(f"suggested, grades, {name}, poor judge", row, _mean_grade(shares), labels, suggested=True)
    for noise, labels in itertools.product((0.1, 0.3), (50, 200)):
        yield Cell(f"suggested, numbers, noise {noise}", _numbers(4, 2, noise), 2 / 3, labels, suggested=True)


def _clustered(rate: float, errors: tuple[float, float], level_share: float) -> Callable[[random.Random, float], Row]:
    """Passes where a latent level is high enough; the clusters hold a share of its variance."""
    from statistics import NormalDist

    cut = NormalDist().inv_cdf(1 - rate)
    own = (1 - level_share) ** 0.5
    verdict = (errors[0], 1 - errors[1])

    def row(generator: random.Random, level: float) -> Row:
        label = level * level_share**0.5 + generator.gauss(0, own) > cut
        return float(label), float(generator.random() < verdict[0 if label else 1])

    return row


def _clustered_numbers(noise: float) -> Callable[[random.Random, float], Row]:
    def row(generator: random.Random, level: float) -> Row:
        label = 0.5 + 0.1 * level + generator.gauss(0, 0.1)
        return min(max(label, 0.0), 1.0), min(max(label + generator.gauss(0, noise), 0.0), 1.0)

    return row


def clusters() -> Iterator[Cell]:
    """Rows in clusters of 10, which hold a third of the variance."""
    for rate, errors, labels in itertools.product((0.5, 0.7, 0.85), JUDGES, (20, 50, 200)):
        name = f"clusters, pass rate {rate}, judge {errors[0]}/{errors[1]}"
        yield Cell(name, _clustered(rate, errors, 1 / 3), rate, labels, cluster_size=10)
    for labels in (100, 200):
        yield Cell("clusters, numbers", _clustered_numbers(0.1), 0.5, labels, cluster_size=10)


def _changes(
    rate: float, moves: tuple[float, float], errors: tuple[float, float]
) -> Callable[[random.Random, float], Row]:
    """By how much a row's pass or fail changes from one system to another, and the judge's verdict on both.

    Args:
        rate: of rows that pass in the first run.
        moves: the share of these that fail in the second run, and of the others the share that pass there.
        errors: sensitivity and specificity.
    """

    def verdict(generator: random.Random, label: bool) -> bool:
        return generator.random() < errors[0] if label else generator.random() >= errors[1]

    def row(generator: random.Random, _: float) -> Row:
        before = generator.random() < rate
        after = generator.random() >= moves[0] if before else generator.random() < moves[1]
        return float(after) - before, float(verdict(generator, after)) - verdict(generator, before)

    return row


def paired() -> Iterator[Cell]:
    """The difference between two systems, of rows with labels in both."""
    for rate, moves, errors, labels in itertools.product(
        (0.5, 0.85), ((0.05, 0.3), (0.2, 0.5), (0.1, 0.1)), JUDGES, (20, 50, 200)
    ):
        name = f"paired, {rate}, changes {moves[0]}/{moves[1]}, judge {errors[0]}/{errors[1]}"
        truth = (1 - rate) * moves[1] - rate * moves[0]
        yield Cell(name, _changes(rate, moves, errors), truth, labels, scale=(-1.0, 1.0))


PARTS = {part.__name__: part for part in (verdicts, scores, grades, numbers, suggested, clusters, paired)}


def main() -> None:
    """Prints every cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="of each cell")
    parser.add_argument("--again", type=int, default=2000, help="runs of a cell that falls short, with other draws")
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    print(f"{'cell':<52}{'labels':>7}{'rows':>6}{'holds':>7}{'alone':>7}{'width':>7}{'of alone':>9}{'stood alone':>12}")
    short, cells, began = 0, 0, time.perf_counter()
    for cell in itertools.chain.from_iterable(PARTS[part]() for part in options.part):
        found = simulated(cell, options.runs)
        print(_line(cell, found), flush=True)
        cells += 1
        if not found.holds:
            found = simulated(cell, options.again, seed=1)
            short += not found.holds
            print(_line(cell, found) + f"  again, {options.again} runs" + ("" if found.holds else "  <--"), flush=True)
    print(f"{short} of {cells} cells fall short; {options.runs} runs each, {time.perf_counter() - began:.0f} s")


def _line(cell: Cell, found: Result) -> str:
    return (
        f"{cell.name:<52}{cell.labels:>7}{cell.rows:>6}{found.coverage:>7.3f}{found.coverage_alone:>7.3f}"
        f"{found.width:>7.3f}{found.relative_width:>9.2f}{found.alone:>12.2f}"
    )


if __name__ == "__main__":
    main()
