"""Always-valid intervals: values by hand, properties, and how often they are wrong over all numbers of rows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import always_valid_interval, mean_interval

BETS = [((2 * place + 1) / 16) ** 2 for place in range(8)]
SCALE = (0.0, 1.0)
VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40)


def capital(values: list[float], mean: float) -> float:
    """What is left of 1, divided among eight bets that each value exceeds the mean."""
    return sum(math.prod(1 + bet * (value / mean - 1) for value in values) for bet in BETS) / len(BETS)


class TestBetting:
    def test_one_pass(self) -> None:
        # with one value 1, the capital against m is 1 + c (1 / m - 1) with c the mean of the bets, (1 + 9 + ... + 225) / 8 / 256
        bet = 680 / 8 / 256
        found = always_valid_interval([1.0], scale=SCALE)
        assert found is not None
        assert found.low == pytest.approx(1 / (1 + 39 / bet))  # where the capital is 40
        assert found[1:] == (1.0, "betting")

    def test_equal_passes_leave_room_below(self) -> None:
        low, high, _ = always_valid_interval([True] * 50) or (0, 0, 0)
        assert capital([1.0] * 50, low) == pytest.approx(40)
        assert high == 1.0

    @given(VALUES)
    def test_the_ends_are_where_the_capital_reaches_forty(self, values: list[float]) -> None:
        low, high, method = always_valid_interval(values, scale=SCALE) or (0, 0, "")
        assert method == "betting"
        assert low <= sum(values) / len(values) <= high
        if low > 1e-9:
            assert capital(values, low) == pytest.approx(40, rel=1e-6)
        if high < 1 - 1e-9:
            assert capital([1 - value for value in values], 1 - high) == pytest.approx(40, rel=1e-6)

    @given(VALUES, st.sampled_from([(0.0, 1.0), (1.0, 5.0), (-2.0, 0.0)]), st.randoms())
    def test_neither_order_nor_scale_matters(
        self, values: list[float], scale: tuple[float, float], rng: random.Random
    ) -> None:
        shuffled = rng.sample(values, len(values))
        plain = always_valid_interval(values, scale=SCALE)
        low, width = scale[0], scale[1] - scale[0]
        moved = always_valid_interval([low + width * value for value in shuffled], scale=scale)
        assert plain is not None
        assert moved is not None
        assert [(end - low) / width for end in moved[:2]] == pytest.approx(plain[:2], abs=1e-9)

    @given(VALUES)
    def test_clusters_of_one_row_are_rows_and_a_higher_confidence_is_wider(self, values: list[float]) -> None:
        plain = always_valid_interval(values, scale=SCALE)
        assert always_valid_interval(values, range(len(values)), SCALE) == plain
        wide = always_valid_interval(values, scale=SCALE, confidence=0.99)
        assert plain is not None
        assert wide is not None
        assert wide.low <= plain.low
        assert plain.high <= wide.high

    def test_alike_rows_count_as_their_cluster(self) -> None:
        once = [1.0, 0.0, 1.0, 1.0] * 10
        twice = [value for value in once for _ in range(2)]
        clusters = [place // 2 for place in range(80)]
        assert always_valid_interval(twice, clusters, SCALE) == always_valid_interval(once, scale=SCALE)

    @given(VALUES, st.integers(1, 4))
    def test_rows_in_hidden_clusters_count_as_if_all_were_alike(self, values: list[float], size: int) -> None:
        hidden = always_valid_interval(values * size, scale=SCALE, largest=size, hidden=True)
        known = always_valid_interval(values, scale=SCALE)
        assert hidden is not None
        assert known is not None
        assert hidden[:2] == pytest.approx(known[:2], abs=1e-9)

    @given(VALUES, st.randoms())
    def test_however_rows_are_in_hidden_clusters_the_interval_is_no_narrower(
        self, values: list[float], rng: random.Random
    ) -> None:
        clusters = [rng.randrange(len(values)) for _ in values]
        largest = max(map(clusters.count, clusters))
        hidden = always_valid_interval(values, scale=SCALE, largest=largest, hidden=True)
        known = always_valid_interval(values, clusters, SCALE)
        assert hidden is not None
        assert known is not None
        assert hidden.low <= known.low + 1e-9
        assert hidden.high >= known.high - 1e-9

    def test_the_largest_cluster_that_may_come_lowers_the_lower_end(self) -> None:
        values = [1.0, 0.0, 1.0, 1.0] * 10
        near, far = (always_valid_interval(values, range(40), SCALE, largest=rows) for rows in (1, 4))
        assert near is not None
        assert far is not None
        assert far.low < near.low


class TestAsymptotic:
    def test_hidden_clusters_of_two_need_twice_the_rows(self) -> None:
        rows = [0.0, 1.0] * 49
        assert always_valid_interval(rows, largest=2, hidden=True) is None
        wide, plain = (always_valid_interval(rows * 2, largest=2, hidden=hidden) for hidden in (True, False))
        once = always_valid_interval(rows)
        assert wide is not None
        assert plain is not None
        assert once is not None
        assert wide.high - 0.5 == pytest.approx(once.high - 0.5, rel=0.01)
        assert wide.high > plain.high

    def test_the_formula(self) -> None:
        values = [0.0, 3.0] * 50
        tightness = (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 100
        growth = 100 * tightness + 1
        spread = math.sqrt(2.25 * 100 / 99)
        half = spread * math.sqrt(2 * growth / (100 * tightness) * math.log(math.sqrt(growth) / 0.05) / 100)
        found = always_valid_interval(values)
        assert found is not None
        assert found.method == "asymptotic"
        assert found[:2] == pytest.approx((1.5 - half, 1.5 + half))

    @pytest.mark.parametrize("values", [[0.0, 3.0] * 24, [2.0] * 80])
    def test_too_few_rows_and_equal_values_have_none(self, values: list[float]) -> None:
        assert always_valid_interval(values) is None


def test_no_value_and_a_scale_of_one_point_have_none() -> None:
    assert always_valid_interval([], scale=SCALE) is None
    assert always_valid_interval([1.0, 1.0], scale=(1.0, 1.0)) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [2.0], "scale": SCALE}, "values\\[0\\] is 2.0, which is not on the scale"),
        ({"values": [1.0], "scale": SCALE, "confidence": 1}, "confidence must lie between"),
        ({"values": [1.0], "scale": (1.0, 0.0)}, "scale must be two finite numbers"),
        ({"values": [1.0], "clusters": []}, "clusters has 0 entries for 1 rows"),
    ],
)
def test_impossible_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        always_valid_interval(**arguments)  # type: ignore[arg-type]


def ever_wrong(draw: Callable[[random.Random], float], truth: float, scale: tuple[float, float] | None) -> float:
    """In how many of 200 samples the interval misses the truth at any of the looks up to 200 rows."""
    rng, wrong = random.Random(5), 0
    looks = [*range(1, 20), *range(20, 201, 12)]
    for _ in range(200):
        values = [draw(rng) for _ in range(200)]
        found = (always_valid_interval(values[:look], scale=scale) for look in looks)
        wrong += any(each is not None and not each.low <= truth <= each.high for each in found)
    return wrong / 200


@pytest.mark.usefixtures("untraced")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "truth", "scale"),
    [
        (lambda rng: float(rng.random() < 0.8), 0.8, SCALE),
        (lambda rng: float(rng.random() < 0.98), 0.98, SCALE),
        (lambda rng: rng.betavariate(4.9, 0.1), 0.98, SCALE),
        (lambda rng: rng.choice([0, 0.5, 1.0]), 0.5, SCALE),
        (lambda rng: rng.gauss(2, 3), 2.0, None),
    ],
)
def test_it_is_seldom_wrong_at_any_number_of_rows(
    draw: Callable[[random.Random], float], truth: float, scale: tuple[float, float] | None
) -> None:
    assert ever_wrong(draw, truth, scale) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_the_interval_for_a_fixed_number_is_often_wrong_at_some_number_of_rows() -> None:
    rng, wrong = random.Random(5), 0
    for _ in range(100):
        values = [float(rng.random() < 0.8) for _ in range(200)]
        found = (mean_interval(values[:look], scale=SCALE) for look in range(5, 201, 3))
        wrong += any(each is not None and not each.low <= 0.8 <= each.high for each in found)
    assert wrong / 100 > 0.2
