"""Jobs that are handed over: taken without waiting, done or refused, never lost."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from ragmetrics_core import ModelError
from ragmetrics_core.adapters import Background, in_threads, settled
from waiting import HeldClock, until

TOO_SLOW = "no answer within 0.1 seconds: give it more time with timeout=..."


def alive(name: str = "ragmetrics-judge") -> int:
    """How many loops run; with the other name, how many calls run in threads."""
    return sum(thread.name == name for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def all_threads_leave(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("ragmetrics_core.adapters._background.IDLE", 0.05)
    assert until(lambda: alive() == 0), "those of another file's tests leave in their own time"
    yield
    assert until(lambda: alive() == 0)


T = TypeVar("T")


class Line(Background[T]):
    """A queue whose jobs all have the same listener."""

    def __init__(self, ended: Callable[[Future[T]], object], *, workers: int, timeout: float | None = None) -> None:
        super().__init__(workers=workers, timeout=timeout)
        self._ended = ended

    def take(self, job: Callable[[], Any]) -> None:
        self.submit([(job, self._ended)])


class Outcomes(list[Future[Any]]):
    """What the jobs have come to."""

    @property
    def values(self) -> list[Any]:
        return sorted(future.result() for future in self)


def test_jobs_are_done_and_reported() -> None:
    ended = Outcomes()
    background = Line[int](ended.append, workers=3)
    for number in range(50):
        background.take(lambda number=number: number * 2)  # type: ignore[misc]
    assert background.flush(60)
    assert ended.values == [number * 2 for number in range(50)]
    assert (background.pending, background.finished) == (0, 50)


def test_no_more_threads_than_there_is_work() -> None:
    release = threading.Event()
    background = Line[bool](Outcomes().append, workers=4)
    assert alive() == 0
    before = alive("ragmetrics-call")  # of other tests
    background.take(lambda: release.wait(60))
    background.take(lambda: release.wait(60))
    assert until(lambda: alive("ragmetrics-call") == before + 2)
    for _ in range(10):
        background.take(lambda: release.wait(60))
    assert until(lambda: alive("ragmetrics-call") == before + 4)
    assert (alive(), background.pending) == (1, 12)
    release.set()
    assert background.flush(60)


def test_all_coroutines_run_in_one_loop_also_in_a_later_thread() -> None:
    """The connections of a model belong to a loop, so it must not change when the thread has been idle."""
    found: list[tuple[asyncio.AbstractEventLoop, threading.Thread]] = []

    async def job() -> None:
        found.append((asyncio.get_running_loop(), threading.current_thread()))

    background = Line[None](Outcomes().append, workers=4)
    for _ in range(2):
        background.take(job)
        background.take(job)
        assert background.flush(60)
        assert until(lambda: alive() == 0)
    loops, threads = zip(*found, strict=True)
    assert (len(set(loops)), len(set(threads))) == (1, 2)


def loop_of(background: Line[Any]) -> asyncio.AbstractEventLoop:
    """The loop of a queue whose thread has gone."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def job() -> None:
        loops.append(asyncio.get_running_loop())

    background.take(job)
    assert background.flush(60)
    assert until(lambda: alive() == 0)
    return loops[0]


def test_a_loop_is_closed_with_its_queue() -> None:
    background = Line[None](Outcomes().append, workers=1)
    loop = loop_of(background)
    del background
    assert until(lambda: gc.collect() >= 0 and loop.is_closed())


def test_a_loop_of_the_parent_is_never_closed_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both processes share what the loop listens to, so closing it here would make the parent's loop deaf."""
    background = Line[None](Outcomes().append, workers=1)
    loop = loop_of(background)
    watched = weakref.ref(background)
    del background
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        assert until(lambda: gc.collect() >= 0 and watched() is None)
    assert not loop.is_closed()
    loop.close()


def test_blocking_calls_of_libraries_do_not_wait_for_each_other() -> None:
    """Also not those in the pool of the loop, which is small elsewhere."""
    together = threading.Barrier(40)

    async def job() -> None:
        await asyncio.to_thread(together.wait, 60)

    ended = Outcomes()
    background = Line[None](ended.append, workers=40)
    for _ in range(40):
        background.take(job)
    assert background.flush(60)
    assert [future.exception() for future in ended] == [None] * 40


