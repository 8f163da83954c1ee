"""Jobs that are handed over: taken without waiting, done or refused, never lost."""

from __future__ import annotations

import contextvars
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from ragmetrics_core import ModelError
from ragmetrics_core.adapters import Background, in_threads, settled
from waiting import HeldClock, until


def alive() -> int:
    return sum(thread.name == "ragmetrics-judge" for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def all_threads_leave(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("ragmetrics_core.adapters._background.IDLE", 0.05)
    assert until(lambda: alive() == 0), "those of another file's tests leave in their own time"
    yield
    assert until(lambda: alive() == 0)


class Outcomes(list[Future[Any]]):
    """What the jobs have come to."""

    @property
    def values(self) -> list[Any]:
        return sorted(future.result() for future in self)


def test_jobs_are_done_and_told() -> None:
    ended = Outcomes()
    background = Background[int](ended.append, workers=3, capacity=50)
    assert all(background.submit(lambda number=number: number * 2) for number in range(50))  # type: ignore[misc]
    assert background.flush(60)
    assert ended.values == [number * 2 for number in range(50)]
    assert (background.pending, background.finished, background.dropped) == (0, 50, 0)


def test_no_more_threads_than_there_is_work() -> None:
    release = threading.Event()
    background = Background[bool](Outcomes().append, workers=4, capacity=50)
    assert alive() == 0
    background.submit(lambda: release.wait(60))
    background.submit(lambda: release.wait(60))
    assert alive() == 2
    for _ in range(10):
        background.submit(lambda: release.wait(60))
    assert alive() == 4
    release.set()
    assert background.flush(60)


def test_a_thread_without_work_takes_the_next_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core.adapters._background.IDLE", 60.0)
    threads: list[threading.Thread] = []
    background = Background[None](Outcomes().append, workers=4, capacity=5)
    for _ in range(5):
        background.submit(lambda: threads.append(threading.current_thread()))
        assert background.flush(60)
    assert threads == threads[:1] * 5
    background.close()


def test_threads_come_back() -> None:
    ended = Outcomes()
    background = Background[int](ended.append, workers=2, capacity=5)
    for number in range(3):
        background.submit(lambda: number)  # noqa: B023  done before the next one
        assert background.flush(60)
        assert until(lambda: alive() == 0)
    assert ended.values == [0, 1, 2]


def test_a_full_line_refuses_and_counts() -> None:
    release = threading.Event()
    background = Background[bool](Outcomes().append, workers=1, capacity=3)
    taken = [background.submit(lambda: release.wait(60)) for _ in range(10)]
    assert taken == [True] * 3 + [False] * 7
    assert (background.pending, background.dropped) == (3, 7)
    assert not background.flush(0.02)
    release.set()
    assert background.flush(60)
    assert background.submit(lambda: True)
    assert background.flush(60)


def test_errors_are_kept_and_the_work_goes_on() -> None:
    ended = Outcomes()

    def fail() -> int:
        raise SystemExit(3)

    background = Background[int](ended.append, workers=1, capacity=5)
    background.submit(fail)
    background.submit(lambda: 7)
    assert background.flush(60)
    assert [type(future.exception()) for future in ended] == [SystemExit, type(None)]


def test_what_is_told_of_the_end_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    def ended(outcome: Future[int]) -> None:
        raise ValueError("nobody listens")

    background = Background[int](ended, workers=1, capacity=5)
    for _ in range(2):
        background.submit(lambda: 7)
    assert background.flush(60)
    assert background.finished == 2
    assert "nobody listens" in caplog.text


def test_jobs_know_nothing_of_who_handed_them_over() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    ended = Outcomes()
    background = Background[str](ended.append, workers=1, capacity=5)
    variable.set("the caller's")

    def job() -> str:
        before = variable.get()
        variable.set("another job's")
        return before

    for _ in range(2):
        background.submit(job)
    assert background.flush(60)
    assert ended.values == ["none", "none"]


def test_a_finished_job_keeps_nothing_alive() -> None:
    class Big:
        pass

    big = Big()
    watched = weakref.ref(big)
    background = Background[Any](lambda future: None, workers=1, capacity=5)
    background.submit(lambda big=big: type(big))  # type: ignore[misc]
    del big
    assert background.flush(60)
    assert until(lambda: gc.collect() >= 0 and watched() is None)


def test_a_closed_line_finishes_its_work() -> None:
    ended = Outcomes()
    release = threading.Event()
    background = Background[bool](ended.append, workers=2, capacity=9)
    for _ in range(5):
        background.submit(lambda: release.wait(60))
    background.close()
    assert not background.submit(lambda: True)
    release.set()
    assert background.flush(60)
    assert ended.values == [True] * 5


def test_threads_of_a_closed_line_leave_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core.adapters._background.IDLE", 60.0)
    background = Background[int](Outcomes().append, workers=2, capacity=9)
    background.submit(lambda: 7)
    background.close()
    assert until(lambda: alive() == 0)
    assert background.pending == 0


def test_a_system_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Outcomes()
    background = Background[int](ended.append, workers=1, capacity=5)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread_left)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            background.submit(lambda: 7)
    assert background.pending == 0
    assert background.submit(lambda: 8)
    assert background.flush(60)
    assert ended.values == [8]


def test_many_hand_over_at_once() -> None:
    """More jobs than threads, threads that leave in between: none is lost."""
    ended = Outcomes()
    background = Background[int](ended.append, workers=3, capacity=10_000)

    def hand_over() -> None:
        for number in range(40):
            background.submit(lambda: 1)
            time.sleep(0.06 if number == 20 else 0)

    threads = [threading.Thread(target=hand_over) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert background.flush(60)
    assert len(ended) == 200


def test_a_job_that_takes_too_long_gives_its_place_back(held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Event()
    ended = Outcomes()
    background = Background[bool](ended.append, workers=1, capacity=5, timeout=0.1)
    background.submit(lambda: hanging.set() or release.wait(60))  # type: ignore[func-returns-value]
    background.submit(lambda: True)
    assert hanging.wait(60)
    held_clock.move(0.1)
    assert background.flush(60)
    quick, late = sorted(ended, key=lambda future: future.exception() is not None)
    assert quick.result() is True
    problem = late.exception()
    assert isinstance(problem, ModelError)
    assert str(problem) == "no answer within 0.1 seconds: give it more time with timeout=..."
    assert problem.transient
    assert (background.finished, background.timed_out, background.pending) == (2, 1, 0)
    release.set()
    assert until(lambda: alive() == 0)
    assert len(ended) == 2, "what it comes to later is told to nobody"


def test_the_time_limit_is_kept_by_the_clock_on_the_wall() -> None:
    release = threading.Event()
    ended = Outcomes()
    background = Background[bool](ended.append, workers=1, capacity=5, timeout=0.1)
    begun = time.monotonic()
    background.submit(lambda: release.wait(60))
    assert background.flush(30)
    assert time.monotonic() - begun >= 0.1
    assert isinstance(ended[0].exception(), ModelError)
    release.set()


def test_not_every_thread_may_be_replaced(monkeypatch: pytest.MonkeyPatch, held_clock: HeldClock) -> None:
    """With so many that hang, the next one keeps its place, and works on when its job returns after all."""
    monkeypatch.setattr("ragmetrics_core.adapters._background.MOST_HANGING", 1)
    release, hanging = threading.Event(), threading.Semaphore(0)
    ended = Outcomes()
    background = Background[bool](ended.append, workers=1, capacity=5, timeout=0.05)
    for _ in range(2):
        background.submit(lambda: hanging.release() or release.wait(60))  # type: ignore[func-returns-value]
    for late in (1, 2):
        assert hanging.acquire(timeout=60)
        held_clock.move(0.05)
        assert until(lambda: background.timed_out == late)  # noqa: B023  called here
    assert until(lambda: background.finished == 2)
    background.submit(lambda: True)
    assert (alive(), background.pending) == (2, 1)
    release.set()
    assert background.flush(60)
    assert sorted(future.exception() is None for future in ended) == [False, False, True]


def test_where_every_thread_hangs_those_that_wait_end_too(
    monkeypatch: pytest.MonkeyPatch, held_clock: HeldClock
) -> None:
    """Each at its own limit of time; what is handed over when the judge answers again is done."""
    monkeypatch.setattr("ragmetrics_core.adapters._background.MOST_HANGING", 1)
    release, hanging = threading.Event(), threading.Semaphore(0)
    ended = Outcomes()
    background = Background[bool](ended.append, workers=1, capacity=500, timeout=1.0)
    for _ in range(100):
        background.submit(lambda: hanging.release() or release.wait(60))  # type: ignore[func-returns-value]
    assert hanging.acquire(timeout=60)
    held_clock.move(0.5)
    for _ in range(100):
        background.submit(lambda: True)
    held_clock.move(0.5)
    assert until(lambda: background.timed_out == 1)
    assert hanging.acquire(timeout=60), "in the place of the first"
    held_clock.move(1.0)
    assert background.flush(60)
    assert (background.timed_out, background.finished, alive()) == (200, 200, 2)
    said = [str(future.exception()) for future in ended]
    not_begun = "not begun within 1 seconds: earlier calls have no answer yet, and too many wait to begin more"
    assert (said.count("no answer within 1 seconds: give it more time with timeout=..."), said.count(not_begun)) == (
        2,
        198,
    )
    background.submit(lambda: True)
    held_clock.move(0.5)
    background.submit(lambda: True)
    held_clock.move(0.5)
    assert until(lambda: background.finished == 201)
    assert background.pending == 1, "its time is not over yet"
    release.set()
    assert background.flush(60)
    assert ended[-1].result() is True


def test_no_thread_for_the_place_of_one_that_hangs(monkeypatch: pytest.MonkeyPatch, held_clock: HeldClock) -> None:
    release, hanging = threading.Event(), threading.Event()
    ended = Outcomes()
    background = Background[bool](ended.append, workers=1, capacity=5, timeout=0.2)
    background.submit(lambda: hanging.set() or release.wait(60))  # type: ignore[func-returns-value]
    background.submit(lambda: True)
    assert hanging.wait(60)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread_left)
        held_clock.move(0.2)
        assert until(lambda: background.finished == 2)
    assert (background.timed_out, background.pending) == (2, 0)
    background.submit(lambda: True)
    release.set()
    assert background.flush(60)
    assert ended[-1].result() is True


def test_several_jobs_or_none() -> None:
    ended = Outcomes()
    background = Background[int](ended.append, workers=2, capacity=3)
    jobs = [(lambda number=number: number, ended.append) for number in range(4)]
    assert not background.submit_all(jobs)  # type: ignore[arg-type]
    assert background.submit_all(jobs[:3])  # type: ignore[arg-type]
    assert background.flush(60)
    assert (ended.values, background.dropped) == ([0, 1, 2], 4)


def no_thread_left(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_thread_that_is_there_does_the_work_of_those_that_cannot_come(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    ended = Outcomes()
    background = Background[bool](ended.append, workers=2, capacity=5)
    background.submit(lambda: release.wait(60))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread_left)
        assert background.submit(lambda: True)
        assert in_threads([lambda: 1, lambda: 2], 2) == [1, 2]
    release.set()
    assert background.flush(60)
    assert ended.values == [True, True]


HANGING = """
import threading
from ragmetrics_core.adapters import Background

asked = threading.Event()
background = Background(print, workers=1, capacity=1)
background.submit(lambda: (asked.set(), threading.Event().wait()))
assert asked.wait(60)
print("pending", background.pending)
"""


def test_a_job_that_hangs_does_not_keep_the_process_from_ending() -> None:
    result = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "pending 1\n")


def test_outcomes() -> None:
    told: list[Future[int]] = []
    outcome = settled(lambda: 7, told.append)
    assert (outcome.result(), told) == (7, [outcome])
    assert repr(settled(lambda: {}["x"]).exception()) == "KeyError('x')"
