"""``compare_runs``: three or more runs on the rows that all of them have, the best of them, and their gates."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.report.comparing import by_id, judged_by, metric_column, run_of, text_at
from ragmetrics_core import Comparisons, Evaluation, InvalidInput, compare_runs, join_runs
from ragmetrics_core.statistics import holm

A = [1.0] * 60 + [0.0] * 40
B = [1.0] * 90 + [0.0] * 10
C = [1.0] * 88 + [0.0] * 12


def run(values: Sequence[Any], name: str, **more: Any) -> Evaluation:
    """A run that a known judge scored."""
    return by_id(values, name=name, settings=judged_by("m"), **more)


@pytest.fixture
def three() -> Comparisons:
    return compare_runs([run(A, "a"), run(B, "b"), run(C, "c")])


class TestNumbers:
    def test_p_values_are_adjusted_for_all_pairs(self) -> None:
        runs = {"a": run(A, "a"), "b": run([1.0] * 70 + [0.0] * 30, "b"), "c": run([0.0] * 8 + [1.0] * 92, "c")}
        found = compare_runs(runs.values(), all_pairs=True)
        pairs = [("a", "b"), ("a", "c"), ("b", "c")]
        alone = [runs[one].compare(runs[two])["m"].p_value for one, two in pairs]
        assert [(pair.before, pair.after) for pair in found.pairs] == pairs
        assert [pair["m"].p_value for pair in found.pairs] == alone
        assert [pair["m"].p_adjusted for pair in found.pairs] == holm(alone)
        assert found.tests == 3
        from_a = compare_runs(runs.values())
        assert [pair["m"].p_adjusted for pair in from_a.pairs] == holm(alone)[:2]

    def test_metrics_and_slices_are_two_families_over_all_pairs(self) -> None:
        rng = random.Random(5)
        runs = [
            run_of(
                (
                    {"id": f"q{row}", "question": f"{row}", "lang": "de" if row % 2 else "en"},
                    {"m": rng.random(), "n": float(rng.random() < 0.4 + 0.2 * at)},
                )
                for row in range(60)
            )
            for at in range(3)
        ]
        found = compare_runs(runs, by="lang", all_pairs=True)
        metrics = [item for pair in found.pairs for item in pair.metrics]
        slices = [item for pair in found.pairs for item in pair.slices]
        assert (len(metrics), len(slices)) == (6, 12)
        for family in (metrics, slices):
            wanted = [min(1.0, 2 * p) for p in holm([item.p_value for item in family])]
            assert [item.p_adjusted for item in family] == wanted
        from_first = compare_runs(runs, by="lang")
        assert [len(pair.slices) for pair in from_first.pairs] == [4, 4]
        assert "adjusted p: Holm's, over 6 differences of metrics between any two runs, and doubled" in " ".join(
            text_at(200, from_first).split()
        )

    def test_two_runs_are_compared_as_by_compare(self) -> None:
        one, two = run(A, "a"), run(B, "b")
        (pair,) = compare_runs([one, two]).pairs
        assert pair.to_dict() == one.compare(two).to_dict()

    def test_means_and_differences_are_of_the_rows_that_all_runs_have(self) -> None:
        runs = [run([1, 0, 1, 1, 0, 1, 1, 0], "a"), run([1, 1, 1, 1, 1, 1], "b"), run([0, 0, 0, 0, 1, 1, 0], "c")]
        found = compare_runs(runs)
        assert (found.rows, found.left_out) == (6, (2, 0, 1))
        assert found.best[0].means == {"a": 4 / 6, "b": 1.0, "c": 2 / 6}
        first, second = (pair["m"] for pair in found.pairs)
        assert (first.pairs, first.before, first.after) == (6, pytest.approx(4 / 6), 1.0)
        assert (second.pairs, second.after) == (6, pytest.approx(2 / 6))
        assert "left out of a: 2 rows that not all runs have" in str(found)
        assert "left out of c: 1 row that not all runs have" in str(found)
        assert len(found.evaluations[0]) == 8

    def test_repeats_of_a_row_stay_together(self) -> None:
        def repeated(values: Sequence[float], name: str) -> Evaluation:
            rows = (({"id": f"q{at // 2}", "question": f"{at // 2}"}, {"m": value}) for at, value in enumerate(values))
            return run_of(rows, name=name)

        found = compare_runs(
            [repeated([1, 0, 1, 1, 0, 0], "a"), repeated([1, 1, 0, 0], "b"), repeated([0, 0, 1, 0], "c")]
        )
        assert (found.rows, found.left_out) == (2, (1, 0, 0))
        assert found.pairs[1]["m"].before == 0.75
        assert found.pairs[1]["m"].after == 0.25

    def test_files_of_columns_are_restricted_too(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        paths = []
        for name, values in (("a", A), ("b", B[:95]), ("c", C)):
            run(values, name).to_parquet(tmp_path / f"{name}.parquet")
            paths.append(tmp_path / f"{name}.parquet")
        found = compare_runs(paths)
        assert (found.rows, found.left_out) == (95, (5, 0, 5))
        alike = compare_runs([paths[0], paths[2], paths[2]])
        assert (alike.rows, alike.left_out) == (100, (0, 0, 0))
        assert alike.names == (f"{paths[0]} (1)", f"{paths[2]} (2)", f"{paths[2]} (3)")

    def test_names_that_look_the_same_have_numbers(self) -> None:
        assert compare_runs([run(A, name) for name in ("x", "x", "x (1)")]).names == ("x (1)", "x (2)", "x (1) (3)")
        found = compare_runs([run(A, f"results/of the prompt {name}/with its temperature/scores") for name in "abc"])
        assert len({*str(found.best[0]).replace(" cannot be told apart", "").replace(" and ", ", ").split(", ")}) == 3

    def test_the_baseline_is_first(self) -> None:
        found = compare_runs([run(A, "a"), run(B, "b"), run(C, "c")], baseline=1)
        assert found.names == ("b", "a", "c")
        assert [(pair.before, pair.after) for pair in found.pairs] == [("b", "a"), ("b", "c")]


class TestBestRuns:
    def test_some_cannot_be_distinguished(self, three: Comparisons) -> None:
        (item,) = three.best
        assert str(item) == "b and c cannot be told apart; a is worse"
        assert (item.best, item.worse) == (("b", "c"), ("a",))

    def test_one_is_best(self) -> None:
        found = compare_runs([run(A, "a"), run([1.0] * 80 + [0.0] * 20, "b"), run([1.0] * 100, "c")])
        assert str(found.best[0]) == "c is best; a and b are worse"

    def test_none_is_worse(self) -> None:
        found = compare_runs([run(A, "a"), run(A, "b"), run(A, "c")])
        assert str(found.best[0]) == "a, b and c cannot be told apart"

    def test_the_order_of_runs_does_not_matter(self) -> None:
        runs = [run(A, "a"), run(B, "b"), run(C, "c")]
        for order in ((2, 1, 0), (1, 0, 2), (0, 2, 1)):
            assert set(compare_runs([runs[at] for at in order]).best[0].worse) == {"a"}

    def test_a_run_that_is_silent_on_hard_questions_is_not_better(self) -> None:
        silent = [1.0] * 60 + [None] * 40  # without a value where the others are wrong or right
        other = [0.0] * 20 + [1.0] * 80
        for order in ((0, 1, 2), (1, 0, 2)):
            runs = [run(silent, "silent"), run(other, "other"), run(other, "same")]
            found = compare_runs([runs[at] for at in order], all_pairs=True)
            assert found.best[0].means["silent"] == 1.0
            assert found.best[0].worse == ()

    def test_low_values_may_be_better(self) -> None:
        low = [metric_column("m", (0.0, 1.0), "M()", higher_is_better=False)]
        found = compare_runs([by_id(values, columns=low, name=name) for name, values in (("a", A), ("b", B), ("c", A))])
        assert str(found.best[0]) == "a and c cannot be told apart; b is worse"

    def test_of_a_metric_without_a_better_end_nothing_is_said(self) -> None:
        neither = [metric_column("m", (0.0, 1.0), "M()", higher_is_better=None)]
        found = compare_runs([by_id(A, columns=neither) for _ in range(3)])
        assert str(found.best[0]) == "which end of its scale is better is not known, or neither is"
        assert found.names == ("run 1", "run 2", "run 3")

    def test_nor_of_runs_that_may_not_be_compared(self) -> None:
        other = judged_by("m", settings={"k": "4"})
        runs = [run(A, "a"), run(B, "b"), by_id(C, name="c", settings=other)]
        found = compare_runs(runs)
        assert str(found.best[0]) == "the best cannot be said, because some of the runs may not be compared"
        assert "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:\n  a, c: m: " in str(found)
        allowed = compare_runs(runs, allow_different_judges=True)
        assert str(allowed.best[0]) == "b and c cannot be told apart; a is worse"
        assert "\n\n3 runs, compared with a: 100 rows in all of them, paired by id\n\nWARNING: " in str(allowed)
        assert allowed.sentence == (
            "On m, b and c cannot be told apart; a is worse. The judge or its settings differ between the runs, so a difference "
            "may not come from the system."
        )

    def test_only_metrics_of_all_runs_have_them(self) -> None:
        rows = [{"id": f"q{row}"} for row in range(8)]
        names = (("m", "n"), ("m", "n"), ("m", "o"))
        found = compare_runs(
            [
                run_of(((row, dict.fromkeys(both, 0.5)) for row in rows), name=name)
                for name, both in zip("abc", names, strict=True)
            ]
        )
        assert [item.metric for item in found.best] == ["m"]
        assert [item.name for item in found.pairs[0].metrics] == ["m", "n"]


def test_caveats_name_their_runs() -> None:
    runs = [run(A, "a"), run(B, "b", caveats=("a baseline",)), run(C, "c", caveats=("a baseline",))]
    assert str(compare_runs(runs)).count("note: b, c: a baseline") == 1


class TestErrors:
    def test_one_run(self) -> None:
        with pytest.raises(InvalidInput, match=r"^runs must be at least two, got 1$"):
            compare_runs([run(A, "a")])

    @pytest.mark.parametrize("baseline", [-1, 2, True, "a"])
    def test_no_such_baseline(self, baseline: Any) -> None:
        with pytest.raises(InvalidInput, match=rf"^baseline must be a number from 0 to 1, got {baseline!r}$"):
            compare_runs([run(A, "a"), run(B, "b")], baseline=baseline)

    def test_no_common_row(self) -> None:
        def some(ids: Sequence[int], name: str) -> Evaluation:
            return run_of((({"id": f"q{row}"}, {"m": 1.0}) for row in ids), name=name)

        runs = [some([1, 2, 3, 4], "a"), some([1, 2], "b"), some([3, 4], "c")]
        message = r"^a, b and c have no row in common: compare runs of the same questions$"
        with pytest.raises(InvalidInput, match=message):
            compare_runs(runs)

    def test_a_run_that_stopped_when_its_gates_were_decided(self) -> None:
        stopped = run(A, "s", stopped="gates", left=7)
        with pytest.raises(InvalidInput, match=r"^s stopped when its gates were decided, before 7 of its rows"):
            compare_runs([run(A, "a"), run(B, "b"), stopped])

    def test_a_margin_and_a_column_as_in_a_comparison(self) -> None:
        with pytest.raises(InvalidInput, match=r"^margin must be a share"):
            compare_runs([run(A, "a"), run(B, "b"), run(C, "c")], margin=2.0)
        with pytest.raises(InvalidInput, match="by='lang'"):
            compare_runs([run(A, "a"), run(B, "b"), run(C, "c")], by="lang")


class TestGates:
    def test_they_are_one_family(self) -> None:
        runs = [
            run([1.0] * 160 + [0.0] * 40, "a"),
            *(run([1.0] * n + [0.0] * (200 - n), f"n{n}") for n in (138, 160, 170)),
        ]
        found = compare_runs(runs)
        decision = found.gate("m drop <= 0.05")
        assert [(result.run, result.verdict) for result in decision.results] == [
            ("n138", "failed"),
            ("n160", "passed"),
            ("n170", "passed"),
        ]
        failed = decision.results[0]
        alone = runs[0].compare(runs[1]).gate("m drop <= 0.05").results[0]
        assert failed.interval == alone.interval
        assert failed.adjusted is not None
        assert alone.adjusted is not None
        assert failed.adjusted.low < alone.adjusted.low  # at 1 - 0.05 / 3
        assert failed.name == "m drop <= 0.05, n138"
        assert failed.to_dict()["run"] == "n138"
        assert alone.to_dict()["run"] is None

    def test_rows_that_only_a_third_run_lacks_count(self) -> None:
        runs = [run(A * 2, "a"), run(A * 2, "b"), run(A, "c")]
        decision = compare_runs(runs).gate("m drop <= 0.05")
        of_b, of_c = decision.results
        assert (of_b.scored, of_b.verdict) == (200, "passed")
        assert (of_c.scored, of_c.verdict) == (100, "failed")
        assert of_c.unmet == ("100 of 200 rows of a have a value in both runs, less than min_coverage=0.9",)

    def test_only_drops(self, three: Comparisons) -> None:
        with pytest.raises(InvalidInput, match="a comparison of runs is about drops"):
            three.gate("m >= 0.5")


def test_what_it_prints() -> None:
    found = compare_runs([run([1.0] * 10 + [0.0] * 30, "a"), run([1.0] * 40, "b"), run([1.0] * 10 + [0.0] * 30, "c")])
    assert text_at(120, found) == TEXT
    assert found.to_markdown().startswith(MARKDOWN)


def test_json_is_plain(three: Comparisons) -> None:
    data = json.loads(json.dumps(three.to_dict(), allow_nan=False))
    assert {name: data[name] for name in ("names", "rows", "tests", "left_out", "caveats")} == {
        "names": ["a", "b", "c"],
        "rows": 100,
        "tests": 3,
        "left_out": [0, 0, 0],
        "caveats": [],
    }
    assert data["best"]["m"] == {
        "metric": "m",
        "means": {"a": 0.6, "b": 0.9, "c": 0.88},
        "best": ["b", "c"],
        "worse": ["a"],
        "problem": None,
        "says": "b and c cannot be told apart; a is worse",
    }
    assert [pair["metrics"]["m"]["verdict"] for pair in data["pairs"]] == ["better", "better"]


def test_the_page_needs_no_script(three: Comparisons, tmp_path: Path) -> None:
    three.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "b and c cannot be told apart; a is worse" in page
    assert page.count('<section id="pair-') == 2
    assert page.count("</svg>") == 2


@pytest.mark.parametrize("baseline", [0, 1])
def test_names_turn_no_text_of_the_page(tmp_path: Path, baseline: int) -> None:
    turned, escape = "a\N{RIGHT-TO-LEFT OVERRIDE}b", "c\x1b[31md"
    found = compare_runs([run(A, turned), run(B, escape), run(C, "e")], baseline=baseline)
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not {"\N{RIGHT-TO-LEFT OVERRIDE}", "\x1b"} & {*page}


def test_the_page_does_not_replace_the_scores_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    kept = join_runs([run(A, "a")], folder)
    found = compare_runs([kept, run(B, "b"), run(C, "c")])
    with pytest.raises(InvalidInput, match=r"is the scores file of this run"):
        found.to_html(folder / "scores.jsonl")


TEXT = """\
On m, b is best; a and c are worse.

