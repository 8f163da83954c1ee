"""Rows that are missing, not asked or silent in the second run: none of them makes a verdict or a gate better than it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import Evaluation, Score
from ragmetrics_core.statistics import mean_interval

from .comparing import by_id, metric_column, not_asked, run_of

EXACT_MATCH = (metric_column("m", (0.0, 1.0), "ExactMatch()", higher_is_better=True, knows_better=True),)


def run(values: Sequence[Any], copies: int = 1, **fields: Sequence[Any]) -> Evaluation:
    """Rows q0, q1, ... of a metric whose high values are good, each so many times."""
    rows = [
        (
            {"id": f"q{n}", "question": f"question {n}", **{name: given[n] for name, given in fields.items()}},
            {"m": value},
        )
        for n, value in enumerate(values)
        if value is not ...
        for _ in range(copies)
    ]
    return run_of(rows, EXACT_MATCH)


def risen(values: Sequence[float]) -> list[Any]:
    """All of them better, by unequal amounts."""
    return [value + 0.05 + 0.01 * (n % 3) for n, value in enumerate(values)]


VALUES = [0.1 + 0.02 * n for n in range(40)]


class TestGatesOnTheMean:
    def test_rows_that_only_the_first_run_has_count_against_the_coverage(self) -> None:
        after = risen(VALUES)
        after[:12] = [...] * 12
        (result,) = run(after).gate("m >= 0.3", baseline=run(VALUES)).results
        assert result.verdict == "failed"
        assert result.unmet == (
            "28 of 40 rows have a score (0 unscored, 0 failed, 12 not there), less than min_coverage=0.9",
        )

    @pytest.mark.parametrize(("gate", "verdict"), [("m >= 0.4", "passed"), ("m >= 0.5", "undecided")])
    def test_green_must_hold_with_the_few_that_are_missing(self, gate: str, verdict: str) -> None:
        after = risen(VALUES)
        after[:4] = [...] * 4
        alone = run(after)
        assert alone.gate(gate).verdict == "passed"
        (result,) = alone.gate(gate, baseline=run(VALUES)).results
        assert (result.verdict, result.missing) == (verdict, "4 rows of the first run are not in the second")
        worst = mean_interval([0.0] * 4 + after[4:], scale=(0.0, 1.0))
        assert worst is not None
        assert (worst.low >= result.gate.limit) is (verdict == "passed")
        assert ("it still holds" in result.why) is (verdict == "passed")

    def test_a_slice_that_is_gone_fails(self) -> None:
        langs = ["de"] * 2 + ["en"] * 38
        before, after = run(VALUES, lang=langs), run([..., ..., *risen(VALUES)[2:]], lang=langs)
        found = {item.label: item for item in after.gate("m >= 0.3", by="lang", baseline=before).results}
        assert found["de"].verdict == "failed"
        assert found["de"].unmet == ("none of 2 rows has a score (0 unscored, 0 failed, 2 not there)",)
        assert found["en"].verdict == "passed"

    def test_repeats_of_a_row_are_no_further_rows(self) -> None:
        once, often = run(VALUES), run(VALUES, copies=10)
        (one,), (ten,) = (evaluation.gate("m >= 0.45").results for evaluation in (once, often))
        assert (one.verdict, ten.verdict) == ("undecided", "undecided")
        assert one.interval is not None
        assert ten.interval is not None
        assert ten.interval[:2] == pytest.approx(one.interval[:2], abs=1e-12)
        assert (ten.rows, ten.clusters, ten.repeated, one.clusters) == (400, 40, True, None)
        assert "from 400 rows (40 without repeats)" in ten.why

    def test_rows_of_one_id_with_other_questions_are_no_repeats(self) -> None:
        rows = [({"id": "x", "question": f"question {n}"}, {"m": value}) for n, value in enumerate(VALUES)]
        (result,) = run_of(rows).gate("m >= 0.3").results
        assert (result.clusters, result.repeated) == (None, False)


class TestVerdicts:
    def test_rows_that_the_second_run_did_not_ask_are_reported(self) -> None:
        after = [not_asked("m", (0.0, 1.0)) if n < 12 else value for n, value in enumerate(risen(VALUES))]
        item = run(VALUES).compare(run(after))["m"]
        assert (item.verdict, item.pairs) == ("better", 28)
        assert item.why.endswith(
            "; of 12 rows with a value in the first run the second did not ask this metric, and they are not in this"
        )

    def test_a_system_that_is_silent_in_most_repeats_of_hard_rows_does_not_win(self) -> None:
        rows = []
        for n, value in enumerate(risen(VALUES)):
            silent = [Score.unscored("the response is blank")] * 3 if n < 12 else [value] * 3
            rows += [({"id": f"q{n}", "question": f"question {n}"}, {"m": item}) for item in (value, *silent)]
        comparison = run(VALUES).compare(run_of(rows, EXACT_MATCH))
        item = comparison["m"]
        assert (item.verdict, item.short, item.pairs) == ("cannot say", 12, 40)
        # of 12 rows three of four repeats count as 0, the worst value
        mean = sum((0.25 if n < 12 else 1) * value for n, value in enumerate(risen(VALUES))) / 40
        assert "12 rows lost the value of some repeats; counted as the worst value, 0, they could turn it" in item.why
        assert f"the difference would be {mean - sum(VALUES) / 40:+.3f}" in item.why
        (gate,) = comparison.gate("m drop <= 0.01").results
        assert (gate.verdict, gate.missing) == ("undecided", "12 rows lost the value of some repeats")

    def test_repeats_that_are_lost_alike_in_both_runs_lose_nothing(self) -> None:
        def half(values: Sequence[float]) -> Evaluation:
            scores = [(n, item) for n, value in enumerate(values) for item in (value, Score.unscored("blank"))]
            return run_of([({"id": n, "question": f"question {n}"}, {"m": item}) for n, item in scores], EXACT_MATCH)

        item = half(VALUES).compare(half(risen(VALUES)))["m"]
        assert (item.verdict, item.short) == ("better", 0)


def test_without_a_worst_value_a_missing_row_leaves_a_gate_undecided() -> None:
    before = by_id(VALUES, columns=[metric_column("m", None, "Own()")])
    after = by_id(risen(VALUES)[:39], columns=[metric_column("m", None, "Own()")])
    (result,) = after.gate("m >= 0.3", baseline=before).results
    assert (result.verdict, result.doubt) == (
        "undecided",
        "1 row of the first run is not in the second, and no value is known to be the worst that they could count as",
    )
