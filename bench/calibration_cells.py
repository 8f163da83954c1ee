"""The populations and judges of ``calibration.py``: what people would say of a row, and what the judge says of it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