3 runs, compared with a: 40 rows in all of them, paired by id

m: b is best; a and c are worse

mean      a      b      c
m     0.250  1.000  0.250

metric, run     verdict  before  after  difference     95 % interval  adjusted p  pairs  changed      coverage
m, b             better   0.250  1.000      +0.750  +0.597 to +0.858     < 0.001     40       30  100 %, 100 %
m, c         cannot say   0.250  0.250      +0.000  -0.088 to +0.088       1.000     40        0  100 %, 100 %

m, b: it goes from 0.250 to 1.000: +0.750, 95 % interval +0.597 to +0.858, adjusted p < 0.001
m, c: none of 40 pairs changed: with fewer than 6, chance cannot be ruled out; how many rows would show a true
      difference of 0.03 (the margin) is not known, as pairs do not differ among each other

mean: of the rows of a run that have a value; difference: of the rows that have a value in both runs
adjusted p: Holm's, over 3 differences of metrics between any two runs
margin: 0.03 of the width of a scale"""

MARKDOWN = """\
**On m, b is best; a and c are worse.**

3 runs, compared with a: 40 rows in all of them, paired by id

* m: b is best; a and c are worse

| mean | a | b | c |
| :-- | --: | --: | --: |
| <code>m</code> | 0.250 | 1.000 | 0.250 |

| metric, run | verdict | before | after | difference | 95 % interval | adjusted p | pairs | changed | coverage |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| <code>m, b</code> | \N{HEAVY CHECK MARK} better | 0.250 | 1.000 |"""
