"""Judging beside a running application: nothing is lost in silence, and no caller waits for a judge that hangs."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest

from ragmetrics_core import BadReply, InvalidInput, MissingInput, ModelError, Score
from ragmetrics_core.adapters import Counts, LiveJudging, in_own_thread
from waiting import HeldClock, until

LOGGER = logging.getLogger("ragmetrics_tests")
Outcomes = dict[str, "Future[Score]"]


def judging(**settings: Any) -> LiveJudging[Score]:
    given: dict[str, Any] = {"workers": 2, "max_pending": 10, "problem_of": lambda score: score.error, **settings}
    return LiveJudging(LOGGER, **given)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOGGER.name]


def test_the_judgements_of_an_evaluation_are_made_at_the_same_time() -> None:
    barrier = threading.Barrier(3)
    got: list[Outcomes] = []

    def judge(value: float) -> Score:
        barrier.wait(60)
        return Score(value)

    live = judging(workers=3)
    work = {name: lambda value=value: judge(value) for name, value in [("a", 0.0), ("b", 0.5), ("c", 1.0)]}
    assert live.judge(work, got.append)  # type: ignore[arg-type]
    assert live.flush(60)
    (outcomes,) = got
    assert {name: outcome.result().value for name, outcome in outcomes.items()} == {"a": 0.0, "b": 0.5, "c": 1.0}
    assert list(outcomes) == ["a", "b", "c"]
    assert live.counts == {
        "scored": 3,
        "failed": 0,
        "missing": 0,
        "timed_out": 0,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }


def test_an_evaluation_without_metrics() -> None:
    got: list[Outcomes] = []
    live = judging()
    live.judge({}, got.append)
    assert live.flush(60)
    assert got == [{}]


def test_judgements_that_are_made_out_of_something_first(
    caplog: pytest.LogCaptureFixture, held_clock: HeldClock
) -> None:
    """Where that fails, there are none; a place is taken from the beginning."""
    release, handed_over = threading.Event(), threading.Event()
    got: list[Any] = []
    alone: list[bool] = []
    live = judging(max_pending=3, timeout=0.5)

    def fail() -> Any:
        assert handed_over.wait(60)  # one that ends earlier gives its place away, and is the first to be logged
        raise ValueError("no question")

    def prepared() -> Any:
        alone.append(live.is_alone)
        return {"m": lambda: Score(0.25)}

    for prepare in (lambda: release.wait(60), fail, prepared, prepared):
        live.judge(prepare, lambda outcomes: got.append({name: item.result().value for name, item in outcomes.items()}))  # type: ignore[arg-type]
    handed_over.set()
    assert until(lambda: len(got) == 2)
    held_clock.move(0.5)
    assert live.flush(60)
    release.set()
    assert sorted(got, key=str) == [{"m": 0.25}, {}, {}]
    counts = {"scored": 1, "failed": 2, "missing": 0, "timed_out": 0, "dropped": 1, "pending": 0, "untold": 1}
    assert live.counts == counts
    live.judge(prepared, lambda outcomes: None)
    assert live.flush(60)
    assert alone[-1]
    assert "the preparation of an evaluation failed: no question; " in lines(caplog)[1]


def test_a_judge_that_hangs_does_not_delay_others(caplog: pytest.LogCaptureFixture, held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Semaphore(0)
    got: list[Outcomes] = []
    live = judging(workers=2, max_pending=100, timeout=0.1)

    def hang() -> Score:
        hanging.release()
        release.wait(60)
        return Score(0.0)

    for number in range(40):
        live.judge({"m": hang if number < 4 else lambda: Score(1.0)}, got.append)
    for _ in range(2):  # on two threads, and then on those that have taken their places
        assert all(hanging.acquire(timeout=60) for _ in range(2))
        held_clock.move(0.1)
    assert live.flush(60)
    release.set()
    assert live.counts == {
        "scored": 36,
        "failed": 0,
        "missing": 0,
        "timed_out": 4,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }
    failed = [outcomes["m"].exception() for outcomes in got if outcomes["m"].exception()]
    assert [type(error) for error in failed] == [ModelError] * 4
    assert set(lines(caplog)) == {
        "m failed: no answer within 0.1 seconds: give it more time with timeout=...; further failures are only counted, see counts"
    }


def test_one_line_for_the_first_failure_and_one_for_the_first_drop(caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()

    def fail() -> Score:
        release.wait(60)
        return Score.failed("the key is refused")

    def raises() -> Score:
        release.wait(60)
        raise KeyError("x")

    live = judging(max_pending=2)
    taken = [live.judge({"m": fail, "n": raises}, lambda outcomes: None) for _ in range(5)]
    release.set()
    assert live.flush(60)
    assert taken == [True, True, False, False, False]
    assert live.counts == {
        "scored": 0,
        "failed": 4,
        "missing": 0,
        "timed_out": 0,
        "dropped": 3,
        "pending": 0,
        "untold": 0,
    }
    dropped, *failed = lines(caplog)
    assert dropped == (
        "an evaluation was dropped: 2 are waiting or being judged already, and no judgement has ended yet; further ones are only "
        "counted, see counts"
    )
    assert sorted(failed) == [
        "m failed: the key is refused; further failures are only counted, see counts",
        "n failed: 'x'; further failures are only counted, see counts",
    ]


@pytest.mark.parametrize(("is_async", "setting"), [(False, "workers"), (True, "max_concurrency")])
def test_judges_that_cannot_keep_up(
    is_async: bool, setting: str, caplog: pytest.LogCaptureFixture, held_clock: HeldClock
) -> None:
    """One judgement took 2 seconds. Two have waited for 0.1 seconds, so 20 come in a second, and 40 must run at a time."""
    steps = {name: threading.Event() for name in ("begun", "go on", "second")}

    def judge(begun: str, end: str) -> Score:
        steps[begun].set()
        assert steps[end].wait(60)
        return Score(1.0)

    async def ajudge(begun: str, end: str) -> Score:
        return await in_own_thread(partial(judge, begun, end))

    work = ajudge if is_async else judge
    live = judging(workers=1, max_concurrency=1, max_pending=3)
    live.judge({"m": partial(work, "begun", "go on")}, lambda outcomes: None)
    assert steps["begun"].wait(60)
    held_clock.move(2.0)
    steps["go on"].set()
    assert live.flush(60)
    steps["go on"].clear()
    live.judge({"m": partial(work, "second", "go on")}, lambda outcomes: None)
    assert steps["second"].wait(60)
    for _ in range(2):
        live.judge({"m": partial(work, "second", "go on")}, lambda outcomes: None)
    held_clock.move(0.1)
    assert not live.judge({"m": partial(work, "second", "go on")}, lambda outcomes: None)
    assert lines(caplog) == [
        (
            "an evaluation was dropped: 3 are waiting or being judged already. 20 judgements a second take 2 seconds each: set "
            f"{setting} to 40 or more, or sample_rate lower; further ones are only counted, see counts"
        )
    ]
    steps["go on"].set()
    assert live.flush(60)


def test_coroutine_functions_have_a_limit_of_their_own() -> None:
    """With one worker, 20 judgements that wait in the loop run at the same time."""
    arrived = threading.Barrier(21)

    async def judge() -> Score:
        await in_own_thread(partial(arrived.wait, 60))
        return Score(1.0)

    live = judging(workers=1, max_concurrency=20)
    live.judge({f"m{number}": judge for number in range(20)}, lambda outcomes: None)
    arrived.wait(60)
    assert live.flush(60)
    assert live.counts["scored"] == 20


def test_close(caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()

    def judge() -> Score:
        release.wait(60)
        return Score(1.0)

    live = judging(workers=2, max_pending=2)
    for _ in range(3):
        live.judge({"m": judge}, lambda outcomes: None)
    assert not live.close(0.01)
    assert not live.judge({"m": judge}, lambda outcomes: None)
    release.set()
    assert live.close(60)
    live.end()
    first, *rest = lines(caplog)
    assert first.startswith("an evaluation was dropped: 2 are waiting")
    assert rest == [
        "3 of 3 evaluations not judged: 1 dropped, 2 pending, after 0.01 seconds: set exit_timeout=... or close(timeout=...)",
        "2 of 4 evaluations not judged: 2 dropped, 0 pending",
    ]


def judged_one_by_one(*outcomes: Score | Exception) -> LiveJudging[Score]:
    """What a metric says of one evaluation after the other."""

    def say(outcome: Score | Exception) -> Score:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    live = judging(workers=1, max_pending=len(outcomes))
    for outcome in outcomes:
        live.judge({"m": partial(say, outcome)}, lambda _: None)
    assert live.flush(60)
    return live


SCORED, DEAD, NO_FIELD = Score(1.0), ModelError("the key is refused"), MissingInput("m", "response")
FAILED = "m failed: the key is refused; further failures are only counted, see counts"


@pytest.mark.parametrize("missing", [NO_FIELD, Score.failed(NO_FIELD)], ids=["raised", "recorded"])
def test_a_missing_field_hides_no_dead_judge(caplog: pytest.LogCaptureFixture, missing: Any) -> None:
    live = judged_one_by_one(missing, missing, DEAD, DEAD, missing)
    assert live.counts == {
        "scored": 0,
        "failed": 2,
        "missing": 3,
        "timed_out": 0,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }
    absent, dead = lines(caplog)
    assert absent.startswith("m failed: ")
    assert absent.endswith("; further rows with missing fields are only counted, see counts")
    assert dead == FAILED


@pytest.mark.parametrize("said", [lambda error: error, Score.failed], ids=["raised", "recorded"])
def test_each_missing_field_is_logged_once(caplog: pytest.LogCaptureFixture, said: Any) -> None:
    judged_one_by_one(*[said(MissingInput("m", field)) for field in ("response", "reference") * 2])
    assert [line.partition(", which")[0].partition("m needs ")[2] for line in lines(caplog)] == [
        "'response'",
        "'reference'",
    ]


def test_each_cause_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A bug with its traceback."""
    judged_one_by_one(*[BadReply("no number"), DEAD, KeyError("x")] * 3)
    assert lines(caplog) == [
        FAILED.replace("the key is refused", "no number"),
        FAILED,
        FAILED.replace("the key is refused", "'x'"),
    ]
    assert [record.exc_info is not None for record in caplog.records] == [False, False, True]