def test_a_pool_that_a_library_brings_is_used() -> None:
    pool = ThreadPoolExecutor(1, thread_name_prefix="brought")

    async def job() -> str:
        name = await asyncio.get_running_loop().run_in_executor(pool, lambda: threading.current_thread().name)
        return name.partition("_")[0]

    ended = Outcomes()
    background = Line[str](ended.append, workers=1)
    background.take(job)
    assert background.flush(60)
    assert ended.values == ["brought"]
    pool.shutdown()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
def test_the_loop_survives_what_ends_a_program(error: BaseException) -> None:
    async def inner() -> int:
        raise error

    async def job() -> int:
        return await asyncio.create_task(inner())

    async def next_job() -> int:
        return 7

    ended = Outcomes()
    background = Line[int](ended.append, workers=1)
    background.take(job)
    background.take(next_job)
    assert background.flush(60)
    assert [future.exception() for future in ended] == [error, None]


def test_coroutines_that_hang_end_at_their_limit_whatever_their_number(held_clock: HeldClock) -> None:
    """They leave nothing behind, unlike threads."""
    ended = Outcomes()
    begun: list[int] = []
    cancelled: list[int] = []

    async def hang() -> int:
        begun.append(1)
        try:
            return await asyncio.sleep(1000, 0)
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    async def answer() -> int:
        return 7

    background = Line[int](ended.append, workers=50, timeout=0.1)
    for _ in range(200):
        background.take(hang)
    for _ in range(10):
        background.take(answer)
    for running in (50, 100, 150, 200):
        assert until(lambda: len(begun) == running)  # noqa: B023  called here
        held_clock.move(0.1)
    assert background.flush(60)
    late, quick = ended[:200], ended[200:]
    assert {str(future.exception()) for future in late} == {TOO_SLOW}
    assert [future.result() for future in quick] == [7] * 10
    assert (background.timed_out, background.finished, background.pending) == (200, 210, 0)
    assert until(lambda: len(cancelled) == 200)


def test_a_coroutine_that_refuses_to_end_keeps_no_other_from_running(held_clock: HeldClock) -> None:
    begun, release = threading.Event(), threading.Event()

    async def stubborn() -> int:
        begun.set()
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return 3

    async def answer() -> int:
        return 7

    ended = Outcomes()
    background = Line[int](ended.append, workers=1, timeout=1.0)
    background.take(stubborn)
    background.take(answer)
    assert begun.wait(60)
    held_clock.move(1.0)
    assert background.flush(60)
    assert [str(future.exception() or future.result()) for future in ended] == [TOO_SLOW.replace("0.1", "1"), "7"]
    release.set()


def test_threads_come_back() -> None:
    ended = Outcomes()
    background = Line[int](ended.append, workers=2)
    for number in range(3):
        background.take(lambda: number)  # noqa: B023  done before the next one
        assert background.flush(60)
        assert until(lambda: alive() == 0)
    assert ended.values == [0, 1, 2]


def test_errors_are_kept_and_the_work_goes_on() -> None:
    ended = Outcomes()

    def fail() -> int:
        raise SystemExit(3)

    background = Line[int](ended.append, workers=1)
    background.take(fail)
    background.take(lambda: 7)
    assert background.flush(60)
    assert [type(future.exception()) for future in ended] == [SystemExit, type(None)]


def test_a_listener_for_the_outcome_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    def ended(outcome: Future[int]) -> None:
        raise ValueError("the listener is broken")

    background = Line[int](ended, workers=1)
    for _ in range(2):
        background.take(lambda: 7)
    assert background.flush(60)
    assert background.finished == 2
    assert "the listener is broken" in caplog.text


def test_jobs_know_nothing_of_who_handed_them_over() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    ended = Outcomes()
    background = Line[str](ended.append, workers=1)
    variable.set("the caller's")

    def job() -> str:
        before = variable.get()
        variable.set("another job's")
        return before

    for _ in range(2):
        background.take(job)
    assert background.flush(60)
    assert ended.values == ["none", "none"]


def test_a_finished_job_keeps_nothing_alive() -> None:
    class Big:
        pass

    big = Big()
    watched = weakref.ref(big)
    background = Line[Any](lambda future: None, workers=1)
    background.take(lambda big=big: type(big))  # type: ignore[misc]
    del big
    assert background.flush(60)
    assert until(lambda: gc.collect() >= 0 and watched() is None)


def test_a_system_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Outcomes()
    background = Line[int](ended.append, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread_left)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            background.take(lambda: 7)
    assert background.pending == 0
    background.take(lambda: 8)
    assert background.flush(60)
    assert ended.values == [8]


