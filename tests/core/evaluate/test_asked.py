"""Runs that do not ask every metric about every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Echo, Length, Rated
from ragmetrics_core import Evaluation, InvalidInput, Sample, estimate, evaluate, read_samples

ROWS = [
    {"id": "a", "question": "0.5", "answer": "12345"},
    {"id": "b", "question": "0.25", "answer": "?"},
    {"id": "c", "question": "1.0", "answer": "1234567890", "lang": "de"},
]


def is_b(sample: Sample) -> bool:
    return sample.id == "b"


def run(metrics: Any, **options: Any) -> Evaluation:
    return evaluate(ROWS, metrics, llm=options.pop("llm", None) or Echo(), progress=False, **options)


def test_only_what_is_asked_is_scored_and_called() -> None:
    llm = Echo()
    result = run({Rated(): is_b, Length(): lambda sample: not is_b(sample)}, llm=llm)
    assert result["rated"] == [None, 0.25, None]
    assert result["length"] == [0.5, None, 1.0]
    assert llm.asked == 1
    left_out = result.scores["rated"][0]
    assert (left_out.state, left_out.label, left_out.metric, left_out.scale, left_out.usage.calls) == (
        "unscored",
        "not_asked",
        "rated",
        (0.0, 1.0),
        0,
    )


def test_rows_that_are_not_asked_about_count_nowhere() -> None:
    summary = run({Rated(): is_b, Length(): None}).summary()
    rated, length = summary.metrics
    assert (rated.rows, rated.scored, rated.unscored, rated.failed, rated.labels) == (1, 1, 0, 0, {})
    assert (length.rows, length.scored, length.unscored) == (3, 2, 1)
    assert [(reason.text, reason.rows) for reason in summary.reasons] == [("the response is a question mark", ("b",))]


def test_coverage_of_gates_is_that_of_the_rows_asked_about() -> None:
    result = run({Length(): lambda sample: not is_b(sample), Rated(): is_b})
    (decided,) = result.gate("length >= 0.1", min_coverage=1.0).results
    assert (decided.rows, decided.scored, decided.unmet) == (2, 2, ())
    whole, german = result.gate("length >= 0.1", by="metadata.lang").results[:2]
    assert (whole.rows, german.label, german.rows) == (2, "de", 1)
    # no row of the slice "de" is asked for "rated", so there is no such slice
    assert [item.label for item in result.gate("rated >= 0.1", by="metadata.lang").results] == [None, None]


def test_comparisons_pair_the_rows_that_both_runs_asked_about() -> None:
    before, after = run({Length(): None}), run({Length(): lambda sample: sample.id != "a"})
    (found,) = before.compare(after).metrics
    assert (found.pairs, found.rows_before.rows, found.rows_after.rows, found.rows_after.lost) == (1, 3, 2, ())
    assert found.rows_after.unscored == ("b",)


def test_names_with_conditions_and_repeats() -> None:
    result = run({"exact_match,token_f1": lambda _: False, Length(): None}, repeats=2)
    assert result["exact_match"] == result["token_f1"] == [None] * 3
    assert result.summary()["exact_match"].rows == 0
    assert result["length"] == [0.5, None, 1.0]


def test_a_price_leaves_out_what_is_not_asked() -> None:
    (rated,) = estimate(ROWS, {Rated(): is_b}, llm=Echo()).metrics
    assert rated.usage.calls == 1
    assert estimate(ROWS, {Rated(): lambda _: False}, llm=Echo()).metrics[0].usage.calls == 0


def test_a_run_goes_on_where_the_choice_changed(tmp_path: Path) -> None:
    first, second = Echo(), Echo()
    run({Rated(): is_b}, llm=first, run_dir=tmp_path / "run")
    run({Rated(): None}, llm=second, run_dir=tmp_path / "run")
    assert (first.asked, second.asked) == (1, 2)
    assert Evaluation.load(tmp_path / "run")["rated"] == [0.5, 0.25, 1.0]


def test_a_condition_that_is_none() -> None:
    with pytest.raises(InvalidInput) as raised:
        run({Length(): True})
    assert str(raised.value) == ("metrics[Length()] must be a function of a sample, or None for all samples, got bool")


def test_a_bug_in_a_condition_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        run({Length(): lambda _: 1 / 0})


class TestReadSamples:
    def test_as_evaluate_reads_them(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        path.write_text("question;answer;lang\nWhen?;At nine.;en\nWo?;Hier.;de\n", encoding="utf-8")
        samples = read_samples(path)
        assert samples == [
            Sample(user_input="When?", response="At nine.", metadata={"lang": "en"}),
            Sample(user_input="Wo?", response="Hier.", metadata={"lang": "de"}),
        ]
        assert read_samples(path, limit=1) == samples[:1]
        assert list(evaluate(path, Length(), progress=False).rows) == samples
        assert read_samples([{"q": "x"}], columns={"response": "q"}) == [Sample(response="x")]

    def test_a_row_that_cannot_be_read_is_named(self) -> None:
        with pytest.raises(InvalidInput) as raised:
            read_samples([{"answer": "x"}, {"answer": "x", "response": "y"}])
        assert str(raised.value).startswith("row 2: ")

    def test_options_of_files_are_for_files(self) -> None:
        with pytest.raises(InvalidInput, match="rows in memory"):
            read_samples([{"answer": "x"}], encoding="cp1252")
