"""Sinks of ``evaluate`` and ``Scorer``: each finished row once, and a sink that fails harms nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from core.evaluate.doubles import InstantModel, Length, Rated, questions
from ragmetrics_core import Evaluation, InvalidInput, ModelError, RagmetricsError, Scorer, aevaluate, evaluate
from ragmetrics_core.adapters import JsonlSink, current_span

ROWS = [{"question": str(number), "answer": "a" * number} for number in range(1, 4)]


def lengths(records: list[Any]) -> list[tuple[str, float]]:
    return sorted((record.sample.user_input, record.scores["length"].value) for record in records)


ALL = [("1", 0.1), ("2", 0.2), ("3", 0.3)]


def test_each_finished_row_arrives_once_and_in_a_thread() -> None:
    got: list[Any] = []
    threads = set()
    evaluate(ROWS, Length(), sinks=[got.append, lambda record: threads.add(threading.current_thread().name)])
    assert lengths(got) == ALL
    assert threads == {"ragmetrics-sink"}
    assert got[0].to_dict()["row"] == 1
    assert got[0].to_dict()["scores"]["length"]["value"] == 0.1


def test_rows_of_aevaluate_and_of_a_scorer() -> None:
    got: list[Any] = []

    async def asynchronous(record: Any) -> None:
        await asyncio.sleep(0)
        got.append(record)

    async def main() -> None:
        await aevaluate(ROWS, Length(), sinks=[asynchronous])
        assert lengths(got) == ALL
        async with Scorer(Length(), sinks=iter([asynchronous])) as scorer:
            await scorer.score(ROWS[:1])
            await scorer.score(ROWS[1:])
            await scorer.aevaluate(ROWS)

    asyncio.run(main())
    assert lengths(got) == sorted(ALL * 3)


def test_rows_of_a_run_that_goes_on_are_not_sent_again(tmp_path: Path) -> None:
    got: list[Any] = []
    evaluate(ROWS, Length(), sinks=[got.append], run_dir=tmp_path, limit=2)
    assert lengths(got) == ALL[:2]
    assert len(evaluate(ROWS, Length(), sinks=[got.append], run_dir=tmp_path)) == 3
    assert lengths(got) == ALL


def test_a_row_that_failed_is_sent_again_with_its_score(tmp_path: Path) -> None:
    got: list[Any] = []
    error = ModelError("it is down", transient=True)
    for answer in (error, error, "1", "1", error):
        model = InstantModel(lambda text, answer=answer: answer if text == "1" else "0.5")
        vars(model)["identity"] = "a judge"
        run = evaluate(questions(2), Rated(), llm=model, sinks=[got.append], run_dir=tmp_path, max_retries=0)
    assert [score.value for score in run.scores["rated"]] == [0.5, 1.0]
    found = [(record.sample.user_input, record.scores["rated"].value) for record in got]
    assert sorted(found[:2]) == [("0", 0.5), ("1", None)]
    assert found[2:] == [("1", 1.0)]


def test_the_file_of_a_sink_is_a_file_of_scores(tmp_path: Path) -> None:
    run = evaluate(ROWS, Length(), sinks=[JsonlSink(tmp_path / "scores.jsonl")])
    loaded = Evaluation.load(tmp_path / "scores.jsonl")
    assert [score.value for score in loaded.scores["length"]] == [0.1, 0.2, 0.3]
    assert [record.place for record in loaded.records] == [record.place for record in run.records]


def test_slow_sinks_are_waited_for() -> None:
    got: list[Any] = []

    def slow(record: Any) -> None:
        time.sleep(0.01)
        got.append(record)

    evaluate(questions(40), Rated(), llm=InstantModel("1"), sinks=[slow])
    assert len(got) == 40


def test_a_sink_that_fails_costs_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    got: list[Any] = []

    def broken(record: Any) -> None:
        raise RagmetricsError(f"no room for row {record.index + 1}")

    run = evaluate(ROWS, Length(), sinks=[broken, got.append])
    assert run.summary().metrics[0].mean == pytest.approx(0.2)
    assert lengths(got) == ALL
    assert [(line.levelname, line.getMessage(), line.exc_info) for line in caplog.records] == [
        ("WARNING", "sinks[0] (function) failed: no room for row 1; further failures are only counted", None),
        ("WARNING", "sinks[0] (function) did not get 3 of 3 rows: 3 failed, 0 dropped, 0 still waiting", None),
    ]


def test_a_bug_in_a_sink_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    evaluate(ROWS[:1], Length(), sinks=[lambda record: record.nothing])
    failure = caplog.records[0]
    assert failure.exc_info is not None
    assert failure.exc_info[0] is AttributeError


def test_a_run_that_stops_has_sent_what_was_finished() -> None:
    got: list[Any] = []

    def answer(text: str) -> object:
        return ModelError("it is down") if text == "1" else "1"

    with pytest.raises(ModelError):
        evaluate(
            questions(2), Rated(), llm=InstantModel(answer), on_error="raise", max_concurrency=1, sinks=[got.append]
        )
    assert [record.sample.user_input for record in got] == ["0"]


def test_the_span_of_the_run_is_not_that_of_its_rows() -> None:
    spans: list[Any] = []
    span = trace.NonRecordingSpan(trace.SpanContext(1, 2, is_remote=False))
    with trace.use_span(span):
        evaluate(ROWS[:1], Length(), sinks=[lambda record: spans.append(current_span())])
    assert spans == [None]


@pytest.mark.slow
def test_a_sink_that_hangs_delays_the_run_by_seconds(caplog: pytest.LogCaptureFixture) -> None:
    over = threading.Event()
    rows = [{"answer": "a"}] * 1100
    begun = time.monotonic()
    run = evaluate(rows, Length(), sinks=[lambda record: over.wait()])
    seconds = time.monotonic() - begun
    over.set()
    assert len(run) == 1100
    assert 6 <= seconds < 10  # 1 second for room in the queue, 5 at the end
    assert [line.getMessage() for line in caplog.records] == [
        "sinks[0] (function) did not get 1100 of 1100 rows: 0 failed, 99 dropped, 1001 still waiting"
    ]


@pytest.mark.parametrize(
    ("sinks", "message"),
    [
        ("a.jsonl", "sinks[0] must be a function of a row with its scores, got 'a'"),
        ([print, 5], "sinks[1] must be a function of a row with its scores, got 5"),
        (5, "sinks must be a list of functions, got 5"),
    ],
)
def test_mistakes(sinks: Any, message: str) -> None:
    for make in (lambda: Scorer(Length(), sinks=sinks), lambda: evaluate(ROWS, Length(), sinks=sinks)):
        call: Callable[[], object] = make
        with pytest.raises(InvalidInput) as caught:
            call()
        assert str(caught.value) == message
