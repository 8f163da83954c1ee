"""What a comparison says of a metric, and why: each of the four verdicts, and each way not to get one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from core.report.comparing import FAILED, by_id, run_of
from ragmetrics_core import InvalidInput
from ragmetrics_core._compare._outcomes import Cell, MetricPairs, Part, RowCounts, outcomes_of
from ragmetrics_core._compare._verdicts import MetricTest, p_text, signed, verdict_of
from ragmetrics_core._store._run_settings import MetricColumn
from ragmetrics_core.statistics import Interval, PairedDifference

BETTER, WORSE, CANNOT_SAY = "better", "worse", "cannot say"
WITHIN = "no difference larger than the margin"


class Found(PairedDifference):
    """A difference that says at once how many rows show one of the margin."""

    needed: int | None = 89

    def rows_needed(self, effect: float, power: float = 0.8) -> int | None:
        assert (effect, power) == (0.03, 0.8)
        return self.needed


def found(low: float, high: float, p: float, needed: int | None = 89, **other: Any) -> PairedDifference:
    made = Found((low + high) / 2, Interval(low, high, "t"), p, "t", **{"pairs": 100, "changed": 30, **other})
    object.__setattr__(made, "needed", needed)
    return made


def case(low: float = 0.02, high: float = 0.08, p: float = 0.01, **other: Any) -> MetricTest:
    """By default a clear rise, of a metric whose high values are good."""
    difference = other.get("found", found(low, high, p))
    if difference is None or "refusal" in other:
        return MetricTest(pairs_of(**other), difference)
    after = 0.5 + (low + high) / 2
    scale = (other["worst"], 1.0) if "worst" in other else None
    cells = Counter({Cell(0.5, after): 100, Cell(0.5, None): other.get("lost", 0)})
    absent = other.get("absent", 0)
    cells[Cell(0.5, None, absent=True)] = absent
    if "moved" in other:
        last = (difference.clusters or 100) - 1
        cells = Counter(Cell(0.5, 0.5 + (n < other["moved"]), cluster=min(n, last)) for n in range(100))
    direction = {name: other[name] for name in ("higher_is_better", "knows_better") if name in other}
    part = Part("lang" if other.get("in_slice") else None, None, absent)
    outcomes = outcomes_of(+cells, (RowCounts(100), RowCounts(100)), {(scale, scale)}, ("one", "two"), 0)
    pairs = pairs_of(part=part, outcomes=outcomes, **direction)
    tests = {name: other[name] for name in ("tests", "with_lost", "p_with_lost") if name in other}
    return MetricTest(pairs, difference, p_adjusted=other.get("p_adjusted", p), **tests)


def pairs_of(**given: Any) -> MetricPairs:
    usual: dict[str, Any] = {
        "name": "m",
        "part": Part(None, None, 0),
        "outcomes": outcomes_of({}, (RowCounts(100), RowCounts(100)), set(), ("one", "two"), 0),
        "higher_is_better": True,
        "knows_better": True,
        "margin": 0.03,
    }
    return MetricPairs(**{**usual, **{name: value for name, value in given.items() if name not in NO_PAIRS}})


NO_PAIRS = ("found", "p_adjusted")


class TestBetterAndWorse:
    def test_better(self) -> None:
        assert verdict_of(case()) == (
            BETTER,
            "it goes from 0.500 to 0.550: +0.050, 95 % interval +0.020 to +0.080, p 0.010",
        )

    def test_worse(self) -> None:
        assert verdict_of(case(-0.08, -0.02, tests=3)) == (
            WORSE,
            "it goes from 0.500 to 0.450: -0.050, 95 % interval -0.080 to -0.020, adjusted p 0.010",
        )

    def test_where_low_values_are_good_a_rise_is_worse(self) -> None:
        assert verdict_of(case(higher_is_better=False)) == (
            WORSE,
            "it goes from 0.500 to 0.550: +0.050, 95 % interval +0.020 to +0.080, p 0.010; low values are better",
        )
        assert verdict_of(case(-0.08, -0.02, higher_is_better=False))[0] == BETTER

    @pytest.mark.parametrize(
        ("knows", "why"),
        [
            (True, "neither high nor low values are better"),
            (False, "which end of its scale is better is not known"),
        ],
    )
    def test_without_a_direction_neither(self, knows: bool, why: str) -> None:
        assert verdict_of(case(higher_is_better=None, knows_better=knows)) == (
            CANNOT_SAY,
            f"it goes from 0.500 to 0.550: +0.050, 95 % interval +0.020 to +0.080, p 0.010, but {why}",
        )
        assert verdict_of(case(0.001, 0.02, higher_is_better=None, knows_better=knows))[0] == WITHIN

    def test_at_the_limit_of_significance(self) -> None:
        assert verdict_of(case(p=0.05))[0] == BETTER
        assert verdict_of(case(p=0.0501))[0] == CANNOT_SAY

    def test_a_small_clear_difference_is_one(self) -> None:
        assert verdict_of(case(0.001, 0.02))[0] == BETTER


class TestWithinTheMargin:
    def test_the_interval_lies_within(self) -> None:
        assert verdict_of(case(-0.01, 0.03, p=0.3)) == (
            WITHIN,
            "the 95 % interval, -0.010 to +0.030, lies within 0.03 of 0",
        )

    def test_it_reaches_further(self) -> None:
        assert verdict_of(case(-0.01, 0.0301, p=0.3))[0] == CANNOT_SAY
        assert verdict_of(case(-0.0301, 0.01, p=0.3))[0] == CANNOT_SAY

    def test_although_test_and_interval_disagree(self) -> None:
        assert verdict_of(case(0.001, 0.02, p=0.04, p_adjusted=0.12, tests=3))[0] == WITHIN


class TestCannotSay:
    def test_of_a_slice_rows_are_rows_of_it(self) -> None:
        whole = case(-0.02, 0.08, p=0.2)
        assert verdict_of(case(-0.02, 0.08, p=0.2, in_slice=True))[1] == verdict_of(whole)[1].replace(
            " rows)", " rows of this slice)"
        )

    def test_too_few_rows(self) -> None:
        assert verdict_of(case(-0.02, 0.08, p=0.2)) == (
            CANNOT_SAY,
            (
                "the 95 % interval, -0.020 to +0.080, contains 0 and reaches further than 0.03 from it; there are enough rows to "
                "show a true difference of 0.03 (the margin) in 80 % of such runs (about 89 rows)"
            ),
        )

    @pytest.mark.parametrize(
        ("needed", "words"),
        [
            (
                437,
                (
                    "given a true difference of 0.03 (the margin), a new run of about 440 rows would show it in 80 % of cases "
                    "(fix the number before you look)"
                ),
            ),
            (None, "more than 100,000 rows would be needed to show a true difference of 0.03 (the margin)"),
        ],
    )
    def test_the_rows_that_would_show_the_margin(self, needed: int | None, words: str) -> None:
        difference = found(-0.02, 0.08, 0.2, needed)
        assert verdict_of(case(found=difference, p_adjusted=0.2))[1].endswith(f"; {words}")

    @pytest.mark.parametrize(
        ("moved", "changed", "words"),
        [
            (0, 0, ("none of 100 pairs changed: with fewer than 6, chance cannot be ruled out; how many rows would show "
            "a true difference of 0.03 (the margin) is not known, as pairs do not differ among each other")),
            (5, 5, ("only 5 of 100 pairs changed: with fewer than 6, chance cannot be ruled out; there are enough rows to show a "
            "true difference of 0.03 (the margin) in 80 % of such runs (about 89 rows)")),
        ],
    )  # fmt: skip
    def test_fewer_than_six_pairs_changed(self, moved: int, changed: int, words: str) -> None:
        difference = found(0.02, 0.08, 0.001, 89 if changed else None, changed=changed)
        assert verdict_of(case(found=difference, moved=moved)) == (CANNOT_SAY, words)
        assert verdict_of(case(found=found(0.02, 0.08, 0.001, changed=6), moved=6))[0] == BETTER

    def test_fewer_than_six_clusters_changed(self) -> None:
        difference = found(0.02, 0.08, 0.001, clusters=12)
        assert verdict_of(case(found=difference, moved=5))[1].startswith(
            "only 5 of 12 clusters changed: with fewer than 6, chance cannot be ruled out; "
        )
        assert verdict_of(case(found=difference, moved=0))[1].startswith(
            "none of 12 clusters changed: with fewer than 6, "
        )

    def test_clusters_are_asked_for_where_there_are_some(self) -> None:
        difference = found(-0.02, 0.08, 0.2, 437, clusters=20)
        assert verdict_of(case(found=difference, p_adjusted=0.2))[1].endswith(
            "; given a true difference of 0.03 (the margin), a new run of about 440 rows in 88 clusters would show it in 80 % of "
            "cases (fix the number before you look)"
        )

    def test_the_interval_says_yes_and_the_adjusted_test_no(self) -> None:
        assert verdict_of(case(p=0.03, p_adjusted=0.09, tests=3)) == (
            CANNOT_SAY,
            (
                "the 95 % interval, +0.020 to +0.080, is without 0, but the p-value, adjusted for 3 comparisons, is 0.090 "
                "(alone it is 0.030); there are enough rows to show a true difference of 0.03 (the margin) in 80 % of such runs "
                "(about 89 rows)"
            ),
        )

    def test_the_interval_says_yes_and_the_test_no(self) -> None:
        assert verdict_of(case(p=0.0625))[1].startswith(
            "the 95 % interval, +0.020 to +0.080, is without 0, but the p-value is 0.062; "
        )

    def test_the_test_says_yes_and_the_interval_no(self) -> None:
        assert verdict_of(case(-0.001, 0.08, p=0.04))[1].startswith(
            "the p-value is 0.040, but the 95 % interval, -0.001 to +0.080, holds 0; "
        )

    def test_no_pairs_no_interval_and_no_comparison(self) -> None:
        assert verdict_of(case(found=None)) == (CANNOT_SAY, "no row has a value in both runs")
        alone = PairedDifference(0.5, None, None, "none", 1, 1, problem="a single pair tells nothing")
        assert verdict_of(case(found=alone, p_adjusted=None)) == (CANNOT_SAY, "a single pair tells nothing")
        assert verdict_of(case(refusal="the judge differs")) == (CANNOT_SAY, "the judge differs")


class TestLostRows:
    """*Better* must hold if the rows that only the second run has lost are as bad as can be."""

    BASE = "it goes from 0.500 to 0.550: +0.050, 95 % interval +0.020 to +0.080, p 0.010"

    def test_it_holds(self) -> None:
        kept = case(lost=1, worst=0.0, with_lost=found(0.01, 0.07, 0.02), p_with_lost=0.02)
        assert verdict_of(kept) == (
            BETTER,
            f"{self.BASE}; 1 row lost the value that the first run gave; counted as the worst value, 0, it still holds",
        )

    @pytest.mark.parametrize(
        ("low", "high", "p"), [(-0.01, 0.05, 0.02), (0.01, 0.05, 0.06), (-0.09, -0.01, 0.01), (-0.03, 0.03, 0.9)]
    )
    def test_it_does_not(self, low: float, high: float, p: float) -> None:
        turned = case(lost=7, worst=0.0, with_lost=found(low, high, p), p_with_lost=p)
        assert verdict_of(turned) == (
            CANNOT_SAY,
            (
                f"{self.BASE}; but 7 rows lost the value that the first run gave; counted as the worst value, 0, they "
                f"could turn it: the difference would be {signed((low + high) / 2)}, 95 % interval {signed(low)} to "
                f"{signed(high)}, p {p_text(p)}"
            ),
        )

    def test_no_value_is_known_to_be_the_worst(self) -> None:
        assert verdict_of(case(lost=2)) == (
            CANNOT_SAY,
            (
                f"{self.BASE}; but 2 rows lost the value that the first run gave, and no value is known to be the worst, "
                "which could turn it"
            ),
        )

    def test_rows_that_the_second_run_lacks_are_reported(self) -> None:
        for absent, words in ((1, "1 row of the first run is"), (1200, "1,200 rows of the first run are")):
            assert verdict_of(case(absent=absent)) == (
                BETTER,
                f"{self.BASE}; {words} not in the second, and not in this",
            )

    def test_no_difference_tells_the_rows_that_it_knows_nothing_of(self) -> None:
        text = "the 95 % interval, -0.010 to +0.030, lies within 0.03 of 0"
        assert verdict_of(case(-0.01, 0.03, p=0.4, lost=1, absent=2)) == (
            WITHIN,
            (
                f"{text}; 2 rows of the first run are not in the second, and not in this; 1 row lost the value that the "
                "first run gave, and not in this"
            ),
        )

    def test_what_is_worse_stays_worse(self) -> None:
        assert verdict_of(case(-0.08, -0.02, lost=50, worst=0.0))[0] == WORSE


class TestRuns:
    """The same from runs."""

    SILENT = ([0.2] * 20 + [0.6] * 80, [None] * 20 + [0.7, 0.8] * 40)

    def test_a_system_that_stays_silent_on_hard_questions_does_not_win(self) -> None:
        before, after = self.SILENT
        silent = by_id(before).compare(by_id(after))["m"]
        assert silent.difference == pytest.approx(0.15)
        assert silent.verdict == BETTER, "80 rises of 0.15 outweigh 20 falls of 0.2"
        hard = by_id([0.9] * 20 + [0.6] * 80).compare(by_id(after))["m"]
        assert hard.verdict == CANNOT_SAY
        assert (
            "20 rows lost the value that the first run gave; counted as the worst value, 0, they could turn it"
            in hard.why
        )
        assert hard.rows_after.lost == tuple(f"q{n}" for n in range(20))
        failed = by_id([0.9] * 20 + [0.6] * 80).compare(by_id([FAILED] * 20 + [0.7, 0.8] * 40))["m"]
        assert (failed.verdict, failed.why) == (hard.verdict, hard.why)
        assert len(failed.rows_after.failed) == 20

    def test_the_worst_value_is_the_other_end_where_low_values_are_good(self) -> None:
        low = [MetricColumn("m", (0.0, 1.0), "M()", higher_is_better=False)]
        before = by_id([0.1] * 20 + [0.4] * 80, columns=low)
        item = before.compare(by_id([None] * 20 + [0.3, 0.2] * 40, columns=low))["m"]
        assert item.verdict == CANNOT_SAY
        assert "counted as the worst value, 1, they could turn it" in item.why

    def test_rows_that_the_first_run_has_lost_turn_nothing(self) -> None:
        item = by_id([None] * 20 + [0.6] * 80).compare(by_id([0.1] * 20 + [0.7, 0.8] * 40))["m"]
        assert item.verdict == BETTER
        assert "lost" not in item.why
        assert (item.rows_before.lost, item.pairs) == (tuple(f"q{n}" for n in range(20)), 80)

    def test_equal_runs(self) -> None:
        item = by_id([0.5, 1.0] * 20).compare(by_id([0.5, 1.0] * 20))["m"]
        assert (item.verdict, item.difference, item.changed) == (CANNOT_SAY, 0, 0)
        assert item.interval is not None
        assert item.interval.low < 0 < item.interval.high
        assert item.rows_needed is None

    @pytest.mark.parametrize("changed", [5, 6])
    def test_six_changed_pairs_are_the_least(self, changed: int) -> None:
        before, after = [0.2] * 40, [0.4 + n / 10 if n < changed else 0.2 for n in range(40)]
        item = by_id(before).compare(by_id(after))["m"]
        assert item.changed == changed
        assert item.why.startswith("only 5 of 40 pairs changed: ") is (changed == 5)

    def test_in_the_other_order_it_is_the_other_verdict(self) -> None:
        one, two = by_id([0.5, 0.6] * 20), by_id([0.8, 0.7] * 20)
        assert (one.compare(two)["m"].verdict, two.compare(one)["m"].verdict) == (BETTER, WORSE)

    def test_the_margin_is_a_share_of_the_width_of_the_scale(self) -> None:
        grades = [MetricColumn("m", (1.0, 5.0), "M()")]
        before, after = [3.0] * 40, [3.1, 2.9] * 20
        item = by_id(before, columns=grades).compare(by_id(after, columns=grades), margin=0.05)["m"]
        assert item.margin == pytest.approx(0.2)
        assert item.verdict == WITHIN
        assert (
            by_id(before, columns=grades).compare(by_id(after, columns=grades), margin=0.001)["m"].verdict == CANNOT_SAY
        )

    def test_the_margin_stands_as_it_is_where_the_scale_is_not_known(self) -> None:
        unknown = [MetricColumn("m", None, "M()")]
        item = by_id([30.0] * 40, columns=unknown).compare(by_id([31.0, 29.0] * 20, columns=unknown))["m"]
        assert (item.margin, item.scale) == (0.03, None)

    @pytest.mark.parametrize("margin", [0, -0.1, 1.5, float("nan"), True, "0.1", None])
    def test_an_impossible_margin(self, margin: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            by_id([0.5]).compare(by_id([0.5]), margin=margin)
        assert str(caught.value) == f"margin must be a share of a metric's scale, above 0 and at most 1, got {margin!r}"

    def test_all_failed(self) -> None:
        item = by_id([0.5] * 8).compare(by_id([FAILED] * 8))["m"]
        assert (item.verdict, item.why) == (CANNOT_SAY, "no row has a value in both runs")
        assert (item.before, item.after, item.difference, item.interval, item.p_value) == (None, None, None, None, None)
        assert (item.coverage_before, item.coverage_after) == (1.0, 0.0)

    def test_p_values_are_adjusted_over_metrics(self) -> None:
        names = [f"m{n}" for n in range(4)]
        before = run_of([({"id": n}, dict.fromkeys(names, 0.5)) for n in range(40)])
        moved = [0.9, 0.6, 0.45, 0.52]
        after = run_of([({"id": n}, {name: moved[(n + k) % 4] for k, name in enumerate(names)}) for n in range(40)])
        comparison = before.compare(after)
        p_values = [comparison[name].p_value for name in names]
        assert len(set(p_values)) == 1, "the same changes, in another order"
        assert [comparison[name].p_adjusted for name in names] == [min(1.0, 4 * p_values[0])] * 4  # type: ignore[operator]

    def test_with_slices_each_family_has_half_of_the_errors(self) -> None:
        rows = [({"id": n, "lang": "de" if n % 2 else "en"}, {"m": 0.5}) for n in range(40)]
        after = [(fields, {"m": (0.9, 0.6, 0.45, 0.52)[n // 2 % 4]}) for n, (fields, _) in enumerate(rows)]
        alone, sliced = run_of(rows).compare(run_of(after)), run_of(rows).compare(run_of(after), by="lang")
        assert alone["m"].p_adjusted == alone["m"].p_value == sliced["m"].p_value
        assert sliced["m"].p_adjusted == min(1.0, 2 * sliced["m"].p_value)  # type: ignore[operator]
        de, en = sliced["m", "de"], sliced["m", "en"]
        assert de.p_value == en.p_value
        assert de.p_adjusted == en.p_adjusted == min(1.0, 2 * 2 * de.p_value)  # type: ignore[operator]


def test_a_better_that_holds_counts_the_lost_rows_in_the_adjustment() -> None:
    """The p-value with the lost rows takes the place of the other one among all that are adjusted together."""
    clear = case(p=0.01, tests=2, lost=1, worst=0.0, with_lost=found(0.01, 0.07, 0.03), p_with_lost=0.06)
    assert verdict_of(clear)[0] == CANNOT_SAY


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.05, "0.050"), (1.0, "1.000")],
)
def test_p_values_in_words(value: float | None, text: str) -> None:
    assert p_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "+0.000"), (0.05, "+0.050"), (-0.0004, "-0.0004"), (0.00005, "+5e-05"), (-12.5, "-12.500")],
)
def test_differences_in_words(value: float, text: str) -> None:
    assert signed(value) == text
