"""Rows that hardly differ have a narrow interval and may still hide rare, large losses: then nothing is green."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from core.report.comparing import by_id, metric_column, rows_to_meet_losses, run_of
from core.statistics.comparison_simulation import two_runs
from core.statistics.populations import Pair

pytestmark = pytest.mark.slow

UNIT = (0.0, 1.0)
RUNS = 300
WITHIN = "no difference larger than the margin"


def compared(rows: list[Pair], limit: float) -> tuple[bool, bool]:
    """Whether a gate on the drop is green, and whether no difference larger than the margin of 0.03 is said to be there."""
    comparison = two_runs([rows], [UNIT])
    passed = comparison.gate(f"metric 0 drop <= {limit}").passed
    return passed, comparison["metric 0"].verdict == WITHIN


def green(row: Callable[[random.Random], Pair], rows: int, limit: float = 0.03) -> tuple[float, float]:
    """How often both happen."""
    rng = random.Random(f"rare losses {rows}")
    found = [compared([row(rng) for _ in range(rows)], limit) for _ in range(RUNS)]
    return sum(gate for gate, _ in found) / RUNS, sum(within for _, within in found) / RUNS


def on_unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def collapsing(share: float, left: float, jitter: float) -> Callable[[random.Random], Pair]:
    """Rows of 0.9, a share of which falls to what is left."""
    return lambda rng: (0.9, left if rng.random() < share else on_unit(0.9 + rng.gauss(0, jitter)))


def unchanged(spread: float) -> Callable[[random.Random], Pair]:
    return lambda rng: (0.8, on_unit(0.8 + rng.gauss(0, spread)))


def unequal(rng: random.Random) -> Pair:
    """One row in ten falls: by 1 in a fifth of these, else by 0.2; by 0.036 on average."""
    return 1.0, 1.0 if rng.random() >= 0.1 else 0.0 if rng.random() < 0.2 else 0.8


@pytest.mark.usefixtures("untraced")
class TestHowOften:
    """With 300 runs a share of 0.05 is right to 0.025."""

    @pytest.mark.parametrize("rows", [15, 30, 60, 100])
    @pytest.mark.parametrize(
        "row", [collapsing(0.05, 0.0, 0.001), collapsing(0.08, 0.4, 0.02)], ids=["5 % fall to 0", "8 % lose 0.5"]
    )
    def test_a_drop_that_few_rows_miss_is_not_green(self, row: Callable[[random.Random], Pair], rows: int) -> None:
        assert max(green(row, rows)) <= 0.05

    @pytest.mark.parametrize("rows", [100, 150, 200])
    def test_nor_one_of_which_a_few_were_met(self, rows: int) -> None:
        """One row in thirty falls to 0: the true drop is the limit."""
        assert max(green(collapsing(1 / 30, 0.0, 1e-6), rows)) <= 0.06

    @pytest.mark.parametrize("rows", [80, 100, 120])
    def test_nor_one_of_few_unequal_changes(self, rows: int) -> None:
        assert green(unequal, rows, 0.036)[0] <= 0.07

    @pytest.mark.parametrize("rows", [15, 30, 60])
    def test_nor_a_mean(self, rows: int) -> None:
        """One row in twenty is 0, the others 0.95: the true mean is 0.9025."""
        rng, passed = random.Random(rows), 0
        for _ in range(RUNS):
            values = [0.0 if rng.random() < 0.05 else on_unit(0.95 + rng.gauss(0, 0.005)) for _ in range(rows)]
            passed += by_id(values).gate("m >= 0.92").passed
        assert passed / RUNS <= 0.05

    @pytest.mark.parametrize(("spread", "rows"), [(0.05, 100), (0.05, 200), (0.1, 200)])
    def test_ordinary_pairs_without_a_change_stay_green(self, spread: float, rows: int) -> None:
        assert green(unchanged(spread), rows)[0] >= 0.97


class TestWords:
    """0.9 and 0.9 with a jitter of a millionth: for a limit 0.03 away it takes ln 0.05 / ln(1 - 0.03 / 0.9) = 89 rows."""

    @pytest.mark.parametrize(("rows", "verdict"), [(88, "undecided"), (89, "passed")])
    def test_a_gate_on_the_drop(self, rows: int, verdict: str) -> None:
        jittered = [0.9 + 1e-6 * (-1) ** row for row in range(rows)]
        comparison = by_id([0.9] * rows, name="old").compare(by_id(jittered, name="new"), allow_different_judges=True)
        (result,) = comparison.gate("m drop <= 0.03").results
        assert result.verdict == verdict
        said = "88 pairs are too few to rule out rare large losses: that takes 89"
        assert result.doubt == (said if verdict == "undecided" else "")

    def test_low_values_are_good(self) -> None:
        column = metric_column("m", UNIT, "M()", higher_is_better=False)
        jittered = [0.1 + 1e-6 * (-1) ** row for row in range(88)]
        runs = by_id([0.1] * 88, name="old", columns=[column]), by_id(jittered, name="new", columns=[column])
        (result,) = runs[0].compare(runs[1], allow_different_judges=True).gate("m drop <= 0.03").results
        assert result.doubt == "88 pairs are too few to rule out rare large losses: that takes 89"

    @pytest.mark.parametrize(("rows", "said"), [(94, "passed"), (93, "undecided")])
    def test_a_gate_on_the_mean(self, rows: int, said: str) -> None:
        """0.95 and a limit of 0.92: ln 0.05 / ln(1 - 0.03 / 0.95) = 93.4."""
        values = [0.95 + 1e-6 * (-1) ** row for row in range(rows)]
        (result,) = by_id(values).gate("m >= 0.92").results
        assert result.verdict == said
        assert result.doubt == (
            "" if said == "passed" else "93 rows are too few to rule out rare large losses: that takes 94"
        )

    def test_clusters_count_and_not_their_rows(self) -> None:
        values = [0.95 + 1e-6 * (-1) ** (row // 2) for row in range(100)]
        rows = [({"id": str(row), "pair": row // 2}, {"m": value}) for row, value in enumerate(values)]
        (result,) = run_of(rows).gate("m >= 0.92", cluster="pair").results
        assert result.doubt == "50 clusters are too few to rule out rare large losses: that takes 94"

    def test_clusters_of_pairs_count_and_not_their_rows(self) -> None:
        """1,400 pairs would be enough for sure, 50 clusters of them are not."""
        jittered = [0.9 + 1e-6 * (-1) ** (row // 28) for row in range(1400)]
        runs = [
            run_of([({"id": str(row), "part": row // 28}, {"m": value}) for row, value in enumerate(values)], name=name)
            for name, values in (("old", [0.9] * 1400), ("new", jittered))
        ]
        comparison = runs[0].compare(runs[1], cluster="part", allow_different_judges=True)
        few = "50 clusters are too few to rule out rare large losses: that takes 89"
        (result,) = comparison.gate("m drop <= 0.03").results
        assert (result.verdict, result.doubt) == ("undecided", few)
        assert comparison["m"].verdict == "cannot say"
        assert few in comparison["m"].why

    def test_no_difference_larger_than_the_margin(self) -> None:
        jittered = [0.9 + 1e-6 * (-1) ** row for row in range(30)]
        item = by_id([0.9] * 30, name="old").compare(by_id(jittered, name="new"))["m"]
        assert item.verdict == "cannot say"
        assert item.why == (
            "the 95 % interval, -4e-07 to +4e-07, lies within 0.03 of 0, but 30 pairs are too few to rule out rare large "
            "losses: that takes 89"
        )

    def test_without_a_scale_nothing_tells_what_a_row_may_lose(self) -> None:
        values = [0.95 + 1e-6 * (-1) ** row for row in range(10)]
        assert by_id(values, columns=[metric_column("m", None, "M()")]).gate("m >= 0.92").passed


@pytest.mark.parametrize(
    ("values", "sign", "limit", "worst", "rows"),
    [
        ([0.9] * 3, 1, 0.87, 0.0, 89),
        ([0.9] * 3, 1, 0.8, 0.0, 26),
        ([0.1] * 3, -1, 0.2, 1.0, 26),
        ([0.9] * 3, 1, 0.0, 0.0, 1),
        ([0.5] * 3, 1, -0.2, 0.0, 1),
        # two losses of 0.9 in 150 rows: p = 1 / 30, q = 2 / 150: 1.645² / 30 * 29 / 30 / 0.02² = 217.97
        ([0.9] * 148 + [0.0] * 2, 1, 0.87, 0.0, 218),
        ([0.1] * 148 + [1.0] * 2, -1, 0.13, 1.0, 218),
        ([0.9] * 149 + [0.0], 1, 0.87, 0.0, 123),
        ([0.1] * 3, 1, 0.0, 0.1, 1),
    ],
)
def test_rows_to_meet_losses(values: list[float], sign: int, limit: float, worst: float, rows: int) -> None:
    assert rows_to_meet_losses(values, sign, limit, worst) == rows