def test_a_failure_after_a_recovery_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    judged_one_by_one(DEAD, DEAD, SCORED, DEAD, NO_FIELD, SCORED, NO_FIELD)
    assert [line for line in lines(caplog) if "refused" in line] == [FAILED] * 2
    assert len(lines(caplog)) == 3


def test_failures_in_other_words_each_time_are_one_cause(caplog: pytest.LogCaptureFixture) -> None:
    judged_one_by_one(*[Score.failed(f"request {number} failed") for number in range(20)])
    assert lines(caplog) == ["m failed: request 0 failed; further failures are only counted, see counts"]


def test_a_judge_that_fails_every_other_time_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    live = judged_one_by_one(*[DEAD, SCORED] * 100)
    assert (live.counts["failed"], lines(caplog)) == (100, [FAILED] * 2)


def test_a_judge_that_returns_something_else_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    got: list[Outcomes] = []
    live = judging()
    live.judge({"m": lambda: None, "n": lambda: Score(1.0)}, got.append)  # type: ignore[dict-item, return-value]
    assert live.flush(60)
    (outcomes,) = got
    assert isinstance(outcomes["m"].exception(), AttributeError)
    assert outcomes["n"].result().value == 1.0
    assert live.counts == {
        "scored": 1,
        "failed": 1,
        "missing": 0,
        "timed_out": 0,
        "dropped": 0,
        "pending": 0,
        "untold": 0,
    }
    assert lines(caplog) == [
        "m failed: 'NoneType' object has no attribute 'error'; further failures are only counted, see counts"
    ]


