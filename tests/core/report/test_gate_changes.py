"""Gates on a change between two runs, in either direction: equivalence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from core.report.comparing import FAILED, by_id, judged_by, metric_column
from ragmetrics_core import Evaluation, Gate, InvalidInput
from ragmetrics_core.statistics import paired_difference

SAME = [1.0, 0.0] * 100
WORSE = [0.0] * 40 + SAME[40:]
"""20 of 200 rows fewer: a drop of 0.1."""
BETTER = [1.0] * 40 + SAME[40:]
NEITHER = metric_column("m", (0.0, 1.0), "M()", higher_is_better=None)


def gated(before: Sequence[Any], after: Sequence[Any], *gates: str, columns: Any = ()) -> list[Any]:
    one, two = (
        by_id(values, name=name, settings=judged_by("m"), columns=columns)
        for values, name in ((before, "old"), (after, "new"))
    )
    return list(one.compare(two).gate(*gates).results)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("after", "limit", "verdict"),
        [
            (SAME, 0.03, "passed"),
            (WORSE, 0.2, "passed"),
            (BETTER, 0.2, "passed"),
            (WORSE, 0.1, "undecided"),
            (BETTER, 0.1, "undecided"),
            (WORSE, 0.03, "failed"),
            (BETTER, 0.03, "failed"),
        ],
    )
    def test_the_whole_interval_counts(self, after: list[float], limit: float, verdict: str) -> None:
        (result,) = gated(SAME, after, f"m change within {limit}")
        found = paired_difference(SAME, after, scale=(0.0, 1.0))
        assert (result.verdict, result.estimate) == (verdict, pytest.approx(found.difference))
        if after is not SAME:
            assert result.interval == found.interval
        assert result.name == f"m change within {limit:g}"

    def test_a_better_run_passes_a_drop_and_fails_a_change(self) -> None:
        results = gated(SAME, BETTER, "m drop <= 0.03", "m change within 0.03", "m drop <= -0.02")
        assert [result.verdict for result in results] == ["passed", "failed", "passed"]

    def test_it_needs_no_better_end(self) -> None:
        (result,) = gated(SAME, SAME, "m change within 0.1", columns=[NEITHER])
        assert result.verdict == "passed"

    def test_the_number_of_rows_that_would_decide_is_given(self) -> None:
        (result,) = gated(SAME, WORSE, "m change within 0.12")
        assert result.verdict == "undecided"
        assert result.rows_needed > 200
        assert "given a true change of -0.100 (as seen)" in result.why


class TestProtection:
    @pytest.mark.parametrize("limit", [0.05, 0.3])
    def test_lost_rows_count_as_either_end(self, limit: float) -> None:
        """Of 200 rows with 0 or 1, 10 are lost: the change may be 0.05 in both directions, and more with its interval."""
        before = [1.0] * 195 + [0.0] * 5
        (result,) = gated(before, [1.0] * 190 + [FAILED] * 10, f"m change within {limit}")
        assert "10 rows" in result.missing
        assert result.verdict == ("passed" if limit > 0.1 else "undecided")
        if limit < 0.1:
            assert "counted as any value of the scale, they could turn it" in result.why

    def test_few_rows_could_hide_losses_and_gains(self) -> None:
        noise = random.Random(1)
        before = [0.5 + noise.uniform(-0.01, 0.01) for _ in range(40)]
        after = [value + noise.uniform(-0.01, 0.01) for value in before]
        (result,) = gated(before, after, "m change within 0.03")
        assert result.verdict == "undecided"
        assert "too few to rule out rare large losses" in result.why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m change within -0.1", "a change is not negative: give a limit above 0"),
        ("m change <= 0.1", "'m change' is not among the metrics: m; write 'm change within 0.1'"),
        ("m change within 0", "no number of rows can prove that two means are equal: give a limit above 0"),
        ("m change within 2", "the scale of m is 0 to 1, so a change of 2 is impossible"),
    ],
)
def test_what_no_run_can_decide(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        gated(SAME, SAME, text)


def test_one_run_has_no_change() -> None:
    with pytest.raises(InvalidInput, match="a change needs two runs, and this is only one"):
        by_id(SAME, name="old").gate("m change within 0.03")


def test_text_and_gate_are_the_same() -> None:
    gate = Gate("m", "<=", 0.03, "change")
    assert Gate.parse(" m  change  within  0.03 ") == gate
    assert str(gate) == "m change within 0.03"


def test_the_evaluation_with_a_baseline(tmp_path: Any) -> None:
    before, after = (by_id(values, name="r", settings=judged_by("m")) for values in (SAME, WORSE))
    decision = after.gate("m change within 0.03", "m >= 0.1", baseline=before)
    assert [result.verdict for result in decision.results] == ["failed", "passed"]
    assert isinstance(after, Evaluation)
    assert "change within 0.03" in decision.to_markdown()


@pytest.mark.usefixtures("untraced")
@pytest.mark.slow
@pytest.mark.parametrize("rows", [60, 200])
def test_equivalence_is_seldom_false_where_the_change_is_the_margin(rows: int) -> None:
    rng, green, red = random.Random(3), 0, 0
    for _ in range(300):
        chances = [rng.random() for _ in range(rows)]
        before = [float(chance < 0.8) for chance in chances]
        after = [
            value if rng.random() > 0.2 else float(rng.random() < 0.3) for value in before
        ]  # 0.2 * (0.8 - 0.3) less
        (result,) = gated(before, after, "m change within 0.1")
        green += result.verdict == "passed"
        red += result.verdict == "failed"
    assert green / 300 <= 0.05 + 0.025
    assert red / 300 <= 0.05 + 0.025
