"""Two runs whose rows people labelled in both: the difference that they would see."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from core.report.comparing import metric_column, run_of
from ragmetrics_core import Calibration, Comparison, Evaluation, InvalidInput
from ragmetrics_core.statistics import corrected_mean

HARM = metric_column("harm", (0.0, 1.0), "Harm()", higher_is_better=False)
ROWS = 120


def run(values: list[float], metric: str = "m", columns: Any = ()) -> Evaluation:
    rows = (({"id": f"q{n}", "question": f"{n}", "topic": n // 4}, {metric: value}) for n, value in enumerate(values))
    return run_of(rows, columns)


def labelled(said: dict[int, Any], metric: str = "m", **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"q{row}", "metric": metric, "label": label, **more} for row, label in said.items()]


def runs() -> tuple[list[float], list[float], dict[int, bool], dict[int, bool]]:
    """Verdicts of two runs, and labels of every second row in both: the judge is wrong now and then."""
    before = [float(row % 3 > 0) for row in range(ROWS)]
    after = [float(row % 3 > 0 or row % 5 > 0) for row in range(ROWS)]
    people = [
        {row: (values[row] > 0) ^ (row % period == 2) for row in range(1, ROWS, 2)}
        for values, period in ((before, 13), (after, 11))
    ]
    return before, after, people[0], people[1]


def compared(**more: Any) -> Comparison:
    before, after, one, two = runs()
    first, second = run(before), run(after)
    calibration = first.calibrate(labelled(one, **more)), second.calibrate(labelled(two, **more))
    return first.compare(second, calibration=calibration)


def test_it_is_the_corrected_mean_of_the_differences() -> None:
    before, after, one, two = runs()
    (found,) = compared().corrected
    changes = [new - old for old, new in zip(before, after, strict=True)]
    labels = [float(two[row]) - one[row] if row in one else None for row in range(ROWS)]
    assert found.corrected == corrected_mean(changes, labels, scale=(-1, 1))
    assert (found.labels, found.pairs, found.problem) == (60, 120, None)
    assert found.corrected.method == "post-stratified-dirichlet"


def test_weights_and_clusters_count() -> None:
    before, after, one, two = runs()
    first, second = run(before), run(after)
    lines = [[{**line, "weight": 0.5 + row % 3 / 2} for row, line in enumerate(labelled(said))] for said in (one, two)]
    calibration = first.calibrate(lines[0]), second.calibrate(lines[1])
    (found,) = first.compare(second, cluster="topic", calibration=calibration).corrected
    weight = {int(line["id"][1:]): line["weight"] for line in lines[0]}
    assert found.corrected == corrected_mean(
        [new - old for old, new in zip(before, after, strict=True)],
        [float(two[row]) - one[row] if row in one else None for row in range(ROWS)],
        [weight.get(row) for row in range(ROWS)],
        [str(row // 4) for row in range(ROWS)],
        (-1, 1),
    )


def test_up_is_good_for_people_also_where_low_values_are() -> None:
    before, after, one, two = runs()
    first, second = (run([1 - value for value in values], "harm", [HARM]) for values in (before, after))
    calibration = first.calibrate(labelled(one, "harm")), second.calibrate(labelled(two, "harm"))
    (turned,) = first.compare(second, calibration=calibration).corrected
    assert turned.corrected is not None
    assert turned.corrected == compared().corrected[0].corrected
    assert turned.corrected.mean > 0


def test_where_it_is_shown(tmp_path: Path) -> None:
    comparison = compared()
    comparison.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{html.escape(str(comparison.corrected[0]))}.</li>" in page
    (found,) = comparison.corrected
    assert found.corrected is not None
    assert found.corrected.interval is not None
    low, high = (f"{end:+.3f}" for end in found.corrected.interval[:2])
    words = (
        f"m, by people's labels: {found.corrected.mean:+.3f} of the rows that people pass, 95 % interval {low} to {high}, from 60 "
        "rows with labels in both runs and 120 judged pairs"
    )
    assert words in comparison.text(200)
    assert "from 60 rows with labels in both runs and 120 judged pairs" in comparison.to_markdown()
    data = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))["corrected"]["m"]
    assert (data["labels"], data["difference"]) == (60, found.corrected.mean)
    before, after, *_ = runs()
    assert run(before).compare(run(after)).corrected == ()


def test_labels_of_chosen_rows_are_doubted_here_too(tmp_path: Path) -> None:
    before, after, *_ = runs()
    first, second = run(before), run(after)
    chosen = labelled({row: row % 4 > 0 for row in range(30)})
    drawn = labelled({row: row % 4 > 0 for row in range(1, 118, 4)})
    comparison = first.compare(
        second, calibration=(first.calibrate(drawn + chosen[:1]), second.calibrate(drawn + chosen[:1]))
    )
    assert comparison.corrected[0].warnings == ()
    calibrations = first.calibrate(chosen), second.calibrate(chosen)
    (warning,) = calibrations[1]["m"].warnings
    assert warning.startswith("the rows with a label are the first 30 of the run: ")
    comparison = first.compare(second, calibration=calibrations)
    expected = tuple(f"labels of {name}: {warning}" for name in (comparison.before, comparison.after))
    assert comparison.corrected[0].warnings == expected
    assert json.loads(json.dumps(comparison.to_dict()))["corrected"]["m"]["warnings"] == list(expected)
    comparison.to_html(tmp_path / "page.html")
    for shown in (
        comparison.text(400),
        comparison.to_markdown(),
        html.unescape((tmp_path / "page.html").read_text(encoding="utf-8")),
    ):
        assert all(f"m, {text}" in shown for text in expected)


@pytest.mark.parametrize(
    ("one", "two", "problem"),
    [
        (
            labelled(dict.fromkeys(range(0, 40, 2), True)),
            labelled(dict.fromkeys(range(33, 93), True)),
            "3 rows have labels in both runs: label the same rows in both, at least 8",
        ),
        (
            labelled(dict.fromkeys(range(20), True)),
            labelled(dict.fromkeys(range(20), 0.5)),
            "labels are passes and fails in one run, and grades in the other",
        ),
        (
            labelled(dict.fromkeys(range(20), True), weight=1.0),
            labelled(dict.fromkeys(range(20), True), weight=2.0),
            "a row has another weight in each run: give it the one that it was drawn with",
        ),
    ],
)
def test_where_there_is_none(one: Any, two: Any, problem: str) -> None:
    before, after, *_ = runs()
    first, second = run(before), run(after)
    comparison = first.compare(second, calibration=(first.calibrate(one), second.calibrate(two)))
    (found,) = comparison.corrected
    assert (found.corrected, found.problem) == (None, problem)
    assert f"m, by people's labels: no difference is known: {problem}" in comparison.text(200)


def test_metrics_that_have_labels_in_one_run_are_left_out() -> None:
    before, after, one, _ = runs()
    first, second = run(before), run(after)
    calibration = first.calibrate(labelled(one)), Calibration("second", ())
    assert first.compare(second, calibration=calibration).corrected == ()


def test_that_of_another_run_is_refused() -> None:
    before, after, one, two = runs()
    first, second = run(before), run(after)
    other = run(before[:100]).calibrate(labelled({row: said for row, said in one.items() if row < 100}))
    with pytest.raises(InvalidInput) as caught:
        first.compare(second, calibration=(other, second.calibrate(labelled(two))))
    assert str(caught.value) == (
        "calibration belongs to another run (100 scored rows of 'm', 120 in the first run): give the calibration of the first run, "
        "then that of the second"
    )
