"""How often a metric gave each of its labels: of the scored rows, with an interval, and apart from rows without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.report.comparing import LabelRate, Summary, summed_up
from ragmetrics_core import Metric, Score, evaluate
from ragmetrics_core.metrics import TokenF1
from ragmetrics_core.statistics import rate_interval


def labelled(label: str | None, value: float | None = 1.0) -> Score:
    return Score.unscored("why", label=label) if value is None else Score(value, label=label)


SCORES = [
    *[labelled("right")] * 6,
    *[labelled("not_used", 0.0)] * 3,
    labelled(None, 0.5),
    labelled("undecided", None),
    labelled("no_answer", None),
]


def test_shares_are_of_the_scored_rows_and_have_wilson_intervals() -> None:
    item = summed_up("cells", (0.0, 1.0), SCORES)
    assert item.labels == {"right": 6, "not_used": 3, "undecided": 1, "no_answer": 1}
    assert item.label_rates == {
        "right": LabelRate(6, 0.6, rate_interval(6, 10)),
        "not_used": LabelRate(3, 0.3, rate_interval(3, 10)),
    }
    assert list(item.to_dict()["label_rates"]) == ["right", "not_used"]


def test_the_interval_is_that_of_wilson() -> None:
    interval = summed_up("cells", (0.0, 1.0), SCORES).label_rates["right"].interval
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4), interval.method) == (0.3127, 0.8318, "wilson")
    rate = summed_up("cells", (0.0, 1.0), SCORES).to_dict()["label_rates"]["right"]
    assert rate == {"count": 6, "share": 0.6, "interval": [interval.low, interval.high]}


def test_the_text_shows_them_a_remark_per_metric_and_the_others_as_before() -> None:
    summary = Summary("12 rows, 1 metric", (summed_up("cells", (0.0, 1.0), SCORES),))
    text = " ".join(str(summary).split())
    assert text.endswith(
        "labels cells (share of 10 scored rows, 95 % interval): right 6 (0.600, 0.313 to 0.832), "
        "not_used 3 (0.300, 0.108 to 0.603) no_answer on 1 of 12 rows, undecided on 1 of 12 rows: cells"
    )


def test_a_label_on_scored_and_unscored_rows_is_in_both_places() -> None:
    item = summed_up("cells", (0.0, 1.0), [labelled("right"), labelled("right"), labelled("right", None)])
    text = " ".join(str(Summary("3 rows, 1 metric", (item,))).split())
    assert "right 2 (1.000, 0.342 to 1.000) right on 1 of 3 rows: cells" in text


def test_one_scored_row_has_no_interval() -> None:
    item = summed_up("cells", (0.0, 1.0), [labelled("right")])
    assert item.label_rates == {"right": LabelRate(1, 1.0, None)}
    assert item.to_dict()["label_rates"] == {"right": {"count": 1, "share": 1.0, "interval": None}}
    assert "labels cells (share of 1 scored row, 95 % interval): right 1 (1.000)" in str(
        Summary("1 row, 1 metric", (item,))
    )


def test_rows_counted_as_the_worst_value_stay_apart() -> None:
    item = summed_up("cells", (0.0, 1.0), [labelled("right"), labelled("no_answer", 0.0)])
    assert (item.silent, item.label_rates) == (1, {"right": LabelRate(1, 0.5, rate_interval(1, 2))})
    assert "no_answer on 1 of 2 rows; 1 of them counted as the worst value: cells" in str(
        Summary("2 rows, 1 metric", (item,))
    )


@dataclass(frozen=True)
class Kind(Metric):
    """Labels."""

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Score:
        return Score(1.0, label="short" if len(response) < 5 else "long")


def test_a_frame_has_a_column_for_the_labels_of_a_metric_that_gives_some() -> None:
    rows = [
        {"response": response, "reference": "yes", "retrieved_contexts": ["c"]} for response in ("yes", "certainly", "")
    ]
    frame = evaluate(rows, [TokenF1(), Kind()], progress=False).to_pandas()
    assert list(frame["kind_label"]) == ["short", "long", "no_answer"]
    assert "token_f1_label" not in frame  # it labels no row; the note says that an answer is blank
