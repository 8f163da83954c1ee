"""Errors and Ctrl-C end a run promptly, whatever is in flight."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.evaluate.doubles import (
    AsyncModel,
    Rated,
    questions,
)
from ragmetrics_core import InvalidInput, ModelError, evaluate
from ragmetrics_core.adapters import in_own_thread, run_blocking

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[2]


CTRL_C = """
import asyncio
from dataclasses import dataclass

from core.evaluate.doubles import RATE, AsyncModel, SyncModel
from ragmetrics_core import Metric, Score, evaluate


@dataclass(frozen=True)
class AsksAboutB(Metric):
    def measure(self, user_input):
        if user_input == "b":
            yield from RATE.ask(text=user_input)
        return Score(1)


def rows():
    yield {"user_input": "a"}
    print("asked", flush=True)
    yield {"user_input": "b"}


def work():
    try:
        evaluate(rows(), AsksAboutB(), llm=MODEL("1", delay=600))
    except KeyboardInterrupt as stop:
        print("finished:", [row.user_input for row in stop.partial.rows], flush=True)
        raise


async def inside():
    work()


CALL
"""


class TestStopping:
    def test_an_error_cancels_the_calls_in_flight(self) -> None:
        model = AsyncModel(lambda text: InvalidInput("no such setting") if text == "0" else "1", delay=0.01)
        slow = AsyncModel("1", delay=600)
        started = time.perf_counter()
        with pytest.raises(InvalidInput, match="no such setting"):
            evaluate(questions(3), [Rated(llm=model), Rated(name="slow", llm=slow)])
        assert time.perf_counter() - started < 100  # the run does not wait for calls that hang
        assert slow.now == 0

    def test_an_error_does_not_wait_for_blocking_calls(self) -> None:
        hung = threading.Event()

        class Hung:
            def generate(self, ask: object) -> str:
                hung.wait(600)
                return "1"

        started = time.perf_counter()
        with pytest.raises(ModelError, match="refused"):
            evaluate(
                questions(3),
                [Rated(llm=AsyncModel(ModelError("refused", fatal=True), delay=0.05)), Rated(name="b", llm=Hung())],
            )
        assert time.perf_counter() - started < 100  # the run does not wait for calls that hang
        hung.set()

    @pytest.mark.usefixtures("interruptible")
    @pytest.mark.parametrize("model", ["AsyncModel", "SyncModel"])
    @pytest.mark.parametrize("call", ["work()", "asyncio.run(inside())"])
    def test_ctrl_c_ends_promptly_and_keeps_what_is_finished(self, model: str, call: str) -> None:
        script = CTRL_C.replace("MODEL", model).replace("CALL", call)
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, err = process.communicate(timeout=300)
        assert time.monotonic() - started < 100  # the run does not wait for calls that hang
        assert out == "finished: ['a']\n"
        assert err.rstrip().endswith("KeyboardInterrupt")

    @pytest.mark.usefixtures("interruptible")
    @pytest.mark.parametrize("inside", [False, True])
    def test_ctrl_c_cancels_the_calls_in_flight(self, inside: bool) -> None:
        model = AsyncModel("1", delay=600)

        def interrupt() -> None:
            while model.now < 4:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        async def main() -> None:
            evaluate(questions(4), Rated(), llm=model)

        threading.Thread(target=interrupt, daemon=True).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main()) if inside else evaluate(questions(4), Rated(), llm=model)
        while model.now and time.monotonic() < started + 100:
            time.sleep(0.01)  # the other thread winds up by itself
        assert model.now == 0

    async def test_a_call_on_a_thread_can_be_given_up(self) -> None:
        done = threading.Event()
        waiting = asyncio.create_task(in_own_thread(lambda: done.wait(30)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        done.set()
        assert await in_own_thread(lambda: 42) == 42

    def test_run_blocking_returns_the_result(self) -> None:
        async def answer() -> int:
            return 42

        assert run_blocking(answer) == 42
