"""``plan``: how many rows show a change, how many labels correct a mean, and what they cost."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Priced, Rated, RatedTwice, questions
from core.report.comparing import by_id, judged_by, metric_column, run_of
from ragmetrics_core import Evaluation, InvalidInput, Plan, Score, evaluate, plan
from ragmetrics_core.statistics import corrected_mean, paired_difference

FACTOR = (1.959964 + 0.841621) ** 2
"""(z + z')² for 95 % confidence and 80 % power."""

PASSES = [1.0] * 80 + [0.0] * 20


def rows_for(share: float, size: float, change: float) -> int:
    """The rows that show a change by hand: a share of rows changes by ``size``, as many up as down; what the change needs beyond
    that falls on rows that did not change."""
    variance = share * size**2 + change * (1 - share) * size
    return math.ceil(FACTOR * variance / change**2 + 1.959964**2 / 2)


def run(values: list[Any], name: str = "a", **more: Any) -> Evaluation:
    return by_id(values, name=name, settings=judged_by("m"), **more)


def judgements(*values: float) -> Score:
    return Score(sum(values) / len(values), details={"repeats": [{"value": value} for value in values]})


class TestRows:
    def test_without_a_pilot(self) -> None:
        found = plan(change=0.05)
        assert [item.name for item in found.metrics] == ["passes", "grades", "shares"]
        assert {item.basis for item in found.metrics} == {"typical"}
        for name, least, most, size in (
            ("passes", 0.05, 0.4, 1),
            ("grades", 0.1, 0.7, 0.5),
            ("shares", 0.2, 0.75, 0.55),
        ):
            expected = rows_for(least, size, 0.05), rows_for(most, size, 0.05)
            assert found[name].rows == pytest.approx(expected, abs=1)
        assert found["passes"].rows == (309, 1353), "as the table in docs/comparing.md"
        assert (found["passes"].calls, found["passes"].dollars) == (None, None)

    def test_passes_of_one_pilot(self) -> None:
        """80 % pass: if every row were judged anew, 1 - 0.8² - 0.2² = 0.32 of them would change, so no more than that do."""
        (item,) = plan(run(PASSES)).metrics
        assert (item.name, item.basis) == ("m", "one pilot")
        assert item.rows == pytest.approx((rows_for(0.05, 1, 0.05), rows_for(0.32, 1, 0.05)), abs=1)

    def test_grades_of_one_pilot(self) -> None:
        """The values 0, 0.5, 1 of 0.5, 0.25, 0.25: mean 0.375, variance 0.171875, 0.625 of rows would change, so that the mean
        square of a change is 2 * 0.171875 / 0.625 = 0.55."""
        (item,) = plan(run([0.0] * 20 + [0.5] * 10 + [1.0] * 10)).metrics
        size = math.sqrt(0.55)
        assert item.rows == pytest.approx((rows_for(0.1, size, 0.05), rows_for(0.625, size, 0.05)), abs=1)

    def test_a_change_is_a_share_of_the_scale(self) -> None:
        column = metric_column("m", (1.0, 5.0), "M()")
        one = run([0.0] * 20 + [0.5] * 10 + [1.0] * 10)
        graded = by_id([1.0] * 20 + [3.0] * 10 + [5.0] * 10, columns=(column,))
        assert plan(graded)["m"].rows == plan(one)["m"].rows

    def test_rows_that_are_alike_count_for_less(self) -> None:
        """Each document has two rows with the same score: half of what they say is new."""
        rows = [({"id": f"q{n}", "document": f"d{n // 2}"}, {"m": PASSES[n]}) for n in range(100)]
        alone, alike = plan(run_of(rows))["m"], plan(run_of(rows), cluster="document")["m"]
        assert alike.rows == pytest.approx([2 * number for number in alone.rows if number], rel=0.02)
        repeated = [({"id": f"q{n // 2}", "question": f"{n // 2}"}, {"m": PASSES[n]}) for n in range(100)]
        assert plan(run_of(repeated))["m"].rows == alike.rows, "repeats are clusters"

    def test_two_pilots_give_what_their_comparison_gives(self) -> None:
        """The variance v of n changes has the relative error sqrt((m - v²) / n) / v, where m is the mean of their fourth powers; an
        80 % interval is 1.2816 of it to either side, on the logarithmic scale."""
        rng = random.Random(3)
        before = [rng.random() for _ in range(60)]
        after = [min(1.0, value + rng.choice([0, 0.1, -0.1])) for value in before]
        found = plan(run(before, "a"), run(after, "b"), change=0.02, power=0.9)
        needed = paired_difference(before, after, scale=(0, 1)).rows_needed(0.02, 0.9)
        changes = [new - old for old, new in zip(before, after, strict=True)]
        mean = sum(changes) / 60
        variance, fourth = (sum((change - mean) ** power for change in changes) / 60 for power in (2, 4))
        factor = math.exp(1.2816 * math.sqrt((fourth - variance**2) / 60) / variance)
        assert needed is not None
        assert (found["m"].basis, found["m"].pilot, found.pilots) == ("two pilots", 60, ("a", "b"))
        assert found["m"].rows == pytest.approx((needed / factor, needed * factor), abs=1.01)

    @pytest.mark.usefixtures("untraced")
    def test_the_range_of_two_pilots(self) -> None:
        """Of passes of which a tenth each change up and down, about four of five pilots have the true number in their range."""
        rng = random.Random(32)
        held = 0
        for _ in range(100):
            chances = [rng.random() for _ in range(50)]
            after = run([float(chance < 0.1 or chance > 0.2) for chance in chances], "b")
            low, high = plan(run([float(chance > 0.1) for chance in chances], "a"), after)["m"].rows
            held += low is not None and high is not None and low <= rows_for(0.2, 1, 0.05) <= high
        assert 65 <= held <= 95

    def test_rows_without_a_value_count(self) -> None:
        """A fifth of the rows gets no value, so as many more are needed."""
        all_scored, some = run(PASSES), run([*PASSES, *[None] * 25])
        assert plan(some)["m"].rows == pytest.approx(
            [1.25 * rows for rows in plan(all_scored)["m"].rows if rows], abs=1
        )
        other = [1.0 - value if n % 9 == 0 else value for n, value in enumerate(PASSES)]
        pairs = plan(run(PASSES, "a"), run(other, "b"))["m"]
        lacking = plan(run([*PASSES, *[None] * 25], "a"), run([*other, *[None] * 25], "b"))["m"]
        assert lacking.rows == pytest.approx([1.25 * rows for rows in pairs.rows if rows], abs=1)

    def test_clusters_of_two_pilots(self) -> None:
        """Rows that change alike in their cluster; clusters never need fewer rows than rows that are independent."""
        before = [({"id": f"q{n}", "doc": f"d{n // 4}"}, {"m": 1.0}) for n in range(80)]
        after = [({"id": f"q{n}", "doc": f"d{n // 4}"}, {"m": float(n // 4 % 4 > 0)}) for n in range(80)]
        one, two = run_of(before, settings=judged_by("m")), run_of(after, settings=judged_by("m"))
        alone, alike = plan(one, two, change=0.2)["m"], plan(one, two, change=0.2, cluster="doc")["m"]
        assert alone.rows[0] is not None
        assert alike.rows[0] is not None
        assert alike.rows[0] > 2 * alone.rows[0]
        assert alike.clusters == (math.ceil(alike.rows[0] / 4), math.ceil((alike.rows[1] or 0) / 4))
        assert alone.clusters is None
        mixed = [({"id": f"q{n}", "doc": f"d{n % 20}"}, {"m": float(n % 5 > 0)}) for n in range(80)]
        other = run_of(mixed, settings=judged_by("m"))
        assert plan(one, other, cluster="doc")["m"].rows >= plan(one, other)["m"].rows

    def test_more_than_can_be_advised(self) -> None:
        found = plan(change=0.001)
        assert found["passes"].rows == (None, None)
        least, most = plan(change=0.005)["passes"].rows
        assert (least, most) == (pytest.approx(rows_for(0.05, 1, 0.005), abs=3), None)
        assert re.search(r"passes +from 18,000 ", str(plan(change=0.005)))
        assert "-: more than 100,000 rows" in str(found)

    def test_a_range_is_in_order(self) -> None:
        for item in plan(change=0.9).metrics:
            least, most = item.rows
            assert least is not None
            assert most is not None
            assert least <= most

    @pytest.mark.parametrize(
        ("values", "scale", "problem"),
        [
            ([0.5] * 20, (0.0, 1.0), "rows of the pilot do not differ: give two runs of the same rows as pilots"),
            ([0.5, 1.0, 7.0, 1.0] * 5, None, "the scale is not known: give two runs of the same rows as pilots"),
            (
                [0.5, 1.0] * 9,
                (0.0, 1.0),
                "18 rows of the pilot have a value, too few to show how others differ: score at least 20",
            ),
        ],
    )
    def test_what_one_pilot_cannot_tell(self, values: list[float], scale: Any, problem: str) -> None:
        found = plan(by_id(values, columns=(metric_column("m", scale, "M()"),)))
        assert (found["m"].rows, found["m"].problem) == ((None, None), problem)
        assert f"m: {problem}" in " ".join(str(found).split())

    def test_too_few_clusters(self) -> None:
        rows = [({"id": f"q{n}", "doc": n % 4}, {"m": value}) for n, value in enumerate(PASSES)]
        problem = plan(run_of(rows), cluster="doc")["m"].problem
        assert problem == "4 clusters of the pilot, too few to show how others differ: at least 8"

    def test_a_tiny_scale(self) -> None:
        column = metric_column("m", (0.0, 1e-170), "M()")
        one, two = ([1e-170 * (n % k > 0) for n in range(40)] for k in (4, 5))
        pilots = [by_id(values, columns=(column,), settings=judged_by("m")) for values in (one, two)]
        assert pilots[0].compare(pilots[1])["m"].pairs == 40
        assert plan(pilots[0])["m"].problem.startswith("rows of the pilot do not differ")
        assert plan(*pilots)["m"].problem == "pairs of the pilots do not differ among each other"

    def test_pilots_that_changed_alike_or_may_not_be_compared(self) -> None:
        same = plan(run(PASSES, "a"), run(PASSES, "b"))["m"]
        assert (same.rows, same.problem) == ((None, None), "pairs of the pilots do not differ among each other")
        other = by_id(PASSES, name="b", settings=judged_by("m", settings={"k": "9"}))
        assert "a difference may come from that" in plan(run(PASSES, "a"), other)["m"].problem


class TestJudge:
    def test_of_one_pilot(self) -> None:
        """Judgements (1, 1), (1, 1), (0, 0), (0, 1): within rows the variance is 0.5 / 4 = 0.125. The means 1, 1, 0, 0.5 have the
        variance 0.171875, of which 0.125 / 2 is the judge's: 0.125 / 0.109375 = 8 / 7."""
        found = plan(run([judgements(1, 1), judgements(1, 1), judgements(0, 0), judgements(0, 1)] * 5))
        assert found["m"].judge_variance == pytest.approx(8 / 7)
        assert found["m"].a_row_costs == pytest.approx(7 / 4)
        text = " ".join(str(found).split())
        assert "judgements of the same row vary 1.1 times as much as rows" in text
        assert "pays if a row costs more than 1.8 judgements, else more rows do" in text

    def test_the_price_from_which_a_second_judgement_pays(self) -> None:
        """Rows in proportion to B + W / k, each at r + k judgements, with B = 1 and W = 8 / 7."""
        (item,) = plan(run([judgements(1, 1), judgements(1, 1), judgements(0, 0), judgements(0, 1)] * 5)).metrics
        assert item.a_row_costs is not None

        def cost(row: float, times: int) -> float:
            return (1 + 8 / 7 / times) * (row + times)

        for row in (item.a_row_costs * 0.9, item.a_row_costs * 1.1):
            assert (cost(row, 2) < cost(row, 1)) is (row > item.a_row_costs)

    def test_judgements_without_a_value_do_not_count(self) -> None:
        """Of three judgements one is lost: two are left, as in `test_of_one_pilot`."""
        rows = [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)] * 5
        lost = [
            Score(sum(pair) / 2, details={"repeats": [{"value": pair[0]}, {"value": None}, {"value": pair[1]}]})
            for pair in rows
        ]
        assert plan(run(lost))["m"].judge_variance == pytest.approx(8 / 7)

    def test_of_two_pilots_it_is_beside_the_changes(self) -> None:
        """Changes of 1, 0, 0, -1 have the variance 0.5; each run has within rows 0.5 / 4, so 0.25, of which half is in changes."""
        before = [judgements(0, 0), judgements(0, 1), judgements(1, 1), judgements(1, 1)]
        after = [judgements(1, 1), judgements(0, 1), judgements(1, 1), judgements(0, 0)]
        assert plan(run(before * 5, "a"), run(after * 5, "b"))["m"].judge_variance == pytest.approx(
            0.25 / (0.5 - 0.125)
        )

    def test_rows_that_differ_by_no_more_than_the_judge(self) -> None:
        """The means 0.5, 0.5, 2 / 3 have the variance 1 / 162; within rows it is (0.5 + 0.5 + 1 / 3) / 3 = 4 / 9, which would give
        means a larger variance: 1 % of what there is is left to rows."""
        found = plan(run([judgements(0, 1), judgements(0, 1), judgements(1, 0, 1)] * 7))
        assert found["m"].judge_variance == pytest.approx(4 / 9 / (0.01 / 162))

    def test_a_judge_that_never_differs(self) -> None:
        found = plan(run([judgements(1, 1), judgements(0, 0), judgements(1, 1)] * 7))
        assert (found["m"].judge_variance, found["m"].a_row_costs) == (0.0, None)
        assert "judge: judgements of the same row never differ, so repeats do not help (m)" in str(found)

    def test_rows_that_were_judged_once(self) -> None:
        found = plan(run(PASSES))
        assert found["m"].judge_variance is None
        assert "a pilot with two judgements of each row" in str(found)


class TestLabels:
    def test_without_labels(self) -> None:
        """(0.05 / 1.96)² = 0.00065077. Errors in 5 %: 0.05 * 0.95 within, 0.16 * 0.9² between rows that the judge tells apart, over
        the 309 or 1,353 rows; of 1,353: 0.0475 / (0.00065077 - 0.1296 / 1353) = 85.6."""
        (item, *_) = plan().metrics
        assert item.labels == (86, math.ceil(0.16 / (0.05**2 / 1.959964**2 - 0.16 * 0.36 / 1353)))

    def test_too_few_rows(self) -> None:
        assert plan(width=0.01)["passes"].labels == (None, None)

    def test_with_labels(self) -> None:
        evaluation = run(PASSES)
        calibration = evaluation.calibrate(
            [{"id": f"q{n}", "metric": "m", "label": PASSES[n] > 0.5 or n % 3 == 0} for n in range(0, 100, 2)]
        )
        found = plan(evaluation, calibration=calibration, width=0.12)
        corrected = calibration["m"].corrected
        assert corrected is not None
        needed = corrected.labels_needed(0.12, found["m"].rows[1])
        other = run([0.0, *PASSES[1:]])
        with pytest.raises(InvalidInput, match="calibration belongs to another run"):
            plan(other, calibration=calibration)
        assert needed is not None
        assert (found["m"].labels, found.calibrated) == ((needed, needed), True)
        assert "the judge errs" not in str(found)

    def test_a_metric_without_labels(self) -> None:
        evaluation = run_of(({"id": f"q{n}"}, {"m": value, "n": value}) for n, value in enumerate(PASSES))
        calibration = evaluation.calibrate([{"id": f"q{n}", "metric": "m", "label": n % 9 > 0} for n in range(70, 90)])
        found = plan(evaluation, calibration=calibration)
        assert found["m"].labels != (None, None)
        assert found["n"].labels == (None, None)

    def test_as_many_labels_as_there_are_for_the_width_that_there_is(self) -> None:
        judged, labels = population(random.Random(1), 400)
        found = corrected_mean(judged, [label if n < 60 else None for n, label in enumerate(labels)], scale=(0, 1))
        assert found.interval is not None
        width = found.interval.high - found.interval.low
        assert found.labels_needed(width * (1 + 1e-9)) == 60
        assert found.labels_needed(width / 20) is None
        for wrong in (0.0, -1.0, math.nan, math.inf):
            with pytest.raises(InvalidInput, match="width must be a number above 0"):
                found.labels_needed(wrong)
        with pytest.raises(InvalidInput, match="rows must be at least 1, got 0"):
            found.labels_needed(0.1, 0)

    @pytest.mark.usefixtures("untraced")
    def test_the_width_is_reached(self) -> None:
        rng = random.Random(32)
        widths = []
        for _ in range(30):
            judged, labels = population(rng, 1000)
            found = corrected_mean(judged, [label if n < 50 else None for n, label in enumerate(labels)], scale=(0, 1))
            needed = found.labels_needed(0.1)
            assert needed is not None
            judged, labels = population(rng, 1000)
            new = corrected_mean(
                judged, [label if n < needed else None for n, label in enumerate(labels)], scale=(0, 1)
            )
            assert new.interval is not None
            widths.append(new.interval.high - new.interval.low)
        assert 0.09 <= sum(widths) / len(widths) <= 0.115


def population(rng: random.Random, rows: int) -> tuple[list[float], list[float]]:
    """Judgements and labels: people pass 80 %, and the judge errs in 10 %."""
    labels = [float(rng.random() < 0.8) for _ in range(rows)]
    return [label if rng.random() < 0.9 else 1 - label for label in labels], labels


class TestCost:
    def test_calls_and_dollars_of_a_row(self) -> None:
        """A call sends 10,000 tokens and gets 1,000, at $0.15 and $0.60 per million."""
        pytest.importorskip("genai_prices")
        item = plan(evaluate(questions(20), Rated(), llm=Priced(), repeats=3))["rated"]
        assert (item.calls, item.dollars) == (3.0, pytest.approx(3 * 0.0021))

    def test_replies_that_were_kept_count_as_calls(self, tmp_path: Path) -> None:
        """The second metric asks nothing that the first has not asked, and a run in the same directory asks nothing at all."""
        pytest.importorskip("genai_prices")
        found = plan(evaluate(questions(20), [Rated(), RatedTwice()], llm=Priced(), run_dir=tmp_path))
        assert (found["rated"].calls, found["rated_twice"].calls) == (1.0, 2.0)
        assert found["rated_twice"].dollars == pytest.approx(2 * 0.0021)
        assert plan(tmp_path)["rated"].dollars == pytest.approx(0.0021)

    def test_a_model_without_a_price(self) -> None:
        item = plan(evaluate(questions(20), Rated(), llm=Priced("unheard-of")))["rated"]
        assert (item.calls, item.dollars) == (1.0, None)


class TestShown:
    def test_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "100")
        assert str(plan(change=0.03)).splitlines() == [
            "rows that show a change of 0.03 of the scale in 80 % of comparisons (without a pilot)",
            "",
            "metric          rows     labels",
            "passes  690 to 3,700  78 to 260",
            "grades  340 to 1,600  84 to 270",
            "shares  650 to 2,100  81 to 260",
            "",
            "assumed changes: passes: 5 % to 40 % of rows, by 1 of the scale; grades: 10 % to 70 % of rows, by",
            "      0.5 of the scale; shares: 20 % to 75 % of rows, by 0.55 of the scale; the change itself comes",
            "      on top",
            "",
            "labels: for an interval 0.1 of the scale wide of the mean that people would give over the most of",
            "      these rows; the judge errs in 5 % to 20 % of rows, and people pass 80 %",
            "",
            "price: `ragmetrics evaluate DATA --dry-run` shows the calls and dollars of a row",
        ]

    def test_data(self) -> None:
        found = plan(run(PASSES))
        data = json.loads(json.dumps(found.to_dict()))
        assert data["metrics"][0]["rows"] == list(found["m"].rows)
        assert data["pilots"] == ["a"]

    def test_names_are_escaped_in_markdown(self) -> None:
        rows = [({"id": f"q{n}"}, {"a|b": value}) for n, value in enumerate(PASSES)]
        assert "<code>a&#124;b</code>" in plan(run_of(rows)).to_markdown()


@pytest.mark.parametrize("name", ["change", "power", "width"])
@pytest.mark.parametrize("value", [0, 1, -0.1, math.nan, True, "a lot"])
def test_no_share(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan(**{name: value})
    assert str(caught.value) == f"{name} must be a share above 0 and below 1, got {value!r}"


def test_other_mistakes(tmp_path: Path) -> None:
    one = run(PASSES)
    with pytest.raises(InvalidInput, match=r"pilots must be at most two, got 3: give two runs of the same rows"):
        plan(one, one, one)
    with pytest.raises(InvalidInput, match="cluster='doc': without a pilot there are no clusters"):
        plan(cluster="doc")
    with pytest.raises(
        InvalidInput, match=r"calibration must be what run.calibrate\(labels\) returns, got 'labels.jsonl'"
    ):
        plan(one, calibration="labels.jsonl")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a pilot must be a run, its directory or a file of scores, got 3"):
        plan(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="so a plan would be biased"):
        plan(replace(one, left=3))
    with pytest.raises(InvalidInput, match=r"cluster='nope': no row has it"):
        plan(one, cluster="nope")
    with pytest.raises(KeyError, match="no metric 'n'; there are m"):
        plan(one)["n"]
    one.to_jsonl(tmp_path / "scores.jsonl")
    assert isinstance(plan(tmp_path / "scores.jsonl"), Plan)
