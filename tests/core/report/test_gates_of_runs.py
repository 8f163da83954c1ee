"""``evaluation.gate(...)``: gates of a run, over all rows, by slices and with clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Decision, Evaluation, Gate, InvalidInput, Metric, Score, evaluate


@dataclass(frozen=True)
class Number(Metric):
    """The number that the response is."""

    def measure(self, response: str) -> Score:
        if response == "none":
            return Score.unscored("there is no number")
        return Score.failed("it is no number") if response == "bad" else Score(float(response))


def run(*responses: str | float, **columns: Any) -> Evaluation:
    """A run over these responses; every further column has one value per row."""
    rows = [{"response": str(response)} for response in responses]
    for name, values in columns.items():
        rows = [{**row, name: value} for row, value in zip(rows, values, strict=True)]
    return evaluate(rows, Number(), progress=False)


def verdicts(decision: Decision) -> list[tuple[str, str]]:
    return [(result.name, result.verdict) for result in decision.results]


def test_gates_as_texts_and_as_values() -> None:
    evaluation = run(*[1] * 20)
    decision = evaluation.gate("number >= 0.8", Gate("number", "<=", 0.5))
    assert verdicts(decision) == [("number >= 0.8", "passed"), ("number <= 0.5", "failed")]
    assert decision.verdict == "failed"


def test_the_interval_is_that_of_the_summary() -> None:
    evaluation = run(*[0.2, 0.4, 0.5, 0.9] * 5)
    (result,) = evaluation.gate("number >= 0.45").results
    item = evaluation.summary()["number"]
    assert (result.estimate, result.interval) == (item.mean, item.interval)


def test_each_gate_holds_for_all_rows_and_for_each_slice() -> None:
    langs = ["de"] * 20 + ["en"] * 20 + [None] * 20
    evaluation = run(*[1] * 20, *[0] * 20, *[1] * 20, lang=langs)
    decision = evaluation.gate("number >= 0.7", "number <= 0.9", by="metadata.lang")
    assert verdicts(decision) == [
        ("number >= 0.7", "undecided"),
        ("number >= 0.7, lang=de", "passed"),
        ("number >= 0.7, lang=en", "failed"),
        ("number >= 0.7, without lang", "passed"),
        ("number <= 0.9", "passed"),
        ("number <= 0.9, lang=de", "undecided"),
        ("number <= 0.9, lang=en", "passed"),
        ("number <= 0.9, without lang", "undecided"),
    ]
    assert [(result.by, result.label, result.rows) for result in decision.results[:4]] == [
        (None, None, 60),
        ("metadata.lang", "de", 20),
        ("metadata.lang", "en", 20),
        ("metadata.lang", None, 20),
    ]


def test_conditions_hold_in_each_slice() -> None:
    evaluation = run(*[1] * 40, "bad", "none", "none", lang=["de"] * 38 + ["en"] * 5)
    decision = evaluation.gate("number >= 0.5", by="lang")
    assert [(result.verdict, result.unmet) for result in decision.results] == [
        ("passed", ()),
        ("passed", ()),
        (
            "failed",
            (
                "1 of 5 rows failed, more than max_failed=0.05",
                "2 of 5 rows have a score (2 unscored, 1 failed), less than min_coverage=0.9",
            ),
        ),
    ]
    assert evaluation.gate("number >= 0.5", min_coverage=0.4, max_failed=0.2).passed


def test_rows_that_share_something() -> None:
    evaluation = run(*[1] * 40, *[0] * 10, document=[row // 10 for row in range(50)])
    (alone,) = evaluation.gate("number >= 0.6").results
    (alike,) = evaluation.gate("number >= 0.6", cluster="document").results
    assert (alone.verdict, alone.clusters) == ("passed", None)
    assert (alike.verdict, alike.clusters) == ("undecided", 5)


def test_clusters_are_counted_among_scored_rows() -> None:
    evaluation = run(1, 0, 1, "none", document=["a", "a", "b", "c"])
    (result,) = evaluation.gate("number >= 0.6", cluster="document", min_coverage=0.5).results
    assert result.clusters == 2


def test_silence_counts_as_it_does_in_the_mean() -> None:
    @dataclass(frozen=True)
    class Answered(Metric):
        """1 for each answer."""

        def measure(self, response: str) -> Score:
            return Score(1.0)

    rows = [{"response": "a"}] * 18 + [{"response": ""}] * 2
    skipped = evaluate(rows, Answered(), progress=False).gate("answered >= 0.6").results[0]
    zeros = evaluate(rows, Answered(), progress=False, empty="zero").gate("answered >= 0.6").results[0]
    assert (skipped.estimate, skipped.scored, skipped.unscored, skipped.verdict) == (1.0, 18, 2, "passed")
    assert (zeros.estimate, zeros.scored, zeros.unscored, zeros.verdict) == (0.9, 20, 0, "passed")


def test_scores_on_a_scale_of_their_own() -> None:
    """The metric names no scale, but all scores have the same: 10 of 10 at its end is Wilson's interval."""

    @dataclass(frozen=True)
    class Stars(Metric):
        """Five stars."""

        scale = None

        def measure(self, response: str) -> Score:
            return Score(5.0, scale=(1.0, 5.0))

    (result,) = evaluate([{"response": "a"}] * 10, Stars(), progress=False).gate("stars >= 3").results
    assert result.interval is not None
    assert (result.verdict, result.interval.method) == ("passed", "wilson")


