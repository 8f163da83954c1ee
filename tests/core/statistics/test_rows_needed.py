"""How many rows would show a difference."""

from __future__ import annotations

import math
import random

import pytest
from statsmodels.stats.power import TTestPower

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import paired_difference

UNIT = (0.0, 1.0)


def normal_runs(count: int, spread: float) -> tuple[list[float], list[float]]:
    """Changes that are not known to end anywhere."""
    rng = random.Random(7)
    return [0.0] * count, [rng.gauss(0, spread) for _ in range(count)]


@pytest.mark.parametrize("effect", [0.02, 0.05, 0.2, -0.05])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_as_statsmodels_solves_it(effect: float, power: float, confidence: float) -> None:
    before, after = normal_runs(100, 0.2)
    found = paired_difference(before, after, confidence=confidence)
    mean = sum(after) / 100
    spread = math.sqrt(sum((value - mean) ** 2 for value in after) / 99)
    oracle = TTestPower().solve_power(abs(effect) / spread, power=power, alpha=1 - confidence)
    needed = found.rows_needed(effect, power)
    assert needed == pytest.approx(max(math.ceil(oracle), 6), abs=1)


def test_passes_and_fails_as_truescore_plans_them() -> None:
    """50 gains and 50 losses in 500 pairs: a fifth of the pairs disagrees, and truescore takes that for what is to come.

    Here 0.05 of the others are taken to change too, which adds 0.05 * 0.8 to the variance of 0.2.
    """
    power = pytest.importorskip("truescore.power")
    found = paired_difference([0.0] * 50 + [1.0] * 450, [1.0] * 50 + [0.0] * 50 + [1.0] * 400, scale=UNIT)
    expected = power.required_pairs(0.05, discordance_rate=0.2)
    assert expected < found.rows_needed(0.05) == pytest.approx(expected * (0.2 + 0.05 * 0.8) / 0.2, rel=0.01)


def test_the_observed_difference_does_not_matter_where_all_rows_changed() -> None:
    before, after = normal_runs(100, 0.2)
    shifted = [value + 0.4 for value in after]
    assert paired_difference(before, after).rows_needed(0.03) == paired_difference(before, shifted).rows_needed(0.03)


def test_fewer_changes_than_the_difference_takes() -> None:
    """One pair of 200 changed, by 1, which is a difference of 0.005 and a variance of 0.005.

    For 0.03 others must change, 0.025 * 199 / 200 of them, and that is the variance they add, as they change by 1 and 1² / 1 = 1:
    (1.96 + 0.8416)² * 0.029875 / 0.0009 + 1.92 = 262.5. At a power of 0.8, six changes need a few more rows than that:
    (6 + 0.8416 * sqrt(6 * 0.97)) / 0.03 = 267.7. And 200 rows contain six if a share of 0.0401 changes: 6 + 0.8416 *
    sqrt(6 * 0.9599) = 8.02 = 200 * 0.0401; the first formula only needs 197 rows there.
    """
    found = paired_difference([1.0] * 200, [0.0] + [1.0] * 199, scale=UNIT)
    assert found.rows_needed(0.03) == 268
    assert found.smallest_change() == 0.0401


def test_six_changes_are_needed() -> None:
    """Of rows that all but one change by almost the same, two would do; of those that half change, fifteen are needed.

    Twelve would contain six changes on average, which is in half of all cases: 6 + 0.8416 * sqrt(6 * 0.5) = 0.5 * 14.9.
    """
    before = [0.5] * 20
    assert paired_difference(before, [0.7] * 10 + [0.71] * 10, scale=UNIT).rows_needed(0.2) == 6
    assert paired_difference(before, [0.8] * 5 + [0.81] * 5 + [0.5] * 10, scale=UNIT).rows_needed(0.15) == 15


def test_likeness_counts() -> None:
    """Every row twice, as clusters of two: twice as many rows as without clusters, but for the correction."""
    before, after = normal_runs(60, 0.2)
    alone = paired_difference(before, after).rows_needed(0.05)
    twice = paired_difference(before * 2, after * 2, list(range(60)) * 2).rows_needed(0.05)
    assert alone is not None
    assert twice == pytest.approx(2 * alone, abs=2)


def test_no_advice() -> None:
    before, after = normal_runs(100, 0.2)
    found = paired_difference(before, after)
    assert found.rows_needed(0.0001) is None, "above 100,000"
    assert found.rows_needed(0.0018) is not None
    assert paired_difference([0.5] * 9, [0.5] * 9, scale=UNIT).rows_needed(0.1) is None
    assert paired_difference([0.5] * 9, [0.7] * 9, scale=UNIT).rows_needed(0.1) is None
    assert paired_difference([0.5], [0.7], scale=UNIT).rows_needed(0.1) is None


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_smallest_change_needs_as_many_rows(power: float) -> None:
    for scale, count in ((None, 100), ((-5.0, 5.0), 40)):
        found = paired_difference(*normal_runs(count, 0.2), scale=scale)
        smallest = found.smallest_change(power)
        assert smallest is not None
        assert smallest == float(f"{smallest:.3g}")
        below, above = (found.rows_needed(smallest * share, power) for share in (0.99, 1.01))
        assert below is not None
        assert above is not None
        assert above <= count <= below


def test_no_smallest_change() -> None:
    assert paired_difference([0.5] * 9, [0.5] * 9, scale=UNIT).smallest_change() is None
    assert paired_difference([0.5] * 9, [0.7] * 9, scale=UNIT).smallest_change() is None
    assert paired_difference([0.5], [0.7], scale=UNIT).smallest_change() is None
    assert paired_difference([0.0, 1.0, 1.0], [1.0, 0.0, 0.0], scale=UNIT).smallest_change() is None, "six changes"
    with pytest.raises(InvalidInput) as caught:
        paired_difference(*normal_runs(10, 0.2)).smallest_change(1.0)
    assert str(caught.value) == "power must lie between 0 and 1, got 1.0: give 0.8 for 80 %"


@pytest.mark.parametrize(
    ("effect", "power", "message"),
    [
        (0.0, 0.8, "effect must be finite, not 0, got 0.0: give the least difference that matters"),
        (math.nan, 0.8, "effect must be finite, not 0, got nan: give the least difference that matters"),
        (0.1, 1.0, "power must lie between 0 and 1, got 1.0: give 0.8 for 80 %"),
    ],
)
def test_impossible_questions(effect: float, power: float, message: str) -> None:
    found = paired_difference(*normal_runs(10, 0.2))
    with pytest.raises(InvalidInput) as caught:
        found.rows_needed(effect, power)
    assert str(caught.value) == message