def test_a_slow_function_of_the_user_s_keeps_no_judge_from_its_work() -> None:
    release = threading.Event()
    judged = threading.Semaphore(0)
    received: list[Any] = []
    live = judging(workers=1)

    def then(outcomes: Outcomes) -> None:
        judged.release()
        live.tell(lambda: release.wait(60), lambda outcome: received.append(outcome.result()))

    for _ in range(3):
        live.judge({"m": lambda: Score(1.0)}, then)
    assert all(judged.acquire(timeout=60) for _ in range(3))
    assert until(lambda: live.pending == 3)
    assert (live.is_alone, received) == (False, [])
    release.set()
    assert live.flush(60)
    assert received == [True] * 3


def test_results_that_find_no_place(caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()
    live = judging(max_pending=2)
    taken = [live.tell(lambda: release.wait(60), lambda _: None) for _ in range(4)]
    assert (taken, live.counts["untold"], live.counts["dropped"]) == ([True, True, False, False], 2, 0)
    assert lines(caplog) == [
        "a result was not handed on: 2 wait for that already; further ones are only counted, see counts"
    ]
    release.set()
    assert live.flush(60)


def test_functions_of_the_user_s_have_a_time_limit_too(held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Event()
    received: list[Any] = []
    live = judging(workers=1, timeout=0.1)
    live.tell(lambda: hanging.set() or release.wait(60), lambda outcome: received.append(str(outcome.exception())))  # type: ignore[func-returns-value]
    live.tell(lambda: 7, lambda outcome: received.append(outcome.result()))
    assert hanging.wait(60)
    held_clock.move(0.1)
    assert live.flush(60)
    release.set()
    assert sorted(received, key=str) == [7, "no answer within 0.1 seconds: give it more time with timeout=..."]
    assert (live.counts["untold"], live.progress) == (1, 1)


def test_without_a_thread_they_are_called_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_thread_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread_left)
    received: list[Any] = []
    live = judging()
    assert live.tell(lambda: 7, lambda outcome: received.append(outcome.result()))
    assert received == [7]
    assert not live.judge({"m": lambda: Score(1.0)}, lambda outcomes: None)
    assert not live.judge(lambda: {"m": lambda: Score(1.0)}, lambda outcomes: None)
    assert (live.pending, live.counts["dropped"]) == (0, 2)
    (message,) = caplog.messages
    assert message == "the judging failed: can't start new thread; further failures are only counted, see counts"
    assert live.flush(60), "what was not taken is not waited for"


def test_what_is_collected_while_something_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python may close an abandoned stream at any allocation; what its end hands over comes in on the same thread."""
    received: list[str] = []
    live = judging(workers=1)

    class Stream:
        def __del__(self) -> None:
            live.tell(lambda: received.append("abandoned"), lambda _: None)

    def collecting(count: Counts, what: str, number: int = 1) -> int:
        streams.clear()
        return add(count, what, number)

    streams, add = [Stream()], Counts.add
    monkeypatch.setattr(Counts, "add", collecting)
    handing = threading.Thread(target=live.judge, args=({}, lambda _: received.append("judged")), daemon=True)
    handing.start()
    handing.join(60)
    assert not handing.is_alive(), "the door waits for itself"
    assert live.flush(60)
    assert sorted(received) == ["abandoned", "judged"]


def test_the_wait_at_the_end_keeps_nothing_alive() -> None:
    live = judging()
    live.judge({}, lambda outcomes: None)
    assert live.flush(60)
    watched = weakref.ref(live)
    del live
    assert until(lambda: gc.collect() >= 0 and watched() is None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds, at least 0.001, got 0"),
        ({"timeout": "5"}, "timeout must be a number of seconds, at least 0.001, got '5'"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds, at least 0.001, got nan"),
        ({"exit_timeout": -1}, "exit_timeout must be a number of seconds, at least 0, got -1"),
        ({"exit_timeout": None}, "exit_timeout must be a number of seconds, at least 0, got None"),
        ({"exit_timeout": float("inf")}, "exit_timeout must be a number of seconds, at least 0, got inf"),
    ],
)
def test_impossible_times(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        judging(**settings)
    assert str(caught.value) == message


PROGRAM = """
import logging, threading, time
from ragmetrics_core import Score
from ragmetrics_core.adapters import LiveJudging

def judge(seconds):
    time.sleep(seconds)
    return Score(1.0)

live = LiveJudging(logging.getLogger("app"), workers=2, max_pending=99, problem_of=lambda score: score.error,
                   exit_timeout={exit_timeout})
for _ in range({count}):
    live.judge({{"m": lambda: judge({seconds})}}, lambda outcomes: live.tell(lambda: print("told\\n", end=""), lambda _: None))
"""


def ended(**settings: Any) -> tuple[int, str, str]:
    program = PROGRAM.format(**settings)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    return result.returncode, result.stdout, result.stderr


def test_the_end_of_the_program_waits_for_what_is_pending() -> None:
    assert ended(count=6, seconds=0.05, exit_timeout=30) == (0, "told\n" * 6, "")


def test_the_end_of_the_program_says_what_is_lost() -> None:
    lost = "20 of 20 evaluations not judged: 0 dropped, 20 pending, after 0.2 seconds: set exit_timeout=... or close(timeout=...)\n"
    assert ended(count=20, seconds=1000, exit_timeout=0.2) == (0, "", lost)