def test_scores_on_another_scale_than_that_of_the_metric() -> None:
    """What a score says of itself counts; scores on several scales have none in common."""

    @dataclass(frozen=True)
    class Stars(Metric):
        """As many stars as there are letters."""

        def measure(self, response: str) -> Score:
            return Score(float(len(response)), scale=(1.0, 4.0 + ("!" in response)))

    evaluation = evaluate([{"response": "aaaa"}] * 10, Stars(), progress=False)
    (result,) = evaluation.gate("stars >= 0.5").results
    assert result.interval == evaluation.summary()["stars"].interval
    assert result.interval is not None
    assert (result.interval.high, result.interval.method) == (4.0, "wilson")
    evaluation = evaluate([{"response": "aaaa"}, {"response": "aaa!!"}] * 5, Stars(), progress=False)
    (result,) = evaluation.gate("stars >= 0.5").results
    assert result.interval == evaluation.summary()["stars"].interval
    assert result.interval is not None
    assert result.interval.method == "t"


def test_a_run_that_ended_early_is_never_green() -> None:
    evaluation = replace(run(*[1] * 30), stopped="the budget of 10 calls is used up")
    decision = evaluation.gate("number >= 0.5")
    assert decision.verdict == "failed"
    assert decision.results[0].unmet == ("the run is not complete: the budget of 10 calls is used up",)


def test_a_run_that_was_stored(tmp_path: Path) -> None:
    rows = [{"response": "1", "lang": "de"}] * 20 + [{"response": "bad", "lang": "en"}]
    evaluate(rows, Number(), progress=False, run_dir=tmp_path / "run")
    decision = Evaluation.load(tmp_path / "run").gate("number >= 0.8", by="lang")
    assert verdicts(decision) == [
        ("number >= 0.8", "passed"),
        ("number >= 0.8, lang=de", "passed"),
        ("number >= 0.8, lang=en", "failed"),
    ]


def test_no_rows() -> None:
    (result,) = run().gate("number >= 0.8").results
    assert (result.verdict, result.why, result.estimate, result.coverage) == ("failed", "there are no rows", None, None)


@pytest.mark.parametrize(
    ("gates", "options", "message"),
    [
        ((), {}, "there is no gate: name at least one, such as 'faithfulness >= 0.8'"),
        ((["number >= 0.8"],), {}, "a gate must be a text such as 'faithfulness >= 0.8', got list"),
        (("other >= 0.8",), {}, "gate 'other >= 0.8': 'other' is not among the metrics: number"),
        (("number >= 8",), {}, "gate 'number >= 8': the scale of number is 0 to 1, and 8 is outside it"),
        (("number >= 0.8",), {"max_failed": 5}, "max_failed must be a share of the rows, from 0 to 1, got 5"),
        (("number >= 0.8",), {"by": ""}, "by must name a column, such as 'metadata.lang', got ''"),
        (
            ("number >= 0.8",),
            {"by": "langue"},
            "by='langue': no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'",
        ),
        (
            ("number >= 0.8",),
            {"cluster": "lang"},
            (
                "cluster='lang': 1 of 3 rows has none (row 3): give each row one; a row that shares nothing with others gets "
                "its own"
            ),
        ),
    ],
)
def test_what_is_refused(gates: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        run(1, 1, 1, lang=["de", "de", None]).gate(*gates, **options)
    assert str(caught.value) == message
