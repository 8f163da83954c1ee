"""Threads, event loops and turns: the ways between synchronous and asynchronous code."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from functools import partial

import pytest

from ragmetrics_core.adapters import HomeLoop, Turn, in_own_thread, in_threads, is_judging, judging, run_blocking

VARIABLE = contextvars.ContextVar("VARIABLE", default="not set")


async def whose(number: int) -> tuple[int, str]:
    await asyncio.sleep(0)
    return number, VARIABLE.get()


def test_a_coroutine_from_synchronous_code() -> None:
    VARIABLE.set("mine")
    assert run_blocking(partial(whose, 7)) == (7, "mine")


async def test_a_coroutine_from_synchronous_code_inside_a_loop() -> None:
    VARIABLE.set("mine")
    assert run_blocking(partial(whose, 7)) == (7, "mine")


async def test_exceptions_of_a_coroutine_come_as_they_are() -> None:
    problem = LookupError("x")

    async def fail() -> None:
        raise problem

    with pytest.raises(LookupError) as caught:
        run_blocking(fail)
    assert caught.value is problem


def test_the_first_loop_is_home() -> None:
    home = HomeLoop()

    async def twice() -> list[bool]:
        return [home.is_here(), home.is_here()]

    assert asyncio.run(twice()) == [True, True]
    assert asyncio.run(twice()) == [False, False]
    with pytest.raises(RuntimeError, match="no running event loop"):
        home.is_here()


async def test_it_runs_in_a_new_thread() -> None:
    VARIABLE.set("mine")
    thread = await in_own_thread(threading.current_thread)
    assert (thread.daemon, thread is threading.main_thread()) == (True, False)
    assert await in_own_thread(VARIABLE.get) == "mine"


async def test_no_exception_leaves_the_one_who_waits_waiting() -> None:
    """A ``StopIteration`` is what a scripted model raises at the end of its script; no asyncio future can carry it."""
    with pytest.raises(RuntimeError, match="the function raised StopIteration") as caught:
        await asyncio.wait_for(in_own_thread(partial(next, iter(()))), 60)
    assert isinstance(caught.value.__cause__, StopIteration)


def test_several_threads() -> None:
    together = threading.Barrier(6, timeout=60)

    def meet(number: int) -> int:
        together.wait()  # no thread continues before all six are there
        return number

    assert in_threads([partial(meet, number) for number in range(6)], 6) == list(range(6))


def test_turns_are_those_of_the_model() -> None:
    class Model:
        busy = 0
        most = 0

    model, other = Model(), Model()
    assert Turn.with_model(model) is not Turn.with_model(other)

    def use() -> None:
        with Turn.with_model(model):
            model.busy += 1
            model.most = max(model.most, model.busy)
            time.sleep(0.01)
            model.busy -= 1

    in_threads([use] * 5, 5)
    assert (model.most, model.busy) == (1, 0)
    first = Turn.with_model(model)
    assert Turn.with_model(model) is first


def test_a_turn_ends_with_an_error() -> None:
    model = object()
    for _ in range(2):
        with pytest.raises(ValueError, match="x"), Turn.with_model(model):
            raise ValueError("x")


async def test_the_mark_follows_the_work() -> None:
    assert not is_judging()
    with judging():
        assert is_judging()
        assert await in_own_thread(is_judging)
        with judging():
            assert is_judging()
        assert is_judging()
    assert not is_judging()
