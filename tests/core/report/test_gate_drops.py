"""Gates on a drop: how much worse the second of two runs may be."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from core.report.comparing import FAILED, by_id, judged_by, metric_column, model_identity, run_of
from ragmetrics_core import Evaluation, Gate, InvalidInput, Score
from ragmetrics_core.statistics import Interval, paired_difference

Z2 = NormalDist().inv_cdf(0.975) ** 2

WHAT_DECIDES = (
    "given a true drop of 0.100 (as seen), a new run of about 2,100 rows would decide in 80 % of cases "
    "(fix the number before you look)"
)

LOW_IS_GOOD = metric_column("m", (0.0, 1.0), "M()", higher_is_better=False)
NEITHER = metric_column("m", (0.0, 1.0), "M()", higher_is_better=None)
STARS = metric_column("m", (1.0, 5.0), "M()")


def runs(before: Sequence[Any], after: Sequence[Any], column: Any = None, **more: Any) -> tuple[Evaluation, Evaluation]:
    columns = [] if column is None else [column]
    more.setdefault("settings", judged_by("m"))
    return by_id(before, name="old", columns=columns, **more), by_id(after, name="new", columns=columns, **more)


ROWS = 200
SAME = [1.0, 0.0] * (ROWS // 2)
WORSE = [0.0] * 40 + SAME[40:]
"""20 of 200 rows fewer: a drop of 0.1."""
BETTER = [1.0] * 40 + SAME[40:]


class TestDirection:
    @pytest.mark.parametrize(
        ("column", "after", "drop"),
        [(None, WORSE, 0.1), (None, BETTER, -0.1), (LOW_IS_GOOD, WORSE, -0.1), (LOW_IS_GOOD, BETTER, 0.1)],
    )
    def test_a_drop_is_how_much_worse_it_is(self, column: Any, after: list[float], drop: float) -> None:
        before, later = runs(SAME, after, column)
        (result,) = before.compare(later).gate("m drop <= 0.03").results
        found = paired_difference(SAME, after, scale=(0.0, 1.0)).interval
        assert found is not None
        low, high = (found.low, found.high) if column is LOW_IS_GOOD else (-found.high, -found.low)
        assert result.estimate == pytest.approx(drop)
        assert result.interval == Interval(low, high, found.method)
        assert result.verdict == ("failed" if drop > 0 else "passed")

    def test_it_is_on_the_scale_of_the_metric(self) -> None:
        before, after = runs([5.0] * 50, [4.0] * 25 + [5.0] * 25, STARS)
        (result,) = before.compare(after).gate("m drop <= 1.5").results
        assert (result.estimate, result.verdict) == (0.5, "passed")

    def test_without_a_better_end_there_is_none(self) -> None:
        before, after = runs(SAME, SAME, NEITHER)
        with pytest.raises(InvalidInput) as caught:
            before.compare(after).gate("m drop <= 0.03")
        assert str(caught.value) == (
            "gate 'm drop <= 0.03': it is unknown which end of m is better, so a drop is not defined: gate its mean"
        )

    def test_a_gain_can_be_asked_for(self) -> None:
        before, after = runs(SAME, BETTER)
        assert before.compare(after).gate("m drop <= -0.05").passed
        assert before.compare(after).gate("m drop <= -0.15").verdict == "failed"


class TestVerdicts:
    @pytest.mark.parametrize(("limit", "verdict"), [(0.03, "failed"), (0.1, "undecided"), (0.16, "passed")])
    def test_the_interval_decides(self, limit: float, verdict: str) -> None:
        """The interval of a drop of 0.1 goes from 0.066 to 0.149."""
        before, after = runs(SAME, WORSE)
        (result,) = before.compare(after).gate(f"m drop <= {limit}").results
        assert result.verdict == verdict

    def test_words(self) -> None:
        before, after = runs(SAME, WORSE)
        decision = before.compare(after).gate("m drop <= 0.03", "m drop <= 0.12")
        red, undecided = (result.why.split("; ") for result in decision.results)
        assert red == [
            "drop 0.100, 95 % interval 0.066 to 0.149, from 200 pairs",
            "0.062 to 0.158 when adjusted for the number of gates",
        ]
        assert undecided == [red[0], WHAT_DECIDES, "with 200 rows, a true drop of 0.049 passes in 80 % of cases"]

    def test_the_rows_that_would_decide(self) -> None:
        """At a drop of 0.12 with no gains, the variance of a change is 0.12 * 0.88: n = z² 0.12 * 0.88 / 0.02² = 1014.2.

        With 0.84 more for z there are 2072.1.
        """
        before, after = runs(SAME, WORSE)
        (result,) = before.compare(after).gate("m drop <= 0.12").results
        z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
        assert result.rows_needed == math.ceil(z**2 * 0.12 * 0.88 / 0.02**2)

    def test_slices(self) -> None:
        rows = [({"id": n, "question": f"{n}?", "lang": "de" if n < 100 else "en"}, n) for n in range(ROWS)]
        before, after = (
            run_of([(fields, {"m": values[n]}) for fields, n in rows], name=name, settings=judged_by("m"))
            for values, name in ((SAME, "old"), (WORSE, "new"))
        )
        decision = before.compare(after, by="lang").gate("m drop <= 0.05")
        assert [(result.name, result.verdict) for result in decision.results] == [
            ("m drop <= 0.05", "failed"),
            ("m drop <= 0.05, lang=de", "failed"),
            ("m drop <= 0.05, lang=en", "passed"),
        ]

    def test_clusters(self) -> None:
        rows = [({"id": n, "question": f"{n}?", "document": n // 40}, n) for n in range(ROWS)]
        before, after = (
            run_of([(fields, {"m": values[n]}) for fields, n in rows], name=name)
            for values, name in ((SAME, "old"), (WORSE, "new"))
        )
        (result,) = before.compare(after, cluster="document").gate("m drop <= 0.05").results
        assert (result.verdict, result.clusters) == ("undecided", 5)

    def test_a_single_cluster_says_nothing_of_others(self) -> None:
        rows = [({"id": f"q{n}", "document": "a"}, {"m": 1.0}) for n in range(10)]
        before, after = (run_of(rows, settings=judged_by("m"), name=name) for name in ("old", "new"))
        (result,) = before.compare(after, cluster="document").gate("m drop <= 0.05").results
        assert (result.verdict, result.interval) == ("undecided", None)


class TestFewChanges:
    def test_equal_runs_pass_with_enough_rows(self) -> None:
        """Of n rows, z² / (n + z²) may still change: 0.0299 at 125, 0.0301 at 124."""
        for count, verdict in ((124, "undecided"), (125, "passed")):
            before, after = runs([0.5] * count, [0.5] * count)
            (result,) = before.compare(after).gate("m drop <= 0.03").results
            unseen = Z2 / (count + Z2)
            assert (result.verdict, result.estimate) == (verdict, 0.0)
            assert result.interval is not None
            assert result.interval[:2] == (pytest.approx(-unseen), pytest.approx(unseen))
            assert (result.rows_needed is None) is (verdict == "passed")

    def test_five_changes_are_never_red(self) -> None:
        before, after = runs([1.0] * 8, [0.0] * 5 + [1.0] * 3)
        (result,) = before.compare(after).gate("m drop <= 0.001").results
        assert (result.verdict, result.doubt) in [
            ("undecided", ""),
            ("undecided", "only 5 of 8 pairs changed, and fewer than 6 show little"),
        ]
        before, after = runs([1.0] * 5, [0.0] * 5)
        (result,) = before.compare(after).gate("m drop <= 0.001").results
        assert result.verdict == "undecided"

    def test_few_small_changes_bound_no_large_ones(self) -> None:
        """Five rows fell by 0.01, but any of the others might fall by 1."""
        before, after = runs([0.5] * 60, [0.49] * 5 + [0.5] * 55)
        (result,) = before.compare(after).gate("m drop <= 0.03").results
        assert result.verdict == "undecided"
        assert result.interval is not None
        unseen = Z2 / (60 + Z2)
        assert result.interval.high >= unseen

    def test_without_a_scale_nothing_bounds_them(self) -> None:
        column = metric_column("m", None, "M()")
        before, after = runs([0.5] * 300, [0.49] * 5 + [0.5] * 295, column)
        (result,) = before.compare(after).gate("m drop <= 0.03").results
        assert (result.verdict, result.doubt) == (
            "undecided",
            "only 5 of 300 pairs changed, and fewer than 6 show little",
        )


class TestLostRows:
    def test_a_system_that_falls_silent_does_not_pass(self) -> None:
        before, after = runs([1.0] * 10 + SAME, [None] * 10 + SAME)
        (result,) = before.compare(after).gate("m drop <= 0.03").results
        assert (result.verdict, result.doubt, result.rows_needed) == (
            "undecided",
            "10 rows lost the value that the first run gave; counted as the worst value, they could turn it",
            None,
        )
        assert result.why.endswith("from 200 pairs; " + result.doubt)

    def test_it_passes_where_the_others_bear_it(self) -> None:
        before, after = runs([1.0] * 2 + SAME, [None] * 2 + SAME)
        (result,) = before.compare(after).gate("m drop <= 0.05").results
        assert (result.verdict, result.missing) == ("passed", "2 rows lost the value that the first run gave")
        assert result.why.endswith(f"from 200 pairs; {result.missing}; counted as the worst value, it still holds")

    def test_nor_does_one_whose_hard_rows_never_came_to_be_judged(self) -> None:
        """15 of 200 rows are not in the second run; as zeros they are a drop of 15 / 200 = 0.075."""
        before, after = runs(SAME + [1.0] * 15, SAME)
        easy, strict = before.compare(after).gate("m drop <= 0.2", "m drop <= 0.05").results
        missing = "15 rows of the first run are not in the second"
        assert (easy.verdict, easy.missing) == ("passed", missing)
        assert (strict.verdict, strict.doubt) == (
            "undecided",
            f"{missing}; counted as the worst value, they could turn it",
        )
        assert strict.why.endswith(f"from 200 pairs; {strict.doubt}")
        assert strict.to_dict()["missing"] == missing

    def test_rows_that_were_lost_and_rows_that_are_not_there_count_together(self) -> None:
        before, after = runs([1.0, *SAME, 1.0], [None, *SAME])
        comparison = before.compare(after)
        assert comparison["m"].absent == comparison.to_dict()["metrics"]["m"]["absent"] == 1
        (result,) = comparison.gate("m drop <= 0.05").results
        assert result.missing == (
            "1 row lost the value that the first run gave and 1 row of the first run is not in the second"
        )
        with_lost, _ = comparison["m"].lost_at_ends
        assert (len(with_lost), with_lost.after.changed) == (202, 100)

    def test_a_row_that_is_not_there_may_be_in_a_cluster_or_in_none(self) -> None:
        fields = [{"id": n, "question": f"{n}?", "document": n // 4 if n < 202 else None} for n in range(204)]
        before = run_of([(row, {"m": 1.0}) for row in fields], name="old")
        after = run_of([(row, {"m": 1.0}) for row in fields[:200]], name="new")
        item = before.compare(after, cluster="document")["m"]
        assert (item.clusters, item.absent) == (50, 4)
        with_lost, _ = item.lost_at_ends
        assert with_lost.clusters is not None
        assert with_lost.clusters.total() == 53  # rows 200 and 201 share one, 202 and 203 stand alone

    def test_without_a_worst_value_it_is_undecided(self) -> None:
        column = metric_column("m", None, "M()")
        values = [0.1, 0.2, 0.3, 0.4, 0.5] * 40
        later = [0.2, 0.1, 0.4, 0.3, 0.5] * 40
        before, after = runs([*values, 1.0], [*later, None], column)
        (result,) = before.compare(after).gate("m drop <= 0.05").results
        assert result.doubt == (
            "1 row lost the value that the first run gave, and no value is known to be the worst that they could count as"
        )


class TestConditions:
    def judged(self) -> tuple[Evaluation, Evaluation]:
        """Two runs whose judges differ."""
        scores = [Score(value, details={"prompts": {"verify": "1"}}) for value in SAME]
        other = model_identity("mini\x1b[2J", {"model": "2"})
        return (
            by_id(scores, name="old", settings=judged_by("m")),
            by_id(scores, name="new", settings=judged_by("m", llm=other)),
        )

    def test_judges_that_differ(self) -> None:
        before, after = self.judged()
        (result,) = before.compare(after).gate("m drop <= 0.3").results
        assert (result.verdict, result.estimate, result.interval) == ("failed", None, None)
        assert result.why == (
            "not credited to the system: the LLM is gpt-4o in old, mini\\x1b[2J in new: a difference may come from that"
        )

    def test_slices_by_an_outcome(self) -> None:
        """Rows that are chosen by what became of them do better or worse in any second run."""

        def run(good: int) -> Evaluation:
            scores = [Score(1.0, label="good") if n < good else Score(0.0, label="bad") for n in range(100)]
            return run_of(
                [({"id": n, "question": f"{n}?"}, {"m": score}) for n, score in enumerate(scores)],
                name=f"r{good}",
                settings=judged_by("m"),
            )

        whole, *slices = run(50).compare(run(45), by="m").gate("m drop <= 0.3").results
        assert (whole.verdict, [result.verdict for result in slices]) == ("passed", ["failed", "failed"])
        assert all("rows are chosen by a label that differs between the runs" in result.why for result in slices)

    def test_judges_that_may_differ(self) -> None:
        before, after = self.judged()
        (result,) = after.gate("m drop <= 0.3", baseline=before, allow_different_judges=True).results
        assert (result.verdict, result.warnings) == ("passed", ("the LLM is gpt-4o in old, mini\x1b[2J in new",))
        assert result.why == (
            "drop 0.000, 95 % interval -0.019 to 0.019, from 200 pairs; WARNING: who scored differs: the LLM is gpt-4o in old, "
            "mini\\x1b[2J in new"
        )
        assert result.to_dict()["warnings"] == list(result.warnings)

    def test_too_many_failures_in_either_run(self) -> None:
        before, after = runs(SAME, [FAILED] * 11 + SAME[11:])
        (result,) = before.compare(after).gate("m drop <= 0.3").results
        assert (result.verdict, result.unmet) == (
            "failed",
            ("11 of 200 rows of new failed, more than max_failed=0.05",),
        )
        (result,) = after.compare(before).gate("m drop <= 0.3").results
        assert (result.verdict, result.unmet) == (
            "failed",
            ("11 of 200 rows of new failed, more than max_failed=0.05",),
        )
        assert before.compare(after).gate("m drop <= 0.3", max_failed=0.1).passed

    def test_too_few_pairs(self) -> None:
        before, after = runs(SAME, SAME[:170])
        (result,) = before.compare(after).gate("m drop <= 0.3").results
        assert (result.verdict, result.unmet) == (
            "failed",
            ("170 of 200 rows of old have a value in both runs, less than min_coverage=0.9",),
        )
        assert before.compare(after).gate("m drop <= 0.3", min_coverage=0.85).passed

    def test_new_rows_do_not_count_against_it_but_their_silence_does(self) -> None:
        before, after = runs(SAME[:150], SAME)
        assert before.compare(after).gate("m drop <= 0.3").passed
        before, after = runs(SAME[:150], SAME[:150] + [None] * 50)
        (result,) = before.compare(after).gate("m drop <= 0.3").results
        assert result.unmet == ("150 of 200 rows of new have a score, less than min_coverage=0.9",)

    def test_a_run_that_ended_early(self) -> None:
        before, after = by_id(SAME, name="old"), by_id(SAME, name="new", stopped="the budget is used up")
        for comparison in (before.compare(after), after.compare(before)):
            (result,) = comparison.gate("m drop <= 0.05").results
            assert (result.verdict, result.unmet) == ("failed", ("new is not complete: the budget is used up",))

    def test_no_pair_with_a_value(self) -> None:
        before, after = runs([1.0, 1.0], [None, None])
        (result,) = before.compare(after).gate("m drop <= 0.05").results
        assert (result.verdict, result.estimate, result.why) == ("failed", None, "no row has a value in both runs")


class TestOfARun:
    def test_means_and_drops_are_one_family(self) -> None:
        before, after = runs(SAME, WORSE)
        together = after.gate("m >= 0.3", "m drop <= 0.03", baseline=before)
        assert [result.verdict for result in together.results] == ["passed", "failed"]
        alone = before.compare(after).gate("m drop <= 0.03")
        assert alone.results[0].adjusted == alone.results[0].interval
        assert together.results[1].adjusted != together.results[1].interval

    def test_a_baseline_by_its_path(self, tmp_path: Path) -> None:
        before, after = runs(SAME, WORSE)
        before.to_jsonl(tmp_path / "old.jsonl")
        path, allowed = tmp_path / "old.jsonl", {"allow_different_judges": True}
        assert after.gate("m drop <= 0.16", baseline=path, **allowed).passed
        assert after.gate(Gate("m", "<=", 0.16, "drop"), baseline=str(path), **allowed).passed

    def test_slices_and_clusters_go_with_it(self) -> None:
        rows = [
            ({"id": n, "question": f"{n}?", "lang": "de" if n < 100 else "en", "document": n // 4}, n)
            for n in range(ROWS)
        ]
        before, after = (run_of([(fields, {"m": values[n]}) for fields, n in rows]) for values in (SAME, WORSE))
        decision = after.gate("m >= 0.2", "m drop <= 0.3", by="lang", cluster="document", baseline=before)
        assert [(result.name, result.clusters) for result in decision.results] == [
            ("m >= 0.2", 50),
            ("m >= 0.2, lang=de", 25),
            ("m >= 0.2, lang=en", 25),
            ("m drop <= 0.3", 50),
            ("m drop <= 0.3, lang=de", 25),
            ("m drop <= 0.3, lang=en", 25),
        ]

    def test_a_baseline_with_no_rows_is_one(self) -> None:
        _, after = runs(SAME, WORSE)
        empty = by_id([], columns=[metric_column("m", (0.0, 1.0), "M()")], name="old")
        with pytest.raises(InvalidInput) as caught:
            after.gate("m >= 0.3", baseline=empty)
        assert str(caught.value) == "old has no finished row: there is nothing to compare"


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        (
            ("m >= 0.8",),
            "gate 'm >= 0.8': a comparison of runs is about drops, such as 'm drop <= 0.03': gate the mean of each run by itself",
        ),
        (("x drop <= 0.1",), "gate 'x drop <= 0.1': 'x' is not among the metrics: m"),
        (("m drop <= 1.1",), "gate 'm drop <= 1.1': the scale of m is 0 to 1, so a drop of 1.1 is impossible"),
        (("m drop <= -1",), "gate 'm drop <= -1': the scale of m is 0 to 1, so a drop of -1 is impossible"),
        ((), "there is no gate: name at least one, such as 'faithfulness drop <= 0.03'"),
    ],
)  # fmt: skip
def test_what_is_refused(gates: tuple[str, ...], message: str) -> None:
    before, after = runs(SAME, WORSE)
    with pytest.raises(InvalidInput) as caught:
        before.compare(after).gate(*gates)
    assert str(caught.value) == message


CHANGES = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0))


@pytest.mark.usefixtures("untraced")
@pytest.mark.slow
def test_eight_slices_that_dropped_by_just_so_much_are_seldom_red_by_chance() -> None:
    """A quarter of the rows changes, and three of five of these for the worse: a drop of 0.05, which the gate allows."""
    chance = random.Random(17)
    red = unadjusted = 0
    runs_made = 80
    for _ in range(runs_made):
        fields = [{"id": n, "question": f"{n}?", "lang": str(n % 8)} for n in range(8 * 60)]
        old, new = zip(*(chance.choices(CHANGES, (0.15, 0.1, 0.5, 0.25))[0] for _ in fields), strict=True)
        before, after = (run_of(zip(fields, ({"m": value} for value in values), strict=True)) for values in (old, new))
        slices = before.compare(after, by="lang").gate("m drop <= 0.05").results[1:]
        red += any(result.verdict == "failed" for result in slices)
        unadjusted += any(result.interval is not None and result.is_bad(result.interval) for result in slices)
    assert red <= 0.06 * runs_made
    assert unadjusted >= 0.1 * runs_made


class TestVoid:
    """Where it is not known that both runs measured the same thing, nothing is green, and nothing is red."""

    CURE = "score the first run again as the second one was, or allow different judges"

    @pytest.mark.parametrize("after", [SAME, [0.0] * ROWS, BETTER])
    def test_a_judge_that_is_not_known(self, after: list[float]) -> None:
        before, later = by_id(SAME, name="old"), by_id(after, name="new", settings=judged_by("m"))
        (result,) = later.gate("m drop <= 0.05", baseline=before).results
        problem = "only scores are known of old: whether the settings are the same is not known (m)"
        assert (result.verdict, result.void, result.rows_needed) == ("undecided", True, None)
        assert result.doubt == f"not decided, as {problem}: {self.CURE}"
        assert result.why.endswith(f", from 200 pairs; {result.doubt}")
        assert before.compare(later)["m"].void == problem
        (allowed,) = later.gate("m drop <= 0.05", baseline=before, allow_different_judges=True).results
        assert (allowed.verdict, allowed.void) == ("failed" if after == [0.0] * ROWS else "passed", False)

    def test_a_model_that_does_not_say_what_it_is(self) -> None:
        unknown = [model_identity("Own", {"unknown": str(number)}) for number in range(2)]
        score = Score(1.0, metric="m", scale=(0.0, 1.0), details={"prompts": {"rate": "1"}})
        before, after = (by_id([score] * ROWS, name="run", settings=judged_by("m", llm=llm)) for llm in unknown)
        (result,) = after.gate("m drop <= 0.05", baseline=before).results
        assert (result.verdict, result.void) == ("undecided", True)
        assert "the LLM, Own, has no attribute `identity`: whether it is the same is not known (m)" in result.doubt

    @pytest.mark.parametrize(
        ("field", "inputs", "void"),
        [
            ("reference", ("response", "reference"), True),
            ("reference", ("response", "ground_truth"), True),
            ("reference", ("response",), False),
            ("reference", None, True),
            ("reference_contexts", ("reference_contexts",), True),
            ("reference_contexts", ("reference",), False),
        ],
    )
    def test_references_that_changed(self, field: str, inputs: tuple[str, ...] | None, void: bool) -> None:
        column = metric_column("m", (0.0, 1.0), "M()", inputs=inputs)

        def run(text: str, name: str) -> Evaluation:
            rows = [({"id": n, "question": f"{n}?", field: ["a"] if n else [text]}, {"m": 1.0}) for n in range(ROWS)]
            if field == "reference":
                rows = [({**fields, field: fields[field][0]}, values) for fields, values in rows]
            return run_of(rows, [column], name, judged_by("m"))

        for text in ("a", "b"):
            (result,) = run(text, "new").gate("m drop <= 0.05", baseline=run("a", "old")).results
            assert result.void is (void and text == "b")
            assert result.verdict == ("undecided" if result.void else "passed")
        if void:
            assert result.doubt == f"not decided, as 1 pair with different references in the two runs: {self.CURE}"

    def test_a_condition_that_is_not_met_comes_first(self) -> None:
        before, after = by_id(SAME, name="old"), by_id([FAILED] * ROWS, name="new")
        (result,) = after.gate("m drop <= 0.05", baseline=before).results
        assert (result.verdict, result.void) == ("failed", False)

    def test_a_setting_that_a_later_version_has_added_is_no_other_judge(self) -> None:
        before, after = (
            by_id(SAME, settings=judged_by("m")),
            by_id(SAME, settings=judged_by("m", settings={"k": "3", "new": "1"})),
        )
        assert after.gate("m drop <= 0.05", baseline=before).passed