def test_many_hand_over_at_once() -> None:
    """More jobs than threads, threads that leave in between: none is lost."""
    ended = Outcomes()
    background = Line[int](ended.append, workers=3)

    def hand_over() -> None:
        for number in range(40):
            background.take(lambda: 1)
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
    background = Line[bool](ended.append, workers=1, timeout=0.1)
    background.take(lambda: hanging.set() or release.wait(60))  # type: ignore[func-returns-value]
    background.take(lambda: True)
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
    assert len(ended) == 2, "its late outcome is not reported"


def test_the_time_limit_is_kept_by_the_clock_on_the_wall() -> None:
    release = threading.Event()
    ended = Outcomes()
    background = Line[bool](ended.append, workers=1, timeout=0.1)
    begun = time.monotonic()
    background.take(lambda: release.wait(60))
    assert background.flush(30)
    assert time.monotonic() - begun >= 0.1
    assert isinstance(ended[0].exception(), ModelError)
    release.set()


def test_not_every_thread_may_be_replaced(monkeypatch: pytest.MonkeyPatch, held_clock: HeldClock) -> None:
    """With so many that hang, the next job waits until one of them returns after all."""
    monkeypatch.setattr("ragmetrics_core.adapters._background.MOST_HANGING", 1)
    release, hanging = threading.Event(), threading.Semaphore(0)
    ended = Outcomes()
    background = Line[bool](ended.append, workers=1, timeout=0.05)
    for _ in range(2):
        background.take(lambda: hanging.release() or release.wait(60))  # type: ignore[func-returns-value]
    for late in (1, 2):
        assert hanging.acquire(timeout=60)
        held_clock.move(0.05)
        assert until(lambda: background.timed_out == late)  # noqa: B023  called here
    assert until(lambda: background.finished == 2)
    background.take(lambda: True)
    assert not background.flush(0.5)
    assert background.pending == 1
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
    background = Line[bool](ended.append, workers=1, timeout=1.0)
    for _ in range(100):
        background.take(lambda: hanging.release() or release.wait(60))  # type: ignore[func-returns-value]
    assert hanging.acquire(timeout=60)
    held_clock.move(0.5)
    for _ in range(100):
        background.take(lambda: True)
    held_clock.move(0.5)
    assert until(lambda: background.timed_out == 1)
    assert hanging.acquire(timeout=60), "in the place of the first"
    held_clock.move(1.0)
    assert background.flush(60)
    assert (background.timed_out, background.finished) == (200, 200)
    said = [str(future.exception()) for future in ended]
    not_begun = "not begun within 1 seconds: earlier calls have no answer yet, and too many wait to begin more"
    assert (said.count("no answer within 1 seconds: give it more time with timeout=..."), said.count(not_begun)) == (
        2,
        198,
    )
    background.take(lambda: True)
    held_clock.move(0.5)
    background.take(lambda: True)
    held_clock.move(0.5)
    assert until(lambda: background.finished == 201)
    assert background.pending == 1, "its time is not over yet"
    release.set()
    assert background.flush(60)
    assert ended[-1].result() is True


def no_thread_left(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_the_loop_does_the_work_of_threads_that_cannot_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of a program, from Python 3.12 on."""
    release = threading.Event()
    ended = Outcomes()
    background = Line[bool](ended.append, workers=2)
    begun = threading.Event()
    background.take(lambda: begun.set() or release.wait(60))  # type: ignore[func-returns-value]
    assert begun.wait(60)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread_left)
        background.take(lambda: threading.current_thread().name == "ragmetrics-judge")
        assert until(lambda: background.finished == 1)
        assert in_threads([lambda: 1, lambda: 2], 2) == [1, 2]
    release.set()
    assert background.flush(60)
    assert ended.values == [True, True]


HANGING = """
import threading
from ragmetrics_core.adapters import Background

asked = threading.Event()
background = Background(workers=1)
background.submit([(lambda: (asked.set(), threading.Event().wait()), print)])
assert asked.wait(60)
print("pending", background.pending)
"""


def test_a_job_that_hangs_does_not_keep_the_process_from_ending() -> None:
    result = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "pending 1\n")


def test_outcomes() -> None:
    outcomes: list[Future[int]] = []
    outcome = settled(lambda: 7, outcomes.append)
    assert (outcome.result(), outcomes) == (7, [outcome])
    assert repr(settled(lambda: {}["x"]).exception()) == "KeyError('x')"
