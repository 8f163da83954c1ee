"""Tango's interval and the mid-p test of McNemar: published examples, other programs, and what they are by definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar

from ragmetrics_core.statistics import paired_difference

UNIT = (0.0, 1.0)
PAIRS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 60)).filter(lambda item: sum(item) > 1)


def runs(gained: int, lost: int, same: int) -> tuple[list[float], list[float]]:
    return [0.0] * gained + [1.0] * (lost + same), [1.0] * gained + [0.0] * lost + [1.0] * same


def tango_limits(gained: int, lost: int, pairs: int, confidence: float) -> tuple[float, float]:
    found = paired_difference(*runs(gained, lost, pairs - gained - lost), scale=UNIT, confidence=confidence).interval
    assert found is not None
    assert found.method == "tango"
    return found.low, found.high


def mcnemar_mid_p(gained: int, lost: int) -> float | None:
    return paired_difference(*runs(gained, lost, 2), scale=UNIT).p_value


class TestTango:
    @pytest.mark.parametrize(
        ("gained", "lost", "pairs", "low", "high"),
        [
            # Fagerland, Lydersen & Laake 2014, Statistics in Medicine 33:2850: airway hyper-responsiveness
            (1, 7, 21, -0.517, -0.026),
            # the same authors' Statistical Analysis of Contingency Tables 2017, chapter 8: complete response
            (6, 16, 161, -0.1240, -0.0054),
        ],
    )
    def test_published_examples(self, gained: int, lost: int, pairs: int, low: float, high: float) -> None:
        assert tango_limits(gained, lost, pairs, 0.95) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))

    @given(PAIRS, st.sampled_from([0.5, 0.8, 0.95, 0.99]))
    def test_the_limits_are_where_a_score_test_begins_to_reject(self, item: tuple[int, int, int], level: float) -> None:
        """The most likely rates with a given difference are searched for here, without the quadratic equation."""
        gained, lost, same = item
        pairs, z = sum(item), stats.norm.ppf((1 + level) / 2)
        observed = (gained - lost) / pairs
        for limit in tango_limits(gained, lost, pairs, level):
            assert -1 <= limit <= 1
            if abs(limit) > 1 - 1e-9:
                continue
            rate = most_likely_losses(gained, lost, same, limit)
            variance = (2 * rate + limit - limit**2) / pairs
            assert abs(observed - limit) / math.sqrt(variance) == pytest.approx(z, rel=1e-4)

    @given(PAIRS)
    def test_swapped_it_is_the_mirror_image(self, item: tuple[int, int, int]) -> None:
        low, high = tango_limits(item[0], item[1], sum(item), 0.95)
        assert tango_limits(item[1], item[0], sum(item), 0.95) == (pytest.approx(-high), pytest.approx(-low))

    @pytest.mark.parametrize("pairs", [2, 20, 1000])
    def test_nothing_changed(self, pairs: int) -> None:
        unseen = 1.959963984540054**2 / (pairs + 1.959963984540054**2)
        assert tango_limits(0, 0, pairs, 0.95) == (pytest.approx(-unseen), pytest.approx(unseen))

    def test_everything_changed(self) -> None:
        low, high = tango_limits(10, 0, 10, 0.95)
        assert (0 < low < 1, high) == (True, 1)
        assert tango_limits(0, 10, 10, 0.95) == (-1, pytest.approx(-low))

    def test_on_any_scale(self) -> None:
        before, after = runs(7, 2, 20)
        unit = paired_difference(before, after, scale=UNIT)
        graded = paired_difference([1 + 4 * x for x in before], [1 + 4 * x for x in after], scale=(1, 5))
        assert unit.interval is not None
        assert graded.interval is not None
        assert graded.interval == (
            pytest.approx(4 * unit.interval.low),
            pytest.approx(4 * unit.interval.high),
            "tango",
        )
        assert graded.p_value == unit.p_value


def most_likely_losses(gained: int, lost: int, same: int, difference: float) -> float:
    def unlikely(rate: float) -> float:
        shares = ((gained, rate + difference), (lost, rate), (same, 1 - 2 * rate - difference))
        return -sum(count * math.log(max(share, 1e-300)) for count, share in shares if count)

    least, most = max(0.0, -difference), (1 - difference) / 2
    found = optimize.minimize_scalar(unlikely, bounds=(least, most), method="bounded", options={"xatol": 1e-12})
    return min((least, most, found.x), key=unlikely)


class TestMcNemar:
    @pytest.mark.parametrize(
        ("gained", "lost", "p_value"),
        [(1, 7, 0.0390625), (6, 16, 0.034690)],  # Fagerland, Lydersen & Laake 2013, table 5, and as above
    )
    def test_published_examples(self, gained: int, lost: int, p_value: float) -> None:
        assert mcnemar_mid_p(gained, lost) == pytest.approx(p_value, abs=5e-7)

    @given(st.integers(0, 400), st.integers(0, 400))
    def test_half_of_what_was_observed_less_than_the_exact_test(self, gained: int, lost: int) -> None:
        assume(gained != lost)
        exact = mcnemar([[0, gained], [lost, 0]], exact=True).pvalue
        expected = exact - stats.binom.pmf(gained, gained + lost, 0.5)
        assert mcnemar_mid_p(gained, lost) == pytest.approx(expected, rel=1e-8)

    def test_as_truescore_does_it(self) -> None:
        truescore = pytest.importorskip("truescore.compare")
        before, after = runs(9, 3, 20)
        expected = truescore.mcnemar(after, before)
        found = paired_difference(before, after, scale=UNIT)
        assert (found.difference, found.p_value) == pytest.approx((expected.difference, expected.p_value))
        assert (found.pairs, found.changed) == (expected.n_pairs, expected.n_discordant)

    def test_no_evidence(self) -> None:
        assert mcnemar_mid_p(0, 0) == mcnemar_mid_p(5, 5) == 1

    def test_many_changes(self) -> None:
        """Of 10,000 changes 5,200 up: (200 - 1/4) / 50 standard errors or so from one half."""
        assert mcnemar_mid_p(5200, 4800) == pytest.approx(2 * stats.norm.sf(4), rel=1e-2)
