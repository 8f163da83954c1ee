"""How often corrected pass rates hold, without drawing: all samples of few labels, each with its chance.

    python bench/calibration_exact.py [--labels 20] [--share 0.9 1.0] [--rates 0.5 0.7 0.85 0.95]

A judge that gives verdicts and people who pass or fail make four kinds of rows, so few labels can come out in few ways: 20 in
1,771. For each of them the interval is made and its chance is known. Samples with a chance below one in a million are left out, and
three numbers stand for the verdicts on the rows without a label (Gauss-Hermite). Printed is the share of 95 % intervals that hold,
for each pass rate and each judge of ``calibration.py`` and for each share of a label that the ends of the scale count beforehand.
Three minutes of a core for each share.
"""

from __future__ import annotations

import argparse
import itertools
import math

from calibration_cells import JUDGES, RATES

from ragmetrics_core.statistics import _corrected, corrected_mean

ROWS = 1000
LEAST_CHANCE = 1e-6
NODES = ((-math.sqrt(3), 1 / 6), (0.0, 2 / 3), (math.sqrt(3), 1 / 6))
"""Where three points stand for a normal distribution, in standard deviations, and with which weights."""

Table = tuple[int, int, int, int]
"""Labelled rows that people pass and the judge passes, that they pass and it fails, and the same of those that people fail."""


def coverage(rate: float, sensitivity: float, specificity: float, labels: int) -> float:
    """The share of intervals that hold this pass rate."""
    chances = (
        rate * sensitivity,
        rate * (1 - sensitivity),
        (1 - rate) * (1 - specificity),
        (1 - rate) * specificity,
    )
    passed = chances[0] + chances[2]
    rest = ROWS - labels
    spread = math.sqrt(rest * passed * (1 - passed))
    held = total = 0.0
    for table in _tables(labels):
        chance = _chance(table, chances)
        if chance < LEAST_CHANCE:
            continue
        for place, weight in NODES:
            low, high = _interval(table, min(max(round(rest * passed + place * spread), 0), rest))
            held += chance * weight * (low <= rate <= high)
        total += chance
    return held / total


def _tables(labels: int) -> list[Table]:
    counts = range(labels + 1)
    return [(a, b, c, labels - a - b - c) for a, b, c in itertools.product(counts, repeat=3) if a + b + c <= labels]


def _chance(table: Table, chances: tuple[float, ...]) -> float:
    ways = math.factorial(sum(table)) // math.prod(map(math.factorial, table))
    return ways * math.prod(chance**count for chance, count in zip(chances, table, strict=True))


def _interval(table: Table, passed: int) -> tuple[float, float]:
    rest = ROWS - sum(table)
    judged = [True] * table[0] + [False] * table[1] + [True] * table[2] + [False] * table[3]
    labels = [1.0] * (table[0] + table[1]) + [0.0] * (table[2] + table[3])
    judged += [True] * passed + [False] * (rest - passed)
    found = corrected_mean(judged, [*labels, *[None] * rest], scale=(0.0, 1.0)).interval
    assert found is not None
    return found.low, found.high


def main() -> None:
    """Prints every pass rate with every judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--rates", type=float, nargs="*", default=list(RATES))
    parser.add_argument("--share", type=float, nargs="*", default=[_corrected.SHARES_OF_LABEL[_corrected.BETA]])
    options = parser.parse_args()
    for share in options.share:
        _corrected.SHARES_OF_LABEL[_corrected.BETA] = share
        found = []
        for rate, errors in itertools.product(options.rates, JUDGES):
            found.append(coverage(rate, errors[0], errors[1], options.labels))
            print(f"share {share:g}  pass rate {rate}, judge {errors[0]}/{errors[1]}: {found[-1]:.4f}", flush=True)
        print(f"share {share:g}  lowest of {len(found)}: {min(found):.4f}, mean {math.fsum(found) / len(found):.4f}")


if __name__ == "__main__":
    main()
