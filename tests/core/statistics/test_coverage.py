"""How often intervals, tests, plans, verdicts and gates hold, in fewer runs than `bench/coverage.py` has for the same.

Seeds are fixed. A bound lies two to three standard errors of the simulation outside the goal, and every kind of figure has a test
beside it that a wrong method, named there, does miss the bound.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev
from typing import Any, ClassVar

import pytest
from scipy import stats

from core.statistics import comparison_simulation, gate_simulation, looks_simulation, simulation
from core.statistics.comparison_simulation import Family
from core.statistics.populations import (
    CLUSTERS,
    Population,
    claim_fractions,
    drawn_falls,
    few_changes,
    grades,
    halved,
    pass_rates,
)
from ragmetrics_core.statistics import Interval, PairedDifference, holm, mean_interval, paired_difference

pytestmark = pytest.mark.slow

RUNS = 500

POPULATIONS = {
    "claim fractions fall": claim_fractions(0.114),
    "claim fractions, 70 % kept, fall": claim_fractions(0.114, 0.7),
    "pass rate 0.5": pass_rates(0.5, 0.5, correlation=0.0),
    "pass rate 0.95": pass_rates(0.95, 0.95, correlation=0.0),
    "pass rate falls from 0.9": pass_rates(0.9, 0.8, correlation=0.0),
    "grades": grades(),
    "grades mostly 5, fall": grades(0.3, 1.0),
    "few changes both ways": few_changes(drawn_falls("even"), falling=0.5),
    "few changes one way": few_changes(drawn_falls("even")),
    "few changes one way, beta(2, 2)": few_changes(drawn_falls("middling")),
    "few rows are halved": halved(),
    "one claim lost in few rows": few_changes(drawn_falls("claims")),
}
FEW_ONE_WAY = POPULATIONS["one claim lost in few rows"]


def students_t(before: Sequence[float], after: Sequence[float], **_: object) -> PairedDifference:
    """The plain paired t interval and test, whatever the rows share and however few changed."""
    changes = [new - old for old, new in zip(before, after, strict=True)]
    count, mean = len(changes), fmean(changes)
    error = stdev(changes) / math.sqrt(count)
    half = float(stats.t.ppf(0.975, count - 1)) * error
    p_value = float(2 * stats.t.sf(abs(mean) / error, count - 1)) if error else 1.0
    return PairedDifference(mean, Interval(mean - half, mean + half, "t"), p_value, "t", count, count)


def clear(each: Any, p_value: float | None) -> bool:
    """What a comparison would show if this were its adjusted p-value."""
    assert each.interval is not None
    return p_value is not None and p_value <= 0.05 and not each.interval.low <= 0 <= each.interval.high


@pytest.mark.usefixtures("untraced")
class TestDifferences:
    @pytest.mark.parametrize("name", POPULATIONS)
    def test_intervals_hold_with_20_rows(self, name: str) -> None:
        assert simulation.pairs(POPULATIONS[name], 20, RUNS).coverage >= 0.92

    @pytest.mark.parametrize("name", POPULATIONS)
    def test_intervals_hold_with_50_rows_and_are_no_wider_than_that_takes(self, name: str) -> None:
        coverage = simulation.pairs(POPULATIONS[name], 50, RUNS).coverage
        assert 0.93 <= coverage <= (1.0 if name.startswith("pass") else 0.995)

    @pytest.mark.parametrize("rows", [20, 50])
    def test_students_t_does_not_hold_where_few_rows_change_one_way(self, rows: int) -> None:
        plain = simulation.pairs(FEW_ONE_WAY, rows, RUNS, students_t).coverage
        assert plain < 0.92

    @pytest.mark.parametrize("name", ["claim fractions", "pass rate", "grades", "few changes"])
    def test_p_values_are_small_in_one_of_twenty_samples_without_a_difference(self, name: str) -> None:
        population = {
            "claim fractions": claim_fractions(),
            "pass rate": pass_rates(0.8, 0.8),
            "grades": grades(),
            "few changes": POPULATIONS["few changes both ways"],
        }[name]
        assert simulation.pairs(population, 20, RUNS).rejected <= 0.065
        assert simulation.pairs(population, 50, RUNS).rejected <= 0.065


@pytest.mark.usefixtures("untraced")
class TestClusters:
    @pytest.mark.parametrize("likeness", [0.1, 0.5])
    @pytest.mark.parametrize("number", [8, 15])
    @pytest.mark.parametrize("name", ["claim fractions fall", "pass rate falls from 0.9", "grades"])
    def test_intervals_hold(self, name: str, number: int, likeness: float) -> None:
        held = simulation.clustered_pairs(POPULATIONS[name], CLUSTERS[number], likeness, 400)
        assert held.coverage >= 0.92

    @pytest.mark.parametrize("number", [8, 15])
    @pytest.mark.parametrize(
        "population", [claim_fractions(), pass_rates(0.8, 0.8)], ids=["claim fractions", "pass rate"]
    )
    def test_p_values(self, population: Population, number: int) -> None:
        held = simulation.clustered_pairs(population, CLUSTERS[number], 0.5, 400)
        assert held.rejected <= 0.08

    def test_what_takes_rows_to_be_independent_does_not_hold(self) -> None:
        def of_rows(
            before: Sequence[float], after: Sequence[float], clusters: object, scale: object
        ) -> PairedDifference:
            return paired_difference(before, after, scale=scale)  # type: ignore[arg-type]

        held = simulation.clustered_pairs(claim_fractions(), CLUSTERS[15], 0.5, 400, of_rows)
        assert held.coverage < 0.85
        assert held.rejected > 0.15

    @pytest.mark.parametrize("number", [8, 15])
    @pytest.mark.parametrize(
        "population", [claim_fractions(), pass_rates(0.8, 0.8)], ids=["claim fractions", "pass rate"]
    )
    def test_single_means_hold(self, population: Population, number: int) -> None:
        assert simulation.clustered_means(population, CLUSTERS[number], 0.5, 400) >= 0.92

    def test_single_means_hold_where_those_that_fail_come_together(self) -> None:
        sizes = [2 + place % 9 for place in range(15)]
        assert simulation.clustered_means(pass_rates(0.95, 0.95), sizes, 0.3, 800) >= 0.93


@pytest.mark.usefixtures("untraced")
class TestRowsNeeded:
    CASES: ClassVar = {
        "claim fractions": claim_fractions(0.057),
        "claim fractions, 70 % kept": claim_fractions(0.114, 0.7),
        "pass rate": pass_rates(0.9, 0.8),
    }

    @pytest.mark.parametrize("name", CASES)
    def test_so_many_rows_show_the_difference_in_about_four_of_five_samples(self, name: str) -> None:
        population = self.CASES[name]
        plan = simulation.planned(population, population, 100, 300)
        assert plan.planned > 0.98
        assert 0.72 <= plan.power <= 0.88

    def test_half_as_many_do_not(self) -> None:
        population = claim_fractions(0.057)
        assert simulation.planned(population, population, 100, 300, share=0.5).power < 0.65


@pytest.mark.usefixtures("untraced")
class TestWholeComparisons:
    SAME = (claim_fractions(), pass_rates(0.8, 0.8), grades())

    def scene(self, metrics: int, slices: int) -> list[list[Population]]:
        return [[self.SAME[metric % 3]] * slices for metric in range(metrics)]

    @pytest.mark.parametrize(("metrics", "slices", "rows"), [(6, 1, 60), (2, 3, 90)])
    def test_a_false_verdict_is_rare(self, metrics: int, slices: int, rows: int) -> None:
        assert comparison_simulation.compared(self.scene(metrics, slices), rows, 0.3, 250).false <= 0.075

    def test_without_an_adjustment_it_is_not(self) -> None:
        def raw(metrics: Family, slices: Family) -> tuple[list[bool], list[bool]]:
            return [clear(each, each.p_value) for each in metrics], []

        assert comparison_simulation.compared(self.scene(6, 1), 60, 0.3, 250, raw).false > 0.12

    def test_two_families_at_the_full_level_each_are_too_many(self) -> None:
        """One metric in four slices: were both adjusted apart, 0.05 for the metric and 0.05 for the slices would add up."""
        apart = list[bool]()

        def both(metrics: Family, slices: Family) -> tuple[list[bool], list[bool]]:
            for_slices = holm([each.p_value for each in slices])
            apart.append(
                any(map(clear, metrics, [each.p_value for each in metrics])) or any(map(clear, slices, for_slices))
            )
            return comparison_simulation.by_verdict(metrics, slices)

        together = comparison_simulation.compared([[grades()] * 4], 80, 0.0, 700, both)
        assert together.false <= 0.065 < 0.075 <= fmean(apart)

    def test_what_did_change_is_found(self) -> None:
        scene = [[claim_fractions(0.228)], *self.scene(5, 1)]
        assert comparison_simulation.compared(scene, 60, 0.3, 100).metrics == pytest.approx(1, abs=0.05)


@pytest.mark.usefixtures("untraced")
class TestGates:
    @pytest.mark.parametrize("population", [pass_rates(0.95, 0.95), claim_fractions(shape=(2.8, 0.7))], ids=str)
    def test_eight_gates_at_their_limit_are_seldom_red(self, population: Population) -> None:
        found = gate_simulation.mean_gates(population, 8, 50, 250)
        assert found.red <= 0.06
        assert found.green <= 0.04
        assert found.alone > 0.12, "what the adjustment is for"

    def test_drops_at_their_limit(self) -> None:
        found = gate_simulation.drop_gates(pass_rates(0.8, 0.77), 8, 100, 150)
        assert found.red <= 0.06
        assert found.green <= 0.04
        assert found.alone > 0.1


def test_populations_are_what_they_are_said_to_be() -> None:
    """Means by hand: beta(5, 0.7) has the mean 5 / 5.7, of which 11.4 % are lost; a share of 0.1 falls by (0.05 + 0.6) / 2."""
    for population in POPULATIONS.values():
        assert math.fsum(population.chances.values()) == pytest.approx(1)
    assert claim_fractions().difference == pytest.approx(0, abs=1e-12)
    assert claim_fractions(0.114).difference == pytest.approx(-0.1)
    assert claim_fractions(0.114, 0.7).difference == pytest.approx(-0.03)
    assert claim_fractions().scores_after.difference == pytest.approx(5 / 5.7)
    assert pass_rates(0.8, 0.7).difference == pytest.approx(-0.1)
    assert few_changes(drawn_falls("even")).difference == pytest.approx(-0.0325)
    normal = NormalDist()
    expected = sum(normal.cdf(-cut) for cut in (-1.5, -1.0, -0.5, 0.0)) + 1
    assert grades().scores_after.difference == pytest.approx(expected, abs=2e-3)


@pytest.mark.usefixtures("untraced")
class TestLooks:
    """Runs that stop when their gates are decided; `bench/coverage.py --only looks,stops` has more of them."""

    @pytest.mark.parametrize(
        ("draw", "gate", "options"),
        [
            (looks_simulation.passes(0.8, 150), "m0 >= 0.8", {}),
            (looks_simulation.passes(0.8, 150), "m0 >= 0.8", {"slow": 2.0}),
            (looks_simulation.two_runs(0.05, 0.1, 100), "m0 drop <= 0.05", {}),
            (looks_simulation.in_clusters(0.8, 5, 0.3, 150), "m0 >= 0.8", {"cluster": "doc"}),
        ],
    )
    def test_neither_red_nor_green_is_false_more_often_than_allowed(
        self, draw: looks_simulation.Draw, gate: str, options: dict[str, Any]
    ) -> None:
        found = looks_simulation.looked(draw, [gate], 40, **options)
        assert found.red <= 0.05 + 2 * 0.035
        assert found.green <= 0.05 + 2 * 0.035

    def test_intervals_for_a_fixed_number_of_rows_would_be_red_more_often(self) -> None:
        rng, red = random.Random(1), 0
        for _ in range(40):
            values = [float(row["response"]) for row in looks_simulation.passes(0.8, 150)(rng)]
            looks = (mean_interval(values[:rows], scale=(0.0, 1.0)) for rows in range(5, 151))
            red += any(interval is not None and interval.high < 0.8 for interval in looks)
        assert red / 40 > 0.05 + 2 * 0.035

    @pytest.mark.parametrize(
        ("draw", "gate"),
        [
            (looks_simulation.passes(0.8, 500), "m0 >= 0.7"),
            (looks_simulation.claim_shares(500), "m0 >= 0.7"),
            (looks_simulation.two_runs(0.05, 0.1, 500), "m0 drop <= 0.15"),
        ],
    )
    def test_a_clear_run_pays_for_few_of_its_rows(self, draw: looks_simulation.Draw, gate: str) -> None:
        found = looks_simulation.looked(draw, [gate], 10)
        assert found.rows <= 0.6
        assert found.red == 0


@pytest.mark.usefixtures("untraced")
class TestSeveralRuns:
    @pytest.mark.parametrize("row", [comparison_simulation.pass_or_fail, comparison_simulation.shares_of_claims])
    def test_ten_runs_without_a_difference_are_not_distinguished(self, row: Any) -> None:
        assert comparison_simulation.any_alarm(row, versions=10, rows=60, metrics=1, runs=120) <= 0.05 + 2 * 0.02
